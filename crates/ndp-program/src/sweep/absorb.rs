//! Witnesses of programs in which each message brings a noise that no earlier message has (its *pivot*),
//! without writing out rows.
//!
//! The attack `y` solves `S y = b` in `f64`. Any `y` is an attack, so that its rounding does no harm. The
//! corresponding shift of the noises, `V Rᵀ y`, is correct only up to rounding. It is made exact on a walk
//! through the program. A hidden value must move by the amount that `f64` gives, and the shift of a noise
//! that is met there for the first time is chosen such that it does. A message must not move, and the shift
//! of its pivot is chosen such that it does not. In this way numbers do not grow from value to value; with
//! noise over time they grow as the entries of the inverse of its matrix do.

use super::arithmetic::{Arithmetic, Multiples, Ratios};
use super::tape::{Kind, Sign, Tape, ZERO};
use super::{MAX_ROWS, Uses, covariance, memory};
use crate::Weight;
use crate::build::Program;
use crate::noiseless::Change;
use crate::observers::Seen;
use crate::registers::Definition;
use crate::sparse::{APART, GRIDS, grid, or_none, short};
use crate::weight::float;
use ndarray::Array2;
use ndp_account::Error;
use ndp_linalg::{Cholesky, cholesky};
use ndp_numeric::stop::{Stop, Stopped, work};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use std::collections::BTreeMap;

/// A shift of the noises, and the distance between what it proves and what the corresponding attack proves,
/// relative to the larger of the two.
pub(crate) struct Shift {
    /// The noises that are shifted, each with its shift.
    pub(crate) moved: Vec<(usize, BigRational)>,
    pub(crate) apart: f64,
    /// The combination of rows that is the attack, and the number of bits of its largest weight.
    combination: Vec<f64>,
    bits: i32,
}

/// What an observer sees, prepared for any number of changes, which all use one factor of the covariance.
pub(crate) struct Ready {
    tape: Tape,
    pivots: Vec<usize>,
    factor: Cholesky,
    /// A common multiple of the divisors of weights, or 1 if there is no small one.
    divisor: i64,
}

impl Ready {
    /// `None` if some message has no pivot, or the covariance cannot be factorised in `f64`.
    ///
    /// # Errors
    /// [`ndp_graph::Error::TooLarge`] beyond the memory limit.
    pub(crate) fn new(
        program: &Program,
        seen: &Seen,
        limit: u64,
        stop: &Stop,
    ) -> Result<Option<Self>, Error> {
        let n = seen.rows.len();
        if n == 0 || n > MAX_ROWS {
            return Ok(None);
        }
        let Some(tape) = Tape::new(program, seen) else { return Ok(None) };
        let Some(pivots) = pivots(&tape) else { return Ok(None) };
        let uses =
            Uses { contributions: Vec::new(), places: vec![u32::MAX; tape.uses.len()], nodes: Vec::new() };
        memory(&tape, &uses, n, limit)?;
        let covariance = covariance(&tape, &uses, n, stop)?.covariance;
        stop.spend(work([n, n, n]) / 12)?;
        let factor = cholesky(covariance.view()).ok();
        let divisor = divisor(program, &tape).unwrap_or(1);
        Ok(factor.map(|factor| Self { tape, pivots, factor, divisor }))
    }

