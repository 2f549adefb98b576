//! Combinations of rows that are nearly orthonormal, in fixed point, and how far they are from the exact ones.
//!
//! From a candidate `c` (an exact row, or the product of the matrix with an exact combination) the next combination is
//! `q = s (c - Σ a_i q_i)`. The coefficients `a_i` and the scale `s` come from floating point and are then *exact* dyadic
//! numbers; so the exact `q` are exact combinations of the rows, whatever the coefficients are worth. What is stored differs
//! from them by at most `e` in norm, and `e` follows a recurrence that is evaluated upwards in units of the last place.

use super::fixed::{self, Fixed, Sums, TERMS};
use super::magnitude::{Magnitude, times_power};
use crate::kernel;
use rayon::prelude::*;

/// Why combinations cannot go on at this precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lost {
    /// What is left of a candidate is not much more than its error, which has grown by so many bits.
    Digits(f64),
    /// A coordinate without noise left the range of the format, by so many bits.
    Range {
        /// The coordinate.
        coordinate: usize,
        /// The bits.
        bits: i64,
    },
}

/// Combinations of `coordinates` numbers each, of which the first have variances.
pub(crate) struct Combinations<const L: usize> {
    coordinates: usize,
    noises: usize,
    /// Variances of the noises; empty stands for 1.
    variances: Vec<f64>,
    fixed: Vec<Vec<Fixed<L>>>,
    /// The same in floating point.
    rounded: Vec<Vec<f64>>,
    /// Errors of the fixed-point vectors in units `2^-p`.
    errors: Vec<Magnitude>,
}

