//! Names of values: of a single value, of one value for every node, or of a list of either over time.

use super::line::syntax;
use crate::{ProgramError, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    One(Value),
    /// One value for every node, or for some nodes.
    Family(Vec<Option<Value>>),
    /// A list over time.
    Timed(Vec<Entry>),
}

/// The names, with those of a repeated block kept apart.
#[derive(Default)]
pub(super) struct Names {
    entries: BTreeMap<String, Entry>,
    /// The names that were defined in the innermost blocks, which end with an iteration.
    blocks: Vec<BTreeSet<String>>,
    /// The counters of the blocks.
    counters: Vec<usize>,
}

impl Names {
    pub(super) fn enter(&mut self, iteration: usize) {
        self.blocks.push(BTreeSet::new());
        self.counters.push(iteration);
    }

    pub(super) fn exit(&mut self) {
        self.counters.pop();
        for name in self.blocks.pop().into_iter().flatten() {
            self.entries.remove(&name);
        }
    }

    /// A new name.
    ///
    /// # Errors
    /// [`ProgramError::RepeatedName`]; a name with other characters than letters, digits, `-` and `_`.
    pub(super) fn define(&mut self, name: &str, entry: Entry) -> Result<(), ProgramError> {
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return syntax(format!("{name:?} is no name: letters, digits, '-' and '_' make one"));
        }
        if self.entries.contains_key(name) {
            return Err(ProgramError::RepeatedName(name.to_owned()));
        }
        self.entries.insert(name.to_owned(), entry);
        if let Some(block) = self.blocks.last_mut() {
            block.insert(name.to_owned());
        }
        Ok(())
    }

    /// Gives a known name another meaning.
    ///
    /// # Errors
    /// [`ProgramError::UnknownName`].
    pub(super) fn replace(&mut self, name: &str, entry: Entry) -> Result<(), ProgramError> {
        match self.entries.get_mut(name) {
            Some(known) => {
                *known = entry;
                Ok(())
            }
            None => Err(ProgramError::UnknownName(name.to_owned())),
        }
    }

    /// What `name`, `name[k]`, `name[t]` or `name[t+1]` stands for; and the value of `name@u` or `name[k]@u`.
    fn locate(&self, reference: &str) -> Result<(&Entry, Option<Value>), ProgramError> {
        let unknown = || ProgramError::UnknownName(reference.to_owned());
        let (rest, node) = match reference.split_once('@') {
            Some((rest, node)) => (rest, Some(place(node).ok_or_else(unknown)?)),
            None => (reference, None),
        };
        let (name, time) = match rest.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
            Some((name, time)) if time.starts_with('t') => {
                // The counter of the innermost block, or a later time.
                let later = match time.strip_prefix("t+") {
                    Some(later) => place(later).ok_or_else(unknown)?,
                    None if time == "t" => 0,
                    None => return Err(unknown()),
                };
                let counter = self.counters.last().copied();
                let counter = counter.map_or_else(|| syntax("[t] stands outside of a repeated block"), Ok)?;
                (name, Some(counter.saturating_add(later)))
            }
            Some((name, time)) => (name, Some(place(time).ok_or_else(unknown)?)),
            None => (rest, None),
        };
        let mut entry = self.entries.get(name).ok_or_else(unknown)?;
        match (entry, time) {
            (Entry::Timed(list), Some(time)) => entry = list.get(time).ok_or_else(unknown)?,
            (Entry::Timed(_), None) => {
                return syntax(format!("{name} is a list over time: write {name}[0] or {name}[t]"));
            }
            (_, Some(_)) => return syntax(format!("{name} is no list over time")),
            (_, None) => {}
        }
        match (entry, node) {
            (Entry::Family(family), Some(node)) => {
                Ok((entry, Some(family.get(node).copied().flatten().ok_or_else(unknown)?)))
            }
            (_, Some(_)) => syntax(format!("{name} is a single value: write it without @")),
            (entry, None) => Ok((entry, None)),
        }
    }

    /// What a reference stands for.
    pub(super) fn find(&self, reference: &str) -> Result<Entry, ProgramError> {
        let (entry, value) = self.locate(reference)?;
        Ok(value.map_or_else(|| entry.clone(), Entry::One))
    }

    /// A single value.
    pub(super) fn one(&self, reference: &str) -> Result<Value, ProgramError> {
        match self.find(reference)? {
            Entry::One(value) => Ok(value),
            _ => syntax(format!(
                "{reference} is one value for every node: write {reference}@0 for that of node 0"
            )),
        }
    }

    /// The value at a node: that of a family, or the single one.
    pub(super) fn at(&self, reference: &str, node: usize) -> Result<Value, ProgramError> {
        match self.locate(reference)? {
            (_, Some(value)) | (&Entry::One(value), None) => Ok(value),
            (Entry::Family(family), None) => match family.get(node).copied().flatten() {
                Some(value) => Ok(value),
                None => syntax(format!("{reference} has no value at node {node}: name the nodes meant")),
            },
            (Entry::Timed(_), None) => Err(ProgramError::UnknownName(reference.to_owned())),
        }
    }

    /// All values that a name stands for.
    pub(super) fn all(&self, reference: &str) -> Result<Vec<Value>, ProgramError> {
        Ok(match self.find(reference)? {
            Entry::One(value) => vec![value],
            Entry::Family(family) => family.into_iter().flatten().collect(),
            Entry::Timed(_) => Vec::new(),
        })
    }
}

/// A node, a time or a column within a text, written in only one way: without sign and leading zeros.
pub(super) fn place(text: &str) -> Option<usize> {
    text.parse().ok().filter(|place: &usize| place.to_string() == text)
}
