//! The network of a page, in which the observer is chosen by a click.

use super::Found;
use crate::commands::losses::Entry;
use ndp_account::Account;
use ndp_dp::Measure;
use ndp_report::layout;
use ndp_report::viewer::{MOST_NODES, Scale, Seen, Viewer};

/// Upper ends of the unit losses, per observer and node. `None` if some pair has no unit loss, because then
/// its loss at another noise cannot be derived from the one computed.
pub(super) fn units(
    accounts: &[Box<dyn Account + '_>],
    entries: &[Entry],
    nodes: usize,
) -> Option<Vec<Vec<Option<f64>>>> {
    if nodes > MOST_NODES {
        return None;
    }
    let mut units = vec![vec![None; nodes]; accounts.len()];
    for entry in entries {
        let (_, high) = accounts[entry.observer].unit(entry.u).ok()??;
        units[entry.observer][entry.u] = Some(high);
    }
    Some(units)
}

impl Found<'_> {
    /// The network with all known losses, observers with the largest losses first; `None` if the graph is too
    /// large for a page.
    pub(super) fn viewer(&self) -> Option<Viewer> {
        let (study, graph) = (self.study, &self.study.graph);
        if graph.node_count() > MOST_NODES || self.observers.is_empty() {
            return None;
        }
        let values = self.matrix();
        let mut seen: Vec<Seen> = (0..self.observers.len())
            .map(|k| Seen {
                name: self.of_observer[k].clone(),
                members: self.observers[k].members().to_vec(),
                losses: values
                    .column(k)
                    .iter()
                    .map(|&loss| Some(loss).filter(|loss| !loss.is_nan()))
                    .collect(),
                units: self.units.as_ref().map(|units| units[k].clone()),
            })
            .collect();
        let most = |one: &Seen| one.losses.iter().flatten().copied().fold(0.0, f64::max);
        seen.sort_by(|a, b| most(b).total_cmp(&most(a)));
        let scale = match study.measure {
            Measure::Renyi(order) => Scale::Renyi(order.get()),
            Measure::Gaussian => Scale::Mu,
            Measure::Approx(delta) => Scale::Epsilon(delta),
        };
        Some(Viewer {
            names: self.names.clone(),
            positions: layout::positions(graph),
            edges: graph.edges().collect(),
            observers: seen,
            measure: study.measure.to_string(),
            sigma: study.asked.noise,
            sensitivity: study.asked.unit.sensitivity,
            scale: Some(scale),
        })
    }
}
