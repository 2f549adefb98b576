//! Contraction: how much of a divergence is left after a noisy step.
//!
//! The hockey-stick divergence `E_ε(P‖Q) = sup_A [P(A) − e^ε Q(A)]` is the `δ` of `(ε, δ)`-DP in one
//! direction. A Markov kernel `K` multiplies it by at most `η_ε(K) = sup E_ε(K(y)‖K(y'))`, the supremum over
//! all pairs of inputs: `E_ε(PK‖QK) ≤ η_ε(K) E_ε(P‖Q)`. At `ε = 0` this factor is Dobrushin's coefficient.
//!
//! Adding Gaussian noise to inputs from a set of diameter `D` has `η_ε = θ_ε(D/σ)`: the
//! [`delta`](crate::Mechanism::delta) of a [`Gdp`](crate::Gdp) of parameter `D/σ`, 1 for an unbounded set,
//! and an upper bound when the output is projected or otherwise processed afterwards.
//!
//! # References
//! - Asoodeh and Calmon, *Differentially private federated learning: an information-theoretic perspective*,
//!   2020: Theorem 1 (the two-point characterisation), Lemma 2 (the Gaussian kernel on a ball).
//! - Dobrushin, *Central limit theorem for nonstationary Markov chains*, 1956.

use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::{Error, Guarantee};
use ndp_numeric::rounding::Interval;

/// `E_ε(P‖Q) = Σᵢ max(0, pᵢ − e^ε qᵢ)` of two laws on the same finite set. One direction only: `(ε, δ)`-DP
/// needs both, see [`kernel_coefficient`]. Exact for the numbers given, or an upper bound where `p − e^ε q`
/// cancels so far that nine digits of the sum are not known. Laws whose sums differ from 1 by more than
/// rounding, up to 1e-9, are divided by them.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidLaw`] for a negative, infinite or NaN
/// probability or a sum further than 1e-9 from 1; [`Error::InvalidParameter`] for laws of different lengths.
pub fn hockey_stick(p: &[f64], q: &[f64], epsilon: f64) -> Result<Guarantee<f64>, Error> {
    check_epsilon(epsilon)?;
    check_law(p)?;
    check_law(q)?;
    check_same_length(p, q)?;
    Ok(Guarantee::of_enclosure(excess(p, q, epsilon)))
}

/// `η_ε(K)` of a kernel on finite sets, row `y` the law of its output on input `y`: the largest `E_ε` between
/// two rows. For two rows `max{E_ε(P‖Q), E_ε(Q‖P)}`, the smallest `δ` for which the pair satisfies `(ε,
/// δ)`-DP. Graded as [`hockey_stick`].
///
/// # Errors
/// As [`hockey_stick`], and [`Error::InvalidParameter`] for a kernel without rows.
///
/// # Complexity
/// `O(rows² · columns)`.
///
/// # References
/// Asoodeh and Calmon 2020, Theorem 1.
pub fn kernel_coefficient(rows: &[Vec<f64>], epsilon: f64) -> Result<Guarantee<f64>, Error> {
    check_epsilon(epsilon)?;
    ensure(!rows.is_empty(), "the number of rows of a kernel", "be at least 1", 0.0)?;
    for row in rows {
        check_law(row)?;
        check_same_length(row, &rows[0])?;
    }
    let mut largest = Interval::ZERO;
    for p in rows {
        for q in rows {
            // A law has no divergence from itself, while rounding would leave some.
            if !std::ptr::eq(p, q) {
                largest = largest.max(excess(p, q, epsilon));
            }
        }
    }
    Ok(Guarantee::of_enclosure(largest))
}

/// The sum of a law, and 1 where it differs from that by rounding alone.
fn total(law: &[f64]) -> Interval {
    let sum: Interval = law.iter().map(|&p| Interval::new(p)).sum();
    let rounding = (law.len() + 1) as f64 * f64::EPSILON;
    if sum.low() >= 1.0 - rounding && sum.high() <= 1.0 + rounding { Interval::ONE } else { sum }
}

/// `Σ max(0, pᵢ − e^ε qᵢ)`.
fn excess(p: &[f64], q: &[f64], epsilon: f64) -> Interval {
    let (p_total, q_total) = (total(p), total(q));
    let weight = Interval::new(epsilon).exp();
    let weighted = |q: f64| {
        if q == 0.0 {
            Interval::ZERO
        } else if epsilon < OVERFLOWS {
            weight * (Interval::new(q) / q_total)
        } else {
            // e^ε may be infinite although e^ε q is not.
            (Interval::new(epsilon) + (Interval::new(q) / q_total).ln()).exp()
        }
    };
    let term = |(&p, &q): (&f64, &f64)| (Interval::new(p) / p_total - weighted(q)).max(Interval::ZERO);
    p.iter().zip(q).map(term).sum::<Interval>().min(Interval::ONE)
}

