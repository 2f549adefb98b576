//! The options of a uniform walk: caps on contributions, and what becomes of the final token. Beyond a cap a
//! node still adds its noise, without data.

use super::guarantee::Visits;
use crate::walk::FinalToken;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Delta;
use std::collections::BTreeMap;

/// The limits on the contributions of a [`CompleteWalk`](super::CompleteWalk), and what becomes of its token.
///
/// The caps depend on the path alone, not on the data. A capped step adds the noise (or the random report) of
/// an ordinary one, so that the other nodes stay as well hidden as the accountants assume.
///
/// # Examples
/// ```
/// use ndp_algos::walk::FinalToken;
/// use ndp_algos::walk::complete::{CompleteOptions, CompleteWalk};
/// let options = CompleteOptions { final_token: FinalToken::Published, cap: Some(120), ..CompleteOptions::default() };
/// assert!(CompleteWalk::new(50, 5000)?.with_options(options).is_ok());
/// let none = CompleteOptions { cap: Some(0), ..CompleteOptions::default() };
/// assert!(CompleteWalk::new(50, 5000)?.with_options(none).is_err());
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompleteOptions {
    /// What becomes of the final token. It need not be masked, as every step of the walk adds noise.
    pub final_token: FinalToken,
    /// Each node contributes its data at most this number of times, on the first visits on which it may;
    /// `None` for no cap.
    pub cap: Option<usize>,
    /// A node contributes its data at most this number of times just after any given other node, and as often
    /// just before it. It draws the next hop before it decides whether to contribute. `None` for no cap.
    pub edge_uses: Option<usize>,
}

impl CompleteOptions {
    /// These options, after checking that no cap is 0 and the token is not masked.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        for (name, cap) in
            [("the cap on contributions", self.cap), ("the cap on the uses of an edge", self.edge_uses)]
        {
            ensure(cap != Some(0), name, "be at least 1", 0.0)?;
        }
        self.final_token.unmasked(
            "a uniform walk has no rule for masking the final token: every step adds noise, publish it as it is",
        )?;
        Ok(self)
    }

    /// Whether a cap may keep a node from contributing on a walk of `steps` steps.
    pub(crate) fn may_bind(&self, steps: usize) -> bool {
        self.cap.into_iter().chain(self.edge_uses).any(|cap| cap < steps)
    }

    /// A bound on the number of contributions of a node; without a cap it fails with probability at most
    /// `δ/10`.
    pub(crate) fn contributions_of_a_node(&self, delta: Delta) -> Result<Visits, ndp_dp::Error> {
        match self.cap {
            Some(cap) => Ok(Visits::Capped(cap as u64)),
            None => Ok(Visits::Quantile(Delta::new(delta.get() / 10.0)?)),
        }
    }

    /// For each step of a path, whether the holder contributes or only adds noise.
    pub(crate) fn contributions(&self, holders: &[usize]) -> Vec<bool> {
        if self.cap.is_none() && self.edge_uses.is_none() {
            return vec![true; holders.len()];
        }
        // Counters only for the nodes on the path, as there may be many others.
        let mut visited = holders.to_vec();
        visited.sort_unstable();
        visited.dedup();
        let mut made = vec![0; visited.len()];
        let mut after: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut before: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        (0..holders.len())
            .map(|step| {
                let holder = holders[step];
                let counter = visited.partition_point(|&node| node < holder);
                if self.cap.is_some_and(|cap| made[counter] >= cap) {
                    return false;
                }
                if let Some(cap) = self.edge_uses {
                    // A node needs no protection against itself.
                    let other = |node: usize| (node != holder).then_some((holder, node));
                    let previous = step.checked_sub(1).and_then(|s| other(holders[s]));
                    let next = holders.get(step + 1).and_then(|&node| other(node));
                    let spent = |uses: &BTreeMap<_, usize>, edge: Option<_>| {
                        edge.and_then(|edge| uses.get(&edge).copied()).unwrap_or(0) >= cap
                    };
                    if spent(&after, previous) || spent(&before, next) {
                        return false;
                    }
                    for (uses, edge) in [(&mut after, previous), (&mut before, next)] {
                        if let Some(edge) = edge {
                            *uses.entry(edge).or_insert(0) += 1;
                        }
                    }
                }
                made[counter] += 1;
                true
            })
            .collect()
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
            let caps = CompleteOptions { cap: Some(13), edge_uses: Some(3), ..CompleteOptions::default() };
            let contributions = caps.contributions(&path.holders);
            for u in 0..4 {
                let made = (0..200).filter(|&t| path.holders[t] == u && contributions[t]).count();
                assert!(0 < made && made <= 13);
                for v in (0..4).filter(|&v| v != u) {
                    let spotted = |offset: isize| {
                        (0..200usize)
                            .filter(|&t| path.holders[t] == u && contributions[t])
                            .filter_map(|t| t.checked_add_signed(offset))
                            .filter(|&t| t < 200 && path.holders[t] == v)
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
        let path = [0, 2, 0, 0];
        let visits = |visits: usize| CompleteOptions {
            cap: Some(visits),
            edge_uses: None,
            ..CompleteOptions::default()
        };
        let edges =
            |uses: usize| CompleteOptions { cap: None, edge_uses: Some(uses), ..CompleteOptions::default() };
        assert_eq!(CompleteOptions::default().contributions(&path), [true; 4]);
        assert_eq!(visits(1).contributions(&path), [true, true, false, false]);
        assert!(!CompleteOptions::default().may_bind(9) && !visits(9).may_bind(9));
        assert!(visits(8).may_bind(9) && edges(1).may_bind(9));
        for (options, refused) in
            [(visits(0), "the cap on contributions"), (edges(0), "the cap on the uses of an edge")]
        {
            let found = options.checked();
            assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused));
        }
        assert!(edges(1).checked().is_ok());
        Ok(())
    }
}
