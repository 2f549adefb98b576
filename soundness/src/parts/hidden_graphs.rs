//! Gossip on a random graph that the observers do not know, and losses averaged over cases.

use super::losses::Case;
use crate::draw::graphs;
use crate::draw::numbers::{literal, pick};
use crate::oracle::gossip;
use crate::oracle::linear::Loss;
use crate::oracle::rational::Quotient;
use crate::oracle::series;
use crate::part::{Outcome, Part, Stratum};
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_dp::mixture;
use ndp_dp::{Order, Sensitivity, Sigma};
use ndp_graph::Graph;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct HiddenGraphs;

impl Part for HiddenGraphs {
    fn name(&self) -> &'static str {
        "hidden-graphs"
    }

    fn what(&self) -> &'static str {
        "hidden graphs whose hidden nodes are alike, and cases with probabilities; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        if number.is_multiple_of(2) { hidden(number, rng) } else { drawn_cases(rng) }
    }

    fn short(&self) -> u64 {
        5000
    }
}

/// The hidden nodes are all alike, so that the possible graphs differ only in which hidden node is at which
/// place. The observers then know the graph, and the loss is that of gossip on a known graph.
fn hidden(number: u64, rng: &mut ChaCha8Rng) -> Outcome {
    let small = number % 8 < 6;
    let observers = rng.random_range(1..=if small { 4 } else { 12 });
    let degree = rng.random_range(1..=3);
    let hidden = rng.random_range(1..=if small { 3 } else { 8 });
    let n = observers + degree + hidden;
    let mut edges = Vec::new();
    for w in observers..observers + degree {
        let heard_by = rng.random_range(0..observers);
        edges.extend((0..observers).filter(|&v| v == heard_by || rng.random::<f64>() < 0.6).map(|v| (v, w)));
        // The neighbor is joined to all hidden nodes, or to none.
        if w == observers || rng.random::<f64>() < 0.5 {
            edges.extend((observers + degree..n).map(|u| (w, u)));
        }
    }
    for range in [0..observers, observers..observers + degree] {
        for u in range.clone() {
            edges.extend((u + 1..range.end).filter(|_| rng.random::<f64>() < 0.5).map(|v| (u, v)));
        }
    }
    let together = rng.random::<f64>() < 0.5;
    edges.extend((observers + degree..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).filter(|_| together));
    let rounds = rng.random_range(0..=n + 1);
    let (alpha, sigma) = (pick(rng, &[1.5, 2.0, 1.0625, 4.0, 10.0]), pick(rng, &[1.0, 2.0, 4.0, 8.0, 0.5]));
    let mut outcome = Outcome::new(Stratum::new(n, rounds));
    let (Ok(graph), Ok(order), Ok(sensitivity), Ok(deviation)) =
        (Graph::from_edges(n, edges), Order::new(alpha), Sensitivity::new(1.0), Sigma::new(sigma))
    else {
        return outcome;
    };
    let members: Vec<usize> = (0..observers).collect();
    let truth = gossip::fixed(&gossip::Matrix::metropolis(&graph), rounds, &members, true).truth();
    let Loss::Finite(unit) = &truth.losses[n - 1] else { return outcome };
    let local = Quotient::from_f64(alpha).by(&Quotient::from_f64(2.0 * sigma * sigma));
    let exact = local.times(unit);
    let setting = RandomGraph { nodes: n, observers, degree, rounds };
    let code = format!(
        "use ndp_algos::gossip::random_graph::*;\nuse ndp_dp::{{Order, Sensitivity, Sigma}};\n\
         // The law: metropolis weights on {}, hidden nodes in any order.\n\
         let setting = {setting:?};\n\
         let (order, sensitivity, sigma) = (Order::new({alpha:?})?, Sensitivity::new(1.0)?, Sigma::new({sigma:?})?);",
        graphs::code(&graph)
    );
    let case = Case { size: [n as u64, rounds as u64, graph.edge_count() as u64], code: &code };
    if let Ok(loss) = setting.loss(order, sensitivity, deviation) {
        let loss = *loss.value();
        outcome.check(exact.compare(loss) != Ordering::Greater, || {
            let near = exact.to_f64();
            let kind = if loss < near * (1.0 - 1e-9) {
                "loss of a hidden graph below the truth"
            } else {
                "hidden graph: below the truth by rounding"
            };
            let assertion =
                format!("assert!(*setting.loss(order, sensitivity, sigma)?.value() >= {:?});", exact.below());
            case.violation(kind, format!("{loss:e}, true {near:e}"), &assertion)
        });
    }
    outcome
}

