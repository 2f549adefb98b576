//! Reads a program from its text, step by step.

use super::VERSION;
use super::json;
use super::line::{Line, index, syntax};
use super::names::{Entry, Names, place};
use crate::build::{Seeing, distinct};
use crate::holdings::Holdings;
use crate::{MixingMatrix, Program, ProgramError, Reads, Value, Weight};
use ndp_account::Error;
use ndp_graph::{GossipMatrix, Graph, Weights, generators};
use ndp_linalg::memory::require_memory;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::io::BufRead;

type Step = (usize, Map<String, Json>);

impl Program {
    /// Reads a program: see `docs/formats.md`.
    ///
    /// # Errors
    /// [`ProgramError::Line`] with the line and what is wrong with it: a text that is not JSON, an unknown
    /// key, an unknown or repeated name, and everything that the builder refuses; [`ProgramError::NotLinear`]
    /// for steps that are not linear Gaussian.
    ///
    /// # Examples
    /// ```
    /// use ndp_program::Program;
    /// let text = "{\"ndp-program\": 1, \"nodes\": 2}\n{\"leave\": 5}";
    /// let error = Program::read(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    /// assert_eq!(error, Err("line 2: node 5 is out of range: the program has 2 nodes".to_owned()));
    /// ```
    pub fn read(reader: impl BufRead) -> Result<Self, Error> {
        let mut steps: Vec<Step> = Vec::new();
        for (number, text) in (1..).zip(reader.lines()) {
            let at = |problem: Error| ProgramError::Line { line: number, problem: Box::new(problem) };
            let text = text.map_err(|e| at(ProgramError::Syntax(e.to_string()).into()))?;
            if text.trim().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            steps.push((number, json::object(&text).map_err(|e| at(e.into()))?));
        }
        let Some((line, first)) = steps.first() else {
            return Err(ProgramError::Syntax("a program needs a first line".into()).into());
        };
        let at = |line: usize, problem: Error| {
            Error::from(ProgramError::Line { line, problem: Box::new(problem) })
        };
        let (program, holdings) = header(first).map_err(|e| at(*line, e.into()))?;
        let mut reader = Reader {
            program,
            names: Names::default(),
            graphs: BTreeMap::new(),
            matrices: BTreeMap::new(),
            holdings,
            done: 0,
        };
        reader.block(&steps[1..], 0, &mut |line, problem| at(line, problem))?;
        Ok(reader.program)
    }
}

/// The program without steps, and what its nodes hold, unless the writer declares this as assumed.
fn header(map: &Map<String, Json>) -> Result<(Program, Option<Holdings>), ProgramError> {
    let line = Line::new(map, &["ndp-program", "nodes", "holdings"])?;
    let got = line.number("ndp-program")? as u64;
    if got != VERSION {
        return Err(ProgramError::Version { got, known: VERSION });
    }
    let program = Program::new(line.number("nodes")?)?;
    match line.has("holdings").then(|| line.text("holdings")).transpose()? {
        None => Ok((program, Some(Holdings::default()))),
        Some("assumed") => Ok((program, None)),
        Some(other) => syntax(format!("\"holdings\" can only be \"assumed\", got {other:?}")),
    }
}

/// Reads steps line by line.
pub(crate) struct Reader {
    pub(crate) program: Program,
    pub(super) names: Names,
    graphs: BTreeMap<String, Graph>,
    matrices: BTreeMap<String, MixingMatrix>,
    /// What nodes hold so far; `None` if the writer declares this as assumed.
    holdings: Option<Holdings>,
    /// Steps done so far.
    done: usize,
}

impl Reader {
    /// For the steps of a program that is built elsewhere; what nodes hold is not followed.
    pub(crate) fn following(nodes: usize) -> Result<Self, ProgramError> {
        Ok(Self {
            program: Program::new(nodes)?,
            names: Names::default(),
            graphs: BTreeMap::new(),
            matrices: BTreeMap::new(),
            holdings: None,
            done: 0,
        })
    }

    /// Names a value that was built elsewhere.
    pub(crate) fn call(&mut self, name: &str, value: Value) -> Result<(), ProgramError> {
        self.names.define(name, Entry::One(value))
    }

