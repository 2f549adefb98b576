//! The law of a path's cost, from which every loss of a walk follows.
//!
//! The path is drawn without looking at the data. Given the path, if contributions do not depend on the token
//! and steps preserve distances (sums and running averages, constant gradients), what `v` sees of `u` is a
//! Gaussian pair with `μ² = C/σ²`. Here `C = Σ k²/slots` is the [cost of the path](super::PathCost), a sum
//! over the intervals between two sightings: `k` is the number of contributions in an interval, and `slots`
//! the number of its steps whose noise `v` does not know. For an observer who knows the path, therefore,
//!
//! ```text
//! δ(ε) = E_path δ_Gauss(ε; √C/σ),
//! ```
//!
//! exactly, and for every observer who knows less this is an upper bound. Only the law of `C` is needed. It
//! does not depend on the noise, on `ε`, `δ` or an order, so that one [`CostLaw`] answers all questions about
//! a pair.
//!
//! # How it is computed
//! The walk starts anew at every sighting: intervals are independent given who sees the token, and the mean
//! of `z^C` over paths satisfies a renewal equation with positive terms. Charges are rounded to a grid, up
//! for the upper law and down for the lower one. The equation is solved on circles of `z` and of time by
//! transforms whose rounding is bounded (`circle.rs`). Coarse tables show which costs cause most of the loss
//! (`rounded_tables.rs`), and a fine table follows these costs. Its charges keep their means, so that the
//! error of the grid is of second order (`spread_tables.rs`). A cost beyond the grid is replaced by the
//! largest possible cost, 1 for each contribution.
//!
//! The section "The law of a walk's cost" of `docs/theory.md` has the statement and its proof.

mod adaptive;
mod blocks;
mod circle;
mod gaps;
mod guess;
mod intervals;
mod mixture;
mod passages;
mod rounded_tables;
mod search;
mod spread_tables;
mod system;
mod table_choice;
mod tables;
#[cfg(test)]
mod tests;

use super::attack::Shares;
use super::path::{EdgeRule, TokenWalk};
use super::{LocalLoss, laws};
use adaptive::Groups;
use gaps::Gaps;
use guess::Question;
use intervals::Intervals;
use mixture::Mixture;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::loss_law::Enclosed;
use ndp_dp::{ApproxDp, Delta, NoiseMultiplier};
use ndp_graph::hitting::{FirstVisits, PairLaws};
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stop;
use passages::Passages;
pub(super) use rounded_tables::Ends;
use std::sync::{Arc, Mutex};
use table_choice::{MOST_COARSE, NARROWER};
use tables::{Made, Tables};

/// The law of the cost of a path of a [`TokenWalk`], which is what the path tells observers about one node,
/// between two proven ends: see [`TokenWalk::cost_law`].
///
/// A question computes the part of the law that it needs and keeps it, so that a similar question is answered
/// in about a millisecond: plain floats show where the answer lies, and the law proves it from a few of its
/// costs (`guess.rs`, `blocks.rs`). No answer depends on earlier questions.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::TokenWalk;
/// use ndp_dp::{Delta, NoiseMultiplier};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::cycle_graph, hitting::Start};
/// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(6)?));
/// let law = TokenWalk::new(&w, Start::Uniform, 12)?.cost_law(0, &[3])?;
/// let (delta, noise) = (Delta::new(1e-5)?, NoiseMultiplier::new(2.0)?);
/// let epsilon = law.epsilon(noise, delta)?;
/// // 3.557 by Rényi divergences.
/// assert!(2.82 < epsilon.lower() && epsilon.upper() < 2.85);
/// let least = law.least_noise(1.0, delta)?;
/// assert!(law.delta(NoiseMultiplier::new(least.upper())?, 1.0)?.upper() <= 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CostLaw {
    source: Source,
    steps: usize,
    published: bool,
    /// The largest number of contributions of the node.
    most: usize,
    /// The cap on contributions, if the law counts them.
    cap: Option<usize>,
    /// Whether the lower law is computed and all visits contribute, so that the lower law is that of the walk
    /// itself.
    attained: bool,
    /// Whether all visits contribute, or the law counts the cap, whichever laws are computed.
    is_free_of_limits: bool,
    cells: usize,
    ends: Ends,
    made: Mutex<Made>,
    /// What tables are made from; kept only while a question is being answered.
    intervals: Mutex<Option<Arc<[Intervals]>>>,
    /// Stops the computations that a question starts.
    stop: Stop,
}

