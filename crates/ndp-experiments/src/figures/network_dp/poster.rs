//! `network-dp/poster`: the poster's bound beside the one in the final paper.

use super::bounds;
use crate::entry::{Entry, Tolerance};

/// `network-dp/poster`.
pub const ENTRY: Entry = Entry {
    id: "network-dp/poster",
    what: "the older bound of the poster beside Theorem 3 and the certified bound",
    needs: &[],
    minutes: 0.1,
    tolerance: Tolerance::DETERMINISTIC,
    findings: &[],
    test: Some((
        "crates/ndp-experiments/src/figures/network_dp/bounds.rs",
        "released_curves_have_their_recorded_values",
    )),
    measures: false,
    figure: bounds::poster,
};
