//! Values as linear forms: what each is made of, and the exact coefficients of a value over contributions and noises.

use super::mixing::Mixing;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a value comes about from values before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Definition {
    /// A contribution, by its number.
    Contribution(usize),
    /// A noise, by its number.
    Noise(usize),
    /// A weighted sum of values before it.
    Sum(Vec<(usize, BigRational)>),
    /// A row of a matrix times values before it.
    Mixed {
        /// The matrix.
        mixing: Arc<Mixing>,
        /// The values that it is applied to.
        inputs: Arc<Vec<usize>>,
        /// The row.
        row: usize,
    },
}

impl Definition {
    /// Weights and values that it is the sum of.
    pub(super) fn terms(&self) -> Vec<(usize, &BigRational)> {
        match self {
            Self::Contribution(_) | Self::Noise(_) => Vec::new(),
            Self::Sum(terms) => terms.iter().map(|(value, weight)| (*value, weight)).collect(),
            Self::Mixed { mixing, inputs, row } => {
                mixing.row(*row).iter().map(|(j, weight)| (inputs[*j as usize], weight)).collect()
            }
        }
    }
}

/// A coordinate of a linear form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Primitive {
    Contribution(usize),
    Noise(usize),
}

/// The coefficients of `value` over contributions and noises, ascending, none of them 0: a walk back in time from the value
/// to what it is made of.
pub(super) fn form(values: &[Definition], value: usize) -> Vec<(Primitive, BigRational)> {
    let mut open: BTreeMap<usize, BigRational> = BTreeMap::from([(value, BigRational::one())]);
    let mut found = Vec::new();
    while let Some((at, weight)) = open.pop_last() {
        if weight.is_zero() {
            continue;
        }
        match &values[at] {
            Definition::Contribution(k) => found.push((Primitive::Contribution(*k), weight)),
            Definition::Noise(k) => found.push((Primitive::Noise(*k), weight)),
            made => {
                for (term, factor) in made.terms() {
                    let product = if factor.is_one() { weight.clone() } else { factor * &weight };
                    open.entry(term).and_modify(|sum| *sum += &product).or_insert(product);
                }
            }
        }
    }
    found.sort_unstable_by_key(|(primitive, _)| *primitive);
    found
}
