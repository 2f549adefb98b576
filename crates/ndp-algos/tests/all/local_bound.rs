//! What is learned by whoever hears the noisy values themselves, against every account.

use ndp_account::{Audience, Coverage, Covered, Error, Observer, Target, accounts, least_noise};
use ndp_algos::registry::{self, PROTOCOLS, Parameters};
use ndp_dp::{Delta, Grade, Measure, NoiseMultiplier, Order};
use ndp_graph::progress::{Silent, Stop};
use ndp_graph::{GossipMatrix, generators};

fn approx(delta: f64) -> Result<Measure, Error> {
    Ok(Measure::Approx(Delta::new(delta)?))
}

/// The bound that costs nothing covers the account, for everyone and everybody's data, wherever it is
/// offered.
#[test]
fn the_local_bound_covers_every_account() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::hypercube_graph(3)?);
    let noise = NoiseMultiplier::new(1.5)?;
    let (measure, order) = (approx(1e-5)?, Order::new(2.0)?);
    let mut offered = Vec::new();
    for entry in PROTOCOLS.iter() {
        // A histogram on a long walk takes minutes.
        let short = if entry.name == "complete-histogram" { "steps=8" } else { "" };
        let protocol = entry.build(&matrix, &short.parse()?)?;
        for observer in
            [Observer::node(0), Observer::coalition(&[1, 6]), Observer::node(2).without_own_noise()]
        {
            let Ok(bound) = protocol.local_bound(&observer) else { continue };
            let Ok(account) = protocol.account(&observer) else { continue };
            for u in (0..8).filter(|u| !observer.contains(*u)) {
                let (low, high) = (account.profile(u, noise)?, bound.profile(u, noise)?);
                assert_ne!(high.loss(measure)?.grade(), Grade::Exact);
                // Bounds made at an order lose something on the way to epsilon.
                let both = low.renyi(order).is_ok() && high.renyi(order).is_ok();
                let measure = if both { Measure::Renyi(order) } else { measure };
                let (low, high) = (low.loss(measure)?.into_value(), high.loss(measure)?.into_value());
                assert!(low <= high * (1.0 + 1e-12), "{}: {low} above {high}", entry.name);
            }
            offered.push(entry.name);
        }
    }
    offered.dedup();
    // By all, but for sums behind a law of noise that need not be normal.
    let behind = |name: &str| ["ring-sum-", "complete-sum-"].iter().any(|sum| name.starts_with(sum));
    let others: Vec<&str> = PROTOCOLS.iter().map(|entry| entry.name).filter(|name| !behind(name)).collect();
    assert_eq!(offered, others);
    // Between two who collude a token may carry no noise.
    let ring = registry::find("ring-sum")?.build(&matrix, &Parameters::default())?;
    assert!(matches!(ring.local_bound(&Observer::coalition(&[0, 2])), Err(Error::NotOffered(_))));
    Ok(())
}

/// No account is above the bound that costs nothing, in any terms, with few nodes and steps and much noise
/// either: there accountants of walks and by subsampling lose more than they gain, and their orders end too
/// early.
#[test]
fn no_account_is_above_its_local_bound() -> Result<(), Error> {
    let mut compared = 0;
    for (graph, parameters) in [
        (generators::complete_graph(2)?, "steps=6"),
        (generators::complete_graph(3)?, "steps=20"),
        (generators::path_graph(3)?, "steps=2"),
        (generators::path_graph(3)?, "steps=20,cap=1"),
    ] {
        let matrix = GossipMatrix::metropolis(&graph);
        for name in [
            "walk",
            "complete-sum",
            "complete-histogram",
            "central-sgd",
            "walk-sgd-complete",
            "walk-sgd",
            "gossip-sgd",
        ] {
            let entry = registry::find(name)?;
            let Ok(protocol) =
                entry.build(&matrix, &parameters.parse()?).or_else(|_| entry.build(&matrix, &"".parse()?))
            else {
                continue;
            };
            for observer in [Observer::node(0), Observer::outsider()] {
                let (Ok(account), Ok(bound)) = (protocol.account(&observer), protocol.local_bound(&observer))
                else {
                    continue;
                };
                for noise in [0.7, 2.0, 30.0, 1e4] {
                    let noise = NoiseMultiplier::new(noise)?;
                    let (low, high) = (account.profile(1, noise)?, bound.profile(1, noise)?);
                    for measure in [approx(1e-5)?, approx(1e-9)?, Measure::Renyi(Order::new(3.0)?)] {
                        if let (Ok(low), Ok(high)) = (low.loss(measure), high.loss(measure)) {
                            let (low, high) = (low.into_value(), high.into_value());
                            assert!(low <= high, "{name}:{parameters} at {noise:?}: {low} above {high}");
                            compared += 1;
                        }
                    }
                    let at =
                        |profile: &ndp_dp::Profile| profile.delta(0.3).map(|found| found.value().delta());
                    if let (Ok(low), Ok(high)) = (at(&low), at(&high)) {
                        assert!(low <= high, "{name}:{parameters} at {noise:?}: {low} above {high}");
                    }
                }
                // The least noise is that of the smaller of the two.
                let (target, measure) = (Target::worst(approx(1e-5)?, 0.3), approx(1e-5)?);
                if let (Ok(least), Ok(Some(local))) =
                    (least_noise(&[account], &target), bound.least_noise(1, measure, 0.3))
                {
                    // Each is the end of a search of its own: the same number up to the precision of
                    // searches.
                    let local = local.get() * (1.0 + 1e-9);
                    assert!(least.noise.get() <= local, "{name}:{parameters}: {least:?} {local:?}");
                }
            }
        }
    }
    assert!(compared > 150, "{compared}");
    Ok(())
}

