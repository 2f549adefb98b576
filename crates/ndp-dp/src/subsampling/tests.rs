use super::*;
use crate::error::refused;
use crate::{Sensitivity, Sigma, gaussian};
use approx::assert_relative_eq;
use proptest::prelude::*;

fn sampled_gaussian(rate: f64, mu: f64) -> PoissonGaussian {
    let (sensitivity, sigma) = (Sensitivity::new(mu).unwrap(), Sigma::new(1.0).unwrap());
    PoissonGaussian::new(Gaussian { sensitivity, sigma }, rate).unwrap()
}

fn rdp(rate: f64, mu: f64, alpha: f64) -> f64 {
    sampled_gaussian(rate, mu).rdp(Order::new(alpha).unwrap()).into_value()
}

#[test]
fn draws_match_50_digit_values() -> Result<(), Error> {
    let (ten, eleven) = (WithReplacement::new(99, 10)?, WithReplacement::new(100, 11)?);
    assert_relative_eq!(ten.inclusion(), 0.096_540_246_134_807_14, max_relative = 1e-14);
    assert_relative_eq!(eleven.inclusion(), 0.104_661_745_741_283_55, max_relative = 1e-14);
    assert_relative_eq!(ten.epsilon(0.5)?, 0.060_744_813_319_052_9, max_relative = 1e-14);
    assert_relative_eq!(ten.epsilon(0.475)?, 0.057_039_700_390_368_67, max_relative = 1e-14);
    Ok(())
}

#[test]
fn sampled_gaussian_matches_high_precision() {
    assert_relative_eq!(rdp(0.01, 0.5, 4.0), 5.715_580_737_173_408e-5, max_relative = 1e-11);
    assert_relative_eq!(rdp(0.1, 1.0, 8.0), 1.378_361_411_348_126_5, max_relative = 1e-12);
    assert_relative_eq!(rdp(0.25, 0.8, 2.0), 0.054_516_646_012_164_92, max_relative = 1e-12);
}

/// The value is the larger one of the divergences between `N(0, 1)` and the mixture in the two directions,
/// computed by the trapezoidal rule, which is exponentially accurate here.
#[test]
fn sampled_gaussian_covers_both_directions() {
    for (rate, mu) in [(0.1, 1.0), (0.3, 0.5), (0.02, 2.0)] {
        for alpha in [1.5, 2.0, 2.7, 3.0, 6.0] {
            let step = 0.01;
            let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let (mut there, mut back) = (0.0, 0.0);
            for i in -2500..4000 {
                let x = step * f64::from(i);
                let clean = density(x);
                // The ratio of the mixture to N(0, 1), computed directly, since the densities may underflow.
                let ratio = 1.0 - rate + rate * (mu * x - 0.5 * mu * mu).exp();
                there += clean * ratio.powf(alpha) * step;
                back += clean * ratio.powf(1.0 - alpha) * step;
            }
            let worst = f64::max(there, back).ln() / (alpha - 1.0);
            let bound = rdp(rate, mu, alpha);
            assert!(worst <= bound * (1.0 + 1e-9), "{rate} {mu} {alpha}: {worst} {bound}");
            assert_relative_eq!(worst, bound, max_relative = 1e-8);
        }
    }
}

/// Values of mpmath at 60 digits, by quadrature of `g`, for the law with the record against that without it,
/// and in the other direction. At order 5.3 of the third case, convexity of `(α − 1) D_α` alone would give a
/// hundred times the truth.
#[test]
fn fractional_orders_match_60_digits() -> Result<(), Error> {
    for (rate, mu, alpha, removed, added) in FRACTIONAL {
        let step = sampled_gaussian(rate, mu);
        let order = Order::new(alpha)?;
        for (found, truth) in
            [(step.rdp(order).into_value(), removed), (step.added(order).into_value(), added)]
        {
            assert!(truth * (1.0 - 1e-15) <= found, "{rate} {mu} {alpha}: {found} below {truth}");
            assert_relative_eq!(found, truth, max_relative = 1e-11);
        }
    }
    Ok(())
}

