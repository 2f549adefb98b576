//! Real summation on the complete graph (Algorithm 3): every holder of the token adds a noisy contribution.

use super::{Caps, CompleteWalk, Path};
use crate::Error;
use crate::error::ensure;
use crate::walk::{Bounds, TokenNoise};
use ndp_dp::{Exact, Gaussian, Gdp};
use rand::Rng;

/// Real summation along a uniform walk.
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Observer, Protocol};
/// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// use ndp_dp::{Delta, Grade, NoiseMultiplier, Sigma};
/// let noise = TokenNoise::gaussian(Sigma::new(20.0)?);
/// let sum = CompleteSum::new(CompleteWalk::new(50, 500)?, Bounds::new(0.0, 1.0)?, noise);
/// let account = sum.account(&Observer::node(0))?;
/// let epsilon = account.profile(1, NoiseMultiplier::new(20.0)?)?.epsilon(Delta::new(1e-6)?)?;
/// assert_eq!(epsilon.grade(), Grade::UpperBound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompleteSum {
    walk: CompleteWalk,
    bounds: Bounds,
    noise: TokenNoise,
    caps: Caps,
    constant: bool,
}

impl CompleteSum {
    /// A sum along `walk` of contributions in `bounds`, `noise` added at every step.
    #[must_use]
    pub const fn new(walk: CompleteWalk, bounds: Bounds, noise: TokenNoise) -> Self {
        Self { walk, bounds, noise, caps: Caps::none(), constant: false }
    }

    /// The same protocol with caps on contributions; steps beyond them add noise alone. Data are no longer said to be constant.
    #[must_use]
    pub const fn with_caps(self, caps: Caps) -> Self {
        Self { caps, constant: false, ..self }
    }

    /// The same protocol, every node contributing the same value at each of its visits: then the secrecy of the path protects,
    /// and the account has more to say. Its runs refuse other contributions.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] where a cap may keep a node from contributing, which the secrecy of the path does not cover.
    pub fn with_constant_data(self) -> Result<Self, Error> {
        super::constant::require_no_caps(self.caps, self.walk)?;
        Ok(Self { constant: true, ..self })
    }

    /// Whether nodes contribute the same value at each of their visits.
    pub(crate) const fn has_constant_data(&self) -> bool {
        self.constant
    }

    /// The same protocol with another noise.
    #[must_use]
    pub(crate) const fn with_noise(self, noise: TokenNoise) -> Self {
        Self { noise, ..self }
    }

    /// The walk.
    #[must_use]
    pub const fn walk(&self) -> CompleteWalk {
        self.walk
    }

    /// The interval of the contributions.
    pub(crate) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The noise of a step.
    pub(crate) const fn noise(&self) -> TokenNoise {
        self.noise
    }

    /// The caps.
    #[must_use]
    pub const fn caps(&self) -> Caps {
        self.caps
    }

    /// Standard deviation `σ √T` of the final token around the sum of the contributions made, of which it is
    /// an unbiased estimate.
    #[must_use]
    pub fn output_std(&self) -> f64 {
        self.noise.std() * (self.walk.step_count() as f64).sqrt()
    }

    /// `μ = Δ/σ` of one contribution, rounded up.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] unless the noise is Gaussian.
    pub fn mu(&self) -> Result<Exact<Gdp>, Error> {
        match self.noise.gaussian_sigma() {
            Some(sigma) => Ok(Gaussian { sensitivity: self.bounds.sensitivity()?, sigma }.gdp()),
            None => Err(Error::NoGuarantee("a Gaussian parameter needs Gaussian noise")),
        }
    }

    /// Runs the protocol: draws a path, then the noises. `contribution(u, k)` is the `k`-th contribution of
    /// node `u`, from 0.
    ///
    /// # Errors
    /// [`Error::ContributionOutOfBounds`]; [`Error::InvalidParameter`] for another contribution than the first where data are
    /// [constant](Self::with_constant_data).
    pub fn run(
        &self,
        contribution: impl Fn(usize, usize) -> f64,
        rng: &mut impl Rng,
    ) -> Result<CompleteSumRun, Error> {
        let path = self.walk.sample(rng);
        self.run_along(path, contribution, rng)
    }

