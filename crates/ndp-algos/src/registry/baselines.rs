//! The two ends of the scale: everybody publishes, or a curator does.

use super::{Entry, Kind};
use crate::baselines::{CentralAveraging, LocalAveraging};

pub(super) const LOCAL: Entry = Entry {
    name: "local",
    on_the_graph: true,
    kind: Kind::Baseline,
    about: "every node publishes a noisy value: the local model",
    parameters: &[],
    build: |setting| Ok(Box::new(LocalAveraging::new(setting.nodes())?)),
};

pub(super) const CENTRAL: Entry = Entry {
    name: "central",
    on_the_graph: false,
    kind: Kind::Baseline,
    about: "a trusted curator publishes the noisy sum",
    parameters: &[],
    build: |setting| Ok(Box::new(CentralAveraging::new(setting.nodes())?)),
};
