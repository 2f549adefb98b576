//! Shuffling bounds that are one formula for `ε`.

use super::best::check_all;
use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::{Delta, Error, UpperBound};
use ndp_numeric::rounding::Interval;

/// The `ε` at `δ` of `m` shuffled `ε₀`-DP reports of any randomizer: `12 ε₀ √(ln(1/δ)/m)`, never above `ε₀`.
///
/// Amplifies only when `m > 144 ln(1/δ)`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε₀ < ∞`; [`Error::InvalidParameter`] unless `m ≥ 1000`, `ε₀ < 1/2`
/// and `δ < 1/100`.
///
/// # References
/// Erlingsson et al. 2019, arXiv:1811.12469, Corollary 9. It is quoted with `m ≥ 100` and with `m ≥ 1000`;
/// the stricter reading is required here.
pub(crate) fn efmrtt(local_epsilon: f64, m: u64, delta: Delta) -> Result<UpperBound<f64>, Error> {
    check_efmrtt(local_epsilon, m, delta)?;
    let epsilon = Interval::new(local_epsilon) / efmrtt_factor(m, delta);
    Ok(UpperBound::new(epsilon.high().min(local_epsilon)))
}

/// The largest `ε₀` for which [`efmrtt`] gives `ε` at `δ`: `(ε/12) √(m/ln(1/δ))`, rounded down.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless `m ≥ 1000`, `δ < 1/100`
/// and the answer is below 1/2.
#[cfg(test)]
pub(crate) fn efmrtt_local_epsilon(epsilon: f64, m: u64, delta: Delta) -> Result<f64, Error> {
    check_epsilon(epsilon)?;
    let local_epsilon = (Interval::new(epsilon) * efmrtt_factor(m, delta)).low().max(0.0);
    check_efmrtt(local_epsilon, m, delta)?;
    Ok(local_epsilon)
}

/// The probability `γ` of a random answer at which `m` shuffled reports of `L`-ary randomized response are
/// `(ε, δ)`-DP by [`super::Bound::Efmrtt`]: `L/(e^{ε₀} − 1 + L)` at `ε₀ = (ε/12) √(m/ln(1/δ))`, rounded down.
///
/// This is the corrected noise level of Theorem 2 of Cyffers and Bellet 2022, with `m = n − 1` reports
/// between two visits; the printed theorem is tested against it. The first visit of that protocol is covered
/// only if [`super::fixed_blanket_delta`] is at most `δ` there.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless `m ≥ 1000`, `δ < 1/100`,
/// `ε₀` is below 1/2 and `labels ≥ 2`.
#[doc(alias = "thm2_gamma_corrected")]
#[cfg(test)]
pub(crate) fn efmrtt_gamma(labels: u32, epsilon: f64, delta: Delta, m: u64) -> Result<f64, Error> {
    crate::randomized_response::gamma(labels, efmrtt_local_epsilon(epsilon, m, delta)?)
}

/// The `ε` at `δ` of `m` shuffled `ε₀`-DP reports of any randomizer, never above `ε₀`:
/// `ln(1 + tanh(ε₀/2) (8 √(e^{ε₀} ln(4/δ)/m) + 8 e^{ε₀}/m))`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε₀ < ∞`; [`Error::InvalidParameter`] unless `m ≥ 1` and
/// [`clones_closed_holds`]: `ε₀ ≤ ln(m/(16 ln(2/δ)))`.
///
/// # References
/// Feldman, McMillan and Talwar 2020, arXiv:2012.12803, Theorem 3.1.
pub(crate) fn clones_closed(local_epsilon: f64, m: u64, delta: Delta) -> Result<UpperBound<f64>, Error> {
    check_all(local_epsilon, m)?;
    ensure(
        clones_closed_holds(local_epsilon, m, delta),
        "the local epsilon of the closed clones bound",
        "be at most ln(m/(16 ln(2/δ)))",
        local_epsilon,
    )?;
    let (reports, local) = (Interval::count(m), Interval::new(local_epsilon));
    let (power, eight) = (local.exp(), Interval::new(8.0));
    let log = (Interval::new(4.0) / Interval::new(delta.get())).ln();
    let spread = eight * (power * log / reports).sqrt() + eight * power / reports;
    let epsilon = ((Interval::new(0.5) * local).tanh() * spread).ln_1p();
    Ok(UpperBound::new(epsilon.high().min(local_epsilon)))
}

/// Whether [`clones_closed`] applies: `ε₀ ≤ ln(m/(16 ln(2/δ)))`.
pub(crate) fn clones_closed_holds(local_epsilon: f64, m: u64, delta: Delta) -> bool {
    let log = (Interval::new(2.0) / Interval::new(delta.get())).ln();
    local_epsilon <= (Interval::count(m) / (Interval::new(16.0) * log)).ln().low()
}

