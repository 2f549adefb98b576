//! Files with a proof that a checker can verify: alone, or beside an answer. A proof is written while it is
//! computed, a few observers at a time, because it need not fit into memory; the answer is what was written.

use crate::args::{Knowledge, ProtocolChoice, Prove, Uses};
use crate::errors::Failure;
use crate::output::{self, line, up};
use crate::patience::Limit;
use crate::progress::Progress;
use crate::question::{Chosen, ChosenProtocol};
use crate::show::Part;
use crate::{input, question};
use flate2::Compression;
use flate2::write::GzEncoder;
use ndp_account::{Assumption, Audience, Changes, Observer, Protocol as _, RestsOn};
use ndp_graph::Graph;
use ndp_program::{Program, ProofWriter, SensitivitySet};
use ndp_report::files::Output;
use ndp_report::words;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(asked: &Prove, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.gossip.weights)?;
    let protocol = question::chosen(&asked.protocol, &matrix, Limit::never())?;
    let mut chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    if asked.observers.sample.is_some() {
        // The file is about those who were drawn, and says so.
        chosen.audience = Audience::named(chosen.observers.clone());
    }
    let sources = asked.sources.iter().map(|label| input::node(&graph, label));
    // A node that is named twice has one pair.
    let sources: Vec<usize> = sources.collect::<Result<BTreeSet<usize>, Failure>>()?.into_iter().collect();
    let proof = Proof::of(&asked.into, &asked.protocol, &protocol, &chosen, &asked.knowledge)?;
    let written = proof.write(&graph, &chosen.observers, &sources, quiet)?;
    let mut rows = protocol.rows();
    rows.extend([
        ("weights", asked.protocol.weights_in_words()),
        ("what may change", words::changes_of_uses(&proof.set, proof.uses)),
        ("observed by", chosen.description.clone()),
    ]);
    // The set is what may change.
    let rests_on = written.rests_on.iter().filter(|what| !matches!(what, RestsOn::Set(_)));
    rows.extend(rests_on.map(|what| ("rests on", words::rests_on(what))));
    // The file is about the program; what its schedule takes for granted is said by the protocol alone.
    let bound = protocol.protocol.local_bound(&Observer::node(0));
    let assumed: BTreeSet<Assumption> =
        bound.map(|account| account.assumptions()).into_iter().flatten().chain(written.assumptions).collect();
    rows.extend(assumed.into_iter().map(|what| ("assumed", words::assumed(what).into())));
    rows.extend([
        ("pairs that are proved", written.pairs.to_string()),
        ("largest mu^2 at noise 1", up(written.largest)),
        ("size", format!("{} bytes, {} in the file", written.size, written.packed)),
        ("to check it", proof.checkers()),
    ]);
    Part::Summary("A proof of what observers learn".into(), rows).print()
}

/// A proof that was asked for. [`Proof::of`] tells whether it exists before anything is computed.
pub(super) struct Proof {
    into: PathBuf,
    program: Program,
    set: SensitivitySet,
    /// How often a node uses its data at most.
    uses: usize,
}

/// What was written.
struct Written {
    rests_on: BTreeSet<RestsOn>,
    assumptions: BTreeSet<Assumption>,
    pairs: usize,
    largest: f64,
    /// Bytes of the lines, and of the file.
    size: usize,
    packed: usize,
}

