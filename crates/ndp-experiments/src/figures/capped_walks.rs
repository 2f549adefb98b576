//! Private SGD on houses by walks with a cap on contributions, as two papers draw it: their programs share
//! steps, clipping and budget.

use crate::figures::learning::{Agreement, Curve, Finals, Recorded, Runs, Setting, TEST_ROWS};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{Dataset, Domain};
use ndp_dp::Grade;
use ndp_report::figure::{Axis, Figure, Panel, Series};

/// Steps of a run.
pub(super) const T: usize = 20_000;
pub(super) const DELTA: f64 = 1e-6;
/// The cap on contributions.
pub(super) const CAP: usize = 12;
/// Steps between measurements.
const EVERY: usize = 100;
/// Norm to which the released programs clip gradient plus noise.
pub(super) const CLIP: f64 = 0.4;
/// The step sizes of the released central, local and network curve.
pub(super) const RELEASED_STEPS: [f64; 3] = [0.034_166_67, 0.067_333_33, 0.034_166_67];

/// The name of a curve, the grade of its noise, and what was measured.
pub(super) type Named = (String, Grade, Curve);

/// The walk behind curve `k`: central, local, then walks. Users beyond their cap only add noise, in local SGD
/// they do nothing; the curator's draws have no cap.
pub(super) fn walk(k: usize, route: Route, steps: usize, step: f64, update: Update) -> WalkSgd {
    WalkSgd {
        route,
        start: None,
        steps,
        step_size: StepSize::Constant(step),
        domain: Domain::Unbounded,
        cap: (k != 0).then_some(CAP),
        over_cap: if k == 1 { OverCap::ForwardUnchanged } else { OverCap::NoiseOnly },
        update,
    }
}

/// The splits on which `runs` runs are measured, and those on which step sizes are compared.
pub(super) fn splits(
    rows: &Dataset,
    users: usize,
    steps: usize,
    [runs, tuning]: [u64; 2],
    seed: Seed,
) -> Result<(Runs, Runs)> {
    let setting = Setting { users, test_rows: TEST_ROWS, every: EVERY, runs, objective: true, stride: 1 };
    // Step sizes are compared by the last objective alone.
    let at_the_end = Setting { every: steps - 1, runs: tuning, ..setting };
    let tuning = Runs::prepare(rows, at_the_end, seed.fork("splits for tuning"))?;
    Ok((Runs::prepare(rows, setting, seed.fork("splits"))?, tuning))
}

/// The last accuracies of each name: with the released noise, and with the sound one.
pub(super) fn finals(names: &[&str], printed: &[Named], sound: &[Named]) -> Vec<Finals> {
    let row = |((released, sound), name): ((&Named, &Named), &&str)| {
        let both = [&released.2, &sound.2].map(|curve| Some(curve.last_accuracies()));
        ((*name).to_owned(), both.to_vec())
    };
    printed.iter().zip(sound).zip(names).map(row).collect()
}

/// Adds objective and test accuracy at one `ε`. `recorded` is what the authors' program recorded in how many
/// runs, if it can be compared with ours.
pub(super) fn with_curves(
    mut figure: Figure,
    epsilon: f64,
    [printed, sound]: [&[Named]; 2],
    recorded: Option<(&[Recorded], f64)>,
) -> Figure {
    let recorded = recorded.map(|(all, runs)| {
        let of_epsilon: Vec<&Recorded> = all.iter().filter(|r| r.epsilon == epsilon).collect();
        (of_epsilon, runs)
    });
    for (mode, curves) in [("as released", printed), ("sound", sound)] {
        for objective in [true, false] {
            let what = if objective { "objective" } else { "test accuracy" };
            let mut panel = Panel::curves(
                format!("epsilon {epsilon}, {mode}: {what}"),
                Axis::linear("step"),
                Axis::linear(what).range(if objective { 0.1 } else { 0.4 }, f64::INFINITY),
            );
            for (name, grade, curve) in curves {
                panel = panel.with(if objective {
                    curve.objective(name, *grade)
                } else {
                    curve.accuracy(name, *grade)
                });
            }
            if let (Some((recorded, _)), "as released") = (&recorded, mode) {
                let series: Vec<Series> = recorded.iter().map(|r| r.series(objective)).collect();
                panel = panel.with_all(series);
            }
            figure = figure.panel(panel);
        }
    }
    match recorded {
        None => figure,
        Some((recorded, runs)) => {
            figure.note(format!("epsilon {epsilon}: recorded points"), agreement(&recorded, runs, printed))
        }
    }
}

/// How the recorded means compare with ours.
fn agreement(recorded: &[&Recorded], their_runs: f64, curves: &[Named]) -> serde_json::Value {
    let mut agreement = Agreement::NONE;
    for record in recorded {
        let Some((.., curve)) = curves.iter().find(|(name, ..)| name.starts_with(&record.name)) else {
            continue;
        };
        for (ours, theirs) in [(&curve.objective, &record.objective), (&curve.accuracy, &record.accuracy)] {
            agreement.count(ours, EVERY, &record.steps, theirs, their_runs);
        }
    }
    agreement.note()
}

#[cfg(test)]
pub(super) fn require_whole(recorded: &[Recorded], curves: usize, first: f64) {
    assert_eq!(recorded.len(), curves);
    for curve in recorded {
        assert_eq!((curve.steps.len(), curve.objective.len(), curve.accuracy.len()), (13, 13, 13));
        assert_eq!((curve.steps[0], curve.steps[12]), (100, 19_900));
    }
    assert_eq!(recorded[0].objective[0].0, first);
}
