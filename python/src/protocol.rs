//! Linear Gaussian protocols: what an observer learns, a run on real values, the error, an audit.

use crate::account::Account;
use crate::audience::Audience;
use crate::errors::{Fault, one_of};
use crate::grades::{Number, class};
use crate::graph::{Graph, Matrix};
use crate::kind::Kind;
use crate::losses::{Reports, Told};
use crate::question::{Who, final_token, generator, noise, observer, scaled_up};
use crate::statement::said_of;
use crate::worker::{run, run_each, run_until, run_watched};
use ndp_account::audit::{self, AuditPlan};
use ndp_account::{Coverage, LossReport, Observer, Said as About};
use ndp_algos::gossip::accelerated::{ActiveEdge, Momentum};
use ndp_algos::gossip::{
    AcceleratedGossip, FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SequenceGossip, SynchronousGossip,
};
use ndp_algos::registry::{self, Parameters};
use ndp_algos::walk::complete::{CompleteHistogram, CompleteOptions, CompleteSum, CompleteWalk};
use ndp_algos::walk::graph::{Steps, TokenAveraging};
use ndp_algos::walk::ring::{Placement, RingHistogram, RingSum};
use ndp_algos::walk::{Bounds, FinalToken, OnPath, Path, ReleasedSum, TokenNoise};
use ndp_dp::{RandomizedResponse, Sigma};
use ndp_graph::progress::Stop;
use ndp_graph::{GossipSequence, Step};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Duration;

/// A protocol whose observers see linear combinations of Gaussians.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Protocol(pub(crate) Arc<Kind>);

#[pymethods]
impl Protocol {
    /// Synchronous gossip, plain or accelerated.
    #[staticmethod]
    fn gossip(matrix: &Matrix, rounds: usize, chebyshev: Option<f64>) -> Result<Self, Fault> {
        let mut gossip = SynchronousGossip::new(matrix.0.clone(), rounds);
        if let Some(parameter) = chebyshev {
            gossip = gossip.accelerated(parameter)?;
        }
        Ok(Self::of(Kind::Gossip(Box::new(gossip))))
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
        ndp_linalg::memory::require_dense("a one-peer hypercube", nodes, 12 * dimension as usize)?;
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
        let rings = rings.into_iter().map(|(wait, u, v)| ActiveEdge { wait, edge: (u, v) }).collect();
        let momentum = Momentum { mixing: momentum.0, push: momentum.1 };
        let gossip = AcceleratedGossip::given(&graph.0, rings, rest, momentum)?;
        Ok(Self::of(Kind::Gossip(Box::new(gossip))))
    }

    /// Gossip whose messages carry noise of `ratio` times that of the values.
    #[staticmethod]
    fn noisy(matrix: &Matrix, rounds: usize, ratio: f64, kind: &str) -> Result<Self, Fault> {
        let kinds = [
            ("broadcast", MessageNoise::Broadcast),
            ("per_link", MessageNoise::PerLink),
            ("overheard", MessageNoise::Overheard),
        ];
        let kind = one_of("the noise of messages", kinds, kind)?;
        let gossip = NoisyMessageGossip::new(matrix.0.clone(), rounds, ratio, kind)?;
        Ok(Self::of(Kind::Gossip(Box::new(gossip))))
    }

    /// Gossip with fresh noise of these variances, one a round.
    #[staticmethod]
    fn fresh(matrix: &Matrix, variances: Vec<f64>) -> Result<Self, Fault> {
        let gossip = FreshNoiseGossip::new(matrix.0.clone(), variances)?;
        Ok(Self::of(Kind::Gossip(Box::new(gossip))))
    }

    /// A protocol by its name in the registry, its parameters as data.
    #[staticmethod]
    fn named(
        py: Python<'_>,
        matrix: &Matrix,
        name: String,
        parameters: Vec<(String, f64)>,
    ) -> Result<Self, Fault> {
        let (given, matrix) = (Parameters(parameters.into_iter().collect()), matrix.0.clone());
        run_until(py, move |stop| {
            Ok(Self::of(Kind::Named(registry::find(&name)?.build_until(&matrix, &given, stop)?)))
        })
    }

