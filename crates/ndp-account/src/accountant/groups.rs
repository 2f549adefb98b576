//! Covers every node by groups of nodes: what a group learns is an upper bound on what each of its members
//! learns.
//!
//! A group whose members put together what they see learns at least what each of them learns about every node
//! outside it (data processing). So a few accounts of groups bound the loss of all pairs. The groups with the
//! largest bounds are split, until the largest bound belongs to a single node, whose loss is then the largest
//! of all, or until further accounts would cost too much. The proof is in `docs/theory.md`, "Accounting".

use super::linear::{between, noise_of_unit};
use super::worst::WITHIN;
use super::{Account, Audience, Coverage, Covered, NodeNames, Observer, Said};
use crate::{Assumption, By, Error, RestsOn, Terms};
use ndp_dp::{Grade, Measure, NoiseMultiplier, Profile};
use ndp_numeric::rounding::{Interval, any_of};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of groups that are split at a time. It is fixed, so that answers do not depend on the number of
/// threads.
const AT_ONCE: usize = 4;

/// On networks with fewer nodes, groups save nothing: every node has an account of its own.
const FEWEST_NODES: usize = 9;

/// Computes the accounts of observers.
type Look<'l, 'a> = dyn Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error> + 'l;

/// The members of a group, and the nodes outside it about which its account bounds what they learn.
struct Group {
    members: Vec<usize>,
    sources: Vec<usize>,
    /// Whether the sources are all nodes outside the group, or only those that share the first coordinate of
    /// a member.
    about_all: bool,
    /// An upper bound on the unit loss of every member about every source.
    unit: f64,
}

/// Two coordinates for every node, different for different nodes. The nodes with the same first coordinate
/// form a group, and so do those with the same second one. So for every pair of nodes, some group contains
/// exactly one of them.
struct Coordinates {
    nodes: usize,
    /// About the square root of the number of nodes.
    side: usize,
    /// The distance of the places of two consecutive nodes. Neighbors often have close numbers and should not
    /// be in one group, so it is about 5/8 of the number of nodes; it has no common divisor with that number.
    step: usize,
}

impl Coordinates {
    fn new(nodes: usize) -> Self {
        let divisor = |mut a: usize, mut b: usize| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let golden = nodes / 8 * 5 + nodes % 8 * 5 / 8;
        let step = (golden.max(1)..).find(|&step| divisor(step, nodes) == 1).unwrap_or(1);
        let side = nodes.isqrt();
        Self { nodes, side: side + usize::from(side * side < nodes), step }
    }

    fn of(&self, v: usize) -> (usize, usize) {
        let place = v % self.nodes * (self.step % self.nodes) % self.nodes;
        (place % self.side, place / self.side)
    }

    /// All groups: those with the same first coordinate, about all other nodes, and those with the same
    /// second one, about the nodes that share the first coordinate of a member.
    fn groups(&self) -> Vec<Group> {
        let mut first = vec![Vec::new(); self.side];
        let mut second = vec![Vec::new(); self.side];
        for v in 0..self.nodes {
            let (a, b) = self.of(v);
            first[a].push(v);
            second[b].push(v);
        }
        let group = |members: Vec<usize>, about_all: bool| {
            let all: Vec<usize> = (0..self.nodes).filter(|u| !members.contains(u)).collect();
            let sources = if about_all { all } else { self.with(&members, &all) };
            Group { members, sources, about_all, unit: f64::INFINITY }
        };
        let all = first.into_iter().map(|members| group(members, true));
        let all = all.chain(second.into_iter().map(|members| group(members, false)));
        all.filter(|group| !group.members.is_empty() && !group.sources.is_empty()).collect()
    }

    /// The nodes of `sources` that share the first coordinate of a member.
    fn with(&self, members: &[usize], sources: &[usize]) -> Vec<usize> {
        let firsts: BTreeSet<usize> = members.iter().map(|&v| self.of(v).0).collect();
        sources.iter().copied().filter(|&u| firsts.contains(&self.of(u).0)).collect()
    }

    /// The two halves of a group, each with the sources that it must answer for.
    fn halves(&self, group: &Group) -> [Group; 2] {
        let (a, b) = group.members.split_at(group.members.len() / 2);
        [a, b].map(|members| {
            let sources =
                if group.about_all { group.sources.clone() } else { self.with(members, &group.sources) };
            Group { members: members.to_vec(), sources, ..*group }
        })
    }
}

