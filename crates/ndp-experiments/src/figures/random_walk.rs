//! Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*, ICML
//! 2024.

pub mod by_distance;
pub mod fig1;
pub mod fig3;
pub mod fig4;
pub mod fig5;
pub mod fig6;
pub mod fig7;
pub mod fig8;
mod heterogeneity;

use crate::registry::Entry;
use ndp_algos::Error;
use ndp_graph::GossipMatrix;
use ndp_graph::spectrum::gap_signed;

/// In the order of the report.
pub const FIGURES: &[Entry] =
    &[fig1::ENTRY, fig3::ENTRY, fig4::ENTRY, fig5::ENTRY, fig6::ENTRY, fig7::ENTRY, fig8::ENTRY];

/// The length of the walk in the authors' programs, `20 ⌈ln n / gap⌉ (1/4 + σ²) / σ²`, rounded down: a
/// rule of thumb for the precision that gossip reaches.
fn walk_steps(matrix: &GossipMatrix, sigma: f64) -> Result<usize, Error> {
    let mixing = ((matrix.node_count() as f64).ln() / gap_signed(matrix)?).ceil();
    let square = sigma * sigma;
    Ok(((20.0 * mixing * (0.25 + square) / square) as usize).max(1))
}
