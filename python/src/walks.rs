//! `ndp.walks`: sums and histograms that a token carries around a ring or between the nodes of a complete graph.

use crate::errors::Fault;
use crate::grades::Number;
use crate::graph::Matrix;
use crate::protocol::{caps, final_token, generator, noise};
use crate::worker::run;
use ndp_algos::walk::complete::{self, CompleteSum, Receptions, ShuffleEffort, Spotting, Visits};
use ndp_algos::walk::graph::{EdgeRule, LocalLoss, TokenWalk};
use ndp_algos::walk::ring::{self, Placement};
use ndp_algos::walk::{Bounds, FinalToken, TokenNoise};
use ndp_dp::conversion::{Converted, best_epsilon};
use ndp_dp::{Delta, Order, Sigma, UpperBound};
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::Start;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

fn converted(best: UpperBound<Converted>, what: &'static str) -> Number {
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

/// A token that walks on a graph: what an observer learns about a node, in nats.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct GraphWalk {
    matrix: TransitionMatrix,
    steps: usize,
    start: Option<usize>,
    burn_in: usize,
    cap: Option<usize>,
    refractory: usize,
    edge_uses: Option<usize>,
    last: FinalToken,
}

#[pymethods]
impl GraphWalk {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        matrix: &Matrix,
        steps: usize,
        start: Option<usize>,
        burn_in: usize,
        cap: Option<usize>,
        refractory: usize,
        edge_uses: Option<usize>,
        last: &str,
    ) -> Result<Self, Fault> {
        let matrix = TransitionMatrix::from(&matrix.0);
        let walk =
            Self { matrix, steps, start, burn_in, cap, refractory, edge_uses, last: final_token(last)? };
        walk.walk()?;
        Ok(walk)
    }

    /// The Rényi loss of `u` towards the members of a coalition.
    fn rdp(
        slf: Py<Self>,
        py: Python<'_>,
        u: usize,
        members: Vec<usize>,
        order: f64,
        sigma: f64,
        sensitivity: f64,
    ) -> Result<Number, Fault> {
        let local = LocalLoss::new(Order::new(order)?, noise(sigma, sensitivity)?);
        run(py, move || {
            let loss = slf.get().loss(u, &members, local)?;
            Ok(Number::new(loss, "Rényi loss").with("order", order))
        })
    }

    /// The `ε` at `δ` of `u` towards the members of a coalition, by the best order.
    fn epsilon(
        slf: Py<Self>,
        py: Python<'_>,
        u: usize,
        members: Vec<usize>,
        delta: f64,
        sigma: f64,
        sensitivity: f64,
    ) -> Result<Number, Fault> {
        let (noise, delta) = (noise(sigma, sensitivity)?, Delta::new(delta)?);
        run(py, move || {
            let walk = slf.get();
            // What is refused at one order is refused at all.
            walk.loss(u, &members, LocalLoss::new(Order::new(2.0)?, noise))?;
            let curve = |order: Order| {
                let loss = walk.loss(u, &members, LocalLoss::new(order, noise));
                loss.unwrap_or(UpperBound::new(f64::INFINITY))
            };
            Ok(converted(best_epsilon(curve, delta), "epsilon"))
        })
    }

    /// The holders of the token on a random walk.
    fn sample<'py>(&self, py: Python<'py>, seed: u64) -> Result<Bound<'py, PyArray1<i64>>, Fault> {
        let path = self.walk()?.sample(&mut generator(seed));
        Ok(PyArray1::from_iter(py, path.holders().iter().map(|&v| v as i64)))
    }
}

impl GraphWalk {
    fn walk(&self) -> Result<TokenWalk, Fault> {
        let start = self.start.map_or(Start::Uniform, Start::Node);
        let mut walk = TokenWalk::new(&self.matrix, start, self.steps)?.with_burn_in(self.burn_in);
        if let Some(cap) = self.cap {
            walk = walk.with_cap(cap)?;
        }
        if self.refractory > 0 {
            walk = walk.with_refractory_period(self.refractory)?;
        }
        if let Some(uses) = self.edge_uses {
            walk = walk.with_edge_rule(EdgeRule::NoiseOnly(uses))?;
        }
        Ok(walk)
    }

    fn loss(&self, u: usize, members: &[usize], local: LocalLoss) -> Result<UpperBound<f64>, Fault> {
        let walk = self.walk()?;
        Ok(match members {
            &[v] if self.last == FinalToken::Withheld => walk.loss(u, v, local)?,
            _ => walk.coalition_loss(u, members, local, self.last)?,
        })
    }
}
