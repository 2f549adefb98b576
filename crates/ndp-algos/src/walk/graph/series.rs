//! Products and quotients of power series with nonnegative coefficients, rounded up.
//!
//! The renewal accountant multiplies sequences of length `T + 1` dozens of times. Short ones are multiplied
//! term by term: every sum has nonnegative terms, so that a relative margin covers its rounding. Long ones
//! are multiplied by fast Fourier transform, whose rounding error is absolute and proportional to the norms:
//! every coefficient is raised by a bound on it. A result is therefore never below the product of the inputs,
//! and an accountant built from such products stays an upper bound.
//!
//! # Error of a product
//! Let `ω^{4n} = 1` and `E` the error of a transform of size `n` ([`Scrambled::error`]). Two series of at
//! most `n` real coefficients are multiplied by the powers of `ω`, transformed, multiplied, transformed back
//! and divided by the powers of `ω`. This gives their product modulo `x^n − i`, whose real parts are the
//! first `n` coefficients. Multiplying a real number by a power of `ω` has a relative error of `6u`, `u =
//! 2^{−53}`, so that the 2-norm of a spectrum errs by `e √n ‖a‖`, `e = (1 + 6u)(1 + E) − 1`. By the
//! Cauchy–Schwarz inequality the products of two spectra err by `(2e + e² + 3u (1 + e)²) n ‖a‖ ‖b‖` in the
//! 1-norm. Each result of the inverse transform errs by at most this error over `n`, plus `(E + 2u)(1 + …)`
//! times the 1-norm of its input over `n`, and dividing by the powers of `ω` adds `8u`. The sum is
//! `Fft::error` times `‖a‖ ‖b‖`.
//!
//! # References
//! - Brent, Percival, Zimmermann, *Error bounds on complex floating-point multiplication*, 2007: a product
//!   errs by at most `√5 u`.
//! - Lorden, *On excess over the boundary*, 1970: the expected number of renewals.

use ndp_account::parts::locked;
use ndp_numeric::fourier::{Scrambled, TESTED, root};
use ndp_numeric::stop::work;
use std::sync::{Arc, Mutex};

/// Below this length, multiplying term by term is faster than a transform.
const DIRECT_LENGTH: usize = 200;

/// Up to this length, solving an equation forward is faster than by transforms.
const FORWARD_LENGTH: usize = 1000;

/// Multiplies power series truncated after `length` coefficients.
pub(super) struct Products {
    length: usize,
    fft: Option<Arc<Fft>>,
    /// Whether equations are solved without transforms.
    forward: bool,
}

/// A series made ready to be multiplied several times.
pub(super) struct Factor {
    values: Vec<f64>,
    /// The number of leading zeros. A product has as many as both factors together.
    zeros: usize,
    norm: f64,
    spectrum: Spectrum,
}

impl Factor {
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// A kernel made ready for equations `x = source + kernel · x`.
pub(super) struct Solver<'k> {
    kernel: &'k Factor,
    /// A bound on the number of renewals, and the spectrum of an approximation of `1/(1 − kernel)`. `None` if
    /// equations are solved term by term.
    newton: Option<(f64, Spectrum)>,
}

/// A spectrum by its real and imaginary parts.
#[derive(Clone, Debug, Default)]
struct Spectrum {
    re: Vec<[f64; 1]>,
    im: Vec<[f64; 1]>,
}

impl Spectrum {
    fn zero(size: usize) -> Self {
        Self { re: vec![[0.0]; size], im: vec![[0.0]; size] }
    }

    /// Adds the product of two.
    fn add_product(&mut self, a: &Self, b: &Self) {
        let out = self.re.iter_mut().zip(&mut self.im);
        let factors = a.re.iter().zip(&a.im).zip(b.re.iter().zip(&b.im));
        for ((re, im), ((&[ar], &[ai]), (&[br], &[bi]))) in out.zip(factors) {
            re[0] += ar * br - ai * bi;
            im[0] += ar * bi + ai * br;
        }
    }

    fn product(a: &Self, b: &Self) -> Self {
        let mut out = Self::zero(a.re.len());
        out.add_product(a, b);
        out
    }
}

/// Transforms of real series of at most a given number of coefficients.
#[derive(Debug)]
struct Fft {
    transform: Scrambled,
    /// `ω^j = e^{iπj/2n}`.
    turns: Vec<(f64, f64)>,
}

/// The transforms that were planned last, which many pairs of nodes share.
static PLANS: Mutex<Vec<Arc<Fft>>> = Mutex::new(Vec::new());
/// The number of plans that are kept.
const MOST_PLANS: usize = 24;

