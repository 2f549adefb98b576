//! Reports of losses as arrays, and what follows from unit losses.

use crate::errors::Fault;
use crate::grades::class;
use crate::question::{noise, sigma as sigma_of};
use crate::statement::Said;
use crate::worker::run;
use ndarray::Array2;
use ndp_account::{Account, Allowed, LossReport, Target};
use ndp_dp::{
    Delta, Exact, Gdp, Grade, Guarantee, Measure, Mechanism, ObserverLoss, Order, Sensitivity, Sigma,
    UnitLoss, UpperBound, Verdict,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What several coalitions learn.
pub(crate) struct Reports(pub(crate) Vec<LossReport>);

/// The same with what is said beside them: of each, and of all together.
pub(crate) struct Told(pub(crate) Reports, pub(crate) (Vec<Said>, Said));

impl<'py> IntoPyObject<'py> for Told {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let answer = self.0.into_pyobject(py)?;
        answer.set_item("statements", self.1.0)?;
        answer.set_item("statement", self.1.1)?;
        Ok(answer)
    }
}

impl<'py> IntoPyObject<'py> for Reports {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let nodes = self.0.first().map_or(0, |report| report.loss.value().unit.len());
        let shape = (self.0.len(), nodes);
        let (mut unit, mut lower) =
            (Vec::with_capacity(shape.0 * nodes), Vec::with_capacity(shape.0 * nodes));
        for report in &self.0 {
            unit.extend_from_slice(&report.loss.value().unit);
            lower.extend_from_slice(&report.lower);
        }
        let table = |entries: Vec<f64>| {
            let array = Array2::from_shape_vec(shape, entries);
            array
                .map(|array| PyArray2::from_owned_array(py, array))
                .map_err(|_| PyErr::from(Fault::new("the reports have losses of different numbers of nodes")))
        };
        let each = |f: &dyn Fn(&LossReport) -> f64| self.0.iter().map(f).collect::<Vec<f64>>();
        let answer = PyDict::new(py);
        answer.set_item("unit", table(unit)?)?;
        answer.set_item("lower", table(lower)?)?;
        let coalitions: Vec<_> = self.0.iter().map(|report| report.coalition.clone()).collect();
        answer.set_item("coalitions", coalitions)?;
        answer.set_item("grades", self.0.iter().map(|report| class(report.grade())).collect::<Vec<_>>())?;
        answer.set_item("ranks", self.0.iter().map(|report| report.rank).collect::<Vec<_>>())?;
        answer.set_item("bits", self.0.iter().map(|report| report.bits).collect::<Vec<_>>())?;
        answer.set_item("failures", each(&|report| report.failure))?;
        answer.set_item("means", each(&|report| *report.mean().value()))?;
        let means = self.0.iter().map(|report| class(report.mean().grade()));
        answer.set_item("mean_grades", means.collect::<Vec<_>>())?;
        Ok(answer)
    }
}

/// Numbers that follow from unit losses, and whether all of them are exact if the losses are.
type Followed<'py> = (Bound<'py, PyArray1<f64>>, bool);

/// `f` of the Gaussian parameter of every unit loss: nonnegative, above 1 where values leave their node more
/// than once.
fn map<'py>(
    py: Python<'py>,
    units: &PyReadonlyArray1<'py, f64>,
    (sigma, sensitivity): (f64, f64),
    f: impl Fn(Guarantee<Gdp>) -> Result<Guarantee<f64>, Fault> + Sync + Send,
) -> Result<Followed<'py>, Fault> {
    let units: Vec<f64> = units.as_array().to_vec();
    let (sensitivity, sigma) = (Sensitivity::new(sensitivity)?, Sigma::new(sigma)?);
    let (values, exact) = py.detach(|| -> Result<(Vec<f64>, bool), Fault> {
        let (mut values, mut exact) = (Vec::with_capacity(units.len()), true);
        for unit in units {
            let unit = UnitLoss::of_releases(unit)?;
            let gdp = unit.gdp(sensitivity, sigma);
            // Beyond all floats a finite parameter is a bound, and below the normal ones it has few digits.
            let known = gdp.mu() == 0.0 || gdp.mu().is_normal() || unit.get().is_infinite();
            let found = f(Exact::new(gdp).into())?;
            exact &= known && found.grade() == Grade::Exact;
            values.push(found.into_value());
        }
        Ok((values, exact))
    })?;
    Ok((PyArray1::from_vec(py, values), exact))
}

