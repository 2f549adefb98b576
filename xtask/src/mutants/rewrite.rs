//! Puts switches into a source: `a < b` becomes `(if on!(7) { (a <= b) } else { (a < b) })`.
//!
//! Only text without line breaks is inserted, so that line numbers stay the same.

use super::candidates::{Mutant, Shape};
use std::cmp::Reverse;
use std::ops::Range;

/// The place of a switch in the rewritten text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Region {
    pub(super) id: u32,
    /// The code that runs if the mutant is on.
    pub(super) mutated: Range<usize>,
    /// The switch with everything that it encloses.
    pub(super) whole: Range<usize>,
}

/// The source with the switches, and their places.
pub(super) fn rewrite(text: &str, mutants: &[Mutant]) -> (String, Vec<Region>) {
    let mut sorted: Vec<&Mutant> = mutants.iter().collect();
    sorted.sort_by_key(|it| (it.span.start, Reverse(it.span.end), layer(&it.shape), it.entry.id()));
    let mut writer = Writer { text, out: String::with_capacity(text.len() * 2), regions: Vec::new() };
    writer.write(0..text.len(), &sorted);
    (writer.out, writer.regions)
}

/// The order of switches at the same place, the outermost first.
fn layer(shape: &Shape) -> u8 {
    match shape {
        Shape::Skip => 0,
        Shape::Most => 1,
        Shape::Replace { .. } => 2,
        Shape::Return(_) => 3,
    }
}

struct Writer<'a> {
    text: &'a str,
    out: String,
    regions: Vec<Region>,
}

impl Writer<'_> {
    /// Writes a piece of the source with the switches in it, which must be sorted.
    fn write(&mut self, piece: Range<usize>, mutants: &[&Mutant]) {
        let mut place = piece.start;
        let mut rest = mutants;
        while let Some(first) = rest.first() {
            let span = first.span.clone();
            let alike = |it: &&&Mutant| it.span == span && layer(&it.shape) == layer(&first.shape);
            let same = rest.iter().take_while(alike).count();
            let within = rest[same..].iter().take_while(|it| it.span.start < span.end).count();
            self.out.push_str(&self.text[place..span.start]);
            self.switch(span.clone(), &rest[..same], &rest[same..same + within]);
            place = span.end;
            rest = &rest[same + within..];
        }
        self.out.push_str(&self.text[place..piece.end]);
    }

    /// Writes the switches of one place, around the source there with the switches `within` it.
    fn switch(&mut self, span: Range<usize>, same: &[&Mutant], within: &[&Mutant]) {
        let start = self.out.len();
        let mut mutated = vec![None; same.len()];
        match &same[0].shape {
            Shape::Skip => {
                let on: Vec<String> = same.iter().map(|it| on(it)).collect();
                self.out.push_str(&format!("if !({}) {{ ", on.join(" || ")));
                self.write(span, within);
                self.out.push_str(" }");
            }
            Shape::Most => {
                self.out.push_str(&format!("::ndp_mutant::most({}, ", on(same[0])));
                self.write(span, within);
                self.out.push(')');
            }
            Shape::Replace { braced, .. } => {
                self.out.push_str(if *braced { "{ (" } else { "(" });
                for (it, place) in same.iter().zip(&mut mutated) {
                    self.out.push_str(&format!("if {} {{ (", on(it)));
                    let begin = self.out.len();
                    if let Shape::Replace { with, .. } = &it.shape {
                        self.out.push_str(&one_line(with));
                    }
                    *place = Some(begin..self.out.len());
                    self.out.push_str(") } else ");
                }
                self.out.push_str("{ (");
                self.write(span, within);
                self.out.push_str(if *braced { ") }) }" } else { ") })" });
            }
            Shape::Return(_) => {
                for (it, place) in same.iter().zip(&mut mutated) {
                    let begin = self.out.len();
                    if let Shape::Return(value) = &it.shape {
                        self.out.push_str(&format!(" if {} {{ return {value}; }}", on(it)));
                    }
                    *place = Some(begin..self.out.len());
                }
            }
        }
        let whole = start..self.out.len();
        for (it, place) in same.iter().zip(mutated) {
            let mutated = place.unwrap_or(whole.clone());
            self.regions.push(Region { id: it.entry.id(), mutated, whole: whole.clone() });
        }
    }
}

fn on(mutant: &Mutant) -> String {
    format!("::ndp_mutant::on!(0x{:08x})", mutant.entry.id())
}

/// Puts a replacement on one line, unless it contains a comment or a string.
fn one_line(text: &str) -> String {
    if text.contains("//") || text.contains('"') { text.to_owned() } else { text.replace('\n', " ") }
}

/// The lines around a mutant, without and with the change.
pub(super) fn difference(text: &str, mutant: &Mutant) -> String {
    let Range { start, end } = mutant.span;
    let first = text[..start].rfind('\n').map_or(0, |place| place + 1);
    let last = text[end..].find('\n').map_or(text.len(), |place| end + place);
    let (before, old, after) = (&text[first..start], &text[start..end], &text[end..last]);
    let new = match &mutant.shape {
        Shape::Skip => String::new(),
        Shape::Most => format!("all_but_the_last({old})"),
        Shape::Replace { with, .. } => with.clone(),
        Shape::Return(value) => format!(" return {value};"),
    };
    let marked = |sign: char, piece: &str| {
        let lines = piece.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| format!("    {sign} {line}\n")).collect::<String>()
    };
    marked('-', &format!("{before}{old}{after}")) + &marked('+', &format!("{before}{new}{after}"))
}

/// The number of the line where a mutant begins.
pub(super) fn line_number(text: &str, mutant: &Mutant) -> usize {
    text[..mutant.span.start].matches('\n').count() + 1
}
