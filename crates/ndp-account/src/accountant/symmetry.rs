//! Observers who learn alike, because a permutation of the nodes leaves the protocol unchanged.
//!
//! Then `π(v)` learns about `π(u)` what `v` learns about `u`. So the account of one node of each orbit
//! answers for all nodes, and one coalition of each orbit of coalitions for all coalitions of its size. The
//! proof is in `docs/theory.md`, "Accounting".

use super::{Account, NodeNames, Observer, Protocol};
use crate::forward::forward;
use crate::{Assumption, By, Error, LossReport, RestsOn, Terms};
use ndp_dp::{Measure, NoiseMultiplier, Profile};
use ndp_graph::symmetries::is_permutation;
use ndp_numeric::casts::id;
use std::sync::Arc;

/// Orbits of the nodes, each with a path from its first node to every other one.
pub(super) struct Orbits {
    /// Permutations and their inverses.
    moves: Vec<(Vec<u32>, Vec<u32>)>,
    /// The first node of each orbit, ascending.
    firsts: Vec<usize>,
    /// For every node that is not the first of its orbit: the previous node on its path, and the permutation
    /// that leads on from there.
    came: Vec<Option<(u32, u32)>>,
}

impl Orbits {
    /// The orbits of a protocol; `None` if no two nodes are known to be alike.
    pub(super) fn of(protocol: &dyn Protocol) -> Option<Self> {
        let n = protocol.node_count();
        let mut moves = Vec::new();
        for permutation in protocol.symmetries().into_iter().filter(|one| is_permutation(one, n)) {
            let mut back = vec![0; n];
            permutation.iter().zip(0..).for_each(|(&to, from)| back[to as usize] = from);
            moves.push((permutation.clone(), back.clone()));
            moves.push((back, permutation));
        }
        let (mut came, mut reached, mut firsts) = (vec![None; n], vec![false; n], Vec::new());
        for first in 0..n {
            if std::mem::replace(&mut reached[first], true) {
                continue;
            }
            firsts.push(first);
            let mut front = vec![first];
            while !front.is_empty() {
                let mut next = Vec::new();
                for v in front {
                    for (at, (there, _)) in moves.iter().enumerate() {
                        let w = there[v] as usize;
                        if !std::mem::replace(&mut reached[w], true) {
                            came[w] = Some((id(v), id(at)));
                            next.push(w);
                        }
                    }
                }
                front = next;
            }
        }
        (firsts.len() < n).then_some(Self { moves, firsts, came })
    }

    /// The first node of each orbit, ascending.
    pub(super) fn firsts(&self) -> &[usize] {
        &self.firsts
    }

    /// Whether `v` is the first node of its orbit.
    pub(super) fn is_first(&self, v: usize) -> bool {
        self.came[v].is_none()
    }

    /// The first node of the orbit of `v`, and the node that the symmetry from there to `v` takes to `u`.
    fn back(&self, mut v: usize, mut u: usize) -> (usize, usize) {
        while let Some((before, at)) = self.came[v] {
            u = self.moves[at as usize].1[u] as usize;
            v = before as usize;
        }
        (v, u)
    }

    /// One coalition of each orbit of the coalitions of `size` nodes; `None` if there are more than `most`
    /// orbits.
    pub(super) fn coalitions(&self, size: usize, most: usize) -> Option<Vec<Vec<usize>>> {
        let n = self.came.len();
        let mut all: Vec<u32> = Vec::new();
        for_all_of_size(n, size, |members| all.extend(members.iter().map(|&v| id(v))));
        let all: Vec<&[u32]> = all.chunks_exact(size).collect();
        // Coalitions are sorted by their members, so binary search finds them.
        let place = |members: &[u32]| all.binary_search_by(|one| (*one).cmp(members)).ok();
        let mut first: Vec<u32> = (0..).take(all.len()).collect();
        let root = |first: &mut Vec<u32>, mut at: u32| {
            while first[at as usize] != at {
                let above = first[first[at as usize] as usize];
                first[at as usize] = above;
                at = above;
            }
            at
        };
        let mut moved = Vec::with_capacity(size);
        // An inverse joins the same orbits as its permutation.
        for (there, _) in self.moves.iter().step_by(2) {
            for (at, members) in (0..).zip(&all) {
                moved.clear();
                moved.extend(members.iter().map(|&v| there[v as usize]));
                moved.sort_unstable();
                let to = place(&moved)?;
                let (a, b) = (root(&mut first, at), root(&mut first, id(to)));
                first[a.max(b) as usize] = a.min(b);
            }
        }
        let firsts = (0..all.len()).filter(|&at| first[at] as usize == at);
        let kept: Vec<Vec<usize>> =
            firsts.take(most + 1).map(|at| all[at].iter().map(|&v| v as usize).collect()).collect();
        (kept.len() <= most).then_some(kept)
    }
}

