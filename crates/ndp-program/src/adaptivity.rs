//! Decides whether contributions may depend on earlier values, and what the observer is then shown.
//!
//! If every contribution depends only on its owner's data, coins, public values and rows that the observer
//! has seen before, the loss is that of the program with constant contributions, since the worst case is
//! attained by constants. This fails if a contribution reads something that the observer does not see: a path
//! of three nodes whose middle node reacts to its hidden state loses up to 25/34, and with constants only
//! 1/10. The observer is then shown what is read, which can only help it: an upper bound.
//!
//! A list of what is read is checked. Every value on it must be a combination of rows seen before, known
//! noises, members' contributions and the owner's earlier contributions, where the contributions of other
//! nodes are unknowns like the noises. An earlier contribution may carry on what it has read, whether it is
//! sent or not: so what it reads is checked, or shown, as well.

use crate::build::{Contribution, Program, Reads};
use crate::observers::Seen;
use crate::registers::{Definition, Primitive};
use crate::{Error, ProgramError};
use ndp_account::Observer;
use ndp_certify::decisions;
use ndp_certify::rows::{Layout, Rows};
use ndp_certify::whole::WholeRows;
use ndp_numeric::rounding::any_of;
use ndp_numeric::stop::{Stop, work};
use num_rational::BigRational;
use num_traits::Zero;
use std::collections::{BTreeMap, BTreeSet};

/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Dependence, constructors::{Dsgd, ModelReads, dsgd}};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let options = Dsgd { reads: ModelReads::Assumed, ..Dsgd::from(2) };
/// let program = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), options)?;
/// assert_eq!(program.account(&Observer::node(0))?.adaptivity, Dependence::Assumed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ndp_account::Dependence;

/// What is done about contributions that read values that the observer does not see.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{AccountOptions, Dependence, HiddenReads, Program, Reads};
/// let mut program = Program::new(3)?;
/// let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
/// let secret = program.add(&[x, z])?;
/// program.send(0, 1, secret)?;
/// // Node 1 reacts to what node 2 does not see.
/// let (x, z) = (program.contribute(1, Reads::Hidden(Some(vec![secret])))?, program.noise([1], 1)?);
/// let reaction = program.add(&[x, z])?;
/// program.send(1, 2, reaction)?;
/// let observer = Observer::node(2);
/// assert_eq!(program.account(&observer)?.adaptivity, Dependence::Revealed);
/// let exact = AccountOptions { hidden: HiddenReads::Refuse, ..AccountOptions::default() };
/// assert!(program.account_with(&observer, &exact).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HiddenReads {
    /// Refuse them: only exact answers are wanted.
    Refuse,
    /// Show the observer what is declared as hidden, and refuse a list that is declared as seen and was not
    /// seen.
    #[default]
    AsDeclared,
    /// Show the observer everything that is read and was not seen.
    Reveal,
}

