//! Upper bounds on the moments of the sampled Gaussian at any order, by the trapezoidal rule with a proven
//! error.
//!
//! With `z ~ N(0, 1)`, `w = μz − μ²/2`, `t = q(e^w − 1)` and `X = 1 + t`, the ratio of mixture and `N(0, 1)`,
//! the divergence of order `α` is `ln E[X^β]/(α − 1)`, with `β = α` for the mixture against `N(0, 1)` (a
//! record is removed), and `β = 1 − α` for `N(0, 1)` against the mixture (it is added). As `E X = 1`,
//!
//! `E[X^β] = 1 + E g(t)`, `g(t) = (1 + t)^β − 1 − βt ≥ 0`,
//!
//! and `E g` keeps its relative accuracy even if it is small. It is computed as a sum over the nodes `kh`.
//!
//! *Error of the rule.* `g φ` is analytic where `|μ Im z| < π`, since `X` has its zeros at `Im w = ±π`. At `z
//! = x + ib`, `|b| ≤ a`, `|φ(z)| ≤ e^{a²/2} φ(x)`, `|t(z)| ≤ q(1 + e^w)`, and `cos(aμ/2) X(x) ≤ |X(z)| ≤
//! X(x)`. So `∫|g φ| ≤ e^{a²/2} C (2 + 2|β|q + E g)` with `C = 1` for `β > 0` and `cos(aμ/2)^β` otherwise,
//! and sum and integral differ by at most `η (2 + 2|β|q + E g)`, `η = 2 C e^{a²/2}/(e^{2πa/h} − 1)`
//! (Trefethen and Weideman, *The exponentially convergent trapezoidal rule*, SIAM Review 56, 2014, Theorem
//! 5.1).
//!
//! *Terms left out.* For `t > 0`, `t g'(t) ≤ max(2, β) g(t)`: for `β ≥ 2`, `βg − tg' = β[(1+t)^{β−1} − 1 −
//! (β−1)t]` is nonnegative, and otherwise the second derivative of `2g − tg'` is. Hence `d ln g/dz ≤ μ max(2,
//! β)/(1 − e^{−w})`, while `d ln φ/dz = −z`, so that beyond the last node the terms are below a geometric
//! series. On the left `g ≤ g(−q)`.
//!
//! *Rounding.* Nodes are floats without rounding, and `w = μ(z − μ/2)` has a relative error. As `g` decreases
//! up to `w = 0` and increases from there, it is evaluated at a `w` that is moved away from 0.

use ndp_numeric::rounding::{Interval, up, up_log};

/// An upper bound of `ln E[X^β]` for `0 < rate < 1`, `μ > 0`, and `β > 1` or `β < 0`; `None` if it would take
/// too many nodes.
pub(super) fn log_moment(rate: f64, mu: f64, beta: f64) -> Option<f64> {
    let rule = Rule::new(rate, mu, beta)?;
    let Rule { step, log_error } = rule;
    let power = Power { rate, beta };
    let mut terms = Vec::new();
    let mut most = f64::NEG_INFINITY;
    let growth = mu * beta.max(2.0);
    // Nodes to the right, until a geometric series bounds the remainder and shows it to be negligible.
    for k in 0.. {
        let z = step * f64::from(k);
        let w = mu * (z - 0.5 * mu);
        let term = power.log(w)? - 0.5 * z * z;
        most = most.max(term);
        terms.push(term);
        let slope = if w > 0.0 { step * (growth / -libm::expm1(-w) - z) } else { 0.0 };
        if slope < -FALL && term < most - NEGLIGIBLE {
            terms.push(term + rest(slope));
            break;
        }
        if k > MOST_NODES {
            return None;
        }
    }
    let cap = power.log_at(-rate, libm::log1p(-rate), 4.0 * rate / (1.0 - rate))?;
    for k in 1.. {
        let z = -step * f64::from(k);
        let term = power.log(mu * (z - 0.5 * mu))? - 0.5 * z * z;
        most = most.max(term);
        terms.push(term);
        let (bound, slope) = (cap - 0.5 * z * z, step * z);
        if slope < -FALL && bound < most - NEGLIGIBLE {
            terms.push(bound + rest(slope));
            break;
        }
        if k > MOST_NODES {
            return None;
        }
    }
    // Each term has the roundings of a square, a sum and a logarithm.
    let terms: Vec<f64> = terms.into_iter().map(|term| up_log(term, 16.0, 4.0)).collect();
    let sum = ndp_numeric::logspace::log_sum_exp(&terms);
    let width = Interval::new(step) / Interval::between(SQRT_2PI.next_down(), SQRT_2PI.next_up());
    let sum = Interval::new(up_log(sum, terms.len() as f64 + 8.0, 4.0)) + width.ln();
    // With T the sum over the nodes, E g ≤ (T + η (2 + 2|β|q))/(1 − η).
    let error = Interval::new(log_error);
    let flat = (Interval::new(2.0) + Interval::new(2.0 * beta.abs()) * Interval::new(rate)).ln();
    let total = Interval::new(sum.high()).log_add_exp(error + flat) - (-error.exp()).ln_1p();
    let moment = Interval::ZERO.log_add_exp(total).high();
    moment.is_finite().then_some(moment)
}

