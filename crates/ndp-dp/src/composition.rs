//! Composition of `(ε, δ)` guarantees: what several adaptive releases cost together.
//!
//! All rules hold for adaptive composition, under the neighboring relation of the parts, against an observer
//! of all outputs. [`best`] computes the smallest `ε` at a total `δ` and says which rule gave it. Gaussian
//! releases should not be composed by these rules, since they compose exactly, see [`crate::Gdp`].
//!
//! # References
//! - Dwork, Rothblum and Vadhan, *Boosting and differential privacy*, FOCS 2010: Theorem III.3 (advanced).
//! - Kairouz, Oh and Viswanath, *The composition theorem for differential privacy*, 2016, arXiv:1311.0776:
//!   Theorem 3.3 (homogeneous, optimal), Theorem 3.5 (heterogeneous).

use crate::error::ensure;
use crate::{ApproxDp, Delta, Error, Exact, Guarantee, UpperBound, gaussian};
use ndp_numeric::binomial::{MAX_TRIALS, PMF_ERROR, log_pmf};
use ndp_numeric::incomplete::two_product;
use ndp_numeric::rounding::{Interval, exp_up, log_down, up_log, whole};
use ndp_numeric::special::normal_quantile;
use serde::{Deserialize, Serialize};

/// The composition theorem behind a guarantee.
///
/// # Examples
/// ```
/// use ndp_dp::{ApproxDp, Delta, composition::{self, Rule}};
/// let few = [(ApproxDp::new(0.1, 0.0)?, 1), (ApproxDp::new(0.2, 0.0)?, 1)];
/// assert_eq!(composition::best(&few, Delta::new(1e-6)?)?.value().rule, Rule::Naive);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Epsilons add, `δ = 1 − Π (1 − δᵢ)`: the operators `+` and `*` of [`ApproxDp`].
    Naive,
    /// Dwork–Rothblum–Vadhan, see [`advanced`].
    Advanced,
    /// Kairouz–Oh–Viswanath for different parts, each occurring `count` times, optimal up to constants
    /// (Theorem 3.5): with
    /// `a = Σ εᵢ tanh(εᵢ/2)`, `s = Σ εᵢ²` and a slack `δ̃` of the total `δ = 1 − (1 − δ̃) Π (1 − δᵢ)`,
    /// `ε = min{Σ εᵢ, a + √(2 s ln(e + √s/δ̃)), a + √(2 s ln(1/δ̃))}`.
    Heterogeneous,
    /// Kairouz–Oh–Viswanath for equal parts (Theorem 3.3): the smallest `ε` that follows from their `(ε, δ)`
    /// alone, see [`optimal_delta`].
    Optimal,
}

/// A composed guarantee and the rule it comes from.
///
/// # Examples
/// ```
/// use ndp_dp::{ApproxDp, Delta, composition};
/// let all = composition::best(&[(ApproxDp::new(0.01, 0.0)?, 1000)], Delta::new(1e-6)?)?.into_value();
/// assert!(all.total.epsilon() < 2.0); // the sum of the epsilons is 10
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composition {
    /// The guarantee of all releases together.
    pub total: ApproxDp,
    /// The rule that gave the smallest `ε`.
    pub rule: Rule,
}

/// Basic composition of parts that each occur `count` times: epsilons add, `δ = 1 − Π (1 − δᵢ)`. `(0, 0)` for
/// no part.
///
/// # References
/// The total delta is that of Kairouz, Oh and Viswanath 2016, Theorem 3.5, at a slack of 0; it is at most `Σ
/// δᵢ`.
#[must_use]
pub(crate) fn naive(parts: &[(ApproxDp, u64)]) -> UpperBound<ApproxDp> {
    let epsilon = sum(parts, |part| part.epsilon().into());
    UpperBound::new(ApproxDp::clamped(epsilon.high(), spent(parts).high()))
}

/// Both releases together, by basic composition: `ε + ε'` and `1 − (1 − δ)(1 − δ')`, rounded up.
///
/// # References
/// Kairouz, Oh and Viswanath 2016, Theorem 3.5, at a slack of 0.
impl std::ops::Add for ApproxDp {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        naive(&[(self, 1), (other, 1)]).into_value()
    }
}

