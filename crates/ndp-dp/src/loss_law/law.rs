//! [`LossLaw`]: which pairs dominate what was released, and how often.

mod mechanisms;

use super::answers::{self, Ends, Fineness};
use super::direction::Direction;
use super::enclosed::Enclosed;
use super::gaussian::GaussianPair;
use super::pair::Pair;
use super::plan::Chain;
use crate::error::{ensure, ensure_positive};
use crate::gaussian::check_epsilon;
use crate::neighbors::Neighbors;
use crate::{Delta, Error, Exact, Gdp, Guarantee, UpperBound};
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs that nothing tells apart are the same where they are the same in memory, in both directions.
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
