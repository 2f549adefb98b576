//! The one place that puts a statement into words.
//!
//! A sentence about privacy that is composed where a number is shown is sooner or later stronger than the
//! number: a sample is reported as all, a bound as what is learned. So tables, pages and messages take their
//! sentences from here, each made from a [`Statement`] and the data that belong to it, and `cargo xtask tidy`
//! refuses certain words in strings elsewhere.
//!
//! Three registers: [`Words::line`] for tables, [`Words::paragraph`] for pages, and the statement itself as
//! data.

mod coverage;
mod guesses;
mod most;
pub mod page;
mod plans;
mod replaced;
mod rests_on;
mod terms;

pub use coverage::*;
pub use guesses::*;
pub use most::Most;
pub use plans::{Planned, advice};
pub use replaced::{reason, replaced, replaced_for_one};
pub use rests_on::*;
pub use terms::*;

pub use crate::digits::{count, down, noise, number, up};

use ndp_account::{
    Among, Coverage, MOST_COALITIONS, Observer, OwnNoise, Rest, Senders, Statement, Worst,
    number_of_coalitions,
};
use ndp_dp::{Grade, Measure, Neighbors};
use ndp_numeric::decimal::{Round, scientific};
use std::fmt::Display;

/// A statement with the names of its nodes.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Audience, Covered, Observer, accounts};
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};
/// use ndp_report::words::Words;
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
/// let audience = Audience::named(vec![Observer::coalition(&[0, 2])]);
/// let covered = Covered::new(&gossip, &audience, accounts(&gossip, audience.looked_at(), &Silent)?);
/// let (statement, people) = (covered.statement()?, ["ann", "bob", "eve"]);
/// let name = |v: usize| people[v].to_owned();
/// let words = Words::new(&statement, &name);
/// assert_eq!(words.observed_by(), "ann, eve together");
/// assert!(words.line().starts_with("the value of one node, anywhere in its range; observed by ann, eve together"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Words<'a> {
    statement: &'a Statement,
    name: &'a dyn Fn(usize) -> String,
}

/// The largest number of names that is listed.
const MOST_NAMED: usize = 8;

impl<'a> Words<'a> {
    /// The words of a statement about nodes with these names.
    #[must_use]
    pub fn new(statement: &'a Statement, name: &'a dyn Fn(usize) -> String) -> Self {
        Self { statement, name }
    }

    /// The observers; if none were named, which observers are covered and how. Then what they are assumed not
    /// to use or know.
    #[must_use]
    pub fn observed_by(self) -> String {
        self.observers() + not_known(self.statement.own_noise, self.statement.senders)
    }

    fn observers(self) -> String {
        match &self.statement.coverage {
            Coverage::Named { .. } => self.named(),
            other => coverage(other),
        }
    }

    /// The subject of a sentence about the most that observers learn, with what they are assumed not to use
    /// or know.
    #[must_use]
    pub fn whom(self) -> String {
        let whom = self.any_one();
        match not_known(self.statement.own_noise, self.statement.senders) {
            "" => whom,
            but => format!("{}{but},", whom.trim_end_matches(',')),
        }
    }

    fn any_one(self) -> String {
        match &self.statement.coverage {
            Coverage::Named { observers: 1 } => self.named(),
            Coverage::Named { observers } => format!("any one of the {observers} observers named"),
            Coverage::Sample { looked_at, nodes, .. } => {
                format!("any one of the {looked_at} nodes that were looked at, of {nodes},")
            }
            Coverage::All { nodes }
            | Coverage::Alike { nodes }
            | Coverage::Symmetric { nodes, .. }
            | Coverage::Grouped { nodes, .. }
            | Coverage::Bounded { nodes, .. } => {
                format!("any one of {nodes} nodes")
            }
            Coverage::Coalitions {
                size,
                among,
                nodes,
                rest: Rest::None | Rest::Symmetric | Rest::Bounded,
                ..
            } => {
                format!("any coalition of at most {}", coalition(*size, *among, *nodes))
            }
            Coverage::Coalitions { size, among, nodes, looked_at, .. } => format!(
                "any one of the {looked_at} coalitions of {} that were looked at",
                coalition(*size, *among, *nodes)
            ),
            other => coverage(other),
        }
    }

    /// The statement in one line: what may differ, who observes, what is assumed.
    #[must_use]
    pub fn line(self) -> String {
        let mut line = format!("{}; observed by {}", changes(self.statement), self.observed_by());
        for what in self.taken_for_granted() {
            line += "; assumed: ";
            line += &what;
        }
        line
    }

