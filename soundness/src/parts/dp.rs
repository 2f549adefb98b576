//! Functions of one mechanism over their whole range: Gaussian, Laplace and randomized response, federated
//! descent, zCDP.

use super::losses::Case;
use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::rational::Quotient;
use crate::oracle::{gaussian, series};
use crate::part::{Outcome, Part, Stratum};
use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
use ndp_dp::iteration::NoisyStep;
use ndp_dp::subsampling::PoissonGaussian;
use ndp_dp::{Delta, Gaussian, Gdp, Measure, Mechanism, Order, Sensitivity, Sigma, Zcdp};
use num_bigint::BigInt;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

mod conversions;

use conversions::{concentrated, converted, responses};

pub(crate) struct Dp;

impl Part for Dp {
    fn name(&self) -> &'static str {
        "dp"
    }

    fn what(&self) -> &'static str {
        "functions of ndp-dp over their range; rationals, e^x to 800 bits, Gaussian tails to 600"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 8 {
            0 => profile(rng),
            1 => solved(rng),
            2 => after(rng),
            3 => sampled_gaussian(rng),
            4 => federated(rng),
            5 => converted(rng),
            6 => concentrated(rng),
            _ => responses(rng),
        }
    }

    fn short(&self) -> u64 {
        3000
    }
}

fn exact(x: f64) -> Quotient {
    Quotient::from_f64(x)
}

fn integer(x: u64) -> Quotient {
    Quotient::new(BigInt::from(x), BigInt::from(1))
}

fn power(x: &Quotient, k: u64) -> Quotient {
    (0..k).fold(exact(1.0), |product, _| product.times(x))
}

/// Checks that `truth` is not above `found`; `kinds` are those of a violation by rounding, and of a larger
/// one.
fn above(
    outcome: &mut Outcome,
    kinds: [&'static str; 2],
    (code, call): (&str, &str),
    found: f64,
    truth: &Quotient,
) {
    let holds = !found.is_nan() && truth.compare(found) != Ordering::Greater;
    outcome.check(holds, || {
        let near = truth.to_f64();
        let by_more = found.is_nan() || found < near * (1.0 - 1e-9);
        let case = Case { size: [code.len() as u64, call.len() as u64, 0], code };
        let assertion = format!("assert!({call} >= {});", literal(truth.below()));
        case.violation(
            kinds[usize::from(by_more)],
            format!("{call}: {found:e}, true {near:e}; {code}"),
            &assertion,
        )
    });
}

/// Checks something other than a comparison of two numbers.
fn holds(outcome: &mut Outcome, kind: &'static str, code: &str, assertion: &str, what: String, holds: bool) {
    outcome.check(holds, || {
        let case = Case { size: [code.len() as u64, 0, 0], code };
        case.violation(kind, format!("{what}; {code}"), assertion)
    });
}

/// Checks that the number is within 1e-9 of the truth, as `Exact` promises; values that underflow are rounded
/// up to the least normal numbers.
fn close(outcome: &mut Outcome, (code, call): (&str, &str), found: f64, truth: &Quotient) {
    let near = truth.to_f64();
    let fine = found <= near * (1.0 + 1e-9) + 1e-300;
    let assertion = format!("assert!({call} <= {});", literal(near * (1.0 + 1e-9)));
    holds(
        outcome,
        "exact value above the truth",
        code,
        &assertion,
        format!("{call}: {found:e}, true {near:e}"),
        fine,
    );
}

fn mu_and_epsilon(rng: &mut ChaCha8Rng) -> (f64, f64) {
    let mu = match rng.random_range(0..3) {
        0 => pick(rng, &[1.0, 0.5, 1e-3, 1e-9, 1e-100, 1e-300, 5e-324, 8.0]),
        _ => log_uniform(rng, 1e-8, 12.0),
    };
    let epsilon = match rng.random_range(0..4) {
        0 => pick(rng, &[0.0, 1.0, 1e-9, 1e-300, 10.0]),
        1 => log_uniform(rng, 1e-9, 15.0),
        // A few standard deviations away.
        _ => mu * log_uniform(rng, 1e-3, 15.0),
    };
    (mu, epsilon)
}

/// `δ` of the Gaussian profile.
fn profile(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("Gaussian", "profile"));
    let (mu, epsilon) = mu_and_epsilon(rng);
    let Some([low, high]) = gaussian::profile(&exact(epsilon), &exact(mu)) else { return outcome };
    let found = Gdp::new(mu).and_then(|gdp| gdp.delta(epsilon)).map_or(f64::NAN, |x| *x.value());
    let code = format!(
        "use ndp_dp::{{Gdp, Mechanism}};\nlet delta = *Gdp::new({})?.delta({})?.value();",
        literal(mu),
        literal(epsilon)
    );
    above(
        &mut outcome,
        ["Gaussian delta below the truth by rounding", "Gaussian delta below the truth"],
        (&code, "delta"),
        found,
        &low,
    );
    close(&mut outcome, (&code, "delta"), found, &high);
    outcome
}

