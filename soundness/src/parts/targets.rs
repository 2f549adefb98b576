//! Noise calibrated to a target: whether it meets the target.

use super::losses::Case;
use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::rational::Quotient;
use crate::oracle::series;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{Observer, Target, least_noise};
use ndp_algos::gossip::table1::MeanBudget;
use ndp_algos::gossip::utility::Convergence;
use ndp_algos::registry::{self, Parameters};
use ndp_dp::{Measure, Mechanism, Order, RandomizedResponse, Sensitivity};
use ndp_graph::GossipMatrix;
use ndp_graph::generators::path_graph;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct Targets;

impl Part for Targets {
    fn name(&self) -> &'static str {
        "targets"
    }

    fn what(&self) -> &'static str {
        "noise for a mean, for a local loss, for randomized response; rationals and e^x to 500 bits"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 3 {
            0 => mean_budget(rng),
            1 => local(rng),
            _ => response(rng),
        }
    }

    fn short(&self) -> u64 {
        4500
    }
}

fn parameter(rng: &mut ChaCha8Rng) -> f64 {
    match rng.random_range(0..4) {
        0 => pick(rng, &[1e-160, 1e-150, 1e150, 1e-100, 1e-30, 1e30]),
        1 => pick(rng, &[1.0, 0.1, 2.0, 0.5]),
        _ => log_uniform(rng, 1e-4, 1e4),
    }
}

fn class(sensitivity: f64) -> &'static str {
    if (1e-100..1e100).contains(&sensitivity) { "ordinary sensitivity" } else { "extreme sensitivity" }
}

/// `α Δ² d T / (2 n σ²) <= ε`.
fn mean_budget(rng: &mut ChaCha8Rng) -> Outcome {
    let nodes = rng.random_range(2..=50);
    let degree = rng.random_range(1..nodes);
    let (alpha, sensitivity) = (1.0 + log_uniform(rng, 1e-6, 100.0), parameter(rng));
    let epsilon = pick(rng, &[1.0, 0.1, 1e-3, 10.0, 0.3]);
    let spread = pick(rng, &[0.25, 1.0, 0.0, 100.0])
        * if rng.random_range(0..2) == 0 { 1.0 } else { sensitivity * sensitivity };
    let gap = pick(rng, &[1.0, 0.5, 0.1, 0.01]);
    let mut outcome = Outcome::new(Stratum::named("mean budget", class(sensitivity)));
    let (Ok(order), Ok(delta)) = (Order::new(alpha), Sensitivity::new(sensitivity)) else { return outcome };
    let budget = MeanBudget { nodes, order, sensitivity: delta, epsilon, spread };
    let Ok(found) = budget.calibrate(Convergence::Accelerated(gap), degree as f64) else { return outcome };
    let exact = Quotient::from_f64;
    let square = |x: f64| exact(x).times(&exact(x));
    let loss = exact(alpha)
        .times(&square(sensitivity))
        .times(&exact(degree as f64))
        .times(&exact(found.rounds as f64))
        .by(&exact(2.0 * nodes as f64).times(&square(found.sigma.get())));
    outcome.check(loss.compare(epsilon) != Ordering::Greater, || {
        let code = format!(
            "use ndp_dp::{{Order, Sensitivity}};\n\
             let budget = ndp_algos::gossip::table1::MeanBudget {{\n    nodes: {nodes},\n    order: Order::new({})?,\n    \
             sensitivity: Sensitivity::new({})?,\n    epsilon: {epsilon:?},\n    spread: {},\n}};\n\
             let convergence = ndp_algos::gossip::utility::Convergence::Accelerated({gap:?});\n\
             let found = budget.calibrate(convergence, {degree}.0)?;",
            literal(alpha),
            literal(sensitivity),
            literal(spread)
        );
        let case = Case { size: [nodes as u64, degree as u64, 0], code: &code };
        let near = loss.to_f64();
        let kind = if near > epsilon * (1.0 + 1e-9) { "mean above its budget" } else { "mean above its budget by rounding" };
        // α Δ² d T / (2 n ε), without overflow or underflow.
        let assertion = format!(
            "let sigma = {sensitivity:?} * ({alpha:?} * {degree}.0 * found.rounds as f64 / (2.0 * {nodes}.0 * {epsilon:?})).sqrt();\n\
             assert!(found.sigma.get() >= sigma * (1.0 - 1e-15), \"{{}} {{sigma}}\", found.sigma.get());"
        );
        case.violation(kind, format!("allowed {epsilon}, true {near}"), &assertion)
    });
    outcome
}

