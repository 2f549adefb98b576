//! Profiles whose law is known: their composition with each other, and with profiles known by other bounds.

use super::{Curve, Measure, Profile, Verdict};
use crate::{
    Adaptivity, ApproxDp, Delta, DiscreteLaplace, Error, Exact, Gaussian, Gdp, Grade, Guarantee, Laplace,
    Ledger, LossLaw, Mechanism, Neighbors, Order, RandomizedResponse, Sensitivity, Sigma, UpperBound,
};

fn delta(delta: f64) -> Delta {
    Delta::new(delta).unwrap()
}

fn noise(sigma: f64) -> Gaussian {
    Gaussian { sensitivity: Sensitivity::new(1.0).unwrap(), sigma: Sigma::new(sigma).unwrap() }
}

fn sampled(rate: f64, sigma: f64) -> LossLaw {
    LossLaw::sampled_gaussian(noise(sigma), rate).unwrap()
}

fn laplace(scale: f64, neighbors: Neighbors) -> LossLaw {
    LossLaw::laplace(Laplace::new(Sensitivity::new(1.0).unwrap(), scale).unwrap(), neighbors)
}

fn epsilon(profile: &Profile, at: f64) -> f64 {
    profile.epsilon(delta(at)).unwrap().value().epsilon()
}

/// A mechanism of which only a Rényi bound is known.
struct Renyi(f64);

impl Curve for Renyi {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, Error> {
        Ok(Some(UpperBound::new(self.0 * order.get()).into()))
    }
}

/// The value of a well-maintained library for 500 sampled steps and ten Laplace releases, recorded run by run
/// on a ledger.
#[test]
fn runs_on_a_ledger_compose_by_their_laws() {
    let mut ledger = Ledger::with_limit(Measure::Approx(delta(1e-6)), 5.9).unwrap();
    for _ in 0..5 {
        // The laws are equal, but made separately.
        let training = sampled(0.01, 1.0).times(100).unwrap().profile("node 3");
        ledger.record("training", training, Adaptivity::Fixed).unwrap();
        let releases = laplace(2.0, Neighbors::AddOrRemove).times(2).unwrap().profile("node 3");
        ledger.record("releases", releases, Adaptivity::Fixed).unwrap();
    }
    let spent = ledger.spent().unwrap();
    let found = epsilon(&spent, 1e-6);
    assert!((5.858_515 - 1e-4..5.858_515 + 1e-4).contains(&found), "{found}");
    assert_eq!(ledger.verdict().unwrap(), Verdict::Met);
    let left = ledger.remaining().unwrap().into_value();
    assert!(0.0 < left && left < 0.5, "{left}");
    let more = Measure::Approx(delta(1e-6)).largest_mu(left).unwrap();
    let mut more = Profile::gaussian(Exact::new(more).into(), "node 3");
    more.neighbors = Neighbors::AddOrRemove;
    assert!(ledger.fits(&more, Adaptivity::Fixed).unwrap());
    // By Rényi divergences it would be more. A Gaussian run becomes part of the law.
    let by_renyi = crate::conversion::best_epsilon(
        |order| UpperBound::new(spent.renyi(order).unwrap().value().epsilon),
        delta(1e-6),
    );
    assert!(by_renyi.value().approx_dp.epsilon() > found);
    let both = Profile::compose(&[spent, more]).unwrap();
    assert!(epsilon(&both, 1e-6) > found && epsilon(&both, 1e-6) <= 5.9);
}

