//! Accelerated randomized gossip: the plain one at momentum 0, its rate, its error, its view and its loss.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, Axis};
use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Error, LinearProtocol, Observer, OwnNoise};
use ndp_algos::gossip::accelerated::{AcceleratedGossip, ActiveEdge, Momentum};
use ndp_algos::gossip::utility::{Convergence, error_bound, stopping_rounds};
use ndp_algos::gossip::{ExactOptions, GossipProtocol, SequenceGossip, exact_loss};
use ndp_dp::{Grade, Sensitivity, Sigma};
use ndp_graph::progress::Silent;
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipSequence, Graph, generators};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Uniform edges, and the momentum with the proven rate.
fn law(graph: &Graph) -> Result<(EdgeActivations, Momentum), Error> {
    let law = EdgeActivations::uniform(graph)?;
    let momentum = Momentum::of(&law)?;
    Ok((law, momentum))
}

/// On a ring with uniform edges `μ = λ₂/n` and every edge has resistance `n - 1`.
#[test]
fn momentum_of_the_ring() -> Result<(), Error> {
    for n in [4usize, 9, 32] {
        let (_, momentum) = law(&generators::cycle_graph(n)?)?;
        let second = (2.0 - 2.0 * (2.0 * std::f64::consts::PI / n as f64).cos()) / n as f64;
        let mixing = (second / (2.0 * (n - 1) as f64)).sqrt();
        assert_relative_eq!(momentum.mixing, mixing, max_relative = 1e-10);
        assert_relative_eq!(momentum.push, mixing / second, max_relative = 1e-10);
    }
    Ok(())
}

/// Without mixing the second value is never read: randomized gossip, in everything.
#[test]
fn without_mixing_it_is_randomized_gossip() -> Result<(), Error> {
    let graph = generators::grid_2d_graph(3, 3)?;
    let pairs: Vec<(usize, usize)> = graph.edges().chain(graph.edges()).collect();
    let rings = pairs.iter().map(|&edge| ActiveEdge { wait: 0.7, edge }).collect();
    let still = AcceleratedGossip::given(&graph, rings, 1.0, Momentum { mixing: 0.0, push: 3.0 })?;
    let plain = SequenceGossip::from(GossipSequence::given_activations(&graph, &pairs)?);
    let (values, sigma) = (Array2::from_shape_fn((9, 2), |(v, k)| (v * v + k) as f64), Sigma::new(0.3)?);
    let [still_ends, plain_ends]: [&dyn GossipProtocol; 2] = [&still, &plain];
    let ends =
        |gossip: &dyn GossipProtocol| gossip.run(values.view(), sigma, &mut rng(8)).map(|run| run.output);
    for (a, b) in ends(still_ends)?.iter().zip(&ends(plain_ends)?) {
        assert_abs_diff_eq!(*a, *b, epsilon = 1e-12);
    }
    let error =
        |gossip: &dyn GossipProtocol| gossip.mean_squared_error(values.view(), sigma).map(|e| *e.value());
    assert_relative_eq!(error(still_ends)?, error(plain_ends)?, max_relative = 1e-12);
    for v in [0, 4] {
        let report = still.coalition_loss(&[v])?;
        let expected = exact_loss(&plain.sequence, &[v], ExactOptions::default())?;
        assert_eq!((report.rank, report.loss.grade()), (expected.rank, Grade::Exact));
        for (a, b) in report.loss.value().unit.iter().zip(&expected.loss.value().unit) {
            assert_abs_diff_eq!(*a, *b, epsilon = 1e-10);
        }
    }
    Ok(())
}

#[test]
fn transcripts_satisfy_their_views_and_keep_the_mean() -> Result<(), Error> {
    let graph = generators::cycle_graph(7)?;
    let (law, momentum) = law(&graph)?;
    let protocol = AcceleratedGossip::drawn(&law, 7, 40.0, momentum, &mut rng(3))?;
    let values = Array2::from_shape_fn((7, 3), |(v, k)| (v * v + k) as f64);
    let run = protocol.run(values.view(), Sigma::new(0.5)?, &mut rng(4))?;
    let before = (&values + &run.noise).sum_axis(Axis(0));
    for state in run.messages.iter().chain([&run.output]) {
        for (a, b) in state.sum_axis(Axis(0)).iter().zip(&before) {
            assert_abs_diff_eq!(*a, *b, epsilon = 1e-10);
        }
    }
    for coalition in [vec![2], vec![6, 0]] {
        let view = protocol.coalition_view(&coalition)?;
        let predicted = view.inputs().dot(&values) + view.noises().dot(&run.noise);
        let received = protocol.observe(values.view(), Sigma::new(0.5)?, &coalition, &mut rng(4))?.received;
        assert_eq!(received.dim(), (view.inputs().nrows(), 3));
        received.iter().zip(&predicted).for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-10));
    }
    Ok(())
}

