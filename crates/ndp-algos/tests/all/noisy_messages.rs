//! Gossip with noise on messages: references, the stacked system, simulation and attack.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, Axis, concatenate};
use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Error, LinearProtocol, LossReport, Observer, OwnNoise, Protocol, View, loss};
use ndp_algos::gossip::{GossipProtocol, MessageNoise, NoisyMessageGossip, exact_loss};
use ndp_dp::{Grade, Measure, Sensitivity, Sigma, Verdict};
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, Graph, generators};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Those that protect against nodes.
const KINDS: [MessageNoise; 2] = [MessageNoise::Broadcast, MessageNoise::PerLink];

fn gossip(graph: &Graph, rounds: usize, ratio: f64, kind: MessageNoise) -> Result<NoisyMessageGossip, Error> {
    NoisyMessageGossip::new(GossipMatrix::metropolis(graph), rounds, ratio, kind)
}

/// A listener with a noisy copy of all that is sent to `v` in clean gossip, who knows the noise of `v` and
/// nothing that `v` holds: the formula `e_uᵀ Aᵀ (A Aᵀ + (s/σ)² R)⁻¹ A e_u` is exact for it.
fn formula(graph: &Graph, rounds: usize, ratio: f64, v: usize) -> Result<LossReport, Error> {
    let (n, matrix) = (graph.node_count(), GossipMatrix::metropolis(graph).to_dense()?);
    let senders: Vec<usize> = graph.neighbors(v).iter().map(|&w| w as usize).collect();
    let rows = rounds * senders.len();
    let (mut inputs, mut noises) = (Array2::zeros((rows, n)), Array2::zeros((rows, n + rows)));
    let mut power = Array2::<f64>::eye(n);
    for t in 0..rounds {
        for (k, &w) in senders.iter().enumerate() {
            let row = t * senders.len() + k;
            inputs.row_mut(row).assign(&power.row(w));
            noises.slice_mut(ndarray::s![row, ..n]).assign(&power.row(w));
            noises[(row, n + row)] = ratio;
        }
        power = matrix.dot(&power);
    }
    loss::exact_loss(&View::new(&[v], inputs, noises, &[v])?)
}

/// The formula is below the truth where the noise is averaged in: 0.530 against 10900/20179.
#[test]
fn adding_noise_to_clean_messages_is_no_bound() -> Result<(), Error> {
    let graph = Graph::from_edges(4, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)])?;
    let listener = formula(&graph, 2, 0.3, 1)?.unit(3)?.value().get();
    assert_relative_eq!(listener, 0.530_465_252_092_661, max_relative = 1e-12);
    let truth = gossip(&graph, 2, 0.3, MessageNoise::Broadcast)?.coalition_loss(&[1])?;
    assert_eq!(truth.loss.grade(), Grade::Exact);
    assert_relative_eq!(truth.unit(3)?.value().get(), 10_900.0 / 20_179.0, max_relative = 1e-13);
    // By the same elimination in fractions, a noise for every link.
    let links = gossip(&graph, 2, 0.3, MessageNoise::PerLink)?.coalition_loss(&[1])?.unit(3)?.value().get();
    assert_relative_eq!(links, 10_900.0 / 21_529.0, max_relative = 1e-13);
    Ok(())
}

#[test]
fn a_listener_on_the_path() -> Result<(), Error> {
    let path = generators::path_graph(3)?;
    for (ratio, expected) in [(0.01, 0.999_001), (0.1, 0.909_173), (1.0, 0.095_238_1)] {
        assert_abs_diff_eq!(formula(&path, 2, ratio, 2)?.unit(0)?.value().get(), expected, epsilon = 6e-7);
    }
    Ok(())
}

/// Without edges nobody hears anything, and the view has no rows and no noises of messages.
#[test]
fn a_graph_without_edges_has_an_empty_view() -> Result<(), Error> {
    let alone = Graph::from_edges(3, [])?;
    for kind in KINDS {
        let quiet = gossip(&alone, 4, 1.0, kind)?;
        let view = quiet.coalition_view(&[1])?;
        assert_eq!((view.inputs().dim(), view.noises().nrows()), ((0, 3), 0), "{kind:?}");
        assert_eq!(quiet.coalition_loss(&[1])?.loss.value().unit, [0.0, 1.0, 0.0], "{kind:?}");
    }
    Ok(())
}

