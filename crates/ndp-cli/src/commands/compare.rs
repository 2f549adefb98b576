//! All protocols at the same target.

use crate::args::Compare;
use crate::errors::Failure;
use crate::output::{count, csv, heading, json, line, note, page, pictures, table, up};
use crate::patience::{Budget, Patient};
use crate::plain::{self, Subject};
use crate::progress::Progress;
use crate::{input, question};
use ndp_account::Law;
use ndp_account::{Comparison, Coverage, Error, Protocol, Row, compare_towards};
use ndp_algos::registry::{self, PROTOCOLS};
use ndp_dp::Grade;
use ndp_numeric::rounding::any_of;
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use std::collections::BTreeMap;

pub(crate) fn run(asked: &Compare, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.weights)?;
    let target = asked.target.required(&graph)?;
    let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, Some(&target))?;
    let names: Vec<String> = if asked.protocols.is_empty() {
        PROTOCOLS.iter().map(|entry| entry.name.to_owned()).collect()
    } else {
        asked.protocols.clone()
    };
    let progress = Progress::new(names.len() as u64, "protocols", quiet);
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    let mut budget = Budget::new(asked.effort.seconds(names.len(), chosen.by_bound()), names.len());
    for name in &names {
        let (entry, parameters) = name.split_once(':').unwrap_or((name, ""));
        // A name that does not exist is a mistake; a protocol that refuses this graph has a row.
        let built =
            Patient::of_entry(registry::find(entry)?, &matrix, parameters.parse()?, Some(budget.next()))
                .map(Patient::for_every_pair);
        if let Err(error @ Error::NoSuchName { .. }) = built {
            return Err(error.into());
        }
        let one = [(name.as_str(), built.as_ref().map(|built| built as &dyn Protocol).map_err(Error::clone))];
        rows.extend(compare_towards(&one, &chosen.audience, &target).rows);
        notes.extend(built.iter().flat_map(Patient::notes).map(|note| format!("{name}: {note}")));
        progress.one();
    }
    drop(progress);
    notes.iter().for_each(|text| note(text));
    let comparison = Comparison { rows };
    heading(&format!(
        "Target: {}; observed by {}; weights {}",
        words::target(&target),
        chosen.description,
        asked.weights
    ))?;
    line("")?;
    let unit = asked.unit.sensitivity;
    let cell = |x: &Result<f64, Error>, shown: &dyn Fn(f64) -> String| {
        x.as_ref().map_or_else(|_| "-".into(), |&x| shown(x))
    };
    let cells: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .filter_map(|row| {
            let least = row.least.as_ref().ok()?;
            Some(vec![
                row.name.clone(),
                up(question::in_unit(least.noise, unit)),
                cell(&row.error, &|error| up(error * unit)),
                cell(&row.messages, &count),
                row.grade.map_or_else(String::new, |grade| grade.to_string()),
                observers(row),
            ])
        })
        .collect();
    let header = ["protocol", "noise", "error", "messages", "grade", "observers"];
    table(&header, &cells)?;
    let remarks = remarks(&comparison, unit);
    remarks.iter().try_for_each(|remark| line(remark))?;
    for row in &comparison.rows {
        if let Err(reason) = &row.least {
            line(&format!("{}: {reason}", row.name))?;
        }
    }
    if let Some(path) = &asked.files.csv {
        let digits = |x: &Result<f64, Error>, unit: f64| {
            x.as_ref().map_or_else(|_| String::new(), |x| (x * unit).to_string())
        };
        let exact = comparison.rows.iter().filter_map(|row| {
            let noise = question::in_unit(row.least.as_ref().ok()?.noise, unit).to_string();
            let grade = row.grade.map_or_else(String::new, |grade| grade.to_string());
            let statement = row.statement.as_ref()?;
            let law = statement.noise.first().and_then(|noise| law(noise.law)).unwrap_or_default();
            let (error, messages) = (digits(&row.error, unit), digits(&row.messages, 1.0));
            Some(vec![
                row.name.clone(),
                noise,
                error,
                messages,
                grade,
                observers(row),
                law,
                words::by(statement),
            ])
        });
        let header = ["protocol", "noise", "error", "messages", "grade", "observers", "law", "by"];
        csv(path, asked.knowledge.seed, &header, &exact.collect::<Vec<_>>())?;
    }
    if let Some(path) = &asked.files.json {
        let body = serde_json::to_value(&comparison).map_err(|error| Failure::Refused(error.to_string()))?;
        json(path, asked.knowledge.seed, body)?;
    }
    if asked.pictures.any() {
        let svg = pictures(&asked.pictures, asked.knowledge.seed, &figure(&comparison, unit))?;
        if let Some(path) = &asked.pictures.report {
            let subject = Subject {
                network: plain::network(&asked.graph.file, &graph),
                observers: &chosen.description,
                senders: plain::knows(&asked.knowledge).0,
                own_noise: plain::knows(&asked.knowledge).1,
                sensitivity: unit,
                protected: "what one node gives to each protocol, as the list below says",
                seed: asked.knowledge.seed,
            };
            let whole = comparison.rows.iter().filter(|row| is_whole(row)).count();
            let sentence = format!(
                "{whole} of {} protocols can keep the limit: {}.",
                comparison.rows.len(),
                words::target(&target)
            );
            let tone = if whole == 0 { Tone::Bad } else { Tone::Plain };
            let mut report = Page::new("Protocols at the same limit").verdict(tone, &sentence);
            report = plain::opening(report, &subject);
            report = plain::assumptions(report, &[]);
            let grades: Vec<Grade> = comparison.rows.iter().filter_map(|row| row.grade).collect();
            let failure = any_of(comparison.rows.iter().map(|row| row.failure));
            report = plain::sureness(report, &grades, (failure, None), &notes);
            let refused: Vec<String> = comparison
                .rows
                .iter()
                .filter_map(|row| Some(format!("{}: {}", row.name, row.least.as_ref().err()?)))
                .collect();
            let abouts: Vec<String> = names.iter().filter_map(|name| plain::about(name)).collect();
            let answered = comparison.rows.iter().filter(|row| row.least.is_ok());
            let meant: Vec<String> = answered
                .filter_map(|row| Some((row, row.statement.as_ref()?)))
                .map(|(row, statement)| {
                    let (changes, noise) = (plain::changes(statement), plain::noise_is(statement));
                    format!("{}: {changes}; noise is the {noise}. By {}.", row.name, plain::by(statement))
                })
                .collect();
            report = report
                .section("What each needs")
                .text(&plain::measure(target.measure))
                .table("The least noise, and what it costs", &header, &cells)
                .picture(&svg, "The least noise of each protocol; more noise means less use of the result.");
            report = report.list(&remarks).section("What may change, and what noise is").list(&meant);
            if !refused.is_empty() {
                report = report.section("Without an answer").list(&refused);
            }
            report = report.section("The protocols").list(&abouts);
            page(path, &plain::provenance(report, asked.knowledge.seed))?;
        }
    }
    let partly: Vec<&str> = comparison
        .rows
        .iter()
        .filter(|row| row.least.is_ok() && !is_whole(row))
        .map(|row| row.name.as_str())
        .collect();
    if partly.is_empty() {
        return Ok(());
    }
    Err(Failure::NotMet(format!(
        "the target is not shown for {}: only {} were looked at{}",
        partly.join(", "),
        chosen.description,
        words::LOOK_AT_ALL
    )))
}

