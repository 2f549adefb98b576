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
