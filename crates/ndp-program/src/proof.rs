//! Proof files: a program, and for every pair of an observer and a node two vectors that prove the loss from
//! both sides, for somebody who has none of this library. The format is described in `docs/formats.md`,
//! "Proofs".
//!
//! For a change `δ` of the uses of a node, a shift `x` of noises with `R x = B δ` proves
//! `Q(δ) ≤ xᵀ V⁻¹ x`; for all changes at once, shifts `X` with `R X = B` prove `G ≤ P = Xᵀ V⁻¹ X`, so that
//! with a diagonal `D ≥ P` the loss under signs and vectors is at most `tr D`, and at most `Σ |P_ij|`. An
//! attack `y` proves `Q(δ) ≥ (yᵀ B δ)² / (yᵀ R V Rᵀ y)`.

use crate::account::ProgramAccount;
use crate::adaptivity::Dependence;
use crate::build::{Program, Reads, Value};
use crate::registers::Definition;
use crate::sensitivity::SensitivitySet;
use crate::witness::Shared;
use crate::{ProgramError, Weight, Witness};
use ndp_account::{Error, Observer};
use ndp_certify::divisor::least_common_multiple;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The version of the format.
const VERSION: u64 = 1;

/// A program and what may differ, of which proofs are written line by line.
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
    /// How many of the pairs are of a node alone.
    alone: usize,
}

impl<'p> ProofWriter<'p> {
    /// Proofs about `program` under `set`.
    ///
    /// # Errors
    /// [`ProgramError::Witness`] for a set that proofs do not speak of: patterns and bounds.
    pub fn new(program: &'p Program, set: SensitivitySet) -> Result<Self, Error> {
        if matches!(set, SensitivitySet::Patterns { .. } | SensitivitySet::Bounded { .. }) {
            return Err(refused("no proof speaks of patterns or bounds of uses".to_owned()));
        }
        Ok(Self { program, set, pairs: 0, largest: BigRational::zero(), alone: 0 })
    }

    /// The first lines: what may differ, and the program.
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

    /// A line for every node of `sources`: what `observer` learns about it, with proof.
    ///
    /// # Errors
    /// Those of [`Program::account`] and of [`ProgramAccount::witnesses`]: a change that is seen without
    /// noise, an account that shows the observer what it does not have, numbers that are too long;
    /// [`ProgramError::Witness`] where a contribution reads what follows from what was seen only by
    /// elimination.
    pub fn of(&mut self, observer: &Observer, sources: &[usize]) -> Result<Vec<String>, Error> {
        let account = self.program.account(observer)?;
        if account.adaptivity == Dependence::Revealed {
            return Err(ProgramError::WitnessOfRevealed.into());
        }
        self.require_plain_reads(&account)?;
        let mut shared = Shared::default();
        let lines: Result<Vec<String>, Error> =
            sources.iter().map(|&u| self.pair(&account, &mut shared, observer, u)).collect();
        if observer.members().len() == 1 && observer.tapped.is_empty() {
            self.alone += sources.len();
        }
        lines
    }

    /// The last line. It says that every pair is covered where every node alone was asked about every other.
    #[must_use]
    pub fn end(&self) -> String {
        let nodes = self.program.node_count();
        let every = self.alone == self.pairs && self.pairs == nodes * nodes.saturating_sub(1);
        let covers = if every { "every-pair" } else { "these-pairs" };
        json!({"end": "proof", "pairs": self.pairs, "largest": self.largest.to_string(), "covers": covers})
            .to_string()
    }

    /// What may differ.
    #[must_use]
    pub fn set(&self) -> &SensitivitySet {
        &self.set
    }