/// Noise on what is overheard hides nothing from a node: what it holds after a round is made of clean
/// messages. An outsider who taps the only edge of two nodes learns `1 / (1 + r²)` in one round.
#[test]
fn noise_on_the_line_protects_against_outsiders_alone() -> Result<(), Error> {
    let pair = generators::path_graph(2)?;
    let quiet = gossip(&pair, 1, 1e3, MessageNoise::Overheard)?;
    let refused = |result: Result<(), Error>| matches!(result, Err(Error::NotOffered(_)));
    assert!(refused(quiet.coalition_loss(&[0]).map(drop)));
    assert!(refused(quiet.coalition_view(&[0]).map(drop)));
    assert!(refused(quiet.account(&Observer::node(0)).map(drop)));
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    assert!(refused(quiet.observe(Array2::zeros((2, 1)).view(), Sigma::new(1.0)?, &[0], rng).map(drop)));
    // Everything, towards the node: the state of node 0 after a round is (x_0 + x_1)/2, and it knows its own
    // part.
    let matrix = GossipMatrix::metropolis(&pair);
    assert_eq!(exact_loss((&matrix, 1), &[0], Default::default())?.unit(1)?.value().get(), 1.0);

    let outsider = quiet.overheard_loss(&[(1, 0)])?;
    let truth = 1.0 / (1.0 + 1e6);
    let (low, high) = outsider.enclosure(1)?;
    assert!(low <= truth && truth <= high && high - low < 1e-12, "[{low}, {high}]");
    assert_eq!((outsider.enclosure(0)?, outsider.loss.grade()), ((0.0, 0.0), Grade::Exact));
    let account = quiet.account(&Observer::outsider().tapping(&[(1, 0)]))?;
    let mu = account.profile(1, Sigma::new(2.0)?.multiplier(Sensitivity::new(1.0)?)?)?.mu();
    assert!(mu.is_some_and(|mu| (mu.value().mu() - truth.sqrt() / 2.0).abs() < 1e-12));
    assert!(matches!(quiet.overheard_loss(&[(0, 0)]), Err(Error::Graph(ndp_graph::Error::NotAnEdge(0, 0)))));
    assert!(matches!(quiet.overheard_loss(&[(0, 2)]), Err(Error::Graph(ndp_graph::Error::NotAnEdge(0, 2)))));
    Ok(())
}

/// What an outsider hears on tapped edges, against the same rows written down by hand for a node that takes
/// no part.
#[test]
fn an_outsider_hears_what_goes_over_the_edges() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for trial in 0..60 {
        let n = rng.random_range(3..7usize);
        let tree: Vec<(usize, usize)> = (1..n).map(|b| (rng.random_range(0..b), b)).collect();
        let graph = Graph::from_edges(n, tree)?;
        let (rounds, ratio) = (rng.random_range(1..4usize), 10f64.powf(rng.random_range(-1.0..1.0)));
        let ways: Vec<(usize, usize)> = graph.edges().flat_map(|(u, v)| [(u, v), (v, u)]).collect();
        let tapped: Vec<(usize, usize)> = ways.iter().copied().filter(|_| rng.random_bool(0.4)).collect();
        let kind = [MessageNoise::Broadcast, MessageNoise::PerLink, MessageNoise::Overheard][trial % 3];
        let protocol = gossip(&graph, rounds, ratio, kind)?;
        let report = protocol.overheard_loss(&tapped)?;
        if tapped.is_empty() {
            assert!((0..n).all(|u| report.enclosure(u) == Ok((0.0, 0.0))));
            continue;
        }
        // Columns: the noises of the values, then those of a round, one for every way.
        let matrix = GossipMatrix::metropolis(&graph).to_dense()?;
        let number = |w: usize, a: usize| match kind {
            MessageNoise::PerLink => ways.iter().position(|&way| way == (w, a)).expect("an edge"),
            _ => w,
        };
        let per_round = ways.len().max(n);
        let width = n + rounds * per_round;
        let mut states = Array2::<f64>::zeros((n, width));
        (0..n).for_each(|u| states[(u, u)] = 1.0);
        let mut rows = Array2::zeros((0, width));
        for t in 0..rounds {
            let first = n + t * per_round;
            for &(w, a) in &tapped {
                let mut row = states.row(w).to_owned();
                row[first + number(w, a)] += ratio;
                rows.push_row(row.view()).expect("as wide");
            }
            let mut next = matrix.dot(&states);
            if kind != MessageNoise::Overheard {
                ways.iter().for_each(|&(w, a)| next[(a, first + number(w, a))] += ratio * matrix[(a, w)]);
            }
            states = next;
        }
        // Node n watches and has no value.
        let mut inputs = Array2::zeros((rows.nrows(), n + 1));
        inputs.slice_mut(ndarray::s![.., ..n]).assign(&rows.slice(ndarray::s![.., ..n]));
        // A message that is heard twice counts once; rows that are equal up to rounding would not.
        let mut kept: Vec<usize> = Vec::new();
        for k in 0..rows.nrows() {
            if kept.iter().all(|&j| rows.row(j) != rows.row(k)) {
                kept.push(k);
            }
        }
        let (inputs, noises) = (inputs.select(Axis(0), &kept), rows.select(Axis(0), &kept));
        let written = loss::exact_loss(&View::new(&[n], inputs, noises, &[])?)?;
        for u in 0..n {
            assert_abs_diff_eq!(
                report.unit(u)?.value().get(),
                written.unit(u)?.value().get(),
                epsilon = 1e-8
            );
        }
    }
    Ok(())
}

