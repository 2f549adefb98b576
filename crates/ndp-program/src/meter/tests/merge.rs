//! Tests of two combined logs.

use super::*;
use crate::meter::{Feed, Merged, Runs};
use ndp_account::NodeNames;

/// The log of a ring of four nodes, whose names are in the given order; each round uses its graph.
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

/// Separate runs are one program with the steps of both, with nodes identified by their names.
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
        for (v, reading) in merged.readings().iter().enumerate() {
            let h = |feed: &Feed, v: usize| match feed.meter()?.reading(v).ok()?.source {
                Source::Running { h } => Some(h),
                Source::Batch => None,
            };
            // Node v of the first log, by its index in the order of the second one.
            let place = order.iter().position(|&u| u == v).expect("a node");
            let h = h(&a, v).zip(h(&b, place)).map(|(x, y)| x.max(y));
            assert_eq!(reading.source, Source::Running { h: h.expect("both ran along") });
        }
    }
    Ok(())
}

/// If one log needs an account of its steps, so do both together; either check may fail.
#[test]
fn checks_of_separate_runs_fail_together() -> Result<(), Error> {
    // Two rows that differ by less than rounding can resolve.
    let doubtful = |more: &[&str]| -> Result<Feed, Error> {
        let mut feed = Feed::default();
        let lines = [
            r#"{"ndp-meter": 1, "nodes": ["ann", "bob"], "set": "use-level"}"#,
            r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#,
            r#"{"noise": "z", "shared": [0], "variance": 1}"#,
            r#"{"let": "y", "sum": {"x": 1, "z": 1}}"#,
            r#"{"let": "third", "sum": {"x": "1/3", "z": "1/3"}}"#,
            r#"{"send": "y", "from": 0, "to": 1}"#,
        ];
        for line in lines.iter().chain(more) {
            feed.line(line)?;
        }
        Ok(feed)
    };
    let send = r#"{"send": "third", "from": 0, "to": 1}"#;
    let (plain, doubt) = (doubtful(&[])?, doubtful(&[send])?);
    let failure = |feed: &Feed| Ok::<_, Error>(feed.meter().expect("a meter").reading(1)?.failure);
    assert_eq!((failure(&plain)?, failure(&doubt)? > 0.0), (0.0, true));
    for (first, second, times) in [(&plain, &doubt, 1.0), (&doubt, &plain, 1.0), (&doubt, &doubt, 2.0)] {
        let merged = Merged::new(first, second, Runs::Separate)?;
        let reading = &merged.readings()[1];
        assert_eq!(reading.source, Source::Batch);
        let expected = times * failure(&doubt)?;
        assert!(reading.failure >= expected && reading.failure < expected * (1.0 + 1e-9), "{reading:?}");
    }
    Ok(())
}

/// The same values and messages, except that one value was computed later.
#[test]
fn the_moment_of_a_value_is_part_of_a_run() -> Result<(), Error> {
    let told = |order: [usize; 2]| -> Result<Feed, Error> {
        let mut feed = Feed::default();
        feed.line(r#"{"ndp-meter": 1, "nodes": ["ann", "bob"], "set": "use-level"}"#)?;
        feed.line(r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#)?;
        feed.line(r#"{"noise": "z", "shared": [0], "variance": 4}"#)?;
        feed.line(r#"{"let": "y", "sum": {"x": 1, "z": 1}}"#)?;
        let lines = [r#"{"send": "y", "from": 0, "to": 1}"#, r#"{"let": "w", "sum": {"x": 1, "z": 2}}"#];
        order.iter().try_for_each(|&k| feed.line(lines[k]).map(|_| ()))?;
        Ok(feed)
    };
    let (early, late) = (told([0, 1])?, told([1, 0])?);
    assert!(Merged::new(&early, &early, Runs::Same).is_ok());
    let refused = Merged::new(&early, &late, Runs::Same).map(|_| ());
    let words = ProgramError::Merge("value 3 is told in two ways".to_owned());
    assert_eq!(refused, Err(words.into()));
    Ok(())
}

/// If one run is told twice, the longer log counts; a difference between the two is refused and named.
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
    // Other names: node 0 of one log is node 2 of the other.
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
