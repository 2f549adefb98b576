//! What every protocol can say of itself: its nodes, and what each of them sees.

use crate::{Error, LossReport, View, loss};

/// Whether an observer uses the noise it drew itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnNoise {
    /// It does: the only sound reading of an honest-but-curious node.
    #[default]
    Known,
    /// It throws its own noise away: weaker than a real node, for comparison with papers.
    Unknown,
}

/// A protocol as its own nodes see it.
///
/// To add a protocol, implement this: exact losses, [targets](crate::target) and [audits](crate::audit)
/// follow from the view. A protocol with a better accountant than its view overrides
/// [`coalition_loss`](Self::coalition_loss).
pub trait Protocol {
    /// Number of nodes.
    fn node_count(&self) -> usize;

    /// Everything the nodes of `coalition` receive or draw in a run, taken together, as data: no
    /// randomness, no privacy notion.
    ///
    /// # Errors
    /// A node out of range or twice, an empty coalition, or a view too large to write down.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error>;

    /// Everything node `observer` receives or draws in a run.
    ///
    /// # Errors
    /// As [`coalition_view`](Self::coalition_view).
    fn view(&self, observer: usize) -> Result<View, Error> {
        self.coalition_view(&[observer])
    }

    /// What the nodes of `coalition` together learn about every node.
    ///
    /// # Errors
    /// Those of [`coalition_view`](Self::coalition_view) and of [`exact_loss`](crate::loss::exact_loss).
    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        loss::exact_loss(&self.coalition_view(coalition)?)
    }
}

/// The coalition in ascending order, checked.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`], [`Error::RepeatedMember`].
pub(crate) fn checked_coalition(coalition: &[usize], nodes: usize) -> Result<Vec<usize>, Error> {
    let mut members = coalition.to_vec();
    members.sort_unstable();
    if members.is_empty() {
        return Err(Error::EmptyCoalition);
    }
    if let Some(&node) = members.iter().find(|&&node| node >= nodes) {
        return Err(Error::NodeOutOfRange { node, nodes });
    }
    if let Some(twice) = members.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::RepeatedMember(twice[0]));
    }
    Ok(members)
}
