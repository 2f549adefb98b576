//! What the learning figures share: the houses as users' data, and seeded runs of walk SGD.

use crate::datasets::Data;
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
use ndp_algos::sgd::walk::WalkSgd;
use ndp_algos::sgd::{DataBounds, Dataset, Deal, Evaluation, History, Linear, LinearLoss, Objective, Users};
use ndp_dp::{Grade, Sigma};
use ndp_report::figure::{Axis, Content, Kind, Panel, Point, Provenance, Series};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Training rows on which the objective is measured, drawn with replacement.
const OBJECTIVE_ROWS: usize = 1000;
/// Test rows of the 80/20 split of houses.
pub(super) const TEST_ROWS: usize = 4128;

/// Houses, standardised on all rows, every row scaled to norm 1.
pub(super) fn houses(data: &Data) -> Result<(Dataset, Provenance)> {
    let loaded = data.houses()?;
    let rows = Dataset::new(loaded.value.features, loaded.value.labels)?.standardized()?.with_unit_rows();
    Linear::from(LinearLoss::Logistic).check(&rows)?;
    DataBounds::default().check(&rows)?;
    Ok((rows, loaded.source))
}

/// Objectives and accuracies of several runs, measured at the same steps.
pub(super) struct Curve {
    pub(super) steps: Vec<f64>,
    pub(super) objective: Vec<Vec<f64>>,
    pub(super) accuracy: Vec<Vec<f64>>,
}

impl Curve {
    /// The mean objective, with one standard deviation.
    pub(super) fn objective(&self, name: &str, kind: impl Into<Kind>) -> Series {
        Series::new(name, kind).mean_of_runs(&self.steps, &self.objective).ungraded()
    }

    /// The mean accuracy, with one standard deviation.
    pub(super) fn accuracy(&self, name: &str, kind: impl Into<Kind>) -> Series {
        Series::new(name, kind).mean_of_runs(&self.steps, &self.accuracy).ungraded()
    }

    /// The last accuracy of every run, or 0 of a run that was not measured.
    pub(super) fn last_accuracies(&self) -> Vec<f64> {
        self.accuracy.iter().map(|run| run.last().copied().unwrap_or_default()).collect()
    }

    /// Mean of the last objectives.
    pub(super) fn last_objective(&self) -> f64 {
        mean(self.objective.iter().filter_map(|run| run.last()))
    }

    /// Mean of the last accuracies.
    pub(super) fn last_accuracy(&self) -> f64 {
        mean(self.accuracy.iter().filter_map(|run| run.last()))
    }
}

/// The panels without grades on accuracies and objectives, which are no privacy numbers.
pub(super) fn without_grades(panels: &[Panel]) -> Vec<Panel> {
    let mut panels = panels.to_vec();
    for panel in &mut panels {
        if let Content::Curves { y, series, .. } = &mut panel.content
            && ["accuracy", "objective"].iter().any(|what| y.label.contains(what))
        {
            for s in series {
                s.ungraded = true;
            }
        }
    }
    panels
}

/// The cases of the dots: noise as the authors released it, and noise that is proved to be enough.
pub(super) const NOISES: [&str; 2] = ["with the released noise", "with sound noise"];

/// A row of dots: its name, and for each case the values of the runs, if there are any.
pub(super) type Finals = (String, Vec<Option<Vec<f64>>>);

/// Last accuracies as rows of dots, one dot for each case: mean and standard deviation of the runs.
/// Accuracies are no privacy numbers and have no grade, whatever the noise.
pub(super) fn accuracies(title: String, cases: &[&str], rows: &[Finals]) -> Panel {
    let axis = Axis::linear("last test accuracy: mean ± standard deviation");
    let series = rows.iter().map(|(name, of_cases)| {
        of_cases.iter().enumerate().fold(Series::data(name.clone()), |series, (k, runs)| match runs {
            Some(runs) => {
                let spread = Series::data("").mean_of_runs(&[0.0], &each_alone(runs));
                let point = spread.points.first().copied();
                let point = point.map(|p| Point { x: (k + 1) as f64, ..p });
                series.points(point)
            }
            None => series,
        })
    });
    Panel::dots(title, axis, cases.iter().copied()).with_all(series)
}

