//! The account of a program: for every node outside a coalition the Gram matrix of its uses, enclosed entry
//! by entry, and the loss under a declared sensitivity set.
//!
//! Let `R` be the seen rows over the unknown noises, `V` their variances and `B_u` the coefficients of the
//! uses of `u`, and `G_u = B_uᵀ (R V Rᵀ)⁺ B_u`. Two inputs that differ by `δ` give Gaussians of equal
//! covariance at squared distance `Q(δ) = Σ_ij (G_u)_ij ⟨δ_i, δ_j⟩` in units of the noise. The view is
//! therefore `μ`-GDP with `μ² = max Q`, exactly, and the Rényi loss of order `α` is `(α/2) max Q`.
//! Sensitivity and noise are 1; for other values multiply by `Δ²/σ²`.

use crate::adaptivity::{self, Dependence};
use crate::build::{Program, Reads, Value};
use crate::columns::{self, Direction};
use crate::enclose::Ends;
use crate::gram::{KnownDirection, NodeGram};
use crate::noiseless;
use crate::observers::Seen;
use crate::options::AccountOptions;
use crate::sensitivity::{self, Loss, SensitivitySet, Value as Sensed};
use crate::{Engine, ProgramError, Weight, sparse, sweep};
use ndarray::Array2;
use ndp_account::{Error, Observer, RestsOn};
use ndp_certify::account::Budget;
use ndp_certify::gram;
use ndp_dp::{Exact, Grade, Guarantee, PairwiseLoss, UpperBound};
use ndp_numeric::rounding::any_of;
use ndp_numeric::stop::Stop;
use num_rational::BigRational;
use num_traits::One;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    /// The loss, with its grade.
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

