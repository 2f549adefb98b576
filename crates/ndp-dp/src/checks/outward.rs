//! No accountant returns a value below the truth, or far above it. `tests/reference/outward.py` computed the
//! table of true values at extreme parameters, from the definitions with 700 digits.

use crate::federated::ContractionFactor;
use crate::iteration::{Geometric, NoisyStep};
use crate::mixture::{Part, log_mean_exp};
use crate::subsampling::{self, PoissonGaussian, WithReplacement};
use crate::{
    ApproxDp, Delta, Error, Gaussian, Gdp, Laplace, Mechanism, Order, RandomizedResponse, Rdp, Sensitivity,
    Sigma, UnitLoss, Zcdp, composition, conversion, gaussian, shuffling,
};
use std::collections::BTreeMap;

/// The value of one row of the table.
fn value(name: &str, text: &[&str]) -> Result<f64, Error> {
    let x = |i: usize| text[i].parse::<f64>().expect("the table holds a float");
    let n = |i: usize| text[i].parse::<u64>().expect("the table holds a count");
    let labels = |i: usize| text[i].parse::<u32>().expect("the table holds a number of labels");
    let delta = |i: usize| Delta::new(x(i));
    let order = |i: usize| Order::new(x(i));
    let part = || ApproxDp::new(x(0), x(1));
    let step = || NoisyStep::new(x(0), Sigma::new(x(1))?);
    Ok(match name {
        "gaussian_delta" => gaussian::delta(x(0), x(1))?.into_value(),
        "gaussian_log_delta" => gaussian::log_delta(x(0), x(1))?.into_value(),
        "one_minus_theta" => ndp_numeric::gaussian_profile::one_minus_theta(x(0), x(1)),
        "trade_off" => gaussian::trade_off(x(0), x(1))?.into_value(),
        "gdp_repeat" => (Gdp::new(x(0))? * n(1)).mu(),
        "gdp_rdp" => Gdp::new(x(0))?.rdp(order(1)?).into_value(),
        "gaussian_mu" => {
            let (sensitivity, sigma) = (Sensitivity::new(x(0))?, Sigma::new(x(1))?);
            Gaussian { sensitivity, sigma }.gdp().into_value().mu()
        }
        "unit_mu" => UnitLoss::new(x(0))?.gdp(Sensitivity::new(x(1))?, Sigma::new(x(2))?).mu(),
        "unit_rdp" => {
            let gdp = UnitLoss::new(x(0))?.gdp(Sensitivity::new(x(2))?, Sigma::new(x(3))?);
            gdp.rdp(order(1)?).into_value()
        }
        "laplace_rdp" => Laplace::new(Sensitivity::new(x(0))?, 1.0)?.rdp(order(1)?).into_value(),
        "laplace_delta" => Laplace::new(Sensitivity::new(x(0))?, 1.0)?.delta(x(1))?.into_value(),
        "rr_local_epsilon" => RandomizedResponse::new(labels(0), x(1))?.pure_epsilon().into_value(),
        "rr_rdp" => RandomizedResponse::new(labels(0), x(1))?.rdp(order(2)?).into_value(),
        "rr_delta" => RandomizedResponse::new(labels(0), x(1))?.delta(x(2))?.into_value(),
        "poisson_epsilon" => subsampling::poisson(part()?, x(2))?.into_value().epsilon(),
        "poisson_delta" => subsampling::poisson(part()?, x(2))?.into_value().delta(),
        "without_replacement" => {
            subsampling::without_replacement(part()?, n(2), n(3))?.into_value().epsilon()
        }
        "inclusion" => WithReplacement::new(n(0), n(1))?.inclusion(),
        "with_replacement" => WithReplacement::new(n(0), n(1))?.epsilon(x(2))?,
        "poisson_gaussian" => {
            let release = Gaussian { sensitivity: Sensitivity::new(x(1))?, sigma: Sigma::new(1.0)? };
            PoissonGaussian::new(release, x(0))?.rdp(order(2)?).into_value()
        }
        "optimal_epsilon" => Rdp { order: order(1)?, epsilon: x(0) }.epsilon(delta(2)?).into_value(),
        "mironov_delta" => conversion::mironov_delta(x(0), order(1)?, x(2))?.into_value(),
        "optimal_delta" => Rdp { order: order(1)?, epsilon: x(0) }.delta(x(2))?.into_value(),
        "zcdp_closed" => Zcdp::new(x(0))?.closed_epsilon(delta(1)?),
        "log_mean_exp" => {
            let parts = [Part { weight: 0.3, loss: x(1) }, Part { weight: 0.7, loss: x(2) }];
            log_mean_exp(order(0)?, &parts)?.into_value()
        }
        "naive_epsilon" => composition::naive(&[(part()?, n(2))]).into_value().epsilon(),
        "naive_delta" => composition::naive(&[(part()?, n(2))]).into_value().delta(),
        "advanced_epsilon" => composition::advanced(part()?, n(2), delta(3)?).into_value().epsilon(),
        "advanced_delta" => composition::advanced(part()?, n(2), delta(3)?).into_value().delta(),
        "heterogeneous_epsilon" => {
            composition::heterogeneous(&[(part()?, n(2))], delta(3)?).into_value().epsilon()
        }
        "heterogeneous_delta" => {
            composition::heterogeneous(&[(part()?, n(2))], delta(3)?).into_value().delta()
        }
        "optimal_profile" => composition::optimal_delta(part()?, n(2), x(3))?.into_value(),
        "optimal_epsilon_of" => composition::optimal(part()?, n(2), delta(3)?)?
            .map_or(f64::INFINITY, |o| o.into_value().epsilon()),
        "step_ratio" => step()?.ratio(),
        "step_theta" => step()?.theta(order(2)?),
        "rdp_after" => {
            step()?.mu_after(n(3), ContractionFactor::new(1.0)?)?.into_value().rdp(order(2)?).into_value()
        }
        "mu_after" => step()?.mu_after(n(2), ContractionFactor::new(x(3))?)?.into_value().mu(),
        "inverse_mean" => Geometric::new(x(0))?.inverse_mean().into_value(),
        "log_phi" => Geometric::new(x(0))?.log_phi(x(1))?.into_value(),
        "efmrtt" => shuffling::efmrtt(x(0), n(1), delta(2)?)?.into_value(),
        "efmrtt_inverse" => shuffling::efmrtt_local_epsilon(x(0), n(1), delta(2)?)?,
        "clones_closed" => shuffling::clones_closed(x(0), n(1), delta(2)?)?.into_value(),
        "hoeffding" => shuffling::hoeffding_delta(x(0), x(1), None, n(2))?.into_value(),
        "bennett" => shuffling::bennett_delta(x(0), x(1), None, n(2))?.into_value(),
        "rr_hoeffding" => shuffling::hoeffding_delta(x(0), x(1), Some(labels(2)), n(3))?.into_value(),
        "rr_bennett" => shuffling::bennett_delta(x(0), x(1), Some(labels(2)), n(3))?.into_value(),
        other => panic!("no function {other}"),
    })
}

