//! Functions of one mechanism over their whole range: Gaussian, Laplace and randomized response, federated descent, zCDP.

use super::losses::Case;
use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::rational::Quotient;
use crate::oracle::{gaussian, series};
use crate::part::{Outcome, Part, Stratum};
use ndp_dp::federated::{ContractionFactor, FederatedRun, Parameters};
use ndp_dp::iteration::NoisyStep;
use ndp_dp::subsampling::PoissonGaussian;
use ndp_dp::{
    Delta, Gaussian, Gdp, Laplace, Mechanism, Order, RandomizedResponse, Sensitivity, Sigma, Zcdp, conversion,
};
use num_bigint::BigInt;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

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

/// Checks that `truth` is not above what is `found`; `kinds` are those of an error of rounding, and of more.
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

/// Checks something that is no comparison of two numbers.
fn holds(outcome: &mut Outcome, kind: &'static str, code: &str, assertion: &str, what: String, holds: bool) {
    outcome.check(holds, || {
        let case = Case { size: [code.len() as u64, 0, 0], code };
        case.violation(kind, format!("{what}; {code}"), assertion)
    });
}

/// Within 1e-9 of the truth, which `Exact` promises; values that underflow are rounded up to the least normal numbers.
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
        // Some deviations away.
        _ => mu * log_uniform(rng, 1e-3, 15.0),
    };
    (mu, epsilon)
}

