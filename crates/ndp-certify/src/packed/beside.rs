//! Up to eight vectors side by side, and their products with a matrix.

use super::{BIAS, Kernels, Packed};
use crate::lanes::{Early, Named, Row};
use ndp_graph::tasks::for_wide_tasks;
use rayon::prelude::*;

impl Packed {
    /// Puts up to eight vectors side by side: `limbs` rows for each coordinate. Lanes without a vector
    /// are left as they are.
    fn side_by_side(vectors: &[&Self], limbs: usize, beside: &mut [Row]) {
        for_wide_tasks(beside, limbs, &|first, beside| {
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

/// Room for eight vectors side by side, kept from one product to the next.
#[derive(Default)]
pub(crate) struct Room {
    x: Vec<Row>,
    quotients: Vec<Row>,
    y: Vec<Row>,
}

impl Kernels {
    /// The products of a matrix with up to eight vectors of equally many limbs. The quotients of `early` are
    /// computed here.
    pub(crate) fn matrix_times(
        self,
        matrix: Named<'_>,
        early: Option<Early<'_>>,
        vectors: &[&Packed],
        Room { x, quotients, y }: &mut Room,
    ) -> Vec<Packed> {
        let Some(first) = vectors.first() else { return Vec::new() };
        let (limbs, length, rows) = (first.limbs, first.len(), 8 * first.rows.len());
        x.resize(rows, Row::ZERO);
        Packed::side_by_side(vectors, limbs, x);
        if let Some(early) = early {
            quotients.resize(length * limbs, Row::ZERO);
            for_nodes(quotients, limbs, &|first, to| {
                (self.quotients)(matrix, limbs, first, x, early.own, to);
            });
        }
        let early = early.map(|early| Early { quotients, ..early });
        y.resize(rows, Row::ZERO);
        for_nodes(&mut y[..length * limbs], limbs, &|first, y| {
            (self.products)(matrix, limbs, first, x, early, y);
        });
        (0..vectors.len()).map(|lane| Packed::from_lane(y, lane, limbs, length)).collect()
    }
}

/// Runs `work` on the rows of some nodes at a time; a node is work enough for tasks to be small.
fn for_nodes(rows: &mut [Row], limbs: usize, work: &(dyn Fn(usize, &mut [Row]) + Sync)) {
    const NODES: usize = 1 << 9;
    rows.par_chunks_mut(NODES * limbs).enumerate().for_each(|(task, rows)| work(task * NODES, rows));
}
