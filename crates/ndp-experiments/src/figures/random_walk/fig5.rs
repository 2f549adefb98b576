//! `random-walk/fig5`: a graph with three communities, the printed loss of every pair and of every
//! pair of communities.

use super::walk_steps;
use crate::datasets::Data;
use crate::figure::{Axis, Figure, Matrix, Panel, Scale};
use crate::figures::families::TRIES;
use crate::registry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::{Context, Result};
use ndarray::{Array2, ArrayView2, array};
use ndp_algos::walk::graph::{LocalLoss, printed};
use ndp_dp::{Grade, NoiseMultiplier, Order};
use ndp_graph::GossipMatrix;
use ndp_graph::log_matrix::log_matrix;
use ndp_graph::random::stochastic_block_model;
use ndp_graph::spectrum::Spectrum;

const SIZES: [usize; 3] = [75, 75, 50];
/// As dense as the paper's in a quick look.
const QUICK_SIZES: [usize; 3] = [30, 30, 20];
const ALPHA: f64 = 2.0;
const SIGMA: f64 = 1.0;

/// `random-walk/fig5`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig5",
    what: "printed losses of all pairs of a graph with three communities",
    needs: &[],
    minutes: 0.02,
    tolerance: Tolerance::SEEDED,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let sizes = scale.pick(SIZES, QUICK_SIZES);
    let p = array![[0.25, 0.05, 0.02], [0.05, 0.35, 0.07], [0.02, 0.07, 0.40]];
    let mut rng = seed.fork("blocks").trial(0);
    let graph = (0..TRIES)
        .map(|_| stochastic_block_model(&sizes, p.view(), &mut rng))
        .find(|graph| graph.as_ref().map_or(true, |graph| graph.require_connected().is_ok()))
        .context("no graph with three communities was connected")??;
    let n = graph.node_count();
    let matrix = GossipMatrix::metropolis(&graph);
    let steps = walk_steps(&matrix, SIGMA)?;
    let local = LocalLoss::new(Order::new(ALPHA)?, NoiseMultiplier::new(SIGMA)?);
    let entries = log_matrix(&Spectrum::new(&matrix)?)?;
    let mut losses = printed::user_level_matrix(entries.view(), steps, local)?.into_value();
    losses.diag_mut().fill(f64::NAN);
    let means = block_means(losses.view(), &sizes);
    let inside = (0..sizes.len()).map(|b| means[(b, b)]).fold(f64::INFINITY, f64::min);
    let between = (0..sizes.len()).flat_map(|a| (0..a).map(move |b| (a, b))).map(|pair| means[pair]);
    let between = between.fold(f64::NEG_INFINITY, f64::max);
    let names: Vec<String> = (1..=sizes.len()).map(|b| format!("community {b}")).collect();
    let color = || Axis::log("loss");
    Ok(Figure::new("Random walks, figure 5: a graph with communities")
        .parameter("sizes", sizes.to_vec())
        .parameter("probabilities", "0.25, 0.35, 0.40 within; 0.05 (1, 2), 0.02 (1, 3), 0.07 (2, 3)")
        .parameter("weights", "metropolis")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .parameter("T", steps)
        .note("edges", graph.edge_count())
        .note("visits per node", steps as f64 / n as f64)
        .note("smallest mean within a community", inside)
        .note("largest mean between communities", between)
        .claim("Nodes lose more to members of their own community than to others.")
        .finding("So the printed losses say; the mean is taken over pairs of different nodes. They add up over contributions, which is no guarantee.")
        .finding("The script published with the paper draws a hypercube instead.")
        .panel(Panel::heat_map(
            format!("{n} nodes, T = {steps}: all pairs"),
            color(),
            Matrix::new("printed", Grade::Printed, losses),
        ))
        .panel(Panel::heat_map(
            "means over pairs of communities",
            color(),
            Matrix::new("printed, mean", Grade::Printed, means).named(&names),
        )))
}

/// The mean of every block, entries that are left out not counted.
fn block_means(values: ArrayView2<'_, f64>, sizes: &[usize]) -> Array2<f64> {
    let block: Vec<usize> = sizes.iter().enumerate().flat_map(|(b, &size)| vec![b; size]).collect();
    let mut sums = Array2::zeros((sizes.len(), sizes.len()));
    let mut counts = sums.clone();
    for ((u, v), &value) in values.indexed_iter().filter(|(_, value)| !value.is_nan()) {
        sums[(block[u], block[v])] += value;
        counts[(block[u], block[v])] += 1.0;
    }
    sums / counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_leave_the_diagonal_out() {
        let values = array![[f64::NAN, 1.0, 5.0], [3.0, f64::NAN, 7.0], [9.0, 11.0, f64::NAN]];
        let means = block_means(values.view(), &[2, 1]);
        assert_eq!((means[(0, 0)], means[(0, 1)], means[(1, 0)]), (2.0, 6.0, 10.0));
    }

    #[test]
    fn printed_losses_are_larger_within_communities() -> Result<()> {
        let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
        let note = |name: &str| figure.notes[name].as_f64().unwrap();
        assert!(note("smallest mean within a community") > 1.2 * note("largest mean between communities"));
        Ok(())
    }
}
