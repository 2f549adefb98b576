//! What an observer sees of a program: which values, from which moment on, and their rows over what it does
//! not know.
//!
//! The observer sees the messages that a member receives or sends, those overheard on a tapped edge,
//! broadcasts, and secure sums that it receives. A member knows its contributions, the noises that it drew or
//! shares, and its part of a correlated group, which is a value like others and not an independent noise.
//! What follows from seen values by the program's own sums has no row of its own.

use crate::build::{Program, Seeing};
use crate::registers::{Definition, Primitive};
use crate::{ProgramError, build};
use ndp_account::{Error, Observer, OwnNoise, Senders};
use ndp_numeric::stop::{Stop, Stopped, work};
use num_rational::BigRational;
use num_traits::Zero;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Checks an observer against a program of `nodes` nodes.
///
/// # Errors
/// [`ProgramError::NodeOutOfRange`], [`ProgramError::Repeated`], [`ProgramError::SameEnds`];
/// [`Error::NotOffered`] for an observer who ignores its own noise or does not know senders.
pub(super) fn check(observer: &Observer, nodes: usize) -> Result<(), Error> {
    let ends = observer.tapped.iter().flat_map(|&(from, to)| [from, to]);
    if let Some(node) = observer.members().iter().copied().chain(ends).find(|&node| node >= nodes) {
        return Err(ProgramError::NodeOutOfRange { node, nodes }.into());
    }
    if let Some(&(node, _)) = observer.tapped.iter().find(|(from, to)| from == to) {
        return Err(ProgramError::SameEnds { what: "a tapped edge", node }.into());
    }
    if observer.own_noise == OwnNoise::Unknown || observer.senders == Senders::Hidden {
        return Err(Error::NotOffered(
            "programs are accounted for observers who know their own noise and from whom messages come",
        ));
    }
    Ok(build::distinct(observer.members(), "the coalition")?)
}

/// Whether the observer sees an event. A tap hears what the first node of a pair sends to the second one.
pub(super) fn sees(observer: &Observer, seeing: &Seeing) -> bool {
    match seeing {
        Seeing::Message { from, to } => {
            observer.contains(*from) || observer.contains(*to) || observer.tapped.contains(&(*from, *to))
        }
        Seeing::Broadcast { .. } => true,
        Seeing::SecureSum { to, .. } => observer.contains(*to),
        Seeing::Held { by } => observer.contains(*by),
    }
}

/// A value that the observer sees and could not have computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeenRow {
    /// The value.
    pub(super) value: usize,
    /// The moment at which it is first seen.
    pub(super) moment: usize,
    /// Its coefficients over what the observer does not know, without noises of variance 0. The coefficients
    /// need not be in lowest terms.
    pub(super) form: Vec<(Primitive, BigRational)>,
}

/// What is known without rows, and the rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// Rows in the order in which they are seen.
    pub(super) rows: Vec<SeenRow>,
    /// For every value, the moment from which on it follows from what was seen, by the program's own sums.
    pub(super) known_from: Vec<Option<usize>>,
    /// For every value, the moment at which it is first seen itself.
    pub(super) first: Vec<Option<usize>>,
    /// For every node, whether it is a member.
    pub(super) members: Vec<bool>,
    /// Whether rows have their coefficients.
    complete: bool,
}

impl Seen {
    /// What `observer` sees and, in addition, the values `shown` from the given moments on.
    ///
    /// # Errors
    /// Those of a bad observer; [`Error::Stopped`].
    pub(super) fn new(
        program: &Program,
        observer: &Observer,
        shown: &BTreeMap<usize, usize>,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let mut seen = Self::outline(program, observer, shown)?;
        seen.complete(program, stop)?;
        Ok(seen)
    }

