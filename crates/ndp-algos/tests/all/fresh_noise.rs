//! Gossip with fresh noise: reference values, the stacked system, simulation, optimal schedules.

use approx::assert_relative_eq;
use ndarray::{Array2, Axis};
use ndp_account::{Error, LinearProtocol, OwnNoise, loss};
use ndp_algos::gossip;
use ndp_algos::gossip::GossipProtocol;
use ndp_algos::gossip::fresh::{FreshNoiseGossip, flat_variances, optimize};
use ndp_dp::{Grade, Sigma};
use ndp_graph::{GossipMatrix, Graph, generators};
use ndp_program::design::{DesignStopping, Limit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn constant(graph: &Graph, rounds: usize, tau2: f64) -> Result<FreshNoiseGossip, Error> {
    let variances = (0..rounds).map(|t| if t == 0 { 1.0 } else { tau2 }).collect();
    FreshNoiseGossip::new(GossipMatrix::metropolis(graph), variances)
}

fn star5() -> Result<Graph, ndp_graph::Error> {
    generators::star_graph(4)
}

/// Graph, observer, rounds, source, then for `τ² = .01, .1, 1` the loss with own noise known and
/// unknown.
type Row = (Graph, usize, usize, usize, [(f64, f64); 3]);

/// The reference table: fractions where the value is rational, 15 digits otherwise.
fn reference() -> Result<Vec<Row>, ndp_graph::Error> {
    let path = generators::path_graph;
    let ring = generators::cycle_graph(8)?;
    let cube = generators::hypercube_graph(3)?;
    Ok(vec![
        (
            path(3)?,
            2,
            2,
            0,
            [
                (100.0 / 109.0, 0.478_468_899_521_531),
                (10.0 / 19.0, 0.344_827_586_206_897),
                (0.1, 0.090_909_090_909_090_9),
            ],
        ),
        (
            path(4)?,
            3,
            3,
            0,
            [
                (0.504_396_112_910_690, 0.372_608_796_420_103),
                (0.095_477_386_934_673_4, 0.078_146_052_277_014_3),
                (0.010_881_392_818_280_7, 0.009_598_603_839_441_54),
            ],
        ),
        (
            path(4)?,
            3,
            3,
            1,
            [
                (1990.0 / 2161.0, 0.549_107_699_987_520),
                (109.0 / 199.0, 0.344_920_506_601_994),
                (100.0 / 919.0, 0.095_986_038_394_415_4),
            ],
        ),
        (
            ring.clone(),
            0,
            4,
            3,
            [
                (0.572_307_225_795_995, 0.548_224_692_357_781),
                (0.125_675_478_961_471, 0.114_346_394_622_532),
                (0.015_028_740_422_036_8, 0.013_463_581_492_991_4),
            ],
        ),
        (
            ring,
            0,
            4,
            4,
            [
                (4_322_000.0 / 26_029_451.0, 0.140_112_721_785_125),
                // By rational arithmetic; a table of references gives .0188383591833555.
                (39_800.0 / 1_776_701.0, 19_488.0 / 1_034_485.0),
                (919.0 / 384_058.0, 0.001_981_253_042_373_59),
            ],
        ),
        (
            star5()?,
            1,
            3,
            2,
            [
                (44.0 / 139.0, 0.240_320_427_236_315),
                (22.0 / 101.0, 0.178_217_821_782_178),
                (11.0 / 208.0, 0.049_723_756_906_077_3),
            ],
        ),
        (
            cube.clone(),
            0,
            4,
            3,
            [
                (0.900_198_815_689_893, 0.792_483_538_337_829),
                (0.508_445_178_133_460, 0.427_395_982_286_808),
                (0.112_855_351_900_118, 0.102_949_899_532_892),
            ],
        ),
        (
            cube,
            0,
            4,
            7,
            [
                (196_875.0 / 244_351.0, 0.778_814_113_195_793),
                (10_575.0 / 35_599.0, 0.266_783_858_716_446),
                (1503.0 / 35_647.0, 0.036_183_650_621_096_9),
            ],
        ),
    ])
}

#[test]
fn losses_match_the_reference_table() -> Result<(), Error> {
    for (graph, v, rounds, u, values) in reference()? {
        for (tau2, (known, unknown)) in [0.01, 0.1, 1.0].into_iter().zip(values) {
            let mut protocol = constant(&graph, rounds, tau2)?;
            let report = protocol.coalition_loss(&[v])?;
            assert_eq!(report.loss.grade(), Grade::Exact);
            assert_relative_eq!(report.unit(u)?.value().get(), known, max_relative = 1e-12);
            protocol.own_noise = OwnNoise::Unknown;
            let report = protocol.coalition_loss(&[v])?;
            assert_relative_eq!(report.unit(u)?.value().get(), unknown, max_relative = 1e-11);
        }
    }
    let ring = constant(&generators::cycle_graph(8)?, 2, 0.1)?;
    assert_relative_eq!(
        ring.coalition_loss(&[0, 4])?.unit(2)?.value().get(),
        20.0 / 29.0,
        max_relative = 1e-12
    );
    Ok(())
}

fn random_graph(rng: &mut ChaCha8Rng) -> Result<Graph, Error> {
    let n = rng.random_range(3..9usize);
    let tree: Vec<(usize, usize)> = (1..n).map(|b| (rng.random_range(0..b), b)).collect();
    let mut extra = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            if !tree.contains(&(a, b)) && rng.random_bool(0.25) {
                extra.push((a, b));
            }
        }
    }
    Ok(Graph::from_edges(n, tree.into_iter().chain(extra))?)
}

