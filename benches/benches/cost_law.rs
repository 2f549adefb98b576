//! The law of a walk's cost: one pair to its first answer, both ends, and any answer after that.
//!
//! Goals on two cores, hypercube of 2048 nodes, 10^4 steps: both ends within 1 % of epsilon in 5 s, then any
//! epsilon or delta in 1 ms.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_account::Error;
use ndp_algos::walk::graph::{CostLaw, TokenWalk};
use ndp_dp::{Delta, NoiseMultiplier};
use ndp_graph::generators::hypercube_graph;
use ndp_graph::hitting::Start;
use ndp_graph::{GossipMatrix, TransitionMatrix};
use std::hint::black_box;

/// Dimension of the hypercube, steps, observer of node 0.
const SIZES: [(u32, usize, usize); 4] = [(6, 640, 1), (6, 640, 63), (11, 10_000, 1), (11, 10_000, 2047)];

fn law(dimension: u32, steps: usize, v: usize) -> Result<CostLaw, Error> {
    let w = TransitionMatrix::from(&GossipMatrix::metropolis(&hypercube_graph(dimension)?));
    TokenWalk::new(&w, Start::Uniform, steps)?.cost_law(0, &[v])
}

fn epsilon(law: &CostLaw, sigma: f64) -> Result<f64, Error> {
    Ok(law.epsilon(NoiseMultiplier::new(sigma)?, Delta::new(1e-5)?)?.upper())
}

fn delta(law: &CostLaw, sigma: f64) -> Result<f64, Error> {
    Ok(law.delta(NoiseMultiplier::new(sigma)?, 1.0)?.upper())
}

fn cost_law(c: &mut Criterion) {
    let mut group = c.benchmark_group("cost_law");
    group.sample_size(10);
    for (dimension, steps, v) in SIZES {
        let size = format!("n{}_t{steps}_v{v}", 1 << dimension);
        group.bench_function(BenchmarkId::new("first_epsilon", &size), |b| {
            b.iter(|| epsilon(&law(dimension, black_box(steps), v)?, 3.0));
        });
        let Ok(law) = law(dimension, steps, v) else { continue };
        if epsilon(&law, 3.0).is_err() {
            continue;
        }
        group.bench_function(BenchmarkId::new("any_epsilon", &size), |b| {
            b.iter(|| epsilon(&law, black_box(3.0)));
        });
        group.bench_function(BenchmarkId::new("any_delta", &size), |b| {
            b.iter(|| delta(&law, black_box(3.0)));
        });
    }
    group.finish();
}

criterion_group!(benches, cost_law);
criterion_main!(benches);
