//! What several runs over the same data have cost every pair together.

use super::Account;
use crate::Error;
use ndp_dp::{Adaptivity, Ledger, Measure, NoiseMultiplier, Profile, Verdict};
use std::collections::BTreeMap;

/// A [`Ledger`] for each exposed node and each observer; by default with no run and no limit.
///
/// Observers are told apart by their members: a run observed by nodes 1 and 2 together is written down for these two together, and
/// says nothing about node 1 alone. Write down every observer that you want an answer for, in every run.
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Observer, PairLedgers, Protocol};
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_dp::{Adaptivity, Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(4)?), 3);
/// let account = gossip.account(&Observer::node(0))?;
/// let mut ledgers = PairLedgers::with_limit(Measure::Approx(Delta::new(1e-5)?), 2.5)?;
/// let noise = NoiseMultiplier::new(2.0)?;
/// assert!(ledgers.fits(account.as_ref(), noise, Adaptivity::Fixed)?);
/// ledgers.record("averaging", account.as_ref(), noise, Adaptivity::Fixed)?;
/// assert!(!ledgers.fits(account.as_ref(), noise, Adaptivity::Fixed)?);
/// assert_eq!(ledgers.verdict()?, Verdict::Met);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PairLedgers {
    limit: Option<(Measure, f64)>,
    pairs: BTreeMap<(usize, Vec<usize>), Ledger>,
}

impl PairLedgers {
    /// No run, and a limit for every pair.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidParameter`] unless `0 ≤ allowed ≤ ∞`.
    pub fn with_limit(measure: Measure, allowed: f64) -> Result<Self, Error> {
        Ledger::with_limit(measure, allowed)?;
        Ok(Self { limit: Some((measure, allowed)), pairs: BTreeMap::new() })
    }

    fn empty(&self) -> Result<Ledger, Error> {
        Ok(match self.limit {
            Some((measure, allowed)) => Ledger::with_limit(measure, allowed)?,
            None => Ledger::default(),
        })
    }

    /// Writes down, for the observer of `account` and every node outside it, a run at `noise`. All or nothing.
    ///
    /// # Errors
    /// As [`Ledger::record`]; those of the account.
    pub fn record(
        &mut self,
        name: &str,
        account: &dyn Account,
        noise: NoiseMultiplier,
        adaptivity: Adaptivity,
    ) -> Result<(), Error> {
        let mut changed = Vec::new();
        for (key, mut ledger, profile) in self.with(account, noise)? {
            ledger.record(name, profile, adaptivity)?;
            changed.push((key, ledger));
        }
        self.pairs.extend(changed);
        Ok(())
    }

    /// A filter: whether for every pair the run stays within the limit, asked before the run; see [`Ledger::fits`].
    ///
    /// # Errors
    /// As [`Ledger::fits`]; those of the account.
    pub fn fits(
        &self,
        account: &dyn Account,
        noise: NoiseMultiplier,
        adaptivity: Adaptivity,
    ) -> Result<bool, Error> {
        for (_, ledger, profile) in self.with(account, noise)? {
            if !ledger.fits(&profile, adaptivity)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The ledgers that a run touches, with what it adds.
    #[allow(clippy::type_complexity, reason = "a list of triples")]
    fn with(
        &self,
        account: &dyn Account,
        noise: NoiseMultiplier,
    ) -> Result<Vec<((usize, Vec<usize>), Ledger, Profile)>, Error> {
        let observer = account.observer();
        let sources = (0..account.node_count()).filter(|&u| !observer.contains(u));
        let touched = sources.map(|u| {
            let key = (u, observer.members().to_vec());
            let ledger = self.pairs.get(&key).cloned().map_or_else(|| self.empty(), Ok)?;
            Ok((key, ledger, account.profile(u, noise)?))
        });
        touched.collect()
    }

    /// The ledger of `u` towards the observer with these members (ascending); `None` before the first run.
    #[must_use]
    pub fn pair(&self, u: usize, members: &[usize]) -> Option<&Ledger> {
        self.pairs.get(&(u, members.to_vec()))
    }

    /// Exposed node, members of the observer, and their ledger.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, &[usize], &Ledger)> {
        self.pairs.iter().map(|((u, members), ledger)| (*u, members.as_slice(), ledger))
    }

    /// Whether all pairs stay within the limit.
    ///
    /// # Errors
    /// As [`Ledger::verdict`].
    pub fn verdict(&self) -> Result<Verdict, Error> {
        let mut worst = Verdict::Met;
        for ledger in self.pairs.values() {
            worst = worst.max(ledger.verdict()?);
        }
        Ok(worst)
    }
}
