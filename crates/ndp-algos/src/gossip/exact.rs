//! The exact loss of gossip with a fixed matrix, by block Krylov with ranks decided modulo primes.
//!
//! The view of `v` after `T` rounds is spanned by the rows `e_wᵀ Wᵗ` for its neighbors `w` and `t < T`,
//! and by `e_v` when it uses its own noise. With `P` the projector on that span the unit loss of `u`
//! is `‖P e_u‖²`. Plain and accelerated gossip span the same space, so they lose the same.
//!
//! The rows `Wᵗ e_w` are exponentially dependent, so new orthonormal directions are propagated
//! instead of powers, and whether a direction is new is decided by a computation modulo primes that
//! runs in lockstep. A tolerance cannot decide it: on ordinary graphs rounding is amplified past
//! any threshold. Where the rank leaves open only what a symmetry of the graph hides, no floating-point
//! computation is needed at all. Matrices given entry by entry have no exact entries, so there a tolerance is
//! used, which errs on the safe side, and the grade is `UpperBound`.

use super::basis::{Basis, Block, Decision, WIDTH};
use super::modular::{self, Kept, Primes, Start, kept_candidates};
use super::synchronous::outside_neighbors;
use super::twins;
use crate::protocol::checked_coalition;
use crate::{Error, LossReport, OwnNoise};
use ndarray::Array2;
use ndp_dp::{Estimate, Exact, Grade, Guarantee, ObserverLoss, UpperBound};
use ndp_graph::memory::require_dense;
use ndp_graph::{Csr, GossipMatrix, Graph};
use rayon::prelude::*;

/// How [`exact_loss`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactOptions {
    /// Whether the observer uses the noise it drew.
    pub own_noise: OwnNoise,
    /// The most memory the work may take, in bytes; it is estimated before the work starts.
    pub memory_limit: u64,
}

impl Default for ExactOptions {
    /// Own noise known, at most 8 GiB.
    fn default() -> Self {
        Self { own_noise: OwnNoise::Known, memory_limit: 8 << 30 }
    }
}

impl ExactOptions {
    pub(super) fn known(self, coalition: &[usize]) -> &[usize] {
        if self.own_noise == OwnNoise::Known { coalition } else { &[] }
    }
}

/// Unit loss of every node towards `observer` after `rounds` rounds of gossip with `matrix`, plain or
/// accelerated.
///
/// Holds against an honest-but-curious `observer` who sees every message of its neighbors and knows
/// the graph and the matrix. `Exact` when the reported margin (from a second run that takes the
/// neighbors in reverse order, and from what was left of directions that are not new) is at most
/// `1e-9`; otherwise `UpperBound`, the margin added.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`Error::TooLarge`] beyond the memory limit.
///
/// # Complexity
/// `O(r nnz(W) + n r²)` time and `O(n r)` memory for rank `r ≤ min(n, 1 + T d_v)`.
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
    let n = matrix.node_count();
    require_dense("the losses of all pairs", n, n)?;
    (0..n).into_par_iter().map(|v| exact_loss(matrix, v, rounds, options)).collect()
}

/// An orthonormal basis of what a coalition that knows its noises sees (`rank` by `n`), and the report that
/// goes with it.
///
/// The rows span the same space for plain and accelerated gossip; with `Q` the basis, `Qᵀ Q` is the projector
/// whose diagonal holds the unit losses. Accountants that follow what was *not* seen over several rounds
/// start from it.
///
/// # Errors
/// Those of [`exact_coalition_loss`].
pub fn view_basis(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    options: ExactOptions,
) -> Result<(Array2<f64>, LossReport), Error> {
    let report = exact_coalition_loss(matrix, coalition, rounds, options)?;
    let n = matrix.node_count();
    let seeds = outside_neighbors(matrix.graph(), &report.coalition);
    let start = Start { known: &report.coalition, seeds: &seeds, rounds };
    require_dense("an orthonormal basis", report.rank, n)?;
    let exact = report.loss.grade() == Grade::Exact;
    let alike = seen_alike(matrix, start, report.rank);
    if let Some(basis) = twins::basis(n, report.rank, &alike).filter(|_| exact) {
        return Ok((basis, report));
    }
    let kept = kept_candidates(matrix, start, Primes::Both { attempt: 0 });
    let (basis, _) = krylov_basis(matrix.csr(), start, kept.as_ref());
    Ok((basis.to_rows(), report))
}

/// Unit loss 1 within `rounds` hops of `observer` and 0 beyond: true for every matrix on the graph,
/// without numerics.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn hop_bound(graph: &Graph, observer: usize, rounds: usize) -> Result<UpperBound<ObserverLoss>, Error> {
    let coalition = checked_coalition(&[observer], graph.node_count())?;
    let unit =
        within_hops(graph, &coalition, rounds).into_iter().map(|near| f64::from(u8::from(near))).collect();
    Ok(UpperBound::new(ObserverLoss { observer, unit }))
}

