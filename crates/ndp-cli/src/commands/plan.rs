//! Protocol, weights and rounds for a target.

mod rewire;
mod show;

use super::stopping_rounds;
use crate::args::{Plan, Weights};
use crate::errors::Failure;
use crate::output::up;
use crate::patience::{self, Limit, sharing};
use crate::progress::Progress;
use crate::question::{self, Chosen};
use crate::{input, show as showing};
use ndp_account::{Coverage, Error, Statement, Target};
use ndp_algos::registry::{self, Kind, PROTOCOLS, Parameters};
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::Graph;
use ndp_report::words;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Instant;

/// Rounds that are tried, as multiples of those of the stopping rule.
const FACTORS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

/// The weights that are tried; the first alone for protocols that do not use weights.
const WEIGHTS: [Weights; 2] = [Weights::Metropolis, Weights::MaxDegree];

/// A protocol with everything that is to be chosen.
#[derive(Clone, PartialEq)]
struct Candidate {
    name: &'static str,
    weights: Weights,
    parameters: Parameters,
}

/// What a candidate needs and gives.
#[derive(Clone)]
struct Found {
    candidate: Candidate,
    noise: NoiseMultiplier,
    /// `None` if the error could not be computed, as on large graphs.
    error: Option<f64>,
    messages: Option<f64>,
    grade: Option<Grade>,
    failure: f64,
    coverage: Coverage,
    statement: Statement,
    /// Where a bound stands for what observers see.
    notes: Vec<String>,
    /// How long the answer took.
    seconds: f64,
    /// The counted work that finding it took.
    work: u64,
}

impl Found {
    /// Orders plans. Plans that do not cover every observer come last; before them, plans whose error is not
    /// known; otherwise the smaller error comes first.
    fn better(&self, other: &Self) -> Ordering {
        let error = |found: &Self| found.error.unwrap_or(f64::INFINITY);
        let partly = |found: &Self| !found.coverage.is_whole();
        partly(self).cmp(&partly(other)).then(error(self).total_cmp(&error(other)))
    }
}

/// What is asked, of which network, at which target.
struct Study<'a> {
    asked: &'a Plan,
    graph: Graph,
    target: Target,
    chosen: Chosen,
    candidates: Vec<Candidate>,
    /// Protocols that are left out because they need connections that the graph does not have.
    elsewhere: Vec<&'static str>,
}

/// What was found.
/// What became of a candidate, and whether counted work cut the answer short.
enum Tried {
    Found(Box<Found>, bool),
    Nothing { cut: bool },
    NoNoiseNeeded,
}

struct Plans<'a> {
    study: &'a Study<'a>,
    best: Found,
    /// The others, smallest error first.
    others: Vec<Found>,
    /// Protocols that need no noise towards those who are looked at, in all combinations or
    /// some.
    noiseless: Vec<String>,
    /// Edges that would help, where they were asked for.
    edges: Option<rewire::Edges>,
}

pub(crate) fn run(asked: &Plan, quiet: bool) -> Result<(), Failure> {
    let study = Study::of(asked)?;
    let found = study.answer(quiet)?;
    showing::show(&found, &asked.files, asked.knowledge.seed)?;
    showing::draw(&found, &asked.pictures, asked.knowledge.seed)?;
    found.verdict()
}

