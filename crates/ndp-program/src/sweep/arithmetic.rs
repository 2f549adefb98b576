//! The exact numbers with which shifts are completed: integer multiples of one fraction, if all numbers are
//! multiples and fit into 128 bits, and otherwise ratios of any length.

use crate::weight::float;
use ndp_numeric::casts::integer;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

/// Exact numbers; results are `None` if they are out of range.
pub(super) trait Arithmetic {
    type Number: Clone;

    fn zero(&self) -> Self::Number;
    fn number(&self, x: &BigRational) -> Option<Self::Number>;
    /// The nearest multiple of the grid.
    fn rounded(&self, x: f64) -> Option<Self::Number>;
    /// `sum + weight x`.
    fn add(&self, sum: &mut Self::Number, weight: &BigRational, x: &Self::Number) -> Option<()>;
    /// `(a - b) / by`.
    fn quotient(&self, a: &Self::Number, b: &Self::Number, by: &BigRational) -> Option<Self::Number>;
    fn is_zero(&self, x: &Self::Number) -> bool;
    /// Whether weighted sums of this number will soon be out of range.
    fn is_nearly_out_of_range(&self, x: &Self::Number) -> bool;
    fn float(&self, x: &Self::Number) -> f64;
    fn ratio(&self, x: Self::Number) -> BigRational;
}

/// Ratios on a grid, whose width is a power of 2.
pub(super) struct Ratios {
    pub(super) grid: f64,
}

impl Arithmetic for Ratios {
    type Number = BigRational;

    fn zero(&self) -> BigRational {
        BigRational::zero()
    }

    fn number(&self, x: &BigRational) -> Option<BigRational> {
        Some(x.clone())
    }

    fn rounded(&self, x: f64) -> Option<BigRational> {
        BigRational::from_float((x / self.grid).round() * self.grid)
    }

    fn add(&self, sum: &mut BigRational, weight: &BigRational, x: &BigRational) -> Option<()> {
        *sum += weight * x;
        Some(())
    }

    fn quotient(&self, a: &BigRational, b: &BigRational, by: &BigRational) -> Option<BigRational> {
        Some((a - b) / by)
    }

    fn is_zero(&self, x: &BigRational) -> bool {
        x.is_zero()
    }

    fn is_nearly_out_of_range(&self, _: &BigRational) -> bool {
        false
    }

    fn float(&self, x: &BigRational) -> f64 {
        float(x)
    }

    fn ratio(&self, x: BigRational) -> BigRational {
        x
    }
}

/// Integer multiples of `1 / (odd 2^twos)`.
pub(super) struct Multiples {
    odd: i64,
    twos: u32,
    /// The width of the grid, the integer that represents it, and the integer that represents it divided by
    /// the divisor of weights.
    grid: f64,
    step: i128,
    fine: i128,
}

impl Multiples {
    /// Multiples of the width of a grid (a power of 2, at most 1) over the square of a common divisor of all
    /// weights. Weighted sums of weighted sums of numbers on the grid are such multiples. `None` if these
    /// would leave no room in 128 bits.
    pub(super) fn new(grid: f64, divisor: i64) -> Option<Self> {
        let bits = u32::try_from(integer(-grid.log2())).ok().filter(|bits| *bits <= MAX_BITS)?;
        let room = 1..=MAX_DIVISOR;
        if !room.contains(&divisor) || 2.0_f64.powi(-i32::try_from(bits).ok()?) != grid {
            return None;
        }
        let (parts, fine) = (divisor * divisor, divisor.into());
        let shared = parts.trailing_zeros();
        Some(Self { odd: parts >> shared, twos: bits + shared, grid, step: parts.into(), fine })
    }

    fn unit(&self) -> i128 {
        i128::from(self.odd) << self.twos
    }
}

impl Arithmetic for Multiples {
    type Number = i128;

    fn zero(&self) -> i128 {
        0
    }

    fn number(&self, x: &BigRational) -> Option<i128> {
        divided(x.numer().to_i128()?.checked_mul(self.unit())?, x.denom().to_i64()?)
    }

    fn rounded(&self, x: f64) -> Option<i128> {
        let steps = (x / self.grid).round();
        (steps.abs() < MAX_STEPS).then(|| i128::from(integer(steps)) * self.step)
    }

    fn add(&self, sum: &mut i128, weight: &BigRational, x: &i128) -> Option<()> {
        let product = x.checked_mul(weight.numer().to_i64()?.into())?;
        *sum = sum.checked_add(divided(product, weight.denom().to_i64()?)?)?;
        Some(())
    }

    fn quotient(&self, a: &i128, b: &i128, by: &BigRational) -> Option<i128> {
        let product = a.checked_sub(*b)?.checked_mul(by.denom().to_i64()?.into())?;
        divided(product, by.numer().to_i64()?)
    }

    fn is_zero(&self, x: &i128) -> bool {
        *x == 0
    }

