//! Every public data type after it was written and read: the same value, and the invariants are checked
//! again.

use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
use ndp_dp::iteration::{CappedWalk, FirstHolder, LastIterate, NoisyStep, UncappedWalk, WalkDescent};
use ndp_dp::subsampling::PoissonGaussian;
use ndp_dp::{
    ApproxDp, Delta, DiscreteGaussian, DiscreteLaplace, Error, Exact, Gaussian, Gdp, Grade, Guarantee,
    Laplace, NoiseMultiplier, ObserverLoss, Order, PairwiseLoss, RandomizedResponse, Rdp, RdpAccountant,
    Recorded, Sensitivity, Sigma, UnitLoss, Zcdp, baselines, calibration, composition, conversion, mixture,
    shuffling,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Display};
use std::str::FromStr;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn through<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    let text = serde_json::to_string(&value).expect("it is written");
    assert!(!text.contains("null") || text.contains("\"order\":null"), "{text}");
    let back: T = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(back, value, "{text}");
    // Nothing is read from a text with a field too many.
    if text.starts_with('{') {
        let more = text.replacen('{', "{\"surplus\":1,", 1);
        refused::<T>("unknown field `surplus`", &[&more]);
    }
}

/// None of the `texts` is read as a `T`: each is refused with a message that begins with `said`.
fn refused<T: DeserializeOwned + Debug>(said: &str, texts: &[&str]) {
    for text in texts {
        let found = serde_json::from_str::<T>(text).expect_err(text).to_string();
        assert!(found.starts_with(said), "{text}: {found}");
    }
}

#[test]
fn quantities_come_back() -> Tested {
    through((Sigma::new(1.0 / 3.0)?, NoiseMultiplier::new(1e-300)?, Sensitivity::new(2.0)?));
    through((Order::new(1.0 + f64::EPSILON)?, Delta::new(1e-300)?, ContractionFactor::new(0.1)?));
    through((Gdp::new(f64::INFINITY)?, Zcdp::new(f64::INFINITY)?, UnitLoss::new(0.7)?));
    refused::<Sigma>("sigma must be positive and finite", &["0", "-1.0", "\"inf\""]);
    refused::<Sigma>("invalid", &["null", "\"1\""]);
    refused::<Order>("the Rényi order alpha must be finite and above 1", &["1", "\"inf\""]);
    refused::<Delta>("delta must lie strictly between 0 and 1", &["0", "1"]);
    through(UnitLoss::of_releases(1.5)?);
    through(UnitLoss::of_releases(f64::INFINITY)?);
    refused::<UnitLoss>("the unit loss of several releases must be nonnegative", &["-1.5"]);
    refused::<UnitLoss>("invalid type: null", &["null"]);
    refused::<Gdp>("the Gaussian parameter mu must be nonnegative", &["-0.5"]);
    Ok(())
}

