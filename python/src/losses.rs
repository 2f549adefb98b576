//! Reports of losses as arrays, and what follows from unit losses.

use crate::errors::Fault;
use crate::grades::class;
use ndarray::Array2;
use ndp_algos::LossReport;
use ndp_algos::target::{self, Measure, Scales, Verdict};
use ndp_dp::{
    Delta, Exact, Gdp, Grade, Guarantee, ObserverLoss, Order, Sensitivity, Sigma, UnitLoss, UpperBound,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What several coalitions learn.
pub(crate) struct Reports(pub(crate) Vec<LossReport>);

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
        answer
            .set_item("grades", self.0.iter().map(|report| class(report.loss.grade())).collect::<Vec<_>>())?;
        answer.set_item("ranks", self.0.iter().map(|report| report.rank).collect::<Vec<_>>())?;
        answer.set_item("bits", self.0.iter().map(|report| report.bits).collect::<Vec<_>>())?;
        answer.set_item("failures", each(&|report| report.failure))?;
        answer.set_item("means", each(&|report| *report.mean().value()))?;
        let means = self.0.iter().map(|report| class(report.mean().grade()));
        answer.set_item("mean_grades", means.collect::<Vec<_>>())?;
        Ok(answer)
    }
}

/// `f` of every unit loss; losses above 1, which a protocol without local noise may have, are refused.
fn map<'py>(
    py: Python<'py>,
    units: &PyReadonlyArray1<'py, f64>,
    f: impl Fn(UnitLoss) -> Result<f64, Fault> + Sync + Send,
) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
    let units: Vec<f64> = units.as_array().to_vec();
    let values = py.detach(|| -> Result<Vec<f64>, Fault> {
        units.into_iter().map(|unit| f(UnitLoss::new(unit)?)).collect()
    })?;
    Ok(PyArray1::from_vec(py, values))
}

/// `μ = (Δ/σ) √unit` of every unit loss, rounded up.
#[pyfunction]
pub(crate) fn mu_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    sensitivity: f64,
) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
    let (sensitivity, sigma) = (Sensitivity::new(sensitivity)?, Sigma::new(sigma)?);
    map(py, &units, |unit| Ok(unit.mu(sensitivity, sigma)))
}

/// The `ε` at `δ` of every unit loss.
#[pyfunction]
pub(crate) fn epsilon_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    delta: f64,
    sensitivity: f64,
) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
    let (sensitivity, sigma, delta) =
        (Sensitivity::new(sensitivity)?, Sigma::new(sigma)?, Delta::new(delta)?);
    map(py, &units, |unit| Ok(unit.gdp(sensitivity, sigma).to_approx_dp(delta).value().epsilon()))
}

/// The `δ` at `ε` of every unit loss.
#[pyfunction]
pub(crate) fn delta_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    epsilon: f64,
    sensitivity: f64,
) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
    let (sensitivity, sigma) = (Sensitivity::new(sensitivity)?, Sigma::new(sigma)?);
    map(py, &units, |unit| Ok(*unit.gdp(sensitivity, sigma).delta(epsilon)?.value()))
}

/// The Rényi loss at an order of every unit loss, in nats.
#[pyfunction]
pub(crate) fn rdp_of_units<'py>(
    py: Python<'py>,
    units: PyReadonlyArray1<'py, f64>,
    sigma: f64,
    order: f64,
    sensitivity: f64,
) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
    let (sensitivity, sigma, order) =
        (Sensitivity::new(sensitivity)?, Sigma::new(sigma)?, Order::new(order)?);
    map(py, &units, |unit| Ok(unit.rdp(order, sensitivity, sigma)))
}

/// The `ε` at `δ` of a Gaussian parameter `μ`.
#[pyfunction]
pub(crate) fn epsilon_of_mu(mu: f64, delta: f64) -> Result<f64, Fault> {
    Ok(Gdp::new(mu)?.to_approx_dp(Delta::new(delta)?).value().epsilon())
}

/// Reports rebuilt from arrays.
fn reports(
    unit: &PyReadonlyArray2<'_, f64>,
    lower: &PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: &[bool],
) -> Result<Vec<LossReport>, Fault> {
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
            report
        })
        .collect())
}

