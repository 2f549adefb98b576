//! Accounting: conversions, optimal composition, exact blankets, binomial counts.
//!
//! `benches/compare/dp.py` times the same work in Python with dp-accounting and scipy.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{
    ApproxDp, Delta, Gaussian, Gdp, Measure, Mechanism, RdpAccountant, Sensitivity, Sigma, composition, tails,
};
use std::hint::black_box;

fn delta(value: f64) -> Delta {
    Delta::new(value).expect("between 0 and 1")
}

fn gdp_conversion(c: &mut Criterion) {
    let mut group = c.benchmark_group("gdp_conversion");
    for mu in [0.03, 1.0, 8.0] {
        group.bench_function(BenchmarkId::new("epsilon", mu), |b| {
            b.iter(|| Gdp::new(black_box(mu)).map(|gdp| gdp.epsilon(delta(1e-6))));
        });
    }
    group.bench_function("delta/1", |b| b.iter(|| Gdp::new(0.5).and_then(|gdp| gdp.delta(black_box(1.0)))));
    group.bench_function("mu/1", |b| b.iter(|| Measure::Approx(delta(1e-6)).largest_mu(black_box(1.0))));
    let release = Gaussian {
        sensitivity: Sensitivity::new(1.0).expect("positive"),
        sigma: Sigma::new(4.0).expect("positive"),
    };
    group.bench_function("accountant_exact/30", |b| {
        b.iter(|| (*black_box(&release).gdp().value() * 30).epsilon(delta(1e-5)));
    });
    group.bench_function("accountant_rdp/30", |b| {
        b.iter(|| RdpAccountant::default().compose(black_box(&release), 30).epsilon(delta(1e-5)));
    });
    group.finish();
}

fn kov_optimal(c: &mut Criterion) {
    let mut group = c.benchmark_group("kov_optimal");
    for count in [100_u64, 10_000] {
        let release = ApproxDp::new(0.01, 1e-10).expect("valid");
        group.bench_function(BenchmarkId::from_parameter(count), |b| {
            b.iter(|| composition::best(&[(black_box(release), count)], delta(1e-5)));
        });
    }
    group.finish();
}

fn exact_blanket(c: &mut Criterion) {
    let mut group = c.benchmark_group("exact_blanket");
    for m in [1_000, 10_000] {
        group.bench_function(BenchmarkId::from_parameter(m), |b| {
            b.iter(|| {
                Reports { local_epsilon: 1.0, labels: Some(4) }.delta_by(Bound::Blanket, black_box(0.1), m)
            });
        });
    }
    group.finish();
}

fn n_exact(c: &mut Criterion) {
    let mut group = c.benchmark_group("n_exact");
    for trials in [10_000, 100_000_000] {
        group.bench_function(BenchmarkId::from_parameter(trials), |b| {
            b.iter(|| tails::n_exact(black_box(trials), 0.01, delta(1e-6)));
        });
    }
    group.finish();
}

criterion_group!(benches, gdp_conversion, kov_optimal, exact_blanket, n_exact);
criterion_main!(benches);