    /// Runs the protocol along a given path.
    ///
    /// # Errors
    /// [`Error::ContributionOutOfBounds`]; [`Error::Shape`] for a path on another number of nodes or steps.
    pub(crate) fn run_along(
        &self,
        path: Path,
        contribution: impl Fn(usize, usize) -> f64,
        rng: &mut impl Rng,
    ) -> Result<CompleteSumRun, Error> {
        self.walk.check_path(&path)?;
        let contributions = self.caps.contributions(&path);
        let mut token = 0.0;
        let mut total = 0.0;
        let mut tokens = Vec::with_capacity(path.step_count());
        let mut noises = Vec::with_capacity(path.step_count());
        for (step, made) in contributions.iter().enumerate() {
            if let Some(k) = *made {
                let holder = path.holder(step);
                let x = self.noise.check(self.bounds, holder, contribution(holder, k))?;
                ensure(
                    !self.constant || x == contribution(holder, 0),
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
        Ok(CompleteSumRun { path, contributions, tokens, noises, total, published: self.walk.is_published() })
    }
}

/// A run of [`CompleteSum`].
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteSumRun {
    path: Path,
    contributions: Vec<Option<usize>>,
    tokens: Vec<f64>,
    noises: Vec<f64>,
    total: f64,
    published: bool,
}

impl CompleteSumRun {
    /// The path of the token.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// For each step, which of its contributions the holder made, `None` for noise alone.
    #[must_use]
    pub fn contributions(&self) -> &[Option<usize>] {
        &self.contributions
    }

    /// The token after every step. No node sees all of this: it is for tests and measures of accuracy.
    #[must_use]
    pub fn tokens(&self) -> &[f64] {
        &self.tokens
    }

    /// The noise added at every step. A node knows its own: no protection against itself.
    #[must_use]
    pub fn noises(&self) -> &[f64] {
        &self.noises
    }

    /// The sum of the contributions made, without noise.
    #[must_use]
    pub const fn total(&self) -> f64 {
        self.total
    }

    /// What node `v` sees: the token each time it receives it, with the step (from 0; the token is 0 before
    /// step 0), and the final token if it is published.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn view(&self, v: usize) -> Result<TokenView<f64>, Error> {
        let nodes = self.path.node_count();
        if v >= nodes {
            return Err(Error::NodeOutOfRange { node: v, nodes });
        }
        let before = |step: usize| if step == 0 { 0.0 } else { self.tokens[step - 1] };
        let received = (0..self.path.step_count())
            .filter(|&step| self.path.holder(step) == v)
            .map(|step| (step, before(step)))
            .collect();
        let published = if self.published { self.tokens.last().copied() } else { None };
        Ok(TokenView { received, published })
    }
}

/// What a node sees of a walk.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenView<Token> {
    /// The steps at which it received the token, from 0, and the token before its own step.
    pub received: Vec<(usize, Token)>,
    /// The final token, if it is published.
    pub published: Option<Token>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_dp::Sigma;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn protocol(n: usize, steps: usize, sigma: f64) -> Result<CompleteSum, Error> {
        let noise = TokenNoise::gaussian(Sigma::new(sigma)?);
        Ok(CompleteSum::new(CompleteWalk::new(n, steps)?, Bounds::new(-1.0, 1.0)?, noise))
    }

    /// A law that the walk has no line for.
    #[test]
    fn discrete_laplace_noise_reaches_the_complete_graph() -> Result<(), Error> {
        let noise = TokenNoise::named("discrete-laplace", Sigma::new(2.0)?)?;
        let walk = CompleteWalk::new(5, 40)?;
        let sum = CompleteSum::new(walk, Bounds::new(0.0, 1.0)?, noise);
        let run = sum.run(|u, k| ((u + k) % 2) as f64, &mut ChaCha8Rng::seed_from_u64(5))?;
        assert!(run.tokens().iter().all(|token| token.fract() == 0.0));
        assert!(sum.run(|_, _| 0.5, &mut ChaCha8Rng::seed_from_u64(5)).is_err());
        assert!(matches!(sum.mu(), Err(Error::NoGuarantee(_))));
        Ok(())
    }

    /// 20 000 runs: mean error within 5 standard errors of 0, variance within 5 of `T σ²`, caps or not.
    #[test]
    fn estimate_is_unbiased_with_the_stated_spread() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        for caps in [Caps::none(), Caps::none().with_visits(2)?.with_edge_uses(1)?] {
            let sum = protocol(6, 25, 0.7)?.with_caps(caps);
            let runs = 20_000;
            let (mut mean, mut variance) = (0.0, 0.0);
            for _ in 0..runs {
                let run = sum.run(|u, k| ((7 * u + k) as f64).sin(), rng)?;
                let error = run.tokens()[24] - run.total();
                mean += error / f64::from(runs);
                variance += error * error / f64::from(runs);
            }
            let std = sum.output_std();
            assert_relative_eq!(std, 3.5, max_relative = 1e-14);
            assert!(mean.abs() < 5.0 * std / f64::from(runs).sqrt());
            assert!((variance / (std * std) - 1.0).abs() < 5.0 * (2.0 / f64::from(runs)).sqrt());
        }
        Ok(())
    }

    #[test]
    fn view_is_what_arrives() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let sum = protocol(3, 5, 1.0)?;
        let path = Path::from_holders(3, &[1, 0, 2, 1, 1])?;
        let run = sum.run_along(path.clone(), |_, _| 0.5, rng)?;
        let view = run.view(1)?;
        assert_eq!(view.received, [(0, 0.0), (3, run.tokens()[2]), (4, run.tokens()[3])]);
        assert_eq!((view.published, run.total()), (None, 2.5));
        let public = CompleteSum { walk: sum.walk().published(), ..sum };
        let run = public.run_along(path, |_, _| 0.5, rng)?;
        assert_eq!(run.view(2)?.published, Some(run.tokens()[4]));
        assert!(run.view(3).is_err());
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let sum = protocol(3, 5, 1.0)?;
        let constant = sum.with_constant_data()?;
        assert!(constant.run(|u, _| [0.5, -0.5, 1.0][u], rng).is_ok());
        let path = Path::from_holders(3, &[0, 1, 0, 2, 1])?;
        let changing = constant.run_along(path, |_, k| 0.1 * k as f64, rng);
        assert!(matches!(changing, Err(Error::InvalidParameter { .. })), "{changing:?}");
        let capped = constant.with_caps(Caps::none().with_visits(4)?);
        assert!(!capped.has_constant_data() && capped.with_constant_data().is_err());
        assert!(matches!(sum.run(|_, _| 1.1, rng), Err(Error::ContributionOutOfBounds { .. })));
        for path in [Path::from_holders(3, &[0, 1])?, Path::from_holders(4, &[0, 1, 2, 1, 0])?] {
            assert!(matches!(sum.run_along(path, |_, _| 0.0, rng), Err(Error::Shape { .. })));
        }
        Ok(())
    }
}
