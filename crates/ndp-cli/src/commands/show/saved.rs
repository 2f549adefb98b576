//! What `ndp.save` of Python writes, read as a record: `docs/formats.md`, "What Python saves".

mod text;

use self::text::{compact, field};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::fmt;

/// The version of the format that is read.
const VERSION: u64 = 1;

/// The largest file that is read, unpacked.
pub(super) const MOST_BYTES: u64 = 1 << 28;

/// Why a file is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// More bytes than are read.
    TooLarge,
    /// The file is the log of a meter.
    Meter,
    /// The file has another version of the format.
    Version(String),
    /// The file records something else.
    Kind(String),
    /// The checksum does not match the text.
    Checksum,
    /// The file does not have this format; the text says why.
    Malformed(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "it is larger than {} MB", MOST_BYTES >> 20),
            Self::Meter => f.write_str("it is the log of a meter"),
            Self::Version(found) => write!(f, "the format has version {found}, and {VERSION} is read"),
            Self::Kind(found) => {
                write!(f, "kind must be losses, pairwise-losses, comparison or ledger, got {found}")
            }
            Self::Checksum => f.write_str("the checksum does not fit: the file was changed or cut"),
            Self::Malformed(why) => f.write_str(why),
        }
    }
}

/// What a file records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Saved {
    /// Version of the program that wrote it.
    pub(super) by: String,
    pub(super) what: What,
    /// The record as it stands in the file.
    pub(super) json: Value,
}

/// Each kind of record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    Losses(Losses),
    Comparison(Comparison),
    Ledger(Ledger),
}

/// Losses, and what was said beside them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Losses {
    #[serde(rename = "kind")]
    _kind: IgnoredText,
    pub(super) asked: AskedLosses,
    /// An upper end for each observer and node.
    unit: Vec<Vec<Number>>,
    /// A lower end.
    lower: Vec<Vec<Number>>,
    /// One for each observer.
    grades: Vec<Grade>,
    #[serde(rename = "ranks")]
    _ranks: Vec<u64>,
    #[serde(rename = "bits")]
    _bits: Vec<u64>,
    pub(super) failures: Vec<Number>,
    #[serde(rename = "means")]
    _means: Vec<Mean>,
    pub(super) paragraph: String,
    pub(super) by: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedLosses {
    nodes: Nodes,
    #[serde(rename = "graph")]
    _graph: Value,
    pub(super) protocol: String,
    observers: Vec<Vec<usize>>,
    #[serde(rename = "statement")]
    _statement: Value,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mean {
    #[serde(rename = "grade")]
    _grade: Grade,
    #[serde(rename = "value")]
    _value: Number,
}

/// Protocols side by side.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Comparison {
    #[serde(rename = "kind")]
    _kind: IgnoredText,
    pub(super) asked: AskedComparison,
    pub(super) rows: Vec<Row>,
    /// The text about all rows; files of older versions have none.
    #[serde(default)]
    pub(super) paragraph: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedComparison {
    nodes: Nodes,
    observers: Vec<Vec<usize>>,
    limits: Vec<Vec<Number>>,
    pub(super) mean: bool,
    pub(super) order: Option<f64>,
    pub(super) delta: Option<f64>,
    pub(super) sensitivity: Number,
}

/// A protocol in a comparison; numbers as they are written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) protocol: String,
    #[serde(default)]
    pub(super) sigma: Option<Number>,
    #[serde(default)]
    pub(super) error: Option<Number>,
    #[serde(default)]
    pub(super) messages: Option<Number>,
    #[serde(default)]
    pub(super) grade: Option<Grade>,
    #[serde(default)]
    pub(super) failure: Option<Number>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// The statement beside the noise.
    #[serde(default)]
    pub(super) statement: Option<String>,
    /// The pair that needs most noise.
    #[serde(default)]
    pub(super) source: Option<Value>,
    #[serde(default)]
    pub(super) observer: Option<Value>,
    /// Where a bound stands for what observers see.
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// Runs that took place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    #[serde(rename = "kind")]
    _kind: IgnoredText,
    pub(super) limit: Value,
    pub(super) order: Value,
    pub(super) odometer: Value,
    protocols: Vec<Protocol>,
    runs: Vec<Run>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Protocol {
    words: String,
    class: String,
}

/// A run of a ledger.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    protocol: usize,
    pub(super) name: String,
    pub(super) observers: Value,
    pub(super) sigma: Number,
    pub(super) sensitivity: Number,
    pub(super) adaptivity: String,
}

