//! Values as linear forms: the terms of each value, and the exact coefficients of a value over contributions
//! and noises.

use crate::ProgramError;
use crate::mixing::MixingMatrix;
use ndp_account::Error;
use ndp_certify::divisor::{greatest_common_divisor, least_common_multiple, lowest_terms};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a value is defined by earlier values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Definition {
    /// A contribution, by its number.
    Contribution(usize),
    /// A noise, by its number.
    Noise(usize),
    /// A weighted sum of earlier values.
    Sum(Vec<(usize, Arc<BigRational>)>),
    /// A row of a matrix times earlier values.
    Mixed {
        /// The matrix.
        mixing: MixingMatrix,
        /// The values that it is applied to.
        inputs: Arc<Vec<usize>>,
        /// The row.
        row: usize,
    },
}

impl Definition {
    /// Calls `each` with the terms of the value and their weights.
    pub(super) fn each_term(&self, mut each: impl FnMut(usize, &BigRational)) {
        match self {
            Self::Contribution(_) | Self::Noise(_) => {}
            Self::Sum(terms) => terms.iter().for_each(|(value, weight)| each(*value, weight)),
            Self::Mixed { mixing, inputs, row } => {
                mixing.row(*row).iter().for_each(|(j, weight)| each(inputs[*j as usize], weight));
            }
        }
    }

