//! What an observer of Muffliato-SGD learns about each of the other nodes.

use crate::gossip::SynchronousGossip;
use crate::sgd::gossip::{Mixing, MuffliatoSgd};
use crate::sgd::objective::Constants;
use crate::sgd::rounds::{Round, consensus_loss, shift_loss};
use crate::sgd::walk::Update;
use ndp_account::{Error, Observer};
use ndp_dp::{Gdp, Order, Profile, Sigma, UnitLoss, UpperBound};
use ndp_numeric::rounding::{Interval, any_of};
use ndp_numeric::stop::{Stop, work};
use ndp_numeric::sums::{Total, up};

/// One node of a run of Muffliato-SGD that observes what it receives and knows its own noise.
///
/// All losses are in units of `c₀ = α s²/(2σ²)`, the local loss of one round, where `s` is the sensitivity of
/// a node's gradient and `σ` the noise on it. The accountant depends on the rounds:
///
/// * If every round ends in exact consensus ([`Mixing::OnePeerHypercube`], [`Mixing::Server`]), the rounds
///   compose, each with the exact loss of one round.
/// * For gossip by public matrices, which may change within a round and between rounds, the shift accountant
///   follows what was not seen from round to round. Starting with `β = e_u`, each round is charged
///   `min(βᵀ|P|β, ‖β‖²)` and passes on `β ← q |C (I - P)| β + e_u`, where `P` is the projector on what the
///   observer sees in it, `C` its mixing, and `q` the Lipschitz constant of a gradient step: 1 for convex
///   smooth losses and steps up to `2/L`. The sum is at most the local loss.
/// * For anything else (the released recursion, clipping after noise, rounds of both kinds) the loss is the
///   local loss, one unit per round. This includes gossip over graphs that are hidden and drawn anew, as the
///   loss of a hidden graph does not compose over rounds.
///
/// The last models of *other* nodes are not part of the view.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
/// use ndp_algos::sgd::privacy::GossipObserver;
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective, walk::Update};
/// let constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// let sgd =
///     MuffliatoSgd { rounds: 10, step_size: 0.5, batch: None, domain: Domain::Unbounded, update: Update::Sound };
/// // Ten rounds of a one-peer hypercube: nodes that differ in the last bit alone lose most.
/// let observer = GossipObserver::new(&sgd, &[Mixing::OnePeerHypercube], &constants, 8, 0)?;
/// assert_eq!((observer.loss(1)?.value().get(), observer.loss(4)?.value().get()), (10.0, 2.5));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GossipObserver {
    observer: usize,
    users: usize,
    rounds: usize,
    sensitivity: f64,
    account: Account,
}

#[derive(Clone, Debug)]
enum Account {
    /// Every node is charged the local loss.
    Local,
    /// The loss of one round in units of its local loss, added up over rounds.
    Consensus(Vec<Mixing>),
    /// One round for all rounds or one for each, and the Lipschitz constant of a gradient step.
    Shift(Vec<Round>, f64),
}

impl GossipObserver {
    /// The observer of a run in which all `mixings` are public: one for every round, or a single one for all.
    ///
    /// # Errors
    /// [`Error::Unbounded`](crate::Error::Unbounded); [`Error::InvalidParameter`] for a training that cannot
    /// be run; [`Error::NodeOutOfRange`]; [`Error::Shape`] for another number of mixings or nodes;
    /// [`ndp_graph::Error::TooLarge`] for rounds whose charges do not fit in memory; those of
    /// [`exact_loss`](crate::gossip::exact_loss), [`ndp_certify::Error::NotCertified`].
    ///
    /// # Complexity
    /// `O(n³)` for each different matrix; nothing to speak of with exact consensus.
    pub fn new(
        sgd: &MuffliatoSgd,
        mixings: &[Mixing],
        constants: &Constants,
        users: usize,
        observer: usize,
    ) -> Result<Self, Error> {
        Self::until(sgd, mixings, constants, (users, observer), &Stop::never())
    }

    /// The same, no longer than `stop` says.
    pub(crate) fn until(
        sgd: &MuffliatoSgd,
        mixings: &[Mixing],
        constants: &Constants,
        (users, observer): (usize, usize),
        stop: &Stop,
    ) -> Result<Self, Error> {
        constants.require_bounded()?;
        sgd.check()?;
        if observer >= users {
            return Err(Error::NodeOutOfRange { node: observer, nodes: users });
        }
        if mixings.len() != 1 && mixings.len() != sgd.rounds {
            return Err(Error::Shape { what: "mixings of rounds", expected: sgd.rounds, got: mixings.len() });
        }
        mixings.iter().try_for_each(|mixing| mixing.check(users))?;
        let released = sgd.update.constants(constants);
        // Clipping a node's gradient is 1-Lipschitz but leaves no gradient of a convex function.
        let stretch = match sgd.update {
            Update::NodeClipped { .. } => up(1.0 + up(sgd.step_size * constants.smoothness)),
            _ => constants.contraction(sgd.step_size),
        };
        let account = if matches!(sgd.update, Update::AsReleased { .. }) {
            Account::Local
        } else if mixings.iter().all(|m| matches!(m, Mixing::OnePeerHypercube | Mixing::Server)) {
            Account::Consensus(mixings.to_vec())
        } else {
            let round = |mixing: &Mixing| match stop.spend(work([users, users, users])) {
                Ok(()) => public_round(mixing, observer),
                Err(stopped) => Some(Err(stopped.into())),
            };
            match mixings.iter().map(round).collect::<Option<Vec<_>>>() {
                // A map that stretches without limit bounds nothing beyond the gradients themselves.
                Some(rounds) if stretch.is_finite() => {
                    ndp_linalg::memory::require_dense("what the rounds cost", sgd.rounds, 8)?;
                    Account::Shift(rounds.into_iter().collect::<Result<_, _>>()?, stretch)
                }
                _ => Account::Local,
            }
        };
        Ok(Self { observer, users, rounds: sgd.rounds, sensitivity: released.sensitivity, account })
    }