/// The trapezoidal rule: its step `h`, and the logarithm of `η`.
struct Rule {
    step: f64,
    log_error: f64,
}

impl Rule {
    fn new(rate: f64, mu: f64, beta: f64) -> Option<Self> {
        if !(1e-12..=LARGEST_MU).contains(&mu) || rate >= 1.0 {
            return None;
        }
        // The approximate logarithm of E g if that is small.
        let about =
            2.0 * libm::log(rate) + libm::log(libm::expm1(mu * mu)) + libm::log(0.5 * beta * (beta - 1.0));
        let wanted = ACCURACY - about.min(0.0);
        let log_growth = |a: f64| {
            // ln C, which is 0 for β > 0.
            let lost = if beta < 0.0 { -beta.abs() * libm::log(libm::cos(0.5 * a * mu)) } else { 0.0 };
            0.5 * a * a + lost
        };
        // Every half-width a of the strip gives a valid bound; the one that allows the longest step is taken.
        let widths =
            (0..32).map(|k| (3.0 / mu).min(libm::sqrt(2.0 * wanted)) * libm::exp2(-0.125 * f64::from(k)));
        let (a, step) = widths
            .map(|a| (a, 2.0 * std::f64::consts::PI * a / (wanted + log_growth(a))))
            .max_by(|x, y| x.1.total_cmp(&y.1))?;
        // The step is cut to twelve significant bits, so that all nodes kh are floats without rounding.
        let step = f64::from_bits(step.min(0.5).to_bits() & !((1 << 41) - 1));
        let nodes = (mu * beta.max(2.0) + 30.0) / step;
        if !(step > 0.0 && nodes < f64::from(MOST_NODES)) {
            return None;
        }
        let strip =
            Interval::new(2.0 * std::f64::consts::PI.next_down()) * Interval::new(a) / Interval::new(step);
        let lost = up(log_growth(a), 64.0) + 1e-12 * (1.0 + beta.abs());
        let log_error = Interval::new(2.0).ln() + Interval::new(lost) - strip.log_expm1();
        (log_error.high() < -1.0).then_some(Self { step, log_error: log_error.high() })
    }
}

/// The function `g`.
#[derive(Clone, Copy)]
struct Power {
    rate: f64,
    beta: f64,
}

