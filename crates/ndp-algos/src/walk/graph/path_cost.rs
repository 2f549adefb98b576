//! What a realised path costs, by a taut string for each interval between two visits of the observer, and by
//! simpler upper bounds; an odometer adds it up along the path.
//!
//! Costs are in units of the local loss `c₀` of one contribution. Between two consecutive visits
//! of the observer, let the exposed node contribute at times `s_1 < … < s_k`, and let `t` be the
//! visit that closes the interval. A contribution at time `s` moves the token by at most one unit
//! and adds noise in slot `s`; every later step adds noise in its own slot and moves two tokens no
//! further apart. By amplification by iteration the interval costs at most
//!
//! ```text
//! min Σ a_j²   over slots j = s_1, …, t − 1,   Σ_{i ≤ j} a_i ≤ #{i : s_i ≤ j},   Σ a = k,
//! ```
//!
//! a taut string: the minimum is `Σ rise²/run` over the lower convex hull of the points
//! `(s_i, i − 1)` and `(t, k)`.
//!
//! # References
//! - Feldman, Mironov, Talwar, Thakurta, *Privacy amplification by iteration*, FOCS 2018,
//!   arXiv:1808.06651: Theorem 22.

use crate::walk::{FinalToken, NO_MASK_ON_A_PATH, Path};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Exact, UpperBound};
use ndp_numeric::rounding;

/// What observers have learned about one node on a realised path, in units of the local loss `c₀` of one
/// contribution.
///
/// It is a statement about this path, against observers who know the path.
///
/// # Examples
/// ```
/// use ndp_algos::walk::{FinalToken, Path};
/// // A contribution, then noise alone, then the observer.
/// let path = Path { nodes: 2, holders: vec![0, 0, 1], contributes: vec![true, false] };
/// let cost = path.cost(0, &[1], FinalToken::Withheld)?;
/// assert_eq!(*cost.constant.value(), 0.5);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathCost {
    /// The cost by the taut string, summed over all intervals. It holds for all gradients and non-expansive
    /// step maps, and is attained by some gradients.
    pub adaptive: UpperBound<f64>,
    /// `Σ k²/slots`, for contributions that do not depend on the token (constant gradients, sums and running
    /// averages) and steps that preserve distances (the token is a sum). `k` is the number of contributions
    /// in an interval, and `slots` the number of its steps whose noise the observers do not know.
    pub constant: Exact<f64>,
}

impl Path {
    /// What a coalition that pools what it sees (often one node) has learned about `u` when the token has
    /// taken this path. The Rényi loss in nats is the cost times [`LocalLoss::cost`](super::LocalLoss::cost).
    ///
    /// Contributions whose result no observer has seen are free. With [`FinalToken::Published`] the observers
    /// also see the token after the last step.
    ///
    /// # Errors
    /// [`Error::SourceIsObserver`]; [`Error::InvalidParameter`] without observers; [`Error::NodeOutOfRange`]
    /// and [`Error::Shape`] if the fields do not form a path; [`Error::NoGuarantee`] for
    /// [`FinalToken::Masked`].
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::{FinalToken, Path};
    /// // Node 0 contributes at times 0, 1 and 5; the observer, node 2, sees the token at time 8.
    /// let holders = vec![0, 0, 1, 1, 1, 0, 1, 1, 2];
    /// let path = Path { nodes: 3, holders, contributes: vec![true; 8] };
    /// let cost = path.cost(0, &[2], FinalToken::Withheld)?;
    /// assert!((cost.adaptive.value() - 1.125).abs() < 1e-14);
    /// assert_eq!(*cost.constant.value(), 9.0 / 8.0);
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    pub fn cost(&self, u: usize, observers: &[usize], final_token: FinalToken) -> Result<PathCost, Error> {
        self.check_holders()?;
        let (got, most) = (self.holders.len(), self.steps() + 1);
        if got != most && got + 1 != most {
            return Err(Error::Shape { what: "holders of a path", expected: most, got });
        }
        if let Some(&node) = observers.iter().chain([&u]).find(|&&node| node >= self.nodes) {
            return Err(Error::NodeOutOfRange { node, nodes: self.nodes });
        }
        let mut odometer = Odometer::new(u, observers)?;
        for (&holder, &contributes) in self.holders.iter().zip(&self.contributes) {
            odometer.record(holder, contributes);
        }
        if let Some(&last) = self.holders.get(self.steps()) {
            odometer.arrive(last);
        }
        if final_token.unmasked(NO_MASK_ON_A_PATH)? {
            odometer.observe();
        }
        Ok(PathCost { adaptive: odometer.cost(), constant: odometer.constant_gradient_cost() })
    }
}

