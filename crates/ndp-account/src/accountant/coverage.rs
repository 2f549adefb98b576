//! Which observers an answer covers, and what it rests on.
//!
//! If the observers in a sample keep a limit, that says nothing about the others. So a question has an
//! [`Audience`](super::Audience), all observers it is about, and its answer has a [`Coverage`]:
//!
//! | coverage | what was done | whole |
//! |---|---|---|
//! | [`All`](Coverage::All) | every node has an account of its own | yes |
//! | [`Alike`](Coverage::Alike) | accounts of one [class](super::Account::class): the same profile, whoever observes | yes |
//! | [`Symmetric`](Coverage::Symmetric) | one node of each orbit under [symmetries](super::Protocol::symmetries) of the protocol | yes |
//! | [`Grouped`](Coverage::Grouped) | groups whose members put together what they see | yes |
//! | [`Bounded`](Coverage::Bounded) | some have accounts, the others [`Protocol::local_bound`](super::Protocol::local_bound) | yes |
//! | [`Named`](Coverage::Named) | the observers that were named have accounts; nobody else was asked about | yes |
//! | [`Sample`](Coverage::Sample) | some have accounts, nothing is known of the others | no |
//! | [`Coalitions`](Coverage::Coalitions) | every coalition of a size has an account, or the bound | unless [`Rest::Unknown`] |
//!
//! Only an answer that covers the whole audience can be [`Met`](Verdict::Met).

use crate::Error;
use ndp_dp::Verdict;
use serde::{Deserialize, Serialize};

/// Which observers an answer covers, and how.
///
/// # Examples
/// ```
/// use ndp_account::Coverage;
/// use ndp_dp::Verdict;
/// let sample = Coverage::Sample { looked_at: 16, nodes: 744, seed: Some(0) };
/// // Nobody in the sample learns too much, which shows nothing about the others.
/// assert_eq!(sample.verdict(Verdict::Met), Verdict::NotShown);
/// // One of the sample does: that is enough.
/// assert_eq!(sample.verdict(Verdict::Violated), Verdict::Violated);
/// assert_eq!(sample.in_short(), "16 of 744");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "covers")]
#[non_exhaustive]
pub enum Coverage {
    /// The observers that were named, each by an account of its own; the question is about no others.
    Named {
        /// How many.
        observers: usize,
    },
    /// Every node alone, each by an account of its own; in one of several runs perhaps by a bound that one
    /// node is proven to reach.
    All {
        /// How many.
        nodes: usize,
    },
    /// Every node alone, by accounts that are the same for every observer.
    Alike {
        /// How many.
        nodes: usize,
    },
    /// Every node alone. Some have accounts of their own. Every other node learns what one of them learns,
    /// about other nodes, by a [symmetry](super::Protocol::symmetries) of the protocol.
    Symmetric {
        /// How many have accounts of their own.
        looked_at: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Every node alone: some by accounts of their own, the others by
    /// [`Protocol::local_bound`](super::Protocol::local_bound).
    Bounded {
        /// The number of observers with accounts of their own. It is 0 if some node is proven to learn as
        /// much as the bound says, so that [no account was needed](super::Covered::by_attained_bound).
        looked_at: usize,
        /// How many nodes there are.
        nodes: usize,
        /// The seed by which the observers with accounts were drawn; `None` if they were chosen.
        seed: Option<u64>,
    },
    /// Every node alone. Some have accounts of their own; each of the others is in a group, whose account
    /// lets its members put together what they see. No node learns more about a node outside its group than
    /// the group does, and for any two nodes some group contains exactly one of them.
    Grouped {
        /// How many have accounts of their own.
        looked_at: usize,
        /// How many groups have accounts.
        groups: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Some of all nodes, each alone; nothing is known of the others.
    Sample {
        /// How many have accounts of their own.
        looked_at: usize,
        /// How many nodes there are.
        nodes: usize,
        /// The seed by which they were drawn; `None` if they were chosen.
        seed: Option<u64>,
    },
    /// Every coalition of at most `size` nodes, or of at most `size` [neighbors](Among::Neighbors) of one
    /// node. The largest ones have accounts or a bound; a smaller one learns no more than a largest one that
    /// contains it.
    Coalitions {
        /// The largest number of nodes that put together what they see.
        size: usize,
        /// The nodes of which coalitions are made.
        #[serde(default, skip_serializing_if = "Among::is_everybody")]
        among: Among,
        /// How many nodes there are.
        nodes: usize,
        /// The number of coalitions with accounts of their own. They have exactly `size` nodes, but fewer
        /// among the neighbors of a node with at most `size` neighbors.
        looked_at: usize,
        /// What is known of the others.
        rest: Rest,
    },
}

/// The nodes of which coalitions are made.
///
/// # Examples
/// ```
/// use ndp_account::{Among, Coverage, Rest};
/// let (size, nodes, looked_at, rest) = (2, 6, 4, Rest::None);
/// let coverage = |among| Coverage::Coalitions { size, among, nodes, looked_at, rest };
/// assert_eq!(coverage(Among::Neighbors).in_short(), "all coalitions of 2 neighbors of one of 6");
/// assert_ne!(coverage(Among::Neighbors), coverage(Among::Everybody));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Among {
    /// Any nodes.
    #[default]
    Everybody,
    /// Nodes that are neighbors of one and the same node, whichever it is.
    Neighbors,
}

impl Among {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_everybody(&self) -> bool {
        matches!(self, Self::Everybody)
    }
}

/// What covers the coalitions that have no account of their own.
///
/// # Examples
/// ```
/// use ndp_account::{Among, Coverage, Rest};
/// let (size, among, nodes) = (2, Among::Everybody, 34);
/// let coverage = |rest| Coverage::Coalitions { size, among, nodes, looked_at: 1, rest };
/// assert!(coverage(Rest::Bounded).is_whole() && !coverage(Rest::Unknown).is_whole());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// There are no others.
    None,
    /// By a [symmetry](super::Protocol::symmetries) of the protocol, each learns what one that was looked at
    /// learns.
    Symmetric,
    /// [`Protocol::local_bound`](super::Protocol::local_bound).
    Bounded,
    /// Nothing is known of them.
    Unknown,
}

