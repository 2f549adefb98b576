//! Both ends of `δ(ε)` and of `ε(δ)` of one direction of a composition.

use super::composed::{Composed, compose, extremes};
use super::enclosing::Enclosing;
use super::grid_law::End;
use super::pair::Pair;
use super::plan::{Aim, Chain, Outline, Question, reach};
use super::tilted::Part;
use crate::search;
use ndp_numeric::fourier::{LARGEST, Transform};
use ndp_numeric::rounding::Interval;

/// A lower and an upper end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ends {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Ends {
    /// The ends for a composition without releases.
    pub(super) const NOTHING: Self = Self { lower: 0.0, upper: 0.0 };

    /// The ends of the larger of two numbers.
    pub(super) const fn max(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }
}

/// How fine the grid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fineness {
    /// As fine as it takes for the two ends to differ by at most this times `min(1, ε)`, as far as memory
    /// allows.
    Width(f64),
    /// A grid of exactly this step.
    Step(f64),
}

impl Fineness {
    /// The finer one of two; a given step takes precedence over a width.
    pub(super) fn finer(self, other: Self) -> Self {
        match (self, other) {
            (Self::Width(a), Self::Width(b)) => Self::Width(a.min(b)),
            (Self::Step(a), Self::Step(b)) => Self::Step(a.min(b)),
            (Self::Step(_), Self::Width(_)) => self,
            (Self::Width(_), Self::Step(_)) => other,
        }
    }
}

/// Both ends of `δ` at `epsilon`.
pub(super) fn delta(chain: &Chain, epsilon: f64, fineness: Fineness) -> Ends {
    if let Some(pair) = single(chain) {
        let delta = pair.at(Interval::new(epsilon)).delta;
        return Ends { lower: delta.low(), upper: delta.high() };
    }
    if chain.is_empty() {
        return Ends::NOTHING;
    }
    let outline = Outline::new(chain);
    let aim = outline.aim(Question::Epsilon(epsilon));
    let ask =
        |laws: &(Composed, Composed)| Ends { lower: laws.1.delta(epsilon), upper: laws.0.delta(epsilon) };
    // Converts the distance of the two ends of δ to one in ε.
    let width = |ends: Ends| {
        if ends.lower > 0.0 { libm::log(ends.upper / ends.lower) / (1.0 + aim.tilt) } else { f64::INFINITY }
    };
    refine(chain, &outline, aim, epsilon, fineness, ask, width)
}

/// Both ends of the smallest `ε ≥ 0` with `δ(ε) ≤ delta`.
pub(super) fn epsilon(chain: &Chain, delta: f64, fineness: Fineness) -> Ends {
    if let Some(pair) = single(chain) {
        let at = |epsilon: f64| pair.at(Interval::new(epsilon)).delta;
        let upper = search::smallest(0.0, f64::MAX, |epsilon| at(epsilon).high() <= delta);
        let lower = search::largest(0.0, f64::MAX, |epsilon| at(epsilon).low() > delta);
        let lower = lower.map_or(0.0, |lower| if lower == f64::MAX { f64::INFINITY } else { lower });
        return Ends { lower, upper: upper.unwrap_or(f64::INFINITY) };
    }
    if chain.is_empty() {
        return Ends::NOTHING;
    }
    let outline = Outline::new(chain);
    let aim = outline.aim(Question::Delta(delta));
    let ask = |laws: &(Composed, Composed)| Ends {
        lower: if laws.1.infinite() > delta { f64::INFINITY } else { laws.1.epsilon(delta).unwrap_or(0.0) },
        upper: laws.0.epsilon(delta).unwrap_or(f64::INFINITY),
    };
    refine(chain, &outline, aim, aim.epsilon.max(0.0), fineness, ask, |ends| ends.upper - ends.lower)
}

/// Both ends of `δ` at many `ε` of any size, on grids for a large, a small and a very small `δ`.
pub(super) fn profile(chain: &Chain, epsilons: &[f64], fineness: Fineness) -> Vec<Ends> {
    if let Some(pair) = single(chain) {
        let at = |&epsilon: &f64| pair.at(Interval::new(epsilon)).delta;
        return epsilons
            .iter()
            .map(at)
            .map(|delta| Ends { lower: delta.low(), upper: delta.high() })
            .collect();
    }
    if chain.is_empty() {
        return vec![Ends::NOTHING; epsilons.len()];
    }
    let outline = Outline::new(chain);
    let mut best = vec![Ends { lower: 0.0, upper: 1.0 }; epsilons.len()];
    for delta in PROFILE {
        let aim = outline.aim(Question::Delta(delta));
        let near = aim.epsilon;
        let grid =
            Grid::new(chain, &outline, &aim, near, matches!(fineness, Fineness::Step(_)), delta * NEGLIGIBLE);
        let step = match fineness {
            Fineness::Step(step) => step,
            Fineness::Width(width) => grid.first_step(0.4 * width * near.clamp(1e-9, 1.0)),
        };
        let (upper, lower) = grid.compose(step);
        for (best, (upper, lower)) in
            best.iter_mut().zip(upper.deltas(epsilons).into_iter().zip(lower.deltas(epsilons)))
        {
            *best = Ends { lower: best.lower.max(lower), upper: best.upper.min(upper) };
        }
    }
    best
}

