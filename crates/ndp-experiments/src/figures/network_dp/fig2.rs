//! `network-dp/fig2`: private SGD on houses, central, local and by a walk, as released and sound.

use super::fig2_recorded::{RECORDED, STEPS};
use crate::datasets::Data;
use crate::figure::{Axis, Figure, Panel, Scale, Series};
use crate::figures::learning::{Curve, Runs, houses};
use crate::registry::{Entry, Need, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::sgd::privacy::{calibrate, central, complete_walk, local};
use ndp_algos::sgd::walk::{OverCap, Route, Start, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{DataBounds, Domain, Linear, Logistic, Objective};
use ndp_dp::{Delta, Grade, Sigma};

const USERS: usize = 2000;
const T: usize = 20_000;
const DELTA: f64 = 1e-6;
const CAP: usize = 12;
const EVERY: usize = 100;
const RUNS: u64 = 20;
/// Norm to which the released program clips gradient plus noise.
const CLIP: f64 = 0.4;
/// Epsilon, and the released noise levels and steps of the central, local and network curve.
const RELEASED: [(f64, [f64; 3]); 2] = [
    (10.0, [0.696_820_770_826_682, 5.871_055_612_533_98, 1.227_015_364_146_962_6]),
    (1.0, [6.968_207_708_266_82, 46.868_737_550_456_29, 10.983_400_455_602_524]),
];
const RELEASED_STEPS: [f64; 3] = [0.034_166_67, 0.067_333_33, 0.034_166_67];
const NAMES: [&str; 3] = ["central", "local", "network"];
/// Sound steps: the best of these many, log-spaced, on separate runs.
const GRID: (f64, f64, usize) = (1e-4, 2.0, 10);

/// `network-dp/fig2`.
pub const ENTRY: Entry = Entry {
    id: "network-dp/fig2",
    what: "private SGD on houses at epsilon 10 and 1: central, local, and a walk on the complete graph",
    needs: &[Need::Houses],
    minutes: 0.3,
    tolerance: Tolerance::SEEDED,
    figure,
};

/// The walk behind a curve: users beyond their cap add noise only, in local SGD nothing; the curator's
/// draws have no cap.
fn walk(curve: usize, steps: usize, step: f64, update: Update) -> WalkSgd<'static> {
    WalkSgd {
        route: Route::Complete,
        start: Start::Uniform,
        steps,
        step_size: StepSize::Constant(step),
        domain: Domain::Unbounded,
        cap: (curve != 0).then_some(CAP),
        over_cap: if curve == 1 { OverCap::ForwardUnchanged } else { OverCap::NoiseOnly },
        update,
    }
}

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let (rows, source) = houses(data)?;
    let steps = scale.pick(T, 2000);
    let runs = Runs { houses: &rows, users: USERS, every: EVERY, count: scale.pick(RUNS, 2) };
    let delta = Delta::new(DELTA)?;
    let released_model = Linear::new(Logistic).with_intercept();
    let sound_model = Linear::new(Logistic);
    let bounds = DataBounds::UNIT;
    let constants = sound_model.constants(bounds.feature_norm, bounds.label_size, Domain::Unbounded);
    let mut figure = Figure::new("Network DP, figure 2: private SGD on houses, as released and sound")
        .computed_from(&source)
        .parameter("users", USERS)
        .parameter("rows per user", 8)
        .parameter("T", steps)
        .parameter("runs", runs.count)
        .parameter("delta", DELTA)
        .parameter("cap on contributions", CAP)
        .parameter("clipping of gradient plus noise, as released", CLIP)
        .parameter("steps, as released", RELEASED_STEPS.to_vec())
        .claim("At the same budget the walk comes close to central DP-SGD, while local DP-SGD learns little.")
        .finding(
            "The released noise is not backed by the theorem: sensitivity L instead of 2L, gradient never clipped \
             before the noise, an intercept that raises the gradient norm to sqrt 2, clipping after the noise.",
        )
        .finding(
            "With sound noise at the same stated budget (no clipping, no intercept, the true Lipschitz constant 1) \
             the order of the three curves is the same.",
        )
        .finding("Sound steps are the best of 10 between 1e-4 and 2 on separate runs; released steps are those of the program.")
        .columns(2);
    for (epsilon, released) in RELEASED {
        let kinds = [Grade::UpperBound, Grade::Exact, Grade::UpperBound];
        let mut printed = Vec::new();
        let mut sound = Vec::new();
        for (k, name) in NAMES.into_iter().enumerate() {
            let forked = seed.fork(&format!("{name} {epsilon}"));
            let update = Update::AsReleased { clip: CLIP };
            let as_released = walk(k, steps, RELEASED_STEPS[k], update);
            let curve =
                runs.walk(&released_model, &as_released, Sigma::new(released[k])?, forked.fork("released"))?;
            printed.push((format!("{name}, as released"), Grade::Printed, curve));

            let statement = |sigma: Sigma| match k {
                0 => central(&constants, USERS, steps, sigma, delta),
                1 => local(&constants, CAP, sigma, delta),
                _ => complete_walk(&walk(k, steps, 1.0, Update::Sound), &constants, USERS, 1, sigma, delta),
            };
            let sigma = calibrate(epsilon, statement)?;
            let step = best_step(&runs, scale, forked.fork("tuning"), |step, tuning, seed| {
                tuning.walk(&sound_model, &walk(k, steps, step, Update::Sound), sigma, seed)
            })?;
            let curve =
                runs.walk(&sound_model, &walk(k, steps, step, Update::Sound), sigma, forked.fork("sound"))?;
            figure = figure
                .parameter(format!("{name}, epsilon {epsilon}: sound sigma"), sigma.get())
                .parameter(format!("{name}, epsilon {epsilon}: sound step"), step)
                .parameter(format!("{name}, epsilon {epsilon}: released sigma"), released[k])
                .note(format!("{name}, epsilon {epsilon}: last accuracy, sound"), curve.last_accuracy());
            sound.push((format!("{name}, sound"), kinds[k], curve));
        }
        for (mode, curves) in [("as released", &printed), ("sound", &sound)] {
            for objective in [true, false] {
                let what = if objective { "objective" } else { "test accuracy" };
                let mut panel = Panel::curves(
                    format!("epsilon {epsilon}, {mode}: {what}"),
                    Axis::linear("step"),
                    if objective {
                        Axis::linear(what).range(0.1, 1.0)
                    } else {
                        Axis::linear(what).range(0.4, 1.0)
                    },
                );
                for (name, grade, curve) in curves {
                    panel = panel.with(if objective {
                        curve.objective(name, *grade)
                    } else {
                        curve.accuracy(name, *grade)
                    });
                }
                if mode == "as released" && scale == Scale::Paper && source.real {
                    panel = panel.with_all(recorded(epsilon, objective));
                }
                figure = figure.panel(panel);
            }
        }
        figure = figure.note(
            format!("epsilon {epsilon}: recorded points within 4 standard errors"),
            if scale == Scale::Paper { agreement(epsilon, &printed).into() } else { serde_json::Value::Null },
        );
    }
    Ok(figure)
}

