//! The laws of first visits that an account of a walk needs for an exposed node and its observers, and the
//! loss that follows from them.

use super::coalition::{self, CoalitionLaws};
use super::contribution;
use super::local::{KnownLosses, LocalLoss};
use super::long_walk::LongWalk;
use super::path::{EdgeRule, TokenWalk};
use super::renewal;
use super::series::up;
use crate::walk::FinalToken;
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, Observer};
use ndp_dp::UpperBound;
use ndp_graph::Csr;
use ndp_graph::hitting::{FirstVisits, PairLaws, Start};
use ndp_numeric::stop::Stop;

/// First visits, over as many steps as the account follows.
pub(super) struct Laws {
    of_all: Followed,
    /// First visits from the node to the observers alone, over the whole walk; only if the node contributes
    /// once.
    of_one: Option<FirstVisits>,
    /// Whether the walk may visit the node and an observer after it.
    is_seen: bool,
    losses: KnownLosses,
}

impl Laws {
    fn new(of_all: Followed, of_one: Option<FirstVisits>, is_seen: bool) -> Self {
        Self { of_all, of_one, is_seen, losses: KnownLosses::default() }
    }

    /// The first visits of a pair over the whole walk, if these are what is followed.
    pub(super) const fn pair(&self) -> Option<&PairLaws> {
        match &self.of_all {
            Followed::Pair(laws) => Some(laws),
            _ => None,
        }
    }

    /// First visits up to a horizon, with the cap, if these are what is followed.
    pub(super) const fn gaps(&self) -> Option<(&FirstVisits, usize)> {
        match &self.of_all {
            Followed::Gaps { visits, cap } => Some((visits, *cap)),
            _ => None,
        }
    }
}

/// The least number of steps, at most `most`, after which a walk may come to a target from a node that
/// `is_there`.
fn steps_from(
    is_there: impl Fn(usize) -> bool,
    incoming: &Csr,
    targets: &[usize],
    most: usize,
) -> Option<usize> {
    let mut seen = vec![false; incoming.node_count()];
    targets.iter().for_each(|&v| seen[v] = true);
    let mut ring = targets.to_vec();
    for steps in 0..=most {
        if ring.iter().any(|&x| is_there(x)) {
            return Some(steps);
        }
        let mut next = Vec::new();
        for &x in &ring {
            let (from, weights) = incoming.row(x);
            for (&y, _) in from.iter().zip(weights).filter(|&(_, &w)| w > 0.0) {
                if !std::mem::replace(&mut seen[y as usize], true) {
                    next.push(y as usize);
                }
            }
        }
        ring = next;
    }
    None
}

enum Followed {
    /// The laws of one node and one observer over the whole walk, when the final token is withheld.
    Pair(PairLaws),
    /// The laws of a node and a coalition over the whole walk.
    Coalition(CoalitionLaws),
    /// First visits from the node, up to the horizon, to the set of the node and its observers (the observers
    /// alone if the node contributes once), with the cap.
    Gaps { visits: FirstVisits, cap: usize },
    /// The same for a symmetric matrix, for which first visits are not followed step by step
    /// (`long_walk.rs`).
    Symmetric { u: usize, members: Vec<usize>, horizon: usize, cap: usize },
}

impl TokenWalk {
    /// What observers who pool what they see (often one node) learn about `u` during the walk: a Rényi loss
    /// in nats at the order of `local`.
    ///
    /// The loss is `ln E exp(θ · cost) / (α − 1)`, `θ = (α − 1) c₀`, where the mean is over paths. A path
    /// costs at most what amplification by iteration gives for the contributions between two visits of the
    /// observers, in units of the local loss `c₀`; the best of several such bounds is taken. Under a cap of
    /// `N` contributions the loss is also at most `N c₀` and, unless edges wear out, `N ε_gap`, where `ε_gap`
    /// is the loss of one contribution up to the next visit of `u` or an observer. With a
    /// [horizon](super::WalkOptions::horizon) it is `N ε_gap`. A node that contributes once, while the final
    /// token is withheld, loses at most the [sharp bound](contribution::sharp).
    ///
    /// Protects the data of `u`, all of them replaced at once, against observers who see the token on their
    /// visits at times `1..=T` and may know the whole path and their own noises. With
    /// [`FinalToken::Published`] the token after the last step is one more observation, wherever the walk
    /// ends. Preconditions: every step map of the other nodes is non-expansive (their objectives are convex
    /// and smooth and the step is at most `2/L`, or the token is a plain sum); every step adds fresh noise;
    /// and a visit on which a node does not contribute is a noise-only step.
    ///
    /// # Errors
    /// [`Error::SourceIsObserver`], [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`],
    /// [`Error::RepeatedMember`]; [`Error::Graph`] for too many steps; [`Error::InvalidParameter`] for a
    /// horizon above `10^6` on a symmetric matrix; [`Error::NoGuarantee`] when edges are dismissed, or wear
    /// out before a horizon.
    ///
    /// # Complexity
    /// `O(T · nonzeros)` for one observer, `O(|F| T · nonzeros + |F|² T²)` for several or with publication;
    /// with a horizon `H`, `O(√H · nonzeros + H^{3/2})` for a symmetric matrix and `O(H · nonzeros)` for
    /// another.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::graph::{LocalLoss, TokenWalk};
    /// use ndp_dp::{NoiseMultiplier, Order};
    /// use ndp_graph::{GossipMatrix, TransitionMatrix, generators, hitting::Start};
    /// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::cycle_graph(6)?));
    /// let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(2.0)? };
    /// let loss = TokenWalk::new(&w, Start::Uniform, 20)?.loss(0, &[3], local)?;
    /// assert!(*loss.value() < local.cost()); // less than one contribution released at once costs
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loss(&self, u: usize, members: &[usize], local: LocalLoss) -> Result<UpperBound<f64>, Error> {
        let stop = &Stop::never();
        self.loss_by(&self.laws(u, members, stop)?, local, stop)
    }

