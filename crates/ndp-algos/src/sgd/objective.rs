//! Objectives: the loss of one example, its gradient, and the constants on which privacy rests.

pub use crate::sgd::constants::{Constants, Domain};
use crate::sgd::dataset::{Dataset, dot};
use crate::sgd::positive;
use ndp_account::Error;
use ndp_account::parts::ensure;

/// Scales `vector` down to the given norm if it is longer.
pub(crate) fn clip_norm(vector: &mut [f64], norm: f64) {
    let length = dot(vector, vector).sqrt();
    if length > norm {
        let factor = norm / length;
        vector.iter_mut().for_each(|x| *x *= factor);
    }
}

/// A loss `ℓ(θ; x, y)` of one example, differentiable in the model `θ`.
///
/// Implement it for an objective of your own: every trainer and accountant then takes it. The guarantees rest
/// on what [`constants`](Self::constants) claims.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Constants, Domain, Objective};
/// /// `|θ - x|`, smoothed: the median.
/// struct Median;
/// impl Objective for Median {
///     fn value(&self, model: &[f64], x: &[f64], _: f64) -> f64 {
///         (1.0 + (model[0] - x[0]).powi(2)).sqrt()
///     }
///
///     fn add_gradient(&self, model: &[f64], x: &[f64], label: f64, weight: f64, gradient: &mut [f64]) {
///         gradient[0] += weight * (model[0] - x[0]) / self.value(model, x, label);
///     }
///
///     fn constants(&self, _: f64, _: f64, _: Domain) -> Constants {
///         Constants { lipschitz: 1.0, sensitivity: 2.0, smoothness: 1.0, strong_convexity: 0.0, domain: Domain::Unbounded }
///     }
/// }
/// assert_eq!(Median.value(&[1.0], &[1.0], 0.0), 1.0);
/// ```
pub trait Objective: Sync {
    /// Length of a model for examples with `features` features.
    fn dimension(&self, features: usize) -> usize {
        features
    }

    /// `ℓ(θ; x, y)`.
    fn value(&self, model: &[f64], features: &[f64], label: f64) -> f64;

    /// Adds `weight · ∇ℓ(θ; x, y)` to `gradient`.
    fn add_gradient(&self, model: &[f64], features: &[f64], label: f64, weight: f64, gradient: &mut [f64]);

    /// Checks that the loss can be used on these examples; trainers check this before they start.
    ///
    /// # Errors
    /// For classification [`Error::InvalidLabel`](crate::Error::InvalidLabel) and
    /// [`Error::OneClass`](crate::Error::OneClass).
    fn check(&self, data: &Dataset) -> Result<(), Error> {
        let _ = data;
        Ok(())
    }

    /// Constants over all examples with `‖x‖ ≤ feature_norm`, `|y| ≤ label_size` and all models
    /// of `domain`.
    fn constants(&self, feature_norm: f64, label_size: f64, domain: Domain) -> Constants;
}

/// A loss that depends only on the product `s = θ·x`: `ℓ = φ(s, y)`, convex in `s`.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Linear, LinearLoss, Objective};
/// assert_eq!(Linear::from(LinearLoss::Logistic).value(&[0.0], &[3.0], 1.0), 2f64.ln());
/// assert_eq!(Linear::from(LinearLoss::Squared).value(&[2.0], &[3.0], 4.0), 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearLoss {
    /// `φ(s, y) = ln(1 + e^{-ys})` for labels `y = ±1`.
    Logistic,
    /// `φ(s, y) = (s - y)² / 2`.
    Squared,
}

impl LinearLoss {
    /// `φ(s, y)`.
    #[inline]
    fn value(self, product: f64, label: f64) -> f64 {
        match self {
            Self::Logistic => {
                let margin = label * product;
                (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
            }
            Self::Squared => (product - label).powi(2) / 2.0,
        }
    }

    /// `φ'(s, y)`, the derivative in `s`, which is nondecreasing.
    #[inline]
    fn derivative(self, product: f64, label: f64) -> f64 {
        match self {
            Self::Logistic => -label / (1.0 + (label * product).exp()),
            Self::Squared => product - label,
        }
    }

    /// Largest `φ''`.
    fn curvature(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::Squared => 1.0,
        }
    }

    /// Largest `|φ'|` over `|s| ≤ product` and `|y| ≤ label_size`.
    fn slope(self, product: f64, label_size: f64) -> f64 {
        match self {
            Self::Logistic => 1.0,
            Self::Squared => product + label_size,
        }
    }

