//! Transforms whose frequencies come in an order of their own. The order does not matter to a caller that
//! multiplies spectra or sums over all frequencies.
//!
//! Radix 4 by decimation in frequency, with one stage of radix 3 or 2 if the size needs it. Real and
//! imaginary parts are stored apart, and several series that are transformed together lie next to each other.
//!
//! *Error.* Let `u = 2^{−53}`. A computed sum of complex numbers is the sum times `1 + δ`, `|δ| ≤ u`, and a
//! computed product with a root of unity that errs by at most [`ROOT`](super::ROOT)` u = 5u` is the product
//! times `1 + τ`, `|τ| ≤ √2 (2u + u²)(1 + 5u) + 5u < 7.9u`. So each result is `Σ_k z_k ω_k (1 + θ_k)`, where
//! `1 + θ_k` is the product of the factors on the way from `z_k`.
//!
//! * A stage of radix 4 has two sums and one product on each way: `(1 + u)² (1 + τ) < 1 + 10u`. One of radix
//!   2, without products: `1 + u`.
//! * One of radix 3 forms `t = x₁ + x₂`, `m = x₀ − t/2`, `s = (√3/2)(x₁ − x₂)` and `x₀ + t`, `m ∓ is`. On the
//!   way of `x₁` are three sums with weight `1/2` and four roundings with weight `√3/2`, below `5u` of a
//!   coefficient of size 1 in all; with the product below `13u`.
//!
//! So `|θ_k| ≤ E = Π (1 + stage) − 1`, and every result errs by at most `E Σ_k |z_k|`. In 2-norms, a stage of
//! radix 2 or 4 errs by the same multiple of the norm of its result, because its sums and products do; one of
//! radix 3, as `Σ |x| ≤ √3 ‖x‖` and its result has the norm `√3 ‖x‖`, by at most `5√3 u + τ < 17u`. Stages
//! without rounding multiply norms by the root of the radix: `‖computed − exact‖₂ ≤ E √N ‖input‖₂`, with
//! `17u` for radix 3. Errors from underflow are far smaller.

use super::{TESTED, root};
use multiversion::multiversion;

/// The transform `z ↦ Σ_j z_j e^{−2πi jk/N}` with frequencies in the order of [`Self::frequencies`], and its
/// inverse.
#[derive(Debug)]
pub struct Scrambled {
    size: usize,
    stages: Vec<Stage>,
}

/// A stage: blocks of `length` numbers are each split into `radix` shorter ones.
#[derive(Debug)]
struct Stage {
    radix: usize,
    length: usize,
    /// Powers 1 to 3 of `e^{−2πi i/length}` for `i < length/radix`.
    roots: [Roots; 3],
}

#[derive(Debug, Default)]
struct Roots {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Scrambled {
    /// The transform of size [`Self::size_for`] `size`; `None` beyond 2^22.
    #[must_use]
    pub fn new(size: usize) -> Option<Self> {
        Self::size_for(size).and_then(Self::of_size)
    }

    /// The least size `2^k` or `3 · 2^k` that is at least `size`; `None` beyond 2^22.
    #[must_use]
    pub fn size_for(size: usize) -> Option<usize> {
        let two = size.max(1).checked_next_power_of_two()?;
        let three = two / 4 * 3;
        // For three times a power of two, fewer roots are tested, and callers may ask for four times as many
        // roots as the size.
        let by_three = three >= size && three <= 3 * TESTED / 256;
        Some(if by_three { three } else { two }).filter(|&size| size <= TESTED / 4)
    }

    /// The transform whose size is the least power of two that is at least `size`; `None` beyond 2^22.
    #[must_use]
    pub fn power_of_two(size: usize) -> Option<Self> {
        Self::of_size(size.max(1).checked_next_power_of_two()?)
    }

    fn of_size(size: usize) -> Option<Self> {
        if size > TESTED / 4 {
            return None;
        }
        let all: Vec<super::Complex> = (0..size).map(|k| root(k, size)).collect();
        let mut stages = Vec::new();
        let mut length = size;
        while length > 1 {
            let radix = if length.is_multiple_of(3) { 3 } else { length.min(4) };
            let power = |k: usize| {
                let roots = (0..length / radix).map(|i| all[k * i * (size / length) % size]);
                Roots { re: roots.clone().map(|w| w.re).collect(), im: roots.map(|w| w.im).collect() }
            };
            stages.push(Stage { radix, length, roots: [power(1), power(2), power(3)] });
            length /= radix;
        }
        Some(Self { size, stages })
    }

