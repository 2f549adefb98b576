//! What an observer outside the network learns from what is published.
//!
//! An outsider hears what every node hears, and no messages between nodes. So what it sees is a function of
//! what any node sees, and a node other than `u` gives an upper bound on what the outsider learns about `u`
//! (data processing).

use super::{Account, Observer, Protocol, Uniform};
use crate::{Assumption, By, Error, RestsOn, Terms};
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Profile, UpperBound};
use ndp_graph::progress::Stop;
use ndp_numeric::rounding::any_of;
use std::collections::BTreeSet;

/// The account of an outsider. Its loss is exactly 0 if nothing is published, which is then
/// [assumed](Assumption::NothingPublished) of the result as well; otherwise a node's account is an upper
/// bound, since every node hears what is published.
///
/// # Errors
/// Those of the accounts of two nodes; [`Error::NodeOutOfRange`] for fewer than two.
pub fn of_outsider<'a>(
    protocol: &'a dyn Protocol,
    nothing_is_published: bool,
    outsider: &Observer,
    stop: &Stop,
) -> Result<Box<dyn Account + 'a>, Error> {
    outsider.require_no_taps()?;
    if nothing_is_published {
        let nodes = protocol.node_count();
        let terms = protocol.account_until(&Observer::node(0), stop)?.terms();
        let terms = terms.trusting(Assumption::NothingPublished);
        return Uniform::account(nodes, Exact::new(0.0).into(), outsider, terms);
    }
    let node = |v: usize| {
        let mut node = Observer::node(v);
        (node.own_noise, node.senders) = (outsider.own_noise, outsider.senders);
        protocol.account_until(&node, stop)
    };
    let accounts = [node(0)?, node(1)?];
    Ok(Box::new(ByNodes { outsider: outsider.clone(), accounts }))
}

struct ByNodes<'a> {
    outsider: Observer,
    /// The account of node 0, and that of node 1 for what is learned about node 0.
    accounts: [Box<dyn Account + 'a>; 2],
}

impl ByNodes<'_> {
    fn other_than(&self, u: usize) -> &dyn Account {
        self.accounts[usize::from(u == 0)].as_ref()
    }
}

impl Account for ByNodes<'_> {
    fn observer(&self) -> &Observer {
        &self.outsider
    }

    fn node_count(&self) -> usize {
        self.accounts[0].node_count()
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        let against = self.outsider.to_string();
        let mut profile = self.other_than(u).profile(u, noise)?;
        // An exact loss of a node is only an upper bound for an outsider, who hears less.
        if let Some(mu) = profile.mu() {
            let neighbors = profile.neighbors;
            profile = Profile::gaussian(Guarantee::from(UpperBound::from(mu)), &against);
            profile.neighbors = neighbors;
        }
        profile.against = against.into();
        Ok(profile)
    }

    fn terms(&self) -> Terms {
        self.accounts[0].terms()
    }

    fn theorems(&self) -> Vec<By> {
        self.accounts.iter().flat_map(|account| account.theorems()).collect()
    }

    fn failure(&self) -> f64 {
        any_of(self.accounts.iter().map(|account| account.failure()))
    }

    fn rests_on(&self) -> Vec<RestsOn> {
        RestsOn::together(self.accounts.iter().flat_map(|account| account.rests_on())).into_iter().collect()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let all: BTreeSet<_> = self.accounts.iter().flat_map(|account| account.assumptions()).collect();
        all.into_iter().collect()
    }

    fn is_by_bound(&self) -> bool {
        self.accounts.iter().any(|account| account.is_by_bound())
    }

    /// If both nodes have accounts of one class, the outsider's bound is the same for every exposed node.
    fn class(&self) -> Option<(usize, usize)> {
        let [a, b] = &self.accounts;
        (a.class().is_some() && a.class() == b.class()).then(|| (std::ptr::from_ref(self).addr(), 0))
    }
}
