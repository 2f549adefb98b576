//! Nodes that can be exchanged without any change in what the observer sees.
//!
//! Two nodes are twins when they have the same neighbors apart from each other. Exchanging them is a symmetry
//! of the graph and of every gossip matrix whose weights depend on degrees alone, so no message from a third
//! node tells them apart: the view contains a class of `k` twins only through their sum, and the loss of each
//! is at most `1/k`. If the rank of the view is `n` less `k - 1` for every class, then nothing else is
//! hidden: each twin loses exactly `1/k` and every other node 1, without a computation in floating point.

use ndarray::Array2;
use ndp_graph::Graph;
use ndp_numeric::casts::id;

/// The classes of at least two twins among the nodes for which `apart` is false, each ascending.
pub(crate) fn classes(graph: &Graph, apart: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let nodes: Vec<usize> = (0..graph.node_count()).filter(|&u| !apart(u)).collect();
    let mut found = Vec::new();
    // Adjacent twins have the same closed neighborhood, others the same open one; no node has twins of both
    // kinds.
    for closed in [true, false] {
        let mut keyed: Vec<(Vec<u32>, usize)> = nodes
            .iter()
            .map(|&u| {
                let mut around = graph.neighbors(u).to_vec();
                if closed {
                    around.insert(around.partition_point(|&w| (w as usize) < u), id(u));
                }
                (around, u)
            })
            .collect();
        keyed.sort_unstable();
        for class in keyed.chunk_by(|a, b| a.0 == b.0) {
            if class.len() > 1 {
                found.push(class.iter().map(|&(_, u)| u).collect());
            }
        }
    }
    found
}

/// The unit losses of a view of this rank; `None` if the rank does not determine them, see the module.
pub(crate) fn losses(nodes: usize, rank: usize, classes: &[Vec<usize>]) -> Option<Vec<f64>> {
    let hidden: usize = classes.iter().map(|class| class.len() - 1).sum();
    if rank + hidden != nodes {
        return None;
    }
    let mut unit = vec![1.0; nodes];
    for class in classes {
        class.iter().for_each(|&u| unit[u] = 1.0 / class.len() as f64);
    }
    Some(unit)
}

/// An orthonormal basis of such a view (`rank` by `n`): the unit vector of every node without a twin, and for
/// each class the direction of its sum.
pub(crate) fn basis(nodes: usize, rank: usize, classes: &[Vec<usize>]) -> Option<Array2<f64>> {
    let unit = losses(nodes, rank, classes)?;
    let mut rows = Array2::zeros((rank, nodes));
    let alone = (0..nodes).filter(|&u| unit[u] == 1.0);
    let mut row = 0;
    for u in alone {
        rows[(row, u)] = 1.0;
        row += 1;
    }
    for class in classes {
        class.iter().for_each(|&u| rows[(row, u)] = (class.len() as f64).sqrt().recip());
        row += 1;
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators;

    #[test]
    fn stars_and_cliques_have_twins() -> Result<(), ndp_graph::Error> {
        let star = generators::star_graph(4)?;
        assert_eq!(classes(&star, |_| false), [[1, 2, 3, 4]]);
        assert_eq!(classes(&star, |u| u == 2), [[1, 3, 4]]);
        let complete = generators::complete_graph(3)?;
        assert_eq!(classes(&complete, |_| false), [[0, 1, 2]]);
        assert!(classes(&generators::cycle_graph(5)?, |_| false).is_empty());
        // A ring of four: opposite nodes are twins.
        assert_eq!(classes(&generators::cycle_graph(4)?, |_| false), [[1, 3], [0, 2]]);
        Ok(())
    }

    #[test]
    fn the_rank_decides() {
        let classes = [vec![1, 2], vec![3, 4, 5]];
        assert_eq!(losses(6, 4, &classes), None);
        let third = 1.0 / 3.0;
        assert_eq!(losses(6, 3, &classes), Some(vec![1.0, 0.5, 0.5, third, third, third]));
        assert_eq!(basis(6, 4, &classes), None);
        let basis = basis(6, 3, &classes).expect("the rank leaves room for the twins alone");
        let gram = basis.dot(&basis.t()) - Array2::<f64>::eye(3);
        assert!(gram.iter().all(|x| x.abs() < 1e-15));
    }
}