/// Calls `each` for every coalition of `size` of `nodes` nodes, in lexicographic order.
pub(super) fn for_all_of_size(nodes: usize, size: usize, mut each: impl FnMut(&[usize])) {
    let mut members: Vec<usize> = (0..size).collect();
    each(&members);
    // Moves up the last member that can move, and puts the members after it right behind it.
    while let Some(at) = (0..size).rev().find(|&at| members[at] < nodes - size + at) {
        let first = members[at] + 1;
        members[at..].iter_mut().zip(first..).for_each(|(member, v)| *member = v);
        each(&members);
    }
}

/// Accounts of all `observers` (node `v` at index `v`), made from those of the first node of each orbit.
pub(super) fn mirrored<'a>(
    orbits: &Arc<Orbits>,
    of_firsts: Vec<Box<dyn Account + 'a>>,
    observers: &[Observer],
) -> Vec<Box<dyn Account + 'a>> {
    let of_firsts: Vec<Arc<dyn Account + 'a>> = of_firsts.into_iter().map(Arc::from).collect();
    let account = |(v, observer): (usize, &Observer)| {
        let at = orbits.firsts.partition_point(|&first| first < orbits.back(v, v).0);
        let account = Arc::clone(&of_firsts[at]);
        let orbits = Arc::clone(orbits);
        Box::new(Mirrored { account, observer: observer.clone(), node: v, orbits }) as Box<dyn Account + 'a>
    };
    observers.iter().enumerate().map(account).collect()
}

/// The account of the first node of an orbit, read as that of another node of the orbit.
struct Mirrored<'a> {
    account: Arc<dyn Account + 'a>,
    observer: Observer,
    node: usize,
    orbits: Arc<Orbits>,
}

impl Mirrored<'_> {
    /// The node about which the original account says what this one says about `u`.
    fn source(&self, u: usize) -> Result<usize, Error> {
        let u = self.observer.checked_source(u, self.account.node_count())?;
        Ok(self.orbits.back(self.node, u).1)
    }

    /// Whether this is the first node's own account.
    fn is_own(&self) -> bool {
        self.orbits.is_first(self.node)
    }
}

