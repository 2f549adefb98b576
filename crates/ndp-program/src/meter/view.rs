//! Who runs a meter, and what the meter may then claim.

use crate::ProgramError;
use crate::build::{Event, Program, Seeing, Value};
use crate::registers::Definition;
use ndp_account::{NodeNames, Observer, RestsOn};
use serde::{Deserialize, Serialize};

/// Who runs a meter: the assumptions depend on what the one who feeds it knows.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::SensitivitySet;
/// use ndp_program::meter::{Meter, PointOfView};
/// // Node 0 trusts nobody: it counts what all others together learn about it.
/// let others = Observer::coalition(&[1, 2]);
/// let meter = Meter::new(3, [others], SensitivitySet::UseLevel)?.seen_by(PointOfView::OwnMessages { node: 0 })?;
/// assert!(meter.rests_on().contains(&ndp_account::RestsOn::OthersTogether));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PointOfView {
    /// A simulation or a coordinator that knows all events.
    #[default]
    Coordinator,
    /// A node that knows the public schedule: who sends what to whom, weights and variances.
    PublicSchedule {
        /// The node.
        node: usize,
    },
    /// A node that knows only its own messages and noises, and counts all other nodes as one coalition, to
    /// which it shows what it received. A noise that it does not hold alone does not protect it.
    OwnMessages {
        /// The node.
        node: usize,
    },
}

impl PointOfView {
    pub(super) fn check<'a>(
        &self,
        nodes: usize,
        mut observers: impl ExactSizeIterator<Item = &'a Observer>,
    ) -> Result<(), ProgramError> {
        let (Self::PublicSchedule { node } | Self::OwnMessages { node }) = *self else { return Ok(()) };
        if node >= nodes {
            return Err(ProgramError::NodeOutOfRange { node, nodes });
        }
        let all_others = |observer: &Observer| (0..nodes).all(|u| observer.contains(u) != (u == node));
        let alone = observers.len() == 1 && observers.next().is_some_and(all_others);
        match self {
            Self::OwnMessages { .. } if !alone => Err(ProgramError::OtherView(node)),
            _ => Ok(()),
        }
    }

    /// Another point of view on a log, from a word: `coordinator`, `schedule:NAME`, `own:NAME`.
    ///
    /// A log of all events contains what a single node knows, but not the other way round.
    pub(super) fn narrowed(&self, word: &str, names: &NodeNames) -> Result<Self, ProgramError> {
        let node = |name: &str| {
            let found = (0..names.count()).find(|&u| names.name(u).is_some_and(|known| known == name));
            found.ok_or_else(|| ProgramError::Log(format!("it knows no node {name}")))
        };
        let asked = match word.split_once(':') {
            None if word == "coordinator" => Self::Coordinator,
            Some(("schedule", name)) => Self::PublicSchedule { node: node(name)? },
            Some(("own", name)) => Self::OwnMessages { node: node(name)? },
            _ => {
                let known = "coordinator, schedule:NODE, own:NODE";
                return Err(ProgramError::Syntax(format!("{word:?} is no point of view: {known}")));
            }
        };
        match (self, &asked) {
            (Self::Coordinator, _) => Ok(asked),
            (Self::PublicSchedule { node: a }, Self::OwnMessages { node: b }) if a == b => Ok(asked),
            (told, asked) if told == asked => Ok(asked.clone()),
            _ => Err(ProgramError::Log("who wrote it knew less than this point of view takes".to_owned())),
        }
    }

    /// The observers for this point of view; `None` if they can be chosen freely.
    pub(super) fn observers(&self, nodes: usize) -> Option<Vec<Observer>> {
        match *self {
            Self::OwnMessages { node } => {
                let others: Vec<usize> = (0..nodes).filter(|&u| u != node).collect();
                Some(vec![Observer::coalition(&others)])
            }
            Self::Coordinator | Self::PublicSchedule { .. } => None,
        }
    }

    /// The assumptions that numbers rest on for this point of view.
    pub(super) const fn rests_on(&self) -> &'static [RestsOn] {
        match self {
            Self::Coordinator => &[RestsOn::ToldOfAll],
            Self::PublicSchedule { .. } => &[RestsOn::Schedule],
            Self::OwnMessages { .. } => &[RestsOn::OthersTogether, RestsOn::OwnMessages],
        }
    }
}

impl Program {
    /// Noises that nobody holds, such as a dealer's, are revealed to the other nodes by the first message
    /// after event `from`: a node that trusts nobody does not trust the dealer. So are the secure sums that
    /// the node receives, which the others may know from it. Whether anything was revealed.
    pub(super) fn distrust(&mut self, node: usize, from: usize) -> bool {
        let is_message = |event: &&Event| !matches!(event.seeing, Seeing::Held { .. });
        if !self.events[from..].iter().any(|event| is_message(&event)) {
            return false;
        }
        let Some(by) = (0..self.nodes).find(|&u| u != node) else { return false };
        // Earlier noises were handled at the last message.
        let last = self.events[..from].iter().rev().find(is_message).map_or(0, |event| event.moment);
        let new = self.noises.iter().rev().map(|noise| noise.value);
        let new = new.take_while(|&value| last == 0 || self.moments[value] > last);
        let unheld = new.filter(|&value| !self.is_held(value));
        let received = self.events[from..].iter().filter_map(|event| match event.seeing {
            Seeing::SecureSum { to, .. } if to == node => Some(event.value),
            _ => None,
        });
        let revealed: Vec<usize> = unheld.chain(received).collect();
        let some = !revealed.is_empty();
        // The values of a program have numbers of 32 bits.
        for value in revealed.into_iter().filter_map(|value| u32::try_from(value).ok()) {
            self.see(Value(value), Seeing::Held { by });
        }
        some
    }

    /// Whether a value is a noise that a node holds, or is not a noise.
    pub(super) fn is_held(&self, value: usize) -> bool {
        let noise = matches!(self.values[value], Definition::Noise(_));
        let later = || self.events.iter().rev().take_while(|event| event.moment > self.moments[value]);
        !noise || later().any(|event| event.value == value && matches!(event.seeing, Seeing::Held { .. }))
    }
}
