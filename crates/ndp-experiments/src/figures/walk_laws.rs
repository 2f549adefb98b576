//! Walks at a given `ε` and `δ`: as printed, by Rényi losses, and by the law of the path's cost.
//!
//! All curves are about one observer and one exposed node. The printed loss is a Rényi loss that is
//! proportional to its order. The others hold for an observer who may know the path. An observer who does not
//! know the path may learn less; only an attack could show how much. The law of the cost is drawn for sums
//! and running averages, whose contributions do not depend on the token. What is proven for gradients, which
//! do, is a curve of its own. The bound by Rényi losses holds for both.

use anyhow::Result;
use ndp_account::{Account, Error, Observer, Protocol, Target, accounts, least_noise};
use ndp_algos::sgd::walk::{Route, WalkSgd};
use ndp_algos::sgd::{
    Constants, DataBounds, Domain, Linear, LinearLoss, Objective, PrivateTraining, Training,
};
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::TokenWalk;
use ndp_dp::{
    Delta, Grade, Measure, Mechanism, NoiseMultiplier, Order, Profile, Rdp, Sensitivity, Sigma, UpperBound,
    calibration, conversion,
};
use ndp_graph::hitting::Start;
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, Graph, TransitionMatrix};
use ndp_report::figure::{Axis, Panel, Series};
use rayon::prelude::*;

/// Names of the curves.
pub(super) const PRINTED: &str = "printed";
pub(super) const RENYI: &str = "by Rényi losses, path known";
pub(super) const LAW: &str = "sums, by the law of the cost, path known";
pub(super) const GRADIENTS: &str = "gradients, path known";

/// The text that accompanies these curves in every figure.
pub(super) const READING: &str = "Epsilon: each point is one observer, the first node at its distance. The printed Rényi loss is proportional to its order and is converted at the best one, whatever the theorem's condition on \
     the order says. The bound by Rényi losses holds for sums and for gradients of convex losses with short steps of one size. The law of the path's cost of sums holds for contributions that do not depend on the token, \
     as those of sums and running averages, and is no bound for gradients, which do; what is proven for gradients is the smaller of their own law and the bound by Rényi losses. \
     The law of sums is drawn with its proven lower end; for an observer who knows the path the truth lies between the two, for one who does not the upper one is \
     an upper bound, and how far below it the truth lies is open.";

/// The `ε` that follows from a printed Rényi loss of order 2.
pub(super) fn printed_epsilon(loss_of_order_two: f64, delta: Delta) -> f64 {
    if loss_of_order_two <= 0.0 {
        return 0.0;
    }
    let curve = |order: Order| UpperBound::new(0.5 * order.get() * loss_of_order_two);
    conversion::best_epsilon(curve, delta).into_value().approx_dp.epsilon()
}

/// The least `ε` over a few dozen orders.
fn renyi_epsilon(loss: impl Fn(Order) -> Result<f64, Error>, delta: Delta) -> Result<f64, Error> {
    let mut best = (f64::INFINITY, 0.0);
    for (step, count) in [(0.5, 10), (0.1, 4)] {
        let center = best.1;
        for k in -count..=count {
            let ln_excess = center + step * f64::from(k);
            let order = Order::new(1.0 + f64::exp(ln_excess))?;
            let epsilon = Rdp { order, epsilon: loss(order)? }.epsilon(delta).into_value();
            if epsilon < best.0 {
                best = (epsilon, ln_excess);
            }
        }
    }
    Ok(best.0)
}

/// What one observer learns about one node.
pub(super) struct Seen {
    distance: f64,
    renyi: f64,
    lower: f64,
    upper: f64,
    gradients: f64,
}

/// The proved curves of a walk of so many steps, which starts anywhere, towards each of `observers`, who are
/// given with their distance.
pub(super) fn seen(
    matrix: &GossipMatrix,
    steps: usize,
    node: usize,
    observers: &[(u32, usize)],
    noise: NoiseMultiplier,
    delta: Delta,
) -> Result<Vec<Seen>> {
    let matrix = TransitionMatrix::from(matrix);
    let walk = TokenWalk::new(&matrix, Start::Uniform, steps)?;
    let training = training(matrix, steps)?;
    let one = |&(distance, v): &(u32, usize)| -> Result<Seen> {
        let account = walk.account(&Observer::node(v))?;
        let profile = account.profile(node, noise)?;
        let renyi = renyi_epsilon(|order| Ok(profile.renyi(order)?.into_value().epsilon), delta)?;
        let found = walk.cost_law(node, &[v])?.epsilon(noise, delta)?;
        let gradients = training.account(&Observer::node(v))?.profile(node, noise)?.epsilon(delta)?;
        Ok(Seen {
            distance: f64::from(distance),
            renyi,
            lower: found.lower(),
            upper: found.upper(),
            gradients: gradients.value().epsilon().min(renyi),
        })
    };
    observers.par_iter().map(one).collect()
}

