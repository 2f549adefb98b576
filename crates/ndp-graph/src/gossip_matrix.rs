//! Gossip matrices: symmetric, doubly stochastic, supported on the edges and the diagonal.

pub use crate::weights::Weights;

use crate::csr::{Csr, accurate_sum, require_stochastic};
use crate::error::ensure;
use crate::{Error, Graph};
use ndarray::{Array2, ArrayView2};
use ndp_numeric::casts::id;

/// Parses the word that `Display` writes.
impl std::str::FromStr for Weights {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        [Self::Metropolis, Self::MaxDegree, Self::SumDegree, Self::Regular, Self::Given]
            .into_iter()
            .find(|weights| weights.as_str() == word)
            .ok_or_else(|| Error::UnknownName { what: "choice of weights", name: word.to_owned() })
    }
}

/// A gossip matrix `W`: symmetric, entries nonnegative, rows summing to 1 (of given entries within 1e-12),
/// supported on the edges of a graph and the diagonal.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let path = path_graph(3)?;
/// let metropolis = GossipMatrix::metropolis(&path);
/// assert_eq!(metropolis.get(0, 1), 1.0 / 3.0);
/// let given = GossipMatrix::from_edge_weights(&path, |u, v| if u.max(v) == 2 { 0.25 } else { 0.5 })?;
/// assert_eq!((given.get(1, 2), given.get(2, 2)), (0.25, 0.75));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GossipMatrix {
    graph: Graph,
    matrix: Csr,
    weights: Weights,
    /// Shares of the identity, in the order in which they were taken; empty for a matrix that is not lazy.
    shares: Vec<f64>,
}

impl GossipMatrix {
    /// `W[u][v] = 1 / (max(d_u, d_v) + 1)` on every edge, the rest on the diagonal.
    #[must_use]
    pub fn metropolis(graph: &Graph) -> Self {
        Self::by_degrees(graph, Weights::Metropolis)
    }

    /// The matrix that a weight rule gives this graph: the weights of [`Weights`] on the edges, and on the
    /// diagonal what they leave of 1.
    ///
    /// # Errors
    /// For [`Weights::Regular`], [`Error::InvalidParameter`] if the graph has no edges, or naming the first
    /// degree that differs from that of node 0. [`Error::UnknownName`] for [`Weights::Given`], which is not a
    /// rule. None for the others.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::cycle_graph, gossip_matrix::Weights};
    /// let walk = GossipMatrix::new(&cycle_graph(4)?, Weights::Regular)?;
    /// assert_eq!([walk.get(0, 0), walk.get(0, 1), walk.get(0, 2)], [0.0, 0.5, 0.0]);
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    pub fn new(graph: &Graph, weights: Weights) -> Result<Self, Error> {
        match weights {
            Weights::Metropolis | Weights::MaxDegree | Weights::SumDegree => {
                Ok(Self::by_degrees(graph, weights))
            }
            Weights::Regular => {
                require_regular(graph)?;
                Ok(Self::by_degrees(graph, weights))
            }
            Weights::Given => {
                Err(Error::UnknownName { what: "rule of weights", name: weights.as_str().to_owned() })
            }
        }
    }

    /// `(1 - laziness) W + laziness I`, where `laziness` is exactly the number stored: shares are never added
    /// up and rounded, see [`Self::shares`].
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `laziness` lies in `[0, 1)`, and if a weight would become too small
    /// for a normal number.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// // Twice almost everything: what is left of 1 is no longer seen beside 1, but every message still moves something.
    /// let still = GossipMatrix::metropolis(&path_graph(3)?).lazy(1.0 - 1e-10)?.lazy(1.0 - 1e-10)?;
    /// assert_eq!((still.shares().len(), still.get(1, 1)), (2, 1.0));
    /// assert!(still.get(0, 1) > 3e-21);
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    pub fn lazy(&self, laziness: f64) -> Result<Self, Error> {
        ensure((0.0..1.0).contains(&laziness), "laziness", "lie in [0, 1)", laziness)?;
        if laziness == 0.0 {
            return Ok(self.clone());
        }
        let rows = (0..self.node_count()).map(|u| {
            let (columns, weights) = self.matrix.row(u);
            columns
                .iter()
                .zip(weights)
                .map(move |(&v, &w)| (v, (1.0 - laziness) * w + if v as usize == u { laziness } else { 0.0 }))
        });
        let matrix = Csr::from_rows(self.node_count(), rows);
        // A weight that rounds to 0 would describe another protocol.
        let lost =
            |(&before, &after): (&f64, &f64)| after < f64::MIN_POSITIVE && before > 0.0 && before != after;
        let kept = !self.matrix.parts().2.iter().zip(matrix.parts().2).any(lost);
        ensure(kept, "laziness", "leave every weight a normal number", laziness)?;
        let shares = self.shares.iter().copied().chain([laziness]).collect();
        Ok(Self { graph: self.graph.clone(), matrix, weights: self.weights, shares })
    }

