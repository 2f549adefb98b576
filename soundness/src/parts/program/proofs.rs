//! Proof files of random programs, as written and with changes. Both checkers must accept the written file,
//! and reject every change that claims more than its witnesses show.
//!
//! The truth does not use the library: the program is read from the lines of the file into dense rows, and
//! the losses are computed from these.

mod change;
mod judge;
mod second;

use self::judge::Text;
use super::draw;
use crate::draw::graphs;
use crate::draw::numbers::pick;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{Error, Observer};
use ndp_graph::GossipMatrix;
use ndp_graph::generators::path_graph;
use ndp_program::constructors::{Dsgd, ModelReads, dsgd, fresh_noise, muffliato, secure_neighbor_sums};
use ndp_program::{Program, ProgramError, ProofWriter, SensitivitySet, Weight};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

pub(crate) struct Proofs;

/// The file of one program in this many is also changed.
const CHANGED: u64 = 8;
/// One program in this many has many uses.
const DEEP: u64 = 40;
/// Number of changes that are tried on such a file.
const CHANGES: usize = 12;

impl Part for Proofs {
    fn name(&self) -> &'static str {
        "proofs"
    }

    fn what(&self) -> &'static str {
        "proof files of programs, and changed ones, before both checkers; dense rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let changed = number.is_multiple_of(CHANGED);
        let mut outcome = Outcome::new(Stratum::named(
            if number % 5 == 4 { "gossip" } else { "random steps" },
            if changed { "and changed" } else { "as written" },
        ));
        let size = |lines: usize| [lines as u64, 0, 0];
        let file = match written(number, rng) {
            Ok(file) => file,
            Err(error) => {
                outcome.check(false, || violation("refused", size(0), &error.to_string(), &[]));
                return outcome;
            }
        };
        let Written { lines, refused } = file;
        if let Some(why) = refused {
            outcome.check(false, || violation("no proof", size(lines.len()), &why, &lines));
            return outcome;
        }
        let Some(lines) = parsed(&lines).filter(|lines| lines.iter().any(|line| line.get("upper").is_some()))
        else {
            outcome.stratum.column = "nothing to prove";
            return outcome;
        };
        let said = verdicts(&lines);
        let text = texts(&lines);
        outcome.check(said == Ok(true), || {
            violation("not accepted", size(lines.len()), &format!("{said:?}"), &text)
        });
        let holds = judge::judged(&lines);
        outcome.check(holds == Some(true), || {
            violation("false as written", size(lines.len()), &format!("{holds:?}"), &text)
        });
        for _ in 0..if changed { CHANGES } else { 0 } {
            let Some(change) = change::change(rng, &lines) else { continue };
            let said = verdicts(&change.lines);
            let holds = judge::judged(&change.lines);
            let stronger = change.stronger || holds != Some(true);
            let wrong = match said {
                Ok(accepted) => stronger && accepted,
                Err(_) => true,
            };
            // If a change makes no claim stronger, the checkers may accept or reject it, as long as they
            // agree.
            if stronger || wrong {
                outcome.check(!wrong, || {
                    let what = format!("{}: {said:?}, the claim: {holds:?}", change.what);
                    violation("accepted or disputed", size(lines.len()), &what, &texts(&change.lines))
                });
            }
        }
        outcome
    }

    fn short(&self) -> u64 {
        400
    }
}

fn violation(kind: &'static str, size: [u64; 3], what: &str, lines: &[String]) -> Violation {
    Violation { kind, size, what: what.to_owned(), test: format!("// {what}\n{}", lines.join("\n")) }
}

fn parsed(lines: &[String]) -> Option<Vec<Json>> {
    lines.iter().map(|line| serde_json::from_str(line).ok()).collect()
}

fn texts(lines: &[Json]) -> Vec<String> {
    lines.iter().map(Json::to_string).collect()
}

/// Whether both checkers accept a file.
///
/// # Errors
/// The verdicts of both if they differ or name different lines, or the reason why Python gave no verdict.
fn verdicts(lines: &[Json]) -> Result<bool, String> {
    let text = texts(lines);
    let first = match ndp_check::check(format!("{}\n", text.join("\n")).as_bytes()) {
        Ok(_) => "accepted".to_owned(),
        Err(failure) => format!("rejected: {failure}"),
    };
    let second = second::verdict(&text).map_err(|error| format!("the checker in Python: {error}"))?;
    let place = |said: &str| said.split(':').take(2).collect::<Vec<_>>().join(":");
    if place(&first) == place(&second) { Ok(first == "accepted") } else { Err(format!("{first} / {second}")) }
}

