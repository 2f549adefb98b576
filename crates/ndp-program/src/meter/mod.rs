//! The meter: an account that is updated during a run, and refuses a step that would exceed a budget.
//!
//! For every observer a filter follows the program step by step (`filter`, `docs/theory.md`, "The meter").
//! Its numbers are proven. If rounding leaves open whether a row has noise, or the bound on rounding has
//! become too large to be useful, the account of the recorded program takes over. Ranks are then decided as
//! in that account, and never by a tolerance.

mod budget;
mod epoch;
mod feed;
mod filter;
mod joined;
mod log;
mod merge;
mod reading;
mod rounds;
mod scale;
mod square;
#[cfg(test)]
mod tests;
mod view;
mod watched;

pub use crate::error::Refusal;
pub use budget::Limits;
pub use feed::{Feed, Resumed};
pub use log::{Durable, MeterLog};
pub use merge::{Merged, Runs};
pub use reading::{Reading, Source};
pub use scale::{Neighbors, Scale};
pub use view::PointOfView;

use crate::adaptivity::Dependence;
use crate::build::{Mark, Program};
use crate::registers::Definition;
use crate::sensitivity::SensitivitySet;
use crate::{ProgramError, Value};
use filter::{Filter, Followed, Round};
use ndp_account::{Assumption, Error, Observer, RestsOn};
use ndp_linalg::memory::require_memory;
use rayon::prelude::*;
use std::collections::BTreeSet;
use watched::Watched;

/// What every observer has learned about every node so far.
///
/// A meter is made for a set of observers and for the sensitivity set to which all its numbers refer:
/// [`UseLevel`](SensitivitySet::UseLevel), [`SameDirection`](SensitivitySet::SameDirection) (changes
/// may cancel), or all uses of a node in any direction: [`Signs`](SensitivitySet::Signs),
/// [`Vectors`](SensitivitySet::Vectors). For the last two it gives upper bounds, for the others enclosures.
///
/// The steps are those of a [`Program`], and are the same for all observers. A message that is lost counts as
/// sent.
///
/// # Examples
/// ```
/// use ndp_program::meter::Meter;
/// use ndp_program::{MixingMatrix, SensitivitySet, constructors::ModelReads};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&path_graph(3)?));
/// let mut meter = Meter::every_node(3, SensitivitySet::SameDirection)?;
/// for expected in [0.0, 1.0 / 10.0, 9.0 / 26.0] {
///     meter.round(&mixing, 1, ModelReads::Nothing)?;
///     // What node 2 has learned about node 0.
///     let reading = meter.reading(2)?;
///     let loss = reading.loss(0)?;
///     assert!(loss.lower <= expected && expected <= loss.value() && loss.value() < expected + 1e-9);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Meter {
    nodes: usize,
    set: SensitivitySet,
    program: Program,
    recorded: bool,
    filters: Vec<Watched>,
    limits: Limits,
    /// The values that later steps may read.
    alive: BTreeSet<usize>,
    /// How many values, events and changes of the program the filters have seen.
    followed: (usize, usize),
    model: Option<Vec<usize>>,
    rounds: u64,
    /// Whether single steps were fed, after which it is not evident that nodes have what they send.
    stepped: bool,
    view: PointOfView,
    /// Whether a noise counts as known that may not be.
    distrusts: bool,
    scale: Option<Scale>,
}

/// Refuses a meter whose sums for every pair of an observer and a node would not fit in memory.
pub(super) fn require_room(nodes: usize, observers: usize) -> Result<(), Error> {
    let pairs = nodes as u128 * observers as u128;
    Ok(require_memory(
        "what the observers of the meter learn about every node",
        pairs.saturating_mul(BYTES_OF_PAIR),
    )?)
}

/// The memory for what one observer learns about one node in bytes, as measured: 24 in the costs of earlier
/// epochs, and 104 in the filter.
const BYTES_OF_PAIR: u128 = 128;

