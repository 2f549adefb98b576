//! What an observer can tell about one node's data: a graded privacy profile.
//!
//! A [`Profile`] answers the usual questions about the privacy of a protocol, whatever accountant is behind
//! it: the Gaussian parameter if the view is Gaussian, the Rényi divergence at any order, `ε` at a `δ` and
//! `δ` at an `ε`. The type of an answer says what it is ([`Gdp`], [`Rdp`], [`ApproxDp`]) and what it is worth
//! ([`Guarantee`]). The profile also holds its neighboring relation and the observer it protects against, and
//! prints them.
//!
//! | how the profile is known | `mu` | `renyi` | `epsilon`, `delta` |
//! |---|---|---|---|
//! | [`Profile::gaussian`] | as given | `α μ²/2`, same grade | exact curve of `N(μ, 1)` against `N(0, 1)`, same grade or `UpperBound` |
//! | [`LossLaw::profile`](crate::LossLaw::profile) | - | if each part has a bound | by the law, `Exact` if its ends agree |
//! | [`Profile::of_curve`] with a Rényi bound | - | as given | best conversion, `UpperBound` |
//! | [`Profile::of_curve`] with `(ε, δ)` only | - | - | as given |
//! | [`Profile::nothing`] | 0 | 0 | 0 |
//!
//! # Examples
//! ```
//! use ndp_dp::{Delta, Exact, Gdp, Order, profile::{Neighbors, Profile}};
//! let profile = Profile::gaussian(Exact::new(Gdp::new(0.5)?).into(), "node 3");
//! assert_eq!(profile.renyi(Order::new(2.0)?)?.value().epsilon, 0.25);
//! let dp = profile.epsilon(Delta::new(1e-5)?)?;
//! assert!(dp.value().epsilon() < 2.1 && dp.grade() == ndp_dp::Grade::Exact);
//! assert_eq!(profile.neighbors, Neighbors::ReplaceOne);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! # References
//! - Dong, Roth and Su, *Gaussian differential privacy*, 2019, arXiv:1905.02383.
//! - Mironov, *Rényi differential privacy*, CSF 2017, arXiv:1702.07476.

use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::gdp::{half_square, half_square_down};
use crate::{
    ApproxDp, Delta, Error, Exact, Gdp, Grade, Guarantee, Mechanism, Order, Rdp, UpperBound, conversion,
    gaussian, search,
};
use ndp_numeric::gaussian_profile::log_theta_down;
use ndp_numeric::rounding::{Interval, log_up};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

mod compose;
mod known;
#[cfg(test)]
mod tests;

pub use crate::neighbors::Neighbors;
use known::Known;

/// The accountant of one observed node and one observer, at one noise level.
///
/// Implement [`renyi`](Self::renyi) (the other two follow by the best conversion), or
/// [`epsilon`](Self::epsilon) and [`delta`](Self::delta), or all three. A function from `δ` to an `ε` that is
/// proven at this `δ` is an accountant as well: its `δ` at an `ε` is found by a search that ends at a `δ` for
/// which the bound was seen to hold.
///
/// # Examples
/// ```
/// use ndp_dp::{ApproxDp, Curve, Delta, Error, Guarantee, Profile, UpperBound};
/// /// What a third party states, whatever delta is asked for.
/// struct Stated(ApproxDp);
/// impl Curve for Stated {
///     fn epsilon(&self, _: Delta) -> Result<Guarantee<ApproxDp>, Error> {
///         Ok(UpperBound::new(self.0).into())
///     }
/// }
/// let profile = Profile::of_curve(Stated(ApproxDp::new(0.5, 0.0)?), "node 3");
/// assert_eq!(profile.epsilon(Delta::new(1e-6)?)?.value().epsilon(), 0.5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub trait Curve: Send + Sync {
    /// The Rényi divergence of `order` in nats, perhaps infinite; `None` if the accountant has no Rényi
    /// bound.
    ///
    /// # Errors
    /// Those of the accountant.
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, Error> {
        let _ = order;
        Ok(None)
    }

    /// The `ε` at `δ = 0`; `∞` where none is proven.
    ///
    /// # Errors
    /// Those of the accountant.
    fn pure_epsilon(&self) -> Result<Guarantee<f64>, Error> {
        Ok(UpperBound::new(f64::INFINITY).into())
    }

    /// The smallest `ε` at `delta` that is proven.
    ///
    /// # Errors
    /// Those of the accountant.
    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        let best = conversion::best_epsilon(|order| renyi_or_infinite(self, order), delta);
        Ok(best.map(|found| found.approx_dp).into())
    }

    /// The smallest `δ` at `epsilon` that is proven.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; those of the accountant.
    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        let best = conversion::best_delta(|order| renyi_or_infinite(self, order), epsilon)?;
        Ok(best.map(|found| found.approx_dp).into())
    }

    /// A proven `ε` at `delta` that takes little time to compute. It is not far above the smallest one if
    /// that is near `limit`, and may be all that is needed to see that the limit is kept. `None` if nothing
    /// is quicker than [`epsilon`](Self::epsilon).
    ///
    /// The default uses the Rényi loss at the order that is best for a Gaussian view whose `ε` is `limit`.
    fn quick_epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        let renyi = |order| self.renyi(order).ok()?.map(Guarantee::into_value);
        epsilon_by_one_order(renyi, delta, limit)
    }

    /// Whether a check that is quicker than [`epsilon`](Self::epsilon) shows that `limit` is kept. It is
    /// never true if the limit is not kept. The default is false.
    fn keeps(&self, limit: ApproxDp) -> bool {
        let _ = limit;
        false
    }
}

