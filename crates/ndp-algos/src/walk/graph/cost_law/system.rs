//! Costs on a grid: the renewal equation in time and cost, and a bound on the probability that the cost
//! exceeds a limit.
//!
//! With `x` for time and `z` for cost, the mean of `z^cost` over paths of `T` steps is the coefficient of
//! `x^T` in
//!
//! ```text
//! F(x, z) (1 − I(x, z))^{−1} G(x, z) + U(x, z)
//! ```
//!
//! where `F` is the first interval, `I` the matrix of the intervals between sightings by two members, `G` the
//! end of the walk after the last sighting, and `U` the paths without a sighting.

use super::intervals::{ByCount, Intervals};
use super::passages::Side;
use ndp_numeric::casts::id;
use ndp_numeric::rounding::{Interval, up};
use ndp_numeric::stop::work;

/// A grid of steps of size `numerator/denominator`, on which costs lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

impl Grid {
    /// The grid of steps `2^exponent`.
    pub(super) fn dyadic(exponent: i32) -> Self {
        let power = 1u64 << exponent.unsigned_abs().min(62);
        if exponent < 0 {
            Self { numerator: 1, denominator: power }
        } else {
            Self { numerator: power, denominator: 1 }
        }
    }

    /// The grid of steps of this size, a power of two.
    pub(super) fn of_step(step: f64) -> Self {
        let (mut exponent, mut power) = (0, 1.0);
        while power < step {
            (exponent, power) = (exponent + 1, 2.0 * power);
        }
        while power > step && exponent > -62 {
            (exponent, power) = (exponent - 1, 0.5 * power);
        }
        Self::dyadic(exponent)
    }

    /// The grid whose steps are `times` times smaller.
    pub(super) fn finer(self, times: u64) -> Self {
        if self.numerator.is_multiple_of(times) {
            Self { numerator: self.numerator / times, ..self }
        } else {
            Self { denominator: self.denominator * times, ..self }
        }
    }

    /// The cost of a cell, to the nearest float.
    pub(super) fn cost(self, cell: usize) -> f64 {
        cell as f64 * self.numerator as f64 / self.denominator as f64
    }

    /// The cell of a charge, and the shares of the charge in this cell and in the next one.
    pub(super) fn place(self, charge: Charge, rounding: Rounding) -> (usize, [f64; 2]) {
        let size = u128::from(charge.numerator) * u128::from(self.denominator);
        let step = u128::from(charge.denominator) * u128::from(self.numerator);
        let (cell, left) = (size / step, size % step);
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        if cell >= LAST_CELL {
            return (LAST_CELL, [1.0, 0.0]);
        }
        match rounding {
            Rounding::To(Side::Upper) => (cell + usize::from(left > 0), [1.0, 0.0]),
            Rounding::To(Side::Lower) => (cell, [1.0, 0.0]),
            Rounding::Spread => (cell, [(step - left) as f64 / step as f64, left as f64 / step as f64]),
        }
    }
}

/// A charge as a quotient of integers, the second of which is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

impl Charge {
    pub(super) const FREE: Self = Self { numerator: 0, denominator: 1 };

    /// `count²/slots`; free of charge if there is no slot.
    pub(super) fn of_count(count: usize, slots: usize) -> Self {
        if slots == 0 {
            return Self::FREE;
        }
        Self { numerator: (count as u64).saturating_pow(2), denominator: slots as u64 }
    }
}

/// What happens to a charge between two points of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// It is rounded to this side.
    To(Side),
    /// It is put at either point at random, so that its mean stays the same.
    Spread,
}

impl Rounding {
    /// A factor that covers the roundings of the product of a mass and its share, three each.
    fn raised(self) -> f64 {
        if self == Self::Spread { 1.0 + 4.0 * f64::EPSILON } else { 1.0 }
    }

    fn is_down(self) -> bool {
        self == Self::To(Side::Lower)
    }
}

/// For each time, the cells of the charges and their probabilities.
#[derive(Clone, Debug, Default)]
pub(super) struct Charges {
    /// Where the entries of each time begin, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) cells: Vec<u32>,
    pub(super) masses: Vec<f64>,
    /// `E (x − a)(b − x)` of a charge `x` that was spread over `a` and `b`, in squares of the step.
    variance: f64,
}

