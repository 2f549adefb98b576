//! The CSV of a figure, written and read back.

use crate::figure::{Content, Figure, Kind, Matrix, Panel, Point, Series};
use std::path::Path;

/// Header of the tables of curves.
const CURVES_HEADER: [&str; 8] = ["panel", "series", "grade", "x", "y", "low", "high", "by"];

/// Header of the tables of matrices and drawings.
const MATRIX_HEADER: [&str; 7] = ["panel", "series", "grade", "row", "column", "value", "by"];

/// Name of the series of a drawing that holds the positions, in the columns 0 and 1.
pub const POSITION: &str = "position";

/// Column in a drawing's table that holds the value of a node.
pub const VALUE: u32 = 2;

/// A number as the shortest decimal text that reads back as the same number.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The tables of a figure, each with what its file name adds to that of the figure. Curves and columns of
/// tables share one table; heat maps and drawings share another, `-matrix` when there are both.
#[must_use]
pub fn tables(figure: &Figure) -> Vec<(&'static str, String)> {
    let curves: Vec<Vec<String>> = figure.panels.iter().flat_map(|panel| curve_rows(figure, panel)).collect();
    let matrices: Vec<Vec<String>> =
        figure.panels.iter().flat_map(|panel| matrix_rows(figure, panel)).collect();
    match (curves.is_empty(), matrices.is_empty()) {
        (true, false) => vec![("", text(&MATRIX_HEADER, &matrices))],
        (_, true) => vec![("", text(&CURVES_HEADER, &curves))],
        (false, false) => {
            vec![("", text(&CURVES_HEADER, &curves)), ("-matrix", text(&MATRIX_HEADER, &matrices))]
        }
    }
}

/// A row of a CSV, read back.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_report::figure::{Axis, Figure, Panel, Series};
/// use ndp_report::table;
/// let exact = Series::new("exact", Grade::Exact).points([(1.0, 0.25)]);
/// let figure = Figure::new("t").panel(Panel::curves("path", Axis::linear("x"), Axis::linear("y")).with(exact));
/// let path = std::env::temp_dir().join(format!("ndp-report-row-{}.csv", std::process::id()));
/// std::fs::write(&path, &table::tables(&figure)[0].1)?;
/// let rows = table::read(&path)?;
/// assert_eq!((rows.len(), rows[0].series.as_str(), rows[0].y), (1, "exact", 0.25));
/// std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Title of its panel.
    pub panel: String,
    /// Name of its series, matrix or drawing.
    pub series: String,
    /// A grade, or `data`.
    pub grade: String,
    /// Abscissa; row of a matrix; node of a drawing.
    pub x: f64,
    /// Column of a matrix; in a drawing 0 and 1 for a position, [`VALUE`] for a value.
    pub column: Option<u32>,
    /// Ordinate, entry or value, with its range.
    pub y: f64,
    /// Lower end of the range.
    pub low: Option<f64>,
    /// Upper end of the range.
    pub high: Option<f64>,
    /// Function and theorem behind the number; empty for data, and in tables of earlier builds.
    pub by: String,
}

/// Reads a CSV written by [`tables`].
///
/// # Errors
/// A sentence naming the file and what is wrong with it.
pub fn read(path: &Path) -> Result<Vec<Row>, String> {
    let fail = |problem: String| format!("{}: {problem}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
    parse(&text).map_err(fail)
}

/// The rows of a CSV written by [`tables`].
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| e.to_string())?.clone();
    // Tables of earlier builds, including references, lack the last column.
    let is = |columns: &[&str]| {
        header.iter().eq(columns.iter().copied().take(header.len().max(columns.len() - 1)))
    };
    let curves = is(&CURVES_HEADER);
    if !curves && !is(&MATRIX_HEADER) {
        return Err(format!("unknown columns {header:?}"));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let malformed = || format!("malformed row {record:?}");
        let number = |i: usize| -> Result<f64, String> { record[i].parse().map_err(|_| malformed()) };
        let optional = |i: usize| if record[i].is_empty() { Ok(None) } else { number(i).map(Some) };
        let (column, y, low, high) = if curves {
            (None, number(4)?, optional(5)?, optional(6)?)
        } else {
            (Some(record[4].parse().map_err(|_| malformed())?), number(5)?, None, None)
        };
        let [panel, series, grade] = [0, 1, 2].map(|i| record[i].to_owned());
        let last = if curves { CURVES_HEADER.len() } else { MATRIX_HEADER.len() } - 1;
        let by = record.get(last).unwrap_or_default().to_owned();
        rows.push(Row { panel, series, grade, x: number(3)?, column, y, low, high, by });
    }
    Ok(rows)
}

/// Rows as CSV, quoted where needed.
#[must_use]
pub fn text(header: &[&str], rows: &[Vec<String>]) -> String {
    let quoted = |cell: &str| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    let mut out = header.join(",");
    out.push('\n');
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// The text of the last column.
fn by(figure: &Figure, series: &str, kind: Kind) -> String {
    figure.source_of(series, kind).map(ToString::to_string).unwrap_or_default()
}

fn curve_rows(figure: &Figure, panel: &Panel) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Series { name, kind, points, .. } in panel.series() {
        let by = by(figure, name, *kind);
        for &Point { x, y, low, high } in points {
            let mut row = vec![panel.title.clone(), name.clone(), kind.as_str().to_owned()];
            row.extend([number(x), number(y)]);
            row.extend([low, high].map(|end| end.map(number).unwrap_or_default()));
            row.push(by.clone());
            rows.push(row);
        }
    }
    rows
}

