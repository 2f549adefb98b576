//! Connected graphs up to isomorphism, and long thin ones.

use crate::error::Error;
use ndp_graph::Graph;
use std::collections::BTreeSet;

/// All connected graphs of `nodes` nodes up to isomorphism, by edges: 1, 1, 2, 6, 21, 112, 853 for 1 to 7.
///
/// Every connected graph has a node that can be taken away so that the rest is connected (a leaf of a
/// spanning tree), so all graphs of `n` nodes come from those of `n - 1` by one more node.
///
/// # Errors
/// [`Error::Parameter`] unless `nodes` is from 1 to 7.
pub fn connected_graphs(nodes: usize) -> Result<Vec<Graph>, Error> {
    if !(1..=7).contains(&nodes) {
        let what = "the number of nodes of all graphs";
        return Err(Error::Parameter { what, condition: "be from 1 to 7", value: nodes as f64 });
    }
    let mut level: BTreeSet<u32> = BTreeSet::from([0]);
    for n in 2..=nodes {
        let mut next = BTreeSet::new();
        for &smaller in &level {
            for neighbors in 1..1_u32 << (n - 1) {
                let mut rows = [0_u8; 7];
                for b in 0..n - 1 {
                    for a in 0..b {
                        if smaller >> place(a, b) & 1 == 1 {
                            rows[a] |= 1 << b;
                            rows[b] |= 1 << a;
                        }
                    }
                    if neighbors >> b & 1 == 1 {
                        rows[b] |= 1 << (n - 1);
                        rows[n - 1] |= 1 << b;
                    }
                }
                next.insert(canonical(&rows[..n]));
            }
        }
        level = next;
    }
    let mut codes: Vec<u32> = level.into_iter().collect();
    codes.sort_by_key(|code| (code.count_ones(), *code));
    codes.into_iter().map(|code| graph(nodes, code)).collect()
}

/// The bit of the edge `a, b` with `a < b`.
fn place(a: usize, b: usize) -> usize {
    b * (b - 1) / 2 + a
}

fn graph(nodes: usize, code: u32) -> Result<Graph, Error> {
    let pairs = (0..nodes).flat_map(|b| (0..b).map(move |a| (a, b)));
    Ok(Graph::from_edges(nodes, pairs.filter(|&(a, b)| code >> place(a, b) & 1 == 1))?)
}

/// The largest code over all numberings in which degrees do not increase. Isomorphic graphs have the same
/// such numberings, so they have the same code; the code is the graph, so others have another.
fn canonical(rows: &[u8]) -> u32 {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&a| std::cmp::Reverse(rows[a].count_ones()));
    let mut best = 0;
    permute(rows, &mut order, 0, 0, &mut best);
    best
}

fn permute(rows: &[u8], order: &mut [usize], at: usize, code: u32, best: &mut u32) {
    if at == order.len() {
        *best = code.max(*best);
        return;
    }
    for other in at..order.len() {
        if rows[order[other]].count_ones() != rows[order[at]].count_ones() {
            break;
        }
        order.swap(at, other);
        let row = rows[order[at]];
        let new = (0..at).fold(0, |new, a| new | u32::from(row >> order[a] & 1) << place(a, at));
        permute(rows, order, at + 1, code | new, best);
        order.swap(at, other);
    }
}

/// Long thin graphs of `nodes` nodes: a path, a ring, a star, a lollipop, a barbell and a comb.
///
/// # Errors
/// [`Error::Parameter`] unless `nodes` is from 6 to 64.
pub fn thin_graphs(nodes: usize) -> Result<Vec<Graph>, Error> {
    if !(6..=64).contains(&nodes) {
        let what = "the number of nodes of thin graphs";
        return Err(Error::Parameter { what, condition: "be from 6 to 64", value: nodes as f64 });
    }
    let n = nodes;
    let path: Vec<(usize, usize)> = (1..n).map(|b| (b - 1, b)).collect();
    let with = |more: &[(usize, usize)]| [&path[..], more].concat();
    let teeth = n / 2;
    let back = n - teeth;
    let comb = (1..back).map(|b| (b - 1, b)).chain((0..teeth).map(|a| (a, back + a))).collect();
    let all: [Vec<(usize, usize)>; 6] = [
        path.clone(),
        with(&[(0, n - 1)]),
        (1..n).map(|b| (0, b)).collect(),
        with(&[(0, 2)]),
        with(&[(0, 2), (n - 3, n - 1)]),
        comb,
    ];
    let mut graphs =
        all.map(|edges| Graph::from_edges(n, edges)).into_iter().collect::<Result<Vec<_>, _>>()?;
    graphs.sort_by_key(Graph::edge_count);
    Ok(graphs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OEIS A001349.
    #[test]
    fn there_are_as_many_as_known() -> Result<(), Error> {
        for (nodes, count) in [1, 1, 2, 6, 21, 112, 853].into_iter().enumerate() {
            let graphs = connected_graphs(nodes + 1)?;
            assert_eq!(graphs.len(), count);
            assert!(graphs.iter().all(is_connected));
        }
        let (what, condition) = ("the number of nodes of all graphs", "be from 1 to 7");
        for (nodes, value) in [(0, 0.0), (8, 8.0)] {
            assert_eq!(connected_graphs(nodes), Err(Error::Parameter { what, condition, value }));
        }
        Ok(())
    }

    fn is_connected(graph: &Graph) -> bool {
        let mut seen = BTreeSet::from([0_u32]);
        for _ in 0..graph.node_count() {
            let more: Vec<u32> = seen.iter().flat_map(|&a| graph.neighbors(a as usize).to_vec()).collect();
            seen.extend(more);
        }
        seen.len() == graph.node_count()
    }

    #[test]
    fn thin_graphs_are_connected() -> Result<(), Error> {
        for nodes in [6, 7, 12] {
            assert!(thin_graphs(nodes)?.iter().all(|g| g.node_count() == nodes && is_connected(g)));
        }
        Ok(())
    }
}
