//! Tests of two logs together.

use super::*;
use crate::meter::{Feed, Merged, Runs};
use ndp_account::NodeNames;

/// A log of a ring of four, nodes in the given order of names, each round by its graph among them.
fn feed(order: [usize; 4], set: &SensitivitySet, rounds: i64, limit: f64) -> Result<Feed, Error> {
    let all = ["ann", "bob", "cem", "dil"];
    let place = |u: usize| order.iter().position(|&v| v == u).expect("a node");
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(u, v)| (place(u), place(v)));
    let graph = Graph::from_edges(4, edges)?;
    let mixing = max_degree_plus_one(&graph);
    let meter = Meter::every_node(4, set.clone())?.with_limits(Limits::worst(limit)?)?;
    let names = NodeNames::new(order.map(|u| all[u]))?;
    let mut log = MeterLog::begin(meter, names, Vec::new())?;
    for k in 0..rounds {
        log.round(&mixing, 2 + k, ModelReads::Nothing)?;
    }
    let mut feed = Feed::default();
    feed.lines(&log.into_inner())?;
    Ok(feed)
}

const SETS: [SensitivitySet; 3] =
    [SensitivitySet::SameDirection, SensitivitySet::UseLevel, SensitivitySet::Signs];

/// Separate runs are one program with the steps of both, nodes by their names.
#[test]
fn separate_runs_have_the_account_of_both() -> Result<(), Error> {
    for set in SETS {
        let order = [2, 0, 3, 1];
        let (a, b) = (feed([0, 1, 2, 3], &set, 2, 99.0)?, feed(order, &set, 3, 99.0)?);
        let merged = Merged::new(&a, &b, Runs::Separate)?;
        // The joint program, in the order of the first log.
        let mixing = max_degree_plus_one(&cycle_graph(4)?);
        let mut joint = Meter::every_node(4, set.clone())?;
        for rounds in [2, 3] {
            for k in 0..rounds {
                joint.round(&mixing, 2 + k, ModelReads::Nothing)?;
            }
            joint.model = None;
        }
        for v in 0..4 {
            let account = joint.program().account(&Observer::node(v))?;
            for u in (0..4).filter(|&u| u != v) {
                let (truth, found) = (account.loss(u, &set)?, merged.readings()[v].loss(u)?);
                assert!(found.value() >= truth.lower && found.lower <= truth.value(), "{found:?} {truth:?}");
                let tight = set == SensitivitySet::Signs || found.value() < truth.value() + 1e-9;
                assert!(tight, "{set:?}: {found:?} {truth:?}");
            }
        }
        assert!(merged.rests_on().contains(&ndp_account::RestsOn::SeparateRuns));
    }
    Ok(())
}

/// Of one run told twice the longer log counts; what is told in two ways is refused by name.
#[test]
fn one_run_told_twice_counts_once() -> Result<(), Error> {
    let set = SensitivitySet::SameDirection;
    let (short, long) = (feed([0, 1, 2, 3], &set, 2, 99.0)?, feed([0, 1, 2, 3], &set, 3, 99.0)?);
    for (a, b) in [(&short, &long), (&long, &short)] {
        let merged = Merged::new(a, b, Runs::Same)?;
        let expected = long.meter().expect("a meter").reading(1)?.upper(0);
        assert_eq!(merged.readings()[1].upper(0), expected);
        assert_eq!(merged.limits().of(0, 1), Some(99.0));
        assert_eq!(merged.set(), &set);
        assert_eq!(merged.names().count(), 4);
    }
    let said = |a: &Feed, b: &Feed, runs: Runs| {
        Merged::new(a, b, runs).map(|_| ()).map_err(|error| error.to_string()).expect_err("a contradiction")
    };
    // Other names: node 0 of one is node 2 of the other.
    let turned = feed([2, 0, 3, 1], &set, 3, 99.0)?;
    assert!(said(&short, &turned, Runs::Same).contains("is told in two ways"));
    let louder = {
        let mut feed = Feed::default();
        let head = "{\"ndp-meter\":1,\"nodes\":[\"ann\",\"bob\",\"cem\",\"dil\"],\"set\":\"same-direction\",\"limit\":99}";
        feed.line(head)?;
        feed.line("{\"contribute\":\"x\",\"node\":0,\"reads\":\"nothing\"}")?;
        feed.line("{\"noise\":\"z\",\"shared\":[0],\"variance\":7}")?;
        feed
    };
    assert!(said(&louder, &long, Runs::Same).contains("noise 0 is told in two ways"));
    for runs in [Runs::Same, Runs::Separate] {
        let other = feed([0, 1, 2, 3], &SensitivitySet::UseLevel, 2, 99.0)?;
        assert!(said(&short, &other, runs).contains("different changes"));
        assert!(said(&short, &feed([0, 1, 2, 3], &set, 2, 98.0)?, runs).contains("different budgets"));
        let mut numbered = Feed::default();
        numbered.line("{\"ndp-meter\":1,\"nodes\":4,\"set\":\"same-direction\",\"limit\":99}")?;
        assert!(said(&numbered, &short, runs).contains("is a node of one log alone"));
        let mut scaled = Feed::default();
        scaled.line(
            "{\"ndp-meter\":1,\"nodes\":4,\"set\":\"same-direction\",\"scale\":{\"clip\":2,\"neighbors\":\"zero\"}}",
        )?;
        assert!(said(&numbered, &scaled, runs).contains("different units"));
        assert!(said(&numbered, &Feed::default(), runs).contains("no first line"));
    }
    Ok(())
}