/// Differences between the last accuracies in the same run, `one` minus `other`, as rows of dots.
pub(super) fn differences(title: String, cases: &[&str], rows: &[Finals], pairs: &[[&str; 2]]) -> Panel {
    let axis = Axis::linear("difference in the same run, and its range");
    let find = |name: &str| rows.iter().find(|(called, _)| called == name).map(|(_, runs)| runs);
    let series = pairs.iter().filter_map(|[one, other]| {
        let both = find(one)?.iter().zip(find(other)?).enumerate();
        let series = both.fold(Series::data(format!("{one} less {other}")), |series, (k, pair)| {
            let (Some(a), Some(b)) = pair else { return series };
            let less: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let (low, high) =
                less.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &d| (l.min(d), h.max(d)));
            series.ranged((k + 1) as f64, mean(less.iter()), low, high)
        });
        Some(series)
    });
    Panel::dots(title, axis, cases.iter().copied()).with_all(series)
}

/// The last value of every run, as a run with a single step.
fn each_alone(runs: &[f64]) -> Vec<Vec<f64>> {
    runs.iter().map(|&value| vec![value]).collect()
}

fn mean<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Mean and standard deviation over runs that an authors' program recorded, at some of its steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    /// Target epsilon.
    pub(super) epsilon: f64,
    /// Name of the curve.
    pub(super) name: String,
    /// The steps.
    pub(super) steps: Vec<u32>,
    /// Objective.
    pub(super) objective: Vec<(f64, f64)>,
    /// Test accuracy.
    pub(super) accuracy: Vec<(f64, f64)>,
}

impl Recorded {
    /// The curves of a table with the columns epsilon, curve, step, objective, its deviation, accuracy, its
    /// deviation; the lines of a curve follow each other.
    pub(super) fn curves(table: &str) -> Result<Vec<Self>, csv::Error> {
        let mut curves: Vec<Self> = Vec::new();
        for line in csv::Reader::from_reader(table.as_bytes()).into_deserialize() {
            let (epsilon, name, step, objective, accuracy): (f64, String, u32, (f64, f64), (f64, f64)) =
                line?;
            if curves.last().is_none_or(|last| (last.epsilon, &last.name) != (epsilon, &name)) {
                let (steps, objective, accuracy) = (Vec::new(), Vec::new(), Vec::new());
                curves.push(Self { epsilon, name, steps, objective, accuracy });
            }
            if let Some(curve) = curves.last_mut() {
                curve.steps.push(step);
                curve.objective.push(objective);
                curve.accuracy.push(accuracy);
            }
        }
        Ok(curves)
    }

    /// The objective or the accuracy, as a series.
    pub(super) fn series(&self, objective: bool) -> Series {
        recorded_series(&self.name, &self.steps, if objective { &self.objective } else { &self.accuracy })
    }
}

/// What the column `by` says of points that an authors' program recorded: no function here computed them.
pub(super) const RECORDED_BY: &str = "recorded from the authors' program";

/// Recorded means with one standard deviation.
pub(super) fn recorded_series(name: &str, steps: &[u32], values: &[(f64, f64)]) -> Series {
    let series = Series::new(format!("{name}, recorded by the program"), Grade::Printed).scattered();
    steps.iter().zip(values).fold(series, |series, (&step, &(mean, spread))| {
        series.ranged(f64::from(step), mean, mean - spread, mean + spread)
    })
}

/// The number of recorded means that are within `4 √(s₁²/k₁ + s₂²/k₂)` of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Agreement {
    within: u32,
    all: u32,
    /// Whether the last point of every curve is within that distance.
    last: bool,
}

impl Agreement {
    /// The count before any curve was compared.
    pub(super) const NONE: Self = Self { within: 0, all: 0, last: true };

    /// Adds one more curve to the count: our `runs` with `every` steps between measurements, against what
    /// `their_runs` runs recorded at some steps.
    pub(super) fn count(
        &mut self,
        runs: &[Vec<f64>],
        every: usize,
        steps: &[u32],
        values: &[(f64, f64)],
        their_runs: f64,
    ) {
        let mut last = true;
        for (&step, &(mean, spread)) in steps.iter().zip(values) {
            let ours: Vec<f64> =
                runs.iter().filter_map(|run| run.get(step as usize / every).copied()).collect();
            let count = ours.len() as f64;
            let average = ours.iter().sum::<f64>() / count;
            let variance = ours.iter().map(|v| (v - average).powi(2)).sum::<f64>() / count;
            let error = (variance / count + spread * spread / their_runs).sqrt();
            // Means that agree to the recorded digits count as equal, even if nothing varies.
            last = (average - mean).abs() <= 4.0 * error + 1e-5;
            self.within += u32::from(last);
            self.all += 1;
        }
        self.last &= last;
    }

    /// As a note: the share of points that agree, and whether it is at least 95 % and includes all last
    /// points.
    pub(super) fn note(self) -> serde_json::Value {
        let share = f64::from(self.within) / f64::from(self.all.max(1));
        serde_json::json!({
            "share within 4 standard errors": share,
            "last points within": self.last,
            "agrees": share >= 0.95 && self.last,
        })
    }
}

