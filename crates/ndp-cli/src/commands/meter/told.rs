//! Pairs and what they have lost, as a table, a page and JSON.

use crate::errors::Failure;
use crate::output::{self, up};
use crate::show::Part;
use crate::{plain, question};
use ndp_account::{NodeNames, Observer, RestsOn};
use ndp_dp::{Delta, Gdp, Mechanism};
use ndp_numeric::decimal::{self, Round};
use ndp_numeric::rounding::{Interval, any_of};
use ndp_program::meter::{Limits, Meter, Reading, Refusal, Source};
use ndp_report::page::{Page, Tone};
use ndp_report::words;

/// The readings of all pairs, and what they rest on.
pub(super) struct Told {
    delta: f64,
    /// What the losses are shown as.
    measure: String,
    rows: Vec<Row>,
    rests_on: Vec<RestsOn>,
    failure: f64,
    /// Whether nothing was let through that exceeds a limit.
    limited: bool,
    /// Unless logs were merged: the number of rounds; how many accounts are from the record, and of how many.
    rounds: Option<u64>,
    recorded: (usize, usize),
}

/// What is known at some moment.
#[derive(PartialEq)]
pub(super) struct Known {
    losses: Vec<f64>,
    rests_on: Vec<RestsOn>,
    failure: f64,
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

impl Told {
    /// What a meter has read.
    pub(super) fn of(meter: &Meter, names: &NodeNames, delta: Delta) -> Result<Self, Failure> {
        let readings =
            (0..meter.observers().len()).map(|k| meter.reading(k)).collect::<Result<Vec<_>, _>>()?;
        let recorded = readings.iter().filter(|reading| reading.source == Source::Batch).count();
        Ok(Self {
            limited: !meter.limits().is_empty(),
            rounds: Some(meter.rounds()),
            recorded: (recorded, readings.len()),
            ..Self::new(names, meter.limits(), &readings, meter.rests_on(), delta)?
        })
    }

    /// What several logs say together. No filter watched them together. So their budgets give no guarantee
    /// for a run that was stopped or changed because of what was seen.
    pub(super) fn new(
        names: &NodeNames,
        limits: &Limits,
        readings: &[Reading],
        rests_on: Vec<RestsOn>,
        delta: Delta,
    ) -> Result<Self, Failure> {
        let mut rows = Vec::new();
        for (number, reading) in readings.iter().enumerate() {
            let observer = name_of(&reading.observer, names);
            for u in 0..names.count() {
                let Some(loss) = reading.upper(u) else { continue };
                let (lower, grade) = match reading.loss(u) {
                    Ok(loss) => (loss.lower, loss.value.grade().to_string()),
                    Err(_) => (f64::INFINITY, "noiseless".to_owned()),
                };
                let epsilon = epsilon(loss, delta)?;
                let used = limits.of(number, u).map(|limit| share(loss, limit));
                let node = name(names, u);
                rows.push(Row { node, observer: observer.clone(), loss, lower, epsilon, grade, used });
            }
        }
        rows.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        Ok(Self {
            delta: delta.get(),
            measure: format!("epsilon at {}", delta.get()),
            rows,
            rests_on,
            failure: any_of(readings.iter().map(|reading| reading.failure)),
            limited: false,
            rounds: None,
            recorded: (0, 0),
        })
    }

    /// The losses and what they rest on, to see whether anything has changed.
    pub(super) fn known(&self) -> Known {
        let mut all: Vec<&Row> = self.rows.iter().collect();
        all.sort_by(|a, b| (&a.observer, &a.node).cmp(&(&b.observer, &b.node)));
        let losses = all.iter().map(|row| row.loss).collect();
        Known { losses, rests_on: self.rests_on.clone(), failure: self.failure }
    }

    pub(super) fn failure(&self) -> f64 {
        self.failure
    }

    /// When a run may end for its numbers to hold.
    pub(super) const fn stopping(&self) -> &'static str {
        plain::stopping(self.limited)
    }

    pub(super) fn rounds(&self) -> Option<u64> {
        self.rounds
    }

