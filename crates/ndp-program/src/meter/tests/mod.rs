//! Tests of the meter: the reference values of the specification, and every prefix of random programs.

mod cancellation;
mod epochs;
mod joined;
mod logs;
mod merge;
mod reads;
mod tiny;
mod views;
mod zero;

use super::*;
use crate::adaptivity::Dependence;
use crate::constructors::ModelReads;
use crate::constructors::dsgd;
use crate::tests::assert_refused;
use crate::{MixingMatrix, NodeVerdict, Reads, Weight};
use ndp_dp::Grade;
use ndp_graph::generators::{cycle_graph, karate_club_graph, path_graph};
use ndp_graph::{GossipMatrix, Graph};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn max_degree_plus_one(graph: &Graph) -> MixingMatrix {
    let n = graph.node_count();
    let most = (0..n).map(|u| graph.degree(u)).max().unwrap_or(0) as i64 + 1;
    let rows: Vec<Vec<(usize, Weight)>> = (0..n)
        .map(|u| {
            let mut row: Vec<_> =
                graph.neighbors(u).iter().map(|&v| (v as usize, Weight::from((1, most)))).collect();
            row.push((u, Weight::from((most - graph.degree(u) as i64, most))));
            row
        })
        .collect();
    MixingMatrix::try_from(rows.as_slice()).expect("a matrix")
}

#[track_caller]
fn assert_near(reading: &Reading, node: usize, expected: f64, room: f64) {
    let loss = reading.loss(node).expect("a loss");
    assert!(matches!(reading.source, Source::Running { .. }));
    assert!(
        loss.lower <= expected * (1.0 + 1e-15) && expected * (1.0 - 1e-15) <= loss.value(),
        "node {node}: {loss:?} misses {expected}"
    );
    // What was revealed to the account alone is a bound, which no observer need attain.
    let low = if loss.reads == Dependence::Revealed { expected } else { loss.lower };
    assert!(loss.value() - low <= room, "node {node}: {loss:?} is wide");
}

/// Every step of section 1 of the specification of the meter.
#[test]
fn decentralized_sgd_has_the_values_of_the_specification() -> Result<(), Error> {
    let check = |graph: &Graph, v: usize, u: usize, expected: &[f64]| -> Result<(), Error> {
        let mixing = max_degree_plus_one(graph);
        let mut meter = Meter::every_node(graph.node_count(), SensitivitySet::SameDirection)?;
        let mut slim = meter.clone().without_record()?;
        for &expected in expected {
            meter.round(&mixing, 1, ModelReads::Nothing)?;
            slim.round(&mixing, 1, ModelReads::Nothing)?;
            assert_near(&meter.reading(v)?, u, expected, 1e-9);
            assert_near(&slim.reading(v)?, u, expected, 1e-9);
            assert_eq!(meter.reading(v)?.loss(u)?.value.grade(), Grade::Exact);
        }
        Ok(())
    };
    let path = path_graph(3)?;
    check(&path, 2, 0, &[0.0, 1.0 / 10.0, 9.0 / 26.0, 191.0 / 274.0, 806.0 / 725.0])?;
    check(&path, 2, 1, &[1.0, 19.0 / 10.0, 69.0 / 26.0])?;
    let ring = cycle_graph(5)?;
    check(&ring, 0, 1, &[1.0, 19.0 / 10.0, 709.0 / 260.0, 4797.0 / 1370.0])?;
    check(&ring, 0, 2, &[0.0, 1.0 / 10.0, 71.0 / 260.0, 683.0 / 1370.0])?;
    let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&karate_club_graph()?));
    let mut meter = Meter::new(34, [Observer::node(11)], SensitivitySet::SameDirection)?;
    for _ in 0..5 {
        meter.round(&mixing, 1, ModelReads::Nothing)?;
    }
    let loss = meter.reading(0)?.loss(33)?.clone();
    let printed = 0.001_836_521_722_906_69;
    assert!(
        loss.lower <= printed + 5e-18 && printed - 5e-18 <= loss.value() && loss.value() - loss.lower < 1e-12
    );
    Ok(())
}

