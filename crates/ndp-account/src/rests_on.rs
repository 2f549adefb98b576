//! What an account rests on besides the computation: declarations and assumptions, as data.
//!
//! `ndp_report::words` puts them into words. Because they are data, `==` decides whether two numbers are
//! about the same set of changes or rest on the same declarations; no sentences are compared.

use crate::Assumption;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The set of allowed changes of one node's uses between neighboring inputs; each change has size at most 1.
///
/// # Examples
/// ```
/// use ndp_account::SensitivitySet;
/// let within = Box::new(SensitivitySet::UseLevel);
/// let bounded = SensitivitySet::Bounded { bounds: vec![1.0, 3.0], within };
/// assert!(bounded == bounded.clone() && bounded != SensitivitySet::UseLevel);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitivitySet {
    /// One use changes, the others stay.
    UseLevel,
    /// All uses change by the same vector of length at most 1. Optimistic: changes may cancel.
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
    /// Only the uses in one pattern change; the loss is the largest over all patterns.
    Patterns {
        /// Which uses can belong to one example.
        patterns: Patterns,
        /// How the uses in a pattern may change.
        within: Box<SensitivitySet>,
    },
    /// Use `i` changes by `b_i` times a change that the inner set allows.
    Bounded {
        /// The bounds, one for each use, nonnegative.
        bounds: Vec<f64>,
        /// The inner set.
        within: Box<SensitivitySet>,
    },
}

impl SensitivitySet {
    /// A list of numbers that is equal for equal sets only; floats are compared by their bits.
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

/// The uses of a node's data in which one example can occur.
///
/// # Examples
/// ```
/// use ndp_account::Patterns;
/// // Data in two batches: an example is used in every second step.
/// assert_ne!(Patterns::Cyclic { period: 2 }, Patterns::Separated { gap: 2 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// What the contributions of a program may depend on, as seen by an observer. It belongs beside the grade of
/// a number.
///
/// # Examples
/// ```
/// use ndp_account::Dependence;
/// // What several contributions depend on, together.
/// assert_eq!(Dependence::Checked.with(Dependence::Assumed), Dependence::Assumed);
/// let both = Dependence::Revealed.with(Dependence::Assumed);
/// assert!(both.is_assumed() && both.is_revealed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// They depend on nothing that was received.
    Fixed,
    /// They depend only on what the program says that they read: what the observer has seen, which was
    /// checked by the rank of what it sees, and earlier contributions of the same node.
    Checked,
    /// They are declared to depend only on what the observer has seen, without a list of reads: an
    /// assumption.
    Assumed,
    /// They depend on values that the observer does not see. The account shows these values to the observer,
    /// which gives an upper bound.
    Revealed,
    /// Some are [assumed](Self::Assumed) to depend only on what the observer has seen, and what others depend
    /// on is [revealed](Self::Revealed).
    RevealedAndAssumed,
}

impl Dependence {
    /// What the contributions of both depend on.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self.max(other), self.is_assumed() || other.is_assumed()) {
            (Self::Revealed, true) => Self::RevealedAndAssumed,
            (most, _) => most,
        }
    }

    /// Whether the account shows the observer values that it does not see.
    #[must_use]
    pub const fn is_revealed(self) -> bool {
        matches!(self, Self::Revealed | Self::RevealedAndAssumed)
    }

    /// Whether a contribution is declared without a list of what it reads.
    #[must_use]
    pub const fn is_assumed(self) -> bool {
        matches!(self, Self::Assumed | Self::RevealedAndAssumed)
    }
}

/// What a contribution is compared with.
///
/// # Examples
/// ```
/// use ndp_account::ComparedWith;
/// assert_ne!(ComparedWith::Another, ComparedWith::Zero);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedWith {
    /// Another contribution, computed from other data.
    Another,
    /// 0, as if the node had contributed nothing.
    Zero,
}

