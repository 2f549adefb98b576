//! What every protocol of the registry says its numbers are about.

#![allow(clippy::unwrap_used, reason = "a test")]

use Outside::{Nothing, Something};
use ndp_account::{Assumption, Audience, Changes, Covered, Law, Observer, Statement, accounts};
use ndp_algos::registry::{self, Entry, PROTOCOLS};
use ndp_dp::{Delta, NoiseMultiplier};
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, Graph, Weights, generators};
use std::collections::{BTreeMap, BTreeSet};

/// Name and parameters, what may change, the law of the noise, what the noise is in units of, the theorem,
/// what an outsider learns.
type Row = (&'static str, Changes, Law, &'static str, &'static str, Outside);

/// What an outsider, who hears what is published, learns about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    Nothing,
    Something,
}

/// What an outsider of the protocol of this name learns, as its row says. A sum behind a law of noise without
/// a row publishes what the sum does.
pub(crate) fn outside(name: &str) -> Outside {
    let of = |name: &str| EXPECTED.iter().find(|row| row.0.split(':').next() == Some(name));
    let sum = ["ring-sum", "complete-sum"].into_iter().find(|sum| name.starts_with(sum));
    of(name).or_else(|| of(sum?)).unwrap_or_else(|| panic!("no row for {name}")).5
}

const RANGE: &str = "the range of a value";
const USE: &str = "the sensitivity of a use";
const GRADIENT: &str = "the sensitivity of a gradient";
const REPORT: &str = "1/epsilon0";
const CERTIFIED: &str = "Certified losses";
const PROGRAMS: &str = "Programs";
const NETWORK: &str = "Privacy amplification by decentralization";
const TRAINING: &str = "Federated learning by contraction";