/// `μ = (Δ/σ) √unit` of every unit loss, rounded up.
#[pyfunction]
pub(crate) fn mu_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    sensitivity: f64,
) -> Result<Followed<'py>, Fault> {
    map(py, &units, (sigma, sensitivity), |gdp| Ok(gdp.map(Gdp::mu)))
}

/// The `ε` at `δ` of every unit loss.
#[pyfunction]
pub(crate) fn epsilon_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    delta: f64,
    sensitivity: f64,
) -> Result<Followed<'py>, Fault> {
    let delta = Delta::new(delta)?;
    map(py, &units, (sigma, sensitivity), |gdp| Ok(gdp.value().epsilon(delta)))
}

/// The `δ` at `ε` of every unit loss.
#[pyfunction]
pub(crate) fn delta_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    epsilon: f64,
    sensitivity: f64,
) -> Result<Followed<'py>, Fault> {
    map(py, &units, (sigma, sensitivity), |gdp| Ok(gdp.value().delta(epsilon)?))
}

/// The Rényi loss at an order of every unit loss, in nats.
#[pyfunction]
pub(crate) fn rdp_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    order: f64,
    sensitivity: f64,
) -> Result<Followed<'py>, Fault> {
    let order = Order::new(order)?;
    map(py, &units, (sigma, sensitivity), |gdp| Ok(gdp.value().rdp(order)))
}

/// The `ε` at `δ` of a Gaussian parameter `μ`, and whether it is exact if `μ` is.
#[pyfunction]
pub(crate) fn epsilon_of_mu(mu: f64, delta: f64) -> Result<(f64, bool), Fault> {
    let found = Gdp::new(mu)?.epsilon(Delta::new(delta)?);
    Ok((found.into_value(), found.grade() == Grade::Exact))
}

/// Reports rebuilt from arrays, as accounts.
fn recorded(
    unit: &PyReadonlyArray2<'_, f64>,
    lower: &PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: &[bool],
) -> Result<Vec<Box<dyn Account>>, Fault> {
    let (unit, lower) = (unit.as_array(), lower.as_array());
    if unit.dim() != lower.dim() || unit.nrows() != coalitions.len() || exact.len() != coalitions.len() {
        return Err(Fault::new("the parts of the reports differ in size"));
    }
    let rows = coalitions.into_iter().zip(exact).enumerate();
    Ok(rows
        .map(|(i, (coalition, &exact))| {
            let observer = coalition.first().copied().unwrap_or(0);
            let loss = ObserverLoss { observer, unit: unit.row(i).to_vec() };
            let loss: Guarantee<ObserverLoss> =
                if exact { Exact::new(loss).into() } else { UpperBound::new(loss).into() };
            let mut report = LossReport::of_formula(coalition, loss, 0);
            report.lower = lower.row(i).to_vec();
            report.into()
        })
        .collect())
}

/// The terms of losses: a Rényi loss at an order, the `ε` at a `δ`, or `μ`.
pub(crate) fn measure(order: Option<f64>, delta: Option<f64>) -> Result<Measure, Fault> {
    Ok(match (order, delta) {
        (Some(order), None) => Measure::Renyi(Order::new(order)?),
        (None, Some(delta)) => Measure::Approx(Delta::new(delta)?),
        (None, None) => Measure::Gaussian,
        (Some(_), Some(_)) => return Err(Fault::new("give an order or a delta, not both")),
    })
}

