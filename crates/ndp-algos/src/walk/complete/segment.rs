//! The moment of one segment: how much the contributions of one node to a segment of `m` foreign steps cost,
//! averaged over the path.
//!
//! `a_m = E e^{θ K²/m}`, `K ~ Bin(m, ρ)`, `a_0 = 1`.

/// Evaluates `ln a_m` from above, for one `ρ` and one `θ`.
pub(crate) struct SegmentMoments {
    rho: f64,
    theta: f64,
    /// Longer segments are summed only where their tail is known: the full sum takes `O(m)`.
    longest_full_sum: usize,
    /// Rates at which the tail is known to fall, and from which fraction of `m` on.
    tails: Vec<Tail>,
}

/// From `k ≥ from · m` on, every term `P(K = k) e^{θ k²/m}` is at most `e^{−rate·k}`.
struct Tail {
    rate: f64,
    from: f64,
}

/// The terms left out weigh at most `e^{−CUT} / (1 − e^{−rate})` against a sum of at least 1; that much is added.
const CUT: f64 = 36.0;

impl SegmentMoments {
    pub(crate) fn new(rho: f64, theta: f64, longest_full_sum: usize) -> Self {
        let tails = TAIL_RATES.iter().filter_map(|&rate| Tail::certify(rho, theta, rate)).collect();
        Self { rho, theta, longest_full_sum, tails }
    }

    /// `ln a_m`, rounded outward; infinite for a long segment without a known tail.
    pub(crate) fn ln_moment(&self, m: usize) -> f64 {
        if m == 0 {
            return 0.0;
        }
        let length = m as f64;
        if self.rho >= 1.0 {
            return self.theta * length;
        }
        let stop = self
            .tails
            .iter()
            .map(|tail| (tail.from * length).max(CUT / tail.rate))
            .fold(f64::INFINITY, f64::min);
        let last = if stop < length { stop.ceil() as usize } else { m };
        if last == m && m > self.longest_full_sum {
            return f64::INFINITY;
        }
        let ln_none = length * (-self.rho).ln_1p();
        let remainder = if last < m { TAIL_MASS } else { 0.0 };
        match self.sum_by_ratios(m, last, ln_none) {
            Some(sum) => (sum + remainder).ln(),
            None => {
                let ln_sum = self.ln_sum(m, last, ln_none);
                ln_sum + (remainder * (-ln_sum).exp()).ln_1p()
            }
        }
    }

    /// `Σ_{k ≤ last}` of the terms, each from its predecessor; `None` where floats would not hold it.
    fn sum_by_ratios(&self, m: usize, last: usize, ln_none: f64) -> Option<f64> {
        // Errors of the ratios add up: beyond this many terms the logarithmic sum is the better one.
        if ln_none < -600.0 || last > 256 {
            return None;
        }
        let odds = self.rho / (1.0 - self.rho);
        let mut factor = odds * (self.theta / m as f64).exp();
        let growth = (2.0 * self.theta / m as f64).exp();
        let mut term = ln_none.exp();
        let mut sum = term;
        for k in 0..last {
            term *= (m - k) as f64 * factor / (k + 1) as f64;
            factor *= growth;
            sum += term;
        }
        (sum < 1e290).then_some(sum)
    }

    /// The same sum in logarithms.
    fn ln_sum(&self, m: usize, last: usize, ln_none: f64) -> f64 {
        let ln_odds = self.rho.ln() - (-self.rho).ln_1p();
        let mut ln_term = ln_none;
        let (mut high, mut sum) = (ln_none, 1.0);
        for k in 0..last {
            let exponent = self.theta * (2 * k + 1) as f64 / m as f64;
            ln_term += ((m - k) as f64 / (k + 1) as f64).ln() + ln_odds + exponent;
            if ln_term <= high {
                sum += (ln_term - high).exp();
            } else {
                sum = sum * (high - ln_term).exp() + 1.0;
                high = ln_term;
            }
        }
        high + sum.ln()
    }
}

/// Rates tried for the tail; small rates start earlier, large ones need fewer terms.
const TAIL_RATES: [f64; 9] = [4.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25, 0.15];

/// Bound on the mass left out, `e^{−36}/(1 − e^{−0.15}) < 1.7e-15`.
const TAIL_MASS: f64 = 1.7e-15;

impl Tail {
    /// By Chernoff, `P(K = k) ≤ e^{−m KL(k/m, ρ)}`, so the claim follows where
    /// `KL(x, ρ) ≥ θ x² + rate·x` for every `x` above: checked on blocks from 1 downward, `KL` at the lower end
    /// (it increases beyond `ρ`) against the right-hand side at the upper end.
    fn certify(rho: f64, theta: f64, rate: f64) -> Option<Self> {
        let mut upper = 1.0;
        loop {
            let lower = upper / BLOCK;
            if lower <= rho || relative_entropy(lower, rho) < theta * upper * upper + rate * upper {
                return (upper < 1.0).then_some(Self { rate, from: upper });
            }
            upper = lower;
        }
    }
}

/// Ratio of the ends of a block.
const BLOCK: f64 = 1.02;

/// `KL(x, ρ) = x ln(x/ρ) + (1−x) ln((1−x)/(1−ρ))`, for `ρ < x < 1`.
fn relative_entropy(x: f64, rho: f64) -> f64 {
    x * (x / rho).ln() + (1.0 - x) * ((-x).ln_1p() - (-rho).ln_1p())
}
