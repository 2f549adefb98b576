//! The account of a program: for every node outside a coalition the Gram matrix of its uses, enclosed entry
//! by entry, and the loss under a declared sensitivity set.
//!
//! Let `R` be the seen rows over the unknown noises, `V` their variances and `B_u` the coefficients of the
//! uses of `u`, and `G_u = B_uᵀ (R V Rᵀ)⁺ B_u`. Two inputs that differ by `δ` give Gaussians of equal
//! covariance at squared distance `Q(δ) = Σ_ij (G_u)_ij ⟨δ_i, δ_j⟩` in units of the noise. The view is
//! therefore `μ`-GDP with `μ² = max Q`, exactly, and the Rényi loss of order `α` is `(α/2) max Q`.
//! Sensitivity and noise are 1; for other values multiply by `Δ²/σ²`.

use crate::adaptivity::Dependence;
use crate::build::{Program, Value};
use crate::enclose::Ends;
use crate::engines;
use crate::gram::NodeGram;
use crate::noiseless;
use crate::observers::Seen;
use crate::options::AccountOptions;
use crate::question::{Found, Question};
use crate::sensitivity::{self, Loss, SensitivitySet, Value as Sensed};
use crate::{Engine, ProgramError, Weight};
use ndp_account::{Error, Observer, RestsOn};
use ndp_dp::{Exact, Grade, Guarantee, PairwiseLoss, UpperBound};
use ndp_numeric::stop::Stop;
use rayon::prelude::*;
use std::borrow::Cow;

/// What is proven about a node under a sensitivity set.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{NodeVerdict, Program, Reads, SensitivitySet};
/// let mut program = Program::new(3)?;
/// let x = program.contribute_all(Reads::Nothing)?;
/// let z = program.noise([0], 1)?;
/// let noisy = program.add(&[x[0], z])?;
/// program.send(0, 2, noisy)?;
/// program.send(1, 2, x[1])?; // without noise
/// let account = program.account(&Observer::node(2))?;
/// let verdict = |u| account.verdict(u, &SensitivitySet::UseLevel);
/// assert!(matches!(verdict(0)?, NodeVerdict::Bounded(loss) if loss.value() == 1.0));
/// assert!(matches!(verdict(1)?, NodeVerdict::Noiseless { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum NodeVerdict {
    /// The loss, with its grade. An upper bound is infinite where a change may be seen without noise.
    Bounded(Loss),
    /// Some change in the set is seen without noise, so that the loss is infinite. Other nodes, and other
    /// sets, keep their losses.
    Noiseless {
        /// The change of the uses that is seen.
        change: Vec<f64>,
        /// The combination of messages that shows it, unless it is too long to be computed exactly.
        combination: Option<Vec<(Value, Weight)>>,
    },
}

/// What an observer learns about every node.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::dsgd};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let account = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), 3)?.account(&Observer::node(2))?;
/// // One account, every node, every way in which its three uses may change.
/// let loss = |u, set: &SensitivitySet| account.loss(u, set).map(|loss| loss.value());
/// assert!(loss(0, &SensitivitySet::UseLevel)? < loss(1, &SensitivitySet::UseLevel)?);
/// assert!(loss(0, &SensitivitySet::UseLevel)? <= loss(0, &SensitivitySet::Signs)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramAccount {
    pub(super) program: Program,
    pub(super) observer: Observer,
    pub(super) seen: Seen,
    grams: Vec<Option<NodeGram>>,
    /// The number of independent rows over what the observer does not know.
    pub rank: usize,
    /// The number of bits of the arithmetic: 53 is `f64`, more is fixed point, and 0 says that none was
    /// needed.
    pub bits: u32,
    /// An upper bound on the probability, over primes drawn from a hash of the view, that an upper end is too
    /// small, a leak was missed, or a check of what is read passed wrongly. 0 if nothing rests on primes.
    pub failure: f64,
    /// What contributions were taken to depend on, which is part of every grade.
    pub adaptivity: Dependence,
    /// The engine that computed the losses.
    pub engine: Engine,
    some_lost: bool,
    /// Stops the computations that later questions start.
    pub(super) stop: Stop,
}

impl Program {
    /// What `observer` learns about every node, with the default options.
    ///
    /// # Errors
    /// Those of [`account_with`](Self::account_with).
    pub fn account(&self, observer: &Observer) -> Result<ProgramAccount, Error> {
        self.account_with(observer, &AccountOptions::default())
    }

