//! What the observers learn from one contribution of `u`, and from all of them if their number has a cap.
//!
//! Let `h_t` be the probability that the observers' first visit after the contribution is `t` steps later.
//! What they see then carries `t` noises, so that given `t` the contribution costs at most `c₀/t`, and
//! averaged over the path
//!
//! ```text
//! ε₁ = ln( 1 + Σ_{t ≤ R} h_t (e^{(α−1) c₀/t} − 1) ) / (α − 1)
//! ```
//!
//! where `R` is the number of steps that remain. First visits bound the loss of a *single* contribution only:
//! several contributions that are observed together cost more than the sum of their losses (see
//! `renewal.rs`).
//!
//! Under a hard cap of `N` contributions, each costs at most `1/gap`, where the gap runs to the next visit of
//! `u` or the observers. Gaps are independent, so that `ε ≤ N ε_gap`, where `ε_gap` is the formula above for
//! the first visit of the set of `u` and the observers.

use super::LocalLoss;
use super::series::up;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::UpperBound;
use ndp_graph::hitting::{FirstVisits, PairLaws};

/// Sharp bound `ε₁` on the loss of a single contribution that is made `steps` steps before the end of the
/// walk, if the final token is withheld.
///
/// `visits` are the [first visits](ndp_graph::hitting::Walk::first_visits) to the observers (one node, or a
/// coalition) from the contributing node `u`. The result is a Rényi loss in nats at the order of `local`,
/// when *one* contribution of `u` is replaced and all others stay the same, whatever the observers know of
/// the path. Further visits of `u` add noise, with or without data, which stay the same. The bound is at most
/// `c₀`. It is smaller than that of a walk with a [cap](super::WalkOptions::cap), which must allow for
/// several contributions, if `u` may be visited again before the observers.
///
/// # Errors
/// [`Error::InvalidParameter`] when `steps` is 0 or beyond the horizon of the laws.
///
/// # Complexity
/// `O(steps)`.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::{LocalLoss, contribution};
/// use ndp_dp::{NoiseMultiplier, Order};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::path_graph, hitting::{Start, Walk}};
/// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(4)?));
/// let visits = Walk::from(&w).first_visits(&Start::Node(0), &[3], 10)?;
/// let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(2.0)? };
/// let loss = contribution::sharp(&visits, local, 10)?;
/// assert!((loss.value() - 0.0171121).abs() < 1e-7); // of a local loss of 1/4
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # References
/// Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*, ICML 2024:
/// what its Theorem 3 says of one contribution, with the first visit in the place of all visits and without
/// its condition on the noise.
pub fn sharp(visits: &FirstVisits, local: LocalLoss, steps: usize) -> Result<UpperBound<f64>, Error> {
    require_steps(visits, steps)?;
    let excess = excess(visits, local.exponent(), steps);
    Ok(UpperBound::new(local.loss_of_log_excess(excess.ln()).min(local.cost_up())))
}

/// The loss `N ε_gap` of a walk of `steps` steps on which `u` contributes at most `cap` times and only adds
/// noise on its further visits; never above `N c₀`. If the final token is `published`, the observers may see
/// the last contribution at once, so that the loss is `c₀ + (N − 1) ε_gap`.
///
/// `visits` are the first visits from `u` to the set of `u` *and* the observers. Under a cap of 1 they may be
/// those to the observers alone, as further visits of `u` only add noise. Their law may be shorter than the
/// walk: the remaining probability is charged as a visit at the first time beyond the law. The result is a
/// Rényi loss in nats when all data of `u` are replaced, for every start of the walk and whatever the
/// observers know of its path, under the preconditions of [`TokenWalk::loss`](super::TokenWalk::loss).
///
/// # Errors
/// [`Error::InvalidParameter`] for a cap or a number of steps of 0.
pub(crate) fn capped(
    visits: &FirstVisits,
    local: LocalLoss,
    steps: usize,
    cap: usize,
    published: bool,
) -> Result<UpperBound<f64>, Error> {
    require_positive("the cap on contributions", cap)?;
    Ok(of_gaps(gap_loss(visits, local, steps)?, local, cap, published))
}

/// `N ε_gap`, or `c₀ + (N − 1) ε_gap` with publication, for `N ≥ 1`; rounded up.
pub(super) fn of_gaps(gap: f64, local: LocalLoss, cap: usize, published: bool) -> UpperBound<f64> {
    UpperBound::new(if published {
        up(local.cost() + cap.saturating_sub(1) as f64 * gap, 4)
    } else {
        up(cap as f64 * gap, 2)
    })
}

