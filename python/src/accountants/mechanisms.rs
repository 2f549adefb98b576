//! Mechanisms, each with its Rényi curve, its `ε` at a `δ` and its `δ` at an `ε`.

use crate::errors::Fault;
use crate::grades::{Number, guarantee};
use crate::worker::run;
use ndp_dp::baselines;
use ndp_dp::conversion::{best_delta, best_epsilon};
use ndp_dp::federated::{self, ContractionFactor, Parameters};
use ndp_dp::iteration::{self, NoisyStep, WalkRun};
use ndp_dp::subsampling;
use ndp_dp::{Delta, Gdp, Guarantee, Mechanism, Order, RdpAccountant, Sensitivity, Sigma, UpperBound, Zcdp};
use pyo3::prelude::*;

/// `ε` at `δ` by the best order of a Rényi curve.
fn epsilon_of(mechanism: &dyn Mechanism, delta: f64) -> Result<Number, Fault> {
    let best = best_epsilon(|order| mechanism.rdp(order).into_upper_bound(), Delta::new(delta)?);
    let order = best.value().order.map_or(f64::INFINITY, Order::get);
    let epsilon = best.map(|best| best.approx_dp.epsilon());
    Ok(Number::new(epsilon, "epsilon").with("delta", delta).with("order", order))
}

/// `δ` at `ε` by the best order of a Rényi curve.
fn delta_of(mechanism: &dyn Mechanism, epsilon: f64) -> Result<Number, Fault> {
    let best = best_delta(|order| mechanism.rdp(order).into_upper_bound(), epsilon)?;
    let order = best.value().order.map_or(f64::INFINITY, Order::get);
    Ok(Number::new(best.map(|best| best.approx_dp.delta()), "delta")
        .with("epsilon", epsilon)
        .with("order", order))
}

fn rdp_of(mechanism: &dyn Mechanism, order: f64) -> Result<Number, Fault> {
    Ok(Number::new(mechanism.rdp(Order::new(order)?), "Rényi loss").with("order", order))
}

macro_rules! mechanism {
    (
        $(#[$doc:meta])*
        $name:ident($inner:ty), $text:literal,
        ($($arg:ident: $ty:ty $(= $default:tt)?),*) => $new:expr,
        epsilon: |$e:ident, $delta:ident| $epsilon_body:expr,
        delta: |$d:ident, $epsilon:ident| $delta_body:expr,
        $({ $($more:tt)* })?
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ndp.accountants", name = $text)]
        #[derive(Clone)]
        pub(crate) struct $name {
            inner: $inner,
            $($arg: $ty,)*
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = ($($arg $(= $default)?),*))]
            fn new($($arg: $ty),*) -> Result<Self, Fault> {
                Ok(Self { inner: $new, $($arg),* })
            }

            $(
                #[getter]
                fn $arg(&self) -> $ty {
                    self.$arg.clone()
                }
            )*

            /// Rényi loss in nats at an order above 1.
            ///
            /// Parameters
            /// ----------
            /// order : float
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn rdp(&self, py: Python<'_>, order: f64) -> Result<Number, Fault> {
                let inner = self.inner.clone();
                run(py, move || rdp_of(&inner, order))
            }

            /// The smallest known epsilon at a delta, in nats.
            ///
            /// Parameters
            /// ----------
            /// delta : float
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn epsilon(&self, py: Python<'_>, delta: f64) -> Result<Number, Fault> {
                let $e = self.inner.clone();
                let $delta = delta;
                run(py, move || $epsilon_body)
            }

            /// The smallest known delta at an epsilon.
            ///
            /// Parameters
            /// ----------
            /// epsilon : float
            ///     In nats.
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn delta(&self, py: Python<'_>, epsilon: f64) -> Result<Number, Fault> {
                let $d = self.inner.clone();
                let $epsilon = epsilon;
                run(py, move || $delta_body)
            }

            fn __getnewargs__(&self) -> ($($ty,)*) {
                ($(self.$arg.clone(),)*)
            }

            fn __eq__(&self, other: &Self) -> bool {
                true $(&& self.$arg == other.$arg)*
            }

            fn __repr__(&self) -> String {
                let parts: Vec<String> = vec![$(format!("{}={:?}", stringify!($arg), self.$arg)),*];
                format!("{}({})", $text, parts.join(", "))
            }

            $($($more)*)?
        }
    };
}

