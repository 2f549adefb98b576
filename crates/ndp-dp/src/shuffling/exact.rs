//! Shuffling bounds that are sums over all outcomes, rounded up: the privacy blanket of randomized response,
//! the clones of any randomizer, and a report among fixed uniform elements.

use super::trinomial::{Goal, Trinomial};
use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::randomized_response::{check_labels, profile};
use crate::{Error, UpperBound};
use ndp_numeric::binomial_window::Chance;

/// The most reports whose bounds are sums over single counts. Their cost grows as `m` times the logarithm of
/// `1/δ`, and is some tenths of a second at this number. Beyond it, up to [`MOST_REPORTS`], counts are taken
/// in blocks: the bound is still proven, is some parts in 10⁴ of `ε` above the sum, and its cost grows as
/// `√m`.
pub const MAX_REPORTS: u64 = super::trinomial::EXACT;

/// The most reports for which bounds by sums are computed.
pub const MOST_REPORTS: u64 = 100_000_000;

/// The `δ` at `ε` of `m` shuffled reports of `L`-ary randomized response, each `ε₀`-DP: an upper bound.
///
/// With `γ` the probability of a random answer, `B ~ Bin(m − 1, γ)`, `M = B + 1`, `s ~ Bin(M, 2/L)` and
/// `h ~ Bin(s, 1/2)`,
///
/// `δ = E (γ(1 − e^ε) + (1 − γ) L (h − e^ε (s − h))/M)₊`.
///
/// The bound holds against an observer who sees the multiset of all `m` reports, one of which is the exposed
/// user's, and who may know the labels of the others. For many parameters some data attain it. It is never
/// above the loss of one report.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε, ε₀ < ∞`; [`Error::InvalidParameter`] unless `labels ≥ 2` and
/// `1 ≤ m ≤` [`MOST_REPORTS`]; [`super::Reports::epsilon`] takes any `m`.
///
/// # Complexity
/// `O(m)` times the logarithm of `1/δ`: some milliseconds at `m = 10⁴`.
///
/// # References
/// Balle, Bell, Gascón and Nissim, *The privacy blanket of the shuffle model*, 2019, arXiv:1903.02837:
/// Lemma 5.3, here evaluated without relaxation.
pub(crate) fn rr_blanket_delta(
    epsilon: f64,
    local_epsilon: f64,
    labels: u32,
    m: u64,
) -> Result<UpperBound<f64>, Error> {
    rr_blanket(epsilon, local_epsilon, labels, m, Goal::Value)
}

/// [`rr_blanket_delta`], or, if it is only compared with a number, a value on the same side of that number.
pub(crate) fn rr_blanket(
    epsilon: f64,
    local_epsilon: f64,
    labels: u32,
    m: u64,
    goal: Goal,
) -> Result<UpperBound<f64>, Error> {
    check_all(epsilon, local_epsilon, m, "the number of shuffled reports")?;
    check_labels(labels)?;
    let alone = profile(epsilon, local_epsilon, labels);
    let others = f64::from(labels - 2);
    let total = libm::expm1(local_epsilon) + 2.0 + others;
    let blanket = Blanket {
        scale: libm::exp(local_epsilon) / m as f64,
        reports: m,
        pair: Chance { p: 2.0 / total, q: (total - 2.0) / total },
        rest: Chance { p: others / (total - 2.0), q: libm::expm1(local_epsilon) / (total - 2.0) },
        drift: Drift::Present,
    };
    Ok(at_most(blanket.delta(epsilon, local_epsilon, goal), alone))
}

/// The `δ` at `ε` of one `ε₀`-DP report of `L`-ary randomized response among `elements` uniform elements: an
/// upper bound.
///
/// With `M = elements + 1`, `s ~ Bin(M, 2/L)` and `h ~ Bin(s, 1/2)` the value is `E (γ(1 − e^ε) + (1 − γ) L
/// (h − e^ε (s − h))/M)₊`. It bounds what the histogram of the report and the elements reveals; further
/// independent elements can only hide more. It does not increase with `elements`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε, ε₀ < ∞`; [`Error::InvalidParameter`] unless `labels ≥ 2` and
/// `elements <` [`MOST_REPORTS`].
pub fn fixed_blanket_delta(
    epsilon: f64,
    local_epsilon: f64,
    labels: u32,
    elements: u64,
) -> Result<UpperBound<f64>, Error> {
    check_all(epsilon, local_epsilon, elements.saturating_add(1), "the number of elements plus one")?;
    check_labels(labels)?;
    let alone = profile(epsilon, local_epsilon, labels);
    let all = f64::from(labels);
    let blanket = Blanket {
        // γ e^{ε₀}/(elements + 1).
        scale: all / (1.0 + (all - 1.0) * libm::exp(-local_epsilon)) / (elements + 1) as f64,
        reports: elements + 1,
        pair: Chance { p: 2.0 / all, q: (all - 2.0) / all },
        rest: Chance { p: 1.0, q: 0.0 },
        drift: Drift::Present,
    };
    Ok(at_most(blanket.delta(epsilon, local_epsilon, Goal::Value), alone))
}

