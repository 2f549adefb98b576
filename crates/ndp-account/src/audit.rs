//! Attacks on real transcripts: lower bounds on losses, which no guarantee may fall below.
//!
//! The view of a linear Gaussian protocol tells two inputs of a node apart best by one linear
//! statistic, the likelihood ratio: with rows `R` over the noises that the observer does not know and
//! mean shift `b`, it is `bᵀ (R Rᵀ)⁺ y` of the received values `y`. An
//! [`audit`] runs the protocol many times in each of two worlds, guesses the world from what
//! the observer received, and turns the two error counts into a lower bound on the Gaussian
//! parameter `μ` that holds with a stated probability, whatever the accountant says.

use crate::accountant::{Coverage, Observer, Said, Statement};
use crate::counter::Counter;
use crate::error::ensure;
use crate::{Error, Protocol};
use ndp_dp::{Estimate, Guarantee, NoiseMultiplier, Profile, UpperBound};
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
    /// Upper bound on the probability that the measured lower bound exceeds the truth.
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
/// assert!(!found.is_refuted() && (found.allowed.value() - 1.0).abs() < 1e-9);
/// // The view is Gaussian, so that this holds for every test.
/// assert_eq!(found.allowed_at, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// The largest `μ` that the attack may show if the account holds: the profile's `μ` if it is Gaussian,
    /// otherwise the largest that a test with the false positive rate [`Self::allowed_at`] shows under its
    /// `(ε, δ)` guarantees, which is infinite if they exclude none. The latter is no guarantee for other
    /// tests.
    pub allowed: Guarantee<f64>,
    /// The false positive rate for which `allowed` holds alone; `None` if it holds for all tests.
    pub allowed_at: Option<f64>,
    /// The measured lower bound on `μ`: holds with probability `1 - error_rate`.
    pub measured_mu: Estimate<f64>,
    /// Share of runs with the lower input that the attack took for the higher one.
    pub false_positives: f64,
    /// Share of runs with the higher input that the attack recognised.
    pub true_positives: f64,
    /// What the account's numbers are about.
    pub statement: Statement,
}

impl Audit {
    /// Whether the attack does better than the account allows. If the account holds, this has probability at
    /// most `error_rate`.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.measured_mu.value() > self.allowed.value()
    }
}

/// Runs `protocol` with the data of `u` at each end of their interval and all other data equal, measures how
/// well `observer` tells these two worlds apart, and compares that with the account.
///
/// Any test with error rates `α` and `β` on a `μ`-GDP view has `μ ≥ Φ⁻¹(1-α) - Φ⁻¹(β)`; both rates are
/// replaced by their Clopper-Pearson bounds at half the error rate. The threshold is chosen on separate runs,
/// a tenth of those counted. `progress` hears of the runs as they are done.
///
/// # Errors
/// Those of [`Protocol::account`] and [`Protocol::attack`]; [`Error::InvalidParameter`] for fewer than 10
/// or more than 10⁸ runs, an error rate outside `(0, 1)`, and when the attack's loss is 0;
/// [`Error::NotOffered`] for outsiders and tapped edges; [`Error::Cancelled`].
pub fn audit(
    protocol: &dyn Protocol,
    u: usize,
    observer: &Observer,
    noise: NoiseMultiplier,
    plan: AuditPlan,
    rng: &mut dyn Rng,
    progress: &dyn Progress,
) -> Result<Audit, Error> {
    let runs = 10..=MOST_RUNS;
    ensure(
        runs.contains(&plan.runs),
        "the number of runs",
        "be at least 10 and at most 10^8",
        plan.runs as f64,
    )?;
    if !observer.tapped.is_empty() {
        return Err(Error::NotOffered(
            "there is no attack on edges that are overheard, though they may have an account",
        ));
    }
    ensure(
        0.0 < plan.error_rate && plan.error_rate < 1.0,
        "the error rate",
        "lie in (0, 1)",
        plan.error_rate,
    )?;
    let attack = protocol.attack(u, observer, noise).map_err(|error| match error {
        Error::EmptyCoalition => {
            Error::NotOffered("there is no attack by an outsider, who may have an account")
        }
        error => error,
    })?;
    let account = protocol.account(observer)?;
    let profile = account.profile(u, noise)?;
    let statement = Statement::of(&[Said::by(account.as_ref())], &Coverage::Named { observers: 1 })?;
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
        allowed_at: profile.mu().is_none().then_some(false_rate),
        measured_mu: Estimate::new(measured.max(0.0)),
        statement,
        false_positives: false_count as f64 / plan.runs as f64,
        true_positives: true_count as f64 / plan.runs as f64,
    })
}

