//! A part of a composition, tilted by `e^{θ·loss}`: its masses by index modulo the size of a transform, and
//! its moments, which bound the mass far out.

use super::enclosing::Enclosing;
use super::grid_law::{End, GridLaw};
use ndp_numeric::fourier::Complex;
use ndp_numeric::rounding::{Interval, count_up};

/// A part of a composition: its two laws, and how often it occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) laws: &'a Enclosing,
    pub(super) count: u64,
}

impl Part<'_> {
    pub(super) const fn law(&self, end: End) -> &GridLaw {
        match end {
            End::Upper => &self.laws.upper,
            End::Lower => &self.laws.lower,
        }
    }

    /// The sum of the offsets of all its occurrences.
    pub(super) fn offset(&self, end: End) -> Interval {
        let offset = if end == End::Upper { self.laws.upper_offset } else { self.laws.lower_offset };
        Interval::count(self.count) * offset
    }

    /// `count · ln Σ p_j e^{θjh}`, rounded up.
    pub(super) fn log_moment_up(&self, end: End, tilt: f64) -> f64 {
        let law = self.law(end);
        let (sum, error) = moment(law, tilt);
        (Interval::count(self.count) * (Interval::new(sum) * Interval::new(1.0 + error)).ln()).high()
    }
}

/// `Σ p_j e^{θjh}` over the finite masses, and its relative error.
fn moment(law: &GridLaw, tilt: f64) -> (f64, f64) {
    let sum: f64 = law.masses.iter().map(|&(index, mass)| mass * grown(tilt, index, law.step)).sum();
    (sum, law.masses.len() as f64 * f64::EPSILON + term_error(law, tilt))
}

/// `e^{θjh}`.
fn grown(tilt: f64, index: i64, step: f64) -> f64 {
    libm::exp(tilt * (index as f64 * step))
}

/// Relative error of a mass times [`grown`]: two roundings of the exponent, the exponential, a product.
fn term_error(law: &GridLaw, tilt: f64) -> f64 {
    let ends = law.masses.first().into_iter().chain(law.masses.last());
    let largest = ends.map(|&(index, _)| (tilt * (index as f64 * law.step)).abs()).fold(0.0, f64::max);
    (4.0 + 2.0 * largest) * f64::EPSILON
}

/// Both laws of a part, tilted and divided by one float `M`.
#[derive(Clone, Debug)]
pub(super) struct Tilted {
    /// The upper law as real parts, and the lower one as imaginary parts.
    pub(super) bins: Vec<Complex>,
    pub(super) count: u64,
    /// `count · ln M`.
    pub(super) log_moment: Interval,
    /// A bound on the error of the logarithm of a product of `count` masses.
    pub(super) log_error: f64,
}

impl Tilted {
    pub(super) fn new(part: Part, tilt: f64, size: usize) -> Self {
        let (upper, lower) = (part.law(End::Upper), part.law(End::Lower));
        let sum = moment(upper, tilt).0;
        let total = if sum > 0.0 && sum.is_finite() { sum } else { 1.0 };
        let mut bins = vec![Complex::ZERO; size];
        let modulus = i64::try_from(size).unwrap_or(i64::MAX);
        for (law, imaginary) in [(upper, false), (lower, true)] {
            for &(index, mass) in &law.masses {
                let tilted = mass * grown(tilt, index, law.step) / total;
                let bin = usize::try_from(index.rem_euclid(modulus)).unwrap_or(0);
                if let Some(bin) = bins.get_mut(bin) {
                    *if imaginary { &mut bin.im } else { &mut bin.re } += tilted;
                }
            }
        }
        let folds = [upper, lower].map(|law| span(law) / size as f64).into_iter().fold(0.0, f64::max);
        let error = term_error(upper, tilt).max(term_error(lower, tilt)) + (folds + 2.0) * f64::EPSILON;
        let times = Interval::count(part.count);
        Self {
            bins,
            count: part.count,
            log_moment: times * Interval::new(total).ln(),
            log_error: 1.001 * count_up(part.count) * error,
        }
    }
}

/// The distance from the first to the last index.
fn span(law: &GridLaw) -> f64 {
    law.masses.first().zip(law.masses.last()).map_or(0.0, |(first, last)| (last.0 - first.0) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From −3 to 5 it is 8, and nothing where there is one mass or none.
    #[test]
    fn spans_go_from_the_first_mass_to_the_last() {
        let law = |masses: &[(i64, f64)]| GridLaw { step: 1.0, masses: masses.to_vec(), infinite: 0.0 };
        assert_eq!(span(&law(&[(-3, 0.2), (0, 0.3), (5, 0.5)])), 8.0);
        assert_eq!((span(&law(&[(7, 1.0)])), span(&law(&[]))), (0.0, 0.0));
    }
}
