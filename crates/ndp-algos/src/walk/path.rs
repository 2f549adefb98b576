//! A realised path of a token.

use ndp_account::Error;
use ndp_account::parts::ensure;

/// A realised path of `T` steps: who held the token, and who contributed.
///
/// At step `t = 0..T` the token is at node `holders[t]`, which adds its noise and, if `contributes[t]`, its
/// data. On a graph the token is then handed on once more, to `holders[T]`, who only receives it. On a ring
/// and on the complete graph it stays with the last holder. A path does not depend on data, so that observers
/// may know it.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::{CompleteOptions, CompleteWalk};
/// // Every node contributes at its first visit only.
/// let options = CompleteOptions { cap: Some(1), ..CompleteOptions::default() };
/// let path = CompleteWalk::new(3, 4)?.with_options(options)?.path(&[0, 2, 0, 1])?;
/// assert_eq!(path.contributes, [true, true, false, true]);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Number of nodes `n`.
    pub nodes: usize,
    /// The holders, step by step; on a graph also the holder after the last step.
    pub holders: Vec<usize>,
    /// Whether the holder of each step contributes its data. If not, it adds noise alone (or a random
    /// report).
    pub contributes: Vec<bool>,
}

/// A sum or an average by a token along a given path, as a linear Gaussian protocol. Its exact losses towards
/// observers who know the path follow from [`exact_loss`](ndp_account::loss::exact_loss), and attacks from
/// [`audit`](ndp_account::audit).
///
/// The protocol is a [`CompleteSum`](super::complete::CompleteSum) or a
/// [`TokenAveraging`](super::graph::TokenAveraging).
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
/// use ndp_algos::walk::graph::{Steps, TokenAveraging};
/// use ndp_algos::walk::{Bounds, FinalToken, OnPath, Path, TokenNoise};
/// let walk = CompleteWalk::new(3, 3)?;
/// let (bounds, noise) = (Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(ndp_dp::Sigma::new(1.0)?));
/// let protocol = CompleteSum { walk, bounds, noise, constant_data: false };
/// // Two contributions of node 0 behind two noises, before node 1 sees the token: 2²/2.
/// let losses = OnPath { protocol, path: walk.path(&[0, 0, 1])? }.coalition_loss(&[1])?;
/// assert!((losses.unit(0)?.value().get() - 2.0).abs() < 1e-9);
/// // On a graph, two behind four noises: 2²/4.
/// let path = Path { nodes: 3, holders: vec![0, 1, 0, 1, 2], contributes: vec![true; 4] };
/// let (initial, final_token) = (ndarray::array![0.0], FinalToken::Withheld);
/// let protocol = TokenAveraging { steps: Steps::RunningAverage, initial, final_token };
/// assert!((OnPath { protocol, path }.coalition_loss(&[2])?.unit(0)?.value().get() - 1.0).abs() < 1e-9);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OnPath<P> {
    /// The sum or the average.
    pub protocol: P,
    /// The path of its token, which also says who contributes.
    pub path: Path,
}

impl Path {
    /// The steps at which each node receives the token: entry `v` is a list of steps from 0.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for more than ten million nodes; [`Error::NodeOutOfRange`] for a holder
    /// that is not a node.
    pub(crate) fn receptions(&self) -> Result<Vec<Vec<usize>>, Error> {
        self.check_nodes("be at most 10000000 for a list per node", 10_000_000)?;
        let mut steps = vec![Vec::new(); self.nodes];
        for (step, &holder) in self.holders.iter().enumerate() {
            steps[holder].push(step);
        }
        Ok(steps)
    }

    /// The last step that `v` makes.
    pub(super) fn last_step_of(&self, v: usize) -> Option<usize> {
        self.holders[..self.steps()].iter().rposition(|&holder| holder == v)
    }

    /// Number of steps `T`.
    pub(crate) fn steps(&self) -> usize {
        self.contributes.len()
    }

    /// Checks a path on a graph: it has at least one step and a holder after the last one, and all holders
    /// are nodes.
    pub(crate) fn check_on_graph(&self) -> Result<(), Error> {
        ensure(self.steps() > 0, "the number of steps", "be at least 1", 0.0)?;
        if self.holders.len() != self.steps() + 1 {
            let (expected, got) = (self.steps() + 1, self.holders.len());
            return Err(Error::Shape { what: "holders of a path on a graph", expected, got });
        }
        self.check_holders()
    }

    /// Checks that all holders are nodes.
    pub(crate) fn check_holders(&self) -> Result<(), Error> {
        match self.holders.iter().find(|&&holder| holder >= self.nodes) {
            Some(&node) => Err(Error::NodeOutOfRange { node, nodes: self.nodes }),
            None => Ok(()),
        }
    }

    /// Checks that there are at most `most` nodes, so that tables of nodes or pairs fit in memory, and that
    /// all holders are nodes.
    pub(crate) fn check_nodes(&self, condition: &'static str, most: usize) -> Result<(), Error> {
        ensure(self.nodes <= most, "the number of nodes", condition, self.nodes as f64)?;
        self.check_holders()
    }

    /// Number of contributions of each node.
    #[cfg(test)]
    pub(crate) fn contribution_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.nodes];
        for (&holder, &contributes) in self.holders.iter().zip(&self.contributes) {
            counts[holder] += usize::from(contributes);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_path_is_refused() -> Result<(), Error> {
        let path = |nodes: usize, holders: &[usize], steps: usize| Path {
            nodes,
            holders: holders.to_vec(),
            contributes: vec![true; steps],
        };
        assert_eq!(path(3, &[2, 0, 2], 3).receptions()?, [vec![1], vec![], vec![0, 2]]);
        assert_eq!(path(3, &[0, 3], 2).receptions(), Err(Error::NodeOutOfRange { node: 3, nodes: 3 }));
        let found = path(1 << 31, &[0], 1).receptions();
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the number of nodes", .. })));
        assert!(path(3, &[0, 1, 2], 2).check_on_graph().is_ok());
        let found = path(3, &[0, 1], 2).check_on_graph();
        assert!(matches!(found, Err(Error::Shape { expected: 3, got: 2, .. })));
        let found = path(3, &[0], 0).check_on_graph();
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the number of steps", .. })));
        let found = path(3, &[0, 4], 1).check_on_graph();
        assert!(matches!(found, Err(Error::NodeOutOfRange { node: 4, nodes: 3 })));
        Ok(())
    }
}
