//! `network-dp/fig3`: losses of realized walks for histograms, and what is guaranteed.

use super::realised::{DELTA, Spread, VISITS, as_released_paths, local_curve, realised_curve};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_account::{Account, Observer, Protocol};
use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{Delta, Grade, LossLaw, Mechanism, Neighbors, NoiseMultiplier, RandomizedResponse, calibration};
use ndp_printed::network::realised::CycleSize;
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

/// The paper states neither n nor the epsilon of one contribution.
const EPSILONS: [f64; 2] = [0.1, 0.4];
const USERS: [usize; 6] = [5, 10, 20, 50, 100, 200];
const RUNS: u64 = 10;
/// Labels of the certified curve; this number is our choice.
const LABELS: u32 = 10;
/// The δ of the certified curves.
const TOTAL_DELTA: f64 = 1e-5;

const CERTIFIED: &str = "senders hidden, step by step";
const RECEIVED: &str = "senders known, step by step";
const LOCAL: &str = "local, every report seen";
const RELEASED: &str = "local, as released";

/// `network-dp/fig3`.
pub const ENTRY: Entry = Entry {
    id: "network-dp/fig3",
    what: "losses of realized walks for histograms on the complete graph",
    needs: &[],
    minutes: 0.2,
    tolerance: Tolerance::SEEDED,
    findings: &["F6", "F7"],
    test: Some((
        "crates/ndp-printed/src/network/realised.rs",
        "as_released_histogram_matches_the_authors_program",
    )),
    measures: false,
    figure,
};

/// The loss of one report among `m`, as in the program: the best of Hoeffding, Bennett and, where it applies,
/// the closed form of Erlingsson et al.; never above the loss of the report alone.
fn mass(epsilon: f64, m: usize) -> f64 {
    let (m, Ok(delta)) = (m as u64, Delta::new(DELTA)) else { return epsilon };
    let reports = Reports { local_epsilon: epsilon, labels: None };
    let smallest = |bound| {
        calibration::smallest_epsilon(delta, |e| reports.delta_by(bound, e, m))
            .map_or(epsilon, |found| found.parameter)
    };
    let closed = reports.epsilon_by(Bound::Efmrtt, m, delta).map_or(epsilon, |bound| bound.into_value());
    let blankets = smallest(Bound::Hoeffding).min(smallest(Bound::Bennett));
    blankets.min(closed).min(epsilon)
}

