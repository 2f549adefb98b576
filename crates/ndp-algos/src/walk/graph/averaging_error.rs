//! Exact errors of averaging by a walking token.
//!
//! With `a = 1 − 2γ`, `ỹ = y − ȳ` and `c_k = (1/n) Σ ỹᵀ W^k ỹ` over the coordinates, a walk from a
//! uniform start that averages with constant steps `γ` and noise of variance `σ²` per coordinate of a
//! value has
//!
//! ```text
//! E‖x_T − ȳ‖² = a^{2T} ‖x_0 − ȳ‖² + 4γ² Σ_{i,j<T} a^{2T−2−i−j} c_{|i−j|} + 4γ² dσ² (1 − a^{2T})/(1 − a²).
//! ```
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*,
//!   ICML 2024: the averaging task of section 5.

use super::averaging::{Steps, TokenAveraging};
use super::contribution::require_positive;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Sigma;
use ndp_graph::GossipMatrix;

impl TokenAveraging {
    /// `E‖x_T − ȳ‖²` after `steps` steps of a walk from a uniform start on which every visit is a
    /// contribution; `None` asks for the limit of many steps. Exact, for a constant step and for the running
    /// average.
    ///
    /// `values` is `n` by `d`; `sigma` is the standard deviation of the noise on each coordinate of a value.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::InvalidParameter`] for no step, or for a step size outside `(0, 1]`: beyond
    /// 1 the token diverges, and at 1, where it never forgets its start, there is no limit.
    /// [`Error::NotOffered`] for other steps, and for the limit of a running average.
    ///
    /// # Complexity
    /// `O(T · nonzeros · d)`, less if `(1 − 2γ)^T` vanishes before the last step.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array2, array};
    /// use ndp_algos::walk::FinalToken;
    /// use ndp_algos::walk::graph::{Steps, TokenAveraging};
    /// use ndp_graph::{GossipMatrix, generators::cycle_graph};
    /// let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
    /// let values = Array2::from_shape_fn((6, 1), |(v, _)| v as f64);
    /// let (initial, final_token) = (array![1.0], FinalToken::Withheld);
    /// let averaging = TokenAveraging { steps: Steps::Constant(0.1), initial, final_token };
    /// let error = |steps| averaging.mean_squared_error(&matrix, values.view(), ndp_dp::Sigma::new(0.1)?, steps);
    /// assert!((error(Some(5000))? - error(None)?).abs() < 1e-12);
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    pub fn mean_squared_error(
        &self,
        matrix: &GossipMatrix,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        steps: Option<usize>,
    ) -> Result<f64, Error> {
        self.check()?;
        match (&self.steps, steps) {
            (&Steps::Constant(gamma), Some(steps)) => {
                mean_squared_error(matrix, values, self.initial.view(), (gamma, sigma), steps)
            }
            (&Steps::Constant(gamma), None) => limit_of_mean_squared_error(matrix, values, (gamma, sigma)),
            (Steps::RunningAverage, Some(steps)) => {
                mean_squared_error_of_running_average(matrix, values, sigma, steps)
            }
            _ => Err(Error::NotOffered(
                "the error is known for constant steps and for so many steps of a running average",
            )),
        }
    }
}

/// `E‖x_T − ȳ‖²` of averaging with constant steps after `steps` steps from a uniform start.
///
/// `values` is `n` by `d`; `sigma` is the standard deviation of the noise on each coordinate of a value.
/// Exact, for walks on which every visit is a contribution.
///
/// # Errors
/// [`Error::Shape`]; [`Error::InvalidParameter`] for no step, or a step size outside `(0, 1]`, beyond
/// which the token diverges.
///
/// # Complexity
/// `O(T · nonzeros · d)`, less if `a^T` vanishes before the last step.
fn mean_squared_error(
    matrix: &GossipMatrix,
    values: ArrayView2<'_, f64>,
    initial: ArrayView1<'_, f64>,
    (gamma, sigma): (f64, Sigma),
    steps: usize,
) -> Result<f64, Error> {
    require_positive("the number of steps", steps)?;
    require_step(gamma)?;
    let (deviation, start) = deviations(matrix, values, initial)?;
    let a = 1.0 - 2.0 * gamma;
    // Σ_{m < count} a^{2m}.
    let geometric = |count: usize| {
        let square = a * a;
        if square == 1.0 { count as f64 } else { (1.0 - square.powf(count as f64)) / (1.0 - square) }
    };
    let mut walk = 0.0;
    let mut factor = 1.0;
    for (k, covariance) in covariances(matrix, deviation).take(steps).enumerate() {
        walk += if k == 0 { 1.0 } else { 2.0 } * factor * covariance * geometric(steps - k);
        factor *= a;
        if factor.abs() < 1e-18 {
            break;
        }
    }
    let noise = values.ncols() as f64 * sigma.get() * sigma.get() * geometric(steps);
    let forgotten = (a * a).powf(steps as f64) * start;
    Ok(forgotten + 4.0 * gamma * gamma * (walk + noise))
}

