//! The smallest noise, the largest number of steps or the smallest `ε` within a budget, for any accountant.
//!
//! An accountant is a closure from the parameter to a graded loss. The result is a parameter at which the
//! closure was seen to stay within the target, together with the loss seen there. If the loss is monotone in
//! the parameter, the result is the best one; its guarantee does not depend on that. If the closure returns
//! an error, the target counts as missed at that parameter.
//!
//! # Examples
//! ```
//! use ndp_dp::{Delta, Gaussian, Mechanism, RdpAccountant, Sensitivity, Sigma, calibration};
//! let sensitivity = Sensitivity::new(1.0)?;
//! let delta = Delta::new(1e-6)?;
//! // The least noise for 100 releases within ε = 2, by the Rényi accountant:
//! let calibrated = calibration::smallest_sigma(2.0, |sigma| {
//!     Ok(RdpAccountant::default().compose(&Gaussian { sensitivity, sigma }, 100).epsilon(delta))
//! })?;
//! assert!(*calibrated.reached.value() <= 2.0 && calibrated.parameter.get() < 27.0);
//! # Ok::<(), ndp_dp::Error>(())
//! ```

use crate::{Delta, Error, Guarantee, Sigma};
use serde::{Deserialize, Serialize};

/// A parameter, and the loss that the accountant returned for it.
///
/// Read from a file, the loss is a claim: `Calibrated<T, Recorded<f64>>`, see [`Recorded`](crate::Recorded).
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gaussian, Mechanism, Sensitivity, calibration::smallest_sigma};
/// let delta = Delta::new(1e-6)?;
/// let found = smallest_sigma(1.0, |sigma| {
///     let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma };
///     Ok(release.epsilon(delta))
/// })?;
/// assert!(*found.reached.value() <= 1.0 && found.parameter.get() < 4.3);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated<T, G = Guarantee<f64>> {
    /// The parameter: the verified end of the search.
    pub parameter: T,
    /// The loss at the parameter, at most the target.
    pub reached: G,
}

/// The smallest noise whose loss is at most `target`, within a relative 1e-12 of the boundary.
///
/// # Errors
/// [`Error::InvalidParameter`] for a negative or NaN target; the accountant's own error when it refuses a noise
/// and no other has a finite loss; [`Error::NotAchievable`] when no noise up to 1e300 meets the target.
pub fn smallest_sigma<G: Into<Guarantee<f64>>>(
    target: f64,
    mut account: impl FnMut(Sigma) -> Result<G, Error>,
) -> Result<Calibrated<Sigma>, Error> {
    let mut search = Search::new("loss", target)?;
    let mut holds = |sigma: f64| search.holds(Sigma::new(sigma), &mut account);
    // Moves from 1 by factors of 4 towards the boundary until it is passed, then bisects the bit patterns of
    // the floats, which halves their ratio instead of their difference.
    let (mut fails, mut verified);
    if holds(1.0) {
        (fails, verified) = (0.25, 1.0);
        while fails > 1e-300 && holds(fails) {
            (fails, verified) = (fails / 4.0, fails);
        }
    } else {
        (fails, verified) = (1.0, 4.0);
        while !holds(verified) {
            if verified > 1e300 {
                return Err(search.failure());
            }
            (fails, verified) = (verified, verified * 4.0);
        }
    }
    while verified - fails > 1e-12 * verified {
        let middle = f64::from_bits(fails.to_bits() + (verified.to_bits() - fails.to_bits()) / 2);
        if holds(middle) { verified = middle } else { fails = middle }
    }
    search.finish(Sigma::new(verified)?)
}

