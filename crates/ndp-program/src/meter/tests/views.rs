//! Tests of the points of view, compared with accounts of the observers that they stand for.

use super::*;
use crate::meter::Feed;

/// A node that trusts nobody: at every prefix of random programs it gets the account of all other nodes
/// together, who know every noise that it does not hold alone.
#[test]
fn a_node_that_trusts_nobody_is_seen_by_all_others() -> Result<(), Error> {
    let (mut compared, mut dealt) = (0, 0);
    for case in 0..150_u64 {
        let rng = &mut ChaCha8Rng::seed_from_u64(9000 + case);
        let n = rng.random_range(2..5);
        let node = rng.random_range(0..n);
        let others: Vec<usize> = (0..n).filter(|&u| u != node).collect();
        let observer = Observer::coalition(&others);
        let set = if case % 2 == 0 { SensitivitySet::SameDirection } else { SensitivitySet::UseLevel };
        let mut meter =
            Meter::new(n, [observer.clone()], set.clone())?.seen_by(PointOfView::OwnMessages { node })?;
        let mut drawn = Drawn { values: Vec::new() };
        // The same steps, in which a noise that nobody drew is dealt to the other nodes.
        let mut plain = Program::new(n)?;
        let mut again = Drawn { values: Vec::new() };
        let steps = rng.random_range(5..20);
        let copy = &mut rng.clone();
        for _ in 0..steps {
            meter.step(|program| drawn.step(program, rng))?;
            again.step(&mut plain, copy)?;
        }
        let held = |program: &Program, value: usize| {
            let held =
                |event: &crate::build::Event| matches!(event.seeing, crate::build::Seeing::Held { .. });
            program.events.iter().any(|event| event.value == value && held(event))
        };
        for value in plain.noises.iter().map(|noise| noise.value).collect::<Vec<_>>() {
            if !held(&plain, value) {
                dealt += 1;
                plain.hold(others[0], Value(u32::try_from(value).expect("a value")))?;
            }
        }
        // Noises that came after the last message have no effect yet.
        let (account, reading) = (plain.account(&observer)?, meter.reading(0)?);
        compared += 1;
        match (account.verdict(node, &set)?, reading.verdict(node)?.expect("no member")) {
            (NodeVerdict::Noiseless { .. }, NodeVerdict::Noiseless { .. }) => {}
            // Where a noise counts as known that need not be, no loss is claimed to be reached.
            (NodeVerdict::Noiseless { .. }, NodeVerdict::Bounded(found)) => {
                assert_eq!((found.value(), found.lower), (f64::INFINITY, 0.0), "{case}");
            }
            (NodeVerdict::Bounded(truth), NodeVerdict::Bounded(found)) => {
                assert!(
                    truth.lower <= found.value() && found.lower <= truth.value(),
                    "{case}: {found:?} {truth:?}"
                );
            }
            (truth, found) => panic!("case {case}: {truth:?} but {found:?}"),
        }
    }
    assert!(compared == 150 && dealt > 20, "{dealt} dealt");
    Ok(())
}

/// Node 0 receives the secure sum of its own value and that of node 1, and may say what it is: node 1 takes
/// off its own value, and knows that of node 0.
#[test]
fn a_secure_sum_that_a_node_receives_is_shown() -> Result<(), Error> {
    let mut meter = Meter::new(3, [Observer::coalition(&[1, 2])], SensitivitySet::UseLevel)?
        .seen_by(PointOfView::OwnMessages { node: 0 })?;
    meter.step(|program| {
        let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all((1, 100))?);
        let y = program.add_all(&x, &z)?;
        program.secure_sum(0, [(0, 1, y[0]), (1, 1, y[1])])
    })?;
    let loss = meter.reading(0)?.loss(0)?.clone();
    assert!(loss.value() >= 100.0 && loss.value() < 100.001, "{loss:?}");
    assert_eq!((loss.lower, loss.value.grade()), (0.0, Grade::UpperBound));
    Ok(())
}

