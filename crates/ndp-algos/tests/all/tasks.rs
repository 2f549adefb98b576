//! Five tasks that a newcomer brings, done with what the documentation of the crates says and nothing else.

use ndarray::arr2;
use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{LinearProtocol, Observer, Protocol, Target, check, compare, least_noise};
use ndp_algos::gossip::SynchronousGossip;
use ndp_algos::registry;
use ndp_algos::walk::ring::{Placement, RingSum};
use ndp_algos::walk::{Bounds, TokenNoise};
use ndp_dp::{Delta, Gaussian, Gdp, Grade, Measure, Mechanism, NoiseMultiplier, Sensitivity, Sigma, Verdict};
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, Graph, generators};
use ndp_program::{Declared, Program, Reads, SensitivitySet as Changes};
use petgraph::graph::UnGraph;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::error::Error;

/// Calibrate Gaussian noise for `(1, 1e-5)`: the least noise keeps the promise, a thousandth less breaks it.
#[test]
fn calibrate_gaussian_noise() -> Result<(), Box<dyn Error>> {
    let (delta, sensitivity) = (Delta::new(1e-5)?, Sensitivity::new(1.0)?);
    let least = Gaussian::within(1.0, delta, sensitivity)?;
    assert!((least.sigma.get() - 3.730_631_634_8).abs() < 1e-6, "{}", least.sigma.get());
    assert!(*least.delta(1.0)?.value() <= 1e-5);
    let less = Gaussian { sensitivity, sigma: Sigma::new(0.999 * least.sigma.get())? };
    assert!(*less.delta(1.0)?.value() > 1e-5);
    Ok(())
}

/// Account a ring sum: three rounds of a hundred nodes, each number between 0 and 1, noise 10.
#[test]
fn account_a_ring_sum() -> Result<(), Box<dyn Error>> {
    let (delta, sigma) = (Delta::new(1e-6)?, 10.0);
    let noise = TokenNoise::gaussian(Sigma::new(sigma)?);
    let ring = RingSum::new(100, 3, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
    // Towards one node: three releases at noise 10 are one of mu = sqrt(3) / 10.
    let account = ring.account(&Observer::node(7))?;
    let profile = account.profile(3, NoiseMultiplier::new(sigma)?)?;
    assert_eq!(profile.mu().map(|mu| mu.grade()), Some(Grade::Exact));
    let epsilon = profile.epsilon(delta)?.value().epsilon();
    let together = Gdp::new(3.0_f64.sqrt() / sigma)?.epsilon(delta);
    assert!((epsilon - together.value()).abs() < 1e-9);
    // The noise for a target.
    let target = Target::worst(Measure::Approx(delta), 1.0);
    let needed = least_noise(&[account], &target)?.noise;
    assert!(ring.account(&Observer::node(7))?.profile(3, needed)?.epsilon(delta)?.value().epsilon() <= 1.0);
    Ok(())
}

/// Loss on an own `ndarray` matrix, weights that no rule gives.
#[test]
fn loss_on_a_matrix_of_ones_own() -> Result<(), Box<dyn Error>> {
    let path = generators::path_graph(3)?;
    let weights = arr2(&[[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]);
    let gossip = SynchronousGossip::new(GossipMatrix::from_dense(&path, weights.view())?, 2);
    let losses = gossip.coalition_loss(&[2])?;
    // Node 2 hears y1, then a half of y0 beside what it knows.
    assert_eq!(losses.loss.grade(), Grade::Exact);
    assert!(
        (losses.unit(0)?.value().get() - 1.0).abs() < 1e-9
            && (losses.unit(1)?.value().get() - 1.0).abs() < 1e-9
    );
    // One round earlier it has heard nothing of node 0.
    let once = SynchronousGossip::new(GossipMatrix::from_dense(&path, weights.view())?, 1);
    assert!(once.coalition_loss(&[2])?.unit(0)?.value().get() < 1e-12);
    Ok(())
}

/// From petgraph: a network with labels, who learns most about whom, and the noise it needs.
#[test]
fn from_petgraph() -> Result<(), Box<dyn Error>> {
    let mut friends = UnGraph::<&str, ()>::new_undirected();
    let nodes: Vec<_> = ["ann", "bob", "cy", "dan", "eve"].map(|name| friends.add_node(name)).into();
    for (a, b) in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)] {
        friends.add_edge(nodes[a], nodes[b], ());
    }
    let labels = friends.node_weights().map(ToString::to_string).collect();
    let graph = Graph::try_from(&friends)?.with_labels(labels)?;
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 2);
    let losses = gossip.coalition_loss(&[4])?;
    let unit = |u: usize| losses.unit(u).map(|unit| unit.value().get());
    // Eve hears dan at once and the mean of dan and cy (and eve) in the second round; ann and bob are too
    // far.
    assert!((unit(3)? - 1.0).abs() < 1e-9 && (unit(2)? - 1.0).abs() < 1e-9 && unit(0)? < 1e-12);
    assert_eq!(graph.labels().map(|labels| labels[2].as_str()), Some("cy"));
    let accounts = [gossip.account(&Observer::node(4))?];
    let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
    let least = least_noise(&accounts, &target)?;
    assert_eq!(check(&accounts, least.noise, &target)?.verdict, Verdict::Met);
    Ok(())
}

