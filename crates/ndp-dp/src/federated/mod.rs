//! Federated SGD that releases only its last model.
//!
//! A random partition, independent of the data, splits `n` users into `T = ⌊n/m⌋` batches of `m`; the others
//! do not take part. Round `t` is `W_t = proj_ρ(W_{t−1} − (1/m) Σ_j η (∇ℓ(W_{t−1}, x_j) + Z_j))`,
//! `Z_j ~ N(0, σ² I)`, where `proj_ρ` is the projection on the ball of radius `ρ` around 0. The start `W_0`
//! is in that ball and does not depend on the data.
//!
//! All values bound `δ` at a given `ε` for replacing one user's data, **against a reader of the last model
//! only**. The aggregator is trusted, and so are the participants, who receive intermediate models. Against
//! participants, or if any other model is released, only [`FederatedDescent::all_models_delta`] holds.
//! Batches that are drawn anew in every round are not covered. Assumed is that the loss is convex,
//! `L`-Lipschitz and `β`-smooth on the ball, and `η ≤ 2/β`; [`ContractionFactor::strongly_convex`] checks the
//! step alone, for the constants that it is given.
//!
//! # References
//! - Asoodeh and Calmon, *Differentially private federated learning: an information-theoretic perspective*,
//!   2020: Algorithm 1, Theorem 2.
//! - Bok, Su and Altschuler, *Shifted interpolation for differential privacy*, ICML 2024: amplification by
//!   iteration in Gaussian-DP form, behind [`FederatedDescent::delta`](crate::Mechanism::delta).
//! - Feldman, Mironov, Talwar and Thakurta, *Privacy amplification by iteration*, FOCS 2018: Theorem 22,
//!   behind [`FederatedDescent::rdp`](crate::Mechanism::rdp).

use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::{Delta, Error, Guarantee, Mechanism, Order, UpperBound, search};
use ndp_numeric::gaussian_profile::{log_theta, one_minus_theta, theta};
use ndp_numeric::rounding::{Interval, down, exp_up, log_down, up, up_log};
use serde::{Deserialize, Serialize};

/// How much one noiseless gradient step contracts distances, `0 ≤ M ≤ 1`.
///
/// # Examples
/// ```
/// use ndp_dp::federated::ContractionFactor;
/// // Gradient steps of 0.1 on a loss that is 1-strongly convex and 4-smooth.
/// assert!(ContractionFactor::strongly_convex(0.1, 1.0, 4.0)? >= ContractionFactor::new(0.9)?);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct ContractionFactor(f64);

crate::lossless::checked_number!(ContractionFactor);

impl ContractionFactor {
    /// Steps that are known to be `factor`-Lipschitz for a reason other than strong convexity and smoothness,
    /// see [`Self::strongly_convex`].
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ factor ≤ 1`.
    pub fn new(factor: f64) -> Result<Self, Error> {
        ensure((0.0..=1.0).contains(&factor), "the contraction factor", "lie between 0 and 1", factor)?;
        Ok(Self(factor))
    }

    /// Steps of a `convexity`-strongly convex, `smoothness`-smooth loss: `M = max(|1 − ηa|, |1 − ηβ|)`,
    /// rounded up; 1 for a convex loss, `a = 0`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ a ≤ β < ∞` and `0 < η ≤ 2/β`.
    pub fn strongly_convex(step: f64, convexity: f64, smoothness: f64) -> Result<Self, Error> {
        ensure(
            0.0 <= smoothness && smoothness.is_finite(),
            "the smoothness",
            "be nonnegative and finite",
            smoothness,
        )?;
        let ordered = 0.0 <= convexity && convexity <= smoothness;
        ensure(ordered, "the strong convexity", "lie between 0 and the smoothness", convexity)?;
        // The product minus 2, rounded once, has the right sign.
        let short = 0.0 < step && step.is_finite() && step.mul_add(smoothness, -2.0) <= 0.0;
        ensure(short, "the step size", "be positive and at most 2/smoothness", step)?;
        let factor = |curvature: f64| {
            let rest = Interval::ONE - Interval::new(step) * Interval::new(curvature);
            rest.high().max(-rest.low())
        };
        Ok(Self(factor(convexity).max(factor(smoothness)).min(1.0)))
    }

