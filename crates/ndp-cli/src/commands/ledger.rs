//! What several runs cost together.

use super::{accounts, summary, worst};
use crate::args::Ledger as Asked;
use crate::errors::Failure;
use crate::output::{csv, down, json, line};
use crate::progress::Progress;
use crate::{input, question};
use ndp_account::{NodeNames, Observer, PairLedgers, named};
use ndp_dp::{Adaptivity, Grade, Ledger, Verdict};
use rayon::prelude::*;
use std::collections::BTreeMap;

pub(crate) fn run(asked: &Asked, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.weights)?;
    if asked.target.pairs.is_some() || asked.target.mean {
        return Err(Failure::Usage(
            "a ledger keeps one limit for every pair: it takes neither --pairs nor --mean".into(),
        ));
    }
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let measure = asked.target.measure()?;
    let limit = asked.target.epsilon.or(asked.target.renyi).or(asked.target.mu);
    let names = match graph.labels() {
        Some(labels) => NodeNames::new(labels.iter().map(String::as_str))?,
        None => NodeNames::numbered(graph.node_count()),
    };
    let mut ledgers = match limit {
        Some(allowed) => PairLedgers::with_limit(names.clone(), measure, allowed)?,
        None => PairLedgers::new(names.clone()),
    };
    let adaptivity = if asked.adaptive { Adaptivity::OnSeen } else { Adaptivity::Fixed };
    let (mut fits, mut failure) = (Vec::new(), 0.0);
    for run in &asked.runs {
        let parsed = run.rsplit_once('@').and_then(|(name, noise)| Some((name, noise.parse::<f64>().ok()?)));
        let (name, noise) = parsed.ok_or_else(|| {
            Failure::Usage(format!(
                "a run is a protocol, `@` and a noise, such as muffliato:rounds=8@2; got {run:?}"
            ))
        })?;
        let noise = question::noise(noise, 1.0)?;
        let protocol = question::protocol(name, &matrix, Some(asked.effort.patience))?.for_every_pair();
        let accounts = accounts(&protocol, &chosen.observers, quiet)?.into_iter();
        let accounts =
            accounts.map(|account| named(account, names.clone())).collect::<Result<Vec<_>, _>>()?;
        failure += accounts.iter().map(|account| account.failure()).sum::<f64>();
        let within = limit.is_some() && ledgers.fits(&accounts, noise, adaptivity)?;
        ledgers.record(run, &accounts, noise, adaptivity)?;
        fits.push((
            run.as_str(),
            if limit.is_none() {
                "recorded"
            } else if within {
                "fits"
            } else {
                "does not fit"
            }
            .to_owned(),
        ));
    }
    fits.push(("the account fails", question::probability(failure)));
    summary(
        &format!("Runs, observed by {}, as {measure}; weights {}", chosen.description, asked.weights),
        &fits,
    )?;
    // What runs chosen by earlier ones have cost is not their sum: only the limit is, as long as it is kept.
    if asked.adaptive && limit.is_some() && ledgers.verdict()? != Verdict::Met {
        return Err(Failure::NotMet("the limit is exceeded".into()));
    }
    let pairs: Vec<_> = ledgers.pairs().collect();
    let mut distances: BTreeMap<usize, Vec<Option<u32>>> = BTreeMap::new();
    for v in chosen.observers.iter().filter_map(|observer| observer.members().first()) {
        distances.entry(*v).or_insert_with(|| graph.distances(*v));
    }
    let progress = Progress::new(pairs.len() as u64, "pairs", quiet);
    let row = |&(u, observer, ledger): &(usize, &Observer, &Ledger)| -> Result<_, Failure> {
        let members = observer.members();
        let names: Vec<String> = members.iter().map(|&v| input::label(&graph, v)).collect();
        let spent = ledger.spent()?.loss(measure)?;
        let hops = members.first().and_then(|v| distances.get(v)?[u]);
        progress.one();
        Ok(((input::label(&graph, u), names.join("+"), hops, *spent.value()), spent.grade()))
    };
    let graded = pairs.par_iter().map(row).collect::<Result<Vec<_>, Failure>>()?;
    drop(progress);
    let (rows, grades): (Vec<_>, Vec<Grade>) = graded.into_iter().unzip();
    let exact = grades.iter().all(|&grade| grade == Grade::Exact);
    line(&format!("  grade of what is spent: {}", if exact { Grade::Exact } else { Grade::UpperBound }))?;
    if let Some(path) = &asked.files.csv {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .zip(&grades)
            .map(|((u, v, hops, spent), grade)| {
                let hops = hops.map_or_else(String::new, |hops| hops.to_string());
                vec![u.clone(), v.clone(), hops, grade.to_string(), spent.to_string()]
            })
            .collect();
        csv(path, asked.knowledge.seed, &["source", "observer", "hops", "grade", "spent"], &cells)?;
    }
    if let Some(path) = &asked.files.json {
        let pairs: Vec<_> = rows
            .iter()
            .zip(&grades)
            .map(|((u, v, hops, spent), grade)| {
                let spent = serde_json::json!({ "grade": grade, "value": crate::output::finite(*spent) });
                serde_json::json!({ "source": u, "observer": v, "hops": hops, "spent": spent })
            })
            .collect();
        let body = serde_json::json!({ "measure": measure.to_string(), "runs": asked.runs, "limit": limit,
            "failure": failure, "observers": chosen.description, "pairs": pairs });
        json(path, asked.knowledge.seed, body)?;
    }
    line("")?;
    worst(&rows, "spent", 10)?;
    if limit.is_some() {
        let left =
            pairs.par_iter().map(|(_, _, ledger)| Ok::<_, ndp_dp::Error>(ledger.remaining()?.into_value()));
        let left = left.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(f64::INFINITY, f64::min);
        line(&format!("left for every pair that was looked at: at least {}", down(left)))?;
        if ledgers.verdict()? != Verdict::Met {
            return Err(Failure::NotMet("the limit is exceeded".into()));
        }
        if !chosen.audience.others().is_empty() {
            return Err(Failure::NotMet(format!(
                "the limit is not shown to be kept: only {} were looked at; --all looks at everybody",
                chosen.description
            )));
        }
    }
    Ok(())
}