mechanism! {
    /// Gaussian noise on a query: exact, with mu = sensitivity / sigma.
    ///
    /// Parameters
    /// ----------
    /// sigma : float
    ///     Standard deviation of the noise.
    /// sensitivity : float, optional
    ///     The most the query may move between neighboring data sets.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> release = ndp.accountants.Gaussian(sigma=2.0)
    /// >>> release.delta(epsilon=1.0)
    /// Exact(0.00682959, 'delta')
    /// >>> release.mu
    /// Exact(0.5, 'mu')
    Gaussian(ndp_dp::Gaussian), "Gaussian",
    (sigma: f64, sensitivity: f64 = 1.0) =>
        ndp_dp::Gaussian { sensitivity: Sensitivity::new(sensitivity)?, sigma: Sigma::new(sigma)? },
    epsilon: |inner, delta| {
        let dp = inner.gdp().into_value().to_approx_dp(Delta::new(delta)?);
        Ok(Number::new(dp.map(|dp| dp.epsilon()), "epsilon").with("delta", delta))
    },
    delta: |inner, epsilon| {
        Ok(Number::new(inner.gdp().into_value().delta(epsilon)?, "delta").with("epsilon", epsilon))
    },
    {
        /// The Gaussian parameter sensitivity / sigma.
        #[getter]
        fn mu(&self) -> Number {
            Number::new(self.inner.gdp().map(Gdp::mu), "mu")
        }

        /// The least noise that is (epsilon, delta)-DP.
        ///
        /// Parameters
        /// ----------
        /// epsilon, delta : float
        /// sensitivity : float, optional
        ///
        /// Returns
        /// -------
        /// Gaussian
        #[staticmethod]
        #[pyo3(signature = (epsilon, delta, sensitivity=1.0))]
        fn within(epsilon: f64, delta: f64, sensitivity: f64) -> Result<Self, Fault> {
            let inner = ndp_dp::Gaussian::within(epsilon, Delta::new(delta)?, Sensitivity::new(sensitivity)?)?;
            Ok(Self { inner, sigma: inner.sigma.get(), sensitivity })
        }

        /// The release as an event of dp_accounting.
        ///
        /// Returns
        /// -------
        /// dp_accounting.GaussianDpEvent
        fn to_dp_event(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
            let mu = self.inner.gdp().into_value().mu();
            Ok(py.import("ndp._events")?.call_method1("gaussian", (mu,))?.unbind())
        }
    }
}

mechanism! {
    /// Laplace noise on a query: exact.
    ///
    /// Parameters
    /// ----------
    /// scale : float
    ///     Scale of the noise; its standard deviation is the square root of 2 times that.
    /// sensitivity : float, optional
    ///     The most the query may move between neighboring data sets.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> float(ndp.accountants.Laplace(scale=2.0).delta(epsilon=0.5))
    /// 0.0
    Laplace(ndp_dp::Laplace), "Laplace",
    (scale: f64, sensitivity: f64 = 1.0) => ndp_dp::Laplace::new(Sensitivity::new(sensitivity)?, scale)?,
    epsilon: |inner, delta| {
        Ok(Number::new(inner.epsilon(Delta::new(delta)?), "epsilon").with("delta", delta))
    },
    delta: |inner, epsilon| Ok(Number::new(inner.delta(epsilon)?, "delta").with("epsilon", epsilon)),
}

