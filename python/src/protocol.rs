//! Linear Gaussian protocols: what an observer learns, a run on real values, the error, an audit.

use crate::account::Account;
use crate::errors::Fault;
use crate::grades::{Number, class};
use crate::graph::{Graph, Matrix};
use crate::losses::Reports;
use crate::worker::{run, run_each, run_watched};
use ndarray::{Array2, ArrayView2};
use ndp_algos::accountant::{self, Observer};
use ndp_algos::audit::{self, AuditPlan};
use ndp_algos::gossip::accelerated::{Momentum, Ring};
use ndp_algos::gossip::{
    AcceleratedGossip, FreshNoiseGossip, MessageNoise, NoiseSchedule, NoisyMessageGossip, SequenceGossip,
    SynchronousGossip,
};
use ndp_algos::protocol::Observation;
use ndp_algos::registry::{self, Parameters};
use ndp_algos::walk::complete::{Caps, CompleteSum, CompleteWalk, Path, SumOnPath};
use ndp_algos::walk::graph::{Action, AveragingOnPath, Steps, TokenAveraging, WalkPath};
use ndp_algos::walk::ring::{Placement, RingSum};
use ndp_algos::walk::{Bounds, FinalToken, TokenNoise};
use ndp_algos::{LinearProtocol, LossReport, View};
use ndp_dp::{NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::{GossipSequence, Step};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// A protocol whose observers see linear combinations of Gaussians.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Protocol(pub(crate) Arc<Kind>);

pub(crate) enum Kind {
    Synchronous(SynchronousGossip),
    Sequence(SequenceGossip),
    Accelerated(AcceleratedGossip),
    Noisy(NoisyMessageGossip),
    Fresh(FreshNoiseGossip),
    RingSum(RingSum),
    SumOnPath(SumOnPath),
    Averaging(Averaging),
    Named(Box<dyn accountant::Protocol>),
}

impl Kind {
    /// The protocol as accountants and auditors see it.
    pub(crate) fn protocol(&self) -> &dyn accountant::Protocol {
        match self {
            Self::Synchronous(protocol) => protocol,
            Self::Sequence(protocol) => protocol,
            Self::Accelerated(protocol) => protocol,
            Self::Noisy(protocol) => protocol,
            Self::Fresh(protocol) => protocol,
            Self::RingSum(protocol) => protocol,
            Self::SumOnPath(protocol) => protocol,
            Self::Averaging(protocol) => protocol,
            Self::Named(protocol) => protocol.as_ref(),
        }
    }
}

/// A token that averages along a path, with its path.
pub(crate) struct Averaging {
    averaging: TokenAveraging,
    path: WalkPath,
    nodes: usize,
    final_token: FinalToken,
}

impl Averaging {
    fn on_path(&self) -> AveragingOnPath<'_> {
        let Self { averaging, path, nodes, final_token } = self;
        AveragingOnPath { averaging, path, nodes: *nodes, final_token: *final_token }
    }
}

