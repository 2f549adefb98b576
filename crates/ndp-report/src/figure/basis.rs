//! What the title of a figure rests on.

use super::{Check, Figure};

/// One reason why the title of a figure is true. [`untrue`](crate::verdict::title::untrue) evaluates it on
/// the numbers that were written.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Basis, Check, Figure};
/// // "The exact loss is above what is printed": the check of the claim fails somewhere.
/// let figure = Figure::new("t").titled_by([Basis::Refuted(Check::covers("printed", "exact"))]);
/// assert_eq!(figure.basis.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// The check holds by the grades of what it compares.
    Shown(Check),
    /// The check does not hold, by the grades of what it compares.
    Refuted(Check),
    /// The check holds for the numbers as they are drawn, whatever their grades: means where a point has a
    /// range, and means over runs. Only for titles that name what the numbers are (printed, proved, on
    /// average); such a title says nothing of the true loss.
    Drawn(Check),
    /// The factor between the largest and the smallest value of the one series is at least so many times
    /// that of the other, zeros left out.
    Wider {
        /// Name of the series that varies more.
        wide: String,
        /// Name of the series that varies less.
        narrow: String,
        /// How many times.
        times: f64,
    },
    /// `lower` is nowhere above `upper`, as drawn, and where it is farthest below, it is that many times
    /// below, within a tenth.
    UpTo {
        /// Name of the lower series.
        lower: String,
        /// Name of the upper series.
        upper: String,
        /// How many times.
        times: f64,
    },
    /// `lower` is below `upper` at more than half of the places that both have, as drawn.
    Most {
        /// Name of the lower series.
        lower: String,
        /// Name of the upper series.
        upper: String,
    },
    /// In every panel the series has the same value at its largest abscissa as at its smallest, up to one
    /// part in 10⁹; the values are exact.
    Ends {
        /// Name of the series.
        series: String,
    },
    /// The series is nowhere above a number, as drawn.
    AtMost {
        /// Name of the series.
        series: String,
        /// The number.
        value: f64,
    },
}

impl Basis {
    /// One series varies at least so many times as much as another, see [`Basis::Wider`].
    pub fn wider(times: f64, wide: impl Into<String>, narrow: impl Into<String>) -> Self {
        Self::Wider { wide: wide.into(), narrow: narrow.into(), times }
    }

    /// One series is up to so many times below another, see [`Basis::UpTo`].
    pub fn up_to(times: f64, lower: impl Into<String>, upper: impl Into<String>) -> Self {
        Self::UpTo { lower: lower.into(), upper: upper.into(), times }
    }

    /// One series is below another at most places, see [`Basis::Most`].
    pub fn most(lower: impl Into<String>, upper: impl Into<String>) -> Self {
        Self::Most { lower: lower.into(), upper: upper.into() }
    }

    /// A series ends where it began, see [`Basis::Ends`].
    pub fn ends(series: impl Into<String>) -> Self {
        Self::Ends { series: series.into() }
    }

    /// A series is nowhere above a number, see [`Basis::AtMost`].
    pub fn at_most(series: impl Into<String>, value: f64) -> Self {
        Self::AtMost { series: series.into(), value }
    }
}

impl Figure {
    /// Adds what the title rests on. It decides nothing about the claim of the paper.
    #[must_use]
    pub fn titled_by(mut self, basis: impl IntoIterator<Item = Basis>) -> Self {
        self.basis.extend(basis);
        self
    }
}
