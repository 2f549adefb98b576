//! One question, asked of every protocol of the registry.

use ndp_algos::accountant::{
    Account, Allowed, Assumption, Audience, Coverage, Covered, Observer, Target, accounts, check, compare,
    least_noise,
};
use ndp_algos::audit::{AuditPlan, audit};
use ndp_algos::gossip::SynchronousGossip;
use ndp_algos::program::{Declared, SensitivitySet, constructors};
use ndp_algos::registry::{self, PROTOCOLS, Parameters};
use ndp_algos::{Error, Protocol};
use ndp_dp::{Delta, Grade, Measure, NoiseMultiplier, Order, Verdict};
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, generators};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn approx(delta: f64) -> Result<Measure, Error> {
    Ok(Measure::Approx(Delta::new(delta)?))
}

/// The karate club at the same (ε, δ) for every pair: a number or a reason for everyone, and at least twelve numbers.
#[test]
fn every_protocol_is_compared_on_the_karate_club() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::karate_club_graph()?);
    let observers: Vec<Observer> = (0..34).map(Observer::node).collect();
    let target = Target::worst(approx(1e-5)?, 1.0);
    // All with their defaults, but for a histogram on a long walk, which takes minutes.
    let parameters =
        |name: &str| if name == "complete-histogram" { "steps=34" } else { "" }.parse::<Parameters>();
    let built: Vec<_> =
        PROTOCOLS.iter().map(|entry| entry.build(&matrix, &parameters(entry.name)?)).collect();
    let protocols: Vec<(&str, Result<&dyn Protocol, Error>)> = PROTOCOLS
        .iter()
        .zip(&built)
        .map(|(entry, built)| (entry.name, built.as_ref().map(AsRef::as_ref).map_err(Error::clone)))
        .collect();
    let table = compare(&protocols, &observers, &target);
    assert_eq!(table.rows.len(), PROTOCOLS.len());
    let numbers = table.rows.iter().filter(|row| row.least.is_ok()).count();
    assert!(numbers >= 12, "{numbers} numbers:\n{table}");
    let row = |name: &str| table.rows.iter().find(|row| row.name == name).unwrap();
    let noise = |name: &str| row(name).least.as_ref().unwrap().noise.get();
    // Published values and the curator's sum cost the same; nobody needs more noise than one who publishes.
    let local = noise("local");
    assert!((noise("central") / local - 1.0).abs() < 1e-9);
    for name in ["muffliato", "muffliato-accelerated", "fresh-noise", "noisy-messages"] {
        assert!(noise(name) <= local * (1.0 + 1e-9), "{name}: {}", noise(name));
    }
    assert!(matches!(row("one-peer").least, Err(Error::InvalidParameter { .. })));
    // Users see models on the way: the bound of one noisy gradient, as in the local model with one contribution.
    assert!((noise("federated-sgd") / local - 1.0).abs() < 1e-9);
    assert_eq!(row("federated-sgd").grade, Some(Grade::UpperBound));
    Ok(())
}

/// At the least noise the target is met, at a little less it is not; for every protocol and kind of target.
#[test]
fn least_noise_is_the_boundary() -> Result<(), Error> {
    let graph = generators::grid_2d_graph(2, 3)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let hops: Vec<_> = (0..graph.node_count()).map(|u| graph.distances(u)).collect();
    let observers = [0, 4].map(Observer::node);
    let order = Order::new(2.0)?;
    for entry in PROTOCOLS {
        // A histogram on a long walk takes minutes.
        let short = if entry.name == "complete-histogram" { "steps=8" } else { "" };
        let Ok(protocol) = entry.build(&matrix, &short.parse()?) else { continue };
        let accounts: Result<Vec<_>, Error> = observers.iter().map(|o| protocol.account(o)).collect();
        let Ok(accounts) = accounts else { continue };
        let hops = hops.clone();
        let by_hops = move |u: usize, v: usize| hops[u][v].map_or(f64::INFINITY, |d| 2.0 / f64::from(d));
        for target in [
            Target::worst(approx(1e-4)?, 0.7),
            Target::worst(Measure::Renyi(order), 0.5),
            Target::pairs(approx(1e-4)?, by_hops),
            Target::mean(approx(1e-4)?, 0.5),
            Target::worst(Measure::Gaussian, 0.3),
        ] {
            let least = match least_noise(&accounts, &target) {
                Ok(least) => least,
                // Accounts without such a notion say so.
                Err(Error::Privacy(ndp_dp::Error::NotGaussian | ndp_dp::Error::NoRenyiBound)) => continue,
                Err(error) => panic!("{}: {target:?}: {error}", entry.name),
            };
            let met = check(&accounts, least.noise, &target)?;
            assert!(met.verdict == Verdict::Met && met.exceeding == 0, "{}: {target:?}: {met:?}", entry.name);
            assert_eq!(least.tightest.is_some(), !matches!(target.allowed, Allowed::Mean(_)));
            let less = NoiseMultiplier::new(least.noise.get() * 0.98)?;
            let missed = check(&accounts, less, &target)?;
            assert!(
                missed.verdict != Verdict::Met,
                "{}: {target:?} is met below the least noise",
                entry.name
            );
        }
    }
    Ok(())
}

