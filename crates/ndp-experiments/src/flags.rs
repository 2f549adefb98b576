//! The command line, declared once.
#![allow(missing_docs, unreachable_pub, reason = "xflags writes this code")]

use std::path::PathBuf;

xflags::xflags! {
    /// Reproduces the figures of four papers and a poster on decentralized privacy, beside what is true.
    cmd ndp-experiments {
        /// Compute figures; this is what happens without a command.
        default cmd reproduce {
            /// A figure (`muffliato/fig3`), a paper (`muffliato`), or `all`.
            optional figure: String
            /// Small sizes: everything together takes less than a minute.
            optional --quick
            /// Where all randomness comes from; 42 if not given.
            optional --seed seed: u64
            /// The output folder; `out` if not given.
            optional --out out: PathBuf
            /// Where data sets are looked up first.
            optional --data data: PathBuf
            /// Number of threads; the numbers do not depend on it.
            optional --threads threads: usize
            /// Leave the figures as they are that an earlier run completed.
            optional --resume
            /// Split the figures into so many shards by their times, and compute one; no page is written.
            optional --shards shards: usize
            /// Which shard, from 0.
            optional --shard shard: usize
            /// List the figures and stop.
            optional --list
            /// The committed references; `crates/ndp-experiments/reference` if not given.
            optional --references references: PathBuf
        }
        /// Fetch the data sets from their official sources and check them.
        cmd data {
            /// The folder they go to; `data` if not given.
            optional --to to: PathBuf
        }
        /// Compute figures and make their numbers the committed references.
        cmd bless {
            /// A figure (`muffliato/fig3`), a paper (`muffliato`), or `all`.
            optional figure: String
            /// The references at small sizes.
            optional --quick
            /// The output folder; `out` if not given.
            optional --out out: PathBuf
            /// Where data sets are looked up first.
            optional --data data: PathBuf
            /// The committed references; `crates/ndp-experiments/reference` if not given.
            optional --references references: PathBuf
        }
    }
}
