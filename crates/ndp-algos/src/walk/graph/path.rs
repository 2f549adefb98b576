//! Where the token goes and who contributes: the part of a run that does not depend on any data.
//!
//! The holder at time `t = 0..T` either contributes or only adds noise, and then draws the next holder from
//! its row of the transition matrix. A cap, a refractory period and a limit on the use of edges turn
//! contributions into noise-only steps. The path itself stays that of the walk, so that accountants that
//! charge every visit remain valid: fewer contributions never cost more. The bound `N ε_gap` under a cap
//! needs more, namely that a holder decides whether it contributes before it draws the next holder. It is
//! therefore not used if edges wear out.

use super::contribution::require_positive;
use crate::walk::{FinalToken, NO_MASK_ON_A_GRAPH, Path};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::{Start, Walk};
use ndp_graph::random::draw_index;
use ndp_numeric::stop::{Stop, work};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// What happens to a directed edge (not a self-loop) that has been used too often.
///
/// # Examples
/// ```
/// use ndp_account::Error;
/// use ndp_algos::walk::graph::{EdgeRule, LocalLoss, TokenWalk, WalkOptions};
/// use ndp_dp::{NoiseMultiplier, Order};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators, hitting::Start};
/// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::cycle_graph(5)?));
/// let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(4.0)? };
/// let loss = |edges| {
///     let options = WalkOptions { edges, ..WalkOptions::default() };
///     TokenWalk::new(&w, Start::Uniform, 50)?.with_options(options)?.loss(0, &[2], local)
/// };
/// assert!(loss(EdgeRule::NoiseOnly(3)).is_ok());
/// assert!(matches!(loss(EdgeRule::Dismiss(3)), Err(Error::NoGuarantee(_))));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeRule {
    /// Edges may be used without limit.
    #[default]
    Unlimited,
    /// A holder only adds noise if it received the token over an edge beyond its number of uses, or is about
    /// to send it over one. It draws the next holder before it decides, so that the contributions that a cap
    /// allows may be made mostly before the steps that hide least. Under a cap each contribution is therefore
    /// charged the whole local loss.
    NoiseOnly(usize),
    /// The edge is no longer used: the token stays with its holder instead. The walk then depends on its
    /// past, and only the [cost of its realised path](Path::cost) accounts for it.
    Dismiss(usize),
}

/// The limits on the contributions of a [`TokenWalk`], what happens before it and after it, and for how many
/// steps its accounts follow it.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::{LocalLoss, TokenWalk, WalkOptions};
/// use ndp_dp::{NoiseMultiplier, Order};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::grid_2d_graph, hitting::Start};
/// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&grid_2d_graph(8, 8)?));
/// let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(4.0)? };
/// // A hundred thousand steps, twenty contributions of a node, first visits followed for a thousand steps.
/// let options = WalkOptions { cap: Some(20), horizon: Some(1000), ..WalkOptions::default() };
/// let walk = TokenWalk::new(&w, Start::Uniform, 100_000)?.with_options(options)?;
/// let (near, far) = (walk.loss(0, &[1], local)?, walk.loss(0, &[63], local)?);
/// assert!(far.value() < near.value() && *near.value() < 20.0 * local.cost());
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WalkOptions {
    /// The number of steps that the token walks before time 0. It carries a public constant during these
    /// steps, so that they change only the law of the start. 0 by default.
    pub burn_in: usize,
    /// The number of times that each node contributes at most; on later visits it only adds noise. `None`,
    /// the default, for no cap.
    pub cap: Option<usize>,
    /// The least number of steps between two contributions of a node; on visits in between it only adds
    /// noise. Every charge of a realised path is then at most `1/min(refractory, time to the observer's next
    /// visit)`. 1, the default, is no restriction.
    pub refractory: usize,
    /// Limits on the use of edges.
    pub edges: EdgeRule,
    /// What becomes of the token after the last step: it stays with the last holder, by default, or is handed
    /// to every node. Masking it is not offered.
    pub final_token: FinalToken,
    /// The number of steps for which accounts follow first visits, for walks of very many steps; what is left
    /// is charged as a visit at the first time beyond. It needs a cap. `None`, the default, for the whole
    /// walk.
    pub horizon: Option<usize>,
}

impl Default for WalkOptions {
    fn default() -> Self {
        let (edges, final_token) = (EdgeRule::Unlimited, FinalToken::Withheld);
        Self { burn_in: 0, cap: None, refractory: 1, edges, final_token, horizon: None }
    }
}

