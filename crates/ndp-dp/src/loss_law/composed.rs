//! The composition of laws on a grid: tilted, by one Fourier transform per part, with a bound on the error of
//! the transforms.
//!
//! With `a_j = p_j e^{θjh}/M` for each part, `a*` the convolution of all parts, a part that occurs `T` times
//! counting `T` times, and `J` the sum of the indices, the profile of the composition is
//!
//! `δ(ε) = p_∞ + Π M^T Σ_{Jh > ε} a*_J e^{−θJh} (1 − e^{ε−Jh})`,
//!
//! `ε` being counted from the sum of the offsets. A tilt `θ` near the minimiser of `Σ T ln M(θ) − θε` keeps
//! the relative accuracy of a small `δ`: an error of `a*` enters multiplied by at most `Π M^T e^{−θε}`, the
//! Chernoff bound.
//!
//! *Window.* Indices are taken modulo `N`. In the end the bins stand for `N` consecutive indices, the window,
//! the lowest of which is at most `ε/h`. Masses from outside are folded into bins of the window, so that a
//! bin is never below its true mass. The upper law has to add only the mass that may lie above the window.
//! The lower law subtracts Chernoff's bound on both tails of `a*`.
//!
//! *Error of `a*`.* For spectra `|z|, |ẑ| ≤ B` of the parts, `|Π ẑ^T − Π z^T| ≤ Π max(B, 1)^T Σ T |ẑ −
//! z|`, and so in the 2-norm over all frequencies, where `‖ẑ − z‖ ≤ ρ √N ‖a‖` with the error `ρ` of the
//! transform. Powers by repeated squaring add a relative error of `(1 + 3u)^{ΣT} − 1`, and the inverse
//! transform one of `ρ`. Negative results are set to 0, which is closer to the truth. By the
//! Cauchy–Schwarz inequality the sum above then errs by at most the 2-norm of the error times that of the
//! weights `e^{−θJh} (1 − e^{ε−Jh})`, whose square is at most `e^{−2θε} min(N, 1 + 1/(2hθ(2θ + 1)(θ +
//! 1)))`: the weights rise once and then fall, so that the sum of their squares is at most the largest
//! square plus the integral of the squares, divided by `h`.

use super::grid_law::{End, Sweep};
use super::tilted::{Part, Tilted};
use ndp_numeric::fourier::{Complex, NOTHING, Transform};
use ndp_numeric::rounding::{Interval, count_up};
use rayon::prelude::*;

/// How to compose: the tilt, the window, and the tilts of the Chernoff bounds on the mass outside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) tilt: f64,
    /// The lowest index. The window has as many indices as the transform has points.
    pub(super) first: i64,
    /// `J₀`, an index near the losses that matter.
    pub(super) reference: i64,
    /// The amount added to the tilt for the bound on the upper tail, and the amount subtracted from it for
    /// the bound on the lower tail.
    pub(super) aside: (f64, f64),
}

/// One composed law on a window: its profile is `infinite + scale · (relative masses, noise, above)`.
#[derive(Clone, Debug)]
pub(super) struct Composed {
    end: End,
    step: f64,
    tilt: f64,
    first: i64,
    /// `J₀`.
    reference: i64,
    /// The largest index that can have mass.
    largest: i64,
    /// The sum of the offsets.
    offset: Interval,
    /// `a*_J e^{−θ(J−J₀)h}`.
    masses: Vec<f64>,
    infinite: f64,
    /// `Π M^T e^{−θJ₀h}`.
    scale: Interval,
    /// The relative error of all masses.
    relative: f64,
    /// A bound on the error of the sum at `ε = J₀h`; it falls as `e^{−θε}`.
    noise: f64,
    /// A bound on the mass above the window, which the sum lacks at every `ε`.
    above: f64,
}

