//! Attacks on real transcripts: lower bounds that no guarantee may undercut.
//!
//! The view of a linear Gaussian protocol tells two inputs of a node apart best by one linear
//! statistic, the likelihood ratio: with rows `R` over the noises that the observer does not know and
//! mean shift `b`, it is `bᵀ (R Rᵀ)⁺ y` of the received values `y`. An
//! [`audit`] runs the protocol many times in each of two worlds, guesses the world from what
//! the observer received, and turns the two error counts into a lower bound on the Gaussian
//! parameter `μ` that holds with a stated probability, whatever the accountant says.

use crate::Terms;
use crate::accountant::Observer;
use crate::counter::Counter;
use crate::error::ensure;
use crate::{Error, Protocol};
use ndp_dp::{Estimate, Gdp, Guarantee, NoiseMultiplier, Profile, UpperBound};
use ndp_graph::progress::Progress;
use ndp_numeric::{binomial, special};
use rand::Rng;
use serde::Serialize;

/// How an audit is run.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_account::audit::{AuditPlan, audit};
/// use ndp_account::example::Gossip;
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::progress::Silent;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(2)?), 1);
/// // Too few runs are refused.
/// let plan = AuditPlan { runs: 5, error_rate: 1e-3 };
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// assert!(audit(&gossip, 0, &Observer::node(1), NoiseMultiplier::new(1.0)?, plan, rng, &Silent).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AuditPlan {
    /// Runs in each world that are counted.
    pub runs: usize,
    /// Probability that the measured lower bound exceeds the truth.
    pub error_rate: f64,
}

/// What an audit found.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_account::audit::{AuditPlan, audit};
/// use ndp_account::example::Gossip;
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::progress::Silent;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(2)?), 1);
/// let plan = AuditPlan { runs: 2000, error_rate: 1e-3 };
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let found = audit(&gossip, 0, &Observer::node(1), NoiseMultiplier::new(1.0)?, plan, rng, &Silent)?;
/// assert!(!found.is_refuted() && (found.allowed.value().mu() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// The `μ` that the account allows at the false positive rate of the attack: that of the profile where it
    /// is Gaussian, otherwise the largest that its `(ε, δ)` leave room for, infinite where they leave it all.
    pub allowed: Guarantee<Gdp>,
    /// The measured lower bound on `μ`: holds with probability `1 - error_rate`.
    pub measured_mu: Estimate<f64>,
    /// Share of runs with the lower input that were taken for the higher.
    pub false_positives: f64,
    /// Share of runs with the higher input that were recognised.
    pub true_positives: f64,
    /// What the account is about.
    pub terms: Terms,
}

impl Audit {
    /// Whether the attack does better than the account allows, which has probability `error_rate` at most if
    /// the account holds.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        *self.measured_mu.value() > self.allowed.value().mu()
    }
}

