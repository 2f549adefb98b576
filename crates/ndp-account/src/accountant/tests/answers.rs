//! Verdicts, shares, least noises.

use super::super::shares::{Used, mean, shares_used, tightest};
use super::super::{
    Allowed, Audience, Comparison, Coverage, Covered, Observer, Protocol, Row, Target, Uniform,
    at_most as smaller, check, least_noise, local_bound, of_outsider, search_of_pair,
};
use super::{Saying, Told, at_most, epsilon, exactly, flat, one, told};
use crate::example::Gossip;
use crate::{Error, Terms};
use ndp_dp::{Delta, Exact, Grade, Measure, NoiseMultiplier, Profile, UpperBound, Verdict};
use ndp_graph::progress::Stop;
use ndp_graph::{GossipMatrix, generators::path_graph};

fn gossip(nodes: usize) -> Result<Gossip, Error> {
    Ok(Gossip::new(GossipMatrix::metropolis(&path_graph(nodes)?), 2))
}

/// The verdict is the worst over all pairs, the tightest pair is one that fails, and all that fail are
/// counted.
#[test]
fn the_worst_pair_decides() -> Result<(), Error> {
    let target = Target::worst(Measure::Gaussian, 1.0);
    for (profile, verdict) in
        [(exactly as fn(f64) -> _, Verdict::Violated), (at_most as fn(f64) -> _, Verdict::NotShown)]
    {
        let accounts = [told(0, 4, move |u, _| profile([0.0, 0.5, 2.0, 1.5][u]))];
        let found = check(&accounts, one()?, &target)?;
        assert_eq!((found.verdict, found.exceeding), (verdict, 2));
        assert_eq!(found.tightest.map(|pair| pair.source), Some(2));
    }
    let used = |verdict, share| Used {
        account: 0,
        source: 0,
        allowed: 1.0,
        share,
        is_of_loss: true,
        verdict,
        pairs: 1,
    };
    let all = [used(Verdict::Met, 0.9), used(Verdict::NotShown, 0.5), used(Verdict::NotShown, 0.6)];
    assert_eq!(tightest(&all).map(|used| used.share), Some(0.6));
    assert_eq!(tightest(&all[..2]).map(|used| used.share), Some(0.5));
    Ok(())
}

/// The mean is `(.3 + .6)/3`, not above .31 and surely above .29 where all losses are exact; two thirds are
/// rounded up.
#[test]
fn means_are_over_all_nodes_and_rounded_up() -> Result<(), Error> {
    let accounts = [told(0, 3, |u, _| exactly([0.0, 0.3, 0.6][u]))];
    let found = mean(accounts[0].as_ref(), one()?, Measure::Gaussian)?;
    assert!((0.3..0.3 + 1e-12).contains(found.value()) && found.grade() == Grade::Exact, "{found:?}");
    let bounded = [told(0, 3, |u, _| if u == 2 { at_most(0.6) } else { exactly([0.0, 0.3][u]) })];
    for (accounts, allowed, verdict, exceeding) in [
        (&accounts, 0.31, Verdict::Met, 0),
        (&accounts, 0.29, Verdict::Violated, 1),
        (&bounded, 0.09, Verdict::Violated, 1),
        (&bounded, 0.11, Verdict::NotShown, 1),
        (&accounts, 0.3 * (1.0 - 1e-7), Verdict::NotShown, 1),
        (&bounded, 0.31, Verdict::Met, 0),
        (&bounded, 0.29, Verdict::NotShown, 1),
    ] {
        let found = check(accounts, one()?, &Target::mean(Measure::Gaussian, allowed))?;
        assert_eq!((found.verdict, found.exceeding), (verdict, exceeding));
    }
    for nothing in [f64::NAN, -1.0] {
        let asked = check(&accounts, one()?, &Target::mean(Measure::Gaussian, nothing));
        assert!(matches!(asked, Err(Error::InvalidParameter { name: "the mean loss allowed", .. })));
    }
    let alike = Uniform::account(3, UpperBound::new(1.0).into(), &Observer::node(0), Terms::VALUES)?;
    let two_thirds = mean(alike.as_ref(), one()?, Measure::Gaussian)?;
    assert_eq!(two_thirds.grade(), Grade::UpperBound);
    let two_thirds = two_thirds.into_value();
    assert!(two_thirds.mul_add(3.0, -2.0) >= 0.0 && two_thirds < 0.667);
    Ok(())
}