/// Ratios whose square is no number: next to nothing is learned, and it is said so. By hand, on a path:
/// node 2 hears `x_1 + r z` and, a round later, `(x_0 + x_1 + x_2)/3` with noises of more than `r/3`.
#[test]
fn enormous_noise_hides_everything() -> Result<(), Error> {
    let path = generators::path_graph(3)?;
    for kind in KINDS {
        for ratio in [200.0, 1e10, 1e153, 1.3e154, 1e155, 1e200, 1e300, f64::MAX] {
            let protocol = gossip(&path, 3, ratio, kind)?;
            let report = protocol.coalition_loss(&[2])?;
            assert_eq!(report.loss.grade(), Grade::Exact, "{ratio:e}");
            // Of four messages none tells more than 1/r² local losses.
            for u in [0, 1] {
                let (low, high) = report.enclosure(u)?;
                let most = 4.0 / ratio / ratio;
                assert!(low <= most && 0.0 < high && high <= 4e-4, "{kind:?} {ratio:e}: [{low:e}, {high:e}]");
                assert!(high <= most.max(1e-9), "{kind:?} {ratio:e}: {high:e}");
            }
            let first = gossip(&path, 1, ratio, kind)?.coalition_loss(&[2])?;
            let (low, high) = first.enclosure(1)?;
            let truth = 1.0 / ratio / ratio;
            assert!(
                low <= truth && truth <= high * (1.0 + 2.0 / ratio / ratio),
                "{ratio:e}: [{low:e}, {high:e}]"
            );
            let noise = Sigma::new(1.0)?.multiplier(Sensitivity::new(1.0)?)?;
            let verdict =
                protocol.account(&Observer::node(2))?.profile(0, noise)?.check(Measure::Gaussian, 0.5)?;
            assert_eq!(verdict, Verdict::Met);
        }
    }
    Ok(())
}

/// The Cholesky solve, the orthogonalised rows, and clean gossip: never more than it, and it at ratio 0.
#[test]
fn solves_agree_on_random_systems() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for trial in 0..60 {
        let n = rng.random_range(3..9usize);
        let tree = (1..n).map(|b| (rng.random_range(0..b), b)).collect::<Vec<_>>();
        let graph = Graph::from_edges(
            n,
            tree.iter().copied().chain((n > 3).then_some((0, n - 1)).filter(|e| !tree.contains(e))),
        )?;
        let (rounds, ratio) = (rng.random_range(1..5), 10f64.powf(rng.random_range(-1.5..0.5)));
        let v = rng.random_range(0..n);
        let coalition = if trial % 3 == 0 { vec![v, (v + 1) % n] } else { vec![v] };
        let clean = exact_loss((&GossipMatrix::metropolis(&graph), rounds), &[v], Default::default())?;
        for kind in KINDS {
            for own in [OwnNoise::Known, OwnNoise::Unknown] {
                let mut protocol = gossip(&graph, rounds, ratio, kind)?;
                protocol.own_noise = own;
                let report = protocol.coalition_loss(&coalition)?;
                assert_eq!(report.loss.grade(), Grade::Exact);
                let stacked = loss::exact_loss(&protocol.coalition_view(&coalition)?)?;
                for u in (0..n).filter(|u| !coalition.contains(u)) {
                    assert_abs_diff_eq!(
                        report.unit(u)?.value().get(),
                        stacked.unit(u)?.value().get(),
                        epsilon = 1e-10
                    );
                    if coalition.len() == 1 {
                        assert!(report.unit(u)?.value().get() <= clean.unit(u)?.value().get() + 1e-9);
                    }
                }
            }
            // Without noise on the messages both are Muffliato; hardly any noise goes the careful way.
            let silent = gossip(&graph, rounds, 0.0, kind)?.coalition_loss(&[v])?;
            let faint = gossip(&graph, rounds, 1e-4, kind)?.coalition_loss(&[v])?;
            for u in (0..n).filter(|&u| u != v) {
                assert_abs_diff_eq!(
                    silent.unit(u)?.value().get(),
                    clean.unit(u)?.value().get(),
                    epsilon = 1e-8
                );
                assert!(faint.unit(u)?.value().get() <= clean.unit(u)?.value().get() + 1e-8);
            }
        }
    }
    Ok(())
}