/// What the accounts of all members of groups have in common.
struct Shared {
    names: NodeNames,
    unit: f64,
    said: Said,
}

/// The state of one search.
struct Search<'l, 'a> {
    coordinates: Coordinates,
    look: &'l Look<'l, 'a>,
    /// An observer that has the same knowledge of own noise and senders as the members.
    like: &'l Observer,
    groups: usize,
    failures: Vec<f64>,
    theorems: BTreeSet<By>,
    rests_on: Vec<RestsOn>,
    assumptions: BTreeSet<Assumption>,
    /// The largest unit loss that a single node is proven to learn, as both ends of its enclosure; below, its
    /// account.
    shown: (f64, f64),
    witness: Option<Box<dyn Account + 'a>>,
}

impl<'a> Search<'_, 'a> {
    /// Computes the accounts of groups and lowers their bounds. Returns false unless every account exists and
    /// has unit losses.
    fn ask(&mut self, groups: &mut [Group]) -> Result<bool, Error> {
        let observers = groups.iter().map(|group| self.like.with_members(&group.members));
        let accounts = match (self.look)(&observers.collect::<Vec<_>>()) {
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => return Ok(false),
            Ok(accounts) => accounts,
        };
        let mut all = accounts.len() == groups.len();
        for (group, account) in groups.iter_mut().zip(accounts) {
            all &= self.hear(group, account)?;
        }
        Ok(all)
    }

    /// Lowers the bound of a group by its account. Returns false if the account has no unit losses.
    fn hear(&mut self, group: &mut Group, account: Box<dyn Account + 'a>) -> Result<bool, Error> {
        let mut shown = (0.0, 0.0);
        let mut most = 0.0_f64;
        let mut kept = Vec::new();
        for &u in &group.sources {
            let Ok(Some((low, high))) = account.unit(u) else { return Ok(false) };
            most = most.max(high);
            if low > shown.0 {
                shown = (low, high);
            }
            // Later accounts of its halves need only the sources that may lose more than what is proven
            // already.
            if high > self.shown.0 {
                kept.push(u);
            }
        }
        group.unit = group.unit.min(most);
        group.sources = kept;
        self.groups += 1;
        self.failures.push(account.failure());
        self.rests_on.extend(account.rests_on());
        self.assumptions.extend(account.assumptions());
        self.theorems.extend(account.theorems());
        if group.members.len() == 1 && shown.0 > self.shown.0 {
            self.shown = shown;
            self.witness = Some(account);
        }
        Ok(true)
    }

    /// An upper bound on the unit loss of every pair; `None` if the groups have no accounts.
    fn most(&mut self) -> Result<Option<f64>, Error> {
        let mut open = self.coordinates.groups();
        let most_groups = (3 * open.len()).max(self.coordinates.nodes);
        // First one group, then a few: if accounts are refused or take too long, the others are not tried.
        let (one, others) = open.split_at_mut(1);
        let (few, others) = others.split_at_mut(AT_ONCE.min(others.len()));
        if !self.ask(one)? || !self.ask(few)? || !self.ask(others)? {
            return Ok(None);
        }
        let mut settled = 0.0_f64;
        loop {
            // A bound need not fall below a loss that some node is proven to learn.
            let enough = self.shown.0 * (1.0 + WITHIN);
            for group in open.extract_if(.., |group| group.unit <= enough) {
                settled = settled.max(group.unit);
            }
            open.sort_by(|a, b| b.unit.total_cmp(&a.unit));
            // Among the groups with the largest bound, split the smallest first: it soonest shows whether a
            // single node attains the bound.
            let largest = open.first().map_or(0.0, |group| group.unit * (1.0 - WITHIN));
            let tied = open.partition_point(|group| group.unit >= largest);
            open[..tied].sort_by_key(|group| group.members.len());
            let splits = open.iter().take_while(|group| group.members.len() > 1).take(AT_ONCE).count();
            if splits == 0 || self.groups + 2 * splits > most_groups {
                break;
            }
            let rest = open.split_off(splits);
            let mut halves: Vec<Group> =
                open.iter().flat_map(|group| self.coordinates.halves(group)).collect();
            halves.retain(|group| !group.sources.is_empty());
            let all = self.ask(&mut halves)?;
            open = halves;
            open.extend(rest);
            if !all {
                break;
            }
        }
        Ok(Some(open.iter().map(|group| group.unit).fold(self.shown.1.max(settled), f64::max)))
    }
}