/// For one use the loss is the largest diagonal entry; for all uses in any direction it is between the
/// semidefinite value and the sum of sizes.
#[test]
fn other_sets_are_followed() -> Result<(), Error> {
    let ring = cycle_graph(5)?;
    let mixing = max_degree_plus_one(&ring);
    let mut uses = Meter::every_node(5, SensitivitySet::UseLevel)?;
    let mut whole = Meter::every_node(5, SensitivitySet::Vectors { dimension: 9 })?;
    for _ in 0..4 {
        uses.round(&mixing, 1, ModelReads::Nothing)?;
        whole.round(&mixing, 1, ModelReads::Nothing)?;
    }
    assert_near(&uses.reading(0)?, 2, 337.0 / 2740.0, 1e-9);
    let whole = whole.reading(0)?.loss(1)?.clone();
    assert_eq!(whole.value.grade(), Grade::UpperBound);
    // The sum of the absolute values of the entries is 5247/1370; the sum over rows may be larger.
    assert!(whole.value() >= 5247.0 / 1370.0 * (1.0 - 1e-12) && whole.value() < 8.0, "{whole:?}");
    assert!(whole.lower <= 3.764_285_7);
    Ok(())
}

/// A random program, one step at a time.
struct Drawn {
    values: Vec<Value>,
}

impl Drawn {
    fn weight(rng: &mut impl Rng) -> Weight {
        let (a, b) = (rng.random_range(-3..=3_i64), rng.random_range(1..=5_i64));
        if rng.random_range(0..12) == 0 { Weight::from(1e-7) } else { Weight::from((a, b)) }
    }

    fn step(&mut self, program: &mut Program, rng: &mut impl Rng) -> Result<(), ProgramError> {
        let n = program.node_count();
        let pick = |rng: &mut dyn Rng, values: &[Value]| values[rng.random_range(0..values.len())];
        let made = match rng.random_range(0..10) {
            0 | 1 => {
                // Most contributions come with a noise.
                let node = rng.random_range(0..n);
                let x = program.contribute(node, Reads::Nothing)?;
                if rng.random_range(0..4) == 0 {
                    x
                } else {
                    let z = program.noise([node], (1, rng.random_range(1..4)))?;
                    self.values.push(z);
                    program.add(&[x, z])?
                }
            }
            2 => {
                let variance = if rng.random_range(0..6) == 0 { 0 } else { rng.random_range(1..4_i64) };
                let holder = rng.random_range(0..n);
                match rng.random_range(0..3) {
                    0 => program.noise([], variance)?,
                    1 => program.noise([holder, (holder + 1) % n], variance)?,
                    _ => program.noise([holder], variance)?,
                }
            }
            3..=6 if !self.values.is_empty() => {
                let terms: Vec<(Weight, Value)> = (0..rng.random_range(1..4))
                    .map(|_| (Self::weight(rng), pick(rng, &self.values)))
                    .collect();
                program.combine(terms)?
            }
            7 | 8 if !self.values.is_empty() => {
                let (value, from) = (pick(rng, &self.values), rng.random_range(0..n));
                let to = (from + rng.random_range(1..n)) % n;
                return program.send(from, to, value);
            }
            9 if !self.values.is_empty() && rng.random_range(0..3) == 0 => {
                let value = pick(rng, &self.values);
                return program.broadcast(None, value);
            }
            _ => return Ok(()),
        };
        self.values.push(made);
        Ok(())
    }
}

fn observers(n: usize, rng: &mut impl Rng) -> Vec<Observer> {
    let mut all: Vec<Observer> = (0..n).map(Observer::node).collect();
    all.push(Observer::outsider());
    all.push(Observer::coalition(&[0, 1]));
    all.push(Observer::outsider().tapping(&[(rng.random_range(1..n), 0)]));
    all
}

