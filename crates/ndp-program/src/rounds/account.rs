//! What an observer learns from a program that states rounds: the engines of statements say it.

use super::Stated;
use crate::Engine;
use crate::adaptivity::Dependence;
use crate::columns::{above, below};
use crate::enclose::Ends;
use crate::gram::NodeGram;
use crate::question::{Found, Question};
use ndarray::Array2;
use ndp_account::Error;
use ndp_certify::account::Budget;
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stopped;

/// The account of a program of one noise and powers of one matrix; `None` for other programs.
///
/// # Errors
/// Those of the engine.
pub(crate) fn by_powers(question: &mut Question<'_>) -> Result<Option<Found>, Error> {
    match question.program.adds_noise_again() {
        true => Ok(None),
        false => by_statement(Engine::Powers, question),
    }
}

/// The account of another program that states rounds, from the rows of its statement: they follow from its
/// matrices, where those of the program itself would be written out value by value. `None` for other
/// programs, and for an answer that does not fit within the limits: another engine may find it.
///
/// # Errors
/// Those of the engine.
pub(crate) fn by_rows(question: &Question<'_>) -> Result<Option<Found>, Error> {
    use ndp_certify::Error::{NotCertified, TooLarge};
    match by_statement(Engine::Rows, question) {
        Err(Error::Certify(TooLarge { .. } | NotCertified { .. })) => Ok(None),
        // What the sweeps have found is an answer, too.
        Err(Error::Stopped(Stopped::OutOfWork | Stopped::OutOfTime)) => Ok(None),
        found => found,
    }
}

/// The account of a program whose statement this engine answers. `None` for an observer who sees something
/// else than what its members hear.
fn by_statement(engine: Engine, question: &Question<'_>) -> Result<Option<Found>, Error> {
    let Question { program, observer, options, seen, .. } = question;
    let from = options.powers_from;
    let other =
        observer.members().is_empty() || !observer.tapped.is_empty() || !options.directions.is_empty();
    if other || program.events.len() < from || !program.may_state_rounds() {
        return Ok(None);
    }
    let (rows, noises) = (seen.rows.len() as f64, program.noises.len() as f64);
    let worth = match engine {
        Engine::Powers => seen.rows.len() >= from,
        _ => rows * rows * noises <= MAX_WORK,
    };
    if !worth {
        return Ok(None);
    }
    options.stop.check()?;
    match program.stated().filter(|stated| stated.vector().engine().0 == engine) {
        Some(stated) => stated.account(question),
        None => Ok(None),
    }
}

impl Stated {
    /// What the observer learns about every node that was asked for; `None` where nothing is certified.
    ///
    /// # Errors
    /// Those of the engine.
    fn account(&self, question: &Question<'_>) -> Result<Option<Found>, Error> {
        let Question { observer, options, asked, seen, .. } = question;
        let mut members = observer.members().to_vec();
        members.sort_unstable();
        let budget =
            Budget { memory: options.memory_limit, bits: options.precision_limit, stop: &options.stop };
        let stated = self.vector();
        let found = stated.certificate(&members, budget)?;
        if !found.certified {
            return Ok(None);
        }
        let unit = Interval::between(below(&self.first), above(&self.first));
        if !(unit.low() > 0.0 && unit.high().is_finite()) {
            return Ok(None);
        }
        let gram = |node: usize| -> Option<NodeGram> {
            if seen.members[node] || !asked[node] {
                return None;
            }
            let mut gram = NodeGram::empty(node, 1);
            let ends = Interval::between(found.lower[node], found.upper[node]) / unit;
            let (low, high) = (ends.low().max(0.0), ends.high());
            // A value that is not heard of in time occurs in no row.
            if found.upper[node] > 0.0 {
                gram.places[0] = Some(0);
                gram.diagonal.push(Ends { low, high });
                gram.leaks.push(false);
                gram.structural.push(f64::INFINITY);
                let middle = low + (high - low) / 2.0;
                let apart = (high - low) * 0.75;
                gram.entries = Some((Array2::from_elem((1, 1), middle), Array2::from_elem((1, 1), apart)));
            }
            Some(gram)
        };
        let grams = (0..self.nodes).map(gram).collect();
        let rank = found.rank - stated.drawn_by(&members).len();
        let (bits, failure, engine) = (found.bits, found.failure, stated.engine().0);
        Ok(Some(Found { grams, rank, bits, failure, adaptivity: Dependence::Fixed, engine }))
    }
}

/// The largest work, in products of numbers, of an answer by rows.
const MAX_WORK: f64 = 4e11;
