//! Meters: random programs fed step by step to the filter that adds up losses during a run. The truth comes
//! from dense rows in rationals.

use super::twin::{Twin, truth_before, unseen};
use super::{draw, ratio};
use crate::draw::graphs;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{Error, Observer};
use ndp_dp::Grade;
use ndp_graph::GossipMatrix;
use ndp_program::constructors::ModelReads;
use ndp_program::meter::{Feed, Meter, Reading};
use ndp_program::{MixingMatrix, NodeVerdict, Reads, SensitivitySet, Value};
use num_rational::BigRational;
use num_traits::{One, Zero};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

pub(crate) struct Meters;

impl Part for Meters {
    fn name(&self) -> &'static str {
        "meters"
    }

    fn what(&self) -> &'static str {
        "the filter that runs along random programs of up to 5 nodes, and along whole rounds; dense rationals, the account"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 10 {
            4 => return forgotten(rng),
            6 => return rounds(rng),
            8 => return cancelled(rng),
            _ => {}
        }
        let (hard, large) = (number % 3 == 1, number % 4 == 3);
        let mut outcome = Outcome::new(Stratum::named(
            if hard { "troublesome weights" } else { "small ratios" },
            if large { "10 to 20 steps" } else { "up to 8 steps" },
        ));
        // The part `program` reports programs that are refused.
        let Ok(twin) = draw(rng, hard, large, number % 5 == 4) else { return outcome };
        let members: Vec<usize> = (0..twin.nodes).filter(|_| rng.random_range(0..4) == 0).collect();
        let mut observer = Observer::coalition(&members);
        if rng.random_range(0..3) == 0 {
            let from = rng.random_range(0..twin.nodes);
            observer = observer.tapping(&[(from, (from + 1) % twin.nodes)]);
        }
        let set = match rng.random_range(0..3) {
            0 => SensitivitySet::SameDirection,
            1 => SensitivitySet::UseLevel,
            _ => SensitivitySet::Signs,
        };
        let violation = |kind: &'static str, what: String| Violation {
            kind,
            size: [twin.values.len() as u64, twin.sights.len() as u64, members.len() as u64],
            what: what.clone(),
            test: format!(
                "let program = Program::read(r#\"{}\"#.as_bytes())?;\nlet observer = Observer::coalition(&{:?}).tapping(&{:?});\n\
                 let mut meter = Meter::new(program.node_count(), [observer], SensitivitySet::{set:?})?;\n\
                 meter.step(|empty| {{ *empty = program; Ok::<_, Error>(()) }})?;\nmeter.reading(0)?;\n// {what}",
                twin.text(),
                observer.members(),
                observer.tapped,
            ),
        };
        // Feed the log line by line, and compare after every line that shows a value.
        let text = twin.text();
        let mut lines = text.lines().skip(1).peekable();
        let mut feed = match begun(twin.nodes, &observer, &set) {
            Ok(feed) => feed,
            Err(error) => {
                outcome.check(false, || violation("refused", error.to_string()));
                return outcome;
            }
        };
        for (k, sight) in twin.sights.iter().enumerate() {
            // If several nodes see a noise, the log has a line for each of them; read all of these lines.
            let mut left = None;
            while let Some(line) = lines.next_if(|_| left != Some(0)) {
                if let Err(error) = feed.line(line) {
                    outcome.check(false, || violation("refused", error.to_string()));
                    return outcome;
                }
                let lines = match shows(line) {
                    Shown::Nothing => continue,
                    Shown::Held => sight.by.as_ref().map_or(1, Vec::len),
                    Shown::Sent => 1,
                };
                left = Some(left.unwrap_or(lines).saturating_sub(1));
            }
            let until = twin.sights.get(k + 1).map_or(usize::MAX, |next| next.moment);
            let reading = match feed.meter().map(|meter| meter.reading(0)) {
                Some(Ok(reading)) => reading,
                _ if unseen(&twin, &observer) => return outcome,
                found => {
                    outcome.check(false, || violation("refused", format!("{found:?}")));
                    return outcome;
                }
            };
            compare(&mut outcome, (&twin, &observer, until), &set, &reading, &violation);
        }
        outcome
    }

    fn short(&self) -> u64 {
        2_000
    }
}

/// A feed whose meter has one observer and no steps yet.
fn begun(nodes: usize, observer: &Observer, set: &SensitivitySet) -> Result<Feed, Error> {
    let mut feed = Feed::default();
    let frame = serde_json::json!({"ndp-meter": 1, "nodes": nodes, "set": set, "observers": [observer]});
    feed.line(&frame.to_string())?;
    Ok(feed)
}

