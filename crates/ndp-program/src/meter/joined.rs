//! Combines logs that each tell a part of one run.
//!
//! Each log tells every step of some nodes, in their order, and names what crosses from one log to another: a
//! message or a shared noise has an `id` in the log that tells it, and `receive` says in the other log what
//! its name there is. The steps of all logs, with each log in its order and each receipt after what is
//! received, form one order of the run. An ordinary meter then states about it what it states about any run.
//!
//! Any such order gives the same result. Every value is computed after its terms, and every contribution is
//! made after everything that its node had received by then. The values therefore have the same joint law in
//! each of these orders, and an observer has seen the same values in the end. (`docs/theory.md`, "The
//! meter".)

use super::feed::{Feed, Numbered, Open};
use super::log::PARTS_VERSION;
use super::merge::{Merged, Side};
use crate::ProgramError;
use crate::format::Line;
use ndp_account::{Error, RestsOn};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The log of some nodes of a run.
struct Part {
    side: Side,
    /// For each of its nodes, the index of the node in the first log.
    place: Vec<usize>,
    /// The nodes whose steps it tells, by these indices.
    tells: BTreeSet<usize>,
    /// The lines that have not been taken yet, with their numbers.
    lines: VecDeque<Numbered>,
    /// For each name of a value in this log, the common name.
    names: BTreeMap<String, String>,
}

/// A value with an `id`: its common name, and who knows it.
struct Shared {
    name: String,
    known: Known,
}

enum Known {
    /// Everybody, because it was broadcast.
    All,
    /// These nodes: the receiver of a message, or the holders of a noise.
    Nodes(Vec<usize>),
}

/// Noises that nodes of several logs hold, with the logs that still have to name them.
type Owed = BTreeMap<String, BTreeSet<usize>>;

impl Merged {
    /// Combines logs of parts of one run, which tell every step of their nodes (see `docs/formats.md`).
    ///
    /// # Examples
    /// ```
    /// use ndp_program::meter::Merged;
    /// let ann = r#"{"ndp-meter": 2, "nodes": ["ann", "bob", "cem"], "set": "use-level", "tells": [0]}
    /// {"contribute": "x", "node": 0, "reads": "nothing"}
    /// {"noise": "z", "shared": [0], "variance": 4}
    /// {"let": "y", "sum": {"x": 1, "z": 1}}
    /// {"send": "y", "from": 0, "to": 1, "id": "ann-1"}
    /// "#;
    /// let others = r#"{"ndp-meter": 2, "nodes": ["bob", "cem", "ann"], "set": "use-level", "tells": [0, 1]}
    /// {"receive": "a", "id": "ann-1", "by": 0}
    /// {"noise": "z", "shared": [0], "variance": 4}
    /// {"let": "s", "sum": {"a": 1, "z": 1}}
    /// {"send": "s", "from": 0, "to": 1}
    /// "#;
    /// let both = Merged::parts(&[ann.as_bytes(), others.as_bytes()])?;
    /// // Bob has heard of ann through a variance of 4, cem through 8.
    /// assert!((both.readings()[1].loss(0)?.value() - 0.25).abs() < 1e-9);
    /// assert!((both.readings()[2].loss(0)?.value() - 0.125).abs() < 1e-9);
    /// // Without the log of ann nobody knows what bob received.
    /// assert!(Merged::parts(&[others.as_bytes()]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ProgramError::Merge`] if the logs differ in nodes, set, units, budgets or observers, if no log or
    /// two logs tell the steps of a node, for a step that does not belong to a log's own nodes, for a
    /// received message that is in no log, and for logs that wait for each other; those of
    /// [`Meter::reading`](super::Meter::reading).
    pub fn parts(logs: &[&[u8]]) -> Result<Self, Error> {
        let mut parts: Vec<Part> = Vec::new();
        let mut open: Option<Open> = None;
        for (number, log) in logs.iter().enumerate() {
            let (header, part) = Part::read(log, parts.first()).map_err(|error| in_log(number, &error))?;
            parts.push(part);
            open = open.or(Some(header));
        }
        let (Some(mut open), Some(first)) = (open, parts.first()) else { return refuse("there is no log") };
        for u in 0..first.side.names.count() {
            let told = parts.iter().filter(|part| part.tells.contains(&u)).count();
            if told != 1 {
                let how = if told == 0 { "no log tells" } else { "more than one log tells" };
                return refuse(format!("{how} of the steps of {}", first.side.name(u)));
            }
        }
        let owner = |u: usize| parts.iter().position(|part| part.tells.contains(&u)).unwrap_or_default();
        let owner = (0..first.side.names.count()).map(owner).collect();
        let mut joined = Joined { shared: BTreeMap::new(), owed: Owed::new(), owner };
        loop {
            let before: usize = parts.iter().map(|part| part.lines.len()).sum();
            for number in 0..parts.len() {
                while joined.is_ready(&parts[number])? {
                    joined.take(&mut parts, number, &mut open)?;
                }
            }
            let left: usize = parts.iter().map(|part| part.lines.len()).sum();
            if left == 0 {
                break;
            }
            if left == before {
                return Err(stuck(&parts));
            }
        }
        if let Some((id, number)) = joined.owed.iter().find_map(|(id, by)| Some((id, by.first()?))) {
            let what = "has a node that holds it, and does not say what it calls it";
            return refuse(format!("log {} does not receive the noise {id:?}: it {what}", number + 1));
        }
        let first = parts.swap_remove(0).side;
        let mut readings = Vec::new();
        for k in 0..open.meter.observers().len() {
            readings.push(open.meter.reading(k)?);
        }
        let rests_on = open.meter.rests_on().into_iter().chain([RestsOn::PartsOfOneRun]);
        Ok(Self {
            rests_on: RestsOn::together(rests_on).into_iter().collect(),
            set: first.meter.set().clone(),
            limits: first.meter.limits().clone(),
            names: first.names,
            readings,
        })
    }
}

