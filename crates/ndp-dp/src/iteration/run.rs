//! Private descent by a walk on the complete graph, exact in the number of steps: no cap, no failure probability.

use super::NoisyStep;
use super::geometric::check_theta;
use super::step::check_steps;
use crate::check::require;
use crate::{Error, Order, UpperBound};

/// Whether the observers see the token after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalToken {
    /// Nobody sees it.
    Withheld,
    /// It is one more observation.
    Published,
}

/// A walk of `T` steps on the complete graph of `n` users, self-hops allowed, `c` of them observing together.
///
/// Every visit contributes. The losses of this file are the `θ`-moments `ln E_path e^{cost}` of the path's cost, and
/// `D_α ≤ value/(α − 1)` at `θ = 2α(α − 1)L²/σ²` ([`NoisyStep::theta`]). They hold against observers who know the
/// whole path, for data-independent first iterates and constant (or non-decreasing) step sizes;
/// [`Self::decreasing_log_mgf`] takes any step sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkRun {
    steps: u64,
    users: u64,
    colluders: u64,
    final_token: FinalToken,
}

impl WalkRun {
    /// A walk of `steps` steps among `users`, `colluders` of whom observe together.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `1 ≤ T ≤ 10⁷` and `1 ≤ c < n`.
    pub fn new(steps: u64, users: u64, colluders: u64, final_token: FinalToken) -> Result<Self, Error> {
        require(
            (1..=MOST_STEPS).contains(&steps),
            "the number of steps of a walk",
            "lie between 1 and 10^7 for an accountant that is exact in it",
            steps as f64,
        )?;
        require(
            1 <= colluders && colluders < users,
            "the number of colluders",
            "lie between 1 and the number of users minus 1",
            colluders as f64,
        )?;
        Ok(Self { steps, users, colluders, final_token })
    }

    /// `ln E` of the cost when every contribution is charged until the next event in {the user acts, an observer
    /// receives}, rounded up; `∞` for `θ > 600`, where the order is of no use.
    ///
    /// `longest` cuts the sums over gaps: a displacement counts as hidden after that many steps, which costs more. With
    /// `longest > T` (`u64::MAX`, say) nothing is cut.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞` and `longest ≥ 2`, and when the `T · min(T, longest)` operations
    /// exceed 4·10⁹, some seconds.
    ///
    /// # Complexity
    /// `O(T · min(T, longest))` time, `O(T)` memory.
    #[doc(alias = "sgd_total_logmgf")]
    pub fn total_log_mgf(&self, theta: f64, longest: u64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        require(longest >= 2, "the longest gap", "be at least 2", longest as f64)?;
        self.check_cost(longest)?;
        if theta > LARGEST_THETA {
            return Ok(UpperBound::new(f64::INFINITY));
        }
        let steps = self.steps as usize;
        let longest = usize::try_from(longest).unwrap_or(usize::MAX).min(steps + 1);
        let (p, q) = self.event();
        // P(gap = g) e^{θ/g} for g ≥ 1, and P(gap ≥ g) e^{θ/g}.
        let survival: Vec<f64> = (0..=longest).map(|g| libm::pow(q, g as f64)).collect();
        let closed: Vec<f64> =
            (1..=longest).map(|g| p * survival[g - 1] * libm::exp(theta / g as f64)).collect();
        let open = |g: usize| survival[g - 1] * libm::exp(theta / g as f64);
        let mut backward = Backward::new(self, longest);
        for t in (0..=steps).rev() {
            let left = steps - t;
            let pending = if longest <= left + 1 {
                // Absorbed after `longest` steps, t..t + longest: nothing is pending after the last of them.
                dot(&closed[..longest - 1], backward.after(t, longest - 1))
                    + open(longest) * backward.nothing_pending(t + longest - 1)
            } else {
                let end = match self.final_token {
                    FinalToken::Withheld => survival[left],
                    FinalToken::Published => open(left + 1),
                };
                dot(&closed[..left], backward.after(t, left)) + end * backward.unit
            };
            backward.push(t, pending);
        }
        Ok(backward.log_value())
    }

