//! Whom an answer covers, and that nothing is met for those it does not.

use crate::terms::{Outside, outside};
use ndp_account::{
    Account, Assumption, Audience, Coverage, Covered, Error, Observer, Protocol, Target, accounts, check,
    least_noise,
};
use ndp_algos::gossip::SynchronousGossip;
use ndp_algos::registry::{self, PROTOCOLS, Parameters};
use ndp_dp::{Delta, Grade, Measure, NoiseMultiplier, Order, Verdict};
use ndp_graph::progress::{Silent, Stop};
use ndp_graph::{GossipMatrix, Graph, generators};
use ndp_program::{Declared, SensitivitySet, constructors};
use std::collections::BTreeSet;

fn approx(delta: f64) -> Result<Measure, Error> {
    Ok(Measure::Approx(Delta::new(delta)?))
}

/// Who is not looked at is covered by a bound, by accounts that are alike, or not at all; only then is
/// nothing met.
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
    let bounded = Coverage::Bounded { looked_at: 2, nodes: 9, seed: Some(3) };
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
    let sample = Coverage::Sample { looked_at: 2, nodes: 9, seed: Some(3) };
    assert_eq!(covered_by(&own, &[1, 4])?, (sample, Verdict::NotShown, Verdict::Violated));
    // Contributions that count one by one are the same for everybody.
    let laplace = registry::find("ring-sum-laplace")?.build(&matrix, &Parameters::default())?;
    let audience = Audience::drawn(9, &[5], 0)?;
    let looked_at = accounts(laplace.as_ref(), audience.looked_at(), &Silent)?;
    let covered = Covered::new(laplace.as_ref(), &audience, looked_at);
    assert_eq!((&covered.coverage, covered.accounts.len()), (&Coverage::Alike { nodes: 9 }, 9));
    // The bound is for everybody who is not looked at, and a pair that exceeds it counts for all that are
    // alike.
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

/// On a graph with a leaf, one account and the bound say exactly what the worst pair of all loses: the same
/// as all accounts.
#[test]
fn one_node_and_the_bound_are_exact_for_all() -> Result<(), Error> {
    let edges = (0..8).map(|u| (u, (u + 1) % 8)).chain([(0, 8), (0, 4), (2, 6)]);
    let matrix = GossipMatrix::metropolis(&ndp_graph::Graph::from_edges(9, edges)?);
    let noise = NoiseMultiplier::new(3.0)?;
    for (text, grade) in [
        ("muffliato:rounds=4", Grade::Exact),
        ("muffliato-accelerated:rounds=4", Grade::Exact),
        ("fresh-noise:rounds=3", Grade::Exact),
        ("secure-neighbor-sums:rounds=3", Grade::Exact),
        // Every message has noise of its own beside that of the value: nobody learns what the bound grants.
        ("noisy-messages:rounds=2,ratio=1", Grade::UpperBound),
        ("walk:steps=30,cap=4", Grade::UpperBound),
        ("local", Grade::Exact),
    ] {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let protocol = registry::find(name)?.build(&matrix, &parameters.parse()?)?;
        let covered_by = |audience: &Audience| {
            let looked_at = accounts(protocol.as_ref(), audience.looked_at(), &Silent)?;
            Ok::<_, Error>(Covered::new(protocol.as_ref(), audience, looked_at))
        };
        let (one, all) = (covered_by(&Audience::chosen(9, &[8])?)?, covered_by(&Audience::every_node(9))?);
        for measure in [approx(1e-5)?, Measure::Renyi(Order::new(2.0)?)] {
            let worst = |covered: &Covered<'_>| covered.worst(noise, measure)?.ok_or(Error::Cancelled);
            let (one, all) = (worst(&one)?, worst(&all)?);
            assert_eq!(one.loss.grade(), grade, "{text}");
            let (one, all) = (one.loss.into_value(), all.loss.into_value());
            assert!(all <= one * (1.0 + 1e-9), "{text}: {all} above {one}");
            assert!(grade != Grade::Exact || one <= all * (1.0 + 1e-6), "{text}: {all} {one}");
        }
        // The least noise says so, too: less would be too little for that pair.
        let target = Target::worst(approx(1e-5)?, 1.0);
        let least = one.least_noise(&target)?;
        let pair = least.tightest.ok_or(Error::Cancelled)?;
        assert_eq!(pair.loss.grade(), grade, "{text}");
        if grade == Grade::Exact {
            let less = NoiseMultiplier::new(least.noise.get() * (1.0 - 1e-6))?;
            assert_eq!(all.check(less, &target)?.verdict, Verdict::Violated, "{text}");
        }
        assert_eq!(all.check(least.noise, &target)?.verdict, Verdict::Met, "{text}");
    }
    Ok(())
}

