//! Gossip in which nodes see only weighted sums of their neighbors.

use crate::{MixingMatrix, Program, Reads};
use ndp_account::Error;
use ndp_graph::GossipMatrix;
use ndp_numeric::stop::{Stop, work};

/// Every node adds a noise of variance 1 to its value. In each of `rounds` rounds it learns only `Σ_w W_vw
/// y_w` over its neighbors, by a secure sum, and all nodes take the mean `y ← W y`.
///
/// A node with one neighbor receives that neighbor's value: a sum with one term is a message.
///
/// # Errors
/// None for a matrix of the library.
///
/// # References
/// - Koskela, Kulkarni, *Differential privacy analysis of decentralized gossip averaging under varying threat
///   models*, 2025, arXiv:2505.19969.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::secure_neighbor_sums};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let program = secure_neighbor_sums(&GossipMatrix::metropolis(&path_graph(4)?), 2)?;
/// let loss = program.account(&Observer::node(1))?.loss(0, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 2.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn secure_neighbor_sums(matrix: &GossipMatrix, rounds: usize) -> Result<Program, Error> {
    secure_neighbor_sums_until(matrix, rounds, &Stop::never())
}

/// The same, stopped when `stop` says so.
///
/// # Errors
/// [`Error::Stopped`].
pub fn secure_neighbor_sums_until(
    matrix: &GossipMatrix,
    rounds: usize,
    stop: &Stop,
) -> Result<Program, Error> {
    let mut program = Program::new(matrix.node_count())?;
    let mixing = MixingMatrix::from(matrix);
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let mut y = program.add_all(&x, &z)?;
    // Read once, so that all rounds share the weights.
    let of_neighbors = |v: usize| mixing.entries(v).into_iter().filter(move |(w, _)| *w != v).collect();
    let weights: Vec<Vec<_>> = (0..matrix.node_count()).map(of_neighbors).collect();
    for _ in 0..rounds {
        stop.spend(work([matrix.csr().parts().1.len(), OF_TERM]))?;
        for (v, weights) in weights.iter().enumerate() {
            let terms: Vec<_> = weights.iter().map(|(w, weight)| (*w, weight.clone(), y[*w])).collect();
            match &terms[..] {
                [] => {}
                [(w, _, value)] => program.send(*w, v, *value)?,
                _ => {
                    program.secure_sum(v, terms)?;
                }
            }
        }
        y = program.gossip(&mixing, &y)?;
    }
    program.result(y.into_iter().enumerate())?;
    Ok(program)
}

/// The approximate work of stating one term of a sum.
const OF_TERM: usize = 300;