impl Charges {
    /// Charges each entry of `laws` in an interval of length `t`. Probabilities that are too small to matter
    /// are left out and added to `dropped`.
    fn new(
        laws: &ByCount,
        charge: impl Fn(usize, usize) -> Charge,
        grid: Grid,
        rounding: Rounding,
        least: f64,
        dropped: &mut f64,
    ) -> Self {
        let steps = laws.first().map_or(0, Vec::len);
        let mut charges = Self { starts: vec![0], ..Self::default() };
        let mut at_time: Vec<(u32, f64)> = Vec::new();
        for t in 0..steps {
            at_time.clear();
            for (index, law) in laws.iter().enumerate() {
                let mass = law[t];
                if mass <= least {
                    *dropped += mass;
                    continue;
                }
                let (cell, [own, next]) = grid.place(charge(index, t), rounding);
                at_time.push((id(cell), mass * own * rounding.raised()));
                if next > 0.0 {
                    at_time.push((id(cell + 1), mass * next * rounding.raised()));
                    charges.variance += mass * next * own;
                }
            }
            at_time.sort_by_key(|&(cell, _)| cell);
            for group in at_time.chunk_by(|a, b| a.0 == b.0) {
                let sum: f64 = group.iter().map(|&(_, mass)| mass).sum();
                let error = (group.len() - 1) as f64 * f64::EPSILON;
                charges.cells.push(group[0].0);
                charges.masses.push(sum * if rounding.is_down() { 1.0 - error } else { 1.0 + error });
            }
            charges.starts.push(charges.cells.len());
        }
        charges
    }

    /// Whether all entries are free of charge.
    pub(super) fn is_free(&self) -> bool {
        self.cells.iter().all(|&cell| cell == 0)
    }

    /// For each time the sum of the masses times the weights of their cells, rounded up. The last weight is
    /// that of all larger cells.
    fn weighed(&self, weights: &[f64]) -> Vec<f64> {
        let weigh = |cell: u32| weights[(cell as usize).min(weights.len() - 1)];
        let at_time = |pair: &[usize]| {
            let entries = pair[0]..pair[1];
            let terms = self.masses[entries.clone()].iter().zip(&self.cells[entries]);
            sum_up(terms.map(|(&mass, &cell)| (mass, weigh(cell))))
        };
        self.starts.windows(2).map(at_time).collect()
    }

    fn last_cell(&self) -> usize {
        self.cells.iter().copied().max().unwrap_or(0) as usize
    }
}

/// The renewal equation on a grid.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) steps: usize,
    /// `between[w][w']`.
    pub(super) between: Vec<Vec<Charges>>,
    pub(super) first: Vec<Charges>,
    pub(super) tail: Vec<Charges>,
    /// The cells and probabilities of paths that nobody saw before the end.
    pub(super) unseen: Vec<(usize, f64)>,
    /// An upper bound on the probability that the equation leaves out.
    pub(super) lost: f64,
    /// An upper bound on `E Σ (x − a)(b − x)` over the charges `x` of a path that were divided between `a`
    /// and `b`, in squares of the step.
    pub(super) variance: f64,
}

impl System {
    /// The approximate work of placing the charges of these intervals on a grid.
    pub(super) fn cost(intervals: &Intervals) -> u64 {
        let series: usize = (intervals.between.iter().flatten())
            .chain(&intervals.first)
            .chain(&intervals.tail)
            .map(Vec::len)
            .sum();
        work([series, intervals.tail[0][0].len(), 20])
    }

    /// The approximate work of [`Self::log_beyond`]: ten times all charges, and four hundred times all series
    /// and steps.
    pub(super) fn cost_beyond(&self) -> u64 {
        let charges: usize = self.charges().map(|charges| charges.cells.len()).sum();
        work([10, charges]).saturating_add(work([400, self.charges().count(), self.steps]))
    }

