//! Token walks whose loss is computed by counting: towards an only neighbor, on one-way rings, and for walks
//! of few steps.

use super::losses::Case;
use crate::draw::graphs;
use crate::draw::numbers::pick;
use crate::oracle::linear::{Linear, Loss};
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{Observer, Protocol};
use ndp_algos::sgd::constants::{Constants, Domain};
use ndp_algos::sgd::walk::{Route, WalkSgd};
use ndp_algos::sgd::{PrivateTraining, Training};
use ndp_algos::walk::graph::{LocalLoss, pendant};
use ndp_dp::{Delta, NoiseMultiplier, Order};
use ndp_graph::hitting::{Start, Walk};
use ndp_graph::{GossipMatrix, Graph, TransitionMatrix, generators};
use num_bigint::BigInt;
use num_traits::One;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Walks;

impl Part for Walks {
    fn name(&self) -> &'static str {
        "walks"
    }

    fn what(&self) -> &'static str {
        "an only neighbor, one-way rings, short walks on the complete graph; all paths, rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 3 {
            0 => only_neighbor(rng),
            1 => one_way_ring(rng),
            _ => first_holder(rng),
        }
    }

    fn short(&self) -> u64 {
        5000
    }
}

/// Order and noise multiplier, and the local loss `α / (2 σ²)`.
fn local(rng: &mut ChaCha8Rng) -> (f64, f64, f64) {
    let (alpha, noise) = (pick(rng, &[1.5, 2.0, 8.0, 1.0625]), pick(rng, &[1.0, 4.0, 0.5, 10.0]));
    (alpha, noise, alpha / (2.0 * noise * noise))
}

fn compare(outcome: &mut Outcome, case: &Case<'_>, reported: f64, truth: f64) {
    let what = || format!("Exact {reported:e}, true {truth:e}");
    let assertion = format!("assert!((loss.value() / {truth:?} - 1.0).abs() < 1e-9);");
    let scale = truth.max(f64::MIN_POSITIVE);
    outcome.check(reported >= truth - 1e-13 * scale, || {
        case.violation("exact loss to an only neighbor below the truth", what(), &assertion)
    });
    outcome.check(reported <= truth + 1e-9 * scale.max(1.0), || {
        case.violation("exact loss to an only neighbor above the truth", what(), &assertion)
    });
}

/// `ln E exp(θ N) / (α - 1)` over all paths, where `N` counts the contributions of the leaf that are followed
/// by a visit of its neighbor.
fn only_neighbor(rng: &mut ChaCha8Rng) -> Outcome {
    let inner = rng.random_range(1..=4);
    let core = graphs::random(rng, inner);
    let (v, u) = (rng.random_range(0..inner), inner);
    let edges = core.edges().chain([(v, u)]);
    let steps = rng.random_range(1..=6);
    let (alpha, noise, cost) = local(rng);
    let from = rng.random_range(0..=inner + 1);
    let mut outcome = Outcome::new(Stratum::new(inner + 1, steps));
    let Ok(graph) = Graph::from_edges(inner + 1, edges) else { return outcome };
    let matrix = GossipMatrix::metropolis(&graph);
    let start = if from > inner { Start::Uniform } else { Start::Node(from) };
    let Some(local) = loss_of(alpha, noise) else { return outcome };
    let reported = pendant::loss(&Walk::from(&matrix), u, &start, steps, local);
    let theta = (alpha - 1.0) * cost;
    let starts: Vec<usize> = if from > inner { (0..=inner).collect() } else { vec![from] };
    let mean = starts.iter().map(|&s| follow(&matrix, (u, v), theta, s, steps, 0)).sum::<f64>();
    let truth = (mean / starts.len() as f64).ln_1p() / (alpha - 1.0);
    let code = format!(
        "use ndp_algos::walk::graph::{{LocalLoss, pendant}};\nuse ndp_dp::{{NoiseMultiplier, Order}};\n\
         use ndp_graph::hitting::{{Start, Walk}};\nuse ndp_graph::{{GossipMatrix, Graph}};\n\
         let graph = {};\nlet matrix = GossipMatrix::metropolis(&graph);\n\
         let local = LocalLoss {{ order: Order::new({alpha:?})?, noise: NoiseMultiplier::new({noise:?})? }};\n\
         let loss = pendant::loss(&Walk::from(&matrix), {u}, &Start::{start:?}, {steps}, local)?;",
        graphs::code(&graph)
    );
    let case = Case { size: [inner as u64 + 1, steps as u64, graph.edge_count() as u64], code: &code };
    match reported {
        Ok(loss) => compare(&mut outcome, &case, *loss.value(), truth),
        Err(error) => outcome.check(false, || case.violation("refused", error.to_string(), "")),
    }
    outcome
}