impl Power {
    /// `ln g` at `w`, rounded up.
    fn log(self, w: f64) -> Option<f64> {
        // Moved away from 0 by more than the rounding error of w.
        let w = w * (1.0 + 4.0 * f64::EPSILON);
        let t = if w < 700.0 { self.rate * libm::expm1(w) } else { f64::INFINITY };
        if w <= 30.0 || t <= 0.5 {
            let log = libm::log1p(t);
            return self.log_at(t, log, 4.0 * t.abs() / (1.0 + t) + 3.0 * log.abs());
        }
        // ln(1 + t) = ln q + w + ln(1 + (1 − q)/q e^{−w}), which cancels where t is small.
        let log_rate = libm::log(self.rate);
        if w >= 700.0 && log_rate + w < 0.0 {
            return None;
        }
        let log = log_rate + w + libm::log1p((1.0 - self.rate) / self.rate * libm::exp(-w));
        self.log_at(t, log, 4.0 * (w + log_rate.abs()) + 8.0)
    }

    /// `ln g` at `t`, of relative error at most 4 units `u = 2^{−53}`, where `log` is `ln(1 + t)`, of error
    /// at most `log_error` units; rounded up.
    fn log_at(self, t: f64, log: f64, log_error: f64) -> Option<f64> {
        let Self { beta, .. } = self;
        let h = beta * log;
        let h_error = beta.abs() * log_error + h.abs();
        if h > 30.0 {
            // g = (1 + t)^β (1 − d), d = (1 + βt)(1 + t)^{−β} with 1 + βt = β(1 + t) − (β − 1).
            let (minuend, subtrahend) = (beta * libm::exp(log - h), (beta - 1.0) * libm::exp(-h));
            let left = 1.0 - (minuend - subtrahend);
            let parts =
                minuend.abs() * (h_error + log_error + 8.0) + subtrahend.abs() * (h_error + 8.0) + 4.0;
            let error = 2.0 * U * (h_error + parts / left);
            return (left > 1e-8 && error < 1e-2).then(|| h + libm::log(left) + error);
        }
        let (value, rounding) = if h.abs() <= 0.5 && t.abs() <= 0.5 {
            // g = (e^h − 1 − h) + β (ln(1 + t) − t), each part by its series.
            let (curve, line) = (exp_remainder(h), log_remainder(t));
            (curve + beta * line, 12.0 * h * h + 24.0 * (beta * line).abs())
        } else {
            let power = libm::expm1(h);
            (power - beta * t, 4.0 * power.abs() + 4.0 * (beta * t).abs() + 2.0 * (1.0 + power) * h_error)
        };
        // The error of t, times the derivative β((1 + t)^{β−1} − 1) of g.
        let slope = (beta * libm::expm1(h - log)).abs();
        let bound = value.max(0.0) + 2.0 * U * (rounding + 4.0 * t.abs() * slope);
        bound.is_finite().then(|| libm::log(bound.max(f64::MIN_POSITIVE)))
    }
}

/// `ln(r/(1 − r))` for `r = e^slope`: the sum of a geometric series after its first term, relative to that
/// term, rounded up.
fn rest(slope: f64) -> f64 {
    slope - libm::log(-libm::expm1(slope)) + 1e-12
}

/// `e^x − 1 − x` for `|x| ≤ 1/2`; relative error below 12 units.
fn exp_remainder(x: f64) -> f64 {
    let mut sum = 1.0;
    for k in (3..=18).rev() {
        sum = 1.0 + sum * x / f64::from(k);
    }
    0.5 * x * x * sum
}

/// `ln(1 + x) − x` for `|x| ≤ 1/2`; relative error below 16 units. With `s = x/(2 + x)`: `−2s²/(1 − s) +
/// 2(s³/3 + s⁵/5 + …)`.
fn log_remainder(x: f64) -> f64 {
    let s = x / (2.0 + x);
    let square = s * s;
    let mut sum = 0.0;
    for k in (1..=18).rev() {
        sum = square * (sum + 1.0 / f64::from(2 * k + 1));
    }
    2.0 * s * sum - 2.0 * square / (1.0 - s)
}

