//! What is kept beside numbers: failure probabilities, theorems, assumptions, names.

use super::super::{
    Among, Audience, Coverage, Covered, NodeNames, Observer, PairLedgers, Protocol, Rest, Target, accounts,
    named,
};
use super::{Saying, exactly, one, told};
use crate::example::Gossip;
use crate::{Assumption, Error, RestsOn};
use ndp_dp::{Adaptivity, Measure, Neighbors, Verdict};
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};
use ndp_graph::{GossipMatrix, Graph, progress::Silent};

/// Failure probabilities of accounts and runs add up. A filter for a limit on the mean checks the mean with
/// the new run.
#[test]
fn ledgers_add_up_failures_and_means() -> Result<(), Error> {
    let run = [told(0, 3, |u, _| exactly([0.0, 0.3, 0.6][u]))];
    let names = NodeNames::numbered(3);
    // After k runs: (.3 + .6) sqrt(k) / 3.
    let target = Target::mean(Measure::Gaussian, 0.5);
    let mut ledgers = PairLedgers::with_limits(names.clone(), target)?;
    for (k, fits) in [(1, true), (2, true), (3, false)] {
        assert_eq!(ledgers.fits(&run, one()?, Adaptivity::Fixed)?, fits, "run {k}");
        ledgers.record(&format!("run {k}"), &run, one()?, Adaptivity::Fixed)?;
        let failure = 0.25 * f64::from(k);
        assert!((failure..failure + 1e-12).contains(&ledgers.failure()), "{}", ledgers.failure());
        assert_eq!(ledgers.verdict()?, if fits { Verdict::Met } else { Verdict::NotShown });
    }
    assert_eq!(ledgers.rests_on().collect::<Vec<_>>(), [&RestsOn::ToldOfAll]);
    Ok(())
}

/// Naming the nodes changes no numbers.
#[test]
fn named_accounts_say_what_they_said() -> Result<(), Error> {
    let protocol = Saying { nodes: 3, bounded: false, accounts: |v| told(v, 3, |_, _| exactly(0.5)) };
    let names = NodeNames::new(["a", "b", "c"])?;
    let account = named(protocol.account(&Observer::node(0))?, names.clone())?;
    assert_eq!((account.failure(), account.names()), (0.25, names));
    assert_eq!(account.assumptions(), [Assumption::Fixed]);
    assert_eq!(account.rests_on(), [RestsOn::ToldOfAll]);
    Ok(())
}

/// In a statement of two runs failure probabilities add up. Runs with different neighboring relations have no
/// common statement.
#[test]
fn statements_of_two_runs_add_failures() -> Result<(), Error> {
    let protocol = Saying { nodes: 3, bounded: false, accounts: |v| told(v, 3, |_, _| exactly(0.5)) };
    let audience = Audience::named(vec![Observer::node(0)]);
    let statement =
        Covered::new(&protocol, &audience, vec![protocol.account(&Observer::node(0))?]).statement()?;
    let mut other = statement.clone();
    other.failure = 0.125;
    for both in [statement.and(&other)?, other.and(&statement)?] {
        assert!((0.375..0.375 + 1e-12).contains(&both.failure));
    }
    other.neighbors = Neighbors::AddOrRemove;
    assert_eq!(statement.and(&other), Err(ndp_dp::Error::MixedNeighbors.into()));
    Ok(())
}

/// Only mirrored accounts rest on the theorem about symmetries; the first node's account is its own.
#[test]
fn mirrors_name_their_theorem() -> Result<(), Error> {
    let ring = Gossip::new(GossipMatrix::metropolis(&cycle_graph(9)?), 2);
    let audience = Audience::chosen(9, &[0])?;
    let covered = Covered::of(&ring, &audience, |observers| accounts(&ring, observers, &Silent))?;
    assert_eq!(covered.accounts.len(), 9);
    for account in &covered.accounts {
        let mirrored = account.theorems().iter().any(|by| by.function.ends_with("symmetries"));
        assert_eq!(mirrored, *account.observer() != Observer::node(0), "{}", account.observer());
        assert_eq!(account.unit_losses().is_some(), !mirrored);
    }
    Ok(())
}

