//! Accountants turned around: searches over a function of Python.

use crate::errors::Fault;
use crate::grades::{Number, count, guarantee};
use ndp_dp::calibration::{self, Calibrated};
use ndp_dp::{Delta, Error, Grade, Guarantee};
use pyo3::prelude::*;

/// A target, which is a plain number: a guarantee says of what kind it is and at which delta, which the accountant
/// need not answer.
pub(crate) struct Plain(f64);

impl<'a, 'py> FromPyObject<'a, 'py> for Plain {
    type Error = PyErr;

    fn extract(number: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if number.hasattr("grade")? {
            return Err(Fault::new(
                "a target is a plain number, and what the account answers says of what kind it is",
            )
            .into());
        }
        Ok(Self(number.extract()?))
    }
}

/// Asks a function of Python; an exception ends the search and is raised again.
struct Asked<'py, T> {
    account: Bound<'py, PyAny>,
    /// What an answer says, for the parameter that was asked about.
    read: fn(&Bound<'py, PyAny>, T) -> PyResult<Guarantee<f64>>,
    raised: Option<PyErr>,
}

impl<'py, T: Copy + IntoPyObject<'py>> Asked<'py, T> {
    fn new(account: Bound<'py, PyAny>) -> Self {
        Self { account, read: |answer, _| guarantee(answer), raised: None }
    }

    fn at(&mut self, parameter: T) -> Result<Guarantee<f64>, Error> {
        if self.raised.is_none() {
            match self.account.call1((parameter,)).and_then(|answer| (self.read)(&answer, parameter)) {
                Ok(answer) => return Ok(answer),
                Err(error) => self.raised = Some(error),
            }
        }
        Err(Error::InvalidParameter { name: "the account", condition: "answer", value: f64::INFINITY })
    }

    fn finish<P>(self, found: Result<Calibrated<P>, Error>) -> Result<Calibrated<P>, Fault> {
        match self.raised {
            Some(error) => Err(error.into()),
            None => Ok(found?),
        }
    }
}

/// The smallest noise at which an accountant stays within a target.
///
/// Parameters
/// ----------
/// target : float
/// account : callable
///     From a sigma to an `Exact` or an `UpperBound`, nonincreasing.
///
/// Returns
/// -------
/// Guarantee
///     A sigma at which the account was seen to hold, which is in its detail as ``reached``; an `UpperBound` where the search ended
///     at 1e-300.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> from ndp.accountants import Gaussian, RdpAccountant, smallest_sigma
/// >>> spent = lambda sigma: RdpAccountant().compose(Gaussian(sigma), 30).epsilon(delta=1e-5)
/// >>> found = smallest_sigma(1.0, spent)
/// >>> bool(spent(found.value) <= 1.0)
/// True
#[pyfunction]
pub(crate) fn smallest_sigma(target: Plain, account: Bound<'_, PyAny>) -> Result<Number, Fault> {
    let mut asked = Asked::new(account);
    let found = calibration::smallest_sigma(target.0, |sigma| asked.at(sigma.get()));
    let found = asked.finish(found)?;
    let reached = *found.reached.value();
    // The search ends a little above 1e-300: less noise, or none, may be enough.
    let grade = if found.parameter.get() < 1e-299 { Grade::UpperBound } else { found.reached.grade() };
    Ok(Number::of(grade, found.parameter, "sigma").with("reached", reached))
}

/// The smallest epsilon at which an accountant's delta is at most a target.
///
/// Parameters
/// ----------
/// delta : float
/// account : callable
///     From an epsilon to an `Exact` or an `UpperBound` that says it is a ``"delta"``, nonincreasing; one
///     that says it holds at another epsilon is refused.
///
/// Returns
/// -------
/// Guarantee
///     An epsilon at which the delta was seen to hold.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> found = ndp.accountants.smallest_epsilon(1e-6, ndp.accountants.Gaussian(2.0).delta)
/// >>> round(float(found), 5)
/// 2.25408
#[pyfunction]
pub(crate) fn smallest_epsilon(delta: Plain, account: Bound<'_, PyAny>) -> Result<Number, Fault> {
    let mut asked = Asked { read: crate::grades::delta, ..Asked::new(account) };
    let found = calibration::smallest_epsilon(Delta::new(delta.0)?, |epsilon| asked.at(epsilon));
    let found = asked.finish(found)?;
    let reached = *found.reached.value();
    // The search ends a little above 1e-300: less may be enough.
    let is_end = found.parameter != 0.0 && found.parameter < 1e-299;
    let grade = if is_end { Grade::UpperBound } else { found.reached.grade() };
    Ok(Number::of(grade, found.parameter, "epsilon").with("delta", delta.0).with("reached", reached))
}

/// The largest number of releases at which an accountant stays within a target.
///
/// Parameters
/// ----------
/// target : float
/// most : int
///     No more are tried.
/// account : callable
///     From a number to an `Exact` or an `UpperBound`, nondecreasing.
///
/// Returns
/// -------
/// Guarantee
///     A count at which the account was seen to hold, which is in its detail as ``reached``. It is guaranteed from below: an
///     `UpperBound` of it is a lower bound, by an account that is one, and at ``most``. Shown with fewer digits it is rounded down.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> from ndp.accountants import Laplace, RdpAccountant, largest_count
/// >>> spent = lambda count: RdpAccountant().compose(Laplace(20.0), count).epsilon(delta=1e-6)
/// >>> found = largest_count(2.0, 10_000, spent)
/// >>> found.value > 50 and found.detail["reached"] <= 2.0
/// True
#[pyfunction]
pub(crate) fn largest_count(
    target: Plain,
    #[pyo3(from_py_with = count)] most: u64,
    account: Bound<'_, PyAny>,
) -> Result<Number, Fault> {
    let mut asked = Asked::new(account);
    let found = calibration::largest_count(target.0, most, |count| asked.at(count));
    let found = asked.finish(found)?;
    let reached = *found.reached.value();
    // More than the most that was tried may be within the target.
    let grade = if found.parameter == most { Grade::UpperBound } else { found.reached.grade() };
    Ok(Number::of(grade, found.parameter, "largest count").with("reached", reached))
}
