//! `muffliato/dropout`: mean loss per step on sparse random graphs whose nodes drop out.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::gossip::mean_loss_by_step;
use ndp_dp::Grade;
use ndp_graph::sequences::GossipSequence;
use ndp_printed::gossip::sequence_mean_from;
use ndp_report::figure::{Axis, Basis, Check, Figure, Kind, Panel, Scale, Series};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const NODES: usize = 1000;
const Q: f64 = 0.002;
const DROPOUT: [f64; 4] = [0.0, 0.1, 0.5, 0.9];
const SEEDS: u64 = 8;
const SIGMA: f64 = 1.0;
const NODE: usize = 0;
/// A mean loss that is larger by at most this share of the local loss does not count as larger.
const NO_MORE: f64 = 1e-3;
/// Longest run, in steps; the stopping rule ends most runs earlier.
const LONGEST: usize = 2000;

/// `muffliato/dropout`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/dropout",
    what: "mean loss per step on sparse Erdős–Rényi graphs with node dropout",
    needs: &[],
    minutes: 0.4,
    tolerance: Tolerance::SEEDED,
    findings: &["F1"],
    test: Some(("crates/ndp-printed/tests/all/gossip_sequences.rs", "random_sequences_agree_with_fractions")),
    measures: false,
    figure,
};

/// Mean losses of one run after every step: the printed loss from node 0, and the true loss towards it.
struct Run {
    printed: Vec<f64>,
    exact: Vec<f64>,
}

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let nodes = scale.pick(NODES, 100);
    let q = scale.pick(Q, 0.02);
    let seeds = scale.pick(SEEDS, 2);
    let mut figure = Figure::new("Muffliato: with dropout, gossip takes more steps on average over the runs, and the mean loss stays below a sixth of the local loss")
        .by(Grade::Printed, "ndp_printed::gossip::sequence_mean_from", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::mean_loss_by_step", "Muffliato")
        .parameter("n", nodes)
        .parameter("q", q)
        .parameter("sigma", SIGMA)
        .parameter("seeds", seeds)
        .parameter("stopping rule", "mean squared distance to the mean of the noisy values below 3 sigma^2 / n")
        .claim("Nodes that drop out slow gossip down, but cost no privacy.")
        .finding("Two different means are drawn: the printed one over all observers, about node 0, and the exact one over all exposed nodes, towards node 0, by the rank of what it receives. The latter is at most the number of these messages over n, which is the printed mean over exposed nodes; over observers the printed mean is no bound.")
        .finding("The program compares with a random precision, so its number of steps varies more than ours.")
        .columns(2);
    for dropout in DROPOUT {
        let runs: Vec<Run> = seed
            .fork(&format!("dropout {dropout}"))
            .run(seeds, |rng| run(nodes, q, dropout, rng))
            .into_iter()
            .collect::<Result<_>>()?;
        let longest = runs.iter().map(|r| r.printed.len()).max().unwrap_or(0);
        // A curve ends with the longest run; its band is from the least to the largest run. A shorter run
        // keeps its last value, because it stops leaking when it ends.
        let curve = |pick: fn(&Run) -> &Vec<f64>| -> Vec<(f64, f64)> {
            let kept = |r: &Run, t: usize| pick(r)[t.min(pick(r).len() - 1)];
            runs.iter().flat_map(|r| (0..longest).map(move |t| ((t + 1) as f64, kept(r, t)))).collect()
        };
        let [steps, loss] = ["steps", "loss"].map(|what| format!("{what}, dropout {dropout}"));
        figure = figure
            .sample(steps.clone(), Kind::Data, runs.iter().map(|r| r.exact.len() as f64).collect())
            .sample(
                loss.clone(),
                Grade::Exact,
                runs.iter().filter_map(|r| r.exact.last().copied()).collect(),
            );
        let small = format!("With dropout {dropout} the mean loss is below a sixth of the local loss");
        figure = figure.titled_by([Basis::Drawn(Check::exceeds_by(small, &[(-1.0, &loss)], -1.0 / 6.0))]);
        if dropout > 0.0 {
            let none = |what: &str| format!("{what}, dropout {}", DROPOUT[0]);
            let longer =
                Check::exceeds(format!("Dropout {dropout} takes more steps"), &steps, &none("steps"));
            figure = figure.titled_by([Basis::Drawn(longer.clone())]).check(longer).check(Check::exceeds_by(
                format!("Dropout {dropout} costs at most {NO_MORE} of the local loss more, in the mean"),
                &[(1.0, &none("loss")), (-1.0, &loss)],
                -NO_MORE,
            ));
        }
        figure = figure
            .note(
                format!("steps, dropout {dropout}"),
                runs.iter().map(|r| r.printed.len()).collect::<Vec<_>>(),
            )
            .panel(
                Panel::curves(
                    format!("dropout {dropout}"),
                    Axis::linear("step"),
                    Axis::linear("mean loss / local loss"),
                )
                .with(Series::new("printed, from node 0", Grade::Printed).by_class(curve(|r| &r.printed)))
                .with(
                    Series::new("true mean (rank - 1)/n, towards node 0", Grade::Exact)
                        .by_class(curve(|r| &r.exact)),
                ),
            );
    }
    Ok(figure)
}

/// One run of plain gossip until the stopping rule ends it; returns the losses after each step.
fn run(nodes: usize, q: f64, dropout: f64, rng: &mut ChaCha8Rng) -> Result<Run> {
    let mut values: Vec<f64> = (0..nodes).map(|_| SIGMA * rng.sample::<f64, _>(StandardNormal)).collect();
    let mean = values.iter().sum::<f64>() / nodes as f64;
    let mut steps = Vec::new();
    while steps.len() < LONGEST {
        let drawn = GossipSequence::erdos_renyi(nodes, q, 1, rng)?.with_node_dropout(dropout, rng)?;
        for step in drawn.steps() {
            step.apply(&mut values);
        }
        steps.extend(drawn.steps().iter().cloned());
        let error = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / nodes as f64;
        if error < 3.0 * SIGMA * SIGMA / nodes as f64 {
            break;
        }
    }
    let sequence = GossipSequence::new(nodes, steps)?;
    let printed = sequence_mean_from(&sequence, NODE)?.into_iter().map(ndp_dp::Printed::into_value).collect();
    let exact = mean_loss_by_step(&sequence, NODE)?.by_step.into_iter().map(ndp_dp::Exact::into_value);
    Ok(Run { printed, exact: exact.collect() })
}
