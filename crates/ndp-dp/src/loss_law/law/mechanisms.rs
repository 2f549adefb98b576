//! Laws of mechanisms, and of mechanisms of which only a profile, a Rényi curve or some `(ε, δ)` are known.

use super::super::answers::Fineness;
use super::super::atoms::{self, Atoms};
use super::super::gaussian::GaussianPair;
use super::super::laplace::LaplacePair;
use super::super::mixture::Mixture;
use super::super::pair::Pair;
use super::super::sampled::{Replaced, Sampled, Side};
use super::super::stated::{FromRenyi, Stated};
use super::{LossLaw, Release, WIDTH, common};
use crate::error::{check_probability, ensure};
use crate::neighbors::Neighbors;
use crate::{
    ApproxDp, DiscreteLaplace, Error, Gaussian, Gdp, Guarantee, Laplace, Order, RandomizedResponse, Sigma,
    UpperBound,
};
use ndp_numeric::rounding::Interval;
use std::sync::Arc;
impl LossLaw {
    /// The law of a Gaussian view, whose `μ` is known exactly or as a bound.
    pub(crate) fn of_gdp(gdp: Guarantee<Gdp>, neighbors: Neighbors) -> Self {
        let exact = matches!(gdp, Guarantee::Exact(_));
        let pair = GaussianPair { mu: Interval::new(gdp.value().mu()) };
        Self { exact, ..Self::of(neighbors, pair, None) }
    }

    fn of(neighbors: Neighbors, remove: impl Pair + 'static, add: Option<Arc<dyn Pair>>) -> Self {
        let release = Release { remove: Arc::new(remove), add, count: 1 };
        Self { neighbors, exact: true, releases: vec![release], only: None, fineness: Fineness::Width(WIDTH) }
    }

    /// Gaussian noise, exactly: `N(μ, 1)` against `N(0, 1)`. `neighbors` is the relation for which the
    /// sensitivity was computed.
    #[must_use]
    pub fn gaussian(mechanism: Gaussian, neighbors: Neighbors) -> Self {
        Self::of(neighbors, gaussian_pair(mechanism), None)
    }

    /// Discrete Gaussian noise of parameter `σ` on an answer with whole values that moves by at most 1,
    /// exactly: probabilities of `k` proportional to `e^{−k²/(2σ²)}`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `10^−3 ≤ σ ≤ 10⁴`, which bounds the number of losses.
    ///
    /// # References
    /// Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, 2020, arXiv:2004.00010.
    pub fn discrete_gaussian(sigma: Sigma, neighbors: Neighbors) -> Result<Self, Error> {
        let allowed = (1e-3..=1e4).contains(&sigma.get());
        ensure(
            allowed,
            "the parameter of discrete Gaussian noise",
            "lie between 0.001 and 10000",
            sigma.get(),
        )?;
        Ok(Self::of(neighbors, atoms::discrete_gaussian(sigma.get()), None))
    }

    /// Laplace noise, exactly.
    #[must_use]
    pub fn laplace(mechanism: Laplace, neighbors: Neighbors) -> Self {
        Self::of(neighbors, LaplacePair::new(mechanism), None)
    }

    /// Discrete Laplace noise, exactly.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a sensitivity above 10⁶, which is one less than the number of losses.
    pub fn discrete_laplace(mechanism: DiscreteLaplace, neighbors: Neighbors) -> Result<Self, Error> {
        let (sensitivity, scale) = (mechanism.sensitivity(), mechanism.scale());
        let allowed = sensitivity <= 1_000_000;
        ensure(
            allowed,
            "the sensitivity of discrete Laplace noise",
            "be at most 1000000",
            f64::from(sensitivity),
        )?;
        Ok(Self::of(neighbors, atoms::discrete_laplace(sensitivity, scale), None))
    }

    /// Randomized response, exactly. Neighbors differ in the label of one person.
    #[must_use]
    pub fn randomized_response(mechanism: RandomizedResponse) -> Self {
        let atoms = atoms::randomized_response(mechanism.labels(), mechanism.gamma());
        Self::of(Neighbors::ReplaceOne, atoms, None)
    }

    /// A pair of laws on finitely many outcomes, both directions of it, exactly.
    ///
    /// # Errors
    /// [`Error::InvalidLaw`] unless the entries of each law are probabilities that sum to 1 within 1e-9 (they
    /// are divided by their sum); [`Error::InvalidParameter`] for laws of different lengths.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{LossLaw, Neighbors};
    /// let law = LossLaw::finite(&[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5], Neighbors::ReplaceOne)?;
    /// let delta = law.delta(0.0)?;
    /// assert!(delta.lower() <= 0.3 && 0.3 <= delta.upper() && delta.upper() < 0.3 + 1e-14);
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    pub fn finite(p: &[f64], q: &[f64], neighbors: Neighbors) -> Result<Self, Error> {
        ensure(
            p.len() == q.len(),
            "the second law of a pair",
            "have as many outcomes as the first",
            q.len() as f64,
        )?;
        atoms::check_law(p)?;
        atoms::check_law(q)?;
        let (remove, add): (Atoms, Atoms) = atoms::finite(p, q);
        Ok(Self::of(neighbors, remove, Some(Arc::new(add))))
    }

