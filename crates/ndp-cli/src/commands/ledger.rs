//! What several runs cost together.

use super::accounts;
use super::losses::hops;
use crate::args::Ledger as Asked;
use crate::errors::Failure;
use crate::output::{csv, json, line, up};
use crate::patience::Limit;
use crate::progress::Progress;
use crate::show::{Exposed, Part, summary};
use crate::{input, plain, question};
use ndp_account::{Allowed, NodeNames, Observer, PairLedgers, Said, Statement, Target, named};
use ndp_dp::{Adaptivity, Delta, Grade, Ledger, Measure, Odometer, Verdict};
use ndp_report::words;
use rayon::prelude::*;
use std::collections::BTreeMap;

pub(crate) fn run(asked: &Asked, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.weights)?;
    let measure = asked.target.measure()?;
    let target = asked.target.target(&graph)?;
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
    let mut ledgers = match (&target, asked.odometer) {
        (Some(target), _) => PairLedgers::with_limits(names.clone(), target.clone())?,
        (None, Some(rho)) => {
            PairLedgers::with_odometer(names.clone(), Odometer::new(rho, Delta::new(asked.target.delta)?)?)
        }
        (None, None) => PairLedgers::new(names.clone()),
    };
    let adaptivity = if asked.adaptive { Adaptivity::OnSeen } else { Adaptivity::Fixed };
    let (mut told, mut statement, mut entries) = (Vec::new(), None, Vec::new());
    let coverage = chosen.audience.coverage_of_looked_at();
    for run in &asked.runs {
        let parsed = run.rsplit_once('@').and_then(|(name, noise)| Some((name, noise.parse::<f64>().ok()?)));
        let (name, noise) = parsed.ok_or_else(|| {
            Failure::Usage(format!(
                "a run is a protocol, `@` and a noise, such as muffliato:rounds=8@2; got {run:?}"
            ))
        })?;
        let noise = question::noise(noise, 1.0)?;
        let protocol =
            question::protocol(name, &matrix, Limit::told(asked.effort.patience))?.for_every_pair();
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
        let of_run = Statement::of(&Said::by_all(&accounts), &coverage)?;
        statement = Some(statement.map_or(Ok(of_run.clone()), |before: Statement| before.and(&of_run))?);
        let release = accounts.first().and_then(|account| account.terms().of_one_release(noise));
        told.push((run.as_str(), fits.to_owned()));
        told.push(("  one release", words::one_release(release.as_ref())));
        entries
            .push(serde_json::json!({ "run": run, "fits": fits, "statement": of_run, "release": release }));
    }
    if let Some(target) = &target {
        told.push(("limit", words::target(target)));
    }
    if let Some(rho) = asked.odometer {
        told.push(("holds", format!("whenever one stops (odometer, for a sum of squared mu near {rho})")));
    }
    if let Some(statement) = &statement {
        told.push(("what may change", plain::changes(statement)));
        told.extend(statement.assumes.iter().map(|&what| ("assumed", plain::assumed(what).to_owned())));
        told.extend(statement.rests_on.iter().map(|what| ("rests on", words::rests_on(what))));
    }
    told.push(("the account fails", question::probability(ledgers.failure())));
    summary(
        &format!("Runs, observed by {}, as {measure}; weights {}", chosen.description, asked.weights),
        &told,
    )?;
    // If later runs were chosen after seeing earlier ones, the sum of their costs is no guarantee. The
    // guarantee is the limit, and it holds only if the runs stay within it.
    if asked.adaptive && target.is_some() && ledgers.verdict()? != Verdict::Met {
        return Err(Failure::NotMet("the limit is exceeded".into()));
    }
    let pairs: Vec<_> = ledgers.pairs().collect();
    let of_observer = |observer: &Observer| (observer.members().to_vec(), hops(&graph, observer));
    let distances: BTreeMap<Vec<usize>, _> = chosen.observers.iter().map(of_observer).collect();
    let progress = Progress::new(pairs.len() as u64, "pairs", quiet);
    let row = |&(u, observer, ledger): &(usize, &Observer, &Ledger)| -> Result<Row, Failure> {
        let members = observer.members();
        let names: Vec<String> = members.iter().map(|&v| input::label(&graph, v)).collect();
        let spent = ledger.spent()?.loss(measure)?;
        let hops = distances.get(members).and_then(|hops| hops.as_ref()?[u]);
        progress.one();
        Ok(Row {
            shown: (input::label(&graph, u), names.join("+"), hops, *spent.value()),
            grade: spent.grade(),
        })
    };
    let rows = pairs.par_iter().map(row).collect::<Result<Vec<_>, Failure>>()?;
    drop(progress);
    let exact = rows.iter().all(|row| row.grade == Grade::Exact);
    line(&format!("  grade of what is spent: {}", if exact { Grade::Exact } else { Grade::UpperBound }))?;
    let said = (statement.as_ref(), entries.as_slice());
    write(asked, (&rows, measure), target.as_ref(), said, &chosen.description)?;
    line("")?;
    let shown: Vec<_> = rows.iter().map(|row| row.shown.clone()).collect();
    Part::worst(&shown, "spent", 10).print()?;
    let Some(target) = target else { return Ok(()) };
    if mean {
        let means = chosen.observers.iter().map(|observer| Ok(ledgers.mean(observer, measure)?.into_value()));
        let most = means.collect::<Result<Vec<f64>, Failure>>()?.into_iter().fold(0.0, f64::max);
        line(&format!("mean over all nodes towards an observer who was looked at: at most {}", up(most)))?;
    } else {
        // A pair without a limit has nothing that could run out.
        let left =
            pairs.par_iter().map(|(_, _, ledger)| Ok::<_, ndp_dp::Error>(ledger.remaining()?.into_value()));
        let left = left.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(f64::INFINITY, f64::min);
        line(&words::left(left))?;
    }
    if ledgers.verdict()? != Verdict::Met {
        return Err(Failure::NotMet("the limit is exceeded".into()));
    }
    // A list of limits is about the listed observers only, so the others need no answer.
    if chosen.audience.others().is_empty() || matches!(target.allowed, Allowed::Listed(_)) {
        return Ok(());
    }
    Err(Failure::NotMet(format!(
        "the limit is not shown to be kept: only {} were looked at{}",
        chosen.description,
        words::LOOK_AT_ALL
    )))
}

