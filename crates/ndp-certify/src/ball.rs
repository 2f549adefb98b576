//! The nodes that matter: those from which a message can reach the observer in time.

use ndp_graph::Graph;
use ndp_numeric::casts::id;

/// A set of nodes, numbered within the set in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ball {
    nodes: Vec<usize>,
    /// Number of every node of the graph within the ball, or [`OUTSIDE`].
    local: Vec<u32>,
}

impl Ball {
    fn new(inside: &[bool]) -> Self {
        let nodes: Vec<usize> = (0..inside.len()).filter(|&u| inside[u]).collect();
        let mut local = vec![OUTSIDE; inside.len()];
        for (k, &u) in nodes.iter().enumerate() {
            local[u] = id(k);
        }
        Self { nodes, local }
    }

    /// The nodes within `hops` of `members`, members included.
    pub fn around(graph: &Graph, members: &[usize], hops: usize) -> Self {
        let mut inside = vec![false; graph.node_count()];
        let mut frontier = members.to_vec();
        frontier.iter().for_each(|&v| inside[v] = true);
        for _ in 0..hops {
            if frontier.is_empty() {
                break;
            }
            let around = frontier.iter().flat_map(|&v| graph.neighbors(v)).map(|&w| w as usize);
            frontier = around.filter(|&w| !std::mem::replace(&mut inside[w], true)).collect();
        }
        Self::new(&inside)
    }

    /// The nodes whose initial state enters one of the given messages; a message is a step and a sender.
    /// `peers` gives the nodes that a node meets in a step.
    pub fn before(
        nodes: usize,
        steps: usize,
        peers: impl Fn(usize, usize) -> Vec<usize>,
        messages: impl DoubleEndedIterator<Item = (usize, usize)>,
    ) -> Self {
        let mut inside = vec![false; nodes];
        let mut messages = messages.rev().peekable();
        for step in (0..steps).rev() {
            // Going back through the steps, add the peers of each step, then the senders of messages before
            // it.
            let reached: Vec<usize> = (0..inside.len()).filter(|&u| inside[u]).collect();
            for u in reached {
                peers(step, u).into_iter().for_each(|w| inside[w] = true);
            }
            while let Some((_, sender)) = messages.next_if(|&(at, _)| at >= step) {
                inside[sender] = true;
            }
        }
        Self::new(&inside)
    }

    /// The nodes, ascending.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "whoever needs that asks for the nodes")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Number of nodes of the whole graph.
    pub(crate) fn graph_size(&self) -> usize {
        self.local.len()
    }

    /// The number of node `u` within the ball, if it is inside.
    pub fn local(&self, u: usize) -> Option<usize> {
        Some(self.local[u]).filter(|&k| k != OUTSIDE).map(|k| k as usize)
    }

    /// The numbers within the ball of nodes that are all inside.
    pub fn locals(&self, nodes: &[usize]) -> Vec<usize> {
        nodes.iter().filter_map(|&u| self.local(u)).collect()
    }
}

const OUTSIDE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::{GossipSequence, generators};

    #[test]
    fn balls_grow_with_the_rounds() -> Result<(), ndp_graph::Error> {
        let path = generators::path_graph(7)?;
        assert_eq!(Ball::around(&path, &[3], 0).nodes(), [3]);
        assert_eq!(Ball::around(&path, &[3], 2).nodes(), [1, 2, 3, 4, 5]);
        assert_eq!(Ball::around(&path, &[0, 6], 1).nodes(), [0, 1, 5, 6]);
        let ball = Ball::around(&path, &[6], 2);
        assert_eq!((ball.local(4), ball.local(3), ball.graph_size()), (Some(0), None, 7));
        // Edges 0-1, then 1-2, then 3-4, then 2-3 ring. Node 3 hears of 0 when 2-3 rings; 4 has heard of 3
        // only.
        let steps = [(0, 1), (1, 2), (3, 4), (2, 3)];
        let sequence = GossipSequence::given_activations(&path, &steps)?;
        let before = |message: (usize, usize)| {
            let peers = |step: usize, u: usize| sequence.steps()[step].peers(u);
            Ball::before(7, sequence.steps().len(), peers, [message].into_iter())
        };
        assert_eq!(before((3, 2)).nodes(), [0, 1, 2]);
        assert_eq!(before((2, 3)).nodes(), [3]);
        Ok(())
    }
}