    /// Bound on what the observer learns about `source` over all rounds, in units of `c₀`.
    ///
    /// # Errors
    /// [`Error::SourceIsObserver`], [`Error::NodeOutOfRange`].
    pub fn loss(&self, source: usize) -> Result<UpperBound<UnitLoss>, Error> {
        Observer::node(self.observer).checked_source(source, self.users)?;
        match &self.account {
            Account::Local => Ok(UpperBound::new(UnitLoss::of_releases(self.rounds as f64)?)),
            Account::Consensus(mixings) => {
                let mut total = Total::default();
                for mixing in mixings {
                    let unit = UnitLoss::new(self.unit_of_consensus(mixing, source))?;
                    total.add(consensus_loss(unit, 1).into_value().get());
                }
                let repeats = if mixings.len() == 1 { self.rounds } else { 1 };
                let total = total.value() * repeats as f64;
                // Powers of 2 are exact; the shares of a server's mean are not.
                let dyadic = mixings.iter().all(|mixing| matches!(mixing, Mixing::OnePeerHypercube));
                let total = if dyadic && repeats < 1 << 52 { total } else { up(total) };
                Ok(UpperBound::new(UnitLoss::of_releases(total)?))
            }
            Account::Shift(rounds, stretch) => {
                let all: Vec<&Round> = match rounds.as_slice() {
                    [one] => vec![one; self.rounds],
                    each => each.iter().collect(),
                };
                shift_loss(&all, source, &vec![*stretch; self.users])
            }
        }
    }

    /// Probability, over the primes of the rounds, that the account is too small; at most.
    #[must_use]
    pub fn failure(&self) -> f64 {
        match &self.account {
            Account::Local | Account::Consensus(_) => 0.0,
            Account::Shift(rounds, _) => any_of(rounds.iter().map(|round| round.failure())),
        }
    }

    /// Exact loss of one round that ends in consensus, in units of `c₀`.
    fn unit_of_consensus(&self, mixing: &Mixing, source: usize) -> f64 {
        match mixing {
            // The two first meet, through others, in the step of the highest bit in which they differ.
            Mixing::OnePeerHypercube => (-f64::from((source ^ self.observer).ilog2())).exp2(),
            // The mean of all, of which the observer knows its own part.
            _ => 1.0 / (self.users - 1) as f64,
        }
    }

    /// What the observer learns about `source` with noise `sigma` on every gradient: rounds are Gaussian
    /// given the past, so a loss of `k` units is at most that of one Gaussian release with `μ = s √k / σ`.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub fn profile(&self, source: usize, sigma: Sigma) -> Result<Profile, Error> {
        let units = self.loss(source)?.into_value().get();
        let mu = Interval::new(units).sqrt() * Interval::new(self.sensitivity) / Interval::new(sigma.get());
        let mu = if units == 0.0 { 0.0 } else { mu.high() };
        let against = format!("node {}", self.observer);
        Ok(Profile::gaussian(UpperBound::new(Gdp::new(mu)?).into(), &against))
    }

    /// The mean Rényi loss `(1/n) Σ_{u ≠ v}` towards the observer `v`, in nats.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub fn mean(&self, sigma: Sigma, order: Order) -> Result<UpperBound<f64>, Error> {
        let mut total = Interval::new(0.0);
        for source in (0..self.users).filter(|&u| u != self.observer) {
            let loss = self.profile(source, sigma)?.renyi(order)?.into_value().epsilon;
            // Nothing is added for nodes of whom nothing is learned.
            if loss > 0.0 {
                total = total + Interval::new(loss);
            }
        }
        let mean = total / Interval::count(self.users as u64);
        Ok(UpperBound::new(if total.high() == 0.0 { 0.0 } else { mean.high() }))
    }
}

/// A round of gossip by public matrices that keep the mean; `None` for any other mixing.
fn public_round(mixing: &Mixing, observer: usize) -> Option<Result<Round, Error>> {
    let fixed = |gossip: Result<SynchronousGossip, Error>| Some(Round::of_gossip(&gossip.ok()?, observer));
    match mixing {
        Mixing::Plain { matrix, steps } => fixed(Ok(SynchronousGossip::new(matrix.clone(), *steps))),
        Mixing::Accelerated { matrix, steps, parameter } => {
            fixed(SynchronousGossip::new(matrix.clone(), *steps).accelerated(*parameter))
        }
        Mixing::Sequence(sequence) => Some(Round::of_sequence(sequence, observer)),
        _ => None,
    }
}
