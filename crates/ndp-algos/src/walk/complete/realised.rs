//! The cost of one walk that was taken, for every pair of nodes.

use crate::walk::{FinalToken, NO_MASK_ON_A_PATH, Path};
use ndarray::Array2;
use ndp_account::Error;
use ndp_dp::Estimate;

/// The sum over segments of `k²/m`, as entry `[u, v]`; the diagonal is 0. `k` is the number of contributions
/// of `u` among the `m` foreign steps before a reception by `v` (and, with [`FinalToken::Published`], before
/// publication).
///
/// Given this path, `v` sees exactly a Gaussian release of parameter `μ √(Σ k²/m)`. As one walk out of many,
/// the number is an estimate.
///
/// # Errors
/// [`Error::InvalidParameter`] for more than 10 000 nodes; [`Error::NodeOutOfRange`] for a holder that is not
/// a node; [`Error::NoGuarantee`] for [`FinalToken::Masked`].
///
/// # Complexity
/// `O(n T)`.
///
/// # Examples
/// ```
/// use ndp_algos::walk::FinalToken;
/// use ndp_algos::walk::complete::{CompleteWalk, realised::path_units};
/// // Two contributions of node 0, then one of node 2, before node 1 sees the token.
/// let path = CompleteWalk::new(3, 4)?.path(&[0, 2, 0, 1])?;
/// let units = path_units(&path, FinalToken::Withheld)?;
/// assert!((units.value()[(0, 1)] - 4.0 / 3.0).abs() < 1e-12 && (units.value()[(2, 1)] - 1.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), ndp_account::Error>(())
/// ```
pub fn path_units(path: &Path, final_token: FinalToken) -> Result<Estimate<Array2<f64>>, Error> {
    let published = final_token.unmasked(NO_MASK_ON_A_PATH)?;
    path.check_nodes("be at most 10000 for a table of all pairs", MAX_NODES)?;
    let n = path.nodes;
    let mut units = Array2::zeros((n, n));
    let mut counts = vec![0u32; n];
    for (v, receptions) in path.receptions()?.iter().enumerate() {
        let mut start = 0;
        let end = published.then_some(path.holders.len());
        for stop in receptions.iter().copied().chain(end) {
            let segment = start.min(stop)..stop;
            let noises = segment.len() as f64;
            for step in segment.clone().filter(|&step| path.contributes.get(step) == Some(&true)) {
                // (k+1)² − k² = 2k + 1.
                let u = path.holders[step];
                units[(u, v)] += f64::from(2 * counts[u] + 1) / noises;
                counts[u] += 1;
            }
            for step in segment {
                counts[path.holders[step]] = 0;
            }
            start = stop + 1;
        }
    }
    Ok(Estimate::new(units))
}

/// For more nodes a table of all pairs would take gigabytes.
const MAX_NODES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::CompleteWalk;
    use approx::assert_relative_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// By hand: the walk 0 2 1 | 1 0 2 0 0 1, seen by 1, has the segments {0, 2}, {} and {0, 2, 0, 0}.
    #[test]
    fn path_units_add_squares() -> Result<(), Error> {
        let path = CompleteWalk::new(3, 10)?.path(&[0, 2, 1, 1, 0, 2, 0, 0, 1, 2])?;
        let units = path_units(&path, FinalToken::Withheld)?.into_value();
        assert_relative_eq!(units[(0, 1)], 0.5 + 9.0 / 4.0, max_relative = 1e-15);
        assert_relative_eq!(units[(2, 1)], 0.5 + 0.25, max_relative = 1e-15);
        let published = path_units(&path, FinalToken::Published)?.into_value();
        assert_relative_eq!(published[(2, 1)], 0.75 + 1.0, max_relative = 1e-15);
        assert_eq!(published[(1, 1)], 0.0);
        // The mean over walks of e^{θ Σ k²/m} is the moment of the averaged account.
        let walk = CompleteWalk::new(4, 12)?;
        let rng = &mut ChaCha8Rng::seed_from_u64(9);
        let (runs, theta) = (40_000, 0.135);
        let mut values = Vec::new();
        for _ in 0..runs {
            values.push(
                (theta * path_units(&walk.sample(rng), FinalToken::Withheld)?.into_value()[(0, 1)]).exp(),
            );
        }
        let mean = values.iter().sum::<f64>() / runs as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / runs as f64;
        let exact = walk.log_mgf_bound(theta)?.value().exp();
        assert!((mean - exact).abs() < 5.0 * (variance / runs as f64).sqrt(), "{mean} against {exact}");
        Ok(())
    }

    #[test]
    fn large_tables_and_masked_tokens_are_refused() -> Result<(), Error> {
        let huge = CompleteWalk::new(1 << 31, 2)?.path(&[0, 1])?;
        assert!(matches!(path_units(&huge, FinalToken::Withheld), Err(Error::InvalidParameter { .. })));
        let masked = path_units(&CompleteWalk::new(2, 2)?.path(&[0, 1])?, FinalToken::Masked);
        assert!(matches!(masked, Err(Error::NoGuarantee(_))));
        Ok(())
    }
}
