//! Long computations end when somebody asks, at a time, or after so much work: with an error, soon, and
//! after the same work on any number of threads.

use ndp_account::parts::{Limit, Patient, Why};
use ndp_account::{Account, Audience, Error, Observer, Protocol, Target, account_or_bound};
use ndp_algos::registry::{self, PROTOCOLS, Parameters};
use ndp_dp::{Delta, Measure, NoiseMultiplier, Order};
use ndp_graph::{GossipMatrix, Graph, generators, random};
use ndp_numeric::stop::{Stop, Stopped};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

fn built(name: &str, parameters: &str, graph: &Graph) -> Result<Box<dyn Protocol>, Error> {
    registry::find(name)?.build(&GossipMatrix::metropolis(graph), &parameters.parse::<Parameters>()?)
}

fn regular(n: usize) -> Result<Graph, Error> {
    Ok(random::random_regular_graph(4, n, &mut ChaCha8Rng::seed_from_u64(7))?)
}

/// What a node learns about another one, worked out as far as an epsilon.
fn epsilon(protocol: &dyn Protocol, observer: &Observer, stop: &Stop) -> Result<f64, Error> {
    let account = protocol.account_until(observer, stop)?;
    let source = (0..account.node_count()).find(|&u| !observer.contains(u)).unwrap_or(0);
    let profile = account.profile(source, NoiseMultiplier::new(2.0)?)?;
    Ok(profile.epsilon(Delta::new(1e-5)?)?.value().epsilon())
}

/// Every engine, on questions that take much longer than it takes to ask.
#[test]
fn every_engine_ends_soon_after_it_is_asked() -> Result<(), Error> {
    let (one, two) = (Observer::node(0), Observer::coalition(&[0, 1]));
    let rows = [
        // Powers of a matrix, rows in fixed point, programs by sweeps, walks by pairs and coalitions.
        ("muffliato", "rounds=300", 3000, &one),
        ("fresh-noise", "rounds=60", 3000, &one),
        ("noisy-messages", "rounds=40", 1500, &one),
        ("secure-neighbor-sums", "rounds=60", 1500, &one),
        ("walk", "steps=200000", 20_000, &one),
        ("walk", "steps=60000", 5000, &two),
        ("walk-sgd", "steps=200000", 20_000, &one),
    ];
    let mut interrupted = 0;
    for (name, parameters, nodes, observer) in rows {
        let protocol = built(name, parameters, &regular(nodes)?)?;
        let asked_after = |wait: Duration| {
            let stop = Stop::asked_for();
            std::thread::scope(|scope| {
                let answer = scope.spawn(|| (epsilon(protocol.as_ref(), observer, &stop), Instant::now()));
                std::thread::sleep(wait);
                let asked = Instant::now();
                stop.ask();
                let (found, ended) = answer.join().expect("no panic");
                (found, ended.checked_duration_since(asked))
            })
        };
        let (found, late) = asked_after(Duration::from_millis(30));
        assert!(late.is_none_or(|late| late < Duration::from_secs(10)), "{name} went on for {late:?}");
        match found {
            Err(error) => {
                assert_eq!(error, Error::Stopped(Stopped::Asked), "{name}");
                interrupted += 1;
            }
            // A last step of dense products is not interrupted: fresh noise here, for two seconds.
            Ok(epsilon) => assert!(epsilon > 0.0, "{name}"),
        }
    }
    assert!(interrupted >= 5, "{interrupted} of 7 were interrupted");
    Ok(())
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(work)
}

/// Work is counted from sizes alone: one thread and four need the same, and end at the same limits.
#[test]
fn work_does_not_depend_on_threads() -> Result<(), Error> {
    let graph = regular(60)?;
    let pair = Observer::coalition(&[0, 1]);
    let node = Observer::node(0);
    let rows = [
        ("muffliato", "rounds=6", &pair),
        ("fresh-noise", "rounds=5", &node),
        ("noisy-messages", "rounds=4", &node),
        ("randomized-gossip", "activations=90", &node),
        ("secure-neighbor-sums", "rounds=5", &node),
        ("gopa", "", &node),
        ("walk", "steps=80", &node),
        ("walk", "steps=40", &pair),
        ("walk-sgd", "steps=60,cap=3", &node),
        ("ring-histogram", "", &node),
    ];
    for (name, parameters, observer) in rows {
        let run = |threads: usize, most: u64| {
            let stop = Stop::after_work(most);
            let found =
                on_threads(threads, || epsilon(built(name, parameters, &graph)?.as_ref(), observer, &stop));
            (found, stop.spent())
        };
        let (found, work) = run(1, u64::MAX - 1);
        assert!(found.is_ok() && work > 0, "{name}: {found:?}");
        assert_eq!(run(4, u64::MAX - 1), (found.clone(), work), "{name}");
        for threads in [1, 4] {
            assert_eq!(run(threads, work).0, found, "{name}");
            for most in [0, work / 3, work - 1] {
                let less = run(threads, most).0;
                assert_eq!(less, Err(Error::Stopped(Stopped::OutOfWork)), "{name} within {most} of {work}");
            }
        }
    }
    Ok(())
}

/// Every number that an account tells about a node: epsilon, delta, a Rényi loss, the least noise.
type Told = [Option<f64>; 4];