/// The upper and the lower law of a composition.
pub(super) fn compose(
    parts: &[Part],
    step: f64,
    window: Window,
    transform: &Transform,
) -> (Composed, Composed) {
    let Window { tilt, first, reference, aside } = window;
    let size = transform.size();
    let tilted: Vec<Tilted> = parts.iter().map(|&part| Tilted::new(part, tilt, size)).collect();
    let log_moment: Interval = tilted.iter().map(|part| part.log_moment).sum();
    let log_error: f64 = tilted.iter().map(|part| part.log_error).sum();
    let (bins, error) = convolve(tilted, transform);
    let length = i64::try_from(size).unwrap_or(i64::MAX);
    let last = first + length;
    let at = |index: i64| Interval::new(index as f64) * Interval::new(step);
    let side = |end: End| {
        let tail = |other: f64, index: i64| {
            let moments: Interval =
                parts.iter().map(|part| Interval::new(part.log_moment_up(end, other))).sum();
            let by = Interval::new(other) - Interval::new(tilt);
            (moments - log_moment - by * at(index)).exp().high()
        };
        // No mass lies beyond the sums of the outermost indices.
        let (lowest, largest) = extremes(parts, end);
        let high = if largest < last { 0.0 } else { tail(tilt + aside.0, last) };
        let low = if lowest >= first { 0.0 } else { tail(tilt - aside.1, first - 1) };
        let masses = bins_in_order(&bins, first).map(|(index, z)| {
            let a = if end == End::Upper { z.re } else { z.im };
            if a > 0.0 { a * libm::exp(tilt * ((reference - index) as f64 * step)) } else { 0.0 }
        });
        let noise = error * weight_norm(tilt, step, size);
        Composed {
            end,
            step,
            tilt,
            first,
            reference,
            largest,
            offset: parts.iter().map(|part| part.offset(end)).sum(),
            masses: masses.collect(),
            infinite: infinite(parts, end),
            scale: (log_moment - Interval::new(tilt) * at(reference)).exp(),
            relative: libm::expm1(log_error) + (8.0 + tilt * step * size as f64) * 2.0 * f64::EPSILON,
            noise: if end == End::Upper { noise } else { (noise + high + low) * SLACK },
            above: if end == End::Upper {
                high * libm::exp(-tilt * ((last - reference) as f64 * step))
            } else {
                0.0
            },
        }
    };
    rayon::join(|| side(End::Upper), || side(End::Lower))
}

/// The sums of the lowest and of the highest indices of all parts; they saturate at the ends of `i64`.
pub(super) fn extremes(parts: &[Part], end: End) -> (i64, i64) {
    let (mut lowest, mut largest) = (0_i64, 0_i64);
    for part in parts {
        let count = i64::try_from(part.count).unwrap_or(i64::MAX);
        let (first, last) = part.law(end).range();
        lowest = lowest.saturating_add(first.saturating_mul(count));
        largest = largest.saturating_add(last.saturating_mul(count));
    }
    (lowest, largest)
}

/// The bins in the order of the indices they stand for, from `first` on.
fn bins_in_order(bins: &[Complex], first: i64) -> impl Iterator<Item = (i64, Complex)> + '_ {
    let start = usize::try_from(first.rem_euclid(i64::try_from(bins.len()).unwrap_or(1))).unwrap_or(0);
    let (before, from) = bins.split_at(start.min(bins.len()));
    (first..).zip(from.iter().chain(before).copied())
}

/// `a*` of the upper laws as real parts and of the lower laws as imaginary parts, and a bound on the 2-norm
/// of their error.
fn convolve(parts: Vec<Tilted>, transform: &Transform) -> (Vec<Complex>, f64) {
    let size = transform.size();
    let spectrum = size / 2 + 1;
    let mut products = vec![(Complex::ONE, Complex::ONE); spectrum];
    let (mut inward, mut log_growth, mut products_made) = (0.0, 0.0, 0.0);
    let rounding = transform.error();
    for Tilted { mut bins, count, .. } in parts {
        let times = count_up(count);
        let norm = bins.iter().map(|z| z.square_norm()).sum::<f64>().sqrt();
        let largest = f64::max(bins.iter().map(|z| z.re).sum(), bins.iter().map(|z| z.im).sum());
        // The sums and differences that separate the two spectra are rounded once more.
        let error = (rounding + 4.0 * f64::EPSILON) * norm * SLACK;
        inward += times * error;
        log_growth += times * libm::log1p((largest * SLACK - 1.0).max(0.0) + error * (size as f64).sqrt());
        products_made += times + 1.0;
        transform.run(&mut bins);
        products.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(k, (upper, lower))| {
            let (z, mirror) = (bins[k], bins[(size - k) % size].conjugate());
            let (sum, difference) = (z.plus(mirror), z.minus(mirror));
            let u = Complex { re: 0.5 * sum.re, im: 0.5 * sum.im };
            let v = Complex { re: 0.5 * difference.im, im: -0.5 * difference.re };
            *upper = upper.times(u.power(count));
            *lower = lower.times(v.power(count));
        });
    }
    let mut bins = vec![Complex::ZERO; size];
    for (k, (upper, lower)) in products.into_iter().enumerate() {
        // The spectra of real sequences: the value at −k is the conjugate of that at k.
        bins[(size - k) % size] = Complex { re: upper.re + lower.im, im: lower.re - upper.im };
        bins[k] = Complex { re: upper.re - lower.im, im: upper.im + lower.re };
    }
    let norm = (bins.iter().map(|z| z.square_norm()).sum::<f64>() / size as f64).sqrt();
    transform.invert(&mut bins);
    let powers = libm::expm1(1.5 * f64::EPSILON * products_made);
    let growth = libm::exp(log_growth);
    let error = inward * growth
        + (powers + rounding + 4.0 * f64::EPSILON) * norm
        + 2.0 * products_made * NOTHING * growth;
    (bins, error * SLACK)
}