    /// What `observer` learns about every node.
    ///
    /// Holds against an honest-but-curious observer who knows the program. Members of the coalition may even
    /// send any function of what they have seen, as long as the other nodes follow the program.
    ///
    /// # Errors
    /// A bad observer; [`ProgramError::NotSeen`], [`ProgramError::Hidden`], [`ProgramError::HiddenNotExact`]
    /// because of what contributions read; [`ProgramError::NodeOutOfRange`], [`ProgramError::NotAsked`] in
    /// the options; [`ndp_certify::Error::TooLarge`] above the memory limit;
    /// [`ndp_certify::Error::NotCertified`] if no enclosure is found within the precision limit and some use
    /// has no noise of its own; [`Error::Stopped`]. A change that is seen without noise is not an error of
    /// the account: it is a [verdict](ProgramAccount::verdict) on a node and a set.
    pub fn account_with(
        &self,
        observer: &Observer,
        options: &AccountOptions,
    ) -> Result<ProgramAccount, Error> {
        let mut question = Question::new(self, observer, options)?;
        let found = engines::answer(&mut question)?;
        Ok(ProgramAccount::new(question, found))
    }

    /// What every single node learns about every other node under a sensitivity set. Row `u` is the exposed
    /// node and column `v` the observer. An entry is infinite if a change is seen without noise; the diagonal
    /// is 0, as there is no loss. `Exact` if all entries are; the failure probabilities are those of the
    /// single accounts.
    ///
    /// # Errors
    /// Those of [`account`](Self::account) and of [`ProgramAccount::verdict`]; [`ndp_graph::Error::TooLarge`]
    /// for too many nodes.
    pub fn pairwise_losses(&self, set: &SensitivitySet) -> Result<Guarantee<PairwiseLoss>, Error> {
        let n = self.node_count();
        ndp_linalg::memory::require_dense("the losses of all pairs", n, n)?;
        let column = |v: usize| -> Result<(Vec<f64>, bool), Error> {
            let account = self.account(&Observer::node(v))?;
            let mut exact = !account.adaptivity.is_revealed();
            let mut of = |u: usize| -> Result<f64, Error> {
                if u == v {
                    return Ok(0.0);
                }
                Ok(match account.verdict(u, set)? {
                    NodeVerdict::Bounded(loss) => {
                        exact &= loss.value.grade() == Grade::Exact;
                        loss.value()
                    }
                    NodeVerdict::Noiseless { .. } => f64::INFINITY,
                })
            };
            Ok(((0..n).map(&mut of).collect::<Result<_, _>>()?, exact))
        };
        let columns: Vec<(Vec<f64>, bool)> = (0..n).into_par_iter().map(column).collect::<Result<_, _>>()?;
        let rows = (0..n * n).map(|at| columns[at % n].0[at / n]).collect();
        let losses = PairwiseLoss::from_rows(n, rows)?;
        let exact = columns.iter().all(|(_, exact)| *exact);
        Ok(if exact { Exact::new(losses).into() } else { UpperBound::new(losses).into() })
    }
}

impl ProgramAccount {
    pub(super) fn new(question: Question<'_>, found: Found) -> Self {
        let Question { program, observer, options, seen, .. } = question;
        let Found { grams, rank, bits, failure, adaptivity, engine } = found;
        Self {
            program: program.clone(),
            observer: observer.clone(),
            seen,
            grams,
            rank,
            bits,
            failure,
            adaptivity,
            engine,
            some_lost: options.some_lost,
            stop: options.stop.clone(),
        }
    }

    /// The loss of node `source` under a declared sensitivity set, or the combination of messages that shows
    /// a change in the set without noise. Where some messages may be lost, or what contributions depend on is
    /// shown to the account alone, such a change has an infinite upper bound instead.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`]; [`ProgramError::Member`]; [`ProgramError::SensitivitySet`] for a set
    /// that does not fit the node's uses; [`ProgramError::Undecided`]; [`ndp_certify::Error::LossTooLarge`].
    pub fn verdict(&self, source: usize, set: &SensitivitySet) -> Result<NodeVerdict, Error> {
        let gram = self.node(source)?;
        match sensitivity::evaluate(gram, set)? {
            Sensed::Ends(ends) if ends.high == f64::INFINITY || ends.high.is_nan() => {
                Err(Error::Certify(ndp_certify::Error::LossTooLarge(source)))
            }
            Sensed::Ends(ends) => {
                let ends = if self.some_lost { Ends { low: 0.0, ..ends } } else { ends };
                Ok(NodeVerdict::Bounded(Loss::new(ends, !self.some_lost, set, self.adaptivity)))
            }
            // Whether the observer sees it is not known.
            Sensed::Noiseless(_) if self.some_lost || self.adaptivity.is_revealed() => {
                Ok(NodeVerdict::Bounded(Loss::unbounded(set, self.adaptivity)))
            }
            Sensed::Noiseless(change) => {
                let combination = noiseless::noiseless(&self.program, &self.seen, source, &change);
                Ok(NodeVerdict::Noiseless { change, combination })
            }
        }
    }

