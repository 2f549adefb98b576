//! A node whose only neighbor is the observer: nothing is hidden, and the loss is known exactly.
//!
//! Let `v` be the only neighbor of `u`, as the hub is of every leaf of a star. Whenever the token comes back
//! from `u`, the observer knows when it sent the token there. It sees `k` contributions with `k` noises,
//! which cost `k²/k = k` local losses. Over the walk
//!
//! ```text
//! ε = ln E exp(θ N) / (α − 1),     N = number of contributions of u that a visit of v follows,
//! ```
//!
//! This needs that the token can come to `u` only from the observer, and go from `u` only to it: on a
//! directed cycle, for example, the token brings along noise that the observer does not know. The loss shows
//! no amplification at all, and refutes the claim that contributions composed along the walk cost `(T/n) ·
//! 2c₀ Σ_t (W^t)_{uv}/t` (see `ndp_printed::walk`).

use super::{LocalLoss, origins};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Exact;
use ndp_graph::hitting::{Start, Walk};
use ndp_numeric::stop::work;

/// The loss from `u` to its only neighbor over `steps` steps, in nats at the order of `local`.
///
/// Grade: exact for contributions that do not depend on the token and an observer who knows the start node or
/// the first sender (if the walk starts at the observer, nothing is hidden anyway); an upper bound for every
/// other observer.
///
/// # Errors
/// [`Error::InvalidParameter`] unless exactly one node other than `u` is next to it (as a node that the token
/// may go to from `u`, or come from), for no step, or if the loss overflows; [`Error::Graph`] for nodes or a
/// start outside the graph; [`Error::Stopped`] if the computation is [stopped](Walk::until).
pub fn loss(
    walk: &Walk,
    u: usize,
    start: &Start,
    steps: usize,
    local: LocalLoss,
) -> Result<Exact<f64>, Error> {
    let n = walk.incoming().node_count();
    let mut from_u = vec![0.0; n];
    walk.incoming().multiply(&Start::Node(u).law(n)?, &mut from_u);
    let mut adjacent: Vec<bool> = from_u.iter().map(|&p| p > 0.0).collect();
    origins(walk, u).for_each(|x| adjacent[x] = true);
    adjacent[u] = false;
    let neighbors: Vec<usize> = (0..n).filter(|&x| adjacent[x]).collect();
    let [v] = neighbors[..] else {
        return Err(Error::InvalidParameter {
            name: "the number of neighbors of the exposed node, in both directions,",
            condition: "be 1",
            value: neighbors.len() as f64,
        });
    };
    ensure(steps != 0, "the number of steps", "be at least 1", 0.0)?;
    let (stay, leave) = (from_u[u], from_u[v]);
    let theta = local.exponent();
    // All terms are proportional to a tiny θ, which would underflow on the way.
    let lift = if theta < 1e-200 { 100.0 * std::f64::consts::LN_10 } else { 0.0 };
    let (charge, surcharge) = (theta.exp(), theta.exp_m1() * lift.exp());
    // All values are excesses over the law of the walk: the mass at every node times what has been charged,
    // minus the mass. At u there are two copies: in one the pending contribution is charged, in the other it
    // is not.
    let mut law = start.law(n)?;
    let mut excess = vec![0.0; n];
    let mut pending = 0.0;
    let mut next = vec![0.0; n];
    let mut log_scale = 0.0;
    for _ in 0..steps {
        walk.stop().spend(work([2, walk.incoming().parts().1.len() + n]))?;
        let scale = f64::exp(-log_scale);
        let charged = pending * charge + law[u] * surcharge * scale;
        let free = std::mem::take(&mut excess[u]);
        walk.incoming().multiply(&excess, &mut next);
        std::mem::swap(&mut excess, &mut next);
        pending = stay * charged + excess[u];
        excess[u] += stay * free;
        excess[v] += leave * charged;
        walk.incoming().multiply(&law, &mut next);
        std::mem::swap(&mut law, &mut next);
        let largest = excess.iter().copied().fold(pending, f64::max);
        if largest > 1e100 {
            excess.iter_mut().chain([&mut pending]).for_each(|x| *x *= 1e-100);
            log_scale += 100.0 * std::f64::consts::LN_10;
        }
    }
    let log_excess = excess.iter().sum::<f64>().ln() + log_scale - lift;
    ensure(
        !log_excess.is_nan() && log_excess != f64::INFINITY,
        "the noise multiplier sigma",
        "be so large that one contribution does not cost everything",
        local.noise.get(),
    )?;
    Ok(Exact::new(local.loss_of_log_excess(log_excess)))
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{expectation, odometer};
    use super::super::renewal;
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;
    use ndp_dp::{NoiseMultiplier, Order};
    use ndp_graph::Weights;
    use ndp_graph::generators::{cycle_graph, path_graph, star_graph};
    use ndp_graph::{GossipMatrix, TransitionMatrix};

    fn local(sigma: f64) -> LocalLoss {
        LocalLoss { order: Order::new(2.0).unwrap(), noise: NoiseMultiplier::new(sigma).unwrap() }
    }

    /// Section 0 of the specification: star, leaf to hub, σ = 10, from a uniform start and from the hub. The
    /// numbers for the hub were recomputed with 40 digits; the last one of the specification, .421265718768,
    /// is off by 2e-10.
    #[test]
    fn the_reference_stars() -> Result<(), Error> {
        let rows = [
            (20, 200, 0.107_827_965_847_054, 0.107_253_431_087_391_3),
            (50, 500, 0.154_258_155_528_190, 0.153_891_980_692_281_5),
            (100, 1000, 0.421_985_738_535_327, 0.421_265_718_967_116_2),
        ];
        for (n, steps, uniform, hub) in rows {
            let w = GossipMatrix::new(&star_graph(n - 1)?, Weights::MaxDegree)?;
            let walk = Walk::from(&w);
            let found = *loss(&walk, 1, &Start::Uniform, steps, local(10.0))?.value();
            assert_relative_eq!(found, uniform, max_relative = 1e-12);
            let found = *loss(&walk, 1, &Start::Node(0), steps, local(10.0))?.value();
            assert_relative_eq!(found, hub, max_relative = 1e-12);
        }
        let w = GossipMatrix::new(&star_graph(5)?, Weights::MaxDegree)?;
        let found = *loss(&Walk::from(&w), 1, &Start::Uniform, 30, local(6.0))?.value();
        assert_relative_eq!(found, 0.131_344_494_444_695, max_relative = 1e-12);
        // If θ is tiny, the loss is proportional to it, and never 0.
        let at =
            |sigma: f64| loss(&Walk::from(&w), 1, &Start::Uniform, 30, local(sigma)).map(Exact::into_value);
        assert_relative_eq!(at(1e120)?, at(1e90)? * 1e-60, max_relative = 1e-12);
        for sigma in [1e153, 1e160, 1e300] {
            let least = (f64::ln(at(1e90)?) + 2.0 * (f64::ln(1e90) - f64::ln(sigma))).exp() * (1.0 - 1e-10);
            assert!(at(sigma)? > 0.0 && at(sigma)? >= least, "{sigma:e}");
        }
        Ok(())
    }

    /// Equals the mean over all paths of the exact cost of each, and the renewal accountant at depth 1.
    #[test]
    fn it_is_the_mean_over_all_paths_and_the_first_depth() -> Result<(), Error> {
        let graphs = [(star_graph(3)?, 2, 0), (path_graph(4)?, 0, 1), (path_graph(3)?, 2, 1)];
        for (graph, u, v) in graphs {
            for w in [GossipMatrix::metropolis(&graph), GossipMatrix::new(&graph, Weights::MaxDegree)?] {
                let (walk, n) = (Walk::from(&w), graph.node_count());
                for start in [Start::Uniform, Start::Node(u), Start::Node(v)] {
                    for sigma in [0.5, 3.0] {
                        let theta = local(sigma).exponent();
                        let mean = expectation(&w.to_dense()?, &start.law(n)?, 7, &|path| {
                            // Until the observer first holds the token, contributions are charged one by one.
                            let odometer = odometer(path, u, &[v]);
                            let visits = path.iter().rposition(|&x| x == v);
                            let count = visits.map_or(0, |t| path[..t].iter().filter(|&&x| x == u).count());
                            assert_relative_eq!(
                                *odometer.constant_gradient_cost().value(),
                                count as f64,
                                max_relative = 1e-12
                            );
                            (theta * count as f64).exp_m1()
                        });
                        let found = *loss(&walk, u, &start, 7, local(sigma))?.value();
                        assert_relative_eq!(found, mean.ln_1p(), max_relative = 1e-12);
                        let laws = walk.pair_laws(u, v, &start, 7)?;
                        let depth_1 = *renewal::loss_by_depth(&laws, local(sigma), &[1])?[0].1.value();
                        assert!(found <= depth_1 && depth_1 <= found * (1.0 + 1e-12));
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn large_losses_do_not_overflow() -> Result<(), Error> {
        let w = GossipMatrix::new(&star_graph(4)?, Weights::MaxDegree)?;
        let walk = Walk::from(&w);
        let laws = walk.pair_laws(1, 0, &Start::Node(0), 500)?;
        let found = *loss(&walk, 1, &Start::Node(0), 500, local(0.3))?.value();
        let depth_1 = *renewal::loss_by_depth(&laws, local(0.3), &[1])?[0].1.value();
        assert!(found > 1000.0);
        assert_relative_eq!(found, depth_1, max_relative = 1e-9);
        let loud = loss(&walk, 1, &Start::Node(0), 500, local(1e-3));
        assert!(matches!(loud, Err(Error::InvalidParameter { name: "the noise multiplier sigma", .. })));
        Ok(())
    }

    /// On a directed cycle every node has one successor, and another node before it, whose noise the
    /// successor does not know. On a walk of two steps from that node, on three nodes, the observer sees the
    /// contribution with two noises, which halves its cost.
    #[test]
    fn a_directed_cycle_hides_something() -> Result<(), Error> {
        let w =
            TransitionMatrix::from_dense(array![[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]].view())?;
        let (walk, start) = (Walk::from(&w), Start::Node(2));
        // The only path is 2, 0, 1: node 1 sees the contribution of node 0 with the noises of nodes 2 and 0.
        let seen = odometer(&[2, 0, 1], 0, &[1]);
        assert_eq!(*seen.constant_gradient_cost().value(), 0.5);
        let found = loss(&walk, 0, &start, 2, local(1.0));
        assert!(matches!(found, Err(Error::InvalidParameter { value: 2.0, .. })), "{found:?}");
        // The weights of a walk may differ in the two directions, as long as both are positive.
        let w =
            TransitionMatrix::from_dense(array![[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]].view())?;
        for (u, v) in [(0, 1), (2, 1)] {
            let walk = Walk::from(&w);
            let theta = local(0.9).exponent();
            let mean = expectation(&w.to_dense()?, &start.law(3)?, 7, &|path| {
                (theta * *odometer(path, u, &[v]).constant_gradient_cost().value()).exp_m1()
            });
            // From node 2 the token goes to the observer at once, or stays: nothing is hidden before the
            // observer's first visit.
            let found = *loss(&walk, u, &start, 7, local(0.9))?.value();
            assert_relative_eq!(found, mean.ln_1p(), max_relative = 1e-12);
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let w = GossipMatrix::metropolis(&cycle_graph(5)?);
        let walk = Walk::from(&w);
        let invalid = |result| matches!(result, Err(Error::InvalidParameter { .. }));
        assert!(invalid(loss(&walk, 0, &Start::Uniform, 5, local(1.0))));
        assert!(matches!(loss(&walk, 5, &Start::Uniform, 5, local(1.0)), Err(Error::Graph(_))));
        let w = GossipMatrix::metropolis(&path_graph(3)?);
        assert!(invalid(loss(&Walk::from(&w), 0, &Start::Uniform, 0, local(1.0))));
        assert!(matches!(loss(&Walk::from(&w), 0, &Start::Node(3), 5, local(1.0)), Err(Error::Graph(_))));
        // A single node has no neighbor.
        let w = GossipMatrix::metropolis(&path_graph(1)?);
        assert!(invalid(loss(&Walk::from(&w), 0, &Start::Uniform, 5, local(1.0))));
        Ok(())
    }
}
