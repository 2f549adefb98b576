//! Eigenvalues of gossip matrices and their spectral gaps.
//!
//! A gossip matrix has the eigenvalues `1 = λ_1 ≥ λ_2 ≥ … ≥ λ_n ≥ -1`. Two gaps are in use, and they are not
//! the same number:
//!
//! * `gap_abs = 1 - max(|λ_2|, |λ_n|)` governs `x ← W x` and its Chebyshev acceleration;
//! * `gap_signed = 1 - λ_2` is enough for randomized gossip and for lazy matrices, and may exceed 1.
//!
//! # References
//! - Cyffers, Even, Bellet and Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Definition 2, which
//!   leaves out the *value* 1 and so gives a positive gap to disconnected graphs; here they are refused.

use crate::error::ensure;
pub use crate::extremes::Extremes;
use crate::lanczos::{TOLERANCE, lanczos_extremes_until, lanczos_within};
use crate::{Csr, Error, GossipMatrix};
use ndarray::{ArrayView1, ArrayView2};
use ndp_linalg::{SymEigen, sym_eigen, sym_eigenvalues};
use ndp_numeric::stop::{Stop, work};

/// All eigenvalues and eigenvectors of a gossip matrix.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, Spectrum, generators::complete_graph};
/// let spectrum = Spectrum::new(&GossipMatrix::metropolis(&complete_graph(5)?))?;
/// assert!(spectrum.values()[3].abs() < 1e-12); // all but the last are 0: one round is enough
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    eigen: SymEigen,
    mixing: Mixing,
}

impl Spectrum {
    /// The eigendecomposition of `matrix`.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::NoConvergence`].
    ///
    /// # Complexity
    /// `O(n³)` time, `O(n²)` memory.
    pub fn new(matrix: &GossipMatrix) -> Result<Self, Error> {
        Ok(Self { eigen: sym_eigen(matrix.to_dense()?.view())?, mixing: Mixing::of(matrix.csr()) })
    }

    /// Number of nodes, and of eigenvalues.
    pub(crate) fn node_count(&self) -> usize {
        self.eigen.values.len()
    }

    /// The eigenvalues, ascending, repeated by multiplicity: the last is 1.
    #[must_use]
    pub fn values(&self) -> ArrayView1<'_, f64> {
        self.eigen.values.view()
    }

    /// Orthonormal eigenvectors, `n` by `n`; column `k` belongs to `values()[k]`.
    #[must_use]
    pub(crate) fn vectors(&self) -> ArrayView2<'_, f64> {
        self.eigen.vectors.view()
    }

    /// `λ_2` and `λ_n`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a single node, [`Error::Disconnected`].
    pub(crate) fn extremes(&self) -> Result<Extremes, Error> {
        self.mixing.require_connected(self.node_count())?;
        Ok(self.mixing.extremes(self.eigen.values[self.node_count() - 2], self.eigen.values[0]))
    }
}

/// `λ_2` and `λ_n` of a gossip matrix: by the dense eigensolver up to 256 nodes, by Lanczos iteration
/// above. Up to 2048 nodes the dense solver also takes over where the iteration needs more than a quarter as
/// many steps as there are nodes, as on long paths.
///
/// The absolute error is below `1e-12`.
///
/// # Errors
/// [`Error::InvalidParameter`] for a single node, [`Error::Disconnected`] when the positive entries of `W` do
/// not connect all nodes (an edge of weight zero connects nothing), [`Error::NoConvergence`] for some graphs
/// of more than `10^5` nodes: [`lanczos_extremes`](crate::lanczos::lanczos_extremes) takes a tolerance.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::hypercube_graph, spectrum::extremes};
/// let found = extremes(&GossipMatrix::metropolis(&hypercube_graph(4)?))?;
/// assert!((found.second - 0.6).abs() < 1e-12 && (found.last + 0.6).abs() < 1e-12);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn extremes(matrix: &GossipMatrix) -> Result<Extremes, Error> {
    extremes_until(matrix, &Stop::never())
}

