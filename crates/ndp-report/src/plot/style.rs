//! The look of each grade, the same in every figure: exact values are solid and blue, upper bounds dashed and
//! green, printed formulas dotted and red, estimates dash-dotted and violet, what is no privacy number grey.

use super::canvas::{Canvas, Rgb, Stroke, WHITE};
use super::curves::FEW;
use crate::figure::{Content, Figure, Kind, Mark, Point, Series};
use ndp_dp::Grade;

/// Look of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) stroke: Stroke,
    pub(super) marker: Marker,
    pub(super) mark: Mark,
}

/// Shape of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Square,
    Diamond,
    Triangle,
    Frame,
}

/// The look of every series of a figure, in the order of the legend.
pub(super) struct Styles {
    entries: Vec<Entry>,
    /// The cases of rows of dots, and the colours of their grades.
    cases: Vec<(String, Vec<Style>)>,
}

/// What the legend says of strips.
const STRIP: &str = "least to largest, quartiles, median";

/// Series with one look: a single name, or the names of series that coincide in every panel.
struct Entry {
    names: Vec<String>,
    kind: Kind,
    style: Style,
    shaded: bool,
    /// The name of the family that has one entry for all its members.
    family: Option<String>,
    ungraded: bool,
}

impl Styles {
    pub(super) fn of(figure: &Figure) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for panel in figure.drawn() {
            let Content::Curves { series, .. } = &panel.content else { continue };
            for s in series {
                if entries.iter().any(|entry| entry.has(s)) {
                    continue;
                }
                let twin = entries.iter_mut().find(|entry| {
                    entry.kind == s.kind && entry.style.mark == s.mark && coincide(figure, &entry.names[0], s)
                });
                if let Some(twin) = twin {
                    twin.names.push(s.name.clone());
                    continue;
                }
                // The shades of a family use no colour that other series could have.
                let before = entries.iter().filter(|entry| entry.kind == s.kind && !entry.shaded).count();
                let (names, shaded, family, ungraded) =
                    (vec![s.name.clone()], s.shade.is_some(), s.family.clone(), s.ungraded);
                entries.push(Entry {
                    names,
                    kind: s.kind,
                    style: style(s, before),
                    shaded,
                    family,
                    ungraded,
                });
            }
        }
        entries.sort_by_key(|entry| entry.kind);
        Self { entries, cases: cases(figure) }
    }

    pub(super) fn get(&self, series: &Series) -> Style {
        self.entries
            .iter()
            .find(|entry| entry.has(series))
            .map_or_else(|| style(series, 0), |entry| entry.style)
    }

    /// Whether the series coincides with another one and is drawn under that one's name.
    pub(super) fn is_twin(&self, series: &Series) -> bool {
        self.entries.iter().any(|entry| entry.has(series) && entry.names[0] != series.name)
    }

    /// The names of series that coincide with this one wherever they are, itself first.
    pub(super) fn names(&self, series: &Series) -> String {
        let entry = self.entries.iter().find(|entry| entry.has(series));
        entry.map_or_else(|| series.name.clone(), |entry| entry.names.join(" = "))
    }

    /// The texts of the legend, each with its looks: each name, with its grade unless the name contains the
    /// grade. If lines are `named` at their ends, the legend has only the grades.
    pub(super) fn legend(&self, named: bool) -> impl Iterator<Item = (String, Vec<Style>)> + '_ {
        let mut found: Vec<(String, Vec<Style>)> = Vec::new();
        for entry in &self.entries {
            let text = match &entry.family {
                Some(family) => graded_name(family, entry.kind),
                None if named && (entry.ungraded || entry.kind == Kind::Data) => continue,
                None if entry.ungraded => entry.names.join(" = "),
                None if named => entry.kind.as_str().replace('-', " "),
                None => graded_name(&entry.names.join(" = "), entry.kind),
            };
            match found.iter_mut().find(|(said, _)| *said == text) {
                Some((_, looks)) if entry.family.is_some() => looks.push(entry.style),
                Some(_) if named => {}
                _ => found.push((text, vec![entry.style])),
            }
        }
        found.into_iter().chain(self.cases.iter().cloned())
    }
}