    /// A given matrix, `n` by `n`, checked against the graph. Two transposed entries that differ by rounding
    /// are replaced by their mean, negative ones down to `-1e-15` by 0.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::InvalidWeight`] (below `-1e-15`), [`Error::OffSupport`],
    /// [`Error::NotSymmetric`] (beyond `1e-12`), [`Error::NotStochastic`] (beyond `1e-12`).
    pub fn from_dense(graph: &Graph, matrix: ArrayView2<'_, f64>) -> Result<Self, Error> {
        let n = graph.node_count();
        for got in [matrix.nrows(), matrix.ncols()] {
            if got != n {
                return Err(Error::Shape { what: "side of the gossip matrix", expected: n, got });
            }
        }
        let mut rows = Vec::with_capacity(n);
        for u in 0..n {
            let mut row = Vec::with_capacity(graph.degree(u) + 1);
            for v in 0..n {
                let value = matrix[(u, v)];
                nonnegative(value, u, v)?;
                let on_support = u == v || graph.has_edge(u, v);
                if !on_support && value != 0.0 {
                    return Err(Error::OffSupport { row: u, column: v, value });
                }
                let mean = mean_of_transposed(value, matrix[(v, u)], u, v)?;
                if on_support {
                    row.push((id(v), mean));
                }
            }
            require_stochastic(u, row.iter().map(|&(_, w)| w))?;
            rows.push(row);
        }
        Ok(Self::of_rows(graph, rows, Weights::Given))
    }

    /// `W[u][v] = weight(u, v)` on every edge, called once per edge with `u < v`; what is left of 1 goes on
    /// the diagonal.
    ///
    /// # Errors
    /// [`Error::InvalidWeight`] naming a weight that is negative (below `-1e-15`), infinite or NaN, or the
    /// diagonal entry of a node whose edges weigh more than 1.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// let w = GossipMatrix::from_edge_weights(&path_graph(3)?, |u, _| if u == 0 { 0.25 } else { 0.5 })?;
    /// assert_eq!([w.get(1, 0), w.get(1, 1), w.get(1, 2)], [0.25, 0.25, 0.5]);
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    pub fn from_edge_weights(graph: &Graph, weight: impl Fn(usize, usize) -> f64) -> Result<Self, Error> {
        let n = graph.node_count();
        let mut rows = Vec::with_capacity(n);
        for u in 0..n {
            let mut row = Vec::with_capacity(graph.degree(u) + 1);
            for &v in graph.neighbors(u) {
                let value = weight(u.min(v as usize), u.max(v as usize));
                row.push((v, nonnegative(value, u, v as usize)?));
            }
            let diagonal = 1.0 - accurate_sum(row.iter().map(|&(_, w)| w));
            let diagonal = if diagonal.abs() < TINY { 0.0 } else { nonnegative(diagonal, u, u)? };
            insert_diagonal(&mut row, u, diagonal);
            rows.push(row);
        }
        Ok(Self::of_rows(graph, rows, Weights::Given))
    }

