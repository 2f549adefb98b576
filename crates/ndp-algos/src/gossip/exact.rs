//! The exact loss of gossip with a fixed matrix.
//!
//! The view of `v` after `T` rounds is spanned by the rows `e_wᵀ Wᵗ` for its neighbors `w` and `t < T`,
//! and by `e_v` when it uses its own noise. With `P` the projector on that span the unit loss of `u`
//! is `‖P e_u‖²`. Plain and accelerated gossip span the same space, so they lose the same, and so do a matrix and its lazy
//! versions.
//!
//! Losses are certified: see [`loss`](crate::loss). Only nodes within `T` hops of the observer are looked at, so that one observer
//! on a large graph costs what its surroundings cost.

use crate::certified::account::{self, Budget};
use crate::certified::krylov::Krylov;
use crate::view::checked_coalition;
use crate::{Error, LossReport, OwnNoise};
use ndarray::Array2;
use ndp_dp::{ObserverLoss, UpperBound};
use ndp_graph::memory::require_dense;
use ndp_graph::progress::{Counter, Progress, Silent};
use ndp_graph::{GossipMatrix, Graph};
use rayon::prelude::*;

/// How [`exact_loss`] works.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::{ExactOptions, exact_loss};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// // Refused before the work starts.
/// let options = ExactOptions { memory_limit: 1000, ..ExactOptions::default() };
/// assert!(exact_loss(&GossipMatrix::metropolis(&cycle_graph(50)?), 0, 9, options).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactOptions {
    /// Whether the observer uses the noise it drew.
    pub own_noise: OwnNoise,
    /// The most memory the work may take, in bytes; it is estimated before the work starts.
    pub memory_limit: u64,
    /// The most bits a number may take. Where they do not suffice for an enclosure of `1e-9` the report is an upper bound.
    pub precision_limit: u32,
}

impl Default for ExactOptions {
    /// Own noise known, at most 12 GiB, numbers of up to 4224 bits.
    fn default() -> Self {
        Self { own_noise: OwnNoise::Known, memory_limit: 12 << 30, precision_limit: 4224 }
    }
}

impl ExactOptions {
    pub(crate) fn known(self, coalition: &[usize]) -> &[usize] {
        if self.own_noise == OwnNoise::Known { coalition } else { &[] }
    }

    pub(crate) fn budget(self) -> Budget {
        Budget { memory: self.memory_limit, bits: self.precision_limit }
    }
}

/// Unit loss of every node towards `observer` after `rounds` rounds of gossip with `matrix`, plain or
/// accelerated.
///
/// Holds against an honest-but-curious `observer` who sees every message of its neighbors and knows
/// the graph and the matrix. `Exact`, with both ends of every enclosure and the failure probability in the report; `UpperBound`
/// where precision or memory end before the enclosures are tight.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`Error::TooLarge`] beyond the memory limit.
///
/// # Complexity
/// With `n` nodes within `rounds` hops, of which the observer has `d` neighbors, `O(n r² + r nnz(W) + n r d l)` time for rank
/// `r ≤ min(n, 1 + T d)` and numbers of `l` limbs, and `O(n r)` memory.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::{ExactOptions, exact_loss};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// // The end of a path of three nodes learns all about the other end in two rounds.
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let report = exact_loss(&matrix, 2, 2, ExactOptions::default())?;
/// assert_eq!(report.enclosure(0)?, (1.0, 1.0));
/// assert_eq!((report.rank, report.failure), (3, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exact_loss(
    matrix: &GossipMatrix,
    observer: usize,
    rounds: usize,
    options: ExactOptions,
) -> Result<LossReport, Error> {
    let coalition = checked_coalition(&[observer], matrix.node_count())?;
    account(matrix, coalition, rounds, options)
}

/// Unit loss of every node towards the nodes of `coalition` together, who share all their messages and
/// noises.
///
/// As [`exact_loss`], with the messages of all neighbors outside the coalition. Members' own noises
/// are known whatever the options say.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], and those of [`exact_loss`].
pub fn exact_coalition_loss(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    options: ExactOptions,
) -> Result<LossReport, Error> {
    let coalition = checked_coalition(coalition, matrix.node_count())?;
    account(matrix, coalition, rounds, ExactOptions { own_noise: OwnNoise::Known, ..options })
}

/// [`exact_loss`] of every observer, in parallel: entry `v` is what `v` learns.
///
/// # Errors
/// [`ndp_graph::Error::TooLarge`] when the `n²` losses do not fit in memory, and those of [`exact_loss`].
pub fn exact_losses(
    matrix: &GossipMatrix,
    rounds: usize,
    options: ExactOptions,
) -> Result<Vec<LossReport>, Error> {
    exact_losses_with(matrix, rounds, options, &Silent)
}

