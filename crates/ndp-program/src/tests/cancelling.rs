//! Noises of any size that the observer knows up to rounding, and that cancel in what it is then sent: every
//! engine is compared with exact rows.

use super::*;
use crate::meter::Meter;
use num_rational::BigRational;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn share(rng: &mut impl Rng) -> BigRational {
    let sign = if rng.random_bool(0.5) { 1 } else { -1 };
    BigRational::new((sign * rng.random_range(1..30)).into(), rng.random_range(1..30).into())
}

fn weight(x: &BigRational) -> Weight {
    x.to_string().parse().expect("a ratio")
}

/// Noises, sums of which are shown; then contributions with sums that cancel, with and without a noise of
/// their own.
fn steps(program: &mut Program, rng: &mut impl Rng) -> Result<(), crate::ProgramError> {
    let noises = (0..rng.random_range(1..4))
        .map(|_| {
            let variance = BigRational::new(rng.random_range(1..999).into(), 7.into())
                * BigRational::from_integer(10_i64.pow(rng.random_range(0..15)).into());
            program.noise([0], weight(&variance))
        })
        .collect::<Result<Vec<_>, _>>()?;
    for (k, &z) in noises.iter().enumerate() {
        // Together with what was shown before, so that this noise is known as well.
        let mut terms = vec![(weight(&share(rng)), z)];
        terms.extend(noises[..k].iter().map(|&other| (weight(&share(rng)), other)));
        let told = program.combine(terms)?;
        program.send(0, 1, told)?;
    }
    for _ in 0..rng.random_range(1..3) {
        let shares: Vec<BigRational> = noises.iter().map(|_| share(rng)).collect();
        let by = if rng.random_bool(0.5) { BigRational::from_integer(1.into()) } else { share(rng) };
        let terms = |scale: &BigRational| -> Vec<_> {
            shares.iter().zip(&noises).map(|(share, &z)| (weight(&(share * scale)), z)).collect()
        };
        let first = program.combine(terms(&BigRational::from_integer(1.into())))?;
        let again = program.combine(terms(&by.recip()))?;
        let second = program.combine([(weight(&-by), again)])?;
        let x = program.contribute(0, Reads::Nothing)?;
        let mut all = vec![x, first, second];
        if rng.random_bool(0.7) {
            all.push(program.noise([0], (rng.random_range(1..99), 10))?);
        }
        let sum = program.add(&all)?;
        program.send(0, 1, sum)?;
    }
    Ok(())
}

#[test]
fn all_engines_see_what_cancels() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let set = SensitivitySet::SameDirection;
    let observer = Observer::node(1);
    let mut met = [0; 3];
    for case in 0..600 {
        let seed = rng.random();
        let mut program = Program::new(2)?;
        steps(&mut program, &mut ChaCha8Rng::seed_from_u64(seed))?;
        let exact = AccountOptions { sweeps_from: usize::MAX, ..AccountOptions::default() };
        let truth = program.account_with(&observer, &exact)?.verdict(0, &set)?;
        let swept = AccountOptions { sweeps_from: 0, ..AccountOptions::default() };
        let sparse = AccountOptions { sparse_from: 0, ..exact.clone() };
        let mut meter = Meter::new(2, [observer.clone()], set.clone())?;
        meter.step(|program| steps(program, &mut ChaCha8Rng::seed_from_u64(seed)))?;
        let found = [
            program.account_with(&observer, &swept).and_then(|account| account.verdict(0, &set)),
            program.account_with(&observer, &sparse).and_then(|account| account.verdict(0, &set)),
            meter.reading(0).map(|reading| reading.verdict(0).ok().flatten().cloned().expect("no member")),
        ];
        for (engine, found) in found.iter().enumerate() {
            match (&truth, found) {
                (NodeVerdict::Noiseless { .. }, Ok(NodeVerdict::Noiseless { .. })) => met[engine] += 1,
                (NodeVerdict::Bounded(truth), Ok(NodeVerdict::Bounded(found))) => {
                    let holds = truth.lower <= found.value() && found.lower <= truth.value();
                    assert!(holds, "{case}, engine {engine}: {found:?} {truth:?}");
                    met[engine] += 1;
                }
                (_, Err(_)) => {}
                _ => panic!("{case}, engine {engine}: {found:?}, but {truth:?}"),
            }
        }
    }
    assert!(met.iter().all(|&met| met > 300), "{met:?}");
    Ok(())
}