/// `count` such releases together, by basic composition: `count ε` and `1 − (1 − δ)^count`, rounded up.
impl std::ops::Mul<u64> for ApproxDp {
    type Output = Self;

    fn mul(self, count: u64) -> Self {
        naive(&[(self, count)]).into_value()
    }
}

/// Advanced composition of `count` equal releases at a slack of `δ'`:
/// `ε' = √(2k ln(1/δ')) ε + k ε (e^ε − 1)`, total `δ = kδ + δ'`. `(0, 0)` for no release.
///
/// # References
/// Dwork, Rothblum and Vadhan 2010, Theorem III.3.
#[must_use]
pub fn advanced(release: ApproxDp, count: u64, slack: Delta) -> UpperBound<ApproxDp> {
    if count == 0 {
        return UpperBound::new(ApproxDp::clamped(0.0, 0.0));
    }
    let delta = Interval::count(count) * Interval::new(release.delta()) + Interval::new(slack.get());
    UpperBound::new(ApproxDp::clamped(advanced_epsilon(release.epsilon(), count, slack), delta.high()))
}

/// `√(2k ln(1/δ')) ε + k ε (e^ε − 1)`, rounded up; 0 at `ε = 0`.
pub(crate) fn advanced_epsilon(epsilon: f64, count: u64, slack: Delta) -> f64 {
    if epsilon == 0.0 {
        return 0.0;
    }
    let (epsilon, k, log) = (Interval::new(epsilon), Interval::count(count), Interval::new(slack.get()).ln());
    ((Interval::new(-2.0) * k * log).sqrt() * epsilon + k * (epsilon * epsilon.expm1())).high()
}

/// Composition of different parts, each occurring `count` times, at a slack of `δ̃`, optimal up to constants:
/// with `a = Σ εᵢ tanh(εᵢ/2)` and `s = Σ εᵢ²`,
///
/// `ε = min{Σ εᵢ, a + √(2 s ln(e + √s/δ̃)), a + √(2 s ln(1/δ̃))}`, total `δ = 1 − (1 − δ̃) Π (1 − δᵢ)`.
///
/// `(0, 0)` for no part.
///
/// # References
/// Kairouz, Oh and Viswanath 2016, Theorem 3.5, arXiv:1311.0776.
#[cfg(test)]
pub(crate) fn heterogeneous(parts: &[(ApproxDp, u64)], slack: Delta) -> UpperBound<ApproxDp> {
    if parts.iter().all(|&(_, count)| count == 0) {
        return UpperBound::new(ApproxDp::clamped(0.0, 0.0));
    }
    let delta = -((-Interval::new(slack.get())).ln_1p() + log_survival(parts)).expm1();
    UpperBound::new(ApproxDp::clamped(heterogeneous_epsilon(parts, slack), delta.high()))
}

fn heterogeneous_epsilon(parts: &[(ApproxDp, u64)], slack: Delta) -> f64 {
    let of = |part: ApproxDp| Interval::new(part.epsilon());
    let half = Interval::new(0.5);
    let added = sum(parts, of);
    let drift = sum(parts, |part| of(part) * (of(part) * half).tanh());
    let squares = sum(parts, |part| of(part) * of(part));
    let slack = Interval::new(slack.get());
    // The constant E is e rounded down.
    let euler = Interval::between(std::f64::consts::E, std::f64::consts::E.next_up());
    let log = (euler + squares.sqrt() / slack).ln().min(-slack.ln());
    added.min(drift + (Interval::new(2.0) * squares * log).sqrt()).high()
}

