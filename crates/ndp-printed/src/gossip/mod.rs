//! The sums over messages that *Muffliato* prints as pairwise guarantees. They are not guarantees.
//!
//! Theorem 1 charges the loss of every message separately:
//! `f(u, v) = c₀ Σ_{t<T} Σ_{w ∈ N(v)} (Wᵗ)_{wu}² / ‖(Wᵗ)_w‖²`. Messages share their noise, so their
//! losses do not add up: on the path 0-1-2 with two rounds the sum towards node 2 is `c₀/3` for node 0, whose
//! true loss is `c₀`. The sum can also be many times larger than `c₀`. Only the sum over all `u`, which is
//! `T d_v`, says something true, about the mean.
//!
//! All functions return unit losses (divide by `c₀ = α Δ² / (2σ²)`), not clipped at 1.
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Theorem 1, Corollaries
//!   1 to 5, Theorems 4, 8, 9, 12, Proposition 1, Table 1. Disproved in `docs/findings.md`.

mod formulas;
mod sequences;

pub use formulas::{corollary4_variance, theorem4};
pub use sequences::sequence_mean_from;

use ndarray::Array2;
use ndp_account::Error;
use ndp_account::parts::checked_coalition;
use ndp_algos::gossip::Connections;
use ndp_algos::parts::{outside_neighbors, require_rounds};
use ndp_dp::{ObserverLoss, Printed};
use ndp_graph::kernel::{self, Lanes};
use ndp_graph::tasks::for_paired_tasks;
use ndp_graph::{Csr, GossipMatrix};
use ndp_linalg::memory::require_dense;
use rayon::prelude::*;

/// Which powers of `W`, and which of their entries, the sum runs over.
///
/// # Examples
/// ```
/// use ndp_printed::gossip::{Powers, theorem1_towards};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
/// let [printed, programmed] = [Powers::FromZero, Powers::FromOne].map(|powers| theorem1_towards((&matrix, 2), &[0], powers));
/// assert_ne!(printed?, programmed?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Powers {
    /// `0..T`, as the theorem says: round `t` sends `Wᵗ (x + η)`, and round 0 the noisy value itself.
    #[default]
    FromZero,
    /// `1..=T`, as the authors' program does: the most revealing message is left out.
    FromOne,
    /// `0..T`, but a message of `w` is charged the entry `(W_{0:t})_{uw}` of the running product, as
    /// Corollary 2 writes, instead of `(W_{0:t})_{wu}`, the share of `u`'s value in the message. The two
    /// differ if the product is not symmetric, which never happens with a fixed matrix.
    Transposed,
}

/// Theorem 1 from each of `sources` to every node: entry `(k, v)` is `f(sources[k], v) / c₀`. With all nodes
/// as sources it is the loss of all pairs.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`ndp_graph::Error::TooLarge`] for more sources than fit in memory;
/// [`Error::InvalidParameter`] for more rounds than can be computed, here and below.
///
/// # Complexity
/// `O(T n nnz(W))` time even for few sources, because the norms of all rows of all powers are needed. In
/// parallel over panels of columns that stay in cache for all `T` rounds; `O(n)` memory for every source.
///
/// # Examples
/// ```
/// use ndp_printed::gossip::{Powers, theorem1_from, theorem1_towards};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(4)?);
/// let from = theorem1_from(&matrix, &[0, 3], 5, Powers::FromZero)?.into_value();
/// let towards = theorem1_towards((&matrix, 5), &[2], Powers::FromZero)?.into_value().unit;
/// assert!((from[(0, 2)] - towards[0]).abs() < 1e-12 && (from[(1, 2)] - towards[3]).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn theorem1_from(
    matrix: &GossipMatrix,
    sources: &[usize],
    rounds: usize,
    powers: Powers,
) -> Result<Printed<Array2<f64>>, Error> {
    let nodes = matrix.node_count();
    if let Some(&node) = sources.iter().find(|&&u| u >= nodes) {
        return Err(Error::NodeOutOfRange { node, nodes });
    }
    require_dense("the printed losses of all pairs and their sums", sources.len(), 2 * nodes)?;
    require_rounds_of(matrix, nodes, rounds)?;
    let mut unit = vec![0.0; sources.len() * nodes];
    if rounds > 0 && !unit.is_empty() {
        let sum = Sum { rounds, powers };
        let everybody = sources.iter().copied().eq(0..nodes);
        // Keeps only the rows of the sources.
        let charged = |senders: Vec<usize>| {
            let shares = message_shares::<PANEL, false>(matrix.csr(), &senders, sum);
            if everybody {
                return shares;
            }
            sources.iter().flat_map(|&u| &shares[u * PANEL..(u + 1) * PANEL]).copied().collect()
        };
        let shares: Vec<Vec<f64>> = panels(nodes).into_par_iter().map(charged).collect();
        // The sum over neighbors is computed only once, after the sum over rounds.
        unit.par_chunks_mut(nodes).enumerate().for_each(|(k, towards)| {
            let row: Vec<f64> =
                shares.iter().flat_map(|panel| &panel[k * PANEL..(k + 1) * PANEL]).copied().collect();
            for (v, loss) in towards.iter_mut().enumerate() {
                *loss = matrix.graph().neighbors(v).iter().map(|&w| row[w as usize]).sum();
            }
        });
    }
    let unit = Array2::from_shape_vec((sources.len(), nodes), unit);
    Ok(Printed::new(unit.expect("a row for every source")))
}