/// The largest number of runs in each of the two worlds, whose scores are kept.
const MOST_RUNS: usize = 100_000_000;

/// The number of runs between two reports of progress: a multiple of the number that attackers simulate at a
/// time.
const AT_ONCE: usize = 4096;

/// The largest `μ` that a test with this false positive rate can show if the profile holds.
///
/// For every `ε`, the true positive rate is at most `e^ε · rate + δ(ε)`.
fn allowed(profile: &Profile, rate: f64) -> Result<Guarantee<f64>, Error> {
    if let Some(gdp) = profile.mu() {
        return Ok(gdp.map(|gdp| gdp.mu()));
    }
    let mut most: f64 = 1.0;
    for k in 0..=12 {
        let epsilon = 0.1 * f64::from(k) * (1.0 + 0.25 * f64::from(k));
        most = most.min(epsilon.exp() * rate + profile.delta(epsilon)?.value().delta());
    }
    // The sum above has a few roundings.
    most *= 1.0 + 8.0 * f64::EPSILON;
    if most >= 1.0 {
        return Ok(UpperBound::new(f64::INFINITY).into());
    }
    // Quantiles have relative errors of some 1e-14, which may be far more than their difference.
    let (upper, lower) = (special::normal_quantile(most), special::normal_quantile(rate));
    let margin = 1e-13 * (upper.abs() + lower.abs());
    Ok(UpperBound::new((upper - lower).max(0.0) + margin).into())
}

/// The threshold at which the pilot runs show the largest `μ`.
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