/// The `δ` at a total `epsilon` of `count` releases, each known only to be `(ε, δ)`-DP: no smaller `δ` holds
/// for all such releases. Exact up to some 5·10⁹ releases; of more, rounding leaves an upper bound.
///
/// `1 − (1 − δ)^k (1 − D)`, where `D = Σ_l C(k,l) p^{k−l} q^l (1 − e^{E − (k−2l) ε})₊`, `q = 1/(1 + e^ε) = 1
/// − p`, is the hockey-stick divergence at level `E = epsilon` of `k` randomized responses.
///
/// # Errors
/// [`Error::InvalidParameter`] when `count` exceeds 1e12 or `epsilon` is negative or NaN.
///
/// # References
/// Kairouz, Oh and Viswanath 2016, Theorem 3.3, which states it at `epsilon = (k − 2i) ε`; between these
/// points the divergence of the same extremal pair is linear in `e^E`.
pub fn optimal_delta(release: ApproxDp, count: u64, epsilon: f64) -> Result<Guarantee<f64>, Error> {
    check_count(count)?;
    ensure(0.0 <= epsilon, "epsilon", "be nonnegative", epsilon)?;
    if count == 0 {
        return Ok(Exact::new(0.0).into());
    }
    let delta = lost(release, count, Responses::new(release.epsilon(), count).log_excess_at(epsilon));
    let near = SUM_ERROR * f64::EPSILON * (count as f64).sqrt() <= gaussian::WITHIN;
    Ok(if near { Exact::new(delta).into() } else { UpperBound::new(delta).into() })
}

/// The `i`-th point of the optimal composition of `count` equal releases:
/// `((k − 2i) ε, 1 − (1 − δ)^k (1 − D_i))`, `0 ≤ i ≤ ⌊k/2⌋`.
///
/// # Errors
/// [`Error::InvalidParameter`] when `count` exceeds 1e12 or `i` exceeds half of it.
///
/// # References
/// Kairouz, Oh and Viswanath 2016, Theorem 3.3, arXiv:1311.0776.
#[cfg(test)]
fn optimal_point(release: ApproxDp, count: u64, i: u64) -> Result<Exact<ApproxDp>, Error> {
    ensure(
        i <= count / 2,
        "the index of an optimal composition",
        "be at most half the number of releases",
        i as f64,
    )?;
    check_count(count)?;
    let steps = Interval::count(count - 2 * i);
    let epsilon = if steps.high() == 0.0 { 0.0 } else { (steps * Interval::new(release.epsilon())).high() };
    if count == 0 {
        return Ok(Exact::new(ApproxDp::clamped(0.0, 0.0)));
    }
    let log_excess = Responses::new(release.epsilon(), count).log_excess_of(i);
    Ok(Exact::new(ApproxDp::clamped(epsilon, lost(release, count, log_excess))))
}

/// The optimal composition of `count` equal releases at a total `δ`: the smallest `ε` that follows from their
/// `(ε, δ)` alone, `None` when `δ` is below `1 − (1 − δᵢ)^k`, which no `ε` repairs.
///
/// It is an upper bound for the releases themselves, which may be better than their `(ε, δ)` tells.
///
/// # Errors
/// [`Error::InvalidParameter`] when `count` exceeds 1e12.
///
/// # Complexity
/// `O(√count log count)`, below 0.1 ms at `count = 10⁴`.
///
/// # References
/// Kairouz, Oh and Viswanath 2016, Theorem 3.3, arXiv:1311.0776.
pub(crate) fn optimal(
    release: ApproxDp,
    count: u64,
    total: Delta,
) -> Result<Option<UpperBound<ApproxDp>>, Error> {
    check_count(count)?;
    let parts = [(release, count)];
    let Some(slack) = slack(&parts, total) else { return Ok(None) };
    let result = |epsilon: f64| Ok(Some(UpperBound::new(ApproxDp::clamped(epsilon, total.get()))));
    if count == 0 || release.epsilon() == 0.0 {
        return result(0.0);
    }
    if release.epsilon().is_infinite() {
        return result(f64::INFINITY);
    }
    // Below the normal floats there is nothing to gain, and the steps below would round to 0.
    let added = (Interval::count(count) * Interval::new(release.epsilon())).high();
    if added < f64::MIN_POSITIVE {
        return result(added);
    }
    let target = log_down(slack);
    let responses = Responses::new(release.epsilon(), count);
    let zero = responses.log_excess_at(0.0);
    if zero <= target {
        return result(0.0);
    }
    // The largest i whose point meets the slack. i = 0 always does, since D = 0 there.
    let (meets, fails) = responses.last_meeting(target);
    // Between two points D is linear in e^E, so the answer is interpolated.
    let point = |i: u64| (Interval::count(count - 2 * i) * Interval::new(release.epsilon())).high();
    let right = responses.log_excess_of(meets);
    let (left_epsilon, left) =
        if fails > count / 2 { (0.0, zero) } else { (point(fails), responses.log_excess_of(fails)) };
    let share = libm::expm1(target - left) / libm::expm1(right - left);
    let width = point(meets) - left_epsilon;
    let mut epsilon = left_epsilon;
    if share > 0.0 {
        epsilon += libm::log1p(share * libm::expm1(width)).min(width);
    }
    // Rounding may have left ε slightly too small: it is increased until the divergence, itself rounded up,
    // meets the target.
    let mut step = epsilon * 1e-16;
    if step == 0.0 {
        // From 0, and where the product underflows, doubling would stand still.
        step = (point(meets) * 1e-16).max(f64::from_bits(1));
    }
    while epsilon < point(meets) && responses.log_excess_at(epsilon) > target {
        epsilon = (epsilon + step).min(point(meets));
        step *= 2.0;
    }
    result(epsilon)
}