impl Fft {
    /// `None` if there is no transform for so many coefficients.
    fn new(length: usize) -> Option<Arc<Self>> {
        let mut plans = locked(&PLANS);
        let size = Scrambled::size_for(length)?;
        if let Some(plan) = plans.iter().find(|plan| plan.size() == size) {
            return Some(plan.clone());
        }
        let transform = Scrambled::new(length)?;
        debug_assert!(4 * size <= TESTED);
        let turns = (0..size).map(|j| root(j, 4 * size)).map(|w| (w.re, -w.im)).collect();
        let plan = Arc::new(Self { transform, turns });
        if plans.len() == MOST_PLANS {
            plans.remove(0);
        }
        plans.push(plan.clone());
        Some(plan)
    }

    fn size(&self) -> usize {
        self.transform.size()
    }

    fn spectrum(&self, values: &[f64]) -> Spectrum {
        let mut spectrum = Spectrum::zero(self.size());
        let out = spectrum.re.iter_mut().zip(&mut spectrum.im).zip(&self.turns);
        for (((re, im), turn), value) in out.zip(values) {
            (re[0], im[0]) = (value * turn.0, value * turn.1);
        }
        self.transform.run(&mut spectrum.re, &mut spectrum.im);
        spectrum
    }

    /// The first `length` coefficients of the product of two spectra, or of a sum of such products.
    fn back(&self, mut spectrum: Spectrum, length: usize) -> Vec<f64> {
        self.transform.invert(&mut spectrum.re, &mut spectrum.im);
        let parts = spectrum.re.iter().zip(&spectrum.im).zip(&self.turns);
        parts.take(length).map(|((re, im), turn)| re[0] * turn.0 + im[0] * turn.1).collect()
    }

    /// A bound on the error of any coefficient of a sum of `products` products of series of Euclidean norm 1,
    /// divided by `products`.
    fn error(&self, products: usize) -> f64 {
        let unit = 0.5 * f64::EPSILON;
        let transform = self.transform.error();
        let spectrum = 6.0 * unit + transform;
        let roundings = 5.0 + 2.0 + 8.0 + products as f64;
        // Terms of second order are far below 1/1000 of this.
        1.001 * (2.0 * spectrum + transform + roundings * unit)
    }
}

impl Products {
    /// For series of `length` coefficients, at least 1.
    pub(super) fn new(length: usize) -> Self {
        Self { length, fft: if length > DIRECT_LENGTH { Fft::new(length) } else { None }, forward: false }
    }

    /// The same, except that equations of up to [`FORWARD_LENGTH`] coefficients are solved without
    /// transforms: faster, and with other rounding errors.
    pub(super) fn quick(length: usize) -> Self {
        Self { forward: length <= FORWARD_LENGTH, ..Self::new(length) }
    }

    /// The same without transforms: slow and precise, the definition that the rest is tested against.
    #[cfg(test)]
    pub(super) fn direct(length: usize) -> Self {
        Self { length, fft: None, forward: false }
    }

    /// The approximate work of a product with its transforms.
    pub(super) fn cost(&self) -> u64 {
        let per_entry = match &self.fft {
            Some(fft) => 2 * (fft.size().ilog2() as usize + 1),
            None => self.length.div_ceil(2),
        };
        work([self.length, per_entry])
    }

    pub(super) fn factor(&self, values: Vec<f64>) -> Factor {
        debug_assert_eq!(values.len(), self.length);
        let zeros = values.iter().position(|&x| x != 0.0).unwrap_or(self.length);
        let norm = norm(&values);
        let spectrum = match &self.fft {
            Some(fft) if zeros < self.length => fft.spectrum(&values),
            _ => Spectrum::default(),
        };
        Factor { values, zeros, norm, spectrum }
    }

