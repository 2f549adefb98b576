//! Accounting for differential privacy, with every number graded by what it may be used for.
//!
//! This page is a tutorial, from one noisy answer to the training of a model. It needs no knowledge of
//! network privacy; the protocols of that field are built on this crate, in `ndp-algos`.
//!
//! # 1. What is promised
//!
//! A release is `(ε, δ)`-differentially private when, for any two *neighboring* datasets and any set of
//! outputs, the probability of the set under one is at most `e^ε` times that under the other, plus `δ`. Read
//! `ε` as how far an observer's odds about one person can move, in nats, and `δ` as the chance that this
//! fails. What counts as neighboring (replacing one user's data, or adding one record) and who observes what
//! is part of every guarantee: each function says it.
//!
//! A privacy number can be false: a theorem may be misprinted, its precondition may be forgotten, or an
//! average over simulations may be taken for a bound. Here the *type* of a number says what it is worth:
//!
//! | type | meaning | a guarantee? |
//! |---|---|---|
//! | [`Exact`] | equals the divergence of the stated view | yes |
//! | [`UpperBound`] | proven bound, its preconditions checked | yes |
//! | [`Printed`] | a paper's formula as it stands, perhaps false | no |
//! | [`Estimate`] | simulation, heuristic, asymptotics | no |
//!
//! An exact value converts into a bound, and both convert into a [`Guarantee`]. The other two convert into
//! neither:
//!
//! ```compile_fail,E0277
//! use ndp_dp::{Printed, UpperBound};
//! let from_a_figure = Printed::new(0.3);
//! let guarantee: UpperBound<f64> = from_a_figure.into();
//! ```
//!
//! # 2. One noisy answer
//!
//! A query whose value moves by at most the [`Sensitivity`] `Δ` between neighbors is answered with Gaussian
//! noise of standard deviation [`Sigma`]. All that matters is `μ = Δ/σ`, the *Gaussian-DP* parameter. It
//! gives the exact `δ` at any `ε`, even if that is far below the smallest float:
//!
//! ```
//! use ndp_dp::{Delta, Gaussian, Mechanism, Sensitivity, Sigma};
//! let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(2.0)? };
//! let gdp = release.gdp().into_value();
//! assert_eq!(gdp.mu(), 0.5);
//! assert!((gdp.delta(1.0)?.value() - 0.006_829_594_983_114_575).abs() < 1e-15);
//! assert!(*gdp.log_delta(40.0)?.value() < -3000.0);
//! // Conversely: the ε at a given δ, and the least noise for a given (ε, δ).
//! let delta = Delta::new(1e-6)?;
//! assert!(*gdp.epsilon(delta).value() < 2.3);
//! let least = Gaussian::within(1.0, delta, Sensitivity::new(1.0)?)?;
//! assert!(least.sigma.get() < 4.3);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! The textbook noise `Δ √(2 ln(1.25/δ))/ε` ([`Gaussian::classic`]) is larger, and an error for `ε ≥ 1`,
//! where it is not proved. [`Laplace`], [`DiscreteLaplace`] and [`RandomizedResponse`] are the other
//! mechanisms, with exact profiles too.
//!
//! All these statements, except those about discrete mechanisms, are about real numbers. A number that is
//! really released should get its noise from [`DiscreteGaussian`], which draws exactly: the last bits of
//! Gaussian noise in floating point can reveal the value that it hides.
//!
//! # 3. Many answers
//!
//! Releases compose, even if each depends on the answers before it. A mechanism describes one release, and an
//! accountant adds up their losses. A [`Gdp`] accounts for Gaussian releases exactly, since the squares of
//! `μ` add up:
//!
//! ```
//! use ndp_dp::{Delta, Gaussian, Mechanism, RdpAccountant, Sensitivity, Sigma};
//! let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(4.0)? };
//! let delta = Delta::new(1e-5)?;
//! let exact = (release.gdp().into_value() * 30).epsilon(delta);
//! let bound = RdpAccountant::default().compose(&release, 30).epsilon(delta);
//! assert!((exact.value() - 6.325_715_393_876).abs() < 1e-9);
//! assert!((bound.value() - 6.813_318_185_855).abs() < 1e-9);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! The accountant takes any [`Mechanism`]: one whose *Rényi* divergence is known at every order `α`.
//! Divergences add up, and the best order is chosen at the end. Where the exact route exists, the Rényi route
//! costs some per cent; here is `ε` at `δ = 1e-5`, the Rényi column equal to that of Google's `dp_accounting`
//! 0.6 to all digits:
//!
//! | releases | noise `σ/Δ` | Rényi route | exact route |
//! |---|---|---|---|
//! | 1 | 1 | 4.728507 | 4.377178 |
//! | 30 | 4 | 6.813318 | 6.325715 |
//! | 100 | 2 | 35.081754 | 33.103732 |
//! | 1000 | 50 | 2.813653 | 2.594383 |
//!
//! All this holds for releases whose number and parameters were planned. If what was seen decides about the
//! next release, or about when to stop, either a limit must be fixed in advance (see [`Ledger`]), or an
//! [`Odometer`] must be used, which holds at any stopping time.
//!
//! If only the `(ε, δ)` of each part is known, there are the composition theorems, and [`composition::best`]
//! says which of them gives the smallest `ε`:
//!
//! ```
//! use ndp_dp::{ApproxDp, Delta, composition};
//! let part = ApproxDp::new(0.05, 1e-9)?;
//! let best = composition::best(&[(part, 500)], Delta::new(1e-5)?)?.into_value();
//! assert_eq!(best.rule, composition::Rule::Optimal);
//! assert!(best.total.epsilon() < 5.3); // the sum of the epsilons is 25
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! # 4. How much noise, how many steps
//!
//! [`calibration`] inverts any accountant: it finds the noise or the number of steps for a target. The
//! parameter it returns was seen to meet the target, and is not merely the limit of an iteration:
//!
//! ```
//! use ndp_dp::{Delta, Laplace, Mechanism, RdpAccountant, Sensitivity, calibration};
//! let delta = Delta::new(1e-6)?;
//! let release = Laplace::new(Sensitivity::new(1.0)?, 20.0)?;
//! let most = calibration::largest_count(2.0, 10_000, |count| {
//!     Ok(RdpAccountant::default().compose(&release, count).epsilon(delta))
//! })?;
//! assert!(most.parameter > 50 && *most.reached.value() <= 2.0);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! # 5. Amplification: what the observer does not see
//!
//! * *Which data were used*: [`subsampling`]. Neighboring relations do not mix: Poisson sampling is about
//!   adding a record, sampling without replacement about replacing one.
//! * *Who sent which report*: [`shuffling`].
//! * *Which part of a mixture occurred*: [`mixture`].
//! * *Intermediate models*: [`iteration`] (each step adds noise) and [`contraction`] (each step forgets);
//!   both together bound [`federated`] training of which only the last model is published.
//! * *How often one contributed*: [`tails`], exact binomial quantiles in place of a Chernoff bound that is
//!   false when it is used outside its range.
//!
//! ```
//! use ndp_dp::{Delta, Mechanism, federated, shuffling};
//! // 1000 users answer by 1-DP randomized response among 4 labels; only the histogram is seen.
//! let shuffled = shuffling::Reports { local_epsilon: 1.0, labels: Some(4) };
//! let shuffled = shuffled.epsilon(1000, Delta::new(1e-6)?)?.into_value();
//! assert!(shuffled.epsilon < 0.2);
//! // 100 users in five batches train a convex model; only the last of the five models is seen.
//! let parameters =
//!     federated::FederatedParameters { users: 100, batch: 20, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: 1.5 };
//! let run = federated::FederatedDescent::new(parameters, federated::ContractionFactor::strongly_convex(0.5, 0.0, 4.0)?)?;
//! assert!(*run.delta(1.0)?.value() < 1.1e-5);
//! assert!(*run.all_models_delta(1.0)?.value() > 4e-5);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! # 6. Printed formulas
//!
//! This crate has no formula that may be false. The formulas of papers exactly as printed, for redrawing
//! their figures, are in `ndp-printed`.
//!
//! # Conventions
//!
//! Logarithms are natural, `ε` is in nats, orders of divergences are above 1. Bad input is a typed [`Error`]
//! that names the condition and the value, limits have their values (`ε = ∞`, `δ = 0`), and no input gives
//! NaN. Searches return a point at which the guarantee was seen to hold. Every guarantee is rounded outward,
//! by a bound on the error of its evaluation: one that follows from the operations, or, of special functions,
//! at least twice the largest error that was measured against many digits.

