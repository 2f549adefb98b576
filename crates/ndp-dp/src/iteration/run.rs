//! Private descent by a walk on the complete graph, exact in the number of steps: no cap, no failure
//! probability.

use super::NoisyStep;
use super::geometric::check_theta;
use super::recursion::{Backward, dot, log_delayed, log_renewal, round_up, tilt};
use super::step::check_steps;
use crate::error::ensure;
use crate::{Error, Guarantee, Mechanism, Order, UpperBound};
use ndp_numeric::rounding::{Interval, index};
use serde::{Deserialize, Serialize};

/// Whether the observers see the token after the last step.
///
/// # Examples
/// ```
/// use ndp_dp::iteration::{FirstHolder, LastIterate, NoisyStep, UncappedWalk};
/// use ndp_dp::{Mechanism, Order, Sigma};
/// let (step, order) = (NoisyStep::new(1.0, Sigma::new(10.0)?)?, Order::new(2.0)?);
/// let loss = |last_iterate| -> Result<f64, ndp_dp::Error> {
///     let run = UncappedWalk { steps: 50, users: 100, colluders: 1, last_iterate, first_holder: FirstHolder::Uniform };
///     Ok(run.descent(step, u64::MAX)?.rdp(order).into_value())
/// };
/// assert!(loss(LastIterate::Withheld)? < loss(LastIterate::Published)?);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastIterate {
    /// Nobody sees it.
    Withheld,
    /// It is one more observation.
    Published,
}

/// Who holds the token at the first step.
///
/// # Examples
/// ```
/// use ndp_dp::iteration::{FirstHolder, LastIterate, NoisyStep, UncappedWalk};
/// use ndp_dp::{Mechanism, Order, Sigma};
/// let (step, order) = (NoisyStep::new(1.0, Sigma::new(10.0)?)?, Order::new(2.0)?);
/// let loss = |first_holder| -> Result<f64, ndp_dp::Error> {
///     let last_iterate = LastIterate::Published;
///     let run = UncappedWalk { steps: 50, users: 100, colluders: 1, last_iterate, first_holder };
///     Ok(run.descent(step, u64::MAX)?.rdp(order).into_value())
/// };
/// assert!(loss(FirstHolder::Uniform)? < loss(FirstHolder::Given)?);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstHolder {
    /// A user drawn uniformly, as at every later step.
    Uniform,
    /// A given user. The loss is that of the worst user, who holds it: the contribution of the first step is
    /// certain.
    Given,
}

/// A walk of `T` steps on the complete graph of `n` users, self-hops allowed, `c` of them observing together.
///
/// Every visit contributes. Losses come from the `θ`-moments `ln E_path e^{cost}` of the path's cost: `D_α ≤
/// value/(α − 1)` at `θ = 2α(α − 1)L²/σ²`. They hold against observers who know the whole path, for
/// data-independent first iterates. [`Self::descent`] is for constant (or non-decreasing) step sizes,
/// [`Self::decreasing_rdp`] for any. Both check the run: `1 ≤ T ≤ 10⁷` and `1 ≤ c < n`.
///
/// # Examples
/// ```
/// use ndp_dp::iteration::{FirstHolder, LastIterate, NoisyStep, UncappedWalk};
/// use ndp_dp::{Mechanism, Order, Sigma};
/// let run = UncappedWalk {
///     steps: 500,
///     users: 100,
///     colluders: 2,
///     last_iterate: LastIterate::Withheld,
///     first_holder: FirstHolder::Uniform,
/// };
/// let (step, order) = (NoisyStep::new(1.0, Sigma::new(10.0)?)?, Order::new(2.0)?);
/// let longer = UncappedWalk { steps: 1000, ..run };
/// assert!(run.descent(step, u64::MAX)?.rdp(order).value() < longer.descent(step, u64::MAX)?.rdp(order).value());
/// assert!(UncappedWalk { colluders: 100, ..run }.descent(step, u64::MAX).is_err()); // everyone observes: nobody is left to protect
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UncappedWalk {
    /// The number of steps `T`.
    pub steps: u64,
    /// The number of users `n`.
    pub users: u64,
    /// The number of merged observers `c`.
    pub colluders: u64,
    /// Whether the observers see the token after the last step.
    pub last_iterate: LastIterate,
    /// Who holds the token at the first step.
    pub first_holder: FirstHolder,
}

