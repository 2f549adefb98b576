//! What several runs cost together.

use super::accounts;
use crate::args::Ledger as Asked;
use crate::errors::Failure;
use crate::output::{finite, up};
use crate::patience;
use crate::progress::Progress;
use crate::question::Chosen;
use crate::show::{Answer, Exposed, Part, Sheet, data_of_pairs, sheet_of_pairs, show};
use crate::{input, plain, question};
use ndp_account::{Allowed, NodeNames, Observer, PairLedgers, Said, Statement, Target, named};
use ndp_dp::{Adaptivity, Delta, Grade, Ledger, Measure, NoiseMultiplier, Odometer, Stated, Verdict};
use ndp_report::words;
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// What the runs cost together.
struct Spent<'a> {
    asked: &'a Asked,
    measure: Measure,
    target: Option<Target>,
    chosen: Chosen,
    runs: Vec<Run<'a>>,
    statement: Option<Statement>,
    failure: f64,
    exceeded: bool,
    /// Exposed node, observer, hops between them, loss; and its grade.
    rows: Vec<(Exposed, Grade)>,
    /// The largest mean towards an observer if the limit is on it, otherwise the least that a pair has left.
    margin: f64,
}

#[derive(serde::Serialize)]
struct Run<'a> {
    run: &'a str,
    parameters: String,
    fits: &'static str,
    statement: Statement,
    release: Option<Stated>,
}

pub(crate) fn run(asked: &Asked, quiet: bool) -> Result<(), Failure> {
    let found = answer(asked, quiet)?;
    if found.is_void() {
        found.summary().print()?;
    } else {
        show(&found, &asked.files, asked.knowledge.seed)?;
    }
    found.verdict()
}

fn answer(asked: &Asked, quiet: bool) -> Result<Spent<'_>, Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.gossip.weights)?;
    let (measure, target) = (asked.target.measure()?, asked.target.target(&graph)?);
    let chosen = question::observers_of(&graph, &asked.observers, &asked.knowledge, target.as_ref())?;
    let names = match graph.labels() {
        Some(labels) => NodeNames::new(labels.iter().map(String::as_str))?,
        None => NodeNames::numbered(graph.node_count()),
    };
    let mean = matches!(target.as_ref().map(|target| &target.allowed), Some(Allowed::Mean(_)));
    if mean && asked.adaptive {
        return Err(Failure::Usage(
            "a limit on the mean is no filter: runs chosen by what was seen need limits for pairs".into(),
        ));
    }
    let mut ledgers = empty(asked, names.clone(), target.as_ref())?;
    let adaptivity = if asked.adaptive { Adaptivity::OnSeen } else { Adaptivity::Fixed };
    let (mut runs, mut together) = (Vec::new(), None);
    let coverage = chosen.audience.coverage_of_looked_at();
    for run in &asked.runs {
        let (name, noise) = parsed(run)?;
        let (protocol, parameters) =
            question::protocol(name, &matrix, patience::told(asked.effort.patience))?;
        let protocol = protocol.for_every_pair();
        let accounts = accounts(&protocol, &chosen.observers, quiet)?.into_iter();
        let accounts =
            accounts.map(|account| named(account, names.clone())).collect::<Result<Vec<_>, _>>()?;
        let fits = match &target {
            None => "recorded",
            Some(_) if ledgers.fits(&accounts, noise, adaptivity)? => "fits",
            Some(_) => "does not fit",
        };
        // Once to see whether the limit comes on the way.
        protocol.steady(|| ledgers.clone().record(run, &accounts, noise, adaptivity))?;
        ledgers.record(run, &accounts, noise, adaptivity)?;
        let statement = Statement::of(&Said::by_all(&accounts), &coverage)?;
        together = Some(together.map_or(Ok(statement.clone()), |before: Statement| before.and(&statement))?);
        let release = accounts.first().and_then(|account| account.terms().of_one_release(noise));
        runs.push(Run { run, parameters: parameters.to_string(), fits, statement, release });
    }
    let exceeded = target.is_some() && ledgers.verdict()? != Verdict::Met;
    let by_seen = asked.adaptive || asked.odometer.is_some();
    let statement = together.map(|all| if by_seen { all.chosen_by_seen() } else { all });
    let failure = ledgers.failure();
    let (rows, margin) = (Vec::new(), f64::INFINITY);
    let mut found =
        Spent { asked, measure, target, chosen, runs, statement, failure, exceeded, rows, margin };
    if found.is_void() {
        return Ok(found);
    }
    let pairs: Vec<_> = ledgers.pairs().collect();
    let of_observer = |observer: &Observer| (observer.members().to_vec(), question::hops(&graph, observer));
    let distances: BTreeMap<Vec<usize>, _> = found.chosen.observers.iter().map(of_observer).collect();
    let progress = Progress::new(pairs.len() as u64, "pairs", quiet);
    let row = |&(u, observer, ledger): &(usize, &Observer, &Ledger)| {
        let spent = ledger.spent()?.loss(measure)?;
        let hops = distances.get(observer.members()).and_then(|hops| hops.as_ref()?[u]);
        progress.one();
        Ok(((input::label(&graph, u), plain::name(&graph, observer), hops, *spent.value()), spent.grade()))
    };
    found.rows = pairs.par_iter().map(row).collect::<Result<_, Failure>>()?;
    if mean {
        let means = found.chosen.observers.iter().map(|observer| ledgers.mean(observer, measure));
        let means = means.map(|mean| Ok(mean?.into_value())).collect::<Result<Vec<f64>, Failure>>()?;
        found.margin = means.into_iter().fold(0.0, f64::max);
    } else if found.target.is_some() {
        // A pair without a limit has nothing that could run out.
        let left =
            pairs.par_iter().map(|(_, _, ledger)| Ok::<_, ndp_dp::Error>(ledger.remaining()?.into_value()));
        found.margin = left.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(f64::INFINITY, f64::min);
    }
    Ok(found)
}

