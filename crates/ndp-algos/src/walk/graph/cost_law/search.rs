//! Finds `ε` at a given `δ`, and the least noise. The search ends at a value for which the bound was proven.
//! It starts from a guess and takes secant steps, or uses regula falsi on a monotone function.

use super::guess::{self, Guess, Question};
use super::spread_tables::Sided;
use super::tables::Tables;
use ndp_account::Error;

/// `δ(ε)` by the best of the laws of one side.
pub(super) fn delta(tables: &Tables, upper: bool, sigma: f64, epsilon: f64) -> f64 {
    let laws: Vec<Sided<'_>> = tables.laws(upper).collect();
    let near = guess::laws(tables, upper, sigma, epsilon);
    let values = near.iter().filter_map(|&at| laws.get(at)).map(|law| law.whole(epsilon, sigma));
    if upper { values.fold(1.0, f64::min) } else { values.fold(0.0, f64::max) }
}

/// Where the upper end of an answer lies, by plain floats.
pub(super) fn guess(tables: &Tables, question: Question, delta: f64) -> Option<Guess> {
    // The start is the answer for one Gaussian release of the mean cost.
    let (root, tail) = (tables.upper.typical(), (-2.0 * delta.ln()).sqrt());
    let start = match question {
        Question::Epsilon { sigma } => root / sigma * (0.5 * root / sigma + tail),
        Question::Noise { epsilon } => root * (tail + epsilon.sqrt()) / epsilon,
    };
    guess::answer(tables, true, question, delta, start)
}

/// Both ends of `ε` by the best of the laws. `near` is the guess of [`guess`] for the upper end.
pub(super) fn epsilon(tables: &Tables, sigma: f64, delta: f64, near: Option<&Guess>) -> (f64, f64) {
    let question = Question::Epsilon { sigma };
    let (upper, lower) = from_both_sides(tables, question, delta, near);
    let upper = upper.unwrap_or_else(|| {
        let newest = tables.newest();
        let upper = epsilon_up(&newest, sigma, delta);
        // Another law may give a smaller value there.
        let best = tables.above(upper.min(MOST_ASKED), sigma);
        if best.is(&newest) { upper } else { upper.min(epsilon_up(&best, sigma, delta)) }
    });
    if upper == 0.0 {
        return (0.0, 0.0);
    }
    let lower = lower
        .or_else(|| lower_end(tables, question, delta, upper.min(MOST_ASKED)))
        .unwrap_or_else(|| epsilon_down(&tables.below(upper.min(MOST_ASKED), sigma), sigma, delta, upper));
    (lower.min(upper), upper)
}

/// Both ends of the least noise, in the same way.
///
/// # Errors
/// [`Error::InvalidParameter`] if no noise up to `1e9` is proven to be enough.
pub(super) fn noise(
    tables: &Tables,
    epsilon: f64,
    delta: f64,
    near: Option<&Guess>,
) -> Result<(f64, f64), Error> {
    let question = Question::Noise { epsilon };
    let (upper, lower) = from_both_sides(tables, question, delta, near);
    let upper = match upper {
        Some(upper) => upper,
        None => {
            // The rounded law, which has no infinite cost.
            let rounded = Sided::new(&tables.upper, 0.0);
            let upper = noise_up(&rounded, epsilon, delta)?;
            let best = tables.above(epsilon, upper);
            if best.is(&rounded) { upper } else { upper.min(noise_up(&best, epsilon, delta)?) }
        }
    };
    let lower = lower
        .or_else(|| lower_end(tables, question, delta, upper))
        .unwrap_or_else(|| noise_down(&tables.below(epsilon, upper), epsilon, delta, upper));
    Ok((lower.min(upper), upper))
}

/// Both ends of an answer, from where the upper one lies by plain floats; each beside the other, as neither
/// needs it. `None` for an end that is not found from there.
fn from_both_sides(
    tables: &Tables,
    question: Question,
    delta: f64,
    near: Option<&Guess>,
) -> (Option<f64>, Option<f64>) {
    let Some(near) = near else { return (None, None) };
    rayon::join(
        || best(tables, true, question, delta, near),
        || if near.x > 0.0 { lower_end(tables, question, delta, near.x) } else { None },
    )
}

