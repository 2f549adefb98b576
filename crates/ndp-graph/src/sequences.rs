//! Gossip over changing connections: one symmetric, doubly stochastic step after the other.
//!
//! A [`GossipSequence`] is drawn first and used afterwards: protocols and accountants see the
//! realised steps `W_0, W_1, …`, applied as `x^{t+1} = W_t x^t`.
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Algorithm 2
//!   (randomized gossip), Appendix on time-varying graphs and node dropout.

use crate::error::ensure;
use crate::random::erdos_renyi_graph;
use crate::{Error, GossipMatrix, Graph};
use rand::{Rng, RngExt};

/// One step of gossip.
///
/// # Examples
/// ```
/// use ndp_graph::Step;
/// let mut x = [4.0, 0.0, 2.0];
/// Step::Pair(0, 1).apply(&mut x);
/// assert_eq!((x, Step::Pair(0, 1).peers(1)), ([2.0, 2.0, 2.0], vec![0]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Every node averages with its neighbors: `x ← W x`.
    Matrix(GossipMatrix),
    /// Two nodes replace their values by the mean of both.
    Pair(usize, usize),
    /// Nobody communicates.
    Idle,
}

impl Step {
    /// The nodes that exchange values with `v` in this step, ascending.
    ///
    /// # Panics
    /// When `v` is out of range.
    #[must_use]
    pub fn peers(&self, v: usize) -> Vec<usize> {
        match *self {
            Self::Matrix(ref matrix) => matrix.graph().neighbors(v).iter().map(|&w| w as usize).collect(),
            Self::Pair(a, b) if a == v => vec![b],
            Self::Pair(a, b) if b == v => vec![a],
            Self::Pair(..) | Self::Idle => Vec::new(),
        }
    }

    /// `x ← W x`.
    ///
    /// # Panics
    /// When the length of `x` is not the number of nodes.
    pub fn apply(&self, x: &mut [f64]) {
        match *self {
            Self::Matrix(ref matrix) => {
                let before = x.to_vec();
                matrix.csr().multiply(&before, x);
            }
            Self::Pair(a, b) => {
                let mean = 0.5 * (x[a] + x[b]);
                (x[a], x[b]) = (mean, mean);
            }
            Self::Idle => {}
        }
    }
}

/// The steps of a gossip over changing connections.
///
/// # Examples
/// ```
/// use ndp_graph::GossipSequence;
/// let mut x = [8.0, 0.0, 0.0, 0.0];
/// GossipSequence::one_peer_hypercube(2)?.steps().iter().for_each(|step| step.apply(&mut x));
/// assert_eq!(x, [2.0; 4]);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GossipSequence {
    nodes: usize,
    steps: Vec<Step>,
}

impl GossipSequence {
    /// The given steps on `nodes` nodes.
    ///
    /// # Errors
    /// [`Error::EmptyGraph`]; [`Error::Shape`] for a matrix of another size;
    /// [`Error::NodeOutOfRange`] and [`Error::SelfLoop`] for a pair that does not join two
    /// different nodes.
    pub fn new(nodes: usize, steps: Vec<Step>) -> Result<Self, Error> {
        if nodes == 0 {
            return Err(Error::EmptyGraph);
        }
        for step in &steps {
            match *step {
                Step::Matrix(ref matrix) if matrix.node_count() != nodes => {
                    let got = matrix.node_count();
                    return Err(Error::Shape { what: "nodes of a gossip step", expected: nodes, got });
                }
                Step::Pair(a, b) if a >= nodes || b >= nodes => {
                    return Err(Error::NodeOutOfRange { node: a.max(b), nodes });
                }
                Step::Pair(a, b) if a == b => return Err(Error::SelfLoop(a)),
                Step::Matrix(_) | Step::Pair(..) | Step::Idle => {}
            }
        }
        Ok(Self { nodes, steps })
    }

    /// The same matrix in each of `steps` steps.
    #[must_use]
    pub fn constant(matrix: &GossipMatrix, steps: usize) -> Self {
        Self { nodes: matrix.node_count(), steps: vec![Step::Matrix(matrix.clone()); steps] }
    }

    /// Metropolis weights on a new Erdős–Rényi graph `G(n, p)` in each step.
    ///
    /// # Errors
    /// Those of [`erdos_renyi_graph`].
    pub fn erdos_renyi(n: usize, p: f64, steps: usize, rng: &mut impl Rng) -> Result<Self, Error> {
        Self::metropolis_of(n, steps, || erdos_renyi_graph(n, p, rng))
    }

    fn metropolis_of(
        nodes: usize,
        steps: usize,
        mut draw: impl FnMut() -> Result<Graph, Error>,
    ) -> Result<Self, Error> {
        let step = |_| Ok(Step::Matrix(GossipMatrix::metropolis(&draw()?)));
        Ok(Self { nodes, steps: (0..steps).map(step).collect::<Result<_, Error>>()? })
    }