/// What one pair has spent, as it is shown.
struct Row {
    /// Exposed node, observer, hops between them, loss.
    shown: Exposed,
    grade: Grade,
}

/// Numbers as CSV and JSON.
fn write(
    asked: &Asked,
    (rows, measure): (&[Row], Measure),
    target: Option<&Target>,
    (statement, entries): (Option<&Statement>, &[serde_json::Value]),
    observers: &str,
) -> Result<(), Failure> {
    let seed = asked.knowledge.seed;
    if let Some(path) = &asked.files.csv {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|Row { shown: (u, v, hops, spent), grade }| {
                let hops = hops.map_or_else(String::new, |hops| hops.to_string());
                vec![u.clone(), v.clone(), hops, grade.to_string(), spent.to_string()]
            })
            .collect();
        csv(path, seed, &["source", "observer", "hops", "grade", "spent"], &cells)?;
    }
    if let Some(path) = &asked.files.json {
        let pairs: Vec<_> = rows
            .iter()
            .map(|Row { shown: (u, v, hops, spent), grade }| {
                let spent = serde_json::json!({ "grade": grade, "value": crate::output::finite(*spent) });
                serde_json::json!({ "source": u, "observer": v, "hops": hops, "spent": spent })
            })
            .collect();
        let body = serde_json::json!({ "measure": measure.to_string(), "runs": asked.runs, "entries": entries,
            "limit": target.map(words::target), "odometer": asked.odometer,
            "statement": statement, "observers": observers, "pairs": pairs });
        json(path, seed, body)?;
    }
    Ok(())
}
