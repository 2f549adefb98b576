//! Builds a program: steps are added in order of time, and every mistake is refused when it is made.

use crate::cached::{Cached, Trusted};
use crate::form_cache::FormCache;
use crate::registers::{self, Definition, Form};
use crate::{ProgramError, Weight};
use ndp_numeric::stop::{Stop, Stopped};
use num_rational::BigRational;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value of a program: a contribution, a noise, or a combination of other values.
///
/// # Examples
/// ```
/// use ndp_program::{Program, Reads};
/// let mut program = Program::new(2)?;
/// let x = program.contribute(0, Reads::Nothing)?;
/// let z = program.noise([0], 1)?;
/// assert_eq!((usize::from(x), usize::from(z), program.values().len()), (0, 1, 2));
/// # Ok::<(), ndp_program::ProgramError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(super) u32);

impl Value {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<Value> for usize {
    /// The number of the value, in order of time.
    fn from(value: Value) -> Self {
        value.index()
    }
}

/// What a contribution may depend on, besides its owner's data, its own coins and public values.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Dependence, Program, Reads};
/// let mut program = Program::new(2)?;
/// let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
/// let first = program.add(&[x, z])?;
/// program.send(0, 1, first)?;
/// // The second use reacts to the first message, which node 1 has seen: that is checked.
/// let (x, z) = (program.contribute(0, Reads::Seen(Some(vec![first])))?, program.noise([0], 1)?);
/// let second = program.add(&[x, z])?;
/// program.send(0, 1, second)?;
/// assert_eq!(program.account(&Observer::node(1))?.adaptivity, Dependence::Checked);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Reads {
    /// On nothing else.
    Nothing,
    /// On values that the observer has seen before. With a list, this is checked for every observer by the
    /// rank of what was seen. Without one it is an assumption, which the report states.
    Seen(Option<Vec<Value>>),
    /// On values that the observer need not see. With a list, the observer is shown these values, which gives
    /// an upper bound. Without one there is no bound.
    Hidden(Option<Vec<Value>>),
}

/// One use of a node's data.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contribution {
    pub(super) node: usize,
    /// Its index among the uses of the node, from 0.
    pub(super) index: usize,
    pub(super) value: usize,
    pub(super) reads: Reads,
    pub(super) moment: usize,
}

impl Contribution {
    /// Whether `later` is a later use of the same node, which may depend on all that this one read.
    pub(super) fn is_carried_on_by(&self, later: &Self) -> bool {
        self.node == later.node && self.index < later.index
    }
}

/// An independent Gaussian noise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Noise {
    pub(super) variance: BigRational,
    pub(super) value: usize,
}

/// Who learns a value, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seeing {
    /// A message along an edge, which a tap overhears.
    Message { from: usize, to: usize },
    /// Everybody, including outsiders.
    Broadcast { from: Option<usize> },
    /// The receiver of a secure sum; taps do not overhear it.
    SecureSum { to: usize, group: Vec<usize> },
    /// A node that drew the value, or shares it.
    Held { by: usize },
}

/// A value that is seen by somebody.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) value: usize,
    pub(super) seeing: Seeing,
    pub(super) moment: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Has not taken part so far.
    New,
    Active,
    Left,
}

/// A linear Gaussian protocol: who contributes what, which noises are added, which combinations are formed,
/// and who sees what.
///
/// Steps are added in order of time. Weights, variances and the schedule are public and do not depend on
/// data. Values are vectors, all of the same dimension. Noises are independent and Gaussian, with the same
/// variance in every coordinate.
///
/// # Examples
/// Two rounds of gossip on a path of three nodes, each with one value and its own noise, seen by an end.
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Program, Reads, SensitivitySet};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let graph = path_graph(3)?;
/// let matrix = GossipMatrix::metropolis(&graph);
/// let mut program = Program::new(3)?;
/// let x = program.contribute_all(Reads::Nothing)?;
/// let z = program.noise_all(1)?;
/// let mut y = program.add_all(&x, &z)?;
/// for _ in 0..2 {
///     program.send_to_neighbors(&graph, &y)?;
///     y = program.gossip(&matrix, &y)?;
/// }
/// let account = program.account(&Observer::node(2))?;
/// let loss = account.loss(0, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(super) nodes: usize,
    // Copies share the steps, as an account keeps its program.
    pub(super) values: Arc<Vec<Definition>>,
    pub(super) moments: Arc<Vec<usize>>,
    pub(super) contributions: Arc<Vec<Contribution>>,
    pub(super) noises: Arc<Vec<Noise>>,
    pub(super) events: Arc<Vec<Event>>,
    /// The nodes that join (`true`) or leave, and when.
    pub(super) changes: Vec<(usize, usize, bool)>,
    /// The results of nodes.
    pub(super) results: BTreeMap<usize, usize>,
    uses: Vec<usize>,
    pub(super) presence: Vec<Presence>,
    clock: usize,
    /// Whether nodes hold what they use, once this was asked.
    pub(super) held: Cached<bool>,
    /// What accounts of the program take for granted, once this was asked.
    pub(super) trusted: Cached<Trusted>,
    /// The coefficients of values, once they were asked for.
    pub(super) forms: FormCache,
}

