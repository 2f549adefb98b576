//! Chebyshev acceleration of gossip: polynomials `P_t` with `P_t(1) = 1` that are small on the rest of the
//! spectrum.
//!
//! `P_0 = 1`, `P_1 = X`, `P_{t+1} = g X P_t + (1 - g) P_{t-1}` for `t ≥ 1`. Since `P_t(1) = 1`, `P_t(W) x`
//! has the mean of `x`, and it approaches consensus like `e^{-t √gap}` where `W^t x` takes `e^{-t gap}`.
//!
//! # References
//! - Cyffers, Even, Bellet and Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Definition 3 and
//!   Algorithm 1. The recursion is printed for `t ≥ 2`, which leaves `P_2` undefined. The released program
//!   starts from `x^{-1} = 0`, that is from `P_1 = g X`, and so multiplies the mean by up to `1 / (2 - g)`;
//!   here the first step is `W x`.

use crate::error::ensure;
use crate::{Error, GossipMatrix};
use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// The parameter `g` of the recursion, in `[1, 2]` (2 for a gap that is lost to rounding), chosen for a
/// spectral gap.
///
/// # Examples
/// ```
/// use ndp_graph::chebyshev::Chebyshev;
/// // At a gap of 0.01 plain gossip keeps 0.99^100 = 0.37 of the deviation after 100 rounds.
/// let optimal = Chebyshev::optimal(0.01)?;
/// assert!(optimal.bound(100) < 1e-4 && optimal.g() < 2.0);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Chebyshev {
    g: f64,
    /// The recursion is optimal for eigenvalues in `[-radius, radius]`.
    radius: f64,
}

/// The fields as they are read, before they are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    g: f64,
    radius: f64,
}

impl TryFrom<Parts> for Chebyshev {
    type Error = Error;

    fn try_from(Parts { g, radius }: Parts) -> Result<Self, Error> {
        for (name, condition, value, met) in [
            ("the parameter of a Chebyshev iteration", "lie in [1, 2]", g, (1.0..=2.0).contains(&g)),
            ("the radius of a Chebyshev iteration", "lie in [0, 1]", radius, (0.0..=1.0).contains(&radius)),
        ] {
            ensure(met, name, condition, value)?;
        }
        let found = Self { g, radius };
        let sine = found.sine();
        // The radius is rounded, which moves a small sine more than its last digits.
        ensure(
            (g - 2.0 / (1.0 + sine)).abs() <= 8.0 * f64::EPSILON / sine.max(1e-8),
            "the parameter of a Chebyshev iteration",
            "be that of its radius",
            g,
        )?;
        Ok(found)
    }
}

impl Chebyshev {
    /// The published choice `g = 2 / (1 + √(l (1 - l/4)))` for the gap `l`.
    ///
    /// This is optimal for half the gap, that is for eigenvalues in `[-(1 - l/2), 1 - l/2]`. The paper prints
    /// the same number as `2 (1 - √(l (1 - l/4))) / (1 - l/2)²`, a form that loses digits for small gaps. At
    /// `l = 1` the value is not 1: the iteration reaches consensus at `P_1` and leaves it again.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `gap` lies in `(0, 1]`. A signed gap may exceed 1; take
    /// [`gap_abs`](crate::spectrum::Extremes::gap_abs).
    ///
    /// # References
    /// - arXiv:2206.05091, Algorithm 1.
    pub fn published(gap: f64) -> Result<Self, Error> {
        Self::for_radius(gap, 1.0 - gap / 2.0, gap * (1.0 - gap / 4.0))
    }

    /// The optimal choice `g = 2 / (1 + √(l (2 - l)))` for eigenvalues in `[-(1 - l), 1 - l]`, `l` the gap.
    ///
    /// # Errors
    /// Those of [`published`](Self::published).
    pub fn optimal(gap: f64) -> Result<Self, Error> {
        Self::for_radius(gap, 1.0 - gap, gap * (2.0 - gap))
    }

    /// Takes `sine_squared = 1 - radius²`, computed without cancellation.
    fn for_radius(gap: f64, radius: f64, sine_squared: f64) -> Result<Self, Error> {
        let name = "the gap of a Chebyshev iteration";
        ensure(0.0 < gap && gap <= 1.0, name, "lie in (0, 1], as gap_abs does", gap)?;
        Ok(Self { g: 2.0 / (1.0 + sine_squared.sqrt()), radius })
    }

