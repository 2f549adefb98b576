//! Exact losses when every round has fresh noise: a Kalman filter for the hidden states.
//!
//! The observers know their own states and noises and receive those of `O = N(V) \ V`; the other nodes
//! `H` are hidden. `P` is the covariance of the hidden states given what was seen, `D` their
//! dependence on each input. Every innovation has covariance at least `s_t I`, so no rank
//! has to be decided.

use crate::Error;
use ndarray::{Array2, ArrayView2};
use ndp_graph::linalg::{cholesky, gemm};

/// Unit losses `s_0 bᵀ Σ⁻¹ b` of all nodes towards an observer who sees `senders` and hides nothing
/// of its own; `hidden` are the nodes that are neither observers nor senders, all `variances` positive.
///
/// # Complexity
/// `O(T h³)` for `h` hidden nodes.
pub(super) fn hidden_losses(
    matrix: ArrayView2<'_, f64>,
    senders: &[usize],
    hidden: &[usize],
    variances: &[f64],
) -> Result<Vec<f64>, Error> {
    let block = |rows: &[usize], columns: &[usize]| {
        Array2::from_shape_fn((rows.len(), columns.len()), |(i, j)| matrix[(rows[i], columns[j])])
    };
    let (w_oh, w_hh) = (block(senders, hidden), block(hidden, hidden));
    let h = hidden.len();
    let mut dependence = Array2::<f64>::eye(h);
    let mut covariance = Array2::<f64>::eye(h) * variances[0];
    let mut losses = vec![0.0; h];
    if h == 0 {
        return Ok(losses);
    }
    for &s in &variances[1..] {
        let seen = gemm(w_oh.view(), covariance.view())?;
        let mut innovation = gemm(seen.view(), w_oh.t())?;
        innovation.diag_mut().mapv_inplace(|x| x + s);
        let factor = cholesky(symmetrized(innovation).view())?;
        let shift = gemm(w_oh.view(), dependence.view())?;
        let solved = factor.solve(shift.view())?;
        for (loss, (y, z)) in losses.iter_mut().zip(shift.columns().into_iter().zip(solved.columns())) {
            *loss += y.dot(&z);
        }
        // The gain is P W_HO K⁻¹ = (K⁻¹ W_OH P)ᵀ.
        let gain = factor.solve(seen.view())?.reversed_axes();
        dependence = gemm(w_hh.view(), (dependence - gemm(gain.view(), shift.view())?).view())?;
        let updated = covariance - gemm(gain.view(), seen.view())?;
        covariance = symmetrized(gemm(gemm(w_hh.view(), updated.view())?.view(), w_hh.view())?);
        covariance.diag_mut().mapv_inplace(|x| x + s);
    }
    Ok(losses.into_iter().map(|loss| variances[0] * loss).collect())
}

fn symmetrized(m: Array2<f64>) -> Array2<f64> {
    (&m + &m.t()) / 2.0
}
