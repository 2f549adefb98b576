//! Solves the renewal equation at single points of the circle in time.

use super::{LANES, Lanes};
use multiversion::multiversion;
use ndp_numeric::fourier::Complex;

/// The transform of a series in time at all `z` of a block, or of a series that is the same at all of them.
#[derive(Clone, Copy)]
pub(super) enum Spectrum<'a> {
    Charged(&'a [Lanes], &'a [Lanes]),
    Free(&'a [[f64; 1]], &'a [[f64; 1]]),
}

impl Spectrum<'_> {
    #[inline]
    fn lanes(&self, p: usize) -> (Lanes, Lanes) {
        match self {
            Self::Charged(re, im) => (re[p], im[p]),
            Self::Free(re, im) => ([re[p][0]; LANES], [im[p][0]; LANES]),
        }
    }

    #[inline]
    fn at(&self, p: usize, lane: usize) -> Complex {
        match self {
            Self::Charged(re, im) => Complex { re: re[p][lane], im: im[p][lane] },
            Self::Free(re, im) => Complex { re: re[p][0], im: im[p][0] },
        }
    }
}

/// `Σ_p (F (1 − I)^{−1} G)(x_p) turn_p` for each `z`. The spectra are those of `I` row by row, then `F`, then
/// `G`.
pub(super) fn coefficient(
    spectra: &[Spectrum<'_>],
    members: usize,
    turns: &[Complex],
    scratch: &mut Vec<Complex>,
) -> [Complex; LANES] {
    let mut sum = [Complex::ZERO; LANES];
    for (outer, turns) in turns.chunks(BLOCK * BLOCK).enumerate() {
        let mut middle = [Complex::ZERO; LANES];
        for (block, turns) in turns.chunks(BLOCK).enumerate() {
            let from = (outer * BLOCK + block) * BLOCK;
            let part = match spectra {
                [kernel, first, tail] => of_one(kernel, first, tail, turns, from),
                _ => of_several(spectra, members, turns, from, scratch),
            };
            middle.iter_mut().zip(part).for_each(|(sum, part)| *sum = sum.plus(part));
        }
        sum.iter_mut().zip(middle).for_each(|(sum, part)| *sum = sum.plus(part));
    }
    sum
}

/// The case of one observer.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn of_one(
    kernel: &Spectrum<'_>,
    first: &Spectrum<'_>,
    tail: &Spectrum<'_>,
    turns: &[Complex],
    from: usize,
) -> [Complex; LANES] {
    let (mut sum_re, mut sum_im) = ([0.0; LANES], [0.0; LANES]);
    for (p, turn) in (from..).zip(turns) {
        let ((kr, ki), (fr, fi), (gr, gi)) = (kernel.lanes(p), first.lanes(p), tail.lanes(p));
        for l in 0..LANES {
            // F G turn times the conjugate of 1 − I, divided by |1 − I|².
            let (re, im) = (fr[l] * gr[l] - fi[l] * gi[l], fr[l] * gi[l] + fi[l] * gr[l]);
            let (re, im) = (re * turn.re - im * turn.im, re * turn.im + im * turn.re);
            let gap = 1.0 - kr[l];
            let scale = 1.0 / (gap * gap + ki[l] * ki[l]);
            sum_re[l] += (re * gap - im * ki[l]) * scale;
            sum_im[l] += (re * ki[l] + im * gap) * scale;
        }
    }
    std::array::from_fn(|l| Complex { re: sum_re[l], im: sum_im[l] })
}

fn of_several(
    spectra: &[Spectrum<'_>],
    members: usize,
    turns: &[Complex],
    from: usize,
    scratch: &mut Vec<Complex>,
) -> [Complex; LANES] {
    let first = &spectra[members * members..members * (members + 1)];
    std::array::from_fn(|lane| {
        let mut sum = Complex::ZERO;
        for (p, &turn) in (from..).zip(turns) {
            eliminate(spectra, members, p, lane, scratch);
            let last = |w: usize| scratch[w * (members + 1) + members];
            let mut value = Complex::ZERO;
            for (w, first) in first.iter().enumerate() {
                value = value.plus(first.at(p, lane).times(last(w)));
            }
            sum = sum.plus(value.times(turn));
        }
        sum
    })
}

/// Solves `(1 − I) y = G` at one point, by elimination without pivoting. `y` is then the last column of
/// `scratch`, which is stored row by row.
fn eliminate(spectra: &[Spectrum<'_>], m: usize, p: usize, lane: usize, scratch: &mut Vec<Complex>) {
    let width = m + 1;
    let tail = &spectra[m * (m + 1)..];
    scratch.clear();
    for i in 0..m {
        for j in 0..m {
            let unit = if i == j { Complex::ONE } else { Complex::ZERO };
            scratch.push(unit.minus(spectra[i * m + j].at(p, lane)));
        }
        scratch.push(tail[i].at(p, lane));
    }
    for i in 0..m {
        for j in i + 1..m {
            if scratch[j * width + i] == Complex::ZERO {
                continue;
            }
            let factor = quotient(scratch[j * width + i], scratch[i * width + i]);
            for column in i + 1..width {
                let above = scratch[i * width + column];
                let own = &mut scratch[j * width + column];
                *own = own.minus(factor.times(above));
            }
        }
    }
    for i in (0..m).rev() {
        let mut value = scratch[i * width + m];
        for j in i + 1..m {
            value = value.minus(scratch[i * width + j].times(scratch[j * width + m]));
        }
        scratch[i * width + m] = quotient(value, scratch[i * width + i]);
    }
}

/// `a/b`, with a relative error of a few units.
fn quotient(a: Complex, b: Complex) -> Complex {
    let scale = 1.0 / b.square_norm();
    let product = a.times(b.conjugate());
    Complex { re: product.re * scale, im: product.im * scale }
}

/// The number of points in a partial sum.
const BLOCK: usize = 32;