/// A file, and if a proof is missing or should not have been written, the reason.
struct Written {
    lines: Vec<String>,
    refused: Option<String>,
}

/// Writes the proof file of a random program. The file has no pairs if there is nothing to prove, and is
/// empty if no proof exists. A refused proof that should exist is reported in `refused`.
fn written(number: u64, rng: &mut ChaCha8Rng) -> Result<Written, Error> {
    let deep = number % DEEP == 4;
    let program = if deep {
        many_uses(rng)?
    } else if number % 5 == 4 {
        gossip(rng)?
    } else {
        draw(rng, number % 3 == 1, number % 4 == 3, false)?.program
    };
    let nodes = program.node_count();
    let everybody = number.is_multiple_of(3);
    let mut observers: Vec<Observer> = (0..nodes).map(Observer::node).collect();
    if !everybody {
        let members: Vec<usize> = (0..nodes).filter(|_| rng.random_range(0..3) == 0).collect();
        let observer = Observer::coalition(&members);
        let from = rng.random_range(0..nodes);
        let tap = rng.random_range(0..3) == 0;
        observers = vec![if tap { observer.tapping(&[(from, (from + 1) % nodes)]) } else { observer }];
    }
    if deep {
        observers = vec![Observer::node(nodes - 1)];
    }
    let one = rng.random_range(0..nodes);
    let (set, sources) = match rng.random_range(0..6) {
        _ if deep => (SensitivitySet::UseLevel, Some(0)),
        0 => (SensitivitySet::SameDirection, None),
        1 => (SensitivitySet::Signs, None),
        2 => (SensitivitySet::Vectors { dimension: rng.random_range(1..=3) }, None),
        3 => {
            let along = (0..program.uses(one)).map(|_| f64::from(rng.random_range(-4..=4)) / 2.0);
            (SensitivitySet::Along(along.collect()), Some(one))
        }
        _ => (SensitivitySet::UseLevel, None),
    };
    let mut proof = ProofWriter::new(&program, set)?;
    let mut lines = proof.head();
    let text = parsed(&lines).and_then(|lines| Text::read(&lines));
    let Some(text) = text else {
        return Ok(Written { lines, refused: Some("the head is not what the format says".into()) });
    };
    let set = parsed(&lines).map(|lines| lines[0]["set"].clone()).unwrap_or_default();
    for observer in &observers {
        // There is no proof for a loss that is infinite, nor if a contribution reads a value that the
        // observer has not seen.
        let hidden = text.is_hidden(observer);
        let finite = |u: &usize| {
            !observer.contains(*u)
                && sources.is_none_or(|one| one == *u)
                && text.is_finite(&set, observer, *u)
        };
        let asked: Vec<usize> = (0..nodes).filter(finite).collect();
        match proof.of(observer, &asked) {
            Ok(found) if !hidden => lines.extend(found),
            Ok(_) => return Ok(Written { lines, refused: Some("what is read was not seen".into()) }),
            Err(_) if hidden => return Ok(Written { lines: Vec::new(), refused: None }),
            // The observer can compute the value that is read only by elimination, and the format has no
            // proof for this.
            Err(error) if matches!(error.carried(), Some(ProgramError::Witness(why)) if why.contains("elimination")) =>
            {
                return Ok(Written { lines: Vec::new(), refused: None });
            }
            Err(error) => return Ok(Written { lines, refused: Some(format!("{observer:?}: {error}")) }),
        }
    }
    lines.push(proof.end());
    Ok(Written { lines, refused: None })
}

/// A program with so many uses that the writer completes the shifts from floats.
fn many_uses(rng: &mut ChaCha8Rng) -> Result<Program, Error> {
    let matrix = GossipMatrix::metropolis(&path_graph(rng.random_range(2..=3))?);
    dsgd(&matrix, Dsgd { reads: ModelReads::Nothing, ..Dsgd::from(30) })
}

/// Gossip on a small graph; the text of such a program contains matrices.
fn gossip(rng: &mut ChaCha8Rng) -> Result<Program, Error> {
    let n = rng.random_range(2..=5);
    let graph = graphs::any(rng, n);
    let matrix = GossipMatrix::metropolis(&graph);
    let rounds = rng.random_range(1..=3);
    match rng.random_range(0..4) {
        0 => dsgd(&matrix, rounds),
        1 => {
            let variances: Vec<Weight> = (0..rounds).map(|_| Weight::from(pick(rng, &[1, 2, 5]))).collect();
            fresh_noise(&matrix, &variances)
        }
        2 => secure_neighbor_sums(&matrix, rounds),
        _ => muffliato(&matrix, rounds),
    }
}
