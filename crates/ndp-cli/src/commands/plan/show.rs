//! Plans, shown.

use super::rewire::{Edges, TRIED};
use super::{Found, Plans};
use crate::errors::Failure;
use crate::output::{count, up};
use crate::plain;
use crate::question;
use crate::show::{Answer, Drawn, Part, Sheet, columns};
use ndp_account::{Assumption, Statement};
use ndp_algos::registry;
use ndp_dp::{Grade, Verdict};
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use serde_json::json;
use std::collections::BTreeSet;

const HEADER: [&str; 8] =
    ["protocol", "weights", "parameters", "noise", "error", "messages", "grade", "observers"];

/// Plans that are listed.
const LISTED: usize = 12;

impl Answer for Plans<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let study = self.study;
        let target = words::target(&study.target);
        let title = format!("Plans for the target {target}; observed by {}", study.chosen.description);
        let mut parts =
            vec![Part::Heading(title), Part::empty(), Part::Table(columns(&HEADER), self.listed())];
        parts.push(Part::empty());
        parts.extend(self.advice().map(Part::Line));
        parts.push(Part::Line(self.searched()));
        if self.all().any(|found| found.coverage.is_reached()) {
            parts.push(Part::Line(words::capital(words::BOUND_REACHED) + "."));
        }
        let noise = plain::noise_is(&self.best.statement);
        parts.push(Part::Line(format!("noise: {noise} ({})", self.best.candidate.name)));
        let said = self.said().take(LISTED);
        parts.extend(Self::laws(said.clone()).into_iter().map(Part::Line));
        parts.extend(plain::assumed_by(said.clone()).chain(plain::changes_of(said)).map(Part::Line));
        parts.extend(self.notes().into_iter().map(|note| Part::Line(format!("note: {note}"))));
        parts.extend(self.edges.iter().flat_map(|edges| self.suggested(edges)));
        parts
    }

    fn sheet(&self) -> Sheet {
        let unit = self.unit();
        Sheet { header: HEADER.to_vec(), rows: self.all().map(|found| found.digits(unit)).collect() }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let unit = self.unit();
        let edge =
            |(u, v, error): &(String, String, f64)| json!({ "from": u, "to": v, "error": error * unit });
        let edges: Vec<_> = match &self.edges {
            Some(Edges::Added { edges, .. }) => edges.iter().map(edge).collect(),
            _ => Vec::new(),
        };
        let plans: Vec<_> = self.all().map(|found| found.cells(unit)).collect();
        let coverage: Vec<_> = self.all().map(|found| &found.coverage).collect();
        Ok(json!({ "header": HEADER, "plans": plans, "coverage": coverage, "statement": self.best.statement,
            "searched": self.study.candidates.len(), "not_tried": self.study.elsewhere, "edges": edges }))
    }
}

