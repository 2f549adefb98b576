//! The accountant that adds Rényi costs up.

use super::amplified::{CappedWalk, FederatedRun, PoissonGaussian, SampledGaussian, WalkDescent};
use super::common::{Release, words};
use super::mechanisms::{DiscreteLaplace, Gaussian, Laplace, RandomizedResponse, ZcdpRelease};
use crate::errors::Fault;
use crate::grades::{Number, a_delta, an_epsilon, count, relation, renyi_loss, same};
use ndp_dp::{Delta, Guarantee, Mechanism, Neighbors, Order, RdpAccountant, UpperBound};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

/// The classes of this module.
const CLASSES: [for<'a> fn(&'a Bound<'_, PyAny>) -> Option<&'a dyn Release>; 10] = [
    of_class::<Gaussian>,
    of_class::<Laplace>,
    of_class::<DiscreteLaplace>,
    of_class::<RandomizedResponse>,
    of_class::<ZcdpRelease>,
    of_class::<PoissonGaussian>,
    of_class::<SampledGaussian>,
    of_class::<FederatedRun>,
    of_class::<CappedWalk>,
    of_class::<WalkDescent>,
];

fn of_class<'a, T>(mechanism: &'a Bound<'_, PyAny>) -> Option<&'a dyn Release>
where
    T: PyClass<Frozen = True> + Release + Sync,
{
    Some(mechanism.cast::<T>().ok()?.get())
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
/// UpperBound(6.81332, 'epsilon', {'delta': 1e-05})
#[pyclass(frozen, module = "ndp.accountants", name = "RdpAccountant")]
#[derive(Clone)]
pub(crate) struct Accountant {
    inner: RdpAccountant,
    /// The relation of the releases so far, where one of them has its own.
    neighbors: Option<Neighbors>,
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
        Ok(Self { inner, neighbors: None })
    }

    /// The accountant with more releases, each free to depend on the outputs of the others.
    ///
    /// Parameters
    /// ----------
    /// mechanism : mechanism
    ///     One of this module, or an object whose `rdp(order)` answers with an `Exact` or an `UpperBound` that says it is a
    ///     ``"Rényi loss"``, and which may say with `neighbors`, in the words of `Profile.neighbors`, which data sets it compares.
    /// count : int, optional
    ///
    /// Returns
    /// -------
    /// RdpAccountant
    ///
    /// Raises
    /// ------
    /// NdpError
    ///     For another neighboring relation than that of the releases so far: users that are replaced, or added and removed.
    /// TypeError
    ///     For a number of another kind, or of another order.
    #[pyo3(signature = (mechanism, count=1))]
    fn compose(
        &self,
        mechanism: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = count)] count: u64,
    ) -> Result<Self, Fault> {
        let inner = self.inner.clone();
        Ok(match CLASSES.iter().find_map(|class| class(mechanism)) {
            Some(release) => Self {
                neighbors: self.with(release.relation())?,
                inner: inner.compose(release.curve(), count),
            },
            None => Self {
                neighbors: self.with(stated_relation(mechanism)?)?,
                inner: inner.compose(&self.stated(mechanism)?, count),
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
    fn epsilon(&self, #[pyo3(from_py_with = a_delta)] delta: f64) -> Result<Number, Fault> {
        let epsilon = self.inner.epsilon(Delta::new(delta)?);
        Ok(Number::epsilon(epsilon, delta).between(self.neighbors))
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
    fn delta(&self, #[pyo3(from_py_with = an_epsilon)] epsilon: f64) -> Result<Number, Fault> {
        Ok(Number::delta(self.inner.delta(epsilon)?, epsilon).between(self.neighbors))
    }

    /// Orders and Rényi costs of everything released: upper bounds.
    #[getter]
    fn spent(&self) -> Vec<(f64, f64)> {
        self.inner.spent().value().iter().map(|rdp| (rdp.order.get(), rdp.epsilon)).collect()
    }

    /// Which data sets are neighbors; None where they are those that the sensitivities were stated for.
    #[getter]
    fn neighbors(&self) -> Option<String> {
        words(self.neighbors)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, Parts)> {
        let rebuild = slf.py().import("ndp._ndp")?.getattr("_accountant")?.unbind();
        let this = slf.borrow();
        Ok((rebuild, (this.spent(), this.neighbors())))
    }

    fn __repr__(&self) -> String {
        format!("RdpAccountant({} orders)", self.inner.spent().value().len())
    }
}

/// Orders and costs, and the relation.
type Parts = (Vec<(f64, f64)>, Option<String>);

/// The relation that an object of Python states, where it does.
fn stated_relation(mechanism: &Bound<'_, PyAny>) -> Result<Option<Neighbors>, Fault> {
    match mechanism.getattr_opt("neighbors")? {
        Some(words) if !words.is_none() => relation(&words.extract::<String>()?).map(Some),
        _ => Ok(None),
    }
}

impl Accountant {
    /// The relation of these releases and one more.
    fn with(&self, next: Option<Neighbors>) -> Result<Option<Neighbors>, Fault> {
        same(self.neighbors, next)
    }

    fn stated(&self, mechanism: &Bound<'_, PyAny>) -> Result<Stated, Fault> {
        let orders = self.inner.spent();
        let each = orders.value().iter().map(|rdp| -> PyResult<(f64, f64)> {
            let order = rdp.order.get();
            let loss = renyi_loss(&mechanism.call_method1("rdp", (order,))?, order)?.into_value();
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
pub(crate) fn accountant(spent: Vec<(f64, f64)>, neighbors: Option<String>) -> Result<Accountant, Fault> {
    let orders = spent.iter().map(|&(order, _)| Order::new(order)).collect::<Result<Vec<_>, _>>()?;
    if let Some((_, loss)) = spent.iter().find(|(_, loss)| loss.is_nan() || *loss < 0.0) {
        return Err(Fault::new(format!("a Rényi loss must be nonnegative, got {loss}")));
    }
    let inner = RdpAccountant::on(&orders)?.compose(&Stated(spent), 1);
    Ok(Accountant { inner, neighbors: neighbors.as_deref().map(relation).transpose()? })
}
