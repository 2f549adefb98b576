//! How time and memory of each engine grow with nodes, rounds, degree and rank: part of `beyond/scale`.
//!
//! Each study doubles one size a few times and fits `cost ~ size^a` by least squares on logarithms. What it
//! measures depends on the machine and goes to the JSON and the page, never into the CSV.

use crate::figures::count;
use crate::measure::{measured, resident_memory};
use crate::seed::Seed;
use anyhow::Result;
use ndp_account::Observer;
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_algos::walk::graph::TokenWalk;
use ndp_dp::{Delta, NoiseMultiplier};
use ndp_graph::hitting::Start;
use ndp_graph::{GossipMatrix, Graph, TransitionMatrix, generators, random};
use ndp_printed::gossip::{Powers, theorem1_towards};
use ndp_program::SensitivitySet;
use ndp_program::constructors::{Dsgd, decor, dsgd};
use ndp_report::figure::{Figure, Scale};

/// An engine and the size that grows.
struct Study {
    engine: &'static str,
    grows: &'static str,
    /// The exponents of time and of memory that its complexity says; a range where it depends on the graph.
    expected: &'static str,
    /// The first of three sizes, each twice the one before.
    first: usize,
    work: fn(usize, Seed) -> Result<()>,
}

const STUDIES: [Study; 11] = [
    Study {
        engine: "printed column (Erdős–Rényi, T = 30)",
        grows: "nodes",
        expected: "1, 1",
        first: 50_000,
        work: |n, seed| printed(&random(n, 10, seed)?, 30),
    },
    Study {
        engine: "printed column (Erdős–Rényi, 50,000 nodes)",
        grows: "T",
        expected: "1, 0",
        first: 20,
        work: |rounds, seed| printed(&random(50_000, 10, seed)?, rounds),
    },
    Study {
        engine: "exact combinations (Erdős–Rényi of degree 10, T = 10)",
        grows: "nodes",
        expected: "1, 1",
        first: 4_000,
        work: |n, seed| exact(&random(n, 10, seed)?, 10),
    },
    Study {
        engine: "exact combinations (Erdős–Rényi of 4,000 nodes and degree 10)",
        grows: "T, and the rank with it",
        expected: "2 to 3, 1",
        first: 5,
        work: |rounds, seed| exact(&random(4_000, 10, seed)?, rounds),
    },
    Study {
        engine: "exact combinations (Erdős–Rényi of 4,000 nodes, T = 5)",
        grows: "degree, and the rank with it",
        expected: "2, 1",
        first: 10,
        work: |degree, seed| exact(&random(4_000, degree, seed)?, 5),
    },
    Study {
        engine: "exact powers within a ball (grid, T = 30)",
        grows: "nodes",
        expected: "0 in the engine; reading the graph is 1, 1",
        first: 40_000,
        work: |n, _| exact(&grid(n)?, 30),
    },
    Study {
        engine: "exact powers within a ball (grid of 40,000 nodes)",
        grows: "T",
        expected: "3 to 4, 2",
        first: 20,
        work: |rounds, _| exact(&grid(40_000)?, rounds),
    },
    Study {
        engine: "sparse systems (DECOR, Erdős–Rényi of degree 10, every node)",
        grows: "nodes, and the rank with them",
        expected: "2, 2",
        first: 500,
        work: |n, seed| {
            let graph = random(n, 10, seed)?;
            let account = decor(&graph, 1, 1, 1)?;
            look(&account.account(&Observer::node(0))?, n)
        },
    },
    Study {
        engine: "sweeps (D-SGD with noise over time, 30 steps)",
        grows: "nodes",
        expected: "1, 1",
        first: 200,
        work: |n, _| learning(n, 30),
    },
    Study {
        engine: "sweeps (D-SGD with noise over time, 100 nodes)",
        grows: "steps",
        expected: "2 to 3, 1 to 2",
        first: 40,
        work: |steps, _| learning(100, steps),
    },
    Study {
        engine: "law of a walk's cost (hypercube of 256 nodes)",
        grows: "T",
        expected: "1 (and a logarithm), 1",
        first: 500,
        work: |steps, _| {
            let cube = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::hypercube_graph(8)?));
            let law = TokenWalk::new(&cube, Start::Uniform, steps)?.cost_law(0, &[255])?;
            law.epsilon(NoiseMultiplier::new(3.0)?, Delta::new(1e-5)?)?;
            Ok(())
        },
    },
];

