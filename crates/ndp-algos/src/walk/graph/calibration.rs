//! The least noise for a target loss, for any accountant of a walk.
//!
//! An evaluation of the renewal accountant costs milliseconds, so the search goes by regula falsi on
//! the logarithms, where losses are nearly straight lines, and needs about ten. The noise returned
//! is one at which the accountant was seen to stay within the target; monotonicity makes it the
//! least one, but the guarantee does not depend on it.

use super::{LocalLoss, renewal};
use crate::Error;
use ndp_dp::{NoiseMultiplier, Order, UpperBound};
use ndp_graph::hitting::PairLaws;
use rayon::prelude::*;

/// A noise multiplier and the loss that the accountant was seen to give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibratedNoise {
    /// The noise multiplier.
    pub noise: NoiseMultiplier,
    /// The loss, at most the target.
    pub reached: UpperBound<f64>,
}

/// Over which pairs the target is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The mean of the losses of the given pairs.
    Mean,
    /// The largest loss of the given pairs.
    Worst,
}

/// The least noise, within a relative `1e-9`, at which the mean or the largest loss of the given pairs
/// is at most `target` nats at `order`.
///
/// `laws` are those of the pairs, mostly a sample: the statement is about these pairs alone. With a
/// cap, the best bound for capped contributions is used. Pairs are accounted for in parallel; the
/// result does not depend on the number of threads.
///
/// # Errors
/// [`Error::InvalidParameter`] for no pair, a cap of 0, a target that is not positive and finite, or
/// one that no noise meets.
pub fn for_pairs(
    target: f64,
    order: Order,
    laws: &[PairLaws],
    cap: Option<usize>,
    over: Over,
) -> Result<CalibratedNoise, Error> {
    if laws.is_empty() {
        return Err(Error::InvalidParameter {
            name: "the number of pairs",
            condition: "be at least 1",
            value: 0.0,
        });
    }
    smallest_noise(target, |noise| {
        let local = LocalLoss::new(order, noise);
        let losses = laws
            .par_iter()
            .map(|laws| match cap {
                None => Ok(renewal::loss(laws, local).into_value()),
                Some(cap) => renewal::capped_loss(laws, local, cap).map(UpperBound::into_value),
            })
            .collect::<Result<Vec<f64>, Error>>()?;
        Ok(UpperBound::new(match over {
            Over::Worst => losses.into_iter().fold(0.0, f64::max),
            Over::Mean => {
                let rounding = 1.0 + (losses.len() + 2) as f64 * f64::EPSILON;
                losses.iter().sum::<f64>() / losses.len() as f64 * rounding
            }
        }))
    })
}

/// The least noise, within a relative `1e-9`, at which `account` stays within `target`.
///
/// # Errors
/// Those of `account`; [`Error::InvalidParameter`] for a target that is not positive and finite, or one
/// that no noise up to `1e150` meets.
pub(crate) fn smallest_noise(
    target: f64,
    mut account: impl FnMut(NoiseMultiplier) -> Result<UpperBound<f64>, Error>,
) -> Result<CalibratedNoise, Error> {
    if !(0.0 < target && target.is_finite()) {
        return Err(Error::InvalidParameter {
            name: "the target loss",
            condition: "be positive and finite",
            value: target,
        });
    }
    // At x = ln σ: what was found, and by how much it misses, on a logarithmic scale.
    let mut at = |x: f64| -> Result<(CalibratedNoise, f64), Error> {
        let noise = NoiseMultiplier::new(x.exp())?;
        let reached = account(noise)?;
        let excess = reached.value() / target;
        // NaN is a miss; a hit must not be rounded into one.
        let miss = if *reached.value() <= target { excess.ln().min(0.0) } else { excess.ln().max(1e-300) };
        Ok((CalibratedNoise { noise, reached }, miss))
    };
    let mut x = 0.0;
    let (mut found, mut miss) = at(x)?;
    // Losses fall like σ^-2 or faster: step a little beyond where that would lead.
    let mut fails: Option<(f64, f64)> = None;
    let mut holds: Option<(f64, f64)> = None;
    let mut best = None;
    loop {
        if miss <= 0.0 {
            holds = Some((x, miss));
            best = Some(found);
        } else {
            fails = Some((x, miss));
        }
        if fails.is_some() && holds.is_some() {
            break;
        }
        x += (0.5 * miss).clamp(-LONGEST_STEP, LONGEST_STEP) + if miss <= 0.0 { -0.1 } else { 0.1 };
        if x > LARGEST_LOG {
            return Err(Error::InvalidParameter {
                name: "the target loss",
                condition: "be met by some noise multiplier up to 1e150",
                value: target,
            });
        }
        if x < -LARGEST_LOG {
            break;
        }
        (found, miss) = at(x)?;
    }
    let mut side = 0;
    let mut last = miss;
    while let (Some((low, above)), Some((high, below))) = (fails, holds) {
        if high - low <= 1e-9 || (-CLOSE..=0.0).contains(&last) {
            break;
        }
        // Illinois: an end that stays is weighed less. The aim is just inside; halve where the chord
        // says nothing.
        let chord = low + (high - low) * (above + 0.5 * CLOSE) / (above - below);
        let inside = low < chord && chord < high;
        let x = if inside { chord } else { low + (high - low) / 2.0 };
        let (found, miss) = at(x)?;
        last = miss;
        if miss <= 0.0 {
            (holds, best) = (Some((x, miss)), Some(found));
            if side == 1 {
                fails = Some((low, above / 2.0));
            }
            side = 1;
        } else {
            fails = Some((x, miss));
            if side == -1 {
                holds = Some((high, below / 2.0));
            }
            side = -1;
        }
    }
    best.ok_or(Error::InvalidParameter {
        name: "the target loss",
        condition: "be met by some noise multiplier up to 1e150",
        value: target,
    })
}

