//! Compares the numbers of a run with the committed ones, and replaces the committed ones.
//!
//! A reference is a small CSV per figure and scale. A series of at most [`FEW`] points is kept point by point
//! (`y`, `low`, `high` at every abscissa). For a longer series, and for matrices, the number of values is
//! kept, and their mean, root mean square, minimum and maximum. Positions in drawings are not compared.

use crate::entry::Tolerance;
use ndp_report::figure::Scale;
use ndp_report::files::{OutputError, write};
use ndp_report::table::{POSITION, Row, number, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Series with more points are summarised.
pub const FEW: usize = 64;

const HEADER: [&str; 5] = ["panel", "series", "grade", "quantity", "value"];

/// Panel, series, grade, quantity; and its value.
type Values = BTreeMap<[String; 4], f64>;

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// There is no committed reference for this figure at this scale.
    Absent,
    /// All numbers agree.
    Agrees {
        /// How many numbers were compared.
        numbers: usize,
    },
    /// Some numbers differ, are new or are missing.
    Differs(Vec<Difference>),
}

/// A number that differs from its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Panel, series, grade and quantity.
    pub key: [String; 4],
    /// The committed number; `None` if it is new.
    pub committed: Option<f64>,
    /// The number of this run; `None` if it is missing.
    pub got: Option<f64>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [panel, series, grade, quantity] = &self.key;
        let value = |v: Option<f64>| v.map_or("nothing".to_owned(), number);
        let (committed, got) = (value(self.committed), value(self.got));
        write!(f, "{panel} / {series} ({grade}): {quantity}: {committed} -> {got}")
    }
}

/// The file of a figure's reference under `folder`.
#[must_use]
pub fn path(folder: &Path, scale: Scale, id: &str) -> PathBuf {
    folder.join(scale.as_str()).join(format!("{id}.csv"))
}

/// Compares the rows of a figure with its reference.
///
/// # Errors
/// A sentence, when the reference exists but cannot be read.
pub fn compare(file: &Path, rows: &[Row], tolerance: Tolerance) -> Result<Comparison, String> {
    let Some(committed) = read(file)? else { return Ok(Comparison::Absent) };
    let got = quantities(rows);
    let same = |a, b| close(a, b, tolerance);
    let differences = without_moved(differences(&committed, &got, same), same);
    Ok(if differences.is_empty() {
        Comparison::Agrees { numbers: got.len() }
    } else {
        Comparison::Differs(differences)
    })
}

/// Replaces the reference of a figure by its rows; returns every change.
///
/// # Errors
/// A sentence, when the old reference cannot be read or the new one cannot be written.
pub fn bless(file: &Path, rows: &[Row]) -> Result<Vec<Difference>, String> {
    let committed = read(file)?.unwrap_or_default();
    let got = quantities(rows);
    let lines: Vec<Vec<String>> =
        got.iter().map(|(key, &value)| key.iter().cloned().chain([number(value)]).collect()).collect();
    write(file, text(&HEADER, &lines).as_bytes()).map_err(|e: OutputError| e.to_string())?;
    Ok(differences(&committed, &got, |a, b| a == b))
}

fn close(a: f64, b: f64, tolerance: Tolerance) -> bool {
    // The first comparison is for infinities, whose difference is not a number.
    a == b || (a - b).abs() <= tolerance.absolute + tolerance.relative * a.abs().max(b.abs())
}