    /// The factor `M`.
    #[must_use]
    pub(crate) const fn get(self) -> f64 {
        self.0
    }
}

/// The parameters of a run, before they are checked.
///
/// # Examples
/// ```
/// use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
/// let parameters =
///     FederatedParameters { users: 100, batch: 20, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: 1.5 };
/// assert!(FederatedDescent::new(parameters, ContractionFactor::strongly_convex(0.5, 0.0, 4.0)?).is_ok());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FederatedParameters {
    /// Number of users `n ≥ 1`.
    pub users: u64,
    /// Users per round `m`, `1 ≤ m ≤ n`.
    pub batch: u64,
    /// Lipschitz constant `L > 0` of the loss: the change of one user's data moves its gradient by at most
    /// `2L`.
    #[serde(with = "crate::lossless")]
    pub lipschitz: f64,
    /// Radius `ρ > 0` of the ball that models are projected on.
    #[serde(with = "crate::lossless")]
    pub radius: f64,
    /// Step size `η > 0`, applied to gradient and noise.
    #[serde(with = "crate::lossless")]
    pub step: f64,
    /// Standard deviation `σ > 0` of the noise of one user, before averaging and step size.
    #[serde(with = "crate::lossless")]
    pub sigma: f64,
}

/// A run of federated SGD whose parameters have been checked.
///
/// # Examples
/// ```
/// use ndp_dp::Mechanism;
/// use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
/// let parameters = FederatedParameters { users: 100, batch: 20, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: 1.5 };
/// let run = FederatedDescent::new(parameters, ContractionFactor::strongly_convex(0.5, 0.0, 4.0)?)?;
/// // Theorem 2 of Asoodeh and Calmon, the tighter bound, and what releasing every model costs:
/// assert!(run.delta(0.5)?.value() < run.theorem2_delta(0.5)?.value());
/// assert!(run.theorem2_delta(0.5)?.value() < run.all_models_delta(0.5)?.value());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FederatedDescent {
    parameters: FederatedParameters,
    factor: ContractionFactor,
}

crate::lossless::checked_fields! {
    FederatedDescent { parameters: FederatedParameters, factor: ContractionFactor } => Self::new(parameters, factor)
}

impl FederatedDescent {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for the first one outside its domain.
    pub fn new(parameters: FederatedParameters, factor: ContractionFactor) -> Result<Self, Error> {
        let FederatedParameters { users, batch, lipschitz, radius, step, sigma } = parameters;
        ensure(users >= 1, "the number of users", "be at least 1", users as f64)?;
        ensure((1..=users).contains(&batch), "the batch", "hold between 1 and all users", batch as f64)?;
        for (name, value) in [
            ("the Lipschitz constant", lipschitz),
            ("the radius", radius),
            ("the step size", step),
            ("sigma", sigma),
        ] {
            ensure(0.0 < value && value.is_finite(), name, "be positive and finite", value)?;
        }
        Ok(Self { parameters, factor })
    }

    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> FederatedParameters {
        self.parameters
    }

