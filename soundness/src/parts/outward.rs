//! Formulas of differential privacy that are exponentials of their input: their results must be rounded
//! outward, even in the last digit.

use super::losses::Case;
use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::rational::Quotient;
use crate::oracle::series;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_dp::mixture::{self, log_mean_exp};
use ndp_dp::{ApproxDp, Order, composition, conversion, subsampling};
use num_bigint::BigInt;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct Outward;

impl Part for Outward {
    fn name(&self) -> &'static str {
        "outward"
    }

    fn what(&self) -> &'static str {
        "subsampling, mixtures, conversion, optimal composition; rationals and e^x to 800 bits"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 4 {
            0 => sampled(rng),
            1 => mixed(rng),
            2 => converted(rng),
            _ => composed(rng),
        }
    }

    fn short(&self) -> u64 {
        4000
    }
}

fn exact(x: f64) -> Quotient {
    Quotient::from_f64(x)
}

fn epsilon(rng: &mut ChaCha8Rng) -> f64 {
    match rng.random_range(0..4) {
        0 => pick(rng, &[0.0, 0.5, 1.0, 1e-12, 10.0, 100.0, 1e-200, 700.0]),
        _ => log_uniform(rng, 1e-9, 50.0),
    }
}

fn share(rng: &mut ChaCha8Rng) -> f64 {
    match rng.random_range(0..3) {
        0 => pick(rng, &[0.5, 1.0, 1e-3, 1e-12, 0.1, 0.3]),
        _ => rng.random(),
    }
}

fn delta(rng: &mut ChaCha8Rng) -> f64 {
    pick(rng, &[0.0, 1e-5, 1e-6, 1e-300, 0.1, 0.01])
}

/// Chooses between two kinds of violation: by rounding, and by more.
fn kind(by_more: bool, kinds: [&'static str; 2]) -> &'static str {
    kinds[usize::from(by_more)]
}

fn violation(kind: &'static str, code: &str, what: String, assertion: &str) -> Violation {
    Case { size: [code.len() as u64, 0, 0], code }.violation(kind, what, assertion)
}

/// `e^{ε'} >= 1 + q (e^ε - 1)` and `δ' >= q δ`.
fn sampled(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("subsampling", ""));
    let (e, d) = (epsilon(rng), delta(rng));
    let Ok(mechanism) = ApproxDp::new(e, d) else { return outcome };
    let poisson = rng.random_range(0..2) == 0;
    let population = rng.random_range(1..=10_000_u64);
    let sample = rng.random_range(0..=population);
    let rate = share(rng);
    let (found, q, call) = if poisson {
        (subsampling::poisson(mechanism, rate), exact(rate), format!("poisson(mechanism, {})", literal(rate)))
    } else {
        let q = Quotient::new(BigInt::from(sample), BigInt::from(population));
        let call = format!("without_replacement(mechanism, {sample}, {population})");
        (subsampling::without_replacement(mechanism, sample, population), q, call)
    };
    let Ok(found) = found else { return outcome };
    let found = *found.value();
    let one = exact(1.0);
    let [low, _] = series::exp(&exact(e));
    let truth = one.plus(&q.times(&low.minus(&one)));
    let [_, high] = series::exp(&exact(found.epsilon()));
    let code = format!(
        "use ndp_dp::{{ApproxDp, subsampling::*}};\nlet mechanism = ApproxDp::new({}, {d:?})?;\n\
         let found = {call}?;",
        literal(e)
    );
    outcome.check(high.cmp(&truth) != Ordering::Less, || {
        let near = libm::log1p(truth.minus(&one).to_f64());
        let by_more = found.epsilon() < near * (1.0 - 1e-9);
        let what = format!("{call} at {e:e}: {:e}, true {near:e}", found.epsilon());
        let kinds = ["subsampled epsilon below the truth by rounding", "subsampled epsilon below the truth"];
        violation(
            kind(by_more, kinds),
            &code,
            what,
            &format!("assert!(found.value().epsilon() >= {near:?});"),
        )
    });
    let truth = q.times(&exact(d));
    outcome.check(truth.compare(found.delta()) != Ordering::Greater, || {
        let what = format!("{call}: delta {:e}, true {:e}", found.delta(), truth.to_f64());
        let assertion = format!("assert!(found.value().delta() >= {:?});", truth.below());
        violation("subsampled delta below the truth", &code, what, &assertion)
    });
    outcome
}

/// `e^{(α-1) ρ} Σ w >= Σ w e^{(α-1) ρ_i}`.
fn mixed(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("mixture", ""));
    let alpha = match rng.random_range(0..3) {
        0 => pick(rng, &[1.0_f64.next_up(), 1.0 + 1e-9, 1.5, 2.0, 16.0]),
        _ => 1.0 + log_uniform(rng, 1e-14, 20.0),
    };
    let mut parts: Vec<mixture::Part> = (0..rng.random_range(1..=4))
        .map(|_| mixture::Part {
            weight: share(rng),
            loss: pick(rng, &[0.0, 0.5, 1.0, 1e-12, 30.0, 0.1, 1e-100]),
        })
        .collect();
    let sum: f64 = parts.iter().map(|part| part.weight).sum();
    parts.iter_mut().for_each(|part| part.weight /= sum);
    let Ok(order) = Order::new(alpha) else { return outcome };
    let Ok(found) = log_mean_exp(order, &parts) else { return outcome };
    let found = *found.value();
    let excess = exact(alpha).minus(&exact(1.0));
    let power = |x: f64| series::exp(&excess.times(&exact(x)));
    let total = parts.iter().fold(Quotient::zero(), |sum, part| sum.plus(&exact(part.weight)));
    let truth = parts
        .iter()
        .fold(Quotient::zero(), |sum, part| sum.plus(&exact(part.weight).times(&power(part.loss)[0])));
    outcome.check(power(found)[1].times(&total).cmp(&truth) != Ordering::Less, || {
        let average = parts.iter().map(|part| part.weight * part.loss).sum::<f64>() / total.to_f64();
        let code = format!(
            "use ndp_dp::mixture::{{Part, log_mean_exp}};\nlet order = ndp_dp::Order::new({})?;\n\
             let loss = log_mean_exp(order, &{parts:?})?;",
            literal(alpha)
        );
        let what = format!("{parts:?} at order {alpha:?}: {found:e}; the mean alone is {average:e}");
        let kinds = ["mixture below the truth by rounding", "mixture below its mean"];
        violation(
            kind(found < average * (1.0 - 1e-9), kinds),
            &code,
            what,
            &format!("// {parts:?}: {found:?}"),
        )
    });
    outcome
}

