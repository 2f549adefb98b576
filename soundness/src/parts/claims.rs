//! False claims of papers about walks, histograms and federated learning: for each, the search finds a
//! counterexample again from the formula.

use super::formula::Stated;
use super::losses::Case;
use super::searched;
use crate::draw::numbers::pick;
use crate::oracle::walk::profile;
use crate::part::{Outcome, Part, Stratum};
use ndp_algos::walk::graph::LocalLoss;
use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
use ndp_dp::iteration::NoisyStep;
use ndp_dp::{Delta, NoiseMultiplier, Order, Sigma};
use ndp_graph::generators::star_graph;
use ndp_printed::contraction::figure_delta;
use ndp_printed::network;
use ndp_printed::ring as on_ring;
use ndp_printed::walk::{self as on_graph, VisitSum};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Claims;

const RING_NOISES: &str = "Network DP, Theorem 1, number of noises";
const RING_SHARE: &str = "Network DP, Remark 1, share of the noise";
const DEBIASED: &str = "Network DP, Algorithms 2 and 5, unbiased";
const CONTRIBUTIONS: &str = "Network DP, number of contributions";
const LARGE_CYCLES: &str = "Network DP, Theorem 3, noises of a cycle";
const SEVERAL: &str = "Network DP, Theorem 3, delta of several contributions";
const LEMMA_1: &str = "Network DP, Lemma 1";
const THEOREM_4: &str = "Network DP, Theorem 4";
const SPOTTED: &str = "Network DP, Lemma 2";
const USER_LEVEL: &str = "Random walks, Theorem 3";
const BY_LOGARITHM: &str = "Random walks, equation 16, ln T";
const STAR: &str = "Random walks, Theorem 4";
const RING: &str = "Random walks, Theorem 5";
const LARGER_BATCH: &str = "Federated learning, more users a round";

impl Part for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn what(&self) -> &'static str {
        "printed claims about walks and learning, each to be refuted; exact laws, powers, the refuter"
    }

    fn refutes(&self) -> &'static [&'static str] {
        &[
            RING_NOISES,
            RING_SHARE,
            DEBIASED,
            CONTRIBUTIONS,
            LARGE_CYCLES,
            SEVERAL,
            LEMMA_1,
            THEOREM_4,
            SPOTTED,
            USER_LEVEL,
            BY_LOGARITHM,
            STAR,
            RING,
            LARGER_BATCH,
        ]
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let mut outcome = Outcome::new(Stratum::named("claims", "n 2-60"));
        if number == 0 {
            searched::refuted(&mut outcome, USER_LEVEL, 34);
        }
        let drawn = match number % 12 {
            0 => ring_noises(&mut outcome, rng),
            1 => debiased(&mut outcome, rng),
            2 => contributions(&mut outcome, rng),
            3 => large_cycles(&mut outcome, rng),
            4 => several_contributions(&mut outcome, rng),
            5 => lemma_1(&mut outcome, rng),
            6 => theorem_4(&mut outcome, rng),
            7 => spotted(&mut outcome, rng),
            8 => user_level(&mut outcome, rng),
            9 => star(&mut outcome, rng),
            10 => ring(&mut outcome, rng),
            _ => larger_batch(&mut outcome, rng),
        };
        debug_assert!(drawn.is_some(), "every case is within the domain of its formula");
        outcome
    }

    fn short(&self) -> u64 {
        6000
    }
}

/// Compares a printed bound with a number that it should not be below. `printed` is the bound, and the call
/// that gives it.
fn compare(
    outcome: &mut Outcome,
    claim: &'static str,
    size: [u64; 3],
    (printed, call): (f64, String),
    truth: f64,
) {
    outcome.claim(truth <= printed * (1.0 + 1e-9), || {
        let what = format!("printed {printed:e}, true {truth:e}");
        let below = truth * (1.0 - 1e-12);
        Case { size, code: &format!("let printed = {call};") }.violation(
            claim,
            what,
            &format!("assert!(printed < {below:?});"),
        )
    });
}

fn delta(rng: &mut ChaCha8Rng) -> Option<Delta> {
    Delta::new(pick(rng, &[1e-2, 1e-3, 1e-5, 1e-6, 1e-10])).ok()
}

