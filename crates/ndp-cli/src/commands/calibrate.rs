//! The least noise for a target.

use super::{accounts, summary};
use crate::args::Calibrate;
use crate::errors::Failure;
use crate::output::{count, csv, json, note, number, up};
use crate::{input, question};
use ndp_algos::Protocol;
use ndp_algos::accountant::least_noise;
use serde_json::json;

pub(crate) fn run(asked: &Calibrate, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.weights)?;
    let target = asked.target.required(&graph)?;
    let (protocol, name) = question::chosen(&asked.protocol, &matrix, Some(asked.effort.patience))?;
    let protocol = protocol.for_every_pair();
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let accounts = accounts(&protocol, &chosen.observers, quiet)?;
    let before = protocol.notes().len();
    let least = least_noise(&accounts, &target)?;
    // Those of observers are out already.
    protocol.notes().iter().skip(before).for_each(|text| note(text));
    let noise = question::in_unit(least.noise, asked.unit.sensitivity);
    let unit = asked.unit.sensitivity;
    let scaled = |x: Result<f64, ndp_algos::Error>| match x {
        Ok(x) => up(x * unit),
        Err(error) => error.to_string(),
    };
    let messages = protocol.message_count().map_or_else(|error| error.to_string(), count);
    let mut rows = vec![
        ("protocol", name.clone()),
        ("weights", asked.protocol.weights_in_words()),
        ("observed by", chosen.description.clone()),
        ("target", question::words(&target)),
        ("least noise", up(noise)),
        ("error of the result, at most", scaled(protocol.error(least.noise))),
        ("messages", messages),
    ];
    if let Some(pair) = least.tightest {
        rows.push((
            "tightest pair",
            format!(
                "what {} learns about {}: {} of {} [{}]",
                if pair.observer == usize::MAX {
                    "the outsider".into()
                } else {
                    input::label(&graph, pair.observer)
                },
                input::label(&graph, pair.source),
                up(*pair.loss.value()),
                number(pair.allowed),
                pair.loss.grade()
            ),
        ));
    }
    let failure: f64 = accounts.iter().map(|account| account.failure()).sum();
    rows.push(("the account fails", question::probability(failure)));
    summary("The least noise", &rows)?;
    if let Some(path) = &asked.files.csv {
        let grade = least.tightest.map_or_else(String::new, |pair| pair.loss.grade().to_string());
        let row = vec![name.clone(), noise.to_string(), grade];
        csv(path, asked.knowledge.seed, &["protocol", "noise", "grade"], &[row])?;
    }
    if let Some(path) = &asked.files.json {
        let body = json!({ "protocol": name, "noise": noise, "multiplier": least.noise.get(),
            "observers": chosen.description, "failure": failure, "tightest": least.tightest });
        json(path, asked.knowledge.seed, body)?;
    }
    Ok(())
}
