//! Compositions by the law of the privacy loss: the lower and the upper bound are compared with sums of
//! integers and with normal tails to hundreds of digits.

use super::losses::Case;
use crate::draw::numbers::{literal, log_uniform};
use crate::oracle::rational::Quotient;
use crate::oracle::{gaussian, series};
use crate::part::{Outcome, Part, Stratum};
use ndp_dp::loss_law::Direction;
use ndp_dp::{Delta, Gdp, LossLaw, Mechanism, Neighbors, RandomizedResponse};
use num_bigint::BigInt;
use num_traits::{One, Signed};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct Compositions;

impl Part for Compositions {
    fn name(&self) -> &'static str {
        "compositions"
    }

    fn what(&self) -> &'static str {
        "both ends of composed loss laws; finite pairs in rationals, answers to 10^4, normal releases to 600 bits"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 4 {
            0 => normal(rng),
            1 => answers(rng),
            _ => finite(rng),
        }
    }

    fn short(&self) -> u64 {
        60
    }
}

/// Lower and upper bounds of a true `δ`.
type Truth<'a> = &'a dyn Fn(f64) -> Option<[Quotient; 2]>;

/// Asks for `ε` and `δ`, and compares both ends with the truth.
fn compare(outcome: &mut Outcome, case: &Case<'_>, law: &LossLaw, rng: &mut ChaCha8Rng, truth: Truth<'_>) {
    let at = log_uniform(rng, 1e-12, 0.1);
    let Ok(target) = Delta::new(at) else { return };
    let found = law.epsilon(target);
    let (lower, upper) = (found.lower(), found.upper());
    let call = format!("law.epsilon(ndp_dp::Delta::new({})?)", literal(at));
    if upper.is_finite()
        && let Some([least, _]) = truth(upper)
    {
        outcome.check(least.compare(at) != Ordering::Greater, || {
            let what = format!("{call}: {found:?}, where the true delta is {:e}", least.to_f64());
            case.violation(
                "epsilon of a composition below the truth",
                what,
                &format!("assert!({call}.upper() > {});", literal(upper)),
            )
        });
    }
    if lower > 0.0
        && lower.is_finite()
        && let Some([_, most]) = truth(lower)
    {
        outcome.check(most.compare(at) != Ordering::Less, || {
            let what = format!("{call}: {found:?}, where the true delta is {:e}", most.to_f64());
            case.violation(
                "lower end of epsilon above the truth",
                what,
                &format!("assert!({call}.lower() < {});", literal(lower)),
            )
        });
    }
    let epsilon = if upper.is_finite() { upper * rng.random::<f64>() } else { 2.0 * rng.random::<f64>() };
    let (Ok(found), Some([least, most])) = (law.delta(epsilon), truth(epsilon)) else { return };
    let call = format!("law.delta({})?", literal(epsilon));
    outcome.check(least.compare(found.upper()) != Ordering::Greater, || {
        let what = format!("{call}: {found:?}, true {:e}", least.to_f64());
        case.violation(
            "delta of a composition below the truth",
            what,
            &format!("assert!({call}.upper() >= {});", literal(least.below())),
        )
    });
    outcome.check(most.compare(found.lower()) != Ordering::Less, || {
        let what = format!("{call}: {found:?}, true {:e}", most.to_f64());
        case.violation(
            "lower end of delta above the truth",
            what,
            &format!("assert!({call}.lower() <= {});", literal(most.to_f64().next_up())),
        )
    });
}

/// Checks the promised width where the law is smooth or has atoms on one grid.
fn narrow(outcome: &mut Outcome, case: &Case<'_>, law: &LossLaw, rng: &mut ChaCha8Rng) {
    let at = log_uniform(rng, 1e-12, 0.1);
    let Ok(target) = Delta::new(at) else { return };
    let found = law.epsilon(target);
    outcome.check(found.upper() - found.lower() <= 1.0001e-4, || {
        let call = format!("law.epsilon(ndp_dp::Delta::new({})?)", literal(at));
        let assertion = format!("let found = {call};\nassert!(found.upper() - found.lower() <= 1e-4);");
        case.violation("composition wider than promised", format!("{call}: {found:?}"), &assertion)
    });
}

/// Lower and upper bounds of `E (P − e^ε Q)₊` over weighted outcomes with a common denominator.
fn positive_part(outcomes: &[[BigInt; 2]], total: &BigInt, epsilon: f64) -> Option<[Quotient; 2]> {
    if !(0.0..=1900.0).contains(&epsilon) {
        return None;
    }
    let [low, high] = series::exp(&Quotient::from_f64(epsilon));
    // A larger power of e subtracts more, so the upper bound of the power gives the lower bound of the sum.
    Some([high, low].map(|power| {
        let sum: BigInt = outcomes
            .iter()
            .map(|[p, q]| p * power.denominator() - q * power.numerator())
            .filter(Signed::is_positive)
            .sum();
        Quotient::new(sum, total * power.denominator())
    }))
}

