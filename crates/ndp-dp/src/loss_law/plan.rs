//! The choice of tilt, grid and window for a question about a composition. Nothing here has to be accurate:
//! the choice only decides how tight the answer is, not whether it is valid.

use super::composed::Window;
use super::grid_law::GridLaw;
use super::pair::Pair;
use ndp_numeric::rounding::Interval;
use std::sync::Arc;

/// One direction of a composition: pairs, and how often each occurs.
pub(super) type Chain = [(Arc<dyn Pair>, u64)];

/// The question about a composition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Question {
    /// The `ε` at this `δ`.
    Delta(f64),
    /// The `δ` at this `ε`.
    Epsilon(f64),
}

/// A coarse approximation of a composition: laws on points that are dense near 0 and sparse far out.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    parts: Vec<(GridLaw, f64)>,
    largest_tilt: f64,
    /// The lowest and the highest loss of the composition.
    extremes: (f64, f64),
}

/// The tilt for a question, and the losses that matter at this tilt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aim {
    pub(super) tilt: f64,
    /// The `ε` for which the tilt is best.
    pub(super) epsilon: f64,
    /// An estimate of `ln δ` there.
    pub(super) log_delta: f64,
    /// The lowest and the highest loss that matter.
    pub(super) range: (f64, f64),
    aside: (f64, f64),
}

impl Outline {
    pub(super) fn new(chain: &Chain) -> Self {
        let parts: Vec<(GridLaw, f64)> =
            chain.iter().map(|(pair, count)| (outline(&**pair), *count as f64)).collect();
        let farthest = |law: &GridLaw| {
            let ends = law.masses.first().into_iter().chain(law.masses.last());
            ends.map(|&(index, _)| (index as f64 * law.step).abs()).fold(1e-9, f64::max)
        };
        let farthest = parts.iter().map(|(law, _)| farthest(law)).fold(0.0, f64::max);
        let mut extremes = (0.0, 0.0);
        for (law, count) in &parts {
            let (first, last) = law.range();
            extremes.0 += count * first as f64 * law.step;
            extremes.1 += count * last as f64 * law.step;
        }
        Self { parts, largest_tilt: 0.5 * LARGEST_EXPONENT / farthest, extremes }
    }

    /// The lowest loss of the composition.
    pub(super) const fn lowest(&self) -> f64 {
        self.extremes.0
    }

    /// The highest loss of the composition.
    pub(super) const fn highest(&self) -> f64 {
        self.extremes.1
    }

    /// `ln E e^{θL}` of the composition, and its first two derivatives.
    fn cumulants(&self, tilt: f64) -> [f64; 3] {
        let mut total = [0.0; 3];
        for (law, count) in &self.parts {
            let top = law.masses.last().map_or(0.0, |&(index, _)| index as f64 * law.step);
            let mut sums = [0.0; 3];
            for &(index, mass) in &law.masses {
                let loss = index as f64 * law.step;
                let term = mass * libm::exp(tilt * (loss - top));
                sums[0] += term;
                sums[1] += term * loss;
                sums[2] += term * loss * loss;
            }
            let mean = sums[1] / sums[0];
            total[0] += count * (tilt * top + libm::log(sums[0]));
            total[1] += count * mean;
            total[2] += count * (sums[2] / sums[0] - mean * mean).max(0.0);
        }
        total
    }

