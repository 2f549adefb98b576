//! The text of a line as JSON, with checks that JSON readers omit: keys that are given twice, and numbers
//! that cannot be represented.

use super::line::syntax;
use crate::ProgramError;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use std::fmt;

/// One line as an object.
///
/// # Errors
/// [`ProgramError::Syntax`] for a text that is not a JSON object, for a key that is given twice in an object
/// at any depth, for an integer that does not fit into 64 bits with a sign, and for a nonzero number that
/// would be read as 0.
pub(crate) fn object(text: &str) -> Result<Map<String, Json>, ProgramError> {
    match serde_json::from_str(text) {
        Ok(Strict(Json::Object(map))) => {
            kept(text)?;
            Ok(map)
        }
        Ok(_) => syntax("a line must be a JSON object"),
        Err(error) => {
            // The error names the line already.
            let problem = error.to_string().replacen(" at line 1 column ", ", column ", 1);
            syntax(if error.is_data() { problem } else { format!("no JSON: {problem}") })
        }
    }
}

/// A value in which no object has a key twice.
struct Strict(Json);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Once).map(Self)
    }
}

struct Once;

impl<'de> Visitor<'de> for Once {
    type Value = Json;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(Strict(next)) = list.next_element()? {
            found.push(next);
        }
        Ok(Json::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut found = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if found.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} is given twice")));
            }
            found.insert(key, value);
        }
        Ok(Json::Object(found))
    }
}

/// Checks the numbers in a JSON text: outside of strings, a number begins with a digit or a minus.
fn kept(text: &str) -> Result<(), ProgramError> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(inside) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = inside.find(|c: char| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            rest = end.map_or("", |end| &inside[end + 1..]);
        } else {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)));
            let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
            check(number)?;
            rest = after;
        }
    }
    Ok(())
}

fn check(number: &str) -> Result<(), ProgramError> {
    if !number.contains(['.', 'e', 'E']) {
        return match number.parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => syntax(format!("{number} is beyond 64 bits: write it as a text, \"{number}\"")),
        };
    }
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    if number.parse() == Ok(0.0) && digits.contains(|c: char| ('1'..='9').contains(&c)) {
        return syntax(format!("{number} would be read as 0: write it as a ratio, such as \"1/3\""));
    }
    Ok(())
}
