//! Graded numbers: the four grades of `ndp-dp` as the four Python classes.

use crate::errors::Fault;
use ndarray::Array2;
use ndp_dp::{Estimate, Exact, Grade, Guarantee, Neighbors, Printed, Sigma, UnitLoss, UpperBound};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};
use std::fmt;

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

    /// An epsilon at a delta.
    pub(crate) fn epsilon<G: Graded<Value: Into<Value>>>(graded: G, delta: f64) -> Self {
        Self::new(graded, "epsilon").with("delta", delta)
    }

    /// A delta at an epsilon.
    pub(crate) fn delta<G: Graded<Value: Into<Value>>>(graded: G, epsilon: f64) -> Self {
        Self::new(graded, "delta").with("epsilon", epsilon)
    }

    /// A number of a grade that was taken apart before.
    pub(crate) fn of(grade: Grade, value: impl Into<Value>, what: impl Into<String>) -> Self {
        Self { grade, value: value.into(), what: what.into(), detail: Vec::new() }
    }

    /// The same, of no better grade than what it was computed from.
    pub(crate) fn no_better_than(mut self, given: Grade) -> Self {
        self.grade = self.grade.max(given);
        self
    }

    /// The same, about these pairs of data sets, where they are known.
    pub(crate) fn between(self, relation: Option<Neighbors>) -> Self {
        match relation {
            Some(relation) => self.with(NEIGHBORS, relation.to_string()),
            None => self,
        }
    }

    /// The same with something that belongs to it.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.detail.push((name, value.into()));
        self
    }
}

/// What a number is told with that says which data sets it compares.
const NEIGHBORS: &str = "neighbors";

/// The relation in these words.
pub(crate) fn relation(words: &str) -> Result<Neighbors, Fault> {
    let known = [Neighbors::ReplaceOne, Neighbors::AddOrRemove];
    let found = known.into_iter().find(|relation| relation.to_string() == words);
    found.ok_or_else(|| {
        let [one, other] = known.map(|relation| relation.to_string());
        Fault::new(format!("neighbors must be {one:?} or {other:?}, got {words:?}"))
    })
}

