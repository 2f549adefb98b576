//! What nodes hold: whether each node can form what it sends, mixes and ends with.
//!
//! A program says which sums are formed, and who sees what. This alone does not keep a node from sending a
//! value that it was never told. The account of such a program would be one of messages that nobody can send,
//! without the further messages that would be needed. When a program is read, it is therefore checked that
//! each value that a node sends, mixes or ends with is a combination of its contributions, its noises, what
//! it was sent before and what is public. In most cases this follows from the program's own sums; otherwise
//! the rank decides, as in [`adaptivity`](crate::adaptivity).

use crate::ProgramError;
use crate::adaptivity::spanned;
use crate::build::{Program, Seeing};
use crate::observers::Seen;
use crate::registers::{Definition, Primitive};
use ndp_account::{Error, Observer};
use ndp_numeric::stop::Stop;
use num_rational::BigRational;
use num_traits::Zero;
use std::collections::{BTreeMap, BTreeSet};

/// What every node holds, followed step by step.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    /// Values with the nodes that hold them, without those that follow by the program's sums.
    held: BTreeSet<(usize, usize)>,
    /// Values that everybody holds.
    public: Vec<bool>,
    /// Sums that a node was told without holding their terms.
    told: BTreeMap<usize, Vec<usize>>,
    /// The nodes whose results have been checked.
    ended: BTreeSet<usize>,
    /// The numbers of values and events that have been checked.
    values: usize,
    events: usize,
}

impl Program {
    /// Checks that every node can form what it sends, mixes and ends with from what it holds: its
    /// contributions, the noises that it drew or shares, what it was sent before, and what is public.
    ///
    /// An account does not need this: it is the account of the messages as they are stated. But if a node
    /// sends something that it cannot have, no protocol has exactly these messages. [`read`](Self::read)
    /// checks it.
    ///
    /// # Errors
    /// [`ProgramError::NotHeld`], which is proven. A positive answer that needed a rank rests on primes drawn
    /// from a hash, as accounts do. [`ndp_graph::Error::TooLarge`] if deciding it needs ranks of too many
    /// values.
    ///
    /// # Examples
    /// ```
    /// use ndp_program::{Program, Reads};
    /// let mut program = Program::new(2)?;
    /// let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    /// let y = program.add_all(&x, &z)?;
    /// let sum = program.add(&y)?;
    /// program.result([(0, sum)])?;
    /// assert!(program.check_holdings().is_err()); // nobody has told node 0 the value of node 1
    /// # Ok::<(), ndp_program::ProgramError>(())
    /// ```
    pub fn check_holdings(&self) -> Result<(), Error> {
        Holdings::default().follow(self)
    }

    /// Whether [`check_holdings`](Self::check_holdings) succeeds; computed once for a program and its copies.
    pub(super) fn holds(&self) -> bool {
        self.held.or_find(|| self.check_holdings().is_ok())
    }
}

impl Holdings {
    /// Checks what was added to the program since the last call.
    ///
    /// # Errors
    /// Those of [`Program::check_holdings`].
    pub(super) fn follow(&mut self, program: &Program) -> Result<(), Error> {
        self.public.resize(program.values.len(), false);
        loop {
            let made = program.moments.get(self.values).copied();
            match (made, program.events.get(self.events)) {
                (Some(made), event) if event.is_none_or(|event| made < event.moment) => {
                    self.values += 1;
                    self.made(program, self.values - 1, made)?;
                }
                (_, Some(event)) => {
                    self.events += 1;
                    self.seen(program, event.value, &event.seeing, event.moment)?;
                }
                (_, None) => break,
            }
        }
        if self.ended.len() < program.results.len() {
            for (&node, &value) in &program.results {
                if self.ended.insert(node) {
                    self.require(program, &[node], value, usize::MAX, "a result")?;
                }
            }
        }
        Ok(())
    }

    fn made(&mut self, program: &Program, value: usize, moment: usize) -> Result<(), Error> {
        match &program.values[value] {
            Definition::Contribution(k) => {
                self.held.insert((value, program.contributions[*k].node));
            }
            Definition::Noise(k) => self.public[value] = program.noises[*k].variance.is_zero(),
            Definition::Sum(_) => {}
            Definition::Mixed { row, .. } => {
                self.require(program, &[*row], value, moment, "what comes of gossip")?;
            }
        }
        Ok(())
    }

    fn seen(&mut self, program: &Program, value: usize, seeing: &Seeing, moment: usize) -> Result<(), Error> {
        match seeing {
            Seeing::Message { from, to } => {
                self.require(program, &[*from], value, moment, "a message")?;
                self.learn(program, *to, value);
            }
            Seeing::Broadcast { from } => {
                if let Some(from) = from {
                    self.require(program, &[*from], value, moment, "a message")?;
                }
                self.public[value] = true;
            }
            Seeing::SecureSum { to, group } => {
                self.require(program, group, value, moment, "a secure sum")?;
                self.learn(program, *to, value);
            }
            Seeing::Held { by } => self.learn(program, *by, value),
        }
        Ok(())
    }