/// A token walk of `T` steps.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::{TokenWalk, WalkOptions};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators, hitting::Start};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::cycle_graph(5)?));
/// let options = WalkOptions { cap: Some(3), ..WalkOptions::default() };
/// let path = TokenWalk::new(&w, Start::Uniform, 100)?.with_options(options)?.sample(&mut ChaCha8Rng::seed_from_u64(1));
/// assert!(path.contributes.iter().filter(|&&contributes| contributes).count() <= 15);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TokenWalk {
    matrix: TransitionMatrix,
    moves: Walk,
    start: Start,
    steps: usize,
    options: WalkOptions,
}

impl TokenWalk {
    /// A walk without limits on contributions.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no step or fewer than two nodes; [`Error::Graph`] for a start
    /// outside the graph.
    pub fn new(matrix: &TransitionMatrix, start: Start, steps: usize) -> Result<Self, Error> {
        require_positive("the number of steps", steps)?;
        let n = matrix.node_count();
        ensure(n >= 2, "the number of nodes", "be at least 2 for a walk", n as f64)?;
        start.law(n)?;
        let (matrix, moves) = (matrix.clone(), Walk::from(matrix));
        Ok(Self { matrix, moves, start, steps, options: WalkOptions::default() })
    }

    /// The same walk under these options.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a cap, a refractory period, a number of uses of an edge or a horizon
    /// that is 0, and for a horizon without a cap; [`Error::NoGuarantee`] for [`FinalToken::Masked`].
    pub fn with_options(self, options: WalkOptions) -> Result<Self, Error> {
        require_positive("the cap on contributions", options.cap.unwrap_or(1))?;
        require_positive("the refractory period", options.refractory)?;
        if let EdgeRule::NoiseOnly(uses) | EdgeRule::Dismiss(uses) = options.edges {
            require_positive("the uses of an edge", uses)?;
        }
        require_positive("the horizon", options.horizon.unwrap_or(1))?;
        ensure(
            options.horizon.is_none() || options.cap.is_some(),
            "the cap on contributions",
            "be given for a bound of so many gaps",
            f64::INFINITY,
        )?;
        options.final_token.unmasked(NO_MASK_ON_A_GRAPH)?;
        Ok(Self { options, ..self })
    }

    /// Number of nodes.
    pub(crate) fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    /// Number of steps `T`, burn-in not counted.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Whether every node is equally likely to be the first holder.
    pub(super) fn starts_anywhere(&self) -> bool {
        matches!(self.start, Start::Uniform)
    }

    /// Its moves, laid out for laws of first visits, which end when `stop` says so.
    pub(super) fn moves(&self, stop: &Stop) -> Walk {
        self.moves.clone().until(stop)
    }