/// Who hears the first round alone learns no more about anybody than who hears all of it; a neighbor hears
/// enough of it to learn as much as anybody may, in a gossip whose values leave their nodes as they are.
#[test]
fn a_glimpse_is_below_the_account() -> Result<(), Error> {
    for graph in [
        generators::path_graph(2)?,
        generators::path_graph(5)?,
        generators::star_graph(4)?,
        generators::cycle_graph(6)?,
    ] {
        let (n, matrix) = (graph.node_count(), GossipMatrix::metropolis(&graph));
        for (name, rounds) in [
            ("secure-neighbor-sums", 4),
            ("push-sum", 4),
            ("muffliato", 5),
            ("muffliato-accelerated", 3),
            ("fresh-noise", 4),
            ("noisy-messages", 3),
        ]
        .into_iter()
        .flat_map(|(name, most)| (1..=most).map(move |rounds| (name, rounds)))
        {
            let parameters = format!("rounds={rounds}").parse()?;
            let protocol = registry::find(name)?.build(&matrix, &parameters)?;
            for observer in (0..n).flat_map(|v| [Observer::node(v), Observer::node(v).without_own_noise()]) {
                let part = protocol.glimpse(&observer, &Stop::never());
                let by_program = matches!(name, "secure-neighbor-sums" | "push-sum");
                if by_program && observer == observer.clone().without_own_noise() {
                    assert!(matches!(part, Err(Error::NotOffered(_))));
                    continue;
                }
                let (part, whole) = (part?, protocol.account(&observer)?);
                for u in (0..n).filter(|&u| !observer.contains(u)) {
                    let loss = |account: &dyn Account| {
                        let profile = account.profile(u, NoiseMultiplier::new(1.0)?)?;
                        Ok::<f64, Error>(profile.mu().map_or(f64::NAN, |mu| mu.value().mu()))
                    };
                    let (part, whole) = (loss(part.as_ref())?, loss(whole.as_ref())?);
                    assert!(
                        part <= whole * (1.0 + 1e-9),
                        "{name} {observer} about {u}, {rounds} rounds: {part} {whole}"
                    );
                    let is_neighbor = graph.has_edge(u, observer.members()[0]);
                    let whole_values = ["muffliato", "muffliato-accelerated", "fresh-noise", "push-sum"];
                    if is_neighbor && whole_values.contains(&name) {
                        assert!((part - 1.0).abs() < 1e-9, "{name} {observer} about {u}: {part}");
                    }
                }
            }
        }
    }
    let local = registry::find("local")?
        .build(&GossipMatrix::metropolis(&generators::path_graph(3)?), &"".parse()?)?;
    assert!(matches!(local.glimpse(&Observer::node(0), &Stop::never()), Err(Error::NotOffered(_))));
    Ok(())
}