impl Drawn for Plans<'_> {
    /// Error against messages of every plan.
    fn figure(&self) -> Figure {
        let unit = self.unit();
        let mut panel =
            Panel::curves(self.points(), Axis::log("messages"), Axis::log("error of the mean, at most"));
        let mut names: Vec<&str> = self.all().map(|found| found.candidate.name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let of_name = self.all().filter(|found| found.candidate.name == name);
            let points: Vec<(f64, f64)> =
                of_name.filter_map(|found| Some((found.messages?, found.error? * unit))).collect();
            if !points.is_empty() {
                panel = panel.with(Series::data(name).points(points).scattered());
            }
        }
        Figure::new("What the target costs").panel(panel)
    }

    fn page(&self, svg: &str) -> Page {
        let (study, best, unit) = (self.study, &self.best, self.unit());
        let (asked, graph, statement) = (study.asked, &study.graph, &best.statement);
        let (observed, changes) = (plain::observed_by(statement, graph), plain::changes(statement));
        let network = plain::network(&asked.graph.file, graph);
        let subject = plain::subject(
            network,
            (&observed, &asked.knowledge),
            (&changes, statement.is_of_all_data()),
            (unit, plain::Gives::of(statement.changes.iter().copied())),
        );
        let mean = best.error.map_or_else(String::new, |error| {
            let error = up(error * unit);
            let mean = if statement.assumes.contains(&Assumption::NothingPublished) {
                "The mean, which no node may hand out,"
            } else {
                "The mean that is found"
            };
            format!(" {mean} is then wrong by {error} at most, as a root mean square.")
        });
        let sentence = format!(
            "With {} and noise {}, what {} learns is {}.{mean}{}",
            best.candidate.name,
            up(question::in_unit(best.noise, unit)),
            plain::whom(statement, graph),
            words::target(&study.target),
            plain::unknown(&best.coverage).map_or_else(String::new, |unknown| format!(" {unknown}")),
        );
        let tone = Tone::of(Verdict::Met, &best.coverage);
        let mut page = Page::new("A plan for averaging in private").verdict(tone, &sentence);
        page = plain::opening(page, &subject);
        let mut particular: Vec<String> = plain::about(best.candidate.name).into_iter().collect();
        particular.push(plain::noise_in_a_sentence(statement));
        let of_all = Self::laws(self.said()).into_iter().chain(plain::assumed_by(self.said()));
        particular.extend(of_all.map(|what| format!("{}.", words::capital(&what))));
        page = plain::assumptions(page, subject.gives, &particular);
        let grades: Vec<Grade> = self.all().filter_map(|found| found.grade).collect();
        page = plain::sureness(page, &grades, (best.failure, Some(statement)), &self.notes());
        page = page
            .section("The plans")
            .text(&plain::measure(study.target.measure))
            .text(&self.advice().collect::<Vec<_>>().join(" "))
            .text(&self.searched())
            .table("Smallest bound on the error first", &columns(&HEADER), &self.listed())
            .list(&plain::changes_of(self.said()))
            .picture(svg, &format!("Error of the mean, at most, against messages; {}.", self.points()));
        plain::provenance(page, asked.knowledge.seed)
    }
}

