//! A quick bound on `ε` from one exponential moment of a path's cost.
//!
//! With `C` the [cost of the path](super::PathCost), `δ(ε) = E θ_ε(√C/σ)` for observers who know the path,
//! where `θ_ε(μ)` is the `δ` at `ε` of a Gaussian pair. For every `t > 0`
//!
//! ```text
//! δ(ε) ≤ A · (E e^{tC/σ²} − 1),      A = sup_{s > 0} θ_ε(√s)/(e^{ts} − 1),
//! ```
//!
//! because `θ_ε(√s) ≤ A (e^{ts} − 1)` at every `s`, including 0. The moment is one recursion
//! ([`renewal`](super::renewal)), and `A` is the same for all pairs. This takes a small part of the time that
//! the law of `C` takes, and the bound is far below the Rényi bound from the same moment.

use super::{LocalLoss, renewal};
use ndp_account::parts::locked;
use ndp_dp::{Delta, Measure, NoiseMultiplier, Order};
use ndp_graph::hitting::PairLaws;
use ndp_numeric::gaussian_profile::log_theta;
use ndp_numeric::stop::Stop;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The Rényi loss of a walk as an exponential moment: at least `ln E e^{θC}/(α − 1)`, where `C` is the cost
/// of the path. The search for a smaller loss may end with any loss for which `is_enough` holds.
pub(crate) trait Moments {
    /// The loss at an order and noise; `None` where there is none.
    fn loss(&self, local: LocalLoss, is_enough: &dyn Fn(f64) -> bool) -> Option<f64>;
}

/// From few depths of the renewal accountant.
impl Moments for PairLaws {
    fn loss(&self, local: LocalLoss, is_enough: &dyn Fn(f64) -> bool) -> Option<f64> {
        Watched { laws: self, stop: &Stop::never() }.loss(local, is_enough)
    }
}

/// The same until `stop` ends the computation; there is then no loss.
struct Watched<'a> {
    laws: &'a PairLaws,
    stop: &'a Stop,
}

impl Moments for Watched<'_> {
    fn loss(&self, local: LocalLoss, is_enough: &dyn Fn(f64) -> bool) -> Option<f64> {
        Some(renewal::quick(self.laws, local, is_enough, self.stop).ok()?.into_value())
    }
}

/// A proven `ε` of a walk at `delta`, by one moment. The order is chosen to suit an `ε` near `limit > 0`: the
/// costs `s` that matter most there are taken to be those with `θ_ε(√s) = delta^share`.
///
/// It holds whenever the law of the cost holds: for contributions that do not depend on the token, even if
/// something keeps nodes from contributing on some of their visits; for other contributions if `C` is an
/// upper bound on their cost.
fn epsilon(
    moments: &impl Moments,
    noise: NoiseMultiplier,
    (delta, limit): (Delta, f64),
    share: f64,
) -> Option<f64> {
    // At the cost where θ_ε(√s) has this value, its logarithm should grow like t s.
    let matter = Delta::new(delta.get().powf(share)).ok()?;
    let cost = Measure::Approx(matter).largest_mu(limit).ok()?.mu().powi(2);
    let exponent = (0.5 * (limit / cost).powi(2) - 0.125).max(1e-6);
    let order = 0.5 * (1.0 + (1.0 + 8.0 * exponent).sqrt());
    let local = LocalLoss { order: Order::new(order).ok()?, noise };
    Some(Moment::new(moments, local, (delta.get(), limit))?.epsilon(delta.get(), limit))
}

/// A proven `ε` at `delta`, close to the smallest one if that is close to `limit`.
pub(crate) fn by_first_moment(
    moments: &impl Moments,
    noise: NoiseMultiplier,
    delta: Delta,
    limit: f64,
) -> Option<f64> {
    epsilon(moments, noise, (delta, limit), FIRST_SHARE)
}

/// Whether another moment of the laws of a pair proves that the limit holds; `false` if the computation is
/// stopped.
pub(super) fn pair_keeps(
    laws: &PairLaws,
    noise: NoiseMultiplier,
    delta: Delta,
    limit: f64,
    stop: &Stop,
) -> bool {
    keeps(&Watched { laws, stop }, noise, delta, limit)
}