/// Theorem 1 and Remark 1: the holder adds noise whenever `n − 1` steps have passed since the last noise, so
/// that every interval between two visits contains one; with shared noise, `n − 1` shares of other nodes lie
/// between two visits.
fn ring_noises(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let (n, rounds) = (rng.random_range(2..=12_usize), rng.random_range(1..=8_usize));
    let (mut noises, mut since) = (0_usize, n - 1);
    for _ in 0..n * rounds {
        if since == n - 1 {
            (noises, since) = (noises + 1, 0);
        }
        since += 1;
    }
    let printed = on_ring::theorem1(n, rounds, 1.0).ok()?.into_value();
    let call = format!("ndp_printed::ring::theorem1({n}, {rounds}, 1.0)?.value().noise_count as f64");
    let size = [n as u64, rounds as u64, 0];
    compare(outcome, RING_NOISES, size, (printed.noise_count as f64, call), noises as f64);
    let call = format!("ndp_printed::ring::theorem1({n}, {rounds}, 1.0)?.value().share");
    compare(outcome, RING_SHARE, [n as u64, 0, 0], (printed.share, call), 1.0 / ((n - 1) as f64).sqrt());
    Some(())
}

/// The mean of the printed estimate over the law of the count, when `held` of `n` nodes hold the answer.
fn debiased(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = rng.random_range(1..=12_u64);
    let held = rng.random_range(0..=n);
    let labels = rng.random_range(2..=5_u32);
    let gamma = pick(rng, &[0.1, 0.25, 0.5, 0.9]);
    let (own, other) = (1.0 - gamma + gamma / f64::from(labels), gamma / f64::from(labels));
    let mut law = vec![1.0];
    for report in 0..n {
        let p = if report < held { own } else { other };
        let mut next = vec![0.0; law.len() + 1];
        for (k, q) in law.into_iter().enumerate() {
            next[k] += q * (1.0 - p);
            next[k + 1] += q * p;
        }
        law = next;
    }
    let mut mean = 0.0;
    for (count, probability) in (0..).zip(law) {
        mean += probability * on_ring::debiased(count, labels, gamma).ok()?.value();
    }
    outcome.claim((mean - held as f64).abs() < 1e-9, || {
        let size = [n, held, u64::from(labels)];
        let what = format!("{held} of {n} nodes, {labels} answers, gamma {gamma}: mean estimate {mean}");
        let test = format!(
            "// The expected count, as the estimate is linear in it.\n\
             let (held, n, labels, gamma) = ({held}.0, {n}.0, {labels}.0, {gamma:?});\n\
             let mean = held * (1.0 - gamma) + n * gamma / labels;\n\
             let at = |count| Ok::<_, ndp_account::Error>(*ndp_printed::ring::debiased(count, {labels}, gamma)?.value());\n\
             assert!((at(0)? + mean * (at(1)? - at(0)?) - held).abs() > 1e-9);"
        );
        Case { size, code: "" }.violation(DEBIASED, what, &test)
    });
    Some(())
}

/// `P(N > limit)` for the number `N` of contributions of a user, which is binomial.
fn more_than(limit: f64, steps: u32, p: f64) -> f64 {
    let mut mass = (1.0 - p).powi(i32::try_from(steps).unwrap_or(i32::MAX));
    let mut tail = 0.0;
    for k in 0..=steps {
        if f64::from(k) > limit {
            tail += mass;
        }
        mass *= f64::from(steps - k) / f64::from(k + 1) * p / (1.0 - p);
    }
    tail
}

fn contributions(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = pick(rng, &[2_u32, 3, 5, 10, 50, 1000]);
    let steps = rng.random_range(1..=2 * n);
    let allowed = delta(rng)?;
    let (users, length) = (f64::from(n), f64::from(steps));
    let count = *network::contributions(length, users, allowed).ok()?.value();
    let truth = more_than(count, steps, 1.0 / users);
    outcome.claim(truth <= allowed.get() * (1.0 + 1e-9), || {
        let size = [n.into(), steps.into(), 0];
        let what = format!("n {n}, T {steps}, at most {count} but with {allowed:?}: true {truth:e}");
        let test = format!(
            "let count = *ndp_printed::network::contributions({length:?}, {users:?}, ndp_dp::Delta::new({:?})?)?.value();\n\
             // More contributions than that have probability {truth:e}.\nassert!(count < {:?});",
            allowed.get(),
            count.floor() + 1.0
        );
        Case { size, code: "" }.violation(CONTRIBUTIONS, what, &test)
    });
    Some(())
}

