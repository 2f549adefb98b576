//! Reads the lines of a log, or of a program that reports its steps, into a meter.

use super::log::{PARTS_VERSION, VERSION, checksum};
use super::{Limits, Meter, PointOfView, require_room};
use crate::constructors::ModelReads;
use crate::format::{Line, Reader, object, value_name};
use crate::{MixingMatrix, ProgramError, SensitivitySet, Weight};
use ndp_account::{Error, NodeNames, Observer};
use serde_json::{Map, Value as Json};

/// A parsed line, with its number.
pub(super) type Numbered = (usize, Map<String, Json>);

/// What was read from a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The number of lines that count.
    pub lines: u64,
    /// The bytes of the lines that count. The rest is to be cut off before lines are added.
    pub bytes: u64,
    /// The reason why a last line was dropped.
    pub dropped: Option<String>,
}

/// A meter that reads its steps from lines: the lines of a log, or lines without numbers and checksums from a
/// program that reports what it does.
#[derive(Default)]
pub struct Feed {
    pub(super) open: Option<Open>,
    pub(super) next: u64,
    pub(super) crc: u32,
    /// Whether lines have no checksums.
    pub(super) plain: bool,
    /// A point of view that replaces that of the log.
    view: Option<String>,
}

pub(super) struct Open {
    pub(super) meter: Meter,
    pub(super) names: NodeNames,
    reader: Reader,
    pub(super) matrices: Vec<MixingMatrix>,
    /// The last round: its matrix, the variance, and what contributions read.
    round: Option<(MixingMatrix, Weight, ModelReads)>,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").field("next", &self.next).field("meter", &self.meter()).finish_non_exhaustive()
    }
}

impl Feed {
    /// A feed that reads a log from another point of view: `coordinator`, `schedule:NODE`, or `own:NODE`,
    /// with the name of the node.
    ///
    /// With `own:NODE` the only observer is the coalition of all other nodes, and of the limits only the one
    /// for all pairs is kept. The first line is refused if the writer of the log knew less than this point of
    /// view needs.
    #[must_use]
    pub fn seen_as(view: impl Into<String>) -> Self {
        Self { view: Some(view.into()), ..Self::default() }
    }

    /// The meter; `None` before the first line.
    #[must_use]
    pub fn meter(&self) -> Option<&Meter> {
        self.open.as_ref().map(|open| &open.meter)
    }

    /// The names of the nodes; `None` before the first line.
    #[must_use]
    pub fn names(&self) -> Option<&NodeNames> {
        self.open.as_ref().map(|open| &open.names)
    }

    /// Whether lines have no checksums.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a last line without its end was cut off. A line with a checksum is written before anything is
    /// sent for it, so that one that was cut off tells of nothing. Other lines count as they are.
    #[must_use]
    pub fn is_cut_off(&self, line: &[u8]) -> bool {
        const FRAME: &[u8] = b"{\"n\":";
        if self.next == 0 { line.starts_with(FRAME) || FRAME.starts_with(line) } else { !self.plain }
    }

    /// Whether only the first line has been read.
    #[must_use]
    pub fn is_at_start(&self) -> bool {
        self.open.is_some() && self.next == 1
    }

    /// Fixes the limits of a meter whose first line has been read; they replace those of the line.
    ///
    /// # Errors
    /// As [`Meter::with_limits`]; [`ProgramError::Log`] before the first line.
    pub fn limit(&mut self, limits: Limits) -> Result<(), Error> {
        let open =
            self.open.as_mut().ok_or_else(|| ProgramError::Log("there is no first line".to_owned()))?;
        open.meter = open.meter.clone().with_limits(limits)?;
        Ok(())
    }

    /// How many further rounds like the last one fit below all limits, up to `most`; `None` if there was no
    /// round, there is no limit, or a node that took part has left.
    ///
    /// # Errors
    /// As [`Meter::remaining`].
    pub fn remaining(&self, most: u64) -> Result<Option<u64>, Error> {
        let Some(open) = self.open.as_ref().filter(|open| !open.meter.limits.is_empty()) else {
            return Ok(None);
        };
        let Some((mixing, variance, reads)) = &open.round else { return Ok(None) };
        match open.meter.remaining(mixing, variance.clone(), *reads, most) {
            Err(error) if matches!(error.carried(), Some(ProgramError::Absent { .. })) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Reads all lines of a log. A last line that was [cut off](Self::is_cut_off) is dropped.
    ///
    /// # Errors
    /// [`ProgramError::Line`] with the line and what is wrong with it, which is [`ProgramError::OverBudget`]
    /// if a limit is exceeded.
    pub fn lines(&mut self, log: &[u8]) -> Result<Resumed, Error> {
        let mut found = Resumed { lines: 0, bytes: 0, dropped: None };
        let mut rest = log;
        while !rest.is_empty() {
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + 1..]));
            if end.is_none() && self.is_cut_off(line) {
                found.dropped = Some("it was cut off".to_owned());
                return Ok(found);
            }
            let whole = text_of(line).and_then(|text| self.step_of(text));
            let at = |problem: Error| {
                let line = usize::try_from(found.lines).unwrap_or(usize::MAX).saturating_add(1);
                Error::from(ProgramError::Line { line, problem: Box::new(problem) })
            };
            match whole {
                Ok(taken) => self.take(taken).map_err(at)?,
                Err(problem) => return Err(at(ProgramError::Log(problem).into())),
            }
            found.lines += 1;
            found.bytes += (line.len() + usize::from(end.is_some())) as u64;
            rest = after;
        }
        Ok(found)
    }

    /// The parsed lines of a log, including the first one, each with its number. A last line that was
    /// [cut off](Self::is_cut_off) is left out.
    ///
    /// # Errors
    /// [`ProgramError::Log`] for a line that does not follow the previous one; [`ProgramError::Syntax`].
    pub(super) fn steps(log: &[u8]) -> Result<Vec<Numbered>, Error> {
        let (mut feed, mut steps) = (Self::default(), Vec::new());
        for (number, line) in (1..).zip(log.split_inclusive(|&byte| byte == b'\n')) {
            let at = |problem: ProgramError| {
                Error::from(ProgramError::Line { line: number, problem: Box::new(problem.into()) })
            };
            let line = match line.strip_suffix(b"\n") {
                Some(line) => line,
                None if feed.is_cut_off(line) => break,
                None => line,
            };
            let step = text_of(line).and_then(|text| feed.step_of(text));
            let (text, crc) = step.map_err(|problem| at(ProgramError::Log(problem)))?;
            if feed.plain && (text.trim().is_empty() || text.trim_start().starts_with('#')) {
                continue;
            }
            steps.push((number, object(text).map_err(at)?));
            (feed.next, feed.crc) = (feed.next + 1, crc);
        }
        Ok(steps)
    }

    /// Reads one complete line, without its end; empty lines are skipped.
    ///
    /// # Errors
    /// [`ProgramError::Log`] for a line that does not follow the previous one; those of the step.
    pub fn line(&mut self, text: &str) -> Result<(), Error> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let taken = self.step_of(text).map_err(ProgramError::Log)?;
        self.take(taken)
    }

    /// The text of the step in a line, and its checksum; or the reason why there is none.
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
            None => self.open = Some(Open::new(&map, self.view.as_deref())?),
            Some(open) => open.take(&map)?,
        }
        (self.next, self.crc) = (self.next + 1, crc);
        Ok(())
    }
}

