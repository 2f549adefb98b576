//! Privacy from a random graph that the observer does not know (Theorems 4 and 9, Corollary 5).
//!
//! The law of the edges does not change when nodes outside the observer and its neighborhood are permuted,
//! for example because edges are independent. The observer may know its neighbors and every statistic with
//! the same invariance (the number of rounds, gaps, the weights of its own edges, the number of edges), but
//! not which outside nodes are adjacent to each other. Given all this, the loss of a node `u` that is not
//! adjacent to the observer is averaged over the places that `u` may take.
//!
//! The losses of all nodes sum to at most the number of messages received, and every neighbor takes exactly
//! the local loss `c₀`. The other nodes therefore share at most `d (T - 1)`, and have a mean unit loss of at
//! most `m = min(1, d (T - 1) / (n - 1 - d))`. The Rényi divergence of a mixture is at most the log-mean-exp
//! of those of its parts, and every part is at most `c₀`, so that a law on the two points 0 and `c₀` is the
//! worst: `ε ≤ ln(1 + m (e^{(α-1) c₀} - 1)) / (α - 1)`.
//!
//! The bounds are for *one* release per draw of the graph: afterwards, the observer's guess of the hidden
//! graph is no longer invariant. They do not compose over rounds on the same graph.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Order, Sensitivity, Sigma, UpperBound};
use ndp_numeric::rounding::Interval;

/// The setting of Theorems 4 and 9 and Corollary 5: `n` nodes, a coalition of `|V|` of them with `d_V`
/// neighbors outside, `T` rounds.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::random_graph::RandomGraph;
/// use ndp_dp::{Order, Sensitivity, Sigma};
/// let setting = RandomGraph { nodes: 200, observers: 1, degree: 6, rounds: 10 };
/// let (order, sensitivity, sigma) = (Order::new(2.0)?, Sensitivity::new(1.0)?, Sigma::new(2.0)?);
/// // The theorem as printed, which is not about every graph, says 0.1546.
/// assert!(setting.loss(order, sensitivity, sigma)?.into_value() < 0.1546);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomGraph {
    /// Number of nodes `n`.
    pub nodes: usize,
    /// Number of observers `|V|`, 1 for a single node.
    pub observers: usize,
    /// Neighbors of the observers outside the coalition, `d_V`.
    pub degree: usize,
    /// Number of rounds `T`.
    pub rounds: usize,
}

impl RandomGraph {
    /// An upper bound on the loss of a node that is not adjacent to the observers, in nats: `ln(1 + m
    /// (e^{(α-1) c₀} - 1)) / (α - 1)`, valid for every `σ`. For a neighbor, or if there is no other node, it
    /// is the local loss `c₀ = α Δ² / (2σ²)`. With several observers, `n - 1 - d` becomes `n - |V| - d_V`.
    ///
    /// It is never above the bound by weak convexity, `min(c₀, (1 + (α - 1) c₀) c₀ m)` for `(α - 1) c₀ ≤ 1`,
    /// nor above Theorem 4 with its condition, `α Δ² T d / (σ² (n - d))`, for one observer and `T ≤ n - d`
    /// rounds.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless there is at least one observer and `|V| + d_V ≤ n`.
    pub fn loss(
        self,
        order: Order,
        sensitivity: Sensitivity,
        sigma: Sigma,
    ) -> Result<UpperBound<f64>, Error> {
        let share = mean_share(self)?;
        let excess = Interval::new(order.get()) - Interval::ONE;
        let local = local_loss(order, sensitivity, sigma);
        Ok(UpperBound::new((log_mixture(share, excess * local) / excess).high()))
    }
}

/// The local loss `c₀ = α Δ² / (2σ²)`, which a neighbor learns; positive, however small it is.
fn local_loss(order: Order, sensitivity: Sensitivity, sigma: Sigma) -> Interval {
    let ratio = Interval::new(sensitivity.get()) / Interval::new(sigma.get());
    Interval::new(order.get()) * ratio * ratio / Interval::new(2.0)
}