    /// The number of rounds `T = ⌊n/m⌋`.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.parameters.users / self.parameters.batch
    }

    /// Displacement over noise of the round a user takes part in: `r = 2L/(√m σ)`, rounded up.
    #[must_use]
    pub(crate) fn step_ratio(&self) -> f64 {
        let FederatedParameters { batch, lipschitz, sigma, .. } = self.parameters;
        let moved = Interval::new(2.0) * Interval::new(lipschitz);
        // Divided by one factor after the other, since their product may overflow.
        (moved / Interval::count(batch).sqrt() / Interval::new(sigma)).high()
    }

    /// Diameter over noise of a later round: `R = 2ρM√m/(ησ)`, rounded up.
    #[must_use]
    pub(crate) fn contraction_ratio(&self) -> f64 {
        let FederatedParameters { batch, radius, step, sigma, .. } = self.parameters;
        let diameter = Interval::new(2.0) * Interval::new(radius) * Interval::new(self.factor.0);
        (diameter * Interval::count(batch).sqrt() / Interval::new(step) / Interval::new(sigma)).high()
    }

    /// Theorem 2: `δ = (m/n) θ_ε(r) (1 − κ^T)/(1 − κ)`, `κ = θ_ε(R)`; with a factor below 1, its strongly
    /// convex form.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    ///
    /// # References
    /// Asoodeh and Calmon 2020, Theorem 2 (with `2L/(√m σ)`, as in its statement).
    pub fn theorem2_delta(&self, epsilon: f64) -> Result<UpperBound<f64>, Error> {
        check_epsilon(epsilon)?;
        // Rounded up, exp of 0 is more than 1.
        let log = self.log_theorem2(epsilon, Interval::count(self.rounds())).min(0.0);
        Ok(UpperBound::new(exp_up(log).min(1.0)))
    }

    /// `ln` of Theorem 2 at a given exponent of `κ`, rounded up.
    #[doc(hidden)]
    #[must_use]
    pub fn log_theorem2(&self, epsilon: f64, rounds: Interval) -> f64 {
        let lost = Interval::new(one_minus_theta(epsilon, self.contraction_ratio()));
        // (1 − κ^T)/(1 − κ) is computed from 1 − κ, since κ may be 1 as a float. It decreases in 1 − κ.
        let counted = if lost.high() == 0.0 { rounds } else { -(rounds * (-lost).ln_1p()).expm1() / lost };
        let log_theta = Interval::new(log_theta(epsilon, self.step_ratio()));
        (self.log_share() + log_theta + counted.min(rounds).ln()).high()
    }

    /// `ln (m/n)`.
    fn log_share(&self) -> Interval {
        (Interval::count(self.parameters.batch) / Interval::count(self.parameters.users)).ln()
    }

    /// The natural logarithm of [`Mechanism::delta`], finite also where `δ` itself would underflow.
    pub(crate) fn log_delta(&self, epsilon: f64) -> Result<UpperBound<f64>, Error> {
        check_epsilon(epsilon)?;
        Ok(UpperBound::new(self.log_mix(epsilon)))
    }

    fn log_mix(&self, epsilon: f64) -> f64 {
        const SINGLE_ROUNDS: u64 = 10_000;
        let rounds = self.rounds();
        let ratio = self.step_ratio();
        let log_kappa = (-Interval::new(one_minus_theta(epsilon, self.contraction_ratio()))).ln_1p().high();
        // Rounded down, like the weights below: a smaller weight means less hiding noise and a larger bound.
        let growth = down(1.0 / (self.factor.0 * self.factor.0), 2.0).max(1.0);
        let largest = log_theta(epsilon, ratio);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        let mut bound = largest;
        // The sum of the bounds, in units of the first one. Adding their logarithms would round at every
        // addition.
        let mut sum = 1.0;
        let mut terms = 1.0;
        // The weight W_k, and its last term M^{−2(k−1)}.
        let (mut weight, mut power) = (1.0, 1.0);
        let mut k = 1;
        while k < rounds {
            // b_k decreases with k, so the remaining sum is at most b_k times the number of remaining rounds.
            let left = (rounds - k) as f64 * libm::exp(bound - largest);
            if left < 1e-18 * sum {
                sum += 2.0 * left + f64::MIN_POSITIVE;
                break;
            }
            let block = (k / SINGLE_ROUNDS).max(1).min(rounds - k);
            // A block consists of the rounds k+1..=k+block, all charged like the first of them.
            if growth == 1.0 {
                weight += 1.0;
            } else {
                power *= growth;
                weight += power;
            }
            // Two roundings for each step of the weight, and those of the root and the quotient.
            let spread = up(ratio / weight.sqrt(), 2.0 * terms + 4.0);
            let first = log_theta(epsilon, spread).min(up_log(log_kappa + bound, 0.0, 1.0));
            sum += block as f64 * libm::exp(first - largest);
            terms += 1.0;
            // Goes on to the last round of the block. For M < 1 the weight of its first round is kept, which
            // is smaller.
            if growth == 1.0 {
                weight += (block - 1) as f64;
            }
            bound = if block == 1 { first } else { up_log(first + (block - 1) as f64 * log_kappa, 0.0, 4.0) };
            k += block;
        }
        // Each term has the rounding error of a difference of logarithms, which is at most 800 in size for
        // terms that matter, and each addition has one rounding.
        let sum = Interval::new(up(sum, terms + 1e3));
        (self.log_share() + Interval::new(largest) + sum.ln()).high().min(0.0)
    }

    /// `θ_ε(r)`, rounded up: an upper bound on `δ` when every intermediate model is released, since each user
    /// takes part in one round at most.
    ///
    /// It holds for every observer of models, participants included, whatever the loss and the projection,
    /// and is attained for a user who is known to take part, in a round that is known. Who knows neither
    /// learns less: a user takes part with probability `T m/n`, which is below 1 where `m` does not divide
    /// `n`.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    pub fn all_models_delta(&self, epsilon: f64) -> Result<UpperBound<f64>, Error> {
        check_epsilon(epsilon)?;
        Ok(UpperBound::new(theta(epsilon, self.step_ratio())))
    }
}