/// The lower end of an answer, from a place near it.
fn lower_end(tables: &Tables, question: Question, delta: f64, start: f64) -> Option<f64> {
    let near = guess::answer(tables, false, question, delta, start)?;
    best(tables, false, question, delta, &near)
}

/// The end of an answer on one side, by the laws that are best at the guess; `None` if the guess does not
/// lead to an answer.
fn best(tables: &Tables, upper: bool, question: Question, delta: f64, near: &Guess) -> Option<f64> {
    let laws: Vec<Sided<'_>> = tables.laws(upper).collect();
    let law = |at: &usize| laws.get(*at);
    if near.x == 0.0 {
        let (epsilon, sigma) = question.at(0.0);
        // At ε = 0 the second derivative has no upper bound, so that only the rounded law can be used.
        return (!upper || law(&0)?.whole(epsilon, sigma) <= delta).then_some(0.0);
    }
    let mut found = from_guess(near.laws.first().and_then(law)?, question, delta, near.x, near.slope)?;
    for other in near.laws.iter().skip(1).filter_map(law) {
        let (epsilon, sigma) = question.at(found);
        let blocks = other.blocks(epsilon, sigma, AROUND, delta * BENT);
        let excess = log_ratio(other.delta_by(&blocks, epsilon, sigma), delta);
        if excess < 0.0 && upper || excess > 0.0 && !upper {
            let next = from_guess(other, question, delta, found, near.slope).unwrap_or(found);
            found = if upper { found.min(next) } else { found.max(next) };
        }
    }
    Some(found)
}

/// The smallest `x` that was proven to have `δ ≤ delta` by an upper law, or the largest with `δ > delta` by a
/// lower one, to a relative [`NEAREST`]. It takes secant steps from `x`; `slope` is the derivative of `ln δ`.
fn from_guess(law: &Sided<'_>, question: Question, delta: f64, x: f64, mut slope: f64) -> Option<f64> {
    let (epsilon, sigma) = question.at(x);
    let blocks = law.blocks(epsilon, sigma, AROUND, delta * BENT);
    let excess = |x: f64| {
        let (epsilon, sigma) = question.at(x);
        blocks.covers(epsilon, sigma).then(|| log_ratio(law.delta_by(&blocks, epsilon, sigma), delta))
    };
    // Aims slightly to the side on which the bound holds.
    let aside = if law.is_upper() { 1.0 + 0.2 * NEAREST } else { 1.0 - 0.2 * NEAREST };
    let (mut at, mut value) = (x, excess(x)?);
    for _ in 0..MOST_SECANTS {
        let holds = if law.is_upper() { value <= 0.0 } else { value > 0.0 };
        let left = value / slope;
        if holds && left.abs() <= NEAREST * at {
            return Some(at);
        }
        let next = (at - left) * aside;
        let there = excess(next)?;
        let secant = (there - value) / (next - at);
        // Between neighboring floats a slope has no accurate digits.
        if secant < 0.5 * slope && secant > 2.0 * slope {
            slope = secant;
        }
        (at, value) = (next, there);
    }
    None
}

/// The smallest `ε` found with `δ(ε) ≤ delta`; infinite if there is none.
pub(super) fn epsilon_up(law: &Sided<'_>, sigma: f64, delta: f64) -> f64 {
    let by = |slack: f64| move |epsilon: f64| log_ratio(law.delta(epsilon, sigma, delta * slack), delta);
    let (rough, excess) = (by(ROUGH), by(SLACK));
    let mut low = (0.0, rough(0.0));
    let mut high = (1.0, rough(1.0));
    while high.1 > 0.0 {
        low = high;
        if 2.0 * low.0 > LARGEST {
            return f64::INFINITY;
        }
        high = (2.0 * low.0, rough(2.0 * low.0));
    }
    let near = if low.1 > 0.0 { boundary(&rough, low, high, true, ROUGH) } else { 0.0 };
    // The bracket is small from here on, and the search refines its digits.
    let mut high = (near, excess(near));
    if near == 0.0 || high.1 > 0.0 {
        return near;
    }
    let mut step = ROUGH * near;
    let mut low = ((near - step).max(0.0), excess((near - step).max(0.0)));
    while low.1 <= 0.0 {
        if low.0 == 0.0 {
            return 0.0;
        }
        step *= 4.0;
        let next = (low.0 - step).max(0.0);
        (low, high) = ((next, excess(next)), low);
    }
    boundary(&excess, low, high, true, CLOSE)
}