/// Whether everybody is covered at the noise of a row that has one.
fn is_whole(row: &Row) -> bool {
    row.least.is_ok() && row.coverage.as_ref().is_some_and(Coverage::is_whole)
}

/// Whom a row covers.
fn observers(row: &Row) -> String {
    row.coverage.as_ref().map_or_else(String::new, Coverage::in_short)
}

/// The name of a law of noise.
fn law(law: Law) -> Option<String> {
    Some(serde_json::to_value(law).ok()?.as_str()?.to_owned())
}

/// What noise is, protocol by protocol where it is not the same, and how much less those need who were looked
/// at.
fn remarks(comparison: &Comparison, unit: f64) -> Vec<String> {
    let mut laws: BTreeMap<Law, Vec<&str>> = BTreeMap::new();
    let mut changes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut remarks = Vec::new();
    for row in comparison.rows.iter().filter(|row| row.least.is_ok()) {
        let Some(statement) = &row.statement else { continue };
        statement.noise.iter().for_each(|noise| laws.entry(noise.law).or_default().push(&row.name));
        changes.entry(plain::changes(statement)).or_default().push(&row.name);
        if let Some(less) = row.looked_at {
            let less = up(question::in_unit(less, unit));
            remarks.push(format!(
                "{}: noise for those looked at alone: {}",
                row.name,
                words::less_for_those(&less)
            ));
        }
    }
    let several = |count: usize, names: &[&str]| {
        if count > 1 { format!(" ({})", names.join(", ")) } else { String::new() }
    };
    for (law, names) in &laws {
        remarks.push(format!("noise: {}{}", plain::law(*law), several(laws.len(), names)));
    }
    for row in &comparison.rows {
        let assumed = row.statement.iter().flat_map(|statement| &statement.assumes);
        let assumed = assumed.map(|&assumption| plain::assumed(assumption));
        remarks.extend(assumed.map(|what| format!("{} assumes: {what}", row.name)));
    }
    for (what, names) in &changes {
        remarks.push(format!("what may change: {what}{}", several(changes.len(), names)));
    }
    remarks
}

/// The least noise of every protocol that has one, and the error that it costs.
fn figure(comparison: &Comparison, unit: f64) -> Figure {
    let answered = || comparison.rows.iter().filter_map(|row| Some((row, row.least.as_ref().ok()?)));
    let names: Vec<String> = answered().map(|(row, _)| row.name.clone()).collect();
    let noise = answered().map(|(_, least)| Some(least.noise.get() * unit));
    let error = answered().map(|(row, _)| row.error.as_ref().ok().map(|error| error * unit));
    let at_rows = |values: Vec<Option<f64>>| -> Vec<(f64, f64)> {
        values.into_iter().enumerate().filter_map(|(at, value)| Some((at as f64, value?))).collect()
    };
    let columns = [("noise", at_rows(noise.collect())), ("error of the mean", at_rows(error.collect()))];
    let dots = columns.clone().map(|(name, values)| {
        Series::data(name).points(values.into_iter().map(|(at, value)| (value, at))).scattered()
    });
    let table = columns.map(|(name, values)| Series::data(name).points(values));
    let mut rows = Panel::table("in numbers", "protocol").with_all(table);
    for (at, name) in names.iter().enumerate() {
        rows = rows.row_name(at as f64, name.clone());
    }
    let dots =
        Panel::curves("at the same limit", Axis::log("noise, error"), Axis::named(names)).with_all(dots);
    Figure::new("What the limit costs").panel(dots).panel(rows).columns(1)
}
