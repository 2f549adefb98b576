//! The durable log of a meter: a line for every step, written before a message is sent.
//!
//! ```text
//! {"n":0,"crc":"1c291ca3","step":{"ndp-meter":1,"nodes":["a","b"],...}}
//! {"n":1,"crc":"0f2a6b11","step":{"contribute":"v0","node":0,"reads":"nothing"}}
//! ```
//!
//! The checksum of a line goes on from that of the line before, so that a line that is lost, changed or moved
//! is found. A last line without its end was cut off, and is dropped: a message is sent only once its line
//! is whole, so that nothing was sent that is not in the log.

use super::{Limits, Meter, PointOfView};
use crate::constructors::ModelReads;
use crate::format::{Line, Reader, matrix_line, object, value_name};
use crate::{MixingMatrix, Program, ProgramError, SensitivitySet, Value, Weight};
use ndp_account::{Error, NodeNames, Observer};
use serde_json::{Map, Value as Json, json};

/// Where a log is kept. The library opens no file: whoever implements this does.
pub trait Durable {
    /// Writes a line with its end and returns once it would survive a crash: for a file write, flush, and
    /// `sync_data`.
    ///
    /// # Errors
    /// Those of writing; the step is not taken then, and nothing may be sent for it.
    fn append(&mut self, line: &str) -> std::io::Result<()>;
}

/// In memory, for tests and for what goes elsewhere.
impl Durable for Vec<u8> {
    fn append(&mut self, line: &str) -> std::io::Result<()> {
        self.extend_from_slice(line.as_bytes());
        self.push(b'\n');
        Ok(())
    }
}

/// A meter whose steps are in a log before they are done.
///
/// # Examples
/// ```
/// use ndp_account::NodeNames;
/// use ndp_program::meter::{Feed, Meter, MeterLog, PointOfView};
/// use ndp_program::{Reads, SensitivitySet};
/// let meter = Meter::every_node(2, SensitivitySet::UseLevel)?;
/// let names = NodeNames::new(["ann", "bob"])?;
/// let mut log = MeterLog::begin(meter, names, Vec::new())?;
/// let (x, z) = log.step(|p| Ok::<_, ndp_program::ProgramError>((p.contribute(0, Reads::Nothing)?, p.noise([0], 4)?)))?;
/// let y = log.step(|program| program.add(&[x, z]))?;
/// log.step(|program| program.send(0, 1, y))?; // and now it may be sent
/// let mut resumed = Feed::default();
/// let found = resumed.lines(&log.into_inner())?;
/// assert!(found.dropped.is_none() && found.lines == 5);
/// let meter = resumed.meter().expect("a first line");
/// assert!((meter.reading(1)?.loss(0)?.value() - 0.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MeterLog<W> {
    meter: Meter,
    names: NodeNames,
    log: W,
    next: u64,
    crc: u32,
    matrices: Vec<MixingMatrix>,
    broken: bool,
}

impl<W: Durable> MeterLog<W> {
    /// A log of a meter that was not fed yet.
    ///
    /// # Errors
    /// [`ProgramError::MeterStarted`]; [`ProgramError::Shape`] for other than one name for every node; those
    /// of writing.
    pub fn begin(meter: Meter, names: NodeNames, log: W) -> Result<Self, Error> {
        if meter.started() {
            return Err(ProgramError::MeterStarted.into());
        }
        if names.count() != meter.node_count() {
            let what = "names of nodes";
            return Err(ProgramError::Shape { what, expected: meter.node_count(), got: names.count() }.into());
        }
        let mut log = Self { meter, names, log, next: 0, crc: 0, matrices: Vec::new(), broken: false };
        let header = log.header();
        log.write([header])?;
        Ok(log)
    }

    /// Goes on with a log that was read, and writes where it ended; the caller has cut off what was dropped.
    ///
    /// # Errors
    /// [`ProgramError::Log`] for a log without a first line or without checksums.
    pub fn resume(feed: Feed, log: W) -> Result<Self, Error> {
        let refuse = |problem: &str| Error::from(ProgramError::Log(problem.to_owned()));
        if feed.plain {
            return Err(refuse("lines without checksums cannot be gone on with"));
        }
        let open = feed.open.ok_or_else(|| refuse("there is no first line"))?;
        let Open { meter, names, matrices, .. } = open;
        Ok(Self { meter, names, log, next: feed.next, crc: feed.crc, matrices, broken: false })
    }

    /// The meter.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The names of the nodes.
    #[must_use]
    pub fn names(&self) -> &NodeNames {
        &self.names
    }