/// `√(m/ln(1/δ))/12`, the factor by which the closed bound divides `ε₀`.
fn efmrtt_factor(m: u64, delta: Delta) -> Interval {
    (Interval::count(m) / -Interval::new(delta.get()).ln()).sqrt() / Interval::new(12.0)
}

fn check_efmrtt(local_epsilon: f64, m: u64, delta: Delta) -> Result<(), Error> {
    check_epsilon(local_epsilon)?;
    ensure(m >= 1000, "the number of shuffled reports", "be at least 1000 for this closed bound", m as f64)?;
    ensure(delta.get() < 0.01, "delta", "be below 1/100 for this closed bound", delta.get())?;
    ensure(
        local_epsilon < 0.5,
        "the local epsilon",
        "be below 1/2 for this closed shuffling bound",
        local_epsilon,
    )
}

#[cfg(test)]
mod tests {
    use super::super::clones_delta;
    use super::*;
    use crate::error::refused;
    use approx::assert_relative_eq;

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    #[test]
    fn closed_forms_match_50_digit_values() -> Result<(), Error> {
        let efmrtt = |local, x| efmrtt(local, 5000, delta(x)).map(UpperBound::into_value);
        assert_relative_eq!(efmrtt(0.3, 1e-6)?, 0.189_234_783_711_249_55, max_relative = 1e-13);
        assert_relative_eq!(efmrtt(0.285, 9.5e-7)?, 0.180_106_459_950_023_94, max_relative = 1e-13);
        let clones = |x| clones_closed(1.0, 2000, delta(x)).map(UpperBound::into_value);
        assert_relative_eq!(clones(1e-5)?, 0.401_810_727_968_400_5, max_relative = 1e-13);
        assert_relative_eq!(clones(9.5e-6)?, 0.402_461_077_288_819_2, max_relative = 1e-13);
        assert!(clones_closed_holds(1.0, 2000, delta(1e-5)));
        assert!(!clones_closed_holds(3.0, 1000, delta(1e-6)));
        let gamma = |epsilon, x| efmrtt_gamma(10, epsilon, delta(x), 4999);
        assert_relative_eq!(gamma(0.1, 1e-6)?, 0.983_112_846_930_588_4, max_relative = 1e-13);
        assert_relative_eq!(gamma(0.095, 9.5e-7)?, 0.984_039_118_571_770_8, max_relative = 1e-13);
        Ok(())
    }

    #[test]
    fn closed_forms_lie_above_the_numeric_clones() -> Result<(), Error> {
        for (local, m, x) in [(1.0, 2000, 1e-5), (0.4, 3000, 1e-6), (2.0, 5000, 1e-4), (0.1, 1000, 1e-3)] {
            let mut closed = Vec::new();
            if clones_closed_holds(local, m, delta(x)) {
                closed.push(*clones_closed(local, m, delta(x))?.value());
            }
            if local < 0.5 {
                closed.push(*efmrtt(local, m, delta(x))?.value());
            }
            assert!(!closed.is_empty());
            for epsilon in closed {
                assert!(epsilon <= local && *clones_delta(epsilon, local, m)?.value() <= x);
            }
        }
        Ok(())
    }

    #[test]
    fn the_inverse_meets_its_target() -> Result<(), Error> {
        let local = efmrtt_local_epsilon(0.03, 100_000, delta(1e-4))?;
        assert_relative_eq!(*efmrtt(local, 100_000, delta(1e-4))?.value(), 0.03, max_relative = 1e-14);
        Ok(())
    }

    #[test]
    fn preconditions_are_required() {
        assert_eq!(refused(efmrtt(0.5, 5000, delta(1e-6))), Some("the local epsilon"));
        assert_eq!(refused(efmrtt(0.1, 999, delta(1e-6))), Some("the number of shuffled reports"));
        assert_eq!(refused(efmrtt(0.1, 5000, delta(0.01))), Some("delta"));
        assert!(matches!(efmrtt(f64::NAN, 5000, delta(1e-6)), Err(Error::InvalidEpsilon(_))));
        assert_eq!(refused(efmrtt_local_epsilon(1.0, 100_000, delta(1e-6))), Some("the local epsilon"));
        assert!(matches!(
            efmrtt_local_epsilon(f64::NAN, 100_000, delta(1e-6)),
            Err(Error::InvalidEpsilon(_))
        ));
        assert_eq!(refused(efmrtt_gamma(1, 0.1, delta(1e-6), 4999)), Some("the number of labels"));
        assert_eq!(
            refused(clones_closed(3.0, 1000, delta(1e-6))),
            Some("the local epsilon of the closed clones bound")
        );
        assert!(matches!(clones_closed(f64::NAN, 1000, delta(1e-6)), Err(Error::InvalidEpsilon(_))));
        assert_eq!(refused(clones_closed(0.0, 0, delta(1e-6))), Some("the number of shuffled reports"));
        assert_eq!(*clones_closed(0.0, 1_000_000_000_000, delta(1e-6)).unwrap().value(), 0.0);
    }
}
