//! Trade-off curves against closed forms, which come from the tests that attain each point.

use super::{gaussian, laplace, sampled};
use crate::loss_law::{Direction, Tradeoff};
use crate::{Gdp, Grade, LossLaw, Neighbors, RandomizedResponse};

/// `Φ(x)`.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Asserts that the two ends enclose the truth at a level, and are at most `width` apart.
fn check(curve: &Tradeoff, level: f64, truth: f64, width: f64) {
    let point = curve.at(level).unwrap();
    assert!(point.lower <= truth + 1e-13 && truth - 1e-13 <= point.upper, "{point:?} {truth}");
    assert!(point.upper - point.lower <= width, "{point:?} {truth}");
}

/// Asserts that both ends are convex and decreasing, from at most 1 to 0, and below `1 − a`.
fn check_shape(curve: &Tradeoff) {
    let points = curve.points(257).unwrap();
    for end in [|p: &crate::loss_law::TradeoffPoint| p.lower, |p: &crate::loss_law::TradeoffPoint| p.upper] {
        for window in points.windows(3) {
            let [a, b, c] = [0, 1, 2].map(|k| end(&window[k]));
            assert!(a >= b - 1e-15 && b >= c - 1e-15, "{window:?}");
            // The upper end is convex only up to its distance from the truth.
            assert!(2.0 * b <= a + c + 1e-4, "{window:?}");
        }
        assert!(points.iter().all(|point| end(point) <= 1.0 - point.level + 1e-15));
        assert_eq!(end(&points[256]), 0.0);
    }
    check_guarantee(curve);
}

/// Asserts that the lower end is convex and at most the upper one, which is at most `1 − a`.
fn check_guarantee(curve: &Tradeoff) {
    let points = curve.points(257).unwrap();
    assert!(
        points.iter().all(|point| point.lower <= point.upper && point.upper <= 1.0 - point.level + 1e-15)
    );
    // The lower end, which is the guarantee, is convex up to rounding.
    assert!(points.windows(3).all(|w| 2.0 * w[1].lower <= w[0].lower + w[2].lower + 1e-14));
}

/// `T(N(0, 1), N(μ, 1))(a) = Φ(Φ⁻¹(1 − a) − μ)`: the test that rejects beyond `t` has `a = Φ(−t)`.
#[test]
fn normal_laws_have_their_curves() {
    for mu in [0.01, 0.5, 1.0, 3.0] {
        let curve = LossLaw::gaussian(gaussian(1.0 / mu), Neighbors::ReplaceOne).tradeoff();
        check_shape(&curve);
        for k in -40..=40 {
            let t = 0.1 * f64::from(k);
            check(&curve, normal(-t), normal(t - mu), 1e-5);
        }
    }
    // Now composed on a grid.
    let profile = |epsilon: f64| crate::gaussian::delta(epsilon, 0.2).unwrap().into_value();
    let law = LossLaw::of_delta(profile, profile, 1e-12, Neighbors::ReplaceOne).unwrap();
    let curve = law.times(25).unwrap().tradeoff();
    check_shape(&curve);
    for k in -40..=40 {
        let t = 0.1 * f64::from(k);
        check(&curve, normal(-t), normal(t - 1.0), 1e-4);
    }
    let power = curve.power(0.05).unwrap();
    assert!(
        power.lower() <= 0.259_511
            && 0.259_511 <= power.upper()
            && power.guarantee().grade() == Grade::UpperBound
    );
}

/// Dong, Roth and Su, Section 2.2: the curve of Laplace noise consists of a straight line, a hyperbola and a
/// straight line.
#[test]
fn laplace_noise_has_its_curve() {
    for scale in [0.5_f64, 2.0] {
        let pure = 1.0 / scale;
        let curve = LossLaw::laplace(laplace(scale), Neighbors::ReplaceOne).tradeoff();
        check_shape(&curve);
        for k in 0..=200 {
            let a = f64::from(k) / 200.0;
            let truth = if a < 0.5 * (-pure).exp() {
                1.0 - pure.exp() * a
            } else if a <= 0.5 {
                (-pure).exp() / (4.0 * a)
            } else {
                (-pure).exp() * (1.0 - a)
            };
            check(&curve, a, truth, 1e-6);
        }
    }
}

