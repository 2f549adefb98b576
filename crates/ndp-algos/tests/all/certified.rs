//! Losses that a rank tolerance, or the agreement of two floating-point runs, got wrong: each by the routine
//! that users call, against values in exact rational arithmetic; and long thin graphs, where rows are nearly
//! dependent.

use approx::assert_abs_diff_eq;
use ndarray::{Array2, array};
use ndp_account::{Error, LinearProtocol, LossReport, OwnNoise, View, loss};
use ndp_algos::gossip::accelerated::{ActiveEdge, Momentum};
use ndp_algos::gossip::{
    AcceleratedGossip, ExactOptions, FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SequenceGossip,
    SynchronousGossip, exact_loss, mean_loss_by_step,
};
use ndp_dp::Grade;
use ndp_graph::Weights;
use ndp_graph::{GossipMatrix, GossipSequence, Graph, Step, generators};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The enclosure of every loss contains the truth, and the report is exact.
fn assert_exact(report: &LossReport, expected: &[(usize, f64)]) -> Result<(), Error> {
    assert_eq!(report.loss.grade(), Grade::Exact);
    for &(u, truth) in expected {
        let (low, high) = report.enclosure(u)?;
        // References have 15 digits.
        assert!(
            low <= truth * (1.0 + 1e-14) && truth * (1.0 - 1e-14) <= high,
            "{u}: {truth} not in [{low}, {high}]"
        );
        assert!(high - low <= 1e-9);
    }
    Ok(())
}

/// Everybody outside the coalition loses everything.
fn assert_all_lost(report: &LossReport) -> Result<(), Error> {
    let outside = (0..report.lower.len()).filter(|u| !report.coalition.contains(u));
    assert_exact(report, &outside.map(|u| (u, 1.0)).collect::<Vec<_>>())?;
    assert_eq!(report.failure, 0.0);
    Ok(())
}

fn default() -> ExactOptions {
    ExactOptions::default()
}

fn karate_club() -> Result<Graph, Error> {
    let text = include_str!("../../../ndp-cli/examples/karate.txt");
    let edges = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut ends = line.split_whitespace().map(|x| x.parse::<usize>().expect("a number"));
        Some((ends.next()?, ends.next()?))
    });
    Ok(Graph::from_edges(34, edges.collect::<Vec<_>>())?)
}

fn comb(teeth: usize) -> Result<Graph, Error> {
    let back = (1..teeth).map(|i| (i - 1, i));
    Ok(Graph::from_edges(2 * teeth, back.chain((0..teeth).map(|i| (i, i + teeth))))?)
}

#[test]
fn tiny_entries_of_given_views_count() -> Result<(), Error> {
    let rows = array![[1.0, 0.0, 0.0], [1.0, 1e-11, 0.0]];
    let report = loss::exact_loss(&View::new(&[2], rows.clone(), rows, &[2])?)?;
    assert_exact(&report, &[(0, 1.0), (1, 1.0)])?;
    assert_eq!(report.rank, 3);

    let inputs = array![[0.0, 1.0, 0.0], [0.0, 1.0, 1e-7]];
    let leaking = View::new(&[0], inputs.clone(), array![[1.0], [1.0]], &[])?;
    assert_eq!(loss::exact_loss(&leaking), Err(Error::Certify(ndp_certify::Error::NoiselessView(2))));
    // Without the second row nothing leaks.
    let inputs = inputs.slice(ndarray::s![..1, ..]).to_owned();
    assert_exact(&loss::exact_loss(&View::new(&[0], inputs, array![[1.0]], &[])?)?, &[(1, 1.0), (2, 0.0)])
}

#[test]
fn tiny_weights_count() -> Result<(), Error> {
    let path = generators::path_graph(3)?;
    for tiny in [7e-11, 1e-300, 5e-324] {
        let matrix = GossipMatrix::from_edge_weights(&path, |u, _| if u == 0 { tiny } else { 0.5 })?;
        assert_all_lost(&exact_loss((&matrix, 3), &[2], default())?)?;
        assert_all_lost(&exact_loss(&GossipSequence::constant(&matrix, 3), &[2], default())?)?;
    }
    let path = generators::path_graph(4)?;
    let matrix = GossipMatrix::from_edge_weights(&path, |u, _| if u == 1 { 1e-11 } else { 0.3 })?;
    assert_all_lost(&exact_loss((&matrix, 6), &[3], default())?)
}

