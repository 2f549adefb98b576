//! Tests of laws against values computed elsewhere, against slow definitions, and with input that users may
//! get wrong.

mod accounting;
mod against_peers;
mod against_truth;
mod bounds;
mod enclosures;
mod ends;
mod input;
mod random_compositions;
mod replaced;
mod tradeoff;
mod vague;

use crate::{Delta, Gaussian, Laplace, LossLaw, Neighbors, Sensitivity, Sigma};

fn gaussian(sigma: f64) -> Gaussian {
    Gaussian { sensitivity: Sensitivity::new(1.0).unwrap(), sigma: Sigma::new(sigma).unwrap() }
}

fn laplace(scale: f64) -> Laplace {
    Laplace::new(Sensitivity::new(1.0).unwrap(), scale).unwrap()
}

fn sampled(rate: f64, sigma: f64, count: u64) -> LossLaw {
    LossLaw::sampled_gaussian(gaussian(sigma), rate).unwrap().times(count).unwrap()
}

fn laplaces(scale: f64, count: u64, neighbors: Neighbors) -> LossLaw {
    LossLaw::laplace(laplace(scale), neighbors).times(count).unwrap()
}

fn delta(delta: f64) -> Delta {
    Delta::new(delta).unwrap()
}