    /// The shift for a change; `None` if the change is in no row, or numbers are out of range.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn shift(
        &self,
        program: &Program,
        seen: &Seen,
        change: &Change,
        stop: &Stop,
    ) -> Result<Option<Shift>, Stopped> {
        let (tape, n) = (&self.tape, seen.rows.len());
        let b = shifts(tape, change);
        if b.iter().all(|x| *x == 0.0) {
            return Ok(None);
        }
        let right = Array2::from_shape_fn((n, 1), |(r, _)| b[r]);
        let Ok(y) = self.factor.solve(right.view()) else { return Ok(None) };
        let y: Vec<f64> = y.iter().copied().collect();
        if !y.iter().all(|x| x.is_finite()) {
            return Ok(None);
        }
        let mut slots = vec![ZERO; tape.slots];
        let mut shift = vec![0.0; tape.variances.len()];
        let seed = |row: usize| {
            let mut lane = ZERO;
            lane[0] = y[row];
            lane
        };
        tape.back(tape.steps.len(), Sign::Given, &mut slots, seed, |kind, number, lane| {
            if kind == Kind::Noise {
                shift[number] = lane[0] * tape.variances[number];
            }
        });
        drop(slots);
        let low: f64 = y.iter().zip(&b).map(|(y, b)| y * b).sum();
        let mut found = None;
        for bits in GRIDS {
            let grid = grid(shift.iter().copied(), bits);
            // The numbers of a tape are short, and each of its values takes several of them.
            stop.spend(tape.cost())?;
            let by = (tape, &self.pivots[..]);
            let short = Multiples::new(grid, self.divisor)
                .map(|exact| or_none(completed(&exact, program, seen, by, &shift, change, stop)))
                .transpose()?;
            let found_now = match short.flatten() {
                Some(found) => Some(found),
                None => or_none(completed(&Ratios { grid }, program, seen, by, &shift, change, stop))?,
            };
            let Some((moved, high)) = found_now else { return Ok(None) };
            let apart = (high - low).abs() / high;
            found = Some((moved, apart, bits));
            if apart < APART {
                break;
            }
        }
        Ok(found.map(|(moved, apart, bits)| Shift { moved, apart, combination: y, bits }))
    }

    /// The attack that belongs to a shift: values and their weights.
    pub(crate) fn attack(&self, program: &Program, seen: &Seen, shift: &Shift) -> Vec<(usize, Weight)> {
        messages(program, seen, &self.tape, &shift.combination, shift.bits)
    }
}

/// The least common multiple of the divisors of all weights.
fn divisor(program: &Program, tape: &Tape) -> Option<i64> {
    let mut common = Some(1i64);
    for (step, &value) in tape.steps.iter().zip(&tape.values) {
        if matches!(step.kind, Kind::Hidden | Kind::Row) {
            program.values[value as usize].each_term(|_, weight| {
                let of = |common: i64| {
                    let divisor = weight.denom().to_i64()?;
                    (common / common.gcd(&divisor)).checked_mul(divisor)
                };
                common = common.and_then(of);
            });
        }
    }
    common
}

/// The change as it appears in every row.
fn shifts(tape: &Tape, change: &Change) -> Vec<f64> {
    let mut slots = vec![0.0; tape.slots];
    let mut rows = vec![0.0; tape.rows.len()];
    for step in &tape.steps {
        let number = step.number as usize;
        let value = match step.kind {
            Kind::Noise => 0.0,
            Kind::Use => change.get(&tape.uses[number]).map_or(0.0, float),
            Kind::Hidden | Kind::Row => tape.terms(step).iter().map(|&(to, x)| x * slots[to as usize]).sum(),
        };
        match step.kind {
            Kind::Row => rows[number] = value,
            _ => slots[step.slot as usize] = value,
        }
    }
    rows
}

/// For every row, the noise with the largest share among those that no earlier row contains; `None` if a row
/// has no such noise.
fn pivots(tape: &Tape) -> Option<Vec<usize>> {
    let mut slots = vec![0.0f64; tape.slots];
    let mut pivots = Vec::with_capacity(tape.rows.len());
    let mut start = 0;
    for &(_, end) in &tape.rows {
        let mut touched = Vec::new();
        let mut best: Option<(f64, usize)> = None;
        for step in tape.steps[start..end].iter().rev() {
            let gain = match step.kind {
                Kind::Row => 1.0,
                _ => std::mem::replace(&mut slots[step.slot as usize], 0.0),
            };
            if step.kind == Kind::Noise {
                let share = gain * gain * tape.variances[step.number as usize];
                if share > best.map_or(0.0, |(known, _)| known) {
                    best = Some((share, step.number as usize));
                }
            }
            for &(to, x) in tape.terms(step) {
                slots[to as usize] += gain * x;
                touched.push(to);
            }
        }
        touched.iter().for_each(|&to| slots[to as usize] = 0.0);
        pivots.push(best?.1);
        start = end;
    }
    Some(pivots)
}

