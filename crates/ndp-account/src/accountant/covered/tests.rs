//! Coalitions of a size, covered by accounts, by larger ones and by bounds.

use super::*;
use crate::accountant::audience::all_of_size;
use crate::example::Gossip;
use crate::{OwnNoise, accounts};
use ndp_dp::{Delta, Measure, Verdict};
use ndp_graph::{
    GossipMatrix, generators,
    progress::{Silent, Stop},
};

fn gossip(nodes: usize) -> Result<Gossip, Error> {
    Ok(Gossip::new(GossipMatrix::metropolis(&generators::path_graph(nodes)?), 3))
}

fn of<'a>(protocol: &'a dyn Protocol, audience: &Audience) -> Result<Covered<'a>, Error> {
    Covered::of(protocol, audience, |observers| accounts(protocol, observers, &Silent))
}

fn epsilon() -> Result<Measure, Error> {
    Ok(Measure::Approx(Delta::new(1e-5)?))
}

/// The largest loss of coalitions of a size also covers all smaller coalitions, which are enumerated here.
#[test]
fn smaller_coalitions_are_covered() -> Result<(), Error> {
    let (gossip, noise) = (gossip(7)?, NoiseMultiplier::new(2.0)?);
    let mut before = 0.0;
    for size in 1..7 {
        let covered = of(&gossip, &Audience::coalitions(7, size, &Observer::node(0))?)?;
        let worst = covered.worst(noise, epsilon()?)?.ok_or(Error::Cancelled)?.loss.into_value();
        for smaller in 1..=size {
            for observer in all_of_size(7, smaller) {
                let account = gossip.account(&observer)?;
                for u in (0..7).filter(|&u| !observer.contains(u)) {
                    let loss = account.profile(u, noise)?.loss(epsilon()?)?.into_value();
                    assert!(loss <= worst * (1.0 + 1e-12), "{observer}: {loss} above {worst}");
                }
            }
        }
        assert!(before <= worst);
        before = worst;
        let target = Target::worst(epsilon()?, worst * 0.99);
        assert_eq!(covered.check(noise, &target)?.verdict, Verdict::Violated);
        let least = covered.least_noise(&target)?;
        assert_eq!(covered.check(least.noise, &target)?.verdict, Verdict::Met);
        assert!(least.tightest.is_some_and(|pair| pair.observer.members().len() == size));
    }
    Ok(())
}

/// Too many to look at: the bound covers them, what knows of fewer is kept, and no mean or pair is judged
/// by it.
#[test]
fn too_many_coalitions_have_a_bound() -> Result<(), Error> {
    let (gossip, noise) = (gossip(150)?, NoiseMultiplier::new(2.0)?);
    let chosen = Observer::coalition(&[0, 149]);
    let audience = Audience::coalitions(150, 2, &chosen)?.map(Observer::without_own_noise);
    assert_eq!(audience.looked_at().len(), 1);
    let covered = of(&gossip, &Audience::coalitions(150, 2, &chosen)?)?;
    let coverage = |rest| Coverage::Coalitions {
        size: 2,
        among: crate::Among::Everybody,
        nodes: 150,
        looked_at: 1,
        rest,
    };
    assert_eq!(covered.coverage, coverage(Rest::Bounded));
    // Its end hears the noisy value of its neighbor: the local loss, 1/noise.
    let worst = covered.worst(noise, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
    assert!((worst.loss.value() - 0.5).abs() < 1e-9 && worst.observer == chosen);
    assert_eq!(worst.loss.grade(), ndp_dp::Grade::Exact);
    let limits = Target::pairs(Measure::Gaussian, |_, _| 3.0);
    for target in [limits, Target::mean(epsilon()?, 3.0)] {
        assert!(matches!(covered.check(noise, &target), Err(Error::NotOffered(_))));
        assert!(matches!(covered.least_noise(&target), Err(Error::NotOffered(_))));
    }
    let few = of(&gossip, &Audience::coalitions(150, 1, &chosen)?)?;
    assert_eq!(few.coverage, Coverage::All { nodes: 150 });
    // A limit is not met while some coalitions are not covered.
    assert_eq!(coverage(Rest::Unknown).verdict(Verdict::Met), Verdict::NotShown);
    assert!(coverage(Rest::Bounded).weaker(&coverage(Rest::Unknown))? == coverage(Rest::Unknown));
    let mixed = coverage(Rest::Bounded).weaker(&Coverage::All { nodes: 150 });
    assert!(matches!(mixed, Err(Error::NoGuarantee(_))));
    Ok(())
}

/// If the account of a coalition is refused, a bound that assumes the same knowledge stands for all
/// coalitions. If the bound is refused as well, the refusal of the account is returned.
#[test]
fn refused_coalitions_have_the_bound_or_no_answer() -> Result<(), Error> {
    struct Alone(Gossip, bool);
    impl Protocol for Alone {
        fn node_count(&self) -> usize {
            Protocol::node_count(&self.0)
        }

        fn account_until<'a>(
            &'a self,
            observer: &Observer,
            _: &Stop,
        ) -> Result<Box<dyn Account + 'a>, Error> {
            observer.single(7)?;
            self.0.account(observer)
        }

        fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
            let none = Error::NotOffered("no bound");
            if self.1 { self.0.local_bound(observer) } else { Err(none) }
        }
    }
    let audience = Audience::coalitions(7, 3, &Observer::node(0))?.map(Observer::without_own_noise);
    let protocol = Alone(gossip(7)?, true);
    let covered = of(&protocol, &audience)?;
    let rest = Rest::Bounded;
    assert_eq!(
        covered.coverage,
        Coverage::Coalitions { size: 3, among: crate::Among::Everybody, nodes: 7, looked_at: 0, rest }
    );
    assert_eq!(covered.statement()?.own_noise, OwnNoise::Unknown);
    // Accounts that stand for others assume the same knowledge, also if no observer was chosen.
    let path = Gossip::new(GossipMatrix::metropolis(&generators::path_graph(6)?), 2);
    let all = Audience::coalitions(6, 5, &Observer::node(0))?.map(Observer::without_own_noise);
    let bound = all.by_bound().ok_or(Error::Cancelled)?;
    let alike = Covered::of(&path, &bound, |observers| accounts(&path, observers, &Silent))?;
    assert!(matches!(alike.coverage, Coverage::Coalitions { rest: Rest::Symmetric, .. }));
    assert_eq!(alike.statement()?.own_noise, OwnNoise::Unknown);
    let target = Target::worst(Measure::Gaussian, 0.5);
    assert_eq!(covered.check(NoiseMultiplier::new(2.0)?, &target)?.verdict, Verdict::Met);
    assert_eq!(covered.check(NoiseMultiplier::new(1.9)?, &target)?.verdict, Verdict::NotShown);
    let refused = of(&Alone(gossip(7)?, false), &audience).err();
    assert_eq!(refused, Some(Error::NotOffered("this protocol has no account of coalitions")));
    Ok(())
}
