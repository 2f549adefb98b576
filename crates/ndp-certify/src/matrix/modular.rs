//! An exact matrix modulo a prime.

use super::{Entries, Entry, ExactMatrix};
use crate::field::Field;
use ndp_graph::tasks::for_tasks;

/// An [`ExactMatrix`] modulo a prime.
pub(crate) struct ModularMatrix<'a> {
    pub(super) matrix: &'a ExactMatrix,
    pub(super) field: Field,
    /// The inverse of each divisor.
    pub(super) inverses: Vec<u64>,
    /// The same times `2^64`.
    pub(super) lifted: Vec<u64>,
    /// Each given weight.
    pub(super) weights: Vec<u64>,
    /// Each share of the identity.
    pub(super) shares: Vec<u64>,
}

impl ModularMatrix<'_> {
    /// `W x`.
    pub(crate) fn apply(&self, x: &[u64]) -> Vec<u64> {
        let field = self.field;
        let mut y = vec![0; x.len()];
        for_tasks(&mut y, |first, y| match &self.matrix.entries {
            Entries::Named { starts, groups, neighbors, .. } => {
                for (u, y) in (first..).zip(y) {
                    let mut sum = x[u];
                    for group in &groups[starts[u]..starts[u + 1]] {
                        // A sum of 2 · 2^32 residues below 2^61 is below 2^94, so it is reduced once, at the
                        // end.
                        let inside = &neighbors[group.inside.0 as usize..group.inside.1 as usize];
                        let added: u128 = inside.iter().map(|&v| u128::from(x[v as usize])).sum();
                        let taken = u128::from(group.count) * u128::from(field.prime() - x[u]);
                        // The reduction divides by 2^64, which the lifted inverse undoes.
                        let total = field.reduce(added + taken);
                        sum = field.plus(sum, field.times(total, self.lifted[group.divisor as usize]));
                    }
                    *y = self.lazy(x[u], sum);
                }
            }
            Entries::Given { starts, columns, .. } => {
                for (u, y) in (first..).zip(y) {
                    for k in starts[u]..starts[u + 1] {
                        *y = field.plus(*y, field.times(self.weights[k], x[columns[k] as usize]));
                    }
                }
            }
        });
        y
    }

    /// `Σ_{v ≠ u} w_uv x_v`.
    pub(crate) fn off_diagonal(&self, u: usize, x: &[u64]) -> u64 {
        let field = self.field;
        match &self.matrix.entries {
            Entries::Named { starts, groups, neighbors, .. } => {
                let mut sum = 0;
                for group in &groups[starts[u]..starts[u + 1]] {
                    let inside = &neighbors[group.inside.0 as usize..group.inside.1 as usize];
                    let total = inside.iter().fold(0, |sum, &v| field.plus(sum, x[v as usize]));
                    sum = field.plus(sum, field.times(total, self.inverses[group.divisor as usize]));
                }
                self.lazy(0, sum)
            }
            Entries::Given { starts, columns, .. } => (starts[u]..starts[u + 1])
                .filter(|&k| columns[k] as usize != u)
                .fold(0, |sum, k| field.plus(sum, field.times(self.weights[k], x[columns[k] as usize]))),
        }
    }

    /// `w_uv x` of two different nodes.
    pub(crate) fn weighted(&self, u: usize, v: usize, x: u64) -> u64 {
        match self.matrix.find(u, v) {
            None => 0,
            Some(Entry::Divisor(at)) => self.lazy(0, self.field.times(self.inverses[at], x)),
            Some(Entry::Weight(at)) => self.field.times(self.weights[at], x),
        }
    }

    /// `y + l (x - y)`, one share after the other.
    fn lazy(&self, x: u64, y: u64) -> u64 {
        let field = self.field;
        self.shares.iter().fold(y, |y, &l| field.plus(y, field.times(l, field.minus(x, y))))
    }
}
