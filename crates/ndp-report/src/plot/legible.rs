//! Whether a picture can be read: sizes and places of texts, contrast, and colours that differ for every
//! reader.

use super::canvas::{Canvas, Text};
use super::curves::ranges;
use super::eyes::{contrast, distance};
use super::frame::Rect;
use super::style::{Style, Styles};
use super::{axes, compose};
use crate::figure::{Content, Figure, Mark, Panel, Series};

/// The least size of letters in points, on a page whose text width is [`PAGE`] points.
const LEAST_POINTS: f64 = 7.0;
const PAGE: f64 = 7.0 * 72.0;
/// Contrast with white paper, by WCAG 2.2: of texts and of lines.
const TEXT_CONTRAST: f64 = 4.5;
const LINE_CONTRAST: f64 = 3.0;
/// Least distance in CIELAB of two lines that differ in nothing else.
const LEAST_DISTANCE: f64 = 9.0;
/// Two lines coincide if they are nowhere farther apart than this many pixels.
const PIXEL: f64 = 0.75;

/// The place of a point, if it is within both axes.
type Spot = Option<(f64, f64)>;

/// What is hard to read, one sentence each.
pub(super) fn faults(figure: &Figure) -> Vec<String> {
    let Ok(canvas) = compose(figure) else { return vec!["it cannot be drawn".into()] };
    let mut found = of_texts(&canvas);
    let styles = Styles::of(figure);
    for panel in figure.drawn() {
        found.extend(
            of_lines(panel, &styles).into_iter().map(|fault| format!("panel {:?}: {fault}", panel.title)),
        );
    }
    found
}

fn of_texts(canvas: &Canvas) -> Vec<String> {
    let (width, height) = canvas.size();
    let mut found = Vec::new();
    let texts = canvas.texts();
    let beyond = |area: Rect| {
        area.x < -1.0 || area.y < -1.0 || area.right() > width + 1.0 || area.bottom() > height + 1.0
    };
    for (k, Text { text, size, color, area }) in texts.iter().enumerate() {
        let points = size.floor() * PAGE / width;
        if points < LEAST_POINTS - 1e-9 {
            found.push(format!("{text:?} has {points:.1} points on a page, less than {LEAST_POINTS}"));
        }
        if contrast(*color) < TEXT_CONTRAST {
            found.push(format!(
                "{text:?} has a contrast of {:.1}, less than {TEXT_CONTRAST}",
                contrast(*color)
            ));
        }
        if beyond(*area) {
            found.push(format!("{text:?} is beyond the picture"));
        }
        if let Some(other) = texts[k + 1..].iter().find(|other| overlap(*area, other.area)) {
            found.push(format!("{text:?} and {:?} are over each other", other.text));
        }
    }
    found
}

/// Whether two areas overlap by more than their edges.
fn overlap(one: Rect, other: Rect) -> bool {
    let across = one.right().min(other.right()) - one.x.max(other.x);
    let down = one.bottom().min(other.bottom()) - one.y.max(other.y);
    across > 2.5 && down > 2.5
}

fn of_lines(panel: &Panel, styles: &Styles) -> Vec<String> {
    let Content::Curves { x, y, series } = &panel.content else { return Vec::new() };
    let drawn: Vec<&Series> = series.iter().filter(|s| !styles.is_twin(s)).collect();
    let mut found = Vec::new();
    let looks: Vec<Style> = drawn.iter().map(|s| styles.get(s)).collect();
    let (spans, whole) = ranges((x, y), series);
    let (across, up, _) = axes::layout(NOMINAL, (x, y), spans, whole);
    let places = |s: &Series| -> Vec<Spot> {
        s.points.iter().map(|p| Some((across.place(p.x)?, up.place(p.y)?))).collect()
    };
    for (k, (one, look)) in drawn.iter().zip(&looks).enumerate() {
        let name = &one.name;
        // The lightest curve of a family is pale by design, but must still be visible.
        let least = if one.shade.is_some() { 1.5 } else { LINE_CONTRAST };
        if contrast(look.stroke.color) < least {
            found.push(format!(
                "{name:?} has a contrast of {:.1}, less than {least}",
                contrast(look.stroke.color)
            ));
        }
        for (other, second) in drawn.iter().zip(&looks).skip(k + 1) {
            let family = one.shade.is_some() && other.shade.is_some();
            // The lines of a family have no markers.
            let alike = one.family.is_some() == other.family.is_some()
                && look.marker == second.marker
                && look.stroke.dashes == second.stroke.dashes;
            let apart = distance(look.stroke.color, second.stroke.color);
            if !family && alike && apart < LEAST_DISTANCE {
                found
                    .push(format!("{name:?} and {:?} differ by {apart:.1} in color to some eye", other.name));
            }
            let lines = one.mark == Mark::Line && other.mark == Mark::Line && one.kind == other.kind;
            let (here, there) = (places(one), places(other));
            let same = |pair: (&Spot, &Spot)| match pair {
                (Some(p), Some(q)) => (p.0 - q.0).hypot(p.1 - q.1) < PIXEL,
                (p, q) => p.is_none() == q.is_none(),
            };
            if lines
                && !family
                && here.len() > 1
                && here.len() == there.len()
                && here.iter().zip(&there).all(same)
            {
                found.push(format!("{name:?} and {:?} coincide and are drawn twice", other.name));
            }
        }
    }
    found
}

/// The size of a panel in which two points are compared by their pixels.
const NOMINAL: Rect = Rect { x: 0.0, y: 0.0, width: 370.0, height: 280.0 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Axis;
    use ndp_dp::Grade;

    fn panel(series: Vec<Series>) -> Figure {
        let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with_all(series);
        Figure::new("t").panel(panel)
    }

    #[test]
    fn lines_within_a_pixel_are_found() {
        let line = |name: &str, shift: f64| {
            Series::new(name, Grade::Exact).points([(0.0, shift), (1.0, 1.0 + shift), (2.0, 0.5 + shift)])
        };
        assert!(faults(&panel(vec![line("a", 0.0), line("b", 0.1)])).is_empty());
        let twice = faults(&panel(vec![line("a", 0.0), line("b", 0.001)]));
        assert_eq!(twice, ["panel \"p\": \"a\" and \"b\" coincide and are drawn twice"]);
        // The style merges these two lines, because they are equal.
        assert!(faults(&panel(vec![line("a", 0.0), line("b", 0.0)])).is_empty());
    }

    #[test]
    fn texts_are_large_enough_and_apart() {
        let text = |x: f64, size: f64, shade: u8| {
            let mut canvas = Canvas::new(792.0, 100.0);
            let color = super::super::canvas::Rgb(shade, shade, shade);
            canvas.text(100.0, 50.0, "first words", 11.0, super::super::canvas::Anchor::Start, color);
            canvas.text(x, 50.0, "other words", size, super::super::canvas::Anchor::Start, color);
            of_texts(&canvas).len()
        };
        assert_eq!(text(300.0, 11.0, 30), 0);
        assert_eq!(text(120.0, 11.0, 30), 1, "over each other");
        assert_eq!(text(300.0, 10.0, 30), 1, "too small");
        assert_eq!(text(780.0, 11.0, 30), 1, "beyond");
        assert_eq!(text(300.0, 11.0, 0x80), 2, "too pale");
    }
}
