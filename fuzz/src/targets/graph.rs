//! `ndp-graph`: files of graphs.

use crate::input::{Ending, Input};
use crate::sound::{Sound, require};
use crate::target::Target;
use ndp_graph::Graph;
use ndp_graph::edge_list::{EdgeListOptions, ExtraFields, Header, SelfLoops, Separator, read_edge_list};
use ndp_graph::graph_file::{OneWay, read_graph};

/// Options from two bytes at the end of the text, so that a text of the corpus is a text.
fn options(text: &[u8]) -> (EdgeListOptions, OneWay) {
    let bits = text.iter().fold(0u32, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let bit = |place: u32| (bits >> place) & 3 == 0;
    let options = EdgeListOptions {
        header: if bit(0) {
            Header::Present
        } else if bit(2) {
            Header::Absent
        } else {
            Header::Detect
        },
        separator: match bits >> 4 & 15 {
            0 => Separator::Comma,
            1 => Separator::Semicolon,
            2 => Separator::Tab,
            3 => Separator::Whitespace,
            _ => Separator::Detect,
        },
        self_loops: if bit(8) { SelfLoops::Refuse } else { SelfLoops::Skip },
        extra_fields: match bits >> 10 & 3 {
            0 => ExtraFields::Refuse,
            1 => ExtraFields::Weight,
            _ => ExtraFields::Skip,
        },
    };
    (options, if bit(12) { OneWay::Refuse } else { OneWay::Symmetric })
}

/// A graph is simple, its ends exist, and its parts are as many as it says.
fn graph(graph: &Graph) -> Ending {
    let n = graph.node_count();
    require(graph.edges().all(|(u, v)| u < v && v < n), || "an edge that is none".to_owned())?;
    require(graph.edges().count() == graph.edge_count(), || "a count that is wrong".to_owned())?;
    require(graph.labels().is_none_or(|labels| labels.len() == n), || "names that do not fit".to_owned())
}

/// A graph that is written as an edge list reads back with the same edges, where names can be written.
fn again(found: &Graph) -> Ending {
    let text: String = found.edges().map(|(u, v)| format!("{u} {v}\n")).collect();
    let read =
        read_edge_list(text.as_bytes(), EdgeListOptions { header: Header::Absent, ..Default::default() });
    let same = read.is_ok_and(|read| read.edge_count() == found.edge_count());
    require(same || found.edge_count() == 0, || "the edges do not read back".to_owned())
}

fn edge_list(i: &mut Input<'_>) -> Ending {
    let text = i.rest();
    let found = read_edge_list(text, options(text).0)?;
    graph(&found)?;
    again(&found)
}

fn any_file(i: &mut Input<'_>) -> Ending {
    let text = i.rest();
    let (options, one_way) = options(text);
    let found = read_graph(text, options, one_way)?;
    graph(&found.graph)?;
    let weights = found.weights.unwrap_or_default();
    weights.sound()?;
    require(weights.is_empty() || weights.len() == found.graph.edge_count(), || {
        "weights that do not fit".to_owned()
    })
}

pub(super) const PARSERS: &[Target] = &[
    Target::parser("edge-list", &["ndp-graph edge_list::read_edge_list"], edge_list),
    Target::parser("graph-file", &["ndp-graph graph_file::read_graph"], any_file),
];