/// Gaussian profiles stay a closed form, however they were made, and a single law stays as it was.
#[test]
fn closed_forms_stay() {
    let law = LossLaw::gaussian(noise(2.0), Neighbors::ReplaceOne).times(9).unwrap();
    let profile = law.profile("node 3");
    assert!(
        (profile.mu().unwrap().value().mu() - 1.5).abs() < 1e-14
            && profile.mu().unwrap().grade() == Grade::Exact
    );
    let other = Profile::gaussian(Exact::new(Gdp::new(2.0).unwrap()).into(), "node 3");
    let both = Profile::compose(&[profile, other]).unwrap();
    assert!((both.mu().unwrap().value().mu() - 2.5).abs() < 1e-14);
    assert_eq!(both.epsilon(delta(1e-5)).unwrap().grade(), Grade::Exact);
    // Single releases with a closed form are exact and have its value.
    let response = RandomizedResponse::with_epsilon(4, 1.0).unwrap();
    let whole = DiscreteLaplace::new(2, 1.5).unwrap();
    let forms: [(LossLaw, &dyn Mechanism); 2] = [
        (LossLaw::randomized_response(response), &response),
        (LossLaw::discrete_laplace(whole, Neighbors::ReplaceOne).unwrap(), &whole),
    ];
    for (law, form) in forms {
        let profile = law.profile("node 3");
        for at in [1e-6, 0.1] {
            let found = profile.epsilon(delta(at)).unwrap();
            let truth = form.epsilon(delta(at)).into_value();
            assert!((found.value().epsilon() / truth - 1.0).abs() < 1e-12 && found.grade() == Grade::Exact);
        }
        let order = Order::new(3.0).unwrap();
        let (found, truth) = (profile.renyi(order).unwrap().value().epsilon, form.rdp(order).into_value());
        assert!((found / truth - 1.0).abs() < 1e-11);
        let pure = form.pure_epsilon().into_value();
        assert!((profile.pure_epsilon().unwrap().value() / pure - 1.0).abs() < 1e-14);
    }
}

/// A law composed with a Rényi bound is not above the sum of Rényi bounds, and not below the law composed
/// with the release that the bound is about.
#[test]
fn renyi_bounds_join_laws() {
    let law = laplace(2.0, Neighbors::ReplaceOne).times(40).unwrap();
    let mu = 0.6;
    let known = law.clone().profile("node 3");
    let bound = Profile::of_curve(Renyi(0.5 * mu * mu), "node 3");
    let both = Profile::compose(&[known.clone(), bound]).unwrap();
    let truth = LossLaw::compose(&[law, LossLaw::gaussian(noise(1.0 / mu), Neighbors::ReplaceOne)]).unwrap();
    for at in [1e-9, 1e-5, 1e-2] {
        let truth = truth.epsilon(delta(at));
        let by_renyi = crate::conversion::best_epsilon(
            |order| UpperBound::new(both.renyi(order).unwrap().value().epsilon),
            delta(at),
        );
        let by_renyi = by_renyi.value().approx_dp.epsilon();
        let found = both.epsilon(delta(at)).unwrap();
        assert_eq!(found.grade(), Grade::UpperBound);
        let found = found.value().epsilon();
        assert!(truth.lower() <= found && found <= by_renyi, "{at}: {truth:?} {found} {by_renyi}");
        assert!(found < 0.995 * by_renyi, "{at}: {found} {by_renyi}");
        let back = both.delta(found).unwrap().value().delta();
        assert!(back <= at * 1.01, "{at}: {back}");
    }
    // With a part of which only one (ε, δ) is known, δ is divided among the parts.
    let stated = |at: Delta| -> Result<Guarantee<ApproxDp>, Error> {
        let epsilon = if at.get() >= 1e-7 { 0.3 } else { f64::INFINITY };
        Ok(UpperBound::new(ApproxDp::new(epsilon, at.get())?).into())
    };
    let with = Profile::compose(&[both.clone(), Profile::of_curve(stated, "node 3")]).unwrap();
    let (alone, found) = (epsilon(&both, 0.5e-5), epsilon(&with, 1e-5));
    assert!(found > alone && found <= alone + 0.3 + 1e-9, "{alone} {found}");
    assert!(with.delta(found).unwrap().value().delta() <= 1.0001e-5);
}

#[test]
fn limits_are_violated_only_by_proven_ends() {
    let exact = sampled(0.1, 1.0).times(50).unwrap();
    let measure = Measure::Approx(delta(1e-6));
    let profile = exact.clone().profile("node 3");
    let (low, high) = (exact.epsilon(delta(1e-6)).lower(), exact.epsilon(delta(1e-6)).upper());
    assert!(low < high);
    assert_eq!(profile.check(measure, high).unwrap(), Verdict::Met);
    assert_eq!(profile.check(measure, 0.5 * (low + high)).unwrap(), Verdict::NotShown);
    assert_eq!(profile.check(measure, 0.99 * low).unwrap(), Verdict::Violated);
    // Pairs that merely dominate cannot show a violation.
    let hidden = LossLaw::hidden_mixture(&[(0.5, sampled(0.1, 1.0)), (0.5, sampled(0.1, 2.0))]).unwrap();
    assert_eq!(hidden.times(50).unwrap().profile("node 3").check(measure, 1e-3).unwrap(), Verdict::NotShown);
}

