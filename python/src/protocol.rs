//! Linear Gaussian protocols: what an observer learns, a run on real values, the error, an audit.

use crate::errors::Fault;
use crate::grades::Number;
use crate::graph::{Graph, Matrix};
use crate::losses::Reports;
use crate::worker::{run, run_each};
use ndarray::{Array2, ArrayView2};
use ndp_algos::audit::{self, AuditPlan};
use ndp_algos::gossip::accelerated::{Momentum, Ring};
use ndp_algos::gossip::{
    AcceleratedGossip, FreshNoiseGossip, MessageNoise, NoiseSchedule, NoisyMessageGossip, SequenceGossip,
    SynchronousGossip,
};
use ndp_algos::walk::complete::{Caps, CompleteSum, CompleteWalk, Path, SumOnPath};
use ndp_algos::walk::graph::{Action, AveragingOnPath, Steps, TokenAveraging, WalkPath};
use ndp_algos::walk::ring::{Placement, RingSum};
use ndp_algos::walk::{Bounds, FinalToken, TokenNoise};
use ndp_algos::{LossReport, OwnNoise, Protocol as _};
use ndp_dp::{Sensitivity, Sigma};
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipMatrix, GossipSequence, Step};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// A protocol whose observers see linear combinations of Gaussians.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Protocol(Arc<Kind>);

enum Kind {
    Synchronous(SynchronousGossip),
    Sequence(SequenceGossip),
    Accelerated(AcceleratedGossip),
    Noisy(NoisyMessageGossip),
    Fresh(FreshNoiseGossip),
    RingSum(RingSum),
    SumOnPath(SumOnPath),
    Averaging { averaging: TokenAveraging, path: WalkPath, nodes: usize, final_token: FinalToken },
}

/// Runs the same expression on whatever protocol it is.
macro_rules! each {
    ($kind:expr, $protocol:ident => $body:expr) => {
        match $kind {
            Kind::Synchronous($protocol) => $body,
            Kind::Sequence($protocol) => $body,
            Kind::Accelerated($protocol) => $body,
            Kind::Noisy($protocol) => $body,
            Kind::Fresh($protocol) => $body,
            Kind::RingSum($protocol) => $body,
            Kind::SumOnPath($protocol) => $body,
            Kind::Averaging { averaging, path, nodes, final_token } => {
                let (nodes, final_token) = (*nodes, *final_token);
                let $protocol = &AveragingOnPath { averaging, path, nodes, final_token };
                $body
            }
        }
    };
}

impl Kind {
    fn loss(&self, coalition: &[usize]) -> Result<LossReport, Fault> {
        Ok(each!(self, protocol => protocol.coalition_loss(coalition))?)
    }
}

fn own_noise(known: bool) -> OwnNoise {
    if known { OwnNoise::Known } else { OwnNoise::Unknown }
}

pub(crate) fn final_token(word: &str) -> Result<FinalToken, Fault> {
    match word {
        "withheld" => Ok(FinalToken::Withheld),
        "published" => Ok(FinalToken::Published),
        "masked" => Ok(FinalToken::Masked),
        _ => Err(Fault::new(format!("final must be one of withheld, published, masked, got {word:?}"))),
    }
}

/// A generator of the seed given: trial 0 of that seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The law by which edges are activated: uniform, or given by a matrix or by probabilities.
fn law(
    graph: &ndp_graph::Graph,
    matrix: Option<&GossipMatrix>,
    probabilities: Option<Vec<(usize, usize, f64)>>,
) -> Result<EdgeActivations, Fault> {
    Ok(match (matrix, probabilities) {
        (_, Some(probabilities)) => EdgeActivations::new(graph, &probabilities)?,
        (Some(matrix), None) => EdgeActivations::from_gossip(matrix)?,
        (None, None) => EdgeActivations::uniform(graph)?,
    })
}

fn pairs_of(sequence: &GossipSequence) -> Vec<(usize, usize)> {
    let pair = |step: &Step| match *step {
        Step::Pair(a, b) => Some((a, b)),
        _ => None,
    };
    sequence.steps().iter().filter_map(pair).collect()
}

/// Draws the pairs that meet in `steps` steps of randomized gossip.
#[pyfunction]
#[pyo3(signature = (graph, steps, seed, matrix=None, probabilities=None))]
pub(crate) fn draw_pairs(
    graph: &Graph,
    steps: usize,
    seed: u64,
    matrix: Option<&Matrix>,
    probabilities: Option<Vec<(usize, usize, f64)>>,
) -> Result<Vec<(usize, usize)>, Fault> {
    let law = law(&graph.0, matrix.map(|matrix| &matrix.0), probabilities)?;
    Ok(pairs_of(&GossipSequence::activations(&law, steps, &mut generator(seed))))
}

