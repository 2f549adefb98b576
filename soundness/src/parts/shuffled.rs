//! Shuffled reports of randomized response: every bound is compared with the exact law of a few reports.

use super::losses::Case;
use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::rational::Quotient;
use crate::oracle::series;
use crate::part::{Outcome, Part, Stratum};
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{Delta, Mechanism, RandomizedResponse};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;
use std::collections::BTreeMap;

pub(crate) struct Shuffled;

impl Part for Shuffled {
    fn name(&self) -> &'static str {
        "shuffled"
    }

    fn what(&self) -> &'static str {
        "shuffled reports of randomized response; all multisets, rationals"
    }

    fn case(&self, _: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let labels = rng.random_range(2..=3_u32);
        let m = rng.random_range(1..=5_usize);
        let drawn = log_uniform(rng, 1e-6, 10.0);
        let wanted = pick(rng, &[drawn, drawn, 0.5, 1e-12, 40.0]);
        let mut outcome = Outcome::new(Stratum::new(m, labels as usize));
        let Ok(response) = RandomizedResponse::with_epsilon(labels, wanted) else { return outcome };
        let local = *response.pure_epsilon().value();
        let others: Vec<u32> = (1..m).map(|_| rng.random_range(0..labels)).collect();
        let run = Run { labels, gamma: response.gamma(), others };
        let share: f64 = rng.random();
        let epsilon = pick(rng, &[0.0, local * share, local * share, local * (1.0 - 1e-9)]);
        let code = format!(
            "use ndp_dp::{{Delta, Mechanism, RandomizedResponse, shuffling::{{Bound, Reports}}}};\n\
             let local = *RandomizedResponse::with_epsilon({labels}, {})?.pure_epsilon().value();",
            literal(wanted)
        );
        let case = Case { size: [m as u64, u64::from(labels), 0], code: &code };
        let truth = run.delta(epsilon);
        let (many, at) = (m as u64, literal(epsilon));
        for (found, call) in [
            (
                Reports { local_epsilon: local, labels: Some(labels) }.delta_by(
                    Bound::Blanket,
                    epsilon,
                    many,
                ),
                format!(
                    "Reports {{ local_epsilon: local, labels: Some({labels}) }}.delta_by(Bound::Blanket, {at}, {m})"
                ),
            ),
            (
                Reports { local_epsilon: local, labels: Some(labels) }.delta_by(
                    Bound::Hoeffding,
                    epsilon,
                    many,
                ),
                format!(
                    "Reports {{ local_epsilon: local, labels: Some({labels}) }}.delta_by(Bound::Hoeffding, {at}, {m})"
                ),
            ),
            (
                Reports { local_epsilon: local, labels: Some(labels) }.delta_by(
                    Bound::Bennett,
                    epsilon,
                    many,
                ),
                format!(
                    "Reports {{ local_epsilon: local, labels: Some({labels}) }}.delta_by(Bound::Bennett, {at}, {m})"
                ),
            ),
            (
                Reports { local_epsilon: local, labels: None }.delta_by(Bound::Clones, epsilon, many),
                format!(
                    "Reports {{ local_epsilon: local, labels: None }}.delta_by(Bound::Clones, {at}, {m})"
                ),
            ),
            (
                Reports { local_epsilon: local, labels: None }.delta_by(Bound::Hoeffding, epsilon, many),
                format!(
                    "Reports {{ local_epsilon: local, labels: None }}.delta_by(Bound::Hoeffding, {at}, {m})"
                ),
            ),
            (
                Reports { local_epsilon: local, labels: None }.delta_by(Bound::Bennett, epsilon, many),
                format!(
                    "Reports {{ local_epsilon: local, labels: None }}.delta_by(Bound::Bennett, {at}, {m})"
                ),
            ),
        ] {
            let found = found.map_or(f64::NAN, |x| *x.value());
            outcome.check(!found.is_nan() && truth.compare(found) != Ordering::Greater, || {
                let near = truth.to_f64();
                let kinds = ["shuffled delta below the truth by rounding", "shuffled delta below the truth"];
                let kind = kinds[usize::from(found.is_nan() || found < near * (1.0 - 1e-9))];
                let what =
                    format!("{call}: {found:e}, true {near:e} (local {local:e}, others {:?})", run.others);
                case.violation(
                    kind,
                    what,
                    &format!("assert!(*{call}?.value() >= {});", literal(truth.below())),
                )
            });
        }
        let delta = log_uniform(rng, 1e-12, 0.5);
        let Ok(target) = Delta::new(delta) else { return outcome };
        let at = literal(delta);
        for (found, call) in [
            (
                Reports { local_epsilon: local, labels: Some(labels) }.epsilon(many, target),
                format!(
                    "Reports {{ local_epsilon: local, labels: Some({labels}) }}.epsilon({m}, Delta::new({at})?)"
                ),
            ),
            (
                Reports { local_epsilon: local, labels: None }.epsilon(many, target),
                format!("Reports {{ local_epsilon: local, labels: None }}.epsilon({m}, Delta::new({at})?)"),
            ),
        ] {
            let found = found.map_or(f64::NAN, |x| x.value().epsilon);
            let shown = if found.is_nan() { Quotient::from_f64(1.0) } else { run.delta(found) };
            outcome.check(shown.compare(delta) != Ordering::Greater, || {
                let what = format!(
                    "{call}: {found:e}, where {:e} is true (local {local:e}, others {:?})",
                    shown.to_f64(),
                    run.others
                );
                case.violation(
                    "shuffled epsilon below the truth",
                    what,
                    &format!("assert!({call}?.value().epsilon > {});", literal(found)),
                )
            });
        }
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}

struct Run {
    labels: u32,
    gamma: f64,
    others: Vec<u32>,
}

impl Run {
    /// The `δ` at `ε` between labels 0 and 1 of one user when the labels of the others are known. The
    /// returned value is a lower bound, within `2^-500` of the largest term.
    fn delta(&self, epsilon: f64) -> Quotient {
        let [first, second] = [0, 1].map(|own| self.law(own));
        let power = &series::exp(&Quotient::from_f64(epsilon))[1];
        let sum: BigInt = first
            .iter()
            .map(|(multiset, mass)| mass * power.denominator() - power.numerator() * &second[multiset])
            .filter(Signed::is_positive)
            .sum();
        let total = first.values().sum::<BigInt>();
        Quotient::new(sum, total * power.denominator())
    }

    /// The law of the multiset of all reports, as integers with the same sum for each label.
    fn law(&self, own: u32) -> BTreeMap<Vec<u32>, BigInt> {
        let gamma = Quotient::from_f64(self.gamma);
        let wrong = gamma.numerator().clone();
        let right = gamma.denominator() * self.labels - gamma.numerator() * (self.labels - 1);
        let mut law = BTreeMap::from([(vec![0; self.labels as usize], BigInt::from(1))]);
        for label in self.others.iter().chain([&own]) {
            let mut next: BTreeMap<Vec<u32>, BigInt> = BTreeMap::new();
            for (multiset, mass) in &law {
                for report in 0..self.labels {
                    let mut more = multiset.clone();
                    more[report as usize] += 1;
                    *next.entry(more).or_insert_with(BigInt::zero) +=
                        mass * if report == *label { &right } else { &wrong };
                }
            }
            law = next;
        }
        law
    }
}
