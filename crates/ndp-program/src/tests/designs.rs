//! Tests of designed noise.

use super::*;
use crate::constructors::{decor, dsgd};
use crate::design::{Design, DesignStopping, Limit};
use ndp_account::Protocol;
use ndp_dp::NoiseMultiplier;
use ndp_graph::generators::{complete_graph, cycle_graph};
use ndp_graph::{GossipMatrix, Graph};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// All nodes outside a coalition, for every observer.
fn everybody(n: usize) -> Vec<(Observer, Vec<usize>)> {
    (0..n).map(|v| (Observer::node(v), (0..n).filter(|&u| u != v).collect())).collect()
}

/// With one strength, the least noise follows by scaling.
#[test]
fn one_strength_is_the_least_noise() -> Outcome {
    let program = decor(&cycle_graph(6)?, 1, 2, 1)?;
    let design = Design::new(&program, &[program.noises()])?;
    let limit = Limit::Worst(0.25);
    let found = design.solve(&everybody(6), &SensitivitySet::UseLevel, limit, DesignStopping::default())?;
    let losses = program.pairwise_losses(&SensitivitySet::UseLevel)?;
    let pairs = (0..36).map(|k| losses.value().get(k / 6, k % 6));
    let worst = pairs.fold(0.0, f64::max);
    assert!((found.strengths[0] - worst / 0.25).abs() < 1e-8, "{:?}", found.strengths);
    assert!(found.cost >= found.lower_bound && *found.loss.value() <= 0.25);
    // On average over all pairs, most of which learn less than neighbors do, less noise is needed.
    let limit = Limit::Mean(0.25);
    let found = design.solve(&everybody(6), &SensitivitySet::UseLevel, limit, DesignStopping::default())?;
    let pairs = (0..36).map(|k| losses.value().get(k / 6, k % 6));
    let mean = pairs.sum::<f64>() / 30.0;
    assert!(mean < 0.99 * worst && (found.strengths[0] - mean / 0.25).abs() < 1e-8, "{:?}", found.strengths);
    assert!(found.cost >= found.lower_bound && *found.loss.value() <= 0.25);
    Ok(())
}

/// Masks with a small price replace own noise, up to the limit of a curator: every node outside an observer
/// is hidden in the sum of the others.
#[test]
fn masks_take_over() -> Outcome {
    let n = 6;
    let graph: Graph = complete_graph(n)?;
    let program = decor(&graph, 1, 1, 1)?;
    let (own, masks) = (program.noises()[..n].to_vec(), program.noises()[n..].to_vec());
    let design = Design::new(&program, &[own.clone(), masks.clone()])?;
    let pairs = everybody(n);
    let limit = Limit::Worst(1.0);
    let free = design.solve(&pairs, &SensitivitySet::UseLevel, limit, DesignStopping::default());
    assert!(matches!(
        free.as_ref().err().and_then(ndp_account::Error::carried),
        Some(ProgramError::Design(_))
    ));
    let mut priced = Design::new(&program, &[own, masks])?;
    priced.prices = vec![0.0, 1e-6];
    let found = priced.solve(&pairs, &SensitivitySet::UseLevel, limit, DesignStopping::default())?;
    // Own noise of 1/(n-1), compared with 1 without masks.
    assert!((found.strengths[0] - 0.2).abs() < 0.01 && found.strengths[1] > 1.0, "{:?}", found.strengths);
    assert!(found.cost <= found.lower_bound * 1.0011, "{} {}", found.cost, found.lower_bound);
    Ok(())
}

/// The share of a zero-sum noise, compared with one-dimensional search. With `h` others, own noise `a` and
/// zero-sum noise `b`, every node has the loss `1/(h a) + (1 - 1/h)/(a + b)` towards one member.
#[test]
fn zero_sum_shares() -> Outcome {
    for (n, price) in [(5, 1e-4), (8, 1e-3), (8, 1e-6)] {
        let mut program = Program::new(n)?;
        let x = program.contribute_all(Reads::Nothing)?;
        let own = program.noise_all(1)?;
        let everyone: Vec<usize> = (0..n).collect();
        let share = program.zero_sum(&everyone, 1)?;
        let y: Vec<Value> =
            (0..n).map(|u| program.add(&[x[u], own[u], share[u]])).collect::<Result<_, _>>()?;
        for (u, &value) in y.iter().enumerate() {
            program.broadcast(u, value)?;
        }
        let mean = program.combine(y.iter().map(|&y| ((1, n as i64), y)))?;
        program.result((0..n).map(|u| (u, mean)))?;
        let mut design = Design::new(&program, &[own, share])?;
        design.prices = vec![0.0, price];
        let limit = Limit::Worst(1.0);
        let found =
            design.solve(&everybody(n), &SensitivitySet::UseLevel, limit, DesignStopping::default())?;
        assert!(found.cost <= found.lower_bound * 1.0011 && *found.loss.value() <= 1.0, "{found:?}");
        let h = (n - 1) as f64;
        let (a, b) = (found.strengths[0], found.strengths[1]);
        assert!((1.0 / (h * a) + (1.0 - 1.0 / h) / (a + b) - found.loss.value()).abs() < 1e-8, "{a} {b}");
        // For every a the least b: (1 - 1/h) / (1 - 1/(h a)) - a, or none if own noise is enough.
        let cost = |a: f64| {
            let b = ((1.0 - 1.0 / h) / (1.0 - 1.0 / (h * a)) - a).max(0.0);
            a / n as f64 + price * b
        };
        let best = (1..200_000).map(|k| cost(1.0 / h + f64::from(k) * 5e-6)).fold(f64::INFINITY, f64::min);
        assert!(found.cost >= best * (1.0 - 1e-6) && found.cost <= best * 1.002, "{} {best}", found.cost);
        assert!(found.lower_bound <= best * (1.0 + 1e-9), "{} {best}", found.lower_bound);
        assert!(b > a);
    }
    Ok(())
}

