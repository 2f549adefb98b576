//! Accelerated randomized gossip: one edge at a time, with momentum.
//!
//! Every node keeps two values, `x_v` and `z_v`, both `x_v + η_v` at the start. Edges ring at independent
//! Poisson times, edge `e` with rate `p_e`, so that a unit of time holds one step of randomized gossip. Between its
//! activations a node mixes its own two values, `dx = η (z - x) dt`, `dz = η (x - z) dt`; when edge `{a, b}` rings
//! both ends send `x`, average, and move `z` further:
//!
//! ```text
//! z_a ← z_a - γ (x_a - x_b),   z_b ← z_b + γ (x_a - x_b),   x_a, x_b ← (x_a + x_b) / 2
//! ```
//!
//! Sums of `x` and of `z` are kept. With `L = Σ_e p_e b_e b_eᵀ` (`b_e = e_a - e_b`), `μ` its second eigenvalue and
//! `R = max_e b_eᵀ L⁺ b_e`, take `η = √(μ / (2R))` and `γ = η / μ`. Then
//! `V = ½ ‖x - x̄‖² + (μ/2) ‖z - x̄‖²_{L⁺}` satisfies `E V_t ≤ e^{-ηt} V_0 ≤ e^{-ηt} ‖x_0 - x̄‖²`: mixing adds
//! `η ⟨x, z⟩ - η ‖x‖² + μη ⟨x, z⟩_{L⁺} - μη ‖z‖²_{L⁺}`, a ring on average `-¼ xᵀLx - μγ ⟨x, z⟩ + ½ μγ² R xᵀLx`
//! at most; `μγ = η` cancels `⟨x, z⟩`, `2 μγ² R ≤ 1` the terms in `xᵀLx`, and `μ ‖x‖²_{L⁺} ≤ ‖x‖²` leaves `-ηV`.
//!
//! What is sent differs from randomized gossip, and so does the loss: it is not a post-processing.
//!
//! # References
//! - *Muffliato*, footnote 2, names the acceleration: `√(λ(p) / |E|)` in the place of `λ(p)`.
//! - Even, Berthier, Bach, Flammarion, Hendrikx, Gaillard, Massoulié, Taylor, *Continuized accelerations of
//!   deterministic and stochastic gradient descents, and of gossip algorithms*, NeurIPS 2021: the method.

use super::exact::ExactOptions;
use super::operator::{check_values, operator_error, require_operator, worst_of_operator};
use super::protocol::{GossipProtocol, Transcript, noisy_values, observed};

use ndp_account::Observation;
use ndp_account::parts::checked_coalition;
use ndp_certify::account;
use ndp_certify::ball::Ball;
use ndp_certify::rows::{Layout, Rows};
use ndp_certify::trace::{self, Trace};
use ndp_numeric::casts::id;

use ndarray::{Array2, ArrayView2};
use ndp_account::parts::ensure;
use ndp_account::{Error, LinearProtocol, LossReport, OwnNoise, Terms, View};
use ndp_certify::Source;
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sigma};
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipSequence, Graph, Step};
use ndp_linalg::memory::require_dense;
use ndp_linalg::sym_eigen;
use rand::{Rng, RngExt};
use std::sync::Arc;

/// How fast a node's two values mix, and how far a ring moves the second.
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
        // E[W] = I - L/2, eigenvalues ascending: the last belongs to the constant vector.
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

/// An edge that rings, and the time since the one before.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::accelerated::ActiveEdge;
/// let ring = ActiveEdge { wait: 0.5, edge: (0, 1) };
/// assert_eq!(ring.edge, (0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveEdge {
    /// Time since the ring before, or since the start.
    pub wait: f64,
    /// The ends of the edge.
    pub edge: (usize, usize),
}

/// Accelerated randomized gossip over given rings, noise added once at the start.
///
/// The rings are public: losses are conditional on them. The message of an end is its `x` before the average.
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
    /// Time after the last ring.
    rest: f64,
    momentum: Momentum,
    /// Whether observers use the noise they drew; from the start they do.
    pub own_noise: OwnNoise,
}

impl AcceleratedGossip {
    /// The given rings of edges of `graph`, and the time that passes after the last.
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

