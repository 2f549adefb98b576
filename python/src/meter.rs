//! `ndp.Meter`: the account that runs along, and the file its lines go to, which Python opens.

use crate::declaration::{Declaration, Number};
use crate::errors::{Fault, one_of};
use crate::graph::{Graph, Matrix};
use crate::program::reads;
use crate::question::{Who, observer};
use ndp_account::{Error, NodeNames};
use ndp_dp::Delta;
use ndp_program::constructors::ModelReads;
use ndp_program::meter::{
    Durable, Feed, Limits, Meter as Inner, MeterLog, Neighbors, PointOfView, Refusal, Scale, Source,
};
use ndp_program::{MixingMatrix, Program, ProgramError, Value, Weight};
use pyo3::create_exception;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

create_exception!(
    ndp,
    OverBudget,
    crate::errors::NdpError,
    "Members, taps, node, limit and loss of what was refused."
);

/// Where lines go: a function of Python that writes, flushes and syncs, or nowhere.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Option<Py<PyAny>>>>);

impl Durable for Sink {
    fn append(&mut self, line: &str) -> std::io::Result<()> {
        let kept =
            self.0.lock().map_err(|_| std::io::Error::other("the log was left in the middle of a line"))?;
        let Some(append) = kept.as_ref() else { return Ok(()) };
        Python::attach(|py| append.call1(py, (line,)).map(|_| ()))
            .map_err(|error| std::io::Error::other(error.to_string()))
    }
}

struct State {
    log: MeterLog<Sink>,
    sink: Sink,
}

/// A meter; every step is taken away from the interpreter lock.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Meter {
    state: Arc<Mutex<State>>,
    /// The process that made it.
    process: u32,
}

/// A matrix of weights, exact.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Mixing(Arc<MixingMatrix>);

#[pymethods]
impl Mixing {
    #[staticmethod]
    fn of(matrix: &Matrix) -> Self {
        Self(Arc::new(MixingMatrix::from(&matrix.0)))
    }

    /// For every node the nodes that it takes from, and their weights.
    #[staticmethod]
    fn rows(rows: Vec<Vec<(usize, Number)>>) -> Result<Self, Fault> {
        let row = |row: Vec<(usize, Number)>| -> Result<Vec<(usize, Weight)>, Fault> {
            row.into_iter().map(|(node, weight)| Ok((node, weight.weight()?))).collect()
        };
        let rows: Vec<Vec<(usize, Weight)>> = rows.into_iter().map(row).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(MixingMatrix::try_from(rows.as_slice())?)))
    }
}

/// A refusal with what it names, any other error in its own words.
fn fault(error: Error) -> Fault {
    match Refusal::of(&error) {
        Some(Refusal { observer, node, limit, loss }) => Fault::Raised(OverBudget::new_err((
            error.to_string(),
            observer.members().to_vec(),
            observer.tapped.clone(),
            *node,
            *limit,
            *loss,
        ))),
        None => error.into(),
    }
}

fn model_reads(word: &str) -> Result<ModelReads, Fault> {
    let all = [
        ("nothing", ModelReads::Nothing),
        ("model-hidden", ModelReads::Hidden),
        ("model-seen", ModelReads::Seen),
        ("seen", ModelReads::Assumed),
    ];
    one_of("reads", all, word)
}

fn value(program: &Program, index: usize) -> Result<Value, Fault> {
    let count = program.values().len();
    let found = program.values().nth(index);
    found.ok_or_else(|| Fault::new(format!("value {index} is not one of the {count} of this meter")))
}

fn values(program: &Program, indices: &[usize]) -> Result<Vec<Value>, Fault> {
    indices.iter().map(|&index| value(program, index)).collect()
}

/// The observers of a meter, the limits on `μ²`: of all pairs, of single ones, and as an `(ε, δ)` of all.
type Limited = (Option<f64>, Vec<(usize, usize, f64)>, Option<(f64, f64)>);
/// A reading: upper ends, lower ends, the `μ` of the upper ends, grades, the source, the bound `h`, the failure probability.
type Read = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<&'static str>, &'static str, f64, f64);

