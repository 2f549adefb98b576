//! `network-dp/fig3`: losses of realized walks for histograms, and what is guaranteed.

use super::realised::{Spread, VISITS, as_released_path, local_curve, realised_curve};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_account::{Account, Observer, Protocol};
use ndp_algos::walk::Path;
use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{Delta, Grade, NoiseMultiplier, RandomizedResponse, calibration};
use ndp_printed::network::realised::CycleSize;
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

/// The paper states neither n nor the epsilon of one contribution.
const EPSILONS: [f64; 2] = [0.1, 0.4];
const USERS: [usize; 6] = [5, 10, 20, 50, 100, 200];
const RUNS: u64 = 10;
const DELTA: f64 = 1e-7;
/// Labels of the certified curve; this number is our choice.
const LABELS: u32 = 10;
/// Segments of at most this many reports are bounded by the exact blanket of randomized response.
const EXACT_REPORTS: u64 = 200;
/// The δ of the certified curves; a tenth of it covers the case of more visits than accounted for.
const TOTAL_DELTA: f64 = 1e-5;

const CERTIFIED: &str = "composed over receptions";
const LOCAL: &str = "local, every report seen";
const RELEASED: &str = "local, as released";

/// `network-dp/fig3`.
pub const ENTRY: Entry = Entry {
    id: "network-dp/fig3",
    what: "losses of realized walks for histograms on the complete graph",
    needs: &[],
    minutes: 0.2,
    tolerance: Tolerance::SEEDED,
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

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let users: &[usize] = scale.pick(&USERS, &USERS[..2]);
    let runs = scale.pick(RUNS, 2);
    let mut figure = Figure::new("Network DP, figure 3: reports seen one by one are proved to lose less (delta 1e-5) than the released local curve says (1e-7)")
        .titled_by([Basis::Drawn(Check::below(LOCAL, RELEASED))])
        .by_named("by Rényi losses", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .by_named("by the law", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks")
        .by(Grade::Estimate, "ndp_printed::network::realised::pairwise_losses", "Privacy amplification by decentralization")
        .by_named(RELEASED, Grade::Estimate, "ndp_dp::composition::advanced", "Accounting")
        .by(Grade::UpperBound, "ndp_algos::walk::complete::CompleteHistogram", "Privacy amplification by decentralization")
        .parameter("T", "100 n, as released 100 n - 1")
        .parameter("walks", runs)
        .parameter("delta", DELTA)
        .parameter("labels of the certified curve", LABELS)
        .parameter("delta of the certified curves", TOTAL_DELTA)
        .parameter("reports up to which the blanket is exact", EXACT_REPORTS)
        .claim("Histograms gain over local DP by shuffling along the walk.")
        .finding("At these sizes shuffling amplifies hardly at all: at epsilon 0.1 not at m = 50, and by 2 percent at m = 100.")
        .finding("The certified curve composes over receptions; it conditions on no walk.")
        .finding("The certified curves are for delta 1e-5 and go by the law of the number of reports of a node and of their losses; released ones are for delta 1e-7 and compose the largest number.")
        .finding("For few users (the notes say up to how many) composing receptions costs more than the reports of a node by themselves, since a reception there shows few reports: the certified curve is then the local one. Both are upper bounds, so neither order of them decides whether there is a gain.")
        .check(Check::below(CERTIFIED, LOCAL))
        .columns(2);
    for epsilon in EPSILONS {
        let stream = seed.fork(&format!("walks {epsilon}"));
        let mut released = Spread::new("as released");
        let mut corrected = Spread::new("cycles of m = l - 1");
        let mut local = Spread::new(RELEASED);
        let (mut certified, mut all_seen) = (Vec::new(), Vec::new());
        let mut without_gain = 0;
        for &n in users {
            let paths = stream
                .run(runs, |rng| as_released_path(n, rng))
                .into_iter()
                .collect::<Result<Vec<Path>>>()?;
            released.push(n, realised_curve(&paths, CycleSize::Length, DELTA, |m| mass(epsilon, m))?);
            corrected.push(n, realised_curve(&paths, CycleSize::Foreign, DELTA, |m| mass(epsilon, m))?);
            local.push(n, local_curve(&paths, epsilon, DELTA)?);
            let response = RandomizedResponse::with_epsilon(LABELS, epsilon)?;
            let histogram = CompleteHistogram {
                walk: CompleteWalk::new(n, VISITS * n)?,
                response,
                exact_reports: Some(scale.pick(EXACT_REPORTS, 20)),
            };
            let total = Delta::new(TOTAL_DELTA)?;
            let hidden = Observer::node(0).with_hidden_senders();
            // The noise of reports with this epsilon.
            let noise = NoiseMultiplier::new(1.0 / epsilon)?;
            let at = |account: Box<dyn Account + '_>| -> Result<f64> {
                Ok(account.profile(1, noise)?.epsilon(total)?.into_value().epsilon())
            };
            let (composed, alone) = (at(histogram.account(&hidden)?)?, at(histogram.local_bound(&hidden)?)?);
            certified.push((n as f64, composed));
            all_seen.push((n as f64, alone));
            if composed >= alone {
                without_gain = n;
            }
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
        .with(Series::new(LOCAL, Grade::UpperBound).points(all_seen));
        figure = figure
            .note(format!("most users without certified gain over local, epsilon {epsilon}"), without_gain)
            .panel(panel);
    }
    Ok(figure)
}