impl Meter {
    /// A meter of a run of `nodes` nodes for what these observers learn, with a declared sensitivity set.
    ///
    /// # Errors
    /// Those of a bad observer; [`ProgramError::MeterSet`] for a set that cannot be followed;
    /// [`ProgramError::NoNodes`], [`ProgramError::TooManyNodes`]; an error for more pairs of an observer and a
    /// node than fit in 16 GiB.
    pub fn new(
        nodes: usize,
        observers: impl IntoIterator<Item = Observer>,
        set: SensitivitySet,
    ) -> Result<Self, Error> {
        let refuse = |set: &str| Err(ProgramError::MeterSet(set.to_owned()).into());
        let followed = match &set {
            SensitivitySet::SameDirection => Followed::Same,
            SensitivitySet::UseLevel => Followed::Uses,
            SensitivitySet::Vectors { dimension } if *dimension > 0 => Followed::Whole,
            SensitivitySet::Signs => Followed::Whole,
            SensitivitySet::Vectors { .. } => return refuse("vectors of dimension 0"),
            SensitivitySet::Along(_) => return refuse("given weights of the uses"),
            SensitivitySet::Patterns { .. } => return refuse("patterns of the uses"),
            SensitivitySet::Bounded { .. } => return refuse("bounds on the uses"),
        };
        let program = Program::new(nodes)?;
        let observers = observers.into_iter();
        require_room(nodes, observers.size_hint().0)?;
        let observers: Vec<Observer> = observers.collect();
        require_room(nodes, observers.len())?;
        let filter = |observer: Observer| -> Result<Watched, Error> {
            crate::observers::check(&observer, nodes)?;
            Ok(Watched::new(observer, nodes, followed))
        };
        let filters = observers.into_iter().map(filter).collect::<Result<_, _>>()?;
        Ok(Self {
            nodes,
            set,
            program,
            recorded: true,
            filters,
            limits: Limits::default(),
            alive: BTreeSet::new(),
            followed: (0, 0),
            model: None,
            rounds: 0,
            stepped: false,
            view: PointOfView::Coordinator,
            distrusts: false,
            scale: None,
        })
    }

