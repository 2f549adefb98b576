//! Who runs a meter, and what it may claim.

use crate::ProgramError;
use ndp_account::Observer;
use serde::{Deserialize, Serialize};

/// Who runs a meter: what it rests on depends on what the one who feeds it knows.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::SensitivitySet;
/// use ndp_program::meter::{Meter, PointOfView};
/// // Node 0 trusts nobody: it counts what all others together learn about it.
/// let others = Observer::coalition(&[1, 2]);
/// let meter = Meter::new(3, [others], SensitivitySet::UseLevel)?.seen_by(PointOfView::OwnMessages { node: 0 })?;
/// assert!(meter.rests_on().iter().any(|sentence| sentence.contains("whatever the others do")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PointOfView {
    /// A simulation or a coordinator that knows all events.
    #[default]
    Coordinator,
    /// One node that knows the public schedule: who sends what to whom, weights and variances.
    PublicSchedule {
        /// The node.
        node: usize,
    },
    /// One node that knows its own messages and noises alone and counts all others as one coalition.
    OwnMessages {
        /// The node.
        node: usize,
    },
}

impl PointOfView {
    pub(super) fn check<'a>(
        &self,
        nodes: usize,
        mut observers: impl ExactSizeIterator<Item = &'a Observer>,
    ) -> Result<(), ProgramError> {
        let (Self::PublicSchedule { node } | Self::OwnMessages { node }) = *self else { return Ok(()) };
        if node >= nodes {
            return Err(ProgramError::NodeOutOfRange { node, nodes });
        }
        let all_others = |observer: &Observer| (0..nodes).all(|u| observer.contains(u) != (u == node));
        let alone = observers.len() == 1 && observers.next().is_some_and(all_others);
        match self {
            Self::OwnMessages { .. } if !alone => Err(ProgramError::OtherView(node)),
            _ => Ok(()),
        }
    }

    /// What numbers rest on from here, each as a sentence without its period.
    pub(super) fn rests_on(&self) -> impl Iterator<Item = &'static str> + use<> {
        let (first, second) = match self {
            Self::Coordinator => ("the meter was told of every event", None),
            Self::PublicSchedule { .. } => (
                "the other nodes keep to the public schedule and draw the noises that it says: the node that ran the \
                 meter did not check it",
                None,
            ),
            Self::OwnMessages { .. } => (
                "all that the node sent and received counts as seen by all other nodes together, whatever the others do",
                Some("what the node contributes depends on nothing else but what it sent and received"),
            ),
        };
        [first].into_iter().chain(second)
    }
}
