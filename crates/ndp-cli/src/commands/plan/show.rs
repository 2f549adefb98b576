//! Plans, shown.

use super::rewire::{Edges, TRIED};
use super::{Found, Plans};
use crate::errors::Failure;
use crate::output::{count, parameters, up};
use crate::plain;
use crate::question;
use crate::show::{Answer, Drawn, Part, Sheet, columns};
use ndp_account::{Assumption, Statement};
use ndp_algos::registry;
use ndp_dp::{Grade, Verdict};
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words::{self, Planned};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const HEADER: [&str; 8] =
    ["protocol", "weights", "parameters", "noise", "error", "messages", "grade", "observers"];

/// Plans that are listed.
const LISTED: usize = 12;

impl Answer for Plans<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let study = self.study;
        let target = words::target(&study.target);
        let range = plain::range(self.unit());
        let title = format!("Plans with {target}; observed by {}{range}", study.chosen.description);
        let mut parts =
            vec![Part::Heading(title), Part::empty(), Part::Table(columns(&HEADER), self.listed())];
        parts.push(Part::empty());
        parts.extend(self.advice().into_iter().map(Part::Line));
        parts.push(Part::Line(self.searched()));
        if self.all().any(|found| found.coverage.is_reached()) {
            parts.push(Part::Line(words::capital(words::BOUND_REACHED) + "."));
        }
        let noise = plain::noise_is(&self.best.statement);
        parts.push(Part::Line(format!("noise: {noise} ({})", self.best.combination.protocol)));
        let said = self.said().take(LISTED);
        parts.extend(Self::laws(said.clone()).into_iter().map(Part::Line));
        let assumed = plain::assumed_by(said.clone().chain(self.said_without_noise()));
        parts.extend(assumed.chain(plain::changes_of(said)).map(Part::Line));
        parts.extend(self.notes().into_iter().map(|note| Part::Line(format!("note: {note}"))));
        parts.extend(self.edges.iter().flat_map(|edges| self.suggested(edges)));
        parts
    }

    fn sheet(&self) -> Sheet {
        let unit = self.unit();
        let header = HEADER.into_iter().chain(["law", "by", "target"]).collect();
        let target = words::target(&self.study.target);
        let row = |found: &Found| [found.digits(unit), vec![target.clone()]].concat();
        Sheet { header, rows: self.all().map(row).collect() }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let unit = self.unit();
        let edge = |(u, v, error): &(String, String, f64)| json!({ "from": u, "to": v, "error": error });
        let (edges, edges_of) = match &self.edges {
            Some(Edges::Added { protocol, before, edges }) => {
                (edges.iter().map(edge).collect(), json!({ "plan": protocol, "error": before }))
            }
            _ => (Vec::new(), serde_json::Value::Null),
        };
        let plan = |found: &Found| {
            json!({ "protocol": found.planned.protocol, "weights": found.weights(),
                "parameters": parameters(&found.combination.parameters), "noise": question::in_unit(found.noise, unit),
                "multiplier": found.noise, "sensitivity": unit, "error": found.planned.error,
                "messages": found.planned.messages, "grade": found.grade, "failure": found.failure,
                "statement": found.statement, "notes": found.notes })
        };
        Ok(
            json!({ "target": words::target(&self.study.target), "plans": self.all().map(plan).collect::<Vec<_>>(),
            "searched": self.study.combinations.tried.len(), "not_tried": self.study.combinations.elsewhere,
            "no_noise_needed": self.noiseless, "edges": edges, "edges_of": edges_of }),
        )
    }
}

