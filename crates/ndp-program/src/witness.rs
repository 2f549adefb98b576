//! Witnesses: two vectors that prove a loss from both sides, and are checked in exact arithmetic without
//! deciding a rank.
//!
//! For a change `δ` of the uses of a node and `b = B δ`,
//!
//! ```text
//! max over y of (yᵀ b)² / (yᵀ R V Rᵀ y)  =  Q(δ)  =  min of xᵀ V⁻¹ x over R x = b:
//! ```
//!
//! Any combination `y` of messages is an *attack* and proves a lower bound. Any shift `x` of the noises that
//! has the same effect as the change in *every* row proves an upper bound. Proof: `(yᵀ R x)² ≤ (yᵀ R V Rᵀ y)
//! (xᵀ V⁻¹ x)`.

use crate::account::ProgramAccount;
use crate::adaptivity::{self, HiddenReads};
use crate::build::{Program, Value};
use crate::exact_witness::{self, Outcome};
use crate::noiseless::shift_of;
use crate::observers::Seen;
use crate::options::AccountOptions;
use crate::registers::{Definition, Primitive, Unreduced, combined};
use crate::weight::over;
use crate::{ProgramError, Reads, Weight, sparse, sweep};
use ndp_account::{Error, Observer};
use ndp_certify::divisor::least_common_multiple;
use ndp_numeric::stop::Stop;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One side of a proof about a change of a node's uses: an *attack*, which is a combination of messages that
/// distinguishes the change from no change, or a *shift* of noises that looks the same to the observer as the
/// change.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Weight, constructors::muffliato};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let program = muffliato(&GossipMatrix::metropolis(&path_graph(3)?), 2)?;
/// let observer = Observer::node(2);
/// let (attack, shift) = program.account(&observer)?.witnesses(0, &[Weight::from(1)])?;
/// // Both ends, in exact arithmetic, for somebody who does not trust the account.
/// let (low, high) = (program.check_attack(&observer, &attack)?, program.check_shift(&observer, &shift)?);
/// assert_eq!((low, high), (Some(Weight::from(1)), Weight::from(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The node.
    pub source: usize,
    /// The change of its uses, one weight for each.
    pub change: Vec<Weight>,
    /// For an attack, seen values and their weights; for a shift, noises and how far each is shifted.
    pub terms: Vec<(Value, Weight)>,
}

impl Program {
    /// The lower bound on the loss that an attack proves: `(yᵀ b)² / (yᵀ R V Rᵀ y)`, exactly. `None` if the
    /// combination shows the change without noise; 0 for an attack without messages.
    ///
    /// # Errors
    /// [`ProgramError::Witness`] if a value is not seen, or the combination contains neither noise nor
    /// change; a bad observer.
    ///
    /// # Complexity
    /// One walk back through everything that the messages consist of.
    pub fn check_attack(&self, observer: &Observer, attack: &Witness) -> Result<Option<Weight>, Error> {
        let seen = Seen::outline(self, observer, &BTreeMap::new())?;
        let change = self.change(&seen, attack.source, &attack.change)?;
        if attack.terms.is_empty() {
            return Ok(Some(Weight::of(BigRational::zero())));
        }
        // A common factor of all weights has no effect.
        let mut common = BigInt::one();
        for (value, weight) in &attack.terms {
            let number = self.check(*value)?;
            if seen.known_from[number].is_none() {
                return Err(refused(format!("value {number} is not seen")));
            }
            common = least_common_multiple(common, weight.exact("a weight")?.denom());
        }
        let mut open: BTreeMap<usize, Unreduced> = BTreeMap::new();
        for (value, weight) in &attack.terms {
            let weight = weight.exact("a weight")?;
            let sum = open.entry(value.index()).or_insert_with(Unreduced::zero);
            sum.add(weight.numer() * (&common / weight.denom()), &BigInt::one());
        }
        let (mut shift, mut variances) = (Unreduced::zero(), Sums::default());
        for (primitive, x) in combined(&self.values, open) {
            match primitive {
                Primitive::Contribution(k) => {
                    if let Some(delta) = change.get(&k).filter(|delta| !delta.is_zero()) {
                        shift.add(x.numerator * delta.numer(), &(x.denominator * delta.denom()));
                    }
                }
                Primitive::Noise(k) if seen.known_from[self.noises[k].value].is_none() => {
                    let v = &self.noises[k].variance;
                    let squares = (&x.numerator * &x.numerator, &x.denominator * &x.denominator);
                    variances.add(squares.0 * v.numer(), squares.1 * v.denom());
                }
                Primitive::Noise(_) => {}
            }
        }
        let variance = variances.total();
        if shift.numerator.is_zero() {
            return Err(refused("the combination does not show the change".to_owned()));
        }
        if variance.numerator.is_zero() {
            return Ok(None);
        }
        let above = &shift.numerator * &shift.numerator * variance.denominator;
        let below = &shift.denominator * &shift.denominator * variance.numerator;
        Ok(Some(Weight::of(over(above, &below))))
    }

