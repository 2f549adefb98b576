//! Combines two logs, by the names of nodes.
//!
//! If the same run is told twice, the longer log counts, provided that the shorter one is its beginning.
//! Separate runs share no noise and no value, so that the Gram matrix is block diagonal over them: losses of
//! a direction and of all uses add up, and for a single use the largest one counts, as for epochs. Logs of
//! parts of one run are combined step by step (`joined`).

use super::reading::{Reading, Source};
use super::{Feed, Limits, Meter};
use crate::build::{Program, Seeing};
use crate::enclose::Ends;
use crate::registers::Definition;
use crate::sensitivity::{Loss, SensitivitySet};
use crate::{NodeVerdict, ProgramError};
use ndp_account::{Error, NodeNames, Observer, RestsOn};

/// Whether two logs tell the same run. The logs themselves do not say this: two runs of the same schedule
/// have the same log, and the noises of one run that is told twice count only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The same run: one log is the beginning of the other.
    Same,
    /// Two runs, each with its own noises, neither of which reads a hidden value of the other.
    Separate,
}

/// What two logs say together.
///
/// # Examples
/// ```
/// use ndp_program::meter::{Feed, Merged, Runs};
/// let log = |names: &str| {
///     let mut feed = Feed::default();
///     feed.line(&format!("{{\"ndp-meter\": 1, \"nodes\": {names}, \"set\": \"signs\"}}"))?;
///     feed.line("{\"contribute\": \"x\", \"node\": 0, \"reads\": \"nothing\"}")?;
///     feed.line("{\"noise\": \"z\", \"shared\": [0], \"variance\": 4}")?;
///     feed.line("{\"let\": \"y\", \"sum\": {\"x\": 1, \"z\": 1}}")?;
///     feed.line("{\"send\": \"y\", \"from\": 0, \"to\": 1}")?;
///     Ok::<_, ndp_account::Error>(feed)
/// };
/// let (monday, tuesday) = (log("[\"ann\", \"bob\"]")?, log("[\"bob\", \"ann\"]")?);
/// let both = Merged::new(&monday, &tuesday, Runs::Separate)?;
/// // Each is the sender once.
/// assert!((both.readings()[1].loss(0)?.value() - 0.25).abs() < 1e-9);
/// assert!((both.readings()[0].loss(1)?.value() - 0.25).abs() < 1e-9);
/// // It cannot be one run: somebody contributes in one log, somebody else in the other.
/// assert!(Merged::new(&monday, &tuesday, Runs::Same).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Merged {
    pub(super) names: NodeNames,
    pub(super) limits: Limits,
    pub(super) set: SensitivitySet,
    pub(super) readings: Vec<Reading>,
    pub(super) rests_on: Vec<RestsOn>,
}

