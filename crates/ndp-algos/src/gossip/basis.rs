//! Orthonormal bases of views: blocks of directions made orthogonal to everything seen before.
//!
//! Columns are stored eight to a panel, row by row, and new ones come up to sixteen at a time, so that the work is
//! products of small blocks. Long vectors are cut into tasks of fixed size whose sums are added in
//! order: results do not depend on the number of threads.

use crate::kernel::{self, Lanes};
use crate::tasks::{for_tasks, map_tasks};
use ndarray::Array2;
use ndp_graph::Csr;

/// Most directions that are made orthogonal together.
pub(super) const WIDTH: usize = 16;

/// Orthonormal columns of length `n`.
pub(super) struct Basis {
    n: usize,
    panels: Vec<Vec<Lanes<8>>>,
    len: usize,
}

/// Up to [`WIDTH`] candidates for new columns, one per lane.
pub(super) struct Block {
    rows: Vec<Lanes<WIDTH>>,
    width: usize,
}

/// How the candidates of a block are told apart.
#[derive(Clone, Copy)]
pub(super) enum Decision<'a> {
    /// Candidate `k` is new exactly if `kept[k]`.
    Kept(&'a [bool]),
    /// The only candidate is new if more than this share of it is left.
    Tolerance(f64),
}

/// What became of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Absorbed {
    /// Largest share left of a candidate that is not new, or 1 for a new one that floats lost.
    pub(super) dropped: f64,
    /// Whether a candidate known to be new was lost.
    pub(super) lost: bool,
}

impl Block {
    /// `width` candidates, all zero.
    pub(super) fn zero(n: usize, width: usize) -> Self {
        debug_assert!(0 < width && width <= WIDTH);
        Self { rows: vec![Lanes::ZERO; n], width }
    }

    /// Sets entry `row` of candidate `lane`.
    pub(super) fn set(&mut self, row: usize, lane: usize, value: f64) {
        self.rows[row].0[lane] = value;
    }

    /// The rows, one lane for each candidate.
    pub(super) fn rows(&self) -> &[Lanes<WIDTH>] {
        &self.rows
    }

    /// Replaces two rows by their mean.
    pub(super) fn average(&mut self, a: usize, b: usize) {
        let mean = std::array::from_fn(|lane| 0.5 * (self.rows[a].0[lane] + self.rows[b].0[lane]));
        (self.rows[a], self.rows[b]) = (Lanes(mean), Lanes(mean));
    }

    /// `W` times this block.
    pub(super) fn multiplied(&self, w: &Csr) -> Self {
        let mut product = Self::zero(self.rows.len(), self.width);
        self.multiply_into(w, &mut product);
        product
    }

    /// Writes `W` times this block into another, which keeps nothing of what it held.
    pub(super) fn multiply_into(&self, w: &Csr, product: &mut Self) {
        product.narrow(self.width);
        for_tasks(&mut product.rows, |first, y| kernel::multiply(w, first, &self.rows, self.width, y));
    }

    /// Takes another width; the lanes beyond it become zero.
    fn narrow(&mut self, width: usize) {
        if width < self.width {
            for_tasks(&mut self.rows, |_, rows| rows.iter_mut().for_each(|row| row.0[width..].fill(0.0)));
        }
        self.width = width;
    }

    /// Length of every candidate.
    fn norms(&self) -> [f64; WIDTH] {
        let tasks = map_tasks(&self.rows, |_, y| {
            let mut squares = [0.0; WIDTH];
            for y in y {
                squares.iter_mut().zip(&y.0).for_each(|(sum, y)| *sum += y * y);
            }
            squares
        });
        let mut total = [0.0; WIDTH];
        for squares in tasks {
            total.iter_mut().zip(&squares).for_each(|(total, sum)| *total += sum);
        }
        total.map(f64::sqrt)
    }

    /// `Yᵀ Y`.
    fn gram(&self) -> [Lanes<WIDTH>; WIDTH] {
        let tasks = map_tasks(&self.rows, |_, y| {
            let mut sums = [Lanes::ZERO; WIDTH];
            y.chunks(CACHED).for_each(|y| kernel::overlap(y, y, self.width, &mut sums));
            sums
        });
        let mut total = [Lanes::ZERO; WIDTH];
        for sums in tasks {
            add(&mut total, &sums);
        }
        total
    }

    /// `Y ← Y M`.
    fn combine(&mut self, m: &[Lanes<WIDTH>; WIDTH]) {
        let width = self.width;
        for_tasks(&mut self.rows, |_, y| kernel::combine(m, width, y));
    }
}

