//! The CSV of a figure, written and read back.

use crate::figure::{Content, Figure, Kind, Matrix, Panel, Point, Series};

/// Header of the tables of curves.
pub const CURVES_HEADER: [&str; 7] = ["panel", "series", "grade", "x", "y", "low", "high"];

/// Header of the tables of matrices and drawings.
pub const MATRIX_HEADER: [&str; 6] = ["panel", "series", "grade", "row", "column", "value"];

/// A number as the shortest decimal text that reads back as the same number.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The tables of a figure, with what their file names add to that of the figure: curves and
/// columns of tables together; heat maps and drawings together, `-matrix` when there are both.
#[must_use]
pub fn tables(figure: &Figure) -> Vec<(&'static str, String)> {
    let curves: Vec<Vec<String>> = figure.panels.iter().flat_map(curve_rows).collect();
    let matrices: Vec<Vec<String>> = figure.panels.iter().flat_map(matrix_rows).collect();
    match (curves.is_empty(), matrices.is_empty()) {
        (true, false) => vec![("", text(&MATRIX_HEADER, &matrices))],
        (_, true) => vec![("", text(&CURVES_HEADER, &curves))],
        (false, false) => {
            vec![("", text(&CURVES_HEADER, &curves)), ("-matrix", text(&MATRIX_HEADER, &matrices))]
        }
    }
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

fn curve_rows(panel: &Panel) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Series { name, kind, points, .. } in panel.series() {
        for &Point { x, y, low, high } in points {
            let mut row = vec![panel.title.clone(), name.clone(), kind.as_str().to_owned()];
            row.extend([number(x), number(y)]);
            row.extend([low, high].map(|end| end.map(number).unwrap_or_default()));
            rows.push(row);
        }
    }
    rows
}

fn matrix_rows(panel: &Panel) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut push = |name: &str, kind: Kind, row: usize, column: usize, value: f64| {
        if !value.is_nan() {
            let mut cells = vec![panel.title.clone(), name.to_owned(), kind.as_str().to_owned()];
            cells.extend([row.to_string(), column.to_string(), number(value)]);
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
            for (v, (&[x, y], &value)) in drawing.positions.iter().zip(&drawing.values).enumerate() {
                for (column, value) in [x, y, value].into_iter().enumerate() {
                    push(&drawing.name, drawing.kind, v, column, value);
                }
            }
        }
        Content::Curves { .. } | Content::Table { .. } => {}
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
        let curves = "panel,series,grade,x,y,low,high\n\
                      \"a, \"\"b\"\"\",s,upper-bound,1,2,,\n\"a, \"\"b\"\"\",s,upper-bound,2,3,2.5,3.5\n";
        let matrices = "panel,series,grade,row,column,value\nh,m,data,0,1,0.5\n\
                        g,d,exact,0,0,0\ng,d,exact,0,1,1\ng,d,exact,1,0,2\ng,d,exact,1,1,3\ng,d,exact,1,2,1\n";
        let figure = Figure::new("t").panel(curve.clone()).panel(heat.clone()).panel(drawn);
        assert_eq!(tables(&figure), [("", curves.to_owned()), ("-matrix", matrices.to_owned())]);
        assert_eq!(tables(&Figure::new("t").panel(curve)), [("", curves.to_owned())]);
        let alone = "panel,series,grade,row,column,value\nh,m,data,0,1,0.5\n";
        assert_eq!(tables(&Figure::new("t").panel(heat)), [("", alone.to_owned())]);
    }
}
