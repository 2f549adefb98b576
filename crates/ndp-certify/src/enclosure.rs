//! The theorem: what nearly orthonormal combinations say about the losses.
//!
//! Let `q_1, …, q_r` be exactly combinations of the rows that span what the kept rows span, `G` their Gram
//! matrix over the noises and `β_u` their coefficients over the input `u`. If `‖G - I‖ ≤ h < 1` then the kept
//! rows are independent, and
//!
//! ```text
//! ‖β_u‖² / (1 + h)  ≤  unit loss of u  ≤  ‖β_u‖² / (1 - h):
//! ```
//!
//! the loss is `β_uᵀ G⁻¹ β_u`, and the eigenvalues of `G` lie in `[1 - h, 1 + h]`. Computed vectors at
//! distance at most `e_k` from the exact ones give `h = η + 2ε √(1 + η) + ε²` with `ε² = Σ e_k²` and `η` a
//! bound on their own `‖Ĝ - I‖`.

use crate::layout::Layout;
use crate::magnitude::times_power;
use ndarray::{Array2, ArrayView1, ShapeBuilder};
use ndp_linalg::add_lower_product;
use rayon::prelude::*;

/// What is proven about the losses of a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosure {
    /// Lower ends, one for each input of the layout.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
    /// `h`.
    pub spread: f64,
    /// `ε`.
    pub error: f64,
}

impl Enclosure {
    /// From computed vectors and their distances from the exact ones; `None` unless `h < 1`.
    pub(crate) fn new(vectors: &[Vec<f64>], errors: &[f64], layout: &Layout) -> Option<Self> {
        let up = |x: f64| up(x, vectors.len());
        let error = up(errors.iter().map(|e| e * e).sum::<f64>().sqrt());
        let eta = distance_from_identity(vectors, layout)?;
        let spread = up(eta + 2.0 * error * (1.0 + eta).sqrt() + error * error);
        if spread.is_nan() || spread >= 1.0 {
            return None;
        }
        let roundings = (vectors.len() + 16) as f64 * f64::EPSILON;
        let ends = |input: &crate::rows::Input| {
            let squares: f64 = vectors.iter().map(|q| q[input.coordinate] * q[input.coordinate]).sum();
            let length = squares.sqrt();
            let short = (length * (1.0 - roundings) - error).max(0.0);
            let long = length * (1.0 + roundings) + error;
            let factor = |x: f64| times_power(x * input.factor, input.scale);
            let lower = factor(short * short / (1.0 + spread) * (1.0 - 16.0 * f64::EPSILON));
            let upper = factor(long * long / (1.0 - spread) * (1.0 + 16.0 * f64::EPSILON));
            // Below the normal range, rounding errors are not relative to the value.
            let lower = if lower < f64::MIN_POSITIVE { 0.0 } else { lower };
            let upper = upper.max(f64::MIN_POSITIVE);
            match input.structural {
                Some(bound) => {
                    debug_assert!(lower <= bound * (1.0 + 1e-9), "{lower} exceeds {bound}");
                    (lower.min(bound), upper.min(bound))
                }
                None => (lower, upper),
            }
        };
        let (lower, upper) = layout.inputs.iter().map(ends).unzip();
        Some(Self { lower, upper, spread, error })
    }

    /// The largest width, absolute up to a loss of 1 and relative above it; infinite if an upper end is.
    pub fn width(&self) -> f64 {
        self.lower.iter().zip(&self.upper).fold(0.0, |m, (&low, &high)| m.max(width(low, high)))
    }
}

/// The width of one enclosure: absolute up to a loss of 1, relative above it.
pub fn width(low: f64, high: f64) -> f64 {
    if high.is_finite() { (high - low) / low.max(1.0) } else { f64::INFINITY }
}

/// An upper bound on `‖Ĝ - I‖`: the largest absolute row sum, rounding errors included.
fn distance_from_identity(vectors: &[Vec<f64>], layout: &Layout) -> Option<f64> {
    let (r, m) = (vectors.len(), layout.noises);
    if r == 0 {
        return Some(0.0);
    }
    let blocks: Vec<usize> = (0..m).step_by(BLOCK).collect();
    // Groups of blocks side by side, added up in order.
    let groups: Vec<Array2<f64>> = blocks
        .par_chunks(blocks.len().div_ceil(4).max(1))
        .map(|group| {
            let mut sum = Array2::<f64>::zeros((r, r).f());
            for &first in group {
                let last = (first + BLOCK).min(m);
                let mut block = Array2::zeros((r, last - first));
                for (mut row, vector) in block.rows_mut().into_iter().zip(vectors) {
                    row.assign(&ArrayView1::from(&vector[first..last]));
                }
                let weighted = layout.weighted(first..last, block.view());
                add_lower_product(&mut sum, weighted.view(), block.view()).ok()?;
            }
            Some(sum)
        })
        .collect::<Option<_>>()?;
    // Only the lower triangle is computed.
    let mut gram = Array2::<f64>::zeros((r, r).f());
    for group in groups {
        gram += &group;
    }
    // Products within a block in any order, then blocks, then groups; vectors are no longer than 2.
    let largest = gram.diag().iter().fold(0.0, |m: f64, &x| m.max(x));
    let unit = (BLOCK.min(m) as f64 + blocks.len() as f64 + 12.0) * f64::EPSILON / 2.0 * 1.01;
    let rounding = unit * largest * 1.01;
    let mut sums = vec![0.0; r];
    for (j, column) in gram.columns().into_iter().enumerate() {
        sums[j] += (column[j] - 1.0).abs();
        for (k, x) in column.iter().enumerate().skip(j + 1) {
            sums[j] += x.abs();
            sums[k] += x.abs();
        }
    }
    let eta = sums.into_iter().fold(0.0, |m: f64, x| if x <= m { m } else { x });
    Some(up(eta + r as f64 * (rounding + f64::EPSILON * largest), r))
}

