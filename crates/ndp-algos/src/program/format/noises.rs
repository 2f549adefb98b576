//! Lines about noises and secure sums.

use super::line::{Line, syntax};
use super::names::Entry;
use super::read::Reader;
use crate::Error;
use crate::program::build::distinct;
use crate::program::{ProgramError, Value, Weight, inverse_of_lower, toeplitz};
use serde_json::{Map, Value as Json};

impl Reader {
    pub(super) fn noise(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let keys = [
            "noise",
            "variance",
            "node",
            "nodes",
            "shared",
            "zero-sum",
            "covariance",
            "pairwise",
            "over-time",
            "inverse-of-band",
            "band",
            "steps",
        ];
        let line = Line::new(map, &keys)?;
        let name = line.text("noise")?;
        let n = self.program.node_count();
        let family = |nodes: &[usize], values: Vec<Value>| {
            let mut family = vec![None; n];
            nodes.iter().zip(values).for_each(|(&node, value)| family[node] = Some(value));
            family
        };
        if line.has("covariance") {
            let nodes = self.nodes(&line)?;
            let values = self.program.correlated(&nodes, &line.table("covariance")?)?;
            return self.define_family(name, family(&nodes, values), None);
        }
        let variance = line.weight("variance")?;
        if line.has("shared") {
            let value = self.program.noise(line.nodes("shared")?, variance)?;
            return Ok(self.names.define(name, Entry::One(value))?);
        }
        if line.has("zero-sum") {
            let nodes = line.nodes("zero-sum")?;
            distinct(&nodes, "a zero-sum group")?;
            let values = self.program.zero_sum(&nodes, variance)?;
            return self.define_family(name, family(&nodes, values), None);
        }
        if line.has("pairwise") {
            let graph = self.find_graph(line.text("pairwise")?)?.clone();
            let mut parts: Vec<Vec<Value>> = vec![Vec::new(); n];
            for (a, b) in graph.edges() {
                let (plus, minus) = self.program.pairwise(a, b, variance.clone())?;
                parts[a].push(plus);
                parts[b].push(minus);
            }
            let all: Vec<usize> = (0..n).collect();
            let sums = parts.iter().map(|parts| self.program.add(parts)).collect::<Result<Vec<_>, _>>()?;
            return self.define_family(name, family(&all, sums), None);
        }
        let nodes = self.nodes(&line)?;
        distinct(&nodes, "a noise")?;
        if ["over-time", "band", "inverse-of-band"].iter().any(|key| line.has(key)) {
            let rows = over_time(&line)?;
            let mut times = vec![vec![None; n]; rows.len()];
            for &node in &nodes {
                for (t, value) in
                    self.program.noise_over_time(node, &rows, variance.clone())?.into_iter().enumerate()
                {
                    times[t][node] = Some(value);
                }
            }
            return Ok(self
                .names
                .define(name, Entry::Timed(times.into_iter().map(Entry::Family).collect()))?);
        }
        let values: Vec<Value> = nodes
            .iter()
            .map(|&node| self.program.noise([node], variance.clone()))
            .collect::<Result<_, _>>()?;
        let single = line.has("node").then(|| nodes[0]);
        self.define_family(name, family(&nodes, values), single)
    }

    pub(super) fn secure_sum(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["secure-sum", "of", "nodes", "to", "weights", "along"])?;
        let (name, of) = (line.text("secure-sum")?, line.text("of")?);
        if line.has("along") {
            // Every node learns the weighted sum of its neighbors' values.
            let matrix = self.find_matrix(line.text("along")?)?;
            let mut family = vec![None; self.program.node_count()];
            for (to, slot) in family.iter_mut().enumerate() {
                let mut addends = Vec::new();
                for (node, weight) in matrix.entries(to).into_iter().filter(|(node, _)| *node != to) {
                    addends.push((node, weight, self.names.at(of, node)?));
                }
                *slot = Some(self.program.secure_sum(to, addends)?);
            }
            return self.define_family(name, family, None);
        }
        let nodes = self.nodes(&line)?;
        let weights = match line.has("weights") {
            true => line.weights("weights")?,
            false => vec![Weight::from(1); nodes.len()],
        };
        if weights.len() != nodes.len() {
            let what = "weights of a secure sum";
            return Err(ProgramError::Shape { what, expected: nodes.len(), got: weights.len() }.into());
        }
        let mut addends = Vec::with_capacity(nodes.len());
        for (&node, weight) in nodes.iter().zip(weights) {
            addends.push((node, weight, self.names.at(of, node)?));
        }
        let value = self.program.secure_sum(line.number("to")?, addends)?;
        Ok(self.names.define(name, Entry::One(value))?)
    }
}

/// The rows of a noise over time: written out, or by the first column of a Toeplitz matrix or of its inverse.
fn over_time(line: &Line<'_>) -> Result<Vec<Vec<Weight>>, ProgramError> {
    if line.has("over-time") {
        return line.table("over-time");
    }
    let steps = line.number("steps")?;
    if steps > MAX_TIMES {
        return syntax(format!("at most {MAX_TIMES} steps can be written by a band"));
    }
    if line.has("band") {
        return Ok(toeplitz(steps, &line.weights("band")?));
    }
    inverse_of_lower(&toeplitz(steps, &line.weights("inverse-of-band")?))
}

/// Steps of a noise over time that is written by a band.
const MAX_TIMES: usize = 4096;
