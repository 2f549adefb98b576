//! One protocol runs and is accounted for: shares of the identity are the numbers that were given, whatever
//! rounds away beside 1, and hubs keep their weights. Truths in exact rational arithmetic, from the
//! definition of the weights.

use ndp_account::{Error, LinearProtocol, LossReport, Observer, Protocol};
use ndp_algos::gossip::{
    ExactOptions, FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SequenceGossip, exact_loss,
};
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::{GossipMatrix, GossipSequence, Graph, Step, Weights, generators};
use ndp_program::constructors::muffliato;
use ndp_program::{Program, SensitivitySet};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

fn exact(x: f64) -> BigRational {
    BigRational::from_float(x).expect("a finite number")
}

type Rational = Vec<Vec<BigRational>>;

/// Weights `1 / D(d_u, d_v)`, then one share of the identity after the other.
fn weights(graph: &Graph, rule: Weights, shares: &[f64]) -> Rational {
    let n = graph.node_count();
    let mut rows = vec![vec![BigRational::zero(); n]; n];
    for (u, row) in rows.iter_mut().enumerate() {
        let mut own = BigRational::one();
        for &v in graph.neighbors(u) {
            let (a, b) = (graph.degree(u), graph.degree(v as usize));
            let divisor = match rule {
                Weights::Metropolis => a.max(b) + 1,
                Weights::SumDegree => a + b + 1,
                _ => a.max(b),
            };
            row[v as usize] = BigRational::new(1.into(), divisor.into());
            own -= &row[v as usize];
        }
        row[u] = own;
        for &share in shares {
            let share = exact(share);
            row.iter_mut().for_each(|x| *x *= BigRational::one() - &share);
            row[u] += share;
        }
    }
    rows
}

/// Unit losses towards `v`, which knows its own noise, by Gram-Schmidt without normalisation.
fn losses(steps: &[(&Graph, Rational)], v: usize) -> Vec<BigRational> {
    let n = steps[0].0.node_count();
    let unit =
        |w: usize| -> Vec<BigRational> { (0..n).map(|u| exact(f64::from(u8::from(u == w)))).collect() };
    let mut states: Rational = (0..n).map(unit).collect();
    let mut seen = vec![unit(v)];
    for (graph, matrix) in steps {
        seen.extend(graph.neighbors(v).iter().map(|&w| states[w as usize].clone()));
        let next = |row: &Vec<BigRational>| -> Vec<BigRational> {
            let mut sum = vec![BigRational::zero(); n];
            for (weight, state) in row.iter().zip(&states).filter(|(weight, _)| !weight.is_zero()) {
                sum.iter_mut().zip(state).for_each(|(sum, x)| *sum += weight * x);
            }
            sum
        };
        states = matrix.iter().map(next).collect();
    }
    let dot = |a: &[BigRational], b: &[BigRational]| a.iter().zip(b).map(|(x, y)| x * y).sum::<BigRational>();
    let mut basis: Vec<(Vec<BigRational>, BigRational)> = Vec::new();
    for mut row in seen {
        for (q, square) in &basis {
            let factor = dot(&row, q) / square;
            row.iter_mut().zip(q).for_each(|(x, q)| *x -= &factor * q);
        }
        let square = dot(&row, &row);
        if !square.is_zero() {
            basis.push((row, square));
        }
    }
    (0..n).map(|u| basis.iter().map(|(q, square)| &q[u] * &q[u] / square).sum()).collect()
}

fn assert_encloses(report: &LossReport, truths: &[BigRational], v: usize) -> Result<(), Error> {
    assert_eq!(report.loss.grade(), Grade::Exact);
    for (u, truth) in truths.iter().enumerate().filter(|&(u, _)| u != v) {
        let (low, high) = report.enclosure(u)?;
        let shown = truth.to_f64().unwrap_or(f64::NAN);
        assert!(exact(low) <= *truth && *truth <= exact(high), "{u}: {shown} not in [{low}, {high}]");
        assert!(high - low <= 1e-9);
    }
    Ok(())
}

