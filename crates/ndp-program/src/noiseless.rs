//! Changes that are seen without noise: the combination of messages that shows one, computed exactly.

use crate::build::{Program, Value};
use crate::observers::Seen;
use crate::registers::Primitive;
use crate::{ProgramError, Weight};
use ndp_account::Error;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::collections::BTreeMap;

/// A weighted sum of seen values.
pub(super) type Combination = Vec<(Value, Weight)>;

/// The change of each contribution, by its number.
pub(super) type Change = BTreeMap<usize, BigRational>;

impl Program {
    /// The change of every contribution.
    pub(super) fn change(&self, seen: &Seen, source: usize, weights: &[Weight]) -> Result<Change, Error> {
        let nodes = self.node_count();
        match seen.members.get(source) {
            None => return Err(ProgramError::NodeOutOfRange { node: source, nodes }.into()),
            Some(true) => return Err(ProgramError::Member(source).into()),
            Some(false) => {}
        }
        if weights.len() != self.uses(source) {
            let what = "weights of a change";
            return Err(ProgramError::Shape { what, expected: self.uses(source), got: weights.len() }.into());
        }
        let uses = self.contributions.iter().enumerate().filter(|(_, c)| c.node == source);
        uses.map(|(k, c)| Ok((k, weights[c.index].exact("a weight")?.clone()))).collect()
    }
}

pub(super) fn shift_of(form: &[(Primitive, BigRational)], change: &Change) -> BigRational {
    let mut sum = BigRational::zero();
    for (primitive, x) in form {
        if let Primitive::Contribution(k) = primitive
            && let Some(delta) = change.get(k)
        {
            sum += x * delta;
        }
    }
    sum
}

/// A combination of rows without noise that shows a change of the uses of `source`, computed exactly; `None`
/// if the view is too large for this.
pub(super) fn noiseless(
    program: &Program,
    seen: &Seen,
    source: usize,
    change: &[f64],
) -> Option<Combination> {
    if seen.rows.len() > MAX_EXACT {
        return None;
    }
    let weights: Vec<Weight> = change.iter().map(|&x| Weight::from(x)).collect();
    let change = program.change(seen, source, &weights).ok()?;
    // The rows in echelon form over the noises: pivot, row, combination, shift.
    type Reduced = (usize, BTreeMap<usize, BigRational>, BTreeMap<usize, BigRational>, BigRational);
    let mut reduced: Vec<Reduced> = Vec::new();
    for (r, row) in seen.rows.iter().enumerate() {
        let mut noises: BTreeMap<usize, BigRational> = BTreeMap::new();
        for (primitive, x) in &row.form {
            if let Primitive::Noise(k) = primitive {
                noises.insert(*k, x.clone());
            }
        }
        let mut combination = BTreeMap::from([(r, BigRational::one())]);
        let mut shift = shift_of(&row.form, &change);
        for (pivot, before, before_combination, before_shift) in &reduced {
            let Some(factor) = noises.get(pivot).cloned() else { continue };
            subtract(&mut noises, before, &factor);
            subtract(&mut combination, before_combination, &factor);
            shift -= &factor * before_shift;
        }
        match noises.iter().next().map(|(&pivot, x)| (pivot, x.recip())) {
            None if shift.is_zero() => {}
            None => {
                let value = |r: usize| u32::try_from(seen.rows[r].value).map(Value);
                let terms = combination.into_iter().filter(|(_, x)| !x.is_zero());
                let terms = terms.map(|(r, x)| value(r).ok().map(|v| (v, Weight::of(x))));
                return terms.collect();
            }
            Some((pivot, scale)) => {
                noises.values_mut().for_each(|x| *x *= &scale);
                combination.values_mut().for_each(|x| *x *= &scale);
                reduced.push((pivot, noises, combination, shift * scale));
            }
        }
    }
    None
}

fn subtract(
    from: &mut BTreeMap<usize, BigRational>,
    what: &BTreeMap<usize, BigRational>,
    factor: &BigRational,
) {
    for (k, x) in what {
        let entry = from.entry(*k).or_insert_with(BigRational::zero);
        *entry -= factor * x;
        if entry.is_zero() {
            from.remove(k);
        }
    }
}

/// The largest number of rows for which combinations are computed.
const MAX_EXACT: usize = 160;