    /// A sum on the ring.
    #[staticmethod]
    fn ring_sum(
        nodes: usize,
        rounds: usize,
        noise: &str,
        distributed: bool,
        last: &str,
    ) -> Result<Self, Fault> {
        let gaussian = noise == "gaussian";
        let noise = TokenNoise::named(noise, Sigma::new(1.0)?)?;
        let placement = if distributed { Placement::Distributed } else { Placement::Counter };
        let sum = RingSum::new(nodes, rounds, Bounds::new(0.0, 1.0)?, noise, placement)?;
        let sum = sum.with_final_token(final_token(last)?)?;
        // Of other laws than Gaussian there is no unit loss: every contribution counts by itself.
        Ok(if gaussian { Self::named_as(sum) } else { Self::named_as(ReleasedSum::from(sum)) })
    }

    /// A histogram of randomized responses on the ring.
    #[staticmethod]
    fn ring_histogram(nodes: usize, rounds: usize, labels: u32, last: &str) -> Result<Self, Fault> {
        let response = RandomizedResponse::with_epsilon(labels, 1.0)?;
        Ok(Self::named_as(RingHistogram::new(nodes, rounds, response, final_token(last)?)?))
    }

    /// A sum that a token collects while it jumps between all nodes.
    #[staticmethod]
    fn complete_sum(
        nodes: usize,
        steps: usize,
        published: bool,
        constant: bool,
        noise: &str,
        cap: Option<usize>,
    ) -> Result<Self, Fault> {
        let sum = CompleteSum {
            walk: complete_walk(nodes, steps, published, cap)?,
            bounds: Bounds::new(0.0, 1.0)?,
            noise: TokenNoise::named(noise, Sigma::new(1.0)?)?,
            constant_data: constant,
        };
        // Behind other noise than Gaussian, and under a cap, every contribution counts by itself.
        let is_plain = noise == "gaussian" && cap.is_none();
        Ok(if is_plain { Self::named_as(sum) } else { Self::named_as(ReleasedSum::from(sum)) })
    }

    /// A histogram of randomized responses that a token collects while it jumps between all nodes.
    #[staticmethod]
    fn complete_histogram(nodes: usize, steps: usize, labels: u32, published: bool) -> Result<Self, Fault> {
        let response = RandomizedResponse::with_epsilon(labels, 1.0)?;
        Ok(Self::named_as(CompleteHistogram {
            walk: complete_walk(nodes, steps, published, None)?,
            response,
        }))
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
        let final_token = if published { FinalToken::Published } else { FinalToken::Withheld };
        let options = CompleteOptions { final_token, cap: visits, edge_uses };
        let walk = CompleteWalk::new(nodes, holders.len())?.with_options(options)?;
        let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
        let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
        Ok(Self::named_as(OnPath { protocol: sum, path: walk.path(&holders)? }))
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
        let path = Path { nodes, holders, contributes };
        let (initial, final_token) = (ndarray::Array1::zeros(1), final_token(last)?);
        let protocol = TokenAveraging { steps, initial, final_token };
        // What is no path is refused at once; a step that no guarantee covers is not.
        match protocol.require_amplification(&path) {
            Ok(()) | Err(ndp_account::Error::NoGuarantee(_)) => {}
            Err(fault) => return Err(fault.into()),
        }
        Ok(Self::named_as(OnPath { protocol, path }))
    }

    fn node_count(&self) -> usize {
        self.0.protocol().node_count()
    }

    /// What each of `observers` learns, as unit losses; they may be all of an audience.
    #[pyo3(signature = (observers, names, progress=None, audience=None))]
    fn losses(
        &self,
        py: Python<'_>,
        observers: Vec<Who>,
        names: Vec<String>,
        progress: Option<Py<PyAny>>,
        audience: Option<PyRef<'_, Audience>>,
    ) -> Result<Told, Fault> {
        let (kind, audience) = (Arc::clone(&self.0), audience.map(|all| all.0.coverage_of_looked_at()));
        let mut observers: Vec<Observer> = observers.into_iter().map(observer).collect();
        let loss = move |observer: &Observer, stop: &Stop| -> Result<(LossReport, About), Fault> {
            if observer.members().is_empty() && observer.tapped.is_empty() {
                return Err(Fault::new(
                    "losses are those of a node or of a coalition of at least one member: account(coalition=[]) is somebody outside",
                ));
            }
            let account = kind.protocol().account_until(observer, stop)?;
            let report = account.unit_losses().cloned();
            let report = report.ok_or_else(|| {
                Fault::new("this protocol has no unit losses: ask its account for profiles")
            })?;
            Ok((report, About::by(account.as_ref())))
        };
        if observers.len() == 1 && progress.is_none() {
            let observer = observers.remove(0);
            return told(vec![run_until(py, move |stop| loss(&observer, stop))?], &names, audience);
        }
        let nodes = self.node_count();
        ndp_linalg::memory::require_dense("the losses towards all observers", observers.len(), 4 * nodes)?;
        told(
            run_each(py, observers.len(), progress, move |i, stop| loss(&observers[i], stop))?,
            &names,
            audience,
        )
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
        run_each(py, observers.len(), progress, move |i, stop| {
            Account::new(Arc::clone(&kind), &observers[i], stop)
        })
    }

