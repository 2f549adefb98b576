//! Published protocols as programs, one file each.
//!
//! | constructor | protocol | source |
//! |---|---|---|
//! | [`muffliato`] | one noise per node, then gossip with a fixed matrix | Cyffers et al. 2022 |
//! | [`randomized_gossip`] | one noise per node, then edges ring one by one | Boyd et al. 2006; Cyffers et
//! al. 2022 |
//! | [`fresh_noise`] | new noise in every round | |
//! | [`decor`] | own noise and pairwise cancelling noise, broadcast | Allouah et al. 2024 |
//! | [`corn_dsgd`] | noise with a given covariance, once, then gossip | Rodio et al. 2025 |
//! | [`zip_dl`] | masks that cancel over a node's own messages | Biswas et al. 2025 |
//! | [`gopa`] | pairwise masks once, own noise, some nodes silent | Sabater, Bellet, Ramon 2022 |
//! | [`dsgd`] | decentralized SGD with a noise matrix over time | Bellet et al. 2025 |
//! | [`secure_neighbor_sums`] | every node sees only the weighted sum of its neighbors | Koskela, Kulkarni
//! 2025 |
//! | [`hierarchical`] | secure sums within groups, then over groups | |
//!
//! Each is an ordinary [`Program`](super::Program), which a user could write as well.

mod corn_dsgd;
mod decor;
mod dsgd;
mod fresh_noise;
mod gopa;
mod hierarchical;
mod muffliato;
mod randomized_gossip;
mod secure_neighbor_sums;
mod zip_dl;

pub use corn_dsgd::corn_dsgd;
#[doc(hidden)]
pub use corn_dsgd::corn_dsgd_along;
pub use decor::decor;
pub use dsgd::{Dsgd, ModelReads, dsgd};
pub use fresh_noise::fresh_noise;
pub use gopa::gopa;
pub use hierarchical::hierarchical;
pub use muffliato::muffliato;
pub use randomized_gossip::randomized_gossip;
pub use secure_neighbor_sums::{secure_neighbor_sums, secure_neighbor_sums_until};
pub use zip_dl::zip_dl;