#[test]
fn pure_losses_add_up() {
    let parts = [
        laplace(4.0, Neighbors::ReplaceOne).profile("node 3"),
        laplace(2.0, Neighbors::ReplaceOne).profile("node 3"),
    ];
    let all = Profile::compose(&parts).unwrap();
    let pure = all.pure_epsilon().unwrap();
    assert!((pure.value() - 0.75).abs() < 1e-15 && pure.grade() == Grade::Exact);
    assert_eq!(Profile::nothing("nobody").pure_epsilon().unwrap().into_value(), 0.0);
    let bound = Profile::of_curve(Renyi(0.1), "node 3");
    assert_eq!(Profile::compose(&[all, bound]).unwrap().pure_epsilon().unwrap().into_value(), f64::INFINITY);
    // In one direction, sampled Gaussian noise has a bounded loss.
    let added = sampled(0.1, 1.0).only(crate::loss_law::Direction::Add).unwrap().pure_epsilon();
    assert!((added.upper() + 0.9f64.ln()).abs() < 1e-15 && added.lower() > 0.105_36);
    assert_eq!(sampled(0.1, 1.0).pure_epsilon().upper(), f64::INFINITY);
    // A profile does not say which, so it has both.
    let profile = sampled(0.1, 1.0).only(crate::loss_law::Direction::Add).unwrap().profile("node 3");
    assert_eq!(profile.pure_epsilon().unwrap().into_value(), f64::INFINITY);
    let sharp = LossLaw::finite(&[0.01, 0.99], &[0.0, 1.0], Neighbors::ReplaceOne).unwrap();
    assert_eq!(sharp.pure_epsilon().lower(), f64::INFINITY);
}

/// So many different releases that their transforms would take long are accounted for by Rényi divergences.
#[test]
fn many_kinds_take_no_time() {
    let start = std::time::Instant::now();
    let parts: Vec<Profile> =
        (0..200).map(|k| sampled(0.01, 1.0 + 0.001 * f64::from(k)).profile("node 3")).collect();
    let all = Profile::compose(&parts).unwrap();
    let (found, one) = (epsilon(&all, 1e-5), sampled(0.01, 1.0).times(200).unwrap().epsilon(delta(1e-5)));
    assert!(found < 2.0 * one.upper(), "{found} {one:?}");
    assert!(start.elapsed().as_secs() < 60);
}

/// An accountant that records every `δ` it is asked for.
struct Asked(std::sync::Mutex<Vec<f64>>);

impl Curve for std::sync::Arc<Asked> {
    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        self.0.lock().unwrap().push(delta.get());
        Ok(UpperBound::new(ApproxDp::new(-delta.get().ln(), delta.get())?).into())
    }
}

/// A part that is known only by its `ε(δ)` shares the `δ` with all other parts.
#[test]
fn parts_share_the_delta() -> Result<(), Error> {
    let normal = Profile::gaussian(UpperBound::new(Gdp::new(0.5)?).into(), "node 3");
    for others in [1, 2, 3] {
        let asked: Vec<_> =
            (0..others).map(|_| std::sync::Arc::new(Asked(std::sync::Mutex::default()))).collect();
        let mut parts = vec![normal.clone()];
        parts.extend(asked.iter().map(|curve| Profile::of_curve(std::sync::Arc::clone(curve), "node 3")));
        let total = Profile::compose(&parts)?.epsilon(delta(1e-3))?.value().epsilon();
        let share = 1e-3 / (f64::from(others) + 1.0);
        for curve in &asked {
            let largest = curve.0.lock().unwrap().iter().copied().fold(0.0, f64::max);
            assert!(largest <= share && largest > 0.99 * share, "{others}: {largest} of {share}");
        }
        // The total is not below the sum of the parts at the whole δ.
        assert!(total >= f64::from(others) * -(1e-3_f64.ln()));
    }
    Ok(())
}

