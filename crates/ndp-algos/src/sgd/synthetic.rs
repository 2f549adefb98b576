//! Problems whose minimiser is known.

use crate::Error;
use crate::error::ensure;
use crate::sgd::dataset::Dataset;
use crate::sgd::dataset::dot;
use crate::sgd::positive;
use ndarray::Array2;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// A problem of which it is known which model solves it.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Dataset, Synthetic};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// // Least squares on ten pairs of rows, solved by (1, -2) exactly.
/// let problem = Synthetic::ExactLinear { pairs: 10, noise: 0.1 };
/// let data = Dataset::synthetic(problem, &[1.0, -2.0], &mut ChaCha8Rng::seed_from_u64(1))?;
/// assert_eq!(data.features().dim(), (20, 2));
/// # Ok::<(), ndp_algos::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Synthetic {
    /// Features uniform on the unit sphere, labels `+1` with the probability `1/(1 + e^{-θ·x})` of logistic
    /// regression: the model `θ` is the minimiser in the limit of many rows, for finitely many only nearly.
    Logistic {
        /// Number of rows.
        rows: usize,
    },
    /// Logistic regression without ridge whose minimiser is exactly the model `θ`: in each group of
    /// four rows the features are the same, `θ·x = ±ln 3`, and one label of four has the other sign, as `θ` predicts.
    ///
    /// The minimiser is the only one once the features span the space, as they almost surely do from as many groups as
    /// there are features.
    ExactLogistic {
        /// Number of groups of four rows.
        groups: usize,
    },
    /// Least squares whose minimiser is exactly the model `θ`: in each pair of rows the features are the same
    /// unit vector and the labels are `θ·x ± r`, `r` normal.
    ExactLinear {
        /// Number of pairs of rows.
        pairs: usize,
        /// Standard deviation of `r`.
        noise: f64,
    },
}

impl Dataset {
    /// Examples of a problem that `model` solves.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rows, an [`ExactLogistic`](Synthetic::ExactLogistic) model of norm 0, and noise of
    /// labels that is negative or not finite.
    pub fn synthetic(problem: Synthetic, model: &[f64], rng: &mut impl Rng) -> Result<Self, Error> {
        match problem {
            Synthetic::Logistic { rows } => Self::synthetic_logistic(rows, model, rng),
            Synthetic::ExactLogistic { groups } => Self::logistic_with_minimiser(groups, model, rng),
            Synthetic::ExactLinear { pairs, noise } => Self::linear_with_minimiser(pairs, model, noise, rng),
        }
    }

    fn synthetic_logistic(rows: usize, model: &[f64], rng: &mut impl Rng) -> Result<Self, Error> {
        let mut features = Array2::zeros((rows, model.len()));
        let mut labels = Vec::with_capacity(rows);
        for mut row in features.rows_mut() {
            let x = unit_vector(model.len(), rng);
            row.iter_mut().zip(&x).for_each(|(cell, x)| *cell = *x);
            let uniform: f64 = rng.random();
            labels.push(if uniform < 1.0 / (1.0 + (-dot(&x, model)).exp()) { 1.0 } else { -1.0 });
        }
        Self::new(features, labels)
    }

    fn logistic_with_minimiser(groups: usize, model: &[f64], rng: &mut impl Rng) -> Result<Self, Error> {
        let square = dot(model, model);
        positive("the squared norm of the model", square)?;
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
        Self::from_rows(features, model.len(), labels)
    }

    fn linear_with_minimiser(
        pairs: usize,
        model: &[f64],
        noise: f64,
        rng: &mut impl Rng,
    ) -> Result<Self, Error> {
        ensure(
            0.0 <= noise && noise.is_finite(),
            "the noise of the labels",
            "be nonnegative and finite",
            noise,
        )?;
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
        Self::from_rows(features, model.len(), labels)
    }

    fn from_rows(features: Vec<f64>, width: usize, labels: Vec<f64>) -> Result<Self, Error> {
        let shape = (labels.len(), width);
        let got = features.len();
        let features = Array2::from_shape_vec(shape, features).map_err(|_| Error::Shape {
            what: "cells of the features",
            expected: shape.0 * shape.1,
            got,
        })?;
        Self::new(features, labels)
    }
}

/// A direction drawn uniformly.
fn unit_vector(dimension: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut x: Vec<f64> = (0..dimension).map(|_| rng.sample(StandardNormal)).collect();
    let norm = dot(&x, &x).sqrt();
    x.iter_mut().for_each(|x| *x /= norm);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sgd::{Linear, Logistic, Objective, Squared};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn largest_slope(objective: &impl Objective, data: &Dataset, model: &[f64]) -> f64 {
        let mut gradient = vec![0.0; model.len()];
        let share = 1.0 / data.len() as f64;
        objective.add_gradients(model, data.rows(0..data.len()), data.labels(), share, &mut gradient);
        gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()))
    }

    #[test]
    fn the_gradient_vanishes_at_the_stated_minimiser_and_nowhere_near() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let (model, other) = ([1.5, -0.5, 0.25], [1.4, -0.5, 0.25]);
        let logistic = Dataset::logistic_with_minimiser(40, &model, rng)?;
        logistic.require_binary()?;
        assert!(largest_slope(&Linear::new(Logistic), &logistic, &model) < 1e-15);
        assert!(largest_slope(&Linear::new(Logistic), &logistic, &other) > 1e-4);
        let linear = Dataset::linear_with_minimiser(40, &model, 0.3, rng)?;
        assert!((linear.bounds().0 - 1.0).abs() < 1e-12);
        assert!(largest_slope(&Linear::new(Squared), &linear, &model) < 1e-15);
        assert!(largest_slope(&Linear::new(Squared), &linear, &other) > 1e-4);
        assert!(Dataset::logistic_with_minimiser(4, &[0.0, 0.0], rng).is_err());
        assert!(Dataset::linear_with_minimiser(4, &model, f64::NAN, rng).is_err());
        assert!(Dataset::synthetic_logistic(0, &model, rng).is_err());
        Ok(())
    }
}