/// What an engine proves about an observer.
pub(super) struct Found {
    pub(super) grams: Vec<Option<NodeGram>>,
    pub(super) rank: usize,
    pub(super) bits: u32,
    pub(super) failure: f64,
    pub(super) engine: Engine,
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
        let nodes = self.node_count();
        if let Some(&node) = options.nodes.iter().flatten().find(|&&node| node >= nodes) {
            return Err(ProgramError::NodeOutOfRange { node, nodes }.into());
        }
        let asked = options.asked(self);
        // Engines for programs of one kind; they give `None` for others.
        for engine in [Self::by_powers, Self::swept] {
            if let Some(account) = engine(self, observer, options, &asked)? {
                return Ok(account);
            }
        }
        let (seen, adaptivity, probability) =
            adaptivity::resolve(self, observer, options.hidden, &options.stop)?;
        let directions = self.directions(&seen, &asked, options)?;
        let account = |seen, grams, rank, engine| {
            let found = Found { grams, rank, bits: 53, failure: probability, engine };
            self.report(observer, options, (seen, adaptivity), found)
        };
        let large = seen.rows.len() >= options.sparse_from;
        if let Some(found) =
            large.then(|| sparse::grams(self, &seen, &directions, options)).transpose()?.flatten()
        {
            // Conjugate gradients that end early leave wide enclosures: another engine then computes the
            // account, if the size allows it.
            if found.narrow || seen.rows.len() > MAX_DENSE {
                return Ok(account(seen, found.grams, found.rank, Engine::Sparse));
            }
            if let Some(swept) = sweep::grams(self, &seen, &directions, options)?.filter(|x| x.narrow) {
                return Ok(account(seen, swept.grams, swept.rank, Engine::Sweeps));
            }
            if seen.rows.len() > MAX_GENERAL {
                return Ok(account(seen, found.grams, found.rank, Engine::Sparse));
            }
        }
        let (rows, columns) = columns::rows(self, &seen, &directions, &asked)?;
        let (memory, bits) = (options.memory_limit, options.precision_limit);
        let budget = Budget { memory, bits, stop: &options.stop };
        let found = gram::of_rows(&rows, budget)?;
        if !found.certified() && columns.of_use.keys().any(|use_| !columns.structural.contains_key(use_)) {
            return Err(Error::Certify(ndp_certify::Error::NotCertified { bits: options.precision_limit }));
        }
        let mut grams: Vec<Option<NodeGram>> = (0..self.node_count())
            .map(|node| (!seen.members[node] && asked[node]).then(|| NodeGram::empty(node, self.uses(node))))
            .collect();
        let mut leaks = vec![false; found.diagonal.len()];
        found.leaks.iter().for_each(|&k| leaks[k] = true);
        // The uses of every node that occur in a row, in order.
        let mut of_node: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.node_count()];
        for (&contribution, &input) in &columns.of_use {
            of_node[self.contributions[contribution].node].push((contribution, input));
        }
        for gram in grams.iter_mut().flatten() {
            let uses = &of_node[gram.node];
            for (place, &(contribution, input)) in uses.iter().enumerate() {
                gram.places[self.contributions[contribution].index] = Some(place);
                let (low, high) = found.diagonal[input];
                gram.diagonal.push(Ends { low, high });
                gram.leaks.push(leaks[input]);
                let structural = columns.structural.get(&contribution);
                // Two uses with the same noise have no diagonal bound together.
                let shared = structural.is_some_and(|(noise, _)| {
                    let same = |other: &(usize, usize)| {
                        columns.structural.get(&other.0).is_some_and(|(known, _)| known == noise)
                    };
                    uses.iter().filter(|other| same(other)).count() > 1
                });
                gram.structural.push(match structural {
                    Some((_, bound)) if !shared => *bound,
                    _ => f64::INFINITY,
                });
            }
            gram.entries = entries(&found, uses);
        }
        for (direction, input) in directions.into_iter().zip(&columns.of_direction) {
            let (ends, leaks) = match input {
                Some(k) => {
                    let (low, high) = found.diagonal[*k];
                    (Ends { low, high }, leaks[*k])
                }
                None => (Ends::ZERO, false),
            };
            if let Some(gram) = &mut grams[direction.node] {
                gram.directions.push(KnownDirection { direction, ends, leaks });
            }
        }
        let failure = any_of([found.failure, probability]);
        let found = Found { grams, rank: found.rank(), bits: found.bits, failure, engine: Engine::Rows };
        Ok(self.report(observer, options, (seen, adaptivity), found))
    }

    pub(super) fn report(
        &self,
        observer: &Observer,
        options: &AccountOptions,
        (seen, adaptivity): (Seen, Dependence),
        found: Found,
    ) -> ProgramAccount {
        let Found { grams, rank, bits, failure, engine } = found;
        let (some_lost, stop) = (options.some_lost, options.stop.clone());
        ProgramAccount {
            program: self.clone(),
            observer: observer.clone(),
            seen,
            grams,
            rank,
            bits,
            failure,
            adaptivity,
            engine,
            some_lost,
            stop,
        }
    }

    /// The account of a deep program, whose rows are not written out; `None` for other programs.
    fn swept(
        &self,
        observer: &Observer,
        options: &AccountOptions,
        asked: &[bool],
    ) -> Result<Option<ProgramAccount>, Error> {
        let reads_nothing_hidden =
            |c: &crate::build::Contribution| matches!(c.reads, Reads::Nothing | Reads::Seen(None));
        if !self.contributions.iter().all(reads_nothing_hidden) {
            return Ok(None);
        }
        let seen = Seen::outline(self, observer, &BTreeMap::new())?;
        let from = options.sweeps_from;
        options.stop.check()?;
        if !seen.deeper_than(self, from.max(DEEP.min(from) * seen.rows.len())) {
            return Ok(None);
        }
        let directions = self.directions(&seen, asked, options)?;
        if let Some((seen, found)) = self.shallow(&seen, &directions, options)? {
            return Ok(Some(self.report(observer, options, (seen, Dependence::Fixed), found)));
        }
        let found = match sweep::grams(self, &seen, &directions, options)? {
            Some(found) if found.narrow => found,
            found => {
                // Exact rows may decide: those of a statement, or of the program if they can be written out.
                let by_rows = self.by_rows(observer, options, asked)?;
                if by_rows.is_some() || !seen.deeper_than(self, MAX_WRITTEN) {
                    return Ok(by_rows);
                }
                found.ok_or(Error::Certify(ndp_certify::Error::NotCertified { bits: 53 }))?
            }
        };
        // The observer knows the contributions of members completely, so that they rest on what they read.
        let of_members = self.contributions.iter().filter(|c| observer.contains(c.node));
        let assumed = found.assumed || of_members.into_iter().any(|c| c.reads == Reads::Seen(None));
        let adaptivity = if assumed { Dependence::Assumed } else { Dependence::Fixed };
        let (grams, rank, engine) = (found.grams, found.rank, Engine::Sweeps);
        let found = Found { grams, rank, bits: 53, failure: 0.0, engine };
        Ok(Some(self.report(observer, options, (seen, adaptivity), found)))
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

    /// The sums of all uses, and the directions that were asked for.
    fn directions(
        &self,
        seen: &Seen,
        asked: &[bool],
        options: &AccountOptions,
    ) -> Result<Vec<Direction>, Error> {
        let mut directions: Vec<Direction> = Vec::new();
        let open = |node: &usize| !seen.members[*node] && asked[*node] && self.uses(*node) > 1;
        for node in (0..self.node_count()).filter(open) {
            directions.push(Direction { node, weights: vec![BigRational::one(); self.uses(node)] });
        }
        for (node, weights) in &options.directions {
            let nodes = self.node_count();
            if *node >= nodes {
                return Err(ProgramError::NodeOutOfRange { node: *node, nodes }.into());
            }
            if weights.len() != self.uses(*node) {
                let problem = format!("the number of weights is {}", weights.len());
                return Err(
                    ProgramError::SensitivitySet { node: *node, uses: self.uses(*node), problem }.into()
                );
            }
            if !asked[*node] {
                return Err(ProgramError::NotAsked(*node).into());
            }
            let exact = weights.iter().map(|w| w.exact("a weight").cloned()).collect::<Result<_, _>>()?;
            directions.push(Direction { node: *node, weights: exact });
        }
        Ok(directions)
    }
}

