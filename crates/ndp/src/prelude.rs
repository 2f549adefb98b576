//! What nearly every program needs: `use ndp::prelude::*;`.
//!
//! # Examples
//! ```
//! use ndp::prelude::*;
//! let ring = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
//! let gossip = SynchronousGossip::new(ring, 3);
//! let account = gossip.account(&Observer::node(0))?;
//! let epsilon = account.profile(4, NoiseMultiplier::new(5.0)?)?.epsilon(Delta::new(1e-5)?)?;
//! assert_eq!(epsilon.value().epsilon(), 0.0); // three rounds do not reach the other side
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use ndp_account::{
    Account, LeastNoise, Observer, Protocol, Statement, Target, check, compare, least_noise,
};
pub use ndp_algos::gossip::SynchronousGossip;
pub use ndp_algos::registry;
pub use ndp_algos::sgd::{PrivateTraining, Training};
pub use ndp_algos::walk::graph::TokenWalk;
pub use ndp_dp::{
    Delta, Estimate, Exact, Grade, Graded, Guarantee, LossLaw, Measure, NoiseMultiplier, Printed, Profile,
    UpperBound, Verdict,
};
pub use ndp_graph::{GossipMatrix, Graph, TransitionMatrix, generators, random};
pub use ndp_program::{Declared, Program, Reads, SensitivitySet};
