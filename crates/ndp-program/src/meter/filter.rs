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

use super::square::Square;
use crate::Reads;
use crate::adaptivity::Dependence;
use crate::build::Seeing;
use crate::enclose::Ends;
use crate::observers::sees;
use ndp_account::Observer;
use ndp_numeric::rounding::{Interval, up};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use std::collections::BTreeMap;

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
    revealed: bool,
}

/// One step of gossip of all nodes, as it is fed at once.
pub(super) struct Round<'a> {
    /// The registers of the models before, where there are any.
    pub(super) before: Option<&'a [usize]>,
    /// Those after.
    pub(super) after: &'a [usize],
    /// Which nodes contribute and send.
    pub(super) present: &'a [bool],
    pub(super) variance: &'a BigRational,
    /// Rows of the matrix: columns and weights, the nearest floats.
    pub(super) weights: &'a [Vec<(usize, f64)>],
    /// What contributions are declared to depend on.
    pub(super) reads: &'a (dyn Fn(usize) -> Reads + Sync),
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
}

impl Filter {
    pub(super) fn new(observer: Observer, nodes: usize, followed: Followed) -> Self {
        let direction = |node| Direction { node, high: 0.0, low: 0.0, kappa: 0.0 };
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
        }
    }

    /// A use of the data of `node`.
    pub(super) fn contribute(&mut self, register: usize, node: usize, reads: &Reads) {
        self.depends(node, reads);
        if self.observer.contains(node) {
            self.place.insert(register, Place::Known);
            return;
        }
        let row = self.push(register);
        let direction = self.direction_of_use(node);
        self.moves[row][direction] = 1.0;
    }

    /// A noise of this variance.
    pub(super) fn noise(&mut self, register: usize, variance: &BigRational) {
        if variance.is_zero() {
            self.place.insert(register, Place::Known);
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
        self.moves[row] = next;
        let sizes: Vec<f64> = sizes.into_iter().map(|x| x * relative).collect();
        self.rounded(row, &sizes);
        self.check_range(row);
    }

    /// A register is seen, if it was not known.
    pub(super) fn see(&mut self, register: usize) {
        if let Some(Place::Row(row)) = self.place.get(&register).copied() {
            self.sight(row);
        }
    }

    /// Whether the observer sees what happens.
    pub(super) fn sees(&self, seeing: &Seeing) -> bool {
        sees(&self.observer, seeing)
    }

    /// No later step reads this register.
    pub(super) fn forget(&mut self, register: usize) {
        match self.place.get(&register).copied() {
            Some(Place::Row(row)) => self.remove(row),
            Some(Place::Known) => {
                self.place.remove(&register);
            }
            None => {}
        }
    }

    /// Every node that is present adds a contribution and a noise to its model and sends the sum to those who
    /// take it; then all take their means.
    pub(super) fn round(&mut self, round: &Round<'_>) {
        let nodes = round.after.len();
        for u in (0..nodes).filter(|&u| round.present[u]) {
            self.depends(u, &(round.reads)(u));
        }
        if self.doubt.is_some() {
            return;
        }
        let Some((variance, exact)) = self.float(round.variance) else { return };
        if round.weights.iter().flatten().any(|(_, weight)| !(SMALL..LARGE).contains(&weight.abs())) {
            self.doubt = Some(Doubt::Range);
            return;
        }
        // The models with what was added, in the places of the models.
        let mut sums: Vec<Option<usize>> = vec![None; nodes];
        for u in 0..nodes {
            let register = round.before.map(|before| before[u]);
            let mut place = register.and_then(|register| match self.place.get(&register) {
                Some(Place::Row(_)) => Some(register),
                _ => None,
            });
            if round.present[u] && !self.observer.contains(u) {
                // Below all registers of programs.
                let register = place.unwrap_or(usize::MAX - u);
                let row = match self.place.get(&register) {
                    Some(&Place::Row(row)) => row,
                    _ => self.push(register),
                };
                let direction = self.direction_of_use(u);
                let before = self.moves[row][direction];
                self.moves[row][direction] = before + 1.0;
                if before != 0.0 {
                    let mut sizes = vec![0.0; self.directions.len()];
                    sizes[direction] = 2.0 * UNIT * (before.abs() + 1.0);
                    self.rounded(row, &sizes);
                }
                let before = self.covariance.at(row, row);
                if variance != 0.0 {
                    self.covariance.set(row, row, before + variance);
                }
                if variance != 0.0 && (before != 0.0 || !exact) {
                    self.inject(row, 4.0 * UNIT * (before + variance));
                }
                place = Some(register);
            }
            sums[u] = place;
        }
        for to in (0..nodes).filter(|&to| round.present[to]) {
            for from in round.weights[to].iter().map(|&(from, _)| from).filter(|&from| from != to) {
                if let Some(register) = sums[from]
                    && self.sees(&Seeing::Message { from, to })
                {
                    self.see(register);
                }
            }
        }
        self.mix(round, &sums);
        self.retire();
    }

    /// `h = W y` in place of all `y`; other registers stay.
    fn mix(&mut self, round: &Round<'_>, sums: &[Option<usize>]) {
        let row_of = |place: &BTreeMap<usize, Place>, register: Option<usize>| match place.get(&register?) {
            Some(&Place::Row(row)) => Some(row),
            _ => None,
        };
        let rows: Vec<Option<usize>> = sums.iter().map(|&register| row_of(&self.place, register)).collect();
        let (mut steps, mut registers): (Vec<Vec<(usize, f64)>>, Vec<usize>) = (Vec::new(), Vec::new());
        let replaced: Vec<usize> = rows.iter().flatten().copied().collect();
        for (row, &register) in self.registers.iter().enumerate() {
            if !replaced.contains(&row) {
                steps.push(vec![(row, 1.0)]);
                registers.push(register);
            }
        }
        let kept = steps.len();
        let mut known = Vec::new();
        for (u, &register) in round.after.iter().enumerate() {
            let mut terms = Vec::new();
            for &(v, weight) in &round.weights[u] {
                if let Some(row) = rows[v] {
                    terms.push((row, weight));
                }
            }
            if terms.is_empty() {
                known.push(register);
            } else {
                steps.push(terms);
                registers.push(register);
            }
        }
        let longest = steps.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let relative = UNIT * (2.0 * longest + 12.0);
        let (covariance, sizes) = self.covariance.transformed(&steps);
        let (error, error_sizes) = self.error.transformed(&steps);
        (self.covariance, self.error) = (covariance, error);
        let moves: Vec<_> =
            steps.iter().map(|terms| mixed(&self.moves, terms, self.directions.len())).collect();
        self.place.retain(|_, place| *place == Place::Known);
        if let Some(before) = round.before {
            before.iter().for_each(|register| {
                self.place.remove(register);
            });
        }
        for (row, &register) in registers.iter().enumerate() {
            self.place.insert(register, Place::Row(row));
        }
        self.place.extend(known.into_iter().map(|register| (register, Place::Known)));
        self.registers = registers;
        let mut all = Vec::with_capacity(moves.len());
        let mut roundings = Vec::with_capacity(moves.len());
        for (next, sizes) in moves {
            all.push(next);
            roundings.push(sizes);
        }
        self.moves = all;
        for (row, sizes) in sizes.iter().enumerate() {
            self.inject(row, relative * (sizes + error_sizes[row]));
            let share = if row < kept { 0.0 } else { relative };
            let sizes: Vec<f64> = roundings[row].iter().map(|x| x * share).collect();
            self.rounded(row, &sizes);
            self.check_range(row);
        }
    }

    /// The column of the next use of a node, which is new where uses have columns of their own.
    fn direction_of_use(&mut self, node: usize) -> usize {
        if self.followed == Followed::Same {
            return node;
        }
        self.directions.push(Direction { node, high: 0.0, low: 0.0, kappa: 0.0 });
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
                let more = (size * size / by * (1.0 + 8.0 * UNIT)).max(LEAST);
                direction.kappa = (direction.kappa + more).next_up();
            }
        }
    }

    fn check_range(&mut self, row: usize) {
        let fits = |x: &f64| x.abs() < LARGE;
        if !(fits(&self.covariance.at(row, row)) && self.moves[row].iter().all(fits)) {
            self.doubt.get_or_insert(Doubt::Range);
        }
    }

    /// The observer sees a row.
    fn sight(&mut self, seen: usize) {
        let (size, error) = (self.covariance.at(seen, seen), self.error.at(seen, seen));
        if size == 0.0 && error == 0.0 {
            // No rounding has touched it: it is a combination of contributions and known values alone.
            self.reveal(seen);
            return;
        }
        let least = (size - error).next_down();
        let share = if least > 0.0 { (error / least).next_up() } else { f64::INFINITY };
        if share > MOST_SHARE || share.is_nan() {
            self.doubt.get_or_insert(Doubt::Noise);
            self.known(seen);
            return;
        }
        self.correlation = (self.correlation + 2.0 * (self.factor * share)).next_up() * (1.0 + 4.0 * UNIT);
        self.factor = (self.factor + 2.0 * share).next_up();
        self.shares = (self.shares + share).next_up();
        if self.correlation > MOST_CORRELATION {
            self.doubt.get_or_insert(Doubt::Drift);
        }
        self.charge(seen, least, (size + error).next_up());
        self.condition(seen, size, least);
        self.known(seen);
    }

    /// Charges what the row tells about every direction; its variance is between these.
    fn charge(&mut self, seen: usize, least: f64, most: f64) {
        let moves = &self.moves[seen];
        if self.followed == Followed::Whole {
            let mut sums = vec![(0.0_f64, 0.0_f64); self.nodes.len()];
            for (direction, x) in self.directions.iter().zip(moves) {
                sums[direction.node].0 += x.abs();
                sums[direction.node].1 += 1.0;
            }
            for (node, (sum, count)) in self.nodes.iter_mut().zip(sums) {
                if sum > 0.0 {
                    node.whole = (node.whole + charged(up(sum, count), least)).next_up();
                }
            }
        }
        for (direction, &x) in self.directions.iter_mut().zip(moves) {
            if x != 0.0 {
                direction.high = (direction.high + charged(x, least)).next_up();
                let low = (x * x / most * (1.0 - 8.0 * UNIT)).next_down().max(0.0);
                direction.low = (direction.low + low).next_down().max(0.0);
            }
        }
    }

    /// What is left of the other rows once this one is known: `(I - K cᵀ) P (I - K cᵀ)ᵀ`.
    fn condition(&mut self, seen: usize, size: f64, least: f64) {
        let rows = self.registers.len();
        let column: Vec<f64> = self.covariance.row(seen).to_vec();
        let crossed: Vec<f64> = self.error.row(seen).to_vec();
        let others = || (0..rows).filter(|&i| i != seen);
        // A gain may be any number: one that is tiny is 0, so that nothing underflows.
        let gain = |x: &f64| if x.abs() > LEAST_GAIN * size { x / size } else { 0.0 };
        let gains: Vec<f64> = column.iter().map(gain).collect();
        let sum = |of: &[f64], only: &dyn Fn(usize) -> bool| -> f64 {
            others().filter(|&i| only(i)).map(|i| of[i].abs()).sum()
        };
        let column_sum = sum(&column, &|_| true);
        let left_sum = sum(&column, &|i| gains[i] == 0.0);
        let (gain_sum, crossed_sum) = (sum(&gains, &|_| true), sum(&crossed, &|_| true));
        let own = crossed[seen];
        let moved = self.moves[seen].clone();
        let touched: Vec<usize> = others().filter(|&i| gains[i] != 0.0 || crossed[i] != 0.0).collect();
        for (place, &i) in touched.iter().enumerate() {
            for &l in &touched[..=place] {
                if gains[i] != 0.0 && gains[l] != 0.0 {
                    let next = self.covariance.at(i, l) - gains[i] * column[l];
                    self.covariance.set(i, l, next);
                    self.covariance.set(l, i, next);
                }
                let cross = gains[i] * crossed[l] + crossed[i] * gains[l];
                let next = self.error.at(i, l) - cross + gains[i] * gains[l] * own;
                self.error.set(i, l, next);
                self.error.set(l, i, next);
            }
        }
        let mut by = vec![0.0; rows];
        for &i in &touched {
            let (gain, sizes) =
                (gains[i].abs(), |row: &[f64]| -> f64 { touched.iter().map(|&l| row[l].abs()).sum() });
            let products = gain * crossed_sum + crossed[i].abs() * gain_sum + gain * gain_sum * own;
            by[i] = 16.0 * UNIT * (sizes(self.error.row(i)) + products) + TINY * rows as f64;
            if gain != 0.0 {
                by[i] += UNIT * (sizes(self.covariance.row(i)) + 4.0 * gain * column_sum) + gain * left_sum;
            }
        }
        // What the gains leave of the covariance with the innovation, `rho`: `2 rho rhoᵀ / S` is kept below
        // `r` times what is injected.
        let residual = 2.0 * (UNIT * column_sum + left_sum) / (least * self.factor);
        for i in others().filter(|&i| column[i] != 0.0) {
            by[i] += if gains[i] == 0.0 {
                column[i].abs() * (gain_sum + residual) + TINY * rows as f64
            } else {
                UNIT * column[i].abs() * residual
            };
        }
        for (i, &by) in by.iter().enumerate().filter(|&(i, _)| i != seen) {
            self.inject(i, by);
        }
        for i in others().filter(|&i| gains[i] != 0.0) {
            let gain = gains[i];
            let mut sizes = vec![0.0; moved.len()];
            for ((x, &by), size) in self.moves[i].iter_mut().zip(&moved).zip(&mut sizes) {
                if by != 0.0 {
                    let change = gain * by;
                    *x -= change;
                    *size = UNIT * 1.01 * (x.abs() + change.abs()) + FLOOR;
                }
            }
            self.rounded(i, &sizes);
        }
    }

    /// A row without noise: what moves it is seen as it is.
    fn reveal(&mut self, seen: usize) {
        for (direction, x) in self.directions.iter().zip(&self.moves[seen]) {
            if *x != 0.0 {
                self.nodes[direction.node].revealed = true;
            }
        }
        self.known(seen);
    }

    fn known(&mut self, seen: usize) {
        let register = self.registers[seen];
        self.remove(seen);
        self.place.insert(register, Place::Known);
    }

    /// Follows directions no longer that hardly move anything any more: what is left of them is counted as
    /// rounding.
    fn retire(&mut self) {
        if self.followed == Followed::Same || self.directions.is_empty() {
            return;
        }
        let limits: Vec<f64> =
            (0..self.registers.len()).map(|row| 1e-24 * self.covariance.at(row, row)).collect();
        let quiet = |k: usize| {
            self.moves.iter().zip(&limits).all(|(row, limit)| row[k] == 0.0 || row[k] * row[k] < *limit)
        };
        let gone: Vec<bool> = (0..self.directions.len()).map(quiet).collect();
        if !gone.contains(&true) {
            return;
        }
        let rows = self.registers.len() as f64;
        for row in 0..self.registers.len() {
            let by = 1e-12 * self.covariance.at(row, row);
            self.inject(row, by);
        }
        for (direction, _) in self.directions.iter_mut().zip(&gone).filter(|(_, gone)| **gone) {
            // Squares are below 1e-24 of what 1e-12 is injected of.
            let kappa = (direction.kappa + 1.01e-12 * rows).next_up();
            let node = &mut self.nodes[direction.node];
            node.high = node.high.max(direction.high);
            node.low = node.low.max(direction.low);
            node.kappa = node.kappa.max(kappa);
            node.roots = (node.roots + kappa.sqrt().next_up()).next_up();
        }
        let keep = |k: &mut usize| {
            *k += 1;
            !gone[*k - 1]
        };
        for row in &mut self.moves {
            let mut k = 0;
            row.retain(|_| keep(&mut k));
        }
        let mut k = 0;
        self.directions.retain(|_| keep(&mut k));
    }

    /// Directions that are followed.
    #[cfg(test)]
    pub(super) fn followed(&self) -> usize {
        self.directions.len()
    }

    /// The bound on the correlation of the innovations.
    pub(super) fn h(&self) -> f64 {
        self.correlation.sqrt().next_up()
    }

    /// The loss of a node so far; none where it is infinite, since something was seen without noise.
    pub(super) fn ends(&self, node: usize) -> Option<Ends> {
        let of = &self.nodes[node];
        if of.revealed {
            return None;
        }
        let own = || self.directions.iter().filter(|direction| direction.node == node);
        let mut ends = Ends::ZERO;
        if self.followed == Followed::Whole {
            let roots = own().fold(of.roots, |sum, x| (sum + x.kappa.sqrt().next_up()).next_up());
            ends.high = self.enclosed(of.whole, 0.0, (roots * roots).next_up()).high;
        } else {
            ends = ends.max(self.enclosed(of.high, of.low, of.kappa));
        }
        for direction in own() {
            let found = self.enclosed(direction.high, direction.low, direction.kappa);
            ends.low = ends.low.max(found.low);
            if self.followed != Followed::Whole {
                ends.high = ends.high.max(found.high);
            }
        }
        if self.followed == Followed::Whole {
            ends.low = ends.low.max(self.enclosed(0.0, of.low, of.kappa).low);
        }
        Some(ends)
    }

    /// The enclosure of a loss from the ends of its sum and the bound on rounding.
    fn enclosed(&self, high: f64, low: f64, kappa: f64) -> Ends {
        let h = Interval::between(0.0, self.h());
        let rounding = (Interval::new(kappa) * Interval::new(self.shares)).sqrt();
        let most = Interval::new(high).sqrt() + rounding;
        let least = (Interval::new(low).sqrt() - rounding).max(Interval::ZERO);
        Ends {
            low: (least * least / (Interval::ONE + h)).low().max(0.0),
            high: (most * most / (Interval::ONE - h)).high(),
        }
    }
}

/// `x² / least`, rounded up.
fn charged(x: f64, least: f64) -> f64 {
    ((x * x / least) * (1.0 + 8.0 * UNIT) + f64::MIN_POSITIVE).next_up()
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
