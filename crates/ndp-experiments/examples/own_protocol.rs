//! A protocol of your own beside five baselines that promise the same.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndp_algos::accountant::{self, Observer, Protocol, least_noise};
use ndp_algos::program::{Declared, Program, Reads, Sensitivity};
use ndp_dp::Measure;
use ndp_experiments::analysis::{self, Request, Target, analyse};
use ndp_graph::{Graph, generators::hypercube_graph};

/// Every node publishes its value with noise of its own and a mask for each neighbor, who subtracts the same mask.
fn masked_mean(graph: &Graph) -> Result<Declared, ndp_algos::Error> {
    let mut program = Program::new(graph.node_count())?;
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let mut y = program.add_all(&x, &z)?;
    for (u, w) in graph.edges() {
        let (plus, minus) = program.pairwise(u, w, 100)?;
        (y[u], y[w]) = (program.add(&[y[u], plus])?, program.add(&[y[w], minus])?);
    }
    program.broadcast_all(&y)?;
    Ok(Declared::new(program, Sensitivity::UseLevel))
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
    let own = masked_mean(&graph)?;
    let accounts = (0..n).map(|v| own.account(&Observer::node(v))).collect::<Result<Vec<_>, _>>()?;
    let least = least_noise(&accounts, &accountant::Target::mean(Measure::Renyi(order), target))?;
    errors.push(("masked mean", least.noise.get() * sensitivity.get() / (n as f64).sqrt()));
    Ok(errors)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    compare(0.1)?.iter().for_each(|(name, error)| println!("{name:<12} error {error:.4}"));
    Ok(())
}
