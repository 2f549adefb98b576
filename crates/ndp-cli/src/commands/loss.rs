//! What observers learn at a given noise.

use super::{accounts, summary, worst};
use crate::args::Loss;
use crate::errors::Failure;
use crate::output::{LARGEST_DRAWING, csv, drawing, json, line, losses, number, pictures, table};
use crate::{input, question};
use ndarray::Array2;
use ndp_algos::accountant::{Account, check};
use ndp_dp::{Grade, Measure, NoiseMultiplier, Verdict};
use ndp_graph::Graph;
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// What one pair loses.
pub(super) struct Entry {
    pub(super) u: usize,
    /// Index of the observer.
    pub(super) observer: usize,
    pub(super) loss: f64,
    pub(super) grade: Grade,
    pub(super) hops: Option<u32>,
}

/// All losses at a noise, observer by observer.
pub(super) fn all(
    graph: &Graph,
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<Vec<Entry>, Failure> {
    let n = graph.node_count();
    let of_observer = |observer: usize| -> Result<Vec<Entry>, Failure> {
        let account = &accounts[observer];
        let members = account.observer().members();
        let hops = members.first().map(|&v| graph.distances(v));
        let one = |u: usize| -> Result<Entry, Failure> {
            let loss = account.profile(u, noise)?.loss(measure)?;
            let hops = hops.as_ref().and_then(|hops| hops[u]);
            Ok(Entry { u, observer, loss: *loss.value(), grade: loss.grade(), hops })
        };
        let outside: Vec<usize> = (0..n).filter(|&u| !account.observer().contains(u)).collect();
        if account.alike() {
            let Some(&first) = outside.first() else { return Ok(Vec::new()) };
            let same = one(first)?;
            let copy = |&u: &usize| Entry { u, hops: hops.as_ref().and_then(|hops| hops[u]), ..same };
            return Ok(outside.iter().map(copy).collect());
        }
        outside.par_iter().map(|&u| one(u)).collect()
    };
    let all = (0..accounts.len()).into_par_iter().map(of_observer).collect::<Result<Vec<_>, Failure>>()?;
    Ok(all.into_iter().flatten().collect())
}

pub(crate) fn run(asked: &Loss, quiet: bool) -> Result<(), Failure> {
    let graph = input::graph(&asked.graph)?;
    let matrix = input::matrix(&graph, asked.protocol.weights);
    let (protocol, name) = question::chosen(&asked.protocol, &matrix)?;
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let noise = question::noise(asked.noise, asked.outputs.sensitivity)?;
    let measure = asked.target.measure()?;
    let target = asked.target.target(&graph)?;
    let accounts = accounts(protocol.as_ref(), &chosen.observers, quiet)?;
    let entries = all(&graph, &accounts, noise, measure)?;
    let names: Vec<String> = (0..graph.node_count()).map(|v| input::label(&graph, v)).collect();
    let of_observer: Vec<String> = chosen
        .observers
        .iter()
        .map(|observer| match observer.members() {
            [v] => names[*v].clone(),
            [] => "outsider".into(),
            members => members.iter().map(|&v| names[v].as_str()).collect::<Vec<_>>().join("+"),
        })
        .collect();
    let exact = entries.iter().all(|entry| entry.grade == Grade::Exact);
    let grade = if exact { Grade::Exact } else { Grade::UpperBound };
    let failure: f64 = accounts.iter().map(|account| account.failure()).sum();
    let mut sorted: Vec<f64> = entries.iter().map(|entry| entry.loss).collect();
    sorted.sort_by(f64::total_cmp);
    let quantile =
        |q: f64| sorted.get(((sorted.len().max(1) - 1) as f64 * q) as usize).copied().unwrap_or(0.0);
    summary(
        &format!("What is learnt, as {measure}"),
        &[
            ("protocol", name.clone()),
            ("observed by", chosen.description.clone()),
            ("noise", format!("{} ({} times the sensitivity)", number(asked.noise), number(noise.get()))),
            ("grade", grade.to_string()),
            ("the account fails", question::probability(failure)),
            ("pairs", entries.len().to_string()),
            ("median, 90 %, largest", [0.5, 0.9, 1.0].map(|q| number(quantile(q))).join(", ")),
        ],
    )?;
    let rows: Vec<(String, String, Option<u32>, f64)> = entries
        .iter()
        .map(|entry| (names[entry.u].clone(), of_observer[entry.observer].clone(), entry.hops, entry.loss))
        .collect();
    line("")?;
    worst(&rows, "loss", 8)?;
    by_distance(&entries)?;
    let header = ["source", "observer", "hops", "grade", "loss"];
    if let Some(path) = &asked.outputs.csv {
        let cells: Vec<Vec<String>> = entries
            .iter()
            .zip(&rows)
            .map(|(entry, (u, v, hops, loss))| {
                let hops = hops.map_or_else(String::new, |hops| hops.to_string());
                vec![u.clone(), v.clone(), hops, entry.grade.to_string(), loss.to_string()]
            })
            .collect();
        csv(path, &header, &cells)?;
    }
    if let Some(path) = &asked.outputs.json {
        let pairs: Vec<_> = entries
            .iter()
            .zip(&rows)
            .map(|(entry, (u, v, hops, loss))| {
                json!({ "source": u, "observer": v, "hops": hops, "loss": { "grade": entry.grade, "value": finite(*loss) } })
            })
            .collect();
        let body = json!({ "protocol": name, "measure": measure.to_string(), "noise": noise.get(),
            "failure": failure, "observers": chosen.description, "pairs": pairs });
        json(path, asked.knowledge.seed, body)?;
    }
    let mut values = Array2::from_elem((graph.node_count(), of_observer.len()), f64::NAN);
    for entry in &entries {
        values[(entry.u, entry.observer)] = entry.loss;
    }
    let what = measure.to_string();
    let title = &name;
    let figure = match &chosen.observers[..] {
        [observer] if graph.node_count() <= LARGEST_DRAWING => {
            let title = format!("{title}: what {} learns", of_observer[0]);
            drawing(&title, &what, grade, &graph, observer, values.column(0).to_vec())
        }
        _ => losses(&format!("{title}: what nodes learn"), &what, grade, &names, values),
    };
    pictures(&asked.outputs, &figure)?;
    if let Some(target) = target {
        let found = check(&accounts, noise, &target)?;
        let verdict = match found.verdict {
            Verdict::Met => return line("target: met"),
            Verdict::NotShown => "not shown",
            Verdict::Violated => "violated",
        };
        return Err(Failure::NotMet(format!(
            "target: {verdict}, {} pairs exceed it: `ndp calibrate` with the same options finds the least noise",
            found.exceeding
        )));
    }
    Ok(())
}

/// JSON has no infinity.
fn finite(x: f64) -> serde_json::Value {
    if x.is_finite() { json!(x) } else { json!("inf") }
}

fn by_distance(entries: &[Entry]) -> Result<(), Failure> {
    let mut classes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for entry in entries {
        if let Some(hops) = entry.hops {
            classes.entry(hops).or_default().push(entry.loss);
        }
    }
    if classes.is_empty() {
        return Ok(());
    }
    line("")?;
    let rows: Vec<Vec<String>> = classes
        .into_iter()
        .map(|(hops, mut losses)| {
            losses.sort_by(f64::total_cmp);
            let middle = losses[losses.len() / 2];
            let largest = losses[losses.len() - 1];
            vec![hops.to_string(), losses.len().to_string(), number(middle), number(largest)]
        })
        .collect();
    table(&["hops", "pairs", "median", "largest"], &rows)
}
