//! Privacy targets for pairs of nodes: whether they are met, and the least noise that meets them.
//!
//! A protocol is `(α, f)`-pairwise network differentially private when, for every pair, what `v` learns about
//! `u` has a Rényi divergence of order `α` of at most `f(u, v)` (Definition 5 of *Muffliato*); a constant `f` is
//! network differential privacy. Here the same is asked in the terms of any [`Measure`].
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Definition 5.

use super::search::smallest_noise;
use super::{Account, Observer};
use crate::Error;
use crate::error::ensure;
use ndp_dp::{Guarantee, Measure, Mechanism, NoiseMultiplier, Order, Profile, Verdict};
use ndp_numeric::rounding::Interval;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a target allows.
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Allowed, Target};
/// use ndp_dp::{Delta, Measure};
/// let target = Target::mean(Measure::Approx(Delta::new(1e-5)?), 0.5);
/// assert!(matches!(target.allowed, Allowed::Mean(loss) if loss == 0.5));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Allowed {
    /// No pair loses more.
    Worst(f64),
    /// Towards every observer the losses of all nodes outside it, added up and divided by the number of all nodes, are at most
    /// this: the mean that *Muffliato* bounds.
    Mean(f64),
    /// `u` loses at most `f(u, v)` towards `v`, alone or in a coalition, which must keep the limits of all its members; infinity where
    /// there is no limit. An outsider is no `v`.
    Pairs(Arc<dyn Fn(usize, usize) -> f64 + Send + Sync>),
    /// The same for the pairs `(u, v)` of a list; there is no limit for others. A limit that no observer answers for is an error.
    Listed(Arc<BTreeMap<(usize, usize), f64>>),
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worst(loss) => write!(f, "Worst({loss})"),
            Self::Mean(loss) => write!(f, "Mean({loss})"),
            Self::Pairs(_) => f.write_str("Pairs"),
            Self::Listed(limits) => write!(f, "Listed({} pairs)", limits.len()),
        }
    }
}

/// A privacy target: in which terms, and how much.
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Observer, Protocol, Target, check};
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_dp::{Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let graph = path_graph(5)?;
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 4);
/// let accounts = [gossip.account(&Observer::node(0))?];
/// // Neighbors may learn more than the others.
/// let near = graph.clone();
/// let allowed = move |u, v| if near.has_edge(u, v) { 3.0 } else { 1.5 };
/// let target = Target::pairs(Measure::Approx(Delta::new(1e-5)?), allowed);
/// assert_eq!(check(&accounts, NoiseMultiplier::new(3.0)?, &target)?.verdict, Verdict::Met);
/// assert_ne!(check(&accounts, NoiseMultiplier::new(1.0)?, &target)?.verdict, Verdict::Met);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Target {
    /// The terms of the losses.
    pub measure: Measure,
    /// What they may be.
    pub allowed: Allowed,
}

impl Target {
    /// Every pair at most `loss`.
    #[must_use]
    pub const fn worst(measure: Measure, loss: f64) -> Self {
        Self { measure, allowed: Allowed::Worst(loss) }
    }

    /// The mean towards every observer at most `loss`.
    #[must_use]
    pub const fn mean(measure: Measure, loss: f64) -> Self {
        Self { measure, allowed: Allowed::Mean(loss) }
    }

    /// `u` at most `f(u, v)` towards `v`.
    #[must_use]
    pub fn pairs(measure: Measure, f: impl Fn(usize, usize) -> f64 + Send + Sync + 'static) -> Self {
        Self { measure, allowed: Allowed::Pairs(Arc::new(f)) }
    }

