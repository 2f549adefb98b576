//! A figure as plain data: it is written to CSV and JSON, and its pictures are drawn from it alone.
//!
//! A [`Figure`] is a title, parameters, sentences (what the paper claims, what is true) and one or several
//! [`Panel`]s. A panel shows curves, a heat map, the drawing of a graph, or a table. Every number in it
//! carries a [`Kind`]: one of the four privacy grades, or `data`.
//!
//! ```
//! use ndp_dp::Grade;
//! use ndp_report::figure::{Axis, Check, Figure, Panel, Series};
//!
//! let loss = Panel::curves("path of 3 nodes", Axis::linear("distance"), Axis::log("unit loss"))
//!     .with(Series::new("printed", Grade::Printed).points([(1.0, 4.0 / 3.0), (2.0, 1.0 / 3.0)]))
//!     .with(Series::new("exact", Grade::Exact).points([(1.0, 1.0), (2.0, 1.0)]));
//! let figure = Figure::new("The printed sum is no bound")
//!     .parameter("T", 2)
//!     .claim("Theorem 1 bounds what node 2 learns about node 0.")
//!     .finding("It does not: node 2 recovers the noisy value of node 0.")
//!     .check(Check::covers("printed", "exact"))
//!     .panel(loss);
//! assert!(figure.validate().is_ok());
//! ```

pub mod axis;
pub mod basis;
pub mod check;
pub mod kind;
pub mod matrix;
pub mod sample;
pub mod scale;
pub mod series;
pub mod source;
mod view;

pub use axis::{Axis, AxisScale};
pub use basis::Basis;
pub use check::Check;
pub use kind::Kind;
pub use matrix::{Drawing, Matrix};
pub use sample::Sample;
pub use scale::Scale;
pub use series::{Mark, Point, Series};
pub use source::Source;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a panel shows.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Axis, Content, Panel};
/// let panel = Panel::curves("loss by distance", Axis::linear("distance"), Axis::log("loss"));
/// assert!(matches!(panel.content, Content::Curves { series, .. } if series.is_empty()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Curves, points, histograms.
    Curves {
        /// Horizontal axis.
        x: Axis,
        /// Vertical axis.
        y: Axis,
        /// The curves.
        series: Vec<Series>,
    },
    /// A matrix, one coloured cell per entry, row 0 on top.
    HeatMap {
        /// Scale and range of the colours.
        color: Axis,
        /// The entries.
        matrix: Matrix,
    },
    /// A graph, its nodes coloured by a value.
    Drawing {
        /// Scale and range of the colours.
        color: Axis,
        /// The graph.
        drawing: Drawing,
    },
    /// Rows of dots: each series has a row with its name, and one dot for each of a few cases. The abscissa
    /// of a point is its case, and the shape of the dot shows which one.
    Dots {
        /// Horizontal axis, of the ordinates of the series.
        value: Axis,
        /// The cases, each with its abscissa.
        cases: Vec<(f64, String)>,
        /// The rows, from the top down.
        series: Vec<Series>,
    },
    /// The same numbers as curves would show, as a table: one row per abscissa, one column per
    /// series.
    Table {
        /// Header of the first column.
        rows: String,
        /// Name of the row at an abscissa; a row without a name shows the number itself.
        names: Vec<(f64, String)>,
        /// The columns.
        series: Vec<Series>,
    },
}

/// One frame of a figure.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Panel, Series};
/// let table = Panel::table("accuracies", "graph")
///     .row_name(0.0, "complete")
///     .with(Series::data("gossip").ranged(0.0, 0.65, 0.55, 0.75));
/// assert_eq!(table.series().len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its title, unique within the figure: the column `panel` of the CSV.
    pub title: String,
    /// What it shows.
    pub content: Content,
}