impl Merged {
    /// Combines two logs.
    ///
    /// # Errors
    /// [`ProgramError::Log`] for a log without a first line; [`ProgramError::Merge`] for a difference between
    /// the logs; those of [`Meter::reading`].
    pub fn new(first: &Feed, second: &Feed, runs: Runs) -> Result<Self, Error> {
        let open = |feed: &'_ Feed| -> Result<(Meter, NodeNames), Error> {
            let found = feed.meter().zip(feed.names());
            let (meter, names) =
                found.ok_or_else(|| ProgramError::Log("there is no first line".to_owned()))?;
            Ok((meter.clone(), names.clone()))
        };
        let (a, b) = (Side::new(open(first)?), Side::new(open(second)?));
        a.agrees(&b)?;
        match runs {
            Runs::Same => Self::same(a, b),
            Runs::Separate => Self::separate(a, &b),
        }
    }

    fn same(a: Side, b: Side) -> Result<Self, Error> {
        let size = |side: &Side| (side.meter.program.values.len(), side.meter.program.events.len());
        let (short, long) = match (size(&a), size(&b)) {
            ((v, e), (w, f)) if v <= w && e <= f => (a, b),
            ((v, e), (w, f)) if w <= v && f <= e => (b, a),
            _ => {
                return Err(
                    ProgramError::Merge("each tells of steps that the other does not".to_owned()).into()
                );
            }
        };
        if !(short.meter.recorded && long.meter.recorded) {
            return Err(ProgramError::Merge("one keeps no record of its steps".to_owned()).into());
        }
        let place = short.places(&long.names)?;
        told_alike(&short.meter.program, &long.meter.program, &place)?;
        let same_limits = short.limits_in(&long, &place)?;
        if !same_limits {
            return Err(ProgramError::Merge("they have different budgets".to_owned()).into());
        }
        let mut readings = Vec::new();
        for k in 0..long.meter.filters.len() {
            readings.push(long.meter.reading(k)?);
        }
        Ok(Self {
            rests_on: long.rests_on(&long, RestsOn::SameRun),
            set: long.meter.set.clone(),
            limits: long.meter.limits.clone(),
            names: long.names,
            readings,
        })
    }

    fn separate(a: Side, b: &Side) -> Result<Self, Error> {
        let place = b.places(&a.names)?;
        if !b.limits_in(&a, &place)? {
            return Err(ProgramError::Merge("they have different budgets".to_owned()).into());
        }
        let mut readings: Vec<Reading> = Vec::new();
        for k in 0..a.meter.filters.len() {
            readings.push(a.meter.reading(k)?);
        }
        for (k, observer) in b.meter.observers().enumerate() {
            let of = a.number_of(observer, &place)?;
            let more = b.meter.reading(k)?;
            let into = &mut readings[of];
            for (u, verdict) in more.verdicts.iter().enumerate() {
                into.verdicts[place[u]] =
                    together(&a.meter.set, into.verdicts[place[u]].take(), verdict.as_ref());
            }
            into.failure = ndp_numeric::rounding::any_of([into.failure, more.failure]);
            into.source = match (into.source, more.source) {
                (Source::Running { h }, Source::Running { h: other }) => Source::Running { h: h.max(other) },
                _ => Source::Batch,
            };
        }
        Ok(Self {
            rests_on: a.rests_on(b, RestsOn::SeparateRuns),
            set: a.meter.set.clone(),
            limits: a.meter.limits.clone(),
            names: a.names,
            readings,
        })
    }

    /// The names of the nodes.
    #[must_use]
    pub fn names(&self) -> &NodeNames {
        &self.names
    }

    /// What every observer has learned, in the order of the first log or, for the same run, of the longer
    /// one.
    #[must_use]
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// What may differ between neighboring inputs.
    #[must_use]
    pub fn set(&self) -> &SensitivitySet {
        &self.set
    }

    /// The limits, which are the same in both logs.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The assumptions that all numbers rest on.
    #[must_use]
    pub fn rests_on(&self) -> &[RestsOn] {
        &self.rests_on
    }
}

pub(super) struct Side {
    pub(super) meter: Meter,
    pub(super) names: NodeNames,
}

impl Side {
    pub(super) fn new((meter, names): (Meter, NodeNames)) -> Self {
        Self { meter, names }
    }

    /// Checks that both logs have the same set, units and point of view.
    pub(super) fn agrees(&self, other: &Self) -> Result<(), ProgramError> {
        let differ = if self.meter.set != other.meter.set {
            "they are about different changes of the data"
        } else if self.meter.scale != other.meter.scale {
            "their variances are in different units"
        } else if self.meter.view != other.meter.view {
            "they were told from different points of view"
        } else {
            return Ok(());
        };
        Err(ProgramError::Merge(differ.to_owned()))
    }

    pub(super) fn name(&self, u: usize) -> String {
        self.names.name(u).map_or_else(|| u.to_string(), std::borrow::Cow::into_owned)
    }

    /// For each node of this log, its index in the other one.
    pub(super) fn places(&self, others: &NodeNames) -> Result<Vec<usize>, Error> {
        let names: Vec<String> = (0..others.count())
            .map(|u| others.name(u).map_or_else(|| u.to_string(), std::borrow::Cow::into_owned))
            .collect();
        let place = |u: usize| {
            let name = self.name(u);
            let missing = || ProgramError::Merge(format!("{name} is a node of one log alone"));
            names.iter().position(|other| *other == name).ok_or_else(missing)
        };
        let places: Vec<usize> = (0..self.names.count()).map(place).collect::<Result<_, _>>()?;
        match (0..names.len()).find(|u| !places.contains(u)) {
            Some(u) => Err(ProgramError::Merge(format!("{} is a node of one log alone", names[u])).into()),
            None => Ok(places),
        }
    }

    /// The number in this log of an observer of the other log.
    fn number_of(&self, observer: &Observer, place: &[usize]) -> Result<usize, Error> {
        let mut members: Vec<usize> = observer.members().iter().map(|&v| place[v]).collect();
        members.sort_unstable();
        let mut tapped: Vec<_> = observer.tapped.iter().map(|&(from, to)| (place[from], place[to])).collect();
        tapped.sort_unstable();
        let alike = |own: &Observer| {
            let (mut theirs, mut taps) = (own.members().to_vec(), own.tapped.clone());
            theirs.sort_unstable();
            taps.sort_unstable();
            (theirs, taps) == (members.clone(), tapped.clone())
        };
        let missing = || ProgramError::Merge("they watch different observers".to_owned());
        Ok(self.meter.observers().position(alike).ok_or_else(missing)?)
    }