/// Attacks on real runs: never above the account, and close to it where it is exact.
#[test]
fn every_protocol_meets_its_audit() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
    let small: &[(&str, &str)] = &[
        ("muffliato", "rounds=4"),
        ("muffliato-accelerated", "rounds=4"),
        ("fresh-noise", "rounds=4"),
        ("noisy-messages", "rounds=4"),
        ("randomized-gossip", "activations=40"),
        ("randomized-accelerated", "activations=40"),
        ("dsgd", "steps=4,correlation=0.5"),
        ("corn-dsgd", "rounds=4,own=0.5,shared=0.5"),
        ("push-sum", "rounds=4"),
        ("complete-sum", "steps=24"),
        ("complete-histogram", "steps=8"),
        ("walk", "steps=24"),
        ("central-sgd", "steps=24"),
        ("walk-sgd-complete", "steps=24,cap=3"),
        ("walk-sgd", "steps=24,cap=3"),
        ("gossip-sgd", "epochs=3,rounds=2"),
    ];
    let plan = AuditPlan { runs: 100_000, error_rate: 1e-4 };
    let audited: Vec<(&str, Result<ndp_algos::audit::Audit, Error>)> = PROTOCOLS
        .par_iter()
        .enumerate()
        .map(|(k, entry)| {
            let parameters = small.iter().find(|(name, _)| *name == entry.name).map_or("", |(_, text)| text);
            let protocol = entry.build(&matrix, &parameters.parse()?)?;
            let runs = if entry.name.contains("-sgd") || entry.name == "walk" { 10_000 } else { plan.runs };
            let noise = NoiseMultiplier::new(1.0)?;
            let run = |observer: &Observer| {
                audit(
                    protocol.as_ref(),
                    2,
                    observer,
                    noise,
                    AuditPlan { runs, ..plan },
                    &mut rng(k as u64),
                    &Silent,
                )
            };
            let found = match run(&Observer::node(0)) {
                Err(Error::NotOffered(_)) => run(&Observer::outsider()),
                found => found,
            };
            Ok((entry.name, found))
        })
        .collect::<Result<_, Error>>()?;
    assert_eq!(audited.len(), PROTOCOLS.len());
    for (name, found) in audited {
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!found.is_refuted(), "{name}: {found:?}");
        if found.allowed.grade() == Grade::Exact {
            assert!(*found.measured_mu.value() >= 0.9 * found.allowed.value().mu(), "{name}: {found:?}");
        }
    }
    Ok(())
}

/// A protocol whose noise is weaker than it says is refuted.
#[test]
fn an_audit_finds_missing_noise() -> Result<(), Error> {
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::star_graph(6)?), 3);
    let observer = Observer::node(1);
    let (claimed, weaker) = (NoiseMultiplier::new(1.0)?, NoiseMultiplier::new(0.8)?);
    let plan = AuditPlan { runs: 50_000, error_rate: 1e-4 };
    let found = audit(&gossip, 2, &observer, weaker, plan, &mut rng(5), &Silent)?;
    let claim = gossip.account(&observer)?.profile(2, claimed)?.mu().unwrap().value().mu();
    assert!(*found.measured_mu.value() > claim);
    Ok(())
}

