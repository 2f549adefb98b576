//! Laws used as accountants: profiles, Rényi divergences, least noise.

use super::{delta, gaussian, laplaces, sampled};
use crate::loss_law::least_noise;
use crate::profile::{Measure, Verdict};
use crate::subsampling::PoissonGaussian;
use crate::{
    Adaptivity, Error, Gaussian, Ledger, LossLaw, Mechanism, Neighbors, Order, RandomizedResponse,
    RdpAccountant, Sensitivity,
};

#[test]
fn profiles_and_ledgers_take_laws() {
    let law = sampled(0.01, 1.0, 100);
    let profile = law.clone().profile("node 3");
    let at = delta(1e-5);
    assert_eq!(profile.epsilon(at).unwrap().value().epsilon(), law.epsilon(at).upper());
    assert_eq!(profile.delta(0.5).unwrap().value().delta(), law.delta(0.5).unwrap().upper());
    assert_eq!(profile.check(Measure::Approx(at), 1.0).unwrap(), Verdict::Met);
    let mut ledger = Ledger::with_limit(Measure::Approx(at), 2.0).unwrap();
    ledger.record("training", profile, Adaptivity::Fixed).unwrap();
    assert_eq!(ledger.verdict().unwrap(), Verdict::Met);
    let other = laplaces(2.0, 1, Neighbors::ReplaceOne).profile("node 3");
    assert_eq!(ledger.record("release", other, Adaptivity::Fixed), Err(Error::MixedNeighbors));
}

/// The `ε` of the law is below the one by its Rényi divergences, which add up over the releases.
#[test]
fn renyi_divergences_are_those_of_the_parts() {
    let order = Order::new(4.0).unwrap();
    let step = PoissonGaussian::new(gaussian(1.0), 0.01).unwrap();
    let law = sampled(0.01, 1.0, 100);
    let expected = 100.0 * step.rdp(order).into_value();
    assert!((law.rdp(order).unwrap().into_value() / expected - 1.0).abs() < 1e-12);
    let by_renyi = *RdpAccountant::default().compose(&step, 100).epsilon(delta(1e-5)).value();
    assert!(law.epsilon(delta(1e-5)).upper() < by_renyi);
    let response = RandomizedResponse::with_epsilon(4, 1.0).unwrap();
    let loss = LossLaw::randomized_response(response).times(3).unwrap().rdp(order).unwrap().into_value();
    assert!((loss / (3.0 * response.rdp(order).into_value()) - 1.0).abs() < 1e-12);
    assert!(LossLaw::of_delta(|_| 0.0, |_| 0.0, 0.0, Neighbors::ReplaceOne).unwrap().rdp(order).is_none());
    assert!(
        LossLaw::finite(&[0.5, 0.5], &[0.0, 1.0], Neighbors::ReplaceOne)
            .unwrap()
            .rdp(order)
            .unwrap()
            .into_value()
            .is_infinite()
    );
}

/// The noise found meets the target, and a hundred-thousandth less does not. It is less than by Rényi
/// divergences.
#[test]
fn the_least_noise_is_the_least() {
    let unit = Sensitivity::new(1.0).unwrap();
    let law = |noise: crate::NoiseMultiplier| {
        LossLaw::sampled_gaussian(Gaussian { sensitivity: unit, sigma: noise.sigma(unit)? }, 0.01)?.times(500)
    };
    for (epsilon, at) in [(1.0, 1e-5), (8.0, 1e-6)] {
        let found = least_noise(epsilon, delta(at), law).unwrap();
        assert!(*found.reached.value() <= epsilon);
        let less = crate::NoiseMultiplier::new(found.parameter.get() * (1.0 - 1e-4)).unwrap();
        assert!(law(less).unwrap().epsilon(delta(at)).upper() > epsilon);
        let by_renyi = crate::calibration::smallest_sigma(epsilon, |sigma| {
            let step = PoissonGaussian::new(Gaussian { sensitivity: unit, sigma }, 0.01)?;
            Ok(RdpAccountant::default().compose(&step, 500).epsilon(delta(at)))
        });
        assert!(found.parameter.get() < by_renyi.unwrap().parameter.get());
    }
    assert!(
        matches!(
            least_noise(-1.0, delta(1e-5), law),
            Err(Error::InvalidParameter { name: "the epsilon of a calibration", .. })
        ) && matches!(
            least_noise(f64::NAN, delta(1e-5), law),
            Err(Error::InvalidParameter { name: "the epsilon of a calibration", .. })
        )
    );
}
