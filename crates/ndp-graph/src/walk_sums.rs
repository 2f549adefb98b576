//! Sums over the powers of a walk, `S_T = Σ_{t=1}^T W^t / t`.
//!
//! `S_T[u][v]` is the expected number of visits to `v` by a walk from `u`, where a visit at time `t` counts
//! `1/t`: the published loss of a random-walk token is a multiple of it.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*,
//!   ICML 2024, arXiv:2402.07471: Theorem 3 and equation (15), which prints `ln T` for the harmonic number
//!   `H_T`; `H_T` is larger, and is used here.

use crate::error::ensure;
use crate::{Error, GossipMatrix, Spectrum};
use ndarray::Array2;

/// The most steps a sum may have: ten million.
pub(crate) const MAX_STEPS: usize = 10_000_000;

/// Row `u` of `S_T` for a gossip matrix and `T = steps`: one entry per node.
///
/// The deviation from the stationary law is summed separately, until it is too small to count.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`Error::InvalidParameter`] beyond `10^7` steps.
///
/// # Complexity
/// `O(min(T, 40 / gap) nnz)`.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::complete_graph, walk_sums::walk_sum_row};
/// // Metropolis weights on a complete graph reach every node with probability 1/4 in every step.
/// let row = walk_sum_row(&GossipMatrix::metropolis(&complete_graph(4)?), 0, 3)?;
/// assert!(row.iter().all(|sum| (sum - 0.25 * (1.0 + 1.0 / 2.0 + 1.0 / 3.0)).abs() < 1e-15));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn walk_sum_row(matrix: &GossipMatrix, u: usize, steps: usize) -> Result<Vec<f64>, Error> {
    check_steps(steps)?;
    let n = matrix.node_count();
    let mut deviation = deviation_from_uniform(n, u)?;
    let mut next = vec![0.0; n];
    let mut sums = vec![0.0; n];
    for t in 1..=steps {
        matrix.csr().multiply(&deviation, &mut next);
        std::mem::swap(&mut deviation, &mut next);
        remove_mean(&mut deviation);
        for (sum, x) in sums.iter_mut().zip(&deviation) {
            *sum += x / t as f64;
        }
        // Norms do not grow, so the remaining terms sum to at most |deviation| ln(T / t).
        let norm = deviation.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm * (steps as f64 / t as f64).ln() <= 1e-17 / n as f64 {
            break;
        }
    }
    let mean = harmonic_number(steps) / n as f64;
    Ok(sums.into_iter().map(|sum| sum + mean).collect())
}

/// `S_T` for all pairs and `T = steps`, `n` by `n`, from an eigendecomposition.
///
/// # Errors
/// [`Error::Disconnected`], [`Error::TooLarge`]; [`Error::InvalidParameter`] beyond `10^7` steps.
///
/// # Complexity
/// `O(n³)`, and at most `min(T, 40 / (1 - |λ|))` terms per eigenvalue.
///
/// # Examples
/// ```
/// use ndp_graph::walk_sums::{walk_sum_row, walk_sums};
/// use ndp_graph::{GossipMatrix, Spectrum, generators::path_graph};
/// let path = GossipMatrix::metropolis(&path_graph(4)?);
/// let sums = walk_sums(&Spectrum::new(&path)?, 10)?;
/// assert!((sums[(0, 3)] - walk_sum_row(&path, 0, 10)?[3]).abs() < 1e-13);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn walk_sums(spectrum: &Spectrum, steps: usize) -> Result<Array2<f64>, Error> {
    check_steps(steps)?;
    spectrum.function(harmonic_number(steps), |lambda| power_sum(lambda, steps))
}

/// The harmonic number `H_T = 1 + 1/2 + … + 1/T`, to within a few units in the last place.
#[must_use]
pub(crate) fn harmonic_number(steps: usize) -> f64 {
    if steps <= 256 {
        return (1..=steps).rev().map(|t| 1.0 / t as f64).sum();
    }
    // The Euler–Maclaurin series; the first term left out is 1 / (252 T^6).
    let t = steps as f64;
    let square = 1.0 / (t * t);
    t.ln() + EULER_GAMMA + 0.5 / t - square * (1.0 / 12.0 - square / 120.0)
}

/// `Σ_{t=1}^T λ^t / t` for `|λ| ≤ 1` and `T = steps`; `-ln(1 - λ)` if the terms beyond `T` are too small to
/// count.
pub(crate) fn power_sum(lambda: f64, steps: usize) -> f64 {
    // Beyond T the terms sum to at most |λ|^(T+1) / ((T+1) (1 - |λ|)), here below e^-40 of the sum.
    if (1.0 - lambda.abs()) * steps as f64 > 45.0 {
        return -(-lambda).ln_1p();
    }
    // Horner's scheme. Powers computed by repeated multiplication drift: at λ = 0.9999 their sum was wrong by
    // 6e-12.
    (1..=steps).rev().fold(0.0, |sum, t| sum * lambda + 1.0 / t as f64) * lambda
}

/// Refuses a number of steps above `MAX_STEPS`.
pub(crate) fn check_steps(steps: usize) -> Result<(), Error> {
    ensure(steps <= MAX_STEPS, "the number of steps", "be at most 10^7", steps as f64)
}

/// `e_u - 1/n`.
pub(crate) fn deviation_from_uniform(n: usize, u: usize) -> Result<Vec<f64>, Error> {
    let mut deviation = unit_vector(n, u)?;
    deviation.iter_mut().for_each(|x| *x -= 1.0 / n as f64);
    Ok(deviation)
}

/// Projects on the vectors of mean zero: otherwise rounding would bring the constant vector back.
pub(crate) fn remove_mean(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|x| *x -= mean);
}

fn unit_vector(n: usize, u: usize) -> Result<Vec<f64>, Error> {
    let mut vector = vec![0.0; n];
    *vector.get_mut(u).ok_or(Error::NodeOutOfRange { node: u, nodes: n })? = 1.0;
    Ok(vector)
}

const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