/// What the law is computed from.
#[derive(Debug)]
enum Source {
    /// Contributions that do not depend on the token.
    Values(Passages),
    /// Contributions that may depend on the token, with non-expansive steps.
    Gradients(Passages, Groups),
    /// The same under a cap, computed from the gaps alone.
    Gaps(Gaps),
}

impl TokenWalk {
    /// The law of the cost towards observers who pool what they see (often one node), for contributions that
    /// do not depend on the token and steps that preserve distances, such as sums and running averages.
    ///
    /// `δ(ε) = E δ_Gauss(ε; √C/σ)`: exact for observers who know the path, an upper bound for all others. A
    /// cap `N` is counted along the path if `T ((N + 1) F)² ≤ 20,000` for `F` observers. With a larger cap, a
    /// refractory period or edges that wear out, the upper end is that of contributions on all visits, and at
    /// most that of the largest number of contributions released at once: fewer contributions never cost
    /// more. The lower end is then 0.
    ///
    /// # Errors
    /// As [`Self::loss`]; [`Error::NotOffered`] for walks of more than `20,000/F²` steps, and if a node may
    /// contribute too often between two visits of the observers.
    ///
    /// First visits as for [`Self::loss`]; then, with the first question, `O(N T (F² log T + F³))` for each
    /// table of `N = 256` or 1024 cells, of which there are mostly five.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::graph::TokenWalk;
    /// use ndp_dp::{Delta, NoiseMultiplier};
    /// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::path_graph, hitting::Start};
    /// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(3)?));
    /// let law = TokenWalk::new(&w, Start::Node(2), 4)?.cost_law(0, &[2])?;
    /// // Three paths of 243 visit node 0 and return: one contribution, three noises.
    /// let mean = law.mean()?;
    /// assert!(mean.lower() <= 1.0 / 243.0 && 1.0 / 243.0 <= mean.upper());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cost_law(&self, u: usize, members: &[usize]) -> Result<CostLaw, Error> {
        self.cost_law_in_cells(u, members, None, (CELLS, Ends::Both), &Stop::never())
    }

    /// The same with this number of cells, a power of two, from first visits that may be known already.
    pub(super) fn cost_law_in_cells(
        &self,
        u: usize,
        members: &[usize],
        known: Option<&PairLaws>,
        (cells, ends): (usize, Ends),
        stop: &Stop,
    ) -> Result<CostLaw, Error> {
        laws::require_pair(self, u, members)?;
        let (options, steps) = (self.options(), self.steps());
        if steps.saturating_mul(members.len().pow(2)) > MOST_STEPS {
            return Err(Error::NotOffered(
                "the law of the cost is for walks of at most 20,000 steps and few observers",
            ));
        }
        let walk = self.moves(stop);
        let start = self.law_at_0(stop)?;
        // The start law after a burn-in was raised by at most this.
        let start_error = 3.0 * (options.burn_in as f64 + 1.0) * walk.error_per_step();
        let passages = match (known, members) {
            (Some(laws), _) => Passages::of_pair(laws, start_error),
            (None, &[v]) => Passages::of_pair(&walk.pair_laws(u, v, &start, steps)?, start_error),
            (None, _) => Passages::of_coalition(&walk, u, members, &start, steps, start_error)?,
        };
        // If the law cannot follow the limits, it is that of contributions on all visits, which cost more.
        let cap = options.cap.filter(|&cap| cap < steps);
        let states = |cap: usize| cap.saturating_add(1).saturating_mul(members.len());
        let followed = |&cap: &usize| steps.saturating_mul(states(cap).saturating_pow(2)) <= MOST_STEPS;
        let is_free_of_limits = options.refractory == 1
            && options.edges == EdgeRule::Unlimited
            && cap.as_ref().is_none_or(followed);
        Ok(CostLaw {
            source: Source::Values(passages),
            steps,
            published: options.final_token.is_shown(),
            most: self.most_contributions(),
            cap: cap.filter(|_| is_free_of_limits),
            attained: ends == Ends::Both && is_free_of_limits,
            is_free_of_limits,
            cells,
            ends,
            made: Mutex::default(),
            intervals: Mutex::default(),
            stop: stop.clone(),
        })
    }
}

