//! Privacy loss laws with proof: both ends, one direction of a Poisson-sampled Gaussian, width 1e-4.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_dp::loss_law::Direction;
use ndp_dp::{Delta, Gaussian, LossLaw, Sensitivity, Sigma};
use std::hint::black_box;

fn sampled_gaussian(c: &mut Criterion) {
    let mut group = c.benchmark_group("loss_law");
    group.sample_size(10);
    let step = Gaussian {
        sensitivity: Sensitivity::new(1.0).expect("positive"),
        sigma: Sigma::new(1.0).expect("positive"),
    };
    let delta = Delta::new(1e-5).expect("between 0 and 1");
    for (rate, count) in [(0.01, 1_000), (0.001, 1_000_000)] {
        let law = LossLaw::sampled_gaussian(step, rate)
            .and_then(|law| law.times(count)?.only(Direction::Remove))
            .expect("valid");
        group.bench_function(BenchmarkId::new("sampled_gaussian", count), |b| {
            b.iter(|| black_box(&law).epsilon(delta));
        });
    }
    group.finish();
}

criterion_group!(benches, sampled_gaussian);
criterion_main!(benches);
