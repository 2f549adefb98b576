//! Adds up what one observer has learned over the epochs of a run: the losses of those that have ended, and
//! the filters of the present one.
//!
//! An epoch ends when the observer knows every value that is alive. Rows that are seen later are then sums of
//! constants and of new contributions and noises, so that the Gram matrix is block diagonal over epochs:
//! losses of a direction and of all uses add up, and for a single use the largest one counts
//! (`docs/theory.md`, "Epochs of a meter"). If the filter gave up, the account of the steps of the epoch
//! takes its place.

use super::filter::{Filter, Followed, Round};
use super::follow;
use super::reading::{Reading, Source};
use crate::adaptivity::Dependence;
use crate::build::Program;
use crate::enclose::Ends;
use crate::sensitivity::{Loss, SensitivitySet};
use crate::{AccountOptions, NodeVerdict, ProgramError};
use ndp_account::{Error, Observer};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The cost of earlier epochs for a node; `None` if something was seen without noise.
type Cost = Option<Ends>;

#[derive(Clone, Debug)]
pub(super) struct Watched {
    followed: Followed,
    pub(super) filter: Filter,
    /// For all uses of a node in any direction: a second filter to which every round shows all models. It
    /// gives an upper bound as well, which is often smaller, as hardly anything cancels in it.
    shown: Option<Filter>,
    earlier: Vec<Cost>,
    /// The largest `h` and the failure probability of the earlier epochs, and what was read in them.
    h: f64,
    failure: f64,
    reads: Dependence,
    /// Whether an epoch showed more than contributions read, so that lower ends of later epochs are 0.
    above: bool,
    /// The numbers of values and events before the epoch, and the earlier values that the observer knows.
    since: (usize, usize),
    known: Arc<BTreeSet<usize>>,
}

/// What contributions depend on where their reads were checked against what the observer was shown, and not
/// only against what it has seen.
const fn as_shown(reads: Dependence) -> Dependence {
    if matches!(reads, Dependence::Checked) { Dependence::Revealed } else { reads }
}

/// The result for one epoch.
struct Epoch {
    source: Source,
    failure: f64,
    reads: Dependence,
    /// `None` for members of the coalition.
    costs: Vec<Option<Cost>>,
    exact: bool,
    /// Whether the earlier epochs are included.
    whole: bool,
}

impl Watched {
    pub(super) fn new(observer: Observer, nodes: usize, followed: Followed) -> Self {
        let filter = Filter::new(observer, nodes, followed);
        Self {
            followed,
            shown: (followed == Followed::Whole).then(|| filter.clone()),
            filter,
            earlier: vec![Some(Ends::ZERO); nodes],
            h: 0.0,
            failure: 0.0,
            reads: Dependence::Fixed,
            above: false,
            since: (0, 0),
            known: Arc::default(),
        }
    }

    pub(super) fn observer(&self) -> &Observer {
        &self.filter.observer
    }

    /// What contributions were found to depend on.
    pub(super) fn reads(&self) -> Dependence {
        self.of_all_epochs(self.filter.reads)
    }

    /// What the contributions of all epochs depend on, given those of the present one. Where the end of an
    /// epoch showed the observer more than it had seen, it may know what is read from that alone.
    fn of_all_epochs(&self, reads: Dependence) -> Dependence {
        self.reads.with(if self.above { as_shown(reads) } else { reads })
    }

    pub(super) fn forget(&mut self, value: usize) {
        self.filters().for_each(|filter| filter.forget(value));
    }

    pub(super) fn drop_still(&mut self) {
        self.filters().for_each(Filter::drop_still);
    }

    fn filters(&mut self) -> impl Iterator<Item = &mut Filter> {
        std::iter::once(&mut self.filter).chain(&mut self.shown)
    }

    /// Follows what was fed after the given numbers of values and events; a whole round is followed in one
    /// step.
    pub(super) fn follow(
        &mut self,
        program: &Program,
        from: (usize, usize),
        round: Option<&Round<'_>>,
        recorded: bool,
    ) {
        for (at, filter) in self.filters().enumerate() {
            match round {
                None => follow(filter, program, from),
                Some(round) => {
                    if filter.doubt.is_none() {
                        filter.round(round, at == 1);
                    }
                    if filter.doubt.is_some() {
                        filter.blind();
                        // What the observer knows is still followed step by step.
                        if recorded {
                            follow(filter, program, from);
                            filter.keep_models(round, from.0);
                        } else {
                            round.depend(filter);
                        }
                    }
                }
            }
        }
    }

