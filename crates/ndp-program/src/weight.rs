//! Exact numbers: ratios of integers, and floating-point numbers as the dyadic fractions that they represent.

use crate::ProgramError;
use ndarray::Array2;
use ndp_certify::divisor::lowest_terms;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::sync::Arc;

/// An exact weight or variance.
///
/// An integer is itself, a pair `(a, b)` is the ratio `a / b`, and an `f64` is the dyadic fraction that it
/// represents: `0.1` is not a tenth, but `(1, 10)` is. A number that is not finite, or a ratio over 0, can be
/// constructed, but is refused when it is used.
///
/// # Examples
/// ```
/// use ndp_program::Weight;
/// assert_eq!(Weight::from((2, 4)), Weight::from(0.5));
/// assert_ne!(Weight::from((1, 10)), Weight::from(0.1));
/// assert_eq!(f64::from(&Weight::from((1, 10))), 0.1);
/// assert_eq!("1/3".parse::<Weight>()?, Weight::from((1, 3)));
/// # Ok::<(), ndp_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Weight(Result<Arc<BigRational>, f64>);

impl Weight {
    /// A ratio of integers of any size.
    pub(super) fn of(x: BigRational) -> Self {
        Self(Ok(Arc::new(x)))
    }

    /// The exact value.
    ///
    /// # Errors
    /// [`ProgramError::NotFinite`].
    pub(super) fn exact(&self, what: &'static str) -> Result<&BigRational, ProgramError> {
        Ok(self.shared(what)?)
    }

    /// The same, shared with the copies of this weight.
    ///
    /// # Errors
    /// [`ProgramError::NotFinite`].
    pub(super) fn shared(&self, what: &'static str) -> Result<&Arc<BigRational>, ProgramError> {
        self.0.as_ref().map_err(|&value| ProgramError::NotFinite { what, value })
    }

    /// The exact value of a number that must not be negative.
    ///
    /// # Errors
    /// [`ProgramError::NotFinite`], [`ProgramError::NegativeVariance`].
    pub(super) fn variance(&self) -> Result<&BigRational, ProgramError> {
        let exact = self.exact("a variance")?;
        if exact.is_negative() {
            return Err(ProgramError::NegativeVariance(self.to_string()));
        }
        Ok(exact)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.as_ref().is_ok_and(|x| x.is_zero())
    }

    #[doc(hidden)]
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Ok(exact) => float(exact),
            Err(value) => *value,
        }
    }
}

/// The nearest `f64` to a rational, or one of its neighbors.
pub(super) fn float(x: &BigRational) -> f64 {
    // Floats hold both integers, so that their quotient is rounded once, as below.
    let short = |n: &BigInt| n.to_i64().filter(|n| n.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS);
    match (short(x.numer()), short(x.denom())) {
        (Some(numer), Some(denom)) => numer as f64 / denom as f64,
        _ => x.to_f64().unwrap_or(f64::NAN),
    }
}

impl From<i32> for Weight {
    fn from(x: i32) -> Self {
        Self::from(i64::from(x))
    }
}

impl From<i64> for Weight {
    fn from(x: i64) -> Self {
        Self::of(BigRational::from_integer(x.into()))
    }
}

impl From<f64> for Weight {
    fn from(x: f64) -> Self {
        Self(BigRational::from_float(x).map(Arc::new).ok_or(x))
    }
}

impl From<&Weight> for f64 {
    /// The nearest `f64`, or one of its neighbors; infinite if it is out of range.
    fn from(weight: &Weight) -> Self {
        weight.to_f64()
    }
}

impl From<(i64, i64)> for Weight {
    fn from((a, b): (i64, i64)) -> Self {
        if b == 0 {
            return Self(Err(f64::NAN));
        }
        Self::of(BigRational::new(a.into(), b.into()))
    }
}

/// The product is not finite if a factor is not.
impl std::ops::Mul for &Weight {
    type Output = Weight;

    fn mul(self, other: &Weight) -> Weight {
        match (&self.0, &other.0) {
            (Ok(a), Ok(b)) => Weight::of(&**a * &**b),
            _ => Weight(Err(f64::NAN)),
        }
    }
}

impl std::fmt::Display for Weight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Ok(x) => write!(f, "{x}"),
            Err(x) => write!(f, "{x}"),
        }
    }
}

impl std::str::FromStr for Weight {
    type Err = ProgramError;

    /// Reads `a` or `a/b`, both integers: at most 100,000 digits, with or without a minus in front.
    fn from_str(text: &str) -> Result<Self, ProgramError> {
        let refuse = || ProgramError::NotANumber(text.chars().take(40).collect());
        let (a, b) = text.split_once('/').unwrap_or((text, "1"));
        let integer = |x: &str| {
            let x = x.trim();
            let digits = x.strip_prefix('-').unwrap_or(x);
            let plain = digits.len() <= MAX_DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
            x.parse::<BigInt>().ok().filter(|_| plain).ok_or_else(refuse)
        };
        let (a, b) = (integer(a)?, integer(b)?);
        if b.is_zero() {
            return Err(refuse());
        }
        Ok(Self::of(BigRational::new(a, b)))
    }
}

/// `L D Lᵀ` of a covariance, where `L` has a unit diagonal: the columns of `L` below the diagonal, and `D`.
pub(super) type Factors = (Vec<Vec<BigRational>>, Vec<BigRational>);