/// The largest `ε` up to `most` found with `δ(ε) > delta`; 0 if there is none.
pub(super) fn epsilon_down(law: &Sided<'_>, sigma: f64, delta: f64, most: f64) -> f64 {
    let slack = delta * SLACK;
    let excess = |epsilon: f64| log_ratio(law.delta(epsilon, sigma, slack), delta);
    // The two ends are mostly close to each other.
    let near = (1.0 - NEAR) * most.min(LARGEST);
    let mut low = (near, excess(near));
    if low.1 <= 0.0 {
        low = (0.0, excess(0.0));
        if low.1 <= 0.0 {
            return 0.0;
        }
    }
    let end = most.min(LARGEST);
    let mut high = (end, excess(end));
    while high.1 > 0.0 {
        if high.0 >= LARGEST {
            return high.0;
        }
        low = high;
        high = (2.0 * low.0, excess(2.0 * low.0));
    }
    boundary(&excess, low, high, false, CLOSE)
}

/// The least noise found with `δ(ε) ≤ delta`.
///
/// # Errors
/// [`Error::InvalidParameter`] if there is none up to `1e9`.
fn noise_up(law: &Sided<'_>, epsilon: f64, delta: f64) -> Result<f64, Error> {
    let by = |slack: f64| move |log: f64| log_ratio(law.delta(epsilon, log.exp(), delta * slack), delta);
    let (rough, excess) = (by(ROUGH), by(SLACK));
    let at = |log: f64| (log, rough(log));
    let mut high = at(0.0);
    let mut low = None;
    while high.1 > 0.0 {
        low = Some(high);
        if high.0 + 1.0 > LARGEST_LOG {
            let (name, condition) = ("the target loss", "be met by some noise multiplier up to 1e9");
            return Err(Error::InvalidParameter { name, condition, value: delta });
        }
        high = at(high.0 + 1.0);
    }
    let mut low = low.unwrap_or_else(|| at(high.0 - 1.0));
    while low.1 <= 0.0 && low.0 >= -LARGEST_LOG {
        (low, high) = (at(low.0 - 1.0), low);
    }
    let near = boundary(&rough, low, high, true, ROUGH);
    let mut high = (near, excess(near));
    if high.1 > 0.0 {
        return Ok(near.exp());
    }
    let mut step = ROUGH * near.abs().max(1e-3);
    let mut low = (near - step, excess(near - step));
    while low.1 <= 0.0 && low.0 >= -LARGEST_LOG {
        step *= 4.0;
        let next = low.0 - step;
        (low, high) = ((next, excess(next)), low);
    }
    Ok(boundary(&excess, low, high, true, CLOSE).exp())
}

/// The largest noise up to `most` found with `δ(ε) > delta`; 0 if there is none.
fn noise_down(law: &Sided<'_>, epsilon: f64, delta: f64, most: f64) -> f64 {
    let slack = delta * SLACK;
    let excess = |log: f64| log_ratio(law.delta(epsilon, log.exp(), slack), delta);
    let at = |log: f64| (log, excess(log));
    let mut high = at(most.ln() + 1e-9);
    if high.1 > 0.0 {
        return most;
    }
    let mut low = at(high.0 - NEAR);
    while low.1 <= 0.0 {
        if low.0 - 1.0 < -LARGEST_LOG {
            return 0.0;
        }
        (low, high) = (at(low.0 - 1.0), low);
    }
    boundary(&excess, low, high, false, CLOSE).exp()
}