    /// [`Self::total_log_mgf`] for given step sizes `η₁, …, η_T`: `g` is replaced by `S(t, g) = Σ_{i<g} (η_{t+i}/η_t)²`.
    ///
    /// The only form for decreasing step sizes, whose later noise hides less.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞` and there are `T` positive, finite step sizes, and when the
    /// `T²/2` operations exceed 4·10⁹.
    pub fn decreasing_log_mgf(&self, theta: f64, step_sizes: &[f64]) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        check_steps(step_sizes)?;
        require(
            step_sizes.len() as u64 == self.steps,
            "the number of step sizes",
            "be the number of steps of the walk",
            step_sizes.len() as f64,
        )?;
        self.check_cost(self.steps)?;
        if theta > LARGEST_THETA {
            return Ok(UpperBound::new(f64::INFINITY));
        }
        let steps = step_sizes.len();
        let (p, q) = self.event();
        let mut backward = Backward::new(self, steps + 1);
        for t in (0..=steps).rev() {
            let left = steps - t;
            let mut pending = 0.0;
            let mut survival = 1.0;
            let mut noises = 0.0;
            // Step t is entry t − 1; at t = 0 nobody has acted yet and the value is not used.
            if t > 0 {
                for (g, next) in backward.after(t, left).iter().enumerate() {
                    let relative = step_sizes[t - 1 + g] / step_sizes[t - 1];
                    noises += relative * relative;
                    pending += p * survival * libm::exp(theta / noises) * next;
                    survival *= q;
                }
                let relative = step_sizes[steps - 1] / step_sizes[t - 1];
                noises += relative * relative;
                let end = match self.final_token {
                    FinalToken::Withheld => survival,
                    FinalToken::Published => survival * libm::exp(theta / noises),
                };
                pending += end * backward.unit;
            }
            backward.push(t, pending);
        }
        Ok(backward.log_value())
    }

    /// `ln E` of the cost when only contributions that an observer sees afterwards are charged, rounded up: tighter than
    /// [`Self::total_log_mgf`]; `∞` for `θ > 600`.
    ///
    /// `longest` cuts the observed segments: the observers are taken to look after every `longest` foreign steps in a
    /// row, which costs more. With `longest > T` nothing is cut.
    ///
    /// # Errors
    /// As [`Self::total_log_mgf`].
    ///
    /// # Complexity
    /// `O(T · min(T, longest))` time, `O(T)` memory.
    #[doc(alias = "sgd_observed_logmgf")]
    pub fn observed_log_mgf(&self, theta: f64, longest: u64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        require(longest >= 2, "the longest segment", "be at least 2", longest as f64)?;
        self.check_cost(longest)?;
        if theta > LARGEST_THETA {
            return Ok(UpperBound::new(f64::INFINITY));
        }
        let steps = self.steps as usize;
        let cut = usize::try_from(longest).ok().filter(|&longest| longest <= steps);
        let segments = self.log_segments(theta, cut.unwrap_or(steps));
        // Weight of a segment of m foreign steps, and of the look that ends it.
        let (log_look, log_foreign) = self.log_look();
        let mut log_weights: Vec<f64> = segments
            .iter()
            .take(cut.unwrap_or(steps))
            .enumerate()
            .map(|(m, segment)| log_look + m as f64 * log_foreign + segment)
            .collect();
        if let Some(cut) = cut {
            let forced = cut as f64 * log_foreign + segments[cut];
            log_weights[cut - 1] = crate::logspace::log_add_exp(log_weights[cut - 1], forced);
        }
        let seen = log_renewal(&log_weights, steps);
        let first = cut.map_or(0, |cut| steps + 1 - cut);
        let terms: Vec<f64> = (first..=steps)
            .map(|t| {
                let rest = steps - t;
                let last = match self.final_token {
                    FinalToken::Withheld => 0.0,
                    FinalToken::Published => segments[rest],
                };
                seen[t] + rest as f64 * log_foreign + last
            })
            .collect();
        Ok(round_up(crate::logspace::log_sum_exp(&terms), self.steps))
    }

    /// Rényi loss in nats at `order` of the run: [`Self::observed_log_mgf`] over `α − 1`, uncut; `∞` where it is of no use.
    ///
    /// # Errors
    /// As [`Self::total_log_mgf`].
    pub fn rdp(&self, step: &NoisyStep, order: Order) -> Result<UpperBound<f64>, Error> {
        let theta = step.theta(order).min(f64::MAX);
        let observed = self.observed_log_mgf(theta, u64::MAX)?.into_value();
        Ok(UpperBound::new(observed / (order.get() - 1.0)))
    }

    /// Probabilities that the next step is an event (the user acts or an observer receives), and that it is not.
    fn event(&self) -> (f64, f64) {
        let events = self.colluders + 1;
        (events as f64 / self.users as f64, (self.users - events) as f64 / self.users as f64)
    }

    /// `ln(c/n)` and `ln(1 − c/n)`.
    fn log_look(&self) -> (f64, f64) {
        let share = self.colluders as f64 / self.users as f64;
        let log_foreign = if share < 0.5 {
            libm::log1p(-share)
        } else {
            libm::log((self.users - self.colluders) as f64 / self.users as f64)
        };
        (libm::log(share), log_foreign)
    }

    fn check_cost(&self, longest: u64) -> Result<(), Error> {
        let operations = self.steps.saturating_mul(longest.min(self.steps));
        require(
            operations <= MOST_OPERATIONS,
            "the number of steps times the longest gap",
            "be at most 4e9; a smaller longest gap gives a slightly larger bound",
            operations as f64,
        )
    }

    /// `ln b_m` for `m = 0..=most`: the moment of the cost of an observed segment of `m` foreign steps.
    ///
    /// `w_r` is the moment from a contribution on, with `r` steps of the segment left, its own included.
    fn log_segments(&self, theta: f64, most: usize) -> Vec<f64> {
        let foreign = (self.users - self.colluders) as f64;
        let (rho, miss) = (1.0 / foreign, (foreign - 1.0) / foreign);
        // Everything grows like e^{κ·length}; divided by it, all values stay near 1.
        let gap = |g: usize, kappa: f64| {
            libm::pow(miss, (g - 1) as f64) * libm::exp(theta / g as f64 - kappa * g as f64)
        };
        let kappa = tilt(0.0, theta, |kappa| (1..=most).map(|g| rho * gap(g, kappa)).sum());
        let gaps: Vec<f64> = (1..=most).map(|g| rho * gap(g, kappa)).collect();
        let mut pending = vec![0.0; most + 1];
        let mut log_segments = vec![0.0; most + 1];
        let mut ended = 0.0;
        let decay = libm::exp(-kappa);
        for r in 1..=most {
            // Σ_{g<r} gaps[g] pending[r − g].
            let renewed: f64 = gaps[..r - 1].iter().zip(pending[1..r].iter().rev()).map(|(k, w)| k * w).sum();
            pending[r] = renewed + gap(r, kappa);
            ended = decay * miss * ended + rho * pending[r];
            let untouched = libm::exp(r as f64 * (libm::log(miss) - kappa));
            log_segments[r] = libm::log(untouched + ended) + kappa * r as f64;
        }
        log_segments
    }
}

