//! The accountant that adds Rényi costs up.

use super::amplified::{CappedWalk, FederatedRun, PoissonGaussian, SampledGaussian, WalkDescent};
use super::mechanisms::{DiscreteLaplace, Gaussian, Laplace, RandomizedResponse, ZcdpRelease};
use crate::errors::Fault;
use crate::grades::{Number, guarantee};
use ndp_dp::{Delta, Guarantee, Mechanism, Order, RdpAccountant, UpperBound};
use pyo3::prelude::*;

/// Anything whose Rényi curve is known.
#[derive(FromPyObject)]
enum Any<'py> {
    Gaussian(PyRef<'py, Gaussian>),
    Laplace(PyRef<'py, Laplace>),
    DiscreteLaplace(PyRef<'py, DiscreteLaplace>),
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
                Any::DiscreteLaplace(m) => inner.compose(&m.inner, count),
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
        Ok(Number::new(self.inner.epsilon(Delta::new(delta)?), "epsilon").with("delta", delta))
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
        Ok(Number::new(self.inner.delta(epsilon)?, "delta").with("epsilon", epsilon))
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
