//! Which rows are new: Gaussian elimination modulo a prime.

use crate::field::Field;
use crate::packed::{Eight, RESIDUES, Residues};
use ndp_numeric::stop::work;
use rayon::prelude::*;

/// What a row adds to the rows before it, modulo one prime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Newness {
    /// Its noise part is linearly independent of those before.
    New,
    /// It is a linear combination of the rows before.
    Old,
    /// Its noise part is a combination of those before, but its inputs are not. Holds the input coordinates
    /// that remain.
    Leak(Vec<usize>),
}

/// Rows in echelon form. The first `noises` coordinates are noises, the others inputs without noise.
pub(crate) struct Table {
    field: Field,
    noises: usize,
    rows: Vec<Vec<u64>>,
    pivots: Vec<usize>,
    /// For each row `j`, the entries of the rows before it at its pivot.
    triangle: Vec<Vec<u64>>,
}

impl Table {
    pub(crate) fn new(field: Field, noises: usize) -> Self {
        Self { field, noises, rows: Vec::new(), pivots: Vec::new(), triangle: Vec::new() }
    }

    /// Number of independent rows.
    pub(crate) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// Work of [adding](Self::add) a row, about.
    pub(crate) fn cost(&self) -> u64 {
        let length = self.rows.first().map_or(0, Vec::len);
        // Four sums of products take the time of five units.
        (work([self.rank(), self.rank().div_ceil(2) + length]) / 4).saturating_mul(5)
    }

    /// Takes a row (residues in the field's form) and says what it adds.
    pub(crate) fn add(&mut self, mut row: Vec<u64>) -> Newness {
        let field = self.field;
        // The factors of all earlier rows, by substitution at the pivots only.
        let mut factors: Vec<u64> = Vec::with_capacity(self.rank());
        for (column, &pivot) in self.triangle.iter().zip(&self.pivots) {
            let taken = sum_of_products(field, &factors, column);
            factors.push(field.minus(0, field.plus(row[pivot], taken)));
        }
        add_all(field, &factors, &self.rows, &mut row);
        let Some(pivot) = row[..self.noises].iter().position(|&x| x != 0) else {
            let leaks: Vec<usize> = (self.noises..row.len()).filter(|&j| row[j] != 0).collect();
            return if leaks.is_empty() { Newness::Old } else { Newness::Leak(leaks) };
        };
        let scale = field.inverse_of(row[pivot]);
        row.iter_mut().for_each(|x| *x = field.times(*x, scale));
        self.triangle.push(self.rows.iter().map(|before| before[pivot]).collect());
        self.pivots.push(pivot);
        self.rows.push(row);
        Newness::New
    }
}

/// Rows that are orthogonal to one another, none of them to itself.
pub(crate) struct Basis {
    pub(crate) field: Field,
    pub(crate) rows: Vec<Vec<u64>>,
    /// Minus one over the product of each row with itself.
    pub(crate) inverses: Vec<u64>,
}

impl Basis {
    /// Work of [absorbing](Self::absorb) a row, about.
    pub(crate) fn cost(&self) -> u64 {
        self.rows.first().map_or(0, |row| work([2, self.rows.len(), row.len()]))
    }

    /// Subtracts from a row its projection onto the span of the rows, and adds what is left to them. Its
    /// products with some of the rows may be `known`. `None` when what is left is orthogonal to itself.
    pub(crate) fn absorb(
        &mut self,
        mut row: Vec<u64>,
        known: impl Fn(usize) -> Option<u64> + Sync,
    ) -> Option<Absorbed> {
        let field = self.field;
        let product = |(k, before): (usize, &Vec<u64>)| {
            known(k).unwrap_or_else(|| sum_of_products(field, &row, before))
        };
        let mut products: Vec<u64> = if row.len() * self.rows.len() > PARALLEL {
            self.rows.par_iter().enumerate().map(product).collect()
        } else {
            self.rows.iter().enumerate().map(product).collect()
        };
        let factors =
            products.iter().zip(&self.inverses).map(|(&product, &inverse)| field.times(product, inverse));
        let factors: Vec<u64> = factors.collect();
        add_all(field, &factors, &self.rows, &mut row);
        if row.iter().all(|&x| x == 0) {
            return Some(Absorbed { new: false, products });
        }
        let size = sum_of_products(field, &row, &row);
        if size == 0 {
            return None;
        }
        self.rows.push(row);
        self.inverses.push(field.minus(0, field.inverse_of(size)));
        // What was subtracted is orthogonal to what is left.
        products.push(size);
        Some(Absorbed { new: true, products })
    }
}

