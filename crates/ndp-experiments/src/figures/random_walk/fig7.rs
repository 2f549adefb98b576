//! `random-walk/fig7`: a geometric graph whose labels depend on the position, and the same labels shuffled.

use super::heterogeneity::{Labelled, labelled};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_report::figure::{Axis, Basis, Check, Drawing, Figure, Kind, Panel, Scale};
use rand::RngExt;

/// The number of graphs that decide the claim.
const GRAPHS: u64 = 20;
/// Two differences of labels count as equal if they are at most this far apart; labels are between 0 and 2.
const LIKE: f64 = 0.05;

/// `random-walk/fig7`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig7",
    what: "a geometric graph colored by the labels of figure 8, original and shuffled",
    needs: &[],
    minutes: 0.01,
    tolerance: Tolerance::SEEDED,
    findings: &[],
    test: Some((
        "crates/ndp-experiments/src/figures/random_walk/fig7.rs",
        "shuffling_destroys_the_dependence_on_the_place",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let Labelled { graph, original, shuffled } = labelled(scale, seed)?;
    let positions = graph.positions().unwrap_or_default();
    let differences = |labels: &[f64]| mean_difference(labels, graph.edges());
    let mut figure = Figure::new("Random walks, figure 7: labels of adjacent nodes are closer in the original order than after shuffling")
        .parameter("nodes", graph.node_count())
        .parameter("labels", "the sum of the two coordinates")
        .note("edges", graph.edge_count())
        .claim("Close nodes have close data in the original order, not after shuffling.")
        .finding("The numbers are the data of the experiment of figure 8; nothing here is a privacy loss. The graph is drawn by our seed, the program's by another generator.")
        .columns(2);
    // The claim is about graphs of this kind, so the graphs that decide it are drawn anew.
    let drawn = seed
        .fork("other graphs")
        .run(GRAPHS, |rng| closeness(scale, Seed(rng.random())))
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let names = ["shuffled less original, across edges", "shuffled, across edges less all pairs"];
    for (k, name) in names.into_iter().enumerate() {
        figure = figure.sample(name, Kind::Data, drawn.iter().map(|differences| differences[k]).collect());
    }
    let closer = Check::exceeds_by(
        "Adjacent nodes differ less in the original order than after shuffling",
        &[(1.0, names[0])],
        0.0,
    );
    figure = figure.titled_by([Basis::Shown(closer.clone())]).check(closer).check(Check::exceeds_by(
        format!("After shuffling adjacent nodes differ as much as any two, up to {LIKE}"),
        &[(1.0, names[1])],
        -LIKE,
    ));
    for (order, labels) in [("original", original), ("shuffled", shuffled)] {
        figure = figure
            .note(format!("mean difference across an edge, {order} labels"), differences(&labels))
            .panel(Panel::drawing(
                format!("{order} labels"),
                Axis::linear("label").range(0.0, 2.0),
                Drawing::new(format!("{order} labels"), Kind::Data, &graph, positions.to_vec(), labels),
            ));
    }
    Ok(figure)
}

/// For another graph: by how much shuffled labels differ more across an edge than the original labels do; and
/// by how much they differ more across an edge than over all pairs (negative if they differ less).
fn closeness(scale: Scale, seed: Seed) -> Result<[f64; 2]> {
    let Labelled { graph, original, shuffled } = labelled(scale, seed)?;
    let n = graph.node_count();
    let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
    let across = mean_difference(&shuffled, graph.edges());
    Ok([across - mean_difference(&original, graph.edges()), across - mean_difference(&shuffled, pairs)])
}

/// The mean difference of two labels over `pairs`.
fn mean_difference(labels: &[f64], pairs: impl Iterator<Item = (usize, usize)>) -> f64 {
    let (sum, count) =
        pairs.fold((0.0, 0.0), |(sum, count), (u, v)| (sum + (labels[u] - labels[v]).abs(), count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_destroys_the_dependence_on_the_place() -> Result<()> {
        let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
        let note = |order: &str| {
            figure.notes[&format!("mean difference across an edge, {order} labels")].as_f64().unwrap()
        };
        assert!(note("shuffled") > 1.3 * note("original"));
        Ok(())
    }
}