/// Whether another moment proves that the limit holds.
pub(crate) fn keeps(moments: &impl Moments, noise: NoiseMultiplier, delta: Delta, limit: f64) -> bool {
    for share in OTHER_SHARES {
        match epsilon(moments, noise, (delta, limit), share) {
            Some(found) if found <= limit => return true,
            // A bound so far above the limit does not get below it with another moment.
            Some(found) if found > FAR * limit => return false,
            _ => {}
        }
    }
    false
}

/// What was asked: the exposed node, and the bits of the noise, of `δ` and of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked(usize, [u64; 3]);

/// The answers given so far: a search asks about all pairs twice at the noise at which it ends. No answer
/// depends on earlier questions.
#[derive(Debug, Default)]
pub(super) struct Answers {
    known: Mutex<BTreeMap<Asked, Option<f64>>>,
}

impl Answers {
    /// [`by_first_moment`] for the node `u`, whose laws these are.
    pub(super) fn epsilon(
        &self,
        (u, laws, stop): (usize, &PairLaws, &Stop),
        noise: NoiseMultiplier,
        delta: Delta,
        limit: f64,
    ) -> Option<f64> {
        let asked = Asked(u, [noise.get().to_bits(), delta.get().to_bits(), limit.to_bits()]);
        let known = || locked(&self.known);
        if let Some(&found) = known().get(&asked) {
            return found;
        }
        let found = by_first_moment(&Watched { laws, stop }, noise, delta, limit);
        if stop.check().is_err() {
            return None;
        }
        let mut known = known();
        if known.len() < MOST_KEPT {
            known.insert(asked, found);
        }
        found
    }
}

/// `ln A` by the bits of `ε` and `t`: all pairs ask for the same values, for every observer.
static SUPREMA: Mutex<BTreeMap<[u64; 2], f64>> = Mutex::new(BTreeMap::new());

/// [`log_ratio`], computed once for each pair of arguments.
fn supremum(epsilon: f64, exponent: f64) -> f64 {
    let asked = [epsilon.to_bits(), exponent.to_bits()];
    let known = || locked(&SUPREMA);
    if let Some(&found) = known().get(&asked) {
        return found;
    }
    let found = log_ratio(epsilon, exponent);
    let mut known = known();
    if known.len() < MOST_KEPT {
        known.insert(asked, found);
    }
    found
}

/// An upper bound on `E e^{tC/σ²} − 1`.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// `t`, rounded down.
    exponent: f64,
    /// The logarithm of (the mean − 1), rounded up.
    log_excess: f64,
}

impl Moment {
    /// The moment at `t = α(α − 1)/2`, only as precise as is needed to show that `delta` holds at `limit`.
    fn new(moments: &impl Moments, local: LocalLoss, (delta, limit): (f64, f64)) -> Option<Self> {
        let order = local.order.get();
        let exponent = 0.5 * order * (order - 1.0) * (1.0 - 1e-14);
        // This decides only when the search for a smaller loss ends; no guarantee depends on it.
        let loss_at = |epsilon: f64| {
            let most = delta.ln() - supremum(epsilon, exponent) - SPARE;
            most.is_finite().then(|| local.loss_of_log_excess(most))
        };
        let (near, far) = (loss_at(CLOSE * limit), loss_at(HOPELESS * limit));
        let enough = |loss: f64| near.is_some_and(|near| loss <= near) || far.is_some_and(|far| loss > far);
        let log = (order - 1.0) * moments.loss(local, &enough)?;
        let log_excess = if log > 30.0 { log } else { log.exp_m1().ln() };
        Some(Self { exponent, log_excess: log_excess + MARGIN })
    }