impl<const L: usize> Combinations<L> {
    pub(crate) fn new(coordinates: usize, noises: usize, variances: &[f64]) -> Self {
        let variances = if variances.iter().all(|&v| v == 1.0) { Vec::new() } else { variances.to_vec() };
        Self { coordinates, noises, variances, fixed: Vec::new(), rounded: Vec::new(), errors: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rounded.len()
    }

    /// Combination `k` in fixed point.
    pub(crate) fn fixed(&self, k: usize) -> &[Fixed<L>] {
        &self.fixed[k]
    }

    /// The error of combination `k`, in units.
    pub(crate) fn error(&self, k: usize) -> Magnitude {
        self.errors[k]
    }

    /// The combinations in floating point and how far each may be from the exact one; their fixed-point form is given up.
    pub(crate) fn into_rounded(self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let unit = Magnitude::power(-fixed::places(L));
        // Windows of 62 bits below the largest coordinate, at most 2, and the roundings to 53 bits.
        let window = Magnitude::new(self.coordinates as f64, 0).root().times(Magnitude::power(-59));
        let conversion = window.plus(Magnitude::new(1.001, -53));
        let errors = self.errors.iter().map(|&e| e.times(unit).plus(conversion).to_f64());
        (self.rounded, errors.collect())
    }

    /// Forgets the fixed-point form of the combinations before `first`, which are not needed any more.
    pub(crate) fn forget_before(&mut self, first: usize) {
        self.fixed[..first].iter_mut().for_each(|q| *q = Vec::new());
    }

    /// Adds a unit vector, which is exact.
    pub(crate) fn push_unit(&mut self, coordinate: usize) {
        let mut unit = vec![[0; L]; self.coordinates];
        unit[coordinate] = fixed::of_dyadic(super::dyadic::Dyadic::of(1.0), 0);
        let mut rounded = vec![0.0; self.coordinates];
        rounded[coordinate] = 1.0;
        self.fixed.push(unit);
        self.rounded.push(rounded);
        self.errors.push(Magnitude::ZERO);
    }

    /// Makes a candidate orthogonal to the combinations from `from` on, scales it to length 1 and adds it. Its own error is
    /// `gamma` units.
    pub(crate) fn absorb(
        &mut self,
        mut candidate: Vec<Fixed<L>>,
        gamma: Magnitude,
        from: usize,
    ) -> Result<(), Lost> {
        let root = Magnitude::new(self.coordinates as f64, 0).root();
        let places = fixed::places(L);
        // γ + Σ |a_i| e_i + ρ, in units.
        let mut error = gamma;
        let negligible = 5e-14_f64.max(4.0 * (self.coordinates as f64).sqrt() * f64::EPSILON);
        let mut floats = vec![0.0; self.noises];
        let (norm, top) = loop {
            // Only noises have a say in what is orthogonal.
            let Some(top) = convert(&candidate[..self.noises], &mut floats) else {
                return Err(Lost::Digits(places as f64));
            };
            let norm = self.product(&floats, &floats).sqrt();
            // With an error of more than 2^-30 there is no hope for an enclosure.
            let growth = places as f64 + error.log2() - (top as f64 + norm.log2());
            if growth > places as f64 - 30.0 || norm == 0.0 {
                return Err(Lost::Digits(if norm == 0.0 { places as f64 } else { growth }));
            }
            let overlaps = self.overlaps(&floats, from);
            let worst = overlaps.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            if worst <= negligible * norm {
                break (norm, top);
            }
            // Coefficients `m · 2^-shift`, for overlaps in units of `2^(top - p)`.
            let exponent = (worst.to_bits() >> 52) as i64 - 1022;
            // What the next pass would call negligible is left to it: far combinations, mostly.
            let least = 0.25 * negligible * norm;
            let factor =
                |a: &f64| if a.abs() <= least { 0 } else { times_power(*a, 52 - exponent).round() as i64 };
            let factors: Vec<i64> = overlaps.iter().map(factor).collect();
            let by = exponent - 52 + top - places;
            let terms: Vec<(usize, i64)> = (from..).zip(factors).filter(|(_, m)| *m != 0).collect();
            for group in terms.chunks(TERMS) {
                self.subtract(&mut candidate, group, by);
                error = error.plus(root);
            }
            for (k, m) in terms {
                error = error.plus(Magnitude::new(m as f64, by).times(self.errors[k]));
            }
        };
        self.append(&candidate, (norm, top), error, root)
    }

    /// Scales what is left of a candidate, of norm `norm · 2^top` units, to length 1.
    fn append(
        &mut self,
        candidate: &[Fixed<L>],
        (norm, top): (f64, i64),
        error: Magnitude,
        root: Magnitude,
    ) -> Result<(), Lost> {
        let places = fixed::places(L);
        // The scale `m · 2^by`, near 2^(p - top) / norm.
        let inverse = 1.0 / norm;
        let exponent = (inverse.to_bits() >> 52) as i64 - 1022;
        let m = times_power(inverse, 52 - exponent).round() as i64;
        let by = exponent - 52 + places - top;
        // Only inputs without noise can be longer than the row.
        let size = (top as f64 + norm.log2()).floor() as i64;
        let inputs = (self.noises..self.coordinates).map(|j| (j, fixed::digits(&candidate[j]) - size));
        if let Some((coordinate, bits)) = inputs.max_by_key(|&(_, bits)| bits).filter(|&(_, bits)| bits > 4) {
            return Err(Lost::Range { coordinate, bits });
        }
        let mut scaled = vec![[0; L]; self.coordinates];
        let work = |(piece, to): (usize, &mut [Fixed<L>])| {
            let mut sums = Sums::<L>::new(to.len());
            sums.add(&candidate[piece * PIECE..piece * PIECE + to.len()], m);
            to.iter_mut().enumerate().for_each(|(k, to)| *to = sums.scaled(k, by));
        };
        if self.coordinates > PARALLEL {
            scaled.par_chunks_mut(PIECE).enumerate().for_each(work);
        } else {
            scaled.chunks_mut(PIECE).enumerate().for_each(work);
        }
        let scale = Magnitude::new(m as f64, by);
        let mut rounded = vec![0.0; self.coordinates];
        let Some(top) = convert(&scaled, &mut rounded) else { return Err(Lost::Digits(places as f64)) };
        let unit = times_power(1.0, top - places);
        rounded.iter_mut().for_each(|x| *x *= unit);
        self.fixed.push(scaled);
        self.rounded.push(rounded);
        self.errors.push(scale.times(error).plus(root));
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

    /// `y ← y - 2^by Σ m q`, off by less than one unit a coordinate.
    fn subtract(&self, y: &mut [Fixed<L>], terms: &[(usize, i64)], by: i64) {
        let work = |(piece, y): (usize, &mut [Fixed<L>])| {
            let first = piece * PIECE;
            let mut sums = Sums::<L>::new(y.len());
            for &(k, m) in terms {
                sums.add(&self.fixed[k][first..first + y.len()], m);
            }
            for (k, y) in y.iter_mut().enumerate() {
                *y = fixed::minus(y, &sums.scaled(k, by));
            }
        };
        if y.len() * terms.len() > PARALLEL {
            y.par_chunks_mut(PIECE).enumerate().for_each(work);
        } else {
            y.chunks_mut(PIECE).enumerate().for_each(work);
        }
    }
}

/// The numbers in units of `2^top`, below 1 in size; `None` when all are 0.
fn convert<const L: usize>(numbers: &[Fixed<L>], to: &mut [f64]) -> Option<i64> {
    let digits = |numbers: &[Fixed<L>]| numbers.iter().map(fixed::digits).max().unwrap_or(0);
    let parallel = numbers.len() > PARALLEL;
    let most =
        if parallel { numbers.par_chunks(PIECE).map(digits).max().unwrap_or(0) } else { digits(numbers) };
    // A negative power of two has one digit more than counted.
    let top = most + 1;
    let work = |(to, x): (&mut f64, &Fixed<L>)| *to = fixed::rounded(x, top);
    if parallel {
        to.par_iter_mut().zip(numbers).with_min_len(PIECE).for_each(work);
    } else {
        to.iter_mut().zip(numbers).for_each(work);
    }
    (most > 0).then_some(top)
}

/// Coordinates whose sums stay in the fastest cache.
const PIECE: usize = 256;
/// Coordinates (times terms) from which on pieces go to several threads.
const PARALLEL: usize = 1 << 14;
