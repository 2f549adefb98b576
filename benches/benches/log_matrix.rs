//! The log matrix against the eigensolver alone: goal at most 1.1 times its time at n = 2048.

use criterion::{Criterion, criterion_group, criterion_main};
use ndp_graph::generators::hypercube_graph;
use ndp_graph::log_matrix::{log_matrix, log_matrix_row};
use ndp_graph::random::connected_erdos_renyi;
use ndp_graph::{GossipMatrix, Spectrum};
use ndp_linalg::sym_eigen;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn all_pairs(c: &mut Criterion) {
    let n = 2048;
    let p = 1.2 * (n as f64).ln() / n as f64;
    let random = connected_erdos_renyi(n, p, 100, &mut ChaCha8Rng::seed_from_u64(1)).expect("connected");
    let cube = hypercube_graph(11).expect("a valid dimension");
    for (name, graph) in [("erdos_renyi_2048", random), ("hypercube_2048", cube)] {
        let w = GossipMatrix::metropolis(&graph);
        let dense = w.to_dense().expect("fits in memory");
        let spectrum = Spectrum::new(&w).expect("converges");
        let mut group = c.benchmark_group(format!("log_matrix/{name}"));
        group.sample_size(10);
        // The ratio to look at: `from_matrix` to `eigensolver`.
        group.bench_function("eigensolver", |b| b.iter(|| sym_eigen(dense.view())));
        group.bench_function("from_matrix", |b| b.iter(|| log_matrix(&Spectrum::new(&w)?)));
        group.bench_function("from_spectrum", |b| b.iter(|| log_matrix(&spectrum)));
        group.bench_function("one_row", |b| b.iter(|| log_matrix_row(&w, 0)));
        group.finish();
    }
}

criterion_group!(benches, all_pairs);
criterion_main!(benches);
