//! Cyffers, Even, Bellet, Massoulié, *Muffliato: Peer-to-Peer Privacy Amplification for Decentralized
//! Optimization and Averaging*, NeurIPS 2022.

pub mod by_distance;
pub mod dropout;
pub mod fig1a;
pub mod fig1b;
pub mod fig1c;
pub mod fig2;
pub mod fig3;
pub mod fig4;
pub mod fig5;
pub mod table1;

use crate::entry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[
    fig1a::ENTRY,
    fig1b::ENTRY,
    fig1c::ENTRY,
    fig2::ENTRY,
    fig3::ENTRY,
    fig4::ENTRY,
    fig5::ENTRY,
    table1::ENTRY,
    dropout::ENTRY,
];
