//! Sums by a token with noise of any law, accounted for contribution by contribution.

use super::alike::Alike;
use super::attacks::by_run;
use super::complete::{CappedReleases, CompleteSum};
use super::ring::RingSum;
use super::{Bounds, EVERY_CONTRIBUTION, TokenNoise};
use ndarray::Array2;
use ndp_account::Error;
use ndp_account::{Account, Attacker, Noise, Observer, Protocol, Terms, parts::of_outsider};
use ndp_dp::{
    ApproxDp, Curve, Delta, Guarantee, LossLaw, Mechanism, NoiseMultiplier, Order, Profile, Sensitivity,
    UpperBound, composition, conversion,
};
use ndp_numeric::stop::Stop;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A sum by a token whose noise has any law that [`TokenNoise`] knows. Every contribution counts as a release
/// of its own with one full noise, and all contributions of a node compose. Their number is the largest that
/// is possible or, along a walk, it has its law: `δ(ε) = E δ_K(ε)`, with or without a cap. The smallest of
/// these bounds is taken.
///
/// For Gaussian noise [`RingSum`] and [`CompleteSum`] have smaller bounds. The noise of a question is the
/// standard deviation in units of the length of the interval of contributions, whatever the noise of the sum
/// itself. The account is the same for every node outside the coalition. Neighbors are replace-one: all
/// contributions of a node may change.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_algos::walk::ring::{Placement, RingSum};
/// use ndp_algos::walk::{Bounds, ReleasedSum, TokenNoise};
/// use ndp_dp::{Delta, NoiseMultiplier, Sigma};
/// // Laplace noise of scale 2: one contribution is (1/2, 0)-DP.
/// let noise = NoiseMultiplier::new(2.0 * 2f64.sqrt())?;
/// let ring = RingSum::new(8, 1, Bounds::new(0.0, 1.0)?, TokenNoise::named("laplace", Sigma::new(1.0)?)?, Placement::Counter)?;
/// let profile = ReleasedSum::from(ring).account(&Observer::node(0))?.profile(3, noise)?;
/// assert!((profile.delta(0.4)?.value().delta() - (1.0 - (-0.05f64).exp())).abs() < 1e-9);
/// assert!(profile.epsilon(Delta::new(1e-9)?)?.value().epsilon() < 0.5 + 1e-9);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReleasedSum {
    sum: Sum,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sum {
    Ring(RingSum),
    Complete(CompleteSum),
}

impl From<RingSum> for ReleasedSum {
    fn from(sum: RingSum) -> Self {
        Self { sum: Sum::Ring(sum) }
    }
}

impl From<CompleteSum> for ReleasedSum {
    fn from(sum: CompleteSum) -> Self {
        Self { sum: Sum::Complete(sum) }
    }
}

impl ReleasedSum {
    fn noise(&self) -> TokenNoise {
        match &self.sum {
            Sum::Ring(ring) => ring.noise(),
            Sum::Complete(sum) => sum.noise,
        }
    }

    fn sensitivity(&self) -> Result<Sensitivity, Error> {
        match &self.sum {
            Sum::Ring(ring) => ring.bounds().sensitivity(),
            Sum::Complete(sum) => sum.bounds.sensitivity(),
        }
    }

    /// The noise that is meant by the noise multiplier of a question.
    fn at(&self, noise: NoiseMultiplier) -> Result<TokenNoise, Error> {
        Ok(TokenNoise { sigma: noise.sigma(self.sensitivity()?)?, ..self.noise() })
    }

    /// A bound on the number of contributions of a node, and the part of `delta` with which it may fail.
    fn contributions(&self, delta: Delta) -> Result<(u64, f64), Error> {
        match &self.sum {
            Sum::Ring(ring) => Ok((ring.rounds() as u64, 0.0)),
            Sum::Complete(sum) => sum.walk.visit_count(sum.walk.options().contributions_of_a_node(delta)?),
        }
    }

    fn terms(&self) -> Terms {
        let noise = Noise::of(
            self.noise().law.family(),
            match &self.sum {
                Sum::Ring(ring) => ring.noise_on(),
                Sum::Complete(_) => "every contribution",
            },
        );
        Terms { noise, ..EVERY_CONTRIBUTION }
            .by("ndp_algos::walk::ReleasedSum", "Privacy amplification by decentralization")
    }