    /// Everything in sentences.
    #[must_use]
    pub fn paragraph(self) -> String {
        let runs = match self.statement.runs {
            1 => String::new(),
            runs => format!(" It is about {runs} runs together."),
        };
        let named = &self.statement.observers;
        let outside = !named.is_empty() && named.iter().all(|observer| observer.members().is_empty());
        let own = match self.statement.own_noise {
            OwnNoise::Known if outside => "drew no noise",
            OwnNoise::Known => "knows the noise that it drew itself",
            OwnNoise::Unknown => "throws away the noise that it drew itself (it could use it),",
        };
        let senders = match self.statement.senders {
            Senders::Known => "may know from whom messages come",
            Senders::Hidden => "does not know from whom messages come",
        };
        let assumed: String =
            self.taken_for_granted().iter().map(|what| format!(" It is assumed that {what}.")).collect();
        let unknown =
            unknown(&self.statement.coverage).map_or_else(String::new, |unknown| format!(" {unknown}"));
        let relation = match self.statement.neighbors {
            Neighbors::ReplaceOne if self.statement.is_of_all_data() => {
                "all data of one node replaced".into()
            }
            Neighbors::ReplaceOne => "some data of one node replaced".into(),
            Neighbors::AddOrRemove => Neighbors::AddOrRemove.to_string(),
        };
        format!(
            "Two worlds are compared ({relation}) that differ in {}. Observed by {}. An observer {own} and {senders}.{runs}{assumed}{unknown} {} By {}.",
            changes(self.statement),
            self.observers(),
            noise_in_a_sentence(self.statement),
            by(self.statement),
        )
    }

    /// The declarations and assumptions that are not checked.
    fn taken_for_granted(self) -> Vec<String> {
        let assumed = self.statement.assumes.iter().map(|&assumption| assumed(assumption).to_owned());
        assumed.chain(self.statement.rests_on.iter().map(rests_on)).collect()
    }

    fn named(self) -> String {
        let observers = &self.statement.observers;
        let mut names: Vec<String> =
            observers.iter().take(MOST_NAMED).map(|observer| self.one(observer)).collect();
        if observers.len() > MOST_NAMED {
            names.push(format!("{} others", observers.len() - MOST_NAMED));
        }
        names.join(", ") + if observers.len() > 1 { ", each alone" } else { "" }
    }

    fn one(self, observer: &Observer) -> String {
        let members: Vec<String> =
            observer.members().iter().take(MOST_NAMED).map(|&v| (self.name)(v)).collect();
        let mut who = match observer.members() {
            [] => "somebody outside the network".to_owned(),
            [_] => members.concat(),
            all if all.len() > MOST_NAMED => {
                format!("{} and {} others together", members.join(", "), all.len() - MOST_NAMED)
            }
            _ => members.join(", ") + " together",
        };
        if !observer.tapped.is_empty() {
            let taps = observer.tapped.iter().take(MOST_NAMED);
            let taps = taps.map(|&(from, to)| format!("{} to {}", (self.name)(from), (self.name)(to)));
            let taps = taps.collect::<Vec<_>>().join(", ");
            let more = observer.tapped.len().saturating_sub(MOST_NAMED);
            who += &format!(", overhearing {taps}");
            if more > 0 {
                who += &format!(" and {more} others");
            }
        }
        who
    }

    /// The largest loss, and the pair that has it if one is proven to.
    #[must_use]
    pub fn largest(self, worst: &Worst) -> String {
        let most = up(*worst.loss.value());
        match worst.loss.grade() {
            Grade::Exact => format!("{most} [exact: {}]", self.pair(worst)),
            grade => format!("{most} [{grade}]"),
        }
    }

    /// What one observer learns about another node.
    #[must_use]
    pub fn pair(self, worst: &Worst) -> String {
        let u = (self.name)(worst.source);
        format!("what {} learns about {u}", self.one(&worst.observer))
    }
}

/// What nodes with the same neighbors gain from one another.
pub const TWINS: &str = "twins (same neighbors): with muffliato, and weights that depend on degrees alone, a node that is neither one of k twins nor \
     a neighbor of theirs learns at most 1/k of the local Rényi loss about each; their neighbors hear each twin's own noisy value and \
     learn all of it";

