//! Trade-off curves: how well any test can tell two neighboring data sets apart.
//!
//! An observer who wants to know whether a record is in the data tests `Q` (the null hypothesis) against `P`,
//! given the output. A test of level `a` is wrong with probability at most `a` under `Q`. The trade-off
//! function `f(a) = T(Q, P)(a)` is the smallest probability, over all tests of that level, of being wrong
//! under `P`. If `δ` is the profile of `(P, Q)` as a function of `x = e^ε > 0`,
//!
//! `f(a) = sup_{x > 0} (1 − δ(x) − x a)`.
//!
//! *Proof.* For every `x`, a test that rejects with probability `φ` has `E_P φ − x E_Q φ ≤ δ(x)`, so that its
//! error under `P` is at least `1 − δ(x) − x a`; a likelihood ratio test attains it for an `x` that suits its
//! level (Neyman and Pearson). ∎ For `x = 1/z < 1`, with the profile `δ'` of `(Q, P)`: `1 − δ(x) − x a = (1 −
//! δ'(z) − a)/z`.
//!
//! *Lower end.* Every `x` gives a lower bound, and rounding `δ` up makes it smaller; the largest one over a
//! grid is taken. It holds for every mechanism that the pair dominates, since it uses only `δ` at `ε ≥ 0` in
//! the two directions.
//!
//! *Upper end.* `δ` is convex in `x`. Between two neighboring points it is above the line through the two
//! points to the left, and above the line through the two points to the right, where in each pair the nearer
//! value is rounded down and the farther one up. Any mixture of the two lines is below `δ` as well, and gives
//! an upper bound on the supremum over the cell. The function to be maximized is monotone for a mixture, so
//! that the larger value at the two ends of the cell is the bound. For `x < 1` the same holds for `δ'` as a
//! function of `z`.
//!
//! *Both directions.* The lower end is that of the larger one of the two profiles, and holds for either order
//! of the data sets. It is the convex hull of the curves `T(Q, P)` and `T(P, Q)`, which no test need attain.
//! The upper end is therefore the smaller one of the upper ends of these two curves.
//!
//! # References
//! - Dong, Roth and Su, *Gaussian differential privacy*, 2019, arXiv:1905.02383: Definition 2.1 (trade-off
//!   functions), Proposition 2.12 (duality).

use super::answers::{self, Ends};
use super::direction::Direction;
use super::enclosed::Enclosed;
use super::law::LossLaw;
use crate::Error;
use crate::error::ensure;
use ndp_numeric::rounding::Interval;

/// The trade-off curve of a [`LossLaw`](crate::LossLaw), enclosed: the least error of the second kind of any
/// test, by its level. The *lower* end is the guarantee.
///
/// For a law with one [direction](super::Direction) it is `T(Q, P)`, for tests of the second data set against
/// the first. Otherwise it is the smaller one of `T(Q, P)` and `T(P, Q)` at each level: the lower end, which
/// follows from the larger one of the two profiles, holds for either order of the two data sets, and the
/// upper end for one of the two orders. Where the smaller curve is not convex the ends do not meet.
///
/// # Examples
/// ```
/// use ndp_dp::{Gaussian, LossLaw, Neighbors, Sensitivity, Sigma};
/// let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
/// let curve = LossLaw::gaussian(release, Neighbors::ReplaceOne).tradeoff();
/// // A test with an error of the first kind of 1/2 has one of the second kind of at least 0.1586.
/// let half = curve.at(0.5)?;
/// assert!(half.lower <= 0.158_655_26 && 0.158_655_25 <= half.upper && half.upper - half.lower < 1e-6);
/// assert!(curve.power(0.05)?.upper() < 0.2596);
/// // Ready to be drawn.
/// let points = curve.points(101)?;
/// assert!(points[0].lower > 0.999 && points[100].upper == 0.0);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tradeoff {
    curve: Curve,
    /// For both directions, the curves for either order of the data sets.
    orders: Option<[Curve; 2]>,
    exact: bool,
}

