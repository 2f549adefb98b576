//! `ndp.walks`: sums and histograms that a token carries between the nodes of a complete graph.

use crate::errors::Fault;
use crate::grades::Number;
use crate::protocol::{caps, generator};
use crate::worker::run;
use ndp_algos::walk::complete::{self, CompleteSum, Receptions, ShuffleEffort, Spotting, Visits};
use ndp_algos::walk::{Bounds, TokenNoise};
use ndp_dp::conversion::Converted;
use ndp_dp::{Delta, Order, Sigma, UpperBound};
use numpy::PyArray1;
use pyo3::prelude::*;

pub(crate) fn converted(best: UpperBound<Converted>, what: &'static str) -> Number {
    let order = best.value().order.map_or(f64::INFINITY, Order::get);
    let dp = best.value().approx_dp;
    let (value, with) =
        if what == "epsilon" { (dp.epsilon(), dp.delta()) } else { (dp.delta(), dp.epsilon()) };
    let other = if what == "epsilon" { "delta" } else { "epsilon" };
    Number::new(UpperBound::new(value), what).with(other, with).with("order", order)
}

fn receptions(found: UpperBound<Receptions>) -> Number {
    let Receptions { approx_dp, count, rule, .. } = *found.value();
    let rule = format!("{rule:?}").to_lowercase();
    let number = Number::new(UpperBound::new(approx_dp.epsilon()), "epsilon");
    number.with("delta", approx_dp.delta()).with("count", count).with("rule", rule)
}

fn visits(cap: Option<u64>, failure: f64) -> Result<Visits, Fault> {
    Ok(match cap {
        Some(cap) => Visits::Capped(cap),
        None => Visits::Quantile(Delta::new(failure)?),
    })
}

/// A token that walks on the complete graph of users: sums with Gaussian noise, histograms, averages over the walk.
///
/// ``mu`` is the sensitivity of one contribution in units of the noise.
///
/// Parameters
/// ----------
/// nodes, steps : int
/// colluders : int, optional
///     Nodes that observe together.
/// published : bool, optional
///     Whether the last token is seen too.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> walk = ndp.walks.CompleteWalk(nodes=50, steps=5000)
/// >>> walk.epsilon(mu=0.05, delta=1e-6) < walk.local_epsilon(mu=0.05, delta=1e-6, cap=100)
/// True
#[pyclass(frozen, module = "ndp.walks")]
pub(crate) struct CompleteWalk {
    inner: complete::CompleteWalk,
    args: (usize, usize, usize, bool),
}

#[pymethods]
impl CompleteWalk {
    #[new]
    #[pyo3(signature = (nodes, steps, colluders=1, published=false))]
    fn new(nodes: usize, steps: usize, colluders: usize, published: bool) -> Result<Self, Fault> {
        let walk = complete::CompleteWalk::new(nodes, steps)?.with_colluders(colluders)?;
        let inner = if published { walk.published() } else { walk };
        Ok(Self { inner, args: (nodes, steps, colluders, published) })
    }