/// Theorem 1 from every node to one observer: entry `u` is `f(u, v) / c₀`. For a coalition, Theorem 12: the
/// sum over the messages received from outside.
///
/// Over a sequence it is `Σ_t Σ_w (W_{0:t})_{wu}² / ‖(W_{0:t})_w‖²` for the given steps; with one edge per
/// step this is Corollary 2.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], [`Error::NodeOutOfRange`]; [`Error::NotOffered`] for
/// [`Powers::FromOne`] over a sequence.
///
/// # Complexity
/// With a fixed matrix `O(T d_v nnz(W))` time, `O(n)` memory.
pub fn theorem1_towards<'a>(
    connections: impl Into<Connections<'a>>,
    coalition: &[usize],
    powers: Powers,
) -> Result<Printed<ObserverLoss>, Error> {
    match connections.into() {
        Connections::Fixed { matrix, rounds } => fixed_towards(matrix, coalition, rounds, powers),
        Connections::Sequence(sequence) => sequences::towards(sequence, coalition, powers),
    }
}

fn fixed_towards(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    powers: Powers,
) -> Result<Printed<ObserverLoss>, Error> {
    let coalition = checked_coalition(coalition, matrix.node_count())?;
    let senders = outside_neighbors(matrix.graph(), &coalition);
    require_rounds_of(matrix, senders.len(), rounds)?;
    let sum = Sum { rounds, powers };
    let mut unit = vec![0.0; matrix.node_count()];
    if rounds > 0 {
        for panel in senders.chunks(16) {
            let shares = if panel.len() <= 8 {
                message_shares::<8, true>(matrix.csr(), panel, sum)
            } else {
                message_shares::<16, true>(matrix.csr(), panel, sum)
            };
            unit.iter_mut().zip(shares).for_each(|(unit, share)| *unit += share);
        }
    }
    Ok(Printed::new(ObserverLoss { observer: coalition[0], unit }))
}

