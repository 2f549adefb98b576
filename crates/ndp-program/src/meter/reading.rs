//! What a meter says.

use crate::sensitivity::Loss;
use crate::{NodeVerdict, ProgramError};
use ndp_account::{Error, Observer};

/// How the numbers of a reading were found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// By the filter that runs along; its innovations are uncorrelated up to `h`, which is in both ends.
    Running {
        /// The bound.
        h: f64,
    },
    /// By the account of the recorded program.
    Batch,
}

/// What one observer has learned about every node.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Who looks.
    pub observer: Observer,
    /// How the numbers were found.
    pub source: Source,
    /// Probability that an upper end is too small, at most; 0 for a running filter.
    pub failure: f64,
    pub(super) verdicts: Vec<Option<NodeVerdict>>,
}

impl Reading {
    /// What is proven about a node; none for members of the coalition.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`].
    pub fn verdict(&self, node: usize) -> Result<Option<&NodeVerdict>, ProgramError> {
        let nodes = self.verdicts.len();
        self.verdicts.get(node).map(Option::as_ref).ok_or(ProgramError::NodeOutOfRange { node, nodes })
    }

    /// The loss of a node.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`]; [`ProgramError::Member`]; [`ndp_certify::Error::NoiselessView`]
    /// where a change of the set was seen without noise.
    pub fn loss(&self, node: usize) -> Result<&Loss, Error> {
        match self.verdict(node)? {
            None => Err(ProgramError::Member(node).into()),
            Some(NodeVerdict::Bounded(loss)) => Ok(loss),
            Some(NodeVerdict::Noiseless { .. }) => {
                Err(Error::Certify(ndp_certify::Error::NoiselessView(node)))
            }
        }
    }

    /// The upper end of the loss of a node, infinite where a change was seen without noise; none for members
    /// and nodes that are not there.
    #[must_use]
    pub fn upper(&self, node: usize) -> Option<f64> {
        self.verdicts.get(node)?.as_ref().map(|verdict| match verdict {
            NodeVerdict::Bounded(loss) => loss.value(),
            NodeVerdict::Noiseless { .. } => f64::INFINITY,
        })
    }
}