/// An own protocol: everybody sends its noisy value to its neighbors and the mean of what it got to a server,
/// node 0.
#[test]
fn a_protocol_of_ones_own() -> Result<(), Box<dyn Error>> {
    let graph = generators::cycle_graph(6)?;
    let mut program = Program::new(6)?;
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let y = program.add_all(&x, &z)?;
    program.send_to_neighbors(&graph, &y)?;
    for u in 1..6 {
        let heard = graph.neighbors(u).iter().map(|&v| ((1, 2), y[v as usize]));
        let mean = program.combine(heard.collect::<Vec<_>>())?;
        program.send(u, 0, mean)?;
    }
    let own = Declared::new(program, Changes::UseLevel);
    // The server gets y1 and y5 as a neighbor, then means: (y0 + y2)/2, (y1 + y3)/2, (y2 + y4)/2 ... and so
    // everything.
    let server = Protocol::account(&own, &Observer::node(0))?;
    let neighbor = Protocol::account(&own, &Observer::node(3))?;
    let mu = |account: &dyn ndp_account::Account, u| -> Result<f64, Box<dyn Error>> {
        let profile = account.profile(u, NoiseMultiplier::new(1.0)?)?;
        Ok(profile.mu().map_or(f64::INFINITY, |mu| mu.value().mu()))
    };
    for u in 1..6 {
        assert!((mu(server.as_ref(), u)? - 1.0).abs() < 1e-9);
    }
    assert!(mu(neighbor.as_ref(), 0)? < 1e-12 && (mu(neighbor.as_ref(), 2)? - 1.0).abs() < 1e-9);
    // Beside others at the same guarantee, and attacked.
    let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
    let gossip =
        registry::find("muffliato")?.build(&GossipMatrix::metropolis(&graph), &"rounds=2".parse()?)?;
    let table = compare(&[("own", Ok(&own)), ("gossip", Ok(gossip.as_ref()))], &[Observer::node(3)], &target);
    assert!(table.rows.iter().all(|row| row.least.is_ok()));
    let plan = AuditPlan { runs: 4_000, error_rate: 1e-3 };
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let found = audit(&own, 2, &Observer::node(0), NoiseMultiplier::new(1.0)?, plan, rng, &Silent)?;
    assert!(!found.is_refuted() && *found.measured_mu.value() > 0.5);
    Ok(())
}

/// The first pages lead to everything: every protocol of the registry and every generator of graphs is named
/// there.
#[test]
fn first_pages_name_every_protocol_and_generator() {
    let (algos, graph) = (include_str!("../../src/lib.rs"), include_str!("../../../ndp-graph/src/lib.rs"));
    // Sums behind a law of noise are described together.
    let behind = |name: &str| ["ring-sum-", "complete-sum-"].iter().any(|sum| name.starts_with(sum));
    let protocols = registry::PROTOCOLS
        .iter()
        .filter(|entry| !behind(entry.name))
        .map(|entry| format!("`{}`", entry.name));
    let missing: Vec<String> = protocols.filter(|name| !algos.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let sources = [
        ("generators", include_str!("../../../ndp-graph/src/generators.rs")),
        ("random", include_str!("../../../ndp-graph/src/random/mod.rs")),
    ];
    for (module, source) in sources {
        // Functions defined there, and those that come from a file of their own.
        let defined = source.split("\npub fn ").skip(1);
        let shown = source.split("\npub use ").skip(1).flat_map(|list| {
            let list = list.split(';').next().unwrap_or(list);
            list.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| name.contains('_'))
        });
        let names: Vec<&str> =
            defined.map(|item| item.split('(').next().unwrap_or(item)).chain(shown).collect();
        assert!(names.len() > 5, "{names:?}");
        let missing: Vec<&&str> =
            names.iter().filter(|name| !graph.contains(&format!("{module}::{name}"))).collect();
        assert!(missing.is_empty(), "{module}: {missing:?}");
    }
}