/// Corollary 1 from every node to one observer:
/// `n max_{w ∈ N(v)} W_{vw}⁻² Σ_{t=1..T} (Wᵗ)_{vu}²`, infinite when an edge at `v` has weight 0.
///
/// To a coalition `V` it is Corollary 3, with the `Δ²` that its print leaves out:
/// `n max_{v ∈ V, w ∈ N(v) \ V} W_{vw}⁻² Σ_{t=1..T} (Σ_{v ∈ V} (Wᵗ)_{vu})²`.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], [`Error::NodeOutOfRange`].
pub fn corollary1_towards(
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
    require_rounds_of(matrix, 1, rounds)?;
    let mut unit = vec![0.0; n];
    if smallest.is_finite() {
        let factor = n as f64 / (smallest * smallest);
        let mut law = vec![0.0; n];
        coalition.iter().for_each(|&v| law[v] = 1.0);
        let mut next = vec![0.0; n];
        for _ in 0..rounds {
            matrix.csr().multiply(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
            // Where the walk cannot be, an edge of weight zero elsewhere adds no cost.
            let costs = law.iter().map(|p| if *p == 0.0 { 0.0 } else { factor * p * p });
            unit.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        }
    }
    Ok(Printed::new(ObserverLoss { observer: coalition[0], unit }))
}

/// The charges for the messages of up to `B` senders: `Σ_t (Wᵗ)_{uw}² / ‖(Wᵗ)_w‖²`. Row `u` has one number
/// for each sender `w`, or with `SUM` their sum.
fn message_shares<const B: usize, const SUM: bool>(w: &Csr, senders: &[usize], sum: Sum) -> Vec<f64> {
    let n = w.node_count();
    let stride = if SUM { 1 } else { B };
    let mut shares = vec![0.0; n * stride];
    let mut x = vec![Lanes::<B>::ZERO; n];
    senders.iter().enumerate().for_each(|(lane, &w)| x[w].0[lane] = 1.0);
    let mut y = vec![Lanes::ZERO; n];
    // An unused lane is zero throughout; its scale must not turn that into 0/0.
    let mut scale: [f64; B] = std::array::from_fn(|lane| f64::from(u8::from(lane < senders.len())));
    if sum.powers == Powers::FromOne {
        // Power 0 is left out: multiply first, without charging anything.
        scale = step::<B, SUM>(w, &x, [0.0; B], &mut y, &mut shares);
        std::mem::swap(&mut x, &mut y);
    }
    for _ in 1..sum.rounds {
        scale = step::<B, SUM>(w, &x, scale, &mut y, &mut shares);
        std::mem::swap(&mut x, &mut y);
    }
    for_paired_tasks(&mut x, &mut shares, stride, |_, x, shares| {
        kernel::last_shares::<B, SUM>(x, &scale, shares);
    });
    shares
}

/// Charges `x`, writes `W x` to `y` and returns the inverse squared lengths of its columns.
fn step<const B: usize, const SUM: bool>(
    w: &Csr,
    x: &[Lanes<B>],
    scale: [f64; B],
    y: &mut [Lanes<B>],
    shares: &mut [f64],
) -> [f64; B] {
    let stride = if SUM { 1 } else { B };
    let squares = for_paired_tasks(y, shares, stride, |first, y, shares| {
        let mut squares = [0.0; B];
        kernel::share_rows::<B, SUM>(w, first, x, &scale, y, shares, &mut squares);
        squares
    });
    let mut total = [0.0; B];
    for task in &squares {
        total.iter_mut().zip(task).for_each(|(total, square)| *total += square);
    }
    total.map(|square| if square > 0.0 { 1.0 / square } else { 0.0 })
}

/// Checks that the powers of all rounds can be applied to `columns` columns, a panel at a time.
fn require_rounds_of(matrix: &GossipMatrix, columns: usize, rounds: usize) -> Result<(), Error> {
    require_rounds(rounds, matrix.csr().parts().1.len().saturating_mul(columns.div_ceil(PANEL)))
}

#[derive(Clone, Copy)]
struct Sum {
    /// At least 1.
    rounds: usize,
    powers: Powers,
}

/// All nodes, in panels.
fn panels(n: usize) -> Vec<Vec<usize>> {
    (0..n).step_by(PANEL).map(|first| (first..n.min(first + PANEL)).collect()).collect()
}

/// Columns that are propagated together: enough for every sum to run several chains of additions in parallel,
/// few enough for two panels of 2048 rows to stay in a cache of 512 KiB.
const PANEL: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use ndp_graph::Weights;
    use ndp_graph::{Graph, generators};

    /// The definition, with dense powers.
    fn by_definition(matrix: &GossipMatrix, rounds: usize, powers: Powers) -> Result<Array2<f64>, Error> {
        let (n, w) = (matrix.node_count(), matrix.to_dense()?);
        let mut power = if powers == Powers::FromZero { Array2::eye(n) } else { w.clone() };
        let mut sums = Array2::zeros((n, n));
        for _ in 0..rounds {
            for v in 0..n {
                for &s in matrix.graph().neighbors(v) {
                    let row = power.row(s as usize);
                    for u in 0..n {
                        sums[(u, v)] += row[u] * row[u] / row.dot(&row);
                    }
                }
            }
            power = power.dot(&w);
        }
        Ok(sums)
    }

    fn graphs() -> Result<Vec<Graph>, Error> {
        // The star has a sender with 19 neighbors: more than one panel of columns.
        Ok(vec![
            generators::star_graph(19)?,
            generators::grid_2d_graph(3, 5)?,
            generators::hypercube_graph(4)?,
        ])
    }

    #[test]
    fn all_orientations_agree_with_the_definition() -> Result<(), Error> {
        for graph in graphs()? {
            let matrix = GossipMatrix::new(&graph, Weights::SumDegree)?;
            for (rounds, powers) in [
                (0, Powers::FromZero),
                (1, Powers::FromZero),
                (1, Powers::FromOne),
                (5, Powers::FromZero),
                (6, Powers::FromOne),
            ] {
                let expected = by_definition(&matrix, rounds, powers)?;
                let everybody: Vec<usize> = (0..graph.node_count()).collect();
                let all = theorem1_from(&matrix, &everybody, rounds, powers)?.into_value();
                for v in 0..graph.node_count() {
                    let from = theorem1_from(&matrix, &[v, 0], rounds, powers)?.into_value();
                    let towards = theorem1_towards((&matrix, rounds), &[v], powers)?.into_value();
                    for u in 0..graph.node_count() {
                        assert_relative_eq!(all[(u, v)], expected[(u, v)], max_relative = 1e-12);
                        assert_relative_eq!(towards.unit[u], expected[(u, v)], max_relative = 1e-12);
                        assert_relative_eq!(from[(0, u)], expected[(v, u)], max_relative = 1e-12);
                    }
                    // What the sum does prove: added up over all sources it is the number of messages.
                    let messages = (rounds * graph.degree(v)) as f64;
                    assert_relative_eq!(towards.unit.iter().sum::<f64>(), messages, max_relative = 1e-12);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn coalitions_are_charged_for_messages_from_outside() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&generators::path_graph(4)?);
        let both = theorem1_towards((&matrix, 3), &[2, 1], Powers::FromZero)?.into_value();
        assert_relative_eq!(both.unit.iter().sum::<f64>(), 6.0, max_relative = 1e-13);
        let all = theorem1_towards((&matrix, 3), &[0, 1, 2, 3], Powers::FromZero)?.into_value();
        assert_eq!(all.unit, [0.0; 4]);
        assert_eq!(corollary1_towards(&matrix, &[0, 1, 2, 3], 3)?.into_value().unit, [0.0; 4]);
        Ok(())
    }

    /// Corollary 1 is a relaxation of Theorem 1, so it is larger; over an edge of weight 0 it is infinite.
    #[test]
    fn corollary_1_relaxes_theorem_1() -> Result<(), Error> {
        for graph in graphs()? {
            let matrix = GossipMatrix::metropolis(&graph);
            let theorem = theorem1_towards((&matrix, 4), &[1], Powers::FromZero)?.into_value();
            let corollary = corollary1_towards(&matrix, &[1], 4)?.into_value();
            for (theorem, corollary) in theorem.unit.iter().zip(&corollary.unit) {
                assert!(*corollary >= theorem - 1e-12);
            }
        }
        let path = generators::path_graph(3)?;
        let idle = GossipMatrix::from_dense(&path, Array2::eye(3).view())?;
        assert_eq!(corollary1_towards(&idle, &[0], 2)?.into_value().unit, [f64::INFINITY, 0.0, 0.0]);
        Ok(())
    }

    #[test]
    fn threads_do_not_change_a_bit() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&generators::grid_2d_graph(90, 100)?);
        let small = GossipMatrix::metropolis(&generators::grid_2d_graph(9, 10)?);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let column = theorem1_towards((&matrix, 8), &[4555], Powers::FromZero)?.into_value();
                let pairs =
                    theorem1_from(&small, &(0..90).collect::<Vec<_>>(), 8, Powers::FromOne)?.into_value();
                Ok::<_, Error>((column, pairs))
            })
        };
        let one = run(1)?;
        assert_eq!(one, run(2)?);
        assert_eq!(one, run(3)?);
        Ok(())
    }

    /// Functions that compute all rounds refuse more rounds than they can compute, naming their number.
    #[test]
    fn rounds_without_end_are_refused() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?);
        for rounds in [1_000_000_000, 1 << 31, 1 << 40, usize::MAX] {
            for refused in [
                theorem1_towards((&matrix, rounds), &[0], Powers::FromZero).map(drop),
                theorem1_from(&matrix, &[0], rounds, Powers::FromOne).map(drop),
                theorem1_from(&matrix, &[0, 1, 2], rounds, Powers::FromZero).map(drop),
                corollary1_towards(&matrix, &[0], rounds).map(drop),
            ] {
                assert!(
                    matches!(refused, Err(Error::InvalidParameter { value, .. }) if value == rounds as f64),
                    "{rounds}: {refused:?}"
                );
            }
        }
        Ok(())
    }

    /// A graph of degree 6 among 200, and 99 observers with one common neighbor among 101.
    #[test]
    fn theorem_4_matches_reference_values() -> Result<(), Error> {
        use ndp_algos::gossip::random_graph::RandomGraph;
        use ndp_dp::{Order, Sensitivity, Sigma};
        let (order, sensitivity, sigma) = (Order::new(2.0)?, Sensitivity::new(1.0)?, Sigma::new(2.0)?);
        let sparse = RandomGraph { nodes: 200, observers: 1, degree: 6, rounds: 10 };
        let crowd = RandomGraph { nodes: 101, observers: 99, degree: 1, rounds: 2 };
        for (setting, printed, digits) in [(sparse, 0.154_639_175_257_732, 1e-13), (crowd, 0.01, 1e-14)] {
            let found = *theorem4(setting, order, sensitivity, sigma)?.value();
            assert_relative_eq!(found, printed, max_relative = digits);
        }
        Ok(())
    }
}
