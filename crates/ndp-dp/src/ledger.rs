//! A ledger: what one observer has been able to tell about one node, over several runs, and what is left.
//!
//! Runs about the same data compose when their noises are independent and the *choice* of each run and of what each node
//! contributes to it is [declared](Adaptivity): fixed in advance, or a function of what this observer saw before. A choice
//! that reacted to something the observer did not see (the hidden state of another node, say) voids the sum of the
//! parts, which then may lie below the truth; a ledger refuses it.
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
//! - Feldman and Zrnic, *Individual privacy accounting via a Rényi filter*, NeurIPS 2021, arXiv:2008.11193: Theorem 4.3
//!   (a filter at one order).
//! - Smith and Thakurta, *Fully adaptive composition for Gaussian differential privacy*, 2022, arXiv:2210.17520: Theorem 1.
//!   `docs/theory.md` has a proof of the Gaussian filter.

use crate::error::ensure;
use crate::profile::{Measure, Profile, Verdict};
use crate::{Delta, Error, Gdp, UpperBound};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};

/// On what a run, and what the nodes contribute to it, may depend.
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
    /// On nothing but the nodes' data: fixed before the first run.
    Fixed,
    /// On what the observer of this ledger saw in earlier runs.
    OnSeen,
    /// On something that the observer did not see. No sum of profiles covers it.
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
    /// What was run.
    pub name: String,
    /// What it cost.
    pub profile: Profile,
    /// What it may have depended on.
    pub adaptivity: Adaptivity,
}

/// The runs that one observer saw about one node, and perhaps a limit for all of them together. By default no run and no limit.
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
    limit: Option<(Measure, f64)>,
}

impl Ledger {
    /// No run, and a limit for all runs together.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ allowed ≤ ∞`.
    pub fn with_limit(measure: Measure, allowed: f64) -> Result<Self, Error> {
        ensure((0.0..=f64::INFINITY).contains(&allowed), "the loss allowed", "be nonnegative", allowed)?;
        Ok(Self { entries: Vec::new(), limit: Some((measure, allowed)) })
    }

    /// The runs so far.
    #[must_use]
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// Writes down a run that took place, also one that breaks the limit: what happened is not undone by a refusal.
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
        Ok(())
    }

    /// The profile of all runs together.
    ///
    /// # Errors
    /// Those of [`Profile::compose`].
    pub fn spent(&self) -> Result<Profile, Error> {
        let parts: Vec<Profile> = self.entries.iter().map(|entry| entry.profile.clone()).collect();
        Profile::compose(&parts)
    }

    /// Whether all runs so far stay within the limit.
    ///
    /// # Errors
    /// [`Error::NoLimit`] for a ledger without one; those of the accountants.
    pub fn verdict(&self) -> Result<Verdict, Error> {
        let (measure, allowed) = self.limit.ok_or(Error::NoLimit)?;
        if self.entries.is_empty() {
            return Ok(Verdict::Met);
        }
        self.spent()?.check(self.usable(measure)?, allowed)
    }

    /// A filter: whether another run stays within the limit, asked before the run.
    ///
    /// Sound also when the next run is chosen by what the observer saw before: for limits on `μ`, on the Rényi loss at one
    /// order, and on `(ε, δ)` where all runs are Gaussian.
    ///
    /// # Errors
    /// [`Error::NoLimit`]; [`Error::HiddenAdaptivity`]; [`Error::AdaptiveOrder`] for a limit on `(ε, δ)`, a run chosen
    /// adaptively and a part that is not Gaussian: the order of the conversion would be chosen after the fact.
    pub fn fits(&self, next: &Profile, adaptivity: Adaptivity) -> Result<bool, Error> {
        let mut with = self.clone();
        with.record("next", next.clone(), adaptivity)?;
        Ok(with.verdict()? == Verdict::Met)
    }

    /// What the limit leaves, in its own terms: a further Gaussian or Rényi loss bounded by it fits; for a limit on `(ε, δ)`, the
    /// `ε` at the same `δ` of the largest further *Gaussian* release that does. Rounded down; 0 when the limit is used up.
    ///
    /// # Errors
    /// As [`Self::verdict`].
    pub fn remaining(&self) -> Result<UpperBound<f64>, Error> {
        let (measure, allowed) = self.limit.ok_or(Error::NoLimit)?;
        if allowed == f64::INFINITY {
            return Ok(UpperBound::new(allowed));
        }
        let spent = self.spent()?;
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
        // The verified end of a bisection.
        let (mut low, mut high) = (0.0, whole);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let mut more = Profile::gaussian(UpperBound::new(Gdp::new(middle)?).into(), &spent.against);
            more.neighbors = spent.neighbors;
            let fits = self.fits(&more, Adaptivity::Fixed)?;
            if fits { low = middle } else { high = middle }
        }
        epsilon(low)
    }

    /// The measure, where the runs may be added up in it.
    fn usable(&self, measure: Measure) -> Result<Measure, Error> {
        let adaptive = self.entries.iter().any(|entry| entry.adaptivity == Adaptivity::OnSeen);
        let gaussian = self.entries.iter().all(|entry| entry.profile.mu().is_some());
        if matches!(measure, Measure::Approx(_)) && adaptive && !gaussian {
            return Err(Error::AdaptiveOrder);
        }
        Ok(measure)
    }
}

