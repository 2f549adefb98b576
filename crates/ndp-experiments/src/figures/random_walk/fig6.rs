//! `random-walk/fig6`: nine Facebook ego networks, their nodes colored by loss, printed and sound.

use super::walk_steps;
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::count;
use crate::figures::muffliato::fig5::{EGOS, shares};
use crate::seed::Seed;
use anyhow::Result;
use ndp_account::Error;
use ndp_algos::walk::graph::LocalLoss;
use ndp_dp::{Grade, NoiseMultiplier, Order};
use ndp_graph::GossipMatrix;
use ndp_graph::log_matrix::log_matrix_row;
use ndp_printed::walk::VisitSum;
use ndp_report::figure::{Axis, Basis, Check, Drawing, Figure, Panel, Scale};
use ndp_report::layout::force;
use rand::RngExt;
use rayon::prelude::*;

const ALPHA: f64 = 2.0;
const SIGMA: f64 = 10.0;
/// In the sound panels a node contributes at most this many times the mean number of its visits.
const CAP: f64 = 1.25;
/// In the sound panels first visits are followed for this many steps; the remainder is charged at once.
const CUT: usize = 500;

/// `random-walk/fig6`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig6",
    what: "nine Facebook ego networks colored by the loss of a walk, printed and sound",
    needs: &["facebook"],
    minutes: 0.1,
    tolerance: Tolerance::SEEDED,
    findings: &["F8"],
    test: Some(("crates/ndp-printed/src/walk.rs", "the_star_refutes_theorem_3")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let local = LocalLoss { order: Order::new(ALPHA)?, noise: NoiseMultiplier::new(SIGMA)? };
    let mut figure = Figure::new("Random walks, figure 6: in Facebook networks what is proved is above what is printed for most nodes")
        .by(Grade::Printed, "ndp_printed::walk::VisitSum", "Random walks")
        .by(Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .parameter("weights", "metropolis")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .claim("On social networks the printed losses of a walk bound what other nodes learn about a node.")
        .finding("That only the closest nodes learn much is not what the printed losses say: at paper scale, in six of the nine networks, the least of them is above three local losses. No check here is about distances.")
        .parameter("cap on contributions, sound, over the mean number of visits", CAP)
        .parameter("first visits followed for, sound", CUT)
        .finding("The network of an ego is that among the friends of one user.")
        .finding("The printed losses are no guarantees: contributions observed together cost more than their sum. The sound ones bound what all contributions of the node reveal to another, for a walk on which it contributes a capped number of times.")
        .finding("The choice of the node is ours, by the seed; the program draws it without one.")
        .columns(3);
    // A quick run uses small networks only.
    let egos: &[u32] = scale.pick(&EGOS, &[414, 698, 3980]);
    let mut drawings = Vec::new();
    for &ego in egos {
        let loaded = data.ego(ego)?;
        let (graph, _) = loaded.value.largest_component();
        let n = graph.node_count();
        let node = seed.fork("node").trial(u64::from(ego)).random_range(0..n);
        let matrix = GossipMatrix::metropolis(&graph);
        let steps = walk_steps(&matrix, SIGMA)?;
        let cap = count((CAP * steps as f64 / n as f64).ceil());
        let walk = super::followed(&matrix, steps, cap, CUT)?;
        let sound = (0..n).into_par_iter().map(|v| match v == node {
            true => Ok(f64::NAN),
            false => Ok(walk.loss(node, &[v], local)?.into_value() / local.cost()),
        });
        let sound = sound.collect::<Result<Vec<f64>, Error>>()?;
        let loss = |entry: f64| -> Result<f64, Error> {
            let printed = ndp_printed::walk::user_level(VisitSum::LogMatrix(entry), n, steps, local)?;
            Ok(printed.into_value() / local.cost())
        };
        let mut losses: Vec<f64> =
            log_matrix_row(&matrix, node)?.into_iter().map(loss).collect::<Result<_, Error>>()?;
        // A node's loss to itself is no privacy loss.
        losses[node] = f64::NAN;
        let others = losses.iter().filter(|loss| !loss.is_nan());
        let (count, sum) = others.fold((0.0, 0.0), |(count, sum), loss| (count + 1.0, sum + loss));
        let positions = force(&graph);
        let mut panel = |how: &str, grade, losses| {
            let name = format!("ego {ego}, {how}");
            let drawing = Drawing::new(name, grade, &graph, positions.clone(), losses).mark(node);
            let title = format!("ego {ego}, {n} nodes, T = {steps}: {how}");
            drawings.push((title.clone(), drawing.clone()));
            Panel::drawing(title, Axis::log("loss / local loss"), drawing)
        };
        let both = [panel("printed", Grade::Printed, losses), panel("sound", Grade::UpperBound, sound)];
        figure = figure
            .computed_from(&loaded.source)
            .parameter(format!("ego {ego}: nodes"), n)
            .parameter(format!("ego {ego}: T"), steps)
            .note(format!("ego {ego}: mean loss / local loss"), sum / f64::max(count, 1.0))
            .note(format!("ego {ego}: visits per node"), steps as f64 / n as f64)
            .parameter(format!("ego {ego}: cap on contributions, sound"), cap)
            .titled_by([Basis::most(format!("ego {ego}, printed"), format!("ego {ego}, sound"))])
            .check(Check::covers(format!("ego {ego}, printed"), format!("ego {ego}, sound")));
        figure = both.into_iter().fold(figure, Figure::panel);
    }
    Ok(figure
        .drawn_as(shares(&drawings, ["as printed", "proved"], 1e-2, || Axis::log("loss / local loss")))
        .columns(3))
}
