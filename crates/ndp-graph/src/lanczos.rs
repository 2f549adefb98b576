//! The extreme eigenvalues of a large sparse gossip matrix, by Lanczos iteration.
//!
//! The iteration runs on the vectors orthogonal to the constant one, whose eigenvalue 1 is known, so that
//! both ends of the remaining spectrum, `λ_2` and `λ_n`, come out of one run. It stops when the residual
//! bounds `|β_k s_k|` of both ends are within a tolerance. Here `s_k` is the last entry of the eigenvector of
//! the tridiagonal matrix, and the residual bounds the distance from the Ritz value to the nearest
//! eigenvalue.
//!
//! Rounding makes the basis lose its orthogonality just when a Ritz value converges, and converged
//! eigenvalues would then appear again. Simon's recurrence tracks the loss, and the basis is reorthogonalised
//! when the recurrence exceeds `√ε`. Up to rounding, this keeps the tridiagonal matrix that of an exactly
//! orthogonal basis (partial reorthogonalisation).
//!
//! The start vector is fixed and every sum has a fixed order: the result does not depend on the
//! number of threads.
//!
//! # References
//! - Parlett, *The Symmetric Eigenvalue Problem*, SIAM 1998: sections 13.2 (residual bound) and 13.8.
//! - Simon, *The Lanczos algorithm with partial reorthogonalization*, Mathematics of Computation 42, 1984.

use crate::error::ensure;
use crate::extremes::Extremes;
use crate::{Csr, Error, GossipMatrix};
use ndp_numeric::stop::{Stop, work};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The extreme eigenvalues that a Lanczos run found, and what they cost.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::hypercube_graph, lanczos::lanczos_extremes};
/// let found = lanczos_extremes(&GossipMatrix::metropolis(&hypercube_graph(12)?), 1e-10)?;
/// assert!((found.extremes.second - 11.0 / 13.0).abs() < 1e-9 && found.steps < 50);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanczosExtremes {
    /// `λ_2` and `λ_n`.
    pub extremes: Extremes,
    /// A bound on the distance from either to the nearest eigenvalue.
    pub residual: f64,
    /// Products with the matrix.
    pub steps: usize,
}

/// `λ_2` and `λ_n`, each within `tolerance` of an eigenvalue, of a gossip matrix whose positive entries must
/// connect all its nodes. This is not checked here but by [`spectrum::extremes`](crate::spectrum::extremes),
/// which uses the tolerance `5e-13`.
///
/// The residual bound says that there *is* an eigenvalue so close. For that eigenvalue to be the extreme one,
/// the start vector must not be orthogonal to the extreme eigenvectors; this holds for every matrix not built
/// against this one start vector. If the next eigenvalue is at a distance `γ`, the error is about
/// `residual² / γ`: a loose tolerance often gives most digits.
///
/// # Errors
/// [`Error::InvalidParameter`] for a single node and unless `1e-13 ≤ tolerance < 1`; [`Error::NoConvergence`]
/// when the residual bound is still larger after as many steps as fit in 4 GiB. The number of steps grows
/// like the inverse root of the distance from the extreme eigenvalues to the next. A long path or cycle is
/// therefore out of reach; use the [closed forms](crate::closed_form) instead. An Erdős–Rényi graph of `10^6`
/// nodes, with its many equal dangling trees, needs a looser tolerance.
///
/// # Complexity
/// One product with the matrix per step; memory `8 n` bytes per step.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::torus_graph, lanczos::lanczos_extremes};
/// let torus = GossipMatrix::metropolis(&torus_graph(&[50, 60])?);
/// let found = lanczos_extremes(&torus, 1e-10)?;
/// assert!((found.extremes.last + 0.6).abs() <= 1e-10);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn lanczos_extremes(matrix: &GossipMatrix, tolerance: f64) -> Result<LanczosExtremes, Error> {
    lanczos_extremes_until(matrix, tolerance, &Stop::never())
}