    /// What was written to.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.log
    }

    /// As [`Meter::step`]; once it returns the steps are in the log, and a message may be sent.
    ///
    /// # Errors
    /// As [`Meter::step`]; [`ProgramError::Log`] where the log takes no line. Then the meter has counted the
    /// steps, nothing may be sent, and no further step is taken.
    pub fn step<T, E: Into<Error>>(
        &mut self,
        steps: impl FnOnce(&mut Program) -> Result<T, E>,
    ) -> Result<T, Error> {
        self.whole()?;
        let program = self.meter.program();
        let from = (program.values.len(), program.events.len(), program.changes.len());
        let found = self.meter.step(steps)?;
        let lines = self.meter.program().steps_since(from, &mut self.matrices);
        self.write(lines)?;
        Ok(found)
    }

    /// As [`Meter::round`].
    ///
    /// # Errors
    /// As [`Meter::round`] and [`step`](Self::step).
    pub fn round(
        &mut self,
        mixing: &MixingMatrix,
        variance: impl Into<Weight>,
        reads: ModelReads,
    ) -> Result<(), Error> {
        self.whole()?;
        let variance = variance.into();
        self.meter.round(mixing, variance.clone(), reads)?;
        let (number, line) = matrix_line(mixing, &mut self.matrices);
        let word = match reads {
            ModelReads::Nothing => "nothing",
            ModelReads::Seen => "model-seen",
            ModelReads::Hidden => "model-hidden",
            ModelReads::Assumed => "seen",
        };
        let round = json!({"round": format!("W{number}"), "variance": variance.to_string(), "reads": word});
        self.write(line.into_iter().chain([round]))
    }

    /// As [`Meter::forget`].
    ///
    /// # Errors
    /// As [`Meter::forget`] and [`step`](Self::step).
    pub fn forget(&mut self, values: &[Value]) -> Result<(), Error> {
        self.whole()?;
        self.meter.forget(values)?;
        let names: Vec<String> = values.iter().map(|value| value_name(value.index())).collect();
        self.write([json!({ "forget": names })])
    }

    fn whole(&self) -> Result<(), Error> {
        match self.broken {
            true => Err(ProgramError::Log("a line could not be written before".to_owned()).into()),
            false => Ok(()),
        }
    }

    fn write(&mut self, steps: impl IntoIterator<Item = Json>) -> Result<(), Error> {
        for step in steps {
            let step = step.to_string();
            let crc = checksum(self.crc, self.next, &step);
            let line = format!("{{\"n\":{},\"crc\":\"{crc:08x}\",\"step\":{step}}}", self.next);
            if let Err(error) = self.log.append(&line) {
                self.broken = true;
                return Err(
                    ProgramError::Log(format!("line {} cannot be written: {error}", self.next)).into()
                );
            }
            (self.next, self.crc) = (self.next + 1, crc);
        }
        Ok(())
    }

    fn header(&self) -> Json {
        let (worst, pairs) = self.meter.limits.parts();
        let pairs: Vec<Json> = pairs.iter().map(|((v, u), x)| json!([v, u, x])).collect();
        json!({
            "ndp-meter": VERSION,
            "nodes": (0..self.names.count()).filter_map(|v| self.names.name(v)).collect::<Vec<_>>(),
            "observers": self.meter.observers().collect::<Vec<_>>(),
            "set": self.meter.set(),
            "view": self.meter.view,
            "limit": worst,
            "limits": pairs,
            "record": self.meter.recorded,
        })
    }
}

/// What was found in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Lines that count.
    pub lines: u64,
    /// Bytes of the lines that count: what comes after is to be cut off before lines are added.
    pub bytes: u64,
    /// What is wrong with a last line that was dropped.
    pub dropped: Option<String>,
}

/// A meter that reads its steps from lines: of a log, or without numbers and checksums from a program that
/// tells what it does.
#[derive(Default)]
pub struct Feed {
    open: Option<Open>,
    next: u64,
    crc: u32,
    /// Whether lines have no checksums.
    plain: bool,
}

struct Open {
    meter: Meter,
    names: NodeNames,
    reader: Reader,
    matrices: Vec<MixingMatrix>,
    /// The last round: its matrix, the variance, what was read.
    round: Option<(MixingMatrix, Weight, ModelReads)>,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").field("next", &self.next).field("meter", &self.meter()).finish_non_exhaustive()
    }
}

impl Feed {
    /// The meter; none before the first line.
    #[must_use]
    pub fn meter(&self) -> Option<&Meter> {
        self.open.as_ref().map(|open| &open.meter)
    }

    /// The names of the nodes; none before the first line.
    #[must_use]
    pub fn names(&self) -> Option<&NodeNames> {
        self.open.as_ref().map(|open| &open.names)
    }

