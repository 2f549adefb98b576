//! The page of a search for a counterexample, and its picture.

use super::{Tried, claimed, counterexample, searched, title};
use crate::errors::Failure;
use crate::output::{drawing, number};
use ndp_account::Observer;
use ndp_dp::Grade;
use ndp_graph::Graph;
use ndp_refute::{Bounded, Counterexample};
use ndp_report::figure::Figure;
use ndp_report::page::{Page, Tone};

/// The graph with the observers marked, and the true loss at the exposed nodes.
pub(super) fn picture(found: &Counterexample) -> Result<Figure, Failure> {
    let graph = Graph::from_edges(found.nodes, found.edges.iter().copied())
        .map_err(|error| Failure::Refused(error.to_string()))?;
    let mut values = vec![f64::NAN; found.nodes];
    for u in found.sources() {
        values[u] = found.true_loss_decimal;
    }
    // If the claim bounds a mean, the picture shows the mean at each of its nodes; it is the loss of none of
    // them.
    let what = match found.bounded {
        Bounded::Each if !found.protocol.is_walk() => "loss of the exposed node, nats",
        Bounded::Each => "mean loss of the exposed node, nats",
        Bounded::Mean => "mean loss over all nodes, nats",
    };
    let truth = &found.true_loss;
    let truth = if truth.len() <= 12 { truth.clone() } else { number(found.true_loss_decimal) };
    let exposed = match found.bounded {
        Bounded::Each => format!("of node {}", found.exposed),
        Bounded::Mean => "of all nodes".into(),
    };
    let is = if found.protocol.is_walk() { "is true if the path is known" } else { "is true" };
    let title = format!("The claim is false: {exposed} at most {} is claimed, {truth} {is}", claimed(found));
    // The true loss is an exact fraction; the picture shows its decimal value.
    Ok(drawing(&title, what, Grade::Exact, &graph, &Observer::coalition(&found.observers), values))
}

/// The page; without a counterexample it says how far the search went.
pub(super) fn page(tried: &Tried, svg: Option<&str>) -> Page {
    let table = |rows: &[(&'static str, String)]| -> Vec<Vec<String>> {
        rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect()
    };
    let tone = if tried.found().is_some() { Tone::Bad } else { Tone::Plain };
    let title = format!("{}.", title(&tried.report));
    let mut page = Page::new("A claimed bound, tried on small graphs").verdict(tone, &title);
    if let Some(found) = tried.found() {
        page = page.section("The smallest counterexample").text(
            "By nodes, then rounds, then edges, no smaller case among those that were tried contradicts the \
             claim. The true value is a fraction, and the claim was evaluated in an interval that contains it: \
             no rounding decides.",
        );
        page = page.table(
            "Where the claim fails",
            &["", ""],
            &table(&counterexample(found, tried.attacked.as_ref())),
        );
        if let Some(svg) = svg {
            page = page.picture(
                svg,
                &format!(
                    "The graph: observers are marked, the color of a node is {}.",
                    found.protocol.truth()
                ),
            );
        }
        page = page
            .section("See it without this program")
            .text("A script in plain Python, without any package, that computes the fraction again:")
            .code(&found.python_script());
    }
    page.section("What was searched")
        .table("The claim, and how far the search went", &["", ""], &table(&searched(tried)))
        .text(
            "Cases beyond these were not looked at. Where no counterexample was found, the claim is neither \
             proved nor made more likely by a stated amount.",
        )
}