/// The smallest `ε` of all rules at a total `δ`, and the rule that gave it, for parts that each occur `count`
/// times.
///
/// # Errors
/// [`Error::NotAchievable`] when the parts' own deltas exceed `total`; [`Error::InvalidParameter`] when a
/// count exceeds 1e12.
///
/// # Examples
/// ```
/// use ndp_dp::{ApproxDp, Delta, composition};
/// let release = ApproxDp::new(0.1, 1e-8)?;
/// let best = composition::best(&[(release, 100)], Delta::new(1e-5)?)?.into_value();
/// assert_eq!(best.rule, composition::Rule::Optimal);
/// assert!(best.total.epsilon() < 5.0 && 5.0 < 100.0 * 0.1);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub fn best(parts: &[(ApproxDp, u64)], total: Delta) -> Result<UpperBound<Composition>, Error> {
    for &(_, count) in parts {
        check_count(count)?;
    }
    let Some(slack) = slack(parts, total) else {
        return Err(Error::NotAchievable {
            target: total.get(),
            best: spent(parts).high(),
            what: "total delta",
        });
    };
    let parts: Vec<_> = parts.iter().copied().filter(|&(_, count)| count > 0).collect();
    let mut winner = (sum(&parts, |part| part.epsilon().into()).high(), Rule::Naive);
    let mut offer = |epsilon: f64, rule: Rule| {
        if epsilon < winner.0 {
            winner = (epsilon, rule);
        }
    };
    if let Ok(slack) = Delta::new(slack) {
        offer(heterogeneous_epsilon(&parts, slack), Rule::Heterogeneous);
    }
    if let Some(&(release, _)) = parts.first()
        && parts.iter().all(|&(part, _)| part == release)
    {
        let count = parts.iter().map(|&(_, count)| count).fold(0, u64::saturating_add);
        let own = Interval::count(count) * Interval::new(release.delta());
        if let Ok(slack) = Delta::new((Interval::new(total.get()) - own).low()) {
            offer(advanced_epsilon(release.epsilon(), count, slack), Rule::Advanced);
        }
        if count <= MAX_TRIALS
            && let Some(optimal) = optimal(release, count, total)?
        {
            offer(optimal.value().epsilon(), Rule::Optimal);
        }
    }
    let (epsilon, rule) = winner;
    Ok(UpperBound::new(Composition { total: ApproxDp::clamped(epsilon, total.get()), rule }))
}

/// Refuses counts beyond [`MAX_TRIALS`], the limit of the binomial sums.
fn check_count(count: u64) -> Result<(), Error> {
    ensure(count <= MAX_TRIALS, "the number of releases", "be at most 1e12", count as f64)
}

/// `Σ count · f(part)`, skipping parts that do not occur.
fn sum(parts: &[(ApproxDp, u64)], f: impl Fn(ApproxDp) -> Interval) -> Interval {
    parts.iter().filter(|&&(_, count)| count > 0).map(|&(part, count)| Interval::count(count) * f(part)).sum()
}

