//! What the coordinates of rows stand for, and rows in floating point.

use super::field::Fingerprint;
use ndarray::Array2;

/// What the coordinates of a view stand for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Number of nodes of the protocol.
    pub(crate) nodes: usize,
    /// Number of coordinates.
    pub(crate) coordinates: usize,
    /// How many of them, the first, are noises.
    pub(crate) noises: usize,
    /// Variance of every noise, in coordinates that are scaled so that it lies in `(1/4, 1]`; empty stands for variance 1.
    pub(crate) variances: Vec<f64>,
    /// The inputs that are accounted for.
    pub(crate) inputs: Vec<Input>,
    /// Nodes whose inputs may leak: what members reveal to themselves.
    pub(crate) members: Vec<usize>,
    /// Noises that the observer knows, which have no coordinate (they count in the rank).
    pub(crate) known: usize,
    /// Whether every coordinate is an input with a noise of variance 1, so that all losses add up to the rank.
    pub(crate) adds_up: bool,
}

/// An input of the protocol and the coordinate that holds its coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Input {
    /// The node.
    pub(crate) node: usize,
    /// The coordinate.
    pub(crate) coordinate: usize,
    /// The unit loss is this factor times `2^scale` times the squared coefficients of an orthonormal basis.
    pub(crate) factor: f64,
    pub(crate) scale: i64,
    /// What the loss never exceeds, known without numerics.
    pub(crate) structural: Option<f64>,
}

impl Layout {
    /// One noise of variance 1 for every input, on the given nodes, of which each is accounted for.
    pub(crate) fn of_equal_columns(nodes: usize, inside: &[usize]) -> Self {
        let input =
            |(coordinate, &node)| Input { node, coordinate, factor: 1.0, scale: 0, structural: Some(1.0) };
        Self {
            nodes,
            coordinates: inside.len(),
            noises: inside.len(),
            variances: Vec::new(),
            inputs: inside.iter().enumerate().map(input).collect(),
            members: Vec::new(),
            known: 0,
            adds_up: true,
        }
    }

    /// Whether every input has a noise with an equal column, so that nothing leaks.
    pub(crate) fn leaks_nothing(&self) -> bool {
        self.inputs.iter().all(|input| input.coordinate < self.noises)
    }

    pub(super) fn fingerprint(&self, to: &mut Fingerprint) {
        to.number(self.nodes as u64);
        to.number(self.coordinates as u64);
        to.number(self.noises as u64);
        to.floats(self.variances.iter());
        to.numbers(self.inputs.iter().map(|input| input.node as u64));
        to.numbers(self.inputs.iter().map(|input| input.coordinate as u64));
    }
}

/// Rows in floating point, and at most how far each is from the exact one in norm.
pub(crate) struct FloatRows {
    pub(crate) rows: Array2<f64>,
    pub(crate) errors: Vec<f64>,
}