/// The most by which a value may be above the truth, relative to it, or to 1 for a logarithm.
fn tolerance(name: &str) -> f64 {
    match name {
        // Sums of a thousand terms, whose rounding allowance grows with the root of their number, and
        // logarithms of tiny numbers.
        "optimal_profile" | "optimal_epsilon_of" | "log_phi" => 2e-11,
        "hoeffding" | "bennett" | "rr_hoeffding" | "rr_bennett" => 1e-9,
        // Exponentials e^{−x} for x up to 745, which magnify the error of x.
        "gaussian_delta" | "one_minus_theta" | "optimal_delta" | "mironov_delta" => 1e-11,
        // Near order 1, differences that cancel to a relative 10^-4, with an allowance for their error.
        "poisson_gaussian" => 1e-10,
        "rr_rdp" | "laplace_rdp" | "log_mean_exp" | "optimal_epsilon" => 1e-12,
        _ => 2e-13,
    }
}

#[test]
fn no_value_falls_below_the_truth() {
    let mut failures = Vec::new();
    let mut worst: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
    for line in include_str!("../../tests/reference/outward.csv").lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, bound) = (fields[0], fields[fields.len() - 1].parse::<f64>().unwrap());
        let reached = match value(name, &fields[2..fields.len() - 1]) {
            Ok(reached) => reached,
            Err(error) => {
                failures.push(format!("{line}: {error}"));
                continue;
            }
        };
        let (above, holds) = if fields[1] == "up" {
            (reached - bound, reached >= bound)
        } else {
            (bound - reached, reached <= bound)
        };
        if !holds {
            failures.push(format!("{line}: {reached:e} is on the wrong side"));
        }
        let scale =
            if name.starts_with("log_") || name.contains("_log_") { 1.0 + bound.abs() } else { bound.abs() };
        // Below 1e-290 floats have fewer digits, so nothing is said about the distance.
        let loose = if bound.abs() < 1e-290 { 0.0 } else { above / scale };
        let entry = worst.entry(name).or_insert((0.0, ""));
        if loose > entry.0 || loose.is_nan() {
            *entry = (loose, line);
        }
    }
    for (name, (loose, line)) in worst {
        if loose.is_nan() || loose > tolerance(name) {
            failures.push(format!("{line}: {loose:e} too large"));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