    /// The loss of node `source` under a declared sensitivity set.
    ///
    /// # Errors
    /// [`ndp_certify::Error::NoiselessView`] if a change in the set is seen without noise, or may be; those of
    /// [`verdict`](Self::verdict).
    pub fn loss(&self, source: usize, set: &SensitivitySet) -> Result<Loss, Error> {
        match self.verdict(source, set)? {
            NodeVerdict::Bounded(loss) if loss.value() < f64::INFINITY => Ok(loss),
            _ => Err(Error::Certify(ndp_certify::Error::NoiselessView(source))),
        }
    }

    /// Entry `(i, j)` of the Gram matrix of node `source`, between its uses `i` and `j`, with a bound on its
    /// error: of what the account sees, which is more than the observer sees where messages may be lost or
    /// what contributions depend on is revealed. If a combination of uses is seen without noise, the entries
    /// hold for changes that are not.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`]; [`ProgramError::Member`]; [`ProgramError::SensitivitySet`] for a use
    /// that does not exist; [`ndp_certify::Error::NotCertified`] if only the structural bound is known.
    pub fn gram(&self, source: usize, i: usize, j: usize) -> Result<(f64, f64), Error> {
        let gram = self.node(source)?;
        if i.max(j) >= gram.uses {
            let problem = format!("there is no use {}", i.max(j));
            return Err(ProgramError::SensitivitySet { node: source, uses: gram.uses, problem }.into());
        }
        gram.entry(i, j).ok_or(Error::Certify(ndp_certify::Error::NotCertified { bits: self.bits }))
    }

    /// The observer.
    pub(super) fn observer(&self) -> &Observer {
        &self.observer
    }

    /// The assumptions of every loss of this account: the set that was declared, what contributions were
    /// taken to depend on, whether all messages arrive, and whether nodes [hold what they
    /// send](Program::check_holdings).
    #[must_use]
    pub fn rests_on(&self, set: &SensitivitySet) -> Vec<RestsOn> {
        let mut all = vec![RestsOn::Set(set.clone()), RestsOn::Reads(self.adaptivity)];
        all.extend(self.some_lost.then_some(RestsOn::Losses));
        all.extend((!self.program.holds()).then_some(RestsOn::Holdings));
        all
    }

    /// Number of nodes.
    pub(super) fn node_count(&self) -> usize {
        self.grams.len()
    }

    /// What was seen, with the coefficients of all rows.
    ///
    /// # Errors
    /// [`ndp_graph::Error::TooLarge`] for rows that do not fit in memory.
    pub(super) fn completed(&self) -> Result<Cow<'_, Seen>, Error> {
        if self.seen.is_complete() {
            return Ok(Cow::Borrowed(&self.seen));
        }
        let limit = AccountOptions::default().memory_limit;
        if self.seen.deeper_than(&self.program, usize::try_from(limit / BYTES).unwrap_or(usize::MAX)) {
            let (what, limit) = ("the exact rows of what is seen", u128::from(limit));
            return Err(ndp_graph::Error::TooLarge { what, bytes: limit, limit }.into());
        }
        let mut seen = self.seen.clone();
        seen.complete(&self.program, &self.stop)?;
        Ok(Cow::Owned(seen))
    }

    pub(super) fn node(&self, source: usize) -> Result<&NodeGram, Error> {
        let nodes = self.grams.len();
        let gram = self.grams.get(source).ok_or(ProgramError::NodeOutOfRange { node: source, nodes })?;
        let missing = if self.seen.members[source] { ProgramError::Member } else { ProgramError::NotAsked };
        gram.as_ref().ok_or_else(|| missing(source).into())
    }
}

/// The least number of bytes of an exact coefficient.
const BYTES: u64 = 128;