/// `ε_gap`, at most `c₀`.
fn gap_loss(visits: &FirstVisits, local: LocalLoss, steps: usize) -> Result<f64, Error> {
    require_positive("the number of steps", steps)?;
    let seen = steps.min(visits.none.len() - 1);
    let mut excess = excess(visits, local.exponent(), seen);
    if seen < steps {
        let beyond = (local.exponent() / (seen + 1) as f64).exp_m1();
        excess += up(visits.none[seen] * (1.0 + visits.relative_error[seen]) * beyond, 4);
    }
    Ok(local.loss_of_log_excess(up(excess, 1).ln()).min(local.cost_up()))
}

/// `ε_gap` of a pair, from laws that cover the whole walk.
pub(super) fn gap_loss_of_pair(laws: &PairLaws, local: LocalLoss) -> f64 {
    let gap = |t: usize| laws.u_to_u[t] + laws.u_to_v[t];
    let excess = sum_of_charges(gap, &laws.relative_error, local.exponent(), laws.horizon());
    local.loss_of_log_excess(excess.ln()).min(local.cost_up())
}

fn excess(visits: &FirstVisits, theta: f64, steps: usize) -> f64 {
    let law = |t: usize| visits.at.iter().map(|law| law[t]).sum();
    up(sum_of_charges(law, &visits.relative_error, theta, steps), visits.at.len())
}

/// `Σ_{1 ≤ t ≤ steps} h_t (e^{θ/t} − 1)`, rounded up.
fn sum_of_charges(law: impl Fn(usize) -> f64, relative_error: &[f64], theta: f64, steps: usize) -> f64 {
    let charged = |t: usize| match law(t) {
        p if p > 0.0 => p * (1.0 + relative_error[t]) * (theta / t as f64).exp_m1(),
        _ => 0.0,
    };
    up((1..=steps).map(charged).sum(), steps + 8)
}

#[doc(hidden)]
pub fn require_positive(name: &'static str, value: usize) -> Result<(), Error> {
    ensure(value > 0, name, "be at least 1", 0.0)
}