    /// `Σ a b` over the pairs, rounded up. The first `head` coefficients are computed term by term, so that
    /// they have no absolute error when they are multiplied by something large.
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
            let mut spectrum = Spectrum::zero(fft.size());
            let mut error = 0.0;
            for (a, b) in &pairs {
                spectrum.add_product(&a.spectrum, &b.spectrum);
                error += fft.error(pairs.len()) * a.norm * b.norm;
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
                let error = fft.error(1) * a.norm * b.norm;
                let raw = fft.back(Spectrum::product(&a.spectrum, &b.spectrum), self.length);
                for (out, raw) in out[zeros..].iter_mut().zip(&raw[zeros..]) {
                    *out = down(raw - error, 2);
                }
            }
        }
        out
    }

    /// The solution of `x = source + kernel · x`, rounded up. `kernel[0]` is 0.
    pub(super) fn solve(&self, source: &[f64], kernel: &Factor) -> Vec<f64> {
        self.solve_with(source, &self.solver(kernel))
    }

    /// What [`Self::solve`] needs of a kernel, computed once for several sources.
    pub(super) fn solver<'k>(&self, kernel: &'k Factor) -> Solver<'k> {
        let newton = || {
            let fft = self.fft.as_ref()?;
            let renewals = renewal_bound(&kernel.values)?;
            Some((renewals, fft.spectrum(&self.inverse(&kernel.values)?)))
        };
        let needed = kernel.zeros < self.length && !self.forward;
        Solver { kernel, newton: if needed { newton() } else { None } }
    }

    /// As [`Self::solve`], with the solver of its kernel.
    pub(super) fn solve_with(&self, source: &[f64], solver: &Solver<'_>) -> Vec<f64> {
        let kernel = solver.kernel;
        if kernel.zeros == self.length {
            return source.to_vec();
        }
        if self.forward {
            return solve_forward(source, &kernel.values);
        }
        self.solve_by_newton(source, solver).unwrap_or_else(|| solve_term_by_term(source, &kernel.values))
    }

    /// An approximate solution `y` by Newton's method, plus a margin that is proven.
    ///
    /// The error obeys `x − y = r + kernel · (x − y)` with the residual `r = source + kernel · y − y`,
    /// so that `x − y ≤ U max r`, where `U` bounds the number of renewals up to the last coefficient
    /// of a process with waiting times `kernel` (the sum of the coefficients of `1/(1 − kernel)`).
    ///
    /// `None` without transforms, or if the kernel has a mass above 1, for which no such bound is known.
    fn solve_by_newton(&self, source: &[f64], solver: &Solver<'_>) -> Option<Vec<f64>> {
        let (fft, kernel) = (self.fft.as_ref()?, solver.kernel);
        let (renewals, inverse) = solver.newton.as_ref()?;
        let product = |a: &Spectrum, b: &Spectrum| fft.back(Spectrum::product(a, b), self.length);
        let mut solution = product(inverse, &fft.spectrum(source));
        let image = product(&fft.spectrum(&solution), &kernel.spectrum);
        let error = fft.error(1) * norm(&solution) * kernel.norm;
        let residual = source
            .iter()
            .zip(&image)
            .zip(&solution)
            .map(|((&s, &i), &y)| (s + i - y) + 4.0 * f64::EPSILON * (s.abs() + i.abs() + y.abs()))
            .fold(0.0, f64::max);
        let margin = (residual + error) * renewals;
        // The solution is zero up to the first coefficient of the source that is not.
        let zeros = source.iter().position(|&s| s != 0.0).unwrap_or(self.length);
        solution[..zeros].fill(0.0);
        for y in &mut solution[zeros..] {
            *y = up(y.max(0.0) + margin, 2);
        }
        Some(solution)
    }

    /// `1 / (1 − kernel)`, approximately; each step doubles the number of correct coefficients.
    fn inverse(&self, kernel: &[f64]) -> Option<Vec<f64>> {
        let mut lengths = vec![self.length];
        while let Some(&last) = lengths.last().filter(|&&last| last > 64) {
            lengths.push(last.div_ceil(2));
        }
        let first = lengths.pop().unwrap_or(self.length);
        let mut one = vec![0.0; first];
        one[0] = 1.0;
        let mut inverse = solve_term_by_term(&one, &kernel[..first]);
        for &next in lengths.iter().rev() {
            // x ← x + x (1 − (1 − kernel) x), where the bracket vanishes up to the old length.
            let known = inverse.len();
            let fft = Fft::new(next)?;
            let x = fft.spectrum(&inverse);
            let mut bracket = fft.back(Spectrum::product(&x, &fft.spectrum(&kernel[..next])), next);
            bracket[..known].fill(0.0);
            let correction = fft.back(Spectrum::product(&x, &fft.spectrum(&bracket)), next);
            inverse.extend_from_slice(&correction[known..next]);
        }
        Some(inverse)
    }
}

/// `x` plus a margin for `operations` roundings of nonnegative numbers, and for underflow.
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

