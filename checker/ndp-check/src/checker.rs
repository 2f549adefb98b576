//! Reads a file from its first line to its last.

use crate::json::{self, Json, keys};
use crate::observer::Observer;
use crate::program::Program;
use crate::rational::{at_most, common_multiple, number, shown, times, zero};
use crate::set::Set;
use crate::statement::Proved;
use crate::witness::{Moves, Shifts, told};
use crate::{Rejected, need, rejected};
use flate2::bufread::MultiGzDecoder;
use num_rational::BigRational;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read};
use std::{fmt, thread};

/// Why a file is not accepted.
#[derive(Debug)]
pub enum Failure {
    /// It cannot be read.
    Unreadable(io::Error),
    /// A line proves nothing: its number, from 1, and why.
    Rejected(usize, Rejected),
    /// It ends without its last line, after so many lines.
    Unfinished(usize),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "{error}"),
            Self::Rejected(line, Rejected(why)) => write!(f, "line {line}: {why}"),
            Self::Unfinished(lines) => write!(f, "the file ends after line {lines} without its last line"),
        }
    }
}

impl std::error::Error for Failure {}

/// Bytes of lines that are checked together, by several threads.
const BATCH: usize = 4 << 20;

/// Checks a file, plain or compressed by gzip; pairs are checked on all processors, and what is said does not
/// depend on their number.
///
/// # Errors
/// [`Failure`], with the first line that fails.
pub fn check(input: impl Read) -> Result<Proved, Failure> {
    let mut input = BufReader::new(input);
    if input.fill_buf().map_err(Failure::Unreadable)?.starts_with(&[0x1f, 0x8b]) {
        lines_of(BufReader::new(MultiGzDecoder::new(input)))
    } else {
        lines_of(input)
    }
}

fn lines_of(mut input: impl BufRead) -> Result<Proved, Failure> {
    let mut checker = Checker::default();
    let (mut count, mut over) = (0, false);
    while !over {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH {
            let mut line = String::new();
            if input.read_line(&mut line).map_err(Failure::Unreadable)? == 0 {
                over = true;
                break;
            }
            count += 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if checker.is_told() {
                bytes += line.len();
                batch.push((count, line));
            } else {
                checker.head(&line).map_err(|why| Failure::Rejected(count, why))?;
            }
        }
        checker.batch(&batch)?;
    }
    checker.over().ok_or(Failure::Unfinished(count))
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Checker {
    set: Option<Set>,
    program: Option<Program>,
    /// Whether the program is complete.
    is_complete: bool,
    found: Found,
}

/// What a line says that was looked at by itself.
enum Said {
    Pair(Pair),
    End(BTreeMap<String, Json>),
}

/// Who looks at whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    members: Vec<usize>,
    /// Without edges of members, who see what goes over them anyway.
    taps: Vec<(usize, usize)>,
    source: usize,
}

/// A pair whose witnesses were followed.
struct Pair {
    place: Place,
    upper: BigRational,
    assumes: bool,
}

/// The pairs that are proved.
#[derive(Debug, Default)]
struct Found {
    pairs: BTreeSet<Place>,
    largest: Option<BigRational>,
    assumes: bool,
    /// Whether every pair is covered, after the last line.
    ended: Option<bool>,
}

impl Checker {
    fn is_told(&self) -> bool {
        self.is_complete
    }

    /// A line before those of pairs.
    fn head(&mut self, line: &str) -> Result<(), Rejected> {
        let said = json::parse(line)?;
        if self.set.is_none() {
            keys(&said, &["ndp-proof", "set"], &[])?;
            need(said["ndp-proof"] == Json::Whole(1), || "this is not version 1 of a proof".into())?;
            self.set = Some(Set::read(&said["set"])?);
            return Ok(());
        }
        match &mut self.program {
            None => self.program = Some(Program::new(&said)?),
            Some(_) if said.len() == 1 && said.get("end").and_then(Json::text) == Some("program") => {
                self.is_complete = true;
            }
            Some(program) => program.step(&said)?,
        }
        Ok(())
    }

    /// Lines of pairs, and the last line.
    fn batch(&mut self, lines: &[(usize, String)]) -> Result<(), Failure> {
        let (Some(set), Some(program), false) = (&self.set, &self.program, lines.is_empty()) else {
            return Ok(());
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let many = lines.len().div_ceil(threads);
        let work = |part: &[(usize, String)]| {
            let mut looker = Looker { set, program, last: None, moves: Moves::default() };
            let mut found = Vec::with_capacity(part.len());
            for (count, line) in part {
                let said = looker.line(line).map_err(|why| Failure::Rejected(*count, why));
                let failed = said.is_err();
                found.push((*count, said));
                if failed {
                    break;
                }
            }
            found
        };
        let work = &work;
        let parts: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = lines.chunks(many).map(|part| scope.spawn(move || work(part))).collect();
            running.into_iter().map(|part| part.join()).collect()
        });
        for part in parts {
            let part = part.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (count, said) in part {
                let nodes = program.nodes;
                self.found.add(said?, nodes).map_err(|why| Failure::Rejected(count, why))?;
            }
        }
        Ok(())
    }

    fn over(self) -> Option<Proved> {
        let (set, program) = (self.set?, self.program?);
        Some(Proved {
            every_pair: self.found.ended?,
            pairs: self.found.pairs.len(),
            largest: self.found.largest.map_or_else(zero, |largest| shown(&largest)),
            differs: set.words(),
            assumes_reads: self.found.assumes,
            assumes_holdings: program.assumed_holdings,
        })
    }
}

