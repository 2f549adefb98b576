//! `ndp-dp`: laws of privacy losses, which are composed with FFTs.

use super::dp::{gaussian, laplace};
use crate::input::{Ending, Input, Stop};
use crate::sound::{answered, require, sound};
use crate::target::Target;
use ndp_dp::loss_law::{self, Direction, Tradeoff};
use ndp_dp::{DiscreteLaplace, LossLaw, Neighbors, RandomizedResponse};

fn neighbors(i: &mut Input<'_>) -> Neighbors {
    i.pick(&[Neighbors::AddOrRemove, Neighbors::ReplaceOne])
}

fn law(i: &mut Input<'_>) -> Result<LossLaw, Stop> {
    Ok(match i.choice(8) {
        0 => LossLaw::gaussian(gaussian(i)?, neighbors(i)),
        1 => LossLaw::laplace(laplace(i)?, neighbors(i)),
        2 => LossLaw::discrete_laplace(DiscreteLaplace::new(i.short() % 100, i.positive())?, neighbors(i))?,
        3 => LossLaw::discrete_gaussian(ndp_dp::Sigma::new(i.positive().min(50.0))?, neighbors(i))?,
        4 => LossLaw::randomized_response(RandomizedResponse::new(i.short(), i.chance())?),
        5 => LossLaw::finite(&i.law(6), &i.law(6), neighbors(i))?,
        6 => LossLaw::sampled_gaussian(gaussian(i)?, i.chance())?,
        _ => LossLaw::sampled_laplace(laplace(i)?, i.chance())?,
    })
}

/// A law whose grid is coarse, so that an answer takes little time.
fn coarse(i: &mut Input<'_>) -> Result<LossLaw, Stop> {
    Ok(law(i)?.with_step(0.1)?)
}

/// Both questions, and that their answers are in order and are probabilities.
fn answers(i: &mut Input<'_>, law: &LossLaw) -> Ending {
    sound(law.epsilon(i.delta()?))?;
    let delta = law.delta(i.positive())?;
    sound(delta)?;
    require(delta.lower() >= 0.0 && delta.upper() <= 1.0, || format!("delta up to {}", delta.upper()))
}

fn single(i: &mut Input<'_>) -> Ending {
    let law = law(i)?;
    answers(i, &law)
}

fn times(i: &mut Input<'_>) -> Ending {
    let law = coarse(i)?;
    let law = law.times(i.count())?;
    answers(i, &law)
}

fn composed(i: &mut Input<'_>) -> Ending {
    let parts = [coarse(i)?, coarse(i)?];
    let law = LossLaw::compose(&parts)?;
    answers(i, &law)
}

fn mixed(i: &mut Input<'_>) -> Ending {
    let weight = i.chance();
    let parts = [(weight, law(i)?), (1.0 - weight, law(i)?)];
    let law =
        if i.choice(2) == 0 { LossLaw::seen_mixture(&parts)? } else { LossLaw::hidden_mixture(&parts)? };
    answers(i, &law)
}

fn width(i: &mut Input<'_>) -> Ending {
    let law = law(i)?;
    let law = law.with_width(i.positive().max(1e-2))?;
    answers(i, &law)
}

fn step(i: &mut Input<'_>) -> Ending {
    let law = law(i)?;
    let law = law.with_step(i.positive().max(1e-2))?;
    answers(i, &law)
}

fn finite(i: &mut Input<'_>) -> Ending {
    let law = LossLaw::finite(&i.law(6), &i.law(6), neighbors(i))?;
    let law = if i.choice(3) == 0 { law.only(i.pick(&[Direction::Add, Direction::Remove]))? } else { law };
    answers(i, &law)
}

fn sampled_gaussian(i: &mut Input<'_>) -> Ending {
    let law = LossLaw::sampled_gaussian(gaussian(i)?, i.chance())?;
    answers(i, &law)
}

fn sampled_laplace(i: &mut Input<'_>) -> Ending {
    let law = LossLaw::sampled_laplace(laplace(i)?, i.chance())?;
    answers(i, &law)
}

