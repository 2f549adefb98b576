//! Under which of two data sets a loss is taken.

/// Which of two neighboring data sets the law is taken under. The guarantee of a relation that does not name
/// an order needs both.
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
    /// The law of the loss is under the data set that has the record more; of a finite pair, under its first
    /// law.
    Remove,
    /// Under the data set without the record; of a finite pair, under its second law.
    Add,
}