fn differences(committed: &Values, got: &Values, same: impl Fn(f64, f64) -> bool) -> Vec<Difference> {
    let mut keys: Vec<&[String; 4]> = committed.keys().chain(got.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
        .map(|key| (key, committed.get(key).copied(), got.get(key).copied()))
        .filter(|&(_, a, b)| !matches!((a, b), (Some(a), Some(b)) if same(a, b)))
        .map(|(key, committed, got)| Difference { key: key.clone(), committed, got })
        .collect()
}

/// Leaves out the points that another machine computes at another last digit of their abscissa: what is new
/// there is what is missing here.
fn without_moved(mut all: Vec<Difference>, same: impl Fn(f64, f64) -> bool) -> Vec<Difference> {
    let place = |key: &[String; 4]| {
        let (name, at) = key[3].split_once(" at ")?;
        Some((name.to_owned(), at.split(' ').next()?.parse::<f64>().ok()?))
    };
    let is_moved = |missing: &Difference, new: &Difference| {
        let agree = match (missing.committed, missing.got, new.committed, new.got) {
            (Some(a), None, None, Some(b)) => same(a, b),
            _ => false,
        };
        let places = place(&missing.key).zip(place(&new.key));
        agree
            && missing.key[..3] == new.key[..3]
            && places.is_some_and(|((a, x), (b, y))| a == b && (x - y).abs() <= SAME_PLACE * x.abs())
    };
    let mut at = 0;
    while at < all.len() {
        match all.iter().position(|new| is_moved(&all[at], new)) {
            Some(new) => {
                all.remove(at.max(new));
                all.remove(at.min(new));
                at -= usize::from(new < at);
            }
            None => at += 1,
        }
    }
    all
}

/// Abscissas within this relative distance are one place.
const SAME_PLACE: f64 = 1e-12;

fn read(file: &Path) -> Result<Option<Values>, String> {
    if !file.is_file() {
        return Ok(None);
    }
    let fail = |problem: String| format!("{}: {problem}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(|e| fail(e.to_string()))?;
    let mut values = Values::new();
    for record in reader.records() {
        let record = record.map_err(|e| fail(e.to_string()))?;
        let value = record.get(4).and_then(|cell| cell.parse().ok());
        let value = value.ok_or_else(|| fail(format!("malformed row {record:?}")))?;
        values.insert([0, 1, 2, 3].map(|i| record[i].to_owned()), value);
    }
    Ok(Some(values))
}

/// The quantities that are committed for the rows of a figure.
fn quantities(rows: &[Row]) -> Values {
    let mut series: BTreeMap<[&str; 3], Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.column.is_none() || row.series != POSITION) {
        series.entry([&row.panel, &row.series, &row.grade]).or_default().push(row);
    }
    let mut values = Values::new();
    for (key, rows) in series {
        let mut put = |quantity: String, value: f64| {
            let [panel, series, grade] = key.map(str::to_owned);
            values.insert([panel, series, grade, quantity], value);
        };
        if rows.len() <= FEW && rows.iter().all(|row| row.column.is_none()) {
            for (i, row) in rows.iter().enumerate() {
                // Several points may share an abscissa: then they are numbered.
                let before = rows[..i].iter().filter(|other| other.x == row.x).count();
                let again = if before > 0 { format!(" ({})", before + 1) } else { String::new() };
                let at = number(row.x) + &again;
                put(format!("y at {at}"), row.y);
                for (name, end) in [("low", row.low), ("high", row.high)] {
                    // If all values of a class are equal, the ends of its range would only repeat them.
                    let end = end.filter(|end| *end != row.y);
                    end.into_iter().for_each(|end| put(format!("{name} at {at}"), end));
                }
            }
        } else {
            let y = || rows.iter().map(|row| row.y);
            let count = rows.len() as f64;
            put("number of values".into(), count);
            put("mean".into(), y().sum::<f64>() / count);
            put("root mean square".into(), (y().map(|v| v * v).sum::<f64>() / count).sqrt());
            put("minimum".into(), y().fold(f64::INFINITY, f64::min));
            put("maximum".into(), y().fold(f64::NEG_INFINITY, f64::max));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(x: f64, y: f64, high: Option<f64>, column: Option<u32>) -> Row {
        let [panel, series, grade] = ["p, q", "s", "exact"].map(String::from);
        Row { panel, series, grade, x, column, y, low: None, high, by: String::new() }
    }

    #[test]
    fn blessed_numbers_agree_and_changed_ones_are_named() -> Result<(), String> {
        let file = crate::testing::folder("bless").join("quick/a/b.csv");
        let mut rows = vec![row(1.0, 0.1, Some(f64::INFINITY), None), row(2.0, 0.2, None, None)];
        assert_eq!(compare(&file, &rows, Tolerance::DETERMINISTIC)?, Comparison::Absent);
        assert_eq!(bless(&file, &rows)?.len(), 3);
        let agrees = Comparison::Agrees { numbers: 3 };
        assert_eq!(compare(&file, &rows, Tolerance::DETERMINISTIC)?, agrees);
        rows[1].y = 0.2 * (1.0 + 1e-10);
        assert_eq!(compare(&file, &rows, Tolerance::DETERMINISTIC)?, agrees);
        rows[1].y = 0.2 * (1.0 + 1e-8);
        let Comparison::Differs(found) = compare(&file, &rows, Tolerance::DETERMINISTIC)? else {
            panic!("a difference of 1e-8 passed");
        };
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("p, q / s (exact): y at 2: 0.2 -> 0.200000002"));
        let Comparison::Differs(found) = compare(&file, &rows[..1], Tolerance::SEEDED)? else {
            panic!("a missing point passed");
        };
        assert!(found[0].to_string().ends_with("0.2 -> nothing"));
        assert_eq!(bless(&file, &rows)?.len(), 1);
        // Another machine, another last digit of the abscissa: the same points, wherever they are sorted now.
        rows[0].x = 1.0_f64.next_down();
        rows[1].x = 2.0_f64.next_up();
        assert_eq!(compare(&file, &rows, Tolerance::DETERMINISTIC)?, agrees);
        rows[1].x = 2.0 + 1e-9;
        assert!(
            matches!(compare(&file, &rows, Tolerance::DETERMINISTIC)?, Comparison::Differs(found) if found.len() == 2)
        );
        (rows[1].x, rows[1].y) = (2.0_f64.next_up(), 0.3);
        assert!(
            matches!(compare(&file, &rows, Tolerance::DETERMINISTIC)?, Comparison::Differs(found) if found.len() == 2)
        );
        Ok(())
    }

    #[test]
    fn long_series_and_matrices_are_summarised() {
        let long: Vec<Row> = (0..100).map(|i| row(f64::from(i), f64::from(i % 2), None, None)).collect();
        let matrix = [row(0.0, 3.0, None, Some(2)), row(1.0, 4.0, None, Some(2))];
        for (rows, want) in [
            (&long[..], [100.0, 0.5, 0.5_f64.sqrt(), 0.0, 1.0]),
            (&matrix[..], [2.0, 3.5, 12.5_f64.sqrt(), 3.0, 4.0]),
        ] {
            let got = quantities(rows);
            let names = ["number of values", "mean", "root mean square", "minimum", "maximum"];
            for (name, want) in names.into_iter().zip(want) {
                let found = got.iter().find(|(key, _)| key[3] == name).map(|(_, v)| *v);
                assert_eq!(found, Some(want), "{name}");
            }
        }
    }
}
