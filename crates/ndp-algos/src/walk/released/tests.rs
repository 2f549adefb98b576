//! Sums with noise of any law, compared with laws of losses and with targets.

use super::*;
use crate::walk::complete::{CompleteOptions, CompleteWalk};
use crate::walk::ring::Placement;
use crate::walk::{FinalToken, LAWS};
use approx::assert_relative_eq;
use ndp_account::{LinearProtocol, Target, check, least_noise};
use ndp_dp::{Measure, Sigma, Verdict};

fn ring(n: usize, rounds: usize, law: &str) -> Result<ReleasedSum, Error> {
    let noise = TokenNoise::named(law, Sigma::new(1.0)?)?;
    let ring = RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
    Ok(ring.with_final_token(FinalToken::Masked)?.into())
}

fn walk(n: usize, steps: usize, law: &str) -> Result<CompleteSum, Error> {
    let noise = TokenNoise::named(law, Sigma::new(1.0)?)?;
    Ok(CompleteSum {
        walk: CompleteWalk::new(n, steps)?,
        bounds: Bounds::new(0.0, 1.0)?,
        noise,
        constant_data: false,
    })
}

/// Six nodes, each of which contributes at most `cap` times.
fn walk_under(cap: usize, steps: usize) -> Result<ReleasedSum, Error> {
    let plain = walk(6, steps, "laplace")?;
    let options = CompleteOptions { cap: Some(cap), ..CompleteOptions::default() };
    Ok(CompleteSum { walk: plain.walk.with_options(options)?, ..plain }.into())
}

fn profile(sum: &ReleasedSum, noise: f64) -> Result<Profile, Error> {
    sum.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(noise)?)
}

/// The privacy losses of one Laplace release of scale `b`, at the quantiles in the middle of `points` equal
/// parts.
fn losses(b: f64, points: i32) -> Vec<f64> {
    let quantile = |p: f64| if p < 0.5 { b * (2.0 * p).ln() } else { -b * (2.0 * (1.0 - p)).ln() };
    let at = |k: i32| quantile((f64::from(k) + 0.5) / f64::from(points));
    (0..points).map(at).map(|x| ((x - 1.0).abs() - x.abs()) / b).collect()
}

/// Ranges for which no law is computed have an account nevertheless.
#[test]
fn wide_ranges_of_whole_numbers_are_accounted_for() -> Result<(), Error> {
    let noise = TokenNoise::named("discrete-laplace", Sigma::new(1.0)?)?;
    let (delta, question) = (Delta::new(1e-5)?, NoiseMultiplier::new(20.0)?);
    let mut found = Vec::new();
    for high in [1000.0, 2e6, 4e9] {
        let (walk, bounds) = (CompleteWalk::new(20, 100)?, Bounds::new(0.0, high)?);
        let sum = ReleasedSum::from(CompleteSum { walk, bounds, noise, constant_data: false });
        let profile = sum.account(&Observer::node(0))?.profile(1, question)?;
        found.push(profile.epsilon(delta)?.value().epsilon());
        assert!(profile.delta(1.0)?.value().delta() <= 1.0);
    }
    // The law gives less than the largest number of releases, whose bound is the same for all wide ranges.
    assert!(found[0] < found[1] && (found[1] / found[2] - 1.0).abs() < 1e-6, "{found:?}");
    Ok(())
}

/// Several Laplace releases, compared with the exact law of their losses: for two of them, and for the number
/// that a walk makes.
#[test]
fn laplace_releases_cover_the_exact_law() -> Result<(), Error> {
    let b = 2.0;
    let noise = b * 2f64.sqrt();
    let one = losses(b, 1500);
    let share = 1.0 / one.len() as f64;
    for delta in [1e-2, 1e-4] {
        let epsilon = profile(&ring(5, 2, "laplace")?, noise)?.epsilon(Delta::new(delta)?)?;
        let epsilon = epsilon.into_value().epsilon();
        let mut exact = 0.0;
        for x in &one {
            for y in &one {
                exact += share * share * (1.0 - (epsilon - x - y).exp()).max(0.0);
            }
        }
        assert!(exact <= delta && epsilon <= 1.0 + 1e-9, "{exact} at {epsilon}");
        assert!(exact >= 0.01 * delta, "{epsilon} says little: {exact}");
    }
    // Two steps among two nodes: 0, 1 or 2 contributions, with probabilities 1/4, 1/2 and 1/4, all of them
    // seen.
    let sum = ReleasedSum::from(walk(2, 2, "laplace")?);
    let (epsilon, delta) = (profile(&sum, noise)?.epsilon(Delta::new(0.05)?)?.into_value().epsilon(), 0.05);
    let beyond = |loss: f64| (1.0 - (epsilon - loss).exp()).max(0.0);
    let once: f64 = one.iter().map(|&x| share * beyond(x)).sum();
    let twice: f64 =
        one.iter().flat_map(|&x| one.iter().map(move |&y| x + y)).map(|x| share * share * beyond(x)).sum();
    assert!(0.5 * once + 0.25 * twice <= delta);
    Ok(())
}