/// The largest mean unit loss of the nodes that are not adjacent.
fn mean_share(setting: RandomGraph) -> Result<Interval, Error> {
    Ok(match hidden_nodes(setting)? {
        // No node is hidden, so that only the local bound holds.
        0 => Interval::ONE,
        hidden => {
            let count = |x: usize| Interval::count(x as u64);
            let messages = count(setting.degree) * count(setting.rounds.saturating_sub(1));
            (messages / count(hidden)).min(Interval::ONE)
        }
    })
}

/// The number `n - |V| - d_V` of nodes that are neither observers nor adjacent to one.
fn hidden_nodes(setting: RandomGraph) -> Result<usize, Error> {
    let RandomGraph { nodes, observers, degree, .. } = setting;
    ensure(observers != 0, "the number of observers", "be at least 1", 0.0)?;
    nodes.checked_sub(observers.saturating_add(degree)).ok_or(Error::InvalidParameter {
        name: "the number of observers and their neighbors",
        condition: "be at most the number of nodes",
        value: observers as f64 + degree as f64,
    })
}

/// `ln(1 + m (e^x - 1))` for `m` in `[0, 1]` and `x ≥ 0`, without overflow and without cancellation.
fn log_mixture(m: Interval, x: Interval) -> Interval {
    if m.high() == 0.0 {
        Interval::ZERO
    } else if x.high() < 700.0 {
        // Every operation keeps its relative accuracy; adding `x` would lose a small `m`.
        (m * x.expm1()).ln_1p()
    } else {
        // `m` is at least 2^-64 here, so that the two terms do not cancel.
        x + (m + (Interval::ONE - m) * (-x).exp()).ln()
    }
}

