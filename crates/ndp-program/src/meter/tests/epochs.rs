//! Tests of epochs that end by themselves, and of epochs that are ended.

use super::*;
use ndp_graph::generators::complete_graph;

const SETS: [SensitivitySet; 3] =
    [SensitivitySet::SameDirection, SensitivitySet::UseLevel, SensitivitySet::Signs];

/// A round of means by secure sums, in which one node publishes the result; nothing else of it is read later.
fn published_round(
    meter: &mut Meter,
    graph: &Graph,
    publisher: usize,
    reads: &Reads,
    variance: i64,
) -> Result<Value, Error> {
    let matrix = GossipMatrix::metropolis(graph);
    let from = meter.program().values().len();
    let mean = meter.step(|program| {
        let x = program.contribute_all(reads.clone())?;
        let z = program.noise_all(variance)?;
        let mut y = program.add_all(&x, &z)?;
        for _ in 0..2 {
            for v in 0..graph.node_count() {
                let neighbors = graph.neighbors(v).iter().map(|&w| w as usize);
                program.secure_sum(v, neighbors.map(|w| (w, (1, 3), y[w])))?;
            }
            y = program.gossip(&matrix, &y)?;
        }
        program.broadcast(publisher, y[publisher])?;
        Ok::<_, Error>(y[publisher])
    })?;
    let gone: Vec<Value> = meter.program().values().skip(from).filter(|&value| value != mean).collect();
    meter.forget(&gone)?;
    Ok(mean)
}

/// The enclosures of a meter contain the losses of an account, and are close to them if these are exact.
#[track_caller]
fn assert_holds(meter: &Meter, k: usize, account: &crate::ProgramAccount, set: &SensitivitySet, room: f64) {
    let reading = meter.reading(k).expect("a reading");
    for u in (0..meter.node_count()).filter(|&u| !reading.observer.contains(u)) {
        let truth = account.loss(u, set).expect("a loss");
        let found = reading.loss(u).expect("a loss");
        assert!(found.value() >= truth.lower, "{set:?} {k} {u}: {found:?} below {truth:?}");
        assert!(found.lower <= truth.value(), "{set:?} {k} {u}: {found:?} above {truth:?}");
        assert!(found.value() <= truth.value() + room, "{set:?} {k} {u}: {found:?} is far above {truth:?}");
    }
}

/// When an observer knows everything that is alive, an epoch ends and its losses are kept. Together with
/// later ones they are those of the whole record, whether or not the filter could follow.
#[test]
fn epochs_that_end_by_themselves_add_up_to_the_account() -> Result<(), Error> {
    for (graph, set) in
        [cycle_graph(5)?, complete_graph(4)?].iter().flat_map(|g| SETS.iter().map(move |s| (g, s)))
    {
        let n = graph.node_count();
        let mut watched: Vec<Observer> = (0..n).map(Observer::node).collect();
        watched.push(Observer::coalition(&[0, 2]));
        watched.push(Observer::outsider());
        let mut meter = Meter::new(n, watched.clone(), set.clone())?;
        let (mut published, mut batch) = (Vec::new(), 0);
        for round in 0..5 {
            let reads = match published.as_slice() {
                [] => Reads::Nothing,
                all => Reads::Seen(Some(all.to_vec())),
            };
            published.push(published_round(&mut meter, graph, round % n, &reads, 1 + round as i64)?);
            for (k, observer) in watched.iter().enumerate() {
                let account = meter.program().account(observer)?;
                // Signs are bounded by sums of sizes; each epoch has one use.
                assert_holds(&meter, k, &account, set, 1e-9);
            }
            batch += meter.filters.iter().filter(|watched| watched.is_new()).count();
        }
        assert_eq!(batch, 5 * watched.len(), "all know all that is alive after every round");
    }
    Ok(())
}

/// A contribution that reads a value that was forgotten in an earlier epoch is accounted for with the whole
/// record.
#[test]
fn what_was_forgotten_may_still_have_been_read() -> Result<(), Error> {
    for set in SETS {
        forgotten_and_read(&set)?;
    }
    Ok(())
}

fn forgotten_and_read(set: &SensitivitySet) -> Result<(), Error> {
    let graph = cycle_graph(4)?;
    let mut meter = Meter::every_node(4, set.clone())?;
    let mean = published_round(&mut meter, &graph, 0, &Reads::Nothing, 1)?;
    meter.forget(&[mean])?;
    for reads in [Reads::Seen(Some(vec![mean])), Reads::Nothing] {
        published_round(&mut meter, &graph, 1, &reads, 2)?;
        for v in 0..4 {
            let account = meter.program().account(&Observer::node(v))?;
            assert_eq!(meter.reading(v)?.loss(0).is_ok(), v != 0);
            assert_holds(&meter, v, &account, set, 1e-9);
        }
    }
    // For a hidden value only the record says what it reveals.
    let (x, z, secret) = meter.step(|program| {
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
        Ok::<_, ProgramError>((x, z, program.add(&[x, z])?))
    })?;
    meter.forget(&[x, z, secret])?;
    published_round(&mut meter, &graph, 2, &Reads::Nothing, 2)?;
    published_round(&mut meter, &graph, 2, &Reads::Hidden(Some(vec![secret])), 2)?;
    for v in 0..4 {
        let account = meter.program().account(&Observer::node(v))?;
        assert_holds(&meter, v, &account, set, 1e-9);
        assert_eq!(meter.reading(v)?.loss((v + 1) % 4)?.reads, account.adaptivity);
    }
    Ok(())
}