/// The filter against the view with every noise source written out, coalitions included; and
/// the laws: neighbors 1, far nodes 0, more noise or less knowledge never costs more.
#[test]
fn the_filter_agrees_with_the_stacked_system() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..150 {
        let graph = random_graph(&mut rng)?;
        let n = graph.node_count();
        let rounds = rng.random_range(1..6);
        let variances: Vec<f64> = (0..rounds).map(|_| rng.random_range(0.02..2.0)).collect();
        let v = rng.random_range(0..n);
        let coalition = if rng.random_bool(0.3) { vec![v, (v + 1) % n] } else { vec![v] };
        let protocol = FreshNoiseGossip::new(GossipMatrix::metropolis(&graph), variances.clone())?;
        let filter = protocol.coalition_loss(&coalition)?;
        let stacked = loss::exact_loss(&protocol.coalition_view(&coalition)?)?;
        let mut unknown = protocol.clone();
        unknown.own_noise = OwnNoise::Unknown;
        let unknown = unknown.coalition_loss(&coalition)?;
        let plain = gossip::exact_loss((&protocol.matrix, rounds), &coalition, Default::default())?;
        let more = variances.iter().map(|s| 1.5 * s).collect();
        let louder = FreshNoiseGossip::new(protocol.matrix.clone(), more)?;
        let louder = louder.coalition_loss(&coalition)?;
        for u in (0..n).filter(|u| !coalition.contains(u)) {
            let unit = filter.unit(u)?.value().get();
            assert!(
                (unit - stacked.unit(u)?.value().get()).abs() < 1e-10,
                "{unit} is not {:?}",
                stacked.unit(u)?
            );
            assert!(unknown.unit(u)?.value().get() <= unit + 1e-10);
            assert!(unit <= plain.unit(u)?.value().get() + 1e-9);
            // Scaling every variance leaves the fraction of the (smaller) local loss unchanged.
            assert!((louder.unit(u)?.value().get() - unit).abs() < 1e-10);
            let hops = coalition.iter().filter_map(|&c| graph.distances(c)[u]).min().unwrap_or(u32::MAX);
            if hops == 1 {
                assert_eq!(unit, 1.0);
            }
            if hops as usize > rounds {
                assert_eq!(unit, 0.0);
            }
        }
    }
    Ok(())
}

#[test]
fn one_shot_noise_is_plain_gossip() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?);
    let report = FreshNoiseGossip::new(matrix, vec![4.0, 0.0])?.coalition_loss(&[2])?;
    assert_eq!(report.unit(0)?.value().get(), 1.0);
    Ok(())
}

