//! Entries of functions of matrices with a closed form: other routines are tested against them.

use super::{ClosedForm, Family, binomial, cycle_eigenvalue};
use crate::Error;
use crate::error::ensure;
use crate::walk_sums::{check_steps, harmonic_number, power_sum};
use std::f64::consts::PI;

impl ClosedForm<'_> {
    /// `(1 - laziness) W + laziness I`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `laziness` lies in `[0, 1)`.
    pub(crate) fn lazy(mut self, laziness: f64) -> Result<Self, Error> {
        ensure((0.0..1.0).contains(&laziness), "laziness", "lie in [0, 1)", laziness)?;
        self.weight *= 1.0 - laziness;
        Ok(self)
    }

    /// `f(W)_uv`, where `at_one` stands for `f(1)`. `f` is given as a function of the gap `1 - λ`, which
    /// keeps its digits when `λ` is close to 1.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    ///
    /// # Complexity
    /// One evaluation of `f` per distinct pair of eigenvalue and index: up to `n` on cycles, paths
    /// and tori, `m` on hypercubes, at most 2 on stars and complete graphs.
    pub(crate) fn entry(
        &self,
        u: usize,
        v: usize,
        at_one: f64,
        f: impl Fn(f64) -> f64,
    ) -> Result<f64, Error> {
        for node in [u, v] {
            if node >= self.nodes {
                return Err(Error::NodeOutOfRange { node, nodes: self.nodes });
            }
        }
        let mut sum = at_one / self.nodes as f64;
        self.each_projector(u, v, |laplacian, projector| {
            // A zero projector entry must not be multiplied by an infinite value of f.
            if projector != 0.0 {
                sum += projector * f(self.weight * laplacian);
            }
        });
        Ok(sum)
    }

    /// `(S_T)_uv = Σ_{t=1}^T (W^t)_uv / t`, for `T = steps`.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`], and [`Error::InvalidParameter`] beyond `10^7` steps.
    pub(crate) fn walk_sum(&self, u: usize, v: usize, steps: usize) -> Result<f64, Error> {
        check_steps(steps)?;
        self.entry(u, v, harmonic_number(steps), |gap| power_sum(1.0 - gap, steps))
    }

    /// `(-ln(I - W + 11ᵀ/n))_uv`, where the eigenvalue 1 of `W` is mapped to 0.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub(crate) fn log_matrix_entry(&self, u: usize, v: usize) -> Result<f64, Error> {
        self.entry(u, v, 0.0, |gap| -gap.ln())
    }

    /// Calls `visit` with eigenvalues `ℓ ≠ 0` of the Laplacian and entries `(u, v)` of projectors
    /// on orthogonal parts of their eigenspaces.
    fn each_projector(&self, u: usize, v: usize, mut visit: impl FnMut(f64, f64)) {
        let n = self.nodes as f64;
        let same = if u == v { 1.0 } else { 0.0 };
        match *self.family {
            Family::Cycle(n) => each_torus_projector(&[n], u, v, visit),
            Family::Torus(ref sides) => each_torus_projector(sides, u, v, visit),
            Family::Path(nodes) => {
                // φ_k(u) = sqrt(2/n) cos(π k (2u + 1) / 2n); the argument is reduced modulo 2π.
                let wave =
                    |k: usize, u: usize| (PI * (k * (2 * u + 1) % (4 * nodes)) as f64 / (2.0 * n)).cos();
                for k in 1..nodes {
                    visit(cycle_eigenvalue(k, 2 * nodes), 2.0 / n * wave(k, u) * wave(k, v));
                }
            }
            Family::Star(leaves) => {
                // The hub against the mean of the leaves, and the leaves against each other.
                let leaves = leaves as f64;
                match (u == 0, v == 0) {
                    (true, true) => visit(n, leaves / n),
                    (false, false) => {
                        visit(n, 1.0 / (n * leaves));
                        visit(1.0, same - 1.0 / leaves);
                    }
                    _ => visit(n, -1.0 / n),
                }
            }
            Family::Complete(_) => visit(n, same - 1.0 / n),
            Family::Hypercube(m) => {
                let distance = (u ^ v).count_ones();
                for j in 1..=m {
                    visit(2.0 * f64::from(j), krawtchouk(m, j, distance) as f64 / n);
                }
            }
        }
    }
}

/// The Fourier basis of a product of cycles, indices in row-major order.
fn each_torus_projector(sides: &[usize], u: usize, v: usize, mut visit: impl FnMut(f64, f64)) {
    let n: usize = sides.iter().product();
    // Real parts suffice: the sines of k and -k cancel. But they cancel only in the full product of
    // exponentials, so the phases of the axes are added before the cosine is taken.
    let mut stride = n;
    let axes: Vec<(usize, usize, Vec<f64>, usize)> = sides
        .iter()
        .map(|&side| {
            stride /= side;
            let shift = (u / stride % side + side - v / stride % side) % side;
            (side, stride, (0..side).map(|k| cycle_eigenvalue(k, side)).collect(), shift)
        })
        .collect();
    for k in 1..n {
        let (mut laplacian, mut turns) = (0.0, 0.0);
        for (side, stride, eigenvalues, shift) in &axes {
            let index = k / stride % side;
            laplacian += eigenvalues[index];
            turns += (index * shift % side) as f64 / *side as f64;
        }
        visit(laplacian, (2.0 * PI * turns).cos() / n as f64);
    }
}

/// `K_j(d) = Σ_i (-1)^i C(d, i) C(m - d, j - i)`: the sum of `(-1)^{|x ∧ y|}` over `|x| = j`, for
/// any `y` with `|y| = d`.
fn krawtchouk(m: u32, j: u32, d: u32) -> i64 {
    (0..=j.min(d)).map(|i| (1 - 2 * i64::from(i % 2)) * binomial(d, i) * binomial(m - d, j - i)).sum()
}