/// An epoch that is ended costs as much as showing all models, by the account of the program that shows them.
#[test]
fn an_epoch_that_is_ended_costs_what_is_shown() -> Result<(), Error> {
    let graph = cycle_graph(5)?;
    let mixing = max_degree_plus_one(&graph);
    for set in SETS {
        let mut meter = Meter::every_node(5, set.clone())?;
        let mut slim = meter.clone().without_record()?;
        let mut explicit = Program::new(5)?;
        let mut model: Option<Vec<Value>> = None;
        for round in 0..5 {
            meter.round(&mixing, 2, ModelReads::Nothing)?;
            slim.round(&mixing, 2, ModelReads::Nothing)?;
            let (x, z) = (explicit.contribute_all(Reads::Nothing)?, explicit.noise_all(2)?);
            let mut y = explicit.add_all(&x, &z)?;
            if let Some(model) = &model {
                y = explicit.add_all(model, &y)?;
            }
            explicit.send_to_neighbors(&graph, &y)?;
            model = Some(explicit.gossip(&mixing, &y)?);
            let sums = y;
            let unshown: Vec<Reading> = (0..5).map(|v| meter.reading(v)).collect::<Result<_, _>>()?;
            if round % 2 == 1 {
                meter.begin_epoch()?;
                slim.begin_epoch()?;
                // The matrix is invertible, so that the sums reveal the same as the models.
                sums.iter().try_for_each(|&value| explicit.broadcast(None, value))?;
            }
            for (v, unshown) in unshown.iter().enumerate() {
                let account = explicit.account(&Observer::node(v))?;
                let (record, found) = (meter.program().account(&Observer::node(v))?, meter.reading(v)?);
                for u in (0..5).filter(|&u| u != v) {
                    let (shown, real, found) =
                        (account.loss(u, &set)?, record.loss(u, &set)?, found.loss(u)?);
                    assert!(found.value() >= shown.lower.max(real.lower), "{set:?}: {found:?} {shown:?}");
                    assert!(found.lower <= real.value(), "{set:?}: {found:?} above {real:?}");
                    assert!(found.value() >= unshown.loss(u)?.value(), "losses never fall");
                    let tight = set == SensitivitySet::Signs || found.value() <= shown.value() + 1e-9;
                    assert!(tight, "{set:?} round {round}: {found:?} {shown:?}");
                    let slim = slim.reading(v)?.loss(u)?.clone();
                    assert!(slim.value() >= real.lower && (slim.value() - found.value()).abs() < 1e-9);
                }
            }
        }
    }
    Ok(())
}

/// After an epoch was ended, everything starts anew, also the filter that is shown all models: the same
/// rounds cost the same again. Otherwise the first rounds would count twice there, and only the other filter,
/// whose bound is larger, would be used.
#[test]
fn rounds_after_an_epoch_cost_what_they_cost_before() -> Result<(), Error> {
    let mixing = max_degree_plus_one(&cycle_graph(9)?);
    let mut meter = Meter::every_node(9, SensitivitySet::Signs)?.without_record()?;
    let thirty = |meter: &mut Meter| -> Result<(), Error> {
        (0..30).try_for_each(|_| meter.round(&mixing, 1, ModelReads::Nothing))
    };
    let upper = |meter: &Meter, u: usize| Ok::<_, Error>(meter.reading(0)?.loss(u)?.value());
    thirty(&mut meter)?;
    let once: Vec<f64> = (1..9).map(|u| upper(&meter, u)).collect::<Result<_, _>>()?;
    meter.begin_epoch()?;
    let paid: Vec<f64> = (1..9).map(|u| upper(&meter, u)).collect::<Result<_, _>>()?;
    thirty(&mut meter)?;
    for u in 1..9 {
        let (found, expected) = (upper(&meter, u)?, paid[u - 1] + once[u - 1]);
        assert!((found - expected).abs() < 1e-9 * expected, "{u}: {found} is not {expected}");
    }
    Ok(())
}