/// The step of the grid with the best last objective on a few separate runs.
fn best_step(
    runs: &Runs<'_>,
    scale: Scale,
    seed: Seed,
    run: impl Fn(f64, &Runs<'_>, Seed) -> Result<Curve>,
) -> Result<f64> {
    let (low, high, count) = GRID;
    let tuning = Runs { count: scale.pick(4, 1), ..*runs };
    let mut best = (f64::INFINITY, low);
    for k in 0..count {
        let step = low * (high / low).powf(k as f64 / (count - 1) as f64);
        let objective = run(step, &tuning, seed.fork(&k.to_string()))?.last_objective();
        if objective < best.0 {
            best = (objective, step);
        }
    }
    Ok(best.1)
}

/// The curves that the authors' program recorded.
fn recorded(epsilon: f64, objective: bool) -> Vec<Series> {
    let curves = RECORDED.iter().filter(|r| r.epsilon == epsilon);
    curves
        .map(|r| {
            let values = if objective { &r.objective } else { &r.accuracy };
            let mut series =
                Series::new(format!("{}, recorded by the program", r.name), Grade::Printed).scattered();
            for (&step, &(mean, spread)) in STEPS.iter().zip(values) {
                series = series.ranged(f64::from(step), mean, mean - spread, mean + spread);
            }
            series
        })
        .collect()
}

/// Share of recorded means within `4 √(s₁²/k₁ + s₂²/k₂)` of ours.
fn agreement(epsilon: f64, curves: &[(String, Grade, Curve)]) -> f64 {
    let (mut within, mut all) = (0u32, 0u32);
    for record in RECORDED.iter().filter(|r| r.epsilon == epsilon) {
        let Some((.., curve)) = curves.iter().find(|(name, ..)| name.starts_with(record.name)) else {
            continue;
        };
        for (ours, theirs) in [(&curve.objective, &record.objective), (&curve.accuracy, &record.accuracy)] {
            for (&step, &(mean, spread)) in STEPS.iter().zip(theirs) {
                let values: Vec<f64> =
                    ours.iter().filter_map(|run| run.get(step as usize / EVERY).copied()).collect();
                let count = values.len() as f64;
                let average = values.iter().sum::<f64>() / count;
                let variance = values.iter().map(|v| (v - average).powi(2)).sum::<f64>() / count;
                let error = (variance / count + spread * spread / RUNS as f64).sqrt();
                within += u32::from((average - mean).abs() <= 4.0 * error);
                all += 1;
            }
        }
    }
    f64::from(within) / f64::from(all)
}