#[test]
fn transcripts_satisfy_their_views() -> Result<(), Error> {
    let graph = generators::cycle_graph(5)?;
    let values = Array2::from_shape_fn((5, 2), |(v, k)| (v * v + k) as f64);
    let sigma = Sigma::new(0.6)?;
    for kind in KINDS {
        let protocol = gossip(&graph, 3, 0.4, kind)?;
        let run = protocol.run(values.view(), sigma, &mut ChaCha8Rng::seed_from_u64(2))?;
        let scaled: Vec<Array2<f64>> = std::iter::once(run.noise.clone())
            .chain(run.later_noises.iter().map(|drawn| drawn * 0.6))
            .collect();
        let parts: Vec<_> = scaled.iter().map(|part| part.view()).collect();
        let noises = concatenate(Axis(0), &parts).expect("two columns each");
        for coalition in [vec![1], vec![0, 1]] {
            let view = protocol.coalition_view(&coalition)?;
            let predicted = view.inputs().dot(&values) + view.noises().dot(&noises);
            let rng = &mut ChaCha8Rng::seed_from_u64(2);
            let received = protocol.observe(values.view(), sigma, &coalition, rng)?.received;
            assert_eq!(received.dim(), (view.noises().nrows(), 2));
            received.iter().zip(&predicted).for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-12));
        }
    }
    Ok(())
}

/// Within 5 standard errors.
#[test]
fn simulated_error_is_the_exact_one() -> Result<(), Error> {
    let graph = generators::grid_2d_graph(3, 3)?;
    let values = Array2::from_shape_fn((9, 2), |(v, k)| ((v * (k + 3)) % 7) as f64 / 3.0);
    let (mean, sigma) = (values.mean_axis(Axis(0)).expect("nine rows"), Sigma::new(0.5)?);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for kind in KINDS {
        let protocol = gossip(&graph, 4, 0.7, kind)?;
        let exact = *protocol.mean_squared_error(values.view(), sigma)?.value();
        let errors: Vec<f64> = (0..4000)
            .map(|_| {
                let output = protocol.run(values.view(), sigma, &mut rng)?.output;
                Ok((&output - &mean).iter().map(|x| x * x).sum::<f64>() / 9.0)
            })
            .collect::<Result<_, Error>>()?;
        let average = errors.iter().sum::<f64>() / 4000.0;
        let variance = errors.iter().map(|e| (e - average).powi(2)).sum::<f64>() / 4000.0;
        let deviation = (variance / 4000.0).sqrt();
        assert!(
            (average - exact).abs() < 5.0 * deviation,
            "{kind:?}: {average} is not {exact} up to {deviation}"
        );
    }
    Ok(())
}

#[test]
fn attacks_meet_the_exact_loss() -> Result<(), Error> {
    let graph = generators::path_graph(5)?;
    let scales = (Sensitivity::new(2.0)?, Sigma::new(1.0)?);
    let plan = AuditPlan { runs: 100_000, error_rate: 1e-4 };
    for (kind, seed) in KINDS.into_iter().zip(1..) {
        let protocol = gossip(&graph, 4, 0.3, kind)?;
        let mu = protocol.coalition_loss(&[4])?.unit(2)?.value().gdp(scales.0, scales.1).mu();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let measured =
            audit(&protocol, 2, &Observer::node(4), scales.1.multiplier(scales.0)?, plan, &mut rng, &Silent)?
                .measured_mu
                .into_value();
        assert!(measured <= mu && measured >= 0.9 * mu, "{kind:?}: {measured} of {mu}");
    }
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    let graph = generators::path_graph(4)?;
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            gossip(&graph, 2, bad, MessageNoise::Broadcast),
            Err(Error::InvalidParameter { .. })
        ));
    }
    let protocol = gossip(&graph, 2, 0.1, MessageNoise::PerLink)?;
    assert!(matches!(protocol.coalition_loss(&[4]), Err(Error::NodeOutOfRange { node: 4, nodes: 4 })));
    assert_eq!(protocol.coalition_loss(&[]), Err(Error::EmptyCoalition));
    assert_eq!(protocol.coalition_loss(&[1])?.unit(1), Err(Error::SourceIsObserver(1)));
    let sigma = Sigma::new(1.0)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    assert!(matches!(protocol.run(Array2::zeros((4, 0)).view(), sigma, &mut rng), Err(Error::Shape { .. })));
    assert!(matches!(
        protocol.mean_squared_error(Array2::zeros((3, 1)).view(), sigma),
        Err(Error::Shape { .. })
    ));
    // No rounds, nothing is heard.
    let silent = gossip(&graph, 0, 0.1, MessageNoise::Broadcast)?.coalition_loss(&[2])?;
    assert_eq!(silent.loss.value().unit, [0.0, 0.0, 1.0, 0.0]);
    Ok(())
}
