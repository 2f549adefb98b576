//! [`LossLaw`]: which pairs dominate what was released, and how often.

use super::answers::{self, Ends, Fineness};
use super::atoms::{self, Atoms};
use super::direction::Direction;
use super::enclosed::Enclosed;
use super::gaussian::GaussianPair;
use super::laplace::LaplacePair;
use super::mixture::Mixture;
use super::pair::Pair;
use super::plan::Chain;
use super::sampled::{Sampled, Side};
use super::stated::{FromRenyi, Stated};
use crate::error::{check_probability, ensure, ensure_positive};
use crate::gaussian::check_epsilon;
use crate::neighbors::Neighbors;
use crate::{
    Delta, DiscreteLaplace, Error, Exact, Gaussian, Gdp, Guarantee, Laplace, Order, RandomizedResponse,
    Sigma, UpperBound,
};
use ndp_numeric::rounding::Interval;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The law of the privacy loss of one or many releases, enclosed from both sides; what it is and an example
/// are in the [module](super).
///
/// A law is a description until it is asked: a question chooses the grid that its answer needs. It has one
/// direction or two, which are composed each by itself; the answer is the larger one.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gaussian, LossLaw, Neighbors, Sensitivity, Sigma};
/// let step = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(2.0)? };
/// let training = LossLaw::sampled_gaussian(step, 0.1)?.times(200)?;
/// let count = LossLaw::gaussian(step, Neighbors::AddOrRemove);
/// let epsilon = LossLaw::compose(&[training, count])?.epsilon(Delta::new(1e-5)?);
/// assert!(epsilon.upper() - epsilon.lower() < 1e-4);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LossLaw {
    neighbors: Neighbors,
    /// Whether each pair is attained, and not only dominates.
    exact: bool,
    releases: Vec<Release>,
    pub(super) only: Option<Direction>,
    pub(super) fineness: Fineness,
}

/// A pair for each direction, and how often it occurs.
#[derive(Clone, Debug)]
struct Release {
    remove: Arc<dyn Pair>,
    /// `None` where both directions have the same law.
    add: Option<Arc<dyn Pair>>,
    count: u64,
}

impl Release {
    /// What tells its pairs from all others.
    fn key(&self) -> Option<Vec<u64>> {
        let remove = self.remove.key()?;
        let add = self.add.as_ref().map_or(Some(Vec::new()), |add| add.key())?;
        Some([vec![remove.len() as u64], remove, add].concat())
    }

    /// Whether it is the same pair in memory.
    fn is(&self, other: &Self) -> bool {
        let same = |one: &Option<Arc<dyn Pair>>, other: &Option<Arc<dyn Pair>>| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&self.remove, &other.remove) && same(&self.add, &other.add)
    }
}

/// Mechanisms.
impl LossLaw {
    /// A view that is Gaussian, of which `μ` is known exactly or as a bound.
    pub(crate) fn of_gdp(gdp: Guarantee<Gdp>, neighbors: Neighbors) -> Self {
        let exact = matches!(gdp, Guarantee::Exact(_));
        let pair = GaussianPair { mu: Interval::new(gdp.value().mu()) };
        Self { exact, ..Self::of(neighbors, pair, None) }
    }

    fn of(neighbors: Neighbors, remove: impl Pair + 'static, add: Option<Arc<dyn Pair>>) -> Self {
        let release = Release { remove: Arc::new(remove), add, count: 1 };
        Self { neighbors, exact: true, releases: vec![release], only: None, fineness: Fineness::Width(WIDTH) }
    }

    /// Gaussian noise, exactly: `N(μ, 1)` against `N(0, 1)`. `neighbors` is the relation that the sensitivity
    /// was taken for.
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

    /// Randomized response, exactly: one person's label is another.
    #[must_use]
    pub fn randomized_response(mechanism: RandomizedResponse) -> Self {
        let atoms = atoms::randomized_response(mechanism.labels(), mechanism.gamma());
        Self::of(Neighbors::ReplaceOne, atoms, None)
    }

    /// A pair of laws on finitely many outcomes, both directions of it, exactly.
    ///
    /// # Errors
    /// [`Error::InvalidLaw`] unless entries are probabilities that sum to 1 within 1e-9, by which sum they
    /// are then divided; [`Error::InvalidParameter`] for laws of different lengths.
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