/// The relation of costs that are to be added up, and of one more; `None` where nothing is said.
pub(crate) fn same(so_far: Option<Neighbors>, next: Option<Neighbors>) -> Result<Option<Neighbors>, Fault> {
    match (so_far, next) {
        (Some(so_far), Some(next)) if so_far != next => Err(Fault::new(format!(
            "costs for different neighbors do not add up: {so_far} so far, {next} in this release"
        ))),
        _ => Ok(so_far.or(next)),
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

/// A noise that a caller gives: a plain number, or a guarantee that says it is one. A noise that is needed is
/// shown rounded up.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Noise(pub(crate) f64);

impl fmt::Debug for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Noise {
    type Error = PyErr;

    fn extract(number: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(told(&number, "sigma", "")?.value))
    }
}

impl<'py> IntoPyObject<'py> for Noise {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("ndp._rounded")?.getattr("UpperEnd")?.call1((self.0,))
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
    PyTypeError::new_err(format!("a number that is {needed:?} is needed, got {got}"))
}

/// Refuses what holds at another order or epsilon (the `key`) than the one asked for.
fn holds_at(what: &str, key: &str, asked: f64, at: Option<f64>) -> PyResult<()> {
    match at {
        Some(at) if at != asked => Err(PyTypeError::new_err(format!(
            "the {what} at {key} {asked} is needed, got that at {key} {at}"
        ))),
        _ => Ok(()),
    }
}

/// A guarantee that says it is a Rényi loss, at the order asked for.
pub(crate) fn renyi_loss(answer: &Bound<'_, PyAny>, order: f64) -> PyResult<Guarantee<f64>> {
    let loss = guarantee(answer)?;
    let got = what(answer)?.unwrap_or_default();
    if got != "Rényi loss" {
        return Err(another("Rényi loss", &got));
    }
    holds_at("Rényi loss", "order", order, beside(answer, "order")?)?;
    Ok(loss)
}

/// A guarantee that says it is a delta, at the epsilon asked for.
pub(crate) fn delta(answer: &Bound<'_, PyAny>, epsilon: f64) -> PyResult<Guarantee<f64>> {
    let delta = guarantee(answer)?;
    let got = what(answer)?.unwrap_or_default();
    if got != "delta" {
        return Err(another("delta", &got));
    }
    holds_at("delta", "epsilon", epsilon, beside(answer, "epsilon")?)?;
    Ok(delta)
}

/// A number that a caller gives: its grade, and at which delta or order it holds where it says so.
struct Told {
    value: f64,
    grade: Grade,
    at: Option<f64>,
    relation: Option<Neighbors>,
}

/// A plain number, which the caller answers for, or a guarantee that says it is what is needed.
fn told(number: &Bound<'_, PyAny>, needed: &str, key: &str) -> PyResult<Told> {
    match what(number)? {
        Some(got) if !got.is_empty() && got != needed => Err(another(needed, &got)),
        // In this order: what is no guarantee says so itself when it is to be a float.
        Some(_) => {
            let words: Option<String> =
                number.getattr("detail")?.call_method1("get", (NEIGHBORS,))?.extract()?;
            Ok(Told {
                value: number.extract()?,
                grade: guarantee(number)?.grade(),
                at: beside(number, key)?,
                relation: words.map(|words| relation(&words)).transpose()?,
            })
        }
        None => Ok(Told { value: number.extract()?, grade: Grade::Exact, at: None, relation: None }),
    }
}

/// A parameter: a number that a guarantee of anything has no business in.
pub(crate) fn plain(number: &Bound<'_, PyAny>) -> PyResult<f64> {
    match what(number)? {
        Some(got) if !got.is_empty() => {
            Err(PyTypeError::new_err(format!("a plain number is needed, got one that is {got:?}")))
        }
        _ => number.extract(),
    }
}

/// A count, refused by a message that names it.
pub(crate) fn count(number: &Bound<'_, PyAny>) -> PyResult<u64> {
    number.extract().map_err(|error| no_count(number, error, u64::MAX))
}

/// A count that fits into 32 bits.
pub(crate) fn count_of_32(number: &Bound<'_, PyAny>) -> PyResult<u32> {
    number.extract().map_err(|error| no_count(number, error, u32::MAX.into()))
}

fn no_count(number: &Bound<'_, PyAny>, error: PyErr, most: u64) -> PyErr {
    let overflow = error.is_instance_of::<PyOverflowError>(number.py());
    match number.repr().map(|digits| digits.to_string()) {
        // What is no whole number at all is named by the argument.
        Ok(digits) if overflow && digits.len() < 50 => {
            Fault::new(format!("a count must be a whole number from 0 to {most}, got {digits}")).into()
        }
        Ok(_) if overflow => Fault::new(format!("a count must be a whole number from 0 to {most}")).into(),
        _ => error,
    }
}

/// A delta at which something is asked.
pub(crate) fn a_delta(number: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(told(number, "delta", "")?.value)
}

/// An epsilon at which something is asked.
pub(crate) fn an_epsilon(number: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(told(number, "epsilon", "")?.value)
}

/// A Gaussian parameter as one of several.
pub(crate) fn a_mu(number: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(told(number, "mu", "")?.value)
}

macro_rules! given {
    ($($(#[$doc:meta])* $name:ident is $what:literal at $key:literal),*) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name(Told);

            impl<'a, 'py> FromPyObject<'a, 'py> for $name {
                type Error = PyErr;

                fn extract(number: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                    told(&number, $what, $key).map(Self)
                }
            }
        )*
    };
}

given! {
    /// A Gaussian parameter that a caller gives: a plain number, or a guarantee that says it is one.
    Mu is "mu" at "",
    /// A Rényi loss in nats that a caller gives, and its order where it says so.
    Nats is "Rényi loss" at "order",
    /// An epsilon that a caller gives, and the delta at which it holds where it says so.
    Epsilon is "epsilon" at "delta",
    /// The delta of a release that a caller gives.
    Slack is "delta" at ""
}

/// What holds at no order, delta or epsilon of its own.
macro_rules! everywhere {
    ($($name:ident),*) => {
        $(impl $name {
            pub(crate) fn value(&self) -> f64 {
                self.0.value
            }

            /// Its grade, which nothing that is computed from it exceeds; a plain number is exact.
            pub(crate) fn grade(&self) -> Grade {
                self.0.grade
            }
        })*
    };
}

everywhere!(Mu, Slack);

/// What says, or may say, which data sets it compares.
macro_rules! related {
    ($($name:ident),*) => {
        $(impl $name {
            pub(crate) fn relation(&self) -> Option<Neighbors> {
                self.0.relation
            }
        })*
    };
}

related!(Nats, Epsilon);

impl Nats {
    /// Its value, where it is of this order.
    pub(crate) fn at(&self, order: f64) -> Result<f64, Fault> {
        holds_at("Rényi loss", "order", order, self.0.at)?;
        Ok(self.0.value)
    }
}

impl Epsilon {
    /// Its value, where it holds at `delta`.
    pub(crate) fn at(&self, delta: f64) -> Result<f64, Fault> {
        match self.0.at {
            Some(at) if at > delta => {
                Err(Fault::new(format!("this epsilon holds at delta {at} and above, not at {delta}")))
            }
            _ => Ok(self.0.value),
        }
    }

    /// Refuses what is said of other data sets than those that a theorem compares.
    pub(crate) fn require(&self, needed: Neighbors) -> Result<(), Fault> {
        match self.relation() {
            Some(other) if other != needed => {
                Err(Fault::new(format!("this theorem is about {needed}, and the epsilon about {other}")))
            }
            _ => Ok(()),
        }
    }

    /// Its grade at `delta`: at a larger one than its own it is an upper bound.
    pub(crate) fn grade(&self, delta: f64) -> Grade {
        if self.0.at.is_some_and(|at| at != delta) { Grade::UpperBound } else { self.0.grade }
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
        Err(PyTypeError::new_err(message))
    }
}