#[test]
fn nearly_equal_weights_are_told_apart() -> Result<(), Error> {
    let edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 4)];
    let graph = Graph::from_edges(5, edges)?;
    for changed in edges {
        let weight = |u, v| if (u, v) == changed { 0.2 + 1e-12 } else { 0.2 };
        let matrix = GossipMatrix::from_edge_weights(&graph, weight)?;
        let truth = if changed.0 == 0 { 0.5 } else { 1.0 };
        assert_exact(&exact_loss((&matrix, 5), &[0], default())?, &[(3, truth), (4, truth)])?;
    }
    Ok(())
}

#[test]
fn the_karate_club_through_constant_sequences() -> Result<(), Error> {
    let club = karate_club()?;
    assert_eq!((club.edge_count(), club.degree(11)), (78, 1));
    for (matrix, truth) in [
        (GossipMatrix::metropolis(&club), 0.735_910_880_060_553_2),
        (GossipMatrix::new(&club, Weights::SumDegree)?, 0.472_279_147_274_113),
    ] {
        let sequence = GossipSequence::constant(&matrix, 24);
        let report = exact_loss(&sequence, &[11], default())?;
        assert_exact(&report, &[(28, truth)])?;
        assert_eq!(report.rank, 25);
        // The fixed matrix is the same protocol by another engine, and so is the view.
        let fixed = exact_loss((&matrix, 24), &[11], default())?;
        assert_exact(&fixed, &[(28, truth)])?;
        // In 24 rounds no row is old, so that nothing rests on primes; in 36 some are.
        assert_eq!(fixed.failure, 0.0);
        let longer = exact_loss((&matrix, 36), &[11], default())?.failure;
        assert!(0.0 < longer && longer < 2f64.powi(-80), "{longer:e}");
        let view = SynchronousGossip::new(matrix.clone(), 24).coalition_view(&[11])?;
        let mut of_view = loss::exact_loss(&view)?;
        of_view.by = fixed.by;
        assert_eq!(of_view, fixed);
        // A row that was rounded on the way is another view.
        let rounded = View::new(&[11], view.inputs().to_owned(), view.noises().to_owned(), &[11])?;
        let other = loss::exact_loss(&rounded)?;
        assert!(
            (other.unit(28)?.value().get() - truth).abs() > 1e-3 || matrix != GossipMatrix::metropolis(&club)
        );
        // Both engines enclose the same numbers.
        for u in (0..34).filter(|&u| u != 11) {
            let ((a, b), (c, d)) = (report.enclosure(u)?, fixed.enclosure(u)?);
            assert!(a.max(c) <= b.min(d), "{u}: [{a}, {b}] and [{c}, {d}]");
        }
    }
    Ok(())
}

#[test]
fn paths_tell_everything() -> Result<(), Error> {
    let thirds = GossipMatrix::from_edge_weights(&generators::path_graph(26)?, |_, _| 1.0 / 3.0)?;
    assert_all_lost(&exact_loss(&GossipSequence::constant(&thirds, 26), &[25], default())?)?;
    let small = GossipMatrix::from_edge_weights(&generators::path_graph(8)?, |_, _| 0.01)?;
    assert_all_lost(&exact_loss(&GossipSequence::constant(&small, 8), &[7], default())?)?;
    let metropolis = GossipMatrix::metropolis(&generators::path_graph(40)?);
    let view = SynchronousGossip::new(metropolis, 40).coalition_view(&[39])?;
    assert_all_lost(&loss::exact_loss(&view)?)
}

#[test]
fn accelerated_gossip_on_a_path_tells_everything() -> Result<(), Error> {
    let path = generators::path_graph(30)?;
    let sweep = (0..29).map(|u| ActiveEdge { wait: 0.3, edge: (u, u + 1) });
    let rings: Vec<ActiveEdge> = (0..30).flat_map(|_| sweep.clone()).collect();
    let gossip = AcceleratedGossip::given(&path, rings, 0.0, Momentum { mixing: 0.05, push: 1.0 })?;
    assert_all_lost(&gossip.coalition_loss(&[29])?)
}

#[test]
fn almost_no_mixing_is_mixing() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?).lazy(1.0 - 1e-10)?;
    let fresh = FreshNoiseGossip::new(matrix.clone(), vec![1.0, 0.0, 1.0])?;
    assert_exact(&fresh.coalition_loss(&[2])?, &[(0, 1.0)])?;
    let clean = NoisyMessageGossip::new(matrix.clone(), 3, 0.0, MessageNoise::Broadcast)?;
    assert_all_lost(&clean.coalition_loss(&[2])?)?;
    assert_all_lost(&exact_loss((&matrix, 3), &[2], default())?)
}