impl Coverage {
    /// Whether every observer that the question is about is covered.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        !matches!(self, Self::Sample { .. } | Self::Coalitions { rest: Rest::Unknown, .. })
    }

    /// Whether [`Protocol::local_bound`](super::Protocol::local_bound) covers some observer.
    #[must_use]
    pub const fn is_by_bound(&self) -> bool {
        matches!(self, Self::Bounded { .. } | Self::Coalitions { rest: Rest::Bounded, .. })
    }

    /// Whether each observer without an account of its own learns what one that was looked at learns, about
    /// other nodes: pairs of those looked at are then not all there are.
    #[must_use]
    pub const fn is_by_symmetry(&self) -> bool {
        matches!(self, Self::Symmetric { .. } | Self::Coalitions { rest: Rest::Symmetric, .. })
    }

    /// What two runs together cover: a sample if one of them is a sample, a bound if one of them is by a
    /// bound.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for different observers: of other numbers of nodes, or of another sample.
    pub(crate) fn weaker(&self, other: &Self) -> Result<Self, Error> {
        let others = Error::NoGuarantee("runs seen by different observers do not add up");
        let coalitions = |coverage: &Self| match *coverage {
            Self::Coalitions { size, among, nodes, looked_at, rest } => {
                Some(((size, among, nodes, looked_at), rest))
            }
            _ => None,
        };
        match (coalitions(self), coalitions(other)) {
            (Some((a, of_a)), Some((b, of_b))) if a == b => {
                return Ok(if of_a >= of_b { self.clone() } else { other.clone() });
            }
            (None, None) => {}
            _ => return Err(others),
        }
        let nodes = |coverage: &Self| match *coverage {
            Self::Named { .. } | Self::Coalitions { .. } => None,
            Self::All { nodes } | Self::Alike { nodes } => Some(nodes),
            Self::Symmetric { nodes, .. }
            | Self::Grouped { nodes, .. }
            | Self::Bounded { nodes, .. }
            | Self::Sample { nodes, .. } => Some(nodes),
        };
        let drawn = |coverage: &Self| match *coverage {
            Self::Bounded { looked_at, seed, .. } | Self::Sample { looked_at, seed, .. } => {
                Some((looked_at, seed))
            }
            _ => None,
        };
        let named = |coverage: &Self| matches!(coverage, Self::Named { .. });
        if nodes(self) != nodes(other) || (named(self) && self != other) {
            return Err(others);
        }
        if let (Some(a), Some(b)) = (drawn(self), drawn(other))
            && a != b
        {
            return Err(others);
        }
        // That a bound is reached is said of both or of neither.
        if self.is_reached() != other.is_reached()
            && let Some(nodes) = nodes(self)
        {
            return Ok(Self::All { nodes });
        }
        let rank = |coverage: &Self| match coverage {
            Self::Named { .. } | Self::All { .. } | Self::Coalitions { .. } => 0,
            Self::Symmetric { .. } => 1,
            Self::Alike { .. } => 2,
            Self::Grouped { .. } => 3,
            Self::Bounded { .. } => 4,
            Self::Sample { .. } => 5,
        };
        if let (&Self::Symmetric { looked_at: a, nodes }, &Self::Symmetric { looked_at: b, .. }) =
            (self, other)
        {
            return Ok(Self::Symmetric { looked_at: a.min(b), nodes });
        }
        if let (
            &Self::Grouped { looked_at: a, groups: of_a, nodes },
            &Self::Grouped { looked_at: b, groups: of_b, .. },
        ) = (self, other)
        {
            return Ok(Self::Grouped { looked_at: a.min(b), groups: of_a.min(of_b), nodes });
        }
        Ok(if rank(self) >= rank(other) { self.clone() } else { other.clone() })
    }

    /// Whether no account was needed, because some node is proven to learn as much as the bound says.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        matches!(self, Self::Bounded { looked_at: 0, .. })
    }

    /// The verdict on the whole question, if `found` is the verdict on everything that was looked at.
    #[must_use]
    pub fn verdict(&self, found: Verdict) -> Verdict {
        if self.is_whole() { found } else { found.max(Verdict::NotShown) }
    }

    /// The numbers of observers looked at and asked about, for a cell of a table: `16 of 744`, `all 744`.
    #[must_use]
    pub fn in_short(&self) -> String {
        match self {
            Self::Named { observers } => observers.to_string(),
            Self::All { nodes } | Self::Alike { nodes } => format!("all {nodes}"),
            Self::Bounded { looked_at: 0, nodes, .. } => format!("all {nodes} (bound reached)"),
            Self::Bounded { looked_at, nodes, .. } => {
                format!("all {nodes}, {} by a bound", nodes.saturating_sub(*looked_at))
            }
            Self::Symmetric { looked_at, nodes } => format!("all {nodes}, by {looked_at} and symmetry"),
            Self::Grouped { groups, nodes, .. } => format!("all {nodes}, by {groups} groups"),
            Self::Sample { looked_at, nodes, .. } => format!("{looked_at} of {nodes}"),
            Self::Coalitions { size, among, nodes, looked_at, rest } => {
                let who = match among {
                    Among::Neighbors => format!("coalitions of {size} neighbors of one of {nodes}"),
                    _ => format!("coalitions of {size} of {nodes}"),
                };
                match rest {
                    Rest::None => format!("all {who}"),
                    Rest::Symmetric => format!("all {who}, by {looked_at} and symmetry"),
                    Rest::Bounded => format!("all {who}, by a bound but {looked_at}"),
                    Rest::Unknown => format!("{looked_at} {who}"),
                }
            }
        }
    }
}
