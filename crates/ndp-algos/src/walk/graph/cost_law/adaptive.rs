//! Contributions that depend on the token: gradients, with steps that never move two tokens further apart.
//!
//! By amplification by iteration, the contributions between two sightings cost at most `Σ a²`, for all
//! gradients and any shares `a ≥ 0` of the slots of noise in between, provided that the shares up to any slot
//! sum to no more than the contributions so far, and all shares sum to the number of contributions
//! ([`PathCost`](crate::walk::graph::PathCost), the taut string). Here contributions are combined into
//! *groups*, each with the slots up to the next group:
//!
//! * A contribution at most `g` steps after the previous one belongs to the same group, up to `J`
//!   contributions.
//! * Let the last of `j` contributions be `τ` steps before the next group or the sighting. The contributions
//!   are at least 1 and at most `g` steps apart. Counted from `j − 1` slots before the last contribution, at
//!   least `l/g` contributions were therefore made up to the `l`-th slot. So the share `j/(τ + j − 1)` for
//!   each of the last `τ + j − 1` slots is allowed if it is at most `1/g`, and costs `j²/(τ + j − 1)`.
//!   Otherwise the shares are `1/g` for each of the first `j − 1` slots and the rest evenly over the `τ`
//!   slots after them, which costs `(j − 1)/g² + (j − (j − 1)/g)²/τ`, or 1 for the slot of each contribution,
//!   which costs `j`.
//!
//! `J = 1` charges `1/τ`, the cost of gaps. The first contributions of groups and the visits of the observers
//! form a renewal process, up to the last sighting.

use super::intervals::{ByCount, Charging, Intervals, left, sightings, unseen_tails};
use super::passages::{Passages, Side};
use super::system::Charge;
use ndp_account::Error;
use ndp_numeric::stop::Stop;

/// How contributions are combined into groups.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// `J`, the largest size of a group.
    most: usize,
    /// `g`, the largest number of steps between two contributions of a group.
    gap: usize,
    /// The kinds of groups: the number of contributions, and the steps from the first to the last.
    kinds: Vec<(usize, usize)>,
}

impl Groups {
    pub(super) fn new(most: usize, gap: usize, steps: usize) -> Self {
        let of_size = |size: usize| {
            let longest = ((size - 1) * gap).min(steps);
            (size - 1..=longest).map(move |before| (size, before))
        };
        Self { most, gap, kinds: (1..=most).flat_map(of_size).collect() }
    }

    /// `J` and `g`, for tests.
    #[cfg(test)]
    pub(super) fn rule(&self) -> (usize, usize) {
        (self.most, self.gap)
    }

    /// The groups that seem to cost least. The choice is heuristic: every choice gives a valid upper law.
    pub(super) fn best(passages: &Passages) -> Self {
        let steps = passages.steps();
        let most = if steps > LONG { FEW } else { MANY };
        let again = passages.side(&passages.again, Side::Upper);
        let seen: Vec<Vec<f64>> = passages.seen.iter().map(|law| passages.side(law, Side::Upper)).collect();
        let score = |gap: usize| {
            let short: f64 = again.iter().take(gap + 1).sum();
            let (mut cost, mut count) = (0.0, 0.0);
            for size in 1..=most {
                let weight = short.powi(i32::try_from(size).unwrap_or(i32::MAX) - 1);
                for t in 1..=steps {
                    let last = size == most || t > gap;
                    let seen: f64 = seen.iter().map(|law| law[t]).sum();
                    let mass = weight * (seen + if last { again[t] } else { 0.0 });
                    let Charge { numerator, denominator } = charge(size, gap, t);
                    let charge = numerator as f64 / denominator as f64;
                    cost += mass * charge * charge.sqrt();
                    count += mass * size as f64;
                }
            }
            cost / count
        };
        let gaps = GAPS.iter().copied().take_while(|&gap| gap <= steps.max(1));
        let best = gaps.map(|gap| (gap, score(gap))).min_by(|a, b| a.1.total_cmp(&b.1));
        Self::new(most, best.map_or(1, |(gap, _)| gap), steps)
    }

    /// The charge of a group of this kind whose first contribution is `t` steps before the next group, the
    /// sighting or the end.
    pub(super) fn charge(&self, kind: usize, t: usize) -> Charge {
        let (size, before) = self.kinds[kind];
        charge(size, self.gap, t.saturating_sub(before))
    }

    /// For each size of a group, the law of the number of steps from its first contribution to its last.
    fn bursts(&self, again: &[f64]) -> Vec<Vec<f64>> {
        let steps = again.len() - 1;
        let mut bursts = vec![vec![1.0]];
        for size in 2..=self.most {
            let last = &bursts[size - 2];
            let longest = ((size - 1) * self.gap).min(steps);
            let at = |t: usize| -> f64 {
                let shorts = (1..=self.gap.min(t)).filter(|short| t - short < last.len());
                let sum: f64 = shorts.map(|short| last[t - short] * again[short]).sum();
                raised(sum, self.gap + 2)
            };
            let next = (0..=longest).map(at).collect();
            bursts.push(next);
        }
        bursts
    }