/// What to say of a bound that is so large that it protects nothing; `None` for one that may mean something.
///
/// Above a likelihood ratio of `e^50`, or a distance of 10 between two normal laws, an observer hardly ever
/// guesses wrong.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Measure};
/// use ndp_report::words::useless;
/// let epsilon = Measure::Approx(Delta::new(1e-5)?);
/// assert!(useless(50.0, epsilon).is_none());
/// assert!(useless(5476.0, epsilon).is_some_and(|said| said.contains("as good as none")));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[must_use]
pub fn useless(loss: f64, measure: Measure) -> Option<&'static str> {
    let most = if matches!(measure, Measure::Gaussian) { 10.0 } else { 50.0 };
    if loss == f64::INFINITY {
        return Some(
            "no bound: some of the data may be seen without any noise, which more of the other noises does not change; or the noise is so \
             small that the bound is beyond all numbers here",
        );
    }
    // NaN is no protection either.
    (loss.is_nan() || loss > most).then_some(
        "a bound of this size is as good as none: more noise, fewer rounds or steps, or a limit on contributions (cap, where there is one) \
         may give one that protects",
    )
}

/// One line that replaces a list of pairs if the same bound holds for all of them.
///
/// # Examples
/// ```
/// use ndp_report::words::same_for_all;
/// assert_eq!(same_for_all(600, 2.0), "one bound holds for all 600 pairs: each loses at most 2.00000");
/// ```
#[must_use]
pub fn same_for_all(pairs: usize, loss: f64) -> String {
    if loss.is_finite() {
        format!("one bound holds for all {pairs} pairs: each loses at most {}", up(loss))
    } else {
        format!("no finite bound is known for any of the {pairs} pairs")
    }
}

/// The sentence for the case that there is no pair.
pub const NOBODY_OUTSIDE: &str = "there is nobody outside the observer about whom anything could be learned";

/// The verdict on a limit, followed by what is learned at most.
#[must_use]
pub fn verdict(target: &str, why_not: Option<&str>, most: &str) -> String {
    match why_not {
        None => format!("The limit is kept: {target}. {most}"),
        Some(why) => format!("The limit is not kept or not shown to be kept ({why}): {target}. {most}"),
    }
}

/// Explains [`Coverage::in_short`](ndp_account::Coverage::in_short) if no observer has an account of its own.
pub const BOUND_REACHED: &str = "bound reached: no node alone learns more than a bound says that holds \
     whichever node observes, and one is proven to learn that much, so that no account could lower the noise";

/// How a question about coalitions of a size is answered, before the work.
///
/// # Examples
/// ```
/// use ndp_report::words::coalitions;
/// assert_eq!(coalitions(34, 2, true), "561 coalitions of 2 of 34 nodes are looked at; smaller ones are part of them");
/// assert!(coalitions(37_700, 2, false).starts_with("there are 710626150 coalitions of 2 of 37700 nodes, more than 10000"));
/// ```
#[must_use]
pub fn coalitions(nodes: usize, size: usize, all: bool) -> String {
    let count = number_of_coalitions(nodes, size);
    let count = if count < 1e15 { count.to_string() } else { scientific(count, 1, Round::Up) };
    if all {
        return format!(
            "{count} coalitions of {size} of {nodes} nodes are looked at; smaller ones are part of them"
        );
    }
    format!(
        "there are {count} coalitions of {size} of {nodes} nodes, more than {MOST_COALITIONS} or too many to list: not all are looked \
         at; the answer says what covers the others, if anything does"
    )
}

/// How a question about coalitions of neighbors is answered, before the work.
///
/// # Examples
/// ```
/// use ndp_report::words::coalitions_of_neighbors;
/// assert_eq!(
///     coalitions_of_neighbors(6, 2, Some(8)),
///     "8 coalitions are looked at, which cover every one of at most 2 of 6 nodes that are neighbors of one node"
/// );
/// ```
#[must_use]
pub fn coalitions_of_neighbors(nodes: usize, size: usize, all: Option<usize>) -> String {
    let who = coalition(size, Among::Neighbors, nodes);
    all.map_or_else(
        || {
            format!(
                "there are more than {MOST_COALITIONS} coalitions of {who}: not all are looked at; the answer says what covers the others, \
                 if anything does"
            )
        },
        |count| format!("{count} coalitions are looked at, which cover every one of at most {who}"),
    )
}

