//! Trainers against independent optima, exact stationary errors and simple laws.

use super::problems::{exact_linear, exact_logistic, in_order, logistic, only, select};
use ndarray::{Array1, Array2};
use ndp_account::Error;
use ndp_algos::sgd::Users;
use ndp_algos::sgd::federated::FederatedSgd;
use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
use ndp_algos::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{
    Constants, Dataset, Deal, Domain, Evaluation, Linear, LinearLoss, MeanEstimation, Objective,
};
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::{Steps, TokenAveraging};
use ndp_dp::Sigma;
use ndp_graph::{GossipMatrix, GossipSequence, TransitionMatrix, generators};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

const WALK: WalkSgd = WalkSgd {
    route: Route::Complete,
    start: None,
    steps: 1,
    step_size: StepSize::Constant(1.0),
    domain: Domain::Unbounded,
    cap: None,
    over_cap: OverCap::NoiseOnly,
    update: Update::Sound,
};

const DESCENT: MuffliatoSgd =
    MuffliatoSgd { rounds: 1, step_size: 1.0, batch: None, domain: Domain::Unbounded, update: Update::Sound };

/// Newton's method on logistic regression with ridge, by Gaussian elimination: shares no code
/// with the trainers.
fn newton_logistic(data: &Dataset, l2: f64) -> Array1<f64> {
    let d = data.features().ncols();
    let n = data.labels().len() as f64;
    let mut theta = Array1::<f64>::zeros(d);
    for _ in 0..50 {
        let mut gradient = &theta * l2;
        let mut hessian = Array2::<f64>::eye(d) * l2;
        for (row, &y) in data.features().rows().into_iter().zip(data.labels()) {
            let p = 1.0 / (1.0 + (y * row.dot(&theta)).exp());
            for i in 0..d {
                gradient[i] -= y * p * row[i] / n;
                for j in 0..d {
                    hessian[(i, j)] += p * (1.0 - p) * row[i] * row[j] / n;
                }
            }
        }
        theta = theta - solve(hessian, gradient);
    }
    theta
}

fn solve(mut a: Array2<f64>, mut b: Array1<f64>) -> Array1<f64> {
    let d = b.len();
    for k in 0..d {
        for i in k + 1..d {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k..d {
                a[(i, j)] -= factor * a[(k, j)];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..d).rev() {
        for j in k + 1..d {
            b[k] -= a[(k, j)] * b[j];
        }
        b[k] /= a[(k, k)];
    }
    b
}

fn assert_near(model: &[f64], optimum: &Array1<f64>) {
    for (m, o) in model.iter().zip(optimum) {
        assert!((m - o).abs() < 1e-6, "{model:?} is not {optimum}");
    }
}

#[test]
fn full_gradients_reach_newtons_minimiser() -> Result<(), Error> {
    let data = logistic(64, &[2.0, -1.0, 0.5], &mut rng(1))?;
    let objective = Linear { l2: 0.1, ..Linear::from(LinearLoss::Logistic) };
    let optimum = newton_logistic(&data, 0.1);

    let one = in_order(&data, 1)?;
    let walk = WalkSgd { steps: 400, step_size: StepSize::Constant(2.0), ..WALK };
    assert_near(&only(walk.run(&objective, &one, None, None, &mut rng(2))?), &optimum);
    let users = Users::deal(&data, 8, Deal::ByLabel, &mut rng(3))?;
    let descent = MuffliatoSgd { rounds: 400, step_size: 2.0, ..DESCENT };
    let complete = GossipMatrix::metropolis(&generators::complete_graph(8)?);
    // Exact consensus in three ways.
    for mixing in [Mixing::Server, Mixing::OnePeerHypercube, Mixing::Plain { matrix: complete, steps: 1 }] {
        let run = descent.run(&objective, &users, None, |_, _| Ok(mixing.clone()), None, &mut rng(4))?;
        for model in run.models.rows() {
            assert_near(&model.to_vec(), &optimum);
        }
    }
    Ok(())
}

/// With the same data at every node no consensus is needed: the walk descends the common objective.
#[test]
fn identical_data_make_the_walk_gradient_descent() -> Result<(), Error> {
    let part = logistic(20, &[1.0, 1.0], &mut rng(5))?;
    let copies: Vec<usize> = (0..6).flat_map(|_| 0..20).collect();
    let users = in_order(&select(&part, &copies)?, 6)?;
    let objective = Linear { l2: 0.2, ..Linear::from(LinearLoss::Logistic) };
    let ring = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::cycle_graph(6)?));
    let walk = WalkSgd { route: ring.into(), steps: 400, step_size: StepSize::Constant(2.0), ..WALK };
    assert_near(&only(walk.run(&objective, &users, None, None, &mut rng(6))?), &newton_logistic(&part, 0.2));
    Ok(())
}

