//! Compares the accountants of walks with the sum over all paths.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::Error;
use crate::error::refused;
use crate::iteration::LastIterate::{self, Published, Withheld};
use crate::iteration::{CappedWalk, FirstHolder, Geometric, NoisyStep, UncappedWalk, absorption_cost};
use crate::{Order, Sigma};
use approx::assert_relative_eq;

fn run(steps: u64, users: u64, colluders: u64, last_iterate: LastIterate) -> UncappedWalk {
    UncappedWalk::new(steps, users, colluders, last_iterate).unwrap()
}

fn total(run: UncappedWalk, theta: f64) -> f64 {
    run.total_log_mgf(theta, u64::MAX).unwrap().into_value()
}

fn observed(run: UncappedWalk, theta: f64) -> f64 {
    run.observed_log_mgf(theta, u64::MAX).unwrap().into_value()
}

#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Exposed,
    Observer,
    Other,
}

/// Sums `probability · e^{cost}` over all classes of paths: at each step the exposed user, an observer or
/// another user.
fn enumerate(run: UncappedWalk, cost: impl Fn(&[Holder]) -> f64) -> f64 {
    let n = run.users as f64;
    let kinds = [
        (Holder::Exposed, 1.0 / n),
        (Holder::Observer, run.colluders as f64 / n),
        (Holder::Other, (n - 1.0 - run.colluders as f64) / n),
    ];
    let mut sum = 0.0;
    for code in 0..3_u32.pow(run.steps as u32) {
        let mut rest = code;
        let mut probability = 1.0;
        let path: Vec<Holder> = (0..run.steps)
            .map(|step| {
                let (kind, p) = kinds[(rest % 3) as usize];
                rest /= 3;
                probability *= match (step, run.first_holder) {
                    (0, FirstHolder::Given) => f64::from(u8::from(kind == Holder::Exposed)),
                    _ => p,
                };
                kind
            })
            .collect();
        if probability > 0.0 {
            sum += probability * f64::exp(cost(&path));
        }
    }
    sum.ln()
}

/// The cost of a path by its definition: each contribution costs 1 over the noise of its gap until the next
/// event, where `size` gives the noise of the steps from a time on.
fn cost_of_gaps(run: UncappedWalk, path: &[Holder], size: impl Fn(usize, usize) -> f64) -> f64 {
    let mut cost = 0.0;
    for (t, _) in path.iter().enumerate().filter(|&(_, holder)| *holder == Holder::Exposed) {
        let next = path[t + 1..].iter().position(|holder| *holder != Holder::Other);
        match (next, run.last_iterate) {
            (Some(distance), _) => cost += 1.0 / size(t, distance + 1),
            (None, Published) => cost += 1.0 / size(t, path.len() - t),
            (None, Withheld) => {}
        }
    }
    cost
}

/// The observed segments: contribution times since the last look, and the time of the look.
fn segments(run: UncappedWalk, path: &[Holder]) -> Vec<(Vec<u64>, u64)> {
    let mut all = Vec::new();
    let mut times = Vec::new();
    for (t, holder) in path.iter().enumerate() {
        match holder {
            Holder::Exposed => times.push(t as u64),
            Holder::Observer => all.push((std::mem::take(&mut times), t as u64)),
            Holder::Other => {}
        }
    }
    if run.last_iterate == Published {
        all.push((times, path.len() as u64));
    }
    all
}

fn small_runs() -> Vec<UncappedWalk> {
    let mut runs = Vec::new();
    for (users, steps) in [(2, 7), (3, 7), (4, 6)] {
        for colluders in 1..users {
            for last_iterate in [Withheld, Published] {
                for first in [FirstHolder::Uniform, FirstHolder::Given] {
                    runs.push(UncappedWalk {
                        first_holder: first,
                        ..run(steps, users, colluders, last_iterate)
                    });
                    runs.push(UncappedWalk { first_holder: first, ..run(1, users, colluders, last_iterate) });
                }
            }
        }
    }
    runs
}

#[test]
fn total_moments_equal_the_enumeration_of_all_paths() {
    for run in small_runs() {
        for theta in [0.0, 0.1, 1.0, 6.0] {
            let exact = enumerate(run, |path| theta * cost_of_gaps(run, path, |_, g| g as f64));
            assert_relative_eq!(total(run, theta), exact, max_relative = 1e-12, epsilon = 1e-13);
        }
    }
}

#[test]
fn observed_moments_equal_the_enumeration_and_cover_the_best_absorption() {
    for run in small_runs() {
        for theta in [0.0, 0.1, 1.0, 6.0] {
            let by_gaps = |(times, seen): &(Vec<u64>, u64)| -> f64 {
                let ends = times.iter().skip(1).chain([seen]);
                times.iter().zip(ends).map(|(start, end)| 1.0 / (end - start) as f64).sum()
            };
            let exact = enumerate(run, |path| theta * segments(run, path).iter().map(by_gaps).sum::<f64>());
            let value = observed(run, theta);
            assert_relative_eq!(value, exact, max_relative = 1e-12, epsilon = 1e-13);
            assert!(value <= total(run, theta) + 1e-12);
            // The value is never below the least cost of absorption.
            let hull = |(times, seen): &(Vec<u64>, u64)| absorption_cost(times, *seen).unwrap().into_value();
            let best = enumerate(run, |path| theta * segments(run, path).iter().map(hull).sum::<f64>());
            assert!(best <= value + 1e-12);
        }
    }
}