/// Sensitivity divided by noise for the Gaussian mechanism as the paper calibrates it: `ε/√(2 ln(1.25/δ))`.
fn classic(epsilon: f64, delta: Delta) -> f64 {
    epsilon / (2.0 * (1.25 / delta.get()).ln()).sqrt()
}

/// One contribution in a cycle of `l` steps, claimed to be `(ε/√l, δ)`; in truth only `l − 1` noises cover
/// it.
fn large_cycles(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let length = rng.random_range(2..=40_u32);
    let (epsilon, allowed) = (pick(rng, &[0.1, 0.5, 0.9, 0.99]), delta(rng)?);
    let mu = classic(epsilon, allowed) / f64::from(length - 1).sqrt();
    let claimed = epsilon / f64::from(length).sqrt();
    let truth = profile(claimed, mu);
    outcome.claim(truth <= allowed.get() * (1.0 + 1e-9), || {
        let what =
            format!("cycle of {length}: ({claimed}, {:e}) claimed, true delta {truth:e}", allowed.get());
        let test = gaussian_test(mu, claimed, allowed);
        Case { size: [length.into(), 0, 0], code: "" }.violation(LARGE_CYCLES, what, &test)
    });
    Some(())
}

/// `k` contributions under `k` to `k²` noises, which are claimed to be `(ε, k δ)`. With fewer than `k²`
/// noises, `μ` is larger than that calibrated to `(ε, δ)`.
fn several_contributions(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let k = rng.random_range(2..=6_u32);
    let noises = rng.random_range(k..=k * k);
    let (epsilon, allowed) = (pick(rng, &[0.1, 0.5, 0.9]), delta(rng)?);
    let mu = classic(epsilon, allowed) * f64::from(k) / f64::from(noises).sqrt();
    let claimed = Delta::new(f64::from(k) * allowed.get()).ok()?;
    let truth = profile(epsilon, mu);
    outcome.claim(truth <= claimed.get() * (1.0 + 1e-9), || {
        let what = format!("{k} contributions, {noises} noises: {:e} claimed, true {truth:e}", claimed.get());
        let test = gaussian_test(mu, epsilon, claimed);
        Case { size: [k.into(), noises.into(), 0], code: "" }.violation(SEVERAL, what, &test)
    });
    Some(())
}

/// A test in which the library confirms that a Gaussian mechanism is not `(ε, δ)`-private.
fn gaussian_test(mu: f64, epsilon: f64, claimed: Delta) -> String {
    format!(
        "assert!(*ndp_dp::Mechanism::delta(&ndp_dp::Gdp::new({mu:?})?, {epsilon:?})?.value() > {:?});",
        claimed.get()
    )
}

/// One contribution, then a look of the observer after a geometric number of noises; the observer knows this
/// number.
fn lemma_1(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = rng.random_range(2..=6_u32);
    let alpha = pick(rng, &[1.5_f64, 2.0, 4.0, 16.0]);
    let lipschitz = 1.0_f64;
    // At least the noise that the lemma requires.
    let sigma = (2.0 * alpha * (alpha - 1.0) / pick(rng, &[1.0, 0.999, 0.5])).sqrt();
    let step = NoisyStep::new(lipschitz, Sigma::new(sigma).ok()?).ok()?;
    let order = Order::new(alpha).ok()?;
    let users = f64::from(n);
    // Above its limit the lemma claims nothing.
    let Ok(claimed) = network::lemma1_rdp(order, 1.0, &step, users) else { return Some(()) };
    let value = claimed.into_value();
    let theta = (alpha - 1.0) * alpha * 4.0 / (2.0 * sigma * sigma);
    let (mut mass, mut excess) = (1.0 / users, 0.0);
    for k in 1..=2000 {
        excess += mass * (theta / f64::from(k)).exp_m1();
        mass *= 1.0 - 1.0 / users;
    }
    let call = format!(
        "*ndp_printed::network::lemma1_rdp(ndp_dp::Order::new({alpha:?})?, 1.0, \
         &ndp_dp::iteration::NoisyStep::new(1.0, ndp_dp::Sigma::new({sigma:?})?)?, {users:?})?.value()"
    );
    compare(outcome, LEMMA_1, [n.into(), 0, 0], (value, call), excess.ln_1p() / (alpha - 1.0));
    Some(())
}

