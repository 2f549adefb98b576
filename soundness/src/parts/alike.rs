//! Observers covered by a symmetry: whether the account of the observer that was computed in their place also
//! bounds what they learn.
//!
//! Graphs have symmetries, or nearly have them: there is one more edge, or one weight that differs, perhaps
//! only in its last bit. The truth is every observer's own account; other parts check those accounts.

use super::losses::Case;
use crate::draw::graphs;
use crate::draw::numbers::pick;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{Account, Audience, Coverage, Covered, Error, Observer, Protocol, accounts};
use ndp_algos::registry;
use ndp_dp::{Measure, NoiseMultiplier};
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, Graph, generators};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Alike;

impl Part for Alike {
    fn name(&self) -> &'static str {
        "alike"
    }

    fn what(&self) -> &'static str {
        "observers and pairs of observers covered by symmetries of a protocol; every one's own account"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        if number.is_multiple_of(50) { pairs(rng) } else { nodes(rng) }
    }

    fn short(&self) -> u64 {
        400
    }
}

/// `n` nodes on a circle, each connected with those at randomly drawn distances, and perhaps with one more
/// edge.
fn circulant(rng: &mut ChaCha8Rng, n: usize) -> Option<Graph> {
    let distances: Vec<usize> = (1..=n / 2).filter(|_| rng.random_range(0..3) == 0).collect();
    let mut edges: Vec<(usize, usize)> = (0..n)
        .flat_map(|u| distances.iter().map(move |d| (u, (u + d) % n)))
        .chain((rng.random_range(0..3) == 0).then_some((0, 1)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    Graph::from_edges(n, edges).ok()
}

fn drawn_graph(rng: &mut ChaCha8Rng) -> Option<Graph> {
    let n = rng.random_range(3..=12);
    match rng.random_range(0..6) {
        0 => Some(graphs::any(rng, n)),
        1 => generators::hypercube_graph(rng.random_range(2..=4)).ok(),
        2 => generators::torus_graph(&[rng.random_range(3..=4), rng.random_range(3..=4)]).ok(),
        3 => generators::star_graph(n).ok(),
        _ => circulant(rng, n),
    }
}

/// Metropolis weights, or given weights that are equal on all edges except perhaps one.
fn weighted(rng: &mut ChaCha8Rng, graph: &Graph) -> Option<(GossipMatrix, &'static str)> {
    let degree = (0..graph.node_count()).map(|v| graph.degree(v)).max()?;
    if rng.random_range(0..2) == 0 {
        return Some((GossipMatrix::metropolis(graph), "by degrees"));
    }
    let weight = 1.0 / (degree as f64 + pick(rng, &[1.0, 1.5, 2.0]));
    let edges: Vec<_> = graph.edges().collect();
    let one = edges.get(rng.random_range(0..edges.len().max(1))).copied();
    let other = pick(rng, &[weight, weight.next_down(), weight.next_up(), 0.75 * weight]);
    let of = |u: usize, v: usize| if Some((u.min(v), u.max(v))) == one { other } else { weight };
    let name = if other.to_bits() == weight.to_bits() { "given" } else { "given, one other" };
    Some((GossipMatrix::from_edge_weights(graph, of).ok()?, name))
}

fn drawn_protocol(rng: &mut ChaCha8Rng, matrix: &GossipMatrix) -> Option<(Box<dyn Protocol>, String)> {
    let rounds = rng.random_range(1..=4);
    let name = pick(rng, &["muffliato", "muffliato-accelerated", "fresh-noise", "noisy-messages"]);
    let built = registry::find(name).ok()?.build(matrix, &format!("rounds={rounds}").parse().ok()?);
    Some((built.ok()?, format!("{name}, {rounds} rounds")))
}

/// The lower and the upper bound of the unit loss in an account.
fn ends(account: &dyn Account, u: usize) -> Option<(f64, f64)> {
    account.unit_losses()?.enclosure(u).ok()
}

/// The square of `μ` at noise 1, as an account states it; at least the unit loss.
fn said(account: &dyn Account, u: usize) -> Option<f64> {
    let mu = account.profile(u, NoiseMultiplier::new(1.0).ok()?).ok()?.mu()?.value().mu();
    Some(mu * mu * (1.0 + 4.0 * f64::EPSILON))
}

fn covered<'a>(protocol: &'a dyn Protocol, audience: &Audience) -> Result<Covered<'a>, Error> {
    Covered::of(protocol, audience, |observers| accounts(protocol, observers, &Silent))
}