fn refuse<T>(what: impl Into<String>) -> Result<T, Error> {
    Err(ProgramError::Merge(what.into()).into())
}

/// Adds to an error the number of the log, from 1, in which it occurred.
fn in_log(number: usize, error: &Error) -> Error {
    ProgramError::Merge(format!("log {}: {error}", number + 1)).into()
}

/// The reason why no line can be taken: a received message is in no log, or two logs wait for each other.
fn stuck(parts: &[Part]) -> Error {
    let told = |id: &str| {
        let has = |(_, line): &Numbered| {
            line.get("id").and_then(Json::as_str) == Some(id) && !line.contains_key("receive")
        };
        parts.iter().any(|part| part.lines.iter().any(has))
    };
    let waits = parts.iter().enumerate().filter_map(|(number, part)| {
        let (line, map) = part.lines.front()?;
        Some((number, *line, map.get("id").and_then(Json::as_str)?.to_owned()))
    });
    let waits: Vec<_> = waits.collect();
    if let Some((number, line, id)) = waits.iter().find(|(_, _, id)| !told(id)) {
        let what = format!("log {}, line {line}: what was received as {id:?} is in no log", number + 1);
        return ProgramError::Merge(what).into();
    }
    let all: Vec<String> = waits
        .iter()
        .map(|(number, line, id)| format!("log {} at line {line} for {id:?}", number + 1))
        .collect();
    let what = format!(
        "their order cannot be decided, as each waits for what comes later in another: {}",
        all.join(", ")
    );
    ProgramError::Merge(what).into()
}

impl Part {
    /// A log, and a meter for its first line without the limits, which apply to all logs together.
    fn read(log: &[u8], first: Option<&Self>) -> Result<(Open, Self), Error> {
        let log_error = |what: &str| Error::from(ProgramError::Log(what.to_owned()));
        let lines = Feed::steps(log)?;
        let mut lines = lines.into_iter();
        let (_, mut header) = lines.next().ok_or_else(|| log_error("there is no first line"))?;
        let version = header.insert("ndp-meter".to_owned(), json!(super::log::VERSION));
        if version.as_ref().and_then(Json::as_u64) != Some(PARTS_VERSION) {
            return Err(log_error("the log of a part of a run begins with \"ndp-meter\": 2"));
        }
        let tells = header.remove("tells");
        let tells = tells.ok_or_else(|| log_error("its first line does not say whose steps it tells"))?;
        if header.get("view").is_some_and(|view| view != "coordinator") {
            return Err(log_error("a part has no point of view of its own: all parts together are the run"));
        }
        if header.get("record") == Some(&Json::Bool(false)) {
            return Err(log_error("a part is a record of its steps"));
        }
        let told = Map::from_iter([("tells".to_owned(), tells)]);
        let told = Line::new(&told, &["tells"])?.nodes("tells")?;
        let with_limits = Open::new(&header, None)?;
        let side = Side::new((with_limits.meter, with_limits.names));
        for limit in ["limit", "limits"] {
            header.remove(limit);
        }
        let open = Open::new(&header, None)?;
        let place = match first {
            None => (0..side.names.count()).collect(),
            Some(first) => {
                let place = side.places(&first.side.names)?;
                first.side.agrees(&side)?;
                if !side.limits_in(&first.side, &place)? {
                    return refuse("they have different budgets");
                }
                place
            }
        };
        let node = |u: usize| {
            place.get(u).copied().ok_or(ProgramError::NodeOutOfRange { node: u, nodes: place.len() })
        };
        let tells = told.into_iter().map(node).collect::<Result<_, _>>()?;
        Ok((open, Self { side, tells, lines: lines.collect(), names: BTreeMap::new(), place }))
    }
}