/// A point of a [`Tradeoff`] curve.
///
/// # Examples
/// ```
/// use ndp_dp::loss_law::TradeoffPoint;
/// use ndp_dp::{Laplace, LossLaw, Neighbors, Sensitivity};
/// let release = Laplace::new(Sensitivity::new(1.0)?, 1.0)?;
/// let TradeoffPoint { level, lower, upper } = LossLaw::laplace(release, Neighbors::ReplaceOne).tradeoff().at(0.1)?;
/// let exact = 1.0 - 0.1 * 1f64.exp();
/// assert!(level == 0.1 && lower <= exact && exact <= upper);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TradeoffPoint {
    /// The probability of being wrong under the null hypothesis.
    pub level: f64,
    /// A lower bound on the probability that a test of this level is wrong under the other hypothesis.
    pub lower: f64,
    /// Some test of this level is wrong with at most this probability, if the pair of the law is attained by
    /// what is released. For a law with both directions this is a test of one of the two data sets against
    /// the other; in the other order all tests may be wrong more often.
    pub upper: f64,
}

/// The profiles of a pair in both directions.
#[derive(Clone, Debug)]
struct Curve {
    /// `δ` at points `x = e^ε ≥ 1`.
    forward: Side,
    /// `δ'` at points `z = 1/x ≥ 1`.
    backward: Side,
}

/// A profile at points from `x = 1` on, and at one point to the left of 1.
#[derive(Clone, Debug)]
struct Side {
    /// Points by increasing `x`, the first of them below 1.
    points: Vec<Known>,
    /// A lower bound on `δ` at all `x`: the mass at infinity.
    infinite: f64,
}

/// `δ` at `x`.
#[derive(Clone, Copy, Debug)]
struct Known {
    x: Interval,
    delta: Ends,
}

impl LossLaw {
    /// The trade-off curve: how well any test can tell the two data sets apart.
    ///
    /// For a law with one direction it is `T(Q, P)`, where the law is taken under `P` and `Q` is the null
    /// hypothesis. For both directions its lower end holds for either order of the two data sets.
    #[must_use]
    pub fn tradeoff(&self) -> Tradeoff {
        let chains = [Direction::Remove, Direction::Add].map(|direction| self.chain(direction));
        let two = self.is_two_sided();
        let chains = &chains[..if two { 2 } else { 1 }];
        let farthest = chains.iter().map(|chain| answers::far(chain)).fold(1e-6, f64::max).min(FARTHEST);
        let epsilons = answers::kinks(chains, 1.05 * farthest);
        let mut sides: Vec<(Vec<Ends>, f64)> = chains
            .iter()
            .map(|chain| (answers::profile(chain, &epsilons, self.fineness), answers::infinite(chain).low()))
            .collect();
        if self.only == Some(Direction::Add) {
            sides.reverse();
        }
        let (forward, backward) = (&sides[0], sides.last().unwrap_or(&sides[0]));
        if two && self.only.is_none() {
            return Tradeoff::in_either_order(&epsilons, forward, backward);
        }
        Tradeoff::new(&epsilons, forward, backward, self.is_exact())
    }
}

impl Tradeoff {
    /// The curve from both profiles at the same values of `ε ≥ 0`, the first of which is 0.
    pub(super) fn new(
        epsilons: &[f64],
        forward: &(Vec<Ends>, f64),
        backward: &(Vec<Ends>, f64),
        exact: bool,
    ) -> Self {
        Self { curve: Curve::new(epsilons, forward, backward), orders: None, exact }
    }

    /// The curve for either order of the data sets, from the same profiles. The larger one of two profiles
    /// need not be the profile of a pair, so it is only a bound.
    pub(super) fn in_either_order(
        epsilons: &[f64],
        forward: &(Vec<Ends>, f64),
        backward: &(Vec<Ends>, f64),
    ) -> Self {
        let joined = forward.0.iter().zip(&backward.0).map(|(a, b)| a.max(*b)).collect();
        let joined = (joined, forward.1.max(backward.1));
        let orders = [Curve::new(epsilons, forward, backward), Curve::new(epsilons, backward, forward)];
        Self { curve: Curve::new(epsilons, &joined, &joined), orders: Some(orders), exact: false }
    }