/// The pairs `(u, v)` in which `u` is at least so many hops from `v`.
fn far(graph: &Graph, hops: u32, v: usize) -> Vec<(usize, usize)> {
    let distances = graph.distances(v);
    (0..graph.node_count()).filter(|&u| distances[u].is_some_and(|d| d >= hops)).map(|u| (u, v)).collect()
}

/// `m_t = ‖W^{T-t}‖_F² / n`, what a unit of variance in round `t` adds to the mean squared error, by dense
/// powers.
fn error_weights(matrix: &GossipMatrix, rounds: usize) -> Result<Vec<f64>, Error> {
    let dense = matrix.to_dense()?;
    let powers = std::iter::successors(Some(dense.clone()), |power| Some(power.dot(&dense))).take(rounds);
    let mut weights: Vec<f64> =
        powers.map(|power| power.iter().map(|x| x * x).sum::<f64>() / dense.nrows() as f64).collect();
    weights.reverse();
    Ok(weights)
}

/// The share of each round in the error of the output: constant inputs have no bias.
#[test]
fn errors_of_rounds_match_the_references() -> Result<(), Error> {
    let check = |graph: Graph, expected: &[f64]| -> Result<(), Error> {
        let (matrix, n, rounds) = (GossipMatrix::metropolis(&graph), graph.node_count(), expected.len());
        let weights = error_weights(&matrix, rounds)?;
        for (t, (weight, expected)) in weights.iter().zip(expected).enumerate() {
            assert_relative_eq!(*weight, *expected, max_relative = 1e-12);
            let schedule: Vec<f64> = (0..rounds)
                .map(|r| {
                    if r == t {
                        2.0
                    } else if r == 0 {
                        1.0
                    } else {
                        0.0
                    }
                })
                .collect();
            let first = Sigma::new(schedule[0].sqrt())?;
            let gossip = FreshNoiseGossip::new(matrix.clone(), schedule)?;
            let error = gossip.mean_squared_error(Array2::ones((n, 1)).view(), first)?.into_value();
            let others = if t == 0 { 0.0 } else { weights[0] };
            assert_relative_eq!(error, 2.0 * expected + others, max_relative = 1e-12);
        }
        Ok(())
    };
    check(generators::path_graph(3)?, &[97.0 / 243.0, 13.0 / 27.0])?;
    check(
        generators::cycle_graph(8)?,
        &[0.169_029_111_415_943, 0.193_415_637_860_082, 0.234_567_901_234_568, 1.0 / 3.0],
    )?;
    check(generators::hypercube_graph(3)?, &[0.126_953_125, 0.132_812_5, 0.156_25, 0.25])
}

/// Simulated mean squared error against the exact formula, within 4 standard errors.
#[test]
fn simulated_error_is_the_exact_one() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::grid_2d_graph(3, 3)?);
    let protocol = FreshNoiseGossip::new(matrix, vec![0.5, 0.2, 0.0, 0.1])?;
    let values = Array2::from_shape_fn((9, 2), |(v, j)| (v * (j + 1)) as f64 / 4.0);
    let sigma = Sigma::new(0.5f64.sqrt())?;
    let exact = protocol.mean_squared_error(values.view(), sigma)?.into_value();
    let mean = values.mean_axis(Axis(0)).expect("nine rows");
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let runs = 20_000;
    let mut errors = Vec::with_capacity(runs);
    for _ in 0..runs {
        let output = protocol.run(values.view(), sigma, &mut rng)?.output;
        errors.push((output - &mean).mapv(|x| x * x).sum() / 9.0);
    }
    let average = errors.iter().sum::<f64>() / runs as f64;
    let variance = errors.iter().map(|e| (e - average).powi(2)).sum::<f64>() / runs as f64;
    assert!((average - exact).abs() < 4.0 * (variance / runs as f64).sqrt(), "{average} is not {exact}");
    Ok(())
}

