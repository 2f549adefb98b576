//! What a walk delivers: exact errors of averaging, and printed or ergodic statements about accuracy.
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
//!   ICML 2024: Theorem 2 and section 5.
//! - Levin, Peres, *Markov Chains and Mixing Times*, second edition: Theorem 12.21.

use super::contribution::require_positive;
use crate::Error;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use ndp_dp::{Estimate, NoiseMultiplier, Sigma, UpperBound};
use ndp_graph::mixing_time::{mixing_time, mixing_time_bound};
use ndp_graph::{GossipMatrix, TransitionMatrix, spectrum};

/// `E‖x_T − ȳ‖²` of averaging with constant steps after `steps` steps from a uniform start.
///
/// `values` is `n` by `d`; `sigma` is the noise on a value, per coordinate. Exact, for walks on which
/// every visit is a contribution.
///
/// # Errors
/// [`Error::Shape`]; [`Error::InvalidParameter`] for no step, or a step size outside `(0, 1]`, beyond
/// which the token diverges.
///
/// # Complexity
/// `O(T · nonzeros · d)`, fewer when `a^T` vanishes.
pub fn mean_squared_error(
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
/// As [`mean_squared_error`]; a step size of 1 is refused: the token then never forgets.
pub fn limit_of_mean_squared_error(
    matrix: &GossipMatrix,
    values: ArrayView2<'_, f64>,
    (gamma, sigma): (f64, Sigma),
) -> Result<f64, Error> {
    require_step(gamma)?;
    let a = 1.0 - 2.0 * gamma;
    if a <= -1.0 {
        return Err(Error::InvalidParameter {
            name: "the step size",
            condition: "be below 1 for a limit",
            value: gamma,
        });
    }
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
pub fn mean_squared_error_of_running_average(
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

/// A burn-in and a number of averaged steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErgodicPlan {
    /// Steps to walk before averaging, `τ_mix(p/2)`.
    pub burn_in: u64,
    /// Steps to average over.
    pub steps: u64,
}

/// How long to walk so that the average of the visited values is within `eta` of their mean with
/// probability at least `1 − p`, from any start: `t ≥ 4 Var(y) / (η² p · gap)` steps after `τ_mix(p/2)`.
///
/// Noise is not counted. Grade: upper bound on the number of steps needed (Chebyshev, so crude);
/// reversible chains. The paper prints it with `η = p = ι`, as `4δ²/(ι³ λ)`.
///
/// # Errors
/// [`Error::Shape`]; [`Error::InvalidParameter`] for `eta` that is not positive or `p` outside
/// `(0, 1)`; [`Error::Graph`] for a walk that is disconnected or periodic.
pub fn ergodic_average(
    matrix: &GossipMatrix,
    values: &[f64],
    eta: f64,
    p: f64,
) -> Result<UpperBound<ErgodicPlan>, Error> {
    let n = matrix.node_count();
    if values.len() != n {
        return Err(Error::Shape { what: "values", expected: n, got: values.len() });
    }
    if !(0.0 < eta && eta.is_finite()) {
        let (name, condition) = ("the accuracy eta", "be positive and finite");
        return Err(Error::InvalidParameter { name, condition, value: eta });
    }
    if !(0.0 < p && p < 1.0) {
        let (name, condition) = ("the probability p of failure", "lie in (0, 1)");
        return Err(Error::InvalidParameter { name, condition, value: p });
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n as f64;
    let gap = spectrum::gap_signed(matrix)?;
    let burn_in = if n <= EXACT_MIXING {
        mixing_time(&TransitionMatrix::from(matrix), p / 2.0)?
    } else {
        mixing_time_bound(spectrum::gap_abs(matrix)?, 1.0 / n as f64, p / 2.0)?
    };
    // The gap is known to rounding; a million ulps of slack are not noticed.
    let steps = 4.0 * variance / (eta * eta * p * gap) * (1.0 + 1e-9);
    // Written so that NaN fails.
    let fits = steps < 1e18;
    if !fits {
        let (name, condition) = ("the number of steps", "be below 1e18: ask for less accuracy");
        return Err(Error::InvalidParameter { name, condition, value: steps });
    }
    Ok(UpperBound::new(ErgodicPlan { burn_in, steps: (steps.ceil() as u64).max(1) }))
}

/// The walk length of the published programs, `⌊20 ⌈ln n / gap⌉ (0.25 + σ²)/σ²⌋`, with the signed gap.
///
/// Grade: an estimate; no theorem behind it.
///
/// # Errors
/// [`Error::InvalidParameter`] for fewer than 2 nodes or a gap that is not positive.
pub fn walk_length(nodes: usize, gap_signed: f64, noise: NoiseMultiplier) -> Result<Estimate<u64>, Error> {
    if nodes < 2 {
        let (name, condition) = ("the number of nodes", "be at least 2 for a walk");
        return Err(Error::InvalidParameter { name, condition, value: nodes as f64 });
    }
    if !(0.0 < gap_signed && gap_signed.is_finite()) {
        let (name, condition) = ("the spectral gap", "be positive and finite");
        return Err(Error::InvalidParameter { name, condition, value: gap_signed });
    }
    let square = noise.get() * noise.get();
    let length = 20.0 * ((nodes as f64).ln() / gap_signed).ceil() * (0.25 + square) / square;
    // Written so that NaN fails.
    let fits = length < 1e18;
    if !fits {
        let (name, condition) = ("the number of steps", "be below 1e18: the gap or the noise is too small");
        return Err(Error::InvalidParameter { name, condition, value: length });
    }
    Ok(Estimate::new(length.floor() as u64))
}

/// What Theorem 2 is about: private SGD by a walk on a strongly convex problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StronglyConvex {
    /// Smoothness `L` of the mean objective.
    pub smoothness: f64,
    /// Strong convexity `μ` of the mean objective.
    pub strong_convexity: f64,
    /// `ζ²`: bound on the squared norm of every local gradient at the minimiser.
    pub heterogeneity: f64,
    /// Mixing time `τ_mix(1/4)` of the walk.
    pub mixing_time: f64,
    /// `‖x_0 − x*‖²`.
    pub initial_distance_squared: f64,
    /// Total variance of the noise of a step and of its stochastic gradient, `dσ²Δ² + s²_sgd`.
    pub variance: f64,
}

/// A step size and the error that goes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// Step size `γ`.
    pub step: f64,
    /// `E‖x_T − x*‖²`.
    pub error: f64,
}

/// Theorem 2, reconstructed: `γ = min{1/L, ln(B)/(μT)}` and
/// `2e^{−Tμ/L} ‖x_0 − x*‖² + (39 τ ζ² L/(μ³T) + variance/(μ²T)) ln B`, `B = T μ³ ‖x_0 − x*‖² / (39 L τ ζ²)`.
///
/// Grade: an estimate. The constant 39 could not be confirmed, and the printed powers of `μ` and `L` fail a
/// unit check and are corrected. Where `B ≤ 1` or infinite, `γ = 1/L` and its own error.
///
/// # Errors
/// [`Error::InvalidParameter`] for no step, or a constant that is not finite, negative, or 0 for `L` and `μ`.
pub fn theorem_2(problem: &StronglyConvex, steps: usize) -> Result<Estimate<Convergence>, Error> {
    require_positive("the number of steps", steps)?;
    let p = problem;
    for (name, value) in [("the smoothness L", p.smoothness), ("the strong convexity mu", p.strong_convexity)]
    {
        if !(0.0 < value && value.is_finite()) {
            return Err(Error::InvalidParameter { name, condition: "be positive and finite", value });
        }
    }
    for (name, value) in [
        ("the heterogeneity", p.heterogeneity),
        ("the mixing time", p.mixing_time),
        ("the initial distance", p.initial_distance_squared),
        ("the variance of a step", p.variance),
    ] {
        if !(0.0 <= value && value.is_finite()) {
            return Err(Error::InvalidParameter { name, condition: "be finite and nonnegative", value });
        }
    }
    let (l, mu, t) = (p.smoothness, p.strong_convexity, steps as f64);
    let drift = 39.0 * p.mixing_time * p.heterogeneity * l;
    let log = (t * mu.powi(3) * p.initial_distance_squared / drift).ln();
    let first = 2.0 * (-t * mu / l).exp() * p.initial_distance_squared;
    let per_step = drift / (mu * mu) + p.variance / mu;
    let convergence = if 0.0 < log && log < f64::INFINITY {
        Convergence { step: (log / (mu * t)).min(1.0 / l), error: first + per_step * log / (mu * t) }
    } else {
        Convergence { step: 1.0 / l, error: first + per_step / l }
    };
    Ok(Estimate::new(convergence))
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

/// `(I − aW)^{-1}` of every column, to full accuracy.
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

/// Up to so many nodes mixing times are computed exactly.
const EXACT_MIXING: usize = 300;

#[cfg(test)]
mod tests {
    use super::super::averaging::{Steps, TokenAveraging};
    use super::super::path::TokenWalk;
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;
    use ndp_graph::Graph;
    use ndp_graph::generators::{cycle_graph, hypercube_graph, path_graph};
    use ndp_graph::hitting::Start;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

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
            let averaging = TokenAveraging::new(steps, array![1.0])?;
            let walk = TokenWalk::new(&transition, Start::Uniform, length)?;
            let runs = 40_000;
            let squares: Vec<f64> = (0..runs)
                .map(|_| {
                    let path = walk.sample(&mut rng);
                    averaging.run(&path, y.view(), noise(), &mut rng).map(|run| (run.last()[0] - 2.5).powi(2))
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
    fn the_ergodic_plan_is_kept() -> Result<(), Error> {
        let (w, y) = ring_of_6();
        let values: Vec<f64> = y.iter().copied().collect();
        let plan = ergodic_average(&w, &values, 0.8, 0.2)?.into_value();
        // Var = 35/12, gap = 1/3.
        assert_eq!(plan.steps, (4.0 * 35.0 / 12.0 / (0.64 * 0.2 / 3.0f64)).ceil() as u64);
        let transition = TransitionMatrix::from(&w);
        let walk = TokenWalk::new(&transition, Start::Node(0), plan.steps as usize)?
            .with_burn_in(plan.burn_in as usize);
        let mut rng = ChaCha8Rng::seed_from_u64(10);
        let runs = 2000;
        let misses = (0..runs)
            .filter(|_| {
                let path = walk.sample(&mut rng);
                let visited = &path.holders()[..path.steps()];
                let mean = visited.iter().sum::<usize>() as f64 / path.steps() as f64;
                (mean - 2.5).abs() >= 0.8
            })
            .count();
        // Chebyshev is crude: four standard errors above p would be 0.236.
        assert!(misses as f64 / f64::from(runs) < 0.2);
        Ok(())
    }

    #[test]
    fn the_programs_walk_lengths() -> Result<(), Error> {
        let one = NoiseMultiplier::new(1.0).unwrap();
        let w = GossipMatrix::metropolis(&hypercube_graph(11)?);
        let gap = spectrum::gap_signed(&w)?;
        assert_eq!(*walk_length(2048, gap, one)?.value(), 1150);
        // The gaps the authors' programs found on their graphs of figure 1.
        for (nodes, gap, expected) in [
            (2048, 0.078_343_026_733_221_41, 2450),
            (2048, 0.004_725_217_003_778_677, 40_350),
            (2025, 0.000_985_116_464_988_376_4, 193_225),
        ] {
            assert_eq!(*walk_length(nodes, gap, one)?.value(), expected);
        }
        Ok(())
    }

    #[test]
    fn theorem_2_scales_as_units_demand() -> Result<(), Error> {
        let problem = StronglyConvex {
            smoothness: 2.0,
            strong_convexity: 2.0,
            heterogeneity: 0.01,
            mixing_time: 5.0,
            initial_distance_squared: 4.0,
            variance: 0.3,
        };
        let found = theorem_2(&problem, 1000)?.into_value();
        let log = (1000.0 * 8.0 * 4.0 / (39.0 * 2.0 * 5.0 * 0.01f64)).ln();
        let error = 8.0 * (-1000f64).exp() + (39.0 * 5.0 * 0.01 * 2.0 / 8.0 + 0.3 / 4.0) / 1000.0 * log;
        assert_relative_eq!(found.error, error, max_relative = 1e-13);
        assert_relative_eq!(found.step, log / 2000.0, max_relative = 1e-13);
        // x measured in units ten times smaller: distances grow by 10, gradients shrink by 10.
        let scaled = StronglyConvex {
            smoothness: 0.02,
            strong_convexity: 0.02,
            heterogeneity: 1e-4,
            initial_distance_squared: 400.0,
            variance: 0.003,
            ..problem
        };
        let scaled = theorem_2(&scaled, 1000)?.into_value();
        assert_relative_eq!(scaled.error, 100.0 * found.error, max_relative = 1e-12);
        // Without heterogeneity, or far from the asymptotic regime, the step is 1/L.
        for heterogeneity in [0.0, 1e9] {
            let found = theorem_2(&StronglyConvex { heterogeneity, ..problem }, 10)?.into_value();
            assert_eq!(found.step, 0.5);
            assert!(found.error.is_finite());
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
        // Periodic or in pieces: no ergodic average.
        let periodic = GossipMatrix::max_degree(&cycle_graph(6)?);
        assert!(matches!(ergodic_average(&periodic, &[0.0; 6], 0.1, 0.1), Err(Error::Graph(_))));
        let pieces = GossipMatrix::metropolis(&Graph::from_edges(4, [(0, 1), (2, 3)])?);
        assert!(matches!(ergodic_average(&pieces, &[0.0; 4], 0.1, 0.1), Err(Error::Graph(_))));
        assert!(ergodic_average(&w, &[0.0; 6], 0.1, 1.0).is_err());
        assert!(ergodic_average(&w, &[0.0; 6], f64::NAN, 0.1).is_err());
        assert!(ergodic_average(&w, &[0.0; 5], 0.1, 0.1).is_err());
        let one = NoiseMultiplier::new(1.0).unwrap();
        assert!(walk_length(1, 0.5, one).is_err() && walk_length(5, 0.0, one).is_err());
        assert!(walk_length(5, 1e-300, one).is_err());
        Ok(())
    }
}
