//! The observers that a question is about, and those of them whose accounts are computed (who are *looked
//! at*).

use super::symmetry::for_all_of_size;
use super::{Among, Coverage, Observer, Rest};
use crate::Error;
use crate::error::ensure;
use ndp_graph::Graph;
use std::collections::BTreeSet;

/// The observers that a question is about: those who are looked at, and the others.
///
/// # Examples
/// ```
/// use ndp_account::{Audience, Observer};
/// let all = Audience::every_node(4);
/// assert_eq!((all.looked_at().len(), all.others().len()), (4, 0));
/// let drawn = Audience::drawn(4, &[1, 3], 7)?;
/// assert_eq!(drawn.others(), [Observer::node(0), Observer::node(2)]);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    pub(super) looked_at: Vec<Observer>,
    pub(super) others: Vec<Observer>,
    pub(super) asked: Asked,
    /// One of the others who may learn as much as the bound says.
    pub(super) hint: Option<Observer>,
}

/// What the question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Named,
    Everybody,
    /// Every node alone; those looked at were chosen, or drawn by this seed.
    Some(Option<u64>),
    /// Every coalition of `size` of `nodes` nodes, or of neighbors of one node; `all` says whether each of
    /// them is looked at.
    Coalitions {
        size: usize,
        among: Among,
        nodes: usize,
        all: bool,
    },
}

/// The largest number of coalitions that are looked at.
///
/// # Examples
/// ```
/// use ndp_account::{MOST_COALITIONS, number_of_coalitions};
/// assert!(number_of_coalitions(34, 3) <= MOST_COALITIONS && MOST_COALITIONS < number_of_coalitions(34, 4));
/// ```
pub const MOST_COALITIONS: f64 = 10_000.0;

/// The number of coalitions of `size` among `nodes` nodes; exact while `size` times the number is below 2⁵³.
///
/// # Examples
/// ```
/// assert_eq!(ndp_account::number_of_coalitions(34, 2), 561.0);
/// assert_eq!(ndp_account::number_of_coalitions(2, 3), 0.0);
/// ```
#[must_use]
pub fn number_of_coalitions(nodes: usize, size: usize) -> f64 {
    if size > nodes {
        return 0.0;
    }
    #[allow(clippy::cast_precision_loss, reason = "numbers of nodes are far below 2^53")]
    let term = |i: usize| ((nodes - i) as f64, (i + 1) as f64);
    // The product and the quotient are whole numbers in every step, and exact below 2⁵³. The count grows with
    // every step, so once it is infinite it stays so.
    let mut count = 1.0f64;
    for (up, down) in (0..size.min(nodes - size)).map(term) {
        count = count * up / down;
        if count.is_infinite() {
            break;
        }
    }
    count
}

/// Checks that an observer for every node fits in memory.
fn require_room(nodes: usize) -> Result<(), Error> {
    let bytes = (nodes as u128).saturating_mul(size_of::<Observer>() as u128 + 8);
    Ok(ndp_linalg::memory::require_memory("an observer for every node", bytes)?)
}

impl Audience {
    /// These observers, and no others.
    #[must_use]
    pub fn named(observers: Vec<Observer>) -> Self {
        Self { looked_at: observers, others: Vec::new(), asked: Asked::Named, hint: None }
    }

    /// Every node alone.
    #[must_use]
    pub fn every_node(nodes: usize) -> Self {
        let looked_at = (0..nodes).map(Observer::node).collect();
        Self { looked_at, others: Vec::new(), asked: Asked::Everybody, hint: None }
    }

    /// Every node alone. Those in `drawn`, which were drawn at random by `seed`, are looked at.
    ///
    /// # Errors
    /// As [`Observer::checked`] for the nodes drawn.
    pub fn drawn(nodes: usize, drawn: &[usize], seed: u64) -> Result<Self, Error> {
        Self::of_everybody(nodes, drawn, Some(seed))
    }

