//! A ledger: what one observer has been able to learn about one node over several runs, and how much of a
//! limit is left.
//!
//! Runs about the same data compose if their noises are independent and if the *choice* of each run, and of
//! what each node contributes to it, is [declared](Adaptivity): fixed in advance, or a function of what this
//! observer saw before. If a choice depended on something that the observer did not see (the hidden state of
//! another node, say), the sum of the parts may lie below the truth, and a ledger refuses the run.
//!
//! # What the answers guarantee
//! | runs | asked | guarantee |
//! |---|---|---|
//! | all [`Fixed`](Adaptivity::Fixed): number and parameters chosen before the first; no odometer | [`Ledger::spent`] | their composition |
//! | some [`OnSeen`](Adaptivity::OnSeen), a limit that was fixed before the first run and never broken | [`Ledger::spent`] | the *limit*, however little of it was used |
//! | any, an [`Odometer`] that was fixed before the first run | [`Ledger::spent`] | its `ε` at its `δ`, at any stopping time |
//! | some `OnSeen`, neither | [`Ledger::spent`] | none: [`Error::AdaptiveSum`] |
//!
//! The second line is a privacy filter. It requires that [`Ledger::fits`] was asked before each run, whatever
//! was seen, and that no run was made that did not fit. The sum of the parts so far is then no guarantee: an
//! observer who stops when the outputs reveal most has learned more than the sum says
//! ([`odometer`](crate::odometer)).
//!
//! # Examples
//! ```
//! use ndp_dp::{Adaptivity, Delta, Exact, Gdp, Ledger, profile::{Measure, Profile}};
//! let run = Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3");
//! let mut ledger = Ledger::with_limit(Measure::Approx(Delta::new(1e-5)?), 2.0)?;
//! let mut runs = 0;
//! while ledger.fits(&run, Adaptivity::OnSeen)? {
//!     ledger.record("gossip", run.clone(), Adaptivity::OnSeen)?;
//!     runs += 1;
//! }
//! assert_eq!(runs, 2);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! # References
//! - Dong, Roth and Su, *Gaussian differential privacy*, 2019, arXiv:1905.02383: Corollary 3.3.
//! - Feldman and Zrnic, *Individual privacy accounting via a Rényi filter*, NeurIPS 2021, arXiv:2008.11193:
//!   Theorem 4.3 (a filter at one order).
//! - Smith and Thakurta, *Fully adaptive composition for Gaussian differential privacy*, 2022,
//!   arXiv:2210.17520: Theorem 1. `docs/theory.md` has proofs of the Gaussian filter and of the odometer.

use crate::error::ensure;
use crate::gaussian::hypot_up;
use crate::profile::{Curve, Measure, Profile, Verdict};
use crate::{ApproxDp, Delta, Error, Gdp, Guarantee, Mechanism, Odometer, Order, Rdp, UpperBound, search};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What a run, and what the nodes contribute to it, may have depended on.
///
/// # Examples
/// ```
/// use ndp_dp::{Adaptivity, Exact, Gdp, Ledger, Profile};
/// let run = Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3");
/// let mut ledger = Ledger::default();
/// assert!(ledger.record("averaging", run.clone(), Adaptivity::OnSeen).is_ok());
/// assert!(ledger.record("reacting", run, Adaptivity::OnHidden).is_err());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptivity {
    /// Nothing but the nodes' data: that the run takes place, and its parameters, were fixed before the first
    /// run.
    Fixed,
    /// What the observer of this ledger saw in earlier runs: the run was added, left out or changed because
    /// of it.
    OnSeen,
    /// Something that the observer did not see. No sum of profiles covers it.
    OnHidden,
}

/// A run on a ledger.
///
/// # Examples
/// ```
/// use ndp_dp::{Adaptivity, Exact, Gdp, Ledger, Profile};
/// let mut ledger = Ledger::default();
/// ledger.record("Monday", Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3"), Adaptivity::Fixed)?;
/// assert_eq!(ledger.entries()[0].name, "Monday");
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LedgerEntry {
    /// The name of the run.
    pub name: String,
    /// What the observer can learn from it.
    pub profile: Profile,
    /// What it may have depended on.
    pub adaptivity: Adaptivity,
}