/// How a line shows a value to somebody.
enum Shown {
    Nothing,
    Held,
    Sent,
}

fn shows(line: &str) -> Shown {
    let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else { return Shown::Nothing };
    let has = |key: &&str| line.get(*key).is_some();
    match () {
        () if has(&"hold") => Shown::Held,
        () if ["send", "broadcast", "publish", "deliver"].iter().any(has) => Shown::Sent,
        () => Shown::Nothing,
    }
}

/// Compares a reading with the truth about what was seen before `until`.
fn compare(
    outcome: &mut Outcome,
    (twin, observer, until): (&Twin, &Observer, usize),
    set: &SensitivitySet,
    reading: &Reading,
    violation: &dyn Fn(&'static str, String) -> Violation,
) {
    for u in (0..twin.nodes).filter(|&u| !observer.contains(u)) {
        let truth = truth_before(twin, observer, u, until);
        let k = truth.gram.len();
        if k > 12 {
            continue;
        }
        let along = |change: &[BigRational]| (!truth.leaking(change)).then(|| truth.along(change));
        let free = truth.leaks.is_empty();
        let expected = match set {
            SensitivitySet::SameDirection => along(&vec![BigRational::one(); k]),
            SensitivitySet::UseLevel => free.then(|| {
                (0..k).map(|i| truth.gram[i][i].clone()).fold(BigRational::zero(), BigRational::max)
            }),
            _ => free.then(|| {
                let sign = |mask: u64, i: usize| whole(if mask >> i & 1 == 1 { 1 } else { -1 });
                (0..1u64 << k)
                    .map(|mask| truth.along(&(0..k).map(|i| sign(mask, i)).collect::<Vec<_>>()))
                    .fold(BigRational::zero(), BigRational::max)
            }),
        };
        let wrong = |kind: &'static str, found: String| {
            let expected =
                expected.as_ref().map_or("infinite".to_owned(), |x| f64::from(&ratio(x)).to_string());
            violation(kind, format!("node {u}, {set:?}: {found}, the truth is {expected}"))
        };
        match (reading.verdict(u), &expected) {
            (Ok(Some(NodeVerdict::Noiseless { .. })), None) => {
                outcome.check(true, || wrong("", String::new()))
            }
            (Ok(Some(NodeVerdict::Bounded(loss))), Some(expected)) => {
                let above = BigRational::from_float(loss.value()).is_some_and(|x| x >= *expected);
                let below = BigRational::from_float(loss.lower).is_some_and(|x| x <= *expected);
                outcome.check(above, || wrong("below the truth", format!("{loss:?}")));
                outcome.check(below, || wrong("lower end above the truth", format!("{loss:?}")));
                let near = loss.value() - loss.lower <= 1e-9 * loss.value();
                let tight = loss.value.grade() != Grade::Exact || near;
                outcome.check(tight, || wrong("exact but wide", format!("{loss:?}")));
            }
            (found, _) => outcome.check(false, || wrong("noise or none", format!("{found:?}"))),
        }
    }
}