    /// `N`.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// `E` such that a result errs by at most `E √N ‖input‖₂` in the 2-norm and by at most `E ‖input‖₁` in
    /// every entry; rounded up. The inverse errs by `1/N` times that, with two more units.
    #[must_use]
    pub fn error(&self) -> f64 {
        let units = |stage: &Stage| match stage.radix {
            2 => 1.0,
            3 => 17.0,
            _ => 10.0,
        };
        let units: f64 = self.stages.iter().map(units).sum();
        libm::expm1(units * 0.5 * f64::EPSILON) * (1.0 + 1e-12)
    }

    /// The frequency at each place of a spectrum.
    #[must_use]
    pub fn frequencies(&self) -> Vec<usize> {
        let mut order = vec![0];
        for stage in self.stages.iter().rev() {
            order = (0..stage.radix).flat_map(|r| order.iter().map(move |f| r + stage.radix * f)).collect();
        }
        order
    }

    /// The transform, in place, of `L` series at once: the `N` real parts and the `N` imaginary parts of
    /// each.
    pub fn run<const L: usize>(&self, re: &mut [[f64; L]], im: &mut [[f64; L]]) {
        debug_assert!(re.len() == self.size && im.len() == self.size);
        forward(&self.stages, re, im);
    }

    /// The inverse of [`Self::run`].
    pub fn invert<const L: usize>(&self, re: &mut [[f64; L]], im: &mut [[f64; L]]) {
        debug_assert!(re.len() == self.size && im.len() == self.size);
        backward(&self.stages, re, im);
        let scale = 1.0 / self.size as f64;
        re.iter_mut().chain(im).flatten().for_each(|x| *x *= scale);
    }
}

/// A block that fits into the cache goes through all stages before the next one.
fn forward<const L: usize>(stages: &[Stage], re: &mut [[f64; L]], im: &mut [[f64; L]]) {
    let Some((first, rest)) = stages.split_first() else { return };
    if re.len() * L <= CACHED {
        stages.iter().for_each(|stage| forward_stage(stage, re, im));
        return;
    }
    forward_stage(first, re, im);
    let length = first.length / first.radix;
    for (re, im) in re.chunks_exact_mut(length).zip(im.chunks_exact_mut(length)) {
        forward(rest, re, im);
    }
}

fn backward<const L: usize>(stages: &[Stage], re: &mut [[f64; L]], im: &mut [[f64; L]]) {
    let Some((first, rest)) = stages.split_first() else { return };
    if re.len() * L <= CACHED {
        stages.iter().rev().for_each(|stage| backward_stage(stage, re, im));
        return;
    }
    let length = first.length / first.radix;
    for (re, im) in re.chunks_exact_mut(length).zip(im.chunks_exact_mut(length)) {
        backward(rest, re, im);
    }
    backward_stage(first, re, im);
}

/// All blocks of a stage, compiled for the vector unit of the machine as well. Products and sums are written
/// apart, so that all versions give the same bits.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn forward_stage<const L: usize>(stage: &Stage, re: &mut [[f64; L]], im: &mut [[f64; L]]) {
    for (re, im) in re.chunks_exact_mut(stage.length).zip(im.chunks_exact_mut(stage.length)) {
        match stage.radix {
            4 => stage.forward_by_4(re, im),
            3 => stage.by_3(re, im, true),
            _ => by_2(re, im),
        }
    }
}

/// The inverse of [`forward_stage`], but for a factor.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn backward_stage<const L: usize>(stage: &Stage, re: &mut [[f64; L]], im: &mut [[f64; L]]) {
    for (re, im) in re.chunks_exact_mut(stage.length).zip(im.chunks_exact_mut(stage.length)) {
        match stage.radix {
            4 => stage.backward_by_4(re, im),
            3 => stage.by_3(re, im, false),
            _ => by_2(re, im),
        }
    }
}

/// `(a, b)` times `(c, d)`.
#[inline(always)]
fn times(a: f64, b: f64, c: f64, d: f64) -> (f64, f64) {
    (a * c - b * d, a * d + b * c)
}

/// The four quarters of a block.
#[inline(always)]
fn quarters<T>(block: &mut [T]) -> [&mut [T]; 4] {
    let (low, high) = block.split_at_mut(block.len() / 2);
    let (a, b) = low.split_at_mut(low.len() / 2);
    let (c, d) = high.split_at_mut(high.len() / 2);
    [a, b, c, d]
}

