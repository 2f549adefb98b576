//! What Python saved, as it is recorded.

mod saved;

use crate::args::Show;
use crate::errors::Failure;
use crate::input::bytes_up_to;
use crate::show::{Answer, Part, Sheet, show};
use ndp_report::words;
use saved::{Comparison, Ledger, Losses, MOST_BYTES, Refused, Saved, What, label};
use std::io::ErrorKind;

/// What a saved file is worth as evidence; printed with everything that is shown of it.
const RECORD: &str = "a record, as the file says it: nothing was computed anew. Whoever can edit the file can write any number into it";
/// What compares a file of losses, or a comparison, with the answer computed anew.
const VERIFY: &str = ". In Python, ndp.load(FILE).verify(...) compares it with the answer computed anew";

pub(crate) fn run(asked: &Show) -> Result<(), Failure> {
    let path = &asked.file;
    let refused = |why: &Refused| {
        let then = match why {
            Refused::Meter => format!(": ndp meter {} shows it", path.display()),
            Refused::Version(_) => "; the version of ndp that wrote it shows it".into(),
            _ => String::new(),
        };
        Failure::Refused(format!("{} holds nothing to show that ndp.save wrote: {why}{then}", path.display()))
    };
    let bytes = bytes_up_to(MOST_BYTES, path).map_err(|failure| match failure {
        Failure::File(_, error) if error.kind() == ErrorKind::FileTooLarge => refused(&Refused::TooLarge),
        other => other,
    })?;
    let saved = saved::read(&bytes).map_err(|why| refused(&why))?;
    let told = match &saved.what {
        What::Losses(losses) => of_losses(losses),
        What::Comparison(comparison) => of_comparison(comparison),
        What::Ledger(ledger) => of_ledger(ledger),
    };
    show(&Recorded { asked, saved: &saved, told }, &asked.files, 0)
}

/// What a file says.
struct Recorded<'a> {
    asked: &'a Show,
    saved: &'a Saved,
    told: Told,
}

impl Answer for Recorded<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let (title, told, rows) = &self.told;
        let verify = if matches!(self.saved.what, What::Ledger(_)) { "" } else { VERIFY };
        let mut said =
            vec![("is", format!("{RECORD}{verify}")), ("written by", format!("ndp {}", self.saved.by))];
        said.extend(told.iter().cloned());
        let shown = rows.cells.get(..self.asked.worst).filter(|_| rows.longest_first).unwrap_or(&rows.cells);
        let table = Part::Table(rows.header.to_vec(), shown.to_vec());
        let mut parts = vec![Part::Summary(title.clone(), said), Part::empty(), table];
        if shown.len() < rows.cells.len() {
            let (few, all) = (shown.len(), rows.cells.len());
            parts.push(Part::Line(format!("{few} of {all} rows, the largest losses; --worst shows more")));
        }
        parts
    }

    fn sheet(&self) -> Sheet {
        let (.., rows) = &self.told;
        Sheet { header: rows.header.to_vec(), rows: rows.cells.clone() }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let Saved { by, json, .. } = self.saved;
        Ok(serde_json::json!({ "is": RECORD, "written-by": by, "recorded": json }))
    }
}

/// The rows of a table below the summary.
struct Rows {
    header: &'static [&'static str],
    cells: Vec<Vec<String>>,
    /// Whether the rows are sorted, largest first, so that the terminal may show only the first ones.
    longest_first: bool,
}

