//! Real summation on the ring: which steps add noise, and what a run looks like.

use crate::walk::{Bounds, FinalToken, Path, SumRun, TokenNoise};
use ndarray::ArrayView2;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Sigma;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Which steps add noise.
///
/// # Examples
/// ```
/// use ndp_account::{Error, LinearProtocol};
/// use ndp_algos::walk::ring::{Placement, RingSum};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// use ndp_dp::Sigma;
/// // A share of the noise at every step: two colluders still face the noise of the nodes between them.
/// // With full noise on some steps, they may face none.
/// let noise = TokenNoise::gaussian(Sigma::new(10.0)?);
/// let ring = |placement| RingSum::new(9, 1, Bounds::new(0.0, 1.0)?, noise, placement);
/// assert!((ring(Placement::Distributed)?.coalition_loss(&[0, 5])?.unit(2)?.value().get() - 2.0).abs() < 1e-9);
/// assert!(matches!(ring(Placement::Counter)?.coalition_loss(&[0, 5]), Err(Error::Certify(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Full noise on one step in `n − 1`, the first step included (Algorithm 1). No protection against two
    /// colluding nodes.
    Counter,
    /// A share `σ/√(n−1)` on every step and the full noise `σ` on the first (Remark 1 of the paper, with `n −
    /// 1` in place of its `n`, since a node sees only `n − 1` foreign shares). For Gaussian noise only.
    Distributed,
}

/// Real summation on a ring of `n` nodes in `K` rounds.
///
/// Each node adds its contribution of the round. The node that holds the token adds noise as [`Placement`]
/// says. With [`FinalToken::Masked`] the last step carries full noise for any placement.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_algos::walk::ring::{Placement, RingSum};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// use ndp_dp::{Delta, NoiseMultiplier, Sigma};
/// let noise = TokenNoise::gaussian(Sigma::new(10.0)?);
/// let ring = RingSum::new(100, 3, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
/// let profile = ring.account(&Observer::node(7))?.profile(3, NoiseMultiplier::new(10.0)?)?;
/// assert!(profile.epsilon(Delta::new(1e-6)?)?.value().epsilon() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingSum {
    n: usize,
    rounds: usize,
    bounds: Bounds,
    noise: TokenNoise,
    placement: Placement,
    final_token: FinalToken,
}

impl RingSum {
    /// A ring of `n` nodes on which the token goes around `rounds` times, with contributions in `bounds` and
    /// full noise `noise`. The final token is withheld.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `n ≥ 2`, `rounds ≥ 1` and `n · rounds` fits; [`Error::NoGuarantee`]
    /// for noise that is not Gaussian with [`Placement::Distributed`].
    pub fn new(
        n: usize,
        rounds: usize,
        bounds: Bounds,
        noise: TokenNoise,
        placement: Placement,
    ) -> Result<Self, Error> {
        check_ring(n, rounds)?;
        if placement == Placement::Distributed && noise.gaussian_sigma().is_none() {
            return Err(Error::NoGuarantee("distributed noise must be Gaussian, whose shares add up"));
        }
        Ok(Self { n, rounds, bounds, noise, placement, final_token: FinalToken::Withheld })
    }

    /// The same protocol, with the final token treated as `final_token` says.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for [`FinalToken::Published`] under [`Placement::Counter`] if no noise is
    /// scheduled on the last step: the last nodes would reveal their sum without noise.
    pub fn with_final_token(self, final_token: FinalToken) -> Result<Self, Error> {
        if final_token == FinalToken::Published
            && self.placement == Placement::Counter
            && !self.is_scheduled(self.step_count() - 1)
        {
            return Err(Error::NoGuarantee(
                "the final token of the ring holds steps without noise; publish it masked",
            ));
        }
        Ok(Self { final_token, ..self })
    }

    /// Number of nodes `n`.
    pub(crate) const fn node_count(&self) -> usize {
        self.n
    }

    /// Number of rounds `K`.
    pub(crate) const fn rounds(&self) -> usize {
        self.rounds
    }

    /// The interval of the contributions.
    pub(crate) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The full noise.
    pub(crate) const fn noise(&self) -> TokenNoise {
        self.noise
    }

    /// The placement of the noise.
    pub(crate) const fn placement(&self) -> Placement {
        self.placement
    }

    /// What becomes of the final token.
    pub(crate) const fn final_token(&self) -> FinalToken {
        self.final_token
    }

    /// Number of steps `K n`.
    pub(crate) const fn step_count(&self) -> usize {
        self.n * self.rounds
    }

    /// The protocol with another full noise `sigma`.
    pub(crate) fn with_gaussian_noise(self, sigma: Sigma) -> Self {
        self.with_noise(TokenNoise::gaussian(sigma))
    }