fn measure(order: Option<f64>, delta: Option<f64>) -> Result<Measure, Fault> {
    Ok(match (order, delta) {
        (Some(order), None) => Measure::Renyi(Order::new(order)?),
        (None, Some(delta)) => Measure::Approx(Delta::new(delta)?),
        (None, None) => Measure::Gaussian,
        (Some(_), Some(_)) => return Err(Fault::new("give an order or a delta, not both")),
    })
}

/// The limit of a pair: `allowed[(u, v)]`, or one number for all.
fn limit(allowed: PyReadonlyArray2<'_, f64>, nodes: usize) -> Result<impl FnMut(usize, usize) -> f64, Fault> {
    let allowed = allowed.as_array().to_owned();
    if allowed.dim() != (1, 1) && allowed.dim() != (nodes, nodes) {
        let (rows, columns) = allowed.dim();
        let message = format!("the limits must be one number or {nodes} by {nodes}, got {rows} by {columns}");
        return Err(Fault::new(message));
    }
    Ok(move |u, v| if allowed.len() == 1 { allowed[(0, 0)] } else { allowed[(u, v)] })
}

/// The least noise at which every loss is at most what is allowed: noise, source, observer, loss, its grade.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn least_sigma(
    unit: PyReadonlyArray2<'_, f64>,
    lower: PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: Vec<bool>,
    allowed: PyReadonlyArray2<'_, f64>,
    order: Option<f64>,
    delta: Option<f64>,
    sensitivity: f64,
) -> Result<(f64, usize, usize, f64, &'static str), Fault> {
    let nodes = unit.as_array().ncols();
    let reports = reports(&unit, &lower, coalitions, &exact)?;
    let scales = Scales { measure: measure(order, delta)?, sensitivity: Sensitivity::new(sensitivity)? };
    let found = target::least_sigma(&reports, scales, limit(allowed, nodes)?)?;
    let pair = found.tightest;
    Ok((found.sigma.get(), pair.source, pair.observer, *pair.loss.value(), class(pair.loss.grade())))
}

/// What a check found: the verdict, how many pairs exceed, and the pair that needs the most noise with its loss.
type Checked = (&'static str, usize, Option<(usize, usize, f64, &'static str)>);

/// Whether every loss is at most what is allowed at a given noise.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn check(
    unit: PyReadonlyArray2<'_, f64>,
    lower: PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: Vec<bool>,
    allowed: PyReadonlyArray2<'_, f64>,
    order: Option<f64>,
    delta: Option<f64>,
    sensitivity: f64,
    sigma: f64,
) -> Result<Checked, Fault> {
    let nodes = unit.as_array().ncols();
    let reports = reports(&unit, &lower, coalitions, &exact)?;
    let scales = Scales { measure: measure(order, delta)?, sensitivity: Sensitivity::new(sensitivity)? };
    let found = target::check(&reports, scales, Sigma::new(sigma)?, limit(allowed, nodes)?)?;
    let verdict = match found.verdict {
        Verdict::Met => "met",
        Verdict::NotShown => "not shown",
        Verdict::Violated => "violated",
    };
    let pair = found.tightest;
    let pair = pair.map(|pair| (pair.source, pair.observer, *pair.loss.value(), class(pair.loss.grade())));
    Ok((verdict, found.exceeding, pair))
}

/// The least noise at which the mean Rényi loss towards every observer is at most `target` nats.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn least_sigma_of_means(
    unit: PyReadonlyArray2<'_, f64>,
    lower: PyReadonlyArray2<'_, f64>,
    coalitions: Vec<Vec<usize>>,
    exact: Vec<bool>,
    target: f64,
    order: f64,
    sensitivity: f64,
) -> Result<f64, Fault> {
    let reports = reports(&unit, &lower, coalitions, &exact)?;
    let scales = (Order::new(order)?, Sensitivity::new(sensitivity)?);
    Ok(target::least_sigma_of_observer_means(&reports, scales, target)?.get())
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
