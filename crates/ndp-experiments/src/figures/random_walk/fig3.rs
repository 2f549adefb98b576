//! `random-walk/fig3`: loss, communicability and centrality on two social networks.

use super::{printed_losses, walk_steps};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndarray::Array2;
use ndp_account::Error;
use ndp_algos::walk::graph::{LocalLoss, TokenWalk};
use ndp_dp::{Grade, NoiseMultiplier, Order};
use ndp_graph::centrality::{eigenvector_centrality, katz_centrality, largest_adjacency_eigenvalue};
use ndp_graph::communicability::communicability;
use ndp_graph::generators::davis_southern_women_graph;
use ndp_graph::hitting::Start;
use ndp_graph::log_matrix::log_matrix;
use ndp_graph::spectrum::Spectrum;
use ndp_graph::{GossipMatrix, TransitionMatrix};
use ndp_report::correlation::{pearson, ranks};
use ndp_report::figure::{Axis, Basis, Check, Figure, Matrix, Panel, Scale, Series};
use rayon::prelude::*;

const EGO: u32 = 0;
/// A quick run uses a small network.
const QUICK_EGO: u32 = 3980;
const ALPHA: f64 = 2.0;
const SIGMA: f64 = 10.0;
/// Katz centrality: `a = SHARE / λ_max(A)`, `b = 1`.
const SHARE: f64 = 0.5;
/// Nodes of the third matrix in a quick run.
const QUICK_NODES: usize = 8;