impl Entry {
    fn has(&self, series: &Series) -> bool {
        self.kind == series.kind && self.names.contains(&series.name)
    }
}

/// What the legend says of rows of dots: the shape of each case, then the colour of each grade.
fn cases(figure: &Figure) -> Vec<(String, Vec<Style>)> {
    let mut shapes: Vec<(String, Vec<Style>)> = Vec::new();
    let mut colors: Vec<(String, Vec<Style>)> = Vec::new();
    for panel in figure.drawn() {
        let Content::Dots { cases, series, .. } = &panel.content else { continue };
        if series.iter().any(|s| s.mark == Mark::Strip) {
            let strip = Style { mark: Mark::Strip, ..style_of_case(Kind::Data, 0) };
            if !shapes.iter().any(|(said, _)| said == STRIP) {
                shapes.push((STRIP.to_owned(), vec![strip]));
            }
        } else if cases.len() > 1 {
            for (k, (_, name)) in cases.iter().enumerate() {
                if !shapes.iter().any(|(said, _)| said == name) {
                    shapes.push((name.clone(), vec![style_of_case(Kind::Data, k)]));
                }
            }
        }
        for s in series {
            let name = s.kind.as_str().replace('-', " ");
            // If there are no privacy numbers, the legend needs no grades.
            if s.kind != Kind::Data && !colors.iter().any(|(said, _)| *said == name) {
                // A stripe of two looks: a colour without a shape, which would be that of a case.
                colors.push((name, vec![style_of_case(s.kind, 0); 2]));
            }
        }
    }
    shapes.into_iter().chain(colors).collect()
}

/// The look of a dot: its colour is that of the grade, its shape that of the case.
pub(super) fn style_of_case(kind: Kind, case: usize) -> Style {
    let shapes = [Marker::Disc, Marker::Frame, Marker::Triangle, Marker::Diamond, Marker::Square];
    let look = style(&Series::new("", kind).scattered(), 0);
    Style { marker: shapes[case % shapes.len()], ..look }
}

/// Whether the series called `name` and `other` have the same points in every panel that has one of them, up
/// to nine digits. Families in shades are never merged: their order is what they show.
fn coincide(figure: &Figure, name: &str, other: &Series) -> bool {
    let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (a, b) => a == b,
    };
    let same = |p: &Point, q: &Point| {
        close(Some(p.x), Some(q.x))
            && close(Some(p.y), Some(q.y))
            && close(p.low, q.low)
            && close(p.high, q.high)
    };
    other.shade.is_none()
        && figure.drawn().iter().all(|panel| {
            let Content::Curves { series, .. } = &panel.content else { return true };
            let find = |name: &str| series.iter().find(|s| s.name == name && s.kind == other.kind);
            match (find(name), find(&other.name)) {
                (None, None) => true,
                (Some(one), Some(two)) => {
                    one.shade.is_none()
                        && !one.points.is_empty()
                        && one.points.len() == two.points.len()
                        && one.points.iter().zip(&two.points).all(|(p, q)| same(p, q))
                }
                _ => false,
            }
        })
}

/// The name of a series with its grade, unless the name contains it.
pub(super) fn graded_name(name: &str, kind: Kind) -> String {
    let grade = kind.as_str().replace('-', " ");
    let said = kind == Kind::Data || name.to_lowercase().contains(&grade);
    if said { name.to_owned() } else { format!("{name} ({grade})") }
}