    /// The contributions of one node at the noise of a question.
    fn composed(&self, noise: NoiseMultiplier) -> Result<Composed, Error> {
        let (noise, sensitivity) = (self.at(noise)?, self.sensitivity()?);
        let release = noise.release(sensitivity)?.into();
        let (law, capped) = match (&self.sum, noise.loss_law(sensitivity)?) {
            (Sum::Complete(sum), Some(law)) => {
                let capped = sum.walk.capped_releases(&law)?;
                (Some(sum.walk.law_of_releases(law)?), capped)
            }
            _ => (None, None),
        };
        Ok(Composed { sum: *self, release, law, capped })
    }

    fn require_covered(&self, observer: &Observer) -> Result<(), Error> {
        observer.require_no_taps()?;
        let members = observer.checked(Protocol::node_count(self))?;
        if let Sum::Ring(ring) = &self.sum {
            ring.require_full_releases()?;
            ring.observers(members)?;
            // Between two colluders there are fewer steps than around the ring, and so perhaps less than one
            // full noise.
            if members.len() > 1 {
                return Err(Error::NoGuarantee(
                    "between two colluders a ring adds less than one full noise; ask the account of Gaussian noise",
                ));
            }
        }
        Ok(())
    }
}

impl Protocol for ReleasedSum {
    fn node_count(&self) -> usize {
        match &self.sum {
            Sum::Ring(ring) => ring.node_count(),
            Sum::Complete(sum) => sum.walk.node_count(),
        }
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        if observer.members().is_empty() {
            let published = match &self.sum {
                Sum::Ring(ring) => ring.final_token().is_shown(),
                Sum::Complete(sum) => sum.walk.is_published(),
            };
            return of_outsider(self, !published, observer, stop);
        }
        self.require_covered(observer)?;
        let sum = *self;
        let profile =
            move |noise: NoiseMultiplier, against: &str| Ok(Profile::of_curve(sum.composed(noise)?, against));
        // Contributions count one by one, for any observer.
        Ok(Box::new(
            Alike::new(observer, Protocol::node_count(self), self.terms(), profile).shared_by(self, 0),
        ))
    }

    /// The error of the token divided by the number of contributions; on a walk these are independent draws
    /// of nodes.
    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        match &self.sum {
            Sum::Ring(ring) => {
                Ok(ring.output_std() / ring.noise().std() * noise.get() / ring.step_count() as f64)
            }
            Sum::Complete(sum) => sum.error_until(noise, stop),
        }
    }

    fn message_count(&self) -> Result<f64, Error> {
        match &self.sum {
            Sum::Ring(ring) => ring.message_count(),
            Sum::Complete(sum) => sum.message_count(),
        }
    }

    /// Everybody else contributes the lower end of the interval. The score is the last token that the
    /// observer saw.
    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.require_covered(observer)?;
        observer.checked_source(u, Protocol::node_count(self))?;
        let (v, noise) = (observer.members()[0], self.at(noise)?);
        Ok(by_run(move |higher, rng| {
            let rng = &mut &mut *rng;
            let of = |bounds: Bounds, v: usize| if higher && v == u { bounds.high() } else { bounds.low() };
            let run = match &self.sum {
                Sum::Ring(ring) => {
                    let shape = (ring.rounds(), ring.node_count());
                    let values = Array2::from_shape_fn(shape, |(_, v)| of(ring.bounds(), v));
                    ring.with_noise(noise).run(values.view(), rng)?
                }
                Sum::Complete(sum) => CompleteSum { noise, ..*sum }.run(|v, _| of(sum.bounds, v), rng)?,
            };
            Ok(run.last_seen(v).unwrap_or(0.0))
        }))
    }
}

/// The releases of one node, composed.
#[derive(Clone)]
struct Composed {
    sum: ReleasedSum,
    release: Arc<dyn Mechanism + Send + Sync>,
    /// The law of all contributions along a walk, if it is known.
    law: Option<LossLaw>,
    /// The law of the contributions that a cap allows.
    capped: Option<CappedReleases>,
}

