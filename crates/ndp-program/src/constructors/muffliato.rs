//! Muffliato: one noise per node, then gossip with a fixed matrix.

use crate::{Program, VectorProgram};
use ndp_account::Error;
use ndp_graph::GossipMatrix;

/// Every node adds a noise of variance 1 to its value. In each of `rounds` rounds it sends what it has to all
/// its neighbors and takes the mean `y ← W y`.
///
/// An observer learns at most a node's own noisy value, a unit loss of 1, and often less: a leaf of a star of
/// five nodes learns 1/3 about another leaf.
///
/// # Errors
/// None for a matrix of the library.
///
/// # References
/// - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091, Algorithm 1.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::muffliato};
/// use ndp_graph::{GossipMatrix, generators::star_graph};
/// let program = muffliato(&GossipMatrix::metropolis(&star_graph(4)?), 3)?;
/// let loss = program.account(&Observer::node(1))?.loss(2, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 1.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn muffliato(matrix: &GossipMatrix, rounds: usize) -> Result<Program, Error> {
    VectorProgram::new(matrix.node_count()).noise(1.0).rounds(matrix, rounds).program()
}