    /// Every node alone. Those in `chosen` are looked at; on a large graph the bound covers the others. If a
    /// chosen node learns as much as the bound says, the bound is [exact](super::Covered::worst) for all.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Audience, Coverage};
    /// let audience = Audience::chosen(5, &[4])?;
    /// assert_eq!(audience.coverage_of_looked_at(), Coverage::Sample { looked_at: 1, nodes: 5, seed: None });
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Observer::checked`] for the nodes chosen.
    pub fn chosen(nodes: usize, chosen: &[usize]) -> Result<Self, Error> {
        Self::of_everybody(nodes, chosen, None)
    }

    /// The same audience with a hint: `node` may learn as much as the bound says, though its account takes
    /// longer. [`Covered::by_groups`](super::Covered::by_groups) looks at it before it looks at groups.
    ///
    /// A good hint is the only neighbor of some node. It hears everything that this node sends and, where
    /// noises cancel between neighbors, knows all that cancel with it, so only the node's own noise protects
    /// the node.
    ///
    /// # Errors
    /// As [`Observer::checked`].
    pub fn hinting(self, node: usize) -> Result<Self, Error> {
        let nodes = self.looked_at.len() + self.others.len();
        let hint = Observer::node(node);
        hint.checked(nodes)?;
        let hint = self.others.contains(&hint).then_some(hint);
        Ok(Self { hint, ..self })
    }

    fn of_everybody(nodes: usize, looked_at: &[usize], seed: Option<u64>) -> Result<Self, Error> {
        require_room(nodes)?;
        let members = Observer::coalition(looked_at);
        if members.checked(nodes)?.len() == nodes {
            return Ok(Self::every_node(nodes));
        }
        let looked_at = members.members().iter().map(|&v| Observer::node(v)).collect();
        let others = (0..nodes).filter(|&v| !members.contains(v)).map(Observer::node).collect();
        Ok(Self { looked_at, others, asked: Asked::Some(seed), hint: None })
    }

    /// Every coalition of at most `size` nodes. If at most [`MOST_COALITIONS`] have exactly `size` nodes, and
    /// at most a million members together, each of these is looked at. Otherwise only `chosen` is looked at,
    /// and the bound covers the others.
    ///
    /// A coalition learns no more than a larger one that contains it (data processing). Every coalition of
    /// fewer than `size` nodes is part of one of `size` nodes without the exposed node. So all coalitions of
    /// exactly `size` cover the smaller ones.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Among, Audience, Coverage, Observer, Rest};
    /// let pairs = Audience::coalitions(4, 2, &Observer::coalition(&[0, 1]))?;
    /// assert_eq!(pairs.looked_at().len(), 6);
    /// let among = Among::Everybody;
    /// let coverage = Coverage::Coalitions { size: 2, among, nodes: 4, looked_at: 6, rest: Rest::None };
    /// assert_eq!(pairs.coverage_of_looked_at(), coverage);
    /// // A coalition of one is a node alone, and of all nodes nobody is left to learn about.
    /// assert_eq!(Audience::coalitions(4, 1, &Observer::node(0))?, Audience::every_node(4));
    /// assert!(Audience::coalitions(4, 4, &Observer::coalition(&[0, 1, 2, 3])).is_err());
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `size` is not between 1 and one less than `nodes`, or if `chosen` has
    /// another size; as [`Observer::checked`] for `chosen`.
    pub fn coalitions(nodes: usize, size: usize, chosen: &Observer) -> Result<Self, Error> {
        require_size(size, nodes)?;
        if size == 1 {
            return Ok(Self::every_node(nodes));
        }
        if are_few(nodes, size) {
            let asked = Asked::Coalitions { size, among: Among::Everybody, nodes, all: true };
            return Ok(Self { looked_at: all_of_size(nodes, size), others: Vec::new(), asked, hint: None });
        }
        let (name, condition) = ("the size of the coalition chosen", "be that of all coalitions");
        #[allow(clippy::cast_precision_loss, reason = "a message")]
        ensure(chosen.checked(nodes)?.len() == size, name, condition, size as f64)?;
        let asked = Asked::Coalitions { size, among: Among::Everybody, nodes, all: false };
        Ok(Self { looked_at: vec![chosen.clone()], others: ends(nodes, size), asked, hint: None })
    }

    /// Every coalition of at most `size` nodes that are neighbors of one common node of `graph`, about any
    /// node outside the coalition. If there are at most [`MOST_COALITIONS`] of the largest ones, with at most
    /// a million members together, each of them is looked at. Otherwise one coalition of neighbors of a node
    /// with few neighbors is looked at, and the bound covers the others.
    ///
    /// A coalition learns no more than a larger one that contains it (data processing). If a node has more
    /// than `size` neighbors, its coalitions of exactly `size` cover the smaller ones: a smaller one leaves
    /// out some neighbor that is not the exposed node, and may be extended by it. If it has at most `size`
    /// neighbors, all of them together cover every exposed node that is no neighbor; if the exposed node is a
    /// neighbor, the others together cover it.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Audience, Observer};
    /// use ndp_graph::generators::path_graph;
    /// // 0 - 1 - 2 - 3: both neighbors of 1, both of 2, and each node alone about the other of a pair.
    /// let pairs = Audience::neighbors(&path_graph(4)?, 2)?;
    /// let together: Vec<_> = pairs.looked_at().iter().map(Observer::members).collect();
    /// assert_eq!(together, [&[0][..], &[0, 2], &[1], &[1, 3], &[2], &[3]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `size` is not between 1 and one less than the number of nodes, or if the
    /// graph has no edge.
    pub fn neighbors(graph: &Graph, size: usize) -> Result<Self, Error> {
        let nodes = graph.node_count();
        require_size(size, nodes)?;
        let with_neighbors = || (0..nodes).filter(|&u| graph.degree(u) > 0);
        let few = with_neighbors().min_by_key(|&u| graph.degree(u));
        let (name, condition) = ("the number of edges", "be at least 1");
        let Some(few) = few else {
            return ensure(false, name, condition, 0.0).map(|()| Self::named(Vec::new()));
        };
        let of = |u: usize| -> Vec<usize> { graph.neighbors(u).iter().map(|&v| v as usize).collect() };
        let count: f64 = with_neighbors().map(|u| largest_of(graph.degree(u), size)).sum();
        #[allow(clippy::cast_precision_loss, reason = "compared with a number that is far smaller")]
        if count <= MOST_COALITIONS && count * size as f64 <= 1e6 {
            let mut all = BTreeSet::new();
            for neighbors in with_neighbors().map(of) {
                let mut add = |members: Vec<usize>| {
                    if !members.is_empty() {
                        all.insert(Observer::coalition(&members));
                    }
                };
                if neighbors.len() <= size {
                    for w in 0..neighbors.len() {
                        add(neighbors
                            .iter()
                            .enumerate()
                            .filter(|&(at, _)| at != w)
                            .map(|(_, &v)| v)
                            .collect());
                    }
                    add(neighbors);
                } else {
                    for_all_of_size(neighbors.len(), size, |at| {
                        add(at.iter().map(|&at| neighbors[at]).collect());
                    });
                }
            }
            let asked = Asked::Coalitions { size, among: Among::Neighbors, nodes, all: true };
            return Ok(Self { looked_at: all.into_iter().collect(), others: Vec::new(), asked, hint: None });
        }
        let mut chosen = of(few);
        chosen.sort_by_key(|&v| graph.degree(v));
        chosen.truncate(size);
        let asked = Asked::Coalitions { size, among: Among::Neighbors, nodes, all: false };
        Ok(Self {
            looked_at: vec![Observer::coalition(&chosen)],
            others: ends(nodes, size),
            asked,
            hint: None,
        })
    }

    /// The same coalitions, but without an account for any of them, for protocols that refuse accounts of
    /// coalitions; `None` for other audiences.
    #[must_use]
    pub fn by_bound(&self) -> Option<Self> {
        let Asked::Coalitions { size, among, nodes, .. } = self.asked else { return None };
        let asked = Asked::Coalitions { size, among, nodes, all: false };
        Some(Self { looked_at: Vec::new(), others: self.others_known(ends(nodes, size)), asked, hint: None })
    }

    /// `observers`, with the knowledge of own noise and senders that this audience's observers have.
    pub(super) fn others_known(&self, observers: Vec<Observer>) -> Vec<Observer> {
        let Some(first) = self.looked_at.first().or(self.others.first()) else { return observers };
        observers.iter().map(|observer| first.with_members(observer.members())).collect()
    }

    /// For an audience made by [`Self::chosen`], which the bound does not always cover: the same with every
    /// node looked at. `None` for other audiences.
    #[must_use]
    pub fn looking_at_all(&self) -> Option<Self> {
        let chosen = self.asked == Asked::Some(None);
        chosen.then(|| {
            let mut looked_at = [self.looked_at.clone(), self.others.clone()].concat();
            looked_at.sort_unstable();
            Self { looked_at, others: Vec::new(), asked: Asked::Everybody, hint: None }
        })
    }

    /// Whether each of `nodes` nodes is looked at alone, because all were asked about or each was named.
    pub(super) fn is_everybody(&self, nodes: usize) -> bool {
        let alone =
            |(v, observer): (usize, &Observer)| observer.members() == [v] && observer.tapped.is_empty();
        let named = || self.looked_at.len() == nodes && self.looked_at.iter().enumerate().all(alone);
        self.asked == Asked::Everybody || (self.asked == Asked::Named && named())
    }

    /// The same audience with every observer changed by `change`, for instance to hide senders.
    #[must_use]
    pub fn map(self, change: impl Fn(Observer) -> Observer) -> Self {
        let Self { looked_at, others, asked, hint } = self;
        let looked_at = looked_at.into_iter().map(&change).collect();
        let hint = hint.map(&change);
        Self { looked_at, others: others.into_iter().map(change).collect(), asked, hint }
    }

    /// The observers who are looked at.
    #[must_use]
    pub fn looked_at(&self) -> &[Observer] {
        &self.looked_at
    }

    /// The coverage by the accounts of those who are looked at, without any bound.
    #[must_use]
    pub fn coverage_of_looked_at(&self) -> Coverage {
        let looked_at = self.looked_at.len();
        match self.asked {
            Asked::Named => Coverage::Named { observers: looked_at },
            Asked::Everybody => Coverage::All { nodes: looked_at },
            Asked::Some(seed) => Coverage::Sample { looked_at, nodes: looked_at + self.others.len(), seed },
            Asked::Coalitions { size, among, nodes, all } => {
                let rest = if all { Rest::None } else { Rest::Unknown };
                Coverage::Coalitions { size, among, nodes, looked_at, rest }
            }
        }
    }

    /// The observers who are not looked at. For coalitions, two of them stand for all, because one bound
    /// holds for all of a size.
    #[must_use]
    pub fn others(&self) -> &[Observer] {
        &self.others
    }
}

/// Checks that `size` is at least 1 and less than `nodes`, and that an observer for every node fits in
/// memory.
fn require_size(size: usize, nodes: usize) -> Result<(), Error> {
    let (name, condition) = ("the size of a coalition", "be at least 1 and less than the number of nodes");
    #[allow(clippy::cast_precision_loss, reason = "a message")]
    ensure((1..nodes).contains(&size), name, condition, size as f64)?;
    require_room(nodes)
}

/// The number of coalitions that cover all coalitions of at most `size` neighbors of a node with this degree.
fn largest_of(degree: usize, size: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "degrees are far below 2^53")]
    if degree > size { number_of_coalitions(degree, size) } else { degree as f64 + 1.0 }
}

/// Whether all coalitions of this size can be listed and looked at.
fn are_few(nodes: usize, size: usize) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "compared with a number that is far smaller")]
    let members = number_of_coalitions(nodes, size) * size as f64;
    number_of_coalitions(nodes, size) <= MOST_COALITIONS && members <= 1e6
}

/// All coalitions of `size` nodes, in lexicographic order.
pub(super) fn all_of_size(nodes: usize, size: usize) -> Vec<Observer> {
    let mut all = Vec::new();
    for_all_of_size(nodes, size, |members| all.push(Observer::coalition(members)));
    all
}

/// The coalitions of the first and of the last `size` nodes; a bound that is the same for all needs only
/// these.
fn ends(nodes: usize, size: usize) -> Vec<Observer> {
    let of = |members: std::ops::Range<usize>| Observer::coalition(&members.collect::<Vec<_>>());
    vec![of(0..size), of(nodes - size..nodes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every coalition of exactly `size` nodes is listed once, and their number is right (by hand).
    #[test]
    fn all_coalitions_of_a_size_are_listed() {
        let listed = |nodes, size| -> Vec<Vec<usize>> {
            all_of_size(nodes, size).iter().map(|one| one.members().to_vec()).collect()
        };
        assert_eq!(listed(4, 2), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(listed(4, 3), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        for (nodes, size) in [(5, 1), (7, 3), (9, 8), (6, 4)] {
            let mut all = listed(nodes, size);
            #[allow(clippy::cast_precision_loss, reason = "small")]
            let count = all.len() as f64;
            assert_eq!(number_of_coalitions(nodes, size), count);
            all.dedup();
            assert_eq!(number_of_coalitions(nodes, size), count);
            assert!(all.iter().all(|members| members.windows(2).all(|pair| pair[0] < pair[1])));
        }
        assert_eq!(number_of_coalitions(37_700, 2), 710_626_150.0);
    }

    #[test]
    fn absurd_numbers_of_nodes_are_refused_at_once() {
        let too_large = |made: Result<Audience, Error>| {
            made.is_err_and(|error| error.to_string().contains("an observer for every node"))
        };
        assert!(too_large(Audience::chosen(usize::MAX, &[1])));
        assert!(too_large(Audience::drawn(1 << 50, &[1], 7)));
        assert!(too_large(Audience::coalitions(usize::MAX, 1, &Observer::node(0))));
        assert!(too_large(Audience::coalitions(1 << 60, 1 << 50, &Observer::node(0))));
        assert_eq!(number_of_coalitions(usize::MAX, usize::MAX / 2), f64::INFINITY);
    }
}
