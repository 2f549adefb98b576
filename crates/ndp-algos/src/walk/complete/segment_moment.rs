//! The moment of one segment: the cost of the contributions of one node to a segment of `m` foreign steps,
//! averaged over the path.
//!
//! `a_m = E e^{θ K²/m}`, `K ~ Bin(m, ρ)`, `a_0 = 1`, is stored as its excess `a_m − 1 = Σ_{k≥1} P(K = k)
//! (e^{θ k²/m} − 1)`, a sum of positive terms that keeps all digits for the smallest `θ`.

use ndp_numeric::logspace::{log_add_exp, log_expm1};

/// Computes upper bounds on `ln (a_m − 1)`, for one `ρ` and one `θ`.
pub(crate) struct SegmentMoments {
    rho: f64,
    theta: f64,
    /// Added to every logarithm: 0 unless `θ` is tiny.
    ln_factor: f64,
    /// Longer segments are summed only if their tail is known, as the complete sum takes `O(m)`.
    longest_full_sum: usize,
    /// The rates at which the tail is known to fall, and the fraction of `m` from which each holds.
    tails: Vec<Tail>,
}

/// From `k ≥ from · m` on, every term `P(K = k) e^{θ k²/m}` is at most `e^{−rate·k}`.
struct Tail {
    rate: f64,
    from: f64,
}

/// Terms are left out once their weight is at most `e^{−CUT} ρ`, and a bound on their sum is added.
const CUT: f64 = 42.0;

/// Excesses are convex in `θ`: for a `θ` below this one, they are bounded by the line to 0, so that nothing
/// underflows.
const LEAST_THETA: f64 = 1e-200;

impl SegmentMoments {
    pub(crate) fn new(rho: f64, theta: f64, longest_full_sum: usize) -> Self {
        let (theta, ln_factor) = match theta {
            theta if 0.0 < theta && theta < LEAST_THETA => (LEAST_THETA, theta.ln() - LEAST_THETA.ln()),
            theta => (theta, 0.0),
        };
        let tails = TAIL_RATES.iter().filter_map(|&rate| Tail::certify(rho, theta, rate)).collect();
        Self { rho, theta, ln_factor, longest_full_sum, tails }
    }

    /// `ln (a_m − 1)`, rounded up; `−∞` for `a_m = 1`, infinite for a long segment without a known tail.
    pub(crate) fn ln_excess(&self, m: usize) -> f64 {
        if m == 0 || self.theta == 0.0 {
            return f64::NEG_INFINITY;
        }
        let length = m as f64;
        if self.rho >= 1.0 {
            return up_ln(log_expm1(self.theta * length), self.theta * length) + self.ln_factor;
        }
        let cut = CUT - self.rho.ln();
        let ends = |tail: &Tail| ((tail.from * length).max(cut / tail.rate).ceil(), tail.rate);
        let known = self.tails.iter().map(ends).min_by(|a, b| a.0.total_cmp(&b.0));
        let known = known.filter(|&(stop, _)| stop < length);
        if known.is_none() && m > self.longest_full_sum {
            return f64::INFINITY;
        }
        let last = known.map_or(m, |(stop, _)| ndp_numeric::casts::floor(stop));
        let summed = self.sum(m, last);
        let left_out = known.map_or(f64::NEG_INFINITY, |(_, rate)| self.ln_left_out(m, last, rate));
        log_add_exp(summed, left_out) + 4.0 * f64::EPSILON + self.ln_factor
    }

    /// A bound on `ln` of the terms beyond `last`, each of which is at most `min(1, θ k²/m) e^{−rate·k}`,
    /// since `e^x − 1 ≤ min(1, x) e^x`.
    fn ln_left_out(&self, m: usize, last: usize, rate: f64) -> f64 {
        let first = (last + 1) as f64;
        let flat = -rate * first - (-(-rate).exp()).ln_1p();
        // The ratio of successive values of k² e^{−rate·k} decreases in k.
        let ratio = ((first + 1.0) / first).powi(2) * (-rate).exp();
        let small = self.theta / m as f64 * first * first / (1.0 - ratio);
        if ratio < 1.0 { flat.min(small.ln() - rate * first) } else { flat }
    }

    /// `ln` of the sum of the terms up to `last`, rounded up.
    fn sum(&self, m: usize, last: usize) -> f64 {
        let (length, most) = (m as f64, last as f64);
        if self.theta * most * most / length < MAX_CHARGE && last <= MAX_RATIOS {
            self.sum_by_ratios(m, last)
        } else {
            self.sum_of_logs(m, last)
        }
    }

