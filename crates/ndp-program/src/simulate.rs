//! Runs a program on real values. The account is made of the same object, so that what runs is what is
//! accounted for.

use crate::account::ProgramAccount;
use crate::build::{Event, Program, Seeing, Value};
use crate::observers::SeenRow;
use crate::registers::{Definition, Primitive};
use crate::sensitivity::{Patterns, SensitivitySet};
use crate::weight::float;
use crate::{ProgramError, Weight};
use ndarray::{Array1, Array2, ArrayView1};
use ndp_account::Error;
use ndp_dp::NoiseMultiplier;
use ndp_linalg::cholesky;
use num_traits::{One, Zero};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::collections::BTreeMap;

/// All values of a run, as a matrix of values by coordinates.
///
/// # Examples
/// ```
/// use ndp_program::{Program, Reads};
/// use ndp_dp::NoiseMultiplier;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let mut program = Program::new(2)?;
/// let x = program.contribute_all(Reads::Nothing)?;
/// let sum = program.add(&x)?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let run = program.run(1, NoiseMultiplier::new(1.0)?, |node, _, _| Ok(vec![1.0 + node as f64]), rng)?;
/// assert_eq!(run.value(sum).map(|sum| sum[0]), Some(3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    values: Array2<f64>,
    made: usize,
}

impl Run {
    /// A value; `None` if the run has not reached it yet.
    #[must_use]
    pub fn value(&self, value: Value) -> Option<ArrayView1<'_, f64>> {
        (value.index() < self.made).then(|| self.values.row(value.index()))
    }
}

impl Program {
    /// Runs the program on vectors of length `dimension`. Contributions are asked for when they are due, with
    /// the node, the index of its use, from 0, and the run so far. The noises have `noise` times the standard
    /// deviation that the program states. Coordinates are independent.
    ///
    /// The noise is drawn in floating point, for studies only. A real release needs noise that is drawn
    /// exactly ([`ndp_dp::DiscreteGaussian`]), and an account of its own.
    ///
    /// # Errors
    /// Those of `contribution`; [`ProgramError::Shape`] for a contribution of another length;
    /// [`ndp_certify::Error::TooLarge`]; [`Error::InvalidParameter`] where a weight, or the standard deviation
    /// of a noise, is beyond floats: the account is about the exact number, and a run with 0 in its place
    /// would send something else. Likewise for a value that is not finite.
    pub fn run(
        &self,
        dimension: usize,
        noise: NoiseMultiplier,
        mut contribution: impl FnMut(usize, usize, &Run) -> Result<Vec<f64>, Error>,
        rng: &mut dyn Rng,
    ) -> Result<Run, Error> {
        ndp_linalg::memory::require_dense("the values of a run", self.values.len(), dimension)?;
        let mut run = Run { values: Array2::zeros((self.values.len(), dimension)), made: 0 };
        for (k, definition) in self.values.iter().enumerate() {
            let next = match definition {
                Definition::Contribution(c) => {
                    let due = &self.contributions[*c];
                    let given = contribution(due.node, due.index, &run)?;
                    if given.len() != dimension {
                        let what = "coordinates of a contribution";
                        return Err(
                            ProgramError::Shape { what, expected: dimension, got: given.len() }.into()
                        );
                    }
                    Array1::from(given)
                }
                Definition::Noise(z) => {
                    let variance = &self.noises[*z].variance;
                    let deviation = float(variance).sqrt() * noise.get();
                    if !variance.is_zero() {
                        within_floats("the standard deviation of a noise", deviation)?;
                    }
                    let draw = |_| -> f64 { StandardNormal.sample(rng) };
                    let drawn: Array1<f64> = (0..dimension).map(draw).collect();
                    drawn * deviation
                }
                made => {
                    for (_, weight) in made.terms().into_iter().filter(|(_, weight)| !weight.is_zero()) {
                        within_floats("the size of a weight", float(weight).abs())?;
                    }
                    sum(made, &run.values)
                }
            };
            if let Some(&value) = next.iter().find(|x| !x.is_finite()) {
                return Err(Error::InvalidParameter {
                    name: "a value of a run",
                    condition: "be finite",
                    value,
                });
            }
            run.values.row_mut(k).assign(&next);
            run.made = k + 1;
        }
        Ok(run)
    }

