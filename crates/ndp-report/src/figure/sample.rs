//! Values of single runs, from which comparisons are decided.

use super::Kind;
use serde::{Deserialize, Serialize};

/// One value per run: an accuracy, a number of steps, a loss. They are kept beside the picture, which shows their mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// What the values rest on: of an accuracy, the grade of the noise at the stated budget.
    pub kind: Kind,
    /// The values, run by run. Samples that are compared have their runs in the same order.
    pub values: Vec<f64>,
}
