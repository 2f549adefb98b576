//! Train on a table of one's own with a walking token, at a privacy budget.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndp_account::{Error, Observer, Target};
use ndp_algos::sgd::walk::{Route, WalkSgd};
use ndp_algos::sgd::{DataBounds, Dataset, Deal, Domain, Evaluation, Linear, LinearLoss, Objective, Users};
use ndp_algos::sgd::{PrivateTraining, Training};
use ndp_algos::walk::FinalToken;
use ndp_dp::{Delta, Measure};
use ndp_graph::{GossipMatrix, TransitionMatrix, generators};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn main() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    // Any table with a header will do; the column `bought` holds labels -1 and +1.
    let mut table = String::from("age,visits,bought\n");
    for i in 0..20_000 {
        let (age, visits) = (i * 37 % 60 + 18, i * 11 % 20);
        let bought = if 3 * (visits - 10) > age - 48 { 1 } else { -1 };
        table.push_str(&format!("{age},{visits},{bought}\n"));
    }
    let data = Dataset::from_csv(table.as_bytes(), "bought")?.standardized()?.with_unit_rows();
    let (train, test) = data.stratified_split(4000, rng)?;

    // 1024 users on a hypercube, some with more buyers than others, each with at most 12 contributions.
    let users = Users::deal(&train, 1024, Deal::Mixed(0.3), rng)?;
    let graph = generators::hypercube_graph(10)?;
    let matrix = TransitionMatrix::from(&GossipMatrix::metropolis(&graph));
    let walk = WalkSgd::new(Route::from(matrix), 10 * 1024, 0.01, Some(12));

    // The noise at which none of 50 users learns more than (10, 1e-6) about user 0, from what all users
    // promise of their rows.
    let objective = Linear::from(LinearLoss::Logistic);
    objective.check(&data)?;
    let bounds = DataBounds::default();
    let constants = objective.constants(bounds.feature_norm, bounds.label_size, Domain::Unbounded);
    let training = Training::Walk { run: walk.clone(), final_model: FinalToken::Withheld, horizon: 500 };
    let training = PrivateTraining::new(1024, constants, training)?;
    let observers: Vec<Observer> = (1..=50).map(Observer::node).collect();
    let measure = Measure::Approx(Delta::new(1e-6)?);
    let target = Target::listed(measure, (1..=50).map(|v| ((0, v), 10.0)));
    let sigma = training.noise_for(&observers, &target)?;
    let local = PrivateTraining::new(1024, constants, Training::Local { contributions: 12 })?;
    let alone = local.noise_for(&[Observer::node(1)], &Target::worst(measure, 10.0))?;
    println!("noise {:.3}; local DP would need {:.3}", sigma.get(), alone.get());

    let evaluation = Evaluation::new(1000, &test)?;
    // The account holds for data that keep the promise.
    bounds.check(&train)?;
    let run = walk.run(&objective, &users, Some(sigma), Some(&evaluation), rng)?;
    println!("accuracy {:?}", run.history.last_accuracy);
    Ok(())
}