    /// Begins an epoch if the observer knows all values that are alive.
    pub(super) fn restart(
        &mut self,
        program: &Program,
        alive: &BTreeSet<usize>,
        set: &SensitivitySet,
        recorded: bool,
    ) {
        let now = (program.values.len(), program.events.len());
        if self.since == now || !alive.iter().all(|&value| self.filter.knows(value)) {
            return;
        }
        // If there is no account, the epoch continues, and the error is reported when numbers are asked for.
        if let Ok(epoch) = self.epoch(program, &[], set, recorded) {
            self.close(&epoch, alive, now);
        }
    }

    /// Ends the epoch, and charges the observer for being shown every value that is alive.
    ///
    /// # Errors
    /// Those of the account of its steps; [`ProgramError::EpochReveals`] if the values reveal a node's data
    /// without noise.
    pub(super) fn end_epoch(
        &mut self,
        program: &Program,
        (alive, models): (&BTreeSet<usize>, &[usize]),
        set: &SensitivitySet,
        recorded: bool,
    ) -> Result<(), Error> {
        let before = self.epoch(program, &[], set, recorded)?;
        let unknown = |value: &usize| !self.filter.knows(*value);
        // What it knows only because contributions read it is shown as well: the account of the steps may not
        // charge for it.
        let hidden = alive.iter().copied().filter(|value| self.filter.shown_reads || unknown(value));
        let hidden: Vec<usize> = hidden.collect();
        let mut more = self.clone();
        more.filters().for_each(|filter| filter.show(alive, models));
        let mut epoch = more.epoch(program, &hidden, set, recorded)?;
        for (node, (cost, before)) in epoch.costs.iter_mut().zip(&before.costs).enumerate() {
            if let (Some(cost), Some(before)) = (cost, before) {
                *cost = match (&*cost, before) {
                    (_, None) => None,
                    (None, Some(_)) => return Err(ProgramError::EpochReveals(node).into()),
                    // The lower end contains only what was really seen.
                    (Some(high), Some(low)) => Some(Ends { low: low.low, high: high.high.max(low.low) }),
                };
            }
        }
        epoch.reads = before.reads;
        more.close(&epoch, alive, (program.values.len(), program.events.len()));
        more.above |= alive.iter().any(unknown);
        *self = more;
        Ok(())
    }

    fn close(&mut self, epoch: &Epoch, alive: &BTreeSet<usize>, now: (usize, usize)) {
        let add = |(earlier, cost): (&Cost, &Option<Cost>)| match cost {
            Some(cost) => self.together(epoch.whole, *earlier, *cost),
            None => *earlier,
        };
        self.earlier = self.earlier.iter().zip(&epoch.costs).map(add).collect();
        if let Source::Running { h } = epoch.source {
            self.h = self.h.max(h);
        }
        self.failure = ndp_numeric::rounding::any_of([self.failure, epoch.failure]);
        self.reads = self.reads.with(epoch.reads);
        (self.since, self.known) = (now, Arc::new(alive.clone()));
        let nodes = self.earlier.len();
        let mut filter = Filter::new(self.filter.observer.clone(), nodes, self.followed);
        filter.told(alive.iter().copied());
        self.shown = self.shown.is_some().then(|| filter.clone());
        self.filter = filter;
    }

    /// What the observer has learned so far.
    pub(super) fn read(
        &self,
        program: &Program,
        set: &SensitivitySet,
        recorded: bool,
    ) -> Result<Reading, Error> {
        let epoch = self.epoch(program, &[], set, recorded)?;
        let reads = self.of_all_epochs(epoch.reads);
        let verdict = |(earlier, cost): (&Cost, &Option<Cost>)| {
            cost.map(|cost| match self.together(epoch.whole, *earlier, cost) {
                Some(ends) => NodeVerdict::Bounded(Loss::new(ends, epoch.exact, set, reads)),
                None if reads.is_revealed() => NodeVerdict::Bounded(Loss::unbounded(set, reads)),
                None => NodeVerdict::Noiseless { change: Vec::new(), combination: None },
            })
        };
        let verdicts = self.earlier.iter().zip(&epoch.costs).map(verdict).collect();
        let source = match epoch.source {
            Source::Running { h } => Source::Running { h: h.max(self.h) },
            Source::Batch => Source::Batch,
        };
        let failure = ndp_numeric::rounding::any_of([self.failure, epoch.failure]);
        Ok(Reading { observer: self.observer().clone(), source, failure, verdicts })
    }

