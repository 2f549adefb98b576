//! [`Enclosed`]: a number between two proven ends.

use super::answers::Ends;
use crate::{Exact, Guarantee, UpperBound};

/// A number that lies between two proven ends. The upper end is the guarantee.
///
/// The guarantee is [`Exact`] if the ends agree within a relative 1e-9 and every pair is attained by its
/// mechanism; otherwise it is an [`UpperBound`].
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

    /// A number that was shown to lie between `lower` and `upper`. `attained` says whether the lower end also
    /// holds for what is released, and not only for pairs of laws that dominate it.
    #[must_use]
    pub fn between(lower: f64, upper: f64, attained: bool) -> Self {
        Self::new(Ends { lower, upper }, attained)
    }

    /// The lower end: for the pairs of the law the number is not smaller. If the pairs merely dominate the
    /// release, its own loss may be below this end.
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

/// The relative distance up to which two ends count as the same number.
const AGREE: f64 = 1e-9;