impl Account for Mirrored<'_> {
    forward! { self.account =>
        fn node_count(&self) -> usize;
        fn names(&self) -> NodeNames;
        fn failure(&self) -> f64;
        fn terms(&self) -> Terms;
        fn rests_on(&self) -> Vec<RestsOn>;
        fn class(&self) -> Option<(usize, usize)>;
        fn assumptions(&self) -> Vec<Assumption>;
        fn is_by_bound(&self) -> bool;
    }

    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        let mut profile = self.account.profile(self.source(u)?, noise)?;
        profile.against = self.observer.to_string().into();
        Ok(profile)
    }

    fn theorems(&self) -> Vec<By> {
        let symmetry = By { function: "ndp_account::Protocol::symmetries", theorem: "Accounting" };
        self.account.theorems().into_iter().chain((!self.is_own()).then_some(symmetry)).collect()
    }

    fn mirror_of(&self) -> Option<usize> {
        Some(Arc::as_ptr(&self.account).addr())
    }

    /// Only the first node's account has its unit losses; the others have the same numbers in another order.
    fn unit_losses(&self) -> Option<&LossReport> {
        if self.is_own() { self.account.unit_losses() } else { None }
    }

    fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error> {
        self.account.unit(self.source(u)?)
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        self.account.least_noise(self.source(u)?, measure, allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Gossip;
    use crate::{Audience, Coverage, Covered, Rest, Target, accounts};
    use ndp_dp::{Delta, Grade, Verdict};
    use ndp_graph::{
        GossipMatrix, Graph, generators,
        progress::{Silent, Stop},
    };

    fn of<'a>(protocol: &'a dyn Protocol, audience: &Audience) -> Result<Covered<'a>, Error> {
        Covered::of(protocol, audience, |observers| accounts(protocol, observers, &Silent))
    }

    fn gossip(graph: &Graph) -> Gossip {
        Gossip::new(GossipMatrix::metropolis(graph), 3)
    }

    /// For every pair and every question about all nodes, mirrored accounts say what each node's own account
    /// says.
    #[test]
    fn what_is_mirrored_is_what_each_learns() -> Result<(), Error> {
        let noise = NoiseMultiplier::new(2.0)?;
        let lollipop = Graph::from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])?;
        let graphs = [
            (generators::cycle_graph(7)?, 1),
            (generators::hypercube_graph(3)?, 1),
            (generators::torus_graph(&[3, 4])?, 1),
            (generators::complete_graph(5)?, 1),
            (generators::star_graph(6)?, 2),
            (generators::path_graph(6)?, 3),
            (lollipop, 4),
        ];
        for (graph, orbits) in graphs {
            let (n, gossip) = (graph.node_count(), gossip(&graph));
            let covered = of(&gossip, &Audience::chosen(n, &[n - 1])?.map(Observer::without_own_noise))?;
            assert_eq!(covered.coverage, Coverage::Symmetric { looked_at: orbits, nodes: n });
            assert_eq!((covered.looked_at().len(), covered.accounts.len()), (orbits, n));
            let own: Vec<_> = (0..n)
                .map(|v| gossip.account(&Observer::node(v).without_own_noise()))
                .collect::<Result<_, _>>()?;
            for account in &covered.accounts {
                let v = account.observer().members()[0];
                assert_eq!(account.observer(), own[v].observer());
                assert!(matches!(account.profile(v, noise), Err(Error::SourceIsObserver(_))));
                for u in (0..n).filter(|&u| u != v) {
                    let mu = |account: &dyn Account| account.profile(u, noise).map(|found| found.mu());
                    let (mirrored, own) = (mu(account.as_ref())?, mu(own[v].as_ref())?);
                    let (mirrored, own) = mirrored.zip(own).ok_or(Error::Cancelled)?;
                    let (mirrored, own) = (mirrored.value().mu(), own.value().mu());
                    assert!((mirrored - own).abs() < 1e-9, "{v} about {u}: {mirrored} {own}");
                }
            }
            let measure = Measure::Approx(Delta::new(1e-5)?);
            let all = Covered::new(&gossip, &Audience::every_node(n), own);
            // Limits that differ from pair to pair, and a limit on the mean.
            let limit = |u: usize, v: usize| 0.3 + 0.01 * (3 * u + v) as f64;
            for target in [
                Target::worst(measure, 0.5),
                Target::pairs(measure, limit),
                Target::mean(Measure::Renyi(ndp_dp::Order::new(2.0)?), 0.1),
            ] {
                let (one, every) = (covered.least_noise(&target)?.noise, all.least_noise(&target)?.noise);
                assert!((one.get() / every.get() - 1.0).abs() < 1e-8, "{one:?} {every:?}");
                assert_eq!(covered.check(one, &target)?.verdict, Verdict::Met);
                let less = NoiseMultiplier::new(one.get() * 0.999)?;
                let (one, every) = (covered.check(less, &target)?, all.check(less, &target)?);
                assert_eq!((one.verdict, one.exceeding), (every.verdict, every.exceeding));
            }
            let worst = covered.worst(noise, measure)?.ok_or(Error::Cancelled)?;
            assert_eq!(worst.loss.grade(), Grade::Exact);
            // Mirrored accounts fail together with their original.
            let failures = covered.looked_at().iter().map(|account| account.failure());
            assert_eq!(covered.statement()?.failure, ndp_numeric::rounding::any_of(failures));
            assert_eq!(covered.statement()?.by.len(), 2, "the symmetry is one of the theorems");
        }
        Ok(())
    }

    /// If a weight differs in its last bit, or a list is no permutation, no two nodes are alike.
    #[test]
    fn nearly_alike_is_not_alike() -> Result<(), Error> {
        let ring = generators::cycle_graph(12)?;
        let weight = |u: usize, v: usize| if u + v == 1 { 0.3_f64.next_up() } else { 0.3 };
        let other = Gossip::new(GossipMatrix::from_edge_weights(&ring, weight)?, 2);
        let covered = of(&other, &Audience::chosen(12, &[3])?)?;
        assert_eq!(covered.coverage, Coverage::Bounded { looked_at: 1, nodes: 12, seed: None });
        struct Wrong(Gossip);
        impl Protocol for Wrong {
            fn node_count(&self) -> usize {
                Protocol::node_count(&self.0)
            }

            fn account_until<'a>(
                &'a self,
                observer: &Observer,
                _: &Stop,
            ) -> Result<Box<dyn Account + 'a>, Error> {
                self.0.account(observer)
            }

            fn symmetries(&self) -> Vec<Vec<u32>> {
                vec![vec![1; 12], vec![0; 3], (1..13).collect()]
            }
        }
        let wrong = Wrong(gossip(&ring));
        assert!(Orbits::of(&wrong).is_none());
        assert_eq!(of(&wrong, &Audience::chosen(12, &[3])?)?.coverage, Coverage::All { nodes: 12 });
        // An observer that knows something else, or was drawn, does not stand for others.
        let mixed = Audience::chosen(12, &[3])?
            .map(|observer| if observer.contains(3) { observer.without_own_noise() } else { observer });
        let gossip = gossip(&ring);
        assert_eq!(of(&gossip, &mixed)?.coverage, Coverage::Bounded { looked_at: 1, nodes: 12, seed: None });
        let drawn = of(&gossip, &Audience::drawn(12, &[3], 5)?)?.coverage;
        assert_eq!(drawn, Coverage::Bounded { looked_at: 1, nodes: 12, seed: Some(5) });
        Ok(())
    }

    /// By hand: there are as many orbits as bracelets of six beads.
    #[test]
    fn coalitions_have_orbits() -> Result<(), Error> {
        let gossip = gossip(&generators::cycle_graph(6)?);
        let orbits = Orbits::of(&gossip).ok_or(Error::Cancelled)?;
        assert_eq!(orbits.coalitions(2, 9), Some(vec![vec![0, 1], vec![0, 2], vec![0, 3]]));
        assert_eq!(orbits.coalitions(3, 9), Some(vec![vec![0, 1, 2], vec![0, 1, 3], vec![0, 2, 4]]));
        assert_eq!(orbits.coalitions(3, 2), None);
        // Pairs of a cube are told apart by their distance.
        let cube = self::gossip(&generators::hypercube_graph(5)?);
        let orbits = Orbits::of(&cube).ok_or(Error::Cancelled)?;
        assert_eq!(orbits.coalitions(2, 9).map(|found| found.len()), Some(5));
        let complete = self::gossip(&generators::complete_graph(9)?);
        let orbits = Orbits::of(&complete).ok_or(Error::Cancelled)?;
        for size in 1..=4 {
            assert_eq!(orbits.coalitions(size, 9).map(|found| found.len()), Some(1));
        }
        Ok(())
    }

    /// There are too many coalitions of two to compute an account of each, but only 75 orbits. Every orbit
    /// has a coalition with node 0, so the test computes the largest loss from those.
    #[test]
    fn coalitions_of_a_ring_are_looked_at_by_orbits() -> Result<(), Error> {
        let (noise, n) = (NoiseMultiplier::new(2.0)?, 150);
        let gossip = gossip(&generators::cycle_graph(n)?);
        let audience = Audience::coalitions(n, 2, &Observer::coalition(&[0, 1]))?;
        let covered = of(&gossip, &audience)?;
        let rest = Rest::Symmetric;
        assert_eq!(
            covered.coverage,
            Coverage::Coalitions { size: 2, among: crate::Among::Everybody, nodes: n, looked_at: 75, rest }
        );
        let worst = covered.worst(noise, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
        let mut most = 0.0_f64;
        for v in 1..n {
            let account = gossip.account(&Observer::coalition(&[0, v]))?;
            for u in (1..n).filter(|&u| u != v) {
                most = most.max(account.profile(u, noise)?.loss(Measure::Gaussian)?.into_value());
            }
        }
        assert!((worst.loss.value() - most).abs() < 1e-9 && worst.loss.grade() == Grade::Exact);
        let target = Target::worst(Measure::Gaussian, most * 1.001);
        assert_eq!(covered.check(noise, &target)?.verdict, Verdict::Met);
        let of_pairs = covered.check(noise, &Target::pairs(Measure::Gaussian, |_, _| 1.0));
        assert!(matches!(of_pairs, Err(Error::NotOffered(_))));
        Ok(())
    }
}
