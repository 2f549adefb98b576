//! What a program tells beside the one question: verdicts, Gram matrices, proofs for third parties, runs.

use crate::declaration::{Declaration, Number, Options, table, weights};
use crate::errors::Fault;
use crate::grades;
use crate::program::{Program, Stated};
use crate::question::{Who, generator, observer};
use crate::worker::{Stopped, run, run_until};
use ndarray::Array2;
use ndp_account::Observer;
use ndp_dp::NoiseMultiplier;
use ndp_program::{
    Dependence, NodeVerdict, Program as Inner, ProgramAccount as Answered, Run, Value, Weight, Witness,
    inverse_of_lower, toeplitz,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Values and their weights, as ratios in text.
type Terms = Vec<(usize, String)>;

fn terms(terms: &[(Value, Weight)]) -> Terms {
    terms.iter().map(|(value, weight)| (usize::from(*value), weight.to_string())).collect()
}

/// Values and their weights, as Python has them.
fn given(stated: &Stated, terms: Vec<(usize, Number)>) -> Result<Vec<(Value, Weight)>, Fault> {
    terms.into_iter().map(|(value, weight)| Ok((stated.value(value)?, weight.weight()?))).collect()
}

/// What one observer learns about every node of a program.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct ProgramAccount {
    account: Arc<Answered>,
    program: Arc<Inner>,
}

/// A loss with its lower end; or the change that is seen without noise and the messages that show it.
type Found = (Option<(grades::Number, f64)>, Option<(Vec<f64>, Option<Terms>)>);

#[pymethods]
impl ProgramAccount {
    /// What is proven about a node under a sensitivity set.
    fn verdict(&self, py: Python<'_>, source: usize, set: Declaration) -> Result<Found, Fault> {
        let (account, set) = (Arc::clone(&self.account), set.set()?);
        run(py, move || {
            Ok(match account.verdict(source, &set)? {
                NodeVerdict::Bounded(loss) => {
                    (Some((grades::Number::new(loss.value, "unit loss"), loss.lower)), None)
                }
                NodeVerdict::Noiseless { change, combination } => {
                    (None, Some((change, combination.map(|shown| terms(&shown)))))
                }
            })
        })
    }

    /// The Gram matrix of the uses of a node, and how far the truth may be from each entry.
    #[allow(clippy::type_complexity, reason = "two tables")]
    fn gram<'py>(
        &self,
        py: Python<'py>,
        source: usize,
    ) -> Result<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>), Fault> {
        let uses = self.program.uses(source);
        ndp_linalg::memory::require_dense("a Gram matrix", uses, uses)?;
        let account = Arc::clone(&self.account);
        let (middle, apart) = run(py, move || {
            let mut found = (Array2::zeros((uses, uses)), Array2::zeros((uses, uses)));
            for i in 0..uses {
                for j in 0..uses {
                    (found.0[(i, j)], found.1[(i, j)]) = account.gram(source, i, j)?;
                }
            }
            // A node that contributes nothing is refused in the same words as by the account.
            if uses == 0 {
                account.loss(source, &ndp_program::SensitivitySet::UseLevel)?;
            }
            Ok(found)
        })?;
        Ok((PyArray2::from_owned_array(py, middle), PyArray2::from_owned_array(py, apart)))
    }

    /// Rank of what is seen, bits of the arithmetic, failure probability, on what contributions were taken to depend.
    fn facts(&self) -> (usize, u32, f64, &'static str) {
        let facts = &self.account;
        let adaptivity = match facts.adaptivity {
            Dependence::Fixed => "fixed",
            Dependence::Checked => "checked",
            Dependence::Assumed => "assumed",
            Dependence::Revealed => "revealed",
            Dependence::RevealedAndAssumed => "revealed and assumed",
        };
        (facts.rank, facts.bits, facts.failure, adaptivity)
    }

    /// An attack on a change of the uses of a node, and the shift of noises that matches it.
    fn witnesses(&self, py: Python<'_>, source: usize, change: Vec<Number>) -> Result<(Terms, Terms), Fault> {
        let (account, change) = (Arc::clone(&self.account), weights(change)?);
        run(py, move || {
            let (attack, shift) = account.witnesses(source, &change)?;
            Ok((terms(&attack.terms), terms(&shift.terms)))
        })
    }
}

/// What an observer learns about every node of a program.
#[pyfunction]
pub(crate) fn program_account(
    py: Python<'_>,
    program: &Program,
    who: Who,
    options: Options,
) -> Result<ProgramAccount, Fault> {
    let program = Arc::new(program.lock()?.program.clone());
    let (who, options) = (observer(who), options.options()?);
    let stated = Arc::clone(&program);
    let account = run_until(py, move |stop| {
        let options = ndp_program::AccountOptions { stop: stop.clone(), ..options };
        Ok(stated.account_with(&who, &options)?)
    })?;
    Ok(ProgramAccount { account: Arc::new(account), program })
}