/// Runs `protocol` with the data of `u` at both ends of their interval, all others equal, measures how well
/// `observer` tells the two worlds apart, and sets it beside what the account says.
///
/// Any test with error rates `α` and `β` on a `μ`-GDP view has `μ ≥ Φ⁻¹(1-α) - Φ⁻¹(β)`; both rates are
/// replaced by their Clopper-Pearson bounds at half the error rate. The threshold is chosen on separate runs,
/// a tenth of those counted. `progress` hears of the runs as they are done.
///
/// # Errors
/// Those of [`Protocol::account`] and [`Protocol::attack`]; [`Error::InvalidParameter`] for fewer than 10
/// runs or an error rate outside `(0, 1)`, and when the attack's loss is 0; [`Error::Cancelled`].
pub fn audit(
    protocol: &dyn Protocol,
    u: usize,
    observer: &Observer,
    noise: NoiseMultiplier,
    plan: AuditPlan,
    rng: &mut dyn Rng,
    progress: &dyn Progress,
) -> Result<Audit, Error> {
    ensure(plan.runs >= 10, "the number of runs", "be at least 10", plan.runs as f64)?;
    ensure(
        0.0 < plan.error_rate && plan.error_rate < 1.0,
        "the error rate",
        "lie in (0, 1)",
        plan.error_rate,
    )?;
    let attack = protocol.attack(u, observer, noise)?;
    let account = protocol.account(observer)?;
    let (profile, terms) = (account.profile(u, noise)?, account.terms());
    let pilot = plan.runs.div_ceil(10);
    let pieces = 2 * (pilot.div_ceil(AT_ONCE) + plan.runs.div_ceil(AT_ONCE));
    let counter = Counter::new(progress, pieces as u64);
    let mut scores = |higher: bool, runs: usize| -> Result<Vec<f64>, Error> {
        let mut scores = Vec::with_capacity(runs);
        while scores.len() < runs {
            scores.extend(attack.scores(higher, AT_ONCE.min(runs - scores.len()), rng)?);
            counter.step()?;
        }
        Ok(scores)
    };
    let low = scores(false, pilot)?;
    let high = scores(true, pilot)?;
    let threshold = if attack.shown_mu().is_some() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        (mean(&low) + mean(&high)) / 2.0
    } else {
        best_threshold(low, high, plan.error_rate)?
    };
    let above = |values: Vec<f64>| values.iter().filter(|&&x| x > threshold).count();
    let false_count = above(scores(false, plan.runs)?);
    let true_count = above(scores(true, plan.runs)?);
    let false_rate = clopper_pearson_upper(false_count, plan.runs, plan.error_rate / 2.0)?;
    let miss_rate = clopper_pearson_upper(plan.runs - true_count, plan.runs, plan.error_rate / 2.0)?;
    let measured = -special::normal_quantile(false_rate) - special::normal_quantile(miss_rate);
    Ok(Audit {
        allowed: allowed(&profile, false_rate)?,
        measured_mu: Estimate::new(measured.max(0.0)),
        terms,
        false_positives: false_count as f64 / plan.runs as f64,
        true_positives: true_count as f64 / plan.runs as f64,
    })
}

/// Runs between two reports: a multiple of what attackers simulate at a time.
const AT_ONCE: usize = 4096;

/// The largest `μ` that a test with this false positive rate can show where the profile holds.
///
/// Every `ε` bounds the true positive rate by `e^ε · rate + δ(ε)`.
fn allowed(profile: &Profile, rate: f64) -> Result<Guarantee<Gdp>, Error> {
    if let Some(gdp) = profile.mu() {
        return Ok(gdp);
    }
    let mut most: f64 = 1.0;
    for k in 0..=12 {
        let epsilon = 0.1 * f64::from(k) * (1.0 + 0.25 * f64::from(k));
        most = most.min(epsilon.exp() * rate + profile.delta(epsilon)?.value().delta());
    }
    let mu = if most >= 1.0 {
        f64::INFINITY
    } else {
        special::normal_quantile(most) - special::normal_quantile(rate)
    };
    // Quantiles and the rate above are right to some parts in 1e14.
    Ok(UpperBound::new(Gdp::new(mu.max(0.0) * (1.0 + 1e-12))?).into())
}

/// The score above which pilot runs show the largest `μ`.
fn best_threshold(mut low: Vec<f64>, mut high: Vec<f64>, error_rate: f64) -> Result<f64, Error> {
    low.sort_by(f64::total_cmp);
    high.sort_by(f64::total_cmp);
    let mut candidates: Vec<f64> = (1..64).map(|k| high[k * high.len() / 64]).collect();
    candidates.extend((1..64).map(|k| low[k * low.len() / 64]));
    let mut best = (f64::NEG_INFINITY, candidates[0]);
    for threshold in candidates {
        let above = |sorted: &[f64]| sorted.len() - sorted.partition_point(|&x| x <= threshold);
        let false_rate = clopper_pearson_upper(above(&low), low.len(), error_rate / 2.0)?;
        let miss_rate = clopper_pearson_upper(high.len() - above(&high), high.len(), error_rate / 2.0)?;
        let shown = -special::normal_quantile(false_rate) - special::normal_quantile(miss_rate);
        if shown > best.0 {
            best = (shown, threshold);
        }
    }
    Ok(best.1)
}

/// [`binomial::clopper_pearson_upper`], for counts of runs.
pub fn clopper_pearson_upper(count: usize, runs: usize, error: f64) -> Result<f64, Error> {
    Ok(binomial::clopper_pearson_upper(count as u64, runs as u64, error).map_err(ndp_dp::Error::from)?)
}
