//! An exact matrix modulo a prime.

use super::{Entries, Entry, ExactMatrix};
use crate::field::Field;
use crate::lanes::Named;
use crate::packed::{self, Eight, RESIDUES, Residues};
use ndp_graph::tasks::for_tasks;
use std::sync::OnceLock;

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
    /// The entries on the diagonal of a named matrix, once they were asked for.
    pub(super) own: OnceLock<Vec<u64>>,
}

impl ModularMatrix<'_> {
    /// The products with up to eight vectors.
    pub(crate) fn products(&self, x: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let [first, _, ..] = x else { return x.iter().map(|x| self.apply(x)).collect() };
        let mut beside: Vec<Eight> = vec![[0; 8]; first.len()];
        for (lane, x) in x.iter().enumerate() {
            beside.iter_mut().zip(x).for_each(|(to, &x)| to[lane] = x);
        }
        let products = self.by_loops(&beside).unwrap_or_else(|| self.apply_together(&beside));
        (0..x.len()).map(|lane| products.iter().map(|product| product[lane]).collect()).collect()
    }

    /// The products with eight vectors side by side, by the loops for eight residues at a time, if they can
    /// be used.
    fn by_loops(&self, x: &[Eight]) -> Option<Vec<Eight>> {
        let Entries::Named { starts, groups, neighbors, divisors } = &self.matrix.entries else {
            return None;
        };
        let few = starts.windows(2).all(|s| s[1] - s[0] < RESIDUES);
        let loops = Residues::best().filter(|_| self.field.is_large() && self.shares.is_empty() && few)?;
        let rows = Named { starts, groups, neighbors, divisors };
        let matrix = packed::Modular { rows, inverses: &self.inverses, own: self.own(rows) };
        let mut products = vec![[0; 8]; x.len()];
        for_tasks(&mut products, |first, products| {
            let mut sums = [[[0; 8]; 3]; PIECE];
            for (piece, products) in products.chunks_mut(PIECE).enumerate() {
                let sums = &mut sums[..products.len()];
                (loops.products)(matrix, first + piece * PIECE, x, sums);
                for (product, [low, middle, high]) in products.iter_mut().zip(&*sums) {
                    for (lane, product) in product.iter_mut().enumerate() {
                        *product = self.field.reduce_columns([low[lane], middle[lane], high[lane]]);
                    }
                }
            }
        });
        Some(products)
    }

    fn own(&self, rows: Named<'_>) -> &[u64] {
        let field = self.field;
        self.own.get_or_init(|| {
            let mut own = vec![field.integer(1); rows.starts.len() - 1];
            for_tasks(&mut own, |first, own| {
                for (u, own) in (first..).zip(own) {
                    for group in &rows.groups[rows.starts[u]..rows.starts[u + 1]] {
                        let count = field.integer(group.count.into());
                        *own = field.minus(*own, field.times(count, self.inverses[group.divisor as usize]));
                    }
                }
            });
            own
        })
    }

    /// `W x`.
    pub(crate) fn apply(&self, x: &[u64]) -> Vec<u64> {
        self.apply_together::<1>(x.as_chunks().0).into_flattened()
    }

    /// `W x` for `G` vectors side by side.
    pub(crate) fn apply_together<const G: usize>(&self, x: &[[u64; G]]) -> Vec<[u64; G]> {
        let field = self.field;
        let mut y = vec![[0; G]; x.len()];
        for_tasks(&mut y, |first, y| match &self.matrix.entries {
            Entries::Named { .. } => {
                for (u, y) in (first..).zip(y) {
                    *y = self.named(u, x);
                }
            }
            Entries::Given { starts, columns, .. } => {
                for (u, y) in (first..).zip(y) {
                    for k in starts[u]..starts[u + 1] {
                        for (y, &x) in y.iter_mut().zip(&x[columns[k] as usize]) {
                            *y = field.plus(*y, field.times(self.weights[k], x));
                        }
                    }
                }
            }
        });
        y
    }

    /// `W x` at a node of a named matrix.
    #[inline]
    fn named<const G: usize>(&self, u: usize, x: &[[u64; G]]) -> [u64; G] {
        let Entries::Named { starts, groups, neighbors, .. } = &self.matrix.entries else { return [0; G] };
        let field = self.field;
        // Residues are below 2^61. The sum of the products of small groups, each below prime · 2^64, is kept
        // below that, so that it is reduced once.
        let (mut sums, mut small) = (x[u], [0u128; G]);
        let minus = x[u].map(|x| field.prime() - x);
        for group in &groups[starts[u]..starts[u + 1]] {
            let inside = group.of(neighbors);
            let divisor = group.divisor as usize;
            if group.count <= SMALL {
                let added = sum_of(inside, x);
                for lane in 0..G {
                    let total = added[lane] + u64::from(group.count) * minus[lane];
                    let sum = small[lane] + u128::from(total) * u128::from(self.inverses[divisor]);
                    small[lane] = sum.checked_sub(u128::from(field.prime()) << 64).unwrap_or(sum);
                }
            } else {
                // A sum of 2 · 2^32 residues is below 2^94, so it is reduced once, at the end.
                let mut totals = minus.map(|minus| u128::from(group.count) * u128::from(minus));
                for part in inside.chunks(2 * SMALL as usize) {
                    totals
                        .iter_mut()
                        .zip(sum_of(part, x))
                        .for_each(|(total, part)| *total += u128::from(part));
                }
                for (sum, total) in sums.iter_mut().zip(totals) {
                    // The reduction divides by 2^64, which the lifted inverse undoes.
                    *sum = field.plus(*sum, field.times(field.reduce(total), self.lifted[divisor]));
                }
            }
        }
        std::array::from_fn(|lane| self.lazy(x[u][lane], field.plus(sums[lane], field.reduce(small[lane]))))
    }

    /// `Σ_{v ≠ u} w_uv x_v`.
    pub(crate) fn off_diagonal(&self, u: usize, x: &[u64]) -> u64 {
        let field = self.field;
        match &self.matrix.entries {
            Entries::Named { starts, groups, neighbors, .. } => {
                let mut sum = 0;
                for group in &groups[starts[u]..starts[u + 1]] {
                    let inside = group.of(neighbors);
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

/// The sums of at most twice [`SMALL`] residues.
#[inline]
fn sum_of<const G: usize>(nodes: &[u32], x: &[[u64; G]]) -> [u64; G] {
    let mut sums = [0; G];
    for &v in nodes {
        sums.iter_mut().zip(&x[v as usize]).for_each(|(sum, x)| *sum += x);
    }
    sums
}

/// Nodes whose sums stay in the fastest cache.
const PIECE: usize = 64;
/// Twice as many residues below `2^61` fit into 64 bits.
const SMALL: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Ball;
    use crate::matrix::Laziness;
    use ndp_graph::{GossipMatrix, Graph, random};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A row of the product is its part off the diagonal and what a row sum of 1 leaves on it: for groups of
    /// all sizes around those that are added up in 64 bits, with the largest residues and any, and for nodes
    /// with many small groups.
    #[test]
    fn products_are_those_of_rows_that_sum_to_one() -> Result<(), Box<dyn std::error::Error>> {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let field = Field::new((1 << 61) - 1);
        let mut graphs = vec![random::erdos_renyi_graph(80, 0.4, &mut rng)?];
        for leaves in 1..20 {
            graphs.push(Graph::from_edges(leaves + 1, (1..=leaves).map(|leaf| (0, leaf)))?);
        }
        for graph in graphs {
            let n = graph.node_count();
            let exact = ExactMatrix::new(
                &GossipMatrix::metropolis(&graph),
                &Ball::around(&graph, &[0], n),
                Laziness::Kept,
            );
            let matrix = exact.modulo(field);
            let n = exact.nodes();
            let ones = vec![field.integer(1); n];
            let most = field.prime() - 1;
            let any: Vec<u64> = (0..n).map(|_| rng.random_range(0..=most)).collect();
            let mut single = vec![most; n];
            single[0] = 0;
            for x in [vec![most; n], single, any] {
                let together: Vec<[u64; 3]> = x.iter().zip(&ones).map(|(&x, &one)| [one, x, x]).collect();
                let together = matrix.apply_together(&together).into_iter();
                let found: Vec<u64> = matrix.apply(&x);
                assert!(together.eq(found.iter().zip(&ones).map(|(&x, &one)| [one, x, x])));
                for (u, found) in found.into_iter().enumerate() {
                    let diagonal = field.minus(ones[u], matrix.off_diagonal(u, &ones));
                    let expected = field.plus(matrix.off_diagonal(u, &x), field.times(diagonal, x[u]));
                    assert_eq!(found, expected, "node {u} of {n}");
                }
            }
        }
        Ok(())
    }
}
