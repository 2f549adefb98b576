//! Attacks on token transcripts: no guarantee is undercut, and exact ones are nearly met.

use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Error, LinearProtocol, Observer, Protocol};
use ndp_algos::walk::complete::realised::path_units;
use ndp_algos::walk::complete::{CompleteOptions, CompleteSum, CompleteWalk};
use ndp_algos::walk::ring::{Placement, RingSum};
use ndp_algos::walk::{Bounds, FinalToken, OnPath, TokenNoise};
use ndp_dp::{Delta, NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::progress::Silent;
use ndp_numeric::gaussian_profile;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const PLAN: AuditPlan = AuditPlan { runs: 60_000, error_rate: 1e-4 };

/// The worst pair of several rings: the measured lower bound is below the guarantee and at least 0.9 of it.
#[test]
fn ring_sums_meet_their_exact_loss() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(21);
    let bounds = Bounds::new(0.0, 1.0)?;
    let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
    for (n, rounds, placement, final_token, coalition, source) in [
        (5, 3, Placement::Counter, FinalToken::Withheld, vec![3], 1),
        (4, 2, Placement::Counter, FinalToken::Masked, vec![2], 3),
        (6, 3, Placement::Distributed, FinalToken::Masked, vec![2], 1),
        (7, 2, Placement::Distributed, FinalToken::Withheld, vec![1, 4], 2),
        (4, 3, Placement::Distributed, FinalToken::Published, vec![2], 3),
    ] {
        let ring = RingSum::new(n, rounds, bounds, noise, placement)?.with_final_token(final_token)?;
        // The noise is described as it is drawn.
        let described = LinearProtocol::terms(&ring).noise.on;
        assert_eq!(described.contains("a share of"), placement == Placement::Distributed, "{described}");
        assert_eq!(described.contains("last token"), final_token == FinalToken::Masked, "{described}");
        let unit = ring.coalition_loss(&coalition)?.unit(source)?;
        // The noise that puts the loss where two normal laws are told apart best.
        let sigma = Sigma::new(unit.value().get().sqrt() / 1.5)?;
        let mu = unit.value().get().sqrt() / sigma.get();
        let scales = (Sensitivity::new(1.0)?, sigma);
        let measured = *audit(
            &ring,
            source,
            &Observer::coalition(&coalition),
            scales.1.multiplier(scales.0)?,
            PLAN,
            rng,
            &Silent,
        )?
        .measured_mu
        .value();
        assert!(measured <= mu, "{ring:?}: measured {measured} above {mu}");
        assert!(measured >= 0.9 * mu, "{ring:?}: measured {measured} far below {mu}");
    }
    Ok(())
}

/// The same walk, its final token handed to every node.
fn published(walk: CompleteWalk) -> Result<CompleteWalk, Error> {
    walk.with_options(CompleteOptions { final_token: FinalToken::Published, ..CompleteOptions::default() })
}

/// A sum along a given path: exact for whoever knows the path.
#[test]
fn complete_sums_meet_the_exact_loss_of_their_path() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(22);
    let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
    for (walk, final_token) in [
        (CompleteWalk::new(4, 24)?, FinalToken::Withheld),
        (published(CompleteWalk::new(6, 40)?)?, FinalToken::Published),
    ] {
        let path = walk.sample(rng);
        let units = path_units(&path, final_token)?.into_value();
        let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
        let protocol = OnPath { protocol: sum, path };
        let (v, u) =
            (0, (1..LinearProtocol::node_count(&protocol)).find(|&u| units[(u, 0)] > 0.5).unwrap_or(1));
        let sigma = Sigma::new(units[(u, v)].sqrt() / 1.5)?;
        let measured = *audit(
            &protocol,
            u,
            &Observer::node(v),
            sigma.multiplier(Sensitivity::new(1.0)?)?,
            PLAN,
            rng,
            &Silent,
        )?
        .measured_mu
        .value();
        assert!((0.9 * 1.5..=1.5).contains(&measured), "measured {measured} against 1.5");
    }
    Ok(())
}

