//! A private training, shown.

use super::Trained;
use crate::errors::Failure;
use crate::output::{count, finite, number, up};
use crate::plain::{self, Subject};
use crate::question;
use crate::show::{Answer, Drawn, Part, Sheet};
use ndp_account::{OwnNoise, Senders};
use ndp_algos::registry::Parameters;
use ndp_algos::sgd::History;
use ndp_dp::{Grade, Sensitivity, Verdict};
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use serde_json::json;

/// The number of pairs in the table.
const LISTED: usize = 5;
const CURVE: &str = "to publish an accuracy that is shown, along the training or at its end, with noise or without, is not covered by the account";
/// What the account takes as known, since the rows are sorted by label before they are drawn.
const DEALT: &str =
    "which examples are for testing and which user holds which: drawn by their labels, this counts as public";

impl Answer for Trained<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let mut parts = vec![Part::Summary("Private training".into(), self.summary())];
        if self.study.problem.training.has_places() {
            parts.extend([Part::empty(), Part::worst(&self.accounted.rows, "epsilon", LISTED)]);
        }
        parts.push(Part::Line(format!("note: accuracies are for whoever runs the study; {CURVE}")));
        parts
    }

    fn sheet(&self) -> Sheet {
        let end = |end: Option<f64>| end.map_or_else(String::new, |x| x.to_string());
        let both = [("private", &self.private), ("without noise", &self.plain)];
        let rows = both.into_iter().flat_map(|(name, histories)| {
            curve(name, histories).points.into_iter().map(move |point| {
                let (x, y) = (point.x.to_string(), point.y.to_string());
                vec![name.to_owned(), x, y, end(point.low), end(point.high)]
            })
        });
        Sheet { header: vec!["series", "step", "accuracy", "low", "high"], rows: rows.collect() }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let (asked, found) = (self.study.asked, &self.accounted);
        let tightest = found.tightest.as_ref().map(|(u, v, loss)| {
            let epsilon = json!({ "grade": grade(&found.grades), "value": finite(*loss) });
            json!({ "user": u, "observer": v, "epsilon": epsilon })
        });
        Ok(json!({ "protocol": asked.protocol, "noise": self.sigma.get(), "multiplier": found.noise.get(),
            "sensitivity": self.study.problem.sensitivity, "delta": asked.delta,
            "observers": plain::observed_by(&self.statement, &self.study.graph), "coverage": self.statement.coverage,
            "statement": self.statement, "epsilon": finite(found.largest), "failure": self.statement.failure,
            "tightest": tightest, "not_covered": self.more_than_one(), "not_protected": self.public(),
            "note": CURVE, "private": self.private, "without_noise": self.plain }))
    }
}

impl Drawn for Trained<'_> {
    fn figure(&self) -> Figure {
        let panel = Panel::curves("on the test examples", Axis::linear("step"), Axis::linear("accuracy"))
            .with(curve("private", &self.private))
            .with(curve("without noise, not private", &self.plain));
        Figure::new("Accuracy along the training").panel(panel)
    }

    fn page(&self, svg: &str) -> Page {
        let (study, found, statement) = (self.study, &self.accounted, &self.statement);
        let (asked, graph) = (study.asked, &study.graph);
        let network = match &asked.graph {
            Some(file) => plain::network(file, graph),
            None => format!("a group of {} users", graph.node_count()),
        };
        let observed = plain::observed_by(statement, graph);
        let subject = Subject {
            network,
            observers: &observed,
            senders: Senders::Known,
            own_noise: OwnNoise::Known,
            sensitivity: study.problem.sensitivity,
            gives: plain::Gives::Numbers,
            protected: "all examples of any one user",
            is_all_data: true,
            seed: asked.seed,
        };
        let odds = found.odds.as_ref().map_or_else(String::new, |odds| format!(" In other words: {odds}."));
        let unknown = plain::unknown(&statement.coverage);
        let unknown = unknown.map_or_else(String::new, |unknown| format!(" {unknown}"));
        let whom = plain::whom(statement, graph);
        let sentence = format!("{}{odds}{unknown}", words::of_training(&whom, found.largest, asked.delta));
        let kept = |limit: f64| if found.largest <= limit { Verdict::Met } else { Verdict::NotShown };
        let tone = asked.epsilon.map_or(Tone::Plain, |limit| Tone::of(kept(limit), &statement.coverage));
        let mut page = Page::new("Private training").verdict(tone, &sentence);
        page = plain::opening(page, &subject);
        let mut particular: Vec<String> =
            plain::about(&asked.protocol, &Parameters::default()).into_iter().collect();
        particular.push(
            "Every example is scaled to length 1 by its user before training, which bounds its gradient."
                .into(),
        );
        if asked.standardize {
            particular.push(
                "Means and variances of the features were computed from all examples and count as public; they are not protected.".into(),
            );
        }
        particular.extend(plain::granted_in_sentences(statement));
        particular.extend([
            "The test examples belong to no user.".into(),
            format!("Not protected is {DEALT}."),
            format!("Accuracies are shown here to judge the method: {CURVE}."),
            "The run that is shown was drawn from a seed, and whoever knows the seed knows its noise: it is for study.".into(),
        ]);
        page = plain::assumptions(page, subject.gives, &particular);
        page = plain::sureness(page, &found.grades, (statement.failure, Some(statement)), &self.notes);
        let rows: Vec<Vec<String>> =
            self.summary().into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        page = page
            .section("The training")
            .text(&plain::measure(study.measure))
            .table("In short", &["", ""], &rows)
            .picture(svg, "Accuracy on the test examples along the training, with noise and without.");
        plain::provenance(page, asked.seed)
    }
}