fn style(series: &Series, index: usize) -> Style {
    let (palette, dashes, marker): (&[Rgb], &'static [f64], Marker) = match series.kind {
        Kind::Graded(Grade::Exact) => (&EXACT, &[], Marker::Disc),
        Kind::Graded(Grade::UpperBound) => (&UPPER_BOUND, &[9.0, 4.0], Marker::Square),
        Kind::Graded(Grade::Printed) => (&PRINTED, &[2.5, 3.0], Marker::Diamond),
        Kind::Graded(Grade::Estimate) => (&ESTIMATE, &[9.0, 3.0, 2.0, 3.0], Marker::Triangle),
        Kind::Data => (&DATA, &[], Marker::Disc),
    };
    let color = match series.shade {
        // Light to dark, but never so light that it is invisible on white.
        Some([i, count]) => {
            let share = (i + 1) as f64 / count.max(1) as f64;
            palette[0].towards(WHITE, 0.62 * (1.0 - share)).towards(Rgb(0, 0, 0), 0.35 * share.powi(3))
        }
        None => palette[index % palette.len()],
    };
    // If a colour is used again it gets another marker, first a hollow one that does not hide a point beneath
    // it.
    let others = [Marker::Frame, Marker::Triangle, Marker::Diamond, Marker::Square, Marker::Disc];
    let markers: Vec<Marker> =
        [marker].into_iter().chain(others.into_iter().filter(|&m| m != marker)).collect();
    let marker = if series.shade.is_some() { marker } else { markers[index / palette.len() % markers.len()] };
    let phase = (index % 3) as f64 / 3.0 * dashes.iter().sum::<f64>();
    // Many points are small discs, whatever else tells them apart.
    let many = FEW < series.points.len() && matches!(series.mark, Mark::Points | Mark::Strip);
    let marker = if many { Marker::Disc } else { marker };
    Style { stroke: Stroke { color, width: 2.0, dashes, phase }, marker, mark: series.mark }
}

impl Marker {
    pub(super) fn draw(self, canvas: &mut Canvas, (x, y): (f64, f64), size: f64, color: Rgb) {
        let at = |corners: &[(f64, f64)]| -> Vec<(f64, f64)> {
            corners.iter().map(|&(dx, dy)| (x + size * dx, y + size * dy)).collect()
        };
        match self {
            Self::Disc => canvas.circle((x, y), size, color, None),
            Self::Square => {
                let corners = at(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]);
                canvas.polygon(&corners, Some(color), 1.0, None);
            }
            // Hollow, so that the true point is visible through a printed one.
            Self::Diamond => {
                let corners = at(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]);
                canvas.polygon(&corners, None, 1.0, Some(color));
            }
            Self::Frame => {
                let corners = at(&[(-1.4, -1.4), (1.4, -1.4), (1.4, 1.4), (-1.4, 1.4)]);
                canvas.polygon(&corners, None, 1.0, Some(color));
            }
            Self::Triangle => {
                let corners = at(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]);
                canvas.polygon(&corners, Some(color), 1.0, None);
            }
        }
    }
}

/// Four colours for each role: one hue, and lightnesses that differ by at least nine units of CIELAB to every
/// eye (three kinds of colour blindness) and in grey. Roles are told apart by dashes and markers, too.
const EXACT: [Rgb; 4] =
    [Rgb(0x30, 0x5b, 0xa6), Rgb(0x56, 0x9a, 0xce), Rgb(0x1c, 0x2b, 0x43), Rgb(0x1f, 0x79, 0xd2)];
const UPPER_BOUND: [Rgb; 4] =
    [Rgb(0x00, 0x5a, 0x50), Rgb(0x46, 0xa3, 0x8a), Rgb(0x12, 0x30, 0x2c), Rgb(0x00, 0x82, 0x40)];
const PRINTED: [Rgb; 4] =
    [Rgb(0xb0, 0x23, 0x18), Rgb(0xe9, 0x72, 0x26), Rgb(0x5a, 0x12, 0x08), Rgb(0xc9, 0x45, 0x40)];
const ESTIMATE: [Rgb; 4] =
    [Rgb(0x6f, 0x3f, 0xa0), Rgb(0xa8, 0x84, 0xc9), Rgb(0x2b, 0x14, 0x42), Rgb(0x8d, 0x62, 0xb5)];
const DATA: [Rgb; 4] =
    [Rgb(0x5a, 0x5a, 0x5a), Rgb(0x90, 0x90, 0x90), Rgb(0x2b, 0x2b, 0x2b), Rgb(0x74, 0x74, 0x74)];

#[cfg(test)]
#[path = "style_tests.rs"]
mod tests;
