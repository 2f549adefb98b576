//! CorN-DSGD: noise with a given covariance across nodes, once, then gossip.

use crate::{MixingMatrix, Program, Reads, Weight};
use ndp_account::Error;
use ndp_graph::GossipMatrix;

/// Nodes add noises to their values once; the covariance of the noises across nodes is `covariance`. They
/// then run `rounds` rounds of gossip without further noise: each node sends what it has to all its neighbors
/// and takes the mean.
///
/// This is one averaging step of CorN-DSGD. Its training draws such noise anew in every step, and reads
/// models that the observer need not see; it would be a program of its own. The covariance is public and
/// chosen such that the noise cancels in the mean. Every node knows only its own noise.
///
/// # Errors
/// [`ProgramError::Covariance`](crate::ProgramError::Covariance) unless it is symmetric and positive
/// semidefinite, which is checked exactly; [`ProgramError::Shape`](crate::ProgramError::Shape).
///
/// # References
/// - Rodio, Chen, Larsson, *Optimizing privacy-utility trade-off in decentralized learning with generalized
///   correlated noise*, 2025, arXiv:2501.14644.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, Weight, constructors::corn_dsgd};
/// use ndp_graph::{GossipMatrix, generators::complete_graph};
/// // K = I/4 + (I - W) with W = J/4.
/// let entry = |i: usize, j: usize| if i == j { Weight::from(1) } else { Weight::from((-1, 4)) };
/// let covariance: Vec<Vec<Weight>> = (0..4).map(|i| (0..4).map(|j| entry(i, j)).collect()).collect();
/// let matrix = GossipMatrix::metropolis(&complete_graph(4)?);
/// let program = corn_dsgd(&matrix, &covariance, 2)?;
/// let loss = program.account(&Observer::node(0))?.loss(1, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 8.0 / 5.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn corn_dsgd(matrix: &GossipMatrix, covariance: &[Vec<Weight>], rounds: usize) -> Result<Program, Error> {
    let nodes = matrix.node_count();
    let mut program = Program::new(nodes)?;
    let mixing = MixingMatrix::from(matrix);
    let x = program.contribute_all(Reads::Nothing)?;
    let all: Vec<usize> = (0..nodes).collect();
    let c = program.correlated(&all, covariance)?;
    let mut y = program.add_all(&x, &c)?;
    for _ in 0..rounds {
        program.send_to_neighbors(matrix.graph(), &y)?;
        y = program.gossip(&mixing, &y)?;
    }
    program.result(y.into_iter().enumerate())?;
    Ok(program)
}

/// [`corn_dsgd`] with the covariance `own I + shared (I - W)`, where `W` is the matrix, for any number of
/// nodes. Every edge `{u, v}` has a noise of variance `shared W_uv` that no node knows, which is added at one
/// end and subtracted at the other. Every node learns the sum of its own noises.
///
/// # Errors
/// [`ProgramError::NegativeVariance`](crate::ProgramError::NegativeVariance),
/// [`ProgramError::NotFinite`](crate::ProgramError::NotFinite).
pub fn corn_dsgd_along(
    matrix: &GossipMatrix,
    own: impl Into<Weight>,
    shared: impl Into<Weight>,
    rounds: usize,
) -> Result<Program, Error> {
    let nodes = matrix.node_count();
    let mut program = Program::new(nodes)?;
    let mixing = MixingMatrix::from(matrix);
    let shared = shared.into();
    let x = program.contribute_all(Reads::Nothing)?;
    let own = own.into();
    let mut parts: Vec<Vec<_>> =
        (0..nodes).map(|_| Ok(vec![(1, program.noise([], own.clone())?)])).collect::<Result<_, Error>>()?;
    for u in 0..nodes {
        for (v, weight) in mixing.entries(u).into_iter().filter(|(v, _)| u < *v) {
            let z = program.noise([], &weight * &shared)?;
            parts[u].push((1, z));
            parts[v].push((-1, z));
        }
    }
    let mut y = Vec::with_capacity(nodes);
    for (u, parts) in parts.into_iter().enumerate() {
        let c = program.combine(parts)?;
        program.hold(u, c)?;
        y.push(program.add(&[x[u], c])?);
    }
    for _ in 0..rounds {
        program.send_to_neighbors(matrix.graph(), &y)?;
        y = program.gossip(&mixing, &y)?;
    }
    program.result(y.into_iter().enumerate())?;
    Ok(program)
}
