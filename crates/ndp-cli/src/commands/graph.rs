//! What the graph alone says.

use crate::args::GraphQuestion;
use crate::errors::Failure;
use crate::input::{any_graph, label};
use crate::output::{down, number, up};
use crate::progress::Progress;
use crate::show::{Answer, Part, Sheet, show};
use ndp_graph::lanczos::lanczos_extremes;
use ndp_graph::spectrum::extremes;
use ndp_graph::{GossipMatrix, Graph};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What the graph says: as rows of the summary, and as numbers without rounding.
struct Found<'a> {
    asked: &'a GraphQuestion,
    rows: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, Fact)>,
    warnings: Vec<String>,
}

/// A number of the graph.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Fact {
    Count(usize),
    Real(f64),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Real(x) => x.fmt(f),
        }
    }
}

pub(crate) fn run(asked: &GraphQuestion, quiet: bool) -> Result<(), Failure> {
    show(&answer(asked, quiet)?, &asked.files, 0)
}

fn answer(asked: &GraphQuestion, quiet: bool) -> Result<Found<'_>, Failure> {
    let graph = any_graph(&asked.graph)?;
    let n = graph.node_count();
    let mut degrees: Vec<usize> = (0..n).map(|v| graph.degree(v)).collect();
    degrees.sort_unstable();
    let mut rows = vec![
        ("nodes", n.to_string()),
        ("edges", graph.edge_count().to_string()),
        ("pieces", graph.component_count().to_string()),
        ("degrees", format!("{} to {}, median {}", degrees[0], degrees[n - 1], degrees[n / 2])),
    ];
    let mut facts: Vec<(&str, Fact)> = [
        ("nodes", n),
        ("edges", graph.edge_count()),
        ("pieces", graph.component_count()),
        ("least degree", degrees[0]),
        ("median degree", degrees[n / 2]),
        ("largest degree", degrees[n - 1]),
    ]
    .map(|(name, count)| (name, Fact::Count(count)))
    .into();
    let mut warnings = Vec::new();
    if !graph.is_connected() {
        warnings.push(
            "the graph is in pieces: gossip does not average over all of it; take --largest-component".into(),
        );
    } else if n > 1 {
        let _progress = Progress::new(1, "spectrum", quiet);
        gaps(&graph, &mut rows, &mut facts, &mut warnings)?;
    }
    let twins = twins(&graph);
    let most = twins.iter().map(Vec::len).max().unwrap_or(0);
    rows.push(("groups of twins", format!("{} (largest {most})", twins.len())));
    facts.push(("groups of twins", Fact::Count(twins.len())));
    facts.push(("largest group of twins", Fact::Count(most)));
    let leaves: Vec<usize> = (0..n).filter(|&v| graph.degree(v) == 1).collect();
    if !leaves.is_empty() {
        let who = if leaves.len() == 1 { "1 node has" } else { &format!("{} nodes have", leaves.len()) };
        warnings.push(format!(
            "{who} a single neighbor, who hears everything said there: {}",
            some(&graph, &leaves)
        ));
    }
    let hubs: Vec<usize> = (0..n).filter(|&v| n > 4 && 2 * graph.degree(v) >= n).collect();
    if !hubs.is_empty() {
        let who = if hubs.len() == 1 { "1 node hears" } else { &format!("{} nodes hear", hubs.len()) };
        warnings.push(format!("{who} at least half of the network: {}", some(&graph, &hubs)));
    }
    if most > 1 {
        warnings.push(ndp_report::words::TWINS.into());
    }
    Ok(Found { asked, rows, facts, warnings })
}

impl Answer for Found<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let summary = Part::Summary(self.asked.graph.file.display().to_string(), self.rows.clone());
        let notes = self.warnings.iter().map(|warning| Part::Line(format!("note: {warning}")));
        std::iter::once(summary).chain(notes).collect()
    }

    fn sheet(&self) -> Sheet {
        let row = |(name, fact): &(&str, Fact)| vec![(*name).to_owned(), fact.to_string()];
        Sheet { header: vec!["what", "value"], rows: self.facts.iter().map(row).collect() }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let values: BTreeMap<&str, Fact> = self.facts.iter().copied().collect();
        Ok(serde_json::json!({ "graph": values, "notes": self.warnings }))
    }
}

/// Adds rows for the spectral gaps, or a bound on them if the graph is too large for its spectrum.
fn gaps(
    graph: &Graph,
    rows: &mut Vec<(&'static str, String)>,
    facts: &mut Vec<(&'static str, Fact)>,
    warnings: &mut Vec<String>,
) -> Result<(), Failure> {
    let matrix = GossipMatrix::metropolis(graph);
    let forget = |gap: f64| (graph.node_count() as f64).ln() / gap;
    if graph.node_count() <= MAX_SPECTRUM {
        let found = match extremes(&matrix) {
            Ok(found) => found,
            Err(error) => {
                warnings.push(format!("the spectral gap is not known: {error}"));
                return Ok(());
            }
        };
        if let Ok(gap) = found.gap_abs() {
            for (name, x) in [("spectral gap (metropolis)", gap), ("rounds to forget a start", forget(gap))] {
                rows.push((name, number(x)));
                facts.push((name, Fact::Real(x)));
            }
        }
        if let Ok(gap) = found.gap_signed() {
            rows.push(("signed gap (metropolis)", number(gap)));
            facts.push(("signed gap (metropolis)", Fact::Real(gap)));
        }
        return Ok(());
    }
    // Ritz values lie between the smallest and the second eigenvalue, however large the residual is. So this
    // gap is an upper bound.
    let found = lanczos_extremes(&matrix, 1e-3)?;
    let found_gap = 1.0 - found.extremes.second.max(-found.extremes.last);
    // Some hundred products with a matrix of norm 1 round by less.
    let gap = found_gap + 1e-12;
    rows.push(("spectral gap (metropolis)", format!("at most {}", up(gap))));
    rows.push(("rounds to forget a start", format!("at least {}", down(forget(gap)))));
    facts.push(("spectral gap (metropolis), at most", Fact::Real(gap)));
    // The quotient and the logarithm are rounded.
    facts.push(("rounds to forget a start, at least", Fact::Real(forget(gap) * (1.0 - 1e-14))));
    warnings.push(format!(
        "beyond {MAX_SPECTRUM} nodes the gap itself can take hours: this bound is that of {} steps of Lanczos iteration",
        found.steps
    ));
    Ok(())
}

/// Graphs with more nodes get no exact gap: with hubs, too many eigenvalues lie next to 1.
const MAX_SPECTRUM: usize = 10_000;

/// The labels of the first six of these nodes.
fn some(graph: &Graph, nodes: &[usize]) -> String {
    let names: Vec<String> = nodes.iter().take(6).map(|&v| label(graph, v)).collect();
    let more = if nodes.len() > 6 { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Groups of at least two nodes with the same open neighborhood, then those with the same closed one (which
/// includes the node itself).
fn twins(graph: &Graph) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    for closed in [false, true] {
        let mut by_neighbors: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for v in 0..graph.node_count() {
            let mut key = graph.neighbors(v).to_vec();
            if closed {
                key.extend(u32::try_from(v));
            }
            key.sort_unstable();
            by_neighbors.entry(key).or_default().push(v);
        }
        groups.extend(by_neighbors.into_values().filter(|group| group.len() > 1));
    }
    groups
}
