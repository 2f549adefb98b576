//! Published noise levels, kept to reproduce published curves. None of them is a guarantee.

use crate::sgd::positive;
use ndp_account::Error;
use ndp_dp::{NoiseMultiplier, Order, Printed};

/// The noise, in units of the sensitivity, at which the published mean loss of a walk of `steps` steps is `target`:
/// `σ² = α T ln T / (n² · target)`.
///
/// The log matrix of Theorem 3 of *Differentially Private Decentralized Learning with Random Walks* sums to 0 over a
/// row, so only `α T ln T/(σ² n²)` is left of the mean, on every graph. The theorem adds up losses of contributions
/// that are observed together, which is false.
///
/// # Errors
/// [`Error::InvalidParameter`] unless target, users and `ln T` are positive.
pub fn walk_noise_for_mean_loss(
    target: f64,
    order: Order,
    users: usize,
    steps: usize,
) -> Result<Printed<NoiseMultiplier>, Error> {
    positive("the mean loss", target)?;
    positive("the number of users", users as f64)?;
    let (n, t) = (users as f64, steps as f64);
    positive("the logarithm of the number of steps", t.ln())?;
    Ok(Printed::new(NoiseMultiplier::new((order.get() * t * t.ln() / (n * n * target)).sqrt())?))
}

/// The noise, in units of the sensitivity, at which the published mean loss of `rounds` rounds of Muffliato-SGD is
/// `target`: every round is charged `min(1, K d / n)` local losses, `K` gossip steps with mean degree `d`.
///
/// Charging the rounds one by one ignores what other nodes carry from round to round.
///
/// # Errors
/// [`Error::InvalidParameter`] unless target, users and rounds are positive and `messages` is at least 0.
pub fn gossip_noise_for_mean_loss(
    target: f64,
    order: Order,
    users: usize,
    rounds: usize,
    messages: f64,
) -> Result<Printed<NoiseMultiplier>, Error> {
    positive("the mean loss", target)?;
    positive("the number of users", users as f64)?;
    positive("the number of rounds", rounds as f64)?;
    positive("the number of messages per round", messages)?;
    let unit = (messages / users as f64).min(1.0);
    Ok(Printed::new(NoiseMultiplier::new((order.get() / 2.0 * rounds as f64 * unit / target).sqrt())?))
}
