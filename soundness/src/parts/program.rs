//! Programs of random steps; the truth comes from dense rows over all primitives in rationals.
//!
//! The library walks back from the seen values, deletes what is known, and computes enclosures. Here every
//! value has its coefficients from the start, correlated noise is a covariance, and what a member knows is
//! one more row. The Gram matrix comes from eliminating the covariance of all seen rows.

pub(super) mod meter;
pub(super) mod proofs;
mod twin;

use self::twin::{Twin, truth, unseen};
use crate::draw::numbers::pick;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_account::{Error, Observer};
use ndp_dp::Grade;
use ndp_program::{
    AccountOptions, Dependence, NodeVerdict, ProgramAccount, ProgramError, SensitivitySet, Weight,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Programs;

impl Part for Programs {
    fn name(&self) -> &'static str {
        "program"
    }

    fn what(&self) -> &'static str {
        "programs of up to 5 nodes: correlated noise, secure sums, taps, reads; dense rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let hard = number % 3 == 1;
        let large = number % 4 == 3;
        let mut outcome = Outcome::new(Stratum::named(
            if hard { "troublesome weights" } else { "small ratios" },
            if large { "10 to 20 steps" } else { "up to 8 steps" },
        ));
        // In every fifth program each seen value has a noise of its own, so that the engine for sparse
        // systems is tested.
        let own = number % 5 == 4;
        let twin = match draw(rng, hard, large, own) {
            Ok(twin) => twin,
            Err(error) => {
                outcome.check(false, || Violation {
                    kind: "refused",
                    size: [0; 3],
                    what: format!("a valid program is refused: {error}"),
                    test: String::new(),
                });
                return outcome;
            }
        };
        let members: Vec<usize> = (0..twin.nodes).filter(|_| rng.random_range(0..4) == 0).collect();
        let mut observer = Observer::coalition(&members);
        if rng.random_range(0..3) == 0 {
            let from = rng.random_range(0..twin.nodes);
            observer = observer.tapping(&[(from, (from + 1) % twin.nodes)]);
        }
        let directions: Vec<(usize, Vec<i64>)> = (0..twin.nodes)
            .map(|u| (u, (0..twin.program.uses(u)).map(|_| rng.random_range(-2..=2)).collect()))
            .collect();
        // In every seventh program the engine that sweeps through the program is used, even if the program is
        // small.
        let options = AccountOptions {
            sparse_from: if own { 0 } else { 128 },
            sweeps_from: if number % 7 == 2 { 0 } else { usize::MAX },
            ..AccountOptions::default()
        };
        compare(&mut outcome, &twin, &observer, &directions, options);
        outcome
    }

    fn short(&self) -> u64 {
        2_000
    }
}

/// A rational as an exact weight.
fn ratio(x: &BigRational) -> Weight {
    x.to_string().parse().unwrap_or_else(|_| Weight::from(f64::NAN))
}

fn weight(rng: &mut ChaCha8Rng, hard: bool) -> (Weight, BigRational) {
    if hard && rng.random_range(0..3) == 0 {
        let x = pick(rng, &[1e-11, 1e-7, -1e-9, 0.3, 1.0 / 3.0, 1e-3, 2_f64.powi(61), 1e9]);
        return (Weight::from(x), BigRational::from_float(x).unwrap_or_else(BigRational::zero));
    }
    let (a, b) = (rng.random_range(-3..=3i64), rng.random_range(1..=3i64));
    (Weight::from((a, b)), BigRational::new(a.into(), b.into()))
}