    /// `√(1 − radius²)`.
    fn sine(self) -> f64 {
        ((1.0 - self.radius) * (1.0 + self.radius)).sqrt()
    }

    /// The parameter `g` of the recursion.
    #[must_use]
    pub fn g(self) -> f64 {
        self.g
    }

    /// `P_t(x)`.
    #[must_use]
    pub fn evaluate(self, t: usize, x: f64) -> f64 {
        let (mut before, mut now) = (1.0, x);
        if t == 0 {
            return before;
        }
        for _ in 1..t {
            (before, now) = (now, self.g * x * now + (1.0 - self.g) * before);
        }
        now
    }

    /// An upper bound on `|P_t(x)|` over the eigenvalues other than 1: the maximum over `|x| ≤ ρ`,
    /// `r^t (1 + t √(1 - ρ²))` with `r = ρ / (1 + √(1 - ρ²))`, reached at `x = ρ`; rounded up.
    ///
    /// `ρ` is `1 - l` for the [`optimal`](Self::optimal) and `1 - l/2` for the
    /// [`published`](Self::published) parameter, `l` the gap.
    #[must_use]
    pub fn bound(self, t: usize) -> f64 {
        let sine = self.sine();
        let r = self.radius / (1.0 + sine);
        let t = t as f64;
        // 0^0 is 1, as P_0 is. The factor is for the rounding of `r`, which is raised to a power, of `g`, and
        // of `ρ`, where the recursion has a double root.
        let rounding = 16.0 + t * (4.0 + 8.0 / sine.max(1e-8)) + 32.0 * t * t;
        r.powf(t) * (1.0 + t * sine) * (1.0 + rounding * f64::EPSILON)
    }

    /// `P_t(W) X` for a matrix `X` of `n` rows, one column per coordinate of the nodes' values.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `x` has one row per node.
    ///
    /// # Complexity
    /// `t` products of `W` with `X`.
    fn apply(self, matrix: &GossipMatrix, x: ArrayView2<'_, f64>, t: usize) -> Result<Array2<f64>, Error> {
        let n = matrix.node_count();
        if x.nrows() != n {
            return Err(Error::Shape { what: "rows of the values", expected: n, got: x.nrows() });
        }
        let mut before = x.to_owned();
        if t == 0 {
            return Ok(before);
        }
        let mut now = multiply(matrix, before.view());
        for _ in 1..t {
            let mut next = multiply(matrix, now.view());
            next.zip_mut_with(&before, |next, before| *next = self.g * *next + (1.0 - self.g) * before);
            (before, now) = (now, next);
        }
        Ok(now)
    }

    /// `P_t(W) x` for one number per node.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `x` has one entry per node.
    ///
    /// # Complexity
    /// `t` products of `W` with `x`.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, chebyshev::Chebyshev, generators::grid_2d_graph, spectrum::extremes};
    /// let w = GossipMatrix::metropolis(&grid_2d_graph(8, 8)?);
    /// let x: Vec<f64> = (0..64).map(f64::from).collect();
    /// let averaged = Chebyshev::optimal(extremes(&w)?.gap_abs()?)?.apply_vector(&w, &x, 60)?;
    /// assert!(averaged.iter().all(|value| (value - 31.5).abs() < 1e-3));
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    pub fn apply_vector(self, matrix: &GossipMatrix, x: &[f64], t: usize) -> Result<Vec<f64>, Error> {
        let column = ndarray::ArrayView1::from(x).insert_axis(Axis(1));
        Ok(self.apply(matrix, column, t)?.into_iter().collect())
    }
}