/// Draws the rings of accelerated randomized gossip, and the momentum that goes with the law.
#[pyfunction]
pub(crate) fn draw_rings(
    graph: &Graph,
    time: f64,
    seed: u64,
    mixing: Option<f64>,
    push: Option<f64>,
) -> Result<(Vec<(f64, usize, usize)>, f64, f64), Fault> {
    let law = EdgeActivations::uniform(&graph.0)?;
    let momentum = momentum(&law, mixing, push)?;
    let nodes = graph.0.node_count();
    let drawn = AcceleratedGossip::drawn(&law, nodes, time, momentum, &mut generator(seed))?;
    let rings = drawn.rings().iter().map(|ring| (ring.wait, ring.edge.0, ring.edge.1)).collect();
    Ok((rings, momentum.mixing(), momentum.push()))
}

fn momentum(law: &EdgeActivations, mixing: Option<f64>, push: Option<f64>) -> Result<Momentum, Fault> {
    Ok(match (mixing, push) {
        (Some(mixing), Some(push)) => Momentum::new(mixing, push)?,
        (None, None) => Momentum::of(law)?,
        _ => return Err(Fault::new("mixing and push go together: give both or none")),
    })
}

#[pymethods]
impl Protocol {
    /// Synchronous gossip, plain or accelerated.
    #[staticmethod]
    fn gossip(
        matrix: &Matrix,
        rounds: usize,
        chebyshev: Option<f64>,
        own_noise_known: bool,
    ) -> Result<Self, Fault> {
        let mut gossip =
            SynchronousGossip::new(matrix.0.clone(), rounds).with_own_noise(own_noise(own_noise_known));
        if let Some(parameter) = chebyshev {
            gossip = gossip.accelerated(parameter)?;
        }
        Ok(Self::of(Kind::Synchronous(gossip)))
    }

    /// Gossip over given pairs, one pair a step.
    #[staticmethod]
    fn pairs(graph: &Graph, pairs: Vec<(usize, usize)>, own_noise_known: bool) -> Result<Self, Fault> {
        let sequence = GossipSequence::given_activations(&graph.0, &pairs)?;
        Ok(Self::sequence(sequence, own_noise_known))
    }

    /// Gossip whose matrix changes from step to step.
    #[staticmethod]
    fn matrices(py: Python<'_>, matrices: Vec<Py<Matrix>>, own_noise_known: bool) -> Result<Self, Fault> {
        let nodes = matrices.first().map_or(0, |matrix| matrix.borrow(py).0.node_count());
        let steps = matrices.iter().map(|matrix| Step::Matrix(matrix.borrow(py).0.clone())).collect();
        Ok(Self::sequence(GossipSequence::new(nodes, steps)?, own_noise_known))
    }

    /// One-peer gossip on a hypercube of `2^dimension` nodes.
    #[staticmethod]
    fn one_peer(dimension: u32, own_noise_known: bool) -> Result<Self, Fault> {
        Ok(Self::sequence(GossipSequence::one_peer_hypercube(dimension)?, own_noise_known))
    }

    /// Accelerated randomized gossip over given rings `(wait, u, v)`.
    #[staticmethod]
    fn accelerated(
        graph: &Graph,
        rings: Vec<(f64, usize, usize)>,
        rest: f64,
        momentum: (f64, f64),
        own_noise_known: bool,
    ) -> Result<Self, Fault> {
        let rings = rings.into_iter().map(|(wait, u, v)| Ring { wait, edge: (u, v) }).collect();
        let momentum = Momentum::new(momentum.0, momentum.1)?;
        let gossip = AcceleratedGossip::given(&graph.0, rings, rest, momentum)?;
        Ok(Self::of(Kind::Accelerated(gossip.with_own_noise(own_noise(own_noise_known)))))
    }