impl Trained<'_> {
    fn more_than_one(&self) -> Option<String> {
        let runs = self.private.len();
        (runs > 1).then(|| format!("more than one of the {runs} trainings that are shown"))
    }

    /// What is computed from the data without noise.
    fn public(&self) -> String {
        let features = "; means and variances of the features, which count as public, too";
        format!("{DEALT}{}", if self.study.asked.standardize { features } else { "" })
    }

    fn summary(&self) -> Vec<(&'static str, String)> {
        let (study, found) = (self.study, &self.accounted);
        let (asked, problem) = (study.asked, &study.problem);
        let tests = problem.test.labels().len();
        let (accuracies, without) = self.accuracies();
        let mut rows = vec![
            ("protocol", asked.protocol.clone()),
            ("examples", format!("{} for training, {tests} for testing", problem.per_user * problem.count)),
            ("users", format!("{}, {} examples each", problem.count, problem.per_user)),
            ("label", format!("{}: {}", asked.label, problem.classes)),
            ("what may change", plain::changes(&self.statement)),
            ("observed by", plain::observed_by(&self.statement, &study.graph)),
            (
                "noise on a gradient",
                format!("{} ({} times its sensitivity)", up(self.sigma.get()), up(found.noise.get())),
            ),
            (
                "epsilon of a user, at most",
                format!("{} at delta {} [{}]", up(found.largest), asked.delta, grade(&found.grades)),
            ),
        ];
        rows.extend(plain::granted(&self.statement));
        rows.extend(self.more_than_one().map(|what| ("not covered", what)));
        rows.extend([
            ("not protected", self.public()),
            ("the account fails", question::probability(self.statement.failure)),
            (
                "messages",
                self.messages.as_ref().map_or_else(ToString::to_string, |&messages| count(messages)),
            ),
            (
                "accuracy on the test examples",
                format!("{} (without noise {})", spread(&accuracies), spread(&without)),
            ),
            ("of the best constant answer", number(self.constant())),
        ]);
        let less =
            found.of_looked_at.and_then(|less| less.sigma(Sensitivity::new(problem.sensitivity).ok()?).ok());
        if let Some(less) = less {
            rows.push(("noise for those looked at alone", words::less_for_those(&up(less.get()))));
        }
        rows
    }
}

fn curve(name: &str, histories: &[History]) -> Series {
    let Some(first) = histories.first() else { return Series::data(name) };
    let points = first.steps.iter().enumerate().map(|(at, &step)| {
        let values: Vec<f64> =
            histories.iter().filter_map(|history| history.accuracy.get(at).copied()).collect();
        (step as f64, values)
    });
    points.fold(Series::data(name), |series, (step, values)| {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if values.len() > 1 { series.ranged(step, mean, low, high) } else { series.points([(step, mean)]) }
    })
}

fn grade(grades: &[Grade]) -> Grade {
    if grades.iter().all(|&grade| grade == Grade::Exact) { Grade::Exact } else { Grade::UpperBound }
}

/// A single value, or the mean of several with their range.
fn spread(values: &[f64]) -> String {
    match values {
        [] => "-".into(),
        [one] => number(*one),
        many => {
            let low = many.iter().copied().fold(f64::INFINITY, f64::min);
            let high = many.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!(
                "{}, {} to {}",
                number(many.iter().sum::<f64>() / many.len() as f64),
                number(low),
                number(high)
            )
        }
    }
}