    /// The laws that [`Self::loss`] needs, which are the same for all orders and noises.
    pub(super) fn laws(&self, u: usize, members: &[usize], stop: &Stop) -> Result<Laws, Error> {
        require_pair(self, u, members)?;
        let (walk, options, steps) = (self.moves(stop), self.options(), self.steps());
        let once = options.cap == Some(1) && !options.final_token.is_shown() && self.decides_beforehand();
        let start = self.law_at_0(stop)?;
        let is_start = |x: usize| match &start {
            Start::Node(node) => x == *node,
            // A law after steps that nobody sees may have lost what is below all floats.
            Start::Law(law) if options.burn_in == 0 => law.get(x).is_some_and(|&p| p > 0.0),
            _ => true,
        };
        let to_node = steps_from(is_start, walk.incoming(), &[u], steps);
        let is_seen =
            to_node.is_some_and(|t| steps_from(|x| x == u, walk.incoming(), members, steps - t).is_some());
        let alone = |of_all| Laws::new(of_all, None, is_seen);
        if let (Some(horizon), Some(cap)) = (options.horizon, options.cap) {
            if walk.is_symmetric() && !once {
                return Ok(alone(Followed::Symmetric { u, members: members.to_vec(), horizon, cap }));
            }
            let own = (!once).then_some(u);
            let targets: Vec<usize> = own.into_iter().chain(members.iter().copied()).collect();
            let visits = walk.first_visits(&Start::Node(u), &targets, horizon.min(steps))?;
            return Ok(alone(Followed::Gaps { visits, cap }));
        }
        let of_all = match (members, options.final_token) {
            (&[v], FinalToken::Withheld) => Followed::Pair(walk.pair_laws(u, v, &start, steps)?),
            _ => Followed::Coalition(CoalitionLaws::new(&walk, u, members, &start, steps)?),
        };
        let of_one = once.then(|| walk.first_visits(&Start::Node(u), members, steps)).transpose()?;
        Ok(Laws::new(of_all, of_one, is_seen))
    }

    /// The smallest of the bounds that these laws allow and of the cost of releasing all contributions at
    /// once.
    pub(super) fn loss_by(
        &self,
        laws: &Laws,
        local: LocalLoss,
        stop: &Stop,
    ) -> Result<UpperBound<f64>, Error> {
        laws.losses.loss(local, stop, || {
            let mut loss = self.loss_of_all(&laws.of_all, local, stop)?.into_value();
            if let Some(visits) = &laws.of_one {
                loss = loss.min(contribution::sharp(visits, local, self.steps())?.into_value());
            }
            let releases = self.most_contributions() as f64;
            if loss == 0.0 && laws.is_seen {
                // Every way on which something is seen is less likely than the smallest float, and all of
                // them together than 1e-300. Such a path costs as much as all contributions at most.
                let log_excess = up(releases * local.exponent(), 1) - 690.0;
                loss = local.loss_of_log_excess(log_excess);
            }
            Ok(UpperBound::new(loss.min(up(releases * local.cost_up(), 1))))
        })
    }

    fn loss_of_all(&self, laws: &Followed, local: LocalLoss, stop: &Stop) -> Result<UpperBound<f64>, Error> {
        let options = self.options();
        let (token, steps) = (options.final_token, self.steps());
        let published = token.is_shown();
        match (laws, options.cap) {
            (Followed::Pair(laws), Some(_)) if !self.decides_beforehand() => {
                renewal::uncapped(laws, local, stop)
            }
            (Followed::Pair(laws), cap) => renewal::loss(laws, local, cap, stop),
            (Followed::Coalition(laws), Some(cap)) if self.decides_beforehand() => {
                coalition::capped_loss(laws, local, token, cap, stop)
            }
            (Followed::Coalition(laws), _) => coalition::loss(laws, local, token, stop),
            (Followed::Gaps { visits, cap }, _) => {
                contribution::capped(visits, local, steps, *cap, published)
            }
            (Followed::Symmetric { u, members, horizon, cap }, _) => {
                let gap = LongWalk::new(self.moves(stop), local, steps, *horizon)?.gap(*u, members)?;
                Ok(contribution::of_gaps(gap, local, *cap, published))
            }
        }
    }