    /// Rings drawn for a span of `time`: about as many as steps of randomized gossip.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a time that is negative, not finite or above `1e8`, or a momentum that is negative or not
    /// finite.
    pub fn drawn(
        law: &EdgeActivations,
        nodes: usize,
        time: f64,
        momentum: Momentum,
        rng: &mut impl Rng,
    ) -> Result<Self, Error> {
        momentum.checked()?;
        ensure((0.0..=1e8).contains(&time), "the time of a run", "lie in [0, 1e8]", time)?;
        let (mut rings, mut now, mut last) = (Vec::new(), 0.0, 0.0);
        loop {
            // Poisson events of rate 1, some of which ring no edge.
            now -= (1.0 - rng.random::<f64>()).ln();
            if now > time {
                break;
            }
            if let Step::Pair(a, b) = law.draw(rng) {
                rings.push(ActiveEdge { wait: now - last, edge: (a, b) });
                last = now;
            }
        }
        if let Some(&node) = law.edges().iter().map(|(_, b, _)| b).find(|&&b| b >= nodes) {
            return Err(Error::NodeOutOfRange { node, nodes });
        }
        Ok(Self { nodes, rings, rest: time - last, momentum, own_noise: OwnNoise::Known })
    }

    /// The rings, in order of time.
    #[must_use]
    pub fn rings(&self) -> &[ActiveEdge] {
        &self.rings
    }

    /// The operator `P` of the output `P (x + η)`, given the rings: `n` by `n`.
    ///
    /// # Errors
    /// [`ndp_graph::Error::TooLarge`].
    pub(super) fn operator(&self) -> Result<Array2<f64>, Error> {
        require_dense("the operator of a gossip protocol", self.nodes, 2 * self.nodes)?;
        Ok(self.follow(Array2::eye(self.nodes), |_| {}))
    }

    /// The rings at which a member hears from outside, and from whom.
    fn senders(&self, coalition: &[usize]) -> impl Iterator<Item = (usize, usize)> {
        let inside = |v: usize| coalition.binary_search(&v).is_ok();
        self.rings.iter().enumerate().filter_map(move |(k, ring)| {
            let (a, b) = ring.edge;
            match (inside(a), inside(b)) {
                (true, false) => Some((k, b)),
                (false, true) => Some((k, a)),
                _ => None,
            }
        })
    }

    fn known<'a>(&self, coalition: &'a [usize]) -> &'a [usize] {
        if self.own_noise == OwnNoise::Known { coalition } else { &[] }
    }

    /// The messages that a coalition (ascending) hears, as rows with exact entries. Registers `0..k` hold the `x` of the nodes of
    /// the ball, the next `k` their `z`.
    fn exact_rows(&self, coalition: &[usize]) -> Result<Rows, Error> {
        let known = self.known(coalition);
        let senders: Vec<(usize, usize)> = self.senders(coalition).collect();
        let pairs = self.rings.iter().map(|ring| Step::Pair(ring.edge.0, ring.edge.1)).collect();
        let ball = Ball::before(&GossipSequence::new(self.nodes, pairs)?, &[], senders.iter().copied());
        let inside: Vec<usize> = ball.nodes().iter().copied().filter(|u| !known.contains(u)).collect();
        let mut layout = Layout::of_equal_columns(self.nodes, &inside);
        layout.known = known.len();
        let second = ball.len();
        let start = |from: usize| {
            let local = |(k, &u): (usize, &usize)| Some((id(ball.local(u)? + from), id(k)));
            let entries = inside.iter().enumerate().filter_map(local).collect();
            trace::Step::Add { entries: Arc::new(entries), first: 0, factor: 1.0 }
        };
        let mut steps = vec![start(0), start(second)];
        let mut messages = Vec::with_capacity(senders.len());
        let mut clock = vec![0.0; self.nodes];
        let (mut now, mut next) = (0.0, senders.into_iter().peekable());
        for (k, ring) in self.rings.iter().enumerate() {
            let (a, b) = ring.edge;
            now += ring.wait;
            for v in [a, b] {
                let share = mixed_share(self.momentum.mixing, now - clock[v]);
                clock[v] = now;
                if let Some(v) = ball.local(v).filter(|_| share > 0.0) {
                    steps.push(trace::Step::Share(v, second + v, share));
                }
            }
            if let Some((_, sender)) = next.next_if(|(at, _)| *at == k) {
                let register = ball.local(sender).expect("the ball holds all senders");
                messages.push(trace::Message { after: steps.len(), register, beside: Vec::new() });
            }
            // What happens outside the ball, or once it is too late to be heard of, is not seen.
            if let (Some(a), Some(b)) = (ball.local(a), ball.local(b)) {
                let z = (second + a, second + b);
                steps.push(trace::Step::Ring { x: (a, b), z, push: self.momentum.push });
            }
        }
        Ok(Rows::Traced(Trace::new(layout, 2 * ball.len(), steps, messages)))
    }

    /// The `x` of all nodes at the end; `before` sees the state before every ring, with the two nodes about to
    /// talk up to date.
    fn follow(&self, start: Array2<f64>, mut before: impl FnMut(&State)) -> Array2<f64> {
        let clock = vec![0.0; self.nodes];
        let mut state = State { x: start.clone(), z: start, clock, now: 0.0, mixing: self.momentum.mixing };
        for ring in &self.rings {
            let (a, b) = ring.edge;
            state.now += ring.wait;
            state.catch_up(a);
            state.catch_up(b);
            before(&state);
            let difference = &state.x.row(a) - &state.x.row(b);
            state.x.row_mut(a).scaled_add(-0.5, &difference);
            state.x.row_mut(b).scaled_add(0.5, &difference);
            state.z.row_mut(a).scaled_add(-self.momentum.push, &difference);
            state.z.row_mut(b).scaled_add(self.momentum.push, &difference);
        }
        state.now += self.rest;
        (0..self.nodes).for_each(|v| state.catch_up(v));
        state.x
    }
}