/// As many events as were asked for are drawn: the first ones of a run that goes on for a time, and no wait
/// after the last.
#[test]
fn events_are_counted() -> Result<(), Error> {
    let (law, momentum) = law(&generators::cycle_graph(7)?)?;
    let long = AcceleratedGossip::drawn(&law, 7, 200.0, momentum, &mut rng(3))?;
    assert!(long.rings().len() > 100);
    for count in [0, 1, 5, 100] {
        let found = AcceleratedGossip::of_events(&law, 7, count, momentum, &mut rng(3))?;
        assert_eq!(found.rings(), &long.rings()[..count]);
        let graph = generators::cycle_graph(7)?;
        assert_eq!(found, AcceleratedGossip::given(&graph, long.rings()[..count].to_vec(), 0.0, momentum)?);
    }
    let fewer = AcceleratedGossip::of_events(&law, 6, 1, momentum, &mut rng(3));
    assert_eq!(fewer, Err(Error::NodeOutOfRange { node: 6, nodes: 6 }));
    Ok(())
}

/// Given the rings, the simulated error is the exact one within 5 standard errors.
#[test]
fn simulated_error_is_the_exact_one() -> Result<(), Error> {
    let graph = generators::grid_2d_graph(3, 3)?;
    let (law, momentum) = law(&graph)?;
    let protocol = AcceleratedGossip::drawn(&law, 9, 25.0, momentum, &mut rng(1))?;
    let values = Array2::from_shape_fn((9, 2), |(v, k)| ((v * (k + 3)) % 7) as f64 / 3.0);
    let (mean, sigma) = (values.mean_axis(Axis(0)).expect("nine rows"), Sigma::new(0.8)?);
    let exact = *protocol.mean_squared_error(values.view(), sigma)?.value();
    let mut rng = rng(2);
    let errors: Vec<f64> = (0..4000)
        .map(|_| {
            let output = protocol.run(values.view(), sigma, &mut rng)?.output;
            Ok((&output - &mean).iter().map(|x| x * x).sum::<f64>() / 9.0)
        })
        .collect::<Result<_, Error>>()?;
    let average = errors.iter().sum::<f64>() / 4000.0;
    let variance = errors.iter().map(|e| (e - average).powi(2)).sum::<f64>() / 4000.0;
    assert!((average - exact).abs() < 5.0 * (variance / 4000.0).sqrt(), "{average} is not {exact}");
    Ok(())
}

/// Averaged over the rings, the error obeys its bound; on a ring and a path it is far below that of
/// randomized gossip after as many activations.
#[test]
fn acceleration_pays_on_poorly_connected_graphs() -> Result<(), Error> {
    let sigma = Sigma::new(1e-3)?;
    for (graph, gain) in [
        (generators::cycle_graph(24)?, 10.0),
        (generators::path_graph(16)?, 10.0),
        (generators::star_graph(9)?, 0.0),
    ] {
        let n = graph.node_count();
        let (law, momentum) = law(&graph)?;
        let values = Array2::from_shape_fn((n, 1), |(v, _)| f64::from(u8::from(2 * v < n)));
        let mean = values.mean().expect("values");
        let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let convergence = Convergence::AcceleratedRandomized(momentum.mixing);
        let time = stopping_rounds(n, convergence, Sigma::new(0.05)?, spread)?;
        let (runs, mut fast, mut slow) = (40u32, 0.0, 0.0);
        for run in 0..runs {
            let mut rng = rng(u64::from(run));
            let protocol = AcceleratedGossip::drawn(&law, n, time as f64, momentum, &mut rng)?;
            fast += protocol.mean_squared_error(values.view(), sigma)?.value() / f64::from(runs);
            let plain = SequenceGossip::from(GossipSequence::activations(&law, time, &mut rng));
            slow += plain.mean_squared_error(values.view(), sigma)?.value() / f64::from(runs);
        }
        let bound = *error_bound(time, n, convergence, sigma, spread)?.value();
        assert!(fast <= bound, "{n} nodes: {fast} above {bound}");
        assert!(slow >= gain * fast, "{n} nodes: {fast} is not {gain} times below {slow}");
    }
    Ok(())
}