    /// The point of the curve at a level.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ level ≤ 1`.
    pub fn at(&self, level: f64) -> Result<TradeoffPoint, Error> {
        ensure((0.0..=1.0).contains(&level), "the level of a test", "lie in [0, 1]", level)?;
        let upper = match &self.orders {
            Some([one, other]) => one.upper(level).min(other.upper(level)),
            None => self.curve.upper(level),
        };
        let most = (Interval::ONE - Interval::new(level)).high();
        let lower = self.curve.lower(level).clamp(0.0, 1.0).min(most);
        Ok(TradeoffPoint { level, lower, upper: upper.clamp(lower, most) })
    }

    /// The largest power `1 − f` of a test of this level, enclosed: its upper end is the guarantee.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn power(&self, level: f64) -> Result<Enclosed, Error> {
        let TradeoffPoint { lower, upper, .. } = self.at(level)?;
        let complement = |error: f64| Interval::ONE - Interval::new(error);
        let ends = Ends { lower: complement(upper).low().max(0.0), upper: complement(lower).high().min(1.0) };
        Ok(Enclosed::new(ends, self.exact))
    }

    /// `count` points at equally spaced levels from 0 to 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two points or more than 10⁶.
    pub fn points(&self, count: usize) -> Result<Vec<TradeoffPoint>, Error> {
        let allowed = (2..=1_000_000).contains(&count);
        ensure(allowed, "the number of points of a curve", "lie between 2 and 1000000", count as f64)?;
        (0..count).map(|k| self.at(k as f64 / (count - 1) as f64)).collect()
    }
}

impl Curve {
    fn new(epsilons: &[f64], forward: &(Vec<Ends>, f64), backward: &(Vec<Ends>, f64)) -> Self {
        let side = |(own, infinite): &(Vec<Ends>, f64), (other, _): &(Vec<Ends>, f64)| {
            let at = |(&epsilon, &delta): (&f64, &Ends)| Known { x: Interval::new(epsilon).exp(), delta };
            // δ(x) = 1 − x + x δ'(1/x) at the point next to 1 on its left.
            let first = epsilons.iter().zip(other).nth(1).map(|(&epsilon, &delta)| {
                let x = (-Interval::new(epsilon)).exp();
                let value = |delta: f64| -(-Interval::new(epsilon)).expm1() + x * Interval::new(delta);
                let (lower, upper) = (value(delta.lower).low().max(0.0), value(delta.upper).high().min(1.0));
                Known { x, delta: Ends { lower, upper } }
            });
            let points = first.into_iter().chain(epsilons.iter().zip(own).map(at)).collect();
            Side { points, infinite: *infinite }
        };
        Self { forward: side(forward, backward), backward: side(backward, forward) }
    }

    /// The largest lower bound of the points, rounded down.
    fn lower(&self, level: f64) -> f64 {
        let a = Interval::new(level);
        f64::max(
            self.forward
                .largest(|x, delta| 1.0 - delta - x * level, |x, delta| Interval::ONE - delta - x * a),
            self.backward
                .largest(|x, delta| (1.0 - delta - level) / x, |x, delta| (Interval::ONE - delta - a) / x),
        )
    }

    fn upper(&self, level: f64) -> f64 {
        let a = Interval::new(level);
        f64::max(self.forward.above(a, Lines::forward), self.backward.above(a, Lines::backward))
    }
}

impl Side {
    /// The largest value of a bound over the points, rounded down. The point is found in floating point.
    fn largest(
        &self,
        about: impl Fn(f64, f64) -> f64,
        exactly: impl Fn(Interval, Interval) -> Interval,
    ) -> f64 {
        let size = |known: &&Known| about(known.x.low(), known.delta.upper);
        let best = self.points.iter().skip(1).max_by(|one, other| size(one).total_cmp(&size(other)));
        best.map_or(0.0, |best| exactly(best.x, Interval::new(best.delta.upper)).low())
    }

