//! Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*, ICML
//! 2024.

pub mod by_distance;
pub mod fig1;
pub mod fig2;
pub mod fig3;
pub mod fig4;
pub mod fig5;
pub mod fig6;
pub mod fig7;
pub mod fig8;
mod heterogeneity;
pub mod table1;

use crate::entry::Entry;
use crate::figures::count;
use ndarray::{Array2, ArrayView2};
use ndp_account::Error;
use ndp_algos::walk::graph::{LocalLoss, TokenWalk, WalkOptions};
use ndp_dp::NoiseMultiplier;
use ndp_graph::hitting::Start;
use ndp_graph::spectrum::extremes;
use ndp_graph::{GossipMatrix, TransitionMatrix};
use ndp_printed::walk::VisitSum;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[
    fig1::ENTRY,
    fig2::ENTRY,
    fig3::ENTRY,
    fig4::ENTRY,
    fig5::ENTRY,
    fig6::ENTRY,
    fig7::ENTRY,
    fig8::ENTRY,
    table1::ENTRY,
];

/// The length of the walk in the authors' programs: a rule of thumb for the precision that gossip reaches.
fn walk_steps(matrix: &GossipMatrix, sigma: f64) -> Result<usize, Error> {
    walk_length(matrix.node_count(), extremes(matrix)?.gap_signed()?, NoiseMultiplier::new(sigma)?)
}

/// `⌊20 ⌈ln n / gap⌉ (0.25 + σ²)/σ²⌋`, at least 1, with the signed gap; no theorem supports it.
fn walk_length(nodes: usize, gap_signed: f64, noise: NoiseMultiplier) -> Result<usize, Error> {
    let square = noise.get() * noise.get();
    let length = 20.0 * ((nodes as f64).ln() / gap_signed).ceil() * (0.25 + square) / square;
    // Written so that NaN fails.
    if (0.0..1e15).contains(&length) {
        Ok(count(length.floor()).max(1))
    } else {
        let (name, condition) = ("the number of steps", "be below 1e15: the gap or the noise is too small");
        Err(Error::InvalidParameter { name, condition, value: length })
    }
}

/// A walk with a cap on contributions, whose first visits are followed for a given number of steps.
fn followed(matrix: &GossipMatrix, steps: usize, cap: usize, horizon: usize) -> Result<TokenWalk, Error> {
    let options = WalkOptions { cap: Some(cap), horizon: Some(horizon), ..WalkOptions::default() };
    TokenWalk::new(&TransitionMatrix::from(matrix), Start::Uniform, steps)?.with_options(options)
}

/// The printed loss of all contributions, for every pair from its entry of the log matrix; 0 on the diagonal.
fn printed_losses(
    entries: ArrayView2<'_, f64>,
    steps: usize,
    local: LocalLoss,
) -> Result<Array2<f64>, Error> {
    let mut losses = Array2::zeros(entries.dim());
    for ((u, v), loss) in losses.indexed_iter_mut().filter(|((u, v), _)| u != v) {
        let entry = VisitSum::LogMatrix(entries[(u, v)]);
        *loss = ndp_printed::walk::user_level(entry, entries.nrows(), steps, local)?.into_value();
    }
    Ok(losses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::hypercube_graph;

    #[test]
    fn the_programs_walk_lengths() -> Result<(), Error> {
        let one = NoiseMultiplier::new(1.0)?;
        let w = GossipMatrix::metropolis(&hypercube_graph(11)?);
        assert_eq!(walk_steps(&w, 1.0)?, 1150);
        // The gaps the authors' programs found on their graphs of figure 1.
        for (nodes, gap, expected) in [
            (2048, 0.078_343_026_733_221_41, 2450),
            (2048, 0.004_725_217_003_778_677, 40_350),
            (2025, 0.000_985_116_464_988_376_4, 193_225),
        ] {
            assert_eq!(walk_length(nodes, gap, one)?, expected);
        }
        for gap in [0.0, 1e-300] {
            let endless = walk_length(5, gap, one);
            assert!(matches!(endless, Err(Error::InvalidParameter { name: "the number of steps", .. })));
        }
        Ok(())
    }
}