impl Stage {
    #[inline(always)]
    fn forward_by_4<const L: usize>(&self, re: &mut [[f64; L]], im: &mut [[f64; L]]) {
        let q = self.length / 4;
        let [ar, br, cr, dr] = quarters(re);
        let [ai, bi, ci, di] = quarters(im);
        let (ar, br, cr, dr) = (&mut ar[..q], &mut br[..q], &mut cr[..q], &mut dr[..q]);
        let (ai, bi, ci, di) = (&mut ai[..q], &mut bi[..q], &mut ci[..q], &mut di[..q]);
        let [one, two, three] = &self.roots;
        let (ur, ui) = (&one.re[..q], &one.im[..q]);
        let (vr, vi) = (&two.re[..q], &two.im[..q]);
        let (wr, wi) = (&three.re[..q], &three.im[..q]);
        for i in 0..q {
            for l in 0..L {
                let (s0, s1) = (ar[i][l] + cr[i][l], ai[i][l] + ci[i][l]);
                let (t0, t1) = (ar[i][l] - cr[i][l], ai[i][l] - ci[i][l]);
                let (p0, p1) = (br[i][l] + dr[i][l], bi[i][l] + di[i][l]);
                let (q0, q1) = (br[i][l] - dr[i][l], bi[i][l] - di[i][l]);
                (ar[i][l], ai[i][l]) = (s0 + p0, s1 + p1);
                (br[i][l], bi[i][l]) = times(t0 + q1, t1 - q0, ur[i], ui[i]);
                (cr[i][l], ci[i][l]) = times(s0 - p0, s1 - p1, vr[i], vi[i]);
                (dr[i][l], di[i][l]) = times(t0 - q1, t1 + q0, wr[i], wi[i]);
            }
        }
    }

    #[inline(always)]
    fn backward_by_4<const L: usize>(&self, re: &mut [[f64; L]], im: &mut [[f64; L]]) {
        let q = self.length / 4;
        let [ar, br, cr, dr] = quarters(re);
        let [ai, bi, ci, di] = quarters(im);
        let (ar, br, cr, dr) = (&mut ar[..q], &mut br[..q], &mut cr[..q], &mut dr[..q]);
        let (ai, bi, ci, di) = (&mut ai[..q], &mut bi[..q], &mut ci[..q], &mut di[..q]);
        let [one, two, three] = &self.roots;
        let (ur, ui) = (&one.re[..q], &one.im[..q]);
        let (vr, vi) = (&two.re[..q], &two.im[..q]);
        let (wr, wi) = (&three.re[..q], &three.im[..q]);
        for i in 0..q {
            for l in 0..L {
                let (b0, b1) = times(br[i][l], bi[i][l], ur[i], -ui[i]);
                let (c0, c1) = times(cr[i][l], ci[i][l], vr[i], -vi[i]);
                let (d0, d1) = times(dr[i][l], di[i][l], wr[i], -wi[i]);
                let (s0, s1) = (ar[i][l] + c0, ai[i][l] + c1);
                let (t0, t1) = (ar[i][l] - c0, ai[i][l] - c1);
                let (p0, p1) = (b0 + d0, b1 + d1);
                let (q0, q1) = (b0 - d0, b1 - d1);
                (ar[i][l], ai[i][l]) = (s0 + p0, s1 + p1);
                (br[i][l], bi[i][l]) = (t0 - q1, t1 + q0);
                (cr[i][l], ci[i][l]) = (s0 - p0, s1 - p1);
                (dr[i][l], di[i][l]) = (t0 + q1, t1 - q0);
            }
        }
    }

    #[inline(always)]
    fn by_3<const L: usize>(&self, re: &mut [[f64; L]], im: &mut [[f64; L]], forward: bool) {
        let third = self.length / 3;
        let (ar, rest) = re.split_at_mut(third);
        let (br, cr) = rest.split_at_mut(third);
        let (ai, rest) = im.split_at_mut(third);
        let (bi, ci) = rest.split_at_mut(third);
        let [one, two, _] = &self.roots;
        let half_root = if forward { HALF_ROOT_OF_3 } else { -HALF_ROOT_OF_3 };
        for i in 0..third {
            let (u, v) = ((one.re[i], one.im[i]), (two.re[i], two.im[i]));
            for l in 0..L {
                let a = (ar[i][l], ai[i][l]);
                let (mut b, mut c) = ((br[i][l], bi[i][l]), (cr[i][l], ci[i][l]));
                if !forward {
                    b = times(b.0, b.1, u.0, -u.1);
                    c = times(c.0, c.1, v.0, -v.1);
                }
                let t = (b.0 + c.0, b.1 + c.1);
                let m = (a.0 - 0.5 * t.0, a.1 - 0.5 * t.1);
                let s = (half_root * (b.0 - c.0), half_root * (b.1 - c.1));
                (ar[i][l], ai[i][l]) = (a.0 + t.0, a.1 + t.1);
                // m − is and m + is.
                (b, c) = ((m.0 + s.1, m.1 - s.0), (m.0 - s.1, m.1 + s.0));
                if forward {
                    b = times(b.0, b.1, u.0, u.1);
                    c = times(c.0, c.1, v.0, v.1);
                }
                (br[i][l], bi[i][l]) = b;
                (cr[i][l], ci[i][l]) = c;
            }
        }
    }
}