/// The corners are at the outcomes in the order of their likelihood ratios: one label, the other labels, the
/// second of the two labels. With two labels the curve is the lowest one that pure `ε`-DP allows.
#[test]
fn randomized_response_has_a_polygon() {
    for (labels, local) in [(2, 1.0), (4, 0.3), (10, 3.0)] {
        let mechanism = RandomizedResponse::with_epsilon(labels, local).unwrap();
        let stray = mechanism.gamma() / f64::from(labels);
        let own = 1.0 - stray * f64::from(labels - 1);
        let curve = LossLaw::randomized_response(mechanism).tradeoff();
        check_shape(&curve);
        for k in 0..=200 {
            let a = f64::from(k) / 200.0;
            let truth = if a <= stray {
                1.0 - a / stray * own
            } else if a <= 1.0 - own {
                1.0 - own - (a - stray)
            } else {
                (1.0 - a) / own * stray
            };
            check(&curve, a, truth, 1e-5);
        }
        assert!(
            curve.at(0.25).unwrap().lower >= (1.0 - 0.25 * local.exp()).max(0.75 * (-local).exp()) - 1e-12
        );
    }
}

/// The curves of the two directions are inverse to each other and not symmetric. The curve that holds for
/// both is below either of them.
#[test]
fn sampled_releases_have_a_curve_in_each_direction() {
    let (rate, mu) = (0.3, 1.5);
    let law = sampled(rate, 1.0 / mu, 1);
    let (remove, add) = (
        law.clone().only(Direction::Remove).unwrap().tradeoff(),
        law.clone().only(Direction::Add).unwrap().tradeoff(),
    );
    let both = law.tradeoff();
    check_shape(&remove);
    check_shape(&add);
    check_guarantee(&both);
    let mixture = |t: f64| (1.0 - rate) * normal(t) + rate * normal(t - mu);
    for k in -40..=40 {
        let t = 0.1 * f64::from(k);
        // First the null hypothesis is that the record is absent, and it is rejected above t; then that it is
        // present, rejected below t.
        check(&remove, normal(-t), mixture(t), 1e-4);
        check(&add, mixture(t), normal(-t), 1e-4);
        for level in [normal(-t), mixture(t)] {
            let least = remove.at(level).unwrap().upper.min(add.at(level).unwrap().upper);
            let point = both.at(level).unwrap();
            assert!(point.lower <= least && (point.upper - least).abs() < 1e-15, "{point:?} {least}");
        }
    }
    assert_eq!(both.power(0.3).unwrap().guarantee().grade(), Grade::UpperBound);
    // The composed curve lies between that of the larger profile and that of a Gaussian that dominates it.
    let curve = sampled(0.01, 1.0, 1000).tradeoff();
    check_guarantee(&curve);
    let unsampled = Gdp::new(1000f64.sqrt()).unwrap();
    assert!(unsampled.mu() > 30.0 && curve.at(0.05).unwrap().lower > 0.8);
}

#[test]
fn levels_out_of_range_are_refused_and_limits_are_right() {
    let nothing = sampled(0.1, 1.0, 5).times(0).unwrap().tradeoff();
    assert!((nothing.at(0.3).unwrap().lower - 0.7).abs() < 1e-15 && nothing.at(0.3).unwrap().upper >= 0.7);
    // The pair tells the data sets apart with probability 0.01, so f(0) = 0.99.
    let sharp = LossLaw::finite(&[0.01, 0.99], &[0.0, 1.0], Neighbors::ReplaceOne).unwrap();
    let curve = sharp.clone().only(Direction::Remove).unwrap().tradeoff();
    check(&curve, 0.0, 0.99, 1e-12);
    check(&curve, 0.5, 0.99 * 0.5, 1e-5);
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(
            matches!(curve.at(bad), Err(crate::Error::InvalidParameter { name: "the level of a test", .. }))
                && matches!(
                    curve.power(bad),
                    Err(crate::Error::InvalidParameter { name: "the level of a test", .. })
                )
        );
    }
    assert!(
        matches!(
            curve.points(1),
            Err(crate::Error::InvalidParameter { name: "the number of points of a curve", .. })
        ) && curve.points(2).is_ok()
    );
}