/// Values stated beside the formula, to the digits given: n = 3, T = 6, θ = 0.5, without and with
/// publication.
#[test]
fn stated_values_of_the_three_accounts_of_a_run() {
    for (last_iterate, [recursion, seen, least]) in
        [(Withheld, [0.784_60, 0.607_35, 0.597_89]), (Published, [1.022_04, 1.022_04, 0.999_46])]
    {
        let run = run(6, 3, 1, last_iterate);
        let hull = |(times, look): &(Vec<u64>, u64)| absorption_cost(times, *look).unwrap().into_value();
        let best = enumerate(run, |path| 0.5 * segments(run, path).iter().map(hull).sum::<f64>());
        for (value, stated) in [(total(run, 0.5), recursion), (observed(run, 0.5), seen), (best, least)] {
            assert!((value - stated).abs() < 5.1e-6, "{value} is not {stated}");
        }
    }
}

/// What is proved for a capped walk is hardly larger than what Lemma 1 prints: their ratio at θ = 1, as
/// stated.
#[test]
fn the_proved_bound_is_close_to_lemma_1() -> Result<(), Error> {
    for (users, stated, digits) in [(10, 1.0009, 6e-5), (100, 1.042, 6e-4), (2000, 1.047, 6e-4)] {
        let proved = *Geometric::until_seen(users, 1)?.log_phi(1.0)?.value();
        let n = users as f64;
        let ratio = proved / (2.0 * n.ln() / n);
        assert!((ratio - stated).abs() < digits, "{ratio} at {users}");
    }
    Ok(())
}

#[test]
fn decreasing_moments_equal_the_enumeration() -> Result<(), Error> {
    let sizes = [1.0, 0.7, 0.9, 0.3, 0.25, 0.2, 0.05];
    for run in small_runs().into_iter().filter(|run| run.steps > 1) {
        let sizes = &sizes[..run.steps as usize];
        let noise = |t: usize, g: usize| -> f64 {
            sizes[t..t + g].iter().map(|size| (size / sizes[t]) * (size / sizes[t])).sum()
        };
        let exact = enumerate(run, |path| 0.4 * cost_of_gaps(run, path, noise));
        let value = *run.decreasing_log_mgf(0.4, sizes)?.value();
        assert_relative_eq!(value, exact, max_relative = 1e-12);
    }
    Ok(())
}

/// For every cap, first holder and either choice of publication, the sum over all paths, in which only visits
/// up to the cap count, never exceeds the bound.
#[test]
fn capped_bounds_cover_the_enumeration_from_every_start() -> Result<(), Error> {
    let order = Order::new(2.0)?;
    for run in small_runs() {
        for theta in [0.01, 0.3, 2.0, 8.0] {
            // At α = 2 this step has θ = (2L/σ)², the one of the loop.
            let step = NoisyStep::new(0.5, Sigma::new(1.0 / f64::sqrt(theta))?)?;
            for cap in 1..=4u64 {
                let exact = enumerate(run, |path| {
                    let mut made = 0;
                    let mut cost = 0.0;
                    for (t, _) in path.iter().enumerate().filter(|&(_, holder)| *holder == Holder::Exposed) {
                        made += 1;
                        if made > cap {
                            break;
                        }
                        let next = path[t + 1..].iter().position(|holder| *holder != Holder::Other);
                        cost += match (next, run.last_iterate) {
                            (Some(distance), _) => theta / (distance + 1) as f64,
                            (None, Published) => theta / (path.len() - t) as f64,
                            (None, Withheld) => 0.0,
                        };
                    }
                    cost
                });
                let walk = CappedWalk::new(cap, step, run.users, run.colluders)?;
                let bound = match run.first_holder {
                    FirstHolder::Uniform => crate::Mechanism::rdp(&walk, order).into_value(),
                    FirstHolder::Given => walk.rdp_from_given_start(order, run.steps)?.into_value(),
                };
                assert!(exact <= bound * (1.0 + 1e-13), "{run:?} cap {cap} theta {theta}: {exact} > {bound}");
            }
        }
    }
    Ok(())
}

/// One step of a given holder is one Gaussian release, seen with certainty; drawn uniformly, with probability
/// `1/n`.
#[test]
fn a_given_first_step_is_seen_at_once() -> Result<(), Error> {
    let given = UncappedWalk { first_holder: FirstHolder::Given, ..run(1, 1000, 1, Published) };
    for value in [total(given, 0.7), observed(given, 0.7), *given.decreasing_log_mgf(0.7, &[1.0])?.value()] {
        assert_relative_eq!(value, 0.7, max_relative = 1e-13);
    }
    let uniform = run(1, 1000, 1, Published);
    assert_relative_eq!(total(uniform, 0.7), f64::ln_1p(0.7f64.exp_m1() / 1000.0), max_relative = 1e-10);
    // Cutting the gaps or segments only raises the bound.
    let long = UncappedWalk { first_holder: FirstHolder::Given, ..run(40, 6, 1, Published) };
    for longest in [2, 3, 6, 12, 24, 40, 41] {
        let cut = *long.observed_log_mgf(0.3, longest)?.value();
        assert!(
            observed(long, 0.3) <= cut + 1e-13
                && *long.total_log_mgf(0.3, longest)?.value() >= total(long, 0.3)
        );
    }
    let capped = CappedWalk::new(2, NoisyStep::new(1.0, Sigma::new(1.0)?)?, 5, 1)?;
    let never = capped.rdp_from_given_start(Order::new(2.0)?, 0);
    assert_eq!(refused(never), Some("the number of steps of a walk"));
    Ok(())
}