#[test]
fn ridge_regression_reaches_the_normal_equations() -> Result<(), Error> {
    let features = Array2::from_shape_fn((12, 2), |(i, j)| ((i * 7 + j * 3) % 5) as f64 / 5.0 - 0.4);
    let labels: Vec<f64> = (0..12).map(|i| f64::from(i % 3) - 1.0).collect();
    let data = Dataset::new(features.clone(), labels.clone())?;
    let gram = features.t().dot(&features) / 12.0 + Array2::<f64>::eye(2) * 0.05;
    let optimum = solve(gram, features.t().dot(&Array1::from(labels)) / 12.0);
    let server = FederatedSgd { batch: 1, step_size: 1.0, domain: Domain::Ball(100.0), initial: None };
    // Federated rounds see every user once: descend by giving 300 users the same data.
    let many = select(&data, &(0..12 * 300).map(|i| i % 12).collect::<Vec<_>>())?;
    let objective = Linear { l2: 0.05, ..Linear::from(LinearLoss::Squared) };
    let run = server.run(&objective, &in_order(&many, 300)?, None, None, &mut rng(7))?;
    assert_eq!(run.contributions, [1; 300]);
    assert_near(&only(run), &optimum);
    Ok(())
}

/// Stationary error of the noisy walk on mean estimation against its exact formula
/// (the averaging formula for walks, with `f_v = (x - y_v)²/2`): within 4 standard errors.
#[test]
fn the_noisy_walk_has_the_predicted_error() -> Result<(), Error> {
    let (n, steps, gamma, variance) = (6usize, 40usize, 0.2f64, 0.5f64);
    let values = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
    let users = in_order(&Dataset::new(values, vec![0.0; n])?, n)?;
    let gossip = GossipMatrix::metropolis(&generators::cycle_graph(n)?);
    let matrix = TransitionMatrix::from(&gossip);

    let mean = 2.5;
    let centered: Vec<f64> = (0..n).map(|i| i as f64 - mean).collect();
    let a = 1.0 - gamma;
    let mut moved = centered.clone();
    let mut covariance = Vec::new();
    for _ in 0..steps {
        covariance.push(centered.iter().zip(&moved).map(|(x, y)| x * y).sum::<f64>() / n as f64);
        let mut next = vec![0.0; n];
        gossip.csr().multiply(&moved, &mut next);
        moved = next;
    }
    let mut exact = a.powi(2 * steps as i32) * mean * mean;
    for i in 0..steps {
        for j in 0..steps {
            exact += gamma * gamma * a.powi((2 * steps - 2 - i - j) as i32) * covariance[i.abs_diff(j)];
        }
        exact += gamma * gamma * variance * a.powi(2 * i as i32);
    }

    let walk = WalkSgd { route: matrix.clone().into(), steps, step_size: StepSize::Constant(gamma), ..WALK };
    let sigma = Sigma::new(variance.sqrt())?;
    let trials = 20_000;
    let mut generator = rng(8);
    let errors: Vec<f64> = (0..trials)
        .map(|_| {
            let run = walk.run(&MeanEstimation, &users, Some(sigma), None, &mut generator)?;
            Ok((run.models[(0, 0)] - mean).powi(2))
        })
        .collect::<Result<_, Error>>()?;
    let average = errors.iter().sum::<f64>() / f64::from(trials);
    let spread = errors.iter().map(|e| (e - average).powi(2)).sum::<f64>() / f64::from(trials);
    let standard_error = (spread / f64::from(trials)).sqrt();
    assert!((average - exact).abs() < 4.0 * standard_error, "{average} is not {exact} ± {standard_error}");
    Ok(())
}