impl Proof {
    /// The proof of an answer about these observers.
    ///
    /// # Errors
    /// [`Failure::Refused`] where there is none: for protocols that are no programs, for observers who are
    /// covered by a bound or use less than they know, for changes that no proof speaks of.
    pub(super) fn of(
        into: &Path,
        choice: &ProtocolChoice,
        protocol: &ChosenProtocol,
        chosen: &Chosen,
        knowledge: &Knowledge,
    ) -> Result<Self, Failure> {
        let refused = |why: String| Failure::Refused(format!("{}: {why}", protocol.name));
        let no_proof = |error: &dyn std::fmt::Display| {
            refused(format!("{error}; proofs are for linear Gaussian protocols"))
        };
        if knowledge.without_own_noise || knowledge.hidden_senders {
            return Err(refused("a proof is about observers who use all that they know".into()));
        }
        if chosen.by_bound() || !chosen.audience.others().is_empty() {
            let why = "a bound covers observers who are not looked at, and a bound has no proof: take --all, or name \
                       observers";
            return Err(refused(why.into()));
        }
        let text = protocol.protocol.program_text().map_err(|error| no_proof(&error))?;
        let program = Program::read(&text[..]).map_err(|error| refused(error.to_string()))?;
        let uses = (0..program.node_count()).map(|u| program.uses(u)).max().unwrap_or(0);
        let set = match choice.uses {
            Some(Uses::UseLevel) => SensitivitySet::UseLevel,
            Some(Uses::SameDirection) => SensitivitySet::SameDirection,
            Some(Uses::Signs) => SensitivitySet::Signs,
            // A node that uses its data once can change in one way only, so all sensitivity sets are the
            // same.
            None if uses <= 1 => SensitivitySet::UseLevel,
            None => {
                let bound = protocol.protocol.local_bound(&Observer::node(0));
                let changes = bound.map_err(|error| no_proof(&error))?.terms().changes;
                of_changes(changes, uses).ok_or_else(|| refused(format!("no proof speaks of {changes:?}")))?
            }
        };
        ProofWriter::new(&program, set.clone())?;
        Ok(Self { into: into.to_owned(), program, set, uses })
    }

    /// Writes the proof of what these observers learn about the nodes in `sources`, or about all nodes if it
    /// is empty, and prints a line about it.
    pub(super) fn beside(
        &self,
        graph: &Graph,
        chosen: &Chosen,
        sources: &[usize],
        quiet: bool,
    ) -> Result<(), Failure> {
        let written = self.write(graph, &chosen.observers, sources, quiet)?;
        line(&format!(
            "proof: {}, mu^2 at most {} at noise 1 and sensitivity 1, in {}; to check it: {}",
            words::several(written.pairs, "pair"),
            up(written.largest),
            self.into.display(),
            self.checkers()
        ))
    }

    fn checkers(&self) -> String {
        let path = self.into.display();
        format!("python3 checker/ndp_check.py {path}, or the second checker: ndp-check {path}")
    }

    fn write(
        &self,
        graph: &Graph,
        observers: &[Observer],
        sources: &[usize],
        quiet: bool,
    ) -> Result<Written, Failure> {
        let everybody: Vec<usize> = (0..graph.node_count()).collect();
        let sources = if sources.is_empty() { &everybody } else { sources };
        if observers.iter().all(|observer| sources.iter().all(|&u| observer.contains(u))) {
            return Err(Failure::Refused(
                "nobody outside the observers is asked about, so that there is nothing to prove: name other observers or another --source"
                    .into(),
            ));
        }
        let mut proof = ProofWriter::new(&self.program, self.set.clone())?;
        let mut head = proof.head();
        // A proof numbers the nodes; these comments give their labels.
        let names = (0..graph.node_count())
            .map(|v| format!("# node {v}: {}", output::harmless(&input::label(graph, v))));
        head.splice(1..1, names);
        let mut lines = Lines::create(&self.into)?;
        lines.add(&lines.packing().part(&head)?)?;
        let progress = Progress::new(observers.len() as u64, "observers", quiet);
        // Only the lines of a few observers are in memory at a time, already compressed. They are written in
        // the order of the observers.
        let packing = lines.packing();
        for few in observers.chunks(AT_ONCE * rayon::current_num_threads()) {
            let parts = few.par_iter().map(|observer| {
                let others = sources.iter().copied().filter(|&u| !observer.contains(u));
                let mut part = ProofWriter::new(&self.program, self.set.clone())?;
                let found = part.of(observer, &others.collect::<Vec<_>>())?;
                let found = packing.part(&found)?;
                progress.one();
                Ok((part, found))
            });
            for (part, found) in parts.collect::<Result<Vec<_>, Failure>>()? {
                proof.add(&part);
                lines.add(&found)?;
            }
        }
        drop(progress);
        lines.add(&packing.part(&[proof.end()])?)?;
        let (size, packed) = lines.finish()?;
        let (rests_on, assumptions) = (proof.rests_on(), proof.assumptions().clone());
        Ok(Written { rests_on, assumptions, pairs: proof.pairs(), largest: proof.largest(), size, packed })
    }
}

