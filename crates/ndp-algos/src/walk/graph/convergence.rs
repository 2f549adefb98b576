//! How long the published programs walk.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*,
//!   ICML 2024: the programs published with it.

use crate::Error;
use crate::error::ensure;
use crate::numeric::floor;
use ndp_dp::{Estimate, NoiseMultiplier};

/// The walk length of the published programs, `⌊20 ⌈ln n / gap⌉ (0.25 + σ²)/σ²⌋`, with the signed gap.
///
/// Grade: an estimate; no theorem behind it.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::walk_length;
/// // The hypercube of 2048 nodes with equal weights has a gap of 1/6.
/// let length = walk_length(2048, 1.0 / 6.0, ndp_dp::NoiseMultiplier::new(1.0)?)?;
/// assert_eq!(*length.value(), 1150);
/// # Ok::<(), ndp_algos::Error>(())
/// ```
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

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::generators::hypercube_graph;
    use ndp_graph::{GossipMatrix, spectrum};

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

    /// A strongly convex problem as Theorem 2 has it: private SGD by a walk.
    #[derive(Clone, Copy)]
    struct Problem {
        smoothness: f64,
        strong_convexity: f64,
        heterogeneity: f64,
        mixing_time: f64,
        initial_distance_squared: f64,
        variance: f64,
    }

    /// Step and error of Theorem 2, its powers of `μ` and `L` corrected: `γ = min{1/L, ln(B)/(μT)}` and
    /// `2e^{−Tμ/L} ‖x_0 − x*‖² + (39 τ ζ² L/(μ³T) + variance/(μ²T)) ln B`, `B = T μ³ ‖x_0 − x*‖² / (39 L τ ζ²)`; where
    /// `B ≤ 1` or infinite, `γ = 1/L` and its own error.
    fn theorem_2(p: &Problem, steps: u32) -> (f64, f64) {
        let (l, mu, t) = (p.smoothness, p.strong_convexity, f64::from(steps));
        let drift = 39.0 * p.mixing_time * p.heterogeneity * l;
        let log = (t * mu.powi(3) * p.initial_distance_squared / drift).ln();
        let first = 2.0 * (-t * mu / l).exp() * p.initial_distance_squared;
        let per_step = drift / (mu * mu) + p.variance / mu;
        if 0.0 < log && log < f64::INFINITY {
            ((log / (mu * t)).min(1.0 / l), first + per_step * log / (mu * t))
        } else {
            (1.0 / l, first + per_step / l)
        }
    }

    #[test]
    fn theorem_2_scales_as_units_demand() {
        let problem = Problem {
            smoothness: 2.0,
            strong_convexity: 2.0,
            heterogeneity: 0.01,
            mixing_time: 5.0,
            initial_distance_squared: 4.0,
            variance: 0.3,
        };
        let found = theorem_2(&problem, 1000);
        let log = (1000.0 * 8.0 * 4.0 / (39.0 * 2.0 * 5.0 * 0.01f64)).ln();
        let error = 8.0 * (-1000f64).exp() + (39.0 * 5.0 * 0.01 * 2.0 / 8.0 + 0.3 / 4.0) / 1000.0 * log;
        assert_relative_eq!(found.1, error, max_relative = 1e-13);
        assert_relative_eq!(found.0, log / 2000.0, max_relative = 1e-13);
        // x measured in units ten times smaller: distances grow by 10, gradients shrink by 10.
        let scaled = Problem {
            smoothness: 0.02,
            strong_convexity: 0.02,
            heterogeneity: 1e-4,
            initial_distance_squared: 400.0,
            variance: 0.003,
            ..problem
        };
        let scaled = theorem_2(&scaled, 1000);
        assert_relative_eq!(scaled.1, 100.0 * found.1, max_relative = 1e-12);
        // Without heterogeneity, or far from the asymptotic regime, the step is 1/L.
        for heterogeneity in [0.0, 1e9] {
            let found = theorem_2(&Problem { heterogeneity, ..problem }, 10);
            assert_eq!(found.0, 0.5);
            assert!(found.1.is_finite());
        }
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let one = NoiseMultiplier::new(1.0)?;
        assert!(walk_length(1, 0.5, one).is_err() && walk_length(5, 0.0, one).is_err());
        assert!(walk_length(5, 1e-300, one).is_err());
        Ok(())
    }
}
