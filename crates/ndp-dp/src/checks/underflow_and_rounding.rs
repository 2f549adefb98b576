//! Values that earlier versions reported below the truth, because of underflow to 0, of rounding to the wrong
//! side, or because the requested number was returned instead of that of the sampler.

use crate::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
use crate::mixture::{Part, log_mean_exp};
use crate::{
    ApproxDp, Delta, Error, Gaussian, Gdp, Laplace, Mechanism, Order, RandomizedResponse, Rdp, RdpAccountant,
    Sensitivity, Sigma, UpperBound, composition, conversion, subsampling,
};

const SMALLEST: f64 = f64::from_bits(1);

/// At `ε = 10⁴` each of these is positive and below the smallest float.
#[test]
fn a_delta_that_underflows_is_the_smallest_float() -> Result<(), Error> {
    let order = Order::new(2.0)?;
    assert_eq!(conversion::mironov_delta(1.0, order, 1e4)?.into_value(), SMALLEST);
    assert_eq!(Rdp { order, epsilon: 1.0 }.delta(1e4)?.into_value(), SMALLEST);
    let best = conversion::best_delta(|order| UpperBound::new(1e-3 * order.get()), 1e4)?.into_value();
    assert_eq!(best.approx_dp.delta(), SMALLEST);
    let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
    let spent = RdpAccountant::default().compose(&release, 1).delta(1e4)?.into_value();
    assert_eq!(spent, SMALLEST);
    let parameters =
        FederatedParameters { users: 100, batch: 20, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: 1.5 };
    let run = FederatedDescent::new(parameters, ContractionFactor::strongly_convex(0.5, 0.0, 4.0)?)?;
    assert_eq!(run.all_models_delta(1e4)?.into_value(), SMALLEST);
    assert_eq!(run.theorem2_delta(1e4)?.into_value(), SMALLEST);
    assert_eq!(run.delta(1e4)?.into_value(), SMALLEST);
    assert_eq!(release.gdp().into_value().delta(1e4)?.into_value(), SMALLEST);
    // A loss that is 0 stays 0.
    assert_eq!(Gdp::new(0.0)?.delta(1.0)?.into_value(), 0.0);
    assert_eq!(Rdp { order, epsilon: 0.0 }.delta(1.0)?.into_value(), 0.0);
    Ok(())
}

/// With `L = 2^32 − 1` labels and `ε₀ = 1e-4`, rounding `γ` to nearest changes `1 − γ` by up to 0.5 %. The
/// mechanism then had an `ε₀` of 1.00131e-4.
#[test]
fn randomized_response_reports_the_epsilon_of_its_own_gamma() -> Result<(), Error> {
    for labels in [2, 3, 1000, u32::MAX] {
        for asked in [0.0, 1e-300, 1e-17, 1e-12, 1e-4, 0.5, 3.0, 40.0, 700.0] {
            let mechanism = RandomizedResponse::with_epsilon(labels, asked)?;
            let kept = mechanism.pure_epsilon().into_value();
            assert!(kept <= asked, "{labels} {asked}: {kept}");
            // 1 − γ is computed without rounding for γ ≥ 1/2, and ln(1 + x) ≥ x − x²/2.
            let x = f64::from(labels) * (1.0 - mechanism.gamma()) / mechanism.gamma();
            let least = if x < 1e-4 { x - x * x / 2.0 } else { libm::log1p(x) };
            assert!(kept >= least * (1.0 - 1e-15), "{labels} {asked}: {kept} {least}");
        }
    }
    let many = RandomizedResponse::with_epsilon(u32::MAX, 1e-4)?;
    assert!(many.pure_epsilon().into_value() < 1e-4 && many.pure_epsilon().into_value() > 0.99e-4);
    Ok(())
}

