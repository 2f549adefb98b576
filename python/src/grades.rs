//! Graded numbers: the four grades of `ndp-dp` as the four Python classes.

use crate::errors::Fault;
use ndarray::Array2;
use ndp_dp::{Estimate, Exact, Grade, Guarantee, Printed, Sigma, UnitLoss, UpperBound};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

/// A number on its way to Python: what it is worth, what it is, and what else came with it.
pub(crate) struct Number {
    grade: Grade,
    value: Value,
    what: String,
    detail: Vec<(&'static str, Value)>,
}

/// What a number, or something that comes with one, may be.
#[derive(Clone)]
pub(crate) enum Value {
    Float(f64),
    Count(u64),
    Text(String),
    Flag(bool),
    Row(Vec<f64>),
    Table(Array2<f64>),
}

/// Takes a graded value apart.
pub(crate) trait Graded {
    type Value;
    fn parts(self) -> (Grade, Self::Value);
}

macro_rules! parts {
    ($($grade:ident),*) => {
        $(impl<T> Graded for $grade<T> {
            type Value = T;
            fn parts(self) -> (Grade, T) {
                (self.grade(), self.into_value())
            }
        })*
    };
}

parts!(Exact, UpperBound, Printed, Estimate, Guarantee);

impl Number {
    /// A graded number and what it is: `epsilon`, `delta`, `mu`, …
    pub(crate) fn new<G: Graded<Value: Into<Value>>>(graded: G, what: impl Into<String>) -> Self {
        let (grade, value) = graded.parts();
        Self { grade, value: value.into(), what: what.into(), detail: Vec::new() }
    }

    /// A number of a grade that was taken apart before.
    pub(crate) fn of(grade: Grade, value: impl Into<Value>, what: impl Into<String>) -> Self {
        Self { grade, value: value.into(), what: what.into(), detail: Vec::new() }
    }

    /// The same with something that belongs to it.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.detail.push((name, value.into()));
        self
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<Sigma> for Value {
    fn from(x: Sigma) -> Self {
        Self::Float(x.get())
    }
}

impl From<UnitLoss> for Value {
    fn from(x: UnitLoss) -> Self {
        Self::Float(x.get())
    }
}

impl From<u64> for Value {
    fn from(x: u64) -> Self {
        Self::Count(x)
    }
}

impl From<usize> for Value {
    fn from(x: usize) -> Self {
        Self::Count(x as u64)
    }
}

impl From<bool> for Value {
    fn from(x: bool) -> Self {
        Self::Flag(x)
    }
}

impl From<&str> for Value {
    fn from(x: &str) -> Self {
        Self::Text(x.to_owned())
    }
}

impl From<String> for Value {
    fn from(x: String) -> Self {
        Self::Text(x)
    }
}

impl From<Vec<f64>> for Value {
    fn from(x: Vec<f64>) -> Self {
        Self::Row(x)
    }
}

impl From<Array2<f64>> for Value {
    fn from(x: Array2<f64>) -> Self {
        Self::Table(x)
    }
}

impl<'py> IntoPyObject<'py> for Value {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Float(x) => x.into_pyobject(py)?.into_any(),
            Self::Count(x) => x.into_pyobject(py)?.into_any(),
            Self::Text(x) => x.into_pyobject(py)?.into_any(),
            Self::Flag(x) => x.into_pyobject(py)?.to_owned().into_any(),
            Self::Row(x) => PyArray1::from_vec(py, x).into_any(),
            Self::Table(x) => PyArray2::from_owned_array(py, x).into_any(),
        })
    }
}

impl<'py> IntoPyObject<'py> for Number {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        let module = MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("ndp._grades")?.unbind()))?;
        let detail = PyDict::new(py);
        for (name, value) in self.detail {
            detail.set_item(name, value)?;
        }
        module.bind(py).getattr(class(self.grade))?.call1((self.value, self.what, detail))
    }
}

/// A lower bound on its way to Python, where it is shown rounded down.
pub(crate) struct Lower(pub(crate) f64);

impl<'py> IntoPyObject<'py> for Lower {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("ndp._rounded")?.getattr("LowerEnd")?.call1((self.0,))
    }
}

/// The Python class of a grade.
pub(crate) fn class(grade: Grade) -> &'static str {
    match grade {
        Grade::Exact => "Exact",
        Grade::UpperBound => "UpperBound",
        Grade::Printed => "Printed",
        Grade::Estimate => "Estimate",
    }
}

