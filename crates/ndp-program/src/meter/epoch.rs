//! The steps of one epoch as a program of its own.

use crate::build::{Program, Reads, Value};
use crate::registers::Definition;
use crate::{ProgramError, Weight};
use num_rational::BigRational;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Program {
    /// A program of the steps after these values and events, in which everybody is shown the values `shown`
    /// at the end.
    ///
    /// The earlier values that are `known` become constants. For an observer who knew them when the epoch
    /// began, the account of this program is that of the epoch.
    ///
    /// # Errors
    /// [`ProgramError::Forgotten`] if another earlier value is read; [`ProgramError::TooManyValues`].
    pub(super) fn steps_from(
        &self,
        from: (usize, usize),
        known: &BTreeSet<usize>,
        shown: &[usize],
    ) -> Result<Self, ProgramError> {
        let mut steps = Self::new(self.nodes)?;
        let mut places = Places { from: from.0, known, constants: BTreeMap::new(), of: Vec::new() };
        let mut events = self.events[from.1..].iter().peekable();
        for value in from.0..=self.values.len() {
            let moment = self.moments.get(value).copied().unwrap_or(usize::MAX);
            while let Some(event) = events.next_if(|event| event.moment < moment) {
                let at = places.place(&mut steps, event.value)?;
                steps.see(at, event.seeing.clone());
            }
            let Some(definition) = self.values.get(value) else { break };
            let made = match definition {
                Definition::Contribution(k) => {
                    let contribution = &self.contributions[*k];
                    let reads = match &contribution.reads {
                        Reads::Seen(Some(list)) => Reads::Seen(Some(places.places(&mut steps, list)?)),
                        Reads::Hidden(Some(list)) => Reads::Hidden(Some(places.places(&mut steps, list)?)),
                        other => other.clone(),
                    };
                    steps.contribute(contribution.node, reads)?
                }
                Definition::Noise(k) => steps.noise([], Weight::of(self.noises[*k].variance.clone()))?,
                Definition::Sum(terms) => {
                    let mut sum = Vec::with_capacity(terms.len());
                    for (term, weight) in terms {
                        sum.push((places.place(&mut steps, *term)?.index(), Arc::clone(weight)));
                    }
                    steps.push(Definition::Sum(sum))?
                }
                Definition::Mixed { mixing, inputs, row } => {
                    let mut all = Vec::with_capacity(inputs.len());
                    for &input in inputs.iter() {
                        all.push(places.place(&mut steps, input)?.index());
                    }
                    let (mixing, inputs) = (mixing.clone(), Arc::new(all));
                    steps.push(Definition::Mixed { mixing, inputs, row: *row })?
                }
            };
            places.of.push(made);
        }
        for &value in shown {
            let at = places.place(&mut steps, value)?;
            steps.broadcast(None, at)?;
        }
        Ok(steps)
    }
}

/// Where the values of a program are among the steps of an epoch.
struct Places<'a> {
    from: usize,
    known: &'a BTreeSet<usize>,
    /// The earlier values.
    constants: BTreeMap<usize, Value>,
    /// All other values, in their order.
    of: Vec<Value>,
}

impl Places<'_> {
    fn place(&mut self, steps: &mut Program, value: usize) -> Result<Value, ProgramError> {
        if let Some(&at) = value.checked_sub(self.from).and_then(|k| self.of.get(k)) {
            return Ok(at);
        }
        if let Some(&at) = self.constants.get(&value) {
            return Ok(at);
        }
        if !self.known.contains(&value) {
            return Err(ProgramError::Forgotten(value));
        }
        // Everybody knows a noise of variance 0, so that it can stand for a constant.
        let at = steps.noise([], Weight::of(BigRational::default()))?;
        self.constants.insert(value, at);
        Ok(at)
    }

    fn places(&mut self, steps: &mut Program, values: &[Value]) -> Result<Vec<Value>, ProgramError> {
        values.iter().map(|value| self.place(steps, value.index())).collect()
    }
}
