//! Protocol, weights and rounds for a target.

use super::stopping_rounds;
use crate::args::{Plan, Weights};
use crate::errors::Failure;
use crate::input;
use crate::output::{count, csv, heading, json, line, page, pictures, table, up};
use crate::patience::{Budget, Patient};
use crate::plain::{self, Subject};
use crate::progress::Progress;
use crate::question::{self, Chosen};
use ndp_account::{Coverage, Statement, Target, compare_towards};
use ndp_algos::registry::{self, Kind, PROTOCOLS, Parameters};
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::Graph;
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::time::Instant;

/// Rounds that are tried, as multiples of those of the stopping rule.
const FACTORS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

/// Weights that are tried, and who has none.
const WEIGHTS: [Weights; 2] = [Weights::Metropolis, Weights::MaxDegree];
const WITHOUT_WEIGHTS: [&str; 1] = ["push-sum"];

/// An edge is worth naming when the error falls below this share of what it was.
const WORTH: f64 = 0.999;

/// Edges that are tried before one of them is added.
const TRIED_EDGES: usize = 24;

/// A protocol with everything that is to be chosen.
#[derive(Clone)]
struct Candidate {
    name: &'static str,
    weights: Weights,
    parameters: Parameters,
}

/// What a candidate needs and gives.
struct Found {
    candidate: Candidate,
    noise: NoiseMultiplier,
    /// Of large graphs it is not known.
    error: Option<f64>,
    messages: Option<f64>,
    grade: Option<Grade>,
    failure: f64,
    coverage: Coverage,
    /// Of the best, what is said beside its noise.
    statement: Statement,
    /// How long the answer took.
    seconds: f64,
}

const HEADER: [&str; 8] =
    ["protocol", "weights", "parameters", "noise", "error", "messages", "grade", "observers"];

impl Found {
    /// The same with all digits, for files.
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
            self.candidate.weights.to_string(),
            self.candidate.parameters.to_string(),
            up(question::in_unit(self.noise, unit)),
            self.error.map_or_else(|| "-".into(), |error| up(error * unit)),
            self.messages.map_or_else(|| "-".into(), count),
            self.grade.map_or_else(String::new, |grade| grade.to_string()),
            self.coverage.in_short(),
        ]
    }
}

/// What is asked of every candidate.
struct Asked<'a> {
    target: &'a Target,
    chosen: &'a Chosen,
}

impl Asked<'_> {
    /// `None` where the candidate has no answer.
    fn of(&self, graph: &Graph, candidate: &Candidate, patience: u64) -> Result<Option<Found>, Failure> {
        let start = Instant::now();
        let matrix = input::matrix(graph, candidate.weights)?;
        let entry = registry::find(candidate.name)?;
        let built = Patient::of_entry(entry, &matrix, candidate.parameters.clone(), Some(patience));
        let Ok(built) = built.map(Patient::for_every_pair) else { return Ok(None) };
        let one = [(candidate.name, Ok(&built as &dyn ndp_account::Protocol))];
        let row = compare_towards(&one, &self.chosen.audience, self.target).rows.remove(0);
        let (Ok(least), Some(statement)) = (&row.least, row.statement.clone()) else { return Ok(None) };
        Ok(Some(Found {
            candidate: candidate.clone(),
            noise: least.noise,
            error: row.error.as_ref().ok().copied(),
            messages: row.messages.as_ref().ok().copied(),
            grade: row.grade,
            failure: row.failure,
            coverage: row.coverage.unwrap_or(Coverage::Named { observers: 0 }),
            statement,
            seconds: start.elapsed().as_secs_f64(),
        }))
    }
}

/// What is tried, and the names of what is not because it does not run on the edges given.
fn candidates(graph: &Graph, asked: &Plan) -> Result<(Vec<Candidate>, Vec<&'static str>), Failure> {
    let only = &asked.protocols;
    for name in only {
        registry::find(name)?;
    }
    let base = stopping_rounds(&input::matrix(graph, Weights::Metropolis)?)? as f64;
    let (mut candidates, mut elsewhere) = (Vec::new(), Vec::new());
    for entry in PROTOCOLS {
        if !only.is_empty() && !only.iter().any(|name| name == entry.name) {
            continue;
        }
        // Means are compared with means; a baseline needs trust or gives none.
        if entry.kind != Kind::Mean {
            continue;
        }
        // Who names a protocol asks for it.
        if only.is_empty() && !asked.any_topology && !entry.is_on_the_graph() {
            elsewhere.push(entry.name);
            continue;
        }
        if entry.parameters.iter().all(|parameter| parameter.name != "rounds") {
            let (weights, parameters) = (Weights::Metropolis, Parameters::default());
            candidates.push(Candidate { name: entry.name, weights, parameters });
            continue;
        }
        let all: &[Weights] = if WITHOUT_WEIGHTS.contains(&entry.name) { &WEIGHTS[..1] } else { &WEIGHTS };
        for &weights in all {
            for factor in FACTORS {
                let rounds = (base * factor).ceil().max(1.0);
                let parameters = Parameters::from([("rounds", rounds)]);
                candidates.push(Candidate { name: entry.name, weights, parameters });
            }
        }
    }
    // What is quickly known comes first, so that it is known whatever the patience.
    let rounds = |candidate: &Candidate| candidate.parameters.0.get("rounds").copied().unwrap_or(0.0);
    candidates.sort_by(|a, b| rounds(a).total_cmp(&rounds(b)));
    Ok((candidates, elsewhere))
}

