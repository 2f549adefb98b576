use super::super::{CappedWalk, Geometric};
use super::*;
use crate::{Mechanism, Sigma};
use LastIterate::{Published, Withheld};
use approx::assert_relative_eq;

fn run(steps: u64, users: u64, colluders: u64, last_iterate: LastIterate) -> UncappedWalk {
    UncappedWalk::new(steps, users, colluders, last_iterate).unwrap()
}

fn total(run: UncappedWalk, theta: f64) -> f64 {
    run.total_log_mgf(theta, u64::MAX).unwrap().into_value()
}

fn observed(run: UncappedWalk, theta: f64) -> f64 {
    run.observed_log_mgf(theta, u64::MAX).unwrap().into_value()
}

#[test]
fn moments_match_50_digit_values() {
    let near = |value: f64, expected: f64| {
        // The value is rounded up by about 50 epsilons for each step.
        assert!(value >= expected && value <= expected * (1.0 + 2e-12), "{value} {expected}");
    };
    near(total(run(12, 6, 1, Withheld), 0.3), 0.322_304_156_481_875_54);
    near(total(run(12, 6, 1, Published), 0.3), 0.414_067_079_563_736_4);
    near(observed(run(6, 3, 1, Withheld), 0.5), 0.607_351_228_218_881_1);
    near(observed(run(12, 6, 2, Withheld), 0.3), 0.382_072_714_673_867_1);
    near(observed(run(12, 6, 2, Published), 0.3), 0.495_961_953_388_913_3);
}

/// Values stated beside the formula, to the digits given.
#[test]
fn decreasing_moments_match_known_values() -> Result<(), Error> {
    let run = run(60, 10, 1, Withheld);
    let value = |size: fn(i32) -> f64| -> Result<f64, Error> {
        let sizes: Vec<f64> = (1..=60).map(size).collect();
        Ok(run.decreasing_log_mgf(0.5, &sizes)?.into_value())
    };
    assert_relative_eq!(value(|_| 1.0)?, 1.456_09, max_relative = 1e-5);
    assert_relative_eq!(value(|_| 1.0)?, total(run, 0.5), max_relative = 1e-12);
    assert_relative_eq!(value(|t| 1.0 / f64::from(t).sqrt())?, 1.518_65, max_relative = 1e-5);
    assert_relative_eq!(value(|t| libm::pow(2.0, -f64::from(t)))?, 2.770_02, max_relative = 1e-5);
    Ok(())
}

#[test]
fn cuts_are_outward_and_vanish() -> Result<(), Error> {
    for last_iterate in [Withheld, Published] {
        let run = run(40, 6, 1, last_iterate);
        let exact = (total(run, 0.3), observed(run, 0.3));
        let mut last = (f64::INFINITY, f64::INFINITY);
        for longest in [2, 3, 6, 12, 24, 40, 41] {
            let cut =
                (*run.total_log_mgf(0.3, longest)?.value(), *run.observed_log_mgf(0.3, longest)?.value());
            assert!(exact.0 <= cut.0 + 1e-13 && cut.0 <= last.0 + 1e-13);
            assert!(exact.1 <= cut.1 + 1e-13 && cut.1 <= last.1 + 1e-13);
            last = cut;
        }
        assert_eq!(last, exact);
    }
    Ok(())
}

#[test]
fn values_stay_in_range_and_below_trivial_bounds() -> Result<(), Error> {
    for last_iterate in [Withheld, Published] {
        for theta in [1e-12, 1.0, 30.0, 600.0] {
            let run = run(3000, 5, 1, last_iterate);
            let (total, observed) = (total(run, theta), observed(run, theta));
            assert!(total.is_finite() && observed <= total * (1.0 + 1e-9) + 1e-11);
            // If every visit is seen at once, the cost is θ times a count with law Bin(T, 1/n).
            let alone = 3000.0 * libm::log1p(0.2 * libm::expm1(theta));
            assert!(total <= alone * (1.0 + 1e-9), "{total} {alone}");
        }
    }
    assert_eq!(total(run(5, 3, 1, Withheld), 601.0), f64::INFINITY);
    assert_eq!(observed(run(5, 3, 1, Withheld), 1e300), f64::INFINITY);
    assert!(total(run(5, 3, 1, Withheld), 0.0) < 1e-13);
    Ok(())
}