    /// A product `s` at which `φ' = slope`, if there is one.
    fn product_at(self, slope: f64, label: f64) -> Option<f64> {
        match self {
            Self::Logistic => {
                // -y/(1 + e^{ys}) = slope.
                let odds = -label / slope - 1.0;
                (odds > 0.0 && odds.is_finite()).then(|| odds.ln() / label)
            }
            Self::Squared => Some(label + slope),
        }
    }
}

/// A linear model: `ℓ(θ; x, y) = φ(θ·x, y) + l2 ‖θ‖²/2`, with or without an intercept (a last feature that is
/// always 1), and with or without clipping of the gradient of each example.
///
/// A ridge that is negative or not finite, and a clipping norm that is not positive and finite, are refused
/// by [`Objective::check`]; [`Objective::constants`] has no finite sensitivity for them.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective};
/// // Gradients clipped to norm 0.5 for every example differ by at most 1.
/// let objective = Linear { intercept: true, clip: Some(0.5), ..Linear::from(LinearLoss::Logistic) };
/// assert_eq!(objective.constants(1.0, 1.0, Domain::Unbounded).sensitivity, 1.0);
/// ```
///
/// Clipping the gradient of every *example* to norm `c` replaces `φ` by its Huberised form, which is linear
/// where `|φ'| ‖x‖` would exceed `c`. It is still convex and no less smooth, so that a clipped step is
/// non-expansive as before, and every gradient is at most `c` (before the `l2` term). Clipping the average
/// over a node's examples has no such form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// The loss `φ` of the product.
    pub loss: LinearLoss,
    /// Weight of the ridge `‖θ‖²/2`, nonnegative.
    pub l2: f64,
    /// Whether the model ends with an intercept.
    pub intercept: bool,
    /// Norm to which the gradient of every example is clipped, positive.
    pub clip: Option<f64>,
}

impl From<LinearLoss> for Linear {
    /// The plain loss: no ridge, no intercept, no clipping.
    fn from(loss: LinearLoss) -> Self {
        Self { loss, l2: 0.0, intercept: false, clip: None }
    }
}

impl Linear {
    /// Checks the ridge and the clipping norm.
    fn check_options(&self) -> Result<(), Error> {
        ensure(0.0 <= self.l2 && self.l2.is_finite(), "the ridge", "be nonnegative and finite", self.l2)?;
        self.clip.map_or(Ok(()), |clip| positive("the clipping norm", clip))
    }

    /// `θ·x`, the intercept included.
    #[inline]
    fn product(&self, model: &[f64], features: &[f64]) -> f64 {
        let product = dot(&model[..features.len()], features);
        if self.intercept { product + model[features.len()] } else { product }
    }

    #[inline]
    fn norm(&self, features: &[f64]) -> f64 {
        (dot(features, features) + if self.intercept { 1.0 } else { 0.0 }).sqrt()
    }

    /// Largest `|φ'|` allowed for this example.
    fn slope_limit(&self, features: &[f64]) -> f64 {
        self.clip.map_or(f64::INFINITY, |clip| clip / self.norm(features))
    }

    /// Adds the gradient of `φ` alone.
    #[inline(always)]
    fn add_fit(&self, model: &[f64], features: &[f64], label: f64, weight: f64, gradient: &mut [f64]) {
        let mut slope = self.loss.derivative(self.product(model, features), label);
        if self.clip.is_some() {
            let limit = self.slope_limit(features);
            slope = slope.clamp(-limit, limit);
        }
        let factor = weight * slope;
        for (g, x) in gradient.iter_mut().zip(features) {
            *g += factor * x;
        }
        if self.intercept {
            gradient[features.len()] += factor;
        }
    }

    /// Adds the gradient of the ridge.
    #[inline]
    fn add_ridge(&self, model: &[f64], weight: f64, gradient: &mut [f64]) {
        if self.l2 > 0.0 {
            for (g, t) in gradient.iter_mut().zip(model) {
                *g += weight * self.l2 * t;
            }
        }
    }
}

impl Objective for Linear {
    fn check(&self, data: &Dataset) -> Result<(), Error> {
        self.check_options()?;
        match self.loss {
            LinearLoss::Logistic => data.require_binary(),
            LinearLoss::Squared => Ok(()),
        }
    }

    fn dimension(&self, features: usize) -> usize {
        features + usize::from(self.intercept)
    }