fn draw(rng: &mut ChaCha8Rng, hard: bool, large: bool, own: bool) -> Result<Twin, Error> {
    let mut twin = Twin::new(rng.random_range(2..=5))?;
    let nodes = twin.nodes;
    let steps = if large { rng.random_range(10..=20) } else { rng.random_range(2..=8) };
    let reading = rng.random_range(0..3) == 0;
    let primitive = |twin: &mut Twin, rng: &mut ChaCha8Rng| -> Result<(), Error> {
        let node = rng.random_range(0..nodes);
        match rng.random_range(0..6) {
            0 | 1 => {
                let count = twin.values.len();
                let reads = (reading && count > 0 && rng.random_range(0..2) == 0)
                    .then(|| (0..rng.random_range(1..=2)).map(|_| rng.random_range(0..count)).collect());
                twin.contribute(node, reads)
            }
            2 | 3 => {
                let exact = if hard && rng.random_range(0..4) == 0 {
                    BigRational::from_float(pick(rng, &[1e-12, 1e12, 0.1])).unwrap_or_else(BigRational::one)
                } else {
                    BigRational::new(rng.random_range(0..=4).into(), rng.random_range(1..=3).into())
                };
                let other = rng.random_range(0..nodes);
                let holders = match rng.random_range(0..4) {
                    0 => Vec::new(),
                    1 if other != node => vec![node, other],
                    _ => vec![node],
                };
                twin.noise(&holders, ratio(&exact), exact)
            }
            4 => {
                let group: Vec<usize> = (0..nodes).filter(|_| rng.random_range(0..3) > 0).collect();
                if group.len() < 2 {
                    return Ok(());
                }
                let m = BigInt::from(group.len());
                let values = twin.program.zero_sum(&group, 2)?;
                twin.group(&group, values, |i, j| {
                    let two = BigRational::from_integer(2.into());
                    let share = BigRational::new((-2).into(), m.clone());
                    if i == j { two + share } else { share }
                });
                Ok(())
            }
            _ => {
                // Sometimes a covariance A Aᵀ of low rank.
                let group = [node, (node + 1) % nodes];
                let a: Vec<i64> = (0..4).map(|_| rng.random_range(-2..=2)).collect();
                let entry = |i: usize, j: usize| a[2 * i] * a[2 * j] + a[2 * i + 1] * a[2 * j + 1];
                let covariance: Vec<Vec<Weight>> =
                    (0..2).map(|i| (0..2).map(|j| Weight::from(entry(i, j))).collect()).collect();
                let values = twin.program.correlated(&group, &covariance)?;
                twin.group(&group, values, |i, j| BigRational::from_integer(entry(i, j).into()));
                Ok(())
            }
        }
    };
    twin.contribute(rng.random_range(0..nodes), None)?;
    for _ in 0..steps {
        if rng.random_range(0..2) == 0 {
            primitive(&mut twin, rng)?;
        }
        let count = twin.values.len();
        let terms: Vec<(Weight, BigRational, usize)> = (0..rng.random_range(1..=4))
            .map(|_| {
                let (w, x) = weight(rng, hard);
                (w, x, rng.random_range(0..count))
            })
            .collect();
        let mut distinct: Vec<(Weight, BigRational, usize)> = Vec::new();
        for term in terms {
            if !distinct.iter().any(|known| known.2 == term.2) {
                distinct.push(term);
            }
        }
        if own {
            let variance = BigRational::new(rng.random_range(1..=4).into(), rng.random_range(1..=3).into());
            twin.noise(&[], ratio(&variance), variance)?;
            distinct.push((Weight::from(1), BigRational::one(), twin.values.len() - 1));
        }
        let value = twin.combine(&distinct)?;
        let from = rng.random_range(0..nodes);
        let to = (from + 1) % nodes;
        match rng.random_range(0..6) {
            0 | 1 => {
                twin.program.broadcast(from, twin.values[value])?;
                twin.see(value, None, None);
            }
            2 | 3 => {
                twin.program.send(from, to, twin.values[value])?;
                twin.see(value, Some(vec![from, to]), Some((from, to)));
            }
            4 => {
                let other = rng.random_range(0..twin.values.len());
                let (w, x) = weight(rng, hard);
                let addends = [(from, Weight::from(1), twin.values[value]), (to, w, twin.values[other])];
                let sum = twin.program.secure_sum(from, addends)?;
                let form = twin.sum([(&BigRational::one(), value), (&x, other)].into_iter());
                let sum = twin.push(sum, form);
                twin.see(sum, Some(vec![from]), None);
            }
            _ => {}
        }
    }
    Ok(twin)
}

fn compare(
    outcome: &mut Outcome,
    twin: &Twin,
    observer: &Observer,
    directions: &[(usize, Vec<i64>)],
    options: AccountOptions,
) {
    let size = [twin.values.len() as u64, twin.sights.len() as u64, observer.members().len() as u64];
    let violation = |kind: &'static str, what: String| Violation {
        kind,
        size,
        what: what.clone(),
        test: format!(
            "let program = Program::read(r#\"{}\"#.as_bytes())?;\nlet observer = Observer::coalition(&{:?}).tapping(&{:?});\n\
             let account = program.account(&observer)?;\n// {what}",
            twin.text(),
            observer.members(),
            observer.tapped,
        ),
    };
    let options = AccountOptions {
        directions: directions
            .iter()
            .filter(|(u, _)| !observer.contains(*u))
            .map(|(u, weights)| (*u, weights.iter().map(|&w| Weight::from(w)).collect()))
            .collect(),
        ..options
    };
    let hidden = unseen(twin, observer);
    let account = match (twin.program.account_with(observer, &options), hidden) {
        (Err(error), true) if matches!(error.carried(), Some(ProgramError::NotSeen { .. })) => {
            outcome.check(true, || violation("", String::new()));
            return;
        }
        (Ok(account), true) => {
            outcome.check(false, || violation("hidden read not found", format!("{:?}", account.adaptivity)));
            return;
        }
        (Ok(account), false) => account,
        (Err(error), _) => {
            outcome.check(false, || violation("refused", error.to_string()));
            return;
        }
    };
    outcome.check(account.adaptivity != Dependence::Revealed, || violation("revealed", String::new()));
    for u in (0..twin.nodes).filter(|&u| !observer.contains(u) && twin.program.uses(u) > 0) {
        node(outcome, twin, (&account, observer), u, &directions[u].1, &violation);
    }
}

