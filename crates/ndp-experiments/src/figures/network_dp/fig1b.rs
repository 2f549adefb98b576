//! `network-dp/fig1b`: losses of realized walks for real summation, and what is guaranteed.

use super::realised::{
    DELTA, LAW, LAW_USERS, OF_LAW, Spread, VISITS, as_released_paths, averaged_epsilon, classic_mu,
    law_epsilon, local_curve, realised_curve, visits,
};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::complete::CompleteWalk;
use ndp_algos::walk::complete::realised::path_units;
use ndp_dp::{Delta, Gdp, Grade, Mechanism};
use ndp_printed::network::realised::CycleSize;
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

const EPSILONS: [f64; 2] = [0.1, 0.4];
const USERS: [usize; 7] = [5, 10, 20, 50, 100, 200, 400];
const RUNS: u64 = 10;
/// Name of the curve of the local loss: one contribution for each visit, on the walk of the exact curve.
const LOCAL: &str = "local along one drawn walk";
const CERTIFIED: &str = "averaged over the walk";
/// The δ at which exact and certified values are converted.
const TOTAL_DELTA: f64 = 1e-6;

/// `network-dp/fig1b`.
pub const ENTRY: Entry = Entry {
    id: "network-dp/fig1b",
    what: "losses of realized walks for real summation on the complete graph",
    needs: &[],
    minutes: 0.05,
    tolerance: Tolerance::SEEDED,
    findings: &["F6", "F7"],
    test: Some((
        "crates/ndp-experiments/src/figures/network_dp/fig1b.rs",
        "released_losses_are_those_of_the_program",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let users: &[usize] = scale.pick(&USERS, &USERS[..3]);
    let runs = scale.pick(RUNS, 2);
    let mut figure = Figure::new("Network DP, figure 1(b): what is proved falls with the number of users, and is below the local loss on one walk")
        .titled_by([
            Basis::Drawn(Check::falls(CERTIFIED, 1.0)),
            Basis::Drawn(Check::below(CERTIFIED, LOCAL)),
        ])
        .by_named("by the law", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks")
        .by(Grade::Estimate, "ndp_printed::network::realised::pairwise_losses", "Privacy amplification by decentralization")
        .by_named("along one drawn walk", Grade::Estimate, "ndp_algos::walk::complete::realised::path_units", "Privacy amplification by decentralization")
        .by_named("local, as released", Grade::Estimate, "ndp_experiments::figures::network_dp::realised::local_curve", "Accounting")
        .by_named("local along one drawn walk", Grade::Estimate, "ndp_dp::Gdp", "Accounting")
        .by(Grade::UpperBound, "ndp_algos::walk::complete::CompleteSum", "Privacy amplification by decentralization")
        .parameter("T", "100 n, as released 100 n - 1")
        .parameter("walks", runs)
        .parameter("delta", DELTA)
        .parameter("delta of exact and certified values", TOTAL_DELTA)
        .claim("On real walks the gain over local DP is large already for small n.")
        .finding("The released curves charge cycles by their length, one more than the noises they hold, and compose network and local losses by different theorems.")
        .finding(OF_LAW)
        .finding("The averaged bound holds over the random walk; losses of one walk are estimates.")
        .check(Check::below(CERTIFIED, LOCAL))
        .columns(2);
    for epsilon in EPSILONS {
        let mu = classic_mu(epsilon);
        let stream = seed.fork(&format!("walks {epsilon}"));
        let mass = |m: usize| epsilon / (m as f64).sqrt();
        let mut released = Spread::new("as released");
        let mut corrected = Spread::new("cycles of m = l - 1");
        let mut exact = Spread::new("along one drawn walk");
        let mut local = Spread::new("local, as released");
        let mut local_exact = Spread::new(LOCAL);
        let (mut certified, mut by_law) = (Vec::new(), Series::new(LAW, Grade::UpperBound));
        for &n in users {
            let paths = as_released_paths(stream, runs, n)?;
            released.push(n, realised_curve(&paths, CycleSize::Length, mass)?);
            corrected.push(n, realised_curve(&paths, CycleSize::Foreign, mass)?);
            local.push(n, local_curve(&paths, epsilon));
            let epsilons = visits(&paths[0]).into_iter().map(|visits| exact_epsilon(mu * visits.sqrt()));
            local_exact.push(n, epsilons.collect::<Result<_>>()?);
            let mut values = Vec::new();
            // One walk is enough to show the range, and the 160 000 pairs of the largest walk take a second.
            for path in paths.iter().take(1) {
                let units = path_units(path, FinalToken::Withheld)?.into_value();
                for ((u, v), &unit) in units.indexed_iter() {
                    if u != v {
                        values.push(exact_epsilon(mu * unit.sqrt())?);
                    }
                }
            }
            exact.push(n, values);
            let walk = CompleteWalk::new(n, VISITS * n)?;
            certified.push((n as f64, averaged_epsilon(walk, mu, Delta::new(TOTAL_DELTA)?)?));
            if n as f64 <= scale.pick(LAW_USERS, 10.0) {
                let [low, high] = law_epsilon(n, mu, Delta::new(TOTAL_DELTA)?)?;
                by_law = by_law.ranged(n as f64, high, low, high);
            }
        }
        let panel = |what: &str| {
            let title = format!("epsilon of one contribution {epsilon}: {what}");
            Panel::curves(title, Axis::log("users n"), Axis::log("epsilon"))
        };
        figure = figure
            .panel(
                panel("as released")
                    .with(released.series(Grade::Estimate))
                    .with(corrected.series(Grade::Estimate))
                    .with(local.series(Grade::Estimate)),
            )
            .panel(
                panel("proved, and one walk")
                    .with(exact.series(Grade::Estimate))
                    .with(local_exact.series(Grade::Estimate))
                    .with(Series::new(CERTIFIED, Grade::UpperBound).points(certified))
                    .with(by_law),
            );
    }
    Ok(figure)
}

/// The exact `ε` of a release with Gaussian parameter `mu`.
fn exact_epsilon(mu: f64) -> Result<f64> {
    Ok(Gdp::new(mu)?.epsilon(Delta::new(TOTAL_DELTA)?).into_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recorded mean of 10 walks of the authors' program at n = 5 is within 4 standard errors of ours.
    #[test]
    fn released_losses_are_those_of_the_program() -> Result<()> {
        let (n, recorded, spread) = (5, 2.415_157_909, 0.043);
        let paths = as_released_paths(Seed(3), 40, n)?;
        let losses = realised_curve(&paths, CycleSize::Length, |m| 0.1 / (m as f64).sqrt())?;
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let error = spread * (1.0f64 / 10.0 + 1.0 / 40.0).sqrt();
        assert!((mean - recorded).abs() < 4.0 * error, "{mean} is not {recorded}");
        Ok(())
    }
}