/// The contributions of the exposed node between two visits of the observer.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    contributions: Vec<usize>,
    visit: usize,
}

#[cfg(test)]
impl Interval {
    /// Contributions at strictly increasing times, all before the visit that closes the interval.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the first time that is out of order.
    pub(super) fn new(contributions: Vec<usize>, visit: usize) -> Result<Self, Error> {
        let next = contributions.iter().skip(1).copied().chain([visit]);
        match contributions.iter().zip(next).find(|&(&now, next)| now >= next) {
            None => Ok(Self { contributions, visit }),
            Some((&time, _)) => Err(Error::InvalidParameter {
                name: "the times of an interval",
                condition: "increase up to the visit that closes it",
                value: time as f64,
            }),
        }
    }

    /// The cost by the taut string, the best bound for gradients that may depend on the token.
    ///
    /// Grade: an upper bound against an adversary who knows the path; attained by some gradients.
    pub(super) fn taut(&self) -> UpperBound<f64> {
        let mut hull = Hull::default();
        for (count, &time) in self.contributions.iter().enumerate() {
            hull.push(time, count);
        }
        UpperBound::new(hull.cost(self.visit))
    }

    /// The `m`-th most recent contribution, `m ≤ depth`, costs `(2m − 1)/distance`, and an older one `1/gap`,
    /// where the gap runs to the next contribution. At least the taut string, for every depth of at least 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a depth of 0.
    pub(super) fn mixed(&self, depth: usize) -> Result<UpperBound<f64>, Error> {
        ensure(depth != 0, "the depth M", "be at least 1", 0.0)?;
        let mut cost = 0.0;
        let mut next = self.visit;
        for (m, &time) in (1..).zip(self.contributions.iter().rev()) {
            cost += if m <= depth {
                (2 * m - 1) as f64 / (self.visit - time) as f64
            } else {
                1.0 / (next - time) as f64
            };
            next = time;
        }
        Ok(UpperBound::new(rounded_up(cost, self.contributions.len())))
    }

    /// Every contribution costs `1/gap`, where the gap runs to the next contribution or the visit.
    pub(super) fn gaps(&self) -> UpperBound<f64> {
        let next = self.contributions.iter().skip(1).copied().chain([self.visit]);
        let cost = self.contributions.iter().zip(next).map(|(now, next)| 1.0 / (next - now) as f64).sum();
        UpperBound::new(rounded_up(cost, self.contributions.len()))
    }

    /// Every contribution costs 1: no amplification.
    pub(super) fn local(&self) -> UpperBound<f64> {
        UpperBound::new(self.contributions.len() as f64)
    }
}

/// `cost` with a margin for `terms` additions and divisions of nonnegative numbers.
fn rounded_up(cost: f64, terms: usize) -> f64 {
    cost * (1.0 + (terms + 2) as f64 * f64::EPSILON)
}

/// The lower convex hull of points with increasing times.
#[derive(Clone, Debug, Default, PartialEq)]
struct Hull(Vec<(usize, usize)>);

impl Hull {
    fn push(&mut self, time: usize, count: usize) {
        let rise_run = |a: (usize, usize), b: (usize, usize)| ((b.1 - a.1) as u128, (b.0 - a.0) as u128);
        while let [.., a, b] = self.0[..] {
            let (left, right) = (rise_run(a, b), rise_run(b, (time, count)));
            // The left slope is at least the right one: b is on or above the hull.
            if left.0 * right.1 < right.0 * left.1 {
                break;
            }
            self.0.pop();
        }
        self.0.push((time, count));
    }

    /// `Σ rise²/run` after the closing point, whose count is the number of contributions.
    fn cost(mut self, visit: usize) -> f64 {
        let Some(&(_, last)) = self.0.last() else { return 0.0 };
        self.push(visit, last + 1);
        let segment = |pair: &[(usize, usize)]| {
            let (run, rise) = ((pair[1].0 - pair[0].0) as f64, (pair[1].1 - pair[0].1) as f64);
            rise * rise / run
        };
        rounded_up(self.0.windows(2).map(segment).sum(), self.0.len() + 1)
    }
}