impl<'a> Study<'a> {
    fn of(asked: &'a Plan) -> Result<Self, Failure> {
        let graph = input::graph(&asked.graph)?;
        let target = asked.target.required(&graph)?;
        let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, Some(&target))?;
        let (candidates, elsewhere) = candidates(&graph, asked)?;
        if candidates.is_empty() {
            return Err(Failure::Refused(
                "plans are for protocols that find a mean: trainings, histograms, local and central are compared by `ndp compare`".into(),
            ));
        }
        Ok(Self { asked, graph, target, chosen, candidates, elsewhere })
    }

    fn answer(&self, quiet: bool) -> Result<Plans<'_>, Failure> {
        let candidates = &self.candidates;
        let progress = Progress::new(candidates.len() as u64, "candidates", quiet);
        let (mut best, mut done): (Option<Found>, usize) = (None, 0);
        let mut noiseless = BTreeMap::<&str, usize>::new();
        let found = sharing(patience::told(self.asked.effort.patience), candidates.len(), |at, limit| {
            let (found, cut) = match self.one(&self.graph, &candidates[at], limit)? {
                Tried::Found(found, cut) => (Some(*found), cut),
                Tried::Nothing { cut } => (None, cut),
                Tried::NoNoiseNeeded => {
                    *noiseless.entry(candidates[at].name).or_default() += 1;
                    (None, false)
                }
            };
            let better = |found: &&Found| best.as_ref().is_none_or(|best| Found::better(found, best).is_lt());
            if let Some(found) = found.as_ref().filter(better) {
                let noise = up(question::in_unit(found.noise, self.asked.unit.sensitivity));
                progress.know(format!("so far {} with noise {noise}", found.candidate.name));
                best = Some(found.clone());
            }
            // A question that is asked again was counted.
            if at == done {
                done += 1;
                progress.one();
            }
            Ok::<_, Failure>((found, cut))
        })?;
        drop(progress);
        let mut found: Vec<Found> = found.into_iter().flatten().collect();
        found.sort_by(Found::better);
        // A protocol may show something in other rounds or with other weights.
        let noiseless = noiseless.into_iter().map(|(name, count)| {
            let all = candidates.iter().filter(|candidate| candidate.name == name).count();
            if count == all { name.to_owned() } else { format!("{name} ({count} of {all} combinations)") }
        });
        let noiseless: Vec<String> = noiseless.collect();
        if found.is_empty() {
            if !noiseless.is_empty() {
                return Err(Failure::Refused(words::no_noise_needed(&noiseless)));
            }
            let more = if self.elsewhere.is_empty() {
                ""
            } else {
                "; --any-topology tries those that bring their own connections"
            };
            return Err(Failure::Refused(format!(
                "no protocol meets the target on this graph: see `ndp compare` for the reasons{more}"
            )));
        }
        let best = found.remove(0);
        let mut plans = Plans { study: self, best, others: found, noiseless, edges: None };
        if self.asked.rewire > 0 {
            plans.edges = Some(rewire::edges(&plans, quiet)?);
        }
        Ok(plans)
    }

    /// What a candidate needs and gives on a graph.
    fn one(&self, graph: &Graph, candidate: &Candidate, limit: Limit) -> Result<Tried, Failure> {
        let start = Instant::now();
        let matrix = input::matrix(graph, candidate.weights)?;
        let entry = registry::find(candidate.name)?;
        let built = patience::built(entry, &matrix, &candidate.parameters, limit);
        let Ok(built) = built else { return Ok(Tried::Nothing { cut: false }) };
        let built = built.for_every_pair().on_values_of(self.asked.unit.sensitivity);
        let row = super::row(candidate.name, Ok(&built), &self.chosen.audience, &self.target);
        let cut = built.is_cut_by_work();
        if matches!(row.least, Err(Error::NoNoiseNeeded)) {
            return Ok(Tried::NoNoiseNeeded);
        }
        let (Ok(least), Some(statement)) = (&row.least, row.statement.clone()) else {
            return Ok(Tried::Nothing { cut });
        };
        let found = Found {
            candidate: candidate.clone(),
            noise: least.noise,
            error: row.error.as_ref().ok().copied(),
            messages: row.messages.as_ref().ok().copied(),
            grade: row.grade,
            failure: row.failure,
            coverage: row.coverage.unwrap_or(Coverage::Named { observers: 0 }),
            statement,
            notes: patience::notes(&built),
            seconds: start.elapsed().as_secs_f64(),
            work: built.work(),
        };
        Ok(Tried::Found(Box::new(found), cut))
    }
}

impl Plans<'_> {
    /// The best first.
    fn all(&self) -> impl Iterator<Item = &Found> + Clone {
        std::iter::once(&self.best).chain(&self.others)
    }

    /// Whether the best plan is shown to keep the target.
    fn verdict(&self) -> Result<(), Failure> {
        if self.best.coverage.is_whole() {
            return Ok(());
        }
        Err(Failure::NotMet(format!(
            "no plan is shown to keep the target: {}{}",
            words::coverage(&self.best.coverage),
            words::LOOK_AT_ALL
        )))
    }
}

/// The candidates, and the names of protocols that need connections which the graph does not have.
fn candidates(graph: &Graph, asked: &Plan) -> Result<(Vec<Candidate>, Vec<&'static str>), Failure> {
    let only = &asked.protocols;
    for name in only {
        if let Some((alone, _)) = name.split_once(':') {
            return Err(Failure::Usage(format!(
                "plan chooses the parameters: --protocol {alone}; ndp compare takes --protocol {name}"
            )));
        }
        registry::find(name)?;
    }
    let base = stopping_rounds(&input::matrix(graph, Weights::Metropolis)?)? as f64;
    let (mut candidates, mut elsewhere) = (Vec::new(), Vec::new());
    for entry in PROTOCOLS.iter() {
        if !only.is_empty() && !only.iter().any(|name| name == entry.name) {
            continue;
        }
        // Only protocols that compute a mean are compared with each other. A baseline needs a trusted party
        // or gives no mean.
        if entry.kind != Kind::Mean {
            continue;
        }
        // A protocol that the user names is tried even if it does not run on the edges of the graph.
        if only.is_empty() && !asked.any_topology && !entry.is_on_the_graph() {
            elsewhere.push(entry.name);
            continue;
        }
        if entry.parameters.iter().all(|parameter| parameter.name != "rounds") {
            let (weights, parameters) = (Weights::Metropolis, Parameters::default());
            candidates.push(Candidate { name: entry.name, weights, parameters });
            continue;
        }
        let all: &[Weights] = if entry.uses_weights() { &WEIGHTS } else { &WEIGHTS[..1] };
        for &weights in all {
            for factor in FACTORS {
                let rounds = (base * factor).ceil().max(1.0);
                let parameters = Parameters::from([("rounds", rounds)]);
                // Where few rounds are enough, half of them may be as many.
                let candidate = Candidate { name: entry.name, weights, parameters };
                if candidates.last() != Some(&candidate) {
                    candidates.push(candidate);
                }
            }
        }
    }
    // Candidates with few rounds are fast. They come first, so that even a short `--patience` gives some
    // answer.
    let rounds = |candidate: &Candidate| candidate.parameters.0.get("rounds").copied().unwrap_or(0.0);
    candidates.sort_by(|a, b| rounds(a).total_cmp(&rounds(b)));
    Ok((candidates, elsewhere))
}
