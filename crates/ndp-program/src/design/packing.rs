//! Least cost under requirements with nonnegative coefficients, by the simplex method on the dual.
//!
//! The problem `minimise cᵀ v` such that `a_jᵀ v ≥ 1` for all `j` has the dual `maximise Σ w_j` such that
//! `Σ_j w_j a_j ≤ c`, `w ≥ 0`. For the dual, `w = 0` is a feasible start, and a new requirement is a new
//! column. Any feasible `w` proves a lower bound.

/// A linear program to which requirements are added.
pub(super) struct Packing {
    costs: Vec<f64>,
    /// The requirements, over strengths times their costs.
    requirements: Vec<Vec<f64>>,
}

impl Packing {
    /// A program without requirements; costs are positive.
    pub(super) fn new(costs: Vec<f64>) -> Self {
        Self { costs, requirements: Vec::new() }
    }

    /// Requires `aᵀ v ≥ 1`.
    pub(super) fn require(&mut self, a: Vec<f64>) {
        self.requirements.push(a.iter().zip(&self.costs).map(|(a, c)| a / c).collect());
    }

    /// The best `v`, and a lower bound on the cost of every `v`.
    pub(super) fn solve(&self) -> (Vec<f64>, f64) {
        let (k, m) = (self.costs.len(), self.requirements.len());
        // Rows: Σ_j w_j a_j + slack = 1; the last column is the right side.
        let mut table: Vec<Vec<f64>> = (0..k)
            .map(|i| {
                let mut row: Vec<f64> = self.requirements.iter().map(|a| a[i]).collect();
                row.extend((0..k).map(|l| f64::from(u8::from(l == i))));
                row.push(1.0);
                row
            })
            .collect();
        let mut gain: Vec<f64> = vec![1.0; m];
        gain.resize(m + k + 1, 0.0);
        let mut basis: Vec<usize> = (m..m + k).collect();
        for pivot in 0..MAX_PIVOTS {
            let candidates = gain[..m + k].iter().enumerate().filter(|(_, g)| **g > ENOUGH);
            // The column with the largest gain or, after a while, the first one, so that cycles end.
            let entering = if pivot < MAX_PIVOTS / 2 {
                candidates.max_by(|a, b| a.1.total_cmp(b.1))
            } else {
                candidates.into_iter().next()
            };
            let Some((column, _)) = entering else { break };
            let ratio = |i: &usize| table[*i][m + k] / table[*i][column];
            let open = (0..k).filter(|&i| table[i][column] > ENOUGH);
            let Some(row) = open.min_by(|a, b| ratio(a).total_cmp(&ratio(b)).then(basis[*a].cmp(&basis[*b])))
            else {
                break;
            };
            let scale = 1.0 / table[row][column];
            table[row].iter_mut().for_each(|x| *x *= scale);
            let chosen = table[row].clone();
            for (_, other) in
                table.iter_mut().enumerate().filter(|(i, other)| *i != row && other[column] != 0.0)
            {
                let factor = other[column];
                other.iter_mut().zip(&chosen).for_each(|(x, y)| *x -= factor * y);
            }
            let factor = gain[column];
            gain.iter_mut().zip(&chosen).for_each(|(x, y)| *x -= factor * y);
            basis[row] = column;
        }
        // The lower bound follows from w itself, scaled until it is feasible.
        let mut w = vec![0.0; m];
        for (row, &column) in table.iter().zip(&basis).filter(|(_, column)| **column < m) {
            w[column] = row[m + k].max(0.0);
        }
        let load = |i: usize| -> f64 { self.requirements.iter().zip(&w).map(|(a, w)| a[i] * w).sum() };
        let most = (0..k).map(load).fold(1.0, f64::max);
        let bound = w.iter().sum::<f64>() / most * (1.0 - 1e-12);
        let strengths = (0..k).map(|i| (-gain[m + i]).max(0.0) / self.costs[i]).collect();
        (strengths, bound)
    }
}

/// Gains and entries below this count as 0.
const ENOUGH: f64 = 1e-11;
const MAX_PIVOTS: usize = 4000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The least `v + 2 w` with `v + w ≥ 1`, `w ≥ 1/4`, `v + 3 w ≥ 1` is at (3/4, 1/4).
    #[test]
    fn a_small_program() {
        let mut program = Packing::new(vec![1.0, 2.0]);
        program.require(vec![1.0, 1.0]);
        program.require(vec![0.0, 4.0]);
        program.require(vec![1.0, 3.0]);
        let (v, bound) = program.solve();
        assert!((v[0] - 0.75).abs() < 1e-12 && (v[1] - 0.25).abs() < 1e-12, "{v:?}");
        assert!(bound <= 1.25 && bound > 1.25 - 1e-11, "{bound}");
    }
}