    /// The matrix of a file, which leaves out the entries if name and graph determine them. Named weights are
    /// computed from the name: the entries of the file are only compared with them.
    ///
    /// # Errors
    /// Those of [`Self::from_dense`] for given entries, [`Error::NotItsWeights`] if the entries differ from
    /// those of the named weights (beyond the rounding of a lazy matrix), [`Error::Shape`] when there are too
    /// few or none; those of [`Self::lazy`].
    pub(crate) fn from_parts(
        graph: &Graph,
        weights: Weights,
        shares: &[f64],
        given: Option<Vec<Vec<(u32, f64)>>>,
    ) -> Result<Self, Error> {
        let named = match weights {
            Weights::Given => None,
            rule => {
                let plain = Self::new(graph, rule)?;
                Some(shares.iter().try_fold(plain, |matrix, &laziness| matrix.lazy(laziness))?)
            }
        };
        let Some(rows) = given else {
            return match named {
                Some(named) if named.shares.is_empty() => Ok(named),
                _ => Err(Error::Shape { what: "rows of entries", expected: graph.node_count(), got: 0 }),
            };
        };
        for &share in shares {
            ensure((0.0..1.0).contains(&share), "laziness", "lie in [0, 1)", share)?;
        }
        let sparse = Csr::from_rows(graph.node_count(), rows);
        let mut means = Vec::with_capacity(graph.node_count());
        for u in 0..graph.node_count() {
            let (columns, values) = sparse.row(u);
            let mut row = Vec::with_capacity(columns.len());
            for (&v, &value) in columns.iter().zip(values) {
                let column = v as usize;
                nonnegative(value, u, column)?;
                if column != u && !graph.has_edge(u, column) {
                    return Err(Error::OffSupport { row: u, column, value });
                }
                row.push((v, mean_of_transposed(value, sparse.get(column, u), u, column)?));
                let expected = named.as_ref().map_or(value, |named| named.get(u, column));
                // A matrix made lazy several times has a few more roundings.
                if (value - expected).abs() > 16.0 * f64::EPSILON {
                    return Err(Error::NotItsWeights { row: u, column, value, named: expected });
                }
            }
            // A row stores its diagonal and every edge, including edges of weight 0.
            let (expected, got) = (graph.degree(u) + 1, columns.len());
            if expected != got {
                return Err(Error::Shape { what: "entries of a row of the gossip matrix", expected, got });
            }
            require_stochastic(u, values.iter().copied())?;
            means.push(row);
        }
        if let Some(named) = named {
            return Ok(named);
        }
        let shares = shares.iter().copied().filter(|&share| share != 0.0).collect();
        Ok(Self { shares, ..Self::of_rows(graph, means, weights) })
    }

    /// The weights of a rule; given entries have none.
    fn by_degrees(graph: &Graph, weights: Weights) -> Self {
        let n = graph.node_count();
        let denominator = |a, b| weights.denominator(a, b).unwrap_or(usize::MAX);
        let rows = (0..n).map(|u| {
            let degree = graph.degree(u);
            // The smallest denominator that a neighbor may cause. An isolated node keeps everything.
            let least = denominator(degree, 0).max(1);
            // The diagonal is 1 minus the row's other entries, written as a sum of nonnegative terms: the
            // subtraction itself leaves rounding errors where the diagonal is zero, some of them negative
            // (8e-12 at the hub of a star with 10^6 leaves).
            let mut diagonal = (least - degree) as f64 / least as f64;
            let mut row = Vec::with_capacity(degree + 1);
            for &v in graph.neighbors(u) {
                let total = denominator(degree, graph.degree(v as usize));
                diagonal += (total - least) as f64 / least as f64 / total as f64;
                row.push((v, 1.0 / total as f64));
            }
            insert_diagonal(&mut row, u, diagonal);
            row
        });
        Self::of_rows(graph, rows, weights)
    }