const FRACTIONAL: [(f64, f64, f64, f64, f64); 9] = [
    (0.01, 1.0, 5.3, 0.000_501_983_659_923_655_6, 0.000_397_666_443_797_063_5),
    (0.01, 1.0, 1.1, 9.241_471_084_686_96e-5, 8.987_642_159_201_012e-5),
    (0.001, 1.666_666_666_666_666_7, 5.3, 0.001_739_745_905_704_433, 3.128_786_301_472_311e-5),
    (0.1, 0.5, 2.7, 0.003_903_232_375_289_667, 0.003_490_340_680_484_716),
    (1e-6, 0.01, 3.5, 1.750_087_503_179_274_2e-16, 1.750_087_502_129_135_2e-16),
    (0.487, 1.795_332_136_445_242, 1.5, 1.059_507_774_962_110_5, 0.337_316_792_934_162_54),
    (0.01, 1.0, 40.5, 15.528_243_227_024_87, 0.001_979_570_375_856_176),
    (0.9, 3.0, 2.5, 11.074_399_394_758_604, 2.057_882_775_630_198),
    (0.02, 2.0, 1.001, 0.004_372_887_459_391_705, 0.002_916_088_496_602_077_5),
];

/// The divergence increases with the order, without a jump between sums and quadrature, and is never above
/// the bound by convexity.
#[test]
fn divergences_rise_without_a_seam() {
    for (rate, mu) in [(1e-9, 1e-6), (0.001, 2.0), (0.3, 0.1), (0.5, 20.0), (0.999, 4.0), (1e-3, 30.0)] {
        let mut last = 0.0;
        for k in 1..=400 {
            let alpha = 1.0 + 0.02 * f64::from(k) * (1.0 + 0.01 * f64::from(k));
            let here = rdp(rate, mu, alpha);
            assert!(here >= last * (1.0 - 1e-10), "{rate} {mu} {alpha}: {here} {last}");
            last = here;
        }
    }
}

/// Draws with replacement for the noisy sum of a database of zeros, except for one user. The exact laws are
/// mixtures of Gaussians, and the bound holds; for one draw it is an equality.
#[test]
fn draws_cover_the_exact_mixture() -> Result<(), Error> {
    let mu = 1.0;
    for (pool, draws) in [(3, 1), (5, 4), (10, 3)] {
        let sampling = WithReplacement::new(pool, draws)?;
        let window = BinomialWindow::new(draws, 1.0 / pool as f64, 1e-30)?;
        for base in [0.2, 1.0] {
            let group = |k: u64, epsilon| gaussian::delta(epsilon, mu * k as f64).map(Into::into);
            let bound = sampling.approx_dp(base, group)?.into_value();
            let step = 1e-3;
            let mut exact = 0.0;
            for i in -12_000..16_000 {
                let x = step * f64::from(i);
                let density = |shift: f64| (-0.5 * (x - shift) * (x - shift)).exp();
                let moved: f64 = window.iter().map(|(k, p)| p * density(mu * k as f64)).sum();
                let gap = moved - bound.epsilon().exp() * density(0.0);
                exact += gap.max(0.0) * step / (2.0 * std::f64::consts::PI).sqrt();
            }
            assert!(exact <= bound.delta() * (1.0 + 1e-5), "{exact} {}", bound.delta());
            if draws == 1 {
                assert_relative_eq!(exact, bound.delta(), max_relative = 1e-5);
            }
        }
    }
    Ok(())
}