impl<'a> Covered<'a> {
    /// If [chosen](Audience::chosen) observers are looked at,
    /// [`Protocol::local_bound`](super::Protocol::local_bound) covers the others, and no node is proven to
    /// learn as much as this bound: covers every node by groups instead, whose accounts come from `look`. The
    /// groups that learn most are split. Returns `self` unchanged if the groups' accounts show no smaller
    /// bound, have no [unit losses](Account::unit), or are refused. If the node of the audience's
    /// [hint](Audience::hinting) learns as much as the bound says, its account shows that the bound is exact
    /// for all, and no group is needed.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Account, Audience, Coverage, Covered, Error, Observer, accounts};
    /// use ndp_account::example::Gossip;
    /// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};
    /// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(30)?), 3);
    /// let look = |observers: &[Observer]| accounts(&gossip, observers, &Silent);
    /// let audience = Audience::chosen(30, &[4])?;
    /// let covered = Covered::of(&gossip, &audience, look)?.by_groups(&audience, look)?;
    /// // Node 4 hears a noisy value as it leaves its node: no group can show less.
    /// assert!(matches!(covered.coverage, Coverage::Bounded { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Cancelled`]; those of the accounts of those who are looked at.
    pub fn by_groups(
        mut self,
        audience: &Audience,
        look: impl Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error>,
    ) -> Result<Self, Error> {
        if !matches!(self.coverage, Coverage::Bounded { seed: None, .. }) {
            return Ok(self);
        }
        let observers = audience.others();
        let one = NoiseMultiplier::new(1.0)?;
        let nodes = self.protocol().node_count();
        let (Some(like), true) = (observers.first(), nodes >= FEWEST_NODES) else { return Ok(self) };
        let Ok(Some(worst)) = self.worst(one, Measure::Gaussian) else { return Ok(self) };
        if worst.loss.grade() == Grade::Exact {
            return Ok(self);
        }
        if let Some(hint) = audience.hint.as_ref().filter(|hint| observers.contains(hint))
            && let Some(witness) = attaining(hint, *worst.loss.value(), look(std::slice::from_ref(hint)))?
        {
            return Ok(self.witnessed(Box::new(witness)));
        }
        let mut search = Search {
            coordinates: Coordinates::new(nodes),
            look: &look,
            like,
            groups: 0,
            failures: Vec::new(),
            theorems: BTreeSet::from([By {
                function: "ndp_account::Covered::by_groups",
                theorem: "Accounting",
            }]),
            rests_on: Vec::new(),
            assumptions: BTreeSet::new(),
            shown: (0.0, 0.0),
            witness: None,
        };
        for account in self.looked_at() {
            for u in (0..nodes).filter(|&u| !account.observer().contains(u)) {
                let Ok(Some(ends)) = account.unit(u) else { return Ok(self) };
                search.shown = if ends.0 > search.shown.0 { ends } else { search.shown };
            }
        }
        let Some(unit) = search.most()? else { return Ok(self) };
        let attained = search.shown.0 >= unit * (1.0 - WITHIN);
        // If the bound is not smaller it gains nothing, unless some node is proven to learn as much.
        if unit.sqrt() >= *worst.loss.value() && !attained {
            return Ok(self);
        }
        let Some(first) = self.looked_at().first() else { return Ok(self) };
        let Search { groups, failures, theorems, rests_on, assumptions, witness, .. } = search;
        let said = Said {
            failure: any_of(failures),
            theorems: theorems.into_iter().collect(),
            rests_on: RestsOn::together(rests_on).into_iter().collect(),
            assumptions: assumptions.into_iter().collect(),
            ..Said::by(first.as_ref())
        };
        let shared = Arc::new(Shared { names: first.names(), unit, said });
        let looked_at = self.looked_at().len();
        self.accounts.truncate(looked_at);
        let member = |observer: &Observer| {
            Box::new(Member { observer: observer.clone(), shared: Arc::clone(&shared), pair: None })
                as Box<dyn Account + 'a>
        };
        self.accounts.extend(observers.iter().map(member));
        Ok(self.grouped(groups, witness))
    }
}

