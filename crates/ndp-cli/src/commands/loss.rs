//! What observers learn at a given noise.

use super::{accounts, summary, worst};
use crate::args::Loss;
use crate::errors::Failure;
use crate::output::{
    MAX_DRAWING, csv, drawing, finite, json, line, losses, note, npy, number, page, pictures, table, up,
};
use crate::patience::{Patient, was_out};
use crate::plain::{self, Subject};
use crate::progress::Progress;
use crate::{input, question};
use ndarray::Array2;
use ndp_algos::Protocol as _;
use ndp_algos::accountant::{Account, Allowed, Observer, Target, check};
use ndp_dp::{Grade, Measure, NoiseMultiplier, Verdict};
use ndp_graph::Graph;
use ndp_report::figure::Figure;
use ndp_report::page::{Page, Tone};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// What one pair loses.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) u: usize,
    /// Index of the observer.
    pub(super) observer: usize,
    pub(super) loss: f64,
    pub(super) grade: Grade,
    pub(super) hops: Option<u32>,
}

/// All losses at a noise, observer by observer; nodes in random order, so that those known in time are a random sample of all.
pub(super) fn all(
    graph: &Graph,
    protocol: &Patient,
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    measure: Measure,
    (seed, quiet): (u64, bool),
) -> Result<Losses, Failure> {
    let n = graph.node_count();
    let progress = Progress::new((accounts.len() * n) as u64, "pairs", quiet);
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let of_observer = |observer: usize| -> Result<Losses, Failure> {
        let account = &accounts[observer];
        let members = account.observer().members();
        let hops = members.first().map(|&v| graph.distances(v));
        let one = |u: usize| -> Result<Option<Entry>, Failure> {
            let found = account.profile(u, noise).and_then(|profile| Ok(profile.loss(measure)?));
            progress.one();
            match found {
                Ok(loss) => {
                    let hops = hops.as_ref().and_then(|hops| hops[u]);
                    Ok(Some(Entry { u, observer, loss: *loss.value(), grade: loss.grade(), hops }))
                }
                Err(error) if was_out(&error) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        let outside: Vec<usize> =
            order.iter().copied().filter(|&u| !account.observer().contains(u)).collect();
        let mut entries: Vec<Entry> = if account.class().is_some() {
            let same = outside.first().map(|&first| one(first)).transpose()?.flatten();
            let copy = |same: Entry| {
                let hops = &hops;
                let copies = outside.iter().map(move |&u| Entry {
                    u,
                    hops: hops.as_ref().and_then(|hops| hops[u]),
                    ..same
                });
                copies.collect()
            };
            same.map_or_else(Vec::new, copy)
        } else {
            let found = outside.par_iter().map(|&u| one(u)).collect::<Result<Vec<_>, Failure>>()?;
            found.into_iter().flatten().collect()
        };
        entries.sort_by_key(|entry| entry.u);
        Ok(Losses { not_known: outside.len() - entries.len(), entries, bound: None })
    };
    let all = (0..accounts.len()).into_par_iter().map(of_observer).collect::<Result<Vec<_>, Failure>>()?;
    let not_known = all.iter().map(|found| found.not_known).sum();
    let entries: Vec<Entry> = all.into_iter().flat_map(|found| found.entries).collect();
    // The bound is the same for all pairs; it takes no time.
    let at_most = |account: &dyn Account| {
        let observer = account.observer();
        let u = (0..n).find(|&u| !observer.contains(u))?;
        let profile = protocol.local_bound(observer).and_then(|bound| bound.profile(u, noise)).ok()?;
        profile.loss(measure).ok().map(|loss| *loss.value())
    };
    let mut bound = None;
    if not_known > 0 {
        let bounds: Option<Vec<f64>> = accounts.iter().map(|account| at_most(account.as_ref())).collect();
        bound = bounds.map(|bounds| bounds.into_iter().fold(0.0, f64::max));
    }
    if entries.is_empty() && not_known > 0 && bound.is_none() {
        return Err(Failure::Refused(
            "no loss was known in time: more --patience, fewer observers, rounds or steps".into(),
        ));
    }
    Ok(Losses { entries, not_known, bound })
}

/// Losses of pairs, and of how many there was no time for.
pub(super) struct Losses {
    pub(super) entries: Vec<Entry>,
    pub(super) not_known: usize,
    /// What each of those that are not known loses at most.
    pub(super) bound: Option<f64>,
}

impl Losses {
    /// What to say of the pairs that are missing.
    pub(super) fn note(&self) -> Option<String> {
        (self.not_known > 0).then(|| {
            let others = self.bound.map_or_else(
                || "nothing is said of the others".to_owned(),
                |bound| {
                    format!(
                        "each of the others loses at most {}, what the noisy values themselves show",
                        up(bound)
                    )
                },
            );
            let (known, all) = (self.entries.len(), self.entries.len() + self.not_known);
            format!("time ran out: {known} of {all} pairs are known, drawn at random; {others}")
        })
    }
}

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
    grade: Grade,
}

pub(crate) fn run(asked: &Loss, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.weights)?;
    let (protocol, name) = question::chosen(&asked.protocol, &matrix, Some(asked.effort.patience))?;
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let noise = question::noise(asked.noise, asked.unit.sensitivity)?;
    let measure = asked.target.measure()?;
    let target = asked.target.target(&graph)?;
    let accounts = accounts(&protocol, &chosen.observers, quiet)?;
    let losses = all(&graph, &protocol, &accounts, noise, measure, (asked.knowledge.seed, quiet))?;
    let mut notes = protocol.notes();
    notes.extend(losses.note().inspect(|text| note(text)));
    let Losses { entries, not_known, bound } = losses;
    let exact = not_known == 0 && entries.iter().all(|entry| entry.grade == Grade::Exact);
    let found = Found {
        graph: &graph,
        observers: &chosen.observers,
        names: (0..graph.node_count()).map(|v| input::label(&graph, v)).collect(),
        of_observer: chosen.observers.iter().map(|observer| plain::name(&graph, observer)).collect(),
        entries,
        measure,
        protocol: name,
        grade: if exact { Grade::Exact } else { Grade::UpperBound },
    };
    let failure: f64 = accounts.iter().map(|account| account.failure()).sum();
    let mut rows = vec![
        ("protocol", found.protocol.clone()),
        ("weights", asked.protocol.weights_in_words()),
        ("observed by", chosen.description.clone()),
        ("noise", format!("{} ({} times the sensitivity)", number(asked.noise), number(noise.get()))),
        ("grade", found.grade.to_string()),
        ("the account fails", question::probability(failure)),
        ("pairs", found.entries.len().to_string()),
    ];
    let mut rests_on: Vec<String> = Vec::new();
    for sentence in accounts.iter().flat_map(|account| account.rests_on()) {
        if !rests_on.contains(&sentence) {
            rests_on.push(sentence);
        }
    }
    rows.extend(rests_on.iter().map(|sentence| ("rests on", sentence.clone())));
    if !found.entries.is_empty() {
        rows.push(("median, 90 %, largest", found.quantiles().map(up).join(", ")));
    }
    if not_known > 0 {
        let each = bound.map_or_else(String::new, |bound| format!(", each at most {}", up(bound)));
        rows.push(("pairs not known in time", format!("{not_known}{each}")));
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
    found.write(asked, noise, (failure, &rests_on), &chosen.description)?;
    // With pairs that are not known, every pair must keep a limit that is the same for all.
    let covered = |target: &Target| {
        let largest = found.entries.iter().map(|entry| entry.loss).fold(0.0, f64::max);
        bound.is_some_and(
            |bound| matches!(target.allowed, Allowed::Worst(limit) if largest.max(bound) <= limit),
        )
    };
    let verdict = match &target {
        Some(target) if not_known == 0 => Some(check(&accounts, noise, target)?),
        _ => None,
    };
    let sentence =
        target.as_ref().map(|target| match verdict.map(|found| (found.verdict, found.exceeding)) {
            None if covered(target) => "met".to_owned(),
            None => format!("not shown, {not_known} pairs are not known"),
            Some((Verdict::Met, _)) => "met".to_owned(),
            Some((Verdict::NotShown, exceeding)) => format!("not shown, {exceeding} pairs exceed it"),
            Some((Verdict::Violated, exceeding)) => format!("violated, {exceeding} pairs exceed it"),
        });
    if asked.pictures.any() {
        let svg = pictures(&asked.pictures, asked.knowledge.seed, &found.figure())?;
        if let Some(path) = &asked.pictures.report {
            let subject = Subject {
                network: plain::network(&asked.graph.file, &graph),
                observers: &chosen.description,
                hidden_senders: asked.knowledge.hidden_senders,
                without_own_noise: asked.knowledge.without_own_noise,
                sensitivity: asked.unit.sensitivity,
                protected: "the value of any one node",
                seed: asked.knowledge.seed,
            };
            let odds = found
                .worst()
                .and_then(|entry| plain::odds(accounts[entry.observer].as_ref(), entry.u, noise));
            let asked_for = target
                .as_ref()
                .zip(sentence.as_deref())
                .map(|(target, sentence)| (sentence == "met", question::words(target), sentence));
            page(
                path,
                &found.page(&subject, &rows, (failure, &notes, bound), odds.as_deref(), asked_for, &svg),
            )?;
        }
    }
    match sentence {
        Some(sentence) if sentence == "met" => line("target: met"),
        Some(sentence) => Err(Failure::NotMet(format!(
            "target: {sentence}: `ndp calibrate` with the same options finds the least noise"
        ))),
        None => Ok(()),
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
            _ => losses(&format!("{title}: what nodes learn"), &what, self.grade, &self.names, self.matrix()),
        }
    }

    /// Numbers as CSV, JSON and NumPy.
    fn write(
        &self,
        asked: &Loss,
        noise: NoiseMultiplier,
        (failure, rests_on): (f64, &[String]),
        observers: &str,
    ) -> Result<(), Failure> {
        let seed = asked.knowledge.seed;
        if let Some(path) = &asked.files.csv {
            let cell = |entry: &Entry| {
                let hops = entry.hops.map_or_else(String::new, |hops| hops.to_string());
                let (u, v) = (self.names[entry.u].clone(), self.of_observer[entry.observer].clone());
                vec![u, v, hops, entry.grade.to_string(), entry.loss.to_string()]
            };
            let cells: Vec<Vec<String>> = self.entries.iter().map(cell).collect();
            csv(path, seed, &["source", "observer", "hops", "grade", "loss"], &cells)?;
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
            let body = json!({ "protocol": self.protocol, "measure": self.measure.to_string(), "noise": noise.get(),
                "failure": failure, "rests_on": rests_on, "observers": observers, "pairs": pairs });
            json(path, seed, body)?;
        }
        Ok(())
    }

    fn page(
        &self,
        subject: &Subject<'_>,
        rows: &[(&str, String)],
        (failure, notes, bound): (f64, &[String], Option<f64>),
        odds: Option<&str>,
        target: Option<(bool, String, &str)>,
        svg: &str,
    ) -> Page {
        let largest = self.worst().map_or(0.0, |entry| entry.loss);
        let most = match (self.worst(), odds) {
            _ if bound.is_some_and(|bound| bound > largest) => format!(
                "At most {} is learnt about anybody ({}); it may be less, for not every pair was computed.",
                up(bound.unwrap_or(f64::INFINITY)),
                self.measure
            ),
            (Some(entry), Some(odds)) => format!(
                "At most {} is learnt about anybody ({}): what {} learns about {}. In other words: {odds}.",
                up(largest),
                self.measure,
                self.of_observer[entry.observer],
                self.names[entry.u]
            ),
            (Some(_), None) => {
                format!("At most {} is learnt about anybody ({}).", up(largest), self.measure)
            }
            (None, _) => {
                "There is nobody outside the observer about whom anything could be learnt.".to_owned()
            }
        };
        let (tone, verdict) = match target {
            None => (Tone::Plain, most.clone()),
            Some((true, words, _)) => (Tone::Good, format!("The limit is kept: {words}. {most}")),
            Some((false, words, sentence)) => (
                Tone::Bad,
                format!("The limit is not kept or not shown to be kept ({sentence}): {words}. {most}"),
            ),
        };
        let mut page = Page::new(&format!("What {} reveals", self.protocol)).verdict(tone, &verdict);
        page = plain::opening(page, subject);
        page = plain::assumptions(page, &plain::about(&self.protocol).into_iter().collect::<Vec<_>>());
        let grades: Vec<Grade> = self.entries.iter().map(|entry| entry.grade).collect();
        page = plain::sureness(page, &grades, failure, notes);
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
            .table("Who loses most", &["exposed", "observer", "hops between them", "loss"], &pairs);
        let by_distance = self.by_distance();
        if !by_distance.is_empty() {
            page = page.table("By distance from the observer", &HOPS, &by_distance);
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
