//! One question, asked of every protocol of the registry.

use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Allowed, Error, Observer, Protocol, Target, check, compare, least_noise};
use ndp_algos::gossip::SynchronousGossip;
use ndp_algos::registry::{self, PROTOCOLS, Parameters};
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

/// The karate club at the same (ε, δ) for every pair: a number or a reason for everyone, and at least twelve
/// numbers.
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
    // Users see models on the way: the bound of one noisy gradient, as in the local model with one
    // contribution.
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
    for entry in PROTOCOLS.iter() {
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
    let audited: Vec<(&str, Result<ndp_account::audit::Audit, Error>)> = PROTOCOLS
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
            assert!(*found.measured_mu.value() >= 0.9 * found.allowed.value(), "{name}: {found:?}");
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
    // Who taps the edge of the end hears its noisy value, and nothing that tells more about it.
    assert!((mu(&Observer::outsider().tapping(&[(0, 1)]))? - 0.5).abs() < 1e-9);
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
    for text in ["rounds=0", "rounds=1.5", "rounds=nan", "rounds=1e300"] {
        let found = muffliato.build(&matrix, &text.parse()?);
        assert!(matches!(found, Err(Error::InvalidParameter { name: "rounds", .. })), "{text}");
    }
    let other = muffliato.build(&matrix, &"rho=1".parse()?);
    assert!(matches!(other, Err(Error::NoSuchName { what: "parameter", .. })));
    for (text, expected) in
        [("rounds", "NAME=NUMBER"), ("rounds=x", "NAME=NUMBER"), ("rounds=1,rounds=2", "given once")]
    {
        let found = text.parse::<Parameters>().map(|_| ()).unwrap_err().to_string();
        assert!(found.contains(expected), "{text}: {found}");
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

/// Trainings by name are those of the registry, for data of one's own.
#[test]
fn trainings_are_found_by_name() -> Result<(), Error> {
    use ndp_algos::sgd::{Training, walk::WalkSgd};
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(5)?);
    let walk = registry::training("walk-sgd", &matrix, &"steps=7,cap=2".parse()?)?;
    assert!(matches!(walk, Training::Walk { run: WalkSgd { steps: 7, cap: Some(2), .. }, .. }));
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
