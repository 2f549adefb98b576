//! Geometric gaps: `E[1/G]` and the moment generating function `φ = E[e^{θ/G}]`.
//!
//! On the complete graph the number of steps `G ∈ {1, 2, …}` until the token next meets one of `k` given
//! users out of `n` is geometric with parameter `p = k/n`.

use crate::Error;
#[cfg(test)]
use crate::UpperBound;
use crate::error::ensure;
use serde::Serialize;

/// The geometric law on `{1, 2, …}`: `P(G = g) = p (1 − p)^{g−1}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Geometric {
    pub(crate) p: f64,
    q: f64,
}

crate::lossless::checked_fields! { Geometric { p: f64, q: f64 } => Self::from_parts(p, q) }

impl Geometric {
    /// The law with success probability `p`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 < p ≤ 1`.
    pub(crate) fn new(p: f64) -> Result<Self, Error> {
        ensure(0.0 < p && p <= 1.0, "the parameter of a geometric law", "lie above 0 and be at most 1", p)?;
        Ok(Self { p, q: 1.0 - p })
    }

    /// Both probabilities, each rounded to nearest: their sum is 1 within one rounding of each.
    fn from_parts(p: f64, q: f64) -> Result<Self, Error> {
        Self::new(p)?;
        ensure(
            0.0 <= q && (p + q - 1.0).abs() <= f64::EPSILON,
            "the probability of no success of a geometric law",
            "be 1 minus that of success",
            q,
        )?;
        Ok(Self { p, q })
    }

    /// The law with `p = hits/users`: when does a uniform walk next meet one of `hits` given users?
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `1 ≤ hits ≤ users`.
    pub(crate) fn meeting(hits: u64, users: u64) -> Result<Self, Error> {
        ensure(
            1 <= hits && hits <= users,
            "the number of users to meet",
            "lie between 1 and the number of all users",
            hits as f64,
        )?;
        Ok(Self { p: hits as f64 / users as f64, q: (users - hits) as f64 / users as f64 })
    }

    /// The gap from a contribution of the exposed user to the next event that ends its hiding, on the
    /// complete graph of `users` with `colluders` merged observers: that user or an observer holds the token,
    /// `p = min(1, (c + 1)/n)`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `1 ≤ c < n`.
    pub(crate) fn until_seen(users: u64, colluders: u64) -> Result<Self, Error> {
        ensure(
            1 <= colluders && colluders < users,
            "the number of colluders",
            "lie between 1 and the number of users minus 1",
            colluders as f64,
        )?;
        Self::meeting(colluders + 1, users)
    }

    /// `E[1/G] = −p ln p/(1 − p)`, 1 for `p = 1`, rounded up. For `p = 1/n` it is `ln n/(n − 1)`, more than
    /// the printed `ln n/n`.
    #[doc(alias = "geometric_inverse_mean")]
    #[must_use]
    #[cfg(test)]
    pub(crate) fn inverse_mean(self) -> crate::Exact<f64> {
        // At most one epsilon each for p, q, the logarithm and the two operations. Near p = 1, where the
        // small logarithm would magnify the error of p, it is taken from q.
        crate::Exact::new(if self.q == 0.0 {
            1.0
        } else {
            ndp_numeric::rounding::up(-self.p * self.log_p() / self.q, 8.0).min(1.0)
        })
    }

    /// `ln E[e^{θ/G}]`, rounded up: the exponent of the Rényi loss of one contribution.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞`.
    ///
    /// # Complexity
    /// A few hundred operations for any `p` and `θ`.
    #[cfg(test)]
    pub(crate) fn log_phi(self, theta: f64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        Ok(UpperBound::new(self.log_phi_unchecked(theta)))
    }

    /// [`Self::log_phi`] for `θ ≥ 0`, `∞` at `∞`.
    pub(crate) fn log_phi_unchecked(self, theta: f64) -> f64 {
        if self.q == 0.0 || theta == 0.0 || theta.is_infinite() {
            return theta;
        }
        let log_phi = if theta > 64.0 {
            self.log_phi_shifted(theta)
        } else if self.p > 0.3 {
            libm::log1p(self.excess_by_terms(theta))
        } else {
            libm::log1p(self.excess_by_polylogarithms(theta))
        };
        // As G ≥ 1, φ ≤ e^θ.
        (log_phi * ROUNDING).min(theta)
    }

