//! The steps of a program as an observer sees it, in the order of computation: hidden values, unknown noises,
//! uses, and the rows.
//!
//! Everything that the observer knows is left out of the sums (the shift of a seen value is 0): a row is the
//! definition of a seen value, restricted to its hidden terms. This multiplies the rows by a unit triangular
//! matrix and changes no loss.

use crate::build::Program;
use crate::observers::Seen;
use crate::registers::Definition;
use crate::weight::float;
use ndp_numeric::stop::work;

/// What a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A sum that the observer does not see.
    Hidden,
    /// A noise, by its index among those of the tape.
    Noise,
    /// A use of a node's data, by its index among those of the tape.
    Use,
    /// A row, by its index.
    Row,
}

/// One step: a value and the slot in which it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) kind: Kind,
    /// Its index among the steps of its kind.
    pub(super) number: u32,
    /// The slot in which it is kept; without meaning for a row.
    pub(super) slot: u32,
    /// Whether it is a term of only one step.
    pub(super) once: bool,
    start: u32,
    end: u32,
}

/// The steps in an order in which every value is computed before it is used, but not long before.
pub(super) struct Tape {
    pub(super) steps: Vec<Step>,
    /// The value of every step.
    pub(super) values: Vec<u32>,
    /// The slots and weights of the terms of all steps.
    terms: Vec<(u32, f64)>,
    /// Number of slots.
    pub(super) slots: usize,
    /// For every row, the number of its value and the position after its step.
    pub(super) rows: Vec<(usize, usize)>,
    /// Variance of every noise, in the order of the steps.
    pub(super) variances: Vec<f64>,
    /// Contribution of every use, in the order of the steps.
    pub(super) uses: Vec<usize>,
    /// Whether all weights are positive.
    pub(super) positive: bool,
    /// The largest number of roundings of a coefficient that is computed from the rows back to noises and
    /// uses.
    pub(super) back: usize,
    /// The largest number of roundings of a value that is computed from the noises forward to the rows.
    pub(super) on: usize,
}

/// Whether weights are taken as they are, or as their absolute values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Given,
    Positive,
}

/// Numbers for several right sides at once.
pub(super) type Lane = [f64; LANES];
/// The number of right sides that are computed together.
pub(super) const LANES: usize = 16;
pub(super) const ZERO: Lane = [0.0; LANES];

impl Tape {
    /// The tape of what was seen. `None` if a weight or a variance is out of range, or if gains might leave
    /// the range.
    pub(super) fn new(program: &Program, seen: &Seen) -> Option<Self> {
        let values = &program.values;
        let hidden = |term: usize| seen.known_from[term].is_none();
        let mut is_row = vec![false; values.len()];
        seen.rows.iter().for_each(|row| is_row[row.value] = true);
        let order = row_by_row(program, seen)?;
        // The step of each value, and for each step the last one of which it is a term.
        let mut place = vec![NONE; values.len()];
        for (at, &v) in order.iter().enumerate() {
            place[v as usize] = u32::try_from(at).ok()?;
        }
        let mut tape = Self {
            steps: Vec::with_capacity(order.len()),
            values: order.clone(),
            terms: Vec::new(),
            slots: 0,
            rows: Vec::with_capacity(seen.rows.len()),
            variances: Vec::new(),
            uses: Vec::new(),
            positive: true,
            back: 0,
            on: 0,
        };
        let mut until = vec![0u32; order.len()];
        let mut consumers = vec![0u32; order.len()];
        let mut fine = true;
        for (at, &v) in (0u32..).zip(&order) {
            let v = v as usize;
            let start = u32::try_from(tape.terms.len()).ok()?;
            let mut negative = false;
            values[v].each_term(|term, weight| {
                if hidden(term) {
                    let x = float(weight);
                    fine &= (1e-30..1e30).contains(&x.abs());
                    negative |= x < 0.0;
                    let to = place[term];
                    until[to as usize] = at;
                    consumers[to as usize] += 1;
                    tape.terms.push((to, x));
                }
            });
            tape.positive &= !negative;
            let end = u32::try_from(tape.terms.len()).ok()?;
            let (kind, number) = match &values[v] {
                // A message without noise has no noise in its row, so that the covariance of the rows has no
                // inverse.
                _ if is_row[v] => {
                    tape.rows.push((v, at as usize + 1));
                    (Kind::Row, tape.rows.len())
                }
                Definition::Noise(k) => {
                    let variance = float(&program.noises[*k].variance);
                    fine &= (1e-30..1e30).contains(&variance);
                    tape.variances.push(variance);
                    (Kind::Noise, tape.variances.len())
                }
                Definition::Contribution(k) => {
                    tape.uses.push(*k);
                    (Kind::Use, tape.uses.len())
                }
                Definition::Sum(_) | Definition::Mixed { .. } => (Kind::Hidden, at as usize + 1),
            };
            let number = u32::try_from(number - 1).ok()?;
            tape.steps.push(Step { kind, number, slot: 0, once: false, start, end });
        }
        tape.steps.iter_mut().zip(&consumers).for_each(|(step, count)| step.once = *count == 1);
        drop(place);
        if !fine || !tape.in_range(&consumers) {
            return None;
        }
        tape.assign(until);
        Some(tape)
    }