    pub(crate) const fn with_noise(self, noise: TokenNoise) -> Self {
        Self { noise, ..self }
    }

    /// The number of steps with full noise under [`Placement::Counter`], without that of a mask: `⌈K
    /// n/(n−1)⌉`.
    #[doc(hidden)]
    #[must_use]
    pub const fn noise_count(&self) -> usize {
        self.step_count().div_ceil(self.n - 1)
    }

    /// Whether the counter of Algorithm 1 schedules noise on step `step` (from 0).
    const fn is_scheduled(&self, step: usize) -> bool {
        step.is_multiple_of(self.n - 1)
    }

    /// The standard deviation of the noise added on step `step` (from 0); 0 for none.
    pub(crate) fn step_std(&self, step: usize) -> f64 {
        let full = self.noise.std();
        let masked = self.final_token == FinalToken::Masked && step + 1 == self.step_count();
        match self.placement {
            _ if masked => full,
            Placement::Counter if self.is_scheduled(step) => full,
            Placement::Counter => 0.0,
            Placement::Distributed if step == 0 => full,
            Placement::Distributed => full / ((self.n - 1) as f64).sqrt(),
        }
    }

    /// The standard deviation of the final token, which is an unbiased estimate of the sum of all
    /// contributions.
    ///
    /// `σ √⌈K n/(n−1)⌉` with the counter (with one more noise if masked), and `σ √(1 + (K n − 1)/(n−1))` with
    /// distributed noise (if masked, the last share is replaced by a full noise).
    #[doc(hidden)]
    #[must_use]
    pub fn output_std(&self) -> f64 {
        let masked = self.final_token == FinalToken::Masked;
        let last = self.step_count() - 1;
        let shares = match self.placement {
            Placement::Counter => {
                let extra = usize::from(masked && !self.is_scheduled(last));
                (self.noise_count() + extra) as f64
            }
            Placement::Distributed => {
                let ordinary = last - usize::from(masked);
                1.0 + ordinary as f64 / (self.n - 1) as f64 + f64::from(u8::from(masked))
            }
        };
        self.noise.std() * shares.sqrt()
    }

    /// Runs the protocol on `contributions`, `K` by `n`: row `k` is a round, column `u` a node.
    ///
    /// # Errors
    /// [`Error::Shape`] for another shape,
    /// [`Error::ContributionOutOfBounds`](crate::Error::ContributionOutOfBounds) for a value outside the
    /// bounds, [`Error::InvalidParameter`] for one that the noise does not hide.
    pub fn run(&self, contributions: ArrayView2<'_, f64>, rng: &mut impl Rng) -> Result<SumRun, Error> {
        check_shape(contributions.dim(), self.n, self.rounds)?;
        let (steps, mut token, mut total) = (self.step_count(), 0.0, 0.0);
        let (mut tokens, mut noises) = (Vec::with_capacity(steps + 1), Vec::with_capacity(steps));
        tokens.push(token);
        for (step, &x) in contributions.iter().enumerate() {
            let std = self.step_std(step);
            let noise = if std > 0.0 { std / self.noise.std() * self.noise.sample(rng)? } else { 0.0 };
            token += self.noise.check(self.bounds, step % self.n, x)? + noise;
            total += x;
            tokens.push(token);
            noises.push(noise);
        }
        let published = self.final_token.is_shown();
        Ok(SumRun { path: path_of(self.n, steps), tokens, noises, total, published })
    }
}

/// Checks that `n ≥ 2`, `rounds ≥ 1` and their product fits.
#[doc(hidden)]
pub fn check_ring(n: usize, rounds: usize) -> Result<(), Error> {
    ensure(n >= 2, "the number of nodes of a ring", "be at least 2", n as f64)?;
    ensure(rounds >= 1, "the number of rounds", "be at least 1", rounds as f64)?;
    let fits = n.checked_mul(rounds).is_some_and(|steps| steps <= MAX_STEPS);
    ensure(fits, "the number of rounds", "keep the number of steps below 2^32", rounds as f64)
}

/// The path of a token that is passed on for `steps` steps: nodes `0, 1, …, n − 1`, then `0` again.
pub(crate) fn path_of(n: usize, steps: usize) -> Path {
    Path { nodes: n, holders: (0..steps).map(|step| step % n).collect(), contributes: vec![true; steps] }
}

/// Checks that a table is `rounds` by `n`.
pub(crate) fn check_shape(shape: (usize, usize), n: usize, rounds: usize) -> Result<(), Error> {
    if shape.0 != rounds {
        return Err(Error::Shape { what: "rounds of contributions", expected: rounds, got: shape.0 });
    }
    if shape.1 != n {
        return Err(Error::Shape { what: "contributing nodes", expected: n, got: shape.1 });
    }
    Ok(())
}