/// Two steps of a walk with noise of 10,000: an epsilon of 1.5e-4, not of 8.5e-4, where the orders looked at
/// ended. By the Gaussian curve of two contributions at most.
#[test]
fn a_short_walk_with_much_noise() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?);
    let walk = registry::find("walk")?.build(&matrix, &"steps=2".parse()?)?;
    let profile = walk.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(1e4)?)?;
    let epsilon = profile.loss(approx(1e-5)?)?.into_value();
    assert!(epsilon <= 1.6e-4, "{epsilon}");
    Ok(())
}

/// What a walk shows is made of its contributions: a cap bounds them, and so do the steps where there is
/// none.
#[test]
fn the_local_bound_of_a_walk_counts_contributions() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(5)?);
    let noise = NoiseMultiplier::new(2.0)?;
    let mu = |name: &str, text: &str| -> Result<f64, Error> {
        let protocol = registry::find(name)?.build(&matrix, &text.parse()?)?;
        let bound = protocol.local_bound(&Observer::node(0))?.profile(2, noise)?;
        Ok(bound.mu().map_or(f64::NAN, |mu| mu.into_value().mu()))
    };
    for (name, text, contributions) in [
        ("walk", "steps=49", 49.0_f64),
        ("walk", "steps=49,cap=9", 9.0),
        ("walk", "steps=4,cap=9", 4.0),
        ("walk-sgd", "steps=49,cap=16", 16.0),
        ("gossip-sgd", "epochs=25,rounds=3", 25.0),
        ("federated-sgd", "batch=5", 1.0),
    ] {
        let (found, expected) = (mu(name, text)?, contributions.sqrt() / 2.0);
        assert!(expected <= found && found < expected * (1.0 + 1e-12), "{name}:{text}: {found}");
    }
    // Without a cap a walk is what it was before there was one.
    let at = |text: &str| -> Result<f64, Error> {
        let walk = registry::find("walk")?.build(&matrix, &text.parse()?)?;
        let loss = walk.account(&Observer::node(0))?.profile(2, noise)?.renyi(Order::new(2.0)?)?;
        Ok(loss.value().epsilon)
    };
    assert_eq!(at("steps=30")?, at("steps=30,cap=inf")?);
    assert!(at("steps=30,cap=2")? < at("steps=30")?);
    let none = registry::find("walk")?.build(&matrix, &"steps=30,cap=0".parse()?);
    assert!(matches!(none, Err(Error::InvalidParameter { name: "cap", .. })));
    Ok(())
}

/// Who hears every step of a neighbor on two nodes learns all that the bound grants, whatever is taken back
/// of the noise.
#[test]
fn the_local_bound_of_steps_is_tight_for_two_nodes() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(2)?);
    let noise = NoiseMultiplier::new(2.0)?;
    for parameters in [
        "steps=5,alike=1,fixed=1",
        "steps=5,correlation=0.6,alike=1,fixed=1",
        "steps=6,correlation=-0.4,alike=1,fixed=1",
        // All data: the worst changes alternate in sign where noise is added in the next step.
        "steps=5,fixed=1",
        "steps=5,correlation=0.6,fixed=1",
        "steps=6,correlation=-0.4,fixed=1",
    ] {
        let dsgd = registry::find("dsgd")?.build(&matrix, &parameters.parse()?)?;
        let observer = Observer::node(0);
        let mu = |profile: ndp_dp::Profile| profile.mu().map_or(f64::NAN, |mu| mu.into_value().mu());
        let exact = mu(dsgd.account(&observer)?.profile(1, noise)?);
        let bound = mu(dsgd.local_bound(&observer)?.profile(1, noise)?);
        assert!(exact <= bound * (1.0 + 1e-12), "{parameters}: {exact} {bound}");
        assert!(bound < exact * (1.0 + 1e-9), "{parameters}: {exact} {bound}");
    }
    Ok(())
}

/// Variances that are not 1 scale the bound: twice the own variance, half the local loss.
#[test]
fn the_local_bound_is_that_of_the_own_noise() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(5)?);
    let decor = registry::find("decor")?.build(&matrix, &"own=2".parse()?)?;
    let bound = decor.local_bound(&Observer::node(0))?;
    let mu = bound.profile(2, NoiseMultiplier::new(1.0)?)?.mu().map(|mu| mu.into_value().mu());
    assert!(mu.is_some_and(|mu| (mu - 0.5_f64.sqrt()).abs() < 1e-12), "{mu:?}");
    let none = registry::find("decor")?.build(&matrix, &"own=0".parse()?)?;
    assert!(matches!(none.local_bound(&Observer::node(0)), Err(Error::NotOffered(_))));
    Ok(())
}

