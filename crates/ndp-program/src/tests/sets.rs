//! What may change: patterns of participation, the worst use, and parts of vectors; and messages that are
//! lost.

use super::*;
use crate::constructors::*;
use ndp_account::Changes;
use ndp_dp::Grade;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::path_graph;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Cyclic participation is the largest loss over the patterns; separation is bounded by one diagonal.
#[test]
fn patterns_of_participation() -> Outcome {
    let mut program = Program::new(1)?;
    let half = toeplitz(6, &[Weight::from(1), Weight::from((1, 2))]);
    let noise = program.noise_over_time(0, &inverse_of_lower(&half)?, 1)?;
    for z in noise {
        let x = program.contribute(0, Reads::Nothing)?;
        let y = program.add(&[x, z])?;
        program.broadcast(0, y)?;
    }
    // G = CᵀC: 5/4 on the diagonal (1 at the end), and 1/2 next to it.
    let account = program.account(&Observer::outsider())?;
    let patterns = |patterns, within| SensitivitySet::Patterns { patterns, within: Box::new(within) };
    let cyclic = |period| patterns(Patterns::Cyclic { period }, SensitivitySet::Vectors { dimension: 9 });
    assert_loss(&account, 0, &cyclic(2), 3.75);
    assert_loss(&account, 0, &cyclic(3), 2.5);
    assert_loss(&account, 0, &cyclic(1), 5.0 * 1.25 + 1.0 + 10.0 * 0.5);
    let listed = patterns(Patterns::Listed(vec![vec![0, 1], vec![4, 5]]), SensitivitySet::SameDirection);
    assert_loss(&account, 0, &listed, 3.5);
    let separated = patterns(Patterns::Separated { gap: 2 }, SensitivitySet::Vectors { dimension: 9 });
    let bound = account.loss(0, &separated)?;
    assert!(bound.value() >= 3.75 && bound.value() <= 3.0 * 2.25 + 1e-6, "{bound:?}");
    assert_eq!(bound.value.grade(), Grade::UpperBound);
    // Uses that are never sent have no part in a pattern.
    let mut sparse = Program::new(1)?;
    for t in 0..4 {
        let x = sparse.contribute(0, Reads::Nothing)?;
        let z = sparse.noise([0], 1)?;
        let y = sparse.combine([(1 + t, x), (1, z)])?;
        if t != 1 {
            sparse.broadcast(0, y)?;
        }
    }
    let bound = sparse.account(&Observer::outsider())?.loss(0, &separated)?;
    // 1, -, 9, 16: the first one and the last one.
    assert!(bound.value() >= 17.0 && bound.value() < 17.0 + 1e-6, "{bound:?}");
    let bounds = vec![2.0; 6];
    let doubled = SensitivitySet::Bounded { bounds, within: Box::new(SensitivitySet::UseLevel) };
    assert_loss(&account, 0, &doubled, 5.0);
    let rounded = SensitivitySet::Bounded {
        bounds: vec![0.1; 6],
        within: Box::new(SensitivitySet::Along(vec![0.1; 6])),
    };
    assert_refused(account.loss(0, &rounded), "is no 64-bit number");
    Ok(())
}