/// For every law in the list: the least noise of a target is its boundary, also if several contributions
/// compose.
#[test]
fn least_noise_is_the_boundary_for_every_law() -> Result<(), Error> {
    for law in LAWS {
        for sum in [ring(6, 1, law.name())?, ring(6, 7, law.name())?, walk(6, 60, law.name())?.into()] {
            let accounts = [sum.account(&Observer::node(0))?];
            let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
            let noise = least_noise(&accounts, &target)?.noise;
            assert_eq!(check(&accounts, noise, &target)?.verdict, Verdict::Met, "{}", law.name());
            let less = NoiseMultiplier::new(noise.get() / 1.001)?;
            assert_ne!(check(&accounts, less, &target)?.verdict, Verdict::Met, "{} {noise}", law.name());
        }
    }
    Ok(())
}

/// One release with Gaussian noise is the Gaussian mechanism, and seven of them cost more than all together
/// on the ring.
#[test]
fn gaussian_noise_is_no_better_than_its_own_account() -> Result<(), Error> {
    let delta = Delta::new(1e-6)?;
    let alone = profile(&ring(6, 1, "gaussian")?, 4.0)?.epsilon(delta)?.into_value().epsilon();
    assert_relative_eq!(alone, *ndp_dp::Gdp::new(0.25)?.epsilon(delta).value(), max_relative = 1e-9);
    let seven = profile(&ring(6, 7, "gaussian")?, 4.0)?.epsilon(delta)?.into_value().epsilon();
    let together = *ndp_dp::Gdp::new(0.25 * 7f64.sqrt())?.epsilon(delta).value();
    assert!(together < seven && seven < 2.0 * together, "{together} {seven}");
    Ok(())
}

#[test]
fn what_is_not_covered_is_refused() -> Result<(), Error> {
    let sum = ring(6, 2, "laplace")?;
    assert!(matches!(sum.account(&Observer::coalition(&[0, 3])), Err(Error::NoGuarantee(_))));
    // Shares of noise: two colluders face a quarter of its variance, and so four times the loss of one
    // release.
    let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
    let shared = RingSum::new(9, 1, Bounds::new(0.0, 1.0)?, noise, Placement::Distributed)?;
    let pair = Observer::coalition(&[0, 3]);
    assert!(shared.coalition_loss(&[0, 3])?.unit(1)?.value().get() > 3.9);
    assert!(matches!(ReleasedSum::from(shared).account(&pair), Err(Error::NoGuarantee(_))));
    assert!(ReleasedSum::from(shared).account(&Observer::node(3)).is_ok());
    let found = sum.account(&Observer::coalition(&[6]));
    assert!(matches!(found, Err(Error::NodeOutOfRange { node: 6, nodes: 6 })));
    // An observer who hears less than a node does is covered by what the node learns.
    let epsilon = |observer: Observer| -> Result<f64, Error> {
        let profile = sum.account(&observer)?.profile(1, NoiseMultiplier::new(1.0)?)?;
        Ok(profile.epsilon(Delta::new(1e-5)?)?.into_value().epsilon())
    };
    assert!(epsilon(Observer::outsider())? <= epsilon(Observer::node(0))?);
    assert!(
        matches!(profile(&sum, 1.0)?.epsilon(Delta::new(1e-9)?), Ok(found) if found.value().epsilon() > 1.0)
    );
    let own = sum.account(&Observer::node(0))?.profile(0, NoiseMultiplier::new(1.0)?);
    assert!(matches!(own, Err(Error::SourceIsObserver(0))));
    // Pairs of nodes of a walk may collude, and caps limit what a node reveals.
    let plain = walk(6, 200, "laplace")?;
    let walk = plain.walk.with_options(CompleteOptions { cap: Some(3), ..CompleteOptions::default() })?;
    let capped = ReleasedSum::from(CompleteSum {
        walk,
        bounds: plain.bounds,
        noise: plain.noise,
        constant_data: false,
    });
    let at = |sum: &ReleasedSum| -> Result<f64, Error> {
        Ok(profile(sum, 3.0)?.epsilon(Delta::new(1e-5)?)?.into_value().epsilon())
    };
    assert!(matches!(plain.account(&Observer::node(0)), Err(Error::NoGuarantee(_))));
    assert!(at(&capped)? < at(&plain.into())?);
    // With six visits on average, there are often fewer than eight: less than eight releases cost, and less
    // than without a cap.
    let eight = at(&walk_under(8, 36)?)?;
    let one = LossLaw::laplace(
        ndp_dp::Laplace::new(Sensitivity::new(1.0)?, 3.0 / 2f64.sqrt())?,
        ndp_dp::Neighbors::ReplaceOne,
    );
    let releases = one.times(8)?.epsilon(Delta::new(1e-5)?).upper();
    let all = at(&walk_under(36, 36)?)?;
    assert!(eight < 0.999 * releases && eight < 0.999 * all, "{eight} {releases} {all}");
    // `δ` follows from the same law.
    let found = profile(&walk_under(8, 36)?, 3.0)?.delta(eight)?.value().delta();
    assert!(found <= 1e-5 && found > 0.999e-5, "{found}");
    Ok(())
}
