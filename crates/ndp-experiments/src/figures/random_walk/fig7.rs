//! `random-walk/fig7`: a geometric graph with labels that depend on the place, and with the same shuffled.

use super::heterogeneity::{Labelled, labelled};
use crate::datasets::Data;
use crate::figure::{Axis, Drawing, Figure, Kind, Panel, Scale};
use crate::registry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;

/// `random-walk/fig7`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig7",
    what: "a geometric graph coloured by the labels of figure 8, original and shuffled",
    needs: &[],
    minutes: 0.01,
    tolerance: Tolerance::SEEDED,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let Labelled { graph, original, shuffled } = labelled(scale, seed)?;
    let positions = graph.positions().unwrap_or_default();
    let differences = |labels: &[f64]| {
        let sum: f64 = graph.edges().map(|(u, v)| (labels[u] - labels[v]).abs()).sum();
        sum / graph.edge_count() as f64
    };
    let mut figure = Figure::new("Random walks, figure 7: labels that depend on the place, and shuffled")
        .parameter("nodes", graph.node_count())
        .parameter("labels", "the sum of the two coordinates")
        .note("edges", graph.edge_count())
        .claim("Close nodes have close data in the original order, not after shuffling.")
        .finding("The numbers are the data of the experiment of figure 8; nothing here is a privacy loss. The graph is drawn by our seed, the program's by another generator.")
        .columns(2);
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
