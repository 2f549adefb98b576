//! A round of all nodes, as a single step.

use super::{Doubt, Filter, Followed, LARGE, Place, SMALL, UNIT, Unmixed, mixed};
use crate::Reads;
use crate::build::Seeing;
use num_rational::BigRational;
use std::collections::BTreeMap;

/// One step of gossip of all nodes, fed as a whole.
pub(in crate::meter) struct Round<'a> {
    /// The registers of the models before the round, if there are any.
    pub(in crate::meter) before: Option<&'a [usize]>,
    /// The registers of the models after it.
    pub(in crate::meter) after: &'a [usize],
    /// Which nodes are present, so that they contribute and send.
    pub(in crate::meter) present: &'a [bool],
    pub(in crate::meter) variance: &'a BigRational,
    /// The rows of the matrix: columns and weights, as the nearest floats.
    pub(in crate::meter) weights: &'a [Vec<(usize, f64)>],
    /// Whether every contribution reads the model of its node, which is hidden from the observer.
    pub(in crate::meter) hidden: bool,
    /// What contributions are declared to depend on.
    pub(in crate::meter) reads: &'a (dyn Fn(usize) -> Reads + Sync),
}

impl Round<'_> {
    /// Records what the contributions depend on.
    pub(in crate::meter) fn depend(&self, filter: &mut Filter) {
        for u in (0..self.present.len()).filter(|&u| self.present[u]) {
            filter.depends(u, &(self.reads)(u));
        }
    }
}

impl Filter {
    /// Every node that is present adds a contribution and a noise to its model, and sends the sum to the
    /// nodes that take it; then all nodes take their means.
    ///
    /// `shown`: whether the models of the previous round are shown first, as if they were read.
    pub(in crate::meter) fn round(&mut self, round: &Round<'_>, shown: bool) {
        let nodes = round.after.len();
        if (shown || round.hidden) && round.present.iter().all(|&present| present) {
            self.show_unmixed(round.before.unwrap_or_default());
        }
        round.depend(self);
        if self.doubt.is_some() {
            return;
        }
        let Some((variance, exact)) = self.float(round.variance) else { return };
        if round.weights.iter().flatten().any(|(_, weight)| !(SMALL..LARGE).contains(&weight.abs())) {
            self.doubt = Some(Doubt::Range);
            return;
        }
        // The models plus what was added, in the places of the models.
        let mut sums: Vec<Option<usize>> = vec![None; nodes];
        for u in 0..nodes {
            let register = round.before.map(|before| before[u]);
            let mut place = register.and_then(|register| match self.place.get(&register) {
                Some(Place::Row(_)) => Some(register),
                _ => None,
            });
            if round.present[u] && !self.observer.contains(u) {
                // Numbers that no register of a program has.
                let register = place.unwrap_or(usize::MAX - u);
                let row = match self.place.get(&register) {
                    Some(&Place::Row(row)) => row,
                    _ => self.push(register),
                };
                let direction = self.direction_of_use(u);
                let before = self.moves[row][direction];
                self.moves[row][direction] = before + 1.0;
                self.directions[direction].seen |= before == -1.0;
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
                    self.inject(row, 4.0 * UNIT * (before.abs() + variance));
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
        self.unmixed = None;
        let unmixed = Unmixed {
            filter: self.clone(),
            sums: sums.iter().flatten().copied().collect(),
            stale: round.before.unwrap_or_default().to_vec(),
        };
        self.mix(round, &sums);
        self.retire();
        self.unmixed = Some(Box::new(unmixed));
    }

    /// Shows all models. They are combinations of the sums that were mixed, so that an observer who is shown
    /// the sums learns no less. Each sum has a noise of its own, whereas the models may be linearly dependent
    /// once some sums are known, which rounding could not decide.
    pub(super) fn show_unmixed(&mut self, models: &[usize]) {
        let Some(unmixed) = self.unmixed.take() else { return };
        if models.iter().all(|&model| self.knows(model)) {
            return;
        }
        let Unmixed { filter, sums, stale } = *unmixed;
        *self = filter;
        (self.above, self.shown_reads) = (true, true);
        for register in &sums {
            if let Some(&Place::Row(row)) = self.place.get(register) {
                self.sight(row);
            }
        }
        for register in stale.iter().chain(&sums) {
            self.place.remove(register);
        }
        self.place.extend(models.iter().map(|&model| (model, Place::Known)));
        self.drop_still();
    }

    /// For a round that was followed step by step: forgets everything from this register on except the models
    /// after it.
    pub(in crate::meter) fn keep_models(&mut self, round: &Round<'_>, from: usize) {
        let before = round.before.unwrap_or_default();
        self.place.retain(|register, _| match *register < from {
            true => !before.contains(register),
            false => round.after.contains(register),
        });
    }

    /// Replaces all `y` by `h = W y`; other registers stay.
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
            self.cancelled(&next, &sizes);
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

    /// Stops following directions that move none of the registers that are alive: what is seen later reveals
    /// nothing more about them, and nothing is rounded.
    pub(in crate::meter) fn drop_still(&mut self) {
        if self.followed == Followed::Same {
            return;
        }
        let still = |k: usize| self.moves.iter().all(|row| row[k] == 0.0);
        let gone: Vec<bool> = (0..self.directions.len()).map(still).collect();
        if gone.contains(&true) {
            self.follow_no_more(&gone, 0.0);
        }
    }

    /// Stops following directions that hardly move anything any more: their remaining effect is counted as
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
        // Squares of moves are below 1e-24 of the variances, and 1e-12 of the variances is injected.
        self.follow_no_more(&gone, 1.01e-12 * rows);
    }

    /// Keeps the cost of these directions, with this additional rounding, and drops their columns.
    fn follow_no_more(&mut self, gone: &[bool], rounding: f64) {
        for (k, direction) in self.directions.iter().enumerate().filter(|(k, _)| gone[*k]) {
            let kappa = (direction.kappa + rounding).next_up();
            let node = &mut self.nodes[direction.node];
            node.high = node.high.max(direction.high);
            node.low = node.low.max(direction.low);
            node.kappa = node.kappa.max(kappa);
            node.seen |= direction.seen || self.moves.iter().any(|row| row[k] != 0.0);
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
}
