//! Proof files: a program and, for every pair of an observer and a node, shifts of noises and an attack that
//! prove the loss from both sides, for readers who do not have this library. The format is described in
//! `docs/formats.md`, "Proofs".
//!
//! For a change `δ` of the uses of a node, a shift `x` of noises with `R x = B δ` proves `Q(δ) ≤ xᵀ V⁻¹ x`.
//! For all changes at once, shifts `X` with `R X = B` prove `G ≤ P = Xᵀ V⁻¹ X`. The loss under signs and
//! vectors is therefore at most `tr D` for any diagonal `D ≥ P`, and at most `Σ |P_ij|`. An attack `y` proves
//! `Q(δ) ≥ (yᵀ B δ)² / (yᵀ R V Rᵀ y)`.

mod costs;

use crate::account::ProgramAccount;
use crate::adaptivity;
use crate::build::{Program, Reads, Value};
use crate::sensitivity::SensitivitySet;
use crate::witness::{Shared, Sides};
use crate::{ProgramError, Weight, Witness};
use costs::Shifts;
use ndp_account::{Assumption, Error, Observer, RestsOn};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The version of the format.
const VERSION: u64 = 1;

/// A program and a sensitivity set, about which proofs are written line by line.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{ProofWriter, SensitivitySet, constructors::muffliato};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let program = muffliato(&GossipMatrix::metropolis(&path_graph(3)?), 2)?;
/// let mut proof = ProofWriter::new(&program, SensitivitySet::UseLevel)?;
/// let mut lines = proof.head();
/// for v in 0..3 {
///     let others: Vec<usize> = (0..3).filter(|&u| u != v).collect();
///     lines.extend(proof.of(&Observer::node(v), &others)?);
/// }
/// lines.push(proof.end());
/// assert_eq!(lines.last().map(String::as_str), Some(r#"{"covers":"every-pair","end":"proof","largest":"1","pairs":6}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProofWriter<'p> {
    program: &'p Program,
    set: SensitivitySet,
    pairs: usize,
    largest: BigRational,
    /// The pairs whose observer is a single node, each once.
    alone: BTreeSet<(usize, usize)>,
    rests_on: BTreeSet<RestsOn>,
    assumptions: BTreeSet<Assumption>,
}

