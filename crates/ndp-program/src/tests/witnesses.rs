//! Witnesses of views of any size: for every engine that may have made the account, an attack and a shift
//! that are checked exactly, with the loss between them.

use super::*;
use crate::constructors::*;
use ndp_dp::Grade;
use ndp_graph::generators::{cycle_graph, hypercube_graph, path_graph, star_graph};
use ndp_graph::{GossipMatrix, Graph};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Checks what the pair proves from below and above: the loss is between, and the two are as close as
/// allowed.
#[track_caller]
fn assert_enclosed(
    program: &Program,
    observer: &Observer,
    account: &ProgramAccount,
    source: usize,
    change: &[f64],
    apart: f64,
) -> (f64, f64) {
    let exact: Vec<Weight> = change.iter().map(|&x| x.into()).collect();
    let (attack, shift) = account.witnesses(source, &exact).expect("witnesses");
    let Some(low) = program.check_attack(observer, &attack).expect("an attack") else {
        panic!("noise is seen")
    };
    let high = program.check_shift(observer, &shift).expect("a shift");
    let (low, high) = (low.to_f64(), high.to_f64());
    assert!(low <= high && high - low <= apart * high, "{low} {high}");
    let loss = account.loss(source, &SensitivitySet::Along(change.to_vec())).expect("a loss");
    let room = 1.0 + 1e-15;
    assert!(low <= loss.value() * room && loss.lower <= high * room, "{low} {high} {loss:?}");
    if apart == 0.0 {
        assert!(loss.lower <= low * room && high <= loss.value() * room, "{low} {high} {loss:?}");
    }
    if !shift.terms.is_empty() {
        let mut wrong = shift;
        let by = wrong.terms[0].1.to_f64();
        wrong.terms[0].1 = Weight::from(by + 0.5 * by.abs().max(1e-9));
        assert!(program.check_shift(observer, &wrong).map_or(true, |price| price.to_f64() != high));
    }
    (low, high)
}

/// One noise for each node, and many more messages than noises: exact solutions on the independent ones.
#[test]
fn deep_gossip_has_exact_witnesses() -> Outcome {
    let path = path_graph(40)?;
    let tree = Graph::from_edges(45, (1..45).map(|u| ((u - 1) / 2, u)))?;
    let cases = [(&path, 170, 39, 0), (&path, 100, 20, 3), (&tree, 60, 1, 44)];
    for (graph, rounds, v, u) in cases {
        let program = muffliato(&GossipMatrix::metropolis(graph), rounds)?;
        let observer = Observer::node(v);
        let account = program.account(&observer)?;
        let rows = rounds * graph.neighbors(v).len();
        assert!(rows > 160 && account.rank < rows, "{rows} {}", account.rank);
        assert_enclosed(&program, &observer, &account, u, &[1.0], 0.0);
    }
    Ok(())
}

/// A hypercube of 64 nodes for 20 rounds, seen by a coalition: 240 messages, few of which are new.
#[test]
fn hypercubes_have_witnesses() -> Outcome {
    let program = muffliato(&GossipMatrix::metropolis(&hypercube_graph(6)?), 20)?;
    let observer = Observer::coalition(&[0, 63]);
    let account = program.account(&observer)?;
    for u in [1, 7, 21] {
        let (low, high) = assert_enclosed(&program, &observer, &account, u, &[1.0], 0.0);
        assert!(low > 0.0 && low == high);
    }
    Ok(())
}

/// Noise in every step: the shift is completed on a walk, and numbers stay short.
#[test]
fn noise_over_time_has_witnesses() -> Outcome {
    let graph = hypercube_graph(4)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let steps = 60;
    let band = [Weight::from(1), Weight::from((-1, 2)), Weight::from((1, 7))];
    for (noise, independent) in [(toeplitz(steps, &band), false), (Dsgd::from(steps).noise, true)] {
        let program = dsgd(&matrix, Dsgd { noise, ..Dsgd::from(steps) })?;
        for observer in [Observer::node(3), Observer::coalition(&[0, 9])] {
            let account = program.account(&observer)?;
            assert!(account.rank > 160);
            let mut change = vec![1.0; steps];
            assert_enclosed(&program, &observer, &account, 12, &change, 1e-9);
            change.iter_mut().enumerate().for_each(|(t, x)| *x = if t % 7 == 3 { -0.3 } else { 0.0 });
            assert_enclosed(&program, &observer, &account, 1, &change, 1e-9);
            let exact: Vec<Weight> = change.iter().map(|&x| x.into()).collect();
            let (_, shift) = account.witnesses(1, &exact)?;
            let longest = shift.terms.iter().map(|(_, x)| x.to_string().len()).max();
            // A noise matrix over time adds the denominators of its inverse, step by step; independent noise
            // adds none.
            assert!(longest < Some(if independent { 80 } else { 160 }), "{longest:?}");
        }
    }
    Ok(())
}

/// A tree with noise in every step, seen by its root.
#[test]
fn trees_have_witnesses() -> Outcome {
    let graph = Graph::from_edges(31, (1..31).map(|u| ((u - 1) / 2, u)))?;
    let program = fresh_noise(&GossipMatrix::metropolis(&graph), &vec![Weight::from((1, 3)); 90])?;
    let observer = Observer::node(0);
    let account = program.account(&observer)?;
    for u in [2, 14, 30] {
        assert_enclosed(&program, &observer, &account, u, &[1.0], 1e-9);
    }
    Ok(())
}