    /// An upper bound on the supremum over all `x ≥ 1`.
    fn above(&self, a: Interval, bound: impl Fn(Lines, Interval) -> f64) -> f64 {
        let mut most = 0.0_f64;
        for k in 1..self.points.len() {
            let lines = Lines::of(&self.points, k, self.infinite);
            most = most.max(bound(lines, a));
        }
        most
    }
}

/// A cell `[x, y]`, and the two lines below `δ` on it, from the left and from the right; each as its values
/// at `x` and at `y`.
#[derive(Clone, Copy, Debug)]
struct Lines {
    x: Interval,
    /// `None` beyond the last point.
    y: Option<Interval>,
    left: (Interval, Interval),
    right: (Interval, Interval),
}

impl Lines {
    /// The lines on the cell to the right of point `k`, which has a point to its left.
    fn of(points: &[Known], k: usize, infinite: f64) -> Self {
        let here = points[k];
        let low = |known: Known| Interval::new(known.delta.lower);
        let high = |known: Known| Interval::new(known.delta.upper);
        let Some(&next) = points.get(k + 1) else {
            let infinite = Interval::new(infinite);
            return Self { x: here.x, y: None, left: (infinite, infinite), right: (infinite, infinite) };
        };
        let width = next.x - here.x;
        let before = points[k - 1];
        let fall = (high(before) - low(here)) * (width / (here.x - before.x));
        let left = (low(here), low(here) - Interval::new(fall.high().max(0.0)));
        // If there is no further point, the line from the right is constant, since δ does not increase.
        let rise = points
            .get(k + 2)
            .map_or(Interval::ZERO, |&after| (low(next) - high(after)) * (width / (after.x - next.x)));
        let right = (low(next) + Interval::new(rise.low().max(0.0)), low(next));
        Self { x: here.x, y: Some(next.x), left, right }
    }

    /// An upper bound on `sup (1 − δ(x) − x a)` over the cell.
    fn forward(self, a: Interval) -> f64 {
        let Some(y) = self.y else { return (Interval::ONE - self.left.0 - self.x * a).high() };
        // The mixture of the two lines whose downward slope is a.
        let width = y - self.x;
        let slope = |line: (Interval, Interval)| ((line.0 - line.1) / width).low();
        let share = share(slope(self.left), slope(self.right), a.low());
        let end = |x: Interval, left: Interval, right: Interval| {
            (Interval::ONE - mixed(share, left, right) - x * a).high()
        };
        end(self.x, self.left.0, self.right.0).max(end(y, self.left.1, self.right.1))
    }

    /// An upper bound on `sup (1 − δ'(z) − a)/z` over the cell.
    fn backward(self, a: Interval) -> f64 {
        let rest = Interval::ONE - a;
        let Some(y) = self.y else { return ((rest - self.left.0) / self.x).high() };
        // The mixture of the two lines that passes through 1 − a at z = 0.
        let width = y - self.x;
        let start = |line: (Interval, Interval)| (line.0 + (line.0 - line.1) / width * self.x).low();
        let share = share(start(self.left), start(self.right), rest.low());
        let end =
            |x: Interval, left: Interval, right: Interval| ((rest - mixed(share, left, right)) / x).high();
        end(self.x, self.left.0, self.right.0).max(end(y, self.left.1, self.right.1))
    }
}

/// The weight in `[0, 1]` of the left number for which the mixture of both is nearest to the third one.
fn share(left: f64, right: f64, wanted: f64) -> f64 {
    let share = (wanted - right) / (left - right);
    if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
}

fn mixed(share: f64, left: Interval, right: Interval) -> Interval {
    let (own, other) = (Interval::new(share), Interval::ONE - Interval::new(share));
    own * left + other * right
}