/// The smallest `ε ≥ 0` whose `δ` is at most `delta`, for an accountant that gives `δ` at `ε`; within a
/// relative 1e-12.
///
/// # Errors
/// The accountant's own error when it refuses every `ε` tried; [`Error::NotAchievable`] when no `ε` up to
/// 1e300 meets `delta`.
pub fn smallest_epsilon<G: Into<Guarantee<f64>>>(
    delta: Delta,
    mut account: impl FnMut(f64) -> Result<G, Error>,
) -> Result<Calibrated<f64>, Error> {
    let mut search = Search::new("delta", delta.get())?;
    let mut holds = |epsilon: f64| search.holds(Ok(epsilon), &mut account);
    if holds(0.0) {
        return search.finish(0.0);
    }
    let (mut fails, mut verified) = (0.0, 1.0);
    while !holds(verified) {
        if verified > 1e300 {
            return Err(search.failure());
        }
        (fails, verified) = (verified, verified * 4.0);
    }
    while verified - fails > 1e-12 * verified {
        // As long as only 0 is known to fail, the upper end is divided by 16, until the order of magnitude of
        // the answer is found.
        let middle = if fails == 0.0 { verified / 16.0 } else { 0.5 * (fails + verified) };
        if holds(middle) {
            verified = middle
        } else {
            fails = middle
        }
        if verified < 1e-300 {
            break;
        }
    }
    search.finish(verified)
}

/// The largest number of steps in `1..=most` whose loss is at most `target`.
///
/// # Errors
/// [`Error::InvalidParameter`] for a negative or NaN target; the accountant's own error when it refuses one
/// step; [`Error::NotAchievable`] when one step already exceeds the target, or `most` is 0.
pub fn largest_count<G: Into<Guarantee<f64>>>(
    target: f64,
    most: u64,
    mut account: impl FnMut(u64) -> Result<G, Error>,
) -> Result<Calibrated<u64>, Error> {
    let mut search = Search::new("loss", target)?;
    let mut holds = |count: u64| search.holds(Ok(count), &mut account);
    if most == 0 || !holds(1) {
        return Err(search.failure());
    }
    let mut verified = 1;
    let mut fails = most.saturating_add(1);
    // Doubles the count first, since an accountant may take time proportional to it.
    while verified < most {
        let next = verified.saturating_mul(2).min(most);
        if !holds(next) {
            fails = next;
            break;
        }
        verified = next;
    }
    while fails - verified > 1 {
        let middle = verified + (fails - verified) / 2;
        if holds(middle) { verified = middle } else { fails = middle }
    }
    search.finish(verified)
}

/// The record of a search: the loss at the last point that met the target, and why other points did not meet
/// it.
struct Search {
    what: &'static str,
    target: f64,
    reached: Option<Guarantee<f64>>,
    nearest: f64,
    refused: Option<Error>,
}

impl Search {
    fn new(what: &'static str, target: f64) -> Result<Self, Error> {
        crate::error::ensure(0.0 <= target, "the target of a calibration", "be nonnegative", target)?;
        Ok(Self { what, target, reached: None, nearest: f64::INFINITY, refused: None })
    }

    fn holds<T, G: Into<Guarantee<f64>>>(
        &mut self,
        parameter: Result<T, Error>,
        account: impl FnOnce(T) -> Result<G, Error>,
    ) -> bool {
        match parameter.and_then(account) {
            Ok(loss) => {
                let loss = loss.into();
                let holds = *loss.value() <= self.target;
                self.nearest = self.nearest.min(*loss.value());
                if holds {
                    self.reached = Some(loss);
                }
                holds
            }
            Err(error) => {
                self.refused = Some(error);
                false
            }
        }
    }

    fn finish<T>(self, parameter: T) -> Result<Calibrated<T>, Error> {
        match self.reached {
            Some(reached) => Ok(Calibrated { parameter, reached }),
            None => Err(self.failure()),
        }
    }