/// The Rényi bound at an order; infinite if the accountant has none or fails there.
fn renyi_or_infinite<C: Curve + ?Sized>(curve: &C, order: Order) -> UpperBound<f64> {
    let bound = curve.renyi(order).ok().flatten();
    bound.map_or(UpperBound::new(f64::INFINITY), Into::into)
}

/// A function from `δ` to a proven `ε`. Its `δ` at an `ε` is found by bisection, which ends at a `δ` for
/// which the bound was seen to hold.
impl<F: Fn(Delta) -> Result<Guarantee<ApproxDp>, Error> + Send + Sync> Curve for F {
    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        self(delta)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        check_epsilon(epsilon)?;
        // If the function fails at a δ, it proves nothing there.
        let holds = |delta: Delta| self(delta).is_ok_and(|found| found.value().epsilon() <= epsilon);
        Ok(UpperBound::new(ApproxDp::clamped(epsilon, compose::least_delta(holds)?)).into())
    }
}

/// The `ε` at `delta` that follows from the loss (nats) at the order that is best for a Gaussian pair whose
/// `ε` is `limit`; `None` without a loss there. It takes one evaluation of `renyi`, is a guarantee under the
/// same conditions as the loss, and is close to the best `ε` if that is near `limit`.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, profile::epsilon_by_one_order};
/// let found = epsilon_by_one_order(|order| Some(order.get() / 32.0), Delta::new(1e-5)?, 1.2);
/// assert!(found.is_some_and(|epsilon| epsilon < 1.3));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[must_use]
pub fn epsilon_by_one_order(renyi: impl Fn(Order) -> Option<f64>, delta: Delta, limit: f64) -> Option<f64> {
    let largest = gaussian::mu(limit, delta).ok()?;
    let order = Order::new(1.0 + (-2.0 * delta.get().ln()).sqrt() / largest).ok()?;
    let epsilon = renyi(order)?;
    Some(if epsilon == 0.0 { 0.0 } else { Rdp { order, epsilon }.epsilon(delta).into_value() })
}

/// The terms in which a loss is stated.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Measure, Order};
/// // The largest Gaussian parameter that a budget allows, in three terms.
/// for (measure, allowed) in
///     [(Measure::Approx(Delta::new(1e-5)?), 1.0), (Measure::Renyi(Order::new(2.0)?), 0.1), (Measure::Gaussian, 0.3)]
/// {
///     assert!(measure.largest_mu(allowed)?.mu() < 0.4);
/// }
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Measure {
    /// Rényi loss at this order, in nats.
    Renyi(Order),
    /// The Gaussian parameter `μ`; refused for profiles that are not Gaussian.
    Gaussian,
    /// The `ε` of `(ε, δ)`-DP at this `δ`.
    Approx(Delta),
}

