//! Loss against distance, for a walking token and for gossip: figures 1 and 4 of the paper.
//!
//! Losses are Rényi losses at `α = 2` with `σ = Δ = 1`, where one contribution released at once costs
//! `c₀ = 1`; they are not clipped, where the paper clips them at 1.

use super::walk_length;
use crate::figures::count;
use crate::figures::families::four;
use crate::figures::muffliato::by_distance as gossip;
use crate::figures::walk_laws;
use crate::seed::Seed;
use anyhow::Result;
use ndp_account::Error;
use ndp_algos::gossip::utility::{Convergence, stopping_rounds};
use ndp_algos::walk::graph::{LocalLoss, TokenWalk};
use ndp_dp::{Delta, Grade, NoiseMultiplier, Order, Sigma};
use ndp_graph::hitting::Start;
use ndp_graph::lanczos::lanczos_extremes;
use ndp_graph::log_matrix::log_matrix_row;
use ndp_graph::spectrum::extremes;
use ndp_graph::{GossipMatrix, Graph, TransitionMatrix};
use ndp_printed::walk::VisitSum;
use ndp_report::figure::{Axis, Basis, Check, Content, Figure, Panel, Scale, Series};
use rayon::prelude::*;

/// Name of the published user-level loss of the walk.
pub const PRINTED: &str = "walk, printed";
/// Name of the published loss when the sender is known.
pub const KNOWN: &str = "walk, printed, known sender";
/// Name of the sound curve of the walk where all observers at the same distance are alike.
pub const SOUND: &str = "walk, sound";
/// Name of that curve where it is the mean over some observers at every distance.
pub const SOUND_MEAN: &str = "walk, sound, mean of up to 20 observers";
/// Name of that curve where one observer was taken at every distance; others there may learn more.
pub const SOUND_ONE: &str = "walk, sound, one observer per distance";
/// Name of the loss of releasing every contribution at once, for walks with a cap on contributions.
pub const LOCAL: &str = "local loss of all contributions";

/// Order, noise and node of the paper.
const ALPHA: f64 = 2.0;
const SIGMA: f64 = 1.0;
const NODE: usize = 0;
/// Erdős–Rényi: `q = C ln n / n`.
const C: f64 = 1.2;
/// Observers per distance class in the sound curve of the walk; those with the smallest indices are taken.
const OBSERVERS: usize = 20;
/// On the geometric graph and the grid, walks visit every node many times. There a node contributes at most
/// `CAP` times the mean number of visits, and only adds noise afterwards.
const CAP: f64 = 1.25;
/// The δ of the panels that show `ε`.
const DELTA: f64 = 1e-5;
/// The largest number of distances at which `ε` is computed.
const DISTANCES: usize = 6;
/// On those graphs first visits are followed for this many steps; the remainder is charged at once.
const CUT: usize = 10_000;

/// Which printed loss of the walk is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Observers do not know who sent them the token: figure 1.
    Hidden,
    /// Observers know who sent them the token: figure 4.
    Known,
}

impl Sender {
    fn name(self) -> &'static str {
        match self {
            Self::Hidden => PRINTED,
            Self::Known => KNOWN,
        }
    }
}