#[test]
fn observers_say_what_they_know() -> Result<(), Error> {
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(3)?), 2);
    let noise = NoiseMultiplier::new(2.0)?;
    let mu = |observer: &Observer| -> Result<f64, Error> {
        Ok(gossip.account(observer)?.profile(0, noise)?.mu().unwrap().value().mu())
    };
    // The end of a path learns everything with its own noise, half of it (in squares) without.
    assert!((mu(&Observer::node(2))? - 0.5).abs() < 1e-9);
    assert!((mu(&Observer::node(2).without_own_noise())? - 0.5f64.sqrt() / 2.0).abs() < 1e-9);
    let refused = |observer: Observer| gossip.account(&observer).err();
    assert!(matches!(refused(Observer::node(2).tapping(&[(0, 1)])), Some(Error::NotOffered(_))));
    assert!(matches!(refused(Observer::node(2).with_hidden_senders()), Some(Error::NotOffered(_))));
    assert!(matches!(refused(Observer::outsider().tapping(&[(0, 1)])), Some(Error::NotOffered(_))));
    assert_eq!(refused(Observer::coalition(&[1, 1])), Some(Error::RepeatedMember(1)));
    assert_eq!(refused(Observer::node(3)), Some(Error::NodeOutOfRange { node: 3, nodes: 3 }));
    let account = gossip.account(&Observer::node(2))?;
    assert_eq!(account.profile(2, noise).err(), Some(Error::SourceIsObserver(2)));
    assert_eq!(Observer::coalition(&[4, 1]).to_string(), "nodes 1, 4 together");
    Ok(())
}

#[test]
fn names_and_parameters_are_checked() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(4)?);
    assert!(registry::find("mufliato").err().unwrap().to_string().contains("muffliato"));
    let muffliato = registry::find("muffliato")?;
    for text in ["rounds=0", "rounds=1.5", "rounds=nan", "rounds=1e300", "rho=1"] {
        assert!(muffliato.build(&matrix, &text.parse()?).is_err(), "{text}");
    }
    for text in ["rounds", "rounds=x", "rounds=1,rounds=2"] {
        assert!(text.parse::<Parameters>().is_err(), "{text}");
    }
    let parameters: Parameters = "rounds=3, seed=2".parse()?;
    assert_eq!(parameters.to_string().parse::<Parameters>()?, parameters);
    Ok(())
}

/// A protocol without an answer keeps its row in a comparison.
#[test]
fn comparisons_keep_the_reasons() -> Result<(), Error> {
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(3)?), 2);
    let refused: Result<&dyn Protocol, Error> = Err(Error::NotOffered("for this test"));
    let target = Target::worst(approx(1e-5)?, 1.0);
    let table = compare(&[("gossip", Ok(&gossip)), ("none", refused)], &[Observer::node(0)], &target);
    assert!(table.rows[0].least.is_ok() && table.rows[0].grade == Some(Grade::Exact));
    assert_eq!(table.rows[1].least, Err(Error::NotOffered("for this test")));
    assert!(table.to_string().contains("for this test"));
    Ok(())
}

/// A token that goes one way around: what lies ahead of the observer is not reached, what lies behind is.
#[test]
fn tokens_travel_in_the_direction_of_the_walk() -> Result<(), Error> {
    use ndp_algos::walk::graph::TokenWalk;
    use ndp_graph::hitting::Start;
    let matrix = generators::directed_cycle(5)?;
    let walk = TokenWalk::new(&matrix, Start::Node(0), 4)?;
    let account = walk.account(&Observer::node(2))?;
    let renyi = |u: usize| -> Result<f64, Error> {
        Ok(account.profile(u, NoiseMultiplier::new(1.0)?)?.renyi(Order::new(2.0)?)?.value().epsilon)
    };
    // From 1 the token comes to 2; from 3 it would take four steps, of which only one is left.
    assert!(renyi(1)? > 0.9, "{}", renyi(1)?);
    assert!(renyi(0)? > 0.4 && renyi(0)? < renyi(1)?);
    Ok(())
}