/// Why the first is first, and what the next protocol costs.
fn first_and_second(found: &[Found], unit: f64) -> Option<String> {
    let best = found.first()?;
    let error = best.error?;
    let named = |found: &Found| {
        let parameters = found.candidate.parameters.to_string();
        let name = found.candidate.name;
        if parameters.is_empty() { name.to_owned() } else { format!("{name} with {parameters}") }
    };
    let first = format!(
        "{} is first because its result is nearest to the mean: the error is {}.",
        named(best),
        up(error * unit)
    );
    let other = |other: &&Found| {
        other.candidate.name != best.candidate.name && other.coverage.is_whole() == best.coverage.is_whole()
    };
    let Some((next, its_error)) = found.iter().find(other).and_then(|next| Some((next, next.error?))) else {
        return Some(format!("{first} No other protocol was found whose error is known."));
    };
    let more = 100.0 * (its_error / error - 1.0);
    let more = if more < 0.05 { "as good as the same".into() } else { format!("{more:.1} % more") };
    let messages = match (next.messages, best.messages) {
        (Some(next), Some(best)) => format!(", with {} messages in place of {}", count(next), count(best)),
        _ => String::new(),
    };
    Some(format!(
        "{first} Next is {}: the error is {} ({more}){messages}.",
        named(next),
        up(its_error * unit)
    ))
}

/// What was left out, or which of those found needs more than the edges.
fn on_the_edges(found: &[Found], elsewhere: &[&str]) -> Option<String> {
    if !elsewhere.is_empty() {
        return Some(format!(
            "Not tried, because they bring connections of their own, whatever the edges (--any-topology tries them): {}.",
            elsewhere.join(", ")
        ));
    }
    let is_on =
        |found: &&Found| registry::find(found.candidate.name).is_ok_and(|entry| entry.is_on_the_graph());
    let best = found.first().filter(|best| !is_on(best))?;
    let on = found.iter().find(is_on).map_or_else(String::new, |on| {
        format!(" The first that runs on the edges given is {}.", on.candidate.name)
    });
    Some(format!("{} brings connections of its own, whatever the edges.{on}", best.candidate.name))
}

