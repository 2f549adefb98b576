//! Losses, shown.

use super::{Found, Judged};
use crate::commands::losses::Entry;
use crate::errors::Failure;
use crate::output::{MAX_DRAWING, drawing, finite, losses, parameters, up};
use crate::plain;
use crate::question;
use crate::show::{Answer, Drawn, Exposed, Part, Sheet, data_of_pairs, sheet_of_pairs, worst};
use ndarray::{Array2, Axis};
use ndp_account::Coverage;
use ndp_dp::{Grade, Verdict};
use ndp_report::figure::Figure;
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use serde_json::json;
use std::collections::BTreeMap;

const HOPS: [&str; 4] = ["hops", "pairs", "median", "largest"];
const HOPS_OF_SOME: [&str; 4] = ["hops from those looked at", "pairs", "median", "largest"];

/// The number of pairs in the table.
const LISTED: usize = 8;

impl Answer for Found<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let title = format!("What is learned, as {}", self.study.measure);
        let mut parts = vec![Part::Summary(title, self.summary())];
        if let Some(same) = self.same_for_all() {
            parts.extend([Part::empty(), Part::Line(same)]);
            return parts;
        }
        let pairs = self.rows();
        if !pairs.is_empty() {
            parts.extend([Part::empty(), Part::worst(&pairs, "loss", LISTED)]);
        }
        let by_distance = self.by_distance();
        if !by_distance.is_empty() {
            let header = if self.is_of_some() { HOPS_OF_SOME } else { HOPS };
            parts.extend([Part::empty(), Part::Table(header.to_vec(), by_distance)]);
        }
        parts
    }

    fn sheet(&self) -> Sheet {
        sheet_of_pairs("loss", self.graded(), Some(&self.statement))
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let (study, graph) = (self.study, &self.study.graph);
        let pairs = data_of_pairs("loss", self.graded());
        let target = self.judged.as_ref().map(|judged| {
            json!({ "allowed": judged.target, "verdict": judged.verdict, "exceeding": judged.exceeding,
                "violating": judged.violating, "why": judged.why })
        });
        let largest = self.worst.as_ref().map(|worst| {
            let observer = plain::name(graph, &worst.observer);
            json!({ "source": self.names[worst.source], "observer": observer, "loss": worst.loss })
        });
        Ok(json!({ "protocol": study.protocol.name, "parameters": parameters(&study.protocol.parameters),
             "measure": study.measure.to_string(), "noise": study.asked.noise,
            "sensitivity": study.asked.unit.sensitivity, "multiplier": study.noise.get(),
            "statement": self.statement, "observers": plain::observed_by(&self.statement, graph), "largest": largest,
            "other_pairs_at_most": self.bound.map(finite), "target": target, "pairs": pairs }))
    }
}

