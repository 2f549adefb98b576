//! `random-walk/fig6`: nine Facebook ego networks, their nodes coloured by printed loss.

use super::walk_steps;
use crate::datasets::Data;
use crate::figure::{Axis, Drawing, Figure, Panel, Scale};
use crate::figures::muffliato::fig5::EGOS;
use crate::layout::force;
use crate::registry::{Entry, Need, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::walk::graph::{LocalLoss, printed};
use ndp_dp::{Grade, NoiseMultiplier, Order};
use ndp_graph::GossipMatrix;
use ndp_graph::log_matrix::log_matrix_row;
use rand::RngExt;

const ALPHA: f64 = 2.0;
const SIGMA: f64 = 10.0;

/// `random-walk/fig6`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig6",
    what: "nine Facebook ego networks coloured by the printed loss of a walk",
    needs: &[Need::Facebook],
    minutes: 0.3,
    tolerance: Tolerance::SEEDED,
    figure,
};

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let local = LocalLoss::new(Order::new(ALPHA)?, NoiseMultiplier::new(SIGMA)?);
    let mut figure = Figure::new("Random walks, figure 6: Facebook ego networks, as printed")
        .parameter("weights", "metropolis")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .claim("On social networks only the closest nodes learn much about a node.")
        .finding("The colours are printed losses, not guarantees: contributions observed together cost more than their sum.")
        .finding("The choice of the node is ours, by the seed; the program draws it without one.")
        .columns(3);
    // Small networks are enough for a quick look.
    let egos: &[u32] = scale.pick(&EGOS, &[414, 698, 3980]);
    for &ego in egos {
        let loaded = data.ego(ego)?;
        let (graph, _) = loaded.value.largest_component();
        let n = graph.node_count();
        let node = seed.fork("node").trial(u64::from(ego)).random_range(0..n);
        let matrix = GossipMatrix::metropolis(&graph);
        let steps = walk_steps(&matrix, SIGMA)?;
        let loss =
            |entry: f64| printed::user_level_by_log(entry, n, steps, local).into_value() / local.cost();
        let mut losses: Vec<f64> = log_matrix_row(&matrix, node)?.into_iter().map(loss).collect();
        // A node's loss to itself is no privacy loss.
        losses[node] = f64::NAN;
        let others = losses.iter().filter(|loss| !loss.is_nan());
        let (count, sum) = others.fold((0.0, 0.0), |(count, sum), loss| (count + 1.0, sum + loss));
        let drawing =
            Drawing::new(format!("ego {ego}"), Grade::Printed, &graph, force(&graph), losses).mark(node);
        figure = figure
            .computed_from(&loaded.source)
            .parameter(format!("ego {ego}: nodes"), n)
            .parameter(format!("ego {ego}: T"), steps)
            .note(format!("ego {ego}: mean loss / local loss"), sum / f64::max(count, 1.0))
            .note(format!("ego {ego}: visits per node"), steps as f64 / n as f64)
            .panel(Panel::drawing(
                format!("ego {ego}, {n} nodes, T = {steps}"),
                Axis::log("loss / local loss"),
                drawing,
            ));
    }
    Ok(figure)
}