/// `ln Π (1 − δᵢ)`.
fn log_survival(parts: &[(ApproxDp, u64)]) -> Interval {
    sum(parts, |part| (-Interval::new(part.delta())).ln_1p())
}

/// `1 − Π (1 − δᵢ)`.
fn spent(parts: &[(ApproxDp, u64)]) -> Interval {
    -log_survival(parts).expm1()
}

/// `1 − (1 − δ)^k (1 − D)`, rounded up, from `ln D` rounded up.
fn lost(release: ApproxDp, count: u64, log_excess: f64) -> f64 {
    let excess = Interval::new(exp_up(log_excess.min(0.0)));
    let survival = log_survival(&[(release, count)]) + (-excess).ln_1p();
    // Adding 0.0 turns -0.0 into 0.0, which would otherwise be printed with its sign.
    (-survival.expm1()).high().clamp(0.0, 1.0) + 0.0
}

/// The slack `δ̃ ≥ 0` with `1 − (1 − δ̃) Π (1 − δᵢ) = total`, rounded down; `None` when it is negative.
fn slack(parts: &[(ApproxDp, u64)], total: Delta) -> Option<f64> {
    let survival = log_survival(parts);
    let spent = -survival.expm1();
    if spent.high() == 0.0 {
        return Some(total.get());
    }
    let slack = ((Interval::new(total.get()) - spent) / survival.exp()).low();
    if slack >= 0.0 { Some(slack) } else { None }
}

/// The rounding error charged to the sum of a divergence: this many epsilons times the root of the number of
/// releases.
const SUM_ERROR: f64 = 64.0;

/// The pair of `k`-fold randomized responses that attains the composition theorem.
struct Responses {
    epsilon: f64,
    count: u64,
    /// Probability `1/(1 + e^ε)` of the less likely answer.
    flip: f64,
}

impl Responses {
    fn new(epsilon: f64, count: u64) -> Self {
        // Computed from e^{−ε}, since e^ε may overflow.
        let inverse = libm::exp(-epsilon);
        Self { epsilon, count, flip: inverse / (1.0 + inverse) }
    }

    /// `ln D` at the total `epsilon ≥ 0`, rounded up.
    fn log_excess_at(&self, epsilon: f64) -> f64 {
        let k = self.count as f64;
        if self.epsilon.is_infinite() && self.count > 0 && epsilon.is_finite() {
            return 0.0;
        }
        // The sum is over all l < i, where i is the largest index for which the total lies below the point i
        // − 1.
        let gap = |i: u64| self.distance(i, epsilon);
        if self.count == 0 || self.epsilon == 0.0 || gap(1) <= 0.0 {
            return f64::NEG_INFINITY;
        }
        // The quotient gives i up to rounding; the distances, which are computed exactly, decide.
        let mut i = whole((0.5 * (k - epsilon / self.epsilon)).ceil().clamp(1.0, k));
        while i > 1 && gap(i) <= 0.0 {
            i -= 1;
        }
        while i < self.count && gap(i + 1) > 0.0 {
            i += 1;
        }
        self.log_excess(i, gap(i))
    }

    /// `ln D_i`, at the total `E = (k − 2i) ε`, rounded up.
    fn log_excess_of(&self, i: u64) -> f64 {
        self.log_excess(i, 2.0 * self.epsilon)
    }

    /// `(k − 2(i − 1)) ε − E`, the distance of the total below the point `i − 1`, rounded up. The product is
    /// computed exactly, so that the distance is accurate also close to a point.
    fn distance(&self, i: u64, total: f64) -> f64 {
        // Counts are at most 1e12, so twice a count is a float without rounding.
        let steps = self.count as f64 - 2.0 * (i as f64 - 1.0);
        let (product, rest) = two_product(steps, self.epsilon);
        if product.is_infinite() {
            return f64::INFINITY;
        }
        ((Interval::new(product) - Interval::new(total)) + Interval::new(rest)).high()
    }

