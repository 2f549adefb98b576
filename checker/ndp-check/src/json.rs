//! One line of a file: a JSON object whose keys stand once, without inexact numbers.

use crate::{Rejected, need, rejected};
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// A value of JSON; numbers are whole, exact ones are texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Truth(bool),
    Whole(u64),
    /// A whole number below 0, which no place of the format takes.
    Negative(i64),
    Text(String),
    List(Vec<Json>),
    Table(BTreeMap<String, Json>),
}

/// The object of a line.
///
/// # Errors
/// [`Rejected`] for what is no JSON, for keys given twice at any depth, for other numbers than whole ones,
/// and for a line that is no object.
pub(crate) fn parse(line: &str) -> Result<BTreeMap<String, Json>, Rejected> {
    match serde_json::from_str(line) {
        Ok(Json::Table(table)) => Ok(table),
        Ok(_) => rejected("a line is one JSON object"),
        Err(error) => rejected(format!("this is not JSON as the format has it: {error}")),
    }
}

/// Requires every one of `needed` and allows those of `optional` and no others.
pub(crate) fn keys(
    table: &BTreeMap<String, Json>,
    needed: &[&str],
    optional: &[&str],
) -> Result<(), Rejected> {
    for key in needed {
        need(table.contains_key(*key), || format!("the key {key:?} is missing"))?;
    }
    let strange =
        table.keys().find(|key| !needed.contains(&key.as_str()) && !optional.contains(&key.as_str()));
    match strange {
        Some(key) => rejected(format!("the key {key:?} does not belong here")),
        None => Ok(()),
    }
}

impl Json {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The list, if it is one.
    pub(crate) fn list(&self, what: &str) -> Result<&[Self], Rejected> {
        if let Self::List(list) = self { Ok(list) } else { rejected(format!("{what} is no list")) }
    }

    /// The table, if it is one.
    pub(crate) fn table(&self, what: &str) -> Result<&BTreeMap<String, Self>, Rejected> {
        if let Self::Table(table) = self { Ok(table) } else { rejected(format!("{what} is no table")) }
    }

    /// A whole number from `least` on.
    pub(crate) fn whole(&self, what: &str, least: u64) -> Result<u64, Rejected> {
        match self {
            Self::Whole(x) if *x >= least => Ok(*x),
            other => rejected(format!("{what} is {other:?}, no whole number from {least} on")),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Once)
    }
}

/// Builds values, and refuses keys that are given twice.
struct Once;

impl<'de> Visitor<'de> for Once {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a whole number, a list or a table")
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<Json, E> {
        Ok(Json::Truth(x))
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Json, E> {
        Ok(Json::Whole(x))
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Json, E> {
        Ok(u64::try_from(x).map_or(Json::Negative(x), Json::Whole))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Json, E> {
        Err(E::custom(format!("the number {x} is no exact one: write it as text, such as \"1/10\"")))
    }

    fn visit_str<E: Error>(self, x: &str) -> Result<Json, E> {
        Ok(Json::Text(x.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(x) = list.next_element()? {
            found.push(x);
        }
        Ok(Json::List(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Json, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((key, value)) = table.next_entry::<String, Json>()? {
            if found.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is given twice")));
            }
            found.insert(key, value);
        }
        Ok(Json::Table(found))
    }
}