#[test]
fn twice_almost_nothing_is_something() -> Result<(), Error> {
    let path = generators::path_graph(3)?;
    let shares = [1.0 - 1e-10; 2];
    let matrix = GossipMatrix::metropolis(&path).lazy(shares[0])?.lazy(shares[1])?;
    let truth = losses(&vec![(&path, weights(&path, Weights::Metropolis, &shares)); 3], 2);
    assert!(truth.iter().all(One::is_one));
    let sequence = GossipSequence::constant(&matrix, 3);
    assert_encloses(&exact_loss(&sequence, &[2], ExactOptions::default())?, &truth, 2)?;
    assert_encloses(&exact_loss((&matrix, 3), &[2], ExactOptions::default())?, &truth, 2)?;
    assert_encloses(&SequenceGossip::from(sequence).coalition_loss(&[2])?, &truth, 2)?;
    let clean = NoisyMessageGossip::new(matrix.clone(), 3, 0.0, MessageNoise::Broadcast)?;
    assert_encloses(&clean.coalition_loss(&[2])?, &truth, 2)?;
    let fresh = FreshNoiseGossip::new(matrix.clone(), vec![1.0, 0.0, 0.0])?;
    assert_encloses(&fresh.coalition_loss(&[2])?, &truth, 2)?;
    // Through a file and back it is the same protocol.
    let text = serde_json::to_string(&matrix).expect("plain data");
    let read: GossipMatrix = serde_json::from_str(&text).expect("what was written");
    assert_encloses(
        &exact_loss(&GossipSequence::constant(&read, 3), &[2], ExactOptions::default())?,
        &truth,
        2,
    )?;
    // And stated as a program.
    let account = muffliato(&matrix, 3)?.account(&Observer::node(2))?;
    for u in [0, 1] {
        let loss = account.loss(u, &SensitivitySet::UseLevel)?;
        assert!(loss.lower <= 1.0 && loss.value() >= 1.0 && loss.value() - loss.lower <= 1e-9, "{loss:?}");
    }
    Ok(())
}