    fn is_nearly_out_of_range(&self, x: &i128) -> bool {
        x % self.fine != 0
    }

    fn float(&self, x: &i128) -> f64 {
        *x as f64 / self.unit() as f64
    }

    fn ratio(&self, x: i128) -> BigRational {
        if x == 0 {
            return BigRational::zero();
        }
        // In lowest terms. Powers of 2 come first, as they are most of the divisor.
        let shared = x.trailing_zeros().min(self.twos);
        let x = x >> shared;
        let rest = i64::try_from(x % i128::from(self.odd)).unwrap_or(0);
        let common = rest.gcd(&self.odd);
        let below = i128::from(self.odd / common) << (self.twos - shared);
        BigRational::new_raw(BigInt::from(x / i128::from(common)), BigInt::from(below))
    }
}

/// A quotient that is an integer.
fn divided(x: i128, by: i64) -> Option<i128> {
    if by == 1 {
        return Some(x);
    }
    if let Ok(x) = i64::try_from(x) {
        return (x.checked_rem(by)? == 0).then(|| i128::from(x / by));
    }
    let by = i128::from(by);
    (x.checked_rem(by)? == 0).then(|| x / by)
}

/// The largest number of bits of the divisor of a grid, of divisors of weights, and of steps on the grid.
/// Together they leave room for sums.
const MAX_BITS: u32 = 60;
const MAX_DIVISOR: i64 = 1 << 20;
const MAX_STEPS: f64 = (1u64 << 52) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(a: i64, b: i64) -> BigRational {
        BigRational::new(a.into(), b.into())
    }

    /// Both kinds of numbers agree whenever multiples have an answer, and answers are in lowest terms.
    #[test]
    fn multiples_are_ratios() {
        let (multiples, ratios) = (Multiples::new(0.125, 12).unwrap(), Ratios { grid: 0.125 });
        let weights = [ratio(1, 3), ratio(-5, 12), ratio(7, 1), ratio(3, 4)];
        for x in [0.0, 0.3, -2.06, 17.5, -0.49] {
            let (short, long) = (multiples.rounded(x).unwrap(), ratios.rounded(x).unwrap());
            assert_eq!(multiples.ratio(short), long);
            assert!((multiples.float(&short) - ratios.float(&long)).abs() < 1e-15);
            for weight in &weights {
                let (mut a, mut b) = (multiples.number(&ratio(1, 4)).unwrap(), ratio(1, 4));
                multiples.add(&mut a, weight, &short).unwrap();
                ratios.add(&mut b, weight, &long).unwrap();
                let found = multiples.ratio(a);
                assert_eq!(found, b);
                assert_eq!(found.denom(), BigRational::new(b.numer().clone(), b.denom().clone()).denom());
                let quotient = multiples.quotient(&a, &short, &ratio(3, 2));
                let exact = ratios.quotient(&b, &long, &ratio(3, 2)).unwrap();
                assert!(quotient.is_none_or(|x| multiples.ratio(x) == exact));
            }
        }
    }

    /// Numbers that are not multiples, or do not fit, are left to ratios.
    #[test]
    fn what_is_no_multiple_is_left() {
        let multiples = Multiples::new(0.5, 3).unwrap();
        assert_eq!(multiples.number(&ratio(1, 5)), None);
        assert_eq!(multiples.add(&mut 0, &ratio(1, 9), &3), None);
        assert_eq!(multiples.add(&mut 0, &ratio(1, 9), &9), Some(()));
        // Thirds of halves and of sixths are still multiples.
        assert_eq!([9, 3, 1].map(|x| multiples.is_nearly_out_of_range(&x)), [false, false, true]);
        assert_eq!(multiples.quotient(&5, &0, &ratio(2, 1)), None);
        assert_eq!(multiples.quotient(&5, &0, &ratio(0, 1)), None);
        assert_eq!(multiples.add(&mut 0, &ratio(4, 1), &(i128::MAX / 2)), None);
        assert_eq!(multiples.add(&mut i128::MAX.clone(), &ratio(1, 1), &1), None);
        assert_eq!(multiples.rounded(1e30), None);
        assert_eq!(multiples.rounded(f64::NAN), None);
        for (grid, parts) in [(2.0, 1), (0.3, 1), (0.5, 0), (0.5, 1 << 21), (2.0_f64.powi(-61), 1)] {
            assert!(Multiples::new(grid, parts).is_none(), "{grid} {parts}");
        }
    }

    /// Divisors that do not fit into a machine word.
    #[test]
    fn long_multiples_divide() {
        let (x, by) = (i128::MAX / 6 * 6, 6);
        assert_eq!(divided(x, by), Some(x / 6));
        assert_eq!(divided(x + 1, by), None);
        assert_eq!(divided(-7, -1), Some(7));
        assert_eq!([divided(7, 0), divided(i128::from(i64::MIN), -1)], [None, None]);
    }
}
