//! What an account rests on beside what is computed: declarations and assumptions, as data.
//!
//! Words are made of them in `ndp_report::words`. That a number is about the same set of changes, or rests on
//! the same declarations, is then decided by `==` and not by comparing sentences.

use serde::Serialize;
use std::cmp::Ordering;

/// The set of changes of one node's uses, each of size at most 1: what neighboring inputs are.
///
/// # Examples
/// ```
/// use ndp_account::SensitivitySet;
/// let within = Box::new(SensitivitySet::UseLevel);
/// let bounded = SensitivitySet::Bounded { bounds: vec![1.0, 3.0], within };
/// assert!(bounded == bounded.clone() && bounded != SensitivitySet::UseLevel);
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitivitySet {
    /// One use changes, the others stay.
    UseLevel,
    /// All uses change by the same vector of length at most 1. The most optimistic set: changes may cancel.
    SameDirection,
    /// Use `i` changes by `c_i a` with known `c` and one vector `a` of length at most 1.
    Along(Vec<f64>),
    /// Use `i` changes by any number of size at most 1: data of dimension 1.
    Signs,
    /// Use `i` changes by any vector of length at most 1 in this dimension.
    Vectors {
        /// The dimension, at least 1.
        dimension: usize,
    },
    /// Only the uses of one pattern change, within a set: the largest over all patterns.
    Patterns {
        /// Which uses can belong to one example.
        patterns: Patterns,
        /// How the uses of a pattern change.
        within: Box<SensitivitySet>,
    },
    /// Use `i` changes by `b_i` times what the set allows.
    Bounded {
        /// The bounds, one for each use, nonnegative.
        bounds: Vec<f64>,
        /// The set.
        within: Box<SensitivitySet>,
    },
}

impl SensitivitySet {
    /// Numbers that are the same for the same sets alone, numbers of 64 bits being told apart by their bits.
    fn key(&self) -> Vec<u64> {
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let with = |tag: u64, more: Vec<u64>| [vec![tag, more.len() as u64], more].concat();
        match self {
            Self::UseLevel => vec![0],
            Self::SameDirection => vec![1],
            Self::Along(weights) => with(2, bits(weights)),
            Self::Signs => vec![3],
            Self::Vectors { dimension } => vec![4, *dimension as u64],
            Self::Patterns { patterns, within } => {
                let patterns = match patterns {
                    Patterns::Cyclic { period } => vec![0, *period as u64],
                    Patterns::Separated { gap } => vec![1, *gap as u64],
                    Patterns::Listed(listed) => {
                        let one = |uses: &Vec<usize>| {
                            with(2, uses.iter().map(|&use_number| use_number as u64).collect())
                        };
                        listed.iter().flat_map(one).collect()
                    }
                };
                [with(5, patterns), within.key()].concat()
            }
            Self::Bounded { bounds, within } => [with(6, bits(bounds)), within.key()].concat(),
        }
    }
}

impl PartialEq for SensitivitySet {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for SensitivitySet {}

impl PartialOrd for SensitivitySet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SensitivitySet {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Which uses of a node's data can hold one example.
///
/// # Examples
/// ```
/// use ndp_account::Patterns;
/// // Data in two batches: an example is used in every second step.
/// assert_ne!(Patterns::Cyclic { period: 2 }, Patterns::Separated { gap: 2 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Patterns {
    /// Every `period`-th use, from any of the first `period` on.
    Cyclic {
        /// The period, at least 1.
        period: usize,
    },
    /// Any uses that are at least `gap` apart.
    Separated {
        /// The smallest distance, at least 1.
        gap: usize,
    },
    /// These.
    Listed(Vec<Vec<usize>>),
}

/// What the contributions of a program may depend on, for an observer; it belongs to the grade.
///
/// # Examples
/// ```
/// use ndp_account::Dependence;
/// // Of several, the one on which a number rests most.
/// assert!(Dependence::Assumed > Dependence::Checked);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// They read nothing.
    Fixed,
    /// They read what the observer has seen: checked by the rank of what was seen.
    Checked,
    /// They are declared to read only what the observer has seen, without a list: an assumption.
    Assumed,
    /// They read values that the observer does not see. The account shows it those values: an upper bound.
    Revealed,
}

/// What a contribution is compared with.
///
/// # Examples
/// ```
/// use ndp_account::ComparedWith;
/// assert_ne!(ComparedWith::Another, ComparedWith::Zero);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedWith {
    /// Another contribution, of other data.
    Another,
    /// 0, as if the node had contributed nothing.
    Zero,
}

