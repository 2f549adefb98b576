//! Protocols on vectors: programs in which every value is a vector of one number per node, so that a matrix
//! is kept as an operator, and a round that is repeated is stated once.
//!
//! A [`VectorProgram`] states the same as a [`Program`](crate::Program) in which all nodes perform every
//! step, and [`program`](VectorProgram::program) writes it as one. Everything else follows from this one
//! statement:
//!
//! | question | where |
//! |---|---|
//! | what does a coalition learn? | [`LinearProtocol`](ndp_account::LinearProtocol), from the exact rows (`rows.rs`) |
//! | which engine answers, and why? | [`VectorProgram::engine`] |
//! | what is seen, in floating point? | `coalition_view` (`view.rs`) |
//! | who hears which message? | `heard.rs` |
//! | how is it run? | [`VectorProgram::run`] |
//! | how far from the mean does it end? | [`VectorProgram::mean_squared_error`] |
//! | what is the same program, value by value? | [`VectorProgram::program`] |

pub(crate) mod block;
mod check;
mod engine;
pub(crate) mod error;
mod expand;
mod heard;
pub(crate) mod messages;
mod protocol;
mod rows;
pub(crate) mod run;
pub(crate) mod schedule;
#[cfg(test)]
mod tests;
mod view;

pub use engine::Engine;
pub use run::Transcript;

use ndp_account::{Assumption, OwnNoise, Terms};
use ndp_graph::{GossipMatrix, GossipSequence, Step};
use serde::{Deserialize, Serialize};

/// Which messages carry noise.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// use ndp_program::{MessageNoise, VectorProgram};
/// let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
/// let unit = |kind| -> Result<f64, ndp_account::Error> {
///     let program = VectorProgram::new(6).noise(1.0).noisy_rounds(&matrix, 3, kind, 1.0);
///     Ok(program.coalition_loss(&[0])?.unit(3)?.value().get())
/// };
/// assert!(unit(MessageNoise::Broadcast)? < 1.0 && unit(MessageNoise::PerLink)? < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageNoise {
    /// One noise per node and round, the same for all its neighbors, who average what they receive.
    Broadcast,
    /// An independent noise for every neighbor, who averages what it receives.
    PerLink,
    /// One noise per node and round on what an outsider hears who taps edges. The gossip itself is clean, so
    /// that nodes are refused as observers.
    Overheard,
}

/// An edge that rings, and the time since the previous ring.
///
/// # Examples
/// ```
/// use ndp_program::ActiveEdge;
/// let ring = ActiveEdge { wait: 0.5, edge: (0, 1) };
/// assert_eq!(ring.edge, (0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveEdge {
    /// The time since the previous ring, or since the start.
    pub wait: f64,
    /// The ends of the edge.
    pub edge: (usize, usize),
}

/// A linear Gaussian protocol in which every node has one value, adds noise to it, and averages it with
/// others.
///
/// Parts are added in order of time; the first one is noise. Accelerated rounds, noise on messages and
/// momentum come right after it, as the last part; other rounds and noises may come in any order. Other
/// statements are refused when a question is asked. Before every round all nodes send their values to those
/// they are connected with in the round; nobody receives the final values. Losses are in units of the first
/// noise, whose standard deviation is given with a run: only the ratios of variances matter.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use ndp_program::VectorProgram;
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// // Noise once, then 2⁶² rounds, which are not written out.
/// let muffliato = VectorProgram::new(3).noise(1.0).rounds(&matrix, 1 << 62);
/// assert_eq!(muffliato.coalition_loss(&[2])?.enclosure(0)?, (1.0, 1.0));
/// // With noise in the second round as well, the far end is slightly hidden.
/// let fresh = VectorProgram::new(3).noise(1.0).rounds(&matrix, 1).noise(0.5).rounds(&matrix, 1);
/// assert!(fresh.coalition_loss(&[2])?.unit(0)?.value().get() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorProgram<'a> {
    nodes: usize,
    parts: Vec<Part<'a>>,
    /// Whether observers use the noise that they drew; they do by default.
    pub own_noise: OwnNoise,
    /// A description of where the noise is, if there is a better one than the parts give.
    on: Option<&'static str>,
}