/// The runs that one observer saw about one node, and perhaps a limit or an odometer for all of them
/// together. The default is a ledger without runs, limit or odometer.
///
/// # Examples
/// ```
/// use ndp_dp::{Adaptivity, Exact, Gdp, Ledger, Profile};
/// let mut ledger = Ledger::default();
/// for mu in [0.3, 0.4] {
///     let run = Profile::gaussian(Exact::new(Gdp::new(mu)?).into(), "node 3");
///     ledger.record("averaging", run, Adaptivity::Fixed)?;
/// }
/// assert!(ledger.spent()?.mu().is_some_and(|mu| (mu.value().mu() - 0.5).abs() < 1e-12));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
    budget: Budget,
    /// The composition of the entries, kept after the first time it is needed, since a law keeps its answers.
    sum: OnceLock<Profile>,
}

/// What was fixed before the first run.
#[derive(Clone, Copy, Debug, Default)]
enum Budget {
    #[default]
    Nothing,
    Limit(Measure, f64),
    Odometer(Odometer),
}

impl Ledger {
    /// A ledger without runs, with a limit for all runs together.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ allowed ≤ ∞`.
    pub fn with_limit(measure: Measure, allowed: f64) -> Result<Self, Error> {
        ensure((0.0..=f64::INFINITY).contains(&allowed), "the loss allowed", "be nonnegative", allowed)?;
        Ok(Self { budget: Budget::Limit(measure, allowed), ..Self::default() })
    }

    /// A ledger without runs, with an odometer: for Gaussian runs, [`Self::spent`] is a guarantee at whatever
    /// time the runs stop.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Adaptivity, Delta, Exact, Gdp, Ledger, Odometer, Profile};
    /// let delta = Delta::new(1e-5)?;
    /// let mut ledger = Ledger::with_odometer(Odometer::new(1.0, delta)?);
    /// for _ in 0..100 {
    ///     // Each run is chosen after a look at the outputs before it.
    ///     let run = Profile::gaussian(Exact::new(Gdp::new(0.1)?).into(), "node 3");
    ///     ledger.record("averaging", run, Adaptivity::OnSeen)?;
    /// }
    /// assert!((ledger.spent()?.epsilon(delta)?.value().epsilon() - 7.3875).abs() < 1e-4);
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    #[must_use]
    pub const fn with_odometer(odometer: Odometer) -> Self {
        Self { entries: Vec::new(), budget: Budget::Odometer(odometer), sum: OnceLock::new() }
    }

    /// The runs so far.
    #[must_use]
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// Records a run that took place, even if it breaks the limit: refusing it would not undo what the
    /// observer saw.
    ///
    /// # Errors
    /// [`Error::HiddenAdaptivity`] for [`Adaptivity::OnHidden`]; [`Error::MixedNeighbors`].
    pub fn record(&mut self, name: &str, profile: Profile, adaptivity: Adaptivity) -> Result<(), Error> {
        if adaptivity == Adaptivity::OnHidden {
            return Err(Error::HiddenAdaptivity);
        }
        if self.entries.iter().any(|entry| entry.profile.neighbors != profile.neighbors) {
            return Err(Error::MixedNeighbors);
        }
        self.entries.push(LedgerEntry { name: name.into(), profile, adaptivity });
        self.sum = OnceLock::new();
        Ok(())
    }