    /// What one of `observers` sees, or what is proven at no cost where that is not known in so many seconds.
    fn account_within(&self, py: Python<'_>, who: Who, seconds: f64) -> Result<Account, Fault> {
        let (kind, observer) = (Arc::clone(&self.0), observer(who));
        let seconds = Duration::try_from_secs_f64(seconds)
            .map_err(|_| Fault::new("patience is a number of seconds, 0 or more"))?;
        run_until(py, move |stop| Account::within(kind, &observer, stop, seconds))
    }

    /// What is proven about an observer at no cost.
    fn bound(&self, py: Python<'_>, who: Who) -> Result<Account, Fault> {
        let (kind, observer) = (Arc::clone(&self.0), observer(who));
        run(py, move || Account::bound(kind, &observer))
    }

    /// Messages sent in a run, on average.
    fn message_count(&self, py: Python<'_>) -> Result<f64, Fault> {
        let kind = Arc::clone(&self.0);
        run(py, move || Ok(kind.protocol().message_count()?))
    }

    /// Root mean square error of what a node ends with, at most, for data in an interval of length `sensitivity`.
    fn error_bound(&self, py: Python<'_>, sigma: f64, sensitivity: f64) -> Result<f64, Fault> {
        let (kind, noise) = (Arc::clone(&self.0), noise(sigma, sensitivity)?);
        Ok(scaled_up(run_until(py, move |stop| Ok(kind.protocol().error_until(noise, stop)?))?, sensitivity))
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
        let ran = run(py, move || kind.simulate(values.view(), sigma, seed))?;
        let answer = PyDict::new(py);
        answer.set_item("output", PyArray2::from_owned_array(py, ran.output))?;
        answer.set_item("noise", PyArray2::from_owned_array(py, ran.noise))?;
        for (name, several) in [("messages", ran.messages), ("later_noises", ran.later_noises)] {
            let several: Vec<_> =
                several.into_iter().map(|one| PyArray2::from_owned_array(py, one)).collect();
            answer.set_item(name, several)?;
        }
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
    ) -> Result<(f64, &'static str, Option<f64>, f64, f64, f64), Fault> {
        let (kind, noise) = (Arc::clone(&self.0), noise(sigma, sensitivity)?);
        ndp_linalg::memory::require_dense("the scores of an audit", runs, 3)?;
        let found = run_watched(py, progress, move |progress, _| {
            let (plan, rng) = (AuditPlan { runs, error_rate }, &mut generator(seed));
            let protocol = kind.protocol();
            let account = protocol.local_bound(&observer(who.clone()));
            account
                .or_else(|_| protocol.account(&observer(who.clone())))?
                .terms()
                .check_sensitivity(sensitivity)?;
            Ok(audit::audit(protocol, source, &observer(who), noise, plan, rng, progress)?)
        })?;
        let measured = found.measured_mu.into_value();
        let (allowed, grade) = (*found.allowed.value(), class(found.allowed.grade()));
        Ok((allowed, grade, found.allowed_at, measured, found.false_positives, found.true_positives))
    }
}

impl Protocol {
    fn of(kind: Kind) -> Self {
        Self(Arc::new(kind))
    }

    fn named_as(protocol: impl ndp_account::Protocol + 'static) -> Self {
        Self::of(Kind::Named(Box::new(protocol)))
    }

    fn sequence(sequence: GossipSequence) -> Self {
        Self::of(Kind::Gossip(Box::new(SequenceGossip::from(sequence))))
    }
}

/// Losses with what is said beside them.
fn told(
    found: Vec<(LossReport, About)>,
    names: &[String],
    audience: Option<Coverage>,
) -> Result<Told, Fault> {
    let (reports, about): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Ok(Told(Reports(reports), said_of(&about, names, audience)?))
}

fn complete_walk(
    nodes: usize,
    steps: usize,
    published: bool,
    cap: Option<usize>,
) -> Result<CompleteWalk, Fault> {
    let final_token = if published { FinalToken::Published } else { FinalToken::Withheld };
    Ok(CompleteWalk::new(nodes, steps)?.with_options(CompleteOptions {
        final_token,
        cap,
        ..CompleteOptions::default()
    })?)
}
