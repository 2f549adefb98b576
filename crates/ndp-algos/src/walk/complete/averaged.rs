//! Real summation: the Rényi loss averaged over the walk.
//!
//! The path does not depend on the data. Against an observer who knows it, a segment of `m` foreign steps of
//! which `k` are the exposed node's is a Gaussian release of parameter `k μ/√m`, `μ = Δ/σ`, so that
//!
//! `D_α = ln E_path exp(θ Σ_segments k²/m) / (α − 1)`, `θ = α (α − 1) μ²/2`,
//!
//! with equality: the moment `E` is exact for that observer, an upper bound for one who does not know the
//! path. It follows from the moments `a_m` of one segment by a renewal recursion over the receptions: with
//! `q = 1 − c/n` and `S(0) = 1`,
//!
//! `S(t) = (c/n) Σ_{m<t} S(t−1−m) q^m a_m`, `E = Σ_t S(t) q^{T−t} (1, or a_{T−t} if published)`.
//!
//! No count of receptions has to be bounded: nothing fails with some probability. Senders, receivers and
//! times may be known. Contributions beyond a cap, when replaced by noise alone, only lower the loss.
//!
//! Whom it protects against: [`CompleteWalk::colluders`] nodes that see the tokens they receive (and the final
//! one if it is published); replace-one neighbors, all contributions of the exposed node may change.

use super::CompleteWalk;
use super::segment::SegmentMoments;
use crate::Error;
use ndp_dp::{Exact, Order, UpperBound};
use rayon::prelude::*;

impl CompleteWalk {
    /// `ln E` of the module, exact against an observer who knows the path. `theta ≥ 0`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞`, for walks of more than 100 000 steps, and where no
    /// bound on the segment moments is known (`θ` of several times `ln n` on a long walk).
    ///
    /// # Complexity
    /// `O(T²)`.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::complete::CompleteWalk;
    /// // One observer, one other node, one step: it acted with probability 1/2, and is seen if published.
    /// let walk = CompleteWalk::new(2, 1)?.published();
    /// assert!((walk.log_mgf(1.0)?.value() - ((1.0 + 1f64.exp()) / 2.0).ln()).abs() < 1e-12);
    /// # Ok::<(), ndp_algos::Error>(())
    /// ```
    pub fn log_mgf(&self, theta: f64) -> Result<Exact<f64>, Error> {
        check_theta(theta)?;
        if self.step_count() > MOST_EXACT_STEPS {
            return Err(Error::InvalidParameter {
                name: "the number of steps of the exact recursion",
                condition: "be at most 100000; use the bound for any length",
                value: self.step_count() as f64,
            });
        }
        let value = self.renewal(theta, None, Effort::Thorough);
        if value.is_finite() {
            Ok(Exact::new(value))
        } else {
            Err(Error::InvalidParameter {
                name: "theta",
                condition: "be small enough for the moments of long segments to be summed",
                value: theta,
            })
        }
    }

