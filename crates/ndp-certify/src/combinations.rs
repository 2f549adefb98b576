//! Combinations of rows that are nearly orthonormal, in fixed point, and how far they are from the exact
//! ones.
//!
//! From a candidate `c` (an exact row, or the product of the matrix with an exact combination) the next
//! combination is `q = s (c - Σ a_i q_i)`. The coefficients `a_i` and the scale `s` come from floating point
//! and are then taken as *exact* dyadic numbers; so the exact `q` are exact combinations of the rows, however
//! good or bad the coefficients are. What is stored differs from them by at most `e` in norm, and `e` follows
//! a recurrence that is evaluated, rounded upwards, in units of the last place.

use crate::fixed;
use crate::magnitude::{Magnitude, times_power};
use crate::packed::{FACTOR, Kernels, Packed, TERMS};
use crate::wide::{DIGITS, Wide};
use ndp_graph::kernel;
use ndp_numeric::casts::{floor, integer};
use ndp_numeric::stop::{Stopped, work};
use rayon::prelude::*;

/// Why no further combination can be computed at this precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lost {
    /// What remains of a candidate is hardly larger than its error, which has grown by this many bits.
    Digits(f64),
    /// A coordinate without noise left the range of the format, by this many bits.
    Range {
        /// The coordinate.
        coordinate: usize,
        /// The bits.
        bits: i64,
    },
    /// Nobody waits for it, or it takes too long.
    Stopped(Stopped),
}

/// The norm of a vector over the noises, `norm · 2^top` units.
#[derive(Clone, Copy)]
struct Length {
    norm: f64,
    top: i64,
}

/// Combinations of `coordinates` numbers each; the first of these are noises, which have variances.
pub(crate) struct Combinations {
    limbs: usize,
    coordinates: usize,
    noises: usize,
    /// Variances of the noises; empty stands for 1.
    variances: Vec<f64>,
    fixed: Vec<Packed>,
    /// The same in floating point.
    rounded: Vec<Vec<f64>>,
    /// Errors of the fixed-point vectors in units `2^-p`.
    errors: Vec<Magnitude>,
    /// The number of last bits that are kept at 0. Tests of the recurrence use it to make errors visible.
    spare: u32,
    kernels: Kernels,
}

impl Combinations {
    pub(crate) fn new(limbs: usize, coordinates: usize, noises: usize, variances: &[f64]) -> Self {
        let variances = if variances.iter().all(|&v| v == 1.0) { Vec::new() } else { variances.to_vec() };
        Self {
            limbs,
            coordinates,
            noises,
            variances,
            fixed: Vec::new(),
            rounded: Vec::new(),
            errors: Vec::new(),
            spare: 0,
            kernels: Kernels::best(),
        }
    }

    /// The same with this many bits after the point.
    #[cfg(test)]
    pub(crate) fn with_bits(self, bits: u32) -> Self {
        Self { spare: fixed::bits(self.limbs) - 8 - bits, ..self }
    }

    /// The same by the loops for any machine.
    #[cfg(test)]
    pub(crate) fn by_plain_loops(self) -> Self {
        Self { kernels: Kernels::plain(), ..self }
    }

    /// The error, in units, of a coordinate that is rounded to the end of the format.
    fn rounding(&self) -> Magnitude {
        let unit = Magnitude::power(0);
        if self.spare == 0 { unit } else { unit.plus(Magnitude::power(self.spare.into())) }
    }

