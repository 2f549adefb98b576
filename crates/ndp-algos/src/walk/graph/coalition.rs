//! The loss towards observers who pool what they see, for any start, also if the result is published.
//!
//! A coalition `F` knows the noises and the observations of all its members, so that an interval runs between
//! consecutive visits of `F`. At depth 1 every contribution of `u` costs `1/gap`, where the gap runs to the
//! next visit of `u` or `F`. With `g_xy(t) = P_x(first visit of {u} ∪ F at t, at y)` the values
//!
//! ```text
//! E_u(j) = E_u exp(θ cost of the next j steps),     E_w(j) likewise from a member w
//! ```
//!
//! obey a forward recursion, for every transition matrix and start law. As in [`renewal`](super::renewal),
//! the recursion is computed for `E − 1`, which keeps small losses accurate.

use super::contribution;
use super::local::{LocalLoss, MAX_EXPONENT};
use super::series::up;
use crate::walk::{FinalToken, NO_MASK_ON_A_GRAPH};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::UpperBound;
use ndp_graph::hitting::{FirstVisits, Start, Walk};
use ndp_graph::kernel::dot;
use ndp_numeric::stop::{Stop, work};

/// The first visits of a walk to an exposed node and a coalition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CoalitionLaws {
    /// First visits from `u` (entry 0) and from every member; the targets are `u` and every member, in the
    /// same order.
    from: Vec<FirstVisits>,
    /// First visits from the start, for starts other than `u` and the members.
    outside: FirstVisits,
    /// The probability that the walk starts at `u` (entry 0), then that it starts at each member.
    inside: Vec<f64>,
}

impl CoalitionLaws {
    /// The laws for the loss from `u` to `coalition` over `horizon` steps.
    ///
    /// # Errors
    /// [`Error::SourceIsObserver`] when `u` is a member; [`Error::Graph`] for nodes or a start outside
    /// the graph, an empty coalition or a member given twice, and a horizon of 0 or too large.
    ///
    /// # Complexity
    /// `O((|F| + 2) · horizon · nonzeros)`.
    pub(crate) fn new(
        walk: &Walk,
        u: usize,
        coalition: &[usize],
        start: &Start,
        horizon: usize,
    ) -> Result<Self, Error> {
        if coalition.contains(&u) {
            return Err(Error::SourceIsObserver(u));
        }
        ensure(!coalition.is_empty(), "the number of observers", "be at least 1", 0.0)?;
        let targets: Vec<usize> = [u].into_iter().chain(coalition.iter().copied()).collect();
        let mut law = start.law(walk.incoming().node_count())?;
        let from = targets
            .iter()
            .map(|&node| walk.first_visits(&Start::Node(node), &targets, horizon))
            .collect::<Result<_, _>>()?;
        let inside = targets.iter().map(|&node| std::mem::take(&mut law[node])).collect();
        let outside = walk.first_visits_of_mass(&law, &targets, horizon)?;
        Ok(Self { from, outside, inside })
    }

    /// Number of steps `T`.
    pub(crate) fn horizon(&self) -> usize {
        self.outside.none.len() - 1
    }

    /// The first visits from `u` to the set of `u` and the coalition.
    pub(crate) fn gaps(&self) -> &FirstVisits {
        &self.from[0]
    }
}

/// The loss from `u` to the coalition over the walk, at depth 1.
///
/// Rényi loss in nats at the order of `local`, with the meaning and the preconditions of
/// [`TokenWalk::loss`](super::TokenWalk::loss), except that with [`FinalToken::Published`] the token after
/// the last step is handed to the coalition wherever the walk ends.
///
/// # Errors
/// [`Error::NoGuarantee`] for [`FinalToken::Masked`], for which there is no rule.
///
/// # Complexity
/// `O(|F|² T²)`.
pub(crate) fn loss(
    laws: &CoalitionLaws,
    local: LocalLoss,
    final_token: FinalToken,
    stop: &Stop,
) -> Result<UpperBound<f64>, Error> {
    let published = final_token.unmasked(NO_MASK_ON_A_GRAPH)?;
    let at_every_step = up(laws.horizon() as f64 * local.cost(), 1);
    if local.exponent() > MAX_EXPONENT {
        return Ok(UpperBound::new(at_every_step));
    }
    let log_excess = Recursion::new(laws, local.exponent(), published).log_excess(stop)?;
    Ok(UpperBound::new(local.loss_of_log_excess(log_excess).min(at_every_step)))
}