/// Over time: noise that is taken back a step later hides each step, and does not change the sum.
#[test]
fn noise_between_steps() -> Outcome {
    let (steps, n) = (4, 3);
    let matrix = GossipMatrix::metropolis(&complete_graph(n)?);
    let plain = dsgd(&matrix, steps)?;
    let set = SensitivitySet::UseLevel;
    let pairs = everybody(n);
    let independent = Design::new(&plain, &[plain.noises()])?;
    let before = independent.solve(&pairs, &set, Limit::Worst(1.0), DesignStopping::default())?;
    // Own noise in every step, and noise that is shared by two steps.
    let mut program = Program::new(n)?;
    let mixing = MixingMatrix::from(&matrix);
    let own: Vec<Vec<Value>> = (0..steps).map(|_| program.noise_all(1)).collect::<Result<_, _>>()?;
    let between: Vec<Vec<Value>> = (1..steps).map(|_| program.noise_all(1)).collect::<Result<_, _>>()?;
    let mut model: Option<Vec<Value>> = None;
    for (t, own) in own.iter().enumerate() {
        let x = program.contribute_all(Reads::Nothing)?;
        let mut y = Vec::new();
        for u in 0..n {
            let mut terms = vec![(1, x[u]), (1, own[u])];
            terms.extend(between.get(t).map(|z| (1, z[u])));
            terms.extend(t.checked_sub(1).map(|s| (-1, between[s][u])));
            terms.extend(model.as_ref().map(|model| (1, model[u])));
            y.push(program.combine(terms)?);
        }
        program.send_to_neighbors(matrix.graph(), &y)?;
        model = Some(program.gossip(&mixing, &y)?);
    }
    program.result(model.unwrap_or_default().into_iter().enumerate())?;
    let groups: Vec<Vec<Value>> = own.into_iter().chain(between).collect();
    // What is taken back cancels in the mean of all steps, so that it adds nothing to the error.
    let prices: Vec<f64> = (0..groups.len()).map(|k| if k < steps { 0.0 } else { 1e-3 }).collect();
    let mut design = Design::new(&program, &groups)?;
    design.prices = prices;
    let found =
        design.solve(&pairs, &set, Limit::Worst(1.0), DesignStopping { tolerance: 5e-3, steps: 600 })?;
    assert!(found.cost < 0.8 * before.cost, "{} {}", found.cost, before.cost);
    assert!(found.cost >= found.lower_bound, "{} {}", found.cost, found.lower_bound);
    let declared = Declared::new(found.program, set);
    let account = Protocol::account(&declared, &Observer::node(0))?;
    let mu = account.profile(1, NoiseMultiplier::new(1.0)?)?.mu().map(|mu| mu.value().mu());
    assert!(mu.is_some_and(|mu| mu <= 1.0 + 1e-9));
    Ok(())
}

#[test]
fn bad_designs_are_refused() -> Outcome {
    let program = decor(&cycle_graph(4)?, 1, 1, 1)?;
    let noises = program.noises();
    assert_refused(Design::new(&program, &[noises[..3].to_vec()]), "noise 3 belongs to no group");
    assert_refused(
        Design::new(&program, &[noises.clone(), noises[..1].to_vec()]),
        "noise 0 belongs to two groups",
    );
    let design = Design::new(&program, &[noises])?;
    let (pairs, set) = (everybody(4), SensitivitySet::UseLevel);
    let mut wrong = design.clone();
    wrong.floors = vec![1.0, 1.0];
    assert_refused(
        wrong.solve(&pairs, &set, Limit::Worst(1.0), DesignStopping::default()),
        "2 numbers are given, and the number of groups is 1",
    );
    let mut wrong = design.clone();
    wrong.prices = vec![f64::NAN];
    assert_refused(
        wrong.solve(&pairs, &set, Limit::Worst(1.0), DesignStopping::default()),
        "NaN is negative or not finite",
    );
    for limit in [Limit::Worst(0.0), Limit::Mean(f64::INFINITY), Limit::Worst(f64::NAN)] {
        assert_refused(
            design.solve(&pairs, &SensitivitySet::UseLevel, limit, DesignStopping::default()),
            "the limit must be positive and finite",
        );
    }
    let stopping = DesignStopping::default();
    assert_refused(
        design.solve(&pairs, &SensitivitySet::Signs, Limit::Worst(1.0), stopping),
        "for one use, or for all in the same direction",
    );
    assert_refused(
        design.solve(&[], &SensitivitySet::UseLevel, Limit::Worst(1.0), stopping),
        "there is no pair to protect",
    );
    Ok(())
}