fn loss_of(alpha: f64, noise: f64) -> Option<LocalLoss> {
    Some(LocalLoss { order: Order::new(alpha).ok()?, noise: NoiseMultiplier::new(noise).ok()? })
}

/// `E exp(θ N) - 1` over the paths from `at`, where `pending` contributions wait for the next visit of `v`.
fn follow(
    matrix: &GossipMatrix,
    (u, v): (usize, usize),
    theta: f64,
    at: usize,
    steps: usize,
    pending: usize,
) -> f64 {
    // With c the cost of this visit: E e^{c + rest} - 1 = (e^c - 1) + e^c (E e^rest - 1).
    let (cost, pending) = if at == v { (theta * pending as f64, 0) } else { (0.0, pending) };
    if steps == 0 {
        return cost.exp_m1();
    }
    let pending = pending + usize::from(at == u);
    let mut rest = 0.0;
    for next in 0..matrix.node_count() {
        let p = matrix.get(at, next);
        if p > 0.0 {
            rest += p * follow(matrix, (u, v), theta, next, steps - 1, pending);
        }
    }
    cost.exp_m1() + cost.exp() * rest
}

/// On a one-way ring the path is known, and the view is linear and Gaussian: the value that `v` holds is the
/// sum of all earlier contributions and noises.
fn one_way_ring(rng: &mut ChaCha8Rng) -> Outcome {
    let n = rng.random_range(2..=7);
    let steps = rng.random_range(1..=2 * n + 1);
    let start = rng.random_range(0..n);
    let u = rng.random_range(0..n);
    let v = (u + 1) % n;
    let (alpha, noise, cost) = local(rng);
    let mut outcome = Outcome::new(Stratum::new(n, steps));
    // Columns: the input of u, then the noise of every step.
    let holder = |t: usize| (start + t) % n;
    let rows = (0..=steps).filter(|&t| holder(t) == v).map(|t| {
        let contributed = (0..t).filter(|&s| holder(s) == u).count();
        let noises = (0..steps).map(|s| BigInt::from(u8::from(s < t)));
        std::iter::once(BigInt::from(contributed)).chain(noises).collect()
    });
    let view = Linear {
        rows: rows.collect(),
        noises: (0..steps).filter(|&s| holder(s) != v).map(|s| (1 + s, BigInt::one())).collect(),
        unit: BigInt::one(),
        inputs: vec![0],
        members: Vec::new(),
    };
    let Loss::Finite(unit) = &view.truth().losses[0] else { return outcome };
    let truth = cost * unit.to_f64();
    let (Ok(ring), Some(local)) = (generators::directed_cycle(n), loss_of(alpha, noise)) else {
        return outcome;
    };
    let ring: TransitionMatrix = ring;
    // For one-way walks the library may refuse, but a loss that it reports must be right.
    let Ok(loss) = pendant::loss(&Walk::from(&ring), u, &Start::Node(start), steps, local) else {
        outcome.compared += 1;
        return outcome;
    };
    let code = format!(
        "use ndp_algos::walk::graph::{{LocalLoss, pendant}};\nuse ndp_dp::{{NoiseMultiplier, Order}};\n\
         use ndp_graph::hitting::{{Start, Walk}};\nlet ring = ndp_graph::generators::directed_cycle({n})?;\n\
         let local = LocalLoss {{ order: Order::new({alpha:?})?, noise: NoiseMultiplier::new({noise:?})? }};\n\
         let loss = pendant::loss(&Walk::from(&ring), {u}, &Start::Node({start}), {steps}, local)?;"
    );
    let case = Case { size: [n as u64, steps as u64, 0], code: &code };
    compare(&mut outcome, &case, *loss.value(), truth);
    outcome
}