    /// A matrix that is not lazy, from rows that are known to be those of a gossip matrix.
    fn of_rows<R>(graph: &Graph, rows: R, weights: Weights) -> Self
    where
        R: IntoIterator<Item = Vec<(u32, f64)>>,
    {
        let matrix = Csr::from_rows(graph.node_count(), rows);
        Self { graph: graph.clone(), matrix, weights, shares: Vec::new() }
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    /// The graph on whose edges messages travel; an edge of weight zero carries messages, too.
    #[must_use]
    #[inline]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The entries in compressed rows; every row stores its diagonal.
    #[must_use]
    #[inline]
    pub fn csr(&self) -> &Csr {
        &self.matrix
    }

    /// How the entries were chosen.
    #[must_use]
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Share of the identity: the entries are `(1 - laziness)` times the named scheme plus
    /// `laziness` on the diagonal.
    ///
    /// The number given to [`Self::lazy`]. If that was called several times, it is `1 - Π (1 - l)`, rounded
    /// and below 1; the exact number is in [`Self::shares`].
    #[must_use]
    pub fn laziness(&self) -> f64 {
        match self.shares.as_slice() {
            [] => 0.0,
            &[share] => share,
            shares => (1.0 - shares.iter().map(|share| 1.0 - share).product::<f64>()).min(1.0f64.next_down()),
        }
    }

    /// The shares `l_1, …, l_k` of the identity, in order: for a named scheme `S` the matrix is, exactly,
    /// `(1 - l_k)(… ((1 - l_1) S + l_1 I) …) + l_k I`, where each share is exactly the number stored. The
    /// stored [entries](Self::csr) are roundings of that. For [given](Weights::Given) weights the stored
    /// entries define the matrix, whatever the shares are.
    #[must_use]
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The entry `W[u][v]`.
    ///
    /// # Panics
    /// When `u` is out of range.
    #[must_use]
    pub fn get(&self, u: usize, v: usize) -> f64 {
        self.matrix.get(u, v)
    }

    /// The matrix with every zero written out.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when `8 n²` bytes are more than the limit.
    pub fn to_dense(&self) -> Result<Array2<f64>, Error> {
        self.matrix.to_dense()
    }
}

fn require_regular(graph: &Graph) -> Result<(), Error> {
    let degree = graph.degree(0);
    ensure(degree > 0, "the degree of node 0", "be at least 1 for regular weights", 0.0)?;
    match (0..graph.node_count()).find(|&v| graph.degree(v) != degree) {
        None => Ok(()),
        Some(v) => Err(Error::InvalidParameter {
            name: "the degree of every node",
            condition: "be that of node 0 for regular weights",
            value: graph.degree(v) as f64,
        }),
    }
}

/// The value itself; a negative rounding error is replaced by 0.
fn nonnegative(value: f64, row: usize, column: usize) -> Result<f64, Error> {
    if value.is_finite() && -TINY <= value {
        Ok(value.max(0.0))
    } else {
        Err(Error::InvalidWeight { row, column, value })
    }
}

/// The mean of an entry and the one it should equal, without a negative rounding error.
fn mean_of_transposed(value: f64, transposed: f64, row: usize, column: usize) -> Result<f64, Error> {
    let difference = (value - transposed).abs();
    if difference > 1e-12 {
        return Err(Error::NotSymmetric { row, column, difference });
    }
    Ok((0.5 * (value + transposed)).max(0.0))
}

/// Puts the entry of the diagonal between those of the neighbors of `u`.
fn insert_diagonal(row: &mut Vec<(u32, f64)>, u: usize, diagonal: f64) {
    row.insert(row.partition_point(|&(v, _)| (v as usize) < u), (id(u), diagonal));
}

/// A negative entry of at most this size is a rounding error.
const TINY: f64 = 1e-15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{complete_graph, cycle_graph, hypercube_graph, path_graph, star_graph};
    use ndarray::{Array2, arr2};

    /// A sum that overflows is no sum of 1.
    #[test]
    fn weights_near_the_largest_float_are_refused() -> Result<(), Error> {
        let path = path_graph(2)?;
        let entry = GossipMatrix::from_dense(&path_graph(1)?, arr2(&[[f64::MAX]]).view());
        assert!(matches!(entry, Err(Error::NotStochastic { row: 0, .. })), "{entry:?}");
        let rows = arr2(&[[f64::MAX, f64::MAX], [f64::MAX, f64::MAX]]);
        assert!(matches!(GossipMatrix::from_dense(&path, rows.view()), Err(Error::NotStochastic { .. })));
        let walk = crate::TransitionMatrix::from_dense(rows.view());
        assert!(matches!(walk, Err(Error::NotStochastic { row: 0, sum: f64::INFINITY })), "{walk:?}");
        Ok(())
    }