/// Which protocols need no noise.
///
/// # Examples
/// ```
/// use ndp_report::words::no_noise_needed;
/// assert_eq!(
///     no_noise_needed(&["gopa".into(), "walk".into()]),
///     "Even at the noise multiplier 1e-150, gopa, walk keep the limits towards those who are looked at"
/// );
/// ```
#[must_use]
pub fn no_noise_needed(protocols: &[String]) -> String {
    format!(
        "Even at the noise multiplier 1e-150, {} keep{} the limits towards those who are looked at",
        protocols.join(", "),
        if protocols.len() == 1 { "s" } else { "" }
    )
}

/// Why no noise is needed, and what this takes for granted.
#[must_use]
pub fn no_noise_if(why: &str, statement: &Statement) -> String {
    let rests_on = statement.rests_on.iter().map(rests_on);
    let granted: Vec<String> =
        rests_on.chain(statement.assumes.iter().map(|&what| assumed(what).to_owned())).collect();
    if granted.is_empty() { why.to_owned() } else { format!("{why}; assumed: {}", granted.join("; ")) }
}

/// The smaller noise that would do for the observers looked at.
#[must_use]
pub fn less_for_those(noise: &str) -> String {
    format!("{noise}, which shows nothing about the others")
}

/// What is said about pairs when time ran out before their losses were computed.
#[must_use]
pub fn out_of_time(known: usize, all: usize, bound: Option<f64>) -> String {
    some_pairs("time ran out", (known, all), bound)
}

/// What is said about pairs whose losses take more than the work that is counted for an answer.
#[must_use]
pub fn out_of_work(known: usize, all: usize, bound: Option<f64>) -> String {
    let why = "all pairs take more work than the default allows (--patience SECONDS gives it more)";
    some_pairs(why, (known, all), bound)
}

fn some_pairs(why: &str, (known, all): (usize, usize), bound: Option<f64>) -> String {
    let others = bound.map_or_else(
        || "nothing is said of the others".to_owned(),
        |bound| {
            format!("each of the others loses at most {}, what the noisy values themselves show", up(bound))
        },
    );
    format!("{why}: {known} of {all} pairs are known, drawn at random; {others}")
}

/// What is known while the accounts of the observers are still being computed. `known` is the loss towards an
/// observer of the noisy values themselves, who learns at least as much as any other.
#[must_use]
pub fn so_far(known: Option<&str>, seconds: Option<u64>) -> String {
    let most = seconds.map_or_else(String::new, |seconds| format!("{seconds} s at most"));
    match known {
        Some(known) => format!(
            "so far: {known}, by what the noisy values themselves show; what is really seen takes longer ({}--patience 0 stops here)",
            if most.is_empty() { most } else { most + "; " }
        ),
        None => format!(
            "so far: nothing is known, and this protocol has no bound that costs nothing; what is seen takes longer{}",
            if most.is_empty() { most } else { format!(" ({most})") }
        ),
    }
}

/// The upper bound for every pair that the question is about.
#[must_use]
pub fn every_pair_at_most(loss: f64, of: Measure) -> String {
    format!("every pair that was asked about loses at most {}, as {of}", up(loss))
}

/// A noise at which every observer of the question keeps the target.
#[must_use]
pub fn noise_is_enough(noise: f64) -> String {
    format!("with noise {} everybody who was asked about keeps the target", up(noise))
}

/// A measure in plain words.
#[must_use]
pub fn measure(measure: Measure) -> String {
    match measure {
        Measure::Approx(delta) => format!(
            "Losses are stated as epsilon at delta {}: whatever is seen, and whatever is made of it, is at most e^epsilon times as likely in \
             one world as in the other, plus {0}.",
            delta.get()
        ),
        Measure::Gaussian => {
            "Losses are stated as mu: the two worlds are as hard to tell apart as two normal laws of variance 1 whose means are mu apart."
                .into()
        }
        other => format!("Losses are stated as {other}, in nats; 0 means that nothing is learned."),
    }
}

/// So many of a thing: `several(1, "round")` is "1 round", `several(2, "round")` is "2 rounds".
///
/// # Examples
/// ```
/// assert_eq!(ndp_report::words::several(1_u64, "pair"), "1 pair");
/// assert_eq!(ndp_report::words::several(0_u64, "pair"), "0 pairs");
/// ```
#[must_use]
pub fn several<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    format!("{number} {thing}{}", if number == N::from(1) { "" } else { "s" })
}

/// A sentence or a name with its first letter capitalised.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