/// `ln(Σ p e^{(α-1) ε}) / (α-1)`, compared as `e^{(α-1) reported} >= Σ p e^{(α-1) ε}` in high precision.
fn drawn_cases(rng: &mut ChaCha8Rng) -> Outcome {
    let count = rng.random_range(1..=4);
    let mut left = 1.0;
    let mut cases: Vec<(f64, f64)> = (0..count)
        .map(|_| {
            let share = pick(rng, &[0.3, 0.5, 0.1, 0.7, 1e-9, 0.9]);
            let p = f64::min(share, left);
            left -= p;
            (p, pick(rng, &[0.0, 1.0, 0.5, 2.0, 1e-12, 30.0, 0.1, 1e-200]))
        })
        .collect();
    let alpha = match rng.random_range(0..3) {
        0 => pick(rng, &[1.0_f64.next_up(), 1.0 + 1e-12, 1.0 + 1e-9, 1.0 + 1e-6]),
        1 => pick(rng, &[1.5, 2.0, 8.0, 16.0]),
        _ => 1.0 + 10.0_f64.powf(-14.0 * rng.random::<f64>()),
    };
    let column = if alpha < 1.001 { "order near 1" } else { "order above 1.001" };
    let mut outcome = Outcome::new(Stratum::named("drawn cases", column));
    let Ok(order) = Order::new(alpha) else { return outcome };
    // The probability that no case takes belongs to a case without loss.
    let total: f64 = cases.iter().map(|(p, _)| p).sum();
    cases.push(((1.0 - total).max(0.0), 0.0));
    let parts: Vec<mixture::Part> =
        cases.iter().map(|&(weight, loss)| mixture::Part { weight, loss }).collect();
    let Ok(loss) = mixture::log_mean_exp(order, &parts) else { return outcome };
    let loss = *loss.value();
    let excess = Quotient::from_f64(alpha).minus(&Quotient::from_f64(1.0));
    let power = |x: f64| series::exp(&excess.times(&Quotient::from_f64(x)));
    // Weights are divided by their sum.
    let weight = cases.iter().fold(Quotient::zero(), |sum, &(p, _)| sum.plus(&Quotient::from_f64(p)));
    let mean = cases
        .iter()
        .fold(Quotient::zero(), |sum, &(p, x)| sum.plus(&Quotient::from_f64(p).times(&power(x)[0])));
    let [_, reported] = power(loss);
    outcome.check(reported.times(&weight).cmp(&mean) != Ordering::Less, || {
        let average: f64 = cases.iter().map(|(p, x)| p * x).sum();
        let code = format!("let order = ndp_dp::Order::new({})?;", literal(alpha));
        let case = Case { size: [cases.len() as u64, code.len() as u64, 0], code: &code };
        let kind = if loss < average * (1.0 - 1e-9) {
            "drawn cases below their mean"
        } else {
            "drawn cases below the truth by rounding"
        };
        let what = format!("{cases:?} at order {alpha:?}: {loss:e}, the mean alone is {average:e}");
        let assertion = format!(
            "use ndp_dp::mixture::{{self, Part}};\n\
             let parts = {cases:?}.map(|(weight, loss)| Part {{ weight, loss }});\n\
             let loss = mixture::log_mean_exp(order, &parts)?;\n\
             // The mean {average:?} is a lower bound, by convexity.\nassert!(*loss.value() > {loss:?});"
        );
        case.violation(kind, what, &assertion)
    });
    outcome
}
