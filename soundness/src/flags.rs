//! The command line, declared once; `cargo xtask soundness` hands its own over.
#![allow(missing_docs, unreachable_pub, reason = "xflags writes this code")]

use std::path::PathBuf;

xflags::xflags! {
    /// Searches for guarantees below the truth.
    cmd soundness {
        /// How long, shared evenly by the parts; 1 if nothing is given.
        optional --minutes minutes: f64
        /// That many cases of each part in place of a time.
        optional --cases cases: u64
        /// The short form: a fixed number of cases of each part.
        optional --short
        /// Where all randomness comes from; 42 if not given.
        optional --seed seed: u64
        /// Only this part.
        optional --part part: String
        /// One case of the part by its number, with all that it shows.
        optional --replay number: u64
        /// Split the cases into so many shards, and search one of them.
        optional --shards shards: u64
        /// Which shard, from 0.
        optional --shard shard: u64
        /// The folder to which a shard writes what it found.
        optional --into into: PathBuf
        /// Put the shards of this folder together.
        optional --merge merge: PathBuf
        /// List the parts and stop.
        optional --list
    }
}
