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
    figure: bounds::fig1a,
};
