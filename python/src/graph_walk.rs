//! A token that walks on a graph.

use crate::errors::Fault;
use crate::grades::Number;
use crate::graph::Matrix;
use crate::question::{final_token, generator, noise};
use crate::worker::run;
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::{EdgeRule, LocalLoss, TokenWalk, WalkOptions};
use ndp_dp::conversion::best_epsilon;
use ndp_dp::{Delta, Order, UpperBound};
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::Start;
use numpy::PyArray1;
use pyo3::prelude::*;

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
        let local = LocalLoss { order: Order::new(order)?, noise: noise(sigma, sensitivity)? };
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
            walk.loss(u, &members, LocalLoss { order: Order::new(2.0)?, noise })?;
            let curve = |order: Order| {
                let loss = walk.loss(u, &members, LocalLoss { order, noise });
                loss.unwrap_or(UpperBound::new(f64::INFINITY))
            };
            let best = best_epsilon(curve, delta).into_value();
            let order = best.order.map_or(f64::INFINITY, Order::get);
            let number = Number::new(UpperBound::new(best.approx_dp.epsilon()), "epsilon");
            Ok(number.with("delta", best.approx_dp.delta()).with("order", order))
        })
    }

    /// The holders of the token on a random walk.
    fn sample<'py>(&self, py: Python<'py>, seed: u64) -> Result<Bound<'py, PyArray1<i64>>, Fault> {
        ndp_linalg::memory::require_dense("the path of a token", self.steps, 4)?;
        let path = self.walk()?.sample(&mut generator(seed));
        Ok(PyArray1::from_iter(py, path.holders.iter().map(|&v| v as i64)))
    }
}

impl GraphWalk {
    fn walk(&self) -> Result<TokenWalk, Fault> {
        let start = self.start.map_or(Start::Uniform, Start::Node);
        let edges = self.edge_uses.map_or(EdgeRule::Unlimited, EdgeRule::NoiseOnly);
        // 0 is no restriction here, as 1 is.
        let refractory = self.refractory.max(1);
        let options = WalkOptions {
            burn_in: self.burn_in,
            cap: self.cap,
            refractory,
            edges,
            final_token: self.last,
            horizon: None,
        };
        Ok(TokenWalk::new(&self.matrix, start, self.steps)?.with_options(options)?)
    }

    fn loss(&self, u: usize, members: &[usize], local: LocalLoss) -> Result<UpperBound<f64>, Fault> {
        Ok(self.walk()?.loss(u, members, local)?)
    }
}