/// The probabilities of each number of contributions of `u` in intervals of every length, for an observer who
/// sees the token at their ends and not in between.
pub(super) fn shares(walk: &TokenWalk, u: usize, v: usize) -> Result<Shares, Error> {
    let law = walk.cost_law(u, &[v])?;
    let Source::Values(passages) = &law.source else {
        return Err(Error::NotOffered("the attack is for contributions that do not depend on the token"));
    };
    let upper = Intervals::above(passages, law.published, &law.stop)?;
    // The probabilities of the numbers of contributions for each length; empty if there is no such interval.
    let at_lengths = |laws: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let length = laws.first().map_or(0, Vec::len);
        (0..length).map(|t| share(laws.iter().map(|law| law[t]).collect())).collect()
    };
    // No contribution: neither node was visited, or u only at the very end.
    let mut unseen = upper.unseen.clone();
    if let Some(none) = unseen.first_mut() {
        let visited: f64 = passages.start.iter().chain(&passages.start_seen[0]).sum();
        *none = (1.0 - visited).max(0.0) + passages.start[walk.steps()];
    }
    Ok(Shares {
        between: at_lengths(&upper.between[0][0]),
        first: at_lengths(&upper.first[0]),
        last: at_lengths(&upper.tail[0]),
        unseen: share(unseen),
    })
}

/// Masses divided by their sum, without those that are negligible.
fn share(masses: Vec<f64>) -> Vec<f64> {
    let sum: f64 = masses.iter().sum();
    let mut shares: Vec<f64> = masses.into_iter().map(|p| if sum > 1e-290 { p / sum } else { 0.0 }).collect();
    while shares.last().is_some_and(|&p| p < 1e-18) {
        shares.pop();
    }
    shares
}

impl CostLaw {
    /// The upper law for contributions that do not depend on the token, on a walk whose next holder is always
    /// drawn uniformly of `n` nodes, towards `colluders` nodes.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for no step or more than 20,000.
    pub(in crate::walk) fn of_uniform_walk(
        n: usize,
        colluders: usize,
        steps: usize,
        published: bool,
    ) -> Result<Self, Error> {
        if steps == 0 {
            return Err(Error::NotOffered(
                "the law of the cost is for walks on which a node receives what the first step made",
            ));
        }
        if steps > MOST_STEPS {
            return Err(TOO_LONG);
        }
        let source = Source::Values(Passages::uniform(n, colluders, steps));
        Ok(Self::above(source, steps, published, steps, CELLS / 2))
    }

    /// For contributions that may depend on the token, such as gradients, with non-expansive steps: an upper
    /// law of the cost of groups of contributions (`adaptive.rs`).
    ///
    /// # Errors
    /// [`Error::NotOffered`] for more than 20,000 steps.
    pub(crate) fn of_gradients(laws: &PairLaws, published: bool) -> Result<Self, Error> {
        let steps = laws.horizon();
        // Two kinds of visits are followed, those of the node and those of the observer.
        if steps > MOST_STEPS {
            return Err(TOO_LONG);
        }
        let passages = Passages::of_pair(laws, 0.0);
        let groups = Groups::best(&passages);
        let source = Source::Gradients(passages, groups);
        Ok(Self::above(source, steps, published, steps, CELLS / 4))
    }

