//! Compositions whose true values can be computed otherwise: normal laws, finite pairs by enumeration, two
//! releases by an integral, binomial counts.

use super::{delta, gaussian, laplace, laplaces, sampled};
use crate::loss_law::Direction;
use crate::{
    DiscreteLaplace, Gdp, LossLaw, Mechanism, Neighbors, RandomizedResponse, Sigma, gaussian as exact,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Asserts that the two ends enclose the truth, which is known up to the relative `error`.
fn check(found: crate::loss_law::Enclosed, truth: f64, error: f64) {
    assert!(found.lower() <= truth * (1.0 + error), "{found:?} {truth}");
    assert!(truth * (1.0 - error) <= found.upper(), "{found:?} {truth}");
}

/// A Gaussian release that is given by its profile only, so that it is composed on a grid.
fn hidden_gaussian(mu: f64) -> LossLaw {
    let profile = move |epsilon: f64| exact::delta(epsilon, mu).unwrap().into_value();
    LossLaw::of_delta(profile, profile, 1e-12, Neighbors::ReplaceOne).unwrap()
}

/// Squares of `μ` add up: the composed law must enclose the profile of the sum, and `ε` within 1e-4.
#[test]
fn normal_laws_compose_to_normal_laws() {
    let mut rng = ChaCha8Rng::seed_from_u64(30);
    for _ in 0..15 {
        let kinds = rng.random_range(1..=3);
        let parts: Vec<(f64, u64)> = (0..kinds)
            .map(|_| (10f64.powf(rng.random_range(-2.0..0.3)), 10f64.powf(rng.random_range(0.0..3.0)) as u64))
            .collect();
        let square: f64 = parts.iter().map(|(mu, count)| mu * mu * *count as f64).sum();
        let laws: Vec<LossLaw> =
            parts.iter().map(|&(mu, count)| hidden_gaussian(mu).times(count).unwrap()).collect();
        let law = LossLaw::compose(&laws).unwrap();
        let at = 10f64.powf(rng.random_range(-12.0..-1.0));
        let truth = Gdp::new(square.sqrt()).unwrap().epsilon(delta(at)).into_value();
        let found = law.epsilon(delta(at));
        check(found, truth, 1e-12);
        assert!(found.upper() - found.lower() <= 1e-4, "{parts:?} {at}: {found:?}");
        let epsilon = truth * rng.random_range(0.3..1.2);
        check(law.delta(epsilon).unwrap(), exact::delta(epsilon, square.sqrt()).unwrap().into_value(), 1e-11);
    }
    // As known Gaussian releases they are one normal law, exactly.
    let told = LossLaw::gaussian(gaussian(2.0), Neighbors::ReplaceOne).times(30).unwrap();
    let found = told.epsilon(delta(1e-5));
    assert_eq!(found.guarantee().grade(), crate::Grade::Exact);
    check(found, (Gdp::new(0.5).unwrap() * 30).epsilon(delta(1e-5)).into_value(), 1e-13);
}

/// `Σ max(0, P − e^ε Q)` over all sequences of outcomes, grouped by how often each outcome occurs.
fn enumerated(parts: &[(&[f64], &[f64], usize)], epsilon: f64) -> f64 {
    let mut outcomes = vec![(1.0, 1.0)];
    for &(p, q, count) in parts {
        for _ in 0..count {
            outcomes = outcomes
                .iter()
                .flat_map(|(a, b)| p.iter().zip(q).map(move |(p, q)| (a * p, b * q)))
                .collect();
        }
    }
    outcomes.iter().map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

/// Random pairs with masses that are multiples of 1/64, some of them 0, in compositions of at most eight
/// releases.
#[test]
fn finite_pairs_follow_their_enumeration() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let mut law = |outcomes: usize| -> Vec<f64> {
        let mut masses = vec![0.0; outcomes];
        for _ in 0..64 {
            masses[rng.random_range(0..outcomes)] += 1.0 / 64.0;
        }
        masses
    };
    for case in 0..30 {
        let kinds: Vec<(Vec<f64>, Vec<f64>, usize)> = (0..1 + case % 2)
            .map(|kind| {
                let outcomes = 2 + (case + kind) % 3;
                let (mut p, mut q) = (law(outcomes), law(outcomes));
                if case % 5 == 0 {
                    (p, q) = (vec![0.25, 0.75, 0.0], vec![0.5, 0.25, 0.25]);
                }
                (p, q, 1 + (case + 3 * kind) % 4)
            })
            .collect();
        let laws: Vec<LossLaw> = kinds
            .iter()
            .map(|(p, q, count)| {
                let law = LossLaw::finite(p, q, Neighbors::ReplaceOne).unwrap();
                law.times(*count as u64).unwrap()
            })
            .collect();
        // If atoms lie between grid points, each release loses up to a step.
        let composed = LossLaw::compose(&laws).unwrap().with_step(1e-4).unwrap();
        for (direction, exchanged) in [(Direction::Remove, false), (Direction::Add, true)] {
            let parts: Vec<(&[f64], &[f64], usize)> = kinds
                .iter()
                .map(
                    |(p, q, count)| {
                        if exchanged { (&q[..], &p[..], *count) } else { (&p[..], &q[..], *count) }
                    },
                )
                .collect();
            let one = composed.clone().only(direction).unwrap();
            for epsilon in [0.0, 0.1, 0.7, 1.9, 4.0] {
                let truth = enumerated(&parts, epsilon);
                let found = one.delta(epsilon).unwrap();
                assert!(found.lower() <= truth + 1e-14, "{case} {epsilon}: {found:?} {truth}");
                assert!(truth <= found.upper() + 1e-14, "{case} {epsilon}: {found:?} {truth}");
                assert!(found.upper() - found.lower() < 1e-3, "{case} {epsilon}: {found:?} {truth}");
            }
        }
    }
}

/// Randomized response with two labels: the number of true answers is binomial, so that the exact value for a
/// million releases is a sum of about a thousand terms.
#[test]
fn randomized_response_follows_the_binomial_law() {
    for (local, count, at, width) in [
        (1.0_f64, 20_u64, 1e-3, 1e-12),
        (0.1, 10_000, 1e-6, 1e-9),
        (0.001, 1_000_000, 1e-5, 1e-6),
        (2.0, 3, 1e-9, 1e-12),
    ] {
        let mechanism = RandomizedResponse::with_epsilon(2, local).unwrap();
        let law = LossLaw::randomized_response(mechanism).times(count).unwrap();
        let found = law.epsilon(delta(at));
        let (own, other) = (1.0 - mechanism.gamma() / 2.0, mechanism.gamma() / 2.0);
        let pure = (own / other).ln();
        let profile = |epsilon: f64| -> f64 {
            (0..=count)
                .filter_map(|wrong| {
                    let loss = pure * (count as f64 - 2.0 * wrong as f64);
                    let log = ndp_numeric::binomial::log_pmf(wrong, count, other);
                    (loss > epsilon).then(|| -log.exp() * (epsilon - loss).exp_m1())
                })
                .sum()
        };
        // The true profile at either end, by slow sums.
        assert!(profile(found.lower() * (1.0 - 1e-10)) >= at * (1.0 - 1e-9), "{local} {count}: {found:?}");
        assert!(profile(found.upper() * (1.0 + 1e-10)) <= at * (1.0 + 1e-9), "{local} {count}: {found:?}");
        assert!(found.upper() - found.lower() <= width * found.upper(), "{local} {count}: {found:?}");
    }
    let few =
        LossLaw::randomized_response(RandomizedResponse::with_epsilon(2, 1.0).unwrap()).times(20).unwrap();
    assert_eq!(few.epsilon(delta(1e-3)).guarantee().grade(), crate::Grade::Exact);
}

/// Noise on whole numbers, whose laws are convolved term by term.
#[test]
fn whole_valued_noise_follows_the_convolution() {
    let laws = |mass: &dyn Fn(i64) -> f64, shift: i64, reach: i64| -> (Vec<f64>, Vec<f64>) {
        (-reach..=reach).map(|k| (mass(k), mass(k - shift))).unzip()
    };
    let (scale, sigma) = (1.5_f64, 1.2_f64);
    let q = (-1.0 / scale).exp();
    let geometric = |k: i64| (1.0 - q) / (1.0 + q) * q.powi(k.abs() as i32);
    let total: f64 = (-60..=60).map(|k: i64| (-(k * k) as f64 / (2.0 * sigma * sigma)).exp()).sum();
    let normal = |k: i64| (-(k * k) as f64 / (2.0 * sigma * sigma)).exp() / total;
    let cases = [
        (
            LossLaw::discrete_laplace(DiscreteLaplace::new(2, scale).unwrap(), Neighbors::ReplaceOne)
                .unwrap(),
            laws(&geometric, 2, 60),
        ),
        (
            LossLaw::discrete_gaussian(Sigma::new(sigma).unwrap(), Neighbors::ReplaceOne).unwrap(),
            laws(&normal, 1, 14),
        ),
    ];
    for (law, (p, q)) in cases {
        let two = law.clone().times(2).unwrap();
        for epsilon in [0.0, 0.4, 1.1, 2.3] {
            check(law.delta(epsilon).unwrap(), enumerated(&[(&p, &q, 1)], epsilon), 1e-9);
            let found = two.delta(epsilon).unwrap();
            check(found, enumerated(&[(&p, &q, 2)], epsilon), 1e-9);
            assert!(found.upper() <= found.lower() * (1.0 + 1e-9), "{epsilon}: {found:?}");
        }
    }
}

/// The profile of two releases, `δ_2(ε) = E_L[δ_1(ε − L)]`, by the midpoint rule. The inner profile is needed
/// at numbers of either sign.
fn twice(
    epsilon: f64,
    outputs: &dyn Fn(f64) -> (f64, f64),
    one: &dyn Fn(f64) -> f64,
    range: (f64, f64),
    kinks: &[f64],
) -> f64 {
    let mut ends = vec![range.0, range.1];
    ends.extend(kinks);
    ends.sort_by(f64::total_cmp);
    let steps = 40_000;
    ends.windows(2)
        .map(|piece| {
            let width = (piece[1] - piece[0]) / f64::from(steps);
            let at = |k: i32| piece[0] + (f64::from(k) + 0.5) * width;
            (0..steps)
                .map(|k| outputs(at(k)))
                .map(|(density, loss)| density * one(epsilon - loss))
                .sum::<f64>()
                * width
        })
        .sum()
}

/// Extends a profile to numbers of either sign, for a pair that is symmetric.
fn both_signs(positive: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    move |epsilon: f64| {
        if epsilon >= 0.0 { positive(epsilon) } else { 1.0 - epsilon.exp() * (1.0 - positive(-epsilon)) }
    }
}

#[test]
fn two_laplace_releases_follow_their_integral() {
    let scale = 1.6;
    let pure = 1.0 / scale;
    let one = both_signs(|epsilon: f64| -(0.5 * (epsilon - pure)).min(0.0).exp_m1());
    let outputs = |y: f64| ((-y.abs() / scale).exp() / (2.0 * scale), ((y - 1.0).abs() - y.abs()) / scale);
    let law = laplaces(scale, 2, Neighbors::ReplaceOne);
    for epsilon in [0.0, 0.2, 0.6, 1.0, 1.2] {
        // The points at which the inner profile or the loss has a kink.
        let kinks = [
            0.0,
            1.0,
            0.5 * (1.0 - scale * epsilon),
            0.5 * (1.0 - scale * (epsilon - pure)),
            0.5 * (1.0 - scale * (epsilon + pure)),
        ];
        let kinks: Vec<f64> = kinks.into_iter().filter(|y| (-60.0..61.0).contains(y)).collect();
        let truth = twice(epsilon, &outputs, &one, (-60.0, 61.0), &kinks);
        let found = law.delta(epsilon).unwrap();
        assert!(
            found.lower() <= truth + 1e-7 && truth <= found.upper() + 1e-7,
            "{epsilon}: {found:?} {truth}"
        );
        assert!(found.upper() - found.lower() < 1e-4, "{epsilon}: {found:?}");
    }
}

/// Both directions of a sampled Gaussian: one release by its definition as an integral, two by the integral
/// over the first.
#[test]
fn sampled_releases_follow_their_integral() {
    let (rate, mu) = (0.3, 0.8);
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let mixture = |x: f64| (1.0 - rate) * density(x) + rate * density(x - mu);
    let log_ratio = |x: f64| (1.0 - rate + rate * (mu * x - 0.5 * mu * mu).exp()).ln();
    let step = 2e-3;
    let grid = || (-7000..8000).map(|k| step * f64::from(k));
    let law = sampled(rate, 1.0 / mu, 1);
    for (direction, sign) in [(Direction::Remove, 1.0), (Direction::Add, -1.0)] {
        let under = |x: f64| if sign > 0.0 { mixture(x) } else { density(x) };
        let one = law.clone().only(direction).unwrap();
        let other = move |x: f64| under(x) * (-sign * log_ratio(x)).exp();
        let profile = |epsilon: f64| -> f64 {
            grid().map(|x| (under(x) - epsilon.exp() * other(x)).max(0.0)).sum::<f64>() * step
        };
        for epsilon in [0.0, 0.05, 0.3, 0.7] {
            let (found, truth) = (one.delta(epsilon).unwrap(), profile(epsilon));
            assert!(
                (found.upper() - truth).abs() < 1e-6 && found.upper() - found.lower() < 1e-12,
                "{found:?} {truth}"
            );
        }
        let pair = one.clone().times(2).unwrap();
        for epsilon in [0.1, 0.5] {
            let coarse: Vec<f64> = (0..800).map(|k| -8.0 + 0.02 * f64::from(k)).collect();
            let truth: f64 =
                coarse.iter().map(|&x| under(x) * profile(epsilon - sign * log_ratio(x)) * 0.02).sum();
            let found = pair.delta(epsilon).unwrap();
            assert!(
                found.lower() <= truth + 1e-5 && truth <= found.upper() + 1e-5,
                "{epsilon}: {found:?} {truth}"
            );
        }
    }
}

/// Sampled Laplace noise: one release by its integral. The loss does not exceed the `ε₀` of the sampled
/// release, which is smaller.
#[test]
fn sampled_laplace_follows_its_integral() {
    let (rate, scale) = (0.2, 1.0);
    let law = LossLaw::sampled_laplace(laplace(scale), rate).unwrap();
    let density = |x: f64| 0.5 * (-x.abs()).exp();
    let mixture = |x: f64| (1.0 - rate) * density(x) + rate * density(x - 1.0);
    let step = 1e-4;
    for epsilon in [0.0_f64, 0.1, 0.2, 0.29] {
        let sum = |sign: bool| -> f64 {
            (-300_000..310_000)
                .map(|k| step * (f64::from(k) + 0.5))
                .map(|x| {
                    if sign {
                        mixture(x) - epsilon.exp() * density(x)
                    } else {
                        density(x) - epsilon.exp() * mixture(x)
                    }
                })
                .map(|gap| gap.max(0.0) * step)
                .sum()
        };
        for (direction, sign) in [(Direction::Remove, true), (Direction::Add, false)] {
            let found = law.clone().only(direction).unwrap().delta(epsilon).unwrap();
            assert!((found.upper() - sum(sign)).abs() < 1e-8, "{epsilon}: {found:?} {}", sum(sign));
        }
    }
    let pure = (1.0 + rate * 1.0_f64.exp_m1()).ln();
    let found = law.times(30).unwrap().epsilon(delta(1e-6));
    assert!(found.upper() < 30.0 * pure && found.upper() - found.lower() < 1e-4, "{found:?}");
}