    fn sampled<B: Pair + Copy + 'static>(base: B, rate: f64) -> Result<Self, Error> {
        check_probability(rate)?;
        if rate == 0.0 {
            return Ok(Self::of(Neighbors::AddOrRemove, GaussianPair { mu: Interval::ZERO }, None));
        }
        let add = Sampled { base, rate, side: Side::Add };
        let remove = Sampled { base, rate, side: Side::Remove };
        Ok(Self::of(Neighbors::AddOrRemove, remove, Some(Arc::new(add))))
    }

    /// One of several releases, with the weights as probabilities; which one does not depend on the data and
    /// is seen: `δ(ε) = Σ w_i δ_i(ε)`, as exact as the parts.
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
    /// // A path that is drawn without looking at the data, and seen: mostly it carries little.
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

    /// As [`Self::seen_mixture`], where the observer is not told which release it was: a bound, since hiding
    /// it cannot raise the loss.
    ///
    /// # Errors
    /// As [`Self::seen_mixture`].
    pub fn hidden_mixture(parts: &[(f64, Self)]) -> Result<Self, Error> {
        Ok(Self { exact: false, ..Self::seen_mixture(parts)? })
    }

    /// A mechanism whose profile somebody else has proved: `delta(ε)` for `ε ≥ 0` is that of a pair of laws
    /// which dominates it, and `reversed(ε)` that of the same pair exchanged; both err by at most
    /// `relative_error`. The answers are bounds.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ relative_error ≤ 0.1`, and where a function is found, at one
    /// of a hundred points, to be no profile: outside `[0, 1]`, increasing, or not convex in `e^ε`.
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

    /// A mechanism, or a composition, of which only a bound on the Rényi divergence at every order is known:
    /// at every `ε ≥ 0` the best `δ` that follows. What is composed of such parts should have their bounds
    /// added first.
    #[must_use]
    pub fn from_renyi(
        curve: impl Fn(Order) -> UpperBound<f64> + Send + Sync + 'static,
        neighbors: Neighbors,
    ) -> Self {
        Self { exact: false, ..Self::of(neighbors, FromRenyi::new(curve), None) }
    }
}

/// Composition.
impl LossLaw {
    /// As many releases as that, each free to depend on the outputs of the others.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for more than 10¹⁵ releases of one kind.
    pub fn times(mut self, count: u64) -> Result<Self, Error> {
        for release in &mut self.releases {
            release.count = release.count.saturating_mul(count);
            let allowed = release.count <= MOST_RELEASES;
            ensure(allowed, "the number of releases", "be at most 10^15", release.count as f64)?;
        }
        self.releases.retain(|release| release.count > 0);
        Ok(self)
    }

    /// All of these together, each free to depend on the outputs of the others. As fine as the finest.
    ///
    /// # Errors
    /// [`Error::MixedNeighbors`] for laws of different relations, or of different single directions; as
    /// [`Self::times`].
    pub fn compose(parts: &[Self]) -> Result<Self, Error> {
        let neighbors = parts.first().map_or(Neighbors::ReplaceOne, |part| part.neighbors);
        let only = common(parts, neighbors)?;
        let fineness = parts.iter().map(|part| part.fineness).reduce(Fineness::finer);
        let mut all = Self {
            neighbors,
            exact: parts.iter().all(|part| part.exact),
            releases: Vec::new(),
            only,
            fineness: fineness.unwrap_or(Fineness::Width(WIDTH)),
        };
        // Equal pairs are one pair, more often.
        let mut known = BTreeMap::new();
        for release in parts.iter().flat_map(|part| &part.releases) {
            let next = all.releases.len();
            let place = release.key().map_or(next, |key| *known.entry(key).or_insert(next));
            match all.releases.get_mut(place) {
                Some(same) => same.count = same.count.saturating_add(release.count),
                None => match all.releases.iter_mut().find(|other| other.is(release)) {
                    Some(same) => same.count = same.count.saturating_add(release.count),
                    None => all.releases.push(release.clone()),
                },
            }
        }
        all.times(1)
    }

    /// One direction alone. What it answers is a guarantee for that order of two data sets only.
    ///
    /// # Errors
    /// [`Error::MixedNeighbors`] where only the other direction is left.
    pub fn only(self, direction: Direction) -> Result<Self, Error> {
        match self.only {
            Some(other) if other != direction => Err(Error::MixedNeighbors),
            _ => Ok(Self { only: Some(direction), ..self }),
        }
    }

    /// With answers that are this wide in `ε`, times the smaller one of 1 and `ε`, where memory allows; 1e-4
    /// unless said otherwise.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the width is positive and finite.
    pub fn with_width(self, width: f64) -> Result<Self, Error> {
        ensure_positive("the width of an answer", width)?;
        Ok(Self { fineness: Fineness::Width(width), ..self })
    }