/// Accounts of different protocols and observers in one question are not taken for each other.
#[test]
fn accounts_that_are_alike_are_told_apart() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(6)?);
    let build = |text: &str| registry::find("local-sgd")?.build(&matrix, &text.parse()?);
    let (cheap, dear) = (build("contributions=1")?, build("contributions=9")?);
    let observer = Observer::node(0);
    let target = Target::worst(Measure::Gaussian, 1.0);
    for accounts in [
        [cheap.account(&observer)?, dear.account(&observer)?],
        [dear.account(&observer)?, cheap.account(&observer)?],
    ] {
        let least = least_noise(&accounts, &target)?.noise.get();
        assert!((least - 3.0).abs() < 1e-9, "{least}");
    }
    Ok(())
}

/// The bound that costs nothing covers the account, for everyone and everybody's data, wherever it is offered.
#[test]
fn the_local_bound_covers_every_account() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::hypercube_graph(3)?);
    let noise = NoiseMultiplier::new(1.5)?;
    let (measure, order) = (approx(1e-5)?, Order::new(2.0)?);
    let mut offered = Vec::new();
    for entry in PROTOCOLS {
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
    assert_eq!(
        offered,
        [
            "muffliato",
            "muffliato-accelerated",
            "randomized-gossip",
            "randomized-accelerated",
            "one-peer",
            "fresh-noise",
            "noisy-messages",
            "decor",
            "zip-dl",
            "secure-neighbor-sums",
            "gopa",
            "corn-dsgd",
            "hierarchical",
            "dsgd",
            "push-sum",
            "ring-sum",
            "ring-histogram",
            "complete-sum",
            "complete-histogram",
            "walk",
            "local-sgd",
            "central-sgd",
            "federated-sgd",
            "walk-sgd-complete",
            "walk-sgd",
            "gossip-sgd",
            "local",
            "central"
        ]
    );
    // Between two who collude a token may carry no noise.
    assert!(
        registry::find("ring-sum")?
            .build(&matrix, &Parameters::default())?
            .local_bound(&Observer::coalition(&[0, 2]))
            .is_err()
    );
    Ok(())
}

/// No account is above the bound that costs nothing, in any terms, with few nodes and steps and much noise either: there accountants of
/// walks and by subsampling lose more than they gain, and their orders end too early.
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
                    assert!(least.noise <= local, "{name}:{parameters}: {least:?} {local:?}");
                }
            }
        }
    }
    assert!(compared > 150, "{compared}");
    Ok(())
}

/// Two steps of a walk with noise of 10,000: an epsilon of 1.5e-4, not of 8.5e-4, where the orders looked at ended. By the Gaussian
/// curve of two contributions at most.
#[test]
fn a_short_walk_with_much_noise() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?);
    let walk = registry::find("walk")?.build(&matrix, &"steps=2".parse()?)?;
    let profile = walk.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(1e4)?)?;
    let epsilon = profile.loss(approx(1e-5)?)?.into_value();
    assert!(epsilon <= 1.6e-4, "{epsilon}");
    Ok(())
}

/// What a walk shows is made of its contributions: a cap bounds them, and so do the steps where there is none.
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
    assert!(registry::find("walk")?.build(&matrix, &"steps=30,cap=0".parse()?).is_err());
    Ok(())
}

/// Who hears every step of a neighbor on two nodes learns all that the bound grants, whatever is taken back of the noise.
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

/// Trainings by name are those of the registry, for data of one's own.
#[test]
fn trainings_are_found_by_name() -> Result<(), Error> {
    use ndp_algos::sgd::Training;
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(5)?);
    let walk = registry::training("walk-sgd", &matrix, &"steps=7,cap=2".parse()?)?;
    assert!(matches!(walk, Training::WalkOnGraph { steps: 7, cap: 2, .. }));
    let federated = registry::training("federated-sgd", &matrix, &Parameters::default())?;
    assert!(matches!(federated, Training::Federated(_)));
    let wrong = registry::training("muffliato", &matrix, &Parameters::default());
    assert!(matches!(wrong, Err(Error::NoSuchName { what: "training", .. })));
    let wrong = registry::training("walk-sgd", &matrix, &"stepz=7".parse()?);
    assert!(matches!(wrong, Err(Error::NoSuchName { what: "parameter", .. })));
    Ok(())
}

