//! Who looks: nodes together, and who taps edges; with nobody, whoever hears what is published.

use crate::json::{Json, keys};
use crate::program::{Audience, Definition, Event, Program, Reads};
use crate::rational::is_zero;
use crate::{Rejected, need};
use std::collections::{BTreeMap, BTreeSet};

/// An observer of a program and what it sees.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    /// In ascending order.
    pub(crate) members: Vec<usize>,
    /// Directed edges between nodes that are no members, in ascending order.
    pub(crate) taps: Vec<(usize, usize)>,
    /// Of every value, whether it is seen at some time.
    pub(crate) seen: Vec<bool>,
    /// Whether it rests on an assumption that contributions read what had been seen.
    pub(crate) assumes: bool,
}

impl Observer {
    /// The observer of a line, and what it sees.
    ///
    /// # Errors
    /// [`Rejected`] where a member or a tap is named twice, or a tap leads from a node to itself. Also where a
    /// contribution reads a value that the observer need not have seen by then: one that it did not see and
    /// that is no sum of such values, of noises of variance 0, of members' contributions; the owner's own are
    /// known to the owner. What members read they must have seen, too: their data would tell it.
    pub(crate) fn new(program: &Program, said: &Json) -> Result<Self, Rejected> {
        let said = said.table("an observer")?;
        keys(said, &["members", "taps"], &[])?;
        let members = said["members"].list("members")?.iter().map(|node| program.node(node));
        let mut members = members.collect::<Result<Vec<_>, _>>()?;
        let mut taps = Vec::new();
        for tap in said["taps"].list("taps")? {
            let tap = tap.list("a tap")?;
            let [from, to] = tap else { return crate::rejected("a tap is a pair of two nodes") };
            let (from, to) = (program.node(from)?, program.node(to)?);
            need(from != to, || "a tap is a pair of two nodes".into())?;
            taps.push((from, to));
        }
        members.sort_unstable();
        taps.sort_unstable();
        need(members.windows(2).all(|pair| pair[0] < pair[1]), || "a member is named twice".into())?;
        need(taps.windows(2).all(|pair| pair[0] < pair[1]), || "a tap is named twice".into())?;
        // Members see what they send and receive: with such a tap and without it the observer is the same.
        taps.retain(|(from, to)| members.binary_search(from).is_err() && members.binary_search(to).is_err());
        let mut observer = Self { members, taps, seen: vec![false; program.values.len()], assumes: false };
        observer.follow(program)?;
        Ok(observer)
    }

    /// Whether the node is one of those who look.
    pub(crate) fn contains(&self, node: usize) -> bool {
        self.members.binary_search(&node).is_ok()
    }

    fn follow(&mut self, program: &Program) -> Result<(), Rejected> {
        let mut known = vec![false; program.values.len()];
        let mut own: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for event in &program.story {
            match event {
                Event::Seen(value, audience) => {
                    if self.sees(*audience) {
                        self.seen[*value] = true;
                        known[*value] = true;
                    }
                }
                Event::Value(value) => {
                    known[*value] = match &program.values[*value] {
                        Definition::Use { node, .. } => self.contains(*node),
                        Definition::Noise(variance) => is_zero(variance),
                        Definition::Sum(terms) => terms.iter().all(|(term, _)| known[*term]),
                    };
                }
                Event::Reads(value, reads) => {
                    let Definition::Use { node, .. } = program.values[*value] else { continue };
                    self.assumes |= matches!(reads, Reads::Seen);
                    let own = own.entry(node).or_default();
                    if let Reads::Listed(read) = reads {
                        need(read.iter().all(|term| known[*term] || own.contains(term)), || {
                            format!(
                                "a contribution of node {node} reads what the observer need not have seen by then"
                            )
                        })?;
                    }
                    own.insert(*value);
                }
            }
        }
        Ok(())
    }

    fn sees(&self, audience: Audience) -> bool {
        match audience {
            Audience::Message(from, to) => {
                self.contains(from) || self.contains(to) || self.taps.binary_search(&(from, to)).is_ok()
            }
            Audience::All => true,
            Audience::Node(node) => self.contains(node),
        }
    }
}
