//! Walks on which every node contributes the same data at each of its visits.
//!
//! What an observer who does not know the path sees of one step is then independent of all that it saw
//! before: the holder is drawn afresh, and nothing depends on how often it was visited earlier. Only so do
//! steps compose ([`steps`](super::steps)), or receptions at one `ε` each. With contributions that depend on
//! the number of the visit, of the exposed node *or of any other*, the tokens seen so far say something about
//! these numbers, and the composed guarantee is false: three nodes, ten receptions after one foreign step
//! each, binary randomized response of `ε₀ = 1/2`, the third node changing its label after four visits:
//! .00155 is claimed at `ε = 2.247`, .00177 is true. A cap is such a dependence too.
//!
//! The loss averaged over the walk ([`CompleteWalk::epsilon`]) and the local guarantee need none of this.

use super::CompleteWalk;
use ndp_account::Error;

/// A uniform walk on which every node contributes the same data at each of its visits, without a cap: the
/// walks for which the secrecy of the path protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantWalk {
    walk: CompleteWalk,
}

impl CompleteWalk {
    /// The same walk, for protocols whose data are constant per node: whoever calls this answers for the
    /// data, as [`CompleteSum::constant_data`](super::CompleteSum::constant_data) and
    /// [`CompleteHistogram::run`](super::CompleteHistogram::run) do.
    #[must_use]
    pub(crate) const fn with_constant_data(self) -> ConstantWalk {
        ConstantWalk { walk: self }
    }
}

impl ConstantWalk {
    /// The walk.
    #[must_use]
    pub(crate) const fn walk(&self) -> CompleteWalk {
        self.walk
    }
}

/// Nothing unless a cap may keep a node of `walk` from contributing.
pub(crate) fn require_no_caps(walk: CompleteWalk) -> Result<(), Error> {
    if walk.options().may_bind(walk.step_count()) {
        Err(Error::NoGuarantee(
            "a cap makes contributions depend on earlier visits, which the secrecy of the path does not cover",
        ))
    } else {
        Ok(())
    }
}