    /// The same on a walk whose next holder is always drawn uniformly of `n` nodes, towards `colluders` nodes
    /// who pool what they see, about any other node. If the walk starts at a given node, the law is that of
    /// this node, which loses most. Under a cap, all visits beyond it add their noise.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if nobody colludes, everybody does, or there is no step; without a cap, for more
    /// than 20,000 steps; with a cap, if the walk starts at a given node and its last token is published.
    pub(crate) fn of_uniform_gradients(
        (n, colluders): (usize, usize),
        steps: usize,
        cap: Option<usize>,
        starts_at_u: bool,
        published: bool,
    ) -> Result<Self, Error> {
        if !(1..n).contains(&colluders) || steps == 0 {
            return Err(Error::NotOffered(
                "the law of the cost is for walks that some observe and others make",
            ));
        }
        match cap {
            // The gap up to the end may be the first one, which is not a draw from the law of gaps.
            Some(_) if starts_at_u && published => Err(Error::NotOffered(
                "the law of the cost of a capped walk from a given node whose end is seen",
            )),
            Some(cap) => {
                let cap = cap.min(steps);
                let gaps = Gaps::uniform(n, colluders + 1, steps, cap);
                Ok(Self::above(Source::Gaps(gaps), steps, published, cap, GAP_CELLS))
            }
            None if steps > MOST_STEPS => Err(TOO_LONG),
            None => {
                let passages = Passages::uniform(n, colluders, steps);
                let passages = if starts_at_u { passages.starting_at_u() } else { passages };
                let groups = Groups::best(&passages);
                Ok(Self::above(Source::Gradients(passages, groups), steps, published, steps, CELLS / 4))
            }
        }
    }

    /// The same under a cap, for any start, from the first visits to the set of the node and its observers
    /// (under a cap of 1 to the observers alone). Visits after the last time of `visits` are charged as if
    /// they came at the next time.
    pub(crate) fn of_gaps(visits: &FirstVisits, steps: usize, cap: usize, published: bool) -> Self {
        let seen = steps.min(visits.none.len() - 1);
        let law = (0..=seen).map(|t| visits.at.iter().map(|law| law[t]).sum()).collect();
        let longer = if seen < steps { visits.none[seen] } else { 0.0 };
        let error = visits.relative_error[seen] + visits.at.len() as f64 * f64::EPSILON;
        let gaps = Gaps { law, longer, error, cap: cap.min(steps), published };
        Self::above(Source::Gaps(gaps), steps, published, cap.min(steps), GAP_CELLS)
    }

    fn above(source: Source, steps: usize, published: bool, most: usize, cells: usize) -> Self {
        let is_free_of_limits = !matches!(source, Source::Gaps(_));
        Self {
            source,
            steps,
            published,
            most,
            cap: None,
            attained: false,
            is_free_of_limits,
            cells,
            ends: Ends::Upper,
            made: Mutex::default(),
            intervals: Mutex::default(),
            stop: Stop::never(),
        }
    }

    /// The same law, whose computations end with [`Error::Stopped`] when `stop` says so.
    pub(crate) fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// `δ(ε)` at this noise. The guarantee is exact for observers who know the path if both ends agree to
    /// 1e-9, and an upper bound otherwise.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ ε < ∞`; [`Error::NotOffered`] if a node may contribute too
    /// often between two sightings.
    pub fn delta(&self, noise: NoiseMultiplier, epsilon: f64) -> Result<Enclosed, Error> {
        ensure((0.0..f64::INFINITY).contains(&epsilon), "epsilon", "be nonnegative and finite", epsilon)?;
        let tables = self.tables_for(noise.get(), epsilon)?;
        self.forget_intervals();
        let upper = search::delta(&tables, true, noise.get(), epsilon);
        let lower = search::delta(&tables, false, noise.get(), epsilon);
        Ok(Enclosed::between(lower.min(upper), upper, self.attained))
    }

    /// Whether the law proves `limit`, by coarse tables if they are enough.
    pub(crate) fn keeps(&self, noise: NoiseMultiplier, limit: ApproxDp) -> bool {
        let (sigma, epsilon) = (noise.get(), limit.epsilon());
        let holds = |tables: Result<Arc<Tables>, Error>| {
            let slack = 1e-3 * limit.delta();
            tables.is_ok_and(|law| law.above(epsilon, sigma).delta(epsilon, sigma, slack) <= limit.delta())
        };
        let kept =
            holds(self.tables_of(1)) || holds(self.tables_of(2)) || holds(self.tables_for(sigma, epsilon));
        self.forget_intervals();
        kept
    }