/// Noisy descent to exact consensus, and a noisy walk, both long run: the error of the limit, within 4
/// standard errors. Descent on `‖θ - x‖²/2` is `θ ← (1 - ν) θ + ν (mean + noise)`, the walk is the averaging
/// walk of half the step.
#[test]
fn stationary_errors_are_the_predicted_ones() -> Result<(), Error> {
    let (n, step, sigma) = (8usize, 0.3, Sigma::new(0.8)?);
    let values = Array2::from_shape_fn((n, 1), |(i, _)| (i % 3) as f64);
    let users = in_order(&Dataset::new(values.clone(), vec![0.0; n])?, n)?;
    let mean = values.sum() / n as f64;
    let gossip = GossipMatrix::metropolis(&generators::hypercube_graph(3)?);
    let matrix = TransitionMatrix::from(&gossip);
    let mut generator = rng(12);
    let mut check =
        |expected: f64, trials: u32, run: &mut dyn FnMut(&mut ChaCha8Rng) -> Result<f64, Error>| {
            let errors = (0..trials).map(|_| Ok((run(&mut generator)? - mean).powi(2)));
            let errors = errors.collect::<Result<Vec<f64>, Error>>()?;
            let average = errors.iter().sum::<f64>() / f64::from(trials);
            let variance = errors.iter().map(|e| (e - average).powi(2)).sum::<f64>() / f64::from(trials);
            let error = (variance / f64::from(trials)).sqrt();
            assert!((average - expected).abs() < 4.0 * error, "{average} is not {expected} ± {error}");
            Ok::<(), Error>(())
        };
    let descent = MuffliatoSgd { rounds: 40, step_size: step, ..DESCENT };
    let expected = step * step * sigma.get().powi(2) / n as f64 / (1.0 - (1.0 - step).powi(2));
    check(expected, 4000, &mut |rng| {
        let peers = |_: usize, _: &mut ChaCha8Rng| Ok(Mixing::OnePeerHypercube);
        let run = descent.run(&MeanEstimation, &users, Some(sigma), peers, None, rng)?;
        Ok(run.models[(0, 0)])
    })?;
    let walk =
        WalkSgd { route: matrix.clone().into(), steps: 60, step_size: StepSize::Constant(step), ..WALK };
    let (steps, initial) = (Steps::Constant(step / 2.0), Array1::zeros(values.ncols()));
    let averaging = TokenAveraging { steps, initial, final_token: FinalToken::Withheld };
    let expected = averaging.mean_squared_error(&gossip, values.view(), sigma, None)?;
    check(expected, 8000, &mut |rng| {
        Ok(walk.run(&MeanEstimation, &users, Some(sigma), None, rng)?.models[(0, 0)])
    })
}

/// Problems whose minimiser is known without any solver.
#[test]
fn known_minimisers_are_reached() -> Result<(), Error> {
    let model = [1.0, -0.5, 0.25];
    let optimum = Array1::from(model.to_vec());
    let logistic = exact_logistic(24, &model, &mut rng(21))?;
    let linear = exact_linear(48, 0.2, &model, &mut rng(22))?;
    let descent = MuffliatoSgd { rounds: 4000, step_size: 1.0, ..DESCENT };
    let average = |_: usize, _: &mut ChaCha8Rng| Ok(Mixing::Server);
    let users = Users::deal(&logistic, 8, Deal::Mixed(0.5), &mut rng(23))?;
    let run = descent.run(&Linear::from(LinearLoss::Logistic), &users, None, average, None, &mut rng(24))?;
    assert_near(&run.models.row(7).to_vec(), &optimum);
    let users = Users::deal(&linear, 8, Deal::Random, &mut rng(25))?;
    let run = descent.run(&Linear::from(LinearLoss::Squared), &users, None, average, None, &mut rng(26))?;
    assert_near(&run.models.row(3).to_vec(), &optimum);
    Ok(())
}