fn open(state: &Mutex<State>, process: u32) -> Result<MutexGuard<'_, State>, Fault> {
    let found = match std::process::id() == process {
        true => state.lock().map_err(|_| Fault::Panicked)?,
        // A lock that another thread held when this process was forked stays held.
        false => state.try_lock().map_err(|error| match error {
            TryLockError::Poisoned(_) => Fault::Panicked,
            TryLockError::WouldBlock => {
                Fault::new("this process was forked while the meter took a step: make the meter anew")
            }
        })?,
    };
    Ok(found)
}

impl Meter {
    fn made(log: MeterLog<Sink>, sink: Sink) -> Self {
        Self { state: Arc::new(Mutex::new(State { log, sink })), process: std::process::id() }
    }

    fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (state, process) = (Arc::clone(&self.state), self.process);
        crate::worker::run(py, move || work(&mut *open(&state, process)?))
    }

    /// Steps that make values, by their numbers.
    fn step<T: Send + 'static>(
        &self,
        py: Python<'_>,
        steps: impl FnOnce(&mut Program) -> Result<T, ProgramError> + Send + 'static,
    ) -> Result<T, Fault> {
        self.with(py, move |state| state.log.step(steps).map_err(fault))
    }

    /// A value that the meter knows, looked up before the step.
    fn known(&self, py: Python<'_>, indices: Vec<usize>) -> Result<Vec<Value>, Fault> {
        self.with(py, move |state| values(state.log.meter().program(), &indices))
    }
}

#[pymethods]
impl Meter {
    #[new]
    fn new(
        names: Vec<String>,
        observers: Vec<Who>,
        set: Declaration,
        limits: Limited,
        view: (String, usize),
        scale: (f64, String),
        record: bool,
    ) -> Result<Self, Fault> {
        let (worst, pairs, target) = limits;
        let mut kept = match (worst, target) {
            (Some(worst), None) => Limits::worst(worst)?,
            (None, Some((epsilon, delta))) => Limits::approx(epsilon, Delta::new(delta)?)?,
            (None, None) => Limits::default(),
            _ => return Err(Fault::new("give epsilon and delta, or the limit on the loss, not both")),
        };
        for (observer, node, loss) in pairs {
            kept = kept.pair(observer, node, loss)?;
        }
        let node = view.1;
        let views = [
            ("coordinator", PointOfView::Coordinator),
            ("public_schedule", PointOfView::PublicSchedule { node }),
            ("own_messages", PointOfView::OwnMessages { node }),
        ];
        let view = one_of("view", views, &view.0)?;
        let observers: Vec<_> = observers.into_iter().map(observer).collect();
        let mut meter = Inner::new(names.len(), observers, set.set()?)?.seen_by(view)?.with_limits(kept)?;
        let neighbors = match scale.1.as_str() {
            "replace" => Neighbors::Replace,
            "zero" => Neighbors::Zero,
            word => return Err(Fault::new(format!("neighbors must be replace or zero, got {word:?}"))),
        };
        meter = meter.in_units_of(Scale::new(scale.0, neighbors)?)?;
        if !record {
            meter = meter.without_record()?;
        }
        let sink = Sink::default();
        Ok(Self::made(MeterLog::begin(meter, NodeNames::new(names)?, sink.clone())?, sink))
    }

    /// Goes on with the lines of a log: the meter, the bytes that count, what was dropped.
    #[staticmethod]
    fn resume(py: Python<'_>, text: Vec<u8>) -> Result<(Self, u64, Option<String>), Fault> {
        crate::worker::run(py, move || {
            let mut feed = Feed::default();
            let found = feed.lines(&text).map_err(fault)?;
            let sink = Sink::default();
            let log = MeterLog::resume(feed, sink.clone())?;
            Ok((Self::made(log, sink), found.bytes, found.dropped))
        })
    }

