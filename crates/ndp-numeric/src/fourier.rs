//! Discrete Fourier transforms with a proven error: [`Transform`], of power-of-two size, in natural order on
//! several threads, and [`Scrambled`], in an order of its own and of several series at once, for products and
//! sums over all frequencies.
//!
//! *Error of [`Transform`].* Let `u = 2^{−53}`, and let the roots of unity err by at most `ROOT u`, here with
//! `ROOT = 4` (a test shows it for all of the largest size, of which the smaller ones are a part). In one
//! stage `(a, b) ↦ (a + wb, a − wb)` a computed product errs by at most `(√2 (2u + u²)(1 + ROOT u) + ROOT
//! u)|b|`: each of its two parts is a sum of two rounded products, and `|b_r w_r| + |b_i w_i| ≤ |b||w|`. A
//! sum errs by `u` of its size. As a stage without rounding multiplies 2-norms by `√2`, and `√2 ‖b‖` is at
//! most the norm of its result, a stage errs by at most `η = STAGE u` of that norm, and all `s = log₂ N`
//! stages by at most `(1 + η)^s − 1`. So `‖computed − exact‖₂ ≤ ((1 + η)^s − 1) √N ‖input‖₂`:
//! [`Transform::error`]. (Higham, *Accuracy and stability of numerical algorithms*, 2002, Theorem 24.2, is
//! the same statement.) Errors from underflow are far smaller.

mod scrambled;

pub use scrambled::Scrambled;

use rayon::prelude::*;
use std::f64::consts::TAU;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// 1.
    pub const ONE: Self = Self { re: 1.0, im: 0.0 };
    /// 0.
    pub const ZERO: Self = Self { re: 0.0, im: 0.0 };

    /// A product; relative error at most `√2 (2u + u²) < 3u`.
    #[inline]
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    /// A sum; relative error at most `u`.
    #[inline]
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }

    /// A difference; relative error at most `u`.
    #[inline]
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }

    /// The conjugate.
    #[inline]
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    /// `|z|²`.
    #[inline]
    #[must_use]
    pub fn square_norm(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// `z^count`; relative error at most `(1 + 3u)^{count−1} − 1`, by induction over the products. If
    /// `|z| ≤ 1` and an intermediate power falls below [`NOTHING`], then so does the result, and 0 is
    /// returned.
    #[must_use]
    pub fn power(self, count: u64) -> Self {
        let (mut result, mut square, mut left) = (Self::ONE, self, count);
        while left > 0 {
            if square.square_norm() < NOTHING * NOTHING {
                return Self::ZERO;
            }
            if left & 1 == 1 {
                result = result.times(square);
            }
            left >>= 1;
            if left > 0 {
                square = square.times(square);
            }
        }
        result
    }
}

/// A power below this is replaced by 0.
pub const NOTHING: f64 = 1e-40;

/// The transform `z ↦ Σ_j z_j e^{−2πi jk/N}` of one size `N`, a power of two.
#[derive(Debug)]
pub struct Transform {
    size: usize,
    /// For each stage that joins halves of length `m`, its `m` roots, starting at index `m − 1`.
    roots: Vec<Complex>,
}

impl Transform {
    /// The transform whose size is the least power of two that is at least `size`, but no more than
    /// [`LARGEST`].
    #[must_use]
    pub fn new(size: usize) -> Self {
        let size = size.clamp(2, LARGEST).next_power_of_two();
        let mut roots = Vec::with_capacity(size);
        let last: Vec<Complex> =
            (0..size / 2).into_par_iter().with_min_len(BLOCK).map(|k| root(k, size)).collect();
        let mut half = 1;
        while half < size {
            let stride = size / (2 * half);
            roots.extend(last.iter().step_by(stride).copied());
            half *= 2;
        }
        Self { size, roots }
    }

    /// `N`.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// `(1 + η)^s − 1`, rounded up.
    #[must_use]
    pub fn error(&self) -> f64 {
        let stages = f64::from(self.size.trailing_zeros());
        libm::expm1(stages * STAGE * 0.5 * f64::EPSILON) * (1.0 + 1e-12)
    }

