//! Gossip over changing connections against references, fractions and the routine for fixed matrices.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::Array2;
use ndp_account::{Error, LinearProtocol, OwnNoise, loss};
use ndp_algos::gossip::{
    ExactOptions, GossipProtocol, SequenceGossip, closed_form, exact_loss, mean_loss_by_step,
};
use ndp_dp::{Grade, Sigma};
use ndp_graph::Weights;
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipMatrix, GossipSequence, Step, generators};
use ndp_printed::gossip::{self as printed, Powers};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn unknown() -> ExactOptions {
    ExactOptions { own_noise: OwnNoise::Unknown, ..ExactOptions::default() }
}

fn assert_units(units: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(units.len(), expected.len());
    for (unit, expected) in units.iter().zip(expected) {
        assert_abs_diff_eq!(*unit, *expected, epsilon = tolerance);
    }
}

/// Randomized gossip on four nodes, edges given: printed, printed transposed, and exact.
#[test]
fn reference_of_randomized_gossip() -> Result<(), Error> {
    let graph = generators::path_graph(4)?;
    let edges = [(0, 1), (1, 2), (2, 3), (1, 2), (2, 3)];
    let sequence = GossipSequence::given_activations(&graph, &edges)?;
    let message = printed::theorem1_towards(&sequence, &[3], Powers::FromZero)?.into_value().unit;
    let expected =
        [0.295_238_095_238_095, 0.295_238_095_238_095, 1.180_952_380_952_38, 0.228_571_428_571_429];
    assert_units(&message, &expected, 1e-14);
    let transposed = printed::theorem1_towards(&sequence, &[3], Powers::Transposed)?.into_value().unit;
    assert_eq!(transposed[0], 0.0);
    assert_relative_eq!(transposed[1], 1.180_952_380_952_38, max_relative = 1e-13);
    assert_relative_eq!(transposed[1], transposed[2], max_relative = 1e-13);
    for options in [ExactOptions::default(), unknown()] {
        let report = exact_loss(&sequence, &[3], options)?;
        assert_eq!((report.rank, report.loss.grade()), (2, Grade::Exact));
        let sixth = 1.0 / 6.0;
        assert_units(&report.loss.value().unit, &[sixth, sixth, 4.0 * sixth, 1.0], 1e-13);
    }
    Ok(())
}

/// The one-peer hypercube: exact = printed = `2^{-j}`, rank m + 1, consensus.
#[test]
fn one_peer_hypercube() -> Result<(), Error> {
    let law = closed_form::one_peer_hypercube(3, 5)?.into_value().unit;
    assert_eq!(law, [0.25, 0.25, 0.25, 0.25, 1.0, 1.0, 0.5, 0.5]);
    for m in 0..=6 {
        let sequence = GossipSequence::one_peer_hypercube(m)?;
        let v = (1usize << m) / 3;
        let law = closed_form::one_peer_hypercube(m, v)?.into_value().unit;
        let report = exact_loss(&sequence, &[v], ExactOptions::default())?;
        assert_eq!((report.rank, report.loss.grade()), (m as usize + 1, Grade::Exact));
        // The upper end of an enclosure is a few roundings higher.
        assert_units(&report.loss.value().unit, &law, 1e-12);
        let printed = printed::theorem1_towards(&sequence, &[v], Powers::FromZero)?.into_value().unit;
        for (u, unit) in printed.iter().enumerate().filter(|&(u, _)| u != v) {
            assert_relative_eq!(*unit, law[u], max_relative = 1e-14);
        }
        let n = 1usize << m;
        // Consensus: of the noise, only that of a mean is left.
        let error = SequenceGossip::from(sequence)
            .mean_squared_error(Array2::ones((n, 1)).view(), Sigma::new(1.0)?)?;
        assert_relative_eq!(*error.value(), 1.0 / n as f64, max_relative = 1e-13);
    }
    Ok(())
}

