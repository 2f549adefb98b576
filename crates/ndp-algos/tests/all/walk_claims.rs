//! Claims of the decentralization paper about token walks that are false: each counterexample with its
//! numbers.

use approx::assert_relative_eq;
use ndp_account::loss::exact_loss;
use ndp_account::{Error, LinearProtocol};
use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
use ndp_algos::walk::{Bounds, OnPath, TokenNoise};
use ndp_dp::{Delta, Gaussian, Gdp, Mechanism, Sensitivity, Sigma};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Proof of Theorem 3 composes over the contributions of `u`, each hidden behind the `m` noises of its cycle.
/// Two contributions in one cycle of `m = 2` add up before the noise: unit loss 2²/2 = 2, not 1/2 + 1/2.
#[test]
fn contributions_of_one_cycle_add_linearly() -> Result<(), Error> {
    let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
    let walk = CompleteWalk::new(3, 3)?;
    let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
    let on_path = OnPath { protocol: sum, path: walk.path(&[0, 0, 1])? };
    let truth = exact_loss(&on_path.coalition_view(&[1])?)?.loss.value().unit[0];
    let composed_over_contributions = 0.5 + 0.5;
    assert_relative_eq!(truth, 2.0, max_relative = 1e-12);
    assert!(truth > composed_over_contributions);
    Ok(())
}

/// The same proof lowers the loss of a contribution by subsampling, although it was counted because it took
/// place. n = 10, a cycle with a single foreign step, classic noise for (0.5, 1e-6): claimed 0.0629 at δ =
/// 1e-6, but the released value is the noisy contribution itself, whose δ there is 0.01472.
#[test]
fn subsampling_cannot_hide_a_contribution_that_is_counted() -> Result<(), Error> {
    let delta = Delta::new(1e-6)?;
    let sigma = Gaussian::classic(0.5, delta, Sensitivity::new(1.0)?)?.into_value().sigma;
    let claimed = (f64::exp_m1(0.5) / 10.0).ln_1p();
    assert_relative_eq!(claimed, 0.0629, max_relative = 1e-3);
    let truth = *Gdp::new(1.0 / sigma.get())?.delta(claimed)?.value();
    assert_relative_eq!(truth, 0.014_719_6, max_relative = 1e-5);
    assert!(truth > 1e4 * delta.get());
    Ok(())
}

/// Section 4.3: "holds even if colluders bias the next hop". Ten of a hundred users who always send the token
/// to node 0 make it contribute more than a thousand times in 10^4 steps on average, where Theorem 3 counts
/// 164 and forgives more with probability 1e-6.
#[test]
fn colluders_who_choose_the_next_hop_break_the_count() -> Result<(), Error> {
    let (n, colluders, steps) = (100, 10, 10_000);
    // `T/n + √(3 (T/n) ln(1/δ̂))`, the printed count.
    let counted = 100.0 + (3.0 * 100.0 * 1e6_f64.ln()).sqrt();
    assert_relative_eq!(counted, 164.379, max_relative = 1e-5);
    let rng = &mut ChaCha8Rng::seed_from_u64(31);
    let (mut holder, mut visits) = (rng.random_range(0..n), 0);
    for _ in 0..steps {
        visits += u64::from(holder == 0);
        holder = if holder >= n - colluders { 0 } else { rng.random_range(0..n) };
    }
    // The stationary share of node 0 is (1 + c)/(n + c); four standard deviations of a binomial count below
    // it.
    let mean = steps as f64 * 11.0 / 110.0;
    assert!(visits as f64 > mean - 4.0 * mean.sqrt() && visits as f64 > 5.0 * counted);
    Ok(())
}
