//! `ndp-dp`: mechanisms, conversions, composition, amplification, quantities.

use crate::input::{Ending, Input, Stop};
use crate::sound::{Sound, answered, require, returned, sound};
use crate::target::{Target, functions};
use ndp_dp::approx_dp::ApproxDp;
use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
use ndp_dp::iteration::{CappedWalk, FirstHolder, LastIterate, NoisyStep, UncappedWalk};
use ndp_dp::mixture::{self, Part};
use ndp_dp::shuffling::{self, Bound, Reports};
use ndp_dp::{
    Adaptivity, DiscreteGaussian, DiscreteLaplace, Gaussian, Gdp, Guarantee, Laplace, Ledger, Measure,
    Mechanism, Odometer, PairwiseLoss, Profile, RandomizedResponse, RdpAccountant, UnitLoss, UpperBound,
    Zcdp, baselines, calibration, composition, contraction, conversion, lossless, parts, profile, search,
    subsampling, tails,
};
use ndp_numeric::rounding::Interval;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(super) fn gaussian(i: &mut Input<'_>) -> Result<Gaussian, Stop> {
    Ok(Gaussian { sensitivity: i.sensitivity()?, sigma: i.sigma()? })
}

pub(super) fn laplace(i: &mut Input<'_>) -> Result<Laplace, Stop> {
    Ok(Laplace::new(i.sensitivity()?, i.positive())?)
}

pub(super) fn measure(i: &mut Input<'_>) -> Result<Measure, Stop> {
    Ok(match i.choice(3) {
        0 => Measure::Gaussian,
        1 => Measure::Renyi(i.order()?),
        _ => Measure::Approx(i.delta()?),
    })
}

fn response(i: &mut Input<'_>) -> Result<RandomizedResponse, Stop> {
    Ok(RandomizedResponse::new(i.short(), i.chance())?)
}

fn step(i: &mut Input<'_>) -> Result<NoisyStep, Stop> {
    Ok(NoisyStep::new(i.positive(), i.sigma()?)?)
}

fn factor(i: &mut Input<'_>) -> Result<ContractionFactor, Stop> {
    Ok(ContractionFactor::new(i.chance())?)
}

fn federated(i: &mut Input<'_>) -> Result<FederatedDescent, Stop> {
    let parameters = FederatedParameters {
        lipschitz: i.positive(),
        radius: i.positive(),
        step: i.positive(),
        sigma: i.positive(),
        users: i.count(),
        batch: i.count(),
    };
    Ok(FederatedDescent::new(parameters, factor(i)?)?)
}

fn walk(i: &mut Input<'_>) -> UncappedWalk {
    UncappedWalk {
        users: i.count(),
        steps: i.count(),
        colluders: i.count(),
        first_holder: i.pick(&[FirstHolder::Uniform, FirstHolder::Given]),
        last_iterate: i.pick(&[LastIterate::Published, LastIterate::Withheld]),
    }
}

fn reports(i: &mut Input<'_>) -> Reports {
    Reports { local_epsilon: i.positive(), labels: if i.choice(2) == 0 { None } else { Some(i.short()) } }
}

fn bound(i: &mut Input<'_>) -> Bound {
    i.pick(&[
        Bound::Bennett,
        Bound::Blanket,
        Bound::Clones,
        Bound::ClonesClosed,
        Bound::Efmrtt,
        Bound::Hoeffding,
        Bound::Local,
    ])
}

/// As many reports as sums take milliseconds for, or so many that they are refused or bounded in closed form.
fn few(i: &mut Input<'_>) -> u64 {
    let count = i.count();
    if count < 1 << 50 { count % 2000 } else { count }
}

/// Whether a loss is what it may be: nonnegative.
fn loss(guarantee: Guarantee<f64>) -> Ending {
    let value = *guarantee.value();
    require(value >= 0.0, || format!("a loss of {value:e}"))
}

fn probability(value: f64) -> Ending {
    require((0.0..=1.0).contains(&value), || format!("a probability of {value:e}"))
}

/// Everything that a mechanism is asked.
fn mechanism(i: &mut Input<'_>, of: &dyn Mechanism) -> Ending {
    loss(of.rdp(i.order()?))?;
    loss(of.epsilon(i.delta()?))?;
    loss(of.pure_epsilon())?;
    probability(*of.delta(i.positive())?.value())
}