/// The closed form against the best order that Lemma 1 allows, at the same noise `σ² = 8 L² ln(1.25/δ)/ε²`.
fn theorem_4(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = pick(rng, &[2.0_f64, 5.0, 20.0, 100.0]);
    let steps = n * pick(rng, &[1.0, 10.0, 1e3, 1e5]);
    let (epsilon, allowed) = (pick(rng, &[0.1, 0.5, 0.9]), delta(rng)?);
    let closed = network::theorem4(n, steps, epsilon, (allowed, allowed)).ok()?.into_value();
    let log = -allowed.get().ln();
    let sigma = (8.0 * (1.25 / allowed.get()).ln()).sqrt() / epsilon;
    let limit = 0.5 * (1.0 + (1.0 + 2.0 * sigma * sigma).sqrt());
    let slope = 4.0 * closed.contributions * n.ln() / (sigma * sigma * n);
    let best = (1..=4000)
        .map(|k| 1.0 + (limit - 1.0) * f64::from(k) / 4000.0)
        .map(|alpha| alpha * slope + log / (alpha - 1.0))
        .fold(f64::INFINITY, f64::min);
    // The grid of orders has about this accuracy.
    let truth = best * (1.0 - 1e-3);
    let call = format!(
        "ndp_printed::network::theorem4({n:?}, {steps:?}, {epsilon:?}, (ndp_dp::Delta::new({0:?})?, ndp_dp::Delta::new({0:?})?))?.value().epsilon",
        allowed.get()
    );
    compare(outcome, THEOREM_4, [n as u64, steps as u64, 0], (closed.epsilon, call), truth);
    Some(())
}

/// The printed claim: at most `⌊count⌋` of a user's contributions are next to one of the observer, except
/// with probability `δ̃`. Even counting only the next node on the path, each contribution is next to the
/// observer with probability `1/n`, independently.
fn spotted(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = pick(rng, &[5_u32, 50, 2000]);
    let times = rng.random_range(1..=20_u32);
    let allowed = delta(rng)?;
    let users = f64::from(n);
    let count = network::spotted(times.into(), users, 0.1, allowed).ok()?.into_value().count;
    let truth = more_than(count.floor(), times, 1.0 / users);
    outcome.claim(truth <= allowed.get() * (1.0 + 1e-9), || {
        let what = format!(
            "{times} contributions among {n}: at most {count} but with {:e}, true {truth:e}",
            allowed.get()
        );
        let test = format!(
            "let spotted = ndp_printed::network::spotted({times}.0, {users:?}, 0.1, ndp_dp::Delta::new({:?})?)?;\n\
             // More than that have probability {truth:e}.\nassert!(spotted.value().count < {:?});",
            allowed.get(),
            count.floor() + 1.0
        );
        Case { size: [n.into(), times.into(), 0], code: "" }.violation(SPOTTED, what, &test)
    });
    Some(())
}

/// How `VisitSum` is written in the code of a counterexample.
const SUM: &str = "ndp_printed::walk::VisitSum";

/// Draws a noise that satisfies the condition of the theorems about walks, `σ² ≥ 2α(α − 1)`.
fn local(rng: &mut ChaCha8Rng) -> Option<(f64, f64, LocalLoss)> {
    let (alpha, noise) = (pick(rng, &[1.5, 2.0, 3.0]), pick(rng, &[4.0, 10.0, 50.0]));
    Some((
        alpha,
        noise,
        LocalLoss { order: Order::new(alpha).ok()?, noise: NoiseMultiplier::new(noise).ok()? },
    ))
}

fn local_code(alpha: f64, noise: f64) -> String {
    format!(
        "ndp_algos::walk::graph::LocalLoss {{ order: ndp_dp::Order::new({alpha:?})?, noise: ndp_dp::NoiseMultiplier::new({noise:?})? }}"
    )
}

