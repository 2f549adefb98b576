//! Accelerated randomized gossip: one edge at a time, with momentum.
//!
//! Every node keeps two values, `x_v` and `z_v`, which both start at the input plus noise. Edges ring at
//! independent Poisson times, edge `e` with rate `p_e`, so that a unit of time contains on average one step
//! of randomized gossip. Between its activations a node mixes its own two values, `dx = η (z - x) dt`, `dz =
//! η (x - z) dt`. When edge `{a, b}` rings, both ends send `x`, average, and move `z` further:
//! ```text
//! z_a ← z_a - γ (x_a - x_b),   z_b ← z_b + γ (x_a - x_b),   x_a, x_b ← (x_a + x_b) / 2
//! ```
//!
//! The sums of `x` and of `z` stay the same. Let `L = Σ_e p_e b_e b_eᵀ` (`b_e = e_a - e_b`), let `μ` be its
//! second smallest eigenvalue and `R = max_e b_eᵀ L⁺ b_e`, and take `η = √(μ / (2R))` and `γ = η / μ`. Then
//! `V = ½ ‖x - x̄‖² + (μ/2) ‖z - x̄‖²_{L⁺}` satisfies `E V_t ≤ e^{-ηt} V_0 ≤ e^{-ηt} ‖x_0 - x̄‖²`. Proof:
//! mixing adds `η ⟨x, z⟩ - η ‖x‖² + μη ⟨x, z⟩_{L⁺} - μη ‖z‖²_{L⁺}`, and a ring adds on average at most `-¼
//! xᵀLx - μγ ⟨x, z⟩ + ½ μγ² R xᵀLx`. Here `μγ = η` cancels `⟨x, z⟩`, `2 μγ² R ≤ 1` cancels the terms in
//! `xᵀLx`, and `μ ‖x‖²_{L⁺} ≤ ‖x‖²` leaves `-ηV`.
//! The messages differ from those of randomized gossip, and so does the loss: this is not a post-processing.
//!
//! # References
//! - *Muffliato*, footnote 2, names the acceleration: `√(λ(p) / |E|)` in the place of `λ(p)`.
//! - Even, Berthier, Bach, Flammarion, Hendrikx, Gaillard, Massoulié, Taylor, *Continuized accelerations of
//!   deterministic and stochastic gradient descents, and of gossip algorithms*, NeurIPS 2021: the method.

use super::protocol::follows_from_statement;
use ndp_account::parts::ensure;
use ndp_account::{Error, OwnNoise};
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{Graph, Step};
use ndp_linalg::sym_eigen;
use ndp_program::VectorProgram;
use rand::{Rng, RngExt};

pub use ndp_program::ActiveEdge;

/// How fast a node mixes its two values, and how far a ring moves the second one.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::accelerated::Momentum;
/// use ndp_graph::{generators::cycle_graph, sequences::EdgeActivations};
/// let momentum = Momentum::of(&EdgeActivations::uniform(&cycle_graph(8)?)?)?;
/// assert!(momentum.mixing > 0.0 && momentum.push > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// The rate `η` of mixing, nonnegative and finite; 0 is plain randomized gossip. It is the rate of
    /// [`Convergence::AcceleratedRandomized`](super::utility::Convergence::AcceleratedRandomized).
    pub mixing: f64,
    /// The step `γ`, nonnegative and finite.
    pub push: f64,
}

impl Momentum {
    /// The parameters with the proven rate: `η = √(μ / (2R))`, `γ = η / μ`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two nodes; a Laplacian too large to be dense.
    pub fn of(law: &EdgeActivations) -> Result<Self, Error> {
        let mean = law.mean_matrix()?;
        let n = mean.node_count();
        ensure(n >= 2, "the number of nodes", "be at least 2", n as f64)?;
        // E[W] = I - L/2, with eigenvalues in ascending order: the last one belongs to the constant vector.
        let eigen = sym_eigen(mean.to_dense()?.view())?;
        let laplacian: Vec<f64> = eigen.values.iter().take(n - 1).map(|x| 2.0 * (1.0 - x)).collect();
        let resistance = |&(a, b, _): &(usize, usize, f64)| {
            let terms = laplacian.iter().enumerate();
            terms.map(|(k, x)| (eigen.vectors[(a, k)] - eigen.vectors[(b, k)]).powi(2) / x).sum::<f64>()
        };
        let largest = law.edges().iter().map(resistance).fold(0.0, f64::max);
        let second = laplacian[n - 2];
        let mixing = (second / (2.0 * largest)).sqrt();
        Self { mixing, push: mixing / second }.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        for (name, value) in [("the mixing rate", self.mixing), ("the step of the momentum", self.push)] {
            ensure((0.0..f64::INFINITY).contains(&value), name, "be nonnegative and finite", value)?;
        }
        Ok(self)
    }
}

