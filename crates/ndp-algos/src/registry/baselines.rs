//! The two ends of the scale: everybody publishes, or a curator does.

use super::{Connections, Entry, Kind};
use crate::baselines::{CentralAveraging, LocalAveraging};

pub(super) const LOCAL: Entry = Entry {
    name: "local",
    connections: Connections::Edges,
    kind: Kind::Baseline,
    about: "every node publishes a noisy value: the local model",
    parameters: &[],
    build: |setting| Ok(Box::new(LocalAveraging::new(setting.nodes())?)),
};

pub(super) const CENTRAL: Entry = Entry {
    name: "central",
    connections: Connections::Own,
    kind: Kind::Baseline,
    about: "a trusted curator publishes the noisy sum",
    parameters: &[],
    build: |setting| Ok(Box::new(CentralAveraging::new(setting.nodes())?)),
};
