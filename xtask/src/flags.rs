//! The command line, declared once.
#![allow(missing_docs, unreachable_pub, reason = "xflags writes this code")]

use std::path::PathBuf;

xflags::xflags! {
    /// The chores of the ndp workspace.
    cmd xtask {
        /// Compute the figures of the papers and the page `out/report.html`.
        cmd reproduce {
            /// One figure (`muffliato/fig3`) or one paper (`muffliato`); all if not given.
            optional --figure figure: String
            /// Small sizes: everything together takes less than a minute after the build.
            optional --quick
            /// Where all randomness comes from; 42 if not given.
            optional --seed seed: u64
            /// The output folder; `out` in the root if not given.
            optional --out out: PathBuf
            /// Where data sets are looked up first; then come `$NDP_DATA` and `data` in the root.
            optional --data data: PathBuf
            /// Number of threads; the numbers do not depend on it.
            optional --threads threads: usize
            /// Leave the figures as they are that an earlier run completed.
            optional --resume
            /// Split the figures into so many shards by their times, and compute one of them.
            optional --shards shards: usize
            /// Which shard, from 0; by itself from SLURM_ARRAY_TASK_ID and its kin.
            optional --shard shard: usize
            /// List the figures and stop.
            optional --list
        }
        /// Fetch the data sets from their official sources and check them.
        cmd data {
            /// The folder they go to; `data` in the root if not given.
            optional --to to: PathBuf
        }
        /// Run all tests, those in the documentation too.
        cmd test {
            /// The tests of the Python package in place of those of the crates.
            optional --python
            /// With --python: no wheel, but the library as it is built beside the tests of the crates, and
            /// the newest versions of its dependencies alone.
            optional --one-build
        }
        /// Build the Python package as a wheel.
        cmd wheel {
            /// The folder it goes to; `target/wheels` if not given.
            optional --out out: PathBuf
            /// For systems with glibc 2.17 or newer (manylinux2014), whatever this one has. Takes a linker
            /// from the package `ziglang`, 100 MB.
            optional --old-glibc
        }
        /// Run the benchmarks, and compare them with the goals.
        cmd bench {
            /// Also the works that take up to a minute: all observers, a million nodes.
            optional --large
            /// What has a goal, then the same work by other libraries, into docs/project/measured.md: a
            /// quarter of an hour on an idle machine.
            optional --report
            /// Only those whose name contains this.
            optional filter: String
        }
        /// Search for guarantees below the truth.
        cmd soundness {
            /// How long, shared evenly by the parts; 1 if nothing is given.
            optional --minutes minutes: f64
            /// That many cases of each part in place of a time.
            optional --cases cases: u64
            /// The short form: a fixed number of cases of each part, under two minutes.
            optional --short
            /// Where all randomness comes from; 42 if not given.
            optional --seed seed: u64
            /// Only this part.
            optional --part part: String
            /// One case of the part by its number, with all that it shows.
            optional --replay number: u64
            /// Split the cases into so many shards, and search one of them; what it finds goes to `--into`.
            optional --shards shards: usize
            /// Which shard, from 0; by itself from SLURM_ARRAY_TASK_ID and its kin.
            optional --shard shard: usize
            /// The folder of what shards find.
            optional --into into: PathBuf
            /// Put the shards of this folder together: the same table as that of one process.
            optional --merge merge: PathBuf
            /// List the parts and stop.
            optional --list
            /// Search at an older commit that is known to be wrong: 9bf2a5d.
            optional --commit commit: String
        }
        /// Break the libraries in the listed places, one at a time, and see which tests notice.
        cmd mutants {
            /// Only this crate.
            optional --package name: String
            /// Only the mutant of this id (eight hexadecimal digits), or those whose file contains this.
            optional --only only: String
            /// How many tests run at a time; 2 if not given.
            optional --jobs jobs: usize
            /// Keep what an earlier run caught, and which tests reach what; the others run again.
            optional --resume
            /// Leave out tests that take longer than so many seconds: what survives may be caught by them.
            optional --fast fast: f64
            /// Survivors also go through the short form of the search.
            optional --search
            /// Draw mutants of this crate and write them into a list, in place of those it has of the crate.
            optional --propose crate: String
            /// How many to draw; 100 if not given.
            optional --count count: usize
            /// Draw only from files whose path within `src` begins with one of these, divided by commas;
            /// not from those after a `!`.
            optional --within within: String
            /// The list that is written: `certified` or `sampled`, the latter if not given.
            optional --into list: String
            /// Where the draw comes from; 42 if not given.
            optional --seed seed: u64
        }
        /// Call every parser and every public function of numbers with whatever fits their types.
        cmd fuzz {
            /// How long, shared evenly by the targets; 1 if nothing is given.
            optional --minutes minutes: f64
            /// At most so many runs of each target.
            optional --runs runs: u64
            /// The short form: at most 2000 runs and a tenth of a second for each target.
            optional --short
            /// Where all randomness comes from; 42 if not given.
            optional --seed seed: u64
            /// Only targets whose name contains this.
            optional --target target: String
            /// One run of the target by its number, with its arguments.
            optional --replay number: u64
            /// A file to which findings are added.
            optional --findings findings: PathBuf
            /// List the targets and stop.
            optional --list
        }
        /// Run a sweep under a Slurm of one node, kill a job of it, and compare with one process; says when
        /// it is skipped.
        cmd slurm {}
        /// Run what the merge gate runs.
        cmd ci {}
        /// Check the book in `docs`, and make pages for a browser of it where mdbook is installed.
        cmd book {}
        /// Find a false claim of `docs/findings.md` again from its formula, with page and picture.
        cmd finding {
            /// Which row of the document, counted from 1 through all its tables.
            required number: usize
            /// The output folder; `out/findings` in the root if not given.
            optional --out out: PathBuf
        }
        /// Go through the checklist of a release and say what is missing. It never publishes.
        cmd release {
            /// Nothing is published; without it the command refuses.
            optional --dry-run
            /// Leave out the figures, the project outside and the documentation, which take minutes.
            optional --quick
        }
        /// Check layers, documents, file lengths and leftovers.
        cmd tidy {}
        /// Make the numbers of the figures the committed references, and show what changes.
        cmd bless {
            /// One figure or one paper; all if not given.
            optional --figure figure: String
            /// The references at small sizes.
            optional --quick
            /// Where data sets are looked up first.
            optional --data data: PathBuf
        }
    }
}
