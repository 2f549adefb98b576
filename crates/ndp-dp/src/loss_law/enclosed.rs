//! [`Enclosed`]: a number between two proven ends.

use super::answers::Ends;
use crate::{Exact, Guarantee, UpperBound};

/// A number that lies between two proven ends, of which the upper one is the guarantee.
///
/// The guarantee is [`Exact`] where the ends agree to 1e-9, relative, and every pair is attained; otherwise
/// it is an [`UpperBound`].
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Grade, Laplace, LossLaw, Neighbors, Sensitivity};
/// let release = Laplace::new(Sensitivity::new(1.0)?, 2.0)?;
/// let one = LossLaw::laplace(release, Neighbors::ReplaceOne);
/// assert_eq!(one.epsilon(Delta::new(1e-3)?).guarantee().grade(), Grade::Exact);
/// let many = one.times(16)?.epsilon(Delta::new(1e-3)?);
/// assert_eq!(many.guarantee().grade(), Grade::UpperBound);
/// assert!(many.lower() < 6.297_45 && many.upper() < many.lower() + 1e-4);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosed {
    lower: f64,
    guarantee: Guarantee<f64>,
}

impl Enclosed {
    pub(super) fn new(ends: Ends, exact: bool) -> Self {
        let agree = ends.upper == ends.lower || ends.upper - ends.lower <= AGREE * ends.lower;
        let guarantee =
            if exact && agree { Exact::new(ends.upper).into() } else { UpperBound::new(ends.upper).into() };
        Self { lower: ends.lower.min(ends.upper), guarantee }
    }

    /// A number that was shown to lie between `lower` and `upper`; `attained` says whether the lower end is
    /// one of what is released, too, and not only of pairs that dominate it.
    #[must_use]
    pub fn between(lower: f64, upper: f64, attained: bool) -> Self {
        Self::new(Ends { lower, upper }, attained)
    }

    /// The lower end: the number itself, for the pairs of the law, is not smaller. What is released may lose
    /// less where they only dominate it.
    #[must_use]
    pub const fn lower(&self) -> f64 {
        self.lower
    }

    /// The upper end.
    #[must_use]
    pub const fn upper(&self) -> f64 {
        *self.guarantee.value()
    }

    /// The upper end with its grade.
    #[must_use]
    pub const fn guarantee(&self) -> Guarantee<f64> {
        self.guarantee
    }
}

/// How near two ends are that count as one number, relative.
const AGREE: f64 = 1e-9;