    /// The cost of the present epoch so far, if the values `shown` are shown in addition.
    fn epoch(
        &self,
        program: &Program,
        shown: &[usize],
        set: &SensitivitySet,
        recorded: bool,
    ) -> Result<Epoch, Error> {
        let exact = self.followed != Followed::Whole;
        let others = |u: usize| !self.observer().contains(u);
        let companion = self.shown.as_ref().filter(|filter| filter.doubt.is_none());
        let least = |u: usize, cost: Cost| match (cost, companion.and_then(|filter| filter.ends(u))) {
            (Some(cost), Some(other)) => Some(Ends { low: cost.low, high: cost.high.min(other.high) }),
            (cost, _) => cost,
        };
        if self.filter.doubt.is_none() {
            let cost = |u| others(u).then(|| least(u, self.filter.ends(u)));
            let costs = (0..self.earlier.len()).map(cost).collect();
            let source = Source::Running { h: self.filter.h() };
            return Ok(Epoch { source, failure: 0.0, reads: self.filter.reads, costs, exact, whole: false });
        }
        if !recorded {
            let filter = companion.ok_or(Error::Certify(ndp_certify::Error::NotCertified { bits: 53 }))?;
            let cost = |u| others(u).then(|| filter.ends(u).map(|ends| Ends { low: 0.0, ..ends }));
            let costs = (0..self.earlier.len()).map(cost).collect();
            let source = Source::Running { h: filter.h() };
            return Ok(Epoch {
                source,
                failure: 0.0,
                reads: as_shown(filter.reads),
                costs,
                exact: false,
                whole: false,
            });
        }
        // If a contribution reads a value that was forgotten in an earlier epoch, the whole record is needed.
        let (steps, whole) = match program.steps_from(self.since, &self.known, shown) {
            Err(ProgramError::Forgotten(_)) => (program.steps_from((0, 0), &self.known, shown)?, true),
            steps => (steps?, false),
        };
        let account = steps.account_with(self.observer(), &AccountOptions::default())?;
        let cost = |u: usize| -> Result<Option<Cost>, Error> {
            if !others(u) {
                return Ok(None);
            }
            Ok(Some(match account.verdict(u, set)? {
                NodeVerdict::Bounded(loss) if loss.value() < f64::INFINITY => {
                    let cost = Some(Ends { low: loss.lower, high: loss.value() });
                    // The second filter covers only the present epoch.
                    if whole { cost } else { least(u, cost) }
                }
                _ => None,
            }))
        };
        let costs = (0..self.earlier.len()).map(cost).collect::<Result<_, _>>()?;
        let (failure, reads) = (account.failure, account.adaptivity);
        Ok(Epoch { source: Source::Batch, failure, reads, costs, exact: true, whole })
    }

    /// The cost of two epochs together: a direction of a single use is in one of them, all other directions
    /// are in both.
    fn together(&self, whole: bool, earlier: Cost, cost: Cost) -> Cost {
        let a = if whole { Ends::ZERO } else { earlier? };
        let b = match cost {
            // Where an epoch showed more than was seen, so that nothing is known to be seen without noise.
            _ if self.above && !whole => {
                Ends { low: 0.0, high: cost.map_or(f64::INFINITY, |cost| cost.high) }
            }
            cost => cost?,
        };
        Some(match self.followed {
            Followed::Uses => a.max(b),
            Followed::Same | Followed::Whole => a.plus(b),
        })
    }

    /// The second filter, to which every round shows all models.
    #[cfg(test)]
    pub(super) fn companion(&self) -> Option<&Filter> {
        self.shown.as_ref()
    }

    /// Whether nothing has been fed in the present epoch.
    #[cfg(test)]
    pub(super) fn is_new(&self) -> bool {
        self.filter.is_new()
    }

    /// The number of directions that are followed.
    #[cfg(test)]
    pub(super) fn directions(&self) -> usize {
        self.filter.followed()
    }
}