/// Longest step of the search on `ln σ`, and its range.
const LONGEST_STEP: f64 = 5.0;
const LARGEST_LOG: f64 = 345.0;
/// A loss that is below its target by this share of it is close enough.
const CLOSE: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::GossipMatrix;
    use ndp_graph::generators::grid_2d_graph;
    use ndp_graph::hitting::{Start, Walk};

    fn order() -> Order {
        Order::new(2.0).unwrap()
    }

    #[test]
    fn a_known_curve_is_inverted_in_few_steps() -> Result<(), Error> {
        for target in [1e-9, 0.3, 7.0, 1e6] {
            let mut evaluations = 0;
            let found = smallest_noise(target, |noise| {
                evaluations += 1;
                Ok(UpperBound::new(LocalLoss::new(order(), noise).cost()))
            })?;
            let expected = target.sqrt().recip();
            assert!(
                found.noise.get() >= expected * (1.0 - 1e-15) && found.noise.get() <= expected * (1.0 + 2e-9)
            );
            assert!(*found.reached.value() <= target);
            assert!(evaluations <= 20, "{evaluations} evaluations");
        }
        Ok(())
    }

    #[test]
    fn the_noise_meets_its_target_and_a_little_less_does_not() -> Result<(), Error> {
        let w = GossipMatrix::metropolis(&grid_2d_graph(3, 4)?);
        let walk = Walk::from(&w);
        let laws = [(0, 11), (5, 6), (2, 9)]
            .into_iter()
            .map(|(u, v)| walk.pair_laws(u, v, &Start::Uniform, 60))
            .collect::<Result<Vec<_>, _>>()?;
        for (target, cap, over) in [
            (0.5, None, Over::Mean),
            (0.5, None, Over::Worst),
            (0.05, Some(3), Over::Worst),
            (2.0, Some(3), Over::Mean),
        ] {
            let found = for_pairs(target, order(), &laws, cap, over)?;
            let loss = |sigma: f64| -> f64 {
                let local = LocalLoss::new(order(), NoiseMultiplier::new(sigma).unwrap());
                let losses = laws.iter().map(|laws| match cap {
                    None => *renewal::loss(laws, local).value(),
                    Some(cap) => *renewal::capped_loss(laws, local, cap).unwrap().value(),
                });
                if over == Over::Mean { losses.sum::<f64>() / 3.0 } else { losses.fold(0.0, f64::max) }
            };
            assert!(loss(found.noise.get()) <= target && *found.reached.value() <= target);
            assert!(loss(found.noise.get() * (1.0 - 1e-8)) > target);
        }
        Ok(())
    }

    #[test]
    fn jumps_and_unreachable_targets() {
        let stairs = |noise: NoiseMultiplier| Ok(UpperBound::new(if noise.get() < 3.0 { 5.0 } else { 1.0 }));
        let found = smallest_noise(2.0, stairs).unwrap();
        assert!((3.0..3.0 * (1.0 + 2e-9)).contains(&found.noise.get()));
        assert!(smallest_noise(0.5, stairs).is_err());
        // A pair that never meets costs nothing at any noise.
        assert!(smallest_noise(1.0, |_| Ok(UpperBound::new(0.0))).unwrap().noise.get() < 1e-100);
        let infinite =
            |noise: NoiseMultiplier| Ok(UpperBound::new(if noise.get() < 2.0 { f64::INFINITY } else { 0.5 }));
        assert!((smallest_noise(1.0, infinite).unwrap().noise.get() - 2.0).abs() < 1e-8);
        for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(smallest_noise(target, stairs), Err(Error::InvalidParameter { .. })));
        }
        assert!(matches!(
            for_pairs(1.0, order(), &[], None, Over::Mean),
            Err(Error::InvalidParameter { .. })
        ));
    }
}