impl Panel {
    /// A panel of curves; add them by [`Panel::with`].
    pub fn curves(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), content: Content::Curves { x, y, series: Vec::new() } }
    }

    /// Rows of dots for the cases 1, 2, 3, …, which have these names; add the rows by [`Panel::with`].
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::Grade;
    /// use ndp_report::figure::{Axis, Panel, Series};
    /// let errors = Panel::dots("error", Axis::log("error"), ["ring", "hypercube"])
    ///     .with(Series::new("local", Grade::Exact).points([(1.0, 0.25), (2.0, 0.25)]))
    ///     .with(Series::new("gossip", Grade::Exact).points([(1.0, 0.5), (2.0, 0.125)]));
    /// assert_eq!(errors.series().len(), 2);
    /// ```
    pub fn dots<S: Into<String>>(
        title: impl Into<String>,
        value: Axis,
        cases: impl IntoIterator<Item = S>,
    ) -> Self {
        let cases = cases.into_iter().enumerate().map(|(k, name)| ((k + 1) as f64, name.into())).collect();
        Self { title: title.into(), content: Content::Dots { value, cases, series: Vec::new() } }
    }

    /// A table whose first column is named `rows`; add the other columns by [`Panel::with`].
    pub fn table(title: impl Into<String>, rows: impl Into<String>) -> Self {
        let content = Content::Table { rows: rows.into(), names: Vec::new(), series: Vec::new() };
        Self { title: title.into(), content }
    }

    /// A heat map of a matrix.
    pub fn heat_map(title: impl Into<String>, color: Axis, matrix: Matrix) -> Self {
        Self { title: title.into(), content: Content::HeatMap { color, matrix } }
    }

    /// A drawing of a graph.
    pub fn drawing(title: impl Into<String>, color: Axis, drawing: Drawing) -> Self {
        Self { title: title.into(), content: Content::Drawing { color, drawing } }
    }

    /// The panel with one more curve, row or column. Heat maps and drawings have none and stay as
    /// they are.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        if let Content::Curves { series: all, .. }
        | Content::Dots { series: all, .. }
        | Content::Table { series: all, .. } = &mut self.content
        {
            all.push(series);
        }
        self
    }

    /// The panel with several more curves or columns.
    #[must_use]
    pub fn with_all(self, series: impl IntoIterator<Item = Series>) -> Self {
        series.into_iter().fold(self, Self::with)
    }

    /// The table with a name for the row at abscissa `x`.
    #[must_use]
    pub fn row_name(mut self, x: f64, name: impl Into<String>) -> Self {
        if let Content::Table { names, .. } = &mut self.content {
            names.push((x, name.into()));
        }
        self
    }

    /// The curves or columns of the panel; none for a heat map or a drawing.
    #[must_use]
    pub fn series(&self) -> &[Series] {
        match &self.content {
            Content::Curves { series, .. } | Content::Dots { series, .. } | Content::Table { series, .. } => {
                series
            }
            Content::HeatMap { .. } | Content::Drawing { .. } => &[],
        }
    }
}

/// Where a data set came from.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Figure, Provenance};
/// let table = Provenance { name: "women".into(), real: true, sha256: "0".repeat(64) };
/// assert!(!Figure::new("Davis").computed_from(&table).has_stand_in());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Which data set.
    pub name: String,
    /// Whether it is the real data set. A figure computed from a stand-in is never compared with a reference.
    pub real: bool,
    /// SHA-256 of the parsed content, in hexadecimal.
    pub sha256: String,
}

/// A finished figure.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_report::figure::{Axis, Figure, Panel, Series};
/// let exact = Series::new("exact", Grade::Exact).points([(1.0, 1.0), (2.0, 0.5)]);
/// let figure = Figure::new("What a neighbor learns")
///     .parameter("rounds", 8)
///     .panel(Panel::curves("path", Axis::linear("distance"), Axis::log("unit loss")).with(exact));
/// assert_eq!(figure.validate(), Ok(()));
/// assert!(Figure::new("without content").validate().is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Title, drawn above the picture.
    pub title: String,
    /// Every parameter, by name.
    pub parameters: BTreeMap<String, Value>,
    /// Numbers about the result that are not in the CSV (correlations, ranks), by name.
    pub notes: BTreeMap<String, Value>,
    /// Values of single runs that checks compare, by name.
    pub samples: BTreeMap<String, Sample>,
    /// Numbers about this run on this machine (times, memory), by name; never compared.
    pub measurements: BTreeMap<String, Value>,
    /// What the paper claims with this figure, in one sentence.
    pub claim: String,
    /// What is true, and known deviations from the paper, in sentences.
    pub findings: Vec<String>,
    /// The checks that decide from the numbers whether the claim holds.
    pub checks: Vec<Check>,
    /// What the title rests on.
    pub basis: Vec<Basis>,
    /// The numbers of the figure; they are also drawn, unless there are views.
    pub panels: Vec<Panel>,
    /// What is drawn in place of the panels, see [`Figure::drawn_as`]; empty if the panels are drawn.
    pub views: Vec<Panel>,
    /// How many panels stand side by side; it follows from the number of panels if absent.
    pub columns: Option<usize>,
    /// The data sets it was computed from.
    pub provenance: Vec<Provenance>,
    /// The theorems by which its privacy numbers have the grades that they state.
    pub sources: Vec<Source>,
}

impl Figure {
    /// A figure without content.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            parameters: BTreeMap::new(),
            notes: BTreeMap::new(),
            samples: BTreeMap::new(),
            measurements: BTreeMap::new(),
            claim: String::new(),
            findings: Vec::new(),
            checks: Vec::new(),
            basis: Vec::new(),
            panels: Vec::new(),
            views: Vec::new(),
            columns: None,
            provenance: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Adds a parameter. Add all parameters, including those that are constants in the code.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Adds a number about the result. It must not depend on the machine.
    #[must_use]
    pub fn note(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.notes.insert(name.into(), value.into());
        self
    }

