//! An analysis as files: `losses.csv`, `heat-map` and `graph` as SVG and PNG, `analysis.json`, `summary.txt`.

use super::{Analysis, AnalysisError, Target, summary};
use ndarray::Array2;
use ndp_dp::Grade;
use ndp_report::figure::{Axis, Drawing, Figure, Matrix, Panel};
use ndp_report::files::{OutputError, write as write_file};
use ndp_report::layout;
use ndp_report::plot;
use ndp_report::table::{number, text};
use serde_json::json;
use std::path::Path;

/// Columns of `losses.csv`: `hops` between source and observer, `loss` in nats, and its share of the local loss.
pub const HEADER: [&str; 6] = ["source", "observer", "hops", "grade", "loss", "share_of_local_loss"];

/// Writes everything to the folder `out`; returns the names of the files.
///
/// # Errors
/// [`AnalysisError::Output`].
pub fn write(analysis: &Analysis, source: &str, out: &Path) -> Result<Vec<String>, AnalysisError> {
    let mut files = Vec::new();
    let mut put = |name: &str, bytes: &[u8]| -> Result<(), AnalysisError> {
        write_file(&out.join(name), bytes)?;
        files.push(name.to_owned());
        Ok(())
    };
    put("losses.csv", losses(analysis).as_bytes())?;
    let pictures = [("heat-map", heat_map(analysis)), ("graph", drawing(analysis))];
    for (name, figure) in pictures {
        let Some(figure) = figure else { continue };
        figure.validate().map_err(OutputError::Malformed)?;
        let picture = plot::draw(&figure).map_err(OutputError::Malformed)?;
        put(&format!("{name}.svg"), picture.svg.as_bytes())?;
        put(&format!("{name}.png"), &picture.png)?;
    }
    put("summary.txt", summary::text(analysis, source).as_bytes())?;
    put("analysis.json", record(analysis, source).as_bytes())?;
    Ok(files)
}

fn losses(analysis: &Analysis) -> String {
    let mut all = text(&HEADER, &[]);
    for observed in &analysis.account.losses {
        let (v, grade) = (observed.observer, observed.loss.grade());
        let hops = analysis.graph.distances(v);
        let others = observed.loss.value().iter().enumerate().filter(|&(u, _)| u != v);
        let rows: Vec<Vec<String>> = others
            .map(|(u, &loss)| {
                let hops = hops[u].map_or_else(String::new, |hops| hops.to_string());
                let share = number(loss / analysis.account.local);
                vec![analysis.label(u), analysis.label(v), hops, grade.as_str().into(), number(loss), share]
            })
            .collect();
        // One observer after the other: the cells of ten million rows would fill the memory.
        let table = text(&HEADER, &rows);
        all.push_str(table.split_once('\n').map_or("", |(_, rows)| rows));
    }
    all
}

/// Of all numbers together: exact only if each of them is.
fn grade(analysis: &Analysis) -> Grade {
    let exact = analysis.account.losses.iter().all(|observed| observed.loss.grade() == Grade::Exact);
    if exact { Grade::Exact } else { Grade::UpperBound }
}

/// Losses of all pairs; none when only one observer was asked for.
fn heat_map(analysis: &Analysis) -> Option<Figure> {
    let n = analysis.graph.node_count();
    if analysis.account.losses.len() != n {
        return None;
    }
    let side = n.div_ceil(MOST_CELLS);
    let mut values = Array2::from_elem((n.div_ceil(side), n.div_ceil(side)), f64::NAN);
    for pair in analysis.pairs() {
        let cell: &mut f64 = &mut values[(pair.source / side, pair.observer / side)];
        *cell = cell.max(pair.loss);
    }
    let (title, grade) = if side == 1 {
        ("row: whose data, column: who learns".to_owned(), grade(analysis))
    } else {
        // The largest of several exact numbers bounds each of them.
        (
            format!("rows: whose data, columns: who learns; the largest loss among {side} by {side} nodes"),
            Grade::UpperBound,
        )
    };
    // Of several nodes the first gives the name; a few names are drawn.
    let names: Vec<String> = (0..n).step_by(side).map(|v| short(&analysis.label(v))).collect();
    let matrix = Matrix::new("loss", grade, values).named(&names);
    Some(Figure::new(title_of(analysis)).panel(Panel::heat_map(title, color(), matrix)))
}

