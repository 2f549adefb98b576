//! The walk on the complete graph: moments, `(ε, δ)` and the local guarantee against all of its paths.

use crate::draw::numbers::{literal, log_uniform, pick};
use crate::oracle::walk::{PROFILE_ERROR, Walk, hidden_look, profile};
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_algos::walk::complete::{CompleteWalk, Visits};
use ndp_dp::{Delta, Grade, Order};
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
        let mut code = format!(
            "use ndp_algos::walk::complete::{{CompleteWalk, Visits}};\nuse ndp_dp::{{Delta, Order}};\n\
             let walk = CompleteWalk::new({n}, {steps})?.with_colluders({colluders})?"
        );
        code += if published { ".published();" } else { ";" };
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
        let Ok(walk) = CompleteWalk::new(n, steps).and_then(|walk| walk.with_colluders(colluders)) else {
            outcome.check(false, || fail("refused", "CompleteWalk::new", f64::NAN, f64::NAN));
            return outcome;
        };
        let walk = if published { walk.published() } else { walk };

        // Moments; the enumeration is right to 1e-13.
        let drawn = log_uniform(rng, 1e-20, 30.0);
        let theta = pick(rng, &[drawn, drawn, 1e-300, 1.03e-18, 1.0, 40.0]);
        let moment = truth.excess(theta).ln_1p();
        let look = rng.random_range(1..=steps);
        for (value, call) in [
            (walk.log_mgf(theta).map(|x| *x.value()), "*walk.log_mgf({})?.value()"),
            (walk.log_mgf_bound(theta).map(|x| *x.value()), "*walk.log_mgf_bound({})?.value()"),
            (
                walk.log_mgf_with_looks(theta, look).map(|x| *x.value()),
                "*walk.log_mgf_with_looks({}, LOOK)?.value()",
            ),
            (
                walk.log_mgf_any_length(theta, look).map(|x| *x.value()),
                "*walk.log_mgf_any_length({}, LOOK)?.value()",
            ),
        ] {
            let call = call.replace("{}", &literal(theta)).replace("LOOK", &look.to_string());
            let value = value.unwrap_or(f64::NAN);
            outcome.check(value >= moment * (1.0 - 1e-12), || {
                fail("moment below the truth", &call, value, moment)
            });
        }
        let exact = walk.log_mgf(theta).map_or(f64::NAN, |x| *x.value());
        // Where the excess is large, ln_1p of it is as good as the excess.
        outcome.check(exact <= moment * (1.0 + 1e-9) + 1e-300, || {
            fail("exact moment above the truth", "walk.log_mgf", exact, moment)
        });

        // (ε, δ).
        let drawn = log_uniform(rng, 1e-9, 10.0);
        let mu = pick(rng, &[drawn, drawn, 1e-160, 4.795e-7, 1.0]);
        let order = 1.0 + log_uniform(rng, 1e-12, 100.0);
        if let (Ok(order), Ok(rdp)) =
            (Order::new(order), Order::new(order).map(|order| walk.rdp_bound(order, mu)))
        {
            let alpha = order.get();
            let true_rdp = truth.excess(alpha * (alpha - 1.0) * mu * mu / 2.0).ln_1p() / (alpha - 1.0);
            let rdp = rdp.map_or(f64::NAN, |x| *x.value());
            let call = format!("*walk.rdp_bound(Order::new({})?, {})?.value()", literal(alpha), literal(mu));
            // Beyond e^700 the enumeration overflows.
            let known = true_rdp.is_finite();
            outcome.check(!known || rdp >= true_rdp * (1.0 - 1e-12), || {
                fail("loss below the truth", &call, rdp, true_rdp)
            });
        }
        let drawn = log_uniform(rng, 1e-6, 20.0);
        let epsilon = pick(rng, &[0.0, drawn]);
        let got = walk.delta(mu, epsilon).map_or(f64::NAN, |x| x.value().approx_dp.delta());
        let least = truth.delta(mu, epsilon, |_| 1.0);
        let slack = if epsilon == 0.0 { PROFILE_ERROR * least } else { PROFILE_ERROR };
        let call = format!("walk.delta({}, {})?.value().approx_dp.delta()", literal(mu), literal(epsilon));
        outcome.check(got >= least - slack, || fail("delta below the truth", &call, got, least));

        let delta = log_uniform(rng, 1e-9, 0.3);
        let Ok(target) = Delta::new(delta) else { return outcome };
        let met = |epsilon: f64| truth.delta(mu, epsilon, |_| 1.0) <= delta + PROFILE_ERROR;
        if let Ok(converted) = walk.epsilon(mu, target) {
            let epsilon = converted.value().approx_dp.epsilon();
            let call = format!(
                "walk.epsilon({}, Delta::new({})?)?.value().approx_dp.epsilon()",
                literal(mu),
                literal(delta)
            );
            outcome.check(met(epsilon), || fail("epsilon below the truth", &call, epsilon, epsilon));
        }
        // One look with the path hidden, of known length and averaged over it.
        let others = n - colluders;
        if number.is_multiple_of(24) && (2..=50).contains(&others) {
            let mu = log_uniform(rng, 1e-3, 10.0);
            let rho = 1.0 / others as f64;
            let m = rng.random_range(1..=20);
            let truth = hidden_look(epsilon, mu, m, rho);
            let got = walk.cycle_delta(epsilon, m.into(), mu).map_or(f64::NAN, |x| *x.value());
            let call = format!("*walk.cycle_delta({}, {m}, {})?.value()", literal(epsilon), literal(mu));
            outcome.check(got >= truth - PROFILE_ERROR, || {
                fail("delta of a hidden look below the truth", &call, got, truth)
            });
            let longest = i32::try_from(steps).expect("walks are short");
            let (stop, on) = (colluders as f64 / n as f64, others as f64 / n as f64);
            let truth: f64 = (1..longest)
                .map(|m| stop * on.powi(m) * hidden_look(epsilon, mu, m.unsigned_abs(), rho))
                .sum();
            let got = walk.visit_delta(epsilon, mu).map_or(f64::NAN, |x| *x.value());
            let call = format!("*walk.visit_delta({}, {})?.value()", literal(epsilon), literal(mu));
            outcome.check(got >= truth - PROFILE_ERROR, || {
                fail("delta of an averaged look below the truth", &call, got, truth)
            });
        }
        // Every contribution seen alone, whoever looks.
        let cap = rng.random_range(1..=steps as u64 + 1);
        for visits in [Visits::Capped(cap), Visits::Quantile(target)] {
            let all = Walk { colluders: n - 1, published: true, ..truth };
            let limit = match visits {
                Visits::Capped(cap) => cap as f64,
                Visits::Quantile(_) => f64::INFINITY,
            };
            // With everybody else observing, every contribution costs 1.
            let twice = Delta::new((2.0 * delta).min(0.9));
            let Ok(Ok(local)) = twice.map(|twice| walk.local_epsilon(mu, visits, twice)) else { continue };
            let exact = local.grade() == Grade::Exact;
            let local = *local.value();
            let shown: f64 = all
                .costs(|_| 1.0)
                .into_iter()
                .map(|(p, k)| p * profile(local, mu * k.min(limit).sqrt()))
                .sum();
            let claimed = (2.0 * delta).min(0.9);
            outcome.check(shown <= claimed + PROFILE_ERROR, || {
                fail("local loss below the truth", "walk.local_epsilon", claimed, shown)
            });
            // A smaller loss holds where less than delta is shown.
            let met = local == 0.0 || shown >= claimed * (1.0 - 1e-6) - PROFILE_ERROR;
            outcome.check(!exact || met, || Violation {
                what: format!("local_epsilon({mu:e}, {visits:?}) is Exact {local} at {claimed:e}, where {shown:e} is true (n = {n}, T = {steps})"),
                test: format!(
                    "{code}\nlet delta = Delta::new({})?;\n\
                     assert_ne!(walk.local_epsilon({}, Visits::{visits:?}, delta)?.grade(), ndp_dp::Grade::Exact);",
                    literal(claimed),
                    literal(mu)
                ),
                ..fail("exact local loss above the truth", "walk.local_epsilon", claimed, shown)
            });
        }
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}