/// Tapped edges are compared as a set, in any order.
#[test]
fn observers_are_moved_in_order() {
    let outsider = Observer::outsider().tapping(&[(2, 1), (0, 1), (2, 1)]);
    assert_eq!(outsider.moved(|v| v).tapped, [(0, 1), (2, 1)]);
    assert_eq!(outsider.moved(|v| 2 - v).tapped, [(0, 1), (2, 1)]);
    assert_eq!(Observer::coalition(&[0, 1]).moved(|v| 2 - v).members(), [1, 2]);
}

/// Checked for all sets of nodes: every coalition of at most `size` neighbors of one node is part of a
/// coalition that is looked at and does not contain the exposed node, and only such coalitions are looked at.
#[test]
fn neighbors_together_are_covered_whomever_they_look_at() -> Result<(), Error> {
    let graphs = [
        path_graph(5)?,
        cycle_graph(6)?,
        star_graph(6)?,
        complete_graph(5)?,
        Graph::from_edges(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 3), (0, 3), (3, 6)])?,
    ];
    for graph in graphs {
        let n = graph.node_count();
        let of = |u: usize| graph.neighbors(u).iter().fold(0_u32, |set, &v| set | 1 << v);
        for size in 1..n {
            let audience = Audience::neighbors(&graph, size)?;
            let coverage = audience.coverage_of_looked_at();
            assert!(matches!(
                coverage,
                Coverage::Coalitions { among: Among::Neighbors, rest: Rest::None, .. }
            ));
            let mask = |observer: &Observer| observer.members().iter().fold(0_u32, |set, &v| set | 1 << v);
            let looked_at: Vec<u32> = audience.looked_at().iter().map(mask).collect();
            let is_asked = |set: u32| set.count_ones() as usize <= size && (0..n).any(|u| set & !of(u) == 0);
            assert!(looked_at.iter().all(|&set| set != 0 && is_asked(set)));
            for set in (1..1_u32 << n).filter(|&set| is_asked(set)) {
                for w in (0..n).filter(|w| set >> w & 1 == 0) {
                    let covers = |other: &u32| set & !other == 0 && other >> w & 1 == 0;
                    assert!(looked_at.iter().any(covers), "{graph:?} {size}: {set:b} about {w}");
                }
            }
        }
    }
    for size in [0, 3] {
        let refused = Audience::neighbors(&path_graph(3)?, size);
        assert!(matches!(refused, Err(Error::InvalidParameter { value, .. }) if value == size as f64));
    }
    Ok(())
}

/// If there are too many coalitions of neighbors, one is looked at and the bound covers the others. This
/// coverage differs from that of coalitions of any nodes, and symmetries of those are not used.
#[test]
fn many_coalitions_of_neighbors_are_covered_by_the_bound() -> Result<(), Error> {
    let graph = complete_graph(60)?;
    let gossip = Gossip::new(GossipMatrix::metropolis(&graph), 1);
    let audience = Audience::neighbors(&graph, 3)?;
    assert_eq!((audience.looked_at().len(), audience.looked_at()[0].members().len()), (1, 3));
    let covered = Covered::of(&gossip, &audience, |observers| accounts(&gossip, observers, &Silent))?;
    let (size, among, nodes, looked_at, rest) = (3, Among::Neighbors, 60, 1, Rest::Bounded);
    assert_eq!(covered.coverage, Coverage::Coalitions { size, among, nodes, looked_at, rest });
    let everybody = Coverage::Coalitions { size, among: Among::Everybody, nodes, looked_at, rest };
    assert!(matches!(covered.coverage.weaker(&everybody), Err(Error::NoGuarantee(_))));
    assert!(covered.coverage.weaker(&covered.coverage).is_ok());
    Ok(())
}
