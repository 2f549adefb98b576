//! Walks on which every node contributes the same data at each of its visits.
//!
//! For an observer who does not know the path, what it sees of one step is then independent of everything
//! that it saw before: the holder is drawn afresh, and nothing depends on how often it was visited earlier.
//! Only under this condition do steps compose ([`steps`](super::steps)), or receptions at one `ε` each. If
//! contributions depend on the number of the visit, be they those of the exposed node *or of any other*, the
//! tokens seen so far reveal something about these numbers, and the composed guarantee is false. An example:
//! three nodes, ten receptions after one foreign step each, binary randomized response of `ε₀ = 1/2`, and the
//! third node changes its label after four visits. At `ε = 2.247` the composition claims .00155, and the
//! truth is .00177. A cap is a dependence of this kind, too.
//!
//! The loss averaged over the walk ([`CompleteWalk::epsilon`]) and the local guarantee do not need this
//! condition.

use super::CompleteWalk;
use ndp_account::Error;

/// A uniform walk without a cap, on which every node contributes the same data at each of its visits: a walk
/// for which the secrecy of the path gives protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantWalk {
    walk: CompleteWalk,
}

impl CompleteWalk {
    /// The same walk, for protocols whose data are constant per node. The caller must make sure of this, as
    /// [`CompleteSum::constant_data`](super::CompleteSum::constant_data) and
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

/// An error if a cap may keep a node of `walk` from contributing.
pub(crate) fn require_no_caps(walk: CompleteWalk) -> Result<(), Error> {
    if walk.options().may_bind(walk.step_count()) {
        Err(Error::NoGuarantee(
            "a cap makes contributions depend on earlier visits, which the secrecy of the path does not cover",
        ))
    } else {
        Ok(())
    }
}
