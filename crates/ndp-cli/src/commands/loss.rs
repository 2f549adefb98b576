//! What observers learn at a given noise.

pub(super) use super::losses::all;
use super::losses::{Entry, Losses, of_others};
use super::prove::Proof;
use super::{covered, summary, worst};
use crate::args::Loss;
use crate::errors::Failure;
use crate::input;
use crate::output::{
    MAX_DRAWING, csv, drawing, finite, json, line, losses, note, npy, number, page, pictures, table, up,
};
use crate::plain::{self, Subject};
use crate::question;
use ndarray::{Array2, Axis};
use ndp_account::{Account, Allowed, Coverage, Covered, Observer, Rest, Statement, Target, Worst, check};
use ndp_dp::{Exact, Grade, Measure, NoiseMultiplier, UpperBound, Verdict};
use ndp_graph::Graph;
use ndp_report::figure::Figure;
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use serde_json::json;
use std::collections::BTreeMap;

/// Everything that was found, ready to be written in any form.
struct Found<'a> {
    graph: &'a Graph,
    observers: &'a [Observer],
    /// Of nodes, and of observers.
    names: Vec<String>,
    of_observer: Vec<String>,
    entries: Vec<Entry>,
    measure: Measure,
    protocol: String,
    statement: Statement,
    grade: Grade,
    covered: &'a Covered<'a>,
    /// The largest loss of all pairs that were asked about, where all are covered and known.
    worst: Option<Worst>,
    /// What a pair without a loss of its own loses at most, and its account: those that time ran out for,
    /// those of observers who were not looked at.
    #[allow(clippy::type_complexity, reason = "a bound, and of whom it is the account and about which node")]
    bound: Option<(f64, Option<(&'a dyn Account, usize)>)>,
}

/// Whether a target is met, in words and as data.
struct Judged {
    verdict: Verdict,
    exceeding: usize,
    target: String,
    why: String,
}

pub(crate) fn run(asked: &Loss, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.weights)?;
    let measure = asked.target.measure()?;
    let target = asked.target.target(&graph)?;
    let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, target.as_ref())?;
    let protocol =
        question::chosen(&asked.protocol, &matrix, Some(asked.effort.seconds(1, chosen.by_bound())))?;
    let proof = asked.proof.as_deref();
    let proof = proof.map(|into| Proof::of(into, &asked.protocol, &protocol, &chosen, &asked.knowledge));
    let proof = proof.transpose()?;
    let (protocol, name) = (protocol.protocol, protocol.name);
    let noise = question::noise(asked.noise, asked.unit.sensitivity)?;
    let covered = covered(&protocol, &chosen, quiet)?;
    let statement = covered.statement()?;
    let seed = asked.knowledge.seed;
    let losses = all(&graph, &protocol, covered.looked_at(), noise, measure, (seed, quiet))?;
    let mut notes = protocol.notes();
    notes.extend(losses.note().inspect(|text| note(text)));
    let Losses { entries, not_known, bound } = losses;
    let largest = worst_of(&covered, &entries, not_known, noise, measure)?;
    let others = of_others(&covered, noise, measure)?;
    let observers: Vec<Observer> =
        covered.looked_at().iter().map(|account| account.observer().clone()).collect();
    let exact = not_known == 0 && entries.iter().all(|entry| entry.grade == Grade::Exact);
    let of_others = others.map(|(loss, account, u)| (loss, Some((account, u))));
    let found = Found {
        graph: &graph,
        observers: &observers,
        names: (0..graph.node_count()).map(|v| input::label(&graph, v)).collect(),
        of_observer: observers.iter().map(|observer| plain::name(&graph, observer)).collect(),
        entries,
        measure,
        protocol: name,
        statement,
        grade: if exact { Grade::Exact } else { Grade::UpperBound },
        covered: &covered,
        worst: largest,
        bound: match (bound.map(|bound| (bound, None)), of_others) {
            (Some(a), Some(b)) => Some(if b.0 > a.0 { b } else { a }),
            (a, b) => a.or(b),
        },
    };
    let mut rows = found.summary(asked, noise);
    if not_known > 0 {
        let each = bound.map_or_else(String::new, |bound| format!(", each at most {}", up(bound)));
        rows.push(("pairs not known in time", format!("{not_known}{each}")));
    }
    if let Some(worst) = &found.worst {
        rows.push((
            "largest of all",
            plain::in_words(&found.statement, &graph, |words| words.largest(worst)),
        ));
    }
    summary(&format!("What is learnt, as {measure}"), &rows)?;
    let worst_pairs = found.rows();
    if !worst_pairs.is_empty() {
        line("")?;
        worst(&worst_pairs, "loss", 8)?;
    }
    let by_distance = found.by_distance();
    if !by_distance.is_empty() {
        line("")?;
        table(&HOPS, &by_distance)?;
    }
    let judged = target.as_ref().map(|target| found.judged(noise, target, not_known)).transpose()?;
    found.write(asked, noise, judged.as_ref())?;
    if asked.pictures.any() {
        let svg = pictures(&asked.pictures, seed, &found.figure())?;
        if let Some(path) = &asked.pictures.report {
            let observed = plain::observed_by(&found.statement, &graph);
            let subject = Subject {
                network: plain::network(&asked.graph.file, &graph),
                observers: &observed,
                senders: plain::knows(&asked.knowledge).0,
                own_noise: plain::knows(&asked.knowledge).1,
                sensitivity: asked.unit.sensitivity,
                protected: &plain::changes(&found.statement),
                seed,
            };
            page(path, &found.page(&subject, &rows, &notes, noise, judged.as_ref(), &svg))?;
        }
    }
    if let Some(proof) = proof {
        proof.beside(&graph, &chosen, &[], quiet)?;
    }
    match judged {
        Some(Judged { verdict: Verdict::Met, .. }) => {
            line(&format!("target: met; observed by {}", plain::observed_by(&found.statement, &graph)))
        }
        Some(judged) => {
            let exact = found.worst.as_ref().is_some_and(|worst| worst.loss.grade() == Grade::Exact);
            let all = match covered.coverage {
                Coverage::Sample { .. } => true,
                Coverage::Bounded { .. } | Coverage::Grouped { .. } => !exact,
                _ => false,
            };
            let next = if all { words::LOOK_AT_ALL } else { "" };
            Err(Failure::NotMet(format!(
                "target: {}: `ndp calibrate` with the same options finds the least noise{next}",
                judged.why
            )))
        }
        None => Ok(()),
    }
}