/// One randomized response of `ε` is `(E, δ)`-DP exactly if `E ≥ ln(e^ε − δ(1 + e^ε))`, which for a small `δ`
/// is about `ε − δ(1 + e^{−ε})`. Rounding must not make it smaller.
#[test]
fn optimal_composition_is_not_short_near_its_end() -> Result<(), Error> {
    for epsilon in [1e-8, 1e-3, 0.1, 1.0, 20.0] {
        let release = ApproxDp::new(epsilon, 0.0)?;
        for total in [1e-300, 1e-17, 1e-12, 1e-9, 1e-6] {
            let reached = composition::optimal(release, 1, Delta::new(total)?)?.map(UpperBound::into_value);
            let reached = reached.map_or(f64::INFINITY, ApproxDp::epsilon);
            // ln(1 − x) ≥ −x − x² for x ≤ 1/2.
            let x = total * (1.0 + libm::exp(-epsilon));
            if x < 0.1 * epsilon {
                assert!(reached >= epsilon - x - x * x, "{epsilon} {total}: {reached}");
                assert!(reached <= (epsilon - x) * (1.0 + 1e-14) + 1e-12 * x, "{epsilon} {total}: {reached}");
            }
        }
    }
    // Many responses: if δ is almost 0, the answer is the sum of all ε, where the divergence is 0.
    for (epsilon, count) in [(0.1, 7_u64), (0.3, 1000), (1e-3, 123_457)] {
        let release = ApproxDp::new(epsilon, 0.0)?;
        let reached =
            composition::optimal(release, count, Delta::new(SMALLEST)?)?.map(UpperBound::into_value);
        let reached = reached.map_or(f64::INFINITY, ApproxDp::epsilon);
        // An allowance of a few times the smallest float, for the rounding of an exponential and two
        // logarithms.
        assert!(composition::optimal_delta(release, count, reached)?.into_value() <= 16.0 * SMALLEST);
    }
    Ok(())
}

/// A part of loss 1 that is seen with probability 0.3 costs 0.3 as the order tends to 1. The mean whose
/// logarithm is taken is then so close to 1 that computing it directly would lose all accuracy.
#[test]
fn mixtures_keep_their_mean_next_to_order_one() -> Result<(), Error> {
    let parts = [Part { weight: 0.3, loss: 1.0 }, Part { weight: 0.7, loss: 0.0 }];
    for excess in [f64::EPSILON, 1e-15, 1e-12, 1e-9] {
        let loss = log_mean_exp(Order::new(1.0 + excess)?, &parts)?.into_value();
        assert!((0.3..0.3 + 1e-8).contains(&loss), "{excess}: {loss}");
    }
    Ok(())
}

/// Counts beyond 2^53 may not be floats, and the nearest float may be smaller.
#[test]
fn large_counts_are_rounded_up() -> Result<(), Error> {
    let count = (1_u64 << 53) + 1;
    let release = Laplace::new(Sensitivity::new(1.0)?, 1.0)?;
    let order = Order::new(2.0)?;
    let cost = release.rdp(order).into_value();
    let spent = RdpAccountant::on(&[order])?.compose(&release, count).spent().into_value()[0].epsilon;
    assert!(spent / cost >= (count + 1) as f64 * (1.0 - f64::EPSILON));
    assert!((Gdp::new(1.0)? * u64::MAX).mu() >= 4_294_967_296.0);
    assert!(
        composition::naive(&[(ApproxDp::new(1.0, 0.0)?, count)]).value().epsilon() >= 9_007_199_254_740_994.0
    );
    // Tiny parameters whose squares underflow.
    let tiny = Gdp::new(1e-200)? * 4;
    assert!(tiny.mu() >= 2e-200 && tiny.mu() < 2.1e-200);
    assert!(Gdp::new(1e-200)?.rdp(order).into_value() > 0.0);
    Ok(())
}

/// `q δ` and `ln(1 + q (e^ε − 1))` at `q = 1/3`, where rounding to nearest would round products down.
#[test]
fn subsampling_rounds_up() -> Result<(), Error> {
    let third = subsampling::without_replacement(ApproxDp::new(0.1, 0.1)?, 1, 3)?.into_value();
    // 3 δ' ≥ δ, checked exactly in units of 2^-60.
    let units = |x: f64| (x * 2f64.powi(60)) as u128;
    assert!(3 * units(third.delta()) >= units(0.1));
    assert!(subsampling::poisson(ApproxDp::new(1.0, SMALLEST)?, 0.1)?.value().delta() >= SMALLEST);
    Ok(())
}