/// `ε` and `μ` solved from the Gaussian profile: the true `δ` at the result is not above the requested one.
fn solved(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("Gaussian", "solved"));
    let (mu, epsilon) = mu_and_epsilon(rng);
    let delta = log_uniform(rng, 1e-60, 0.9);
    let Ok(target) = Delta::new(delta) else { return outcome };
    let mut met =
        |epsilon: f64, mu: f64, code: &str, kind: &'static str, exact_kind: Option<&'static str>| {
            if !epsilon.is_finite() || mu == 0.0 {
                return;
            }
            if let Some([low, _]) = gaussian::profile(&exact(epsilon), &exact(mu)) {
                let what = format!(
                    "the true delta at {epsilon:e} and mu {mu:e} is {:e}, asked {delta:e}",
                    low.to_f64()
                );
                holds(
                    &mut outcome,
                    kind,
                    code,
                    "// The profile there is above.",
                    what,
                    low.compare(delta) != Ordering::Greater,
                );
            }
            let smaller = epsilon * (1.0 - 1e-8) - 1e-300;
            if let (Some(kind), true) = (exact_kind, smaller > 0.0)
                && let Some([low, _]) = gaussian::profile(&exact(smaller), &exact(mu))
            {
                let what = format!("epsilon {epsilon:e} at mu {mu:e} and {delta:e}; less is enough");
                let met = low.compare(delta) == Ordering::Less;
                holds(&mut outcome, kind, code, "// Less is enough.", what, !met);
            }
        };
    let code = format!(
        "use ndp_dp::{{Gdp, Mechanism}};\nlet epsilon = Gdp::new({})?.epsilon(ndp_dp::Delta::new({})?);",
        literal(mu),
        literal(delta)
    );
    let found = Gdp::new(mu).map_or(f64::NAN, |gdp| *gdp.epsilon(target).value());
    met(found, mu, &code, "Gaussian epsilon below the truth", Some("exact Gaussian epsilon above the truth"));
    let code = format!(
        "let mu = ndp_dp::Measure::Approx(ndp_dp::Delta::new({})?).largest_mu({})?;",
        literal(delta),
        literal(epsilon)
    );
    if let Ok(within) = Measure::Approx(target).largest_mu(epsilon) {
        met(epsilon, within.mu(), &code, "Gaussian parameter above its budget", None);
    }
    // Bounds converted from concentration or moments must hold for the Gaussian mechanism, too.
    if let Ok(gdp) = Gdp::new(mu) {
        let zcdp = Zcdp::from(gdp);
        let code = format!("let zcdp = ndp_dp::Zcdp::from(ndp_dp::Gdp::new({})?);", literal(mu));
        met(*zcdp.epsilon(target).value(), mu, &code, "epsilon of zCDP below the truth", None);
    }
    outcome
}