    /// `ln E[e^{θ/min(G, longest)}]`, rounded up: a displacement counts as hidden after at most `longest ≥ 1`
    /// steps. For `θ ≥ 0`, `∞` at `∞`.
    pub(crate) fn log_phi_cut(self, theta: f64, longest: u64) -> f64 {
        if self.q == 0.0 || theta == 0.0 || theta.is_infinite() || longest <= 1 {
            return theta;
        }
        let log_q = if self.p < 0.5 { libm::log1p(-self.p) } else { libm::log(self.q) };
        // ln of q^collected (e^{θ/longest} − 1): the gaps longer than `collected` are charged like one of
        // `longest` steps.
        let log_rest = |collected: u64| {
            collected as f64 * log_q + ndp_numeric::logspace::log_expm1(theta / longest as f64)
        };
        let log_excess = if longest <= MAX_SUM {
            let terms: Vec<f64> = (1..longest)
                .map(|g| {
                    libm::log(self.p)
                        + (g - 1) as f64 * log_q
                        + ndp_numeric::logspace::log_expm1(theta / g as f64)
                })
                .chain([log_rest(longest - 1)])
                .collect();
            ndp_numeric::logspace::log_sum_exp(&terms)
        } else {
            // An upper bound: the moment of the whole law, plus the charge of the long gaps, which are thus
            // charged twice.
            let log_phi = self.log_phi_unchecked(theta);
            ndp_numeric::logspace::log_add_exp(
                ndp_numeric::logspace::log_expm1(log_phi),
                log_rest(longest - 1),
            )
        };
        // Logarithms of terms that matter lie above -900, or are at most ln φ and covered by the factor:
        // three roundings of 900 and 4,096 sums move the result by less than (2,700 + 4,096 + 100) 2^{-53} <
        // 8e-13.
        let log_phi = ndp_numeric::logspace::log_add_exp(0.0, log_excess + 1e-12);
        (log_phi * ROUNDING).min(theta)
    }

    #[cfg(test)]
    fn log_p(self) -> f64 {
        if self.q < 0.5 { libm::log1p(-self.q) } else { libm::log(self.p) }
    }

    /// `φ − 1 = Σ_g p q^{g−1} (e^{θ/g} − 1)` term by term, rounded up: the remainder after `G` terms is at
    /// most `q^G (e^{θ/(G+1)} − 1)`.
    fn excess_by_terms(self, theta: f64) -> f64 {
        let mut sum = 0.0;
        let mut weight = 1.0;
        for g in 1..=MAX_TERMS {
            sum += self.p * weight * libm::expm1(theta / f64::from(g));
            weight *= self.q;
            let rest = weight * libm::expm1(theta / f64::from(g + 1));
            if rest <= 1e-14 * sum || g == MAX_TERMS {
                return sum + rest;
            }
        }
        sum
    }

    /// `ln φ` for `θ > 64` as `θ + ln(e^{−θ} φ)`; the first few terms of this sum are all that matters.
    fn log_phi_shifted(self, theta: f64) -> f64 {
        let mut sum = 0.0;
        let mut weight = 1.0;
        for g in 1..=MAX_TERMS {
            sum += self.p * weight * libm::exp(theta / f64::from(g) - theta);
            weight *= self.q;
            let rest = weight * libm::exp(theta / f64::from(g + 1) - theta);
            if rest <= 1e-14 * sum || g == MAX_TERMS {
                return theta + libm::log(sum + rest);
            }
        }
        theta
    }

    /// `φ − 1 = (p/q) Σ_{j≥1} θ^j/j! Li_j(q)` for `p ≤ 0.3` and `θ ≤ 64`, rounded up: the sum over `g` would
    /// need `30/p` terms.
    fn excess_by_polylogarithms(self, theta: f64) -> f64 {
        let polylogarithm = Polylogarithm::new(self.q, self.p);
        let mut powers = [0.0; DIRECT_TERMS];
        let mut sum = 0.0;
        // θ^j/j!.
        let mut weight = 1.0;
        for j in 1..=MAX_POWERS {
            weight *= theta / f64::from(j);
            let value = if j < DIRECT_FROM {
                polylogarithm.value(j)
            } else {
                // Σ_g q^g/g^j: from this j on eight terms are enough, since the ninth is below 1e-19.
                for (power, g) in powers.iter_mut().zip(1..) {
                    let base = f64::from(g);
                    *power = if j == DIRECT_FROM {
                        libm::pow(self.q, base) / libm::pow(base, f64::from(j))
                    } else {
                        *power / base
                    };
                }
                powers.iter().sum()
            };
            let term = weight * value;
            sum += term;
            let ratio = theta / f64::from(j + 1);
            // Li_j decreases in j, so a geometric series bounds the remainder.
            if ratio < 0.5 && term * ratio <= 1e-17 * sum {
                sum += 2.0 * term * ratio;
                break;
            }
        }
        self.p / self.q * sum
    }
}

