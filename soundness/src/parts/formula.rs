//! Checks that three programs agree: the printed functions of `ndp-printed`, and the formulas and exact
//! losses of `ndp-refute`, which does not use the printed functions.

use super::losses::Case as Drawn;
use crate::oracle::rational::Quotient;
use crate::part::Outcome;
use ndp_graph::Graph;
use ndp_refute::{Case, Claim as _, Expression, Finding, Protocol, Setting, WeightRule, exact_unit_loss};
use num_bigint::BigInt;
use std::cmp::Ordering;

/// A setting of the refuter with its observers, at order 2 and noise 1, where the local loss is 1.
pub(super) struct Stated {
    setting: Setting,
    rounds: usize,
    observers: Vec<usize>,
}

impl Stated {
    /// Gossip with Metropolis weights; `None` if the refuter does not accept the setting.
    pub(super) fn gossip(graph: &Graph, rounds: usize, observers: &[usize]) -> Option<Self> {
        let setting = Setting::new(graph, WeightRule::Metropolis, Protocol::Muffliato, rounds).ok()?;
        Some(Self { setting, rounds, observers: sorted(observers) })
    }

    /// Gossip along one given edge in each round.
    pub(super) fn pairs(graph: &Graph, pairs: &[(usize, usize)], observers: &[usize]) -> Option<Self> {
        let setting = Setting::pairs(graph, pairs).ok()?;
        Some(Self { setting, rounds: pairs.len(), observers: sorted(observers) })
    }

    /// A token on a graph with weights `1 / max(deg a, deg b)`.
    pub(super) fn walk(graph: &Graph, steps: usize, observers: &[usize]) -> Option<Self> {
        let setting = Setting::new(graph, WeightRule::MaxDegree, Protocol::Walk, steps).ok()?;
        Some(Self { setting, rounds: steps, observers: sorted(observers) })
    }

    /// Checks that the printed value about node `u` is the value of the formula of finding `number`, up to
    /// rounding.
    pub(super) fn formula(
        &self,
        outcome: &mut Outcome,
        drawn: &Drawn<'_>,
        number: usize,
        u: usize,
        printed: f64,
    ) {
        let value = Finding::numbered(number).and_then(|finding| {
            let claim = Expression::parse(finding.claim).ok()?;
            let (setting, observers) = (&self.setting, &self.observers[..]);
            let case = Case { setting, rounds: self.rounds, u, observers, alpha: 2.0, sigma: 1.0 };
            claim.bound(&case).ok()
        });
        let near = |x: f64, y: f64| x == y || (x - y).abs() <= 1e-9 * y.abs().max(1e-300);
        let holds = value.is_some_and(|value| {
            let wide = near(value.low(), value.high());
            wide && (near(value.low(), printed) || (value.low() <= printed && printed <= value.high()))
        });
        outcome.check(holds, || {
            let what = format!("about node {u}: printed {printed:e}, formula {number}: {value:?}");
            drawn.violation("printed and formula differ", what, "")
        });
    }

    /// Checks that the refuter's exact loss is the truth.
    pub(super) fn truth(&self, outcome: &mut Outcome, drawn: &Drawn<'_>, u: usize, exact: &Quotient) {
        let text = exact_unit_loss(&self.setting, self.rounds, u, &self.observers);
        let (above, below) = text.split_once('/').unwrap_or((&text, "1"));
        let whole = |part: &str| part.parse::<BigInt>().ok();
        let found = whole(above).zip(whole(below)).map(|(above, below)| Quotient::new(above, below));
        let holds = found.is_some_and(|found| found.cmp(exact) == Ordering::Equal);
        outcome.check(holds, || {
            let what = format!("about node {u}: true {:e}, refuter {text}", exact.to_f64());
            drawn.violation("the refuter's truth differs", what, "")
        });
    }
}

fn sorted(observers: &[usize]) -> Vec<usize> {
    let mut observers = observers.to_vec();
    observers.sort_unstable();
    observers
}