/// The largest loss of a trade-off curve: `e^ε` is a float.
const FARTHEST: f64 = 600.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Neighbors;

    fn known(low: f64, high: f64, delta: (f64, f64)) -> Known {
        Known { x: Interval::between(low, high), delta: Ends { lower: delta.0, upper: delta.1 } }
    }

    /// Points at 1/2, about 1, 2 and 4, whose `δ` is known up to a tenth or more. On the cell from 1 to 2 the
    /// left line begins at the lower end of `δ` there and falls as fast as it may from the first point on;
    /// the right one ends at the lower end and rises, to its left, at least as it must to the last point.
    #[test]
    fn lines_on_both_sides_are_below_all_that_is_known() {
        let points = [
            known(0.5, 0.5, (0.6, 0.8)),
            known(0.875, 1.125, (0.4, 0.5)),
            known(2.0, 2.0, (0.2, 0.3)),
            known(4.0, 4.0, (0.05, 0.1)),
        ];
        let lines = Lines::of(&points, 1, 0.01);
        let near = |found: Interval, low: f64| (found.low() - low).abs() < 1e-15;
        // By 0.8 − 0.4 on at least 3/8, on a cell of at most 9/8.
        assert!(near(lines.left.0, 0.4) && near(lines.left.1, 0.4 - 0.4 * 3.0), "{lines:?}");
        // By 0.2 − 0.1 on 2, on a cell of at least 7/8. The corner itself is known to be at 0.2 or above.
        assert!(near(lines.right.0, 0.2 + 0.1 * 0.875 / 2.0), "{lines:?}");
        assert_eq!(lines.right.1, Interval::new(0.2));
        // Without a point further on `δ` does not increase; beyond the last one it may be all at infinity.
        let last = Lines::of(&points, 2, 0.01);
        assert_eq!(last.right, (Interval::new(0.05), Interval::new(0.05)));
        let beyond = Lines::of(&points, 3, 0.01);
        assert_eq!((beyond.y, beyond.left.0), (None, Interval::new(0.01)));
    }

    /// Two lines on the cell from 1 to 3, and one from 2 on, for tests of level `a`, by the supremum over
    /// many points of the larger line. Mixtures lie below it, so that theirs is no smaller; where the lines
    /// cross it is nearly attained.
    #[test]
    fn suprema_over_cells_are_bounds() {
        let of = |x: f64| Interval::new(x);
        let lines =
            Lines { x: of(1.0), y: Some(of(3.0)), left: (of(0.5), of(0.1)), right: (of(0.375), of(0.25)) };
        let delta = |x: f64| f64::max(0.5 - 0.2 * (x - 1.0), 0.375 - 0.0625 * (x - 1.0));
        for a in [0.0, 0.03, 0.0625, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6] {
            let xs = (0..=20_000).map(|k| 1.0 + 1e-4 * f64::from(k));
            let forward = xs.clone().map(|x| 1.0 - delta(x) - x * a).fold(f64::MIN, f64::max);
            let backward = xs.map(|x| (1.0 - delta(x) - a) / x).fold(f64::MIN, f64::max);
            let (found, reversed) = (lines.forward(of(a)), lines.backward(of(a)));
            assert!(forward - 1e-12 <= found && found <= forward + 1e-4, "{a}: {found} {forward}");
            assert!(
                backward - 1e-12 <= reversed && reversed <= backward + 1e-4,
                "{a}: {reversed} {backward}"
            );
        }
        // Beyond the last point `x` is least where it is not known.
        let infinite = (of(0.125), of(0.125));
        let beyond = Lines { x: Interval::between(2.0, 2.5), y: None, left: infinite, right: infinite };
        assert_eq!(beyond.forward(of(0.25)), 1.0 - 0.125 - 0.5);
        assert_eq!(beyond.backward(of(0.25)), (0.75 - 0.125) / 2.0);
    }

    /// At `x = 1/2` the profile is `1 − x + x δ'` with the other one's at 2: between 5/8 and 3/4 for one
    /// between 1/4 and 1/2. Of nothing at all it is `1 − x`: above this float at `x = e^(−0.3)` (60 digits).
    #[test]
    fn the_point_left_of_one_comes_from_the_other_profile() {
        let point = |epsilon: f64, lower: f64, upper: f64| {
            let side = (vec![Ends { lower, upper }; 2], 0.0);
            Tradeoff::new(&[0.0, epsilon], &side, &side, true).curve.forward.points[0]
        };
        let half = point(std::f64::consts::LN_2, 0.25, 0.5);
        assert!((half.x.low() - 0.5).abs() < 1e-15 && (half.x.high() - 0.5).abs() < 1e-15);
        assert!((half.delta.lower - 0.625).abs() < 1e-15 && (half.delta.upper - 0.75).abs() < 1e-15);
        let nothing = point(0.3, 0.0, 0.0).delta;
        let above = 0.259_181_779_318_282_2_f64;
        assert!(nothing.lower <= above.next_down() && above <= nothing.upper, "{nothing:?}");
    }

    /// Where nothing is told, a test of level 1e-20 is wrong with probability `1 − 1e-20`: no float but 1 is
    /// an upper end.
    #[test]
    fn upper_ends_are_rounded_up() -> Result<(), Error> {
        let side = (vec![Ends { lower: 0.0, upper: 0.0 }; 2], 0.0);
        let point = Tradeoff::new(&[0.0, 1.0], &side, &side, true).at(1e-20)?;
        assert!(point.upper == 1.0 && point.lower > 1.0 - 1e-15 && point.lower < 1.0, "{point:?}");
        Ok(())
    }

    /// Polygons through the errors of the likelihood ratio tests, by hand, for the first law as the null
    /// hypothesis and for the second: no test of level 1/4 is wrong with probability 1/4.
    #[test]
    fn the_upper_end_is_attained_in_one_of_the_two_orders() -> Result<(), Error> {
        let law = LossLaw::finite(&[0.625, 0.25, 0.125], &[0.125, 0.625, 0.25], Neighbors::ReplaceOne)?;
        let (both, remove, add) = (
            law.tradeoff(),
            law.clone().only(Direction::Remove)?.tradeoff(),
            law.only(Direction::Add)?.tradeoff(),
        );
        let corners: [&[(f64, f64)]; 2] = [
            &[(0.0, 1.0), (0.125, 0.375), (0.375, 0.25), (1.0, 0.0)],
            &[(0.0, 1.0), (0.25, 0.375), (0.375, 0.125), (1.0, 0.0)],
        ];
        for level in [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.5, 0.75, 1.0] {
            let least = corners.map(|corners| {
                let cell =
                    corners.windows(2).find(|cell| level <= cell[1].0).expect("the level is at most 1");
                cell[0].1 + (cell[1].1 - cell[0].1) * (level - cell[0].0) / (cell[1].0 - cell[0].0)
            });
            let least = least[0].min(least[1]);
            let found = both.at(level)?;
            assert!(found.lower <= least && least <= found.upper + 1e-12, "{found:?} {least}");
            assert!(found.upper <= least + 1e-5, "{found:?} {least}");
            let one = remove.at(level)?.upper.min(add.at(level)?.upper);
            assert!((found.upper - one).abs() < 1e-12, "{found:?} {one}");
        }
        let quarter = both.at(0.25)?;
        assert!(quarter.lower <= 0.25 && quarter.upper >= 0.3125, "{quarter:?}");
        assert!(both.power(0.25)?.lower() <= 0.6875);
        Ok(())
    }

    /// 0.7 and 0.3 against 0.4 and 0.6, in either order: the larger one of both profiles, both straight
    /// between their kinks, and the supremum over many `x`.
    #[test]
    fn both_directions_have_one_lower_end() -> Result<(), Error> {
        let curve = LossLaw::finite(&[0.7, 0.3], &[0.4, 0.6], Neighbors::ReplaceOne)?.tradeoff();
        let delta = |x: f64| f64::max(0.7 - 0.4 * x, 0.6 - 0.3 * x).max(0.0);
        for level in [0.0, 0.1, 0.3, 0.5, 0.75, 1.0] {
            let values = (0..=20_000).map(|k| 1.0 + 1e-4 * f64::from(k));
            let values = values.map(|x| f64::max(1.0 - delta(x) - x * level, (1.0 - delta(x) - level) / x));
            let truth = values.fold(0.0, f64::max);
            let found = curve.at(level)?;
            assert!(found.lower <= truth + 2e-4 && truth <= found.upper + 1e-12, "{found:?} {truth}");
            assert!(truth - found.lower < 1e-3, "{found:?}");
        }
        Ok(())
    }
}
