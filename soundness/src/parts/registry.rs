//! Every protocol of the registry through their common interface: attacks on real runs, observers who know
//! more, and more noise. A new protocol is included without any change here.

use super::losses::Case;
use crate::draw::graphs;
use crate::draw::numbers::{coalition, log_uniform, pick};
use crate::losses::may_refuse;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Error, Observer, Protocol};
use ndp_algos::registry::{Entry, PROTOCOLS, Parameters};
use ndp_certify::Error as Certify;
use ndp_dp::{Delta, Grade, NoiseMultiplier, Order, Profile};
use ndp_graph::GossipMatrix;
use ndp_graph::progress::Silent;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Registry;

/// At this rate an audit errs by chance once in some thousand years of searching.
const ERROR_RATE: f64 = 1e-9;

impl Part for Registry {
    fn name(&self) -> &'static str {
        "registry"
    }

    fn what(&self) -> &'static str {
        "all protocols by name, any observer; attacks, real runs, more knowledge, less noise"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let place = usize::try_from(number).unwrap_or(0) % PROTOCOLS.len();
        one(&PROTOCOLS[place], (number / PROTOCOLS.len() as u64).is_multiple_of(4), rng)
    }

    fn short(&self) -> u64 {
        20 * PROTOCOLS.len() as u64
    }
}

/// Draws some parameters and leaves the others at their defaults. Whole and real numbers are drawn for any
/// parameter; a protocol refuses a value that it cannot use.
fn parameters(entry: &Entry, rng: &mut ChaCha8Rng) -> Parameters {
    let mut parameters = Parameters::default();
    for parameter in entry.parameters {
        let count = f64::from(rng.random_range(1..=9_u8));
        let value = match parameter.name {
            // Long walks are searched by parts of their own.
            "steps" => count,
            _ if rng.random_range(0..4) == 0 => continue,
            _ => pick(rng, &[count, count, count, 0.25, 1.5]),
        };
        parameters.0.insert(parameter.name.into(), value);
    }
    parameters
}

fn one(entry: &Entry, in_runs: bool, rng: &mut ChaCha8Rng) -> Outcome {
    let n = rng.random_range(2..=9);
    let graph = graphs::any(rng, n);
    let n = graph.node_count();
    let mut outcome = Outcome::new(Stratum::new(n, 1));
    let parameters = parameters(entry, rng);
    let members = coalition(rng, n);
    let (observer, call) = match rng.random_range(0..6) {
        0 => (Observer::coalition(&members).without_own_noise(), ".without_own_noise()"),
        1 => (Observer::coalition(&members).with_hidden_senders(), ".with_hidden_senders()"),
        2 => (Observer::outsider(), ""),
        _ => (Observer::coalition(&members), ""),
    };
    let Some(u) = (0..n).cycle().skip(rng.random_range(0..n)).take(n).find(|&u| !observer.contains(u)) else {
        return outcome;
    };
    let noise = log_uniform(rng, 0.3, 30.0);
    let matrix = GossipMatrix::metropolis(&graph);
    let Ok(protocol) = entry.build(&matrix, &parameters) else { return outcome };
    let protocol = protocol.as_ref();
    let code = format!(
        "use ndp_account::{{Observer, Protocol}};\nuse ndp_graph::{{GossipMatrix, Graph}};\n\
         let matrix = GossipMatrix::metropolis(&{});\n\
         let protocol = ndp_algos::registry::find({:?})?.build(&matrix, &{:?}.parse()?)?;\n\
         let noise = ndp_dp::NoiseMultiplier::new({noise:?})?;\n\
         let observer = Observer::coalition(&{:?}){call};\n\
         let profile = protocol.account(&observer)?.profile({u}, noise)?;",
        graphs::code(&graph),
        entry.name,
        parameters.to_string(),
        observer.members()
    );
    let size = [n as u64, observer.members().len() as u64, graph.edge_count() as u64];
    let case = Case { size, code: &code };
    let about = format!("{} ({parameters}), {observer} about node {u}, noise {noise}", entry.name);
    match examined(protocol, (u, &observer), noise, in_runs, rng) {
        Ok(findings) => {
            for (kind, finding) in findings {
                outcome.check(finding.is_none(), || {
                    let what = format!("{about}: {}", finding.unwrap_or_default());
                    case.violation(kind, what, "")
                });
            }
        }
        Err(error) if refuses(&error) => {}
        Err(error) => {
            outcome.check(false, || case.violation("refused", format!("{about}: {error}"), ""));
        }
    }
    outcome
}

/// The errors that an account may return instead of a number.
fn refuses(error: &Error) -> bool {
    may_refuse(error)
        || matches!(error.carried(), Some(ndp_algos::Error::StepTooLong { .. }))
        || matches!(
            error,
            Error::NotOffered(_)
                | Error::Certify(Certify::NoiselessView(_) | Certify::UnluckyPrimes(_))
                | Error::NoGuarantee { .. }
                | Error::InvalidParameter { .. }
                | Error::EmptyCoalition
                | Error::Privacy(_)
        )
}

