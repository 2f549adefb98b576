//! A part of the search: a kind of case that can be drawn, and whose truth can be computed.

use rand_chacha::ChaCha8Rng;

/// One kind of case: drawn at random, computed by the library and by other means.
pub(crate) trait Part: Sync {
    /// The name on the command line: one or two lower-case words.
    fn name(&self) -> &'static str;

    /// What is drawn, and how the truth is computed: one line for `--list`.
    fn what(&self) -> &'static str;

    /// Case `number`; the generator is at the start of a stream that belongs to this case alone.
    ///
    /// Draw everything from `rng`, so that the case can be replayed. `number` may choose the stratum
    /// (`number % 8 == 0` is a deep chain, for example), so that each stratum gets its share.
    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome;

    /// False claims of papers, kept in `printed` modules: the search must find a counterexample to each.
    fn refutes(&self) -> &'static [&'static str] {
        &[]
    }

    /// How many cases the short form runs: about five seconds of work on one core; with 0 the part is not in
    /// the short form.
    fn short(&self) -> u64;
}

/// The result of one case.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The classes of the case, for the table.
    pub(crate) stratum: Stratum,
    /// How many numbers of the library were compared with the truth. A case may compare nothing (if the
    /// library rightly refused it); a part in which no case compares anything is an error.
    pub(crate) compared: u64,
    /// The violations found.
    pub(crate) violations: Vec<Violation>,
    /// Counterexamples to claims of papers; the field `kind` holds the claim, and their tests pass.
    pub(crate) refuted: Vec<Violation>,
}

impl Outcome {
    /// The result of a case before anything was compared.
    pub(crate) fn new(stratum: Stratum) -> Self {
        Self { stratum, compared: 0, violations: Vec::new(), refuted: Vec::new() }
    }

    /// Counts a comparison; if it failed, `violation` describes how.
    pub(crate) fn check(&mut self, holds: bool, violation: impl FnOnce() -> Violation) {
        self.compared += 1;
        if !holds {
            self.violations.push(violation());
        }
    }

    /// Counts a comparison of a printed claim with the truth; if it fails, `counterexample` describes how.
    pub(crate) fn claim(&mut self, holds: bool, counterexample: impl FnOnce() -> Violation) {
        self.compared += 1;
        if !holds {
            self.refuted.push(counterexample());
        }
    }
}

/// A number of the library that breaks its promise.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    /// The kind of violation, a few words in lower case: of each kind the smallest case is printed.
    pub(crate) kind: &'static str,
    /// The size of the case, compared from the left: `[n, T, edges]`, for example. The smallest case of a
    /// kind is printed.
    pub(crate) size: [u64; 3],
    /// One line: what was reported about what, and the truth.
    pub(crate) what: String,
    /// A failing test, ready to be pasted into a test file of a crate.
    pub(crate) test: String,
}

/// Classes of size and length for the table: two labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stratum {
    /// The row of the table; for protocols, the class of the number of nodes.
    pub(crate) row: &'static str,
    /// The column of the table; for protocols, the class of the number of rounds.
    pub(crate) column: &'static str,
}

impl Stratum {
    /// The classes of a protocol with `n` nodes and `rounds` rounds.
    pub(crate) fn new(n: usize, rounds: usize) -> Self {
        let row = match n {
            0..=4 => "n 1-4",
            5..=10 => "n 5-10",
            11..=20 => "n 11-20",
            21..=40 => "n 21-40",
            _ => "n > 40",
        };
        let column = match rounds {
            0 => "T 0",
            t if t == n => "T = n",
            1..=3 => "T 1-3",
            t if t < n => "T < n",
            _ => "T > n",
        };
        Self { row, column }
    }

    /// Classes of other parameters: `row` of one of them, `column` of another.
    #[allow(dead_code, reason = "for parts without nodes and rounds")]
    pub(crate) fn named(row: &'static str, column: &'static str) -> Self {
        Self { row, column }
    }
}
