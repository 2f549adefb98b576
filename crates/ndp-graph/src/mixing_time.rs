//! Mixing times: how many steps until a walk has forgotten its start.
//!
//! `τ(ι) = min { t : max_v ‖(W^t)_v - π‖_TV ≤ ι }`, total variation being half the sum of absolute
//! differences.
//!
//! # References
//! - Levin, Peres, *Markov Chains and Mixing Times*, 2nd edition, AMS 2017: Theorem 12.4 (spectral
//!   bound), section 4.5 (`τ(ι) ≤ ⌈log₂ 1/ι⌉ τ(1/4)`).
//! - Cyffers, Bellet, Upadhyay, ICML 2024, arXiv:2402.07471: Definition 5. Its bound
//!   `ln(1/min π) / gap` has no `ι`: it holds for `ι = 1/4` (because `4 π (1 - π) ≤ 1` in
//!   `‖(W^t)_v - π‖_TV ≤ ½ sqrt((1 - π_v)/π_v) (1 - gap)^t`), and fails for smaller ones.

use crate::error::ensure;
use crate::{Error, TransitionMatrix};
use ndarray::{Array2, ArrayView2, Axis};
use ndp_linalg::gemm;
use ndp_linalg::memory::require_dense;
use ndp_numeric::rounding::whole;

/// The mixing time `τ(iota)` of a walk, exactly (up to rounding of the distance).
///
/// # Errors
/// [`Error::InvalidParameter`] unless `iota` lies in `[1e-10, 1)` (smaller distances are rounding);
/// [`Error::Reducible`]; [`Error::Periodic`] for a periodic walk, whatever `iota`; [`Error::TooLarge`];
/// [`Error::NoConvergence`] beyond `2^40` steps; those of
/// [`stationary_distribution`](TransitionMatrix::stationary_distribution).
///
/// # Complexity
/// `O(n³ log τ)` time and `O(n² log τ)` memory, by repeated squaring and bisection: for up to about
/// a thousand nodes.
///
/// # Examples
/// ```
/// use ndp_graph::{TransitionMatrix, generators::complete_graph, mixing_time::mixing_time};
/// // From any node of a complete graph a token is elsewhere with equal probabilities: one step leaves a distance of 1/5.
/// let walk = TransitionMatrix::simple_random_walk(&complete_graph(5)?)?;
/// assert_eq!((mixing_time(&walk, 0.25)?, mixing_time(&walk, 0.1)?), (1, 2));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn mixing_time(walk: &TransitionMatrix, iota: f64) -> Result<u64, Error> {
    check_iota(iota)?;
    let law = walk.stationary_distribution()?;
    let period = walk.period()?;
    if period > 1 {
        return Err(Error::Periodic { period });
    }
    let n = walk.node_count();
    if distance(Array2::eye(n).view(), &law) <= iota {
        return Ok(0);
    }
    // W, W², W⁴, … until one has mixed; the distance does not grow with t.
    require_dense("the powers of the transition matrix", 40 * n, n)?;
    let mut powers = vec![walk.to_dense()?];
    while distance(powers[powers.len() - 1].view(), &law) > iota {
        if powers.len() > MAX_SQUARINGS {
            let residual = distance(powers[powers.len() - 1].view(), &law);
            return Err(Error::NoConvergence {
                what: "the mixing time",
                steps: 1 << MAX_SQUARINGS,
                residual,
            });
        }
        let last = powers[powers.len() - 1].view();
        let mut square = gemm(last, last)?;
        // Rounding in the row sums would double with every squaring.
        square.axis_iter_mut(Axis(0)).for_each(|mut row| {
            let sum = row.sum();
            row.mapv_inplace(|x| x / sum);
        });
        powers.push(square);
    }
    // The longest time at which the walk has not yet mixed, bit by bit.
    let (mut time, mut reached) = (0u64, Array2::eye(n));
    for (bit, power) in powers.iter().enumerate().rev().skip(1) {
        let further = gemm(reached.view(), power.view())?;
        if distance(further.view(), &law) > iota {
            time += 1 << bit;
            reached = further;
        }
    }
    Ok(time + 1)
}

/// An upper bound on the mixing time of a reversible walk, `⌈ln(1 / (ι min π)) / gap_abs⌉`.
///
/// For a gossip matrix `min π = 1/n`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `iota` lies in `[1e-10, 1)`, `gap_abs` in `(0, 1]` (a gap of
/// zero, a periodic walk, never mixes) and `least_stationary` in `(0, 1]`, and for a bound of 1e18 or more.
///
/// # Examples
/// ```
/// use ndp_graph::mixing_time::{mixing_time, mixing_time_bound};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::cycle_graph, spectrum::extremes};
/// let ring = GossipMatrix::metropolis(&cycle_graph(20)?);
/// let bound = mixing_time_bound(extremes(&ring)?.gap_abs()?, 1.0 / 20.0, 0.25)?;
/// assert!(mixing_time(&TransitionMatrix::from(&ring), 0.25)? <= bound);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn mixing_time_bound(gap_abs: f64, least_stationary: f64, iota: f64) -> Result<u64, Error> {
    check_iota(iota)?;
    for (name, value) in
        [("the absolute spectral gap", gap_abs), ("the least stationary probability", least_stationary)]
    {
        ensure(0.0 < value && value <= 1.0, name, "lie in (0, 1]", value)?;
    }
    let steps = (-(iota * least_stationary).ln() / gap_abs).ceil();
    ensure(steps < 1e18, "the mixing time", "be below 1e18: the gap is too small", steps)?;
    Ok(whole(steps))
}

/// The largest total variation distance between a row and the law.
fn distance(matrix: ArrayView2<'_, f64>, law: &[f64]) -> f64 {
    matrix.axis_iter(Axis(0)).fold(0.0, |largest: f64, row| {
        let distance: f64 = row.iter().zip(law).map(|(x, p)| (x - p).abs()).sum();
        largest.max(0.5 * distance)
    })
}

fn check_iota(iota: f64) -> Result<(), Error> {
    ensure((1e-10..1.0).contains(&iota), "the mixing accuracy", "lie in [1e-10, 1)", iota)
}

const MAX_SQUARINGS: usize = 40;