#[test]
fn accounts_and_mechanisms_come_back() -> Tested {
    let (one, sigma) = (Sensitivity::new(1.0)?, Sigma::new(4.0)?);
    let release = Gaussian { sensitivity: one, sigma };
    through(release);
    through(Laplace::new(one, 0.3)?);
    through(DiscreteLaplace::new(3, 0.3)?);
    through(DiscreteGaussian::new(3, 2)?);
    refused::<DiscreteGaussian>(
        "the sensitivity of a query with whole values must be at least 1",
        &[r#"{"sensitivity":0,"sigma":1}"#],
    );
    refused::<DiscreteGaussian>(
        "the parameter of discrete Gaussian noise must be at least 1",
        &[r#"{"sensitivity":1,"sigma":0}"#],
    );
    for response in [RandomizedResponse::new(3, 0.37)?, RandomizedResponse::with_epsilon(1000, 0.7)?] {
        through(response);
    }
    through(ApproxDp::new(f64::INFINITY, 0.0)?);
    through(Rdp { order: Order::new(2.0)?, epsilon: f64::INFINITY });
    through(composition::Composition { total: ApproxDp::new(0.1, 1e-9)?, rule: composition::Rule::Optimal });
    through(conversion::Converted { approx_dp: ApproxDp::new(f64::INFINITY, 0.1)?, order: None });
    through(mixture::Part { weight: 0.5, loss: f64::INFINITY });
    through(
        shuffling::Reports { local_epsilon: 1.0, labels: Some(4) }
            .epsilon(1000, Delta::new(1e-6)?)?
            .into_value(),
    );
    through(PoissonGaussian::new(release, 0.1)?);
    through(baselines::SampledGaussian::new(0.125, 0.5)?);
    let step = NoisyStep::new(1.0, sigma)?;
    through(step);
    let run = UncappedWalk {
        steps: 100,
        users: 10,
        colluders: 1,
        last_iterate: LastIterate::Published,
        first_holder: FirstHolder::Given,
    };
    through(run);
    through::<WalkDescent>(run.descent(step, 50)?);
    through(CappedWalk::new(3, step, 10, 2)?);
    let parameters =
        FederatedParameters { users: 100, batch: 20, lipschitz: 1.0, radius: 1.0, step: 0.5, sigma: 1.5 };
    through(FederatedDescent::new(parameters, ContractionFactor::strongly_convex(0.5, 0.0, 4.0)?)?);
    refused::<Laplace>("the scale of Laplace noise must be", &[r#"{"sensitivity":1.0,"scale":0.0}"#]);
    refused::<WalkDescent>(
        "the number of steps of a walk must lie between",
        &[
            r#"{"run":{"steps":0,"users":9,"colluders":1,"last_iterate":"withheld","first_holder":"uniform"},"step":{"lipschitz":1.0,"sigma":10.0},"longest":9}"#,
        ],
    );
    refused::<WalkDescent>(
        "the number of colluders must lie between",
        &[
            r#"{"run":{"steps":5,"users":9,"colluders":9,"last_iterate":"withheld","first_holder":"uniform"},"step":{"lipschitz":1.0,"sigma":10.0},"longest":9}"#,
        ],
    );
    refused::<CappedWalk>(
        "the probability of no success of a geometric law",
        &[r#"{"contributions":1,"step":{"lipschitz":1.0,"sigma":1.0},"gap":{"p":0.5,"q":0.4}}"#],
    );
    refused::<ApproxDp>("epsilon must be nonnegative", &[r#"{"epsilon":-1.0,"delta":0.0}"#]);
    refused::<ApproxDp>("invalid type: null", &[r#"{"epsilon":null,"delta":0.0}"#]);
    Ok(())
}

/// Somebody who writes a smaller loss into a file gets no mechanism with that loss.
#[test]
fn the_loss_of_a_mechanism_cannot_be_forged() -> Tested {
    let response = RandomizedResponse::with_epsilon(4, 1.0)?;
    let mut fields: serde_json::Value = serde_json::to_value(response)?;
    fields["local_epsilon"] = 0.5.into();
    let found = serde_json::from_value::<RandomizedResponse>(fields).unwrap_err().to_string();
    assert!(found.starts_with("the local epsilon of randomized response must be that of"), "{found}");
    Ok(())
}

#[test]
fn losses_come_back() -> Tested {
    through(ObserverLoss { observer: 1, unit: vec![0.1, 1.0, f64::INFINITY] });
    through(PairwiseLoss::from_rows(2, vec![1.0, 0.1 + 0.2, 0.5, 1.0])?);
    refused::<PairwiseLoss>(
        "the number of pairwise losses must be the square",
        &[r#"{"n":2,"unit":[1.0,0.5,0.5]}"#],
    );
    Ok(())
}

/// What an accountant wrote is a claim, confirmed by the same account and by no other.
#[test]
fn an_account_is_read_as_a_claim() -> Tested {
    let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(4.0)? };
    let spent = release.gdp().map(|gdp| gdp * 30);
    let claim: Recorded<Gdp> = serde_json::from_str(&serde_json::to_string(&spent)?)?;
    assert_eq!(claim.verify(spent.into())?, Guarantee::from(spent));
    let more = release.gdp().map(|gdp| gdp * 31);
    assert!(matches!(claim.verify(more.into()), Err(Error::Unconfirmed { .. })));
    let rdp = RdpAccountant::default().compose(&release, 30);
    let claim: Recorded<Vec<Rdp>> = serde_json::from_str(&serde_json::to_string(&rdp)?)?;
    assert_eq!(claim.grade, Grade::UpperBound);
    assert_eq!(claim.value.as_slice(), *rdp.spent().value());
    let more = rdp.clone().compose(&release, 1).spent().value().to_vec();
    let verified = claim.clone().verify(ndp_dp::UpperBound::new(more).into());
    assert!(matches!(verified, Err(Error::Unconfirmed { .. })));
    let less = RdpAccountant::default().compose(&release, 29).spent().value().to_vec();
    assert!(claim.verify(ndp_dp::UpperBound::new(less).into()).is_ok());
    let calibrated = calibration::smallest_epsilon(Delta::new(1e-6)?, |_| Ok(Exact::new(1e-9)))?;
    let read: calibration::Calibrated<f64, Recorded<f64>> =
        serde_json::from_str(&serde_json::to_string(&calibrated)?)?;
    assert_eq!(
        (read.parameter, read.reached),
        (calibrated.parameter, Recorded { grade: Grade::Exact, value: 1e-9 })
    );
    Ok(())
}

fn text_comes_back<T: Display + FromStr<Err = Error> + PartialEq + Debug>(value: T, text: &str) {
    assert_eq!(value.to_string(), text);
    assert_eq!(text.parse::<T>(), Ok(value));
}

#[test]
fn quantities_are_shown_and_parsed() -> Tested {
    text_comes_back(Sigma::new(2.0)?, "2");
    text_comes_back(Order::new(1.5)?, "1.5");
    text_comes_back(Delta::new(1e-300)?, "1e-300");
    text_comes_back(Sensitivity::new(1.0 / 3.0)?, "0.3333333333333333");
    text_comes_back(NoiseMultiplier::new(4.25)?, "4.25");
    text_comes_back(Gdp::new(f64::INFINITY)?, "inf");
    text_comes_back(UnitLoss::new(0.25)?, "0.25");
    for grade in [Grade::Exact, Grade::UpperBound, Grade::Printed, Grade::Estimate] {
        text_comes_back(grade, grade.as_str());
    }
    assert_eq!(format!("{:.2}|{:>6}", Sigma::new(2.0)?, Sigma::new(2.0)?), "2.00|     2");
    assert_eq!(" 0.5 ".parse::<Delta>(), Delta::new(0.5));
    assert_eq!("1".parse::<Delta>(), Err(Error::InvalidDelta(1.0)));
    assert_eq!("one".parse::<Sigma>(), Err(Error::NotANumber("one".into())));
    assert!(matches!("NaN".parse::<Sigma>(), Err(Error::InvalidSigma(_))));
    assert_eq!(Order::try_from(2.0), Order::new(2.0));
    assert_eq!(Order::try_from(0.5), Err(Error::InvalidOrder(0.5)));
    assert_eq!(f64::from(Order::new(2.5)?), 2.5);
    assert!(matches!("proven".parse::<Grade>(), Err(Error::UnknownName { .. })));
    Ok(())
}