/// `Σ_{t ≤ steps} (W^t)_{uv} / t`.
fn walk_sum(row: impl Fn(&[f64]) -> Vec<f64>, n: usize, [u, v]: [usize; 2], steps: usize) -> f64 {
    let mut law = vec![0.0; n];
    law[u] = 1.0;
    let mut sum = 0.0;
    for t in 1..=steps {
        law = row(&law);
        sum += law[v] / t as f64;
    }
    sum
}

/// One step on a star with weights `1/(n − 1)`, where the hub is node 0.
pub(super) fn on_star(law: &[f64]) -> Vec<f64> {
    let m = (law.len() - 1) as f64;
    let hub = law[1..].iter().sum::<f64>() / m;
    std::iter::once(hub).chain(law[1..].iter().map(|p| p * (1.0 - 1.0 / m) + law[0] / m)).collect()
}

/// A leaf of a star and its hub, which knows the path. The token stays with the leaf for some steps and comes
/// back with one contribution and one noise for each: each visit of `k` steps costs `k` local losses. Also
/// compares the closed form, which has `ln T` in place of `H_T`.
fn user_level(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = rng.random_range(3..=24_usize);
    let steps = pick(rng, &[5_usize, 20, 60, 200]);
    let (alpha, noise, local) = local(rng)?;
    let theta = (alpha - 1.0) * alpha / (2.0 * noise * noise);
    let stay = 1.0 - 1.0 / (n - 1) as f64;
    // By the state at step t: E exp(θ × cost of later visits to the hub), when the token is at the hub and
    // when it is at another leaf. For leaf u, the sum below is over the step at which the hub is next
    // visited.
    let (mut hub, mut other, mut leaf) = (vec![1.0; steps + 1], vec![1.0; steps + 1], vec![1.0; steps + 1]);
    for t in (0..steps).rev() {
        let m = (n - 1) as f64;
        // The hub is next visited at s > t, after s - t contributions; if it is not visited again, the cost
        // is 0.
        let mut sum = stay.powi(i32::try_from(steps - t).ok()?);
        for (gap, visited) in (1..).zip(&hub[t + 1..]) {
            sum += stay.powi(gap - 1) / m * (theta * f64::from(gap)).exp() * visited;
        }
        leaf[t] = sum;
        other[t] = stay * other[t + 1] + hub[t + 1] / m;
        hub[t] = leaf[t + 1] / m + (m - 1.0) / m * other[t + 1];
    }
    let start = (hub[0] + leaf[0] + (n - 2) as f64 * other[0]) / n as f64;
    let truth = start.ln() / (alpha - 1.0);
    let sum = walk_sum(on_star, n, [1, 0], steps);
    let value = *on_graph::user_level(VisitSum::Powers(sum), n, steps, local).ok()?.value();
    let size = [n as u64, steps as u64, 0];
    let code = local_code(alpha, noise);
    let call = |sum: VisitSum| {
        format!("*ndp_printed::walk::user_level({SUM}::{sum:?}, {n}, {steps}, {code})?.value()")
    };
    compare(outcome, USER_LEVEL, size, (value, call(VisitSum::Powers(sum))), truth);
    // Compare with the formula of the refuter, at order 2 and noise 1, where a local loss is 1.
    if n <= 7 && steps <= 20 {
        let stated = Stated::walk(&star_graph(n - 1).ok()?, steps, &[0])?;
        let scaled = value * 2.0 * noise * noise / alpha;
        stated.formula(outcome, &Case { size, code: "" }, 34, 1, scaled);
    }
    // The entry of the log matrix is the part of the sum that exceeds the uniform law.
    let far = 40 * n;
    let harmonic = (1..=far).map(|t| 1.0 / t as f64).sum::<f64>();
    let entry = walk_sum(on_star, n, [1, 0], far) - harmonic / n as f64;
    let by_log = VisitSum::LogMatrix(entry);
    let truth = value;
    let value = *on_graph::user_level(by_log, n, steps, local).ok()?.value();
    compare(outcome, BY_LOGARITHM, size, (value, call(by_log)), truth * (1.0 - 1e-3));
    Some(())
}