pub(crate) fn run(asked: &Plan, quiet: bool) -> Result<(), Failure> {
    let graph = input::graph(&asked.graph)?;
    let target = asked.target.required(&graph)?;
    let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, Some(&target))?;
    let question = Asked { target: &target, chosen: &chosen };
    let (candidates, elsewhere) = candidates(&graph, asked)?;
    if candidates.is_empty() {
        return Err(Failure::Refused(
            "plans are for protocols that find a mean: trainings, histograms, local and central are compared by `ndp compare`".into(),
        ));
    }
    let progress = Progress::new(candidates.len() as u64, "candidates", quiet);
    let mut found = Vec::new();
    let patience = asked.effort.seconds(candidates.len(), chosen.by_bound());
    let mut budget = Budget::new(patience, candidates.len());
    for candidate in &candidates {
        found.extend(question.of(&graph, candidate, budget.next())?);
        progress.one();
    }
    drop(progress);
    // Those whose error is not known come last, after all of them those that do not cover everybody.
    let error = |found: &Found| found.error.unwrap_or(f64::INFINITY);
    let key = |found: &Found| (!found.coverage.is_whole(), error(found));
    found.sort_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    let unknown = found.iter().filter(|found| found.error.is_none()).count();
    let Some(best) = found.first() else {
        let more = if elsewhere.is_empty() {
            ""
        } else {
            "; --any-topology tries those that bring their own connections"
        };
        return Err(Failure::Refused(format!(
            "no protocol meets the target on this graph: see `ndp compare` for the reasons{more}"
        )));
    };
    let unit = asked.unit.sensitivity;
    heading(&format!("Plans for the target {}; observed by {}", words::target(&target), chosen.description))?;
    line("")?;
    let cells: Vec<Vec<String>> = found.iter().map(|found| found.cells(unit)).collect();
    table(&HEADER, &cells[..cells.len().min(12)])?;
    line("")?;
    let searched = format!(
        "Searched: {} combinations of protocol, weights and rounds ({} without an answer); smallest error of the mean first{}. \
         Other rounds, weights or graphs may do better.",
        candidates.len(),
        candidates.len() - found.len(),
        if unknown > 0 {
            format!(", then {unknown} whose error is not known (that of gossip is, up to 2048 nodes)")
        } else {
            String::new()
        }
    );
    let advice: Vec<String> =
        first_and_second(&found, unit).into_iter().chain(on_the_edges(&found, &elsewhere)).collect();
    advice.iter().try_for_each(|sentence| line(sentence))?;
    line(&searched)?;
    let statement = &best.statement;
    let meant = [
        format!("Noise is the {} ({}).", plain::noise_is(statement), best.candidate.name),
        format!("What may change: {}.", plain::changes(statement)),
    ];
    meant.iter().try_for_each(|sentence| line(sentence))?;
    let edges = if asked.rewire > 0 { rewired(asked, &graph, &question, &found, quiet)? } else { Vec::new() };
    let seed = asked.knowledge.seed;
    if let Some(path) = &asked.files.csv {
        let exact: Vec<Vec<String>> = found.iter().map(|found| found.digits(unit)).collect();
        csv(path, seed, &HEADER, &exact)?;
    }
    if let Some(path) = &asked.files.json {
        let edges: Vec<_> =
            edges.iter().map(|(u, v, error)| json!({ "from": u, "to": v, "error": error })).collect();
        let coverage: Vec<_> = found.iter().map(|found| &found.coverage).collect();
        let body = json!({ "header": HEADER, "plans": cells, "coverage": coverage, "statement": statement,
            "searched": candidates.len(), "not_tried": elsewhere, "edges": edges });
        json(path, seed, body)?;
    }
    if asked.pictures.any() {
        let svg = pictures(&asked.pictures, seed, &figure(&found, unit))?;
        if let Some(path) = &asked.pictures.report {
            let observed = plain::observed_by(statement, &graph);
            let subject = Subject {
                network: plain::network(&asked.graph.file, &graph),
                observers: &observed,
                senders: plain::knows(&asked.knowledge).0,
                own_noise: plain::knows(&asked.knowledge).1,
                sensitivity: unit,
                protected: &plain::changes(statement),
                seed,
            };
            let mean = best.error.map_or_else(String::new, |error| {
                let error = up(error * unit);
                format!(
                    " The mean that nodes end with is then wrong by {error} at most, as a root mean square."
                )
            });
            let unknown = plain::unknown(&best.coverage);
            let sentence = format!(
                "With {} and noise {}, what {} learns is {}.{mean}{}",
                best.candidate.name,
                up(question::in_unit(best.noise, unit)),
                plain::whom(statement, &graph),
                words::target(&target),
                unknown.map_or_else(String::new, |unknown| format!(" {unknown}")),
            );
            let tone = if best.coverage.is_whole() { Tone::Good } else { Tone::Bad };
            let mut report = Page::new("A plan for averaging in private").verdict(tone, &sentence);
            report = plain::opening(report, &subject);
            let mut particular: Vec<String> = plain::about(best.candidate.name).into_iter().collect();
            particular.push(plain::noise_in_a_sentence(statement));
            report = plain::assumptions(report, &particular);
            let grades: Vec<Grade> = found.iter().filter_map(|found| found.grade).collect();
            report = plain::sureness(report, &grades, (best.failure, Some(statement)), &[]);
            report = report
                .section("The plans")
                .text(&plain::measure(target.measure))
                .text(&advice.join(" "))
                .text(&searched)
                .table("Smallest error first", &HEADER, &cells[..cells.len().min(12)])
                .picture(&svg, "Error of the mean against messages; every point keeps the target.");
            page(path, &plain::provenance(report, seed))?;
        }
    }
    if best.coverage.is_whole() {
        return Ok(());
    }
    Err(Failure::NotMet(format!(
        "no plan is shown to keep the target: {}{}",
        words::coverage(&best.coverage),
        words::LOOK_AT_ALL
    )))
}

/// Error against messages of everything that keeps the target.
fn figure(found: &[Found], unit: f64) -> Figure {
    let mut panel =
        Panel::curves("every point keeps the target", Axis::log("messages"), Axis::log("error of the mean"));
    let mut names: Vec<&str> = found.iter().map(|found| found.candidate.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of_name = found.iter().filter(|found| found.candidate.name == name);
        let points: Vec<(f64, f64)> =
            of_name.filter_map(|found| Some((found.messages?, found.error? * unit))).collect();
        if !points.is_empty() {
            panel = panel.with(Series::data(name).points(points).scattered());
        }
    }
    Figure::new("What the target costs").panel(panel)
}

