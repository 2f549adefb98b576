//! Whether the title of a figure is true of the numbers that were written.

use super::{evaluate, round};
use crate::figure::{Basis, Check, Kind, Sample};
use crate::table::Row;
use ndp_dp::Grade;
use std::collections::BTreeMap;

/// The reasons of a title that the numbers do not support, one sentence each. A title without reasons counts
/// as one that is not supported.
///
/// # Errors
/// A sentence naming a reason that compared nothing, see [`evaluate`].
///
/// # Examples
/// ```
/// use ndp_report::figure::{Basis, Check};
/// use ndp_report::table::Row;
/// use ndp_report::verdict::title::untrue;
/// use std::collections::BTreeMap;
/// let row = |series: &str, grade: &str, y: f64| Row {
///     panel: "path".into(),
///     series: series.into(),
///     grade: grade.into(),
///     x: 2.0,
///     column: None,
///     y,
///     low: None,
///     high: None,
///     by: String::new(),
/// };
/// let rows = [row("printed", "printed", 1.0 / 3.0), row("exact", "exact", 1.0)];
/// let above = || Check::below("printed", "exact");
/// // What is printed proves nothing; that the printed number is the smaller one is plain.
/// assert!(untrue(&[Basis::Drawn(above())], &rows, &BTreeMap::new())?.is_empty());
/// assert_eq!(untrue(&[Basis::Shown(above())], &rows, &BTreeMap::new())?.len(), 1);
/// # Ok::<(), String>(())
/// ```
pub fn untrue(
    basis: &[Basis],
    rows: &[Row],
    samples: &BTreeMap<String, Sample>,
) -> Result<Vec<String>, String> {
    if basis.is_empty() {
        return Ok(vec!["the title rests on no check".into()]);
    }
    let mut found = Vec::new();
    for reason in basis {
        let broken = match reason {
            Basis::Shown(check) => one(check, rows, samples, super::Verdict::holds)?,
            Basis::Refuted(check) => one(check, rows, samples, super::Verdict::fails)?,
            Basis::Drawn(Check::Exceeds { what, terms, least }) => on_average(what, terms, *least, samples)?,
            Basis::Drawn(check) => one(check, &plain(rows), samples, super::Verdict::holds)?,
            Basis::Wider { wide, narrow, times } => {
                let (a, b) = (spread(rows, wide)?, spread(rows, narrow)?);
                let said = || format!("“{wide}” varies {}-fold, “{narrow}” {}-fold", round(a), round(b));
                (a < times * b).then(said)
            }
            Basis::UpTo { lower, upper, times } => up_to(*times, rows, [lower, upper])?,
            Basis::Most { lower, upper } => most(rows, [lower, upper])?,
            Basis::Ends { series } => ends(rows, series)?,
            Basis::AtMost { series, value } => {
                let above = of_series(rows, series)?.into_iter().find(|row| row.y > *value);
                above.map(|row| format!("“{series}” is {} in “{}”", round(row.y), row.panel))
            }
        };
        found.extend(broken.map(|sentence| format!("the title is not supported: {sentence}")));
    }
    Ok(found)
}

/// What the check found, if that is not as expected.
fn one(
    check: &Check,
    rows: &[Row],
    samples: &BTreeMap<String, Sample>,
    expected: impl Fn(super::Verdict) -> bool,
) -> Result<Option<String>, String> {
    let outcome = evaluate(std::slice::from_ref(check), rows, samples)?.remove(0);
    Ok((!expected(outcome.verdict)).then(|| outcome.sentence()))
}

/// The rows as exact numbers: what is drawn, without grades and ranges.
fn plain(rows: &[Row]) -> Vec<Row> {
    let data = Kind::Data.as_str();
    rows.iter().map(|row| Row { grade: data.into(), low: None, high: None, ..row.clone() }).collect()
}

