//! The data set under which a loss is taken.

/// Under which of two neighboring data sets the law of the loss is taken. A relation without a fixed order of
/// the two data sets needs the guarantee in both directions.
///
/// # Examples
/// ```
/// use ndp_dp::loss_law::Direction;
/// use ndp_dp::{Delta, Gaussian, LossLaw, Sensitivity, Sigma};
/// let step = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
/// let law = LossLaw::sampled_gaussian(step, 0.01)?.times(100)?;
/// let delta = Delta::new(1e-6)?;
/// let (remove, add) = (law.clone().only(Direction::Remove)?, law.clone().only(Direction::Add)?);
/// assert_eq!(law.epsilon(delta).upper(), f64::max(remove.epsilon(delta).upper(), add.epsilon(delta).upper()));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Under the data set with the additional record; for a finite pair, under its first law.
    Remove,
    /// Under the data set without that record; for a finite pair, under its second law.
    Add,
}
