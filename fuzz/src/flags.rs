//! The command line, declared once; `cargo xtask fuzz` hands its own over.
#![allow(missing_docs, unreachable_pub, reason = "xflags writes this code")]

use std::path::PathBuf;

xflags::xflags! {
    /// Calls parsers and functions of numbers with whatever fits their types.
    cmd fuzz {
        /// How long, shared evenly by the targets; 1 if nothing is given.
        optional --minutes minutes: f64
        /// At most so many runs of each target.
        optional --runs runs: u64
        /// The short form: a fixed number of runs of each target, at most a tenth of a second each.
        optional --short
        /// Where all randomness comes from; 42 if not given.
        optional --seed seed: u64
        /// Only targets whose name contains this.
        optional --target target: String
        /// The file to which findings are added; none are kept without it.
        optional --findings findings: PathBuf
        /// One run of the target by its number, with all that it shows.
        optional --replay replay: u64
        /// List the targets and stop.
        optional --list
        /// For the process that calls the target: begin with this run.
        optional --from from: u64
        /// For the process that calls the target: stop before this time, in milliseconds.
        optional --milliseconds milliseconds: u64
        /// For the process that calls the target: say the number of each run before it.
        optional --announce
    }
}
