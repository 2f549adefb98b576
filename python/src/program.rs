//! `ndp.Program`: a linear Gaussian protocol stated step by step.

use crate::declaration::{Declaration, Number, Options, table, weights};
use crate::errors::{Fault, one_of};
use crate::graph::{Graph, Matrix};
use crate::kind::Kind;
use crate::protocol::Protocol;
use ndp_program::constructors::{self, Dsgd};
use ndp_program::{Declared, MixingMatrix, Program as Inner, ProgramError, Reads, Value, Weight};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, MutexGuard};

/// A program that is being stated.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Program(pub(crate) Mutex<Stated>);

/// The program, whose values Python knows by number.
pub(crate) struct Stated {
    pub(crate) program: Inner,
}

impl From<ProgramError> for Fault {
    fn from(error: ProgramError) -> Self {
        Self::new(error.to_string())
    }
}

fn numbers(values: Vec<Value>) -> Vec<usize> {
    values.into_iter().map(usize::from).collect()
}

/// What a contribution depends on: a word, and a list of values.
type Read = (String, Option<Vec<usize>>);

impl Program {
    pub(crate) fn of(program: Inner) -> Self {
        Self(Mutex::new(Stated { program }))
    }

    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, Stated>, Fault> {
        self.0.lock().map_err(|_| Fault::Panicked)
    }
}

impl Stated {
    pub(crate) fn value(&self, index: usize) -> Result<Value, Fault> {
        let count = self.program.values().len();
        let found = self.program.values().nth(index);
        found.ok_or_else(|| Fault::new(format!("value {index} is not one of the {count} of this program")))
    }

    pub(crate) fn values(&self, indices: &[usize]) -> Result<Vec<Value>, Fault> {
        indices.iter().map(|&index| self.value(index)).collect()
    }

    fn reads(&self, (word, list): Read) -> Result<Reads, Fault> {
        let list = list.map(|list| self.values(&list)).transpose()?;
        reads(&word, list)
    }
}

/// What a contribution reads; the list is of the values that it names.
pub(crate) fn reads(word: &str, list: Option<Vec<Value>>) -> Result<Reads, Fault> {
    let all =
        [("nothing", Reads::Nothing), ("seen", Reads::Seen(list.clone())), ("hidden", Reads::Hidden(list))];
    one_of("reads", all, word)
}

#[pymethods]
impl Program {
    #[new]
    fn new(nodes: usize) -> Result<Self, Fault> {
        Ok(Self::of(Inner::new(nodes)?))
    }

    /// The program of a text of JSON lines.
    #[staticmethod]
    fn read(py: Python<'_>, text: Vec<u8>) -> Result<Self, Fault> {
        crate::worker::run(py, move || Ok(Self::of(Inner::read(text.as_slice())?)))
    }

    /// The same program, to which other steps can be added.
    fn copy(&self) -> Result<Self, Fault> {
        Ok(Self::of(self.lock()?.program.clone()))
    }

    /// The program as JSON lines.
    fn write<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Fault> {
        let mut text = Vec::new();
        let written = self.lock()?.program.write(&mut text);
        written.map_err(|error| Fault::new(error.to_string()))?;
        Ok(PyBytes::new(py, &text))
    }

    fn node_count(&self) -> Result<usize, Fault> {
        Ok(self.lock()?.program.node_count())
    }

    /// How often a node contributes.
    fn uses(&self, node: usize) -> Result<usize, Fault> {
        let stated = self.lock()?;
        let nodes = stated.program.node_count();
        if node >= nodes {
            return Err(ndp_account::Error::NodeOutOfRange { node, nodes }.into());
        }
        Ok(stated.program.uses(node))
    }

    fn value_count(&self) -> Result<usize, Fault> {
        Ok(self.lock()?.program.values().len())
    }

    fn contribute(&self, node: usize, reads: Read) -> Result<usize, Fault> {
        let mut stated = self.lock()?;
        let reads = stated.reads(reads)?;
        let value = stated.program.contribute(node, reads)?;
        Ok(value.into())
    }

    fn shared_noise(&self, holders: Vec<usize>, variance: Number) -> Result<usize, Fault> {
        let mut stated = self.lock()?;
        let value = stated.program.noise(&holders, variance.weight()?)?;
        Ok(value.into())
    }

