//! The gossip matrix that has exactly given entries.

use super::layers::Row;
use crate::mixing::MixingMatrix;
use ndp_graph::gossip_matrix::Weights;
use ndp_graph::{GossipMatrix, Graph};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};
use std::rc::Rc;

/// The gossip matrix with exactly these rows: by a rule, lazy or not, or with entries that are floats. A node
/// without a row keeps its value.
pub(super) fn exactly(graph: &Graph, rows: &[Option<Rc<Row<'_>>>]) -> Option<GossipMatrix> {
    // Of another matrix than a symmetric one nothing more need be tried.
    let weight = |u: usize, v: usize| {
        let row = rows[u].as_deref()?;
        Some(&*row[row.binary_search_by_key(&v, |(node, _)| *node).ok()?].1)
    };
    if graph.edges().any(|(u, v)| weight(u, v) != weight(v, u)) {
        return None;
    }
    let rules = [Weights::Metropolis, Weights::MaxDegree, Weights::SumDegree, Weights::Regular];
    let by_rule = rules.into_iter().filter_map(|rule| {
        // One edge says how lazy a matrix by this rule would be.
        let (u, v) = graph.edges().next()?;
        let denominator = rule.denominator(graph.degree(u), graph.degree(v))?;
        let kept = BigRational::one() - weight(u, v)? * BigRational::from_integer(denominator.into());
        let share = super::float(&kept).filter(|share| (0.0..1.0).contains(share))?;
        GossipMatrix::new(graph, rule).ok()?.lazy(share).ok()
    });
    let given = std::iter::once_with(|| {
        let entry = |u, v| weight(u, v).and_then(BigRational::to_f64).unwrap_or(0.0);
        GossipMatrix::from_edge_weights(graph, entry).ok()
    });
    by_rule.chain(given.flatten()).find(|matrix| has(matrix, rows))
}

/// Whether the exact matrix behind a gossip matrix has these rows.
fn has(matrix: &GossipMatrix, rows: &[Option<Rc<Row<'_>>>]) -> bool {
    let exact = MixingMatrix::from(matrix);
    rows.iter().enumerate().all(|(u, row)| {
        let mine = exact.row(u);
        match row {
            Some(row) => {
                row.len() == mine.len()
                    && row.iter().zip(mine).all(|((v, x), (w, y))| *v == *w as usize && **x == *y)
            }
            None => matches!(mine, [(v, x)] if *v as usize == u && x.is_one()),
        }
    })
}