    /// Whether lines have no checksums.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether the first line was read, and nothing else.
    #[must_use]
    pub fn is_at_start(&self) -> bool {
        self.open.is_some() && self.next == 1
    }

    /// Fixes the limits of a meter whose first line has been read, in place of those of the line.
    ///
    /// # Errors
    /// As [`Meter::with_limits`]; [`ProgramError::Log`] before the first line.
    pub fn limit(&mut self, limits: Limits) -> Result<(), Error> {
        let open =
            self.open.as_mut().ok_or_else(|| ProgramError::Log("there is no first line".to_owned()))?;
        open.meter = open.meter.clone().with_limits(limits)?;
        Ok(())
    }

    /// How many more rounds like the last one fit below all limits, at most `most`; none where there was no
    /// round, or no limit.
    ///
    /// # Errors
    /// As [`Meter::remaining`].
    pub fn remaining(&self, most: u64) -> Result<Option<u64>, Error> {
        let Some(open) = self.open.as_ref().filter(|open| !open.meter.limits.is_empty()) else {
            return Ok(None);
        };
        let Some((mixing, variance, reads)) = &open.round else { return Ok(None) };
        open.meter.remaining(mixing, variance.clone(), *reads, most).map(Some)
    }

    /// Takes all lines of a log. A last line without its end was cut off, and is dropped.
    ///
    /// # Errors
    /// [`ProgramError::Line`] with the line and what is wrong with it; [`ProgramError::OverBudget`] in it
    /// where a limit is exceeded.
    pub fn lines(&mut self, log: &[u8]) -> Result<Resumed, Error> {
        let mut found = Resumed { lines: 0, bytes: 0, dropped: None };
        let mut rest = log;
        while !rest.is_empty() {
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + 1..]));
            let text = std::str::from_utf8(line).ok();
            if end.is_none() {
                found.dropped = Some("it was cut off".to_owned());
                return Ok(found);
            }
            let whole = match text {
                None => Err("it is no text".to_owned()),
                Some(text) => self.step_of(text),
            };
            let at = |problem: Error| {
                let line = usize::try_from(found.lines).unwrap_or(usize::MAX).saturating_add(1);
                Error::from(ProgramError::Line { line, problem: Box::new(problem) })
            };
            match whole {
                Ok(taken) => self.take(taken).map_err(at)?,
                Err(problem) => return Err(at(ProgramError::Log(problem).into())),
            }
            found.lines += 1;
            found.bytes += (line.len() + 1) as u64;
            rest = after;
        }
        Ok(found)
    }

    /// Takes one whole line, without its end; empty ones are skipped.
    ///
    /// # Errors
    /// [`ProgramError::Log`] for a line that does not follow the one before; those of the step.
    pub fn line(&mut self, text: &str) -> Result<(), Error> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let taken = self.step_of(text).map_err(ProgramError::Log)?;
        self.take(taken)
    }

    /// The text of the step of a line and its checksum; why there is none.
    fn step_of<'a>(&mut self, text: &'a str) -> Result<(&'a str, u32), String> {
        let Some(rest) = text.strip_prefix("{\"n\":") else {
            if self.next == 0 {
                self.plain = true;
            }
            return if self.plain { Ok((text, 0)) } else { Err("it has no number".to_owned()) };
        };
        if self.plain && self.next > 0 {
            return Err("it has a checksum, the lines before have none".to_owned());
        }
        let parts = rest.split_once(",\"crc\":\"").and_then(|(n, rest)| {
            let (crc, rest) = rest.split_once("\",\"step\":")?;
            Some((n.parse::<u64>().ok()?, u32::from_str_radix(crc, 16).ok()?, rest.strip_suffix('}')?))
        });
        let (n, crc, step) = parts.ok_or_else(|| "it is no line of a log".to_owned())?;
        if n != self.next {
            return Err(format!("it has the number {n}, not {}: a line is missing or moved", self.next));
        }
        if crc != checksum(self.crc, n, step) {
            return Err("its checksum does not fit: it was changed".to_owned());
        }
        Ok((step, crc))
    }

    fn take(&mut self, (text, crc): (&str, u32)) -> Result<(), Error> {
        if self.plain && (text.trim().is_empty() || text.trim_start().starts_with('#')) {
            return Ok(());
        }
        let map = object(text)?;
        match &mut self.open {
            None => self.open = Some(Open::new(&map)?),
            Some(open) => open.take(&map)?,
        }
        (self.next, self.crc) = (self.next + 1, crc);
        Ok(())
    }
}