/// For a single use all sets give the same, for any bound: also if the square of the bound underflows,
/// although 1e300 times it is about 1e-40, and if the loss itself underflows, which must not become 0.
#[test]
fn bounds_whose_squares_are_no_floats_scale_losses() -> Outcome {
    for (weight, variance, bound) in
        [(1e30, 1e-240, 1e-170), (1e30, 1e-240, 1e-161), (1.0, 1e200, 1e-62), (1.0, 1.0, 0.1)]
    {
        let mut program = Program::new(2)?;
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], variance)?);
        let y = program.combine([(Weight::from(weight), x), (Weight::from(1), z)])?;
        program.send(0, 1, y)?;
        let account = program.account(&Observer::node(1))?;
        let exact = |x: f64| num_rational::BigRational::from_float(x).expect("finite");
        let truth = (exact(weight) * exact(bound)).pow(2) / exact(variance);
        for within in [
            SensitivitySet::UseLevel,
            SensitivitySet::SameDirection,
            SensitivitySet::Signs,
            SensitivitySet::Vectors { dimension: 3 },
        ] {
            let loss = account
                .loss(0, &SensitivitySet::Bounded { bounds: vec![bound], within: Box::new(within) })?;
            assert!(exact(loss.lower) <= truth && truth <= exact(loss.value()), "{loss:?}");
            assert!(loss.value() - loss.lower <= 1e-8 * loss.value() + 1e-300, "{loss:?}");
        }
    }
    Ok(())
}

/// The same for directions that are asked for: two uses, each with a noise of its own, with losses 1e300
/// or 1.
#[test]
fn directions_whose_squares_are_no_floats_have_losses() -> Outcome {
    for (weight, variance) in [(1e30, 1e-240), (1.0, 1.0)] {
        let mut program = Program::new(2)?;
        for _ in 0..2 {
            let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], variance)?);
            let y = program.combine([(Weight::from(weight), x), (Weight::from(1), z)])?;
            program.send(0, 1, y)?;
        }
        let along = vec![1e-170, 3e-170];
        let asked = vec![(0, along.iter().map(|&x| Weight::from(x)).collect())];
        let options = AccountOptions { directions: asked, ..AccountOptions::default() };
        let account = program.account_with(&Observer::node(1), &options)?;
        let exact = |x: f64| num_rational::BigRational::from_float(x).expect("finite");
        let squares = along.iter().map(|&x| exact(x).pow(2)).sum::<num_rational::BigRational>();
        let truth = exact(weight).pow(2) / exact(variance) * squares;
        let loss = account.loss(0, &SensitivitySet::Along(along))?;
        assert!(exact(loss.lower) <= truth && truth <= exact(loss.value()), "{loss:?}");
        assert!(loss.value() - loss.lower <= 1e-8 * loss.value() + 1e-300, "{loss:?}");
    }
    Ok(())
}

/// The worst use need not be the first: here it is the third of four, with the least noise.
#[test]
fn the_worst_use_counts() -> Outcome {
    let mut program = Program::new(1)?;
    for variance in [4, 2, 1, 3] {
        let x = program.contribute(0, Reads::Nothing)?;
        let z = program.noise([0], variance)?;
        let y = program.add(&[x, z])?;
        program.broadcast(0, y)?;
    }
    let account = program.account(&Observer::outsider())?;
    assert_loss(&account, 0, &SensitivitySet::UseLevel, 1.0);
    let sum = 0.25 + 0.5 + 1.0 + 1.0 / 3.0;
    for set in
        [SensitivitySet::SameDirection, SensitivitySet::Signs, SensitivitySet::Vectors { dimension: 2 }]
    {
        assert_loss(&account, 0, &set, sum);
    }
    let last_two = SensitivitySet::Patterns {
        patterns: Patterns::Listed(vec![vec![0, 1], vec![2, 3]]),
        within: Box::new(SensitivitySet::UseLevel),
    };
    assert_loss(&account, 0, &last_two, 1.0);
    Ok(())
}