fn of_delta(i: &mut Input<'_>) -> Ending {
    let scale = i.positive();
    let delta = move |epsilon: f64| -((0.5 * (epsilon - scale)).min(0.0).exp_m1());
    let law = LossLaw::of_delta(delta, delta, i.chance(), neighbors(i))?;
    answers(i, &law)
}

fn of_bounds(i: &mut Input<'_>) -> Ending {
    // The bounds are in memory before they are seen: there are few.
    let count = i.choice(6);
    let bounds = (0..count).map(|_| Ok(ndp_dp::ApproxDp::new(i.positive(), i.chance())?));
    let bounds = bounds.collect::<Result<Vec<_>, Stop>>()?;
    let law = LossLaw::of_bounds(&bounds, neighbors(i))?;
    answers(i, &law)?;
    let law = law.times(i.count())?.with_step(0.1)?;
    answers(i, &law)
}

fn sampled_replaced(i: &mut Input<'_>) -> Ending {
    let law = LossLaw::sampled_replaced(&law(i)?, i.chance())?;
    answers(i, &law)?;
    let law = law.times(i.count())?.with_step(0.1)?;
    answers(i, &law)
}

fn tradeoff(i: &mut Input<'_>) -> Result<Tradeoff, Stop> {
    Ok(law(i)?.tradeoff())
}

fn at(i: &mut Input<'_>) -> Ending {
    let point = tradeoff(i)?.at(i.chance())?;
    require(point.lower <= point.upper, || format!("ends {} and {}", point.lower, point.upper))
}

fn power(i: &mut Input<'_>) -> Ending {
    answered(tradeoff(i)?.power(i.chance()))
}

fn points(i: &mut Input<'_>) -> Ending {
    let points = tradeoff(i)?.points(i.size(5))?;
    points.iter().try_for_each(|point| require(point.lower <= point.upper, || "ends out of order".to_owned()))
}

fn least_noise(i: &mut Input<'_>) -> Ending {
    let (epsilon, delta, unit) = (i.positive(), i.delta()?, ndp_dp::Sensitivity::new(1.0)?);
    let law = |noise: ndp_dp::NoiseMultiplier| {
        let gaussian = ndp_dp::Gaussian { sensitivity: unit, sigma: noise.sigma(unit)? };
        Ok(LossLaw::gaussian(gaussian, Neighbors::ReplaceOne))
    };
    answered(loss_law::least_noise(epsilon, delta, law))
}

macro_rules! laws {
    ($($item:literal => $run:ident),* $(,)?) => {
        &[$(Target::function(&[$item], $run).holding(512)),*]
    };
}

pub(super) const ALL: &[Target] = laws! {
    "ndp-dp loss_law::law::LossLaw::delta" => single,
    "ndp-dp loss_law::law::LossLaw::times" => times,
    "ndp-dp loss_law::law::LossLaw::compose" => composed,
    "ndp-dp loss_law::law::mechanisms::LossLaw::seen_mixture" => mixed,
    "ndp-dp loss_law::law::LossLaw::with_width" => width,
    "ndp-dp loss_law::law::LossLaw::with_step" => step,
    "ndp-dp loss_law::law::mechanisms::LossLaw::finite" => finite,
    "ndp-dp loss_law::law::mechanisms::LossLaw::sampled_gaussian" => sampled_gaussian,
    "ndp-dp loss_law::law::mechanisms::LossLaw::sampled_laplace" => sampled_laplace,
    "ndp-dp loss_law::law::mechanisms::LossLaw::of_delta" => of_delta,
    "ndp-dp loss_law::law::mechanisms::LossLaw::of_bounds" => of_bounds,
    "ndp-dp loss_law::law::mechanisms::LossLaw::sampled_replaced" => sampled_replaced,
    "ndp-dp loss_law::tradeoff::Tradeoff::at" => at,
    "ndp-dp loss_law::tradeoff::Tradeoff::power" => power,
    "ndp-dp loss_law::tradeoff::Tradeoff::points" => points,
    "ndp-dp loss_law::curve::least_noise" => least_noise,
};