/// [`binomial::clopper_pearson_upper`] with numbers of runs.
pub fn clopper_pearson_upper(count: usize, runs: usize, error: f64) -> Result<f64, Error> {
    Ok(binomial::clopper_pearson_upper(count as u64, runs as u64, error).map_err(ndp_dp::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Terms;
    use crate::accountant::{Account, Attacker, Uniform};
    use ndp_dp::{ApproxDp, Curve, Delta};
    use ndp_graph::progress::{Silent, Stop};
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    use std::ops::ControlFlow;
    use std::sync::Mutex;

    /// An attacker whose scores depend only on the number of the run.
    struct Scripted {
        gaussian: bool,
        score: fn(bool, usize) -> f64,
    }

    impl Protocol for Scripted {
        fn node_count(&self) -> usize {
            2
        }

        fn account_until<'a>(
            &'a self,
            observer: &Observer,
            _: &Stop,
        ) -> Result<Box<dyn Account + 'a>, Error> {
            Uniform::account(2, UpperBound::new(1.0).into(), observer, Terms::VALUES)
        }

        fn attack<'a>(
            &'a self,
            _: usize,
            _: &Observer,
            _: NoiseMultiplier,
        ) -> Result<Box<dyn Attacker + 'a>, Error> {
            Ok(Box::new(Self { ..*self }))
        }
    }

    impl Attacker for Scripted {
        fn scores(&self, higher: bool, runs: usize, _: &mut dyn Rng) -> Result<Vec<f64>, Error> {
            Ok((0..runs).map(|i| (self.score)(higher, i)).collect())
        }

        fn shown_mu(&self) -> Option<f64> {
            self.gaussian.then_some(1.0)
        }
    }

    fn run(scripted: &Scripted, plan: AuditPlan, progress: &dyn Progress) -> Result<Audit, Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        audit(scripted, 0, &Observer::node(1), NoiseMultiplier::new(1.0)?, plan, rng, progress)
    }

    /// All scores of a world are the same, so 1,000 runs have no errors. This shows error rates of at most `1
    /// - (e/2)^(1/1000)` each.
    #[test]
    fn worlds_that_never_mix_show_what_their_number_shows() -> Result<(), Error> {
        let plan = AuditPlan { runs: 1000, error_rate: 1e-3 };
        let rate = -((1e-3_f64 / 2.0).ln() / 1000.0).exp_m1();
        let expected = -2.0 * special::normal_quantile(rate);
        for gaussian in [true, false] {
            let found =
                run(&Scripted { gaussian, score: |high, _| if high { 12.0 } else { 10.0 } }, plan, &Silent)?;
            assert!((found.measured_mu.value() - expected).abs() < 1e-9);
            assert_eq!((found.false_positives, found.true_positives), (0.0, 1.0));
            assert!(found.is_refuted());
        }
        // One in ten of the lower world looks like the higher one.
        let mixed = Scripted { gaussian: true, score: |high, i| if high || i % 10 == 0 { 1.0 } else { 0.0 } };
        let found = run(&mixed, plan, &Silent)?;
        assert_eq!((found.false_positives, found.true_positives), (0.1, 1.0));
        // Worlds with the same scores show a `μ` of 0.
        let alike = run(&Scripted { gaussian: true, score: |_, i| (i % 2) as f64 }, plan, &Silent)?;
        assert_eq!(*alike.measured_mu.value(), 0.0);
        Ok(())
    }

    #[test]
    fn plans_are_checked_and_progress_is_whole() -> Result<(), Error> {
        let scripted = Scripted { gaussian: true, score: |high, _| f64::from(u8::from(high)) };
        for error_rate in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            let found = run(&scripted, AuditPlan { runs: 20, error_rate }, &Silent);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "the error rate", .. })));
        }
        let few = run(&scripted, AuditPlan { runs: 9, error_rate: 0.1 }, &Silent);
        assert!(matches!(few, Err(Error::InvalidParameter { name: "the number of runs", .. })));
        let seen = Mutex::new(Vec::new());
        let watch = |done, total| {
            seen.lock().unwrap().push((done, total));
            ControlFlow::Continue(())
        };
        run(&scripted, AuditPlan { runs: 10_000, error_rate: 0.1 }, &watch)?;
        // 1,000 and 10,000 runs in each world, 4,096 at a time.
        assert_eq!(seen.into_inner().unwrap(), (1..=8).map(|done| (done, 8)).collect::<Vec<_>>());
        Ok(())
    }

    /// Randomized response at this `ε`: exactly `max(0, (e^ε₀ - e^ε)/(1 + e^ε₀))`.
    struct Response(f64);

    impl Curve for Response {
        fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
            Ok(UpperBound::new(ApproxDp::new(self.0, delta.get())?).into())
        }

        fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
            let delta = (self.0.exp() - epsilon.exp()) / (1.0 + self.0.exp());
            Ok(UpperBound::new(ApproxDp::new(epsilon, delta.max(0.0))?).into())
        }
    }

    /// A test with a small false positive rate `r` has a power of `e^ε₀ r` at most, which is attained:
    /// `Φ⁻¹(e^ε₀ r) - Φ⁻¹(r)`, computed with 40 digits by mpmath.
    #[test]
    fn what_a_curve_allows_is_its_trade_off() -> Result<(), Error> {
        let epsilon = 0.1 * 3.0 * (1.0 + 0.25 * 3.0);
        let profile = Profile::of_curve(Response(epsilon), "a test");
        for (rate, truth) in [
            (0.001, 0.159_433_591_708_893_49),
            (0.002, 0.169_810_184_435_280_45),
            (0.003, 0.176_857_208_273_313_17),
            (0.005, 0.187_052_930_727_217_38),
            (0.007, 0.194_761_689_431_723_37),
            (0.01, 0.204_007_638_161_050_72),
            (0.013, 0.211_662_810_018_747_23),
            (0.02, 0.226_207_154_514_212_7),
            (0.03, 0.242_821_589_214_758_85),
            (0.05, 0.269_577_596_847_086_7),
        ] {
            let found = allowed(&profile, rate)?;
            let mu = *found.value();
            assert!(truth <= mu && mu <= truth * (1.0 + 1e-11), "{rate}: {mu} {truth}");
            assert_eq!(found.grade(), ndp_dp::Grade::UpperBound);
        }
        // Where hardly anything is learned, quantiles differ by less than their errors. At `ε = 0` the power
        // is at most the rate and `δ(0)`, about `ε₀/2`; `1 / (2 φ(Φ⁻¹(.01)))` is 18.7606.
        for epsilon in [1e-9, 1e-12, 1e-15, 1e-17] {
            let found = *allowed(&Profile::of_curve(Response(epsilon), "a test"), 0.01)?.value();
            assert!((18.76 * epsilon..18.77 * epsilon + 1e-12).contains(&found), "{epsilon}: {found}");
        }
        // If the guarantees exclude no test, the allowed `μ` is infinite.
        assert_eq!(*allowed(&Profile::of_curve(Response(9.0), "a test"), 0.5)?.value(), f64::INFINITY);
        Ok(())
    }

    /// Two thresholds are equally good: one has only false alarms, the other only misses. Both errors count
    /// alike, so the first candidate is kept.
    #[test]
    fn thresholds_weigh_both_errors_alike() -> Result<(), Error> {
        let scores = |parts: [(usize, f64); 2]| -> Vec<f64> {
            parts.into_iter().flat_map(|(count, score)| vec![score; count]).collect()
        };
        // Above 1: 16 false alarms of 64; above 2: 16 misses of 64.
        let (low, high) = (scores([(48, 1.0), (16, 2.0)]), scores([(16, 2.0), (48, 3.0)]));
        assert_eq!(best_threshold(low, high, 1e-3)?, 2.0);
        // Above 1 there are no errors.
        assert_eq!(best_threshold(vec![1.0; 64], vec![2.0; 64], 1e-3)?, 1.0);
        // Fewer misses for more false alarms: above 2 there are 8 of 64 misses and no false alarm, above 1
        // half of the others are false alarms.
        let (low, high) = (scores([(32, 1.0), (32, 2.0)]), scores([(8, 2.0), (56, 3.0)]));
        assert_eq!(best_threshold(low, high, 1e-3)?, 2.0);
        Ok(())
    }

    /// No other candidate shows more on the pilot runs, whichever error is the rarer one.
    #[test]
    fn the_threshold_is_the_best_of_the_candidates() -> Result<(), Error> {
        for power in [0.3, 1.0, 3.0] {
            for error_rate in [1e-6, 0.05, 0.4] {
                let low: Vec<f64> = (0..640).map(|k| (f64::from(k) / 640.0).powf(power)).collect();
                let high: Vec<f64> = low.iter().map(|x| x + 0.3).collect();
                let shown = |threshold: f64| -> Result<f64, Error> {
                    let above = |scores: &[f64]| scores.iter().filter(|x| **x > threshold).count();
                    let wrong = [above(&low), high.len() - above(&high)];
                    let [one, other] = wrong.map(|count| clopper_pearson_upper(count, 640, error_rate / 2.0));
                    Ok(-special::normal_quantile(one?) - special::normal_quantile(other?))
                };
                let best = shown(best_threshold(low.clone(), high.clone(), error_rate)?)?;
                for k in 1..64 {
                    for scores in [&low, &high] {
                        let other = shown(scores[10 * k])?;
                        assert!(other <= best + 1e-12, "{power}, {error_rate}: {other} {best}");
                    }
                }
            }
        }
        Ok(())
    }
}