/// The grade that a number had when it was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Grade {
    Exact,
    UpperBound,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::UpperBound => "upper-bound",
        })
    }
}

/// The `kind` of a record, which [`Kind`] has read already.
type IgnoredText = Option<Value>;

/// A number as it is written; infinity is a text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Number {
    written: String,
    value: f64,
}

impl TryFrom<Value> for Number {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let value = match &written {
            Value::String(text) if text == "inf" => f64::INFINITY,
            Value::String(text) if text == "-inf" => f64::NEG_INFINITY,
            other => {
                other.as_f64().ok_or_else(|| format!("a number must be one, or \"inf\", got {other}"))?
            }
        };
        Ok(Self { written: label(&written), value })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// Labels of nodes, or how many there are.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Nodes {
    Labels(Vec<Value>),
    Count(Count),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    range: usize,
}

impl Nodes {
    const fn count(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.len(),
            Self::Count(count) => count.range,
        }
    }

    fn name(&self, node: usize) -> String {
        match self {
            Self::Labels(labels) => labels.get(node).map_or_else(|| node.to_string(), label),
            Self::Count(_) => node.to_string(),
        }
    }

    /// The names of the members of an observer; an outsider has none.
    fn names(&self, members: &[usize]) -> String {
        if members.is_empty() {
            return "outsider".into();
        }
        members.iter().map(|&v| self.name(v)).collect::<Vec<_>>().join("+")
    }

    /// Checks that every member of an observer is a node.
    fn hold(&self, observers: &[Vec<usize>]) -> Result<(), Refused> {
        match observers.iter().flatten().find(|&&v| v >= self.count()) {
            Some(v) => Err(malformed(format!(
                "members of observers must be below {}, the number of nodes, got {v}",
                self.count()
            ))),
            None => Ok(()),
        }
    }
}

/// A pair of [`Losses`].
pub(super) struct Pair<'a> {
    pub(super) exposed: String,
    pub(super) observer: String,
    pub(super) unit: &'a Number,
    pub(super) lower: &'a Number,
    pub(super) grade: Grade,
}

impl Losses {
    pub(super) fn nodes(&self) -> usize {
        self.asked.nodes.count()
    }

    pub(super) fn observers(&self) -> usize {
        self.asked.observers.len()
    }

    /// All pairs, the largest loss first; pairs with equal losses are in the order of the file.
    pub(super) fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        let rows = self.unit.iter().zip(&self.lower).zip(&self.grades);
        for (members, ((unit, lower), &grade)) in self.asked.observers.iter().zip(rows) {
            let observer = self.asked.nodes.names(members);
            let of = unit.iter().zip(lower).enumerate().filter(|(u, _)| !members.contains(u));
            pairs.extend(of.map(|(u, (unit, lower))| Pair {
                exposed: self.asked.nodes.name(u),
                observer: observer.clone(),
                unit,
                lower,
                grade,
            }));
        }
        pairs.sort_by(|a, b| b.unit.value.total_cmp(&a.unit.value));
        pairs
    }

    fn validate(&self) -> Result<(), Refused> {
        self.asked.nodes.hold(&self.asked.observers)?;
        let (observers, nodes) = (self.observers(), self.nodes());
        let sizes = [self.unit.len(), self.lower.len(), self.grades.len(), self.failures.len()];
        if sizes.iter().any(|&size| size != observers) {
            return Err(malformed(format!(
                "each part of the losses must have {observers} rows, one for each observer, got {sizes:?}"
            )));
        }
        if let Some(row) = self.unit.iter().chain(&self.lower).find(|row| row.len() != nodes) {
            return Err(malformed(format!(
                "an observer must have {nodes} losses, one for each node, got {}",
                row.len()
            )));
        }
        let pairs = self.unit.iter().flatten().zip(self.lower.iter().flatten());
        for (unit, lower) in pairs {
            if !(0.0 <= lower.value && lower.value <= unit.value) {
                return Err(malformed(format!(
                    "a loss must lie between ends of which the lower is at least 0, got {lower} and {unit}"
                )));
            }
        }
        Ok(())
    }
}

