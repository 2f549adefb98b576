//! Witnesses: two vectors that prove a loss from both sides, checked in exact arithmetic without deciding a rank.
//!
//! For a change `δ` of the uses of a node and `b = B δ`,
//!
//! ```text
//! max over y of (yᵀ b)² / (yᵀ R V Rᵀ y)  =  Q(δ)  =  min of xᵀ V⁻¹ x over R x = b:
//! ```
//!
//! any combination `y` of messages is an *attack* and proves a lower bound; any shift `x` of the noises that looks like the change in
//! *every* row proves an upper bound. Proof: `(yᵀ R x)² ≤ (yᵀ R V Rᵀ y) (xᵀ V⁻¹ x)`.

use super::account::ProgramAccount;
use super::adaptivity::Dependence;
use super::build::{Program, Value};
use super::noiseless::{Combination, shift_of};
use super::observers::Seen;
use super::options::AccountOptions;
use super::registers::Primitive;
use super::{ProgramError, Weight, pivots, sparse};
use crate::Error;
use crate::accountant::Observer;
use num_rational::BigRational;
use num_traits::Zero;
use std::collections::BTreeMap;

/// A combination of messages that tells a change of a node's uses from none.
#[derive(Clone, Debug, PartialEq)]
pub struct AttackWitness {
    /// The node.
    pub source: usize,
    /// How its uses change, one weight for each.
    pub change: Vec<Weight>,
    /// The combination.
    pub combination: Combination,
}

/// A shift of noises that looks to the observer like a change of a node's uses.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseShift {
    /// The node.
    pub source: usize,
    /// How its uses change, one weight for each.
    pub change: Vec<Weight>,
    /// Noises and how far each is shifted.
    pub noises: Vec<(Value, Weight)>,
}

impl Program {
    /// The loss that an attack proves at least: `(yᵀ b)² / (yᵀ R V Rᵀ y)`, exactly.
    ///
    /// # Errors
    /// [`ProgramError::Witness`] when a value is not seen, or the combination shows neither noise nor change; a bad observer.
    pub fn check_attack(&self, observer: &Observer, attack: &AttackWitness) -> Result<AttackBound, Error> {
        let seen = Seen::new(self, observer, &BTreeMap::new())?;
        let change = self.change(&seen, attack.source, &attack.change)?;
        let mut form: BTreeMap<Primitive, BigRational> = BTreeMap::new();
        for (value, weight) in &attack.combination.terms {
            let number = self.check(*value)?;
            if seen.known_from[number].is_none() {
                return Err(refused(format!("value {number} is not seen")));
            }
            let weight = weight.exact("a weight")?;
            for (primitive, x) in self.form(number) {
                *form.entry(primitive).or_insert_with(BigRational::zero) += weight * x;
            }
        }
        let (mut shift, mut variance) = (BigRational::zero(), BigRational::zero());
        for (primitive, x) in &form {
            match primitive {
                Primitive::Contribution(k) => {
                    if let Some(delta) = change.get(k) {
                        shift += x * delta;
                    }
                }
                Primitive::Noise(k) if seen.known_from[self.noises[*k].value].is_none() => {
                    variance += x * x * &self.noises[*k].variance;
                }
                Primitive::Noise(_) => {}
            }
        }
        if shift.is_zero() {
            return Err(refused("the combination does not show the change".to_owned()));
        }
        if variance.is_zero() {
            return Ok(AttackBound::Noiseless);
        }
        Ok(AttackBound::AtLeast(Weight::of(&shift * &shift / variance)))
    }

    /// The loss that a noise shift proves at most: `xᵀ V⁻¹ x`, exactly.
    ///
    /// # Errors
    /// [`ProgramError::Witness`] when the shift and the change look different in some row, or a noise is shifted that the
    /// observer knows; a bad observer.
    pub fn check_shift(&self, observer: &Observer, shift: &NoiseShift) -> Result<Weight, Error> {
        let seen = Seen::new(self, observer, &BTreeMap::new())?;
        let change = self.change(&seen, shift.source, &shift.change)?;
        let numbers: BTreeMap<usize, usize> =
            self.noises.iter().enumerate().map(|(k, noise)| (noise.value, k)).collect();
        let mut moved: BTreeMap<usize, BigRational> = BTreeMap::new();
        let mut price = BigRational::zero();
        for (value, by) in &shift.noises {
            let number = self.check(*value)?;
            let by = by.exact("a weight")?;
            let noise = numbers.get(&number);
            let noise = *noise.ok_or_else(|| refused(format!("value {number} is no noise")))?;
            let variance = &self.noises[noise].variance;
            if by.is_zero() {
                continue;
            }
            if seen.known_from[number].is_some() || variance.is_zero() {
                return Err(refused(format!("the observer knows noise {number}")));
            }
            if moved.insert(noise, by.clone()).is_some() {
                return Err(refused(format!("noise {number} is shifted twice")));
            }
            price += by * by / variance;
        }
        for row in &seen.rows {
            let mut rest = BigRational::zero();
            for (primitive, x) in &row.form {
                match primitive {
                    Primitive::Contribution(k) => {
                        if let Some(delta) = change.get(k) {
                            rest += x * delta;
                        }
                    }
                    Primitive::Noise(k) => {
                        if let Some(by) = moved.get(k) {
                            rest -= x * by;
                        }
                    }
                }
            }
            if !rest.is_zero() {
                return Err(refused(format!("value {} shows the change", row.value)));
            }
        }
        Ok(Weight::of(price))
    }
}

/// What an attack proves.
#[derive(Clone, Debug, PartialEq)]
pub enum AttackBound {
    /// The loss is at least this.
    AtLeast(Weight),
    /// The combination shows the change without noise.
    Noiseless,
}