/// A state to which a program can return.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    values: usize,
    contributions: usize,
    noises: usize,
    events: usize,
    changes: usize,
    results: BTreeMap<usize, usize>,
    uses: Vec<usize>,
    presence: Vec<Presence>,
    clock: usize,
}

impl Program {
    /// The present state.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            values: self.values.len(),
            contributions: self.contributions.len(),
            noises: self.noises.len(),
            events: self.events.len(),
            changes: self.changes.len(),
            results: self.results.clone(),
            uses: self.uses.clone(),
            presence: self.presence.clone(),
            clock: self.clock,
        }
    }

    /// Undoes all steps since an earlier state of this program.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.forget();
        self.forms.forget();
        Arc::make_mut(&mut self.values).truncate(mark.values);
        Arc::make_mut(&mut self.moments).truncate(mark.values);
        Arc::make_mut(&mut self.contributions).truncate(mark.contributions);
        Arc::make_mut(&mut self.noises).truncate(mark.noises);
        Arc::make_mut(&mut self.events).truncate(mark.events);
        self.changes.truncate(mark.changes);
        (self.results, self.uses) = (mark.results, mark.uses);
        (self.presence, self.clock) = (mark.presence, mark.clock);
    }

    /// A program of `nodes` nodes, numbered from 0, with no steps yet.
    ///
    /// # Errors
    /// [`ProgramError::NoNodes`], [`ProgramError::TooManyNodes`].
    pub fn new(nodes: usize) -> Result<Self, ProgramError> {
        if nodes == 0 {
            return Err(ProgramError::NoNodes);
        }
        if nodes > MAX_NODES {
            return Err(ProgramError::TooManyNodes { nodes, limit: MAX_NODES });
        }
        Ok(Self {
            nodes,
            values: Arc::default(),
            moments: Arc::default(),
            contributions: Arc::default(),
            noises: Arc::default(),
            events: Arc::default(),
            changes: Vec::new(),
            results: BTreeMap::new(),
            uses: vec![0; nodes],
            presence: vec![Presence::New; nodes],
            clock: 0,
            held: Cached::default(),
            trusted: Cached::default(),
            forms: FormCache::default(),
        })
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// Number of uses of the data of `node`; 0 for a node that does not exist.
    #[must_use]
    pub fn uses(&self, node: usize) -> usize {
        self.uses.get(node).copied().unwrap_or(0)
    }

    /// The values defined so far, in the order of their numbers: for programs that were read.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value> + use<> {
        // Every value was checked to have a number of 32 bits.
        (0..u32::try_from(self.values.len()).unwrap_or(u32::MAX)).map(Value)
    }

    /// The next use of the data of `node`.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`], [`ProgramError::Absent`]; [`ProgramError::UnknownValue`] in the list
    /// of reads.
    pub fn contribute(&mut self, node: usize, reads: Reads) -> Result<Value, ProgramError> {
        self.present(node, "contribute")?;
        if let Reads::Seen(Some(list)) | Reads::Hidden(Some(list)) = &reads {
            list.iter().try_for_each(|&value| self.check(value).map(|_| ()))?;
        }
        let index = self.uses[node];
        let value = self.push(Definition::Contribution(self.contributions.len()))?;
        self.uses[node] += 1;
        let moment = self.moments[value.index()];
        Arc::make_mut(&mut self.contributions).push(Contribution {
            node,
            index,
            value: value.index(),
            reads,
            moment,
        });
        Ok(value)
    }

    /// One more use of the data of every node, in order of nodes.
    ///
    /// # Errors
    /// Those of [`contribute`](Self::contribute).
    pub fn contribute_all(&mut self, reads: Reads) -> Result<Vec<Value>, ProgramError> {
        (0..self.nodes).map(|node| self.contribute(node, reads.clone())).collect()
    }

    /// A noise of the given variance that all of `holders` know, and no other node: `[node]` for the noise of
    /// one node, `[]` for a noise that no node knows.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`], [`ProgramError::Absent`], [`ProgramError::NotFinite`],
    /// [`ProgramError::NegativeVariance`], [`ProgramError::Repeated`]. A variance of 0 is allowed.
    pub fn noise(
        &mut self,
        holders: impl AsRef<[usize]>,
        variance: impl Into<Weight>,
    ) -> Result<Value, ProgramError> {
        let holders = holders.as_ref();
        distinct(holders, "the holders of a noise")?;
        holders.iter().try_for_each(|&node| self.present(node, "draw a noise"))?;
        let variance = variance.into().variance()?.clone();
        let value = self.push(Definition::Noise(self.noises.len()))?;
        Arc::make_mut(&mut self.noises).push(Noise { variance, value: value.index() });
        holders.iter().for_each(|&by| self.see(value, Seeing::Held { by }));
        Ok(value)
    }

    /// A noise for every node, in order of nodes, each known to its node alone.
    ///
    /// # Errors
    /// Those of [`noise`](Self::noise).
    pub fn noise_all(&mut self, variance: impl Into<Weight>) -> Result<Vec<Value>, ProgramError> {
        let variance = variance.into();
        (0..self.nodes).map(|node| self.noise([node], variance.clone())).collect()
    }

    /// A mask that two nodes share: `+` for the first, `-` for the second, known to both.
    ///
    /// # Errors
    /// Those of [`noise`](Self::noise); [`ProgramError::SameEnds`].
    pub fn pairwise(
        &mut self,
        a: usize,
        b: usize,
        variance: impl Into<Weight>,
    ) -> Result<(Value, Value), ProgramError> {
        if a == b {
            return Err(ProgramError::SameEnds { what: "a pairwise mask", node: a });
        }
        let plus = self.noise([a, b], variance)?;
        let minus = self.combine([(-1, plus)])?;
        Ok((plus, minus))
    }

    /// Must be called when the program changes: what was found about it has to be found again.
    pub(super) fn forget(&mut self) {
        self.held.forget();
        self.trusted.forget();
    }

    /// Checks that a value belongs to the program, and returns its number.
    pub(super) fn check(&self, value: Value) -> Result<usize, ProgramError> {
        if value.index() >= self.values.len() {
            return Err(ProgramError::UnknownValue { value: value.index(), values: self.values.len() });
        }
        Ok(value.index())
    }

    /// The exact coefficients of a value over contributions and noises.
    pub(super) fn form(&self, value: usize) -> Form {
        registers::form(&self.values, value)
    }

    /// The same, kept for later questions.
    pub(super) fn kept_form(&self, value: usize) -> Arc<Form> {
        self.forms.of(&self.values, value)
    }

    /// Computes [`Self::kept_form`] of these values in advance, if this is less work than computing each by
    /// itself.
    pub(super) fn prepare_forms(&self, values: &[usize], stop: &Stop) -> Result<(), Stopped> {
        self.forms.prepare(&self.values, values, stop)
    }

    pub(super) fn push(&mut self, definition: Definition) -> Result<Value, ProgramError> {
        let number = u32::try_from(self.values.len()).ok().filter(|&k| k < u32::MAX);
        let value = Value(number.ok_or(ProgramError::TooManyValues)?);
        self.forget();
        Arc::make_mut(&mut self.values).push(definition);
        Arc::make_mut(&mut self.moments).push(self.clock);
        self.clock += 1;
        Ok(value)
    }

    pub(super) fn see(&mut self, value: Value, seeing: Seeing) {
        self.forget();
        Arc::make_mut(&mut self.events).push(Event { value: value.index(), seeing, moment: self.clock });
        self.clock += 1;
    }

    pub(super) fn note(&mut self, node: usize, joins: bool) {
        self.changes.push((self.clock, node, joins));
        self.clock += 1;
    }

    pub(super) fn state(&self, node: usize) -> Result<Presence, ProgramError> {
        self.presence.get(node).copied().ok_or(ProgramError::NodeOutOfRange { node, nodes: self.nodes })
    }

    /// Checks that a node is present, and records that it has taken part.
    pub(super) fn present(&mut self, node: usize, what: &'static str) -> Result<(), ProgramError> {
        if self.state(node)? == Presence::Left {
            return Err(ProgramError::Absent { node, what });
        }
        self.presence[node] = Presence::Active;
        Ok(())
    }
}

/// Checks that no node occurs twice.
pub(super) fn distinct(nodes: &[usize], what: &'static str) -> Result<(), ProgramError> {
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ProgramError::Repeated { node: pair[0], what }),
        None => Ok(()),
    }
}

/// The largest number of nodes of a program: with more, what is kept for each node would not fit in memory.
const MAX_NODES: usize = 1 << 27;
