//! Conversions between notions of privacy, losses that add up, and releases without Gaussian noise.

use super::{above, exact, holds, integer, mu_and_epsilon, power};
use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::{gaussian, series};
use crate::part::{Outcome, Stratum};
use ndp_dp::{Gdp, Laplace, Mechanism, Order, RandomizedResponse, Rdp, Sensitivity, Zcdp, conversion};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

/// `δ e^((α-1)(ε-ρ)) >= (α-1)^(α-1) / α^α` at whole orders, unless total variation gives a smaller `δ`; the
/// best `δ` of a Gaussian curve is not below the profile.
pub(super) fn converted(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("conversion", ""));
    let alpha = pick(rng, &[2, 3, 4, 7, 16, 60, 1000_u64]);
    let rho = pick(rng, &[0.0, 1e-9, 0.5, 3.0]) * (1.0 + rng.random::<f64>());
    let beyond = log_uniform(rng, 1e-9, 200.0);
    let epsilon = pick(rng, &[rho, 0.0, 57.7, rho + beyond, rho + beyond]);
    if let Ok(order) = Order::new(alpha as f64) {
        let found = Rdp { order, epsilon: rho }.delta(epsilon).map_or(f64::NAN, |x| *x.value());
        let code = format!(
            "use ndp_dp::{{Mechanism, Order, Rdp}};\nlet delta = *Rdp {{ order: Order::new({alpha}.0)?, epsilon: {} }}.delta({})?.value();",
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
            // The library may return the bound by total variation instead, whose square is at most 1 -
            // e^(-ρ). A result that large needs no check.
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
        "use ndp_dp::{{Gdp, Mechanism, conversion}};\nlet gdp = Gdp::new({})?;\nlet delta = conversion::best_delta(|order| gdp.rdp(order).into(), {})?.value().approx_dp.delta();",
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
pub(super) fn concentrated(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("concentrated", ""));
    let drawn = [(); 2].map(|()| log_uniform(rng, 1e-170, 1e150));
    let moderate = [(); 2].map(|()| log_uniform(rng, 1e-6, 1e3));
    let [x, y] = if rng.random_range(0..3) == 0 { drawn } else { moderate };
    let few = rng.random_range(1..1000);
    let count = pick(rng, &[few, few, (1 << 53) + 1, u64::MAX]);
    let pair = format!("({}, {})", literal(x), literal(y));
    let code = format!("use ndp_dp::{{Gdp, Mechanism, Order, Zcdp}};\nlet (x, y) = {pair};");
    let kinds = [
        "concentrated or Gaussian parameter below the truth by rounding",
        "concentrated or Gaussian parameter below the truth",
    ];
    let square = |x: f64| exact(x).times(&exact(x));
    if let (Ok(a), Ok(b), Ok(pure)) = (Zcdp::new(x), Zcdp::new(y), Zcdp::from_pure(x)) {
        above(
            &mut outcome,
            kinds,
            (&code, "(Zcdp::new(x)? + Zcdp::new(y)?).rho()"),
            (a + b).rho(),
            &exact(x).plus(&exact(y)),
        );
        let call = format!("(Zcdp::new(x)? * {count}).rho()");
        above(&mut outcome, kinds, (&code, &call), (a * count).rho(), &exact(x).times(&integer(count)));
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
            ((a + b).mu(), square(x).plus(&square(y)), "(Gdp::new(x)? + Gdp::new(y)?).mu()".to_owned()),
            ((a * count).mu(), square(x).times(&integer(count)), format!("(Gdp::new(x)? * {count}).mu()")),
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
            (&code, "Zcdp::from(Gdp::new(x)?).rho()"),
            Zcdp::from(a).rho(),
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
pub(super) fn responses(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("responses", ""));
    let one = exact(1.0);
    let (moved, scale) = (log_uniform(rng, 1e-6, 1e3), log_uniform(rng, 1e-3, 1e6));
    let share = pick(rng, &[0.0, 0.5, 0.999, 1.0 - 1e-12]);
    if let Ok(laplace) = Sensitivity::new(moved).and_then(|moved| Laplace::new(moved, scale)) {
        let pure = exact(moved).by(&exact(scale));
        let epsilon = pure.to_f64() * share;
        let code = format!(
            "use ndp_dp::{{Laplace, Mechanism, Sensitivity}};\nlet laplace = Laplace::new(Sensitivity::new({})?, {})?;",
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
        let local = *response.pure_epsilon().value();
        let code = format!(
            "use ndp_dp::Mechanism;\nlet response = ndp_dp::RandomizedResponse::new({labels}, {})?;",
            literal(gamma)
        );
        let fine = series::exp(&exact(local))[1].times(&wrong).cmp(&right) != Ordering::Less;
        holds(
            &mut outcome,
            "epsilon of randomized response below the truth",
            &code,
            &format!("assert!(*response.pure_epsilon().value() > {});", literal(local)),
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
