use super::*;
use crate::Grade;
use crate::error::refused;
use approx::assert_relative_eq;

fn d(delta: f64) -> Delta {
    Delta::new(delta).unwrap()
}

fn check(value: f64, reference: f64) {
    assert_relative_eq!(value, reference, max_relative = 1e-11);
}

/// A loss that underflows is 0 and not -0, whose sign would be printed.
#[test]
fn nothing_lost_has_no_sign() -> Result<(), Error> {
    let delta = optimal_delta(ApproxDp::new(0.5, 0.0)?, 1, 0.5)?.into_value();
    assert_eq!(delta.to_bits(), 0.0_f64.to_bits(), "{delta:?}");
    let point = optimal_point(ApproxDp::new(0.5, 0.0)?, 3, 0)?.into_value();
    assert_eq!(point.delta().to_bits(), 0.0_f64.to_bits(), "{point:?}");
    Ok(())
}

/// An `ε` so small that its rounding step underflows is increased nevertheless.
#[test]
fn the_smallest_epsilons_are_composed() -> Result<(), Error> {
    for (epsilon, delta, count, total) in [
        (5e-324, 3.848_095_316_050_4e-180, 549_755_813_888, 0.553_820_085_375_062_2),
        (5e-324, 1.706_787_944_159_781_7e-19, 68_719_476_736, 0.124_073_640_239_442_15),
        (1e-310, 0.0, 10, 1e-9),
        (1e-300, 1e-300, 3, 1e-299),
    ] {
        let found = best(&[(ApproxDp::new(epsilon, delta)?, count)], d(total))?.into_value().total;
        assert!((0.0..=(epsilon * count as f64).next_up()).contains(&found.epsilon()), "{found:?}");
    }
    Ok(())
}

/// 50-digit values of the specification.
#[test]
fn rules_match_reference_values() -> Result<(), Error> {
    let pure = |epsilon: f64| ApproxDp::new(epsilon, 0.0);
    check(advanced(pure(0.1)?, 50, d(1e-5)).value().epsilon(), 3.918_924_802_585_794);
    check(advanced(pure(0.05)?, 200, d(1e-7)).value().epsilon(), 4.527_445_780_775_969);
    check(heterogeneous(&[(pure(0.1)?, 50)], d(1e-5)).value().epsilon(), 3.591_406_801_177_785);
    let different = [(pure(0.2)?, 1), (pure(0.4)?, 1), (pure(0.1)?, 1)];
    check(heterogeneous(&different, d(1e-6)).value().epsilon(), 0.7);
    let point = optimal_point(ApproxDp::new(0.1, 1e-6)?, 8, 2)?.into_value();
    check(point.epsilon(), 0.4);
    check(point.delta(), 0.009_480_450_332_569_909);
    let point = optimal_point(ApproxDp::new(0.095, 9.5e-7)?, 8, 2)?.into_value();
    check(point.epsilon(), 0.38);
    check(point.delta(), 0.008_923_257_452_166_073);
    // 20 rounds of Theorem 1 for the ring.
    let ring = advanced(ApproxDp::new(0.2, 1e-6)?, 20, d(1e-6)).into_value();
    check(ring.epsilon(), 5.587_187_033_594_279);
    check(ring.delta(), 2.1e-5);
    Ok(())
}

/// The divergence by enumeration of all 2^k strings of answers.
fn brute_force(release: ApproxDp, count: u64, epsilon: f64) -> f64 {
    let p = 1.0 / (1.0 + (-release.epsilon()).exp());
    let mut excess = 0.0;
    for answers in 0_u32..1 << count {
        let ones = answers.count_ones() as i32;
        let zeros = count as i32 - ones;
        let law = p.powi(zeros) * (1.0 - p).powi(ones);
        let other = p.powi(ones) * (1.0 - p).powi(zeros);
        excess += (law - epsilon.exp() * other).max(0.0);
    }
    1.0 - (1.0 - release.delta()).powi(count as i32) * (1.0 - excess)
}

