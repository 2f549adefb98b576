//! What every protocol of the registry says its numbers are about.

#![allow(clippy::unwrap_used, reason = "a test")]

use ndp_account::{Assumption, Audience, Changes, Covered, Law, Observer, Statement, accounts};
use ndp_algos::registry::{self, PROTOCOLS};
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, generators};
use std::collections::{BTreeMap, BTreeSet};

/// Name and parameters, what may change, the law of the noise, what the noise is in units of, the theorem.
type Row = (&'static str, Changes, Law, &'static str, &'static str);

const RANGE: &str = "the range of a value";
const USE: &str = "the sensitivity of a use";
const GRADIENT: &str = "the sensitivity of a gradient";
const REPORT: &str = "1/epsilon0";
const CERTIFIED: &str = "Certified losses";
const PROGRAMS: &str = "Programs";
const NETWORK: &str = "Privacy amplification by decentralization";
const TRAINING: &str = "Federated learning by contraction";

const EXPECTED: [Row; 35] = [
    ("muffliato", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("muffliato-accelerated", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("randomized-gossip", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("one-peer", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("randomized-accelerated", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("fresh-noise", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("noisy-messages", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("decor", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("zip-dl", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("gopa", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("corn-dsgd", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("secure-neighbor-sums", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("hierarchical", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("push-sum", Changes::Value, Law::Gaussian, USE, PROGRAMS),
    ("dsgd:steps=3", Changes::EveryGradient, Law::Gaussian, GRADIENT, "Accounting"),
    ("dsgd:steps=3,alike=1,fixed=1", Changes::GradientsAlike, Law::Gaussian, GRADIENT, PROGRAMS),
    ("ring-sum", Changes::EveryContribution, Law::Gaussian, RANGE, CERTIFIED),
    ("ring-sum-laplace", Changes::EveryContribution, Law::Laplace, RANGE, NETWORK),
    ("ring-sum-discrete-laplace", Changes::EveryContribution, Law::DiscreteLaplace, RANGE, NETWORK),
    ("ring-histogram", Changes::EveryLabel, Law::RandomizedResponse, REPORT, NETWORK),
    ("complete-sum", Changes::EveryContribution, Law::Gaussian, RANGE, NETWORK),
    ("complete-sum:constant=1", Changes::Value, Law::Gaussian, RANGE, NETWORK),
    ("complete-sum-laplace", Changes::EveryContribution, Law::Laplace, RANGE, NETWORK),
    ("complete-sum-discrete-laplace", Changes::EveryContribution, Law::DiscreteLaplace, RANGE, NETWORK),
    ("complete-histogram", Changes::Label, Law::RandomizedResponse, REPORT, NETWORK),
    ("walk:steps=20", Changes::EveryContribution, Law::Gaussian, RANGE, "Random walks"),
    ("local", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("central", Changes::Value, Law::Gaussian, RANGE, CERTIFIED),
    ("local-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, NETWORK),
    ("central-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, NETWORK),
    ("federated-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, TRAINING),
    ("walk-sgd-complete", Changes::EveryGradient, Law::Gaussian, GRADIENT, NETWORK),
    ("walk-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, "Random walks"),
    ("gossip-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, "Muffliato"),
    ("ring-sum:passes=2", Changes::EveryContribution, Law::Gaussian, RANGE, CERTIFIED),
];

/// The protocol of a row on a cube, and what one observer of it is told.
fn stated(text: &str) -> Statement {
    let matrix = GossipMatrix::metropolis(&generators::hypercube_graph(3).unwrap());
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let protocol = registry::find(name).unwrap().build(&matrix, &parameters.parse().unwrap()).unwrap();
    let observer = if name == "federated-sgd" { Observer::outsider() } else { Observer::node(1) };
    let audience = Audience::named(vec![observer.clone()]);
    let found = accounts(protocol.as_ref(), audience.looked_at(), &Silent).unwrap();
    // The bound in the place of the account protects the same data behind the same noise.
    if let Ok(bound) = protocol.local_bound(&observer) {
        assert_eq!(bound.terms().changes, found[0].terms().changes, "{text}");
        assert_eq!(bound.terms().noise.law, found[0].terms().noise.law, "{text}");
        // On a ring it is the account of a node that sees every kind of release.
        let theorem = if name == "ring-histogram" { NETWORK } else { "Accounting" };
        assert_eq!(bound.terms().by.theorem, theorem, "{text}");
    }
    Covered::new(protocol.as_ref(), &audience, found).statement().unwrap()
}

#[test]
fn every_protocol_says_what_its_numbers_are_about() {
    for (text, changes, law, unit, theorem) in EXPECTED {
        let statement = stated(text);
        assert_eq!(statement.changes.iter().copied().collect::<Vec<_>>(), [changes], "{text}");
        let noise = statement.noise.first().unwrap();
        assert_eq!((noise.law, noise.unit, statement.noise.len()), (law, unit, 1), "{text}");
        assert!(!noise.on.is_empty(), "{text}");
        // That of the bound, too, where the smaller of the two is given.
        let theorems: BTreeSet<&str> = statement.by.iter().map(|by| by.theorem).collect();
        assert!(theorems.contains(theorem), "{text}: {theorems:?}");
        // That of the law of the cost, too, where it is offered beside Rényi losses.
        let by_law = text.starts_with("walk-sgd-complete").then_some("Random walks");
        let known = |found: &&str| [Some(theorem), Some("Accounting"), by_law].contains(&Some(*found));
        assert!(theorems.iter().all(known), "{text}: {theorems:?}");
    }
    // None is left out; sums behind further laws of noise are about the same.
    for entry in PROTOCOLS.iter() {
        if EXPECTED.iter().any(|row| row.0.split(':').next() == Some(entry.name)) {
            continue;
        }
        assert!(
            ["ring-sum-", "complete-sum-"].iter().any(|sum| entry.name.starts_with(sum)),
            "{}",
            entry.name
        );
        let statement = stated(entry.name);
        let noise = statement.noise.iter().next().unwrap();
        assert_eq!((statement.changes.len(), noise.unit), (1, RANGE), "{}", entry.name);
        assert!(statement.changes.contains(&Changes::EveryContribution), "{}", entry.name);
    }
}

/// Whoever sees more than the observers, and is trusted, is said: a curator, a secure sum, noises of several.
#[test]
fn those_who_are_trusted_are_said() {
    use Assumption::{ConstantData, Curator, Fixed, SecureSums, SharedNoise};
    let expected: BTreeMap<&str, &[Assumption]> = [
        ("decor", &[SharedNoise][..]),
        ("gopa", &[SharedNoise]),
        ("corn-dsgd", &[SharedNoise]),
        ("secure-neighbor-sums", &[SecureSums]),
        ("hierarchical", &[Fixed, SecureSums]),
        ("dsgd:steps=3,alike=1,fixed=1", &[Fixed]),
        ("complete-sum:constant=1", &[ConstantData]),
        ("central", &[Curator]),
        ("central-sgd", &[Curator]),
        ("federated-sgd", &[Curator]),
    ]
    .into();
    for (text, ..) in EXPECTED {
        let assumes: Vec<Assumption> = stated(text).assumes.into_iter().collect();
        assert_eq!(assumes, expected.get(text).copied().unwrap_or_default(), "{text}");
    }
}

/// Declared reads belong to the statement, and to that of several runs.
#[test]
fn what_is_assumed_stays_when_runs_add_up() {
    let (assumed, plain) = (stated("dsgd:steps=3,alike=1,fixed=1"), stated("muffliato"));
    assert!(!assumed.assumes.is_empty() && plain.assumes.is_empty());
    for both in [assumed.and(&plain).unwrap(), plain.and(&assumed).unwrap()] {
        assert_eq!((both.runs, &both.assumes), (2, &assumed.assumes));
        assert_eq!(both.changes.len(), 2);
        assert!(both.failure >= assumed.failure.max(plain.failure));
    }
}