    /// The upper bound on the loss that a shift of the noises proves: `xᵀ V⁻¹ x`, exactly.
    ///
    /// # Errors
    /// [`ProgramError::Witness`] if the shift and the change differ in some row, or a noise is shifted that
    /// the observer knows; [`ProgramError::HiddenNotExact`] and [`ProgramError::NotSeen`] where what the
    /// observer sees depends on values that it does not see, of which no shift says anything (what only
    /// elimination shows is checked by a rank, as by the account); a bad observer.
    ///
    /// # Complexity
    /// One walk forward through the program: every value moves by the change minus the shift, and what is
    /// seen must not move.
    pub fn check_shift(&self, observer: &Observer, shift: &Witness) -> Result<Weight, Error> {
        let seen = Seen::outline(self, observer, &BTreeMap::new())?;
        self.require_seen_reads(observer, &seen)?;
        let change = self.change(&seen, shift.source, &shift.change)?;
        let mut moved: BTreeMap<usize, &BigRational> = BTreeMap::new();
        // All shifts have one denominator, so that values have only those of the program's weights in
        // addition.
        let mut common = change.values().fold(BigInt::one(), |d, x| least_common_multiple(d, x.denom()));
        let mut price = Sums::default();
        for (value, by) in &shift.terms {
            let number = self.check(*value)?;
            let by = by.exact("a weight")?;
            let Definition::Noise(noise) = self.values[number] else {
                return Err(refused(format!("value {number} is no noise")));
            };
            if by.is_zero() {
                continue;
            }
            if seen.known_from[number].is_some() {
                return Err(refused(format!("the observer knows noise {number}")));
            }
            if moved.insert(noise, by).is_some() {
                return Err(refused(format!("noise {number} is shifted twice")));
            }
            common = least_common_multiple(common, by.denom());
        }
        let whole = |x: &BigRational| x.numer() * (&common / x.denom());
        for (k, by) in &moved {
            let (x, v) = (whole(by), &self.noises[*k].variance);
            price.add(&x * &x * v.denom(), v.numer().clone());
        }
        let mut is_row = vec![false; self.values.len()];
        seen.rows.iter().for_each(|row| is_row[row.value] = true);
        let mut moves: Vec<Option<Box<Unreduced>>> = vec![None; self.values.len()];
        for (number, definition) in self.values.iter().enumerate() {
            // Other known values follow from rows, and therefore do not move either.
            if seen.known_from[number].is_some() && !is_row[number] {
                continue;
            }
            let mut sum = Unreduced::zero();
            match definition {
                Definition::Contribution(k) => {
                    change.get(k).into_iter().for_each(|delta| sum.numerator = whole(delta));
                }
                Definition::Noise(k) => moved.get(k).into_iter().for_each(|by| sum.numerator = -whole(by)),
                Definition::Sum(_) | Definition::Mixed { .. } => definition.each_term(|term, weight| {
                    if let Some(x) = &moves[term] {
                        sum.add(&x.numerator * weight.numer(), &(&x.denominator * weight.denom()));
                    }
                }),
            }
            if sum.numerator.is_zero() {
                continue;
            }
            if is_row[number] {
                return Err(refused(format!("value {number} shows the change")));
            }
            sum.shorten();
            moves[number] = Some(Box::new(sum));
        }
        let price = price.total();
        Ok(Weight::of(over(price.numerator, &(price.denominator * &common * &common))))
    }
}