/// Roughly where the profile ends: the `ε` at the smallest `δ` of [`PROFILE`]. It only decides where points
/// are placed.
pub(super) fn far(chain: &Chain) -> f64 {
    if chain.is_empty() {
        return 0.0;
    }
    Outline::new(chain).aim(Question::Delta(PROFILE[2])).epsilon
}

/// The points, from 0 on, at which profiles are evaluated: a grid, and the kinks of the profile if a chain is
/// a single pair.
pub(super) fn kinks(chains: &[Vec<(std::sync::Arc<dyn Pair>, u64)>], farthest: f64) -> Vec<f64> {
    let step = farthest / f64::from(CURVE);
    let mut kinks: Vec<f64> = vec![0.0];
    for pair in chains.iter().filter_map(|chain| single(chain)) {
        let atoms = pair.atoms().filter(|atoms| atoms.len() <= 1000).unwrap_or_default();
        kinks.extend(atoms.iter().map(|atom| atom.loss.low().abs()).chain(pair.top()));
    }
    kinks.retain(|&kink| kink == 0.0 || (0.1 * step..=farthest).contains(&kink));
    kinks.sort_unstable_by(f64::total_cmp);
    // The slope between two points that are too close would be inaccurate.
    kinks.dedup_by(|next, kept| *next - *kept < 0.1 * step);
    let beside = |point: f64| {
        let next = kinks.partition_point(|&kink| kink < point - 0.1 * step);
        kinks.get(next).is_some_and(|&kink| kink < point + 0.1 * step)
    };
    let grid = (1..=CURVE).map(|k| step * f64::from(k)).filter(|&point| !beside(point));
    let mut points: Vec<f64> = grid.chain(kinks.iter().copied()).collect();
    points.sort_unstable_by(f64::total_cmp);
    points
}

/// The mass at infinity of a composition.
pub(super) fn infinite(chain: &Chain) -> Interval {
    let kept = |(pair, count): &(_, u64)| {
        let pair: &std::sync::Arc<dyn Pair> = pair;
        Interval::count(*count) * (-super::pair::unit(pair.infinite())).ln_1p()
    };
    super::pair::unit(-chain.iter().map(kept).sum::<Interval>().expm1())
}

/// The pair of a chain that is a single release.
fn single(chain: &Chain) -> Option<&dyn Pair> {
    if let [(pair, 1)] = chain { Some(&**pair) } else { None }
}

/// Asks on finer and finer grids until the answer is as narrow as wanted, or until a finer grid is impossible
/// or would not help.
fn refine(
    chain: &Chain,
    outline: &Outline,
    aim: Aim,
    near: f64,
    fineness: Fineness,
    ask: impl Fn(&(Composed, Composed)) -> Ends,
    width: impl Fn(Ends) -> f64,
) -> Ends {
    let mut aim = aim;
    aim.range.0 = aim.range.0.min(near);
    aim.range.1 = aim.range.1.max(near.min(outline.highest()));
    let negligible = libm::exp(aim.log_delta.max(-600.0)) * NEGLIGIBLE;
    let grid = Grid::new(chain, outline, &aim, near, matches!(fineness, Fineness::Step(_)), negligible);
    let wanted = match fineness {
        Fineness::Step(step) => return ask(&grid.compose(step)),
        Fineness::Width(width) => width * near.clamp(1e-9, 1.0),
    };
    let mut step = grid.first_step(0.4 * wanted);
    let mut best = Ends { lower: 0.0, upper: f64::INFINITY };
    let (mut before, known) = (f64::INFINITY, chain.iter().all(|(pair, _)| pair.known_from_below()));
    for _ in 0..ATTEMPTS {
        let ends = ask(&grid.compose(step));
        best = Ends { lower: best.lower.max(ends.lower), upper: best.upper.min(ends.upper) };
        let over = width(ends) / wanted;
        // A finer grid is tried only if it can help: the laws have a lower end, some part is not on the grid,
        // and the last refinement brought a gain.
        let may_help = known && grid.smooth > 0.0 && over > 1.0 && over < 0.9 * before;
        if !may_help {
            break;
        }
        before = over;
        // The ends of smooth parts approach each other with the square of the step, those of atoms between
        // grid points with the step.
        let finer = grid.rounded(step * (0.8 / over.sqrt()).clamp(0.1, 0.5));
        if finer >= 0.9 * step {
            break;
        }
        step = finer;
    }
    best
}

/// The grids on which a composition can be computed.
struct Grid<'a> {
    chain: &'a Chain,
    outline: &'a Outline,
    aim: &'a Aim,
    /// The `ε` of the question, or the expected answer.
    near: f64,
    /// Whether all points of the grid are used.
    dense: bool,
    /// For each part, the lowest and the highest loss that matter.
    reach: Vec<(f64, f64)>,
    /// A distance that has to be a multiple of the step, if there are atoms.
    unit: Option<f64>,
    /// The number of releases whose losses are not all on the grid of this unit.
    smooth: f64,
    finest: f64,
}