    /// The equation without entries whose total probability is about `forgotten`.
    pub(super) fn new(intervals: &Intervals, grid: Grid, rounding: Rounding, forgotten: f64) -> Self {
        let mut dropped = 0.0;
        let entries: usize = intervals.between.iter().flatten().chain(&intervals.first).map(Vec::len).sum();
        let steps = intervals.tail[0][0].len() - 1;
        let least = DROPPED.max(forgotten / (intervals.sightings * (entries * (steps + 1)) as f64));
        let own = |index, t| intervals.charging.charge(index, t, true);
        let from_start = |index, t| intervals.charging.charge(index, t, false);
        let between = intervals.between.iter().map(|row| {
            row.iter()
                .map(|laws| Charges::new(laws, own, grid, rounding, least, &mut dropped))
                .collect::<Vec<_>>()
        });
        let between = between.collect::<Vec<_>>();
        let first = intervals
            .first
            .iter()
            .map(|laws| Charges::new(laws, from_start, grid, rounding, least, &mut dropped));
        let first = first.collect::<Vec<_>>();
        let tail =
            intervals.tail.iter().map(|laws| Charges::new(laws, own, grid, rounding, least, &mut dropped));
        let tail = tail.collect::<Vec<_>>();
        let of_unseen = |(count, &mass): (usize, &f64)| {
            let (cell, shares) = grid.place(Charge::of_count(count, steps), rounding);
            [0, 1].map(|next| (cell + next, mass * shares[next] * rounding.raised()))
        };
        let unseen = intervals.unseen.iter().enumerate().flat_map(of_unseen);
        let unseen: Vec<(usize, f64)> = unseen.filter(|&(_, mass)| mass > 0.0).collect();
        // Intervals begin at a sighting or at the start. A path has one end, whose variance is at most a
        // quarter.
        let row = |row: &Vec<Charges>| row.iter().map(|charges| charges.variance).sum::<f64>();
        let varied = between.iter().map(row).fold(0.0, f64::max);
        let of_first: f64 = first.iter().map(|charges| charges.variance).sum();
        let at_end =
            if unseen.is_empty() && tail.iter().all(|tail| tail.variance == 0.0) { 0.0 } else { 0.25 };
        let variance = 1.001 * (intervals.sightings * varied + of_first + at_end);
        // Each interval that was left out begins at a sighting or at the start.
        let lost = intervals.lost + (intervals.sightings + 1.0) * dropped * 1.001 + UNDERFLOWN;
        Self { steps, between, first, tail, unseen, lost, variance }
    }

    /// An upper bound on `ln P(cost ≥ cell)` for a cell above 0: `E r^{−T} ρ^{cost − cell}`, the smallest
    /// over some `r ≤ 1 ≤ ρ`. Charges above `cell` are replaced by `cell`, which does not change the event.
    pub(super) fn log_beyond(&self, cell: usize) -> f64 {
        let largest = self.charges().map(Charges::last_cell).max().unwrap_or(0);
        let largest = self.unseen.iter().map(|&(cell, _)| cell).max().unwrap_or(0).max(largest);
        if largest == 0 {
            return f64::NEG_INFINITY;
        }
        let largest = largest.min(cell);
        let mut is_used = vec![false; largest + 1];
        let charged = self.charges().flat_map(|charges| &charges.cells).map(|&cell| cell as usize);
        for cell in charged.chain(self.unseen.iter().map(|&(cell, _)| cell)) {
            is_used[cell.min(largest)] = true;
        }
        let mut best = (0.0, 1.0);
        let look = |log: f64, best: &mut (f64, f64)| {
            let power = |cell: usize| Interval::new(cell as f64) * Interval::new(log);
            let weight = |(cell, &is_used)| if is_used { power(cell).exp().high() } else { 0.0 };
            let weights: Vec<f64> = is_used.iter().enumerate().map(weight).collect();
            let transform = Interval::new(self.log_transform(&weights, cell as f64 * log));
            let bound = (transform - power(cell)).high();
            if bound < best.0 {
                *best = (bound, log);
            }
        };
        let unit = 1.0 / cell as f64;
        for k in 1..5 {
            look(unit * 4f64.powi(k), &mut best);
        }
        if best.0 < 0.0 {
            let center = best.1;
            for factor in [0.4, 0.63, 1.6, 2.5] {
                look(center * factor, &mut best);
            }
        }
        best.0
    }

    fn charges(&self) -> impl Iterator<Item = &Charges> {
        self.between.iter().flatten().chain(&self.first).chain(&self.tail)
    }

    /// An upper bound on `ln E ρ^cost`, given upper bounds on the powers of `ρ`: `min_r r^{−T} (F (1 −
    /// I)^{−1} G)(r, ρ)`. Every step is rounded up, so that the bound holds at each `r` that is tried.
    fn log_transform(&self, weights: &[f64], scale: f64) -> f64 {
        let at = |charges: &Charges| charges.weighed(weights);
        let between: Vec<Vec<Vec<f64>>> =
            self.between.iter().map(|row| row.iter().map(at).collect()).collect();
        let first: Vec<Vec<f64>> = self.first.iter().map(at).collect();
        let tail: Vec<Vec<f64>> = self.tail.iter().map(at).collect();
        let last = weights.len() - 1;
        let unseen = sum_up(self.unseen.iter().map(|&(cell, mass)| (mass, weights[cell.min(last)])));
        let at = |rate: f64| -> Option<f64> {
            let r = (-rate / self.steps as f64).exp();
            let sum = |law: &Vec<f64>| series_up(law, r);
            let matrix = between.iter().map(|row| row.iter().map(sum).collect()).collect();
            let values = solve(matrix, tail.iter().map(sum).collect())?;
            let mean = sum_up(first.iter().map(sum).zip(values));
            // The power is that of the float r itself.
            let log = Interval::new(mean).ln() - Interval::new(self.steps as f64) * Interval::new(r).ln();
            log.high().is_finite().then_some(log.high())
        };
        // Unless nobody ever sees the token, the bound is convex in the logarithm of r: its minimum is found
        // by dividing the bracket into thirds.
        let never = first.iter().flatten().all(|&p| p == 0.0);
        let (mut low, mut high) = (0.0, f64::min(4.0 * scale + 60.0, LARGEST_RATE));
        let mut best = if never { f64::NEG_INFINITY } else { f64::INFINITY };
        while at(high).is_none() && high < LARGEST_RATE {
            (low, high) = (high, f64::min(4.0 * high, LARGEST_RATE));
        }
        for _ in 0..15 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            let (left, right) = (at(a), at(b));
            for value in [left, right].into_iter().flatten() {
                best = f64::min(best, value);
            }
            if left.is_some_and(|left| right.is_none_or(|right| left < right)) { high = b } else { low = a }
        }
        if unseen > 0.0 && best < f64::INFINITY {
            best = Interval::new(best).log_add_exp(Interval::new(unseen).ln()).high();
        }
        best
    }
}