/// The exact factors of a covariance.
///
/// # Errors
/// [`ProgramError::Covariance`] when it is not square, not symmetric or not positive semidefinite.
pub(super) fn ldl(covariance: &[Vec<BigRational>]) -> Result<Factors, ProgramError> {
    let m = covariance.len();
    let refuse = |problem: String| Err(ProgramError::Covariance(problem));
    if let Some((k, row)) = covariance.iter().enumerate().find(|(_, row)| row.len() != m) {
        return refuse(format!("row {k} has {} entries, not {m}", row.len()));
    }
    let mut rest = Array2::from_shape_fn((m, m), |(i, j)| covariance[i][j].clone());
    if let Some(((i, j), _)) = rest.indexed_iter().find(|((i, j), x)| j < i && **x != rest[(*j, *i)]) {
        return refuse(format!("it is not symmetric at ({i}, {j})"));
    }
    let (mut columns, mut diagonal) = (Vec::with_capacity(m), Vec::with_capacity(m));
    for k in 0..m {
        let pivot = rest[(k, k)].clone();
        if pivot.is_negative() {
            return refuse(format!("it is not positive semidefinite: pivot {k} is {pivot}"));
        }
        let mut column = Vec::with_capacity(m - k - 1);
        for i in k + 1..m {
            if rest[(i, k)].is_zero() {
                column.push(BigRational::zero());
            } else if pivot.is_zero() {
                return refuse(format!(
                    "it is not positive semidefinite: pivot {k} is 0, its column is not (row {i})"
                ));
            } else {
                column.push(&rest[(i, k)] / &pivot);
            }
        }
        for i in (k + 1..m).filter(|i| !column[i - k - 1].is_zero()) {
            for j in k + 1..m {
                let change = &column[i - k - 1] * &rest[(k, j)];
                rest[(i, j)] -= change;
            }
        }
        columns.push(column);
        diagonal.push(pivot);
    }
    Ok((columns, diagonal))
}

/// The inverse of a lower triangular matrix, given by its rows up to the diagonal.
///
/// # Errors
/// [`ProgramError::Shape`] if row `k` does not have `k + 1` entries; [`ProgramError::ZeroDiagonal`];
/// [`ProgramError::NotFinite`].
pub fn inverse_of_lower(rows: &[Vec<Weight>]) -> Result<Vec<Vec<Weight>>, ProgramError> {
    let mut inverse: Vec<Vec<BigRational>> = Vec::with_capacity(rows.len());
    for (k, row) in rows.iter().enumerate() {
        if row.len() != k + 1 {
            let what = "entries of a row of a lower triangular matrix";
            return Err(ProgramError::Shape { what, expected: k + 1, got: row.len() });
        }
        let exact: Vec<&BigRational> =
            row.iter().map(|x| x.exact("an entry of a matrix")).collect::<Result<_, _>>()?;
        if exact[k].is_zero() {
            return Err(ProgramError::ZeroDiagonal(k));
        }
        let mut next = vec![BigRational::zero(); k + 1];
        next[k] = BigRational::one();
        for (factor, before) in exact.iter().zip(&inverse).filter(|(factor, _)| !factor.is_zero()) {
            for (to, x) in next.iter_mut().zip(before) {
                *to -= *factor * x;
            }
        }
        next.iter_mut().for_each(|x| *x /= exact[k]);
        inverse.push(next);
    }
    Ok(inverse.into_iter().map(|row| row.into_iter().map(Weight::of).collect()).collect())
}

/// A banded lower triangular Toeplitz matrix with `steps` rows, whose first column starts with `band`; its
/// rows up to the diagonal.
pub fn toeplitz(steps: usize, band: &[Weight]) -> Vec<Vec<Weight>> {
    let entry = |lag: usize| band.get(lag).cloned().unwrap_or_else(|| Weight::from(0));
    (0..steps).map(|t| (0..=t).map(|s| entry(t - s)).collect()).collect()
}

/// A ratio. A long one is not reduced, since the greatest common divisor would be most of the work.
pub(super) fn over(a: BigInt, b: &BigInt) -> BigRational {
    if a.bits() + b.bits() <= REDUCED {
        lowest_terms(a, b.clone())
    } else {
        BigRational::new_raw(a, b.clone())
    }
}

/// The largest number of digits of a number that is read.
const MAX_DIGITS: usize = 100_000;

/// The largest number of bits of ratios that are reduced.
const REDUCED: u64 = 1 << 15;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Short ratios take a path of their own, to the same bits: at its border, beyond it, and where nothing
    /// was reduced.
    #[test]
    fn short_ratios_become_the_floats_of_long_ones() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let most = 1i64 << f64::MANTISSA_DIGITS;
        for case in 0..20_000 {
            let mut draw = || match case % 4 {
                0 => most - rng.random_range(-3..4),
                1 => rng.random_range(1..100),
                _ => rng.random_range(1..i64::MAX) >> rng.random_range(0..62),
            };
            let (numer, denom) = (draw(), draw().max(1));
            for numer in [numer, -numer, 0] {
                let x = BigRational::new_raw(numer.into(), denom.into());
                assert_eq!(Some(float(&x)), x.to_f64(), "{numer}/{denom}");
            }
        }
    }
}
