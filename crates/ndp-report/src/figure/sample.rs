//! Values of single runs, which comparisons are decided from.

use super::Kind;
use serde::{Deserialize, Serialize};

/// One value per run: an accuracy, a number of steps, a loss. They are kept beside the picture, which shows
/// their mean.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Figure, Kind};
/// let figure = Figure::new("runs").sample("objective", Kind::Data, vec![0.3, 0.4]);
/// assert_eq!(figure.samples["objective"].values, [0.3, 0.4]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The kind of the values; for an accuracy, the grade of the noise at the stated budget.
    pub kind: Kind,
    /// The values, run by run. Samples that are compared have their runs in the same order.
    pub values: Vec<f64>,
}
