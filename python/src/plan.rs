//! What a plan tries, and why its first is first.

use crate::errors::Fault;
use crate::graph::Graph;
use crate::worker::run_until;
use ndp_account::Coverage;
use ndp_algos::registry::{self, Combinations, Parameters};
use ndp_report::words::{Planned, advice};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Protocol, weights, parameters.
type Combination = (&'static str, String, BTreeMap<String, f64>);

/// What a plan tries on a graph, few rounds first, and the protocols that it leaves out as they bring connections of their own.
#[pyfunction]
pub(crate) fn combinations(
    py: Python<'_>,
    graph: &Graph,
    only: Vec<String>,
    any_topology: bool,
) -> Result<(Vec<Combination>, Vec<&'static str>), Fault> {
    let graph = Arc::clone(&graph.0);
    run_until(py, move |stop| {
        let found = Combinations::of(&graph, &only, any_topology, stop)?;
        let named = found.tried.into_iter().map(|one| {
            let weights = one.weights.to_string().replace('-', "_");
            (one.protocol, weights, one.parameters.0)
        });
        Ok((named.collect(), found.elsewhere))
    })
}

/// A plan that was found: protocol, parameters, error, messages, and who is covered, as JSON.
type Found = (String, BTreeMap<String, f64>, Option<f64>, Option<f64>, String);

/// The order of plans, and why the first is first.
#[pyfunction]
pub(crate) fn plan_order(
    found: Vec<Found>,
    elsewhere: Vec<String>,
) -> Result<(Vec<usize>, Vec<String>), Fault> {
    let planned = |(protocol, parameters, error, messages, coverage): Found| -> Result<Planned, Fault> {
        let coverage: Coverage =
            serde_json::from_str(&coverage).map_err(|error| Fault::new(error.to_string()))?;
        Ok(Planned {
            is_on_the_graph: registry::find(&protocol)?.is_on_the_graph(),
            protocol,
            parameters: Parameters(parameters).to_string(),
            error,
            messages,
            is_whole: coverage.is_whole(),
        })
    };
    let found: Vec<Planned> = found.into_iter().map(planned).collect::<Result<_, _>>()?;
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| found[a].order(&found[b]));
    let sorted: Vec<Planned> = order.iter().map(|&i| found[i].clone()).collect();
    let elsewhere: Vec<&str> = elsewhere.iter().map(String::as_str).collect();
    Ok((order, advice(&sorted, &elsewhere, "any_topology=True")))
}