    fn value(&self, model: &[f64], features: &[f64], label: f64) -> f64 {
        let product = self.product(model, features);
        let limit = self.slope_limit(features);
        let slope = self.loss.derivative(product, label);
        let knee =
            if slope.abs() > limit { self.loss.product_at(limit.copysign(slope), label) } else { None };
        let fit = match knee {
            Some(knee) => self.loss.value(knee, label) + limit * (product - knee).abs(),
            None => self.loss.value(product, label),
        };
        fit + self.l2 / 2.0 * dot(model, model)
    }

    #[inline]
    fn add_gradient(&self, model: &[f64], features: &[f64], label: f64, weight: f64, gradient: &mut [f64]) {
        // A row of a length known at compile time needs no loops over its parts.
        match <&[f64; 8]>::try_from(features) {
            Ok(row) => self.add_fit(model, row, label, weight, gradient),
            Err(_) => self.add_fit(model, features, label, weight, gradient),
        }
        self.add_ridge(model, weight, gradient);
    }

    fn constants(&self, feature_norm: f64, label_size: f64, domain: Domain) -> Constants {
        if self.check_options().is_err() {
            let [lipschitz, sensitivity, smoothness] = [f64::INFINITY; 3];
            return Constants { lipschitz, sensitivity, smoothness, strong_convexity: 0.0, domain };
        }
        let norm = if self.intercept { feature_norm.hypot(1.0) } else { feature_norm };
        let unclipped = norm * self.loss.slope(norm * domain.radius(), label_size);
        let fit = self.clip.map_or(unclipped, |clip| clip.min(unclipped));
        // The ridge contributes the same to every gradient, so that it never makes two examples
        // distinguishable.
        let ridge = if self.l2 > 0.0 { self.l2 * domain.radius() } else { 0.0 };
        Constants {
            lipschitz: fit + ridge,
            sensitivity: 2.0 * fit,
            smoothness: self.loss.curvature() * norm * norm + self.l2,
            strong_convexity: self.l2,
            domain,
        }
    }
}

/// Mean estimation: `ℓ(θ; x) = ‖θ - x‖²/2`, whose minimiser is the mean; labels are ignored.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{MeanEstimation, Objective};
/// assert_eq!(MeanEstimation.value(&[0.0, 1.0], &[3.0, 5.0], 0.0), 12.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimation;

impl Objective for MeanEstimation {
    fn value(&self, model: &[f64], features: &[f64], _: f64) -> f64 {
        model.iter().zip(features).map(|(t, x)| (t - x) * (t - x)).sum::<f64>() / 2.0
    }

    fn add_gradient(&self, model: &[f64], features: &[f64], _: f64, weight: f64, gradient: &mut [f64]) {
        for ((g, t), x) in gradient.iter_mut().zip(model).zip(features) {
            *g += weight * (t - x);
        }
    }

