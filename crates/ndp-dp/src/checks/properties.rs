//! Properties that hold for every input: directions of rounding, the order of different bounds, independence
//! of the order of composition, and no NaN from any number.

use crate::calibration::smallest_sigma;
use crate::{
    ApproxDp, Delta, Error, Gaussian, Gdp, Guarantee, Measure, Mechanism, Order, Rdp, RdpAccountant,
    Sensitivity, Sigma, UpperBound, Zcdp, baselines, composition, conversion, gaussian, tails,
};
use ndp_numeric::{gaussian_profile, incomplete};
use proptest::prelude::*;

/// Positive numbers over many scales.
fn scale(low: i32, high: i32) -> impl Strategy<Value = f64> {
    (f64::from(low)..f64::from(high)).prop_map(|exponent| 10_f64.powf(exponent))
}

fn delta() -> impl Strategy<Value = Delta> {
    prop_oneof![scale(-300, -1), 0.1..0.999_f64].prop_filter_map("a delta", |delta| Delta::new(delta).ok())
}

/// An allowance for the rounding of a few operations.
const SLACK: f64 = 1.0 + 1e-11;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn profile_is_monotone(mu in scale(-6, 3), epsilon in prop_oneof![Just(0.0), scale(-6, 4)], factor in 1.0..3.0_f64) {
        let here = gaussian_profile::log_theta(epsilon, mu);
        prop_assert!(here <= 0.0);
        let tolerance = 1e-12 * (1.0 + here.abs());
        prop_assert!(gaussian_profile::log_theta(epsilon * factor, mu) <= here + tolerance);
        prop_assert!(gaussian_profile::log_theta(epsilon, mu * factor) >= here - tolerance);
        let both = gaussian_profile::theta(epsilon, mu) + gaussian_profile::one_minus_theta(epsilon, mu);
        prop_assert!((both - 1.0).abs() < 1e-13);
        prop_assert!((libm::exp(here) - gaussian_profile::theta(epsilon, mu)).abs() < 1e-13);
    }

    #[test]
    fn epsilon_of_the_profile_inverts_it(mu in scale(-5, 3), delta in delta()) {
        let epsilon = gaussian::epsilon(mu, delta)?.into_value();
        // Above 1/2 it is the complement that is compared, which is known better than the logarithm.
        let excess = |epsilon: f64| if delta.get() > 0.5 {
            1.0 - delta.get() - gaussian_profile::one_minus_theta(epsilon, mu)
        } else {
            gaussian_profile::log_theta(epsilon, mu) - libm::log(delta.get())
        };
        prop_assert!(excess(epsilon) <= 0.0);
        if epsilon > 0.0 {
            prop_assert!(excess(epsilon * (1.0 - 1e-12)) > libm::log(delta.get()) * 1e-12);
            let back = gaussian::mu(epsilon, delta)?;
            prop_assert!((back / mu - 1.0).abs() < 1e-9);
        }
        // The classic noise is never smaller than the exact one.
        if 0.0 < epsilon && epsilon < 1.0 {
            let sensitivity = Sensitivity::new(1.0)?;
            let classic = gaussian::sigma_classic(epsilon, delta, sensitivity)?;
            prop_assert!(Gaussian::within(epsilon, delta, sensitivity)?.sigma.get() <= classic.value().get() * SLACK);
        }
    }

    #[test]
    fn conversions_are_ordered(rho in scale(-8, 3), alpha in scale(-2, 4), delta in delta(), epsilon in scale(-3, 3)) {
        let order = Order::new(1.0 + alpha)?;
        let point = |epsilon| Rdp { order, epsilon };
        let optimal = point(rho).epsilon(delta).into_value();
        prop_assert!(0.0 <= optimal);
        let optimal = point(rho).delta(epsilon)?.into_value();
        let mironov = conversion::mironov_delta(rho, order, epsilon)?.into_value();
        prop_assert!(0.0 <= optimal && optimal <= mironov * SLACK && mironov <= 1.0);
        // A larger loss has larger bounds.
        prop_assert!(optimal <= point(rho * 1.1).delta(epsilon)?.into_value() * SLACK);
    }

    #[test]
    fn exact_accounts_stay_below_bounds(
        releases in prop::collection::vec((scale(-1, 3), 1_u64..200), 1..5),
        delta in prop_oneof![scale(-30, -1), 0.1..0.9_f64],
    ) {
        let delta = Delta::new(delta)?;
        let sensitivity = Sensitivity::new(1.0)?;
        let (mut renyi, mut exact) = (RdpAccountant::default(), Gdp::new(0.0)?);
        let mut backwards = (renyi.clone(), exact);
        let release = |sigma: f64| -> Result<Gaussian, Error> { Ok(Gaussian { sensitivity, sigma: Sigma::new(sigma)? }) };
        for &(sigma, count) in &releases {
            renyi = renyi.compose(&release(sigma)?, count);
            exact = exact + release(sigma)?.gdp().into_value() * count;
        }
        for &(sigma, count) in releases.iter().rev() {
            backwards.0 = backwards.0.compose(&release(sigma)?, count);
            backwards.1 = backwards.1 + release(sigma)?.gdp().into_value() * count;
        }
        let bound = renyi.epsilon(delta).into_value();
        let truth = exact.epsilon(delta).into_value();
        prop_assert!(truth <= bound * SLACK, "{truth} {bound}");
        // Neither the order of composition matters, nor whether a count is split into two.
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-11 * (1.0 + a.abs()) || a == b;
        prop_assert!(same(bound, backwards.0.epsilon(delta).into_value()));
        prop_assert!(same(truth, backwards.1.epsilon(delta).into_value()));
        // The search over all orders is at most the grid, and the closed form of concentrated privacy is at
        // least both.
        let gdp = exact;
        let searched = conversion::best_epsilon(|order| gdp.rdp(order).into(), delta).into_value().approx_dp.epsilon();
        prop_assert!(truth <= searched * SLACK && searched <= bound * (1.0 + 1e-8));
        let zcdp = Zcdp::from(gdp);
        let concentrated = zcdp.epsilon(delta).into_value();
        prop_assert!(truth <= concentrated * SLACK && concentrated <= zcdp.closed_epsilon(delta));
        // More releases cost more.
        let more = (exact + release(1.0)?.gdp().into_value()).epsilon(delta).into_value();
        prop_assert!(truth <= more * SLACK);
    }

    #[test]
    fn composition_rules_are_ordered(epsilon in scale(-4, 1), count in 1_u64..3000, total in scale(-12, -1)) {
        let total = Delta::new(total)?;
        let release = ApproxDp::new(epsilon, total.get() * 1e-6 / count as f64)?;
        let parts = [(release, count)];
        let best = composition::best(&parts, total)?.into_value().total.epsilon();
        let slack = Delta::new(total.get() * 0.99)?;
        let optimal = composition::optimal(release, count, total)?.unwrap().into_value().epsilon();
        prop_assert!(best <= optimal);
        for other in [
            composition::naive(&parts),
            composition::advanced(release, count, slack),
            composition::heterogeneous(&parts, slack),
        ] {
            prop_assert!(optimal <= other.value().epsilon() * SLACK);
        }
        // Optimal composition of (ε, δ) is not below the exact account of a Gaussian release with this (ε,
        // δ).
        let gaussian = Measure::Approx(Delta::new(release.delta())?).largest_mu(release.epsilon())? * count;
        prop_assert!(gaussian.epsilon(total).into_value() <= optimal * SLACK);
        // More releases or a smaller delta give a larger epsilon.
        let more = composition::optimal(release, count + 1, total)?.unwrap().into_value().epsilon();
        prop_assert!(optimal <= more * SLACK);
        let stricter = composition::optimal(release, count, slack)?.unwrap().into_value().epsilon();
        prop_assert!(optimal <= stricter * SLACK);
    }

    #[test]
    fn parts_may_come_in_any_order(parts in prop::collection::vec((scale(-3, 1), scale(-12, -4), 0_u64..50), 0..5)) {
        let parts: Vec<(ApproxDp, u64)> = parts
            .into_iter()
            .map(|(epsilon, delta, count)| Ok((ApproxDp::new(epsilon, delta)?, count)))
            .collect::<Result<_, Error>>()?;
        let reversed: Vec<_> = parts.iter().rev().copied().collect();
        let total = Delta::new(0.05)?;
        let (one, two) = (composition::best(&parts, total)?, composition::best(&reversed, total)?);
        let (one, two) = (one.value().total.epsilon(), two.value().total.epsilon());
        prop_assert!((one - two).abs() <= 1e-12 * (1.0 + one));
        prop_assert!(one <= composition::naive(&parts).value().epsilon() * SLACK);
    }

    #[test]
    fn sampling_amplifies(rate in 0.0..=1.0_f64, mu in scale(-3, 1), alpha in scale(-2, 2), step in 1.0..1.5_f64) {
        let order = Order::new(1.0 + alpha)?;
        let sampled = |rate: f64, mu: f64| -> Result<f64, Error> {
            Ok(baselines::SampledGaussian::new(rate, mu)?.rdp(order).into_value())
        };
        let here = sampled(rate, mu)?;
        prop_assert!(0.0 <= here && here <= Gdp::new(mu)?.rdp(order).into_value() * SLACK);
        prop_assert!(sampled(rate / step, mu)? <= here * SLACK + 1e-300);
        prop_assert!(sampled(rate, mu / step)? <= here * SLACK + 1e-300);
    }

    #[test]
    fn incomplete_functions_are_monotone_and_complementary(a in scale(-3, 7), b in scale(-3, 7), x in 0.0..=1.0_f64, z in -6.0..6.0_f64) {
        let near_mean = (a / (a + b) * (1.0 + z / (1.0 + a).sqrt())).clamp(0.0, 1.0);
        for x in [x, near_mean] {
            let (lower, upper) = (incomplete::log_beta_i(a, b, x), incomplete::log_beta_i_complement(a, b, x));
            prop_assert!(lower <= 0.0 && upper <= 0.0);
            prop_assert!((lower.exp() + upper.exp() - 1.0).abs() < 1e-12);
            prop_assert!(incomplete::log_beta_i(a, b, (x * 1.01).min(1.0)) >= lower - 1e-12 * (1.0 + lower.abs()));
        }
    }

    #[test]
    fn counts_are_ordered(trials in 0_u64..1_000_000, p in prop_oneof![scale(-8, 0), 0.0..=1.0_f64], delta in delta()) {
        let exact = *tails::n_exact(trials, p, delta)?.value();
        prop_assert!(ndp_numeric::binomial::log_tail_up(exact, trials, p)? <= libm::log(delta.get()));
        prop_assert!(exact <= *tails::n_exact(trials + 10, p, delta)?.value());
    }

    /// Any float, NaN and infinities included, gives an error or a number.
    #[test]
    fn no_input_gives_nan_or_panics(x in any::<f64>(), y in any::<f64>(), z in any::<f64>(), count in any::<u64>()) {
        let fine = |value: f64| !value.is_nan();
        prop_assert!(fine(gaussian_profile::theta(x, y)) && fine(gaussian_profile::log_theta(x, y)) && fine(gaussian_profile::one_minus_theta(x, y)));
        prop_assert!(gaussian::delta(x, y).is_ok_and(|d| fine(*d.value())) || x.is_nan() || y.is_nan() || x < 0.0 || y < 0.0 || x.is_infinite());
        let number = |result: Result<Guarantee<f64>, Error>| result.map_or(true, |value| fine(*value.value()));
        prop_assert!(number(gaussian::trade_off(x, y).map(Into::into)));
        let deltas = [Delta::new(x), Delta::new(x.abs().min(0.5)), Delta::new(1e-300), Delta::new(1.0 - 1e-16)];
        for delta in deltas.into_iter().flatten() {
            prop_assert!(number(gaussian::epsilon(y, delta)));
            prop_assert!(gaussian::mu(y, delta).map_or(true, fine));
            if let Ok(release) = ApproxDp::new(y, z) {
                let parts = [(release, count), (release, 1)];
                prop_assert!(fine(composition::naive(&parts).value().epsilon()));
                prop_assert!(fine(composition::advanced(release, count, delta).value().epsilon()));
                prop_assert!(fine(composition::heterogeneous(&parts, delta).value().epsilon()));
            }
            if let Ok(order) = Order::new(z) {
                let point = Rdp { order, epsilon: y };
                prop_assert!(fine(point.epsilon(delta).into_value()));
                prop_assert!(number(point.delta(x)));
            }
            if let Ok(zcdp) = Zcdp::new(y) {
                prop_assert!(fine(zcdp.epsilon(delta).into_value()));
            }
        }
        if let (Ok(sampled), Ok(order)) = (baselines::SampledGaussian::new(x.abs().fract(), y), Order::new(z.abs())) {
            prop_assert!(fine(sampled.rdp(order).into_value()));
        }
    }
}