// A number that does not fit into a smaller type must not be truncated silently: 2^32 releases would become
// none. Counts as floats are rounded outward, see `ndp_numeric::rounding`.
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "tests cast small numbers"
    )
)]

pub mod approx_dp;
pub mod baselines;
pub mod calibration;
#[cfg(test)]
mod checks;
pub mod composition;
pub mod contraction;
pub mod conversion;
pub mod discrete_gaussian;
pub mod discrete_laplace;
pub mod error;
mod exact_draws;
pub mod federated;
mod gaussian;
pub mod gdp;
pub mod grade;
pub mod iteration;
pub mod laplace;
pub mod ledger;
pub mod loss_law;
#[doc(hidden)]
pub mod lossless;
pub mod mixture;
mod neighbors;
pub mod odometer;
pub mod pairwise;
#[doc(hidden)]
pub mod parts;
pub mod profile;
pub mod quantities;
pub mod randomized_response;
pub mod rdp;
pub mod recorded;
#[doc(hidden)]
pub mod search;
pub mod shuffling;
mod stated;
pub mod subsampling;
pub mod tails;
pub mod zcdp;

/// Numbers as text, rounded to a stated side. All output of privacy numbers uses these functions.
pub use ndp_numeric::decimal;

pub use approx_dp::ApproxDp;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use error::Error;
pub use gdp::{Gaussian, Gdp};
pub use grade::{Estimate, Exact, Grade, Graded, Guarantee, Printed, UpperBound};
pub use laplace::Laplace;
pub use ledger::{Adaptivity, Ledger};
pub use loss_law::LossLaw;
pub use odometer::Odometer;
pub use pairwise::{ObserverLoss, PairwiseLoss, UnitLoss};
pub use profile::{Curve, Measure, Neighbors, Profile, Verdict};
pub use quantities::{Delta, NoiseMultiplier, Order, Sensitivity, Sigma};
pub use randomized_response::RandomizedResponse;
pub use rdp::{Mechanism, Rdp, RdpAccountant};
pub use recorded::Recorded;
pub use stated::{Moves, Stated};
pub use zcdp::Zcdp;
