//! Randomized gossip for a given sequence of edges, which ring one after the other.

use crate::{Program, Reads};
use ndp_account::Error;

/// Every node adds a noise of variance 1 to its value. When an edge rings, its ends exchange what they have,
/// and both take the mean.
///
/// `rings` is the realised sequence of edges, which everybody knows: the account is conditional on it.
///
/// # Errors
/// [`ProgramError::NodeOutOfRange`](crate::ProgramError::NodeOutOfRange),
/// [`ProgramError::SameEnds`](crate::ProgramError::SameEnds).
///
/// # References
/// - Boyd, Ghosh, Prabhakar, Shah, *Randomized gossip algorithms*, IEEE Transactions on Information Theory,
///   2006.
/// - Cyffers et al., *Muffliato*, NeurIPS 2022, arXiv:2206.05091: with noise.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::randomized_gossip};
/// // Node 2 hears the mean of nodes 0 and 1.
/// let program = randomized_gossip(3, &[(0, 1), (1, 2)])?;
/// let loss = program.account(&Observer::node(2))?.loss(0, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn randomized_gossip(nodes: usize, rings: &[(usize, usize)]) -> Result<Program, Error> {
    let mut program = Program::new(nodes)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let mut y = program.add_all(&x, &z)?;
    for &(a, b) in rings {
        for node in [a, b] {
            if node >= nodes {
                return Err(crate::ProgramError::NodeOutOfRange { node, nodes }.into());
            }
        }
        program.send(a, b, y[a])?;
        program.send(b, a, y[b])?;
        let mean = program.combine([((1, 2), y[a]), ((1, 2), y[b])])?;
        (y[a], y[b]) = (mean, mean);
    }
    program.result(y.into_iter().enumerate())?;
    Ok(program)
}