impl Open {
    fn new(map: &Map<String, Json>) -> Result<Self, Error> {
        let keys = ["ndp-meter", "nodes", "observers", "set", "view", "limit", "limits", "record"];
        let line = Line::new(map, &keys)?;
        let got = line.number("ndp-meter")? as u64;
        if got != VERSION {
            return Err(ProgramError::Version { got, known: VERSION }.into());
        }
        let names = match line.get("nodes")? {
            Json::Number(_) => NodeNames::numbered(line.number("nodes")?),
            _ => NodeNames::new(line.texts("nodes")?)?,
        };
        let bad = |what: &str, error: serde_json::Error| ProgramError::Syntax(format!("{what:?}: {error}"));
        let observers: Vec<Observer> = match line.has("observers") {
            true => {
                serde_json::from_value(line.get("observers")?.clone()).map_err(|e| bad("observers", e))?
            }
            false => (0..names.count()).map(Observer::node).collect(),
        };
        let set = match line.get("set")? {
            Json::String(word) if word == "same-direction" => SensitivitySet::SameDirection,
            Json::String(word) if word == "use-level" => SensitivitySet::UseLevel,
            Json::String(word) if word == "signs" => SensitivitySet::Signs,
            Json::Object(of) => {
                let dimension = of.get("vectors").and_then(|x| x.get("dimension")).and_then(Json::as_u64);
                let dimension = dimension.and_then(|x| usize::try_from(x).ok());
                let dimension =
                    dimension.ok_or_else(|| ProgramError::MeterSet(Json::Object(of.clone()).to_string()))?;
                SensitivitySet::Vectors { dimension }
            }
            other => return Err(ProgramError::MeterSet(other.to_string()).into()),
        };
        let mut meter = Meter::new(names.count(), observers, set)?;
        if line.has("view") {
            let view: PointOfView =
                serde_json::from_value(line.get("view")?.clone()).map_err(|e| bad("view", e))?;
            meter = meter.seen_by(view)?;
        }
        let limit = match map.get("limit") {
            None | Some(Json::Null) => None,
            Some(limit) => Some(limit.as_f64().ok_or_else(|| ProgramError::NotANumber(limit.to_string()))?),
        };
        let mut limits = limit.map_or(Ok(Limits::default()), Limits::worst)?;
        if line.has("limits") {
            let pairs: Vec<(usize, usize, f64)> =
                serde_json::from_value(line.get("limits")?.clone()).map_err(|e| bad("limits", e))?;
            for (observer, node, loss) in pairs {
                limits = limits.pair(observer, node, loss)?;
            }
        }
        meter = meter.with_limits(limits)?;
        if line.has("record") && *line.get("record")? == Json::Bool(false) {
            meter = meter.without_record()?;
        }
        let reader = Reader::following(names.count())?;
        Ok(Self { meter, names, reader, matrices: Vec::new(), round: None })
    }

    fn take(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        if map.contains_key("round") {
            let line = Line::new(map, &["round", "variance", "reads"])?;
            let mixing = self.reader.find_matrix(line.text("round")?)?;
            let reads = match line.text("reads")? {
                "nothing" => ModelReads::Nothing,
                "model-seen" => ModelReads::Seen,
                "model-hidden" => ModelReads::Hidden,
                "seen" => ModelReads::Assumed,
                other => {
                    let known = "nothing, model-seen, model-hidden, seen";
                    return Err(ProgramError::Syntax(format!("{other:?} is none of {known}")).into());
                }
            };
            let variance = line.weight("variance")?;
            self.meter.round(&mixing, variance.clone(), reads)?;
            self.round = Some((mixing, variance, reads));
            let models = self.meter.models();
            return Ok(models
                .into_iter()
                .try_for_each(|model| self.reader.call(&value_name(model.index()), model))?);
        }
        if map.contains_key("forget") {
            let names = Line::new(map, &["forget"])?.texts("forget")?;
            let values = self.reader.values(&names)?;
            return Ok(self.meter.forget(&values)?);
        }
        if map.contains_key("matrix") || map.contains_key("graph") {
            self.reader.step(map)?;
            if let Some(Json::String(name)) = map.get("matrix") {
                self.matrices.push(self.reader.find_matrix(name)?);
            }
            return Ok(());
        }
        let reader = &mut self.reader;
        self.meter.step(|program| {
            std::mem::swap(program, &mut reader.program);
            let done = reader.step(map);
            std::mem::swap(program, &mut reader.program);
            done
        })
    }
}

/// CRC-32 (IEEE) of a line after the lines before it.
fn checksum(before: u32, number: u64, step: &str) -> u32 {
    let mut crc = !0_u32;
    let head = format!("{before:08x}{number}:");
    for byte in head.bytes().chain(step.bytes()) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// The version of the log that is read and written.
const VERSION: u64 = 1;