#[inline(always)]
fn by_2<const L: usize>(re: &mut [[f64; L]], im: &mut [[f64; L]]) {
    for part in [re, im] {
        let (a, b) = part.split_at_mut(1);
        for (a, b) in a[0].iter_mut().zip(&mut b[0]) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
}

/// `√3/2`, to the nearest float.
const HALF_ROOT_OF_3: f64 = 0.866_025_403_784_438_6;
/// The number of complex numbers that fit into the cache.
const CACHED: usize = 2048;

#[cfg(test)]
mod tests {
    use super::super::Complex;
    use super::*;

    fn input(size: usize, lane: usize) -> Vec<Complex> {
        let at = |k: usize| Complex {
            re: ((k + 3 * lane) as f64 * 0.7).sin(),
            im: 1.0 / (1.0 + (k + lane) as f64),
        };
        (0..size).map(at).collect()
    }

    fn run<const L: usize>(
        transform: &Scrambled,
        inputs: &[Vec<Complex>; L],
        back: bool,
    ) -> [Vec<Complex>; L] {
        let part = |f: fn(&Complex) -> f64| -> Vec<[f64; L]> {
            (0..transform.size()).map(|k| std::array::from_fn(|l| f(&inputs[l][k]))).collect()
        };
        let (mut re, mut im) = (part(|z| z.re), part(|z| z.im));
        if back {
            transform.invert(&mut re, &mut im)
        } else {
            transform.run(&mut re, &mut im)
        }
        std::array::from_fn(|l| re.iter().zip(&im).map(|(re, im)| Complex { re: re[l], im: im[l] }).collect())
    }

    /// Against the definition with exactly reduced angles: one series, three at once, and back.
    #[test]
    fn transforms_follow_the_definition() {
        for size in [1_usize, 2, 3, 4, 6, 8, 12, 16, 24, 48, 64, 96, 128] {
            let transform = Scrambled::new(size).unwrap();
            assert_eq!(transform.size(), size);
            let order = transform.frequencies();
            let inputs: [Vec<Complex>; 3] = std::array::from_fn(|lane| input(size, lane));
            let together = run(&transform, &inputs, false);
            let again = run(&transform, &together, true);
            for lane in 0..3 {
                let alone = run(&transform, &[inputs[lane].clone()], false);
                assert_eq!(alone[0], together[lane]);
                let length: f64 = inputs[lane].iter().map(|z| z.square_norm().sqrt()).sum();
                for (place, &k) in order.iter().enumerate() {
                    let mut sum = Complex::ZERO;
                    for (j, &z) in inputs[lane].iter().enumerate() {
                        sum = sum.plus(z.times(root(j * k, size)));
                    }
                    let gap = together[lane][place].minus(sum).square_norm().sqrt();
                    // The definition itself errs by a few units per term.
                    assert!(gap <= (transform.error() + 1e-15 * size as f64) * length, "{gap} {size}");
                }
                for (a, b) in inputs[lane].iter().zip(&again[lane]) {
                    assert!(a.minus(*b).square_norm().sqrt() < 1e-14);
                }
            }
        }
    }

    /// Sizes with stages beyond the cache, forward and back. The error is at most twice the stated one, and
    /// at least a thousandth of that.
    #[test]
    fn the_error_covers_a_round_trip() {
        for size in [1 << 13, 3 << 12, 1 << 16, 3 << 14] {
            let transform = Scrambled::new(size).unwrap();
            let inputs = [input(size, 0)];
            let spectrum = run(&transform, &inputs, false);
            let again = run(&transform, &spectrum, true);
            let norm = |z: &mut dyn Iterator<Item = Complex>| z.map(Complex::square_norm).sum::<f64>().sqrt();
            let gap = norm(&mut inputs[0].iter().zip(&again[0]).map(|(a, b)| a.minus(*b)));
            let length = norm(&mut inputs[0].iter().copied());
            let allowed = 2.0 * transform.error() * length;
            assert!(gap <= allowed && gap > 1e-3 * allowed, "{gap} {allowed}");
            // Parseval.
            let there = norm(&mut spectrum[0].iter().copied()) / (size as f64).sqrt();
            assert!((there / length - 1.0).abs() <= transform.error());
        }
    }

    #[test]
    fn sizes_are_the_least_that_are_offered() {
        for size in 1..3000_usize {
            let found = Scrambled::new(size).unwrap().size();
            let two = size.next_power_of_two();
            assert!(found >= size && (found == two || 4 * found == 3 * two));
            assert_eq!(found == two, 3 * two / 4 < size || two < 4);
        }
        assert_eq!(Scrambled::power_of_two(33).unwrap().size(), 64);
        assert!(Scrambled::new((1 << 22) + 1).is_none());
    }
}