    /// The same without the coefficients of the rows.
    ///
    /// # Errors
    /// Those of a bad observer.
    pub(super) fn outline(
        program: &Program,
        observer: &Observer,
        shown: &BTreeMap<usize, usize>,
    ) -> Result<Self, Error> {
        check(observer, program.node_count())?;
        let mut members = vec![false; program.node_count()];
        observer.members().iter().for_each(|&v| members[v] = true);
        let mut first: Vec<Option<usize>> = vec![None; program.values.len()];
        let events = program.events.iter().filter(|event| sees(observer, &event.seeing));
        let seen = events.map(|event| (event.value, event.moment)).chain(shown.iter().map(|(&v, &m)| (v, m)));
        for (value, moment) in seen {
            let at = first[value].get_or_insert(moment);
            *at = (*at).min(moment);
        }
        let mut known_from: Vec<Option<usize>> = Vec::with_capacity(program.values.len());
        let mut kept = Vec::new();
        for (value, definition) in program.values.iter().enumerate() {
            let made = program.moments[value];
            let derived = match definition {
                Definition::Contribution(k) => members[program.contributions[*k].node].then_some(made),
                Definition::Noise(k) if program.noises[*k].variance.is_zero() => Some(made),
                // The column of a noise that is seen is deleted.
                Definition::Noise(_) => first[value],
                Definition::Sum(_) | Definition::Mixed { .. } => {
                    let mut latest = Some(made);
                    definition.each_term(|term, _| {
                        latest = latest.zip(known_from[term]).map(|(a, b)| a.max(b));
                    });
                    latest
                }
            };
            if let (None, Some(moment)) = (derived, first[value]) {
                kept.push((moment, value));
            }
            known_from.push(match (derived, first[value]) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            });
        }
        kept.sort_unstable();
        let row = |(moment, value)| SeenRow { value, moment, form: Vec::new() };
        let rows = kept.into_iter().map(row).collect();
        Ok(Self { rows, known_from, first, members, complete: false })
    }

    /// Whether rows have their coefficients.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Computes the coefficients of the rows; rows without any are dropped.
    ///
    /// # Errors
    /// [`Stopped`] during the computation. No row is then lost, but some have no coefficients.
    pub(super) fn complete(&mut self, program: &Program, stop: &Stop) -> Result<(), Stopped> {
        if self.complete {
            return Ok(());
        }
        self.count(program, stop)?;
        let unknown = |primitive: &Primitive| match primitive {
            Primitive::Contribution(k) => !self.members[program.contributions[*k].node],
            Primitive::Noise(k) => self.known_from[program.noises[*k].value].is_none(),
        };
        program.prepare_forms(&self.rows.iter().map(|row| row.value).collect::<Vec<_>>(), stop)?;
        let complete = |row: &mut SeenRow| {
            stop.check()?;
            let whole = program.kept_form(row.value);
            row.form = whole.iter().filter(|(primitive, _)| unknown(primitive)).cloned().collect();
            Ok(())
        };
        self.rows.par_iter_mut().try_for_each(complete)?;
        self.rows.retain(|row| !row.form.is_empty());
        self.complete = true;
        Ok(())
    }

    /// Counts the work for the coefficients of the rows, independently of what was computed for other
    /// observers: either a walk back from each row to everything that it consists of, or the coefficients of
    /// all of this over every contribution and noise, whichever is less.
    fn count(&self, program: &Program, stop: &Stop) -> Result<(), Stopped> {
        if stop == &Stop::never() {
            return Ok(());
        }
        // The work of a term of each value, whose digits grow with every weight on the way.
        let mut bits: Vec<u64> = Vec::with_capacity(program.values.len());
        for definition in program.values.iter() {
            let mut most = 0;
            definition.each_term(|term, weight| {
                most = most.max(bits[term] + weight.numer().bits() + weight.denom().bits() - 1);
            });
            bits.push(most);
        }
        let of_visit = |value: usize| OF_VISIT + 2 * bits[value];
        let of_coefficient = |value: usize| OF_COEFFICIENT + bits[value] / 2;
        // The number of terms of everything that is reached from what is open and was not visited with this
        // number.
        let terms_from = |open: &mut Vec<usize>, visited: &mut [u32], number: u32| {
            let mut terms = 0usize;
            while let Some(value) = open.pop() {
                program.values[value].each_term(|term, _| {
                    terms += 1;
                    if visited[term] != number {
                        visited[term] = number;
                        open.push(term);
                    }
                });
            }
            terms
        };
        let mut visited = vec![u32::MAX; program.values.len()];
        let mut open: Vec<usize> = self.rows.iter().map(|row| row.value).collect();
        open.iter().for_each(|&value| visited[value] = 0);
        terms_from(&mut open, &mut visited, 0);
        let (mut primitives, mut of_all) = (0, 0);
        for value in (0..visited.len()).filter(|&value| visited[value] == 0) {
            let mut terms = 0;
            program.values[value].each_term(|_, _| terms += 1);
            primitives += usize::from(terms == 0);
            of_all = u64::saturating_add(of_all, of_coefficient(value).saturating_mul(terms));
        }
        let of_all = of_all.saturating_mul(work([primitives]));
        // What is more than either need not be known exactly.
        let enough = of_all.min(stop.left().unwrap_or(u64::MAX).saturating_add(1));
        let mut by_walks = 0;
        for (number, row) in (1u32..).zip(&self.rows) {
            if by_walks >= enough {
                break;
            }
            stop.check()?;
            visited[row.value] = number;
            open.push(row.value);
            let terms = terms_from(&mut open, &mut visited, number) as u64;
            by_walks = u64::saturating_add(by_walks, (terms + 1).saturating_mul(of_visit(row.value)));
        }
        stop.spend(by_walks.min(of_all))
    }

    /// Whether the rows consist of more than `most` hidden values in total, where a value counts once for
    /// every row that it is part of.
    pub(super) fn deeper_than(&self, program: &Program, most: usize) -> bool {
        let mut visited = vec![u32::MAX; program.values.len()];
        let mut count = 0;
        let mut open: Vec<usize> = Vec::new();
        for (number, row) in (0u32..).zip(&self.rows) {
            open.push(row.value);
            while let Some(value) = open.pop() {
                count += 1;
                if count > most {
                    return true;
                }
                program.values[value].each_term(|term, _| {
                    if self.known_from[term].is_none() && visited[term] != number {
                        visited[term] = number;
                        open.push(term);
                    }
                });
            }
        }
        false
    }

    /// The contributions that occur in a row, ascending.
    pub(super) fn contributions(&self) -> Vec<usize> {
        let all = self.rows.iter().flat_map(|row| &row.form);
        let mut found: Vec<usize> = all
            .filter_map(|(primitive, _)| match primitive {
                Primitive::Contribution(k) => Some(*k),
                Primitive::Noise(_) => None,
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The approximate work of a term of a value on the walk back from a row, and of one coefficient of a value
/// that is computed from those of its terms, in addition to the work for their digits.
const OF_VISIT: u64 = 150;
const OF_COEFFICIENT: u64 = 30;
