//! Files that prove themselves.

use super::summary;
use crate::args::{Prove, Uses};
use crate::errors::Failure;
use crate::output::{self, up};
use crate::progress::Progress;
use crate::{input, question};
use flate2::Compression;
use flate2::write::GzEncoder;
use ndp_account::Protocol as _;
use ndp_program::{Program, ProofWriter, SensitivitySet};
use rayon::prelude::*;
use std::io::Write;

pub(crate) fn run(asked: &Prove, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.weights)?;
    let protocol = question::chosen(&asked.protocol, &matrix, None)?;
    let set = match asked.protocol.uses {
        Some(Uses::SameDirection) => SensitivitySet::SameDirection,
        Some(Uses::Signs) => SensitivitySet::Signs,
        Some(Uses::UseLevel) | None => SensitivitySet::UseLevel,
    };
    let text = protocol.protocol.program_text().map_err(|error| {
        Failure::Refused(format!("{}: {error}; proofs are for linear Gaussian protocols", protocol.name))
    })?;
    let program =
        Program::read(&text[..]).map_err(|error| Failure::Refused(format!("{}: {error}", protocol.name)))?;
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let sources = asked.sources.iter().map(|label| input::node(&graph, label));
    let sources = sources.collect::<Result<Vec<usize>, Failure>>()?;
    let asked_about: Vec<usize> =
        if sources.is_empty() { (0..graph.node_count()).collect() } else { sources };
    let mut proof = ProofWriter::new(&program, set)?;
    let mut lines = proof.head();
    // Comments name the nodes, which a proof numbers.
    let names = (0..graph.node_count())
        .map(|v| format!("# node {v}: {}", output::harmless(&input::label(&graph, v))));
    lines.splice(1..1, names);
    let progress = Progress::new(chosen.observers.len() as u64, "observers", quiet);
    let parts = chosen.observers.par_iter().map(|observer| {
        let others = asked_about.iter().copied().filter(|&u| !observer.contains(u));
        let mut part = ProofWriter::new(&program, proof.set().clone())?;
        let found = part.of(observer, &others.collect::<Vec<_>>())?;
        progress.one();
        Ok((part, found))
    });
    let parts = parts.collect::<Result<Vec<_>, ndp_account::Error>>()?;
    drop(progress);
    for (part, found) in parts {
        proof.add(&part);
        lines.extend(found);
    }
    lines.push(proof.end());
    let mut whole = lines.join("\n").into_bytes();
    whole.push(b'\n');
    let size = whole.len();
    if asked.into.extension().is_some_and(|ending| ending == "gz") {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        whole =
            packed.write_all(&whole).and_then(|()| packed.finish()).map_err(Failure::file(&asked.into))?;
    }
    output::write(&asked.into, &whole)?;
    summary(
        "A proof of what observers learn",
        &[
            ("protocol", protocol.name),
            ("weights", asked.protocol.weights_in_words()),
            ("what may change", proof.set().to_string()),
            ("observed by", chosen.description),
            ("pairs that are proved", proof.pairs().to_string()),
            ("largest mu^2 at noise 1", up(proof.largest())),
            ("size", format!("{size} bytes, {} in the file", whole.len())),
            ("to check it", format!("python3 checker/ndp_check.py {}", asked.into.display())),
        ],
    )
}
