//! What the coordinates of rows stand for, and rows in floating point.

use crate::field::Fingerprint;
use ndarray::{Array2, ArrayView2, CowArray, Ix2};
use std::ops::Range;

/// What the coordinates of a view stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Number of nodes of the protocol.
    pub nodes: usize,
    /// Number of coordinates.
    pub coordinates: usize,
    /// How many of the coordinates are noises; these come first.
    pub noises: usize,
    /// Variance of every noise, after its coordinate was scaled so that the variance lies in `(1/4, 1]`; an
    /// empty list stands for variance 1 everywhere.
    pub variances: Vec<f64>,
    /// The inputs that are accounted for.
    pub inputs: Vec<Input>,
    /// Nodes whose inputs may leak, because members learn them from themselves.
    pub members: Vec<usize>,
    /// Number of noises that the observer knows; they have no coordinate but count towards the rank.
    pub known: usize,
    /// Whether every coordinate is an input with a noise of variance 1, so that all losses add up to the
    /// rank.
    pub adds_up: bool,
}

/// An input of the protocol and the coordinate that holds its coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// The node.
    pub node: usize,
    /// The coordinate.
    pub coordinate: usize,
    /// The unit loss is this factor times `2^scale` times the squared coefficients of an orthonormal basis.
    pub factor: f64,
    /// A power of 2, see `factor`.
    pub scale: i64,
    /// An upper bound on the loss that is known without computing it.
    pub structural: Option<f64>,
}

impl Layout {
    /// Gives every input one noise of variance 1, on the given nodes, all of which are accounted for.
    pub fn of_equal_columns(nodes: usize, inside: &[usize]) -> Self {
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

    /// Columns of the given noises, each times the variance of its noise.
    pub(crate) fn weighted<'b>(
        &self,
        noises: Range<usize>,
        columns: ArrayView2<'b, f64>,
    ) -> CowArray<'b, f64, Ix2> {
        let Some(variances) = self.variances.get(noises).filter(|some| !some.is_empty()) else {
            return columns.into();
        };
        let mut weighted = columns.to_owned();
        for mut row in weighted.rows_mut() {
            row.iter_mut().zip(variances).for_each(|(x, v)| *x *= v);
        }
        weighted.into()
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

/// Rows in floating point, and a bound on the distance of each from the exact one, in norm.
pub struct FloatRows {
    /// A row for each message, over the coordinates.
    pub rows: Array2<f64>,
    /// An upper bound on the distance of each row from the exact one, in norm.
    pub errors: Vec<f64>,
}

pub(crate) fn bytes(rows: usize, columns: usize, each: u64) -> u64 {
    (rows as u64).saturating_mul(columns as u64).saturating_mul(each)
}

/// The power of two by which a row of `entries` numbers below 1 is scaled down so that its length is at most
/// 64. What is subtracted from one coordinate may be as large as the length of the row, and the format holds
/// numbers below 128.
pub(crate) fn room(entries: usize) -> i64 {
    let bits = i64::from(entries.max(1).next_power_of_two().ilog2());
    if bits > 12 { bits.div_euclid(2) - 5 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of this many numbers below 1, times the power, is no longer than 64, and is not scaled without
    /// need.
    #[test]
    fn rows_of_any_length_fit_into_the_format() {
        for bits in 0..40 {
            for entries in [1_usize << bits, (1_usize << bits) + 1] {
                let length =
                    (entries as f64).sqrt() * 2f64.powi(-i32::try_from(room(entries)).expect("small"));
                assert!(length <= 64.0, "{entries}: {length}");
                assert!(room(entries) == 0 || length > 16.0, "{entries}: {length}");
            }
        }
    }

    #[test]
    fn primes_are_drawn_from_the_number_of_nodes_too() {
        let prime = |nodes| {
            let mut to = Fingerprint::new("a test");
            Layout::of_equal_columns(nodes, &[0, 1]).fingerprint(&mut to);
            to.finish().draw(&[])
        };
        assert_ne!(prime(3), prime(4));
    }
}