/// The loss that a combination of messages proves at least; `None` where it shows the change without noise.
#[pyfunction]
pub(crate) fn check_attack(
    py: Python<'_>,
    program: &Program,
    who: Who,
    source: usize,
    change: Vec<Number>,
    combination: Vec<(usize, Number)>,
) -> Result<Option<String>, Fault> {
    let (program, attack) = {
        let stated = program.lock()?;
        let combination = given(&stated, combination)?;
        (stated.program.clone(), Witness { source, change: weights(change)?, terms: combination })
    };
    let who: Observer = observer(who);
    run(py, move || Ok(program.check_attack(&who, &attack)?.map(|loss| loss.to_string())))
}

/// The loss that a shift of noises proves at most.
#[pyfunction]
pub(crate) fn check_shift(
    py: Python<'_>,
    program: &Program,
    who: Who,
    source: usize,
    change: Vec<Number>,
    noises: Vec<(usize, Number)>,
) -> Result<String, Fault> {
    let (program, shift) = {
        let stated = program.lock()?;
        let noises = given(&stated, noises)?;
        (stated.program.clone(), Witness { source, change: weights(change)?, terms: noises })
    };
    let who: Observer = observer(who);
    run(py, move || Ok(program.check_shift(&who, &shift)?.to_string()))
}

/// All values of a run, in order of time; `contribution(node, use, so_far)` is asked when one is due.
#[pyfunction]
pub(crate) fn run_program<'py>(
    py: Python<'py>,
    program: &Program,
    dimension: usize,
    sigma: f64,
    contribution: Py<PyAny>,
    seed: u64,
) -> Result<Bound<'py, PyArray2<f64>>, Fault> {
    let (program, noise) = (program.lock()?.program.clone(), NoiseMultiplier::new(sigma)?);
    ndp_linalg::memory::require_dense("the values of a run", program.values().len(), 2 * dimension)?;
    let stopped = Stopped::default();
    let stop = Arc::clone(&stopped.0);
    let values = run(py, move || simulate(&program, dimension, noise, &contribution, seed, &stop))?;
    Ok(PyArray2::from_owned_array(py, values))
}

fn simulate(
    program: &Inner,
    dimension: usize,
    noise: NoiseMultiplier,
    contribution: &Py<PyAny>,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Array2<f64>, Fault> {
    let so_far = Arc::new(Mutex::new(SoFar::default()));
    let mut raised = None;
    let ask = |node: usize, index: usize, run: &Run| -> Result<Vec<f64>, ndp_account::Error> {
        let refused = ndp_account::Error::NotOffered("a contribution was not given");
        if stop.load(Ordering::Relaxed) {
            return Err(refused);
        }
        so_far.lock().unwrap_or_else(PoisonError::into_inner).follow(program, run);
        let answer = Python::attach(|py| -> PyResult<Vec<f64>> {
            let run = RunSoFar { dimension, so_far: Arc::clone(&so_far) };
            let answer = contribution.bind(py).call1((node, index, run))?;
            Ok(answer.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
        });
        answer.map_err(|error| {
            raised = Some(error);
            refused
        })
    };
    let ran = program.run(dimension, noise, ask, &mut generator(seed));
    if let Some(error) = raised {
        return Err(Fault::Raised(error));
    }
    let mut so_far = so_far.lock().unwrap_or_else(PoisonError::into_inner);
    so_far.follow(program, &ran?);
    let (made, values) = (so_far.made, std::mem::take(&mut so_far.values));
    Array2::from_shape_vec((made, dimension), values).map_err(|_| Fault::new("a run of unequal values"))
}

/// The values that a run has made, copied once each.
#[derive(Default)]
struct SoFar {
    values: Vec<f64>,
    made: usize,
}

impl SoFar {
    /// Takes over what was made since the last time.
    fn follow(&mut self, program: &Inner, run: &Run) {
        while let Some(row) = program.values().nth(self.made).and_then(|value| run.value(value)) {
            self.values.extend(row);
            self.made += 1;
        }
    }
}

/// A run that has come to a contribution: the values before it.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct RunSoFar {
    dimension: usize,
    so_far: Arc<Mutex<SoFar>>,
}

#[pymethods]
impl RunSoFar {
    fn __len__(&self) -> usize {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner).made
    }

    /// A value that was made before.
    fn __getitem__<'py>(&self, py: Python<'py>, value: usize) -> Result<Bound<'py, PyArray1<f64>>, Fault> {
        let so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        if value >= so_far.made {
            let made = so_far.made;
            return Err(Fault::new(format!("value {value} is not made yet: the run has made {made}")));
        }
        let start = value * self.dimension;
        Ok(PyArray1::from_slice(py, &so_far.values[start..start + self.dimension]))
    }
}

/// Ratios in text, row by row.
fn texts(rows: Vec<Vec<Weight>>) -> Vec<Vec<String>> {
    rows.into_iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

/// The inverse of a lower triangular matrix.
#[pyfunction]
pub(crate) fn lower_inverse(rows: Vec<Vec<Number>>) -> Result<Vec<Vec<String>>, Fault> {
    Ok(texts(inverse_of_lower(&table(rows)?)?))
}

/// A banded lower triangular Toeplitz matrix.
#[pyfunction]
pub(crate) fn lower_toeplitz(steps: usize, band: Vec<Number>) -> Result<Vec<Vec<String>>, Fault> {
    ndp_linalg::memory::require_dense("a Toeplitz matrix", steps, 16 * steps)?;
    Ok(texts(toeplitz(steps, &weights(band)?)))
}