/// Backward values of the recursion: `V(t)` with nothing pending after step `t`, `W(t)` when the user acts at `t`.
///
/// All values carry the common factor `unit`, which keeps them in range.
struct Backward {
    colluders: f64,
    act: f64,
    rest: f64,
    nothing: Vec<f64>,
    acted: f64,
    /// `(W + cV)/(c + 1)` at each step: what follows an event.
    event: Vec<f64>,
    unit: f64,
    log_unit: f64,
    /// How far back values are still used.
    reach: usize,
    steps: u64,
}

impl Backward {
    fn new(run: &WalkRun, reach: usize) -> Self {
        let (users, size) = (run.users as f64, run.steps as usize + 2);
        Self {
            colluders: run.colluders as f64,
            act: 1.0 / users,
            rest: (run.users - 1) as f64 / users,
            nothing: vec![0.0; size],
            acted: 0.0,
            event: vec![0.0; size],
            unit: 1.0,
            log_unit: 0.0,
            reach,
            steps: run.steps,
        }
    }

    /// The values after an event at `t + 1, …, t + count`.
    fn after(&self, t: usize, count: usize) -> &[f64] {
        &self.event[t + 1..][..count]
    }

    fn nothing_pending(&self, t: usize) -> f64 {
        self.nothing[t]
    }