/// The largest `longest` of [`Geometric::log_phi_cut`] that is summed term by term; larger ones are bounded.
const MAX_SUM: u64 = 4096;

/// `θ` of a moment generating function: nonnegative and finite.
pub(crate) fn check_theta(theta: f64) -> Result<(), Error> {
    ensure(theta >= 0.0 && theta.is_finite(), "theta", "be nonnegative and finite", theta)
}

/// `Li_j(q)` for `2 ≤ j < 20` and `q = e^{−a}` with `a < 0.4`, by
/// `Li_j(e^{−a}) = Σ_{k ≠ j−1} ζ(j−k) (−a)^k/k! + (−a)^{j−1}/(j−1)! (H_{j−1} − ln a)`.
struct Polylogarithm {
    a: f64,
    log_a: f64,
    log_p: f64,
}

impl Polylogarithm {
    fn new(q: f64, p: f64) -> Self {
        let a = if p < 0.5 { -libm::log1p(-p) } else { -libm::log(q) };
        Self { a, log_a: libm::log(a), log_p: libm::log(p) }
    }

    fn value(&self, j: i32) -> f64 {
        if j == 1 {
            return -self.log_p;
        }
        let mut sum = 0.0;
        // (−a)^k/k!.
        let mut weight = 1.0;
        let mut harmonic = 0.0;
        for k in 0..j + 14 {
            if k > 0 {
                weight *= -self.a / f64::from(k);
            }
            sum += weight * if k == j - 1 { harmonic - self.log_a } else { zeta(j - k) };
            harmonic += 1.0 / f64::from(k + 1);
        }
        sum
    }
}

/// Riemann's `ζ` at the integers from −14 to 19, 1 excepted.
fn zeta(s: i32) -> f64 {
    let entry = |table: &[f64], place: i32| usize::try_from(place).ok().and_then(|at| table.get(at).copied());
    match s {
        2.. => entry(&ZETA_FROM_2, s - 2).unwrap_or(1.0),
        0 => -0.5,
        _ => entry(&ZETA_AT_ODD_NEGATIVES, (-s - 1) / 2).filter(|_| s % 2 != 0).unwrap_or(0.0),
    }
}

/// `ζ(2), …, ζ(19)`; mpmath at 40 digits.
const ZETA_FROM_2: [f64; 18] = [
    1.6449340668482264,
    1.2020569031595942,
    1.0823232337111381,
    1.03692775514337,
    1.0173430619844492,
    1.008349277381923,
    1.0040773561979444,
    1.0020083928260821,
    1.000994575127818,
    1.0004941886041194,
    1.000246086553308,
    1.0001227133475785,
    1.0000612481350588,
    1.000030588236307,
    1.0000152822594086,
    1.0000076371976379,
    1.000003817293265,
    1.0000019082127165,
];

/// `ζ(−1), ζ(−3), …, ζ(−13)`: `−B_{2k}/(2k)`.
const ZETA_AT_ODD_NEGATIVES: [f64; 7] =
    [-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0, 691.0 / 32_760.0, -1.0 / 12.0];

