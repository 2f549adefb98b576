//! GOPA: pairwise masks exchanged once, then an average.

use crate::{Program, Reads, Weight};
use ndp_account::Error;
use ndp_graph::Graph;

/// Every node adds two kinds of noise to its value: its own, of variance `own`, and for every edge a mask of
/// variance `mask`, with `+` at one end and `-` at the other. All nodes except those in `silent` publish the
/// sum, once.
///
/// Masks towards a silent node are never cancelled, which protects its neighbors: a node that drops out never
/// raises a loss by itself. Losses are raised by a *repair*, in which neighbors publish the masks that they
/// shared with the silent node; state it with [`broadcast`](Program::broadcast).
///
/// # Errors
/// [`ProgramError::NegativeVariance`](crate::ProgramError::NegativeVariance),
/// [`ProgramError::NotFinite`](crate::ProgramError::NotFinite).
///
/// # References
/// - Sabater, Bellet, Ramon, *An accurate, scalable and verifiable protocol for federated differentially
///   private averaging*, Machine Learning, 2022.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::gopa};
/// use ndp_graph::generators::path_graph;
/// let program = gopa(&path_graph(4)?, 1, 1, &[1])?;
/// let loss = program.account(&Observer::outsider())?.loss(0, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gopa(
    graph: &Graph,
    own: impl Into<Weight>,
    mask: impl Into<Weight>,
    silent: &[usize],
) -> Result<Program, Error> {
    let mask = mask.into();
    let nodes = graph.node_count();
    let mut program = Program::new(nodes)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(own)?;
    let mut parts: Vec<_> = x.into_iter().zip(z).map(|(x, z)| vec![x, z]).collect();
    for (a, b) in graph.edges() {
        let (plus, minus) = program.pairwise(a, b, mask.clone())?;
        parts[a].push(plus);
        parts[b].push(minus);
    }
    let mut public = Vec::new();
    for (u, parts) in parts.iter().enumerate().filter(|(u, _)| !silent.contains(u)) {
        let y = program.add(parts)?;
        program.broadcast(u, y)?;
        public.push(y);
    }
    let share = 1.0 / public.len().max(1) as f64;
    let mean = program.combine(public.into_iter().map(|y| (share, y)))?;
    program.result((0..nodes).map(|u| (u, mean)))?;
    Ok(program)
}
