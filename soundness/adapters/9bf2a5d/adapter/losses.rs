//! Losses of linear Gaussian views.

use ndp_algos::{Error, LossReport, View};

/// What the library says of a view or a protocol.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "for the parts to come")]
pub(crate) struct Reported {
    /// Whether the grade is `Exact`.
    pub(crate) exact: bool,
    /// What is reported of every node.
    pub(crate) upper: Vec<f64>,
    /// Proven lower ends, where there are some.
    pub(crate) lower: Option<Vec<f64>>,
    /// The dimension of what is seen.
    pub(crate) rank: usize,
}

fn reported(report: &LossReport) -> Reported {
    Reported {
        exact: report.loss.grade() == ndp_dp::Grade::Exact,
        upper: report.loss.value().unit.clone(),
        lower: None,
        rank: report.rank,
    }
}

pub(crate) fn view(view: &View) -> Result<Reported, Error> {
    ndp_algos::loss::exact_loss(view).map(|report| reported(&report))
}
