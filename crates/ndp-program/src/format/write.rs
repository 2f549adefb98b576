//! Writes a program as text. Values are named `v0`, `v1`, ... in order of time.

use super::VERSION;
use crate::build::Seeing;
use crate::mixing::MixingMatrix;
use crate::registers::Definition;
use crate::{Program, Reads, Value};
use serde_json::{Map, Value as Json, json};
use std::io::Write;

impl Program {
    /// Writes the program so that [`Program::read`] gives the same program back. If nodes send values that
    /// they [cannot form](Program::check_holdings), the first line says so.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Examples
    /// ```
    /// use ndp_program::{Program, constructors::decor};
    /// use ndp_graph::generators::cycle_graph;
    /// let program = decor(&cycle_graph(4)?, (1, 3), 1, 2)?;
    /// let mut text = Vec::new();
    /// program.write(&mut text)?;
    /// assert_eq!(Program::read(text.as_slice())?, program);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, mut to: impl Write) -> std::io::Result<()> {
        let mut header = json!({"ndp-program": VERSION, "nodes": self.nodes});
        if !self.holds() {
            header["holdings"] = json!("assumed");
        }
        writeln!(to, "{header}")?;
        let mut steps = self.steps_since((0, 0, 0), &mut Vec::new());
        steps.sort_by_key(|step| step.get("matrix").is_none());
        let results = self.results.iter();
        let results = results.map(|(node, &value)| json!({"result": name(value), "nodes": [node]}));
        steps.into_iter().chain(results).try_for_each(|step| writeln!(to, "{step}"))
    }

    /// The same in memory, where writing cannot fail.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let _ = self.write(&mut text);
        text
    }

    /// The lines of all steps except results, after the given numbers of values, events and changes. Matrices
    /// that have not been written yet come before their use.
    pub(crate) fn steps_since(
        &self,
        (values, events, changes): (usize, usize, usize),
        matrices: &mut Vec<MixingMatrix>,
    ) -> Vec<Json> {
        let mut steps: Vec<(usize, Json)> = Vec::new();
        for (value, definition) in self.values.iter().enumerate().skip(values) {
            let step = match definition {
                Definition::Contribution(k) => {
                    let contribution = &self.contributions[*k];
                    json!({"contribute": name(value), "node": contribution.node, "reads": reads(&contribution.reads)})
                }
                Definition::Noise(k) => {
                    json!({"noise": name(value), "shared": [], "variance": text(&self.noises[*k].variance)})
                }
                Definition::Sum(terms) => {
                    let sum: Map<String, Json> = terms
                        .iter()
                        .map(|(term, weight)| (name(*term), Json::String(text(weight))))
                        .collect();
                    json!({"let": name(value), "sum": sum})
                }
                Definition::Mixed { row, .. } if *row > 0 => continue,
                Definition::Mixed { mixing, inputs, .. } => {
                    let (number, line) = matrix(mixing, matrices);
                    steps.extend(line.map(|line| (self.moments[value], line)));
                    let names: Vec<String> = (value..value + self.nodes).map(name).collect();
                    let of: Vec<String> = inputs.iter().map(|&x| name(x)).collect();
                    json!({"let": names, "gossip": format!("W{number}"), "of": of})
                }
            };
            steps.push((self.moments[value], step));
        }
        for event in self.events.iter().skip(events) {
            let value = name(event.value);
            let step = match &event.seeing {
                Seeing::Message { from, to } => json!({"send": value, "from": from, "to": to}),
                Seeing::Broadcast { from: Some(from) } => json!({"broadcast": value, "from": from}),
                Seeing::Broadcast { from: None } => json!({"publish": value}),
                Seeing::SecureSum { to, group } => json!({"deliver": value, "to": to, "group": group}),
                Seeing::Held { by } => json!({"hold": value, "by": by}),
            };
            steps.push((event.moment, step));
        }
        for &(moment, node, joins) in self.changes.iter().skip(changes) {
            steps.push((moment, if joins { json!({"join": node}) } else { json!({"leave": node}) }));
        }
        steps.sort_by_key(|(moment, _)| *moment);
        steps.into_iter().map(|(_, step)| step).collect()
    }
}

/// The number of a matrix, and its line if it has not been written yet.
pub(crate) fn matrix(mixing: &MixingMatrix, matrices: &mut Vec<MixingMatrix>) -> (usize, Option<Json>) {
    if let Some(number) = matrices.iter().position(|known| known.same(mixing)) {
        return (number, None);
    }
    let row = |u: usize| -> Map<String, Json> {
        let entries = mixing.entries(u).into_iter();
        entries.map(|(v, weight)| (v.to_string(), Json::String(weight.to_string()))).collect()
    };
    let rows: Vec<_> = (0..mixing.node_count()).map(row).collect();
    let number = matrices.len();
    matrices.push(mixing.clone());
    (number, Some(json!({"matrix": format!("W{number}"), "entries": rows})))
}

pub(crate) fn name(value: usize) -> String {
    format!("v{value}")
}

fn text(x: &num_rational::BigRational) -> String {
    x.to_string()
}

fn reads(reads: &Reads) -> Json {
    let names = |list: &[Value]| list.iter().map(|value| name(value.index())).collect::<Vec<_>>();
    match reads {
        Reads::Nothing => json!("nothing"),
        Reads::Seen(None) => json!("seen"),
        Reads::Hidden(None) => json!("hidden"),
        Reads::Seen(Some(list)) => json!({"seen": names(list)}),
        Reads::Hidden(Some(list)) => json!({"hidden": names(list)}),
    }
}
