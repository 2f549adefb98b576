//! The printed bounds for real sums on the complete graph: Theorem 3 and the poster's Theorem 4.

use super::{check_steps, check_users};
use ndp_dp::parts::check_epsilon;
use ndp_dp::parts::{ensure, ensure_positive};
use ndp_dp::search;
use ndp_dp::{Delta, Error, Printed};
use serde::{Deserialize, Serialize};

/// The printed number of contributions of a user, `N = T/n + √(3 (T/n) ln(1/δ̂))`.
///
/// **False** outside `T/n ≥ 3 ln(1/δ̂)`: at `T = n = 1000`, `δ̂ = 1e-6` it is 7.4, but 8 or more
/// contributions have probability 1.0e-5. Sound: [`ndp_dp::tails::n_exact`].
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `T ≥ 1`, both finite.
pub fn contributions(steps: f64, users: f64, delta_hat: Delta) -> Result<Printed<f64>, Error> {
    check_users(users)?;
    check_steps(steps)?;
    Ok(Printed::new(count(steps / users, delta_hat)))
}

/// The printed chance that a small cycle contains a given user, `γ_n = 1 − (1 − 1/n)^{c² n^{2/3}}`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `c > 0`, both finite.
#[cfg(test)]
pub(crate) fn gamma_n(users: f64, c: f64) -> Result<Printed<f64>, Error> {
    check_users(users)?;
    ensure_positive("the constant c of the cycle length", c)?;
    Ok(Printed::new(small_cycle_chance(users, c)))
}

/// The constant `c` that minimises the printed bounds: the root of `2γ_n(c) = 1/(c n^{1/3})`; it tends to
/// `2^{−1/3}` as `n` grows.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2`, finite.
#[doc(alias = "thm3_c_star")]
pub(crate) fn best_c(users: f64) -> Result<Printed<f64>, Error> {
    check_users(users)?;
    let crossed = |c: f64| 2.0 * small_cycle_chance(users, c) * c * libm::cbrt(users) >= 1.0;
    // γ_n ≤ 1, so the root is above 1/(2n^{1/3}); at c = 2 the left side is above 1 for every n ≥ 2.
    Ok(Printed::new(search::smallest(0.0, 2.0, crossed).unwrap_or(2.0)))
}

/// Theorem 3: a sum over a hidden uniform walk of `T` steps on the complete graph of `n` users, each
/// contribution `(ε, δ)`-DP on its own.
///
/// **False.** A cycle of length `l` holds `l − 1` foreign noises, not `l`; contributions of one user within a
/// cycle add linearly; subsampling cannot be used after conditioning on a contribution; and [`contributions`]
/// fails outside its range. The sound accountants average over the walk.
///
/// # Examples
/// ```
/// use ndp_dp::Delta;
/// use ndp_printed::network::Theorem3;
/// let delta = Delta::new(1e-7)?;
/// let claimed = Theorem3 { users: 1e4, steps: 1e4, epsilon: 0.1, c: None, delta_prime: delta, delta_hat: delta };
/// assert!(claimed.total_epsilon()?.into_value() < 3.0);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theorem3 {
    /// Users `n ≥ 2`.
    #[serde(with = "ndp_dp::lossless")]
    pub users: f64,
    /// Steps `T ≥ 1`.
    #[serde(with = "ndp_dp::lossless")]
    pub steps: f64,
    /// The `ε` of one contribution, `ε < 1`.
    #[serde(with = "ndp_dp::lossless")]
    pub epsilon: f64,
    /// The free constant `c > 0` of the threshold `c² n^{2/3}` between small and large cycles; `None` for the
    /// one that minimises the bound, the root of `2γ_n(c) = 1/(c n^{1/3})`.
    pub c: Option<f64>,
    /// Slack `δ′` of advanced composition.
    pub delta_prime: Delta,
    /// Failure probability `δ̂` of the count of contributions.
    pub delta_hat: Delta,
}

impl Theorem3 {
    /// The printed loss of one contribution, `ε_c = max(2γ_n ε, ε/(c n^{1/3}))`.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] or [`Error::InvalidParameter`] for a field outside its range.
    pub(crate) fn epsilon_c(&self) -> Result<Printed<f64>, Error> {
        let c = self.check()?;
        let large = self.epsilon / (c * libm::cbrt(self.users));
        Ok(Printed::new(f64::max(2.0 * small_cycle_chance(self.users, c) * self.epsilon, large)))
    }

    /// The printed total, `√(2N ln(1/δ′)) ε_c + N ε (e^{ε_c} − 1)`, at a total `δ` of `Nδ + δ′ + δ̂` for
    /// contributions that are `(ε, δ)`-DP, with `N` of [`contributions`] and the loss of one contribution
    /// `ε_c = max(2γ_n ε, ε/(c n^{1/3}))`, where `γ_n = 1 − (1 − 1/n)^{c² n^{2/3}}` is the chance that a
    /// small cycle contains a given user.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] or [`Error::InvalidParameter`] for a field outside its range.
    #[doc(alias = "thm3_eps_printed")]
    pub fn total_epsilon(&self) -> Result<Printed<f64>, Error> {
        let epsilon_c = self.epsilon_c()?.into_value();
        Ok(Printed::new(composed(self.count(), self.epsilon, epsilon_c, self.delta_prime)))
    }