    /// Clears the last bits if some are to stay 0.
    fn cut(&self, y: &mut Packed) {
        if self.spare > 0 {
            y.cut(self.spare);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rounded.len()
    }

    /// Takes the last combination away.
    pub(crate) fn pop(&mut self) {
        self.fixed.pop();
        self.rounded.pop();
        self.errors.pop();
    }

    /// Combination `k` in fixed point.
    pub(crate) fn fixed(&self, k: usize) -> &Packed {
        &self.fixed[k]
    }

    /// The loops that compute with its vectors.
    pub(crate) fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// The error of combination `k`, in units.
    pub(crate) fn error(&self, k: usize) -> Magnitude {
        self.errors[k]
    }

    /// The combinations in floating point, and a bound on how far each is from the exact one; their
    /// fixed-point form is dropped.
    pub(crate) fn into_rounded(self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let unit = Magnitude::power(-fixed::places(self.limbs));
        // Conversion reads a window of 62 bits below the largest coordinate (at most 2) and rounds it to 53
        // bits.
        let window = Magnitude::new(self.coordinates as f64, 0).root().times(Magnitude::power(-59));
        let conversion = window.plus(Magnitude::new(1.001, -53));
        let errors = self.errors.iter().map(|&e| e.times(unit).plus(conversion).to_f64());
        (self.rounded, errors.collect())
    }

    /// Forgets the fixed-point form of the combinations before `first`, which are not needed any more.
    pub(crate) fn forget_before(&mut self, first: usize) {
        self.fixed[..first].iter_mut().for_each(|q| *q = Packed::zeros(self.limbs, 0));
    }

    /// Work of making a candidate orthogonal to the combinations from `from` on, about: two passes, each a
    /// product in floats and a subtraction in all limbs for every combination.
    pub(crate) fn cost(&self, from: usize) -> u64 {
        work([self.fixed.len() - from + 4, self.coordinates, 2 * self.limbs + 2])
    }

    /// Adds a unit vector, which is exact.
    pub(crate) fn push_unit(&mut self, coordinate: usize) {
        let mut rounded = vec![0.0; self.coordinates];
        rounded[coordinate] = 1.0;
        self.fixed.push(Packed::unit(self.limbs, self.coordinates, coordinate));
        self.rounded.push(rounded);
        self.errors.push(Magnitude::ZERO);
    }

    /// Makes a candidate orthogonal to the combinations from `from` on, scales it to length 1 and adds it.
    /// Its own error is `gamma` units.
    pub(crate) fn absorb(&mut self, candidate: Packed, gamma: Magnitude, from: usize) -> Result<(), Lost> {
        let (candidate, length, error) = self.orthogonal(candidate, gamma, from)?;
        let (scaled, error) = self.scaled(&candidate, length, error)?;
        self.keep(scaled, error)
    }

    /// A candidate made as orthogonal as floating point allows, its norm and its error.
    fn orthogonal(
        &self,
        mut candidate: Packed,
        gamma: Magnitude,
        from: usize,
    ) -> Result<(Packed, Length, Magnitude), Lost> {
        let places = fixed::places(self.limbs);
        // γ + Σ |a_i| e_i + ρ, in units.
        let mut error = gamma;
        let last_place = times_power(16.0, i64::from(self.spare) - places);
        let negligible = 5e-14_f64.max((self.coordinates as f64).sqrt() * last_place.max(4.0 * f64::EPSILON));
        let mut passes = 0;
        let mut floats = vec![0.0; self.noises];
        loop {
            // Orthogonality is with respect to the noises only.
            let Some(top) = self.kernels.convert(&candidate, &mut floats) else {
                return Err(Lost::Digits(places as f64));
            };
            let norm = self.product(&floats, &floats).sqrt();
            // With an error of more than 2^-30 no enclosure can be found.
            let growth = places as f64 + error.log2() - (top as f64 + norm.log2());
            let hopeless = if self.spare == 0 { 30.0 } else { 1.0 };
            if growth > places as f64 - hopeless || norm == 0.0 {
                return Err(Lost::Digits(if norm == 0.0 { places as f64 } else { growth }));
            }
            let overlaps = self.overlaps(&floats, from);
            let worst = overlaps.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            passes += 1;
            if worst <= negligible * norm || (self.spare > 0 && passes > 2) {
                return Ok((candidate, Length { norm, top }, error));
            }
            // Coefficients `m · 2^-shift`, for overlaps in units of `2^(top - p)`.
            let exponent = (worst.to_bits() >> 52).cast_signed() - 1022;
            // Overlaps that the next pass would ignore as negligible are not subtracted, mostly those with
            // combinations far back.
            let least = 0.25 * negligible * norm;
            let digits =
                |a: &f64| if a.abs() <= least { 0 } else { factor(times_power(*a, 52 - exponent).round()) };
            let factors: Vec<i64> = overlaps.iter().map(digits).collect();
            let by = exponent - 52 + top - places;
            let terms: Vec<(usize, i64)> = (from..).zip(factors).filter(|(_, m)| *m != 0).collect();
            error = self.subtract_all(&mut candidate, &terms, by, error);
        }
    }

    /// Like `absorb`, with coefficients of as many digits as the candidate has, for noises of variance 1.
    pub(crate) fn absorb_precisely(
        &mut self,
        mut candidate: Packed,
        gamma: Magnitude,
        from: usize,
    ) -> Result<(), Lost> {
        let n = self.noises;
        debug_assert!(n == self.coordinates && self.variances.is_empty());
        // Digits below the error of the candidate, and some more for the sum, carry no information.
        let spare = (gamma.log2() - (n as f64).log2() - 6.0).max(0.0);
        let drop = (floor(spare / 64.0)).min(self.limbs - 1);
        let product = |q: &Packed| self.kernels.product(&candidate, q, drop);
        let basis = &self.fixed[from..];
        let overlaps: Vec<Wide> = if basis.len() * n * (self.limbs - drop) > PARALLEL {
            basis.par_iter().map(product).collect()
        } else {
            basis.iter().map(product).collect()
        };
        let mut error = gamma;
        let mut high = overlaps.iter().filter_map(Wide::top).max();
        // Overlaps no larger than the error are not subtracted.
        let least = gamma.log2() - fixed::places(self.limbs) as f64 - 6.0 - (overlaps.len() as f64).log2();
        while let Some(place) = high.filter(|&place| place as f64 > least) {
            let low = place - i64::from(DIGITS);
            let digits = overlaps.iter().map(|overlap| overlap.digits(low));
            let terms: Vec<(usize, i64)> = (from..).zip(digits).filter(|(_, m)| *m != 0).collect();
            error = self.subtract_all(&mut candidate, &terms, low, error);
            high = overlaps.iter().any(|overlap| overlap.bottom() < low).then_some(low);
        }
        let (candidate, length, error) = self.orthogonal(candidate, error, from)?;
        let (mut scaled, mut error) = self.scaled(&candidate, length, error)?;
        // So far the scale has the digits of a float. If the squared length of `q` is 1 up to δ, that of
        // (1 - δ/2) q is 1 up to δ².
        let mut last = 0;
        loop {
            let half_excess = self.kernels.product(&scaled, &scaled, drop).less_one().half();
            let better = |&top: &i64| top as f64 > least && top < last - 8;
            let Some(top) = half_excess.top().filter(better) else { break };
            last = top;
            let before = scaled.clone();
            let mut high = top;
            // A step at most doubles the number of right digits: those beyond are wrong.
            while high as f64 > least && high > 2 * top - 4 && high > half_excess.bottom() {
                high -= i64::from(DIGITS);
                let term = (&before, half_excess.digits(high));
                let own = Magnitude::new(term.1 as f64, high).times(error);
                error = self.subtract_vectors(&mut scaled, &[term], high, error).plus(own);
            }
        }
        self.keep(scaled, error)
    }

    /// `y ← y - 2^by Σ m q`; returns the error of `y` afterwards: its own, that of the `q`, and the
    /// roundings.
    fn subtract_all(
        &self,
        y: &mut Packed,
        terms: &[(usize, i64)],
        by: i64,
        mut error: Magnitude,
    ) -> Magnitude {
        for group in terms.chunks(TERMS) {
            let vectors: Vec<(&Packed, i64)> = group.iter().map(|&(k, m)| (&self.fixed[k], m)).collect();
            error = self.subtract_vectors(y, &vectors, by, error);
        }
        for &(k, m) in terms {
            error = error.plus(Magnitude::new(m as f64, by).times(self.errors[k]));
        }
        error
    }

    /// `y ← y - 2^by Σ m x` for at most [`TERMS`] vectors; returns the error of `y` afterwards without that
    /// of the vectors.
    fn subtract_vectors(
        &self,
        y: &mut Packed,
        terms: &[(&Packed, i64)],
        by: i64,
        error: Magnitude,
    ) -> Magnitude {
        let root = Magnitude::new(self.coordinates as f64, 0).root();
        // Leaving out the lowest limbs changes each coordinate of the vectors by less than one unit of the
        // lowest limb that is used. They are left out only if that error times the factors is below the error
        // of `y`.
        let sum = terms.iter().fold(Magnitude::ZERO, |sum, &(_, m)| sum.plus(Magnitude::new(m as f64, by)));
        let room = (error.log2() - root.log2() - 6.0).max(0.0) - sum.log2();
        let drop = if room > 0.0 { (floor(room / 64.0)).min(self.limbs - 1) } else { 0 };
        self.kernels.subtract(y, terms, by, drop);
        self.cut(y);
        let dropped =
            if drop == 0 { Magnitude::ZERO } else { sum.times(Magnitude::power(fixed::bits(drop).into())) };
        error.plus(root.times(self.rounding().plus(dropped)))
    }

    /// Scales what is left of a candidate, of norm `norm · 2^top` units, to length 1.
    fn scaled(
        &self,
        candidate: &Packed,
        Length { norm, top }: Length,
        error: Magnitude,
    ) -> Result<(Packed, Magnitude), Lost> {
        let places = fixed::places(self.limbs);
        // The scale `m · 2^by`, near 2^(p - top) / norm.
        let inverse = 1.0 / norm;
        let exponent = (inverse.to_bits() >> 52).cast_signed() - 1022;
        let m = factor(times_power(inverse, 52 - exponent).round());
        let by = exponent - 52 + places - top;
        // Only the part over inputs without noise can be longer than the part over the noises.
        let size = integer((top as f64 + norm.log2()).floor());
        let inputs = (self.noises..self.coordinates).map(|j| (j, candidate.digits(j) - size));
        if let Some((coordinate, bits)) = inputs.max_by_key(|&(_, bits)| bits).filter(|&(_, bits)| bits > 4) {
            return Err(Lost::Range { coordinate, bits });
        }
        let mut scaled = self.kernels.scaled(candidate, m, by);
        let root = Magnitude::new(self.coordinates as f64, 0).root();
        self.cut(&mut scaled);
        Ok((scaled, Magnitude::new(m as f64, by).times(error).plus(root.times(self.rounding()))))
    }

    /// Adds a vector of length 1 and its error.
    fn keep(&mut self, scaled: Packed, error: Magnitude) -> Result<(), Lost> {
        let places = fixed::places(self.limbs);
        let mut rounded = vec![0.0; self.coordinates];
        let Some(top) = self.kernels.convert(&scaled, &mut rounded) else {
            return Err(Lost::Digits(places as f64));
        };
        let unit = times_power(1.0, top - places);
        rounded.iter_mut().for_each(|x| *x *= unit);
        self.fixed.push(scaled);
        self.rounded.push(rounded);
        self.errors.push(error);
        Ok(())
    }

    /// `⟨x, y⟩` over the noises.
    fn product(&self, x: &[f64], y: &[f64]) -> f64 {
        if self.variances.is_empty() {
            kernel::dot(&x[..self.noises], &y[..self.noises])
        } else {
            kernel::weighted_dot(&x[..self.noises], &y[..self.noises], &self.variances)
        }
    }

    /// The products with all combinations from `from` on.
    fn overlaps(&self, x: &[f64], from: usize) -> Vec<f64> {
        let basis = &self.rounded[from..];
        if basis.len() * self.coordinates > PARALLEL * 8 {
            basis.par_iter().map(|q| self.product(x, q)).collect()
        } else {
            basis.iter().map(|q| self.product(x, q)).collect()
        }
    }
}

/// A factor that [`Kernels::subtract`] takes, at most one from the one that was asked for.
fn factor(x: f64) -> i64 {
    let most = FACTOR.cast_signed() - 1;
    integer(x).clamp(-most, most)
}

/// Coordinates (times terms) from which on pieces go to several threads.
const PARALLEL: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dyadic::Dyadic;
    use crate::fixed::Fixed;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// `x` in units of a format with two limbs.
    fn fixed(x: f64) -> Fixed<2> {
        fixed::of_dyadic(Dyadic::of(x), 0)
    }