    /// The number of messages, one for each receiver: a broadcast has all other nodes as receivers, and in a
    /// secure sum each addend goes to the node that learns it.
    pub(super) fn sent(&self) -> usize {
        let receivers = |event: &Event| match &event.seeing {
            Seeing::Held { .. } => 0,
            Seeing::Message { .. } => 1,
            Seeing::Broadcast { from } => self.nodes - usize::from(from.is_some()),
            Seeing::SecureSum { to, group } => group.iter().filter(|&node| node != to).count(),
        };
        self.events.iter().map(receivers).sum()
    }

    /// The part of the values that is known: the run without everything unknown.
    fn known_part(&self, known: impl Fn(Primitive) -> bool, run: &Run) -> Array2<f64> {
        let mut values = Array2::zeros(run.values.dim());
        for (k, definition) in self.values.iter().enumerate() {
            let primitive = match definition {
                Definition::Contribution(c) => Some(Primitive::Contribution(*c)),
                Definition::Noise(z) => Some(Primitive::Noise(*z)),
                _ => None,
            };
            match primitive {
                Some(primitive) if known(primitive) => values.row_mut(k).assign(&run.values.row(k)),
                Some(_) => {}
                None => {
                    let next = sum(definition, &values);
                    values.row_mut(k).assign(&next);
                }
            }
        }
        values
    }
}

/// Refuses what rounds to 0 or to infinity, for a weight or a noise that is neither.
fn within_floats(name: &'static str, value: f64) -> Result<(), Error> {
    let condition = "be a positive float, to run";
    let fits = value > 0.0 && value.is_finite();
    if fits { Ok(()) } else { Err(Error::InvalidParameter { name, condition, value }) }
}

fn sum(definition: &Definition, values: &Array2<f64>) -> Array1<f64> {
    let mut sum = Array1::zeros(values.ncols());
    for (term, weight) in definition.terms() {
        let weight = if weight.is_one() { 1.0 } else { float(weight) };
        sum.scaled_add(weight, &values.row(term));
    }
    sum
}

/// The likelihood ratio of a change, as weights of seen values.
pub(super) struct Statistic {
    source: usize,
    change: Vec<f64>,
    terms: Vec<(usize, f64)>,
    /// How far the change moves the statistic, divided by its standard deviation at noise 1.
    shown: f64,
    /// Whether the observer knows a noise or a contribution.
    known: BTreeMap<Primitive, bool>,
}

