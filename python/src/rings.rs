//! `ndp.walks`: sums and histograms that a token carries around a ring.

use crate::errors::Fault;
use crate::grades::Number;
use crate::protocol::{final_token, generator};
use crate::worker::run;
use ndp_algos::walk::ring::{self, Placement};
use ndp_algos::walk::{Bounds, TokenNoise};
use ndp_dp::{Delta, Sigma};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// A sum of real numbers that a token carries around a ring: what a node learns is exact.
///
/// Parameters
/// ----------
/// nodes, rounds : int
///     Size of the ring, and how often the token goes around.
/// sigma : float
///     Standard deviation of the full noise.
/// low, high : float, optional
///     Interval of the contributions.
/// noise : str, optional
///     The law of the noise: ``"gaussian"``, ``"laplace"`` or ``"discrete-laplace"``.
/// distributed : bool, optional
///     A share of the noise on every step in place of full noise on one step in ``nodes - 1``; protects against colluders.
/// last : str, optional
///     What becomes of the last token: ``"withheld"``, ``"published"`` or ``"masked"``.
///
/// References
/// ----------
/// Cyffers and Bellet, *Privacy Amplification by Decentralization*, AISTATS 2022, arXiv:2012.05326, Algorithm 1.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ring = ndp.walks.RingSum(nodes=1000, rounds=1, sigma=4.0)
/// >>> bool(ring.epsilon(delta=1e-6) < 1.2)
/// True
#[pyclass(frozen, module = "ndp.walks")]
pub(crate) struct RingSum {
    inner: ring::RingSum,
    args: (usize, usize, f64, f64, f64, String, bool, String),
}

#[pymethods]
impl RingSum {
    #[new]
    #[pyo3(signature = (nodes, rounds, sigma, low=0.0, high=1.0, noise="gaussian", distributed=false, last="withheld"))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        nodes: usize,
        rounds: usize,
        sigma: f64,
        low: f64,
        high: f64,
        noise: &str,
        distributed: bool,
        last: &str,
    ) -> Result<Self, Fault> {
        let law = noise.to_owned();
        let noise = TokenNoise::named(noise, Sigma::new(sigma)?)?;
        let placement = if distributed { Placement::Distributed } else { Placement::Counter };
        let sum = ring::RingSum::new(nodes, rounds, Bounds::new(low, high)?, noise, placement)?;
        let inner = sum.with_final_token(final_token(last)?)?;
        Ok(Self { inner, args: (nodes, rounds, sigma, low, high, law, distributed, last.to_owned()) })
    }

    /// The smallest epsilon at a delta for the worst pair of nodes; for other than Gaussian noise by composition.
    ///
    /// Parameters
    /// ----------
    /// delta : float
    ///
    /// Returns
    /// -------
    /// Guarantee
    fn epsilon(&self, delta: f64) -> Result<Number, Fault> {
        let at = Delta::new(delta)?;
        if self.inner.noise().gaussian_sigma().is_some() {
            return Ok(Number::new(self.inner.epsilon(at)?, "epsilon").with("delta", delta));
        }
        let found = self.inner.composed_epsilon(at)?;
        let rule = format!("{:?}", found.value().rule).to_lowercase();
        let number = Number::new(found.map(|found| found.total.epsilon()), "epsilon");
        Ok(number.with("delta", delta).with("rule", rule))
    }

    /// The delta at an epsilon for the worst pair of nodes; Gaussian noise.
    ///
    /// Parameters
    /// ----------
    /// epsilon : float
    ///
    /// Returns
    /// -------
    /// Exact
    fn delta(&self, epsilon: f64) -> Result<Number, Fault> {
        Ok(Number::new(self.inner.delta(epsilon)?, "delta").with("epsilon", epsilon))
    }

    /// The unit loss of a node towards colluders; Gaussian noise.
    ///
    /// Parameters
    /// ----------
    /// node : int
    /// coalition : sequence of int
    ///
    /// Returns
    /// -------
    /// Exact
    fn unit(&self, node: usize, coalition: Vec<usize>) -> Result<Number, Fault> {
        Ok(Number::new(self.inner.unit(node, &coalition)?, "unit loss"))
    }

    /// The least full noise at (epsilon, delta) for every pair of nodes, or towards colluders.
    ///
    /// Parameters
    /// ----------
    /// epsilon, delta : float
    /// coalition : sequence of int, optional
    ///
    /// Returns
    /// -------
    /// float
    #[pyo3(signature = (epsilon, delta, coalition=None))]
    fn least_sigma(&self, epsilon: f64, delta: f64, coalition: Option<Vec<usize>>) -> Result<f64, Fault> {
        let delta = Delta::new(delta)?;
        Ok(match coalition {
            None => self.inner.calibrated_sigma(epsilon, delta)?.get(),
            Some(members) => self.inner.calibrated_sigma_towards(&members, epsilon, delta)?.get(),
        })
    }

    /// Standard deviation of the noise of the result.
    #[getter]
    fn output_std(&self) -> f64 {
        self.inner.output_std()
    }

    /// The tokens of a run, one after each step.
    ///
    /// Parameters
    /// ----------
    /// contributions : numpy.ndarray
    ///     A row for each round, a column for each node.
    /// seed : int
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    fn run<'py>(
        &self,
        py: Python<'py>,
        contributions: PyReadonlyArray2<'py, f64>,
        seed: u64,
    ) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
        let run = self.inner.run(contributions.as_array(), &mut generator(seed))?;
        Ok(PyArray1::from_slice(py, run.tokens()))
    }

    #[allow(clippy::type_complexity, reason = "the arguments of the constructor")]
    fn __getnewargs__(&self) -> (usize, usize, f64, f64, f64, String, bool, String) {
        self.args.clone()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.args == other.args
    }

    fn __repr__(&self) -> String {
        format!("RingSum(nodes={}, rounds={}, sigma={:?})", self.args.0, self.args.1, self.args.2)
    }
}

