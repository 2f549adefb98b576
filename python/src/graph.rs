//! Graphs and gossip matrices.

use crate::errors::{Fault, one_of};
use ndp_graph::edge_list::{EdgeListOptions, ExtraFields, SelfLoops, read_edge_list};
use ndp_graph::{GossipMatrix, Weights};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::Arc;

/// A simple undirected graph with nodes `0..n`; what `ndp.Graph` keeps behind its labels.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Graph(pub(crate) Arc<ndp_graph::Graph>);

/// The two ends of every edge.
type Ends<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Graph {
    /// The graph with `n` nodes and the edges `(u[i], v[i])`.
    #[new]
    fn new(n: i64, u: PyReadonlyArray1<'_, i64>, v: PyReadonlyArray1<'_, i64>) -> Result<Self, Fault> {
        let (u, v) = (u.as_array(), v.as_array());
        if u.len() != v.len() {
            let message = format!("the edges need two ends each, got {} and {} of them", u.len(), v.len());
            return Err(Fault::new(message));
        }
        let nodes = usize::try_from(n)
            .map_err(|_| Fault::new(format!("the number of nodes must be nonnegative, got {n}")))?;
        if let Some(node) = u.iter().chain(&v).find(|&&node| node < 0) {
            return Err(Fault::new(format!("node {node} is negative: nodes are numbered from 0")));
        }
        let edges = u.iter().zip(&v).map(|(&u, &v)| (u as usize, v as usize));
        Ok(Self(Arc::new(ndp_graph::Graph::from_edges(nodes, edges)?)))
    }

    /// The graph of an edge list, with its labels.
    #[staticmethod]
    fn parse(py: Python<'_>, text: Vec<u8>, skip_self_loops: bool, skip_extra: bool) -> Result<Self, Fault> {
        crate::worker::run(py, move || {
            let options = EdgeListOptions {
                self_loops: if skip_self_loops { SelfLoops::Skip } else { SelfLoops::Refuse },
                extra_fields: if skip_extra { ExtraFields::Skip } else { ExtraFields::Refuse },
                ..EdgeListOptions::default()
            };
            Ok(Self(Arc::new(read_edge_list(text.as_slice(), options)?)))
        })
    }

    /// Labels read from a file, in the order of the nodes.
    fn labels(&self) -> Option<Vec<String>> {
        self.0.labels().map(<[String]>::to_vec)
    }

    fn node_count(&self) -> usize {
        self.0.node_count()
    }

    fn edge_count(&self) -> usize {
        self.0.edge_count()
    }

    /// Both ends of every edge, the smaller first.
    fn edges<'py>(&self, py: Python<'py>) -> Ends<'py> {
        let (u, v): (Vec<i64>, Vec<i64>) = self.0.edges().map(|(u, v)| (u as i64, v as i64)).unzip();
        (PyArray1::from_vec(py, u), PyArray1::from_vec(py, v))
    }

    /// Hops from `source` to every node, -1 where no path leads.
    fn distances<'py>(&self, py: Python<'py>, source: usize) -> Result<Bound<'py, PyArray1<i64>>, Fault> {
        let nodes = self.0.node_count();
        if source >= nodes {
            return Err(ndp_graph::Error::NodeOutOfRange { node: source, nodes }.into());
        }
        let hops = self.0.distances(source).into_iter().map(|hops| hops.map_or(-1, i64::from)).collect();
        Ok(PyArray1::from_vec(py, hops))
    }
}

/// A gossip matrix: symmetric, doubly stochastic, supported on a graph.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Matrix(pub(crate) GossipMatrix);

/// A matrix in compressed rows: starts, columns, entries.
type Compressed<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Matrix {
    /// Weights by a rule: `metropolis`, `max_degree`, `sum_degree` or `regular`.
    #[staticmethod]
    fn named(graph: &Graph, weights: &str, laziness: f64) -> Result<Self, Fault> {
        let graph = &*graph.0;
        let rules = [
            ("metropolis", Weights::Metropolis),
            ("max_degree", Weights::MaxDegree),
            ("sum_degree", Weights::SumDegree),
            ("regular", Weights::Regular),
        ];
        Self::lazy(GossipMatrix::new(graph, one_of("weights", rules, weights)?)?, laziness)
    }

    /// The weight of every edge, the rest on the diagonal.
    #[staticmethod]
    fn from_edges(
        graph: &Graph,
        u: PyReadonlyArray1<'_, i64>,
        v: PyReadonlyArray1<'_, i64>,
        w: PyReadonlyArray1<'_, f64>,
        laziness: f64,
    ) -> Result<Self, Fault> {
        let ends = u.as_array().into_iter().zip(v.as_array()).map(|(&u, &v)| (u.min(v), u.max(v)));
        let mut given: Vec<((i64, i64), f64)> = ends.zip(w.as_array().iter().copied()).collect();
        given.sort_by_key(|&(ends, _)| ends);
        let weight = |u: usize, v: usize| {
            let found = given.binary_search_by_key(&(u as i64, v as i64), |&(ends, _)| ends);
            // An edge that was not given is refused as a weight that is no number.
            found.map_or(f64::NAN, |i| given[i].1)
        };
        Self::lazy(GossipMatrix::from_edge_weights(&graph.0, weight)?, laziness)
    }

    /// A given matrix, checked against the graph.
    #[staticmethod]
    fn from_dense(graph: &Graph, matrix: PyReadonlyArray2<'_, f64>, laziness: f64) -> Result<Self, Fault> {
        Self::lazy(GossipMatrix::from_dense(&graph.0, matrix.as_array())?, laziness)
    }

    /// The matrix in compressed rows: starts, columns, entries.
    fn rows<'py>(&self, py: Python<'py>) -> Compressed<'py> {
        let csr = self.0.csr();
        let (starts, columns, weights) = csr.parts();
        let starts = starts.iter().map(|&i| i as i64).collect();
        let columns = columns.iter().map(|&j| i64::from(j)).collect();
        let entries = weights.to_vec();
        (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, columns), PyArray1::from_vec(py, entries))
    }

    /// The spectral gap `1 - max |λ|` over the eigenvalues other than the first.
    fn gap(&self, py: Python<'_>) -> Result<f64, Fault> {
        let matrix = self.0.clone();
        crate::worker::run_until(py, move |stop| {
            Ok(ndp_graph::spectrum::extremes_until(&matrix, stop)?.gap_abs()?)
        })
    }
}

impl Matrix {
    fn lazy(matrix: GossipMatrix, laziness: f64) -> Result<Self, Fault> {
        Ok(Self(if laziness == 0.0 { matrix } else { matrix.lazy(laziness)? }))
    }
}