/// Counts of 1e12, epsilons of 1e4 and deltas close to 0 and 1 give a limit within a moment.
#[test]
fn large_compositions_do_not_hang() -> Result<(), Error> {
    for epsilon in [1e-6, 1.0, 1e4] {
        for total in [1e-300, 1.0 - 1e-15] {
            let release = ApproxDp::new(epsilon, 0.0)?;
            let best =
                composition::best(&[(release, ndp_numeric::binomial::MAX_TRIALS)], Delta::new(total)?)?
                    .into_value();
            assert!(best.total.epsilon() <= 1e12 * epsilon * SLACK);
        }
    }
    Ok(())
}

#[test]
fn calibration_of_a_composed_release_is_tight() -> Result<(), Error> {
    let delta = Delta::new(1e-7)?;
    let account = |sigma: Sigma| {
        let release = Gaussian { sensitivity: Sensitivity::new(2.0)?, sigma };
        Ok::<_, Error>(RdpAccountant::default().compose(&release, 64).epsilon(delta))
    };
    let calibrated = smallest_sigma(1.5, account)?;
    assert_eq!(calibrated.reached, account(calibrated.parameter)?);
    let less = Sigma::new(calibrated.parameter.get() * (1.0 - 1e-9))?;
    assert!(account(less)?.into_value() > 1.5);
    let bound: UpperBound<f64> = calibrated.reached.into();
    assert!(*bound.value() <= 1.5);
    Ok(())
}