    pub(super) fn json(&self) -> Vec<serde_json::Value> {
        let pair = |row: &Row| {
            serde_json::json!({ "source": row.node, "observer": row.observer, "grade": row.grade,
                "loss": output::finite(row.loss), "lower": output::finite(row.lower),
                "epsilon": output::finite(row.epsilon), "used": row.used.map(output::finite) })
        };
        self.rows.iter().map(pair).collect()
    }

    /// What the terminal shows at the end.
    pub(super) fn text(&self, left: Option<&str>, worst: usize, refused: Option<&Refused>) -> Vec<Part<'_>> {
        let title = match (refused, self.rounds) {
            (Some(refused), _) => refused.title(),
            (None, None) => "What the logs show together".to_owned(),
            (None, Some(0)) => "What was shown so far".to_owned(),
            (None, Some(rounds)) => {
                format!("What was shown so far, after {}", words::several(rounds, "round"))
            }
        };
        let mut said: Vec<_> = refused.map(|refused| ("refused", refused.sentence())).into_iter().collect();
        said.extend(self.rests_on.iter().map(|what| ("rests on", words::rests_on(what))));
        said.push(("stopping", self.stopping().to_owned()));
        if let (recorded @ 1.., all) = self.recorded {
            said.push(("accounts", format!("{recorded} of {all} from the record")));
        }
        said.push(("the account fails", question::probability(self.failure)));
        said.extend(left.map(|left| ("rounds left", left.to_owned())));
        vec![Part::Summary(title, said), Part::empty(), self.table(worst)]
    }

    /// The pairs that lost most.
    pub(super) fn table(&self, worst: usize) -> Part<'_> {
        Part::Table(self.header().to_vec(), self.cells(worst))
    }

    fn header(&self) -> [&str; 6] {
        ["exposed", "observer", "squared mu", &self.measure, "grade", "of the budget for squared mu"]
    }

    fn cells(&self, worst: usize) -> Vec<Vec<String>> {
        let cell = |row: &Row| {
            let bar = row.used.map_or_else(|| "-".to_owned(), bar);
            let (loss, epsilon) = (up(row.loss), up(row.epsilon));
            vec![row.node.clone(), row.observer.clone(), loss, epsilon, row.grade.clone(), bar]
        };
        self.rows.iter().take(worst).map(cell).collect()
    }

    /// A page with the table, which a browser reloads after `again` seconds.
    pub(super) fn page(&self, left: Option<&str>, again: Option<u32>, refused: Option<&Refused>) -> Page {
        let mut page = Page::new(&match (refused, self.rounds) {
            (Some(refused), _) => refused.title(),
            (None, None) => "What the logs show together".to_owned(),
            (None, Some(_)) => "What was shown so far".to_owned(),
        });
        if let Some(seconds) = again {
            page = page.refreshed_after(seconds);
        }
        let rounds = match self.rounds {
            None | Some(0) => String::new(),
            Some(rounds) => format!(" after {}", words::several(rounds, "round")),
        };
        page = match (refused, self.rows.first()) {
            (Some(refused), _) => page.verdict(Tone::Bad, &format!("{}.", words::capital(&refused.sentence()))),
            (None, None) => page.verdict(Tone::Plain, "Nobody is watched."),
            (None, Some(row)) => page.verdict(
                Tone::Plain,
                &format!(
                    "No pair that is watched has lost more than epsilon {} at delta {} so far{rounds}: that is the bound for what \
                     {} has learned about {}.",
                    up(row.epsilon),
                    self.delta,
                    row.observer,
                    row.node
                ),
            ),
        };
        if let Some(left) = left {
            page = page.text(&format!("Rounds left: {left}."));
        }
        let rests_on =
            self.rests_on.iter().map(|what| format!("{}.", words::capital(&words::rests_on(what))));
        page.table("The worst pairs", &self.header(), &self.cells(MOST_ROWS))
            .section("What this rests on")
            .list(&rests_on.collect::<Vec<_>>())
            .text(&format!("{}.", words::capital(self.stopping())))
            .text(words::page::NOT_COVERED)
            .text(&format!("The account fails: {}.", question::probability(self.failure)))
    }

    /// A message about the first pair above its limit.
    pub(super) fn exceeded(&self) -> Option<String> {
        let row = self.rows.iter().find(|row| row.used.is_some_and(|used| used.is_nan() || used > 1.0))?;
        Some(format!(
            "{} learns up to {} about {} (epsilon {})",
            row.observer,
            up(row.loss),
            row.node,
            up(row.epsilon)
        ))
    }
}