fn any_mechanism(i: &mut Input<'_>) -> Result<Box<dyn Mechanism>, Stop> {
    Ok(match i.choice(8) {
        0 => Box::new(gaussian(i)?),
        1 => Box::new(laplace(i)?),
        2 => Box::new(DiscreteLaplace::new(i.short(), i.positive())?),
        3 => Box::new(i.gdp()?),
        4 => Box::new(Zcdp::new(i.positive())?),
        5 => Box::new(response(i)?),
        6 => Box::new(subsampling::PoissonGaussian::new(gaussian(i)?, i.chance())?),
        _ => Box::new(i.approx().and_then(|_| gaussian(i))?),
    })
}

pub(super) fn profile(i: &mut Input<'_>) -> Result<Profile, Stop> {
    Ok(Profile::gaussian(UpperBound::new(i.gdp()?).into(), "a neighbor"))
}

impl Sound for composition::Composition {
    fn sound(&self) -> Ending {
        self.total.sound()
    }
}

impl Sound for conversion::Converted {
    fn sound(&self) -> Ending {
        self.approx_dp.sound()
    }
}

impl Sound for shuffling::Shuffled {
    fn sound(&self) -> Ending {
        self.epsilon.sound()
    }
}

impl Sound for Gaussian {
    fn sound(&self) -> Ending {
        self.sigma.sound()
    }
}

