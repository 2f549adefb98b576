//! The look of each grade: exact values are solid in blue and green, upper bounds dashed, printed formulas
//! dotted in red and orange, estimates dash-dotted in violet.

use super::canvas::{Canvas, Rgb, Stroke, WHITE};
use crate::figure::{Content, Figure, Kind, Mark, Series};
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
    entries: Vec<(String, Kind, Style)>,
}

impl Styles {
    pub(super) fn of(figure: &Figure) -> Self {
        let mut entries: Vec<(String, Kind, Style)> = Vec::new();
        for panel in &figure.panels {
            let Content::Curves { series, .. } = &panel.content else { continue };
            for s in series {
                if entries.iter().all(|(name, kind, _)| (name, *kind) != (&s.name, s.kind)) {
                    let before = entries.iter().filter(|(_, kind, _)| *kind == s.kind).count();
                    entries.push((s.name.clone(), s.kind, style(s, before)));
                }
            }
        }
        entries.sort_by_key(|&(_, kind, _)| kind);
        Self { entries }
    }

    pub(super) fn get(&self, series: &Series) -> Style {
        let found = self.entries.iter().find(|(name, kind, _)| (name, *kind) == (&series.name, series.kind));
        found.map_or_else(|| style(series, 0), |&(_, _, style)| style)
    }

    /// The texts of the legend: each name, with its grade unless the name contains it.
    pub(super) fn legend(&self) -> impl Iterator<Item = (String, Style)> + '_ {
        self.entries.iter().map(|(name, kind, style)| (graded_name(name, *kind), *style))
    }
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
    // When a colour is used again it gets another marker, first one through which a point beneath is visible.
    let markers = [marker, Marker::Frame, Marker::Triangle, Marker::Disc];
    let marker = if series.shade.is_some() { marker } else { markers[index / palette.len() % 4] };
    let phase = (index % 3) as f64 / 3.0 * dashes.iter().sum::<f64>();
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

const EXACT: [Rgb; 7] = [
    Rgb(0x0b, 0x5f, 0xa5),
    Rgb(0x00, 0x8f, 0x6b),
    Rgb(0x56, 0xa8, 0xe0),
    Rgb(0x4a, 0x3f, 0xb5),
    Rgb(0x1b, 0x26, 0x3b),
    Rgb(0x5c, 0x7a, 0x29),
    Rgb(0x7d, 0x8f, 0xa9),
];
const UPPER_BOUND: [Rgb; 5] = [
    Rgb(0x2a, 0x9d, 0x8f),
    Rgb(0x38, 0x66, 0xc4),
    Rgb(0x5f, 0x8f, 0x3e),
    Rgb(0x7a, 0x4f, 0xc0),
    Rgb(0x2f, 0x4b, 0x5c),
];
const PRINTED: [Rgb; 7] = [
    Rgb(0xd6, 0x28, 0x28),
    Rgb(0xf0, 0x8a, 0x1d),
    Rgb(0xb0, 0x1f, 0x7d),
    Rgb(0x8f, 0x5b, 0x34),
    Rgb(0xe8, 0x5d, 0x75),
    Rgb(0x7a, 0x1f, 0x1f),
    Rgb(0xc9, 0xa2, 0x27),
];
const ESTIMATE: [Rgb; 5] = [
    Rgb(0x8d, 0x5f, 0xb5),
    Rgb(0xa6, 0x85, 0x00),
    Rgb(0x6c, 0x75, 0x7d),
    Rgb(0xc0, 0x6f, 0xb0),
    Rgb(0x34, 0x65, 0xa4),
];
const DATA: [Rgb; 6] = [
    Rgb(0x3b, 0x3b, 0x3b),
    Rgb(0x1f, 0x77, 0xb4),
    Rgb(0xe0, 0x7b, 0x00),
    Rgb(0x2c, 0x96, 0x4b),
    Rgb(0x9b, 0x5f, 0xb5),
    Rgb(0xc4, 0x4e, 0x52),
];