    /// The transform, in place; `data` must hold `N` numbers.
    pub fn run(&self, data: &mut [Complex]) {
        let shift = usize::BITS - self.size.trailing_zeros();
        for i in 0..data.len() {
            let j = i.reverse_bits() >> shift;
            if i < j {
                data.swap(i, j);
            }
        }
        // The short stages stay within blocks that fit the cache.
        let block = BLOCK.min(self.size);
        data.par_chunks_mut(block).for_each(|chunk| {
            let mut half = 1;
            while 2 * half <= block {
                chunk.chunks_exact_mut(2 * half).for_each(|pair| self.stage(pair, half));
                half *= 2;
            }
        });
        let mut half = block;
        while 2 * half <= self.size {
            let roots = &self.roots[half - 1..2 * half - 1];
            for pair in data.chunks_exact_mut(2 * half) {
                let (a, b) = pair.split_at_mut(half);
                a.par_chunks_mut(block)
                    .zip(b.par_chunks_mut(block))
                    .zip(roots.par_chunks(block))
                    .for_each(|((a, b), roots)| butterflies(a, b, roots));
            }
            half *= 2;
        }
    }

    /// The inverse, in place: the transform of the conjugates, conjugated and divided by `N`, which is exact.
    /// The error is the same.
    pub fn invert(&self, data: &mut [Complex]) {
        for z in data.iter_mut() {
            *z = z.conjugate();
        }
        self.run(data);
        let scale = 1.0 / self.size as f64;
        for z in data.iter_mut() {
            *z = Complex { re: z.re * scale, im: -z.im * scale };
        }
    }

    fn stage(&self, pair: &mut [Complex], half: usize) {
        let (a, b) = pair.split_at_mut(half);
        butterflies(a, b, &self.roots[half - 1..2 * half - 1]);
    }
}

#[inline]
fn butterflies(a: &mut [Complex], b: &mut [Complex], roots: &[Complex]) {
    for ((a, b), &root) in a.iter_mut().zip(b).zip(roots) {
        let turned = b.times(root);
        (*a, *b) = (a.plus(turned), a.minus(turned));
    }
}

/// `e^{−2πi k/N}` for any `k`, from sine and cosine of at most an eighth of a turn. It errs by at most
/// [`ROOT`] units `u = 2^{−53}` if `N` is a power of two up to [`TESTED`], or three or five times a power of
/// two up to a 64th of that: tests cover all of them.
#[must_use]
pub fn root(k: usize, size: usize) -> Complex {
    let k = k % size;
    // The nearest quarter of a turn and the remainder, in integers.
    let quarters = (8 * k + size - 1) / (2 * size);
    let (turns, all) = (4 * k, quarters * size);
    let left = if turns < all { -((all - turns) as f64) } else { (turns - all) as f64 };
    let angle = TAU * (left / (4 * size) as f64);
    let (re, im) = (libm::cos(angle), -libm::sin(angle));
    match quarters % 4 {
        0 => Complex { re, im },
        1 => Complex { re: im, im: -re },
        2 => Complex { re: -re, im: -im },
        _ => Complex { re: -im, im: re },
    }
}

