//! Real summation on the complete graph (Algorithm 3): every holder of the token adds a noisy contribution.

use super::CompleteWalk;
use crate::walk::{Bounds, Path, SumRun, TokenNoise};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Exact, Gaussian, Gdp};
use rand::Rng;
use std::collections::BTreeMap;

/// Real summation along a uniform walk.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// use ndp_dp::{Delta, Grade, NoiseMultiplier, Sigma};
/// let noise = TokenNoise::gaussian(Sigma::new(20.0)?);
/// let sum = CompleteSum { walk: CompleteWalk::new(50, 500)?, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
/// let account = sum.account(&Observer::node(0))?;
/// let epsilon = account.profile(1, NoiseMultiplier::new(20.0)?)?.epsilon(Delta::new(1e-6)?)?;
/// assert_eq!(epsilon.grade(), Grade::UpperBound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompleteSum {
    /// The walk of the token.
    pub walk: CompleteWalk,
    /// The interval of the contributions.
    pub bounds: Bounds,
    /// The noise that every step adds.
    pub noise: TokenNoise,
    /// Whether every node contributes the same value at each of its visits. The secrecy of the path then
    /// gives protection, and the account has a smaller bound. Runs refuse other contributions, and if a cap
    /// may keep a node from contributing, there is no account.
    pub constant_data: bool,
}

impl CompleteSum {
    /// `μ = Δ/σ` of one contribution, rounded up.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] unless the noise is Gaussian.
    pub(crate) fn mu(&self) -> Result<Exact<Gdp>, Error> {
        match self.noise.gaussian_sigma() {
            Some(sigma) => Ok(Gaussian { sensitivity: self.bounds.sensitivity()?, sigma }.gdp()),
            None => Err(Error::NoGuarantee("a Gaussian parameter needs Gaussian noise")),
        }
    }

    /// Runs the protocol: draws a path, then the noises. `contribution(u, k)` is the `k`-th contribution of
    /// node `u`, counted from 0.
    ///
    /// # Errors
    /// [`Error::ContributionOutOfBounds`](crate::Error::ContributionOutOfBounds); [`Error::InvalidParameter`]
    /// for a contribution that differs from the first one if data are [constant](Self::constant_data).
    pub fn run(
        &self,
        contribution: impl Fn(usize, usize) -> f64,
        rng: &mut impl Rng,
    ) -> Result<SumRun, Error> {
        let path = self.walk.sample(rng);
        self.run_along(path, contribution, rng)
    }