impl UncappedWalk {
    #[cfg(test)]
    pub(crate) fn new(
        steps: u64,
        users: u64,
        colluders: u64,
        last_iterate: LastIterate,
    ) -> Result<Self, Error> {
        let run = Self { steps, users, colluders, last_iterate, first_holder: FirstHolder::Uniform };
        run.check().map(|()| run)
    }

    fn check(&self) -> Result<(), Error> {
        ensure(
            (1..=MAX_STEPS).contains(&self.steps),
            "the number of steps of a walk",
            "lie between 1 and 10^7 for an accountant that is exact in it",
            self.steps as f64,
        )?;
        ensure(
            1 <= self.colluders && self.colluders < self.users,
            "the number of colluders",
            "lie between 1 and the number of users minus 1",
            self.colluders as f64,
        )
    }

    /// `ln E e^{cost}`, where every contribution is charged by its gap until the next event in {the user
    /// acts, an observer receives}, rounded up; `∞` for `θ > 600`, where the order is of no use.
    ///
    /// `longest` cuts the sums over gaps: a displacement counts as hidden after that many steps, which costs
    /// more. With `longest > T` (`u64::MAX`, say) nothing is cut.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞` and `longest ≥ 2`, and when the `T · min(T, longest)`
    /// operations exceed 4·10⁹, some seconds.
    ///
    /// # Complexity
    /// `O(T · min(T, longest))` time, `O(T)` memory.
    #[doc(alias = "sgd_total_logmgf")]
    #[cfg(test)]
    pub(crate) fn total_log_mgf(&self, theta: f64, longest: u64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        ensure_longest(longest)?;
        self.check_cost(longest)?;
        if theta > MAX_THETA {
            return Ok(UpperBound::new(f64::INFINITY));
        }
        let steps = index(self.steps);
        let longest = usize::try_from(longest).unwrap_or(usize::MAX).min(steps + 1);
        let (p, q) = self.event();
        // `closed` holds P(gap = g) e^{θ/g} for g ≥ 1, and `open` is P(gap ≥ g) e^{θ/g}.
        let survival: Vec<f64> = (0..=longest).map(|g| libm::pow(q, g as f64)).collect();
        let closed: Vec<f64> =
            (1..=longest).map(|g| p * survival[g - 1] * libm::exp(theta / g as f64)).collect();
        let open = |g: usize| survival[g - 1] * libm::exp(theta / g as f64);
        let mut backward = Backward::new(self, longest);
        for t in (self.earliest()..=steps).rev() {
            let left = steps - t;
            let pending = if longest <= left + 1 {
                // The displacement counts as absorbed by the `longest` steps t..t + longest, after the last
                // of which nothing is pending.
                dot(&closed[..longest - 1], backward.after(t, longest - 1))
                    + open(longest) * backward.nothing_pending(t + longest - 1)
            } else {
                let end = match self.last_iterate {
                    LastIterate::Withheld => survival[left],
                    LastIterate::Published => open(left + 1),
                };
                dot(&closed[..left], backward.after(t, left)) + end * backward.unit
            };
            backward.push(t, pending);
        }
        Ok(backward.log_value(theta))
    }

    /// The Rényi loss at `order`, in nats, for given step sizes `η₁, …, η_T`. It is the only form that covers
    /// decreasing step sizes, whose later noise is smaller and hides less.
    ///
    /// Every contribution is charged until the next event in {the user acts, an observer receives}; after `g`
    /// steps a displacement is hidden by `S(t, g) = Σ_{i<g} (η_{t+i}/η_t)²` noises. `∞` for `θ > 600`, where
    /// the order is of no use.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a run outside its range, unless there are `T` positive, finite step
    /// sizes, and when the `T²/2` operations exceed 4·10⁹.
    pub fn decreasing_rdp(
        &self,
        order: Order,
        step: NoisyStep,
        step_sizes: &[f64],
    ) -> Result<UpperBound<f64>, Error> {
        let theta = theta_above(&step, order);
        if theta > MAX_THETA {
            self.check()?;
            return Ok(UpperBound::new(f64::INFINITY));
        }
        Ok(self.decreasing_log_mgf(theta, step_sizes)?.map(|moment| over_excess(moment, order)))
    }