impl Measure {
    /// The largest `μ` whose loss is at most `allowed`, rounded down.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ allowed ≤ ∞`.
    pub fn largest_mu(self, allowed: f64) -> Result<Gdp, Error> {
        ensure((0.0..=f64::INFINITY).contains(&allowed), "the loss allowed", "be nonnegative", allowed)?;
        if allowed == f64::INFINITY {
            return Gdp::new(allowed);
        }
        Gdp::new(match self {
            // The largest float for which the loss, rounded up, was seen to be at most `allowed`.
            Self::Renyi(order) => {
                let within = |mu: f64| half_square(order.get(), mu) <= allowed;
                search::largest(0.0, f64::MAX, within).unwrap_or(0.0)
            }
            Self::Gaussian => allowed,
            Self::Approx(delta) => gaussian::mu(allowed, delta)?,
        })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renyi(order) => write!(f, "Rényi loss of order {} (nats)", order.get()),
            Self::Gaussian => f.write_str("Gaussian parameter mu"),
            Self::Approx(delta) => write!(f, "epsilon at delta {:e}", delta.get()),
        }
    }
}

/// Whether a limit is kept.
///
/// # Examples
/// ```
/// use ndp_dp::{Exact, Gdp, Measure, Profile, Verdict};
/// let profile = Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3");
/// assert_eq!(profile.check(Measure::Gaussian, 0.3)?, Verdict::Met);
/// assert_eq!(profile.check(Measure::Gaussian, 0.2)?, Verdict::Violated);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    /// No loss exceeds what is allowed.
    Met,
    /// Some upper bound exceeds what is allowed, the true loss perhaps not.
    NotShown,
    /// The proven lower end of some loss is larger than what is allowed.
    Violated,
}

#[derive(Clone)]
enum Law {
    /// `μ`, and a proven lower end of it.
    Gaussian(Guarantee<Gdp>, f64),
    Curve(Arc<dyn Curve>),
    /// The law of the loss itself.
    Known(Arc<Known>),
    /// Parts that are composed. If some part has a law: also the law of all parts that have a law or a Rényi
    /// bound.
    Composed(Vec<Profile>, Option<Arc<Known>>),
}

/// What one observer can tell about one node's data, at one noise.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Exact, Gdp, Order, Profile};
/// let profile = Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3");
/// assert!(profile.epsilon(Delta::new(1e-5)?)?.value().epsilon() < 1.3);
/// assert!((profile.renyi(Order::new(2.0)?)?.value().epsilon - 0.09).abs() < 1e-12);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone)]
pub struct Profile {
    law: Law,
    /// Which two data sets are compared: replacing one node's data, unless the accountant was made for
    /// another relation.
    pub neighbors: Neighbors,
    /// The observer that the profile protects against: `node 3`, `nodes 1 and 4 together`.
    pub against: Arc<str>,
}

impl Profile {
    fn new(law: Law, against: &str) -> Self {
        Self { law, neighbors: Neighbors::default(), against: against.into() }
    }

    /// A `μ`-GDP view. If `μ` is exact, so is everything that follows from it, but for an `ε` or a `δ` whose
    /// ninth digit is not known, see [`Gdp`].
    #[must_use]
    pub fn gaussian(gdp: Guarantee<Gdp>, against: &str) -> Self {
        let lower = if gdp.grade() == Grade::Exact { gdp.value().mu() } else { 0.0 };
        Self::new(Law::Gaussian(gdp, lower), against)
    }

    /// A Gaussian view whose `μ` is enclosed between `lower` and `gdp`.
    ///
    /// # Errors
    /// [`Error::InvalidMu`] unless `0 ≤ lower ≤ μ`.
    pub fn gaussian_between(lower: f64, gdp: Guarantee<Gdp>, against: &str) -> Result<Self, Error> {
        if !(0.0..=gdp.value().mu()).contains(&lower) {
            return Err(Error::InvalidMu(lower));
        }
        Ok(Self::new(Law::Gaussian(gdp, lower), against))
    }

    /// The profile of an accountant.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{ApproxDp, Delta, Profile, UpperBound};
    /// // All that is known is the ε at every δ: ε = ln(1/δ)/20.
    /// let epsilon = |delta: Delta| Ok(UpperBound::new(ApproxDp::new(-delta.get().ln() / 20.0, delta.get())?).into());
    /// let profile = Profile::of_curve(epsilon, "node 3");
    /// assert!(profile.delta(1.0)?.value().delta() < 1.0001 * (-20f64).exp());
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    #[must_use]
    pub fn of_curve(curve: impl Curve + 'static, against: &str) -> Self {
        Self::new(Law::Curve(Arc::new(curve)), against)
    }

    /// The profile of an observer who sees nothing that depends on the node's data.
    #[must_use]
    pub fn nothing(against: &str) -> Self {
        Self::gaussian(Exact::new(Gdp::unchecked(0.0)).into(), against)
    }