    /// Gaussian noise on a sample in which each record takes part with probability `rate`, exactly in each
    /// direction, when one record may be added or removed.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ rate ≤ 1`.
    pub fn sampled_gaussian(mechanism: Gaussian, rate: f64) -> Result<Self, Error> {
        Self::sampled(gaussian_pair(mechanism), rate)
    }

    /// Laplace noise on a sample in which each record takes part with probability `rate`, exactly in each
    /// direction, when one record may be added or removed.
    ///
    /// # Errors
    /// As [`Self::sampled_gaussian`].
    pub fn sampled_laplace(mechanism: Laplace, rate: f64) -> Result<Self, Error> {
        Self::sampled(LaplacePair::new(mechanism), rate)
    }

    /// A release that with probability `q = rate` involves the record in question and otherwise only others,
    /// where the observer is not told which: a batch of `m` of `n` records drawn without replacement
    /// (`rate = m/n`), or a step of a walk that may be anybody's. Neighbors differ in a record that is
    /// replaced, and `δ(ε) ≤ q δ₀(ln(1 + (e^ε − 1)/q))`, where `δ₀` is the profile of `release`: an upper
    /// bound.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ rate ≤ 1`, and for more than one release, or none;
    /// [`Error::MixedNeighbors`] unless `release` is of records that are replaced, in both directions.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Delta, Gaussian, LossLaw, Neighbors, Sensitivity, Sigma};
    /// let noise = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
    /// let step = LossLaw::gaussian(noise, Neighbors::ReplaceOne);
    /// let (all, batch) = (step.clone().times(100)?, LossLaw::sampled_replaced(&step, 0.01)?.times(100)?);
    /// let delta = Delta::new(1e-5)?;
    /// assert!(batch.epsilon(delta).upper() < 0.02 * all.epsilon(delta).upper());
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    ///
    /// # References
    /// Balle, Barthe and Gaboardi, *Privacy amplification by subsampling*, 2018, arXiv:1807.01647: Theorems 2
    /// and 9.
    pub fn sampled_replaced(release: &Self, rate: f64) -> Result<Self, Error> {
        check_probability(rate)?;
        let [Release { remove, add, count: 1 }] = &release.releases[..] else {
            let count = release.releases.iter().map(|release| release.count as f64).sum();
            return ensure(false, "what is drawn", "be one release", count).and(Ok(release.clone()));
        };
        if release.neighbors != Neighbors::ReplaceOne || release.only.is_some() {
            return Err(Error::MixedNeighbors);
        }
        if rate == 0.0 {
            return Ok(Self::of(Neighbors::ReplaceOne, GaussianPair { mu: Interval::ZERO }, None));
        }
        let drawn = Replaced { release: Arc::clone(remove), exchanged: add.clone(), rate };
        let law = Self::of(Neighbors::ReplaceOne, drawn, None);
        Ok(Self { exact: false, fineness: release.fineness, ..law })
    }