    /// A proven `ε` at `delta`. If it is above `limit`, or only slightly below, it is close to the smallest
    /// `ε` that this moment proves; otherwise it is some proven `ε` below `limit`.
    fn epsilon(self, delta: f64, limit: f64) -> f64 {
        if self.log_excess == f64::NEG_INFINITY {
            return 0.0;
        }
        let holds = |epsilon: f64| self.log_delta(epsilon) <= delta.ln() - MARGIN;
        let near = CLOSE * limit;
        if holds(near) {
            // An answer that is below the limit need not be precise.
            let mut high = near;
            while high > LEAST * limit && holds(STEP * high) {
                high *= STEP;
            }
            return high;
        }
        let (mut low, mut high) = (near, limit * (1.0 + MARGIN));
        while !holds(high) {
            (low, high) = (high, high / STEP);
            if high.is_nan() || high >= MOST * limit {
                return f64::INFINITY;
            }
        }
        while low > limit && high > 1.05 * low {
            let middle = 0.5 * (low + high);
            if holds(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// An upper bound on `ln δ(ε)`. A margin for rounding is added in proportion to the size of the terms.
    fn log_delta(self, epsilon: f64) -> f64 {
        let ratio = supremum(epsilon, self.exponent);
        ratio + self.log_excess + RELATIVE * (ratio.abs() + self.log_excess.abs())
    }
}

/// `ln sup_{s>0} θ_ε(√s)/(e^{ts} − 1)` up to a few rounding errors, for `ε > 0`.
///
/// On `[a, b]` the ratio is at most `θ_ε(√b)/(e^{ta} − 1)`. As a function of `s` the numerator is convex up
/// to `2√(1 + ε²) − 2`, so that its quotient by `s` increases there. Beyond any `a` the numerator is at
/// most 1.
fn log_ratio(epsilon: f64, exponent: f64) -> f64 {
    let square = epsilon * epsilon;
    let bend = 2.0 * square / (1.0 + (1.0 + square).sqrt());
    // The supremum is near ε/√(2t).
    let mut a = (bend / 50.0).min(0.05 * epsilon / (2.0 * exponent).sqrt());
    let log_theta = |s: f64| log_theta(epsilon, s.sqrt().next_up());
    let log_excess = |s: f64| {
        let x = exponent * s;
        if x > 30.0 { x + (-(-x).exp()).ln_1p() } else { x.exp_m1().ln() }
    };
    let mut most = log_theta(a) - (exponent * a).ln();
    while -log_excess(a) > most {
        // The logarithms of numerator and denominator both grow like t s there.
        let b = a * (1.0 + (WIDTH / (1.0 + exponent * a)).max(1e-3));
        most = most.max(log_theta(b) - log_excess(a));
        a = b;
        if a.is_nan() || a > 1e300 {
            return f64::INFINITY;
        }
    }
    most
}

/// The margin, in logarithms, by which an excess must be below the largest one that is allowed. It is larger
/// than all margins for rounding together.
const SPARE: f64 = 1e-8;
/// The largest number of suprema, and of answers, that are kept.
const MOST_KEPT: usize = 1 << 16;
/// For which costs `s` a moment is chosen: those with `θ_ε(√s)` equal to this power of `δ` at the limit. The
/// first one, and then those that are tried if it does not decide.
const FIRST_SHARE: f64 = 0.7;
const OTHER_SHARES: [f64; 2] = [0.5, 0.3];
/// A bound that is this many times the limit stays above it with other moments and other depths.
const FAR: f64 = 4.0;
const HOPELESS: f64 = 8.0;
/// The relative rounding error of a sum of logarithms, in proportion to the size of its terms. Each term is
/// the result of at most ten float operations in a row, on values that are either no larger than the term or
/// covered by [`MARGIN`]: `10 · 2^-52`.
const RELATIVE: f64 = 1e-14;
/// The absolute error of logarithms that cancel: of `e^{ts} − 1` for small `ts`, and of `δ`. They are at most
/// 750 in size, so that about ten operations of `2^-52` each err by less than 1e-11.
const MARGIN: f64 = 1e-9;
/// The width of the intervals on which the ratio is bounded, in units of the relative error that it causes.
const WIDTH: f64 = 0.2;
/// The step of the search, and its ends.
const STEP: f64 = 0.7;
const LEAST: f64 = 1e-3;
const MOST: f64 = 1e6;
/// Between this share of the limit and the limit itself, this bound does not decide whether the limit holds.
const CLOSE: f64 = 0.98;

#[cfg(test)]
mod tests {
    use super::super::TokenWalk;
    use super::*;
    use ndp_account::Error;
    use ndp_graph::generators::{complete_graph, hypercube_graph, path_graph, star_graph};
    use ndp_graph::hitting::{Start, Walk};
    use ndp_graph::{GossipMatrix, TransitionMatrix};
    use ndp_numeric::gaussian_profile::theta;

    /// The bound is never below the lower end of the law of the cost, and often not far above it.
    #[test]
    fn quick_answers_are_above_the_law() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        let graphs = [path_graph(4)?, star_graph(6)?, complete_graph(5)?, hypercube_graph(3)?];
        let (mut near, mut all) = (0, 0);
        for graph in graphs {
            let w = TransitionMatrix::from(&GossipMatrix::metropolis(&graph));
            let (u, v) = (graph.node_count() - 1, 0);
            for (start, steps) in [(Start::Uniform, 12), (Start::Node(0), 60)] {
                let laws = Walk::from(&w).pair_laws(u, v, &start, steps)?;
                let law = TokenWalk::new(&w, start, steps)?.cost_law(u, &[v])?;
                for noise in [0.5, 2.0, 10.0, 40.0] {
                    let noise = NoiseMultiplier::new(noise)?;
                    let truth = law.epsilon(noise, delta)?;
                    for share in [0.2, 1.0, 2.0, 5.0] {
                        let limit = share * truth.upper();
                        if limit == 0.0 {
                            continue;
                        }
                        let found = by_first_moment(&laws, noise, delta, limit).unwrap_or(f64::INFINITY);
                        assert!(found >= truth.lower(), "{u} {steps} {noise:?} {share}: {found} {truth:?}");
                        let kept = keeps(&laws, noise, delta, limit);
                        assert!(!kept || truth.lower() <= limit, "{u} {steps} {noise:?} {share}: {truth:?}");
                        // A limit of twice the truth is often proven to hold.
                        if share == 2.0 {
                            all += 1;
                            near += usize::from(kept || found <= limit);
                        }
                    }
                }
            }
        }
        assert!(3 * near >= all, "{near} of {all}");
        Ok(())
    }

    /// The bound holds at every cost, and is attained within some percent at one of them.
    #[test]
    fn the_ratio_bounds_every_cost() {
        for epsilon in [0.01, 0.3, 1.0, 4.0, 30.0] {
            for exponent in [0.5, 10.0, 60.0, 1e3] {
                let ratio = log_ratio(epsilon, exponent);
                let mut nearest = 0.0_f64;
                let mut s = 1e-6 * epsilon.min(1.0);
                while s < 1e5 {
                    let log = ndp_numeric::gaussian_profile::log_theta(epsilon, s.sqrt());
                    let excess = exponent * s;
                    let excess = if excess > 30.0 { excess } else { excess.exp_m1().ln() };
                    // The logarithm of a small theta is rounded up in proportion to its size.
                    let above = log - excess - ratio;
                    assert!(above <= 1e-9 * (1.0 + log.abs()), "{epsilon} {exponent} {s}: {above}");
                    nearest = nearest.max(above.exp());
                    s *= 1.003;
                }
                assert!(nearest > 0.4, "{epsilon} {exponent}: {nearest}");
            }
        }
    }

    /// For a cost that is constant, and for one that occurs with some probability: the bound is never below
    /// the truth and not far above it.
    #[test]
    fn known_costs_are_bounded() {
        for (cost, probability, exponent) in [(0.07, 1.0, 90.0), (0.2, 1e-2, 20.0), (0.12, 1e-3, 40.0)] {
            let log_excess = f64::ln(probability * f64::exp_m1(exponent * cost));
            let moment = Moment { exponent, log_excess };
            for epsilon in [0.2, 0.5, 1.0, 2.0] {
                let truth = probability * theta(epsilon, f64::sqrt(cost));
                assert!(truth <= moment.log_delta(epsilon).exp() * (1.0 + 1e-9));
                // At the true δ, the proven ε is above the true ε.
                let found = moment.epsilon(truth, 1.0);
                assert!(epsilon <= found, "{epsilon} {found}");
            }
            // If the exponent suits the question, a limit somewhat above the truth is proven to hold.
            let mut truth = 0.01;
            while probability * theta(truth, f64::sqrt(cost)) > 1e-5 {
                truth *= 1.001;
            }
            let limit = 1.4 * truth;
            let found = moment.epsilon(1e-5, limit);
            assert!((truth..=CLOSE * limit).contains(&found), "{found} {truth}");
            // A result that is not well within the limit is above it.
            let found = moment.epsilon(1e-5, truth);
            assert!(found > truth, "{found} {truth}");
        }
        let nothing = Moment { exponent: 3.0, log_excess: f64::NEG_INFINITY };
        assert_eq!(nothing.epsilon(1e-5, 1.0), 0.0);
        let hopeless = Moment { exponent: 3.0, log_excess: f64::INFINITY };
        assert_eq!(hopeless.epsilon(1e-5, 1.0), f64::INFINITY);
    }
}