/// Follows one token and adds up what the observers have learned about one node.
///
/// Record the holders of every step in order, beginning with the holder at time 0. The last holder makes no
/// step and only arrives. The reading is the cost of all visits of the observers so far; contributions whose
/// result no observer has seen are free.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Odometer {
    exposed: usize,
    observers: Vec<usize>,
    time: usize,
    /// The hull of the contributions since the last visit, and their number.
    hull: Hull,
    pending: usize,
    /// The number of slots since the last visit whose noise the observers do not know.
    slots: usize,
    cost: f64,
    constant_cost: rounding::Interval,
    intervals: usize,
}

impl Odometer {
    /// For the loss from `exposed` to a coalition that pools what it sees (often one node).
    ///
    /// # Errors
    /// [`Error::SourceIsObserver`]; [`Error::InvalidParameter`] without observers.
    pub(super) fn new(exposed: usize, observers: &[usize]) -> Result<Self, Error> {
        ensure(!observers.is_empty(), "the number of observers", "be at least 1", 0.0)?;
        if observers.contains(&exposed) {
            return Err(Error::SourceIsObserver(exposed));
        }
        Ok(Self {
            exposed,
            observers: observers.to_vec(),
            time: 0,
            hull: Hull::default(),
            pending: 0,
            slots: 0,
            cost: 0.0,
            constant_cost: rounding::Interval::ZERO,
            intervals: 0,
        })
    }

    /// The token arrives at `holder`, who contributes or only adds noise, and passes it on.
    pub(super) fn record(&mut self, holder: usize, contributes: bool) {
        self.arrive(holder);
        if !self.observers.contains(&holder) {
            if holder == self.exposed && contributes {
                self.hull.push(self.time, self.pending);
                self.pending += 1;
            }
            self.slots += 1;
        }
        self.time += 1;
    }

    /// The token arrives at `holder`, where the walk ends.
    pub(super) fn arrive(&mut self, holder: usize) {
        if self.observers.contains(&holder) {
            self.observe();
        }
    }

    /// The token, as it is now, is shown to the observers: because one of them holds it, or because the
    /// result is published.
    pub(super) fn observe(&mut self) {
        if self.pending > 0 {
            self.cost += std::mem::take(&mut self.hull).cost(self.time);
            let count = rounding::Interval::count(self.pending as u64);
            let cost = count * count / rounding::Interval::count(self.slots as u64);
            self.constant_cost = self.constant_cost + cost;
            self.intervals += 1;
        }
        (self.pending, self.slots) = (0, 0);
    }

    /// The number of contributions whose result no observer has seen.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// The cost by the taut string of all intervals so far, in units of the local loss.
    ///
    /// Grade: an upper bound on what the observers, who may know the path, have learned, for all gradients
    /// and non-expansive step maps. It is a statement about this path.
    pub(super) fn cost(&self) -> UpperBound<f64> {
        UpperBound::new(rounded_up(self.cost, self.intervals))
    }