/// `μ² M^(-2i) summed over i < g` is not below `(2L/σ)²`.
fn after(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("iteration", ""));
    let (lipschitz, sigma) = (log_uniform(rng, 1e-3, 1e3), log_uniform(rng, 1e-3, 1e3));
    let (Ok(scale), convex) = (Sigma::new(sigma), rng.random_range(0..3) == 0) else { return outcome };
    let Ok(step) = NoisyStep::new(lipschitz, scale) else { return outcome };
    let drawn: f64 = rng.random();
    let factor = if convex {
        1.0
    } else {
        pick(rng, &[drawn, 1.0 - 1e-9 * drawn, 1.0_f64.next_down(), 1e-3, 0.5, 0.99])
    };
    let few = rng.random_range(1..=12);
    let steps: u64 =
        if convex { pick(rng, &[few, few, 1000, 1 << 53, (1 << 53) + 1, u64::MAX]) } else { few };
    let Ok(contraction) = ContractionFactor::new(factor) else { return outcome };
    let moved = exact(2.0 * lipschitz).by(&exact(sigma));
    let square = moved.times(&moved);
    let code = format!(
        "use ndp_dp::{{Sigma, federated::ContractionFactor, iteration::NoisyStep}};\n\
         let step = NoisyStep::new({}, Sigma::new({})?)?;\nlet factor = ContractionFactor::new({})?;",
        literal(lipschitz),
        literal(sigma),
        literal(factor)
    );
    let found = step.mu_after(steps, contraction).map_or(f64::NAN, |x| x.value().mu());
    let weights = if convex {
        integer(steps)
    } else {
        let inverse = exact(1.0).by(&exact(factor).times(&exact(factor)));
        (0..steps).fold(Quotient::zero(), |sum, i| sum.plus(&power(&inverse, i)))
    };
    let least = square.by(&weights);
    let shown = exact(found).times(&exact(found));
    let what = format!("mu_after({steps}): {found:e}, true {:e}", least.to_f64().sqrt());
    let fine = shown.cmp(&least) != Ordering::Less;
    holds(
        &mut outcome,
        "mu after further steps below the truth",
        &code,
        &format!("assert!(step.mu_after({steps}, factor)?.value().mu() > {});", literal(found)),
        what,
        fine,
    );
    // The Rényi loss of the same release: 2 α L² / (σ² g).
    let alpha = 1.0 + log_uniform(rng, 1e-15, 1e6);
    if let Ok(order) = Order::new(alpha) {
        let found = ContractionFactor::new(1.0).and_then(|convex| step.mu_after(steps, convex));
        let found = found.map_or(f64::NAN, |mu| *mu.value().rdp(order).value());
        let truth = square.times(&exact(alpha)).by(&integer(steps)).over(2);
        let call = format!(
            "*ndp_dp::Mechanism::rdp(step.mu_after({steps}, ContractionFactor::new(1.0)?)?.value(), ndp_dp::Order::new({})?).value()",
            literal(alpha)
        );
        above(
            &mut outcome,
            [
                "loss after further steps below the truth by rounding",
                "loss after further steps below the truth",
            ],
            (&code, &call),
            found,
            &truth,
        );
    }
    outcome
}