/// `√min(N, 1 + 1/(2hθ(2θ + 1)(θ + 1)))`, rounded up.
fn weight_norm(tilt: f64, step: f64, size: usize) -> f64 {
    let integral = 1.0 / (2.0 * step * tilt * (2.0 * tilt + 1.0) * (tilt + 1.0));
    (1.0 + integral).min(size as f64).sqrt() * SLACK
}

/// `Π (S + p)^T − Π S^T` for the finite masses `S` and the masses at infinity `p`: the probability that the
/// loss of at least one part is infinite.
fn infinite(parts: &[Part], end: End) -> f64 {
    let (mut all, mut share) = (Interval::ZERO, Interval::ZERO);
    for part in parts {
        let law = part.law(end);
        let error = 4.0 * f64::EPSILON * (2.0 + law.masses.len() as f64);
        let sum = law.finite_mass();
        let sum = Interval::between(sum * (1.0 - error), sum * (1.0 + error));
        let times = Interval::count(part.count);
        let ratio = Interval::new(law.infinite) / sum;
        all = all + times * sum.ln();
        share = share + times * ratio.ln_1p();
    }
    // If S = 0, all of the mass is at infinity.
    let lost = all.exp() * share.expm1();
    let (low, high) = (lost.low().clamp(0.0, 1.0), lost.high().clamp(0.0, 1.0));
    if end == End::Upper { high } else { low }
}

/// The profile `F` and the weight `W` of a composed law at a grid point, see [`Sweep`].
#[derive(Clone, Copy, Debug)]
struct Line {
    index: i64,
    profile: f64,
    weight: f64,
    error: f64,
}

impl Composed {
    /// The mass at infinity.
    pub(super) const fn infinite(&self) -> f64 {
        self.infinite
    }

