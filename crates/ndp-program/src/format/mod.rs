//! Programs as text: JSON lines with one step per line, version 1. The format is described in
//! `docs/formats.md`.
//!
//! ```text
//! {"ndp-program": 1, "nodes": 3}
//! {"graph": "g", "family": "path"}
//! {"matrix": "W", "of": "g", "weights": "metropolis"}
//! {"contribute": "x", "reads": "nothing"}
//! {"noise": "z", "variance": 1}
//! {"let": "y", "sum": {"x": 1, "z": 1}}
//! {"repeat": 2}
//! {"send": "y", "along": "g"}
//! {"set": "y", "gossip": "W", "of": "y"}
//! {"end": "repeat"}
//! ```
//!
//! Every error names the line. Numbers are exact: integers, ratios as text (`"1/3"`), and other numbers as
//! the `f64` that they are read as. Refused are a key that is given twice, keys that exclude each other, a
//! number that cannot be represented, and a value that a node sends, mixes or ends with but cannot form from
//! what it holds.

mod json;
mod line;
mod names;
mod noises;
mod read;
mod values;
mod write;

pub(crate) use json::object;
pub(crate) use line::Line;
pub(crate) use read::Reader;
pub(crate) use write::{matrix as matrix_line, name as value_name};

/// The version of the format that is read and written.
const VERSION: u64 = 1;