    /// Whether a holder knows that it will contribute before it draws the next holder. Only then has the time
    /// to the next visit after a contribution the same law as after any visit.
    fn decides_beforehand(&self) -> bool {
        !matches!(self.options().edges, EdgeRule::NoiseOnly(_))
    }

    /// Checks that the losses of this walk follow from first visits.
    pub(super) fn require_accounts(&self) -> Result<(), Error> {
        match self.options().edges {
            EdgeRule::Dismiss(_) => Err(Error::NoGuarantee(
                "a walk that dismisses edges depends on its past: account for the realised path",
            )),
            EdgeRule::NoiseOnly(_) if self.options().horizon.is_some() => Err(Error::NoGuarantee(
                "who contributes depends on the next holder where edges wear out: gaps after contributions are not \
                 those of the walk",
            )),
            _ => Ok(()),
        }
    }
}

/// Checks that the losses from `u` to these members follow from first visits.
pub(super) fn require_pair(walk: &TokenWalk, u: usize, members: &[usize]) -> Result<(), Error> {
    walk.require_accounts()?;
    let n = walk.node_count();
    checked_coalition(members, n)?;
    Observer::coalition(members).checked_source(u, n).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::WalkOptions;
    use super::*;
    use approx::assert_relative_eq;
    use ndp_account::Protocol;
    use ndp_dp::{NoiseMultiplier, Order};
    use ndp_graph::generators::{cycle_graph, directed_cycle, path_graph};
    use ndp_graph::hitting::Walk;
    use ndp_graph::{GossipMatrix, TransitionMatrix};

    fn local() -> Result<LocalLoss, Error> {
        Ok(LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(3.0)? })
    }

    /// A way less likely than the smallest normal float, or than all floats, is still one; beyond the reach
    /// of the walk nothing is learned.
    #[test]
    fn a_far_observer_learns_a_little() -> Result<(), Error> {
        for (start, u, members, steps, learns) in [
            (0, 0, vec![675], 675, true),
            (0, 0, vec![720], 720, true),
            (0, 0, vec![719, 720], 720, true),
            (0, 0, vec![720], 719, false),
            (720, 0, vec![1], 721, true),
            (720, 0, vec![1], 720, false),
            (720, 0, vec![719], 1439, true),
        ] {
            let path = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(721)?));
            for cap in [None, Some(1)] {
                let options = WalkOptions { cap, ..WalkOptions::default() };
                let walk = TokenWalk::new(&path, Start::Node(start), steps)?.with_options(options)?;
                for order in [2.0, 10.0] {
                    let local = LocalLoss { order: Order::new(order)?, noise: NoiseMultiplier::new(1.0)? };
                    let loss = walk.loss(u, &members, local)?.into_value();
                    assert_eq!(loss > 0.0, learns, "{start} {u} {members:?} {steps} {order}: {loss}");
                }
            }
        }
        Ok(())
    }

    /// The account gives for every option what the loss gives, and refuses what the loss refuses.
    #[test]
    fn accounts_know_what_the_walk_does() -> Result<(), Error> {
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(9)?));
        let (local, walk) = (local()?, TokenWalk::new(&w, Start::Node(0), 40)?);
        let shown = FinalToken::Published;
        let plain = WalkOptions { cap: Some(3), ..WalkOptions::default() };
        let mut losses = Vec::new();
        for options in [
            WalkOptions::default(),
            WalkOptions { final_token: shown, ..WalkOptions::default() },
            plain,
            WalkOptions { final_token: shown, ..plain },
            WalkOptions { horizon: Some(15), ..plain },
            WalkOptions { final_token: shown, horizon: Some(15), ..plain },
        ] {
            let walk = walk.clone().with_options(options)?;
            for members in [vec![4], vec![3, 6]] {
                let loss = *walk.loss(0, &members, local)?.value();
                let account = walk.account(&Observer::coalition(&members))?;
                let profile = account.profile(0, local.noise)?;
                assert_eq!(profile.renyi(local.order)?.value().epsilon, loss, "{options:?}");
                losses.push(loss);
            }
        }
        // Publication costs something, and so does a horizon.
        for (less, more) in [(0, 2), (1, 3), (4, 6), (5, 7), (4, 8), (5, 9), (8, 10), (9, 11)] {
            assert!(losses[less] <= losses[more] * (1.0 + 1e-12), "{losses:?}");
        }
        for edges in [EdgeRule::Dismiss(2), EdgeRule::NoiseOnly(2)] {
            let walk = walk.clone().with_options(WalkOptions { edges, horizon: Some(5), ..plain })?;
            assert!(matches!(walk.account(&Observer::node(4)), Err(Error::NoGuarantee(_))));
            assert!(matches!(walk.loss(0, &[4], local), Err(Error::NoGuarantee(_))));
        }
        Ok(())
    }

    /// With too few steps to reach the observer nothing is learned, unless everybody gets the final token.
    #[test]
    fn a_published_token_arrives_everywhere() -> Result<(), Error> {
        let (local, ring) = (local()?, directed_cycle(9)?);
        let walk = TokenWalk::new(&ring, Start::Node(0), 3)?;
        let at = |walk: &TokenWalk| -> Result<f64, Error> {
            Ok(walk.account(&Observer::node(7))?.profile(1, local.noise)?.renyi(local.order)?.value().epsilon)
        };
        assert_eq!(at(&walk)?, 0.0);
        let shown = WalkOptions { final_token: FinalToken::Published, ..WalkOptions::default() };
        // One contribution of node 1, followed by one more step.
        assert_relative_eq!(at(&walk.with_options(shown)?)?, local.cost() / 2.0, max_relative = 1e-9);
        Ok(())
    }

    /// If a node contributes only once, this contribution is charged up to the next visit of the observers,
    /// not up to the next visit of its own node, which on a lazy walk would be most of the loss. The true
    /// loss is the mean over all paths.
    #[test]
    fn one_contribution_has_the_sharp_bound() -> Result<(), Error> {
        let graph = cycle_graph(6)?;
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&graph).lazy(0.9)?);
        let local = local()?;
        let dense = w.to_dense()?;
        for horizon in [None, Some(12)] {
            let options = WalkOptions { cap: Some(1), horizon, ..WalkOptions::default() };
            let walk = TokenWalk::new(&w, Start::Node(0), 7)?.with_options(options)?;
            for members in [vec![3], vec![2, 4]] {
                let loss = *walk.loss(0, &members, local)?.value();
                let visits = Walk::from(&w).first_visits(&Start::Node(0), &members, 7)?;
                assert_relative_eq!(
                    loss,
                    contribution::sharp(&visits, local, 7)?.into_value(),
                    max_relative = 1e-12
                );
                let gap =
                    Walk::from(&w).first_visits(&Start::Node(0), &[vec![0], members.clone()].concat(), 7)?;
                assert!(20.0 * loss < *contribution::capped(&gap, local, 7, 1, false)?.value());
                // Contributed once at the start and seen at the first visit of a member, if there is one:
                // c₀/t after t steps of noise.
                let law = Start::Node(0).law(6)?;
                let mean = super::super::oracle::expectation(&dense, &law, 7, &|path| {
                    let first = path.iter().position(|x| members.contains(x));
                    first.map_or(0.0, |t| (local.exponent() / t as f64).exp_m1())
                });
                assert_relative_eq!(loss, mean.ln_1p(), max_relative = 1e-12);
            }
            // Everybody sees the token of the last holder, so that a contribution at the last step is seen at
            // once.
            let shown = WalkOptions { final_token: FinalToken::Published, ..options };
            let walk = walk.with_options(shown)?;
            assert!(*walk.loss(0, &[3], local)?.value() >= local.cost() / 7.0);
        }
        Ok(())
    }

    /// The fast form for symmetric matrices gives the same as first visits that are followed step by step.
    #[test]
    fn both_ways_to_a_horizon_agree() -> Result<(), Error> {
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(9)?));
        let local = local()?;
        for final_token in [FinalToken::Withheld, FinalToken::Published] {
            let options =
                WalkOptions { cap: Some(4), horizon: Some(30), final_token, ..WalkOptions::default() };
            let walk = TokenWalk::new(&w, Start::Uniform, 500)?.with_options(options)?;
            for members in [vec![1], vec![4], vec![2, 5]] {
                assert!(matches!(walk.laws(0, &members, &Stop::never())?.of_all, Followed::Symmetric { .. }));
                let targets: Vec<usize> = [0].into_iter().chain(members.iter().copied()).collect();
                let visits = Walk::from(&w).first_visits(&Start::Node(0), &targets, 30)?;
                let gaps = Laws::new(Followed::Gaps { visits, cap: 4 }, None, true);
                let slow = *walk.loss_by(&gaps, local, &Stop::never())?.value();
                let fast = *walk.loss(0, &members, local)?.value();
                assert!(fast >= slow * (1.0 - 1e-10));
                assert_relative_eq!(fast, slow, max_relative = 2e-6);
            }
        }
        Ok(())
    }
}