/// A sentence if the mean of `Σ factor · sample` over the runs is not above `least`.
fn on_average(
    what: &str,
    terms: &[(f64, String)],
    least: f64,
    samples: &BTreeMap<String, Sample>,
) -> Result<Option<String>, String> {
    let mut sum = 0.0;
    for (factor, name) in terms {
        let values = &samples.get(name).ok_or_else(|| format!("there are no runs {name:?}"))?.values;
        if values.is_empty() {
            return Err(format!("the runs {name:?} are empty"));
        }
        sum += factor * values.iter().sum::<f64>() / values.len() as f64;
    }
    let above = sum > least;
    Ok((!above).then(|| format!("{what}: on average {} where more than {least} is said", round(sum))))
}

/// The rows of a series, of which there is one at least.
fn of_series<'a>(rows: &'a [Row], name: &str) -> Result<Vec<&'a Row>, String> {
    let found: Vec<&Row> = rows.iter().filter(|row| row.series == name).collect();
    if found.is_empty() { Err(format!("there is no series “{name}”")) } else { Ok(found) }
}

/// Largest over smallest value of a series that are above 0, in all panels.
fn spread(rows: &[Row], name: &str) -> Result<f64, String> {
    let of_it = of_series(rows, name)?.into_iter().filter(|row| row.y > 0.0).map(|row| row.y);
    let (low, high) =
        of_it.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), y| (low.min(y), high.max(y)));
    if high > 0.0 { Ok(high / low) } else { Err(format!("“{name}” has no value above 0")) }
}

/// Lower and upper value at every place that both series have: place by place in the same panels, or in the
/// first panel of each if no panel has both.
fn pairs(rows: &[Row], [lower, upper]: [&str; 2]) -> Result<Vec<(f64, f64)>, String> {
    let (lows, highs) = (of_series(rows, lower)?, of_series(rows, upper)?);
    let place = |row: &Row, panel: bool| {
        (if panel { row.panel.clone() } else { String::new() }, row.x.to_bits(), row.column)
    };
    for panel in [true, false] {
        let above: BTreeMap<_, f64> = highs.iter().map(|row| (place(row, panel), row.y)).collect();
        let both = lows.iter().filter_map(|row| Some((row.y, *above.get(&place(row, panel))?)));
        let both: Vec<(f64, f64)> = both.filter(|(a, b)| !a.is_nan() && !b.is_nan()).collect();
        if !both.is_empty() {
            return Ok(both);
        }
    }
    Err(format!("“{lower}” and “{upper}” have no place in common"))
}

fn up_to(times: f64, rows: &[Row], names: [&str; 2]) -> Result<Option<String>, String> {
    let [lower, upper] = names;
    let pairs = pairs(rows, names)?;
    if let Some((a, b)) = pairs.iter().find(|(a, b)| a > b) {
        return Ok(Some(format!("“{lower}” is {}, above “{upper}” at {}", round(*a), round(*b))));
    }
    let ratios = pairs.iter().map(|(a, b)| b / a).filter(|ratio| ratio.is_finite());
    let most = ratios.fold(0.0, f64::max);
    let near = (most / times - 1.0).abs() <= 0.1;
    Ok((!near).then(|| format!("“{lower}” is up to {} times below “{upper}”", round(most))))
}

fn most(rows: &[Row], names: [&str; 2]) -> Result<Option<String>, String> {
    let [lower, upper] = names;
    let pairs = pairs(rows, names)?;
    let below = pairs.iter().filter(|(a, b)| a < b).count();
    let said = || format!("“{lower}” is below “{upper}” at {below} of {} places", pairs.len());
    Ok((2 * below <= pairs.len()).then(said))
}

