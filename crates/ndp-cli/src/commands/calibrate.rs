//! The least noise for a target.

use super::prove::Proof;
use super::{covered, summary};
use crate::args::Calibrate;
use crate::errors::Failure;
use crate::output::{count, csv, finite, json, note, number, up};
use crate::{input, plain, question};
use ndp_account::{Coverage, Covered, Pair, Protocol};
use ndp_dp::Grade;
use ndp_graph::Graph;
use ndp_report::words;
use serde_json::json;

pub(crate) fn run(asked: &Calibrate, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.weights)?;
    let target = asked.target.required(&graph)?;
    let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, Some(&target))?;
    let protocol =
        question::chosen(&asked.protocol, &matrix, Some(asked.effort.seconds(1, chosen.by_bound())))?;
    let proof = asked.proof.as_deref();
    let proof = proof.map(|into| Proof::of(into, &asked.protocol, &protocol, &chosen, &asked.knowledge));
    let proof = proof.transpose()?;
    let name = protocol.name;
    let protocol = protocol.protocol.for_every_pair();
    let covered = covered(&protocol, &chosen, quiet)?;
    let before = protocol.notes().len();
    let least = covered.least_noise(&target)?;
    let looked_at = covered.of_looked_at(&target, &least);
    // Those of observers are out already.
    protocol.notes().iter().skip(before).for_each(|text| note(text));
    let unit = asked.unit.sensitivity;
    let noise = question::in_unit(least.noise, unit);
    let scaled = |x: Result<f64, ndp_account::Error>| match x {
        Ok(x) => up(x * unit),
        Err(error) => error.to_string(),
    };
    let messages = protocol.message_count().map_or_else(|error| error.to_string(), count);
    let statement = covered.statement()?;
    let observed = plain::observed_by(&statement, &graph);
    let mut rows = vec![
        ("protocol", name.clone()),
        ("weights", asked.protocol.weights_in_words()),
        ("what may change", plain::changes(&statement)),
        ("observed by", observed.clone()),
        ("target", words::target(&target)),
        ("least noise", plain::noise_in_units(&up(noise), &up(least.noise.get()), &statement)),
        ("which is the", plain::noise_is(&statement)),
    ];
    if let Some(less) = looked_at {
        let shown = up(question::in_unit(less, unit));
        rows.push(("for those looked at alone", words::less_for_those(&shown)));
    }
    rows.extend(statement.assumes.iter().map(|&assumption| ("assumed", plain::assumed(assumption).into())));
    rows.extend([
        ("error of the result, at most", scaled(protocol.error(least.noise))),
        ("messages", messages),
    ]);
    if let Some(pair) = &least.tightest {
        let (observer, by) = observer(&graph, &covered, pair);
        rows.push((
            "tightest pair",
            format!(
                "what {observer} learns about {}: {} of {} [{}{by}]",
                input::label(&graph, pair.source),
                up(*pair.loss.value()),
                number(pair.allowed),
                pair.loss.grade()
            ),
        ));
    }
    rows.push(("the account fails", question::probability(covered.failure())));
    summary("The least noise", &rows)?;
    if let Some(path) = &asked.files.csv {
        let grade = least.tightest.as_ref().map_or_else(String::new, |pair| pair.loss.grade().to_string());
        let row = vec![name.clone(), noise.to_string(), grade, covered.coverage.in_short()];
        csv(path, asked.knowledge.seed, &["protocol", "noise", "grade", "observers"], &[row])?;
    }
    if let Some(path) = &asked.files.json {
        let tightest = least.tightest.as_ref().map(|pair| {
            json!({ "source": input::label(&graph, pair.source), "observer": observer(&graph, &covered, pair).0,
                "loss": pair.loss, "allowed": finite(pair.allowed) })
        });
        let body = json!({ "protocol": name, "noise": noise, "multiplier": least.noise.get(), "statement": statement,
            "target": words::target(&target), "observers": observed,
            "multiplier_of_looked_at": looked_at.map(|noise| noise.get()), "tightest": tightest });
        json(path, asked.knowledge.seed, body)?;
    }
    if let Some(proof) = proof {
        proof.beside(&graph, &chosen, &[], quiet)?;
    }
    if covered.coverage.is_whole() {
        return Ok(());
    }
    Err(Failure::NotMet(format!(
        "the target is not shown at this noise: {}{}",
        words::coverage(&covered.coverage),
        words::LOOK_AT_ALL
    )))
}

/// The observer of a pair by name, and whether it is one of those for whom a bound stands.
fn observer(graph: &Graph, covered: &Covered<'_>, pair: &Pair) -> (String, &'static str) {
    let name = match pair.observer.members() {
        [] => "the outsider".into(),
        _ => plain::name(graph, &pair.observer),
    };
    let looked_at = covered.looked_at().iter().any(|account| *account.observer() == pair.observer);
    let by = match covered.coverage {
        _ if looked_at || pair.loss.grade() == Grade::Exact => "",
        Coverage::Grouped { .. } => ", by the groups for those not looked at",
        _ => ", by the bound for those not looked at",
    };
    (name, by)
}
