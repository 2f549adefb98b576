//! Gossip accountants at the sizes of the goals: printed sums and exact losses.
//!
//! The work on a million nodes takes up to a minute a run and is measured once, when `GOSSIP_LARGE` is
//! set; peak memory is that of the whole process.

use criterion::{Criterion, criterion_group, criterion_main};
use ndp_algos::gossip::printed::{Powers, theorem1_all_pairs, theorem1_towards};
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_graph::{GossipMatrix, generators};
use rayon::prelude::*;
use std::time::Duration;

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

fn column(c: &mut Criterion) {
    let matrix = hypercube();
    c.bench_function("printed_column/hypercube_2048_T100", |b| {
        b.iter(|| theorem1_towards(&matrix, 0, 100, Powers::FromZero));
    });
}

criterion_group!(benches, printed_all_pairs, exact_hypercube, column);
criterion_main!(benches);