/// How far a value moves: a number, plus multiples of noises whose shift is not yet known.
#[derive(Clone)]
struct Motion<N> {
    near: f64,
    known: N,
    open: Vec<(usize, BigRational)>,
}

/// The exact shift of all noises, and its approximate cost.
type Completed = (Vec<(usize, BigRational)>, f64);

/// The exact shift of all noises. The error has no reason if a pivot has no part in its row after all, or a
/// number is out of the range of the arithmetic.
fn completed<A: Arithmetic>(
    exact: &A,
    program: &Program,
    seen: &Seen,
    (tape, pivots): (&Tape, &[usize]),
    shift: &[f64],
    change: &Change,
    stop: &Stop,
) -> Result<Completed, Option<Stopped>> {
    let still = Motion { near: 0.0, known: exact.zero(), open: Vec::new() };
    let mut slots = vec![still.clone(); tape.slots];
    let mut chosen = Chosen { exact, shift, motions: vec![None; shift.len()] };
    let mut noises = vec![0; shift.len()];
    let mut row = 0;
    for (at, (step, &value)) in tape.steps.iter().zip(&tape.values).enumerate() {
        if at % 1024 == 0 {
            stop.check().map_err(Some)?;
        }
        let (number, value) = (step.number as usize, value as usize);
        row += usize::from(tape.rows[row].1 == at);
        let mut motion = still.clone();
        match step.kind {
            Kind::Noise => {
                if let Definition::Noise(k) = program.values[value] {
                    noises[number] = k;
                }
                motion.near = -shift[number];
                motion.open.push((number, BigRational::from_integer(1.into())));
            }
            Kind::Use => {
                if let Some(by) = change.get(&tape.uses[number]) {
                    (motion.known, motion.near) = (exact.number(by).ok_or(None)?, float(by));
                }
            }
            Kind::Hidden | Kind::Row => {
                let mut terms = tape.terms(step).iter();
                let mut within = true;
                program.values[value].each_term(|term, weight| {
                    if seen.known_from[term].is_some() {
                        return;
                    }
                    let Some(&(to, x)) = terms.next() else { return };
                    within &= chosen.add(&mut motion, (weight, x), &slots[to as usize]).is_some();
                });
                if !within {
                    return Err(None);
                }
            }
        }
        if matches!(step.kind, Kind::Noise | Kind::Use) {
            slots[step.slot as usize] = motion;
            continue;
        }
        motion.open.retain(|(_, x)| !x.is_zero());
        let pivot = pivots[row];
        let share = |(noise, x): &(usize, BigRational)| float(x).powi(2) * tape.variances[*noise];
        // The value is made to move by the right amount by the noise with the largest share. Other noises
        // move as `f64` says.
        let free = motion.open.iter().filter(|(noise, _)| *noise != pivot);
        let own = match step.kind {
            Kind::Row => None,
            _ => free.max_by(|a, b| share(a).total_cmp(&share(b))).map(|(noise, _)| *noise),
        };
        chosen.follow_floats(&mut motion, |noise| noise == pivot || Some(noise) == own).ok_or(None)?;
        if step.kind == Kind::Row {
            chosen.keep_still(&mut motion).ok_or(None)?;
            continue;
        }
        // If a value has only one consumer, the shift is left open for the consumer, as long as the number is
        // short.
        if let Some(own) = own.filter(|_| !step.once || exact.is_nearly_out_of_range(&motion.known)) {
            chosen.move_as_floats_say(&mut motion, own).ok_or(None)?;
        }
        slots[step.slot as usize] = motion;
    }
    let mut cost = 0.0;
    let mut found = Vec::with_capacity(noises.len());
    for ((motion, k), variance) in chosen.motions.into_iter().zip(noises).zip(&tape.variances) {
        let motion = motion.ok_or(None)?;
        if !exact.is_zero(&motion) {
            cost += exact.float(&motion).powi(2) / variance;
            found.push((k, -exact.ratio(motion)));
        }
    }
    Ok((found, cost))
}

/// The shifts of the noises of a tape as far as they are chosen. Each choice gives `None` if a number is out
/// of the range of the arithmetic, or the noise has no part in the value.
struct Chosen<'a, A: Arithmetic> {
    exact: &'a A,
    /// What `f64` gives for the shift of every noise.
    shift: &'a [f64],
    /// For each noise, how far it moves: the negative of its shift.
    motions: Vec<Option<A::Number>>,
}

