//! Every call into the library whose shape may change, one file for each group of parts.
//!
//! Parts never call such an entry point themselves. A folder `adapters/<commit>/` beside `src` holds the files of
//! `src` that must be replaced at an older commit; `cargo xtask soundness --commit <commit>` does that.

pub(crate) mod data;
pub(crate) mod losses;
