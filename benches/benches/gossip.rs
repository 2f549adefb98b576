//! Gossip accountants at the sizes of the goals: printed sums and exact losses.
//!
//! The work on a million nodes takes up to a minute a run. It is done once, when `GOSSIP_LARGE` is set, and
//! reported on the standard error stream.

use criterion::{Criterion, criterion_group, criterion_main};
use ndp_algos::gossip::printed::{Powers, theorem1_all_pairs, theorem1_towards};
use ndp_algos::gossip::{ExactOptions, exact::single_run, exact_loss};
use ndp_graph::{GossipMatrix, generators, random};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn hypercube() -> GossipMatrix {
    GossipMatrix::metropolis(&generators::hypercube_graph(11).expect("a valid dimension"))
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// Goal: 0.35 s on 2 threads, 1.7 times faster than on 1.
fn printed_all_pairs(c: &mut Criterion) {
    let matrix = hypercube();
    let mut group = c.benchmark_group("printed_all_pairs/hypercube_2048_T100");
    group.sample_size(10).measurement_time(Duration::from_secs(4));
    for threads in [1, 2] {
        let pool = pool(threads);
        group.bench_function(format!("{threads}_threads"), |b| {
            b.iter(|| pool.install(|| theorem1_all_pairs(&matrix, 100, Powers::FromZero)));
        });
    }
}

/// Goals: 20 ms for one observer, 15 s for all.
fn exact_hypercube(c: &mut Criterion) {
    let matrix = hypercube();
    let mut group = c.benchmark_group("exact_loss/hypercube_2048_T19");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    group.bench_function("one_observer", |b| b.iter(|| exact_loss(&matrix, 0, 19, ExactOptions::default())));
    group.bench_function("128_observers", |b| {
        b.iter(|| {
            let loss = |v| exact_loss(&matrix, v, 19, ExactOptions::default());
            (0..128).into_par_iter().map(loss).collect::<Vec<_>>()
        });
    });
}

/// Goals on a million nodes: 6 s for a printed column, 60 s and 4 GB for one run of an exact loss.
fn large(_: &mut Criterion) {
    if std::env::var_os("GOSSIP_LARGE").is_none() {
        return;
    }
    let n = 1_000_000;
    let graph = random::erdos_renyi_graph(n, 10.0 / n as f64, &mut ChaCha8Rng::seed_from_u64(1));
    let graph = graph.expect("a valid probability");
    let observer = (0..n).find(|&v| graph.degree(v) == 10).expect("a node of the mean degree");
    let matrix = GossipMatrix::metropolis(&graph);
    timed("printed_column/erdos_renyi_1e6_degree_10_T50", || {
        theorem1_towards(&matrix, observer, 50, Powers::FromZero)
    });
    let grid = GossipMatrix::metropolis(&generators::grid_2d_graph(1000, 1000).expect("a valid side"));
    let options = ExactOptions::default();
    timed("exact_loss_one_run/grid_1e6_T30", || single_run(&grid, 500_500, 30, options));
    timed("exact_loss_one_run/erdos_renyi_1e6_degree_10_T30", || single_run(&matrix, observer, 30, options));
    timed("exact_loss/erdos_renyi_1e6_degree_10_T30", || exact_loss(&matrix, observer, 30, options));
}

/// Reports the time of one call, and the most memory the process has used so far, where the system tells.
fn timed<T>(name: &str, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    eprintln!("{name}: {seconds:.2} s {peak}");
}

criterion_group!(benches, printed_all_pairs, exact_hypercube, large);
criterion_main!(benches);