mechanism! {
    /// Randomized response: the true label with probability 1 - gamma, otherwise a uniform one; exact.
    ///
    /// Parameters
    /// ----------
    /// labels : int
    ///     Number of labels, at least 2.
    /// gamma : float
    ///     Probability of a random answer.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> response = ndp.accountants.RandomizedResponse.with_epsilon(labels=4, local_epsilon=1.0)
    /// >>> bool(abs(float(response.delta(epsilon=1.0))) < 1e-15)
    /// True
    RandomizedResponse(ndp_dp::RandomizedResponse), "RandomizedResponse",
    (labels: u32, gamma: f64) => ndp_dp::RandomizedResponse::new(labels, gamma)?,
    epsilon: |inner, delta| {
        Ok(Number::new(inner.epsilon(Delta::new(delta)?), "epsilon").with("delta", delta))
    },
    delta: |inner, epsilon| Ok(Number::new(inner.delta(epsilon)?, "delta").with("epsilon", epsilon)),
    {
        /// The response that is local_epsilon-DP for one report.
        ///
        /// Parameters
        /// ----------
        /// labels : int
        /// local_epsilon : float
        ///
        /// Returns
        /// -------
        /// RandomizedResponse
        #[staticmethod]
        fn with_epsilon(labels: u32, local_epsilon: f64) -> Result<Self, Fault> {
            let inner = ndp_dp::RandomizedResponse::with_epsilon(labels, local_epsilon)?;
            Ok(Self { inner, labels, gamma: inner.gamma() })
        }

        /// The epsilon of one report.
        #[getter]
        fn local_epsilon(&self) -> Number {
            Number::new(self.inner.local_epsilon(), "epsilon")
        }
    }
}

