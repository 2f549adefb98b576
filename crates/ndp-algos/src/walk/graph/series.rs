//! Products and quotients of power series with nonnegative coefficients, rounded up.
//!
//! The renewal accountant multiplies sequences of length `T + 1` dozens of times. Short ones are
//! multiplied term by term: every sum is of nonnegative terms, so a relative margin covers its
//! rounding. Long ones are multiplied by fast Fourier transform, whose rounding is absolute, of
//! the size of the norms: every coefficient is raised by a bound on it. So a result is never
//! below the product of what came in, and an accountant built from such products stays an upper
//! bound.
//!
//! # References
//! - Brent, Percival, Zimmermann, *Error bounds on complex floating-point multiplication*, 2007,
//!   and Percival, *Rapid multiplication modulo the sum and difference of highly composite
//!   numbers*, 2003, Theorem 5.1: error of a product by Fourier transform.
//! - Lorden, *On excess over the boundary*, 1970: expected number of renewals.

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::cell::RefCell;
use std::sync::Arc;

/// Below this length term by term is faster than a transform.
const DIRECT_LENGTH: usize = 200;

/// Multiplies power series truncated after `length` coefficients.
pub(super) struct Products {
    length: usize,
    fft: Option<Fft>,
}

/// A series made ready to be multiplied several times.
pub(super) struct Factor {
    values: Vec<f64>,
    /// Number of leading zeros: a product starts at the sum of the two.
    zeros: usize,
    norm: f64,
    spectrum: Vec<Complex<f64>>,
}

