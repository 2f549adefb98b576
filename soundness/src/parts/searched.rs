//! The printed functions as claims for the refuter: its search over all small graphs must refute each of
//! them, with a counterexample no larger than the known one.

use crate::part::{Outcome, Violation};
use ndp_algos::walk::graph::LocalLoss;
use ndp_dp::{NoiseMultiplier, Order};
use ndp_graph::{GossipMatrix, GossipSequence};
use ndp_numeric::rounding::Interval;
use ndp_printed::gossip::{Powers, corollary1_towards, corollary4_variance, theorem1_towards};
use ndp_printed::walk::{VisitSum, user_level};
use ndp_refute::{Case, Claim, Error, Finding, Outcome as Found, refute};

/// The printed function of a finding, at order 2; of gossip at noise 1, where the local loss is 1.
struct PrintedBound {
    finding: &'static Finding,
}

impl Claim for PrintedBound {
    fn bound(&self, case: &Case<'_>) -> Result<Interval, Error> {
        let value = match self.finding.number {
            34 => of_walk(case),
            _ => of_gossip(self.finding.number, case),
        };
        let none = Error::Parameter { what: "the printed bound", condition: "exist", value: f64::NAN };
        // The printed value is computed in floats; 1e-9 is more than their rounding error after so few
        // rounds.
        let value = value.ok_or(none)?;
        Ok(Interval::between(value * (1.0 - 1e-9), value * (1.0 + 1e-9)))
    }

    fn text(&self) -> &str {
        self.finding.claim
    }
}

fn of_gossip(number: usize, case: &Case<'_>) -> Option<f64> {
    let matrix = GossipMatrix::metropolis(case.setting.graph());
    let towards = case.observers;
    let printed = match number {
        4 => corollary1_towards(&matrix, towards, case.rounds),
        8 => {
            let degree = matrix.graph().degree(towards[0]);
            return Some(corollary4_variance(degree, Order::new(2.0).ok()?, 1.0).ok()?.into_value());
        }
        11 => {
            let steps = case.setting.activations();
            let sequence = GossipSequence::given_activations(matrix.graph(), steps).ok()?;
            theorem1_towards(&sequence, towards, Powers::Transposed)
        }
        _ => theorem1_towards((&matrix, case.rounds), towards, Powers::FromZero),
    };
    Some(printed.ok()?.value().unit[case.u])
}

/// The star has its hub at node 0; a step from a leaf reaches the hub with probability `1/(n − 1)`.
fn of_walk(case: &Case<'_>) -> Option<f64> {
    let n = case.setting.graph().node_count();
    let mut stays = vec![0.0; n];
    stays[case.u] = 1.0;
    let mut sum = 0.0;
    for t in 1..=case.rounds {
        stays = super::claims::on_star(&stays);
        sum += stays[case.observers[0]] / t as f64;
    }
    let local = LocalLoss { order: Order::new(2.0).ok()?, noise: NoiseMultiplier::new(case.sigma).ok()? };
    Some(user_level(VisitSum::Powers(sum), n, case.rounds, local).ok()?.into_value())
}

/// Searches for a counterexample to the printed function of finding `number`. It is a violation if the search
/// finds none, or only one that is larger than the known one.
pub(super) fn refuted(outcome: &mut Outcome, name: &'static str, number: usize) {
    let Some(finding) = Finding::numbered(number) else { return };
    let report = finding.search().and_then(|search| refute(&PrintedBound { finding }, &search));
    let found = match &report {
        Ok(report) => match &report.outcome {
            Found::Refuted(found) => Some(found),
            _ => None,
        },
        Err(_) => None,
    };
    let size = found.map(|found| (found.nodes, found.rounds, found.edges.len()));
    let violation = |kind, (n, rounds, edges): (usize, usize, usize), what, test| {
        let size = [n as u64, rounds as u64, edges as u64];
        Violation { kind, size, what, test }
    };
    outcome.check(size.is_some_and(|size| size <= finding.known), || {
        let what = format!("known {:?}, found {size:?}: {report:?}", finding.known);
        violation("the refuter does not refute", finding.known, what, String::new())
    });
    if let (Some(found), Some(size)) = (found, size) {
        outcome.claim(false, || {
            let what = format!("printed {:e}, true {}", found.claimed, found.true_loss);
            violation(name, size, what, found.rust_test())
        });
    }
}