/// Accelerated randomized gossip over given rings; noise is added once, at the start.
///
/// The rings are public: losses are conditional on them. At a ring, each end sends its `x` before the
/// average.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::AcceleratedGossip;
/// use ndp_algos::gossip::accelerated::{Momentum, ActiveEdge};
/// use ndp_graph::generators::path_graph;
/// // Nodes 0 and 1 meet, then 1 and 2.
/// let rings = [(0, 1), (1, 2)].map(|edge| ActiveEdge { wait: 1.0, edge }).into();
/// let gossip = AcceleratedGossip::given(&path_graph(3)?, rings, 0.0, Momentum { mixing: 0.1, push: 1.0 })?;
/// assert!(gossip.coalition_loss(&[2])?.unit(0)?.value().get() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AcceleratedGossip {
    nodes: usize,
    rings: Vec<ActiveEdge>,
    /// The time after the last ring.
    rest: f64,
    momentum: Momentum,
    /// Whether observers use the noise that they drew; they do by default.
    pub own_noise: OwnNoise,
}

impl AcceleratedGossip {
    /// Gossip over the given rings of edges of `graph`; `rest` is the time that passes after the last one.
    ///
    /// # Errors
    /// [`ndp_graph::Error::NotAnEdge`], [`ndp_graph::Error::NodeOutOfRange`];
    /// [`Error::InvalidParameter`] for a time or a momentum that is negative or not finite.
    pub fn given(
        graph: &Graph,
        rings: Vec<ActiveEdge>,
        rest: f64,
        momentum: Momentum,
    ) -> Result<Self, Error> {
        momentum.checked()?;
        let nodes = graph.node_count();
        for ring in &rings {
            let (u, v) = ring.edge;
            if let Some(&node) = [u, v].iter().find(|&&node| node >= nodes) {
                return Err(ndp_graph::Error::NodeOutOfRange { node, nodes }.into());
            }
            if !graph.has_edge(u, v) {
                return Err(ndp_graph::Error::NotAnEdge(u, v).into());
            }
        }
        if let Some(value) =
            rings.iter().map(|ring| ring.wait).chain([rest]).find(|t| !(0.0..f64::INFINITY).contains(t))
        {
            let (name, condition) = ("the time between rings", "be nonnegative and finite");
            return Err(Error::InvalidParameter { name, condition, value });
        }
        Ok(Self { nodes, rings, rest, momentum, own_noise: OwnNoise::Known })
    }

    /// Gossip over rings that are drawn for a span of `time`, one for a unit of time on average.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a time that is negative, not finite or above `1e8`, or a momentum that
    /// is negative or not finite; [`Error::NodeOutOfRange`] for an edge of the law that ends outside.
    pub fn drawn(
        law: &EdgeActivations,
        nodes: usize,
        time: f64,
        momentum: Momentum,
        rng: &mut impl Rng,
    ) -> Result<Self, Error> {
        ensure((0.0..=1e8).contains(&time), "the time of a run", "lie in [0, 1e8]", time)?;
        Self::until(law, nodes, (usize::MAX, time), momentum, rng)
    }

    /// The same until the first `count` events are over, each of which is a ring if the probabilities of the
    /// law add up to 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a momentum that is negative or not finite; [`Error::NodeOutOfRange`].
    pub fn of_events(
        law: &EdgeActivations,
        nodes: usize,
        count: usize,
        momentum: Momentum,
        rng: &mut impl Rng,
    ) -> Result<Self, Error> {
        Self::until(law, nodes, (count, f64::INFINITY), momentum, rng)
    }

    /// Gossip over at most so many events within so much time, one of which is finite.
    fn until(
        law: &EdgeActivations,
        nodes: usize,
        (count, time): (usize, f64),
        momentum: Momentum,
        rng: &mut impl Rng,
    ) -> Result<Self, Error> {
        momentum.checked()?;
        if let Some(&node) = law.edges().iter().map(|(_, b, _)| b).find(|&&b| b >= nodes) {
            return Err(Error::NodeOutOfRange { node, nodes });
        }
        let (mut rings, mut now, mut last) = (Vec::new(), 0.0, 0.0);
        for _ in 0..count {
            // The times of Poisson events of rate 1, some of which ring no edge.
            now -= (1.0 - rng.random::<f64>()).ln();
            if now > time {
                break;
            }
            if let Step::Pair(a, b) = law.draw(rng) {
                rings.push(ActiveEdge { wait: now - last, edge: (a, b) });
                last = now;
            }
        }
        let rest = if time.is_finite() { time - last } else { 0.0 };
        Ok(Self { nodes, rings, rest, momentum, own_noise: OwnNoise::Known })
    }

    /// The rings, in order of time.
    #[must_use]
    pub fn rings(&self) -> &[ActiveEdge] {
        &self.rings
    }

    /// The protocol: noise once, and then a round for each ring, with momentum.
    #[must_use]
    pub fn stated(&self) -> VectorProgram<'_> {
        let Momentum { mixing, push } = self.momentum;
        let noisy = VectorProgram::new(self.nodes).noise(1.0).observed_with(self.own_noise);
        noisy.rings(&self.rings, self.rest, (mixing, push))
    }
}

follows_from_statement!(AcceleratedGossip);