    /// The terms of the value and their weights.
    pub(super) fn terms(&self) -> Vec<(usize, &BigRational)> {
        match self {
            Self::Contribution(_) | Self::Noise(_) => Vec::new(),
            Self::Sum(terms) => terms.iter().map(|(value, weight)| (*value, &**weight)).collect(),
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

/// A ratio that is not reduced: on a walk through many steps, greatest common divisors would be most of the
/// work.
#[derive(Clone, Debug)]
pub(super) struct Unreduced {
    pub(super) numerator: BigInt,
    pub(super) denominator: BigInt,
}

impl Unreduced {
    pub(super) fn zero() -> Self {
        Self { numerator: BigInt::zero(), denominator: BigInt::one() }
    }

    pub(super) fn add(&mut self, numerator: BigInt, denominator: &BigInt) {
        if self.denominator == *denominator {
            self.numerator += numerator;
        } else if (denominator % &self.denominator).is_zero() {
            self.numerator *= denominator / &self.denominator;
            self.numerator += numerator;
            self.denominator = denominator.clone();
        } else {
            let common = least_common_multiple(self.denominator.clone(), denominator);
            self.numerator *= &common / &self.denominator;
            self.numerator += numerator * (&common / denominator);
            self.denominator = common;
        }
    }

    /// Divides by the greatest common divisor, which is fast if the denominator is short.
    pub(super) fn shorten(&mut self) {
        if self.denominator.is_one() {
            return;
        }
        // After one division both numbers are short.
        let rest = &self.numerator % &self.denominator;
        let short = lowest_terms(rest, self.denominator.clone());
        if short.denom() != &self.denominator {
            let by = &self.denominator / short.denom();
            self.numerator /= by;
            self.denominator = short.denom().clone();
        }
    }
}

/// The nonzero coefficients of a value over contributions and noises, ascending: ratios over one denominator
/// that has no common divisor with all numerators. A single coefficient need not be in lowest terms.
pub(crate) type Form = Vec<(Primitive, BigRational)>;

/// The coefficients of `value`, by a walk back in time.
pub(super) fn form(values: &[Definition], value: usize) -> Form {
    let one = Unreduced { numerator: BigInt::one(), denominator: BigInt::one() };
    let found = combined(values, BTreeMap::from([(value, one)]));
    let mut common = BigInt::one();
    for (_, x) in &found {
        common = least_common_multiple(common, &x.denominator);
    }
    let whole = |x: Unreduced| match x.denominator == common {
        true => x.numerator,
        false => x.numerator * (&common / x.denominator),
    };
    let whole = found.into_iter().map(|(primitive, x)| (primitive, whole(x))).collect();
    shortened(whole, common)
}

/// The coefficients of a value from those of its terms, all of which `of` gives.
pub(super) fn next_form<'f>(
    values: &[Definition],
    value: usize,
    of: impl Fn(usize) -> Option<&'f Form>,
) -> Option<Form> {
    let own = |primitive| Some(vec![(primitive, BigRational::one())]);
    let definition = &values[value];
    match definition {
        Definition::Contribution(k) => return own(Primitive::Contribution(*k)),
        Definition::Noise(k) => return own(Primitive::Noise(*k)),
        Definition::Sum(_) | Definition::Mixed { .. } => {}
    }
    let terms: Vec<(&Form, &BigRational)> =
        definition.terms().into_iter().map(|(term, x)| Some((of(term)?, x))).collect::<Option<_>>()?;
    let common =
        terms.iter().fold(BigInt::one(), |common, (_, weight)| least_common_multiple(common, weight.denom()));
    let below = terms.iter().filter_map(|(form, _)| Some(form.first()?.1.denom()));
    let below = below.fold(BigInt::one(), least_common_multiple);
    let mut sums: BTreeMap<Primitive, BigInt> = BTreeMap::new();
    for (form, weight) in terms {
        let Some((_, first)) = form.first() else { continue };
        let factor = &below / first.denom() * (&common / weight.denom()) * weight.numer();
        for (primitive, x) in form {
            *sums.entry(*primitive).or_default() += x.numer() * &factor;
        }
    }
    sums.retain(|_, x| !x.is_zero());
    Some(shortened(sums.into_iter().collect(), below * common))
}

/// Coefficients over a denominator, without a divisor that all of them share.
fn shortened(entries: Vec<(Primitive, BigInt)>, denominator: BigInt) -> Form {
    let mut divisor = denominator.magnitude().clone();
    for (_, x) in &entries {
        if divisor.is_one() {
            break;
        }
        divisor = greatest_common_divisor(&divisor, x.magnitude());
    }
    if divisor.is_one() {
        let ratio = |x| BigRational::new_raw(x, denominator.clone());
        return entries.into_iter().map(|(primitive, x)| (primitive, ratio(x))).collect();
    }
    let divisor = BigInt::from(divisor);
    let denominator = denominator / &divisor;
    let ratio = |x| BigRational::new_raw(x / &divisor, denominator.clone());
    entries.into_iter().map(|(primitive, x)| (primitive, ratio(x))).collect()
}

/// The nonzero coefficients of a combination of values over contributions and noises, ascending: a walk back
/// in time from the values to everything they consist of.
pub(super) fn combined(
    values: &[Definition],
    mut open: BTreeMap<usize, Unreduced>,
) -> Vec<(Primitive, Unreduced)> {
    let mut found = Vec::new();
    let add =
        |open: &mut BTreeMap<usize, Unreduced>, term: usize, numerator: BigInt, denominator: &BigInt| {
            match open.get_mut(&term) {
                Some(sum) => sum.add(numerator, denominator),
                None => {
                    open.insert(term, Unreduced { numerator, denominator: denominator.clone() });
                }
            }
        };
    while let Some((at, weight)) = open.pop_last() {
        if weight.numerator.is_zero() {
            continue;
        }
        match &values[at] {
            Definition::Contribution(k) => found.push((Primitive::Contribution(*k), weight)),
            Definition::Noise(k) => found.push((Primitive::Noise(*k), weight)),
            Definition::Sum(terms) => {
                for (term, factor) in terms {
                    if factor.denom().is_one() {
                        add(&mut open, *term, &weight.numerator * factor.numer(), &weight.denominator);
                    } else {
                        let denominator = &weight.denominator * factor.denom();
                        add(&mut open, *term, &weight.numerator * factor.numer(), &denominator);
                    }
                }
            }
            Definition::Mixed { mixing, inputs, row } => match mixing.whole_row(*row) {
                Some((common, numerators)) => {
                    let denominator = &weight.denominator * common;
                    for ((j, _), factor) in mixing.row(*row).iter().zip(numerators) {
                        add(&mut open, inputs[*j as usize], &weight.numerator * factor, &denominator);
                    }
                }
                None => {
                    for (j, factor) in mixing.row(*row) {
                        let denominator = &weight.denominator * factor.denom();
                        add(&mut open, inputs[*j as usize], &weight.numerator * factor.numer(), &denominator);
                    }
                }
            },
        }
    }
    found.sort_unstable_by_key(|(primitive, _)| *primitive);
    found
}

/// The number of a column in 32 bits.
pub(super) fn column(number: usize) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| ProgramError::TooManyValues.into())
}