    fn pairwise(&self, a: usize, b: usize, variance: Number) -> Result<(usize, usize), Fault> {
        let mut stated = self.lock()?;
        let (plus, minus) = stated.program.pairwise(a, b, variance.weight()?)?;
        Ok((plus.into(), minus.into()))
    }

    fn correlated(&self, group: Vec<usize>, covariance: Vec<Vec<Number>>) -> Result<Vec<usize>, Fault> {
        let mut stated = self.lock()?;
        let values = stated.program.correlated(&group, &table(covariance)?)?;
        Ok(numbers(values))
    }

    fn zero_sum(&self, group: Vec<usize>, variance: Number) -> Result<Vec<usize>, Fault> {
        let mut stated = self.lock()?;
        let values = stated.program.zero_sum(&group, variance.weight()?)?;
        Ok(numbers(values))
    }

    fn zero_sum_of(&self, node: usize, count: usize, variance: Number) -> Result<Vec<usize>, Fault> {
        let mut stated = self.lock()?;
        let values = stated.program.zero_sum(&vec![node; count], variance.weight()?)?;
        Ok(numbers(values))
    }

    fn noise_over_time(
        &self,
        node: usize,
        rows: Vec<Vec<Number>>,
        variance: Number,
    ) -> Result<Vec<usize>, Fault> {
        let mut stated = self.lock()?;
        let values = stated.program.noise_over_time(node, &table(rows)?, variance.weight()?)?;
        Ok(numbers(values))
    }

    fn combine(&self, terms: Vec<(Number, usize)>) -> Result<usize, Fault> {
        let mut stated = self.lock()?;
        let terms = terms.into_iter().map(|(weight, value)| Ok((weight.weight()?, stated.value(value)?)));
        let terms: Vec<(Weight, Value)> = terms.collect::<Result<_, Fault>>()?;
        let value = stated.program.combine(terms)?;
        Ok(value.into())
    }

    fn gossip(&self, matrix: &Matrix, values: Vec<usize>) -> Result<Vec<usize>, Fault> {
        let mut stated = self.lock()?;
        let values = stated.values(&values)?;
        let mixed = stated.program.gossip(MixingMatrix::from(&matrix.0), &values)?;
        Ok(numbers(mixed))
    }

    /// One exact weighted sum for every node: rows of nodes and weights.
    fn mix(&self, rows: Vec<Vec<(usize, Number)>>, values: Vec<usize>) -> Result<Vec<usize>, Fault> {
        let row = |row: Vec<(usize, Number)>| -> Result<Vec<(usize, Weight)>, Fault> {
            row.into_iter().map(|(node, weight)| Ok((node, weight.weight()?))).collect()
        };
        let rows: Vec<Vec<(usize, Weight)>> = rows.into_iter().map(row).collect::<Result<_, _>>()?;
        let mut stated = self.lock()?;
        let values = stated.values(&values)?;
        let mixed = stated.program.gossip(MixingMatrix::try_from(rows.as_slice())?, &values)?;
        Ok(numbers(mixed))
    }

    fn send(&self, source: usize, to: usize, value: usize) -> Result<(), Fault> {
        let mut stated = self.lock()?;
        let value = stated.value(value)?;
        Ok(stated.program.send(source, to, value)?)
    }

    fn send_to_neighbors(&self, graph: &Graph, values: Vec<usize>) -> Result<(), Fault> {
        let mut stated = self.lock()?;
        let values = stated.values(&values)?;
        Ok(stated.program.send_to_neighbors(&graph.0, &values)?)
    }

    fn broadcast(&self, source: usize, value: usize) -> Result<(), Fault> {
        let mut stated = self.lock()?;
        let value = stated.value(value)?;
        Ok(stated.program.broadcast(source, value)?)
    }

    fn publish(&self, value: usize) -> Result<(), Fault> {
        let mut stated = self.lock()?;
        let value = stated.value(value)?;
        Ok(stated.program.broadcast(None, value)?)
    }

    fn secure_sum(&self, to: usize, addends: Vec<(usize, Number, usize)>) -> Result<usize, Fault> {
        let mut stated = self.lock()?;
        let addends = addends.into_iter();
        let addends = addends.map(|(node, weight, value)| Ok((node, weight.weight()?, stated.value(value)?)));
        let addends: Vec<(usize, Weight, Value)> = addends.collect::<Result<_, Fault>>()?;
        let value = stated.program.secure_sum(to, addends)?;
        Ok(value.into())
    }