/// After a filter gave up, a new epoch lets it run again; values that would be shown without noise are
/// refused.
#[test]
fn a_new_epoch_runs_along_again() -> Result<(), Error> {
    let (graph, matrix) = (path_graph(12)?, GossipMatrix::metropolis(&path_graph(12)?));
    let mut meter = Meter::new(12, [Observer::node(11)], SensitivitySet::UseLevel)?;
    let (naked, mut y) = meter.step(|program| {
        let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
        Ok::<_, ProgramError>((x.clone(), program.add_all(&x, &z)?))
    })?;
    for _ in 0..14 {
        let before = y.clone();
        y = meter.step(|program| {
            program.send_to_neighbors(&graph, &y)?;
            program.gossip(&matrix, &y)
        })?;
        meter.forget(&before)?;
    }
    assert_eq!(meter.reading(0)?.source, Source::Batch);
    assert_eq!(meter.begin_epoch().err(), Some(ProgramError::EpochReveals(0).into()));
    assert_eq!(meter.reading(0)?.source, Source::Batch);
    let noises: Vec<Value> = meter.program().values().skip(12).take(12).collect();
    meter.forget(&naked)?;
    meter.forget(&noises)?;
    meter.begin_epoch()?;
    assert!(matches!(meter.reading(0)?.source, Source::Running { .. }));
    // All values are known: the earlier ones reveal nothing more.
    let before = meter.reading(0)?.upper(3);
    meter.step(|program| program.send_to_neighbors(&graph, &y))?;
    assert_eq!(meter.reading(0)?.upper(3), before);
    assert!((meter.reading(0)?.loss(0)?.value() - 1.0).abs() < 1e-9);
    // A limit that the cost of ending an epoch exceeds refuses it.
    let mixing = max_degree_plus_one(&cycle_graph(5)?);
    let mut meter =
        Meter::every_node(5, SensitivitySet::UseLevel)?.with_limits(Limits::worst(10.0)?.pair(0, 2, 0.1)?)?;
    meter.round(&mixing, 1, ModelReads::Nothing)?;
    let refused = meter.begin_epoch().expect_err("a limit");
    assert!(Refusal::of(&refused).is_some_and(|refusal| refusal.node == 2));
    assert_near(&meter.reading(0)?, 2, 0.0, 1e-9);
    Ok(())
}

/// For a whole participant, contributions that read nothing never count for more than those that read hidden
/// models, nor for less than the account of the record proves.
#[test]
fn reading_nothing_costs_no_more_than_reading_hidden_models() -> Result<(), Error> {
    let set = SensitivitySet::Signs;
    let mut smaller = 0;
    for graph in [cycle_graph(5)?, path_graph(4)?] {
        let (n, mixing) = (graph.node_count(), max_degree_plus_one(&graph));
        let mut nothing = Meter::every_node(n, set.clone())?;
        let mut hidden = nothing.clone();
        for _ in 0..6 {
            nothing.round(&mixing, 3, ModelReads::Nothing)?;
            hidden.round(&mixing, 3, ModelReads::Hidden)?;
            for v in 0..n {
                let account = nothing.program().account(&Observer::node(v))?;
                let (a, b) = (nothing.reading(v)?, hidden.reading(v)?);
                for u in (0..n).filter(|&u| u != v) {
                    let (a, b, truth) = (a.loss(u)?, b.loss(u)?, account.loss(u, &set)?);
                    assert!(a.value() <= b.value() && a.value() >= truth.lower && a.lower <= truth.value());
                    smaller += usize::from(a.value() < b.value());
                }
            }
        }
    }
    assert!(smaller > 0);
    // On a longer run, showing all models helps: hardly anything cancels in the remainder.
    let mixing = max_degree_plus_one(&cycle_graph(9)?);
    let mut meter = Meter::every_node(9, set)?.without_record()?;
    for _ in 0..30 {
        meter.round(&mixing, 1, ModelReads::Nothing)?;
    }
    let own = &meter.filters[0].filter;
    let shown = meter.filters[0].companion().expect("of a participant");
    let helped: Vec<usize> = (1..9)
        .filter(|&u| own.ends(u).zip(shown.ends(u)).is_some_and(|(own, shown)| shown.high < own.high))
        .collect();
    assert!(!helped.is_empty());
    Ok(())
}

/// The end of an epoch shows a noise that nobody saw. What comes after it has no finite bound, but is not
/// seen without noise: the true loss is 1/100.
#[test]
fn what_an_epoch_shows_is_not_seen_without_noise() -> Result<(), Error> {
    let mut meter = Meter::new(2, [Observer::node(1)], SensitivitySet::UseLevel)?;
    let z = meter.step(|program| program.noise([0], 100))?;
    meter.begin_epoch()?;
    let unbounded = |meter: &mut Meter| -> Result<(), Error> {
        meter.step(|program| {
            let x = program.contribute(0, Reads::Nothing)?;
            let y = program.add(&[x, z])?;
            program.send(0, 1, y)
        })?;
        let loss = meter.reading(0)?.loss(0)?.clone();
        assert_eq!((loss.value(), loss.lower), (f64::INFINITY, 0.0));
        Ok(())
    };
    unbounded(&mut meter)?;
    unbounded(&mut meter)
}