/// As [`extremes`], no longer than `stop` says.
///
/// # Errors
/// Those of [`extremes`]; [`Error::Stopped`].
pub fn extremes_until(matrix: &GossipMatrix, stop: &Stop) -> Result<Extremes, Error> {
    let n = matrix.node_count();
    let mixing = Mixing::of(matrix.csr());
    mixing.require_connected(n)?;
    let iterated = if n > DENSE_NODES {
        Some(lanczos_extremes_until(matrix, TOLERANCE, stop)?)
    } else if n > SMALL_NODES {
        match lanczos_within(matrix, TOLERANCE, n / 4, stop) {
            Err(Error::NoConvergence { .. }) => None,
            found => Some(found?),
        }
    } else {
        None
    };
    if let Some(Extremes { second, last }) = iterated.map(|found| found.extremes) {
        return Ok(mixing.extremes(second, last));
    }
    stop.spend(work([n, n, n]))?;
    let values = sym_eigenvalues(matrix.to_dense()?.view())?;
    Ok(mixing.extremes(values[n - 2], values[0]))
}

/// The eigenvalues 1 and -1 of a symmetric stochastic matrix, as its positive entries determine them, without
/// rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mixing {
    components: usize,
    /// Whether every step of positive weight changes sides of a bipartition: then `λ_n = -1`.
    alternates: bool,
}

impl Mixing {
    fn of(matrix: &Csr) -> Self {
        let n = matrix.node_count();
        let mut side: Vec<Option<bool>> = vec![None; n];
        let (mut components, mut alternates) = (0, true);
        let mut stack = Vec::new();
        for start in 0..n {
            if side[start].is_some() {
                continue;
            }
            components += 1;
            side[start] = Some(false);
            stack.push((start, false));
            while let Some((u, here)) = stack.pop() {
                let (columns, weights) = matrix.row(u);
                for (&v, _) in columns.iter().zip(weights).filter(|&(_, &w)| w > 0.0) {
                    match side[v as usize] {
                        None => {
                            side[v as usize] = Some(!here);
                            stack.push((v as usize, !here));
                        }
                        Some(there) => alternates &= there != here,
                    }
                }
            }
        }
        Self { components, alternates }
    }

    fn require_connected(self, nodes: usize) -> Result<(), Error> {
        ensure(nodes >= 2, "the number of nodes", "be at least 2 for a spectral gap", nodes as f64)?;
        if self.components == 1 { Ok(()) } else { Err(Error::Disconnected(self.components)) }
    }

    fn extremes(self, second: f64, last: f64) -> Extremes {
        Extremes { second, last: if self.alternates { -1.0 } else { last } }
    }
}

/// Up to this many nodes the dense eigensolver takes milliseconds.
const SMALL_NODES: usize = 256;

/// Up to this many nodes the dense eigensolver is an alternative.
pub(crate) const DENSE_NODES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{grid_2d_graph, hypercube_graph, path_graph};
    use crate::random::erdos_renyi_graph;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Graphs where the iteration ends early, and such where the dense solver takes over.
    #[test]
    fn iterated_extremes_are_those_of_the_dense_solver() -> Result<(), Error> {
        let random = erdos_renyi_graph(500, 0.04, &mut ChaCha8Rng::seed_from_u64(1))?;
        let graphs = [
            (random, true),
            (hypercube_graph(9)?, true),
            (path_graph(400)?, false),
            (grid_2d_graph(17, 18)?, false),
        ];
        for (graph, ends_early) in graphs {
            let matrix = GossipMatrix::metropolis(&graph);
            let n = matrix.node_count();
            let iterated = lanczos_within(&matrix, TOLERANCE, n / 4, &Stop::never());
            assert_eq!(iterated.is_ok(), ends_early, "{iterated:?}");
            let (found, dense) = (extremes(&matrix)?, sym_eigenvalues(matrix.to_dense()?.view())?);
            assert!((found.second - dense[n - 2]).abs() < 1e-12, "{found:?}");
            assert!((found.last - dense[0]).abs() < 1e-12, "{found:?}");
        }
        Ok(())
    }
}
