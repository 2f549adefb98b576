//! What one observer knows so far: a filter that is updated event by event, with proof.
//!
//! Kept for the registers that are alive and that the observer does not know: `P`, the covariance of what its
//! estimate gets wrong; `M`, how far they move beyond what the estimate moves, one column for each direction;
//! `B`, how far `P` may be from the truth. The gains `K` are *public constants* as computed. With them
//! innovations `e` of the seen rows are fixed, of variance `S*`, and what floats make of `P*` and `M*` is
//! bounded (`docs/theory.md`, "The meter"):
//!
//! * a step `A` with rounding `E`, `-D ≤ E ≤ D` for a diagonal `D`: `B ← A B Aᵀ + D`, and `-B ≤ P - P* ≤ B`;
//! * with `b_s = B_ss / S*_s` the innovations are uncorrelated up to `h² = 2 Σ_s b_s (r₀ + 2 Σ_(q<s) b_q)`;
//! * a rounding `ε` in a column of `M`, `κ ← κ + Σ_i ε_i² / D_ii`: `|ν - ν*|² ≤ κ B_ss`.
//!
//! So with `Q = Σ ν² / S`, `√G` lies between `(√Q - √(κ Σ b)) / √(1 + h)` and `(√Q + √(κ Σ b)) / √(1 - h)`.

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

/// In which directions a node's data are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// All uses by the same vector: a column for every node.
    Same,
    /// One use: a column for every use.
    Uses,
    /// All uses, each by any vector: a column for every use, and their sizes added up.
    Whole,
}

/// Where a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The observer knows it: it is a constant.
    Known,
    /// It is a row of the filter.
    Row(usize),
}

/// Why the filter gave up: the batch account takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Rounding cannot tell whether a row has noise of its own.
    Noise,
    /// The bound on rounding has grown beyond use.
    Drift,
    /// A number is too large or too small.
    Range,
    /// What a contribution reads is not known from single messages.
    Reads,
}

/// What is summed up for one direction.
#[derive(Clone, Debug)]
struct Direction {
    node: usize,
    /// Upper and lower end of `Σ ν² / S`.
    high: f64,
    low: f64,
    /// The bound on rounding in its column of `M`.
    kappa: f64,
    /// Whether a row that was seen may move with it. Until then its cost is 0: where an entry of `M` is 0,
    /// nothing but zeros went into it, or this says so.
    seen: bool,
}

/// What is summed up for one node beside its directions.
#[derive(Clone, Debug, Default)]
struct Node {
    /// `Σ (Σ_i |ν_i|)² / S` over its uses.
    whole: f64,
    /// Of directions that are followed no more: the largest ends, and the sum of the roots of `κ`.
    high: f64,
    low: f64,
    kappa: f64,
    roots: f64,
    /// Whether one of them may have been seen, or may still move a row.
    seen: bool,
    revealed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) observer: Observer,
    followed: Followed,
    place: BTreeMap<usize, Place>,
    /// Register of every row.
    registers: Vec<usize>,
    covariance: Square,
    error: Square,
    /// `M`: a row for every register, a column for every direction.
    moves: Vec<Vec<f64>>,
    directions: Vec<Direction>,
    nodes: Vec<Node>,
    /// `Σ b`, and the two numbers behind `h`.
    shares: f64,
    factor: f64,
    correlation: f64,
    pub(super) reads: Dependence,
    pub(super) doubt: Option<Doubt>,
    /// How things were before the last step was the mixing of a round.
    unmixed: Option<Box<Unmixed>>,
    /// Whether more was shown than is read, so that nothing is known from below.
    above: bool,
}

