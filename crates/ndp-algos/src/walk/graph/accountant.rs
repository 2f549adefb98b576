//! The privacy account of averaging by a token that walks on a graph, and the attack that audits it.

use super::by_cost::{ByCost, Quick, least_noise_by_law};
use super::cost_law::{CostLaw, Ends};
use super::laws::Laws;
use super::{EdgeRule, LocalLoss, Steps, TokenAveraging, TokenWalk, moment_bound, origins};
use crate::walk::attacks::{observed, on_paths};
use crate::walk::{EVERY_CONTRIBUTION, OnPath};
use ndarray::Array1;
use ndp_account::{
    Account, Attacker, By, Error, Observer, Protocol, Terms,
    parts::{at_most, bound_of_releases, of_outsider},
};
use ndp_dp::{Delta, Measure, NoiseMultiplier, Profile};
use ndp_linalg::sym_eigenvalues;
use ndp_numeric::stop::{Kept, Stop, work};
use ndp_program::parts::require_operator;
use rand::Rng;
use std::sync::Arc;

/// Every holder adds its value and noise of the given multiplier to a running average. Accounts are upper
/// bounds that hold whatever the observer knows of the path and of its own noise. They are never above the
/// cost of releasing all contributions one by one.
impl Protocol for TokenWalk {
    fn node_count(&self) -> usize {
        TokenWalk::node_count(self)
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        observer.require_no_taps()?;
        if observer.members().is_empty() {
            return of_outsider(self, !self.options().final_token.is_shown(), observer, stop);
        }
        let n = TokenWalk::node_count(self);
        let members = observer.checked(n)?;
        self.require_accounts()?;
        self.law_at_0(stop)?;
        let mut hops = vec![None; n];
        let mut front = members.to_vec();
        front.iter().for_each(|&v| hops[v] = Some(0usize));
        // The number of steps that a token needs from each node to a member, by a search from the members
        // backwards along the moves of the walk.
        let moves = self.moves(stop);
        for distance in 1.. {
            let mut next = Vec::new();
            for &v in &front {
                for w in origins(&moves, v) {
                    if hops[w].is_none() {
                        hops[w] = Some(distance);
                        next.push(w);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
        let followed = self.options().horizon.map_or(self.steps(), |horizon| horizon.min(self.steps()));
        let kept = (48 * n as u64).saturating_mul(followed as u64 + 1) <= MAX_BYTES;
        let laws = (0..n).map(|_| Kept::default()).collect();
        let costs = (0..n).map(|_| Kept::default()).collect();
        let (walk, observer) = (Arc::new(self.clone()), observer.clone());
        let local = self.local_bound(&observer);
        let (quick, stop) = (Kept::default(), stop.clone());
        let account = OnGraph { walk, observer, hops, laws, costs, kept, quick, stop };
        Ok(at_most(Box::new(account), local))
    }

    /// The path is drawn without looking at the data. An observer who hears every contribution with its
    /// noise, and knows the path, can therefore compute everything that the token shows.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        bound_of_releases(TokenWalk::node_count(self), self.most_contributions(), observer, TERMS)
    }

    /// A permutation of the nodes that preserves the transition matrix is a symmetry of the protocol if the
    /// start is uniform: limits and options are the same for all nodes.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        if self.starts_anywhere() { self.matrix().symmetries() } else { Vec::new() }
    }

    /// For a uniform start and values in an interval of length 1, by the second largest eigenvalue of the
    /// matrix, or 0 if it is negative. Not of walks on which a holder may add noise alone: the mean is then
    /// one of fewer values.
    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        let options = self.options();
        if self.most_contributions() < self.steps() || options.edges != EdgeRule::Unlimited {
            return Err(Error::NotOffered("the error of a walk is known where every holder contributes"));
        }
        let n = TokenWalk::node_count(self);
        require_operator(n)?;
        stop.spend(work([n, n, n]))?;
        let dense = self.matrix().to_dense()?;
        if dense != dense.t() {
            return Err(Error::NotOffered("the error of a walk is known for symmetric matrices"));
        }
        let values = sym_eigenvalues(dense.view())?;
        // An eigenvalue λ and the values' part D along its eigenvector add D (1 + 2 Σ_{0<k<T} (1 - k/T) λ^k)
        // / T to the variance of the mean of T visits of a stationary walk. The sum is at most λ/(1 - λ) for
        // λ ≥ 0. For λ < 0 it alternates with falling terms, the first one negative, and is at most 0. All D
        // are together the variance of the values, at most 1/4.
        let second = values[values.len() - 2].max(0.0);
        let visits = 0.25 * ((1.0 + second) / ((1.0 - second) * self.steps() as f64)).clamp(0.0, 1.0);
        let visits = if visits.is_nan() { 0.25 } else { visits };
        Ok((noise.get() * noise.get() / self.steps() as f64 + visits).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.steps() as f64)
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let members = observed(u, observer, TokenWalk::node_count(self))?;
        let (steps, final_token) = (Steps::RunningAverage, self.options().final_token);
        let averaging = TokenAveraging { steps, initial: Array1::zeros(1), final_token };
        let drawn = move |rng: &mut dyn Rng| {
            Ok(OnPath { protocol: averaging.clone(), path: self.sample(&mut &mut *rng) })
        };
        Ok(on_paths(drawn, members, u, noise))
    }
}

/// The first visits of all nodes are kept if they need at most this many bytes; otherwise they are computed
/// anew for each question.
const MAX_BYTES: u64 = 2 << 30;

const TERMS: Terms = EVERY_CONTRIBUTION.by("ndp_algos::walk::graph::TokenWalk::loss", "Random walks");

struct OnGraph {
    walk: Arc<TokenWalk>,
    observer: Observer,
    hops: Vec<Option<usize>>,
    laws: Vec<Kept<Result<Arc<Laws>, Error>>>,
    /// For each node, the law of the cost if there is one for this walk.
    costs: Vec<Kept<Option<Arc<CostLaw>>>>,
    kept: bool,
    quick: Kept<Arc<moment_bound::Answers>>,
    /// Stops the computations that later questions start.
    stop: Stop,
}

impl OnGraph {
    fn laws(&self, u: usize) -> Result<Arc<Laws>, Error> {
        let laws = || Ok(Arc::new(self.walk.laws(u, self.observer.members(), &self.stop)?));
        if self.kept { self.laws[u].or_make(&self.stop, laws) } else { laws() }
    }