    /// `ln E e^{cost}` of [`Self::decreasing_rdp`], rounded up.
    pub(crate) fn decreasing_log_mgf(
        &self,
        theta: f64,
        step_sizes: &[f64],
    ) -> Result<UpperBound<f64>, Error> {
        self.check()?;
        check_theta(theta)?;
        check_steps(step_sizes)?;
        ensure(
            step_sizes.len() as u64 == self.steps,
            "the number of step sizes",
            "be the number of steps of the walk",
            step_sizes.len() as f64,
        )?;
        self.check_cost(self.steps)?;
        if theta > MAX_THETA {
            return Ok(UpperBound::new(f64::INFINITY));
        }
        let steps = step_sizes.len();
        let (p, q) = self.event();
        let mut backward = Backward::new(self, steps + 1);
        for t in (self.earliest()..=steps).rev() {
            let left = steps - t;
            let mut pending = 0.0;
            let mut survival = 1.0;
            let mut noises = 0.0;
            // The size of step t is entry t − 1. At t = 0 nobody has acted yet, and the value is not used.
            if t > 0 {
                for (g, next) in backward.after(t, left).iter().enumerate() {
                    let relative = step_sizes[t - 1 + g] / step_sizes[t - 1];
                    noises += relative * relative;
                    pending += p * survival * libm::exp(theta / noises) * next;
                    survival *= q;
                }
                let relative = step_sizes[steps - 1] / step_sizes[t - 1];
                noises += relative * relative;
                let end = match self.last_iterate {
                    LastIterate::Withheld => survival,
                    LastIterate::Published => survival * libm::exp(theta / noises),
                };
                pending += end * backward.unit;
            }
            backward.push(t, pending);
        }
        Ok(backward.log_value(theta))
    }

    /// `ln E e^{cost}`, where only contributions that an observer sees afterwards are charged, rounded up.
    /// This is tighter than charging every one until the next event; `∞` for `θ > 600`, where the order is of
    /// no use.
    ///
    /// `longest` cuts the observed segments: the observers are taken to look after every `longest` foreign
    /// steps in a row, which costs more. With `longest > T` nothing is cut.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ θ < ∞` and `longest ≥ 2`, and when the `T · min(T, longest)`
    /// operations exceed 4·10⁹, some seconds.
    ///
    /// # Complexity
    /// `O(T · min(T, longest))` time, `O(T)` memory.
    #[cfg(test)]
    pub(crate) fn observed_log_mgf(&self, theta: f64, longest: u64) -> Result<UpperBound<f64>, Error> {
        check_theta(theta)?;
        ensure_longest(longest)?;
        self.check_cost(longest)?;
        Ok(self.observed_unchecked(theta, longest))
    }

