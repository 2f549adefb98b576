//! What a protocol does to its inputs, as a matrix: the error of its output.

use ndarray::{ArrayView2, Axis};
use ndp_account::Error;
use ndp_dp::{Exact, NoiseMultiplier, Sigma};

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

/// The exact error of the linear operator `P` (`n` by `n`, every column summing to 1):
/// `(1/n) (Σ_k ‖P x_k - x̄_k 1‖² + d σ² ‖P‖_F²)`, the sum over the `d` columns of `values`.
///
/// # Errors
/// [`Error::Shape`] unless the operator is square and there is one row of values per node;
/// [`Error::InvalidParameter`] for a number that is not finite.
pub(crate) fn operator_error(
    operator: ArrayView2<'_, f64>,
    values: ArrayView2<'_, f64>,
    sigma: Sigma,
) -> Result<Exact<f64>, Error> {
    let n = operator.nrows();
    if operator.ncols() != n {
        return Err(Error::Shape { what: "columns of the operator", expected: n, got: operator.ncols() });
    }
    check_values(values, n)?;
    if let Some(&value) = operator.iter().find(|x| !x.is_finite()) {
        let (name, condition) = ("every entry of the operator", "be finite");
        return Err(Error::InvalidParameter { name, condition, value });
    }
    let squares = operator.iter().map(|x| x * x).sum();
    Ok(Exact::new(split_error(values, operator.dot(&values).view(), squares, sigma)))
}

/// Of the output without noise and of `‖P‖_F²`.
fn split_error(values: ArrayView2<'_, f64>, output: ArrayView2<'_, f64>, squares: f64, sigma: Sigma) -> f64 {
    let n = values.nrows() as f64;
    let mean = values.mean_axis(Axis(0)).expect("there is a node");
    let bias: f64 = (&output - &mean).iter().map(|x| x * x).sum();
    let variance = values.ncols() as f64 * sigma.get() * sigma.get() * squares;
    (bias + variance) / n
}

pub(crate) fn check_values(values: ArrayView2<'_, f64>, nodes: usize) -> Result<(), Error> {
    if values.nrows() != nodes {
        return Err(Error::Shape { what: "rows of the values", expected: nodes, got: values.nrows() });
    }
    if values.ncols() == 0 {
        return Err(Error::Shape { what: "columns of the values (at least)", expected: 1, got: 0 });
    }
    match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => {
            Err(Error::InvalidParameter { name: "every value to average", condition: "be finite", value })
        }
        None => Ok(()),
    }
}

/// Nothing if an `n` by `n` operator is small enough to be written down for its error.
pub(crate) fn require_operator(n: usize) -> Result<(), Error> {
    if n <= MAX_OPERATOR {
        return Ok(());
    }
    Err(Error::NotOffered("the error is computed from an operator on all nodes, for at most 2048 of them"))
}

/// Nothing if so many rounds, of so many products each, end within minutes.
///
/// # Errors
/// [`Error::InvalidParameter`] otherwise.
#[doc(hidden)]
pub fn require_rounds(rounds: usize, products: usize) -> Result<(), Error> {
    // A round has a cost of its own, however small the graph.
    if rounds as f64 * (products as f64).max(FEWEST_PRODUCTS) <= MAX_PRODUCTS {
        return Ok(());
    }
    let name = "the number of rounds that are gone through one by one";
    let condition = "be at most 4e11 over the products of a round, of which 100000 are counted at least";
    Err(Error::InvalidParameter { name, condition, value: rounds as f64 })
}

/// Products that a round is counted for, at least.
const FEWEST_PRODUCTS: f64 = 1e5;
/// Products that one answer may take: some minutes.
const MAX_PRODUCTS: f64 = 4e11;
/// Nodes for which the error is computed from the operator.
const MAX_OPERATOR: usize = 2048;

#[cfg(test)]
mod tests {
    use crate::gossip::{GossipProtocol, MessageNoise, NoisyMessageGossip, SynchronousGossip};
    use ndarray::arr2;
    use ndp_account::Error;
    use ndp_dp::Sigma;
    use ndp_graph::{GossipMatrix, generators::path_graph};

    /// What goes through all rounds refuses more than it can go through, naming their number.
    #[test]
    fn rounds_without_end_are_refused() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&path_graph(3)?);
        let (values, sigma) = (arr2(&[[0.0], [1.0], [0.0]]), Sigma::new(1.0)?);
        for rounds in [1_000_000_000, 1 << 31, 1 << 40, usize::MAX] {
            let gossip = SynchronousGossip::new(matrix.clone(), rounds);
            // The noises of so many rounds fit no memory.
            let messages = NoisyMessageGossip::new(matrix.clone(), rounds, 0.1, MessageNoise::PerLink);
            assert!(matches!(messages, Err(Error::Graph(_))), "{rounds}");
            for refused in [
                gossip.operator().map(drop),
                gossip.mean_squared_error(values.view(), sigma).map(drop),
                gossip.accelerated(1.2)?.operator().map(drop),
            ] {
                assert!(
                    matches!(refused, Err(Error::InvalidParameter { value, .. }) if value == rounds as f64),
                    "{rounds}: {refused:?}"
                );
            }
        }
        SynchronousGossip::new(matrix, 1_000_000).operator().map(drop)
    }
}
