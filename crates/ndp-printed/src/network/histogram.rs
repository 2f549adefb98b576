//! The printed bounds for histograms: Theorem 2 (ring) and Theorem 6 (complete graph).

use super::Theorem3;
use super::sum::{composed, small_cycle_chance};
use ndp_dp::parts::ensure;
use ndp_dp::{Delta, Error, Printed};

/// The probability of a random answer that Theorem 2 prints, `γ = L/(e^{12 ε √(ln(1/δ)/n)} + L − 1)`.
///
/// **Inverted**: amplification by shuffling needs `ε₀ = (ε/12) √(n/ln(1/δ))`, not `12 ε √(ln(1/δ)/n)`. For
/// large `n` each printed report on its own is more private than the whole protocol needs to be, and useless.
/// Sound: [`ndp_dp::shuffling::Bound::Efmrtt`] at `ε₀`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless `labels ≥ 2` and `n ≥ 2`.
#[doc(alias = "thm2_gamma_printed")]
#[cfg(test)]
pub(crate) fn theorem2_gamma(
    labels: u32,
    epsilon: f64,
    delta: Delta,
    users: f64,
) -> Result<Printed<f64>, Error> {
    ndp_dp::parts::check_labels(labels)?;
    ndp_dp::parts::check_epsilon(epsilon)?;
    super::check_users(users)?;
    let exponent = 12.0 * epsilon * libm::sqrt(-libm::log(delta.get()) / users);
    let labels = f64::from(labels);
    Ok(Printed::new(labels / (libm::expm1(exponent) + labels)))
}

/// Theorem 6: a histogram by randomized response over the hidden walk of Theorem 3, where `walk.epsilon` is
/// the loss of one report and `delta` the `δ` of amplification by shuffling within a large cycle.
///
/// **False** for the reasons of [`Theorem3`]; its constant 14 is sound.
///
/// The printed total is `√(2N ln(1/δ′)) ε_c + N ε (e^{ε_c} − 1)` with `ε_c = max(2γ_n ε, 14 √(ln(4/δ)) ε/(c
/// n^{1/3}))`, at a total `δ` of `Nδ + δ′ + δ̂`. (The body of the paper prints `(T/n) δ`, its proof `N δ`.)
///
/// # Errors
/// [`Error::InvalidEpsilon`] or [`Error::InvalidParameter`] for a field outside its range, and unless `ε` is
/// at most `ln(c² n^{2/3}/(16 ln(2/δ)))`, for which amplification by shuffling is claimed in a large cycle.
///
/// # Examples
/// ```
/// use ndp_dp::Delta;
/// use ndp_printed::network::{Theorem3, theorem6};
/// let delta = Delta::new(1e-7)?;
/// let walk = Theorem3 { users: 1e4, steps: 1e4, epsilon: 0.1, c: Some(1.0), delta_prime: delta, delta_hat: delta };
/// assert!(theorem6(walk, delta)?.value() > walk.total_epsilon()?.value());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[doc(alias = "thm6")]
pub fn theorem6(walk: Theorem3, delta: Delta) -> Result<Printed<f64>, Error> {
    Theorem6 { walk, delta }.total_epsilon()
}

/// The arguments of [`theorem6`].
#[derive(Clone, Copy)]
struct Theorem6 {
    walk: Theorem3,
    delta: Delta,
}

impl Theorem6 {
    /// The largest `ε` for which amplification by shuffling is claimed in a large cycle,
    /// `ln(c² n^{2/3}/(16 ln(2/δ)))`; it may be negative.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] or [`Error::InvalidParameter`] for a field outside its range.
    fn epsilon_limit(&self) -> Result<Printed<f64>, Error> {
        let (c, root) = (self.walk.check()?, libm::cbrt(self.walk.users));
        Ok(Printed::new(libm::log(c * c * root * root / (16.0 * libm::log(2.0 / self.delta.get())))))
    }