impl Found {
    fn add(&mut self, said: Said, nodes: usize) -> Result<(), Rejected> {
        need(self.ended.is_none(), || "there is a line after the end".into())?;
        match said {
            Said::Pair(pair) => {
                need(self.pairs.insert(pair.place), || "this pair was there before".into())?;
                if self.largest.as_ref().is_none_or(|largest| !at_most(&pair.upper, largest)) {
                    self.largest = Some(pair.upper);
                }
                self.assumes |= pair.assumes;
            }
            Said::End(said) => self.ended = Some(self.end(&said, nodes)?),
        }
        Ok(())
    }

    /// Whether every pair is covered, by the last line.
    fn end(&self, said: &BTreeMap<String, Json>, nodes: usize) -> Result<bool, Rejected> {
        keys(said, &["end", "pairs", "largest", "covers"], &[])?;
        need(said["end"].text() == Some("proof"), || "this does not end a proof".into())?;
        let pairs = self.pairs.len();
        need(0 < pairs, || "no pair is proved".into())?;
        need(said["pairs"] == Json::Whole(pairs as u64), || {
            format!("{pairs} pairs are proved, not {:?}", said["pairs"])
        })?;
        let largest = self.largest.clone().unwrap_or_else(zero);
        need(at_most(&largest, &number(&said["largest"])?), || {
            format!("the largest loss is {}", shown(&largest))
        })?;
        match said["covers"].text() {
            Some("these-pairs") => return Ok(false),
            Some("every-pair") => {}
            _ => return rejected("what is covered is not said"),
        }
        let alone =
            |v: usize, source| self.pairs.contains(&Place { members: vec![v], taps: Vec::new(), source });
        let all = (0..nodes).flat_map(|v| (0..nodes).filter(move |&u| u != v).map(move |u| (v, u)));
        let mut missing = all.filter(|&(v, u)| !alone(v, u));
        let first = missing.next();
        match first {
            None => Ok(true),
            Some((v, u)) => rejected(format!(
                "{} pairs are missing, the first: node {v} about node {u}",
                missing.count() + 1
            )),
        }
    }
}

/// Looks at lines one by one, and keeps the observer of the last.
struct Looker<'a> {
    set: &'a Set,
    program: &'a Program,
    last: Option<(Json, Observer)>,
    moves: Moves,
}

impl Looker<'_> {
    fn line(&mut self, line: &str) -> Result<Said, Rejected> {
        let said = json::parse(line)?;
        if said.contains_key("end") { Ok(Said::End(said)) } else { self.pair(&said).map(Said::Pair) }
    }

    fn pair(&mut self, said: &BTreeMap<String, Json>) -> Result<Pair, Rejected> {
        let (set, program) = (self.set, self.program);
        keys(said, &["observer", "source", "upper", "lower", "shifts", "attack"], &["diagonal"])?;
        let who = &said["observer"];
        if self.last.as_ref().is_none_or(|(last, _)| last != who) {
            self.last = Some((who.clone(), Observer::new(program, who)?));
        }
        let Some((_, observer)) = &self.last else { return rejected("nobody looks") };
        let source = program.node(&said["source"])?;
        need(!observer.contains(source), || "the node is a member of those who look".into())?;
        let (upper, lower) = (number(&said["upper"])?, number(&said["lower"])?);
        let directions = set.directions(program.uses[source].len())?;
        let shifts = said["shifts"].list("what is shifted")?;
        need(shifts.len() == directions.len(), || format!("{} shifts are needed", directions.len()))?;
        let shifts =
            shifts.iter().map(|shift| program.terms(shift, "a shift")).collect::<Result<Vec<_>, _>>()?;
        let shifts = Shifts::new(program, observer, (source, &directions), &shifts, &mut self.moves)?;
        let proved = self.proved(&shifts, said.get("diagonal"))?;
        need(at_most(&proved, &upper), || {
            format!("the shifts prove {}, more than the upper end {}", shown(&proved), shown(&upper))
        })?;
        let attack = said["attack"].table("an attack")?;
        keys(attack, &["change", "sum"], &[])?;
        let change = attack["change"].list("the change of an attack")?;
        need(change.len() == program.uses[source].len(), || "an attack says how every use changes".into())?;
        let change = change.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        need(set.allows(&change), || "the change of the attack is not in the set".into())?;
        let told = told(program, observer, (source, &change), &program.terms(&attack["sum"], "an attack")?)?;
        need(at_most(&lower, &told), || {
            format!("the attack tells {}, less than the lower end {}", shown(&told), shown(&lower))
        })?;
        Ok(Pair {
            place: Place { members: observer.members.clone(), taps: observer.taps.clone(), source },
            upper,
            assumes: observer.assumes,
        })
    }

    /// What shifts prove of the whole set.
    fn proved(&self, shifts: &Shifts, diagonal: Option<&Json>) -> Result<BigRational, Rejected> {
        if !self.set.is_joint() {
            need(diagonal.is_none(), || "a diagonal belongs to signs and vectors".into())?;
            return Ok(shifts.largest());
        }
        let Some(diagonal) = diagonal else { return Ok(shifts.sum_of_sizes()) };
        let diagonal = diagonal.list("a diagonal")?.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        need(diagonal.len() == shifts.len(), || "the diagonal has another length".into())?;
        need(shifts.are_covered_by(&diagonal), || "the diagonal does not cover the costs".into())?;
        let below = common_multiple(diagonal.iter().map(BigRational::denom));
        Ok(BigRational::new_raw(diagonal.iter().map(|x| times(x, &below)).sum(), below))
    }
}
