//! The durable log of a meter: one line for every step, written before a message is sent.
//!
//! ```text
//! {"n":0,"crc":"1c291ca3","step":{"ndp-meter":1,"nodes":["a","b"],...}}
//! {"n":1,"crc":"0f2a6b11","step":{"contribute":"v0","node":0,"reads":"nothing"}}
//! ```
//!
//! The checksum of a line continues that of the previous line, so that a line which is missing before another
//! one, moved or damaged is found. Whole lines that are missing at the end, or that were changed on purpose,
//! are not. A last line without its end was cut off, and is dropped. As a message is sent only when its line
//! is complete, nothing was sent that was not in the log.

use super::Meter;
use super::feed::{Feed, Open};
use crate::constructors::ModelReads;
use crate::format::{matrix_line, value_name};
use crate::{MixingMatrix, Program, ProgramError, Value, Weight};
use ndp_account::{Error, NodeNames};
use serde_json::{Value as Json, json};

/// Where a log is kept. The library opens no file: the implementation does.
pub trait Durable {
    /// Writes a line with its end, and returns when it would survive a crash: for a file after write, flush,
    /// and `sync_data`.
    ///
    /// # Errors
    /// Those of writing. The step is then not taken, and nothing may be sent for it.
    fn append(&mut self, line: &str) -> std::io::Result<()>;
}

/// In memory, for tests and for logs that are stored elsewhere.
impl Durable for Vec<u8> {
    fn append(&mut self, line: &str) -> std::io::Result<()> {
        self.extend_from_slice(line.as_bytes());
        self.push(b'\n');
        Ok(())
    }
}

/// A meter that writes its steps to a log before they are performed.
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
/// assert!(found.dropped.is_none());
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
    /// Begins the log of a meter to which nothing has been fed yet.
    ///
    /// # Errors
    /// [`ProgramError::MeterStarted`]; [`ProgramError::Shape`] unless there is one name for every node; those
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

    /// Continues a log that was read, and writes at its end; the caller has cut off what was dropped.
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

    /// Returns what the log was written to.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.log
    }

    /// As [`Meter::step`]. When it returns, the steps are in the log, and a message may be sent.
    ///
    /// # Errors
    /// As [`Meter::step`]; [`ProgramError::Log`] if the log cannot be written. The meter has then counted the
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

    /// As [`Meter::begin_epoch`].
    ///
    /// # Errors
    /// As [`Meter::begin_epoch`] and [`step`](Self::step).
    pub fn begin_epoch(&mut self) -> Result<(), Error> {
        self.whole()?;
        self.meter.begin_epoch()?;
        self.write([json!({ "epoch": "new" })])
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
        let mut header = json!({
            "ndp-meter": VERSION,
            "nodes": (0..self.names.count()).filter_map(|v| self.names.name(v)).collect::<Vec<_>>(),
            "observers": self.meter.observers().collect::<Vec<_>>(),
            "set": self.meter.set(),
            "view": self.meter.view,
            "limit": worst,
            "limits": pairs,
            "record": self.meter.recorded,
        });
        if let (Some(scale), Some(header)) = (self.meter.scale, header.as_object_mut()) {
            header.insert("scale".to_owned(), json!(scale));
        }
        header
    }
}

/// The CRC-32 (IEEE) of a line, continued from the previous lines.
pub(super) fn checksum(before: u32, number: u64, step: &str) -> u32 {
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

/// The version of logs that are read and written.
pub(super) const VERSION: u64 = 1;
/// The version of logs that tell a part of a run.
pub(super) const PARTS_VERSION: u64 = 2;
