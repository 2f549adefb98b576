//! What the graph alone says.

use super::summary;
use crate::args::GraphInput;
use crate::errors::Failure;
use crate::input::{any_graph, label};
use crate::output::{line, number};
use ndp_graph::spectrum::{gap_abs, gap_signed};
use ndp_graph::{GossipMatrix, Graph};
use std::collections::BTreeMap;

pub(crate) fn run(input: &GraphInput) -> Result<(), Failure> {
    let graph = any_graph(input)?;
    let n = graph.node_count();
    let mut degrees: Vec<usize> = (0..n).map(|v| graph.degree(v)).collect();
    degrees.sort_unstable();
    let connected = graph.is_connected();
    let mut rows = vec![
        ("nodes", n.to_string()),
        ("edges", graph.edge_count().to_string()),
        ("pieces", graph.component_count().to_string()),
        ("degrees", format!("{} to {}, median {}", degrees[0], degrees[n - 1], degrees[n / 2])),
    ];
    let mut warnings = Vec::new();
    if connected && n > LARGEST_SPECTRUM {
        warnings.push(format!(
            "the spectral gap is not computed for more than {LARGEST_SPECTRUM} nodes: it can take hours"
        ));
    } else if connected && n > 1 {
        let matrix = GossipMatrix::metropolis(&graph);
        match gap_abs(&matrix) {
            Ok(gap) => {
                rows.push(("spectral gap (metropolis)", number(gap)));
                rows.push(("rounds to forget a start", number((n as f64).ln() / gap)));
            }
            Err(error) => warnings.push(format!("the spectral gap is not known: {error}")),
        }
        if let Ok(gap) = gap_signed(&matrix) {
            rows.push(("signed gap (metropolis)", number(gap)));
        }
    } else {
        warnings.push(
            "the graph is in pieces: gossip does not average over all of it; take --largest-component".into(),
        );
    }
    let twins = twins(&graph);
    let most = twins.iter().map(Vec::len).max().unwrap_or(0);
    rows.push(("groups of twins", format!("{} (largest {most})", twins.len())));
    summary(&input.file.display().to_string(), &rows)?;
    let leaves: Vec<usize> = (0..n).filter(|&v| graph.degree(v) == 1).collect();
    if !leaves.is_empty() {
        warnings.push(format!(
            "{} nodes have a single neighbor, who hears everything they say: {}",
            leaves.len(),
            some(&graph, &leaves)
        ));
    }
    let hubs: Vec<usize> = (0..n).filter(|&v| n > 4 && 2 * graph.degree(v) >= n).collect();
    if !hubs.is_empty() {
        warnings.push(format!(
            "{} nodes hear at least half of the network: {}",
            hubs.len(),
            some(&graph, &hubs)
        ));
    }
    if most > 1 {
        warnings.push(
            "twins (same neighbors) cannot be told apart by others: with gossip each of k twins loses at most 1/k".into(),
        );
    }
    for warning in warnings {
        line(&format!("note: {warning}"))?;
    }
    Ok(())
}

/// Graphs with hubs beyond this size have too many eigenvalues next to 1.
const LARGEST_SPECTRUM: usize = 10_000;

/// The first few names.
fn some(graph: &Graph, nodes: &[usize]) -> String {
    let names: Vec<String> = nodes.iter().take(6).map(|&v| label(graph, v)).collect();
    let more = if nodes.len() > 6 { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Groups of at least two nodes with the same neighbors, themselves left out or counted in.
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