/// A longer run could not be held in memory; accountants refuse it too, so that runs and accounts have the
/// same domain.
const MAX_STEPS: usize = u32::MAX as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn unit(n: usize, rounds: usize, placement: Placement) -> Result<RingSum, Error> {
        RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(Sigma::new(1.0)?), placement)
    }

    /// The counter of Algorithm 1, as the paper writes it: the steps that add noise, counted from 0.
    fn noisy_steps(n: usize, rounds: usize) -> Vec<usize> {
        let mut counter = 0;
        let mut steps = Vec::new();
        for step in 0..n * rounds {
            if counter == 0 {
                steps.push(step);
                counter = n - 2;
            } else {
                counter -= 1;
            }
        }
        steps
    }

    /// For all `n ≤ 11` and `K ≤ 7`, the count is the ceiling; the printed floor is wrong.
    #[test]
    fn counter_adds_noise_as_often_as_stated() -> Result<(), Error> {
        for n in 2..=11 {
            for rounds in 1..=7 {
                let ring = unit(n, rounds, Placement::Counter)?;
                let steps = noisy_steps(n, rounds);
                assert_eq!(steps.len(), ring.noise_count());
                for step in 0..n * rounds {
                    assert_eq!(ring.step_std(step) > 0.0, steps.contains(&step));
                }
                let floor = n * rounds / (n - 1);
                assert_eq!(floor != ring.noise_count(), rounds % (n - 1) != 0);
            }
        }
        Ok(())
    }

    /// For all `n ≤ 9` and `K ≤ 5`, there is exactly one foreign noise between two receptions, and before the
    /// first reception of every node but node 0.
    #[test]
    fn windows_hold_exactly_one_foreign_noise() {
        for n in 2..=9 {
            for rounds in 1..=5 {
                let steps = noisy_steps(n, rounds);
                for v in 0..n {
                    for k in 0..rounds {
                        let reception = k * n + v;
                        let from = if k == 0 { 0 } else { reception - n + 1 };
                        let foreign = steps.iter().filter(|&&s| (from..reception).contains(&s)).count();
                        assert_eq!(foreign, usize::from(k > 0 || v > 0), "n={n} K={rounds} v={v} k={k}");
                    }
                }
            }
        }
    }

    /// A table of the specification.
    #[test]
    fn counts_and_spreads_match_reference_values() -> Result<(), Error> {
        for (n, rounds, count) in [(3, 3, 5), (4, 3, 4), (10, 3, 4)] {
            assert_eq!(unit(n, rounds, Placement::Counter)?.noise_count(), count);
        }
        let std = |n, rounds, sigma, placement| -> Result<f64, Error> {
            Ok(unit(n, rounds, placement)?.with_gaussian_noise(Sigma::new(sigma)?).output_std())
        };
        assert_relative_eq!(std(10, 3, 1.0, Placement::Counter)?, 2.0, max_relative = 1e-14);
        assert_relative_eq!(
            std(11, 4, 2.0, Placement::Counter)?,
            4.472_135_954_999_579,
            max_relative = 1e-14
        );
        assert_relative_eq!(
            std(17, 4, 1.0, Placement::Distributed)?,
            2.277_608_394_786_075,
            max_relative = 1e-14
        );
        assert_relative_eq!(
            std(18, 5, 2.0, Placement::Distributed)?,
            4.994_114_182_774_382,
            max_relative = 1e-14
        );
        let share = |n, sigma| -> Result<f64, Error> {
            Ok(unit(n, 2, Placement::Distributed)?.with_gaussian_noise(Sigma::new(sigma)?).step_std(1))
        };
        assert_relative_eq!(share(17, 1.0)?, 0.25, max_relative = 1e-14);
        assert_relative_eq!(share(18, 2.0)?, 0.485_071_250_072_665_94, max_relative = 1e-14);
        Ok(())
    }

    /// `output_std` is the root of the sum of the variances of the steps, for every placement and
    /// publication.
    #[test]
    fn spread_is_the_sum_of_the_steps() -> Result<(), Error> {
        for n in 2..=8 {
            for rounds in 1..=5 {
                for placement in [Placement::Counter, Placement::Distributed] {
                    for final_token in [FinalToken::Withheld, FinalToken::Masked] {
                        let ring = unit(n, rounds, placement)?.with_final_token(final_token)?;
                        let variance: f64 = (0..n * rounds).map(|t| ring.step_std(t).powi(2)).sum();
                        assert_relative_eq!(ring.output_std(), variance.sqrt(), max_relative = 1e-13);
                    }
                }
            }
        }
        Ok(())
    }

    /// 20 000 runs: the mean is within 5 standard errors of the true sum, and the variance within 5 of the
    /// stated one.
    #[test]
    fn estimate_is_unbiased_with_the_stated_spread() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let bounds = Bounds::new(-1.0, 1.0)?;
        let data = Array2::from_shape_fn((3, 6), |(k, u)| ((k * 6 + u) as f64 * 0.37).sin());
        let sigma = Sigma::new(0.7)?;
        for (noise, placement, final_token) in [
            (TokenNoise::gaussian(sigma), Placement::Counter, FinalToken::Withheld),
            (TokenNoise::named("laplace", sigma)?, Placement::Counter, FinalToken::Masked),
            (TokenNoise::gaussian(sigma), Placement::Distributed, FinalToken::Masked),
        ] {
            let ring = RingSum::new(6, 3, bounds, noise, placement)?.with_final_token(final_token)?;
            let runs = 20_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..runs {
                let error = ring.run(data.view(), rng)?.tokens.last().copied().unwrap_or(0.0) - data.sum();
                sum += error;
                squares += error * error;
            }
            let std = ring.output_std();
            assert!((sum / runs as f64).abs() < 5.0 * std / (runs as f64).sqrt());
            let ratio = squares / runs as f64 / (std * std);
            // The fourth moment of a sum of Laplace draws is at most twice the normal one.
            assert!((ratio - 1.0).abs() < 5.0 * (5.0 / runs as f64).sqrt(), "{ratio}");
        }
        Ok(())
    }

    #[test]
    fn view_is_what_arrives() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let ring = unit(4, 3, Placement::Counter)?.with_final_token(FinalToken::Masked)?;
        let run = ring.run(Array2::from_elem((3, 4), 0.5).view(), rng)?;
        let steps: Vec<usize> = (0..12).filter(|&step| run.path.holders[step] == 2).collect();
        assert_eq!((steps.as_slice(), run.tokens.len(), run.tokens[0]), (&[2, 6, 10][..], 13, 0.0));
        for step in 0..12 {
            assert_eq!(run.tokens[step + 1], run.tokens[step] + (0.5 + run.noises[step]));
        }
        assert!(run.published && run.last_seen(2) == Some(run.tokens[12]));
        assert_eq!([2, 6, 10].map(|step| run.noises[step] != 0.0), [false, true, false]);
        let withheld = unit(4, 3, Placement::Counter)?.run(Array2::from_elem((3, 4), 0.5).view(), rng)?;
        assert!(!withheld.published && withheld.last_seen(2) == Some(withheld.tokens[10]));
        Ok(())
    }

    /// A defect of the printed protocol: with the final token, node 1 of a ring of 3 in 2 rounds reads the
    /// last contribution of node 2 exactly. The protocol therefore refuses to publish it unmasked.
    #[test]
    fn publishing_the_plain_token_would_leak_raw_data() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let ring = unit(3, 2, Placement::Counter)?;
        let data = Array2::from_shape_fn((2, 3), |(k, u)| 0.1 * (3 * k + u) as f64);
        let run = ring.run(data.view(), rng)?;
        // Node 1 knows the token that it sent, with its own contribution and noise.
        let (sent, published) = (run.tokens[5], run.tokens[6]);
        assert_relative_eq!(published - sent, data[(1, 2)], epsilon = 1e-12);
        assert!(!run.published);
        assert!(matches!(ring.with_final_token(FinalToken::Published), Err(Error::NoGuarantee(_))));
        // There is a noise scheduled on the last step if and only if K = 1 mod (n − 1), or n = 2.
        for n in 2..=7 {
            for rounds in 1..=9 {
                let accepted =
                    unit(n, rounds, Placement::Counter)?.with_final_token(FinalToken::Published).is_ok();
                assert_eq!(accepted, n == 2 || rounds % (n - 1) == 1 % (n - 1), "n={n} K={rounds}");
            }
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        for (n, rounds) in [(1, 3), (0, 3), (3, 0), (usize::MAX, 3)] {
            assert!(matches!(unit(n, rounds, Placement::Counter), Err(Error::InvalidParameter { .. })));
        }
        let laplace = TokenNoise::named("laplace", Sigma::new(1.0)?)?;
        let bounds = Bounds::new(0.0, 1.0)?;
        let shares = RingSum::new(3, 1, bounds, laplace, Placement::Distributed);
        assert!(matches!(shares, Err(Error::NoGuarantee(_))));
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let ring = unit(3, 2, Placement::Counter)?;
        assert!(matches!(ring.run(Array2::zeros((3, 3)).view(), rng), Err(Error::Shape { .. })));
        assert!(matches!(ring.run(Array2::zeros((2, 2)).view(), rng), Err(Error::Shape { .. })));
        let too_large = ring.run(Array2::from_elem((2, 3), 1.5).view(), rng);
        assert!(matches!(
            too_large.as_ref().err().and_then(Error::carried),
            Some(&crate::Error::ContributionOutOfBounds { node: 0, .. })
        ));
        Ok(())
    }
}