    /// What the observer has learned from all runs together, see the
    /// [table](self#what-the-answers-guarantee): the composition if all runs were fixed in advance. If some
    /// were chosen by what was seen, it is the limit that was fixed in advance, never the sum. An odometer
    /// always answers for itself: whoever has one may stop because of what was seen.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Adaptivity, Error, Exact, Gdp, Ledger, Measure, Profile};
    /// let run = Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3");
    /// let (mut limited, mut unlimited) = (Ledger::with_limit(Measure::Gaussian, 1.0)?, Ledger::default());
    /// limited.record("averaging", run.clone(), Adaptivity::OnSeen)?;
    /// unlimited.record("averaging", run, Adaptivity::OnSeen)?;
    /// assert_eq!(limited.spent()?.mu().map(|mu| mu.value().mu()), Some(1.0));
    /// assert_eq!(unlimited.spent().err(), Some(Error::AdaptiveSum));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If some run is [`Adaptivity::OnSeen`]: [`Error::AdaptiveSum`] without limit and odometer;
    /// [`Error::LimitBroken`] if the limit is not kept; [`Error::AdaptiveOrder`] as [`Self::fits`].
    /// [`Error::NotGaussian`] for an odometer and a run that is not Gaussian. Otherwise those of
    /// [`Profile::compose`].
    pub fn spent(&self) -> Result<Profile, Error> {
        let adaptive = self.entries.iter().any(|entry| entry.adaptivity == Adaptivity::OnSeen);
        let sum = self.sum()?;
        if !adaptive && !matches!(self.budget, Budget::Odometer(_)) {
            return Ok(sum);
        }
        let mut bound = match self.budget {
            Budget::Nothing => return Err(Error::AdaptiveSum),
            Budget::Limit(..) if self.verdict()? != Verdict::Met => return Err(Error::LimitBroken),
            Budget::Limit(Measure::Renyi(order), epsilon) => {
                Profile::of_curve(Point(Rdp { order, epsilon }), &sum.against)
            }
            Budget::Limit(Measure::Gaussian, mu) => {
                Profile::gaussian(UpperBound::new(Gdp::new(mu)?).into(), &sum.against)
            }
            Budget::Limit(Measure::Approx(delta), epsilon) => {
                Profile::of_curve(Stated(ApproxDp::new(epsilon, delta.get())?), &sum.against)
            }
            Budget::Odometer(mut odometer) => {
                for entry in &self.entries {
                    odometer.record(*entry.profile.mu().ok_or(Error::NotGaussian)?.value());
                }
                Profile::of_curve(Stated(odometer.epsilon().into_value()), &sum.against)
            }
        };
        bound.neighbors = sum.neighbors;
        Ok(bound)
    }

    /// The composition of all runs, which a filter compares with its limit.
    fn sum(&self) -> Result<Profile, Error> {
        if let Some(sum) = self.sum.get() {
            return Ok(sum.clone());
        }
        let parts: Vec<Profile> = self.entries.iter().map(|entry| entry.profile.clone()).collect();
        let sum = Profile::compose(&parts)?;
        Ok(self.sum.get_or_init(|| sum).clone())
    }

    const fn limit(&self) -> Result<(Measure, f64), Error> {
        match self.budget {
            Budget::Limit(measure, allowed) => Ok((measure, allowed)),
            Budget::Nothing | Budget::Odometer(_) => Err(Error::NoLimit),
        }
    }

    /// Whether all runs so far stay within the limit.
    ///
    /// # Errors
    /// [`Error::NoLimit`] for a ledger without one; those of the accountants.
    pub fn verdict(&self) -> Result<Verdict, Error> {
        let (measure, allowed) = self.limit()?;
        if self.entries.is_empty() {
            return Ok(Verdict::Met);
        }
        self.sum()?.check(self.usable(measure)?, allowed)
    }

    /// A filter, to be asked before a run: whether the limit is still kept after this run.
    ///
    /// It is sound even if the next run is chosen by what the observer saw before, for limits on `μ`, on the
    /// Rényi loss at one order, and on `(ε, δ)` if all runs are Gaussian.
    ///
    /// # Errors
    /// [`Error::NoLimit`]; [`Error::HiddenAdaptivity`]; [`Error::AdaptiveOrder`] for a limit on `(ε, δ)`, a
    /// run chosen adaptively and a part that is not Gaussian: the order of the conversion would be chosen
    /// after the fact.
    pub fn fits(&self, next: &Profile, adaptivity: Adaptivity) -> Result<bool, Error> {
        let mut with = self.clone();
        with.record("next", next.clone(), adaptivity)?;
        Ok(with.verdict()? == Verdict::Met)
    }