/// A line as text, or the reason why it is none.
fn text_of(line: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(line).map_err(|_| "it is no text".to_owned())
}

fn read<T: serde::de::DeserializeOwned>(line: &Line<'_>, key: &'static str) -> Result<T, Error> {
    serde_json::from_value(line.get(key)?.clone())
        .map_err(|error| ProgramError::Syntax(format!("{key:?}: {error}")).into())
}

impl Open {
    pub(super) fn new(map: &Map<String, Json>, asked: Option<&str>) -> Result<Self, Error> {
        let keys =
            ["ndp-meter", "tells", "nodes", "observers", "set", "view", "limit", "limits", "record", "scale"];
        let line = Line::new(map, &keys)?;
        let got = line.number("ndp-meter")? as u64;
        if got == PARTS_VERSION {
            let what = "it tells of a part of a run, which says nothing without the other parts: merge them";
            return Err(ProgramError::Log(what.to_owned()).into());
        }
        if got != VERSION {
            return Err(ProgramError::Version { got, known: VERSION }.into());
        }
        if line.has("tells") {
            let what = "only a log of version 2 tells of some nodes alone";
            return Err(ProgramError::Log(what.to_owned()).into());
        }
        let names = match line.get("nodes")? {
            Json::Number(_) => NodeNames::numbered(line.number("nodes")?),
            _ => NodeNames::new(line.texts("nodes")?)?,
        };
        // A line of a few bytes may name any number of nodes: it is refused before a list of them is made.
        require_room(names.count(), 1)?;
        let mut view = match line.has("view") {
            true => read(&line, "view")?,
            false => PointOfView::default(),
        };
        let own = match asked {
            Some(word) => {
                let told = view;
                view = told.narrowed(word, &names)?;
                view.observers(names.count()).filter(|_| view != told)
            }
            None => None,
        };
        let other = own.is_some();
        let observers: Vec<Observer> = match own {
            Some(own) => own,
            None if line.has("observers") => read(&line, "observers")?,
            None => {
                require_room(names.count(), names.count())?;
                (0..names.count()).map(Observer::node).collect()
            }
        };
        let set = set(line.get("set")?)?;
        let mut meter = Meter::new(names.count(), observers, set)?.seen_by(view)?;
        if line.has("scale") {
            meter = meter.in_units_of(read(&line, "scale")?)?;
        }
        let mut limits = match map.get("limit") {
            None | Some(Json::Null) => Limits::default(),
            Some(limit) => {
                Limits::worst(limit.as_f64().ok_or_else(|| ProgramError::NotANumber(limit.to_string()))?)?
            }
        };
        // Limits on single pairs refer to the observers of the log.
        if line.has("limits") && !other {
            for (observer, node, loss) in read::<Vec<(usize, usize, f64)>>(&line, "limits")? {
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

    pub(super) fn take(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
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
            // Without a record, no later step can name a model.
            let models = if self.meter.recorded { self.meter.models() } else { Vec::new() };
            return Ok(models
                .into_iter()
                .try_for_each(|model| self.reader.call(&value_name(model.index()), model))?);
        }
        if map.contains_key("forget") {
            let names = Line::new(map, &["forget"])?.texts("forget")?;
            let values = self.reader.values(&names)?;
            return Ok(self.meter.forget(&values)?);
        }
        if map.contains_key("epoch") {
            return match Line::new(map, &["epoch"])?.text("epoch")? {
                "new" => self.meter.begin_epoch(),
                other => {
                    Err(ProgramError::Syntax(format!("an epoch can only be \"new\", got {other:?}")).into())
                }
            };
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

/// What may change, as the first line says it.
fn set(set: &Json) -> Result<SensitivitySet, Error> {
    Ok(match set {
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
    })
}