/// As [`lanczos_extremes`], no longer than `stop` says.
///
/// # Errors
/// Those of [`lanczos_extremes`]; [`Error::Stopped`].
pub fn lanczos_extremes_until(
    matrix: &GossipMatrix,
    tolerance: f64,
    stop: &Stop,
) -> Result<LanczosExtremes, Error> {
    let n = matrix.node_count();
    ensure(
        (1e-13..1.0).contains(&tolerance),
        "the tolerance of a Lanczos iteration",
        "lie in [1e-13, 1)",
        tolerance,
    )?;
    ensure(n >= 2, "the number of nodes", "be at least 2 for a second eigenvalue", n as f64)?;
    lanczos_within(matrix, tolerance, (n - 1).min(BASIS_LIMIT / 8 / n), stop)
}

/// Runs the iteration for at most `most` steps.
pub(crate) fn lanczos_within(
    matrix: &GossipMatrix,
    tolerance: f64,
    most: usize,
    stop: &Stop,
) -> Result<LanczosExtremes, Error> {
    let mut lanczos = Lanczos::new(matrix.csr());
    let mut next_check = FIRST_CHECK;
    loop {
        // A product with the matrix, and now and then one with the whole basis.
        let vectors = lanczos.basis.len() + 8;
        stop.spend(work([1, matrix.csr().parts().1.len()]) + work([vectors, matrix.node_count()]))?;
        let beta = lanczos.step();
        let steps = lanczos.alphas.len();
        // A vanishing β ends the iteration: the basis spans an invariant subspace.
        if steps < next_check.min(most) && beta > INVARIANT {
            continue;
        }
        let ritz = ritz_values(&lanczos.alphas, &lanczos.betas)?;
        let (second, top) = ritz.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 1.0));
        let (last, bottom) = ritz.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 1.0));
        let residual = beta * top.abs().max(bottom.abs());
        if residual <= tolerance {
            return Ok(LanczosExtremes { extremes: Extremes { second, last }, residual, steps });
        }
        if steps >= most {
            return Err(Error::NoConvergence { what: "the Lanczos iteration", steps, residual });
        }
        next_check = steps + (steps / 16).max(4);
    }
}

/// The state of the iteration: `A Q = Q T + β q eᵀ` with `T` tridiagonal.
struct Lanczos<'a> {
    matrix: &'a Csr,
    /// Orthonormal up to `√ε`, orthogonal to the constant vector; one more than there are `alphas`.
    basis: Vec<Vec<f64>>,
    /// Diagonal of `T`.
    alphas: Vec<f64>,
    /// Below the diagonal of `T`; the last one is the `β` of the residual.
    betas: Vec<f64>,
    /// Simon's estimates of the products of the last and last but one basis vector with every earlier one.
    overlaps: [Vec<f64>; 2],
    /// Whether the coming vector must be reorthogonalised because the previous one was.
    again: bool,
}

impl<'a> Lanczos<'a> {
    fn new(matrix: &'a Csr) -> Self {
        let mut start = (0..matrix.node_count() as u64).map(hashed).collect::<Vec<_>>();
        remove_mean(&mut start);
        let norm = dot(&start, &start).sqrt();
        scale(1.0 / norm, &mut start);
        Self {
            matrix,
            basis: vec![start],
            alphas: Vec::new(),
            betas: Vec::new(),
            overlaps: [Vec::new(), Vec::new()],
            again: false,
        }
    }

