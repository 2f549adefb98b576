//! Section 10 of the specification: what holds for every program, on random programs and on difficult ones.

use super::*;
use crate::constructors::*;
use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Protocol, Target, check, least_noise};
use ndp_dp::{Grade, Measure, NoiseMultiplier, Verdict};
use ndp_graph::GossipMatrix;
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph};
use ndp_graph::progress::Silent;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A random program on a few nodes: sums of contributions, noises and earlier values, some of which are sent.
fn random(rng: &mut ChaCha8Rng) -> Result<Program, ProgramError> {
    let nodes = rng.random_range(2..5);
    let mut program = Program::new(nodes)?;
    let mut values = Vec::new();
    for _ in 0..rng.random_range(2..5) {
        values.push(program.contribute(rng.random_range(0..nodes), Reads::Nothing)?);
    }
    for _ in 0..rng.random_range(1..6) {
        let variance = (rng.random_range(0..4i64), rng.random_range(1..4i64));
        values.push(program.noise([rng.random_range(0..nodes)], variance)?);
    }
    if rng.random_bool(0.5) {
        let all: Vec<usize> = (0..nodes).collect();
        values.extend(program.zero_sum(&all, (1, rng.random_range(1..4)))?);
    }
    for _ in 0..rng.random_range(2..8) {
        let terms: Vec<((i64, i64), Value)> = (0..rng.random_range(1..5))
            .map(|_| {
                let weight = (rng.random_range(-3..4i64), rng.random_range(1..4i64));
                (weight, values[rng.random_range(0..values.len())])
            })
            .collect();
        let value = program.combine(terms)?;
        values.push(value);
        let from = rng.random_range(0..nodes);
        match rng.random_range(0..4) {
            0 => program.broadcast(from, value)?,
            1 => program.send(from, (from + 1) % nodes, value)?,
            2 => {
                let other = values[rng.random_range(0..values.len())];
                program.secure_sum(from, [(from, 1, value), ((from + 1) % nodes, 1, other)])?;
            }
            _ => {}
        }
    }
    Ok(program)
}

