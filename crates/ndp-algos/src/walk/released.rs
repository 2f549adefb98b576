//! Token sums behind noise of any law, accounted for contribution by contribution.

use super::complete::CompleteSum;
use super::ring::RingSum;
use super::{Bounds, FinalToken, TokenNoise};
use ndarray::Array2;
use ndp_account::Error;
use ndp_account::{Account, Attacker, Changes, Law, Noise, Observer, Protocol, Terms, parts::of_outsider};
use ndp_dp::{
    ApproxDp, Curve, Delta, Guarantee, LossLaw, Mechanism, NoiseMultiplier, Order, Profile, Sensitivity,
    UpperBound, composition, conversion,
};
use rand::Rng;
use std::sync::Arc;

/// A sum carried by a token whose noise has any law that [`TokenNoise`] knows: every contribution counts as a
/// release of its own behind one full noise, and all those of a node compose: as many as it makes at most,
/// or, along a walk, by the law of their number, `δ(ε) = E δ_K(ε)`, whichever is less.
///
/// For Gaussian noise [`RingSum`] and [`CompleteSum`] know more. The noise of a question is the standard
/// deviation in units of the length of the interval of contributions, whatever the noise that the sum was
/// made with. The account is the same for every node outside the coalition. Replace-one neighbors: all
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

    fn steps(&self) -> usize {
        match &self.sum {
            Sum::Ring(ring) => ring.step_count(),
            Sum::Complete(sum) => sum.walk.step_count(),
        }
    }

    /// The noise that a question means.
    fn at(&self, noise: NoiseMultiplier) -> Result<TokenNoise, Error> {
        Ok(TokenNoise { sigma: noise.sigma(self.sensitivity()?)?, ..self.noise() })
    }

    /// How often a node contributes, at most, but with a probability that is taken from `delta`.
    fn contributions(&self, delta: Delta) -> Result<(u64, f64), Error> {
        match &self.sum {
            Sum::Ring(ring) => Ok((ring.rounds() as u64, 0.0)),
            Sum::Complete(sum) => sum.walk.visit_count(sum.walk.options().contributions_of_a_node(delta)?),
        }
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

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        if observer.members().is_empty() {
            let published = match &self.sum {
                Sum::Ring(ring) => ring.final_token() != FinalToken::Withheld,
                Sum::Complete(sum) => sum.walk.is_published(),
            };
            return of_outsider(self, !published, observer);
        }
        self.require_covered(observer)?;
        Ok(Box::new(Alike { sum: self, observer: observer.clone() }))
    }

    /// Of the token divided by the number of contributions; on a walk these are independent draws of nodes.
    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let steps = self.steps() as f64;
        match &self.sum {
            Sum::Ring(ring) => Ok(ring.output_std() / ring.noise().std() * noise.get() / steps),
            Sum::Complete(_) => Ok(((noise.get() * noise.get() + 0.25) / steps).sqrt()),
        }
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.steps() as f64)
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.require_covered(observer)?;
        observer.checked_source(u, Protocol::node_count(self))?;
        Ok(Box::new(LastToken { sum: *self, observer: observer.members()[0], u, noise: self.at(noise)? }))
    }
}

struct Alike<'a> {
    sum: &'a ReleasedSum,
    observer: Observer,
}

impl Account for Alike<'_> {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        Protocol::node_count(self.sum)
    }

    fn terms(&self) -> Terms {
        let law = match self.sum.noise().law.name() {
            "gaussian" => Law::Gaussian,
            "laplace" => Law::Laplace,
            "discrete-laplace" => Law::DiscreteLaplace,
            _ => Law::Own,
        };
        let noise = Noise::of(
            law,
            match &self.sum.sum {
                Sum::Ring(_) => "the token, by every (n-1)-th holder",
                Sum::Complete(_) => "every contribution",
            },
        );
        let changes = Changes::EveryContribution;
        Terms { changes, noise, ..Terms::VALUES }
            .by("ndp_algos::walk::ReleasedSum", "Privacy amplification by decentralization")
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.observer.checked_source(u, self.node_count())?;
        let (noise, sensitivity) = (self.sum.at(noise)?, self.sum.sensitivity()?);
        let release = noise.release(sensitivity)?.into();
        let law = match (&self.sum.sum, noise.loss_law(sensitivity)?) {
            (Sum::Complete(sum), Some(law)) => Some(sum.walk.law_of_releases(law)?),
            _ => None,
        };
        Ok(Profile::of_curve(Composed { sum: *self.sum, release, law }, &self.observer.to_string()))
    }

    /// Contributions count one by one, whoever observes.
    fn class(&self) -> Option<(usize, usize)> {
        Some((std::ptr::from_ref(self.sum).addr(), 0))
    }
}