impl Drawn for Found<'_> {
    fn figure(&self) -> Figure {
        let (what, title) = (self.study.measure.to_string(), &self.study.protocol.name);
        match &self.observers[..] {
            [observer] if self.study.graph.node_count() <= MAX_DRAWING => {
                let title = format!("{title}: what {} learns", self.of_observer[0]);
                let values = self.matrix().column(0).to_vec();
                drawing(&title, &what, self.grade, &self.study.graph, observer, values)
            }
            _ => {
                let (title, values) = (format!("{title}: what nodes learn"), self.matrix());
                let curve = matches!(self.statement.coverage, Coverage::Coalitions { .. });
                // The names of coalitions do not fit beside a heat map; as a single column, the losses become
                // a curve.
                let values = if curve { values.flatten().insert_axis(Axis(1)).to_owned() } else { values };
                losses(&title, &what, self.grade, &self.names, values)
            }
        }
    }

    fn page(&self, svg: &str) -> Page {
        let (study, statement) = (self.study, &self.statement);
        let (asked, graph, protocol) = (study.asked, &study.graph, &study.protocol.name);
        let (observed, changes) = (plain::observed_by(statement, graph), plain::changes(statement));
        let network = plain::network(&asked.graph.file, graph);
        let subject = plain::subject(
            network,
            (&observed, &asked.knowledge),
            (&changes, statement.is_of_all_data()),
            (asked.unit.sensitivity, plain::Gives::of(statement.changes.iter().copied())),
        );
        let most = self.most();
        let (tone, verdict) = match &self.judged {
            None => (Tone::Plain, most),
            Some(Judged { verdict, target, why, .. }) => {
                let why = (*verdict != Verdict::Met).then_some(why.as_str());
                (Tone::of(*verdict, &statement.coverage), words::verdict(target, why, &most))
            }
        };
        let name = protocol.split(':').next().unwrap_or(protocol);
        let mut page = Page::new(&format!("What {name} reveals")).verdict(tone, &verdict);
        page = plain::opening(page, &subject);
        if let Some(right) = self.right {
            page = words::page::conclusions(page, right);
        }
        let mut particular: Vec<String> =
            plain::about(protocol, &study.protocol.parameters).into_iter().collect();
        particular.push(plain::noise_in_a_sentence(statement));
        particular.extend(plain::granted_in_sentences(statement));
        page = plain::assumptions(page, subject.gives, &particular);
        let mut grades: Vec<Grade> = self.entries.iter().map(|entry| entry.grade).collect();
        grades.extend(self.is_of_some().then_some(Grade::UpperBound));
        page = plain::sureness(page, &grades, (statement.failure, Some(statement)), &self.notes);
        let value = |value: &str| {
            words::page::without_knowledge(value, subject.own_noise, subject.senders).to_owned()
        };
        let rows: Vec<Vec<String>> =
            self.summary().iter().map(|(name, shown)| vec![(*name).to_owned(), value(shown)]).collect();
        page = page
            .section("What is learned")
            .text(&plain::measure(study.measure))
            .table("In short", &["", ""], &rows)
            .picture(svg, "What is learned about each node. A brighter color means that more is learned; the scale gives the numbers, and where an entry \"no bound\" stands above it, those nodes have no number.");
        if let Some(viewer) = self.viewer() {
            page = page.viewer(&viewer);
        }
        if let Some(same) = self.same_for_all() {
            let page = page.text(&format!("{}.", words::capital(&same)));
            return plain::provenance(page, subject.seed);
        }
        let caption = match self.entries.len() {
            pairs if pairs > LISTED => {
                format!("Who loses most to those looked at: {LISTED} of {pairs} pairs, the largest first")
            }
            _ => "Who loses most to those looked at".to_owned(),
        };
        page = page.table(
            &caption,
            &["exposed", "observer", "hops between them", "loss"],
            &worst(&self.rows(), LISTED),
        );
        let by_distance = self.by_distance();
        if !by_distance.is_empty() {
            page = page.table("By distance from the observers looked at", &HOPS, &by_distance);
        }
        plain::provenance(page, subject.seed)
    }
}