/// A number that was taken is written and read back as the same number.
fn number<T>(i: &mut Input<'_>, make: fn(f64) -> Result<T, ndp_dp::Error>) -> Ending
where
    T: Into<f64>
        + std::fmt::Display
        + std::str::FromStr
        + serde::Serialize
        + serde::de::DeserializeOwned
        + Copy,
{
    let made = make(i.positive())?;
    let value: f64 = made.into();
    let text: Result<T, _> = made.to_string().parse();
    require(text.is_ok_and(|read| read.into().to_bits() == value.to_bits()), || {
        format!("{value:e} as a text")
    })?;
    let json = serde_json::to_string(&made).and_then(|text| serde_json::from_str::<T>(&text));
    require(json.is_ok_and(|read| read.into().to_bits() == value.to_bits()), || format!("{value:e} as JSON"))
}

/// Fields that fit are read as the constructor takes them; whatever is read is written and read alike.
fn fields<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq>(json: &serde_json::Value) -> Ending {
    let read: T = serde_json::from_value(json.clone())?;
    let again = serde_json::to_value(&read).and_then(serde_json::from_value::<T>);
    require(again.is_ok_and(|again| again == read), || format!("{json} does not read back"))
}

pub(super) const ALL: &[Target] = functions! {
    "ndp-dp approx_dp::ApproxDp::new" => |i| answered(ApproxDp::new(i.real(), i.chance())),
    "ndp-dp baselines::central_approx_dp" => |i| {
        answered(baselines::central_approx_dp(i.count(), i.count(), i.positive(), i.sigma()?, i.delta()?))
    },
    "ndp-dp baselines::SampledGaussian::new" => |i| {
        let sampled = baselines::SampledGaussian::new(i.chance(), i.positive())?;
        mechanism(i, &sampled)
    },
    "ndp-dp calibration::smallest_sigma" => |i| {
        let (target, delta, unit) = (i.positive(), i.delta()?, i.sensitivity()?);
        let of = |sigma| Ok(Gaussian { sensitivity: unit, sigma }.epsilon(delta));
        answered(calibration::smallest_sigma(target, of))
    },
    "ndp-dp calibration::smallest_epsilon" => |i| {
        let (delta, release) = (i.delta()?, gaussian(i)?);
        answered(calibration::smallest_epsilon(delta, |epsilon| release.delta(epsilon)))
    },
    "ndp-dp calibration::largest_count" => |i| {
        let (target, most, each) = (i.positive(), i.count(), i.positive());
        let of = |count: u64| Ok(UpperBound::new(count as f64 * each));
        returned(calibration::largest_count(target, most, of)?)
    },
    "ndp-dp composition::advanced" => |i| sound(composition::advanced(i.approx()?, i.count(), i.delta()?)),
    "ndp-dp composition::best" => |i| {
        let parts = (0..=i.choice(4)).map(|_| Ok((i.approx()?, i.count()))).collect::<Result<Vec<_>, Stop>>()?;
        answered(composition::best(&parts, i.delta()?))
    },
    "ndp-dp composition::optimal_delta" => |i| {
        let found = composition::optimal_delta(i.approx()?, few(i), i.positive())?;
        probability(*found.value())
    },
    "ndp-dp contraction::hockey_stick" => |i| {
        let (p, q) = (i.law(6), i.law(6));
        probability(*contraction::hockey_stick(&p, &q, i.positive())?.value())
    },
    "ndp-dp contraction::kernel_coefficient" => |i| {
        let columns = i.choice(5);
        let rows: Vec<Vec<f64>> = (0..i.choice(5)).map(|_| i.law(columns)).collect();
        probability(*contraction::kernel_coefficient(&rows, i.positive())?.value())
    },
    "ndp-dp conversion::mironov_delta" => |i| {
        probability(*conversion::mironov_delta(i.positive(), i.order()?, i.positive())?.value())
    },
    "ndp-dp conversion::best_delta" => |i| {
        let rho = i.positive();
        let (curve, epsilon) = (|order: ndp_dp::Order| UpperBound::new(rho.abs() * order.get()), i.positive());
        if rho.is_nan() { Err(Stop::Refused) } else { answered(conversion::best_delta(curve, epsilon)) }
    },
    "ndp-dp discrete_gaussian::DiscreteGaussian::new" => |i| {
        let made = DiscreteGaussian::new(i.short(), i.short())?;
        returned(made.noise(&mut ChaCha8Rng::seed_from_u64(1)))?;
        mechanism(i, &made)
    },
    "ndp-dp discrete_laplace::DiscreteLaplace::new" => |i| {
        let made = DiscreteLaplace::new(i.short(), i.positive())?;
        returned(made.noise(&mut ChaCha8Rng::seed_from_u64(1)))?;
        mechanism(i, &made)
    },
    "ndp-dp discrete_laplace::DiscreteLaplace::with_std" => |i| {
        let made = DiscreteLaplace::with_std(i.short(), i.sigma()?)?;
        mechanism(i, &made)
    },
    "ndp-dp federated::ContractionFactor::new" => |i| number(i, ContractionFactor::new),
    "ndp-dp federated::ContractionFactor::strongly_convex" => |i| {
        let made = ContractionFactor::strongly_convex(i.positive(), i.positive(), i.positive())?;
        probability(made.into())
    },
    "ndp-dp federated::FederatedDescent::all_models_delta" => |i| {
        probability(*federated(i)?.all_models_delta(i.positive())?.value())
    },
    "ndp-dp federated::FederatedDescent::theorem2_delta" => |i| {
        probability(*federated(i)?.theorem2_delta(i.positive())?.value())
    },
    "ndp-dp federated::FederatedDescent::log_theorem2" => |i| {
        let (descent, epsilon) = (federated(i)?, i.positive());
        parts::check_epsilon(epsilon)?;
        sound(descent.log_theorem2(epsilon, Interval::count(descent.rounds())))
    },
    "ndp-dp gaussian::check_epsilon" => |i| answered(parts::check_epsilon(i.real())),
    "ndp-dp error::ensure" => |i| answered(parts::ensure(i.choice(2) == 0, "x", "be good", i.real())),
    "ndp-dp error::ensure_positive" => |i| answered(parts::ensure_positive("x", i.real())),
    "ndp-dp randomized_response::check_labels" => |i| answered(parts::check_labels(i.short())),
    "ndp-dp gdp::Gaussian::classic" => |i| {
        answered(Gaussian::classic(i.positive(), i.delta()?, i.sensitivity()?))
    },
    "ndp-dp gdp::Gaussian::within" => |i| answered(Gaussian::within(i.positive(), i.delta()?, i.sensitivity()?)),
    "ndp-dp gdp::Gdp::new" => |i| {
        let made = Gdp::new(i.real())?;
        mechanism(i, &made)
    },
    "ndp-dp gdp::Gdp::log_delta" => |i| {
        let log = *i.gdp()?.log_delta(i.positive())?.value();
        require(log <= 0.0, || format!("a logarithm of {log:e}"))
    },
    "ndp-dp gdp::Gdp::trade_off" => |i| probability(*i.gdp()?.trade_off(i.chance())?.value()),
    "ndp-dp iteration::capped::CappedWalk::new" => |i| {
        let walk = CappedWalk::new(i.count(), step(i)?, i.count(), i.count())?;
        mechanism(i, &walk)
    },
    "ndp-dp iteration::capped::CappedWalk::rdp_from_given_start" => |i| {
        let walk = CappedWalk::new(i.count(), step(i)?, i.count(), i.count())?;
        answered(walk.rdp_from_given_start(i.order()?, i.count()))
    },
    "ndp-dp iteration::run::UncappedWalk::decreasing_rdp" => |i| {
        let sizes = i.reals(8);
        let walk = UncappedWalk { steps: if i.choice(4) > 0 { sizes.len() as u64 } else { i.count() }, ..walk(i) };
        answered(walk.decreasing_rdp(i.order()?, step(i)?, &sizes))
    },
    "ndp-dp iteration::run::UncappedWalk::descent" => |i| {
        let asked = walk(i);
        let walk = UncappedWalk { steps: if asked.steps < 1 << 50 { asked.steps % 2000 } else { asked.steps }, ..asked };
        let descent = walk.descent(step(i)?, few(i))?;
        loss(descent.rdp(i.order()?))
    },
    "ndp-dp iteration::step::NoisyStep::new" => |i| returned(step(i)?),
    "ndp-dp iteration::step::NoisyStep::mu_after" => |i| answered(step(i)?.mu_after(i.count(), factor(i)?)),
    "ndp-dp laplace::Laplace::new" => |i| {
        let made = Laplace::new(i.sensitivity()?, i.real())?;
        mechanism(i, &made)
    },
    "ndp-dp ledger::Ledger::with_limit" => |i| {
        let ledger = Ledger::with_limit(measure(i)?, i.positive())?;
        sound(ledger.remaining()?)
    },
    "ndp-dp ledger::Ledger::record" => |i| {
        let measure = measure(i)?;
        let mut ledger = Ledger::with_limit(measure, i.positive())?;
        for _ in 0..=i.choice(3) {
            let (next, how) = (profile(i)?, i.pick(&[Adaptivity::Fixed, Adaptivity::OnSeen]));
            let fits = ledger.fits(&next, how)?;
            ledger.record(&i.text(), next, how)?;
            let met = ledger.verdict()? == ndp_dp::Verdict::Met;
            require(met || !fits, || "what fits breaks the limit".to_owned())?;
        }
        sound(ledger.remaining()?)
    },
    "ndp-dp loss_law::enclosed::Enclosed::between" => |i| {
        let (low, high) = (i.real(), i.real());
        let made = ndp_dp::loss_law::Enclosed::between(low, high, i.choice(2) == 0);
        if low <= high { sound(made) } else { returned(made) }
    },
    "ndp-dp lossless::parse" => |i| returned(lossless::parse(&i.text())?),
    "ndp-dp mixture::log_mean_exp" => |i| {
        let weights = i.law(5);
        let all: Vec<Part> = weights.iter().map(|&weight| Part { weight, loss: i.positive() }).collect();
        answered(mixture::log_mean_exp(i.order()?, &all))
    },
    "ndp-dp odometer::Odometer::new" => |i| {
        let mut odometer = Odometer::new(i.positive(), i.delta()?)?;
        for _ in 0..i.choice(4) {
            odometer.record(i.gdp()?);
        }
        sound(odometer.epsilon())?;
        sound(odometer.variance())
    },
    "ndp-dp pairwise::PairwiseLoss::from_rows" => |i| {
        let n = i.size(4);
        returned(PairwiseLoss::from_rows(n, i.reals(16))?)
    },
    "ndp-dp pairwise::UnitLoss::new" => |i| {
        let unit = UnitLoss::new(i.real())?;
        sound(unit.gdp(i.sensitivity()?, i.sigma()?))
    },
    "ndp-dp pairwise::UnitLoss::of_releases" => |i| answered(UnitLoss::of_releases(i.real())),
    "ndp-dp profile::Measure::largest_mu" => |i| answered(measure(i)?.largest_mu(i.real())),
    "ndp-dp profile::Profile::check" => |i| answered(profile(i)?.check(measure(i)?, i.real())),
    "ndp-dp profile::Profile::delta" => |i| answered(profile(i)?.delta(i.real())),
    "ndp-dp profile::Profile::gaussian" => |i| {
        let (gdp, against) = (i.gdp()?, i.text());
        sound(Profile::gaussian(UpperBound::new(gdp).into(), &against).loss(measure(i)?)?)
    },
    "ndp-dp profile::Profile::gaussian_between" => |i| {
        let gdp = UpperBound::new(i.gdp()?).into();
        sound(Profile::gaussian_between(i.real(), gdp, &i.text())?.loss(measure(i)?)?)
    },
    "ndp-dp profile::Profile::nothing" => |i| sound(Profile::nothing(&i.text()).loss(measure(i)?)?),
    "ndp-dp profile::Profile::of_curve" => |i| {
        let of = Profile::of_curve(Release(gaussian(i)?), &i.text());
        sound(of.loss(measure(i)?)?)
    },
    "ndp-dp profile::Profile::quick_epsilon" => |i| {
        let (profile, delta) = (profile(i)?, i.delta()?);
        let quick = profile.quick_epsilon(delta, i.positive());
        let whole = profile.epsilon(delta)?.value().epsilon();
        require(quick.is_none_or(|quick| quick >= whole * (1.0 - 1e-9)), || format!("{quick:?} below {whole:e}"))
    },
    "ndp-dp profile::epsilon_by_one_order" => |i| {
        let rho = i.positive();
        sound(profile::epsilon_by_one_order(|order| (rho >= 0.0).then(|| rho * order.get()), i.delta()?, i.positive()))
    },
    "ndp-dp randomized_response::RandomizedResponse::new" => |i| {
        let made = RandomizedResponse::new(i.short(), i.chance())?;
        mechanism(i, &made)
    },
    "ndp-dp randomized_response::RandomizedResponse::sample" => |i| {
        let (made, label) = (response(i)?, i.short());
        let drawn = made.sample(label, &mut ChaCha8Rng::seed_from_u64(1))?;
        require(drawn < made.labels(), || format!("label {drawn}"))
    },
    "ndp-dp randomized_response::RandomizedResponse::with_epsilon" => |i| {
        let made = RandomizedResponse::with_epsilon(i.short(), i.positive())?;
        mechanism(i, &made)
    },
    "ndp-dp rdp::Mechanism::delta" => |i| {
        let of = any_mechanism(i)?;
        mechanism(i, &*of)
    },
    "ndp-dp rdp::RdpAccountant::compose" => |i| {
        let mut spent = RdpAccountant::default();
        for _ in 0..=i.choice(3) {
            let of = any_mechanism(i)?;
            spent = spent.compose(&*of, i.count());
        }
        spent.spent().value().iter().try_for_each(Sound::sound)?;
        mechanism(i, &spent)
    },
    "ndp-dp search::largest" => |i| {
        let (low, high, limit) = (i.positive().abs(), i.positive().abs(), i.positive());
        if low <= high { sound(search::largest(low, high, |x| x <= limit)) } else { Err(Stop::Refused) }
    },
    "ndp-dp search::smallest" => |i| {
        let (low, high, limit) = (i.positive().abs(), i.positive().abs(), i.positive());
        if low <= high { sound(search::smallest(low, high, |x| x >= limit)) } else { Err(Stop::Refused) }
    },
    "ndp-dp shuffling::exact::fixed_blanket_delta" => |i| {
        let found = shuffling::fixed_blanket_delta(i.positive(), i.positive(), i.short(), few(i))?;
        probability(*found.value())
    },
    "ndp-dp shuffling::best::Reports::delta_by" => |i| {
        probability(*reports(i).delta_by(bound(i), i.positive(), few(i))?.value())
    },
    "ndp-dp shuffling::best::Reports::epsilon" => |i| {
        let reports = reports(i);
        let found = *reports.epsilon(few(i) % 200, i.delta()?)?.value();
        require(found.epsilon <= reports.local_epsilon, || format!("{} locally", found.epsilon))
    },
    "ndp-dp shuffling::best::Reports::epsilon_by" => |i| {
        let reports = reports(i);
        let found = *reports.epsilon_by(bound(i), few(i) % 200, i.delta()?)?.value();
        require(found <= reports.local_epsilon, || format!("{found} locally"))
    },
    "ndp-dp subsampling::poisson" => |i| answered(subsampling::poisson(i.approx()?, i.chance())),
    "ndp-dp subsampling::with_replacement" => |i| {
        let (pool, draws, epsilon, each) = (i.count(), few(i), i.positive(), i.chance());
        let group = |count: u64, _| Ok(UpperBound::new((count as f64 * each).clamp(0.0, 1.0)));
        if each.is_nan() { Err(Stop::Refused) } else { answered(subsampling::with_replacement(pool, draws, epsilon, group)) }
    },
    "ndp-dp subsampling::without_replacement" => |i| {
        answered(subsampling::without_replacement(i.approx()?, i.count(), i.count()))
    },
    "ndp-dp subsampling::PoissonGaussian::new" => |i| {
        let made = subsampling::PoissonGaussian::new(gaussian(i)?, i.chance())?;
        mechanism(i, &made)
    },
    "ndp-dp tails::n_exact" => |i| answered(tails::n_exact(i.count(), i.chance(), i.delta()?)),
    "ndp-dp zcdp::Zcdp::new" => |i| {
        let made = Zcdp::new(i.real())?;
        mechanism(i, &made)
    },
    "ndp-dp zcdp::Zcdp::from_pure" => |i| answered(Zcdp::from_pure(i.real())),
    "ndp-dp quantities::quantity!(Delta)" => |i| number(i, ndp_dp::Delta::new),
    "ndp-dp quantities::quantity!(NoiseMultiplier)" => |i| number(i, ndp_dp::NoiseMultiplier::new),
    "ndp-dp quantities::quantity!(Order)" => |i| number(i, ndp_dp::Order::new),
    "ndp-dp quantities::quantity!(Sensitivity)" => |i| number(i, ndp_dp::Sensitivity::new),
    "ndp-dp quantities::quantity!(Sigma)" => |i| number(i, ndp_dp::Sigma::new),
    "ndp-dp gdp::crate::lossless::checked_number!(Gdp)" => |i| number(i, Gdp::new),
    "ndp-dp zcdp::crate::lossless::checked_number!(Zcdp)" => |i| number(i, Zcdp::new),
    "ndp-dp pairwise::crate::lossless::checked_number!(UnitLoss)" => |i| number(i, UnitLoss::of_releases),
    "ndp-dp federated::crate::lossless::checked_number!(ContractionFactor)" => |i| number(i, ContractionFactor::new),
    "ndp-dp approx_dp::crate::lossless::checked_fields!(ApproxDp)" => |i| {
        fields::<ApproxDp>(&serde_json::json!({ "epsilon": i.positive(), "delta": i.chance() }))
    },
    "ndp-dp discrete_gaussian::crate::lossless::checked_fields!(DiscreteGaussian)" => |i| {
        fields::<DiscreteGaussian>(&serde_json::json!({ "sensitivity": i.short(), "sigma": i.short() }))
    },
    "ndp-dp discrete_laplace::crate::lossless::checked_fields!(DiscreteLaplace)" => |i| {
        fields::<DiscreteLaplace>(&serde_json::json!({ "sensitivity": i.short(), "scale": i.positive() }))
    },
    "ndp-dp laplace::crate::lossless::checked_fields!(Laplace)" => |i| {
        fields::<Laplace>(&serde_json::json!({ "sensitivity": i.positive(), "scale": i.positive() }))
    },
    "ndp-dp randomized_response::crate::lossless::checked_fields!(RandomizedResponse)" => |i| {
        fields::<RandomizedResponse>(&serde_json::json!({ "labels": i.short(), "gamma": i.chance() }))
    },
    "ndp-dp pairwise::crate::lossless::checked_fields!(PairwiseLoss)" => |i| {
        fields::<PairwiseLoss>(&serde_json::json!({ "n": i.size(3), "unit": i.reals(9) }))
    },
    "ndp-dp iteration::step::crate::lossless::checked_fields!(NoisyStep)" => |i| {
        fields::<NoisyStep>(&serde_json::json!({ "lipschitz": i.positive(), "sigma": i.positive() }))
    },
};

/// A release as a curve.
struct Release(Gaussian);

impl ndp_dp::Curve for Release {
    fn renyi(&self, order: ndp_dp::Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        Ok(Some(self.0.rdp(order)))
    }

    fn epsilon(&self, delta: ndp_dp::Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        let epsilon = self.0.epsilon(delta);
        ApproxDp::new(*epsilon.value(), delta.get()).map(|both| UpperBound::new(both).into())
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        let delta = self.0.delta(epsilon)?;
        ApproxDp::new(epsilon, *delta.value()).map(|both| UpperBound::new(both).into())
    }
}
