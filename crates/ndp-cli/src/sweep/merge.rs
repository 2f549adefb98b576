//! All lines of a sweep in one file, and statistics over all of them.

use super::{Granted, Study};
use crate::errors::Failure;
use crate::output::{largest_first, unless_unread, up, with_infinite};
use ndp_account::{Observer, Protocol, Statement};
use ndp_dp::{Grade, NoiseMultiplier, Profile};
use ndp_numeric::decimal::{Round, percent};
use ndp_numeric::rounding::any_of;
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::files::Output;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The statements about all observers may be wrong for at most this share of random samples.
const MISS: f64 = 0.05;
/// The share for each of the two statements; by the union bound both hold together except for the sum.
const MISS_OF_ONE: f64 = MISS / 2.0;

/// The lines of a sweep. If they go to a file, it appears once it is complete.
pub(crate) struct Lines<'a> {
    study: &'a Study,
    /// `None` if no file was asked for, or if its reader is gone.
    output: Option<(PathBuf, Output)>,
    /// Whether the reader of the output closed the pipe.
    pub(crate) unread: bool,
    /// The observers' summaries, by protocol and noise, in the order of the study.
    found: BTreeMap<(usize, usize), Vec<Observed>>,
    /// What the accounts of each protocol rest on.
    granted: BTreeMap<usize, BTreeSet<Granted>>,
    lines: usize,
}

/// Upper bounds on what one observer learns about any node, and on average.
struct Observed {
    name: String,
    max: f64,
    mean: f64,
    exact: bool,
    failure: f64,
}

/// What all observers of a protocol learn at one noise.
pub(crate) struct Together {
    pub(crate) protocol: String,
    /// What these numbers are about.
    pub(crate) statement: Statement,
    pub(crate) noise: f64,
    /// The largest loss of each observer, in descending order.
    maxima: Vec<f64>,
    pub(crate) worst: String,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    pub(crate) grade: Grade,
    /// For samples, with confidence `1 - MISS`: an upper bound on the share of all observers that learn more
    /// than the worst one seen, and one on the mean over all observers.
    pub(crate) unseen: Option<(f64, Option<f64>)>,
}

impl<'a> Lines<'a> {
    pub(crate) fn create(study: &'a Study, path: Option<&Path>) -> Result<Self, Failure> {
        let output =
            path.map(|path| Ok::<_, Failure>((path.to_owned(), Output::create(path)?))).transpose()?;
        let mut lines =
            Self { study, output, unread: false, found: BTreeMap::new(), granted: BTreeMap::new(), lines: 0 };
        lines.write(&study.header()?)?;
        Ok(lines)
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let Some((path, output)) = &mut self.output else { return Ok(()) };
        match writeln!(output, "{line}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => (self.output, self.unread) = (None, true),
            written => written.map_err(Failure::file(path))?,
        }
        Ok(())
    }

    /// Takes the next line.
    pub(crate) fn take(&mut self, line: &str) -> Result<(), Failure> {
        let refused = || Failure::Refused(format!("line {} is not that of an observer", self.lines + 1));
        let value: Value = serde_json::from_str(line).map_err(|_| refused())?;
        let protocol = self.lines / self.study.observers.len().max(1);
        let at = value["at"].as_array().ok_or_else(refused)?;
        if at.len() != self.study.noises.len() || value["item"].as_u64() != Some(self.lines as u64) {
            return Err(refused());
        }
        let granted = Granted::deserialize(&value["granted"]).map_err(|_| refused())?;
        self.granted.entry(protocol).or_default().insert(granted);
        let loss = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
        // A coalition of everybody learns about nobody.
        for (noise, summary) in at.iter().enumerate().filter(|(_, summary)| !summary["max"].is_null()) {
            self.found.entry((protocol, noise)).or_default().push(Observed {
                name: value["observer"].as_str().unwrap_or_default().to_owned(),
                max: loss(&summary["max"]),
                mean: loss(&summary["mean"]),
                exact: summary["grade"] == "exact",
                failure: loss(&value["failure"]),
            });
        }
        self.write(line)?;
        self.lines += 1;
        Ok(())
    }

    /// Writes the last line and puts the file in its place.
    pub(crate) fn finish(mut self) -> Result<Vec<Together>, Failure> {
        let nothing = BTreeSet::new();
        let of_all = |(&(protocol, noise), found): (&(usize, usize), &Vec<Observed>)| {
            let granted = self.granted.get(&protocol).unwrap_or(&nothing);
            let failure = any_of(found.iter().map(|observed| observed.failure));
            let statement = Statement { failure, ..self.study.statement(protocol, granted)? };
            Ok(of_all(self.study, protocol, noise, (found, statement)))
        };
        let together = self.found.iter().map(of_all).collect::<Result<Vec<Together>, Failure>>()?;
        let words: Vec<Value> = together.iter().map(Together::record).collect();
        let lines = self.lines;
        self.write(&json!({ "end": lines, "sampled": self.study.sampled, "together": words }).to_string())?;
        if let Some((_, output)) = self.output {
            unless_unread(output.finish())?;
        }
        Ok(together)
    }
}

impl Together {
    fn record(&self) -> Value {
        let finite = crate::output::finite;
        json!({ "protocol": self.protocol, "noise": self.noise, "max": finite(self.max), "observer": self.worst,
            "mean": finite(self.mean), "grade": self.grade, "failure": self.statement.failure,
            "confidence": self.unseen.map(|_| 1.0 - MISS), "share_above_max": self.unseen.map(|(share, _)| share),
            "mean_of_all": self.unseen.and_then(|(_, mean)| mean) })
    }