/// Random paths, the observer told the path: the share of runs whose log-likelihood ratio exceeds ε bounds
/// δ(ε) from below. Never above the averaged guarantee.
#[test]
fn averaged_guarantee_covers_attacks_that_know_the_path() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(23);
    let (sigma, runs) = (2.0, 20_000);
    let noise = TokenNoise::gaussian(Sigma::new(sigma)?);
    for walk in [CompleteWalk::new(4, 20)?, published(CompleteWalk::new(4, 20)?)?] {
        let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
        for epsilon in [0.5f64, 1.5] {
            let mut divergence = 0.0;
            for _ in 0..runs {
                // Node 1 contributes 1 instead of 0; node 0 observes.
                let run = sum.run(|u, _| f64::from(u8::from(u == 1)), rng)?;
                let (mut start, mut before, mut ratio) = (0, 0.0, 0.0);
                let visits = (0..20).filter(|&step| run.path.holders[step] == 0);
                for step in visits.chain(run.published.then_some(20)) {
                    let m = (step - start) as f64;
                    let k = (start..step).filter(|&t| run.path.holders[t] == 1).count() as f64;
                    if m > 0.0 {
                        let shown: f64 = run.tokens[step] - before;
                        ratio += (k * shown - k * k / 2.0) / (m * sigma * sigma);
                    }
                    // Its own step, noise and contribution of 0 included, is known to the observer.
                    (start, before) = (step + 1, *run.tokens.get(step + 1).unwrap_or(&0.0));
                }
                divergence += (1.0 - (epsilon - ratio).exp()).max(0.0) / f64::from(runs);
            }
            let profile = sum.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(sigma)?)?;
            let claimed = profile.delta(epsilon)?.into_value().delta();
            // A mean of values in [0, 1]: Hoeffding at 1e-6.
            let error = (1e6f64.ln() / (2.0 * f64::from(runs))).sqrt();
            assert!(divergence - error <= claimed, "measured {divergence} above {claimed}");
            assert!(claimed < 20.0 * divergence.max(0.02), "{claimed} says little about {divergence}");
        }
    }
    Ok(())
}

/// The averaged guarantee against the exact profile of the random walk, its path known: the mean over all
/// paths of the Gaussian profile.
#[test]
fn averaged_guarantee_is_above_the_exact_profile() -> Result<(), Error> {
    let (n, steps, mu) = (3usize, 7usize, 0.8);
    let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
    for shown in [false, true] {
        let walk = CompleteWalk::new(n, steps)?;
        let walk = if shown { published(walk)? } else { walk };
        let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
        for delta in [1e-2, 1e-4, 1e-6] {
            let account = sum.account(&Observer::node(n - 1))?;
            let profile = account.profile(0, NoiseMultiplier::new(1.0 / mu)?)?;
            let epsilon = profile.epsilon(Delta::new(delta)?)?.into_value().epsilon();
            let mut exact = 0.0;
            for mut code in 0..n.pow(steps as u32) {
                let (mut m, mut k, mut unit) = (0.0, 0.0, 0.0);
                for _ in 0..steps {
                    let holder = code % n;
                    code /= n;
                    if holder == n - 1 {
                        unit += if m > 0.0 { k * k / m } else { 0.0 };
                        (m, k) = (0.0, 0.0);
                    } else {
                        m += 1.0;
                        k += f64::from(u8::from(holder == 0));
                    }
                }
                if shown && m > 0.0 {
                    unit += k * k / m;
                }
                exact +=
                    gaussian_profile::theta(epsilon, mu * f64::sqrt(unit)) / (n as f64).powi(steps as i32);
            }
            assert!(exact <= delta && exact > delta / 50.0, "{exact} against {delta}");
        }
    }
    Ok(())
}