/// Counts that fit no memory are refused, not tried.
#[test]
fn counts_that_fit_no_memory_are_refused() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?);
    for (name, parameters) in [
        ("randomized-gossip", "activations=4e9"),
        ("randomized-accelerated", "activations=4e9"),
        ("noisy-messages", "rounds=4e9"),
        ("gossip-sgd", "epochs=4e9"),
    ] {
        let built = registry::find(name)?.build(&matrix, &parameters.parse()?);
        let refused = built.and_then(|protocol| protocol.account(&Observer::node(0)).map(drop));
        let Err(Error::Graph(ndp_graph::Error::TooLarge { .. })) = refused else {
            panic!("{name}: {refused:?}");
        };
    }
    Ok(())
}

/// Who is not looked at is covered by a bound, by accounts that are alike, or not at all; only then is nothing met.
#[test]
fn coverage_decides_what_is_met() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(9)?);
    let target = Target::worst(Measure::Gaussian, 1.0);
    let covered_by =
        |protocol: &dyn Protocol, drawn: &[usize]| -> Result<(Coverage, Verdict, Verdict), Error> {
            let audience = Audience::drawn(9, drawn, 3)?;
            let looked_at = accounts(protocol, audience.looked_at(), &Silent)?;
            let covered = Covered::new(protocol, &audience, looked_at);
            let at = |noise: f64| covered.check(NoiseMultiplier::new(noise)?, &target);
            Ok((covered.coverage.clone(), at(1.01)?.verdict, at(0.2)?.verdict))
        };
    let of = |name: &str, drawn: &[usize]| {
        let protocol = registry::find(name)?.build(&matrix, &Parameters::default())?;
        covered_by(protocol.as_ref(), drawn)
    };
    let bounded = Coverage::Bounded { looked_at: 2, nodes: 9, seed: 3 };
    assert_eq!(of("muffliato", &[1, 4])?, (bounded.clone(), Verdict::Met, Verdict::Violated));
    assert_eq!(of("ring-sum", &[1, 4])?.0, bounded);
    assert_eq!(
        of("ring-sum-laplace", &[0]).map(|found| found.0).err(),
        Some(ndp_dp::Error::NotGaussian.into())
    );
    let all: Vec<usize> = (0..9).collect();
    assert_eq!(of("muffliato", &all)?.0, Coverage::All { nodes: 9 });
    // A program of one's own has no bound: what two learn says nothing about the others.
    let program = constructors::muffliato(&matrix, 3)?;
    let own = Declared::new(program, SensitivitySet::UseLevel);
    let sample = Coverage::Sample { looked_at: 2, nodes: 9, seed: 3 };
    assert_eq!(covered_by(&own, &[1, 4])?, (sample, Verdict::NotShown, Verdict::Violated));
    // Contributions that count one by one are the same for everybody.
    let laplace = registry::find("ring-sum-laplace")?.build(&matrix, &Parameters::default())?;
    let audience = Audience::drawn(9, &[5], 0)?;
    let looked_at = accounts(laplace.as_ref(), audience.looked_at(), &Silent)?;
    let covered = Covered::new(laplace.as_ref(), &audience, looked_at);
    assert_eq!((&covered.coverage, covered.accounts.len()), (&Coverage::Alike { nodes: 9 }, 9));
    // The bound is for everybody who is not looked at, and a pair that exceeds it counts for all that are alike.
    let found = covered.check(NoiseMultiplier::new(0.1)?, &Target::worst(approx(1e-5)?, 1.0))?;
    assert_eq!(found.exceeding, 9 * 8);
    Ok(())
}