fn matrix_rows(figure: &Figure, panel: &Panel) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut push = |name: &str, kind: Kind, row: usize, column: usize, value: f64| {
        if !value.is_nan() {
            let mut cells = vec![panel.title.clone(), name.to_owned(), kind.as_str().to_owned()];
            cells.extend([row.to_string(), column.to_string(), number(value), by(figure, name, kind)]);
            rows.push(cells);
        }
    };
    match &panel.content {
        Content::HeatMap { matrix: Matrix { name, kind, values, .. }, .. } => {
            for ((row, column), &value) in values.indexed_iter() {
                push(name, *kind, row, column, value);
            }
        }
        Content::Drawing { drawing, .. } => {
            for (v, &[x, y]) in drawing.positions.iter().enumerate() {
                push(POSITION, Kind::Data, v, 0, x);
                push(POSITION, Kind::Data, v, 1, y);
            }
            for (v, &value) in drawing.values.iter().enumerate() {
                push(&drawing.name, drawing.kind, v, VALUE as usize, value);
            }
        }
        Content::Curves { .. } | Content::Dots { .. } | Content::Table { .. } => {}
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Drawing};
    use ndarray::array;
    use ndp_dp::Grade;
    use ndp_graph::generators::path_graph;

    #[test]
    fn numbers_are_short_and_read_back() {
        let cases = [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e-300, "1e-300"),
            (-2.5e20, "-2.5e20"),
            (f64::INFINITY, "inf"),
            (1.0 / 3.0, "0.3333333333333333"),
        ];
        for (value, want) in cases {
            assert_eq!(number(value), want);
            assert_eq!(number(value).parse(), Ok(value));
        }
    }

    #[test]
    fn curves_and_matrices_go_to_tables_of_their_own() {
        let curve = Panel::curves("a, \"b\"", Axis::linear("x"), Axis::linear("y"))
            .with(Series::new("s", Grade::UpperBound).points([(1.0, 2.0)]).ranged(2.0, 3.0, 2.5, 3.5));
        let heat =
            Panel::heat_map("h", Axis::linear("c"), Matrix::new("m", Kind::Data, array![[f64::NAN, 0.5]]));
        let graph = path_graph(2).unwrap();
        let drawing =
            Drawing::new("d", Grade::Exact, &graph, vec![[0.0, 1.0], [2.0, 3.0]], vec![f64::NAN, 1.0]);
        let drawn = Panel::drawing("g", Axis::linear("c"), drawing);
        let curves = "panel,series,grade,x,y,low,high,by\n\
                      \"a, \"\"b\"\"\",s,upper-bound,1,2,,,f (A)\n\"a, \"\"b\"\"\",s,upper-bound,2,3,2.5,3.5,f (A)\n";
        let matrices = "panel,series,grade,row,column,value,by\nh,m,data,0,1,0.5,\n\
                        g,position,data,0,0,0,\ng,position,data,0,1,1,\ng,position,data,1,0,2,\ng,position,data,1,1,3,\ng,d,exact,1,2,1,g (B)\n";
        let figure = Figure::new("t").by(Grade::UpperBound, "f", "A").by(Grade::Exact, "h", "C");
        let figure = figure.by_named("d", Grade::Exact, "g", "B");
        let all = figure.clone().panel(curve.clone()).panel(heat.clone()).panel(drawn);
        assert_eq!(tables(&all), [("", curves.to_owned()), ("-matrix", matrices.to_owned())]);
        assert_eq!(tables(&figure.panel(curve)), [("", curves.to_owned())]);
        let path = crate::testing::folder("table").join("t.csv");
        std::fs::write(&path, curves).unwrap();
        let back = read(&path).unwrap();
        assert_eq!((back.len(), back[1].high, back[0].panel.as_str()), (2, Some(3.5), "a, \"b\""));
        assert_eq!(back[1].by, "f (A)");
        std::fs::write(&path, "panel,series,grade,x,y,low,high\np,s,exact,1,2,,3\n").unwrap();
        assert_eq!(
            read(&path).map(|back| (back[0].high, back[0].by.clone())),
            Ok((Some(3.0), String::new()))
        );
        std::fs::write(&path, matrices).unwrap();
        let back = read(&path).unwrap();
        assert_eq!((back.len(), back[5].column, back[5].x, back[5].y), (6, Some(2), 1.0, 1.0));
        for (bad, said) in [
            ("a,b\n1,2\n", "unknown columns"),
            ("panel,series,grade,x,y,low,high\np,s,g,1,z,,\n", "malformed row"),
        ] {
            std::fs::write(&path, bad).unwrap();
            let found = read(&path).unwrap_err();
            assert!(found.starts_with(&format!("{}: {said}", path.display())), "{found}");
        }
        let alone = "panel,series,grade,row,column,value,by\nh,m,data,0,1,0.5,\n";
        assert_eq!(tables(&Figure::new("t").panel(heat)), [("", alone.to_owned())]);
    }
}
