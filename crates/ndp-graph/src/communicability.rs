//! Communicability: how well two nodes are joined by walks of all lengths.
//!
//! `G_uv = Σ_{i≥1} c_i (W^i)_uv` with decreasing `c_i`. With `c_i = 1/i` on `W - 11ᵀ/n` it is the
//! [`log_matrix`](crate::log_matrix::log_matrix), the shape of the published walk loss.
//!
//! # References
//! - Estrada, Hatano, *Communicability in complex networks*, Physical Review E 77, 2008.
//! - Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*,
//!   ICML 2024, arXiv:2402.07471: Definition 8.

use crate::{Error, Spectrum};
use ndarray::Array2;

/// `exp(W) - I = Σ_{i≥1} W^i / i!`, `n` by `n`.
///
/// Its entries off the diagonal equal those of `exp(W)`, which the authors' programs plot with a zero
/// diagonal.
///
/// # Errors
/// [`Error::Disconnected`], [`Error::TooLarge`].
///
/// # Examples
/// ```
/// use ndp_graph::communicability::communicability;
/// use ndp_graph::{GossipMatrix, Spectrum, generators::path_graph};
/// let joined = communicability(&Spectrum::new(&GossipMatrix::metropolis(&path_graph(4)?))?)?;
/// assert!(joined[(0, 1)] > joined[(0, 2)] && joined[(0, 2)] > joined[(0, 3)]);
/// assert!((joined.row(0).sum() - 1f64.exp_m1()).abs() < 1e-12); // rows of W sum to 1
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn communicability(spectrum: &Spectrum) -> Result<Array2<f64>, Error> {
    spectrum.function(1f64.exp_m1(), f64::exp_m1)
}

/// `(I - a W)^{-1} - I = Σ_{i≥1} a^i W^i`, `n` by `n`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `-1 < a < 1`, where the series converges;
/// [`Error::Disconnected`], [`Error::TooLarge`].
#[cfg(test)]
pub(crate) fn resolvent_communicability(spectrum: &Spectrum, a: f64) -> Result<Array2<f64>, Error> {
    if !(-1.0 < a && a < 1.0) {
        let (name, condition) = ("the attenuation of a walk", "lie in (-1, 1)");
        return Err(Error::InvalidParameter { name, condition, value: a });
    }
    spectrum.function(a / (1.0 - a), |lambda| a * lambda / (1.0 - a * lambda))
}