    /// The same sum, in which each term is computed from its predecessor.
    fn sum_by_ratios(&self, m: usize, last: usize) -> f64 {
        let length = m as f64;
        let odds = self.rho / (1.0 - self.rho);
        let ln_none = length * (-self.rho).ln_1p();
        let mut shift = ln_none;
        let mut mass = 1.0;
        // The charge e^{θ k²/m} − 1, the step to the next one, e^{θ (2k+1)/m} − 1, and the step of that step.
        let mut charge = 0.0;
        let mut step = (self.theta / length).exp_m1();
        let growth = (2.0 * self.theta / length).exp_m1();
        let (mut sum, mut errors) = (0.0, 0.0);
        for k in 1..=last {
            let count = k as f64;
            mass *= (m - k + 1) as f64 * odds / count;
            charge += step + charge * step;
            step += growth + step * growth;
            let term = mass * charge;
            sum += term;
            errors += term * count * count;
            if mass > LARGE || sum > LARGE {
                mass /= LARGE;
                sum /= LARGE;
                errors /= LARGE;
                shift += LN_LARGE;
            }
        }
        // The step for k has the roundings of k products, and a charge those of k steps, each less than (3 +
        // 2θ/m) ulp. A mass has 5k roundings, and the sum k.
        let rounding = f64::EPSILON * (4.0 + 2.0 * self.theta / length);
        let total = sum + rounding * (errors + 8.0 * sum);
        total.ln() + shift + f64::EPSILON * (4.0 * ln_none.abs() + 2.0 * shift.abs() + 4.0)
    }

    /// The same sum, computed in logarithms.
    fn sum_of_logs(&self, m: usize, last: usize) -> f64 {
        let length = m as f64;
        let ln_odds = self.rho.ln() - (-self.rho).ln_1p();
        let mut ln_mass = length * (-self.rho).ln_1p();
        let mut errors = 4.0 * ln_mass.abs();
        let (mut high, mut sum) = (f64::NEG_INFINITY, 0.0);
        for k in 1..=last {
            let step = ((m - k + 1) as f64 / k as f64).ln() + ln_odds;
            ln_mass += step;
            errors += 2.0 * ln_mass.abs() + 4.0 * (step.abs() + ln_odds.abs());
            let charge = self.theta * (k as f64 * k as f64) / length;
            let ln_term = ln_mass + log_expm1(charge);
            if ln_term <= high {
                sum += (ln_term - high).exp();
            } else {
                sum = sum * (high - ln_term).exp() + 1.0;
                high = ln_term;
            }
        }
        let largest = self.theta * last as f64 * (last as f64 / length);
        high + f64::ln(sum) + f64::EPSILON * (errors + 4.0 * largest + 2.0 * high.abs() + last as f64 + 8.0)
    }
}

/// For larger values, the exponents of charges would come close to overflow; with more ratios, their errors
/// would come close to 1e-11.
const MAX_CHARGE: f64 = 300.0;
const MAX_RATIOS: usize = 256;
/// Sums that exceed this are divided by it; and its logarithm, rounded up.
const LARGE: f64 = 1e150;
const LN_LARGE: f64 = 345.387_763_949_106_9;

/// The logarithm of a value that was computed from `x`, rounded up.
fn up_ln(ln: f64, x: f64) -> f64 {
    ln + 4.0 * f64::EPSILON * (1.0 + ln.abs().max(x))
}

/// The rates that are tried for the tail: small rates hold from an earlier term on, large ones need fewer
/// terms.
const TAIL_RATES: [f64; 9] = [4.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25, 0.15];

impl Tail {
    /// By Chernoff's bound `P(K = k) ≤ e^{−m KL(k/m, ρ)}`, so that the claim follows if `KL(x, ρ) ≥ θ x² +
    /// rate·x` for every larger `x`. This is checked on blocks from 1 downward: `KL` at the lower end of a
    /// block (it increases beyond `ρ`) is compared with the right-hand side at the upper end.
    fn certify(rho: f64, theta: f64, rate: f64) -> Option<Self> {
        let mut upper = 1.0;
        loop {
            let lower = upper / BLOCK;
            let needed = (theta * upper * upper + rate * upper) * (1.0 + 1e-12);
            // Written so that NaN ends the search.
            let falls = relative_entropy(lower, rho) >= needed;
            if lower <= rho || !falls {
                return (upper < 1.0).then_some(Self { rate, from: upper });
            }
            upper = lower;
        }
    }
}

/// The ratio of the ends of a block.
const BLOCK: f64 = 1.02;

/// `KL(x, ρ) = x ln(x/ρ) + (1−x) ln((1−x)/(1−ρ))`, for `ρ < x < 1`.
fn relative_entropy(x: f64, rho: f64) -> f64 {
    x * (x / rho).ln() + (1.0 - x) * ((-x).ln_1p() - (-rho).ln_1p())
}