/// A line that was refused because of the budget.
pub(super) struct Refused {
    pub(super) line: u64,
    pub(super) why: String,
    observer: String,
    source: String,
    loss: f64,
    limit: f64,
}

impl Refused {
    fn title(&self) -> String {
        format!("What was shown before line {}, which exceeds the budget", self.line)
    }

    fn sentence(&self) -> String {
        format!(
            "with line {} of the log {}. If the log tells what has happened, more was shown than the numbers here say: they are those \
             before this line, and nothing after it was read",
            self.line, self.why
        )
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "line": self.line, "observer": self.observer, "source": self.source,
            "loss": output::finite(self.loss), "limit": output::finite(self.limit) })
    }
}

pub(super) fn refused(
    names: Option<&NodeNames>,
    refusal: &Refusal,
    line: u64,
    delta: Delta,
) -> Result<Refused, Failure> {
    let source = names.map_or_else(|| refusal.node.to_string(), |names| name(names, refusal.node));
    let observer =
        names.map_or_else(|| refusal.observer.to_string(), |names| name_of(&refusal.observer, names));
    let why = format!(
        "{observer} would learn up to {} about {source} (epsilon {}), the limit is {} (epsilon {})",
        up(refusal.loss),
        up(epsilon(refusal.loss, delta)?),
        output::down(refusal.limit),
        up(epsilon(refusal.limit, delta)?),
    );
    Ok(Refused { line, why, observer, source, loss: refusal.loss, limit: refusal.limit })
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

/// The share of a limit that is used, rounded up: above 1 where the loss is above the limit.
fn share(loss: f64, limit: f64) -> f64 {
    if loss == 0.0 { 0.0 } else { (Interval::new(loss) / Interval::new(limit)).high() }
}

/// A share of a budget as a bar of ten places and in per cent. Both round the used share up, so that the free
/// share is never overstated.
fn bar(share: f64) -> String {
    let tenths = (Interval::new(share) * Interval::new(10.0)).high();
    // A share that is NaN fills the whole bar.
    let full = (0..10).filter(|&k| share.is_nan() || f64::from(k) < tenths).count();
    let percent = decimal::percent(share, 0, Round::Up);
    format!("[{}{}] {percent} %", "#".repeat(full), ".".repeat(10 - full))
}

/// Pairs on a page.
const MOST_ROWS: usize = 50;

#[cfg(test)]
mod tests {
    use super::{bar, share};

    /// By hand. Rounded to nearest, 1/3 would be below a third and the used share too small.
    #[test]
    fn what_is_used_is_rounded_up_and_what_is_left_down() {
        assert_eq!(share(1.0, 3.0), (1.0_f64 / 3.0).next_up());
        assert_eq!((share(1.0, 2.0), share(0.0, 0.0)), (0.5, 0.0));
        // A loss above its limit uses more than 100 %, however small the excess.
        for limit in [1.0, 1.9, 1.999_999, 0.3] {
            assert!(share(f64::next_up(limit), limit) > 1.0 && share(limit, limit) <= 1.0, "{limit}");
        }
        assert_eq!(bar(0.0), "[..........] 0 %");
        assert_eq!(bar(1e-300), "[#.........] 1 %");
        assert_eq!(bar(0.5), "[#####.....] 50 %");
        // The float 0.1 is above a tenth.
        assert_eq!(bar(0.1), "[##........] 11 %");
        assert_eq!(bar(0.9_f64.next_up()), "[##########] 91 %");
        assert_eq!(bar(f64::NAN), "[##########] inf %");
        assert_eq!(bar(f64::INFINITY), "[##########] inf %");
    }
}
