//! Private walk SGD at the size of the papers' experiment: goal 10 ms for 20000 steps.

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use ndp_algos::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{Dataset, Deal, Domain, Evaluation, Linear, LinearLoss, Users};
use ndp_dp::Sigma;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of norm at most 1, labelled as logistic regression with this model predicts.
fn logistic(rows: usize, model: &[f64], rng: &mut impl Rng) -> Dataset {
    let most = (model.len() as f64).sqrt();
    let features = Array2::from_shape_fn((rows, model.len()), |_| (2.0 * rng.random::<f64>() - 1.0) / most);
    let likely = |x: f64| 1.0 / (1.0 + (-x).exp());
    let labels = features.rows().into_iter().map(|row| {
        let product: f64 = row.iter().zip(model).map(|(x, t)| x * t).sum();
        if rng.random::<f64>() < likely(product) { 1.0 } else { -1.0 }
    });
    let labels = labels.collect();
    Dataset::new(features, labels).expect("finite examples")
}

fn walk(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let model = [2.0, -1.0, 0.5, 0.0, 1.5, -2.0, 0.3, 1.0];
    let train = logistic(16_512, &model, &mut rng);
    let test = logistic(4_128, &model, &mut rng);
    let users = Users::deal(&train, 2_048, Deal::InOrder, &mut rng).expect("8 rows for each user");
    let evaluation = Evaluation::new(100, &test).expect("a positive interval");
    let noise = Sigma::new(1.2).expect("positive");
    let walk = WalkSgd {
        route: Route::Complete,
        start: None,
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
            walk.run(&Linear::from(LinearLoss::Logistic), &users, Some(noise), Some(&evaluation), &mut rng)
        });
    });
}

criterion_group!(benches, walk);
criterion_main!(benches);
