//! A figure as plain data: what is written to CSV and JSON, and all that a picture is drawn from.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// How large a figure is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// The parameters of the paper.
    Paper,
    /// Small enough that all figures together take less than a minute.
    Quick,
}

/// What a series may be used for: a privacy grade, or no privacy claim at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Kind {
    /// A privacy number of this grade.
    Graded(ndp_dp::Grade),
    /// No privacy claim: accuracies, errors, the data themselves. Written `data`.
    #[serde(serialize_with = "serialize_data")]
    Data,
}

fn serialize_data<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("data")
}

/// One point of a curve, with the range it stands for (minimum and maximum, or an interval).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// Lower end of the range, if there is one.
    pub low: Option<f64>,
    /// Upper end of the range, if there is one.
    pub high: Option<f64>,
}

/// A named curve of one panel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Title of the panel it is drawn in.
    pub panel: String,
    /// Its name in the legend and the CSV.
    pub name: String,
    /// What it may be used for.
    pub kind: Kind,
    /// The points, in drawing order.
    pub points: Vec<Point>,
}

/// An entry of a matrix or of a drawing, for `panel,series,grade,row,column,value` tables.
///
/// A drawing of a graph with coloured nodes stores per node `v` the rows `(v, 0)` = horizontal
/// position, `(v, 1)` = vertical position, `(v, 2)` = colour value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    /// Title of the panel it is drawn in.
    pub panel: String,
    /// Its name in the CSV.
    pub name: String,
    /// What it may be used for.
    pub kind: Kind,
    /// Entries row by row.
    pub values: ndarray::Array2<f64>,
    /// Edges to draw, for a drawing of a graph; empty for a heat map.
    pub edges: Vec<(usize, usize)>,
}

/// How an axis is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisScale {
    /// Equal steps.
    Linear,
    /// Equal ratios.
    Log,
}

/// Label, scale and (if fixed) range of an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How it is scaled.
    pub scale: AxisScale,
    /// Drawn range; by the data if absent. The CSV is never clipped.
    pub range: Option<[f64; 2]>,
}

/// What a figure shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Content {
    /// Curves, in one or several panels.
    Curves {
        /// Horizontal axis of every panel.
        x: Axis,
        /// Vertical axis of every panel.
        y: Axis,
        /// The curves.
        series: Vec<Series>,
    },
    /// Heat maps or graph drawings, in one or several panels.
    Matrices {
        /// Label of the colour bar.
        label: String,
        /// Scale and range of the colours.
        color: Axis,
        /// The matrices.
        matrices: Vec<Matrix>,
    },
    /// A table: rows in `series` order, drawn as text; the CSV is that of its curves.
    Table {
        /// Column headers.
        headers: Vec<String>,
        /// Cells, row by row.
        rows: Vec<Vec<String>>,
        /// The same numbers as series, for the CSV.
        series: Vec<Series>,
    },
}

/// A finished figure. The papers' claim beside what is true is told in words by the fields below.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Title, drawn above the picture; stand-in data are named here.
    pub title: String,
    /// Every parameter, by name.
    pub parameters: BTreeMap<String, Value>,
    /// Numbers about the result that are not in the CSV (times, correlations), by name.
    pub notes: BTreeMap<String, Value>,
    /// What the paper claims with this figure, in one sentence.
    pub claim: String,
    /// What is true, and known deviations from the paper, in sentences.
    pub findings: Vec<String>,
    /// The picture and the table.
    pub content: Content,
    /// Whether the figure was computed on real data, a stand-in, or needs none.
    pub provenance: Vec<Provenance>,
}

/// Where a data set came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// Which data set.
    pub name: String,
    /// Whether it is the real one; a stand-in is never compared with a reference.
    pub real: bool,
    /// Hash of the parsed content.
    pub sha256: String,
}