/// `random-walk/fig3`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig3",
    what: "loss, communicability and centrality on a Facebook ego network and Davis's Southern Women",
    needs: &["facebook"],
    minutes: 0.05,
    tolerance: Tolerance::SEEDED,
    findings: &[],
    test: Some((
        "crates/ndp-experiments/src/figures/random_walk/fig3.rs",
        "southern_women_agree_with_the_authors_program",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, _seed: Seed, data: &Data) -> Result<Figure> {
    let ego = data.ego(scale.pick(EGO, QUICK_EGO))?;
    let (facebook, _) = ego.value.largest_component();
    let davis = davis_southern_women_graph()?;
    let local = LocalLoss { order: Order::new(ALPHA)?, noise: NoiseMultiplier::new(SIGMA)? };
    let mut figure = Figure::new("Random walks, figure 3: the printed loss of pairs follows communicability, that towards a node its centrality")
        .titled_by([
            Basis::Drawn(Check::follows("ln of the printed loss", "ln of communicability", 0.7)),
            Basis::Drawn(Check::rises("printed, mean", 0.7)),
        ])
        .by(Grade::Printed, "ndp_printed::walk::VisitSum", "Random walks")
        .by(Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .parameter("ego", scale.pick(EGO, QUICK_EGO))
        .parameter("weights", "metropolis")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .parameter("a of Katz centrality, times the largest eigenvalue", SHARE)
        .parameter("b of Katz centrality", 1.0)
        .claim("The loss follows communicability, and nodes learn the more the more central they are.")
        .finding("The correlations are in the notes. Neither printed losses nor upper bounds order the true ones, so none of them decides. The sound matrix bounds the loss of all contributions; the printed one does not.")
        .finding("What the program plots as Katz centrality is eigenvector centrality; both are drawn. Communicability is that of the weights, exp(W) - I.")
        .finding("Entry (u, v) is the loss of u towards v; the mean of figure (c) is over u different from v.")
        .check(Check::follows("ln of the printed loss", "ln of communicability", 0.7))
        .check(Check::follows("ln of the sound loss", "ln of communicability", 0.7))
        .check(Check::rises("printed, mean", 0.7))
        .computed_from(&ego.source)
        .columns(3);
    for (name, graph) in [("Facebook", &facebook), ("Davis", &davis)] {
        let n = graph.node_count();
        let matrix = GossipMatrix::metropolis(graph);
        let steps = walk_steps(&matrix, SIGMA)?;
        let spectrum = Spectrum::new(&matrix)?;
        let losses = printed_losses(log_matrix(&spectrum)?.view(), steps, local)?;
        let means: Vec<f64> = (0..n).map(|v| losses.column(v).sum() / (n - 1) as f64).collect();
        let communicable = communicability(&spectrum)?;
        let pairs = || (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).filter(|(u, v)| u != v);
        let both: Vec<(f64, f64)> = pairs().map(|at| (losses[at], communicable[at])).collect();
        let eigenvector = eigenvector_centrality(graph)?;
        let katz = katz_centrality(graph, SHARE / largest_adjacency_eigenvalue(graph)?, 1.0)?;
        let beside =
            |x: &[f64]| -> Vec<(f64, f64)> { x.iter().copied().zip(means.iter().copied()).collect() };
        let (by_eigenvector, by_katz) = (beside(&eigenvector), beside(&katz));
        let heat = |title: &str, what: &str, kind: ndp_report::figure::Kind, values: &Array2<f64>| {
            let matrix = Matrix::new(what, kind, logs(values));
            let n =
                if values.nrows() == n { n.to_string() } else { format!("first {} of {n}", values.nrows()) };
            Panel::heat_map(format!("{name}, {n} nodes, T = {steps}: {title}"), Axis::linear(what), matrix)
        };
        figure = figure
            .parameter(format!("{name}: nodes"), n)
            .parameter(format!("{name}: edges"), graph.edge_count())
            .parameter(format!("{name}: T"), steps)
            .note(format!("{name}: Pearson, loss and communicability"), pearson(&both))
            .note(format!("{name}: Spearman, loss and communicability"), pearson(&ranks(&both)))
            .note(
                format!("{name}: Spearman, mean loss and eigenvector centrality"),
                pearson(&ranks(&by_eigenvector)),
            )
            .note(format!("{name}: Spearman, mean loss and Katz centrality"), pearson(&ranks(&by_katz)))
            .panel(heat("printed loss", "ln of the printed loss", Grade::Printed.into(), &losses))
            .panel(heat(
                "communicability",
                "ln of communicability",
                ndp_report::figure::Kind::Data,
                &communicable,
            ));
        if name == "Davis" {
            let sound = sound_losses(&matrix, scale.pick(n, QUICK_NODES), steps, local)?;
            figure =
                figure.panel(heat("sound loss", "ln of the sound loss", Grade::UpperBound.into(), &sound));
            let title = |x: &str| format!("{name}: mean printed loss towards a node, by {x}");
            for (x, pairs) in [("eigenvector centrality", by_eigenvector), ("Katz centrality", by_katz)] {
                figure = figure.panel(
                    Panel::curves(title(x), Axis::linear(x), Axis::linear("mean loss towards the node"))
                        .with(Series::new("printed, mean", Grade::Printed).points(pairs).scattered()),
                );
            }
        }
    }
    Ok(figure)
}

/// Logarithms off the diagonal; an entry without a logarithm is left out.
fn logs(values: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(values.dim(), |(u, v)| {
        let value = values[(u, v)];
        if u != v && value > 0.0 { value.ln() } else { f64::NAN }
    })
}

/// The sound loss of every pair of the first `nodes` nodes, for a walk from a uniform node.
fn sound_losses(
    matrix: &GossipMatrix,
    nodes: usize,
    steps: usize,
    local: LocalLoss,
) -> Result<Array2<f64>, Error> {
    let walk = TokenWalk::new(&TransitionMatrix::from(matrix), Start::Uniform, steps)?;
    let losses: Vec<f64> = (0..nodes * nodes)
        .into_par_iter()
        .map(|k| match (k / nodes, k % nodes) {
            (u, v) if u == v => Ok(0.0),
            (u, v) => Ok(walk.loss(u, &[v], local)?.into_value()),
        })
        .collect::<Result<_, Error>>()?;
    Ok(Array2::from_shape_fn((nodes, nodes), |(u, v)| losses[u * nodes + v]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// What the authors' program finds on Southern Women: 862 steps; correlations over pairs of 0.971
    /// and 0.956, and of the mean loss with eigenvector centrality of 0.841.
    #[test]
    fn southern_women_agree_with_the_authors_program() -> Result<()> {
        let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
        assert_eq!(figure.parameters["Davis: T"].as_u64(), Some(862));
        let note = |name: &str| figure.notes[&format!("Davis: {name}")].as_f64().unwrap();
        assert_relative_eq!(note("Pearson, loss and communicability"), 0.971, epsilon = 5e-4);
        assert_relative_eq!(note("Spearman, loss and communicability"), 0.956, epsilon = 5e-4);
        assert_relative_eq!(note("Spearman, mean loss and eigenvector centrality"), 0.841, epsilon = 5e-4);
        Ok(())
    }

    #[test]
    fn one_node_and_zero_losses_have_no_logarithm() {
        let logs = logs(&ndarray::array![[1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(logs[(0, 1)], 0.0);
        assert!(logs[(0, 0)].is_nan() && logs[(1, 0)].is_nan());
    }
}