impl Statistic {
    /// The best statistic about a change of the uses of `source`.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where the account shows the observer values that it does not see: a statistic of
    /// these is no attack on what it does see. Those of witnesses.
    pub(super) fn new(account: &ProgramAccount, source: usize, change: &[f64]) -> Result<Self, Error> {
        if account.adaptivity.is_revealed() {
            return Err(Error::NotOffered(
                "contributions read values that this observer does not see: no attack on what it sees is known",
            ));
        }
        let seen = account.completed()?;
        let rows = &seen.rows;
        let r = rows.len();
        let parts: Vec<BTreeMap<Primitive, f64>> =
            rows.iter().map(|row| row.form.iter().map(|(p, x)| (*p, float(x))).collect()).collect();
        let shift = |row: &BTreeMap<Primitive, f64>| -> f64 {
            let terms = row.iter().filter_map(|(primitive, x)| match primitive {
                Primitive::Contribution(k) => {
                    let c = &account.program.contributions[*k];
                    (c.node == source).then(|| x * change[c.index])
                }
                Primitive::Noise(_) => None,
            });
            // The order of summation is fixed.
            let mut terms: Vec<f64> = terms.collect();
            terms.sort_by(f64::total_cmp);
            terms.iter().sum()
        };
        let shifts: Vec<f64> = parts.iter().map(shift).collect();
        let exact: Vec<Weight> = change.iter().map(|&x| Weight::from(x)).collect();
        // If nothing is learned, there are no weights: all scores are 0.
        let terms: Vec<(usize, f64)> = match r <= MAX_EXACT {
            true => {
                let (attack, _) = account.witnesses(source, &exact)?;
                let terms = attack.terms.iter();
                terms.map(|(value, weight)| (value.index(), weight.to_f64())).collect()
            }
            false => {
                let mut covariance = Array2::<f64>::zeros((r, r));
                for i in 0..r {
                    let mut keys: Vec<&Primitive> = parts[i].keys().collect();
                    keys.sort_unstable();
                    for j in 0..=i {
                        let mut product = 0.0;
                        for key in &keys {
                            if let (Primitive::Noise(k), Some(y)) = (key, parts[j].get(*key)) {
                                product += parts[i][*key] * y * float(&account.program.noises[*k].variance);
                            }
                        }
                        (covariance[(i, j)], covariance[(j, i)]) = (product, product);
                    }
                }
                // Every message gets a little noise of its own, the size of its rounding: this makes the
                // attack weaker, never stronger.
                let ridge = covariance.diag().iter().fold(0.0, |m: f64, &x| m.max(x)) * 1e-10;
                covariance.diag_mut().iter_mut().for_each(|x| *x += ridge);
                let b = Array2::from_shape_fn((r, 1), |(k, _)| shifts[k]);
                let y = cholesky(covariance.view())?.solve(b.view())?;
                rows.iter().zip(y.iter()).map(|(row, &y)| (row.value, y)).collect()
            }
        };
        let shown = shown(account, &terms, rows, &parts, &shifts);
        let mut known = BTreeMap::new();
        for (k, c) in account.program.contributions.iter().enumerate() {
            known.insert(Primitive::Contribution(k), account.seen.members[c.node]);
        }
        for (k, noise) in account.program.noises.iter().enumerate() {
            known.insert(Primitive::Noise(k), account.seen.known_from[noise.value].is_some());
        }
        Ok(Self { source, change: change.to_vec(), terms, shown, known })
    }

    /// The `μ` that follows from the shift and the spread of the statistic.
    pub(super) fn shown_mu(&self, noise: NoiseMultiplier) -> f64 {
        self.shown / noise.get()
    }

    /// Scores of independent runs in one of the two worlds: all contributions are 0, or those of the source
    /// are changed.
    pub(super) fn scores(
        &self,
        program: &Program,
        higher: bool,
        runs: usize,
        noise: NoiseMultiplier,
        rng: &mut dyn Rng,
    ) -> Result<Vec<f64>, Error> {
        let given = |node: usize, index: usize, _: &Run| {
            let own = node == self.source && higher;
            Ok(vec![if own { self.change[index] } else { 0.0 }; runs])
        };
        let run = program.run(runs, noise, given, rng)?;
        let known = program.known_part(|primitive| self.known.get(&primitive) == Some(&true), &run);
        let mut scores = Array1::<f64>::zeros(runs);
        for &(value, weight) in &self.terms {
            scores.scaled_add(weight, &run.values.row(value));
            scores.scaled_add(-weight, &known.row(value));
        }
        Ok(scores.to_vec())
    }
}

