//! Computes what one observer has learned so far by a Kalman filter, which is updated event by event, with
//! proven bounds on its rounding.
//!
//! It is kept for the registers that are alive and that the observer does not know. `P` is the covariance of
//! the error of the observer's estimate. `M` says how far the registers move beyond the estimate, with one
//! column for each direction. `B` bounds the distance of `P` from the truth. The gains `K` are *public
//! constants*, exactly as computed. This fixes the innovations `e` of the seen rows, whose variance is `S*`,
//! and bounds the effect of rounding on `P*` and `M*` (`docs/theory.md`, "The meter"):
//!
//! * for a step `A` with rounding `E`, `-D ≤ E ≤ D` for a diagonal `D`: `B ← A B Aᵀ + D` keeps `-B ≤ P - P* ≤
//!   B`;
//! * with `b_s = B_ss / S*_s` the innovations are uncorrelated up to `h² = 2 Σ_s b_s (r₀ + 2 Σ_(q<s) b_q)`;
//! * for a rounding `ε` in a column of `M`: `κ ← κ + Σ_i ε_i² / D_ii` keeps `|ν - ν*|² ≤ κ B_ss`.
//!
//! With `Q = Σ ν² / S`, therefore, `√G` is between `(√Q - √(κ Σ b)) / √(1 + h)` and `(√Q + √(κ Σ b)) / √(1 -
//! h)`.

mod ends;
mod round;
mod sight;
#[cfg(test)]
mod tests;

pub(super) use round::Round;

use super::square::Square;
use crate::Reads;
use crate::adaptivity::Dependence;
use crate::build::Seeing;
use crate::observers::sees;
use ndp_account::Observer;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// The directions in which changes of a node's data are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// All uses change by the same vector: one column for every node.
    Same,
    /// A single use changes: one column for every use.
    Uses,
    /// All uses change, each by any vector: one column for every use, whose sizes are added up.
    Whole,
}

/// Where a register is in the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The observer knows it, so that it is a constant.
    Known,
    /// It is a row of the filter.
    Row(usize),
}

/// The reason why the filter gave up, so that the account of the recorded program takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Rounding leaves open whether a row has noise of its own.
    Noise,
    /// The bound on rounding has become too large to be useful.
    Drift,
    /// A number is too large or too small.
    Range,
    /// It is not known from single messages what a contribution reads.
    Reads,
}

/// The sums for one direction.
#[derive(Clone, Debug)]
struct Direction {
    node: usize,
    /// Upper and lower end of `Σ ν² / S`.
    high: f64,
    low: f64,
    /// The bound on rounding in its column of `M`.
    kappa: f64,
    /// Whether a row that was seen may move with it. Until then its cost is 0: if an entry of `M` is 0,
    /// either all its terms were 0, or this flag is set.
    seen: bool,
}

/// The sums for one node, in addition to those of its directions.
#[derive(Clone, Debug, Default)]
struct Node {
    /// `Σ (Σ_i |ν_i|)² / S` over its uses.
    whole: f64,
    /// For directions that are no longer followed: the largest ends, and the sum of the roots of `κ`.
    high: f64,
    low: f64,
    kappa: f64,
    roots: f64,
    /// Whether one of these may have been seen, or may still move a row.
    seen: bool,
    revealed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) observer: Observer,
    followed: Followed,
    place: BTreeMap<usize, Place>,
    /// The register of every row.
    registers: Vec<usize>,
    covariance: Square,
    error: Square,
    /// `M`: one row for every register, one column for every direction.
    moves: Vec<Vec<f64>>,
    directions: Vec<Direction>,
    nodes: Vec<Node>,
    /// `Σ b`, and the two numbers from which `h` follows.
    shares: f64,
    factor: f64,
    correlation: f64,
    pub(super) reads: Dependence,
    pub(super) doubt: Option<Doubt>,
    /// The filter before the models were mixed, if the last step was a round.
    unmixed: Option<Box<Unmixed>>,
    /// Whether the observer was shown more than contributions read, so that lower ends are 0.
    above: bool,
    /// Whether it counts as knowing values that it did not see, because contributions read them. The filter
    /// charges for them; the account of the steps, which takes over from it, may not.
    pub(super) shown_reads: bool,
}