/// What is seen once the reads of contributions are taken into account, how they were, and the probability
/// that a check passed wrongly. It starts from what is seen without anything that is shown because of them.
pub(super) fn resolve(
    program: &Program,
    observer: &Observer,
    outline: &Seen,
    policy: HiddenReads,
    stop: &Stop,
) -> Result<(Seen, Dependence, f64), Error> {
    let mut shown: BTreeMap<usize, usize> = BTreeMap::new();
    let mut seen = outline.clone();
    loop {
        seen.complete(program, stop)?;
        let (mut adaptivity, mut failure) = (Dependence::Fixed, 0.0);
        let before = shown.clone();
        // The observer knows the contributions of a member completely, whether they are sent or not.
        let members =
            (0..program.contributions.len()).filter(|&k| seen.members[program.contributions[k].node]);
        let mut open: BTreeSet<usize> = seen.contributions().into_iter().chain(members).collect();
        // Contributions add only earlier ones, so that none comes twice.
        while let Some(k) = open.pop_last() {
            let contribution = &program.contributions[k];
            let (node, index) = (contribution.node, contribution.index);
            let member = seen.members[node];
            let found = match &contribution.reads {
                Reads::Nothing => Dependence::Fixed,
                Reads::Seen(None) => Dependence::Assumed,
                Reads::Hidden(_) if policy == HiddenReads::Refuse && !member => {
                    return Err(ProgramError::HiddenNotExact { node, index }.into());
                }
                Reads::Hidden(None) => return Err(ProgramError::Hidden { node, index }.into()),
                // A member sees values of its own memory that are hidden from other nodes.
                Reads::Seen(Some(list)) | Reads::Hidden(Some(list)) => {
                    let hidden = matches!(contribution.reads, Reads::Hidden(_));
                    open.extend(own_earlier(program, &seen, contribution, list, stop)?);
                    let tested = if hidden && !member {
                        None
                    } else {
                        probability(program, &seen, contribution, list, stop)?
                    };
                    match tested {
                        Some(probability) => {
                            failure = any_of([failure, probability]);
                            Dependence::Checked
                        }
                        None if policy == HiddenReads::Refuse && hidden => {
                            return Err(ProgramError::HiddenNotExact { node, index }.into());
                        }
                        None if hidden || policy == HiddenReads::Reveal => {
                            show(&mut shown, list, contribution.moment);
                            Dependence::Revealed
                        }
                        None => return Err(ProgramError::NotSeen { node, index }.into()),
                    }
                }
            };
            adaptivity = adaptivity.with(found);
        }
        if !before.is_empty() {
            adaptivity = adaptivity.with(Dependence::Revealed);
        }
        // What was shown may contain further contributions: this is repeated until nothing is added.
        if shown == before {
            return Ok((seen, adaptivity, failure));
        }
        seen = Seen::outline(program, observer, &shown)?;
    }
}

fn show(shown: &mut BTreeMap<usize, usize>, list: &[crate::Value], moment: usize) {
    for value in list {
        let at = shown.entry(value.index()).or_insert(moment);
        *at = (*at).min(moment);
    }
}

/// The owner's earlier contributions in values on the list that the observer did not know before.
fn own_earlier(
    program: &Program,
    seen: &Seen,
    contribution: &Contribution,
    list: &[crate::Value],
    stop: &Stop,
) -> Result<Vec<usize>, Error> {
    let mut found = Vec::new();
    for value in list.iter().map(|value| value.index()) {
        if seen.known_from[value].is_some_and(|from| from < contribution.moment) {
            continue;
        }
        let form = program.form(value);
        stop.spend(work([form.len(), OF_COEFFICIENT]))?;
        found.extend(form.into_iter().filter_map(|(primitive, _)| match primitive {
            Primitive::Contribution(k) => {
                program.contributions[k].is_carried_on_by(contribution).then_some(k)
            }
            Primitive::Noise(_) => None,
        }));
    }
    Ok(found)
}

/// A value that some contribution reads and that is neither an own contribution nor known to the observer
/// before, by the structure alone.
pub(super) fn not_plain(program: &Program, seen: &Seen) -> Option<crate::Value> {
    program.contributions.iter().find_map(|contribution| {
        let (Reads::Seen(Some(list)) | Reads::Hidden(Some(list))) = &contribution.reads else { return None };
        let own = |value: usize| {
            matches!(program.values[value], Definition::Contribution(k)
                if program.contributions[k].node == contribution.node)
        };
        let known = |value: usize| seen.known_from[value].is_some_and(|from| from < contribution.moment);
        list.iter().find(|value| !own(value.index()) && !known(value.index())).copied()
    })
}

/// Whether everything on the list is a combination of what was known before: the probability that a "yes" is
/// wrong.
fn probability(
    program: &Program,
    seen: &Seen,
    contribution: &Contribution,
    list: &[crate::Value],
    stop: &Stop,
) -> Result<Option<f64>, Error> {
    let moment = contribution.moment;
    let before = |from: Option<usize>| from.is_some_and(|from| from < moment);
    let open: Vec<usize> =
        list.iter().map(|value| value.index()).filter(|&value| !before(seen.known_from[value])).collect();
    if open.is_empty() {
        return Ok(Some(0.0));
    }
    let unknown = |primitive: &Primitive| match primitive {
        Primitive::Contribution(k) => {
            let other = &program.contributions[*k];
            !seen.members[other.node] && !other.is_carried_on_by(contribution)
        }
        Primitive::Noise(k) => {
            let noise = &program.noises[*k];
            !noise.variance.is_zero() && !before(seen.known_from[noise.value])
        }
    };
    let rows = (0..program.values.len()).filter(|&value| before(seen.first[value]));
    spanned(program, rows, &open, unknown, stop)
}