    /// Writes the first line, and from now on every step, before anything may be sent.
    fn log(&self, py: Python<'_>, append: Py<PyAny>) -> Result<(), Fault> {
        self.with(py, move |state| {
            let sink = Sink(Arc::new(Mutex::new(Some(append))));
            let (meter, names) = (state.log.meter().clone(), state.log.names().clone());
            state.log = MeterLog::begin(meter, names, sink.clone())?;
            state.sink = sink;
            Ok(())
        })
    }

    /// Where a resumed log goes on.
    fn continue_in(&self, py: Python<'_>, append: Py<PyAny>) -> Result<(), Fault> {
        self.with(py, move |state| {
            *state.sink.0.lock().map_err(|_| Fault::Panicked)? = Some(append);
            Ok(())
        })
    }

    fn contribute(
        &self,
        py: Python<'_>,
        node: usize,
        word: String,
        read: Option<Vec<usize>>,
    ) -> Result<usize, Fault> {
        let read = read.map(|read| self.known(py, read)).transpose()?;
        let reads = reads(&word, read)?;
        self.step(py, move |program| program.contribute(node, reads).map(usize::from))
    }

    fn noise(&self, py: Python<'_>, holders: Vec<usize>, variance: Number) -> Result<usize, Fault> {
        let variance = variance.weight()?;
        self.step(py, move |program| program.noise(holders, variance).map(usize::from))
    }

    fn combine(&self, py: Python<'_>, terms: Vec<(Number, usize)>) -> Result<usize, Fault> {
        let (weights, indices): (Vec<Number>, Vec<usize>) = terms.into_iter().unzip();
        let weights = crate::declaration::weights(weights)?;
        let found = self.known(py, indices)?;
        let terms: Vec<(Weight, Value)> = weights.into_iter().zip(found).collect();
        self.step(py, move |program| program.combine(terms).map(usize::from))
    }

    fn mix(&self, py: Python<'_>, mixing: &Mixing, values: Vec<usize>) -> Result<Vec<usize>, Fault> {
        let (values, mixing) = (self.known(py, values)?, Arc::clone(&mixing.0));
        self.step(py, move |program| {
            Ok(program.gossip(&*mixing, &values)?.into_iter().map(usize::from).collect())
        })
    }

    fn send(&self, py: Python<'_>, source: usize, to: usize, value: usize) -> Result<(), Fault> {
        let value = self.known(py, vec![value])?[0];
        self.step(py, move |program| program.send(source, to, value))
    }

    fn send_to_neighbors(&self, py: Python<'_>, graph: &Graph, values: Vec<usize>) -> Result<(), Fault> {
        let (values, graph) = (self.known(py, values)?, Arc::clone(&graph.0));
        self.step(py, move |program| program.send_to_neighbors(&graph, &values))
    }

    fn broadcast(&self, py: Python<'_>, source: Option<usize>, value: usize) -> Result<(), Fault> {
        let value = self.known(py, vec![value])?[0];
        self.step(py, move |program| program.broadcast(source, value))
    }

    fn secure_sum(
        &self,
        py: Python<'_>,
        to: usize,
        addends: Vec<(usize, Number, usize)>,
    ) -> Result<usize, Fault> {
        let found = self.known(py, addends.iter().map(|addend| addend.2).collect())?;
        let with =
            |((node, weight, _), value): ((usize, Number, usize), Value)| Ok((node, weight.weight()?, value));
        let addends: Vec<(usize, Weight, Value)> =
            addends.into_iter().zip(found).map(with).collect::<Result<_, Fault>>()?;
        self.step(py, move |program| program.secure_sum(to, addends).map(usize::from))
    }

    fn join(&self, py: Python<'_>, node: usize) -> Result<(), Fault> {
        self.step(py, move |program| program.join(node))
    }

    fn leave(&self, py: Python<'_>, node: usize) -> Result<(), Fault> {
        self.step(py, move |program| program.leave(node))
    }

