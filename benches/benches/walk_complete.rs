//! Walks on the complete graph: the accounting of Figure 1b for one walk, and the accountants beside it.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_account::{Error, Observer, Protocol};
use ndp_algos::walk::complete::realised::path_units;
use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
use ndp_algos::walk::{Bounds, FinalToken, Path, TokenNoise};
use ndp_dp::{Delta, NoiseMultiplier, Order, Sigma};
use ndp_printed::network::realised::{CycleSize, pairwise_losses};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

fn path(n: usize) -> Result<Path, Error> {
    Ok(CompleteWalk::new(n, 100 * n)?.sample(&mut ChaCha8Rng::seed_from_u64(n as u64)))
}

fn sum(walk: CompleteWalk) -> Result<CompleteSum, Error> {
    Ok(CompleteSum {
        walk,
        bounds: Bounds::new(0.0, 1.0)?,
        noise: TokenNoise::gaussian(Sigma::new(1.0)?),
        constant_data: false,
    })
}

/// All pairs of one walk of `100 n` steps, and its drawing.
fn figure_1b(c: &mut Criterion) {
    let mut group = c.benchmark_group("fig1b/one_walk");
    group.sample_size(20);
    for n in [100, 400] {
        let Ok(path) = path(n) else { continue };
        for (name, size) in [("as_released", CycleSize::Length), ("foreign", CycleSize::Foreign)] {
            group.bench_function(BenchmarkId::new(name, n), |b| {
                b.iter(|| -> Result<f64, Error> {
                    let slack = Delta::new(1e-7)?;
                    let losses = pairwise_losses(black_box(&path), size, slack, |m| 0.1 / (m as f64).sqrt())?;
                    Ok(losses.value().sum())
                });
            });
        }
        group.bench_function(BenchmarkId::new("path_units", n), |b| {
            b.iter(|| path_units(black_box(&path), FinalToken::Withheld).map(|units| units.value().sum()));
        });
        group.bench_function(BenchmarkId::new("sample", n), |b| b.iter(|| self::path(black_box(n))));
    }
    group.finish();
}

/// The averaged Rényi loss at `T = 100 n`: one moment, then a whole guarantee.
fn averaged(c: &mut Criterion) {
    let mut group = c.benchmark_group("averaged");
    group.sample_size(10);
    for n in [100, 1000] {
        let Ok(walk) = CompleteWalk::new(n, 100 * n) else { continue };
        let Ok(sum) = sum(walk) else { continue };
        let Ok(account) = sum.account(&Observer::node(0)) else { continue };
        let profile = |mu: f64| account.profile(1, NoiseMultiplier::new(1.0 / mu)?);
        group.bench_function(BenchmarkId::new("renyi", n), |b| {
            b.iter(|| -> Result<f64, Error> {
                Ok(profile(black_box(1.0))?.renyi(Order::new(2.0)?)?.into_value().epsilon)
            });
        });
        if n == 100 {
            group.bench_function(BenchmarkId::new("epsilon", n), |b| {
                b.iter(|| -> Result<f64, Error> {
                    Ok(profile(black_box(0.02))?.epsilon(Delta::new(1e-6)?)?.into_value().epsilon())
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, figure_1b, averaged);
criterion_main!(benches);