/// The constants of logistic regression.
pub(super) fn constants() -> Constants {
    let bounds = DataBounds::default();
    Linear::from(LinearLoss::Logistic).constants(bounds.feature_norm, bounds.label_size, Domain::Unbounded)
}

/// Training by a walk without a cap, whose last model is withheld.
fn training(matrix: TransitionMatrix, steps: usize) -> Result<PrivateTraining> {
    let constants = constants();
    let nodes = matrix.node_count();
    let run = WalkSgd::new(Route::from(matrix), steps, 1.0 / constants.smoothness, None);
    let walked = Training::Walk { run, final_model: FinalToken::Withheld, horizon: Training::HORIZON };
    Ok(PrivateTraining::new(nodes, constants, walked)?)
}

/// The curves of those observers: means over the observers at a distance, with the least and the largest
/// value; for the law, the least value is that of its lower end.
pub(super) fn curves(seen: &[Seen]) -> [Series; 3] {
    let renyi = Series::new(RENYI, Grade::UpperBound).by_class(seen.iter().map(|s| (s.distance, s.renyi)));
    let mut law = Series::new(LAW, Grade::UpperBound).by_class(seen.iter().map(|s| (s.distance, s.upper)));
    for point in &mut law.points {
        let class = seen.iter().filter(|s| s.distance == point.x);
        point.low = Some(class.map(|s| s.lower).fold(point.low.unwrap_or(point.y), f64::min));
    }
    let gradients = seen.iter().map(|s| (s.distance, s.gradients));
    [renyi, law, Series::new(GRADIENTS, Grade::UpperBound).by_class(gradients)]
}

/// A panel of `ε` by distance.
pub(super) fn panel(title: String, delta: f64) -> Panel {
    Panel::curves(title, Axis::linear("distance"), Axis::log(format!("epsilon at delta {delta:e}")))
}

/// The first node at each distance from `node`, for at most the given number of distances, spread as evenly
/// as possible.
pub(super) fn observers(graph: &Graph, node: usize, most: usize) -> Vec<(u32, usize)> {
    let distances = graph.distances(node);
    let farthest = distances.iter().flatten().max().copied().unwrap_or(0) as usize;
    let mut chosen: Vec<usize> =
        (0..most.min(farthest)).map(|k| 1 + k * (farthest - 1) / (most.min(farthest) - 1).max(1)).collect();
    chosen.dedup();
    chosen
        .into_iter()
        .filter_map(|d| {
            let distance = u32::try_from(d).ok()?;
            Some((distance, distances.iter().position(|&other| other == Some(distance))?))
        })
        .collect()
}

/// Some pairs `(u, v)` of users of a training, where `v` observes `u`.
pub(super) struct PairAccounts<'a> {
    pairs: &'a [(usize, usize)],
    sensitivity: Sensitivity,
    /// One account for each pair: an account keeps what it has computed about a user.
    accounts: Vec<Box<dyn Account + 'a>>,
}

impl<'a> PairAccounts<'a> {
    pub(super) fn new(training: &'a PrivateTraining, pairs: &'a [(usize, usize)]) -> Result<Self> {
        let observers: Vec<Observer> = pairs.iter().map(|&(_, v)| Observer::node(v)).collect();
        let sensitivity = Sensitivity::new(training.constants().sensitivity)?;
        Ok(Self { pairs, sensitivity, accounts: accounts(training, &observers, &Silent)? })
    }

    /// The least noise at which every pair keeps `(ε, δ)`.
    pub(super) fn noise_for(&self, epsilon: f64, delta: Delta) -> Result<Sigma> {
        let target = Target::listed(Measure::Approx(delta), self.pairs.iter().map(|&pair| (pair, epsilon)));
        Ok(least_noise(&self.accounts, &target)?.noise.sigma(self.sensitivity)?)
    }

    /// The least noise at which the mean Rényi loss over the pairs is at most `loss`.
    pub(super) fn noise_for_mean(&self, loss: f64, order: Order) -> Result<Sigma> {
        let mean = |sigma: Sigma| {
            let of_pair = |profile: Profile| Ok(profile.renyi(order)?.into_value().epsilon);
            let losses = self
                .of_pairs(sigma, of_pair)
                .map_err(|error| ndp_dp::Error::Accountant(error.to_string()))?;
            Ok(UpperBound::new(losses.iter().sum::<f64>() / losses.len() as f64 * (1.0 + 1e-12)))
        };
        Ok(calibration::smallest_sigma(loss, mean)?.parameter)
    }

