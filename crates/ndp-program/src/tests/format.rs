//! Programs as text.

use super::*;
use crate::constructors::*;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[track_caller]
fn assert_same_after_writing(program: &Program) {
    let mut text = Vec::new();
    program.write(&mut text).expect("a vector takes everything");
    let read = Program::read(text.as_slice()).expect("what was written is read");
    assert_eq!(&read, program);
}

#[test]
fn every_constructor_can_be_written_and_read() -> Outcome {
    let matrix = GossipMatrix::metropolis(&path_graph(4)?).lazy(0.3)?;
    assert_same_after_writing(&muffliato(&matrix, 3)?);
    assert_same_after_writing(&randomized_gossip(4, &[(0, 1), (2, 3), (1, 2)])?);
    assert_same_after_writing(&fresh_noise(&matrix, &[Weight::from(1), Weight::from(0.1)])?);
    assert_same_after_writing(&decor(&cycle_graph(5)?, (1, 3), 2, 2)?);
    assert_same_after_writing(&gopa(&path_graph(4)?, 1, 1, &[1])?);
    assert_same_after_writing(&zip_dl(&star_graph(4)?, 0, 1)?);
    let covariance = vec![vec![Weight::from(2), Weight::from(-1)], vec![Weight::from(-1), Weight::from(2)]];
    let pair = GossipMatrix::metropolis(&path_graph(2)?);
    assert_same_after_writing(&corn_dsgd(&pair, &covariance, 1)?);
    assert_same_after_writing(&secure_neighbor_sums(&GossipMatrix::metropolis(&complete_graph(4)?), 2)?);
    assert_same_after_writing(&hierarchical(5, &[vec![1, 2], vec![3, 4]], 1, 1)?);
    let mut program = dsgd(&pair, Dsgd { reads: ModelReads::Seen, ..Dsgd::from(2) })?;
    program.leave(1)?;
    assert_same_after_writing(&program);
    Ok(())
}

/// All nodes mix the same value, which is then named once for each of them.
#[test]
fn values_that_are_mixed_several_times_are_written_and_read() -> Outcome {
    let text = r#"
        {"ndp-program": 1, "nodes": 3, "holdings": "assumed"}
        {"graph": "g", "family": "path"}
        {"matrix": "W", "of": "g", "weights": "metropolis"}
        {"let": "y", "sum": {}}
        {"contribute": "x", "node": 1, "reads": "nothing"}
        {"set": "y", "gossip": "W", "of": "y"}
        {"let": ["a", "b", "c"], "gossip": "W", "of": ["x", "x", "x"]}
        {"publish": "a"}
    "#;
    let program = Program::read(text.as_bytes())?;
    assert_same_after_writing(&program);
    let names = text.replace(r#"["a", "b", "c"]"#, r#"["a", "a", "c"]"#);
    let refused = Program::read(names.as_bytes()).unwrap_err().to_string();
    assert!(refused.ends_with(r#""a" is given twice in "let""#), "{refused}");
    Ok(())
}

/// The same protocols, from a few lines of text.
#[test]
fn short_texts_say_the_same_as_constructors() -> Outcome {
    let gossip = r#"
        {"ndp-program": 1, "nodes": 4}
        {"graph": "g", "family": "path"}
        {"matrix": "W", "of": "g", "weights": "metropolis"}
        {"contribute": "x", "reads": "nothing"}
        {"noise": "z", "variance": 1}
        {"let": "y", "sum": {"x": 1, "z": 1}}
        {"repeat": 3}
        {"send": "y", "along": "g"}
        {"set": "y", "gossip": "W", "of": "y"}
        {"end": "repeat"}
        {"result": "y"}
    "#;
    assert_eq!(Program::read(gossip.as_bytes())?, muffliato(&GossipMatrix::metropolis(&path_graph(4)?), 3)?);
    let decor = r#"
        {"ndp-program": 1, "nodes": 5}
        {"graph": "g", "family": "cycle"}
        {"contribute": "x", "reads": "nothing"}
        {"noise": "z", "variance": 1}
        {"noise": "p", "pairwise": "g", "variance": 1}
        {"let": "y", "sum": {"x": 1, "z": 1, "p": 1}}
        {"broadcast": "y"}
    "#;
    let program = Program::read(decor.as_bytes())?;
    assert_loss(&program.account(&Observer::node(0))?, 3, &SensitivitySet::UseLevel, 10.0 / 21.0);
    let dsgd = r#"
        {"ndp-program": 1, "nodes": 3}
        {"graph": "g", "edges": [[0, 1], [1, 2]]}
        {"matrix": "W", "of": "g", "weights": "metropolis"}
        {"noise": "n", "inverse-of-band": [1, "1/2"], "steps": 4, "variance": 1}
        {"contribute": "x", "reads": "nothing"}
        {"let": "y", "sum": {"x": 1, "n[0]": 1}}
        {"send": "y", "along": "g"}
        {"set": "y", "gossip": "W", "of": "y"}
        {"repeat": 3}
        {"contribute": "g", "reads": "nothing"}
        {"set": "y", "sum": {"y": 1, "g": 1, "n[t+1]": 1}}
        {"send": "y", "along": "g"}
        {"set": "y", "gossip": "W", "of": "y"}
        {"end": "repeat"}
    "#;
    let program = Program::read(dsgd.as_bytes())?;
    assert_loss(&program.account(&Observer::node(2))?, 0, &SensitivitySet::SameDirection, 1339.0 / 1096.0);
    let sums = r#"
        {"ndp-program": 1, "nodes": 5}
        {"contribute": "x", "nodes": [1, 2, 3, 4], "reads": "nothing"}
        {"noise": "z", "nodes": [1, 2, 3, 4], "variance": "1/4"}
        {"let": "y", "nodes": [1, 2, 3, 4], "sum": {"x": 1, "z": 1}}
        {"secure-sum": "s", "of": "y", "nodes": [1, 2, 3, 4], "to": 0}
    "#;
    let program = Program::read(sums.as_bytes())?;
    assert_loss(&program.account(&Observer::coalition(&[0, 4]))?, 1, &SensitivitySet::UseLevel, 4.0 / 3.0);
    Ok(())
}

/// Names in a block end with an iteration. A family without a value at some node is reported.
#[test]
fn names_have_scopes() {
    let twice = r#"
        {"ndp-program": 1, "nodes": 2}
        {"repeat": 2}
        {"noise": "z", "variance": 1}
        {"end": "repeat"}
        {"publish": "z@0"}
    "#;
    let Err(error) = Program::read(twice.as_bytes()) else { panic!("z is unknown outside") };
    assert_eq!(error.to_string(), "line 6: the name z@0 is not known");
    let partial = r#"
        {"ndp-program": 1, "nodes": 2}
        {"noise": "z", "nodes": [0], "variance": 1}
        {"broadcast": "z"}
    "#;
    let Err(error) = Program::read(partial.as_bytes()) else { panic!("node 1 has no z") };
    assert_eq!(error.to_string(), "line 4: z has no value at node 1: name the nodes meant");
}