/// One run of the algorithm behind [`exact_loss`], without the second run that measures its error: an
/// estimate, for timings and previews of very large graphs.
///
/// # Errors
/// As [`exact_loss`].
pub fn single_run(
    matrix: &GossipMatrix,
    observer: usize,
    rounds: usize,
    options: ExactOptions,
) -> Result<Estimate<ObserverLoss>, Error> {
    let coalition = checked_coalition(&[observer], matrix.node_count())?;
    let seeds = outside_neighbors(matrix.graph(), &coalition);
    let start = Start { known: options.known(&coalition), seeds: &seeds, rounds };
    require_memory(matrix, start, options.memory_limit)?;
    let kept = kept_candidates(matrix, start, Primes::Both { attempt: 0 });
    let mut unit = krylov(matrix.csr(), start, kept.as_ref()).unit;
    unit.iter_mut().for_each(|unit| *unit = unit.min(1.0));
    Ok(Estimate::new(ObserverLoss { observer, unit }))
}

pub(super) fn account(
    matrix: &GossipMatrix,
    coalition: Vec<usize>,
    rounds: usize,
    options: ExactOptions,
) -> Result<LossReport, Error> {
    let (n, observer) = (matrix.node_count(), coalition[0]);
    let seeds = outside_neighbors(matrix.graph(), &coalition);
    let reversed: Vec<usize> = seeds.iter().rev().copied().collect();
    let start = Start { known: options.known(&coalition), seeds: &seeds, rounds };
    require_memory(matrix, start, options.memory_limit)?;

    let kept = kept_candidates(matrix, start, Primes::First);
    let rank = kept.as_ref().map(|kept| start.rank(kept));
    // Where twins are all that the view leaves open, the rank, proven modulo a prime, says everything; without
    // twins, rank n: the view determines every noisy input.
    if let Some((rank, unit)) = rank.and_then(|rank| Some((rank, symmetric_losses(matrix, start, rank)?))) {
        let loss = Exact::new(ObserverLoss { observer, unit }).into();
        return Ok(LossReport { coalition, loss, rank, margin: 0.0 });
    }
    // The second order is decided by a second prime: what both find is the rank.
    let backwards = Start { seeds: &reversed, ..start };
    let run = |start: Start<'_>, primes| {
        let kept = kept_candidates(matrix, start, primes);
        (kept.as_ref().map(|kept| start.rank(kept)), follow(matrix, start, kept))
    };
    // Large bases one after the other, so that memory holds one.
    let together = Basis::bytes(n, start.rank_limit(n)) <= TOGETHER;
    let (mut forward, (second_rank, mut backward)) =
        in_turn(together, || follow(matrix, start, kept), || run(backwards, Primes::Second));
    if rank != second_rank {
        let both = Primes::Both { attempt: 0 };
        ((_, forward), (_, backward)) = in_turn(together, || run(start, both), || run(backwards, both));
    }

    let difference = forward.unit.iter().zip(&backward.unit).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    let floor = if forward.certain { 1e-13 } else { TOLERANCE };
    let margin = difference.max(forward.dropped).max(backward.dropped).max(floor);
    let exact = forward.certain && forward.rank == backward.rank && margin <= 1e-9;
    let near = within_hops(matrix.graph(), &coalition, rounds);
    let unit = (0..n).map(|u| match (near[u], exact) {
        (false, _) => 0.0,
        (true, true) => forward.unit[u].min(1.0),
        (true, false) => (forward.unit[u].max(backward.unit[u]) + margin).min(1.0),
    });
    let loss = ObserverLoss { observer, unit: unit.collect() };
    let loss: Guarantee<_> = if exact { Exact::new(loss).into() } else { UpperBound::new(loss).into() };
    Ok(LossReport { coalition, loss, rank: forward.rank.max(backward.rank), margin })
}

/// Both, at the same time or not.
fn in_turn<A: Send, B: Send>(
    together: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if together { rayon::join(first, second) } else { (first(), second()) }
}

/// The losses by symmetry alone, where they follow from the rank. A modular rank is at most the true one, which twins
/// bound from above.
fn symmetric_losses(matrix: &GossipMatrix, start: Start<'_>, rank: usize) -> Option<Vec<f64>> {
    twins::losses(matrix.node_count(), rank, &seen_alike(matrix, start, rank))
}