fn told(protocol: &dyn Protocol, observer: &Observer, stop: &Stop) -> Result<Told, Error> {
    let account = protocol.account_until(observer, stop)?;
    let source = (0..account.node_count()).find(|&u| !observer.contains(u)).unwrap_or(0);
    let delta = Delta::new(1e-5)?;
    let profile = || account.profile(source, NoiseMultiplier::new(2.0)?);
    let least = account.least_noise(source, Measure::Approx(delta), 1.0).ok().flatten();
    Ok([
        profile().ok().and_then(|found| found.epsilon(delta).ok()).map(|found| found.value().epsilon()),
        profile().ok().and_then(|found| found.delta(0.5).ok()).map(|found| found.value().delta()),
        profile()
            .ok()
            .and_then(|found| found.renyi(Order::new(2.5).ok()?).ok())
            .map(|found| found.value().epsilon),
        least.map(NoiseMultiplier::get),
    ])
}

/// An answer for which the work was too little is no answer, or a larger one; never one below that of all the
/// work. Within each of eight limits, for every protocol.
#[test]
fn too_little_work_never_makes_a_loss_smaller() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::grid_2d_graph(2, 4)?);
    for entry in PROTOCOLS.iter() {
        for observer in [Observer::node(0), Observer::coalition(&[0, 5])] {
            let build = || entry.build(&matrix, &Parameters::default());
            let all = Stop::after_work(u64::MAX - 1);
            let Ok(full) = told(build()?.as_ref(), &observer, &all) else { continue };
            for k in 0..8 {
                let most = all.spent() / 7 * k;
                let Ok(found) = told(build()?.as_ref(), &observer, &Stop::after_work(most)) else { continue };
                for (found, full) in found.into_iter().zip(full) {
                    if let (Some(found), Some(full)) = (found, full) {
                        assert!(
                            found >= full * (1.0 - 1e-9),
                            "{}: {found} within {most}, {full}",
                            entry.name
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// Out of time is told from out of work, when an account is made and when it is asked later.
#[test]
fn reasons_are_told_apart() -> Result<(), Error> {
    let protocol = built("walk", "steps=40", &generators::cycle_graph(9)?)?;
    let one = Observer::node(0);
    let past = epsilon(protocol.as_ref(), &one, &Stop::at(Instant::now()));
    assert_eq!(past, Err(Error::Stopped(Stopped::OutOfTime)));
    assert_eq!(
        epsilon(protocol.as_ref(), &one, &Stop::after_work(9)),
        Err(Error::Stopped(Stopped::OutOfWork))
    );
    let stop = Stop::asked_for();
    let account = protocol.account_until(&one, &stop)?;
    stop.ask();
    let late = account.profile(3, NoiseMultiplier::new(2.0)?).err();
    assert_eq!(late, Some(Error::Stopped(Stopped::Asked)));
    Ok(())
}

/// Where a bound answers what is late, every question has its time from when it is asked, and an account that
/// had no time is the bound.
#[test]
fn every_question_has_its_time() -> Result<(), Error> {
    let protocol = built("walk", "steps=40", &generators::cycle_graph(9)?)?;
    let (one, never) = (Observer::node(0), Stop::never());
    let at = |account: &dyn Account| -> Result<f64, Error> {
        let profile = account.profile(3, NoiseMultiplier::new(2.0)?)?;
        Ok(profile.epsilon(Delta::new(1e-5)?)?.value().epsilon())
    };
    let known = at(protocol.account(&one)?.as_ref())?;
    let bound = at(protocol.local_bound(&one)?.as_ref())?;
    assert!(known < bound);
    let patience = Duration::from_secs(2);
    let (patient, nothing) = account_or_bound(protocol.as_ref(), &one, &never, patience)?;
    std::thread::sleep(patience + Duration::from_millis(100));
    assert_eq!(at(patient.as_ref())?, known, "the question is asked after the account had its time");
    assert!(nothing.all().is_none() && !nothing.some());
    let (late, replaced) = account_or_bound(protocol.as_ref(), &one, &never, Duration::ZERO)?;
    assert_eq!(at(late.as_ref())?, bound);
    assert!(replaced.all() == Some(&Why::AtOnce) || replaced.some(), "{replaced:?}");
    assert!(late.theorems().iter().any(|by| by.function.ends_with("local_bound")));
    let asked = Stop::asked_for();
    asked.ask();
    let (ended, _) = account_or_bound(protocol.as_ref(), &one, &asked, patience)?;
    assert_eq!(at(ended.as_ref())?, bound, "asked to end, it answers with what it has");
    Ok(())
}

/// However little time is told, what no bound replaces has the time that it has where bounds are asked for
/// at once.
#[test]
fn a_short_time_answers_what_no_time_at_all_answers() -> Result<(), Error> {
    let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
    let everybody = Audience::every_node(60);
    for (name, parameters) in [
        ("complete-sum-laplace", "steps=600"),
        ("complete-histogram", "steps=600,labels=2"),
        ("complete-sum", "steps=600"),
    ] {
        let least = |time: Duration| {
            let protocol = built(name, parameters, &generators::complete_graph(60)?)?;
            let patient = Patient::new(protocol, Limit::told(Some(time))).for_every_pair();
            let row = patient.row(name, &everybody, &target);
            row.least.map(|least| least.noise.get())
        };
        let (at_once, soon) = (least(Duration::ZERO)?, least(Duration::from_micros(50))?);
        assert!(soon <= at_once, "{name}: {soon} {at_once}");
    }
    Ok(())
}