/// The probabilities, times `64^count`, of all multisets of `count` outcomes of one pair of laws in 64ths.
fn multisets(p: &[u32], q: &[u32], count: u32) -> Vec<[BigInt; 2]> {
    let mut all = Vec::new();
    let one = [BigInt::one(), BigInt::one()];
    fill(p, q, count, one, &mut all);
    all
}

fn fill(p: &[u32], q: &[u32], left: u32, so_far: [BigInt; 2], all: &mut Vec<[BigInt; 2]>) {
    let (Some((&first, p)), Some((&second, q))) = (p.split_first(), q.split_first()) else { return };
    let [mut a, mut b] = so_far;
    if p.is_empty() {
        all.push([a * BigInt::from(first).pow(left), b * BigInt::from(second).pow(left)]);
        return;
    }
    // C(left, k) p^k, where this outcome occurs k times.
    for k in 0..=left {
        fill(p, q, left - k, [a.clone(), b.clone()], all);
        a = a * first * (left - k) / (k + 1);
        b = b * second * (left - k) / (k + 1);
    }
}

/// Up to five finite pairs, in one direction or both.
fn finite(rng: &mut ChaCha8Rng) -> Outcome {
    let kinds = rng.random_range(1..=5_usize);
    let mut outcome = Outcome::new(Stratum::named("finite pairs", ["1", "2", "3", "4", "5"][kinds - 1]));
    let law = |rng: &mut ChaCha8Rng, outcomes: usize| -> Vec<u32> {
        let mut masses = vec![0; outcomes];
        for _ in 0..64 {
            masses[rng.random_range(0..outcomes)] += 1;
        }
        masses
    };
    let (mut parts, mut code, mut releases) = (Vec::new(), String::new(), 0);
    let (mut all, mut total) = (vec![[BigInt::one(), BigInt::one()]], BigInt::one());
    for _ in 0..kinds {
        let outcomes = rng.random_range(2..=3_usize);
        let (p, q) = (law(rng, outcomes), law(rng, outcomes));
        let most = [[200, 12, 5, 3, 2], [25, 6, 3, 2, 1]][outcomes - 2][kinds - 1];
        let count = rng.random_range(1..=most);
        let share = |masses: &[u32]| masses.iter().map(|&m| f64::from(m) / 64.0).collect::<Vec<f64>>();
        let (a, b) = (share(&p), share(&q));
        let Ok(part) = LossLaw::finite(&a, &b, Neighbors::ReplaceOne).and_then(|law| law.times(count.into()))
        else {
            return outcome;
        };
        code += &format!("LossLaw::finite(&{a:?}, &{b:?}, Neighbors::ReplaceOne)?.times({count})?, ");
        parts.push(part);
        releases += u64::from(count);
        let these = multisets(&p, &q, count);
        all = all.iter().flat_map(|[a, b]| these.iter().map(move |[p, q]| [a * p, b * q])).collect();
        total *= BigInt::from(64).pow(count);
    }
    let Ok(composed) = LossLaw::compose(&parts) else { return outcome };
    let back = rng.random_range(0..2) == 1;
    let direction = if back { Direction::Add } else { Direction::Remove };
    if back {
        all.iter_mut().for_each(|pair| pair.swap(0, 1));
    }
    let Ok(law) = composed.only(direction) else { return outcome };
    let code = format!(
        "use ndp_dp::{{LossLaw, Neighbors, loss_law::Direction}};\n\
         let law = LossLaw::compose(&[{code}])?.only(Direction::{direction:?})?;"
    );
    let case = Case { size: [releases, kinds as u64, 0], code: &code };
    compare(&mut outcome, &case, &law, rng, &|epsilon| positive_part(&all, &total, epsilon));
    outcome
}

