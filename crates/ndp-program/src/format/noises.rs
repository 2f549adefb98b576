//! Lines about noises and secure sums.

use super::line::{Line, syntax};
use super::names::Entry;
use super::read::Reader;
use crate::build::distinct;
use crate::{ProgramError, Value, Weight, toeplitz};
use ndp_account::Error;
use ndp_linalg::memory::require_memory;
use num_rational::BigRational;
use num_traits::{One, Zero};
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
        let kinds = ["covariance", "shared", "zero-sum", "pairwise", "over-time", "band", "inverse-of-band"];
        let kind = line.one_of(&kinds)?;
        match kind {
            Some("covariance") => line.only("covariance", &["noise", "nodes"])?,
            Some(key @ ("shared" | "zero-sum" | "pairwise")) => line.only(key, &["noise", "variance"])?,
            Some("over-time") => line.only("over-time", &["noise", "variance", "node", "nodes"])?,
            Some(key) => line.only(key, &["noise", "variance", "node", "nodes", "steps"])?,
            None => line.only("variance", &["noise", "node", "nodes"])?,
        }
        if kind == Some("covariance") {
            let nodes = self.nodes(&line)?;
            let values = self.program.correlated(&nodes, &line.table("covariance")?)?;
            return self.define_family(name, family(&nodes, values), None);
        }
        let variance = line.weight("variance")?;
        if kind == Some("shared") {
            let value = self.program.noise(line.nodes("shared")?, variance)?;
            return Ok(self.names.define(name, Entry::One(value))?);
        }
        if kind == Some("zero-sum") {
            let nodes = line.nodes("zero-sum")?;
            distinct(&nodes, "a zero-sum group")?;
            let values = self.program.zero_sum(&nodes, variance)?;
            return self.define_family(name, family(&nodes, values), None);
        }
        if kind == Some("pairwise") {
            let sums = self.pairwise_masks(line.text("pairwise")?, &variance)?;
            return self.define_family(name, sums.into_iter().map(Some).collect(), None);
        }
        let nodes = self.nodes(&line)?;
        if kind.is_some() {
            let rows = over_time(&line, nodes.len())?;
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

    /// For every node the sum of its masks: each edge of the graph has one, which one end adds and the other
    /// subtracts.
    fn pairwise_masks(&mut self, graph: &str, variance: &Weight) -> Result<Vec<Value>, Error> {
        let graph = self.find_graph(graph)?.clone();
        self.room(4 * graph.edge_count())?;
        let mut parts: Vec<Vec<Value>> = vec![Vec::new(); self.program.node_count()];
        for (a, b) in graph.edges() {
            let (plus, minus) = self.program.pairwise(a, b, variance.clone())?;
            parts[a].push(plus);
            parts[b].push(minus);
        }
        Ok(parts.iter().map(|parts| self.program.add(parts)).collect::<Result<_, _>>()?)
    }

    pub(super) fn secure_sum(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["secure-sum", "of", "nodes", "to", "weights", "along"])?;
        let (name, of) = (line.text("secure-sum")?, line.text("of")?);
        if line.one_of(&["along", "to"])? == Some("along") {
            line.only("along", &["secure-sum", "of"])?;
            // Every node learns the weighted sum of its neighbors' values.
            let matrix = self.find_matrix(line.text("along")?)?;
            let nodes = self.program.node_count();
            if matrix.node_count() != nodes {
                let (what, got) = ("rows of a gossip matrix", matrix.node_count());
                return Err(ProgramError::Shape { what, expected: nodes, got }.into());
            }
            let mut family = vec![None; nodes];
            for (to, slot) in family.iter_mut().enumerate() {
                let mut addends = Vec::new();
                for (node, weight) in matrix.entries(to).into_iter().filter(|(node, _)| *node != to) {
                    addends.push((node, weight, self.names.at(of, node)?));
                }
                *slot = Some(match &addends[..] {
                    [] => self.program.add(&[])?,
                    // A sum with one term hides nothing: it is the neighbor's message, which a tap hears.
                    [(node, weight, value)] => {
                        let message = self.program.combine([(weight.clone(), *value)])?;
                        self.program.send(*node, to, message)?;
                        message
                    }
                    _ => self.program.secure_sum(to, addends)?,
                });
            }
            return self.define_family(name, family, None);
        }
        line.only("to", &["secure-sum", "of", "nodes", "weights"])?;
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

/// The rows of a noise over time, for this number of nodes: given completely, or by the first column of a
/// Toeplitz matrix or of its inverse.
fn over_time(line: &Line<'_>, nodes: usize) -> Result<Vec<Vec<Weight>>, Error> {
    if line.has("over-time") {
        return Ok(line.table("over-time")?);
    }
    let steps = line.number("steps")?;
    if steps > MAX_TIMES {
        return Ok(syntax(format!("at most {MAX_TIMES} steps can be written by a band"))?);
    }
    // Every weight is stored once for the rows, and once for every node.
    let room = |lag: usize, x: &BigRational| {
        let bytes = 64 + u128::from(x.numer().bits() + x.denom().bits()) / 8;
        if x.is_zero() { 0 } else { (1 + nodes as u128) * bytes * (steps - lag) as u128 }
    };
    let mut bytes = (steps * steps) as u128 * 48;
    let key = if line.has("band") { "band" } else { "inverse-of-band" };
    let band = line.weights(key)?;
    let band: Vec<&BigRational> =
        band.iter().map(|x| x.exact("an entry of a band")).collect::<Result<_, _>>()?;
    let Some(first) = band.first().filter(|first| key == "band" || !first.is_zero()) else {
        return Err(ProgramError::ZeroDiagonal(0).into());
    };
    // The inverse of a lower triangular Toeplitz matrix is also Toeplitz, so that its first column determines
    // it.
    let mut column: Vec<BigRational> = Vec::new();
    for t in 0..steps {
        let next = if key == "band" {
            band.get(t).map_or_else(BigRational::zero, |x| (*x).clone())
        } else {
            let mut sum = if t == 0 { BigRational::one() } else { BigRational::zero() };
            for (lag, x) in band.iter().enumerate().take(t + 1).skip(1) {
                sum -= *x * &column[t - lag];
            }
            sum / *first
        };
        bytes += room(t, &next);
        require_memory("the noise over time", bytes)?;
        column.push(next);
    }
    let column: Vec<Weight> = column.into_iter().map(Weight::of).collect();
    Ok(toeplitz(steps, &column))
}

/// The largest number of steps of a noise over time that is given by a band.
const MAX_TIMES: usize = 4096;