/// Each thread keeps the lines of this many observers in memory.
const AT_ONCE: usize = 2;

/// The level of gzip. At its default of 6 files are 7 % smaller, but compressing takes as long as proving.
const LEVEL: u32 = 4;

/// How lines stand in a file.
#[derive(Clone, Copy)]
enum Packing {
    Plain,
    /// Gzipped. Several gzip members in a row are one valid file, so parts can be compressed separately.
    Packed,
}

/// Lines in the form in which the file has them, and their size before compression.
struct Packed {
    bytes: Vec<u8>,
    size: usize,
}

impl Packing {
    fn part(self, lines: &[String]) -> Result<Packed, Failure> {
        let size = lines.iter().map(|line| line.len() + 1).sum();
        let mut bytes = Vec::new();
        let write = |to: &mut dyn Write| lines.iter().try_for_each(|line| writeln!(to, "{line}"));
        let written = match self {
            Self::Plain => write(&mut bytes),
            Self::Packed => {
                let mut packed = GzEncoder::new(&mut bytes, Compression::new(LEVEL));
                write(&mut packed).and_then(|()| packed.finish().map(drop))
            }
        };
        written.map_err(|error| Failure::Refused(format!("lines could not be packed: {error}")))?;
        Ok(Packed { bytes, size })
    }
}

/// A proof that is being written. The file appears only once it is finished; if it goes to a pipe, the reader
/// may stop early.
struct Lines {
    path: PathBuf,
    output: Output,
    size: usize,
    packed: usize,
    unread: bool,
}

impl Lines {
    fn create(path: &Path) -> Result<Self, Failure> {
        let output = Output::create(path)?;
        Ok(Self { path: path.to_owned(), output, size: 0, packed: 0, unread: false })
    }

    fn packing(&self) -> Packing {
        if self.path.extension().is_some_and(|ending| ending == "gz") {
            Packing::Packed
        } else {
            Packing::Plain
        }
    }

    fn add(&mut self, part: &Packed) -> Result<(), Failure> {
        self.size += part.size;
        if self.unread {
            return Ok(());
        }
        match self.output.write_all(&part.bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.unread = true,
            written => written.map_err(Failure::file(&self.path))?,
        }
        self.packed += part.bytes.len();
        Ok(())
    }

    /// Bytes of the lines, and of the file.
    fn finish(self) -> Result<(usize, usize), Failure> {
        output::unless_unread(self.output.finish())?;
        Ok((self.size, if self.unread { 0 } else { self.packed }))
    }
}

/// The sensitivity set of a proof about these changes; `None` if proofs have no such set. `EveryGradient`
/// becomes vectors with as many dimensions as there are uses, which is enough because that many vectors span
/// no more.
fn of_changes(changes: Changes, uses: usize) -> Option<SensitivitySet> {
    match changes {
        Changes::Value | Changes::OneUse => Some(SensitivitySet::UseLevel),
        Changes::UsesAlike | Changes::GradientsAlike => Some(SensitivitySet::SameDirection),
        Changes::EveryNumber => Some(SensitivitySet::Signs),
        Changes::EveryGradient => Some(SensitivitySet::Vectors { dimension: uses }),
        Changes::EveryContribution | Changes::EveryLabel | Changes::Label | Changes::Declared => None,
    }
}