/// Two kinds of coordinates, one of which is sent twice: the loss of a vector is that of the worse kind; for
/// several uses there is a bound.
#[test]
fn parts_of_vectors() -> Outcome {
    let kind = |times: i64, second: bool| -> Result<ProgramAccount, ndp_account::Error> {
        let mut program = Program::new(1)?;
        for use_ in 0..2 {
            let x = program.contribute(0, Reads::Nothing)?;
            for _ in 0..times {
                let z = program.noise([0], 1)?;
                let y = program.add(&[x, z])?;
                if use_ == 0 || second {
                    program.broadcast(0, y)?;
                }
            }
        }
        program.account(&Observer::outsider())
    };
    // G = diag(2, 0) in one kind of coordinate, and the identity in the other.
    let accounts = [kind(2, false)?, kind(1, true)?];
    let of = |set: &SensitivitySet| loss_by_coordinates(&accounts, 0, set);
    for set in [SensitivitySet::UseLevel, SensitivitySet::SameDirection] {
        let loss = of(&set)?;
        assert!((loss.value() - 2.0).abs() < 1e-9 && loss.value.grade() == Grade::Exact, "{loss:?}");
    }
    // The first use in one kind, and the second in the other: 3, which the bound attains.
    let loss = of(&SensitivitySet::Vectors { dimension: 2 })?;
    assert!(
        loss.value() >= 3.0 && loss.value() < 3.0 + 1e-6 && loss.value.grade() == Grade::UpperBound,
        "{loss:?}"
    );
    assert_refused(of(&SensitivitySet::Signs), "by coordinates only one use, one direction and vectors");
    assert_refused(loss_by_coordinates(&[], 0, &SensitivitySet::UseLevel), "there is no account");
    // What is assumed of one kind is not hidden by what is revealed of the other.
    let reading = |reads: &dyn Fn(Value) -> Reads| -> Result<ProgramAccount, ndp_account::Error> {
        let mut program = Program::new(2)?;
        let (x, z) = (program.contribute(1, Reads::Nothing)?, program.noise([1], 1)?);
        let secret = program.add(&[x, z])?;
        let (x, z) = (program.contribute(0, reads(secret))?, program.noise([0], 1)?);
        let y = program.add(&[x, z])?;
        program.broadcast(0, y)?;
        program.account(&Observer::outsider())
    };
    let accounts = [reading(&|_| Reads::Seen(None))?, reading(&|secret| Reads::Hidden(Some(vec![secret])))?];
    let found = loss_by_coordinates(&accounts, 0, &SensitivitySet::UseLevel)?;
    assert_eq!(found.reads, Dependence::RevealedAndAssumed);
    Ok(())
}

/// Messages that may be lost: the account counts all of them, as an upper bound.
#[test]
fn lost_messages_are_an_upper_bound() -> Outcome {
    let program = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), 3)?;
    let options = AccountOptions { some_lost: true, ..AccountOptions::default() };
    let set = SensitivitySet::SameDirection;
    let all = program.account(&Observer::node(2))?.loss(0, &set)?;
    let some = program.account_with(&Observer::node(2), &options)?.loss(0, &set)?;
    assert_eq!((some.value(), some.value.grade()), (all.value(), Grade::UpperBound));
    // A run in which the second message is lost.
    let mut short = Program::new(1)?;
    let x = short.contribute(0, Reads::Nothing)?;
    let (a, b) = (short.noise([0], 1)?, short.noise([0], 1)?);
    let (a, b) = (short.add(&[x, a])?, short.add(&[x, b])?);
    short.broadcast(0, a)?;
    let lost = short.account(&Observer::outsider())?.loss(0, &set)?;
    short.broadcast(0, b)?;
    let whole = short.account_with(&Observer::outsider(), &options)?.loss(0, &set)?;
    // So that the loss of the whole run is attained by no more than 0.
    assert!(lost.value() < whole.value() && whole.lower == 0.0 && whole.value.grade() == Grade::UpperBound);
    Ok(())
}