/// Randomized responses with two labels, up to 10⁴ of them.
fn answers(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("answers of two labels", ""));
    let count = log_uniform(rng, 1.0, 10_000.9) as u32;
    let wanted = log_uniform(rng, 1e-4, 4.0).min(30.0 / f64::from(count).sqrt());
    let Ok(mechanism) = RandomizedResponse::with_epsilon(2, wanted) else { return outcome };
    let Ok(law) = LossLaw::randomized_response(mechanism).times(count.into()) else { return outcome };
    let wrong = Quotient::from_f64(mechanism.gamma() / 2.0);
    let (w, all) = (wrong.numerator().clone(), wrong.denominator().clone());
    let r = &all - &w;
    // P(k wrong answers), rounded down. The first is r^n, and each follows from the one before; every step
    // loses less than one unit, 2^-BITS.
    let bits = 2 * u64::from(count) + 400;
    let mut chances = vec![(BigInt::one() << bits) * r.pow(count.min(1)) / all.pow(count.min(1))];
    for _ in 1..count {
        let last = chances.pop().unwrap_or_default();
        chances.push(last * &r / &all);
    }
    for k in 0..count {
        let last = &chances[k as usize];
        let next = last * (count - k) * &w / (&r * (k + 1));
        chances.push(next);
    }
    let code = format!(
        "use ndp_dp::{{LossLaw, RandomizedResponse}};\n\
         let law = LossLaw::randomized_response(RandomizedResponse::with_epsilon(2, {})?).times({count})?;",
        literal(wanted)
    );
    let case = Case { size: [u64::from(count), 1, 0], code: &code };
    let reversed: Vec<[BigInt; 2]> =
        chances.iter().cloned().zip(chances.iter().rev().cloned()).map(|(p, q)| [p, q]).collect();
    let total = BigInt::one() << bits;
    // Rounding down changed P and e^ε Q by less than 2^-300 of their largest terms.
    let truth = |epsilon: f64| -> Option<[Quotient; 2]> {
        if epsilon > 200.0 {
            return None;
        }
        let [low, high] = positive_part(&reversed, &total, epsilon)?;
        let error = Quotient::new(BigInt::one(), BigInt::one() << 200u32);
        Some([low.minus(&error), high.plus(&error)])
    };
    compare(&mut outcome, &case, &law, rng, &truth);
    narrow(&mut outcome, &case, &law, rng);
    outcome
}

/// Up to five kinds of normal releases. The law is not told that they are normal; in truth the squares of `μ`
/// add up.
fn normal(rng: &mut ChaCha8Rng) -> Outcome {
    let kinds = rng.random_range(1..=5_usize);
    let mut outcome = Outcome::new(Stratum::named("normal releases", ["1", "2", "3", "4", "5"][kinds - 1]));
    let drawn: Vec<(f64, u64)> =
        (0..kinds).map(|_| (log_uniform(rng, 3e-3, 1.0), log_uniform(rng, 1.0, 10_000.9) as u64)).collect();
    let square: f64 = drawn.iter().map(|(mu, count)| mu * mu * *count as f64).sum();
    // Beyond, thousands of releases known to 12 digits cannot always be told apart to 1e-4: at a total of 5
    // and `δ` 4e-12 an answer near 46 was 2.3e-4 wide.
    let shrink = (4.5 / square.sqrt()).min(1.0);
    let parts: Vec<(f64, u64)> = drawn.into_iter().map(|(mu, count)| (mu * shrink, count)).collect();
    let (mut laws, mut code) = (Vec::new(), String::new());
    let mut exact = Quotient::zero();
    for &(mu, count) in &parts {
        let profile =
            move |epsilon: f64| Gdp::new(mu).and_then(|gdp| gdp.delta(epsilon)).map_or(1.0, |x| *x.value());
        let law = LossLaw::of_delta(profile, profile, 1e-12, Neighbors::ReplaceOne);
        let Ok(law) = law.and_then(|law| law.times(count)) else { return outcome };
        laws.push(law);
        let square = Quotient::from_f64(mu).times(&Quotient::from_f64(mu));
        exact = exact.plus(&square.times(&Quotient::from_f64(count as f64)));
        code += &format!("normal({})?.times({count})?, ", literal(mu));
    }
    let Ok(law) = LossLaw::compose(&laws) else { return outcome };
    // Lower and upper bounds of the root to 400 bits.
    let scaled = (exact.numerator() << 800u32) / exact.denominator();
    let root = scaled.sqrt();
    let unit = BigInt::one() << 400u32;
    let [low, high] = [root.clone(), root + 1].map(|root| Quotient::new(root, unit.clone()));
    let code = format!(
        "use ndp_dp::{{Gdp, LossLaw, Mechanism, Neighbors}};\n\
         let normal = |mu: f64| {{\n    \
         let profile = move |epsilon: f64| Gdp::new(mu).and_then(|gdp| gdp.delta(epsilon)).map_or(1.0, |x| *x.value());\n    \
         LossLaw::of_delta(profile, profile, 1e-12, Neighbors::ReplaceOne)\n}};\n\
         let law = LossLaw::compose(&[{code}])?;"
    );
    let releases = parts.iter().map(|part| part.1).sum();
    let case = Case { size: [releases, kinds as u64, 0], code: &code };
    compare(&mut outcome, &case, &law, rng, &|epsilon| {
        let epsilon = Quotient::from_f64(epsilon);
        let [least, _] = gaussian::profile(&epsilon, &low)?;
        let [_, most] = gaussian::profile(&epsilon, &high)?;
        Some([least, most])
    });
    narrow(&mut outcome, &case, &law, rng);
    outcome
}