mechanism! {
    /// A release that is known to be rho-zCDP: its Rényi loss is at most rho times the order.
    ///
    /// Parameters
    /// ----------
    /// rho : float
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> ndp.accountants.Zcdp(0.125).rdp(2.0)
    /// UpperBound(0.25, 'Rényi loss')
    ZcdpRelease(Zcdp), "Zcdp",
    (rho: f64) => Zcdp::new(rho)?,
    epsilon: |inner, delta| {
        let dp = inner.to_approx_dp(Delta::new(delta)?);
        Ok(Number::new(dp.map(|dp| dp.epsilon()), "epsilon").with("delta", delta))
    },
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// Gaussian noise on users who each take part with probability `rate`, when one user may be added or removed.
    ///
    /// Parameters
    /// ----------
    /// sigma : float
    ///     Standard deviation of the noise.
    /// rate : float
    ///     Sampling rate.
    /// sensitivity : float, optional
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> step = ndp.accountants.PoissonGaussian(sigma=1.0, rate=0.01)
    /// >>> spent = ndp.accountants.RdpAccountant().compose(step, 1000)
    /// >>> bool(spent.epsilon(delta=1e-5) < 2.2)
    /// True
    PoissonGaussian(subsampling::PoissonGaussian), "PoissonGaussian",
    (sigma: f64, rate: f64, sensitivity: f64 = 1.0) => {
        let release = ndp_dp::Gaussian { sensitivity: Sensitivity::new(sensitivity)?, sigma: Sigma::new(sigma)? };
        subsampling::PoissonGaussian::new(release, rate)?
    },
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// The noisy gradient of a random part of the users, drawn without replacement, when one user's data may be replaced.
    ///
    /// Parameters
    /// ----------
    /// rate : float
    ///     Share of the users that is drawn; 1/n for one of n.
    /// mu : float
    ///     Gaussian parameter of a release: twice the Lipschitz constant over sigma for a gradient.
    ///
    /// References
    /// ----------
    /// Wang, Balle and Kasiviswanathan, *Subsampled Rényi differential privacy and analytical moments accountant*,
    /// arXiv:1808.00087, Theorem 9.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> step = ndp.accountants.SampledGaussian(rate=0.01, mu=1.0)
    /// >>> bool(step.rdp(2.0) < 0.001)
    /// True
    SampledGaussian(baselines::SampledGaussian), "SampledGaussian",
    (rate: f64, mu: f64) => baselines::SampledGaussian::with_rate(rate, mu)?,
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// Federated SGD of which only the last model is released: against a reader of that model only.
    ///
    /// Users are split at random into batches; round t steps with the noisy mean gradient of batch t.
    ///
    /// Parameters
    /// ----------
    /// users, batch : int
    ///     Number of users, and of those in a round.
    /// lipschitz, smoothness : float
    ///     Of the convex loss of every user, on the ball.
    /// radius : float
    ///     Of the ball that models are projected on.
    /// step : float
    ///     Step size, at most 2/smoothness.
    /// sigma : float
    ///     Noise of every gradient.
    /// convexity : float, optional
    ///     Strong convexity.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> run = ndp.accountants.FederatedRun(
    /// ...     users=100, batch=20, lipschitz=1.0, smoothness=4.0, radius=1.0, step=0.5, sigma=1.5
    /// ... )
    /// >>> bool(run.delta(1.0) < 1.1e-5), bool(run.all_models_delta(1.0) > 4e-5)
    /// (True, True)
    FederatedRun(federated::FederatedRun), "FederatedRun",
    (users: u64, batch: u64, lipschitz: f64, smoothness: f64, radius: f64, step: f64, sigma: f64,
        convexity: f64 = 0.0) => {
        let factor = ContractionFactor::strongly_convex(step, convexity, smoothness)?;
        let parameters = Parameters { users, batch, lipschitz, radius, step, sigma };
        federated::FederatedRun::new(parameters, factor)?
    },
    epsilon: |inner, delta| {
        Ok(Number::new(inner.epsilon(Delta::new(delta)?), "epsilon").with("delta", delta))
    },
    delta: |inner, epsilon| Ok(Number::new(inner.delta(epsilon)?, "delta").with("epsilon", epsilon)),
    {
        /// The delta at an epsilon of Theorem 2 of the paper.
        ///
        /// Parameters
        /// ----------
        /// epsilon : float
        ///
        /// Returns
        /// -------
        /// UpperBound
        fn theorem2_delta(&self, epsilon: f64) -> Result<Number, Fault> {
            Ok(Number::new(self.inner.theorem2_delta(epsilon)?, "delta").with("epsilon", epsilon))
        }

        /// The delta at an epsilon when every model is seen.
        ///
        /// Parameters
        /// ----------
        /// epsilon : float
        ///
        /// Returns
        /// -------
        /// Exact
        fn all_models_delta(&self, epsilon: f64) -> Result<Number, Fault> {
            Ok(Number::new(self.inner.all_models_delta(epsilon)?, "delta").with("epsilon", epsilon))
        }

        /// The curve that Figure 2 of the paper prints.
        ///
        /// Parameters
        /// ----------
        /// epsilon : float
        ///
        /// Returns
        /// -------
        /// Printed
        fn printed_delta(&self, epsilon: f64) -> Result<Number, Fault> {
            let printed = federated::printed::figure_delta(&self.inner, epsilon)?;
            Ok(Number::new(printed, "delta").with("epsilon", epsilon))
        }

        /// Number of rounds.
        #[getter]
        fn rounds(&self) -> u64 {
            self.inner.rounds()
        }
    }
}