    /// A candidate of norm almost 5 has overlaps of 1/8 and 2^-45 with two unit vectors. The first is
    /// subtracted. The second is not: the next pass ignores overlaps below 5e-14 of the norm, and 2^-45 is
    /// below a quarter of that, 6e-14.
    #[test]
    fn what_the_next_pass_leaves_is_left() {
        let mut found = Combinations::new(2, 400, 400, &[]);
        found.push_unit(0);
        found.push_unit(1);
        let mut candidate = vec![fixed(0.25); 400];
        (candidate[0], candidate[1]) = (fixed(0.125), fixed(2f64.powi(-45)));
        assert_eq!(found.absorb(Packed::of(&candidate), Magnitude::ZERO, 0), Ok(()));
        assert_eq!(found.fixed(2).get::<2>(0), [0; 2]);
        assert_ne!(found.fixed(2).get::<2>(1), [0; 2]);
    }

    /// The loops of this machine and those for any machine give the same combinations to the last bit, and
    /// the same errors, with coefficients of a float and with those of all digits.
    #[test]
    fn combinations_do_not_depend_on_the_machine() {
        fn absorb<const L: usize>(mut found: Combinations, precisely: bool) -> Combinations {
            let mut rng = ChaCha8Rng::seed_from_u64(7);
            found.push_unit(3);
            for _ in 0..12 {
                let number = |_| fixed::of_dyadic(Dyadic::of(rng.random_range(-0.1..0.1)), 0);
                let candidate: Vec<Fixed<L>> = (0..200).map(number).collect();
                let absorbed = if precisely {
                    found.absorb_precisely(Packed::of(&candidate), Magnitude::power(3), 0)
                } else {
                    found.absorb(Packed::of(&candidate), Magnitude::power(3), 0)
                };
                assert_eq!(absorbed, Ok(()));
            }
            found
        }
        fn check<const L: usize>() {
            for precisely in [false, true] {
                let fast = absorb::<L>(Combinations::new(L, 200, 200, &[]), precisely);
                let plain = absorb::<L>(Combinations::new(L, 200, 200, &[]).by_plain_loops(), precisely);
                for k in 0..fast.len() {
                    let (fast_k, plain_k) = (fast.fixed(k).unpacked::<L>(), plain.fixed(k).unpacked::<L>());
                    assert_eq!(fast_k, plain_k, "{L} limbs, {precisely}");
                    assert_eq!(fast.error(k), plain.error(k));
                }
                let overlap = Kernels::best().product(&fast.fixed[4], &fast.fixed[9], 0);
                let digits = -overlap.top().unwrap_or(i64::MIN);
                assert!(digits > if precisely { fixed::places(L) - 16 } else { 50 }, "{digits}");
            }
        }
        check::<2>();
        check::<3>();
        check::<8>();
    }

    /// If the error is larger than every number of the format, all digits are lost.
    #[test]
    fn errors_beyond_the_format_lose_all_digits() {
        let mut found = Combinations::new(2, 2, 2, &[]);
        found.push_unit(0);
        let lost = found.absorb_precisely(Packed::of(&[fixed(0.5), fixed(0.25)]), Magnitude::power(148), 0);
        assert!(matches!(lost, Err(Lost::Digits(growth)) if growth > 140.0), "{lost:?}");
    }

    /// The noise part has length 3 · 2^-11 and an input is 2^-6. The input has five digits more than the
    /// integer part of the logarithm of the length; only four are in range.
    #[test]
    fn inputs_leave_the_range_beyond_four_digits() {
        for (input, expected) in [(-6, Err(Lost::Range { coordinate: 1, bits: 5 })), (-7, Ok(()))] {
            let mut found = Combinations::new(2, 2, 1, &[]);
            let candidate = vec![fixed(3.0 * 2f64.powi(-11)), fixed(2f64.powi(input))];
            assert_eq!(found.absorb(Packed::of(&candidate), Magnitude::ZERO, 0), expected);
        }
    }
}