    /// The law of the holder at time 0: the start law after the burn-in. No probability is below the true
    /// one.
    ///
    /// # Errors
    /// [`Error::Graph`] if the burn-in is so long (about `10^5` steps) that rounding may have changed the law
    /// by 1e-9; [`Error::Stopped`].
    pub(crate) fn law_at_0(&self, stop: &Stop) -> Result<Start, Error> {
        if self.options.burn_in == 0 {
            return Ok(self.start.clone());
        }
        let walk = &self.moves;
        let mut law = self.start.law(self.node_count())?;
        let mut next = law.clone();
        for _ in 0..self.options.burn_in {
            stop.spend(work([1, walk.incoming().parts().1.len()]))?;
            walk.incoming().multiply(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
        }
        // Every probability is raised by what rounding may have taken from it. The loss is an average over
        // the start, so that a little too much mass is on the safe side. A start law may sum to 1 + 1e-9.
        let error = 1.0 + (self.options.burn_in as f64 + 1.0) * walk.error_per_step();
        law.iter_mut().for_each(|p| *p *= error);
        let start = Start::Law(law);
        start.law(self.node_count())?;
        Ok(start)
    }

    /// Draws a path.
    pub fn sample(&self, rng: &mut impl Rng) -> Path {
        let n = self.node_count();
        let mut holder = match &self.start {
            Start::Node(node) => *node,
            start => draw_index(&start.law(n).expect("the start was checked at construction"), rng),
        };
        for _ in 0..self.options.burn_in {
            holder = self.matrix.csr().row(holder).0[self.draw_slot(holder, rng)] as usize;
        }
        let mut uses = vec![0usize; self.matrix.csr().parts().2.len()];
        let limit = match self.options.edges {
            EdgeRule::Unlimited => usize::MAX,
            EdgeRule::NoiseOnly(uses) | EdgeRule::Dismiss(uses) => uses,
        };
        let mut counts = vec![0usize; n];
        let mut last: Vec<Option<usize>> = vec![None; n];
        let mut arrived_beyond = false;
        let contributes = Vec::with_capacity(self.steps);
        let mut path = Path { nodes: n, holders: vec![holder], contributes };
        for t in 0..self.steps {
            let slot = self.draw_slot(holder, rng);
            let mut next = self.matrix.csr().row(holder).0[slot] as usize;
            let edge = &mut uses[self.matrix.csr().parts().0[holder] + slot];
            let beyond = next != holder && *edge >= limit;
            if beyond && matches!(self.options.edges, EdgeRule::Dismiss(_)) {
                next = holder;
            } else if next != holder {
                *edge += 1;
            }
            let worn = matches!(self.options.edges, EdgeRule::NoiseOnly(_)) && (beyond || arrived_beyond);
            let rested = last[holder].is_none_or(|last| t - last >= self.options.refractory);
            let contributes = self.options.cap.is_none_or(|cap| counts[holder] < cap) && rested && !worn;
            if contributes {
                counts[holder] += 1;
                last[holder] = Some(t);
            }
            path.contributes.push(contributes);
            path.holders.push(next);
            (holder, arrived_beyond) = (next, beyond);
        }
        path
    }

    /// The largest number of contributions of a node: at most one per step, no more than the cap, and no two
    /// of them within the refractory period.
    pub(super) fn most_contributions(&self) -> usize {
        self.options.cap.unwrap_or(usize::MAX).min(self.steps.div_ceil(self.options.refractory))
    }

    /// The options.
    pub(super) const fn options(&self) -> &WalkOptions {
        &self.options
    }

    /// The transition matrix.
    pub(super) const fn matrix(&self) -> &TransitionMatrix {
        &self.matrix
    }

    /// Draws the position of the next holder in the row of `holder`.
    fn draw_slot(&self, holder: usize, rng: &mut impl Rng) -> usize {
        draw_index(self.matrix.csr().row(holder).1, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::super::LocalLoss;
    use super::super::oracle::{expectation, intervals};
    use super::super::path_cost::Odometer;
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use ndp_dp::{NoiseMultiplier, Order};
    use ndp_graph::GossipMatrix;
    use ndp_graph::generators::{cycle_graph, path_graph, star_graph};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn local(sigma: f64) -> LocalLoss {
        LocalLoss { order: Order::new(2.0).unwrap(), noise: NoiseMultiplier::new(sigma).unwrap() }
    }

    fn ring(n: usize) -> TransitionMatrix {
        TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(n).unwrap()))
    }

    /// Asserts that this walk can take a path: its steps are possible and its contributions are within the
    /// limits.
    fn check(walk: &TokenWalk, path: &Path) -> Result<(), Error> {
        path.check_on_graph()?;
        assert_eq!((path.nodes, path.steps()), (walk.node_count(), walk.steps));
        let options = walk.options;
        for pair in path.holders.windows(2) {
            let stays = pair[0] == pair[1] && matches!(options.edges, EdgeRule::Dismiss(_));
            assert!(walk.matrix.csr().get(pair[0], pair[1]) > 0.0 || stays, "{pair:?}");
        }
        let cap = options.cap.unwrap_or(usize::MAX);
        assert!(path.contribution_counts().iter().all(|&count| count <= cap));
        for node in 0..path.nodes {
            let times = (0..path.steps()).filter(|&t| path.holders[t] == node && path.contributes[t]);
            let times: Vec<usize> = times.collect();
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= options.refractory), "{times:?}");
        }
        Ok(())
    }

    #[test]
    fn a_seed_pins_the_path() -> Result<(), Error> {
        let w = ring(5);
        let walk = TokenWalk::new(&w, Start::Uniform, 12)?;
        let path = walk.sample(&mut ChaCha8Rng::seed_from_u64(7));
        assert_eq!(path, walk.sample(&mut ChaCha8Rng::seed_from_u64(7)));
        assert_eq!(path.holders, [0, 0, 4, 4, 3, 3, 2, 3, 3, 4, 0, 1, 1]);
        check(&walk, &path)
    }

    /// Every transition frequency within 4.5 standard errors, and the start after a burn-in.
    #[test]
    fn the_sampler_follows_the_matrix() -> Result<(), Error> {
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&star_graph(3)?));
        let walk = TokenWalk::new(&w, Start::Node(1), 200_000)?;
        let path = walk.sample(&mut ChaCha8Rng::seed_from_u64(1));
        let mut counts = [[0usize; 4]; 4];
        path.holders.windows(2).for_each(|pair| counts[pair[0]][pair[1]] += 1);
        for (u, row) in counts.iter().enumerate() {
            let visits = row.iter().sum::<usize>() as f64;
            for (v, &count) in row.iter().enumerate() {
                let p = w.csr().get(u, v);
                let error = (p * (1.0 - p) / visits).sqrt();
                assert!((count as f64 / visits - p).abs() <= 4.5 * error, "{u} to {v}");
            }
        }
        let walk = TokenWalk::new(&w, Start::Node(1), 1)?
            .with_options(WalkOptions { burn_in: 3, ..WalkOptions::default() })?;
        let Start::Law(law) = walk.law_at_0(&Stop::never())? else { panic!() };
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let runs = 40_000;
        let mut counts = [0usize; 4];
        (0..runs).for_each(|_| counts[walk.sample(&mut rng).holders[0]] += 1);
        for (count, p) in counts.iter().zip(law) {
            let error = (p * (1.0 - p) / f64::from(runs)).sqrt();
            assert!((*count as f64 / f64::from(runs) - p).abs() <= 4.5 * error);
        }
        Ok(())
    }

    #[test]
    fn rules_hold_on_every_path() -> Result<(), Error> {
        let w = ring(6);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..20 {
            let walk = TokenWalk::new(&w, Start::Uniform, 300)?.with_options(WalkOptions {
                cap: Some(9),
                refractory: 7,
                ..WalkOptions::default()
            })?;
            let path = walk.sample(&mut rng);
            check(&walk, &path)?;
            assert!(path.contribution_counts().iter().all(|&count| count <= 9));

            // With at most E uses of each edge, u contributes at most 2E times right before or right after v
            // holds the token.
            let walk = TokenWalk::new(&w, Start::Uniform, 300)?
                .with_options(WalkOptions { edges: EdgeRule::NoiseOnly(4), ..WalkOptions::default() })?;
            let path = walk.sample(&mut rng);
            let spotted = (0..300)
                .filter(|&t| path.contributes[t] && path.holders[t] == 2)
                .filter(|&t| path.holders[t + 1] == 3 || t > 0 && path.holders[t - 1] == 3)
                .count();
            assert!(spotted <= 8);
            assert!(path.contributes.contains(&false));

            let walk = TokenWalk::new(&w, Start::Uniform, 300)?
                .with_options(WalkOptions { edges: EdgeRule::Dismiss(4), ..WalkOptions::default() })?;
            let path = walk.sample(&mut rng);
            check(&walk, &path)?;
            for u in 0..6 {
                let uses = path.holders.windows(2).filter(|pair| pair == &[u, (u + 1) % 6]).count();
                assert!(uses <= 4);
            }
            assert!(matches!(walk.loss(0, &[3], local(2.0)), Err(Error::NoGuarantee(_))));
        }
        Ok(())
    }

    /// The limits on contributions only ever lower the taut cost of a path, so that the accountants stay
    /// valid.
    #[test]
    fn rules_never_raise_the_cost() -> Result<(), Error> {
        let w = ring(5);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let walk = TokenWalk::new(&w, Start::Uniform, 60)?.with_options(WalkOptions {
            cap: Some(5),
            refractory: 4,
            edges: EdgeRule::NoiseOnly(6),
            ..WalkOptions::default()
        })?;
        for _ in 0..50 {
            let path = walk.sample(&mut rng);
            let (mut with, mut without) = (Odometer::new(0, &[2])?, Odometer::new(0, &[2])?);
            for (&holder, &contributes) in path.holders.iter().zip(&path.contributes) {
                with.record(holder, contributes);
                without.record(holder, true);
            }
            assert!(with.cost().value() <= without.cost().value());
        }
        Ok(())
    }

    /// The reported loss covers the mean over all paths of the capped walk, also after a burn-in.
    #[test]
    fn the_loss_of_a_capped_walk_covers_all_paths() -> Result<(), Error> {
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(3)?));
        let dense = w.to_dense()?;
        for (cap, sigma) in [(1, 0.5), (2, 0.5), (3, 2.0)] {
            let walk = TokenWalk::new(&w, Start::Node(0), 7)?.with_options(WalkOptions {
                burn_in: 2,
                cap: Some(cap),
                ..WalkOptions::default()
            })?;
            let law = walk.law_at_0(&Stop::never())?.law(3)?;
            let theta = local(sigma).exponent();
            let mean = expectation(&dense, &law, 7, &|path| {
                let mut left = cap;
                let keep = |&x: &usize| {
                    let over = x == 0 && left == 0;
                    left -= usize::from(x == 0 && !over);
                    if over { 1 } else { x }
                };
                let kept: Vec<usize> = path.iter().map(keep).collect();
                let cost: f64 = intervals(&kept, 0, &[2]).iter().map(|i| *i.taut().value()).sum();
                (theta * cost).exp_m1()
            });
            let loss = *walk.loss(0, &[2], local(sigma))?.value();
            assert!(mean.ln_1p() <= loss * (1.0 + 1e-12), "{} > {loss}", mean.ln_1p());
            assert!(loss <= cap as f64 * local(sigma).cost() * (1.0 + 1e-12));
            let both = walk.loss(0, &[1, 2], local(sigma))?;
            assert!(loss <= both.value() * (1.0 + 1e-12));
            for other in [
                WalkOptions { final_token: FinalToken::Published, ..walk.options },
                WalkOptions { horizon: Some(3), ..walk.options },
                WalkOptions { final_token: FinalToken::Published, horizon: Some(3), ..walk.options },
            ] {
                let other = walk.clone().with_options(other)?.loss(0, &[2], local(sigma))?;
                assert!(loss <= other.value() * (1.0 + 1e-12));
            }
        }
        Ok(())
    }

    /// `E exp(θ hits)` of the walk from node 0 with [`EdgeRule::NoiseOnly`] of one use and a cap, where
    /// `hits` are the contributions of node 0 that node 1 sees one step later. With steps of size 1/2, which
    /// overwrite the token, this is the cost of a path. The masses of all states are followed, so that no
    /// path is left out.
    fn mean_over_worn_edges(w: &TransitionMatrix, cap: usize, steps: usize, theta: f64) -> f64 {
        let n = w.node_count();
        // The state: the holder, the used edges at node 0 (a bit each way), whether the token arrived over a
        // worn edge, and the number of contributions of node 0.
        let mut masses = std::collections::BTreeMap::from([((0, 0u32, false, 0), 1.0)]);
        for _ in 0..steps {
            let mut after = std::collections::BTreeMap::new();
            for ((holder, used, arrived_beyond, count), mass) in masses {
                let (columns, weights) = w.csr().row(holder);
                for (next, p) in columns.iter().map(|&x| x as usize).zip(weights) {
                    let edge = match (holder, next) {
                        (a, b) if a == b => 0,
                        (0, b) => 1 << b,
                        (a, 0) => 1 << (n + a),
                        _ => 0,
                    };
                    let beyond = used & edge != 0;
                    let contributes = holder == 0 && count < cap && !beyond && !arrived_beyond;
                    let charge = if contributes && next == 1 { theta.exp() } else { 1.0 };
                    let state = (next, used | edge, beyond, count + usize::from(contributes));
                    *after.entry(state).or_insert(0.0) += mass * p * charge;
                }
            }
            masses = after;
        }
        masses.values().sum()
    }

    /// Node 0 mostly sends the token to node 2, which keeps it for long, so that a gap costs little. Once
    /// that edge is worn, node 0 contributes only when it sends the token to the observer at once.
    #[test]
    fn contributions_that_know_the_next_holder_are_not_charged_by_gaps() -> Result<(), Error> {
        let mut rows = Array2::zeros((8, 8));
        (rows[(0, 1)], rows[(0, 2)], rows[(1, 2)], rows[(2, 2)]) = (0.1, 0.9, 1.0, 0.98);
        for way_back in 3..8 {
            (rows[(2, way_back)], rows[(way_back, 0)]) = (0.004, 1.0);
        }
        let w = TransitionMatrix::from_dense(rows.view())?;
        // θ = 1.
        let (steps, cap, local) = (1200, 2, local(1.0));
        let free = TokenWalk::new(&w, Start::Node(0), steps)?
            .with_options(WalkOptions { cap: Some(cap), ..WalkOptions::default() })?;
        let both = WalkOptions { edges: EdgeRule::NoiseOnly(1), ..free.options };
        let worn = free.clone().with_options(both)?;
        let truth = mean_over_worn_edges(&w, cap, steps, local.exponent()).ln();
        let cut = |walk: &TokenWalk| {
            let options = WalkOptions { horizon: Some(steps), ..walk.options };
            walk.clone().with_options(options)?.loss(0, &[1], local)
        };
        let gaps = *cut(&free)?.value();
        assert!((truth - 0.544).abs() < 1e-3 && (gaps - 0.401).abs() < 1e-3, "{truth}, {gaps}");
        assert!(*worn.loss(0, &[1], local)?.value() >= truth);
        let shown = WalkOptions { final_token: FinalToken::Published, ..worn.options };
        assert!(*worn.clone().with_options(shown)?.loss(0, &[1], local)?.value() >= truth);
        assert!(*worn.loss(0, &[1, 2], local)?.value() >= truth);
        let cut = cut(&worn);
        assert!(matches!(cut, Err(Error::NoGuarantee(_))), "{cut:?}");
        Ok(())
    }

    #[test]
    fn a_burn_in_of_many_steps_is_a_uniform_start() -> Result<(), Error> {
        let w = ring(5);
        let late = TokenWalk::new(&w, Start::Node(0), 40)?
            .with_options(WalkOptions { burn_in: 2000, ..WalkOptions::default() })?;
        let uniform = TokenWalk::new(&w, Start::Uniform, 40)?;
        let found = *late.loss(1, &[3], local(2.0))?.value();
        assert_relative_eq!(found, *uniform.loss(1, &[3], local(2.0))?.value(), max_relative = 1e-11);
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let w = ring(5);
        let one = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(1)?));
        let invalid =
            |result: Result<TokenWalk, Error>| matches!(result, Err(Error::InvalidParameter { .. }));
        assert!(invalid(TokenWalk::new(&w, Start::Uniform, 0)));
        assert!(invalid(TokenWalk::new(&one, Start::Uniform, 5)));
        assert!(matches!(TokenWalk::new(&w, Start::Node(5), 5), Err(Error::Graph(_))));
        let walk = TokenWalk::new(&w, Start::Node(0), 4)?;
        assert!(invalid(walk.clone().with_options(WalkOptions { cap: Some(0), ..WalkOptions::default() })));
        assert!(invalid(walk.clone().with_options(WalkOptions { refractory: 0, ..WalkOptions::default() })));
        assert!(invalid(
            walk.clone()
                .with_options(WalkOptions { edges: EdgeRule::NoiseOnly(0), ..WalkOptions::default() })
        ));
        assert_eq!(walk.loss(1, &[1], local(1.0)), Err(Error::SourceIsObserver(1)));
        assert_eq!(walk.loss(1, &[5], local(1.0)), Err(Error::NodeOutOfRange { node: 5, nodes: 5 }));
        assert_eq!(walk.loss(5, &[1], local(1.0)), Err(Error::NodeOutOfRange { node: 5, nodes: 5 }));
        assert_eq!(walk.loss(1, &[], local(1.0)), Err(Error::EmptyCoalition));
        assert_eq!(walk.loss(1, &[2, 2], local(1.0)), Err(Error::RepeatedMember(2)));
        assert!(invalid(
            walk.clone().with_options(WalkOptions { horizon: Some(3), ..WalkOptions::default() })
        ));
        let cut = WalkOptions { cap: Some(2), horizon: Some(1_000_001), ..WalkOptions::default() };
        let far = TokenWalk::new(&w, Start::Node(0), usize::MAX)?.with_options(cut)?;
        assert!(matches!(far.loss(0, &[1], local(1.0)), Err(Error::InvalidParameter { .. })));
        let none = WalkOptions { cap: Some(2), horizon: Some(0), ..WalkOptions::default() };
        assert!(invalid(walk.clone().with_options(none)));
        let masked = WalkOptions { final_token: FinalToken::Masked, ..WalkOptions::default() };
        assert!(matches!(walk.with_options(masked), Err(Error::NoGuarantee(_))));
        Ok(())
    }
}
