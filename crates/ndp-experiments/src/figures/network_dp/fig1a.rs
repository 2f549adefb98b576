//! `network-dp/fig1a`: bounds for real summation against the number of users.

use super::bounds;
use crate::entry::{Entry, Tolerance};

/// `network-dp/fig1a`.
pub const ENTRY: Entry = Entry {
    id: "network-dp/fig1a",
    what: "bounds for real summation on the complete graph against the number of users",
    needs: &[],
    minutes: 0.1,
    tolerance: Tolerance::DETERMINISTIC,
    findings: &["F6", "F7"],
    test: Some((
        "crates/ndp-experiments/src/figures/network_dp/bounds.rs",
        "released_curves_have_their_recorded_values",
    )),
    measures: false,
    figure: bounds::fig1a,
};
