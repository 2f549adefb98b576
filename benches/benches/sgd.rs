//! Private walk SGD at the size of the papers' experiment: goal 10 ms for 20000 steps.

use criterion::{Criterion, criterion_group, criterion_main};
use ndp_algos::sgd::walk::{FirstUser, OverCap, Route, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{Dataset, Domain, Evaluation, Linear, Logistic, Synthetic, Users};
use ndp_dp::Sigma;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn walk(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let model = [2.0, -1.0, 0.5, 0.0, 1.5, -2.0, 0.3, 1.0];
    let train =
        Dataset::synthetic(Synthetic::Logistic { rows: 16_512 }, &model, &mut rng).expect("valid sizes");
    let test =
        Dataset::synthetic(Synthetic::Logistic { rows: 4_128 }, &model, &mut rng).expect("valid sizes");
    let users = Users::consecutive(&train, 2_048).expect("8 rows for each user");
    let evaluation = Evaluation::new(100, &test).expect("a positive interval");
    let noise = Sigma::new(1.2).expect("positive");
    let walk = WalkSgd {
        route: Route::Complete,
        start: FirstUser::Uniform,
        steps: 20_000,
        step_size: StepSize::Constant(0.034),
        domain: Domain::Unbounded,
        cap: Some(12),
        over_cap: OverCap::NoiseOnly,
        update: Update::Sound,
    };
    c.bench_function("walk_sgd/20000_steps_16512x8_200_evaluations", |b| {
        b.iter(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            walk.run(&Linear::new(Logistic), &users, Some(noise), Some(&evaluation), &mut rng)
        });
    });
}

criterion_group!(benches, walk);
criterion_main!(benches);