    fn sampled<B: Pair + Copy + 'static>(base: B, rate: f64) -> Result<Self, Error> {
        check_probability(rate)?;
        if rate == 0.0 {
            return Ok(Self::of(Neighbors::AddOrRemove, GaussianPair { mu: Interval::ZERO }, None));
        }
        let add = Sampled { base, rate, side: Side::Add };
        let remove = Sampled { base, rate, side: Side::Remove };
        Ok(Self::of(Neighbors::AddOrRemove, remove, Some(Arc::new(add))))
    }

    /// One of several releases, drawn with the weights as probabilities. The draw does not depend on the
    /// data, and the observer sees it: `δ(ε) = Σ w_i δ_i(ε)`, exact if all parts are.
    ///
    /// # Errors
    /// [`Error::InvalidLaw`] unless the weights are probabilities that sum to 1 within 1e-9;
    /// [`Error::MixedNeighbors`]; [`Error::InvalidParameter`] for parts that are more than one release, or
    /// none.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Delta, Gaussian, LossLaw, Neighbors, Sensitivity, Sigma};
    /// let noise = |sigma| -> Result<_, ndp_dp::Error> {
    ///     let mechanism = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(sigma)? };
    ///     Ok(LossLaw::gaussian(mechanism, Neighbors::ReplaceOne))
    /// };
    /// // The observer sees which noise was drawn: large noise in nine cases of ten.
    /// let law = LossLaw::seen_mixture(&[(0.9, noise(5.0)?), (0.1, noise(1.0)?)])?;
    /// assert!(law.epsilon(Delta::new(1e-5)?).upper() < noise(1.0)?.epsilon(Delta::new(1e-5)?).upper());
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    pub fn seen_mixture(parts: &[(f64, Self)]) -> Result<Self, Error> {
        atoms::check_law(&parts.iter().map(|part| part.0).collect::<Vec<_>>())?;
        let total: Interval = parts.iter().map(|part| Interval::new(part.0)).sum();
        let (mut remove, mut add, mut two) = (Vec::new(), Vec::new(), false);
        let mut exact = true;
        for (weight, law) in parts {
            let [Release { remove: there, add: back, count: 1 }] = &law.releases[..] else {
                let count = law.releases.iter().map(|release| release.count as f64).sum();
                return ensure(false, "a part of a mixture", "be one release", count).and(Ok(law.clone()));
            };
            let weight = Interval::new(*weight) / total;
            remove.push((weight, Arc::clone(there)));
            add.push((weight, Arc::clone(back.as_ref().unwrap_or(there))));
            two |= back.is_some();
            exact &= law.exact;
        }
        let first = parts.first().map_or(Neighbors::ReplaceOne, |part| part.1.neighbors);
        let only = common(parts.iter().map(|part| &part.1), first)?;
        let add = two.then(|| Arc::new(Mixture { parts: add }) as Arc<dyn Pair>);
        Ok(Self { exact, only, ..Self::of(first, Mixture { parts: remove }, add) })
    }

    /// As [`Self::seen_mixture`] if the observer does not see which release was drawn: an upper bound, since
    /// hiding it cannot raise the loss.
    ///
    /// # Errors
    /// As [`Self::seen_mixture`].
    pub fn hidden_mixture(parts: &[(f64, Self)]) -> Result<Self, Error> {
        Ok(Self { exact: false, ..Self::seen_mixture(parts)? })
    }

    /// A mechanism whose profile the caller has proved: for `ε ≥ 0`, `delta(ε)` is the profile of a pair of
    /// laws `(P, Q)` that dominates the mechanism, and `reversed(ε)` that of `(Q, P)`, both up to a relative
    /// error of at most `relative_error`. The answers are upper bounds.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ relative_error ≤ 0.1`, and if about a hundred points show that
    /// a function is no profile: outside `[0, 1]`, increasing, or not convex in `e^ε`.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Delta, LossLaw, Neighbors};
    /// // Laplace noise of scale 2.
    /// let delta = |epsilon: f64| -((0.5 * (epsilon - 0.5)).min(0.0).exp_m1());
    /// let law = LossLaw::of_delta(delta, delta, 1e-15, Neighbors::ReplaceOne)?.times(16)?;
    /// assert!((law.epsilon(Delta::new(1e-3)?).upper() - 6.297_45).abs() < 1e-3);
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    pub fn of_delta(
        delta: impl Fn(f64) -> f64 + Send + Sync + 'static,
        reversed: impl Fn(f64) -> f64 + Send + Sync + 'static,
        relative_error: f64,
        neighbors: Neighbors,
    ) -> Result<Self, Error> {
        let allowed = (0.0..=0.1).contains(&relative_error);
        ensure(allowed, "the relative error of a profile", "lie between 0 and 0.1", relative_error)?;
        let forward = Stated::new(Arc::new(delta), Arc::new(reversed), relative_error)?;
        let backward = forward.exchanged();
        Ok(Self { exact: false, ..Self::of(neighbors, forward, Some(Arc::new(backward))) })
    }

    /// A mechanism of which only this is known: it satisfies each of these `(ε, δ)`, for either order of two
    /// neighbors. The answers are the smallest that follow from the bounds; for a single bound, composed,
    /// that of [`composition::optimal_delta`](crate::composition::optimal_delta).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] without a bound, and for an infinite `ε`.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{ApproxDp, Delta, LossLaw, Neighbors};
    /// let known = [ApproxDp::new(0.1, 1e-3)?, ApproxDp::new(0.4, 1e-8)?];
    /// let law = |known: &[ApproxDp]| LossLaw::of_bounds(known, Neighbors::ReplaceOne)?.times(20);
    /// let delta = Delta::new(1e-6)?;
    /// // The first bound covers most outputs, the second the rare ones.
    /// assert!(law(&known)?.epsilon(delta).upper() < 0.5 * law(&known[1..])?.epsilon(delta).upper());
    /// assert_eq!(law(&known[..1])?.epsilon(delta).upper(), f64::INFINITY);
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    pub fn of_bounds(bounds: &[ApproxDp], neighbors: Neighbors) -> Result<Self, Error> {
        ensure(!bounds.is_empty(), "the number of bounds", "be at least 1", 0.0)?;
        for bound in bounds {
            ensure(bound.epsilon().is_finite(), "the epsilon of a bound", "be finite", bound.epsilon())?;
        }
        Ok(Self { exact: false, ..Self::of(neighbors, atoms::of_bounds(bounds), None) })
    }

    /// A mechanism, or a composition, of which only a bound on the Rényi divergence at every order is known.
    /// Its profile is the best `δ` that follows at every `ε ≥ 0`. To compose several such parts, add their
    /// Rényi bounds first and make one law of the sum: that loses less.
    #[must_use]
    pub fn from_renyi(
        curve: impl Fn(Order) -> UpperBound<f64> + Send + Sync + 'static,
        neighbors: Neighbors,
    ) -> Self {
        Self { exact: false, ..Self::of(neighbors, FromRenyi::new(curve), None) }
    }
}

fn gaussian_pair(mechanism: Gaussian) -> GaussianPair {
    GaussianPair { mu: Interval::new(mechanism.sensitivity.get()) / Interval::new(mechanism.sigma.get()) }
}