    /// The values of these names.
    pub(crate) fn values(&self, names: &[&str]) -> Result<Vec<Value>, ProgramError> {
        let all = names.iter().map(|name| self.names.all(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().flatten().collect())
    }

    fn block(
        &mut self,
        steps: &[Step],
        depth: usize,
        at: &mut impl FnMut(usize, Error) -> Error,
    ) -> Result<(), Error> {
        let mut k = 0;
        while let Some((line, map)) = steps.get(k) {
            self.count().map_err(|problem| at(*line, problem.into()))?;
            if !map.contains_key("repeat") {
                self.step(map).map_err(|problem| at(*line, problem))?;
                k += 1;
                continue;
            }
            let (times, length) =
                self.repeated(map, &steps[k + 1..], depth).map_err(|problem| at(*line, problem.into()))?;
            let (end, map) = &steps[k + 1 + length];
            let closed = Line::new(map, &["end"]).and_then(|line| line.text("end"));
            if closed.map_err(|problem| at(*end, problem.into()))? != "repeat" {
                let problem = ProgramError::Syntax("only a repeated block has an end".to_owned());
                return Err(at(*end, problem.into()));
            }
            for iteration in 0..times {
                self.names.enter(iteration);
                self.block(&steps[k + 1..k + 1 + length], depth + 1, at)?;
                self.count().map_err(|problem| at(*end, problem.into()))?;
                self.names.exit();
            }
            k += length + 2;
        }
        Ok(())
    }

    /// The number of repetitions of a block, and its length.
    fn repeated(
        &self,
        map: &Map<String, Json>,
        after: &[Step],
        depth: usize,
    ) -> Result<(usize, usize), ProgramError> {
        let times = Line::new(map, &["repeat"])?.number("repeat")?;
        if times == 0 {
            return syntax("a block is repeated at least once: what lies in it would not be read");
        }
        if depth >= MAX_DEPTH {
            return syntax(format!("blocks lie in each other more than {MAX_DEPTH} times"));
        }
        match inside(after) {
            // Each line counts, including the end of the block. This is refused at once, and not after
            // millions of steps.
            Some(length) if times.saturating_mul(length + 1) > MAX_STEPS.saturating_sub(self.done) => {
                syntax(format!("the program has more than {MAX_STEPS} steps"))
            }
            Some(length) => Ok((times, length)),
            None => syntax("the repeated block has no end"),
        }
    }

    /// Counts one more step.
    fn count(&mut self) -> Result<(), ProgramError> {
        self.done += 1;
        match self.done > MAX_STEPS {
            true => syntax(format!("the program has more than {MAX_STEPS} steps")),
            false => Ok(()),
        }
    }

    pub(crate) fn step(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        // Most lines define a few values for every node.
        self.room(4 * self.program.node_count())?;
        let verb = VERBS.iter().find(|verb| map.contains_key(**verb));
        match verb.copied() {
            Some("graph") => self.graph(map)?,
            Some("matrix") => self.matrix(map)?,
            Some("contribute") => self.contribute(map)?,
            Some("noise") => self.noise(map)?,
            Some("let" | "set") => self.assign(map)?,
            Some("send") => self.send(map)?,
            Some("broadcast") => {
                let line = Line::new(map, &["broadcast", "from", "nodes"])?;
                let reference = line.text("broadcast")?;
                let from = match line.one_of(&["from", "nodes"])? {
                    Some("from") => line.nodes("from")?,
                    _ => self.nodes(&line)?,
                };
                distinct(&from, "a broadcast")?;
                for node in from {
                    let value = self.names.at(reference, node)?;
                    self.program.broadcast(node, value)?;
                }
            }
            Some("publish") => {
                let value = self.names.one(Line::new(map, &["publish"])?.text("publish")?)?;
                self.program.broadcast(None, value)?;
            }
            Some("secure-sum") => self.secure_sum(map)?,
            Some("deliver") => {
                let line = Line::new(map, &["deliver", "to", "group"])?;
                let (value, to, group) =
                    (self.names.one(line.text("deliver")?)?, line.number("to")?, line.nodes("group")?);
                if group.len() < 2 {
                    return Err(ProgramError::SmallGroup { what: "a secure sum", got: group.len() }.into());
                }
                distinct(&group, "a secure sum")?;
                for &node in group.iter().chain([&to]) {
                    self.program.present(node, "take part in a secure sum")?;
                }
                self.program.see(value, Seeing::SecureSum { to, group });
            }
            Some("hold") => {
                let line = Line::new(map, &["hold", "by"])?;
                let (value, by) = (self.names.one(line.text("hold")?)?, line.number("by")?);
                self.program.hold(by, value)?;
            }
            Some("result") => {
                let line = Line::new(map, &["result", "nodes"])?;
                let reference = line.text("result")?;
                for node in self.nodes(&line)? {
                    let value = self.names.at(reference, node)?;
                    self.program.result([(node, value)])?;
                }
            }
            Some("leave") => {
                let nodes = Line::new(map, &["leave"])?.nodes("leave")?;
                nodes.into_iter().try_for_each(|node| self.program.leave(node))?;
            }
            Some("join") => {
                let nodes = Line::new(map, &["join"])?.nodes("join")?;
                nodes.into_iter().try_for_each(|node| self.program.join(node))?;
            }
            Some("end") => return Ok(syntax("an end without a beginning")?),
            Some(refused) => return Err(ProgramError::NotLinear(refused.to_owned()).into()),
            None => {
                let keys: Vec<&String> = map.keys().collect();
                return Ok(syntax(format!("no step has the keys {keys:?}"))?);
            }
        }
        self.room(0)?;
        match &mut self.holdings {
            Some(holdings) => holdings.follow(&self.program),
            None => Ok(()),
        }
    }

    /// Refuses a program that would not fit in memory with this number of further values and messages.
    pub(super) fn room(&self, more: usize) -> Result<(), Error> {
        let made = self.program.values.len() + self.program.events.len();
        Ok(require_memory("the steps of the program", (made + more) as u128 * BYTES)?)
    }

    /// The nodes that a line is about, without repetition: the nodes that are named, or all nodes.
    pub(super) fn nodes(&self, line: &Line<'_>) -> Result<Vec<usize>, ProgramError> {
        match line.one_of(&["node", "nodes"])? {
            Some("nodes") => {
                let nodes = line.nodes("nodes")?;
                distinct(&nodes, "a line").map(|()| nodes)
            }
            Some(_) => Ok(vec![line.number("node")?]),
            None => Ok((0..self.program.node_count()).filter(|&u| !self.program.has_left(u)).collect()),
        }
    }

    fn graph(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["graph", "family", "edges"])?;
        let (name, n) = (line.text("graph")?.to_owned(), self.program.node_count());
        if self.graphs.contains_key(&name) {
            return Err(ProgramError::RepeatedName(name).into());
        }
        let graph = if line.one_of(&["family", "edges"])? == Some("family") {
            match line.text("family")? {
                "path" => generators::path_graph(n)?,
                "cycle" => generators::cycle_graph(n)?,
                "complete" => generators::complete_graph(n)?,
                "star" => Graph::from_edges(n, (1..n).map(|leaf| (0, leaf)))?,
                other => return Ok(syntax(format!("{other:?} is none of path, cycle, complete, star"))?),
            }
        } else {
            let Json::Array(edges) = line.get("edges")? else {
                return Ok(syntax("\"edges\" must be a list of pairs")?);
            };
            let pair = |edge: &Json| match edge.as_array().map(Vec::as_slice) {
                Some([a, b]) => Ok((index(a, "edges")?, index(b, "edges")?)),
                _ => syntax(format!("{edge} is no pair of nodes")),
            };
            Graph::from_edges(n, edges.iter().map(pair).collect::<Result<Vec<_>, ProgramError>>()?)?
        };
        self.graphs.insert(name, graph);
        Ok(())
    }

