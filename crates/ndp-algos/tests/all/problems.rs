//! Problems whose minimiser is known.

use ndarray::{Array2, Axis};
use ndp_account::Error;
use ndp_algos::sgd::{Dataset, Deal, Linear, LinearLoss, Objective, Trained, Users};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Consecutive examples to each of so many users.
pub(crate) fn in_order(data: &Dataset, users: usize) -> Result<Users, Error> {
    // Nothing is drawn.
    Users::deal(data, users, Deal::InOrder, &mut ChaCha8Rng::seed_from_u64(0))
}

/// The model of a training that has one.
pub(crate) fn only(trained: Trained) -> Vec<f64> {
    assert_eq!(trained.models.nrows(), 1);
    trained.models.row(0).to_vec()
}

/// The given rows, in the given order.
pub(crate) fn select(data: &Dataset, rows: &[usize]) -> Result<Dataset, Error> {
    let labels = rows.iter().map(|&row| data.labels()[row]).collect();
    Dataset::new(data.features().select(Axis(0), rows), labels)
}

/// Features uniform on the unit sphere, labels `+1` with the probability `1/(1 + e^{-θ·x})` of logistic
/// regression: the model is the minimiser in the limit of many rows.
pub(crate) fn logistic(rows: usize, model: &[f64], rng: &mut impl Rng) -> Result<Dataset, Error> {
    let mut features = Vec::new();
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let x = unit_vector(model.len(), rng);
        let uniform: f64 = rng.random();
        labels.push(if uniform < 1.0 / (1.0 + (-dot(&x, model)).exp()) { 1.0 } else { -1.0 });
        features.extend(x);
    }
    from_rows(features, model.len(), labels)
}

/// Logistic regression without ridge whose minimiser is exactly the model, not 0: in each group of four rows
/// the features are the same, `θ·x = ±ln 3`, and one label of four has the other sign, as `θ` predicts.
pub(crate) fn exact_logistic(groups: usize, model: &[f64], rng: &mut impl Rng) -> Result<Dataset, Error> {
    let square = dot(model, model);
    let mut features = Vec::new();
    let mut labels = Vec::with_capacity(4 * groups);
    for group in 0..groups {
        let sign = if group % 2 == 0 { 1.0 } else { -1.0 };
        let direction = unit_vector(model.len(), rng);
        let along = (sign * 3f64.ln() - dot(&direction, model)) / square;
        let x: Vec<f64> = direction.iter().zip(model).map(|(d, t)| d + along * t).collect();
        for label in [sign, sign, sign, -sign] {
            features.extend_from_slice(&x);
            labels.push(label);
        }
    }
    from_rows(features, model.len(), labels)
}

/// Least squares whose minimiser is exactly the model: in each pair of rows the features are the same unit
/// vector and the labels are `θ·x ± r`, `r` normal with standard deviation `noise`.
pub(crate) fn exact_linear(
    pairs: usize,
    noise: f64,
    model: &[f64],
    rng: &mut impl Rng,
) -> Result<Dataset, Error> {
    let mut features = Vec::new();
    let mut labels = Vec::with_capacity(2 * pairs);
    for _ in 0..pairs {
        let x = unit_vector(model.len(), rng);
        let residual = noise * rng.sample::<f64, _>(StandardNormal);
        for label in [dot(&x, model) + residual, dot(&x, model) - residual] {
            features.extend_from_slice(&x);
            labels.push(label);
        }
    }
    from_rows(features, model.len(), labels)
}

fn from_rows(features: Vec<f64>, width: usize, labels: Vec<f64>) -> Result<Dataset, Error> {
    let features = Array2::from_shape_vec((labels.len(), width), features).expect("rows of one width");
    Dataset::new(features, labels)
}

/// A direction drawn uniformly.
fn unit_vector(dimension: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut x: Vec<f64> = (0..dimension).map(|_| rng.sample(StandardNormal)).collect();
    let norm = dot(&x, &x).sqrt();
    x.iter_mut().for_each(|x| *x /= norm);
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The problems are what they say: the gradient vanishes at the stated minimiser and nowhere near.
#[test]
fn stated_minimisers_are_minimisers() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let (model, other) = ([1.5, -0.5, 0.25], [1.4, -0.5, 0.25]);
    let largest_slope = |loss: LinearLoss, data: &Dataset, model: &[f64]| {
        let (features, objective) = (data.features(), Linear::from(loss));
        let mut gradient = vec![0.0; model.len()];
        let share = 1.0 / data.labels().len() as f64;
        for (row, &label) in features.rows().into_iter().zip(data.labels()) {
            objective.add_gradient(model, &row.to_vec(), label, share, &mut gradient);
        }
        gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()))
    };
    let logistic = exact_logistic(40, &model, rng)?;
    assert!(largest_slope(LinearLoss::Logistic, &logistic, &model) < 1e-15);
    assert!(largest_slope(LinearLoss::Logistic, &logistic, &other) > 1e-4);
    let linear = exact_linear(40, 0.3, &model, rng)?;
    assert!(linear.features().rows().into_iter().all(|row| (row.dot(&row) - 1.0).abs() < 1e-12));
    assert!(largest_slope(LinearLoss::Squared, &linear, &model) < 1e-15);
    assert!(largest_slope(LinearLoss::Squared, &linear, &other) > 1e-4);
    Ok(())
}
