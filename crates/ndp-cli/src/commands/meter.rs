//! What a running system has shown so far.

use super::summary;
use crate::args::Meter as Asked;
use crate::errors::Failure;
use crate::output::{self, line, note, table, up};
use crate::plain;
use ndp_account::{NodeNames, Observer};
use ndp_dp::{Delta, Gdp, Mechanism};
use ndp_numeric::rounding::Interval;
use ndp_program::meter::{Feed, Limits, Meter, Reading, Refusal, Source};
use std::io::{BufRead, BufReader, IsTerminal, Write};

pub(crate) fn run(asked: &Asked) -> Result<(), Failure> {
    let delta = Delta::new(asked.delta)?;
    let limits = asked.budget_epsilon.map(|epsilon| Limits::approx(epsilon, delta)).transpose()?;
    let from_pipe = asked.file.as_os_str() == "-";
    let mut lines: Box<dyn BufRead> = if from_pipe {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let file = std::fs::File::open(&asked.file).map_err(Failure::file(&asked.file))?;
        Box::new(BufReader::new(file))
    };
    let mut watch = Watch {
        asked,
        delta,
        feed: Feed::default(),
        told: None,
        json: Vec::new(),
        live: from_pipe && std::io::stdout().is_terminal(),
    };
    let (mut number, mut text) = (0_u64, Vec::new());
    let ended = loop {
        text.clear();
        lines.read_until(b'\n', &mut text).map_err(Failure::file(&asked.file))?;
        number += 1;
        if text.is_empty() {
            break Ok(());
        }
        let whole = text.ends_with(b"\n");
        let words = String::from_utf8_lossy(&text).trim_end_matches(['\n', '\r']).to_owned();
        if !whole && !watch.feed.is_plain() {
            note(&format!("line {number} was cut off and is left out: nothing was sent for it"));
            break Ok(());
        }
        if let Err(error) = watch.feed.line(&words) {
            break Err((number, error));
        }
        if let Some(limits) = limits.clone().filter(|_| watch.feed.is_at_start()) {
            watch.feed.limit(limits)?;
        }
        watch.tell(number)?;
    };
    // Without a first line there is nothing to tell but why.
    if ended.is_ok() || watch.feed.meter().is_some() {
        watch.close()?;
    }
    match ended {
        Ok(()) => Ok(()),
        Err((number, error)) => Err(match Refusal::of(&error) {
            Some(refusal) => Failure::NotMet(format!(
                "the budget is exceeded by line {number}: {}; the numbers above are those before it",
                watch.refused(refusal)?
            )),
            None => Failure::Refused(format!("line {number} of the log: {error}")),
        }),
    }
}

struct Watch<'a> {
    asked: &'a Asked,
    delta: Delta,
    feed: Feed,
    /// What was told last.
    told: Option<Vec<Option<f64>>>,
    json: Vec<u8>,
    live: bool,
}

/// A pair and what it has lost.
struct Row {
    node: String,
    observer: String,
    loss: f64,
    lower: f64,
    epsilon: f64,
    grade: String,
    /// The share of the budget that is used.
    used: Option<f64>,
}