/// Three uses with a noise each, all sent. In patterns of uses two apart, weights and bounds of ten give a
/// hundred times the loss; a pattern of one use has that of the largest.
#[test]
fn separated_patterns_keep_weights_and_bounds() -> Result<(), Error> {
    let mut program = Program::new(2)?;
    for _ in 0..3 {
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
        let sum = program.add(&[x, z])?;
        program.send(0, 1, sum)?;
    }
    let account = program.account(&Observer::node(1))?;
    let bounded = |bounds: &[f64], within| SensitivitySet::Bounded {
        bounds: bounds.to_vec(),
        within: Box::new(within),
    };
    let sets = [
        SensitivitySet::Along(vec![10.0, -10.0, -10.0]),
        bounded(&[10.0; 3], SensitivitySet::Signs),
        bounded(&[10.0; 3], SensitivitySet::SameDirection),
        bounded(&[5.0; 3], SensitivitySet::Along(vec![2.0, 2.0, -2.0])),
        bounded(&[2.0; 3], bounded(&[5.0; 3], SensitivitySet::Vectors { dimension: 2 })),
    ];
    for set in sets {
        let patterns = |patterns| SensitivitySet::Patterns { patterns, within: Box::new(set.clone()) };
        let loss = |set: &SensitivitySet| account.loss(0, set);
        for (gap, expected) in [(1, 300.0), (2, 200.0), (9, 100.0)] {
            let found = loss(&patterns(Patterns::Separated { gap }))?;
            assert!((expected..expected * 1.001).contains(&found.value()), "{set:?} {gap}: {found:?}");
            assert!(
                found.lower <= expected && found.lower >= 100.0 * (1.0 - 1e-9),
                "{set:?} {gap}: {found:?}"
            );
            let cyclic = loss(&patterns(Patterns::Cyclic { period: gap }))?;
            assert!(found.value() >= cyclic.lower, "{set:?}");
        }
    }
    // What may change is less than all data, whatever the set within.
    let all = SensitivitySet::Vectors { dimension: 3 };
    for (set, changes) in [
        (bounded(&[0.0, 0.0, 1.0], all.clone()), Changes::Declared),
        (SensitivitySet::Along(vec![0.5; 3]), Changes::Declared),
        (all, Changes::EveryGradient),
    ] {
        assert_eq!(Declared::new(program.clone(), set).terms().changes, changes);
    }
    for (bad, words) in [
        (SensitivitySet::Along(vec![1.0]), "the number of weights is 1"),
        (bounded(&[1.0], SensitivitySet::Signs), "the number of bounds is 1"),
        (SensitivitySet::Vectors { dimension: 0 }, "dimension 0"),
    ] {
        let set =
            SensitivitySet::Patterns { patterns: Patterns::Separated { gap: 2 }, within: Box::new(bad) };
        assert_refused(account.loss(0, &set), words);
    }
    Ok(())
}

/// Of the uses `x₀`, `x₁`, `x₂` one message shows `x₀ − x₂`, another `x₁`, behind noises of variance 10¹².
/// Uses two apart lose at most 4 10⁻¹² by the bound, and `10⁻¹²` each alone: nine digits are not known,
/// however small both are.
#[test]
fn a_bound_on_a_tiny_loss_is_a_bound() -> Result<(), Error> {
    for (variance, size) in [(1.0, 1.0), (1e12, 1e-12)] {
        let mut program = Program::new(2)?;
        let x = [0; 3].map(|_| program.contribute(0, Reads::Nothing));
        let [x0, x1, x2] = [x[0].clone()?, x[1].clone()?, x[2].clone()?];
        for weights in [vec![(1.0, x0), (-1.0, x2)], vec![(1.0, x1)]] {
            let z = program.noise([0], variance)?;
            let sent = program.combine(weights.into_iter().chain([(1.0, z)]))?;
            program.send(0, 1, sent)?;
        }
        let (patterns, within) = (Patterns::Separated { gap: 2 }, Box::new(SensitivitySet::UseLevel));
        let found =
            program.account(&Observer::node(1))?.loss(0, &SensitivitySet::Patterns { patterns, within })?;
        assert_eq!(found.value.grade(), Grade::UpperBound, "{found:?}");
        assert!(
            found.lower >= size * (1.0 - 1e-9) && found.value() <= 4.0 * size * (1.0 + 1e-9),
            "{found:?}"
        );
    }
    Ok(())
}