impl Factor {
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

struct Fft {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    /// Working memory of either direction, and its real side.
    scratch: RefCell<(Vec<Complex<f64>>, Vec<f64>)>,
}

thread_local! {
    /// Plans hold tables of sines, which many pairs of nodes share.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

impl Fft {
    fn new(size: usize) -> Self {
        PLANNER.with_borrow_mut(|planner| {
            let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
            let scratch = forward.get_scratch_len().max(inverse.get_scratch_len());
            let scratch = RefCell::new((vec![Complex::new(0.0, 0.0); scratch], vec![0.0; size]));
            Self { forward, inverse, scratch }
        })
    }

    fn size(&self) -> usize {
        self.forward.len()
    }

    fn spectrum(&self, values: &[f64]) -> Vec<Complex<f64>> {
        let (scratch, padded) = &mut *self.scratch.borrow_mut();
        padded[..values.len()].copy_from_slice(values);
        padded[values.len()..].fill(0.0);
        let mut spectrum = self.forward.make_output_vec();
        let done = self.forward.process_with_scratch(padded, &mut spectrum, scratch);
        done.expect("all buffers have the sizes of the plan");
        spectrum
    }

    /// The first `length` coefficients of the product of two spectra, or of a sum of such products.
    fn back(&self, mut spectrum: Vec<Complex<f64>>, length: usize) -> Vec<f64> {
        // The product of two real series is real: whatever rounding left in these two is noise.
        let last = spectrum.len() - 1;
        spectrum[0].im = 0.0;
        spectrum[last].im = 0.0;
        let (scratch, values) = &mut *self.scratch.borrow_mut();
        let done = self.inverse.process_with_scratch(&mut spectrum, values, scratch);
        done.expect("all buffers have the sizes of the plan");
        let scale = 1.0 / self.size() as f64;
        values[..length].iter().map(|value| value * scale).collect()
    }

    /// Bound on the error of any coefficient of a product of series of Euclidean norm 1.
    ///
    /// The theorem gives `(6 + 3√5) log₂ N` units of `2^-53` for radix 2; five times that covers
    /// the larger butterflies, the real-to-complex step and the scaling.
    fn error(&self) -> f64 {
        32.0 * f64::EPSILON * ((self.size() as f64).log2() + 3.0)
    }
}

impl Products {
    /// For series of `length` coefficients, at least 1.
    pub(super) fn new(length: usize) -> Self {
        // What wraps around falls on coefficients beyond the truncation.
        Self { length, fft: (length > DIRECT_LENGTH).then(|| Fft::new(good_size(2 * length - 1))) }
    }

    /// The same without transforms: slow and tight, the definition that the rest is tested against.
    #[cfg(test)]
    pub(super) fn direct(length: usize) -> Self {
        Self { length, fft: None }
    }

    pub(super) fn factor(&self, values: Vec<f64>) -> Factor {
        debug_assert_eq!(values.len(), self.length);
        let zeros = values.iter().position(|&x| x != 0.0).unwrap_or(self.length);
        let norm = norm(&values);
        let spectrum = match &self.fft {
            Some(fft) if zeros < self.length => fft.spectrum(&values),
            _ => Vec::new(),
        };
        Factor { values, zeros, norm, spectrum }
    }

    /// `Σ a b` over the pairs, rounded up; the first `head` coefficients term by term, so that what
    /// is then multiplied by something large carries no absolute error.
    pub(super) fn sum_of_products(&self, pairs: &[(&Factor, &Factor)], head: usize) -> Vec<f64> {
        let pairs: Vec<_> = pairs.iter().filter(|(a, b)| a.zeros + b.zeros < self.length).collect();
        let zeros = pairs.iter().map(|(a, b)| a.zeros + b.zeros).min().unwrap_or(self.length);
        let head = if self.fft.is_some() { head.clamp(zeros, self.length) } else { self.length };
        let mut out = vec![0.0; self.length];
        for (t, out) in out.iter_mut().enumerate().take(head).skip(zeros) {
            let sum = pairs.iter().map(|(a, b)| coefficient(&a.values, &b.values, t)).sum();
            *out = up(sum, t + pairs.len());
        }
        if let Some(fft) = self.fft.as_ref().filter(|_| head < self.length) {
            let mut spectrum = vec![Complex::new(0.0, 0.0); fft.size() / 2 + 1];
            let mut error = 0.0;
            for (a, b) in &pairs {
                for (out, (x, y)) in spectrum.iter_mut().zip(a.spectrum.iter().zip(&b.spectrum)) {
                    *out += x * y;
                }
                error += fft.error() * a.norm * b.norm;
            }
            let raw = fft.back(spectrum, self.length);
            for (out, raw) in out[head..].iter_mut().zip(&raw[head..]) {
                *out = up(raw.max(0.0) + error, 2);
            }
        }
        out
    }

    /// `a b`, rounded up.
    pub(super) fn product(&self, a: &Factor, b: &Factor) -> Vec<f64> {
        self.sum_of_products(&[(a, b)], 0)
    }

    /// `a b`, rounded down.
    pub(super) fn product_down(&self, a: &Factor, b: &Factor) -> Vec<f64> {
        let zeros = (a.zeros + b.zeros).min(self.length);
        let mut out = vec![0.0; self.length];
        if zeros == self.length {
            return out;
        }
        match &self.fft {
            None => {
                for (t, out) in out.iter_mut().enumerate().skip(zeros) {
                    *out = down(coefficient(&a.values, &b.values, t), t + 1);
                }
            }
            Some(fft) => {
                let spectrum = a.spectrum.iter().zip(&b.spectrum).map(|(x, y)| x * y).collect();
                let error = fft.error() * a.norm * b.norm;
                let raw = fft.back(spectrum, self.length);
                for (out, raw) in out[zeros..].iter_mut().zip(&raw[zeros..]) {
                    *out = down(raw - error, 2);
                }
            }
        }
        out
    }

    /// The solution of `x = source + kernel · x`, rounded up. `kernel[0]` is 0.
    pub(super) fn solve(&self, source: &[f64], kernel: &Factor) -> Vec<f64> {
        if kernel.zeros == self.length {
            return source.to_vec();
        }
        self.solve_by_newton(source, kernel).unwrap_or_else(|| solve_term_by_term(source, &kernel.values))
    }

    /// An approximate solution `y` by Newton's method, then a margin that is proven.
    ///
    /// The error obeys `x − y = r + kernel · (x − y)` with the residual `r = source + kernel · y − y`,
    /// so that `x − y ≤ U max r`, where `U` bounds the number of renewals up to the last coefficient
    /// of a process with waiting times `kernel` (the sum of the coefficients of `1/(1 − kernel)`).
    ///
    /// `None` without transforms, or when the kernel has more than mass 1 and no such bound is known.
    fn solve_by_newton(&self, source: &[f64], kernel: &Factor) -> Option<Vec<f64>> {
        let fft = self.fft.as_ref()?;
        let renewals = renewal_bound(&kernel.values)?;
        let product = |a: &[Complex<f64>], b: &[Complex<f64>]| {
            fft.back(a.iter().zip(b).map(|(x, y)| x * y).collect(), self.length)
        };
        let inverse = self.inverse(&kernel.values);
        let mut solution = product(&fft.spectrum(&inverse), &fft.spectrum(source));
        let image = product(&fft.spectrum(&solution), &kernel.spectrum);
        let error = fft.error() * norm(&solution) * kernel.norm;
        let residual = source
            .iter()
            .zip(&image)
            .zip(&solution)
            .map(|((&s, &i), &y)| (s + i - y) + 4.0 * f64::EPSILON * (s.abs() + i.abs() + y.abs()))
            .fold(0.0, f64::max);
        let margin = (residual + error) * renewals;
        // Nothing happens before the source does.
        let zeros = source.iter().position(|&s| s != 0.0).unwrap_or(self.length);
        solution[..zeros].fill(0.0);
        for y in &mut solution[zeros..] {
            *y = up(y.max(0.0) + margin, 2);
        }
        Some(solution)
    }

    /// `1 / (1 − kernel)`, approximately, doubling the number of right coefficients.
    fn inverse(&self, kernel: &[f64]) -> Vec<f64> {
        let mut lengths = vec![self.length];
        while let Some(&last) = lengths.last().filter(|&&last| last > 64) {
            lengths.push(last.div_ceil(2));
        }
        let first = lengths.pop().unwrap_or(self.length);
        let mut one = vec![0.0; first];
        one[0] = 1.0;
        let mut inverse = solve_term_by_term(&one, &kernel[..first]);
        for &next in lengths.iter().rev() {
            // x ← x + x (1 − (1 − kernel) x); the bracket vanishes up to the old length, and what
            // wraps around falls there too.
            let known = inverse.len();
            let fft = Fft::new(good_size(next));
            let x = fft.spectrum(&inverse);
            let k = fft.spectrum(&kernel[..next]);
            let mut bracket = fft.back(x.iter().zip(&k).map(|(x, k)| x * k).collect(), next);
            bracket[..known].fill(0.0);
            let correction = fft.spectrum(&bracket);
            let correction = fft.back(x.iter().zip(&correction).map(|(x, c)| x * c).collect(), next);
            inverse.extend_from_slice(&correction[known..next]);
        }
        inverse
    }
}

/// `x` with a margin for `operations` roundings of nonnegative numbers, and for underflow.
pub(super) fn up(x: f64, operations: usize) -> f64 {
    x * (1.0 + (operations + 2) as f64 * f64::EPSILON) + f64::MIN_POSITIVE
}

/// `x` less a margin for `operations` roundings of nonnegative numbers, and for underflow; not below 0.
fn down(x: f64, operations: usize) -> f64 {
    (x * (1.0 - (operations + 2) as f64 * f64::EPSILON) - f64::MIN_POSITIVE).max(0.0)
}

fn norm(values: &[f64]) -> f64 {
    up(values.iter().map(|x| x * x).sum::<f64>(), values.len()).sqrt() * (1.0 + f64::EPSILON)
}

/// `Σ_s a[s] b[t − s]`.
fn coefficient(a: &[f64], b: &[f64], t: usize) -> f64 {
    a[..=t].iter().zip(b[..=t].iter().rev()).map(|(x, y)| x * y).sum()
}

/// `x[t] = source[t] + Σ_{0 < s ≤ t} kernel[s] x[t − s]`, every coefficient rounded up.
fn solve_term_by_term(source: &[f64], kernel: &[f64]) -> Vec<f64> {
    let zeros = source.iter().position(|&s| s != 0.0).unwrap_or(source.len());
    let mut x = vec![0.0; zeros];
    for (t, s) in source.iter().enumerate().skip(zeros) {
        let sum: f64 = kernel[1..=t].iter().zip(x.iter().rev()).map(|(k, x)| k * x).sum();
        x.push(up(s + sum, t + 1));
    }
    x
}

/// At least the expected number of renewals, the one at 0 included, within the length of `kernel`,
/// the law of the waiting time: `T/m₁ + m₂/m₁²`, what the law lacks being put beyond the end.
/// `None` when its mass exceeds 1.
fn renewal_bound(kernel: &[f64]) -> Option<f64> {
    let end = kernel.len() as f64;
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    for (t, k) in kernel.iter().enumerate() {
        let t = t as f64;
        mass += k;
        first += t * k;
        second += t * t * k;
    }
    let rest = 1.0 - mass;
    if !(0.0..=1.0).contains(&rest) {
        return None;
    }
    let mean = first + rest * end;
    let square = second + rest * end * end;
    Some(1.001 * (end / mean + square / (mean * mean)))
}

/// The smallest even size `2^a 3^b 5^c ≥ size` with small `b` and `c`, for which transforms are fast.
fn good_size(size: usize) -> usize {
    [1, 3, 5, 9]
        .into_iter()
        .map(|odd: usize| odd * size.div_ceil(odd).next_power_of_two().max(2))
        .min()
        .unwrap_or_else(|| size.next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Nonnegative, with leading zeros, spanning ten orders of magnitude.
    fn series(rng: &mut ChaCha8Rng, length: usize, zeros: usize) -> Vec<f64> {
        (0..length).map(|t| if t < zeros { 0.0 } else { 10f64.powf(-10.0 * rng.random::<f64>()) }).collect()
    }

    /// A law of waiting times with the given mass, and 0 at 0.
    fn law(rng: &mut ChaCha8Rng, length: usize, mass: f64) -> Vec<f64> {
        let mut law = series(rng, length, 1);
        let sum: f64 = law.iter().sum();
        law.iter_mut().for_each(|x| *x *= mass / sum);
        law
    }

    #[test]
    fn transforms_are_above_the_definition_and_close() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for length in [201, 333, 1000, 2049] {
            let (fast, slow) = (Products::new(length), Products::direct(length));
            assert!(fast.fft.is_some() && slow.fft.is_none());
            for (zeros, head) in [(0, 0), (5, 50), (100, 7), (length - 1, 0), (length, 0)] {
                let [a, b, c] = [
                    series(&mut rng, length, zeros),
                    series(&mut rng, length, 1),
                    series(&mut rng, length, 0),
                ];
                let multiply = |products: &Products| {
                    let [a, b, c] = [&a, &b, &c].map(|x| products.factor(x.clone()));
                    products.sum_of_products(&[(&a, &b), (&a, &c)], head)
                };
                let (up, reference) = (multiply(&fast), multiply(&slow));
                let scale = norm(&a) * (norm(&b) + norm(&c));
                for (t, (x, y)) in up.iter().zip(&reference).enumerate() {
                    // The definition itself is rounded up, by at most its own margin.
                    let below = y * (1.0 - 2.0 * (t + 4) as f64 * f64::EPSILON);
                    assert!(*x >= below, "{x} < {y} at {t} of {length}");
                    assert!(x - y <= 1e-12 * scale, "{x} > {y} at {t} of {length}");
                    assert_eq!(*x == 0.0, t < zeros);
                }
            }
        }
    }

    #[test]
    fn the_error_of_a_transform_is_far_below_its_bound() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let products = Products::new(3000);
        let fft = products.fft.as_ref().unwrap();
        for _ in 0..5 {
            let [a, b] = [series(&mut rng, 3000, 0), series(&mut rng, 3000, 0)];
            let spectrum = fft.spectrum(&a).iter().zip(&fft.spectrum(&b)).map(|(x, y)| x * y).collect();
            let error = fft
                .back(spectrum, 3000)
                .iter()
                .enumerate()
                .map(|(t, x)| (x - coefficient(&a, &b, t)).abs())
                .fold(0.0, f64::max);
            assert!(error < 0.05 * fft.error() * norm(&a) * norm(&b));
        }
    }

    #[test]
    fn quotients_are_above_the_definition_and_close() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for length in [201, 500, 1500] {
            for mass in [0.1, 0.999, 1.0 - 1e-11] {
                let fast = Products::new(length);
                let source = series(&mut rng, length, 3);
                let kernel = fast.factor(law(&mut rng, length, mass));
                let up = fast.solve_by_newton(&source, &kernel).expect("the mass is at most 1");
                let reference = solve_term_by_term(&source, kernel.values());
                for (x, y) in up.iter().zip(&reference) {
                    assert!(*x >= y * (1.0 - 1e-12) && x - y <= 1e-9 * norm(&source), "{x} against {y}");
                }
                assert_eq!(up[..3], [0.0; 3]);
            }
        }
    }