/// The largest loss of everybody who was asked about; of pairs that are all there, the largest of them.
fn worst_of(
    covered: &Covered<'_>,
    entries: &[Entry],
    not_known: usize,
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<Option<Worst>, Failure> {
    match covered.coverage {
        Coverage::Alike { .. } | Coverage::Grouped { .. } => Ok(covered.worst(noise, measure)?),
        Coverage::Symmetric { .. } | Coverage::Coalitions { rest: Rest::Symmetric, .. } if not_known == 0 => {
            Ok(covered.worst(noise, measure)?)
        }
        _ if covered.coverage.is_by_bound() => Ok(covered.worst(noise, measure)?),
        Coverage::All { .. } | Coverage::Coalitions { rest: Rest::None, .. } if not_known == 0 => {
            let key = |entry: &Entry| (entry.loss, entry.grade == Grade::Exact);
            let worst = entries.iter().reduce(|a, b| if key(b) > key(a) { b } else { a });
            Ok(worst.map(|entry| Worst {
                loss: match entry.grade {
                    Grade::Exact => Exact::new(entry.loss).into(),
                    _ => UpperBound::new(entry.loss).into(),
                },
                observer: covered.looked_at()[entry.observer].observer().clone(),
                source: entry.u,
            }))
        }
        _ => Ok(None),
    }
}

impl Found<'_> {
    /// Median, nine tenths, largest.
    fn quantiles(&self) -> [f64; 3] {
        let mut sorted: Vec<f64> = self.entries.iter().map(|entry| entry.loss).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().max(1) - 1;
        [last / 2, last * 9 / 10, last].map(|at| sorted.get(at).copied().unwrap_or(0.0))
    }

    fn worst(&self) -> Option<&Entry> {
        self.entries.iter().reduce(|a, b| if b.loss > a.loss { b } else { a })
    }

    fn rows(&self) -> Vec<(String, String, Option<u32>, f64)> {
        let row = |entry: &Entry| {
            (self.names[entry.u].clone(), self.of_observer[entry.observer].clone(), entry.hops, entry.loss)
        };
        self.entries.iter().map(row).collect()
    }

    fn matrix(&self) -> Array2<f64> {
        let mut values = Array2::from_elem((self.graph.node_count(), self.of_observer.len()), f64::NAN);
        for entry in &self.entries {
            values[(entry.u, entry.observer)] = entry.loss;
        }
        values
    }

    fn figure(&self) -> Figure {
        let (what, title) = (self.measure.to_string(), &self.protocol);
        match self.observers {
            [observer] if self.graph.node_count() <= MAX_DRAWING => {
                let title = format!("{title}: what {} learns", self.of_observer[0]);
                let values = self.matrix().column(0).to_vec();
                drawing(&title, &what, self.grade, self.graph, observer, values)
            }
            _ => {
                let (title, values) = (format!("{title}: what nodes learn"), self.matrix());
                let curve = matches!(self.covered.coverage, Coverage::Coalitions { .. });
                // Of coalitions the columns have no names that fit.
                let values = if curve { values.flatten().insert_axis(Axis(1)).to_owned() } else { values };
                losses(&title, &what, self.grade, &self.names, values)
            }
        }
    }

    /// The table at the top.
    fn summary(&self, asked: &Loss, noise: NoiseMultiplier) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("protocol", self.protocol.clone()),
            ("weights", asked.protocol.weights_in_words()),
            ("what may change", plain::changes(&self.statement)),
            ("observed by", plain::observed_by(&self.statement, self.graph)),
            ("noise", plain::noise_in_units(&number(asked.noise), &number(noise.get()), &self.statement)),
            ("which is the", plain::noise_is(&self.statement)),
        ];
        rows.extend(self.statement.declared.iter().map(|sentence| ("rests on", sentence.clone())));
        let assumed = self.statement.assumes.iter();
        rows.extend(assumed.map(|&assumption| ("assumed", plain::assumed(assumption).into())));
        rows.extend([
            ("grade", words::grade(self.grade, &self.covered.coverage)),
            ("the account fails", question::probability(self.covered.failure())),
            ("pairs", self.entries.len().to_string()),
        ]);
        if !self.entries.is_empty() {
            rows.push(("median, 90 %, largest", self.quantiles().map(up).join(", ")));
        }
        rows
    }

    /// Whether everybody who is meant keeps the target.
    fn judged(&self, noise: NoiseMultiplier, target: &Target, not_known: usize) -> Result<Judged, Failure> {
        let words = words::target(target);
        let judged = |verdict, exceeding, why: String| Judged { verdict, exceeding, target: words, why };
        if not_known > 0 {
            // With pairs that are not known, every pair must keep a limit that is the same for all.
            let largest = self.worst().map_or(0.0, |entry| entry.loss);
            let most = self.bound.map(|(bound, _)| bound.max(largest));
            let covered = self.covered.coverage.is_whole()
                && matches!((most, &target.allowed), (Some(most), Allowed::Worst(limit)) if most <= *limit);
            return Ok(if covered {
                judged(Verdict::Met, 0, "met".into())
            } else {
                judged(Verdict::NotShown, 0, format!("not shown, {not_known} pairs are not known"))
            });
        }
        let found = self.covered.check(noise, target)?;
        if found.verdict == Verdict::Met {
            return Ok(judged(Verdict::Met, 0, "met".into()));
        }
        let seen = if self.covered.others().is_empty() {
            found.clone()
        } else {
            check(self.covered.looked_at(), noise, target)?
        };
        // A pair that is proven to lose as much as the bound says decides for all.
        if let (Some(worst), Allowed::Worst(limit)) = (&self.worst, &target.allowed)
            && worst.loss.grade() == Grade::Exact
            && worst.loss.value() * (1.0 - 1e-8) > *limit
            && found.verdict != Verdict::Violated
        {
            let pair = plain::in_words(&self.statement, self.graph, |words| words.pair(worst));
            let why = format!("violated, {pair} exceeds it");
            return Ok(judged(Verdict::Violated, found.exceeding, why));
        }
        let what = if matches!(target.allowed, Allowed::Mean(_)) { "observers" } else { "pairs" };
        let violated = found.verdict == Verdict::Violated;
        let why = words::not_met(violated, seen.exceeding, what, &self.covered.coverage);
        Ok(judged(found.verdict, seen.exceeding, why))
    }

    /// Numbers as CSV, JSON and NumPy.
    fn write(&self, asked: &Loss, noise: NoiseMultiplier, judged: Option<&Judged>) -> Result<(), Failure> {
        let seed = asked.knowledge.seed;
        if let Some(path) = &asked.files.csv {
            let coverage = self.covered.coverage.in_short();
            let by = words::by(&self.statement);
            let cell = |entry: &Entry| {
                let hops = entry.hops.map_or_else(String::new, |hops| hops.to_string());
                let (u, v) = (self.names[entry.u].clone(), self.of_observer[entry.observer].clone());
                vec![
                    u,
                    v,
                    hops,
                    entry.grade.to_string(),
                    entry.loss.to_string(),
                    coverage.clone(),
                    by.clone(),
                ]
            };
            let cells: Vec<Vec<String>> = self.entries.iter().map(cell).collect();
            csv(path, seed, &["source", "observer", "hops", "grade", "loss", "observers", "by"], &cells)?;
        }
        if let Some(path) = &asked.npy {
            npy(path, seed, self.matrix().view())?;
        }
        if let Some(path) = &asked.files.json {
            let pair = |entry: &Entry| {
                let (u, v) = (&self.names[entry.u], &self.of_observer[entry.observer]);
                let loss = json!({ "grade": entry.grade, "value": finite(entry.loss) });
                json!({ "source": u, "observer": v, "hops": entry.hops, "loss": loss })
            };
            let pairs: Vec<_> = self.entries.iter().map(pair).collect();
            let target = judged.map(|judged| {
                json!({ "allowed": judged.target, "verdict": judged.verdict, "exceeding": judged.exceeding, "why": judged.why })
            });
            let body = json!({ "protocol": self.protocol, "measure": self.measure.to_string(), "noise": noise.get(),
                "statement": self.statement,
                "observers": plain::observed_by(&self.statement, self.graph),
                "largest": self.worst.as_ref().map(|worst| json!({ "source": self.names[worst.source],
                    "observer": plain::name(self.graph, &worst.observer), "loss": worst.loss })),
                "other_pairs_at_most": self.bound.map(|(bound, _)| finite(bound)), "target": target, "pairs": pairs });
            json(path, seed, body)?;
        }
        Ok(())
    }

    /// What is learnt at most, and by whom, in a sentence or two.
    fn most(&self, noise: NoiseMultiplier) -> (String, Option<f64>) {
        let largest = self.worst();
        let bound = self.bound.filter(|(bound, _)| largest.is_none_or(|entry| *bound > entry.loss));
        let exact = self.worst.as_ref().filter(|worst| worst.loss.grade() == Grade::Exact);
        let mut may_be_less = bound.is_some();
        let (most, pair, account) = match (largest, bound) {
            (_, Some((bound, account))) => match exact {
                Some(worst) if bound <= *worst.loss.value() => {
                    may_be_less = false;
                    let pair = plain::in_words(&self.statement, self.graph, |words| words.pair(worst));
                    (bound, format!(", and exactly that much is {pair}"), account)
                }
                _ => (bound, String::new(), account),
            },
            (Some(entry), None) => {
                let (v, u) = (&self.of_observer[entry.observer], &self.names[entry.u]);
                let account = self.covered.looked_at()[entry.observer].as_ref();
                (entry.loss, format!(": what {v} learns about {u}"), Some((account, entry.u)))
            }
            (None, None) => {
                return (words::NOBODY_OUTSIDE.to_owned(), None);
            }
        };
        let right = account.and_then(|(account, u)| words::right_guesses(account, u, noise));
        let most = words::Most {
            loss: format!("{} ({})", up(most), self.measure),
            pair,
            odds: right.map(words::guesses),
            may_be_less,
        };
        (plain::in_words(&self.statement, self.graph, |words| words.at_most(&most)), right)
    }

    fn page(
        &self,
        subject: &Subject<'_>,
        rows: &[(&str, String)],
        notes: &[String],
        noise: NoiseMultiplier,
        judged: Option<&Judged>,
        svg: &str,
    ) -> Page {
        let (most, right) = self.most(noise);
        let (tone, verdict) = match judged {
            None => (Tone::Plain, most),
            Some(Judged { verdict: Verdict::Met, target, .. }) => {
                (Tone::Good, words::verdict(target, None, &most))
            }
            Some(Judged { target, why, .. }) => (Tone::Bad, words::verdict(target, Some(why), &most)),
        };
        let mut page = Page::new(&format!("What {} reveals", self.protocol)).verdict(tone, &verdict);
        page = plain::opening(page, subject);
        if let Some(right) = right {
            page = words::page::conclusions(page, right);
        }
        let mut particular: Vec<String> = plain::about(&self.protocol).into_iter().collect();
        particular.push(plain::noise_in_a_sentence(&self.statement));
        particular.extend(
            self.statement.assumes.iter().map(|&assumption| plain::assumed_in_a_sentence(assumption)),
        );
        particular.extend(self.statement.declared.iter().map(|what| format!("{}.", words::capital(what))));
        page = plain::assumptions(page, &particular);
        let mut grades: Vec<Grade> = self.entries.iter().map(|entry| entry.grade).collect();
        let others_bounded =
            self.covered.coverage.is_by_bound() || matches!(self.covered.coverage, Coverage::Grouped { .. });
        grades.extend(others_bounded.then_some(Grade::UpperBound));
        page = plain::sureness(page, &grades, (self.statement.failure, Some(&self.statement)), notes);
        let rows: Vec<Vec<String>> =
            rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
        let mut pairs = self.rows();
        pairs.sort_by(|a, b| b.3.total_cmp(&a.3));
        let pairs: Vec<Vec<String>> = pairs
            .into_iter()
            .take(8)
            .map(|(u, v, hops, loss)| {
                vec![u, v, hops.map_or_else(|| "-".into(), |hops| hops.to_string()), up(loss)]
            })
            .collect();
        page = page
            .section("What is learnt")
            .text(&plain::measure(self.measure))
            .table("In short", &["", ""], &rows)
            .picture(svg, "What is learnt about each node; the brighter, the more; the scale says how much.")
            .table(
                "Who loses most to those looked at",
                &["exposed", "observer", "hops between them", "loss"],
                &pairs,
            );
        let by_distance = self.by_distance();
        if !by_distance.is_empty() {
            page = page.table("By distance from the observers looked at", &HOPS, &by_distance);
        }
        plain::provenance(page, subject.seed)
    }

    /// Hops, pairs, median and largest loss.
    fn by_distance(&self) -> Vec<Vec<String>> {
        let mut classes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(hops) = entry.hops {
                classes.entry(hops).or_default().push(entry.loss);
            }
        }
        let row = |(hops, mut losses): (u32, Vec<f64>)| {
            losses.sort_by(f64::total_cmp);
            let (middle, largest) = (losses[losses.len() / 2], losses[losses.len() - 1]);
            vec![hops.to_string(), losses.len().to_string(), up(middle), up(largest)]
        };
        classes.into_iter().map(row).collect()
    }
}

const HOPS: [&str; 4] = ["hops", "pairs", "median", "largest"];
