//! Receptions of a histogram token, one or many composed. The loss must never exceed that of releasing all
//! reports of a node separately.

use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::rational::Quotient;
use crate::oracle::series;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{Account, Observer, Protocol};
use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
use ndp_dp::{ApproxDp, Delta, NoiseMultiplier, RandomizedResponse, composition};
use num_bigint::BigInt;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct ReceptionsOfHistograms;

impl Part for ReceptionsOfHistograms {
    fn name(&self) -> &'static str {
        "receptions"
    }

    fn what(&self) -> &'static str {
        "receptions of a histogram: one alone, rationals; composed, all paths and data; against the local loss"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 8 {
            0 => against_local(rng),
            1..=4 => alone(rng),
            _ => composed(rng),
        }
    }

    fn short(&self) -> u64 {
        400
    }
}

fn histogram(n: usize, steps: usize, labels: u32, local: f64) -> Option<CompleteHistogram> {
    let response = RandomizedResponse::with_epsilon(labels, local).ok()?;
    Some(CompleteHistogram { walk: CompleteWalk::new(n, steps).ok()?, response })
}

const USES: &str = "use ndp_account::{Observer, Protocol};\nuse ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};\n\
                    use ndp_dp::{ApproxDp, Delta, NoiseMultiplier, RandomizedResponse, composition};\n";

fn code(n: usize, steps: usize, labels: u32, local: f64) -> String {
    format!(
        "{USES}let response = RandomizedResponse::with_epsilon({labels}, {})?;\n\
         let histogram = CompleteHistogram {{ walk: CompleteWalk::new({n}, {steps})?, response }};\n",
        literal(local)
    )
}

/// Hiding the senders never costs more than showing every report separately.
fn against_local(rng: &mut ChaCha8Rng) -> Outcome {
    let n = pick(rng, &[2, 3, 5, 10, 50]);
    let steps = rng.random_range(1..=6 * n);
    let labels = pick(rng, &[2, 3, 10]);
    let drawn = log_uniform(rng, 0.05, 4.0);
    let local = pick(rng, &[0.4, drawn]);
    let delta = log_uniform(rng, 1e-9, 1e-2);
    let mut outcome = Outcome::new(Stratum::new(n, steps));
    let (Some(histogram), Ok(target), Ok(noise)) =
        (histogram(n, steps, labels, local), Delta::new(delta), NoiseMultiplier::new(1.0 / local))
    else {
        return outcome;
    };
    let observer = Observer::node(0).with_hidden_senders();
    let at = |account: Result<Box<dyn Account + '_>, ndp_account::Error>| -> f64 {
        let profile = account.and_then(|account| account.profile(1, noise));
        let epsilon = profile.and_then(|profile| Ok(profile.epsilon(target)?.into_value().epsilon()));
        epsilon.unwrap_or(f64::NAN)
    };
    let (hidden, alone) = (at(histogram.account(&observer)), at(histogram.local_bound(&observer)));
    // The account takes the smaller of both bounds, so it is no larger apart from rounding.
    outcome.check(hidden <= alone * (1.0 + 1e-9), || Violation {
        kind: "hidden loss above the local loss",
        size: [n as u64, steps as u64, u64::from(labels)],
        what: format!("hidden {hidden}, local {alone} (n = {n}, T = {steps}, L = {labels}, local {local}, delta {delta:e})"),
        test: format!(
            "{}let (delta, noise) = (Delta::new({})?, NoiseMultiplier::new({})?);\n\
             let observer = Observer::node(0).with_hidden_senders();\n\
             let hidden = histogram.account(&observer)?.profile(1, noise)?.epsilon(delta)?.into_value().epsilon();\n\
             let alone = histogram.local_bound(&observer)?.profile(1, noise)?.epsilon(delta)?.into_value().epsilon();\n\
             assert!(hidden <= alone * (1.0 + 1e-9));",
            code(n, steps, labels, local),
            literal(delta),
            literal(noise.get())
        ),
    });
    outcome
}