    /// By hand: the path 0-1-2 has degrees 1, 2, 1.
    #[test]
    fn named_weights_on_a_path() -> Result<(), Error> {
        let path = path_graph(3)?;
        let (third, quarter) = (1.0 / 3.0, 0.25);
        for (matrix, expected) in [
            (
                GossipMatrix::metropolis(&path),
                [[2.0 * third, third, 0.0], [third; 3], [0.0, third, 2.0 * third]],
            ),
            (
                GossipMatrix::new(&path, Weights::MaxDegree)?,
                [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]],
            ),
            (
                GossipMatrix::new(&path, Weights::SumDegree)?,
                [[0.75, quarter, 0.0], [quarter, 0.5, quarter], [0.0, quarter, 0.75]],
            ),
        ] {
            let difference = matrix.to_dense()? - arr2(&expected);
            assert!(difference.iter().all(|x| x.abs() < 1e-16), "{matrix:?}");
        }
        Ok(())
    }

    /// In cases where `1 - Σ` would leave rounding errors, the diagonal is exact: zero for `max_degree` on
    /// regular graphs and at the hub of a star, `1/n` for metropolis on complete graphs.
    #[test]
    fn diagonals_have_no_rounding_errors() -> Result<(), Error> {
        for n in [3, 10, 49, 50, 1000] {
            let complete = complete_graph(n)?;
            let metropolis = GossipMatrix::metropolis(&complete);
            assert!((0..n).all(|u| metropolis.get(u, u) == 1.0 / n as f64));
            for matrix in [
                GossipMatrix::new(&complete, Weights::MaxDegree)?,
                GossipMatrix::new(&complete, Weights::Regular)?,
            ] {
                assert!((0..n).all(|u| matrix.get(u, u) == 0.0));
            }
        }
        let star = GossipMatrix::new(&star_graph(1_000_000)?, Weights::MaxDegree)?;
        assert_eq!(star.get(0, 0), 0.0);
        Ok(())
    }

    #[test]
    fn regular_weights_need_a_regular_graph() -> Result<(), Error> {
        let cube = GossipMatrix::new(&hypercube_graph(3)?, Weights::Regular)?;
        assert!((0..8).all(|u| cube.csr().row(u).1.iter().filter(|&&w| w == 1.0 / 3.0).count() == 3));
        let error = GossipMatrix::new(&path_graph(3)?, Weights::Regular).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { value: 2.0, .. }), "{error}");
        let isolated = Graph::from_edges(3, [])?;
        assert!(matches!(
            GossipMatrix::new(&isolated, Weights::Regular),
            Err(Error::InvalidParameter { value: 0.0, .. })
        ));
        Ok(())
    }

    /// Nodes without neighbors keep their whole value.
    #[test]
    fn isolated_nodes_keep_their_value() -> Result<(), Error> {
        let isolated = Graph::from_edges(2, [])?;
        for matrix in [
            GossipMatrix::metropolis(&isolated),
            GossipMatrix::new(&isolated, Weights::MaxDegree)?,
            GossipMatrix::new(&isolated, Weights::SumDegree)?,
        ] {
            assert_eq!(matrix.to_dense()?, Array2::<f64>::eye(2));
        }
        Ok(())
    }

    #[test]
    fn laziness_adds_up() -> Result<(), Error> {
        let w = GossipMatrix::new(&cycle_graph(5)?, Weights::MaxDegree)?;
        let lazy = w.lazy(0.5)?.lazy(0.2)?;
        assert!((lazy.laziness() - 0.6).abs() < 1e-15);
        let expected = w.to_dense()? * 0.4 + Array2::<f64>::eye(5) * 0.6;
        assert!((lazy.to_dense()? - expected).iter().all(|x| x.abs() < 1e-15));
        assert_eq!(w.lazy(0.0)?, w);
        for bad in [1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(w.lazy(bad), Err(Error::InvalidParameter { name: "laziness", .. })));
        }
        Ok(())
    }

    /// Shares are kept as they were given, not rounded.
    #[test]
    fn every_share_is_kept() -> Result<(), Error> {
        let walk = GossipMatrix::new(&cycle_graph(4)?, Weights::Regular)?;
        for share in [1e-17, 1e-10, 0.3, 1.0 - 1e-10, 5e-324] {
            let lazy = walk.lazy(share)?;
            // The diagonal of the walk is 0, so the diagonal entry is the share itself.
            assert_eq!((lazy.laziness(), lazy.get(0, 0)), (share, share));
            assert!((lazy.get(0, 1) - 0.5 * (1.0 - share)).abs() <= f64::EPSILON * lazy.get(0, 1));
        }
        let twice = walk.lazy(1.0 - 1e-10)?.lazy(1.0 - 1e-10)?;
        assert_eq!(twice.shares(), [1.0 - 1e-10; 2]);
        assert!(twice.laziness() < 1.0 && twice.get(0, 1) > 4.9e-21);
        assert_eq!(walk.lazy(0.0)?.shares(), [0.0; 0]);
        // 2^-53 to the power of 20 is below the normal numbers.
        let mut slow = walk;
        let refused = loop {
            match slow.lazy(1.0f64.next_down()) {
                Ok(slower) => slow = slower,
                Err(refused) => break refused,
            }
        };
        assert_eq!(slow.shares().len(), 19);
        assert!(matches!(refused, Error::InvalidParameter { name: "laziness", .. }));
        Ok(())
    }

    #[test]
    fn given_matrices_are_checked() -> Result<(), Error> {
        let path = path_graph(3)?;
        let w = GossipMatrix::new(&path, Weights::SumDegree)?.to_dense()?;
        let given = GossipMatrix::from_dense(&path, w.view())?;
        assert_eq!(given.to_dense()?, w);
        assert_eq!((given.weights(), given.laziness()), (Weights::Given, 0.0));
        assert_eq!(given.graph(), &path);

        let changed = |changes: &[(usize, usize, f64)]| {
            let mut matrix = w.clone();
            for &(u, v, by) in changes {
                matrix[(u, v)] += by;
            }
            GossipMatrix::from_dense(&path, matrix.view())
        };
        assert!(changed(&[(0, 1, 5e-13), (0, 0, -5e-13)]).is_ok());
        // Off the support nothing is rounded.
        let faint = changed(&[(0, 2, -1e-16), (2, 0, -1e-16)]);
        assert_eq!(faint, Err(Error::OffSupport { row: 0, column: 2, value: -1e-16 }));
        for (changes, expected) in [
            (&[(0, 1, 0.25)][..], "the matrix is not symmetric at (0, 1): the entries differ by 0.25"),
            (&[(0, 0, 0.5)], "row 0 of the matrix sums to 1.5, not 1"),
            (
                &[(0, 2, 0.25), (2, 0, 0.25)],
                "the matrix has weight 0.25 at (0, 2), which is no edge of the graph",
            ),
            (&[(1, 1, -1.0)], "entry (1, 1) of the matrix is -0.5: it must be finite and nonnegative"),
            (&[(1, 2, f64::NAN)], "entry (1, 2) of the matrix is NaN: it must be finite and nonnegative"),
            (
                &[(1, 2, f64::INFINITY)],
                "entry (1, 2) of the matrix is inf: it must be finite and nonnegative",
            ),
        ] {
            assert_eq!(changed(changes).unwrap_err().to_string(), expected);
        }
        for shape in [(2, 3), (3, 2), (4, 4), (0, 0)] {
            let matrix = Array2::zeros(shape);
            assert!(matches!(
                GossipMatrix::from_dense(&path, matrix.view()),
                Err(Error::Shape { expected: 3, .. })
            ));
        }
        Ok(())
    }

    /// An edge of weight zero still carries messages: it stays in the matrix and in the graph.
    #[test]
    fn zero_weights_stay_on_the_support() -> Result<(), Error> {
        let path = path_graph(3)?;
        let given = GossipMatrix::from_dense(&path, Array2::<f64>::eye(3).view())?;
        assert_eq!(given.csr().parts().2.len(), 7);
        let weights = GossipMatrix::from_edge_weights(&path, |_, _| 0.0)?;
        assert_eq!(given, weights);
        Ok(())
    }

    #[test]
    fn edge_weights_are_checked() -> Result<(), Error> {
        let path = path_graph(3)?;
        let third = GossipMatrix::from_edge_weights(&path, |_, _| 1.0 / 3.0)?;
        assert!((third.get(1, 1) - 1.0 / 3.0).abs() < 1e-16);
        let full = GossipMatrix::from_edge_weights(&path, |_, _| 0.5)?;
        assert_eq!(full.get(1, 1), 0.0);
        for (weight, row, column) in [(-0.1, 0, 1), (0.6, 1, 1), (f64::NAN, 0, 1), (f64::INFINITY, 0, 1)] {
            match GossipMatrix::from_edge_weights(&path, |_, _| weight) {
                Err(Error::InvalidWeight { row: r, column: c, .. }) => assert_eq!((r, c), (row, column)),
                other => panic!("{weight}: {other:?}"),
            }
        }
        Ok(())
    }
}