mechanism! {
    /// Private descent by a walk on the complete graph: what colluders learn about a user with capped contributions.
    ///
    /// Parameters
    /// ----------
    /// contributions : int
    ///     The cap.
    /// lipschitz : float
    ///     Lipschitz constant of the losses.
    /// sigma : float
    ///     Noise of every step.
    /// users, colluders : int
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> walk = ndp.accountants.CappedWalk(contributions=100, lipschitz=1.0, sigma=40.0, users=1000)
    /// >>> bool(walk.epsilon(delta=1e-6) < 0.33)
    /// True
    CappedWalk(iteration::CappedWalk), "CappedWalk",
    (contributions: u64, lipschitz: f64, sigma: f64, users: u64, colluders: u64 = 1) => {
        let step = NoisyStep::new(lipschitz, Sigma::new(sigma)?)?;
        iteration::CappedWalk::new(contributions, step, users, colluders)?
    },
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// Private descent by a walk of given length on the complete graph, exact in the number of steps: no cap.
    ///
    /// Parameters
    /// ----------
    /// steps, users, colluders : int
    /// lipschitz : float
    ///     Lipschitz constant of the losses.
    /// sigma : float
    ///     Noise of every step.
    /// published : bool, optional
    ///     Whether the colluders see the last token too.
    /// given_first : bool, optional
    ///     Whether the first holder is known beforehand; the loss is then that of the holder.
    /// longest : int, optional
    ///     Gaps above it count as hidden after that many steps, which costs more and computes faster.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> walk = ndp.accountants.WalkDescent(steps=1000, users=100, lipschitz=1.0, sigma=40.0)
    /// >>> bool(walk.epsilon(delta=1e-6) < 0.5)
    /// True
    WalkDescent(iteration::WalkDescent), "WalkDescent",
    (steps: u64, users: u64, lipschitz: f64, sigma: f64, colluders: u64 = 1, published: bool = false,
        given_first: bool = false, longest: u64 = 1000) => {
        let last = if published { iteration::FinalToken::Published } else { iteration::FinalToken::Withheld };
        let first = if given_first { iteration::FirstHolder::Given } else { iteration::FirstHolder::Uniform };
        let step = NoisyStep::new(lipschitz, Sigma::new(sigma)?)?;
        WalkRun::new(steps, users, colluders, last)?.with_first_holder(first).descent(step, longest)?
    },
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

/// Anything whose Rényi curve is known.
#[derive(FromPyObject)]
enum Any<'py> {
    Gaussian(PyRef<'py, Gaussian>),
    Laplace(PyRef<'py, Laplace>),
    RandomizedResponse(PyRef<'py, RandomizedResponse>),
    Zcdp(PyRef<'py, ZcdpRelease>),
    PoissonGaussian(PyRef<'py, PoissonGaussian>),
    SampledGaussian(PyRef<'py, SampledGaussian>),
    FederatedRun(PyRef<'py, FederatedRun>),
    CappedWalk(PyRef<'py, CappedWalk>),
    WalkDescent(PyRef<'py, WalkDescent>),
    Other(Bound<'py, PyAny>),
}

/// A Rényi curve that Python states at the orders of a grid; infinite elsewhere.
struct Stated(Vec<(f64, f64)>);

impl Mechanism for Stated {
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let stated = self.0.iter().find(|&&(at, _)| at == order.get());
        UpperBound::new(stated.map_or(f64::INFINITY, |&(_, loss)| loss)).into()
    }
}

/// The Rényi costs of everything released so far, on a grid of orders; costs add up.
///
/// Parameters
/// ----------
/// orders : sequence of float, optional
///     The grid; by default that of Google's dp_accounting.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> release = ndp.accountants.Gaussian(sigma=4.0)
/// >>> spent = ndp.accountants.RdpAccountant().compose(release, 30)
/// >>> spent.epsilon(delta=1e-5)
/// UpperBound(6.81332, 'epsilon')
#[pyclass(frozen, module = "ndp.accountants", name = "RdpAccountant")]
#[derive(Clone)]
pub(crate) struct Accountant {
    inner: RdpAccountant,
}

#[pymethods]
impl Accountant {
    #[new]
    #[pyo3(signature = (orders=None))]
    fn new(orders: Option<Vec<f64>>) -> Result<Self, Fault> {
        let inner = match orders {
            None => RdpAccountant::default(),
            Some(orders) => {
                let orders = orders.into_iter().map(Order::new).collect::<Result<Vec<_>, _>>()?;
                RdpAccountant::on(&orders)?
            }
        };
        Ok(Self { inner })
    }

    /// The accountant with more releases, each free to depend on the outputs of the others.
    ///
    /// Parameters
    /// ----------
    /// mechanism : mechanism
    ///     One of this module, or an object whose `rdp(order)` answers with an `Exact` or an `UpperBound`.
    /// count : int, optional
    ///
    /// Returns
    /// -------
    /// RdpAccountant
    #[pyo3(signature = (mechanism, count=1))]
    fn compose(&self, mechanism: Any<'_>, count: u64) -> Result<Self, Fault> {
        let inner = self.inner.clone();
        Ok(Self {
            inner: match mechanism {
                Any::Gaussian(m) => inner.compose(&m.inner, count),
                Any::Laplace(m) => inner.compose(&m.inner, count),
                Any::RandomizedResponse(m) => inner.compose(&m.inner, count),
                Any::Zcdp(m) => inner.compose(&m.inner, count),
                Any::PoissonGaussian(m) => inner.compose(&m.inner, count),
                Any::SampledGaussian(m) => inner.compose(&m.inner, count),
                Any::FederatedRun(m) => inner.compose(&m.inner, count),
                Any::CappedWalk(m) => inner.compose(&m.inner, count),
                Any::WalkDescent(m) => inner.compose(&m.inner, count),
                Any::Other(m) => inner.compose(&self.stated(&m)?, count),
            },
        })
    }

    /// The smallest epsilon over the grid at a delta, by the optimal conversion.
    ///
    /// Parameters
    /// ----------
    /// delta : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn epsilon(&self, delta: f64) -> Result<Number, Fault> {
        let dp = self.inner.to_approx_dp(Delta::new(delta)?);
        Ok(Number::new(dp.map(|dp| dp.epsilon()), "epsilon").with("delta", delta))
    }

    /// The smallest delta over the grid at an epsilon.
    ///
    /// Parameters
    /// ----------
    /// epsilon : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn delta(&self, epsilon: f64) -> Result<Number, Fault> {
        let dp = self.inner.at_epsilon(epsilon)?;
        Ok(Number::new(dp.map(|dp| dp.delta()), "delta").with("epsilon", epsilon))
    }

    /// Orders and Rényi costs of everything released: upper bounds.
    #[getter]
    fn spent(&self) -> Vec<(f64, f64)> {
        self.inner.spent().value().iter().map(|rdp| (rdp.order.get(), rdp.epsilon)).collect()
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Vec<(f64, f64)>,))> {
        let rebuild = slf.py().import("ndp._ndp")?.getattr("_accountant")?.unbind();
        Ok((rebuild, (slf.borrow().spent(),)))
    }

    fn __repr__(&self) -> String {
        format!("RdpAccountant({} orders)", self.inner.spent().value().len())
    }
}

impl Accountant {
    fn stated(&self, mechanism: &Bound<'_, PyAny>) -> Result<Stated, Fault> {
        let orders = self.inner.spent();
        let each = orders.value().iter().map(|rdp| -> PyResult<(f64, f64)> {
            let order = rdp.order.get();
            let loss = guarantee(&mechanism.call_method1("rdp", (order,))?)?.into_value();
            if loss >= 0.0 {
                Ok((order, loss))
            } else {
                let message = format!("a Rényi loss must be nonnegative, got {loss} at order {order}");
                Err(Fault::new(message).into())
            }
        });
        Ok(Stated(each.collect::<PyResult<_>>()?))
    }
}

/// An accountant from its orders and costs, for pickles.
#[pyfunction]
#[pyo3(name = "_accountant")]
pub(crate) fn accountant(spent: Vec<(f64, f64)>) -> Result<Accountant, Fault> {
    let orders = spent.iter().map(|&(order, _)| Order::new(order)).collect::<Result<Vec<_>, _>>()?;
    if let Some((_, loss)) = spent.iter().find(|(_, loss)| loss.is_nan() || *loss < 0.0) {
        return Err(Fault::new(format!("a Rényi loss must be nonnegative, got {loss}")));
    }
    Ok(Accountant { inner: RdpAccountant::on(&orders)?.compose(&Stated(spent), 1) })
}