    pub(super) fn find_graph(&self, name: &str) -> Result<&Graph, ProgramError> {
        self.graphs.get(name).ok_or_else(|| ProgramError::UnknownName(name.to_owned()))
    }

    fn matrix(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["matrix", "of", "weights", "lazy", "rows", "entries"])?;
        let name = line.text("matrix")?.to_owned();
        if self.matrices.contains_key(&name) {
            return Err(ProgramError::RepeatedName(name).into());
        }
        let kind = line.one_of(&["rows", "entries", "of"])?;
        let mixing = if kind == Some("rows") {
            line.only("rows", &["matrix"])?;
            MixingMatrix::from_dense(&line.table("rows")?)?
        } else if kind == Some("entries") {
            line.only("entries", &["matrix"])?;
            let Json::Array(rows) = line.get("entries")? else {
                return Ok(syntax("\"entries\" must be a list of rows")?);
            };
            let entry = |(column, x): (&String, &Json)| match place(column) {
                Some(column) => Ok((column, super::line::weight(x)?)),
                None => syntax(format!("{column:?} is no column")),
            };
            let row = |row: &Json| match row {
                Json::Object(entries) => entries.iter().map(entry).collect::<Result<Vec<_>, ProgramError>>(),
                _ => syntax("a row must be an object of columns and weights"),
            };
            let rows = rows.iter().map(row).collect::<Result<Vec<_>, ProgramError>>()?;
            MixingMatrix::try_from(rows.as_slice())?
        } else {
            let graph = self.find_graph(line.text("of")?)?;
            let named = line.text("weights")?;
            let matrix = match named.parse() {
                Ok(Weights::Given) | Err(_) => {
                    let known = "metropolis, max-degree, sum-degree, regular";
                    return Ok(syntax(format!("{named:?} is none of {known}"))?);
                }
                Ok(rule) => GossipMatrix::new(graph, rule)?,
            };
            let lazy = if line.has("lazy") { line.weight("lazy")? } else { Weight::from(0) };
            MixingMatrix::from(&matrix).lazy(&lazy)?
        };
        self.matrices.insert(name, mixing);
        Ok(())
    }

    pub(crate) fn find_matrix(&self, name: &str) -> Result<MixingMatrix, ProgramError> {
        self.matrices.get(name).cloned().ok_or_else(|| ProgramError::UnknownName(name.to_owned()))
    }

    fn contribute(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["contribute", "reads", "node", "nodes", "use"])?;
        let reads = self.reads(line.get("reads")?)?;
        let single = line.has("node");
        let nodes = self.nodes(&line)?;
        let mut family = vec![None; self.program.node_count()];
        for &node in &nodes {
            if line.has("use") && line.number("use")? != self.program.uses(node) {
                return Err(ProgramError::RepeatedUse { node, index: line.number("use")? }.into());
            }
            let value = self.program.contribute(node, reads.clone())?;
            family[node] = Some(value);
        }
        self.define_family(line.text("contribute")?, family, single.then(|| nodes[0]))
    }

    fn reads(&self, reads: &Json) -> Result<Reads, ProgramError> {
        let list = |list: &Json| -> Result<Option<Vec<Value>>, ProgramError> {
            let Json::Array(list) = list else { return syntax("what is read must be a list of names") };
            let mut values = Vec::new();
            for name in list {
                let name = name.as_str().map_or_else(|| syntax("what is read must be names"), Ok)?;
                values.extend(self.names.all(name)?);
            }
            Ok(Some(values))
        };
        match reads {
            Json::String(text) if text == "nothing" => Ok(Reads::Nothing),
            Json::String(text) if text == "seen" => Ok(Reads::Seen(None)),
            Json::String(text) if text == "hidden" => Ok(Reads::Hidden(None)),
            Json::Object(map) if map.len() == 1 => match map.iter().next() {
                Some((key, names)) if key == "seen" => Ok(Reads::Seen(list(names)?)),
                Some((key, names)) if key == "hidden" => Ok(Reads::Hidden(list(names)?)),
                _ => syntax("\"reads\" holds \"seen\" or \"hidden\" with a list"),
            },
            _ => syntax(
                "\"reads\" must be \"nothing\", \"seen\", \"hidden\", or one of the last two with a list",
            ),
        }
    }

    pub(super) fn define_family(
        &mut self,
        name: &str,
        family: Vec<Option<Value>>,
        single: Option<usize>,
    ) -> Result<(), Error> {
        let entry = match single.and_then(|node| family.get(node).copied().flatten()) {
            Some(value) => Entry::One(value),
            None => Entry::Family(family),
        };
        Ok(self.names.define(name, entry)?)
    }
}

/// The number of steps before the end of the block with which they begin.
fn inside(steps: &[Step]) -> Option<usize> {
    let mut depth = 0;
    for (k, (_, map)) in steps.iter().enumerate() {
        if map.contains_key("repeat") {
            depth += 1;
        } else if map.contains_key("end") {
            if depth == 0 {
                return Some(k);
            }
            depth -= 1;
        }
    }
    None
}

/// The kinds of lines; the last ones are refused.
const VERBS: [&str; 21] = [
    "graph",
    "matrix",
    "contribute",
    "noise",
    "let",
    "set",
    "send",
    "broadcast",
    "publish",
    "secure-sum",
    "deliver",
    "hold",
    "result",
    "leave",
    "join",
    "end",
    "shuffle",
    "compress",
    "quantize",
    "random-participation",
    "secret-path",
];
/// The largest number of steps that are read, including repetitions.
const MAX_STEPS: usize = 10_000_000;
/// The largest depth of nested blocks.
const MAX_DEPTH: usize = 64;
/// The approximate memory of a value or a message, in bytes.
const BYTES: u128 = 200;
