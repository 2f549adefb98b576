//! Limits on losses, and the refusal of steps that would exceed one.

use super::Reading;
use crate::ProgramError;
use crate::error::Refusal;
use ndp_account::Error;
use ndp_dp::{Delta, Gaussian, Sensitivity};
use ndp_numeric::rounding::Interval;
use std::collections::BTreeMap;

/// The most that observers may learn: limits on the loss `μ²`, for all pairs or for single ones.
///
/// They are fixed before the run. Whether a step is taken depends only on public values, so that the limits
/// also hold for a run that is steered by what the same observer has seen (filter lemma, `docs/theory.md`).
///
/// # Examples
/// ```
/// use ndp_dp::Delta;
/// use ndp_program::meter::Limits;
/// // The loss that epsilon 3 at delta 1e-5 allows, rounded down.
/// let limits = Limits::approx(3.0, Delta::new(1e-5)?)?;
/// assert!(limits.of(0, 1).is_some_and(|loss| 0.51 < loss && loss < 0.53));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    worst: Option<f64>,
    pairs: BTreeMap<(usize, usize), f64>,
}

impl Limits {
    /// A loss of at most `loss` for every pair.
    ///
    /// # Errors
    /// [`ProgramError::NotFinite`] for NaN; [`ProgramError::NegativeLimit`].
    pub fn worst(loss: f64) -> Result<Self, ProgramError> {
        Ok(Self { worst: Some(checked(loss)?), pairs: BTreeMap::new() })
    }

    /// For every pair the largest loss that is `(ε, δ)`-DP, by the Gaussian profile, rounded down.
    ///
    /// # Errors
    /// Those of [`Gaussian::within`].
    pub fn approx(epsilon: f64, delta: Delta) -> Result<Self, Error> {
        let sigma = Gaussian::within(epsilon, delta, Sensitivity::new(1.0)?)?.sigma.get();
        let mu = Interval::between(0.0, (Interval::ONE / Interval::new(sigma)).low());
        let mu = Interval::new(mu.high());
        Ok(Self { worst: Some((mu * mu).low()), pairs: BTreeMap::new() })
    }

    /// Limits what the observer with this number learns about a node to at most `loss`, in place of the limit
    /// for all pairs.
    ///
    /// # Errors
    /// As [`worst`](Self::worst).
    pub fn pair(mut self, observer: usize, node: usize, loss: f64) -> Result<Self, ProgramError> {
        self.pairs.insert((observer, node), checked(loss)?);
        Ok(self)
    }

    /// The limit on what an observer learns about a node.
    #[must_use]
    pub fn of(&self, observer: usize, node: usize) -> Option<f64> {
        self.pairs.get(&(observer, node)).copied().or(self.worst)
    }

    /// Whether there is no limit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.worst.is_none() && self.pairs.is_empty()
    }

    /// The limit on all pairs, and the limits on single pairs by observer and node.
    #[must_use]
    pub(super) fn parts(&self) -> (Option<f64>, &BTreeMap<(usize, usize), f64>) {
        (self.worst, &self.pairs)
    }

    pub(super) fn check(&self, observers: usize, nodes: usize) -> Result<(), ProgramError> {
        for &(observer, node) in self.pairs.keys() {
            if observer >= observers {
                return Err(ProgramError::UnknownObserver { observer, observers });
            }
            if node >= nodes {
                return Err(ProgramError::NodeOutOfRange { node, nodes });
            }
        }
        Ok(())
    }

    /// Refuses the first loss that is above its limit.
    pub(super) fn keep(&self, readings: impl Iterator<Item = Result<Reading, Error>>) -> Result<(), Error> {
        for (number, reading) in readings.enumerate() {
            let reading = reading?;
            for node in 0..reading.verdicts.len() {
                if let (Some(loss), Some(limit)) = (reading.upper(node), self.of(number, node))
                    && (loss > limit || loss.is_nan())
                {
                    let refusal = Refusal { observer: reading.observer, node, limit, loss };
                    return Err(ProgramError::OverBudget(Box::new(refusal)).into());
                }
            }
        }
        Ok(())
    }
}

fn checked(loss: f64) -> Result<f64, ProgramError> {
    match loss {
        _ if loss.is_nan() => Err(ProgramError::NotFinite { what: "a limit", value: loss }),
        _ if loss < 0.0 => Err(ProgramError::NegativeLimit(loss)),
        _ => Ok(loss),
    }
}