/// As [`loss`], when `u` contributes at most `cap` times and only adds noise afterwards. It is the smallest
/// of the recursion, which charges every visit, of `N ε_gap` and of `N c₀`.
///
/// # Errors
/// As [`loss`]; [`Error::InvalidParameter`] for a cap of 0.
pub(crate) fn capped_loss(
    laws: &CoalitionLaws,
    local: LocalLoss,
    final_token: FinalToken,
    cap: usize,
    stop: &Stop,
) -> Result<UpperBound<f64>, Error> {
    let uncapped = *loss(laws, local, final_token, stop)?.value();
    let (gaps, steps) = (laws.gaps(), laws.horizon());
    let published = final_token.is_shown();
    let capped = contribution::capped(gaps, local, steps, cap, published)?;
    Ok(capped.map(|capped| capped.min(uncapped).min(up(cap as f64 * local.cost(), 1))))
}

/// The recursion over the number of remaining steps. All values carry a common factor `e^{-log_scale}`, so
/// that they do not overflow.
struct Recursion<'a> {
    laws: &'a CoalitionLaws,
    theta: f64,
    published: bool,
    /// `kernels[x][y]`: the law of the first visit at `y` from `x`, times the charge if `x` is `u`, reversed
    /// in time.
    kernels: Vec<Vec<Vec<f64>>>,
    log_scale: f64,
}

impl<'a> Recursion<'a> {
    fn new(laws: &'a CoalitionLaws, theta: f64, published: bool) -> Self {
        let kernels = laws
            .from
            .iter()
            .enumerate()
            .map(|(x, visits)| {
                let reversed = |law: &Vec<f64>| {
                    let charged = law.iter().enumerate().map(|(t, &p)| {
                        let charge = if x == 0 && t > 0 { (theta / t as f64).exp() } else { 1.0 };
                        p * charge * (1.0 + visits.relative_error[t]) * (1.0 + (theta + 4.0) * f64::EPSILON)
                    });
                    let mut charged: Vec<f64> = charged.collect();
                    charged.reverse();
                    charged
                };
                visits.at.iter().map(reversed).collect()
            })
            .collect();
        Self { laws, theta, published, kernels, log_scale: 0.0 }
    }

    /// For each `j`, what is added to `E_u(j) − 1` by the charge of a contribution at the start of these `j`
    /// steps, if an observer comes within them.
    fn sources(&self) -> Vec<f64> {
        let visits = &self.laws.from[0];
        let horizon = self.laws.horizon();
        let surcharge = |t: usize| if t == 0 { 0.0 } else { (self.theta / t as f64).exp_m1() };
        let raised = |p: f64, t: usize| p * (1.0 + visits.relative_error[t]);
        // The probability that the coalition comes within j steps, from u.
        let mut seen: Vec<f64> = vec![0.0];
        let mut arrivals = 0.0;
        let mut sources = vec![0.0];
        let mut charged_arrivals = 0.0;
        let reversed: Vec<f64> = visits.at[0].iter().enumerate().map(|(t, &p)| raised(p, t)).rev().collect();
        let surcharged: Vec<f64> =
            visits.at[0].iter().enumerate().map(|(t, &p)| raised(p, t) * surcharge(t)).rev().collect();
        let members = |t: usize| visits.at[1..].iter().map(|law| raised(law[t], t)).sum::<f64>();
        for j in 1..=horizon {
            arrivals = up(arrivals + members(j), 1);
            charged_arrivals = up(charged_arrivals + members(j) * surcharge(j), 3);
            let again = |kernel: &[f64], seen: &[f64]| dot(&kernel[horizon - j..horizon], seen);
            let source = if self.published {
                // Every contribution is seen: the charge is that of the gap to the next visit or to the end.
                let returns = surcharged[horizon - j];
                charged_arrivals = up(charged_arrivals + returns, 1);
                charged_arrivals + raised(visits.none[j], j) * surcharge(j)
            } else {
                again(&surcharged, &seen) + charged_arrivals
            };
            sources.push(up(source, j + 8));
            seen.push(up(again(&reversed, &seen) + arrivals, j + 4).min(1.0));
        }
        sources
    }