impl Watch<'_> {
    /// Tells what has changed with a line.
    fn tell(&mut self, number: u64) -> Result<(), Failure> {
        if self.asked.json.is_none() && !self.live {
            return Ok(());
        }
        let Some((meter, names)) = self.feed.meter().zip(self.feed.names()) else { return Ok(()) };
        let readings = readings(meter)?;
        let now: Vec<Option<f64>> =
            readings.iter().flat_map(|r| (0..meter.node_count()).map(|u| r.upper(u))).collect();
        if self.told.as_ref() == Some(&now) {
            return Ok(());
        }
        let rows = self.rows(meter, names, &readings)?;
        if let Some(path) = &self.asked.json {
            let pairs: Vec<_> = rows
                .iter()
                .map(|row| {
                    serde_json::json!({ "source": row.node, "observer": row.observer, "grade": row.grade,
                        "loss": output::finite(row.loss), "lower": output::finite(row.lower),
                        "epsilon": output::finite(row.epsilon), "used": row.used.map(output::finite) })
                })
                .collect();
            let text = serde_json::json!({ "version": 1, "line": number, "delta": self.asked.delta,
                "set": meter.set(), "view": meter.view(), "rests_on": meter.rests_on(), "pairs": pairs });
            let text = format!("{text}\n");
            if path.as_os_str() == "-" {
                let mut out = std::io::stdout().lock();
                let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                done.map_err(Failure::file(path))?;
            } else {
                self.json.extend_from_slice(text.as_bytes());
            }
        }
        if self.live {
            output::print(b"\x1b[H\x1b[2J")?;
            self.show(&rows)?;
        }
        self.told = Some(now);
        Ok(())
    }

    /// What is said at the end.
    fn close(&self) -> Result<(), Failure> {
        if let Some(path) = self.asked.json.as_ref().filter(|path| path.as_os_str() != "-") {
            output::write(path, &self.json)?;
        }
        let Some((meter, names)) = self.feed.meter().zip(self.feed.names()) else {
            return Err(Failure::Refused(
                "the log has no first line such as {\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"same-direction\"}: \
                 see docs/formats.md"
                    .into(),
            ));
        };
        let readings = readings(meter)?;
        let batch = readings.iter().filter(|reading| reading.source == Source::Batch).count();
        let mut told: Vec<(&str, String)> =
            meter.rests_on().into_iter().map(|sentence| ("rests on", sentence)).collect();
        told.push(("stopping", plain::stopping(!meter.limits().is_empty()).to_owned()));
        if batch > 0 {
            told.push(("accounts", format!("{batch} of {} from the whole record", readings.len())));
        }
        let failure = ndp_numeric::rounding::any_of(readings.iter().map(|reading| reading.failure));
        told.push(("the account fails", crate::question::probability(failure)));
        if let Some(rounds) = self.feed.remaining(MOST_ROUNDS)? {
            let more = if rounds == MOST_ROUNDS { " or more" } else { "" };
            told.push(("rounds left", format!("{rounds}{more}, each like the last one")));
        }
        summary(&format!("What was shown so far, after {} rounds", meter.rounds()), &told)?;
        line("")?;
        self.show(&self.rows(meter, names, &readings)?)
    }

    /// The pairs that lost most.
    fn show(&self, rows: &[Row]) -> Result<(), Failure> {
        let mut sorted: Vec<&Row> = rows.iter().collect();
        sorted.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        let cells: Vec<Vec<String>> = sorted
            .iter()
            .take(self.asked.worst)
            .map(|row| {
                let bar = row.used.map_or_else(|| "-".to_owned(), bar);
                vec![
                    row.node.clone(),
                    row.observer.clone(),
                    up(row.loss),
                    up(row.epsilon),
                    row.grade.clone(),
                    bar,
                ]
            })
            .collect();
        let epsilon = format!("epsilon at {}", self.asked.delta);
        table(&["exposed", "observer", "squared mu", &epsilon, "grade", "of the budget"], &cells)
    }

    fn rows(&self, meter: &Meter, names: &NodeNames, readings: &[Reading]) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        for (number, reading) in readings.iter().enumerate() {
            let observer = name_of(&reading.observer, names);
            for u in 0..meter.node_count() {
                let Some(loss) = reading.upper(u) else { continue };
                let (lower, grade) = match reading.loss(u) {
                    Ok(loss) => (loss.lower, loss.value.grade().to_string()),
                    Err(_) => (f64::INFINITY, "noiseless".to_owned()),
                };
                let epsilon = epsilon(loss, self.delta)?;
                let used =
                    meter.limits().of(number, u).map(|limit| if loss == 0.0 { 0.0 } else { loss / limit });
                rows.push(Row {
                    node: name(names, u),
                    observer: observer.clone(),
                    loss,
                    lower,
                    epsilon,
                    grade,
                    used,
                });
            }
        }
        Ok(rows)
    }

    fn refused(&self, refusal: &Refusal) -> Result<String, Failure> {
        let names = self.feed.names();
        let of = |u: usize| names.map_or_else(|| u.to_string(), |names| name(names, u));
        let observer =
            names.map_or_else(|| refusal.observer.to_string(), |names| name_of(&refusal.observer, names));
        Ok(format!(
            "{observer} would learn up to {} about {} (epsilon {}), the limit is {} (epsilon {})",
            up(refusal.loss),
            of(refusal.node),
            up(epsilon(refusal.loss, self.delta)?),
            output::down(refusal.limit),
            up(epsilon(refusal.limit, self.delta)?),
        ))
    }
}

fn readings(meter: &Meter) -> Result<Vec<Reading>, Failure> {
    Ok((0..meter.observers().len()).map(|k| meter.reading(k)).collect::<Result<_, _>>()?)
}

/// The epsilon of a squared `mu`, rounded up.
fn epsilon(loss: f64, delta: Delta) -> Result<f64, Failure> {
    if loss.is_infinite() {
        return Ok(f64::INFINITY);
    }
    Ok(Gdp::new(Interval::new(loss).sqrt().high())?.epsilon(delta).into_value())
}

fn name(names: &NodeNames, u: usize) -> String {
    names.name(u).map_or_else(|| u.to_string(), std::borrow::Cow::into_owned)
}

fn name_of(observer: &Observer, names: &NodeNames) -> String {
    let members: Vec<String> = observer.members().iter().map(|&v| name(names, v)).collect();
    let taps: Vec<String> =
        observer.tapped.iter().map(|&(a, b)| format!("{}->{}", name(names, a), name(names, b))).collect();
    match (members.is_empty(), taps.is_empty()) {
        (true, true) => "outsider".to_owned(),
        (false, true) => members.join("+"),
        (true, false) => format!("tap {}", taps.join(",")),
        (false, false) => format!("{}, tap {}", members.join("+"), taps.join(",")),
    }
}

/// A share of a budget as a bar of ten places, rounded up.
fn bar(share: f64) -> String {
    let full = (1..=10).filter(|&k| f64::from(k - 1) < share * 10.0).count();
    format!("[{}{}]", "#".repeat(full), ".".repeat(10 - full))
}

/// Rounds up to which it is found how many are left.
const MOST_ROUNDS: u64 = 1000;