/// A constant sequence gives the same as gossip with a fixed matrix, for every quantity.
#[test]
fn constant_sequences_are_fixed_matrices() -> Result<(), Error> {
    let graph = generators::grid_2d_graph(3, 4)?;
    for matrix in
        [GossipMatrix::metropolis(&graph), GossipMatrix::new(&graph, Weights::SumDegree)?.lazy(0.3)?]
    {
        for rounds in [0, 1, 4] {
            let sequence = GossipSequence::constant(&matrix, rounds);
            for v in [0, 5] {
                let changing = exact_loss(&sequence, &[v], ExactOptions::default())?;
                let fixed = exact_loss((&matrix, rounds), &[v], ExactOptions::default())?;
                assert_eq!((changing.rank, changing.loss.grade()), (fixed.rank, Grade::Exact));
                // Reports give upper ends of enclosures of width at most 1e-9.
                assert_units(&changing.loss.value().unit, &fixed.loss.value().unit, 1e-9);
                let printed =
                    printed::theorem1_towards((&matrix, rounds), &[v], Powers::FromZero)?.into_value();
                let message = printed::theorem1_towards(&sequence, &[v], Powers::FromZero)?.into_value();
                assert_units(&message.unit, &printed.unit, 1e-12);
                let means = printed::sequence_mean_from(&sequence, v)?;
                assert_eq!(means.len(), rounds);
                let fixed = printed::theorem1_from(&matrix, &[v], rounds, Powers::FromZero)?.into_value();
                let last = means.last().map_or(0.0, |mean| *mean.value());
                assert_abs_diff_eq!(last, fixed.iter().sum::<f64>() / 12.0, epsilon = 1e-12);
            }
            let both = exact_loss(&sequence, &[6, 1], ExactOptions::default())?;
            let fixed = exact_loss((&matrix, rounds), &[1, 6], ExactOptions::default())?;
            assert_eq!((both.rank, &both.coalition), (fixed.rank, &fixed.coalition));
            assert_units(&both.loss.value().unit, &fixed.loss.value().unit, 1e-9);
        }
    }
    Ok(())
}

/// Exact losses in fractions, by Gram-Schmidt on the rows of the running product.
fn oracle(sequence: &GossipSequence, v: usize) -> (Vec<f64>, usize) {
    let n = sequence.node_count();
    let fraction = |a: usize, b: usize| BigRational::new(a.into(), b.into());
    let unit = |node: usize| (0..n).map(|u| fraction(usize::from(u == node), 1)).collect::<Vec<_>>();
    let mut product: Vec<Vec<BigRational>> = (0..n).map(unit).collect();
    let mut rows = vec![unit(v)];
    for step in sequence.steps() {
        rows.extend(step.peers(v).into_iter().map(|w| product[w].clone()));
        let before = product.clone();
        match *step {
            Step::Matrix(ref matrix) => {
                for (u, row) in product.iter_mut().enumerate() {
                    // Metropolis weights, in fractions.
                    let graph = matrix.graph();
                    let neighbors = graph.neighbors(u).iter().map(|&w| w as usize);
                    let weight = |w: usize| fraction(1, graph.degree(u).max(graph.degree(w)) + 1);
                    for j in 0..n {
                        let change = neighbors.clone().map(|w| weight(w) * (&before[w][j] - &before[u][j]));
                        row[j] = &before[u][j] + change.sum::<BigRational>();
                    }
                }
            }
            Step::Pair(a, b) => {
                for j in 0..n {
                    let mean = (&before[a][j] + &before[b][j]) / fraction(2, 1);
                    product[a][j] = mean.clone();
                    product[b][j] = mean;
                }
            }
            Step::Idle => {}
        }
    }
    let dot = |a: &[BigRational], b: &[BigRational]| a.iter().zip(b).map(|(a, b)| a * b).sum::<BigRational>();
    let mut basis: Vec<(Vec<BigRational>, BigRational)> = Vec::new();
    for mut row in rows {
        for (q, square) in &basis {
            let factor = dot(&row, q) / square;
            row.iter_mut().zip(q).for_each(|(x, q)| *x -= &factor * q);
        }
        let square = dot(&row, &row);
        if !square.is_zero() {
            basis.push((row, square));
        }
    }
    let unit = |u: usize| basis.iter().map(|(q, square)| &q[u] * &q[u] / square).sum::<BigRational>();
    ((0..n).map(|u| unit(u).to_f64().expect("a fraction of bounded size")).collect(), basis.len())
}

#[test]
fn random_sequences_agree_with_fractions() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    for trial in 0..30 {
        let n = 4 + trial % 5;
        let sequence = match trial % 3 {
            0 => {
                let law = EdgeActivations::uniform(&generators::cycle_graph(n)?)?;
                GossipSequence::activations(&law, 4 * n, &mut rng)
            }
            1 => GossipSequence::erdos_renyi(n, 0.4, 4, &mut rng)?,
            _ => GossipSequence::constant(&GossipMatrix::metropolis(&generators::cycle_graph(n)?), 5)
                .with_node_dropout(0.3, &mut rng)?,
        };
        let (expected, rank) = oracle(&sequence, 1);
        let report = exact_loss(&sequence, &[1], ExactOptions::default())?;
        assert_eq!((report.rank, report.loss.grade()), (rank, Grade::Exact));
        assert_units(&report.loss.value().unit, &expected, 1e-10);
        let means = mean_loss_by_step(&sequence, 1)?;
        assert_eq!(means.by_step.len(), sequence.steps().len());
        assert!(means.failure < 1e-20);
        if let Some(last) = means.by_step.last() {
            assert_relative_eq!(*last.value(), (rank - 1) as f64 / n as f64, max_relative = 1e-14);
        }
        // A view carries its exact rows; its floating-point numbers are only roundings of them.
        let view = SequenceGossip::from(sequence).coalition_view(&[1])?;
        let mut of_view = loss::exact_loss(&view)?;
        of_view.by = report.by;
        assert_eq!(of_view, report);
    }
    Ok(())
}

