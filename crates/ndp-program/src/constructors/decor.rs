//! DECOR: noise that cancels between neighbors.

use crate::{Program, Reads, Weight};
use ndp_account::Error;
use ndp_graph::Graph;

/// In each of `steps` steps every node adds two kinds of noise to a new contribution: its own, of variance
/// `own`, and for every edge a noise of variance `shared` that both ends know, with `+` at one end and `-` at
/// the other. Everybody sees the sums.
///
/// Per step a coalition learns `[(own I + shared L)⁻¹]_uu` about `u`, where `L` is the Laplacian of the graph
/// without the coalition. For example, with variances 1 an outsider learns 5/11 on a ring of five. The hub of
/// a star learns 1 about each leaf, as it knows all masks.
///
/// # Errors
/// [`ProgramError::NegativeVariance`](crate::ProgramError::NegativeVariance),
/// [`ProgramError::NotFinite`](crate::ProgramError::NotFinite).
///
/// # References
/// - Allouah, Koloskova, El Firdoussi, Jaggi, Guerraoui, *The privacy power of correlated noise in
///   decentralized learning*, ICML 2024.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::decor};
/// use ndp_graph::generators::cycle_graph;
/// let program = decor(&cycle_graph(5)?, 1, 1, 1)?;
/// let loss = program.account(&Observer::outsider())?.loss(3, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 5.0 / 11.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decor(
    graph: &Graph,
    own: impl Into<Weight>,
    shared: impl Into<Weight>,
    steps: usize,
) -> Result<Program, Error> {
    let (own, shared) = (own.into(), shared.into());
    let nodes = graph.node_count();
    let mut program = Program::new(nodes)?;
    let mut public = Vec::new();
    for _ in 0..steps {
        let x = program.contribute_all(Reads::Nothing)?;
        let z = program.noise_all(own.clone())?;
        let mut parts: Vec<_> = x.into_iter().zip(z).map(|(x, z)| vec![x, z]).collect();
        for (a, b) in graph.edges() {
            let (plus, minus) = program.pairwise(a, b, shared.clone())?;
            parts[a].push(plus);
            parts[b].push(minus);
        }
        for (u, parts) in parts.iter().enumerate() {
            let y = program.add(parts)?;
            program.broadcast(u, y)?;
            public.push((1.0 / nodes as f64, y));
        }
    }
    let mean = program.combine(public)?;
    program.result((0..nodes).map(|u| (u, mean)))?;
    Ok(program)
}