/// The classes of twins that a view of this rank does not tell apart; none where they could not explain the rank.
fn seen_alike(matrix: &GossipMatrix, start: Start<'_>, rank: usize) -> Vec<Vec<usize>> {
    let n = matrix.node_count();
    if rank == n || 2 * rank < n || start.rounds == 0 {
        return Vec::new();
    }
    let mut seen = vec![false; n];
    start.known.iter().chain(start.seeds).for_each(|&u| seen[u] = true);
    twins::classes(matrix.graph(), |u| seen[u])
}

/// Who can reach a member of the coalition in `rounds` hops, members included.
fn within_hops(graph: &Graph, coalition: &[usize], rounds: usize) -> Vec<bool> {
    let mut near = vec![false; graph.node_count()];
    let mut frontier = coalition.to_vec();
    frontier.iter().for_each(|&v| near[v] = true);
    for _ in 0..rounds {
        let mut next = Vec::new();
        for v in frontier {
            for &w in graph.neighbors(v) {
                if !std::mem::replace(&mut near[w as usize], true) {
                    next.push(w as usize);
                }
            }
        }
        frontier = next;
        if frontier.is_empty() {
            break;
        }
    }
    near
}

fn require_memory(matrix: &GossipMatrix, start: Start<'_>, limit: u64) -> Result<(), Error> {
    let n = matrix.node_count();
    let bytes = Basis::bytes(n, start.rank_limit(n)).max(modular::bytes(matrix, start));
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    if bytes > limit {
        return Err(Error::TooLarge { what: "the orthonormal basis of the view", bytes, limit });
    }
    Ok(())
}

struct Run {
    unit: Vec<f64>,
    rank: usize,
    /// Largest relative residual of a direction that is not new.
    dropped: f64,
    /// Whether the rank was decided modulo primes.
    certain: bool,
}

/// Follows the decisions in `kept`, and takes them again where they look wrong.
fn follow(matrix: &GossipMatrix, start: Start<'_>, kept: Option<Kept>) -> Run {
    let first = krylov(matrix.csr(), start, kept.as_ref());
    if first.dropped <= SUSPICIOUS || kept.is_none() {
        return first;
    }
    match kept_candidates(matrix, start, Primes::Both { attempt: 1 }) {
        again if again > kept => krylov(matrix.csr(), start, again.as_ref()),
        _ => first,
    }
}

/// The float half of the block Krylov algorithm, following the decisions in `kept`, or a tolerance.
fn krylov(w: &Csr, start: Start<'_>, kept: Option<&Kept>) -> Run {
    let (basis, dropped) = krylov_basis(w, start, kept);
    // A direction that floats lost may have told anything.
    let unit = if dropped < 1.0 { basis.squares() } else { vec![1.0; w.node_count()] };
    Run { unit, rank: basis.len(), dropped, certain: kept.is_some() }
}

/// The basis of the view, and the largest relative residual of a direction that is not new (1 when a
/// new one was lost).
fn krylov_basis(w: &Csr, start: Start<'_>, kept: Option<&Kept>) -> (Basis, f64) {
    let n = w.node_count();
    let mut basis = Basis::new(n);
    start.known.iter().for_each(|&v| basis.push_unit(v));
    let mut dropped: f64 = 0.0;
    if start.rounds == 0 {
        return (basis, dropped);
    }
    let mut before = 0;
    let mut new = basis.len()..basis.len() + start.seeds.len();
    start.seeds.iter().for_each(|&w| basis.push_unit(w));
    let (mut sources, mut candidates) = (Block::zero(n, WIDTH), Block::zero(n, WIDTH));
    for t in 1..start.rounds {
        if new.is_empty() || basis.len() == n || kept.is_some_and(|kept| kept.len() < t) {
            break;
        }
        let first = basis.len();
        // A tolerance is compared with one rest at a time.
        let width = if kept.is_some() { WIDTH } else { 1 };
        for from in new.clone().step_by(width) {
            let columns = from..new.end.min(from + width);
            basis.copy_to(columns.clone(), &mut sources);
            sources.multiply_into(w, &mut candidates);
            let decision = match kept {
                Some(kept) => {
                    Decision::Kept(&kept[t - 1][columns.start - new.start..columns.end - new.start])
                }
                None => Decision::Tolerance(TOLERANCE),
            };
            // W is symmetric, so a propagated direction meets only its own block and its neighbors.
            let absorbed = basis.absorb(&mut candidates, decision, before);
            if absorbed.lost {
                return (basis, 1.0);
            }
            dropped = dropped.max(absorbed.dropped);
        }
        before = new.start;
        new = first..basis.len();
    }
    (basis, dropped)
}

/// Without exact entries a direction is new when more than this share of it is left.
const TOLERANCE: f64 = 1e-10;
/// A direction that is not new leaves rounding errors behind; more than this hints at an unlucky prime.
const SUSPICIOUS: f64 = 1e-3;
/// Bases below this size are computed two at a time.
const TOGETHER: u128 = 256 << 20;
