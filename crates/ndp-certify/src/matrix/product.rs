//! Products of an exact matrix with vectors in fixed point.

use super::{Entries, ExactMatrix};
use crate::dyadic::Dyadic;
use crate::fixed::{self, Fixed};
use crate::lanes::Named;
use crate::packed::{Kernels, Packed};
use ndp_graph::tasks::for_tasks;

impl ExactMatrix {
    /// The [products](Self::apply) with up to eight vectors.
    pub(crate) fn products<const L: usize>(&self, x: &[&Packed<L>], kernels: Kernels) -> Vec<Packed<L>> {
        match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors }
                if self.shares.is_empty() && x.len() > 1 =>
            {
                kernels.matrix_times(Named { starts, groups, neighbors, divisors }, x)
            }
            _ => x.iter().map(|x| Packed::of(&self.apply(&x.unpacked()))).collect(),
        }
    }

    /// `W x` in fixed point; every coordinate is off by less than `‖W‖` times the error of `x` plus
    /// [`units`](Self::units).
    pub(crate) fn apply<const L: usize>(&self, x: &[Fixed<L>]) -> Vec<Fixed<L>> {
        self.apply_together::<L, 1>(x.as_chunks().0).into_flattened()
    }

    /// The same for `G` vectors side by side: what a node needs of its neighbors is then in one place.
    pub(crate) fn apply_together<const L: usize, const G: usize>(
        &self,
        x: &[[Fixed<L>; G]],
    ) -> Vec<[Fixed<L>; G]> {
        let mut y = vec![[[0; L]; G]; x.len()];
        for_tasks(&mut y, |first, y| match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } => {
                for (u, y) in (first..).zip(y) {
                    *y = x[u];
                    for group in &groups[starts[u]..starts[u + 1]] {
                        let divisor = divisors[group.divisor as usize].1;
                        for (inside, count) in group.parts(neighbors) {
                            let mut sums =
                                x[u].map(|x| fixed::minus(&[0; L], &fixed::times_integer(&x, count)));
                            for &v in inside {
                                add_each(&mut sums, &x[v as usize]);
                            }
                            add_each(y, &sums.map(|sum| divisor.divide(&sum)));
                        }
                    }
                    for (y, x) in y.iter_mut().zip(&x[u]) {
                        *y = self.lazy(x, *y);
                    }
                }
            }
            Entries::Given { starts, columns, weights } => {
                for (u, y) in (first..).zip(y) {
                    for k in starts[u]..starts[u + 1] {
                        add_each(y, &x[columns[k] as usize].map(|x| fixed::times(&x, weights[k])));
                    }
                }
            }
        });
        y
    }

    /// Applies laziness to `y = S x` at a node: `y + l (x - y)` for one share after the other, each off by
    /// less than one unit.
    pub(super) fn lazy<const L: usize>(&self, x: &Fixed<L>, y: Fixed<L>) -> Fixed<L> {
        let share =
            |y: Fixed<L>, &l: &f64| fixed::plus(&y, &fixed::times(&fixed::minus(x, &y), Dyadic::of(l)));
        self.shares.iter().fold(y, share)
    }
}

/// Adds the numbers of a list to those of another.
#[inline]
fn add_each<const L: usize>(to: &mut [Fixed<L>], x: &[Fixed<L>]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to = fixed::plus(to, x));
}
