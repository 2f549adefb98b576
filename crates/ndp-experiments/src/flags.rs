//! The command line, declared once.
#![allow(missing_docs, unreachable_pub, reason = "xflags writes this code")]

use std::path::PathBuf;

xflags::xflags! {
    /// Reproduces the figures of five papers on decentralized privacy, beside what is true, and says what a
    /// protocol on a graph of your own reveals.
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
        /// What a protocol on your own graph reveals, and the least noise for a privacy target: losses of all
        /// pairs (CSV), a heat map and a drawing (SVG, PNG), and a summary.
        cmd analyze {
            /// An edge list: two labels a line, separated by spaces or commas, `#` for comments, perhaps gzipped.
            required edges: PathBuf
            /// muffliato, fresh-noise, one-peer or walk.
            required --protocol protocol: String
            /// In nats: `mean=0.1`, `worst=0.5`, or a file of lines `source observer loss` or `hops loss`.
            required --target target: String
            /// The output folder; `out/analysis` if not given.
            optional --out out: PathBuf
            /// Rounds of gossip, or steps of the walk; by a stopping rule, or ten steps a node, if not given.
            optional --rounds rounds: usize
            /// Order of the Rényi losses; 2 if not given.
            optional --order order: f64
            /// How far one value may move; 1 if not given.
            optional --sensitivity sensitivity: f64
            /// The delta at which the largest loss is stated as (epsilon, delta); 1e-5 if not given.
            optional --delta delta: f64
            /// Fresh noise: by which share it raises the variance of the mean; 0.1 if not given.
            optional --rho rho: f64
            /// Account for what this node learns only.
            optional --observer observer: String
            /// Skip the first line, a header (above numbers it is recognised).
            optional --header
            /// Leave edges from a node to itself out.
            optional --skip-self-loops
            /// Leave columns after the second out: weights, times.
            optional --skip-columns
            /// Take the largest component of a graph that is not connected.
            optional --largest-component
            /// Number of threads; the numbers do not depend on it.
            optional --threads threads: usize
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