    /// A meter for what every single node learns.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn every_node(nodes: usize, set: SensitivitySet) -> Result<Self, Error> {
        Self::new(nodes, (0..nodes).map(Observer::node), set)
    }

    /// Keeps no record of the steps, so that memory does not grow with [rounds](Self::round). Only rounds can
    /// then be fed, and there is no other account if a filter gives up.
    ///
    /// # Errors
    /// [`ProgramError::MeterStarted`] if something has been fed already.
    pub fn without_record(mut self) -> Result<Self, ProgramError> {
        if self.started() {
            return Err(ProgramError::MeterStarted);
        }
        self.recorded = false;
        Ok(self)
    }

    /// From now on, refuses every step after which a loss would be above its limit.
    ///
    /// # Errors
    /// [`ProgramError::MeterStarted`] if something has been fed already, since a limit that is chosen after
    /// something was seen bounds nothing. [`ProgramError::NodeOutOfRange`], [`ProgramError::UnknownObserver`]
    /// for a limit on a node or an observer that does not exist.
    pub fn with_limits(mut self, limits: Limits) -> Result<Self, ProgramError> {
        if self.started() {
            return Err(ProgramError::MeterStarted);
        }
        limits.check(self.filters.len(), self.nodes)?;
        self.limits = limits;
        Ok(self)
    }

    /// Whether something has been fed.
    pub(super) fn started(&self) -> bool {
        self.followed != (0, 0) || self.rounds > 0 || !self.program.changes.is_empty()
    }

    /// Who runs the meter, which determines the assumptions that it rests on.
    ///
    /// # Errors
    /// [`ProgramError::MeterStarted`]; [`ProgramError::NodeOutOfRange`]; [`ProgramError::OtherView`] for a
    /// node that trusts nobody, unless the only observer is the coalition of all other nodes.
    pub fn seen_by(mut self, view: PointOfView) -> Result<Self, ProgramError> {
        if self.started() {
            return Err(ProgramError::MeterStarted);
        }
        view.check(self.nodes, self.observers())?;
        self.view = view;
        Ok(self)
    }

    /// How far contributions may change, in the unit of whoever feeds the meter. No number depends on it, as
    /// variances are in multiples of its square. It is written to the log, for those who continue it.
    ///
    /// # Errors
    /// [`ProgramError::MeterStarted`].
    pub fn in_units_of(mut self, scale: Scale) -> Result<Self, ProgramError> {
        if self.started() {
            return Err(ProgramError::MeterStarted);
        }
        self.scale = Some(scale);
        Ok(self)
    }

    /// How far contributions may change, if it was given.
    #[must_use]
    pub fn scale(&self) -> Option<Scale> {
        self.scale
    }

    /// The models after the last round; empty before the first one.
    pub(super) fn models(&self) -> Vec<Value> {
        // The values of a program have numbers of 32 bits.
        let value = |&k: &usize| u32::try_from(k).ok().map(Value);
        self.model.iter().flatten().filter_map(value).collect()
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// The observers, in the order of [`reading`](Self::reading).
    pub fn observers(&self) -> impl ExactSizeIterator<Item = &Observer> {
        self.filters.iter().map(Watched::observer)
    }

    /// What may differ between neighboring inputs, to which every number refers.
    #[must_use]
    pub fn set(&self) -> &SensitivitySet {
        &self.set
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The program that was fed, without steps that were refused. For a meter without record it has no steps.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The number of rounds that were fed as a whole.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Feeds steps: all of them, or none if one is refused.
    ///
    /// The decision depends only on public values: the schedule, the weights and the variances.
    ///
    /// # Errors
    /// What the steps return; [`ProgramError::OverBudget`] if a loss would be above its limit, and the
    /// message must then not be sent; [`ProgramError::Forgotten`], [`ProgramError::Unrecorded`].
    ///
    /// # Examples
    /// ```
    /// use ndp_program::meter::{Limits, Meter};
    /// use ndp_program::{ProgramError, Reads, SensitivitySet};
    /// let mut meter = Meter::every_node(2, SensitivitySet::SameDirection)?.with_limits(Limits::worst(1.5)?)?;
    /// let mut message = || {
    ///     meter.step(|program| {
    ///         let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 4)?);
    ///         let y = program.add(&[x, z])?;
    ///         program.send(0, 1, y)
    ///     })
    /// };
    /// // One message costs 1/4, two that change alike 4/8, and so on; the sixth would cost the limit itself, and
    /// // as losses are rounded up it is refused.
    /// assert_eq!((0..9).filter(|_| message().is_ok()).count(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step<T, E: Into<Error>>(
        &mut self,
        steps: impl FnOnce(&mut Program) -> Result<T, E>,
    ) -> Result<T, Error> {
        if !self.recorded {
            return Err(ProgramError::Unrecorded.into());
        }
        let mark = self.program.mark();
        let fed = steps(&mut self.program).map_err(Into::into).and_then(|found| {
            if let PointOfView::OwnMessages { node } = self.view {
                self.distrusts |= self.program.distrust(node, self.followed.1);
            }
            self.only_alive(self.followed.0)?;
            Ok(found)
        });
        let found = match fed {
            Ok(found) => found,
            Err(error) => {
                self.program.rewind(mark);
                return Err(error);
            }
        };
        self.stepped = true;
        self.commit(&mark, None)?;
        Ok(found)
    }

    /// A node leaves for good, see [`Program::leave`]; its noises stay secret.
    ///
    /// # Errors
    /// Those of [`Program::leave`].
    pub fn leave(&mut self, node: usize) -> Result<(), ProgramError> {
        self.program.leave(node)
    }

    /// Declares that no later step reads these values. This makes filters smaller and changes no loss.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`], [`ProgramError::Forgotten`]; either all values are forgotten, or none.
    pub fn forget(&mut self, values: &[Value]) -> Result<(), ProgramError> {
        for &value in values {
            self.program.check(value)?;
            if !self.alive.contains(&value.index()) {
                return Err(ProgramError::Forgotten(value.index()));
            }
        }
        let trusts = !matches!(self.view, PointOfView::OwnMessages { .. });
        for value in values.iter().map(|value| value.index()) {
            // The noise of a dealer has yet to be shown to the observers, as the dealer is not trusted.
            if !trusts && !self.program.is_held(value) {
                continue;
            }
            self.alive.remove(&value);
            self.filters.iter_mut().for_each(|filter| filter.forget(value));
        }
        self.filters.iter_mut().for_each(Watched::drop_still);
        self.restart();
        Ok(())
    }

    /// Who runs the meter.
    #[must_use]
    pub fn view(&self) -> &PointOfView {
        &self.view
    }

    /// What an observer has learned about every node so far, by its number among the [observers](
    /// Self::observers).
    ///
    /// # Errors
    /// [`ProgramError::UnknownObserver`]; if the filter gave up, those of [`Program::account`] or, without a
    /// record, [`ndp_certify::Error::NotCertified`].
    pub fn reading(&self, observer: usize) -> Result<Reading, Error> {
        let observers = self.filters.len();
        let filter = self.filters.get(observer);
        let filter = filter.ok_or(ProgramError::UnknownObserver { observer, observers })?;
        let mut reading = filter.read(&self.program, &self.set, self.recorded)?;
        if self.distrusts {
            reading.of_more_than_is_seen(&self.set, filter.reads());
        }
        Ok(reading)
    }

    /// The assumptions that all numbers rest on.
    #[must_use]
    pub fn rests_on(&self) -> Vec<RestsOn> {
        let reads = self.filters.iter().map(Watched::reads).fold(Dependence::Fixed, Dependence::with);
        let mut all = vec![RestsOn::Set(self.set.clone()), RestsOn::Reads(reads)];
        all.extend_from_slice(self.view.rests_on());
        all.extend(self.scale.as_ref().map(Scale::rests_on));
        all.extend((self.stepped && !self.program.holds()).then_some(RestsOn::Holdings));
        let trusted = self.program.trusted();
        all.extend(trusted.secure_sums.then_some(RestsOn::Assumed(Assumption::SecureSums)));
        // A node that trusts nobody counts such noises as known.
        let trusts = !matches!(self.view, PointOfView::OwnMessages { .. }) && trusted.shared_noises;
        all.extend(trusts.then_some(RestsOn::Assumed(Assumption::SharedNoise)));
        all
    }

    /// Lets the filters follow what was fed since the mark, and undoes everything if a limit would be
    /// exceeded.
    fn commit(&mut self, mark: &Mark, round: Option<&Round<'_>>) -> Result<(), Error> {
        let (from, before) = (self.followed, (!self.limits.is_empty()).then(|| self.filters.clone()));
        let (program, set, recorded) = (&self.program, &self.set, self.recorded);
        self.filters.par_iter_mut().for_each(|filter| filter.follow(program, from, round, recorded));
        if let Some(before) = before {
            let kept =
                self.limits.keep(self.filters.iter().map(|filter| filter.read(program, set, recorded)));
            if let Err(error) = kept {
                self.filters = before;
                self.program.rewind(mark.clone());
                return Err(error);
            }
        }
        if round.is_none() {
            self.alive.extend(from.0..self.program.values.len());
        }
        self.followed = (self.program.values.len(), self.program.events.len());
        if round.is_none() {
            self.restart();
        }
        Ok(())
    }

    /// Begins an epoch for every observer who knows all values that are alive.
    fn restart(&mut self) {
        let (program, alive, set, recorded) = (&self.program, &self.alive, &self.set, self.recorded);
        self.filters.par_iter_mut().for_each(|filter| filter.restart(program, alive, set, recorded));
    }

    /// Begins a new epoch. Every observer is charged as if it were shown all values that are alive. Earlier
    /// steps are then no longer followed, and the cost of later steps is added.
    ///
    /// From then on, all numbers are upper bounds. This is for long runs: if a filter has given up, so that
    /// the account of the record has taken over and becomes slower with every step, a new epoch lets the
    /// filter run again. Without this call, an epoch ends by itself, at no cost, whenever the observer knows
    /// everything that is alive. Values that no later step reads should be [forgotten](Self::forget) first;
    /// otherwise they are shown, too.
    ///
    /// # Errors
    /// [`ProgramError::OverBudget`] if showing the values costs too much; [`ProgramError::EpochReveals`] if
    /// it reveals a node's data without noise; those of [`reading`](Self::reading). Nothing is changed then.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::cycle_graph};
    /// use ndp_program::meter::Meter;
    /// use ndp_program::{MixingMatrix, SensitivitySet, constructors::ModelReads};
    /// let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&cycle_graph(5)?));
    /// let mut meter = Meter::every_node(5, SensitivitySet::SameDirection)?;
    /// meter.round(&mixing, 4, ModelReads::Nothing)?;
    /// let exact = meter.reading(0)?.loss(2)?.value();
    /// meter.begin_epoch()?;
    /// // Node 0 is counted as if it had been shown all models: it learns about nodes that sent it nothing.
    /// assert!(meter.reading(0)?.loss(2)?.value() > exact);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_epoch(&mut self) -> Result<(), Error> {
        let (program, set, recorded) = (&self.program, &self.set, self.recorded);
        let (mut filters, shown) =
            (self.filters.clone(), (&self.alive, self.model.as_deref().unwrap_or(&[])));
        filters.par_iter_mut().try_for_each(|filter| filter.end_epoch(program, shown, set, recorded))?;
        self.limits.keep(filters.iter().map(|filter| filter.read(program, set, recorded)))?;
        self.filters = filters;
        Ok(())
    }

    /// Checks that the steps from value `from` on read and show nothing that was forgotten.
    fn only_alive(&self, from: usize) -> Result<(), ProgramError> {
        let check = |value: usize| match value >= from || self.alive.contains(&value) {
            true => Ok(()),
            false => Err(ProgramError::Forgotten(value)),
        };
        for definition in &self.program.values[from..] {
            let mut found = Ok(());
            definition.each_term(|term, _| {
                if found.is_ok() {
                    found = check(term);
                }
            });
            found?;
        }
        self.program.events[self.followed.1..].iter().try_for_each(|event| check(event.value))
    }
}

/// Feeds a filter the steps of a program after the given numbers of values and events.
fn follow(filter: &mut Filter, program: &Program, from: (usize, usize)) {
    let mut events = program.events[from.1..].iter().peekable();
    for value in from.0..=program.values.len() {
        let moment = program.moments.get(value).copied().unwrap_or(usize::MAX);
        while let Some(event) = events.next_if(|event| event.moment < moment) {
            if filter.sees(&event.seeing) {
                filter.see(event.value);
            }
        }
        match program.values.get(value) {
            None => {}
            Some(Definition::Contribution(k)) => {
                let contribution = &program.contributions[*k];
                filter.contribute(value, contribution.node, &contribution.reads);
            }
            Some(Definition::Noise(k)) => filter.noise(value, &program.noises[*k].variance),
            Some(definition) => filter.combine(value, definition.terms()),
        }
        if filter.doubt.is_some() {
            filter.blind();
        }
    }
}