/// A part of the statement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part<'a> {
    /// Every node adds a noise of its own of this variance.
    Noise(f64),
    /// This number of rounds with one matrix.
    Rounds { mixing: Mixing<'a>, times: usize },
    /// One round for each step.
    Changing(&'a GossipSequence),
    /// One round for each ring, with momentum in a second register.
    Rings { rings: &'a [ActiveEdge], rest: f64, momentum: (f64, f64) },
}

/// What the rounds of a part do.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mixing<'a> {
    matrix: &'a GossipMatrix,
    /// The `g` of `x ← g W x + (1 - g) x'`, where `x'` is the state of the previous round, from the second
    /// round of the part on.
    extrapolation: Option<f64>,
    /// Which messages carry noise, and its standard deviation in units of that of the first noise.
    noise: Option<(MessageNoise, f64)>,
}

/// What happens at one point in time.
#[derive(Clone, Copy, Debug)]
enum Moment<'a> {
    /// Every node adds a noise of this variance.
    Noise(f64),
    /// Messages are sent and averaged.
    Round(Round<'a>),
    /// Time passes after the last ring, during which values mix at this rate.
    Rest { wait: f64, mixing: f64 },
}

/// A round.
#[derive(Clone, Copy, Debug)]
enum Round<'a> {
    /// A round with a matrix, and whether it is the first round of its part.
    Matrix(Mixing<'a>, bool),
    /// A step of a sequence.
    Step(&'a Step),
    /// A ring: the rate at which the two values of a node mix, and the factor by which the second is pushed.
    Ring { ring: ActiveEdge, mixing: f64, push: f64 },
}

impl<'a> VectorProgram<'a> {
    /// A protocol with this number of nodes and no parts yet.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self { nodes, parts: Vec::new(), own_noise: OwnNoise::Known, on: None }
    }

    fn then(mut self, part: Part<'a>) -> Self {
        self.parts.push(part);
        self
    }

    /// Every node adds an independent noise of this variance to its value; the first must be positive.
    #[must_use]
    pub fn noise(self, variance: f64) -> Self {
        self.then(Part::Noise(variance))
    }

    /// This number of rounds in which all nodes send their values to their neighbors and take the mean `x ← W
    /// x`. The matrix is kept as it is, and rounds are only counted.
    #[must_use]
    pub fn rounds(self, matrix: &'a GossipMatrix, times: usize) -> Self {
        self.then(Part::Rounds { mixing: Mixing { matrix, extrapolation: None, noise: None }, times })
    }

    /// The same, Chebyshev-accelerated: `x^1 = W x^0`, then `x^{t+1} = g W x^t + (1 - g) x^{t-1}` with this
    /// `g`.
    #[must_use]
    pub fn accelerated_rounds(self, matrix: &'a GossipMatrix, times: usize, g: f64) -> Self {
        self.then(Part::Rounds { mixing: Mixing { matrix, extrapolation: Some(g), noise: None }, times })
    }

    /// The same as [`rounds`](Self::rounds) with noise on every message, `ratio` times that of the values.
    #[must_use]
    pub fn noisy_rounds(
        self,
        matrix: &'a GossipMatrix,
        times: usize,
        noise: MessageNoise,
        ratio: f64,
    ) -> Self {
        let noise = Some((noise, ratio));
        self.then(Part::Rounds { mixing: Mixing { matrix, extrapolation: None, noise }, times })
    }

    /// A round for each step of a sequence, with its connections.
    #[must_use]
    pub fn changing(self, sequence: &'a GossipSequence) -> Self {
        self.then(Part::Changing(sequence))
    }

    /// One round for each ring of an edge, with momentum. Every node has two values, which mix at rate
    /// `momentum.0` as time passes. At a ring, the ends average the first values and push the second ones by
    /// `momentum.1` times the difference. `rest` is the time after the last ring.
    #[must_use]
    pub fn rings(self, rings: &'a [ActiveEdge], rest: f64, momentum: (f64, f64)) -> Self {
        self.then(Part::Rings { rings, rest, momentum })
    }

    /// The same, observed by nodes that use, or ignore, the noise that they drew.
    #[must_use]
    pub fn observed_with(mut self, own_noise: OwnNoise) -> Self {
        self.own_noise = own_noise;
        self
    }

    /// The same stopped after its first round, if it begins with noise followed by a round with one matrix.
    #[doc(hidden)]
    #[must_use]
    pub fn into_first_round(mut self) -> Option<Self> {
        self.parts.truncate(2);
        match &mut self.parts[..] {
            [Part::Noise(_), Part::Rounds { times, .. }] if *times > 0 => *times = 1,
            _ => return None,
        }
        Some(self)
    }

    /// The same with its own description of where the noise is.
    #[doc(hidden)]
    #[must_use]
    pub fn on(self, on: &'static str) -> Self {
        Self { on: Some(on), ..self }
    }

    /// What its numbers mean.
    fn said_terms(&self) -> Terms {
        let on_messages = self.parts.iter().find_map(|part| match part {
            Part::Rounds { mixing, .. } => Some(mixing.noise?.0),
            _ => None,
        });
        let terms = Terms::VALUES.on(self.on.unwrap_or(match (on_messages, self.variances().len()) {
            (Some(MessageNoise::Broadcast), _) => {
                "every value, and ratio times as much on what a node sends in a round, the same to all neighbors"
            }
            (Some(MessageNoise::PerLink), _) => {
                "every value, and ratio times as much on every message, anew for each neighbor"
            }
            (Some(MessageNoise::Overheard), _) => {
                "every value, and ratio times as much on what is overheard of a node in a round, the same on all its edges"
            }
            (None, 0 | 1) => "every value, once",
            (None, _) => "every value in the first round, and as the schedule says in later ones",
        }));
        // The last values are sent to nobody: they would show more than the messages do.
        let terms = terms.trusting(Assumption::NothingPublished);
        let changing = |part: &Part<'_>| matches!(part, Part::Changing(_) | Part::Rings { .. });
        if self.parts.iter().any(changing) { terms.trusting(Assumption::TheseMeetings) } else { terms }
    }

    /// Everything that happens, in order of time; long if there are many rounds.
    fn moments(&self) -> impl Iterator<Item = Moment<'a>> + '_ {
        self.parts.iter().flat_map(|part| -> Box<dyn Iterator<Item = Moment<'a>> + '_> {
            match *part {
                Part::Noise(variance) => Box::new(std::iter::once(Moment::Noise(variance))),
                Part::Rounds { mixing, times } => {
                    Box::new((0..times).map(move |t| Moment::Round(Round::Matrix(mixing, t == 0))))
                }
                Part::Changing(sequence) => {
                    Box::new(sequence.steps().iter().map(|step| Moment::Round(Round::Step(step))))
                }
                Part::Rings { rings, rest, momentum: (mixing, push) } => {
                    let rest = Moment::Rest { wait: rest, mixing };
                    let ring = move |&ring| Moment::Round(Round::Ring { ring, mixing, push });
                    Box::new(rings.iter().map(ring).chain([rest]))
                }
            }
        })
    }

    /// The rounds only.
    fn each_round(&self) -> impl Iterator<Item = Round<'a>> + '_ {
        self.moments().filter_map(|moment| if let Moment::Round(round) = moment { Some(round) } else { None })
    }

    /// The variances of the noises that nodes add, in order of time.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let variance =
            |part: &Part<'_>| if let Part::Noise(variance) = part { Some(*variance) } else { None };
        self.parts.iter().filter_map(variance).collect()
    }

    /// The matrix of all rounds and their number, if there is a single matrix.
    fn same_matrix(&self) -> Option<(&'a GossipMatrix, usize)> {
        let mut found: Option<(&'a GossipMatrix, usize)> = None;
        for part in &self.parts {
            match (*part, found) {
                (Part::Noise(_), _) => {}
                (Part::Rounds { mixing, times }, None) => found = Some((mixing.matrix, times)),
                (Part::Rounds { mixing, times }, Some((matrix, before)))
                    if std::ptr::eq(matrix, mixing.matrix) =>
                {
                    found = Some((matrix, before.saturating_add(times)));
                }
                _ => return None,
            }
        }
        found
    }

    /// Whether messages carry noise, of any size.
    fn has_noisy_messages(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Rounds { mixing, .. } if mixing.noise.is_some()))
    }

    /// Whether some part has momentum, so that there is a second register.
    fn has_momentum(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Rings { .. }))
    }
}

impl Mixing<'_> {
    /// The number of noises of messages that are drawn in a round.
    fn noises(&self) -> usize {
        match self.noise {
            None => 0,
            Some((MessageNoise::PerLink, _)) => 2 * self.matrix.graph().edge_count(),
            Some(_) => self.matrix.node_count(),
        }
    }

    /// Every directed link `w → a`: receiver, sender, weight, and index.
    fn links(&self) -> impl Iterator<Item = (usize, usize, f64, usize)> {
        let graph = self.matrix.graph();
        let ends = (0..graph.node_count()).flat_map(move |a| graph.neighbors(a).iter().map(move |&w| (a, w)));
        ends.enumerate().map(|(k, (a, w))| (a, w as usize, self.matrix.get(a, w as usize), k))
    }
}

impl Round<'_> {
    /// The nodes that exchange values with `v`.
    fn peers(&self, v: usize) -> Vec<usize> {
        match self {
            Self::Matrix(mixing, _) => {
                mixing.matrix.graph().neighbors(v).iter().map(|&w| w as usize).collect()
            }
            Self::Step(step) => step.peers(v),
            Self::Ring { ring, .. } => Step::Pair(ring.edge.0, ring.edge.1).peers(v),
        }
    }
}
