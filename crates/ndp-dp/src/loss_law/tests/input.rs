//! Input that is refused, and limits.

use super::{delta, gaussian, laplaces, sampled};
use crate::loss_law::Direction;
use crate::{Delta, Error, Grade, LossLaw, Neighbors, Sigma, UpperBound};

#[test]
fn relations_and_directions_do_not_mix() {
    let (replace, add) = (laplaces(2.0, 1, Neighbors::ReplaceOne), sampled(0.1, 1.0, 5));
    assert_eq!(LossLaw::compose(&[replace.clone(), add.clone()]).err(), Some(Error::MixedNeighbors));
    assert_eq!(
        LossLaw::seen_mixture(&[(0.5, replace), (0.5, sampled(0.1, 1.0, 1))]).err(),
        Some(Error::MixedNeighbors)
    );
    let remove = add.clone().only(Direction::Remove).unwrap();
    assert_eq!(remove.clone().only(Direction::Add).err(), Some(Error::MixedNeighbors));
    let other = add.clone().only(Direction::Add).unwrap();
    assert_eq!(LossLaw::compose(&[remove.clone(), other]).err(), Some(Error::MixedNeighbors));
    // A law with one direction and a law with both compose to one with that direction only.
    let both = LossLaw::compose(&[remove.clone(), add.clone()]).unwrap();
    let ten = sampled(0.1, 1.0, 10).only(Direction::Remove).unwrap();
    assert_eq!(both.epsilon(delta(1e-6)), ten.epsilon(delta(1e-6)));
}

#[test]
fn bad_input_is_refused() {
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(
            LossLaw::sampled_gaussian(gaussian(1.0), bad),
            Err(Error::InvalidParameter { name: "a probability", .. })
        ));
        assert!(matches!(
            LossLaw::finite(&[bad, 1.0 - bad], &[0.5, 0.5], Neighbors::ReplaceOne),
            Err(Error::InvalidLaw { what: "probability", .. })
        ));
        assert!(matches!(
            LossLaw::of_delta(|_| 0.0, |_| 0.0, bad, Neighbors::ReplaceOne),
            Err(Error::InvalidParameter { name: "the relative error of a profile", .. })
        ));
        assert!(matches!(
            LossLaw::of_delta(move |_| bad, |_| 0.0, 0.0, Neighbors::ReplaceOne),
            Err(Error::InvalidParameter { name: "the delta of a profile", .. })
        ));
    }
    assert!(matches!(
        LossLaw::finite(&[1.0], &[0.5, 0.5], Neighbors::ReplaceOne),
        Err(Error::InvalidParameter { name: "the second law of a pair", .. })
    ));
    assert!(matches!(
        LossLaw::finite(&[], &[], Neighbors::ReplaceOne),
        Err(Error::InvalidLaw { what: "sum", .. })
    ));
    assert!(matches!(LossLaw::seen_mixture(&[]), Err(Error::InvalidLaw { what: "sum", .. })));
    assert!(matches!(
        LossLaw::seen_mixture(&[(1.0, sampled(0.1, 1.0, 2))]),
        Err(Error::InvalidParameter { name: "a part of a mixture", .. })
    ));
    assert!(matches!(
        LossLaw::discrete_gaussian(Sigma::new(1e5).unwrap(), Neighbors::ReplaceOne),
        Err(Error::InvalidParameter { name: "the parameter of discrete Gaussian noise", .. })
    ));
    // Functions that are no profile: one that increases, and a step, which is not convex.
    assert!(matches!(
        LossLaw::of_delta(|e| 0.1 + 0.001 * e.min(1.0), |_| 0.0, 0.0, Neighbors::ReplaceOne),
        Err(Error::InvalidParameter { name: "the delta of a profile", .. })
    ));
    assert!(matches!(
        LossLaw::of_delta(|e| if e < 1.0 { 0.5 } else { 0.1 }, |_| 0.0, 0.0, Neighbors::ReplaceOne),
        Err(Error::InvalidParameter { name: "the delta of a profile", .. })
    ));
    let law = sampled(0.1, 1.0, 5);
    assert!(
        matches!(law.delta(-1.0), Err(Error::InvalidEpsilon(..)))
            && matches!(law.delta(f64::NAN), Err(Error::InvalidEpsilon(..)))
            && matches!(law.delta(f64::INFINITY), Err(Error::InvalidEpsilon(..)))
    );
    assert!(
        matches!(law.clone().with_step(0.0), Err(Error::InvalidParameter { name: "the step of a grid", .. }))
            && matches!(
                law.clone().with_step(f64::NAN),
                Err(Error::InvalidParameter { name: "the step of a grid", .. })
            )
    );
    assert!(
        matches!(
            law.clone().with_width(0.0),
            Err(Error::InvalidParameter { name: "the width of an answer", .. })
        ) && matches!(
            law.clone().with_width(f64::INFINITY),
            Err(Error::InvalidParameter { name: "the width of an answer", .. })
        )
    );
    assert!(matches!(
        law.times(1 << 60),
        Err(Error::InvalidParameter { name: "the number of releases", .. })
    ));
}