/// The step for sound noise is the best of this many, log-spaced, on separate runs.
const STEP_GRID: (f64, f64, usize) = (1e-4, 2.0, 10);

/// The step of the grid with the best last objective on the given runs.
pub(super) fn best_step(run: impl Fn(f64) -> Result<Curve>) -> Result<f64> {
    let (low, high, count) = STEP_GRID;
    let mut best = (f64::INFINITY, low);
    for k in 0..count {
        let step = low * (high / low).powf(k as f64 / (count - 1) as f64);
        let objective = run(step)?.last_objective();
        if objective < best.0 {
            best = (objective, step);
        }
    }
    Ok(best.1)
}

/// Random splits of the houses, one per run, shared by all curves.
pub(super) struct Runs {
    splits: Vec<(Users, Evaluation)>,
}

/// The settings that all runs of a figure share.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) users: usize,
    pub(super) test_rows: usize,
    /// Steps between measurements.
    pub(super) every: usize,
    pub(super) runs: u64,
    /// Whether the objective is measured as well.
    pub(super) objective: bool,
    /// If there is one model per node, only every `stride`-th model is measured.
    pub(super) stride: usize,
}

impl Runs {
    /// Splits the houses once per run: users get consecutive training rows, and the remaining rows are for
    /// evaluation.
    pub(super) fn prepare(houses: &Dataset, setting: Setting, seed: Seed) -> Result<Self> {
        let split = |rng: &mut ChaCha8Rng| {
            let (train, test) = houses.stratified_split(setting.test_rows, rng)?;
            let rows: Vec<usize> =
                (0..OBJECTIVE_ROWS).map(|_| rng.random_range(0..train.labels().len())).collect();
            let mut evaluation = Evaluation::new(setting.every, &test)?;
            evaluation.stride = setting.stride;
            if setting.objective {
                let labels = rows.iter().map(|&row| train.labels()[row]).collect();
                evaluation.objective =
                    Some(Dataset::new(train.features().select(ndarray::Axis(0), &rows), labels)?);
            }
            Ok((Users::deal(&train, setting.users, Deal::InOrder, rng)?, evaluation))
        };
        let splits = seed.run(setting.runs, split).into_iter().collect::<Result<_>>()?;
        Ok(Self { splits })
    }

    /// Number of runs.
    pub(super) fn count(&self) -> u64 {
        self.splits.len() as u64
    }

    /// Runs `walk` on every split.
    pub(super) fn walk(&self, objective: &Linear, walk: &WalkSgd, sigma: Sigma, seed: Seed) -> Result<Curve> {
        self.each(seed, |_, users, evaluation, rng| {
            Ok(walk.run(objective, users, Some(sigma), Some(evaluation), rng)?.history)
        })
    }

    /// Runs `sgd` on every split; `mixing` is called with the number of the run and of the round.
    pub(super) fn gossip(
        &self,
        objective: &Linear,
        sgd: &MuffliatoSgd,
        sigma: Sigma,
        mixing: impl Fn(usize, usize) -> Mixing + Sync,
        seed: Seed,
    ) -> Result<Curve> {
        self.each(seed, |run, users, evaluation, rng| {
            let mixing = |round, _: &mut ChaCha8Rng| Ok(mixing(run, round));
            Ok(sgd.run(objective, users, Some(sigma), mixing, Some(evaluation), rng)?.history)
        })
    }

    /// One history per split; every split has a random stream of its own.
    pub(super) fn each(
        &self,
        seed: Seed,
        run: impl Fn(usize, &Users, &Evaluation, &mut ChaCha8Rng) -> Result<History> + Sync,
    ) -> Result<Curve> {
        let histories = (0..self.splits.len())
            .into_par_iter()
            .map(|i| run(i, &self.splits[i].0, &self.splits[i].1, &mut seed.trial(i as u64)))
            .collect::<Result<Vec<_>>>()?;
        let steps = histories.first().map_or_else(Vec::new, |h| h.steps.iter().map(|&t| t as f64).collect());
        let (objective, accuracy) = histories.into_iter().map(|h| (h.objective, h.accuracy)).unzip();
        Ok(Curve { steps, objective, accuracy })
    }
}

/// Ordered pairs of distinct users, drawn uniformly.
pub(super) fn sampled_pairs(users: usize, count: usize, rng: &mut impl Rng) -> Vec<(usize, usize)> {
    let pair = |_| {
        let u = rng.random_range(0..users);
        (u, (u + rng.random_range(1..users)) % users)
    };
    (0..count).map(pair).collect()
}