    /// The Gaussian parameter, if the view is Gaussian.
    #[must_use]
    pub fn mu(&self) -> Option<Guarantee<Gdp>> {
        match self.law {
            Law::Gaussian(gdp, _) => Some(gdp),
            Law::Curve(_) | Law::Known(_) | Law::Composed(..) => None,
        }
    }

    /// A proven lower end of the Gaussian parameter; 0 if none is known.
    #[must_use]
    pub(crate) const fn lower_mu(&self) -> f64 {
        if let Law::Gaussian(_, lower) = self.law { lower } else { 0.0 }
    }

    /// The Rényi divergence of `order`, in nats.
    ///
    /// # Errors
    /// [`Error::NoRenyiBound`] where the accountant speaks of `(ε, δ)` only; those of the accountant.
    pub fn renyi(&self, order: Order) -> Result<Guarantee<Rdp>, Error> {
        let at = |epsilon| Rdp { order, epsilon };
        match &self.law {
            Law::Gaussian(gdp, _) => Ok(gdp.value().rdp(order).map(at).no_better_than(gdp.grade())),
            Law::Curve(curve) => Ok(curve.renyi(order)?.ok_or(Error::NoRenyiBound)?.map(at)),
            Law::Known(known) => Ok(known.renyi(order).ok_or(Error::NoRenyiBound)?.map(at).into()),
            Law::Composed(parts, _) => {
                let mut sum = Interval::ZERO;
                for part in parts {
                    sum = sum + Interval::new(part.renyi(order)?.into_value().epsilon);
                }
                Ok(UpperBound::new(at(sum.high())).into())
            }
        }
    }