    /// The statement about all observers, in a sentence; only for samples.
    pub(crate) fn confidence(&self) -> Option<String> {
        // Nobody learns more than without a bound.
        let (share, mean) = self.unseen.filter(|_| self.max.is_finite())?;
        let mean = mean.map_or_else(String::new, |mean| {
            format!(", and the mean over all observers is at most {}", up(mean))
        });
        Some(format!(
            "with confidence {} %, at most {} % of all observers learn more than the worst one seen{mean}",
            100.0 * (1.0 - MISS),
            percent(share, 2, Round::Up)
        ))
    }
}

fn of_all(
    study: &Study,
    protocol: usize,
    noise: usize,
    (found, statement): (&[Observed], Statement),
) -> Together {
    let worst = found.iter().reduce(|a, b| if b.max > a.max { b } else { a });
    let count = found.len().max(1) as f64;
    let mean = found.iter().map(|observed| observed.mean).sum::<f64>() / count
        * (1.0 + (count + 2.0) * f64::EPSILON);
    let mut maxima: Vec<f64> = found.iter().map(|observed| observed.max).collect();
    maxima.sort_by(|a, b| b.total_cmp(a));
    let (name, patient) = &study.protocols[protocol];
    // If a share `p` of all observers has some property, none of `m` drawn ones has it with probability at
    // most `(1 - p)^m`.
    let share = -(MISS_OF_ONE.ln() / count).exp_m1() * (1.0 + 16.0 * f64::EPSILON);
    let unseen = study.sampled.then(|| {
        // Hoeffding's inequality: an observer's mean loss lies between 0 and the bound for an observer of the
        // noisy values.
        let first = study.observers.first();
        let largest = first.and_then(|first| {
            let profile = bound_of_all(patient, first, study.noises[noise].1)?;
            Some(profile.loss(study.measure).ok()?.into_value())
        });
        let room = (-MISS_OF_ONE.ln() / (2.0 * count)).sqrt();
        (share, largest.map(|largest| ((mean + largest * room) * (1.0 + 8.0 * f64::EPSILON)).min(largest)))
    });
    let exact = found.iter().all(|observed| observed.exact);
    Together {
        protocol: name.clone(),
        noise: study.noises[noise].0,
        worst: worst.map_or_else(String::new, |observed| observed.name.clone()),
        max: worst.map_or(0.0, |observed| observed.max),
        mean,
        grade: if exact { Grade::Exact } else { Grade::UpperBound },
        statement,
        maxima,
        unseen,
    }
}

/// The bound for an observer of the noisy values, if it is the same for every observer and every exposed
/// node. A mean over all observers needs it for those that were not drawn, too.
fn bound_of_all(protocol: &dyn Protocol, first: &Observer, noise: NoiseMultiplier) -> Option<Profile> {
    let bound = protocol.local_bound(first).ok()?;
    let class = bound.class()?;
    let alike = |v: usize| {
        let mut other = Observer::node(v);
        (other.own_noise, other.senders) = (first.own_noise, first.senders);
        protocol.local_bound(&other).is_ok_and(|bound| bound.class() == Some(class))
    };
    let exposed = (0..bound.node_count()).find(|&u| !first.contains(u))?;
    (0..protocol.node_count()).all(alike).then(|| bound.profile(exposed, noise).ok()).flatten()
}

/// The largest loss towards every observer, largest first.
pub(crate) fn figure(study: &Study, together: &[Together]) -> Figure {
    let what = study.measure.to_string();
    // A sample shows nothing about those that were not drawn, so the picture says who was.
    let who = match (study.observers.len(), study.graph.node_count()) {
        (count, n) if study.sampled => format!("{count} of {n} nodes drawn at random"),
        _ => "observers".to_owned(),
    };
    let mut panel = Panel::curves(
        "the largest loss towards each observer, largest first",
        Axis::linear(format!("share of {who}")),
        Axis::linear(what),
    );
    for found in together {
        let name = format!("{}, noise {}", found.protocol, found.noise);
        let name = with_infinite(&name, found.maxima.iter().copied(), "observers");
        panel = panel.with(Series::new(name, found.grade).points(largest_first(&found.maxima)));
    }
    Figure::new(format!("What {who} learn")).panel(panel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_account::example::Gossip;
    use ndp_account::{Account, Error};
    use ndp_graph::{GossipMatrix, generators::path_graph, progress::Stop};

    /// A bound on the mean over all observers needs one bound that holds for all of them: if the last node
    /// has another one, there is none.
    #[test]
    fn one_bound_must_hold_for_every_observer() -> Result<(), Error> {
        /// Gossip whose last node is bounded by its own account.
        struct Uneven(Gossip);
        impl Protocol for Uneven {
            fn node_count(&self) -> usize {
                Protocol::node_count(&self.0)
            }

            fn account_until<'a>(
                &'a self,
                observer: &Observer,
                stop: &Stop,
            ) -> Result<Box<dyn Account + 'a>, Error> {
                self.0.account_until(observer, stop)
            }

            fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
                let last = observer.contains(self.node_count() - 1);
                if last { self.account(observer) } else { self.0.local_bound(observer) }
            }
        }
        let gossip = || Ok::<_, Error>(Gossip::new(GossipMatrix::metropolis(&path_graph(5)?), 3));
        let (first, noise) = (Observer::node(0), NoiseMultiplier::new(2.0)?);
        let even = bound_of_all(&gossip()?, &first, noise).and_then(|profile| profile.mu());
        assert_eq!(even.map(|mu| mu.into_value().mu()), Some(0.5));
        assert!(bound_of_all(&Uneven(gossip()?), &first, noise).is_none());
        Ok(())
    }
}
