//! One line: a JSON object whose keys are checked.

use crate::{ProgramError, Weight};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// The keys of a line with their values.
pub(crate) struct Line<'a> {
    map: &'a Map<String, Json>,
}

pub(super) fn syntax<T>(problem: impl Into<String>) -> Result<T, ProgramError> {
    Err(ProgramError::Syntax(problem.into()))
}

impl<'a> Line<'a> {
    /// The line, which may have no keys other than these.
    pub(crate) fn new(map: &'a Map<String, Json>, keys: &[&str]) -> Result<Self, ProgramError> {
        match map.keys().find(|key| !keys.contains(&key.as_str())) {
            Some(key) => syntax(format!("the key {key:?} does not belong here, only {keys:?} do")),
            None => Ok(Self { map }),
        }
    }

    /// The key that the line has among keys that exclude each other, if any.
    pub(super) fn one_of(&self, keys: &[&'static str]) -> Result<Option<&'static str>, ProgramError> {
        let mut given = keys.iter().copied().filter(|key| self.has(key));
        match (given.next(), given.next()) {
            (Some(first), Some(second)) => syntax(format!("{first:?} and {second:?} exclude each other")),
            (first, _) => Ok(first),
        }
    }

    /// Refuses all keys except these, which may accompany `key`.
    pub(super) fn only(&self, key: &str, others: &[&str]) -> Result<(), ProgramError> {
        match self.map.keys().find(|given| *given != key && !others.contains(&given.as_str())) {
            Some(other) => syntax(format!("{other:?} does not go with {key:?}")),
            None => Ok(()),
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub(crate) fn get(&self, key: &str) -> Result<&'a Json, ProgramError> {
        self.map.get(key).map_or_else(|| syntax(format!("the key {key:?} is missing")), Ok)
    }

    pub(crate) fn text(&self, key: &str) -> Result<&'a str, ProgramError> {
        self.get(key)?.as_str().map_or_else(|| syntax(format!("{key:?} must be a text")), Ok)
    }

    pub(crate) fn number(&self, key: &str) -> Result<usize, ProgramError> {
        index(self.get(key)?, key)
    }

    pub(crate) fn weight(&self, key: &str) -> Result<Weight, ProgramError> {
        weight(self.get(key)?)
    }

    /// A list of nodes, or one node.
    pub(crate) fn nodes(&self, key: &str) -> Result<Vec<usize>, ProgramError> {
        match self.get(key)? {
            Json::Array(list) => list.iter().map(|x| index(x, key)).collect(),
            one => Ok(vec![index(one, key)?]),
        }
    }

    /// A list of texts, some of which may be equal, or a single text.
    pub(super) fn repeated_texts(&self, key: &str) -> Result<Vec<&'a str>, ProgramError> {
        let one = |x: &'a Json| x.as_str().map_or_else(|| syntax(format!("{key:?} must hold texts")), Ok);
        match self.get(key)? {
            Json::Array(list) => list.iter().map(one).collect(),
            single => Ok(vec![one(single)?]),
        }
    }

    /// A list of different texts, or a single text.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<&'a str>, ProgramError> {
        let texts = self.repeated_texts(key)?;
        let mut known = BTreeSet::new();
        match texts.iter().find(|text| !known.insert(**text)) {
            Some(text) => syntax(format!("{text:?} is given twice in {key:?}")),
            None => Ok(texts),
        }
    }

    /// Rows of weights.
    pub(super) fn table(&self, key: &str) -> Result<Vec<Vec<Weight>>, ProgramError> {
        let Json::Array(rows) = self.get(key)? else {
            return syntax(format!("{key:?} must be a list of lists"));
        };
        rows.iter().map(|row| weights(row, key)).collect()
    }

    pub(super) fn weights(&self, key: &str) -> Result<Vec<Weight>, ProgramError> {
        weights(self.get(key)?, key)
    }

    /// Pairs of a text and a weight.
    pub(super) fn terms(&self, key: &str) -> Result<Vec<(&'a str, Weight)>, ProgramError> {
        match self.get(key)? {
            Json::Object(terms) => terms.iter().map(|(name, x)| Ok((name.as_str(), weight(x)?))).collect(),
            Json::String(name) => Ok(vec![(name.as_str(), Weight::from(1))]),
            _ => syntax(format!("{key:?} must be an object of names and weights")),
        }
    }
}

fn weights(list: &Json, key: &str) -> Result<Vec<Weight>, ProgramError> {
    match list {
        Json::Array(list) => list.iter().map(weight).collect(),
        _ => syntax(format!("{key:?} must be a list of numbers")),
    }
}

pub(super) fn index(x: &Json, key: &str) -> Result<usize, ProgramError> {
    let number = x.as_u64().and_then(|x| usize::try_from(x).ok());
    number.map_or_else(|| syntax(format!("{key:?} must be a whole number, got {x}")), Ok)
}

/// An exact number: an integer, a ratio as text, or the `f64` that is written.
pub(super) fn weight(x: &Json) -> Result<Weight, ProgramError> {
    match x {
        Json::String(text) => text.parse(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Weight::from(integer)),
            (None, Some(float)) => Ok(Weight::from(float)),
            (None, None) => Err(ProgramError::NotANumber(number.to_string())),
        },
        other => Err(ProgramError::NotANumber(other.to_string())),
    }
}