/// The limit of [`mean_squared_error`] for many steps,
/// `(4γ²/(1 − a²)) ( (1/n) ỹᵀ (I + aW)(I − aW)^{-1} ỹ + dσ² )`.
///
/// # Errors
/// As [`mean_squared_error`]. A step size of 1 is refused: the token then never forgets where it started.
fn limit_of_mean_squared_error(
    matrix: &GossipMatrix,
    values: ArrayView2<'_, f64>,
    (gamma, sigma): (f64, Sigma),
) -> Result<f64, Error> {
    require_step(gamma)?;
    let a = 1.0 - 2.0 * gamma;
    ensure(a > -1.0, "the step size", "be below 1 for a limit", gamma)?;
    let (deviation, _) = deviations(matrix, values, Array1::zeros(values.ncols()).view())?;
    // (I + aW)(I − aW)^{-1} = 2 (I − aW)^{-1} − I, and I − aW is positive definite.
    let solution = conjugate_gradients(matrix, a, &deviation)?;
    let product: f64 = deviation.iter().zip(&solution).map(|(y, x)| y * (2.0 * x - y)).sum();
    let noise = values.ncols() as f64 * sigma.get() * sigma.get();
    Ok(4.0 * gamma * gamma / (1.0 - a * a) * (product / matrix.node_count() as f64 + noise))
}

/// `E‖x_T − ȳ‖²` of the running average of all visits from a uniform start:
/// `(1/T²) Σ_{i,j<T} c_{|i−j|} + dσ²/T`.
///
/// # Errors
/// [`Error::Shape`]; [`Error::InvalidParameter`] for no step.
fn mean_squared_error_of_running_average(
    matrix: &GossipMatrix,
    values: ArrayView2<'_, f64>,
    sigma: Sigma,
    steps: usize,
) -> Result<f64, Error> {
    require_positive("the number of steps", steps)?;
    let (deviation, _) = deviations(matrix, values, Array1::zeros(values.ncols()).view())?;
    let t = steps as f64;
    let walk: f64 = covariances(matrix, deviation)
        .take(steps)
        .enumerate()
        .map(|(k, covariance)| if k == 0 { t } else { 2.0 * (t - k as f64) } * covariance)
        .sum();
    Ok(walk / (t * t) + values.ncols() as f64 * sigma.get() * sigma.get() / t)
}

/// `y − ȳ`, `n` by `d`, and `‖x_0 − ȳ‖²`.
fn deviations(
    matrix: &GossipMatrix,
    values: ArrayView2<'_, f64>,
    initial: ArrayView1<'_, f64>,
) -> Result<(Array2<f64>, f64), Error> {
    let (n, d) = values.dim();
    for (what, expected, got) in [
        ("rows of the values", matrix.node_count(), n),
        ("coordinates of the initial token", d, initial.len()),
    ] {
        if expected != got {
            return Err(Error::Shape { what, expected, got });
        }
    }
    if let Some(&value) = values.iter().chain(&initial).find(|x| !x.is_finite()) {
        return Err(Error::InvalidParameter { name: "every value", condition: "be finite", value });
    }
    let mean = values.sum_axis(Axis(0)) / n as f64;
    let start = (&initial - &mean).iter().map(|x| x * x).sum();
    Ok((&values - &mean, start))
}

