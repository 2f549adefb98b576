//! Real summation: the Rényi loss averaged over the walk.
//!
//! The path does not depend on the data. Against an observer who knows it, a segment of `m` foreign steps,
//! `k` of which are steps of the exposed node, is a Gaussian release of parameter `k μ/√m`, `μ = Δ/σ`, so
//! that
//!
//! `D_α = ln E_path exp(θ Σ_segments k²/m) / (α − 1)`, `θ = α (α − 1) μ²/2`,
//!
//! with equality: the moment `E` is exact for that observer, and an upper bound for one who does not know the
//! path. It follows from the moments `a_m` of one segment by a renewal recursion over the receptions: with
//! `q = 1 − c/n` and `S(0) = 1`,
//!
//! `S(t) = (c/n) Σ_{m<t} S(t−1−m) q^m a_m`, `E = Σ_t S(t) q^{T−t} (1, or a_{T−t} if published)`.
//!
//! The recursion is computed for `E − 1` in place of `E`: every term is then positive, and small if the loss
//! is, so that nothing cancels at small `θ`. All sums are rounded up.
//!
//! The number of receptions needs no bound, so that there is no probability of failure. Senders, receivers
//! and times may be known. Contributions may differ from visit to visit. Contributions beyond a cap, which
//! are replaced by noise alone, only lower the loss.
//!
//! Whom it protects against: the colluders, who see the tokens that they receive (and the final one if it is
//! published). Neighbors are replace-one: all contributions of the exposed node may change.

use super::CompleteWalk;
use super::segment_moment::SegmentMoments;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Order, UpperBound};
use ndp_graph::kernel;
use ndp_numeric::stop::work;
use ndp_numeric::sums::{Total, positive_up, up};

