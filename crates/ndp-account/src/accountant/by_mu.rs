//! Losses of many pairs in the same measure. Gaussian profiles with the same `μ` have the same loss, which is
//! computed once.

use crate::Error;
use ndp_dp::{Grade, Guarantee, Measure, Profile};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Losses in one measure. The loss of a Gaussian profile follows from `μ` and its grade alone, and in a
/// network with symmetries millions of pairs share few values of `μ`.
#[derive(Debug)]
pub struct ByMu {
    measure: Measure,
    /// The losses by the bits of `μ` and by whether it is exact.
    known: Mutex<BTreeMap<(u64, bool), Guarantee<f64>>>,
}

impl ByMu {
    /// Computes losses in this measure.
    #[must_use]
    pub fn new(measure: Measure) -> Self {
        Self { measure, known: Mutex::default() }
    }

    /// The [`Profile::loss`] of a profile.
    ///
    /// # Errors
    /// Those of the profile.
    pub fn loss(&self, profile: &Profile) -> Result<Guarantee<f64>, Error> {
        let key = match (profile.mu(), self.measure) {
            (Some(mu), Measure::Approx(_)) => (mu.value().mu().to_bits(), mu.grade() == Grade::Exact),
            _ => return Ok(profile.loss(self.measure)?),
        };
        // If a thread panicked while it held the lock, the entries are complete all the same.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&loss) = known().get(&key) {
            return Ok(loss);
        }
        let loss = profile.loss(self.measure)?;
        let mut known = known();
        if known.len() < MOST_KEPT {
            known.insert(key, loss);
        }
        Ok(loss)
    }
}

/// The largest number of losses that are kept.
const MOST_KEPT: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_dp::{Delta, Exact, Gdp, Order, UpperBound};

    /// A kept loss has the value and grade that the profile itself gives, in whatever order profiles are
    /// asked about.
    #[test]
    fn kept_losses_are_those_of_the_profile() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        for measure in [Measure::Approx(delta), Measure::Gaussian, Measure::Renyi(Order::new(3.0)?)] {
            let losses = ByMu::new(measure);
            for _ in 0..2 {
                for mu in [0.0, 0.3, 0.3_f64.next_up(), 2.0] {
                    let gdp = Gdp::new(mu)?;
                    for mu in [Exact::new(gdp).into(), UpperBound::new(gdp).into()] {
                        let profile = Profile::gaussian(mu, "node 1");
                        assert_eq!(losses.loss(&profile)?, profile.loss(measure)?);
                    }
                }
            }
        }
        // Profiles that are not Gaussian are never shared.
        let losses = ByMu::new(Measure::Approx(delta));
        for epsilon in [0.5, 0.7] {
            let stated =
                move |delta: Delta| Ok(UpperBound::new(ndp_dp::ApproxDp::new(epsilon, delta.get())?).into());
            assert_eq!(losses.loss(&Profile::of_curve(stated, "node 1"))?.into_value(), epsilon);
        }
        Ok(())
    }
}