    /// The tilt for a question.
    pub(super) fn aim(&self, question: Question) -> Aim {
        // `ln δ` by the saddle point method.
        let log_delta = |tilt: f64| {
            let [log, mean, variance] = self.cumulants(tilt);
            let spread = libm::sqrt(2.0 * std::f64::consts::PI * variance);
            log - tilt * mean - libm::log(1.0 + tilt * spread * (1.0 + tilt))
        };
        // Close to the largest loss a larger tilt gains nothing, but the noise would grow with it.
        let start = self.cumulants(0.0)[1];
        let most = self.extremes.1 - 0.02 * (self.extremes.1 - start);
        let low = |tilt: f64| match question {
            Question::Delta(delta) => self.cumulants(tilt)[1] < most && log_delta(tilt) > libm::log(delta),
            Question::Epsilon(epsilon) => self.cumulants(tilt)[1] < epsilon.min(most),
        };
        let (mut left, mut right) = (1e-9_f64, self.largest_tilt);
        for _ in 0..50 {
            let middle = (left * right).sqrt();
            if low(middle) { left = middle } else { right = middle }
        }
        let tilt = if left == 1e-9 { 0.0 } else { left };
        let [log, mean, variance] = self.cumulants(tilt);
        let edge = |sign: f64| {
            // The loss beyond which the Chernoff bound, at its best tilt, shows that the tail does not
            // matter.
            let limit = 2.0 * self.largest_tilt - sign * tilt;
            let spread = libm::sqrt(variance).max(1e-12);
            let candidates = (-16..=32).map(|k| (libm::exp2(0.25 * f64::from(k)) / spread).min(limit));
            candidates
                .map(|by| (sign * (self.cumulants(tilt + sign * by)[0] - log + TAIL) / by, by))
                .min_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)))
                .unwrap_or((mean, 1.0))
        };
        let (high, low) = (edge(1.0), edge(-1.0));
        Aim {
            tilt,
            epsilon: mean,
            log_delta: log_delta(tilt),
            range: (low.0.min(mean).max(self.extremes.0), high.0.max(mean).min(self.extremes.1)),
            aside: (high.1, low.1),
        }
    }

    /// The points of the grid, between two losses, at which a part is evaluated: all points where the tilted
    /// law is dense, and every second, fourth, ... point where more of them would gain little. Without a
    /// tilt, all points, or every second, third, ... one if there are more than [`MOST_DENSE`].
    ///
    /// At a distance `s` between points, a cell costs `s²` times its tilted mass. For a given number of
    /// points the total cost is smallest if `s³` is inversely proportional to the tilted density. Leaving out
    /// points may add up to half of the cost of the step itself.
    pub(super) fn points(
        &self,
        part: usize,
        tilt: Option<f64>,
        step: f64,
        (low, high): (f64, f64),
    ) -> Vec<i64> {
        let (first, last) = (whole((low / step).floor()) - 1, whole((high / step).ceil()) + 1);
        let Some(tilt) = tilt else {
            let stride = last.saturating_sub(first) / MOST_DENSE + 1;
            let dense = (first..last).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
            return dense.chain([last]).collect();
        };
        let law = self.parts.get(part).map_or(&[][..], |(law, _)| &law.masses);
        let cells: Vec<(f64, f64, f64)> = law
            .windows(2)
            .map(|pair| {
                let (left, right) = (pair[0].0 as f64 * FINEST, pair[1].0 as f64 * FINEST);
                let mass = 0.5 * (pair[0].1 * libm::exp(tilt * left) + pair[1].1 * libm::exp(tilt * right));
                (left, mass, mass / (right - left))
            })
            .collect();
        // A cell next to a dense one counts as dense, since the outline does not show where in it the density
        // begins.
        let densest = |k: usize| {
            let around = &cells[k.saturating_sub(1)..(k + 2).min(cells.len())];
            around.iter().map(|cell| cell.2).fold(0.0, f64::max)
        };
        let cells: Vec<(f64, f64, f64)> =
            cells.iter().enumerate().map(|(k, cell)| (cell.0, cell.1, densest(k))).collect();
        let total: f64 = cells.iter().map(|cell| cell.1).sum();
        let multiple = |density: f64, least: f64| (least / density).cbrt().clamp(1.0, LARGEST_MULTIPLE);
        let cost =
            |least: f64| cells.iter().map(|cell| cell.1 * multiple(cell.2, least).powi(2)).sum::<f64>();
        let (mut fits, mut over) = (1e-30 * total, 1e30 * total);
        for _ in 0..60 {
            let middle = (fits * over).sqrt();
            if cost(middle) <= 1.5 * total { fits = middle } else { over = middle }
        }
        let mut points = Vec::new();
        let (mut index, mut cell) = (first, 0);
        while index < last {
            points.push(index);
            while cells.get(cell + 1).is_some_and(|next| next.0 <= index as f64 * step) {
                cell += 1;
            }
            let aside = cells.get(cell).map_or(1.0, |cell| multiple(cell.2, fits));
            index += whole(libm::exp2(libm::log2(aside).floor())).max(1);
        }
        points.push(last);
        points
    }
}

