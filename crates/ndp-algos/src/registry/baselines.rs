//! The two ends of the scale.

use super::Entry;
use crate::accountant::baselines::{CentralAveraging, LocalAveraging};

pub(super) const LOCAL: Entry = Entry {
    name: "local",
    about: "every node publishes a noisy value: the local model",
    parameters: &[],
    build: |setting| Ok(Box::new(LocalAveraging::new(setting.nodes())?)),
};

pub(super) const CENTRAL: Entry = Entry {
    name: "central",
    about: "a trusted curator publishes the noisy sum",
    parameters: &[],
    build: |setting| Ok(Box::new(CentralAveraging::new(setting.nodes())?)),
};
