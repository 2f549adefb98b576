//! Amplification: shuffling, geometric gaps, the exact account of a walk. The exact blanket is in `dp.rs`.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_dp::iteration::{CappedWalk, FirstHolder, LastIterate, NoisyStep, UncappedWalk};
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{Delta, Error, Mechanism, Order, Sigma};
use std::hint::black_box;

fn shuffled_reports(c: &mut Criterion) {
    let mut group = c.benchmark_group("shuffling");
    group.sample_size(20);
    for m in [1_000, 10_000] {
        group.bench_function(BenchmarkId::new("clones_delta", m), |b| {
            b.iter(|| {
                Reports { local_epsilon: 0.5, labels: None }.delta_by(Bound::Clones, black_box(0.01), m)
            });
        });
    }
    group.bench_function(BenchmarkId::new("rr_epsilon", 10_000), |b| {
        let delta = Delta::new(1e-6);
        b.iter(|| {
            delta.clone().and_then(|delta| {
                Reports { local_epsilon: black_box(1.0), labels: Some(4) }.epsilon(10_000, delta)
            })
        });
    });
    group.finish();
}

fn walks(c: &mut Criterion) {
    let mut group = c.benchmark_group("iteration");
    group.sample_size(20);
    for users in [1_000, 1_000_000_000] {
        group.bench_function(BenchmarkId::new("capped_walk", users), |b| {
            b.iter(|| -> Result<f64, Error> {
                let step = NoisyStep::new(1.0, Sigma::new(black_box(2.4))?)?;
                Ok(CappedWalk::new(1, step, users, 1)?.rdp(Order::new(2.0)?).into_value())
            });
        });
    }
    for steps in [2_000, 20_000] {
        group.bench_function(BenchmarkId::new("walk_descent", steps), |b| {
            b.iter(|| -> Result<f64, Error> {
                let (last_iterate, first_holder) = (LastIterate::Withheld, FirstHolder::Uniform);
                let run = UncappedWalk { steps, users: 2_000, colluders: 1, last_iterate, first_holder };
                let descent = run.descent(NoisyStep::new(1.0, Sigma::new(black_box(2.4))?)?, u64::MAX)?;
                Ok(descent.rdp(Order::new(2.0)?).into_value())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, shuffled_reports, walks);
criterion_main!(benches);