    /// At most so much for each of these pairs `(u, v)`.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::Error;
    /// use ndp_algos::accountant::{Observer, Protocol, Target, check};
    /// use ndp_algos::gossip::SynchronousGossip;
    /// use ndp_dp::{Measure, NoiseMultiplier};
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(5)?), 4);
    /// let target = Target::listed(Measure::Gaussian, [((3, 0), 0.5), ((3, 1), 0.1)]);
    /// // Somebody must look at what node 1 learns.
    /// let found = check(&[gossip.account(&Observer::node(0))?], NoiseMultiplier::new(3.0)?, &target);
    /// assert!(matches!(found, Err(Error::NobodyLooked { exposed: 3, observer: 1 })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn listed(measure: Measure, limits: impl IntoIterator<Item = ((usize, usize), f64)>) -> Self {
        Self { measure, allowed: Allowed::Listed(Arc::new(limits.into_iter().collect())) }
    }

    /// A pair `(u, v)` with a limit for which none of the observers answers: none that `v` belongs to and `u` does not.
    #[must_use]
    pub fn unanswered<'a>(
        &self,
        observers: impl IntoIterator<Item = &'a Observer>,
    ) -> Option<(usize, usize)> {
        let Allowed::Listed(limits) = &self.allowed else { return None };
        let observers: Vec<&Observer> = observers.into_iter().collect();
        // Of whom each node is a member: most observers are single nodes.
        let mut with: BTreeMap<usize, Vec<&Observer>> = BTreeMap::new();
        for observer in observers {
            observer.members().iter().for_each(|&v| with.entry(v).or_default().push(observer));
        }
        let answered =
            |u: usize, v: usize| with.get(&v).is_some_and(|all| all.iter().any(|o| !o.contains(u)));
        let limited = limits.iter().filter(|(_, limit)| **limit != f64::INFINITY).map(|(pair, _)| *pair);
        limited.into_iter().find(|&(u, v)| !answered(u, v))
    }

    fn require_answered(&self, accounts: &[Box<dyn Account + '_>]) -> Result<(), Error> {
        match self.unanswered(accounts.iter().map(|account| account.observer())) {
            Some((exposed, observer)) => Err(Error::NobodyLooked { exposed, observer }),
            None => Ok(()),
        }
    }

    /// What the observer may learn about `u`: the least that it may learn of any member; for a mean there is no limit for pairs.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where it is negative or NaN.
    fn of_pair(&self, u: usize, observer: &Observer) -> Result<f64, Error> {
        let mut least = f64::INFINITY;
        let mut allow = |value: f64| {
            // Written so that NaN fails.
            let (name, condition) = ("the loss allowed to a pair", "be nonnegative");
            ensure((0.0..=f64::INFINITY).contains(&value), name, condition, value)?;
            least = least.min(value);
            Ok::<(), Error>(())
        };
        match &self.allowed {
            Allowed::Worst(loss) => allow(*loss)?,
            Allowed::Mean(_) => {}
            Allowed::Pairs(f) => observer.members().iter().try_for_each(|&v| allow(f(u, v)))?,
            Allowed::Listed(limits) => {
                let limits = observer.members().iter().filter_map(|&v| limits.get(&(u, v)));
                limits.into_iter().try_for_each(|&limit| allow(limit))?;
            }
        }
        Ok(least)
    }
}

/// A source `u` and an observer `v` (for a coalition, its first member), and their loss.
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Observer, Protocol, Target, check};
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_dp::{Delta, Measure, NoiseMultiplier};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let found = check(&[gossip.account(&Observer::node(0))?], NoiseMultiplier::new(1.0)?, &target)?;
/// // Its only neighbor loses most to the end of a path.
/// assert!(found.tightest.is_some_and(|pair| (pair.source, pair.observer) == (1, 0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The exposed node `u`.
    pub source: usize,
    /// The observer `v`.
    pub observer: usize,
    /// The loss, in the terms of the target.
    pub loss: Guarantee<f64>,
    /// What the target allows, `f(u, v)`.
    pub allowed: f64,
}

/// The answer to: does the protocol meet the target at this noise?
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Observer, Protocol, Target, check};
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_dp::{Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let found = check(&[gossip.account(&Observer::node(0))?], NoiseMultiplier::new(1.0)?, &target)?;
/// // Two rounds reach the two nearest nodes.
/// assert_eq!((found.verdict, found.exceeding), (Verdict::Violated, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The answer.
    pub verdict: Verdict,
    /// The pair that uses up most of what it is allowed; `None` when no pair is limited or has a loss, and for means.
    pub tightest: Option<Pair>,
    /// Number of pairs (for means: observers) whose loss or its bound exceeds what is allowed.
    pub exceeding: usize,
}

