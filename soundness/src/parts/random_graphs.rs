//! Gossip on a random graph that the observers do not know, with exact losses over all graphs that are
//! possible on few nodes.

use super::losses::Case;
use crate::draw::numbers::pick;
use crate::oracle::gossip;
use crate::oracle::linear::Loss;
use crate::part::{Outcome, Part, Stratum};
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_dp::{Order, Sensitivity, Sigma};
use ndp_graph::Graph;
use ndp_printed::gossip::theorem4;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct RandomGraphs;

const COROLLARY_5: &str = "Muffliato, Corollary 5";
/// Error allowed for the truth, which is a mean of exponentials of quotients.
const ERROR: f64 = 1e-12;

impl Part for RandomGraphs {
    fn name(&self) -> &'static str {
        "random-graphs"
    }

    fn what(&self) -> &'static str {
        "bounds on hidden random graphs; all graphs with a given neighborhood, rationals"
    }

    fn refutes(&self) -> &'static [&'static str] {
        &[COROLLARY_5]
    }

    /// The number of edges outside the observers is public; given it, all such graphs are equally likely.
    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        // Half of the cases have many observers and one hidden node.
        let crowded = number % 2 == 1;
        let observers = if crowded { rng.random_range(1..=12_usize) } else { rng.random_range(1..=3) };
        let degree = rng.random_range(1..=3_usize);
        let hidden = if crowded || degree == 3 { 1 } else { rng.random_range(1..=2_usize) };
        let n = observers + degree + hidden;
        let rounds = rng.random_range(0..=4);
        let alpha = pick(rng, &[1.000_1, 1.5, 2.0, 5.0]);
        let sigma = pick(rng, &[0.3, 1.0, 2.0, 10.0]);
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let scales = (Order::new(alpha), Sensitivity::new(1.0), Sigma::new(sigma));
        let (Ok(order), Ok(sensitivity), Ok(sigma)) = scales else { return outcome };

        // Every observer is adjacent to at least one outside neighbor, and every outside neighbor to an
        // observer.
        let mut known: Vec<(usize, usize)> = (0..degree).map(|k| (k % observers, observers + k)).collect();
        for v in 0..observers {
            for w in v + 1..observers + degree {
                if rng.random::<bool>() && !known.contains(&(v, w)) {
                    known.push((v, w));
                }
            }
        }
        let pairs: Vec<(usize, usize)> =
            (observers..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        let edges = rng.random_range(0..=pairs.len());
        let members: Vec<usize> = (0..observers).collect();
        let (mut sum, mut count) = (0.0, 0.0);
        let excess = alpha - 1.0;
        let local = alpha / 2.0 * (sensitivity.get() / sigma.get()).powi(2);
        for mask in (0..1u32 << pairs.len()).filter(|mask| mask.count_ones() as usize == edges) {
            let drawn = (0..pairs.len()).filter(|k| mask >> k & 1 == 1).map(|k| pairs[k]);
            let Ok(graph) = Graph::from_edges(n, drawn.chain(known.iter().copied())) else { return outcome };
            let view = gossip::fixed(&gossip::Matrix::metropolis(&graph), rounds, &members, true);
            let Loss::Finite(unit) = &view.truth().losses[n - 1] else { return outcome };
            sum += (excess * local * unit.to_f64()).exp_m1();
            count += 1.0;
        }
        if f64::is_infinite(sum) {
            return outcome;
        }
        let truth = f64::ln_1p(sum / count) / excess;
        let setting = RandomGraph { nodes: n, observers, degree, rounds };
        let code = format!(
            "use ndp_printed::gossip::theorem4;\nuse ndp_algos::gossip::random_graph::*;\n\
             let setting = RandomGraph {{ nodes: {n}, observers: {observers}, degree: {degree}, rounds: {rounds} }};\n\
             let order = ndp_dp::Order::new({alpha:?})?;\nlet sensitivity = ndp_dp::Sensitivity::new(1.0)?;\n\
             let sigma = ndp_dp::Sigma::new({:?})?;",
            sigma.get()
        );
        let case = Case { size: [n as u64, rounds as u64, pairs.len() as u64], code: &code };
        let what = |found: f64, of: &str| {
            format!("{of}: {found:e}, true {truth:e} with {known:?} and {edges} of {pairs:?}")
        };
        if let Ok(found) = setting.loss(order, sensitivity, sigma) {
            let found = found.into_value();
            outcome.check(truth <= found * (1.0 + ERROR), || {
                let assertion = format!(
                    "assert!(*setting.loss(order, sensitivity, sigma)?.value() >= {:?});",
                    truth * (1.0 - ERROR)
                );
                case.violation("upper bound below the truth", what(found, "loss"), &assertion)
            });
        }
        if observers > 1
            && excess * local <= 1.0
            && let Ok(found) = theorem4(setting, order, sensitivity, sigma)
        {
            let found = found.into_value();
            outcome.claim(truth <= found * (1.0 + 1e-9), || {
                let assertion =
                    format!("assert!(*theorem4(setting, order, sensitivity, sigma)?.value() < {truth:?});");
                case.violation(COROLLARY_5, what(found, "theorem4"), &assertion)
            });
        }
        outcome
    }

    fn short(&self) -> u64 {
        2000
    }
}