/// Edges added one after the other, each the best of those tried, with the error that is left: of the best
/// protocol that gossips on the graph, with the fewest rounds that were tried.
fn rewired(
    asked: &Plan,
    graph: &Graph,
    question: &Asked<'_>,
    found: &[Found],
    quiet: bool,
) -> Result<Vec<(String, String, f64)>, Failure> {
    let rounds = |found: &Found| found.candidate.parameters.0.get("rounds").copied();
    let gossip = || found.iter().filter(|found| rounds(found).is_some());
    let Some(best) = gossip().find(|found| found.error.is_some()) else {
        line(if gossip().next().is_some() {
            "No edges are suggested: the error of gossip is not known on so large a graph; try a part of it, or edges of your own."
        } else {
            "No edges are suggested: no protocol that gossips on the graph meets the target."
        })?;
        return Ok(Vec::new());
    };
    // With many rounds the noise alone is left; edges save rounds.
    let alike = |other: &&Found| {
        other.candidate.name == best.candidate.name && other.candidate.weights == best.candidate.weights
    };
    let fewest = found
        .iter()
        .filter(alike)
        .min_by(|a, b| rounds(a).unwrap_or(0.0).total_cmp(&rounds(b).unwrap_or(0.0)));
    let best = fewest.filter(|fewest| fewest.error.is_some()).unwrap_or(best);
    // An edge costs as many answers as are tried; they must all be there in time.
    let seconds = best.seconds * (asked.rewire * TRIED_EDGES) as f64;
    if seconds > asked.effort.seconds(1, false) as f64 {
        line(&format!(
            "No edges are suggested: to try {TRIED_EDGES} for each of {} takes about {seconds:.0} s, more than the {} s of --patience; \
             ask for fewer observers or edges, or for more patience.",
            asked.rewire,
            asked.effort.seconds(1, false)
        ))?;
        return Ok(Vec::new());
    }
    let before = best.error.unwrap_or(f64::INFINITY);
    let unit = asked.unit.sensitivity;
    let rng = &mut ChaCha8Rng::seed_from_u64(asked.knowledge.seed);
    let (mut graph, mut error) = (graph.clone(), before);
    let mut edges: Vec<(String, String, f64)> = Vec::new();
    let progress = Progress::new((asked.rewire * TRIED_EDGES) as u64, "edges", quiet);
    for _ in 0..asked.rewire {
        let mut better: Option<(f64, Graph, (usize, usize))> = None;
        for (u, v) in near(&graph, TRIED_EDGES, rng) {
            let larger = with_edge(&graph, u, v)?;
            let smallest = better.as_ref().map_or(error * WORTH, |(error, ..)| *error);
            let found = question.of(&larger, &best.candidate, asked.effort.seconds(1, false))?;
            if let Some(error) = found.and_then(|found| found.error).filter(|&error| error < smallest) {
                better = Some((error, larger, (u, v)));
            }
            progress.one();
        }
        let Some((smaller, larger, (u, v))) = better else { break };
        (graph, error) = (larger, smaller);
        edges.push((input::label(&graph, u), input::label(&graph, v), error * unit));
    }
    drop(progress);
    line("")?;
    line(&format!(
        "Edges that lower the error of {} with {} ({}), each the best of {TRIED_EDGES} drawn between nodes at distance 2 (seed {}), one \
         after the other; the noise is found anew each time:",
        best.candidate.name,
        best.candidate.parameters,
        up(before * unit),
        asked.knowledge.seed
    ))?;
    if edges.is_empty() {
        line("none of those tried lowers it by a thousandth")?;
    } else {
        let rows: Vec<Vec<String>> =
            edges.iter().map(|(u, v, error)| vec![u.clone(), v.clone(), up(*error)]).collect();
        table(&["from", "to", "error"], &rows)?;
    }
    Ok(edges)
}

/// So many pairs of nodes with a common neighbor and no edge, at random; fewer where there are few.
fn near(graph: &Graph, count: usize, rng: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let mut middles: Vec<usize> = (0..graph.node_count()).collect();
    middles.shuffle(rng);
    let mut pairs = Vec::new();
    for _ in 0..2 {
        for &w in &middles {
            let mut ends: Vec<usize> = graph.neighbors(w).iter().map(|&v| v as usize).collect();
            ends.shuffle(rng);
            if let [u, v, ..] = ends[..] {
                let pair = (u.min(v), u.max(v));
                if !graph.has_edge(u, v) && !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
            if pairs.len() == count {
                return pairs;
            }
        }
    }
    pairs
}

fn with_edge(graph: &Graph, u: usize, v: usize) -> Result<Graph, Failure> {
    let larger = Graph::from_edges(graph.node_count(), graph.edges().chain(std::iter::once((u, v))))?;
    Ok(match graph.labels() {
        Some(labels) => larger.with_labels(labels.to_vec())?,
        None => larger,
    })
}