/// The least noise for a target.
///
/// # Examples
/// ```
/// use ndp_algos::accountant::{Observer, Protocol, Target, least_noise};
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_dp::{Delta, Measure};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let least = least_noise(&[gossip.account(&Observer::node(0))?], &target)?;
/// // Its neighbor's noisy value reaches the end: what a Gaussian mechanism needs for (1, 1e-5).
/// assert!((least.noise.get() - 3.7304).abs() < 1e-3);
/// assert_eq!(least.tightest.map(|pair| pair.source), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeastNoise {
    /// The noise, in units of the sensitivity: verified to meet the target, and least up to the precision of the search.
    pub noise: NoiseMultiplier,
    /// The pair that needs it; `None` for means.
    pub tightest: Option<Pair>,
}

/// Whether the target is met at `noise` by what the observers of `accounts` learn.
///
/// # Errors
/// Those of the accounts; [`Error::InvalidParameter`] for a limit that is negative or NaN; [`Error::NobodyLooked`] for a listed limit
/// that no observer answers for.
pub fn check(
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    target: &Target,
) -> Result<Check, Error> {
    if let Allowed::Mean(allowed) = target.allowed {
        let kept = representatives(accounts);
        let means = kept.par_iter().map(|&(at, _)| mean(accounts[at].as_ref(), noise, target.measure));
        let means: Vec<f64> = means.collect::<Result<_, _>>()?;
        let exceeds = |mean: f64| mean.is_nan() || mean > allowed;
        let exceeding =
            means.iter().zip(&kept).filter(|(mean, _)| exceeds(**mean)).map(|(_, kept)| kept.1).sum();
        let verdict = if exceeding == 0 { Verdict::Met } else { Verdict::NotShown };
        return Ok(Check { verdict, tightest: None, exceeding });
    }
    target.require_answered(accounts)?;
    let uses = uses(accounts, noise, target, true)?;
    let tightest = tightest(&uses).map(|used| used.pair(accounts, noise, target.measure)).transpose()?;
    let verdict = uses.iter().map(|used| used.verdict).max().unwrap_or(Verdict::Met);
    let exceeding = uses.iter().filter(|used| used.verdict != Verdict::Met).map(|used| used.pairs).sum();
    Ok(Check { verdict, tightest, exceeding })
}