    /// The total with the second term that advanced composition gives, `√(2N ln(1/δ′)) ε_c + N ε_c (e^{ε_c} −
    /// 1)`.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] or [`Error::InvalidParameter`] for a field outside its range.
    #[doc(alias = "thm3_eps_drv")]
    pub fn total_epsilon_composed(&self) -> Result<Printed<f64>, Error> {
        let epsilon_c = self.epsilon_c()?.into_value();
        Ok(Printed::new(composed(self.count(), epsilon_c, epsilon_c, self.delta_prime)))
    }

    pub(super) fn count(&self) -> f64 {
        count(self.steps / self.users, self.delta_hat)
    }

    /// Checks every field; returns the constant `c`.
    pub(super) fn check(&self) -> Result<f64, Error> {
        check_users(self.users)?;
        check_steps(self.steps)?;
        check_epsilon(self.epsilon)?;
        ensure(self.epsilon < 1.0, "the epsilon of one contribution", "be below 1", self.epsilon)?;
        let Some(c) = self.c else { return Ok(best_c(self.users)?.into_value()) };
        ensure_positive("the constant c of the cycle length", c)?;
        Ok(c)
    }
}

/// The poster's Theorem 4, an older and weaker form of Theorem 3, for a walk of `steps` steps among `users`,
/// where one contribution costs `epsilon`; the same `δ` is used for the count and for composition. It has the
/// defects of [`Theorem3`].
///
/// `√(2Nl) u + 2√(2Nγl) ε + N u (e^u − 1) + 4Nγε (e^ε − 1)` with `N = T/n + √(1.5 T ln(1/δ))`, `γ = 1 − (1 −
/// 1/n)^{√n/2}`, `l = ln(1/δ)` and `u = √2 ε/n^{1/4}`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless `n ≥ 2` and `T ≥ 1`, both
/// finite.
///
/// # Examples
/// ```
/// use ndp_dp::Delta;
/// use ndp_printed::network::poster_theorem4;
/// let delta = Delta::new(1e-7)?;
/// let (few, many) = (poster_theorem4(1e4, 1e4, 0.1, delta)?, poster_theorem4(1e4, 1e5, 0.1, delta)?);
/// assert!(few.value() < many.value());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[doc(alias = "poster_thm4")]
pub fn poster_theorem4(users: f64, steps: f64, epsilon: f64, delta: Delta) -> Result<Printed<f64>, Error> {
    check_users(users)?;
    check_steps(steps)?;
    check_epsilon(epsilon)?;
    let log = -libm::log(delta.get());
    let (contributions, gamma) = poster_parts(users, steps, log);
    // Products are grouped so that an overflow is never multiplied by zero.
    let u = std::f64::consts::SQRT_2 * epsilon / libm::sqrt(libm::sqrt(users));
    let spread = libm::sqrt(2.0 * log) * libm::sqrt(contributions);
    let total = spread * u
        + 2.0 * spread * libm::sqrt(gamma) * epsilon
        + contributions * u * libm::expm1(u)
        + 4.0 * (contributions * gamma * epsilon) * libm::expm1(epsilon);
    Ok(Printed::new(total))
}

/// `N = T/n + √(1.5 T l)` and `γ = 1 − (1 − 1/n)^{√n/2}`.
fn poster_parts(users: f64, steps: f64, log: f64) -> (f64, f64) {
    let contributions = steps / users + libm::sqrt(1.5 * log) * libm::sqrt(steps);
    (contributions, -libm::expm1(0.5 * libm::sqrt(users) * libm::log1p(-1.0 / users)))
}

/// `m + √(3 m ln(1/δ̂))` for a mean of `m`.
pub(super) fn count(mean: f64, delta_hat: Delta) -> f64 {
    mean + libm::sqrt(-3.0 * libm::log(delta_hat.get())) * libm::sqrt(mean)
}

/// `1 − (1 − 1/n)^{c² n^{2/3}}`.
pub(super) fn small_cycle_chance(users: f64, c: f64) -> f64 {
    let root = libm::cbrt(users);
    -libm::expm1(c * c * root * root * libm::log1p(-1.0 / users))
}

