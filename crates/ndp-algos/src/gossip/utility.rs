//! How many rounds gossip needs.

use crate::Error;
use ndp_dp::Sigma;

/// How the error of gossip shrinks from round to round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Convergence {
    /// Chebyshev-accelerated gossip with a matrix of this absolute spectral gap `l`: at least
    /// `exp(-√l)` per round.
    Accelerated(f64),
    /// Plain gossip with a matrix of this absolute spectral gap `l`: at least `exp(-2l)`.
    Plain(f64),
    /// Randomized gossip with this second eigenvalue `λ₂` of the Laplacian weighted by the activation
    /// probabilities: at least `exp(-λ₂/2)` (the papers print `exp(-λ₂)`, which is false).
    Randomized(f64),
}

impl Convergence {
    /// The exponent per round: positive.
    fn rate(self) -> Result<f64, Error> {
        let (name, gap, rate) = match self {
            Self::Accelerated(gap) => ("the spectral gap", gap, gap.sqrt()),
            Self::Plain(gap) => ("the spectral gap", gap, 2.0 * gap),
            Self::Randomized(gap) => ("the second eigenvalue of the Laplacian", gap, gap / 2.0),
        };
        // A probability-weighted Laplacian has eigenvalues at most 2; a gap is at most 1.
        let limit = if matches!(self, Self::Randomized(_)) { 2.0 } else { 1.0 };
        if 0.0 < gap && gap <= limit {
            Ok(rate)
        } else {
            Err(Error::InvalidParameter {
                name,
                condition: "be positive and at most 1 (2 for a Laplacian)",
                value: gap,
            })
        }
    }
}

/// The number of rounds after which the error is at most `3σ²/n` (synchronous) or `2σ²/n`
/// (randomized): `T = ⌈ln((n/σ²) max(σ², D)) / rate⌉`, at least 1 for two nodes or more.
///
/// `D = (1/n) Σ_v ‖x_v - x̄‖²` is the spread of the inputs; the papers' programs use 0.25. The error is
/// `(1/2n) Σ_v E ‖x_v^T - x̄‖²`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `nodes ≥ 1`, the gap is in `(0, 1]` and the spread is finite and
/// nonnegative.
///
/// # References
/// - *Muffliato*, Theorems 2 and 3, the latter corrected by a factor 2.
pub fn stopping_rounds(
    nodes: usize,
    convergence: Convergence,
    sigma: Sigma,
    spread: f64,
) -> Result<usize, Error> {
    let rate = convergence.rate()?;
    if nodes == 0 {
        return Err(Error::InvalidParameter {
            name: "the number of nodes",
            condition: "be at least 1",
            value: 0.0,
        });
    }
    if !(0.0..f64::INFINITY).contains(&spread) {
        return Err(Error::InvalidParameter {
            name: "the spread of the inputs",
            condition: "be finite and nonnegative",
            value: spread,
        });
    }
    // ln(n max(1, D/σ²)), in a form that neither overflows nor underflows.
    let log_ratio = spread.ln() - 2.0 * sigma.get().ln();
    let rounds = ((nodes as f64).ln() + log_ratio.max(0.0)) / rate;
    Ok((rounds.ceil() as usize).max(usize::from(nodes > 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ln 8 / √0.195262145875635 = 4.70584574213`.
    #[test]
    fn stopping_rule_of_the_ring_with_eight_nodes() -> Result<(), Error> {
        let gap = (1.0 - (2.0 * std::f64::consts::PI / 8.0).cos()) * 2.0 / 3.0;
        assert!((8f64.ln() / gap.sqrt() - 4.705_845_742_13).abs() < 1e-10);
        assert_eq!(stopping_rounds(8, Convergence::Accelerated(gap), Sigma::new(1.0)?, 0.25)?, 5);
        Ok(())
    }

    #[test]
    fn small_and_bad_arguments() -> Result<(), Error> {
        let sigma = Sigma::new(1.0)?;
        assert_eq!(stopping_rounds(1, Convergence::Accelerated(1.0), sigma, 0.0)?, 0);
        assert_eq!(stopping_rounds(2, Convergence::Plain(1.0), sigma, 0.0)?, 1);
        for gap in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(stopping_rounds(5, Convergence::Accelerated(gap), sigma, 0.0).is_err());
        }
        for spread in [-1.0, f64::INFINITY, f64::NAN] {
            assert!(stopping_rounds(5, Convergence::Plain(0.5), sigma, spread).is_err());
        }
        assert!(stopping_rounds(0, Convergence::Plain(0.5), sigma, 0.0).is_err());
        Ok(())
    }
}
