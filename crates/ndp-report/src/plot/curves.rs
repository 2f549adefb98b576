//! A panel of curves, points and histograms.

use super::axes::{self, Mapping, data_range};
use super::canvas::{Anchor, Canvas, Rgb, Stroke, WHITE, area};
use super::colors::endless;
use super::eyes::for_letters;
use super::frame::Rect;
use super::style::{Marker, Style, Styles};
use crate::figure::{Axis, AxisScale, Mark, Point, Series};
use crate::table::number;

/// A series with more points than this is drawn without markers, and its ranges as a band.
pub(super) const FEW: usize = 40;
/// The least distance between two numbers beyond the same edge.
const ROOM_OF_A_NUMBER: f64 = 70.0;

/// The least distance between a number and a mark.
const ROOM_OF_A_MARK: f64 = 3.0;

/// The colour of a line between the points beside one name.
const JOINT: Rgb = Rgb(0xc4, 0xc4, 0xc4);

pub(super) fn draw(
    canvas: &mut Canvas,
    cell: Rect,
    (x, y): (&Axis, &Axis),
    series: &[Series],
    styles: &Styles,
) {
    let (ranges, whole) = ranges((x, y), series);
    let (across, up, frame) = axes::draw(canvas, cell, (x, y), ranges, whole);
    let mut panel = Place { across, up, frame, named: !y.names.is_empty(), numbers: Vec::new() };
    if y.joined {
        panel.joints(canvas, series);
    }
    // Dashed lines are drawn over solid ones, so that both are seen where curves coincide.
    let mut order: Vec<&Series> = series.iter().collect();
    order.sort_by_key(|s| s.kind);
    for s in order.into_iter().filter(|s| !styles.is_twin(s)) {
        let style = styles.get(s);
        match s.mark {
            Mark::Bars => panel.bars(canvas, s, style),
            Mark::Line => {
                panel.ranges(canvas, s, style);
                panel.line(canvas, s, style);
            }
            Mark::Points | Mark::Strip => panel.ranges(canvas, s, style),
        }
        panel.markers(canvas, s, style);
    }
}

/// The drawn ranges of both axes, and whether all abscissas are whole numbers.
pub(super) fn ranges((x, y): (&Axis, &Axis), series: &[Series]) -> (([f64; 2], [f64; 2]), bool) {
    let points = || series.iter().flat_map(|s| &s.points);
    let bars = series.iter().any(|s| s.mark == Mark::Bars);
    let wide = bars || !y.names.is_empty();
    let x_range = data_range(x, points().map(|p| p.x), if wide { 0.06 } else { 0.03 });
    let ends = points().flat_map(|p| [Some(p.y), p.low, p.high]).flatten();
    let zero = (bars && y.scale == AxisScale::Linear).then_some(0.0);
    let y_range = data_range(y, ends.chain(zero), 0.05);
    ((x_range, y_range), !bars && points().all(|p| p.x.fract() == 0.0))
}

/// A point in words, with the numbers of its CSV row.
pub(super) fn said(series: &Series, &Point { x, y, low, high }: &Point) -> String {
    let range = match (low, high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        _ => String::new(),
    };
    let kind = if series.ungraded { String::new() } else { format!(", {}", series.kind.as_str()) };
    format!("{}{kind}: {}{range} at {}", series.name, number(y), number(x))
}

/// The frame of the panel and the positions of its numbers.
struct Place {
    across: Mapping,
    up: Mapping,
    frame: Rect,
    /// Whether ordinates number the names on the vertical axis.
    named: bool,
    /// The places of the numbers of points beyond the frame, so that none hides another.
    numbers: Vec<(f64, f64)>,
}