/// `δ >= e^{(α-1)(ρ-ε)}`, or 1.
fn converted(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("conversion", ""));
    let alpha = 1.0 + log_uniform(rng, 1e-6, 1000.0);
    let (rho, e) = (epsilon(rng), epsilon(rng));
    let Ok(order) = Order::new(alpha) else { return outcome };
    let Ok(found) = conversion::mironov_delta(rho, order, e) else { return outcome };
    let found = *found.value();
    let exponent = exact(alpha).minus(&exact(1.0)).times(&exact(e).minus(&exact(rho)));
    // For larger exponents delta is below every float.
    if exponent.to_f64() > 1900.0 {
        outcome.check(found > 0.0, || {
            let code = format!("let delta = ndp_dp::conversion::mironov_delta({rho:?}, ndp_dp::Order::new({alpha:?})?, {e:?})?;");
            violation("delta of 0", &code, format!("delta {found:e}, true positive"), "assert!(*delta.value() > 0.0);")
        });
        return outcome;
    }
    let holds = if exponent.compare(0.0) == Ordering::Greater {
        // The true power is at least its lower end: δ e^x < 1 is certain when even the upper end says so.
        exact(found).times(&series::exp(&exponent)[1]).compare(1.0) != Ordering::Less
    } else {
        found >= 1.0
    };
    outcome.check(holds, || {
        let code = format!(
            "let delta = ndp_dp::conversion::mironov_delta({rho:?}, ndp_dp::Order::new({alpha:?})?, {e:?})?;"
        );
        let near = (-exponent.to_f64()).exp();
        let kinds = ["converted delta below the truth by rounding", "converted delta below the truth"];
        let what = format!("delta {found:e}, true {near:e}");
        let assertion = format!("assert!(*delta.value() >= {:?});", near * (1.0 - 1e-12));
        violation(kind(found < near * (1.0 - 1e-9), kinds), &code, what, &assertion)
    });
    outcome
}

/// `1 - (1-δ)^k (1 - Σ_l C(k,l) max(0, e^{(k-l) ε₀} - e^{ε + l ε₀}) / (1 + e^{ε₀})^k)`.
fn composed(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("optimal composition", ""));
    let count = rng.random_range(1..=8_u64);
    let (e, d) = (pick(rng, &[0.5, 1.0, 0.1, 1e-3, 3.0, 20.0]) * (1.0 + rng.random::<f64>()), delta(rng));
    let total = e * count as f64;
    let at = match rng.random_range(0..3) {
        0 => total * (1.0 - log_uniform(rng, 1e-15, 1e-3)),
        1 => total * rng.random::<f64>(),
        _ => pick(rng, &[0.0, 0.1, 1.0]),
    };
    let Ok(release) = ApproxDp::new(e, d) else { return outcome };
    let Ok(found) = composition::optimal_delta(release, count, at) else { return outcome };
    let found = *found.value();
    let one = exact(1.0);
    let ([low, high], [_, beyond]) = (series::exp(&exact(e)), series::exp(&exact(at)));
    let power = |x: &Quotient, k: u64| (0..k).fold(one.clone(), |product, _| product.times(x));
    let (mut sum, mut binomial) = (Quotient::zero(), BigInt::from(1));
    for l in 0..=count {
        let term = power(&low, count - l).minus(&beyond.times(&power(&high, l)));
        if term.compare(0.0) == Ordering::Greater {
            sum = sum.plus(&Quotient::new(binomial.clone(), BigInt::from(1)).times(&term));
        }
        binomial = binomial * (count - l) / (l + 1);
    }
    let excess = sum.by(&power(&one.plus(&high), count));
    let survival = power(&one.minus(&exact(d)), count);
    let truth = one.minus(&survival.times(&one.minus(&excess)));
    outcome.check(truth.compare(found) != Ordering::Greater, || {
        let code = format!(
            "use ndp_dp::{{ApproxDp, composition::optimal_delta}};\n\
             let release = ApproxDp::new({}, {d:?})?;\nlet delta = optimal_delta(release, {count}, {})?;",
            literal(e),
            literal(at)
        );
        let near = truth.to_f64();
        let kinds = ["optimal delta below the truth by rounding", "optimal delta below the truth"];
        let what = format!("{count} times ({e:?}, {d:e}) at {at:?}: {found:e}, true {near:e}");
        let assertion = format!("assert!(*delta.value() >= {:?});", truth.below());
        violation(kind(found < near * (1.0 - 1e-9), kinds), &code, what, &assertion)
    });
    outcome
}
