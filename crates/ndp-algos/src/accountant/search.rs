//! The least noise for one pair by a search, for accounts without a formula.

use super::Account;
use crate::Error;
use crate::walk::graph::calibration::smallest_noise;
use ndp_dp::{Measure, NoiseMultiplier, UpperBound};

/// The least noise at which the loss of `u` is at most `allowed`; `None` where no noise is needed.
pub(crate) fn of_pair<A: Account + ?Sized>(
    account: &A,
    u: usize,
    measure: Measure,
    allowed: f64,
) -> Result<Option<NoiseMultiplier>, Error> {
    // Written so that NaN fails.
    if !(0.0..=f64::INFINITY).contains(&allowed) {
        let (name, condition) = ("the loss allowed to a pair", "be nonnegative");
        return Err(Error::InvalidParameter { name, condition, value: allowed });
    }
    account.checked_source(u)?;
    let loss = |noise: NoiseMultiplier| -> Result<f64, Error> {
        Ok(account.profile(u, noise)?.loss(measure)?.into_value())
    };
    if allowed == f64::INFINITY || loss(NoiseMultiplier::new(NO_NOISE)?)? == 0.0 {
        return Ok(None);
    }
    if allowed == 0.0 {
        let (name, condition) = ("the loss allowed to a pair that has one", "be positive");
        return Err(Error::InvalidParameter { name, condition, value: allowed });
    }
    let found = smallest_noise(allowed, |noise| Ok(UpperBound::new(loss(noise)?)))?;
    Ok(Some(found.noise))
}

/// A noise so small that whoever learns anything loses something.
const NO_NOISE: f64 = 0.05;