/// What a run sends is what the view says, noise by noise.
#[test]
fn transcripts_follow_the_view() -> Result<(), Error> {
    let graph = generators::cycle_graph(5)?;
    let variances = vec![1.0, 0.3, 0.2];
    let protocol = FreshNoiseGossip::new(GossipMatrix::metropolis(&graph), variances.clone())?;
    let values = Array2::from_shape_fn((5, 1), |(v, _)| v as f64);
    let run = protocol.run(values.view(), Sigma::new(1.0)?, &mut ChaCha8Rng::seed_from_u64(9))?;
    let view = protocol.coalition_view(&[1])?;
    // Noise columns are in units of τ_0 = 1: strength is in the coefficient.
    let mut noises = run.noise.clone();
    for (noise, s) in run.later_noises.iter().zip(&variances[1..]) {
        noises.append(Axis(0), (noise / s.sqrt()).view()).expect("one column each");
    }
    let expected = view.inputs().dot(&values) + view.noises().dot(&noises);
    let rng = &mut ChaCha8Rng::seed_from_u64(9);
    let received = protocol.observe(values.view(), Sigma::new(1.0)?, &[1], rng)?.received;
    assert!((expected - received).iter().all(|x| x.abs() < 1e-12));
    Ok(())
}

/// Reference optima for the mean over all pairs of one observer at error 1, no floor. By
/// homogeneity the product of loss and error is the same at any target.
#[test]
fn optimal_schedules_match_the_references() -> Result<(), Error> {
    type Case = (Graph, usize, usize, f64, &'static [f64], [f64; 2]);
    let cases: [Case; 3] = [
        (
            generators::path_graph(3)?,
            2,
            2,
            (97.0 + 2.0 * 1092f64.sqrt()) / 486.0,
            &[2.076_117_059_365_54, 0.355_697_822_577_290],
            [0.399_176_954_732_510, 0.341_379_683_776_845],
        ),
        (
            generators::cycle_graph(8)?,
            0,
            4,
            0.107_840_597_132_704,
            &[4.507_945_855_91, 0.767_013_561_663, 0.209_315_661_139, 0.121_724_295_177],
            [0.169_029_111_415_943, 0.117_147_814_474_268],
        ),
        (
            generators::hypercube_graph(4)?,
            0,
            5,
            0.037_314_361_974_936_1,
            &[],
            [0.055_804_347_733_333_4, 0.044_208_172_567_194_2],
        ),
    ];
    for (graph, v, rounds, value, schedule, [one_shot, flat]) in cases {
        let matrix = GossipMatrix::metropolis(&graph);
        let pairs = far(&graph, 1, v);
        let stopping = DesignStopping { tolerance: 1e-10, steps: 20_000 };
        let found = optimize(&matrix, rounds, &pairs, Limit::Mean(value), 0.0, stopping)?;
        assert_relative_eq!(found.error, 1.0, max_relative = 1e-8);
        assert!(found.error_lower_bound <= 1.0 + 1e-9 && found.error_lower_bound > 1.0 - 1e-8);
        assert!(*found.loss.value() <= value * (1.0 + 1e-12));
        for (got, expected) in found.variances.iter().zip(schedule) {
            assert_relative_eq!(*got, *expected, max_relative = 1e-4);
        }
        // What the same error buys with all noise in round 0, and with a tenth of it spread evenly.
        let weights = error_weights(&matrix, rounds)?;
        for (rho, expected) in [(0.0, one_shot), (0.1, flat)] {
            let schedule = flat_variances(rounds, rho)?;
            let error: f64 = weights.iter().zip(&schedule).map(|(m, s)| m * s).sum();
            let report = FreshNoiseGossip::new(matrix.clone(), schedule)?.coalition_loss(&[v])?;
            let n = graph.node_count() as f64;
            let mean = report.mean().value() * n / (n - 1.0) * error;
            assert_relative_eq!(mean, expected, max_relative = 1e-10);
            assert!(mean > value);
        }
    }
    Ok(())
}

/// With a floor and a worst pair, the certificate encloses every schedule we can think of.
#[test]
fn certificates_hold_against_other_schedules() -> Result<(), Error> {
    let graph = generators::cycle_graph(10)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let rounds = 5;
    let pairs = far(&graph, 2, 0);
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    for limit in [Limit::Mean(0.2), Limit::Worst(0.2)] {
        let found = optimize(&matrix, rounds, &pairs, limit, 1.0, DesignStopping::default())?;
        assert!(found.error_lower_bound <= found.error * (1.0 + 1e-12));
        assert!(found.error <= 1.02 * found.error_lower_bound, "{found:?}");
        assert!(found.variances[0] >= 1.0 - 1e-12);
        let loss_of = |variances: &[f64]| -> Result<f64, Error> {
            let report = FreshNoiseGossip::new(matrix.clone(), variances.to_vec())?.coalition_loss(&[0])?;
            let units: Vec<f64> = (2..9)
                .map(|u| Ok(report.unit(u)?.value().get() / variances[0]))
                .collect::<Result<_, Error>>()?;
            Ok(match limit {
                Limit::Mean(_) => units.iter().sum::<f64>() / 7.0,
                Limit::Worst(_) => units.iter().copied().fold(0.0, f64::max),
            })
        };
        assert!(loss_of(&found.variances)? <= 0.2 * (1.0 + 1e-9));
        let weights = error_weights(&matrix, rounds)?;
        for _ in 0..200 {
            let guess: Vec<f64> = (0..rounds).map(|_| 10f64.powf(rng.random_range(-2.0..1.0))).collect();
            let scale = (loss_of(&guess)? / 0.2).max(1.0 / guess[0]);
            let error: f64 = weights.iter().zip(&guess).map(|(m, s)| m * s * scale).sum();
            assert!(
                error >= found.error_lower_bound * (1.0 - 1e-9),
                "{error} beats the lower bound of {found:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    for bad in [vec![], vec![0.0], vec![1.0, -0.1], vec![f64::NAN], vec![1.0, f64::INFINITY]] {
        let matrix = GossipMatrix::metropolis(&generators::path_graph(4)?);
        assert!(matches!(FreshNoiseGossip::new(matrix, bad), Err(Error::InvalidParameter { .. })));
    }
    let sigma = Sigma::new(1.0)?;
    for (rounds, share, refused) in [
        (3, f64::NAN, "the share of later noise"),
        (1, -1.0, "the share of later noise"),
        (0, 0.0, "the number of rounds"),
    ] {
        let found = flat_variances(rounds, share);
        assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused));
    }
    let graph = generators::path_graph(4)?;
    let protocol = constant(&graph, 2, 0.1)?;
    assert_eq!(protocol.coalition_loss(&[4]).map(|_| ()), Err(Error::NodeOutOfRange { node: 4, nodes: 4 }));
    assert_eq!(protocol.coalition_loss(&[]).map(|_| ()), Err(Error::EmptyCoalition));
    assert_eq!(protocol.coalition_loss(&[1, 1]).map(|_| ()), Err(Error::RepeatedMember(1)));
    let empty = protocol.run(Array2::zeros((4, 0)).view(), sigma, &mut ChaCha8Rng::seed_from_u64(1));
    assert!(matches!(empty, Err(Error::Shape { expected: 1, got: 0, .. })));
    let pairs = far(&graph, 2, 0);
    let matrix = &protocol.matrix;
    let refused = |pairs: &[(usize, usize)]| {
        optimize(matrix, 2, pairs, Limit::Mean(0.1), 1.0, DesignStopping::default()).unwrap_err()
    };
    assert!(matches!(refused(&[]), Error::InvalidParameter { .. }));
    assert_eq!(refused(&[(2, 0), (0, 4)]), Error::NodeOutOfRange { node: 4, nodes: 4 });
    assert_eq!(refused(&[(2, 0), (3, 3)]), Error::SourceIsObserver(3));
    for (rounds, target, floor, refused) in [
        (2, 0.0, 1.0, "the target loss"),
        (2, f64::NAN, 1.0, "the target loss"),
        (2, 0.1, -1.0, "the floor of the first variance"),
        (2, 0.1, f64::NAN, "the floor of the first variance"),
        (0, 0.1, 1.0, "the number of rounds"),
    ] {
        let found = optimize(matrix, rounds, &pairs, Limit::Mean(target), floor, DesignStopping::default());
        assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused));
    }
    Ok(())
}
