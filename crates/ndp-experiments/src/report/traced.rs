//! Links from a mark of a picture to the row of the table that holds its numbers.

use super::escape;
use crate::output::Record;
use ndp_report::table::{self, Row, VALUE, number};
use std::collections::BTreeMap;
use std::path::Path;

/// The index of a file among the tables of a figure, and the line.
type Place = (usize, usize);

/// The rows of a figure's numbers, by the text of the marks.
pub(super) struct Traced {
    /// The tables.
    pub(super) files: Vec<String>,
    /// The places by the whole text of a mark.
    exactly: BTreeMap<String, Vec<Place>>,
    /// The places by the number alone, because views give a number other names.
    number: BTreeMap<String, Vec<Place>>,
}

impl Traced {
    /// All rows of the tables of a figure.
    pub(super) fn new(out: &Path, record: &Record) -> Self {
        let files: Vec<String> = record.files.iter().filter(|file| file.ends_with(".csv")).cloned().collect();
        let mut found = Self { files, exactly: BTreeMap::new(), number: BTreeMap::new() };
        for (file, name) in found.files.iter().enumerate() {
            // If a table cannot be read, no mark leads to it.
            let rows = table::read(&out.join(name)).unwrap_or_default();
            for (k, row) in rows.iter().enumerate().filter(|(_, row)| row.column.is_none_or(|c| c == VALUE)) {
                // The first line is the header.
                let place = (file, k + 2);
                found.exactly.entry(escape(&said(row))).or_default().push(place);
                found.number.entry(number(row.y)).or_default().push(place);
            }
        }
        found
    }

    /// The picture with every mark linked to its row: the only row with the text of the mark, or else the
    /// only one with its number.
    pub(super) fn mark(&self, svg: &str) -> String {
        let mut marked = String::with_capacity(svg.len());
        let mut rest = svg;
        while let Some((before, after)) = rest.split_once("><title>") {
            let text = after.split_once("</title>").map_or("", |(text, _)| text);
            marked.push_str(before);
            if let Some((file, line)) = self.place(text) {
                marked.push_str(&format!(" data-row=\"{file}:{line}\""));
            }
            marked.push_str("><title>");
            rest = after;
        }
        marked.push_str(rest);
        marked
    }

    fn place(&self, text: &str) -> Option<Place> {
        let only = |places: Option<&Vec<Place>>| match places.map(Vec::as_slice) {
            Some([place]) => Some(*place),
            _ => None,
        };
        // In rows of dots, a mark names its case in brackets.
        let row = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map_or(text, |(row, _)| row);
        only(self.exactly.get(text)).or_else(|| only(self.exactly.get(row))).or_else(|| {
            let (_, numbers) = text.rsplit_once(": ")?;
            only(self.number.get(numbers.split(' ').next()?))
        })
    }
}

/// The text of the mark that shows a row.
fn said(row: &Row) -> String {
    let range = match (row.low, row.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        _ => String::new(),
    };
    if row.column.is_some() {
        return format!("node {}, {}: {}", number(row.x), row.grade, number(row.y));
    }
    format!("{}, {}: {}{range} at {}", row.series, row.grade, number(row.y), number(row.x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mark leads to its own row. If two rows have its number, it leads to none; a renamed mark leads to
    /// the row with its number.
    #[test]
    fn marks_lead_to_their_rows() {
        let places = |pairs: &[(&str, &[Place])]| {
            pairs.iter().map(|(text, places)| ((*text).to_owned(), places.to_vec())).collect()
        };
        let traced = Traced {
            files: vec!["a.csv".into()],
            exactly: places(&[("a &amp; b, exact: 0.5 at 2", &[(0, 7)])]),
            number: places(&[("0.5", &[(0, 7), (0, 9)]), ("0.25", &[(0, 8)])]),
        };
        let circle = |text: &str| format!("<circle r=\"6\"><title>{text}</title></circle>");
        let svg =
            [circle("a &amp; b, exact: 0.5 at 2"), circle("other: 0.25 at 1"), circle("other: 0.5 at 1")];
        let case = traced.mark(&circle("a &amp; b, exact: 0.5 at 2 (on the ring)"));
        assert!(case.contains("data-row=\"0:7\""), "{case}");
        let marked = traced.mark(&svg.concat());
        assert_eq!(marked.matches("data-row").count(), 2);
        assert!(marked.contains("r=\"6\" data-row=\"0:7\"><title>a &amp;"));
        assert!(marked.contains("data-row=\"0:8\"><title>other: 0.25") && marked.ends_with("</circle>"));
    }
}