#[test]
fn optimal_composition_is_the_divergence_of_randomized_responses() -> Result<(), Error> {
    for count in 1..=9 {
        for (epsilon, delta) in [(0.3, 0.0), (1.0, 1e-3), (2.5, 0.01)] {
            let release = ApproxDp::new(epsilon, delta)?;
            for total in [0.0, 0.1, 0.31, 1.0, 2.2, 5.0] {
                let value = optimal_delta(release, count, total)?.into_value();
                assert_relative_eq!(
                    value,
                    brute_force(release, count, total),
                    max_relative = 1e-10,
                    epsilon = 1e-14
                );
            }
            for i in 0..=count / 2 {
                let point = optimal_point(release, count, i)?.into_value();
                assert_relative_eq!(
                    point.delta(),
                    brute_force(release, count, point.epsilon()),
                    max_relative = 1e-10,
                    epsilon = 1e-14
                );
            }
        }
    }
    Ok(())
}

#[test]
fn optimal_epsilon_inverts_optimal_delta() -> Result<(), Error> {
    for count in [1, 2, 3, 50, 10_000] {
        for epsilon in [1e-4, 0.01, 0.5, 8.0] {
            for (delta, total) in [(0.0, 1e-300), (0.0, 1e-9), (1e-12, 1e-6), (1e-7, 0.01), (0.0, 0.9)] {
                let release = ApproxDp::new(epsilon, delta)?;
                let best = optimal(release, count, d(total))?.unwrap().into_value();
                assert!(
                    best.epsilon() <= ndp_numeric::rounding::count_up(count) * epsilon * (1.0 + f64::EPSILON)
                );
                let reached = optimal_delta(release, count, best.epsilon())?.into_value();
                assert!(reached <= total * (1.0 + 1e-12), "{count} {epsilon} {total}: {reached}");
                if best.epsilon() > 0.0 {
                    let below = optimal_delta(release, count, best.epsilon() * (1.0 - 1e-9))?.into_value();
                    assert!(below > total * (1.0 - 1e-12), "{count} {epsilon} {total}: {below}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn best_never_loses_to_a_rule() -> Result<(), Error> {
    let release = ApproxDp::new(0.05, 1e-9)?;
    let total = d(1e-5);
    let chosen = best(&[(release, 200)], total)?.into_value();
    assert_eq!(chosen.rule, Rule::Optimal);
    for other in [
        advanced(release, 200, d(1e-5 - 200.0 * 1e-9)),
        heterogeneous(&[(release, 200)], d(9.7e-6)),
        naive(&[(release, 200)]),
    ] {
        assert!(chosen.total.epsilon() <= other.value().epsilon());
    }
    let few = [(ApproxDp::new(0.2, 0.0)?, 1), (ApproxDp::new(0.4, 0.0)?, 1)];
    assert_eq!(best(&few, d(1e-6))?.value().rule, Rule::Naive);
    let many = [(ApproxDp::new(0.02, 0.0)?, 900), (ApproxDp::new(0.03, 0.0)?, 100)];
    assert_eq!(best(&many, d(1e-6))?.value().rule, Rule::Heterogeneous);
    Ok(())
}

#[test]
fn extremes_are_limits_or_errors() -> Result<(), Error> {
    assert_eq!(naive(&[]).into_value(), ApproxDp::new(0.0, 0.0)?);
    assert_eq!(heterogeneous(&[], d(0.1)).into_value(), ApproxDp::new(0.0, 0.0)?);
    assert_eq!(advanced(ApproxDp::new(1.0, 0.0)?, 0, d(0.1)).into_value(), ApproxDp::new(0.0, 0.0)?);
    assert_eq!(best(&[], d(0.1))?.value().total.epsilon(), 0.0);
    let leaky = ApproxDp::new(0.1, 0.2)?;
    assert!(matches!(best(&[(leaky, 3)], d(0.1)), Err(Error::NotAchievable { .. })));
    assert_eq!(optimal(leaky, 3, d(0.1))?, None);
    for epsilon in [0.0, 1e-300, 1e4, f64::INFINITY] {
        for count in [0, 1, MAX_TRIALS] {
            for delta in [0.0, 1e-15, 1.0] {
                let release = ApproxDp::new(epsilon, delta)?;
                let parts = [(release, count)];
                for value in [
                    naive(&parts).into_value(),
                    advanced(release, count, d(1e-6)).into_value(),
                    heterogeneous(&parts, d(1e-6)).into_value(),
                ] {
                    assert!(value.epsilon() >= 0.0 && (0.0..=1.0).contains(&value.delta()));
                }
                if let Ok(chosen) = best(&parts, d(1e-6)) {
                    assert!(chosen.value().total.epsilon() >= 0.0);
                }
                assert!((0.0..=1.0).contains(optimal_delta(release, count, 3.0)?.value()));
            }
        }
    }
    assert!(matches!(
        optimal_point(leaky, 4, 3),
        Err(Error::InvalidParameter { name: "the index of an optimal composition", .. })
    ));
    assert_eq!(refused(optimal_delta(leaky, MAX_TRIALS + 1, 1.0)), Some("the number of releases"));
    assert_eq!(refused(optimal_delta(leaky, 3, f64::NAN)), Some("epsilon"));
    Ok(())
}

/// The releases themselves use up almost all of the total `δ`. Hardly any slack is left for the rules, and
/// none of them may use more.
#[test]
fn no_rule_takes_more_than_the_slack() -> Result<(), Error> {
    for (epsilon, delta, count) in [(0.1, 1e-6, 10), (0.3, 1e-3, 50), (0.01, 1e-7, 1000)] {
        let release = ApproxDp::new(epsilon, delta)?;
        for more in [1e-9, 1e-3, 0.3] {
            let total = delta * count as f64 * (1.0 + more);
            let found = best(&[(release, count)], d(total))?.into_value().total;
            let needed = optimal_delta(release, count, found.epsilon())?.into_value();
            assert!(needed <= total * (1.0 + 1e-12), "{epsilon} {count} {more}: {needed} above {total}");
        }
    }
    Ok(())
}

/// A number between `2^-8` and 1 in units of `2^-60`, exactly.
fn units(x: f64) -> i128 {
    let scaled = x * 2f64.powi(60);
    assert!(scaled.fract() == 0.0);
    scaled as i128
}

/// Sums of a few parts are never below the exact sum of the given floats.
#[test]
fn sums_are_rounded_up() -> Result<(), Error> {
    for (a, b) in [(0.1, 0.7), (0.1, 0.2), (0.3, 0.6), (0.015, 0.83), (0.17, 0.29)] {
        let parts = [(ApproxDp::new(a, 0.0)?, 1), (ApproxDp::new(b, 0.0)?, 1)];
        for sum in [
            naive(&parts).into_value().epsilon(),
            best(&parts, d(1e-9))?.into_value().total.epsilon(),
            (parts[0].0 + parts[1].0).epsilon(),
        ] {
            assert!(
                units(sum) >= units(a) + units(b) && units(sum.next_down().next_down()) < units(a) + units(b)
            );
        }
        let three = crate::UnitLoss::new(a)? * 3;
        assert!(units(three.get() / 4.0) >= 3 * units(a / 4.0) && three.get() < 3.0 * a + 1e-15);
    }
    assert_eq!((crate::UnitLoss::new(0.25)? * 3).get(), 0.75);
    Ok(())
}

/// The total `δ` is the rounded sum of those of the releases. No slack is left for the other rules, and for
/// advanced composition only a few units in the last place, which are counted exactly here.
#[test]
fn advanced_composition_takes_what_is_left_and_no_more() -> Result<(), Error> {
    let mut seen = 0;
    for count in [10, 100, 777, 1000, 31_415] {
        for delta in [1e-21, 3e-22, 7.7e-23] {
            let release = ApproxDp::new(1e-5, delta)?;
            let total = spent(&[(release, count)]).high();
            let (own, rest) = two_product(count as f64, delta);
            let left = (total - own) - rest;
            let found = best(&[(release, count)], d(total))?.into_value();
            // The bound is √(2k ln(1/δ')) ε, plus kε², which is small.
            let least = (-2.0 * count as f64 * left.ln()).sqrt() * 1e-5;
            if found.rule == Rule::Advanced {
                seen += 1;
                let epsilon = found.total.epsilon();
                assert!(epsilon >= least * (1.0 - 1e-9), "{count} {delta}: {epsilon} {least}");
            }
        }
    }
    assert!(seen > 5, "{seen}");
    Ok(())
}

/// Rounding grows with the number of releases: beyond 5·10⁹ of them nine digits are not known.
#[test]
fn an_optimal_delta_of_very_many_releases_is_a_bound() -> Result<(), Error> {
    let release = ApproxDp::new(1e-6, 0.0)?;
    for (count, grade) in [(1_000_000, Grade::Exact), (1_000_000_000_000, Grade::UpperBound)] {
        assert_eq!(optimal_delta(release, count, 2.0)?.grade(), grade, "{count}");
    }
    Ok(())
}