    /// For each kind, the series of the time from the first contribution of a group to what ends it. The
    /// argument `ends(full, τ)` is the probability that this comes `τ` steps after the last contribution,
    /// where `full` says whether the group has `J` contributions.
    fn ended(&self, bursts: &[Vec<f64>], steps: usize, ends: impl Fn(bool, usize) -> f64) -> ByCount {
        let of_kind = |&(size, before): &(usize, usize)| {
            let burst = bursts[size - 1].get(before).copied().unwrap_or(0.0);
            let at = |t: usize| {
                t.checked_sub(before).map_or(0.0, |t| raised(burst * ends(size == self.most, t), 2))
            };
            (0..=steps).map(at).collect()
        };
        [vec![0.0; steps + 1]].into_iter().chain(self.kinds.iter().map(of_kind)).collect()
    }
}

/// The most that `size` contributions cost if the last of them is `t` steps before the end of the group. With
/// `t = 0` the last visit is at the very end of the walk and contributes nothing, so that 1 is charged for
/// each of the others.
pub(super) fn charge(size: usize, gap: usize, t: usize) -> Charge {
    let (size, gap, t) = (size as u64, gap as u64, t as u64);
    let whole = |numerator: u64| Charge { numerator, denominator: 1 };
    if t == 0 {
        return whole(size - 1);
    }
    if t + size > size * gap {
        return Charge { numerator: size * size, denominator: t + size - 1 };
    }
    let rest = size * gap - (size - 1);
    let (numerator, denominator) = ((size - 1) * t + rest * rest, gap * gap * t);
    if numerator < size * denominator { Charge { numerator, denominator } } else { whole(size) }
}

/// A sum of products with this number of operations on nonnegative numbers, rounded up.
fn raised(sum: f64, operations: usize) -> f64 {
    sum * (1.0 + (operations + 1) as f64 * f64::EPSILON)
}

/// The upper laws of a renewal process of first contributions of groups of `u`, and visits of each member.
/// Intervals that begin at `u` carry the charges.
///
/// # Errors
/// [`Error::Stopped`].
pub(super) fn visits(
    passages: &Passages,
    groups: &Groups,
    published: bool,
    stop: &Stop,
) -> Result<Intervals, Error> {
    let steps = passages.steps();
    let law = |law: &Vec<f64>| passages.side(law, Side::Upper);
    let free = |law: Vec<f64>| -> ByCount { vec![law] };
    let again = law(&passages.again);
    let bursts = groups.bursts(&again);
    let next = |full: bool, t: usize| if full || t > groups.gap { again[t] } else { 0.0 };
    let mut of_u = vec![groups.ended(&bursts, steps, next)];
    of_u.extend(passages.seen.iter().map(|seen| {
        let seen = law(seen);
        groups.ended(&bursts, steps, |_, t| seen[t])
    }));
    let of_members = passages
        .back
        .iter()
        .zip(&passages.among)
        .map(|(back, among)| [back].into_iter().chain(among).map(|p| free(law(p))).collect());
    let between: Vec<Vec<ByCount>> = [of_u].into_iter().chain(of_members).collect();
    let starts = [&passages.start].into_iter().chain(&passages.start_seen);
    let first = starts.map(|p| free(passages.side_of_start(p, Side::Upper))).collect();
    // An upper bound on the remaining probability needs lower bounds on what is subtracted.
    let none = |laws: Vec<&Vec<f64>>| -> Vec<f64> {
        let taken: Vec<Vec<f64>> = laws.into_iter().map(|law| passages.side(law, Side::Lower)).collect();
        left(taken.iter().map(Vec::as_slice).collect(), Side::Upper, 0.0)
    };
    let mut tail = Vec::new();
    if published {
        // At the end everybody sees the contributions that were pending. There is no contribution after the
        // last step.
        let shown = none([&passages.again].into_iter().chain(&passages.seen).collect());
        tail.push(groups.ended(&bursts, steps, |_, t| shown[t]));
        for (back, among) in passages.back.iter().zip(&passages.among) {
            tail.push(free(none([back].into_iter().chain(among).collect())));
        }
    } else {
        // Nobody sees pending contributions: the path ends with the last sighting, whether u is visited after
        // it or not.
        tail.push(free(vec![0.0; steps + 1]));
        tail.extend(unseen_tails(passages, stop)?.into_iter().map(free));
    }
    let charging = Charging::Groups(groups.clone());
    let mut upper =
        Intervals { between, first, tail, unseen: Vec::new(), sightings: 0.0, charging, lost: 0.0 };
    upper.sightings = sightings(&upper, steps);
    Ok(upper)
}

/// `J`, which is smaller for walks of more steps.
const MANY: usize = 8;
const FEW: usize = 4;
const LONG: usize = 4000;
/// The values among which `g` is chosen.
const GAPS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
