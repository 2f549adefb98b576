//! Caps on contributions: beyond them a node adds noise alone, and never leaves the noise out.

use super::Path;
use super::guarantee::Visits;
use crate::Error;
use ndp_dp::Delta;
use std::collections::BTreeMap;

/// How often a node may contribute its data.
///
/// Both caps depend on the path alone, not on the data. A capped step adds the noise (or the random report)
/// of an ordinary one, so that the other nodes stay as well hidden as the accountants assume.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::Caps;
/// assert_ne!(Caps::none().with_visits(20)?, Caps::none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    visits: Option<usize>,
    edge_uses: Option<usize>,
}

impl Caps {
    /// No caps.
    #[must_use]
    pub const fn none() -> Self {
        Self { visits: None, edge_uses: None }
    }

    /// Each node contributes its data on its first `visits` visits only.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for 0.
    pub fn with_visits(self, visits: usize) -> Result<Self, Error> {
        at_least_one("the cap on contributions", visits)?;
        Ok(Self { visits: Some(visits), ..self })
    }

    /// A node contributes its data at most `uses` times just after any given other node, and at most `uses`
    /// times just before it. It draws the next hop before it decides whether to contribute.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for 0.
    pub fn with_edge_uses(self, uses: usize) -> Result<Self, Error> {
        at_least_one("the cap on the uses of an edge", uses)?;
        Ok(Self { edge_uses: Some(uses), ..self })
    }

    /// The cap on contributions.
    #[must_use]
    pub const fn visits(&self) -> Option<usize> {
        self.visits
    }

    /// The cap on the uses of an edge, in each direction.
    #[must_use]
    pub const fn edge_uses(&self) -> Option<usize> {
        self.edge_uses
    }

    /// Whether a cap may keep a node from contributing in a walk of `steps` steps.
    #[must_use]
    pub(crate) fn may_bind(&self, steps: usize) -> bool {
        self.visits.into_iter().chain(self.edge_uses).any(|cap| cap < steps)
    }

    /// How often a node contributes, at most; without a cap, but with probability `δ/10`.
    pub(crate) fn contributions_of_a_node(&self, delta: Delta) -> Result<Visits, ndp_dp::Error> {
        match self.visits {
            Some(cap) => Ok(Visits::Capped(cap as u64)),
            None => Ok(Visits::Quantile(Delta::new(delta.get() / 10.0)?)),
        }
    }

    /// For each step of `path`, which of its contributions the holder makes there (from 0), or `None` where
    /// it adds noise alone.
    #[must_use]
    pub fn contributions(&self, path: &Path) -> Vec<Option<usize>> {
        // Counters for the nodes of the path only: there may be many more.
        let mut visited = path.holders().to_vec();
        visited.sort_unstable();
        visited.dedup();
        let mut made = vec![0; visited.len()];
        let mut after: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut before: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        (0..path.step_count())
            .map(|step| {
                let holder = path.holder(step);
                let counter = visited.partition_point(|&node| (node as usize) < holder);
                if self.visits.is_some_and(|cap| made[counter] >= cap) {
                    return None;
                }
                if let Some(cap) = self.edge_uses {
                    // A node needs no protection against itself.
                    let other = |node: usize| (node != holder).then_some((holder, node));
                    let previous = step.checked_sub(1).and_then(|s| other(path.holder(s)));
                    let next = path.holders().get(step + 1).and_then(|&node| other(node as usize));
                    let spent = |uses: &BTreeMap<_, usize>, edge: Option<_>| {
                        edge.and_then(|edge| uses.get(&edge).copied()).unwrap_or(0) >= cap
                    };
                    if spent(&after, previous) || spent(&before, next) {
                        return None;
                    }
                    for (uses, edge) in [(&mut after, previous), (&mut before, next)] {
                        if let Some(edge) = edge {
                            *uses.entry(edge).or_insert(0) += 1;
                        }
                    }
                }
                made[counter] += 1;
                Some(made[counter] - 1)
            })
            .collect()
    }
}

fn at_least_one(name: &'static str, value: usize) -> Result<(), Error> {
    if value >= 1 {
        Ok(())
    } else {
        Err(Error::InvalidParameter { name, condition: "be at least 1", value: value as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::CompleteWalk;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn caps_hold_on_every_path() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        for _ in 0..20 {
            let path = CompleteWalk::new(4, 200)?.sample(rng);
            let caps = Caps::none().with_visits(13)?.with_edge_uses(3)?;
            let contributions = caps.contributions(&path);
            for u in 0..4 {
                let made: Vec<usize> =
                    (0..200).filter(|&t| path.holder(t) == u).filter_map(|t| contributions[t]).collect();
                assert!(made.len() <= 13 && made.iter().copied().eq(0..made.len()));
                for v in (0..4).filter(|&v| v != u) {
                    let spotted = |offset: isize| {
                        (0..200usize)
                            .filter(|&t| path.holder(t) == u && contributions[t].is_some())
                            .filter_map(|t| t.checked_add_signed(offset))
                            .filter(|&t| t < 200 && path.holder(t) == v)
                            .count()
                    };
                    assert!(spotted(-1) <= 3 && spotted(1) <= 3);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn without_caps_everybody_contributes() -> Result<(), Error> {
        let path = Path::from_holders(3, &[0, 2, 0, 0])?;
        assert_eq!(Caps::none().contributions(&path), [Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!(Caps::none().with_visits(1)?.contributions(&path), [Some(0), Some(0), None, None]);
        assert!(!Caps::none().may_bind(9) && !Caps::none().with_visits(9)?.may_bind(9));
        assert!(Caps::none().with_visits(8)?.may_bind(9) && Caps::none().with_edge_uses(1)?.may_bind(9));
        assert!(Caps::none().with_visits(0).is_err() && Caps::none().with_edge_uses(0).is_err());
        Ok(())
    }
}
