//! The distance of gossip from the mean, exact and as an upper bound, and the number of rounds it needs.
//!
//! The error of a protocol that ends in `P (x + η)` is the mean squared error `(1/n) Σ_v E ‖(P (x + η))_v -
//! x̄‖²`, where `x̄` is the mean of the inputs, here and everywhere else; the theorems bound half of it. For
//! `d` coordinates the bounds hold with `d σ²` in place of `σ²`.
//!
//! # References
//! - *Muffliato*, Theorems 2 and 7 (synchronous), 3 and 8 (randomized, corrected here by a factor 2).

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Exact, Sigma, UpperBound};
use ndp_numeric::rounding::Interval;

/// How fast the error of gossip decreases from round to round.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::utility::{Convergence, stopping_rounds};
/// use ndp_dp::Sigma;
/// let (noise, spread) = (Sigma::new(1.0)?, 0.25);
/// let plain = stopping_rounds(100, Convergence::Plain(0.01), noise, spread)?;
/// assert!(stopping_rounds(100, Convergence::Accelerated(0.01), noise, spread)? < plain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Convergence {
    /// Chebyshev-accelerated gossip with a matrix of this absolute spectral gap `l`: at least by a factor
    /// `exp(-√l)` per round.
    Accelerated(f64),
    /// Plain gossip with a matrix of this absolute spectral gap `l`: at least by `exp(-2l)`.
    Plain(f64),
    /// Randomized gossip with this second eigenvalue `λ₂` of the Laplacian weighted by the activation
    /// probabilities (twice the signed gap of the mean step): at least by `exp(-λ₂/2)` (the papers print
    /// `exp(-λ₂)`, which is false).
    Randomized(f64),
    /// Accelerated randomized gossip with this mixing rate `η`, where rounds are units of time: at least by
    /// `exp(-η)`. See [`Momentum::of`](super::accelerated::Momentum::of).
    AcceleratedRandomized(f64),
}

impl Convergence {
    /// The exponent per round: positive.
    fn rate(self) -> Result<f64, Error> {
        let (name, gap, rate) = match self {
            Self::Accelerated(gap) => ("the spectral gap", gap, gap.sqrt()),
            Self::Plain(gap) => ("the spectral gap", gap, 2.0 * gap),
            Self::Randomized(gap) => ("the second eigenvalue of the Laplacian", gap, gap / 2.0),
            Self::AcceleratedRandomized(rate) => ("the mixing rate", rate, rate),
        };
        // A probability-weighted Laplacian has eigenvalues at most 2; a gap is at most 1.
        let limit = if matches!(self, Self::Randomized(_)) { 2.0 } else { 1.0 };
        ensure(0.0 < gap && gap <= limit, name, "be positive and at most 1 (2 for a Laplacian)", gap)?;
        Ok(rate)
    }
}

/// The exact error of a polynomial `P(W)` of a fixed matrix on the worst inputs of the given spread: `D
/// max_{k>0} P(λ_k)² + (σ²/n) Σ_k P(λ_k)²`, for one coordinate.
///
/// `eigenvalues` are those of `W`, repeated by multiplicity, one of them the 1 of the constant vector (for a
/// connected graph the largest), at which `polynomial` is 1. `spread` is `D = (1/n) Σ_v (x_v - x̄)²`. The
/// worst inputs lie along the eigenvector that shrinks least.
///
/// # Errors
/// [`Error::InvalidParameter`] for no eigenvalue, one that is not finite or where `polynomial` is NaN, and a
/// spread that is negative or not finite.
pub fn worst_error(
    eigenvalues: &[f64],
    polynomial: impl Fn(f64) -> f64,
    sigma: Sigma,
    spread: f64,
) -> Result<Exact<f64>, Error> {
    check_setting(eigenvalues.len(), spread)?;
    let mut values = eigenvalues.to_vec();
    if let Some(&value) = values.iter().find(|x| !x.is_finite()) {
        let (name, condition) = ("every eigenvalue", "be finite");
        return Err(Error::InvalidParameter { name, condition, value });
    }
    values.sort_by(f64::total_cmp);
    let squares: Vec<f64> = values.iter().map(|&x| polynomial(x).powi(2)).collect();
    let others = &squares[..squares.len() - 1];
    let slowest = others.iter().copied().fold(0.0, f64::max);
    let total: f64 = others.iter().sum::<f64>() + 1.0;
    let variance = sigma.get() * sigma.get() * total / squares.len() as f64;
    // A square that overflows, times a spread of 0, would be NaN.
    let share = if spread == 0.0 { 0.0 } else { spread * slowest };
    let error = share + variance;
    ensure(!error.is_nan(), "the polynomial at every eigenvalue", "be a number", error)?;
    Ok(Exact::new(error))
}