/// On a ball the walk ends at the point of the ball nearest to the mean; no model ever leaves it.
#[test]
fn models_stay_in_their_ball() -> Result<(), Error> {
    let data = Dataset::new(Array2::from_shape_fn((4, 2), |(_, j)| 3.0 + j as f64), vec![0.0; 4])?;
    let users = in_order(&data, 4)?;
    let walk = WalkSgd { steps: 100, step_size: StepSize::Constant(0.5), domain: Domain::Ball(2.0), ..WALK };
    let model = only(walk.run(&MeanEstimation, &users, None, None, &mut rng(1))?);
    assert_near(&model, &(Array1::from(vec![3.0, 4.0]) * 0.4));
    let noisy = only(walk.run(&MeanEstimation, &users, Some(Sigma::new(50.0)?), None, &mut rng(2))?);
    assert!(noisy[0].hypot(noisy[1]) <= 2.0 + 1e-12);
    Ok(())
}

/// A user's gradient, clipped as a whole, moves the model by the step times the clipping norm.
#[test]
fn node_clipping_comes_before_the_noise() -> Result<(), Error> {
    let data = Dataset::new(Array2::from_elem((2, 2), 10.0), vec![0.0; 2])?;
    let users = in_order(&data, 1)?;
    let update = Update::NodeClipped { clip: 0.5 };
    let clipped = WalkSgd { step_size: StepSize::Constant(0.1), update, ..WALK };
    let model = only(clipped.run(&MeanEstimation, &users, None, None, &mut rng(1))?);
    assert!((model[0].hypot(model[1]) - 0.05).abs() < 1e-15);
    let noisy = only(clipped.run(&MeanEstimation, &users, Some(Sigma::new(1e3)?), None, &mut rng(2))?);
    assert!(noisy[0].hypot(noisy[1]) > 1.0, "the noise is not clipped");
    let descent = MuffliatoSgd { step_size: 0.1, update, ..DESCENT };
    let run = descent.run(&MeanEstimation, &users, None, |_, _| Ok(Mixing::Server), None, &mut rng(3))?;
    assert!((run.models[(0, 0)].hypot(run.models[(0, 1)]) - 0.05).abs() < 1e-15);
    Ok(())
}

/// Each round may have a graph of its own; the mean over every third node is that of the nodes measured.
#[test]
fn rounds_may_differ_and_some_nodes_may_stand_for_all() -> Result<(), Error> {
    let data = logistic(70, &[2.0, -1.0], &mut rng(1))?;
    let users = in_order(&data, 7)?;
    let sgd = MuffliatoSgd { rounds: 3, ..DESCENT };
    let mut asked = Vec::new();
    let mixing = |round: usize, rng: &mut ChaCha8Rng| {
        asked.push(round);
        let graph = ndp_graph::random::connected_erdos_renyi(7, 0.5, 1000, rng)?;
        Ok(Mixing::Plain { matrix: GossipMatrix::metropolis(&graph), steps: 2 })
    };
    let mut evaluation = Evaluation::new(1, &data)?;
    (evaluation.stride, evaluation.objective) = (3, Some(data.clone()));
    let objective = Linear::from(LinearLoss::Logistic);
    let run = sgd.run(&objective, &users, None, mixing, Some(&evaluation), &mut rng(2))?;
    assert_eq!(asked, [0, 1, 2]);
    // The accuracy is a plain count.
    let own = |v: usize| {
        let model = run.models.row(v);
        let right =
            (0..70).filter(|&i| (data.features().row(i).dot(&model) > 0.0) == (data.labels()[i] > 0.0));
        right.count() as f64 / 70.0
    };
    assert!((run.history.accuracy[3] - (own(0) + own(3) + own(6)) / 3.0).abs() < 1e-15);
    assert!(run.history.consensus_error[3] > 0.0);
    assert_eq!(run.history.last_accuracy, Some(run.history.accuracy[3]));
    let none = {
        evaluation.stride = 0;
        evaluation
    };
    let never = sgd.run(&objective, &users, None, |_, _| Ok(Mixing::Server), Some(&none), &mut rng(2));
    assert!(matches!(never, Err(Error::InvalidParameter { name: "the stride between nodes", .. })));
    Ok(())
}