/// Walk SGD on the complete graph with the last model published. If the user certainly holds the token first,
/// it has contributed, and the model has the noise of all steps.
fn first_holder(rng: &mut ChaCha8Rng) -> Outcome {
    let users = pick(rng, &[2_usize, 3, 5, 10, 100, 1000]);
    let steps = pick(rng, &[1_usize, 1, 2, 3, 5]);
    let given = rng.random_range(0..2) == 0;
    let start = if given { Some(0) } else { None };
    let cap = pick(rng, &[None, Some(1), Some(2), Some(12)]);
    let (sigma, delta) = (pick(rng, &[0.5, 1.0, 4.0]), pick(rng, &[1e-5, 1e-3, 1e-8, 0.01]));
    let colluders = rng.random_range(1..users.min(4));
    let mut outcome = Outcome::new(Stratum::new(users, steps));
    let walk = WalkSgd { start, cap, ..WalkSgd::new(Route::Complete, steps, 0.1, Some(1)) };
    let constants = Constants {
        lipschitz: 0.5,
        sensitivity: 1.0,
        smoothness: 1.0,
        strong_convexity: 0.0,
        domain: Domain::Unbounded,
    };
    let (Ok(noise), Ok(allowed)) = (NoiseMultiplier::new(sigma), Delta::new(delta)) else { return outcome };
    // The library may refuse this.
    let training = PrivateTraining::new(users, constants, Training::walk(walk));
    let found = training.and_then(|training| training_epsilon(&training, colluders, noise, allowed));
    let Ok(epsilon) = found else {
        outcome.compared += 1;
        return outcome;
    };
    // With this probability the user contributes in the first step, and then the model differs by one
    // gradient.
    let certain = if given { 1.0 } else { 1.0 / users as f64 };
    let truth = certain * gaussian_delta(1.0 / (sigma * (steps as f64).sqrt()), epsilon);
    outcome.check(truth * (1.0 - 1e-9) - 1e-15 <= delta, || {
        let code = format!(
            "use ndp_account::{{Observer, Protocol}};\nuse ndp_algos::sgd::constants::Constants;\n\
             use ndp_algos::sgd::walk::{{Route, WalkSgd}};\nuse ndp_algos::sgd::{{PrivateTraining, Training}};\n\
             use ndp_dp::{{Delta, NoiseMultiplier}};\n\
             let walk = WalkSgd {{ start: {start:?}, cap: {cap:?}, ..WalkSgd::new(Route::Complete, {steps}, 0.1, Some(1)) }};\n\
             let constants = {constants:?};\n\
             let training = PrivateTraining::new({users}, constants, Training::walk(walk))?;\n\
             let account = training.account(&Observer::coalition(&(1..={colluders}).collect::<Vec<_>>()))?;\n\
             let stated = account.profile(0, NoiseMultiplier::new({sigma:?})?)?.epsilon(Delta::new({delta:?})?)?;"
        );
        let case = Case { size: [users as u64, steps as u64, cap.unwrap_or(0) as u64], code: &code };
        let what = format!("({epsilon}, {delta:e}) reported, true delta at least {truth:e}");
        let assertion = format!(
            "assert!(stated.value().epsilon() > {epsilon:?}, \"there delta is {truth:e}\");"
        );
        case.violation("walk on the complete graph below the truth", what, &assertion)
    });
    outcome
}

/// The `ε` about user 0 towards a given number of other users who pool what they see.
pub(super) fn training_epsilon(
    training: &PrivateTraining,
    colluders: usize,
    noise: NoiseMultiplier,
    delta: Delta,
) -> Result<f64, ndp_account::Error> {
    let members: Vec<usize> = (1..=colluders).collect();
    let account = training.account(&Observer::coalition(&members))?;
    Ok(account.profile(0, noise)?.epsilon(delta)?.value().epsilon())
}

/// `Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)`.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let phi = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    phi(mu / 2.0 - epsilon / mu) - epsilon.exp() * phi(-mu / 2.0 - epsilon / mu)
}