/// `√(2N ln(1/δ′)) ε_c + N ε (e^{ε_c} − 1)`.
pub(super) fn composed(count: f64, epsilon: f64, epsilon_c: f64, delta_prime: Delta) -> f64 {
    libm::sqrt(-2.0 * libm::log(delta_prime.get())) * libm::sqrt(count) * epsilon_c
        + count * epsilon * libm::expm1(epsilon_c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::refused;
    use approx::assert_relative_eq;

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    fn near(value: Printed<f64>, expected: f64) {
        assert_relative_eq!(*value.value(), expected, max_relative = 1e-13);
    }

    #[test]
    fn formulas_match_50_digit_values() -> Result<(), Error> {
        near(contributions(10_000.0, 100.0, delta(1e-6))?, 164.378_980_788_680_4);
        near(gamma_n(100.0, 1.0)?, 0.194_689_951_332_966_54);
        near(gamma_n(101.0, 2.0)?, 0.578_190_149_002_891_3);
        near(best_c(100.0)?, 0.811_186_001_246_079_2);
        near(best_c(1000.0)?, 0.802_080_951_288_672_8);
        let theorem = |epsilon, c, x| Theorem3 {
            users: 100.0,
            steps: 10_000.0,
            epsilon,
            c: Some(c),
            delta_prime: delta(x),
            delta_hat: delta(x),
        };
        near(theorem(0.1, 1.0, 1e-6).epsilon_c()?, 0.038_937_990_266_593_31);
        near(theorem(0.095, 1.0, 1e-6).epsilon_c()?, 0.036_991_090_753_263_64);
        near(theorem(0.1, 0.8, 1e-6).total_epsilon()?, 2.263_645_585_394_465);
        near(theorem(0.095, 0.76, 9.5e-7).total_epsilon()?, 2.245_546_849_656_373_6);
        near(theorem(0.1, 0.8, 1e-6).total_epsilon_composed()?, 1.935_786_552_995_372_6);
        near(theorem(0.095, 0.76, 9.5e-7).total_epsilon_composed()?, 1.939_900_684_302_728_3);
        Ok(())
    }

    #[test]
    fn the_poster_matches_50_digit_values() -> Result<(), Error> {
        for (epsilon, x, count, total) in [
            (0.1, 1e-6, 555.228_138_815_543_9, 13.303_752_699_034_585),
            (0.095, 9.5e-7, 556.072_426_030_424_9, 12.556_990_141_170_53),
        ] {
            let poster = poster_theorem4(100.0, 10_000.0, epsilon, delta(x))?.into_value();
            let parts = poster_parts(100.0, 10_000.0, -libm::log(x));
            assert_relative_eq!(parts.0, count, max_relative = 1e-13);
            assert_relative_eq!(parts.1, 0.049_009_950_1, max_relative = 1e-13);
            assert_relative_eq!(poster, total, max_relative = 1e-13);
        }
        Ok(())
    }

    #[test]
    fn ends_are_limits_or_errors() -> Result<(), Error> {
        for users in [2.0, 1e12, 1e300] {
            let c = best_c(users)?.into_value();
            assert!((0.5..2.0).contains(&c));
        }
        // The asymptotic constant 2^{−1/3}.
        assert_relative_eq!(best_c(1e15)?.into_value(), 0.5f64.cbrt(), max_relative = 1e-4);
        for bad in [f64::NAN, 1.0, 0.0, -3.0, f64::INFINITY] {
            assert_eq!(refused(contributions(10.0, bad, delta(0.1))), Some("the number of users"));
            assert_eq!(refused(gamma_n(bad, 1.0)), Some("the number of users"));
            assert_eq!(refused(best_c(bad)), Some("the number of users"));
            assert_eq!(refused(poster_theorem4(bad, 10.0, 0.1, delta(0.1))), Some("the number of users"));
        }
        let good = Theorem3 {
            users: 10.0,
            steps: 10.0,
            epsilon: 0.1,
            c: Some(1.0),
            delta_prime: delta(0.1),
            delta_hat: delta(0.1),
        };
        assert!(good.total_epsilon().is_ok());
        // The best constant is no worse than any other one.
        let best = Theorem3 { c: None, ..good };
        assert!(best.total_epsilon()?.value() <= good.total_epsilon()?.value());
        assert_eq!(
            refused(Theorem3 { users: f64::NAN, ..best }.total_epsilon()),
            Some("the number of users")
        );
        for (bad, name) in [
            (Theorem3 { users: 1.0, ..good }, Some("the number of users")),
            (Theorem3 { steps: 0.0, ..good }, Some("the number of steps")),
            (Theorem3 { epsilon: 1.0, ..good }, Some("the epsilon of one contribution")),
            (Theorem3 { c: Some(0.0), ..good }, Some("the constant c of the cycle length")),
        ] {
            assert_eq!((refused(bad.total_epsilon()), refused(bad.total_epsilon_composed())), (name, name));
        }
        let bad = Theorem3 { epsilon: f64::NAN, ..good };
        assert!(matches!(bad.total_epsilon(), Err(Error::InvalidEpsilon(_))));
        assert!(matches!(bad.total_epsilon_composed(), Err(Error::InvalidEpsilon(_))));
        assert_eq!(refused(gamma_n(10.0, f64::NAN)), Some("the constant c of the cycle length"));
        assert!(matches!(poster_theorem4(10.0, 10.0, -0.1, delta(0.1)), Err(Error::InvalidEpsilon(_))));
        Ok(())
    }
}
