//! Every figure and table of four papers and a poster on decentralized privacy, reproduced beside the true
//! values.
//!
//! A [`Figure`](ndp_report::figure::Figure) is plain data, computed by a pure function listed in
//! [`registry`]. [`output`] writes it as CSV, JSON, SVG and PNG; [`report`] shows all figures on one page;
//! [`mod@reference`] compares their numbers with the committed ones; [`run`] does this for one figure after
//! the other. [`datasets`] is the only part that reads data files.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod datasets;
pub mod entry;
pub mod figures;
pub mod measure;
pub mod output;
pub mod reference;
pub mod registry;
pub mod report;
pub mod run;
pub mod seed;

#[cfg(test)]
mod testing;