/// A sample that needs less noise than the others is not the answer.
#[test]
fn the_least_noise_is_that_of_everybody() -> Result<(), Error> {
    // A ring with chords, and a leaf whose only neighbor it hears alone.
    let n = 24;
    let chords = (0..n).flat_map(|u| (1..5).map(move |d| (u, (u + d) % n)));
    let graph = ndp_graph::Graph::from_edges(n + 1, chords.chain([(0, n)]))?;
    let matrix = GossipMatrix::metropolis(&graph);
    let protocol = registry::find("secure-neighbor-sums")?.build(&matrix, &"rounds=1".parse()?)?;
    let target = Target::worst(Measure::Gaussian, 0.5);
    let least = |audience: &Audience| -> Result<(f64, Option<f64>), Error> {
        let looked_at = accounts(protocol.as_ref(), audience.looked_at(), &Silent)?;
        let covered = Covered::new(protocol.as_ref(), audience, looked_at);
        let least = covered.least_noise(&target)?;
        let alone = covered.of_looked_at(&target, &least);
        Ok((least.noise.get(), alone.map(NoiseMultiplier::get)))
    };
    let (everybody, none) = least(&Audience::every_node(n + 1))?;
    assert!((everybody - 2.0).abs() < 1e-9 && none.is_none(), "{everybody}");
    let (sample, alone) = least(&Audience::drawn(n + 1, &[7, 11], 0)?)?;
    assert!((sample - 2.0).abs() < 1e-9 && alone.is_some_and(|alone| alone < 1.0), "{sample} {alone:?}");
    Ok(())
}

/// Limits are for every member of a coalition, and one that nobody answers for is an error.
#[test]
fn every_limit_has_somebody_who_answers() -> Result<(), Error> {
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(6)?), 4);
    let noise = NoiseMultiplier::new(1.0)?;
    let limits = [((2, 5), 0.01), ((2, 0), 5.0)];
    let ask = |observers: &[Observer], target: &Target| {
        let accounts = accounts(&gossip, observers, &Silent)?;
        check(&accounts, noise, target).map(|found| (found.verdict, found.exceeding))
    };
    let listed = Target::listed(Measure::Gaussian, limits);
    let nobody = |exposed, observer| Err(Error::NobodyLooked { exposed, observer });
    assert_eq!(ask(&[Observer::node(0)], &listed), nobody(2, 5));
    assert_eq!(ask(&[Observer::node(0), Observer::coalition(&[2, 5])], &listed), nobody(2, 5));
    assert_eq!(ask(&[Observer::outsider()], &listed), nobody(2, 0));
    // The second member of a coalition has a limit, too.
    let function =
        Target::pairs(Measure::Gaussian, |u, v| if (u, v) == (2, 5) { 0.01 } else { f64::INFINITY });
    for target in [&listed, &function] {
        assert_eq!(ask(&[Observer::coalition(&[0, 5])], target), Ok((Verdict::Violated, 1)));
        let both = [Observer::node(0), Observer::node(5)];
        assert_eq!(ask(&both, target), Ok((Verdict::Violated, 1)));
    }
    assert!(matches!(
        least_noise(&accounts(&gossip, &[Observer::node(0)], &Silent)?, &listed),
        Err(Error::NobodyLooked { exposed: 2, observer: 5 })
    ));
    Ok(())
}

/// An outsider hears what is published, and no more; every protocol of the registry says what that is.
#[test]
fn outsiders_have_an_account() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
    let noise = NoiseMultiplier::new(2.0)?;
    let (order, delta) = (Order::new(2.0)?, Delta::new(1e-5)?);
    for entry in PROTOCOLS {
        let text = match entry.name {
            "complete-histogram" => "steps=8",
            "walk-sgd" | "walk-sgd-complete" => "steps=16,cap=2",
            _ => "",
        };
        let protocol = entry.build(&matrix, &text.parse()?)?;
        let outside = protocol.account(&Observer::outsider())?;
        for u in [0, 3] {
            let (profile, of_node) = (
                outside.profile(u, noise)?,
                protocol.account(&Observer::node(usize::from(u == 0)))?.profile(u, noise)?,
            );
            // Who hears less learns less: at the order of both, or at the delta of both.
            let (low, high) = match (profile.renyi(order), of_node.renyi(order)) {
                (Ok(low), Ok(high)) => (low.into_value().epsilon, high.into_value().epsilon),
                _ => (profile.epsilon(delta)?.value().epsilon(), of_node.epsilon(delta)?.value().epsilon()),
            };
            assert!(low <= high * (1.0 + 1e-9), "{} about {u}: {low} above {high}", entry.name);
            let nothing = profile.mu().is_some_and(|mu| mu.value().mu() == 0.0 && mu.grade() == Grade::Exact);
            let silent = [
                "muffliato",
                "muffliato-accelerated",
                "randomized-gossip",
                "randomized-accelerated",
                "one-peer",
                "fresh-noise",
                "noisy-messages",
                "secure-neighbor-sums",
                "corn-dsgd",
                "push-sum",
                "walk",
                "complete-sum",
                "complete-sum-laplace",
                "complete-sum-discrete-laplace",
                "complete-histogram",
                "gossip-sgd",
                "hierarchical",
                "zip-dl",
            ];
            assert_eq!(nothing, silent.contains(&entry.name), "{} about {u}", entry.name);
        }
    }
    // The total of a ring: one contribution behind the noise of all steps, and two of them on eight nodes.
    let ring = registry::find("ring-sum")?.build(&matrix, &Parameters::default())?;
    let mu = ring.account(&Observer::outsider())?.profile(3, noise)?.mu().map(|mu| mu.value().mu());
    assert!(mu.is_some_and(|mu| (mu - 0.5 / 2.0_f64.sqrt()).abs() < 1e-12), "{mu:?}");
    Ok(())
}