/// The shift divided by the standard deviation of a sum of rows. Every row has in addition a little noise of
/// its own, the size of its rounding: the result may be too small, but not too large.
fn shown(
    account: &ProgramAccount,
    terms: &[(usize, f64)],
    rows: &[SeenRow],
    parts: &[BTreeMap<Primitive, f64>],
    shifts: &[f64],
) -> f64 {
    let number: BTreeMap<usize, usize> = rows.iter().enumerate().map(|(k, row)| (row.value, k)).collect();
    let (mut shift, mut variance) = (0.0, 0.0);
    let mut noises: BTreeMap<usize, f64> = BTreeMap::new();
    for (value, weight) in terms {
        let Some(&row) = number.get(value) else { return 0.0 };
        shift += weight * shifts[row];
        variance += (ROUNDING * weight).powi(2);
        for (primitive, x) in &parts[row] {
            if let Primitive::Noise(k) = primitive {
                *noises.entry(*k).or_insert(0.0) += weight * x;
            }
        }
    }
    variance += noises.iter().map(|(&k, x)| x * x * float(&account.program.noises[k].variance)).sum::<f64>();
    if variance > 0.0 { f64::abs(shift) / variance.sqrt() } else { 0.0 }
}

impl ProgramAccount {
    /// A change in the set that the observer sees well: for an attack, not for a guarantee.
    pub(super) fn worst_change(&self, source: usize, set: &SensitivitySet) -> Result<Vec<f64>, Error> {
        let all: Vec<usize> = (0..self.node(source)?.uses).collect();
        self.worst_change_of(source, set, &all)
    }

    /// The same if only these uses change.
    fn worst_change_of(
        &self,
        source: usize,
        set: &SensitivitySet,
        uses: &[usize],
    ) -> Result<Vec<f64>, Error> {
        let gram = self.node(source)?;
        let k = gram.uses;
        let best = |uses: &[usize]| {
            let high = |i: &usize| gram.diagonal(*i).high;
            uses.iter().copied().max_by(|i, j| high(i).total_cmp(&high(j)))
        };
        let only = |mut change: Vec<f64>| {
            (0..k).filter(|i| !uses.contains(i)).for_each(|i| change[i] = 0.0);
            change
        };
        Ok(match set {
            SensitivitySet::SameDirection => only(vec![1.0; k]),
            SensitivitySet::Along(weights) if weights.len() == k => only(weights.clone()),
            SensitivitySet::Bounded { bounds, within } if bounds.len() == k => {
                let inner = self.worst_change_of(source, within, uses)?;
                inner.iter().zip(bounds).map(|(x, b)| x * b).collect()
            }
            SensitivitySet::Patterns { patterns, within } => {
                // The pattern of the use that is seen best, among the uses that are in a pattern.
                let with = |first: usize, step: usize| (first % step..k).step_by(step).collect();
                let pattern: Vec<usize> = match (patterns, best(uses)) {
                    (Patterns::Cyclic { period: step } | Patterns::Separated { gap: step }, Some(first)) => {
                        with(first, (*step).max(1))
                    }
                    (Patterns::Listed(listed), _) => {
                        let inside: Vec<usize> =
                            listed.iter().flatten().copied().filter(|&i| i < k).collect();
                        let best = best(&inside);
                        let found = listed.iter().find(|pattern| best.is_some_and(|i| pattern.contains(&i)));
                        found.cloned().unwrap_or_default()
                    }
                    (_, None) => Vec::new(),
                };
                self.worst_change_of(source, within, &pattern)?
            }
            SensitivitySet::Signs | SensitivitySet::Vectors { .. } => {
                // Signs by flips, beginning with all signs equal.
                let entry = |i: usize, j: usize| gram.entry(i, j).map_or(0.0, |(x, _)| x);
                let mut signs = vec![1.0; k];
                for _ in 0..2 * k {
                    for i in 0..k {
                        let product: f64 = (0..k).filter(|&j| j != i).map(|j| entry(i, j) * signs[j]).sum();
                        signs[i] = if product < 0.0 { -1.0 } else { 1.0 };
                    }
                }
                only(signs)
            }
            _ => {
                let best = best(uses);
                (0..k).map(|i| f64::from(u8::from(Some(i) == best))).collect()
            }
        })
    }
}

/// The standard deviation of the rounding of a message, in units of the noise.
const ROUNDING: f64 = 1e-13;
/// The largest number of rows for which the statistic is computed exactly.
const MAX_EXACT: usize = 48;