impl Composed {
    /// The least `ε` of `count` releases at `delta`: for one release by its own profile, for several by the
    /// best level `ε` of a single one, or by their Rényi losses.
    fn least(&self, count: u64, delta: Delta) -> Result<f64, ndp_dp::Error> {
        let of_one = |level: f64| Ok::<f64, ndp_dp::Error>(self.release.delta(level)?.into_value());
        let pure = self.release.pure_epsilon().into_value();
        // An upper bound on the least level at which the `δ` of all releases together is below delta.
        let fits = |level: f64| Ok::<bool, ndp_dp::Error>(of_one(level)? * (count as f64) < delta.get());
        let (mut low, mut high) = (0.0, pure.min(1.0));
        while high < pure && !fits(high)? {
            (low, high) = (high, (2.0 * high).min(pure));
            if high > MAX_LEVEL && pure.is_finite() {
                return Ok((pure * count as f64).next_up());
            }
            if high > MAX_LEVEL {
                let what = "delta of the releases";
                return Err(ndp_dp::Error::NotAchievable { what, target: delta.get(), best: of_one(low)? });
            }
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if fits(middle)? { high = middle } else { low = middle }
        }
        if count <= 1 {
            return Ok(if count == 0 { 0.0 } else { high });
        }
        let renyi =
            |order: Order| UpperBound::new((self.release.rdp(order).into_value() * count as f64).next_up());
        let by_renyi = conversion::best_epsilon(renyi, delta).into_value().approx_dp.epsilon();
        let composed = |level: f64| -> Result<f64, ndp_dp::Error> {
            let one = ApproxDp::new(level, if level >= pure { 0.0 } else { of_one(level)? })?;
            Ok(match composition::best(&[(one, count)], delta) {
                Ok(found) => found.value().total.epsilon(),
                // At the least level, no `δ` is left for the composition.
                Err(_) => f64::INFINITY,
            })
        };
        let most = if pure.is_finite() { pure } else { 4.0 * high };
        let at = |share: f64| if share >= 1.0 { most } else { high * (most / high).powf(share) };
        // Every level is valid, so that the search decides only how small the bound is.
        let (mut best, mut center) = (composed(most)?, 1.0);
        for k in 0..GRID {
            let share = f64::from(k) / f64::from(GRID);
            let found = composed(at(share))?;
            if found < best {
                (best, center) = (found, share);
            }
        }
        let mut width = 1.0 / f64::from(GRID);
        while width > 1e-7 {
            for share in [center - 0.5 * width, center + 0.5 * width] {
                let found = composed(at(share.clamp(0.0, 1.0)))?;
                if found < best {
                    (best, center) = (found, share.clamp(0.0, 1.0));
                }
            }
            width *= 0.6;
        }
        Ok(best.min(by_renyi))
    }
}

/// A release with a larger `ε` than this gives no privacy.
const MAX_LEVEL: f64 = 1e6;

/// The number of levels that are tried before the best of them is refined.
const GRID: u32 = 24;

impl Curve for Composed {
    /// On the ring, where the number of contributions is fixed, the losses of the releases add up. A walk may
    /// visit a node at every step.
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        let Sum::Ring(ring) = &self.sum.sum else { return Ok(None) };
        let one = self.release.rdp(order).into_value();
        let rounds = ring.rounds() as f64;
        Ok(Some(UpperBound::new(if ring.rounds() == 1 { one } else { (one * rounds).next_up() }).into()))
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        let (count, failure) = self.sum.contributions(delta)?;
        let epsilon = self.least(count, Delta::new((delta.get() - failure).next_down())?)?;
        let by_law = self.law.as_ref().map_or(f64::INFINITY, |law| law.epsilon(delta).upper());
        let most = epsilon.min(by_law);
        let epsilon = match &self.capped {
            Some(capped) => capped.epsilon(delta, most)?.min(most),
            None => most,
        };
        Ok(UpperBound::new(ApproxDp::new(epsilon, delta.get())?).into())
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        if let Sum::Ring(ring) = &self.sum.sum
            && ring.rounds() == 1
        {
            let delta = self.release.delta(epsilon)?.into_value();
            return Ok(UpperBound::new(ApproxDp::new(epsilon, delta)?).into());
        }
        let by_law = match &self.law {
            Some(law) => law.delta(epsilon)?.upper(),
            None => 1.0,
        };
        let by_cap = match &self.capped {
            Some(capped) => capped.delta(epsilon)?,
            None => 1.0,
        };
        let by_count = (|delta: Delta| self.epsilon(delta)).delta(epsilon)?;
        let least = by_law.min(by_cap).min(by_count.value().delta());
        Ok(UpperBound::new(ApproxDp::new(epsilon, least)?).into())
    }
}
