//! Names of nodes. Everything about a node is found by its name, because its number may differ between
//! protocols.

use super::{Account, Observer};
use crate::error::ensure;
use crate::forward::forward;
use crate::{Assumption, By, Error, RestsOn, Terms};
use ndp_dp::{Measure, NoiseMultiplier, Profile};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The names of the nodes of a protocol or a ledger, in order and all different. Cheap to clone.
///
/// Nodes without names are called by their numbers `0`, `1`, ….
///
/// # Examples
/// ```
/// use ndp_account::NodeNames;
/// let names = NodeNames::new(["ann", "bob", "eve"])?;
/// assert_eq!((names.position("eve"), names.name(1).as_deref()), (Some(2), Some("bob")));
/// assert_eq!(names, NodeNames::new(vec!["ann", "bob", "eve"])?);
/// assert_eq!(NodeNames::numbered(2), NodeNames::new(["0", "1"])?);
/// assert!(NodeNames::new(["ann", "ann"]).is_err());
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone)]
pub struct NodeNames(Names);

#[derive(Clone)]
enum Names {
    Numbered(usize),
    Listed(Arc<Listed>),
}

struct Listed {
    names: Vec<Box<str>>,
    /// The node numbers, sorted by name.
    sorted: Vec<usize>,
}

impl NodeNames {
    /// `0`, `1`, …, `count - 1`.
    #[must_use]
    pub const fn numbered(count: usize) -> Self {
        Self(Names::Numbered(count))
    }

    /// These names; the first belongs to node 0.
    ///
    /// # Errors
    /// [`Error::RepeatedName`].
    pub fn new(names: impl IntoIterator<Item = impl Into<Box<str>>>) -> Result<Self, Error> {
        let names: Vec<Box<str>> = names.into_iter().map(Into::into).collect();
        let mut sorted: Vec<usize> = (0..names.len()).collect();
        sorted.sort_by(|&a, &b| names[a].cmp(&names[b]));
        let twice = sorted.windows(2).find(|pair| names[pair[0]] == names[pair[1]]);
        match twice {
            Some(pair) => Err(Error::RepeatedName(names[pair[0]].to_string())),
            None => Ok(Self(Names::Listed(Arc::new(Listed { names, sorted })))),
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.0 {
            Names::Numbered(count) => *count,
            Names::Listed(listed) => listed.names.len(),
        }
    }

    /// The name of node `v`, if there is such a node.
    #[must_use]
    pub fn name(&self, v: usize) -> Option<Cow<'_, str>> {
        match &self.0 {
            Names::Numbered(count) => (v < *count).then(|| v.to_string().into()),
            Names::Listed(listed) => listed.names.get(v).map(|name| Cow::Borrowed(&**name)),
        }
    }

    /// The node of this name, if there is one.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        match &self.0 {
            // Names are written as numbers are: neither +1 nor 01.
            Names::Numbered(count) => {
                name.parse().ok().filter(|v: &usize| v < count && v.to_string() == name)
            }
            Names::Listed(listed) => {
                let by_name = |&v: &usize| listed.names[v].as_ref().cmp(name);
                listed.sorted.get(listed.sorted.binary_search_by(by_name).ok()?).copied()
            }
        }
    }

    /// For each node of `other` in order, the number of the node with this name here.
    ///
    /// # Errors
    /// [`Error::OtherNodes`] unless both have the same names, in any order.
    pub(super) fn places_of(&self, other: &Self) -> Result<Places, Error> {
        if let (Names::Numbered(here), Names::Numbered(there)) = (&self.0, &other.0)
            && here == there
        {
            return Ok(Places::Same);
        }
        if let (Names::Listed(here), Names::Listed(there)) = (&self.0, &other.0)
            && Arc::ptr_eq(here, there)
        {
            return Ok(Places::Same);
        }
        let names = |names: &Self| -> Vec<String> {
            (0..names.count()).filter_map(|v| names.name(v).map(Cow::into_owned)).collect()
        };
        let places: Option<Vec<usize>> = names(other).iter().map(|name| self.position(name)).collect();
        match places {
            Some(places) if self.count() == other.count() => Ok(Places::Moved(places)),
            _ => Err(Error::OtherNodes {
                expected: self.count(),
                got: other.count(),
                missing: names(self).into_iter().find(|name| other.position(name).is_none()),
                unknown: names(other).into_iter().find(|name| self.position(name).is_none()),
            }),
        }
    }

    /// An observer in words, with its members' names.
    pub(super) fn words(&self, observer: &Observer) -> String {
        let words = observer.to_string();
        if matches!(self.0, Names::Numbered(_)) || observer.members().is_empty() {
            return words;
        }
        let members: Vec<_> = observer.members().iter().filter_map(|&v| self.name(v)).collect();
        let plain = Observer::coalition(observer.members()).to_string();
        let knowledge = words.strip_prefix(&plain).unwrap_or("");
        match members.as_slice() {
            [one] => format!("node {one}{knowledge}"),
            many => format!("nodes {} together{knowledge}", many.join(", ")),
        }
    }
}

impl PartialEq for NodeNames {
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count() && (0..self.count()).all(|v| self.name(v) == other.name(v))
    }
}

impl Eq for NodeNames {}

impl fmt::Debug for NodeNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Names::Numbered(count) => write!(f, "NodeNames::numbered({count})"),
            Names::Listed(listed) => f.debug_tuple("NodeNames").field(&listed.names).finish(),
        }
    }
}

