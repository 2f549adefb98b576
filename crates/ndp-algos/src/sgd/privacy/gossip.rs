//! What an observer learns from Muffliato-SGD about each of the others.

use super::Statement;
use crate::gossip::SynchronousGossip;
use crate::sgd::gossip::{Mixing, MuffliatoSgd};
use crate::sgd::objective::Constants;
use crate::sgd::rounds::{Round, consensus_loss, shift_loss};
use crate::sgd::walk::Update;
use ndp_account::Error;
use ndp_dp::{ApproxDp, Delta, Gdp, Mechanism, Order, Sigma, UnitLoss, UpperBound};
use ndp_numeric::rounding::any_of;
use ndp_numeric::sums::{Total, up};
use rayon::prelude::*;

/// One node of a run of Muffliato-SGD that watches what it receives and knows its own noise.
///
/// All losses are in units of `c₀ = α s²/(2σ²)`, the local loss of one round, with `s` the sensitivity of a
/// node's gradient and `σ` the noise on it. The accountant is chosen by what happens:
///
/// * every round ends in exact consensus ([`Mixing::OnePeerHypercube`], [`Mixing::Server`]): the rounds
///   compose, each at the exact loss of one round;
/// * gossip by public matrices, which may change within a round and between rounds: the shift accountant,
///   which follows what was not seen from round to round. With `β = e_u` at first, each round is charged
///   `min(βᵀ|P|β, ‖β‖²)` and hands on `β ← q |C (I - P)| β + e_u`, `P` the projector on what the observer
///   sees in it, `C` its mixing, `q` the Lipschitz constant of a gradient step: 1 for convex smooth losses
///   and steps up to `2/L`. The sum is at most the local loss;
/// * anything else (the released recursion, clipping after noise, rounds of both kinds): local loss, one unit
///   per round. The same holds for gossip over graphs that are hidden and drawn anew: the loss of a hidden
///   graph does not compose over rounds.
///
/// The last models of *other* nodes are not part of the view.
#[derive(Clone, Debug)]
pub(crate) struct GossipObserver {
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
    /// Loss of one round, in units of its local loss, added up over rounds.
    Consensus(Vec<Mixing>),
    /// One round for all, or one for each; and the Lipschitz constant of a gradient step.
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
    pub(crate) fn new(
        sgd: &MuffliatoSgd,
        mixings: &[Mixing],
        constants: &Constants,
        users: usize,
        observer: usize,
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
            match mixings.iter().map(|mixing| public_round(mixing, observer)).collect::<Option<Vec<_>>>() {
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
    pub(crate) fn loss(&self, source: usize) -> Result<UpperBound<UnitLoss>, Error> {
        if source == self.observer {
            return Err(Error::SourceIsObserver(source));
        }
        if source >= self.users {
            return Err(Error::NodeOutOfRange { node: source, nodes: self.users });
        }
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

    /// Rounds, in each of which a node releases one gradient.
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    /// Probability, over the primes of the rounds, that the account is too small; at most.
    pub(crate) fn failure(&self) -> f64 {
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

    /// Mean `(1/n) Σ_{u ≠ v}` of the losses towards the observer, in units of `c₀`.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub(super) fn mean(&self) -> Result<UpperBound<UnitLoss>, Error> {
        let sources = (0..self.users).filter(|&u| u != self.observer);
        let losses = sources.map(|u| self.loss(u).map(|loss| loss.into_value().get()));
        let total = losses.sum::<Result<f64, Error>>()?;
        let mean = total / self.users as f64 * (1.0 + (self.users + 2) as f64 * f64::EPSILON);
        Ok(UpperBound::new(UnitLoss::of_releases(mean)?))
    }

    /// `(ε, δ)` of `source` towards the observer: rounds are Gaussian given the past, so a loss of `k` units
    /// is at most that of one Gaussian release with `μ = s √k / σ`.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub(crate) fn statement(&self, source: usize, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        self.stated(self.loss(source)?, sigma, delta)
    }

    /// `(ε, δ)` of the node of which most is learnt.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] where the observer is alone.
    pub(crate) fn worst(&self, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        let sources: Vec<usize> = (0..self.users).filter(|&u| u != self.observer).collect();
        let losses = sources.into_par_iter().map(|u| self.loss(u)).collect::<Result<Vec<_>, _>>()?;
        let worst = losses.into_iter().max_by(|a, b| a.value().get().total_cmp(&b.value().get()));
        self.stated(worst.ok_or(Error::NoGuarantee("the observer is the only user"))?, sigma, delta)
    }

    fn stated(&self, loss: UpperBound<UnitLoss>, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        let units = loss.into_value().get();
        let mu =
            self.raised(units, self.sensitivity * units.sqrt() / sigma.get() * (1.0 + 4.0 * f64::EPSILON));
        let privacy = UpperBound::new(ApproxDp::new(Gdp::new(mu)?.epsilon(delta).into_value(), delta.get())?);
        Ok(Statement::Guaranteed {
            privacy: privacy.into(),
            against: "one other node, which knows all graphs and its own noise, not the last models of others",
        })
    }

    /// A loss of so many units that was positive before it underflowed.
    fn raised(&self, units: f64, loss: f64) -> f64 {
        let lost = units > 0.0 && self.sensitivity > 0.0 && loss < f64::MIN_POSITIVE;
        if lost { f64::MIN_POSITIVE } else { loss }
    }

    /// The mean Rényi loss towards the observer at `order`, as a statement.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub(crate) fn mean_statement(&self, sigma: Sigma, order: Order) -> Result<Statement, Error> {
        let ratio = self.sensitivity / sigma.get();
        let unit = order.get() / 2.0 * ratio * ratio;
        let loss =
            self.mean()?.map(|mean| self.raised(mean.get(), mean.get() * unit * (1.0 + 8.0 * f64::EPSILON)));
        Ok(Statement::MeanLoss { order, loss: loss.into(), over: "all other nodes, towards one observer" })
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