/// From here on `e^ε` is close to the largest float or beyond it.
const OVERFLOWS: f64 = 700.0;

fn check_law(law: &[f64]) -> Result<(), Error> {
    for (index, &probability) in law.iter().enumerate() {
        if !(0.0..=1.0 + 1e-9).contains(&probability) {
            return Err(Error::InvalidLaw { what: "probability", index, value: probability });
        }
    }
    let sum: f64 = law.iter().sum();
    if (sum - 1.0).abs() <= 1e-9 {
        Ok(())
    } else {
        Err(Error::InvalidLaw { what: "sum", index: law.len(), value: sum })
    }
}

fn check_same_length(p: &[f64], q: &[f64]) -> Result<(), Error> {
    ensure(p.len() == q.len(), "the number of outcomes", "be the same for all laws", p.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gdp, Grade, Mechanism};
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    fn law(weights: Vec<f64>) -> Vec<f64> {
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|w| w / sum).collect()
    }

    fn laws(count: usize, outcomes: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let weight = prop_oneof![3 => 0.001..1.0_f64, 1 => Just(1e-12)];
        prop::collection::vec(prop::collection::vec(weight, outcomes).prop_map(law), count)
    }

    fn push(p: &[f64], kernel: &[Vec<f64>]) -> Vec<f64> {
        (0..kernel[0].len()).map(|j| p.iter().zip(kernel).map(|(p, row)| p * row[j]).sum()).collect()
    }

    /// A sum of 1 up to rounding is 1; other sums divide their laws, as those of a law of losses do.
    #[test]
    fn laws_are_divided_by_their_sums() -> Result<(), Error> {
        let (p, q) = ([0.5, 0.499_999_999_1], [0.5, 0.5]);
        let delta = hockey_stick(&p, &q, 0.0)?.into_value();
        assert!((delta / 4.5e-10 - 1.0).abs() < 1e-6, "{delta}");
        let tenths = [0.1; 10];
        assert_eq!(hockey_stick(&tenths, &tenths, 0.0)?.into_value(), 0.0);
        assert_eq!(total(&tenths), Interval::ONE);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn kernels_contract(two in laws(2, 4), kernel in laws(4, 5), next in laws(5, 3), epsilon in 0.0..3.0_f64) {
            let eta = kernel_coefficient(&kernel, epsilon)?.into_value();
            prop_assert!((0.0..=1.0).contains(&eta));
            let before = hockey_stick(&two[0], &two[1], epsilon)?.into_value();
            let after = hockey_stick(&push(&two[0], &kernel), &push(&two[1], &kernel), epsilon)?.into_value();
            prop_assert!(after <= eta * before + 1e-14);
            // The coefficient of a product of kernels is at most the product of their coefficients.
            let product: Vec<Vec<f64>> = kernel.iter().map(|row| push(row, &next)).collect();
            let eta_next = kernel_coefficient(&next, epsilon)?.into_value();
            prop_assert!(kernel_coefficient(&product, epsilon)?.into_value() <= eta * eta_next + 1e-14);
        }

        #[test]
        fn divergence_is_half_the_weighted_distance(two in laws(2, 6), epsilon in 0.0..2.0_f64) {
            let (p, q, weight) = (&two[0], &two[1], epsilon.exp());
            let distance: f64 = p.iter().zip(q).map(|(p, q)| (p - weight * q).abs()).sum();
            let value = hockey_stick(p, q, epsilon)?.into_value();
            prop_assert!((value - (0.5 * distance - 0.5 * (weight - 1.0))).abs() < 1e-13);
            let total_variation = hockey_stick(p, q, 0.0)?.into_value();
            prop_assert!(value <= total_variation && total_variation <= 1.0);
            prop_assert!(value <= *kernel_coefficient(&[p.to_vec(), q.to_vec()], epsilon)?.value());
        }
    }

    #[test]
    fn special_kernels() -> Result<(), Error> {
        let forget = vec![vec![0.3, 0.7]; 3];
        assert_eq!(*kernel_coefficient(&forget, 0.0)?.value(), 0.0);
        let identity = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(*kernel_coefficient(&identity, 800.0)?.value(), 1.0);
        // Randomized response has coefficient 1/2 at ε = 0, and 0 at its own ε₀ = ln 3.
        let respond = vec![vec![0.75, 0.25], vec![0.25, 0.75]];
        assert_relative_eq!(*kernel_coefficient(&respond, 0.0)?.value(), 0.5);
        assert!(*kernel_coefficient(&respond, 3.0_f64.ln())?.value() < 1e-15);
        // Gaussian noise σ = 2, first on inputs from an unbounded set, then on inputs from a set of diameter
        // 1.
        assert_eq!(*Gdp::new(f64::INFINITY)?.delta(1.0)?.value(), 1.0);
        assert_relative_eq!(
            *Gdp::new(0.5)?.delta(1.0)?.value(),
            0.006_829_594_983_114_575,
            max_relative = 1e-13
        );
        Ok(())
    }

    /// mpmath at 60 digits, for the floats as given. `e^800` is no float, but `e^800 · 1e-310` is about 2e37.
    #[test]
    fn weights_beyond_the_floats_are_weights() -> Result<(), Error> {
        let (p, q) = ([0.5, 0.5], [1e-310, 1.0]);
        for (epsilon, expected) in
            [(650.0, 0.5), (713.0, 0.051_290_156_380_510_904), (750.0, 0.0), (800.0, 0.0), (1e300, 0.0)]
        {
            let delta = hockey_stick(&p, &q, epsilon)?;
            assert_eq!(delta.grade(), Grade::Exact, "{epsilon}: {delta:?}");
            assert!(*delta.value() >= expected, "{epsilon}: {delta:?}");
            assert!(*delta.value() <= expected * (1.0 + 1e-9), "{epsilon}: {delta:?}");
            // In the other direction all of the first outcome's excess is lost, too.
            assert_eq!(kernel_coefficient(&[p.to_vec(), q.to_vec()], epsilon)?, delta);
        }
        Ok(())
    }

    /// mpmath at 60 digits, for the floats as given. Where the difference cancels, the grade says so.
    #[test]
    fn differences_that_cancel_are_bounds() -> Result<(), Error> {
        let close = 0.847_297_860_386_356_3;
        for (p, epsilon, expected, grade) in [
            (0.75, 3.0_f64.ln(), 0.0, Grade::UpperBound),
            (0.7, close, 5.930_663_779_169_079e-13, Grade::UpperBound),
            (0.75, 1.0, 0.070_429_542_885_238_69, Grade::Exact),
        ] {
            let rows = [vec![p, 1.0 - p], vec![1.0 - p, p]];
            let rows = if p == 0.7 { [vec![0.7, 0.3], vec![0.3, 0.7]] } else { rows };
            for delta in [hockey_stick(&rows[0], &rows[1], epsilon)?, kernel_coefficient(&rows, epsilon)?] {
                assert_eq!(delta.grade(), grade, "{p} {epsilon}: {delta:?}");
                let above = delta.value() - expected;
                assert!((0.0..2e-15).contains(&above), "{p} {epsilon}: {delta:?}");
            }
        }
        Ok(())
    }

    /// "`E_ε` equals total variation if and only if `ε = 0`" is false for laws without a common outcome.
    #[test]
    fn mutually_singular_laws_have_divergence_one() -> Result<(), Error> {
        for epsilon in [0.0, 0.5, 10.0, 1e4] {
            assert_eq!(*hockey_stick(&[0.4, 0.6, 0.0], &[0.0, 0.0, 1.0], epsilon)?.value(), 1.0);
        }
        Ok(())
    }

    #[test]
    fn bad_laws_are_refused() {
        let good = vec![0.5, 0.5];
        for bad in [vec![0.5, 0.6], vec![-0.1, 1.1], vec![f64::NAN, 1.0], vec![], vec![f64::INFINITY, 0.0]] {
            assert!(matches!(hockey_stick(&bad, &good, 0.1), Err(Error::InvalidLaw { .. })));
            assert!(matches!(kernel_coefficient(&[good.clone(), bad], 0.1), Err(Error::InvalidLaw { .. })));
        }
        assert!(matches!(
            hockey_stick(&good, &[1.0], 0.1),
            Err(Error::InvalidParameter { name: "the number of outcomes", .. })
        ));
        assert!(matches!(hockey_stick(&good, &good, -0.1), Err(Error::InvalidEpsilon(..))));
        assert!(matches!(
            kernel_coefficient(&[], 0.1),
            Err(Error::InvalidParameter { name: "the number of rows of a kernel", .. })
        ));
    }
}
