//! Edges that would improve the best plan.

use super::{Found, Plans, Tried};
use crate::errors::Failure;
use crate::input;
use crate::patience::{self, WORK};
use crate::progress::Progress;
use ndp_graph::Graph;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// An edge is suggested only if the error falls below this share of the error without it.
const WORTH: f64 = 0.999;

/// For each suggested edge, this many edges are tried.
pub(super) const TRIED: usize = 24;

/// Edges that were looked for.
pub(super) enum Edges {
    /// None, and why not.
    NotTried(String),
    /// The added edges, in order. Each was the best of those tried.
    Added {
        /// The protocol, its parameters and its weights: the best that gossips on the graph, with the fewest
        /// rounds that were tried.
        protocol: String,
        /// The bound on the error before.
        before: f64,
        /// Both ends of each edge by name, and the bound on the error after adding it.
        edges: Vec<(String, String, f64)>,
    },
}

pub(super) fn edges(plans: &Plans<'_>, quiet: bool) -> Result<Edges, Failure> {
    let (study, asked) = (plans.study, plans.study.asked);
    let rounds = |found: &Found| found.combination.parameters.0.get("rounds").copied();
    let gossip = || plans.all().filter(|found| rounds(found).is_some());
    let Some(best) = gossip().find(|found| found.planned.error.is_some()) else {
        let why = if gossip().next().is_some() {
            "No edges are suggested: the error of gossip is not known on so large a graph; try a part of it, or edges of your own."
        } else {
            "No edges are suggested: no plan above gossips on the graph."
        };
        return Ok(Edges::NotTried(why.into()));
    };
    // After many rounds only the noise is left in the error, and edges cannot lower it. Edges save rounds, so
    // the plan with the fewest rounds shows their effect.
    let alike = |other: &&Found| {
        other.combination.protocol == best.combination.protocol
            && other.combination.weights == best.combination.weights
    };
    let fewest = plans
        .all()
        .filter(alike)
        .min_by(|a, b| rounds(a).unwrap_or(0.0).total_cmp(&rounds(b).unwrap_or(0.0)));
    let best = fewest.filter(|fewest| fewest.planned.error.is_some()).unwrap_or(best);
    // Each suggested edge takes [`TRIED`] answers. If all of them cannot be expected within the patience,
    // none is started.
    let answers = asked.rewire * TRIED;
    let seconds = best.seconds * answers as f64;
    match asked.effort.patience {
        Some(patience) if seconds > patience as f64 => {
            return Ok(Edges::NotTried(format!(
                "No edges are suggested: to try {TRIED} for each of {} takes about {seconds:.0} s, more than the {patience} s of \
                 --patience; ask for fewer observers or edges, or for more patience.",
                asked.rewire,
            )));
        }
        None if best.work.saturating_mul(answers as u64) > WORK => {
            return Ok(Edges::NotTried(format!(
                "No edges are suggested: to try {TRIED} for each of {} takes more work than the default allows; ask for fewer \
                 observers or edges, or give it more by --patience SECONDS.",
                asked.rewire,
            )));
        }
        _ => {}
    }
    let before = best.planned.error.unwrap_or(f64::INFINITY);
    let rng = &mut ChaCha8Rng::seed_from_u64(asked.knowledge.seed);
    if near(&study.graph, 1, &mut rng.clone()).is_empty() {
        return Ok(Edges::NotTried("No edges are suggested: no two nodes are at distance 2.".into()));
    }
    let (mut graph, mut error) = (study.graph.clone(), before);
    let mut edges: Vec<(String, String, f64)> = Vec::new();
    let progress = Progress::new((asked.rewire * TRIED) as u64, "edges", quiet);
    for _ in 0..asked.rewire {
        let mut better: Option<(f64, Graph, (usize, usize))> = None;
        for (u, v) in near(&graph, TRIED, rng) {
            let larger = with_edge(&graph, u, v)?;
            let smallest = better.as_ref().map_or(error * WORTH, |(error, ..)| *error);
            let tried = study.one(&larger, &best.combination, patience::told(asked.effort.patience))?;
            if let Tried::Found(found, _) = tried
                && let Some(error) = found.planned.error.filter(|&error| error < smallest)
            {
                better = Some((error, larger, (u, v)));
            }
            progress.one();
        }
        let Some((smaller, larger, (u, v))) = better else { break };
        (graph, error) = (larger, smaller);
        edges.push((input::label(&graph, u), input::label(&graph, v), error));
    }
    let weights = best.weights().map_or_else(String::new, |weights| format!(" and weights {weights}"));
    let protocol = format!("{} with {}{weights}", best.planned.protocol, best.planned.parameters);
    Ok(Edges::Added { protocol, before, edges })
}

/// Up to `count` random pairs of nodes that have a common neighbor and no edge between them.
fn near(graph: &Graph, count: usize, rng: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let mut middles: Vec<usize> = (0..graph.node_count()).collect();
    middles.shuffle(rng);
    let mut pairs = Vec::new();
    for _ in 0..2 {
        for &w in &middles {
            let mut ends: Vec<usize> = graph.neighbors(w).iter().map(|&v| v as usize).collect();
            ends.shuffle(rng);
            if let [u, v, ..] = ends[..] {
                let pair = (u.min(v), u.max(v));
                if !graph.has_edge(u, v) && !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
            if pairs.len() == count {
                return pairs;
            }
        }
    }
    pairs
}

fn with_edge(graph: &Graph, u: usize, v: usize) -> Result<Graph, Failure> {
    let larger = Graph::from_edges(graph.node_count(), graph.edges().chain(std::iter::once((u, v))))?;
    Ok(match graph.labels() {
        Some(labels) => larger.with_labels(labels.to_vec())?,
        None => larger,
    })
}