fn ends(rows: &[Row], name: &str) -> Result<Option<String>, String> {
    for panel in of_series(rows, name)?.chunk_by(|a, b| a.panel == b.panel) {
        let by_x = |a: &&&Row, b: &&&Row| a.x.total_cmp(&b.x);
        let (Some(first), Some(last)) = (panel.iter().min_by(by_x), panel.iter().max_by(by_x)) else {
            continue;
        };
        let exact = [first, last].iter().all(|row| row.grade == Kind::from(Grade::Exact).as_str());
        if !exact || (first.y - last.y).abs() > 1e-9 * first.y.abs() {
            let (a, b) = (round(first.y), round(last.y));
            return Ok(Some(format!("“{name}” begins at {a} and ends at {b} in “{}”", first.panel)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(series: &str, grade: &str, x: f64, y: f64) -> Row {
        let [panel, series, grade] = ["p", series, grade].map(String::from);
        Row { panel, series, grade, x, column: None, y, low: None, high: None, by: String::new() }
    }

    fn count(basis: Basis, rows: &[Row]) -> usize {
        untrue(&[basis], rows, &BTreeMap::new()).unwrap().len()
    }

    /// Every title needs a reason, and every kind of reason fails if the numbers contradict it.
    #[test]
    fn titles_are_true_of_the_numbers() {
        assert_eq!(untrue(&[], &[], &BTreeMap::new()).unwrap(), ["the title rests on no check"]);
        let rows = [
            row("printed", "printed", 1.0, 0.5),
            row("printed", "printed", 2.0, 0.05),
            row("exact", "exact", 1.0, 1.0),
            row("exact", "exact", 2.0, 0.5),
        ];
        let covers = || Check::covers("printed", "exact");
        assert_eq!((count(Basis::Refuted(covers()), &rows), count(Basis::Shown(covers()), &rows)), (0, 1));
        let below = || Check::below("printed", "exact");
        assert_eq!((count(Basis::Drawn(below()), &rows), count(Basis::Shown(below()), &rows)), (0, 1));
        assert_eq!(count(Basis::Drawn(Check::below("exact", "printed")), &rows), 1);
        assert_eq!(count(Basis::wider(4.0, "printed", "exact"), &rows), 0);
        assert_eq!(count(Basis::wider(6.0, "printed", "exact"), &rows), 1);
        assert_eq!(count(Basis::up_to(10.0, "printed", "exact"), &rows), 0);
        assert_eq!(count(Basis::up_to(2.0, "printed", "exact"), &rows), 1);
        assert_eq!(count(Basis::up_to(10.0, "exact", "printed"), &rows), 1);
        assert_eq!(count(Basis::most("printed", "exact"), &rows), 0);
        assert_eq!(count(Basis::most("exact", "printed"), &rows), 1);
        assert_eq!(count(Basis::at_most("exact", 1.0), &rows), 0);
        assert_eq!(count(Basis::at_most("exact", 0.9), &rows), 1);
        assert_eq!(count(Basis::ends("exact"), &rows), 1);
        let round_trip = [rows[2].clone(), rows[3].clone(), row("exact", "exact", 3.0, 1.0)];
        assert_eq!(count(Basis::ends("exact"), &round_trip), 0);
        let guessed = round_trip.map(|row| Row { grade: "estimate".into(), ..row });
        assert_eq!(count(Basis::ends("exact"), &guessed), 1, "an estimate ends nowhere for certain");
        for nothing in
            [Basis::most("printed", "nobody"), Basis::at_most("nobody", 1.0), Basis::ends("nobody")]
        {
            let found = untrue(&[nothing], &rows, &BTreeMap::new());
            assert_eq!(found, Err("there is no series “nobody”".to_owned()));
        }
    }

    /// A title about means is not contradicted by ranges; runs are compared by their means.
    #[test]
    fn what_is_drawn_are_means() {
        let mut wide = row("a", "estimate", 1.0, 1.0);
        (wide.low, wide.high) = (Some(0.5), Some(5.0));
        let rows = [wide, row("b", "upper-bound", 1.0, 2.0)];
        assert_eq!(count(Basis::Drawn(Check::below("a", "b")), &rows), 0);
        let runs = |kind: Kind, values: [f64; 2]| Sample { kind, values: values.to_vec() };
        let samples = BTreeMap::from([
            ("more".to_owned(), runs(Kind::Data, [3.0, 1.0])),
            ("less".to_owned(), runs(Grade::UpperBound.into(), [0.0, 1.5])),
        ]);
        let said = |more: &str, less: &str| {
            let basis = Basis::Drawn(Check::exceeds("more", more, less));
            untrue(&[basis], &[], &samples).unwrap().len()
        };
        assert_eq!((said("more", "less"), said("less", "more")), (0, 1));
        let missing = Basis::Drawn(Check::exceeds("more", "more", "nobody"));
        assert_eq!(untrue(&[missing], &[], &samples), Err("there are no runs \"nobody\"".to_owned()));
    }
}