/// The noise of a dealer protects a node from the other nodes, but not if the node does not trust the dealer.
/// Neither does a shared noise.
#[test]
fn a_dealer_is_not_trusted() -> Result<(), Error> {
    let others = Observer::coalition(&[1, 2]);
    for (holders, own) in [(vec![], false), (vec![0], true), (vec![0, 2], false)] {
        let step = |program: &mut Program| {
            let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise(&holders, 2)?);
            let y = program.add(&[x, z])?;
            program.send(0, 1, y)
        };
        let mut alone = Meter::new(3, [others.clone()], SensitivitySet::UseLevel)?
            .seen_by(PointOfView::OwnMessages { node: 0 })?;
        alone.step(step)?;
        assert_eq!(alone.reading(0)?.upper(0).is_some_and(f64::is_finite), own, "{holders:?}");
        let exact = alone.reading(0)?.loss(0).is_ok_and(|loss| loss.value.grade() == Grade::Exact);
        assert_eq!(exact, own, "{holders:?}");
        // Forgetting the noise before the message does not make it a secret either.
        let mut early = Meter::new(3, [others.clone()], SensitivitySet::UseLevel)?
            .seen_by(PointOfView::OwnMessages { node: 0 })?;
        let (z, y) = early.step(|program| {
            let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise(&holders, 2)?);
            Ok::<_, ProgramError>((z, program.add(&[x, z])?))
        })?;
        early.forget(&[z])?;
        early.step(|program| program.send(0, 1, y))?;
        assert_eq!(early.reading(0)?.upper(0).is_some_and(f64::is_finite), own, "{holders:?}");
        let mut every = Meter::every_node(3, SensitivitySet::UseLevel)?;
        every.step(step)?;
        assert!(every.reading(1)?.upper(0).is_some_and(f64::is_finite));
    }
    Ok(())
}

const LOG: [&str; 4] = [
    "{\"graph\":\"g\",\"family\":\"path\"}",
    "{\"matrix\":\"W\",\"of\":\"g\",\"weights\":\"metropolis\"}",
    "{\"round\":\"W\",\"variance\":4,\"reads\":\"nothing\"}",
    "{\"round\":\"W\",\"variance\":4,\"reads\":\"nothing\"}",
];

/// The log of a coordinator can be read as a node would have told it, but not the other way round.
#[test]
fn a_log_is_read_from_a_narrower_point_of_view() -> Result<(), Error> {
    let read = |view: &str, told: &str| -> Result<Feed, Error> {
        let mut feed = Feed::seen_as(view);
        feed.line(&format!(
            "{{\"ndp-meter\":1,\"nodes\":[\"ann\",\"bob\",\"cem\"],\"set\":\"same-direction\"{told}}}"
        ))?;
        LOG.iter().try_for_each(|line| feed.line(line))?;
        Ok(feed)
    };
    let own = read("own:ann", "")?;
    let meter = own.meter().expect("a meter");
    assert_eq!(meter.view(), &PointOfView::OwnMessages { node: 0 });
    let account = meter.program().account(&Observer::coalition(&[1, 2]))?;
    let (truth, found) = (account.loss(0, &SensitivitySet::SameDirection)?, meter.reading(0)?);
    assert!(found.loss(0)?.value() >= truth.lower && found.loss(0)?.lower <= truth.value());
    // Loss 1/4 + 1/4: the others know all noises except ann's own.
    assert_near(&found, 0, 0.5, 1e-9);
    let public = read("schedule:cem", "")?;
    let meter = public.meter().expect("a meter");
    assert_eq!(meter.view(), &PointOfView::PublicSchedule { node: 2 });
    assert_eq!(meter.observers().len(), 3);
    for v in 0..3 {
        let account = meter.program().account(&Observer::node(v))?;
        for u in (0..3).filter(|&u| u != v) {
            let (truth, found) = (account.loss(u, &SensitivitySet::SameDirection)?, meter.reading(v)?);
            assert!(found.loss(u)?.value() >= truth.lower && found.loss(u)?.lower <= truth.value());
        }
    }
    let others = ",\"view\":{\"own-messages\":{\"node\":0}},\"observers\":[{\"members\":[1,2],\"own_noise\":\"known\",\
                  \"senders\":\"known\",\"tapped\":[]}]";
    assert!(read("own:ann", others).is_ok());
    for (view, told, words) in [
        ("coordinator", others, "knew less"),
        ("own:bob", others, "knew less"),
        ("own:ann", ",\"view\":{\"public-schedule\":{\"node\":1}}", "knew less"),
        ("own:eve", "", "no node eve"),
        ("mine", "", "no point of view"),
    ] {
        let error = read(view, told).map(|_| ()).map_err(|error| error.to_string());
        assert!(error.as_ref().is_err_and(|error| error.contains(words)), "{view}: {error:?}");
    }
    Ok(())
}

/// A point of view must be that of a node of the run.
#[test]
fn nobody_looks_from_outside_the_run() -> Result<(), Error> {
    for view in [PointOfView::PublicSchedule { node: 3 }, PointOfView::OwnMessages { node: 3 }] {
        let meter = Meter::new(3, [Observer::coalition(&[0, 1, 2])], SensitivitySet::UseLevel)?;
        assert_refused(meter.seen_by(view), "node 3 is out of range");
    }
    Ok(())
}