/// The `δ` at `ε` of `m` shuffled reports of any `ε₀`-DP randomizer: an upper bound.
///
/// The hockey-stick divergence of order `e^ε` between `(A + D, C − A + 1 − D)` and `(A + 1 − D, C − A + D)`
/// for `D ~ Bernoulli(e^{ε₀}/(1 + e^{ε₀}))`, `C ~ Bin(m − 1, e^{−ε₀})`, `A ~ Bin(C, 1/2)`. It holds against
/// an observer who sees the multiset of reports, one of which is the exposed user's, and knows the data of
/// all others. All users have the same randomizer.
///
/// # Errors
/// As [`rr_blanket_delta`].
///
/// # References
/// Feldman, McMillan and Talwar, *Hiding among the clones*, 2020, arXiv:2012.12803: Theorem 3.2.
pub(crate) fn clones_delta(epsilon: f64, local_epsilon: f64, m: u64) -> Result<UpperBound<f64>, Error> {
    clones(epsilon, local_epsilon, m, Goal::Value)
}

/// [`clones_delta`], or, if it is only compared with a number, a value on the same side of that number.
pub(crate) fn clones(epsilon: f64, local_epsilon: f64, m: u64, goal: Goal) -> Result<UpperBound<f64>, Error> {
    check_all(epsilon, local_epsilon, m, "the number of shuffled reports")?;
    let alone = profile(epsilon, local_epsilon, 2);
    let blanket = Blanket {
        scale: 2.0 * libm::exp(local_epsilon) / (1.0 + libm::exp(-local_epsilon)) / m as f64,
        reports: m,
        pair: Chance { p: libm::exp(-local_epsilon), q: -libm::expm1(-local_epsilon) },
        rest: Chance { p: 0.0, q: 1.0 },
        drift: Drift::Absent,
    };
    Ok(at_most(blanket.delta(epsilon, local_epsilon, goal), alone))
}

/// The other reports, which hide that of the exposed user: a report shows one of the two labels compared with
/// probability `pair`, and otherwise counts as a random answer with probability `rest`.
struct Blanket {
    scale: f64,
    reports: u64,
    pair: Chance,
    rest: Chance,
    drift: Drift,
}

/// Whether elements with other labels count towards the number of blanket reports.
enum Drift {
    Present,
    Absent,
}

impl Blanket {
    /// `scale · e^{−ε₀} E (h (e^{ε₀} − e^ε) − l (e^{ε₀+ε} − 1) − r (e^ε − 1))₊`.
    ///
    /// Every expectation of this file has this form: in the blanket of randomized response, for instance,
    /// `(1 − γ) L = γ (e^{ε₀} − 1)`, so that `γ` factors out.
    fn delta(self, epsilon: f64, local_epsilon: f64, goal: Goal) -> f64 {
        if epsilon >= local_epsilon {
            return 0.0;
        }
        // Among 10⁸ reports fewer than e^{−459} blanket reports are expected, for any number of labels.
        // Nothing is gained, and the caller uses the loss of one report alone.
        if local_epsilon > 500.0 {
            return f64::INFINITY;
        }
        let faint = libm::exp(-local_epsilon);
        let goal = match goal {
            Goal::Value => Goal::Value,
            Goal::Compare(bound) => Goal::Compare(bound / self.scale),
        };
        let expectation = Trinomial {
            reports: self.reports,
            pair: self.pair,
            rest: self.rest,
            gain: -libm::expm1(epsilon - local_epsilon),
            // e^ε − e^{−ε₀}, written without the cancellation of the difference.
            loss: -libm::exp(epsilon) * libm::expm1(-(epsilon + local_epsilon)),
            drift: match self.drift {
                Drift::Present => libm::expm1(epsilon) * faint,
                Drift::Absent => 0.0,
            },
        };
        self.scale * expectation.positive_part(goal)
    }
}

/// The smaller of the bound and the loss of one report alone; the latter if the bound overflowed.
fn at_most(delta: f64, alone: f64) -> UpperBound<f64> {
    UpperBound::new(if delta < alone { delta } else { alone })
}

