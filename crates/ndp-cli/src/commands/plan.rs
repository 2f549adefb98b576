//! Protocol, weights and rounds for a target.

mod rewire;
mod show;

use crate::args::Plan;
use crate::errors::Failure;
use crate::output::up;
use crate::patience::{self, Limit, sharing};
use crate::progress::Progress;
use crate::question::{self, Chosen};
use crate::{input, plain, show as showing};
use ndp_account::{Coverage, Error, Statement, Target};
use ndp_algos::registry::{self, Combination, Combinations};
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::{GossipMatrix, Graph, progress::Stop};
use ndp_report::words::{self, Planned};
use std::collections::BTreeMap;
use std::time::Instant;

/// What a combination of protocol, weights and rounds needs and gives.
#[derive(Clone)]
struct Found {
    combination: Combination,
    noise: NoiseMultiplier,
    /// What is said of it; its error is in the unit of the values.
    planned: Planned,
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

/// What is asked, of which network, at which target.
struct Study<'a> {
    asked: &'a Plan,
    graph: Graph,
    target: Target,
    chosen: Chosen,
    combinations: Combinations,
}

/// What became of a combination, and whether counted work cut the answer short.
enum Tried {
    Found(Box<Found>, bool),
    Nothing { cut: bool },
    NoNoiseNeeded(Option<Box<Statement>>),
}

/// What was found.
struct Plans<'a> {
    study: &'a Study<'a>,
    best: Found,
    /// The others, smallest error first.
    others: Vec<Found>,
    /// Protocols that need no noise towards those who are looked at, in all combinations or
    /// some.
    noiseless: Vec<String>,
    /// Their statements, which say what this assumes.
    without_noise: Vec<(&'a str, Statement)>,
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
        for name in &asked.protocols {
            if let Some((alone, _)) = name.split_once(':') {
                return Err(Failure::Usage(format!(
                    "plan chooses the parameters: --protocol {alone}; ndp compare takes --protocol {name}"
                )));
            }
        }
        let combinations = Combinations::of(&graph, &asked.protocols, asked.any_topology, &Stop::never())?;
        Ok(Self { asked, graph, target, chosen, combinations })
    }

    fn answer(&self, quiet: bool) -> Result<Plans<'_>, Failure> {
        let tried = &self.combinations.tried;
        let progress = Progress::new(tried.len() as u64, "combinations", quiet);
        let (mut best, mut done): (Option<Found>, usize) = (None, 0);
        let mut noiseless = BTreeMap::<&str, (usize, Option<Box<Statement>>)>::new();
        let found = sharing(patience::told(self.asked.effort.patience), tried.len(), |at, limit| {
            let (found, cut) = match self.one(&self.graph, &tried[at], limit)? {
                Tried::Found(found, cut) => (Some(*found), cut),
                Tried::Nothing { cut } => (None, cut),
                Tried::NoNoiseNeeded(statement) => {
                    let known = noiseless.entry(tried[at].protocol).or_default();
                    *known = (known.0 + 1, statement);
                    (None, false)
                }
            };
            let better =
                |found: &&Found| best.as_ref().is_none_or(|best| found.planned.order(&best.planned).is_lt());
            if let Some(found) = found.as_ref().filter(better) {
                let noise = up(question::in_unit(found.noise, self.asked.unit.sensitivity));
                progress.know(format!("so far {} with noise {noise}", found.combination.protocol));
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
        found.sort_by(|a, b| a.planned.order(&b.planned));
        // A protocol may show something in other rounds or with other weights.
        let said = noiseless
            .iter()
            .filter_map(|(&name, (_, statement))| Some((name, statement.as_deref()?.clone())));
        let without_noise: Vec<(&str, Statement)> = said.collect();
        let noiseless = noiseless.into_iter().map(|(name, (count, _))| {
            let all = tried.iter().filter(|one| one.protocol == name).count();
            if count == all { name.to_owned() } else { format!("{name} ({count} of {all} combinations)") }
        });
        let noiseless: Vec<String> = noiseless.collect();
        if found.is_empty() {
            if !noiseless.is_empty() {
                let assumed =
                    plain::assumed_by(without_noise.iter().map(|(name, statement)| (*name, statement)));
                let said = [words::no_noise_needed(&noiseless)].into_iter().chain(assumed);
                return Err(Failure::Refused(said.collect::<Vec<_>>().join("; ")));
            }
            let more = if self.combinations.elsewhere.is_empty() {
                ""
            } else {
                "; --any-topology tries those that bring their own connections"
            };
            return Err(Failure::Refused(format!(
                "no plan was found: no protocol answers this question and meets the target on this graph; `ndp compare`, with the same \
                 options, has a reason for each{more}"
            )));
        }
        let best = found.remove(0);
        let mut plans = Plans { study: self, best, others: found, noiseless, without_noise, edges: None };
        if self.asked.rewire > 0 {
            plans.edges = Some(rewire::edges(&plans, quiet)?);
        }
        Ok(plans)
    }

    /// What a combination needs and gives on a graph.
    fn one(&self, graph: &Graph, combination: &Combination, limit: Limit) -> Result<Tried, Failure> {
        let start = Instant::now();
        let matrix = GossipMatrix::new(graph, combination.weights)?;
        let entry = registry::find(combination.protocol)?;
        let built = patience::built(entry, &matrix, &combination.parameters, limit);
        let Ok((built, parameters)) = built else { return Ok(Tried::Nothing { cut: false }) };
        let unit = self.asked.unit.sensitivity;
        let built = built.for_every_pair().on_values_of(unit);
        let row = super::row(combination.protocol, Ok(&built), &self.chosen.audience, &self.target);
        let cut = built.is_cut_by_work();
        if matches!(row.least, Err(Error::NoNoiseNeeded)) {
            return Ok(Tried::NoNoiseNeeded(row.statement.map(Box::new)));
        }
        let (Ok(least), Some(statement)) = (&row.least, row.statement.clone()) else {
            return Ok(Tried::Nothing { cut });
        };
        let coverage = row.coverage.unwrap_or(Coverage::Named { observers: 0 });
        let written = parameters.to_string();
        let found = Found {
            combination: Combination { parameters, ..combination.clone() },
            noise: least.noise,
            planned: Planned {
                protocol: combination.protocol.into(),
                parameters: written,
                error: row.error.as_ref().ok().map(|error| error * unit),
                messages: row.messages.as_ref().ok().copied(),
                is_whole: coverage.is_whole(),
                is_on_the_graph: entry.is_on_the_graph(),
            },
            grade: row.grade,
            failure: row.failure,
            coverage,
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
            "no plan is shown to keep the target: {}",
            words::shown_for(&self.best.coverage)
        )))
    }
}