/// Extreme questions: nothing panics, and the ends remain in order.
#[test]
fn limits_are_the_right_ones() {
    let nothing = sampled(0.1, 1.0, 5).times(0).unwrap();
    assert_eq!((nothing.epsilon(delta(1e-5)).upper(), nothing.delta(0.0).unwrap().upper()), (0.0, 0.0));
    assert_eq!(sampled(0.0, 1.0, 1000).epsilon(delta(1e-9)).upper(), 0.0);
    // If every record takes part, this is plain Gaussian noise.
    let all = sampled(1.0, 10.0, 100).epsilon(delta(1e-5));
    let gaussians = LossLaw::gaussian(gaussian(1.0), Neighbors::AddOrRemove).epsilon(delta(1e-5));
    assert!(all.lower() <= gaussians.upper() && gaussians.lower() <= all.upper(), "{all:?} {gaussians:?}");
    assert!(all.upper() - all.lower() < 1e-4);
    // A pair that tells the data sets apart with probability 0.01.
    let sharp = LossLaw::finite(&[0.01, 0.99], &[0.0, 1.0], Neighbors::ReplaceOne).unwrap();
    assert_eq!(sharp.epsilon(delta(1e-3)).upper(), f64::INFINITY);
    let three = sharp.times(3).unwrap();
    assert_eq!(three.epsilon(delta(0.02)).upper(), f64::INFINITY);
    assert!((three.delta(5.0).unwrap().upper() - (1.0 - 0.99_f64.powi(3))).abs() < 1e-12);
    for (rate, sigma, count) in
        [(0.5, 0.05, 3), (1e-6, 1.0, 10_000), (0.01, 1.0, 1_000_000_000), (0.3, 1e6, 2), (0.01, 0.01, 50)]
    {
        for at in [1e-300, 1e-30, 1e-6, 0.5, 1.0 - 1e-12] {
            let found = sampled(rate, sigma, count).with_step(0.1).unwrap().epsilon(Delta::new(at).unwrap());
            assert!(
                0.0 <= found.lower() && found.lower() <= found.upper(),
                "{rate} {sigma} {count} {at}: {found:?}"
            );
        }
        for epsilon in [0.0, 1e-12, 1.0, 1e3, 1e9] {
            let found = sampled(rate, sigma, count).with_step(0.1).unwrap().delta(epsilon).unwrap();
            assert!(
                0.0 <= found.lower() && found.lower() <= found.upper() && found.upper() <= 1.0,
                "{found:?}"
            );
        }
    }
}

/// The grade depends on what is known of a mechanism, and not only on how close the ends are.
#[test]
fn bounds_stay_bounds() {
    let exact = LossLaw::gaussian(gaussian(1.0), Neighbors::ReplaceOne);
    let parts = [(0.3, exact.clone()), (0.7, LossLaw::gaussian(gaussian(3.0), Neighbors::ReplaceOne))];
    let (seen, hidden) = (LossLaw::seen_mixture(&parts).unwrap(), LossLaw::hidden_mixture(&parts).unwrap());
    let grade = |law: &LossLaw| law.epsilon(delta(1e-5)).guarantee().grade();
    assert_eq!(
        (grade(&exact), grade(&seen), grade(&hidden)),
        (Grade::Exact, Grade::Exact, Grade::UpperBound)
    );
    // The δ of a mixture is the mixture of the values of δ.
    let of = |law: &LossLaw| law.delta(0.5).unwrap().upper();
    assert!((of(&seen) - 0.3 * of(&parts[0].1) - 0.7 * of(&parts[1].1)).abs() < 1e-15);
    // The law from a Rényi curve alone is never below the law itself, and not far above it.
    let from_renyi = LossLaw::from_renyi(|order| UpperBound::new(0.5 * order.get()), Neighbors::ReplaceOne);
    let (bound, law) = (from_renyi.epsilon(delta(1e-5)), exact.epsilon(delta(1e-5)));
    assert_eq!(bound.guarantee().grade(), Grade::UpperBound);
    assert!(law.upper() < bound.upper() && bound.upper() < 1.1 * law.upper(), "{bound:?} {law:?}");
    // Composed with a law, it is above both.
    let both = LossLaw::compose(&[from_renyi, exact.clone()]).unwrap().with_width(1e-2).unwrap();
    let two = exact.times(2).unwrap().epsilon(delta(1e-5));
    let found = both.epsilon(delta(1e-5));
    assert!(two.upper() < found.upper() && found.upper() < 1.15 * two.upper(), "{found:?} {two:?}");
}
