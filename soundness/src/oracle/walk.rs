//! Uniform walks on the complete graph by all their paths, and the Gaussian profile, from their definitions.

/// Who holds the token: the exposed node, an observer, or one of the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    Exposed,
    Observer,
    Other,
}

/// A small walk on `n` nodes, of which `colluders` observe. With `from_exposed` it starts at the exposed
/// node.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    pub(crate) n: usize,
    pub(crate) steps: usize,
    pub(crate) colluders: usize,
    pub(crate) published: bool,
    pub(crate) from_exposed: bool,
    /// Contributions after this many only add noise.
    pub(crate) cap: usize,
}

impl Walk {
    /// The probability and the cost of every class of paths. Between two looks of the observers, the cost is
    /// the square of what the exposed node contributed, divided by the variance of the noise; the cost of a
    /// path is the sum of these. `size` is the size of the contribution and of the noise of a step.
    pub(crate) fn costs(&self, size: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
        let n = self.n as f64;
        let kinds = [
            (Holder::Exposed, 1.0 / n),
            (Holder::Observer, self.colluders as f64 / n),
            (Holder::Other, (self.n - 1 - self.colluders) as f64 / n),
        ];
        let mut all = Vec::new();
        for mut code in 0..3usize.pow(u32::try_from(self.steps).expect("walks are short")) {
            let (mut probability, mut cost, mut shift, mut variance, mut made) = (1.0, 0.0, 0.0, 0.0, 0);
            let mut look = |shift: &mut f64, variance: &mut f64| {
                if *shift > 0.0 {
                    cost += *shift * *shift / *variance;
                }
                (*shift, *variance) = (0.0, 0.0);
            };
            for step in 0..self.steps {
                let (holder, share) = kinds[code % 3];
                code /= 3;
                probability *= match (step, self.from_exposed, holder) {
                    (0, true, Holder::Exposed) => 1.0,
                    (0, true, _) => 0.0,
                    _ => share,
                };
                if holder == Holder::Observer {
                    look(&mut shift, &mut variance);
                    continue;
                }
                if holder == Holder::Exposed {
                    made += 1;
                    if made <= self.cap {
                        shift += size(step);
                    }
                }
                variance += size(step) * size(step);
            }
            if self.published {
                look(&mut shift, &mut variance);
            }
            if probability > 0.0 {
                all.push((probability, cost));
            }
        }
        all
    }

    /// `E e^{θ cost} − 1`, with a relative error of a few 1e-14.
    pub(crate) fn excess(&self, theta: f64) -> f64 {
        compensated(self.costs(|_| 1.0).into_iter().map(|(p, cost)| p * (theta * cost).exp_m1()))
    }

    /// The exact `δ` at `ε` for an observer who knows the path: a mixture of Gaussian releases of parameters
    /// `μ √cost`.
    pub(crate) fn delta(&self, mu: f64, epsilon: f64, size: impl Fn(usize) -> f64) -> f64 {
        compensated(self.costs(size).into_iter().map(|(p, cost)| p * profile(epsilon, mu * cost.sqrt())))
    }
}

/// A sum of nonnegative terms, with an error of about two roundings.
pub(crate) fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut missing) = (0.0, 0.0);
    for term in terms {
        let term = term - missing;
        let next: f64 = sum + term;
        missing = (next - sum) - term;
        sum = next;
    }
    sum
}

/// An upper bound on the absolute error of [`profile`]; at `ε = 0` it is relative to the value.
pub(crate) const PROFILE_ERROR: f64 = 1e-12;

/// `Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2)`.
pub(crate) fn profile(epsilon: f64, mu: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    if epsilon == 0.0 {
        return erf(mu / 8f64.sqrt());
    }
    let (a, b) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
    // e^ε Q(b) = φ(a) R(b) avoids overflow of e^ε; Mills' ratio R by its continued fraction.
    let scaled = if b > 5.0 {
        let ratio = (1..=120).rev().fold(b, |fraction, k| b + f64::from(k) / fraction);
        (-a * a / 2.0).exp() / (2.506_628_274_631_000_5 * ratio)
    } else {
        epsilon.exp() * tail(b)
    };
    (tail(a) - scaled).max(0.0)
}

/// The `δ` at `ε` of one look after `m` steps, the larger of both directions. Each step is by the exposed
/// node with probability `rho`, and the observer does not know which steps are: a binomial mixture of normal
/// laws with shifts `k μ` against no shift, with the noise of all `m` steps. The likelihood ratio increases
/// with the observed value, so the best event is a half-line; any half-line gives a lower bound.
pub(crate) fn hidden_look(epsilon: f64, mu: f64, m: u32, rho: f64) -> f64 {
    let spread = f64::from(m).sqrt();
    let mut law = vec![(1.0 - rho).powi(i32::try_from(m).expect("looks are short"))];
    for k in 0..m {
        let last = law[law.len() - 1];
        law.push(last * f64::from(m - k) / f64::from(k + 1) * rho / (1.0 - rho));
    }
    let shifts = || (0..).map(f64::from).zip(&law);
    let above = |x: f64| shifts().map(|(k, p)| p * tail((x - k * mu) / spread)).sum::<f64>();
    let below = |x: f64| shifts().map(|(k, p)| p * tail((k * mu - x) / spread)).sum::<f64>();
    let more = |x: f64| above(x) - epsilon.exp() * tail(x / spread);
    let less = |x: f64| tail(-x / spread) - epsilon.exp() * below(x);
    let ends = (-40.0 * spread, f64::from(m) * mu + 40.0 * spread);
    highest(more, ends).max(highest(less, ends)).max(0.0)
}

/// The largest value found of a function with one peak.
fn highest(value: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    let mut best = value(low).max(value(high));
    for _ in 0..70 {
        let third = (high - low) / 3.0;
        let (a, b) = (value(low + third), value(high - third));
        best = best.max(a).max(b);
        if a < b { low += third } else { high -= third }
    }
    best
}

/// The upper tail of the standard normal law.
fn tail(x: f64) -> f64 {
    let y = x / std::f64::consts::SQRT_2;
    if y < 0.0 { 1.0 - 0.5 * erfc(-y) } else { 0.5 * erfc(y) }
}

fn erf(x: f64) -> f64 {
    if x > 2.5 {
        return 1.0 - erfc(x);
    }
    // 2/√π e^{−x²} Σ 2^k x^{2k+1}/(2k+1)!!, all terms positive.
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term > 1e-18 * sum {
        term *= 2.0 * x * x / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum
}

fn erfc(x: f64) -> f64 {
    if x < 2.5 {
        return 1.0 - erf(x);
    }
    // The continued fraction, evaluated from a far term backwards.
    let mut fraction = x;
    for k in (1..=120).rev() {
        fraction = x + f64::from(k) / 2.0 / fraction;
    }
    (-x * x).exp() / (std::f64::consts::PI.sqrt() * fraction)
}