impl Basis {
    /// The empty basis for vectors of length `n`.
    pub(super) fn new(n: usize) -> Self {
        Self { n, panels: Vec::new(), len: 0 }
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes for `columns` columns of length `n` and the blocks worked on.
    pub(super) fn bytes(n: usize, columns: usize) -> u128 {
        let lanes = columns.div_ceil(8) * 8 + 2 * WIDTH;
        n as u128 * lanes as u128 * 8
    }

    /// Adds the unit vector of a node that no column touches.
    pub(super) fn push_unit(&mut self, node: usize) {
        let (panel, lane) = self.slot(self.len);
        self.panels[panel][node].0[lane] = 1.0;
        self.len += 1;
    }

    /// Copies columns `range` (at most [`WIDTH`]) to a block, which keeps nothing of what it held.
    pub(super) fn copy_to(&self, range: std::ops::Range<usize>, block: &mut Block) {
        block.narrow(range.len());
        for_tasks(&mut block.rows, |first, rows| {
            for (lane, column) in range.clone().enumerate() {
                let panel = &self.panels[column / 8][first..first + rows.len()];
                rows.iter_mut().zip(panel).for_each(|(row, q)| row.0[lane] = q.0[column % 8]);
            }
        });
    }

    /// The columns as rows: `len` by `n`.
    pub(super) fn to_rows(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.len, self.n), |(j, u)| self.panels[j / 8][u].0[j % 8])
    }

    /// `Σ_j Q[u][j]²` for every `u`.
    pub(super) fn squares(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.n];
        for_tasks(&mut sums, |first, sums| {
            for panel in &self.panels {
                for (sum, q) in sums.iter_mut().zip(&panel[first..]) {
                    *sum += q.0.iter().map(|q| q * q).sum::<f64>();
                }
            }
        });
        sums
    }

    /// Makes the candidates orthogonal to all columns and to each other and adds the new ones. The block is
    /// used up.
    ///
    /// `recent` is the first column that the candidates may overlap with in exact arithmetic: those
    /// before it are removed once, against rounding, those after it twice.
    pub(super) fn absorb(&mut self, block: &mut Block, decision: Decision<'_>, recent: usize) -> Absorbed {
        let before = block.norms();
        let mut result = Absorbed::default();
        let recent = recent / 8 * 8;
        let mut start = 0;
        while start < block.width {
            let overlap = self.overlap(block, recent);
            self.remove(block, &overlap, recent);
            let kept = match decision {
                Decision::Kept(kept) => {
                    self.clean(block, kept);
                    kept.to_vec()
                }
                Decision::Tolerance(share) => {
                    debug_assert_eq!(block.width, 1);
                    self.clean(block, &[true]);
                    vec![block.norms()[0] > share * before[0]]
                }
            };
            let Some(triangle) = Triangle::new(&block.gram(), &kept, start, block.width) else {
                return Absorbed { dropped: 1.0, lost: true };
            };
            block.combine(&triangle.matrix);
            if triangle.amplification > 10.0 {
                // Small rests: what was left of the old columns in them has grown with them.
                self.clean(block, &kept);
            }
            let Some(polish) = Triangle::new(&block.gram(), &kept, start, triangle.end) else {
                return Absorbed { dropped: 1.0, lost: true };
            };
            block.combine(&polish.matrix);
            let end = polish.end;
            if (start..end).any(|k| !kept[k]) {
                let left = block.norms();
                for k in (start..end).filter(|&k| !kept[k] && before[k] > 0.0) {
                    result.dropped = result.dropped.max(left[k] / before[k]);
                }
            }
            let new: Vec<usize> = (start..end).filter(|&k| kept[k]).collect();
            self.append(block, &new);
            start = end;
        }
        result
    }

    /// Removes all columns from the block until a pass finds nothing worth removing from those that
    /// matter.
    fn clean(&self, block: &mut Block, matters: &[bool]) {
        for _ in 0..3 {
            let overlap = self.overlap(block, 0);
            let norms = block.norms();
            self.remove(block, &overlap, 0);
            let worst = |k: usize| overlap.iter().fold(0.0, |m: f64, h| m.max(h.0[k].abs()));
            // Removing a millionth leaves rounding errors behind that are a millionth of the usual ones.
            if (0..block.width).all(|k| !matters[k] || worst(k) <= 1e-6 * norms[k]) {
                break;
            }
        }
    }

    /// `Qᵀ Y` for the columns from `first` (a multiple of 8) on.
    fn overlap(&self, block: &Block, first: usize) -> Vec<Lanes<WIDTH>> {
        let panels = &self.panels[first / 8..];
        let tasks = map_tasks(&block.rows, |start, y| {
            let mut sums = vec![Lanes::ZERO; 8 * panels.len()];
            for (i, y) in y.chunks(CACHED).enumerate() {
                let start = start + i * CACHED;
                for (panel, sums) in panels.iter().zip(sums.chunks_exact_mut(8)) {
                    kernel::overlap(&panel[start..start + y.len()], y, block.width, sums);
                }
            }
            sums
        });
        let mut tasks = tasks.into_iter();
        let mut total = tasks.next().unwrap_or_default();
        for sums in tasks {
            add(&mut total, &sums);
        }
        total
    }

    /// `Y ← Y - Q H` for the columns from `first` (a multiple of 8) on.
    fn remove(&self, block: &mut Block, overlap: &[Lanes<WIDTH>], first: usize) {
        let panels = &self.panels[first / 8..];
        let width = block.width;
        for_tasks(&mut block.rows, |start, y| kernel::remove(panels, overlap, width, start, y));
    }

    fn append(&mut self, block: &Block, lanes: &[usize]) {
        let mut lanes = lanes;
        while !lanes.is_empty() {
            let (panel, slot) = self.slot(self.len);
            let (now, later) = lanes.split_at(lanes.len().min(8 - slot));
            for_tasks(&mut self.panels[panel], |first, rows| {
                for (row, y) in rows.iter_mut().zip(&block.rows[first..]) {
                    for (j, &lane) in now.iter().enumerate() {
                        row.0[slot + j] = y.0[lane];
                    }
                }
            });
            self.len += now.len();
            lanes = later;
        }
    }

    /// Panel and lane of a column, the panel allocated.
    fn slot(&mut self, column: usize) -> (usize, usize) {
        if column / 8 == self.panels.len() {
            self.panels.push(vec![Lanes::ZERO; self.n]);
        }
        (column / 8, column % 8)
    }
}