    fn forget(&self, py: Python<'_>, values: Vec<usize>) -> Result<(), Fault> {
        let values = self.known(py, values)?;
        self.with(py, move |state| state.log.forget(&values).map_err(fault))
    }

    fn round(&self, py: Python<'_>, mixing: &Mixing, variance: Number, reads: &str) -> Result<(), Fault> {
        let (mixing, variance, reads) = (Arc::clone(&mixing.0), variance.weight()?, model_reads(reads)?);
        self.with(py, move |state| state.log.round(&mixing, variance, reads).map_err(fault))
    }

    /// How many such rounds fit, at most `most`.
    fn remaining(
        &self,
        py: Python<'_>,
        mixing: &Mixing,
        variance: Number,
        reads: &str,
        most: u64,
    ) -> Result<u64, Fault> {
        let (mixing, variance, reads) = (Arc::clone(&mixing.0), variance.weight()?, model_reads(reads)?);
        let meter = self.with(py, |state| Ok(state.log.meter().clone()))?;
        crate::worker::run(py, move || meter.remaining(&mixing, variance, reads, most).map_err(fault))
    }

    /// What an observer has learned, by its number; a member has the grade `member`.
    fn reading(&self, py: Python<'_>, number: usize) -> Result<Read, Fault> {
        self.with(py, move |state| {
            let meter = state.log.meter();
            let reading = meter.reading(number)?;
            let (mut upper, mut lower, mut mu, mut grades) = (vec![], vec![], vec![], vec![]);
            for u in 0..meter.node_count() {
                let high = reading.upper(u);
                let (low, grade) = match (high, reading.loss(u)) {
                    (None, _) => (0.0, "member"),
                    (_, Ok(loss)) => (loss.lower, loss.value.grade().as_str()),
                    (_, Err(_)) => (f64::INFINITY, "noiseless"),
                };
                let high = high.unwrap_or(0.0);
                upper.push(high);
                lower.push(low);
                // The nearest root may lie below the true one.
                let root = high.sqrt();
                mu.push(if root.mul_add(root, -high) < 0.0 { root.next_up() } else { root });
                grades.push(grade);
            }
            let (source, h) = match reading.source {
                Source::Running { h } => ("running", h),
                Source::Batch => ("batch", 0.0),
            };
            Ok((upper, lower, mu, grades, source, h, reading.failure))
        })
    }

    /// The largest norm of a contribution and what one is compared with, where the log says it.
    fn scale(&self, py: Python<'_>) -> Result<Option<(f64, &'static str)>, Fault> {
        self.with(py, |state| {
            Ok(state.log.meter().scale().map(|scale| {
                let neighbors = match scale.neighbors() {
                    Neighbors::Replace => "replace",
                    Neighbors::Zero => "zero",
                };
                (scale.clip(), neighbors)
            }))
        })
    }

    /// The limit on what an observer learns about each node.
    fn limits(&self, py: Python<'_>, number: usize) -> Result<Vec<Option<f64>>, Fault> {
        self.with(py, move |state| {
            let meter = state.log.meter();
            Ok((0..meter.node_count()).map(|u| meter.limits().of(number, u)).collect())
        })
    }

    /// Names of the nodes; members and taps of the observers; rounds, values and what all numbers rest on.
    #[allow(clippy::type_complexity, reason = "five lists")]
    fn facts(
        &self,
        py: Python<'_>,
    ) -> Result<(Vec<String>, Vec<(Vec<usize>, Vec<(usize, usize)>)>, u64, usize, Vec<String>), Fault> {
        self.with(py, |state| {
            let (meter, names) = (state.log.meter(), state.log.names());
            let name = |u| names.name(u).map(std::borrow::Cow::into_owned);
            let names = (0..meter.node_count()).filter_map(name).collect();
            let observers = meter.observers().map(|o| (o.members().to_vec(), o.tapped.clone())).collect();
            let rests_on = meter.rests_on().iter().map(ndp_report::words::rests_on).collect();
            Ok((names, observers, meter.rounds(), meter.program().values().len(), rests_on))
        })
    }
}