#[test]
fn transcripts_satisfy_their_views() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let law = EdgeActivations::uniform(&generators::cycle_graph(6)?)?;
    for sequence in
        [GossipSequence::activations(&law, 15, &mut rng), GossipSequence::erdos_renyi(6, 0.5, 4, &mut rng)?]
    {
        let protocol = SequenceGossip::from(sequence);
        let values = Array2::from_shape_fn((6, 2), |(v, k)| (v * v + k) as f64);
        let again = rng.clone();
        let run = protocol.run(values.view(), Sigma::new(0.5)?, &mut rng)?;
        for coalition in [vec![2], vec![5, 0]] {
            let view = protocol.coalition_view(&coalition)?;
            let predicted = view.inputs().dot(&values) + view.noises().dot(&run.noise);
            let received =
                protocol.observe(values.view(), Sigma::new(0.5)?, &coalition, &mut again.clone())?.received;
            assert_eq!(received.dim(), (view.noises().nrows(), 2));
            received.iter().zip(&predicted).for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-12));
        }
        let before = (&values + &run.noise).sum_axis(ndarray::Axis(0));
        for (a, b) in before.iter().zip(&run.output.sum_axis(ndarray::Axis(0))) {
            assert_abs_diff_eq!(*a, *b, epsilon = 1e-11);
        }
    }
    Ok(())
}

/// A weight that differs by 1e-12 is another weight: after enough rounds it tells nodes apart that equal
/// weights do not.
#[test]
fn given_entries_are_what_they_store() -> Result<(), Error> {
    let graph = generators::cycle_graph(6)?;
    let metropolis = GossipMatrix::metropolis(&graph);
    // A ring whose weights differ in the last place: its mirror images are no longer identical.
    let given = GossipMatrix::from_edge_weights(&graph, |u, v| {
        if (u, v) == (0, 1) { (1.0f64 / 3.0).next_up() } else { 1.0 / 3.0 }
    })?;
    let alike = exact_loss(&GossipSequence::constant(&metropolis, 6), &[0], ExactOptions::default())?;
    assert_eq!((alike.loss.grade(), alike.rank), (Grade::Exact, 6));
    let graph = generators::star_graph(3)?;
    let alike = GossipMatrix::metropolis(&graph);
    let apart = GossipMatrix::from_edge_weights(&graph, |_, v| if v == 1 { 0.25 + 1e-12 } else { 0.25 })?;
    for (matrix, rank, twins) in [(alike, 3, 0.5), (apart, 4, 1.0)] {
        let report = exact_loss(&GossipSequence::constant(&matrix, 6), &[3], ExactOptions::default())?;
        assert_eq!((report.loss.grade(), report.rank), (Grade::Exact, rank));
        assert_units(&report.loss.value().unit, &[1.0, twins, twins, 1.0], 1e-9);
        let means = mean_loss_by_step(&GossipSequence::constant(&matrix, 6), 3)?;
        assert_eq!(means.by_step.last().map(|mean| *mean.value()), Some((rank - 1) as f64 / 4.0));
    }
    let given = exact_loss(&GossipSequence::constant(&given, 6), &[0], ExactOptions::default())?;
    assert_eq!((given.loss.grade(), given.rank), (Grade::Exact, 6));
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    let sequence = GossipSequence::one_peer_hypercube(3)?;
    let outside = |node| Error::NodeOutOfRange { node, nodes: 8 };
    assert_eq!(exact_loss(&sequence, &[8], ExactOptions::default()), Err(outside(8)));
    assert_eq!(exact_loss(&sequence, &[], ExactOptions::default()), Err(Error::EmptyCoalition));
    assert_eq!(exact_loss(&sequence, &[1, 1], ExactOptions::default()), Err(Error::RepeatedMember(1)));
    let tight = ExactOptions { memory_limit: 100, ..ExactOptions::default() };
    assert!(matches!(
        exact_loss(&sequence, &[0], tight),
        Err(Error::Certify(ndp_certify::Error::TooLarge { .. }))
    ));
    assert!(matches!(
        exact_loss((&GossipMatrix::metropolis(&generators::cycle_graph(5)?), 3), &[0], tight),
        Err(Error::Certify(ndp_certify::Error::TooLarge { .. }))
    ));
    let report = exact_loss(&sequence, &[1, 2], ExactOptions::default())?;
    assert_eq!(report.unit(2), Err(Error::SourceIsObserver(2)));
    assert_eq!(printed::theorem1_towards(&sequence, &[9], Powers::FromZero), Err(outside(9)));
    assert_eq!(printed::sequence_mean_from(&sequence, 9), Err(outside(9)));
    let from_one = printed::theorem1_towards(&sequence, &[1], Powers::FromOne);
    assert!(matches!(from_one, Err(Error::NotOffered(_))));
    Ok(())
}