/// At every prefix the enclosures overlap those of the account of the program, and a loss is infinite if and
/// only if it is in the account.
#[test]
fn every_prefix_of_random_programs_has_the_account_of_the_program() -> Result<(), Error> {
    let (mut running, mut compared, mut revealed) = (0, 0, 0);
    for case in 0..500_u64 {
        let rng = &mut ChaCha8Rng::seed_from_u64(case);
        let n = rng.random_range(2..5);
        let set = match case % 3 {
            0 => SensitivitySet::SameDirection,
            1 => SensitivitySet::UseLevel,
            _ => SensitivitySet::Vectors { dimension: 12 },
        };
        let mut meter = Meter::new(n, observers(n, rng), set.clone())?;
        let mut drawn = Drawn { values: Vec::new() };
        for _ in 0..rng.random_range(5..24) {
            let before = meter.program.events.len();
            meter.step(|program| drawn.step(program, rng))?;
            if rng.random_range(0..8) == 0 && drawn.values.len() > 3 {
                let gone = drawn.values.swap_remove(rng.random_range(0..drawn.values.len()));
                if meter.alive.contains(&gone.index()) {
                    meter.forget(&[gone])?;
                }
                drawn.values.retain(|&value| value != gone);
            }
            if meter.program.events.len() == before {
                continue;
            }
            for observer in 0..meter.filters.len() {
                let reading = meter.reading(observer)?;
                running += usize::from(reading.source != Source::Batch);
                let account = meter.program.account(&reading.observer)?;
                for u in (0..n).filter(|&u| !reading.observer.contains(u)) {
                    compared += 1;
                    let found = reading.verdict(u)?.expect("no member");
                    match (account.verdict(u, &set)?, found) {
                        (NodeVerdict::Noiseless { .. }, NodeVerdict::Noiseless { .. }) => revealed += 1,
                        (NodeVerdict::Bounded(truth), NodeVerdict::Bounded(found)) => {
                            assert!(truth.lower <= found.value(), "case {case}: {truth:?} {found:?}");
                            assert!(found.lower <= truth.value(), "case {case}: {truth:?} {found:?}");
                            let exact = set != SensitivitySet::Vectors { dimension: 12 };
                            let room = 1e-5 * truth.value().max(1.0);
                            assert!(!exact || found.value() - found.lower < room, "case {case}: {found:?}");
                        }
                        (truth, found) => panic!("case {case}, {set:?}: {truth:?} but {found:?}"),
                    }
                }
            }
        }
    }
    assert!(running > 4000 && compared > 8000 && revealed > 100, "{running} {compared} {revealed}");
    Ok(())
}

/// Rounds that are fed as a whole and step by step give the same, and so does the account of the record.
#[test]
fn a_round_is_its_steps() -> Result<(), Error> {
    let karate = karate_club_graph()?;
    let matrix = GossipMatrix::metropolis(&karate);
    let mixing = MixingMatrix::from(&matrix);
    let program = dsgd(&matrix, 4)?;
    let watched = [Observer::node(0), Observer::coalition(&[3, 9]), Observer::outsider().tapping(&[(33, 8)])];
    let mut whole = Meter::new(34, watched.clone(), SensitivitySet::SameDirection)?;
    let mut single = whole.clone();
    for _ in 0..4 {
        whole.round(&mixing, 1, ModelReads::Nothing)?;
    }
    single.step(|empty| {
        *empty = program.clone();
        Ok::<_, ProgramError>(())
    })?;
    for (k, observer) in watched.iter().enumerate() {
        let (whole, single) = (whole.reading(k)?, single.reading(k)?);
        let account = program.account(observer)?;
        assert!(matches!((whole.source, single.source), (Source::Running { .. }, Source::Running { .. })));
        for u in (0..34).filter(|&u| !observer.contains(u)) {
            let truth = account.loss(u, &SensitivitySet::SameDirection)?;
            for found in [whole.loss(u)?, single.loss(u)?] {
                assert!(found.lower <= truth.value() && truth.lower <= found.value(), "{found:?} {truth:?}");
                assert!(found.value() - found.lower < 1e-10);
            }
        }
    }
    Ok(())
}