/// What is known of all logs while they are combined.
struct Joined {
    shared: BTreeMap<String, Shared>,
    owed: Owed,
    /// For each node, the log that tells its steps.
    owner: Vec<usize>,
}

impl Joined {
    /// Whether everything that the next line of a log needs is there.
    fn is_ready(&self, part: &Part) -> Result<bool, Error> {
        let Some((_, line)) = part.lines.front() else { return Ok(false) };
        if !line.contains_key("receive") {
            return Ok(true);
        }
        Ok(self.shared.contains_key(Line::new(line, &["receive", "id", "by"])?.text("id")?))
    }

    /// Takes the next line of a log.
    fn take(&mut self, parts: &mut [Part], number: usize, open: &mut Open) -> Result<(), Error> {
        let Some((at, line)) = parts[number].lines.pop_front() else { return Ok(()) };
        let step = self.translated(&mut parts[number], number, &line);
        let taken = step.and_then(|step| step.map_or(Ok(()), |step| open.take(&step)));
        taken.map_err(|error| ProgramError::Merge(format!("log {}, line {at}: {error}", number + 1)).into())
    }

    /// A line with the common names and indices; `None` if nothing is left to do.
    fn translated(
        &mut self,
        part: &mut Part,
        number: usize,
        map: &Map<String, Json>,
    ) -> Result<Option<Map<String, Json>>, Error> {
        let mut voice = Voice { part, number };
        let verb = VERBS.iter().find(|verb| map.contains_key(**verb)).copied();
        let step = match verb {
            Some("receive") => {
                self.receive(&mut voice, map)?;
                return Ok(None);
            }
            // Forgetting makes filters smaller but changes no loss, and another log may still read the
            // values.
            Some("forget") => return Ok(None),
            Some("contribute") => {
                let line = Line::new(map, &["contribute", "node", "reads"])?;
                let node = voice.own(line.number("node")?)?;
                let reads = voice.reads(line.get("reads")?)?;
                json!({"contribute": voice.define(line.text("contribute")?)?, "node": node, "reads": reads})
            }
            Some("noise") => self.noise(&mut voice, map)?,
            Some("let") => {
                let line = Line::new(map, &["let", "sum"])?;
                let sum = voice.sum(line.get("sum")?)?;
                json!({"let": voice.define(line.text("let")?)?, "sum": sum})
            }
            Some("send") => {
                let line = Line::new(map, &["send", "from", "to", "id"])?;
                let (from, to) = (voice.own(line.number("from")?)?, voice.place(line.number("to")?)?);
                let name = voice.name(line.text("send")?)?;
                if line.has("id") {
                    self.share(line.text("id")?, &name, Known::Nodes(vec![to]))?;
                }
                json!({"send": name, "from": from, "to": to})
            }
            Some("broadcast") => {
                let line = Line::new(map, &["broadcast", "from", "id"])?;
                let from = voice.own(line.number("from")?)?;
                let name = voice.name(line.text("broadcast")?)?;
                if line.has("id") {
                    self.share(line.text("id")?, &name, Known::All)?;
                }
                json!({"broadcast": name, "from": from})
            }
            Some("deliver") => {
                let line = Line::new(map, &["deliver", "to", "group"])?;
                let group: Vec<usize> =
                    line.nodes("group")?.into_iter().map(|u| voice.own(u)).collect::<Result<_, _>>()?;
                json!({"deliver": voice.name(line.text("deliver")?)?, "to": voice.own(line.number("to")?)?, "group": group})
            }
            Some("hold") => {
                let line = Line::new(map, &["hold", "by"])?;
                json!({"hold": voice.name(line.text("hold")?)?, "by": voice.own(line.number("by")?)?})
            }
            Some(verb @ ("join" | "leave")) => {
                let nodes = Line::new(map, &[verb])?.nodes(verb)?;
                let nodes: Vec<usize> = nodes.into_iter().map(|u| voice.own(u)).collect::<Result<_, _>>()?;
                json!({ verb: nodes })
            }
            _ => {
                let known = VERBS.join(", ");
                return refuse(format!("a part of a run is told in single steps: {known}"));
            }
        };
        Ok(match step {
            Json::Object(step) => Some(step),
            _ => None,
        })
    }

