//! Sums on the ring: unit losses and `(ε, δ)` are compared with the releases of a run, counted step by step.

use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::walk::{PROFILE_ERROR, profile};
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{LinearProtocol, Observer, Protocol};
use ndp_algos::walk::ring::{Placement, RingSum};
use ndp_algos::walk::{Bounds, FinalToken, TokenNoise};
use ndp_dp::{Delta, NoiseMultiplier, Sigma};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Ring;

impl Part for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn what(&self) -> &'static str {
        "sums on the ring, every placement, publication and coalition; releases counted in rationals"
    }

    fn case(&self, _number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let n = pick(rng, &[2, 3, 4, 5, 6, 9, 17, 100]);
        let rounds = pick(rng, &[1, 2, 3, 5, 8, 40]);
        let placement = pick(rng, &[Placement::Counter, Placement::Distributed]);
        let last = pick(rng, &[FinalToken::Withheld, FinalToken::Published, FinalToken::Masked]);
        let sigma = log_uniform(rng, 1e-3, 1e3);
        let width = log_uniform(rng, 1e-3, 1e3);
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let ring = Sigma::new(sigma).map_err(Into::into).and_then(|sigma| {
            RingSum::new(n, rounds, Bounds::new(0.0, width)?, TokenNoise::gaussian(sigma), placement)?
                .with_final_token(last)
        });
        // Only a published token whose last step has no noise may be refused.
        let Ok(ring) = ring else {
            let unhidden = last == FinalToken::Published
                && placement == Placement::Counter
                && !(n * rounds - 1).is_multiple_of(n - 1);
            outcome.check(unhidden, || Violation {
                kind: "refused",
                size: [n as u64, rounds as u64, 0],
                what: format!("ring of {n}, {rounds} rounds, {placement:?}, {last:?}"),
                test: String::new(),
            });
            return outcome;
        };
        let wanted = if placement == Placement::Distributed { rng.random_range(1..n.min(4)) } else { 1 };
        let mut members = Vec::new();
        while members.len() < wanted {
            let v = rng.random_range(0..n);
            if !members.contains(&v) {
                members.push(v);
            }
        }
        members.sort_unstable();
        let (mut worst, mut exposed) = (0.0, 0);
        let units = ring.coalition_loss(&members);
        for u in (0..n).filter(|u| !members.contains(u)) {
            let (numerator, denominator) = unit(n, rounds, placement, last, &members, u);
            let truth = numerator as f64 / denominator as f64;
            if truth > worst {
                (worst, exposed) = (truth, u);
            }
            let got = units.as_ref().map_or(f64::NAN, |report| report.loss.value().unit[u]);
            let low = units.as_ref().map_or(f64::NAN, |report| report.lower[u]);
            let close = got >= truth * (1.0 - f64::EPSILON) && got <= truth * (1.0 + 1e-12);
            outcome.check(close && low <= truth * (1.0 + f64::EPSILON), || Violation {
                kind: "unit of a ring",
                size: [n as u64, rounds as u64, members.len() as u64],
                what: format!("ring of {n}, {rounds} rounds, {placement:?}, {last:?}: {u} towards {members:?} has {got}, true {numerator}/{denominator}"),
                test: format!(
                    "use ndp_account::LinearProtocol;\nuse ndp_algos::walk::{{Bounds, FinalToken, TokenNoise}};\nuse ndp_algos::walk::ring::{{Placement, RingSum}};\nuse ndp_dp::Sigma;\n\
                     let noise = TokenNoise::gaussian(Sigma::new({})?);\n\
                     let ring = RingSum::new({n}, {rounds}, Bounds::new(0.0, {})?, noise, Placement::{placement:?})?\n    \
                     .with_final_token(FinalToken::{last:?})?;\n\
                     assert!(ring.coalition_loss(&{members:?})?.unit({u})?.value().get() >= {});",
                    literal(sigma), literal(width), literal(truth)
                ),
            });
        }
        let delta = log_uniform(rng, 1e-9, 0.3);
        let Ok(target) = Delta::new(delta) else { return outcome };
        let stated = || -> Result<f64, ndp_account::Error> {
            let profile = ring
                .account(&Observer::coalition(&members))?
                .profile(exposed, NoiseMultiplier::new(sigma / width)?)?;
            Ok(profile.epsilon(target)?.into_value().epsilon())
        };
        if let Ok(epsilon) = stated() {
            let least = profile(epsilon, width / sigma * worst.sqrt());
            outcome.check(least <= delta + PROFILE_ERROR, || Violation {
                kind: "epsilon of a ring",
                size: [n as u64, rounds as u64, members.len() as u64],
                what: format!(
                    "ring of {n}, {rounds} rounds, {exposed} towards {members:?}: epsilon {epsilon} at {delta:e}, true delta {least:e}"
                ),
                test: String::new(),
            });
        }
        outcome
    }

    fn short(&self) -> u64 {
        20_000
    }
}

/// The sum of `σ²/(foreign noise)` over the segments that contain data of `u`, as a fraction; noises are
/// counted in units of `σ²/(n − 1)`.
fn unit(
    n: usize,
    rounds: usize,
    placement: Placement,
    last: FinalToken,
    members: &[usize],
    u: usize,
) -> (u128, u128) {
    let steps = n * rounds;
    // How often a segment with a given noise contained data.
    let mut segments: Vec<(u128, u128)> = Vec::new();
    let (mut noise, mut data) = (0u128, 0u128);
    let mut counter = 0usize;
    for step in 0..steps {
        let scheduled = counter == 0;
        counter = if scheduled { n - 2 } else { counter - 1 };
        let masked = last == FinalToken::Masked && step + 1 == steps;
        let full = (n - 1) as u128;
        let added = match placement {
            _ if masked => full,
            Placement::Counter => {
                if scheduled {
                    full
                } else {
                    0
                }
            }
            Placement::Distributed => {
                if step == 0 {
                    full
                } else {
                    1
                }
            }
        };
        if members.contains(&(step % n)) {
            segments.push((data, noise));
            (noise, data) = (0, 0);
        } else {
            noise += added;
            data += u128::from(step % n == u);
        }
    }
    if last != FinalToken::Withheld {
        segments.push((data, noise));
    }
    // There are few different noises, so sum the counts for each, over the product of all noises.
    let mut counts: Vec<(u128, u128)> = Vec::new();
    for (data, noise) in segments.into_iter().filter(|(data, _)| *data > 0) {
        match counts.iter_mut().find(|(_, known)| *known == noise) {
            Some((sum, _)) => *sum += data * data,
            None => counts.push((data * data, noise)),
        }
    }
    let product: u128 = counts.iter().map(|(_, noise)| noise).product();
    let total: u128 = counts.iter().map(|(sum, noise)| sum * (product / noise)).sum();
    (total * (n - 1) as u128, product)
}