#[test]
fn combs_with_silent_rounds_tell_everything() -> Result<(), Error> {
    let matrix = GossipMatrix::new(&comb(10)?, Weights::SumDegree)?;
    let variances = (0..20).map(|t| match t {
        0 => 1.0,
        19 => 0.25,
        _ => 0.0,
    });
    let fresh = FreshNoiseGossip::new(matrix, variances.collect())?;
    let report = fresh.coalition_loss(&[19])?;
    assert_exact(&report, &(0..19).map(|u| (u, 1.0)).collect::<Vec<_>>())
}

#[test]
fn own_noise_unknown_stays_unknown() -> Result<(), Error> {
    let star = GossipMatrix::metropolis(&generators::star_graph(2)?);
    let mut fresh = FreshNoiseGossip::new(star, vec![1.0, 0.0, 0.0])?;
    assert_exact(&fresh.coalition_loss(&[1])?, &[(2, 1.0)])?;
    fresh.own_noise = OwnNoise::Unknown;
    let unknown = fresh;
    assert_exact(&unknown.coalition_loss(&[1])?, &[(2, 0.5)])?;
    assert_exact(&loss::exact_loss(&unknown.coalition_view(&[1])?)?, &[(2, 0.5)])
}

/// A sequence made to defeat the primes `2^31 - 1` and `2^31 - 19` together.
#[test]
fn a_sequence_that_fixed_primes_get_wrong() -> Result<(), Error> {
    let lists: [&[(usize, usize)]; 5] = [
        &[(4, 5), (0, 1), (0, 2), (0, 4), (1, 3), (2, 3), (2, 4), (3, 4)],
        &[(4, 5), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)],
        &[(4, 5), (0, 1), (0, 4), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)],
        &[(4, 5), (1, 3), (2, 3), (3, 4)],
        &[(4, 5)],
    ];
    let step = |(k, edges): (usize, &&[(usize, usize)])| -> Result<Step, Error> {
        let matrix = GossipMatrix::metropolis(&Graph::from_edges(6, edges.iter().copied())?);
        Ok(Step::Matrix(if k < 4 { matrix.lazy(0.553_667_112_453_597_2)? } else { matrix }))
    };
    let steps = lists.iter().enumerate().map(step).collect::<Result<_, _>>()?;
    let sequence = GossipSequence::new(6, steps)?;
    let report = exact_loss(&sequence, &[5], default())?;
    assert_eq!(report.rank, 6);
    assert_all_lost(&report)?;
    assert_eq!(report.mean().grade(), Grade::Exact);
    assert_abs_diff_eq!(*report.mean().value(), 5.0 / 6.0, epsilon = 1e-15);
    let means = mean_loss_by_step(&sequence, 5)?;
    assert_abs_diff_eq!(*means.by_step[4].value(), 5.0 / 6.0, epsilon = 1e-15);
    assert_eq!(means.failure, 0.0);
    Ok(())
}

/// Long thin graphs of up to 80 nodes with as many rounds: where the rank, proven modulo a prime, is full,
/// everybody loses everything, by every engine.
#[test]
fn long_thin_graphs_tell_everything_at_full_rank() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(80);
    for n in [40, 60, 80] {
        let path = generators::path_graph(n)?;
        let lazy = GossipMatrix::metropolis(&path).lazy(1.0 - 1e-10)?;
        assert_all_lost(&exact_loss((&lazy, n), &[n - 1], default())?)?;
        for back in [3, 8] {
            let parents: Vec<(usize, usize)> =
                (1..n).map(|v| (v - rng.random_range(1..=back.min(v)), v)).collect();
            let tree = GossipMatrix::metropolis(&Graph::from_edges(n, parents)?);
            let report = exact_loss((&tree, n), &[n - 1], default())?;
            assert_eq!(report.loss.grade(), Grade::Exact);
            let sum: f64 = report.loss.value().unit.iter().sum();
            // Losses add up to the rank.
            assert!((sum - report.rank as f64).abs() < 1e-7 && report.bits <= 512, "{sum}, {}", report.bits);
        }
    }
    // Changing matrices have no directions to propagate: rows are taken as they are, with more bits.
    let sequence = GossipSequence::constant(&GossipMatrix::metropolis(&generators::path_graph(40)?), 39);
    let report = exact_loss(&sequence, &[39], default())?;
    assert_all_lost(&report)?;
    let tooth = GossipSequence::constant(&GossipMatrix::metropolis(&comb(12)?), 24);
    let report = exact_loss(&tooth, &[23], default())?;
    let fixed = exact_loss((&GossipMatrix::metropolis(&comb(12)?), 24), &[23], default())?;
    assert_eq!((report.rank, report.loss.grade()), (fixed.rank, Grade::Exact));
    Ok(())
}

