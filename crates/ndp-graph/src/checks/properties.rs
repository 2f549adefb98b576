//! Properties that hold for every graph, every matrix and every text.

use crate::Weights;
use crate::chebyshev::Chebyshev;
use crate::edge_list::{EdgeListOptions, ExtraFields, Header, SelfLoops, Separator, read_edge_list};
use crate::lanczos::{TOLERANCE, lanczos_extremes};
use crate::spectrum::{Spectrum, extremes};
use crate::{Error, GossipMatrix, Graph, TransitionMatrix};
use ndarray::Array2;
use petgraph::graph::UnGraph;
use proptest::prelude::*;

/// A graph of 1 to 14 nodes, connected or not: one coin per pair.
fn graphs() -> impl Strategy<Value = Graph> {
    (1usize..15).prop_flat_map(|n| {
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        let coins = prop::collection::vec(prop::bool::weighted(0.3), pairs.len());
        coins.prop_map(move |coins| {
            let edges = pairs.iter().zip(&coins).filter(|&(_, &coin)| coin).map(|(&pair, _)| pair);
            Graph::from_edges(n, edges).expect("the pairs are distinct")
        })
    })
}

/// A named scheme, perhaps lazy.
fn matrices() -> impl Strategy<Value = GossipMatrix> {
    (graphs(), 0..3, prop_oneof![Just(0.0), 0.01..0.99]).prop_map(|(graph, scheme, laziness): (_, _, f64)| {
        let matrix = match scheme {
            0 => GossipMatrix::metropolis(&graph),
            1 => GossipMatrix::new(&graph, Weights::MaxDegree).unwrap(),
            _ => GossipMatrix::new(&graph, Weights::SumDegree).unwrap(),
        };
        matrix.lazy(laziness).expect("the laziness is in its range")
    })
}

