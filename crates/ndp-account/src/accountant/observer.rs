//! Observers, and what they know.

use crate::view::{checked_coalition, checked_source};
use crate::{Error, OwnNoise};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether the observer learns which node sent a message or token to it.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Senders};
/// assert_eq!(Observer::node(3).senders, Senders::Known);
/// assert_eq!(Observer::node(3).with_hidden_senders().senders, Senders::Hidden);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Senders {
    /// The observer may know the senders, and the whole path of a token, as in a real network.
    #[default]
    Known,
    /// Messages come through an anonymous channel. The observer still knows to whom it sends its own.
    Hidden,
}

/// Nodes that pool everything they receive, and what else they know.
///
/// The default is the strongest honest-but-curious observer: members know the noise that they drew themselves
/// and the senders of their messages. A protocol without an account of a weaker or stronger observer returns
/// an error.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// let pair = Observer::coalition(&[4, 1]);
/// assert!(pair.contains(4) && pair.members() == [1, 4]);
/// assert_eq!(pair.without_own_noise().to_string(), "nodes 1, 4 together, not using own noise");
/// let wiretap = Observer::outsider().tapping(&[(0, 1), (1, 0)]);
/// assert_eq!(wiretap.to_string(), "an outsider, overhearing 2 edges");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Observer {
    members: Vec<usize>,
    /// Whether members use the noise that they drew.
    pub own_noise: OwnNoise,
    /// Whether members know from whom messages come.
    pub senders: Senders,
    /// The edges that are overheard, each from its first node to its second.
    pub tapped: Vec<(usize, usize)>,
}

/// An observer as it is read: members in any order, and no unknown fields.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = r#"an observer: {"members": [0], "own_noise": "known", "senders": "known", "tapped": []}"#
)]
struct Written {
    members: Vec<usize>,
    own_noise: OwnNoise,
    senders: Senders,
    tapped: Vec<(usize, usize)>,
}

impl From<Written> for Observer {
    fn from(Written { members, own_noise, senders, tapped }: Written) -> Self {
        Self { own_noise, senders, ..Self::coalition(&members) }.tapping(&tapped)
    }
}

impl Observer {
    /// One node.
    #[must_use]
    pub fn node(v: usize) -> Self {
        Self::coalition(&[v])
    }

    /// Several nodes together.
    #[must_use]
    pub fn coalition(members: &[usize]) -> Self {
        let mut members = members.to_vec();
        members.sort_unstable();
        Self { members, own_noise: OwnNoise::default(), senders: Senders::default(), tapped: Vec::new() }
    }

    /// Somebody outside the network, who hears what is public and what goes over [tapped](Self::tapping)
    /// edges.
    #[must_use]
    pub fn outsider() -> Self {
        Self::coalition(&[])
    }

    /// The same observer, which ignores the noise that its members drew.
    #[must_use]
    pub fn without_own_noise(mut self) -> Self {
        self.own_noise = OwnNoise::Unknown;
        self
    }

    /// The same observer, which does not know the senders of messages.
    #[must_use]
    pub fn with_hidden_senders(mut self) -> Self {
        self.senders = Senders::Hidden;
        self
    }

    /// The same observer, which also hears everything sent over these edges, each from its first node to its
    /// second; an edge that is named twice counts once.
    #[must_use]
    pub fn tapping(mut self, edges: &[(usize, usize)]) -> Self {
        self.tapped = edges.to_vec();
        self.tapped.sort_unstable();
        self.tapped.dedup();
        self
    }

    /// The nodes that pool their views, ascending.
    #[must_use]
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Whether `u` is a member.
    #[must_use]
    pub fn contains(&self, u: usize) -> bool {
        self.members.binary_search(&u).is_ok()
    }

    /// These members together, who know of their own noise and of senders what this observer knows.
    pub(super) fn with_members(&self, members: &[usize]) -> Self {
        Self { own_noise: self.own_noise, senders: self.senders, ..Self::coalition(members) }
    }

    /// The same observer with node `v` renamed to `place(v)`; an edge that is tapped twice counts once.
    pub(super) fn moved(&self, place: impl Fn(usize) -> usize) -> Self {
        let members: Vec<usize> = self.members.iter().map(|&v| place(v)).collect();
        let mut tapped: Vec<_> = self.tapped.iter().map(|&(from, to)| (place(from), place(to))).collect();
        tapped.sort_unstable();
        tapped.dedup();
        Self { tapped, ..self.with_members(&members) }
    }

    /// The members, checked: at least one, none twice, all in the protocol.
    ///
    /// # Errors
    /// [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`], [`Error::RepeatedMember`].
    pub fn checked(&self, nodes: usize) -> Result<&[usize], Error> {
        checked_coalition(&self.members, nodes)?;
        Ok(&self.members)
    }

    /// `u`, if it is one of `nodes` nodes and not a member.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`].
    #[doc(hidden)]
    pub fn checked_source(&self, u: usize, nodes: usize) -> Result<usize, Error> {
        checked_source(u, &self.members, nodes)
    }

    /// Refuses tapped edges, for protocols whose accounts do not cover them.
    ///
    /// # Errors
    /// [`Error::NotOffered`].
    #[doc(hidden)]
    pub fn require_no_taps(&self) -> Result<(), Error> {
        if self.tapped.is_empty() {
            return Ok(());
        }
        Err(Error::NotOffered(if self.members.is_empty() {
            "this protocol has no account of overheard edges: state it as a program"
        } else {
            "this protocol has no account of an observer who overhears edges as well: state it as a program"
        }))
    }

    /// The only member, for accounts of single nodes only.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for several; as [`Self::checked`].
    #[doc(hidden)]
    pub fn single(&self, nodes: usize) -> Result<usize, Error> {
        match self.checked(nodes)? {
            &[v] => Ok(v),
            _ => Err(Error::NotOffered("this protocol has no account of coalitions")),
        }
    }
}

impl fmt::Display for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.members.as_slice() {
            [] => f.write_str("an outsider"),
            [v] => write!(f, "node {v}"),
            members => {
                f.write_str("nodes ")?;
                for (i, v) in members.iter().take(8).enumerate() {
                    write!(f, "{}{v}", if i == 0 { "" } else { ", " })?;
                }
                if members.len() > 8 {
                    write!(f, " and {} others", members.len() - 8)?;
                }
                f.write_str(" together")
            }
        }?;
        if self.own_noise == OwnNoise::Unknown {
            f.write_str(", not using own noise")?;
        }
        if self.senders == Senders::Hidden {
            f.write_str(", not knowing senders")?;
        }
        if !self.tapped.is_empty() {
            write!(f, ", overhearing {} edges", self.tapped.len())?;
        }
        Ok(())
    }
}
