//! A small network on the page, for which the reader chooses the observer and the noise.

use ndp_account::{Error, Observer, Protocol};
use ndp_algos::gossip::SynchronousGossip;
use ndp_dp::{Delta, Measure, NoiseMultiplier};
use ndp_graph::{GossipMatrix, generators};
use ndp_report::layout;
use ndp_report::viewer::{Scale, Seen, Viewer};

const ROUNDS: usize = 8;
const NOISE: f64 = 4.0;
const DELTA: f64 = 1e-5;

/// The section of the page; `None` if it cannot be computed.
pub(super) fn section() -> Option<String> {
    let html = viewer().ok()?.section()?;
    Some(format!(
        "<h2 id=\"walk\">Walk through a network</h2>\n<p>Thirty-four members of a karate club (Zachary 1977) average a number each: \
         every one adds Gaussian noise once, then all mix with their friends in {ROUNDS} rounds. How much does each learn \
         about the others? All numbers are upper ends of exact values, for an observer who does not share what it sees.</p>\n{html}"
    ))
}

fn viewer() -> Result<Viewer, Error> {
    let graph = generators::karate_club_graph()?;
    let n = graph.node_count();
    let (noise, delta) = (NoiseMultiplier::new(NOISE)?, Delta::new(DELTA)?);
    let measure = Measure::Approx(delta);
    let protocol = SynchronousGossip::new(GossipMatrix::metropolis(&graph), ROUNDS);
    let mut observers = Vec::new();
    for v in 0..n {
        let account = protocol.account(&Observer::node(v))?;
        let (mut losses, mut units) = (vec![None; n], vec![None; n]);
        for u in (0..n).filter(|&u| u != v) {
            losses[u] = Some(*account.profile(u, noise)?.loss(measure)?.value());
            units[u] = account.unit(u)?.map(|(_, high)| high);
        }
        observers.push(Seen { name: format!("member {v}"), members: vec![v], losses, units: Some(units) });
    }
    Ok(Viewer {
        names: (0..n).map(|v| format!("member {v}")).collect(),
        positions: layout::positions(&graph),
        edges: graph.edges().collect(),
        observers,
        measure: measure.to_string(),
        sigma: NOISE,
        sensitivity: 1.0,
        scale: Some(Scale::Epsilon(delta)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every member is available as an observer, the noise can be changed, and the numbers are those of the
    /// book.
    #[test]
    fn everybody_observes() {
        let viewer = viewer().unwrap();
        assert_eq!(viewer.observers.len(), 34);
        let of_11 = &viewer.observers[11];
        assert!((of_11.losses[33].unwrap() - 0.5874).abs() < 1e-4 && of_11.losses[11].is_none());
        assert!(section().unwrap().contains("\"scaling\":{"));
    }
}