/// The noise of one step has the variance asked for, over all coordinates (4 standard errors).
#[test]
fn noise_has_its_variance() -> Result<(), Error> {
    let users = in_order(&Dataset::new(Array2::zeros((1, 2000)), vec![0.0])?, 1)?;
    let sigma = Sigma::new(1.5)?;
    let check = |model: &[f64], expected: f64| {
        let count = model.len() as f64;
        let variance = model.iter().map(|x| x * x).sum::<f64>() / count;
        assert!(
            (variance - expected).abs() < 4.0 * expected * (2.0 / count).sqrt(),
            "{variance} is not {expected}"
        );
    };
    let walk = WalkSgd { step_size: StepSize::Constant(0.5), ..WALK };
    check(&only(walk.run(&MeanEstimation, &users, Some(sigma), None, &mut rng(9))?), 0.25 * 2.25);
    let descent = MuffliatoSgd { step_size: 0.5, batch: Some(3), ..DESCENT };
    let run =
        descent.run(&MeanEstimation, &users, Some(sigma), |_, _| Ok(Mixing::Server), None, &mut rng(10))?;
    check(&run.models.row(0).to_vec(), 0.25 * 2.25);
    // Averaging a batch of 4 divides the variance by 4.
    let four = in_order(&Dataset::new(Array2::zeros((4, 2000)), vec![0.0; 4])?, 4)?;
    let server = FederatedSgd { batch: 4, step_size: 0.5, domain: Domain::Ball(1e6), initial: None };
    check(&only(server.run(&MeanEstimation, &four, Some(sigma), None, &mut rng(11))?), 0.25 * 2.25 / 4.0);
    Ok(())
}

#[test]
fn gossip_keeps_the_mean_and_the_released_recursion_does_not() -> Result<(), Error> {
    let n = 8;
    let values = Array2::from_shape_fn((n, 1), |(i, _)| (i * i) as f64);
    let users = in_order(&Dataset::new(values, vec![0.0; n])?, n)?;
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(n)?);
    // One unit step of mean estimation puts every node at its own value, so the mean is known.
    let after = |mixing: Mixing| -> Result<f64, Error> {
        let run = DESCENT.run(&MeanEstimation, &users, None, |_, _| Ok(mixing.clone()), None, &mut rng(1))?;
        Ok(run.models.sum() / n as f64)
    };
    let mean = 17.5;
    let (steps, parameter): (usize, f64) = (60, 1.4);
    assert!((after(Mixing::Plain { matrix: matrix.clone(), steps })? - mean).abs() < 1e-10);
    assert!((after(Mixing::Accelerated { matrix: matrix.clone(), steps, parameter })? - mean).abs() < 1e-10);
    assert!((after(Mixing::OnePeerHypercube)? - mean).abs() < 1e-10);
    let written = Mixing::Sequence(GossipSequence::one_peer_hypercube(3)?);
    assert_eq!(after(written)?, after(Mixing::OnePeerHypercube)?);
    let multiplied = after(Mixing::AsReleased { matrix, steps, parameter })?;
    let factor = (1.0 - (parameter - 1.0).powi(steps as i32 + 1)) / (2.0 - parameter);
    assert!((multiplied - factor * mean).abs() < 1e-9, "{multiplied} is not {factor} times {mean}");
    Ok(())
}

#[test]
fn caps_hold_and_what_happens_beyond_them_differs() -> Result<(), Error> {
    let data = logistic(40, &[1.0, 0.0], &mut rng(1))?;
    let users = in_order(&data, 4)?;
    let objective = Linear::from(LinearLoss::Logistic);
    let capped = WalkSgd { steps: 200, step_size: StepSize::Constant(0.1), cap: Some(3), ..WALK };
    let run = capped.run(&objective, &users, Some(Sigma::new(1.0)?), None, &mut rng(2))?;
    assert_eq!(run.contributions, [3; 4]);
    let beyond = |over_cap, sigma: Option<Sigma>| -> Result<Vec<f64>, Error> {
        let walk = WalkSgd { over_cap, cap: Some(0), ..capped.clone() };
        Ok(only(walk.run(&objective, &users, sigma, None, &mut rng(3))?))
    };
    assert_eq!(beyond(OverCap::ForwardUnchanged, Some(Sigma::new(1.0)?))?, [0.0, 0.0]);
    assert_ne!(beyond(OverCap::NoiseOnly, Some(Sigma::new(1.0)?))?, [0.0, 0.0]);
    assert_eq!(beyond(OverCap::NoiseOnly, None)?, [0.0, 0.0]);
    Ok(())
}