/// `α Δ² / (2 σ²) <= ε`.
fn local(rng: &mut ChaCha8Rng) -> Outcome {
    let (alpha, sensitivity) = (1.0 + log_uniform(rng, 1e-6, 100.0), parameter(rng));
    let allowed = parameter(rng);
    let mut outcome = Outcome::new(Stratum::named("local loss", class(sensitivity)));
    let (Ok(order), Ok(delta)) = (Order::new(alpha), Sensitivity::new(sensitivity)) else { return outcome };
    let target = Target::worst(Measure::Renyi(order), allowed);
    let Ok(pair) = path_graph(2).map(|graph| GossipMatrix::metropolis(&graph)) else { return outcome };
    let everybody = registry::find("local").and_then(|local| local.build(&pair, &Parameters::default()));
    let Ok(everybody) = everybody else { return outcome };
    let Ok(account) = everybody.account(&Observer::node(0)) else { return outcome };
    let Ok(Ok(sigma)) = least_noise(&[account], &target).map(|least| least.noise.sigma(delta)) else {
        return outcome;
    };
    let exact = Quotient::from_f64;
    let square = |x: f64| exact(x).times(&exact(x));
    let loss = exact(alpha).times(&square(sensitivity)).by(&exact(2.0).times(&square(sigma.get())));
    outcome.check(loss.compare(allowed) != Ordering::Greater, || {
        let code = format!(
            "use ndp_account::{{Observer, Target, least_noise}};\nuse ndp_algos::registry;\n\
             use ndp_dp::{{Measure, Order, Sensitivity}};\n\
             let target = Target::worst(Measure::Renyi(Order::new({})?), {});\n\
             let pair = ndp_graph::GossipMatrix::metropolis(&ndp_graph::generators::path_graph(2)?);\n\
             let local = registry::find(\"local\")?.build(&pair, &\"\".parse()?)?;\n\
             let account = [local.account(&Observer::node(0))?];\n\
             let sigma = least_noise(&account, &target)?.noise.sigma(Sensitivity::new({})?)?;",
            literal(alpha),
            literal(allowed),
            literal(sensitivity)
        );
        let case = Case { size: [code.len() as u64, 0, 0], code: &code };
        let what = format!("allowed {allowed:e}, true {:e}", loss.to_f64());
        let assertion = format!(
            "assert!(sigma.get() / {sensitivity:?} >= ({alpha:?} / 2.0 / {allowed:?}).sqrt() * (1.0 - 1e-15));"
        );
        case.violation("local loss above its target", what, &assertion)
    });
    outcome
}

/// The sampler answers at random with the stored probability `γ`, so the true `ε₀` is `ln(1 + L(1 - γ)/γ)`.
fn response(rng: &mut ChaCha8Rng) -> Outcome {
    let labels = match rng.random_range(0..3) {
        0 => pick(rng, &[2, u32::MAX, 3, 1 << 31, 1_000_000]),
        _ => rng.random_range(2..100),
    };
    let asked = match rng.random_range(0..3) {
        0 => pick(rng, &[1e-4, 0.5, 1.0, 10.0, 30.0, 1e-12, 1e-300, 700.0]),
        _ => log_uniform(rng, 1e-9, 50.0),
    };
    let column = if asked < 1e-3 { "epsilon below 1e-3" } else { "epsilon from 1e-3" };
    let mut outcome = Outcome::new(Stratum::named("randomized response", column));
    let Ok(response) = RandomizedResponse::with_epsilon(labels, asked) else { return outcome };
    let exact = Quotient::from_f64;
    let gamma = exact(response.gamma());
    let one = exact(1.0);
    let ratio = one.plus(&exact(f64::from(labels)).times(&one.minus(&gamma)).by(&gamma));
    let reported = *response.pure_epsilon().value();
    let [_, power] = series::exp(&exact(reported));
    outcome.check(power.cmp(&ratio) != Ordering::Less, || {
        let near = libm::log1p(ratio.minus(&one).to_f64());
        let code = format!(
            "use ndp_dp::Mechanism;\nlet response = ndp_dp::RandomizedResponse::with_epsilon({labels}, {})?;",
            literal(asked)
        );
        let case = Case { size: [u64::from(labels), code.len() as u64, 0], code: &code };
        let kind = if reported < near * (1.0 - 1e-9) {
            "randomized response below its sampler"
        } else {
            "randomized response below its sampler by rounding"
        };
        let assertion = format!(
            "let (labels, gamma) = ({labels}_f64, response.gamma());\n\
             // ln(1 + L (1 - γ) / γ)\nassert!(*response.pure_epsilon().value() >= (labels * (1.0 - gamma) /
             // gamma).ln_1p());"
        );
        case.violation(kind, format!("L = {labels}: reported {reported:e}, true {near:e}"), &assertion)
    });
    outcome
}