    /// `Σ k²/slots`: what observers who know the path learn when contributions do not depend on the
    /// token (constant gradients, sums and running averages). `slots` are the steps of the interval
    /// whose noise they do not know.
    ///
    /// Grade: exact for that adversary, for such contributions and steps that keep distances (the
    /// token is a sum).
    pub(super) fn constant_gradient_cost(&self) -> Exact<f64> {
        Exact::new(self.constant_cost.high())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Section 6 of the specification of walks.
    #[test]
    fn the_reference_interval() -> Result<(), Error> {
        let interval = Interval::new(vec![0, 1, 5], 8)?;
        assert_relative_eq!(*interval.taut().value(), 1.125, max_relative = 1e-14);
        assert_relative_eq!(*interval.gaps().value(), 1.583_333_333_333_33, max_relative = 1e-14);
        assert_eq!(*interval.local().value(), 3.0);
        assert_eq!(*Interval::new(vec![], 8)?.taut().value(), 0.0);
        Ok(())
    }

    /// The minimum of `Σ a²` by brute force, on a grid of `a` in multiples of `1/parts`.
    fn by_grid(interval: &Interval, parts: usize) -> f64 {
        fn best(slot: usize, end: usize, spent: usize, parts: usize, at: &[usize]) -> f64 {
            if slot == end {
                return if spent == at.len() * parts { 0.0 } else { f64::INFINITY };
            }
            let allowed = at.iter().filter(|&&s| s <= slot).count() * parts - spent;
            (0..=allowed)
                .map(|a| {
                    let a_real = a as f64 / parts as f64;
                    a_real * a_real + best(slot + 1, end, spent + a, parts, at)
                })
                .fold(f64::INFINITY, f64::min)
        }
        best(interval.contributions[0], interval.visit, 0, parts, &interval.contributions)
    }

    #[test]
    fn the_taut_string_is_the_optimum_on_a_grid_that_contains_it() -> Result<(), Error> {
        // The slopes of these hulls are multiples of 1/parts, so that the grid contains the minimum.
        for (contributions, visit, parts) in [
            (vec![0, 1, 5], 7, 10),
            (vec![0, 1], 3, 6),
            (vec![0, 2], 6, 6),
            (vec![0, 1, 2], 6, 6),
            (vec![1, 4, 5], 7, 6),
            (vec![2], 5, 6),
        ] {
            let interval = Interval::new(contributions, visit)?;
            assert_relative_eq!(*interval.taut().value(), by_grid(&interval, parts), max_relative = 1e-12);
        }
        Ok(())
    }

    #[test]
    fn no_feasible_assignment_on_a_fine_grid_is_better() -> Result<(), Error> {
        for mask in 1u32..32 {
            let times: Vec<usize> = (0..5).filter(|i| mask >> i & 1 == 1).collect();
            for visit in times[times.len() - 1] + 1..=6 {
                let interval = Interval::new(times.clone(), visit)?;
                assert!(*interval.taut().value() <= by_grid(&interval, 4) * (1.0 + 1e-12));
            }
        }
        Ok(())
    }

    /// What an observer learns if the step of slot `j` multiplies the distance by `slopes[j]`: with weights
    /// `p_j = Π_{l > j} slopes[l]` it sees a shift of `Σ ± p_{s_i}` in noise of variance `Σ p_j²`.
    fn linear_cost(interval: &Interval, slopes: &[f64], signs: u32) -> f64 {
        let mut weight = 1.0;
        let (mut shift, mut variance) = (0.0, 0.0);
        for j in (interval.contributions[0]..interval.visit).rev() {
            if let Some(i) = interval.contributions.iter().position(|&s| s == j) {
                shift += if signs >> i & 1 == 1 { weight } else { -weight };
            }
            variance += weight * weight;
            weight *= slopes[j];
        }
        shift * shift / variance
    }

    /// Thousands of random contracting steps with random signs stay below the taut string, and the slopes
    /// that are read off the hull attain it.
    #[test]
    fn no_linear_attack_beats_the_taut_string_and_one_reaches_it() -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for _ in 0..4000 {
            let visit = rng.random_range(1..14usize);
            let contributions: Vec<usize> = (0..visit).filter(|_| rng.random_bool(0.4)).collect();
            if contributions.is_empty() {
                continue;
            }
            let interval = Interval::new(contributions, visit)?;
            let taut = *interval.taut().value();
            for spread in [1.0, 0.3, 0.02] {
                let slopes: Vec<f64> = (0..visit)
                    .map(|_| {
                        let size = 1.0 - spread * rng.random::<f64>();
                        if rng.random_bool(0.1) { -size } else { size }
                    })
                    .collect();
                assert!(linear_cost(&interval, &slopes, rng.random()) <= taut * (1.0 + 1e-12));
            }
            // The shift per slot along the hull is a nondecreasing sequence, and p_j ∝ a_j.
            let mut hull = Hull::default();
            interval.contributions.iter().enumerate().for_each(|(i, &s)| hull.push(s, i));
            hull.push(visit, interval.contributions.len());
            let a = |j: usize| {
                let pair = hull.0.windows(2).find(|pair| j < pair[1].0).unwrap_or(&hull.0[..2]);
                (pair[1].1 - pair[0].1) as f64 / (pair[1].0 - pair[0].0) as f64
            };
            let first = interval.contributions[0];
            let slopes: Vec<f64> =
                (0..visit).map(|j| if j > first { a(j - 1) / a(j) } else { 1.0 }).collect();
            assert_relative_eq!(linear_cost(&interval, &slopes, u32::MAX), taut, max_relative = 1e-9);
        }
        Ok(())
    }

    fn intervals() -> impl Strategy<Value = Interval> {
        proptest::collection::btree_set(0usize..60, 0..12).prop_flat_map(|times| {
            let times: Vec<usize> = times.into_iter().collect();
            let last = times.last().copied().unwrap_or(0);
            (last + 1..last + 40).prop_map(move |visit| Interval { contributions: times.clone(), visit })
        })
    }