/// The same, but each coefficient is added to all later ones as soon as it is known: such loops have no sums
/// and can be vectorised.
fn solve_forward(source: &[f64], kernel: &[f64]) -> Vec<f64> {
    let zeros = source.iter().position(|&s| s != 0.0).unwrap_or(source.len());
    let mut x = source.to_vec();
    for t in zeros..x.len() {
        let (known, later) = x.split_at_mut(t + 1);
        // There are as many products and sums as term by term, in another order. Products below this size
        // underflow.
        known[t] = up(known[t].max(FORWARD_LEAST), t + 1);
        later.iter_mut().zip(&kernel[1..]).for_each(|(x, k)| *x += k * known[t]);
    }
    x
}

/// Replaces smaller values, including products that underflow to 0. It is far above the subnormal numbers,
/// which are slow to multiply.
const FORWARD_LEAST: f64 = 1e-290;

/// An upper bound on the expected number of renewals, the one at 0 included, within the length of `kernel`,
/// the law of the waiting time: `T/m₁ + m₂/m₁²`. The mass that the law lacks is put beyond the end. `None` if
/// its mass exceeds 1.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Nonnegative series with leading zeros, spanning ten orders of magnitude.
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

    /// Compares with the definition, to the margins of both; also for a source that begins late, and for no
    /// source.
    #[test]
    fn solving_forward_is_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for length in [1, 2, 57, 341] {
            for (zeros, mass) in [(0, 0.9), (length / 2, 1.0), (length, 0.5)] {
                let (kernel, source) = (law(&mut rng, length, mass), series(&mut rng, length, zeros));
                let (found, expected) =
                    (solve_forward(&source, &kernel), solve_term_by_term(&source, &kernel));
                for (t, (x, y)) in found.iter().zip(&expected).enumerate() {
                    let margin = 8.0 * (t + 3) as f64 * f64::EPSILON * (t + 1) as f64;
                    assert!((x - y).abs() <= margin * y, "{t} of {length}: {x} {y}");
                    // Never below the sum in plain floats, up to the rounding of that sum.
                    assert!(*x >= source[t]);
                }
                // A case that is exact in floats: multiples of powers of two.
                let halves: Vec<f64> = (0..length).map(|t| if t == 1 { 0.5 } else { 0.0 }).collect();
                let one: Vec<f64> = (0..length).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect();
                let powers = solve_forward(&one, &halves);
                assert!((0..length.min(900)).all(|t| powers[t] >= 0.5_f64.powi(t as i32)));
                let quick = Products::quick(length);
                assert_eq!(quick.solve(&source, &quick.factor(kernel)), found);
            }
        }
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
            let spectrum = Spectrum::product(&fft.spectrum(&a), &fft.spectrum(&b));
            let error = fft
                .back(spectrum, 3000)
                .iter()
                .enumerate()
                .map(|(t, x)| (x - coefficient(&a, &b, t)).abs())
                .fold(0.0, f64::max);
            assert!(error < 0.05 * fft.error(1) * norm(&a) * norm(&b));
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
                let up = fast.solve_by_newton(&source, &fast.solver(&kernel)).expect("the mass is at most 1");
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
        assert!(products.solve_by_newton(&source, &products.solver(&kernel)).is_none());
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
                // Rounding may make the mass a little larger than 1.
                let bound = renewal_bound(&kernel).unwrap_or(f64::INFINITY);
                assert!(renewals <= bound * (1.0 + 1e-12), "{renewals} > {bound}");
                assert!(bound == f64::INFINITY || bound < 4.0 * renewals + 2.0);
            }
        }
    }

    /// Each of many products is less than half a unit of the first, so that a sum from left to right loses
    /// all of them.
    #[test]
    fn sums_of_many_products_are_rounded_up() {
        let products = Products::new(1);
        let large = products.factor(vec![9_007_199_254_740_992.0]);
        let (small, one) = (products.factor(vec![0.875]), products.factor(vec![1.0]));
        let pairs: Vec<_> =
            std::iter::once((&large, &one)).chain((0..1000).map(|_| (&small, &one))).collect();
        // 2^53 + 875.
        let found = products.sum_of_products(&pairs, 0)[0];
        assert!((9_007_199_254_741_867.0..9_007_199_254_745_000.0).contains(&found), "{found}");
    }

    /// What may be nothing but an underflow is nothing when it is rounded down, and something when it is
    /// rounded up.
    #[test]
    fn underflow_is_covered_on_both_sides() {
        for x in [0.0, 5e-324, 1e-310, f64::MIN_POSITIVE] {
            assert_eq!(down(x, 1), 0.0, "{x:e}");
            assert!(up(x, 1) >= f64::MIN_POSITIVE, "{x:e}");
        }
        assert!(down(1.0, 3) < 1.0 - 3.0 * f64::EPSILON && down(1.0, 3) > 1.0 - 9.0 * f64::EPSILON);
    }
}