/// An upper bound on the error after `rounds` rounds: `2 ((D + σ²) r + σ²/n)` for accelerated gossip, with
/// `r = e^{-T √l}`; `(D + σ²) r + σ²/n` for plain gossip with `r = (1 - l)^{2T}`, for randomized gossip with
/// `r = (1 - λ₂/2)^T`, and for accelerated randomized gossip with `r = 2 e^{-ηT}`.
///
/// `D = (1/n) Σ_v ‖x_v - x̄‖²` is the spread of the inputs.
///
/// # Errors
/// As [`stopping_rounds`].
pub fn error_bound(
    rounds: usize,
    nodes: usize,
    convergence: Convergence,
    sigma: Sigma,
    spread: f64,
) -> Result<UpperBound<f64>, Error> {
    convergence.rate()?;
    check_setting(nodes, spread)?;
    let of = Interval::new;
    let (t, one, two) = (Interval::count(rounds as u64), Interval::ONE, of(2.0));
    let zero = Interval::ZERO;
    let (decay, share) = match convergence {
        Convergence::Accelerated(gap) => ((zero - t * of(gap).sqrt()).exp(), two),
        Convergence::Plain(gap) => ((two * t * (one - of(gap)).ln()).exp(), one),
        Convergence::Randomized(second) => ((t * (one - of(second) / two).ln()).exp(), one),
        Convergence::AcceleratedRandomized(rate) => (two * (zero - t * of(rate)).exp(), one),
    };
    // A decay that underflows is positive, and may matter when it is multiplied by a large spread.
    let decay = of(decay.high().max(f64::MIN_POSITIVE));
    let variance = of(sigma.get()) * of(sigma.get());
    let bound = share * ((of(spread) + variance) * decay + variance / Interval::count(nodes as u64));
    Ok(UpperBound::new(bound.high()))
}

/// The number of rounds after which the error is at most `6σ²/n` (accelerated), `3σ²/n` (plain or randomized)
/// or `5σ²/n` (accelerated randomized): `T = ⌈ln((n/σ²) max(σ², D)) / rate⌉`, at least 1 for two nodes or
/// more.
///
/// `D = (1/n) Σ_v ‖x_v - x̄‖²` is the spread of the inputs; the papers' programs use 0.25. The error is
/// `(1/n) Σ_v E ‖x_v^T - x̄‖²`, twice what the theorems bound.
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
    check_setting(nodes, spread)?;
    // ln(n max(1, D/σ²)), computed so that it neither overflows nor underflows.
    let log_ratio = spread.ln() - 2.0 * sigma.get().ln();
    let rounds = ((nodes as f64).ln() + log_ratio.max(0.0)) / rate;
    Ok(ndp_numeric::casts::floor(rounds.ceil()).max(usize::from(nodes > 1)))
}