/// One step by another node: with probability `1/(n − 1)` the report is that of the exposed node, otherwise
/// that of a node with the other label. `δ = q + (p − q)/(n − 1) − e^ε q`, where `p` is the probability of
/// the true label and `q` that of a given false one.
fn alone(rng: &mut ChaCha8Rng) -> Outcome {
    let n = pick(rng, &[2, 3, 4, 10, 1000]);
    let labels = pick(rng, &[2, 2, 3, 10, 1000]);
    let local = log_uniform(rng, 1e-6, 10.0);
    let mut outcome = Outcome::new(Stratum::new(n, 1));
    let Some(histogram) = histogram(n, 20, labels, local) else { return outcome };
    let most = (local.exp_m1() / (n - 1) as f64).ln_1p();
    let drawn = most * rng.random::<f64>();
    let epsilon = pick(rng, &[0.0, drawn, most * (1.0 - 1e-9)]);
    let found = histogram.reception_delta(epsilon, 1).map_or(f64::NAN, |x| *x.value());
    let Ok(response) = RandomizedResponse::with_epsilon(labels, local) else { return outcome };
    let gamma = Quotient::from_f64(response.gamma());
    let one = Quotient::from_f64(1.0);
    let wrong = gamma.by(&Quotient::from_f64(f64::from(labels)));
    let share = Quotient::new(BigInt::from(1), BigInt::from(n - 1));
    let gap = one.minus(&gamma).times(&share);
    let excess = series::exp(&Quotient::from_f64(epsilon))[1].minus(&one);
    let truth = gap.minus(&excess.times(&wrong));
    let near = truth.to_f64();
    outcome.check(!found.is_nan() && truth.compare(found) != Ordering::Greater, || Violation {
        kind: if found >= near * (1.0 - 1e-9) {
            "loss of one reception below the truth by rounding"
        } else {
            "loss of one reception below the truth"
        },
        size: [n as u64, u64::from(labels), 0],
        what: format!(
            "reception_delta({epsilon:e}, 1): {found:?}, true {near:?} (n = {n}, L = {labels}, local {local})"
        ),
        test: format!(
            "{}let delta = histogram.reception_delta({}, 1)?;\nassert!(*delta.value() >= {});",
            code(n, 20, labels, local),
            literal(epsilon),
            literal(truth.below())
        ),
    });
    outcome
}

/// Receptions after one step by another node each, towards one of three nodes. The composed guarantee is
/// compared with the exact law, for either constant label of the third node.
fn composed(rng: &mut ChaCha8Rng) -> Outcome {
    let receptions = rng.random_range(1..=10_usize);
    let drawn = log_uniform(rng, 0.05, 3.0);
    let local = pick(rng, &[0.5, drawn]);
    let mut outcome = Outcome::new(Stratum::new(3, 2 * receptions));
    let Some(histogram) = histogram(3, 2 * receptions, 2, local) else { return outcome };
    let level = (0.5 * local.exp_m1()).ln_1p() * (1.0 + 1e-12);
    let lost = 2 * rng.random_range(0..=receptions / 2) as u64;
    let epsilon = (receptions as u64 - lost) as f64 * level * (1.0 + 1e-14);
    let each = histogram.reception_delta(level, 1).map_or(f64::NAN, |x| *x.value());
    let claimed = ApproxDp::new(level, each)
        .and_then(|each| composition::optimal_delta(each, receptions as u64, epsilon))
        .map_or(f64::NAN, |x| *x.value());
    let Ok(response) = RandomizedResponse::with_epsilon(2, local) else { return outcome };
    let keep = 1.0 - response.gamma() / 2.0;
    for third in [0, 1] {
        let constant = |label: u32| vec![label; receptions];
        let labels = [0, third, 0];
        outcome.check(histogram.run(|node| labels[node], rng).is_ok(), || Violation {
            kind: "refused",
            size: [receptions as u64, 0, 0],
            what: "a run with labels within the domain".to_owned(),
            test: String::new(),
        });
        for own in [0, 1] {
            let laws = [own, 1 - own].map(|own| law(keep, &constant(own), &constant(third)));
            let truth: f64 =
                laws[0].iter().zip(&laws[1]).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum();
            // The sums have some thousand terms.
            outcome.check(truth <= claimed + 1e-13, || Violation {
                kind: "composed receptions below the truth",
                size: [receptions as u64, u64::from(third), lost],
                what: format!("{receptions} receptions after one step, local {local}: delta {claimed:e} at {epsilon}, true {truth:e} where the third node has label {third}"),
                test: format!(
                    "{}// The true delta of {receptions} receptions after one foreign step each is {truth:e} at {epsilon:?}.\n\
                     let each = ApproxDp::new({}, *histogram.reception_delta({}, 1)?.value())?;\n\
                     assert!(*composition::optimal_delta(each, {receptions}, {})?.value() >= {});",
                    code(3, 2 * receptions, 2, local),
                    literal(level),
                    literal(level),
                    literal(epsilon),
                    literal(truth - 1e-13)
                ),
            });
        }
    }
    outcome
}

/// The law of binary reports, one at each reception. Each is by the exposed node or by the other one, with
/// probability 1/2, and gives the label that the node holds at that visit, which is kept with probability
/// `keep`.
fn law(keep: f64, own: &[u32], other: &[u32]) -> Vec<f64> {
    let receptions = own.len();
    (0..1u32 << receptions)
        .map(|seen| {
            // Probabilities by the number of visits to the exposed node so far.
            let mut masses = vec![1.0];
            for reception in 0..receptions {
                let report = seen >> reception & 1;
                let chance = |label: u32| 0.5 * if label == report { keep } else { 1.0 - keep };
                let mut next = vec![0.0; masses.len() + 1];
                for (visits, mass) in masses.iter().enumerate() {
                    next[visits + 1] += mass * chance(own[visits]);
                    next[visits] += mass * chance(other[reception - visits]);
                }
                masses = next;
            }
            masses.iter().sum()
        })
        .collect()
}