/// Gradients that read hidden models: the observer is shown the models, as in the account.
#[test]
fn hidden_reads_are_shown() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&path_graph(4)?);
    let mixing = MixingMatrix::from(&matrix);
    let mut meter = Meter::every_node(4, SensitivitySet::UseLevel)?;
    for _ in 0..3 {
        meter.round(&mixing, 1, ModelReads::Hidden)?;
    }
    for v in 0..4 {
        let reading = meter.reading(v)?;
        let account = meter.program().account(&Observer::node(v))?;
        assert_eq!(account.adaptivity, Dependence::Revealed);
        for u in (0..4).filter(|&u| u != v) {
            let (truth, found) = (account.loss(u, &SensitivitySet::UseLevel)?, reading.loss(u)?);
            assert_eq!((found.reads, found.value.grade()), (Dependence::Revealed, Grade::UpperBound));
            assert!(
                found.value() >= truth.lower && found.value() <= truth.value() + 1e-9,
                "{found:?} {truth:?}"
            );
        }
    }
    // No number is below that of the account, even if the matrix has no inverse and the observer is a
    // coalition or taps edges; and the filter needs no other account, whatever was shown.
    let observers =
        [Observer::node(0), Observer::coalition(&[1, 4]), Observer::outsider().tapping(&[(2, 3)])];
    for (graph, invertible) in [(cycle_graph(5)?, true), (cycle_graph(6)?, false)] {
        let mixing = max_degree_plus_one(&graph);
        for set in [SensitivitySet::UseLevel, SensitivitySet::SameDirection] {
            for recorded in [true, false] {
                let mut meter = Meter::new(graph.node_count(), observers.clone(), set.clone())?;
                if !recorded {
                    meter = meter.without_record()?;
                }
                let mut recording = meter.clone();
                recording.recorded = true;
                for k in 0..4 {
                    // One round whose contributions read nothing, between rounds whose contributions read
                    // models.
                    let reads = if k == 1 { ModelReads::Nothing } else { ModelReads::Hidden };
                    meter.round(&mixing, (k + 1, 3), reads)?;
                    recording.round(&mixing, (k + 1, 3), reads)?;
                }
                for (k, observer) in observers.iter().enumerate() {
                    let (reading, account) = (meter.reading(k)?, recording.program().account(observer)?);
                    assert!(matches!(reading.source, Source::Running { .. }));
                    for u in (0..graph.node_count()).filter(|&u| !observer.contains(u)) {
                        let (truth, found) = (account.loss(u, &set)?, reading.loss(u)?);
                        assert!(found.value() >= truth.lower && found.lower <= truth.value());
                        // A tap sees little of the last round, and the account shows only what is read.
                        let same = found.value() <= truth.value() + 1e-9 || !observer.tapped.is_empty();
                        assert!(same || !invertible, "{observer:?} {u}: {found:?} {truth:?}");
                    }
                }
            }
        }
    }
    // A value that is declared as seen but was not seen has no account.
    let mut meter = Meter::every_node(4, SensitivitySet::UseLevel)?;
    meter.round(&mixing, 1, ModelReads::Seen)?;
    meter.round(&mixing, 1, ModelReads::Seen)?;
    assert_refused(meter.reading(0), "what it reads is no combination of that");
    Ok(())
}

/// If rounding cannot decide, ranks do: after many rounds without contributions, an end of a path knows
/// everything.
#[test]
fn doubt_goes_to_the_account() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&path_graph(12)?);
    let mut meter = Meter::new(12, [Observer::node(11)], SensitivitySet::UseLevel)?;
    let graph = path_graph(12)?;
    let mut y = meter.step(|program| {
        let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
        program.add_all(&x, &z)
    })?;
    for _ in 0..14 {
        y = meter.step(|program| {
            program.send_to_neighbors(&graph, &y)?;
            program.gossip(&matrix, &y)
        })?;
    }
    let reading = meter.reading(0)?;
    assert_eq!(reading.source, Source::Batch);
    assert!((reading.loss(0)?.value() - 1.0).abs() < 1e-9);
    Ok(())
}

/// A message that would exceed a limit is refused, the one before it is not, and a refusal leaves no trace.
#[test]
fn the_first_message_that_would_exceed_a_limit_is_refused() -> Result<(), Error> {
    let mixing = max_degree_plus_one(&path_graph(3)?);
    let limits = Limits::worst(100.0)?.pair(2, 0, 0.5)?;
    let mut meter = Meter::every_node(3, SensitivitySet::SameDirection)?.with_limits(limits)?;
    // The losses of node 0 towards node 2 are 0, 1/10, 9/26, 191/274.
    assert_eq!(meter.remaining(&mixing, 1, ModelReads::Nothing, 99)?, 3);
    for _ in 0..3 {
        meter.round(&mixing, 1, ModelReads::Nothing)?;
    }
    let (program, loss) = (meter.program().clone(), meter.reading(2)?.loss(0)?.clone());
    let error = meter.round(&mixing, 1, ModelReads::Nothing).expect_err("refused");
    let refusal = Refusal::of(&error).expect("a refusal");
    assert_eq!((&refusal.observer, refusal.node, refusal.limit), (&Observer::node(2), 0, 0.5));
    assert!((refusal.loss - 191.0 / 274.0).abs() < 1e-9);
    assert_eq!((meter.program(), meter.reading(2)?.loss(0)?), (&program, &loss));
    // With more noise the round fits.
    meter.round(&mixing, 1000, ModelReads::Nothing)?;
    // A limit that is met exactly is kept despite rounding: the loss is 1/4 after one message.
    let mut meter = Meter::every_node(2, SensitivitySet::UseLevel)?.with_limits(Limits::worst(0.25)?)?;
    let message = |program: &mut Program| {
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 4)?);
        let y = program.add(&[x, z])?;
        program.send(0, 1, y)
    };
    // Outward rounding makes the loss slightly larger.
    assert_refused(meter.step(message), "its limit is 0.25");
    let naked = |program: &mut Program| {
        let x = program.contribute(0, Reads::Nothing)?;
        program.send(0, 1, x)
    };
    assert_eq!(meter.step(naked).map_err(|e| Refusal::of(&e).map(|r| r.loss)), Err(Some(f64::INFINITY)));
    assert!(meter.with_limits(Limits::default()).is_ok());
    Ok(())
}