/// The triangular combination that makes the new candidates of a block orthonormal and leaves of each
/// other candidate its rest.
struct Triangle {
    /// Column `k` combines the old lanes to the new lane `k`; lanes before `start` become zero, lanes
    /// from `end` on stay.
    matrix: [Lanes<WIDTH>; WIDTH],
    /// The first lane that is too close to the ones before it to be treated together with them.
    end: usize,
    /// How much the shortest rest was stretched.
    amplification: f64,
}

impl Triangle {
    /// `None` when nothing is left of a new candidate.
    fn new(gram: &[Lanes<WIDTH>; WIDTH], kept: &[bool], start: usize, width: usize) -> Option<Self> {
        let mut matrix = [Lanes::ZERO; WIDTH];
        let mut rows = [[0.0; WIDTH]; WIDTH];
        let mut amplification: f64 = 1.0;
        let mut end = width;
        let norms = norms(gram);
        for k in start..width {
            // Coefficients of candidate k, of unit length, on the orthonormal directions before it.
            let mut rest = 1.0;
            for j in (start..k).filter(|&j| kept[j] && norms[k] > 0.0) {
                let known: f64 = (start..j).filter(|&i| kept[i]).map(|i| rows[k][i] * rows[j][i]).sum();
                rows[k][j] = (gram[k].0[j] / norms[k] / norms[j] - known) / rows[j][j];
                rest -= rows[k][j] * rows[k][j];
            }
            let first = (start..k).all(|j| !kept[j]);
            if kept[k] && norms[k] <= 0.0 {
                return None;
            }
            // A rest that is not a number is not safe either.
            let safe = rest > SAFE;
            if kept[k] && !first && !safe {
                end = k;
                break;
            }
            rows[k][k] = if kept[k] { rest.sqrt() } else { 1.0 };
            // Lane k of the result, in terms of the old lanes.
            let scale = if kept[k] { 1.0 / (norms[k] * rows[k][k]) } else { 1.0 };
            for row in &mut matrix[start..k] {
                let removed: f64 = (start..k).filter(|&j| kept[j]).map(|j| rows[k][j] * row.0[j]).sum();
                row.0[k] = -removed * norms[k] * scale;
            }
            matrix[k].0[k] = scale;
            if kept[k] {
                amplification = amplification.max(1.0 / rows[k][k]);
            }
        }
        (end..WIDTH).for_each(|k| matrix[k].0[k] = 1.0);
        Some(Self { matrix, end, amplification })
    }
}

fn norms(gram: &[Lanes<WIDTH>; WIDTH]) -> [f64; WIDTH] {
    std::array::from_fn(|k| gram[k].0[k].max(0.0).sqrt())
}

fn add(total: &mut [Lanes<WIDTH>], sums: &[Lanes<WIDTH>]) {
    for (total, sums) in total.iter_mut().zip(sums) {
        total.0.iter_mut().zip(&sums.0).for_each(|(total, sum)| *total += sum);
    }
}

/// Rows that stay in the fastest cache while all columns pass by.
const CACHED: usize = 128;
/// The squared sine below which a candidate is treated in a round of its own.
const SAFE: f64 = 1e-6;
