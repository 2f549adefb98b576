//! Histograms along a walk: the composed guarantees are compared with the exact law of every run.

use crate::draw::numbers::{literal, log_uniform, pick};
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{Observer, Protocol};
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::complete::{CompleteHistogram, CompleteOptions, CompleteWalk};
use ndp_dp::shuffling::Reports;
use ndp_dp::{Delta, NoiseMultiplier, RandomizedResponse};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

pub(crate) struct Histograms;

impl Part for Histograms {
    fn name(&self) -> &'static str {
        "histograms"
    }

    fn what(&self) -> &'static str {
        "histograms along a walk, hidden, known and published; every path and report"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        if number % 16 == 15 {
            return surplus(rng);
        }
        let n = rng.random_range(2..=4);
        let steps: usize = rng.random_range(1..=4);
        let labels = rng.random_range(2..=3u32);
        let drawn = log_uniform(rng, 1e-3, 6.0);
        let local = pick(rng, &[drawn, 0.5, 1.0]);
        let published = rng.random_range(0..2) == 0;
        let delta = log_uniform(rng, 1e-4, 0.5);
        let others: Vec<u32> = (0..n).map(|_| rng.random_range(0..labels)).collect();
        let own = [0, 1];
        let final_token = if published { FinalToken::Published } else { FinalToken::Withheld };
        let mut outcome = Outcome::new(Stratum::new(n, steps));
        let Ok(target) = Delta::new(delta) else { return outcome };
        let Ok(histogram) =
            RandomizedResponse::with_epsilon(labels, local).map_err(Into::into).and_then(|response| {
                let options = CompleteOptions { final_token, ..CompleteOptions::default() };
                let walk = CompleteWalk::new(n, steps)?.with_options(options)?;
                Ok::<_, ndp_account::Error>(CompleteHistogram { walk, response })
            })
        else {
            return outcome;
        };
        let Ok(noise) = NoiseMultiplier::new(1.0 / local) else { return outcome };
        let ask = |observer: Observer| -> Result<f64, ndp_account::Error> {
            Ok(histogram.account(&observer)?.profile(0, noise)?.epsilon(target)?.into_value().epsilon())
        };
        // The response with which reports are drawn when the noise is the one in question.
        let Ok(drawn) = RandomizedResponse::with_epsilon(labels, 1.0 / noise.get()) else { return outcome };
        let run = Run { n, steps, labels, gamma: drawn.gamma(), published };
        for (view, epsilon, call) in [
            (View::Hidden, ask(Observer::node(n - 1).with_hidden_senders()), ".with_hidden_senders()"),
            (View::Neighbors, ask(Observer::node(n - 1)), ""),
        ] {
            let Ok(epsilon) = epsilon else { continue };
            for own in [own, [1, 0]] {
                let least = run.delta(view, epsilon, &others, own);
                // The sums have at most 10^6 probabilities.
                outcome.check(least <= delta + 1e-12, || Violation {
                    kind: match view {
                        View::Hidden => "hidden histogram below the truth",
                        View::Neighbors => "histogram with known neighbors below the truth",
                    },
                    size: [steps as u64, n as u64, u64::from(labels)],
                    what: format!("node{call}: {epsilon} at {delta:e}, where {least:e} is true (n = {n}, T = {steps}, L = {labels}, local {local}, published {published})"),
                    test: format!(
                        "use ndp_account::{{Observer, Protocol}};\n\
                         use ndp_algos::walk::FinalToken;\n\
                         use ndp_algos::walk::complete::{{CompleteHistogram, CompleteOptions, CompleteWalk}};\n\
                         use ndp_dp::{{Delta, NoiseMultiplier, RandomizedResponse}};\n\
                         let response = RandomizedResponse::with_epsilon({labels}, {})?;\n\
                         let options = CompleteOptions {{ final_token: FinalToken::{final_token:?}, ..CompleteOptions::default() }};\n\
                         let walk = CompleteWalk::new({n}, {steps})?.with_options(options)?;\n\
                         let histogram = CompleteHistogram {{ walk, response }};\n\
                         let account = histogram.account(&Observer::node({}){call})?;\n\
                         let profile = account.profile(0, NoiseMultiplier::new({})?)?;\n\
                         let epsilon = profile.epsilon(Delta::new({})?)?.into_value().epsilon();\n\
                         // At this epsilon the true delta is {least:e}.\nassert!(epsilon > {});",
                        literal(local), n - 1, literal(noise.get()), literal(delta), literal(epsilon)
                    ),
                });
            }
        }
        outcome
    }

    fn short(&self) -> u64 {
        150
    }
}