    /// How many pairs have lines so far.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Counts the pairs of another writer about the same program, whose lines come before the end.
    pub fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.alone += other.alone;
        self.largest = self.largest.clone().max(other.largest.clone());
    }

    /// The largest loss so far, rounded up.
    #[must_use]
    pub fn largest(&self) -> f64 {
        Weight::of(self.largest.clone()).to_f64().next_up()
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
        let mut found: Vec<(Witness, Witness)> = Vec::new();
        for change in &directions {
            found.push(account.witnesses_with(shared, source, change)?);
        }
        let shifts: Vec<&Witness> = found.iter().map(|(_, shift)| shift).collect();
        let mut diagonal = None;
        let (upper, attack) = match &self.set {
            SensitivitySet::Signs | SensitivitySet::Vectors { .. } => {
                let gram = self.costs(&shifts)?;
                let change: Vec<Weight> =
                    account.worst_change(source, &self.set)?.into_iter().map(Weight::from).collect();
                let sum: BigRational = gram.iter().flatten().map(Signed::abs).sum();
                diagonal = covering(&gram).filter(|d| d.iter().sum::<BigRational>() < sum);
                let upper = diagonal.as_ref().map_or(sum, |d| d.iter().sum());
                (upper, account.witnesses_with(shared, source, &change)?.0)
            }
            _ => {
                let costs = shifts.iter().map(|shift| self.cost(shift)).collect::<Result<Vec<_>, _>>()?;
                let best = costs.into_iter().zip(&found).reduce(|a, b| if b.0 > a.0 { b } else { a });
                let nothing = Witness { source, change: vec![Weight::from(0); k], terms: Vec::new() };
                let (upper, attack) = best.map_or((BigRational::zero(), nothing), |(x, y)| (x, y.0.clone()));
                (upper, attack)
            }
        };
        let lower = match self.program.check_attack(observer, &attack)? {
            Some(lower) => lower.exact("a loss")?.clone(),
            None => return Err(Error::Certify(ndp_certify::Error::NoiselessView(source))),
        };
        self.pairs += 1;
        self.largest = self.largest.clone().max(upper.clone());
        let change: Vec<String> = attack.change.iter().map(ToString::to_string).collect();
        let taps: Vec<[usize; 2]> = observer.tapped.iter().map(|&(a, b)| [a, b]).collect();
        let mut line = json!({
            "observer": {"members": observer.members(), "taps": taps}, "source": source,
            "upper": upper.to_string(), "lower": lower.to_string(),
            "shifts": shifts.iter().map(|shift| table(&shift.terms)).collect::<Vec<_>>(),
            "attack": {"change": change, "sum": table(&attack.terms)},
        });
        if let Some(diagonal) = diagonal {
            line["diagonal"] = json!(diagonal.iter().map(ToString::to_string).collect::<Vec<_>>());
        }
        Ok(line.to_string())
    }

    /// `xᵀ V⁻¹ x` for a shift `x`, over one denominator for each variance.
    fn cost(&self, shift: &Witness) -> Result<BigRational, Error> {
        let mut common = BigInt::one();
        for (_, by) in &shift.terms {
            common = least_common_multiple(common, by.exact("a weight")?.denom());
        }
        let mut sums: BTreeMap<&BigRational, BigInt> = BTreeMap::new();
        for (value, by) in &shift.terms {
            let by = by.exact("a weight")?;
            let whole = by.numer() * (&common / by.denom());
            *sums.entry(&self.noise(*value)?.variance).or_default() += &whole * &whole;
        }
        let sums = sums.into_iter().filter(|(_, sum)| !sum.is_zero());
        let total: BigRational = sums.map(|(variance, sum)| BigRational::from_integer(sum) / variance).sum();
        Ok(total / (&common * &common))
    }

    fn noise(&self, value: Value) -> Result<&crate::build::Noise, Error> {
        match self.program.values.get(value.index()) {
            Some(Definition::Noise(k)) => Ok(&self.program.noises[*k]),
            _ => Err(refused(format!("value {} is no noise", value.index()))),
        }
    }

    /// `Xᵀ V⁻¹ X` for shifts `X`.
    fn costs(&self, shifts: &[&Witness]) -> Result<Vec<Vec<BigRational>>, Error> {
        let by_noise = |shift: &Witness| -> Result<Vec<(usize, BigRational, BigRational)>, Error> {
            let mut found = Vec::new();
            for (value, by) in &shift.terms {
                let (by, noise) = (by.exact("a weight")?, self.noise(*value)?);
                if !by.is_zero() {
                    found.push((noise.value, by.clone(), by / &noise.variance));
                }
            }
            found.sort_by_key(|(k, ..)| *k);
            Ok(found)
        };
        let shifts = shifts.iter().map(|shift| by_noise(shift)).collect::<Result<Vec<_>, _>>()?;
        let product = |a: &[(usize, BigRational, BigRational)], b: &[(usize, BigRational, BigRational)]| {
            let term = |(k, _, price): &(usize, BigRational, BigRational)| {
                let at = b.binary_search_by_key(k, |(other, ..)| *other).ok()?;
                Some(price * &b[at].1)
            };
            a.iter().filter_map(term).sum::<BigRational>()
        };
        Ok(shifts.iter().map(|a| shifts.iter().map(|b| product(a, b)).collect()).collect())
    }

    /// What is read must follow from what was seen by the program's own sums: a checker decides no rank.
    fn require_plain_reads(&self, account: &ProgramAccount) -> Result<(), Error> {
        for contribution in self.program.contributions.iter() {
            let Reads::Seen(Some(read)) = &contribution.reads else { continue };
            let own = |v: usize| {
                matches!(self.program.values[v], Definition::Contribution(k)
                    if self.program.contributions[k].node == contribution.node)
            };
            let known = |v: usize| account.seen.known_from[v].is_some_and(|from| from < contribution.moment);
            if let Some(hidden) = read.iter().find(|v| !own(v.index()) && !known(v.index())) {
                return Err(refused(format!(
                    "value {} is read and follows from what was seen only by elimination, which no proof shows",
                    hidden.index()
                )));
            }
        }
        Ok(())
    }
}

