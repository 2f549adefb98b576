//! How far a walk gets: Theorem 2, averages over a long walk, and the walk length of the programs.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*,
//!   ICML 2024: Theorem 2, section 5 and the programs published with it.
//! - Levin, Peres, *Markov Chains and Mixing Times*, second edition: Theorem 12.21.

use super::contribution::require_positive;
use crate::Error;
use crate::error::ensure;
use crate::numeric::floor;
use ndp_dp::{Estimate, NoiseMultiplier, UpperBound};
use ndp_graph::mixing_time::{mixing_time, mixing_time_bound};
use ndp_graph::{GossipMatrix, TransitionMatrix, spectrum};

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
    ensure(0.0 < eta && eta.is_finite(), "the accuracy eta", "be positive and finite", eta)?;
    ensure(0.0 < p && p < 1.0, "the probability p of failure", "lie in (0, 1)", p)?;
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n as f64;
    let gap = spectrum::extremes(matrix)?.gap_signed()?;
    let burn_in = if n <= EXACT_MIXING {
        mixing_time(&TransitionMatrix::from(matrix), p / 2.0)?
    } else {
        mixing_time_bound(spectrum::extremes(matrix)?.gap_abs()?, 1.0 / n as f64, p / 2.0)?
    };
    // The gap is known to rounding; a million ulps of slack are not noticed.
    let steps = 4.0 * variance / (eta * eta * p * gap) * (1.0 + 1e-9);
    // Written so that NaN fails.
    let fits = steps < 1e18;
    ensure(fits, "the number of steps", "be below 1e18: ask for less accuracy", steps)?;
    Ok(UpperBound::new(ErgodicPlan { burn_in, steps: (floor(steps.ceil()) as u64).max(1) }))
}

/// The walk length of the published programs, `⌊20 ⌈ln n / gap⌉ (0.25 + σ²)/σ²⌋`, with the signed gap.
///
/// Grade: an estimate; no theorem behind it.
///
/// # Errors
/// [`Error::InvalidParameter`] for fewer than 2 nodes or a gap that is not positive.
pub fn walk_length(nodes: usize, gap_signed: f64, noise: NoiseMultiplier) -> Result<Estimate<u64>, Error> {
    ensure(nodes >= 2, "the number of nodes", "be at least 2 for a walk", nodes as f64)?;
    ensure(
        0.0 < gap_signed && gap_signed.is_finite(),
        "the spectral gap",
        "be positive and finite",
        gap_signed,
    )?;
    let square = noise.get() * noise.get();
    let length = 20.0 * ((nodes as f64).ln() / gap_signed).ceil() * (0.25 + square) / square;
    // Written so that NaN fails.
    let fits = length < 1e18;
    ensure(fits, "the number of steps", "be below 1e18: the gap or the noise is too small", length)?;
    Ok(Estimate::new(floor(length) as u64))
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
pub struct WalkConvergence {
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
pub fn theorem_2(problem: &StronglyConvex, steps: usize) -> Result<Estimate<WalkConvergence>, Error> {
    require_positive("the number of steps", steps)?;
    let p = problem;
    for (name, value) in [("the smoothness L", p.smoothness), ("the strong convexity mu", p.strong_convexity)]
    {
        ensure(0.0 < value && value.is_finite(), name, "be positive and finite", value)?;
    }
    for (name, value) in [
        ("the heterogeneity", p.heterogeneity),
        ("the mixing time", p.mixing_time),
        ("the initial distance", p.initial_distance_squared),
        ("the variance of a step", p.variance),
    ] {
        ensure(0.0 <= value && value.is_finite(), name, "be finite and nonnegative", value)?;
    }
    let (l, mu, t) = (p.smoothness, p.strong_convexity, steps as f64);
    let drift = 39.0 * p.mixing_time * p.heterogeneity * l;
    let log = (t * mu.powi(3) * p.initial_distance_squared / drift).ln();
    let first = 2.0 * (-t * mu / l).exp() * p.initial_distance_squared;
    let per_step = drift / (mu * mu) + p.variance / mu;
    let convergence = if 0.0 < log && log < f64::INFINITY {
        WalkConvergence { step: (log / (mu * t)).min(1.0 / l), error: first + per_step * log / (mu * t) }
    } else {
        WalkConvergence { step: 1.0 / l, error: first + per_step / l }
    };
    Ok(Estimate::new(convergence))
}

/// Up to so many nodes mixing times are computed exactly.
const EXACT_MIXING: usize = 300;

#[cfg(test)]
mod tests {
    use super::super::path::TokenWalk;
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::Graph;
    use ndp_graph::generators::{cycle_graph, hypercube_graph};
    use ndp_graph::hitting::Start;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn the_ergodic_plan_is_kept() -> Result<(), Error> {
        let w = GossipMatrix::metropolis(&cycle_graph(6)?);
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
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
        let gap = spectrum::extremes(&w)?.gap_signed()?;
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
        let w = GossipMatrix::metropolis(&cycle_graph(6)?);
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
