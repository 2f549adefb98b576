//! Which observers stand for all, if many learn alike.

use super::super::symmetry::{Orbits, mirrored};
use super::super::{Account, Among, Coverage, Observer, Protocol, number_of_coalitions};
use super::{Asked, Audience, Covered};
use std::sync::Arc;

/// On networks of up to this size every node has an account of its own, even if some learn alike.
const MOST_OWN: usize = 500;

/// The largest number of orbits whose accounts are computed although only one observer was chosen. The bound
/// might be enough, so more are not worth the time.
const MOST_FOR_CHOSEN: usize = 4;

/// The largest total number of members of coalitions in the search for their orbits.
const MOST_MEMBERS: f64 = 5e6;

impl Audience {
    /// Every node as an observer, node `v` at index `v`.
    pub(super) fn everybody(&self) -> Vec<Observer> {
        let mut all = [self.looked_at.as_slice(), &self.others].concat();
        all.sort_by(|a, b| a.members().cmp(b.members()));
        all
    }

    /// The first node of each orbit, as observers.
    pub(super) fn firsts(&self, orbits: &Orbits) -> Vec<Observer> {
        let all = self.everybody();
        orbits.firsts().iter().map(|&v| all[v].clone()).collect()
    }

    /// Whether to look for symmetries. On small networks every node gets an account of its own, and a sample
    /// is looked at as asked. Observers may differ in nothing but their nodes.
    pub(super) fn may_be_alike(&self) -> bool {
        let many = match self.asked {
            Asked::Named | Asked::Some(Some(_)) | Asked::Coalitions { all: true, .. } => false,
            Asked::Everybody => self.looked_at.len() > MOST_OWN,
            // The orbits are those of all coalitions of a size, not of coalitions of neighbors.
            Asked::Coalitions { among: Among::Neighbors, .. } => false,
            Asked::Some(None) | Asked::Coalitions { all: false, .. } => true,
        };
        let known = |observer: &Observer| (observer.own_noise, observer.senders, observer.tapped.is_empty());
        let mut everybody = self.looked_at.iter().chain(&self.others).map(known);
        let first = everybody.next();
        many && first.is_some_and(|first| first.2 && everybody.all(|other| other == first))
    }

    /// One observer of each orbit, if there are few enough.
    pub(super) fn by_orbits(&self, orbits: &Orbits) -> Option<Vec<Observer>> {
        match self.asked {
            Asked::Named
            | Asked::Some(Some(_))
            | Asked::Coalitions { all: true, .. }
            | Asked::Coalitions { among: Among::Neighbors, .. } => None,
            Asked::Everybody => Some(self.firsts(orbits)),
            Asked::Some(None) => (orbits.firsts().len() <= MOST_FOR_CHOSEN).then(|| self.firsts(orbits)),
            Asked::Coalitions { size, nodes, .. } => {
                #[allow(clippy::cast_precision_loss, reason = "compared with a number that is far smaller")]
                let members = number_of_coalitions(nodes, size) * size as f64;
                // On small networks, look at no more coalitions than there are nodes.
                let most = if nodes <= MOST_OWN { nodes } else { MOST_FOR_CHOSEN };
                let all = if members <= MOST_MEMBERS { orbits.coalitions(size, most) } else { None };
                Some(self.others_known(all?.iter().map(|members| Observer::coalition(members)).collect()))
            }
        }
    }
}

impl<'a> Covered<'a> {
    /// Covers every node by the accounts of the first node of each orbit.
    pub(super) fn mirrored(
        protocol: &'a dyn Protocol,
        audience: &Audience,
        orbits: &Arc<Orbits>,
        accounts: Vec<Box<dyn Account + 'a>>,
    ) -> Self {
        let all = audience.everybody();
        let (looked_at, nodes) = (accounts.len(), all.len());
        let mut accounts = mirrored(orbits, accounts, &all);
        if audience.others.is_empty() {
            // The question is about each node, so all of them count as looked at.
            return Self {
                accounts,
                coverage: Coverage::Symmetric { looked_at, nodes },
                looked_at: nodes,
                protocol,
                witness: None,
            };
        }
        // The sort is stable: first those who were looked at, then the others, each in the order of nodes.
        accounts.sort_by_key(|account| account.observer().members().iter().all(|&v| !orbits.is_first(v)));
        let coverage = Coverage::Symmetric { looked_at, nodes };
        Self { accounts, coverage, looked_at, protocol, witness: None }
    }
}