    /// `ln(E exp(θ cost) − 1)` over the whole walk.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn log_excess(mut self, stop: &Stop) -> Result<f64, Error> {
        let horizon = self.laws.horizon();
        let nodes = self.kernels.len();
        stop.spend(work([horizon, horizon]))?;
        let sources = self.sources();
        // excess[x][j] = (E_x(j) − 1) e^{-log_scale}.
        let mut excess = vec![vec![0.0; horizon + 1]; nodes];
        for j in 1..=horizon {
            stop.spend(work([nodes, nodes, j]))?;
            let scale = (-self.log_scale).exp() * (1.0 + 1e-12);
            let mut largest: f64 = 0.0;
            for x in 0..nodes {
                let source = if x == 0 { sources[j] * scale } else { 0.0 };
                let later: f64 =
                    (0..nodes).map(|y| dot(&self.kernels[x][y][horizon - j..horizon], &excess[y][..j])).sum();
                excess[x][j] = up(source + later, j + nodes + 4);
                largest = largest.max(excess[x][j]);
            }
            if largest > 1e100 {
                excess.iter_mut().flatten().for_each(|value| *value *= 1e-100);
                self.log_scale += 100.0 * std::f64::consts::LN_10;
            }
        }
        let laws = self.laws;
        let mut total: f64 = laws.inside.iter().zip(&excess).map(|(p, x)| p * x[horizon]).sum();
        for (law, excess) in laws.outside.at.iter().zip(&excess) {
            total += (1..=horizon)
                .map(|t| law[t] * (1.0 + laws.outside.relative_error[t]) * excess[horizon - t])
                .sum::<f64>();
        }
        let margin = (64.0 + 4.0 * self.log_scale) * f64::EPSILON;
        Ok(up(total, nodes * (horizon + 4)).ln() + self.log_scale + margin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{expectation, intervals, local, small_walks};
    use super::super::renewal;
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::GossipMatrix;
    use ndp_graph::generators::{cycle_graph, grid_2d_graph};

    /// For one observer or two, any start and any matrix, with and without publication.
    #[test]
    fn the_recursion_is_the_sum_over_all_paths() {
        let local = local(2.0, 1.1);
        let theta = local.exponent();
        for w in small_walks() {
            let n = w.node_count();
            let dense = w.to_dense().unwrap();
            let steps = 6;
            let uneven = if n == 3 { vec![0.5, 0.2, 0.3] } else { vec![0.1, 0.0, 0.6, 0.3] };
            for (u, coalition) in [(0, vec![1]), (n - 1, vec![0]), (1, vec![0, 2]), (0, (1..n).collect())] {
                for start in [Start::Node(u), Start::Node(n - 1), Start::Uniform, Start::Law(uneven.clone())]
                {
                    let law = start.law(n).unwrap();
                    let laws = CoalitionLaws::new(&Walk::from(&w), u, &coalition, &start, steps).unwrap();
                    for token in [FinalToken::Withheld, FinalToken::Published] {
                        let cost = |path: &[usize]| -> f64 {
                            let mut path = path.to_vec();
                            if token == FinalToken::Published {
                                path[steps] = coalition[0];
                            }
                            intervals(&path, u, &coalition).iter().map(|i| *i.gaps().value()).sum()
                        };
                        let mean = expectation(&dense, &law, steps, &|path| (theta * cost(path)).exp_m1());
                        let found = *loss(&laws, local, token, &Stop::never()).unwrap().value();
                        assert_relative_eq!(found, mean.ln_1p(), max_relative = 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn one_observer_costs_what_the_renewal_accountant_says_at_depth_1() {
        for w in [
            GossipMatrix::metropolis(&grid_2d_graph(5, 4).unwrap()),
            GossipMatrix::metropolis(&cycle_graph(9).unwrap()),
        ] {
            let walk = Walk::from(&w);
            for start in [Start::Uniform, Start::Node(0), Start::Node(5), Start::Node(2)] {
                for (sigma, horizon) in [(0.2, 260), (0.6, 260), (2.0, 260), (50.0, 260), (1.0, 7)] {
                    let laws = CoalitionLaws::new(&walk, 2, &[5], &start, horizon).unwrap();
                    let pair = walk.pair_laws(2, 5, &start, horizon).unwrap();
                    let forward = *loss(&laws, local(2.0, sigma), FinalToken::Withheld, &Stop::never())
                        .unwrap()
                        .value();
                    let [(_, renewal)] = renewal::loss_by_depth(&pair, local(2.0, sigma), &[1]).unwrap()[..]
                    else {
                        panic!()
                    };
                    assert_relative_eq!(forward, *renewal.value(), max_relative = 1e-9);
                }
            }
        }
    }

    #[test]
    fn more_observers_and_publication_never_learn_less() {
        let w = GossipMatrix::metropolis(&grid_2d_graph(4, 4).unwrap());
        let walk = Walk::from(&w);
        let mut last = 0.0;
        for coalition in [vec![15], vec![15, 3], vec![15, 3, 6], (0..16).filter(|&x| x != 5).collect()] {
            let laws = CoalitionLaws::new(&walk, 5, &coalition, &Start::Uniform, 60).unwrap();
            let withheld =
                *loss(&laws, local(2.0, 2.0), FinalToken::Withheld, &Stop::never()).unwrap().value();
            let published =
                *loss(&laws, local(2.0, 2.0), FinalToken::Published, &Stop::never()).unwrap().value();
            assert!(last < withheld && withheld < published);
            let capped = *capped_loss(&laws, local(2.0, 2.0), FinalToken::Withheld, 2, &Stop::never())
                .unwrap()
                .value();
            assert!(capped <= withheld && capped <= 2.0 * local(2.0, 2.0).cost() * (1.0 + 1e-12));
            last = withheld;
        }
    }

    #[test]
    fn bad_input_is_named() {
        let w = GossipMatrix::metropolis(&cycle_graph(5).unwrap());
        let walk = Walk::from(&w);
        let new =
            |u, coalition: &[usize], start, horizon| CoalitionLaws::new(&walk, u, coalition, &start, horizon);
        assert_eq!(new(1, &[0, 1], Start::Uniform, 5), Err(Error::SourceIsObserver(1)));
        assert!(matches!(new(1, &[], Start::Uniform, 5), Err(Error::InvalidParameter { .. })));
        assert!(matches!(new(1, &[2, 2], Start::Uniform, 5), Err(Error::Graph(_))));
        assert!(matches!(new(1, &[5], Start::Uniform, 5), Err(Error::Graph(_))));
        assert!(matches!(new(1, &[2], Start::Node(9), 5), Err(Error::Graph(_))));
        assert!(matches!(new(1, &[2], Start::Uniform, 0), Err(Error::Graph(_))));
        let laws = new(1, &[2], Start::Uniform, 5).unwrap();
        let masked = loss(&laws, local(2.0, 1.0), FinalToken::Masked, &Stop::never());
        let no_rule = "there is no rule for masking the final token on a graph";
        assert_eq!(masked, Err(Error::NoGuarantee(no_rule)));
        let none = capped_loss(&laws, local(2.0, 1.0), FinalToken::Withheld, 0, &Stop::never());
        assert!(matches!(none, Err(Error::InvalidParameter { name: "the cap on contributions", .. })));
        assert_eq!(
            *loss(&laws, local(2.0, 1e-200), FinalToken::Withheld, &Stop::never()).unwrap().value(),
            f64::INFINITY
        );
    }
}