impl Aim {
    /// The window from the lowest loss on, for a question about an `ε` near `near`, on a grid whose offsets
    /// add up to `offset`.
    pub(super) fn window(&self, near: f64, step: f64, offset: f64) -> Window {
        let first = ((self.range.0 - offset) / step).floor() - 1.0;
        let reference = ((near - offset) / step).round();
        Window { tilt: self.tilt, first: whole(first), reference: whole(reference), aside: self.aside }
    }
}

/// The upper law of a pair on points whose distance from 0 grows by a factor of `2^{1/12}` each.
fn outline(pair: &dyn Pair) -> GridLaw {
    if let Some(atoms) = pair.atoms() {
        let masses = atoms.iter().map(|atom| (whole(atom.loss.low() / FINEST), atom.mass.high()));
        return GridLaw { step: FINEST, masses: masses.collect(), infinite: 0.0 };
    }
    let (left, right) = reach(pair, 1e-18, 1e-18);
    let distances = |farthest: f64| {
        let steps = (12.0 * libm::log2(farthest / FINEST)).ceil();
        (108..).map(f64::from).take_while(move |&k| k <= steps).map(|k| whole(libm::exp2(k / 12.0)))
    };
    let mut indices: Vec<i64> =
        distances(-left).map(|index| -index).chain([0]).chain(distances(right)).collect();
    indices.sort_unstable();
    indices.dedup();
    super::enclosing::upper(pair, FINEST, Interval::ZERO, &indices)
}

/// The losses beyond which almost nothing is left: at the lower one `δ` is within `below` of `1 − x`, and at
/// the upper one within `above` of the mass at infinity. Both are found within a twentieth, rounded away from
/// 0.
pub(super) fn reach(pair: &dyn Pair, below: f64, above: f64) -> (f64, f64) {
    let infinite = pair.infinite().high();
    let left = |distance: f64| {
        let epsilon = Interval::new(-distance);
        (pair.at(epsilon).delta + epsilon.expm1()).high() > below + 4.0 * f64::EPSILON
    };
    let right = |distance: f64| pair.at(Interval::new(distance)).delta.high() > infinite + above;
    (-farthest(left), farthest(right))
}

/// The smallest distance, up to a twentieth, at which a condition has ceased to hold, which must not hold
/// again further out.
fn farthest(goes_on: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (LEAST_REACH, 2.0 * LEAST_REACH);
    while goes_on(high) && high < LARGEST_REACH {
        (low, high) = (high, 2.0 * high);
    }
    while high > 1.05 * low {
        let middle = (low * high).sqrt();
        if goes_on(middle) { low = middle } else { high = middle }
    }
    high
}

/// A float as an index; the cast saturates if it is too large.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
const fn whole(index: f64) -> i64 {
    index as i64
}

/// The step of the grid of outlines.
const FINEST: f64 = 1.0 / (1_u64 << 40) as f64;
/// The smallest distance that is tried.
const LEAST_REACH: f64 = 1e-9;
/// Losses beyond this count as infinite.
pub(super) const LARGEST_REACH: f64 = 4096.0;
/// The most points, about, at which a part is evaluated if all points of a grid are used: they take 134 MB.
const MOST_DENSE: i64 = 1 << 24;
/// The largest distance between the points of a part, in steps.
const LARGEST_MULTIPLE: f64 = 64.0;
/// Minus the logarithm of the largest tail that does not matter.
const TAIL: f64 = 25.0;
/// The largest exponent of the exponentials that are computed.
const LARGEST_EXPONENT: f64 = 600.0;

#[cfg(test)]
mod tests;