    /// How much of the limit is left, in its own terms, rounded down; 0 if it is used up. A further run whose
    /// `μ` or Rényi loss is at most that fits. For a limit on `(ε, δ)`, it is the `ε` at the same `δ` of the
    /// largest further
    /// *Gaussian* release that fits.
    ///
    /// # Errors
    /// As [`Self::verdict`].
    pub fn remaining(&self) -> Result<UpperBound<f64>, Error> {
        let (measure, allowed) = self.limit()?;
        if allowed == f64::INFINITY {
            return Ok(UpperBound::new(allowed));
        }
        let spent = self.sum()?;
        let left = match self.usable(measure)? {
            Measure::Renyi(_) => {
                let left = Interval::new(allowed) - Interval::new(*spent.loss(measure)?.value());
                left.low().max(0.0)
            }
            Measure::Gaussian => left(allowed, *spent.loss(measure)?.value()),
            Measure::Approx(delta) => self.largest_gaussian(&spent, delta, allowed)?,
        };
        Ok(UpperBound::new(left))
    }

    fn largest_gaussian(&self, spent: &Profile, delta: Delta, allowed: f64) -> Result<f64, Error> {
        let epsilon = |mu: f64| -> Result<f64, Error> { Ok(Gdp::new(mu)?.to_approx_dp(delta).epsilon()) };
        let whole = Measure::Approx(delta).largest_mu(allowed)?.mu();
        if let Some(gdp) = spent.mu() {
            return epsilon(left(whole, gdp.value().mu()));
        }
        // A bisection, whose lower end is always seen to fit.
        let (mut low, mut high) = (0.0, whole);
        while high - low > NEAR * whole {
            let middle = 0.5 * (low + high);
            let mut more = Profile::gaussian(UpperBound::new(Gdp::new(middle)?).into(), &spent.against);
            more.neighbors = spent.neighbors;
            let fits = self.fits(&more, Adaptivity::Fixed)?;
            if fits { low = middle } else { high = middle }
        }
        epsilon(low)
    }

    /// The measure, if runs may be added up in it; an error otherwise.
    fn usable(&self, measure: Measure) -> Result<Measure, Error> {
        let adaptive = self.entries.iter().any(|entry| entry.adaptivity == Adaptivity::OnSeen);
        let gaussian = self.entries.iter().all(|entry| entry.profile.mu().is_some());
        if matches!(measure, Measure::Approx(_)) && adaptive && !gaussian {
            return Err(Error::AdaptiveOrder);
        }
        Ok(measure)
    }
}

/// The relative accuracy of the bisection for what is left.
const NEAR: f64 = 1e-7;

/// The accountant of a Rényi loss known at one order.
struct Point(Rdp);

impl Curve for Point {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, Error> {
        Ok((order <= self.0.order).then(|| self.0.rdp(order)))
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        Ok(self.0.epsilon(delta).map(|epsilon| ApproxDp::clamped(epsilon, delta.get())))
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        Ok(Mechanism::delta(&self.0, epsilon)?.map(|delta| ApproxDp::clamped(epsilon, delta)))
    }
}

/// The accountant of one known `(ε, δ)`; at a smaller `δ` it proves nothing.
struct Stated(ApproxDp);

impl Curve for Stated {
    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        let epsilon = if delta.get() >= self.0.delta() { self.0.epsilon() } else { f64::INFINITY };
        Ok(UpperBound::new(ApproxDp::clamped(epsilon, delta.get())).into())
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        let delta = if epsilon >= self.0.epsilon() { self.0.delta() } else { 1.0 };
        Ok(UpperBound::new(ApproxDp::clamped(epsilon, delta)).into())
    }
}

/// `√(whole² - spent²)`, rounded down: the last float that was seen to fit, 0 when nothing is left.
fn left(whole: f64, spent: f64) -> f64 {
    search::largest(0.0, whole, |rest| hypot_up(spent, rest) <= whole).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
