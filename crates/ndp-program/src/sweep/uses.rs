//! The uses on a tape, grouped by node, and the buffer of their coefficients.

use super::tape::{Lane, Tape};
use crate::build::Program;
use crate::columns::Direction;
use crate::options::AccountOptions;
use crate::weight::float;

/// The uses of one node in the order of the buffer, and the directions that are asked about.
pub(super) struct Node<'a> {
    pub(super) node: usize,
    /// The places of its uses in the buffer.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) directions: Vec<(&'a Direction, Vec<f64>)>,
    /// Whether all entries of its Gram matrix are kept.
    pub(super) whole: bool,
}

/// The uses on the tape, grouped by node.
pub(super) struct Uses<'a> {
    /// The contribution at every place of the buffer.
    pub(super) contributions: Vec<usize>,
    /// The place in the buffer of every use on the tape; `u32::MAX` for nodes that are not asked about.
    pub(super) places: Vec<u32>,
    pub(super) nodes: Vec<Node<'a>>,
}

impl<'a> Uses<'a> {
    pub(super) fn new(
        program: &Program,
        tape: &Tape,
        directions: &'a [Direction],
        options: &AccountOptions,
    ) -> Self {
        let asked = options.asked(program);
        let of = |k: usize| (program.contributions[k].node, program.contributions[k].index);
        let mut order: Vec<usize> = (0..tape.uses.len()).filter(|&k| asked[of(tape.uses[k]).0]).collect();
        order.sort_unstable_by_key(|&k| of(tape.uses[k]));
        let mut places = vec![u32::MAX; tape.uses.len()];
        for (at, &k) in (0u32..).zip(&order) {
            places[k] = at;
        }
        let contributions: Vec<usize> = order.into_iter().map(|k| tape.uses[k]).collect();
        let mut nodes: Vec<Node<'a>> = Vec::new();
        for (at, &k) in contributions.iter().enumerate() {
            let node = of(k).0;
            match nodes.last_mut() {
                Some(last) if last.node == node => last.end = at + 1,
                _ => nodes.push(Node { node, start: at, end: at + 1, directions: Vec::new(), whole: true }),
            }
        }
        let whole: usize = nodes.iter().map(|node| (node.end - node.start).pow(2)).sum();
        let whole = options.nodes.is_some() || whole <= MAX_KEPT;
        let mut of_node = vec![usize::MAX; program.node_count()];
        for (at, node) in nodes.iter_mut().enumerate() {
            of_node[node.node] = at;
            node.whole = whole;
        }
        for direction in directions {
            if let Some(node) = nodes.get_mut(of_node[direction.node]) {
                let of_use = |&k: &usize| float(&direction.weights[program.contributions[k].index]);
                let weights = contributions[node.start..node.end].iter().map(of_use).collect();
                node.directions.push((direction, weights));
            }
        }
        Self { contributions, places, nodes }
    }

    /// Keeps the coefficients of a use, which is given by its number on the tape, if its node is asked about.
    pub(super) fn keep(&self, buffer: &mut [Lane], number: usize, lane: Lane) {
        if let Some(to) = buffer.get_mut(self.places[number] as usize) {
            *to = lane;
        }
    }

    /// Calls `each` with the coefficients of a sweep, node by node.
    pub(super) fn each(&self, buffer: &[Lane], mut each: impl FnMut(usize, &Node<'a>, &[Lane])) {
        for (at, node) in self.nodes.iter().enumerate() {
            each(at, node, &buffer[node.start..node.end]);
        }
    }
}

/// The largest number of entries that are kept for all nodes, if none are named.
const MAX_KEPT: usize = 1 << 25;