fn multiply(matrix: &GossipMatrix, x: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut product = Array2::zeros(x.raw_dim());
    for (u, mut out) in product.rows_mut().into_iter().enumerate() {
        let (columns, weights) = matrix.csr().row(u);
        for (&v, &weight) in columns.iter().zip(weights) {
            out.scaled_add(weight, &x.row(v as usize));
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{cycle_graph, grid_2d_graph};
    use crate::spectrum::{Spectrum, extremes};
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use ndp_linalg::gemm;

    const GAPS: [f64; 9] = [1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0];

    /// What is read is an iteration for its radius, so that its bound holds.
    #[test]
    fn a_parameter_of_another_radius_is_refused() -> Result<(), Error> {
        let parts = |g, radius| Chebyshev::try_from(Parts { g, radius });
        for gap in GAPS {
            for chosen in [Chebyshev::published(gap)?, Chebyshev::optimal(gap)?] {
                assert_eq!(parts(chosen.g, chosen.radius)?, chosen);
            }
        }
        for (g, radius) in [(1.9, 0.1), (1.0, 0.5), (2.0, 0.99)] {
            assert!(matches!(parts(g, radius), Err(Error::InvalidParameter { .. })));
        }
        Ok(())
    }

    #[test]
    fn reference_values() -> Result<(), Error> {
        for (gap, published, optimal) in [
            (0.01, 1.8183885825566206, 1.752744903996207),
            (0.3, 1.3099441172522162, 1.1667639067172042),
            (1.0, 1.0717967697244908, 1.0),
        ] {
            assert_relative_eq!(Chebyshev::published(gap)?.g(), published, max_relative = 1e-15);
            assert_relative_eq!(Chebyshev::optimal(gap)?.g(), optimal, max_relative = 1e-15);
        }
        Ok(())
    }

    /// The stable form is the printed one, `2 (1 - √(l (1 - l/4))) / (1 - l/2)²`.
    #[test]
    fn the_published_parameter_is_the_printed_formula() -> Result<(), Error> {
        for gap in GAPS {
            let printed = 2.0 * (1.0 - (gap * (1.0 - gap / 4.0)).sqrt()) / (1.0 - gap / 2.0f64).powi(2);
            assert_relative_eq!(Chebyshev::published(gap)?.g(), printed, max_relative = 1e-14);
            assert!((1.0..2.0).contains(&Chebyshev::published(gap)?.g()));
            assert!((1.0..2.0).contains(&Chebyshev::optimal(gap)?.g()));
        }
        Ok(())
    }

    #[test]
    fn gaps_outside_their_range_are_refused() {
        for gap in [0.0, -0.1, 1.0 + 1e-9, f64::NAN, f64::INFINITY] {
            assert!(matches!(Chebyshev::published(gap), Err(Error::InvalidParameter { .. })));
            assert!(matches!(Chebyshev::optimal(gap), Err(Error::InvalidParameter { .. })));
        }
    }

    #[test]
    fn polynomials_are_one_at_one() -> Result<(), Error> {
        for gap in GAPS {
            for t in [0, 1, 2, 3, 10, 300] {
                assert_abs_diff_eq!(Chebyshev::published(gap)?.evaluate(t, 1.0), 1.0, epsilon = 1e-12);
                assert_abs_diff_eq!(Chebyshev::optimal(gap)?.evaluate(t, 1.0), 1.0, epsilon = 1e-12);
            }
        }
        Ok(())
    }

    /// The maximum of `|P_t(x)|` over `|x| ≤ ρ` is at `ρ`, and it is the bound.
    #[test]
    fn the_bound_is_the_maximum() -> Result<(), Error> {
        for gap in GAPS {
            for (parameter, radius) in
                [(Chebyshev::optimal(gap)?, 1.0 - gap), (Chebyshev::published(gap)?, 1.0 - gap / 2.0)]
            {
                for t in [0, 1, 2, 3, 7, 50, 200] {
                    let bound = parameter.bound(t);
                    // What the bound allows for `g`, which is known to a few ulps over the sine.
                    let margin = 16.0 * t as f64 / parameter.sine().max(1e-8) * f64::EPSILON;
                    assert_relative_eq!(
                        parameter.evaluate(t, radius),
                        bound,
                        max_relative = 1e-9 + margin,
                        epsilon = 1e-15
                    );
                    for i in 0..=1000 {
                        let x = radius * (f64::from(i) / 500.0 - 1.0);
                        assert!(parameter.evaluate(t, x).abs() <= bound + 1e-12, "{gap} {t} {x}");
                    }
                }
            }
        }
        Ok(())
    }

    /// `max |P_t(x)|` over `|x| ≤ 1 - gap`, published parameter.
    fn largest(gap: f64, t: usize) -> Result<f64, Error> {
        let parameter = Chebyshev::published(gap)?;
        let values = (0..=2000).map(|i| parameter.evaluate(t, (1.0 - gap) * f64::from(i) / 2000.0).abs());
        Ok(values.fold(0.0, f64::max))
    }

    /// The intermediate claim `‖P_t(W) y‖² ≤ 2 (1 - √l)^t ‖y‖²` fails for gaps above 0.783069257, first at
    /// these `t`.
    #[test]
    fn the_intermediate_claim_is_false() -> Result<(), Error> {
        for (gap, first) in [(1.0 - 0.2146, 93), (0.8, 13), (0.9, 2)] {
            for t in 0..=first {
                let claimed = 2.0 * (1.0 - f64::sqrt(gap)).powi(t as i32);
                assert_eq!(largest(gap, t)?.powi(2) <= claimed, t < first, "gap {gap}, t {t}");
            }
        }
        // The rate (1 - s)/(1 + s), s = √(l (1 - l/4)), of P_t² crosses the claimed 1 - √l there.
        let excess = |gap: f64| {
            let s = (gap * (1.0 - gap / 4.0)).sqrt();
            (1.0 - s) / (1.0 + s) - (1.0 - gap.sqrt())
        };
        assert!(excess(0.783069256) < 0.0 && excess(0.783069258) > 0.0);
        for t in 0..400 {
            assert!(largest(0.78, t)?.powi(2) <= 2.0 * (1.0 - f64::sqrt(0.78)).powi(t as i32));
        }
        Ok(())
    }

    /// The form that the convergence theorem uses, `2 e^{-t √l}`, holds for every gap. The largest ratio,
    /// 0.57990, is approached for small gaps.
    #[test]
    fn the_form_in_use_holds() -> Result<(), Error> {
        let claimed = |gap: f64, t: usize| 2.0 * (-(t as f64) * gap.sqrt()).exp();
        let mut worst: f64 = 0.0;
        for i in 1..=100 {
            let gap = f64::from(i) / 100.0;
            for t in 0..(20.0 / gap.sqrt()) as usize {
                worst = worst.max(largest(gap, t)?.powi(2) / claimed(gap, t));
            }
        }
        assert!(worst < 0.57990);
        let slow = 1e-6;
        let at_edge = Chebyshev::published(slow)?.evaluate(322, 1.0 - slow).powi(2) / claimed(slow, 322);
        assert_abs_diff_eq!(at_edge, 0.57990, epsilon = 5e-6);
        Ok(())
    }

    /// At gap 1 the published iteration has reached consensus at `P_1` and leaves it again; the optimal one
    /// stays there.
    #[test]
    fn the_published_parameter_leaves_consensus_at_gap_one() -> Result<(), Error> {
        let published = Chebyshev::published(1.0)?;
        assert_eq!(published.evaluate(1, 0.0), 0.0);
        assert_relative_eq!(published.evaluate(2, 0.0), 1.0 - published.g());
        assert_eq!(Chebyshev::optimal(1.0)?.evaluate(2, 0.0), 0.0);
        Ok(())
    }

    /// The recursion on vectors is the polynomial of the eigenvalues, and keeps the mean.
    #[test]
    fn vectors_follow_the_polynomial() -> Result<(), Error> {
        for graph in [grid_2d_graph(3, 5)?, cycle_graph(7)?] {
            let matrix = GossipMatrix::metropolis(&graph);
            let spectrum = Spectrum::new(&matrix)?;
            let n = graph.node_count();
            let x = Array2::from_shape_fn((n, 3), |(i, j)| ((i * i + 3 * j) % 7) as f64);
            for parameter in [
                Chebyshev::published(extremes(&matrix)?.gap_abs()?)?,
                Chebyshev::optimal(extremes(&matrix)?.gap_abs()?)?,
            ] {
                for t in [0, 1, 2, 3, 20] {
                    let values = spectrum.values().mapv(|value| parameter.evaluate(t, value));
                    let filtered = &spectrum.vectors() * &values.insert_axis(Axis(0));
                    let polynomial = gemm(filtered.view(), spectrum.vectors().t())?;
                    let expected = gemm(polynomial.view(), x.view())?;
                    let found = parameter.apply(&matrix, x.view(), t)?;
                    assert!((&found - &expected).iter().all(|difference| difference.abs() < 1e-12));
                    let mean_shift = found.sum_axis(Axis(0)) - x.sum_axis(Axis(0));
                    assert!(mean_shift.iter().all(|shift| shift.abs() < 1e-12 * n as f64));
                    let column: Vec<f64> = x.column(1).to_vec();
                    assert_eq!(parameter.apply_vector(&matrix, &column, t)?, found.column(1).to_vec());
                }
            }
            let wrong = Array2::zeros((n + 1, 1));
            let shape = Error::Shape { what: "rows of the values", expected: n, got: n + 1 };
            assert_eq!(Chebyshev::optimal(0.5)?.apply(&matrix, wrong.view(), 1), Err(shape));
        }
        Ok(())
    }
}