impl<A: Arithmetic> Chosen<'_, A> {
    /// Adds a multiple of what a term moves by. The weight is given exactly and in `f64`.
    fn add(
        &self,
        motion: &mut Motion<A::Number>,
        (weight, x): (&BigRational, f64),
        term: &Motion<A::Number>,
    ) -> Option<()> {
        let exact = self.exact;
        motion.near += x * term.near;
        if !exact.is_zero(&term.known) {
            exact.add(&mut motion.known, weight, &term.known)?;
        }
        for (noise, y) in &term.open {
            match &self.motions[*noise] {
                Some(by) => exact.add(&mut motion.known, &product(weight, y), by)?,
                None => match motion.open.iter_mut().find(|(known, _)| known == noise) {
                    Some((_, sum)) => *sum += weight * y,
                    None => motion.open.push((*noise, product(weight, y))),
                },
            }
        }
        Some(())
    }

    /// Chooses the rounded shift for every open noise of a value that does not stay open.
    fn follow_floats(
        &mut self,
        motion: &mut Motion<A::Number>,
        stays_open: impl Fn(usize) -> bool,
    ) -> Option<()> {
        for (noise, x) in std::mem::take(&mut motion.open) {
            if stays_open(noise) {
                motion.open.push((noise, x));
                continue;
            }
            let by = self.exact.rounded(-self.shift[noise])?;
            self.exact.add(&mut motion.known, &x, &by)?;
            self.motions[noise] = Some(by);
        }
        Some(())
    }

    /// Chooses the shift of the pivot, the only open noise of a row, such that the row does not move.
    fn keep_still(&mut self, row: &mut Motion<A::Number>) -> Option<()> {
        let (noise, x) = row.open.pop()?;
        self.motions[noise] = Some(self.exact.quotient(&self.exact.zero(), &row.known, &x)?);
        Some(())
    }

    /// Chooses the shift of an open noise of a value such that the value moves by the amount that `f64`
    /// gives.
    fn move_as_floats_say(&mut self, motion: &mut Motion<A::Number>, own: usize) -> Option<()> {
        let at = motion.open.iter().position(|(noise, _)| *noise == own)?;
        let (_, x) = motion.open.swap_remove(at);
        let of_pivot: f64 = motion.open.iter().map(|(noise, x)| -self.shift[*noise] * float(x)).sum();
        let target = self.exact.rounded(motion.near - of_pivot)?;
        self.motions[own] = Some(self.exact.quotient(&target, &motion.known, &x)?);
        motion.known = target;
        Some(())
    }
}

/// A product of weights, most of which are 1.
fn product(a: &BigRational, b: &BigRational) -> BigRational {
    if a.is_one() {
        b.clone()
    } else if b.is_one() {
        a.clone()
    } else {
        a * b
    }
}

/// The combination of messages that equals the combination `y` of rows. A row is a message without what the
/// observer knows, both in the message and in the hidden values that it consists of.
fn messages(program: &Program, seen: &Seen, tape: &Tape, y: &[f64], bits: i32) -> Vec<(usize, Weight)> {
    let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
    // Weights of values that are still to be expanded: without the known terms, and with the known terms
    // only.
    let mut open: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
    for (&(value, _), &y) in tape.rows.iter().zip(y) {
        weights.insert(value, y);
        open.insert(value, [y, 0.0]);
    }
    while let Some((value, [hidden, known])) = open.pop_last() {
        let message = weights.get_mut(&value).map(|sum| *sum += known).is_some();
        program.values[value].each_term(|term, x| {
            let (x, to) = (float(x), open.entry(term).or_insert([0.0; 2]));
            if seen.known_from[term].is_none() {
                to[0] += hidden * x;
            } else {
                to[1] -= hidden * x;
            }
            if !message {
                to[1] += known * x;
            }
        });
    }
    let weights = weights.iter().map(|(&value, &x)| (value, x));
    short(weights, bits).map(|(value, x)| (value, Weight::from(x))).collect()
}