/// What became of a row.
pub(crate) struct Absorbed {
    /// Whether anything was left of it.
    pub(crate) new: bool,
    /// Its products with the rows, what was left of it among them.
    pub(crate) products: Vec<u64>,
}

/// Adds `Σ factor · row` to a row, in place.
fn add_all(field: Field, factors: &[u64], rows: &[Vec<u64>], to: &mut [u64]) {
    let used: Vec<(u64, &[u64])> = factors
        .iter()
        .zip(rows)
        .filter(|(factor, _)| **factor != 0)
        .map(|(&factor, row)| (factor, row.as_slice()))
        .collect();
    let work = |(piece, to): (usize, &mut [u64])| add_rows(field, &used, piece * PIECE, to);
    if to.len() * used.len() > PARALLEL {
        to.par_chunks_mut(PIECE).enumerate().for_each(work);
    } else {
        to.chunks_mut(PIECE).enumerate().for_each(work);
    }
}

/// `Σ a b`, products added up before they are reduced.
fn sum_of_products(field: Field, a: &[u64], b: &[u64]) -> u64 {
    debug_assert_eq!(a.len(), b.len());
    let Some(residues) = loops(field) else { return sum_of_pairs(field, a, b) };
    let ((a, last), (b, others)) = (a.as_chunks(), b.as_chunks());
    let parts = a.chunks(RESIDUES / 8).zip(b.chunks(RESIDUES / 8));
    parts.fold(sum_of_pairs(field, last, others), |total, (a, b)| {
        field.plus(total, field.reduce_columns((residues.inner)(a, b)))
    })
}

/// The same on any machine. No group of products waits for the one before.
fn sum_of_pairs(field: Field, a: &[u64], b: &[u64]) -> u64 {
    a.chunks(TERMS).zip(b.chunks(TERMS)).fold(0, |total, (a, b)| {
        let sum: u128 = a.iter().zip(b).map(|(&a, &b)| u128::from(a) * u128::from(b)).sum();
        field.plus(total, field.reduce_sum(sum))
    })
}

/// Adds `Σ factor · row` to a piece of a row that starts at `first`, a multiple of 8.
fn add_rows(field: Field, rows: &[(u64, &[u64])], first: usize, to: &mut [u64]) {
    let Some(residues) = loops(field) else { return add_rows_one_by_one(field, rows, first, to) };
    let blocks: Vec<(u64, &[Eight])> =
        rows.iter().map(|&(factor, row)| (factor, row.as_chunks().0)).collect();
    let (whole, last) = to.as_chunks_mut::<8>();
    let mut sums = [[[0; 8]; 3]; PIECE / 8];
    let sums = &mut sums[..whole.len()];
    for group in blocks.chunks(RESIDUES) {
        (residues.combine)(group, first / 8, sums);
        for (to, [low, middle, high]) in whole.iter_mut().zip(&*sums) {
            for (lane, x) in to.iter_mut().enumerate() {
                *x = field.plus(*x, field.reduce_columns([low[lane], middle[lane], high[lane]]));
            }
        }
    }
    add_rows_one_by_one(field, rows, first + 8 * whole.len(), last);
}

/// The same on any machine.
fn add_rows_one_by_one(field: Field, rows: &[(u64, &[u64])], first: usize, to: &mut [u64]) {
    let mut sums = [0u128; PIECE];
    let sums = &mut sums[..to.len()];
    for group in rows.chunks(TERMS) {
        for (factor, row) in group {
            for (sum, &x) in sums.iter_mut().zip(&row[first..first + to.len()]) {
                *sum += u128::from(*factor) * u128::from(x);
            }
        }
        sums.iter_mut().for_each(|sum| *sum = field.fold(*sum));
    }
    for (x, &mut sum) in to.iter_mut().zip(sums) {
        *x = field.plus(*x, field.reduce_sum(sum));
    }
}