/// The panels of the four graphs, and the parts that both figures share.
///
/// # Errors
/// None at the sizes of the figures, unless no random graph is connected.
pub fn add_to(mut figure: Figure, sender: Sender, scale: Scale, seed: Seed) -> Result<Figure> {
    let local = LocalLoss { order: Order::new(ALPHA)?, noise: NoiseMultiplier::new(SIGMA)? };
    figure = figure
        .by_named("by Rényi losses", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .by_named("sums, by the law", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks")
        .by_named("gradients", Grade::UpperBound, "ndp_algos::sgd::PrivateTraining", "Random walks")
        .by(Grade::Printed, "ndp_printed::walk::VisitSum", "Random walks")
        .by(Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .by_named("gossip", Grade::Printed, "ndp_printed::gossip::theorem1_from", "Muffliato")
        .by_named("gossip, printed, towards", Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by_named("local loss", Grade::UpperBound, "ndp_algos::walk::graph::LocalLoss", "Random walks")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .parameter("weights", "metropolis")
        .parameter("node", NODE)
        .parameter("q of Erdős–Rényi", "1.2 ln n / n")
        .parameter("observers per class, sound walk", "20; 1 where all are alike (hypercube) or the walk is long (geometric, grid)")
        .parameter("delta of the panels of epsilon", DELTA)
        .finding(walk_laws::READING)
        .finding("There are no panels of epsilon for geometric graph and grid: a node contributes so often there, and the walks are so long, that no law of the cost was computed. Shorter walks on such graphs are in beyond/laws.")
        .finding("The sound curve bounds what all contributions of node 0 reveal to the observers that were looked at, path known or not. On the hypercube all at one distance are alike. On Erdős–Rényi it is the mean over up to 20 at each distance, on geometric graph and grid one at each distance: others there may learn more. On geometric graph and grid it holds for a walk on which node 0 contributes at most as often as the cap says. A printed value below the curve is not refuted by it, but nothing supports it.")
        .finding("The condition of the printed theorem, sigma^2 >= 2 alpha (alpha - 1) = 4, fails at sigma = 1.")
        .finding("On geometric graph and grid a node contributes tens of times on average: clipping at the local loss of one contribution, as the paper does, would hide losses far above 1.")
        .finding("That gossip protects far nodes better is, at paper scale, what the printed sums say on geometric graph and grid alone; the exact loss of gossip does not fall with the distance on every graph. Its panels are the same in figures 1 and 4: they do not depend on who knows the sender.")
        .check(Check::covers(sender.name(), SOUND))
        .check(Check::covers(sender.name(), SOUND_MEAN))
        .check(Check::covers(sender.name(), SOUND_ONE))
        .titled_by([
            Basis::Drawn(Check::falls(sender.name(), 0.7)),
            Basis::Refuted(Check::falls(gossip_name(gossip::SOUND), 0.7)),
        ])
        .columns(2);
    // If the sender is known, gossip is shown for comparison only, and the claim is not about it.
    if let Sender::Hidden = sender {
        figure = figure.check(Check::covers(gossip_name(gossip::TOWARDS), gossip_name(gossip::SOUND)));
    }
    let panel = |title: String| {
        Panel::curves(title, Axis::linear("distance"), gossip::axis().range(1e-4, f64::INFINITY))
    };
    let mut in_epsilon = Vec::new();
    for (name, graph) in four(scale, seed, C)? {
        let matrix = GossipMatrix::metropolis(&graph);
        let n = graph.node_count();
        let [steps, rounds] = lengths(&matrix)?;
        let entries = log_matrix_row(&matrix, NODE)?;
        let losses = printed_losses(&entries, &graph, steps, local, sender)?;
        let distances = graph.distances(NODE);
        let classes = losses.iter().zip(&distances).enumerate().filter(|&(v, _)| v != NODE);
        let printed = Series::new(sender.name(), Grade::Printed)
            .by_class(classes.filter_map(|(_, (&loss, &distance))| Some((f64::from(distance?), loss))));

        // On the hypercube all nodes at the same distance are alike.
        let (curve, observed) = if name == "hypercube" { (SOUND, 1) } else { (SOUND_MEAN, OBSERVERS) };
        let often = matches!(name, "geometric" | "grid");
        if !often {
            let delta = Delta::new(DELTA)?;
            let chosen = walk_laws::observers(&graph, NODE, scale.pick(DISTANCES, 4));
            let claimed = chosen
                .iter()
                .map(|&(distance, v)| (f64::from(distance), walk_laws::printed_epsilon(losses[v], delta)));
            let claimed = Series::new(sender.name(), Grade::Printed).points(claimed);
            let noise = NoiseMultiplier::new(SIGMA)?;
            let seen = walk_laws::seen(&matrix, steps, NODE, &chosen, noise, delta)?;
            let title = format!("{name}, {steps} steps of the walk: epsilon");
            in_epsilon.push(walk_laws::panel(title, DELTA).with(claimed).with_all(walk_laws::curves(&seen)));
        }
        let sound = if often {
            let cap = count((CAP * steps as f64 / n as f64).ceil());
            figure = figure.parameter(format!("cap on contributions, {name}"), cap);
            figure = figure.parameter(format!("first visits followed for, {name}"), CUT.min(steps));
            capped(&matrix, &observers(&graph, 1), steps, cap, local)?
        } else {
            renewed(&matrix, &observers(&graph, observed), steps, local, curve)?
        };
        let gossiped = gossip::curves(&matrix, NODE, rounds)?;
        let beside = gossiped.series.into_iter().filter(|s| s.name != "local loss").map(|mut series| {
            series.name = gossip_name(&series.name);
            series
        });
        figure = figure
            .parameter(format!("nodes, {name}"), n)
            .parameter(format!("T of the walk, {name}"), steps)
            .parameter(format!("T of gossip, {name}"), rounds)
            .note(format!("visits per node, {name}"), steps as f64 / n as f64)
            .panel(panel(format!("{name}, {n} nodes: walk of {steps} steps")).with(printed).with_all(sound))
            .panel(panel(format!("{name}: {rounds} rounds of gossip")).with_all(beside));
    }
    let figure = in_epsilon.into_iter().fold(figure, Figure::panel);
    let views: Vec<Panel> = figure.panels.iter().map(view).collect();
    Ok(figure.drawn_as(views))
}

/// The panel as it is drawn: for gossip only the printed loss in the direction of the exact loss, and the
/// exact loss.
fn view(panel: &Panel) -> Panel {
    let Content::Curves { x, y, series } = &panel.content else { return panel.clone() };
    let (towards, exact) = (gossip_name(gossip::TOWARDS), gossip_name(gossip::SOUND));
    let of_gossip = series.iter().any(|s| s.name == exact);
    let chosen = series.iter().filter(|s| !of_gossip || s.name == towards || s.name == exact);
    Panel::curves(panel.title.clone(), x.clone(), y.clone()).with_all(chosen.cloned())
}

/// Steps of the walk and rounds of gossip by the rules of the authors' programs, from one run of Lanczos: the
/// dense eigensolver would take a second.
fn lengths(matrix: &GossipMatrix) -> Result<[usize; 2], Error> {
    let extremes = match lanczos_extremes(matrix, 1e-10) {
        Ok(found) => found.extremes,
        Err(_) => extremes(matrix)?,
    };
    let n = matrix.node_count();
    let steps = walk_length(n, extremes.gap_signed()?, NoiseMultiplier::new(SIGMA)?)?;
    let convergence = Convergence::Accelerated(extremes.gap_abs()?);
    Ok([steps, stopping_rounds(n, convergence, Sigma::new(SIGMA)?, gossip::SPREAD)?])
}

/// The name of a curve of `muffliato/fig1a` in these figures.
fn gossip_name(name: &str) -> String {
    format!("gossip, {name}")
}

/// The printed loss of node 0 towards every node; 0 towards itself.
fn printed_losses(
    entries: &[f64],
    graph: &Graph,
    steps: usize,
    local: LocalLoss,
    sender: Sender,
) -> Result<Vec<f64>, Error> {
    let n = entries.len();
    (0..n)
        .map(|v| {
            let entry = match sender {
                _ if v == NODE => return Ok(0.0),
                Sender::Hidden => entries[v],
                Sender::Known => ndp_printed::walk::worst_sender(entries, graph, v)?.into_value(),
            };
            Ok(ndp_printed::walk::user_level(VisitSum::LogMatrix(entry), n, steps, local)?.into_value())
        })
        .collect()
}

/// The first `most` nodes at every distance from node 0, with their distance.
fn observers(graph: &Graph, most: usize) -> Vec<(u32, usize)> {
    let distances = graph.distances(NODE);
    let farthest = distances.iter().flatten().max().copied().unwrap_or(0);
    let class = |d: u32| {
        (0..distances.len())
            .filter(|&v| distances[v] == Some(d))
            .take(most)
            .map(|v| (d, v))
            .collect::<Vec<_>>()
    };
    (1..=farthest).flat_map(class).collect()
}

/// The sound curve by the renewal accountant, for a walk from a uniform node, under the name `curve`.
fn renewed(
    matrix: &GossipMatrix,
    observers: &[(u32, usize)],
    steps: usize,
    local: LocalLoss,
    curve: &str,
) -> Result<Vec<Series>, Error> {
    let walk = TokenWalk::new(&TransitionMatrix::from(matrix), Start::Uniform, steps)?;
    let losses = observers
        .par_iter()
        .map(|&(distance, v)| Ok((f64::from(distance), walk.loss(NODE, &[v], local)?.into_value())));
    let losses: Vec<(f64, f64)> = losses.collect::<Result<_, Error>>()?;
    Ok(vec![Series::new(curve, Grade::UpperBound).by_class(losses)])
}

/// The sound curve of a walk with a cap on contributions, for one observer at each distance, and the local
/// loss of that many contributions.
fn capped(
    matrix: &GossipMatrix,
    observers: &[(u32, usize)],
    steps: usize,
    cap: usize,
    local: LocalLoss,
) -> Result<Vec<Series>, Error> {
    let walk = super::followed(matrix, steps, cap, CUT)?;
    let losses = observers
        .par_iter()
        .map(|&(distance, v)| Ok((f64::from(distance), walk.loss(NODE, &[v], local)?.into_value())));
    let losses: Vec<(f64, f64)> = losses.collect::<Result<_, Error>>()?;
    let farthest = losses.last().map_or(1.0, |last| last.0);
    let all_at_once = cap as f64 * local.cost();
    Ok(vec![
        Series::new(SOUND_ONE, Grade::UpperBound).by_class(losses),
        Series::new(LOCAL, Grade::UpperBound).points([(1.0, all_at_once), (farthest, all_at_once)]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::generators::hypercube_graph;

    /// What the authors' program prints on the hypercube with 2048 nodes: 1150 steps, the entries of
    /// the log matrix by distance, and the loss towards a neighbour.
    #[test]
    fn the_printed_walk_agrees_with_the_authors_program() -> Result<()> {
        let graph = hypercube_graph(11)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let [steps, rounds] = lengths(&matrix)?;
        assert_eq!([steps, rounds], [1150, 19]);
        let entries = log_matrix_row(&matrix, NODE)?;
        let local = LocalLoss { order: Order::new(ALPHA)?, noise: NoiseMultiplier::new(SIGMA)? };
        let by_program = [
            0.10036974160307605,
            0.01019510393581202,
            0.0014059607671978464,
            -0.00042577266186715997,
            -0.0010236518091220042,
        ];
        let known = [0.16051828091941941, 0.11658452044874462, 0.015314175412266425, 0.005443555642826715];
        let hidden = printed_losses(&entries, &graph, steps, local, Sender::Hidden)?;
        let seen = printed_losses(&entries, &graph, steps, local, Sender::Known)?;
        for (d, want) in (1..).zip(by_program) {
            let v = (1 << d) - 1;
            assert_relative_eq!(entries[v], want, max_relative = 1e-8);
            let constant = 0.0038645957968525364;
            assert_relative_eq!(hidden[v], constant + 1150.0 / 1024.0 * want, max_relative = 1e-8);
        }
        for (d, want) in (1..).zip(known) {
            assert_relative_eq!(seen[(1 << d) - 1], want, max_relative = 1e-8);
        }
        Ok(())
    }

    #[test]
    fn the_sound_walk_is_below_its_local_loss() -> Result<()> {
        let figure = add_to(Figure::new("test"), Sender::Hidden, Scale::Quick, Seed::DEFAULT)?;
        let mut seen = 0;
        assert_eq!(figure.panels.len(), 10);
        for panel in &figure.panels {
            let find = |name: &str| panel.series().iter().find(|s| s.name == name);
            let (Some(sound), Some(local)) = (find(SOUND_ONE), find(LOCAL)) else { continue };
            assert!(sound.points.iter().all(|p| 0.0 < p.y && p.y <= local.points[0].y * (1.0 + 1e-12)));
            seen += 1;
        }
        assert_eq!(seen, 2);
        Ok(())
    }
}
