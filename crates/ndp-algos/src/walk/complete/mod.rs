//! The token on the complete graph: at each of `T` steps it is at a node drawn uniformly among all `n`.
//!
//! The node holding the token may hold it again at the next step. The tokens that node `v` receives cut the
//! walk into segments; in a segment of `m` foreign steps, each step belongs to each of the other `n − 1` nodes
//! with probability `1/(n−1)`, independently.
//!
//! Whom the guarantees protect against: an observer `v` (or `c` colluding nodes that share their views), who
//! knows its own data and its own noise, the times at which it holds the token, and what it receives then.
//! Whether it may know *who* acted in between is said with each accountant.
//!
//! # References
//! Cyffers and Bellet, *Privacy amplification by decentralization*, AISTATS 2022, arXiv:2012.05326: Section 4,
//! Algorithms 3 and 5, Theorems 3 and 6, Appendices D, E, G.

mod accountant;
pub mod averaged;
pub mod caps;
mod chords;
pub mod constant;
pub mod guarantee;
pub mod histogram;
pub mod histogram_loss;
mod linear;
pub mod masses;
pub mod path;
pub mod realised;
mod segment;
pub mod spotted;
pub mod subsampled;
pub mod sum;

pub(in crate::walk) use accountant::response_of;
pub use caps::Caps;
pub use constant::ConstantWalk;
pub use guarantee::Visits;
pub use histogram::{CompleteHistogram, CompleteHistogramRun};
pub use histogram_loss::ShuffleEffort;
pub use linear::SumOnPath;
pub use path::{CompleteWalk, Path};
pub use spotted::{Spotted, Spotting};
pub use subsampled::Receptions;
pub use sum::{CompleteSum, CompleteSumRun, TokenView};