    /// Whether a node holds a value, without what follows by sums.
    fn has(&self, node: usize, value: usize) -> bool {
        self.public[value] || self.held.contains(&(value, node))
    }

    /// A node is told a value. If the value is a sum with one term that it does not hold, it learns that
    /// term.
    fn learn(&mut self, program: &Program, node: usize, value: usize) {
        let mut next = Some(value);
        while let Some(value) = next.take() {
            self.held.insert((value, node));
            match &self.missing(program, node, value)[..] {
                [] => {}
                [(term, _)] => next = Some(*term),
                _ => self.told.entry(node).or_default().push(value),
            }
        }
    }

    /// The terms of a sum that a node does not hold.
    fn missing<'a>(&self, program: &'a Program, node: usize, value: usize) -> Vec<(usize, &'a BigRational)> {
        let mut terms = program.values[value].terms();
        terms.retain(|(term, _)| !self.has(node, *term));
        terms
    }

    /// Checks that nodes together can form a value at this moment.
    fn require(
        &mut self,
        program: &Program,
        nodes: &[usize],
        value: usize,
        moment: usize,
        what: &'static str,
    ) -> Result<(), Error> {
        if self.by_sums(program, nodes, value) || by_rank(program, nodes, value, moment)? {
            if let [node] = nodes {
                self.held.insert((value, *node));
            }
            return Ok(());
        }
        Err(ProgramError::NotHeld { nodes: nodes.to_vec(), what }.into())
    }

    /// Whether the value follows by the program's own sums from what the nodes hold. A sum of public values
    /// is public: the mean that every node ends with is followed once, not once for every node.
    fn by_sums(&mut self, program: &Program, nodes: &[usize], value: usize) -> bool {
        let mut group = nodes.to_vec();
        group.sort_unstable();
        let holds = |value: usize| match nodes {
            [node] => self.held.contains(&(value, *node)),
            _ => {
                let mut holders = self.held.range((value, 0)..=(value, usize::MAX)).map(|(_, node)| node);
                holders.any(|node| group.binary_search(node).is_ok())
            }
        };
        let (mut open, mut all_public, mut formed) = (BTreeSet::from([value]), true, true);
        while let Some(next) = open.pop_last().filter(|_| formed) {
            match &program.values[next] {
                _ if self.public[next] => {}
                _ if holds(next) => all_public = false,
                Definition::Contribution(_) | Definition::Noise(_) => formed = false,
                sum => sum.each_term(|term, _| {
                    open.insert(term);
                }),
            }
        }
        if formed {
            self.public[value] = all_public;
            return true;
        }
        // The missing terms may be most of a sum that the node was told, such as that of its neighbors.
        if let [node] = nodes {
            let missing = self.missing(program, *node, value);
            let told = self.told.get(node).map_or(&[][..], Vec::as_slice);
            let same = |sum: &&usize| {
                let known = self.missing(program, *node, **sum);
                known.len() == missing.len()
                    && known
                        .iter()
                        .zip(&missing)
                        .all(|((a, x), (b, y))| a == b && *x * missing[0].1 == *y * known[0].1)
            };
            if !missing.is_empty() && told.iter().rev().take(MAX_TOLD).any(|sum| same(&sum)) {
                return true;
            }
        }
        false
    }
}

/// Whether the value is a combination of what the nodes hold before this moment.
fn by_rank(program: &Program, nodes: &[usize], value: usize, moment: usize) -> Result<bool, Error> {
    let seen = Seen::outline(program, &Observer::coalition(nodes), &BTreeMap::new())?;
    if seen.deeper_than(program, MAX_WRITTEN) {
        let (what, bytes) = ("the check of what nodes hold", MAX_WRITTEN as u128 * BYTES);
        return Err(ndp_graph::Error::TooLarge { what, bytes, limit: bytes }.into());
    }
    let before = |from: Option<usize>| from.is_some_and(|from| from < moment);
    let unknown = |primitive: &Primitive| match primitive {
        Primitive::Contribution(k) => !seen.members[program.contributions[*k].node],
        Primitive::Noise(k) => {
            let noise = &program.noises[*k];
            !noise.variance.is_zero() && !before(seen.known_from[noise.value])
        }
    };
    let rows = (0..program.values.len()).filter(|&value| before(seen.first[value]));
    Ok(spanned(program, rows, &[value], unknown, &Stop::never())?.is_some())
}

/// The number of last sums that are compared with the missing terms.
const MAX_TOLD: usize = 64;
/// The largest number of coefficients of the values whose ranks are decided.
const MAX_WRITTEN: usize = 1_000_000;
/// The least number of bytes of an exact coefficient.
const BYTES: u128 = 128;