/// From this power on a polylogarithm is summed directly over [`DIRECT_TERMS`] terms.
const DIRECT_FROM: i32 = 20;
/// `9^{−20}` is below 1e-19.
const DIRECT_TERMS: usize = 8;
/// The most powers of `θ` that are summed; at `θ = 64` about 250 of them matter.
const MAX_POWERS: i32 = 1000;
/// The most terms that are summed one by one. More would be needed only for `p` below 1e-14, and the bound on
/// the remainder is still valid then.
const MAX_TERMS: u32 = 4096;
/// More than the rounding of [`Geometric::log_phi_unchecked`], in units of `u = 2^{−53}`, where `1e-13` is
/// 900. All terms are positive, and `ln(1 + x)` has no larger relative error than `x`.
///
/// * Term by term, `p > 0.3`: the exponent `θ/g ≤ 64` moves `e^{θ/g} − 1` by `65 u`, at most 90 powers of
///   `q` and as many sums by `3·90 u`; together below 350.
/// * Polylogarithms: eighteen terms of at most `2.5` together, each right to `12 u`, for a result above
///   `0.7`: `110 u`. As `Li_j` decreases in `j`, `Σ_j j θ^j/j! Li_j ≤ (θ + 1) Σ_j θ^j/j! Li_j`, so powers
///   count `2·65 u`, and at most 300 sums as many; together below 600.
/// * Shifted, `θ > 64`: as `p ≥ 2^{−64}`, terms with exponents below `−82` do not matter; sums count
///   `(4096 + 2·82) u` in `ln φ ≥ θ + ln p > 19`, and its own sum `θ u/(θ + ln p) < 4 u`; together below
///   250. For a smaller `p` the bound on the remainder is larger than the rounding.
///
/// `checks/outward.rs` looks at 42 extreme points from both sides.
const ROUNDING: f64 = 1.0 + 1e-13;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn inverse_means_match_50_digit_values() -> Result<(), Error> {
        assert_relative_eq!(
            *Geometric::new(0.25)?.inverse_mean().value(),
            0.462_098_120_373_296_9,
            max_relative = 1e-14
        );
        assert_relative_eq!(
            *Geometric::new(0.01)?.inverse_mean().value(),
            0.046_516_870_565_536_28,
            max_relative = 1e-14
        );
        assert_relative_eq!(
            *Geometric::meeting(3, 1000)?.inverse_mean().value(),
            0.017_479_868_576_672_098,
            max_relative = 1e-14
        );
        assert_relative_eq!(
            *Geometric::meeting(4, 1001)?.inverse_mean().value(),
            0.022_156_310_604_595_105,
            max_relative = 1e-14
        );
        assert_eq!(*Geometric::new(1.0)?.inverse_mean().value(), 1.0);
        // −p ln p/(1 − p) = 1 − (1 − p)/2 + …
        let near = 1.0 - 1e-9;
        assert_relative_eq!(*Geometric::new(near)?.inverse_mean().value(), 1.0 - 5e-10, max_relative = 3e-15);
        Ok(())
    }

    #[test]
    fn the_printed_inverse_mean_is_too_small() -> Result<(), Error> {
        for n in [2, 10, 1000] {
            let exact = *Geometric::meeting(1, n)?.inverse_mean().value();
            let n = n as f64;
            assert_relative_eq!(exact, n.ln() / (n - 1.0), max_relative = 1e-14);
            assert!(exact > n.ln() / n);
        }
        Ok(())
    }

    /// Values of mpmath at 40 digits: `log1p(nsum(...))` over all `g`.
    #[test]
    fn log_phi_matches_high_precision() -> Result<(), Error> {
        for (hits, users, theta, expected) in LOG_PHI {
            let value = *Geometric::meeting(hits, users)?.log_phi(theta)?.value();
            assert_relative_eq!(value, expected, max_relative = 1e-12);
        }
        Ok(())
    }

    const LOG_PHI: [(u64, u64, f64, f64); 15] = [
        (2, 20, 0.5, 0.1386403996143533),
        (2, 500, 1.0, 0.026103117825519856),
        (2, 2000, 1e-08, 6.914669956885312e-11),
        (2, 3, 1.0, 0.8452315736701372),
        (1, 2, 1.0, 0.7421349299420026),
        (3, 10, 2.0, 1.2724044162223727),
        (31, 100, 7.0, 5.857458391609917),
        (30, 100, 7.0, 5.825328179435521),
        (2, 1000000, 5.0, 0.00044782170107825485),
        (2, 1000000000000, 0.3, 1.6322361654026948e-11),
        (2, 100, 63.0, 59.087976994571875),
        (2, 100, 65.0, 61.08797699457186),
        (2, 1000000000, 40.0, 19.969881347801604),
        (7, 8, 300.0, 299.86646860737545),
        (1, 50, 20.0, 16.088023736135813),
    ];

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        assert_eq!(*Geometric::until_seen(2, 1)?.log_phi(3.0)?.value(), 3.0);
        assert_eq!(*Geometric::new(0.5)?.log_phi(0.0)?.value(), 0.0);
        // As θ → 0, ln φ tends to θ E[1/G]: the remainder of the sum must not vanish for tiny θ.
        for p in [1e-12, 1e-3, 0.2, 0.9] {
            let law = Geometric::new(p)?;
            let tiny = *law.log_phi(1e-200)?.value();
            assert_relative_eq!(tiny, 1e-200 * law.inverse_mean().value(), max_relative = 1e-11);
        }
        for users in [10, 1_000_000_000_000, u64::MAX] {
            for theta in [1e-9, 1.0, 63.0, 65.0, 1e4, 1e300] {
                let value = *Geometric::until_seen(users, 1)?.log_phi(theta)?.value();
                assert!(0.0 < value && value <= theta);
            }
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [f64::NAN, 0.0, -0.1, 1.1, f64::INFINITY] {
            assert!(matches!(
                Geometric::new(bad),
                Err(Error::InvalidParameter { name: "the parameter of a geometric law", .. })
            ));
        }
        for (users, colluders) in [(1, 1), (5, 0), (5, 5), (0, 0)] {
            assert!(matches!(
                Geometric::until_seen(users, colluders),
                Err(Error::InvalidParameter { name: "the number of colluders", .. })
            ));
        }
        assert!(matches!(
            Geometric::meeting(0, 5),
            Err(Error::InvalidParameter { name: "the number of users to meet", .. })
        ));
        assert!(matches!(
            Geometric::meeting(6, 5),
            Err(Error::InvalidParameter { name: "the number of users to meet", .. })
        ));
        let law = Geometric::new(0.1).unwrap();
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(law.log_phi(bad), Err(Error::InvalidParameter { name: "theta", .. })));
        }
    }

    proptest! {
        /// The fast evaluation, which is rounded up, compared with the slow definition.
        #[test]
        fn fast_paths_match_the_definition(log_p in -7.0..0.0_f64, theta in 1e-6..120.0_f64) {
            let law = Geometric::new(libm::exp(log_p))?;
            let mut sum = 0.0;
            let mut weight = 1.0;
            for g in 1..60_000 {
                sum += law.p * weight * libm::expm1(theta / f64::from(g));
                weight *= law.q;
            }
            let fast = *law.log_phi(theta)?.value();
            let slow = libm::log1p(sum);
            prop_assert!((fast - slow).abs() <= 1e-12 * slow, "{} {}", fast, slow);
        }

        /// Longer gaps hide more, larger θ shows more, and E[e^{θ/G}] lies between e^{θ E[1/G]} and e^θ.
        #[test]
        fn log_phi_is_monotone(p in 1e-9..1.0_f64, log_theta in -20.0..8.0_f64) {
            let theta = libm::exp(log_theta);
            let law = Geometric::new(p)?;
            let here = *law.log_phi(theta)?.value();
            let slack = 1.0 + 1e-12;
            prop_assert!(here <= theta);
            prop_assert!(theta * law.inverse_mean().value() <= here * slack);
            prop_assert!(here <= law.log_phi(1.01 * theta)?.value() * slack);
            prop_assert!(here <= Geometric::new((1.01 * p).min(1.0))?.log_phi(theta)?.value() * slack);
        }
    }

    /// A contribution that is seen at once has the exponent `θ`, and no contribution has more, despite the
    /// rounding that is charged.
    #[test]
    fn cut_gaps_lose_no_more_than_being_seen() -> Result<(), Error> {
        for p in [1.0 - 1e-15, 1.0 - 1e-13] {
            for theta in [1e-9, 1.0, 30.0, 700.0] {
                for longest in [2, 5, 10_000] {
                    let found = Geometric::new(p)?.log_phi_cut(theta, longest);
                    assert!(found <= theta && found >= theta * (1.0 - 1e-9), "{p} {theta}: {found}");
                }
            }
        }
        Ok(())
    }

    /// `Li_2(0.4)` and `Li_3(0.4)` by mpmath at 40 digits, and `ζ(60)`, of which only the first term matters
    /// in a float.
    #[test]
    fn polylogarithms_match_40_digits() {
        let at = Polylogarithm::new(0.4, 0.6);
        assert_relative_eq!(at.value(2), 0.449_282_974_471_281_7, max_relative = 1e-11);
        assert_relative_eq!(at.value(3), 0.422_877_820_191_444, max_relative = 1e-11);
        assert_eq!((zeta(60), zeta(0), zeta(-2)), (1.0, -0.5, 0.0));
    }
}
