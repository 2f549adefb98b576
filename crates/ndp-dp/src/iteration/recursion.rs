//! The recursions over the steps of a walk. Common factors keep the values within the range of floats, and
//! the results are rounded up.

use super::{FirstHolder, UncappedWalk};
use crate::UpperBound;
use ndp_numeric::rounding::index;

/// Backward values of the recursion: `V(t)` with nothing pending after step `t`, `W(t)` when the user acts at
/// `t`.
///
/// All values carry the common factor `unit`, which keeps them in range.
pub(super) struct Backward {
    colluders: f64,
    act: f64,
    rest: f64,
    nothing: Vec<f64>,
    acted: f64,
    /// `(W + cV)/(c + 1)` at each step: what follows an event.
    event: Vec<f64>,
    pub(super) unit: f64,
    log_unit: f64,
    /// How many steps ahead of the current one values are still used.
    reach: usize,
    steps: u64,
    first_holder: FirstHolder,
}

impl Backward {
    pub(super) fn new(run: &UncappedWalk, reach: usize) -> Self {
        let (users, size) = (run.users as f64, index(run.steps) + 2);
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
            first_holder: run.first_holder,
        }
    }

    /// The values after an event at `t + 1, …, t + count`.
    pub(super) fn after(&self, t: usize, count: usize) -> &[f64] {
        &self.event[t + 1..][..count]
    }

    #[cfg(test)]
    pub(super) fn nothing_pending(&self, t: usize) -> f64 {
        self.nothing[t]
    }

    /// Records step `t`, given its `W`; steps come in decreasing order.
    pub(super) fn push(&mut self, t: usize, pending: f64) {
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
            // Values of later steps may underflow when they are scaled down: they are then below 1e-300 times
            // the values they are added to.
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

    pub(super) fn log_value(&self, theta: f64) -> UpperBound<f64> {
        let value = match self.first_holder {
            FirstHolder::Uniform => self.nothing[0],
            // The loss is the largest over all first holders: the exposed user, who has then acted at step 1,
            // or another user.
            FirstHolder::Given => self.acted.max(self.nothing[1]),
        };
        round_up(libm::log(value) - self.log_unit, self.steps, theta)
    }
}

/// `ln S[t]` for `t = 0..=steps`, where `S[0] = 1` and `S[t] = Σ_L w_L S[t − L]`, from `ln w_1, ln w_2, …`.
pub(super) fn log_renewal(log_weights: &[f64], steps: usize) -> Vec<f64> {
    // λ is chosen so that the weights times e^{−λL} sum to about 1: the scaled values S[t] e^{−λt} then
    // neither grow nor vanish.
    let tilted =
        |lambda: f64, (index, log_weight): (usize, &f64)| libm::exp(log_weight - lambda * (index + 1) as f64);
    let total = |lambda: f64| log_weights.iter().enumerate().map(|w| tilted(lambda, w)).sum();
    let high = log_weights.iter().copied().fold(0.0, f64::max) + std::f64::consts::LN_2;
    let low = log_weights.first().copied().unwrap_or(0.0).min(0.0);
    let lambda = tilt(low, high, total);
    let weights: Vec<f64> = log_weights.iter().enumerate().map(|w| tilted(lambda, w)).collect();
    // The values are stored in reverse, t at index steps − t, so that a convolution is the dot product of two
    // slices.
    let mut values = vec![0.0; steps + 1];
    values[steps] = 1.0;
    for t in 1..=steps {
        let reach = t.min(weights.len());
        values[steps - t] = dot(&weights[..reach], &values[steps - t + 1..][..reach]);
    }
    values.iter().rev().enumerate().map(|(t, value)| libm::log(*value) + lambda * t as f64).collect()
}

/// `ln Σ_L f_L S[t − L]` for `t = 0..=T`, from `ln f_1, ln f_2, …` and `ln S[0], …, ln S[T]`: a delayed
/// renewal, whose first segment has weights of its own.
pub(super) fn log_delayed(log_firsts: &[f64], log_values: &[f64]) -> Vec<f64> {
    let steps = log_values.len() - 1;
    // Both lists are divided by e^{λt}. The values are then at most 1, and the first weights exceed 1 by no
    // more than their ratio to the weights of later segments.
    let rate = |(t, log_value): (usize, &f64)| if t == 0 { 0.0 } else { log_value / t as f64 };
    let lambda = log_values.iter().enumerate().map(rate).fold(0.0, f64::max);
    let firsts: Vec<f64> =
        log_firsts.iter().enumerate().map(|(index, f)| libm::exp(f - lambda * (index + 1) as f64)).collect();
    // Stored in reverse, as in `log_renewal`.
    let values: Vec<f64> = (0..=steps).rev().map(|t| libm::exp(log_values[t] - lambda * t as f64)).collect();
    let at = |t: usize| {
        let reach = t.min(firsts.len());
        let value = dot(&firsts[..reach], &values[steps - t + 1..][..reach]);
        libm::log(value) + lambda * t as f64
    };
    (0..=steps).map(|t| if t == 0 { f64::NEG_INFINITY } else { at(t) }).collect()
}

/// Roughly the `x` in `[low, high]` at which a decreasing function passes 1. The results do not depend on
/// `x`; this choice keeps intermediate numbers within the range of floats.
pub(super) fn tilt(low: f64, high: f64, decreasing: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if decreasing(middle) > 1.0 { low = middle } else { high = middle }
    }
    high
}

/// A sum of products of nonnegative numbers, of relative error at most 60 units roundoff: 36 within a block,
/// one for each doubling of the number of blocks, of which there are fewer than 2^24.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    if left.len() > BLOCK {
        let middle = left.len().next_power_of_two() / 2;
        return dot(&left[..middle], &right[..middle]) + dot(&left[middle..], &right[middle..]);
    }
    // Four partial sums, so that no addition has to wait for the one before it.
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

/// The most terms that [`dot`] adds up without splitting them into halves.
const BLOCK: usize = 128;

/// A logarithm, plus the rounding error of the `steps` sums of positive terms behind it.
///
/// The error bound is proven: each step has one [`dot`] and about ten products, at most 80 units roundoff or
/// 40 epsilons. Its exponentials, whose arguments are below `θ` in total, add `θ` epsilons, and the powers of
/// probabilities one epsilon for every step they span.
pub(super) fn round_up(log_value: f64, steps: u64, theta: f64) -> UpperBound<f64> {
    let rounding = f64::EPSILON * ((steps as f64 + 1.0) * (48.0 + theta) + 4.0 * log_value.abs());
    UpperBound::new((log_value + rounding).next_up().max(0.0))
}