/// Whole rounds on a graph, some of which read hidden models. The meter is compared with the account of the
/// recorded program.
fn rounds(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("whole rounds", "the account of the record"));
    let n = rng.random_range(3..=6);
    let graph = graphs::random(rng, n);
    let members: Vec<usize> = (0..n).filter(|_| rng.random_range(0..4) == 0).collect();
    let mut observer = Observer::coalition(&members);
    if rng.random_range(0..3) == 0 {
        observer = observer.tapping(&graph.edges().take(1).collect::<Vec<_>>());
    }
    let set = match rng.random_range(0..3) {
        0 => SensitivitySet::SameDirection,
        1 => SensitivitySet::UseLevel,
        _ => SensitivitySet::Signs,
    };
    let hidden: Vec<bool> = (0..rng.random_range(1..=5)).map(|_| rng.random_range(0..3) > 0).collect();
    // Variances are of one order of magnitude, or of very different ones. Then what is left of one round is
    // far above or far below what the next adds.
    let sizes = if rng.random_range(0..3) == 0 { 15 } else { 1 };
    let variances: Vec<i64> =
        hidden.iter().map(|_| rng.random_range(1..=9) * 10_i64.pow(rng.random_range(0..sizes))).collect();
    // After these rounds a new epoch begins.
    let ended: Vec<bool> = hidden.iter().map(|_| rng.random_range(0..4) == 0).collect();
    let fed = || -> Result<_, Error> {
        let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&graph));
        let mut meter = Meter::new(n, [observer.clone()], set.clone())?;
        for ((&hidden, &variance), &ended) in hidden.iter().zip(&variances).zip(&ended) {
            let reads = if hidden { ModelReads::Hidden } else { ModelReads::Nothing };
            meter.round(&mixing, (variance, 2), reads)?;
            if ended {
                meter.begin_epoch()?;
            }
        }
        let account = meter.program().account(&observer)?;
        let truths = (0..n).filter(|&u| !observer.contains(u)).map(|u| Ok((u, account.verdict(u, &set)?)));
        Ok((meter.reading(0)?, truths.collect::<Result<Vec<_>, Error>>()?))
    };
    let violation = |kind: &'static str, what: String| Violation {
        kind,
        size: [n as u64, hidden.len() as u64, members.len() as u64],
        what: what.clone(),
        test: format!(
            "// {:?}, {observer:?}, {set:?}, hidden {hidden:?}, variances {variances:?} / 2, epochs ended {ended:?}: {what}",
            graph.edges().collect::<Vec<_>>()
        ),
    };
    let (reading, truths) = match fed() {
        Ok(found) => found,
        Err(error) => {
            outcome.check(false, || violation("refused", error.to_string()));
            return outcome;
        }
    };
    for (u, truth) in truths {
        let (lower, upper) = match &truth {
            // What the account alone is shown may be as good as sent.
            NodeVerdict::Bounded(loss) if loss.value() < f64::INFINITY => (loss.lower, loss.value()),
            _ => (f64::INFINITY, f64::INFINITY),
        };
        let found = reading.upper(u).unwrap_or(0.0);
        outcome.check(found >= lower, || {
            violation("below the truth", format!("node {u}: {found}, the truth is {truth:?}"))
        });
        if let Ok(Some(NodeVerdict::Bounded(loss))) = reading.verdict(u) {
            let low = loss.lower;
            outcome.check(low <= upper, || {
                violation("lower end above the truth", format!("node {u}: {low}, the truth is {truth:?}"))
            });
        }
    }
    outcome
}

/// Large noises that the observer knows, the meter only up to rounding, and that cancel in a later message.
/// The contribution in that message has a noise of its own, or none.
fn cancelled(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("noises that cancel", "known before but for rounding"));
    let noises: Vec<BigRational> = (0..rng.random_range(1..=3))
        .map(|_| whole(rng.random_range(1..999)) * whole(10_i64.pow(rng.random_range(0..15))) / whole(7))
        .collect();
    let weight = |rng: &mut ChaCha8Rng| {
        let sign = if rng.random_range(0..2) == 0 { 1 } else { -1 };
        whole(sign * rng.random_range(1..30)) / whole(rng.random_range(1..30))
    };
    let shown: Vec<BigRational> = noises.iter().map(|_| weight(rng)).collect();
    let (shares, by): (Vec<_>, _) = (noises.iter().map(|_| weight(rng)).collect(), weight(rng));
    let copied = rng.random_range(0..2) == 0;
    let own = (rng.random_range(0..2) == 0).then(|| whole(rng.random_range(1..99)) / whole(10));
    let fed = || -> Result<Reading, Error> {
        let mut meter = Meter::new(2, [Observer::node(1)], SensitivitySet::SameDirection)?;
        meter.step(|program| {
            let x = program.contribute(0, Reads::Nothing)?;
            let mut z = Vec::new();
            for (variance, shown) in noises.iter().zip(&shown) {
                z.push(program.noise([0], ratio(variance))?);
                let told = program.combine([(ratio(shown), z[z.len() - 1])])?;
                program.send(0, 1, told)?;
            }
            let terms = |scale: &BigRational| -> Vec<_> {
                shares.iter().zip(&z).map(|(share, &z)| (ratio(&(share * scale)), z)).collect()
            };
            // The second sum cancels the first: it is a negated copy, or a multiple of a scaled sum.
            let first = program.combine(terms(&whole(1)))?;
            let again = if copied { first } else { program.combine(terms(&(whole(1) / &by)))? };
            let second = program.combine([(ratio(&if copied { whole(-1) } else { -&by }), again)])?;
            let mut all = vec![x, first, second];
            if let Some(own) = &own {
                all.push(program.noise([0], ratio(own))?);
            }
            let sum = program.add(&all)?;
            program.send(0, 1, sum)
        })?;
        meter.reading(0)
    };
    let violation = |kind: &'static str, what: String| Violation {
        kind,
        size: [noises.len() as u64, u64::from(!copied), u64::from(own.is_some())],
        what: what.clone(),
        test: format!(
            "// noises {noises:?} shown times {shown:?}, shares {shares:?}, copied {copied}, by {by}, own {own:?}: {what}"
        ),
    };
    let truth = own.as_ref().map(BigRational::recip);
    match fed().map(|reading| reading.verdict(0).ok().flatten().cloned()) {
        Ok(Some(NodeVerdict::Noiseless { .. })) => {
            outcome.check(truth.is_none(), || violation("noise or none", format!("none, {truth:?}")));
        }
        Ok(Some(NodeVerdict::Bounded(loss))) => {
            let exact = |x: f64| BigRational::from_float(x);
            let above = truth.as_ref().zip(exact(loss.value())).is_some_and(|(truth, x)| x >= *truth);
            outcome.check(above, || violation("below the truth", format!("{loss:?}, {truth:?}")));
            let below = truth.as_ref().is_none_or(|truth| exact(loss.lower).is_some_and(|x| x <= *truth));
            outcome.check(below, || violation("lower end above the truth", format!("{loss:?}, {truth:?}")));
        }
        found => outcome.check(false, || violation("refused", format!("{found:?}"))),
    }
    outcome
}