    /// On a grid of this step, whatever the width.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the step lies between 10^−9 and 100.
    pub fn with_step(self, step: f64) -> Result<Self, Error> {
        ensure((1e-9..=100.0).contains(&step), "the step of a grid", "lie between 10^-9 and 100", step)?;
        Ok(Self { fineness: Fineness::Step(step), ..self })
    }

    /// Which two data sets are compared.
    #[must_use]
    pub const fn neighbors(&self) -> Neighbors {
        self.neighbors
    }

    /// The `μ` of all of it and a lower end, where all of it is Gaussian.
    pub(crate) fn mu(&self) -> Option<(Guarantee<Gdp>, f64)> {
        let mut square = Interval::ZERO;
        for Release { remove, add, count } in &self.releases {
            let mu = remove.gaussian().filter(|_| add.is_none())?;
            square = square + Interval::count(*count) * mu * mu;
        }
        let mu = square.sqrt();
        let gdp = Gdp::new(mu.high()).ok()?;
        let lower = mu.low().clamp(0.0, mu.high());
        Some(if self.exact { (Exact::new(gdp).into(), lower) } else { (UpperBound::new(gdp).into(), 0.0) })
    }

    /// Whether the two directions differ.
    pub(super) fn is_two_sided(&self) -> bool {
        self.releases.iter().any(|release| release.add.is_some())
    }

    /// How many pairs differ.
    pub(crate) const fn kinds(&self) -> usize {
        self.releases.len()
    }

    /// Whether every pair is attained.
    pub(crate) const fn is_exact(&self) -> bool {
        self.exact
    }

    /// Ends with the grade of the law.
    pub(super) fn enclosed(&self, ends: Ends) -> Enclosed {
        Enclosed::new(ends, self.exact)
    }

    /// The directions, Gaussian releases made one.
    pub(super) fn chains(&self) -> Vec<Vec<(Arc<dyn Pair>, u64)>> {
        let two = self.is_two_sided();
        let directions: &[Direction] = match self.only {
            Some(Direction::Add) => &[Direction::Add],
            None if two => &[Direction::Remove, Direction::Add],
            _ => &[Direction::Remove],
        };
        directions.iter().map(|&direction| self.chain(direction)).collect()
    }

    pub(super) fn chain(&self, direction: Direction) -> Vec<(Arc<dyn Pair>, u64)> {
        let mut square = Interval::ZERO;
        let mut chain = Vec::new();
        for Release { remove, add, count } in &self.releases {
            let pair = if direction == Direction::Add { add.as_ref().unwrap_or(remove) } else { remove };
            match pair.gaussian() {
                Some(mu) => square = square + Interval::count(*count) * mu * mu,
                None => chain.push((Arc::clone(pair), *count)),
            }
        }
        if square.high() > 0.0 {
            chain.push((Arc::new(GaussianPair { mu: square.sqrt() }) as Arc<dyn Pair>, 1));
        }
        chain
    }
}

/// Answers.
impl LossLaw {
    /// Both ends of `δ` at `epsilon`, the larger one of the two directions.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    pub fn delta(&self, epsilon: f64) -> Result<Enclosed, Error> {
        check_epsilon(epsilon)?;
        Ok(self.ends(|chain| answers::delta(chain, epsilon, self.fineness)))
    }

    /// Both ends of the smallest `ε ≥ 0` whose `δ` is at most `delta`; infinite where the mass at infinity is
    /// larger.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Enclosed {
        self.ends(|chain| answers::epsilon(chain, delta.get(), self.fineness))
    }

    fn ends(&self, ask: impl Fn(&Chain) -> Ends) -> Enclosed {
        let ends = self.chains().iter().map(|chain| ask(chain)).reduce(Ends::max);
        Enclosed::new(ends.unwrap_or(Ends::NOTHING), self.exact)
    }
}

fn gaussian_pair(mechanism: Gaussian) -> GaussianPair {
    GaussianPair { mu: Interval::new(mechanism.sensitivity.get()) / Interval::new(mechanism.sigma.get()) }
}

/// The direction that laws of one relation have in common, `None` for both.
fn common<'a>(
    laws: impl IntoIterator<Item = &'a LossLaw>,
    neighbors: Neighbors,
) -> Result<Option<Direction>, Error> {
    let mut only = None;
    for law in laws {
        if law.neighbors != neighbors || law.only.is_some() && only.is_some() && law.only != only {
            return Err(Error::MixedNeighbors);
        }
        only = only.or(law.only);
    }
    Ok(only)
}

/// How wide an answer may be, in ε.
const WIDTH: f64 = 1e-4;
/// The most releases of one kind.
const MOST_RELEASES: u64 = 1_000_000_000_000_000;