impl Mechanism for FederatedDescent {
    /// Amplification by iteration averaged over the user's hidden round, weaker than [`Self::delta`] but
    /// ready for composition: `(1/(α−1)) ln[(m/n) Σ_k e^{(α−1) α r²/(2k)} + 1 − Tm/n]`, `k = 1..T`.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        const SINGLE_ROUNDS: u64 = 10_000;
        let rounds = self.rounds();
        let alpha = order.get();
        let ratio = self.step_ratio();
        let exponent = up((alpha - 1.0) * ratio * (alpha * ratio) / 2.0, 4.0);
        if !exponent.is_finite() {
            return UpperBound::new(f64::INFINITY).into();
        }
        // Σ (e^{x/k} − 1), scaled by e^{−x} unless x is small: small losses keep their relative accuracy, and
        // large ones do not overflow.
        let scale = if exponent < 1.0 { 0.0 } else { exponent };
        let term = |k: f64| match exponent / k {
            small if small < 1.0 => libm::exp(-scale) * libm::expm1(small),
            large => libm::exp(large - scale) - libm::exp(-scale),
        };
        let mut sum = 0.0;
        let mut terms = 0.0;
        let mut k = 1;
        while k <= rounds {
            // The terms decrease with k, so a block is charged like its first round.
            let block = (k / SINGLE_ROUNDS).max(1).min(rounds - k + 1);
            sum += block as f64 * term(k as f64);
            terms += 1.0;
            k += block;
        }
        // One rounding for each term, and those of an exponent times its size, which is at most 750 for terms
        // that matter.
        let sum = Interval::new(up(sum, terms + 2e3));
        let log_excess = self.log_share() + Interval::new(scale) + sum.ln();
        let log_mean = Interval::ZERO.log_add_exp(log_excess);
        let excess = Interval::new(alpha) - Interval::ONE;
        UpperBound::new((log_mean / excess).high()).into()
    }

    /// The first float at which [`Self::delta`] was seen to meet `delta`; `∞` when none does.
    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        let target = log_down(delta.get());
        let smallest = search::smallest(0.0, f64::MAX, |epsilon| self.log_mix(epsilon) <= target);
        UpperBound::new(smallest.unwrap_or(f64::INFINITY)).into()
    }

    /// The tighter bound, never above Theorem 2: `δ = (m/n) Σ_{k=1}^T b_k`, where `k` counts the noisy steps
    /// from the user's batch to the end, `b_1 = θ_ε(r)`, `b_k = min{θ_ε(r/√W_k), κ b_{k−1}}`, `W_k = Σ_{i<k}
    /// M^{−2i}`.
    ///
    /// The first entry of the minimum is amplification by iteration (the displacement is spread over `k`
    /// steps), the second strong data processing.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    ///
    /// # Complexity
    /// `O(min(T, 10⁴))`. Beyond 10⁴ rounds they are grouped into blocks, whose length is 1/10⁴ of the number
    /// of rounds before them. A block is charged like its first round, at most a relative 1e-4 too much.
    ///
    /// # References
    /// Bok, Su and Altschuler 2024 for the Gaussian form of amplification by iteration; Asoodeh and Calmon
    /// 2020, Theorem 1.
    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        Ok(self.log_delta(epsilon)?.map(exp_up).into())
    }
}

#[cfg(test)]
mod tests;