    /// Runs the protocol along a given path.
    ///
    /// # Errors
    /// [`Error::ContributionOutOfBounds`](crate::Error::ContributionOutOfBounds); [`Error::Shape`] for a path
    /// with another number of nodes or steps.
    pub(crate) fn run_along(
        &self,
        path: Path,
        contribution: impl Fn(usize, usize) -> f64,
        rng: &mut impl Rng,
    ) -> Result<SumRun, Error> {
        self.walk.check_path(&path)?;
        let mut made = BTreeMap::new();
        let mut token = 0.0;
        let mut total = 0.0;
        let mut tokens = Vec::with_capacity(path.steps() + 1);
        tokens.push(token);
        let mut noises = Vec::with_capacity(path.steps());
        for (&holder, &contributes) in path.holders.iter().zip(&path.contributes) {
            if contributes {
                let k = made.entry(holder).or_insert(0);
                let x = self.noise.check(self.bounds, holder, contribution(holder, *k))?;
                *k += 1;
                ensure(
                    !self.constant_data || x == contribution(holder, 0),
                    "a later contribution",
                    "equal the first where data are constant",
                    x,
                )?;
                token += x;
                total += x;
            }
            let noise = self.noise.sample(rng)?;
            token += noise;
            tokens.push(token);
            noises.push(noise);
        }
        Ok(SumRun { path, tokens, noises, total, published: self.walk.is_published() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::CompleteOptions;
    use ndp_account::{Observer, Protocol};
    use ndp_dp::Sigma;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn protocol(n: usize, steps: usize, sigma: f64) -> Result<CompleteSum, Error> {
        let noise = TokenNoise::gaussian(Sigma::new(sigma)?);
        Ok(CompleteSum {
            walk: CompleteWalk::new(n, steps)?,
            bounds: Bounds::new(-1.0, 1.0)?,
            noise,
            constant_data: false,
        })
    }

    /// A law of the noise for which the walk has no code of its own.
    #[test]
    fn discrete_laplace_noise_reaches_the_complete_graph() -> Result<(), Error> {
        let noise = TokenNoise::named("discrete-laplace", Sigma::new(2.0)?)?;
        let walk = CompleteWalk::new(5, 40)?;
        let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
        let run = sum.run(|u, k| ((u + k) % 2) as f64, &mut ChaCha8Rng::seed_from_u64(5))?;
        assert!(run.tokens.iter().all(|token| token.fract() == 0.0));
        let half = sum.run(|_, _| 0.5, &mut ChaCha8Rng::seed_from_u64(5));
        assert!(matches!(
            half,
            Err(Error::InvalidParameter { name: "a contribution behind this noise", .. })
        ));
        assert!(matches!(sum.mu(), Err(Error::NoGuarantee(_))));
        Ok(())
    }

    /// 20 000 runs: the mean error is within 5 standard errors of 0, and the variance within 5 of `T σ²`,
    /// with and without caps.
    #[test]
    fn estimate_is_unbiased_with_the_stated_spread() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        let limits = CompleteOptions { cap: Some(2), edge_uses: Some(1), ..CompleteOptions::default() };
        for options in [CompleteOptions::default(), limits] {
            let plain = protocol(6, 25, 0.7)?;
            let sum = CompleteSum { walk: plain.walk.with_options(options)?, ..plain };
            let runs = 20_000;
            let (mut mean, mut variance) = (0.0, 0.0);
            for _ in 0..runs {
                let run = sum.run(|u, k| ((7 * u + k) as f64).sin(), rng)?;
                let error = run.tokens[25] - run.total;
                mean += error / f64::from(runs);
                variance += error * error / f64::from(runs);
            }
            let std: f64 = 0.7 * 5.0;
            assert!(mean.abs() < 5.0 * std / f64::from(runs).sqrt());
            assert!((variance / (std * std) - 1.0).abs() < 5.0 * (2.0 / f64::from(runs)).sqrt());
        }
        Ok(())
    }

    #[test]
    fn view_is_what_arrives() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let sum = protocol(3, 5, 1.0)?;
        let path = sum.walk.path(&[1, 0, 2, 1, 1])?;
        let run = sum.run_along(path.clone(), |_, _| 0.5, rng)?;
        assert_eq!((run.path.clone(), run.tokens.len(), run.tokens[0]), (path.clone(), 6, 0.0));
        for step in 0..5 {
            assert!((run.tokens[step + 1] - run.tokens[step] - 0.5 - run.noises[step]).abs() < 1e-12);
        }
        assert_eq!((run.last_seen(1), run.published, run.total), (Some(run.tokens[4]), false, 2.5));
        let public = CompleteSum { walk: sum.walk.published(), ..sum };
        let run = public.run_along(path, |_, _| 0.5, rng)?;
        assert_eq!((run.published, run.last_seen(2)), (true, Some(run.tokens[5])));
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let sum = protocol(3, 5, 1.0)?;
        let constant = CompleteSum { constant_data: true, ..sum };
        assert!(constant.run(|u, _| [0.5, -0.5, 1.0][u], rng).is_ok());
        let path = sum.walk.path(&[0, 1, 0, 2, 1])?;
        let changing = constant.run_along(path, |_, k| 0.1 * k as f64, rng);
        assert!(matches!(changing, Err(Error::InvalidParameter { .. })), "{changing:?}");
        let walk = sum.walk.with_options(CompleteOptions { cap: Some(4), ..CompleteOptions::default() })?;
        let capped = CompleteSum { walk, ..constant };
        assert!(matches!(capped.account(&Observer::node(0)), Err(Error::NoGuarantee(_))));
        assert!(matches!(capped.reception_delta(0.1, 3), Err(Error::NoGuarantee(_))));
        assert!(matches!(
            sum.run(|_, _| 1.1, rng).as_ref().err().and_then(Error::carried),
            Some(&crate::Error::ContributionOutOfBounds { .. })
        ));
        assert!(matches!(sum.walk.path(&[0, 1]), Err(Error::Shape { .. })));
        for path in
            [CompleteWalk::new(3, 2)?.path(&[0, 1])?, CompleteWalk::new(4, 5)?.path(&[0, 1, 2, 1, 0])?]
        {
            assert!(matches!(sum.run_along(path, |_, _| 0.0, rng), Err(Error::Shape { .. })));
        }
        Ok(())
    }
}
