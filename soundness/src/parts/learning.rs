//! Training by a walking token and by gossip with consensus: statements are compared with the exact loss of
//! constant gradients.

use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::walk::{PROFILE_ERROR, Walk};
use crate::part::{Outcome, Part, Stratum, Violation};
use crate::parts::walks::training_epsilon;
use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
use ndp_algos::sgd::objective::{Constants, Domain};
use ndp_algos::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{GossipObserver, PrivateTraining, Training};
use ndp_dp::{Delta, NoiseMultiplier};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Learning;

impl Part for Learning {
    fn name(&self) -> &'static str {
        "learning"
    }

    fn what(&self) -> &'static str {
        "statements of walk and consensus training, every option; all paths with constant gradients"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        if number % 8 == 7 { consensus(rng) } else { walking(rng) }
    }

    fn short(&self) -> u64 {
        200
    }
}

/// Gradients that do not depend on the model, so that the tokens are sums and their loss is a mixture of
/// Gaussians.
fn walking(rng: &mut ChaCha8Rng) -> Outcome {
    let n = pick(rng, &[2, 3, 3, 4, 6, 20, 1000]);
    let steps = pick(rng, &[1, 1, 2, 3, 4, 5, 6, 7]);
    let colluders = match rng.random_range(0..4) {
        0 => n - 1,
        1 => rng.random_range(1..n),
        _ => 1,
    };
    let start = if rng.random_range(0..2) == 0 { None } else { Some(rng.random_range(0..n)) };
    let cap = pick(rng, &[None, Some(0), Some(1), Some(2), Some(steps), Some(12)]);
    let step_size = pick(rng, &[StepSize::Constant(0.3), StepSize::InverseRoot(0.3)]);
    let sensitivity = pick(rng, &[1.0, 2.0, 0.3]);
    let sigma = log_uniform(rng, 0.2, 50.0);
    let delta = log_uniform(rng, 1e-8, 0.3);
    let run = WalkSgd {
        route: Route::Complete,
        start,
        steps,
        step_size,
        domain: Domain::Unbounded,
        cap,
        over_cap: OverCap::NoiseOnly,
        update: Update::Sound,
    };
    let constants = Constants {
        lipschitz: 1.0,
        sensitivity,
        smoothness: 0.25,
        strong_convexity: 0.0,
        domain: Domain::Unbounded,
    };
    let mut outcome = Outcome::new(Stratum::new(n, steps));
    let (Ok(noise), Ok(target)) = (NoiseMultiplier::new(sigma / sensitivity), Delta::new(delta)) else {
        return outcome;
    };
    let training = PrivateTraining::new(n, constants, Training::walk(run.clone()));
    let epsilon = training.and_then(|training| training_epsilon(&training, colluders, noise, target));
    let Ok(epsilon) = epsilon else { return outcome };
    // If the start is given, the user with the largest loss is the one who starts.
    let truth = Walk {
        n,
        steps,
        colluders,
        published: true,
        from_exposed: start.is_some(),
        cap: cap.unwrap_or(usize::MAX),
    };
    let size = |t: usize| match step_size {
        StepSize::Constant(step) => step,
        StepSize::InverseRoot(step) => step / ((t + 1) as f64).sqrt(),
    };
    let least = truth.delta(sensitivity / sigma, epsilon, size);
    outcome.check(least <= delta + PROFILE_ERROR, || Violation {
        kind: match start {
            None => "statement below the truth",
            Some(_) => "statement below the truth, given start",
        },
        size: [steps as u64, n as u64, colluders as u64],
        what: format!("statement on {run:?}, n = {n}, c = {colluders}, sigma = {sigma}: epsilon {epsilon} at delta {delta:e}, where {least:e} is true"),
        test: format!(
            "use ndp_account::{{Observer, Protocol}};\nuse ndp_algos::sgd::objective::{{Constants, Domain}};\n\
             use ndp_algos::sgd::walk::{{OverCap, Route, StepSize, Update, WalkSgd}};\n\
             use ndp_algos::sgd::{{PrivateTraining, Training}};\nuse ndp_dp::{{Delta, NoiseMultiplier}};\n\
             let run = WalkSgd {{\n    route: Route::Complete,\n    start: {start:?},\n    steps: {steps},\n    \
             step_size: StepSize::{step_size:?},\n    domain: Domain::Unbounded,\n    cap: {cap:?},\n    \
             over_cap: OverCap::NoiseOnly,\n    update: Update::Sound,\n}};\n\
             let constants = Constants {{ lipschitz: 1.0, sensitivity: {}, smoothness: 0.25, strong_convexity: 0.0, domain: Domain::Unbounded }};\n\
             let training = PrivateTraining::new({n}, constants, Training::walk(run))?;\n\
             let account = training.account(&Observer::coalition(&(1..={colluders}).collect::<Vec<_>>()))?;\n\
             let stated = account.profile(0, NoiseMultiplier::new({})?)?.epsilon(Delta::new({})?)?;\n\
             // At this epsilon the true delta is {least:e}.\nassert!(stated.value().epsilon() > {});",
            literal(sensitivity), literal(sigma / sensitivity), literal(delta), literal(epsilon)
        ),
    });
    outcome
}

/// The losses of rounds that end in consensus add up, for any number of rounds.
fn consensus(rng: &mut ChaCha8Rng) -> Outcome {
    let bits = rng.random_range(1..=5u32);
    let n = 1usize << bits;
    let rounds = pick(rng, &[1, 2, 7, 1000, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 40]);
    let observer = rng.random_range(0..n);
    let source = (observer + rng.random_range(1..n)) % n;
    let peers = rng.random_range(0..2) == 0;
    let update = pick(rng, &[Update::Sound, Update::NodeClipped { clip: 0.5 }]);
    let run = MuffliatoSgd { rounds, step_size: 0.5, batch: None, domain: Domain::Unbounded, update };
    let constants = Constants {
        lipschitz: 1.0,
        sensitivity: 2.0,
        smoothness: 0.25,
        strong_convexity: 0.0,
        domain: Domain::Unbounded,
    };
    let mixing = if peers { Mixing::OnePeerHypercube } else { Mixing::Server };
    let mut outcome = Outcome::new(Stratum::named(if peers { "one peer" } else { "server" }, "consensus"));
    let observed = GossipObserver::new(&run, &[mixing], &constants, n, observer);
    let loss = observed.and_then(|account| account.loss(source));
    let loss = loss.map_or(f64::NAN, |loss| loss.value().get());
    // One round: for the hypercube 2^{-j}, where j is the highest differing bit; for a server 1/(n − 1).
    // Exact in integers.
    let (shares, count) = if peers {
        (1u128 << (source ^ observer).ilog2(), rounds as u128)
    } else {
        ((n - 1) as u128, rounds as u128)
    };
    // loss ≥ count/shares, where loss · shares is exact for these sizes up to one rounding, for which the
    // check allows.
    let holds = loss * shares as f64 * (1.0 + f64::EPSILON) >= count as f64;
    outcome.check(holds, || Violation {
        kind: "loss of consensus below the truth",
        size: [n as u64, rounds as u64, source as u64],
        what: format!("{rounds} rounds among {n}: {loss}, true {count}/{shares}"),
        test: format!("// GossipObserver of {run:?}, {n} nodes, observer {observer}, source {source}: true loss {count}/{shares}"),
    });
    outcome
}
