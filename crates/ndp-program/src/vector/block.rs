//! Up to sixteen vectors at once, for products with gossip matrices in floating point.

use ndp_graph::Csr;
use ndp_graph::kernel::{self, Lanes};
use ndp_graph::tasks::for_tasks;

/// The largest number of vectors in a block.
pub const WIDTH: usize = 16;

/// Up to [`WIDTH`] vectors, one per lane.
pub struct Block {
    rows: Vec<Lanes<WIDTH>>,
    width: usize,
}

impl Block {
    /// `width` vectors, all zero.
    pub fn zero(n: usize, width: usize) -> Self {
        debug_assert!(0 < width && width <= WIDTH);
        Self { rows: vec![Lanes::ZERO; n], width }
    }

    /// Sets entry `row` of vector `lane`.
    pub fn set(&mut self, row: usize, lane: usize, value: f64) {
        self.rows[row].0[lane] = value;
    }

    /// The rows, each with one lane per vector.
    pub fn rows(&self) -> &[Lanes<WIDTH>] {
        &self.rows
    }

    /// Replaces two rows by their mean.
    pub fn average(&mut self, a: usize, b: usize) {
        let mean = std::array::from_fn(|lane| 0.5 * (self.rows[a].0[lane] + self.rows[b].0[lane]));
        (self.rows[a], self.rows[b]) = (Lanes(mean), Lanes(mean));
    }

    /// `W` times this block.
    pub fn multiplied(&self, w: &Csr) -> Self {
        let mut product = Self::zero(self.rows.len(), self.width);
        for_tasks(&mut product.rows, |first, y| kernel::multiply(w, first, &self.rows, self.width, y));
        product
    }
}