/// For a curve that is not Gaussian, a quick bound decides if it is within the limit, and otherwise does not.
#[test]
fn quick_bounds_decide_what_they_can() -> Result<(), Error> {
    let target = Target::worst(epsilon()?, 2.0);
    let of = |exact, quick, decided| {
        let accounts = [told(0, 2, move |_, _| Ok(flat(exact, quick)))];
        shares_used(&accounts, one()?, &target, decided)
            .map(|all| all.first().map(|it| (it.share, it.verdict)))
    };
    assert_eq!(of(1.0, None, true)?, Some((0.5, Verdict::Met)));
    assert_eq!(of(2.0, None, true)?, Some((1.0, Verdict::Met)));
    assert_eq!(of(3.0, None, true)?, Some((1.5, Verdict::NotShown)));
    assert_eq!(of(1.0, Some(1.5), true)?, Some((0.75, Verdict::Met)));
    assert_eq!(of(1.0, Some(2.0), true)?, Some((1.0, Verdict::Met)));
    assert_eq!(of(1.0, Some(3.0), true)?, Some((0.5, Verdict::Met)));
    assert_eq!(of(1.0, Some(3.0), false)?, Some((1.5, Verdict::NotShown)));
    assert_eq!(of(1.0, Some(0.0), true)?, None);
    let both =
        smaller(told(0, 2, |_, _| Ok(flat(3.0, Some(0.8)))), Ok(told(0, 2, |_, _| Ok(flat(3.0, Some(0.5))))));
    assert_eq!(both.profile(1, one()?)?.quick_epsilon(Delta::new(1e-5)?, 1.0), Some(0.5));
    Ok(())
}

/// If an account returns a noise slightly too small, it is raised by rounding errors only.
#[test]
fn a_noise_that_just_fails_is_raised() -> Result<(), Error> {
    let says = |_: usize, noise: f64| exactly(1.0 / noise);
    let needs = Some(2.0 * (1.0 - 1e-11));
    let account = Told { observer: Observer::node(0), nodes: 2, failure: 0.0, needs, says };
    let found = least_noise(&[Box::new(account)], &Target::worst(Measure::Gaussian, 0.5))?.noise.get();
    assert!((2.0..2.0 + 1e-9).contains(&found), "{found}");
    Ok(())
}

/// If something is learned, no noise meets a limit of 0, and the error says so.
#[test]
fn no_noise_keeps_a_limit_of_nothing() -> Result<(), Error> {
    let refused = |found: Result<Option<NoiseMultiplier>, Error>| match found {
        Err(Error::InvalidParameter { name, value, .. }) => {
            (name, value) == ("the loss allowed to a pair that has one", 0.0)
        }
        _ => false,
    };
    let gossip = gossip(3)?;
    let account = gossip.account(&Observer::node(0))?;
    assert!(refused(account.least_noise(1, Measure::Gaussian, 0.0)));
    let says = told(0, 2, |_, noise| exactly(1.0 / noise));
    assert!(refused(search_of_pair(says.as_ref(), 1, Measure::Gaussian, 0.0)));
    let found = search_of_pair(says.as_ref(), 1, Measure::Gaussian, 0.5)?.ok_or(Error::Cancelled)?;
    assert!((found.get() - 2.0).abs() < 1e-8);
    // An exact report gives exact losses.
    assert_eq!(account.profile(1, one()?)?.mu().map(|mu| mu.grade()), Some(Grade::Exact));
    assert!(!Protocol::is_formula(&gossip));
    for variance in [None, Some(0.0)] {
        let bound = local_bound(3, variance, &Observer::node(0), Terms::VALUES).err();
        assert!(matches!(bound, Some(Error::NotOffered(why)) if why.contains("noise of their own")));
    }
    Ok(())
}

/// Where nothing is published an outsider learns exactly nothing.
#[test]
fn an_outsider_of_silence_learns_nothing() -> Result<(), Error> {
    let gossip = gossip(3)?;
    let account = of_outsider(&gossip, true, &Observer::outsider(), &Stop::never())?;
    let mu = account.profile(1, one()?)?.mu().ok_or(Error::Cancelled)?;
    assert_eq!((mu.grade(), mu.value().mu()), (Grade::Exact, 0.0));
    // If something were published, what a node hears would bound what the outsider hears.
    let bound = of_outsider(&gossip, false, &Observer::outsider(), &Stop::never())?;
    let of_node = gossip.account(&Observer::node(1))?.profile(0, one()?)?.mu().ok_or(Error::Cancelled)?;
    let mu = bound.profile(0, one()?)?.mu().ok_or(Error::Cancelled)?;
    assert_eq!((mu.grade(), mu.value()), (Grade::UpperBound, of_node.value()));
    Ok(())
}