    /// The printed loss of one report, `ε_c = max(2γ_n ε, 14 √(ln(4/δ)) ε/(c n^{1/3}))`.
    ///
    /// # Errors
    /// As the limit, and [`Error::InvalidParameter`] unless `ε` is at most that limit.
    fn epsilon_c(&self) -> Result<Printed<f64>, Error> {
        let limit = self.epsilon_limit()?.into_value();
        let (c, Theorem3 { users, epsilon, .. }) = (self.walk.check()?, self.walk);
        ensure(
            epsilon <= limit,
            "the epsilon of one report",
            "be at most ln(c² n^(2/3)/(16 ln(2/δ)))",
            epsilon,
        )?;
        let large = 14.0 * libm::sqrt(libm::log(4.0 / self.delta.get())) * epsilon / (c * libm::cbrt(users));
        Ok(Printed::new(f64::max(2.0 * small_cycle_chance(users, c) * epsilon, large)))
    }

    fn total_epsilon(&self) -> Result<Printed<f64>, Error> {
        let epsilon_c = self.epsilon_c()?.into_value();
        Ok(Printed::new(composed(self.walk.count(), self.walk.epsilon, epsilon_c, self.walk.delta_prime)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::refused;
    use approx::assert_relative_eq;

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    fn theorem(epsilon: f64, scale: f64) -> Theorem6 {
        let walk = Theorem3 {
            users: 1e7,
            steps: 1e9,
            epsilon,
            c: Some(8.0),
            delta_prime: delta(scale * 1e-6),
            delta_hat: delta(scale * 1e-6),
        };
        Theorem6 { walk, delta: delta(scale * 1e-9) }
    }

    /// The total with the second term corrected to that of advanced composition, `N ε_c (e^{ε_c} − 1)`.
    fn with_advanced(theorem: Theorem6) -> Result<Printed<f64>, Error> {
        let (walk, epsilon_c) = (theorem.walk, theorem.epsilon_c()?.into_value());
        Ok(Printed::new(composed(walk.count(), epsilon_c, epsilon_c, walk.delta_prime)))
    }

    #[test]
    fn formulas_match_50_digit_values() -> Result<(), Error> {
        let near = |value: Printed<f64>, expected: f64| {
            assert_relative_eq!(*value.value(), expected, max_relative = 1e-13);
        };
        near(theorem2_gamma(10, 0.1, delta(1e-6), 5000.0)?, 0.993_531_099_852_497_3);
        near(theorem2_gamma(10, 0.095, delta(9.5e-7), 5000.0)?, 0.993_850_625_953_739_9);
        near(theorem(0.2, 1.0).total_epsilon()?, 10.487_638_954_452_186);
        near(with_advanced(theorem(0.2, 1.0))?, 8.757_744_536_239_844);
        near(theorem(0.19, 0.95).total_epsilon()?, 9.802_727_292_006_618);
        near(with_advanced(theorem(0.19, 0.95))?, 8.244_440_585_940_136);
        near(theorem(0.2, 1.0).epsilon_limit()?, 9.067_533_870_262_245);
        near(theorem(0.2, 0.95).epsilon_limit()?, 9.065_141_687_811_012);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        let good = theorem(0.2, 1.0);
        let with = |walk| Theorem6 { walk, ..good }.total_epsilon();
        assert_eq!(refused(with(Theorem3 { users: f64::NAN, ..good.walk })), Some("the number of users"));
        let negative = with(Theorem3 { epsilon: -1.0, ..good.walk });
        assert!(matches!(negative, Err(Error::InvalidEpsilon(-1.0))));
        // Too few users for the shuffling bound.
        let few = with(Theorem3 { users: 100.0, c: Some(1.0), ..good.walk });
        assert_eq!(refused(few), Some("the epsilon of one report"));
        assert_eq!(
            refused(theorem6(Theorem3 { steps: 0.0, ..good.walk }, good.delta)),
            Some("the number of steps")
        );
        assert_eq!(refused(theorem2_gamma(1, 0.1, delta(0.1), 10.0)), Some("the number of labels"));
        assert!(matches!(theorem2_gamma(3, f64::NAN, delta(0.1), 10.0), Err(Error::InvalidEpsilon(_))));
        assert_eq!(refused(theorem2_gamma(3, 0.1, delta(0.1), 1.0)), Some("the number of users"));
        assert_eq!(*theorem2_gamma(3, 1e4, delta(0.1), 2.0).unwrap().value(), 0.0);
    }
}