    /// Counts the roundings, and returns whether the gains between any two steps stay in range.
    fn in_range(&mut self, consumers: &[u32]) -> bool {
        let n = self.steps.len();
        // From the rows back.
        let (mut roundings, mut gains) = (vec![0usize; n], vec![0.0f64; n]);
        let mut largest = 0.0f64;
        for at in (0..n).rev() {
            let step = self.steps[at];
            if step.kind == Kind::Row {
                gains[at] = 1.0;
            } else {
                // Sums with as many terms as there are consumers; the first term is added to 0.
                roundings[at] += (consumers[at] as usize).saturating_sub(1);
            }
            largest = largest.max(gains[at]);
            if matches!(step.kind, Kind::Noise | Kind::Use) {
                self.back = self.back.max(roundings[at]);
            }
            for &(to, x) in &self.terms[step.start as usize..step.end as usize] {
                let to = to as usize;
                roundings[to] = roundings[to].max(roundings[at] + cost(x));
                gains[to] += gains[at] * x.abs();
            }
        }
        // From the noises forward, including the product with a variance.
        let (mut roundings, mut gains) = (vec![0usize; n], vec![1.0f64; n]);
        for at in 0..n {
            let step = self.steps[at];
            let terms = &self.terms[step.start as usize..step.end as usize];
            match step.kind {
                Kind::Noise => roundings[at] = 3,
                Kind::Use => {}
                Kind::Hidden | Kind::Row => {
                    let longest = terms.iter().map(|&(to, x)| roundings[to as usize] + cost(x)).max();
                    roundings[at] = longest.unwrap_or(0) + terms.len().saturating_sub(1);
                    gains[at] = terms.iter().map(|&(to, x)| gains[to as usize] * x.abs()).sum();
                }
            }
            largest = largest.max(gains[at]);
            if step.kind == Kind::Row {
                self.on = self.on.max(roundings[at]);
            }
        }
        largest <= MAX_GAIN
    }

    /// Gives every step a slot that is free from the step to its last consumer.
    fn assign(&mut self, mut until: Vec<u32>) {
        let mut free: Vec<u32> = Vec::new();
        let mut slots = 0u32;
        let mut slot = vec![0u32; self.steps.len()];
        for at in 0..self.steps.len() {
            if self.steps[at].kind != Kind::Row {
                slot[at] = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                self.steps[at].slot = slot[at];
            }
            let range = self.steps[at].start as usize..self.steps[at].end as usize;
            for term in &mut self.terms[range] {
                let to = term.0 as usize;
                if until[to] as usize == at {
                    // A value may be a term twice.
                    until[to] = NONE;
                    free.push(slot[to]);
                }
                term.0 = slot[to];
            }
        }
        self.slots = slots as usize;
    }

    pub(super) fn terms(&self, step: &Step) -> &[(u32, f64)] {
        &self.terms[step.start as usize..step.end as usize]
    }

    /// The approximate work of one sweep over all steps; a few lanes are computed together.
    pub(super) fn cost(&self) -> u64 {
        work([self.terms.len() + 2 * self.steps.len(), LANES / 2])
    }

