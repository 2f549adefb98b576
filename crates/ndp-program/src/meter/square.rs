//! Symmetric matrices that grow, shrink, and are multiplied by sparse steps.

use super::filter::tiny;

/// A symmetric matrix, stored completely, with rows in a stride that leaves room to grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Square {
    size: usize,
    stride: usize,
    entries: Vec<f64>,
}

impl Square {
    fn zeros(size: usize) -> Self {
        Self { size, stride: size, entries: vec![0.0; size * size] }
    }

    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.stride + j]
    }

    pub(super) fn set(&mut self, i: usize, j: usize, x: f64) {
        self.entries[i * self.stride + j] = x;
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.stride..i * self.stride + self.size]
    }

    /// Adds a row and a column of zeros.
    pub(super) fn grow(&mut self) {
        if self.size == self.stride {
            let mut wider = Self::zeros(self.size + self.size / 2 + 4);
            for i in 0..self.size {
                wider.entries[i * wider.stride..i * wider.stride + self.size].copy_from_slice(self.row(i));
            }
            wider.size = self.size;
            *self = wider;
        }
        self.size += 1;
        let last = self.size - 1;
        for i in 0..self.size {
            self.set(i, last, 0.0);
            self.set(last, i, 0.0);
        }
    }

    /// Removes a row and its column; the last row and column take their place.
    pub(super) fn swap_remove(&mut self, at: usize) {
        let last = self.size - 1;
        for i in 0..self.size {
            self.set(i, at, self.at(i, last));
        }
        for j in 0..self.size {
            self.set(at, j, self.at(last, j));
        }
        self.size = last;
    }

    /// The last row and column, which are 0 so far, as a combination of the rows before; and the sums of the
    /// absolute values of its terms.
    ///
    /// The diagonal is kept even if rounding has made it negative. Setting it to 0 would be an error that
    /// nobody counts: a copy of a row would no longer cancel the row.
    pub(super) fn appended(&self, row: usize, terms: &[(usize, f64)]) -> (Vec<f64>, Vec<f64>) {
        let (mut next, mut sizes) = (vec![0.0; row + 1], vec![0.0; row + 1]);
        for &(at, weight) in terms {
            for ((to, size), &x) in next.iter_mut().zip(&mut sizes).zip(&self.row(at)[..row]) {
                let term = weight * x;
                *to += term;
                *size += term.abs() + tiny(x);
            }
        }
        next[row] = terms.iter().map(|&(at, weight)| weight * next[at]).sum();
        sizes[row] = terms.iter().map(|&(at, weight)| weight.abs() * sizes[at]).sum();
        (next, sizes)
    }

    /// Sets a row and its column.
    pub(super) fn set_both(&mut self, row: usize, entries: &[f64]) {
        for (j, &x) in entries.iter().enumerate() {
            self.set(row, j, x);
            self.set(j, row, x);
        }
    }

    /// `T A Tᵀ` for sparse rows `T`, and the row sums of `|T| |A| |T|ᵀ`.
    pub(super) fn transformed(&self, steps: &[Vec<(usize, f64)>]) -> (Self, Vec<f64>) {
        let mut next = Self::zeros(steps.len());
        let mut half = vec![0.0; self.size];
        for (i, terms) in steps.iter().enumerate() {
            half.fill(0.0);
            for &(at, weight) in terms {
                half.iter_mut().zip(self.row(at)).for_each(|(sum, x)| *sum += weight * x);
            }
            for (j, others) in steps[..=i].iter().enumerate() {
                let sum: f64 = others.iter().map(|&(at, weight)| weight * half[at]).sum();
                next.set(i, j, sum);
                next.set(j, i, sum);
            }
        }
        let mut columns = vec![0.0; self.size];
        for &(at, weight) in steps.iter().flatten() {
            columns[at] += weight.abs();
        }
        let sizes: Vec<f64> = (0..self.size)
            .map(|i| self.row(i).iter().zip(&columns).map(|(x, by)| x.abs() * by + tiny(*x)).sum())
            .collect();
        let rounded =
            steps.iter().map(|terms| terms.iter().map(|&(at, weight)| weight.abs() * sizes[at]).sum());
        let rounded = rounded.collect();
        (next, rounded)
    }
}