/// A target on its way from Python: the limits (one number, or `n` by `n`: row exposed, column observer), whether they are
/// for means, an order, a delta.
pub(crate) type Limits<'py> = (PyReadonlyArray2<'py, f64>, bool, Option<f64>, Option<f64>);

/// The target that Python asks for.
pub(crate) fn target((limits, mean, order, delta): Limits<'_>, nodes: usize) -> Result<Target, Fault> {
    let measure = measure(order, delta)?;
    let limits = limits.as_array();
    let allowed = match (limits.dim(), mean) {
        ((1, 1), false) => Allowed::Worst(limits[(0, 0)]),
        ((1, 1), true) => Allowed::Mean(limits[(0, 0)]),
        (shape, false) if shape == (nodes, nodes) => {
            let limits = limits.to_owned();
            // An outsider has no column: nothing limits it.
            return Ok(Target::pairs(measure, move |u, v| {
                limits.get((u, v)).copied().unwrap_or(f64::INFINITY)
            }));
        }
        ((rows, columns), _) => {
            let message =
                format!("the limits must be one number or {nodes} by {nodes}, got {rows} by {columns}");
            return Err(Fault::new(message));
        }
    };
    Ok(Target { measure, allowed })
}

/// A pair: exposed node, members of the observer, loss, its grade.
type Pair = (usize, Vec<usize>, f64, &'static str);

fn pair(pair: ndp_account::Pair) -> Pair {
    (pair.source, pair.observer.members().to_vec(), *pair.loss.value(), class(pair.loss.grade()))
}

/// The noise that a search found, and the pair that needs it.
pub(crate) type Least = (f64, Option<Pair>);

pub(crate) fn least(found: &ndp_account::LeastNoise, sensitivity: f64) -> Result<Least, Fault> {
    Ok((sigma_of(found.noise, sensitivity)?, found.tightest.clone().map(pair)))
}

/// What a check found: the verdict, how many pairs exceed, and the pair that uses up most.
pub(crate) type Checked = (&'static str, usize, Option<Pair>);

pub(crate) fn checked(found: &ndp_account::Check) -> Checked {
    (verdict(found.verdict), found.exceeding, found.tightest.clone().map(pair))
}

pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::NotShown => "not shown",
        Verdict::Violated => "violated",
    }
}

/// The least noise at which losses that were computed before meet a target.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn least_sigma(
    py: Python<'_>,
    unit: PyReadonlyArray2<'_, f64>,
    lower: PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: Vec<bool>,
    limits: Limits<'_>,
    sensitivity: f64,
) -> Result<Least, Fault> {
    let target = target(limits, unit.as_array().ncols())?;
    let accounts = recorded(&unit, &lower, coalitions, &exact)?;
    least(&run(py, move || Ok(ndp_account::least_noise(&accounts, &target)?))?, sensitivity)
}

/// Whether losses that were computed before meet a target at a given noise.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn check(
    py: Python<'_>,
    unit: PyReadonlyArray2<'_, f64>,
    lower: PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: Vec<bool>,
    limits: Limits<'_>,
    sigma: f64,
    sensitivity: f64,
) -> Result<Checked, Fault> {
    let target = target(limits, unit.as_array().ncols())?;
    let accounts = recorded(&unit, &lower, coalitions, &exact)?;
    let noise = noise(sigma, sensitivity)?;
    Ok(checked(&run(py, move || Ok(ndp_account::check(&accounts, noise, &target)?))?))
}

/// The words of the grades, which Python's classes carry too.
#[pyfunction]
pub(crate) fn grade_word(name: &str) -> Option<&'static str> {
    match name {
        "Exact" => Some(Grade::Exact.as_str()),
        "UpperBound" => Some(Grade::UpperBound.as_str()),
        "Printed" => Some(Grade::Printed.as_str()),
        "Estimate" => Some(Grade::Estimate.as_str()),
        _ => None,
    }
}