    /// Whether the other log has the same limits for all observers of this one.
    ///
    /// # Errors
    /// [`ProgramError::Merge`] if they have different observers.
    pub(super) fn limits_in(&self, other: &Self, place: &[usize]) -> Result<bool, Error> {
        if self.meter.filters.len() != other.meter.filters.len() {
            return Err(ProgramError::Merge("they watch different observers".to_owned()).into());
        }
        for (k, observer) in self.meter.observers().enumerate() {
            let of = other.number_of(observer, place)?;
            for (u, &at) in place.iter().enumerate() {
                if self.meter.limits.of(k, u) != other.meter.limits.of(of, at) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn rests_on(&self, other: &Self, runs: RestsOn) -> Vec<RestsOn> {
        let all = self.meter.rests_on().into_iter().chain(other.meter.rests_on()).chain([runs]);
        RestsOn::together(all).into_iter().collect()
    }
}

/// Checks that a program is the beginning of another one, up to the names of nodes.
fn told_alike(short: &Program, long: &Program, place: &[usize]) -> Result<(), Error> {
    let differ = |what: String| Err(Error::from(ProgramError::Merge(format!("{what} is told in two ways"))));
    for (k, (a, b)) in short.contributions.iter().zip(long.contributions.iter()).enumerate() {
        let same = (place[a.node], a.index, a.value, &a.reads) == (b.node, b.index, b.value, &b.reads);
        if !same {
            return differ(format!("contribution {k}"));
        }
    }
    for (k, (a, b)) in short.noises.iter().zip(long.noises.iter()).enumerate() {
        if a != b {
            return differ(format!("noise {k}"));
        }
    }
    let sum = |definition: &Definition| -> Vec<(usize, num_rational::BigRational)> {
        let mut terms: Vec<_> =
            definition.terms().into_iter().map(|(value, weight)| (value, weight.clone())).collect();
        terms.sort();
        terms
    };
    for (k, (a, b)) in short.values.iter().zip(long.values.iter()).enumerate() {
        let same = match (a, b) {
            (Definition::Contribution(i), Definition::Contribution(j))
            | (Definition::Noise(i), Definition::Noise(j)) => i == j,
            (Definition::Contribution(_) | Definition::Noise(_), _)
            | (_, Definition::Contribution(_) | Definition::Noise(_)) => false,
            _ => sum(a) == sum(b),
        };
        if !same || short.moments[k] != long.moments[k] {
            return differ(format!("value {k}"));
        }
    }
    for (k, (a, b)) in short.events.iter().zip(long.events.iter()).enumerate() {
        if (a.value, a.moment, renamed(&a.seeing, place)) != (b.value, b.moment, sorted(b.seeing.clone())) {
            return differ(format!("message {k}"));
        }
    }
    Ok(())
}

fn renamed(seeing: &Seeing, place: &[usize]) -> Seeing {
    sorted(match seeing {
        Seeing::Message { from, to } => Seeing::Message { from: place[*from], to: place[*to] },
        Seeing::Broadcast { from } => Seeing::Broadcast { from: from.map(|from| place[from]) },
        Seeing::SecureSum { to, group } => {
            Seeing::SecureSum { to: place[*to], group: group.iter().map(|&u| place[u]).collect() }
        }
        Seeing::Held { by } => Seeing::Held { by: place[*by] },
    })
}

fn sorted(mut seeing: Seeing) -> Seeing {
    if let Seeing::SecureSum { group, .. } = &mut seeing {
        group.sort_unstable();
    }
    seeing
}

/// What is known about a node from two separate runs.
fn together(set: &SensitivitySet, a: Option<NodeVerdict>, b: Option<&NodeVerdict>) -> Option<NodeVerdict> {
    let (NodeVerdict::Bounded(a), NodeVerdict::Bounded(b)) = (a.as_ref()?, b?) else {
        return Some(NodeVerdict::Noiseless { change: Vec::new(), combination: None });
    };
    let ends = |loss: &Loss| Ends { low: loss.lower, high: loss.value() };
    let (x, y) = (ends(a), ends(b));
    let sum = match set {
        SensitivitySet::UseLevel => x.max(y),
        _ => x.plus(y),
    };
    let reads = a.reads.with(b.reads);
    Some(NodeVerdict::Bounded(Loss::new(sum, true, set, reads)))
}
