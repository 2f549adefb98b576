//! Mechanisms for one answer: Gaussian, Laplace, discrete Laplace, randomized response, zCDP.

use super::common::{delta_of, mechanism, rdp_of};
use crate::errors::Fault;
use crate::grades::{Epsilon, Noise, Number, a_delta, an_epsilon, count_of_32, plain};
use crate::worker::run;
use ndp_dp::{Delta, Gdp, Grade, Mechanism, Neighbors, Sensitivity, Sigma, Zcdp};
use pyo3::prelude::*;

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
    /// Exact(0.0068296, 'delta', {'epsilon': 1.0})
    /// >>> release.mu
    /// Exact(0.5, 'mu')
    Gaussian(ndp_dp::Gaussian), "Gaussian",
    (sigma: Noise, #[pyo3(from_py_with = plain)] sensitivity: f64 = 1.0) =>
        ndp_dp::Gaussian { sensitivity: Sensitivity::new(sensitivity)?, sigma: Sigma::new(sigma.0)? },
    neighbors: None,
    epsilon: |inner, delta| Ok(Number::epsilon(inner.epsilon(Delta::new(delta)?), delta)),
    delta: |inner, epsilon| Ok(Number::delta(inner.delta(epsilon)?, epsilon)),
    {
        /// The Gaussian parameter sensitivity / sigma.
        #[getter]
        fn mu(&self) -> Number {
            let (mu, beyond) = (self.inner.gdp().map(Gdp::mu), self.inner.gdp().value().mu().is_infinite());
            // It is finite, and above the largest float.
            let grade = if beyond { Grade::UpperBound } else { Grade::Exact };
            Number::new(mu, "mu").no_better_than(grade)
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
        fn within(epsilon: Epsilon, #[pyo3(from_py_with = a_delta)] delta: f64, #[pyo3(from_py_with = plain)] sensitivity: f64) -> Result<Self, Fault> {
            let inner = ndp_dp::Gaussian::within(epsilon.at(delta)?, Delta::new(delta)?, Sensitivity::new(sensitivity)?)?;
            Ok(Self { inner, sigma: Noise(inner.sigma.get()), sensitivity })
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
    (#[pyo3(from_py_with = plain)] scale: f64, #[pyo3(from_py_with = plain)] sensitivity: f64 = 1.0) => ndp_dp::Laplace::new(Sensitivity::new(sensitivity)?, scale)?,
    neighbors: None,
    epsilon: |inner, delta| Ok(Number::epsilon(inner.epsilon(Delta::new(delta)?), delta)),
    delta: |inner, epsilon| Ok(Number::delta(inner.delta(epsilon)?, epsilon)),
}

mechanism! {
    /// Discrete Laplace noise on a query with whole values: exact.
    ///
    /// Parameters
    /// ----------
    /// scale : float
    ///     The sensitivity over the epsilon.
    /// sensitivity : int, optional
    ///     The most the query may move between neighboring data sets.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> bool(ndp.accountants.DiscreteLaplace(scale=2.0).epsilon(delta=0.01) < 0.49)
    /// True
    DiscreteLaplace(ndp_dp::DiscreteLaplace), "DiscreteLaplace",
    (#[pyo3(from_py_with = plain)] scale: f64, sensitivity: u32 = 1) => ndp_dp::DiscreteLaplace::new(sensitivity, scale)?,
    neighbors: None,
    epsilon: |inner, delta| Ok(Number::epsilon(inner.epsilon(Delta::new(delta)?), delta)),
    delta: |inner, epsilon| Ok(Number::delta(inner.delta(epsilon)?, epsilon)),
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
    (#[pyo3(from_py_with = count_of_32)] labels: u32, #[pyo3(from_py_with = plain)] gamma: f64) => ndp_dp::RandomizedResponse::new(labels, gamma)?,
    neighbors: Some(Neighbors::ReplaceOne),
    epsilon: |inner, delta| Ok(Number::epsilon(inner.epsilon(Delta::new(delta)?), delta)),
    delta: |inner, epsilon| Ok(Number::delta(inner.delta(epsilon)?, epsilon)),
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
        fn with_epsilon(#[pyo3(from_py_with = count_of_32)] labels: u32, local_epsilon: Epsilon) -> Result<Self, Fault> {
            let inner = ndp_dp::RandomizedResponse::with_epsilon(labels, local_epsilon.at(0.0)?)?;
            Ok(Self { inner, labels, gamma: inner.gamma() })
        }

        /// The epsilon of one report.
        #[getter]
        fn local_epsilon(&self) -> Number {
            Number::epsilon(self.inner.pure_epsilon(), 0.0).between(Some(Neighbors::ReplaceOne))
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
    /// UpperBound(0.25, 'Rényi loss', {'order': 2.0})
    ZcdpRelease(Zcdp), "Zcdp",
    (#[pyo3(from_py_with = plain)] rho: f64) => Zcdp::new(rho)?,
    neighbors: None,
    epsilon: |inner, delta| Ok(Number::epsilon(inner.epsilon(Delta::new(delta)?), delta)),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}