fn require_steps(visits: &FirstVisits, steps: usize) -> Result<(), Error> {
    require_positive("the number of steps", steps)?;
    let known = visits.none.len() - 1;
    ensure(steps <= known, "the number of steps", "be at most the horizon of the laws", steps as f64)
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{expectation, intervals, local, reference_rows, small_walks};
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::hitting::{Start, Walk};

    /// Section 4 of the specification, T = 10, α = 2, σ = 2: `Σ h_t/t`, the sharp bound and `S_10`.
    #[test]
    fn the_reference_table() {
        let expected = [
            (0.067_297_337_400_980_15, 0.017_112_148_737_488_74, 0.160_151_738_386_763_6),
            (0.453_611_689_726_611_2, 0.118_804_330_719_001_7, 0.718_753_190_449_578_2),
            (0.394_718_666_686_984_2, 0.102_274_653_919_198_5, 0.518_548_301_531_428_7),
            (0.394_718_666_686_984_2, 0.102_274_653_919_198_5, 0.585_793_650_793_650_8),
            (0.139_463_835_119_985_1, 0.035_373_538_786_529_69, 0.186_895_629_053_836_6),
        ];
        let local = local(2.0, 2.0);
        for ((_, w, u, v), (sum, sharp_loss, occupation_sum)) in reference_rows().into_iter().zip(expected) {
            let visits = Walk::from(&w).first_visits(&Start::Node(u), &[v], 10).unwrap();
            let sharp = *sharp(&visits, local, 10).unwrap().value();
            assert_relative_eq!(sharp, sharp_loss, max_relative = 1e-12);
            // By weak convexity the loss is at most (1 + c) c₀ Σ h_t/t with c = (α − 1) c₀; first visits are
            // no more likely than visits.
            let (convex, occupation) = (1.25 * 0.25 * sum, 0.5 * occupation_sum);
            assert!(sharp <= convex && convex <= occupation);
        }
    }

    /// Section 0.2 of the specification: the sum of first-visit means over all contributions is below the
    /// true mean on the star, where nothing is hidden from the hub (T = 30, α = 2, σ = 6, uniform start).
    #[test]
    fn first_passage_bounds_one_contribution_only() {
        let (_, w, u, v) = reference_rows().swap_remove(2);
        let (local, horizon) = (local(2.0, 6.0), 30);
        let visits = Walk::from(&w).first_visits(&Start::Node(u), &[v], horizon).unwrap();
        let law = &visits.at[0];
        let mean = |steps: usize| (1..=steps).map(|t| law[t] / t as f64).sum::<f64>();
        let added: f64 = (0..horizon).map(|s| local.cost() / 6.0 * mean(horizon - s)).sum();
        assert_relative_eq!(added, 0.053_116_992_219_579_1, max_relative = 1e-12);
        // A contribution counts if the hub comes after it. The loss is c₀ E N, where N is the number of such
        // contributions.
        let arrives = |steps: usize| law[1..=steps].iter().sum::<f64>();
        let mean_count: f64 = (0..horizon).map(|s| local.cost() / 6.0 * arrives(horizon - s)).sum();
        assert_relative_eq!(mean_count, 0.120_393_295_185_913, max_relative = 1e-12);
        assert!(added < 0.5 * mean_count);
    }

    /// The loss of one contribution, against its mean over all paths, for single observers and coalitions.
    #[test]
    fn the_sharp_bound_is_the_mean_over_paths() {
        let local = local(3.0, 1.5);
        for w in small_walks() {
            let n = w.node_count();
            let dense = w.to_dense().unwrap();
            for (u, observers) in [(0, vec![1]), (0, vec![n - 1]), (1, vec![0, 2])] {
                let visits = Walk::from(&w).first_visits(&Start::Node(u), &observers, 6).unwrap();
                for steps in [1, 6] {
                    let mean = expectation(&dense, &Start::Node(u).law(n).unwrap(), steps, &|path| {
                        let first = path.iter().skip(1).position(|x| observers.contains(x));
                        first.map_or(0.0, |t| (local.exponent() / (t + 1) as f64).exp_m1())
                    });
                    let loss = *sharp(&visits, local, steps).unwrap().value();
                    assert_relative_eq!(loss, mean.ln_1p() / 2.0, max_relative = 1e-12);
                }
            }
        }
    }

    /// `N ε_gap` is at least the expectation over all paths of the capped cost, for every start, cap and
    /// coalition; with publication as well.
    #[test]
    fn the_capped_bound_covers_all_paths() {
        let local = local(2.0, 0.9);
        let theta = local.exponent();
        for w in small_walks() {
            let n = w.node_count();
            let dense = w.to_dense().unwrap();
            let steps = 7;
            for (u, observers) in [(0, vec![1]), (n - 1, vec![0]), (1, vec![0, 2])] {
                let targets: Vec<usize> = [u].into_iter().chain(observers.iter().copied()).collect();
                let visits = Walk::from(&w).first_visits(&Start::Node(u), &targets, steps).unwrap();
                let short = Walk::from(&w).first_visits(&Start::Node(u), &targets, 2).unwrap();
                for cap in 1..=3 {
                    let bound = *capped(&visits, local, steps, cap, false).unwrap().value();
                    // A law that is cut short is charged more, not less.
                    assert!(
                        *capped(&short, local, steps, cap, false).unwrap().value() >= bound * (1.0 - 1e-12)
                    );
                    assert!(bound <= cap as f64 * local.cost() * (1.0 + 1e-12));
                    let published = *capped(&visits, local, steps, cap, true).unwrap().value();
                    assert!(bound <= published * (1.0 + 1e-12));
                    for start in 0..n {
                        let law = Start::Node(start).law(n).unwrap();
                        let taut = |path: &[usize], cap: usize| -> f64 {
                            let mut left = cap;
                            let kept: Vec<usize> = path
                                .iter()
                                .map(|&x| {
                                    let over = x == u && left == 0;
                                    left -= usize::from(x == u && !over);
                                    if over { n } else { x }
                                })
                                .collect();
                            intervals(&kept, u, &observers).iter().map(|i| *i.taut().value()).sum()
                        };
                        let mean = expectation(&dense, &law, steps, &|path| (theta * taut(path, cap)).exp());
                        assert!(mean.ln() <= bound * (1.0 + 1e-12), "{} > {bound}", mean.ln());
                        let mean = expectation(&dense, &law, steps, &|path| {
                            // Publication at the end of the walk is one more visit of the observers.
                            let mut path = path.to_vec();
                            path[steps] = observers[0];
                            (theta * taut(&path, cap)).exp()
                        });
                        assert!(mean.ln() <= published * (1.0 + 1e-12));
                    }
                }
            }
        }
    }

    #[test]
    fn bad_input_is_named() {
        let (_, w, u, v) = reference_rows().swap_remove(0);
        let visits = Walk::from(&w).first_visits(&Start::Node(u), &[v], 10).unwrap();
        let invalid =
            |result: Result<UpperBound<f64>, Error>| matches!(result, Err(Error::InvalidParameter { .. }));
        assert!(invalid(sharp(&visits, local(2.0, 2.0), 0)));
        assert!(invalid(sharp(&visits, local(2.0, 2.0), 11)));
        assert!(invalid(capped(&visits, local(2.0, 2.0), 10, 0, false)));
        assert!(invalid(capped(&visits, local(2.0, 2.0), 0, 1, false)));
        // Extreme noises give the local loss or 0, never NaN.
        let tiny = local(2.0, 1e-200);
        assert_eq!(*capped(&visits, tiny, 10, 3, false).unwrap().value(), f64::INFINITY);
        let huge = local(2.0, 1e200);
        assert!(*capped(&visits, huge, 10, 3, false).unwrap().value() < 1e-300);
    }
}