fn node(
    outcome: &mut Outcome,
    twin: &Twin,
    (account, observer): (&ProgramAccount, &Observer),
    u: usize,
    direction: &[i64],
    violation: &impl Fn(&'static str, String) -> Violation,
) {
    let truth = truth(twin, observer, u);
    let k = truth.gram.len();
    let whole = |x: i64| BigRational::from_integer(x.into());
    let mut check = |set: &SensitivitySet, expected: Option<&BigRational>| {
        let wrong = |kind: &'static str, found: String| {
            let expected = expected.map_or("infinite".to_owned(), |x| f64::from(&ratio(x)).to_string());
            violation(kind, format!("node {u}, {set:?}: {found}, the truth is {expected}"))
        };
        match (account.verdict(u, set), expected) {
            (Ok(NodeVerdict::Noiseless { .. }), None) => outcome.check(true, || wrong("", String::new())),
            (Ok(NodeVerdict::Bounded(loss)), Some(expected)) => {
                let above = BigRational::from_float(loss.value()).is_some_and(|x| x >= *expected);
                let below = BigRational::from_float(loss.lower).is_some_and(|x| x <= *expected);
                outcome.check(above, || wrong("below the truth", format!("{loss:?}")));
                outcome.check(below, || wrong("lower end above the truth", format!("{loss:?}")));
                let near = loss.value() - loss.lower <= 1e-9 * loss.value();
                let tight = loss.value.grade() != Grade::Exact || near;
                outcome.check(tight, || wrong("exact but wide", format!("{loss:?}")));
            }
            (Err(Error::Certify(ndp_certify::Error::LossTooLarge(_))), Some(_)) => {}
            (Ok(found), _) => outcome.check(false, || wrong("noise or none", format!("{found:?}"))),
            (Err(error), _) => outcome.check(false, || wrong("refused", error.to_string())),
        }
    };
    let along = |change: &[BigRational]| (!truth.leaking(change)).then(|| truth.along(change));
    let ones = vec![BigRational::one(); k];
    check(&SensitivitySet::SameDirection, along(&ones).as_ref());
    let named: Vec<BigRational> = direction.iter().map(|&x| whole(x)).collect();
    check(&SensitivitySet::Along(direction.iter().map(|&x| x as f64).collect()), along(&named).as_ref());
    let free = truth.leaks.is_empty();
    let largest = (0..k).map(|i| truth.gram[i][i].clone()).fold(BigRational::zero(), BigRational::max);
    check(&SensitivitySet::UseLevel, free.then_some(&largest));
    let mut signs = BigRational::zero();
    for mask in 0..1u64 << k.min(12) {
        let change: Vec<BigRational> =
            (0..k).map(|i| whole(if mask >> i & 1 == 1 { 1 } else { -1 })).collect();
        signs = signs.max(truth.along(&change));
    }
    if k <= 12 {
        check(&SensitivitySet::Signs, free.then_some(&signs));
    }
    if !free {
        return;
    }
    // The loss for vectors is at least that for signs, and at most the sum of the absolute values of all
    // entries.
    let sizes: BigRational = truth.gram.iter().flatten().map(|x| x.abs()).sum();
    if let Ok(NodeVerdict::Bounded(loss)) = account.verdict(u, &SensitivitySet::Vectors { dimension: k }) {
        let high = BigRational::from_float(loss.value()).unwrap_or_else(BigRational::zero);
        let low = BigRational::from_float(loss.lower).unwrap_or_else(BigRational::zero);
        outcome.check(high >= signs && low <= sizes, || {
            violation("vectors out of order", format!("node {u}: {loss:?}"))
        });
    }
    for (i, row) in truth.gram.iter().enumerate() {
        for (j, expected) in row.iter().enumerate() {
            let Ok((center, radius)) = account.gram(u, i, j) else { continue };
            let (Some(center), Some(radius)) =
                (BigRational::from_float(center), BigRational::from_float(radius))
            else {
                continue;
            };
            let apart = (center - expected).abs();
            outcome
                .check(apart <= radius, || violation("entry outside", format!("node {u}: entry {i}, {j}")));
        }
    }
    let change: Vec<Weight> = (0..k).map(|_| Weight::from(1)).collect();
    let (attack, shift) = match account.witnesses(u, &change) {
        Ok(pair) => pair,
        Err(error) => {
            outcome.check(false, || violation("no witnesses", format!("node {u}: {error}")));
            return;
        }
    };
    let expected = ratio(&truth.along(&ones));
    let attacked = twin.program.check_attack(observer, &attack);
    let shifted = twin.program.check_shift(observer, &shift);
    outcome.check(attacked == Ok(Some(expected.clone())), || {
        violation("attack", format!("node {u}: {attacked:?}"))
    });
    outcome.check(shifted == Ok(expected), || violation("shift", format!("node {u}: {shifted:?}")));
}
