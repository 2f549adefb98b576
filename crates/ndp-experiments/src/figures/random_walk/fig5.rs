//! `random-walk/fig5`: a graph with three communities, the loss of every pair and of every pair of
//! communities, printed and sound.

use super::{printed_losses, walk_steps};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::count;
use crate::figures::families::TRIES;
use crate::seed::Seed;
use anyhow::{Context, Result};
use ndarray::{Array2, ArrayView1, ArrayView2, array};
use ndp_account::Error;
use ndp_algos::walk::graph::{LocalLoss, TokenWalk};
use ndp_dp::{Grade, NoiseMultiplier, Order};
use ndp_graph::GossipMatrix;
use ndp_graph::log_matrix::log_matrix;
use ndp_graph::random::stochastic_block_model;
use ndp_graph::spectrum::Spectrum;
use ndp_numeric::decimal::{Round, fixed};
use ndp_report::figure::{Axis, Basis, Check, Figure, Matrix, Panel, Scale, Series};
use rayon::prelude::*;

const SIZES: [usize; 3] = [75, 75, 50];
/// Sizes for a quick run; the graph is as dense as the paper's.
const QUICK_SIZES: [usize; 3] = [30, 30, 20];
const ALPHA: f64 = 2.0;
const SIGMA: f64 = 1.0;
/// Sound losses are computed among every fourth node only.
const EVERY: usize = 4;
/// In the sound panels a node contributes at most this many times the mean number of its visits.
const CAP: f64 = 1.25;

/// Names of the means within communities and outside.
const PRINTED: [&str; 2] = ["own community, printed", "worst other community, printed"];
const SOUND: [&str; 2] = ["own community, sound", "worst other community, sound"];

/// `random-walk/fig5`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig5",
    what: "losses, printed and sound, of all pairs of a graph with three communities",
    needs: &[],
    minutes: 0.03,
    tolerance: Tolerance::SEEDED,
    findings: &["F8"],
    test: Some((
        "crates/ndp-experiments/src/figures/random_walk/fig5.rs",
        "losses_are_larger_within_communities",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let sizes = scale.pick(SIZES, QUICK_SIZES);
    let p = array![[0.25, 0.05, 0.02], [0.05, 0.35, 0.07], [0.02, 0.07, 0.40]];
    let mut rng = seed.fork("blocks").trial(0);
    let graph = (0..TRIES)
        .map(|_| stochastic_block_model(&sizes, p.view(), &mut rng))
        .find(|graph| graph.as_ref().map_or(true, |graph| graph.is_connected()))
        .context("no graph with three communities was connected")??;
    let n = graph.node_count();
    let matrix = GossipMatrix::metropolis(&graph);
    let steps = walk_steps(&matrix, SIGMA)?;
    let local = LocalLoss { order: Order::new(ALPHA)?, noise: NoiseMultiplier::new(SIGMA)? };
    let entries = log_matrix(&Spectrum::new(&matrix)?)?;
    let mut losses = printed_losses(entries.view(), steps, local)?;
    losses.diag_mut().fill(f64::NAN);
    let blocks: Vec<usize> = sizes.iter().enumerate().flat_map(|(b, &size)| vec![b; size]).collect();
    let means = block_means(losses.view(), &blocks);
    let cap = count((CAP * steps as f64 / n as f64).ceil());
    let some: Vec<usize> = (0..n).step_by(EVERY).collect();
    let sound = sound_losses(&super::followed(&matrix, steps, cap, steps)?, &some, local)?;
    let sound_blocks: Vec<usize> = some.iter().map(|&u| blocks[u]).collect();
    let sound_means = block_means(sound.view(), &sound_blocks);
    let (printed_factors, sound_factors) = (factors(&means), factors(&sound_means));
    let single = sound.iter().filter(|loss| !loss.is_nan());
    let [low, high] =
        single.fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], &loss| [low.min(loss), high.max(loss)]);
    let names: Vec<String> = (1..=sizes.len()).map(|b| format!("community {b}")).collect();
    let color = || Axis::log("loss");
    Ok(Figure::new("Random walks, figure 5: mean printed losses are larger within communities; mean upper bounds (every fourth node) towards the own and the worst other community differ by at most 15 %")
        .titled_by([
            Basis::Drawn(Check::below(PRINTED[1], PRINTED[0])),
            Basis::Drawn(Check::agrees(SOUND[1], SOUND[0], 0.15)),
        ])
        .by(Grade::Printed, "ndp_printed::walk::VisitSum", "Random walks")
        .by(Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .parameter("sizes", sizes.to_vec())
        .parameter("probabilities", "0.25, 0.35, 0.40 within; 0.05 (1, 2), 0.02 (1, 3), 0.07 (2, 3)")
        .parameter("weights", "metropolis")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .parameter("T", steps)
        .note("edges", graph.edge_count())
        .note("visits per node", steps as f64 / n as f64)
        .claim("Nodes lose more to members of their own community than to others.")
        .finding(format!(
            "The means of the printed losses say so by factors of {} to {}, but they add up over contributions, which is no \
             guarantee. The sound ones bound what all contributions of a node reveal, for a walk on which it contributes a \
             capped number of times, to every fourth node alone. Their means towards own and worst other community differ by \
             factors of {} to {}, where single ones differ by a factor of {}, and that one upper bound is below another says \
             nothing of the losses. Means are over pairs of different nodes.",
            fixed(printed_factors[0], 2, Round::Down),
            fixed(printed_factors[1], 2, Round::Up),
            fixed(sound_factors[0], 2, Round::Down),
            fixed(sound_factors[1], 2, Round::Up),
            fixed(high / low, 1, Round::Down),
        ))
        .parameter("cap on contributions, sound", cap)
        .parameter("nodes of the sound losses", "every fourth")
        .finding("The script published with the paper draws a hypercube instead.")
        .panel(Panel::heat_map(
            format!("{n} nodes, T = {steps}: all pairs"),
            color(),
            Matrix::new("printed", Grade::Printed, losses),
        ))
        .panel(Panel::heat_map(
            "means over pairs of communities",
            color(),
            Matrix::new("printed, mean", Grade::Printed, means.clone()).named(&names),
        ))
        .panel(Panel::heat_map(
            format!("every fourth node, T = {steps}: pairs, sound"),
            color(),
            Matrix::new("sound", Grade::UpperBound, sound),
        ))
        .panel(Panel::heat_map(
            "means over pairs of communities, sound",
            color(),
            Matrix::new("sound, mean", Grade::UpperBound, sound_means.clone()).named(&names),
        ))
        .panel(
            Panel::curves("means of the communities", Axis::linear("community"), Axis::log("mean loss"))
                .with(Series::new(PRINTED[0], Grade::Printed).points(within(&means)).scattered())
                .with(Series::new(PRINTED[1], Grade::Printed).points(outside(&means)).scattered())
                .with(Series::new(SOUND[0], Grade::UpperBound).points(within(&sound_means)).scattered())
                .with(Series::new(SOUND[1], Grade::UpperBound).points(outside(&sound_means)).scattered()),
        )
        .check(Check::below(PRINTED[1], PRINTED[0]))
        .check(Check::below(SOUND[1], SOUND[0]))
        .columns(2))
}