    /// Gossip whose messages carry noise of `ratio` times that of the values.
    #[staticmethod]
    fn noisy(
        matrix: &Matrix,
        rounds: usize,
        ratio: f64,
        kind: &str,
        own_noise_known: bool,
    ) -> Result<Self, Fault> {
        let kind = match kind {
            "broadcast" => MessageNoise::Broadcast,
            "per_link" => MessageNoise::PerLink,
            "overheard" => MessageNoise::Overheard,
            _ => {
                let names = "broadcast, per_link, overheard";
                return Err(Fault::new(format!(
                    "the noise of messages must be one of {names}, got {kind:?}"
                )));
            }
        };
        let gossip = NoisyMessageGossip::new(matrix.0.clone(), rounds, ratio, kind)?;
        Ok(Self::of(Kind::Noisy(gossip.with_own_noise(own_noise(own_noise_known)))))
    }

    /// Gossip with fresh noise of these variances, one a round.
    #[staticmethod]
    fn fresh(matrix: &Matrix, variances: Vec<f64>, own_noise_known: bool) -> Result<Self, Fault> {
        let gossip = FreshNoiseGossip::new(matrix.0.clone(), NoiseSchedule::new(variances)?);
        Ok(Self::of(Kind::Fresh(gossip.with_own_noise(own_noise(own_noise_known)))))
    }

    /// A sum on the ring with Gaussian noise.
    #[staticmethod]
    fn ring_sum(nodes: usize, rounds: usize, distributed: bool, last: &str) -> Result<Self, Fault> {
        let noise = TokenNoise::Gaussian(Sigma::new(1.0)?);
        let placement = if distributed { Placement::Distributed } else { Placement::Counter };
        let sum = RingSum::new(nodes, rounds, Bounds::new(0.0, 1.0)?, noise, placement)?;
        Ok(Self::of(Kind::RingSum(sum.with_final_token(final_token(last)?)?)))
    }

    /// A sum on the complete graph along a given path.
    #[staticmethod]
    fn sum_on_path(
        nodes: usize,
        holders: Vec<usize>,
        published: bool,
        visits: Option<usize>,
        edge_uses: Option<usize>,
    ) -> Result<Self, Fault> {
        let walk = CompleteWalk::new(nodes, holders.len())?;
        let walk = if published { walk.published() } else { walk };
        let noise = TokenNoise::Gaussian(Sigma::new(1.0)?);
        let sum = CompleteSum::new(walk, Bounds::new(0.0, 1.0)?, noise).with_caps(caps(visits, edge_uses)?);
        Ok(Self::of(Kind::SumOnPath(SumOnPath::new(sum, Path::from_holders(nodes, &holders)?)?)))
    }

    /// A token that averages along a given path.
    #[staticmethod]
    fn averaging(
        nodes: usize,
        holders: Vec<usize>,
        contributes: Vec<bool>,
        step: Option<f64>,
        last: &str,
    ) -> Result<Self, Fault> {
        let steps = step.map_or(Steps::RunningAverage, Steps::Constant);
        let action = |yes: bool| if yes { Action::Contribute } else { Action::NoiseOnly };
        let path = WalkPath::new(holders, contributes.into_iter().map(action).collect())?;
        let averaging = TokenAveraging::new(steps, ndarray::Array1::zeros(1))?;
        let final_token = final_token(last)?;
        Ok(Self::of(Kind::Averaging { averaging, path, nodes, final_token }))
    }

    fn node_count(&self) -> usize {
        each!(&*self.0, protocol => protocol.node_count())
    }