    #[test]
    fn a_kernel_beyond_mass_1_is_solved_term_by_term() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let products = Products::new(300);
        let kernel = products.factor(law(&mut rng, 300, 1.5));
        let source = series(&mut rng, 300, 0);
        assert!(products.solve_by_newton(&source, &kernel).is_none());
        assert_eq!(products.solve(&source, &kernel), solve_term_by_term(&source, kernel.values()));
        let nothing = products.factor(vec![0.0; 300]);
        assert_eq!(products.solve(&source, &nothing), source);
    }

    #[test]
    fn the_renewal_bound_is_above_the_expected_number() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for mass in [0.0, 0.3, 0.9, 1.0] {
            for length in [2, 10, 300] {
                let kernel = law(&mut rng, length, mass);
                let mut one = vec![0.0; length];
                one[0] = 1.0;
                let renewals: f64 = solve_term_by_term(&one, &kernel).iter().sum();
                // Rounding may put the mass a little above 1.
                let bound = renewal_bound(&kernel).unwrap_or(f64::INFINITY);
                assert!(renewals <= bound * (1.0 + 1e-12), "{renewals} > {bound}");
                assert!(bound == f64::INFINITY || bound < 4.0 * renewals + 2.0);
            }
        }
    }

    #[test]
    fn sizes_are_even_and_large_enough() {
        for size in 1..3000 {
            let good = good_size(size);
            assert!(good >= size && good.is_multiple_of(2) && good <= 2 * size.max(2));
        }
    }
}