/// A share in a program's text is the number that is written there, a ratio too.
#[test]
fn shares_in_programs_are_what_is_written() -> Result<(), Error> {
    let text = |matrix: &str| {
        let all = format!(
            r#"{{"ndp-program": 1, "nodes": 2}}
               {{"graph": "g", "family": "path"}}
               {matrix}
               {{"contribute": "x", "reads": "nothing"}}
               {{"send": "x", "along": "g"}}
               {{"set": "x", "gossip": "W", "of": "x"}}
               {{"result": "x"}}"#
        );
        Program::read(all.as_bytes())
    };
    let lazy = |share: &str| {
        text(&format!(r#"{{"matrix": "W", "of": "g", "weights": "metropolis", "lazy": {share}}}"#))
    };
    let rows = |own: &str, other: &str| {
        text(&format!(r#"{{"matrix": "W", "rows": [["{own}", "{other}"], ["{other}", "{own}"]]}}"#))
    };
    assert_eq!(lazy(r#""1/3""#)?, rows("2/3", "1/3")?);
    assert_eq!(lazy("0.25")?, rows("5/8", "3/8")?);
    assert_eq!(lazy("0")?, rows("1/2", "1/2")?);
    let tiny = r#""1/1000000000000000000000""#;
    assert_eq!(
        lazy(tiny)?,
        rows(
            "1000000000000000000001/2000000000000000000000",
            "999999999999999999999/2000000000000000000000"
        )?
    );
    for wrong in ["1", "-0.1", r#""3/2""#] {
        assert!(lazy(wrong).is_err_and(|refused| refused.to_string().contains("below 1")), "{wrong}");
    }
    Ok(())
}

/// Changing connections on four nodes, weights without anything on the diagonal of some: a share of `1e-17`
/// is what tells node 0 all. Without it the truth is 1/5 and 4/5.
#[test]
fn shares_below_the_last_bit_of_one_count() -> Result<(), Error> {
    let lists = [&[(0, 2), (1, 2)][..], &[(1, 3), (2, 3)], &[(0, 1), (0, 2), (2, 3)]];
    let graphs: Vec<Graph> =
        lists.iter().map(|edges| Graph::from_edges(4, edges.iter().copied())).collect::<Result<_, _>>()?;
    for shares in [
        &[][..],
        &[1e-17],
        &[1e-10],
        &[5e-324],
        &[1e-17, 1e-17],
        &[0.3, 1e-10],
        &[1.0 - 1e-10],
        &[0.1, 0.7, 1.0 - 1e-10],
    ] {
        let truth: Vec<(&Graph, Rational)> =
            graphs.iter().map(|graph| (graph, weights(graph, Weights::MaxDegree, shares))).collect();
        let truth = losses(&truth, 0);
        let step = |graph: &Graph| -> Result<Step, Error> {
            let plain = GossipMatrix::new(graph, Weights::MaxDegree)?;
            Ok(Step::Matrix(shares.iter().try_fold(plain, |matrix, &share| matrix.lazy(share))?))
        };
        let steps = graphs.iter().map(step).collect::<Result<_, _>>()?;
        let sequence = GossipSequence::new(4, steps)?;
        let report = exact_loss(&sequence, &[0], ExactOptions::default())?;
        assert_encloses(&report, &truth, 0)?;
        let fifth = BigRational::new(1.into(), 5.into());
        assert!(truth[1] == if shares.is_empty() { fifth } else { BigRational::one() });
        // The profile that a user asks for says the same.
        let protocol = SequenceGossip::from(sequence);
        let profile = protocol.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(1.0)?)?;
        let mu = profile.mu().map_or(f64::NAN, |mu| mu.value().mu());
        assert!((mu * mu - truth[1].to_f64().unwrap_or(f64::NAN)).abs() < 1e-9, "{mu}");
    }
    Ok(())
}

/// A share of `1e-10` with noise in every round, where every digit counts: the share that is accounted for is
/// the one on the diagonal that runs.
#[test]
fn the_share_on_the_diagonal_is_the_share_of_the_account() -> Result<(), Error> {
    let ring = generators::cycle_graph(4)?;
    for share in [1e-10, 3e-12, 0.1, 1e-17] {
        let lazy = GossipMatrix::new(&ring, Weights::Regular)?.lazy(share)?;
        // The diagonal of the walk is 0: what is stored is the share.
        assert_eq!(lazy.get(0, 0), share);
        assert_eq!(lazy.laziness(), share);
        let matrix = weights(&ring, Weights::Regular, &[share]);
        let mut other = GossipMatrix::metropolis(&generators::path_graph(4)?);
        other = other.lazy(share)?;
        let path = generators::path_graph(4)?;
        let steps = [
            (&ring, matrix.clone()),
            (&path, weights(&path, Weights::Metropolis, &[share])),
            (&ring, matrix),
        ];
        let sequence = GossipSequence::new(
            4,
            vec![Step::Matrix(lazy.clone()), Step::Matrix(other), Step::Matrix(lazy)],
        )?;
        for v in 0..4 {
            let report = exact_loss(&sequence, &[v], ExactOptions::default())?;
            assert_encloses(&report, &losses(&steps, v), v)?;
        }
    }
    Ok(())
}

/// A hub of 200 leaves with a path of three behind it: the sum of so many numbers once left the digits before
/// the point of the arithmetic, and the hub moved by a wrong share.
#[test]
fn hubs_of_hundreds_keep_their_weights() -> Result<(), Error> {
    let leaves = 200;
    // Nodes 1 and 2 watch; 3 is the hub.
    let path = [(0, 1), (1, 2), (2, 3)];
    let graph = Graph::from_edges(leaves + 4, path.into_iter().chain((0..leaves).map(|k| (3, 4 + k))))?;
    for rule in [Weights::Metropolis, Weights::SumDegree, Weights::MaxDegree] {
        let matrix = GossipMatrix::new(&graph, rule)?;
        for (v, rounds) in [(2, 2), (1, 4)] {
            let truth = losses(&vec![(&graph, weights(&graph, rule, &[])); rounds], v);
            assert_encloses(&exact_loss((&matrix, rounds), &[v], ExactOptions::default())?, &truth, v)?;
            let sequence = GossipSequence::constant(&matrix, rounds);
            assert_encloses(&exact_loss(&sequence, &[v], ExactOptions::default())?, &truth, v)?;
        }
    }
    Ok(())
}