/// Whether the values in `open` are combinations of `rows`, over what is unknown: the probability that a
/// "yes" is wrong.
pub(super) fn spanned(
    program: &Program,
    rows: impl Iterator<Item = usize>,
    open: &[usize],
    unknown: impl Fn(&Primitive) -> bool,
    stop: &Stop,
) -> Result<Option<f64>, Error> {
    let mut columns: BTreeMap<Primitive, u32> = BTreeMap::new();
    let mut entries: Vec<Vec<(u32, BigRational)>> = Vec::new();
    for value in rows.chain(open.iter().copied()) {
        stop.check()?;
        let mut row = Vec::new();
        let form = program.form(value);
        // The terms are among the values that the walk has visited.
        stop.spend(work([form.len(), OF_COEFFICIENT]))?;
        for (primitive, x) in form.into_iter().filter(|(primitive, _)| unknown(primitive)) {
            let next = crate::registers::column(columns.len())?;
            row.push((*columns.entry(primitive).or_insert(next), x));
        }
        row.sort_unstable_by_key(|(column, _)| *column);
        entries.push(row);
    }
    let coordinates = columns.len();
    let layout = Layout {
        nodes: 0,
        coordinates,
        noises: coordinates,
        variances: Vec::new(),
        inputs: Vec::new(),
        members: Vec::new(),
        known: 0,
        adds_up: false,
    };
    let (count, reads) = (entries.len(), open.len());
    let decided = decisions::of_rows(&Rows::Whole(WholeRows::new(layout, entries)), stop)?;
    let new = decided.kept[count - reads..].iter().any(|&kept| kept);
    Ok((!new).then_some(decided.failure))
}

/// The approximate work of an exact coefficient.
const OF_COEFFICIENT: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum is known once its last term is: a contribution that reads it after the first one was sent reads
    /// what the observer has not seen, and one that is made after both reads what it has.
    #[test]
    fn sums_are_known_once_their_last_term_is() -> Result<(), Error> {
        for sent_before in 0..=2 {
            let mut program = Program::new(3)?;
            let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
            let y = program.add_all(&x, &z)?;
            let sum = program.add(&[y[0], y[2]])?;
            let send = |program: &mut Program, k: usize| program.send([0, 2][k], 1, y[[0, 2][k]]);
            (0..sent_before).try_for_each(|k| send(&mut program, k))?;
            let (x, z) = (program.contribute(0, Reads::Seen(Some(vec![sum])))?, program.noise([0], 1)?);
            (sent_before..2).try_for_each(|k| send(&mut program, k))?;
            let reaction = program.add(&[x, z])?;
            program.send(0, 1, reaction)?;
            let found = program.account(&Observer::node(1)).map(|account| account.adaptivity);
            match sent_before {
                2 => assert_eq!(found, Ok(Dependence::Checked)),
                _ => assert_eq!(found, Err(ProgramError::NotSeen { node: 0, index: 1 }.into())),
            }
        }
        Ok(())
    }

    /// A value that is twice one that was seen, of length `√34`: a minor of both has at most `2 log₂ √34`
    /// binary digits, and so that many in sixty prime factors; each of two primes is one of them with this
    /// share of the `2^54.6` there are (`certified.md`, 2, of the specification).
    #[test]
    fn failures_are_those_of_the_ranks() -> Result<(), Error> {
        let mut program = Program::new(1)?;
        let (a, b) = (program.noise([], 1)?, program.noise([], 1)?);
        let seen = program.combine([(3, a), (5, b)])?;
        let twice = program.combine([(2, seen)])?;
        let found =
            spanned(&program, [seen.index()].into_iter(), &[twice.index()], |_| true, &Stop::never())?;
        let factors = 2.0 * 34f64.sqrt().log2() / 60.0;
        let expected = (factors / 2f64.powf(54.6)).powi(2);
        assert!(found.is_some_and(|failure| (expected..2.0 * expected).contains(&failure)), "{found:?}");
        Ok(())
    }
}
