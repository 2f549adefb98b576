//! Random graph families, named and parametrised as in networkx.
//!
//! The law of each family is stated with it. The same state of the random number generator gives the same
//! graph on every machine.

mod attachment;
mod erdos_renyi;
mod geometric;
mod regular;

pub use crate::draw::draw_index;
pub use attachment::{barabasi_albert_graph, watts_strogatz_graph};
pub use erdos_renyi::{connected_erdos_renyi, erdos_renyi_graph, stochastic_block_model};
pub use geometric::{connected_random_geometric, random_geometric_graph};
pub use regular::random_regular_graph;

use crate::error::ensure;
use crate::{Error, Graph};

/// Draws until a graph is connected, at most `tries` times: the law of `draw` given connectivity.
fn first_connected(
    family: &'static str,
    tries: usize,
    mut draw: impl FnMut() -> Result<Graph, Error>,
) -> Result<Graph, Error> {
    ensure(tries > 0, "the number of tries", "be at least 1", 0.0)?;
    for _ in 0..tries {
        let graph = draw()?;
        if graph.is_connected() {
            return Ok(graph);
        }
    }
    Err(Error::NeverConnected { family, tries })
}

/// Refuses numbers that are not probabilities, including NaN.
fn check_probability(name: &'static str, p: f64) -> Result<(), Error> {
    ensure((0.0..=1.0).contains(&p), name, "lie in [0, 1]", p)
}