/// A filter before the models of a round are mixed.
#[derive(Clone, Debug)]
struct Unmixed {
    filter: Filter,
    /// The registers of what is mixed; `None` if the observer knows it.
    sums: Vec<usize>,
    /// Registers of the models before the round.
    stale: Vec<usize>,
}

impl Filter {
    pub(super) fn new(observer: Observer, nodes: usize, followed: Followed) -> Self {
        let direction = |node| Direction { node, high: 0.0, low: 0.0, kappa: 0.0, seen: false };
        let directions = match followed {
            Followed::Same => (0..nodes).map(direction).collect(),
            Followed::Uses | Followed::Whole => Vec::new(),
        };
        Self {
            observer,
            followed,
            place: BTreeMap::new(),
            registers: Vec::new(),
            covariance: Square::default(),
            error: Square::default(),
            moves: Vec::new(),
            directions,
            nodes: vec![Node::default(); nodes],
            shares: 0.0,
            factor: 8.0 * UNIT,
            correlation: 0.0,
            reads: Dependence::Fixed,
            doubt: None,
            unmixed: None,
            above: false,
            shown_reads: false,
        }
    }

    /// Adds a use of the data of `node`.
    pub(super) fn contribute(&mut self, register: usize, node: usize, reads: &Reads) {
        self.unmixed = None;
        self.depends(node, reads);
        if self.observer.contains(node) {
            self.place.insert(register, Place::Known);
            return;
        }
        if self.doubt.is_some() {
            return;
        }
        let row = self.push(register);
        let direction = self.direction_of_use(node);
        self.moves[row][direction] = 1.0;
    }

    /// Adds a noise of this variance.
    pub(super) fn noise(&mut self, register: usize, variance: &BigRational) {
        self.unmixed = None;
        if variance.is_zero() {
            self.place.insert(register, Place::Known);
            return;
        }
        if self.doubt.is_some() {
            return;
        }
        let Some((value, exact)) = self.float(variance) else { return };
        let row = self.push(register);
        self.covariance.set(row, row, value);
        if !exact {
            self.error.set(row, row, 4.0 * UNIT * value);
        }
    }

    /// Adds a weighted sum of registers.
    pub(super) fn combine<'a>(
        &mut self,
        register: usize,
        terms: impl IntoIterator<Item = (usize, &'a BigRational)>,
    ) {
        self.unmixed = None;
        if self.doubt.is_some() {
            if terms.into_iter().all(|(term, _)| self.knows(term)) {
                self.place.insert(register, Place::Known);
            }
            return;
        }
        let Some(terms) = self.unknown(terms) else { return };
        if terms.is_empty() {
            self.place.insert(register, Place::Known);
            return;
        }
        let row = self.push(register);
        let copied = terms.len() == 1 && terms[0].1.abs() == 1.0;
        let relative = if copied { 0.0 } else { UNIT * (2.0 * terms.len() as f64 + 12.0) };
        let (next, sizes) = self.covariance.appended(row, &terms);
        let (error, error_sizes) = self.error.appended(row, &terms);
        self.covariance.set_both(row, &next);
        self.error.set_both(row, &error);
        // The errors of a row and its column are between minus and plus their row sums, as a diagonal matrix.
        let sums: f64 = sizes.iter().chain(&error_sizes).sum();
        for h in 0..row {
            self.inject(h, relative * (sizes[h] + error_sizes[h]));
        }
        self.inject(row, relative * sums);
        let (next, sizes) = mixed(&self.moves, &terms, self.directions.len());
        self.cancelled(&next, &sizes);
        self.moves[row] = next;
        let sizes: Vec<f64> = sizes.into_iter().map(|x| x * relative).collect();
        self.rounded(row, &sizes);
        self.check_range(row);
    }

    /// The observer sees a register, unless it is known already.
    pub(super) fn see(&mut self, register: usize) {
        self.unmixed = None;
        if self.doubt.is_some() {
            self.place.insert(register, Place::Known);
        } else if let Some(Place::Row(row)) = self.place.get(&register).copied() {
            self.sight(row);
        }
    }

    /// Drops everything but what the observer has seen, since nothing else is proven any more. What it sees
    /// is still followed.
    pub(super) fn blind(&mut self) {
        if std::mem::take(&mut self.shown_reads) {
            // Some of it was only read, and nobody is charged for that any more.
            self.place.clear();
        }
        (self.covariance, self.error) = (Square::default(), Square::default());
        self.registers.clear();
        self.moves.clear();
        self.directions.clear();
        self.unmixed = None;
        self.place.retain(|_, place| *place == Place::Known);
    }