/// For a law that is known only from above, by a Rényi curve, the smaller of two answers is used.
#[test]
fn bounds_by_renyi_are_not_worse_than_their_conversion() -> Result<(), Error> {
    for rho in [0.01, 0.5, 3.0] {
        let law = LossLaw::from_renyi(move |order| UpperBound::new(rho * order.get()), Neighbors::ReplaceOne);
        let profile = law.clone().profile("node 3");
        let curve = Profile::of_curve(Renyi(rho), "node 3");
        for at in [1e-9, 1e-5, 0.01] {
            let found = epsilon(&profile, at);
            let (by_law, by_renyi) = (law.epsilon(delta(at)).upper(), epsilon(&curve, at));
            assert!(
                found <= by_law && found <= by_renyi * (1.0 + 1e-12),
                "{rho} {at}: {found} {by_law} {by_renyi}"
            );
        }
    }
    Ok(())
}

/// Sums of Rényi losses are rounded up.
#[test]
fn renyi_losses_add_up_outward() -> Result<(), Error> {
    for (a, b) in [(0.1, 0.7), (0.1, 0.2), (0.3, 0.6)] {
        let parts = [a, b].map(|rho| Profile::of_curve(Renyi(rho / 2.0), "node 3"));
        let sum = Profile::compose(&parts)?.renyi(Order::new(2.0)?)?.value().epsilon;
        let units = |x: f64| (x * 2f64.powi(60)) as i128;
        assert!(units(sum) >= units(a) + units(b) && sum < a + b + 1e-15);
    }
    Ok(())
}

/// The loss of a Gaussian view is known exactly in all terms.
#[test]
fn gaussian_views_have_exact_numbers() -> Result<(), Error> {
    let gdp = Gdp::new(0.5)?;
    assert_eq!(gdp.epsilon(delta(1e-5)).grade(), Grade::Exact);
    assert_eq!(gdp.delta(1.0)?.grade(), Grade::Exact);
    assert_eq!(gdp.rdp(Order::new(2.0)?).grade(), Grade::Exact);
    assert_eq!(gdp.pure_epsilon().grade(), Grade::Exact);
    Ok(())
}

/// Parts that were seen by different observers are no guarantee against all of them together, and say so.
#[test]
fn parts_of_several_observers_are_about_each_alone() -> Result<(), Error> {
    let seen =
        |by: &str| -> Result<Profile, Error> { Ok(Profile::gaussian(Exact::new(Gdp::new(0.5)?).into(), by)) };
    let both = Profile::compose(&[seen("node 0")?, seen("node 3")?])?;
    assert!(both.to_string().contains("the observer of each part, who sees that part alone"), "{both}");
    let one = Profile::compose(&[seen("node 0")?, seen("node 0")?])?;
    assert!(one.to_string().contains("node 0"));
    // Neither of the two is known to learn as much as both.
    let (of_one, of_both) = (one.epsilon(delta(1e-5))?, both.epsilon(delta(1e-5))?);
    assert_eq!((of_one.grade(), of_both.grade()), (Grade::Exact, Grade::UpperBound));
    assert_eq!(of_one.value(), of_both.value());
    let measure = Measure::Approx(delta(1e-5));
    assert_eq!(one.check(measure, 1.0)?, Verdict::Violated);
    assert_eq!(both.check(measure, 1.0)?, Verdict::NotShown);
    let laws = |by: [&str; 2]| Profile::compose(&by.map(|by| sampled(0.5, 1.0).profile(by)));
    assert_eq!(laws(["node 0", "node 0"])?.check(measure, 1.0)?, Verdict::Violated);
    assert_eq!(laws(["node 0", "node 3"])?.check(measure, 1.0)?, Verdict::NotShown);
    Ok(())
}

/// What is not known to nine digits is no more exact as an answer of a profile.
#[test]
fn a_profile_grades_as_its_law_does() -> Result<(), Error> {
    for (mu, at) in [(1e160, 1e-5), (10.0, 0.999_999_426_696_855_7), (0.5, 1e-5)] {
        let gdp = Gdp::new(mu)?;
        let profile = Profile::gaussian(Exact::new(gdp).into(), "node 0");
        assert_eq!(profile.epsilon(delta(at))?.grade(), gdp.epsilon(delta(at)).grade(), "{mu} {at}");
    }
    Ok(())
}