/// A filter before the models of a round are mixed.
#[derive(Clone, Debug)]
struct Unmixed {
    filter: Filter,
    /// Registers of what is mixed, where the observer does not know it.
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
        }
    }

    /// A use of the data of `node`.
    pub(super) fn contribute(&mut self, register: usize, node: usize, reads: &Reads) {
        self.unmixed = None;
        if self.doubt.is_none() {
            self.depends(node, reads);
        }
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

    /// A noise of this variance.
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

    /// A weighted sum of registers.
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
        // An error in a row and its column lies between minus and plus its row sums.
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

    /// A register is seen, if it was not known.
    pub(super) fn see(&mut self, register: usize) {
        self.unmixed = None;
        if self.doubt.is_some() {
            self.place.insert(register, Place::Known);
        } else if let Some(Place::Row(row)) = self.place.get(&register).copied() {
            self.sight(row);
        }
    }

    /// Drops all but what the observer knows, as nothing else is proven any more; that is followed on.
    pub(super) fn blind(&mut self) {
        (self.covariance, self.error) = (Square::default(), Square::default());
        self.registers.clear();
        self.moves.clear();
        self.directions.clear();
        self.unmixed = None;
        self.place.retain(|_, place| *place == Place::Known);
    }

    /// Whether the observer knows a register as it saw it, or made it of what it knows.
    pub(super) fn knows(&self, register: usize) -> bool {
        self.place.get(&register) == Some(&Place::Known)
    }

    /// The observer knows these registers, and nothing else.
    pub(super) fn told(&mut self, registers: impl Iterator<Item = usize>) {
        self.place = registers.map(|register| (register, Place::Known)).collect();
    }

    /// Shows the observer these registers; the models of the last round, if they are among them, by what they
    /// were mixed of.
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

    /// Whether the observer sees what happens.
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

    /// The column of the next use of a node, which is new where uses have columns of their own.
    fn direction_of_use(&mut self, node: usize) -> usize {
        if self.followed == Followed::Same {
            return node;
        }
        self.directions.push(Direction { node, high: 0.0, low: 0.0, kappa: 0.0, seen: false });
        self.moves.iter_mut().for_each(|row| row.push(0.0));
        self.directions.len() - 1
    }

    /// What a contribution depends on: values that it reads are shown to the observer where they are hidden.
    fn depends(&mut self, node: usize, reads: &Reads) {
        let member = self.observer.contains(node);
        let found = match reads {
            Reads::Nothing => Dependence::Fixed,
            Reads::Seen(None) => Dependence::Assumed,
            Reads::Hidden(None) => {
                self.doubt.get_or_insert(Doubt::Reads);
                return;
            }
            Reads::Seen(Some(list)) | Reads::Hidden(Some(list)) => {
                let hidden = matches!(reads, Reads::Hidden(_)) && !member;
                for value in list {
                    match self.place.get(&value.index()).copied() {
                        Some(Place::Known) => {}
                        Some(Place::Row(row)) if hidden => self.sight(row),
                        _ => self.doubt = self.doubt.or(Some(Doubt::Reads)),
                    }
                }
                if hidden { Dependence::Revealed } else { Dependence::Checked }
            }
        };
        self.reads = self.reads.max(found);
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

    /// A number as a float of its size and whether it is one; none, with doubt, for one out of range.
    fn float(&mut self, x: &BigRational) -> Option<(f64, bool)> {
        let value = x.to_f64().unwrap_or(f64::NAN);
        if value != 0.0 && !(SMALL..LARGE).contains(&value.abs()) {
            self.doubt.get_or_insert(Doubt::Range);
            return None;
        }
        Some((value, BigRational::from_float(value).is_some_and(|exact| exact == *x)))
    }

    /// The terms that the observer does not know, with float weights; none where the filter gave up.
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

    /// Counts a rounding of `P` or of `B` that is between minus and plus this on the diagonal.
    fn inject(&mut self, row: usize, by: f64) {
        if by > 0.0 {
            let sum = (self.error.at(row, row) + 1.01 * by + TINY) * (1.0 + 4.0 * UNIT);
            self.error.set(row, row, sum);
        }
    }

    /// Counts roundings of a row of `M`.
    fn rounded(&mut self, row: usize, sizes: &[f64]) {
        let largest = sizes.iter().fold(0.0_f64, |most, &x| most.max(x));
        if largest == 0.0 {
            return;
        }
        // In the scale of the row: a rounding of one unit costs about one unit in both places.
        let by = (largest / UNIT) * largest + TINY;
        self.inject(row, by);
        for (direction, &size) in self.directions.iter_mut().zip(sizes) {
            if size > 0.0 {
                let more = (size / by * size * (1.0 + 8.0 * UNIT)).max(LEAST);
                direction.kappa = (direction.kappa + more).next_up();
            }
        }
    }

    /// A row of `M` may say 0 where terms have cancelled, or have become too small.
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

    /// Whether nothing was seen.
    #[cfg(test)]
    pub(super) fn is_new(&self) -> bool {
        self.doubt.is_none() && self.shares == 0.0
    }

    /// Directions that are followed.
    #[cfg(test)]
    pub(super) fn followed(&self) -> usize {
        self.directions.len()
    }
}

/// A combination of rows, and the sums of the sizes of its terms.
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

/// What a term that is not 0 may lose to underflow, and more.
pub(super) fn tiny(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { TINY }
}

/// Half the distance from 1 to the next float: a rounding, relative.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Numbers that are followed are below this and, where they are weights or variances, above its inverse.
const LARGE: f64 = 1e60;
const SMALL: f64 = 1e-60;
/// Above all that underflows in a step: products of numbers in range.
const TINY: f64 = 1e-200;
/// The same for a row of `M`, whose squares count.
const FLOOR: f64 = 1e-240;
/// The least that is added to a bound on rounding.
const LEAST: f64 = 1e-300;
/// The share of a variance that rounding may be.
const MOST_SHARE: f64 = 1e-3;
/// The square of `h` beyond which the batch account takes over.
const MOST_CORRELATION: f64 = 1e-6;
/// The least gain that is not taken as 0.
const LEAST_GAIN: f64 = 1e-40;