    /// Adds the values of single runs, for [`Check::Exceeds`].
    #[must_use]
    pub fn sample(mut self, name: impl Into<String>, kind: impl Into<Kind>, values: Vec<f64>) -> Self {
        self.samples.insert(name.into(), Sample { kind: kind.into(), values });
        self
    }

    /// Adds a number about this run on this machine: a time, a peak of memory.
    #[must_use]
    pub fn measurement(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.measurements.insert(name.into(), value.into());
        self
    }

    /// States what the paper claims with this figure, in one sentence.
    #[must_use]
    pub fn claim(mut self, sentence: impl Into<String>) -> Self {
        self.claim = sentence.into();
        self
    }

    /// Adds a sentence on what is true, or on a known deviation from the paper.
    #[must_use]
    pub fn finding(mut self, sentence: impl Into<String>) -> Self {
        self.findings.push(sentence.into());
        self
    }

    /// Adds a comparison that decides whether the claim holds.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets how many panels stand side by side.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = Some(columns.max(1));
        self
    }

    /// Names a data set the figure was computed from.
    #[must_use]
    pub fn computed_from(mut self, source: &Provenance) -> Self {
        self.provenance.push(source.clone());
        self
    }

    /// Whether some data set is a generated stand-in.
    #[must_use]
    pub fn has_stand_in(&self) -> bool {
        self.provenance.iter().any(|source| !source.real)
    }

    /// Checks the requirements that the output relies on.
    ///
    /// # Errors
    /// A sentence naming the first requirement that fails: there is at least one panel; titles of panels, and
    /// names of series within a panel, are not empty and unique; no series is called `exact` whose values
    /// have another grade; no value is NaN; every check names existing series, none of them averages over
    /// runs, and existing samples; and every privacy number of a view stands in a panel with the same grade.
    pub fn validate(&self) -> Result<(), String> {
        if self.panels.is_empty() {
            return Err("the figure has no panel".into());
        }
        let mut titles = BTreeSet::new();
        let mut names = BTreeSet::new();
        let mut averaged = BTreeSet::new();
        for panel in &self.panels {
            let title = &panel.title;
            if title.is_empty() || !titles.insert(title) {
                return Err(format!("the panel title {title:?} is empty or used twice"));
            }
            let mut in_panel = BTreeSet::new();
            for series in panel.series() {
                if series.name.is_empty() || !in_panel.insert(&series.name) {
                    return Err(format!(
                        "panel {title:?}: series {:?} is unnamed or there twice",
                        series.name
                    ));
                }
                kind::require_honest(&series.name, series.kind)
                    .map_err(|e| format!("panel {title:?}: {e}"))?;
                let nan = |p: &Point| {
                    [Some(p.x), Some(p.y), p.low, p.high].iter().flatten().any(|value| value.is_nan())
                };
                if let Some(point) = series.points.iter().find(|point| nan(point)) {
                    return Err(format!("panel {title:?}: series {:?} holds {point:?}", series.name));
                }
                names.insert(series.name.clone());
                if series.averaged {
                    averaged.insert(series.name.clone());
                }
            }
            match &panel.content {
                Content::HeatMap { matrix, .. } => {
                    kind::require_honest(&matrix.name, matrix.kind)?;
                    matrix.validate().map_err(|e| format!("panel {title:?}: {e}"))?;
                    names.insert(matrix.name.clone());
                }
                Content::Drawing { drawing, .. } => {
                    kind::require_honest(&drawing.name, drawing.kind)?;
                    drawing.validate().map_err(|e| format!("panel {title:?}: {e}"))?;
                    names.insert(drawing.name.clone());
                }
                Content::Curves { .. } | Content::Dots { .. } | Content::Table { .. } => {}
            }
        }
        for check in &self.checks {
            let named = check.names().unwrap_or_default();
            if let Some(missing) = named.iter().find(|&&name| !name.is_empty() && !names.contains(name)) {
                return Err(format!("a check names the series {missing:?}, which no panel has"));
            }
            if let Some(name) = named.iter().find(|&&name| averaged.contains(name)) {
                return Err(format!(
                    "a check names {name:?}, which averages runs: give it their values as samples"
                ));
            }
            if let Some(missing) = check.samples().find(|&name| !self.samples.contains_key(name)) {
                return Err(format!("a check names the sample {missing:?}, which is not there"));
            }
        }
        view::validate(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No value is NaN: neither a coordinate nor an end of a range.
    #[test]
    fn values_that_are_no_numbers_are_refused() {
        let checked = |[x, y, low, high]: [f64; 4]| {
            let series = Series::data("s").ranged(0.0, 1.0, 0.5, 1.5).ranged(x, y, low, high);
            let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with(series);
            Figure::new("t").panel(panel).validate()
        };
        let good = [1.0, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(checked(good), Ok(()));
        for k in 0..4 {
            let mut bad = good;
            bad[k] = f64::NAN;
            assert!(checked(bad).unwrap_err().starts_with("panel \"p\": series \"s\" holds Point"), "{k}");
        }
    }
}