/// A histogram of randomized responses that a token carries around a ring.
///
/// Parameters
/// ----------
/// nodes, rounds : int
/// labels : int
/// local_epsilon : float
///     Of one report.
/// last : str, optional
///     As in `RingSum`.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ring = ndp.walks.RingHistogram(nodes=1000, rounds=1, labels=4, local_epsilon=1.0)
/// >>> bool(ring.epsilon(delta=1e-6) < 1.0)
/// True
#[pyclass(frozen, module = "ndp.walks")]
pub(crate) struct RingHistogram {
    inner: ring::RingHistogram,
    args: (usize, usize, u32, f64, String),
}

#[pymethods]
impl RingHistogram {
    #[new]
    #[pyo3(signature = (nodes, rounds, labels, local_epsilon, last="withheld"))]
    fn new(nodes: usize, rounds: usize, labels: u32, local_epsilon: f64, last: &str) -> Result<Self, Fault> {
        let response = ndp_dp::RandomizedResponse::with_epsilon(labels, local_epsilon)?;
        let inner = ring::RingHistogram::new(nodes, rounds, response, final_token(last)?)?;
        Ok(Self { inner, args: (nodes, rounds, labels, local_epsilon, last.to_owned()) })
    }

    /// The smallest epsilon at a delta found for the worst pair of nodes, or towards colluders.
    ///
    /// Parameters
    /// ----------
    /// delta : float
    /// coalition : sequence of int, optional
    ///
    /// Returns
    /// -------
    /// UpperBound
    #[pyo3(signature = (delta, coalition=None))]
    fn epsilon(&self, py: Python<'_>, delta: f64, coalition: Option<Vec<usize>>) -> Result<Number, Fault> {
        let (inner, at) = (self.inner.clone(), Delta::new(delta)?);
        let found = run(py, move || {
            Ok(match coalition {
                None => inner.epsilon(at)?,
                Some(members) => inner.epsilon_towards(&members, at)?,
            })
        })?;
        let rule = format!("{:?}", found.value().rule).to_lowercase();
        let number = Number::new(found.map(|found| found.approx_dp.epsilon()), "epsilon");
        Ok(number.with("delta", delta).with("rule", rule))
    }

    fn __getnewargs__(&self) -> (usize, usize, u32, f64, String) {
        self.args.clone()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.args == other.args
    }

    fn __repr__(&self) -> String {
        let (nodes, rounds, labels, epsilon, _) = &self.args;
        format!("RingHistogram(nodes={nodes}, rounds={rounds}, labels={labels}, local_epsilon={epsilon:?})")
    }
}