impl Drawn for Plans<'_> {
    /// Error against messages of every plan.
    fn figure(&self) -> Figure {
        let mut panel =
            Panel::curves(self.points(), Axis::log("messages"), Axis::log("error of the mean, at most"));
        let mut names: Vec<&str> = self.all().map(|found| found.combination.protocol).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let of_name = self.all().filter(|found| found.combination.protocol == name);
            let points: Vec<(f64, f64)> =
                of_name.filter_map(|found| Some((found.planned.messages?, found.planned.error?))).collect();
            if !points.is_empty() {
                panel = panel.with(Series::data(name).points(points).scattered());
            }
        }
        Figure::new("What the target costs").panel(panel)
    }

    fn page(&self, svg: &str) -> Page {
        let (study, best, unit) = (self.study, &self.best, self.unit());
        let (asked, graph, statement) = (study.asked, &study.graph, &best.statement);
        let observed = plain::observed_by(statement, graph);
        let alike = self.said().all(|(_, other)| plain::changes(other) == plain::changes(statement));
        let changes = if alike { plain::changes(statement) } else { plain::OF_EACH_PROTOCOL.into() };
        let gives =
            plain::Gives::of(self.said().flat_map(|(_, statement)| statement.changes.iter().copied()));
        let subject = plain::subject(
            plain::network(&asked.graph.file, graph),
            (&observed, &asked.knowledge),
            (&changes, self.said().all(|(_, statement)| statement.is_of_all_data())),
            (unit, gives),
        );
        let mean = best.planned.error.map_or_else(String::new, |error| {
            let error = up(error);
            let mean = if statement.assumes.contains(&Assumption::NothingPublished) {
                "The mean, which no node may hand out,"
            } else {
                "The mean that is found"
            };
            format!(" {mean} is then wrong by {error} at most, as a root mean square.")
        });
        let sentence = format!(
            "With {} and noise {}, what {} learns is {}.{mean}{}",
            best.combination.protocol,
            up(question::in_unit(best.noise, unit)),
            plain::whom(statement, graph),
            words::target(&study.target),
            plain::unknown(&best.coverage).map_or_else(String::new, |unknown| format!(" {unknown}")),
        );
        let tone = Tone::of(Verdict::Met, &best.coverage);
        let mut page = Page::new("A plan for averaging in private").verdict(tone, &sentence);
        page = plain::opening(page, &subject);
        let mut particular: Vec<String> =
            plain::about(best.combination.protocol, &best.combination.parameters).into_iter().collect();
        particular.push(plain::noise_in_a_sentence(statement));
        let assumed = plain::assumed_by(self.said().chain(self.said_without_noise()));
        let of_all = Self::laws(self.said()).into_iter().chain(assumed);
        particular.extend(of_all.map(|what| format!("{}.", words::capital(&what))));
        page = plain::assumptions(page, subject.gives, &particular);
        let grades: Vec<Grade> = self.all().filter_map(|found| found.grade).collect();
        page = plain::sureness(page, &grades, (best.failure, Some(statement)), &self.notes());
        page = page
            .section("The plans")
            .text(&plain::measure(study.target.measure))
            .text(&self.advice().join(" "))
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
        self.all().map(|found| (found.combination.protocol, &found.statement))
    }

    /// The statements of protocols that need no noise.
    fn said_without_noise(&self) -> impl Iterator<Item = (&str, &Statement)> {
        self.without_noise.iter().map(|(name, statement)| (*name, statement))
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

    /// Where a bound stands for what observers see, once for each reason.
    fn notes(&self) -> Vec<String> {
        let mut protocols: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for found in self.all() {
            for note in &found.notes {
                protocols.entry(note).or_default().insert(found.combination.protocol);
            }
        }
        let named = |(note, names): (&str, BTreeSet<&str>)| {
            format!("{}: {note}", names.into_iter().collect::<Vec<_>>().join(", "))
        };
        protocols.into_iter().map(named).collect()
    }

    fn searched(&self) -> String {
        let tried = self.study.combinations.tried.len();
        let unknown = self.all().filter(|found| found.planned.error.is_none()).count();
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

    fn advice(&self) -> Vec<String> {
        let plans: Vec<Planned> = self.all().map(|found| found.planned.clone()).collect();
        words::advice(&plans, &self.study.combinations.elsewhere, "--any-topology")
    }

    /// Edges that would help, or why there are none.
    fn suggested(&self, edges: &Edges) -> Vec<Part<'_>> {
        let (protocol, before, edges) = match edges {
            Edges::NotTried(why) => return vec![Part::Line(why.clone())],
            Edges::Added { protocol, before, edges } => (protocol, before, edges),
        };
        let title = format!(
            "Edges that lower the bound on the error of {protocol} ({}), each the best of at most {TRIED} drawn between nodes at distance 2 (seed {}), one \
             after the other; the noise is found anew each time:",
            up(*before),
            self.study.asked.knowledge.seed
        );
        let row = |(u, v, error): &(String, String, f64)| vec![u.clone(), v.clone(), up(*error)];
        let below = if edges.is_empty() {
            Part::Line("none of those tried lowers it by a thousandth".into())
        } else {
            Part::Table(vec!["from", "to", "error at most"], edges.iter().map(row).collect())
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
        cells[4] = all(self.planned.error);
        cells[5] = all(self.planned.messages);
        cells.extend([plain::law_of_noise(&self.statement), words::by(&self.statement)]);
        cells
    }

    /// The weights, where they matter.
    pub(super) fn weights(&self) -> Option<String> {
        let entry = registry::find(self.combination.protocol).ok()?;
        entry.uses_weights().then(|| self.combination.weights.to_string())
    }

    fn cells(&self, unit: f64) -> Vec<String> {
        vec![
            self.planned.protocol.clone(),
            self.weights().unwrap_or_else(|| "-".into()),
            self.planned.parameters.clone(),
            up(question::in_unit(self.noise, unit)),
            self.planned.error.map_or_else(|| "-".into(), up),
            self.planned.messages.map_or_else(|| "-".into(), count),
            self.grade.map_or_else(String::new, |grade| grade.to_string()),
            self.coverage.in_short(),
        ]
    }
}