/// `c_0, c_1, …`: `c_k = (1/n) Σ ỹᵀ W^k ỹ` over the coordinates.
fn covariances(matrix: &GossipMatrix, deviation: Array2<f64>) -> impl Iterator<Item = f64> + '_ {
    let n = matrix.node_count() as f64;
    let mut moved: Vec<Vec<f64>> = deviation.columns().into_iter().map(|column| column.to_vec()).collect();
    let mut next = vec![0.0; matrix.node_count()];
    std::iter::repeat_with(move || {
        let mut sum = 0.0;
        for (moved, fixed) in moved.iter_mut().zip(deviation.columns()) {
            sum += moved.iter().zip(fixed).map(|(x, y)| x * y).sum::<f64>();
            matrix.csr().multiply(moved, &mut next);
            std::mem::swap(moved, &mut next);
        }
        sum / n
    })
}

/// `(I − aW)^{-1}` applied to every column of `right`, to full accuracy.
fn conjugate_gradients(matrix: &GossipMatrix, a: f64, right: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let n = matrix.node_count();
    let mut solution = Array2::zeros(right.dim());
    let mut image = vec![0.0; n];
    for (mut x, b) in solution.columns_mut().into_iter().zip(right.columns()) {
        let mut residual = b.to_vec();
        let mut direction = residual.clone();
        let mut square: f64 = residual.iter().map(|r| r * r).sum();
        let goal = square * 1e-30;
        let mut rounds = 0;
        while square > goal {
            matrix.csr().multiply(&direction, &mut image);
            image.iter_mut().zip(&direction).for_each(|(image, d)| *image = d - a * *image);
            let curvature: f64 = direction.iter().zip(&image).map(|(d, i)| d * i).sum();
            let length = square / curvature;
            for (k, (r, i)) in residual.iter_mut().zip(&image).enumerate() {
                x[k] += length * direction[k];
                *r -= length * i;
            }
            let before = std::mem::replace(&mut square, residual.iter().map(|r| r * r).sum());
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + square / before * *d);
            rounds += 1;
            if rounds > 100_000 || !square.is_finite() {
                return Err(Error::Graph(ndp_graph::Error::NoConvergence {
                    what: "the limit of the mean squared error",
                    steps: rounds,
                    residual: square.sqrt(),
                }));
            }
        }
    }
    Ok(solution)
}

fn require_step(gamma: f64) -> Result<(), Error> {
    if 0.0 < gamma && gamma <= 1.0 {
        return Ok(());
    }
    Err(Error::InvalidParameter { name: "the step size", condition: "lie in (0, 1]", value: gamma })
}

#[cfg(test)]
mod tests {
    use super::super::path::TokenWalk;
    use super::*;
    use crate::walk::FinalToken;
    use approx::assert_relative_eq;
    use ndarray::array;
    use ndp_graph::TransitionMatrix;
    use ndp_graph::generators::{cycle_graph, path_graph};
    use ndp_graph::hitting::Start;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn averaging(steps: Steps) -> TokenAveraging {
        TokenAveraging { steps, initial: array![1.0], final_token: FinalToken::Withheld }
    }

    fn ring_of_6() -> (GossipMatrix, Array2<f64>) {
        let values = Array2::from_shape_fn((6, 1), |(v, _)| v as f64);
        (GossipMatrix::metropolis(&cycle_graph(6).unwrap()), values)
    }

    /// Noise on a gradient of variance .5 is noise on a value of variance .125.
    fn noise() -> Sigma {
        Sigma::new((0.5f64 / 4.0).sqrt()).unwrap()
    }

    /// Section 3 of the specification: ring of 6, y = (0, …, 5), γ = .1, s2 = .5, x_0 = 1.
    #[test]
    fn the_reference_errors() -> Result<(), Error> {
        let (w, y) = ring_of_6();
        let error = mean_squared_error(&w, y.view(), array![1.0].view(), (0.1, noise()), 8)?;
        assert_relative_eq!(error, 0.837_154_506_821_077_5, max_relative = 1e-13);
        let limit = limit_of_mean_squared_error(&w, y.view(), (0.1, noise()))?;
        assert_relative_eq!(limit, 0.834_203_564_466_722_8, max_relative = 1e-13);
        let late = mean_squared_error(&w, y.view(), array![1.0].view(), (0.1, noise()), 5000)?;
        assert_relative_eq!(late, limit, max_relative = 1e-13);
        // The public method gives the same.
        let averaging = averaging(Steps::Constant(0.1));
        let ask =
            |averaging: &TokenAveraging, steps| averaging.mean_squared_error(&w, y.view(), noise(), steps);
        assert_eq!((ask(&averaging, Some(8))?, ask(&averaging, None)?), (error, limit));
        let running = TokenAveraging { steps: Steps::RunningAverage, ..averaging.clone() };
        let expected = mean_squared_error_of_running_average(&w, y.view(), noise(), 20)?;
        assert_eq!(ask(&running, Some(20))?, expected);
        assert!(matches!(ask(&running, None), Err(Error::NotOffered(_))));
        Ok(())
    }

