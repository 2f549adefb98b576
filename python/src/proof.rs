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

/// A proof of what each observer learns about the nodes beside it, handed to `write(text)` part by part; its last line.
///
/// Observers have the noise that they drew, and see who sends: a proof file speaks of no others.
#[pyfunction]
pub(crate) fn prove(
    py: Python<'_>,
    protocol: &Protocol,
    set: Declaration,
    pairs: Vec<(Who, Vec<usize>)>,
    names: Vec<String>,
    write: Py<PyAny>,
) -> Result<String, Fault> {
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
        let hand_over = |lines: &[String]| -> Result<(), Fault> {
            let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            Python::attach(|py| write.call1(py, (text,)))?;
            Ok(())
        };
        let mut head = proof.head();
        // Comments name the nodes, which a proof numbers.
        head.splice(
            1..1,
            names.iter().enumerate().map(|(v, name)| format!("# node {v}: {}", harmless(name))),
        );
        hand_over(&head)?;
        // Of a few observers at a time there are lines in memory.
        for few in pairs.chunks(AT_ONCE * rayon::current_num_threads()) {
            let parts = few.par_iter().map(|(observer, sources)| {
                if stop.load(Ordering::Relaxed) {
                    return Err(Fault::new("interrupted"));
                }
                of_observer(&program, proof.set(), observer, sources)
            });
            for (part, found) in parts.collect::<Result<Vec<_>, Fault>>()? {
                proof.add(&part);
                hand_over(&found)?;
            }
        }
        let last = proof.end();
        hand_over(std::slice::from_ref(&last))?;
        Ok(last)
    })
}

/// Observers of whom each thread has lines in memory.
const AT_ONCE: usize = 2;

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