/// Adds what each engine took at each size, with the exponents; at quick scale at an eighth of the sizes.
/// There is no exponent of memory where the process had held as much before.
pub(super) fn measured_in(mut figure: Figure, scale: Scale, seed: Seed) -> Result<Figure> {
    for Study { engine, grows, expected, first, work } in STUDIES {
        let first = scale.pick(first, (first / 8).max(4));
        let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
        for size in [first, 2 * first, 4 * first] {
            let before = resident_memory();
            let (done, cost) = measured(|| work(size, seed));
            done?;
            seconds.push((size as f64, cost.seconds));
            let used = cost.peak_memory.zip(before).map(|(peak, before)| peak.saturating_sub(before));
            bytes.extend(used.filter(|&used| used > NOTICED).map(|used| (size as f64, used as f64)));
        }
        let sizes: Vec<f64> = seconds.iter().map(|&(size, _)| size).collect();
        let words = |points: &[(f64, f64)]| match exponent(points) {
            Some(a) if points.len() == sizes.len() => format!("{a:.2}"),
            _ => "-".into(),
        };
        let times: Vec<String> = seconds.iter().map(|&(_, time)| format!("{time:.3}")).collect();
        let line = format!(
            "{} s at {}; exponents of time and memory {}, {}; expected {expected}",
            times.join(", "),
            sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            words(&seconds),
            words(&bytes)
        );
        figure = figure.measurement(format!("growth of {engine} with {grows}"), line);
    }
    Ok(figure)
}

/// The slope of the line of least squares through the logarithms; nothing for fewer than two sizes.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let (mut above, mut below) = (0.0, 0.0);
    for (log_x, log_y) in logs {
        above += (log_x - x) * (log_y - y);
        below += (log_x - x) * (log_x - x);
    }
    (below > 0.0).then(|| above / below)
}

/// Memory below this, in bytes, says nothing: the process may have held it before.
const NOTICED: u64 = 8 << 20;

fn random(n: usize, degree: usize, seed: Seed) -> Result<Graph> {
    let mut rng = seed.fork(&format!("growth {n} {degree}")).trial(0);
    let graph = random::erdos_renyi_graph(n, (degree as f64 / n as f64).min(1.0), &mut rng)?;
    Ok(graph.largest_component().0)
}

fn grid(n: usize) -> Result<Graph> {
    let side = count((n as f64).sqrt().round());
    Ok(generators::grid_2d_graph(side, side)?)
}

fn printed(graph: &Graph, rounds: usize) -> Result<()> {
    let matrix = GossipMatrix::metropolis(graph);
    theorem1_towards((&matrix, rounds), &[graph.node_count() / 2], Powers::FromZero)?;
    Ok(())
}

/// The exact loss towards a node of about the mean degree.
fn exact(graph: &Graph, rounds: usize) -> Result<()> {
    let mean = (2 * graph.edge_count()).div_ceil(graph.node_count());
    let observer = (0..graph.node_count()).min_by_key(|&v| graph.degree(v).abs_diff(mean)).unwrap_or(0);
    exact_loss((&GossipMatrix::metropolis(graph), rounds), &[observer], ExactOptions::default())?;
    Ok(())
}

fn learning(nodes: usize, steps: usize) -> Result<()> {
    let circle = (0..nodes).flat_map(|u| [(u, (u + 1) % nodes), (u, (u + 2) % nodes)]);
    let matrix = GossipMatrix::metropolis(&Graph::from_edges(nodes, circle)?);
    let noise = ndp_program::toeplitz(steps, &[1.into(), (-1, 2).into()]);
    let program = dsgd(&matrix, Dsgd { noise, ..Dsgd::from(steps) })?;
    look(&program.account(&Observer::node(0))?, nodes)
}

/// Asks for the loss of every node.
fn look(account: &ndp_program::ProgramAccount, nodes: usize) -> Result<()> {
    for u in 1..nodes {
        account.loss(u, &SensitivitySet::SameDirection)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_powers() {
        for a in [0.0, 1.0, 2.5] {
            let points = [1.0f64, 2.0, 8.0].map(|x| (x, 3.0 * x.powf(a)));
            assert!((exponent(&points).unwrap() - a).abs() < 1e-12);
        }
        assert_eq!(exponent(&[(2.0, 1.0)]), None);
        assert_eq!(exponent(&[]), None);
    }
}