    /// `ln E e^{cost}`, where only contributions that an observer sees afterwards are charged, rounded up;
    /// `∞` for `θ > 600`. The arguments have been checked by the caller.
    fn observed_unchecked(&self, theta: f64, longest: u64) -> UpperBound<f64> {
        if theta > MAX_THETA {
            return UpperBound::new(f64::INFINITY);
        }
        let steps = index(self.steps);
        let cut = usize::try_from(longest).ok().filter(|&longest| longest <= steps);
        let Segments { from_look: segments, from_contribution } =
            self.log_segments(theta, cut.unwrap_or(steps));
        // The weight of a segment: m steps held by users who are no observers, then the look that ends it.
        let (log_look, log_foreign) = self.log_look();
        let mut log_weights: Vec<f64> = segments
            .iter()
            .take(cut.unwrap_or(steps))
            .enumerate()
            .map(|(m, segment)| log_look + m as f64 * log_foreign + segment)
            .collect();
        if let Some(cut) = cut {
            let forced = cut as f64 * log_foreign + segments[cut];
            log_weights[cut - 1] = ndp_numeric::logspace::log_add_exp(log_weights[cut - 1], forced);
        }
        let mut seen = log_renewal(&log_weights, steps);
        let last = |segments: &[f64], length: usize| match self.last_iterate {
            LastIterate::Withheld => 0.0,
            LastIterate::Published => segments[length],
        };
        let mut unseen = f64::NEG_INFINITY;
        if self.first_holder == FirstHolder::Given {
            // The exposed user acts at the first step. The first segment is longer by that step, whose holder
            // is not drawn and has no factor of probability.
            let until_look = |m: usize| log_look + (m - 1) as f64 * log_foreign + from_contribution[m];
            let mut firsts: Vec<f64> = (1..cut.unwrap_or(steps)).map(until_look).collect();
            firsts.insert(0, f64::NEG_INFINITY);
            match cut {
                Some(cut) => {
                    let forced = (cut - 1) as f64 * log_foreign + from_contribution[cut];
                    firsts[cut - 1] = ndp_numeric::logspace::log_add_exp(firsts[cut - 1], forced);
                }
                None => unseen = (steps - 1) as f64 * log_foreign + last(&from_contribution, steps),
            }
            seen = log_delayed(&firsts, &seen);
        }
        let first = cut.map_or(0, |cut| steps + 1 - cut);
        let terms: Vec<f64> = (first..=steps)
            .map(|t| seen[t] + (steps - t) as f64 * log_foreign + last(&segments, steps - t))
            .chain([unseen])
            .collect();
        round_up(ndp_numeric::logspace::log_sum_exp(&terms), self.steps, theta)
    }

    /// The run as a mechanism whose steps are `step`. Only contributions that an observer sees afterwards are
    /// charged: tighter than charging every one until the next event.
    ///
    /// `longest` cuts the observed segments: the observers are taken to look after every `longest` foreign
    /// steps in a row, which costs more. With `longest > T` (`u64::MAX`, say) nothing is cut.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a run outside its range, unless `longest ≥ 2`, and when the `T ·
    /// min(T, longest)` operations of one order exceed 4·10⁹, some seconds.
    ///
    /// # Complexity
    /// `O(T · min(T, longest))` time for each order, `O(T)` memory.
    #[doc(alias = "sgd_observed_logmgf")]
    pub fn descent(self, step: NoisyStep, longest: u64) -> Result<WalkDescent, Error> {
        self.check()?;
        ensure_longest(longest)?;
        self.check_cost(longest)?;
        Ok(WalkDescent { run: self, step, longest })
    }

    /// The earliest time of the backward recursion: 0, before the first step, or 1 if the holder of the first
    /// step is given.
    const fn earliest(&self) -> usize {
        match self.first_holder {
            FirstHolder::Uniform => 0,
            FirstHolder::Given => 1,
        }
    }