/// `Σ a b` over pairs of nonnegative numbers, rounded up, where 0 times infinity is 0.
fn sum_up(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut terms) = (0.0, 0.0);
    for (a, b) in pairs.filter(|&(a, b)| a > 0.0 && b > 0.0) {
        sum += a * b;
        terms += 1.0;
    }
    raised(sum, terms)
}

/// `Σ_t series[t] r^t` of nonnegative numbers, `0 ≤ r ≤ 1`, rounded up.
fn series_up(series: &[f64], r: f64) -> f64 {
    let sum = series.iter().rev().fold(0.0, |sum, p| sum * r + p);
    raised(sum, if series.iter().all(|&p| p == 0.0) { 0.0 } else { 2.0 * series.len() as f64 })
}

/// An upper bound on the exact value of `sum`, which was computed by `terms` products and sums of nonnegative
/// numbers, some of which may have underflowed.
fn raised(sum: f64, terms: f64) -> f64 {
    if terms == 0.0 { 0.0 } else { up(sum.max(UNDERFLOWN), terms + 2.0) }
}

/// An upper bound on the solution of `y = values + matrix · y` for nonnegative numbers: the sum, over all
/// paths through the indices, of the products of their entries. `None` if the sum cannot be proven to be
/// finite.
///
/// One index is eliminated after the other: staying there any number of times gives `1/(1 − m_ii)`, which is
/// added to the paths between the others, `m_jk + m_ji m_ik / (1 − m_ii)`. This grows with each entry, and
/// every step is rounded up.
pub(super) fn solve(matrix: Vec<Vec<f64>>, values: Vec<f64>) -> Option<Vec<f64>> {
    let (mut matrix, mut values) = (matrix, values);
    let n = values.len();
    let through = |from: f64, leaves: f64, to: f64| {
        let share = Interval::new(from) / Interval::new(leaves) * Interval::new(to);
        if from == 0.0 || to == 0.0 { Interval::ZERO } else { share }
    };
    let mut leaving = Vec::with_capacity(n);
    for i in 0..n {
        let leaves = (Interval::ONE - Interval::new(matrix[i][i])).low();
        if leaves <= 1e-13 {
            return None;
        }
        leaving.push(leaves);
        let (above, below) = matrix.split_at_mut(i + 1);
        for (j, row) in (i + 1..).zip(below) {
            let from = row[i];
            for (entry, &to) in row.iter_mut().zip(&above[i]).skip(i + 1) {
                *entry = (Interval::new(*entry) + through(from, leaves, to)).high();
            }
            values[j] = (Interval::new(values[j]) + through(from, leaves, values[i])).high();
        }
    }
    for i in (0..n).rev() {
        let known = (i + 1..n).fold(Interval::ZERO, |sum, j| sum + through(matrix[i][j], 1.0, values[j]));
        values[i] = through(1.0, leaving[i], (Interval::new(values[i]) + known).high()).high();
    }
    values.iter().all(|value| value.is_finite()).then_some(values)
}

/// Smaller radii are not tried: `r^T = e^{−500}`.
const LARGEST_RATE: f64 = 500.0;
/// Far above what underflow can take away, at most `2^{−1074}` at a time: less than 1e-313 from a sum of up
/// to 2^32 terms, and less than 1e-283 from a law (`docs/theory.md`, the law of a walk's cost).
const UNDERFLOWN: f64 = 1e-280;
/// Probabilities up to this are left out of the sums.
const DROPPED: f64 = 1e-24;
/// Larger cells are replaced by this one.
const LAST_CELL: usize = 1 << 31;