impl LinearProtocol for Averaging {
    fn node_count(&self) -> usize {
        self.nodes
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, ndp_algos::Error> {
        self.on_path().coalition_view(coalition)
    }

    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, ndp_algos::Error> {
        self.on_path().coalition_loss(coalition)
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, ndp_algos::Error> {
        self.on_path().observe(values, sigma, coalition, rng)
    }
}

/// Who observes: members, whether they use their own noise, whether senders are hidden, which edges they overhear.
pub(crate) type Who = (Vec<usize>, bool, bool, Vec<(usize, usize)>);

pub(crate) fn observer((members, own_noise, hidden_senders, tapped): Who) -> Observer {
    let mut observer = Observer::coalition(&members);
    if !own_noise {
        observer = observer.without_own_noise();
    }
    if hidden_senders {
        observer = observer.with_hidden_senders();
    }
    observer.tapping(&tapped)
}

/// `σ/Δ`, rounded down, so that no more noise is accounted for than there is.
pub(crate) fn noise(sigma: f64, sensitivity: f64) -> Result<NoiseMultiplier, Fault> {
    let (sigma, sensitivity) = (Sigma::new(sigma)?, Sensitivity::new(sensitivity)?);
    let ratio = sigma.multiplier(sensitivity)?.get();
    // The remainder of a rounded quotient is exact.
    let above = ratio.mul_add(sensitivity.get(), -sigma.get()) > 0.0;
    Ok(NoiseMultiplier::new(if above { ratio.next_down() } else { ratio })?)
}

/// The noise of a multiplier, rounded up.
pub(crate) fn sigma(noise: NoiseMultiplier, sensitivity: f64) -> Result<f64, Fault> {
    let sigma = noise.sigma(Sensitivity::new(sensitivity)?)?.get();
    let below = noise.get().mul_add(sensitivity, -sigma) > 0.0;
    Ok(if below { sigma.next_up() } else { sigma })
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

#[pymethods]
impl Protocol {
    /// Synchronous gossip, plain or accelerated.
    #[staticmethod]
    fn gossip(matrix: &Matrix, rounds: usize, chebyshev: Option<f64>) -> Result<Self, Fault> {
        let mut gossip = SynchronousGossip::new(matrix.0.clone(), rounds);
        if let Some(parameter) = chebyshev {
            gossip = gossip.accelerated(parameter)?;
        }
        Ok(Self::of(Kind::Synchronous(gossip)))
    }

    /// Gossip over given pairs, one pair a step.
    #[staticmethod]
    fn pairs(graph: &Graph, pairs: Vec<(usize, usize)>) -> Result<Self, Fault> {
        let sequence = GossipSequence::given_activations(&graph.0, &pairs)?;
        Ok(Self::sequence(sequence))
    }

    /// Gossip whose matrix changes from step to step.
    #[staticmethod]
    fn matrices(py: Python<'_>, matrices: Vec<Py<Matrix>>) -> Result<Self, Fault> {
        let nodes = matrices.first().map_or(0, |matrix| matrix.borrow(py).0.node_count());
        let steps = matrices.iter().map(|matrix| Step::Matrix(matrix.borrow(py).0.clone())).collect();
        Ok(Self::sequence(GossipSequence::new(nodes, steps)?))
    }

    /// One-peer gossip on a hypercube of `2^dimension` nodes.
    #[staticmethod]
    fn one_peer(dimension: u32) -> Result<Self, Fault> {
        let nodes = 1_usize.checked_shl(dimension).unwrap_or(usize::MAX);
        ndp_graph::memory::require_dense("a one-peer hypercube", nodes, 12 * dimension as usize)?;
        Ok(Self::sequence(GossipSequence::one_peer_hypercube(dimension)?))
    }

    /// Accelerated randomized gossip over given rings `(wait, u, v)`.
    #[staticmethod]
    fn accelerated(
        graph: &Graph,
        rings: Vec<(f64, usize, usize)>,
        rest: f64,
        momentum: (f64, f64),
    ) -> Result<Self, Fault> {
        let rings = rings.into_iter().map(|(wait, u, v)| Ring { wait, edge: (u, v) }).collect();
        let momentum = Momentum::new(momentum.0, momentum.1)?;
        let gossip = AcceleratedGossip::given(&graph.0, rings, rest, momentum)?;
        Ok(Self::of(Kind::Accelerated(gossip)))
    }

    /// Gossip whose messages carry noise of `ratio` times that of the values.
    #[staticmethod]
    fn noisy(matrix: &Matrix, rounds: usize, ratio: f64, kind: &str) -> Result<Self, Fault> {
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
        Ok(Self::of(Kind::Noisy(gossip)))
    }

    /// Gossip with fresh noise of these variances, one a round.
    #[staticmethod]
    fn fresh(matrix: &Matrix, variances: Vec<f64>) -> Result<Self, Fault> {
        let gossip = FreshNoiseGossip::new(matrix.0.clone(), NoiseSchedule::new(variances)?);
        Ok(Self::of(Kind::Fresh(gossip)))
    }

    /// A protocol by its name in the registry, its parameters as data.
    #[staticmethod]
    fn named(matrix: &Matrix, name: &str, parameters: Vec<(String, f64)>) -> Result<Self, Fault> {
        let given = Parameters::default();
        let given = parameters.iter().fold(given, |given, (name, value)| given.with(name, *value));
        Ok(Self::of(Kind::Named(registry::find(name)?.build(&matrix.0, &given)?)))
    }

    /// A sum on the ring with Gaussian noise.
    #[staticmethod]
    fn ring_sum(nodes: usize, rounds: usize, distributed: bool, last: &str) -> Result<Self, Fault> {
        let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
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
        let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
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
        Ok(Self::of(Kind::Averaging(Averaging { averaging, path, nodes, final_token })))
    }

    fn node_count(&self) -> usize {
        self.0.protocol().node_count()
    }

    /// What each of `observers` learns, as unit losses.
    #[pyo3(signature = (observers, progress=None))]
    fn losses(
        &self,
        py: Python<'_>,
        observers: Vec<Who>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Reports, Fault> {
        let kind = Arc::clone(&self.0);
        let mut observers: Vec<Observer> = observers.into_iter().map(observer).collect();
        let loss = move |observer: &Observer| -> Result<LossReport, Fault> {
            let account = kind.protocol().account(observer)?;
            let report = account.unit_losses().cloned();
            report.ok_or_else(|| Fault::new("this protocol has no unit losses: ask its account for profiles"))
        };
        if observers.len() == 1 && progress.is_none() {
            let observer = observers.remove(0);
            return Ok(Reports(vec![run(py, move || loss(&observer))?]));
        }
        let nodes = self.node_count();
        ndp_graph::memory::require_dense("the losses towards all observers", observers.len(), 4 * nodes)?;
        Ok(Reports(run_each(py, observers.len(), progress, move |i| loss(&observers[i]))?))
    }

    /// What each of `observers` sees, ready to be asked about nodes and noises.
    #[pyo3(signature = (observers, progress=None))]
    fn accounts(
        &self,
        py: Python<'_>,
        observers: Vec<Who>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Vec<Account>, Fault> {
        let kind = Arc::clone(&self.0);
        let observers: Vec<Observer> = observers.into_iter().map(observer).collect();
        run_each(py, observers.len(), progress, move |i| Account::new(Arc::clone(&kind), &observers[i]))
    }

    /// Messages sent in a run, on average.
    fn message_count(&self) -> Result<f64, Fault> {
        Ok(self.0.protocol().message_count()?)
    }

    /// Root mean square error of what a node ends with, at most, for data in an interval of length `sensitivity`.
    fn error_bound(&self, py: Python<'_>, sigma: f64, sensitivity: f64) -> Result<f64, Fault> {
        let (kind, noise) = (Arc::clone(&self.0), noise(sigma, sensitivity)?);
        Ok(run(py, move || Ok(kind.protocol().error(noise)?))? * sensitivity)
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

    /// Runs with two inputs of `source`, told apart by `who`.
    #[pyo3(signature = (who, source, sensitivity, sigma, runs, error_rate, seed, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn audit(
        &self,
        py: Python<'_>,
        who: Who,
        source: usize,
        sensitivity: f64,
        sigma: f64,
        runs: usize,
        error_rate: f64,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> Result<(f64, &'static str, f64, f64, f64), Fault> {
        let (kind, noise) = (Arc::clone(&self.0), noise(sigma, sensitivity)?);
        ndp_graph::memory::require_dense("the scores of an audit", runs, 3)?;
        let found = run_watched(py, progress, move |progress| {
            let (plan, rng) = (AuditPlan { runs, error_rate }, &mut generator(seed));
            let protocol = kind.protocol();
            Ok(audit::audit_with(protocol, source, &observer(who), noise, plan, rng, progress)?)
        })?;
        let measured = found.measured_mu.into_value();
        Ok((found.allowed_mu, class(found.grade), measured, found.false_positives, found.true_positives))
    }
}

/// The output, the first noise, and what was sent.
type Ran = (Array2<f64>, Array2<f64>, Vec<Array2<f64>>);

impl Protocol {
    fn of(kind: Kind) -> Self {
        Self(Arc::new(kind))
    }

    fn sequence(sequence: GossipSequence) -> Self {
        Self::of(Kind::Sequence(SequenceGossip::new(sequence)))
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
            Self::RingSum(_) | Self::SumOnPath(_) | Self::Averaging(_) | Self::Named(_) => {
                return Err(Fault::new("only gossip is run here: a walk has a run of its own"));
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
            Self::RingSum(_) | Self::SumOnPath(_) | Self::Averaging(_) | Self::Named(_) => {
                return Err(Fault::new(
                    "only gossip has an exact error here: error_bound answers for others",
                ));
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
