//! Up to eight vectors side by side, and their products with a matrix.

use super::{BIAS, Kernels, Packed};
use crate::lanes::{Named, Row};
use ndp_graph::tasks::for_tasks;

impl<const L: usize> Packed<L> {
    /// Up to eight vectors side by side: `L` rows for each coordinate. Lanes without a vector are 0.
    fn side_by_side(vectors: &[&Self]) -> Vec<[Row; L]> {
        let mut beside = vec![[Row::ZERO; L]; vectors.first().map_or(0, |x| 8 * x.blocks.len())];
        for_tasks(&mut beside, |first, beside| {
            for (block, beside) in (first / 8..).zip(beside.chunks_mut(8)) {
                for (lane, x) in vectors.iter().enumerate() {
                    let block = &x.blocks[block];
                    for (at, number) in beside.iter_mut().enumerate() {
                        for (to, row) in number.iter_mut().zip(block) {
                            to.0[lane] = row.0[at];
                        }
                        number[L - 1].0[lane] ^= BIAS;
                    }
                }
            }
        });
        beside
    }

    /// The vector in one of eight lanes.
    fn from_lane(beside: &[[Row; L]], lane: usize, length: usize) -> Self {
        let mut packed = Self::zeros(length);
        for_tasks(&mut packed.blocks, |first, blocks| {
            for (block, numbers) in blocks.iter_mut().zip(beside[8 * first..].chunks(8)) {
                for (at, number) in numbers.iter().enumerate() {
                    for (row, from) in block.iter_mut().zip(number) {
                        row.0[at] = from.0[lane];
                    }
                    block[L - 1].0[at] ^= BIAS;
                }
            }
        });
        packed
    }
}

impl Kernels {
    /// The products of a matrix with up to eight vectors.
    pub(crate) fn matrix_times<const L: usize>(
        self,
        matrix: Named<'_>,
        vectors: &[&Packed<L>],
    ) -> Vec<Packed<L>> {
        let length = vectors.first().map_or(0, |x| x.len());
        let x = Packed::side_by_side(vectors);
        let mut y = vec![[Row::ZERO; L]; x.len()];
        for_tasks(&mut y[..length], |first, y| {
            (self.products)(matrix, L, first, x.as_flattened(), y.as_flattened_mut());
        });
        drop(x);
        (0..vectors.len()).map(|lane| Packed::from_lane(&y, lane, length)).collect()
    }
}
