//! The log matrix `-ln(I - W + 11ᵀ/n)`: the part of `Σ_t W^t / t` that depends on the pair.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*,
//!   ICML 2024, arXiv:2402.07471: equation (15).

use crate::lanczos::{LanczosExtremes, lanczos_extremes};
use crate::walk_sums::{deviation_from_uniform, remove_mean};
use crate::{Error, GossipMatrix, Spectrum, TransitionMatrix, spectrum};
use ndarray::Array2;

/// `-ln(I - W + 11ᵀ/n) = -Σ_{i≥2} ln(1 - λ_i) φ_i φ_iᵀ`, `n` by `n`: the eigenvalue 1 of `W` is
/// mapped to 0.
///
/// It is the limit of `S_T - H_T 11ᵀ/n` (see [`walk_sums`](crate::walk_sums)). Rows sum to zero, so
/// entries are negative for some pairs. An eigenvalue -1 (bipartite graphs) contributes `-ln 2`.
///
/// # Errors
/// [`Error::Disconnected`], [`Error::DoesNotMix`] when `λ_2` is 1 up to rounding,
/// [`Error::TooLarge`].
///
/// # Complexity
/// `O(n³)`: half a matrix product after the eigendecomposition.
///
/// # Examples
/// ```
/// use ndp_graph::log_matrix::{log_matrix, log_matrix_row};
/// use ndp_graph::{GossipMatrix, Spectrum, generators::cycle_graph};
/// let ring = GossipMatrix::metropolis(&cycle_graph(9)?);
/// let all = log_matrix(&Spectrum::new(&ring)?)?;
/// assert!((all[(3, 4)] - 0.3929932115841744).abs() < 1e-12);
/// assert!((log_matrix_row(&ring, 3)?[4] - all[(3, 4)]).abs() < 1e-12);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn log_matrix(spectrum: &Spectrum) -> Result<Array2<f64>, Error> {
    if spectrum.node_count() > 1 {
        spectrum.extremes()?.gap_signed()?;
    }
    spectrum.function(0.0, |lambda| -(-lambda).ln_1p())
}

/// Row `u` of the [`log_matrix`], without an eigendecomposition: one entry per node.
///
/// Sums the powers of the lazy matrix `P = (I + W) / 2`, a sum that converges for bipartite graphs, too:
/// `-ln(1 - λ) = -ln 2 - ln(1 - (1 + λ)/2)`. Entries are accurate to `1e-15` plus rounding.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; those of [`spectrum::extremes`], as the stopping rule
/// needs the gap; [`Error::NoConvergence`] when more than `10^7` powers would be summed (gaps below `1e-5`).
///
/// # Complexity
/// `O(80 / gap_signed · nnz)`, and the extreme eigenvalues.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::torus_graph, log_matrix::log_matrix_row};
/// let row = log_matrix_row(&GossipMatrix::metropolis(&torus_graph(&[60, 60])?), 0)?;
/// assert!(row[1] > row[2] && row[2] > row[30]); // nearer nodes are visited more
/// assert!(row.iter().sum::<f64>().abs() < 1e-9);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn log_matrix_row(matrix: &GossipMatrix, u: usize) -> Result<Vec<f64>, Error> {
    let n = matrix.node_count();
    let mut deviation = deviation_from_uniform(n, u)?;
    if n == 1 {
        return Ok(vec![0.0]);
    }
    let lazy_gap = 0.5 * gap_signed(matrix)?;
    let mut sums: Vec<f64> = deviation.iter().map(|x| -std::f64::consts::LN_2 * x).collect();
    let mut next = vec![0.0; n];
    let mut rest = f64::INFINITY;
    for t in 1..=MAX_POWERS {
        matrix.csr().multiply(&deviation, &mut next);
        deviation.iter_mut().zip(&next).for_each(|(x, wx)| *x = 0.5 * (*x + wx));
        remove_mean(&mut deviation);
        for (sum, x) in sums.iter_mut().zip(&deviation) {
            *sum += x / t as f64;
        }
        // |P^s x| shrinks by 1 - lazy_gap per step.
        let norm = deviation.iter().map(|x| x * x).sum::<f64>().sqrt();
        rest = norm / (t as f64 * lazy_gap);
        if rest <= 1e-16 {
            return Ok(sums);
        }
    }
    Err(Error::NoConvergence { what: "the row of the log matrix", steps: MAX_POWERS, residual: rest })
}

/// A lower bound on `1 - λ_2`, by Lanczos iteration unless that fails: the dense eigensolver would take
/// longer than computing the row.
fn gap_signed(matrix: &GossipMatrix) -> Result<f64, Error> {
    let classes = TransitionMatrix::from(matrix).class_count();
    if classes > 1 {
        return Err(Error::Disconnected(classes));
    }
    let gap = |found: LanczosExtremes| 1.0 - found.extremes.second - found.residual;
    match lanczos_extremes(matrix, 1e-8) {
        Ok(found) if gap(found) > found.residual => Ok(gap(found)),
        _ => spectrum::extremes(matrix)?.gap_signed(),
    }
}

const MAX_POWERS: usize = 10_000_000;