    /// Rényi loss averaged over the walk, in nats; the path may be known.
    ///
    /// Parameters
    /// ----------
    /// order, mu : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn rdp(&self, py: Python<'_>, order: f64, mu: f64) -> Result<Number, Fault> {
        let (inner, at) = (self.inner, Order::new(order)?);
        run(py, move || Ok(Number::new(inner.rdp_bound(at, mu)?, "Rényi loss").with("order", order)))
    }

    /// The smallest epsilon at a delta that the loss averaged over the walk gives; the path may be known.
    ///
    /// Parameters
    /// ----------
    /// mu, delta : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn epsilon(&self, py: Python<'_>, mu: f64, delta: f64) -> Result<Number, Fault> {
        let (inner, at) = (self.inner, Delta::new(delta)?);
        run(py, move || Ok(converted(inner.epsilon(mu, at)?, "epsilon")))
    }

    /// The smallest delta at an epsilon that the loss averaged over the walk gives; the path may be known.
    ///
    /// Parameters
    /// ----------
    /// mu, epsilon : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn delta(&self, py: Python<'_>, mu: f64, epsilon: f64) -> Result<Number, Fault> {
        let inner = self.inner;
        run(py, move || Ok(converted(inner.delta(mu, epsilon)?, "delta")))
    }

    /// The largest mu at (epsilon, delta) by the loss averaged over the walk; noise is the sensitivity over mu.
    ///
    /// Parameters
    /// ----------
    /// epsilon, delta : float
    ///
    /// Returns
    /// -------
    /// float
    fn largest_mu(&self, py: Python<'_>, epsilon: f64, delta: f64) -> Result<f64, Fault> {
        let (inner, delta) = (self.inner, Delta::new(delta)?);
        run(py, move || Ok(inner.calibrated_mu(epsilon, delta)?))
    }

    /// The epsilon at a delta when every contribution is seen by everybody.
    ///
    /// Parameters
    /// ----------
    /// mu, delta : float
    /// cap : int, optional
    ///     Contributions of a node, at most; without it their quantile at ``failure``, a part of delta.
    /// failure : float, optional
    ///
    /// Returns
    /// -------
    /// UpperBound
    #[pyo3(signature = (mu, delta, cap=None, failure=1e-9))]
    fn local_epsilon(
        &self,
        py: Python<'_>,
        mu: f64,
        delta: f64,
        cap: Option<u64>,
        failure: f64,
    ) -> Result<Number, Fault> {
        let (inner, at, visits) = (self.inner, Delta::new(delta)?, visits(cap, failure)?);
        run(py, move || Ok(Number::new(inner.local_epsilon(mu, visits, at)?, "epsilon").with("delta", delta)))
    }

    /// The smallest epsilon at a delta by composition over the receptions, senders and receivers being hidden.
    ///
    /// For data that stay the same from visit to visit.
    ///
    /// Parameters
    /// ----------
    /// mu, delta : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn hidden_epsilon(&self, py: Python<'_>, mu: f64, delta: f64) -> Result<Number, Fault> {
        let (inner, delta) = (self.inner.with_constant_data(), Delta::new(delta)?);
        run(py, move || Ok(receptions(inner.hidden_epsilon(mu, delta)?)))
    }

    /// The smallest epsilon at a delta when observers know from whom their tokens come and to whom they go.
    ///
    /// For data that stay the same from visit to visit.
    ///
    /// Parameters
    /// ----------
    /// mu, delta : float
    /// failure : float, optional
    ///     What the quantiles of visits and of spotted contributions may fail with, each, as a part of delta.
    ///
    /// Returns
    /// -------
    /// UpperBound
    #[pyo3(signature = (mu, delta, failure=1e-9))]
    fn known_epsilon(&self, py: Python<'_>, mu: f64, delta: f64, failure: f64) -> Result<Number, Fault> {
        let (inner, delta) = (self.inner.with_constant_data(), Delta::new(delta)?);
        let (visits, spotting) = (visits(None, failure)?, Spotting::Quantile(Delta::new(failure)?));
        run(py, move || Ok(receptions(inner.known_epsilon(mu, visits, spotting, delta)?)))
    }

    /// The smallest epsilon at a delta of a histogram of randomized responses, senders and receivers being hidden.
    ///
    /// Parameters
    /// ----------
    /// labels : int
    /// local_epsilon : float
    ///     Of one report.
    /// delta : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn histogram_epsilon(
        &self,
        py: Python<'_>,
        labels: u32,
        local_epsilon: f64,
        delta: f64,
    ) -> Result<Number, Fault> {
        let response = ndp_dp::RandomizedResponse::with_epsilon(labels, local_epsilon)?;
        let histogram = complete::CompleteHistogram::new(self.inner, response)?;
        let delta = Delta::new(delta)?;
        run(py, move || Ok(receptions(histogram.hidden_epsilon(delta, ShuffleEffort::default())?)))
    }

    /// The holders of the token on a random walk, one for each step.
    ///
    /// Parameters
    /// ----------
    /// seed : int
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    fn sample<'py>(&self, py: Python<'py>, seed: u64) -> Bound<'py, PyArray1<i64>> {
        let path = self.inner.sample(&mut generator(seed));
        PyArray1::from_iter(py, path.holders().iter().map(|&v| i64::from(v)))
    }

    /// The total that the token carries at the end of a run, with Gaussian noise on every step.
    ///
    /// Parameters
    /// ----------
    /// values : sequence of float
    ///     What a node adds at every visit.
    /// sigma : float
    /// low, high : float
    ///     Interval of the values.
    /// seed : int
    /// cap : int, optional
    ///     Contributions of a node, at most.
    ///
    /// Returns
    /// -------
    /// float
    #[pyo3(signature = (values, sigma, low, high, seed, cap=None))]
    fn run_sum(
        &self,
        values: Vec<f64>,
        sigma: f64,
        low: f64,
        high: f64,
        seed: u64,
        cap: Option<usize>,
    ) -> Result<f64, Fault> {
        let noise = TokenNoise::gaussian(Sigma::new(sigma)?);
        let sum = CompleteSum::new(self.inner, Bounds::new(low, high)?, noise).with_caps(caps(cap, None)?);
        Ok(sum.run_constant(&values, &mut generator(seed))?.total())
    }

    fn __getnewargs__(&self) -> (usize, usize, usize, bool) {
        self.args
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.args == other.args
    }

    fn __repr__(&self) -> String {
        let (nodes, steps, colluders, published) = self.args;
        let published = if published { "True" } else { "False" };
        format!("CompleteWalk(nodes={nodes}, steps={steps}, colluders={colluders}, published={published})")
    }
}