/// Losses add up to the rank, and an attack meets them.
#[test]
fn losses_are_exact() -> Result<(), Error> {
    let graph = generators::cycle_graph(8)?;
    let (law, momentum) = law(&graph)?;
    let protocol = AcceleratedGossip::drawn(&law, 8, 14.0, momentum, &mut rng(11))?;
    let mut partial = 0;
    for v in 0..8 {
        let report = protocol.coalition_loss(&[v])?;
        assert_eq!(report.loss.grade(), Grade::Exact);
        let units = &report.loss.value().unit;
        assert_abs_diff_eq!(units.iter().sum::<f64>(), report.rank as f64, epsilon = 1e-8);
        let mut forgetful = protocol.clone();
        forgetful.own_noise = OwnNoise::Unknown;
        let forgetful = forgetful.coalition_loss(&[v])?;
        for (more, less) in units.iter().zip(&forgetful.loss.value().unit) {
            assert!(*less <= more + 1e-9);
        }
        if let Some(u) = (0..8).find(|&u| u != v && (0.1..0.9).contains(&units[u])).filter(|_| partial < 2) {
            partial += 1;
            let scales = (Sensitivity::new(2.0)?, Sigma::new(1.0)?);
            let plan = AuditPlan { runs: 100_000, error_rate: 1e-4 };
            let mu = 2.0 * units[u].sqrt();
            let measured = audit(
                &protocol,
                u,
                &Observer::node(v),
                scales.1.multiplier(scales.0)?,
                plan,
                &mut rng(7),
                &Silent,
            )?
            .measured_mu
            .into_value();
            assert!(measured <= mu && measured >= 0.9 * mu, "{measured} of {mu}");
        }
    }
    assert_eq!(partial, 2);
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    let graph = generators::path_graph(4)?;
    let (law, momentum) = law(&graph)?;
    let given =
        |edge, wait, rest| AcceleratedGossip::given(&graph, vec![ActiveEdge { wait, edge }], rest, momentum);
    assert_eq!(given((0, 2), 1.0, 0.0), Err(ndp_graph::Error::NotAnEdge(0, 2).into()));
    assert!(matches!(given((0, 4), 1.0, 0.0), Err(Error::Graph(ndp_graph::Error::NodeOutOfRange { .. }))));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(given((0, 1), bad, 0.0), Err(Error::InvalidParameter { .. })));
        assert!(matches!(given((0, 1), 0.0, bad), Err(Error::InvalidParameter { .. })));
        for momentum in [Momentum { mixing: bad, push: 1.0 }, Momentum { mixing: 1.0, push: bad }] {
            let refused = AcceleratedGossip::given(&graph, Vec::new(), 0.0, momentum);
            assert!(matches!(refused, Err(Error::InvalidParameter { .. })));
        }
        let drawn = AcceleratedGossip::drawn(&law, 4, bad, momentum, &mut rng(1));
        assert!(matches!(drawn, Err(Error::InvalidParameter { name: "the time of a run", .. })));
        let convergence = Convergence::AcceleratedRandomized(bad);
        let rounds = stopping_rounds(4, convergence, Sigma::new(1.0)?, 0.25);
        assert!(matches!(rounds, Err(Error::InvalidParameter { name: "the mixing rate", .. })));
    }
    let fewer = AcceleratedGossip::drawn(&law, 3, 1.0, momentum, &mut rng(1));
    assert_eq!(fewer, Err(Error::NodeOutOfRange { node: 3, nodes: 3 }));
    let none = AcceleratedGossip::drawn(&law, 4, 0.0, momentum, &mut rng(1))?;
    assert_eq!(none.coalition_loss(&[1])?.loss.value().unit, [0.0, 1.0, 0.0, 0.0]);
    assert!(matches!(none.coalition_loss(&[4]), Err(Error::NodeOutOfRange { .. })));
    assert_eq!(none.coalition_loss(&[]), Err(Error::EmptyCoalition));
    let sigma = Sigma::new(1.0)?;
    assert!(matches!(none.run(Array2::zeros((4, 0)).view(), sigma, &mut rng(1)), Err(Error::Shape { .. })));
    Ok(())
}