    /// Goes from the rows back to noises and uses: `leaf` gets the coefficients of the seeded combinations.
    /// Steps from `from` on have no part in it. All slots are 0 before and after.
    pub(super) fn back(
        &self,
        from: usize,
        sign: Sign,
        slots: &mut [Lane],
        seed: impl Fn(usize) -> Lane,
        mut leaf: impl FnMut(Kind, usize, &Lane),
    ) {
        for step in self.steps[..from].iter().rev() {
            let number = step.number as usize;
            let lane = match step.kind {
                Kind::Row => seed(number),
                _ => std::mem::replace(&mut slots[step.slot as usize], ZERO),
            };
            if matches!(step.kind, Kind::Noise | Kind::Use) {
                leaf(step.kind, number, &lane);
                continue;
            }
            for &(to, x) in self.terms(step) {
                let x = if sign == Sign::Positive { x.abs() } else { x };
                for (sum, y) in slots[to as usize].iter_mut().zip(&lane) {
                    *sum += x * y;
                }
            }
        }
    }

    /// Goes from the noises forward to the rows before step `from`; uses are 0.
    pub(super) fn on(
        &self,
        from: usize,
        sign: Sign,
        slots: &mut [Lane],
        noise: impl Fn(usize) -> Lane,
        mut row: impl FnMut(usize, Lane),
    ) {
        for step in &self.steps[..from] {
            let mut lane = ZERO;
            match step.kind {
                Kind::Noise => lane = noise(step.number as usize),
                Kind::Use => {}
                Kind::Hidden | Kind::Row => {
                    for &(of, x) in self.terms(step) {
                        let x = if sign == Sign::Positive { x.abs() } else { x };
                        for (sum, y) in lane.iter_mut().zip(&slots[of as usize]) {
                            *sum += x * y;
                        }
                    }
                }
            }
            match step.kind {
                Kind::Row => row(step.number as usize, lane),
                _ => slots[step.slot as usize] = lane,
            }
        }
        slots.fill(ZERO);
    }
}

/// The values that rows consist of, with the rows, by the first row of which each is a part, and then in the
/// order of the program. `None` if there are more values than 32 bits can number.
fn row_by_row(program: &Program, seen: &Seen) -> Option<Vec<u32>> {
    let values = &program.values;
    // For each value the first row of which it is a part; a row is a part of itself.
    let mut first = vec![NONE; values.len()];
    let mut count = 0usize;
    let mut last = 0;
    for row in &seen.rows {
        first[row.value] = u32::try_from(row.value).ok()?;
        last = last.max(row.value);
    }
    for v in (0..=last).rev().filter(|_| !seen.rows.is_empty()) {
        if first[v] == NONE {
            continue;
        }
        count += 1;
        let mine = first[v];
        values[v].each_term(|term, _| {
            if seen.known_from[term].is_none() {
                first[term] = first[term].min(mine);
            }
        });
    }
    let mut order: Vec<(u32, u32)> = Vec::with_capacity(count);
    for (v, &key) in first.iter().enumerate().take(last + 1).filter(|(_, key)| **key != NONE) {
        order.push((key, u32::try_from(v).ok()?));
    }
    order.sort_unstable();
    Some(order.into_iter().map(|(_, v)| v).collect())
}

/// The number of roundings of a product with a weight that was itself rounded to one of its two neighbors.
fn cost(x: f64) -> usize {
    if x.abs() == 1.0 { 0 } else { 3 }
}

const NONE: u32 = u32::MAX;
/// With larger gains, an underflow might not be covered by the bounds.
const MAX_GAIN: f64 = 1e40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reads, Weight};
    use ndp_account::Observer;
    use std::collections::BTreeMap;

    /// A hidden value contains a third of a noise, and two rows contain a third and a seventh of the hidden
    /// value. A weight that is not a float may be rounded to either neighbor, which is two units off, and its
    /// product is rounded. On the way back from the rows there are two weights and the sum over both rows; on
    /// the way forward from the noises there are three units of a variance, two weights, and two sums.
    #[test]
    fn roundings_are_counted_along_the_way() -> Result<(), ndp_account::Error> {
        let mut program = crate::Program::new(2)?;
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
        let hidden = program.combine([(Weight::from((1, 3)), z), (Weight::from(1), x)])?;
        for part in [3, 7] {
            let own = program.noise([0], 1)?;
            let row = program.combine([(Weight::from((1, part)), hidden), (Weight::from(1), own)])?;
            program.send(0, 1, row)?;
        }
        let seen = Seen::outline(&program, &Observer::node(1), &BTreeMap::new())?;
        let tape = Tape::new(&program, &seen).expect("a tape");
        assert_eq!((tape.back, tape.on), (2 * 3 + 1, 3 + 2 * 3 + 2));
        Ok(())
    }
}