/// The least noise at which the target is met by what the observers of `accounts` learn.
///
/// Linear Gaussian protocols have a formula, the largest of `√unit / μ(f(u, v))`; others are searched pair by pair, beginning
/// with the pair that uses up most of what it is allowed. The noise returned was checked for all pairs.
///
/// # Errors
/// Those of the accounts; [`Error::InvalidParameter`] for a limit that is negative or NaN or that no noise meets, and where no
/// pair that has a loss is limited; [`Error::NobodyLooked`] as for [`check`].
pub fn least_noise(accounts: &[Box<dyn Account + '_>], target: &Target) -> Result<LeastNoise, Error> {
    if let Allowed::Mean(allowed) = target.allowed {
        return least_noise_of_mean(accounts, target.measure, allowed);
    }
    target.require_answered(accounts)?;
    // At this noise whoever learns anything uses up a share of what is allowed.
    let mut noise: Option<NoiseMultiplier> = None;
    let mut digits = 1e-12;
    loop {
        // The first round only looks for a pair to begin with.
        let uses = uses(accounts, noise.unwrap_or(NoiseMultiplier::new(1.0)?), target, noise.is_some())?;
        let Some(most) = tightest(&uses) else { break };
        if noise.is_some() && most.verdict == Verdict::Met {
            let noise = noise.unwrap_or(NoiseMultiplier::new(1.0)?);
            let tightest = Some(most.pair(accounts, noise, target.measure)?);
            return Ok(LeastNoise { noise, tightest });
        }
        let account = &accounts[most.account];
        let needed = account.least_noise(most.source, target.measure, most.allowed)?;
        let needed = needed.map_or(0.0, NoiseMultiplier::get);
        // A search that ends where it began, within rounding, is helped over the last digits.
        let before = noise.map_or(0.0, NoiseMultiplier::get);
        noise = Some(NoiseMultiplier::new(needed.max(before * (1.0 + digits)))?);
        digits *= 4.0;
    }
    let (name, condition) = ("the number of pairs with a loss and a limit", "be at least 1");
    Err(Error::InvalidParameter { name, condition, value: 0.0 })
}

fn least_noise_of_mean(
    accounts: &[Box<dyn Account + '_>],
    measure: Measure,
    allowed: f64,
) -> Result<LeastNoise, Error> {
    let kept = representatives(accounts);
    let largest = |noise: NoiseMultiplier| -> Result<f64, Error> {
        let means = kept.par_iter().map(|&(at, _)| mean(accounts[at].as_ref(), noise, measure));
        Ok(means.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(0.0, f64::max))
    };
    ensure(0.0 < allowed && allowed.is_finite(), "the mean loss allowed", "be positive and finite", allowed)?;
    ensure(
        !accounts.is_empty() && largest(NoiseMultiplier::new(1.0)?)? != 0.0,
        "the number of pairs with a loss and a limit",
        "be at least 1",
        0.0,
    )?;
    if let Some(noise) = of_unit_means(accounts, measure, allowed)? {
        return Ok(LeastNoise { noise, tightest: None });
    }
    Ok(LeastNoise { noise: smallest_noise(allowed, largest)?, tightest: None })
}

/// `√(α mean / (2 allowed))` for the largest mean of unit losses, rounded up: no search where all losses follow from them.
fn of_unit_means(
    accounts: &[Box<dyn Account + '_>],
    measure: Measure,
    allowed: f64,
) -> Result<Option<NoiseMultiplier>, Error> {
    let reports: Option<Vec<_>> = accounts.iter().map(|account| account.unit_losses()).collect();
    let (Some(reports), Measure::Renyi(order)) = (reports, measure) else { return Ok(None) };
    let mean = reports.iter().fold(0.0, |most: f64, report| most.max(*report.mean().value()));
    let square =
        Interval::new(order.get()) * Interval::new(mean) / Interval::new(2.0) / Interval::new(allowed);
    // Room for the roundings of whoever checks.
    Ok(Some(NoiseMultiplier::new(square.sqrt().high() * (1.0 + 16.0 * f64::EPSILON))?))
}

/// One of all accounts that have the same profiles, by index, and how many these are.
fn representatives(accounts: &[Box<dyn Account + '_>]) -> Vec<(usize, usize)> {
    let mut classes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (at, account) in accounts.iter().enumerate() {
        match account.class().map(|class| *classes.entry(class).or_insert(kept.len())) {
            Some(same) if same < kept.len() => kept[same].1 += 1,
            _ => kept.push((at, 1)),
        }
    }
    kept
}

/// `(1/n) Σ_{u outside} loss(u)`, rounded up.
fn mean(account: &dyn Account, noise: NoiseMultiplier, measure: Measure) -> Result<f64, Error> {
    let n = account.node_count();
    let mut sum = Interval::new(0.0);
    if let (Some(report), Measure::Renyi(order)) = (account.unit_losses(), measure) {
        // α/(2 σ²) times the mean of the unit losses, which is known better than its terms.
        let noise = Interval::new(noise.get());
        let local = Interval::new(order.get()) / Interval::new(2.0) / noise / noise;
        return Ok((local * Interval::new(*report.mean().value())).high());
    }
    let outside = (0..n).filter(|&u| !account.observer().contains(u));
    if let (Some(_), Some(u)) = (account.class(), outside.clone().next()) {
        let one = Interval::new(account.profile(u, noise)?.loss(measure)?.into_value());
        return Ok((one * Interval::count(outside.count() as u64) / Interval::count(n as u64)).high());
    }
    for u in outside {
        sum = sum + Interval::new(account.profile(u, noise)?.loss(measure)?.into_value());
    }
    Ok((sum / Interval::count(n as u64)).high())
}

/// How much of what it is allowed a pair uses up.
struct Used {
    account: usize,
    source: usize,
    allowed: f64,
    /// At most 1 where the limit is kept: of `μ` for Gaussian profiles, of the loss for others.
    share: f64,
    verdict: Verdict,
    /// For how many pairs it stands.
    pairs: usize,
}

impl Used {
    fn pair(
        &self,
        accounts: &[Box<dyn Account + '_>],
        noise: NoiseMultiplier,
        measure: Measure,
    ) -> Result<Pair, Error> {
        let account = &accounts[self.account];
        let loss = account.profile(self.source, noise)?.loss(measure)?;
        let observer = account.observer().members().first().copied().unwrap_or(usize::MAX);
        Ok(Pair { source: self.source, observer, loss, allowed: self.allowed })
    }
}

/// Every pair that is limited and has a loss; verdicts are final where they are `decided`.
fn uses(
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    target: &Target,
    decided: bool,
) -> Result<Vec<Used>, Error> {
    let worst = matches!(target.allowed, Allowed::Worst(_));
    let kept =
        if worst { representatives(accounts) } else { (0..accounts.len()).map(|at| (at, 1)).collect() };
    let of_account = |&(at, alike): &(usize, usize)| -> Result<Vec<Used>, Error> {
        let account = &accounts[at];
        let observer = account.observer();
        let outside: Vec<usize> = (0..account.node_count()).filter(|&u| !observer.contains(u)).collect();
        let count = if account.class().is_some() && worst { 1.min(outside.len()) } else { outside.len() };
        // Where one pair answers for all nodes, and one observer for all of its class.
        let pairs = alike * if count < outside.len() { outside.len() } else { 1 };
        // Targets take few values; the inverse of a Gaussian profile is worth keeping.
        let mut last = (f64::NAN, f64::NAN);
        let mut limits = Vec::with_capacity(count);
        for &u in &outside[..count] {
            let allowed = target.of_pair(u, observer)?;
            if allowed == f64::INFINITY {
                continue;
            }
            if allowed != last.0 {
                last = (allowed, target.measure.largest_mu(allowed)?.mu());
            }
            limits.push((u, last));
        }
        let of_pair = |&(source, limit): &(usize, (f64, f64))| -> Result<Option<Used>, Error> {
            let profile = account.profile(source, noise)?;
            let (share, verdict) = share(&profile, target.measure, limit, decided)?;
            Ok((share != 0.0).then_some(Used {
                account: at,
                source,
                allowed: limit.0,
                share,
                verdict,
                pairs,
            }))
        };
        // Gaussian profiles cost next to nothing.
        let used: Vec<Option<Used>> = if account.unit_losses().is_some() {
            limits.iter().map(of_pair).collect::<Result<_, _>>()?
        } else {
            limits.par_iter().map(of_pair).collect::<Result<_, _>>()?
        };
        Ok(used.into_iter().flatten().collect())
    };
    let all = kept.par_iter().map(of_account).collect::<Result<Vec<_>, Error>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// How much of what is allowed (a loss, and the `μ` with this loss) a profile uses up, and whether it stays within.
fn share(
    profile: &Profile,
    measure: Measure,
    (allowed, largest): (f64, f64),
    decided: bool,
) -> Result<(f64, Verdict), Error> {
    if let Some(mu) = profile.mu().map(|mu| mu.value().mu()) {
        // Far from the limit no digit of the loss itself decides.
        return Ok(match mu {
            0.0 => (0.0, Verdict::Met),
            _ if mu <= largest * (1.0 - 1e-9) => (mu / largest, Verdict::Met),
            _ => (mu / largest, profile.check(measure, allowed)?),
        });
    }
    if let (Measure::Approx(delta), true) = (measure, 0.0 < allowed) {
        // The best order of a Gaussian with this ε; any order that stays within decides.
        let order = Order::new(1.0 + (-2.0 * delta.get().ln()).sqrt() / largest)?;
        if let Ok(loss) = profile.renyi(order) {
            let loss = loss.into_value();
            let share = loss.epsilon(delta).into_value() / allowed;
            if loss.epsilon == 0.0 {
                return Ok((0.0, Verdict::Met));
            }
            if share <= 1.0 || !decided {
                return Ok((
                    share.max(f64::MIN_POSITIVE),
                    if share <= 1.0 { Verdict::Met } else { Verdict::NotShown },
                ));
            }
        }
    }
    let loss = profile.loss(measure)?.into_value();
    let share = if loss == 0.0 { 0.0 } else { loss / allowed };
    Ok((share, if loss <= allowed { Verdict::Met } else { Verdict::NotShown }))
}

/// The first of the pairs with the largest share; a pair that fails its limit before one that keeps it.
fn tightest(uses: &[Used]) -> Option<&Used> {
    let key = |used: &Used| (used.verdict != Verdict::Met, used.share);
    uses.iter().fold(None, |most: Option<&Used>, used| match most {
        Some(before) if key(used).partial_cmp(&key(before)).is_some_and(std::cmp::Ordering::is_le) => {
            Some(before)
        }
        _ => Some(used),
    })
}