fn refused(why: String) -> Error {
    ProgramError::Witness(why).into()
}

/// Values and their weights.
fn table(terms: &[(Value, Weight)]) -> Map<String, Json> {
    let shown = terms.iter().filter(|(_, weight)| !weight.is_zero());
    shown.map(|(value, weight)| (format!("v{}", value.index()), Json::String(weight.to_string()))).collect()
}

/// A diagonal `D` with `D - P` positive semidefinite, found in floating point by improving unit vectors one
/// by one, made larger until elimination in fractions accepts it; `None` where that does not come about.
fn covering(costs: &[Vec<BigRational>]) -> Option<Vec<BigRational>> {
    let k = costs.len();
    if k > MAX_COVERED {
        return None;
    }
    let float: Vec<Vec<f64>> =
        costs.iter().map(|row| row.iter().map(|x| Weight::of(x.clone()).to_f64()).collect()).collect();
    // Unit vectors in as many dimensions as there are uses, seeded apart.
    let mut vectors: Vec<Vec<f64>> =
        (0..k).map(|i| (0..k).map(|d| 1.0 / (1.0 + ((i * 7 + d * 3) % (k + 1)) as f64)).collect()).collect();
    let pull = |vectors: &[Vec<f64>], i: usize, with_own: bool| -> Vec<f64> {
        let others = (0..k).filter(|&j| with_own || j != i);
        others.fold(vec![0.0; k], |mut sum, j| {
            sum.iter_mut().zip(&vectors[j]).for_each(|(s, x)| *s += float[i][j] * x);
            sum
        })
    };
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    for vector in &mut vectors {
        let length = norm(vector);
        vector.iter_mut().for_each(|x| *x /= length);
    }
    for _ in 0..SWEEPS {
        for i in 0..k {
            let g = pull(&vectors, i, false);
            let length = norm(&g);
            if length > 0.0 {
                vectors[i] = g.iter().map(|x| x / length).collect();
            }
        }
    }
    let scale = float.iter().enumerate().map(|(i, row)| row[i]).fold(0.0, f64::max);
    (0..TRIES).find_map(|attempt| {
        let more = scale * 1e-12 * 32.0_f64.powi(attempt);
        let diagonal: Option<Vec<BigRational>> =
            (0..k).map(|i| BigRational::from_float(norm(&pull(&vectors, i, true)) + more)).collect();
        diagonal.filter(|diagonal| is_covered(costs, diagonal))
    })
}

/// Uses up to which a diagonal is sought: elimination in fractions takes long.
const MAX_COVERED: usize = 16;
/// Sweeps over the unit vectors.
const SWEEPS: usize = 1000;
/// How often the diagonal is made larger.
const TRIES: i32 = 9;

/// Whether `D - P` is positive semidefinite, by elimination.
fn is_covered(costs: &[Vec<BigRational>], diagonal: &[BigRational]) -> bool {
    let k = costs.len();
    let mut rows: Vec<Vec<BigRational>> = (0..k)
        .map(|i| (0..k).map(|j| if i == j { &diagonal[i] - &costs[i][i] } else { -&costs[i][j] }).collect())
        .collect();
    for i in 0..k {
        let (done, rest) = rows.split_at_mut(i + 1);
        let pivot = &done[i];
        if pivot[i].is_negative() || (pivot[i].is_zero() && pivot[i + 1..].iter().any(|x| !x.is_zero())) {
            return false;
        }
        if pivot[i].is_zero() {
            continue;
        }
        let inverse = BigRational::one() / &pivot[i];
        for row in rest {
            let factor = &row[i] * &inverse;
            if !factor.is_zero() {
                row.iter_mut().zip(pivot).skip(i).for_each(|(x, p)| *x -= &factor * p);
            }
        }
    }
    true
}

#[cfg(test)]
#[path = "tests/proof.rs"]
mod tests;
