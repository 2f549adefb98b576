//! What a protocol does to its inputs, as a matrix: the error of its output.

use crate::Error;
use ndarray::ArrayView2;
use ndp_dp::NoiseMultiplier;

/// Root mean squared error of the output `P (x + η)` on the worst inputs from an interval of length 1, at most:
/// `√(σ² ‖P‖_F²/n + D ‖P - J‖_F²)` with the spread `D ≤ 1/4`, `J` the mean.
pub(crate) fn worst_of_operator(operator: ArrayView2<'_, f64>, noise: NoiseMultiplier) -> f64 {
    let squares: f64 = operator.iter().map(|x| x * x).sum();
    let variance = noise.get() * noise.get() * squares / operator.nrows() as f64;
    (variance + worst_bias(operator)).sqrt()
}

/// `‖P - J‖_F² / 4`: the squared error without noise, at most, for inputs from an interval of length 1.
pub(crate) fn worst_bias(operator: ArrayView2<'_, f64>) -> f64 {
    let mean = 1.0 / operator.nrows() as f64;
    operator.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 4.0
}

/// Nothing if an `n` by `n` operator is small enough to be written down for its error.
pub(crate) fn require_operator(n: usize) -> Result<(), Error> {
    if n <= LARGEST_OPERATOR {
        return Ok(());
    }
    Err(Error::NotOffered("the error is computed from an operator on all nodes, for at most 2048 of them"))
}

/// Nodes for which the error is computed from the operator.
const LARGEST_OPERATOR: usize = 2048;
