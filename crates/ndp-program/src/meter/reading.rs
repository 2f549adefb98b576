//! The result of a meter for one observer.

use crate::sensitivity::Loss;
use crate::{NodeVerdict, ProgramError};
use ndp_account::{Dependence, Error, Observer, SensitivitySet};
use ndp_dp::UpperBound;

/// How the numbers of a reading were computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// By the filter that is updated during the run. Its innovations are uncorrelated up to `h`, which both
    /// ends take into account.
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
    /// The observer.
    pub observer: Observer,
    /// How the numbers were computed.
    pub source: Source,
    /// An upper bound on the probability that an upper end is too small; 0 if the filter followed
    /// all epochs.
    pub failure: f64,
    pub(super) verdicts: Vec<Option<NodeVerdict>>,
}

impl Reading {
    /// What is left of the numbers if the observer may see less than was counted: upper bounds.
    pub(super) fn of_more_than_is_seen(&mut self, set: &SensitivitySet, reads: Dependence) {
        for verdict in self.verdicts.iter_mut().flatten() {
            let high = match verdict {
                NodeVerdict::Bounded(loss) => loss.value(),
                NodeVerdict::Noiseless { .. } => f64::INFINITY,
            };
            let value = UpperBound::new(high).into();
            *verdict = NodeVerdict::Bounded(Loss { value, ..Loss::unbounded(set, reads) });
        }
    }

    /// What is proven about a node; `None` for members of the coalition.
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
    /// [`ProgramError::NodeOutOfRange`]; [`ProgramError::Member`]; [`ndp_certify::Error::NoiselessView`] if a
    /// change in the set was seen without noise.
    pub fn loss(&self, node: usize) -> Result<&Loss, Error> {
        match self.verdict(node)? {
            None => Err(ProgramError::Member(node).into()),
            Some(NodeVerdict::Bounded(loss)) => Ok(loss),
            Some(NodeVerdict::Noiseless { .. }) => {
                Err(Error::Certify(ndp_certify::Error::NoiselessView(node)))
            }
        }
    }

    /// The upper end of the loss of a node; infinite if a change was seen without noise, and `None` for
    /// members and nodes that do not exist.
    #[must_use]
    pub fn upper(&self, node: usize) -> Option<f64> {
        self.verdicts.get(node)?.as_ref().map(|verdict| match verdict {
            NodeVerdict::Bounded(loss) => loss.value(),
            NodeVerdict::Noiseless { .. } => f64::INFINITY,
        })
    }
}
