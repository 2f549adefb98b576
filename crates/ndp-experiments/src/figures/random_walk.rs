//! Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*, ICML
//! 2024.

pub mod by_distance;
pub mod fig1;
pub mod fig2;
mod fig2_recorded;
pub mod fig3;
pub mod fig4;
pub mod fig5;
pub mod fig6;
pub mod fig7;
pub mod fig8;
mod heterogeneity;
pub mod table1;

use crate::entry::Entry;
use ndp_algos::Error;
use ndp_algos::walk::graph::walk_length;
use ndp_dp::NoiseMultiplier;
use ndp_graph::GossipMatrix;
use ndp_graph::spectrum::extremes;

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
    let length =
        walk_length(matrix.node_count(), extremes(matrix)?.gap_signed()?, NoiseMultiplier::new(sigma)?)?;
    Ok(usize::try_from(length.into_value().max(1)).unwrap_or(usize::MAX))
}
