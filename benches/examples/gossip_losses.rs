//! Seconds that the losses of gossip take, for `benches/compare/overhead.py`, which measures the same from
//! Python.
//!
//! Arguments: a file with an edge list, the number of rounds, an observer or `all`, how often to repeat.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_graph::edge_list::{EdgeListOptions, read_edge_list};
use ndp_graph::{GossipMatrix, Graph};
use rayon::prelude::*;
use std::error::Error;
use std::hint::black_box;
use std::io::BufReader;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, rounds, observer, times] = arguments.as_slice() else {
        return Err("give a file, rounds, an observer or all, repetitions".into());
    };
    let graph = read_edge_list(BufReader::new(std::fs::File::open(file)?), EdgeListOptions::default())?;
    let (rounds, edges) = (rounds.parse()?, graph.edges().collect::<Vec<_>>());
    let mut best = f64::INFINITY;
    for _ in 0..times.parse()? {
        let start = Instant::now();
        // From the edges on, as from Python.
        let matrix = GossipMatrix::metropolis(&Graph::from_edges(graph.node_count(), edges.iter().copied())?);
        match observer.parse() {
            Ok(v) => drop(black_box(exact_loss((&matrix, rounds), &[v], ExactOptions::default())?)),
            Err(_) => {
                let observers = (0..matrix.node_count()).into_par_iter();
                let losses = observers.map(|v| exact_loss((&matrix, rounds), &[v], ExactOptions::default()));
                drop(black_box(losses.collect::<Result<Vec<_>, _>>()?));
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{best}");
    Ok(())
}
