//! Losses of linear Gaussian views, as the library reports them.

use ndp_account::{Error, LinearProtocol, LossReport, OwnNoise, View};
use ndp_algos::gossip::{self, ExactOptions};
use ndp_certify::Error as Certify;
use ndp_dp::{Grade, Guarantee};
use ndp_graph::{GossipMatrix, GossipSequence};

/// What the library reports about a view or a protocol.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    /// Whether the grade is `Exact`.
    pub(crate) exact: bool,
    /// The reported loss of every node.
    pub(crate) upper: Vec<f64>,
    /// Proven lower ends, if there are any.
    pub(crate) lower: Option<Vec<f64>>,
    /// The dimension of the space that the observer sees, including the noises it knows.
    pub(crate) rank: usize,
    /// The mean over all nodes of the losses of the nodes outside the coalition.
    pub(crate) mean: Mean,
}

/// A mean, and whether it is `Exact`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean {
    pub(crate) value: f64,
    pub(crate) exact: bool,
}

impl From<&Guarantee<f64>> for Mean {
    fn from(mean: &Guarantee<f64>) -> Self {
        Self { value: *mean.value(), exact: mean.grade() == Grade::Exact }
    }
}

impl From<LossReport> for Reported {
    fn from(report: LossReport) -> Self {
        Self {
            exact: report.loss.grade() == Grade::Exact,
            upper: report.loss.value().unit.clone(),
            lower: Some(report.lower.clone()),
            rank: report.rank,
            mean: Mean::from(&report.mean()),
        }
    }
}

/// Whether this is a documented refusal that has nothing to do with privacy: the problem is too large, or the
/// result could not be certified.
pub(crate) fn may_refuse(error: &Error) -> bool {
    matches!(
        error,
        Error::Certify(Certify::TooLarge { .. } | Certify::NotCertified { .. })
            | Error::Graph(ndp_graph::Error::TooLarge { .. })
    )
}

/// The report on a view that is written out.
pub(crate) fn view(view: &View) -> Result<Reported, Error> {
    ndp_account::loss::exact_loss(view).map(Reported::from)
}

/// The report on any protocol.
pub(crate) fn protocol(protocol: &dyn LinearProtocol, coalition: &[usize]) -> Result<Reported, Error> {
    protocol.coalition_loss(coalition).map(Reported::from)
}

/// The report on any protocol, towards an outsider who taps edges.
pub(crate) fn overheard(protocol: &dyn LinearProtocol, tapped: &[(usize, usize)]) -> Result<Reported, Error> {
    protocol.overheard_loss(tapped).map(Reported::from)
}

/// The report on gossip with a fixed matrix.
pub(crate) fn fixed(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    own_noise: OwnNoise,
) -> Result<Reported, Error> {
    let options = ExactOptions { own_noise, ..ExactOptions::default() };
    gossip::exact_loss((matrix, rounds), coalition, options).map(Reported::from)
}

/// The report on gossip over changing connections.
pub(crate) fn sequence(
    sequence: &GossipSequence,
    coalition: &[usize],
    own_noise: OwnNoise,
) -> Result<Reported, Error> {
    let options = ExactOptions { own_noise, ..ExactOptions::default() };
    gossip::exact_loss(sequence, coalition, options).map(Reported::from)
}

/// The mean loss after each step.
pub(crate) fn mean_by_step(sequence: &GossipSequence, observer: usize) -> Result<Vec<Mean>, Error> {
    let means = gossip::mean_loss_by_step(sequence, observer)?;
    Ok(means.by_step.iter().map(|mean| Mean { value: *mean.value(), exact: true }).collect())
}