/// One contribution of a leaf of a star towards a hub that knows the path. The hub sees it after a geometric
/// number of steps, covered by as many noises.
fn star(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = rng.random_range(3..=60_usize);
    let kappa = pick(rng, &[0.0, 0.1, 0.5]);
    let (alpha, noise, local) = local(rng)?;
    let theta = (alpha - 1.0) * alpha / (2.0 * noise * noise);
    let arrive = (1.0 - kappa) / (n - 1) as f64;
    let (mut mass, mut excess) = (arrive, 0.0);
    for t in 1..=20 * n {
        excess += mass * (theta / t as f64).exp_m1();
        mass *= 1.0 - arrive;
    }
    let (visits, steps) = (VisitSum::HubAndLeaf { kappa }, 20 * n);
    let value = *on_graph::single_contribution(visits, n, steps, local).ok()?.value();
    let call = format!(
        "*ndp_printed::walk::single_contribution({SUM}::{visits:?}, {n}, {steps}, {})?.value()",
        local_code(alpha, noise)
    );
    compare(outcome, STAR, [n as u64, 0, 0], (value, call), excess.ln_1p() / (alpha - 1.0));
    Some(())
}

/// The printed entry of the log matrix of a ring stands for a sum of powers, so it should not be below that
/// sum.
fn ring(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let n = rng.random_range(3..=16_usize);
    let steps = pick(rng, &[1_usize, 5, 30, 200]);
    let (u, v) = (rng.random_range(0..n), rng.random_range(0..n));
    if u == v {
        return Some(());
    }
    let (alpha, noise, local) = local(rng)?;
    let step =
        |law: &[f64]| (0..n).map(|j| (law[(j + n - 1) % n] + law[j] + law[(j + 1) % n]) / 3.0).collect();
    let sum = walk_sum(step, n, [u, v], steps);
    let visits = VisitSum::Ring { u, v };
    let value = *on_graph::single_contribution(visits, n, steps, local).ok()?.value();
    let call = format!(
        "*ndp_printed::walk::single_contribution({SUM}::{visits:?}, {n}, {steps}, {})?.value()",
        local_code(alpha, noise)
    );
    let truth = *on_graph::single_contribution(VisitSum::Powers(sum), n, steps, local).ok()?.value();
    compare(outcome, RING, [n as u64, steps as u64, 0], (value, call), truth);
    Some(())
}

/// The claim "more users per round, more privacy", about the printed bound.
fn larger_batch(outcome: &mut Outcome, rng: &mut ChaCha8Rng) -> Option<()> {
    let users = pick(rng, &[2_u64, 4, 12, 120]);
    let divisors: Vec<u64> = (1..=users).filter(|m| users.is_multiple_of(*m)).collect();
    let batch = divisors[rng.random_range(0..divisors.len() - 1)];
    let larger = *divisors.iter().find(|&&m| m > batch)?;
    let epsilon = pick(rng, &[0.0, 0.1, 1.0]);
    let (radius, step, sigma) =
        (pick(rng, &[0.01, 0.1, 1.0, 10.0]), pick(rng, &[0.1, 0.5, 1.0]), pick(rng, &[0.5, 1.5, 5.0]));
    let value = |batch| {
        let parameters = FederatedParameters { users, batch, lipschitz: 1.0, radius, step, sigma };
        let run = FederatedDescent::new(parameters, ContractionFactor::new(1.0).ok()?).ok()?;
        Some(*figure_delta(&run, epsilon).ok()?.value())
    };
    let call = |batch| {
        format!(
            "*ndp_printed::contraction::figure_delta(&ndp_dp::federated::FederatedDescent::new(\
             ndp_dp::federated::FederatedParameters {{ users: {users}, batch: {batch}, lipschitz: 1.0, radius: {radius:?}, \
             step: {step:?}, sigma: {sigma:?} }}, ndp_dp::federated::ContractionFactor::new(1.0)?)?, {epsilon:?})?.value()"
        )
    };
    let (small, large) = (value(batch)?, value(larger)?);
    outcome.claim(large <= small * (1.0 + 1e-9), || {
        let what = format!("{users} users: delta {small:e} with {batch} a round, {large:e} with {larger}");
        let test = format!("assert!({} < {});", call(batch), call(larger));
        Case { size: [users, larger, 0], code: "" }.violation(LARGER_BATCH, what, &test)
    });
    Some(())
}