impl Plans<'_> {
    fn unit(&self) -> f64 {
        self.study.asked.unit.sensitivity
    }

    fn listed(&self) -> Vec<Vec<String>> {
        self.all().take(LISTED).map(|found| found.cells(self.unit())).collect()
    }

    /// The statements of all plans, with their protocols.
    fn said(&self) -> impl Iterator<Item = (&str, &Statement)> + Clone {
        self.all().map(|found| (found.candidate.name, &found.statement))
    }

    /// The laws of the noises, where they are not all alike.
    fn laws<'a>(said: impl Iterator<Item = (&'a str, &'a Statement)>) -> Vec<String> {
        let laws = plain::noises_of(said);
        if laws.len() > 1 { laws } else { Vec::new() }
    }

    /// What is true of every point of the picture.
    fn points(&self) -> &'static str {
        if self.all().all(|found| found.coverage.is_whole()) {
            "every point keeps the target"
        } else {
            "not every point keeps the target towards everybody, as the table says"
        }
    }

    /// Where a bound stands for what observers see, once for each protocol and reason.
    fn notes(&self) -> Vec<String> {
        let of = |found: &'_ Found| -> Vec<String> {
            found.notes.iter().map(|note| format!("{}: {note}", found.candidate.name)).collect()
        };
        let notes: BTreeSet<String> = self.all().flat_map(of).collect();
        notes.into_iter().collect()
    }

    fn searched(&self) -> String {
        let tried = self.study.candidates.len();
        let unknown = self.all().filter(|found| found.error.is_none()).count();
        let then =
            if unknown > 0 { format!(", then {unknown} whose error is not known") } else { String::new() };
        let noiseless = if self.noiseless.is_empty() {
            String::new()
        } else {
            let noiseless = words::no_noise_needed(&self.noiseless);
            format!(
                " {noiseless}; with hardly any noise their error may be smaller than that of all plans above."
            )
        };
        format!(
            "Searched: {tried} combinations of protocol, weights and rounds ({} without a noise); smallest bound on the \
             error of the mean first{then}. Other rounds, weights or graphs may do better.{noiseless}",
            tried - self.all().count(),
        )
    }

    fn advice(&self) -> impl Iterator<Item = String> {
        self.first_and_second().into_iter().chain(self.on_the_edges())
    }

    /// Why the first is first, and what the next protocol costs.
    fn first_and_second(&self) -> Option<String> {
        let (best, unit) = (&self.best, self.unit());
        let error = best.error?;
        let named = |found: &Found| {
            let parameters = found.candidate.parameters.to_string();
            let name = found.candidate.name;
            if parameters.is_empty() { name.to_owned() } else { format!("{name} with {parameters}") }
        };
        let among = if best.coverage.is_whole() && !self.all().all(|found| found.coverage.is_whole()) {
            " of those that are shown for everybody"
        } else {
            ""
        };
        let first = format!(
            "{} is first because its error is at most {}, the smallest bound found{among}.",
            named(best),
            up(error * unit)
        );
        let other = |other: &&Found| {
            other.candidate.name != best.candidate.name
                && other.coverage.is_whole() == best.coverage.is_whole()
        };
        let Some((next, its_error)) =
            self.others.iter().find(other).and_then(|next| Some((next, next.error?)))
        else {
            return Some(format!("{first} No other protocol was found whose error is known."));
        };
        let more = 100.0 * (its_error / error - 1.0);
        let more = if more < 0.05 { "the same but for 0.05 %".into() } else { format!("{more:.1} % more") };
        let messages = match (next.messages, best.messages) {
            (Some(next), Some(best)) if next == best => ", with as many messages".into(),
            (Some(next), Some(best)) => {
                format!(", with {} messages in place of {}", count(next), count(best))
            }
            _ => String::new(),
        };
        Some(format!("{first} Next is {}, at most {} ({more}){messages}.", named(next), up(its_error * unit)))
    }

    /// Says which protocols were not tried because they bring edges of their own, or that the best one does
    /// not run on the given edges alone.
    fn on_the_edges(&self) -> Option<String> {
        let elsewhere = &self.study.elsewhere;
        if !elsewhere.is_empty() {
            return Some(format!(
                "Not tried, because they bring connections of their own, whatever the edges (--any-topology tries them): {}.",
                elsewhere.join(", ")
            ));
        }
        let is_on =
            |found: &&Found| registry::find(found.candidate.name).is_ok_and(|entry| entry.is_on_the_graph());
        let best = &self.best;
        if is_on(&best) {
            return None;
        }
        let on = self.others.iter().find(is_on).map_or_else(String::new, |on| {
            let name = on.candidate.name;
            format!(" The first without connections of its own is {name}, which sends along edges or publishes to all.")
        });
        Some(format!("{} brings connections of its own, whatever the edges.{on}", best.candidate.name))
    }

    /// Edges that would help, or why there are none.
    fn suggested(&self, edges: &Edges) -> Vec<Part<'_>> {
        let (protocol, before, edges) = match edges {
            Edges::NotTried(why) => return vec![Part::Line(why.clone())],
            Edges::Added { protocol, before, edges } => (protocol, before, edges),
        };
        let unit = self.unit();
        let title = format!(
            "Edges that lower the error of {protocol} ({}), each the best of at most {TRIED} drawn between nodes at distance 2 (seed {}), one \
             after the other; the noise is found anew each time:",
            up(before * unit),
            self.study.asked.knowledge.seed
        );
        let row = |(u, v, error): &(String, String, f64)| vec![u.clone(), v.clone(), up(error * unit)];
        let below = if edges.is_empty() {
            Part::Line("none of those tried lowers it by a thousandth".into())
        } else {
            Part::Table(vec!["from", "to", "error"], edges.iter().map(row).collect())
        };
        vec![Part::empty(), Part::Line(title), below]
    }
}

impl Found {
    /// With all digits, for files.
    fn digits(&self, unit: f64) -> Vec<String> {
        let all = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        let mut cells = self.cells(unit);
        cells[3] = question::in_unit(self.noise, unit).to_string();
        cells[4] = all(self.error.map(|error| error * unit));
        cells[5] = all(self.messages);
        cells
    }

    fn cells(&self, unit: f64) -> Vec<String> {
        vec![
            self.candidate.name.into(),
            match registry::find(self.candidate.name) {
                Ok(entry) if entry.uses_weights() => self.candidate.weights.to_string(),
                _ => "-".into(),
            },
            self.candidate.parameters.to_string(),
            up(question::in_unit(self.noise, unit)),
            self.error.map_or_else(|| "-".into(), |error| up(error * unit)),
            self.messages.map_or_else(|| "-".into(), count),
            self.grade.map_or_else(String::new, |grade| grade.to_string()),
            self.coverage.in_short(),
        ]
    }
}