/// Whether every edge in the component of node 0 joins a node at even distance to one at odd distance.
fn is_bipartite(graph: &Graph) -> bool {
    let parity: Vec<Option<u32>> = graph.distances(0);
    graph.edges().all(|(u, v)| parity[u].zip(parity[v]).is_none_or(|(a, b)| a % 2 != b % 2))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

proptest! {
    #[test]
    fn graphs_survive_every_conversion(graph in graphs()) {
        let n = graph.node_count();
        prop_assert_eq!(&Graph::from_edges(n, graph.edges().map(|(u, v)| (v, u)))?, &graph);
        prop_assert_eq!(&Graph::try_from(&UnGraph::from(&graph))?, &graph);
        prop_assert_eq!(&Graph::try_from(ndarray::Array2::try_from(&graph)?.view())?, &graph);
        let degrees: usize = (0..n).map(|v| graph.degree(v)).sum();
        prop_assert_eq!(degrees, 2 * graph.edge_count());
        for u in 0..n {
            prop_assert!(graph.neighbors(u).is_sorted_by(|a, b| a < b));
            prop_assert!(graph.neighbors(u).iter().all(|&v| graph.has_edge(v as usize, u)));
        }
    }

    #[test]
    fn components_partition_the_nodes(graph in graphs()) {
        let components = graph.components();
        prop_assert!(graph.edges().all(|(u, v)| components[u] == components[v]));
        for u in 0..graph.node_count() {
            for (v, distance) in graph.distances(u).into_iter().enumerate() {
                prop_assert_eq!(distance.is_some(), components[u] == components[v]);
            }
        }
        let (largest, nodes) = graph.largest_component();
        prop_assert!(largest.is_connected());
        prop_assert!((0..graph.component_count())
            .all(|c| components.iter().filter(|&&other| other == c).count() <= nodes.len()));
        prop_assert!(largest.edges().all(|(u, v)| graph.has_edge(nodes[u], nodes[v])));
    }

    #[test]
    fn gossip_matrices_are_symmetric_and_stochastic(matrix in matrices()) {
        let n = matrix.node_count();
        let dense = matrix.to_dense()?;
        for u in 0..n {
            prop_assert!((dense.row(u).sum() - 1.0).abs() < 4e-16 * (n as f64).max(4.0));
            for v in 0..n {
                prop_assert_eq!(dense[(u, v)], dense[(v, u)]);
                prop_assert!(dense[(u, v)] >= 0.0);
                prop_assert!(dense[(u, v)] == 0.0 || u == v || matrix.graph().has_edge(u, v));
                prop_assert_eq!(dense[(u, v)], matrix.get(u, v));
            }
            prop_assert_eq!(matrix.csr().row(u).0.len(), matrix.graph().degree(u) + 1);
        }
        let given = GossipMatrix::from_dense(matrix.graph(), dense.view())?;
        prop_assert_eq!(given.csr(), matrix.csr());
        let weights = GossipMatrix::from_edge_weights(matrix.graph(), |u, v| matrix.get(u, v))?;
        prop_assert!((weights.to_dense()? - &dense).iter().all(|x| x.abs() < 1e-15));
        prop_assert_eq!(TransitionMatrix::from_dense(dense.view())?.to_dense()?, dense);
    }

    #[test]
    fn spectra_lie_in_the_unit_interval(matrix in matrices()) {
        let spectrum = Spectrum::new(&matrix)?;
        let values = spectrum.values();
        let n = values.len();
        prop_assert!(values.iter().all(|value| value.abs() <= 1.0 + 1e-13));
        prop_assert!((values[n - 1] - 1.0).abs() < 1e-13);
        let trace: f64 = (0..n).map(|u| matrix.get(u, u)).sum();
        prop_assert!((values.sum() - trace).abs() < 1e-12);
        match extremes(&matrix) {
            Err(Error::InvalidParameter { .. }) => prop_assert_eq!(n, 1),
            Err(Error::Disconnected(count)) => prop_assert_eq!(count, matrix.graph().component_count()),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(found) => {
                prop_assert!((found.second - values[n - 2]).abs() < 1e-13);
                prop_assert!((found.last - values[0]).abs() < 1e-13);
                let lanczos = lanczos_extremes(&matrix, TOLERANCE)?.extremes;
                prop_assert!((found.second - lanczos.second).abs() < 1e-12);
                prop_assert!((found.last - lanczos.last).abs() < 1e-12);
                let periodic = is_bipartite(matrix.graph()) && (0..n).all(|u| matrix.get(u, u) == 0.0);
                let gap = extremes(&matrix).and_then(|ends| ends.gap_abs());
                let refused = matches!(gap, Err(Error::DoesNotMix { .. }));
                prop_assert!(if periodic { refused } else { gap.is_ok() }, "{:?}", gap);
                match (spectrum.extremes().and_then(|ends| ends.gap_abs()), gap) {
                    // Eigenvalues computed with and without eigenvectors come from different code.
                    (Ok(dense), Ok(gap)) => prop_assert!((dense - gap).abs() < 1e-13),
                    (dense, gap) => prop_assert_eq!(dense, gap),
                }
            }
        }
    }

    /// `‖W^t y‖ ≤ (1 - gap)^t ‖y‖` and `‖P_t(W) y‖ ≤ bound(t) ‖y‖` for `y` orthogonal to the constant vector;
    /// both keep the mean of any vector.
    #[test]
    fn gaps_bound_the_contraction(
        matrix in matrices(),
        values in prop::collection::vec(-1.0..1.0f64, 14),
        t in 0usize..40,
    ) {
        let Ok(gap) = extremes(&matrix).and_then(|ends| ends.gap_abs()) else { return Ok(()) };
        let n = matrix.node_count();
        let mean = values[..n].iter().sum::<f64>() / n as f64;
        let y: Vec<f64> = values[..n].iter().map(|value| value - mean).collect();
        let (mut now, mut next) = (y.clone(), vec![0.0; n]);
        for _ in 0..t {
            matrix.csr().multiply(&now, &mut next);
            std::mem::swap(&mut now, &mut next);
        }
        prop_assert!(norm(&now) <= (1.0 - gap).powi(t as i32) * norm(&y) + 1e-12);
        for parameter in [Chebyshev::published(gap)?, Chebyshev::optimal(gap)?] {
            let averaged = parameter.apply_vector(&matrix, &values[..n], t)?;
            prop_assert!((averaged.iter().sum::<f64>() / n as f64 - mean).abs() < 1e-13);
            let rest: Vec<f64> = averaged.iter().map(|value| value - mean).collect();
            prop_assert!(norm(&rest) <= parameter.bound(t) * norm(&y) + 1e-12);
        }
    }

    #[test]
    fn products_match_the_dense_ones(matrix in matrices(), values in prop::collection::vec(-1.0..1.0f64, 14)) {
        let n = matrix.node_count();
        let x = &values[..n];
        let (mut y, mut par) = (vec![0.0; n], vec![0.0; n]);
        matrix.csr().multiply(x, &mut y);
        matrix.csr().par_multiply(x, &mut par);
        prop_assert_eq!(&y, &par);
        let dense = matrix.to_dense()?;
        for (u, value) in y.iter().enumerate() {
            let slow: f64 = (0..n).map(|v| dense[(u, v)] * x[v]).sum();
            prop_assert!((value - slow).abs() < 1e-15);
        }
        prop_assert_eq!(&matrix.csr().transpose(), matrix.csr());
    }

    /// Any text and any bytes give either a graph or an error.
    #[test]
    fn any_text_is_read_or_refused(text in "([0-9a-c#%,\t \"é-]{0,12}(\n|\r\n)){0,8}", loops: bool, extra: bool) {
        let options = EdgeListOptions {
            self_loops: if loops { SelfLoops::Skip } else { SelfLoops::Refuse },
            extra_fields: if extra { ExtraFields::Skip } else { ExtraFields::Refuse },
            ..EdgeListOptions::default()
        };
        match read_edge_list(text.as_bytes(), options) {
            Ok(graph) => prop_assert_eq!(graph.labels().map(<[_]>::len), Some(graph.node_count())),
            Err(Error::EdgeListLine { line, .. }) => prop_assert!(1 <= line && line <= text.lines().count()),
            Err(error) => prop_assert_eq!(error, Error::EmptyGraph),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let result = read_edge_list(&bytes[..], EdgeListOptions::default());
        let refused = matches!(result, Err(Error::EdgeListLine { .. } | Error::EmptyGraph));
        prop_assert!(result.is_ok() || refused);
    }

    /// Reading an edge list written in any dialect gives back the graph.
    #[test]
    fn edge_lists_are_read_back(graph in graphs(), dialect in 0usize..4, both: bool, header: bool) {
        let (mark, separator) = [(" ", Separator::Whitespace), ("\t", Separator::Tab), (",", Separator::Comma),
            (" , ", Separator::Comma)][dialect];
        let mut text = String::from(if header { "# a comment\nfrom,to\n" } else { "" });
        for (u, v) in graph.edges() {
            text += &format!("{u}{mark}{v}\n");
            if both {
                text += &format!("{v}{mark}{u}\n");
            }
        }
        let kind = if header { Header::Present } else { Header::Detect };
        let read = read_edge_list(text.as_bytes(), EdgeListOptions { header: kind, separator, ..Default::default() });
        if graph.edge_count() == 0 {
            prop_assert_eq!(read, Err(Error::EmptyGraph));
            return Ok(());
        }
        let read = read?;
        let original: Vec<usize> = read.labels().into_iter().flatten().map(|label| label.parse().unwrap()).collect();
        prop_assert!(original.is_sorted());
        prop_assert!(read.edges().map(|(u, v)| (original[u], original[v])).eq(graph.edges()));
    }

    #[test]
    fn linear_systems_are_solved(entries in prop::collection::vec(-1.0..1.0f64, 36), right in prop::collection::vec(-1.0..1.0f64, 6)) {
        let a = Array2::from_shape_vec((6, 6), entries).expect("36 entries") + Array2::<f64>::eye(6) * 6.0;
        let b = Array2::from_shape_vec((6, 1), right).expect("6 entries");
        let normal = a.t().dot(&a);
        let x = ndp_linalg::cholesky(normal.view())?.solve(a.t().dot(&b).view())?;
        prop_assert!((a.dot(&x) - &b).iter().all(|residual| residual.abs() < 1e-12));
    }
}