fn check_setting(nodes: usize, spread: f64) -> Result<(), Error> {
    ensure(nodes != 0, "the number of nodes", "be at least 1", 0.0)?;
    ensure(
        (0.0..f64::INFINITY).contains(&spread),
        "the spread of the inputs",
        "be finite and nonnegative",
        spread,
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gossip::fresh::{FreshNoiseGossip, flat_variances};
    use crate::gossip::{GossipProtocol, SequenceGossip, SynchronousGossip};
    use approx::assert_relative_eq;
    use ndarray::{Array2, Axis, array};
    use ndp_graph::chebyshev::Chebyshev;
    use ndp_graph::sequences::EdgeActivations;
    use ndp_graph::spectrum::extremes;
    use ndp_graph::{GossipMatrix, GossipSequence, generators};
    use ndp_program::parts::advance;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn values(n: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, 2), |(v, k)| ((v * (k + 3)) % 7) as f64 / 3.0)
    }

    fn spread(values: &Array2<f64>) -> f64 {
        let mean = values.mean_axis(Axis(0)).expect("a node");
        (values - &mean).iter().map(|x| x * x).sum::<f64>() / values.nrows() as f64
    }

    /// The simulated error agrees with the formula within five standard errors, for every protocol.
    #[test]
    fn simulated_errors_agree_with_the_formula() -> Result<(), Error> {
        let graph = generators::grid_2d_graph(3, 3)?;
        let (values, sigma) = (values(9), Sigma::new(0.8)?);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let plain = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 4);
        let law = EdgeActivations::uniform(&graph)?;
        let sequence = SequenceGossip::from(GossipSequence::activations(&law, 12, &mut rng));
        let one_peer = SequenceGossip::from(GossipSequence::one_peer_hypercube(3)?);
        let mut check =
            |n: usize, exact: f64, run: &mut dyn FnMut(&mut ChaCha8Rng) -> Result<Array2<f64>, Error>| {
                let values = values.slice(ndarray::s![..n, ..]);
                let mean = values.mean_axis(Axis(0)).expect("a node");
                let trials = 4000;
                let (mut sum, mut squares) = (0.0, 0.0);
                for _ in 0..trials {
                    let output = run(&mut rng)?;
                    let error = (&output - &mean).iter().map(|x| x * x).sum::<f64>() / n as f64;
                    sum += error;
                    squares += error * error;
                }
                let estimate = sum / f64::from(trials);
                let deviation =
                    ((squares / f64::from(trials) - estimate * estimate) / f64::from(trials)).sqrt();
                assert!(
                    (estimate - exact).abs() < 5.0 * deviation,
                    "{estimate} is not {exact} up to {deviation}"
                );
                Ok::<_, Error>(())
            };
        for protocol in [plain.clone(), plain.accelerated(1.3)?] {
            let exact = *protocol.mean_squared_error(values.view(), sigma)?.value();
            check(9, exact, &mut |rng| Ok(protocol.run(values.view(), sigma, rng)?.output))?;
        }
        let exact = *sequence.mean_squared_error(values.view(), sigma)?.value();
        check(9, exact, &mut |rng| Ok(sequence.run(values.view(), sigma, rng)?.output))?;
        let eight = values.slice(ndarray::s![..8, ..]);
        let exact = *one_peer.mean_squared_error(eight, sigma)?.value();
        // With exact consensus only the noise of the mean is left, for each of the two coordinates.
        assert_relative_eq!(exact, 2.0 * 0.64 / 8.0, max_relative = 1e-12);
        check(8, exact, &mut |rng| Ok(one_peer.run(eight, sigma, rng)?.output))
    }

    /// Squares that overflow, and decays that underflow.
    #[test]
    fn errors_at_the_ends_of_the_floats_are_bounds() -> Result<(), Error> {
        let huge = Sigma::new(1e160)?;
        let bound = |rounds, sigma, spread| error_bound(rounds, 5, Convergence::Plain(0.5), sigma, spread);
        assert_eq!(*bound(1 << 40, huge, 0.0)?.value(), f64::INFINITY);
        // The variance is negligible, and the rest of D = 1e300 dominates.
        assert!(
            *bound(550, Sigma::new(1e-180)?, 1e300)?.value() >= 1e300 * 2.0f64.powi(-1070) * 2.0f64.powi(-30)
        );
        let square = |x: f64| x * x;
        assert_eq!(*worst_error(&[-1e300, 1.0], square, Sigma::new(1.0)?, 0.0)?.value(), f64::INFINITY);
        let nothing = worst_error(&[-1e300, 1.0], square, Sigma::new(1e-300)?, 0.0);
        assert!(matches!(nothing, Err(Error::InvalidParameter { value, .. }) if value.is_nan()));
        Ok(())
    }

    /// The error is attained by the slowest eigenvector, and by no other input of the same spread.
    #[test]
    fn worst_inputs_attain_the_worst_error() -> Result<(), Error> {
        let w = GossipMatrix::metropolis(&generators::path_graph(5)?);
        let eigen = ndp_linalg::sym_eigen(w.to_dense()?.view())?;
        let (sigma, spread, chebyshev) =
            (Sigma::new(0.7)?, 0.25, Chebyshev::published(extremes(&w)?.gap_abs()?)?);
        for rounds in [0, 1, 6] {
            let gossip = SynchronousGossip::new(w.clone(), rounds).accelerated(chebyshev.g())?;
            let polynomial = |x: f64| chebyshev.evaluate(rounds, x);
            let eigenvalues = eigen.values.as_slice().expect("one column");
            let worst = *worst_error(eigenvalues, polynomial, sigma, spread)?.value();
            let mut most: f64 = 0.0;
            for k in 0..4 {
                // The squares of an eigenvector sum to 1.
                let input = eigen.vectors.slice(ndarray::s![.., k..=k]).mapv(|x| x * (5.0 * spread).sqrt());
                let error = *gossip.mean_squared_error(input.view(), sigma)?.value();
                assert!(error <= worst * (1.0 + 1e-12));
                most = most.max(error);
            }
            assert_relative_eq!(most, worst, max_relative = 1e-12);
        }
        let found = worst_error(&[], |x| x, sigma, 0.25);
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the number of nodes", .. })));
        let found = worst_error(&[f64::NAN, 1.0], |x| x, sigma, 0.25);
        assert!(matches!(found, Err(Error::InvalidParameter { name: "every eigenvalue", .. })));
        Ok(())
    }

    /// Protocols that coincide have the same error: fresh noise only at the start is plain gossip, and a
    /// negligible noise on messages changes nothing.
    #[test]
    fn every_protocol_has_the_same_error() -> Result<(), Error> {
        let (sigma, rounds) = (Sigma::new(0.8)?, 4);
        for graph in [generators::path_graph(3)?, generators::grid_2d_graph(3, 3)?] {
            let matrix = GossipMatrix::metropolis(&graph);
            let values = values(graph.node_count());
            let plain = SynchronousGossip::new(matrix.clone(), rounds);
            let plain = *plain.mean_squared_error(values.view(), sigma)?.value();
            let fresh = FreshNoiseGossip::new(matrix.clone(), flat_variances(rounds, 0.0)?)?;
            let fresh = *fresh.mean_squared_error(values.view(), sigma)?.value();
            assert_relative_eq!(plain, fresh, max_relative = 1e-13);
            let steps = std::iter::repeat_n(ndp_graph::Step::Matrix(matrix.clone()), rounds);
            let sequence = SequenceGossip::from(GossipSequence::new(graph.node_count(), steps.collect())?);
            let sequence = *sequence.mean_squared_error(values.view(), sigma)?.value();
            assert_relative_eq!(plain, sequence, max_relative = 1e-13);
            // The error by its definition, from the operator.
            let operator = SynchronousGossip::new(matrix, rounds).stated().operator()?;
            let mean = values.mean_axis(Axis(0)).expect("a node");
            let bias: f64 = (operator.dot(&values) - &mean).iter().map(|x| x * x).sum();
            let noise: f64 = operator.iter().map(|x| 2.0 * 0.64 * x * x).sum();
            assert_relative_eq!(plain, (bias + noise) / graph.node_count() as f64, max_relative = 1e-13);
        }
        Ok(())
    }

    #[test]
    fn bounds_hold_on_graphs() -> Result<(), Error> {
        for graph in [generators::cycle_graph(8)?, generators::star_graph(6)?, generators::path_graph(5)?] {
            let (w, n) = (GossipMatrix::metropolis(&graph), graph.node_count());
            let (x, sigma) = (values(n), Sigma::new(0.5)?);
            // Two coordinates have twice the variance in the bounds.
            let doubled = Sigma::new(0.5 * 2f64.sqrt())?;
            let gap = extremes(&w)?.gap_abs()?;
            for rounds in [0, 1, 3, 10, 40] {
                let plain = SynchronousGossip::new(w.clone(), rounds);
                let bound = error_bound(rounds, n, Convergence::Plain(gap), doubled, spread(&x))?;
                assert!(plain.mean_squared_error(x.view(), sigma)?.value() <= bound.value());
                let fast = plain.accelerated(Chebyshev::published(gap)?.g())?;
                let bound = error_bound(rounds, n, Convergence::Accelerated(gap), doubled, spread(&x))?;
                assert!(fast.mean_squared_error(x.view(), sigma)?.value() <= bound.value());
            }
            let convergence = Convergence::Accelerated(gap);
            let rounds = stopping_rounds(n, convergence, doubled, spread(&x))?;
            let bound = error_bound(rounds, n, convergence, doubled, spread(&x))?;
            assert!(*bound.value() <= 6.0 * 0.5 / n as f64 * (1.0 + 1e-12));
        }
        Ok(())
    }

    /// The triangle that refutes the printed rate: without noise the true error is `2^{-T} 2/3`.
    #[test]
    fn randomized_gossip_is_half_as_fast_as_printed() -> Result<(), Error> {
        let triangle = generators::complete_graph(3)?;
        let law = EdgeActivations::uniform(&triangle)?;
        let second = 2.0 * extremes(&law.mean_matrix()?)?.gap_signed()?;
        assert_relative_eq!(second, 1.0, max_relative = 1e-12);
        let (x, sigma) = (array![[1.0], [-1.0], [0.0]], Sigma::new(1e-9)?);
        for (rounds, printed) in [(4, 0.0244), (10, 6.06e-5)] {
            // All 3^T sequences are equally likely.
            let mut states = vec![x.clone()];
            for _ in 0..rounds {
                let pairs = [(0, 1), (1, 2), (0, 2)].map(|(a, b)| ndp_graph::Step::Pair(a, b));
                states =
                    states.iter().flat_map(|state| pairs.iter().map(|pair| advance(pair, state))).collect();
            }
            let squares: f64 = states.iter().flatten().map(|x| x * x).sum();
            let truth = squares / states.len() as f64 / 3.0;
            assert_relative_eq!(truth, 0.5f64.powi(rounds) * 2.0 / 3.0, max_relative = 1e-12);
            let rounds = rounds as usize;
            let bound = error_bound(rounds, 3, Convergence::Randomized(second), sigma, 2.0 / 3.0)?;
            assert!(truth <= *bound.value() && *bound.value() <= truth * (1.0 + 1e-9));
            // As printed, times two for the squared error without the factor 1/2: 2 ((D + σ²) e^{-T λ₂} +
            // σ²/n).
            let variance = sigma.get() * sigma.get();
            let claim = 2.0 * ((2.0 / 3.0 + variance) * (-(rounds as f64) * second).exp() + variance / 3.0);
            assert_relative_eq!(claim, printed, max_relative = 5e-3);
            assert!(truth > claim);
        }
        Ok(())
    }

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
            let found = stopping_rounds(5, Convergence::Accelerated(gap), sigma, 0.0);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "the spectral gap", .. })));
        }
        for spread in [-1.0, f64::INFINITY, f64::NAN] {
            let found = stopping_rounds(5, Convergence::Plain(0.5), sigma, spread);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "the spread of the inputs", .. })));
        }
        let nobody = stopping_rounds(0, Convergence::Plain(0.5), sigma, 0.0);
        assert!(matches!(nobody, Err(Error::InvalidParameter { name: "the number of nodes", .. })));
        Ok(())
    }
}