    /// Whether the observer knows a register, because it saw it or computed it from what it knows.
    pub(super) fn knows(&self, register: usize) -> bool {
        self.place.get(&register) == Some(&Place::Known)
    }

    /// The observer knows these registers, and nothing else.
    pub(super) fn told(&mut self, registers: impl Iterator<Item = usize>) {
        self.place = registers.map(|register| (register, Place::Known)).collect();
    }

    /// Shows the observer these registers. If the models of the last round are among them, it is shown
    /// instead what they were mixed from.
    pub(super) fn show(&mut self, registers: &BTreeSet<usize>, models: &[usize]) {
        if models.iter().all(|model| registers.contains(model)) {
            self.show_unmixed(models);
        }
        for register in registers {
            if self.doubt.is_some() {
                return;
            }
            self.see(*register);
        }
    }

    /// Whether the observer is among those who see an event.
    pub(super) fn sees(&self, seeing: &Seeing) -> bool {
        sees(&self.observer, seeing)
    }

    /// No later step reads this register.
    pub(super) fn forget(&mut self, register: usize) {
        self.unmixed = None;
        match self.place.get(&register).copied() {
            Some(Place::Row(row)) => self.remove(row),
            Some(Place::Known) => {
                self.place.remove(&register);
            }
            None => {}
        }
    }

    /// The column of the next use of a node; a new one if every use has its own column.
    fn direction_of_use(&mut self, node: usize) -> usize {
        if self.followed == Followed::Same {
            return node;
        }
        self.directions.push(Direction { node, high: 0.0, low: 0.0, kappa: 0.0, seen: false });
        self.moves.iter_mut().for_each(|row| row.push(0.0));
        self.directions.len() - 1
    }

    /// Records what a contribution depends on. Hidden values that it reads are shown to the observer;
    /// once the filter has given up, by the account of the steps, which also checks what is declared as
    /// seen.
    pub(super) fn depends(&mut self, node: usize, reads: &Reads) {
        let member = self.observer.contains(node);
        let found = match reads {
            Reads::Nothing => Dependence::Fixed,
            Reads::Seen(None) => Dependence::Assumed,
            Reads::Hidden(None) => {
                self.doubt.get_or_insert(Doubt::Reads);
                Dependence::Revealed
            }
            Reads::Seen(Some(_)) if self.doubt.is_some() => Dependence::Checked,
            Reads::Hidden(Some(list)) if self.doubt.is_some() => {
                let known = member && list.iter().all(|value| self.knows(value.index()));
                if known { Dependence::Checked } else { Dependence::Revealed }
            }
            Reads::Seen(Some(list)) | Reads::Hidden(Some(list)) => {
                let hidden = matches!(reads, Reads::Hidden(_)) && !member;
                for value in list {
                    match self.place.get(&value.index()).copied() {
                        Some(Place::Known) => {}
                        Some(Place::Row(row)) if hidden => {
                            self.shown_reads = true;
                            self.sight(row);
                        }
                        _ => self.doubt = self.doubt.or(Some(Doubt::Reads)),
                    }
                }
                if hidden { Dependence::Revealed } else { Dependence::Checked }
            }
        };
        self.reads = self.reads.with(found);
    }

    fn push(&mut self, register: usize) -> usize {
        let row = self.registers.len();
        self.registers.push(register);
        self.place.insert(register, Place::Row(row));
        self.covariance.grow();
        self.error.grow();
        self.moves.push(vec![0.0; self.directions.len()]);
        row
    }

    fn remove(&mut self, row: usize) {
        self.place.remove(&self.registers[row]);
        self.registers.swap_remove(row);
        self.moves.swap_remove(row);
        self.covariance.swap_remove(row);
        self.error.swap_remove(row);
        if let Some(register) = self.registers.get(row) {
            self.place.insert(*register, Place::Row(row));
        }
    }

    /// The nearest float of a number, and whether it is exact; `None`, with a doubt, if the number is out of
    /// range.
    fn float(&mut self, x: &BigRational) -> Option<(f64, bool)> {
        let value = x.to_f64().unwrap_or(f64::NAN);
        if value != 0.0 && !(SMALL..LARGE).contains(&value.abs()) {
            self.doubt.get_or_insert(Doubt::Range);
            return None;
        }
        Some((value, BigRational::from_float(value).is_some_and(|exact| exact == *x)))
    }