/// One more report never increases the loss, even where a closed form replaces the sum.
fn surplus(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("shuffling", "surplus"));
    let local = log_uniform(rng, 0.05, 6.0);
    let m = pick(rng, &[10, 1000, 99_999, 100_000]);
    let Ok(delta) = Delta::new(1e-6) else { return outcome };
    let epsilon = |m: u64| {
        Reports { local_epsilon: local, labels: None }
            .epsilon(m, delta)
            .map_or(f64::NAN, |x| x.value().epsilon)
    };
    let (here, more) = (epsilon(m), epsilon(m + 1));
    outcome.check(more <= here * (1.0 + 1e-9), || Violation {
        kind: "one report more costs more",
        size: [m, 0, 0],
        what: format!("epsilon of m reports at {local} and 1e-6: {here} at {m}, {more} at one more"),
        test: format!(
            "use ndp_dp::{{Delta, shuffling::Reports}};\nlet at = |m| Reports {{ local_epsilon: {}, labels: None }}.epsilon(m, Delta::new(1e-6)?).map(|x| x.value().epsilon);\n\
             assert!(at({m} + 1)? <= at({m})? * (1.0 + 1e-9));",
            literal(local)
        ),
    });
    outcome
}

/// What the last node sees of a run in addition to the tokens, the times at which it receives them, and the
/// nodes to which it hands them.
#[derive(Clone, Copy)]
enum View {
    Hidden,
    /// The nodes from which its tokens come.
    Neighbors,
}

struct Run {
    n: usize,
    steps: usize,
    labels: u32,
    gamma: f64,
    published: bool,
}

impl Run {
    /// The exact `δ` towards the last node, between node 0 holding `own[0]` and holding `own[1]`, by
    /// enumerating all paths and all reports of the others.
    fn delta(&self, view: View, epsilon: f64, others: &[u32], own: [u32; 2]) -> f64 {
        let mut laws: BTreeMap<Vec<usize>, [f64; 2]> = BTreeMap::new();
        let paths = (0..self.steps).fold(1, |paths, _| paths * self.n);
        for path in 0..paths {
            let mut rest = path;
            let holders: Vec<usize> = (0..self.steps)
                .map(|_| {
                    let holder = rest % self.n;
                    rest /= self.n;
                    holder
                })
                .collect();
            let share = 1.0 / paths as f64;
            self.follow(
                view,
                &holders,
                others,
                own,
                0,
                &mut vec![0; self.labels as usize],
                &mut Vec::new(),
                [share; 2],
                &mut laws,
            );
        }
        laws.values().map(|[p, q]| (p - epsilon.exp() * q).max(0.0)).sum()
    }

    #[allow(clippy::too_many_arguments, reason = "the state of a recursion")]
    fn follow(
        &self,
        view: View,
        holders: &[usize],
        others: &[u32],
        own: [u32; 2],
        step: usize,
        counts: &mut Vec<usize>,
        seen: &mut Vec<usize>,
        masses: [f64; 2],
        laws: &mut BTreeMap<Vec<usize>, [f64; 2]>,
    ) {
        let observer = self.n - 1;
        if step == holders.len() {
            let mut key = seen.clone();
            if self.published {
                key.extend(counts.iter());
            }
            let law = laws.entry(key).or_insert([0.0; 2]);
            law.iter_mut().zip(masses).for_each(|(law, mass)| *law += mass);
            return;
        }
        if holders[step] == observer {
            // The observer knows its own report, so the counts are those of the others since its last
            // reception.
            let before = seen.len();
            seen.push(1000 + step);
            seen.extend(counts.iter());
            // It has drawn the next holder itself.
            seen.push(holders.get(step + 1).map_or(3000, |&next| 3001 + next));
            if let View::Neighbors = view {
                seen.push(step.checked_sub(1).map_or(2000, |s| 2001 + holders[s]));
            }
            let kept = std::mem::replace(counts, vec![0; self.labels as usize]);
            self.follow(view, holders, others, own, step + 1, counts, seen, masses, laws);
            *counts = kept;
            seen.truncate(before);
            return;
        }
        let random = self.gamma / f64::from(self.labels);
        for report in 0..self.labels {
            let chance = |label: u32| random + if label == report { 1.0 - self.gamma } else { 0.0 };
            let labels = own.map(|own| if holders[step] == 0 { own } else { others[holders[step]] });
            let masses = [masses[0] * chance(labels[0]), masses[1] * chance(labels[1])];
            counts[report as usize] += 1;
            self.follow(view, holders, others, own, step + 1, counts, seen, masses, laws);
            counts[report as usize] -= 1;
        }
    }
}