    /// Gives the value that a log receives the name that it has there, if it is for the node that receives
    /// it.
    fn receive(&mut self, voice: &mut Voice<'_>, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["receive", "id", "by"])?;
        let (id, by) = (line.text("id")?, line.number("by")?);
        let place = voice.own(by)?;
        let missing = || ProgramError::UnknownName(id.to_owned());
        let shared = self.shared.get(id).ok_or_else(missing)?;
        if let Known::Nodes(nodes) = &shared.known
            && !nodes.contains(&place)
        {
            return refuse(format!("{id:?} was not for {}", voice.part.side.name(by)));
        }
        let name = line.text("receive")?;
        if voice.part.names.insert(name.to_owned(), shared.name.clone()).is_some() {
            return Err(ProgramError::RepeatedName(name.to_owned()).into());
        }
        if let Some(owed) = self.owed.get_mut(id) {
            owed.remove(&voice.number);
            if owed.is_empty() {
                self.owed.remove(id);
            }
        }
        Ok(())
    }

    /// A noise. If nodes of other logs hold it too, those logs owe a receipt.
    fn noise(&mut self, voice: &mut Voice<'_>, map: &Map<String, Json>) -> Result<Json, Error> {
        let line = Line::new(map, &["noise", "shared", "variance", "id"])?;
        let holders: Vec<usize> =
            line.nodes("shared")?.into_iter().map(|u| voice.place(u)).collect::<Result<_, _>>()?;
        let mut others: BTreeSet<usize> = holders.iter().map(|&u| self.owner[u]).collect();
        if !others.remove(&voice.number) {
            return refuse("a noise is told of by the log of a node that holds it");
        }
        let name = voice.define(line.text("noise")?)?;
        if line.has("id") {
            self.share(line.text("id")?, &name, Known::Nodes(holders.clone()))?;
            if !others.is_empty() {
                self.owed.insert(line.text("id")?.to_owned(), others);
            }
        } else if !others.is_empty() {
            return refuse("a noise that nodes of several logs hold needs an \"id\"");
        }
        Ok(json!({"noise": name, "shared": holders, "variance": line.get("variance")?}))
    }

    fn share(&mut self, id: &str, name: &str, known: Known) -> Result<(), Error> {
        match self.shared.insert(id.to_owned(), Shared { name: name.to_owned(), known }) {
            None => Ok(()),
            Some(_) => Err(ProgramError::RepeatedName(id.to_owned()).into()),
        }
    }
}

/// The log whose line is being translated.
struct Voice<'a> {
    part: &'a mut Part,
    number: usize,
}

impl Voice<'_> {
    /// The common index of a node.
    fn place(&self, node: usize) -> Result<usize, Error> {
        let nodes = self.part.place.len();
        Ok(*self.part.place.get(node).ok_or(ProgramError::NodeOutOfRange { node, nodes })?)
    }

    /// The common index of a node whose steps this log tells.
    fn own(&self, node: usize) -> Result<usize, Error> {
        let place = self.place(node)?;
        match self.part.tells.contains(&place) {
            true => Ok(place),
            false => refuse(format!("it does not tell of the steps of {}", self.part.side.name(node))),
        }
    }

    /// The common name of a value.
    fn name(&self, name: &str) -> Result<String, Error> {
        let found = self.part.names.get(name).cloned();
        Ok(found.ok_or_else(|| ProgramError::UnknownName(name.to_owned()))?)
    }

    /// The common name for a new value.
    fn define(&mut self, name: &str) -> Result<String, Error> {
        let all = format!("p{}-{name}", self.number);
        match self.part.names.insert(name.to_owned(), all.clone()) {
            None => Ok(all),
            Some(_) => Err(ProgramError::RepeatedName(name.to_owned()).into()),
        }
    }

    /// A sum with the common names of its terms.
    fn sum(&self, sum: &Json) -> Result<Json, Error> {
        match sum {
            Json::String(name) => Ok(json!(self.name(name)?)),
            Json::Object(terms) => {
                let mut sum = Map::new();
                for (name, weight) in terms {
                    // Two names of the same value would become a single term.
                    if sum.insert(self.name(name)?, weight.clone()).is_some() {
                        return refuse(format!("{name} is a second name of a value of the same sum"));
                    }
                }
                Ok(Json::Object(sum))
            }
            _ => {
                Err(ProgramError::Syntax("\"sum\" must be an object of names and weights".to_owned()).into())
            }
        }
    }

    fn reads(&self, reads: &Json) -> Result<Json, Error> {
        let Json::Object(map) = reads else { return Ok(reads.clone()) };
        let mut named = Map::new();
        for (key, list) in map {
            let names = Line::new(map, &["seen", "hidden"])?.texts(key)?;
            let names: Vec<String> =
                names.into_iter().map(|name| self.name(name)).collect::<Result<_, _>>()?;
            named.insert(key.clone(), if list.is_array() { json!(names) } else { list.clone() });
        }
        Ok(Json::Object(named))
    }
}

/// The steps that a log of a part may contain.
const VERBS: [&str; 11] = [
    "receive",
    "contribute",
    "noise",
    "let",
    "send",
    "broadcast",
    "deliver",
    "hold",
    "join",
    "leave",
    "forget",
];