/// Two witnesses in exact rationals prove the same loss, for every node, every use and the sum of uses. Both
/// are checked without a rank, and neither is accepted after a modification.
#[test]
fn witnesses_meet_in_the_loss() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let (mut bounded, mut noiseless) = (0, 0);
    for _ in 0..400 {
        let program = random(&mut rng)?;
        let members: Vec<usize> = (0..program.node_count()).filter(|_| rng.random_bool(0.3)).collect();
        let observer = Observer::coalition(&members);
        let account = program.account(&observer)?;
        for u in (0..program.node_count()).filter(|u| !members.contains(u) && program.uses(*u) > 0) {
            let uses = program.uses(u);
            let mut changes = vec![vec![1.0; uses]];
            changes.extend((0..uses).map(|i| (0..uses).map(|j| f64::from(u8::from(i == j))).collect()));
            for change in changes {
                let exact: Vec<Weight> = change.iter().map(|&x| x.into()).collect();
                match account.verdict(u, &SensitivitySet::Along(change.clone())) {
                    Ok(NodeVerdict::Bounded(loss)) => {
                        let (attack, shift) = account.witnesses(u, &exact)?;
                        let Some(low) = program.check_attack(&observer, &attack)? else {
                            panic!("noise is seen");
                        };
                        let high = program.check_shift(&observer, &shift)?;
                        assert_eq!(low, high);
                        assert!(
                            loss.lower <= low.to_f64() * (1.0 + 1e-15)
                                && low.to_f64() <= loss.value() * (1.0 + 1e-15)
                        );
                        assert_eq!(loss.value.grade(), Grade::Exact);
                        if attack.terms.is_empty() {
                            assert!(loss.value() == 0.0 && shift.terms.is_empty());
                            continue;
                        }
                        bounded += 1;
                        let mut wrong = shift.clone();
                        wrong.terms[0].1 = Weight::from(wrong.terms[0].1.to_f64() + 0.5);
                        let outcome = program.check_shift(&observer, &wrong);
                        // A noise that occurs in no row can be shifted freely, at its cost.
                        match outcome {
                            Ok(price) => assert_ne!(price, high),
                            Err(error) => assert!(matches!(error.carried(), Some(ProgramError::Witness(_)))),
                        }
                        let mut wrong = attack.clone();
                        wrong.terms[0].1 = Weight::from(0.25 + wrong.terms[0].1.to_f64() * 3.0);
                        if let Ok(Some(weaker)) = program.check_attack(&observer, &wrong) {
                            assert!(weaker.to_f64() <= low.to_f64() * (1.0 + 1e-12));
                        }
                    }
                    Ok(NodeVerdict::Noiseless { combination, .. }) => {
                        let combination = combination.expect("a small view");
                        let attack = Witness { source: u, change: exact, terms: combination };
                        assert_eq!(program.check_attack(&observer, &attack)?, None);
                        noiseless += 1;
                    }
                    Err(error) if matches!(error.carried(), Some(ProgramError::Undecided(_))) => {
                        panic!("uses and their sum are decided")
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    assert!(bounded > 100 && noiseless > 20, "{bounded} {noiseless}");
    Ok(())
}

/// Sets are ordered, and vectors are at most π/2 times signs.
#[test]
fn sets_are_ordered() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut compared = 0;
    for _ in 0..60 {
        let k = rng.random_range(2..7);
        let mut program = Program::new(1)?;
        let x: Vec<Value> =
            (0..k).map(|_| program.contribute(0, Reads::Nothing)).collect::<Result<_, _>>()?;
        for _ in 0..rng.random_range(1..6) {
            let z = program.noise([0], 1)?;
            let mut terms: Vec<(i64, Value)> = x.iter().map(|&x| (rng.random_range(-3..4), x)).collect();
            terms.push((2, z));
            let y = program.combine(terms)?;
            program.broadcast(0, y)?;
        }
        let account = program.account(&Observer::outsider())?;
        let loss = |set: &SensitivitySet| account.loss(0, set);
        let same = loss(&SensitivitySet::SameDirection)?;
        let signs = loss(&SensitivitySet::Signs)?;
        let plane = loss(&SensitivitySet::Vectors { dimension: 2 })?;
        let vectors = loss(&SensitivitySet::Vectors { dimension: 10 })?;
        let room = 1e-8 * (1.0 + vectors.value());
        assert_eq!(signs.value.grade(), Grade::Exact);
        assert!(same.value() <= signs.value() + room && signs.value() <= vectors.value() + room);
        assert!(signs.value() <= plane.value() + room && plane.lower <= vectors.value() + room);
        assert!(vectors.lower <= signs.value() * std::f64::consts::FRAC_PI_2 + room);
        let sum: f64 = (0..k * k)
            .map(|at| account.gram(0, at / k, at % k).map(|(x, _)| x.abs()))
            .sum::<Result<f64, _>>()?;
        assert!(vectors.value() <= sum + room, "{} {sum}", vectors.value());
        compared += usize::from(vectors.value.grade() == Grade::Exact);
        // The largest value over all signs, tried one by one.
        let best = (0..1u32 << k)
            .map(|mask| (0..k).map(|i| if mask >> i & 1 == 1 { 1.0 } else { -1.0 }).collect::<Vec<f64>>())
            .map(|signs| account.loss(0, &SensitivitySet::Along(signs)).map(|loss| loss.value()))
            .try_fold(0.0, |m: f64, x| x.map(|x| m.max(x)))?;
        assert!((best - signs.value()).abs() <= room, "{best} {signs:?}");
    }
    assert!(compared > 40, "{compared} of 60 are exact");
    Ok(())
}

/// A further member, tap or row never lowers a loss.
#[test]
fn losses_grow_with_what_is_seen() -> Outcome {
    let program = dsgd(&GossipMatrix::metropolis(&cycle_graph(6)?), 3)?;
    let set = SensitivitySet::SameDirection;
    let observers = [
        Observer::outsider(),
        Observer::outsider().tapping(&[(0, 1)]),
        Observer::outsider().tapping(&[(0, 1), (1, 2)]),
        Observer::coalition(&[1, 2]),
        Observer::coalition(&[1, 2, 5]),
    ];
    for u in [0, 3, 4] {
        let mut last = 0.0;
        for observer in &observers {
            let loss = program.account(observer)?.loss(u, &set)?;
            assert!(loss.value() >= last - 1e-9, "{u} {observer}: {} after {last}", loss.value());
            last = loss.lower;
        }
    }
    Ok(())
}

/// Chains on which rounding grows beyond any threshold: the far end still learns everything.
#[test]
fn long_chains_reveal_all() -> Outcome {
    for n in [30, 40] {
        let program = muffliato(&GossipMatrix::metropolis(&path_graph(n)?), n)?;
        let account = program.account(&Observer::node(n - 1))?;
        assert_eq!(account.loss(0, &SensitivitySet::UseLevel)?.value(), 1.0);
        assert!(account.loss(0, &SensitivitySet::UseLevel)?.lower > 1.0 - 1e-9);
    }
    Ok(())
}

#[test]
fn tiny_weights_and_variances_are_exact() -> Outcome {
    // Rows z₀ and z₀ + 1e-11 z₁ + x: their difference contains only 1e-11 z₁ as noise.
    let mut program = Program::new(2)?;
    let x = program.contribute(0, Reads::Nothing)?;
    let z = program.noise([0], 1)?;
    let w = program.noise([0], 1e-12)?;
    let y = program.combine([(1.0, x), (1.0, z), (1e-11, w)])?;
    program.broadcast(0, z)?;
    program.broadcast(0, y)?;
    let account = program.account(&Observer::outsider())?;
    let expected = 1.0 / (1e-11 * 1e-11 * 1e-12);
    let loss = account.loss(0, &SensitivitySet::UseLevel)?;
    assert!((loss.value() / expected - 1.0).abs() < 1e-9 && loss.value.grade() == Grade::Exact, "{loss:?}");
    // The same without publishing z, which then hides x with its own variance.
    let mut program = Program::new(2)?;
    let x = program.contribute(0, Reads::Nothing)?;
    let (z, w) = (program.noise([0], 1)?, program.noise([0], 1)?);
    let y = program.combine([(1.0, x), (1.0, z)])?;
    let other = program.combine([(1.0, z), (1e-11, w)])?;
    program.broadcast(0, y)?;
    program.broadcast(0, other)?;
    let expected = 1.0 + 1e22;
    let loss = program.account(&Observer::outsider())?.loss(0, &SensitivitySet::UseLevel)?;
    assert!((loss.value() / expected - 1.0).abs() < 1e-9 && loss.value.grade() == Grade::Exact, "{loss:?}");
    Ok(())
}

/// Section 5.7: over all nodes, the same-direction losses sum to the rank; so do the traces, and the losses
/// with alternating signs.
#[test]
fn the_sum_rule() -> Outcome {
    for (graph, v) in [(path_graph(5)?, 2), (cycle_graph(6)?, 0), (complete_graph(4)?, 1)] {
        let steps = 3;
        let program = dsgd(&GossipMatrix::metropolis(&graph), steps)?;
        let account = program.account(&Observer::node(v))?;
        let (mut same, mut alternating, mut trace) = (0.0, 0.0, 0.0);
        for u in (0..graph.node_count()).filter(|&u| u != v) {
            same += account.loss(u, &SensitivitySet::SameDirection)?.value();
            let signs = (0..steps).map(|t| if t % 2 == 0 { 1.0 } else { -1.0 }).collect();
            alternating += account.loss(u, &SensitivitySet::Along(signs))?.value();
            for t in 0..steps {
                trace += account.gram(u, t, t)?.0;
            }
        }
        let rank = (graph.degree(v) * steps) as f64;
        assert_eq!(account.rank, graph.degree(v) * steps);
        for sum in [same, alternating, trace] {
            assert!((sum - rank).abs() < 1e-8, "{sum} instead of {rank}");
        }
    }
    Ok(())
}

/// Contributions that read what everybody sees are covered. Those that read local models are not, unless
/// these are shown.
#[test]
fn reading_hidden_values_is_found_out() -> Outcome {
    let graph = path_graph(3)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let program = |public: bool, hidden: bool| -> Result<Program, ProgramError> {
        let mut program = Program::new(3)?;
        let mut h: Option<Vec<Value>> = None;
        for _ in 0..2 {
            let mut y = Vec::new();
            for u in 0..3 {
                let reads = match &h {
                    None => Reads::Nothing,
                    Some(h) if hidden => Reads::Hidden(Some(vec![h[u]])),
                    Some(h) => Reads::Seen(Some(vec![h[u]])),
                };
                let x = program.contribute(u, reads)?;
                let z = program.noise([u], 1)?;
                let parts: Vec<Value> = h.iter().map(|h| h[u]).chain([x, z]).collect();
                y.push(program.add(&parts)?);
            }
            if public {
                program.broadcast_all(&y)?
            } else {
                program.send_to_neighbors(&graph, &y)?
            }
            h = Some(program.gossip(&matrix, &y)?);
        }
        Ok(program)
    };
    let observer = Observer::node(2);
    let account = program(true, false)?.account(&observer)?;
    assert_eq!(account.adaptivity, Dependence::Checked);
    assert_eq!(account.loss(0, &SensitivitySet::SameDirection)?.value.grade(), Grade::Exact);
    let refused = program(false, false)?.account(&observer).map(|_| ());
    assert_eq!(refused, Err(ProgramError::NotSeen { node: 1, index: 1 }.into()));
    let reveal = AccountOptions { hidden: HiddenReads::Reveal, ..AccountOptions::default() };
    let shown = program(false, false)?.account_with(&observer, &reveal)?;
    let declared = program(false, true)?.account(&observer)?;
    let fixed = dsgd(&matrix, 2)?.account(&observer)?;
    for u in [0, 1] {
        let loss = declared.loss(u, &SensitivitySet::SameDirection)?;
        assert_eq!((loss.value.grade(), loss.lower), (Grade::UpperBound, 0.0));
        assert_eq!(loss.value(), shown.loss(u, &SensitivitySet::SameDirection)?.value());
        assert!(loss.value() >= fixed.loss(u, &SensitivitySet::SameDirection)?.value());
    }
    // The observer learns more from what it is shown.
    let more = |u: usize| -> Result<f64, Box<dyn std::error::Error>> {
        let set = SensitivitySet::UseLevel;
        Ok(declared.loss(u, &set)?.value() - fixed.loss(u, &set)?.value())
    };
    assert!(more(0)?.max(more(1)?) > 1e-6);
    assert_eq!(declared.adaptivity, Dependence::Revealed);
    let only_exact = AccountOptions { hidden: HiddenReads::Refuse, ..AccountOptions::default() };
    let refused = program(false, true)?.account_with(&observer, &only_exact).map(|_| ());
    assert_eq!(refused, Err(ProgramError::HiddenNotExact { node: 1, index: 1 }.into()));
    // Without a list, a declaration is an assumption, or gives no bound.
    let assumed = dsgd(&matrix, Dsgd { reads: ModelReads::Assumed, ..Dsgd::from(2) })?.account(&observer)?;
    assert_eq!(assumed.adaptivity, Dependence::Assumed);
    let mut nothing = Program::new(3)?;
    let x = nothing.contribute(0, Reads::Hidden(None))?;
    nothing.broadcast(0, x)?;
    let nothing = nothing.account(&observer);
    assert!(matches!(
        nothing.as_ref().err().and_then(ndp_account::Error::carried),
        Some(ProgramError::Hidden { .. })
    ));
    // With a list for every step, the result is the same as by hand.
    let by_hand = program(false, true)?.account(&observer)?;
    let named = dsgd(&matrix, Dsgd { reads: ModelReads::Hidden, ..Dsgd::from(2) })?.account(&observer)?;
    let set = SensitivitySet::SameDirection;
    for u in [0, 1] {
        let (a, b) = (named.loss(u, &set)?.value(), by_hand.loss(u, &set)?.value());
        assert!((a - b).abs() < 1e-9 && a > 0.0, "{u}: {a} {b}");
    }
    let seen = dsgd(&matrix, Dsgd { reads: ModelReads::Seen, ..Dsgd::from(2) })?;
    let refused = seen.account(&observer).map(|_| ());
    assert_eq!(refused, Err(ProgramError::NotSeen { node: 1, index: 1 }.into()));
    Ok(())
}

/// A member's contribution is known completely: if it reads something that the coalition does not see, this
/// is shown.
#[test]
fn members_that_read_hidden_values_show_them() -> Outcome {
    let build = |reads: fn(Value) -> Reads| -> Result<Program, ProgramError> {
        let mut program = Program::new(2)?;
        let x = program.contribute(1, Reads::Nothing)?;
        let z = program.noise([1], 1)?;
        let secret = program.add(&[x, z])?;
        program.contribute(0, reads(secret))?;
        Ok(program)
    };
    let observer = Observer::node(0);
    let account = build(|secret| Reads::Hidden(Some(vec![secret])))?.account(&observer)?;
    let loss = account.loss(1, &SensitivitySet::UseLevel)?;
    assert_eq!((loss.value(), loss.value.grade()), (1.0, Grade::UpperBound));
    let refused = build(|secret| Reads::Seen(Some(vec![secret])))?.account(&observer).map(|_| ());
    assert_eq!(refused, Err(ProgramError::NotSeen { node: 0, index: 0 }.into()));
    let refused = build(|_| Reads::Hidden(None))?.account(&observer).map(|_| ());
    assert_eq!(refused, Err(ProgramError::Hidden { node: 0, index: 0 }.into()));
    Ok(())
}

/// A combination of seen values that was not seen itself: the rank decides. And a noise that is seen later is
/// not known before.
#[test]
fn what_is_read_may_be_a_combination_of_what_was_seen() -> Outcome {
    let build = |reveal_before: bool, read_noise: bool| -> Result<Program, ProgramError> {
        let mut program = Program::new(3)?;
        let x = program.contribute_all(Reads::Nothing)?;
        let z = program.noise_all(1)?;
        let y = program.add_all(&x, &z)?;
        let sum = program.add(&[y[0], y[1]])?;
        let difference = program.combine([(1, y[0]), (-1, y[1])])?;
        program.broadcast(0, sum)?;
        if reveal_before {
            program.broadcast(1, difference)?;
        }
        let read = if read_noise { z[1] } else { y[0] };
        let again = program.contribute(2, Reads::Seen(Some(vec![read])))?;
        let noise = program.noise([2], 1)?;
        let last = program.add(&[again, noise])?;
        program.broadcast(2, last)?;
        program.broadcast(1, difference)?;
        program.broadcast(1, z[1])?;
        Ok(program)
    };
    let account = build(true, false)?.account(&Observer::outsider())?;
    assert_eq!(account.adaptivity, Dependence::Checked);
    for (before, noise) in [(false, false), (true, true)] {
        let outcome = build(before, noise)?.account(&Observer::outsider()).map(|_| ());
        assert_eq!(outcome, Err(ProgramError::NotSeen { node: 2, index: 1 }.into()));
    }
    Ok(())
}

/// Programs are protocols: targets are met, and real runs agree with the account.
#[test]
fn programs_meet_targets_and_audits() -> Outcome {
    let program = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), 3)?;
    let declared = Declared::new(program, SensitivitySet::SameDirection);
    let observer = Observer::node(2);
    let accounts = [Protocol::account(&declared, &observer)?];
    let target = Target::worst(Measure::Gaussian, 0.5);
    let least = least_noise(&accounts, &target)?;
    assert_eq!(check(&accounts, least.noise, &target)?.verdict, Verdict::Met);
    // μ² = (69/26) / noise².
    assert!((least.noise.get() - (69.0_f64 / 26.0).sqrt() / 0.5).abs() < 1e-6);
    let noise = NoiseMultiplier::new(1.0)?;
    let plan = AuditPlan { runs: 4000, error_rate: 1e-3 };
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for u in [0, 1] {
        // The statistic is the best possible one: its weights show as much as the account allows.
        let shown = declared.attack(u, &observer, noise)?.shown_mu().expect("a Gaussian statistic");
        let claimed = accounts[0].profile(u, noise)?.mu().expect("a Gaussian view").value().mu();
        assert!((shown / claimed - 1.0).abs() < 1e-9, "{u}: {shown} {claimed}");
        let found = audit(&declared, u, &observer, noise, plan, &mut rng, &Silent)?;
        assert!(!found.is_refuted(), "{found:?}");
        assert!(*found.measured_mu.value() > 0.7 * found.allowed.value(), "{found:?}");
    }
    Ok(())
}

/// The change that is attacked is in the set, so that its loss is at most that of the set.
#[test]
fn attacks_keep_to_the_set() -> Outcome {
    let mut program = Program::new(2)?;
    // The third use is seen best, the others less well.
    for variance in [4, 2, 1, 3] {
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([], variance)?);
        let y = program.add(&[x, z])?;
        program.broadcast(0, y)?;
    }
    let (observer, noise) = (Observer::node(1), NoiseMultiplier::new(1.0)?);
    let account = program.account(&observer)?;
    let of =
        |patterns, within: SensitivitySet| SensitivitySet::Patterns { patterns, within: Box::new(within) };
    let bounds = vec![1.0, 1.0, 0.5, 1.0];
    let scaled = SensitivitySet::Bounded { bounds, within: Box::new(SensitivitySet::SameDirection) };
    let listed = Patterns::Listed(vec![vec![0, 1], vec![3]]);
    for (set, change) in [
        (of(listed.clone(), SensitivitySet::SameDirection), [1.0, 1.0, 0.0, 0.0]),
        (of(listed, SensitivitySet::UseLevel), [0.0, 1.0, 0.0, 0.0]),
        (of(Patterns::Cyclic { period: 2 }, scaled), [1.0, 0.0, 0.5, 0.0]),
        (of(Patterns::Listed(Vec::new()), SensitivitySet::Signs), [0.0; 4]),
    ] {
        assert_eq!(account.worst_change(0, &set)?, change, "{set:?}");
        let declared = Declared::new(program.clone(), set);
        let shown = declared.attack(0, &observer, noise)?.shown_mu().expect("a Gaussian statistic");
        let profile = Protocol::account(&declared, &observer)?.profile(0, noise)?;
        let claimed = profile.mu().expect("a Gaussian view").value().mu();
        assert!(shown <= claimed * (1.0 + 1e-9), "{shown} {claimed}");
    }
    Ok(())
}

/// The known noises, masks and correlated values of a coalition in runs.
#[test]
fn audits_of_correlated_noise() -> Outcome {
    let decor = Declared::new(decor(&cycle_graph(5)?, 1, 1, 1)?, SensitivitySet::UseLevel);
    let zip = Declared::new(zip_dl(&complete_graph(4)?, (1, 2), 1)?, SensitivitySet::UseLevel);
    let plan = AuditPlan { runs: 4000, error_rate: 1e-3 };
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    for protocol in [&decor, &zip] {
        let found =
            audit(protocol, 2, &Observer::node(0), NoiseMultiplier::new(1.0)?, plan, &mut rng, &Silent)?;
        assert!(!found.is_refuted(), "{found:?}");
        assert!(*found.measured_mu.value() > 0.7 * found.allowed.value(), "{found:?}");
    }
    Ok(())
}