/// Groups cover everybody: no pair, looked at one by one, loses more than they say, and where the largest
/// loss is called exact it is that of the worst pair.
#[test]
fn groups_cover_every_pair() -> Result<(), Error> {
    let one = NoiseMultiplier::new(1.0)?;
    let (mut smaller, mut exact) = (0, 0);
    for n in [9_usize, 12, 20, 33] {
        // A ring with chords that have no symmetry.
        let chords = (0..n).map(|v| (v, (v * v + 3) % n)).filter(|(v, w)| v != w);
        let edges = (0..n).map(|v| (v, (v + 1) % n)).chain(chords).map(|(v, w)| (v.min(w), v.max(w)));
        let graph = Graph::from_edges(n, edges.collect::<BTreeSet<_>>())?;
        let matrix = GossipMatrix::metropolis(&graph);
        for text in [
            "decor:own=0.5",
            "zip-dl",
            "gopa:own=0.1",
            "hierarchical:groups=4",
            "randomized-gossip",
            "corn-dsgd:rounds=3",
        ] {
            let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
            let parameters = parameters.replace(':', ",").parse()?;
            let Ok(protocol) = registry::find(name)?.build(&matrix, &parameters) else { continue };
            let protocol = protocol.as_ref();
            for known in [Observer::clone, |observer: &Observer| observer.clone().without_own_noise()] {
                let chosen = Audience::chosen(n, &[n / 2])?.map(|observer| known(&observer));
                let look = |observers: &[Observer]| accounts(protocol, observers, &Silent);
                let Ok(covered) = Covered::of(protocol, &chosen, look) else { continue };
                let covered = covered.by_groups(&chosen, look)?;
                if !matches!(covered.coverage, Coverage::Grouped { .. }) {
                    continue;
                }
                let all = Audience::every_node(n).map(|observer| known(&observer));
                let all = Covered::new(protocol, &all, accounts(protocol, all.looked_at(), &Silent)?);
                let (bound, truth) =
                    (covered.worst(one, Measure::Gaussian)?, all.worst(one, Measure::Gaussian)?);
                let (Some(bound), Some(truth)) = (bound, truth) else { panic!("{text}: no pair") };
                let (most, worst) = (*bound.loss.value(), *truth.loss.value());
                assert!(most >= worst * (1.0 - 1e-12), "{text} on {n}: {most} below {worst}");
                let local = protocol.local_bound(&Observer::node(0))?.profile(1, one)?.mu();
                smaller += usize::from(local.is_some_and(|local| most < local.value().mu() * 0.99));
                if bound.loss.grade() == Grade::Exact {
                    exact += 1;
                    assert!((most - worst).abs() <= 2e-9 * worst, "{text} on {n}: {most} is not {worst}");
                    let pair = protocol.account(&bound.observer)?.profile(bound.source, one)?.mu();
                    assert!(pair.is_some_and(|mu| mu.value().mu() >= worst * (1.0 - 2e-9)), "{text} on {n}");
                }
                let target = Target::worst(Measure::Gaussian, 0.7);
                // Both are proven; the upper end of a pair's own account may be larger in its last digits.
                let least = NoiseMultiplier::new(covered.least_noise(&target)?.noise.get() * (1.0 + 1e-9))?;
                assert_eq!(all.check(least, &target)?.verdict, Verdict::Met, "{text} on {n}");
                let statement = covered.statement()?;
                assert!(statement.by.iter().any(|by| by.function == "ndp_account::Covered::by_groups"));
            }
        }
    }
    assert!(smaller >= 12 && exact >= 5, "{smaller} {exact}");
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
    for entry in PROTOCOLS.iter() {
        let text = match entry.name {
            "complete-histogram" => "steps=8",
            "walk-sgd" | "walk-sgd-complete" => "steps=16,cap=2",
            _ => "",
        };
        let protocol = entry.build(&matrix, &text.parse()?)?;
        let outsider = protocol.account(&Observer::outsider())?;
        for u in [0, 3] {
            let (profile, of_node) = (
                outsider.profile(u, noise)?,
                protocol.account(&Observer::node(usize::from(u == 0)))?.profile(u, noise)?,
            );
            // Who hears less learns less: at the order of both, or at the delta of both.
            let (low, high) = match (profile.renyi(order), of_node.renyi(order)) {
                (Ok(low), Ok(high)) => (low.into_value().epsilon, high.into_value().epsilon),
                _ => (profile.epsilon(delta)?.value().epsilon(), of_node.epsilon(delta)?.value().epsilon()),
            };
            assert!(low <= high * (1.0 + 1e-9), "{} about {u}: {low} above {high}", entry.name);
            let nothing = profile.mu().is_some_and(|mu| mu.value().mu() == 0.0 && mu.grade() == Grade::Exact);
            assert_eq!(nothing, outside(entry.name) == Outside::Nothing, "{} about {u}", entry.name);
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

/// Decentralized SGD declares nothing on behalf of the user: all data of a node may change, and gradients
/// react to anything.
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
    let said = vec![Assumption::Fixed, Assumption::NothingPublished];
    assert_eq!((&fixed.2, &alike.2), (&said, &said));
    // Noise that is taken back or added again: 1, 1 + b, 1 + b + b² with b = 1/2 of whichever sign.
    for back in ["0.5", "-0.5"] {
        let found = mu(&format!("steps=3,correlation={back}"))?.0;
        assert!((found - (1.0 + 2.25 + 3.0625_f64).sqrt()).abs() < 1e-12, "{found}");
    }
    let two = registry::find("dsgd")?.build(&matrix, &"alike=2".parse()?);
    assert!(matches!(two, Err(Error::InvalidParameter { name: "alike", value: 2.0, .. })));
    Ok(())
}

/// Where a symmetry of the matrix makes all alike, what is said of the first node is what every node's own
/// account says: gossips of all kinds, and walks.
#[test]
fn one_node_of_each_orbit_answers_for_all() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::torus_graph(&[3, 4])?);
    let noise = NoiseMultiplier::new(3.0)?;
    for text in [
        "muffliato:rounds=4",
        "muffliato-accelerated:rounds=4",
        "fresh-noise:rounds=3",
        "noisy-messages:rounds=2,ratio=1",
        "walk:steps=30,cap=4",
    ] {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let protocol = registry::find(name)?.build(&matrix, &parameters.parse()?)?;
        let look = |observers: &[Observer]| accounts(protocol.as_ref(), observers, &Silent);
        let covered = Covered::of(protocol.as_ref(), &Audience::chosen(12, &[5])?, look)?;
        assert_eq!(covered.coverage, Coverage::Symmetric { looked_at: 1, nodes: 12 }, "{text}");
        for account in &covered.accounts {
            let own = protocol.account(account.observer())?;
            for u in (0..12).filter(|&u| !account.observer().contains(u)) {
                let loss = |account: &dyn Account| -> Result<f64, Error> {
                    Ok(account.profile(u, noise)?.loss(Measure::Renyi(Order::new(2.0)?))?.into_value())
                };
                let (mirrored, own) = (loss(account.as_ref())?, loss(own.as_ref())?);
                assert!((mirrored - own).abs() <= 1e-9 * own, "{text}: {mirrored} {own}");
            }
        }
    }
    // Edges that ring in an order of their own make nobody alike.
    let gossip = registry::find("randomized-gossip")?.build(&matrix, &Parameters::default())?;
    assert!(gossip.symmetries().is_empty());
    Ok(())
}