    /// Records step `t`, given its `W`; steps come in decreasing order.
    fn push(&mut self, t: usize, pending: f64) {
        let nothing = if t as u64 == self.steps {
            self.unit
        } else {
            self.act * self.acted + self.rest * self.nothing[t + 1]
        };
        self.nothing[t] = nothing;
        self.acted = pending;
        self.event[t] = (pending + self.colluders * nothing) / (self.colluders + 1.0);
        let largest = pending.max(nothing);
        if largest > 1e30 {
            // Values of later steps may underflow: they are then below 1e-300 of what is added to them.
            let factor = 1.0 / largest;
            let end = (t + self.reach + 1).min(self.event.len());
            for value in self.nothing[t..end].iter_mut().chain(&mut self.event[t..end]) {
                *value *= factor;
            }
            self.acted *= factor;
            self.unit *= factor;
            self.log_unit -= libm::log(largest);
        }
    }

    fn log_value(&self) -> UpperBound<f64> {
        round_up(libm::log(self.nothing[0]) - self.log_unit, self.steps)
    }
}

/// `ln S[t]` for `t = 0..=steps`, where `S[0] = 1` and `S[t] = Σ_L w_L S[t − L]`, from `ln w_1, ln w_2, …`.
fn log_renewal(log_weights: &[f64], steps: usize) -> Vec<f64> {
    // e^{−λ} is where the tilted weights sum to 1; then the values neither grow nor vanish.
    let tilted =
        |lambda: f64, (index, log_weight): (usize, &f64)| libm::exp(log_weight - lambda * (index + 1) as f64);
    let total = |lambda: f64| log_weights.iter().enumerate().map(|w| tilted(lambda, w)).sum();
    let high = log_weights.iter().copied().fold(0.0, f64::max) + std::f64::consts::LN_2;
    let low = log_weights.first().copied().unwrap_or(0.0).min(0.0);
    let lambda = tilt(low, high, total);
    let weights: Vec<f64> = log_weights.iter().enumerate().map(|w| tilted(lambda, w)).collect();
    let mut values = vec![0.0; steps + 1];
    values[0] = 1.0;
    for t in 1..=steps {
        let reach = t.min(weights.len());
        values[t] = weights[..reach].iter().zip(values[t - reach..t].iter().rev()).map(|(w, s)| w * s).sum();
    }
    values.iter().enumerate().map(|(t, value)| libm::log(*value) + lambda * t as f64).collect()
}

/// Roughly the `x` in `[low, high]` at which a decreasing function passes 1. Any `x` gives the same final value; this one
/// keeps the numbers on the way in range.
fn tilt(low: f64, high: f64, decreasing: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if decreasing(middle) > 1.0 { low = middle } else { high = middle }
    }
    high
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    // Four sums, so that the additions do not wait for each other.
    let mut sums = [0.0; 4];
    let (left_chunks, right_chunks) = (left.chunks_exact(4), right.chunks_exact(4));
    let rest: f64 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left_chunks.zip(right_chunks) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// A logarithm with the rounding of `steps` sums of positive terms added.