/// The graph, coloured by what all others learn, and by what the node learns that learns most.
fn drawing(analysis: &Analysis) -> Option<Figure> {
    let n = analysis.graph.node_count();
    if n > MOST_DRAWN {
        return None;
    }
    let losses = &analysis.account.losses;
    let total = |loss: &[f64], v: usize| {
        loss.iter().enumerate().filter(|&(u, _)| u != v).map(|(_, loss)| loss).sum::<f64>()
    };
    let most = losses
        .iter()
        .max_by(|a, b| total(a.loss.value(), a.observer).total_cmp(&total(b.loss.value(), b.observer)))?;
    let positions = layout::positions(&analysis.graph);
    let mut towards = most.loss.value().clone();
    towards[most.observer] = f64::NAN;
    let name = analysis.label(most.observer);
    let drawing = |name: &str, grade: Grade, values: Vec<f64>| {
        Drawing::new(name, grade, &analysis.graph, positions.clone(), values)
    };
    let mut figure = Figure::new(title_of(analysis));
    if losses.len() == n {
        let mean = (0..n).map(|u| {
            let others = losses.iter().filter(|observed| observed.observer != u);
            others.map(|observed| observed.loss.value()[u]).sum::<f64>() / (n - 1) as f64
        });
        let mean = drawing("mean loss towards the other nodes", grade(analysis), mean.collect());
        figure = figure.panel(Panel::drawing("what a node loses, on average over all others", color(), mean));
    }
    let towards = drawing("loss towards the marked node", most.loss.grade(), towards).mark(most.observer);
    let title = if losses.len() == n {
        format!("what node {} learns, which learns most", short(&name))
    } else {
        format!("what node {} learns", short(&name))
    };
    Some(figure.panel(Panel::drawing(title, color(), towards)))
}

fn color() -> Axis {
    Axis::log("loss in nats")
}

fn title_of(analysis: &Analysis) -> String {
    let Analysis { request, account, .. } = analysis;
    format!(
        "{}, {} {}, sigma = {}",
        request.protocol.as_str(),
        account.rounds,
        summary::steps(request.protocol),
        ndp_report::verdict::round(account.sigma.get())
    )
}

/// The beginning of a long label.
fn short(label: &str) -> String {
    if label.chars().count() <= 10 {
        label.to_owned()
    } else {
        label.chars().take(9).chain(['…']).collect()
    }
}

fn record(analysis: &Analysis, source: &str) -> String {
    let Analysis { request, graph, account } = analysis;
    let target = match &request.target {
        Target::Mean(loss) => json!({"mean": loss}),
        Target::Worst(loss) => json!({"worst": loss}),
        Target::Limits(limits) => json!({"limits": limits.count()}),
    };
    let largest = analysis.largest().map(|pair| {
        json!({"source": analysis.label(pair.source), "observer": analysis.label(pair.observer), "loss": pair.loss})
    });
    let record = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "edges file": source,
        "nodes": graph.node_count(),
        "edges": graph.edge_count(),
        "protocol": request.protocol.as_str(),
        "weights": "metropolis",
        "target": target,
        "order": request.order.get(),
        "sensitivity": request.sensitivity.get(),
        "rounds": account.rounds,
        "sigma": account.sigma.get(),
        "sigma of fresh noise": account.fresh,
        "local loss": account.local,
        "largest loss": largest,
        "grade": grade(analysis).as_str(),
        "delta": request.delta.get(),
        "epsilon of the largest loss at delta": account.epsilon,
        "error of a node, at most": account.error,
        "observer": request.observer.map(|v| analysis.label(v)),
    });
    // A map with strings as keys can always be written.
    let mut text = serde_json::to_string_pretty(&record).unwrap_or_default();
    text.push('\n');
    text
}

/// Cells along a side of the heat map; beyond, a cell stands for several nodes.
const MOST_CELLS: usize = 256;
/// The layout of more nodes takes minutes.
const MOST_DRAWN: usize = 5000;