/// Of two pairs with nearly equal losses, the one that needs the noise is reported, with its own loss.
#[test]
fn the_tightest_exact_pair_stays() -> Result<(), Error> {
    let losses = [1.0, 1.0 - 1e-12, 0.0];
    let protocol = Saying {
        nodes: 3,
        bounded: false,
        accounts: move |v| told(v, 3, move |u, noise| exactly(losses[u] / noise)),
    };
    let audience = Audience::named(vec![Observer::node(2)]);
    let reversed = Saying {
        nodes: 3,
        bounded: false,
        accounts: move |v| told(v, 3, move |u, noise| exactly(losses[1 - u.min(1)] / noise)),
    };
    for (protocol, source) in [(&protocol as &dyn Protocol, 0), (&reversed, 1)] {
        let covered = Covered::new(protocol, &audience, vec![protocol.account(&Observer::node(2))?]);
        let least = covered.least_noise(&Target::worst(Measure::Gaussian, 0.5))?;
        assert_eq!(least.tightest.map(|pair| pair.source), Some(source));
        let worst = covered.worst(one()?, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
        assert_eq!((worst.source, worst.loss.into_value()), (source, 1.0));
    }
    Ok(())
}

/// The bound for the others requires twice the noise of those who are looked at. Without a bound, nothing is
/// known of the others.
#[test]
fn who_is_looked_at_may_need_less() -> Result<(), Error> {
    let of =
        |bounded| Saying { nodes: 4, bounded, accounts: |v| told(v, 4, |_, noise| exactly(0.5 / noise)) };
    let target = Target::worst(Measure::Gaussian, 0.5);
    let audience = Audience::drawn(4, &[0, 2], 7)?;
    for (bounded, needs) in [(true, 2.0), (false, 1.0)] {
        let protocol = of(bounded);
        let accounts = vec![protocol.account(&Observer::node(0))?, protocol.account(&Observer::node(2))?];
        let covered = Covered::new(&protocol, &audience, accounts);
        let least = covered.least_noise(&target)?;
        assert!((least.noise.get() - needs).abs() < 1e-6);
        let of_looked_at = covered.of_looked_at(&target, &least).map(NoiseMultiplier::get);
        assert_eq!(of_looked_at.is_some_and(|noise| (noise - 1.0).abs() < 1e-6), bounded);
        assert_eq!(of_looked_at.is_some(), bounded);
        let rows = vec![Row::of("saying", Ok(&protocol), &target, |_| Ok(&covered))];
        let table = Comparison { rows }.to_string();
        assert_eq!(table.contains("2 of 4 nodes"), !bounded, "{table}");
    }
    Ok(())
}

/// A question that cannot be answered for all coalitions of a size is refused with the reason.
#[test]
fn refusals_say_what_was_asked() -> Result<(), Error> {
    let gossip = gossip(150)?;
    let audience = Audience::coalitions(150, 2, &Observer::coalition(&[0, 149]))?;
    let covered = Covered::new(&gossip, &audience, vec![gossip.account(&audience.looked_at()[0])?]);
    let why = |target: &Target| match covered.check(one()?, target) {
        Err(Error::NotOffered(why)) => Ok(why),
        other => Err(Error::NotOffered(if other.is_ok() { "answered" } else { "another error" })),
    };
    assert!(why(&Target::mean(Measure::Gaussian, 1.0))?.starts_with("a mean towards every coalition"));
    assert!(why(&Target::pairs(Measure::Gaussian, |_, _| 1.0))?.starts_with("limits for pairs"));
    assert!(matches!(Target::worst(Measure::Gaussian, 1.0).allowed, Allowed::Worst(1.0)));
    Ok(())
}

/// Two runs together cover what the weaker coverage covers, in either order.
#[test]
fn together_runs_cover_what_the_weaker_covers() -> Result<(), Error> {
    let (nodes, seed) = (9, Some(1));
    let symmetric = |looked_at| Coverage::Symmetric { looked_at, nodes };
    let order = [
        Coverage::All { nodes },
        symmetric(2),
        Coverage::Alike { nodes },
        Coverage::Bounded { looked_at: 3, nodes, seed },
        Coverage::Sample { looked_at: 3, nodes, seed },
    ];
    for (i, a) in order.iter().enumerate() {
        for (j, b) in order.iter().enumerate() {
            assert_eq!(a.weaker(b)?, order[i.max(j)], "{a:?} {b:?}");
        }
    }
    // One row by a bound that is reached does not make the other one reach it.
    let (reached, all) =
        (Coverage::Bounded { looked_at: 0, nodes: 9, seed: None }, Coverage::All { nodes: 9 });
    assert_eq!((reached.weaker(&reached)?, reached.weaker(&symmetric(2))?), (reached.clone(), all.clone()));
    assert_eq!((reached.weaker(&all)?, all.weaker(&reached)?), (all.clone(), all.clone()));
    assert_eq!(symmetric(2).weaker(&symmetric(5))?, symmetric(2));
    assert_eq!(symmetric(5).weaker(&symmetric(2))?, symmetric(2));
    let other = Coverage::Sample { looked_at: 3, nodes, seed: Some(2) };
    let why = Error::NoGuarantee("runs seen by different observers do not add up");
    assert_eq!(order[4].weaker(&other), Err(why));
    Ok(())
}

/// The accounts of these tests return the profiles that they were given.
#[test]
fn told_profiles_are_what_was_told() -> Result<(), Error> {
    let mu = |profile: Profile| profile.mu().map(|mu| (mu.grade(), mu.value().mu()));
    assert_eq!(mu(exactly(0.5)?), Some((Grade::Exact, 0.5)));
    assert_eq!(mu(at_most(0.5)?), Some((Grade::UpperBound, 0.5)));
    assert_eq!(mu(flat(1.0, None)), None);
    assert_eq!(*Exact::new(1.0).value(), 1.0);
    Ok(())
}