/// A cap equal to `T` cannot bind, so the theorem with `φ` must lie above the exact recursion.
#[test]
fn the_capped_theorem_covers_every_run() -> Result<(), Error> {
    for (users, colluders) in [(2, 1), (3, 1), (5, 2), (10, 1)] {
        for theta in [0.05, 1.0, 5.0] {
            let log_phi = *Geometric::until_seen(users, colluders)?.log_phi(theta)?.value();
            for steps in [1, 4, 15] {
                let run = run(steps, users, colluders, Published);
                assert!(total(run, theta) <= steps as f64 * log_phi * (1.0 + 1e-12));
            }
        }
    }
    let step = NoisyStep::new(1.0, Sigma::new(4.0)?)?;
    let (order, run) = (Order::new(3.0)?, run(50, 100, 1, Withheld));
    let capped = *CappedWalk::new(50, step, 100, 1)?.rdp(order).value();
    let descent = run.descent(step, u64::MAX)?;
    assert!(*descent.rdp(order).value() <= capped);
    let moment = run.observed_log_mgf(step.theta(order), u64::MAX)?.into_value();
    assert_relative_eq!(moment / (order.get() - 1.0), descent.rdp(order).into_value(), max_relative = 1e-15);
    let longer = run.descent(step, 5)?;
    assert!(descent.rdp(order).value() <= longer.rdp(order).value());
    Ok(())
}

#[test]
fn bad_input_is_refused() {
    for (steps, users, colluders) in
        [(0, 5, 1), (5, 1, 1), (5, 5, 5), (5, 5, 0), (1_000_000_000_000, 5, 1), (5, 0, 0)]
    {
        assert!(matches!(
            UncappedWalk::new(steps, users, colluders, Withheld),
            Err(Error::InvalidParameter { .. })
        ));
        let (last_iterate, first_holder) = (Withheld, FirstHolder::Uniform);
        let run = UncappedWalk { steps, users, colluders, last_iterate, first_holder };
        let step = NoisyStep::new(1.0, Sigma::new(1.0).unwrap()).unwrap();
        assert!(matches!(run.descent(step, 2), Err(Error::InvalidParameter { .. })));
        assert!(matches!(
            run.decreasing_rdp(Order::new(2.0).unwrap(), step, &[1.0; 5]),
            Err(Error::InvalidParameter { .. })
        ));
    }
    let run = run(1_000_000, 5, 1, Withheld);
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(run.total_log_mgf(bad, 10), Err(Error::InvalidParameter { name: "theta", .. })));
        assert!(matches!(run.observed_log_mgf(bad, 10), Err(Error::InvalidParameter { name: "theta", .. })));
    }
    let step = NoisyStep::new(1.0, Sigma::new(1.0).unwrap()).unwrap();
    assert!(
        matches!(
            run.descent(step, 1),
            Err(Error::InvalidParameter { name: "the longest gap or segment", .. })
        ) && matches!(
            run.descent(step, u64::MAX),
            Err(Error::InvalidParameter { name: "the number of steps times the longest gap", .. })
        )
    );
    assert!(matches!(
        run.total_log_mgf(0.1, 1),
        Err(Error::InvalidParameter { name: "the longest gap or segment", .. })
    ));
    assert!(matches!(
        run.observed_log_mgf(0.1, 0),
        Err(Error::InvalidParameter { name: "the longest gap or segment", .. })
    ));
    // A million steps without a cut take 10^12 operations.
    assert!(matches!(
        run.total_log_mgf(0.1, u64::MAX),
        Err(Error::InvalidParameter { name: "the number of steps times the longest gap", .. })
    ));
    assert!(matches!(
        run.observed_log_mgf(0.1, u64::MAX),
        Err(Error::InvalidParameter { name: "the number of steps times the longest gap", .. })
    ));
    assert!(matches!(
        run.decreasing_log_mgf(0.1, &[1.0]),
        Err(Error::InvalidParameter { name: "the number of step sizes", .. })
    ));
    let short = UncappedWalk::new(2, 5, 1, Withheld).unwrap();
    assert!(matches!(
        short.decreasing_log_mgf(0.1, &[1.0, f64::NAN]),
        Err(Error::InvalidParameter { name: "a step size", .. })
    ));
    assert!(matches!(
        short.decreasing_log_mgf(0.1, &[1.0, 0.0]),
        Err(Error::InvalidParameter { name: "a step size", .. })
    ));
}