/// Losses far outside the range of `f64` are refused or rounded to its ends, never to 0 or infinity without a
/// word.
#[test]
fn extreme_views_stay_honest() -> Result<(), Error> {
    let one =
        |inputs: Array2<f64>, noises: Array2<f64>| loss::exact_loss(&View::new(&[0], inputs, noises, &[])?);
    let large = one(array![[0.0, 1e200]], array![[1e-200]]);
    assert_eq!(large, Err(Error::Certify(ndp_certify::Error::LossTooLarge(1))));
    let small = one(array![[0.0, 1e-200]], array![[1e200]])?;
    assert!(small.unit(1)?.value().get() > 0.0 && small.lower[1] == 0.0);
    let thousand = one(array![[0.0, 1e30]], array![[1.0]])?;
    let (low, high) = thousand.enclosure(1)?;
    assert!(low <= 1e60 && 1e60 <= high && high / low < 1.0 + 1e-9);
    assert_eq!(thousand.loss.grade(), Grade::Exact);
    // Too little memory, too few bits: an error, or what is known without numerics.
    let matrix = GossipMatrix::metropolis(&comb(10)?);
    let rough = ExactOptions { precision_limit: 64, ..default() };
    let report = exact_loss((&matrix, 9), &[19], rough)?;
    assert_eq!(report.loss.grade(), Grade::UpperBound);
    assert!(report.loss.value().unit.iter().all(|&unit| unit == 1.0 || unit == 0.0));
    let tight = ExactOptions { memory_limit: 1000, ..default() };
    assert!(matches!(
        exact_loss((&matrix, 5), &[3, 4], tight),
        Err(Error::Certify(ndp_certify::Error::TooLarge { .. }))
    ));
    Ok(())
}

/// Attacks read the numbers of a view, accounts its exact rows.
#[test]
fn views_of_sequences_carry_exact_rows() -> Result<(), Error> {
    let path = generators::path_graph(12)?;
    let edges: Vec<(usize, usize)> = (0..6).flat_map(|_| (0..11).map(|u| (u, u + 1))).collect();
    let protocol = SequenceGossip::from(GossipSequence::given_activations(&path, &edges)?);
    for coalition in [vec![11], vec![0, 5]] {
        let report = protocol.coalition_loss(&coalition)?;
        let mut of_view = loss::exact_loss(&protocol.coalition_view(&coalition)?)?;
        of_view.by = report.by;
        assert_eq!(of_view, report);
    }
    Ok(())
}

/// Found by the search: equal neighborhoods are no symmetry where weights are given, a view of which no noise
/// is left leaks, and a coalition of everybody has nobody left to learn about.
#[test]
fn what_the_search_found_in_the_certified_core() -> Result<(), Error> {
    let star = generators::star_graph(2)?;
    let weights = |_, v| if v == 1 { 0.399_771_957_284_086_2 } else { 0.310_389_399_875_677_04 };
    let matrix = GossipMatrix::from_edge_weights(&star, weights)?;
    let unknown = ExactOptions { own_noise: OwnNoise::Unknown, ..default() };
    assert_exact(&exact_loss((&matrix, 2), &[2], unknown)?, &[(1, 0.623_899_588_465_552_2)])?;
    let silent = View::new(&[1], array![[1.0, 1.0]], array![[0.0]], &[])?;
    assert_eq!(loss::exact_loss(&silent), Err(Error::Certify(ndp_certify::Error::NoiselessView(0))));
    let own = View::new(&[1], array![[0.0, 1.0]], array![[0.0]], &[])?;
    assert_eq!(loss::exact_loss(&own)?.rank, 0);
    let all = FreshNoiseGossip::new(GossipMatrix::metropolis(&star), vec![1.0, 0.5])?;
    assert_eq!(all.coalition_loss(&[0, 1, 2])?.rank, 6);
    Ok(())
}