const EXPECTED: &[Row] = &[
    ("muffliato", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("muffliato-accelerated", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("randomized-gossip", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("one-peer", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("randomized-accelerated", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("fresh-noise", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("noisy-messages", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Nothing),
    ("decor", Changes::Value, Law::Gaussian, USE, PROGRAMS, Something),
    ("zip-dl", Changes::Value, Law::Gaussian, USE, PROGRAMS, Nothing),
    ("gopa", Changes::Value, Law::Gaussian, USE, PROGRAMS, Something),
    ("corn-dsgd", Changes::Value, Law::Gaussian, USE, PROGRAMS, Nothing),
    ("secure-neighbor-sums", Changes::Value, Law::Gaussian, USE, PROGRAMS, Nothing),
    ("hierarchical", Changes::Value, Law::Gaussian, USE, PROGRAMS, Nothing),
    ("push-sum", Changes::Value, Law::Gaussian, USE, PROGRAMS, Nothing),
    ("dsgd:steps=3", Changes::EveryGradient, Law::Gaussian, GRADIENT, "Accounting", Something),
    ("dsgd:steps=3,alike=1,fixed=1", Changes::GradientsAlike, Law::Gaussian, GRADIENT, PROGRAMS, Something),
    ("ring-sum", Changes::EveryContribution, Law::Gaussian, RANGE, CERTIFIED, Something),
    ("ring-sum-laplace", Changes::EveryContribution, Law::Laplace, RANGE, NETWORK, Something),
    (
        "ring-sum-discrete-laplace",
        Changes::EveryContribution,
        Law::DiscreteLaplace,
        RANGE,
        NETWORK,
        Something,
    ),
    ("ring-histogram", Changes::EveryLabel, Law::RandomizedResponse, REPORT, NETWORK, Something),
    ("complete-sum", Changes::EveryContribution, Law::Gaussian, RANGE, NETWORK, Nothing),
    ("complete-sum:constant=1", Changes::Value, Law::Gaussian, RANGE, NETWORK, Nothing),
    ("complete-sum-laplace", Changes::EveryContribution, Law::Laplace, RANGE, NETWORK, Nothing),
    (
        "complete-sum-discrete-laplace",
        Changes::EveryContribution,
        Law::DiscreteLaplace,
        RANGE,
        NETWORK,
        Nothing,
    ),
    ("complete-histogram", Changes::Label, Law::RandomizedResponse, REPORT, NETWORK, Nothing),
    ("walk:steps=20", Changes::EveryContribution, Law::Gaussian, RANGE, "Random walks", Nothing),
    ("local", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Something),
    ("central", Changes::Value, Law::Gaussian, RANGE, CERTIFIED, Something),
    ("local-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, NETWORK, Something),
    ("central-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, NETWORK, Something),
    ("federated-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, TRAINING, Something),
    ("walk-sgd-complete", Changes::EveryGradient, Law::Gaussian, GRADIENT, NETWORK, Something),
    ("walk-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, "Random walks", Something),
    ("gossip-sgd", Changes::EveryGradient, Law::Gaussian, GRADIENT, "Muffliato", Nothing),
    ("ring-sum:passes=2", Changes::EveryContribution, Law::Gaussian, RANGE, CERTIFIED, Something),
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
    for &(text, changes, law, unit, theorem, _) in EXPECTED {
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

/// Whoever sees more than the observers, and is trusted, is said: a curator, a secure sum, noises of several;
/// that nobody reacts to a token; and that nobody hands out what it holds in the end.
#[test]
fn those_who_are_trusted_are_said() {
    use Assumption::{
        CommonGradients, CommonRange, ConstantData, Curator, Fixed, NothingPublished, SecureSums,
        SharedNoise, TheseMeetings,
    };
    let expected: BTreeMap<&str, &[Assumption]> = [
        ("decor", &[SharedNoise][..]),
        ("gopa", &[SharedNoise]),
        ("corn-dsgd", &[SharedNoise, NothingPublished]),
        ("secure-neighbor-sums", &[SecureSums, NothingPublished]),
        ("hierarchical", &[Fixed, SecureSums, NothingPublished]),
        ("dsgd:steps=3,alike=1,fixed=1", &[Fixed, NothingPublished]),
        ("complete-sum:constant=1", &[ConstantData, CommonRange, NothingPublished]),
        ("walk:steps=20", &[Fixed, NothingPublished]),
        ("ring-sum", &[Fixed]),
        ("ring-sum:passes=2", &[Fixed]),
        ("ring-sum-laplace", &[Fixed]),
        ("ring-sum-discrete-laplace", &[Fixed]),
        ("ring-histogram", &[Fixed]),
        ("complete-sum", &[Fixed, NothingPublished]),
        ("complete-sum-laplace", &[Fixed]),
        ("complete-sum-discrete-laplace", &[Fixed]),
        ("complete-histogram", &[ConstantData, NothingPublished]),
        ("one-peer", &[NothingPublished, TheseMeetings]),
        ("randomized-gossip", &[NothingPublished, TheseMeetings]),
        ("randomized-accelerated", &[NothingPublished, TheseMeetings]),
        ("muffliato", &[NothingPublished]),
        ("muffliato-accelerated", &[NothingPublished]),
        ("fresh-noise", &[NothingPublished]),
        ("noisy-messages", &[NothingPublished]),
        ("gossip-sgd", &[NothingPublished]),
        ("push-sum", &[NothingPublished]),
        ("zip-dl", &[NothingPublished]),
        ("central", &[Curator]),
        ("central-sgd", &[Curator, CommonGradients]),
        ("federated-sgd", &[Curator]),
    ]
    .into();
    let said = EXPECTED.iter().map(|(text, ..)| (*text, stated(text).assumes.into_iter().collect()));
    let said: BTreeMap<&str, Vec<Assumption>> =
        said.filter(|(_, all): &(_, Vec<_>)| !all.is_empty()).collect();
    let expected: BTreeMap<&str, Vec<Assumption>> =
        expected.into_iter().map(|(text, all)| (text, all.to_vec())).collect();
    assert_eq!(said, expected);
}

/// Declared reads belong to the statement, and to that of several runs, which are fixed beforehand.
#[test]
fn what_is_assumed_stays_when_runs_add_up() {
    let (assumed, plain) = (stated("dsgd:steps=3,alike=1,fixed=1"), stated("muffliato"));
    assert!(assumed.assumes.len() == 2 && plain.assumes.len() == 1);
    for both in [assumed.and(&plain).unwrap(), plain.and(&assumed).unwrap()] {
        let mut all = assumed.assumes.clone();
        all.insert(Assumption::RunsFixed);
        assert_eq!((both.runs, &both.assumes), (2, &all));
        assert_eq!(both.changes.len(), 2);
        assert!(both.failure >= assumed.failure.max(plain.failure));
    }
}

/// A protocol says in its description that it brings connections of its own, and no other does.
#[test]
fn who_brings_connections_of_its_own_says_so() {
    let says =
        ["whatever the graph", "around a ring", "as ring-sum", "as complete-sum", "curator", "federated"];
    for entry in PROTOCOLS.iter() {
        let elsewhere = says.iter().any(|words| entry.about.contains(words));
        assert_eq!(elsewhere, !entry.is_on_the_graph(), "{}", entry.name);
    }
}

/// Other weights on the same graph change losses or the error exactly where a protocol says that it uses
/// them.
#[test]
fn who_uses_weights_says_so() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::from_edges(5, [(0, 1), (1, 2), (2, 3), (1, 4)])?;
    let told = |entry: &Entry, weights| -> Result<Vec<f64>, Box<dyn std::error::Error>> {
        let short = match entry.name {
            "dsgd" => "steps=3,alike=1,fixed=1",
            "complete-histogram" => "steps=8",
            _ if entry.parameters.iter().any(|known| known.name == "rounds") => "rounds=2",
            _ => "",
        };
        let Ok(protocol) = entry.build(&GossipMatrix::new(&graph, weights)?, &short.parse()?) else {
            return Ok(Vec::new()); // one-peer gossip needs a hypercube
        };
        let noise = NoiseMultiplier::new(2.0)?;
        let account =
            protocol.account(&Observer::node(0)).or_else(|_| protocol.account(&Observer::outsider()))?;
        let loss = |u| Ok(account.profile(u, noise)?.epsilon(Delta::new(1e-5)?)?.value().epsilon());
        let losses = (1..5).map(loss).collect::<Result<Vec<f64>, ndp_account::Error>>()?;
        Ok(losses.into_iter().chain(protocol.error(noise)).collect())
    };
    for entry in PROTOCOLS.iter() {
        let (one, other) = (told(entry, Weights::Metropolis)?, told(entry, Weights::MaxDegree)?);
        assert_eq!(one != other, entry.uses_weights(), "{}: {one:?}, {other:?}", entry.name);
    }
    Ok(())
}

/// The value of node 0 does not enter a hierarchical sum. With a 1 there and 0 elsewhere the mean of all is
/// 1/n, and what is found is noise around 0.
#[test]
fn a_value_that_does_not_enter_counts_in_the_error() -> Result<(), Box<dyn std::error::Error>> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(5)?);
    let sums = registry::find("hierarchical")?.build(&matrix, &"groups=2".parse()?)?;
    // Four noises of deviation .29, over 4.
    let noise = NoiseMultiplier::new(0.29)?;
    let truth = (0.145f64.powi(2) + 0.2f64.powi(2)).sqrt();
    let found = sums.error(noise)?;
    assert!(truth <= found && found <= truth * (1.0 + 1e-9), "{found} for {truth}");
    Ok(())
}
