//! `ndp.training`: what private training by gossip costs.

use crate::errors::Fault;
use crate::grades::Number;
use crate::graph::Matrix;
use crate::worker::{run, run_each};
use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
use ndp_algos::sgd::walk::Update;
use ndp_algos::sgd::{Constants, Domain, GossipObserver};
use ndp_dp::{Delta, Order, Sigma};
use pyo3::prelude::*;
use std::sync::Arc;

/// One node that watches a training by gossip.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct TrainingObserver(Arc<GossipObserver>);

#[pymethods]
impl TrainingObserver {
    /// `constants`: Lipschitz constant, sensitivity, smoothness, strong convexity of the objective.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        matrix: Option<&Matrix>,
        users: usize,
        rounds: usize,
        steps: usize,
        chebyshev: Option<f64>,
        step_size: f64,
        constants: (f64, f64, f64, f64),
        clip: Option<f64>,
        observer: usize,
    ) -> Result<Self, Fault> {
        let (lipschitz, sensitivity, smoothness, strong_convexity) = constants;
        for (name, value) in [
            ("the Lipschitz constant", lipschitz),
            ("the sensitivity", sensitivity),
            ("the smoothness", smoothness),
            ("the step size", step_size),
        ] {
            if !(0.0 < value && value.is_finite()) {
                return Err(Fault::new(format!("{name} must be positive and finite, got {value}")));
            }
        }
        if !(0.0..=smoothness).contains(&strong_convexity) {
            let message =
                format!("the strong convexity must lie between 0 and {smoothness}, got {strong_convexity}");
            return Err(Fault::new(message));
        }
        let constants =
            Constants { lipschitz, sensitivity, smoothness, strong_convexity, domain: Domain::Unbounded };
        let mixing = match (matrix, chebyshev) {
            (None, _) => Mixing::OnePeerHypercube,
            (Some(matrix), None) => Mixing::Plain { matrix: matrix.0.clone(), steps },
            (Some(matrix), Some(parameter)) => {
                Mixing::Accelerated { matrix: matrix.0.clone(), steps, parameter }
            }
        };
        let update = clip.map_or(Update::Sound, |clip| Update::NodeClipped { clip });
        let sgd = MuffliatoSgd { rounds, step_size, batch: None, domain: Domain::Unbounded, update };
        let watching =
            run(py, move || Ok(GossipObserver::new(&sgd, &[mixing], &constants, users, observer)?))?;
        Ok(Self(Arc::new(watching)))
    }

    /// What is learned about a node over all rounds, in units of the local loss of one round.
    fn loss(&self, py: Python<'_>, source: usize) -> Result<Number, Fault> {
        let observer = Arc::clone(&self.0);
        run(py, move || Ok(Number::new(observer.loss(source)?, "local losses of a round")))
    }

    /// The same for each of several nodes.
    #[pyo3(signature = (sources, progress=None))]
    fn losses(
        &self,
        py: Python<'_>,
        sources: Vec<usize>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Vec<f64>, Fault> {
        let observer = Arc::clone(&self.0);
        let count = sources.len();
        run_each(py, count, progress, move |i, _| Ok(observer.loss(sources[i])?.into_value().get()))
    }

    /// `(ε, δ)` of a node over all rounds.
    fn epsilon(&self, py: Python<'_>, source: usize, sigma: f64, delta: f64) -> Result<Number, Fault> {
        let (observer, sigma, at) = (Arc::clone(&self.0), Sigma::new(sigma)?, Delta::new(delta)?);
        run(py, move || {
            let found = observer.profile(source, sigma)?.epsilon(at)?;
            let number = Number::new(found.map(|dp| dp.epsilon()), "epsilon");
            Ok(number.with("delta", delta).with("against", WATCHING))
        })
    }

    /// The Rényi losses of all other nodes, added up and divided by the number of all nodes: the observer counts as 0.
    fn mean(&self, py: Python<'_>, order: f64, sigma: f64) -> Result<Number, Fault> {
        let (observer, sigma, at) = (Arc::clone(&self.0), Sigma::new(sigma)?, Order::new(order)?);
        run(py, move || {
            let number = Number::new(observer.mean(sigma, at)?, "mean Rényi loss");
            Ok(number.with("order", order).with("over", "all nodes, the observer counted as 0"))
        })
    }
}

/// Whom the numbers protect against.
const WATCHING: &str =
    "one other node, which knows all graphs and its own noise, not the last models of others";