/// What an observer of every report learns. Each step belongs to a given user with probability `1/n`, and the
/// observer sees whose step it is. All losses are on the grid.
fn seen_one_by_one(n: usize, response: RandomizedResponse, delta: Delta) -> Result<f64> {
    let nothing = LossLaw::finite(&[1.0], &[1.0], Neighbors::ReplaceOne)?;
    let (share, release) = (1.0 / n as f64, LossLaw::randomized_response(response));
    let step = LossLaw::seen_mixture(&[(1.0 - share, nothing), (share, release)])?;
    let grid = response.pure_epsilon().into_value() / 8.0;
    Ok(step.times((VISITS * n) as u64)?.with_step(grid)?.epsilon(delta).upper())
}

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let users: &[usize] = scale.pick(&USERS, &USERS[..2]);
    let runs = scale.pick(RUNS, 2);
    let mut figure = Figure::new("Network DP, figure 3: at the numbers of users drawn, histograms along a walk are proved to lose less than their reports seen one by one")
        .titled_by([Basis::Drawn(Check::below(CERTIFIED, LOCAL)), Basis::Drawn(Check::below(RECEIVED, LOCAL))])
        .by(Grade::Estimate, "ndp_printed::network::realised::pairwise_losses", "Privacy amplification by decentralization")
        .by_named(RELEASED, Grade::Estimate, "ndp_experiments::figures::network_dp::realised::local_curve", "Accounting")
        .by(Grade::UpperBound, "ndp_algos::walk::complete::CompleteHistogram", "Privacy amplification by decentralization")
        .by(Grade::Exact, "ndp_dp::LossLaw::seen_mixture", "Privacy loss laws")
        .parameter("T", "100 n, as released 100 n - 1")
        .parameter("walks", runs)
        .parameter("delta", DELTA)
        .parameter("labels of the certified curve", LABELS)
        .parameter("delta of the certified curves", TOTAL_DELTA)
        .claim("Histograms along the walk gain over local DP.")
        .finding("The paper ascribes the gain to shuffling along the walk. The curves that decide the claim use no bound on shuffling.")
        .finding("The three bounds on shuffling that the released curves use amplify hardly at these sizes: at epsilon 0.1 not at m = 50, and by 2 percent at m = 100. Other bounds amplify more: at delta 1e-7, 50 reports of epsilon 0.1 cost at most 0.0582 together, and at most 0.0258 if they are randomized responses with 10 labels.")
        .finding("In these curves what amplifies is that nobody knows whose step it was: if senders are hidden, every step that is not just after one of the observer's is a draw of one user; if they are known, every step that is neither just before nor just after.")
        .finding("The curves step by step and the local one are proved for delta 1e-5, over the random walk; on a path on which a user reports more often than on most, it loses more. Released ones are for delta 1e-7, on drawn paths.")
        .check(Check::below(CERTIFIED, LOCAL))
        .check(Check::below(RECEIVED, LOCAL))
        .columns(2);
    for epsilon in EPSILONS {
        let stream = seed.fork(&format!("walks {epsilon}"));
        let mut released = Spread::new("as released");
        let mut corrected = Spread::new("cycles of m = l - 1");
        let mut local = Spread::new(RELEASED);
        let (mut certified, mut received, mut all_seen) = (Vec::new(), Vec::new(), Vec::new());
        for &n in users {
            let paths = as_released_paths(stream, runs, n)?;
            released.push(n, realised_curve(&paths, CycleSize::Length, |m| mass(epsilon, m))?);
            corrected.push(n, realised_curve(&paths, CycleSize::Foreign, |m| mass(epsilon, m))?);
            local.push(n, local_curve(&paths, epsilon));
            let response = RandomizedResponse::with_epsilon(LABELS, epsilon)?;
            let histogram = CompleteHistogram { walk: CompleteWalk::new(n, VISITS * n)?, response };
            let total = Delta::new(TOTAL_DELTA)?;
            let (known, hidden) = (Observer::node(0), Observer::node(0).with_hidden_senders());
            // The noise of reports with this epsilon.
            let noise = NoiseMultiplier::new(1.0 / epsilon)?;
            let at = |account: Box<dyn Account + '_>| -> Result<(f64, f64)> {
                Ok((n as f64, account.profile(1, noise)?.epsilon(total)?.into_value().epsilon()))
            };
            certified.push(at(histogram.account(&hidden)?)?);
            received.push(at(histogram.account(&known)?)?);
            all_seen.push((n as f64, seen_one_by_one(n, response, total)?));
        }
        let panel = Panel::curves(
            format!("epsilon of one report {epsilon}"),
            Axis::log("users n"),
            Axis::log("epsilon"),
        )
        .with(released.series(Grade::Estimate))
        .with(corrected.series(Grade::Estimate))
        .with(local.series(Grade::Estimate))
        .with(Series::new(CERTIFIED, Grade::UpperBound).points(certified))
        .with(Series::new(RECEIVED, Grade::UpperBound).points(received))
        .with(Series::new(LOCAL, Grade::Exact).points(all_seen));
        figure = figure.panel(panel);
    }
    Ok(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the findings say of 50 and of 100 reports with epsilon 0.1.
    #[test]
    fn three_bounds_on_shuffling_amplify_hardly_and_others_more() -> Result<()> {
        assert_eq!(mass(0.1, 50), 0.1);
        assert!((0.0975..0.0985).contains(&mass(0.1, 100)), "{}", mass(0.1, 100));
        for (labels, least, most) in [(None, 0.0581, 0.0582), (Some(LABELS), 0.0257, 0.0258)] {
            let reports = Reports { local_epsilon: 0.1, labels };
            let epsilon = reports.epsilon(50, Delta::new(DELTA)?)?.value().epsilon;
            assert!(least < epsilon && epsilon < most, "{epsilon}");
        }
        Ok(())
    }
}
