//! Axes of panels, and scales of colours.

use serde::Serialize;

/// How an axis is scaled.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Axis, AxisScale};
/// assert_eq!(Axis::log("unit loss").scale, AxisScale::Log);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisScale {
    /// Equal steps.
    Linear,
    /// Equal ratios. Values that are not positive are marked on the lower edge.
    Log,
}

/// Label, scale and drawn range of an axis, or of the colours of a panel.
///
/// # Examples
/// ```
/// use ndp_report::figure::Axis;
/// // From a thousandth up to the largest value there is.
/// let losses = Axis::log("unit loss").range(1e-3, f64::INFINITY);
/// assert_eq!(losses.range, Some([1e-3, f64::INFINITY]));
/// assert_eq!(Axis::named(vec!["gossip".into(), "ring".into()]).range, Some([1.5, -0.5]));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How it is scaled.
    pub scale: AxisScale,
    /// The drawn range; if absent, it follows from the data. If one end is infinite, the other end is only a
    /// limit. A point beyond the range is drawn as an arrow on the edge, with its number. The CSV is never
    /// clipped.
    pub range: Option<[f64; 2]>,
    /// For the colours of a panel: finite values above this one have its colour, and the colour bar says so.
    /// The CSV is never clipped.
    pub most: Option<f64>,
    /// For a vertical axis, names to show instead of the numbers 0, 1, 2, …, from the top down; empty on
    /// other axes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Of an axis with names: whether the points beside a name are joined by a line, because they are the
    /// same quantity found in several ways.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
}

impl Axis {
    /// An axis of equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: AxisScale::Linear,
            range: None,
            most: None,
            names: Vec::new(),
            joined: false,
        }
    }

    /// An axis of equal ratios.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: AxisScale::Log, ..Self::linear(label) }
    }

    /// A vertical axis with a name at each of the places 0, 1, 2, …, from the top down.
    #[must_use]
    pub fn named(names: Vec<String>) -> Self {
        let range = Some([names.len() as f64 - 0.5, -0.5]);
        Self { range, names, ..Self::linear("") }
    }

    /// The same axis of names, with a line that joins the points beside each name.
    pub(crate) fn joined(mut self) -> Self {
        self.joined = true;
        self
    }

    /// The same axis with a fixed drawn range.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }

    /// The same scale of colours; finite values above `most` have the colour of `most`.
    #[must_use]
    pub fn colored_to(mut self, most: f64) -> Self {
        self.most = Some(most);
        self
    }
}
