//! A protocol of your own beside five baselines that promise the same.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndarray::Array2;
use ndp_algos::loss::observer_losses;
use ndp_algos::target::least_sigma_of_observer_means;
use ndp_algos::{Error, LinearProtocol, View};
use ndp_experiments::analysis::{self, Request, Target, analyse};
use ndp_graph::{Graph, generators::hypercube_graph};

/// Every node publishes its value with noise of its own and a mask for each neighbor, who subtracts the same mask.
struct MaskedMean {
    graph: Graph,
    mask: f64,
}

impl LinearProtocol for MaskedMean {
    fn node_count(&self) -> usize {
        self.graph.node_count()
    }

    /// What is public: row `v` is `x_v + z_v ± masks`. A member knows its own noise and the masks of its edges.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let (n, edges) = (self.node_count(), self.graph.edges().collect::<Vec<_>>());
        let mut noises = Array2::zeros((n, n + edges.len()));
        noises.diag_mut().fill(1.0);
        let mut known = coalition.to_vec();
        for (k, &(u, w)) in (n..).zip(&edges) {
            (noises[(u, k)], noises[(w, k)]) = (self.mask, -self.mask);
            if coalition.contains(&u) || coalition.contains(&w) {
                known.push(k);
            }
        }
        View::new(coalition, Array2::eye(n), noises, &known)
    }
}

/// Names, and the error of the mean (root mean square) when the mean loss towards everyone is at most `target`.
pub(crate) fn compare(target: f64) -> Result<Vec<(&'static str, f64)>, Box<dyn std::error::Error>> {
    let graph = hypercube_graph(4)?;
    let n = graph.node_count();
    let Request { order, sensitivity, .. } = Request::new(analysis::Protocol::Walk, Target::Mean(target));
    let local = sensitivity.get() * (order.get() / (2.0 * target)).sqrt();
    let mut errors = vec![("local", local / (n as f64).sqrt()), ("central", local / n as f64)];
    for protocol in [analysis::Protocol::Muffliato, analysis::Protocol::Walk, analysis::Protocol::OnePeer] {
        let account = analyse(&graph, &Request::new(protocol, Target::Mean(target)))?.account;
        errors.push((protocol.as_str(), account.error));
    }
    let losses = observer_losses(&MaskedMean { graph, mask: 10.0 }, &(0..n).collect::<Vec<_>>())?;
    let sigma = least_sigma_of_observer_means(&losses, (order, sensitivity), target)?;
    errors.push(("masked mean", sigma.get() / (n as f64).sqrt()));
    Ok(errors)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    compare(0.1)?.iter().for_each(|(name, error)| println!("{name:<12} error {error:.4}"));
    Ok(())
}