impl Program {
    /// Whether what the observer sees depends on nothing but data, noises, and values that it has seen.
    fn require_seen_reads(&self, observer: &Observer, seen: &Seen) -> Result<(), Error> {
        let hidden = |reads: &Reads| matches!(reads, Reads::Hidden(_));
        let plain = adaptivity::not_plain(self, seen).is_none();
        if plain && !self.contributions.iter().any(|contribution| hidden(&contribution.reads)) {
            return Ok(());
        }
        adaptivity::resolve(self, observer, seen, HiddenReads::Refuse, &Stop::never()).map(drop)
    }
}

/// Sums of ratios, one for each denominator.
#[derive(Default)]
struct Sums(BTreeMap<BigInt, BigInt>);

impl Sums {
    fn add(&mut self, numerator: BigInt, denominator: BigInt) {
        *self.0.entry(denominator).or_insert_with(BigInt::zero) += numerator;
    }

    fn total(self) -> Unreduced {
        let mut sum = Unreduced::zero();
        self.0.into_iter().for_each(|(denominator, numerator)| sum.add(numerator, &denominator));
        sum
    }
}

impl ProgramAccount {
    /// An attack on a change of the uses of `source`, and a shift of the noises that looks like the change.
    /// The loss is between what they prove, and what they prove is exact. If nothing is learned, both are
    /// empty.
    ///
    /// For up to 160 messages the pair is the best possible one, and both prove the same number. For more
    /// messages, if every message brings a noise that no earlier message has, attack and shift are computed
    /// in `f64` and completed exactly: what they prove differs slightly. Other large views are solved in
    /// exact arithmetic again, as long as the numbers are not too long.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`], [`ProgramError::Member`], [`ProgramError::Shape`];
    /// [`ProgramError::NotFinite`]; [`ndp_certify::Error::NoiselessView`] if the change is seen without
    /// noise; [`ProgramError::WitnessOfRevealed`] if the account shows the observer values that it does not
    /// have; [`ProgramError::WitnessTooLong`] if exact numbers would be too long,
    /// [`ndp_graph::Error::TooLarge`] if there is not enough memory.
    ///
    /// # Complexity
    /// Exact: `O(r² l)` products of integers for `r` independent messages and a solution of `l` words.
    /// Otherwise as for the account.
    pub fn witnesses(&self, source: usize, change: &[Weight]) -> Result<(Witness, Witness), Error> {
        self.witnesses_with(&mut Shared::of(1), source, change, Sides::Both)
    }