/// Federated training has one answer towards a user, whichever way it is asked.
#[test]
fn a_user_of_federated_training_has_one_answer() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(6)?);
    let noise = NoiseMultiplier::new(2.0)?;
    let federated = registry::find("federated-sgd")?.build(&matrix, &Parameters::default())?;
    for observer in [Observer::node(2), Observer::coalition(&[2, 4])] {
        let mu = |account: Box<dyn Account + '_>| Ok::<_, Error>(account.profile(0, noise)?.mu());
        let (account, bound) = (mu(federated.account(&observer)?)?, mu(federated.local_bound(&observer)?)?);
        assert_eq!(account, bound);
        assert!(
            account
                .is_some_and(|mu| (mu.value().mu() - 0.5).abs() < 1e-12 && mu.grade() == Grade::UpperBound)
        );
    }
    // A reader of the last model learns less than the user of one round.
    let reader = federated.account(&Observer::outsider())?.profile(0, noise)?;
    assert!(reader.epsilon(Delta::new(1e-5)?)?.value().epsilon() <= 2.0);
    Ok(())
}

/// Decentralized SGD declares nothing on behalf of the user: all data of a node may change, and gradients react to anything.
#[test]
fn dsgd_declares_nothing_by_default() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::karate_club_graph()?);
    let mu = |text: &str| -> Result<(f64, Grade, Vec<Assumption>), Error> {
        let protocol = registry::find("dsgd")?.build(&matrix, &text.parse()?)?;
        let account = protocol.account(&Observer::node(11))?;
        let mu = account.profile(33, NoiseMultiplier::new(1.0)?)?.mu();
        let assumed = account.assumptions();
        mu.map(|mu| (mu.value().mu(), mu.grade(), assumed)).ok_or(Error::Cancelled)
    };
    let whole = mu("steps=5")?;
    assert!((whole.0 - 5.0_f64.sqrt()).abs() < 1e-12 && whole.1 == Grade::UpperBound && whole.2.is_empty());
    // What is declared lowers the number, and is said.
    let fixed = mu("steps=5,fixed=1")?;
    let alike = mu("steps=5,fixed=1,alike=1")?;
    assert!(alike.0 <= fixed.0 * (1.0 + 1e-9) && fixed.0 <= whole.0, "{alike:?} {fixed:?}");
    assert!((alike.0 - 0.00183652172290669_f64.sqrt()).abs() < 1e-9, "{alike:?}");
    assert_eq!((fixed.2, alike.2), (vec![Assumption::Fixed], vec![Assumption::Fixed]));
    // Noise that is taken back or added again: 1, 1 + b, 1 + b + b² with b = 1/2 of whichever sign.
    for back in ["0.5", "-0.5"] {
        let found = mu(&format!("steps=3,correlation={back}"))?.0;
        assert!((found - (1.0 + 2.25 + 3.0625_f64).sqrt()).abs() < 1e-12, "{found}");
    }
    assert!(registry::find("dsgd")?.build(&matrix, &"alike=2".parse()?).is_err());
    Ok(())
}