    /// The largest `ε` over the pairs.
    pub(super) fn epsilon(&self, sigma: Sigma, delta: Delta) -> Result<f64> {
        let of_pair = |profile: Profile| Ok(profile.epsilon(delta)?.value().epsilon());
        Ok(self.of_pairs(sigma, of_pair)?.into_iter().fold(0.0, f64::max))
    }

    /// The same, by Rényi losses only.
    pub(super) fn epsilon_by_renyi(&self, sigma: Sigma, delta: Delta) -> Result<f64> {
        Ok(self.epsilons_by_renyi(sigma, delta)?.into_iter().fold(0.0, f64::max))
    }

    /// The least noise at `(ε, δ)` for all pairs: first by Rényi losses only, then by everything that is
    /// known, including the laws.
    pub(super) fn noises(&self, epsilon: f64, delta: Delta) -> Result<[Sigma; 2]> {
        let by_law = self.noise_for(epsilon, delta)?;
        let (mut low, mut high) = (0.5 * by_law.get(), by_law.get());
        let meets =
            |sigma: f64| -> Result<bool> { Ok(self.epsilon_by_renyi(Sigma::new(sigma)?, delta)? <= epsilon) };
        // The law requires no more noise, so the search goes up from there.
        while !meets(high)? {
            (low, high) = (high, 1.5 * high);
        }
        while high > low * 1.001 {
            let middle = (low * high).sqrt();
            if meets(middle)? { high = middle } else { low = middle }
        }
        Ok([Sigma::new(high)?, by_law])
    }

    fn epsilons_by_renyi(&self, sigma: Sigma, delta: Delta) -> Result<Vec<f64>> {
        self.of_pairs(sigma, |profile| {
            renyi_epsilon(|order| Ok(profile.renyi(order)?.into_value().epsilon), delta)
        })
    }

    fn of_pairs(
        &self,
        sigma: Sigma,
        of_pair: impl Fn(Profile) -> Result<f64, Error> + Sync,
    ) -> Result<Vec<f64>> {
        let noise = NoiseMultiplier::new(sigma.get() / self.sensitivity.get())?;
        let one = |at: usize| of_pair(self.accounts[at].profile(self.pairs[at].0, noise)?);
        Ok((0..self.pairs.len()).into_par_iter().map(one).collect::<Result<_, Error>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_algos::walk::graph::LocalLoss;
    use ndp_graph::generators;

    /// The law of cube 3, from 0 to 7, in rationals: its epsilon, and the epsilon by its best Rényi order;
    /// also checks which curve is lower.
    #[test]
    fn the_cube_has_its_known_losses() -> Result<()> {
        let matrix = GossipMatrix::metropolis(&generators::hypercube_graph(3)?);
        let (noise, delta) = (NoiseMultiplier::new(2.0)?, Delta::new(1e-5)?);
        let found = seen(&matrix, 12, 0, &[(3, 7)], noise, delta)?;
        assert!(found[0].lower <= 2.385_783_375 && 2.385_783_374 <= found[0].upper);
        assert!(found[0].upper < 2.39, "{}", found[0].upper);
        // The accountant's bounds are not below the best Rényi bound of the true law.
        assert!(found[0].renyi > 3.148 && found[0].renyi < 3.7, "{}", found[0].renyi);
        // A gradient may depend on the token, and then no less is learned.
        assert!(found[0].upper <= found[0].gradients && found[0].gradients < 1.5 * found[0].upper);
        let [renyi, law, _] = curves(&found);
        assert!(law.points[0].y < renyi.points[0].y && law.points[0].low.is_some_and(|low| low < 2.3858));
        Ok(())
    }

    /// A loss proportional to the order is that of a normal release, up to what is lost in the Rényi
    /// conversion.
    #[test]
    fn printed_losses_are_converted_at_the_best_order() -> Result<()> {
        let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(2.0)? };
        let epsilon = printed_epsilon(local.cost(), Delta::new(1e-5)?);
        let exact = *ndp_dp::Gdp::new(0.5)?.epsilon(Delta::new(1e-5)?).value();
        assert!(exact < epsilon && epsilon < 1.1 * exact, "{exact} {epsilon}");
        assert_eq!(printed_epsilon(-0.1, Delta::new(1e-5)?), 0.0);
        Ok(())
    }

    #[test]
    fn observers_are_spread_over_the_distances() -> Result<()> {
        let grid = generators::grid_2d_graph(8, 8)?;
        let chosen: Vec<u32> = observers(&grid, 0, 5).into_iter().map(|o| o.0).collect();
        assert_eq!(chosen, [1, 4, 7, 10, 14]);
        assert_eq!(observers(&generators::complete_graph(5)?, 0, 5), [(1, 1)]);
        Ok(())
    }
}
