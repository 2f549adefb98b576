//! Up to eight vectors side by side, and their products with a matrix.

use super::{BIAS, Kernels, Packed};
use crate::lanes::{Named, Row};
use ndp_graph::tasks::for_wide_tasks;

impl Packed {
    /// Up to eight vectors side by side: `limbs` rows for each coordinate. Lanes without a vector are 0.
    fn side_by_side(vectors: &[&Self], limbs: usize) -> Vec<Row> {
        let mut beside = vec![Row::ZERO; vectors.first().map_or(0, |x| 8 * x.rows.len())];
        for_wide_tasks(&mut beside, limbs, &|first, beside| {
            let rows = first / 8 * limbs..;
            for (block, beside) in rows.step_by(limbs).zip(beside.chunks_mut(8 * limbs)) {
                for (lane, x) in vectors.iter().enumerate() {
                    let block = &x.rows[block..][..limbs];
                    for (at, number) in beside.chunks_exact_mut(limbs).enumerate() {
                        for (to, row) in number.iter_mut().zip(block) {
                            to.0[lane] = row.0[at];
                        }
                        number[limbs - 1].0[lane] ^= BIAS;
                    }
                }
            }
        });
        beside
    }

    /// The vector in one of eight lanes.
    fn from_lane(beside: &[Row], lane: usize, limbs: usize, length: usize) -> Self {
        let mut packed = Self::zeros(limbs, length);
        for_wide_tasks(&mut packed.rows, limbs, &|first, rows| {
            let numbers = beside[8 * first * limbs..].chunks(8 * limbs);
            for (block, numbers) in rows.chunks_exact_mut(limbs).zip(numbers) {
                for (at, number) in numbers.chunks_exact(limbs).enumerate() {
                    for (row, from) in block.iter_mut().zip(number) {
                        row.0[at] = from.0[lane];
                    }
                    block[limbs - 1].0[at] ^= BIAS;
                }
            }
        });
        packed
    }
}

impl Kernels {
    /// The products of a matrix with up to eight vectors of equally many limbs.
    pub(crate) fn matrix_times(self, matrix: Named<'_>, vectors: &[&Packed]) -> Vec<Packed> {
        let (limbs, length) = vectors.first().map_or((1, 0), |x| (x.limbs, x.len()));
        let x = Packed::side_by_side(vectors, limbs);
        let mut y = vec![Row::ZERO; x.len()];
        for_wide_tasks(&mut y[..length * limbs], limbs, &|first, y| {
            (self.products)(matrix, limbs, first, &x, y);
        });
        drop(x);
        (0..vectors.len()).map(|lane| Packed::from_lane(&y, lane, limbs, length)).collect()
    }
}