/// Several sends per step, so that messages share their noises, and sums whose terms nobody sees.
#[test]
fn shared_noises_have_witnesses() -> Outcome {
    let matrix = GossipMatrix::metropolis(&star_graph(5)?);
    let steps = 25;
    let program = dsgd(&matrix, Dsgd { sends: 2, ..Dsgd::from(steps) })?;
    let observer = Observer::node(0);
    let account = program.account(&observer)?;
    let change = vec![1.0; steps];
    assert_enclosed(&program, &observer, &account, 2, &change, 1e-9);
    let graph = cycle_graph(6)?;
    let program = secure_neighbor_sums(&GossipMatrix::metropolis(&graph), 90)?;
    let observer = Observer::coalition(&[0, 2]);
    let account = program.account(&observer)?;
    for u in [1, 3, 4] {
        assert_enclosed(&program, &observer, &account, u, &[1.0], 0.0);
    }
    Ok(())
}

/// What is shown only for the account is not a message. Nodes of which nothing is seen have empty witnesses.
#[test]
fn reasons_are_named() -> Outcome {
    let mut program = Program::new(3)?;
    let x = program.contribute(0, Reads::Nothing)?;
    let z = program.noise([0], 1)?;
    let hidden = program.add(&[x, z])?;
    program.send(0, 1, hidden)?;
    let y = program.contribute(1, Reads::Hidden(Some(vec![hidden])))?;
    let own = program.noise([1], 1)?;
    let sent = program.add(&[y, own])?;
    program.send(1, 2, sent)?;
    let observer = Observer::node(2);
    let account = program.account(&observer)?;
    assert_eq!(account.witnesses(0, &[1.into()]), Err(ProgramError::WitnessOfRevealed.into()));
    let alone = Observer::node(0);
    let mut program = Program::new(2)?;
    let x = program.contribute(1, Reads::Nothing)?;
    let account = program.account(&alone)?;
    let (attack, shift) = account.witnesses(1, &[1.into()])?;
    assert!(attack.terms.is_empty() && shift.terms.is_empty());
    assert_eq!(program.check_attack(&alone, &attack)?, Some(0.into()));
    assert_eq!(program.check_shift(&alone, &shift)?, Weight::from(0));
    program.send(1, 0, x)?;
    let shown = program.account(&alone)?.witnesses(1, &[1.into()]);
    assert_eq!(shown, Err(ndp_account::Error::Certify(ndp_certify::Error::NoiselessView(1))));
    Ok(())
}

/// Node 1 may contribute anything that depends on its hidden mean `h`, such as `4 h`: no shift of the noises
/// of the program as written says what is lost then, nor where `h` is said to have been seen and was not.
#[test]
fn a_shift_says_nothing_of_hidden_reads() -> Outcome {
    let build = |reads: fn(Value) -> Reads| -> Result<(Program, Value), Error> {
        let mut program = Program::new(3)?;
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 10)?);
        let h = program.add(&[x, z])?;
        program.send(0, 1, h)?;
        let (y, z) = (program.contribute(1, reads(h))?, program.noise([1], 1)?);
        let sent = program.add(&[y, z])?;
        program.send(1, 2, sent)?;
        Ok((program, h))
    };
    let observer = Observer::node(2);
    let nothing = Witness { source: 0, change: vec![Weight::from(1)], terms: Vec::new() };
    let (plain, _) = build(|_| Reads::Nothing)?;
    assert_eq!(plain.check_shift(&observer, &nothing)?, Weight::from(0));
    let (hidden, _) = build(|h| Reads::Hidden(Some(vec![h])))?;
    assert_refused(hidden.check_shift(&observer, &nothing), "reads values that the observer does not see");
    let (seen, _) = build(|h| Reads::Seen(Some(vec![h])))?;
    assert_refused(seen.check_shift(&observer, &nothing), "use 0 of node 1");
    // What is shown to the account alone is not seen without noise.
    let mut clean = Program::new(3)?;
    let x = clean.contribute(0, Reads::Nothing)?;
    let (y, z) = (clean.contribute(1, Reads::Hidden(Some(vec![x])))?, clean.noise([1], 1000)?);
    let sent = clean.add(&[y, z])?;
    clean.send(1, 2, sent)?;
    let account = clean.account(&observer)?;
    let NodeVerdict::Bounded(loss) = account.verdict(0, &SensitivitySet::UseLevel)? else {
        panic!("nothing was sent without noise")
    };
    assert_eq!((loss.value.grade(), loss.value(), loss.lower), (Grade::UpperBound, f64::INFINITY, 0.0));
    assert!(account.loss(0, &SensitivitySet::UseLevel).is_err());
    Ok(())
}

/// Two uses that cancel: rounding leaves something of nothing, which is no exact number.
#[test]
fn a_direction_along_which_uses_cancel_is_not_exact() -> Outcome {
    let mut program = Program::new(2)?;
    let (x, y) = (program.contribute(0, Reads::Nothing)?, program.contribute(0, Reads::Nothing)?);
    let z = program.noise([0], 1)?;
    let sent = program.add(&[x, y, z])?;
    program.send(0, 1, sent)?;
    let loss = program.account(&Observer::node(1))?.loss(0, &SensitivitySet::Along(vec![1.0, -1.0]))?;
    assert!(loss.value() == 0.0 || loss.value.grade() == Grade::UpperBound, "{loss:?}");
    Ok(())
}