    /// The last `i ≤ k/2` whose point `E = (k − 2i) ε` has `ln D ≤ target`, and the next integer.
    fn last_meeting(&self, target: f64) -> (u64, u64) {
        let k = self.count as f64;
        let deviation = (k * self.flip * (1.0 - self.flip)).sqrt();
        let (mut meets, mut fails) = (0, self.count / 2 + 1);
        let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
        // Starts at the normal quantile of the number of flips. ln D is smooth, so interpolation soon finds
        // where it crosses the target.
        let mut guess = k * self.flip + normal_quantile(libm::exp(target).clamp(1e-300, 0.5)) * deviation;
        let mut width = 0.1 * deviation;
        let mut rounds = 0_u32;
        while fails - meets > 1 {
            let i = whole(guess).clamp(meets + 1, fails - 1);
            let value = self.log_excess_of(i) - target;
            if value <= 0.0 {
                (meets, below) = (i, value)
            } else {
                (fails, above) = (i, value)
            }
            let (low, high) = (meets as f64, fails as f64);
            rounds += 1;
            guess = if below.is_infinite() || above.is_infinite() {
                width *= 2.0;
                if above.is_infinite() { low + width } else { high - width }
            } else if rounds.is_multiple_of(3) {
                0.5 * (low + high)
            } else {
                // Aims one step beyond the crossing, so that both ends approach it.
                low + (high - low) * below / (below - above) + if -below > above { 1.0 } else { -1.0 }
            };
        }
        (meets, fails)
    }

    /// `ln D` at the total `E = (k − 2(i − 1)) ε − t`, `0 < t ≤ 2ε`, where
    /// `D = Σ_{l<i} C(k,l) p^{k−l} q^l (1 − e^{−t − 2(i−1−l) ε})`; rounded up.
    ///
    /// The sum starts at its largest mass and runs both ways, relative to that mass, so that nothing
    /// underflows; the remainders of both directions are bounded by geometric series and added.
    ///
    /// A mass that is `s` steps away from the first has a relative error of at most `6 s` epsilons, and
    /// masses fall by a constant factor within `√k` steps: the error of the sum is charged with [`SUM_ERROR`]
    /// `√k`.
    fn log_excess(&self, i: u64, t: f64) -> f64 {
        if i == 0 || self.epsilon == 0.0 || t <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let k = self.count as f64;
        let gap = |l: u64| -libm::expm1(-(t + 2.0 * (i - 1 - l) as f64 * self.epsilon));
        let mode = whole((k + 1.0) * self.flip);
        let start = (i - 1).min(mode);
        let odds = libm::exp(self.epsilon);
        let mut sum = gap(start);

        // When l decreases by one, the gap 1 − r becomes 1 − r e^{−2ε} = (1 − r) e^{−2ε} + (1 − e^{−2ε}).
        let (fall, rise) = (libm::exp(-2.0 * self.epsilon), -libm::expm1(-2.0 * self.epsilon));
        let (mut mass, mut here, mut l) = (1.0, sum, start as f64);
        let mut ratio = l / (k - l + 1.0) * odds;
        while l > 0.0 {
            mass *= ratio;
            here = here * fall + rise;
            l -= 1.0;
            sum += mass * here;
            ratio = l / (k - l + 1.0) * odds;
            if mass * ratio <= sum * 1e-16 * (1.0 - ratio) {
                sum += mass * ratio / (1.0 - ratio);
                break;
            }
        }

        let (mut mass, mut l) = (1.0, start);
        let ratio = |l: u64| (k - l as f64) / ((l + 1) as f64 * odds);
        while l + 1 < i {
            mass *= ratio(l);
            l += 1;
            sum += mass * gap(l);
            let next = ratio(l);
            if mass * next <= sum * 1e-16 * (1.0 - next) {
                sum += mass * next / (1.0 - next);
                break;
            }
        }
        let log_mass = up_log(log_pmf(start, self.count, self.flip), PMF_ERROR, PMF_ERROR);
        up_log(log_mass + libm::log(sum), 32.0 + SUM_ERROR * k.sqrt(), 4.0)
    }
}

#[cfg(test)]
mod tests;
