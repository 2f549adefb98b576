//! Whether a target is met, and the least noise that meets it.

use super::Account;
use super::search::{SMALLEST, smallest_noise};
use super::shares::{
    by_bound, mean, mean_from_below, of_each, only_pair, representatives, shares_used, tightest,
    tightest_by_loss,
};
use super::target::{Allowed, Check, LeastNoise, Target};
use crate::Error;
use crate::error::ensure;
use ndp_dp::{Grade, Guarantee, Measure, NoiseMultiplier, Verdict};
use ndp_numeric::rounding::Interval;

/// Whether the target is met at `noise` by what the observers of `accounts` learn.
///
/// # Errors
/// Those of the accounts; [`Error::InvalidParameter`] for a limit that is negative or NaN;
/// [`Error::NobodyLooked`] for a listed limit that no observer answers for; [`Error::InvalidParameter`] if the
/// limits are those of pairs and no pair has one.
pub fn check(
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    target: &Target,
) -> Result<Check, Error> {
    if let Allowed::Mean(allowed) = target.allowed {
        ensure(0.0 <= allowed, "the mean loss allowed", "be nonnegative", allowed)?;
        let kept = representatives(accounts);
        let means = of_each(accounts, &kept, |&(at, _)| mean(accounts[at].as_ref(), noise, target.measure))?;
        let exceeds = |mean: &Guarantee<f64>| mean.value().is_nan() || *mean.value() > allowed;
        let exceeding =
            means.iter().zip(&kept).filter(|(mean, _)| exceeds(mean)).map(|(_, kept)| kept.1).sum();
        let surely = |(mean, (at, _)): (&Guarantee<f64>, &(usize, usize))| -> Result<bool, Error> {
            Ok(exceeds(mean) && mean_from_below(accounts[*at].as_ref(), noise, target.measure)? > allowed)
        };
        let mut violating = 0;
        for pair in means.iter().zip(&kept) {
            if surely(pair)? {
                violating += pair.1.1;
            }
        }
        let verdict = match (violating, exceeding) {
            (0, 0) => Verdict::Met,
            (0, _) => Verdict::NotShown,
            _ => Verdict::Violated,
        };
        return Ok(Check { verdict, tightest: None, exceeding, violating });
    }
    target.require_answered(accounts)?;
    target.require_limits(accounts)?;
    let uses = shares_used(accounts, noise, target, true)?;
    let tightest = tightest(&uses).map(|used| used.pair(accounts, noise, target.measure)).transpose()?;
    let verdict = uses.iter().map(|used| used.verdict).max().unwrap_or(Verdict::Met);
    let pairs = |which: &dyn Fn(Verdict) -> bool| {
        uses.iter().filter(|used| which(used.verdict)).map(|used| used.pairs).sum()
    };
    let exceeding = pairs(&|verdict| verdict != Verdict::Met);
    let violating = pairs(&|verdict| verdict == Verdict::Violated);
    Ok(Check { verdict, tightest, exceeding, violating })
}