/// `nodes - degree`, positive.
#[doc(hidden)]
pub fn positive_outside(nodes: usize, degree: usize) -> Result<f64, Error> {
    if degree < nodes {
        Ok((nodes - degree) as f64)
    } else {
        let (name, condition) = ("the number of neighbors", "be below the number of nodes");
        Err(Error::InvalidParameter { name, condition, value: degree as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gossip::{ExactOptions, exact_loss};
    use approx::assert_relative_eq;
    use ndp_graph::{GossipMatrix, Graph};

    /// The value with a margin for a few roundings.
    fn up(value: f64) -> f64 {
        value * (1.0 + 8.0 * f64::EPSILON)
    }

    /// The expected number of nodes outside a coalition of `k` that are adjacent to it, if every edge is
    /// present with probability `q`.
    fn expected_outside_neighbors(nodes: usize, k: usize, q: f64) -> f64 {
        (nodes - k) as f64 * -(k as f64 * (-q).ln_1p()).exp_m1()
    }

    fn parameters(alpha: f64, sigma: f64) -> Result<(Order, Sensitivity, Sigma), Error> {
        Ok((Order::new(alpha)?, Sensitivity::new(1.0)?, Sigma::new(sigma)?))
    }

    const SETTING: RandomGraph = RandomGraph { nodes: 200, observers: 1, degree: 6, rounds: 10 };

    #[test]
    fn reference_values() -> Result<(), Error> {
        let (order, sensitivity, sigma) = parameters(2.0, 2.0)?;
        let published = 0.154_639_175_257_732;
        assert_relative_eq!(
            *published_loss(SETTING, order, sensitivity, sigma)?.value(),
            published,
            max_relative = 1e-13
        );
        let sharp = *SETTING.loss(order, sensitivity, sigma)?.value();
        let convex = *weakly_convex_loss(SETTING, order, sensitivity, sigma)?.value();
        // The reference is the smaller of the two; here c₀ = 1/4 and m = 54/193.
        assert_relative_eq!(sharp.min(convex), 0.076_468_559_980_923_9, max_relative = 1e-13);
        assert!(sharp <= convex * (1.0 + 1e-15));
        Ok(())
    }

    #[test]
    fn sharp_form_never_exceeds_the_others() -> Result<(), Error> {
        for alpha in [1.001, 2.0, 17.0] {
            for sigma in [0.01, 0.7, 3.0, 1e6] {
                let (order, sensitivity, sigma) = parameters(alpha, sigma)?;
                let local = local_loss(order, sensitivity, sigma).high();
                for rounds in [0, 1, 2, 10, 194, 10_000] {
                    let setting = RandomGraph { rounds, ..SETTING };
                    let sharp = *setting.loss(order, sensitivity, sigma)?.value();
                    assert!(0.0 <= sharp && sharp <= local * (1.0 + 1e-14), "{alpha} {sigma:?} {rounds}");
                    if let Ok(convex) = weakly_convex_loss(setting, order, sensitivity, sigma) {
                        assert!(sharp <= convex.value() * (1.0 + 1e-14));
                        let published = published_loss(setting, order, sensitivity, sigma)?;
                        // The printed bound does not use that the first round is charged to the neighbors
                        // alone.
                        assert!(rounds > 194 || sharp <= published.value() * (1.0 + 1e-14));
                    } else {
                        assert!((alpha - 1.0) * local > 1.0);
                    }
                }
            }
        }
        Ok(())
    }

    /// For all graphs with five and six nodes and a given neighborhood of the observer: the log-mean-exp of
    /// the exact losses of a node that is not adjacent, over all connected graphs with the same number of
    /// edges, is below the bound.
    #[test]
    fn enumerated_graphs_obey_the_bound() -> Result<(), Error> {
        let (order, sensitivity, sigma) = parameters(3.0, 0.8)?;
        let local = local_loss(order, sensitivity, sigma).high();
        let excess = order.get() - 1.0;
        let mut attained: f64 = 0.0;
        // Node 0 observes; its neighborhood is {1}, {1, 2} or {1, 2, 3}; the last node is never adjacent.
        for (n, degree) in [(5, 1), (5, 2), (5, 3), (6, 1), (6, 2)] {
            let pairs: Vec<(usize, usize)> = (1..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
            for rounds in 1..=3 {
                // The observer may know the number of edges, so that there is one mean for each number.
                let mut sums = vec![(0.0, 0.0); pairs.len() + 1];
                for mask in 0..1u32 << pairs.len() {
                    let edges = (0..pairs.len()).filter(|k| mask >> k & 1 == 1).map(|k| pairs[k]);
                    let graph = Graph::from_edges(n, edges.chain((1..=degree).map(|w| (0, w))))?;
                    if !graph.is_connected() {
                        continue;
                    }
                    let matrix = GossipMatrix::metropolis(&graph);
                    let report = exact_loss((&matrix, rounds), &[0], ExactOptions::default())?;
                    let (sum, count) = &mut sums[mask.count_ones() as usize];
                    *sum += (excess * local * report.unit(n - 1)?.value().get()).exp();
                    *count += 1.0;
                }
                let setting = RandomGraph { nodes: n, observers: 1, degree, rounds };
                let bound = *setting.loss(order, sensitivity, sigma)?.value();
                for (sum, count) in sums.into_iter().filter(|&(_, count)| count > 0.0) {
                    let truth = f64::ln(sum / count) / excess;
                    assert!(
                        truth <= bound * (1.0 + 1e-12),
                        "{n} nodes, degree {degree}, rounds {rounds}: {truth} > {bound}"
                    );
                    if bound < local {
                        attained = attained.max(truth / bound);
                    }
                }
            }
        }
        // Within an eighth of the truth, where the bound is below the local loss.
        assert!(attained > 0.875, "the bound is far from sharp: {attained}");
        Ok(())
    }

    /// 101 nodes, 99 of them observers with one common neighbor, and 2 rounds: the value of the last node is
    /// revealed. The print has `n - d` in place of `n - |V| - d + 1`, and gives a twenty-fifth of the true
    /// loss.
    #[test]
    fn observers_are_left_out_of_the_crowd() -> Result<(), Error> {
        let (order, sensitivity, sigma) = parameters(2.0, 2.0)?;
        let setting = RandomGraph { nodes: 101, observers: 99, degree: 1, rounds: 2 };
        // Node 99 is adjacent to everybody. The observers know all parts of its second message except the
        // value of the last node.
        let graph = Graph::from_edges(101, (0..101).filter(|&v| v != 99).map(|v| (v, 99)))?;
        let members: Vec<usize> = (0..99).collect();
        let report = exact_loss((&GossipMatrix::metropolis(&graph), 2), &members, ExactOptions::default())?;
        let truth = local_loss(order, sensitivity, sigma).high() * report.unit(100)?.value().get();
        assert_relative_eq!(truth, 0.25, max_relative = 1e-12);
        // What the theorem prints for this case.
        assert!(truth > 24.0 * 0.01);
        for bound in [
            published_loss(setting, order, sensitivity, sigma)?,
            weakly_convex_loss(setting, order, sensitivity, sigma)?,
            setting.loss(order, sensitivity, sigma)?,
        ] {
            assert!(*bound.value() >= 0.25, "{bound:?}");
        }
        Ok(())
    }

    /// The same for two and three observers: all graphs of five and six nodes with the given neighborhoods of
    /// the observers, and the mean over the graphs with the same number of edges among the others.
    #[test]
    fn enumerated_graphs_obey_the_bounds_for_coalitions() -> Result<(), Error> {
        let (order, sensitivity, sigma) = parameters(2.0, 1.3)?;
        let local = local_loss(order, sensitivity, sigma).high();
        let excess = order.get() - 1.0;
        let mut compared = 0;
        for (n, observers, degree) in
            [(5, 2, 1), (5, 2, 2), (5, 3, 1), (6, 2, 1), (6, 2, 2), (6, 3, 1), (6, 3, 2)]
        {
            let members: Vec<usize> = (0..observers).collect();
            // Every observer is adjacent to all the outside neighbors, and to each other.
            let known = (0..observers)
                .flat_map(|v| (v + 1..observers + degree).map(move |w| (v, w)))
                .filter(|&(v, _)| v < observers);
            let known: Vec<(usize, usize)> = known.collect();
            let outside = || observers..n;
            let pairs: Vec<(usize, usize)> =
                outside().flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
            for rounds in 1..=4 {
                let mut sums = vec![(0.0, 0.0); pairs.len() + 1];
                for mask in 0..1u32 << pairs.len() {
                    let edges = (0..pairs.len()).filter(|k| mask >> k & 1 == 1).map(|k| pairs[k]);
                    let graph = Graph::from_edges(n, edges.chain(known.iter().copied()))?;
                    let matrix = GossipMatrix::metropolis(&graph);
                    let report = exact_loss((&matrix, rounds), &members, ExactOptions::default())?;
                    let (sum, count) = &mut sums[mask.count_ones() as usize];
                    *sum += (excess * local * report.unit(n - 1)?.value().get()).exp();
                    *count += 1.0;
                }
                let setting = RandomGraph { nodes: n, observers, degree, rounds };
                let sharp = *setting.loss(order, sensitivity, sigma)?.value();
                let published = *published_loss(setting, order, sensitivity, sigma)?.value();
                for (sum, count) in sums {
                    let truth = f64::ln(sum / count) / excess;
                    assert!(truth <= sharp * (1.0 + 1e-12), "{setting:?}: {truth} > {sharp}");
                    compared += 1;
                }
                assert!(sharp <= published * (1.0 + 1e-14), "{setting:?}");
            }
        }
        assert!(compared > 100, "{compared}");
        Ok(())
    }

    /// Small shares keep their digits for any local loss.
    #[test]
    fn small_shares_are_not_lost() {
        for x in [1e-9_f64, 0.5, 1.0, 2.0, 30.0, 690.0] {
            let m = 1e-19 * (-x / 2.0).exp();
            let product = m * x.exp_m1();
            let want = if product < 1e-9 { product - product * product / 2.0 } else { product.ln_1p() };
            assert_relative_eq!(
                log_mixture(Interval::new(m), Interval::new(x)).high(),
                want,
                max_relative = 1e-13
            );
        }
        let half = log_mixture(Interval::new(0.5), Interval::new(800.0)).high();
        assert_relative_eq!(half, 800.0 - 2f64.ln(), max_relative = 1e-15);
    }

    /// A loss too small for a float is rounded up to the smallest one: a node of which something is learned
    /// does not have loss 0. For small `c₀` the truth is `m c₀`, which is compared by logarithms here.
    #[test]
    fn tiny_losses_are_not_rounded_to_nothing() -> Result<(), Error> {
        let share = (54f64 / 193.0).ln();
        for (alpha, noise) in [(2.0, 1e172), (1.5, 1e160), (2.0, 1e300), (1.0 + 1e-15, 1e154), (1e10, 1e160)]
        {
            let (order, sensitivity, sigma) = parameters(alpha, noise)?;
            let bound = *SETTING.loss(order, sensitivity, sigma)?.value();
            let truth = share + f64::ln(alpha / 2.0) - 2.0 * noise.ln();
            assert!(bound > 0.0 && bound.ln() >= truth - 1e-12, "{alpha} {noise:e}: {bound:e}");
            // Down to the smallest normal float no digit is lost.
            assert!(bound <= 5e-324 || bound.ln() <= truth + 1e-9 || truth < -708.0, "{bound:e}");
        }
        // An observer who receives nothing after the first round learns nothing about other nodes than its
        // neighbors.
        let (order, sensitivity, sigma) = parameters(2.0, 1.0)?;
        assert_eq!(*RandomGraph { rounds: 1, ..SETTING }.loss(order, sensitivity, sigma)?.value(), 0.0);
        Ok(())
    }

    /// The mean over all graphs on five nodes.
    #[test]
    fn outside_neighbors_of_a_random_graph() -> Result<(), Error> {
        let (n, q) = (5usize, 0.3f64);
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        for observers in 1..=3usize {
            let mut mean = 0.0;
            for mask in 0..1u32 << pairs.len() {
                let edges: Vec<_> =
                    (0..pairs.len()).filter(|k| mask >> k & 1 == 1).map(|k| pairs[k]).collect();
                let probability =
                    q.powi(edges.len() as i32) * (1.0 - q).powi((pairs.len() - edges.len()) as i32);
                let adjacent = (observers..n).filter(|w| edges.iter().any(|(a, b)| *a < observers && b == w));
                mean += probability * adjacent.count() as f64;
            }
            let expected = expected_outside_neighbors(n, observers, q);
            assert_relative_eq!(mean, expected, max_relative = 1e-12);
        }
        // A coalition of 3 among 2000 nodes with q = 1.2 ln n/n has about 27 neighbors outside; the printed
        // number is 0.0137.
        let q = 1.2 * 2000f64.ln() / 2000.0;
        let expected = expected_outside_neighbors(2000, 3, q);
        // The form of Proposition 1 as printed: `|V| q`.
        let printed = 3.0 * q;
        assert!((expected - 27.2).abs() < 0.1 && (printed - 0.01368).abs() < 1e-5, "{expected} {printed}");
        Ok(())
    }

    #[test]
    fn bad_settings_are_refused() -> Result<(), Error> {
        let (order, sensitivity, sigma) = parameters(2.0, 2.0)?;
        let seen = "the number of observers and their neighbors";
        for (setting, refused) in [
            (RandomGraph { observers: 0, ..SETTING }, "the number of observers"),
            (RandomGraph { degree: 200, ..SETTING }, seen),
            (RandomGraph { observers: 195, ..SETTING }, seen),
            (RandomGraph { observers: usize::MAX, ..SETTING }, seen),
        ] {
            let found = setting.loss(order, sensitivity, sigma);
            assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused));
        }
        // No node is hidden, so that the loss is the local one.
        let all = RandomGraph { degree: 199, ..SETTING };
        let local = local_loss(order, sensitivity, sigma).high();
        for bound in [RandomGraph::loss, weakly_convex_loss, published_loss] {
            let bound = *bound(all, order, sensitivity, sigma)?.value();
            assert!(local <= bound && bound <= local * (1.0 + 1e-14), "{bound}");
        }
        Ok(())
    }

    /// The bound by weak convexity: `min(c₀, (1 + (α - 1) c₀) c₀ m)`, never below the sharp form. It needs
    /// `(α - 1) c₀ ≤ 1`.
    fn weakly_convex_loss(
        setting: RandomGraph,
        order: Order,
        sensitivity: Sensitivity,
        sigma: Sigma,
    ) -> Result<UpperBound<f64>, Error> {
        let share = mean_share(setting)?.high();
        let (local, c) = weak_convexity(order, sensitivity, sigma)?;
        Ok(UpperBound::new(up(local.min((1.0 + c) * local * share))))
    }

    /// Theorem 4 as a guarantee: `α Δ² T d_V / (σ² (n - |V| - d_V + 1))`, at most the local loss. Its
    /// condition on `σ`, which is that of weak convexity, is checked.
    ///
    /// For one observer it is the printed `α Δ² T d / (σ² (n - d))`. For several, Corollary 5 as printed
    /// keeps `n - d`, which is false: the `h = n - |V| - d_V` hidden nodes have the mean unit loss `d_V
    /// (T - 1) / h`. As `(T - 1) / h ≤ T / (h + 1)` for `T ≤ h + 1`, and the value is above the local loss
    /// for more rounds, it is never below the bound by weak convexity. If no node is hidden, it is the local
    /// loss.
    fn published_loss(
        setting: RandomGraph,
        order: Order,
        sensitivity: Sensitivity,
        sigma: Sigma,
    ) -> Result<UpperBound<f64>, Error> {
        let hidden = hidden_nodes(setting)?;
        let (local, _) = weak_convexity(order, sensitivity, sigma)?;
        if hidden == 0 {
            return Ok(UpperBound::new(up(local)));
        }
        let messages = setting.rounds as f64 * setting.degree as f64;
        Ok(UpperBound::new(up(local.min(2.0 * local * messages / (hidden as f64 + 1.0)))))
    }

    /// The local loss `c₀` and `(α - 1) c₀`, which weak convexity needs to be at most 1.
    fn weak_convexity(order: Order, sensitivity: Sensitivity, sigma: Sigma) -> Result<(f64, f64), Error> {
        let local = local_loss(order, sensitivity, sigma).high();
        let c = (order.get() - 1.0) * local;
        if c <= 1.0 {
            Ok((local, c))
        } else {
            let (name, condition) = ("(alpha - 1) times the local loss", "be at most 1 for weak convexity");
            Err(Error::InvalidParameter { name, condition, value: c })
        }
    }

    /// Where exponentials overflow the mixture is its largest term, also for an interval around the switch.
    #[test]
    fn mixtures_do_not_overflow() {
        for (low, high) in [(710.0, 710.0), (650.0, 750.0)] {
            let found = log_mixture(Interval::new(0.5), Interval::between(low, high));
            let exact = |x: f64| x - 2f64.ln();
            assert!(found.low() <= exact(low) && exact(high) <= found.high(), "{found:?}");
            assert!(found.high() <= exact(high) * (1.0 + 1e-15), "{found:?}");
        }
    }
}