    /// One random edge per step, independently: randomized gossip.
    #[must_use]
    pub fn activations(law: &EdgeActivations, steps: usize, rng: &mut impl Rng) -> Self {
        Self { nodes: law.support.node_count(), steps: (0..steps).map(|_| law.draw(rng)).collect() }
    }

    /// The given edges of `graph`, one per step.
    ///
    /// # Errors
    /// [`Error::NotAnEdge`].
    pub fn given_activations(graph: &Graph, edges: &[(usize, usize)]) -> Result<Self, Error> {
        for &(u, v) in edges {
            require_edge(graph, u, v)?;
        }
        let steps = edges.iter().map(|&(u, v)| Step::Pair(u, v)).collect();
        Ok(Self { nodes: graph.node_count(), steps })
    }

    /// The `m` steps of the one-peer hypercube on `2^m` nodes: step `k` averages `v` with
    /// `v xor 2^k`, `W_k = (I + Π_k) / 2`.
    ///
    /// Together they reach exact consensus: `W_{m-1} ⋯ W_0 = 11ᵀ / n`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `m > 26`.
    pub fn one_peer_hypercube(m: u32) -> Result<Self, Error> {
        ensure(m <= 26, "the dimension of a hypercube", "be at most 26", f64::from(m))?;
        let nodes = 1usize << m;
        let step = |k: u32| {
            let peers = (0..nodes).map(|v| (v, v ^ (1 << k))).filter(|&(u, v)| u < v);
            // Metropolis weights on a perfect matching are 1/2 and 1/2.
            Ok(Step::Matrix(GossipMatrix::metropolis(&Graph::from_edges(nodes, peers)?)))
        };
        Ok(Self { nodes, steps: (0..m).map(step).collect::<Result<_, Error>>()? })
    }

    /// The sequence in which every node, independently in every step, drops all its edges with probability
    /// `q`: metropolis weights on what is left of each graph, and no averaging of a pair if one of the two
    /// dropped its edges.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `q` lies in `[0, 1]`.
    pub fn with_node_dropout(&self, q: f64, rng: &mut impl Rng) -> Result<Self, Error> {
        ensure((0.0..=1.0).contains(&q), "the probability of a node to drop out", "lie in [0, 1]", q)?;
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let up: Vec<bool> = (0..self.nodes).map(|_| rng.random::<f64>() >= q).collect();
            steps.push(match *step {
                Step::Matrix(ref matrix) => {
                    let left = matrix.graph().edges().filter(|&(u, v)| up[u] && up[v]);
                    Step::Matrix(GossipMatrix::metropolis(&Graph::from_edges(self.nodes, left)?))
                }
                Step::Pair(a, b) if up[a] && up[b] => Step::Pair(a, b),
                Step::Pair(..) | Step::Idle => Step::Idle,
            });
        }
        Ok(Self { nodes: self.nodes, steps })
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// The steps, first to last.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// The law of the edge that averages in one step of randomized gossip: edge `{u, v}` with
/// probability `p_uv`, no edge with the remaining probability.
///
/// # Examples
/// ```
/// use ndp_graph::sequences::EdgeActivations;
/// use ndp_graph::{GossipSequence, generators::star_graph};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let law = EdgeActivations::uniform(&star_graph(4)?)?;
/// assert_eq!(law.participation(0)?, 1.0);
/// let drawn = GossipSequence::activations(&law, 20, &mut ChaCha8Rng::seed_from_u64(1));
/// assert_eq!(drawn.steps().len(), 20);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeActivations {
    /// The edges of positive probability.
    support: Graph,
    /// Those edges in lexicographic order, with their probabilities.
    edges: Vec<(usize, usize, f64)>,
    /// Running sums of the probabilities.
    cumulative: Vec<f64>,
}

impl EdgeActivations {
    /// Edge `{u, v}` of `graph` with probability `p` for each `(u, v, p)`; an edge that is not listed has
    /// probability 0.
    ///
    /// # Errors
    /// [`Error::NotAnEdge`], [`Error::RepeatedEdge`]; [`Error::InvalidWeight`] for a negative or
    /// non-finite probability; [`Error::InvalidParameter`] when they sum to more than 1 beyond rounding;
    /// [`Error::Disconnected`] when the edges of positive probability do not connect all nodes.
    pub fn new(graph: &Graph, probabilities: &[(usize, usize, f64)]) -> Result<Self, Error> {
        let nodes = graph.node_count();
        let mut edges = Vec::new();
        for &(u, v, p) in probabilities {
            require_edge(graph, u, v)?;
            if !(p.is_finite() && 0.0 <= p) {
                return Err(Error::InvalidWeight { row: u, column: v, value: p });
            }
            if p > 0.0 {
                edges.push((u.min(v), u.max(v), p));
            }
        }
        edges.sort_unstable_by_key(|&(u, v, _)| (u, v));
        let support = Graph::from_edges(nodes, edges.iter().map(|&(u, v, _)| (u, v)))?;
        support.require_connected()?;
        let cumulative: Vec<f64> = edges
            .iter()
            .scan(0.0, |sum, &(_, _, p)| {
                *sum += p;
                Some(*sum)
            })
            .collect();
        let total = cumulative.last().copied().unwrap_or(0.0);
        if total > 1.0 + rounding(edges.len()) {
            let (name, condition) = ("the sum of the activation probabilities", "be at most 1");
            return Err(Error::InvalidParameter { name, condition, value: total });
        }
        Ok(Self { support, edges, cumulative })
    }