fn round_up(log_value: f64, steps: u64) -> UpperBound<f64> {
    let rounding = 4.0 * f64::EPSILON * (steps as f64 + log_value.abs() + 16.0);
    UpperBound::new((log_value + rounding).max(0.0))
}

/// Arrays of this length take 160 MB.
const MOST_STEPS: u64 = 10_000_000;
const MOST_OPERATIONS: u64 = 4_000_000_000;
/// `e^600` times the largest value kept, 1e30, is still a float.
const LARGEST_THETA: f64 = 600.0;

#[cfg(test)]
mod tests {
    use super::super::{CappedWalk, Geometric, absorption_cost};
    use super::*;
    use crate::Sigma;
    use FinalToken::{Published, Withheld};
    use approx::assert_relative_eq;

    fn run(steps: u64, users: u64, colluders: u64, final_token: FinalToken) -> WalkRun {
        WalkRun::new(steps, users, colluders, final_token).unwrap()
    }

    fn total(run: WalkRun, theta: f64) -> f64 {
        run.total_log_mgf(theta, u64::MAX).unwrap().into_value()
    }

    fn observed(run: WalkRun, theta: f64) -> f64 {
        run.observed_log_mgf(theta, u64::MAX).unwrap().into_value()
    }

    #[test]
    fn moments_match_50_digit_values() {
        let near = |value: f64, expected: f64| assert_relative_eq!(value, expected, max_relative = 1e-13);
        near(total(run(12, 6, 1, Withheld), 0.3), 0.322_304_156_481_875_54);
        near(total(run(12, 6, 1, Published), 0.3), 0.414_067_079_563_736_4);
        near(observed(run(6, 3, 1, Withheld), 0.5), 0.607_351_228_218_881_1);
        near(observed(run(12, 6, 2, Withheld), 0.3), 0.382_072_714_673_867_13);
        near(observed(run(12, 6, 2, Published), 0.3), 0.495_961_953_388_913_3);
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Holder {
        Exposed,
        Observer,
        Other,
    }

    /// Sums `probability · e^{cost}` over all classes of paths: at each step the exposed user, an observer or
    /// another user.
    fn enumerate(run: WalkRun, cost: impl Fn(&[Holder]) -> f64) -> f64 {
        let n = run.users as f64;
        let kinds = [
            (Holder::Exposed, 1.0 / n),
            (Holder::Observer, run.colluders as f64 / n),
            (Holder::Other, (n - 1.0 - run.colluders as f64) / n),
        ];
        let mut sum = 0.0;
        for code in 0..3_u32.pow(run.steps as u32) {
            let mut rest = code;
            let mut probability = 1.0;
            let path: Vec<Holder> = (0..run.steps)
                .map(|_| {
                    let (kind, p) = kinds[(rest % 3) as usize];
                    rest /= 3;
                    probability *= p;
                    kind
                })
                .collect();
            if probability > 0.0 {
                sum += probability * f64::exp(cost(&path));
            }
        }
        sum.ln()
    }

    /// Each contribution at its gap until the next event, by the definition; `size` turns steps into noise.
    fn cost_of_gaps(run: WalkRun, path: &[Holder], size: impl Fn(usize, usize) -> f64) -> f64 {
        let mut cost = 0.0;
        for (t, _) in path.iter().enumerate().filter(|&(_, holder)| *holder == Holder::Exposed) {
            let next = path[t + 1..].iter().position(|holder| *holder != Holder::Other);
            match (next, run.final_token) {
                (Some(distance), _) => cost += 1.0 / size(t, distance + 1),
                (None, Published) => cost += 1.0 / size(t, path.len() - t),
                (None, Withheld) => {}
            }
        }
        cost
    }

    /// The observed segments: contribution times since the last look, and the time of the look.
    fn segments(run: WalkRun, path: &[Holder]) -> Vec<(Vec<u64>, u64)> {
        let mut all = Vec::new();
        let mut times = Vec::new();
        for (t, holder) in path.iter().enumerate() {
            match holder {
                Holder::Exposed => times.push(t as u64),
                Holder::Observer => all.push((std::mem::take(&mut times), t as u64)),
                Holder::Other => {}
            }
        }
        if run.final_token == Published {
            all.push((times, path.len() as u64));
        }
        all
    }

    fn small_runs() -> Vec<WalkRun> {
        let mut runs = Vec::new();
        for (users, steps) in [(2, 7), (3, 7), (4, 6)] {
            for colluders in 1..users {
                for final_token in [Withheld, Published] {
                    runs.push(run(steps, users, colluders, final_token));
                    runs.push(run(1, users, colluders, final_token));
                }
            }
        }
        runs
    }

    #[test]
    fn total_moments_equal_the_enumeration_of_all_paths() {
        for run in small_runs() {
            for theta in [0.0, 0.1, 1.0, 6.0] {
                let exact = enumerate(run, |path| theta * cost_of_gaps(run, path, |_, g| g as f64));
                assert_relative_eq!(total(run, theta), exact, max_relative = 1e-12, epsilon = 1e-13);
            }
        }
    }

    #[test]
    fn observed_moments_equal_the_enumeration_and_cover_the_best_absorption() {
        for run in small_runs() {
            for theta in [0.0, 0.1, 1.0, 6.0] {
                let by_gaps = |(times, seen): &(Vec<u64>, u64)| -> f64 {
                    let ends = times.iter().skip(1).chain([seen]);
                    times.iter().zip(ends).map(|(start, end)| 1.0 / (end - start) as f64).sum()
                };
                let exact =
                    enumerate(run, |path| theta * segments(run, path).iter().map(by_gaps).sum::<f64>());
                let value = observed(run, theta);
                assert_relative_eq!(value, exact, max_relative = 1e-12, epsilon = 1e-13);
                assert!(value <= total(run, theta) + 1e-12);
                // Never below the least cost of absorption.
                let hull =
                    |(times, seen): &(Vec<u64>, u64)| absorption_cost(times, *seen).unwrap().into_value();
                let best = enumerate(run, |path| theta * segments(run, path).iter().map(hull).sum::<f64>());
                assert!(best <= value + 1e-12);
            }
        }
    }

    #[test]
    fn decreasing_moments_equal_the_enumeration() -> Result<(), Error> {
        let sizes = [1.0, 0.7, 0.9, 0.3, 0.25, 0.2, 0.05];
        for run in small_runs().into_iter().filter(|run| run.steps > 1) {
            let sizes = &sizes[..run.steps as usize];
            let noise = |t: usize, g: usize| -> f64 {
                sizes[t..t + g].iter().map(|size| (size / sizes[t]) * (size / sizes[t])).sum()
            };
            let exact = enumerate(run, |path| 0.4 * cost_of_gaps(run, path, noise));
            let value = *run.decreasing_log_mgf(0.4, sizes)?.value();
            assert_relative_eq!(value, exact, max_relative = 1e-12);
        }
        Ok(())
    }

    /// Values stated beside the formula, to the digits given.
    #[test]
    fn decreasing_moments_match_known_values() -> Result<(), Error> {
        let run = run(60, 10, 1, Withheld);
        let value = |size: fn(i32) -> f64| -> Result<f64, Error> {
            let sizes: Vec<f64> = (1..=60).map(size).collect();
            Ok(run.decreasing_log_mgf(0.5, &sizes)?.into_value())
        };
        assert_relative_eq!(value(|_| 1.0)?, 1.456_09, max_relative = 1e-5);
        assert_relative_eq!(value(|_| 1.0)?, total(run, 0.5), max_relative = 1e-12);
        assert_relative_eq!(value(|t| 1.0 / f64::from(t).sqrt())?, 1.518_65, max_relative = 1e-5);
        assert_relative_eq!(value(|t| libm::pow(2.0, -f64::from(t)))?, 2.770_02, max_relative = 1e-5);
        Ok(())
    }

    #[test]
    fn cuts_are_outward_and_vanish() -> Result<(), Error> {
        for final_token in [Withheld, Published] {
            let run = run(40, 6, 1, final_token);
            let exact = (total(run, 0.3), observed(run, 0.3));
            let mut last = (f64::INFINITY, f64::INFINITY);
            for longest in [2, 3, 6, 12, 24, 40, 41] {
                let cut =
                    (*run.total_log_mgf(0.3, longest)?.value(), *run.observed_log_mgf(0.3, longest)?.value());
                assert!(exact.0 <= cut.0 + 1e-13 && cut.0 <= last.0 + 1e-13);
                assert!(exact.1 <= cut.1 + 1e-13 && cut.1 <= last.1 + 1e-13);
                last = cut;
            }
            assert_eq!(last, exact);
        }
        Ok(())
    }

    #[test]
    fn values_stay_in_range_and_below_trivial_bounds() -> Result<(), Error> {
        for final_token in [Withheld, Published] {
            for theta in [1e-12, 1.0, 30.0, 600.0] {
                let run = run(3000, 5, 1, final_token);
                let (total, observed) = (total(run, theta), observed(run, theta));
                assert!(total.is_finite() && observed <= total * (1.0 + 1e-9) + 1e-11);
                // Every visit seen at once: Bin(T, 1/n) times θ.
                let alone = 3000.0 * libm::log1p(0.2 * libm::expm1(theta));
                assert!(total <= alone * (1.0 + 1e-9), "{total} {alone}");
            }
        }
        assert_eq!(total(run(5, 3, 1, Withheld), 601.0), f64::INFINITY);
        assert_eq!(observed(run(5, 3, 1, Withheld), 1e300), f64::INFINITY);
        assert!(total(run(5, 3, 1, Withheld), 0.0) < 1e-13);
        Ok(())
    }

    /// A cap equal to `T` cannot bind, so the theorem with `φ` must lie above the exact recursion.
    #[test]
    fn the_capped_theorem_covers_every_run() -> Result<(), Error> {
        for (users, colluders) in [(2, 1), (3, 1), (5, 2), (10, 1)] {
            for theta in [0.05, 1.0, 5.0] {
                let log_phi = *Geometric::until_seen(users, colluders)?.log_phi(theta)?.value();
                for steps in [1, 4, 15] {
                    let run = run(steps, users, colluders, Published);
                    assert!(total(run, theta) <= steps as f64 * log_phi * (1.0 + 1e-12));
                }
            }
        }
        let step = NoisyStep::new(1.0, Sigma::new(4.0)?)?;
        let (order, run) = (Order::new(3.0)?, run(50, 100, 1, Withheld));
        let capped = *CappedWalk::new(50, step, 100, 1)?.rdp(order).value();
        assert!(*run.rdp(&step, order)?.value() <= capped);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        for (steps, users, colluders) in
            [(0, 5, 1), (5, 1, 1), (5, 5, 5), (5, 5, 0), (1_000_000_000_000, 5, 1), (5, 0, 0)]
        {
            assert!(WalkRun::new(steps, users, colluders, Withheld).is_err());
        }
        let run = run(1_000_000, 5, 1, Withheld);
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(run.total_log_mgf(bad, 10).is_err());
            assert!(run.observed_log_mgf(bad, 10).is_err());
        }
        assert!(run.total_log_mgf(0.1, 1).is_err());
        assert!(run.observed_log_mgf(0.1, 0).is_err());
        // 10^12 operations.
        assert!(run.total_log_mgf(0.1, u64::MAX).is_err());
        assert!(run.observed_log_mgf(0.1, u64::MAX).is_err());
        assert!(run.decreasing_log_mgf(0.1, &[1.0]).is_err());
        let short = WalkRun::new(2, 5, 1, Withheld).unwrap();
        assert!(short.decreasing_log_mgf(0.1, &[1.0, f64::NAN]).is_err());
        assert!(short.decreasing_log_mgf(0.1, &[1.0, 0.0]).is_err());
    }
}
