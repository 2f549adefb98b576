//! The theorems by which the numbers of a figure hold.

use super::{Figure, Kind};

/// The function and the theorem that give some series of a figure their grade.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_report::figure::{Figure, Kind};
/// let figure = Figure::new("t").by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses");
/// assert_eq!(figure.sources[0].kind, Kind::from(Grade::Exact));
/// assert_eq!(figure.sources[0].to_string(), "ndp_algos::gossip::exact_loss (Certified losses)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Text that the names of the series contain.
    pub fragment: &'static str,
    /// Their kind.
    pub kind: Kind,
    /// The path of the function, which is documented and tested; for numbers that were not computed here,
    /// where they are from.
    pub function: &'static str,
    /// The section of `docs/theory.md`.
    pub theorem: &'static str,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.function, self.theorem)
    }
}

impl Figure {
    /// Names the function that computed the series of a kind, and the section of the theory that the function
    /// implements.
    #[must_use]
    pub fn by(self, kind: impl Into<Kind>, function: &'static str, theorem: &'static str) -> Self {
        self.by_named("", kind, function, theorem)
    }

    /// The same for those series of a kind whose names contain `fragment`; if several fragments match, the
    /// longest one counts.
    #[must_use]
    pub fn by_named(
        mut self,
        fragment: &'static str,
        kind: impl Into<Kind>,
        function: &'static str,
        theorem: &'static str,
    ) -> Self {
        self.sources.push(Source { fragment, kind: kind.into(), function, theorem });
        self
    }

    /// The source given for series of this name and kind, if any.
    pub(crate) fn source_of(&self, series: &str, kind: Kind) -> Option<&Source> {
        let of_it = |source: &&Source| source.kind == kind && series.contains(source.fragment);
        self.sources.iter().filter(of_it).max_by_key(|source| source.fragment.len())
    }
}
