//! Theorem 2 on private SGD by a walk. No function offers it, because the units of the printed error bound do
//! not agree.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*,
//!   ICML 2024: Theorem 2.

mod tests {
    use approx::assert_relative_eq;

    /// A strongly convex problem with the constants of Theorem 2.
    #[derive(Clone, Copy)]
    struct Problem {
        smoothness: f64,
        strong_convexity: f64,
        heterogeneity: f64,
        mixing_time: f64,
        initial_distance_squared: f64,
        variance: f64,
    }

    /// The step size and the error of Theorem 2, with its powers of `μ` and `L` corrected: `γ = min{1/L,
    /// ln(B)/(μT)}` and `2e^{−Tμ/L} ‖x_0 − x*‖² + (39 τ ζ² L/(μ³T) + variance/(μ²T)) ln B`, where `B = T μ³
    /// ‖x_0 − x*‖² / (39 L τ ζ²)`. If `B ≤ 1` or `B` is infinite, `γ = 1/L`, with the error of that step
    /// size.
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
        // If x is measured in units that are ten times smaller, distances grow by 10 and gradients shrink
        // by 10.
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
}