    /// What each of `coalitions` learns.
    #[pyo3(signature = (coalitions, progress=None))]
    fn losses(
        &self,
        py: Python<'_>,
        mut coalitions: Vec<Vec<usize>>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Reports, Fault> {
        let kind = Arc::clone(&self.0);
        if let ([coalition], None) = (coalitions.as_mut_slice(), &progress) {
            let coalition = std::mem::take(coalition);
            return Ok(Reports(vec![run(py, move || kind.loss(&coalition))?]));
        }
        let nodes = self.node_count();
        ndp_graph::memory::require_dense("the losses towards all observers", coalitions.len(), 4 * nodes)?;
        Ok(Reports(run_each(py, coalitions.len(), progress, move |i| kind.loss(&coalitions[i]))?))
    }

    /// A run on `values`, one row per node.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        sigma: f64,
        seed: u64,
    ) -> Result<Bound<'py, PyDict>, Fault> {
        let (kind, values) = (Arc::clone(&self.0), values.as_array().to_owned());
        let sigma = Sigma::new(sigma)?;
        let (output, noise, messages) = run(py, move || kind.simulate(values.view(), sigma, seed))?;
        let answer = PyDict::new(py);
        answer.set_item("output", PyArray2::from_owned_array(py, output))?;
        answer.set_item("noise", PyArray2::from_owned_array(py, noise))?;
        let messages: Vec<_> = messages.into_iter().map(|m| PyArray2::from_owned_array(py, m)).collect();
        answer.set_item("messages", messages)?;
        Ok(answer)
    }

    /// The mean squared error of a run on `values`.
    fn error(&self, py: Python<'_>, values: PyReadonlyArray2<'_, f64>, sigma: f64) -> Result<Number, Fault> {
        let (kind, values) = (Arc::clone(&self.0), values.as_array().to_owned());
        let sigma = Sigma::new(sigma)?;
        run(py, move || kind.error(values.view(), sigma))
    }

    /// Runs with two inputs of `source`, told apart by `coalition`.
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn audit(
        &self,
        py: Python<'_>,
        coalition: Vec<usize>,
        source: usize,
        sensitivity: f64,
        sigma: f64,
        runs: usize,
        error_rate: f64,
        seed: u64,
    ) -> Result<(f64, f64, f64, f64), Fault> {
        let kind = Arc::clone(&self.0);
        let scales = (Sensitivity::new(sensitivity)?, Sigma::new(sigma)?);
        let found = run(py, move || {
            let plan = AuditPlan { runs, error_rate };
            let mut rng = generator(seed);
            let found = each!(&*kind, protocol =>
                audit::audit(protocol, &coalition, source, scales, plan, &mut rng));
            Ok(found?)
        })?;
        let measured = found.measured_mu.into_value();
        Ok((found.predicted_mu, measured, found.false_positives, found.true_positives))
    }
}

/// The output, the first noise, and what was sent.
type Ran = (Array2<f64>, Array2<f64>, Vec<Array2<f64>>);

impl Protocol {
    fn of(kind: Kind) -> Self {
        Self(Arc::new(kind))
    }

    fn sequence(sequence: GossipSequence, own_noise_known: bool) -> Self {
        Self::of(Kind::Sequence(SequenceGossip::new(sequence).with_own_noise(own_noise(own_noise_known))))
    }
}

impl Kind {
    fn simulate(&self, values: ArrayView2<'_, f64>, sigma: Sigma, seed: u64) -> Result<Ran, Fault> {
        let rng = &mut generator(seed);
        let transcript = match self {
            Self::Synchronous(gossip) => gossip.run(values, sigma, rng)?,
            Self::Sequence(gossip) => gossip.run(values, sigma, rng)?,
            Self::Accelerated(gossip) => gossip.run(values, sigma, rng)?,
            Self::Noisy(gossip) => gossip.run(values, sigma, rng)?.transcript,
            Self::Fresh(gossip) => gossip.scaled(sigma)?.run(values, rng)?.transcript,
            Self::RingSum(_) | Self::SumOnPath(_) | Self::Averaging { .. } => {
                return Err(Fault::new("only gossip is simulated here: a walk has a run of its own"));
            }
        };
        Ok((transcript.output, transcript.noise, transcript.messages))
    }

    fn error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Number, Fault> {
        let what = "mean squared error";
        Ok(match self {
            Self::Synchronous(gossip) => Number::new(gossip.error(values, sigma)?, what),
            Self::Sequence(gossip) => Number::new(gossip.error(values, sigma)?, what),
            Self::Accelerated(gossip) => Number::new(gossip.error(values, sigma)?, what),
            Self::Noisy(gossip) => Number::new(gossip.error(values, sigma)?, what),
            Self::Fresh(gossip) => {
                let error = gossip.scaled(sigma)?.mean_squared_error(values)?;
                Number::new(ndp_dp::Exact::new(error), what)
            }
            Self::RingSum(_) | Self::SumOnPath(_) | Self::Averaging { .. } => {
                return Err(Fault::new("only gossip has an error here: see output_std of a walk"));
            }
        })
    }
}

/// The protocol with all noises scaled.
trait Scaled: Sized {
    fn scaled(&self, sigma: Sigma) -> Result<Self, Fault>;
}

impl Scaled for FreshNoiseGossip {
    fn scaled(&self, sigma: Sigma) -> Result<Self, Fault> {
        Ok(Self::new(self.matrix().clone(), self.schedule().scaled_to(sigma)?))
    }
}

pub(crate) fn caps(visits: Option<usize>, edge_uses: Option<usize>) -> Result<Caps, Fault> {
    let mut caps = Caps::none();
    if let Some(visits) = visits {
        caps = caps.with_visits(visits)?;
    }
    if let Some(uses) = edge_uses {
        caps = caps.with_edge_uses(uses)?;
    }
    Ok(caps)
}