/// The sound loss of every pair of the `nodes`.
fn sound_losses(walk: &TokenWalk, nodes: &[usize], local: LocalLoss) -> Result<Array2<f64>, Error> {
    let n = nodes.len();
    let losses = (0..n * n).into_par_iter().map(|k| match (nodes[k / n], nodes[k % n]) {
        (u, v) if u == v => Ok(f64::NAN),
        (u, v) => Ok(walk.loss(u, &[v], local)?.into_value()),
    });
    let losses = losses.collect::<Result<Vec<f64>, Error>>()?;
    Ok(Array2::from_shape_fn((n, n), |(i, j)| losses[i * n + j]))
}

/// The mean loss of each community to its own members.
fn within(means: &Array2<f64>) -> Vec<(f64, f64)> {
    means.diag().iter().zip(1..).map(|(&mean, b)| (f64::from(b), mean)).collect()
}

/// The mean loss of each community to that other community that learns most.
fn outside(means: &Array2<f64>) -> Vec<(f64, f64)> {
    let largest = |(a, row): (usize, ArrayView1<'_, f64>)| {
        let others = row.iter().enumerate().filter(|&(b, _)| b != a).map(|(_, &mean)| mean);
        ((a + 1) as f64, others.fold(f64::NEG_INFINITY, f64::max))
    };
    means.outer_iter().enumerate().map(largest).collect()
}

/// The least and the largest factor by which a community's mean loss to its own members is above that to the
/// worst other community.
fn factors(means: &Array2<f64>) -> [f64; 2] {
    let ratios = within(means).into_iter().zip(outside(means)).map(|(own, other)| own.1 / other.1);
    ratios.fold([f64::INFINITY, 0.0], |[low, high], ratio| [low.min(ratio), high.max(ratio)])
}

/// The mean over every pair of blocks, without the entries that are left out.
fn block_means(values: ArrayView2<'_, f64>, block: &[usize]) -> Array2<f64> {
    let blocks = block.iter().max().map_or(0, |last| last + 1);
    let mut sums = Array2::zeros((blocks, blocks));
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
    use ndp_report::figure::Content;

    #[test]
    fn means_leave_the_diagonal_out() {
        let values = array![[f64::NAN, 1.0, 5.0], [3.0, f64::NAN, 7.0], [9.0, 11.0, f64::NAN]];
        let means = block_means(values.view(), &[0, 0, 1]);
        assert_eq!((means[(0, 0)], means[(0, 1)], means[(1, 0)]), (2.0, 6.0, 10.0));
    }

    #[test]
    fn the_worst_other_community_is_found() {
        let means = array![[3.0, 1.0, 2.0], [4.0, 5.0, 6.0], [9.0, 8.0, 7.0]];
        assert_eq!(within(&means), [(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)]);
        assert_eq!(outside(&means), [(1.0, 2.0), (2.0, 6.0), (3.0, 9.0)]);
        assert_eq!(factors(&means), [7.0 / 9.0, 1.5]);
    }

    #[test]
    fn losses_are_larger_within_communities() -> Result<()> {
        let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
        let Some(Panel { content: Content::Curves { series, .. }, .. }) = figure.panels.last() else {
            panic!("the last panel has curves")
        };
        for [own, other] in [PRINTED, SOUND] {
            let of = |name: &str| series.iter().find(|s| s.name == name).map(|s| &s.points).unwrap();
            assert_eq!(of(own).len(), 3);
            assert!(of(own).iter().zip(of(other)).all(|(own, other)| own.y > other.y));
        }
        Ok(())
    }
}