impl Place {
    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.across.place(x)?, self.up.place(y)?))
    }

    /// A line from the least to the largest of the points beside each name.
    fn joints(&self, canvas: &mut Canvas, series: &[Series]) {
        let points = || series.iter().flat_map(|s| &s.points);
        let mut rows: Vec<f64> = points().map(|p| p.y).collect();
        rows.sort_by(f64::total_cmp);
        rows.dedup();
        for row in rows {
            let Some(y) = self.up.place(row) else { continue };
            let places = points().filter(|p| p.y == row).filter_map(|p| self.across.place(p.x));
            let places = places.map(|x| x.clamp(self.frame.x, self.frame.right()));
            let (left, right) =
                places.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            if left < right {
                canvas.line((left, y), (right, y), JOINT, 2.5);
            }
        }
    }

    /// The line through the points; it is interrupted at a value that has no position.
    fn line(&self, canvas: &mut Canvas, series: &Series, style: Style) {
        let places: Vec<Option<(f64, f64)>> = series.points.iter().map(|p| self.at(p.x, p.y)).collect();
        for run in places.split(Option::is_none) {
            let run: Vec<(f64, f64)> = run.iter().flatten().copied().collect();
            for part in self.frame.clip(&run) {
                canvas.polyline(&part, style.stroke);
            }
        }
        // Few infinite values have a triangle each; many are a line along the upper edge.
        if series.points.len() > FEW {
            for run in series.points.chunk_by(|p, q| p.y == f64::INFINITY && q.y == f64::INFINITY) {
                let places = run.iter().filter(|p| p.y == f64::INFINITY);
                let places = places.filter_map(|p| Some((self.across.place(p.x)?, self.frame.y)));
                for part in self.frame.clip(&places.collect::<Vec<_>>()) {
                    canvas.polyline(&part, Stroke { width: 3.0, dashes: &[], ..style.stroke });
                }
            }
        }
    }

    /// The ranges of the points: whiskers, or a band when there are many.
    fn ranges(&self, canvas: &mut Canvas, series: &Series, style: Style) {
        let ranged: Vec<(f64, f64, f64)> = series
            .points
            .iter()
            .filter_map(|p| {
                let (low, high) = p.range()?;
                let px = self.across.place(p.x)?;
                let top = self.up.place(high)?.clamp(self.frame.y, self.frame.bottom());
                // On a log axis, a range that starts at zero reaches the edge.
                let bottom = self.up.place(low).unwrap_or(self.frame.bottom());
                Some((px, bottom.clamp(self.frame.y, self.frame.bottom()), top))
            })
            .filter(|&(px, ..)| (self.frame.x..=self.frame.right()).contains(&px))
            .collect();
        if series.mark == Mark::Line && series.points.len() > FEW {
            let upper = ranged.iter().map(|&(px, _, top)| (px, top));
            let lower = ranged.iter().rev().map(|&(px, bottom, _)| (px, bottom));
            let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
            if outline.len() > 3 {
                canvas.polygon(&outline, Some(style.stroke.color), 0.15, None);
            }
            return;
        }
        let color = style.stroke.color.towards(WHITE, 0.35);
        for (px, bottom, top) in ranged.into_iter().filter(|(_, bottom, top)| bottom - top > 0.5) {
            canvas.line((px, bottom), (px, top), color, 1.0);
            for y in [bottom, top] {
                canvas.line((px - 3.0, y), (px + 3.0, y), color, 1.0);
            }
        }
    }

    /// Draws markers if there are few points, and a hollow triangle on the edge for every value beyond the
    /// axis: zero on a log axis, infinity, or a value outside the range. The value farthest out is also
    /// written as a number.
    fn markers(&mut self, canvas: &mut Canvas, series: &Series, style: Style) {
        let color = style.stroke.color;
        let many = series.points.len() > FEW;
        let bare = series.family.is_some() && series.mark == Mark::Line;
        for point @ &Point { x, y, .. } in &series.points {
            if self.named {
                self.beside(canvas, series, style, (x, y));
                continue;
            }
            let Some(px) = self.across.place(x) else { continue };
            match self.up.place(y) {
                Some(py) if self.frame.contains((px, py)) => {
                    let size = if many { 1.6 } else { 3.0 };
                    if matches!(series.mark, Mark::Points | Mark::Strip)
                        || (!many && !bare && series.mark == Mark::Line)
                    {
                        let marker = if many { Marker::Disc } else { style.marker };
                        marker.draw(canvas, (px, py), size, color);
                    }
                    canvas.hint((px, py), said(series, point));
                }
                Some(_) if !(self.frame.x..=self.frame.right()).contains(&px) => {}
                _ if many || series.mark == Mark::Bars => {}
                place => {
                    let above = place.map_or(y > 0.0, |py| py < self.frame.y);
                    self.beyond(canvas, px, above, color);
                }
            }
        }
        if series.mark != Mark::Bars && !self.named && (!many || series.mark == Mark::Line) {
            self.numbers_beyond(canvas, series, style);
        }
    }

    /// A hollow triangle on the upper or lower edge, above or below which there is a value.
    fn beyond(&self, canvas: &mut Canvas, px: f64, above: bool, color: Rgb) {
        let (edge, tip) = if above { (self.frame.y, -1.0) } else { (self.frame.bottom(), 1.0) };
        let corners = [(-3.5, -5.0), (3.5, -5.0), (0.0, 1.0)];
        let corners: Vec<(f64, f64)> = corners.iter().map(|&(dx, dy)| (px + dx, edge + tip * dy)).collect();
        canvas.polygon(&corners, None, 1.0, Some(color));
    }

    /// The mark of a number in the row of a name; a triangle on the edge if the number is outside the axis.
    fn beside(&self, canvas: &mut Canvas, series: &Series, style: Style, (x, y): (f64, f64)) {
        let Some(py) = self.up.place(y) else { return };
        let color = style.stroke.color;
        let px = match self.across.place(x) {
            Some(px) if self.frame.contains((px, py)) => {
                style.marker.draw(canvas, (px, py), 3.8, color);
                px
            }
            place => {
                let zero = self.across.scale == AxisScale::Log && x <= 0.0;
                let right = !zero && place.is_none_or(|px| px > self.frame.right());
                let (edge, tip) = if right { (self.frame.right(), 1.0) } else { (self.frame.x, -1.0) };
                let corners = [(-6.0, -4.0), (-6.0, 4.0), (0.0, 0.0)];
                canvas.polygon(&corners.map(|(dx, dy)| (edge + tip * dx, py + dy)), None, 1.0, Some(color));
                edge - tip * 3.0
            }
        };
        canvas.hint((px, py), format!("{}, {}: {}", series.name, series.kind.as_str(), number(x)));
    }

    /// The largest number above the frame and the smallest one below it, beside their triangles; of infinite
    /// values the last one, in words.
    fn numbers_beyond(&mut self, canvas: &mut Canvas, series: &Series, style: Style) {
        let places =
            series.points.iter().filter_map(|p| Some((self.across.place(p.x)?, self.up.place(p.y)?, p.y)));
        let places: Vec<(f64, f64, f64)> =
            places.filter(|&(px, ..)| (self.frame.x..=self.frame.right()).contains(&px)).collect();
        let above = places.iter().filter(|p| p.1 < self.frame.y - 0.5).max_by(|p, q| p.2.total_cmp(&q.2));
        let below =
            places.iter().filter(|p| p.1 > self.frame.bottom() + 0.5).min_by(|p, q| p.2.total_cmp(&q.2));
        let infinite = series.points.iter().rev().filter(|p| p.y == f64::INFINITY);
        let mut infinite = infinite.filter_map(|p| Some((self.across.place(p.x)?, self.frame.y, p.y)));
        let run = series.points.windows(2).rev().find(|pair| pair[1].y == f64::INFINITY);
        let run = run.is_some_and(|pair| pair[0].y == f64::INFINITY);
        let infinite = infinite.find(|p| (self.frame.x..=self.frame.right()).contains(&p.0));
        // Of many points the one farthest out alone has a triangle.
        if series.points.len() > FEW {
            for (point, is_above) in [(infinite.as_ref(), true), (above, true), (below, false)] {
                if let Some(&(px, ..)) = point {
                    self.beyond(canvas, px, is_above, style.stroke.color);
                }
            }
        }
        let top = self.frame.y + 16.0;
        let ends = [(infinite.as_ref(), top), (above, top), (below, self.frame.bottom() - 9.0)];
        for (px, value, y) in ends.iter().filter_map(|&(point, y)| point.map(|p| (p.0, p.2, y))) {
            if self.numbers.iter().any(|&(x, at)| at == y && (x - px).abs() < ROOM_OF_A_NUMBER) {
                continue;
            }
            self.numbers.push((px, y));
            // Below a run of infinite values there is no curve.
            let beneath = run && value == f64::INFINITY && px > self.frame.x + ROOM_OF_A_NUMBER;
            let right = beneath || px > self.frame.x + 0.5 * self.frame.width;
            let (anchor, shift) = if right { (Anchor::End, -6.0) } else { (Anchor::Start, 6.0) };
            let words = if value == f64::INFINITY {
                endless(series.kind).to_owned()
            } else {
                axes::power_of_ten(value)
            };
            // Further in, if that is clear of the marks and lines of the series; an arrow then says where to.
            let (edge, inward, arrow) = if y == top { (top, 14.0, '↑') } else { (y, -14.0, '↓') };
            let said = |y: f64| match anchor {
                _ if y == edge => words.clone(),
                Anchor::End => format!("{words} {arrow}"),
                _ => format!("{arrow} {words}"),
            };
            let is_clear = |y: f64| {
                let area = area((px + shift, y), &said(y), axes::TICK_SIZE, anchor, false);
                let area = area.inset(-ROOM_OF_A_MARK, -ROOM_OF_A_MARK, -ROOM_OF_A_MARK, -ROOM_OF_A_MARK);
                let mark =
                    places.iter().any(|&(x, y, _)| self.frame.contains((x, y)) && area.contains((x, y)));
                let line = |pair: &[(f64, f64, f64)]| {
                    !area.clip(&[(pair[0].0, pair[0].1), (pair[1].0, pair[1].1)]).is_empty()
                };
                !(mark || series.mark == Mark::Line && places.windows(2).any(line))
            };
            let mut rows = (0..8).map(|row| edge + inward * f64::from(row));
            let y = rows.find(|&y| is_clear(y)).unwrap_or(edge);
            canvas.text(px + shift, y, &said(y), axes::TICK_SIZE, anchor, for_letters(style.stroke.color));
        }
    }

    /// Filled steps over the bins around the abscissas.
    fn bars(&self, canvas: &mut Canvas, series: &Series, style: Style) {
        let centres: Vec<f64> = series.points.iter().filter_map(|p| self.across.place(p.x)).collect();
        if centres.len() != series.points.len() || centres.is_empty() {
            return;
        }
        let last = centres.len() - 1;
        let half = |i: usize, j: usize| (centres[j] - centres[i]) / 2.0;
        let base = self.up.place(0.0).unwrap_or(self.frame.bottom()).min(self.frame.bottom());
        let mut steps = Vec::new();
        for (i, point) in series.points.iter().enumerate() {
            let before = if i > 0 { half(i - 1, i) } else { half(0, last.min(1)).max(2.0) };
            let after = if i < last { half(i, i + 1) } else { before };
            let top = self.up.place(point.y).unwrap_or(base).clamp(self.frame.y, base);
            steps.push((centres[i] - before, top));
            steps.push((centres[i] + after, top));
        }
        let (first, end) = (steps[0].0, steps[steps.len() - 1].0);
        let outline: Vec<(f64, f64)> =
            std::iter::once((first, base)).chain(steps).chain([(end, base)]).collect();
        canvas.polygon(&outline, Some(style.stroke.color), 0.22, None);
        canvas.polyline(&outline, style.stroke);
    }
}