/// Ledgers without runs, with the limits or the odometer that were asked for.
fn empty(asked: &Asked, names: NodeNames, target: Option<&Target>) -> Result<PairLedgers, Failure> {
    Ok(match (target, asked.odometer) {
        (Some(target), _) => PairLedgers::with_limits(names, target.clone())?,
        (None, Some(rho)) => {
            PairLedgers::with_odometer(names, Odometer::new(rho, Delta::new(asked.target.delta)?)?)
        }
        (None, None) => PairLedgers::new(names),
    })
}

/// The protocol and the noise of a run.
fn parsed(run: &str) -> Result<(&str, NoiseMultiplier), Failure> {
    let parsed = run.rsplit_once('@').and_then(|(name, noise)| Some((name, noise.parse::<f64>().ok()?)));
    let (name, noise) = parsed.ok_or_else(|| {
        Failure::Usage(format!(
            "a run is a protocol, `@` and a noise, such as muffliato:rounds=8@2; got {run:?}"
        ))
    })?;
    Ok((name, question::noise(noise, 1.0)?))
}

/// What is shown of runs that were chosen by what was seen.
const LIMIT: &str = "runs were chosen by what was seen: what is guaranteed is the limit, whatever they cost";

impl Answer for Spent<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let exact = self.rows.iter().all(|(_, grade)| *grade == Grade::Exact);
        let grade = if exact { Grade::Exact } else { Grade::UpperBound };
        let shown: Vec<Exposed> = self.rows.iter().map(|(shown, _)| shown.clone()).collect();
        let last = self.target.as_ref().map(|target| match target.allowed {
            Allowed::Mean(_) => {
                let most = up(self.margin);
                format!("mean over all nodes, members of the observer counted as 0, towards an observer who was looked at: at most {most}")
            }
            _ => words::left(self.margin, self.measure),
        });
        let (what, column) = if self.is_by_limit() { ("holds", "at most") } else { ("is spent", "spent") };
        let grade = Part::Line(format!("  grade of what {what}: {grade}"));
        let mut parts = vec![self.summary(), grade, Part::empty(), Part::worst(&shown, column, 10)];
        parts.extend(self.is_by_limit().then(|| Part::Line(LIMIT.into())));
        parts.extend(last.map(Part::Line));
        parts
    }

    fn sheet(&self) -> Sheet {
        sheet_of_pairs(self.key(), self.rows.iter().cloned(), self.statement.as_ref())
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let pairs = data_of_pairs(self.key(), self.rows.iter().cloned());
        Ok(json!({ "measure": self.measure.to_string(), "runs": self.asked.runs, "entries": self.runs,
            "limit": self.target.as_ref().map(words::target), "odometer": self.asked.odometer,
            "statement": self.statement, "observers": self.chosen.description, "failure": self.failure,
            "exceeded": self.target.as_ref().map(|_| self.exceeded),
            "mean_at_most": self.of_mean(true), "left": self.of_mean(false), "pairs": pairs }))
    }
}