impl Found<'_> {
    /// The rows of the summary at the top.
    fn summary(&self) -> Vec<(&'static str, String)> {
        let (study, statement) = (self.study, &self.statement);
        let (asked, multiplier) = (study.asked, words::noise(study.noise.get()));
        let mut rows = study.protocol.rows();
        rows.extend([
            ("weights", asked.protocol.weights_in_words()),
            ("what may change", plain::changes(statement)),
            ("observed by", plain::observed_by(statement, &study.graph)),
            ("noise", plain::noise_in_units(&words::noise(asked.noise), &multiplier, statement)),
            ("which is the", plain::noise_is(statement)),
        ]);
        rows.extend(plain::granted(statement));
        rows.extend([
            ("grade", words::grade(self.grade, &statement.coverage)),
            ("computed by", words::by(statement)),
            ("the account fails", question::probability(statement.failure)),
            (if self.is_of_some() { "pairs looked at" } else { "pairs" }, self.entries.len().to_string()),
        ]);
        if !self.entries.is_empty() {
            let name =
                if self.is_of_some() { "their median, 90 %, largest" } else { "median, 90 %, largest" };
            rows.push((name, self.quantiles().map(up).join(", ")));
        }
        if self.not_known > 0 {
            let bound = self.not_known_at_most;
            let each = bound.map_or_else(String::new, |bound| format!(", each at most {}", up(bound)));
            rows.push(("pairs not known", format!("{}{each}", self.not_known)));
        }
        if let Some(worst) = &self.worst {
            let largest = plain::in_words(statement, &study.graph, |words| words.largest(worst));
            rows.push(("largest of all", largest));
        }
        rows.extend(self.useless().map(|said| ("what this means", said.to_owned())));
        rows
    }

    /// Whether a bound or symmetries cover observers who were not looked at, so that the pairs are not all
    /// there are.
    fn is_of_some(&self) -> bool {
        let coverage = &self.statement.coverage;
        coverage.is_by_bound() || coverage.is_by_symmetry() || matches!(coverage, Coverage::Grouped { .. })
    }

    /// A sentence that replaces the list of pairs if no observer could be looked at, so that every pair has
    /// the same bound.
    fn same_for_all(&self) -> Option<String> {
        let first = self.entries.first().filter(|_| self.entries.len() > 1)?;
        let same = |entry: &Entry| entry.loss == first.loss && entry.grade == Grade::UpperBound;
        self.entries.iter().all(same).then(|| words::same_for_all(self.entries.len(), first.loss))
    }

    /// A warning if the largest loss is so large that it protects nobody.
    fn useless(&self) -> Option<&'static str> {
        let of_entries = self.largest().map(|entry| entry.loss);
        let most = self.worst.as_ref().map(|worst| *worst.loss.value());
        let most = [of_entries, most, self.bound].into_iter().flatten().reduce(f64::max);
        most.and_then(|most| words::useless(most, self.study.measure))
    }

    /// A sentence or two: how much is learned at most, and by which observer.
    fn most(&self) -> String {
        let graph = &self.study.graph;
        let exact = self.worst.as_ref().filter(|worst| worst.loss.grade() == Grade::Exact);
        let (most, pair, may_be_less) = match (self.largest(), self.largest_bound()) {
            (_, Some(bound)) => match exact {
                Some(worst) if bound <= *worst.loss.value() => {
                    let pair = plain::in_words(&self.statement, graph, |words| words.pair(worst));
                    (bound, format!(", and exactly that much is {pair}"), false)
                }
                _ => (bound, String::new(), true),
            },
            (Some(entry), None) => {
                let (v, u) = (&self.of_observer[entry.observer], &self.names[entry.u]);
                (entry.loss, format!(": what {v} learns about {u}"), false)
            }
            (None, None) => return format!("{}.", words::capital(words::NOBODY_OUTSIDE)),
        };
        let most = words::Most {
            loss: most.is_finite().then(|| format!("{} ({})", up(most), self.study.measure)),
            pair,
            odds: self.right.map(words::guesses),
            may_be_less,
        };
        plain::in_words(&self.statement, graph, |words| words.at_most(&most))
    }

    /// The median, the 0.9 quantile and the maximum of the losses.
    fn quantiles(&self) -> [f64; 3] {
        let mut sorted: Vec<f64> = self.entries.iter().map(|entry| entry.loss).collect();
        sorted.sort_by(f64::total_cmp);
        [5, 9, 10].map(|tenths| quantile(&sorted, tenths))
    }

    fn rows(&self) -> Vec<Exposed> {
        let row = |entry: &Entry| {
            (self.names[entry.u].clone(), self.of_observer[entry.observer].clone(), entry.hops, entry.loss)
        };
        self.entries.iter().map(row).collect()
    }

    fn graded(&self) -> impl Iterator<Item = (Exposed, Grade)> {
        self.rows().into_iter().zip(self.entries.iter().map(|entry| entry.grade))
    }

    pub(super) fn matrix(&self) -> Array2<f64> {
        let mut values = Array2::from_elem((self.study.graph.node_count(), self.of_observer.len()), f64::NAN);
        for entry in &self.entries {
            values[(entry.u, entry.observer)] = entry.loss;
        }
        values
    }

    /// Per distance: hops, number of pairs, median loss and largest loss.
    fn by_distance(&self) -> Vec<Vec<String>> {
        let mut classes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(hops) = entry.hops {
                classes.entry(hops).or_default().push(entry.loss);
            }
        }
        let row = |(hops, mut losses): (u32, Vec<f64>)| {
            losses.sort_by(f64::total_cmp);
            let (middle, largest) = (quantile(&losses, 5), quantile(&losses, 10));
            vec![hops.to_string(), losses.len().to_string(), up(middle), up(largest)]
        };
        classes.into_iter().map(row).collect()
    }
}

/// What at most the other tenths of the losses exceed, of losses in ascending order; 0 if there are none.
fn quantile(sorted: &[f64], tenths: usize) -> f64 {
    let at = (sorted.len() * tenths / 10).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::quantile;

    /// At most a tenth lies above the 0.9 quantile, and at most half above the median.
    #[test]
    fn quantiles_are_exceeded_by_what_is_left() {
        for n in 1..=40usize {
            let sorted: Vec<f64> = (0..n).map(|k| k as f64).collect();
            for tenths in 0..=10 {
                let found = quantile(&sorted, tenths);
                let above = sorted.iter().filter(|&&loss| loss > found).count();
                assert!(10 * above <= n * (10 - tenths), "{n} losses, {tenths} tenths");
            }
        }
        assert_eq!(quantile(&[], 9), 0.0);
    }
}