    /// The upper or lower end of `δ` at `epsilon`; below the window the trivial one.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        self.deltas(&[epsilon]).first().copied().unwrap_or(1.0)
    }

    /// [`Self::delta`] at many numbers, by one sweep.
    pub(super) fn deltas(&self, epsilons: &[f64]) -> Vec<f64> {
        let last = self.first + i64::try_from(self.masses.len()).unwrap_or(0);
        let from = |epsilon: f64| {
            let index = (self.past_offset(epsilon) / self.step).ceil();
            if index.abs() < 1e15 { (whole(index) - 1).clamp(self.first, last) } else { last }
        };
        let mut asked: Vec<(i64, usize)> = epsilons.iter().map(|&epsilon| from(epsilon)).zip(0..).collect();
        asked.sort_unstable_by(|a, b| b.cmp(a));
        let mut asked = asked.into_iter().peekable();
        let mut deltas: Vec<f64> = epsilons.iter().map(|&epsilon| self.delta_of(&[], epsilon)).collect();
        // The lines of the last three points: those around the ε asked for.
        let mut lines = Vec::<Line>::with_capacity(3);
        self.sweep(|line| {
            if lines.len() == 3 {
                lines.remove(0);
            }
            lines.push(line);
            while let Some((_, k)) = asked.next_if(|&(from, _)| line.index <= from) {
                deltas[k] = self.delta_of(&lines, epsilons[k]);
            }
            asked.peek().is_some()
        });
        deltas
    }

    /// The upper or lower end of the smallest `ε ≥ 0` with `δ(ε) ≤ delta`; `None` if the window does not
    /// reach up to it.
    pub(super) fn epsilon(&self, delta: f64) -> Option<f64> {
        let scale = self.scale.high();
        let beyond = (self.reference - self.first) as f64 - self.masses.len() as f64;
        let mut noise = self.noise * libm::exp(self.tilt * beyond * self.step);
        let growth = libm::exp(self.tilt * self.step);
        let sign = if self.end == End::Upper { 1.0 } else { -1.0 };
        // Goes left until δ roughly passes the target, and two points further. The points around that place
        // are kept.
        let (mut lines, mut more) = (Vec::<Line>::new(), 3);
        let zero = self.past_offset(0.0) / self.step;
        self.sweep(|line| {
            noise *= growth;
            let value = self.infinite + scale * (line.profile + self.above + sign * noise);
            if value > delta || (line.index as f64) < zero {
                more -= 1;
            } else if lines.len() > 3 {
                lines.remove(0);
            }
            lines.push(line);
            more > 0
        });
        let (top, bottom) = (lines.first()?, lines.last()?);
        let at = |line: &Line| (line.index as f64 * self.step + self.offset.high()).max(0.0);
        let (low, high) = (at(bottom), at(top));
        match self.end {
            End::Upper => {
                crate::search::smallest(low, high, |epsilon| self.delta_of(&lines, epsilon) <= delta)
            }
            End::Lower => {
                // The noise grows to the left, so the search starts at the rightmost point that is seen to be
                // below the answer.
                let seen = lines.iter().map(at).find(|&epsilon| self.delta_of(&lines, epsilon) > delta);
                let found = seen.and_then(|low| {
                    crate::search::largest(low, high, |epsilon| self.delta_of(&lines, epsilon) > delta)
                });
                Some(found.unwrap_or(0.0))
            }
        }
    }

    /// The end of `δ` at `epsilon` from the lines of the points around it. The leftmost point is to the left
    /// of `epsilon`, unless it is the first of the window.
    fn delta_of(&self, lines: &[Line], epsilon: f64) -> f64 {
        let at = Interval::new(epsilon) - self.offset;
        let at = Interval::new(if self.end == End::Upper { at.low() } else { at.high() });
        let grid = |index: i64| Interval::new(index as f64) * Interval::new(self.step);
        if self.end == End::Upper && at.low() < grid(self.first).high() {
            return 1.0;
        }
        if at.low() >= grid(self.largest).high() {
            return self.infinite;
        }
        // A convex polygon is the maximum of its lines, and each of them is a lower bound.
        let mut sum = 0.0_f64;
        for line in lines {
            let rise = -(at - grid(line.index)).expm1() * Interval::new(line.weight);
            let value = Interval::new(line.profile) + rise;
            // The rounding error of the two summands: to the right of the point they may cancel.
            let error = line.error * (line.profile + rise.low().abs().max(rise.high().abs()));
            sum = sum.max(if self.end == End::Upper { value.high() + error } else { value.low() - error });
        }
        let fall = (-(Interval::new(self.tilt) * (at - grid(self.reference)))).exp();
        let infinite = Interval::new(self.infinite);
        let noise = Interval::new(self.noise) * fall;
        match self.end {
            End::Upper => {
                let sum = (Interval::new(sum) + noise) * Interval::new(1.0 + self.relative)
                    + Interval::new(self.above * SLACK);
                let delta = infinite + self.scale * sum;
                if delta.high() >= 0.0 { delta.high().min(1.0) } else { 1.0 }
            }
            End::Lower => {
                let sum = Interval::new(sum) * Interval::new(1.0 - self.relative)
                    - noise * Interval::new(1.0 + self.relative);
                let delta = infinite + self.scale * Interval::new(sum.low().max(0.0));
                if delta.low().is_finite() { delta.low().clamp(0.0, 1.0) } else { 0.0 }
            }
        }
    }

    /// Visits the lines of all points of the window from the right, until `visit` returns false.
    fn sweep(&self, mut visit: impl FnMut(Line) -> bool) {
        let mut sweep = Sweep::new(self.step, 0.0);
        let last = self.first + i64::try_from(self.masses.len()).unwrap_or(0);
        for (index, &mass) in (self.first..last).rev().zip(self.masses.iter().rev()) {
            sweep.move_to(index);
            sweep.add(mass);
            let line = Line { index, profile: sweep.profile(), weight: sweep.weight(), error: sweep.error() };
            if !visit(line) {
                return;
            }
        }
    }

    /// `ε` minus the offset, rounded to nearest.
    fn past_offset(&self, epsilon: f64) -> f64 {
        epsilon - 0.5 * (self.offset.low() + self.offset.high())
    }
}

/// A float that is an integer below 10¹⁵, as an integer.
#[expect(clippy::cast_possible_truncation, reason = "the size was checked")]
const fn whole(index: f64) -> i64 {
    index as i64
}

/// Covers the rounding of sums of at most 2^22 terms and of a dozen operations on them.
const SLACK: f64 = 1.0 + 2e-9;
/// The fewest frequencies that a thread takes at once.
const CHUNK: usize = 4096;

#[cfg(test)]
mod tests;
