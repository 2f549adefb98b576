//! Accounting for differential privacy.
//!
//! Every number that leaves this crate says in its type what it may be used for: see [`grade`].

pub mod approx_dp;
pub mod baselines;
pub mod binomial_window;
pub mod calibration;
pub mod composition;
pub mod contraction;
pub mod conversion;
pub mod error;
pub mod federated;
pub mod gaussian;
pub mod gdp;
pub mod grade;
pub mod incomplete;
pub mod iteration;
pub mod laplace;
pub mod logspace;
pub mod mixture;
pub mod pairwise;
pub mod printed;
pub mod quantities;
pub mod randomized_response;
pub mod rdp;
mod search;
pub mod shuffling;
pub mod special;
pub mod subsampling;
pub mod tails;
pub mod zcdp;

pub use approx_dp::ApproxDp;
pub use error::Error;
pub use gdp::{Gaussian, GaussianAccountant, Gdp};
pub use grade::{Estimate, Exact, Grade, Guarantee, Printed, UpperBound};
pub use laplace::Laplace;
pub use pairwise::{ObserverLoss, PairwiseLoss, UnitLoss};
pub use quantities::{Delta, NoiseMultiplier, Order, Sensitivity, Sigma};
pub use randomized_response::RandomizedResponse;
pub use rdp::{Mechanism, Rdp, RdpAccountant};
pub use zcdp::Zcdp;