/// What does not fit the state of the meter is refused with a named error.
#[test]
fn misuse_is_refused() -> Result<(), Error> {
    let mut meter = Meter::every_node(2, SensitivitySet::SameDirection)?;
    let x = meter.step(|program| program.contribute(0, Reads::Nothing))?;
    meter.forget(&[x])?;
    let read = |meter: &mut Meter| meter.step(|program| program.add(&[x])).map(|_| ());
    assert_eq!(read(&mut meter), Err(ProgramError::Forgotten(0).into()));
    assert_eq!(meter.step(|program| program.send(0, 1, x)), Err(ProgramError::Forgotten(0).into()));
    assert_eq!(meter.forget(&[x]), Err(ProgramError::Forgotten(0)));
    assert_eq!(meter.program().values().len(), 1);
    assert_eq!(meter.clone().with_limits(Limits::worst(1.0)?).err(), Some(ProgramError::MeterStarted));
    assert_eq!(meter.without_record().err(), Some(ProgramError::MeterStarted));
    assert_refused(
        Meter::every_node(2, SensitivitySet::Along(vec![1.0])),
        "not given weights of the uses: ask the account",
    );
    assert_refused(Meter::new(2, [Observer::node(2)], SensitivitySet::UseLevel), "node 2 is out of range");
    let mut slim = Meter::every_node(2, SensitivitySet::UseLevel)?.without_record()?;
    assert_eq!(
        slim.step(|program| program.contribute(0, Reads::Nothing)),
        Err(ProgramError::Unrecorded.into())
    );
    let limits = Limits::worst(1.0)?.pair(2, 0, 1.0)?;
    let unknown = ProgramError::UnknownObserver { observer: 2, observers: 2 };
    assert_eq!(slim.with_limits(limits).err(), Some(unknown));
    assert_refused(Limits::worst(f64::NAN), "must be finite, got NaN");
    assert_refused(Limits::worst(-1.0), "must be at least 0, got -1");
    Ok(())
}

/// On long runs the bound on the correlation stays small, and so does memory.
#[test]
fn long_runs_stay_sharp() -> Result<(), Error> {
    let ring = cycle_graph(12)?;
    let mixing = max_degree_plus_one(&ring);
    let mut meter = Meter::new(12, [Observer::node(0)], SensitivitySet::SameDirection)?.without_record()?;
    let small = max_degree_plus_one(&cycle_graph(5)?);
    let mut uses = Meter::new(5, [Observer::node(0)], SensitivitySet::Signs)?.without_record()?;
    for _ in 0..2000 {
        meter.round(&mixing, 1, ModelReads::Nothing)?;
    }
    for _ in 0..400 {
        uses.round(&small, 1, ModelReads::Nothing)?;
    }
    let reading = meter.reading(0)?;
    assert!(matches!(reading.source, Source::Running { h } if h < 1e-6), "{:?}", reading.source);
    let loss = reading.loss(6)?;
    assert!(loss.value() - loss.lower < 1e-6 * loss.value(), "{loss:?}");
    assert!(uses.filters[0].directions() < 400, "{} columns", uses.filters[0].directions());
    Ok(())
}

/// Uses that move nothing that is alive are no longer followed, for any observer, and their cost is kept.
#[test]
fn uses_of_forgotten_values_are_followed_no_more() -> Result<(), Error> {
    let mut meter = Meter::every_node(3, SensitivitySet::Vectors { dimension: 2 })?;
    for round in 1..=4 {
        let values = meter.step(|program| {
            let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 4)?);
            let y = program.add(&[x, z])?;
            program.send(0, 1, y)?;
            Ok::<_, ProgramError>([x, z, y])
        })?;
        assert_eq!(meter.filters[2].directions(), 1, "alive, and not seen");
        meter.forget(&values)?;
        assert!(meter.filters.iter().all(|filter| filter.directions() == 0), "round {round}");
        let upper = meter.reading(1)?.upper(0).unwrap_or(f64::NAN);
        let expected = 0.25 * f64::from(round);
        assert!(expected <= upper && upper < expected + 1e-9, "{upper} against {expected}");
        assert_eq!(meter.reading(2)?.upper(0), Some(0.0));
    }
    Ok(())
}
