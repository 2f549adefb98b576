//! Which engine answers a question about a program, and why: one table. The engine of a statement of rounds
//! is chosen by another one, in `vector/engine.rs`.

use crate::adaptivity::Dependence;
use crate::build::{Contribution, Reads};
use crate::question::{Found, Question};
use crate::{rounds, rows, sparse, sweep};
use ndp_account::Error;

/// Answers a question, or leaves it to the engines below.
type Answer = fn(&mut Question<'_>) -> Result<Option<Found>, Error>;

/// The engines from the top down: each answers what those below it would answer later, or not at all.
const TABLE: [Answer; 4] = [
    // One noise, then powers of one matrix: once nothing new is heard, the number of rounds does not matter.
    rounds::by_powers,
    // Rows of so many hidden values that they had better not be written out: their covariance is enough.
    deep,
    // Many rows that have noises of their own: their covariance is sparse, and no prime is needed.
    many_rows,
    // All others, among them the small ones: exact rows.
    rows::answer,
];

/// What the first engine finds that answers.
///
/// # Errors
/// Those of the engines.
pub(super) fn answer(question: &mut Question<'_>) -> Result<Found, Error> {
    for engine in TABLE {
        if let Some(found) = engine(question)? {
            return Ok(found);
        }
    }
    Err(not_certified(question.options.precision_limit))
}

/// Sweeps through a program whose rows are deep. Where they do not decide, exact rows may: those of a
/// statement of rounds, or of the program if they can be written out.
fn deep(question: &mut Question<'_>) -> Result<Option<Found>, Error> {
    let (program, options) = (question.program, question.options);
    let reads_nothing_hidden = |c: &Contribution| matches!(c.reads, Reads::Nothing | Reads::Seen(None));
    let from = options.sweeps_from;
    let from = from.max(DEEP.min(from) * question.seen.rows.len());
    if !program.contributions.iter().all(reads_nothing_hidden) || !question.seen.deeper_than(program, from) {
        return Ok(None);
    }
    if let Some(found) = sparse::short_rows(question)? {
        return Ok(Some(found));
    }
    let found = match sweep::grams(program, &question.seen, &question.directions, options)? {
        Some(found) if found.narrow => found,
        wide => {
            let by_rows = rounds::by_rows(question)?;
            if by_rows.is_some() || !question.seen.deeper_than(program, MAX_WRITTEN) {
                return Ok(by_rows);
            }
            wide.ok_or(not_certified(53))?
        }
    };
    // The observer knows the contributions of members completely, so that they rest on what they read.
    let mut of_members = program.contributions.iter().filter(|c| question.observer.contains(c.node));
    let assumed = found.assumed || of_members.any(|c| c.reads == Reads::Seen(None));
    let adaptivity = if assumed { Dependence::Assumed } else { Dependence::Fixed };
    Ok(Some(found.with(adaptivity, 0.0)))
}

/// Sparse systems for many rows. Conjugate gradients that end early leave wide enclosures: then the sweeps
/// and exact rows are asked, as far as the number of rows allows it.
fn many_rows(question: &mut Question<'_>) -> Result<Option<Found>, Error> {
    let (adaptivity, probability) = question.resolve()?;
    let Question { program, options, seen, directions, .. } = question;
    let rows = seen.rows.len();
    if rows < options.sparse_from {
        return Ok(None);
    }
    let Some(found) = sparse::grams(program, seen, directions, options)? else { return Ok(None) };
    if !found.narrow && rows <= MAX_DENSE {
        let swept = sweep::grams(program, seen, directions, options)?;
        if let Some(swept) = swept.filter(|swept| swept.narrow) {
            return Ok(Some(swept.with(adaptivity, probability)));
        }
        if rows <= MAX_GENERAL {
            return Ok(None);
        }
    }
    Ok(Some(found.with(adaptivity, probability)))
}

fn not_certified(bits: u32) -> Error {
    Error::Certify(ndp_certify::Error::NotCertified { bits })
}

/// The average number of values in a row from which on a program is deep.
const DEEP: usize = 64;
/// The largest number of coefficients of exact rows that are written out if `f64` cannot decide.
const MAX_WRITTEN: usize = 4_000_000;
/// The largest number of rows whose covariance is factorised if conjugate gradients end early.
const MAX_DENSE: usize = 3000;
/// The largest number of rows for exact rows if `f64` cannot decide.
const MAX_GENERAL: usize = 400;
