//! `ε` at a `δ` and the least noise: by regula falsi on a monotone function, ending on the side that was seen
//! to hold.

use super::spread::Sided;
use ndp_account::Error;

/// The smallest `ε` found with `δ(ε) ≤ delta`; infinite where none is.
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
    // The digits, from where they begin.
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

/// The largest `ε` up to `most` found with `δ(ε) > delta`; 0 where none is.
pub(super) fn epsilon_down(law: &Sided<'_>, sigma: f64, delta: f64, most: f64) -> f64 {
    let slack = delta * SLACK;
    let excess = |epsilon: f64| log_ratio(law.delta(epsilon, sigma, slack), delta);
    // Both ends are mostly near each other.
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
/// [`Error::InvalidParameter`] where none up to `1e9` is.
pub(super) fn noise_up(law: &Sided<'_>, epsilon: f64, delta: f64) -> Result<f64, Error> {
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

/// The largest noise up to `most` found with `δ(ε) > delta`; 0 where none is.
pub(super) fn noise_down(law: &Sided<'_>, epsilon: f64, delta: f64, most: f64) -> f64 {
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

fn log_ratio(value: f64, delta: f64) -> f64 {
    if value == 0.0 { -LARGEST_LOG } else { (value / delta).ln() }
}

/// Where `excess`, positive at `low` and not at `high`, each with its value, changes its sign, to a relative
/// `close`: the end that was seen to hold (`above`), or the last one that was seen not to.
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
        // A little beyond where the boundary seems to be, so that the other end comes close, too.
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

/// What a block may make of a difference, as a share of `δ`.
const SLACK: f64 = 1e-5;
/// The same, and how near the two ends come, where nothing but the place is looked for.
const ROUGH: f64 = 3e-3;
/// How near the two ends come.
const CLOSE: f64 = 1e-7;
/// How much smaller the lower end is looked for at first, relative.
const NEAR: f64 = 0.05;
/// The largest `ε` looked at.
const LARGEST: f64 = 1e9;
/// Noises from `e^{−21}` to `e^{21}`.
const LARGEST_LOG: f64 = 21.0;
