//! Theorem 2 as its paper draws it: with the exponent `n/m`, not rounded down to whole rounds.

use ndp_dp::federated::{ContractionFactor, FederatedDescent};
use ndp_dp::parts::check_epsilon;
use ndp_dp::{Error, Printed};
use ndp_numeric::rounding::Interval;

/// Theorem 2 with the real exponent `n/m` in place of `T = ⌊n/m⌋`, convex loss.
///
/// It is at least the value at whole rounds, and equal to it when `m` divides `n`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
///
/// # References
/// Asoodeh and Calmon 2020, Figure 2.
pub fn figure_delta(run: &FederatedDescent, epsilon: f64) -> Result<Printed<f64>, Error> {
    check_epsilon(epsilon)?;
    let convex = FederatedDescent::new(run.parameters(), ContractionFactor::new(1.0)?)?;
    let rounds = Interval::count(run.parameters().users) / Interval::count(run.parameters().batch);
    Ok(Printed::new(libm::exp(convex.log_theorem2(epsilon, rounds)).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_dp::Mechanism;
    use ndp_dp::federated::FederatedParameters;

    fn run(
        users: u64,
        batch: u64,
        [lipschitz, radius, step, sigma]: [f64; 4],
        factor: f64,
    ) -> FederatedDescent {
        let parameters = FederatedParameters { users, batch, lipschitz, radius, step, sigma };
        FederatedDescent::new(parameters, ContractionFactor::new(factor).unwrap()).unwrap()
    }

    /// 50-digit values of the federated specification, section 8, at its tolerance.
    #[test]
    fn the_figure_matches_reference_values() -> Result<(), Error> {
        let check = |value: f64, reference: f64| assert_relative_eq!(value, reference, max_relative = 1e-10);
        let figure = [1.0, 1.0, 0.5, 1.5];
        check(figure_delta(&run(100, 30, figure, 1.0), 0.75)?.into_value(), 1.007_526_840_499_280_4e-4);
        let shifted = run(100, 30, [1.0, 1.0, 0.475, 1.425], 1.0);
        check(figure_delta(&shifted, 0.7125)?.into_value(), 2.951_609_914_477_501e-4);
        for epsilon in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(figure_delta(&shifted, epsilon), Err(Error::InvalidEpsilon(_))));
        }
        Ok(())
    }

    /// The table of the federated specification, section 7: six digits.
    #[test]
    fn figure_2_matches_its_table() -> Result<(), Error> {
        let table = [
            (0.0, [0.166_952, 0.118_503, 0.096_876_2, 0.084_210_1, 0.076_721_3, 0.066_445_8]),
            (0.25, [0.080_543_7, 0.037_673_8, 0.021_722_2, 0.018_115_9, 0.012_561_2, 0.009_139_51]),
            (0.5, [0.030_798_4, 0.007_340_86, 0.002_280_54, 0.004_171_81, 0.001_655_93, 7.218_94e-4]),
            (1.0, [0.002_021_14, 5.037_45e-5, 1.756_06e-6, 2.073_71e-4, 1.008_91e-5, 5.268_60e-7]),
            (2.0, [2.302_67e-7, 1.130_25e-12, 8.190_73e-18, 2.303_36e-8, 2.260_50e-13, 2.457_22e-18]),
        ];
        for (epsilon, row) in table {
            for (i, batch) in [10, 20, 30].into_iter().enumerate() {
                let run = run(100, batch, [1.0, 1.0, 0.5, 1.5], 1.0);
                let printed = figure_delta(&run, epsilon)?.into_value();
                let mix = run.delta(epsilon)?.into_value();
                assert_relative_eq!(printed, row[i], max_relative = 1e-5);
                assert_relative_eq!(mix, row[i + 3], max_relative = 1e-5);
                let certified = run.theorem2_delta(epsilon)?.into_value();
                // Bounds are rounded up, by a few 1e-12.
                assert!(mix <= certified * (1.0 + 1e-11) && certified <= printed * (1.0 + 1e-11));
                if 100 % batch == 0 {
                    assert_relative_eq!(certified, printed, max_relative = 1e-11);
                }
            }
        }
        Ok(())
    }
}