    /// The terms that the observer does not know, with weights as floats; `None` if the filter gave up.
    fn unknown<'a>(
        &mut self,
        terms: impl IntoIterator<Item = (usize, &'a BigRational)>,
    ) -> Option<Vec<(usize, f64)>> {
        let mut found = Vec::new();
        for (register, weight) in terms {
            match self.place.get(&register).copied() {
                Some(Place::Known) => {}
                Some(Place::Row(row)) => found.push((row, self.float(weight)?.0)),
                None => {
                    self.doubt.get_or_insert(Doubt::Range);
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Counts a rounding of `P` or `B` that is between minus and plus this number on the diagonal.
    fn inject(&mut self, row: usize, by: f64) {
        if by > 0.0 {
            let sum = (self.error.at(row, row) + 1.01 * by + TINY) * (1.0 + 4.0 * UNIT);
            self.error.set(row, row, sum);
        }
    }

    /// Counts the roundings of a row of `M`.
    fn rounded(&mut self, row: usize, sizes: &[f64]) {
        let largest = sizes.iter().fold(0.0_f64, |most, &x| most.max(x));
        if largest == 0.0 {
            return;
        }
        // In the scale of the row, a rounding of one unit costs about one unit in both `B` and `κ`.
        let by = (largest / UNIT) * largest + TINY;
        self.inject(row, by);
        for (direction, &size) in self.directions.iter_mut().zip(sizes) {
            if size > 0.0 {
                let more = (size / by * size * (1.0 + 8.0 * UNIT)).max(LEAST);
                direction.kappa = (direction.kappa + more).next_up();
            }
        }
    }

    /// Notes that an entry in a row of `M` may be 0 because terms have cancelled or underflowed.
    fn cancelled(&mut self, row: &[f64], sizes: &[f64]) {
        for (direction, (x, size)) in self.directions.iter_mut().zip(row.iter().zip(sizes)) {
            direction.seen |= *x == 0.0 && *size > 0.0;
        }
    }

    fn check_range(&mut self, row: usize) {
        let fits = |x: &f64| x.abs() < LARGE;
        if !(fits(&self.covariance.at(row, row)) && self.moves[row].iter().all(fits)) {
            self.doubt.get_or_insert(Doubt::Range);
        }
    }

    /// Whether nothing has been seen.
    #[cfg(test)]
    pub(super) fn is_new(&self) -> bool {
        self.doubt.is_none() && self.shares == 0.0
    }

    /// The number of directions that are followed.
    #[cfg(test)]
    pub(super) fn followed(&self) -> usize {
        self.directions.len()
    }
}

/// A combination of rows, and the sums of the absolute values of its terms.
fn mixed(rows: &[Vec<f64>], terms: &[(usize, f64)], columns: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut next, mut sizes) = (vec![0.0; columns], vec![0.0; columns]);
    for &(at, weight) in terms {
        for ((to, size), &x) in next.iter_mut().zip(&mut sizes).zip(&rows[at]) {
            if x != 0.0 {
                let term = weight * x;
                *to += term;
                *size += term.abs() + FLOOR / UNIT;
            }
        }
    }
    (next, sizes)
}

/// More than a nonzero term may lose to underflow.
pub(super) fn tiny(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { TINY }
}

/// Half the distance from 1 to the next float: the relative error of a rounding.
const UNIT: f64 = f64::EPSILON / 2.0;
/// All numbers must be below this and, if they are weights or variances, above its inverse.
const LARGE: f64 = 1e60;
const SMALL: f64 = 1e-60;
/// Larger than everything that underflows in a step: products of numbers in range.
const TINY: f64 = 1e-200;
/// The same for a row of `M`, whose squares count.
const FLOOR: f64 = 1e-240;
/// The least number that is added to a bound on rounding.
const LEAST: f64 = 1e-300;
/// The largest share of a variance that may be rounding.
const MOST_SHARE: f64 = 1e-3;
/// If the square of `h` is larger than this, the account of the recorded program takes over.
const MOST_CORRELATION: f64 = 1e-6;
/// Smaller gains are taken as 0.
const LEAST_GAIN: f64 = 1e-40;
