//! What an accepted file proves, in words.

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

/// What an accepted file proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    /// How many pairs of an observer and a node.
    pub pairs: usize,
    /// The largest upper end of all pairs.
    pub largest: BigRational,
    /// Whether every node alone stands with every other node.
    pub every_pair: bool,
    pub(crate) differs: String,
    pub(crate) assumes_reads: bool,
    pub(crate) assumes_holdings: bool,
}

impl Proved {
    /// The statement, sentence by sentence.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let who = if self.every_pair {
            "every node alone, about every other node"
        } else {
            "the observers and nodes that the file names, and no others"
        };
        let mut said = vec![
            format!("what may differ: {}", self.differs),
            format!("who looks: {who} ({} pairs)", self.pairs),
            "what they see: what the file says that they are sent, overhear, hold or is published, and their own \
             data; they follow the protocol"
                .into(),
            format!(
                "proved: with noises of standard deviation s times the root of their variance, each view is mu-GDP, \
                 mu^2 at most {} / s^2{}",
                self.largest,
                if self.largest.is_integer() {
                    String::new()
                } else {
                    format!(" (in decimals at most {} / s^2)", rounded_up(&self.largest))
                }
            ),
            "assumed: noises are drawn as the file says, independently, and known to nobody else; secure sums show \
             their receivers the sums alone"
                .into(),
            "assumed: contributions depend on their owner's data, and on nothing else but what the file says that \
             they read"
                .into(),
        ];
        if self.assumes_reads {
            said.push(
                "assumed: what contributions read had been seen by the observer; the file does not list it"
                    .into(),
            );
        }
        let checked =
            if self.assumes_holdings { ", and the file says that nobody has checked it" } else { "" };
        said.push(format!("assumed: nodes can form what they send: this is not checked here{checked}"));
        said
    }
}

/// A decimal number that `x >= 0` does not exceed, of six or seven digits.
fn rounded_up(x: &BigRational) -> String {
    if x.numer().sign() != Sign::Plus {
        return "0".into();
    }
    let ten = BigInt::from(10);
    let digits = |x: &BigInt| i64::try_from(x.to_string().len()).unwrap_or(i64::MAX);
    // So many decimals that the whole part has six or seven digits.
    let decimals = 6 - (digits(x.numer()) - digits(x.denom()));
    let power = |k: i64| u32::try_from(k).map_or(BigInt::from(1), |k| ten.pow(k));
    let (top, bottom) = (x.numer() * power(decimals), x.denom() * power(-decimals));
    let above: BigInt = (top + &bottom - 1) / bottom;
    let exact = format!("{above}e{}", -decimals);
    // So few digits come out of a float as they went in.
    exact.parse::<f64>().map_or(exact, |x| x.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_up() {
        for (top, bottom, says) in
            [(0, 1, "0"), (1, 1, "1"), (13, 21, "0.619048"), (20_000_000, 3, "6666670")]
        {
            assert_eq!(rounded_up(&BigRational::new(top.into(), bottom.into())), says);
        }
    }
}