impl CompleteWalk {
    /// A bound on `ln E` for walks of any length: the smaller of two, which both follow from the growth rate
    /// `λ`. This is the root of the renewal equation for observers who also look at the token after every
    /// `look` foreign steps. Infinite if there is no useful bound.
    ///
    /// With `g_L = w_L e^{−λL}`, `Σ g_L ≤ 1`, the first bound is `E ≤ C e^{λT}`, with `C` from the hazards
    /// `g_L/Σ_{j≥L} g_j`. The second is `E − 1 ≤ (B + A T) e^{λT}`, which keeps all digits at small `θ`. Here
    /// `A = max_r Σ_{L≤r} w_L (1 − 1/a_{L−1}) e^{−λr} / Σ_L min(L, r) g_L` covers the excess of the segments
    /// that end within `r` steps, and `B = max_r q^r (a_r − 1) e^{−λr} / Σ_{L>r} g_L` that of the published
    /// last segment, by induction over the renewal equation of the excess.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞` and `1 ≤ look ≤ min(T, 2^24)`.
    ///
    /// # Complexity
    /// `O(look)`, for any `T`.
    pub(crate) fn log_mgf_any_length(&self, theta: f64, look: usize) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        self.check_look(look)?;
        ensure(look <= MAX_LOOK, "the look", "be at most 2^24", look as f64)?;
        let segments = self.segments(theta, Some(look), look, LONGEST_FULL_SUM);
        let Some(Growth { rate, weights }) = growth(&segments.ln_weights) else {
            return Ok(UpperBound::new(f64::INFINITY));
        };
        if theta == 0.0 {
            return Ok(UpperBound::new(0.0));
        }
        let steps = self.step_count() as f64;
        let grown = up(steps * rate);
        let by_hazard = grown + up_ln(self.hazard_factor(&segments, rate, &weights).ln());
        let by_excess = up_ln(self.ln_excess_factor(&segments, rate, &weights)) + grown;
        Ok(UpperBound::new(by_hazard.min(ln_1p_exp(by_excess))))
    }

    /// `C` of [`Self::log_mgf_any_length`], including the factor for the last segment.
    fn hazard_factor(&self, segments: &Segments, rate: f64, weights: &[f64]) -> f64 {
        // C = max g_L/G_L over the short segments, with G_L = Σ_{j≥L} g_j. With the weight r of the long
        // ones, S(t) ≤ (C + r) e^{λt}.
        let look = weights.len();
        let short = look / 2;
        let mut tail = Total::default();
        let (mut hazard, mut long) = (0.0f64, 0.0);
        for (index, &weight) in weights.iter().enumerate().rev() {
            tail.add(weight);
            if index < short {
                hazard = hazard.max(weight / tail.value());
            } else {
                long = tail.value();
            }
        }
        let mut last = Total::default();
        for j in 0..look {
            let ln_moment = if self.is_published() { ln_1p_exp(segments.ln_excesses[j]) } else { 0.0 };
            last.add(up_exp(j as f64 * (self.ln_foreign() - rate) + ln_moment, j as f64 * rate + ln_moment));
        }
        // Hazards are quotients of weights, which are rounded up by more than about 1e-13 only where they are
        // negligible.
        (hazard + long) * last.value() * (1.0 + 1e-13)
    }

    /// `ln (B + A T)` of [`Self::log_mgf_any_length`].
    fn ln_excess_factor(&self, segments: &Segments, rate: f64, weights: &[f64]) -> f64 {
        let ln_scale = self.ln_largest_source(segments, rate);
        if ln_scale == f64::NEG_INFINITY {
            return f64::NEG_INFINITY;
        }
        let look = weights.len();
        let decay = (-rate).exp() * (1.0 + 2.0 * f64::EPSILON);
        // Σ_{L>r} g_L for r in 0..look, summed from the back.
        let mut beyond = vec![0.0; look];
        let mut tail = Total::default();
        for r in (0..look).rev() {
            tail.add(weights[r]);
            beyond[r] = tail.value();
        }
        let (mut collected, mut lengths) = (0.0, Total::default());
        let (mut a, mut b) = (0.0f64, 0.0f64);
        for r in 1..=look {
            let length = r as f64;
            // Σ_{L≤r} e_L e^{−λr} and Σ_{L≤r} L g_L.
            let source = segments.ln_sources[r - 1] - rate * length - ln_scale;
            collected = (collected * decay + up_exp(source, rate * length + ln_scale)) * (1.0 + f64::EPSILON);
            lengths.add(length * weights[r - 1]);
            let left = beyond.get(r).copied().unwrap_or(0.0);
            a = a.max(collected / (lengths.value() + length * left));
            if self.is_published() && r < look {
                let shown = segments.ln_excesses[r] + length * (self.ln_foreign() - rate);
                b = b.max(up_exp(shown - ln_scale, ln_scale) / left);
            }
        }
        // The weights in the denominators were rounded up, by about 1e-13 where it matters.
        (b + a * self.step_count() as f64).ln() + ln_scale + 1e-12
    }

    /// The logarithm of the largest source `e_L e^{−rate·L}`, or of the source of the published last segment
    /// if it is larger.
    fn ln_largest_source(&self, segments: &Segments, rate: f64) -> f64 {
        let ends = segments.ln_sources.iter().zip(1u32..).map(|(x, length)| x - rate * f64::from(length));
        let largest = ends.fold(f64::NEG_INFINITY, f64::max);
        if !self.is_published() {
            return largest;
        }
        let shown = |(x, j): (&f64, u32)| x + f64::from(j) * (self.ln_foreign() - rate);
        segments.ln_excesses.iter().zip(0..).map(shown).fold(largest, f64::max)
    }

    /// A bound on `ln E`: the exact value, rounded up, for at most 4096 steps; otherwise the bound for any
    /// length, with a look after `min(T, 40 n)` steps, at most `2^22`. Infinite if there is no useful bound.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞`.
    pub(crate) fn log_mgf_bound(&self, theta: f64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        if self.step_count() <= 4096 {
            return Ok(UpperBound::new(ln_1p_exp(self.ln_excess(theta, None, LONGEST_FULL_SUM))));
        }
        let look = self.step_count().min(self.node_count().saturating_mul(40)).min(1 << 22);
        self.log_mgf_any_length(theta, look)
    }

    /// Rényi loss of order `α`, by [`Self::log_mgf_bound`].
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidMu`] unless `0 ≤ μ < ∞`.
    pub(crate) fn rdp_bound(&self, order: Order, mu: f64) -> Result<UpperBound<f64>, Error> {
        let alpha = order.get();
        let theta = theta_of(alpha, mu)?;
        if theta.is_infinite() {
            return Ok(UpperBound::new(f64::INFINITY));
        }
        // A positive quotient that underflows must not become 0.
        let of_order = |ln_moment: f64| {
            if ln_moment == 0.0 { 0.0 } else { positive_up(ln_moment / (alpha - 1.0)) }
        };
        Ok(self.log_mgf_bound(theta)?.map(of_order))
    }

    /// The approximate work of sixty moments, about as many as a question takes.
    pub(super) fn cost_of_moments(&self) -> u64 {
        let steps = self.step_count();
        let of_one =
            if steps <= 4096 { work([steps, steps.div_ceil(2)]) } else { work([steps.min(1 << 22), 100]) };
        of_one.saturating_mul(60)
    }

    fn check_look(&self, look: usize) -> Result<(), Error> {
        let condition = "be at least 1 and at most the number of steps";
        ensure((1..=self.step_count()).contains(&look), "the look", condition, look as f64)
    }

    /// The segments of up to `longest` foreign steps. The moments of segments longer than `full` are infinite
    /// if `θ` is so large that no bound on their tails is known.
    fn segments(&self, theta: f64, look: Option<usize>, longest: usize, full: usize) -> Segments {
        let moments = SegmentMoments::new(self.exposure_probability(), theta, full);
        let ln_excesses = moments.ln_excesses(longest + 1);
        let (ln_received, ln_foreign) = (self.ln_received(), self.ln_foreign());
        let ln_chance = |m: usize| ln_received + m as f64 * ln_foreign;
        let mut ln_sources: Vec<f64> = (0..longest).map(|m| ln_chance(m) + ln_excesses[m]).collect();
        let mut ln_weights: Vec<f64> =
            (0..longest).map(|m| ln_chance(m) + ln_1p_exp(ln_excesses[m])).collect();
        if let Some(look) = look {
            let forced = look as f64 * ln_foreign;
            for (list, ln_moment) in
                [(&mut ln_sources, ln_excesses[look]), (&mut ln_weights, ln_1p_exp(ln_excesses[look]))]
            {
                list[look - 1] = ndp_numeric::logspace::log_add_exp(list[look - 1], forced + ln_moment);
            }
        }
        Segments { ln_excesses, ln_weights, ln_sources }
    }

    /// `ln (E − 1)` by the recursion, with a look after `look` foreign steps or none. With the excess `X(r)`
    /// of a walk of `r` steps, `X(r) = Σ_{L≤r} w_L X(r − L) + Σ_{L≤r} e_L + q^r (a_r − 1 if published)`,
    /// where every term is positive and rounded up.
    fn ln_excess(&self, theta: f64, look: Option<usize>, full: usize) -> f64 {
        let steps = self.step_count();
        let longest = look.unwrap_or(steps);
        let segments = self.segments(theta, look, longest, full);
        // X is divided by e^{rate·r}, which keeps it between 0 and the sum of its sources, so that nothing
        // overflows.
        let Some(Growth { rate, weights }) = growth(&segments.ln_weights) else { return f64::INFINITY };
        let ln_scale = self.ln_largest_source(&segments, rate);
        if ln_scale == f64::NEG_INFINITY {
            return ln_scale;
        }
        let decay = (-rate).exp() * (1.0 + 2.0 * f64::EPSILON);
        // backward[T − r] = X(r) e^{−rate·r − ln_scale}, so that both factors of the convolution are read
        // forward.
        let mut backward = vec![0.0; steps + 1];
        let mut collected = 0.0;
        for r in 1..=steps {
            let tilt = rate * r as f64;
            collected *= decay;
            if r <= longest {
                let source = segments.ln_sources[r - 1] - tilt - ln_scale;
                collected = (collected + up_exp(source, tilt + ln_scale.abs())) * (1.0 + f64::EPSILON);
            }
            let span = r.min(longest);
            let later = dot(&weights[..span], &backward[steps - r + 1..][..span]);
            let shown = if self.is_published() && (look.is_none() || r < longest) {
                let shown = segments.ln_excesses[r] + r as f64 * self.ln_foreign() - tilt - ln_scale;
                up_exp(shown, tilt + ln_scale.abs() + r as f64 * self.ln_foreign().abs())
            } else {
                0.0
            };
            // A value that underflowed was positive.
            backward[steps - r] =
                ((collected + shown + later) * (1.0 + dot_error(span))).max(f64::MIN_POSITIVE);
        }
        up_ln(f64::ln(backward[0]) + ln_scale) + up(steps as f64 * rate)
    }
}

/// Upper bounds on logarithms of quantities of segments.
struct Segments {
    /// `ln (a_m − 1)` for `m = 0, 1, …`.
    ln_excesses: Vec<f64>,
    /// `ln w_L` of a segment that ends at step `L`, at index `L − 1`: the coalition receives the token after
    /// `L − 1` foreign steps, or looks at it.
    ln_weights: Vec<f64>,
    /// `ln e_L`: `w_L` with `a_m − 1` in place of `a_m`.
    ln_sources: Vec<f64>,
}

/// `θ = α (α − 1) μ²/2`, rounded up; positive for `μ > 0`.
pub(crate) fn theta_of(alpha: f64, mu: f64) -> Result<f64, Error> {
    if 0.0 <= mu && mu.is_finite() {
        // Paired so that a large order does not overflow before it is multiplied by a tiny μ.
        let theta = 0.5 * (alpha * mu) * ((alpha - 1.0) * mu) * (1.0 + 4.0 * f64::EPSILON);
        Ok(if mu > 0.0 { theta.max(f64::MIN_POSITIVE) } else { theta })
    } else {
        Err(ndp_dp::Error::InvalidMu(mu).into())
    }
}

fn check_theta(theta: f64) -> Result<(), Error> {
    ensure(0.0 <= theta && theta.is_finite(), "theta", "be nonnegative and finite", theta)
}

/// `ln(1 + e^x)`, rounded up; positive unless `x = −∞`.
fn ln_1p_exp(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return 0.0;
    }
    let value = up(if x < 0.0 { up_exp(x, 0.0).ln_1p() } else { x + (-x).exp().ln_1p() });
    // Written so that NaN gives an infinite loss.
    if value >= f64::MIN_POSITIVE {
        value
    } else if value >= 0.0 {
        f64::MIN_POSITIVE
    } else {
        f64::INFINITY
    }
}

/// `e^x`, rounded up, where `x` is a sum of terms of size at most `scale`, and of `x` itself.
fn up_exp(x: f64, scale: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return 0.0;
    }
    x.exp() * (1.0 + 4.0 * f64::EPSILON * (2.0 + x.abs() + scale.abs()))
}

/// The logarithm of such a value, rounded up.
fn up_ln(ln: f64) -> f64 {
    if ln.is_finite() { ln + 8.0 * f64::EPSILON * (1.0 + ln.abs()) } else { ln }
}

/// A rate `λ ≥ 0` and the weights `w_L e^{−λL}`, rounded up, whose sum is at most 1.
struct Growth {
    rate: f64,
    weights: Vec<f64>,
}

/// The least such rate up to `1e-11/L`; `None` for infinite weights.
fn growth(ln_weights: &[f64]) -> Option<Growth> {
    // The sum is smaller than 1 by this much.
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
    // From this rate on, every term is at most 1 and the sum is finite.
    let mut rate = ln_weights.iter().zip(1..).map(|(w, length)| w / f64::from(length)).fold(0.0, f64::max);
    // The logarithm of a sum of exponentials is convex in the rate, so that Newton's method rises to the root
    // from the left.
    for _ in 0..200 {
        let (sum, slope) = sums(rate);
        if sum <= 1.0 - MARGIN {
            let weights = tilted(ln_weights, rate);
            let mut total = Total::default();
            weights.iter().for_each(|&weight| total.add(weight));
            if total.value() <= 1.0 - 1e-14 {
                return Some(Growth { rate, weights });
            }
        }
        rate += (sum.ln().max(0.0) + 1.5 * MARGIN) * sum / slope;
        rate = rate.next_up();
    }
    None
}

/// `w_L e^{−rate·L}`, rounded up.
fn tilted(ln_weights: &[f64], rate: f64) -> Vec<f64> {
    let tilt = |(ln_weight, length): (&f64, u32)| {
        let tilt = rate * f64::from(length);
        up_exp(ln_weight - tilt, tilt)
    };
    ln_weights.iter().zip(1..).map(tilt).collect()
}

/// `Σ aᵢ bᵢ` in blocks of 512, each of them as eight sums at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.chunks(BLOCK).zip(b.chunks(BLOCK)).map(|(a, b)| kernel::dot(a, b)).sum()
}

/// The relative error of a [`dot`] of positive numbers, of two more additions and of a product: half an
/// epsilon for every addition that a term goes through.
fn dot_error(length: usize) -> f64 {
    let additions = (length / 8).min(BLOCK / 8) + length / BLOCK + 24;
    0.5 * f64::EPSILON * additions as f64
}

const BLOCK: usize = 512;

/// Longer segments are not summed term by term. A bound that is infinite for that reason only means that
/// another order is used.
const LONGEST_FULL_SUM: usize = 500;

/// The weights of longer segments would need too much memory.
const MAX_LOOK: usize = 1 << 24;

#[cfg(test)]
mod tests {
    use super::super::enumeration::costs_of_all_walks;
    use super::*;
    use approx::assert_relative_eq;

    impl CompleteWalk {
        /// `ln E` of the module documentation, exact against an observer who knows the path, and rounded up
        /// by at most a few parts in 1e11. With `look`, the observer also sees the token after every `look`
        /// consecutive foreign steps. This is more information, so that the result is never smaller.
        fn log_mgf(&self, theta: f64, look: Option<usize>) -> f64 {
            ln_1p_exp(self.ln_excess(theta, look, 4000))
        }
    }

    fn walk(n: usize, steps: usize, colluders: usize, published: bool) -> Result<CompleteWalk, Error> {
        let walk = CompleteWalk::new(n, steps)?.with_colluders(colluders)?;
        Ok(if published { walk.published() } else { walk })
    }

    /// `ln E` by its definition, the mean over the `n^T` walks.
    fn enumerated(walk: &CompleteWalk, theta: f64) -> f64 {
        let costs = costs_of_all_walks(walk);
        let sum = costs.iter().fold(0.0, |sum, cost| sum + (theta * cost).exp());
        (sum / costs.len() as f64).ln()
    }

    #[test]
    fn recursion_equals_the_enumeration_of_all_walks() -> Result<(), Error> {
        assert_relative_eq!(walk(3, 6, 1, false)?.log_mgf(0.5, None), 0.534_522, max_relative = 1e-6);
        assert_relative_eq!(walk(3, 6, 1, true)?.log_mgf(0.5, None), 0.892_517, max_relative = 1e-6);
        for (n, steps) in [(2, 10), (3, 8), (4, 7), (5, 6)] {
            for c in 1..n {
                for published in [false, true] {
                    for theta in [0.0, 1e-3, 0.5, 3.0, 30.0] {
                        let walk = walk(n, steps, c, published)?;
                        let slow = enumerated(&walk, theta);
                        let fast = walk.log_mgf(theta, None);
                        assert_relative_eq!(fast, slow, max_relative = 1e-11, epsilon = 1e-12);
                        assert!(*walk.log_mgf_bound(theta)?.value() >= slow - 1e-12);
                    }
                }
            }
        }
        Ok(())
    }

    /// A table of the specification.
    #[test]
    fn rdp_matches_reference_values() -> Result<(), Error> {
        let order = Order::new(3.0)?;
        let check = |published, reference| -> Result<(), Error> {
            let exact = *walk(4, 12, 1, published)?.rdp_bound(order, 0.3)?.value();
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
        let exact = walk.log_mgf(0.3, None);
        assert_relative_eq!(exact, 0.680, epsilon = 5e-4);
        let mut previous = f64::INFINITY;
        for (look, reference) in [(3, 1.137), (6, 0.857), (12, 0.728)] {
            let bound = walk.log_mgf(0.3, Some(look));
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
            let value = walk.log_mgf(theta, None);
            assert_relative_eq!(value, exact, max_relative = 1e-6);
            let above = *walk.log_mgf_any_length(theta, look)?.value();
            assert!(value <= above && above <= bound + 1e-4, "{above} against {bound}");
        }
        Ok(())
    }

    /// The moment of a segment, compared with its definition in logarithms, for small and large θ.
    #[test]
    fn segment_moments_match_their_definition() {
        for rho in [0.5, 0.1, 0.01, 1e-4] {
            for theta in [1e-6, 0.1, 1.0, 3.0, 20.0] {
                let ln_excesses = SegmentMoments::new(rho, theta, 4000).ln_excesses(701);
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
                    let slow = ndp_numeric::logspace::log_sum_exp(&terms);
                    // The tolerance is absolute: both are sums of up to 701 probabilities, each of which is
                    // rounded along its recurrence.
                    let ln_moment = ln_1p_exp(ln_excesses[m]);
                    assert_relative_eq!(ln_moment, slow, max_relative = 1e-11, epsilon = 3e-12);
                }
            }
        }
    }

    /// `E − 1` by its definition, a sum over every walk, with exact costs, so that it keeps all digits.
    fn enumerated_excess(walk: &CompleteWalk, theta: f64) -> f64 {
        let (n, steps, c) = (walk.node_count(), walk.step_count(), walk.colluders);
        let cost = |k: i32, m: i32| if m == 0 { 0.0 } else { f64::from(k * k) / f64::from(m) };
        let mut sum = Total::default();
        // Holders are counted by class: the exposed node, the observer, and the others.
        for mut code in 0..3usize.pow(steps as u32) {
            let (mut k, mut m, mut total, mut ways) = (0, 0, 0.0, 1.0);
            for _ in 0..steps {
                match code % 3 {
                    0 => {
                        ways *= c as f64;
                        total += cost(k, m);
                        (k, m) = (0, 0);
                    }
                    class => {
                        ways *= if class == 1 { 1.0 } else { (n - 1 - c) as f64 };
                        k += i32::from(class == 1);
                        m += 1;
                    }
                }
                code /= 3;
            }
            if walk.is_published() {
                total += cost(k, m);
            }
            sum.add(ways * (theta * total).exp_m1());
        }
        sum.value() / (n as f64).powi(steps as i32)
    }

    /// Small losses keep their digits and are never below the truth. An earlier form gave a negative value
    /// for n = 7, T = 12, θ = 1.03e-18.
    #[test]
    fn small_losses_keep_all_digits() -> Result<(), Error> {
        for (n, steps) in [(2, 10), (3, 9), (7, 12), (1000, 9), (1_000_000_000, 7), (2, 1), (5, 1)] {
            for c in [1, n - 1, n / 2] {
                for published in [false, true] {
                    let walk = walk(n, steps, c.max(1), published)?;
                    for theta in [1.03e-18, 1e-12, 1e-6, 1e-3, 0.3] {
                        let truth = enumerated_excess(&walk, theta).ln_1p();
                        let values = [
                            walk.log_mgf(theta, None),
                            *walk.log_mgf_bound(theta)?.value(),
                            walk.log_mgf(theta, Some(steps)),
                        ];
                        for value in values {
                            // The enumeration itself is off by some roundings.
                            assert!(
                                value >= truth * (1.0 - 1e-13),
                                "{walk:?} {theta:e}: {value:e} < {truth:e}"
                            );
                        }
                        assert_relative_eq!(values[0], truth, max_relative = 1e-11);
                        for look in [1, steps.div_ceil(2), steps] {
                            let bound = *walk.log_mgf_any_length(theta, look)?.value();
                            assert!(bound >= truth * (1.0 - 1e-13), "{walk:?} {theta:e} {look}: {bound:e}");
                        }
                    }
                    assert_eq!(walk.log_mgf(0.0, None), 0.0);
                    let seen = published || steps > 1;
                    for theta in [5e-324, 1e-310, 1e-250] {
                        assert_eq!(walk.log_mgf(theta, None) > 0.0, seen, "{walk:?} {theta:e}");
                    }
                }
            }
        }
        // Long walks by the bound for any length: it is linear in θ, and hardly above the recursion.
        for published in [false, true] {
            let walk = walk(30, 20_000, 1, published)?;
            for theta in [1e-18, 1e-9] {
                let exact = walk.log_mgf(theta, None);
                let bound = *walk.log_mgf_bound(theta)?.value();
                assert!(exact <= bound && bound <= 1.05 * exact, "{exact:e} {bound:e}");
            }
        }
        Ok(())
    }

    #[test]
    fn loss_grows_with_the_coalition_and_publication() -> Result<(), Error> {
        let value =
            |c, published| -> Result<f64, Error> { Ok(walk(8, 50, c, published)?.log_mgf(0.4, None)) };
        for c in 1..7 {
            assert!(value(c, false)? < value(c + 1, false)?);
            assert!(value(c, false)? < value(c, true)?);
        }
        // If everybody else colludes, every visit is seen alone: E = (1 + (e^θ − 1)/n)^T.
        let alone = 50.0 * (0.4f64.exp_m1() / 8.0).ln_1p();
        assert_relative_eq!(value(7, true)?, alone, max_relative = 1e-12);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let walk = walk(5, 20, 1, false)?;
        for theta in [-1.0, f64::NAN, f64::INFINITY] {
            for found in [walk.log_mgf_bound(theta), walk.log_mgf_any_length(theta, 3)] {
                assert!(matches!(found, Err(Error::InvalidParameter { name: "theta", .. })));
            }
        }
        for look in [0, 21] {
            let found = walk.log_mgf_any_length(0.1, look);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "the look", .. })));
        }
        let plain = walk.rdp_bound(Order::new(2.0)?, f64::INFINITY);
        assert_eq!(plain, Err(ndp_dp::Error::InvalidMu(f64::INFINITY).into()));
        // For an enormous θ the bound is large or infinite, and not an error.
        assert!(*walk.log_mgf_bound(1e6)?.value() > 1e6);
        let long = CompleteWalk::new(1000, 1_000_000)?;
        assert_eq!(*long.log_mgf_bound(50.0)?.value(), f64::INFINITY);
        Ok(())
    }
}