    proptest! {
        /// taut ≤ mixed-M for every M, mixed-1 = gaps ≤ local; constant gradients ≤ taut.
        #[test]
        fn the_bounds_are_ordered(interval in intervals(), depth in 1usize..20) {
            let slack = 1.0 + 1e-13;
            let taut = *interval.taut().value();
            prop_assert!(taut <= interval.mixed(depth).unwrap().value() * slack);
            let gaps = *interval.gaps().value();
            prop_assert!((interval.mixed(1).unwrap().value() - gaps).abs() <= 1e-13 * gaps);
            prop_assert!(*interval.gaps().value() <= interval.local().value() * slack);
            if let [first, ..] = interval.contributions[..] {
                let k = interval.contributions.len() as f64;
                prop_assert!(k * k / (interval.visit - first) as f64 <= taut * slack);
            }
        }

        /// More contributions never cost less, so that caps and refractory periods are safe.
        #[test]
        fn a_superset_of_contributions_never_costs_less(interval in intervals(), left_out in 0usize..12) {
            let mut fewer = interval.clone();
            if left_out < fewer.contributions.len() {
                fewer.contributions.remove(left_out);
            }
            prop_assert!(*fewer.taut().value() <= interval.taut().value() * (1.0 + 1e-13));
        }

        /// The charge of a realised path with refractory period r is at most 1/min(r, time to the visit).
        #[test]
        fn a_refractory_period_caps_every_charge(interval in intervals(), r in 1usize..10) {
            let mut kept: Vec<usize> = Vec::new();
            for &s in &interval.contributions {
                if kept.last().is_none_or(|last| last + r <= s) {
                    kept.push(s);
                }
            }
            let charges: f64 = kept.iter().map(|s| 1.0 / r.min(interval.visit - s) as f64).sum();
            let kept = Interval { contributions: kept, visit: interval.visit };
            prop_assert!(*kept.taut().value() <= charges * (1.0 + 1e-12));
        }

        /// The reading of the odometer is the sum of the costs of the intervals.
        #[test]
        fn the_odometer_adds_up_intervals(path in proptest::collection::vec(0usize..4, 1..60)) {
            let mut odometer = Odometer::new(0, &[2, 3]).unwrap();
            let (mut cost, mut constant) = (0.0, 0.0);
            let (mut times, mut since) = (Vec::new(), 0);
            for (t, &holder) in path.iter().enumerate() {
                odometer.record(holder, true);
                if holder >= 2 {
                    let k = times.len();
                    constant += if k == 0 { 0.0 } else { (k * k) as f64 / (t - since) as f64 };
                    cost += *Interval::new(std::mem::take(&mut times), t).unwrap().taut().value();
                    since = t + 1;
                } else if holder == 0 {
                    times.push(t);
                }
                prop_assert_eq!(odometer.pending(), times.len());
            }
            prop_assert!((odometer.cost().value() - cost).abs() <= 1e-12 * cost);
            prop_assert!((odometer.constant_gradient_cost().value() - constant).abs() <= 1e-12 * constant);
            prop_assert!(*odometer.constant_gradient_cost().value() <= odometer.cost().value() * (1.0 + 1e-12));
        }
    }

    #[test]
    fn noise_alone_costs_nothing_and_helps() -> Result<(), Error> {
        let mut odometer = Odometer::new(0, &[1])?;
        for (holder, action) in [(0, true), (0, false), (1, true)] {
            odometer.record(holder, action);
        }
        assert_relative_eq!(*odometer.cost().value(), 0.5, max_relative = 1e-14);
        // Publishing the token right away adds nothing: v knows the noise of its own step.
        odometer.observe();
        assert_relative_eq!(*odometer.cost().value(), 0.5, max_relative = 1e-14);
        Ok(())
    }

    #[test]
    fn bad_input_is_named() {
        for (contributions, visit) in [(vec![3, 3], 5), (vec![4, 2], 5), (vec![1, 5], 5), (vec![6], 5)] {
            assert!(matches!(Interval::new(contributions, visit), Err(Error::InvalidParameter { .. })));
        }
        let flat = Interval { contributions: vec![0], visit: 2 }.mixed(0);
        assert!(matches!(flat, Err(Error::InvalidParameter { name: "the depth M", .. })));
        assert_eq!(Odometer::new(1, &[0, 1]), Err(Error::SourceIsObserver(1)));
        assert!(matches!(Odometer::new(1, &[]), Err(Error::InvalidParameter { .. })));
    }
}