/// Releases of one node, composed.
#[derive(Clone)]
struct Composed {
    sum: ReleasedSum,
    release: Arc<dyn Mechanism + Send + Sync>,
    /// Of all contributions along a walk, where it is known.
    law: Option<LossLaw>,
}

impl Composed {
    /// The least `ε` of `count` releases within `delta`: one by its own profile, several at the level that
    /// suits best, or by their Rényi losses.
    fn least(&self, count: u64, delta: Delta) -> Result<f64, ndp_dp::Error> {
        let of_one = |level: f64| Ok::<f64, ndp_dp::Error>(self.release.delta(level)?.into_value());
        let pure = self.release.pure_epsilon().into_value();
        // The least level at which the deltas of all fit, from above.
        let fits = |level: f64| Ok::<bool, ndp_dp::Error>(of_one(level)? * (count as f64) < delta.get());
        let (mut low, mut high) = (0.0, pure.min(1.0));
        while high < pure && !fits(high)? {
            (low, high) = (high, (2.0 * high).min(pure));
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
                // At the least level nothing is left for the composition.
                Err(_) => f64::INFINITY,
            })
        };
        let most = if pure.is_finite() { pure } else { 4.0 * high };
        let at = |share: f64| if share >= 1.0 { most } else { high * (most / high).powf(share) };
        // Every level is valid: the search decides the width only.
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

/// Beyond this level releases are no privacy.
const MAX_LEVEL: f64 = 1e6;

/// Levels looked at before the best of them is refined.
const GRID: u32 = 24;

impl Curve for Composed {
    /// On the ring, where contributions are counted: releases add up. A walk may visit a node in every step.
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
        let epsilon = epsilon.min(by_law);
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
        let by_count = (|delta: Delta| self.epsilon(delta)).delta(epsilon)?;
        Ok(UpperBound::new(ApproxDp::new(epsilon, by_law.min(by_count.value().delta()))?).into())
    }
}

/// Everybody else contributes the lower end of the interval; the score is the last token that the observer
/// saw.
struct LastToken {
    sum: ReleasedSum,
    observer: usize,
    u: usize,
    noise: TokenNoise,
}