/// The loops for products of eight residues at a time, if they can be used.
fn loops(field: Field) -> Option<Residues> {
    Residues::best().filter(|_| field.is_large())
}

/// Products below `2^122` that are added to a number below `2^125` before it is folded.
const TERMS: usize = 32;
/// Coordinates whose sums stay in the fastest cache.
const PIECE: usize = 512;
/// Products from which on pieces go to several threads.
const PARALLEL: usize = 1 << 18;

/// The decisions of one prime.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdicts {
    pub(crate) kept: Vec<bool>,
    pub(crate) leaks: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn small(noises: usize) -> Table {
        Table::new(Field::new(10_007), noises)
    }

    fn row(table: &Table, entries: &[u64]) -> Vec<u64> {
        entries.iter().map(|&x| table.field.integer(x)).collect()
    }

    #[test]
    fn ranks_and_leaks() {
        let mut table = small(2);
        let rows = [[1, 1, 1, 0], [2, 2, 2, 0], [1, 3, 0, 1], [2, 4, 1, 2]];
        let found: Vec<Newness> = rows
            .iter()
            .map(|r| {
                let r = row(&table, r);
                table.add(r)
            })
            .collect();
        assert_eq!(found, [Newness::New, Newness::Old, Newness::New, Newness::Leak(vec![3])]);
        assert_eq!(table.rank(), 2);
    }

    /// The loops for eight residues at a time and those for any machine compute the same: the largest
    /// residues and random ones, of all lengths around whole blocks and around what is added up at a time.
    #[test]
    fn all_loops_compute_the_same_sums() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for prime in [(1 << 61) - 1, (1 << 60) + 33] {
            let field = Field::new(prime);
            for length in [0, 1, 7, 8, 9, 63, 64, 65, RESIDUES - 1, RESIDUES + 8, 2 * RESIDUES + 3] {
                for largest in [true, false] {
                    let mut draw = |_| if largest { prime - 1 } else { rng.random_range(0..prime) };
                    let a: Vec<u64> = (0..length).map(&mut draw).collect();
                    let b: Vec<u64> = (0..length).map(&mut draw).collect();
                    let slow = a.iter().zip(&b).fold(0, |sum, (&a, &b)| field.plus(sum, field.times(a, b)));
                    assert_eq!(sum_of_pairs(field, &a, &b), slow, "{length} pairs modulo {prime}");
                    assert_eq!(sum_of_products(field, &a, &b), slow, "{length} products modulo {prime}");
                    // As many rows, of 20 numbers each, to a piece that starts with the ninth.
                    let rows: Vec<Vec<u64>> = b.iter().map(|_| (0..20).map(&mut draw).collect()).collect();
                    let rows: Vec<(u64, &[u64])> =
                        a.iter().zip(&rows).map(|(&a, row)| (a, row.as_slice())).collect();
                    let expected: Vec<u64> = (8..20)
                        .map(|j| {
                            rows.iter().fold(1, |sum, (a, row)| field.plus(sum, field.times(*a, row[j])))
                        })
                        .collect();
                    for add in [add_rows, add_rows_one_by_one] {
                        let mut to = [1; 12];
                        add(field, &rows, 8, &mut to);
                        assert_eq!(to.as_slice(), expected, "{length} rows modulo {prime}");
                    }
                }
            }
        }
    }

    /// More rows than are added up at a time, checked on a Vandermonde matrix, which has full rank; sums of
    /// its rows add nothing.
    #[test]
    fn long_sums_are_reduced() {
        let n = 1100;
        let mut table = Table::new(Field::new((1 << 61) - 1), n);
        let field = table.field;
        let powers = |x: u64| -> Vec<u64> {
            let x = field.integer(x);
            (0..n as u64).map(|k| field.power(x, k)).collect()
        };
        for x in 1..=150 {
            assert_eq!(table.add(powers(x)), Newness::New);
        }
        let mut sum = vec![0; n];
        for x in 1..=150 {
            sum.iter_mut().zip(powers(x)).for_each(|(sum, y)| *sum = field.plus(*sum, y));
        }
        assert_eq!(table.add(sum), Newness::Old);
        assert_eq!(table.rank(), 150);
    }
}