    fn constants(&self, feature_norm: f64, _: f64, domain: Domain) -> Constants {
        Constants {
            lipschitz: domain.radius() + feature_norm,
            sensitivity: 2.0 * feature_norm,
            smoothness: 1.0,
            strong_convexity: 1.0,
            domain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_gradient(objective: &dyn Objective, model: &[f64], features: &[f64], label: f64) {
        let mut gradient = vec![0.0; model.len()];
        objective.add_gradient(model, features, label, 1.0, &mut gradient);
        for k in 0..model.len() {
            let shifted = |h: f64| {
                let mut moved = model.to_vec();
                moved[k] += h;
                objective.value(&moved, features, label)
            };
            let h = 1e-5;
            let slope = (shifted(h) - shifted(-h)) / (2.0 * h);
            assert!((slope - gradient[k]).abs() < 1e-8, "coordinate {k}: {slope} against {}", gradient[k]);
        }
    }

    #[test]
    fn gradients_are_the_slopes_of_the_values() -> Result<(), Error> {
        let features = [0.3, -1.2, 0.7];
        for label in [-1.0, 1.0] {
            for scale in [0.1, 1.0, 5.0] {
                let model = [0.4 * scale, -0.9 * scale, 0.2 * scale];
                let with_intercept = [model[0], model[1], model[2], -0.3 * scale];
                check_gradient(
                    &Linear { l2: 0.2, ..Linear::from(LinearLoss::Logistic) },
                    &model,
                    &features,
                    label,
                );
                check_gradient(
                    &Linear { l2: 0.1, ..Linear::from(LinearLoss::Squared) },
                    &model,
                    &features,
                    label,
                );
                check_gradient(
                    &Linear { clip: Some(0.3), ..Linear::from(LinearLoss::Logistic) },
                    &model,
                    &features,
                    label,
                );
                check_gradient(
                    &Linear { clip: Some(0.5), ..Linear::from(LinearLoss::Squared) },
                    &model,
                    &features,
                    label,
                );
                check_gradient(
                    &Linear { intercept: true, ..Linear::from(LinearLoss::Logistic) },
                    &with_intercept,
                    &features,
                    label,
                );
                check_gradient(&MeanEstimation, &model, &features, label);
            }
        }
        Ok(())
    }

    #[test]
    fn clipped_gradients_are_short_and_their_steps_stay_nonexpansive() -> Result<(), Error> {
        let objective = Linear { clip: Some(0.5), ..Linear::from(LinearLoss::Squared) };
        let features = [0.6, 0.8];
        let constants = objective.constants(1.0, 1.0, Domain::Unbounded);
        assert_eq!(constants.lipschitz, 0.5);
        constants.require_nonexpansive(2.0)?;
        for i in 0..50 {
            let (a, b) = (f64::from(i) * 0.17 - 4.0, f64::from(i * i % 13) * 0.5 - 3.0);
            let (p, q) = ([a, b], [b, -a]);
            let step = |model: &[f64; 2]| {
                let mut gradient = [0.0; 2];
                objective.add_gradient(model, &features, 1.0, 1.0, &mut gradient);
                assert!(dot(&gradient, &gradient).sqrt() <= 0.5 + 1e-12);
                [model[0] - 2.0 * gradient[0], model[1] - 2.0 * gradient[1]]
            };
            let (p2, q2) = (step(&p), step(&q));
            let before = (p[0] - q[0]).hypot(p[1] - q[1]);
            let after = (p2[0] - q2[0]).hypot(p2[1] - q2[1]);
            assert!(after <= before * (1.0 + 1e-12), "{after} exceeds {before}");
        }
        Ok(())
    }

    #[test]
    fn constants_know_when_they_are_infinite() -> Result<(), Error> {
        let ridge = Linear::from(LinearLoss::Squared);
        assert_eq!(
            ridge.constants(1.0, 1.0, Domain::Unbounded).require_bounded(),
            Err(crate::Error::Unbounded.into())
        );
        let bounded = ridge.constants(2.0, 1.0, Domain::Ball(3.0));
        assert_eq!(bounded.lipschitz, 2.0 * (2.0 * 3.0 + 1.0));
        assert_eq!(bounded.smoothness, 4.0);
        let logistic = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
        assert_eq!((logistic.lipschitz, logistic.sensitivity, logistic.smoothness), (1.0, 2.0, 0.25));
        assert_eq!(
            logistic.require_nonexpansive(8.1),
            Err(crate::Error::StepTooLong { step: 8.1, limit: 8.0 }.into())
        );
        let found = Domain::Ball(f64::NAN).check();
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the radius", .. })));
        Ok(())
    }

    #[test]
    fn logistic_loss_survives_extreme_products() {
        assert_eq!(LinearLoss::Logistic.value(1000.0, 1.0), 0.0);
        assert_eq!(LinearLoss::Logistic.value(-1000.0, 1.0), 1000.0);
        assert_eq!(LinearLoss::Logistic.derivative(-1000.0, 1.0), -1.0);
        assert_eq!(LinearLoss::Logistic.derivative(1000.0, 1.0), 0.0);
    }

    /// Whatever the norm of an example, its gradient is clipped to the same norm, the intercept included.
    #[test]
    fn gradients_of_long_and_short_examples_are_clipped_alike() {
        for size in [0.01, 1.0, 30.0] {
            for intercept in [false, true] {
                let clip = 0.5;
                let clipped = Linear { clip: Some(clip), intercept, ..Linear::from(LinearLoss::Squared) };
                let features = [0.6 * size, 0.8 * size];
                let model = [1e6, 1e6, 1e6];
                let model = if intercept { &model[..] } else { &model[..2] };
                let mut gradient = vec![0.0; model.len()];
                clipped.add_gradient(model, &features, 1.0, 1.0, &mut gradient);
                let norm = dot(&gradient, &gradient).sqrt();
                assert!((norm - clip).abs() < 1e-12, "{size}, {intercept}: {norm}");
            }
        }
    }
}