/// `δ` of the Gaussian profile.
fn profile(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("Gaussian", "profile"));
    let (mu, epsilon) = mu_and_epsilon(rng);
    let Some([low, high]) = gaussian::profile(&exact(epsilon), &exact(mu)) else { return outcome };
    let found = ndp_dp::gaussian::delta(epsilon, mu).map_or(f64::NAN, |x| *x.value());
    let code = format!(
        "use ndp_dp::gaussian;\nlet delta = *gaussian::delta({}, {})?.value();",
        literal(epsilon),
        literal(mu)
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

/// `ε` and `μ` of the Gaussian profile: the true `δ` there is not above what was asked for.
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
        "let epsilon = ndp_dp::gaussian::epsilon({}, ndp_dp::Delta::new({})?)?;",
        literal(mu),
        literal(delta)
    );
    let found = ndp_dp::gaussian::epsilon(mu, target).map_or(f64::NAN, |x| *x.value());
    met(found, mu, &code, "Gaussian epsilon below the truth", Some("exact Gaussian epsilon above the truth"));
    let code = format!(
        "let mu = ndp_dp::Gdp::within({}, ndp_dp::Delta::new({})?)?;",
        literal(epsilon),
        literal(delta)
    );
    if let Ok(within) = Gdp::within(epsilon, target) {
        met(epsilon, within.mu(), &code, "Gaussian parameter above its budget", None);
    }
    // What is converted from concentration or moments holds for the Gaussian mechanism, too.
    if let Ok(gdp) = Gdp::new(mu) {
        let zcdp = gdp.to_zcdp().into_value();
        let code = format!("let zcdp = ndp_dp::Gdp::new({})?.to_zcdp().into_value();", literal(mu));
        met(*zcdp.closed_epsilon(target).value(), mu, &code, "closed epsilon of zCDP below the truth", None);
        met(zcdp.to_approx_dp(target).value().epsilon(), mu, &code, "epsilon of zCDP below the truth", None);
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
    // The moments of the same: 2 α L² / (σ² g).
    let alpha = 1.0 + log_uniform(rng, 1e-15, 1e6);
    if let Ok(order) = Order::new(alpha) {
        let found = step.rdp_after(order, steps).map_or(f64::NAN, |x| *x.value());
        let truth = square.times(&exact(alpha)).by(&integer(steps)).over(2);
        let call = format!("*step.rdp_after(ndp_dp::Order::new({})?, {steps})?.value()", literal(alpha));
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

/// `e^((α-1) D) >= Σ C(α,k) (1-q)^(α-k) q^k e^(k(k-1) μ²/2)` at a whole order; at others `D` is not below that of the
/// whole order before.
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
    // Beyond e^709 the words have no number.
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

/// What releasing every model costs: the profile at `2L/(√m σ)`, with batches that are squares.
fn federated(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("federated", ""));
    let root = rng.random_range(1..=6_u64);
    let batch = root * root;
    let users = batch * rng.random_range(1..=20) + rng.random_range(0..batch);
    let sigma = log_uniform(rng, 0.05, 100.0);
    let parameters = Parameters { users, batch, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma };
    let Ok(run) = ContractionFactor::new(1.0).and_then(|factor| FederatedRun::new(parameters, factor)) else {
        return outcome;
    };
    let mu = exact(2.0).by(&exact(sigma).times(&integer(root)));
    let deviations = log_uniform(rng, 1e-3, 60.0);
    let epsilon = pick(rng, &[0.0, mu.to_f64() * deviations, mu.to_f64() * deviations]);
    let code = format!(
        "use ndp_dp::federated::{{ContractionFactor, FederatedRun, Parameters}};\n\
         let parameters = Parameters {{ users: {users}, batch: {batch}, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: {} }};\n\
         let run = FederatedRun::new(parameters, ContractionFactor::new(1.0)?)?;",
        literal(sigma)
    );
    let found = run.all_models_delta(epsilon).map_or(f64::NAN, |x| *x.value());
    let call = format!("*run.all_models_delta({})?.value()", literal(epsilon));
    let Some([low, high]) = gaussian::profile(&exact(epsilon), &mu) else {
        // Noise has no bounds: some loss is always possible.
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
    // With one round nothing is hidden but who takes part.
    if users / batch == 1 {
        let share = Quotient::new(BigInt::from(batch), BigInt::from(users));
        for (found, name) in [(run.delta(epsilon), "delta"), (run.theorem2_delta(epsilon), "theorem2_delta")]
        {
            let found = found.map_or(f64::NAN, |x| *x.value());
            let call = format!("*run.{name}({})?.value()", literal(epsilon));
            let kinds = ["federated delta below the truth by rounding", "federated delta below the truth"];
            above(&mut outcome, kinds, (&code, &call), found, &low.times(&share));
        }
    }
    outcome
}

/// `δ e^((α-1)(ε-ρ)) >= (α-1)^(α-1) / α^α` at whole orders, unless total variation gives less; the best `δ` of a Gaussian curve is not below the profile.
fn converted(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("conversion", ""));
    let alpha = pick(rng, &[2, 3, 4, 7, 16, 60, 1000_u64]);
    let rho = pick(rng, &[0.0, 1e-9, 0.5, 3.0]) * (1.0 + rng.random::<f64>());
    let beyond = log_uniform(rng, 1e-9, 200.0);
    let epsilon = pick(rng, &[rho, 0.0, 57.7, rho + beyond, rho + beyond]);
    if let Ok(order) = Order::new(alpha as f64) {
        let found = conversion::optimal_delta(rho, order, epsilon).map_or(f64::NAN, |x| *x.value());
        let code = format!(
            "use ndp_dp::{{Order, conversion}};\nlet delta = *conversion::optimal_delta({}, Order::new({alpha}.0)?, {})?.value();",
            literal(rho),
            literal(epsilon)
        );
        let exponent = integer(alpha - 1).times(&exact(epsilon).minus(&exact(rho)));
        if rho > 0.0 && exponent.to_f64() > 1900.0 {
            holds(
                &mut outcome,
                "delta of 0",
                &code,
                "assert!(delta > 0.0);",
                format!("{found:e}, true positive"),
                found > 0.0,
            );
        } else if exponent.compare(0.0) != Ordering::Less
            && exponent.compare(1900.0) != Ordering::Greater
            && alpha <= 60
        {
            let least = power(&integer(alpha - 1), alpha - 1).by(&power(&integer(alpha), alpha));
            let truth = least.by(&series::exp(&exponent)[1]);
            // Or total variation alone, whose square is at most 1 - e^(-ρ).
            let square = exact(found).times(&exact(found));
            let by_variation = exact(1.0).minus(&square).times(&series::exp(&exact(rho))[0]);
            let truth = if by_variation.compare(1.0) == Ordering::Greater { truth } else { exact(0.0) };
            let kinds =
                ["optimal conversion below the truth by rounding", "optimal conversion below the truth"];
            above(&mut outcome, kinds, (&code, "delta"), found, &truth);
        }
    }
    let (mu, epsilon) = mu_and_epsilon(rng);
    let epsilon = pick(rng, &[epsilon, epsilon * 30.0]);
    let Ok(gdp) = Gdp::new(mu) else { return outcome };
    let found = conversion::best_delta(|order| gdp.rdp(order).into(), epsilon)
        .map_or(f64::NAN, |x| x.value().approx_dp.delta());
    let code = format!(
        "use ndp_dp::{{Gdp, conversion}};\nlet gdp = Gdp::new({})?;\nlet delta = conversion::best_delta(|order| gdp.rdp(order).into(), {})?.value().approx_dp.delta();",
        literal(mu),
        literal(epsilon)
    );
    holds(
        &mut outcome,
        "best delta of 0",
        &code,
        "assert!(delta > 0.0);",
        format!("{found:e}, true positive"),
        found > 0.0,
    );
    if let Some([low, _]) = gaussian::profile(&exact(epsilon), &exact(mu)) {
        let kinds =
            ["best delta below the Gaussian profile by rounding", "best delta below the Gaussian profile"];
        above(&mut outcome, kinds, (&code, "delta"), found, &low);
    }
    outcome
}

/// Sums, products and squares, rounded outward.
fn concentrated(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("concentrated", ""));
    let drawn = [(); 2].map(|()| log_uniform(rng, 1e-170, 1e150));
    let moderate = [(); 2].map(|()| log_uniform(rng, 1e-6, 1e3));
    let [x, y] = if rng.random_range(0..3) == 0 { drawn } else { moderate };
    let few = rng.random_range(1..1000);
    let count = pick(rng, &[few, few, (1 << 53) + 1, u64::MAX]);
    let pair = format!("({}, {})", literal(x), literal(y));
    let code = format!("use ndp_dp::{{Gdp, Order, Zcdp}};\nlet (x, y) = {pair};");
    let kinds = [
        "concentrated or Gaussian parameter below the truth by rounding",
        "concentrated or Gaussian parameter below the truth",
    ];
    let square = |x: f64| exact(x).times(&exact(x));
    if let (Ok(a), Ok(b), Ok(pure)) = (Zcdp::new(x), Zcdp::new(y), Zcdp::from_pure(x)) {
        above(
            &mut outcome,
            kinds,
            (&code, "Zcdp::new(x)?.compose(Zcdp::new(y)?).rho()"),
            a.compose(b).rho(),
            &exact(x).plus(&exact(y)),
        );
        let call = format!("Zcdp::new(x)?.repeat({count}).rho()");
        above(&mut outcome, kinds, (&code, &call), a.repeat(count).rho(), &exact(x).times(&integer(count)));
        above(
            &mut outcome,
            kinds,
            (&code, "Zcdp::from_pure(x)?.value().rho()"),
            pure.value().rho(),
            &square(x).over(2),
        );
    }
    if let (Ok(a), Ok(b)) = (Gdp::new(x), Gdp::new(y)) {
        let kind = "composed Gaussian parameter below the truth";
        for (found, truth, call) in [
            (
                a.compose(b).mu(),
                square(x).plus(&square(y)),
                "Gdp::new(x)?.compose(Gdp::new(y)?).mu()".to_owned(),
            ),
            (
                a.repeat(count).mu(),
                square(x).times(&integer(count)),
                format!("Gdp::new(x)?.repeat({count}).mu()"),
            ),
        ] {
            let fine = found.is_infinite() || square(found).cmp(&truth) != Ordering::Less;
            holds(
                &mut outcome,
                kind,
                &code,
                &format!("assert!({call} > {});", literal(found)),
                format!("{call}: {found:e}"),
                fine,
            );
        }
        above(
            &mut outcome,
            kinds,
            (&code, "Gdp::new(x)?.to_zcdp().value().rho()"),
            a.to_zcdp().value().rho(),
            &square(x).over(2),
        );
        let alpha = 1.0 + log_uniform(rng, 1e-15, 1e12);
        if let Ok(order) = Order::new(alpha) {
            let call = format!("*Gdp::new(x)?.rdp(Order::new({})?).value()", literal(alpha));
            above(
                &mut outcome,
                kinds,
                (&code, &call),
                *a.rdp(order).value(),
                &square(x).times(&exact(alpha)).over(2),
            );
        }
    }
    outcome
}

