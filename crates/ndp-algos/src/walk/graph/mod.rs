//! A token that walks on a graph.

pub mod averaging;
pub mod calibration;
pub mod coalition;
pub mod contribution;
mod local;
#[cfg(test)]
mod oracle;
pub mod path;
pub mod path_cost;
pub mod pendant;
pub mod printed;
pub mod renewal;
mod series;
pub mod utility;

pub use averaging::{AveragingOnPath, Sender, Steps, TokenAveraging, Visit, WalkTranscript};
pub use local::LocalLoss;
pub use path::{EdgeRule, TokenWalk, WalkPath};
pub use path_cost::{Action, Interval, Odometer};
