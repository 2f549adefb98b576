//! The moment of one segment: the cost of the contributions of one node to a segment of `m` foreign steps,
//! averaged over the path.
//!
//! `a_m = E e^{θ K²/m}`, `K ~ Bin(m, ρ)`, `a_0 = 1`, is stored as its excess `a_m − 1 = Σ_{k≥1} P(K = k)
//! (e^{θ k²/m} − 1)`, a sum of positive terms that keeps all digits for the smallest `θ`.

use multiversion::multiversion;
use ndp_numeric::logspace::{log_add_exp, log_expm1};
use rayon::prelude::*;

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

    /// `ln (a_m − 1)` for `m` from 0 to `count − 1`, rounded up; `−∞` for `a_m = 1`, infinite for a long
    /// segment without a known tail.
    pub(crate) fn ln_excesses(&self, count: usize) -> Vec<f64> {
        let mut excesses = vec![0.0; count];
        excesses.par_chunks_mut(LANES).with_min_len(8).enumerate().for_each(|(block, excesses)| {
            let lengths = std::array::from_fn(|lane| block * LANES + lane);
            let terms = lengths.map(|m| self.terms(m));
            let has_ratios = |m: usize, last: usize| {
                self.theta * (last as f64 * last as f64) / (m as f64) < MAX_CHARGE && last <= MAX_RATIOS
            };
            let by_ratios = std::array::from_fn(|lane| match terms[lane] {
                Terms::UpTo { last, .. } if has_ratios(lengths[lane], last) => last,
                _ => 0,
            });
            let ln_sums = self.sums_by_ratios(lengths, by_ratios);
            for (lane, excess) in excesses.iter_mut().enumerate() {
                let m = lengths[lane];
                *excess = match terms[lane] {
                    Terms::Known(ln_excess) => ln_excess,
                    Terms::UpTo { last, rate } => {
                        let summed =
                            if by_ratios[lane] > 0 { ln_sums[lane] } else { self.sum_of_logs(m, last) };
                        let left_out = rate.map_or(f64::NEG_INFINITY, |rate| self.ln_left_out(m, last, rate));
                        log_add_exp(summed, left_out) + 4.0 * f64::EPSILON + self.ln_factor
                    }
                };
            }
        });
        excesses
    }

    fn terms(&self, m: usize) -> Terms {
        if m == 0 || self.theta == 0.0 {
            return Terms::Known(f64::NEG_INFINITY);
        }
        let length = m as f64;
        if self.rho >= 1.0 {
            let ln = up_ln(log_expm1(self.theta * length), self.theta * length);
            return Terms::Known(ln + self.ln_factor);
        }
        let cut = CUT - self.rho.ln();
        let ends = |tail: &Tail| ((tail.from * length).max(cut / tail.rate).ceil(), tail.rate);
        let known = self.tails.iter().map(ends).min_by(|a, b| a.0.total_cmp(&b.0));
        match known.filter(|&(last, _)| last < length) {
            Some((last, rate)) => Terms::UpTo { last: ndp_numeric::casts::floor(last), rate: Some(rate) },
            None if m > self.longest_full_sum => Terms::Known(f64::INFINITY),
            None => Terms::UpTo { last: m, rate: None },
        }
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

    /// `ln` of the sums of the terms up to `lasts`, rounded up; each term is computed from its predecessor.
    fn sums_by_ratios(&self, lengths: [usize; LANES], lasts: [usize; LANES]) -> [f64; LANES] {
        let odds = self.rho / (1.0 - self.rho);
        let lengths = lengths.map(|m| m as f64);
        let sums = sums_by_ratios(odds, self.theta, lengths, lasts);
        std::array::from_fn(|lane| {
            let (length, (sum, errors)) = (lengths[lane], (sums.terms[lane], sums.errors[lane]));
            let ln_none = length * (-self.rho).ln_1p();
            let shift = ln_none + sums.divisions[lane] * LN_LARGE;
            // The step for k has the roundings of k products, and a charge those of k steps, each less than
            // (3 + 2θ/m) ulp. A mass has 5k roundings, and the sum k.
            let rounding = f64::EPSILON * (4.0 + 2.0 * self.theta / length);
            let total = sum + rounding * (errors + 8.0 * sum);
            total.ln() + shift + f64::EPSILON * (4.0 * ln_none.abs() + 2.0 * shift.abs() + 4.0)
        })
    }

    /// `ln` of the sum of the terms up to `last`, rounded up and computed in logarithms.
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

/// What the moment of one length consists of.
#[derive(Clone, Copy)]
enum Terms {
    /// `ln (a_m − 1)` without a sum.
    Known(f64),
    /// The terms up to `last`, and those beyond it if they are known to fall at this rate.
    UpTo { last: usize, rate: Option<f64> },
}

/// For several lengths: sums of terms in units of `P(K = 0)`, and of `k²` times the terms.
struct Sums {
    terms: [f64; LANES],
    errors: [f64; LANES],
    /// How often the sums were divided by [`LARGE`].
    divisions: [f64; LANES],
}

/// Adds the terms up to `lasts` for several lengths side by side, with the same bits as one after the other.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn sums_by_ratios(odds: f64, theta: f64, lengths: [f64; LANES], lasts: [usize; LANES]) -> Sums {
    let mut sums = Sums { terms: [0.0; LANES], errors: [0.0; LANES], divisions: [0.0; LANES] };
    let mut masses = [1.0; LANES];
    // The charge e^{θ k²/m} − 1, the step to the next one, e^{θ (2k+1)/m} − 1, and the step of that step.
    let mut charges = [0.0; LANES];
    let mut steps = lengths.map(|length| (theta / length).exp_m1());
    let growths = lengths.map(|length| (2.0 * theta / length).exp_m1());
    let ends = lasts.map(|last| last as f64);
    for k in 1..=lasts.into_iter().max().unwrap_or(0) {
        let count = k as f64;
        let mut is_large = false;
        for lane in 0..LANES {
            masses[lane] *= (lengths[lane] - count + 1.0) * odds / count;
            charges[lane] += steps[lane] + charges[lane] * steps[lane];
            steps[lane] += growths[lane] + steps[lane] * growths[lane];
            let term = if count <= ends[lane] { masses[lane] * charges[lane] } else { 0.0 };
            sums.terms[lane] += term;
            sums.errors[lane] += term * count * count;
            is_large |= masses[lane] > LARGE || sums.terms[lane] > LARGE;
        }
        if is_large {
            for lane in 0..LANES {
                if count <= ends[lane] && (masses[lane] > LARGE || sums.terms[lane] > LARGE) {
                    masses[lane] /= LARGE;
                    sums.terms[lane] /= LARGE;
                    sums.errors[lane] /= LARGE;
                    sums.divisions[lane] += 1.0;
                }
            }
        }
    }
    sums
}

/// The number of lengths that are computed side by side.
const LANES: usize = 8;
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