/// Error of a root of unity, in units of `u`.
pub const ROOT: f64 = 5.0;
/// The same bound if the number of roots is a power of two up to [`LARGEST`].
#[cfg(test)]
const ROOT_OF_TRANSFORM: f64 = 4.0;
/// The largest number of roots of unity whose errors are known.
pub const TESTED: usize = 1 << 24;
/// Error of a stage, in units of `u`: `2√2 + 4 + 1`, where 4 is the error of the transform's roots, plus
/// terms of second order.
const STAGE: f64 = 8.0;
/// How many numbers a thread handles at once: 64 KiB of them.
const BLOCK: usize = 4096;
/// The largest size.
pub const LARGEST: usize = 1 << 22;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incomplete::{two_product, two_sum};

    /// All roots of the largest sizes, and hence of every size, checked by squaring: if `|w_k² − w_{2k}| ≤ c`
    /// for the computed roots, their errors `e` obey `2 e_k ≤ c + e_{2k} + e_k²`, so the largest error is at
    /// most `c` up to terms of second order, provided that each root is on the right side of the circle.
    #[test]
    fn roots_err_by_less_than_is_said() {
        let sizes =
            [(LARGEST, ROOT_OF_TRANSFORM), (TESTED, ROOT), (3 * TESTED / 64, ROOT), (5 * TESTED / 64, ROOT)];
        for (size, units) in sizes {
            assert_eq!(root(0, size), Complex::ONE);
            assert_eq!(root(size / 4, size), Complex { re: 0.0, im: -1.0 });
            let worst = (0..size).into_par_iter().map(|k| {
                let (w, square) = (root(k, size), root(2 * k, size));
                let gap = |terms: &[(f64, f64)], target: f64| {
                    // The rounded parts cancel exactly against the target; what remains is of the size of
                    // their errors.
                    let mut sum = (-target, 0.0);
                    for &(a, b) in terms {
                        let (product, rest) = two_product(a, b);
                        let (high, low) = two_sum(sum.0, product);
                        sum = (high, sum.1 + low + rest);
                    }
                    sum.0 + sum.1
                };
                let re = gap(&[(w.re, w.re), (-w.im, w.im)], square.re);
                let im = gap(&[(2.0 * w.re, w.im)], square.im);
                // The root is on the right side of the circle.
                let turn = -TAU * k as f64 / size as f64;
                assert!((w.re - turn.cos()).abs() < 1e-12 && (w.im - turn.sin()).abs() < 1e-12);
                re.hypot(im)
            });
            let worst = worst.reduce(|| 0.0, f64::max);
            assert!(worst * 1.000_001 <= units * 0.5 * f64::EPSILON, "{}", worst / (0.5 * f64::EPSILON));
        }
    }

    /// Against the definition, with angles reduced exactly, on small sizes; one input is constant, which is
    /// the worst case.
    #[test]
    fn transforms_follow_the_definition() {
        for size in [2_usize, 8, 64] {
            let transform = Transform::new(size);
            let input: Vec<Complex> = (0..size)
                .map(|k| Complex { re: (k as f64 * 0.7).sin(), im: 1.0 / (1.0 + k as f64) })
                .collect();
            let mut output = input.clone();
            transform.run(&mut output);
            for (k, &found) in output.iter().enumerate() {
                let mut sum = Complex::ZERO;
                for (j, &z) in input.iter().enumerate() {
                    let angle = -TAU * ((j * k) % size) as f64 / size as f64;
                    sum = sum.plus(z.times(Complex { re: angle.cos(), im: angle.sin() }));
                }
                assert!(found.minus(sum).square_norm().sqrt() < 1e-13);
            }
            transform.invert(&mut output);
            for (a, b) in input.iter().zip(&output) {
                assert!(a.minus(*b).square_norm().sqrt() < 1e-15);
            }
        }
    }

    /// Forward and back, on a size that is split into blocks. The error is at most twice the stated one, and
    /// at least a thousandth of that.
    #[test]
    fn the_error_covers_a_round_trip() {
        let transform = Transform::new(1 << 15);
        let input: Vec<Complex> = (0..1 << 15)
            .map(|k| Complex { re: (f64::from(k) * 0.37).sin(), im: (f64::from(k * k % 977)).cos() })
            .collect();
        let mut output = input.clone();
        transform.run(&mut output);
        transform.invert(&mut output);
        let norm = |z: &mut dyn Iterator<Item = Complex>| z.map(Complex::square_norm).sum::<f64>().sqrt();
        let gap = norm(&mut input.iter().zip(&output).map(|(a, b)| a.minus(*b)));
        let allowed = 2.0 * transform.error() * norm(&mut input.iter().copied());
        assert!(gap <= allowed && gap > 1e-3 * allowed, "{gap} {allowed}");
    }

    #[test]
    fn powers_are_products() {
        let z = Complex { re: 0.8, im: -0.59 };
        let mut product = Complex::ONE;
        for count in 0..20 {
            let power = z.power(count);
            assert!(power.minus(product).square_norm().sqrt() < 1e-15);
            product = product.times(z);
        }
        assert_eq!(Complex { re: 0.1, im: 0.0 }.power(1_000_000), Complex::ZERO);
    }
}
