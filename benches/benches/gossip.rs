//! Gossip accountants at the sizes of the goals: printed sums and exact losses.
//!
//! All observers, and the work on a million nodes, take up to a minute a run; `cargo xtask bench --large`
//! does them once.

use criterion::{Criterion, criterion_group, criterion_main};
use ndp_account::{Error, LossReport};
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_benches::once;
use ndp_graph::{GossipMatrix, generators, random};
use ndp_printed::gossip::{Powers, theorem1_from, theorem1_towards};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Duration;

/// The losses towards every observer.
fn all(matrix: &GossipMatrix, rounds: usize, options: ExactOptions) -> Result<Vec<LossReport>, Error> {
    (0..matrix.node_count()).into_par_iter().map(|v| exact_loss((matrix, rounds), &[v], options)).collect()
}

fn hypercube() -> GossipMatrix {
    GossipMatrix::metropolis(&generators::hypercube_graph(11).expect("a valid dimension"))
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// Goal: 0.35 s on 2 threads, 1.7 times faster than on 1.
fn printed_all_pairs(c: &mut Criterion) {
    let matrix = hypercube();
    let everybody: Vec<usize> = (0..matrix.node_count()).collect();
    let mut group = c.benchmark_group("printed_all_pairs/hypercube_2048_T100");
    group.sample_size(10).measurement_time(Duration::from_secs(4));
    for threads in [1, 2] {
        let pool = pool(threads);
        group.bench_function(format!("{threads}_threads"), |b| {
            b.iter(|| pool.install(|| theorem1_from(&matrix, &everybody, 100, Powers::FromZero)));
        });
    }
}

/// Goal: 100 ms for one observer, 50 ms in the end.
fn exact_hypercube(c: &mut Criterion) {
    let matrix = hypercube();
    let mut group = c.benchmark_group("exact_loss/hypercube_2048_T19");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    group.bench_function("one_observer", |b| {
        b.iter(|| exact_loss((&matrix, 19), &[0], ExactOptions::default()))
    });
}

/// A triad in L2 that moves as many bytes as the printed sum gathers: every non-zero of the matrix reads one
/// number of each of the 2048 columns in each of the 100 steps.
fn l2_triad(c: &mut Criterion) {
    let gathered = hypercube().csr().parts().2.len() * 2048 * 100 * 8;
    let n = 12 << 10;
    let (mut x, y, z) = (vec![0.0; n], vec![1.0; n], vec![2.0; n]);
    let repetitions = gathered / (3 * 8 * n);
    let mut group = c.benchmark_group("l2_triad");
    group.sample_size(10);
    group.bench_function("as_many_bytes_as_the_printed_sum", |b| {
        b.iter(|| {
            for _ in 0..repetitions {
                for ((x, y), z) in x.iter_mut().zip(&y).zip(&z) {
                    *x = y + 3.0 * z;
                }
                black_box(&mut x);
            }
        });
    });
}

/// Goals: 40 s for all observers; on a million nodes 6 s for a printed column, 0.5 s for an observer on a
/// grid, and at most 12 GB for one on a random graph.
fn large(_: &mut Criterion) {
    if std::env::var_os("NDP_BENCH_ONCE").is_none() {
        return;
    }
    let options = ExactOptions::default();
    let cube = hypercube();
    once("exact_losses_hypercube_2048_T19", || all(&cube, 19, options));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let random = random::connected_erdos_renyi(2048, 0.0045, 100, &mut rng).expect("connected");
    let random = GossipMatrix::metropolis(&random);
    once("exact_loss_erdos_renyi_2048_T19", || exact_loss((&random, 19), &[0], options));
    once("exact_losses_erdos_renyi_2048_T19", || all(&random, 19, options));
    let n = 1_000_000;
    let graph = random::erdos_renyi_graph(n, 10.0 / n as f64, &mut rng).expect("a valid probability");
    let observer = (0..n).find(|&v| graph.degree(v) == 10).expect("a node of the mean degree");
    let matrix = GossipMatrix::metropolis(&graph);
    once("printed_column_erdos_renyi_1e6_T50", || {
        theorem1_towards((&matrix, 50), &[observer], Powers::FromZero)
    });
    let grid = GossipMatrix::metropolis(&generators::grid_2d_graph(1000, 1000).expect("a valid side"));
    once("exact_loss_grid_1e6_T30", || exact_loss((&grid, 30), &[500_500], options));
    once("exact_loss_erdos_renyi_1e6_T30", || exact_loss((&matrix, 30), &[observer], options));
}

criterion_group!(benches, printed_all_pairs, l2_triad, exact_hypercube, large);
criterion_main!(benches);
