//! The network that a notebook shows beside losses, the same one as on the pages of the command.

use crate::errors::Fault;
use ndp_graph::Graph;
use ndp_numeric::rounding::Interval;
use ndp_report::layout;
use ndp_report::viewer::{MOST_NODES, SCRIPT, STYLE, Scale, Seen, Viewer};
use pyo3::prelude::*;

/// What each observer learns, as `mu` at a noise of 1, from upper ends of unit losses: HTML that needs nothing else.
/// `None` for a graph that is too large, and where something is seen without noise, which no such number says.
#[pyfunction]
pub(crate) fn viewer_html(
    names: Vec<String>,
    edges: Vec<(usize, usize)>,
    observers: Vec<Vec<usize>>,
    units: Vec<Vec<f64>>,
) -> Result<Option<String>, Fault> {
    let outside = |k: usize, u: &usize| !observers[k].contains(u);
    let known = |(k, units): (usize, &Vec<f64>)| {
        (0..units.len()).filter(|u| outside(k, u)).all(|u| units[u].is_finite())
    };
    if names.len() > MOST_NODES || units.len() > observers.len() || !units.iter().enumerate().all(known) {
        return Ok(None);
    }
    let graph = Graph::from_edges(names.len(), edges.iter().copied())?;
    let seen = observers.into_iter().zip(units).map(|(members, units)| {
        let units: Vec<Option<f64>> =
            units.into_iter().enumerate().map(|(u, unit)| (!members.contains(&u)).then_some(unit)).collect();
        let losses = units.iter().map(|unit| unit.map(|unit| Interval::new(unit).sqrt().high())).collect();
        let name = |v: &usize| names.get(*v).cloned().unwrap_or_default();
        Seen {
            name: members.iter().map(name).collect::<Vec<_>>().join(", "),
            members,
            losses,
            units: Some(units),
        }
    });
    let viewer = Viewer {
        observers: seen.collect(),
        positions: layout::positions(&graph),
        names: names.clone(),
        edges,
        measure: "mu".into(),
        sigma: 1.0,
        sensitivity: 1.0,
        scale: Some(Scale::Mu),
    };
    Ok(viewer.section().map(|html| format!("<style>{STYLE}</style>{html}<script>{SCRIPT}</script>")))
}