/// The numbers that the nodes of one list have in another.
pub(super) enum Places {
    Same,
    Moved(Vec<usize>),
}

impl Places {
    /// The number of node `v` in the other list.
    pub(super) fn of(&self, v: usize) -> usize {
        match self {
            Self::Same => v,
            Self::Moved(places) => places.get(v).copied().unwrap_or(v),
        }
    }
}

/// An account whose nodes have these names; the first belongs to node 0.
///
/// # Errors
/// [`Error::InvalidParameter`] unless there are as many names as nodes.
///
/// # Examples
/// ```
/// use ndp_account::{NodeNames, Observer, Protocol, named};
/// use ndp_account::example::Gossip;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
/// let account = named(gossip.account(&Observer::node(0))?, NodeNames::new(["ann", "bob", "eve"])?)?;
/// assert_eq!(account.names().position("bob"), Some(1));
/// assert_eq!(gossip.account(&Observer::node(0))?.names(), NodeNames::numbered(3));
/// assert!(named(account, NodeNames::numbered(4)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn named<'a>(account: Box<dyn Account + 'a>, names: NodeNames) -> Result<Box<dyn Account + 'a>, Error> {
    let count = names.count();
    ensure(
        count == account.node_count(),
        "the number of names",
        "be that of the protocol's nodes",
        count as f64,
    )?;
    Ok(Box::new(NamedAccount { account, names }))
}

/// An account, and the names of its nodes.
struct NamedAccount<'a> {
    account: Box<dyn Account + 'a>,
    names: NodeNames,
}

impl Account for NamedAccount<'_> {
    forward! { self.account =>
        fn observer(&self) -> &Observer;
        fn node_count(&self) -> usize;
        fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error>;
        fn terms(&self) -> Terms;
        fn theorems(&self) -> Vec<By>;
        fn failure(&self) -> f64;
        fn rests_on(&self) -> Vec<RestsOn>;
        fn assumptions(&self) -> Vec<Assumption>;
        fn is_by_bound(&self) -> bool;
        fn class(&self) -> Option<(usize, usize)>;
        fn mirror_of(&self) -> Option<usize>;
        fn unit_losses(&self) -> Option<&crate::LossReport>;
        fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error>;
        fn least_noise(&self, u: usize, measure: Measure, allowed: f64) -> Result<Option<NoiseMultiplier>, Error>;
    }

    fn names(&self) -> NodeNames {
        self.names.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are() -> Result<(), Error> {
        let names = NodeNames::new(["c", "a", "b", ""])?;
        for v in 0..4 {
            assert_eq!(names.name(v).and_then(|name| names.position(&name)), Some(v));
        }
        assert_eq!((names.name(4), names.position("d")), (None, None));
        let numbers = NodeNames::numbered(12);
        assert_eq!((numbers.position("11"), numbers.position("12")), (Some(11), None));
        for strange in ["01", "+1", " 1", "1.0", "-0", ""] {
            assert_eq!(numbers.position(strange), None, "{strange:?}");
        }
        assert_eq!(NodeNames::new(["a", "b", "a"]), Err(Error::RepeatedName("a".into())));
        assert_eq!(NodeNames::new(Vec::<&str>::new())?, NodeNames::numbered(0));
        Ok(())
    }

    #[test]
    fn places_are_those_of_the_names_and_differences_are_named() -> Result<(), Error> {
        let here = NodeNames::new(["x", "h", "y"])?;
        let moved = here.places_of(&NodeNames::new(["y", "x", "h"])?)?;
        assert_eq!([0, 1, 2].map(|v| moved.of(v)), [2, 0, 1]);
        let same = NodeNames::numbered(3).places_of(&NodeNames::new(["0", "2", "1"])?)?;
        assert_eq!([0, 1, 2].map(|v| same.of(v)), [0, 2, 1]);
        let differs = |names: &[&str], expected, got, missing: Option<&str>, unknown: Option<&str>| {
            let names = NodeNames::new(names.iter().copied())?;
            let (missing, unknown) = (missing.map(str::to_owned), unknown.map(str::to_owned));
            let found = here.places_of(&names).err();
            assert_eq!(found, Some(Error::OtherNodes { expected, got, missing, unknown }));
            Ok::<(), Error>(())
        };
        differs(&["x", "h"], 3, 2, Some("y"), None)?;
        differs(&["x", "h", "y", "z"], 3, 4, None, Some("z"))?;
        differs(&["x", "h", "z"], 3, 3, Some("y"), Some("z"))?;
        differs(&["0", "1", "2"], 3, 3, Some("x"), Some("0"))?;
        let numbered = NodeNames::numbered(3).places_of(&NodeNames::numbered(4)).err();
        let (missing, unknown) = (None, Some("3".to_owned()));
        assert_eq!(numbered, Some(Error::OtherNodes { expected: 3, got: 4, missing, unknown }));
        Ok(())
    }

    #[test]
    fn observers_are_called_by_their_names() -> Result<(), Error> {
        let names = NodeNames::new(["ann", "bob", "eve"])?;
        assert_eq!(names.words(&Observer::node(2)), "node eve");
        let pair = Observer::coalition(&[1, 0]).without_own_noise();
        assert_eq!(names.words(&pair), "nodes ann, bob together, not using own noise");
        let tap = Observer::outsider().tapping(&[(0, 1)]);
        assert_eq!(names.words(&tap), "an outsider, overhearing 1 edges");
        assert_eq!(NodeNames::numbered(3).words(&Observer::node(2)), "node 2");
        Ok(())
    }
}
