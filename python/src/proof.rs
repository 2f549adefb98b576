//! Files that prove losses, of protocols that are programs.

use crate::declaration::Declaration;
use crate::errors::Fault;
use crate::protocol::Protocol;
use crate::question::{Who, observer};
use crate::worker::{Stopped, run};
use ndp_account::Observer;
use ndp_program::{Program, ProofWriter, SensitivitySet};
use ndp_report::harmless::harmless;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A proof of what each observer learns about the nodes beside it: its text, how many pairs it is about, the largest loss.
///
/// Observers have the noise that they drew, and see who sends: a proof file speaks of no others.
#[pyfunction]
pub(crate) fn prove(
    py: Python<'_>,
    protocol: &Protocol,
    set: Declaration,
    pairs: Vec<(Who, Vec<usize>)>,
    names: Vec<String>,
) -> Result<(String, usize, f64), Fault> {
    let (kind, set) = (Arc::clone(&protocol.0), set.set()?);
    if pairs.iter().any(|((_, own_noise, hidden_senders, _), _)| !own_noise || *hidden_senders) {
        return Err(Fault::new(
            "a proof file is about observers who use the noise that they drew and see who sends: ask without own_noise=False and hidden_senders=True",
        ));
    }
    let pairs: Vec<(Observer, Vec<usize>)> =
        pairs.into_iter().map(|(who, sources)| (observer(who), sources)).collect();
    let stopped = Stopped::default();
    let stop = Arc::clone(&stopped.0);
    run(py, move || {
        let text = kind.protocol().program_text().map_err(|error| {
            Fault::new(format!(
                "{error}, and no proof file exists for it: there are files for gossip, ndp.Program and ndp.programs"
            ))
        })?;
        let program = Program::read(&text[..])?;
        let mut proof = ProofWriter::new(&program, set)?;
        let mut lines = proof.head();
        // Comments name the nodes, which a proof numbers.
        lines.splice(
            1..1,
            names.iter().enumerate().map(|(v, name)| format!("# node {v}: {}", harmless(name))),
        );
        let parts = pairs.par_iter().map(|(observer, sources)| {
            if stop.load(Ordering::Relaxed) {
                return Err(Fault::new("interrupted"));
            }
            of_observer(&program, proof.set(), observer, sources)
        });
        for (part, found) in parts.collect::<Result<Vec<_>, Fault>>()? {
            proof.add(&part);
            lines.extend(found);
        }
        lines.push(proof.end());
        lines.push(String::new());
        Ok((lines.join("\n"), proof.pairs(), proof.largest()))
    })
}

fn of_observer<'p>(
    program: &'p Program,
    set: &SensitivitySet,
    observer: &Observer,
    sources: &[usize],
) -> Result<(ProofWriter<'p>, Vec<String>), Fault> {
    let mut part = ProofWriter::new(program, set.clone())?;
    let lines = part.of(observer, sources)?;
    Ok((part, lines))
}