/// `ln(value/delta)`, which is positive exactly if `value` is larger.
fn log_ratio(value: f64, delta: f64) -> f64 {
    if value == 0.0 {
        return -LARGEST_LOG;
    }
    let log = (value / delta).ln();
    // The quotient of two neighboring floats may be rounded to 1.
    if value > delta { log.max(f64::MIN_POSITIVE) } else { log.min(0.0) }
}

/// Where `excess`, which is positive at `low` and not at `high`, changes its sign, to a relative `close`.
/// Each end comes with its value. Returns the end at which `excess` was not positive (`above`), or the last
/// one at which it was.
fn boundary(
    excess: &impl Fn(f64) -> f64,
    (mut low, mut at_low): (f64, f64),
    (mut high, mut at_high): (f64, f64),
    above: bool,
    close: f64,
) -> f64 {
    let mut side = 0;
    for _ in 0..100 {
        if high - low <= close * high.abs().max(1e-3) {
            break;
        }
        let chord = low + (high - low) * at_low / (at_low - at_high);
        let inside = low < chord && chord < high && at_low.is_finite() && at_high.is_finite();
        let mut middle = if inside { chord } else { low + (high - low) / 2.0 };
        // The step goes slightly beyond the expected boundary, so that the other end comes close to it, too.
        let shift = 0.2 * close * high.abs().max(1e-3);
        middle = (middle + if side >= 0 { -shift } else { shift }).clamp(low, high);
        if middle <= low || middle >= high {
            middle = low + (high - low) / 2.0;
        }
        let value = excess(middle);
        if value > 0.0 {
            (low, at_low) = (middle, value);
            if side == -1 {
                at_high /= 2.0;
            }
            side = -1;
        } else {
            (high, at_high) = (middle, value);
            if side == 1 {
                at_low /= 2.0;
            }
            side = 1;
        }
    }
    if above { high } else { low }
}

/// The change of `δ` by a block, as a share of `δ`.
const SLACK: f64 = 1e-5;
/// The same, and the distance of the two ends, when only a rough place is looked for.
const ROUGH: f64 = 3e-3;
/// How close an answer comes to the point where a law has this `δ`, relative.
const NEAREST: f64 = 1e-9;
const MOST_SECANTS: usize = 8;
/// The change of `δ` by the bend of a block, as a share of `δ`.
const BENT: f64 = 3e-7;
/// The largest relative distance of `s* σ²` from that of the guess.
const AROUND: f64 = 0.02;
/// Laws are compared at an `ε` of at most this.
const MOST_ASKED: f64 = 1e6;
/// How close the two ends come, relative.
const CLOSE: f64 = 1e-7;
/// The relative distance below the upper end at which the lower end is first looked for.
const NEAR: f64 = 0.05;
/// The largest `ε` that is tried.
const LARGEST: f64 = 1e9;
/// Noises from `e^{−21}` to `e^{21}` are tried.
const LARGEST_LOG: f64 = 21.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::graph::cost_law::mixture::Mixture;
    use ndp_numeric::gaussian_profile::theta;
    use ndp_numeric::rounding::Interval;

    /// A cost that is always 1: the answers are those of one Gaussian release.
    #[test]
    fn noises_of_one_release_enclose_the_truth() -> Result<(), Error> {
        let [upper, lower] = [true, false].map(|upper| Mixture::new(&[(Interval::ONE, 1.0)], upper));
        let (upper, lower) = (Sided::new(&upper, 0.0), Sided::new(&lower, 0.0));
        for (epsilon, delta) in [(0.1, 1e-3), (1.0, 1e-5), (4.0, 1e-9)] {
            let high = noise_up(&upper, epsilon, delta)?;
            let low = noise_down(&lower, epsilon, delta, high);
            assert!(low <= high && high <= low * (1.0 + 1e-5), "{low} {high}");
            // Rounding moves the profile by a few parts in 1e15.
            assert!(theta(epsilon, 1.0 / high) <= delta * (1.0 + 1e-12));
            assert!(theta(epsilon, 1.0 / low) >= delta * (1.0 - 1e-12));
            // Where the most that is asked for is too little, it is the answer itself.
            assert_eq!(noise_down(&lower, epsilon, delta, 0.5 * low), 0.5 * low);
        }
        Ok(())
    }
}