type Findings = Vec<(&'static str, Option<String>)>;

fn examined(
    protocol: &dyn Protocol,
    (u, observer): (usize, &Observer),
    noise: f64,
    in_runs: bool,
    rng: &mut ChaCha8Rng,
) -> Result<Findings, Error> {
    let multiplier = NoiseMultiplier::new(noise)?;
    let account = protocol.account(observer)?;
    let profile = account.profile(u, multiplier)?;
    let mut found = consistent(&profile)?;
    // Attacks: what a statistic shows by its weights, and what it shows in runs.
    match protocol.attack(u, observer, multiplier) {
        Ok(attack) => {
            if let (Some(shown), Some(claimed)) = (attack.shown_mu(), profile.mu()) {
                let claimed = claimed.value().mu();
                found.push((
                    "an attack shows more than the account",
                    (shown > claimed * (1.0 + 1e-6)).then(|| format!("mu {claimed}, the attack has {shown}")),
                ));
            }
            if in_runs {
                let plan = AuditPlan { runs: 300, error_rate: ERROR_RATE };
                // A statistic without any signal cannot be audited.
                if let Ok(audit) = audit(protocol, u, observer, multiplier, plan, rng, &Silent) {
                    found.push((
                        "runs show more than the account",
                        audit.is_refuted().then(|| format!("{audit:?}")),
                    ));
                }
            }
        }
        Err(error) if refuses(&error) => {}
        Err(error) => found.push(("attack refused", Some(error.to_string()))),
    }
    // With more noise, or one more member, exact losses can move in one direction only.
    let order = Order::new(2.0)?;
    let exact = |profile: &Profile| match profile.renyi(order) {
        Ok(loss) if loss.grade() == Grade::Exact => Some(loss.value().epsilon),
        _ => None,
    };
    let here = exact(&profile);
    let compare = |kind, less: Option<f64>, more: Option<f64>| {
        let (less, more) = (less?, more?);
        let wrong = less > more * (1.0 + 1e-6) + 1e-9;
        Some((kind, wrong.then(|| format!("loss {less} at order 2, with more knowledge {more}"))))
    };
    if let Ok(bound) = protocol.local_bound(observer).and_then(|account| account.profile(u, multiplier)) {
        let bound = bound.renyi(order)?.value().epsilon;
        found.extend(compare("a bound at no cost below the loss", here, Some(bound)));
    }
    let louder = account.profile(u, NoiseMultiplier::new(2.0 * noise)?)?;
    found.extend(compare("more noise, more loss", exact(&louder), here));
    let joining = (0..protocol.node_count()).find(|&v| v != u && !observer.contains(v));
    // Members that do not know their own noise do not see what they send to each other, so a coalition with
    // more members may know less.
    let grows = !observer.members().is_empty() && observer.own_noise == ndp_account::OwnNoise::Known;
    if let Some(v) = joining.filter(|_| grows) {
        let members: Vec<usize> = observer.members().iter().copied().chain([v]).collect();
        if let Ok(more) = protocol
            .account(&Observer::coalition(&members))
            .and_then(|account| account.profile(u, multiplier))
        {
            found.extend(compare("a member more, less loss", here, exact(&more)));
        }
    }
    if observer.own_noise == ndp_account::OwnNoise::Unknown
        && let Ok(more) = protocol
            .account(&Observer::coalition(observer.members()))
            .and_then(|account| account.profile(u, multiplier))
    {
        found.extend(compare("own noise known, less loss", here, exact(&more)));
    }
    Ok(found)
}

/// One profile is about one loss, so all its conversions must be consistent.
fn consistent(profile: &Profile) -> Result<Findings, Error> {
    let mut found = Findings::new();
    let mut wrong = |kind, finding: Option<String>| found.push((kind, finding));
    if profile.mu().is_some() {
        let losses: Vec<f64> = [1.25, 2.0, 8.0]
            .into_iter()
            .map(|alpha| Ok(profile.renyi(Order::new(alpha)?)?.value().epsilon))
            .collect::<Result<_, Error>>()?;
        let ordered = losses.is_sorted();
        wrong("losses fall with the order", (!ordered).then(|| format!("{losses:?}")));
    }
    let mut last = f64::INFINITY;
    for delta in [1e-8, 1e-5, 1e-2] {
        let epsilon = profile.epsilon(Delta::new(delta)?)?.value().epsilon();
        wrong(
            "epsilon grows with delta",
            (epsilon.is_nan() || epsilon > last * (1.0 + 1e-9))
                .then(|| format!("{epsilon} at {delta:e}, {last} before")),
        );
        last = epsilon;
        if epsilon.is_finite() && profile.mu().is_some() {
            let back = profile.delta(epsilon)?.value().delta();
            wrong(
                "delta at epsilon is above delta",
                (back > delta * (1.0 + 1e-9)).then(|| format!("{back:e} for {delta:e} at {epsilon}")),
            );
        }
    }
    Ok(found)
}
