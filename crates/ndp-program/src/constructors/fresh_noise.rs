//! Gossip with new noise in every round.

use crate::{MixingMatrix, Program, Reads, Weight};
use ndp_account::Error;
use ndp_graph::GossipMatrix;

/// Gossip with a fixed matrix in which every node adds noise of variance `variances[t]` to its state before
/// it sends it in round `t`; there are as many rounds as variances.
///
/// With variances 1, 0, 0, ... this is [`muffliato`](super::muffliato()). Later noise prevents the observer
/// from subtracting what it heard before, at the price of accuracy.
///
/// # Errors
/// [`ProgramError::NegativeVariance`](crate::ProgramError::NegativeVariance),
/// [`ProgramError::NotFinite`](crate::ProgramError::NotFinite).
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, Weight, constructors::fresh_noise};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let program = fresh_noise(&matrix, &[Weight::from(1), Weight::from((1, 10))])?;
/// let loss = program.account(&Observer::node(2))?.loss(0, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 10.0 / 19.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fresh_noise(matrix: &GossipMatrix, variances: &[Weight]) -> Result<Program, Error> {
    let mut program = Program::new(matrix.node_count())?;
    let mixing = MixingMatrix::from(matrix);
    let mut y = program.contribute_all(Reads::Nothing)?;
    for variance in variances {
        let z = program.noise_all(variance.clone())?;
        y = program.add_all(&y, &z)?;
        program.send_to_neighbors(matrix.graph(), &y)?;
        y = program.gossip(&mixing, &y)?;
    }
    program.result(y.into_iter().enumerate())?;
    Ok(program)
}