/// One thing that the numbers of an account or a meter rest on besides the computation.
///
/// # Examples
/// ```
/// use ndp_account::{Dependence, RestsOn, SensitivitySet};
/// let set = RestsOn::Set(SensitivitySet::Signs);
/// assert_ne!(set, RestsOn::Set(SensitivitySet::SameDirection));
/// assert_ne!(RestsOn::Reads(Dependence::Checked), RestsOn::Reads(Dependence::Assumed));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "on", content = "what")]
#[non_exhaustive]
pub enum RestsOn {
    /// The declared set of changes between neighboring inputs.
    Set(SensitivitySet),
    /// What contributions are taken to depend on.
    Reads(Dependence),
    /// Messages may not reach the observer, and which do depends neither on the data nor on the noises. What
    /// the other nodes compute and send is as if all had arrived.
    Losses,
    /// The meter was told of every event.
    ToldOfAll,
    /// The other nodes keep to the public schedule and draw the noises that it states. The node that ran the
    /// meter did not check this.
    Schedule,
    /// All other nodes together count as having seen everything that the node sent and received.
    OthersTogether,
    /// What a node contributes depends only on what it sent and received.
    OwnMessages,
    /// No contribution has a norm above `most`, and noises are Gaussian with the stated variances.
    Norm {
        /// The largest norm.
        most: Norm,
        /// The other contribution, or 0, with which a contribution is compared.
        compared: ComparedWith,
    },
    /// The loss of every user is convex in the model, with curvatures in this range wherever the model goes,
    /// and steps are no longer than 2 over the largest one: a step brings no two models further apart.
    Objective {
        /// The largest curvature: smoothness.
        smoothness: Norm,
        /// The smallest curvature: strong convexity, 0 for a loss that is merely convex.
        strong_convexity: Norm,
    },
    /// Users are dealt once, at random, into batches, each of which takes part in one round. Nobody learns
    /// who was in which. After every step the model is projected on a ball.
    DealtOnce {
        /// Users in a batch.
        batch: usize,
        /// The factor of a gradient in a step.
        step_size: Norm,
        /// The radius of the ball, in units of the sensitivity.
        radius: Norm,
    },
    /// Nodes hold values that they send, mix, give to a secure sum or end with, and that do not follow from
    /// what they received. Only those that they send count as known to them.
    Holdings,
    /// Two logs describe the same run, according to the person who merged them.
    SameRun,
    /// Two logs describe separate runs, each with its own noises, and neither run reads a hidden value of the
    /// other, according to the person who merged them.
    SeparateRuns,
    /// Each of several logs has every step of its nodes, and what they received before they used it,
    /// according to the person who merged them.
    PartsOfOneRun,
    /// What accounts of the same steps assume as well.
    Assumed(Assumption),
}

impl RestsOn {
    /// What several accounts rest on together. Of what contributions depend on there is one entry, which is
    /// true for all of them.
    #[must_use]
    pub fn together(all: impl IntoIterator<Item = Self>) -> BTreeSet<Self> {
        let (mut reads, mut others) = (None::<Dependence>, BTreeSet::new());
        for one in all {
            match one {
                Self::Reads(these) => reads = Some(reads.map_or(these, |those| those.with(these))),
                other => {
                    others.insert(other);
                }
            }
        }
        others.extend(reads.map(Self::Reads));
        others
    }
}

/// The largest norm of a contribution: a positive number.
///
/// # Examples
/// ```
/// use ndp_account::Norm;
/// assert!(Norm::new(0.5) < Norm::new(2.0) && Norm::new(0.5).get() == 0.5);
/// ```
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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

    /// An assumption about some contributions is not hidden by what is revealed of others, in either order.
    #[test]
    fn dependences_are_joined() {
        use Dependence::{Assumed, Checked, Fixed, Revealed, RevealedAndAssumed};
        let all = [Fixed, Checked, Assumed, Revealed, RevealedAndAssumed];
        for a in all {
            for b in all {
                let both = a.with(b);
                assert_eq!(both, b.with(a), "{a:?} {b:?}");
                assert_eq!(both.is_assumed(), a.is_assumed() || b.is_assumed(), "{a:?} {b:?}");
                assert_eq!(both.is_revealed(), a.is_revealed() || b.is_revealed(), "{a:?} {b:?}");
                assert_eq!(both == Fixed, (a, b) == (Fixed, Fixed));
            }
            assert_eq!(
                RestsOn::together([RestsOn::Reads(a), RestsOn::Reads(Fixed)]),
                [RestsOn::Reads(a)].into()
            );
        }
        let (norm, lost) = (RestsOn::Holdings, RestsOn::Losses);
        let joined = RestsOn::together([
            norm.clone(),
            RestsOn::Reads(Revealed),
            lost.clone(),
            RestsOn::Reads(Assumed),
        ]);
        assert_eq!(joined, [norm, lost, RestsOn::Reads(RevealedAndAssumed)].into());
    }

    /// Sets differ if one number, the inner set or the order of patterns differs.
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