/// All entries of a node's Gram matrix, with a bound on the error of each.
fn entries(found: &gram::Gram, uses: &[(usize, usize)]) -> Option<(Array2<f64>, Array2<f64>)> {
    let k = uses.len();
    let (mut center, mut radius) = (Array2::zeros((k, k)), Array2::zeros((k, k)));
    for i in 0..k {
        for j in 0..=i {
            let (middle, apart) = found.entry(uses[i].1, uses[j].1)?;
            if !(middle.is_finite() && apart.is_finite()) {
                return None;
            }
            (center[(i, j)], center[(j, i)]) = (middle, middle);
            (radius[(i, j)], radius[(j, i)]) = (apart, apart);
        }
    }
    Some((center, radius))
}

impl NodeGram {
    pub(super) fn empty(node: usize, uses: usize) -> Self {
        Self {
            node,
            uses,
            places: vec![None; uses],
            entries: None,
            diagonal: Vec::new(),
            structural: Vec::new(),
            leaks: Vec::new(),
            directions: Vec::new(),
        }
    }
}

impl ProgramAccount {
    /// The loss of node `source` under a declared sensitivity set, or the combination of messages that shows
    /// a change in the set without noise.
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
            Sensed::Noiseless(change) => {
                let combination = noiseless::noiseless(&self.program, &self.seen, source, &change);
                Ok(NodeVerdict::Noiseless { change, combination })
            }
        }
    }

    /// The loss of node `source` under a declared sensitivity set.
    ///
    /// # Errors
    /// [`ndp_certify::Error::NoiselessView`] if a change in the set is seen without noise; those of
    /// [`verdict`](Self::verdict).
    pub fn loss(&self, source: usize, set: &SensitivitySet) -> Result<Loss, Error> {
        match self.verdict(source, set)? {
            NodeVerdict::Bounded(loss) => Ok(loss),
            NodeVerdict::Noiseless { .. } => Err(Error::Certify(ndp_certify::Error::NoiselessView(source))),
        }
    }

    /// Entry `(i, j)` of the Gram matrix of node `source`, between its uses `i` and `j`, with a bound on its
    /// error. If a combination of uses is seen without noise, the entries hold for changes that are not.
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

/// The average number of values in a row from which on a program is deep.
const DEEP: usize = 64;
/// The largest number of rows whose covariance is factorised if conjugate gradients end early.
const MAX_DENSE: usize = 3000;
/// The largest number of rows for the general engine if `f64` cannot decide.
const MAX_GENERAL: usize = 400;
/// The largest number of coefficients of exact rows that are written out if `f64` cannot decide.
const MAX_WRITTEN: usize = 4_000_000;
/// The least number of bytes of an exact coefficient.
const BYTES: u64 = 128;
