//! The sums over messages that *Muffliato* prints as pairwise guarantees. They are none.
//!
//! Theorem 1 charges the loss of every message separately:
//! `f(u, v) = c₀ Σ_{t<T} Σ_{w ∈ N(v)} (Wᵗ)_{wu}² / ‖(Wᵗ)_w‖²`. Messages share their noise, so their
//! losses do not add up: on the path 0-1-2 with two rounds the sum towards node 2 is `c₀/3` for node
//! 0, whose true loss is `c₀`. It can also exceed `c₀` many times. Only the sum over all `u` (it is
//! `T d_v`) says something true, about the mean.
//!
//! All functions return unit losses (divide by `c₀ = α Δ² / (2σ²)`), not clipped at 1.
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Theorem 1, Corollaries
//!   1 and 3, Theorem 12. Disproved in `docs/findings.md`.

use super::synchronous::{apply, outside_neighbors};
use crate::Error;
use crate::protocol::checked_coalition;
use ndarray::{Array1, Array2, Axis, s};
use ndp_dp::{ObserverLoss, PairwiseLoss, Printed};
use ndp_graph::{Csr, GossipMatrix};

/// Which powers of `W` the sum runs over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Powers {
    /// `0..T`, as the theorem says: round `t` sends `Wᵗ (x + η)`, starting with the noisy value itself.
    #[default]
    FromZero,
    /// `1..=T`, as the authors' program does: the most revealing message is left out.
    FromOne,
}

/// Theorem 1 from `source` to every node: entry `v` is `f(source, v) / c₀`.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
///
/// # Complexity
/// `O(T n nnz(W))`: the norms of all rows of all powers are needed.
pub fn theorem1_from(
    matrix: &GossipMatrix,
    source: usize,
    rounds: usize,
    powers: Powers,
) -> Result<Printed<Vec<f64>>, Error> {
    checked_coalition(&[source], matrix.node_count())?;
    let n = matrix.node_count();
    let mut shares = vec![0.0; n];
    for first in (0..n).step_by(PANEL) {
        let senders: Vec<usize> = (first..n.min(first + PANEL)).collect();
        let sums = message_shares(matrix.csr(), &senders, rounds, powers);
        shares[first..first + senders.len()].iter_mut().zip(sums.row(source)).for_each(|(x, &y)| *x = y);
    }
    let towards = |v: usize| matrix.graph().neighbors(v).iter().map(|&w| shares[w as usize]).sum();
    Ok(Printed::new((0..n).map(towards).collect()))
}

/// Theorem 1 from every node to `observer`: entry `u` is `f(u, observer) / c₀`.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
///
/// # Complexity
/// `O(T d_v nnz(W))` time, `O(n)` memory.
pub fn theorem1_towards(
    matrix: &GossipMatrix,
    observer: usize,
    rounds: usize,
    powers: Powers,
) -> Result<Printed<ObserverLoss>, Error> {
    theorem12_towards(matrix, &[observer], rounds, powers)
}

/// Theorem 12, the sum of Theorem 1 towards a coalition: over the messages of its neighbors outside.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], [`Error::NodeOutOfRange`].
pub fn theorem12_towards(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    powers: Powers,
) -> Result<Printed<ObserverLoss>, Error> {
    let coalition = checked_coalition(coalition, matrix.node_count())?;
    let senders = outside_neighbors(matrix.graph(), &coalition);
    let mut unit = Array1::zeros(matrix.node_count());
    for panel in senders.chunks(PANEL) {
        unit += &message_shares(matrix.csr(), panel, rounds, powers).sum_axis(Axis(1));
    }
    Ok(Printed::new(ObserverLoss { observer: coalition[0], unit: unit.to_vec() }))
}

/// Theorem 1 for all pairs, as a fraction of `c₀`.
///
/// # Complexity
/// `O(T n nnz(W))` time and `O(n²)` memory.
#[must_use]
pub fn theorem1_all_pairs(matrix: &GossipMatrix, rounds: usize, powers: Powers) -> Printed<PairwiseLoss> {
    let n = matrix.node_count();
    let mut shares = Array2::zeros((n, n));
    for first in (0..n).step_by(PANEL) {
        let senders: Vec<usize> = (first..n.min(first + PANEL)).collect();
        let sums = message_shares(matrix.csr(), &senders, rounds, powers);
        shares.slice_mut(s![.., first..first + senders.len()]).assign(&sums);
    }
    let graph = matrix.graph();
    let towards = |u: usize, v: usize| graph.neighbors(v).iter().map(|&w| shares[(u, w as usize)]).sum();
    let unit = (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).map(|(u, v)| towards(u, v)).collect();
    Printed::new(PairwiseLoss::from_rows(n, unit).expect("there are n² losses"))
}

/// Corollary 1 from every node to `observer`:
/// `n max_{w ∈ N(v)} W_{vw}⁻² Σ_{t=1..T} (Wᵗ)_{vu}²`, infinite when an edge at `v` has weight 0.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn corollary1_towards(
    matrix: &GossipMatrix,
    observer: usize,
    rounds: usize,
) -> Result<Printed<ObserverLoss>, Error> {
    corollary3_towards(matrix, &[observer], rounds)
}

/// Corollary 3 from every node to a coalition `V`, with the `Δ²` that its print leaves out:
/// `n max_{v ∈ V, w ∈ N(v) \ V} W_{vw}⁻² Σ_{t=1..T} (Σ_{v ∈ V} (Wᵗ)_{vu})²`.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], [`Error::NodeOutOfRange`].
pub fn corollary3_towards(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
) -> Result<Printed<ObserverLoss>, Error> {
    let n = matrix.node_count();
    let coalition = checked_coalition(coalition, n)?;
    let edges =
        coalition.iter().flat_map(|&v| matrix.graph().neighbors(v).iter().map(move |&w| (v, w as usize)));
    let crossing = edges.filter(|(_, w)| coalition.binary_search(w).is_err());
    let smallest = crossing.map(|(v, w)| matrix.get(v, w)).fold(f64::INFINITY, f64::min);
    let mut unit = vec![0.0; n];
    if smallest.is_finite() {
        let factor = n as f64 / (smallest * smallest);
        let mut law = vec![0.0; n];
        coalition.iter().for_each(|&v| law[v] = 1.0);
        let mut next = vec![0.0; n];
        for _ in 0..rounds {
            matrix.csr().multiply(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
            // Where the walk cannot be, a weight of zero elsewhere costs nothing.
            let costs = law.iter().map(|p| if *p == 0.0 { 0.0 } else { factor * p * p });
            unit.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        }
    }
    Ok(Printed::new(ObserverLoss { observer: coalition[0], unit }))
}

/// Column `j` is `Σ_t (Wᵗ)_{·w}² / ‖(Wᵗ)_w‖²` for `w = senders[j]`: what the messages of `w` are charged.
fn message_shares(w: &Csr, senders: &[usize], rounds: usize, powers: Powers) -> Array2<f64> {
    let shape = (w.node_count(), senders.len());
    let mut state = Array2::from_shape_fn(shape, |(u, j)| f64::from(u8::from(u == senders[j])));
    let mut sums = Array2::zeros(shape);
    for t in 0..rounds {
        if t > 0 || powers == Powers::FromOne {
            state = apply(w, state.view());
        }
        let norms = state.fold_axis(Axis(0), 0.0, |sum: &f64, x: &f64| sum + x * x);
        sums.zip_mut_with(&(&state * &state / norms), |sum, share| *sum += share);
    }
    sums
}

/// Columns that are propagated together.
const PANEL: usize = 16;