/// Laplace: `(1 - δ)² e^(ε₀ - ε) <= 1`. Randomized response: `δ >= p - e^ε q`.
fn responses(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("responses", ""));
    let one = exact(1.0);
    let (moved, scale) = (log_uniform(rng, 1e-6, 1e3), log_uniform(rng, 1e-3, 1e6));
    let share = pick(rng, &[0.0, 0.5, 0.999, 1.0 - 1e-12]);
    if let Ok(laplace) = Sensitivity::new(moved).and_then(|moved| Laplace::new(moved, scale)) {
        let pure = exact(moved).by(&exact(scale));
        let epsilon = pure.to_f64() * share;
        let code = format!(
            "use ndp_dp::{{Laplace, Sensitivity}};\nlet laplace = Laplace::new(Sensitivity::new({})?, {})?;",
            literal(moved),
            literal(scale)
        );
        let kinds = [
            "epsilon of Laplace noise below the truth by rounding",
            "epsilon of Laplace noise below the truth",
        ];
        above(
            &mut outcome,
            kinds,
            (&code, "*laplace.pure_epsilon().value()"),
            *laplace.pure_epsilon().value(),
            &pure,
        );
        let gap = pure.minus(&exact(epsilon));
        if gap.compare(0.0) != Ordering::Less && gap.compare(1900.0) != Ordering::Greater {
            let found = laplace.delta(epsilon).map_or(f64::NAN, |x| *x.value());
            let rest = one.minus(&exact(found));
            let shown = rest.times(&rest).times(&series::exp(&gap)[0]);
            let fine = found >= 1.0 || shown.compare(1.0) != Ordering::Greater;
            let what =
                format!("delta at {epsilon:e}: {found:e}, true {:e}", -libm::expm1(-gap.to_f64() / 2.0));
            holds(
                &mut outcome,
                "delta of Laplace noise below the truth",
                &code,
                &format!("assert!(*laplace.delta({})?.value() > {});", literal(epsilon), literal(found)),
                what,
                fine,
            );
        }
    }
    let labels = pick(rng, &[2, 3, 10, 1 << 20, u32::MAX]);
    let drawn: f64 = rng.random();
    let gamma = pick(rng, &[drawn, drawn, 1e-9, 1.0 - 1e-9, 0.25]);
    if let Ok(response) = RandomizedResponse::new(labels, gamma) {
        let wrong = exact(gamma).by(&exact(f64::from(labels)));
        let right = one.minus(&exact(gamma)).plus(&wrong);
        let local = *response.local_epsilon().value();
        let code = format!("let response = ndp_dp::RandomizedResponse::new({labels}, {})?;", literal(gamma));
        let fine = series::exp(&exact(local))[1].times(&wrong).cmp(&right) != Ordering::Less;
        holds(
            &mut outcome,
            "epsilon of randomized response below the truth",
            &code,
            &format!("assert!(*response.local_epsilon().value() > {});", literal(local)),
            format!("local epsilon {local:e}"),
            fine,
        );
        let epsilon = local * share;
        let found = response.delta(epsilon).map_or(f64::NAN, |x| *x.value());
        let truth = right.minus(&series::exp(&exact(epsilon))[1].times(&wrong));
        let call = format!("*response.delta({})?.value()", literal(epsilon));
        let kinds = [
            "delta of randomized response below the truth by rounding",
            "delta of randomized response below the truth",
        ];
        above(&mut outcome, kinds, (&code, &call), found, &truth);
    }
    outcome
}