    /// `ε(δ)` at this noise; graded as [`Self::delta`].
    ///
    /// # Errors
    /// [`Error::NotOffered`] as for [`Self::delta`].
    pub fn epsilon(&self, noise: NoiseMultiplier, delta: Delta) -> Result<Enclosed, Error> {
        let (sigma, delta) = (noise.get(), delta.get());
        let (tables, near) = self.settled(Question::Epsilon { sigma }, delta)?;
        let (lower, upper) = search::epsilon(&tables, sigma, delta, near.as_ref());
        Ok(Enclosed::between(lower, upper, self.attained))
    }

    /// The Rényi loss at the order of `local`, `ln E e^{θC} / (α − 1)`, in nats; graded as [`Self::delta`].
    ///
    /// Costs beyond the grid are replaced by the largest possible cost, which matters at large orders:
    /// [`TokenWalk::loss`] is often smaller.
    ///
    /// # Errors
    /// [`Error::NotOffered`] as for [`Self::delta`].
    pub fn rdp(&self, local: LocalLoss) -> Result<Enclosed, Error> {
        let tables = self.tables_of(3)?;
        let excess = Interval::new(local.order.get()) - Interval::ONE;
        let (low, high) = local.exponents();
        let upper = Interval::new(tables.upper.log_moment(high)) / excess;
        let lower = Interval::new(tables.lower.log_moment(low)) / excess;
        Ok(Enclosed::between(lower.low().max(0.0), upper.high(), self.attained))
    }

    /// The least noise multiplier at which `δ(ε) ≤ δ`. It lies between the least noises of the lower and the
    /// upper law, and the latter is enough.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 < ε < ∞`, and if no noise up to `1e9` is proven to be enough;
    /// [`Error::NotOffered`] as for [`Self::delta`].
    pub fn least_noise(&self, epsilon: f64, delta: Delta) -> Result<Enclosed, Error> {
        ensure(0.0 < epsilon && epsilon.is_finite(), "epsilon", "be positive and finite", epsilon)?;
        let (tables, near) = self.settled(Question::Noise { epsilon }, delta.get())?;
        let (lower, upper) = search::noise(&tables, epsilon, delta.get(), near.as_ref())?;
        Ok(Enclosed::between(lower, upper, self.attained))
    }

    /// The mean cost.
    ///
    /// # Errors
    /// [`Error::NotOffered`] as for [`Self::delta`].
    pub fn mean(&self) -> Result<Enclosed, Error> {
        let tables = self.tables_of(3)?;
        Ok(Enclosed::between(tables.lower.mean(), tables.upper.mean(), self.attained))
    }

    /// The probability of a cost of at least `cost > 0`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 < cost < ∞`; [`Error::NotOffered`] as for [`Self::delta`].
    pub fn at_least(&self, cost: f64) -> Result<Enclosed, Error> {
        ensure(0.0 < cost && cost.is_finite(), "the cost", "be positive and finite", cost)?;
        let mut tables = self.tables()?;
        while let Some(level) = tables.coarse.last()
            && cost < level.window() / NARROWER as f64
            && tables.coarse.len() < MOST_COARSE
        {
            tables = self.tables_of(tables.coarse.len() + 1)?;
        }
        let at = |law: &Mixture| law.at_least(Interval::new(cost));
        Ok(Enclosed::between(at(&tables.lower), at(&tables.upper), self.attained))
    }

    /// Whether other bounds on `ε` are hardly smaller, because neither rounding to the grid nor costs beyond
    /// it change `δ` much. It is a heuristic that decides only whether other bounds are computed as well.
    pub(crate) fn is_tight(&self, noise: NoiseMultiplier, epsilon: f64) -> bool {
        if !(self.is_free_of_limits && epsilon.is_finite()) {
            return false;
        }
        let tables = self.tables_for(noise.get(), epsilon);
        self.forget_intervals();
        tables.is_ok_and(|tables| tables.is_tight(noise.get(), epsilon))
    }
}

const TOO_LONG: Error = Error::NotOffered("the law of the cost is for walks of at most 20,000 steps");
/// The number of cells of a fine table.
const CELLS: usize = 1024;
/// The number of cells of a fine table of a law of gaps. Without equations to solve, cells cost little, and
/// half as many would raise `ε` by a tenth.
const GAP_CELLS: usize = 4096;
/// The largest number of steps, times the square of the number of observers.
const MOST_STEPS: usize = 20_000;
