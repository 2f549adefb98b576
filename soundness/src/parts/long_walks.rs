//! A token that walks on a large graph: bounds on the law of the cost, compared with simulated paths.

use super::losses::Case;
use crate::draw::numbers::{literal, pick};
use crate::oracle::walks::{Simulated, cost_delta};
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{Observer, Protocol};
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::{TokenWalk, WalkOptions};
use ndp_dp::NoiseMultiplier;
use ndp_graph::generators::{grid_2d_graph, hypercube_graph};
use ndp_graph::hitting::Start;
use ndp_graph::random::connected_erdos_renyi;
use ndp_graph::{GossipMatrix, Graph, TransitionMatrix};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub(crate) struct LongWalks;

/// The number of simulated paths, and the number in one case out of eight.
const PATHS: usize = 10_000;
const MANY_PATHS: usize = 1_000_000;
/// The probability that a comparison reports a true bound as false.
const ERROR: f64 = 1e-12;

impl Part for LongWalks {
    fn name(&self) -> &'static str {
        "long-walks"
    }

    fn what(&self) -> &'static str {
        "laws of costs on hypercubes to 2048, random graphs to 1000, grids; 10^4 to 10^6 simulated paths"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let many = number % 8 == 7;
        let (graph, graph_code) = graph(number % 3, many, rng);
        let n = graph.node_count();
        let steps = (n / pick(rng, &[1, 2, 4])).clamp(20, 1024);
        let u = rng.random_range(0..n);
        let near = graph.neighbors(u)[rng.random_range(0..graph.degree(u))] as usize;
        let mut members = vec![if rng.random() { near } else { rng.random_range(0..n) }];
        if rng.random_range(0..4) == 0 {
            members.push(rng.random_range(0..n));
        }
        members.sort_unstable();
        members.dedup();
        members.retain(|&v| v != u);
        let mut outcome = Outcome::new(Stratum::new(n, steps));
        if members.is_empty() {
            return outcome;
        }
        let start = if rng.random() { Start::Uniform } else { Start::Node(rng.random_range(0..n)) };
        let cap = pick(rng, &[None, None, Some(1), Some(2), Some(3)]);
        let final_token = pick(rng, &[FinalToken::Withheld, FinalToken::Withheld, FinalToken::Published]);
        let options = WalkOptions { cap, final_token, ..WalkOptions::default() };
        let published = final_token == FinalToken::Published;
        let simulated =
            Simulated { graph: &graph, start: &start, steps, cap, u, members: &members, published };
        let costs = simulated.costs(if many { MANY_PATHS } else { PATHS }, rng);
        let code = format!(
            "use ndp_algos::walk::FinalToken;\nuse ndp_algos::walk::graph::{{TokenWalk, WalkOptions}};\n\
             use ndp_graph::hitting::Start;\nuse ndp_graph::{{GossipMatrix, TransitionMatrix}};\n\
             let graph = {graph_code};\n\
             let w = TransitionMatrix::from(&GossipMatrix::metropolis(&graph));\n\
             let options = WalkOptions {{ cap: {cap:?}, final_token: FinalToken::{final_token:?}, \
             ..WalkOptions::default() }};\n\
             let walk = TokenWalk::new(&w, Start::{start:?}, {steps})?.with_options(options)?;\n\
             let law = walk.cost_law({u}, &{members:?})?;"
        );
        let case = Case { size: [n as u64, steps as u64, members.len() as u64], code: &code };
        if let Err(e) = compare(&graph, &start, steps, options, u, &members, &costs, &mut outcome, &case, rng)
        {
            outcome.check(false, || case.violation("refused", e.to_string(), ""));
        }
        outcome
    }

    fn short(&self) -> u64 {
        7
    }
}