    /// A bound on `ln E` that lets the observer also see the token after every `look` consecutive foreign
    /// steps: more information, so never below [`Self::log_mgf`]. Infinite where it is useless.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞`, `1 ≤ look ≤ T` and `T · look ≤ 10^10`.
    ///
    /// # Complexity
    /// `O(T · look)`.
    pub fn log_mgf_with_looks(&self, theta: f64, look: usize) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        self.check_look(look)?;
        if self.step_count() as f64 * look as f64 > 1e10 {
            return Err(Error::InvalidParameter {
                name: "the number of steps times the look",
                condition: "be at most 1e10; use the bound for any length",
                value: self.step_count() as f64 * look as f64,
            });
        }
        Ok(UpperBound::new(self.renewal(theta, Some(look), Effort::Quick)))
    }

    /// A bound on `ln E` for walks of any length: exponential growth at the root of the renewal equation with
    /// a look after every `look` foreign steps, times a bounded factor. Infinite where it is useless.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞` and `1 ≤ look ≤ min(T, 2^24)`.
    ///
    /// # Complexity
    /// `O(look)`, whatever `T`.
    pub fn log_mgf_any_length(&self, theta: f64, look: usize) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        self.check_look(look)?;
        if look > LONGEST_LOOK {
            return Err(Error::InvalidParameter {
                name: "the look",
                condition: "be at most 2^24",
                value: look as f64,
            });
        }
        let ln_moments = self.ln_moments(theta, look, Effort::Quick);
        let ln_weights = self.ln_segment_weights(&ln_moments, look, Some(look));
        let Some(growth) = growth_rate(&ln_weights) else {
            return Ok(UpperBound::new(f64::INFINITY));
        };
        let weights = tilted(&ln_weights, growth);
        // C = max g_L/G_L over the short segments, r = the weight of the long ones: S(t) ≤ (C + r) e^{growth t}.
        let short = look / 2;
        let mut tail = 0.0;
        let (mut hazard, mut long) = (0.0f64, 0.0);
        for (index, &weight) in weights.iter().enumerate().rev() {
            tail += weight;
            if index < short {
                hazard = hazard.max(weight / tail);
            } else {
                long = tail;
            }
        }
        let last: f64 = (0..look)
            .map(|j| {
                let ln_moment = if self.is_published() { ln_moments[j] } else { 0.0 };
                (j as f64 * (self.ln_foreign() - growth) + ln_moment).exp()
            })
            .sum();
        Ok(UpperBound::new(self.step_count() as f64 * growth + ((hazard + long) * last).ln()))
    }

    /// A bound on `ln E` by the cheapest of the three that loses nothing visible: as exact for at most 4096
    /// steps, else the one for any length with a look after `min(T, 40 n)` steps, `2^22` at most. Infinite
    /// where it is useless.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞`.
    pub fn log_mgf_bound(&self, theta: f64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        if self.step_count() <= 4096 {
            return Ok(UpperBound::new(self.renewal(theta, None, Effort::Quick)));
        }
        let look = self.step_count().min(self.node_count().saturating_mul(40)).min(1 << 22);
        self.log_mgf_any_length(theta, look)
    }

    /// Rényi loss of order `α` against an observer who knows the path, exact: `ln E/(α − 1)` at
    /// `θ = α (α − 1) μ²/2`, in nats. `mu = Δ/σ`.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidMu`] unless `0 ≤ μ < ∞`; else as [`Self::log_mgf`].
    pub fn rdp(&self, order: Order, mu: f64) -> Result<Exact<f64>, Error> {
        let alpha = order.get();
        let theta = theta_of(alpha, mu)?;
        Ok(self.log_mgf(theta)?.map(|ln_moment| ln_moment / (alpha - 1.0)))
    }

    /// Rényi loss of order `α`, by [`Self::log_mgf_bound`].
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidMu`] unless `0 ≤ μ < ∞`.
    pub fn rdp_bound(&self, order: Order, mu: f64) -> Result<UpperBound<f64>, Error> {
        let alpha = order.get();
        let theta = theta_of(alpha, mu)?;
        Ok(self.log_mgf_bound(theta)?.map(|ln_moment| ln_moment / (alpha - 1.0)))
    }

    fn check_look(&self, look: usize) -> Result<(), Error> {
        if (1..=self.step_count()).contains(&look) {
            Ok(())
        } else {
            Err(Error::InvalidParameter {
                name: "the look",
                condition: "be at least 1 and at most the number of steps",
                value: look as f64,
            })
        }
    }

    /// `ln a_m` for `m = 0..=longest`.
    fn ln_moments(&self, theta: f64, longest: usize, effort: Effort) -> Vec<f64> {
        let moments = SegmentMoments::new(self.exposure_probability(), theta, effort.longest_full_sum());
        (0..longest + 1).into_par_iter().with_min_len(64).map(|m| moments.ln_moment(m)).collect()
    }

    /// `ln w_L` of a segment that ends at step `L`, `L = 1..=longest` at index `L − 1`: received after
    /// `L − 1` foreign steps, or looked at after `look` of them.
    fn ln_segment_weights(&self, ln_moments: &[f64], longest: usize, look: Option<usize>) -> Vec<f64> {
        let (ln_received, ln_foreign) = (self.reception_probability().ln(), self.ln_foreign());
        let mut weights: Vec<f64> =
            (0..longest).map(|m| ln_received + m as f64 * ln_foreign + ln_moments[m]).collect();
        if let (Some(look), Some(last)) = (look, weights.last_mut()) {
            *last = ndp_dp::logspace::log_add_exp(*last, look as f64 * ln_foreign + ln_moments[look]);
        }
        weights
    }

    /// `ln E` by the recursion, with a look after `look` foreign steps or none.
    fn renewal(&self, theta: f64, look: Option<usize>, effort: Effort) -> f64 {
        let steps = self.step_count();
        let longest = look.unwrap_or(steps);
        let ln_moments = self.ln_moments(theta, longest, effort);
        let ln_weights = self.ln_segment_weights(&ln_moments, longest, look);
        // Divided by e^{growth·t}, S stays between 0 and 1: nothing overflows.
        let Some(growth) = growth_rate(&ln_weights) else { return f64::INFINITY };
        let weights = tilted(&ln_weights, growth);
        // backward[T − t] = S(t) e^{−growth t}: both factors of the convolution are read forward.
        let mut backward = vec![0.0; steps + 1];
        backward[steps] = 1.0;
        for t in 1..=steps {
            let span = t.min(longest);
            backward[steps - t] = dot(&weights[..span], &backward[steps - t + 1..][..span]);
        }
        let tail = if look.is_some() { longest } else { steps + 1 };
        let sum: f64 = (0..tail.min(steps + 1))
            .map(|j| {
                let ln_moment = if self.is_published() { ln_moments[j] } else { 0.0 };
                backward[j] * (j as f64 * (self.ln_foreign() - growth) + ln_moment).exp()
            })
            .sum();
        steps as f64 * growth + sum.ln()
    }
}

/// How hard to try where `θ` is so large that the moments of long segments explode.
#[derive(Clone, Copy)]
enum Effort {
    /// Give up: an infinite bound only means another order.
    Quick,
    /// Sum every term.
    Thorough,
}

impl Effort {
    const fn longest_full_sum(self) -> usize {
        match self {
            Self::Quick => 500,
            Self::Thorough => 4000,
        }
    }
}

/// `θ = α (α − 1) μ²/2`.
pub(crate) fn theta_of(alpha: f64, mu: f64) -> Result<f64, Error> {
    if 0.0 <= mu && mu.is_finite() {
        Ok(alpha * (alpha - 1.0) * mu * mu / 2.0)
    } else {
        Err(ndp_dp::Error::InvalidMu(mu).into())
    }
}

fn check_theta(theta: f64) -> Result<(), Error> {
    if 0.0 <= theta && theta.is_finite() {
        Ok(())
    } else {
        Err(Error::InvalidParameter { name: "theta", condition: "be nonnegative and finite", value: theta })
    }
}

/// `w_L e^{−growth L}`.
fn tilted(ln_weights: &[f64], growth: f64) -> Vec<f64> {
    ln_weights
        .iter()
        .zip(1..)
        .map(|(ln_weight, length)| (ln_weight - growth * f64::from(length)).exp())
        .collect()
}

/// A `λ ≥ 0` with `Σ_L w_L e^{−λL} ≤ 1`, the least up to `1e-11/L`; `None` for infinite weights.
fn growth_rate(ln_weights: &[f64]) -> Option<f64> {
    // The sum falls short of 1 by this much, more than the rounding of the moments can take away.
    const MARGIN: f64 = 1e-11;
    let sums = |rate: f64| {
        let (mut sum, mut slope) = (0.0, 0.0);
        for (index, ln_weight) in ln_weights.iter().enumerate() {
            let length = (index + 1) as f64;
            let term = (ln_weight - rate * length).exp();
            sum += term;
            slope += length * term;
        }
        (sum, slope)
    };
    if ln_weights.iter().any(|w| !w.is_finite()) {
        return None;
    }
    // Every term below 1 and the sum finite from here on.
    let mut rate = ln_weights.iter().zip(1..).map(|(w, length)| w / f64::from(length)).fold(0.0, f64::max);
    // ln of a sum of exponentials is convex in the rate: Newton's method on it rises to the root from the left.
    for _ in 0..200 {
        let (sum, slope) = sums(rate);
        if sum <= 1.0 - MARGIN {
            return Some(rate);
        }
        rate += (sum.ln() + 1.5 * MARGIN) * sum / slope;
        rate = rate.next_up();
    }
    None
}

/// `Σ aᵢ bᵢ` in eight interleaved sums, which the compiler turns into vector instructions.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// The exact recursion takes about a second at this length.
const MOST_EXACT_STEPS: usize = 100_000;

/// The weights of longer segments would fill the memory.
const LONGEST_LOOK: usize = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn walk(n: usize, steps: usize, colluders: usize, published: bool) -> Result<CompleteWalk, Error> {
        let walk = CompleteWalk::new(n, steps)?.with_colluders(colluders)?;
        Ok(if published { walk.published() } else { walk })
    }

    /// `ln E` by definition: every one of the `n^T` walks. Node 0 is exposed, the last `c` nodes observe.
    fn enumerated(walk: &CompleteWalk, theta: f64) -> f64 {
        let (n, steps, c) = (walk.node_count(), walk.step_count(), walk.colluders());
        let cost = |k: i32, m: i32| if m == 0 { 0.0 } else { f64::from(k * k) / f64::from(m) };
        let mut sum = 0.0;
        for mut code in 0..n.pow(steps as u32) {
            let (mut k, mut m, mut total) = (0, 0, 0.0);
            for _ in 0..steps {
                let holder = code % n;
                code /= n;
                if holder >= n - c {
                    total += cost(k, m);
                    (k, m) = (0, 0);
                } else {
                    k += i32::from(holder == 0);
                    m += 1;
                }
            }
            if walk.is_published() {
                total += cost(k, m);
            }
            sum += (theta * total).exp();
        }
        (sum / (n as f64).powi(steps as i32)).ln()
    }

    #[test]
    fn recursion_equals_the_enumeration_of_all_walks() -> Result<(), Error> {
        assert_relative_eq!(*walk(3, 6, 1, false)?.log_mgf(0.5)?.value(), 0.534_522, max_relative = 1e-6);
        assert_relative_eq!(*walk(3, 6, 1, true)?.log_mgf(0.5)?.value(), 0.892_517, max_relative = 1e-6);
        for (n, steps) in [(2, 10), (3, 8), (4, 7), (5, 6)] {
            for c in 1..n {
                for published in [false, true] {
                    for theta in [0.0, 1e-3, 0.5, 3.0, 30.0] {
                        let walk = walk(n, steps, c, published)?;
                        let slow = enumerated(&walk, theta);
                        let fast = *walk.log_mgf(theta)?.value();
                        assert_relative_eq!(fast, slow, max_relative = 1e-11, epsilon = 1e-12);
                        assert!(*walk.log_mgf_bound(theta)?.value() >= slow - 1e-12);
                    }
                }
            }
        }
        Ok(())
    }

    /// Table of the specification.
    #[test]
    fn rdp_matches_reference_values() -> Result<(), Error> {
        let order = Order::new(3.0)?;
        let check = |published, reference| -> Result<(), Error> {
            let exact = *walk(4, 12, 1, published)?.rdp(order, 0.3)?.value();
            assert_relative_eq!(exact, reference, max_relative = 1e-11);
            Ok(())
        };
        check(false, 0.175_994_754_936_153_6)?;
        check(true, 0.247_249_792_630_588_9)
    }

    /// Values of the specification, to the digits it prints.
    #[test]
    fn looks_bound_the_exact_value() -> Result<(), Error> {
        let walk = walk(6, 40, 1, false)?;
        let exact = *walk.log_mgf(0.3)?.value();
        assert_relative_eq!(exact, 0.680, epsilon = 5e-4);
        let mut previous = f64::INFINITY;
        for (look, reference) in [(3, 1.137), (6, 0.857), (12, 0.728)] {
            let bound = *walk.log_mgf_with_looks(0.3, look)?.value();
            assert_relative_eq!(bound, reference, epsilon = 5e-4);
            assert!(exact <= bound && bound <= previous);
            assert!(bound <= *walk.log_mgf_any_length(0.3, look)?.value());
            previous = bound;
        }
        Ok(())
    }

    /// Values of the specification: n, T, θ, c, published, exact, bound, look.
    #[test]
    fn any_length_bounds_the_exact_value() -> Result<(), Error> {
        for (n, steps, theta, c, published, exact, bound, look) in [
            (10, 1000, 0.3, 1, false, 6.495_029, 6.4991, 400),
            (10, 400, 0.5, 2, true, 7.200_111, 7.2123, 400),
            (20, 2000, 2.0, 1, false, 32.514_781, 32.5957, 1600),
        ] {
            let walk = walk(n, steps, c, published)?;
            let value = *walk.log_mgf(theta)?.value();
            assert_relative_eq!(value, exact, max_relative = 1e-6);
            let above = *walk.log_mgf_any_length(theta, look)?.value();
            assert!(value <= above && above <= bound + 1e-4, "{above} against {bound}");
        }
        Ok(())
    }

    /// The moment of a segment against its definition in logarithms, small and large θ.
    #[test]
    fn segment_moments_match_their_definition() {
        for rho in [0.5, 0.1, 0.01, 1e-4] {
            for theta in [1e-6, 0.1, 1.0, 3.0, 20.0] {
                let moments = SegmentMoments::new(rho, theta, 4000);
                for m in [1usize, 2, 5, 30, 200, 700] {
                    let mut ln_choose = 0.0;
                    let terms: Vec<f64> = (0..=m)
                        .map(|k| {
                            if k > 0 {
                                ln_choose += ((m - k + 1) as f64 / k as f64).ln();
                            }
                            ln_choose
                                + k as f64 * rho.ln()
                                + (m - k) as f64 * (-rho).ln_1p()
                                + theta * (k * k) as f64 / m as f64
                        })
                        .collect();
                    let slow = ndp_dp::logspace::log_sum_exp(&terms);
                    // Absolute: both are sums of up to 701 probabilities, each rounded along its recurrence.
                    assert_relative_eq!(moments.ln_moment(m), slow, max_relative = 1e-11, epsilon = 3e-12);
                }
            }
        }
    }

    #[test]
    fn loss_grows_with_the_coalition_and_publication() -> Result<(), Error> {
        let value =
            |c, published| -> Result<f64, Error> { Ok(*walk(8, 50, c, published)?.log_mgf(0.4)?.value()) };
        for c in 1..7 {
            assert!(value(c, false)? < value(c + 1, false)?);
            assert!(value(c, false)? < value(c, true)?);
        }
        // With everybody else colluding every visit is seen alone: E = (1 + (e^θ − 1)/n)^T.
        let alone = 50.0 * (0.4f64.exp_m1() / 8.0).ln_1p();
        assert_relative_eq!(value(7, true)?, alone, max_relative = 1e-12);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let walk = walk(5, 20, 1, false)?;
        for theta in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(walk.log_mgf(theta).is_err() && walk.log_mgf_bound(theta).is_err());
        }
        assert!(walk.log_mgf_with_looks(0.1, 0).is_err() && walk.log_mgf_with_looks(0.1, 21).is_err());
        assert!(walk.log_mgf_any_length(0.1, 0).is_err() && walk.log_mgf_any_length(0.1, 21).is_err());
        assert!(walk.rdp(Order::new(2.0)?, f64::INFINITY).is_err());
        assert!(CompleteWalk::new(5, 100_001)?.log_mgf(0.1).is_err());
        // An enormous θ is answered, exactly or by infinity.
        assert!(*walk.log_mgf(1e6)?.value() > 1e6);
        let long = CompleteWalk::new(1000, 1_000_000)?;
        assert_eq!(*long.log_mgf_bound(50.0)?.value(), f64::INFINITY);
        Ok(())
    }
}