/// All 2,048 nodes of a cube by one account, and all 32,640 pairs of a smaller one by eight.
#[test]
fn a_cube_needs_one_account() -> Result<(), Error> {
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::hypercube_graph(11)?), 5);
    let noise = NoiseMultiplier::new(3.0)?;
    let look = |observers: &[Observer]| accounts(&gossip, observers, &Silent);
    let covered = Covered::of(&gossip, &Audience::every_node(2048), look)?;
    assert_eq!(covered.coverage, Coverage::Symmetric { looked_at: 1, nodes: 2048 });
    let worst = covered.worst(noise, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
    assert_eq!(worst.loss.grade(), Grade::Exact);
    let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::hypercube_graph(8)?), 5);
    let look = |observers: &[Observer]| accounts(&gossip, observers, &Silent);
    let pairs = Audience::coalitions(256, 2, &Observer::coalition(&[0, 1]))?;
    let covered = Covered::of(&gossip, &pairs, look)?;
    let Coverage::Coalitions { looked_at, .. } = covered.coverage else { return Err(Error::Cancelled) };
    assert_eq!((looked_at, covered.coverage.is_whole()), (8, true));
    Ok(())
}

/// The only neighbor of a leaf knows every noise that cancels with the leaf's own: it shows that the bound is
/// exact for all, which the leaf itself does not, and no group is looked at.
#[test]
fn the_neighbor_of_a_leaf_makes_the_bound_exact() -> Result<(), Error> {
    let ring = (0..12).map(|u| (u, (u + 1) % 12));
    let graph = Graph::from_edges(13, ring.chain([(0, 3), (2, 7), (0, 12)]))?;
    let matrix = GossipMatrix::metropolis(&graph);
    let noise = NoiseMultiplier::new(1.0)?;
    for name in ["gopa", "decor"] {
        let protocol = registry::find(name)?.build(&matrix, &Parameters::default())?;
        let look = |observers: &[Observer]| accounts(protocol.as_ref(), observers, &Silent);
        let asked = |audience: &Audience| -> Result<_, Error> {
            let covered = Covered::of(protocol.as_ref(), audience, look)?.by_groups(audience, look)?;
            let worst = covered.worst(noise, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
            Ok((covered.coverage.clone(), worst))
        };
        let alone = Audience::chosen(13, &[12])?;
        let (coverage, worst) = asked(&alone.clone().hinting(0)?)?;
        assert_eq!(coverage, Coverage::Bounded { looked_at: 1, nodes: 13, seed: None }, "{name}");
        let found = (worst.loss.grade(), worst.observer.clone(), worst.source);
        assert_eq!(found, (Grade::Exact, Observer::node(0), 12), "{name}");
        // By the accounts of all, that is the largest loss.
        let (_, all) = asked(&Audience::every_node(13))?;
        let (one, all) = (worst.loss.into_value(), all.loss.into_value());
        assert!(all <= one * (1.0 + 1e-12) && one <= all * (1.0 + 1e-8), "{name}: {one} {all}");
        // A hint about somebody who learns less changes nothing.
        let (without, with) = (asked(&alone)?, asked(&alone.clone().hinting(6)?)?);
        assert_eq!(without, with, "{name}");
        // Nor is anybody a hint who is looked at already.
        assert_eq!(alone.clone().hinting(12)?, alone);
        assert_eq!(alone.hinting(13), Err(Error::NodeOutOfRange { node: 13, nodes: 13 }));
    }
    Ok(())
}