impl ProgramAccount {
    /// The best attack on a change of the uses of `source` and the noise shift that matches it: exact solutions, so that both
    /// prove the same number. Views of more than 160 rows that all bring a noise which no row before them has get witnesses between
    /// which the loss lies, a little apart; what they prove is exact. `None` for other large views, where nothing is learned, or where the account
    /// shows the observer values that it does not have.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`], [`ProgramError::Member`], [`ProgramError::Shape`]; [`ProgramError::NotFinite`];
    /// [`Error::NoiselessView`] where the change is seen without noise.
    ///
    /// # Complexity
    /// `O(r³)` operations on rationals for `r` rows, at most 160.
    pub fn witnesses(
        &self,
        source: usize,
        change: &[Weight],
    ) -> Result<Option<(AttackWitness, NoiseShift)>, Error> {
        let program = &self.program;
        let by_use = program.change(&self.seen, source, change)?;
        let seen = &*self.completed()?;
        let rows = &seen.rows;
        // Values that were shown to the observer it does not have.
        if self.adaptivity() == Dependence::Revealed {
            return Ok(None);
        }
        let shifts: Vec<BigRational> = rows.iter().map(|row| shift_of(&row.form, &by_use)).collect();
        let value = |number: usize| Value(u32::try_from(number).unwrap_or(u32::MAX));
        if rows.len() > MAX_EXACT {
            if shifts.iter().all(BigRational::is_zero) {
                return Ok(None);
            }
            let memory = AccountOptions::default().memory_limit;
            let found = match sparse::witness(program, seen, &shifts, memory)? {
                Some(found) => Some(found),
                None => pivots::witness(program, seen, &shifts, memory)?,
            };
            return Ok(found.map(|(attack, moved)| {
                let terms =
                    attack.into_iter().map(|(r, y)| (value(rows[r].value), Weight::from(y))).collect();
                let noises = moved.into_iter().map(|(k, x)| (value(program.noises[k].value), Weight::of(x)));
                let (change, noises) = (change.to_vec(), noises.collect());
                (
                    AttackWitness { source, change: change.clone(), combination: Combination { terms } },
                    NoiseShift { source, change, noises },
                )
            }));
        }
        let noise_part = |r: usize| -> BTreeMap<usize, BigRational> {
            let noises = rows[r].form.iter().filter_map(|(primitive, x)| match primitive {
                Primitive::Noise(k) => Some((*k, x.clone())),
                Primitive::Contribution(_) => None,
            });
            noises.collect()
        };
        let noises: Vec<BTreeMap<usize, BigRational>> = (0..rows.len()).map(noise_part).collect();
        // S y = b by elimination; rows of S that vanish must have no shift left.
        let r = rows.len();
        let mut matrix: Vec<Vec<BigRational>> = vec![vec![BigRational::zero(); r + 1]; r];
        for i in 0..r {
            for j in 0..=i {
                let mut sum = BigRational::zero();
                for (k, x) in &noises[i] {
                    if let Some(y) = noises[j].get(k) {
                        sum += x * y * &program.noises[*k].variance;
                    }
                }
                matrix[i][j] = sum.clone();
                matrix[j][i] = sum;
            }
            matrix[i][r] = shifts[i].clone();
        }
        let Some(solution) = solve(matrix) else { return Err(Error::NoiselessView(source)) };
        let used = |x: &BigRational| !x.is_zero();
        let mut moved: BTreeMap<usize, BigRational> = BTreeMap::new();
        for (y, row) in solution.iter().zip(&noises).filter(|(y, _)| used(y)) {
            for (k, x) in row {
                *moved.entry(*k).or_insert_with(BigRational::zero) += y * x * &program.noises[*k].variance;
            }
        }
        if moved.values().all(BigRational::is_zero) {
            return Ok(None);
        }
        let terms = solution.into_iter().zip(rows).filter(|(y, _)| used(y));
        let terms = terms.map(|(y, row)| (value(row.value), Weight::of(y))).collect();
        let noises = moved.into_iter().filter(|(_, x)| used(x));
        let noises = noises.map(|(k, x)| (value(program.noises[k].value), Weight::of(x))).collect();
        let change = change.to_vec();
        Ok(Some((
            AttackWitness { source, change: change.clone(), combination: Combination { terms } },
            NoiseShift { source, change, noises },
        )))
    }
}

fn refused(why: String) -> Error {
    ProgramError::Witness(why).into()
}

/// A solution of a consistent system given by its augmented rows; free unknowns are 0.
fn solve(mut rows: Vec<Vec<BigRational>>) -> Option<Vec<BigRational>> {
    let n = rows.len();
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    let mut next = 0;
    for column in 0..n {
        let Some(found) = (next..n).find(|&i| !rows[i][column].is_zero()) else { continue };
        rows.swap(next, found);
        let inverse = rows[next][column].recip();
        rows[next].iter_mut().skip(column).for_each(|x| *x *= &inverse);
        let pivot = rows[next].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i == next || row[column].is_zero() {
                continue;
            }
            let factor = row[column].clone();
            for (x, y) in row.iter_mut().zip(&pivot).skip(column).filter(|(_, y)| !y.is_zero()) {
                *x -= &factor * y;
            }
        }
        pivots.push((next, column));
        next += 1;
    }
    if rows[next..].iter().any(|row| !row[n].is_zero()) {
        return None;
    }
    let mut solution = vec![BigRational::zero(); n];
    for (row, column) in pivots {
        solution[column] = rows[row][n].clone();
    }
    Some(solution)
}

/// Rows up to which witnesses are found in exact arithmetic.
const MAX_EXACT: usize = 160;