#[test]
fn evaluations_are_taken_where_they_are_due() -> Result<(), Error> {
    let data = logistic(400, &[4.0, -4.0], &mut rng(1))?;
    let users = in_order(&data, 4)?;
    let objective = Linear::from(LinearLoss::Logistic);
    let mut evaluation = Evaluation::new(50, &data)?;
    evaluation.objective = Some(data.clone());
    let walk = WalkSgd { steps: 200, step_size: StepSize::Constant(1.0), ..WALK };
    let history = walk.run(&objective, &users, None, Some(&evaluation), &mut rng(2))?.history;
    assert_eq!(history.steps, [0, 50, 100, 150]);
    assert!((history.objective[0] - 2.0f64.ln()).abs() < 1e-12, "the model 0 has the loss ln 2");
    assert!(history.objective[3] < history.objective[1]);
    // The accuracy recorded at step 150 is that of the model after 151 updates.
    let longer = WalkSgd { steps: 151, ..walk };
    let last = only(longer.run(&objective, &users, None, None, &mut rng(2))?);
    let right = (0..400)
        .filter(|&i| {
            (data.features()[(i, 0)] * last[0] + data.features()[(i, 1)] * last[1] > 0.0)
                == (data.labels()[i] > 0.0)
        })
        .count();
    assert!((right as f64 / 400.0 - history.accuracy[3]).abs() < 1e-12);
    let stopped = longer.run(&objective, &users, None, Some(&evaluation), &mut rng(2))?;
    assert_eq!(stopped.history.last_accuracy, history.accuracy.last().copied());
    Ok(())
}

