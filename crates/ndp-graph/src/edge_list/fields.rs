//! The fields of a line of an edge list, between separators that may be quoted.

use super::{ExtraFields, Separator};
use std::borrow::Cow;

/// The separator of a line, which that of its first edge decides for a file.
pub(super) fn detected(text: &str) -> Separator {
    let outside = |separator| stands_outside(separator, text);
    if outside(',') {
        Separator::Comma
    } else if outside(';') {
        Separator::Semicolon
    } else if text.contains('\t') && text.split('\t').any(|field| field.trim().contains(' ')) {
        Separator::Tab
    } else {
        Separator::Whitespace
    }
}

/// Whether a separator occurs outside quotation marks, which open only at the beginning of a field.
fn stands_outside(separator: char, text: &str) -> bool {
    let (mut quoted, mut opens) = (false, true);
    for c in text.chars() {
        match c {
            '"' if quoted => (quoted, opens) = (false, true),
            '"' if opens => quoted = true,
            c if c == separator && !quoted => return true,
            ' ' if opens && !quoted => {}
            _ => opens = false,
        }
    }
    false
}

/// The two ends of an edge, and what else the line contains.
pub(super) type Ends<'a> = ([Cow<'a, str>; 2], More);

/// What a line contains after the ends of an edge.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum More {
    Nothing,
    LeftOut,
    Weight(f64),
}

pub(super) const NO_NUMBER: &str = "has a weight that is no finite number";

/// The ends of the edge of a line, and what else it contains; otherwise what is wrong with it.
pub(super) fn fields(text: &str, separator: Separator, extra: ExtraFields) -> Result<Ends<'_>, &'static str> {
    match separator {
        Separator::Comma => two(Quoted { rest: Some(text), separator: ',' }, extra),
        Separator::Semicolon => two(Quoted { rest: Some(text), separator: ';' }, extra),
        Separator::Tab => two(Quoted { rest: Some(text), separator: '\t' }, extra),
        Separator::Whitespace | Separator::Detect => {
            two(text.split_whitespace().map(|field| Ok(field.into())), extra)
        }
    }
}

fn two<'a>(
    mut fields: impl Iterator<Item = Result<Cow<'a, str>, &'static str>>,
    extra: ExtraFields,
) -> Result<Ends<'a>, &'static str> {
    let mut next = || fields.next().ok_or("has fewer than two fields")?;
    let ends = [next()?, next()?];
    let more = match (extra, fields.next()) {
        (ExtraFields::Refuse, Some(_)) => return Err("has more than two fields"),
        (ExtraFields::Weight, None) => return Err("has no weight in a third field"),
        (ExtraFields::Weight, Some(field)) => {
            let weight = field?.parse::<f64>().ok().filter(|weight| weight.is_finite());
            let weight = More::Weight(weight.ok_or(NO_NUMBER)?);
            if fields.next().is_some() {
                return Err("has more than three fields");
            }
            weight
        }
        (_, None) => More::Nothing,
        (_, Some(_)) => More::LeftOut,
    };
    if ends.iter().any(|end| end.is_empty()) { Err("has an empty field") } else { Ok((ends, more)) }
}

/// Fields between separators, without the white space around them and without enclosing quotation marks.
struct Quoted<'a> {
    rest: Option<&'a str>,
    separator: char,
}

impl<'a> Iterator for Quoted<'a> {
    type Item = Result<Cow<'a, str>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?.trim_start_matches([' ', '\r']);
        let Some(inside) = rest.strip_prefix('"') else {
            let (field, rest) = match rest.split_once(self.separator) {
                Some((field, rest)) => (field, Some(rest)),
                None => (rest, None),
            };
            self.rest = rest;
            return Some(Ok(field.trim().into()));
        };
        let mut label = String::new();
        let mut parts = inside.split('"');
        let mut used = 0;
        while let Some(part) = parts.next() {
            label.push_str(part);
            used += part.len() + 1;
            if used > inside.len() {
                break;
            }
            match inside[used..].chars().next() {
                Some('"') => {
                    label.push('"');
                    used += 1;
                    parts.next();
                }
                _ => {
                    let after = inside[used..].trim_start();
                    self.rest = after.strip_prefix(self.separator);
                    if self.rest.is_none() && !after.is_empty() {
                        return Some(Err("has text after a closing quotation mark"));
                    }
                    return Some(Ok(label.trim().to_owned().into()));
                }
            }
        }
        self.rest = None;
        Some(Err("has a quotation mark that is not closed"))
    }
}