/// `√(whole² - spent²)`, rounded down, 0 when nothing is left.
fn left(whole: f64, spent: f64) -> f64 {
    if spent >= whole {
        return 0.0;
    }
    let (whole, spent) = (Interval::new(whole), Interval::new(spent));
    let square = (whole - spent) * (whole + spent);
    Interval::new(square.low().max(0.0)).sqrt().low().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exact, Grade, Order};
    use approx::assert_relative_eq;

    fn gaussian(mu: f64) -> Profile {
        Profile::gaussian(Exact::new(Gdp::new(mu).unwrap()).into(), "node 0")
    }

    /// A Rényi loss of so much times the order.
    struct Linear(f64);

    impl crate::profile::Curve for Linear {
        fn renyi(&self, order: Order) -> Result<Option<crate::Guarantee<f64>>, Error> {
            Ok(Some(UpperBound::new(self.0 * order.get()).into()))
        }
    }

    #[test]
    fn gaussian_runs_add_up_exactly() -> Result<(), Error> {
        let mut ledger = Ledger::with_limit(Measure::Gaussian, 1.0)?;
        assert_eq!((ledger.remaining()?.into_value(), ledger.verdict()?), (1.0, Verdict::Met));
        ledger.record("a", gaussian(0.6), Adaptivity::Fixed)?;
        assert_relative_eq!(ledger.remaining()?.into_value(), 0.8, max_relative = 1e-14);
        assert!(ledger.fits(&gaussian(0.79), Adaptivity::OnSeen)?);
        assert!(!ledger.fits(&gaussian(0.81), Adaptivity::OnSeen)?);
        ledger.record("b", gaussian(0.81), Adaptivity::OnSeen)?;
        assert_eq!((ledger.remaining()?.into_value(), ledger.verdict()?), (0.0, Verdict::Violated));
        let spent = ledger.spent()?;
        assert_eq!(spent.mu().map(|mu| mu.grade()), Some(Grade::Exact));
        assert_relative_eq!(spent.lower_mu(), 0.6f64.hypot(0.81), max_relative = 1e-14);
        Ok(())
    }

    /// Rényi bounds and Gaussian runs: between the Gaussian truth and the sum of both.
    #[test]
    fn different_notions_compose() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        let renyi = Profile::of_curve(Linear(0.125), "node 0");
        let both = Profile::compose(&[gaussian(0.5), renyi.clone()])?;
        let truth = gaussian(0.5f64.hypot(0.5)).epsilon(delta)?.into_value().epsilon();
        let found = both.epsilon(delta)?;
        assert_eq!(found.grade(), Grade::UpperBound);
        assert!(truth < found.value().epsilon() && found.value().epsilon() < 1.1 * truth);
        let back = both.delta(found.value().epsilon())?.into_value().delta();
        assert_relative_eq!(back, 1e-6, max_relative = 1e-6);
        assert!(matches!(both.loss(Measure::Gaussian), Err(Error::NotGaussian)));
        // With a part that has (ε, δ) only, here randomized response: at most the two ε added up at half of δ each.
        struct Pure(f64);
        impl crate::profile::Curve for Pure {
            fn epsilon(&self, delta: Delta) -> Result<crate::Guarantee<crate::ApproxDp>, Error> {
                Ok(Exact::new(crate::ApproxDp::new(self.0, delta.get())?).into())
            }
            fn delta(&self, epsilon: f64) -> Result<crate::Guarantee<crate::ApproxDp>, Error> {
                let delta = if epsilon >= self.0 { 0.0 } else { 1.0 };
                Ok(UpperBound::new(crate::ApproxDp::new(epsilon, delta)?).into())
            }
        }
        let mixed = Profile::compose(&[both, Profile::of_curve(Pure(0.3), "node 0")])?;
        let epsilon = mixed.epsilon(delta)?.into_value().epsilon();
        assert!(epsilon > truth + 0.29, "{epsilon}");
        assert!(epsilon < 1.15 * truth + 0.31, "{epsilon}");
        assert!(matches!(mixed.renyi(Order::new(2.0)?), Err(Error::NoRenyiBound)));
        let back = mixed.delta(epsilon)?.into_value().delta();
        assert_relative_eq!(back, 1e-6, max_relative = 1e-6);
        Ok(())
    }

    #[test]
    fn what_voids_the_sum_is_refused() -> Result<(), Error> {
        let mut ledger = Ledger::with_limit(Measure::Approx(Delta::new(1e-5)?), 1.0)?;
        let hidden = ledger.record("a", gaussian(0.1), Adaptivity::OnHidden);
        assert_eq!(hidden, Err(Error::HiddenAdaptivity));
        let renyi = Profile::of_curve(Linear(1e-3), "node 0");
        assert!(ledger.fits(&renyi, Adaptivity::Fixed)?);
        assert_eq!(ledger.fits(&renyi, Adaptivity::OnSeen), Err(Error::AdaptiveOrder));
        ledger.record("a", renyi.clone(), Adaptivity::Fixed)?;
        // What is left in terms of a Gaussian release is less than the whole.
        let left = ledger.remaining()?.into_value();
        assert!(0.5 < left && left < 1.0, "{left}");
        let mut other = gaussian(0.1);
        other.neighbors = crate::profile::Neighbors::AddOrRemove;
        assert_eq!(ledger.record("b", other, Adaptivity::Fixed), Err(Error::MixedNeighbors));
        assert_eq!(Ledger::default().verdict(), Err(Error::NoLimit));
        assert!(Ledger::with_limit(Measure::Gaussian, f64::NAN).is_err());
        Ok(())
    }
}