    /// What nodes end with.
    fn result(&self, ends: Vec<(usize, usize)>) -> Result<(), Fault> {
        let mut stated = self.lock()?;
        let ends = ends.into_iter().map(|(node, value)| Ok((node, stated.value(value)?)));
        let ends: Vec<(usize, Value)> = ends.collect::<Result<_, Fault>>()?;
        Ok(stated.program.result(ends)?)
    }

    /// Refuses a program in which a node sends, mixes or ends with what it cannot form.
    fn check_holdings(&self, py: Python<'_>) -> Result<(), Fault> {
        let program = self.lock()?.program.clone();
        crate::worker::run(py, move || Ok(program.check_holdings()?))
    }

    fn join(&self, node: usize) -> Result<(), Fault> {
        Ok(self.lock()?.program.join(node)?)
    }

    fn leave(&self, node: usize) -> Result<(), Fault> {
        Ok(self.lock()?.program.leave(node)?)
    }

    /// The program as a protocol, under a declared sensitivity.
    fn declared(&self, sensitivity: Declaration, options: Options) -> Result<Protocol, Fault> {
        let program = self.lock()?.program.clone();
        let declared = Declared { options: options.options()?, ..Declared::new(program, sensitivity.set()?) };
        Ok(Protocol(Arc::new(Kind::Named(Box::new(declared)))))
    }

    /// A published protocol by its name.
    #[staticmethod]
    fn published(
        py: Python<'_>,
        name: &str,
        graph: &Graph,
        matrix: &Matrix,
        numbers: Vec<Number>,
        count: usize,
        groups: Vec<Vec<usize>>,
        rows: Vec<Vec<Number>>,
    ) -> Result<Self, Fault> {
        let (numbers, rows) = (weights(numbers)?, table(rows)?);
        let (graph, matrix, name) = (Arc::clone(&graph.0), matrix.0.clone(), name.to_owned());
        // Some 500 bytes a step and node, and as many for each entry of a matrix over time.
        let nodes = graph.node_count();
        let entries = if name == "dsgd" { count.saturating_mul(count) } else { 0 };
        ndp_linalg::memory::require_dense("a program", count, 64 * nodes)?;
        ndp_linalg::memory::require_dense("the noise over time of a program", entries, 8)?;
        crate::worker::run(py, move || {
            let number = |i: usize| -> Result<Weight, Fault> {
                numbers.get(i).cloned().ok_or_else(|| Fault::new(format!("{i} numbers are too few")))
            };
            Ok(Self::of(match name.as_str() {
                "muffliato" => constructors::muffliato(&matrix, count)?,
                "fresh_noise" => constructors::fresh_noise(&matrix, &numbers)?,
                "randomized_gossip" => {
                    let ring = |pair: &Vec<usize>| match pair[..] {
                        [a, b] => Ok((a, b)),
                        _ => Err(Fault::new(format!("two nodes meet, got {}", pair.len()))),
                    };
                    let rings: Vec<(usize, usize)> = groups.iter().map(ring).collect::<Result<_, _>>()?;
                    constructors::randomized_gossip(graph.node_count(), &rings)?
                }
                "decor" => constructors::decor(&graph, number(0)?, number(1)?, count)?,
                "corn_dsgd" => constructors::corn_dsgd(&matrix, &rows, count)?,
                "zip_dl" => constructors::zip_dl(&graph, number(0)?, number(1)?)?,
                "gopa" => {
                    let silent = groups.first().map_or(&[][..], Vec::as_slice);
                    constructors::gopa(&graph, number(0)?, number(1)?, silent)?
                }
                "dsgd" => {
                    let mut options = Dsgd::from(count);
                    if !rows.is_empty() {
                        options.noise = rows;
                    }
                    if let Some(sends) = groups.first().and_then(|group| group.first()) {
                        options.sends = *sends;
                    }
                    constructors::dsgd(&matrix, options)?
                }
                "secure_neighbor_sums" => constructors::secure_neighbor_sums(&matrix, count)?,
                "hierarchical" => {
                    constructors::hierarchical(graph.node_count(), &groups, number(0)?, number(1)?)?
                }
                _ => return Err(Fault::new(format!("there is no published program {name:?}"))),
            }))
        })
    }
}
