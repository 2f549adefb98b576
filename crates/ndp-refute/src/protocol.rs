//! What is refuted about: protocols whose messages are rows of fractions, and token walks.

use crate::error::Error;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::Serialize;

/// The protocol that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Every node adds noise once; `x ← W x` in every round.
    Muffliato,
    /// The same, Chebyshev-accelerated: `x^1 = W x^0`, then `x^(t+1) = g W x^t + (1 - g) x^(t-1)` with this
    /// `g`.
    Accelerated(f64),
    /// Every node adds noise before every round, after the first of this standard deviation in units of the
    /// first.
    FreshNoise(f64),
    /// Noise once, and noise of this standard deviation, in units of the first, on all that a node sends in a
    /// round; what is received is averaged with one's own clean value.
    NoisyMessages(f64),
    /// Noise once; in every round the two ends of one edge average, and all sequences of edges are tried.
    Pairs,
    /// A token that starts anywhere with equal probability and moves with the probabilities `W`; at each of
    /// the first `T` times its holder adds its contribution and fresh noise.
    Walk,
}

impl Protocol {
    /// Whether the observer follows a token rather than reading messages of every round.
    #[must_use]
    pub fn is_walk(self) -> bool {
        self == Self::Walk
    }

    /// With what a claim is compared: the true loss, or for walks a lower bound on the loss of observers who
    /// know the whole path, which other observers may not reach.
    #[must_use]
    pub fn truth(self) -> &'static str {
        if self.is_walk() { "the loss if the path is known, at least" } else { "the true loss" }
    }

    /// Refuses parameters that are not numbers of the protocol.
    pub(crate) fn check(self) -> Result<(), Error> {
        let (what, condition, value, holds) = match self {
            Self::Accelerated(g) => ("the Chebyshev parameter", "lie in [1, 2)", g, (1.0..2.0).contains(&g)),
            Self::FreshNoise(ratio) | Self::NoisyMessages(ratio) => {
                let holds = 0.0 < ratio && ratio.is_finite();
                ("the ratio of later noise to the first", "be positive and finite", ratio, holds)
            }
            Self::Muffliato | Self::Pairs | Self::Walk => return Ok(()),
        };
        if holds { Ok(()) } else { Err(Error::Parameter { what, condition, value }) }
    }
}

/// Coefficients over the noises: first those of the nodes, which come with their data, then fresh ones.
pub(crate) type Row = Vec<BigRational>;

/// All messages of a run, as rows over independent noises.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    /// `sent[t][w]`: what node `w` sends in round `t`.
    pub(crate) sent: Vec<Vec<Row>>,
    /// The variance of each noise, in units of that of the first ones, and whose it is.
    pub(crate) noises: Vec<(BigRational, usize)>,
}

/// The messages of `rounds` rounds over fixed weights.
///
/// Column `u` below `n` is the noise that node `u` added to its data: a change of its data by `d` moves every
/// message by `d` times that column.
pub(crate) fn messages(protocol: Protocol, weights: &[Row], rounds: usize) -> Messages {
    let n = weights.len();
    let ratio = match protocol {
        Protocol::FreshNoise(ratio) | Protocol::NoisyMessages(ratio) => Some(ratio),
        _ => None,
    };
    let fresh = ratio.and_then(BigRational::from_float).map(|ratio| &ratio * &ratio);
    let width = if fresh.is_some() { n * (1 + rounds) } else { n };
    let unit = |at: usize| {
        let mut row = vec![BigRational::zero(); width];
        row[at] = BigRational::one();
        row
    };
    let noises = (0..width).map(|at| {
        let first = at < n;
        (if first { BigRational::one() } else { fresh.clone().unwrap_or_default() }, at % n)
    });
    let noises = noises.collect();
    let mut values: Vec<Row> = (0..n).map(unit).collect();
    let mut before: Option<Vec<Row>> = None;
    let mut sent = Vec::with_capacity(rounds);
    for t in 0..rounds {
        if matches!(protocol, Protocol::FreshNoise(_)) && t > 0 {
            // Noise `n (t + 1) + a` is that of node `a` in round `t`.
            (0..n).for_each(|a| values[a][n * (t + 1) + a] += BigRational::one());
        }
        let mut said = values.clone();
        if matches!(protocol, Protocol::NoisyMessages(_)) {
            (0..n).for_each(|a| said[a][n * (t + 1) + a] += BigRational::one());
        }
        let mut next: Vec<Row> = (0..n).map(|a| mean(&weights[a], a, &said, &values)).collect();
        if let (Protocol::Accelerated(g), Some(before)) = (protocol, &before) {
            let g = BigRational::from_float(g).unwrap_or_else(BigRational::one);
            let rest = BigRational::from(BigInt::one()) - &g;
            for (row, old) in next.iter_mut().zip(before) {
                row.iter_mut().zip(old).for_each(|(x, y)| *x = &g * &*x + &rest * y);
            }
        }
        sent.push(said);
        before = Some(std::mem::replace(&mut values, next));
    }
    Messages { sent, noises }
}

/// `Σ_b weights_b said_b`, with one's own value where `b` is `own`.
fn mean(weights: &[BigRational], own: usize, said: &[Row], values: &[Row]) -> Row {
    let mut sum = vec![BigRational::zero(); values[own].len()];
    for (b, weight) in weights.iter().enumerate().filter(|(_, weight)| !weight.is_zero()) {
        let row = if b == own { &values[b] } else { &said[b] };
        sum.iter_mut().zip(row).filter(|(_, x)| !x.is_zero()).for_each(|(sum, x)| *sum += weight * x);
    }
    sum
}
