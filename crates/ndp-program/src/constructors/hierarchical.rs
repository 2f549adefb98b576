//! Hierarchical aggregation: secure sums within groups, then a secure sum over groups.

use crate::{Program, Reads, Weight};
use ndp_account::Error;
use std::collections::BTreeSet;

/// Node 0 is the server, which belongs to no group. The first node of every group is its leader. By a secure
/// sum, the leader learns the sum of its group's values, each with a noise of variance `own`. By a second
/// secure sum, the server learns the sum of these sums, each with a noise of variance `leaders`.
///
/// A leader learns `1 / (noise of the others in its group)` about each of them, and the server learns `1 /
/// (all noise)`.
///
/// # Errors
/// [`ProgramError::SmallGroup`](crate::ProgramError::SmallGroup) for a group of one node or a single group;
/// [`ProgramError::Repeated`](crate::ProgramError::Repeated) for a node in two groups, or node 0 in one;
/// [`ProgramError::NodeOutOfRange`](crate::ProgramError::NodeOutOfRange).
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::hierarchical};
/// // Two groups of two: the server sees four noises of variance 1/4 and two of variance 1/2.
/// let program = hierarchical(5, &[vec![1, 2], vec![3, 4]], (1, 4), (1, 2))?;
/// let loss = program.account(&Observer::node(0))?.loss(1, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hierarchical(
    nodes: usize,
    groups: &[Vec<usize>],
    own: impl Into<Weight>,
    leaders: impl Into<Weight>,
) -> Result<Program, Error> {
    let (own, leaders) = (own.into(), leaders.into());
    let mut program = Program::new(nodes)?;
    let mut taken = BTreeSet::from([0]);
    if let Some(&node) = groups.iter().flatten().find(|&&node| !taken.insert(node)) {
        return Err(crate::ProgramError::Repeated { node, what: "the server and the groups" }.into());
    }
    let mut sums = Vec::with_capacity(groups.len());
    for group in groups {
        let mut addends = Vec::with_capacity(group.len());
        for &node in group {
            let x = program.contribute(node, Reads::Nothing)?;
            let z = program.noise([node], own.clone())?;
            addends.push((node, 1, program.add(&[x, z])?));
        }
        let small = crate::ProgramError::SmallGroup { what: "a group", got: group.len() };
        let leader = *group.first().ok_or(small)?;
        let sum = program.secure_sum(leader, addends)?;
        let z = program.noise([leader], leaders.clone())?;
        sums.push((leader, 1, program.add(&[sum, z])?));
    }
    let sum = program.secure_sum(0, sums)?;
    let members = groups.iter().map(Vec::len).sum::<usize>();
    let mean = program.combine([(1.0 / members as f64, sum)])?;
    program.result([(0, mean)])?;
    Ok(program)
}