/// Compares the bounds of the law, and of the account, with the simulated costs up to the statistical error.
#[allow(clippy::too_many_arguments, reason = "one case, said in one place")]
fn compare(
    graph: &Graph,
    start: &Start,
    steps: usize,
    options: WalkOptions,
    u: usize,
    members: &[usize],
    costs: &[f64],
    outcome: &mut Outcome,
    case: &Case<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<(), ndp_account::Error> {
    let w = TransitionMatrix::from(&GossipMatrix::metropolis(graph));
    let walk = TokenWalk::new(&w, start.clone(), steps)?.with_options(options)?;
    let law = walk.cost_law(u, members)?;
    let runs = costs.len() as f64;
    let log = (2.0 / ERROR).ln();
    let mut says = |holds: bool, what: String, assertion: String| {
        outcome.check(holds, || case.violation("law of the cost against simulation", what, &assertion));
    };
    // A band for all tail probabilities at once (inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's
    // constant).
    let band = (log / (2.0 * runs)).sqrt();
    let first = costs.partition_point(|&cost| cost == 0.0);
    for share in [0.0, 0.25, 0.5, 0.9, 0.99] {
        let positive = costs.len() - first;
        if positive == 0 {
            break;
        }
        // Whole numbers below the number of paths.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
        let at = first + (share * positive as f64) as usize;
        let cost = costs[at] * (1.0 - 1e-9);
        let seen = (costs.len() - costs.partition_point(|&other| other < cost)) as f64 / runs;
        let found = law.at_least(cost)?;
        let (low, high) = (found.lower(), found.upper());
        let call = format!("law.at_least({})?", literal(cost));
        says(
            high >= seen - band,
            format!("{call}: at most {high}, seen {seen} +- {band}"),
            format!("assert!({call}.upper() >= {});", literal(seen - band)),
        );
        says(
            low <= seen + band,
            format!("{call}: at least {low}, seen {seen} +- {band}"),
            format!("assert!({call}.lower() <= {});", literal(seen + band)),
        );
    }
    for sigma in [1.0, pick(rng, &[2.0, 5.0, 20.0])] {
        let (noise, epsilon) = (NoiseMultiplier::new(sigma)?, pick(rng, &[0.0, 0.05, 0.3, 1.0, 3.0]));
        let values: Vec<f64> = costs.iter().map(|&cost| cost_delta(cost, epsilon, sigma)).collect();
        let mean = values.iter().sum::<f64>() / runs;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (runs - 1.0);
        // Empirical Bernstein bound: Maurer and Pontil 2009, Theorem 4, for values in [0, 1].
        let band = (2.0 * variance * log / runs).sqrt() + 7.0 * log / (3.0 * (runs - 1.0));
        let found = law.delta(noise, epsilon)?;
        let profile = walk.account(&Observer::coalition(members))?.profile(u, noise)?;
        let said = profile.delta(epsilon)?.value().delta();
        let call = format!("law.delta(ndp_dp::NoiseMultiplier::new({sigma:?})?, {epsilon:?})?");
        for (name, high) in [("law", found.upper()), ("account", said)] {
            says(
                high >= mean - band,
                format!("{name} {call}: at most {high:e}, seen {mean:e} +- {band:e}"),
                format!("assert!({call}.upper() >= {});", literal(mean - band)),
            );
        }
        let low = found.lower();
        says(
            low <= mean + band,
            format!("{call}: at least {low:e}, seen {mean:e} +- {band:e}"),
            format!("assert!({call}.lower() <= {});", literal(mean + band)),
        );
    }
    Ok(())
}

/// A hypercube, an Erdős–Rényi graph or a grid, with its code; cases with many paths get the largest graphs.
fn graph(kind: u64, many: bool, rng: &mut ChaCha8Rng) -> (Graph, String) {
    let seed = rng.random::<u32>();
    let at_least = |rng: &mut ChaCha8Rng, low: usize, high: usize| {
        if many { high } else { rng.random_range(low..=high) }
    };
    let (graph, code) = match kind {
        0 => {
            let dimension = u32::try_from(at_least(rng, 4, 11)).unwrap_or(4);
            (hypercube_graph(dimension), format!("ndp_graph::generators::hypercube_graph({dimension})?"))
        }
        1 => {
            let n = at_least(rng, 30, 1000);
            let p = 1.5 * (n as f64).ln() / n as f64;
            let graph = connected_erdos_renyi(n, p, 1000, &mut ChaCha8Rng::seed_from_u64(u64::from(seed)));
            let rng = format!(
                "&mut <rand_chacha::ChaCha8Rng as rand_chacha::rand_core::SeedableRng>::seed_from_u64({seed})"
            );
            let p = literal(p);
            (graph, format!("ndp_graph::random::connected_erdos_renyi({n}, {p}, 1000, {rng})?"))
        }
        _ => {
            let side = at_least(rng, 5, 20);
            (grid_2d_graph(side, side), format!("ndp_graph::generators::grid_2d_graph({side}, {side})?"))
        }
    };
    (graph.unwrap_or_else(|e| panic!("{code}: {e}")), code)
}
