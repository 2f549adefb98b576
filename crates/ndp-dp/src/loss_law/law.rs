//! [`LossLaw`]: which pairs dominate the releases, and how often each of them occurs.

mod mechanisms;

use super::answers::{self, Ends, Fineness};
use super::curve::largest;
use super::direction::Direction;
use super::enclosed::Enclosed;
use super::gaussian::GaussianPair;
use super::pair::Pair;
use super::plan::Chain;
use crate::error::{ensure, ensure_positive};
use crate::gaussian::check_epsilon;
use crate::neighbors::Neighbors;
use crate::{Delta, Error, Exact, Gdp, Guarantee, UpperBound, conversion};
use ndp_numeric::rounding::Interval;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The law of the privacy loss of one or many releases, enclosed from both sides; what it is and an example
/// are in the [module](super).
///
/// A law only describes the releases; each question chooses the grid that its answer needs. A law has one or
/// two directions. Each is composed on its own, and the answer is the larger one.
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
    /// Whether every pair is attained by its mechanism, and does not merely dominate it.
    exact: bool,
    releases: Vec<Release>,
    pub(super) only: Option<Direction>,
    pub(super) fineness: Fineness,
}

/// A release: its pair for each direction, and how often it occurs.
#[derive(Clone, Debug)]
struct Release {
    remove: Arc<dyn Pair>,
    /// `None` where both directions have the same law.
    add: Option<Arc<dyn Pair>>,
    count: u64,
}

impl Release {
    /// A key that is equal for releases with equal pairs, if the pairs have one.
    fn key(&self) -> Option<Vec<u64>> {
        let remove = self.remove.key()?;
        let add = self.add.as_ref().map_or(Some(Vec::new()), |add| add.key())?;
        Some([vec![remove.len() as u64], remove, add].concat())
    }

    /// Whether both releases have the same pairs in memory.
    fn is(&self, other: &Self) -> bool {
        let same = |one: &Option<Arc<dyn Pair>>, other: &Option<Arc<dyn Pair>>| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&self.remove, &other.remove) && same(&self.add, &other.add)
    }
}

/// Composition.
impl LossLaw {
    /// All releases of this law `count` times, where each release may be chosen after seeing the outputs of
    /// those before it.
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

    /// All releases of these laws together, where each may be chosen after seeing the outputs of those before
    /// it. The result is as fine as the finest part.
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
        // Releases with equal pairs are merged into one that occurs more often.
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

    /// One direction alone. Its answers are guarantees for that order of the two data sets only, and so no
    /// differential privacy; a profile of it is in both directions again.
    ///
    /// # Errors
    /// [`Error::MixedNeighbors`] if only the other direction is left.
    pub fn only(self, direction: Direction) -> Result<Self, Error> {
        match self.only {
            Some(other) if other != direction => Err(Error::MixedNeighbors),
            _ => Ok(Self { only: Some(direction), ..self }),
        }
    }

    /// The law in both directions, whichever [`Self::only`] left.
    pub(crate) fn in_both_directions(self) -> Self {
        Self { only: None, ..self }
    }

    /// The law with answers whose ends differ by about `width · min(1, ε)` in `ε`, as far as memory and the
    /// precision of declared functions allow; they may be wider for a `δ` below 1e-14. The default width is
    /// 1e-4.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the width is positive and finite.
    pub fn with_width(self, width: f64) -> Result<Self, Error> {
        ensure_positive("the width of an answer", width)?;
        Ok(Self { fineness: Fineness::Width(width), ..self })
    }

    /// The law on a grid of this step, whatever the width of the answers.
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

    /// `μ` of the composition and a lower end of it, if all releases are Gaussian.
    pub(crate) fn mu(&self) -> Option<(Guarantee<Gdp>, f64)> {
        let mut square = Interval::ZERO;
        for Release { remove, add, count } in &self.releases {
            let mu = remove.gaussian().filter(|_| add.is_none())?;
            square = square + Interval::count(*count) * mu * mu;
        }
        let mu = square.sqrt();
        let gdp = Gdp::new(mu.high()).ok()?;
        let lower = mu.low().clamp(0.0, mu.high());
        // Finite squares may have a sum above the largest float.
        Some(if self.exact && mu.high().is_finite() {
            (Exact::new(gdp).into(), lower)
        } else {
            (UpperBound::new(gdp).into(), 0.0)
        })
    }

    /// Whether the two directions differ.
    pub(super) fn is_two_sided(&self) -> bool {
        self.releases.iter().any(|release| release.add.is_some())
    }

    /// The number of different pairs.
    pub(crate) const fn kinds(&self) -> usize {
        self.releases.len()
    }

    /// Whether every pair is attained.
    pub(crate) const fn is_exact(&self) -> bool {
        self.exact
    }

    /// The same law for releases of which it is only known that its pairs dominate them.
    pub(crate) fn dominating(self) -> Self {
        Self { exact: false, ..self }
    }

    /// Ends with the grade of the law.
    pub(super) fn enclosed(&self, ends: Ends) -> Enclosed {
        Enclosed::new(ends, self.exact)
    }

    /// The composition in each direction, with all Gaussian releases merged into one.
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

    /// Both ends of the smallest `ε ≥ 0` whose `δ` is at most `delta`; infinite if the mass at infinity is
    /// larger than `delta`, or if no bound is known. Never above the `ε` at `δ = 0`, nor above what follows
    /// from the Rényi divergences where the grid of losses does not reach far enough.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Enclosed {
        let found = self.ends(|chain| {
            let ends = answers::epsilon(chain, delta.get(), self.fineness);
            Ends { upper: ends.upper.min(largest(chain).high()), ..ends }
        });
        if found.upper().is_finite() {
            return found;
        }
        let renyi = |order| self.rdp(order).unwrap_or(UpperBound::new(f64::INFINITY));
        let by_renyi = conversion::best_epsilon(renyi, delta).map(|best| best.approx_dp.epsilon());
        self.enclosed(Ends { lower: found.lower(), upper: by_renyi.into_value() })
    }

    pub(super) fn ends(&self, ask: impl Fn(&Chain) -> Ends) -> Enclosed {
        let ends = self.chains().iter().map(|chain| ask(chain)).reduce(Ends::max);
        Enclosed::new(ends.unwrap_or(Ends::NOTHING), self.exact)
    }
}

/// The only direction of some laws of one relation; `None` if all of them have both.
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

/// The default width of an answer, in `ε`.
const WIDTH: f64 = 1e-4;
/// The most releases of one kind.
const MOST_RELEASES: u64 = 1_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs without a key count as the same only if they are the same in memory, in both directions.
    #[test]
    fn releases_are_the_same_in_both_directions() {
        let pair = || Arc::new(GaussianPair { mu: Interval::ONE }) as Arc<dyn Pair>;
        let release = |remove: &Arc<dyn Pair>, add: Option<&Arc<dyn Pair>>| Release {
            remove: Arc::clone(remove),
            add: add.map(Arc::clone),
            count: 1,
        };
        let (one, other) = (pair(), pair());
        let both = release(&one, Some(&other));
        assert!(both.is(&release(&one, Some(&other))) && release(&one, None).is(&release(&one, None)));
        for different in [release(&one, None), release(&one, Some(&one)), release(&other, Some(&other))] {
            assert!(!both.is(&different) && !different.is(&both));
        }
    }
}