/// One thing that the numbers of an account or a meter rest on beside what is computed.
///
/// # Examples
/// ```
/// use ndp_account::{Dependence, RestsOn, SensitivitySet};
/// let set = RestsOn::Set(SensitivitySet::Signs);
/// assert_ne!(set, RestsOn::Set(SensitivitySet::SameDirection));
/// // A list of reads that was checked rests on no assumption; a declaration without a list does.
/// assert!(!RestsOn::Reads(Dependence::Checked).is_assumption());
/// assert!(RestsOn::Reads(Dependence::Assumed).is_assumption());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "on", content = "what")]
#[non_exhaustive]
pub enum RestsOn {
    /// What may differ between neighboring inputs, as declared.
    Set(SensitivitySet),
    /// What contributions were taken to depend on.
    Reads(Dependence),
    /// Messages may be lost, and which are lost does not depend on the data.
    Losses,
    /// The meter was told of every event.
    ToldOfAll,
    /// The other nodes keep to the public schedule and draw the noises that it says: honest noise, which the
    /// node that ran the meter did not check.
    Schedule,
    /// All that a node sent and received counts as seen by all other nodes together, whatever they do.
    OthersTogether,
    /// What a node contributes depends on nothing but what it sent and received.
    OwnMessages,
    /// No contribution has a larger norm, and noises are Gaussian and as large as stated.
    Norm {
        /// The largest norm.
        most: Norm,
        /// What a contribution is compared with.
        compared: ComparedWith,
    },
    /// Nodes have what they send, which does not follow from what they were sent.
    Holdings,
    /// Two logs tell of the same run: said by who merged them.
    SameRun,
    /// Two logs tell of separate runs, each with its own noises, and none reads a hidden value of the other:
    /// said by who merged them.
    SeparateRuns,
    /// Each of several logs tells every step of its nodes, and what they received before it was used: said by
    /// who merged them.
    PartsOfOneRun,
}

impl RestsOn {
    /// Whether it is taken for granted: neither checked nor a choice of what the numbers are about.
    #[must_use]
    pub const fn is_assumption(&self) -> bool {
        !matches!(
            self,
            Self::Set(_) | Self::Reads(Dependence::Fixed | Dependence::Checked | Dependence::Revealed)
        )
    }
}

/// The largest norm of a contribution: a positive number.
///
/// # Examples
/// ```
/// use ndp_account::Norm;
/// assert!(Norm::new(0.5) < Norm::new(2.0) && Norm::new(0.5).get() == 0.5);
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct Norm(f64);

impl Norm {
    /// This norm.
    #[must_use]
    pub const fn new(norm: f64) -> Self {
        Self(norm)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Norm {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Norm {}

impl PartialOrd for Norm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Norm {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets that differ in one number, in what lies within, or in the order of patterns differ.
    #[test]
    fn sets_are_told_apart() {
        let boxed = || Box::new(SensitivitySet::UseLevel);
        let listed = |all: &[&[usize]]| SensitivitySet::Patterns {
            patterns: Patterns::Listed(all.iter().map(|uses| uses.to_vec()).collect()),
            within: boxed(),
        };
        let sets = [
            SensitivitySet::UseLevel,
            SensitivitySet::SameDirection,
            SensitivitySet::Signs,
            SensitivitySet::Vectors { dimension: 2 },
            SensitivitySet::Vectors { dimension: 3 },
            SensitivitySet::Along(vec![1.0, 2.0]),
            SensitivitySet::Along(vec![1.0, 2.0f64.next_up()]),
            SensitivitySet::Bounded { bounds: vec![1.0], within: boxed() },
            SensitivitySet::Bounded { bounds: vec![1.0], within: Box::new(SensitivitySet::Signs) },
            SensitivitySet::Bounded { bounds: vec![1.0, 0.0], within: boxed() },
            SensitivitySet::Patterns { patterns: Patterns::Cyclic { period: 2 }, within: boxed() },
            SensitivitySet::Patterns { patterns: Patterns::Separated { gap: 2 }, within: boxed() },
            listed(&[&[0, 1], &[2]]),
            listed(&[&[0], &[1, 2]]),
            listed(&[]),
        ];
        for (i, a) in sets.iter().enumerate() {
            for (j, b) in sets.iter().enumerate() {
                assert_eq!(a == b, i == j, "{a:?} {b:?}");
                assert_eq!(a.cmp(b) == Ordering::Equal, i == j);
            }
        }
    }
}
