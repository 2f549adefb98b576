//! Published noise levels, kept to reproduce published curves. None of them is a guarantee.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_algos::parts::positive;
use ndp_dp::{NoiseMultiplier, Order, Printed};

/// The noise, in units of the sensitivity, at which the published mean loss of a walk of `steps` steps is
/// `target`: `σ² = α T ln T / (n² · target)`.
///
/// Every row of the log matrix of Theorem 3 of *Differentially Private Decentralized Learning with Random
/// Walks* sums to 0, so only `α T ln T/(σ² n²)` is left of the mean, on every graph. The theorem adds up
/// losses of contributions that are observed together, which is false.
///
/// # Errors
/// [`Error::InvalidParameter`] unless target and users are positive and `T ≥ 2`.
pub fn walk_noise_for_mean_loss(
    target: f64,
    order: Order,
    users: usize,
    steps: usize,
) -> Result<Printed<NoiseMultiplier>, Error> {
    positive("the mean loss", target)?;
    positive("the number of users", users as f64)?;
    let (n, t) = (users as f64, steps as f64);
    ensure(steps >= 2, "the number of steps", "be at least 2", t)?;
    Ok(Printed::new(NoiseMultiplier::new((order.get() * t * t.ln() / (n * n * target)).sqrt())?))
}

/// The noise, in units of the sensitivity, at which the published mean loss of `rounds` rounds of
/// Muffliato-SGD is `target`: every round is charged `min(1, K d / n)` local losses, `K` gossip steps with
/// mean degree `d`.
///
/// Charging the rounds one by one ignores what other nodes carry over from round to round.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network;
    use ndp_dp::Delta;

    #[test]
    fn noises_are_those_published() -> Result<(), Error> {
        // Table 1: T ln T / n² at order 2, and K d / n per round.
        let order = Order::new(2.0)?;
        let walk = walk_noise_for_mean_loss(1.0, order, 2048, 20_480)?.into_value();
        assert!((walk.get().powi(2) - 2.0 * 20_480.0 * 20_480f64.ln() / 2048.0 / 2048.0).abs() < 1e-12);
        let gossip = gossip_noise_for_mean_loss(0.5, order, 2048, 10, 19.0 * 11.0)?.into_value();
        assert!((gossip.get().powi(2) - 20.0 * 19.0 * 11.0 / 2048.0).abs() < 1e-12);
        let capped = gossip_noise_for_mean_loss(0.5, order, 10, 10, 100.0)?.into_value();
        assert!((capped.get().powi(2) - 20.0).abs() < 1e-12);
        let short = walk_noise_for_mean_loss(1.0, order, 10, 1);
        assert!(matches!(short, Err(Error::InvalidParameter { name: "the number of steps", .. })));
        Ok(())
    }

    /// The noise that Lemma 1 and the authors' central formula require at the same budgets.
    #[test]
    fn printed_noise_levels_of_the_experiment() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for (epsilon, lemma_1, central) in [(10.0, 2.579, 1.742), (1.0, 20.36, 17.42)] {
            let sigma = network::network_sigma(12.0, 1.0, 2000.0, (epsilon, delta))?.into_value().get();
            assert!((sigma / lemma_1 - 1.0).abs() < 3e-4, "{sigma} is not {lemma_1}");
            let sigma = network::central_sigma(1.0, 2000.0, 20_000.0, (epsilon, delta))?.into_value().get();
            assert!((sigma / central - 1.0).abs() < 3e-4, "{sigma} is not {central}");
        }
        Ok(())
    }
}