/// The two values of every node, each as of the node's own clock.
#[derive(Clone)]
struct State {
    x: Array2<f64>,
    z: Array2<f64>,
    clock: Vec<f64>,
    now: f64,
    mixing: f64,
}

impl State {
    /// Mixes the two values of `v` for the time since its clock stopped.
    fn catch_up(&mut self, v: usize) {
        let moved = mixed_share(self.mixing, self.now - self.clock[v]);
        self.clock[v] = self.now;
        if moved > 0.0 {
            let towards = (&self.z.row(v) - &self.x.row(v)) * moved;
            self.x.row_mut(v).scaled_add(1.0, &towards);
            self.z.row_mut(v).scaled_add(-1.0, &towards);
        }
    }
}

/// The share of their difference by which two values have moved towards each other after some time.
fn mixed_share(mixing: f64, time: f64) -> f64 {
    -0.5 * (-2.0 * mixing * time).exp_m1()
}

impl AcceleratedGossip {
    /// What a coalition received in a run, in the order of the rows of its view.
    fn received(&self, run: &Transcript, coalition: &[usize]) -> Result<Array2<f64>, Error> {
        let coalition = checked_coalition(coalition, self.nodes)?;
        let senders: Vec<(usize, usize)> = self.senders(&coalition).collect();
        let mut values = Array2::zeros((senders.len(), run.output.ncols()));
        for (mut row, (k, sender)) in values.rows_mut().into_iter().zip(senders) {
            row.assign(&run.messages[k].row(sender));
        }
        Ok(values)
    }
}

impl GossipProtocol for AcceleratedGossip {
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error> {
        let (noise, start) = noisy_values(values, self.nodes, sigma, rng)?;
        let mut messages = Vec::with_capacity(self.rings.len());
        let output = self.follow(start, |state| {
            let mut sent = state.clone();
            (0..self.nodes).for_each(|v| sent.catch_up(v));
            messages.push(sent.x);
        });
        Ok(Transcript { noise, messages, output, later_noises: Vec::new() })
    }

    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        check_values(values, self.nodes)?;
        operator_error(self.operator()?.view(), values, sigma)
    }
}

impl LinearProtocol for AcceleratedGossip {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("every value, once")
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    /// Every node keeps the noise of its first value to itself.
    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    /// Messages go between neighbors and nothing is published: somebody outside sees nothing.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(0.0).into())
    }

    /// The rows of the messages over inputs and over noises, in order of time.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let coalition = checked_coalition(coalition, self.nodes)?;
        let senders: Vec<(usize, usize)> = self.senders(&coalition).collect();
        require_dense("a view written out row by row", 2 * senders.len() + 2 * self.nodes, self.nodes)?;
        let mut rows = Array2::zeros((senders.len(), self.nodes));
        let (mut ring, mut row) = (0, 0);
        self.follow(Array2::eye(self.nodes), |state| {
            if let Some(&(_, sender)) = senders.get(row).filter(|(k, _)| *k == ring) {
                rows.row_mut(row).assign(&state.x.row(sender));
                row += 1;
            }
            ring += 1;
        });
        let known = self.known(&coalition);
        let exact = self.exact_rows(&coalition)?;
        Ok(View::new(&coalition, rows.clone(), rows, known)?.with_source(Source::Rows(exact)))
    }

    /// Certified, from the shares and pushes as the run uses them.
    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        let coalition = checked_coalition(coalition, self.nodes)?;
        let certificate = account::of_rows(&self.exact_rows(&coalition)?, ExactOptions::default().budget())?;
        Ok(LossReport::new(coalition, certificate, self.own_noise == OwnNoise::Known))
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let run = self.run(values, sigma, rng)?;
        let received = self.received(&run, coalition)?;
        observed(&run, received, self.own_noise, coalition)
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(Self { own_noise, ..self.clone() }))
    }

    fn error_bound(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        require_operator(LinearProtocol::node_count(self))?;
        Ok(worst_of_operator(self.operator()?.view(), noise))
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(2.0 * self.rings.len() as f64)
    }
}
