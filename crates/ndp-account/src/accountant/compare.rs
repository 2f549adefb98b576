//! Protocols side by side at the same guarantee.

use super::{Audience, Coverage, Covered, LeastNoise, Observer, Protocol, Statement, Target, accounts};
use crate::Error;
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::progress::{Silent, Stop};
use ndp_numeric::decimal::{Round, fixed, scientific};
use serde::Serialize;
use std::borrow::Borrow;
use std::fmt;

/// What one protocol needs and gives at the target.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Target, compare};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Grade, Measure};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&cycle_graph(5)?), 3);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let row = compare(&[("gossip", Ok(&gossip))], &[Observer::node(0)], &target).rows.remove(0);
/// assert_eq!((row.name.as_str(), row.grade, row.messages), ("gossip", Some(Grade::Exact), Ok(30.0)));
/// assert!(row.least?.noise.get() > 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name of the protocol as given.
    pub name: String,
    /// The least noise, or why there is none.
    pub least: Result<LeastNoise, Error>,
    /// The error of the result at that noise in units of `Δ`, or why it is not known; see
    /// [`Protocol::error`].
    pub error: Result<f64, Error>,
    /// Messages sent in a run, or why they are not counted.
    pub messages: Result<f64, Error>,
    /// Grade of the loss of the tightest pair, or of the largest mean.
    pub grade: Option<Grade>,
    /// Probability that an account is too small, all observers together.
    pub failure: f64,
    /// Whom the least noise covers; `None` where there is none.
    pub coverage: Option<Coverage>,
    /// The noise that is enough for the observers who are looked at, if the bound for the others requires
    /// more. It says nothing about the others.
    pub looked_at: Option<NoiseMultiplier>,
    /// The statement beside the noise; `None` if no observer was looked at.
    pub statement: Option<Statement>,
}

/// A table of protocols at the same target; it prints itself.
///
/// # Examples
/// ```
/// use ndp_account::{Error, Observer, Target, compare};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Measure};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&cycle_graph(5)?), 3);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let missing = Err(Error::NotOffered("not on this graph"));
/// let table = compare(&[("gossip", Ok(&gossip)), ("other", missing)], &[Observer::node(0)], &target);
/// // What has no answer keeps its row, with the reason.
/// assert!(table.to_string().lines().last().is_some_and(|line| line.ends_with("not on this graph")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// One row for each protocol, in the order given.
    pub rows: Vec<Row>,
}

/// The least noise of every protocol for the same target towards the same observers, with the error and the
/// messages that it costs.
///
/// A protocol without an answer keeps its row, with the reason.
pub fn compare(
    protocols: &[(&str, Result<&dyn Protocol, Error>)],
    observers: &[Observer],
    target: &Target,
) -> Comparison {
    let audience = &Audience::named(observers.to_vec());
    let row = |(name, protocol): &(&str, Result<&dyn Protocol, Error>)| {
        Row::of(name, protocol.clone(), target, |protocol| {
            Covered::by_attained_bound(protocol, audience, target, &Stop::never()).map_or_else(
                || Covered::of(protocol, audience, |observers| accounts(protocol, observers, &Silent)),
                Ok,
            )
        })
    };
    Comparison { rows: protocols.iter().map(row).collect() }
}

impl Row {
    /// The row of `protocol`: its least noise towards the observers that `cover` covers, with the error and
    /// the messages. If the protocol, its accounts or the noise are refused, the row gives the reason.
    pub(crate) fn of<'a, P: Protocol + ?Sized, C: Borrow<Covered<'a>>>(
        name: &str,
        protocol: Result<&'a P, Error>,
        target: &Target,
        cover: impl FnOnce(&'a P) -> Result<C, Error>,
    ) -> Self {
        let covered = protocol.and_then(|protocol| Ok((protocol, cover(protocol)?)));
        let (protocol, covered) = match covered {
            Ok(found) => found,
            Err(error) => return Self::refused(name, error),
        };
        let covered = covered.borrow();
        let least = covered.least_noise(target);
        let noise = least.as_ref().map(|least| least.noise).map_err(Error::clone);
        let grade = least.as_ref().ok().and_then(|least| least.grade);
        Self {
            name: name.into(),
            error: noise.and_then(|noise| protocol.error(noise)),
            messages: protocol.message_count(),
            grade,
            failure: covered.failure(),
            coverage: least.is_ok().then(|| covered.coverage.clone()),
            looked_at: least.as_ref().ok().and_then(|least| covered.of_looked_at(target, least)),
            statement: covered.statement().ok(),
            least,
        }
    }

    /// The row of a protocol that has no answer.
    #[must_use]
    pub fn refused(name: &str, why: Error) -> Self {
        Self {
            name: name.into(),
            least: Err(why.clone()),
            error: Err(why.clone()),
            messages: Err(why),
            grade: None,
            failure: 0.0,
            coverage: None,
            looked_at: None,
            statement: None,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24} {:>11} {:>11} {:>11}  grade", "protocol", "noise/Δ", "error/Δ", "messages")?;
        for row in &self.rows {
            let number =
                |x: &Result<f64, Error>| x.as_ref().map_or("-".into(), |&x| scientific(x, 4, Round::Up));
            match &row.least {
                Ok(least) => writeln!(
                    f,
                    "{:<24} {:>11} {:>11} {:>11}  {}",
                    row.name,
                    fixed(least.noise.get(), 5, Round::Up),
                    number(&row.error),
                    number(&row.messages),
                    grade(row)
                )?,
                Err(reason) => writeln!(f, "{:<24} {reason}", row.name)?,
            }
        }
        Ok(())
    }
}

/// The grade, and the coverage if it is not every observer the question is about.
fn grade(row: &Row) -> String {
    let grade = row.grade.map_or("", Grade::as_str);
    match &row.coverage {
        Some(coverage) if !coverage.is_whole() => format!("{grade} {} nodes", coverage.in_short()),
        _ => grade.to_owned(),
    }
}

impl Serialize for Comparison {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            name: &'a str,
            noise: Option<f64>,
            error: Option<f64>,
            messages: Option<f64>,
            grade: Option<Grade>,
            failure: f64,
            coverage: Option<&'a Coverage>,
            noise_of_looked_at: Option<f64>,
            statement: Option<&'a Statement>,
            reason: Option<String>,
        }
        let rows = self.rows.iter().map(|row| Plain {
            name: &row.name,
            noise: row.least.as_ref().ok().map(|least| least.noise.get()),
            error: row.error.as_ref().ok().copied(),
            messages: row.messages.as_ref().ok().copied(),
            grade: row.grade,
            failure: row.failure,
            coverage: row.coverage.as_ref(),
            noise_of_looked_at: row.looked_at.map(NoiseMultiplier::get),
            statement: row.statement.as_ref(),
            reason: row.least.as_ref().err().map(ToString::to_string),
        });
        serializer.collect_seq(rows)
    }
}