impl<'a> Grid<'a> {
    fn new(
        chain: &'a Chain,
        outline: &'a Outline,
        aim: &'a Aim,
        near: f64,
        dense: bool,
        negligible: f64,
    ) -> Self {
        let total: f64 = chain.iter().map(|&(_, count)| count as f64).sum();
        let reach: Vec<(f64, f64)> =
            chain.iter().map(|(pair, _)| reach(&**pair, 1e-9 / total, negligible / total)).collect();
        let unit = chain.iter().find_map(|(pair, _)| pair.unit());
        let on_grid = |pair: &dyn Pair| unit.is_some_and(|unit| Enclosing::of_atoms(pair, unit).is_some());
        let smooth = chain.iter().filter(|(pair, _)| !on_grid(&**pair)).map(|&(_, count)| count as f64).sum();
        let longest = reach.iter().map(|reach| reach.1 - reach.0).fold(0.0, f64::max);
        let finest = f64::max(longest / MOST_POINTS, (aim.range.1 - aim.range.0) / (LARGEST as f64 - 8.0));
        Self { chain, outline, aim, near, dense, reach, unit, smooth, finest }
    }

    /// The step `h` at which the two ends should be `width` apart: for `T` smooth releases they are
    /// `T (1 + θ) h²/8` apart.
    fn first_step(&self, width: f64) -> f64 {
        let cost = self.smooth * (1.0 + self.aim.tilt);
        self.rounded(if cost > 0.0 { (8.0 * width / cost).sqrt() } else { f64::INFINITY })
    }

    /// The next smaller step that divides the unit or, without one, uses the full size of a transform.
    fn rounded(&self, step: f64) -> f64 {
        let step = step.max(self.finest);
        match self.unit {
            Some(unit) => {
                let parts = (unit / step).ceil().max(1.0);
                if unit / parts < self.finest { unit / (parts - 1.0).max(1.0) } else { unit / parts }
            }
            None => {
                // The transform is not doubled if a step that is a tenth larger avoids it.
                let range = self.aim.range.1 - self.aim.range.0;
                let size = libm::exp2(libm::log2(0.9 * range / step).ceil().max(1.0));
                step.min(range / (size.min(LARGEST as f64) - 8.0))
            }
        }
    }

    /// The composition on the grid of this step.
    fn compose(&self, step: f64) -> (Composed, Composed) {
        let laws: Vec<Enclosing> = self
            .chain
            .iter()
            .zip(&self.reach)
            .enumerate()
            .map(|(part, ((pair, _), &reach))| {
                Enclosing::of_atoms(&**pair, step).unwrap_or_else(|| {
                    let tilt = (!self.dense).then_some(self.aim.tilt);
                    // Atoms choose their own points.
                    let points = match pair.atoms() {
                        Some(_) if pair.known_from_below() => Vec::new(),
                        _ => self.outline.points(part, tilt, step, reach),
                    };
                    Enclosing::new(&**pair, step, &points)
                })
            })
            .collect();
        let parts: Vec<Part> =
            laws.iter().zip(self.chain).map(|(laws, &(_, count))| Part { laws, count }).collect();
        let offset: f64 = parts.iter().map(|part| part.offset(End::Upper).high()).sum();
        let mut window = self.aim.window(self.near, step, offset);
        let mut last =
            window.first.saturating_add(index(((self.aim.range.1 - self.aim.range.0) / step).ceil()) + 3);
        // If the window should reach the end of the law, it is widened to the end of the laws on the grid,
        // which reach a little further.
        let ends = [End::Upper, End::Lower].map(|end| extremes(&parts, end));
        let (lowest, largest) = (ends[0].0.min(ends[1].0), ends[0].1.max(ends[1].1));
        let widened = (
            if self.aim.range.0 <= self.outline.lowest() { window.first.min(lowest) } else { window.first },
            if self.aim.range.1 >= self.outline.highest() { last.max(largest) } else { last },
        );
        if usize::try_from(widened.1.saturating_sub(widened.0)).is_ok_and(|length| length < LARGEST) {
            (window.first, last) = widened;
        }
        let transform = Transform::new(usize::try_from(last - window.first + 1).unwrap_or(LARGEST));
        compose(&parts, step, window, &transform)
    }
}

/// A float as an index; the cast saturates if it is too large.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
const fn index(x: f64) -> i64 {
    x as i64
}

/// The number of cells of a trade-off curve.
const CURVE: i32 = 2048;
/// The values of `δ` for which the grids of a profile are chosen.
const PROFILE: [f64; 3] = [0.3, 1e-4, 1e-9];
/// The probability that may be left out at the ends of the parts, relative to `δ`.
const NEGLIGIBLE: f64 = 1e-8;
/// The most points at which a part is evaluated.
const MOST_POINTS: f64 = 2_097_152.0;
/// The most grids that are tried.
const ATTEMPTS: usize = 4;