impl Comparison {
    pub(super) fn nodes(&self) -> usize {
        self.asked.nodes.count()
    }

    pub(super) fn observers(&self) -> usize {
        self.asked.observers.len()
    }

    /// The smallest and the largest limit.
    pub(super) fn limits(&self) -> Option<(&Number, &Number)> {
        let limits = || self.asked.limits.iter().flatten();
        let least = limits().min_by(|a, b| a.value.total_cmp(&b.value))?;
        Some((least, limits().max_by(|a, b| a.value.total_cmp(&b.value))?))
    }
}

impl Ledger {
    /// Every run with the words of its protocol.
    pub(super) fn runs(&self) -> impl Iterator<Item = (&Run, &str)> {
        self.runs.iter().map(|run| (run, self.protocols.get(run.protocol).map_or("", |of| of.words.as_str())))
    }

    fn validate(&self) -> Result<(), Refused> {
        match self.runs.iter().find(|run| run.protocol >= self.protocols.len()) {
            Some(run) => Err(malformed(format!(
                "the protocol of a run must be below {}, their number, got {}",
                self.protocols.len(),
                run.protocol
            ))),
            None if self.protocols.iter().any(|protocol| protocol.class.is_empty()) => {
                Err(malformed("the class of a protocol must have a name".into()))
            }
            None => Ok(()),
        }
    }
}

const fn malformed(why: String) -> Refused {
    Refused::Malformed(why)
}

/// A label or a parameter as text: what Python shows, without quotation marks.
pub(super) fn label(value: &Value) -> String {
    let list = |parts: &[Value]| parts.iter().map(label).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => format!("[{}]", list(parts)),
        Value::Object(fields) => match fields.iter().next() {
            Some((key, Value::Array(parts))) if key == "tuple" => format!("({})", list(parts)),
            Some((key, inner)) if fields.len() == 1 && (key == "fraction" || key == "float") => label(inner),
            _ => value.to_string(),
        },
    }
}

/// The version, read before the rest of the head.
#[derive(Deserialize)]
struct Version {
    #[serde(rename = "ndp-saved")]
    version: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "ndp-saved")]
    _version: u64,
    ndp: String,
    crc: String,
    #[serde(rename = "what")]
    _what: IgnoredAny,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<Value>,
}

/// Reads a file that `ndp.save` wrote.
pub(super) fn read(bytes: &[u8]) -> Result<Saved, Refused> {
    if u64::try_from(bytes.len()).map_or(true, |size| size > MOST_BYTES) {
        return Err(Refused::TooLarge);
    }
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if first.windows(METER.len()).any(|part| part == METER) {
        return Err(Refused::Meter);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
    let version: Version = parsed(text)?;
    match version.version {
        None => return Err(malformed("it has no key \"ndp-saved\"".into())),
        Some(Value::Number(number)) if number.as_u64() == Some(VERSION) => {}
        Some(other) => return Err(Refused::Version(other.to_string())),
    }
    let head: Head = parsed(text)?;
    let compact = compact(text);
    let what = field(&compact, "what").ok_or_else(|| malformed("it has no key \"what\"".into()))?;
    let mut sum = flate2::Crc::new();
    sum.update(what.as_bytes());
    if head.crc != format!("{:08x}", sum.sum()) {
        return Err(Refused::Checksum);
    }
    let kind: Kind = parsed(what)?;
    let known = match kind.kind.as_ref().and_then(Value::as_str) {
        Some("losses" | "pairwise-losses") => {
            let losses: Losses = parsed(what)?;
            losses.validate()?;
            What::Losses(losses)
        }
        Some("comparison") => {
            let comparison: Comparison = parsed(what)?;
            comparison.asked.nodes.hold(&comparison.asked.observers)?;
            What::Comparison(comparison)
        }
        Some("ledger") => {
            let ledger: Ledger = parsed(what)?;
            ledger.validate()?;
            What::Ledger(ledger)
        }
        _ => return Err(Refused::Kind(kind.kind.map_or_else(|| "none".into(), |kind| kind.to_string()))),
    };
    Ok(Saved { by: head.ndp, what: known, json: parsed(what)? })
}

/// These bytes are in the first line of a meter's log.
const METER: &[u8] = b"\"ndp-meter\"";

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Refused> {
    serde_json::from_str(text).map_err(|error| malformed(error.to_string()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests;