/// `e^((α-1) D) >= Σ C(α,k) (1-q)^(α-k) q^k e^(k(k-1) μ²/2)` at a whole order; at any other order `D` is not
/// below that of the next smaller whole order.
fn sampled_gaussian(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("sampled Gaussian", ""));
    let alpha = rng.random_range(2..=16_u64);
    let drawn = rng.random();
    let rate = pick(rng, &[drawn, drawn, 0.01, 1e-9, 1e-100, 1.0_f64.next_down()]);
    let sigma = log_uniform(rng, 0.3, 1e4);
    let between = pick(rng, &[0.0, 0.0, 1e-9, 0.5]);
    let order = alpha as f64 + between;
    let (Ok(sensitivity), Ok(scale), Ok(order)) =
        (Sensitivity::new(1.0), Sigma::new(sigma), Order::new(order))
    else {
        return outcome;
    };
    let Ok(mechanism) = PoissonGaussian::new(Gaussian { sensitivity, sigma: scale }, rate) else {
        return outcome;
    };
    let found = mechanism.rdp(order).into_value();
    let one = exact(1.0);
    let half = one.by(&exact(sigma).times(&exact(sigma))).over(2);
    let (here, rest) = (exact(rate), one.minus(&exact(rate)));
    let (mut truth, mut binomial) = (Quotient::zero(), BigInt::from(1));
    for k in 0..=alpha {
        let weight = Quotient::new(binomial.clone(), BigInt::from(1))
            .times(&power(&rest, alpha - k))
            .times(&power(&here, k));
        truth = truth.plus(&weight.times(&series::exp(&half.times(&integer(k * k.saturating_sub(1))))[0]));
        binomial = binomial * (alpha - k) / (k + 1);
    }
    let code = format!(
        "use ndp_dp::{{Gaussian, Mechanism, Order, Sensitivity, Sigma, subsampling::PoissonGaussian}};\n\
         let gaussian = Gaussian {{ sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new({})? }};\n\
         let loss = PoissonGaussian::new(gaussian, {})?.rdp(Order::new({})?).into_value();",
        literal(sigma),
        literal(rate),
        literal(order.get())
    );
    let shown = &series::exp(&exact(found).times(&integer(alpha - 1)))[1];
    let near = libm::log1p(truth.minus(&one).to_f64()) / (alpha - 1) as f64;
    // Beyond e^709 the text cannot show the number.
    let kind = if near.is_infinite() || found >= near * (1.0 - 1e-9) {
        "sampled Gaussian below the truth by rounding"
    } else {
        "sampled Gaussian below the truth"
    };
    holds(
        &mut outcome,
        kind,
        &code,
        &format!("assert!(loss > {});", literal(found)),
        format!("{found:e}, true about {near:e}"),
        shown.cmp(&truth) != Ordering::Less,
    );
    outcome
}

/// The loss when every model is released: the profile at `2L/(√m σ)`, with batch sizes that are squares.
fn federated(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("federated", ""));
    let root = rng.random_range(1..=6_u64);
    let batch = root * root;
    let users = batch * rng.random_range(1..=20) + rng.random_range(0..batch);
    let sigma = log_uniform(rng, 0.05, 100.0);
    let parameters = FederatedParameters { users, batch, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma };
    let Ok(run) = ContractionFactor::new(1.0).and_then(|factor| FederatedDescent::new(parameters, factor))
    else {
        return outcome;
    };
    let mu = exact(2.0).by(&exact(sigma).times(&integer(root)));
    let deviations = log_uniform(rng, 1e-3, 60.0);
    let epsilon = pick(rng, &[0.0, mu.to_f64() * deviations, mu.to_f64() * deviations]);
    let code = format!(
        "use ndp_dp::federated::{{ContractionFactor, FederatedDescent, FederatedParameters}};\n\
         let parameters = FederatedParameters {{ users: {users}, batch: {batch}, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: {} }};\n\
         let run = FederatedDescent::new(parameters, ContractionFactor::new(1.0)?)?;",
        literal(sigma)
    );
    let found = run.all_models_delta(epsilon).map_or(f64::NAN, |x| *x.value());
    let call = format!("*run.all_models_delta({})?.value()", literal(epsilon));
    let Some([low, high]) = gaussian::profile(&exact(epsilon), &mu) else {
        // Gaussian noise never makes `δ` zero.
        holds(
            &mut outcome,
            "delta of all models of 0",
            &code,
            &format!("assert!({call} > 0.0);"),
            format!("{call}: {found:e}"),
            found > 0.0,
        );
        return outcome;
    };
    let kinds = ["delta of all models below the truth by rounding", "delta of all models below the truth"];
    above(&mut outcome, kinds, (&code, &call), found, &low);
    close(&mut outcome, (&code, &call), found, &high);
    // With a single round, only who takes part is hidden.
    if users / batch == 1 {
        let share = Quotient::new(BigInt::from(batch), BigInt::from(users));
        for (found, name) in
            [(run.delta(epsilon), "delta"), (run.theorem2_delta(epsilon).map(Into::into), "theorem2_delta")]
        {
            let found = found.map_or(f64::NAN, |x| *x.value());
            let call = format!("*run.{name}({})?.value()", literal(epsilon));
            let kinds = ["federated delta below the truth by rounding", "federated delta below the truth"];
            above(&mut outcome, kinds, (&code, &call), found, &low.times(&share));
        }
    }
    outcome
}