/// `2^{−53}`.
const U: f64 = 0.5 * f64::EPSILON;
const SQRT_2PI: f64 = ndp_numeric::special::SQRT_2PI;
/// `−ln` of the relative accuracy of the rule.
const ACCURACY: f64 = 36.0;
/// `−ln` of the remainder that may be left out, relative to the largest term.
const NEGLIGIBLE: f64 = 40.0;
/// The least decrease, per step, of the logarithm of the terms at which a sum may be cut.
const FALL: f64 = 0.02;
/// The most nodes of a sum.
const MOST_NODES: i32 = 16_384;
/// The largest `μ` for which a moment is computed; beyond it sampling hides almost nothing.
const LARGEST_MU: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// `E X² = 1 + q² (e^{μ²} − 1)`: to its last digits also where it is next to 1.
    #[test]
    fn second_moments_keep_their_digits() {
        for (rate, mu) in [(0.1, 1e-5), (0.5, 1e-8), (1e-4, 1e-3), (0.3, 0.7), (0.01, 4.0)] {
            let exact = (rate * rate * f64::exp_m1(mu * mu)).ln_1p();
            let found = log_moment(rate, mu, 2.0).expect("few nodes");
            assert!(exact * (1.0 - 1e-13) <= found && found <= exact * (1.0 + 1e-10), "{found} {exact}");
        }
    }

    /// With rates below 1e-13 most of a moment may come from where `e^w` is large and `q e^w` is small. At
    /// orders next to 2 it is `1 + q² (e^{μ²} − 1) β (β − 1)/2`, up to `q e^{2μ²}` of
    /// it.
    #[test]
    fn tiny_rates_keep_what_is_far_out() {
        let mut met = 0;
        for (rate, mu) in [(1e-100, 1.0 / 0.3433236194598292), (1e-100, 10.0), (1e-60, 7.0), (1e-30, 4.0)] {
            for beta in [2.0, 2.000000001, 2.5, -1.0, -0.25] {
                let second = 2.0 * f64::ln(rate) + f64::ln(f64::exp_m1(mu * mu));
                let exact = second + f64::ln(0.5 * beta * (beta - 1.0));
                // Losses below 1e-308 have no logarithm in floats; where the rule takes too many nodes
                // there is none.
                let Some(found) = log_moment(rate, mu, beta).filter(|&x| x > 1e-300) else { continue };
                let found = found.ln();
                assert!(found >= exact - 1e-12, "{rate} {mu} {beta}: {found} {exact}");
                met += usize::from(found - exact < 1e-9);
            }
        }
        assert!(met >= 12, "{met}");
        // A power of the ratio that is neither small nor large where w is beyond the range of exp.
        assert!(Power { rate: 1e-306, beta: 2.5 }.log(701.0).is_none());
    }

    /// Whatever strip was taken, `η` is at least that of the best one for the step, the least over many
    /// half-widths `a` below `π/μ` of `2 C e^{a²/2}/(e^{2πa/h} − 1)`.
    #[test]
    fn errors_of_the_rule_are_those_of_a_strip() {
        for (rate, mu, beta) in [
            (0.1, 0.5, 2.0),
            (0.01, 1.0, 8.0),
            (0.3, 3.0, 4.0),
            (0.1, 1.0, -3.0),
            (0.5, 0.1, 40.0),
            (0.2, 9.0, -1.0),
        ] {
            let rule = Rule::new(rate, mu, beta).expect("few nodes");
            let log_error = |a: f64| {
                let lost = if beta < 0.0 { beta * (0.5 * a * mu).cos().ln() } else { 0.0 };
                2.0_f64.ln() + lost + 0.5 * a * a - (2.0 * std::f64::consts::PI * a / rule.step).exp_m1().ln()
            };
            let most = (std::f64::consts::PI / mu).min(60.0 * rule.step);
            let least =
                (1..10_000).map(|k| log_error(most * f64::from(k) / 10_000.0)).fold(f64::MAX, f64::min);
            assert!(least <= rule.log_error + 1e-6, "{mu} {beta}: {least} {}", rule.log_error);
            assert!(rule.log_error < -30.0, "{mu} {beta}: {}", rule.log_error);
        }
    }
}