/// A user's own objective: the trainers ask for nothing but the trait.
#[test]
fn an_objective_of_ones_own_trains() -> Result<(), Error> {
    struct Cosh;
    impl Objective for Cosh {
        fn value(&self, model: &[f64], x: &[f64], _: f64) -> f64 {
            (model[0] - x[0]).cosh()
        }
        fn add_gradient(&self, model: &[f64], x: &[f64], _: f64, weight: f64, gradient: &mut [f64]) {
            gradient[0] += weight * (model[0] - x[0]).sinh();
        }
        fn constants(&self, feature_norm: f64, _: f64, domain: Domain) -> Constants {
            let radius = if let Domain::Ball(radius) = domain { radius } else { f64::INFINITY };
            let (steepest, smoothness) = ((radius + feature_norm).sinh(), (radius + feature_norm).cosh());
            let (lipschitz, sensitivity) = (steepest, 2.0 * steepest);
            Constants { lipschitz, sensitivity, smoothness, strong_convexity: 1.0, domain }
        }
    }
    let data = Dataset::new(Array2::from_shape_fn((2, 1), |(i, _)| 3.0 * i as f64 - 1.0), vec![0.0; 2])?;
    let users = in_order(&data, 1)?;
    let walk = WalkSgd { steps: 500, step_size: StepSize::Constant(0.3), ..WALK };
    let model = only(walk.run(&Cosh, &users, None, None, &mut rng(1))?);
    assert!((model[0] - 0.5).abs() < 1e-9, "by symmetry the minimum is halfway, got {}", model[0]);
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    let data = logistic(40, &[1.0, 0.0], &mut rng(1))?;
    let users = in_order(&data, 4)?;
    let objective = Linear::from(LinearLoss::Logistic);
    let walk = |walk: WalkSgd| walk.run(&objective, &users, None, None, &mut rng(1)).map(|_| ());
    let outside = walk(WalkSgd { start: Some(4), ..WALK });
    assert_eq!(outside, Err(Error::NodeOutOfRange { node: 4, nodes: 4 }));
    let small = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::cycle_graph(3)?));
    let small = walk(WalkSgd { route: small.into(), ..WALK });
    assert_eq!(small, Err(Error::Shape { what: "users", expected: 3, got: 4 }));
    let descent = |mixing: Mixing| {
        let run = DESCENT.run(&objective, &users, None, |_, _| Ok(mixing.clone()), None, &mut rng(1));
        run.map(|_| ()).unwrap_err()
    };
    let ring =
        |n| -> Result<GossipMatrix, Error> { Ok(GossipMatrix::metropolis(&generators::cycle_graph(n)?)) };
    let plain = Mixing::Plain { matrix: ring(3)?, steps: 1 };
    assert_eq!(descent(plain), Error::Shape { what: "nodes of the gossip matrix", expected: 4, got: 3 });
    let wild = Mixing::Accelerated { matrix: ring(4)?, steps: 1, parameter: 2.0 };
    assert!(matches!(descent(wild), Error::InvalidParameter { value: 2.0, .. }));
    let three = in_order(&data, 3)?;
    let peers = |_: usize, _: &mut ChaCha8Rng| Ok(Mixing::OnePeerHypercube);
    let sampled = MuffliatoSgd { batch: Some(0), ..DESCENT };
    let server = |batch, initial| FederatedSgd { batch, step_size: 1.0, domain: Domain::Ball(1.0), initial };
    let outside = server(1, Some(vec![1.0, 1.0]));
    for (found, refused) in [
        (Evaluation::new(0, &data).map(|_| ()), "the steps between evaluations"),
        (walk(WalkSgd { steps: 0, ..WALK }), "the number of steps"),
        (walk(WalkSgd { step_size: StepSize::Constant(f64::NAN), ..WALK }), "the step size"),
        (walk(WalkSgd { update: Update::AsReleased { clip: 0.0 }, ..WALK }), "the clipping norm"),
        (walk(WalkSgd { domain: Domain::Ball(f64::NAN), ..WALK }), "the radius"),
        (DESCENT.run(&objective, &three, None, peers, None, &mut rng(1)).map(|_| ()), "the number of nodes"),
        (sampled.run(&objective, &users, None, peers, None, &mut rng(1)).map(|_| ()), "the batch size"),
        (server(0, None).run(&objective, &users, None, None, &mut rng(1)).map(|_| ()), "the batch size"),
        (server(5, None).run(&objective, &users, None, None, &mut rng(1)).map(|_| ()), "the batch size"),
        (outside.run(&objective, &users, None, None, &mut rng(1)).map(|_| ()), "the norm of the first model"),
    ] {
        assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused), "{found:?}");
    }
    // Labels that a classifier is not made for, test examples of another kind, domains that are none.
    let wrong = Dataset::new(Array2::ones((4, 2)), vec![0.0, 1.0, 1.0, 0.0])?;
    let one_class = Dataset::new(Array2::ones((4, 2)), vec![1.0; 4])?;
    let server = server(1, None);
    for (data, error) in [
        (wrong, ndp_algos::Error::InvalidLabel { row: 0, label: 0.0 }),
        (one_class, ndp_algos::Error::OneClass(1.0)),
    ] {
        let users = in_order(&data, 2)?;
        let average = |_: usize, _: &mut ChaCha8Rng| Ok(Mixing::Server);
        let refused = [
            WALK.run(&objective, &users, None, None, &mut rng(1)).map(|_| ()),
            DESCENT.run(&objective, &users, None, average, None, &mut rng(1)).map(|_| ()),
            server.run(&objective, &users, None, None, &mut rng(1)).map(|_| ()),
        ];
        refused.into_iter().for_each(|refused| assert_eq!(refused, Err(error.clone().into())));
        assert!(WALK.run(&Linear::from(LinearLoss::Squared), &users, None, None, &mut rng(1)).is_ok());
    }
    let other = Evaluation::new(1, &Dataset::new(Array2::ones((4, 3)), vec![1.0; 4])?)?;
    let refused = WALK.run(&objective, &users, None, Some(&other), &mut rng(1)).map(|_| ());
    assert_eq!(refused, Err(Error::Shape { what: "features of the test examples", expected: 2, got: 3 }));
    for (bad, refused) in [
        (Linear { clip: Some(-1.0), ..objective }, "the clipping norm"),
        (Linear { l2: f64::INFINITY, ..objective }, "the ridge"),
        (Linear { l2: -1.0, ..objective }, "the ridge"),
    ] {
        let found = WALK.run(&bad, &users, None, None, &mut rng(1));
        assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused));
        assert_eq!(bad.constants(1.0, 1.0, Domain::Unbounded).sensitivity, f64::INFINITY);
    }
    Ok(())
}
