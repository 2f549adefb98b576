//! Centralities of nodes: Katz centrality and eigenvector centrality, on the adjacency matrix `A`.
//!
//! The authors of the random-walk paper plot eigenvector centrality under the name of Katz; here
//! each has its own name.
//!
//! # References
//! - Katz, *A new status index derived from sociometric analysis*, Psychometrika 18, 1953.
//! - Bonacich, *Power and centrality: a family of measures*, American Journal of Sociology 92, 1987.

use crate::error::ensure;
use crate::spectrum::DENSE_NODES;
use crate::{Csr, Error, Graph};
use ndp_linalg::sym_eigen;

/// Katz centrality, the solution of `x = a A x + b 1`: one entry per node, not normalised.
///
/// # Errors
/// [`Error::InvalidParameter`] for `a` that is negative or not below `1 / λ_max(A)`, beyond which
/// the series `b Σ a^i A^i 1` diverges (or so close that `x` exceeds `10^12 b`), and for `b` that is not
/// positive and finite; [`Error::NoConvergence`].
///
/// # Complexity
/// Conjugate gradients: `O(nnz)` per step, about `40 / sqrt(1 - a λ_max)` steps.
///
/// # Examples
/// ```
/// use ndp_graph::{centrality::katz_centrality, generators::star_graph};
/// let x = katz_centrality(&star_graph(4)?, 0.25, 1.0)?;
/// // The hub: x = 1 + 4 y / 4; a leaf: y = 1 + x / 4.
/// assert!((x[0] - 8.0 / 3.0).abs() < 1e-12 && (x[1] - 5.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn katz_centrality(graph: &Graph, a: f64, b: f64) -> Result<Vec<f64>, Error> {
    ensure(0.0 < b && b.is_finite(), "the base centrality", "be positive and finite", b)?;
    let refused = || {
        let (name, condition) = ("the attenuation", "lie in [0, 1 / λ_max) of the adjacency matrix");
        Error::InvalidParameter { name, condition, value: a }
    };
    if !(0.0 <= a && a.is_finite()) {
        return Err(refused());
    }
    // I - a A is positive definite exactly when a < 1 / λ_max, and then its inverse is nonnegative.
    let adjacency = adjacency(graph);
    let x = conjugate_gradients(&adjacency, a)?.ok_or_else(refused)?;
    // A positive x with x - a A x > 0 proves a < 1 / λ_max (Collatz and Wielandt).
    let mut walked = vec![0.0; x.len()];
    adjacency.multiply(&x, &mut walked);
    let proven = x.iter().zip(&walked).all(|(&x, &ax)| 0.0 < x && x < 1e12 && 0.0 < x - a * ax);
    if proven { Ok(x.into_iter().map(|x| b * x).collect()) } else { Err(refused()) }
}

/// Eigenvector centrality: the positive eigenvector of `A` for its largest eigenvalue, of
/// Euclidean norm 1; one entry per node.
///
/// # Errors
/// [`Error::Disconnected`], where it is not unique; [`Error::NoConvergence`].
///
/// # Complexity
/// `O(n³)` up to 2048 nodes, power iteration above.
///
/// # Examples
/// ```
/// use ndp_graph::{centrality::eigenvector_centrality, generators::star_graph};
/// let x = eigenvector_centrality(&star_graph(4)?)?;
/// assert!((x[0] - 2.0 * x[1]).abs() < 1e-12 && x[1] == x[4]);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn eigenvector_centrality(graph: &Graph) -> Result<Vec<f64>, Error> {
    graph.require_connected()?;
    Ok(perron(graph)?.1)
}

/// The largest eigenvalue of the adjacency matrix, 0 without edges.
///
/// # Errors
/// [`Error::Disconnected`] (take the largest over the components); [`Error::NoConvergence`].
///
/// # Examples
/// ```
/// use ndp_graph::{centrality::largest_adjacency_eigenvalue, generators::star_graph};
/// assert!((largest_adjacency_eigenvalue(&star_graph(9)?)? - 3.0).abs() < 1e-12);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn largest_adjacency_eigenvalue(graph: &Graph) -> Result<f64, Error> {
    graph.require_connected()?;
    Ok(perron(graph)?.0)
}

/// The largest eigenvalue of a connected graph and its positive unit eigenvector.
fn perron(graph: &Graph) -> Result<(f64, Vec<f64>), Error> {
    let n = graph.node_count();
    let matrix = adjacency(graph);
    if n <= DENSE_NODES {
        let eigen = sym_eigen(matrix.to_dense()?.view())?;
        // All entries of the eigenvector have one sign; rounding may flip that of the smallest ones.
        return Ok((eigen.values[n - 1], eigen.vectors.column(n - 1).iter().map(|x| x.abs()).collect()));
    }
    let mut x = vec![1.0 / (n as f64).sqrt(); n];
    let mut image = vec![0.0; n];
    let mut residual = f64::INFINITY;
    for _ in 0..POWER_STEPS {
        matrix.par_multiply(&x, &mut image);
        let value = dot(&x, &image);
        residual = x.iter().zip(&image).map(|(x, y)| (y - value * x) * (y - value * x)).sum::<f64>().sqrt();
        if residual <= 1e-12 * value {
            return Ok((value, x));
        }
        // The shift moves the eigenvalue -λ_max of bipartite graphs out of the way.
        x.iter_mut().zip(&image).for_each(|(x, y)| *x = y + 0.5 * value * *x);
        let norm = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
    }
    Err(Error::NoConvergence { what: "the power iteration", steps: POWER_STEPS, residual })
}

fn adjacency(graph: &Graph) -> Csr {
    let n = graph.node_count();
    Csr::from_rows(n, (0..n).map(|u| graph.neighbors(u).iter().map(|&v| (v, 1.0))))
}

/// The solution of `(I - a A) x = 1`, or nothing if the matrix turns out not to be positive definite.
fn conjugate_gradients(adjacency: &Csr, a: f64) -> Result<Option<Vec<f64>>, Error> {
    let n = adjacency.node_count();
    let mut x = vec![0.0; n];
    let mut rest = vec![1.0; n];
    let mut direction = rest.clone();
    let mut image = vec![0.0; n];
    let mut square = n as f64;
    let most = 20 * n + 100;
    for _ in 0..most {
        adjacency.multiply(&direction, &mut image);
        image.iter_mut().zip(&direction).for_each(|(y, p)| *y = p - a * *y);
        let curvature = dot(&direction, &image);
        if !(curvature > 0.0 && curvature.is_finite()) {
            return Ok(None);
        }
        let step = square / curvature;
        for i in 0..n {
            x[i] += step * direction[i];
            rest[i] -= step * image[i];
        }
        let next = dot(&rest, &rest);
        if next <= 1e-30 * n as f64 {
            return Ok(Some(x));
        }
        direction.iter_mut().zip(&rest).for_each(|(p, r)| *p = r + next / square * *p);
        square = next;
    }
    Err(Error::NoConvergence {
        what: "conjugate gradients",
        steps: most,
        residual: (square / n as f64).sqrt(),
    })
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

const POWER_STEPS: usize = 100_000;