    /// Adds one basis vector, one row of `T`, and returns the new `β`.
    fn step(&mut self) -> f64 {
        let k = self.alphas.len();
        let mut w = vec![0.0; self.matrix.node_count()];
        self.matrix.par_multiply(&self.basis[k], &mut w);
        if k > 0 {
            add_scaled(-self.betas[k - 1], &self.basis[k - 1], &mut w);
        }
        let alpha = dot(&w, &self.basis[k]);
        add_scaled(-alpha, &self.basis[k], &mut w);
        // The constant vector has the largest eigenvalue and would grow back unless it is removed at every
        // step.
        remove_mean(&mut w);
        self.alphas.push(alpha);
        let mut beta = dot(&w, &w).sqrt();

        let overlaps = self.next_overlaps(beta);
        let lost = overlaps.iter().any(|overlap| overlap.abs() > f64::EPSILON.sqrt());
        if lost || self.again {
            self.orthogonalise(&mut w);
            beta = dot(&w, &w).sqrt();
            self.overlaps = [std::mem::take(&mut self.overlaps[1]), vec![ROUNDING; k + 1]];
        } else {
            self.overlaps = [std::mem::take(&mut self.overlaps[1]), overlaps];
        }
        self.again = lost && !self.again;
        self.betas.push(beta);
        if beta > 0.0 {
            scale(1.0 / beta, &mut w);
        }
        self.basis.push(w);
        beta
    }

    /// Estimates of the products of the next basis vector with the present ones.
    fn next_overlaps(&self, beta: f64) -> Vec<f64> {
        let k = self.alphas.len() - 1;
        let [before, last] = &self.overlaps;
        // A vector's product with itself is 1.
        let with_last = |j: usize| if j == k { 1.0 } else { last[j] };
        let with_before = |j: usize| if j + 1 == k { 1.0 } else { before[j] };
        let mut next = Vec::with_capacity(k + 1);
        for j in 0..k {
            let mut sum = self.betas[j] * with_last(j + 1) + (self.alphas[j] - self.alphas[k]) * with_last(j)
                - self.betas[k - 1] * with_before(j);
            if j > 0 {
                sum += self.betas[j - 1] * with_last(j - 1);
            }
            next.push((sum + ROUNDING.copysign(sum)) / beta.max(f64::MIN_POSITIVE));
        }
        next.push(ROUNDING / beta.max(ROUNDING));
        next
    }

    /// Removes from `w` its components along the basis, and along the constant vector.
    fn orthogonalise(&self, w: &mut [f64]) {
        let products: Vec<f64> = self.basis.par_iter().map(|q| dot_sequential(q, w)).collect();
        w.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| {
            let start = chunk * CHUNK;
            for (q, product) in self.basis.iter().zip(&products) {
                for (x, y) in part.iter_mut().zip(&q[start..]) {
                    *x -= product * y;
                }
            }
        });
        remove_mean(w);
    }
}

/// Every eigenvalue of the tridiagonal matrix with diagonal `alphas` and `betas` beside it (its last `β` is
/// the residual's and is left out), with the last entry of its unit eigenvector.
///
/// Implicit QL (EISPACK's `tql2`), the rotations applied to the last row of the eigenvectors only: `O(k²)`.
fn ritz_values(alphas: &[f64], betas: &[f64]) -> Result<Vec<(f64, f64)>, Error> {
    let k = alphas.len();
    let mut d = alphas.to_vec();
    let mut e = betas[..k - 1].to_vec();
    e.push(0.0);
    let mut row = vec![0.0; k];
    row[k - 1] = 1.0;
    for l in 0..k {
        for iteration in 0.. {
            let m = (l..k - 1)
                .find(|&m| e[m].abs() <= f64::EPSILON * (d[m].abs() + d[m + 1].abs()))
                .unwrap_or(k - 1);
            if m == l {
                break;
            }
            if iteration == QL_LIMIT {
                let residual = e[l].abs();
                return Err(Error::NoConvergence { what: "the QL iteration", steps: QL_LIMIT, residual });
            }
            let slope = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut g = d[m] - d[l] + e[l] / (slope + slope.hypot(1.0).copysign(slope));
            let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
            let mut split = false;
            for i in (l..m).rev() {
                let f = sine * e[i];
                let b = cosine * e[i];
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= shift;
                    e[m] = 0.0;
                    split = true;
                    break;
                }
                sine = f / r;
                cosine = g / r;
                g = d[i + 1] - shift;
                let r = (d[i] - g) * sine + 2.0 * cosine * b;
                shift = sine * r;
                d[i + 1] = g + shift;
                g = cosine * r - b;
                let (here, there) = (row[i], row[i + 1]);
                row[i + 1] = sine * here + cosine * there;
                row[i] = cosine * here - sine * there;
            }
            if !split {
                d[l] -= shift;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Ok(d.into_iter().zip(row).collect())
}

/// A number in `(-1/2, 1/2)` that looks random: the `i`-th of splitmix64.
fn hashed(i: u64) -> f64 {
    let mut z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn remove_mean(x: &mut [f64]) {
    let sums: Vec<f64> = x.par_chunks(CHUNK).map(|part| part.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / x.len() as f64;
    x.par_chunks_mut(CHUNK).for_each(|part| part.iter_mut().for_each(|value| *value -= mean));
}

fn scale(factor: f64, x: &mut [f64]) {
    x.par_chunks_mut(CHUNK).for_each(|part| part.iter_mut().for_each(|value| *value *= factor));
}

/// `y += factor · x`.
fn add_scaled(factor: f64, x: &[f64], y: &mut [f64]) {
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| {
        for (y, x) in y.iter_mut().zip(x) {
            *y += factor * x;
        }
    });
}

/// `x · y`, chunks in parallel, their sums added in order.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let sums: Vec<f64> =
        x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK)).map(|(x, y)| dot_sequential(x, y)).collect();
    sums.iter().sum()
}