    /// The law of the cost of `u`, computed once for all questions. `None` if the walk is too long, or if
    /// `stop` ends the computation of its first visits.
    fn cost(&self, u: usize, laws: &Laws) -> Option<Arc<CostLaw>> {
        let law = || {
            let (members, options) = (self.observer.members(), self.walk.options());
            if options.horizon.is_some() || !self.kept {
                let published = options.final_token.is_shown();
                let of_gaps = |(visits, cap)| {
                    CostLaw::of_gaps(visits, self.walk.steps(), cap, published).until(&self.stop)
                };
                return laws.gaps().map(of_gaps).map(Arc::new);
            }
            let cells = if self.walk.steps() <= SHORT { CELLS } else { CELLS / 2 };
            self.walk
                .cost_law_in_cells(u, members, laws.pair(), (cells, Ends::Upper), &self.stop)
                .ok()
                .map(Arc::new)
        };
        self.costs[u].or_make(&self.stop, law)
    }
}

/// The number of cells in the tables of an account, for walks of at most `SHORT` steps; longer walks get
/// half as many.
const CELLS: usize = 512;
const SHORT: usize = 2000;

impl Account for OnGraph {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.hops.len()
    }

    /// The last holder has the mean, and may not hand it out unless the account has it as published.
    fn terms(&self) -> Terms {
        self.walk.options().final_token.kept(TERMS)
    }

    /// Every answer is the smaller of a Rényi bound and the bound by the law of the cost.
    fn theorems(&self) -> Vec<By> {
        vec![TERMS.by, TERMS.by("ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks").by]
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.observer.checked_source(u, self.node_count())?;
        let against = self.observer.to_string();
        // A token that is not handed to everybody at the end cannot reach an observer who is more steps away
        // than the walk is long.
        let withheld = !self.walk.options().final_token.is_shown();
        if withheld && self.hops[u].is_none_or(|hops| hops > self.walk.steps()) {
            return Ok(Profile::nothing(&against));
        }
        let laws = self.laws(u)?;
        let cost = self.cost(u, &laws);
        let (walk, of_pair) = (self.walk.clone(), laws.clone());
        let stop = self.stop.clone();
        let renyi = move |order| Ok(walk.loss_by(&of_pair, LocalLoss { order, noise }, &stop)?);
        let answers = self.quick.or_make(&self.stop, Arc::default);
        let of_pair = laws.pair().is_some();
        let quick = of_pair.then(|| {
            Box::new(ByMoments { u, laws, noise, answers, stop: self.stop.clone() }) as Box<dyn Quick>
        });
        let stop = self.stop.clone();
        Ok(Profile::of_curve(ByCost { renyi, cost, noise, quick, stop }, &against))
    }

    /// Asks the law of the cost first, and uses its answer if the profile at that noise has no smaller bound
    /// than this law.
    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        least_noise_by_law(self, u, measure, allowed, || Ok(self.cost(u, &*self.laws(u)?)))
    }
}

/// Bounds for `u` by moments of the cost of its path, from its first visits.
struct ByMoments {
    u: usize,
    laws: Arc<Laws>,
    noise: NoiseMultiplier,
    answers: Arc<moment_bound::Answers>,
    stop: Stop,
}

impl Quick for ByMoments {
    fn epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        self.answers.epsilon((self.u, self.laws.pair()?, &self.stop), self.noise, delta, limit)
    }

    fn keeps(&self, delta: Delta, limit: f64) -> bool {
        let keeps = |laws| moment_bound::pair_keeps(laws, self.noise, delta, limit, &self.stop);
        self.laws.pair().is_some_and(keeps)
    }
}