    /// The smallest `ε` at `delta`.
    ///
    /// # Errors
    /// Those of the accountant.
    pub fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        match &self.law {
            Law::Gaussian(gdp, _) => {
                let found = gaussian::graded_epsilon(gdp.value().mu(), delta);
                Ok(found.map(|epsilon| ApproxDp::clamped(epsilon, delta.get())).no_better_than(gdp.grade()))
            }
            Law::Curve(curve) => curve.epsilon(delta),
            Law::Known(known) => Ok(known.epsilon(delta)),
            Law::Composed(parts, known) => Ok(compose::epsilon(parts, known.as_deref(), delta)?.into()),
        }
    }

    /// A proven `ε` at `delta` that takes little time to compute, see [`Curve::quick_epsilon`].
    #[must_use]
    pub fn quick_epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        match &self.law {
            Law::Gaussian(gdp, _) => Some(gdp.value().to_approx_dp(delta).epsilon()),
            Law::Curve(curve) => curve.quick_epsilon(delta, limit),
            Law::Known(_) | Law::Composed(..) => {
                let renyi = |order| Some(self.renyi(order).ok()?.into_value().epsilon);
                epsilon_by_one_order(renyi, delta, limit)
            }
        }
    }

    /// Whether a quick check shows that `limit` is kept, without a search for the smallest `ε`, see
    /// [`Curve::keeps`].
    #[must_use]
    pub fn keeps(&self, limit: ApproxDp) -> bool {
        matches!(&self.law, Law::Curve(curve) if curve.keeps(limit))
    }

    /// Whether a lower end of some loss may be known: false only if [`check`](Self::check) cannot answer
    /// [`Verdict::Violated`].
    #[must_use]
    pub fn has_lower_end(&self) -> bool {
        match &self.law {
            Law::Gaussian(..) => true,
            Law::Known(known) => known.law().is_exact(),
            Law::Curve(_) | Law::Composed(..) => false,
        }
    }

    /// The smallest `δ` at `epsilon`.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; those of the accountant.
    pub fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        check_epsilon(epsilon)?;
        match &self.law {
            Law::Gaussian(gdp, _) => {
                let found = gaussian::delta(epsilon, gdp.value().mu())?;
                Ok(found.map(|delta| ApproxDp::clamped(epsilon, delta)).no_better_than(gdp.grade()))
            }
            Law::Curve(curve) => curve.delta(epsilon),
            Law::Known(known) => known.delta(epsilon),
            Law::Composed(parts, known) => Ok(compose::delta(parts, known.as_deref(), epsilon)?.into()),
        }
    }

    /// The `ε` at `δ = 0`; `∞` where none is proven.
    ///
    /// # Errors
    /// Those of the accountant.
    pub fn pure_epsilon(&self) -> Result<Guarantee<f64>, Error> {
        match &self.law {
            Law::Gaussian(gdp, _) => Ok(gdp.map(|gdp| gdp.pure_epsilon().into_value())),
            Law::Curve(curve) => curve.pure_epsilon(),
            Law::Known(known) => Ok(known.pure_epsilon()),
            Law::Composed(parts, _) => {
                let losses = parts.iter().map(|part| Ok(Interval::new(part.pure_epsilon()?.into_value())));
                Ok(UpperBound::new(losses.sum::<Result<Interval, Error>>()?.high()).into())
            }
        }
    }

    /// The loss in the terms of `measure`.
    ///
    /// # Errors
    /// [`Error::NotGaussian`], [`Error::NoRenyiBound`]; those of the accountant.
    pub fn loss(&self, measure: Measure) -> Result<Guarantee<f64>, Error> {
        match measure {
            Measure::Renyi(order) => Ok(self.renyi(order)?.map(|rdp| rdp.epsilon)),
            Measure::Gaussian => Ok(self.mu().ok_or(Error::NotGaussian)?.map(Gdp::mu)),
            Measure::Approx(delta) => Ok(self.epsilon(delta)?.map(ApproxDp::epsilon)),
        }
    }

    /// Whether the loss in the terms of `measure` is at most `allowed`; `Violated` only if a proven lower end
    /// of the loss exceeds it.
    ///
    /// # Errors
    /// As [`Self::loss`], and [`Error::InvalidParameter`] unless `0 ≤ allowed ≤ ∞`.
    pub fn check(&self, measure: Measure, allowed: f64) -> Result<Verdict, Error> {
        if *self.loss(measure)?.value() <= allowed {
            return Ok(Verdict::Met);
        }
        ensure((0.0..=f64::INFINITY).contains(&allowed), "the loss allowed", "be nonnegative", allowed)?;
        // The limit is violated only if a lower end of the loss is above it.
        if let (Law::Known(known), Measure::Approx(delta)) = (&self.law, measure) {
            let violated = known.least_epsilon(delta) > allowed;
            return Ok(if violated { Verdict::Violated } else { Verdict::NotShown });
        }
        let lower = self.lower_mu();
        let violated = match measure {
            Measure::Renyi(order) => half_square_down(order.get(), lower) > allowed,
            Measure::Gaussian => lower > allowed,
            Measure::Approx(delta) => log_theta_down(allowed, lower) > log_up(delta.get()),
        };
        Ok(if violated { Verdict::Violated } else { Verdict::NotShown })
    }

    /// The profile of several independent releases about the same node's data, which one observer sees.
    ///
    /// Gaussian profiles compose to a Gaussian one, which is exact if all of them are. Profiles against
    /// different observers, each of whom sees one part, compose to an upper bound. If the
    /// [law](crate::LossLaw::profile) of some part is known, laws are convolved, where a Rényi bound counts as the law
    /// that follows from it; Rényi bounds are also added order by order, and the smaller of the two answers
    /// is used. If some part has only `(ε, δ)`, `δ` is divided among the parts. The result is valid if the
    /// noises of the releases are independent and their number and parameters are fixed in advance. For
    /// releases that are chosen by what was seen before, see [`Ledger`](crate::Ledger).
    ///
    /// # Errors
    /// [`Error::MixedNeighbors`] for different neighboring relations.
    pub fn compose(parts: &[Self]) -> Result<Self, Error> {
        compose::all(parts)
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.law {
            Law::Gaussian(gdp, lower) => write!(f, "Gaussian({gdp:?}, at least {lower})"),
            Law::Curve(_) => f.write_str("Curve"),
            Law::Known(_) => f.write_str("Law"),
            Law::Composed(parts, _) => f.debug_tuple("Composed").field(parts).finish(),
        }?;
        write!(f, " against {}", self.against)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.law {
            Law::Gaussian(gdp, _) => write!(f, "mu = {}", gdp.map(Gdp::mu))?,
            Law::Curve(_) | Law::Known(_) | Law::Composed(..) => {
                // One point of the curve is printed, at the customary δ of 1e-5.
                let point = Delta::new(1e-5).and_then(|delta| self.epsilon(delta)).map_err(|_| fmt::Error)?;
                write!(f, "epsilon = {} at delta 1e-5", point.map(ApproxDp::epsilon))?;
            }
        }
        write!(f, " against {} ({})", self.against, self.neighbors)
    }
}
