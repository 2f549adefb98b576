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
    if n <= MAX_OPERATOR {
        return Ok(());
    }
    Err(Error::NotOffered("the error is computed from an operator on all nodes, for at most 2048 of them"))
}

/// Nothing if so many rounds, of so many products each, end within minutes.
///
/// # Errors
/// [`Error::InvalidParameter`] otherwise.
pub(crate) fn require_rounds(rounds: usize, products: usize) -> Result<(), Error> {
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
    use crate::Error;
    use crate::gossip::printed::{Powers, theorem1_all_pairs, theorem1_from, theorem1_towards};
    use crate::gossip::{GossipProtocol, MessageNoise, NoisyMessageGossip, SynchronousGossip};
    use ndarray::arr2;
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
                theorem1_towards((&matrix, rounds), &[0], Powers::FromZero).map(drop),
                theorem1_from(&matrix, 0, rounds, Powers::FromOne).map(drop),
                theorem1_all_pairs(&matrix, rounds, Powers::FromZero).map(drop),
                crate::gossip::printed::corollary1_towards(&matrix, &[0], rounds).map(drop),
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