    /// Probabilities that the next step is an event (the user acts or an observer receives), and that it is
    /// not.
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
        ensure(
            operations <= MAX_OPERATIONS,
            "the number of steps times the longest gap",
            "be at most 4e9; a smaller longest gap gives a slightly larger bound",
            operations as f64,
        )
    }

    /// `ln b_m` for `m = 0..=most`, where `b_m` is the moment of the cost of an observed segment of `m` steps
    /// held by users who are no observers; and `ln w_r`, where `w_r` is the moment from a contribution on
    /// with `r` steps of the segment left, its own included.
    fn log_segments(&self, theta: f64, most: usize) -> Segments {
        let foreign = (self.users - self.colluders) as f64;
        let (rho, miss) = (1.0 / foreign, (foreign - 1.0) / foreign);
        let log_miss = libm::log1p(-rho);
        // All values grow like e^{κ·length}; divided by it, they stay near 1.
        let gap = |g: usize, kappa: f64| {
            let g = g as f64;
            // If everyone else observes, g = 1 gives 0 · ln 0, which is 0 here.
            let missed = if g == 1.0 { 0.0 } else { (g - 1.0) * log_miss };
            libm::exp(missed + theta / g - kappa * g)
        };
        let kappa = tilt(0.0, theta, |kappa| (1..=most).map(|g| rho * gap(g, kappa)).sum());
        let gaps: Vec<f64> = (1..=most).map(|g| rho * gap(g, kappa)).collect();
        // The values are stored in reverse, r at index most − r, so that a convolution is the dot product of
        // two slices.
        let mut pending = vec![0.0; most + 1];
        let mut log_segments = vec![0.0; most + 1];
        let mut log_pending = vec![0.0; most + 1];
        let mut ended = 0.0;
        let decay = libm::exp(-kappa);
        for r in 1..=most {
            // Σ_{g<r} gap_g pending_{r−g}.
            let renewed = dot(&gaps[..r - 1], &pending[most - r + 1..most]);
            pending[most - r] = renewed + gap(r, kappa);
            ended = decay * miss * ended + rho * pending[most - r];
            let untouched = libm::exp(r as f64 * (log_miss - kappa));
            log_segments[r] = libm::log(untouched + ended) + kappa * r as f64;
            log_pending[r] = libm::log(pending[most - r]) + kappa * r as f64;
        }
        Segments { from_look: log_segments, from_contribution: log_pending }
    }
}

/// Logarithms of the moments of observed segments, by length.
struct Segments {
    /// Moments of segments that begin after a look.
    from_look: Vec<f64>,
    /// Moments of the part of a segment that begins with a contribution.
    from_contribution: Vec<f64>,
}

/// Private descent by a [`UncappedWalk`], as its observers see it: an upper bound on the Rényi loss at every
/// order.
///
/// # Examples
/// ```
/// use ndp_dp::iteration::{FirstHolder, LastIterate, NoisyStep, UncappedWalk};
/// use ndp_dp::{Delta, Mechanism, RdpAccountant, Sigma};
/// let step = NoisyStep::new(1.0, Sigma::new(40.0)?)?;
/// let (last_iterate, first_holder) = (LastIterate::Published, FirstHolder::Uniform);
/// let run = UncappedWalk { steps: 500, users: 100, colluders: 1, last_iterate, first_holder };
/// let descent = run.descent(step, 500)?;
/// let spent = RdpAccountant::default().compose(&descent, 1).epsilon(Delta::new(1e-6)?);
/// assert!(spent.value().is_finite());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WalkDescent {
    run: UncappedWalk,
    step: NoisyStep,
    longest: u64,
}

crate::lossless::checked_fields! {
    WalkDescent { run: UncappedWalk, step: NoisyStep, longest: u64 } => run.descent(step, longest)
}

impl Mechanism for WalkDescent {
    /// `ln E e^{cost}` over `α − 1`; `∞` for `θ > 600`, where the order is of no use.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let moment = self.run.observed_unchecked(theta_above(&self.step, order), self.longest);
        moment.map(|moment| over_excess(moment, order)).into()
    }
}

/// `θ`, rounded up by a further four epsilons for the five roundings in it: the moment grows faster than `θ`.
fn theta_above(step: &NoisyStep, order: Order) -> f64 {
    step.theta(order) * (1.0 + 4.0 * f64::EPSILON)
}

/// A moment over `α − 1`, rounded up.
fn over_excess(moment: f64, order: Order) -> f64 {
    (Interval::new(moment) / (Interval::new(order.get()) - Interval::ONE)).high()
}

fn ensure_longest(longest: u64) -> Result<(), Error> {
    ensure(longest >= 2, "the longest gap or segment", "be at least 2", longest as f64)
}

/// The most steps: the two arrays of this length take 160 MB.
const MAX_STEPS: u64 = 10_000_000;
const MAX_OPERATIONS: u64 = 4_000_000_000;
/// `e^600` times the largest value kept, 1e30, is still a float.
const MAX_THETA: f64 = 600.0;

#[cfg(test)]
mod tests;