/// Compares the loss of every pair, taken from the account of a symmetric observer, with that in the
/// observer's own account.
fn nodes(rng: &mut ChaCha8Rng) -> Outcome {
    let none = |column| Outcome::new(Stratum::named("nodes", column));
    let Some(graph) = drawn_graph(rng) else { return none("no graph") };
    let Some((matrix, weights)) = weighted(rng, &graph) else { return none("no matrix") };
    let Some((protocol, name)) = drawn_protocol(rng, &matrix) else { return none("no protocol") };
    let n = graph.node_count();
    let mut outcome = none(weights);
    let Ok(audience) = Audience::chosen(n, &[rng.random_range(0..n)]) else { return outcome };
    let Ok(found) = covered(protocol.as_ref(), &audience) else { return outcome };
    if !matches!(found.coverage, Coverage::Symmetric { .. }) {
        return outcome;
    }
    let code = format!("// {name}, weights {weights}\n{}", graphs::code(&graph));
    let mut most = 0.0_f64;
    for account in &found.accounts {
        let Ok(own) = protocol.account(account.observer()) else { continue };
        for u in (0..n).filter(|&u| !account.observer().contains(u)) {
            let (Some((low, high)), Some(said)) = (ends(own.as_ref(), u), said(account.as_ref(), u)) else {
                continue;
            };
            most = most.max(low);
            outcome.check(said >= low, || {
                let case = Case { size: [n as u64, graph.edge_count() as u64, 0], code: &code };
                let what = format!("{} about {u}: said {said}, at least {low}", account.observer());
                case.violation("what is mirrored is below an own account", what, "assert!(said >= low);")
            });
            outcome.check(said <= high * (1.0 + 1e-6) + 1e-12, || {
                let case = Case { size: [n as u64, graph.edge_count() as u64, 1], code: &code };
                let what = format!("{} about {u}: said {said}, at most {high}", account.observer());
                case.violation("what is mirrored is another loss", what, "assert!(said <= high);")
            });
        }
    }
    let worst = NoiseMultiplier::new(1.0).ok().and_then(|one| found.worst(one, Measure::Gaussian).ok()?);
    if let Some(worst) = worst {
        let worst = worst.loss.into_value();
        outcome.check(worst * worst * (1.0 + 4.0 * f64::EPSILON) >= most, || {
            let case = Case { size: [n as u64, graph.edge_count() as u64, 2], code: &code };
            let what = format!("mu {worst}, though some unit loss is {most}");
            case.violation("the largest loss of all is not the largest", what, "assert!(worst >= most);")
        });
    }
    outcome
}

/// The largest loss over all coalitions of two on a large circle, compared with the losses of some
/// coalitions.
fn pairs(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("pairs", "by degrees"));
    let n = rng.random_range(143..=160);
    let Some(graph) = circulant(rng, n) else { return outcome };
    let matrix = GossipMatrix::metropolis(&graph);
    let Some((protocol, name)) = drawn_protocol(rng, &matrix) else { return outcome };
    let Ok(audience) = Audience::coalitions(n, 2, &Observer::coalition(&[0, 1])) else { return outcome };
    let Ok(found) = covered(protocol.as_ref(), &audience) else { return outcome };
    let worst = NoiseMultiplier::new(1.0).ok().and_then(|one| found.worst(one, Measure::Gaussian).ok()?);
    let Some(worst) = worst.map(|worst| worst.loss.into_value()) else { return outcome };
    let code = format!("// {name}\n{}", graphs::code(&graph));
    for _ in 0..4 {
        let first = rng.random_range(0..n);
        let second = (first + rng.random_range(1..n)) % n;
        let Ok(own) = protocol.account(&Observer::coalition(&[first, second])) else { continue };
        for u in (0..n).filter(|&u| u != first && u != second) {
            let Some((low, _)) = ends(own.as_ref(), u) else { continue };
            outcome.check(worst * worst * (1.0 + 4.0 * f64::EPSILON) >= low, || {
                let case = Case { size: [n as u64, graph.edge_count() as u64, 0], code: &code };
                let what = format!("{first} and {second} about {u}: {low}, all at most {worst} squared");
                case.violation("a pair learns more than all pairs", what, "assert!(worst >= low);")
            });
        }
    }
    outcome
}
