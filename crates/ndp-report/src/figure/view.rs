//! Views: what is drawn of a figure, if the picture arranges its numbers differently from its table.

use super::{Axis, Content, Drawing, Figure, Kind, Matrix, Panel, Point, Series};
use std::collections::{BTreeMap, BTreeSet};

impl Figure {
    /// Draws `views` instead of the panels, for instance quantiles or final values instead of thousands of
    /// points. The CSV still has the numbers of the panels.
    ///
    /// Every privacy number of a view must be one of the panels with the same grade, so that no picture shows
    /// a number that the CSV does not have; shares, ratios and differences are `data`.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::Grade;
    /// use ndp_report::figure::{Axis, Figure, Panel, Series};
    /// let panel = |y: f64| {
    ///     let exact = Series::new("exact", Grade::Exact).points([(1.0, y), (2.0, 0.25)]);
    ///     Panel::curves("loss", Axis::linear("distance"), Axis::log("loss")).with(exact)
    /// };
    /// let figure = Figure::new("t").panel(panel(0.5));
    /// assert!(figure.clone().drawn_as([panel(0.5)]).validate().is_ok());
    /// assert!(figure.drawn_as([panel(0.4)]).validate().is_err());
    /// ```
    #[must_use]
    pub fn drawn_as(mut self, views: impl IntoIterator<Item = Panel>) -> Self {
        self.views = views.into_iter().collect();
        self
    }

    /// The panels that the picture shows.
    #[cfg(feature = "pictures")]
    pub(crate) fn drawn(&self) -> &[Panel] {
        if self.views.is_empty() { &self.panels } else { &self.views }
    }
}

impl Panel {
    /// The `columns` of a table as dots beside the names of its rows, joined by a line: the same quantity
    /// found in several ways. A panel that is no table is returned as it is.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::Grade;
    /// use ndp_report::figure::{Axis, Panel, Series};
    /// let table = Panel::table("losses", "graph")
    ///     .row_name(0.0, "ring")
    ///     .with(Series::new("printed", Grade::Printed).points([(0.0, 0.1)]))
    ///     .with(Series::new("exact", Grade::Exact).points([(0.0, 0.9)]));
    /// let dots = table.dumbbells(Axis::linear("loss"), &["printed", "exact"]);
    /// assert_eq!((dots.series()[1].points[0].x, dots.series()[1].points[0].y), (0.9, 0.0));
    /// ```
    #[must_use]
    pub fn dumbbells(&self, value: Axis, columns: &[&str]) -> Self {
        let Content::Table { names, series, .. } = &self.content else { return self.clone() };
        let chosen = || series.iter().filter(|s| columns.contains(&s.name.as_str()));
        let mut rows: Vec<f64> = Vec::new();
        for point in chosen().flat_map(|s| &s.points) {
            if !rows.contains(&point.x) {
                rows.push(point.x);
            }
        }
        rows.sort_by(f64::total_cmp);
        let name =
            |x: f64| names.iter().find(|(at, _)| *at == x).map_or_else(|| x.to_string(), |(_, n)| n.clone());
        let axis = Axis::named(rows.iter().map(|&x| name(x)).collect()).joined();
        let dots = chosen().map(|s| {
            let at = |x: f64| rows.iter().position(|&row| row == x).unwrap_or_default() as f64;
            Series::new(s.name.clone(), s.kind).points(s.points.iter().map(|p| (p.y, at(p.x)))).scattered()
        });
        Self::curves(self.title.clone(), value, axis).with_all(dots)
    }
}

/// Titles and names of views are unique, and each of their privacy numbers stands in a panel.
pub(super) fn validate(figure: &Figure) -> Result<(), String> {
    let mut known: BTreeMap<Kind, BTreeSet<u64>> = BTreeMap::new();
    for panel in figure.panels.iter().filter(|_| !figure.views.is_empty()) {
        for series in panel.series() {
            let numbers = series.points.iter().flat_map(|p| [Some(p.y), p.low, p.high]).flatten();
            known.entry(series.kind).or_default().extend(numbers.map(f64::to_bits));
        }
        if let Some((kind, numbers)) = cells(panel) {
            known.entry(kind).or_default().extend(numbers.into_iter().map(f64::to_bits));
        }
    }
    let mut titles = BTreeSet::new();
    for view in &figure.views {
        let title = &view.title;
        if title.is_empty() || !titles.insert(title) {
            return Err(format!("the title {title:?} of a view is empty or used twice"));
        }
        let stands = |kind: Kind, number: f64| {
            kind == Kind::Data || known.get(&kind).is_some_and(|all| all.contains(&number.to_bits()))
        };
        let mut names = BTreeSet::new();
        for series in view.series() {
            let name = &series.name;
            if name.is_empty() || !names.insert(name) {
                return Err(format!("view {title:?}: series {name:?} is unnamed or there twice"));
            }
            super::kind::require_honest(name, series.kind).map_err(|e| format!("view {title:?}: {e}"))?;
            // In a picture of shares, the abscissa is the privacy number.
            let told = |p: &Point| {
                (stands(series.kind, p.y) || stands(series.kind, p.x))
                    && [p.low, p.high].into_iter().flatten().all(|end| stands(series.kind, end))
            };
            if let Some(point) = series.points.iter().find(|point| !told(point)) {
                return Err(format!("view {title:?}: {name:?} has {point:?}, which no panel has"));
            }
        }
        if let Some((kind, numbers)) = cells(view)
            && let Some(number) = numbers.into_iter().find(|&number| !stands(kind, number))
        {
            return Err(format!("view {title:?} has {number}, which no panel has"));
        }
    }
    Ok(())
}

/// The numbers of a heat map or of a drawing.
fn cells(panel: &Panel) -> Option<(Kind, Vec<f64>)> {
    let (kind, values) = match &panel.content {
        Content::HeatMap { matrix: Matrix { kind, values, .. }, .. } => {
            (*kind, values.iter().copied().collect())
        }
        Content::Drawing { drawing: Drawing { kind, values, .. }, .. } => (*kind, values.clone()),
        _ => return None,
    };
    let numbers: Vec<f64> = values;
    Some((kind, numbers.into_iter().filter(|value| !value.is_nan()).collect()))
}