    /// Every edge with the same probability `1 / |E|`.
    ///
    /// # Errors
    /// [`Error::Disconnected`].
    pub fn uniform(graph: &Graph) -> Result<Self, Error> {
        let p = 1.0 / graph.edge_count() as f64;
        let edges: Vec<_> = graph.edges().map(|(u, v)| (u, v, p)).collect();
        Self::new(graph, &edges)
    }

    /// Number of nodes.
    pub(crate) fn node_count(&self) -> usize {
        self.support.node_count()
    }

    /// The edges of positive probability, `(u, v, p)` with `u < v`, in lexicographic order.
    #[must_use]
    pub fn edges(&self) -> &[(usize, usize, f64)] {
        &self.edges
    }

    /// The probability `Σ_w p_vw` that `v` takes part in a step.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn participation(&self, v: usize) -> Result<f64, Error> {
        let nodes = self.support.node_count();
        if v >= nodes {
            return Err(Error::NodeOutOfRange { node: v, nodes });
        }
        Ok(self.edges.iter().filter(|&&(a, b, _)| a == v || b == v).map(|&(_, _, p)| p).sum())
    }

    /// The mean step `E[W_t] = I - L_p / 2`, `L_p` the Laplacian weighted by the probabilities.
    ///
    /// As `E[W_tᵀ W_t] = E[W_t]`, the expected squared distance to consensus shrinks per step by
    /// `λ_2(E[W_t]) = 1 - λ_2(L_p) / 2`: its `gap_signed` is the rate of randomized gossip.
    ///
    /// # Errors
    /// None: half the probabilities at a node sum to at most 1/2.
    pub fn mean_matrix(&self) -> Result<GossipMatrix, Error> {
        let half = |u, v| {
            let found = self.edges.binary_search_by_key(&(u, v), |&(a, b, _)| (a, b));
            found.map_or(0.0, |k| 0.5 * self.edges[k].2)
        };
        GossipMatrix::from_edge_weights(&self.support, half)
    }

    /// The pair of one step, or [`Step::Idle`].
    pub fn draw(&self, rng: &mut impl Rng) -> Step {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        // If the probabilities sum to 1 up to rounding, nothing is left for an idle step.
        let scale = if total >= 1.0 - rounding(self.edges.len()) { total } else { 1.0 };
        let point = scale * rng.random::<f64>();
        if point >= total && scale != total {
            return Step::Idle;
        }
        let drawn = self.cumulative.partition_point(|&sum| sum <= point);
        match self.edges.get(drawn).or(self.edges.last()) {
            Some(&(u, v, _)) => Step::Pair(u, v),
            None => Step::Idle,
        }
    }
}

impl TryFrom<&GossipMatrix> for EdgeActivations {
    type Error = Error;

    /// A uniform node wakes up and picks a neighbor by its row of `W`: `p_uv = 2 W_uv / n`.
    ///
    /// The remaining probability, the mean of the diagonal of `W`, is that of a step without an edge.
    ///
    /// # Errors
    /// [`Error::Disconnected`] when the positive entries of `W` do not connect all nodes.
    fn try_from(matrix: &GossipMatrix) -> Result<Self, Error> {
        let scale = 2.0 / matrix.node_count() as f64;
        let edges: Vec<_> = matrix.graph().edges().map(|(u, v)| (u, v, scale * matrix.get(u, v))).collect();
        Self::new(matrix.graph(), &edges)
    }
}

fn require_edge(graph: &Graph, u: usize, v: usize) -> Result<(), Error> {
    let nodes = graph.node_count();
    for node in [u, v] {
        if node >= nodes {
            return Err(Error::NodeOutOfRange { node, nodes });
        }
    }
    if graph.has_edge(u, v) { Ok(()) } else { Err(Error::NotAnEdge(u, v)) }
}

/// How far from 1 the sum of `count` probabilities may be by rounding alone.
fn rounding(count: usize) -> f64 {
    (count as f64 * f64::EPSILON).max(1e-12)
}