#[test]
fn limits_are_right() -> Result<(), Error> {
    let leak = ApproxDp::new(f64::INFINITY, 1.0)?;
    assert_eq!(*without_replacement(leak, 0, 10)?.value(), ApproxDp::new(0.0, 0.0)?);
    assert_eq!(*poisson(leak, 1.0)?.value(), leak);
    assert_eq!(poisson(leak, 0.5)?.value().epsilon(), f64::INFINITY);
    let strong = poisson(ApproxDp::new(1e4, 0.0)?, 1e-3)?.into_value();
    assert_relative_eq!(strong.epsilon(), 1e4 + 1e-3f64.ln(), max_relative = 1e-14);
    let one = WithReplacement::new(1, 3)?;
    assert_eq!((one.inclusion(), one.epsilon(2.0)?), (1.0, 2.0));
    assert_eq!(WithReplacement::new(1, 0)?.inclusion(), 0.0);
    assert_eq!(rdp(0.0, 1e200, 5.0), 0.0);
    assert_eq!(rdp(1.0, 2.0, 5.0), 10.0);
    assert_eq!(rdp(0.5, 1e200, 5.0), f64::INFINITY);
    assert_eq!(rdp(0.5, 1.0, 1e300), 5e299);
    // Without draws nothing is lost.
    let nobody = WithReplacement::new(5, 0)?.approx_dp(1.0, |_, _| Ok(UpperBound::new(1.0)))?.into_value();
    assert!(nobody.epsilon() == 0.0 && nobody.delta() < 1e-300);
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    let pure = ApproxDp::new(1.0, 0.0)?;
    assert_eq!(refused(without_replacement(pure, 3, 2)), Some("the size of the sample"));
    assert_eq!(refused(without_replacement(pure, 0, 0)), Some("the number of users"));
    for bad in [f64::NAN, -0.1, 1.1] {
        assert_eq!(refused(poisson(pure, bad)), Some("a probability"));
        let gaussian = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
        assert_eq!(refused(PoissonGaussian::new(gaussian, bad)), Some("a probability"));
    }
    assert_eq!(refused(WithReplacement::new(0, 3)), Some("the number of users to draw from"));
    let draws = WithReplacement::new(5, 3)?;
    let free = |_, _| Ok(UpperBound::new(0.0));
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(draws.epsilon(bad), Err(Error::InvalidEpsilon(_))));
        assert!(matches!(draws.approx_dp(bad, free), Err(Error::InvalidEpsilon(_))));
    }
    let many = WithReplacement::new(2, 1_000_000_000_000_000)?;
    assert_eq!(refused(many.approx_dp(1.0, free)), Some("the number of trials of a binomial window"));
    Ok(())
}

proptest! {
    #[test]
    fn amplified_losses_are_ordered(
        epsilon in 0.0..50.0_f64,
        delta in 0.0..1.0_f64,
        pool in 1_u64..1000,
        draws in 0_u64..2000,
    ) {
        let base = ApproxDp::new(epsilon, delta)?;
        let sample = draws.min(pool);
        let here = without_replacement(base, sample, pool)?.into_value();
        prop_assert!(here.epsilon() <= epsilon && here.delta() <= delta);
        if sample < pool {
            let more = without_replacement(base, sample + 1, pool)?.into_value();
            prop_assert!(here.epsilon() <= more.epsilon() && here.delta() <= more.delta());
        }
        let sampling = WithReplacement::new(pool, draws)?;
        let there = sampling.epsilon(epsilon)?;
        prop_assert!(there <= epsilon);
        prop_assert!(there <= WithReplacement::new(pool, draws + 1)?.epsilon(epsilon)?);
        // With replacement a given user is drawn with a smaller probability than in the same number of draws
        // without.
        prop_assert!(there <= here.epsilon() * (1.0 + 1e-12) || draws > pool);
    }

    #[test]
    fn sampled_gaussian_is_monotone(rate in 0.0..1.0_f64, mu in 0.01..3.0_f64, alpha in 1.01..80.0_f64) {
        let here = rdp(rate, mu, alpha);
        let slack = 1.0 + 1e-10;
        prop_assert!(here <= 0.5 * alpha * mu * mu * slack);
        prop_assert!(here <= rdp((1.1 * rate).min(1.0), mu, alpha) * slack);
        prop_assert!(here <= rdp(rate, 1.1 * mu, alpha) * slack);
        prop_assert!(here <= rdp(rate, mu, 1.1 * alpha) * slack);
    }
}

/// With one user, every draw is that user, however many draws there are.
#[test]
fn more_draws_from_one_user_than_floats_can_count() -> Result<(), Error> {
    for draws in [13_510_799_687_430_221, 38_562_277_970_948_129, 57_702_370_225_696_964] {
        let found = with_replacement(1, draws, 0.5, |_, _| Ok(UpperBound::new(0.0)))?.into_value();
        assert!(found.delta() < 1e-300 && found.epsilon() >= 0.5, "{found:?}");
    }
    Ok(())
}