impl<'p> ProofWriter<'p> {
    /// Proofs about `program` under `set`.
    ///
    /// # Errors
    /// [`ProgramError::Witness`] where the format has no proofs: for patterns and bounds, and for a program
    /// with contributions that read hidden values.
    pub fn new(program: &'p Program, set: SensitivitySet) -> Result<Self, Error> {
        if matches!(set, SensitivitySet::Patterns { .. } | SensitivitySet::Bounded { .. }) {
            return Err(refused("no proof speaks of patterns or bounds of uses".to_owned()));
        }
        if program.contributions.iter().any(|contribution| matches!(contribution.reads, Reads::Hidden(_))) {
            return Err(refused("contributions read hidden values, of which no proof speaks".to_owned()));
        }
        let (rests_on, assumptions) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self {
            program,
            set,
            pairs: 0,
            largest: BigRational::zero(),
            alone: BTreeSet::new(),
            rests_on,
            assumptions,
        })
    }

    /// The first lines: the sensitivity set, and the program.
    #[must_use]
    pub fn head(&self) -> Vec<String> {
        let set = match &self.set {
            SensitivitySet::Along(weights) => {
                json!({"along": weights.iter().map(|&c| Weight::from(c).to_string()).collect::<Vec<_>>()})
            }
            set => json!(set),
        };
        let text = self.program.text();
        let mut lines = vec![json!({"ndp-proof": VERSION, "set": set}).to_string()];
        lines.extend(String::from_utf8_lossy(&text).lines().map(str::to_owned));
        lines.push(json!({"end": "program"}).to_string());
        lines
    }

    /// One line for every node of `sources`: a proof of what `observer` learns about it.
    ///
    /// # Errors
    /// Those of [`Program::account`] and of [`ProgramAccount::witnesses`]: a change that is seen without
    /// noise, an account that shows the observer values that it does not have, numbers that are too long;
    /// [`ProgramError::Witness`] if a contribution reads something that follows from what was seen only by
    /// elimination.
    pub fn of(&mut self, observer: &Observer, sources: &[usize]) -> Result<Vec<String>, Error> {
        let account = self.program.account(observer)?;
        self.require_plain_reads(&account)?;
        let uses = sources.iter().map(|&u| self.program.uses(u)).max().unwrap_or(0);
        let changes = match &self.set {
            SensitivitySet::SameDirection | SensitivitySet::Along(_) => 1,
            _ => uses,
        };
        let mut shared = Shared::of(changes);
        let lines: Result<Vec<String>, Error> =
            sources.iter().map(|&u| self.pair(&account, &mut shared, observer, u)).collect();
        if let ([v], true) = (observer.members(), observer.tapped.is_empty()) {
            self.alone.extend(sources.iter().map(|&u| (*v, u)));
        }
        self.rests_on.extend(account.rests_on(&self.set));
        self.assumptions.extend(account.assumptions());
        lines
    }

    /// The last line. It says that every pair is covered if every single node was asked about every other
    /// node.
    #[must_use]
    pub fn end(&self) -> String {
        let nodes = self.program.node_count();
        let every =
            self.pairs > 0 && self.alone.len() == self.pairs && self.pairs == nodes * nodes.saturating_sub(1);
        let covers = if every { "every-pair" } else { "these-pairs" };
        json!({"end": "proof", "pairs": self.pairs, "largest": self.largest.to_string(), "covers": covers})
            .to_string()
    }

    /// The sensitivity set.
    #[must_use]
    pub fn set(&self) -> &SensitivitySet {
        &self.set
    }

    /// What the proofs so far rest on besides their lines.
    #[must_use]
    pub fn rests_on(&self) -> BTreeSet<RestsOn> {
        RestsOn::together(self.rests_on.iter().cloned())
    }

    /// What the proofs so far take for granted.
    #[must_use]
    pub fn assumptions(&self) -> &BTreeSet<Assumption> {
        &self.assumptions
    }

    /// The number of pairs that have lines so far.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Adds the pairs of another writer about the same program, whose lines come before the end.
    pub fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.alone.extend(&other.alone);
        self.largest = self.largest.clone().max(other.largest.clone());
        self.rests_on.extend(other.rests_on.iter().cloned());
        self.assumptions.extend(&other.assumptions);
    }

    /// The largest loss so far, rounded up if it is not a float.
    #[must_use]
    pub fn largest(&self) -> f64 {
        let mut near = Weight::of(self.largest.clone()).to_f64();
        while BigRational::from_float(near).is_some_and(|near| near < self.largest) {
            near = near.next_up();
        }
        near
    }

    fn pair<'a>(
        &mut self,
        account: &'a ProgramAccount,
        shared: &mut Shared<'a>,
        observer: &Observer,
        source: usize,
    ) -> Result<String, Error> {
        let k = self.program.uses(source);
        let unit = |i: usize| (0..k).map(|j| Weight::from(i32::from(i == j))).collect::<Vec<_>>();
        let directions: Vec<Vec<Weight>> = match &self.set {
            SensitivitySet::SameDirection => vec![vec![Weight::from(1); k]],
            SensitivitySet::Along(weights) => vec![weights.iter().map(|&c| Weight::from(c)).collect()],
            _ => (0..k).map(unit).collect(),
        };
        let shift = |change: &Vec<Weight>, shared: &mut Shared<'a>| {
            Ok(account.witnesses_with(shared, source, change, Sides::Shift)?.1)
        };
        let found =
            directions.iter().map(|change| shift(change, shared)).collect::<Result<Vec<Witness>, Error>>()?;
        let shifts = Shifts::new(self.program, &found)?;
        let mut diagonal = None;
        let (upper, change) = match &self.set {
            SensitivitySet::Signs | SensitivitySet::Vectors { .. } => {
                let (costs, change) = (shifts.costs(), account.worst_change(source, &self.set)?);
                let sum = costs.sum_of_sizes();
                diagonal = costs.covering().filter(|d| d.iter().sum::<BigRational>() < sum);
                let upper = diagonal.as_ref().map_or(sum, |d| d.iter().sum());
                (upper, change.into_iter().map(Weight::from).collect())
            }
            _ => match shifts.largest() {
                Some((i, cost)) => (cost, directions[i].clone()),
                None => (BigRational::zero(), vec![Weight::from(0); k]),
            },
        };
        let attack = account.witnesses_with(shared, source, &change, Sides::Both)?.0;
        let lower = match self.program.check_attack(observer, &attack)? {
            Some(lower) => lower.exact("a loss")?.clone(),
            None => return Err(Error::Certify(ndp_certify::Error::NoiselessView(source))),
        };
        self.pairs += 1;
        self.largest = self.largest.clone().max(upper.clone());
        let change: Vec<String> = attack.change.iter().map(ToString::to_string).collect();
        let taps: Vec<[usize; 2]> = observer.tapped.iter().map(|&(a, b)| [a, b]).collect();
        let mut line = format!(r#"{{"attack":{{"change":{},"sum":"#, json!(change));
        write_table(&mut line, &attack.terms)?;
        line.push('}');
        if let Some(diagonal) = diagonal {
            let diagonal: Vec<String> = diagonal.iter().map(ToString::to_string).collect();
            _ = write!(line, r#","diagonal":{}"#, json!(diagonal));
        }
        let seen_by = json!({"members": observer.members(), "taps": taps});
        _ = write!(line, r#","lower":"{lower}","observer":{seen_by},"shifts":["#);
        for (i, shift) in found.iter().enumerate() {
            if i > 0 {
                line.push(',');
            }
            write_table(&mut line, &shift.terms)?;
        }
        _ = write!(line, r#"],"source":{source},"upper":"{upper}"}}"#);
        Ok(line)
    }

    /// What is read must follow from what was seen by the program's own sums, as a checker decides no rank.
    fn require_plain_reads(&self, account: &ProgramAccount) -> Result<(), Error> {
        match adaptivity::not_plain(self.program, &account.seen) {
            Some(hidden) => Err(refused(format!(
                "value {} is read and follows from what was seen only by elimination, which no proof shows",
                hidden.index()
            ))),
            None => Ok(()),
        }
    }
}

fn refused(why: String) -> Error {
    ProgramError::Witness(why).into()
}

/// Writes values and their weights, of which there are millions.
fn write_table(line: &mut String, terms: &[(Value, Weight)]) -> Result<(), Error> {
    line.push('{');
    let mut is_first = true;
    for (value, weight) in terms.iter().filter(|(_, weight)| !weight.is_zero()) {
        if !is_first {
            line.push(',');
        }
        is_first = false;
        let x = weight.exact("a weight")?;
        // Writing into a string does not fail.
        _ = match (x.numer().to_i64(), x.denom().to_i64()) {
            (Some(above), Some(1)) => write!(line, r#""v{}":"{above}""#, value.index()),
            (Some(above), Some(below)) => write!(line, r#""v{}":"{above}/{below}""#, value.index()),
            _ => write!(line, r#""v{}":"{x}""#, value.index()),
        };
    }
    line.push('}');
    Ok(())
}

#[cfg(test)]
#[path = "tests/proof.rs"]
mod tests;