impl Attacker for LastToken {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        let rng = &mut &mut *rng;
        let of = |bounds: Bounds, v: usize| if higher && v == self.u { bounds.high() } else { bounds.low() };
        (0..runs)
            .map(|_| match &self.sum.sum {
                Sum::Ring(ring) => {
                    let shape = (ring.rounds(), ring.node_count());
                    let values = Array2::from_shape_fn(shape, |(_, v)| of(ring.bounds(), v));
                    let run = ring.with_noise(self.noise).run(values.view(), rng)?;
                    Ok(run.last_seen(self.observer).unwrap_or(0.0))
                }
                Sum::Complete(sum) => {
                    let run = CompleteSum { noise: self.noise, ..*sum }.run(|v, _| of(sum.bounds, v), rng)?;
                    Ok(run.last_seen(self.observer).unwrap_or(0.0))
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::{CompleteOptions, CompleteWalk};
    use crate::walk::ring::Placement;
    use crate::walk::{FinalToken, LAWS};
    use approx::assert_relative_eq;
    use ndp_account::{LinearProtocol, Target, check, least_noise};
    use ndp_dp::{Measure, Sigma, Verdict};

    fn ring(n: usize, rounds: usize, law: &str) -> Result<ReleasedSum, Error> {
        let noise = TokenNoise::named(law, Sigma::new(1.0)?)?;
        let ring = RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
        Ok(ring.with_final_token(FinalToken::Masked)?.into())
    }

    fn walk(n: usize, steps: usize, law: &str) -> Result<CompleteSum, Error> {
        let noise = TokenNoise::named(law, Sigma::new(1.0)?)?;
        Ok(CompleteSum {
            walk: CompleteWalk::new(n, steps)?,
            bounds: Bounds::new(0.0, 1.0)?,
            noise,
            constant_data: false,
        })
    }

    fn profile(sum: &ReleasedSum, noise: f64) -> Result<Profile, Error> {
        sum.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(noise)?)
    }

    /// Privacy losses of one Laplace release of scale `b`, at quantiles in the middle of `points` equal
    /// parts.
    fn losses(b: f64, points: i32) -> Vec<f64> {
        let quantile = |p: f64| if p < 0.5 { b * (2.0 * p).ln() } else { -b * (2.0 * (1.0 - p)).ln() };
        let at = |k: i32| quantile((f64::from(k) + 0.5) / f64::from(points));
        (0..points).map(at).map(|x| ((x - 1.0).abs() - x.abs()) / b).collect()
    }

    /// Several Laplace releases against the exact law of their losses: of two, and of as many as a walk
    /// makes.
    /// Ranges for which no law is made have an account all the same.
    #[test]
    fn wide_ranges_of_whole_numbers_are_accounted_for() -> Result<(), Error> {
        let noise = TokenNoise::named("discrete-laplace", Sigma::new(1.0)?)?;
        let (delta, question) = (Delta::new(1e-5)?, NoiseMultiplier::new(20.0)?);
        let mut found = Vec::new();
        for high in [1000.0, 2e6, 4e9] {
            let (walk, bounds) = (CompleteWalk::new(20, 100)?, Bounds::new(0.0, high)?);
            let sum = ReleasedSum::from(CompleteSum { walk, bounds, noise, constant_data: false });
            let profile = sum.account(&Observer::node(0))?.profile(1, question)?;
            found.push(profile.epsilon(delta)?.value().epsilon());
            assert!(profile.delta(1.0)?.value().delta() <= 1.0);
        }
        // The law says less than the largest number of releases, which is the same for all wide ranges.
        assert!(found[0] < found[1] && (found[1] / found[2] - 1.0).abs() < 1e-6, "{found:?}");
        Ok(())
    }

    #[test]
    fn laplace_releases_cover_the_exact_law() -> Result<(), Error> {
        let b = 2.0;
        let noise = b * 2f64.sqrt();
        let one = losses(b, 1500);
        let share = 1.0 / one.len() as f64;
        for delta in [1e-2, 1e-4] {
            let epsilon = profile(&ring(5, 2, "laplace")?, noise)?.epsilon(Delta::new(delta)?)?;
            let epsilon = epsilon.into_value().epsilon();
            let mut exact = 0.0;
            for x in &one {
                for y in &one {
                    exact += share * share * (1.0 - (epsilon - x - y).exp()).max(0.0);
                }
            }
            assert!(exact <= delta && epsilon <= 1.0 + 1e-9, "{exact} at {epsilon}");
            assert!(exact >= 0.01 * delta, "{epsilon} says little: {exact}");
        }
        // Two steps among two nodes: 0, 1 or 2 contributions with probability 1/4, 1/2, 1/4, all seen.
        let sum = ReleasedSum::from(walk(2, 2, "laplace")?);
        let (epsilon, delta) =
            (profile(&sum, noise)?.epsilon(Delta::new(0.05)?)?.into_value().epsilon(), 0.05);
        let beyond = |loss: f64| (1.0 - (epsilon - loss).exp()).max(0.0);
        let once: f64 = one.iter().map(|&x| share * beyond(x)).sum();
        let twice: f64 = one
            .iter()
            .flat_map(|&x| one.iter().map(move |&y| x + y))
            .map(|x| share * share * beyond(x))
            .sum();
        assert!(0.5 * once + 0.25 * twice <= delta);
        Ok(())
    }

    /// For every law there is: the least noise of a target is its boundary, also where several contributions
    /// compose.
    #[test]
    fn least_noise_is_the_boundary_for_every_law() -> Result<(), Error> {
        for law in LAWS {
            for sum in [ring(6, 1, law.name())?, ring(6, 7, law.name())?, walk(6, 60, law.name())?.into()] {
                let accounts = [sum.account(&Observer::node(0))?];
                let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
                let noise = least_noise(&accounts, &target)?.noise;
                assert_eq!(check(&accounts, noise, &target)?.verdict, Verdict::Met, "{}", law.name());
                let less = NoiseMultiplier::new(noise.get() / 1.001)?;
                assert_ne!(check(&accounts, less, &target)?.verdict, Verdict::Met, "{} {noise}", law.name());
            }
        }
        Ok(())
    }

    /// One release of Gaussian noise is the Gaussian mechanism, and seven of them cost more than together.
    #[test]
    fn gaussian_noise_is_no_better_than_its_own_account() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        let alone = profile(&ring(6, 1, "gaussian")?, 4.0)?.epsilon(delta)?.into_value().epsilon();
        assert_relative_eq!(alone, *ndp_dp::Gdp::new(0.25)?.epsilon(delta).value(), max_relative = 1e-9);
        let seven = profile(&ring(6, 7, "gaussian")?, 4.0)?.epsilon(delta)?.into_value().epsilon();
        let together = *ndp_dp::Gdp::new(0.25 * 7f64.sqrt())?.epsilon(delta).value();
        assert!(together < seven && seven < 2.0 * together, "{together} {seven}");
        Ok(())
    }

    #[test]
    fn what_is_not_covered_is_refused() -> Result<(), Error> {
        let sum = ring(6, 2, "laplace")?;
        assert!(matches!(sum.account(&Observer::coalition(&[0, 3])), Err(Error::NoGuarantee(_))));
        // Shares of noise: two who collude face a quarter of its variance, four times the loss of one
        // release.
        let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
        let shared = RingSum::new(9, 1, Bounds::new(0.0, 1.0)?, noise, Placement::Distributed)?;
        let pair = Observer::coalition(&[0, 3]);
        assert!(shared.coalition_loss(&[0, 3])?.unit(1)?.value().get() > 3.9);
        assert!(matches!(ReleasedSum::from(shared).account(&pair), Err(Error::NoGuarantee(_))));
        assert!(ReleasedSum::from(shared).account(&Observer::node(3)).is_ok());
        assert!(sum.account(&Observer::coalition(&[6])).is_err());
        // Who hears less than a node is covered by what the node learns.
        let epsilon = |observer: Observer| -> Result<f64, Error> {
            let profile = sum.account(&observer)?.profile(1, NoiseMultiplier::new(1.0)?)?;
            Ok(profile.epsilon(Delta::new(1e-5)?)?.into_value().epsilon())
        };
        assert!(epsilon(Observer::outsider())? <= epsilon(Observer::node(0))?);
        assert!(
            matches!(profile(&sum, 1.0)?.epsilon(Delta::new(1e-9)?), Ok(found) if found.value().epsilon() > 1.0)
        );
        assert!(sum.account(&Observer::node(0))?.profile(0, NoiseMultiplier::new(1.0)?).is_err());
        // Pairs of a walk may collude, and caps bound what one of its nodes gives away.
        let plain = walk(6, 200, "laplace")?;
        let walk = plain.walk.with_options(CompleteOptions { cap: Some(3), ..CompleteOptions::default() })?;
        let capped = ReleasedSum::from(CompleteSum {
            walk,
            bounds: plain.bounds,
            noise: plain.noise,
            constant_data: false,
        });
        let at = |sum: &ReleasedSum| -> Result<f64, Error> {
            Ok(profile(sum, 3.0)?.epsilon(Delta::new(1e-5)?)?.into_value().epsilon())
        };
        assert!(plain.account(&Observer::node(0)).is_err());
        assert!(at(&capped)? < at(&plain.into())?);
        Ok(())
    }
}