/// Single steps, some of which read hidden values, between which values are forgotten, also before anybody
/// has seen what depends on them. The meter is compared with the account of the recorded program.
fn forgotten(rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("steps that are forgotten", "the account of the record"));
    let n = rng.random_range(2..=4);
    let observer = Observer::node(0);
    let set = match rng.random_range(0..3) {
        0 => SensitivitySet::SameDirection,
        1 => SensitivitySet::UseLevel,
        _ => SensitivitySet::Signs,
    };
    let Ok(mut meter) = Meter::new(n, [observer.clone()], set.clone()) else { return outcome };
    let mut alive: Vec<Value> = Vec::new();
    for _ in 0..rng.random_range(6..=16) {
        let node = rng.random_range(0..n);
        let chosen = chosen(rng, &alive);
        let fed = match rng.random_range(0..if alive.is_empty() { 2 } else { 9 }) {
            0 => meter.step(|program| program.contribute(node, Reads::Nothing)).map(|x| alive.push(x)),
            1 => {
                let variance = rng.random_range(0..10);
                meter.step(|program| program.noise([node], variance)).map(|z| alive.push(z))
            }
            2..5 => {
                let terms: Vec<_> =
                    chosen.iter().map(|&value| ((rng.random_range(1..9_i64), 3), value)).collect();
                meter.step(|program| program.combine(terms)).map(|y| alive.push(y))
            }
            5 => {
                let reads = Reads::Hidden(Some(chosen));
                meter.step(|program| program.contribute(node, reads)).map(|x| alive.push(x))
            }
            6 | 7 => meter.step(|program| program.send(node, usize::from(node == 0), chosen[0])),
            _ => {
                alive.retain(|value| !chosen.contains(value));
                meter.forget(&chosen).map_err(Error::from)
            }
        };
        let found = fed.and_then(|()| Ok((meter.reading(0)?, meter.program().account(&observer)?)));
        let mut text = Vec::new();
        let text = meter.program().write(&mut text).map(|()| String::from_utf8_lossy(&text).into_owned());
        let violation = |kind: &'static str, what: String| Violation {
            kind,
            size: [n as u64, meter.program().values().len() as u64, 0],
            what: what.clone(),
            test: format!("// {set:?}, observer 0, what is alive {alive:?}: {what}\n// {text:?}"),
        };
        let (reading, account) = match found {
            Ok(found) => found,
            Err(error) => {
                outcome.check(false, || violation("refused", error.to_string()));
                return outcome;
            }
        };
        for u in 1..n {
            let lower = match account.verdict(u, &set) {
                Ok(NodeVerdict::Bounded(loss)) if loss.value() < f64::INFINITY => loss.lower,
                Ok(_) => f64::INFINITY,
                Err(_) => continue,
            };
            let found = reading.upper(u).unwrap_or(f64::INFINITY);
            outcome.check(found >= lower, || {
                violation("below the truth", format!("node {u}: {found}, the truth is {lower}"))
            });
        }
    }
    outcome
}

/// Up to three of these values.
fn chosen(rng: &mut ChaCha8Rng, alive: &[Value]) -> Vec<Value> {
    let count = if alive.is_empty() { 0 } else { rng.random_range(1..=3) };
    let values: BTreeSet<Value> = (0..count).map(|_| alive[rng.random_range(0..alive.len())]).collect();
    values.into_iter().collect()
}

fn whole(x: i64) -> BigRational {
    BigRational::from_integer(x.into())
}