/// What a number that Python gives says it is: `epsilon`, `mu`, …; `None` for a plain number.
fn what(number: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let graded = number.py().import("ndp._grades")?.getattr("Graded")?;
    if !number.is_instance(&graded)? {
        return Ok(None);
    }
    number.getattr("what")?.extract().map(Some)
}

/// What belongs to a number, where it says so: the delta of an epsilon, the order of a Rényi loss.
fn beside(number: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<f64>> {
    number.getattr("detail")?.call_method1("get", (name,))?.extract()
}

fn another(needed: &str, got: &str) -> PyErr {
    let got =
        if got.is_empty() { "a number that does not say what it is".to_owned() } else { format!("{got:?}") };
    pyo3::exceptions::PyTypeError::new_err(format!("a number that is {needed:?} is needed, got {got}"))
}

/// A guarantee that says it is a Rényi loss, at the order asked for.
pub(crate) fn renyi_loss(answer: &Bound<'_, PyAny>, order: f64) -> PyResult<Guarantee<f64>> {
    let loss = guarantee(answer)?;
    let got = what(answer)?.unwrap_or_default();
    if got != "Rényi loss" {
        return Err(another("Rényi loss", &got));
    }
    match beside(answer, "order")? {
        Some(at) if at != order => {
            let message = format!("the Rényi loss at order {order} is needed, got that at order {at}");
            Err(pyo3::exceptions::PyTypeError::new_err(message))
        }
        _ => Ok(loss),
    }
}

/// A guarantee that says it is a delta.
pub(crate) fn delta(answer: &Bound<'_, PyAny>) -> PyResult<Guarantee<f64>> {
    let delta = guarantee(answer)?;
    match what(answer)?.unwrap_or_default() {
        got if got == "delta" => Ok(delta),
        got => Err(another("delta", &got)),
    }
}

macro_rules! given {
    ($($(#[$doc:meta])* $name:ident is $what:literal),*) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name(pub(crate) f64);

            impl<'a, 'py> FromPyObject<'a, 'py> for $name {
                type Error = PyErr;

                fn extract(number: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                    match what(&number)? {
                        Some(got) if !got.is_empty() && got != $what => Err(another($what, &got)),
                        _ => Ok(Self(number.extract()?)),
                    }
                }
            }
        )*
    };
}

given! {
    /// A Gaussian parameter that a caller gives: a plain number, or a guarantee that says it is one.
    Mu is "mu",
    /// A Rényi loss in nats that a caller gives.
    Nats is "Rényi loss"
}

/// An epsilon that a caller gives, and the delta at which it holds where it says so.
pub(crate) struct Epsilon {
    value: f64,
    at: Option<f64>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Epsilon {
    type Error = PyErr;

    fn extract(number: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match what(&number)? {
            Some(got) if !got.is_empty() && got != "epsilon" => Err(another("epsilon", &got)),
            Some(_) => Ok(Self { value: number.extract()?, at: beside(&number, "delta")? }),
            None => Ok(Self { value: number.extract()?, at: None }),
        }
    }
}

impl Epsilon {
    /// Its value, where it holds at `delta`.
    pub(crate) fn at(&self, delta: f64) -> Result<f64, Fault> {
        match self.at {
            Some(at) if at > delta => {
                Err(Fault::new(format!("this epsilon holds at delta {at} and above, not at {delta}")))
            }
            _ => Ok(self.value),
        }
    }
}

/// A number that Python says is a guarantee: an `Exact` or an `UpperBound`, nothing else.
pub(crate) fn guarantee(answer: &Bound<'_, PyAny>) -> PyResult<Guarantee<f64>> {
    let grades = answer.py().import("ndp._grades")?;
    let value = || answer.getattr("value")?.extract::<f64>();
    if answer.is_instance(&grades.getattr("Exact")?)? {
        Ok(Exact::new(value()?).into())
    } else if answer.is_instance(&grades.getattr("UpperBound")?)? {
        Ok(UpperBound::new(value()?).into())
    } else {
        let kind = answer.get_type().qualname()?;
        let message = format!("a guarantee is needed, an ndp.Exact or an ndp.UpperBound, got {kind}");
        Err(pyo3::exceptions::PyTypeError::new_err(message))
    }
}