/// Symmetries are not looked for in large programs: asking for them does not make one.
#[test]
fn large_programs_are_not_made_for_their_symmetries() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::grid_2d_graph(50, 50)?);
    let noise = NoiseMultiplier::new(1.0)?;
    let made_by_symmetries = |rounds: usize| -> Result<bool, Error> {
        let parameters = format!("rounds={rounds}").parse()?;
        let protocol = registry::find("secure-neighbor-sums")?.build(&matrix, &parameters)?;
        // What a run gives is known once the program is made.
        assert!(matches!(protocol.error(noise), Err(Error::NotOffered(_))));
        // A grid is kept by its reflections and its transposition.
        assert_eq!(protocol.symmetries().is_empty(), rounds > 100);
        Ok(protocol.error(noise).is_ok())
    };
    assert!(made_by_symmetries(1)?);
    // 9,800 messages a round.
    assert!(!made_by_symmetries(103)?);
    Ok(())
}

/// Where one node is proven to learn as much as the bound says, the bound alone gives the noise that all
/// accounts give, with the pair that needs it; nothing is said so where no account of a part reaches the
/// bound, of a mean, and of nodes that were drawn or named.
#[test]
fn a_bound_that_is_reached_needs_no_account() -> Result<(), Error> {
    let target = Target::worst(approx(1e-5)?, 1.0);
    for graph in [generators::karate_club_graph()?, generators::path_graph(6)?, generators::cycle_graph(7)?] {
        let (n, matrix) = (graph.node_count(), GossipMatrix::metropolis(&graph));
        let leaf = (0..n).find(|&v| graph.degree(v) == 1);
        for name in ["muffliato", "muffliato-accelerated", "fresh-noise", "push-sum", "secure-neighbor-sums"]
        {
            let protocol = registry::find(name)?.build(&matrix, &"rounds=4".parse()?)?;
            let protocol = protocol.as_ref();
            let of = |audience: &Audience, target: &Target| {
                Covered::by_attained_bound(protocol, audience, target, &Stop::never())
            };
            let everybody = Audience::every_node(n);
            assert!(of(&everybody, &Target::mean(Measure::Gaussian, 0.1)).is_none());
            assert!(of(&Audience::drawn(n, &[0, 1], 3)?, &target).is_none());
            assert!(of(&Audience::named(vec![Observer::node(0)]), &target).is_none());
            assert!(of(&Audience::coalitions(n, 2, &Observer::coalition(&[0, 1]))?, &target).is_none());
            let Some(covered) = of(&everybody, &target) else {
                // A sum of neighbors shows one of them whole where there is only one.
                assert!(name == "secure-neighbor-sums" && leaf.is_none(), "{name}");
                continue;
            };
            assert_eq!(covered.coverage, Coverage::Bounded { looked_at: 0, nodes: n, seed: None });
            let each = Audience::named((0..n).map(Observer::node).collect());
            assert_eq!(of(&each, &target).map(|found| found.coverage), Some(covered.coverage.clone()));
            let pairs = Audience::named((0..n).map(|v| Observer::coalition(&[v, (v + 1) % n])).collect());
            assert!(of(&pairs, &target).is_none());
            let all = Covered::new(protocol, &everybody, accounts(protocol, everybody.looked_at(), &Silent)?);
            let (least, truth) = (covered.least_noise(&target)?, all.least_noise(&target)?);
            let (noise, true_noise) = (least.noise.get(), truth.noise.get());
            assert!((noise / true_noise - 1.0).abs() < 1e-8, "{name}: {noise} {true_noise}");
            let pair = least.tightest.ok_or(Error::Cancelled)?;
            assert_eq!(pair.loss.grade(), Grade::Exact);
            let shown = protocol.account(&pair.observer)?.profile(pair.source, least.noise)?;
            let shown = shown.loss(target.measure)?.into_value();
            assert!((shown / *pair.loss.value() - 1.0).abs() < 1e-8, "{name}: {pair:?} {shown}");
            // Of a large graph one is chosen, with a hint: the same, if it is one of those.
            let chosen = Audience::chosen(n, &[pair.observer.members()[0]])?;
            assert_eq!(of(&chosen, &target).map(|found| found.accounts.len()), Some(n));
        }
        for text in ["noisy-messages:rounds=4", "corn-dsgd:rounds=4", "complete-sum", "walk"] {
            let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
            let protocol = registry::find(name)?.build(&matrix, &parameters.parse()?)?;
            let found = Covered::by_attained_bound(
                protocol.as_ref(),
                &Audience::every_node(n),
                &target,
                &Stop::never(),
            );
            assert!(found.is_none(), "{text}");
        }
    }
    Ok(())
}
