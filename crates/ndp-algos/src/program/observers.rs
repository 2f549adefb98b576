//! What an observer sees of a program: which values, from when on, and their rows over what it does not know.
//!
//! Seen are the messages that a member receives or sends, those overheard on a tapped edge, broadcasts, and secure sums where
//! they are received. A member knows its contributions, the noises that it drew or shares, and its part of a correlated group,
//! which is a value like others, not an independent noise. What follows from seen values by the program's own sums is no row
//! of its own.

use super::build::{Program, Seeing};
use super::registers::{Definition, Primitive};
use super::{ProgramError, build};
use num_rational::BigRational;
use num_traits::Zero;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Who looks: a coalition of nodes (none of them is an outsider) and the edges that are overheard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observer {
    members: Vec<usize>,
    taps: Vec<(usize, usize)>,
}

impl Observer {
    /// Nobody within the protocol: broadcasts alone are seen.
    #[must_use]
    pub fn outsider() -> Self {
        Self::default()
    }

    /// One node.
    #[must_use]
    pub fn node(node: usize) -> Self {
        Self::coalition(&[node])
    }

    /// Nodes that pool what they see and know.
    #[must_use]
    pub fn coalition(members: &[usize]) -> Self {
        Self { members: members.to_vec(), taps: Vec::new() }
    }

    /// The same observer, who also overhears the messages that `from` sends to `to`; no noises become known by that, and
    /// secure sums are not overheard.
    #[must_use]
    pub fn tapping(mut self, from: usize, to: usize) -> Self {
        self.taps.push((from, to));
        self
    }

    /// The members, as they were given.
    #[must_use]
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// The tapped edges, from sender to receiver.
    #[must_use]
    pub fn taps(&self) -> &[(usize, usize)] {
        &self.taps
    }

    fn check(&self, nodes: usize) -> Result<(), ProgramError> {
        let ends = self.taps.iter().flat_map(|&(from, to)| [from, to]);
        if let Some(node) = self.members.iter().copied().chain(ends).find(|&node| node >= nodes) {
            return Err(ProgramError::NodeOutOfRange { node, nodes });
        }
        if let Some(&(node, _)) = self.taps.iter().find(|(from, to)| from == to) {
            return Err(ProgramError::SameEnds { what: "a tapped edge", node });
        }
        build::distinct(&self.members, "the coalition")
    }

    fn sees(&self, seeing: &Seeing) -> bool {
        let member = |node: &usize| self.members.contains(node);
        match seeing {
            Seeing::Message { from, to } => member(from) || member(to) || self.taps.contains(&(*from, *to)),
            Seeing::Broadcast { .. } => true,
            Seeing::SecureSum { to } => member(to),
            Seeing::Held { by } => member(by),
        }
    }
}

/// A value that the observer sees and could not have computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeenRow {
    /// The value.
    pub(super) value: usize,
    /// When it is seen first.
    pub(super) moment: usize,
    /// Its coefficients over what the observer does not know, noises of variance 0 left out.
    pub(super) form: Vec<(Primitive, BigRational)>,
}

/// What is known without rows, and the rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// Rows in the order in which they are seen.
    pub(super) rows: Vec<SeenRow>,
    /// For every value the moment from which on it follows from what was seen by the program's own sums.
    pub(super) known_from: Vec<Option<usize>>,
    /// For every value the moment when it is first seen itself.
    pub(super) first: Vec<Option<usize>>,
    /// For every node whether it is a member.
    pub(super) members: Vec<bool>,
}

impl Seen {
    /// What `observer` sees, and beyond that the values `shown` from the given moments on.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`], [`ProgramError::Repeated`], [`ProgramError::SameEnds`] for a bad observer.
    pub(super) fn new(
        program: &Program,
        observer: &Observer,
        shown: &BTreeMap<usize, usize>,
    ) -> Result<Self, ProgramError> {
        observer.check(program.node_count())?;
        let mut members = vec![false; program.node_count()];
        observer.members.iter().for_each(|&v| members[v] = true);
        let mut first: Vec<Option<usize>> = vec![None; program.values.len()];
        let events = program.events.iter().filter(|event| observer.sees(&event.seeing));
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
                // A noise that is seen has its column deleted.
                Definition::Noise(_) => first[value],
                Definition::Sum(_) | Definition::Mixed { .. } => {
                    let terms = definition.terms();
                    let latest = |latest: usize, (term, _): &(usize, _)| Some(latest.max(known_from[*term]?));
                    terms.iter().try_fold(made, latest)
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
        let unknown = |primitive: &Primitive| match primitive {
            Primitive::Contribution(k) => !members[program.contributions[*k].node],
            Primitive::Noise(k) => known_from[program.noises[*k].value].is_none(),
        };
        let rows: Vec<SeenRow> = kept
            .into_par_iter()
            .map(|(moment, value)| {
                let mut form = program.form(value);
                form.retain(|(primitive, _)| unknown(primitive));
                SeenRow { value, moment, form }
            })
            .collect();
        let rows = rows.into_iter().filter(|row| !row.form.is_empty()).collect();
        Ok(Self { rows, known_from, first, members })
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