impl<'a> Spent<'a> {
    /// Whether the numbers are the limit, and not what runs have cost.
    fn is_by_limit(&self) -> bool {
        self.asked.adaptive && self.target.is_some()
    }

    /// The name of the numbers in files.
    fn key(&self) -> &'static str {
        if self.is_by_limit() { "at_most" } else { "spent" }
    }

    /// Whether nothing is guaranteed. If later runs were chosen after seeing earlier ones, the sum of their
    /// costs is no guarantee. The guarantee is the limit, and it holds only if the runs stay within it.
    fn is_void(&self) -> bool {
        self.asked.adaptive && self.exceeded
    }

    /// The largest mean if the limit is one on the mean (`mean`), or what the pair with least has left
    /// otherwise.
    fn of_mean(&self, mean: bool) -> Option<serde_json::Value> {
        let target = self.target.as_ref()?;
        (matches!(target.allowed, Allowed::Mean(_)) == mean).then(|| finite(self.margin))
    }

    fn summary(&self) -> Part<'a> {
        let Self { asked, measure, chosen, .. } = self;
        let of_run = |run: &Run<'a>| {
            let release = words::one_release(run.release.as_ref());
            let mut rows = vec![(run.run, run.fits.to_owned())];
            if !run.parameters.is_empty() {
                rows.push(("  parameters", run.parameters.clone()));
            }
            rows.extend([
                ("  after the @", plain::noise_after_at(&run.statement)),
                ("  one release", release),
            ]);
            rows
        };
        let mut told: Vec<_> = self.runs.iter().flat_map(of_run).collect();
        told.extend(self.target.as_ref().map(|target| ("limit", words::target(target))));
        if let Some(rho) = asked.odometer {
            told.push((
                "holds",
                format!("whenever one stops (odometer, for a sum of squared mu near {rho})"),
            ));
        }
        if let Some(statement) = &self.statement {
            told.push(("what may change", plain::changes(statement)));
            told.extend(plain::granted(statement));
        }
        told.push(("the account fails", question::probability(self.failure)));
        let (observers, weights) = (&chosen.description, asked.gossip.weights);
        Part::Summary(format!("Runs, observed by {observers}, as {measure}; weights {weights}"), told)
    }

    /// Fails if the limit is exceeded, or not shown to be kept.
    fn verdict(&self) -> Result<(), Failure> {
        if self.exceeded {
            return Err(Failure::NotMet("the limit is exceeded".into()));
        }
        // A list of limits is about the listed observers only, so the others need no answer.
        let listed = |target: &Target| matches!(target.allowed, Allowed::Listed(_));
        if self.chosen.audience.others().is_empty() || self.target.as_ref().is_none_or(listed) {
            return Ok(());
        }
        Err(Failure::NotMet(format!(
            "the limit is not shown to be kept: {}",
            words::shown_for(&self.chosen.audience.coverage_of_looked_at())
        )))
    }
}
