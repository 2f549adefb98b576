//! Zip-DL: masks that cancel over a node's own messages.

use crate::{Program, Reads, Weight};
use ndp_account::Error;
use ndp_graph::Graph;

/// One round: every node sends to each of its neighbors its value plus its own noise of variance `own` plus a
/// mask. Its masks sum to 0; each has variance `mask · (1 - 1/d)` for `d` neighbors.
///
/// Without own noise, `c` of the `d` neighbors learn `c / (mask (1 - c/d))`, and all of them together learn
/// everything. A node with one neighbor has no mask, since a single mask that sums to 0 is 0.
///
/// # Errors
/// [`ProgramError::NegativeVariance`](crate::ProgramError::NegativeVariance),
/// [`ProgramError::NotFinite`](crate::ProgramError::NotFinite).
///
/// # References
/// - Biswas, Frey, Gaudel, Kermarrec, Lerévérend, Pires, Sharma, Taïani, *Low-cost privacy-preserving
///   decentralized learning*, PoPETs 2025.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::zip_dl};
/// use ndp_graph::generators::complete_graph;
/// let program = zip_dl(&complete_graph(4)?, 0, 1)?;
/// let loss = program.account(&Observer::node(0))?.loss(1, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 1.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn zip_dl(graph: &Graph, own: impl Into<Weight>, mask: impl Into<Weight>) -> Result<Program, Error> {
    let mask = mask.into();
    let mut program = Program::new(graph.node_count())?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(own)?;
    let y = program.add_all(&x, &z)?;
    let mut got: Vec<Vec<_>> = y.iter().map(|&y| vec![y]).collect();
    for (u, &y) in y.iter().enumerate() {
        let neighbors = graph.neighbors(u);
        let masks = match neighbors.len() {
            0 | 1 => Vec::new(),
            count => program.zero_sum(&vec![u; count], mask.clone())?,
        };
        for (k, &to) in neighbors.iter().enumerate() {
            let message = match masks.get(k) {
                Some(&mask) => program.add(&[y, mask])?,
                None => y,
            };
            program.send(u, to as usize, message)?;
            got[to as usize].push(message);
        }
    }
    for (u, got) in got.into_iter().enumerate() {
        let share = 1.0 / got.len() as f64;
        let mean = program.combine(got.into_iter().map(|y| (share, y)))?;
        program.result([(u, mean)])?;
    }
    Ok(program)
}