fn check_all(epsilon: f64, local_epsilon: f64, reports: u64, name: &'static str) -> Result<(), Error> {
    check_epsilon(epsilon)?;
    check_epsilon(local_epsilon)?;
    ensure(
        (1..=MOST_REPORTS).contains(&reports),
        name,
        "lie between 1 and 10^8 for a bound by sums, whose cost grows with it",
        reports as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn bounds_match_50_digit_values() -> Result<(), Error> {
        for (epsilon, local, m, expected) in
            [(0.2, 1.0, 30, 0.043_004_477_335_218_27), (0.1, 0.5, 3, 0.108_818_923_535_472_32)]
        {
            assert_relative_eq!(*clones_delta(epsilon, local, m)?.value(), expected, max_relative = 1e-10);
        }
        for (epsilon, local, labels, m, expected) in
            [(0.2, 1.0, 3, 20, 0.033_388_285_664_477_1), (0.05, 0.7, 2, 5, 0.128_825_305_478_864_83)]
        {
            let delta = rr_blanket_delta(epsilon, local, labels, m)?;
            assert_relative_eq!(*delta.value(), expected, max_relative = 1e-10);
        }
        for (epsilon, expected) in [(0.2, 0.017_015_218_209_776_135), (0.19, 0.018_776_182_816_647_354)] {
            let delta = fixed_blanket_delta(epsilon, 1.0, 3, 20)?;
            assert_relative_eq!(*delta.value(), expected, max_relative = 1e-10);
        }
        Ok(())
    }

    /// `Bin(n, p)` by the defining recursion.
    fn binomial(n: u64, p: f64) -> Vec<f64> {
        let mut law = vec![0.0; n as usize + 1];
        law[0] = 1.0;
        for trial in 1..law.len() {
            for k in (0..=trial).rev() {
                law[k] = law[k] * (1.0 - p) + if k > 0 { law[k - 1] * p } else { 0.0 };
            }
        }
        law
    }

    /// The definition of the fixed blanket, summed term by term.
    fn fixed_by_definition(epsilon: f64, local: f64, labels: u32, elements: u64) -> f64 {
        let all = f64::from(labels);
        let gamma = all / (local.exp_m1() + all);
        let reports = elements + 1;
        let mut sum = 0.0;
        for (s, p) in binomial(reports, 2.0 / all).into_iter().enumerate() {
            for (h, q) in binomial(s as u64, 0.5).into_iter().enumerate() {
                let share = (h as f64 - epsilon.exp() * (s - h) as f64) / reports as f64;
                sum += p * q * (gamma * (1.0 - epsilon.exp()) + (1.0 - gamma) * all * share).max(0.0);
            }
        }
        sum
    }

    #[test]
    fn sums_match_their_definitions() -> Result<(), Error> {
        for labels in [2, 3, 5, 40] {
            for local in [1e-3, 0.1, 1.0, 3.0, 12.0, 25.0] {
                for share in [0.0, 0.1, 0.5, 0.95, 0.999] {
                    let epsilon = share * local;
                    for m in [1, 2, 7, 25] {
                        let all = f64::from(labels);
                        let gamma = all / (f64::exp_m1(local) + all);
                        let blanket: f64 = binomial(m - 1, gamma)
                            .into_iter()
                            .enumerate()
                            .map(|(b, p)| p * fixed_by_definition(epsilon, local, labels, b as u64))
                            .sum();
                        let fast = *rr_blanket_delta(epsilon, local, labels, m)?.value();
                        assert_relative_eq!(fast, blanket, max_relative = 2e-10);
                        let fixed = fixed_by_definition(epsilon, local, labels, m);
                        let fast = *fixed_blanket_delta(epsilon, local, labels, m)?.value();
                        assert_relative_eq!(fast, fixed, max_relative = 2e-10);
                    }
                }
            }
        }
        Ok(())
    }

    /// The hockey-stick divergence of the two laws of counts, from their joint tables.
    #[test]
    fn clones_match_their_definition() -> Result<(), Error> {
        for (epsilon, local, m) in [(0.0, 0.7, 4), (0.3, 1.0, 9), (1.5, 2.0, 20), (0.05, 0.1, 6)] {
            let keep = f64::exp(local) / (1.0 + f64::exp(local));
            let mut delta = 0.0;
            for (c, p) in binomial(m - 1, f64::exp(-local)).into_iter().enumerate() {
                let a = binomial(c as u64, 0.5);
                for count in 0..=c + 1 {
                    let one_less = if count > 0 { a[count - 1] } else { 0.0 };
                    let same = a.get(count).copied().unwrap_or(0.0);
                    let left = keep * one_less + (1.0 - keep) * same;
                    let right = (1.0 - keep) * one_less + keep * same;
                    delta += p * (left - f64::exp(epsilon) * right).max(0.0);
                }
            }
            assert_relative_eq!(*clones_delta(epsilon, local, m)?.value(), delta, max_relative = 5e-11);
        }
        Ok(())
    }

    /// Sums over windows against full sums, for losses that are rare events.
    #[test]
    fn truncation_is_outward_and_small() -> Result<(), Error> {
        for (epsilon, local, labels, m) in [(0.9, 1.0, 3, 120), (0.2, 1.0, 2, 150), (1.9, 2.0, 10, 120)] {
            let all = f64::from(labels);
            let gamma = all / (f64::exp_m1(local) + all);
            let mut full = 0.0;
            for (b, p) in binomial(m - 1, gamma).into_iter().enumerate() {
                full += p * fixed_by_definition(epsilon, local, labels, b as u64);
            }
            let fast = *rr_blanket_delta(epsilon, local, labels, m)?.value();
            assert!(full <= fast && fast <= full * (1.0 + 1e-10), "{full:e} {fast:e}");
        }
        Ok(())
    }

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        for m in [1, 10, 1000] {
            assert_eq!(*rr_blanket_delta(1.0, 1.0, 3, m)?.value(), 0.0);
            assert_eq!(*rr_blanket_delta(1e4, 1.0, 3, m)?.value(), 0.0);
            assert_eq!(*rr_blanket_delta(0.0, 0.0, 3, m)?.value(), 0.0);
            assert_eq!(*clones_delta(0.0, 0.0, m)?.value(), 0.0);
            assert_eq!(*fixed_blanket_delta(0.0, 1e4, 3, m)?.value(), 1.0);
            assert_eq!(*clones_delta(0.0, 1e4, m)?.value(), 1.0);
            assert_eq!(*rr_blanket_delta(0.0, 1e4, 3, m)?.value(), 1.0);
            assert!(*rr_blanket_delta(1e-300, 1.0, 3, m)?.value() > 0.0);
        }
        // A single report is not hidden by others: the bound is its own loss, however small.
        for local in [1e-12, 1e-6, 1.0, 400.0] {
            for share in [0.0, 0.3, 0.9] {
                let epsilon = share * local;
                let alone = profile(epsilon, local, 5);
                for delta in
                    [rr_blanket_delta(epsilon, local, 5, 1)?, fixed_blanket_delta(epsilon, local, 5, 0)?]
                {
                    assert_relative_eq!(*delta.value(), alone, max_relative = 1e-10);
                    assert!(*delta.value() <= alone);
                }
            }
        }
        // Two reports with a tiny ε₀ and two labels: at ε = 0 half of the loss of one report, 0.5e-9, is
        // left.
        let faint = *rr_blanket_delta(0.0, 1e-9, 2, 2)?.value();
        assert_relative_eq!(faint, 0.5e-9 * 0.5, max_relative = 1e-6);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(rr_blanket_delta(bad, 1.0, 3, 10), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(rr_blanket_delta(0.1, bad, 3, 10), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(clones_delta(bad, 1.0, 10), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(fixed_blanket_delta(0.1, bad, 3, 10), Err(Error::InvalidEpsilon(_))));
        }
        for m in [0, 1_000_000_000_000, u64::MAX] {
            assert_eq!(refused(rr_blanket_delta(0.1, 1.0, 3, m)), Some("the number of shuffled reports"));
            assert_eq!(refused(clones_delta(0.1, 1.0, m)), Some("the number of shuffled reports"));
        }
        assert_eq!(
            refused(fixed_blanket_delta(0.1, 1.0, 3, u64::MAX)),
            Some("the number of elements plus one")
        );
        assert_eq!(refused(rr_blanket_delta(0.1, 1.0, 1, 10)), Some("the number of labels"));
    }

    proptest! {
        /// Up to the rounding allowance, the bounds fall with ε and with the number of reports, rise with ε₀,
        /// and never pass the loss of one report.
        #[test]
        fn bounds_are_monotone(
            local in 1e-3..6.0_f64,
            share in 0.0..1.2_f64,
            labels in 2_u32..30,
            m in 1_u64..400,
        ) {
            let epsilon = share * local;
            // A relative allowance for rounding, and 1e-270 for the probability beyond the widest windows.
            let up = |delta: f64| delta * (1.0 + 1e-10) + 1e-270;
            for delta in [
                |e, l, k, m| rr_blanket_delta(e, l, k, m),
                |e, l, k, m| fixed_blanket_delta(e, l, k, m),
                |e, l, _, m| clones_delta(e, l, m),
            ] as [fn(f64, f64, u32, u64) -> Result<UpperBound<f64>, Error>; 3] {
                let here = *delta(epsilon, local, labels, m)?.value();
                prop_assert!((0.0..=1.0).contains(&here));
                prop_assert!(*delta(epsilon * 1.1, local, labels, m)?.value() <= up(here));
                prop_assert!(*delta(epsilon, local, labels, m + 3)?.value() <= up(here));
                prop_assert!(here <= up(*delta(epsilon, local * 1.1, labels, m)?.value()));
            }
            prop_assert!(*rr_blanket_delta(epsilon, local, labels, m)?.value() <= profile(epsilon, local, labels));
            prop_assert!(*clones_delta(epsilon, local, m)?.value() <= profile(epsilon, local, 2));
        }
    }
}