/// An observer that is proven to learn at least `mu` at noise 1 (within [`WITHIN`]), by its account; `None`
/// if the account shows less or is refused.
fn attaining<'a>(
    observer: &Observer,
    mu: f64,
    found: Result<Vec<Box<dyn Account + 'a>>, Error>,
) -> Result<Option<Member>, Error> {
    let found = match found {
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        found => found.ok().and_then(|mut found| found.pop()),
    };
    let Some(account) = found else { return Ok(None) };
    let Some(pair) = reaching(account.as_ref(), mu) else { return Ok(None) };
    let unit = (Interval::new(mu) * Interval::new(mu)).high();
    let shared = Arc::new(Shared { names: account.names(), unit, said: Said::by(account.as_ref()) });
    Ok(Some(Member { observer: observer.clone(), shared, pair: Some(pair) }))
}

/// The first node about which the account shows a loss of at least `mu` at noise 1 (within [`WITHIN`]), with
/// both ends of its unit loss.
fn reaching(account: &dyn Account, mu: f64) -> Option<(usize, (f64, f64))> {
    let others = (0..account.node_count()).filter(|&u| !account.observer().contains(u));
    let mut known = others.map_while(|u| Some((u, account.unit(u).ok()??)));
    known.find(|(_, (low, _))| low.sqrt() >= mu * (1.0 - WITHIN))
}

/// An observer covered by groups; or, with `pair`, one that learns as much about one node as the bound says.
struct Member {
    observer: Observer,
    shared: Arc<Shared>,
    /// A node with both ends of its unit loss, if they are known.
    pair: Option<(usize, (f64, f64))>,
}

impl Member {
    /// Both ends of the unit loss of `u`.
    fn ends(&self, u: usize) -> (f64, f64) {
        self.pair.filter(|(known, _)| *known == u).map_or((0.0, self.shared.unit), |(_, ends)| ends)
    }
}

impl Account for Member {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.shared.said.nodes
    }

    fn names(&self) -> NodeNames {
        self.shared.names.clone()
    }

    fn terms(&self) -> Terms {
        self.shared.said.terms
    }

    fn theorems(&self) -> Vec<By> {
        self.shared.said.theorems.clone()
    }

    fn rests_on(&self) -> Vec<RestsOn> {
        self.shared.said.rests_on.clone()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.shared.said.assumptions.clone()
    }

    fn failure(&self) -> f64 {
        self.shared.said.failure
    }

    /// All members share the accounts of the groups, so they fail together.
    fn mirror_of(&self) -> Option<usize> {
        self.pair.is_none().then_some(Arc::as_ptr(&self.shared) as usize)
    }

    fn class(&self) -> Option<(usize, usize)> {
        self.pair.is_none().then_some((Arc::as_ptr(&self.shared) as usize, 0))
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.observer.checked_source(u, self.shared.said.nodes)?;
        between(self.ends(u), false, noise, &self.observer.to_string())
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        self.observer.checked_source(u, self.shared.said.nodes)?;
        noise_of_unit(self.ends(u).1, measure, allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every pair of nodes, some group answers, before and after the groups are halved.
    #[test]
    fn groups_and_their_halves_answer_for_every_pair() {
        for nodes in (2..60).chain([100, 101, 744]) {
            let coordinates = Coordinates::new(nodes);
            let places: BTreeSet<_> = (0..nodes).map(|v| coordinates.of(v)).collect();
            assert_eq!(places.len(), nodes, "two of {nodes} nodes are at one place");
            let covered = |groups: &[Group]| {
                let mut pairs = BTreeSet::new();
                for group in groups {
                    assert!(group.sources.iter().all(|u| !group.members.contains(u)));
                    for &v in &group.members {
                        let about = coordinates.with(&[v], &group.sources);
                        pairs.extend(
                            if group.about_all { &group.sources } else { &about }.iter().map(|&u| (v, u)),
                        );
                    }
                }
                pairs.len() == nodes * (nodes - 1)
            };
            let mut groups = coordinates.groups();
            assert!(covered(&groups), "{nodes}");
            assert!(groups.len() <= 2 * (nodes.isqrt() + 1));
            while groups.iter().any(|group| group.members.len() > 1) {
                let halves = |group: Group| {
                    if group.members.len() > 1 { coordinates.halves(&group).into() } else { vec![group] }
                };
                groups = groups.into_iter().flat_map(halves).collect();
                assert!(covered(&groups), "{nodes}");
            }
        }
    }
}
