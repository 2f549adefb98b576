//! The walk on the complete graph: moments, `(ε, δ)` and the local guarantee, compared with all of its paths.

use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::walk::{PROFILE_ERROR, Walk, hidden_look, profile};
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{Observer, Protocol};
use ndp_algos::walk::complete::{CompleteOptions, CompleteSum, CompleteWalk};
use ndp_algos::walk::{Bounds, FinalToken, TokenNoise};
use ndp_dp::{Delta, NoiseMultiplier, Order, Sigma};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Complete;

impl Part for Complete {
    fn name(&self) -> &'static str {
        "complete"
    }

    fn what(&self) -> &'static str {
        "sums along a walk on the complete graph, every option; all paths"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let n = pick(rng, &[2, 2, 3, 3, 4, 5, 7, 12, 50, 1000, 1_000_000_000]);
        let steps = if number.is_multiple_of(16) { 9 } else { rng.random_range(1..=7) };
        let colluders = match rng.random_range(0..4) {
            0 => n - 1,
            1 => rng.random_range(1..n),
            _ => 1,
        };
        let published = rng.random_range(0..2) == 0;
        let truth = Walk { n, steps, colluders, published, from_exposed: false, cap: usize::MAX };
        let final_token = if published { FinalToken::Published } else { FinalToken::Withheld };
        let code = format!(
            "use ndp_account::{{Observer, Protocol}};\nuse ndp_algos::walk::complete::{{CompleteOptions, CompleteSum, CompleteWalk}};\n\
             use ndp_algos::walk::{{Bounds, FinalToken, TokenNoise}};\nuse ndp_dp::{{Delta, NoiseMultiplier, Order, Sigma}};\n\
             let options = CompleteOptions {{ final_token: FinalToken::{final_token:?}, ..CompleteOptions::default() }};\n\
             let walk = CompleteWalk::new({n}, {steps})?.with_options(options)?;"
        );
        let mut outcome = Outcome::new(Stratum::new(n, steps));
        let size = [steps as u64, n as u64, colluders as u64];
        let fail = |kind: &'static str, call: &str, got: f64, truth: f64| Violation {
            kind,
            size,
            what: format!(
                "{call}: {got:e}, true {truth:e} (n = {n}, T = {steps}, c = {colluders}, published {published})"
            ),
            test: format!("{code}\nassert!({call} >= {});", literal(truth)),
        };
        let options = CompleteOptions { final_token, ..CompleteOptions::default() };
        let Ok(walk) = CompleteWalk::new(n, steps).and_then(|walk| walk.with_options(options)) else {
            outcome.check(false, || fail("refused", "CompleteWalk::new", f64::NAN, f64::NAN));
            return outcome;
        };

        // The accountant's result when the path is known.
        let drawn = log_uniform(rng, 1e-9, 10.0);
        let (Ok(noise), Ok(one), Ok(bounds)) = (
            NoiseMultiplier::new(1.0 / pick(rng, &[drawn, drawn, 1e-160, 4.795e-7, 1.0])),
            Sigma::new(1.0),
            Bounds::new(0.0, 1.0),
        ) else {
            return outcome;
        };
        // The noise is the one asked for; taking its reciprocal rounds.
        let mu = 1.0 / noise.get();
        let question = format!(
            "\nlet noise = TokenNoise::gaussian(Sigma::new(1.0)?);\n\
             let sum = CompleteSum {{ walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false }};\n\
             let observer = Observer::coalition(&(1..={colluders}).collect::<Vec<_>>());\n\
             let profile = sum.account(&observer)?.profile(0, NoiseMultiplier::new({})?)?;",
            literal(noise.get())
        );
        let fail = |kind: &'static str, call: &str, got: f64, truth: f64| Violation {
            test: format!("{code}{question}\nassert!({call} >= {});", literal(truth)),
            ..fail(kind, call, got, truth)
        };
        let sum = CompleteSum { walk, bounds, noise: TokenNoise::gaussian(one), constant_data: false };
        // The observer is a list of members, so skip coalitions of more than 1000.
        let members: Vec<usize> = (1..=colluders.min(1000)).collect();
        if members.len() < colluders {
            return outcome;
        }
        let observer = Observer::coalition(&members);
        let order = 1.0 + log_uniform(rng, 1e-12, 100.0);
        let asked = sum.account(&observer).and_then(|account| account.profile(0, noise));
        outcome.check(asked.is_ok(), || fail("refused", "sum.account", f64::NAN, f64::NAN));
        let Ok(asked) = asked else { return outcome };
        if let Ok(order) = Order::new(order) {
            let alpha = order.get();
            let true_rdp = truth.excess(alpha * (alpha - 1.0) * mu * mu / 2.0).ln_1p() / (alpha - 1.0);
            let rdp = asked.renyi(order).map_or(f64::NAN, |x| x.value().epsilon);
            let call = format!("profile.renyi(Order::new({})?)?.value().epsilon", literal(alpha));
            // Above e^700 the enumeration overflows.
            let known = true_rdp.is_finite();
            outcome.check(!known || rdp >= true_rdp * (1.0 - 1e-12), || {
                fail("loss below the truth", &call, rdp, true_rdp)
            });
            // The library follows walks as short as these exactly; if the excess is large, ln_1p of it is as
            // accurate as the excess.
            outcome.check(!known || rdp <= true_rdp * (1.0 + 1e-9) + 1e-300 / (alpha - 1.0), || {
                fail("exact loss above the truth", &call, rdp, true_rdp)
            });
        }
        let drawn = log_uniform(rng, 1e-6, 20.0);
        let epsilon = pick(rng, &[0.0, drawn]);
        let got = asked.delta(epsilon).map_or(f64::NAN, |x| x.value().delta());
        let least = truth.delta(mu, epsilon, |_| 1.0);
        let slack = if epsilon == 0.0 { PROFILE_ERROR * least } else { PROFILE_ERROR };
        let call = format!("profile.delta({})?.value().delta()", literal(epsilon));
        outcome.check(got >= least - slack, || fail("delta below the truth", &call, got, least));

        let delta = log_uniform(rng, 1e-9, 0.3);
        let Ok(target) = Delta::new(delta) else { return outcome };
        let met = |epsilon: f64| truth.delta(mu, epsilon, |_| 1.0) <= delta + PROFILE_ERROR;
        if let Ok(found) = asked.epsilon(target) {
            let epsilon = found.value().epsilon();
            let call = format!("profile.epsilon(Delta::new({})?)?.value().epsilon()", literal(delta));
            outcome.check(met(epsilon), || fail("epsilon below the truth", &call, epsilon, epsilon));
        }
        // One look with a hidden path, after a known number of steps.
        let others = n - colluders;
        if number.is_multiple_of(24) && (2..=50).contains(&others) {
            let mu = log_uniform(rng, 1e-3, 10.0);
            let rho = 1.0 / others as f64;
            let m = rng.random_range(1..=20);
            let truth = hidden_look(epsilon, mu, m, rho);
            let look = || -> Result<f64, ndp_account::Error> {
                let (walk, noise) = (CompleteWalk::new(others + 1, steps)?, Sigma::new(1.0 / mu)?);
                let sum =
                    CompleteSum { walk, bounds, noise: TokenNoise::gaussian(noise), constant_data: true };
                Ok(sum.reception_delta(epsilon, m.into())?.into_value())
            };
            let got = look().unwrap_or(f64::NAN);
            let call = format!(
                "*CompleteSum {{ walk: CompleteWalk::new({}, {steps})?, noise: TokenNoise::gaussian(Sigma::new({})?), ..sum }}\
                 .reception_delta({}, {m})?.value()",
                others + 1,
                literal(1.0 / mu),
                literal(epsilon)
            );
            outcome.check(got >= truth - PROFILE_ERROR, || {
                fail("delta of a hidden look below the truth", &call, got, truth)
            });
        }
        // The observer sees every contribution separately.
        let cap = rng.random_range(1..=steps + 1);
        for cap in [Some(cap), None] {
            let all = Walk { colluders: n - 1, published: true, ..truth };
            let limit = cap.map_or(f64::INFINITY, |cap| cap as f64);
            // If everybody else observes, every contribution costs 1.
            let Ok(capped) = walk.with_options(CompleteOptions { cap, ..options }) else { continue };
            let bound =
                CompleteSum { walk: capped, bounds, noise: TokenNoise::gaussian(one), constant_data: false };
            let local = bound
                .local_bound(&observer)
                .and_then(|account| Ok(account.profile(0, noise)?.epsilon(target)?));
            let Ok(local) = local else { continue };
            let local = local.value().epsilon();
            let shown: f64 = all
                .costs(|_| 1.0)
                .into_iter()
                .map(|(p, k)| p * profile(local, mu * k.min(limit).sqrt()))
                .sum();
            outcome.check(shown <= delta + PROFILE_ERROR, || {
                fail("local loss below the truth", "sum.local_bound", delta, shown)
            });
        }
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}