/// `x` rounded up by enough to cover the rounding errors of a sum of nonnegative terms and of a few
/// operations on it.
pub(super) fn up(x: f64, terms: usize) -> f64 {
    x * (1.0 + (terms + 32) as f64 * f64::EPSILON)
}

/// Products that are added up before they go to the total.
const BLOCK: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    /// For exactly orthonormal vectors, the enclosure is as tight as rounding allows and contains the true
    /// losses.
    #[test]
    fn orthonormal_vectors_have_tight_enclosures() {
        let layout = Layout::of_equal_columns(3, &[0, 1, 2]);
        let vectors = vec![vec![0.6, 0.8, 0.0]];
        let found = Enclosure::new(&vectors, &[1e-16], &layout).expect("h < 1");
        for (k, truth) in [0.36, 0.64, 0.0].into_iter().enumerate() {
            assert!(found.lower[k] <= truth && truth <= found.upper[k]);
        }
        assert!(found.width() < 1e-12, "{}", found.width());
    }

    /// For a skewed pair of vectors, the Gram matrix is far from the identity and the enclosure is wide, but
    /// contains the true losses.
    #[test]
    fn skewed_vectors_have_wide_enclosures() {
        let layout = Layout::of_equal_columns(2, &[0, 1]);
        let vectors = vec![vec![1.0, 0.0], vec![0.3, 1.0]];
        let found = Enclosure::new(&vectors, &[0.0, 0.0], &layout).expect("h < 1");
        // Both vectors span the plane: the truth is 1 for both.
        assert!(found.lower.iter().all(|&low| low <= 1.0) && found.upper.iter().all(|&high| high == 1.0));
        assert!(found.spread >= 0.39 && found.width() > 0.1);
        // The same vector twice: the two span one dimension, not two.
        assert_eq!(Enclosure::new(&[vec![1.0, 0.0], vec![1.0, 0.0]], &[0.0, 0.0], &layout), None);
        assert_eq!(Enclosure::new(&[vec![f64::NAN, 0.0]], &[0.0], &layout), None);
    }

    /// For a loss below or above the range of `f64`, the upper end is positive or infinite.
    #[test]
    fn scales_end_outside() {
        let mut layout = Layout::of_equal_columns(2, &[0, 1]);
        layout.inputs[0].structural = None;
        layout.inputs[0].scale = -3000;
        layout.inputs[1].structural = None;
        layout.inputs[1].scale = 3000;
        let found = Enclosure::new(&[vec![1.0, 0.0], vec![0.0, 1.0]], &[0.0, 0.0], &layout).expect("h < 1");
        assert!(found.upper[0] > 0.0 && found.lower[0] == 0.0);
        assert_eq!(found.upper[1], f64::INFINITY);
        assert_eq!(found.width(), f64::INFINITY);
    }

    /// One vector of length 1.1 has an error of .05. The exact one may have length 1.15, so the square of the
    /// length is off by at most .3225.
    #[test]
    fn errors_count_with_the_length_of_the_vector() {
        let layout = Layout::of_equal_columns(1, &[0]);
        let found = Enclosure::new(&[vec![1.1]], &[0.05], &layout).expect("h < 1");
        assert!((0.3225..0.3225 + 1e-12).contains(&found.spread), "{}", found.spread);
        // Two errors: the root of the sum of their squares.
        let two = Layout::of_equal_columns(2, &[0, 1]);
        let found = Enclosure::new(&[vec![1.0, 0.0], vec![0.0, 1.0]], &[0.03, 0.04], &two).expect("h < 1");
        assert!((0.05..0.05 + 1e-12).contains(&found.error) && found.spread >= 0.1025);
    }

    /// Noises of variances 1/4 and 1/2: vectors of lengths 2 and the root of 2 are orthonormal.
    #[test]
    fn variances_weigh_every_coordinate() {
        let mut layout = Layout::of_equal_columns(2, &[0, 1]);
        layout.variances = vec![0.25, 0.5];
        let found =
            Enclosure::new(&[vec![2.0, 0.0], vec![0.0, 2f64.sqrt()]], &[0.0; 2], &layout).expect("h < 1");
        assert!(found.spread < 1e-13, "{}", found.spread);
    }

    /// A sum of a one and half epsilons in floats loses the latter; its upper bound does not.
    #[test]
    fn sums_are_rounded_up() {
        let mut terms = vec![f64::EPSILON / 2.0; 1001];
        terms[0] = 1.0;
        assert!(up(terms.iter().sum(), terms.len()) >= 1.0 + 500.0 * f64::EPSILON);
    }

    /// Eight vectors of length 5/4, each over a noise of its own: all products are exact, and the rows of
    /// `Ĝ - I` sum up to 9/16. For each of eight entries 21 roundings of a half epsilon are allowed for (8
    /// products, 1 block, 12 more) and a whole one, all relative to 25/16; a sum of 8 terms is rounded up by
    /// 40 epsilons.
    #[test]
    fn roundings_of_products_grow_with_the_vectors() {
        let layout = Layout::of_equal_columns(8, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let vectors: Vec<Vec<f64>> =
            (0..8).map(|k| (0..8).map(|j| if j == k { 1.25 } else { 0.0 }).collect()).collect();
        let found = distance_from_identity(&vectors, &layout).expect("finite");
        let excess = (found - 0.5625) / f64::EPSILON;
        let (square, percent) = (1.5625, 1.01);
        let expected = 8.0 * (10.5 * percent * percent + 1.0) * square + 40.0 * 0.5625;
        assert!((excess - expected).abs() <= 2.0, "{excess} is not {expected}");
    }
}
