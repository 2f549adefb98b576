//! Who hears which messages.

use super::messages::{neighbors, senders};
use super::{MessageNoise, Mixing, Part, Round, VectorProgram};
use ndp_account::{Error, OwnNoise};
use ndp_graph::{GossipMatrix, Step};
use std::sync::Arc;

/// The messages of a round: for each, the sender and the index of its noise among the noises of the round.
pub(super) type Messages = Arc<Vec<(usize, usize)>>;

/// Who listens.
#[derive(Clone, Copy, Debug)]
enum Who<'e> {
    /// Nodes, ascending, and those among them whose noise is known: they hear what all others send to them.
    Nodes(&'e [usize], &'e [usize]),
    /// An outsider who overhears edges, each from its first node to its second.
    Taps(&'e [(usize, usize)]),
}

/// A listener, who keeps the messages of a matrix in case that it is used again.
pub(super) struct Listener<'e> {
    who: Who<'e>,
    before: Option<(*const GossipMatrix, Messages)>,
    /// A node whose value after the first noise is also heard.
    pub(super) start: Option<usize>,
}

impl<'e> Listener<'e> {
    /// Nodes, ascending, and those among them whose noise is known.
    pub(super) fn nodes(coalition: &'e [usize], known: &'e [usize]) -> Self {
        Self { who: Who::Nodes(coalition, known), before: None, start: None }
    }

    /// An outsider who overhears edges.
    pub(super) fn taps(edges: &'e [(usize, usize)]) -> Self {
        Self { who: Who::Taps(edges), before: None, start: None }
    }

    /// What is heard in a round, in the order of the rows of the view.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if nodes hear messages without the noise that outsiders hear;
    /// [`ndp_graph::Error::NotAnEdge`].
    pub(super) fn hears(&mut self, round: &Round<'_>) -> Result<Messages, Error> {
        let plain = |senders: Vec<usize>| Arc::new(senders.into_iter().map(|w| (w, w)).collect());
        match (round, self.who) {
            (Round::Matrix(mixing, _), who) => {
                if let Some((_, messages)) =
                    self.before.as_ref().filter(|(m, _)| std::ptr::eq(*m, mixing.matrix))
                {
                    return Ok(messages.clone());
                }
                let found = Arc::new(match who {
                    Who::Nodes(coalition, known) => of_nodes(mixing, coalition, known)?,
                    Who::Taps(edges) => of_taps(mixing, edges),
                });
                self.before = Some((mixing.matrix, found.clone()));
                Ok(found)
            }
            (Round::Step(step), Who::Nodes(coalition, known)) => Ok(plain(senders(step, coalition, known))),
            (Round::Ring { ring, .. }, Who::Nodes(coalition, known)) => {
                Ok(plain(senders(&Step::Pair(ring.edge.0, ring.edge.1), coalition, known)))
            }
            (Round::Step(_) | Round::Ring { .. }, Who::Taps(_)) => Err(NO_TAPS),
        }
    }
}

/// The messages that nodes hear in a round: sender, and noise within the round.
fn of_nodes(mixing: &Mixing<'_>, coalition: &[usize], known: &[usize]) -> Result<Vec<(usize, usize)>, Error> {
    let among = |nodes: &[usize], v: usize| nodes.binary_search(&v).is_ok();
    match mixing.noise {
        Some((MessageNoise::PerLink, _)) => {
            let into = mixing.links().filter(|&(a, w, _, _)| among(coalition, a) && !among(known, w));
            Ok(into.map(|(_, w, _, k)| (w, k)).collect())
        }
        None | Some((MessageNoise::Broadcast, _)) => {
            let senders = neighbors(mixing.matrix.graph(), coalition, known);
            Ok(senders.into_iter().map(|w| (w, w)).collect())
        }
        Some((MessageNoise::Overheard, _)) => Err(Error::NotOffered(
            "noise on what is overheard protects against an outsider who taps edges: the nodes themselves average clean \
             messages, which is plain gossip",
        )),
    }
}

/// What is overheard on edges: sender, and noise within the round. A message with the same noise on two edges
/// counts once. So does a message without a noise of its own, which shows the value of its sender.
fn of_taps(mixing: &Mixing<'_>, tapped: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut heard: Vec<(usize, usize)> = match mixing.noise {
        Some((MessageNoise::PerLink, _)) => {
            let on = mixing.links().filter(|&(a, w, _, _)| tapped.contains(&(w, a)));
            on.map(|(_, w, _, k)| (w, k)).collect()
        }
        None | Some((MessageNoise::Broadcast | MessageNoise::Overheard, _)) => {
            tapped.iter().map(|&(w, _)| (w, w)).collect()
        }
    };
    heard.sort_unstable();
    heard.dedup();
    heard
}

impl VectorProgram<'_> {
    /// Checks that this listener may hear the messages, whether or not there are any.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if nodes hear messages without the noise that outsiders hear.
    pub(super) fn refuse_what_is_clean(&self, listener: &mut Listener<'_>) -> Result<(), Error> {
        self.mixing().map_or(Ok(()), |mixing| listener.hears(&Round::Matrix(mixing, true)).map(drop))
    }

    /// The members whose noise is known.
    pub(super) fn known<'e>(&self, coalition: &'e [usize]) -> &'e [usize] {
        if self.own_noise == OwnNoise::Known { coalition } else { &[] }
    }

    /// The noises that these nodes drew, as ascending columns of the view. Noises have columns in order of
    /// time: `n` for the noises that nodes add, and one for each noise of the messages of a round.
    pub(crate) fn drawn_by(&self, nodes: &[usize]) -> Vec<usize> {
        let (mut first, mut drawn) = (0, Vec::new());
        if nodes.is_empty() {
            return drawn;
        }
        for part in &self.parts {
            match part {
                Part::Noise(_) => {
                    drawn.extend(nodes.iter().map(|v| first + v));
                    first += self.nodes;
                }
                Part::Rounds { mixing, times } if mixing.noise.is_some() => {
                    let mine = drawn_in_round(mixing, nodes);
                    for _ in 0..*times {
                        drawn.extend(mine.iter().map(|k| first + k));
                        first += mixing.noises();
                    }
                }
                _ => {}
            }
        }
        drawn
    }
}

/// The noises of messages that these nodes draw in a round.
pub(super) fn drawn_in_round(mixing: &Mixing<'_>, nodes: &[usize]) -> Vec<usize> {
    match mixing.noise {
        Some((MessageNoise::Broadcast, _)) => nodes.to_vec(),
        Some((MessageNoise::PerLink, _)) => {
            let own = mixing.links().filter(|(_, w, _, _)| nodes.binary_search(w).is_ok());
            own.map(|(_, _, _, k)| k).collect()
        }
        // The noise of an overheard line is drawn by no node.
        Some((MessageNoise::Overheard, _)) | None => Vec::new(),
    }
}

/// The refusal of overheard edges.
pub(super) const NO_TAPS: Error =
    Error::NotOffered("this protocol has no account of overheard edges: state it as a program");