    /// The same for one of many changes with one account, which share a part of the work. The attack is left
    /// out if only the shift is asked for.
    pub(super) fn witnesses_with<'a>(
        &'a self,
        shared: &mut Shared<'a>,
        source: usize,
        change: &[Weight],
        sides: Sides,
    ) -> Result<(Witness, Witness), Error> {
        let program = &self.program;
        let by_use = program.change(&self.seen, source, change)?;
        // The observer does not have values that were only shown to it for the account.
        if self.adaptivity.is_revealed() {
            return Err(ProgramError::WitnessOfRevealed.into());
        }
        let value = |number: usize| Value(u32::try_from(number).unwrap_or(u32::MAX));
        let witness = |terms| Witness { source, change: change.to_vec(), terms };
        let pair = |attack: Vec<(usize, Weight)>, moved: Vec<(usize, BigRational)>| {
            let attack = attack.into_iter().map(|(number, y)| (value(number), y)).collect();
            let moved = moved.into_iter().map(|(k, x)| (value(program.noises[k].value), Weight::of(x)));
            (witness(attack), witness(moved.collect()))
        };
        let memory = AccountOptions::default().memory_limit;
        // Also computes the distance of what both prove.
        let by_sweeps = |swept: &mut Option<Option<sweep::Ready>>| -> Result<_, Error> {
            let Some(ready) = of_sweeps(swept, self, memory)? else { return Ok(None) };
            let Some(shift) = ready.shift(program, &self.seen, &by_use, &self.stop)? else { return Ok(None) };
            let attack = match sides {
                Sides::Both => ready.attack(program, &self.seen, &shift),
                Sides::Shift => Vec::new(),
            };
            Ok(Some((pair(attack, shift.moved), shift.apart)))
        };
        let many = shared.changes.saturating_mul(shared.changes);
        let large = self.seen.rows.len().saturating_mul(many) > MAX_EXACT;
        let mut swept = None;
        if large && !self.seen.is_complete() {
            // For rows that are not written out.
            swept = by_sweeps(&mut shared.swept)?;
            if let Some((found, _)) = swept.take_if(|(_, apart)| *apart < CLOSE) {
                return Ok(found);
            }
        }
        let seen = match shared.seen.take().map_or_else(|| self.completed(), Ok) {
            Ok(seen) => shared.seen.insert(seen),
            Err(error) => return swept.map(|(found, _)| found).ok_or(error),
        };
        let seen: &Seen = seen;
        let number = |r: usize| seen.rows[r].value;
        let shifts: Vec<BigRational> = seen.rows.iter().map(|row| shift_of(&row.form, &by_use)).collect();
        if shifts.iter().all(BigRational::is_zero) {
            return Ok(pair(Vec::new(), Vec::new()));
        }
        if large {
            if shared.sparse.is_none() {
                shared.sparse = Some(sparse::Ready::new(program, seen, memory, &self.stop)?);
            }
            let ready = shared.sparse.as_ref().and_then(Option::as_ref);
            let witness =
                ready.map(|ready| ready.witness(program, &shifts, &self.stop)).transpose()?.flatten();
            if let Some((attack, moved)) = witness {
                let attack = attack.into_iter().map(|(r, y)| (number(r), Weight::from(y)));
                return Ok(pair(attack.collect(), moved.into_iter().collect()));
            }
            if self.seen.is_complete() {
                swept = by_sweeps(&mut shared.swept)?;
                if let Some((found, _)) = swept.take_if(|(_, apart)| *apart < CLOSE) {
                    return Ok(found);
                }
            }
        }
        match (exact_witness::witness(program, seen, &shifts, &self.stop)?, swept) {
            (Outcome::Found(attack, moved), _) => {
                let attack = attack.into_iter().map(|(r, y)| (number(r), Weight::of(y)));
                Ok(pair(attack.collect(), moved.into_iter().collect()))
            }
            (Outcome::Shown, _) => Err(Error::Certify(ndp_certify::Error::NoiselessView(source))),
            // A pair that is not close is still a valid pair.
            (Outcome::TooLong { .. }, Some((found, _))) => Ok(found),
            (Outcome::TooLong { rank, bits }, None) => {
                Err(ProgramError::WitnessTooLong { rank, bits }.into())
            }
        }
    }
}

/// Which witnesses are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sides {
    Both,
    Shift,
}

/// What witnesses of one account share; each part is computed when it is first needed.
pub(super) struct Shared<'a> {
    /// The number of changes of each node that are asked about.
    changes: usize,
    /// What was seen, with all rows written out.
    seen: Option<Cow<'a, Seen>>,
    sparse: Option<Option<sparse::Ready>>,
    swept: Option<Option<sweep::Ready>>,
}

impl Shared<'_> {
    pub(super) fn of(changes: usize) -> Self {
        Self { changes, seen: None, sparse: None, swept: None }
    }
}

fn of_sweeps<'s>(
    swept: &'s mut Option<Option<sweep::Ready>>,
    account: &ProgramAccount,
    memory: u64,
) -> Result<Option<&'s sweep::Ready>, Error> {
    if swept.is_none() {
        *swept = Some(sweep::Ready::new(&account.program, &account.seen, memory, &account.stop)?);
    }
    Ok(swept.as_ref().and_then(Option::as_ref))
}

fn refused(why: String) -> Error {
    ProgramError::Witness(why).into()
}

/// The largest number of rows for which witnesses of one change are exact solutions. For `k` changes a file
/// has `k` times as many numbers, which are longer the more steps there are, so that short witnesses are
/// better for fewer rows.
const MAX_EXACT: usize = 160;
/// The largest distance of witnesses in `f64` before exact ones are tried, relative to the loss.
const CLOSE: f64 = sparse::APART;
