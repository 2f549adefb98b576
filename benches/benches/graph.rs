//! Linear algebra of the graph crate: dense eigendecomposition, Lanczos at `n = 10^5`, sparse products.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_graph::generators::{hypercube_graph, torus_graph};
use ndp_graph::lanczos::lanczos_extremes;
use ndp_graph::random::erdos_renyi_graph;
use ndp_graph::{GossipMatrix, Graph};
use ndp_linalg::{gemm, sym_eigen, sym_eigenvalues};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Mean degree 10, largest component.
fn erdos_renyi(n: usize) -> Graph {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let graph = erdos_renyi_graph(n, 10.0 / n as f64, &mut rng).expect("a probability");
    graph.largest_component().0
}

fn dense(c: &mut Criterion) {
    let mut group = c.benchmark_group("dense");
    group.sample_size(10);
    for n in [512, 1024, 2048] {
        let matrix = GossipMatrix::metropolis(&erdos_renyi(n)).to_dense().expect("small");
        let id = |work| BenchmarkId::new(work, n);
        group.bench_function(id("sym_eigen"), |b| b.iter(|| sym_eigen(matrix.view())));
        group.bench_function(id("sym_eigenvalues"), |b| b.iter(|| sym_eigenvalues(matrix.view())));
        group.bench_function(id("gemm"), |b| b.iter(|| gemm(matrix.view(), matrix.view())));
    }
}

fn lanczos(c: &mut Criterion) {
    let mut group = c.benchmark_group("lanczos");
    group.sample_size(10);
    let torus = torus_graph(&[316, 316]).expect("sides of at least 3");
    for (name, graph) in [("erdos_renyi_1e5", erdos_renyi(100_000)), ("torus_316x316", torus)] {
        let matrix = GossipMatrix::metropolis(&graph);
        group.bench_function(name, |b| b.iter(|| lanczos_extremes(&matrix, 5e-13)));
    }
}

fn sparse(c: &mut Criterion) {
    let mut group = c.benchmark_group("sparse");
    let cube = GossipMatrix::metropolis(&hypercube_graph(11).expect("small"));
    let (x, mut y) = (vec![[0.5; 16]; 2048], vec![[0.0; 16]; 2048]);
    group.bench_function("panel_of_16_hypercube_2048", |b| {
        b.iter(|| cube.csr().multiply_panel(&x, &mut y));
    });
    let random = GossipMatrix::metropolis(&erdos_renyi(1_000_000));
    let n = random.node_count();
    let (x, mut y) = (vec![0.5; n], vec![0.0; n]);
    group.bench_function("product_erdos_renyi_1e6", |b| b.iter(|| random.csr().multiply(&x, &mut y)));
}

criterion_group!(benches, dense, lanczos, sparse);
criterion_main!(benches);