type Told = (String, Vec<(&'static str, String)>, Rows);

fn of_losses(losses: &Losses) -> Told {
    let pairs = losses.pairs();
    let cell = |pair: &saved::Pair<'_>| {
        let ends = [pair.lower.to_string(), pair.unit.to_string()];
        let [lower, unit] = ends;
        vec![pair.exposed.clone(), pair.observer.clone(), lower, unit, pair.grade.to_string()]
    };
    let rows = Rows {
        header: &["exposed", "observer", "lower end", "unit loss", "recorded grade"],
        cells: pairs.iter().map(cell).collect(),
        longest_first: true,
    };
    let mut told = vec![
        ("protocol", losses.asked.protocol.clone()),
        ("nodes", losses.nodes().to_string()),
        ("observers", losses.observers().to_string()),
        ("statement", losses.paragraph.clone()),
    ];
    told.extend(losses.by.iter().map(|theorem| ("by", theorem.clone())));
    (format!("Recorded losses of {}", words::several(pairs.len(), "pair")), told, rows)
}

fn of_comparison(comparison: &Comparison) -> Told {
    let asked = &comparison.asked;
    let measure = match (asked.delta, asked.order) {
        (Some(delta), _) => format!("epsilon at delta {delta}"),
        (None, Some(order)) => format!("Rényi loss of order {order}, in nats"),
        (None, None) => "mu".to_owned(),
    };
    let limits = comparison.limits().map_or_else(
        || "none".to_owned(),
        |(least, largest)| {
            if least == largest { least.to_string() } else { format!("{least} to {largest}") }
        },
    );
    let whose = if asked.mean { "the mean over all nodes" } else { "a pair" };
    let mut told = vec![
        ("nodes", comparison.nodes().to_string()),
        ("observers", comparison.observers().to_string()),
        ("limit", format!("{limits}, as {measure}, for {whose}")),
        ("sensitivity", asked.sensitivity.to_string()),
    ];
    match &comparison.paragraph {
        Some(paragraph) => told.push(("statement", paragraph.clone())),
        None => {
            told.extend(comparison.rows.iter().filter_map(|row| {
                Some(("statement", format!("{}: {}", row.protocol, row.statement.as_ref()?)))
            }))
        }
    }
    for row in &comparison.rows {
        told.extend(row.notes.iter().map(|note| ("note", format!("{}: {note}", row.protocol))));
    }
    let number =
        |found: &Option<saved::Number>| found.as_ref().map_or_else(|| "-".into(), ToString::to_string);
    let cells = comparison.rows.iter().map(|row| {
        let grade = row.grade.map_or_else(|| "-".into(), |grade| grade.to_string());
        let pair = match (&row.source, &row.observer) {
            (Some(source), Some(observer)) => format!("{} by {}", label(source), label(observer)),
            _ => "-".into(),
        };
        vec![
            row.protocol.clone(),
            number(&row.sigma),
            number(&row.error),
            number(&row.messages),
            grade,
            number(&row.failure),
            pair,
            row.reason.clone().unwrap_or_else(|| "-".into()),
        ]
    });
    let rows = Rows {
        header: &[
            "protocol",
            "sigma",
            "error",
            "messages",
            "recorded grade",
            "fails",
            "hardest pair",
            "reason",
        ],
        cells: cells.collect(),
        longest_first: false,
    };
    (format!("Recorded comparison of {} protocols", comparison.rows.len()), told, rows)
}

fn of_ledger(ledger: &Ledger) -> Told {
    let cells = ledger.runs().map(|(run, words)| {
        let observers = run.observers.as_array().map_or(0, Vec::len).to_string();
        let scales = [run.sigma.to_string(), run.sensitivity.to_string()];
        let [sigma, sensitivity] = scales;
        vec![run.name.clone(), words.to_owned(), sigma, sensitivity, run.adaptivity.clone(), observers]
    });
    let rows = Rows {
        header: &["run", "protocol", "sigma", "sensitivity", "adaptivity", "observers"],
        cells: cells.collect(),
        longest_first: false,
    };
    let told = vec![
        ("limit", label(&ledger.limit)),
        ("order", label(&ledger.order)),
        ("odometer", label(&ledger.odometer)),
        (
            "spent",
            "is not in the file: ndp.load in Python computes it anew, for runs as they are listed".to_owned(),
        ),
    ];
    (format!("Recorded ledger of {}", words::several(rows.cells.len(), "run")), told, rows)
}
