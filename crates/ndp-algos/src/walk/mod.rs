//! Token walks: a token goes from node to node, and each node adds to it.
//!
//! | what does it cost, if a token | answer | grade |
//! |---|---|---|
//! | goes around a fixed ring several times, for sums and histograms? | [`ring`] | exact for sums, upper bound for histograms |
//! | jumps between all nodes, for sums and histograms? | [`complete`] | upper bound |
//! | walks on the edges of a graph, for running averages? | [`graph`] | upper bound |
//! | carries a sum on a ring or on the complete graph, with noise of any law? | [`ReleasedSum`] | upper bound
//! |
//! | took a path that is known? | [`OnPath`], [`Path::cost`] | exact |
//!
//! A run is plain data ([`SumRun`], [`HistogramRun`], [`graph::AveragingRun`]); its documentation says which
//! parts of it a node sees.
//!
//! In all of them, the contributions of *all* nodes are fixed before the run. They are functions of the node
//! and the number of its visit, never of the token, and the signatures enforce this. A node that reacted to
//! the noise already in the token would make every guarantee here false.
//!
//! A node sees the tokens that it receives. Handing the final token to the nodes is one more observation:
//! [`FinalToken`] says whether it happens, and every accountant takes it into account.
//!
//! # References
//! Cyffers and Bellet, *Privacy amplification by decentralization*, AISTATS 2022, arXiv:2012.05326.

mod alike;
mod attacks;
pub mod complete;
pub mod graph;
mod histogram;
mod linear_sum;
mod noise;
mod path;
mod released;
pub mod ring;
mod run;
mod tabulated;

pub(crate) use histogram::HistogramEstimator;
use ndp_account::parts::ensure;
use ndp_account::{Assumption, Changes, Error, Terms};
#[cfg(test)]
pub(crate) use noise::LAWS;
pub use noise::{Bounds, NoiseLaw, TokenNoise};
pub(crate) use noise::{GaussianLaw, other_laws};
pub use path::{OnPath, Path};
pub use released::ReleasedSum;
pub use run::{HistogramRun, SumRun};
use serde::{Deserialize, Serialize};

/// What becomes of the token after the last step.
///
/// # Examples
/// ```
/// use ndp_algos::walk::FinalToken;
/// assert_eq!(FinalToken::default(), FinalToken::Withheld);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinalToken {
    /// It stays with the last node: nobody else learns the result.
    #[default]
    Withheld,
    /// It is handed to every node as it is.
    Published,
    /// The last node adds noise to its own last steps (each protocol says how), and then hands it to every
    /// node.
    Masked,
}

impl FinalToken {
    /// Whether every node gets the token, masked or not.
    pub(crate) const fn is_shown(self) -> bool {
        !matches!(self, Self::Withheld)
    }

    /// The terms of an account of a walk that ends so: the last holder must not hand out a token that it
    /// keeps.
    pub(crate) const fn kept(self, terms: Terms) -> Terms {
        if self.is_shown() { terms } else { terms.trusting(Assumption::NothingPublished) }
    }

    /// Whether every node learns the token, for protocols without a rule for masking it.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] with this `reason` if it is masked.
    pub(crate) const fn unmasked(self, reason: &'static str) -> Result<bool, Error> {
        match self {
            Self::Withheld | Self::Published => Ok(self.is_shown()),
            Self::Masked => Err(Error::NoGuarantee(reason)),
        }
    }
}

/// A node may contribute many times, each time with new noise, and does not react to the token.
const EVERY_CONTRIBUTION: Terms = Terms { changes: Changes::EveryContribution, ..Terms::VALUES }
    .on("every contribution")
    .trusting(Assumption::Fixed);

/// Why the token is not masked on a graph, and on a path.
const NO_MASK_ON_A_GRAPH: &str = "there is no rule for masking the final token on a graph";
const NO_MASK_ON_A_PATH: &str = "there is no rule for masking the final token on a path";

/// Checks that somebody observes, and that somebody else is exposed.
fn require_honest(colluders: usize, nodes: usize) -> Result<(), Error> {
    let condition = "be at least 1 and below the number of nodes";
    ensure((1..nodes).contains(&colluders), "the number of colluders", condition, colluders as f64)
}