/// [`exact_losses`], reporting each observer.
///
/// # Errors
/// As [`exact_losses`], and [`Error::Cancelled`].
pub fn exact_losses_with(
    matrix: &GossipMatrix,
    rounds: usize,
    options: ExactOptions,
    progress: &dyn Progress,
) -> Result<Vec<LossReport>, Error> {
    let n = matrix.node_count();
    require_dense("the losses of all pairs", n, 2 * n)?;
    let counter = Counter::new(progress, n as u64);
    let losses = (0..n).into_par_iter().map(|v| {
        let loss = exact_loss(matrix, v, rounds, options)?;
        counter.step()?;
        Ok(loss)
    });
    losses.collect()
}

/// Nearly orthonormal rows that span what an observer sees, with what is proven about their distance from the space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ViewBasis {
    /// The rows, `rank` by `n`.
    pub rows: Array2<f64>,
    /// At most the spectral norm of the difference between the projector on what is seen and `QᵀQ`, `Q` these rows in exact
    /// arithmetic.
    pub error: f64,
    /// Probability, over primes drawn from a hash of the view, that something is seen that these rows do not span.
    pub failure: f64,
}

impl ViewBasis {
    /// Rows `Q^` at distance `ε` (in Frobenius norm) from exact combinations `Q` with `‖Q Qᵀ - I‖ ≤ h`.
    ///
    /// The projector is `Qᵀ (Q Qᵀ)⁻¹ Q`: it differs from `QᵀQ` by at most `h`, and that from `Q^ᵀQ^` by at most
    /// `2 ε √(1 + h) + ε²`.
    pub(crate) fn new(rows: Array2<f64>, (h, epsilon): (f64, f64), failure: f64) -> Self {
        let error = (h + 2.0 * epsilon * (1.0 + h).sqrt() + epsilon * epsilon) * (1.0 + 1e-12);
        Self { rows, error, failure }
    }
}

/// A basis of what a coalition that knows its noises sees.
///
/// The rows span the same space for plain and accelerated gossip; with `Q` the basis, `Qᵀ Q` is nearly the projector
/// whose diagonal holds the unit losses. Accountants that follow what was *not* seen over several rounds
/// start from it.
///
/// # Errors
/// Those of [`exact_coalition_loss`], and [`Error::NotCertified`].
pub(crate) fn view_basis(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    options: ExactOptions,
) -> Result<ViewBasis, Error> {
    let n = matrix.node_count();
    let coalition = checked_coalition(coalition, n)?;
    let view = seen(matrix, &coalition, rounds, &coalition);
    require_dense("an orthonormal basis", view.rank_limit(), n)?;
    let (certificate, combined) = account::basis_of_krylov(&view, matrix.graph(), options.budget())?;
    let mut rows = Array2::zeros((combined.vectors.len(), n));
    for (mut row, vector) in rows.rows_mut().into_iter().zip(&combined.vectors) {
        view.ball().nodes().iter().zip(vector).for_each(|(&u, &x)| row[u] = x);
    }
    let distance = (combined.enclosure.spread, combined.enclosure.error);
    Ok(ViewBasis::new(rows, distance, certificate.failure))
}

/// Unit loss 1 within `rounds` hops of `observer` and 0 beyond: true for every matrix on the graph,
/// without numerics.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn hop_bound(graph: &Graph, observer: usize, rounds: usize) -> Result<UpperBound<ObserverLoss>, Error> {
    let coalition = checked_coalition(&[observer], graph.node_count())?;
    let ball = crate::certified::ball::Ball::around(graph, &coalition, rounds);
    let mut unit = vec![0.0; graph.node_count()];
    ball.nodes().iter().for_each(|&u| unit[u] = 1.0);
    Ok(UpperBound::new(ObserverLoss { observer, unit }))
}

/// The loss of a coalition (ascending) by the options' rule for its own noise.
pub(crate) fn account(
    matrix: &GossipMatrix,
    coalition: Vec<usize>,
    rounds: usize,
    options: ExactOptions,
) -> Result<LossReport, Error> {
    let known = options.known(&coalition);
    let certificate =
        account::of_krylov(&seen(matrix, &coalition, rounds, known), matrix.graph(), options.budget())?;
    let members_known = !known.is_empty();
    Ok(LossReport::new(coalition, certificate, members_known))
}

/// What a coalition (ascending) that knows some noises sees.
pub(crate) fn seen(matrix: &GossipMatrix, coalition: &[usize], rounds: usize, known: &[usize]) -> Krylov {
    Krylov::new(matrix, coalition, &outside_neighbors(matrix.graph(), coalition), known, rounds)
}

/// The neighbors of a coalition (ascending) that are not in it, ascending.
pub(crate) fn outside_neighbors(graph: &Graph, coalition: &[usize]) -> Vec<usize> {
    let neighbors = coalition.iter().flat_map(|&v| graph.neighbors(v)).map(|&w| w as usize);
    let mut outside: Vec<usize> = neighbors.filter(|w| coalition.binary_search(w).is_err()).collect();
    outside.sort_unstable();
    outside.dedup();
    outside
}