/// The least noise at which the observers of `accounts` keep the target.
///
/// Linear Gaussian protocols have a formula, the largest of `√unit / μ(f(u, v))`. For others, a search finds
/// the noise of one pair after another, beginning with the pair that uses the largest share of its limit. The
/// returned noise is checked for all pairs. The tightest pair is one whose loss at this noise is the largest
/// share of its limit, to a relative 1e-9.
///
/// # Errors
/// Those of the accounts; [`Error::InvalidParameter`] for a limit that is negative or NaN or that no noise
/// meets; [`Error::NoNoiseNeeded`] where the limits are kept even at noise `1e-150`; [`Error::NobodyLooked`]
/// as for [`check`].
pub fn least_noise(accounts: &[Box<dyn Account + '_>], target: &Target) -> Result<LeastNoise, Error> {
    if let Allowed::Mean(allowed) = target.allowed {
        return least_noise_of_mean(accounts, target.measure, allowed);
    }
    target.require_answered(accounts)?;
    let mut first = first_noise(target)?;
    let mut factor = 16.0;
    let mut noise: Option<NoiseMultiplier> = None;
    let mut digits = 1e-12;
    // Quick upper bounds choose the first pair, and at the noise that this pair needs the next one, until no
    // pair exceeds its limit.
    let mut before = None;
    let mut decided = false;
    // If one pair stands for all pairs, there is no search among pairs. If it gives no noise, the loop below
    // finds out why.
    if let Some((at, source, allowed)) = only_pair(accounts, target)?
        && let Ok(Some(needed)) = accounts[at].least_noise(source, target.measure, allowed)
    {
        (noise, before) = (Some(needed), Some((at, source)));
    }
    loop {
        let answered = by_bound(accounts, 0..accounts.len());
        let mut uses = shares_used(accounts, noise.unwrap_or(first), target, decided)?;
        let Some(mut most) = tightest(&uses) else {
            // At so much noise, `δ` alone may cover what is learned, so that every loss is 0.
            if let Some(noise) = noise {
                return nothing_lost(accounts, noise, target);
            }
            let Some(less) = less(first, &mut factor)? else { break };
            first = less;
            continue;
        };
        if let (Some(noise), Verdict::Met, true) = (noise, most.verdict, decided) {
            let by_loss = tightest_by_loss(&mut uses, accounts, noise, target.measure, before)?;
            // If a bound began to answer meanwhile, it answers for all pairs of its account.
            if by_bound(accounts, 0..accounts.len()) != answered {
                continue;
            }
            let Some(used) = by_loss.filter(|used| used.share != 0.0) else {
                return nothing_lost(accounts, noise, target);
            };
            if used.verdict == Verdict::Met {
                let pair = used.pair(accounts, noise, target.measure)?;
                let grade = Some(pair.loss.grade());
                return Ok(LeastNoise { noise, tightest: Some(pair), grade });
            }
            // A quick bound is below the loss that the account says, which must keep the limit, too.
            most = used;
        }
        let pair = Some((most.account, most.source));
        if !decided && before == pair {
            decided = true;
            continue;
        }
        before = pair;
        let account = &accounts[most.account];
        let needed = account.least_noise(most.source, target.measure, most.allowed)?;
        let needed = needed.map_or(0.0, NoiseMultiplier::get);
        let least = noise.map_or(0.0, NoiseMultiplier::get);
        // A quick bound may have chosen a pair that needs less noise than the one before; then use exact
        // losses.
        if !decided && needed <= least {
            decided = true;
            continue;
        }
        // A quick bound chose a pair that needs no noise at all: at a smaller one it will not.
        if needed == 0.0 && noise.is_none() {
            let Some(less) = less(first, &mut factor)? else { break };
            first = less;
            continue;
        }
        // If the search returns nearly the noise that just failed, rounding is to blame. Then the noise is
        // raised a little.
        noise = Some(NoiseMultiplier::new(needed.max(least * (1.0 + digits)))?);
        digits *= 4.0;
    }
    target.require_limits(accounts)?;
    Err(Error::NoNoiseNeeded)
}

/// The answer where no pair with a limit loses anything at this noise: its grade is the weakest of the
/// losses of all pairs with a limit.
fn nothing_lost(
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    target: &Target,
) -> Result<LeastNoise, Error> {
    let grade_of = |(at, _): (usize, usize)| -> Result<Option<Grade>, Error> {
        let account = &accounts[at];
        let observer = account.observer();
        let mut grade = None;
        for u in (0..account.node_count()).filter(|&u| !observer.contains(u)) {
            // A limit on the mean is one on all pairs.
            let is_limited =
                matches!(target.allowed, Allowed::Mean(_)) || target.of_pair(u, observer)? < f64::INFINITY;
            if is_limited {
                grade = grade.max(Some(account.profile(u, noise)?.loss(target.measure)?.grade()));
                if account.class().is_some() {
                    break;
                }
            }
        }
        Ok(grade)
    };
    let grades = representatives(accounts).into_iter().map(grade_of).collect::<Result<Vec<_>, Error>>()?;
    Ok(LeastNoise { noise, tightest: None, grade: grades.into_iter().flatten().max() })
}

/// A noise at which every pair with a loss uses some share of its limit, and an observer of one noisy release
/// uses all of it.
fn first_noise(target: &Target) -> Result<NoiseMultiplier, Error> {
    let first = match target.allowed {
        Allowed::Worst(allowed) => target.measure.largest_mu(allowed)?.mu().recip(),
        _ => 1.0,
    };
    Ok(NoiseMultiplier::new(if first.is_normal() { first } else { 1.0 })?)
}

/// A smaller noise to see whether any pair has a loss, by a factor that is squared each time; `None` at the
/// smallest.
fn less(noise: NoiseMultiplier, factor: &mut f64) -> Result<Option<NoiseMultiplier>, Error> {
    if noise.get() <= SMALLEST {
        return Ok(None);
    }
    let smaller = (noise.get() / *factor).max(SMALLEST);
    *factor *= *factor;
    Ok(Some(NoiseMultiplier::new(smaller)?))
}

fn least_noise_of_mean(
    accounts: &[Box<dyn Account + '_>],
    measure: Measure,
    allowed: f64,
) -> Result<LeastNoise, Error> {
    let kept = representatives(accounts);
    let means = |noise: NoiseMultiplier| {
        of_each(accounts, &kept, |&(at, _)| mean(accounts[at].as_ref(), noise, measure))
    };
    let largest = |noise: NoiseMultiplier| -> Result<f64, Error> {
        Ok(means(noise)?.into_iter().map(Guarantee::into_value).fold(0.0, f64::max))
    };
    ensure(0.0 < allowed && allowed.is_finite(), "the mean loss allowed", "be positive and finite", allowed)?;
    // As in `least_noise`, a loss may be 0 at noise 1 alone.
    let (mut some, mut factor) = (NoiseMultiplier::new(1.0)?, 16.0);
    while largest(some)? == 0.0 {
        some = less(some, &mut factor)?.ok_or(Error::NoNoiseNeeded)?;
    }
    let noise = match of_unit_means(accounts, measure, allowed)? {
        Some(noise) => noise,
        None => smallest_noise(allowed, largest)?,
    };
    let means = means(noise)?;
    let largest = means.iter().max_by(|a, b| a.value().total_cmp(b.value()));
    Ok(LeastNoise { noise, tightest: None, grade: largest.map(Guarantee::grade) })
}

/// `√(α mean / (2 allowed))` for the largest mean of the unit losses, rounded up; `None` unless the measure
/// is a Rényi loss and all losses follow from unit losses.
fn of_unit_means(
    accounts: &[Box<dyn Account + '_>],
    measure: Measure,
    allowed: f64,
) -> Result<Option<NoiseMultiplier>, Error> {
    let kept = representatives(accounts);
    let reports: Option<Vec<_>> = kept.iter().map(|&(at, _)| accounts[at].unit_losses()).collect();
    let (Some(reports), Measure::Renyi(order)) = (reports, measure) else { return Ok(None) };
    let mean = reports.iter().fold(0.0, |most: f64, report| most.max(*report.mean().value()));
    let square =
        Interval::new(order.get()) * Interval::new(mean) / Interval::new(2.0) / Interval::new(allowed);
    // The factor covers the rounding errors of the check of this noise.
    Ok(Some(NoiseMultiplier::new(square.sqrt().high() * (1.0 + 16.0 * f64::EPSILON))?))
}
