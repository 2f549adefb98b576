use super::*;
use crate::chebyshev::Chebyshev;
use crate::closed_form::Family;
use crate::edge_list::{EdgeListOptions, Separator};
use crate::generators::{
    complete_graph, cycle_graph, davis_southern_women_graph, directed_cycle, grid_2d_graph, path_graph,
    star_graph,
};
use crate::hitting::Start;
use crate::random::erdos_renyi_graph;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

fn through<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    assert_eq!(back, *value, "{text}");
    text
}

fn refused<T: DeserializeOwned + Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn graphs_come_back_with_labels_and_positions() -> Result<(), Error> {
    for graph in [path_graph(1)?, complete_graph(5)?, davis_southern_women_graph()?, grid_2d_graph(3, 4)?] {
        through(&graph);
    }
    assert_eq!(through(&path_graph(3)?), r#"{"nodes":3,"edges":[[0,1],[1,2]]}"#);
    let named = path_graph(2)?.with_labels(vec!["a".into(), "b \"c\"".into()])?;
    let placed = named.with_positions(vec![[0.1 + 0.2, -1e-300], [0.0, 1.0 / 3.0]])?;
    through(&placed);
    Ok(())
}

/// A few bytes must not take gigabytes.
#[test]
fn files_that_name_far_more_nodes_than_they_list_are_refused() {
    let too_many = "the number of nodes of a file must be at most 10^6";
    for nodes in [2_000_000u64, 333_333_333, 1_000_000_000] {
        let graph = format!(r#"{{"nodes":{nodes},"edges":[[0,1],[1,2]]}}"#);
        assert!(refused::<Graph>(&graph).starts_with(too_many));
        let matrix = format!(r#"{{"graph":{graph},"weights":"metropolis","laziness":0.0}}"#);
        assert!(refused::<GossipMatrix>(&matrix).starts_with(too_many));
        let entries = format!(r#"{{"nodes":{nodes},"entries":[[0,0,1.0]]}}"#);
        assert!(refused::<Csr>(&entries).starts_with(too_many));
        assert!(refused::<TransitionMatrix>(&entries).starts_with(too_many));
        let law = format!(r#"{{"nodes":{nodes},"edges":[[0,1,0.5]]}}"#);
        assert!(refused::<EdgeActivations>(&law).starts_with(too_many));
    }
    let read = |nodes: u64| serde_json::from_str::<Graph>(&format!(r#"{{"nodes":{nodes},"edges":[[0,1]]}}"#));
    assert!(read(1_000_010).is_ok_and(|graph| graph.node_count() == 1_000_010));
    assert!(read(1_000_011).is_err());
}

#[test]
fn graphs_are_checked_when_read() {
    for (text, problem) in [
        (r#"{"nodes":2,"edges":[[0,2]]}"#, "out of range"),
        (r#"{"nodes":2,"edges":[[1,1]]}"#, "self-loop"),
        (r#"{"nodes":2,"edges":[[0,1],[1,0]]}"#, "twice"),
        (r#"{"nodes":0,"edges":[]}"#, "at least one node"),
        (r#"{"nodes":4294967294,"edges":[]}"#, "more than the limit"),
        (r#"{"nodes":2,"edges":[],"labels":["a"]}"#, "expected 2, got 1"),
        (r#"{"nodes":1,"edges":[],"positions":[[0.0,null]]}"#, "null"),
        (r#"{"nodes":1,"edges":[],"weights":[]}"#, "unknown field"),
    ] {
        let error = refused::<Graph>(text);
        assert!(error.contains(problem), "{text}: {error}");
    }
}

#[test]
fn matrices_come_back_entry_by_entry() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for graph in [star_graph(6)?, cycle_graph(5)?, erdos_renyi_graph(20, 0.3, &mut rng)?] {
        let gossip = [
            GossipMatrix::metropolis(&graph),
            GossipMatrix::new(&graph, Weights::MaxDegree)?,
            GossipMatrix::new(&graph, Weights::SumDegree)?,
            GossipMatrix::from_edge_weights(&graph, |u, v| 0.01 / (u + v) as f64)?,
            GossipMatrix::metropolis(&graph).lazy(0.3)?,
            GossipMatrix::new(&graph, Weights::SumDegree)?.lazy(0.1)?.lazy(0.7)?,
        ];
        for matrix in &gossip {
            through(matrix);
            through(matrix.csr());
            through(&TransitionMatrix::from(matrix));
            through(&GossipMatrix::from_dense(&graph, matrix.to_dense()?.view())?);
        }
    }
    assert!(!through(&GossipMatrix::metropolis(&path_graph(3)?)).contains("entries"));
    let twice = GossipMatrix::metropolis(&path_graph(3)?).lazy(1.0 - 1e-10)?.lazy(1.0 - 1e-10)?;
    assert!(through(&twice).contains(r#""laziness":[0.9999999999,0.9999999999]"#));
    assert_eq!(through(&directed_cycle(2)?), r#"{"nodes":2,"entries":[[0,1,1.0],[1,0,1.0]]}"#);
    Ok(())
}

#[test]
fn matrices_are_checked_when_read() {
    for (text, problem) in [
        (r#"{"nodes":2,"entries":[[0,1,0.5],[1,0,1.0]]}"#, "row 0 of the matrix sums to 0.5"),
        (r#"{"nodes":2,"entries":[[0,0,-1.0],[0,1,2.0],[1,0,1.0]]}"#, "nonnegative"),
        (r#"{"nodes":2,"entries":[[0,2,1.0],[1,0,1.0]]}"#, "out of range"),
        (r#"{"nodes":2,"entries":[[1,0,1.0],[0,1,1.0]]}"#, "out of order"),
        (r#"{"nodes":2,"entries":[[0,1,0.5],[0,1,0.5],[1,0,1.0]]}"#, "out of order"),
        (r#"{"nodes":0,"entries":[]}"#, "at least one node"),
    ] {
        let error = refused::<TransitionMatrix>(text);
        assert!(error.contains(problem), "{text}: {error}");
    }
    let gossip = |weights: &str, laziness: &str, entries: &str| {
        let graph = r#"{"nodes":3,"edges":[[0,1],[1,2]]}"#;
        let text = format!(r#"{{"graph":{graph},"weights":"{weights}","laziness":{laziness}{entries}}}"#);
        refused::<GossipMatrix>(&text)
    };
    for (weights, laziness, entries, problem) in [
        // Entries of named weights must be those that the name gives.
        (
            "metropolis",
            "0.0",
            r#","entries":[[0,0,0.5],[0,1,0.5],[1,0,0.5],[1,1,0.0],[1,2,0.5],[2,1,0.5],[2,2,0.5]]"#,
            "that its weights give it",
        ),
        (
            "given",
            "0.0",
            r#","entries":[[0,0,0.5],[0,1,0.5],[1,0,0.4],[1,1,0.1],[1,2,0.5],[2,1,0.5],[2,2,0.5]]"#,
            "not symmetric",
        ),
        (
            "given",
            "0.0",
            r#","entries":[[0,0,0.5],[0,2,0.5],[1,1,1.0],[2,0,0.5],[2,2,0.5]]"#,
            "which is no edge",
        ),
        ("given", "0.0", r#","entries":[[0,0,1.0],[1,1,1.0],[2,2,1.0]]"#, "expected 2, got 1"),
        ("given", "0.0", "", "entries"),
        ("given", "0.5", "", "entries"),
        ("metropolis", "0.5", "", "entries"),
        ("metropolis", "1.0", "", "laziness"),
        ("regular", "0.0", "", "regular weights"),
        ("uniform", "0.0", "", "unknown variant"),
    ] {
        let error = gossip(weights, laziness, entries);
        assert!(error.contains(problem), "{weights} {laziness} {entries}: {error}");
    }
}

/// Named weights are computed from the name. If the file also gives entries, and these differ by the rounding
/// errors of a lazy matrix, the file's entries are not used: the account is computed from the name, so other
/// entries would belong to another protocol.
#[test]
fn named_weights_are_made_from_the_name() -> Result<(), Error> {
    let text = |diagonal: f64| {
        format!(
            r#"{{"graph":{{"nodes":2,"edges":[[0,1]]}},"weights":"regular","laziness":0.0,
                "entries":[[0,0,{diagonal}],[0,1,1.0],[1,0,1.0],[1,1,{diagonal}]]}}"#
        )
    };
    let read: GossipMatrix = serde_json::from_str(&text(1e-15)).unwrap();
    assert_eq!(read, GossipMatrix::new(&path_graph(2)?, Weights::Regular)?);
    assert!(refused::<GossipMatrix>(&text(1e-14)).contains("that its weights give it"));
    // A list of one share, an empty list and a single number are read as before.
    for (laziness, shares) in [("0.25", &[0.25][..]), ("[0.25]", &[0.25]), ("[0.25,0,0.5]", &[0.25, 0.5])] {
        let lazy = shares.iter().try_fold(read.clone(), |matrix, &share| matrix.lazy(share))?;
        let entries: Vec<(usize, usize, f64)> =
            (0..4).map(|k| (k / 2, k % 2, lazy.get(k / 2, k % 2))).collect();
        let entries = serde_json::to_string(&entries).unwrap();
        let text = format!(
            r#"{{"graph":{{"nodes":2,"edges":[[0,1]]}},"weights":"regular","laziness":{laziness},"entries":{entries}}}"#
        );
        assert_eq!(serde_json::from_str::<GossipMatrix>(&text).unwrap(), lazy);
    }
    Ok(())
}

#[test]
fn sequences_come_back_each_matrix_once() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let metropolis = GossipMatrix::metropolis(&cycle_graph(6)?);
    let constant = GossipSequence::constant(&metropolis, 50);
    assert!(through(&constant).len() < 1000);
    through(&GossipSequence::erdos_renyi(6, 0.5, 5, &mut rng)?);
    let law = EdgeActivations::try_from(&metropolis)?;
    through(&law);
    through(&GossipSequence::activations(&law, 20, &mut rng));
    let other = GossipMatrix::metropolis(&complete_graph(6)?);
    let mixed =
        [Step::Matrix(metropolis.clone()), Step::Pair(0, 5), Step::Matrix(other), Step::Matrix(metropolis)];
    let text = through(&GossipSequence::new(6, [mixed.to_vec(), vec![Step::Idle]].concat())?);
    assert!(
        text.ends_with(r#""steps":[{"matrix":0},{"pair":[0,5]},{"matrix":1},{"matrix":0},"idle"]}"#),
        "{text}"
    );
    for (text, problem) in [
        (r#"{"nodes":2,"matrices":[],"steps":[{"matrix":0}]}"#, "not there"),
        (r#"{"nodes":2,"matrices":[],"steps":[{"pair":[0,2]}]}"#, "out of range"),
        (r#"{"nodes":0,"matrices":[],"steps":[]}"#, "at least one node"),
    ] {
        let error = refused::<GossipSequence>(text);
        assert!(error.contains(problem), "{text}: {error}");
    }
    assert!(refused::<EdgeActivations>(r#"{"nodes":2,"edges":[[0,1,1.5]]}"#).contains("at most 1"));
    Ok(())
}

#[test]
fn choices_come_back() -> Result<(), Error> {
    through(&Family::Torus(vec![3, 4]));
    through(&Start::Law(vec![0.25, 0.75]));
    through(&EdgeListOptions { separator: Separator::Tab, ..EdgeListOptions::default() });
    for weights in
        [Weights::Metropolis, Weights::MaxDegree, Weights::SumDegree, Weights::Regular, Weights::Given]
    {
        through(&weights);
        assert_eq!(through(&weights), format!("\"{weights}\""));
        assert_eq!(weights.to_string().parse::<Weights>(), Ok(weights));
    }
    through(&Chebyshev::optimal(0.3)?);
    assert!(matches!("uniform".parse::<Weights>(), Err(Error::UnknownName { .. })));
    assert_eq!(path_graph(3)?.to_string(), "graph of 3 nodes and 2 edges");
    Ok(())
}