    /// The double sum of the formula, written out with powers of the dense matrix.
    #[test]
    fn the_fast_sum_is_the_double_sum() -> Result<(), Error> {
        let w = GossipMatrix::metropolis(&path_graph(4)?);
        let dense = w.to_dense()?;
        let y = array![[1.0, 0.5], [-2.0, 0.0], [0.3, 4.0], [7.0, -1.0]];
        let initial = array![2.0, -1.0];
        let mean = y.sum_axis(Axis(0)) / 4.0;
        let deviation = &y - &mean;
        for gamma in [0.1, 0.5, 0.8, 1.0] {
            for steps in [1, 2, 7] {
                let mut powers = vec![Array2::eye(4)];
                (1..steps).for_each(|k| powers.push(powers[k - 1].dot(&dense)));
                let c: Vec<f64> =
                    powers.iter().map(|p| (&deviation * &p.dot(&deviation)).sum() / 4.0).collect();
                let a: f64 = 1.0 - 2.0 * gamma;
                let mut sum = 0.0;
                for i in 0..steps {
                    for j in 0..steps {
                        sum += a.powi((2 * steps - 2 - i - j) as i32) * c[i.abs_diff(j)];
                    }
                }
                let noise: f64 = (0..steps).map(|m| 2.0 * 0.09 * a.powi(2 * m as i32)).sum();
                let start: f64 = (&initial - &mean).iter().map(|x| x * x).sum();
                let expected = a.powi(2 * steps as i32) * start + 4.0 * gamma * gamma * (sum + noise);
                let sigma = Sigma::new(0.3).unwrap();
                let found = mean_squared_error(&w, y.view(), initial.view(), (gamma, sigma), steps)?;
                assert_relative_eq!(found, expected, max_relative = 1e-12);
            }
        }
        Ok(())
    }

    /// Simulated means within four standard errors, constant steps and running average.
    #[test]
    fn simulated_errors_agree() -> Result<(), Error> {
        let (w, y) = ring_of_6();
        let transition = TransitionMatrix::from(&w);
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let running = mean_squared_error_of_running_average(&w, y.view(), noise(), 20)?;
        let constant = mean_squared_error(&w, y.view(), array![1.0].view(), (0.1, noise()), 8)?;
        for (steps, length, expected) in
            [(Steps::Constant(0.1), 8, constant), (Steps::RunningAverage, 20, running)]
        {
            let averaging = averaging(steps);
            let walk = TokenWalk::new(&transition, Start::Uniform, length)?;
            let runs = 40_000;
            let squares: Vec<f64> = (0..runs)
                .map(|_| {
                    let path = walk.sample(&mut rng);
                    averaging
                        .run(&path, y.view(), noise(), &mut rng)
                        .map(|run| (run.tokens[(length, 0)] - 2.5).powi(2))
                })
                .collect::<Result<_, _>>()?;
            let mean = squares.iter().sum::<f64>() / f64::from(runs);
            let variance = squares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(runs);
            assert!(
                (mean - expected).abs() <= 4.0 * (variance / f64::from(runs)).sqrt(),
                "{mean} {expected}"
            );
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let (w, y) = ring_of_6();
        let at = array![1.0];
        let invalid = |result: Result<f64, Error>| matches!(result, Err(Error::InvalidParameter { .. }));
        assert!(invalid(mean_squared_error(&w, y.view(), at.view(), (0.1, noise()), 0)));
        for gamma in [0.0, 1.1, f64::NAN] {
            assert!(invalid(mean_squared_error(&w, y.view(), at.view(), (gamma, noise()), 5)));
        }
        assert!(invalid(limit_of_mean_squared_error(&w, y.view(), (1.0, noise()))));
        assert!(invalid(mean_squared_error_of_running_average(&w, y.view(), noise(), 0)));
        let short = Array2::zeros((5, 1));
        assert!(matches!(
            mean_squared_error(&w, short.view(), at.view(), (0.1, noise()), 5),
            Err(Error::Shape { .. })
        ));
        Ok(())
    }
}