    fn failure(self) -> Error {
        match self.refused {
            Some(error) if self.nearest.is_infinite() => error,
            _ => Error::NotAchievable { what: self.what, target: self.target, best: self.nearest },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gdp, Mechanism, UpperBound, gaussian};
    use approx::assert_relative_eq;

    fn exact_epsilon(sigma: Sigma, count: u64) -> Result<Guarantee<f64>, Error> {
        let delta = Delta::new(1e-6)?;
        Ok((Gdp::new(1.0 / sigma.get())? * count).epsilon(delta))
    }

    #[test]
    fn searches_find_the_analytic_answers() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for target in [1e-3, 0.5, 4.0, 300.0] {
            let sigma = smallest_sigma(target, |sigma| exact_epsilon(sigma, 1))?;
            assert_relative_eq!(
                sigma.parameter.get(),
                1.0 / gaussian::mu(target, delta)?,
                max_relative = 1e-9
            );
            assert!(*sigma.reached.value() <= target);
            assert_eq!(sigma.reached, exact_epsilon(sigma.parameter, 1)?);
        }
        for mu in [1e-8, 0.3, 5.0] {
            let epsilon = smallest_epsilon(delta, |epsilon| gaussian::delta(epsilon, mu))?;
            let direct = gaussian::epsilon(mu, delta)?.into_value();
            assert_relative_eq!(epsilon.parameter, direct, max_relative = 1e-11);
            assert!(*epsilon.reached.value() <= 1e-6);
        }
        let noise = Sigma::new(10.0)?;
        let count = largest_count(3.0, 1_000_000, |count| exact_epsilon(noise, count))?;
        assert!(exact_epsilon(noise, count.parameter + 1)?.into_value() > 3.0);
        assert!(*count.reached.value() <= 3.0);
        assert_eq!(largest_count(3.0, 7, |count| exact_epsilon(noise, count))?.parameter, 7);
        Ok(())
    }

    #[test]
    fn failures_are_typed() -> Result<(), Error> {
        let constant = |value: f64| move |_: Sigma| Ok(UpperBound::new(value));
        assert_eq!(
            smallest_sigma(1.0, constant(2.0)),
            Err(Error::NotAchievable { what: "loss", target: 1.0, best: 2.0 })
        );
        assert!(matches!(
            smallest_sigma(1.0, constant(f64::NAN)),
            Err(Error::NotAchievable { what: "loss", .. })
        ));
        assert!(matches!(
            smallest_sigma(f64::NAN, constant(0.0)),
            Err(Error::InvalidParameter { name: "the target of a calibration", .. })
        ));
        let refuse = |_: Sigma| -> Result<UpperBound<f64>, Error> { Err(Error::InvalidOrder(1.0)) };
        assert_eq!(smallest_sigma(1.0, refuse), Err(Error::InvalidOrder(1.0)));
        // Any noise meets the target here: the search ends at the smallest noise that it tries.
        assert!(smallest_sigma(0.0, constant(0.0))?.parameter.get() < 1e-299);
        let loss = |_: u64| Ok(UpperBound::new(5.0));
        assert!(
            matches!(largest_count(1.0, 10, loss), Err(Error::NotAchievable { what: "loss", .. }))
                && matches!(largest_count(9.0, 0, loss), Err(Error::NotAchievable { what: "loss", .. }))
        );
        assert_eq!(largest_count(9.0, u64::MAX, loss)?.parameter, u64::MAX);
        assert!(matches!(
            smallest_epsilon(Delta::new(0.1)?, |_| Ok(UpperBound::new(0.2))),
            Err(Error::NotAchievable { what: "delta", .. })
        ));
        Ok(())
    }

    /// A precondition that holds only above some noise counts as a missed target below it.
    #[test]
    fn refused_parameters_are_missed_targets() -> Result<(), Error> {
        let account = |sigma: Sigma| {
            crate::error::ensure(sigma.get() >= 3.0, "sigma", "be at least 3", sigma.get())?;
            Ok(UpperBound::new(1.0 / sigma.get()))
        };
        let calibrated = smallest_sigma(10.0, account)?;
        assert_relative_eq!(calibrated.parameter.get(), 3.0, max_relative = 1e-11);
        Ok(())
    }
}