/// `x · y` in eight interleaved sums, which fill the vector registers.
fn dot_sequential(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The tolerance of [`spectrum::extremes`](crate::spectrum::extremes).
pub(crate) const TOLERANCE: f64 = 5e-13;

/// The most bytes that the basis may take: 4 GiB, which is 536 steps for a million nodes.
pub(crate) const BASIS_LIMIT: usize = 4 << 30;

/// A `β` so small that the next basis vector would be made of rounding errors.
const INVARIANT: f64 = 1e-10;

/// Size of the rounding errors that one step leaves, for a matrix of norm 1.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Rotation sweeps allowed per eigenvalue; two or three are usual.
const QL_LIMIT: usize = 60;

/// The first step at which the residual bounds are looked at.
const FIRST_CHECK: usize = 12;

/// Numbers that one parallel task adds up.
const CHUNK: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Weights;
    use crate::generators::{
        complete_graph, grid_2d_graph, hypercube_graph, path_graph, star_graph, torus_graph,
    };
    use ndarray::Array2;
    use ndp_linalg::{sym_eigen, sym_eigenvalues};

    /// Against the dense eigenvectors of the same tridiagonal matrix.
    #[test]
    fn ritz_values_match_the_dense_eigensolver() -> Result<(), Error> {
        for k in [1, 2, 3, 10, 57] {
            let alphas: Vec<f64> = (0..k).map(hashed).collect();
            let betas: Vec<f64> = (0..k).map(|i| hashed(i + 100).abs()).collect();
            let k = k as usize;
            let dense = Array2::from_shape_fn((k, k), |(i, j)| match i.abs_diff(j) {
                0 => alphas[i],
                1 => betas[i.min(j)],
                _ => 0.0,
            });
            let eigen = sym_eigen(dense.view())?;
            let mut ritz = ritz_values(&alphas, &betas)?;
            ritz.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (i, (value, last)) in ritz.into_iter().enumerate() {
                assert!((value - eigen.values[i]).abs() < 1e-14);
                assert!((last.abs() - eigen.vectors[(k - 1, i)].abs()).abs() < 1e-13);
            }
        }
        Ok(())
    }

    /// `diag` and zero off-diagonals, where QL has nothing to rotate.
    #[test]
    fn ritz_values_of_a_diagonal_matrix() -> Result<(), Error> {
        assert_eq!(ritz_values(&[0.5, 0.0, -1.0], &[0.0, 0.0, 1.0])?, [(0.5, 0.0), (0.0, 0.0), (-1.0, 1.0)]);
        Ok(())
    }

    /// A run far beyond convergence keeps the basis orthogonal up to `√ε`; without reorthogonalisation the
    /// products would reach 1.
    #[test]
    fn the_basis_stays_orthogonal() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&grid_2d_graph(20, 23)?);
        let mut lanczos = Lanczos::new(matrix.csr());
        let mut reorthogonalised = 0;
        for _ in 0..300 {
            lanczos.step();
            reorthogonalised += usize::from(lanczos.again);
        }
        let mut worst: f64 = 0.0;
        for (i, p) in lanczos.basis.iter().enumerate() {
            assert!((dot(p, p) - 1.0).abs() < 1e-13);
            assert!(p.iter().sum::<f64>().abs() < 1e-12);
            worst = lanczos.basis[..i].iter().map(|q| dot(p, q).abs()).fold(worst, f64::max);
        }
        assert!(worst < 4.0 * f64::EPSILON.sqrt(), "{worst}");
        assert!((1..100).contains(&reorthogonalised), "{reorthogonalised} of 300 steps");
        Ok(())
    }

    #[test]
    fn small_graphs_match_the_dense_eigensolver() -> Result<(), Error> {
        let graphs = [
            path_graph(2)?,
            path_graph(3)?,
            path_graph(60)?,
            complete_graph(2)?,
            complete_graph(9)?,
            star_graph(30)?,
            hypercube_graph(6)?,
            grid_2d_graph(7, 11)?,
            torus_graph(&[4, 5, 6])?,
        ];
        for graph in graphs {
            for matrix in [
                GossipMatrix::metropolis(&graph),
                GossipMatrix::new(&graph, Weights::MaxDegree)?,
                GossipMatrix::new(&graph, Weights::SumDegree)?.lazy(0.3)?,
            ] {
                let dense = sym_eigenvalues(matrix.to_dense()?.view())?;
                let found = lanczos_extremes(&matrix, TOLERANCE)?;
                assert!((found.extremes.second - dense[dense.len() - 2]).abs() < 1e-13, "{found:?}");
                assert!((found.extremes.last - dense[0]).abs() < 1e-13, "{found:?}");
                assert!(found.residual <= TOLERANCE);
            }
        }
        Ok(())
    }

    /// When the iteration stops early, the values are as close as promised.
    #[test]
    fn loose_tolerances_are_kept() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&grid_2d_graph(30, 31)?);
        let exact = lanczos_extremes(&matrix, 1e-13)?;
        for tolerance in [1e-3, 1e-6, 1e-9] {
            let early = lanczos_extremes(&matrix, tolerance)?;
            assert!(early.residual <= tolerance && early.steps < exact.steps);
            assert!((early.extremes.second - exact.extremes.second).abs() <= tolerance);
            assert!((early.extremes.last - exact.extremes.last).abs() <= tolerance);
        }
        for bad in [0.0, -1e-6, 1e-14, 1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(lanczos_extremes(&matrix, bad), Err(Error::InvalidParameter { .. })));
        }
        Ok(())
    }

    #[test]
    fn one_node_has_no_second_eigenvalue() -> Result<(), Error> {
        let one = GossipMatrix::metropolis(&path_graph(1)?);
        assert!(matches!(lanczos_extremes(&one, TOLERANCE), Err(Error::InvalidParameter { .. })));
        Ok(())
    }

    /// The gap of a long path, `3e-7` here, needs far more steps than these.
    #[test]
    fn hopeless_iterations_stop() -> Result<(), Error> {
        let long = GossipMatrix::metropolis(&path_graph(3_000)?);
        match lanczos_within(&long, TOLERANCE, 89, &Stop::never()) {
            Err(Error::NoConvergence { steps: 89, residual, .. }) => assert!(residual > 1e-6),
            other => panic!("{other:?}"),
        }
        Ok(())
    }

    #[test]
    fn bits_do_not_depend_on_the_number_of_threads() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&torus_graph(&[40, 50, 10])?);
        let runs: Vec<LanczosExtremes> = [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| lanczos_extremes(&matrix, TOLERANCE)).unwrap()
            })
            .collect();
        assert_eq!(runs[0], runs[1]);
        assert_eq!(runs[0], runs[2]);
        Ok(())
    }
}
