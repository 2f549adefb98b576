//! Lines, shapes and letters: the only file that calls kuva.

use super::Picture;
use super::concise::concise;
use super::frame::Rect;
use crate::harmless::harmless;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl Rgb {
    /// The colour that is `share` of the way to `other`.
    pub(super) fn towards(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
}

impl From<Rgb> for Color {
    fn from(Rgb(r, g, b): Rgb) -> Self {
        Self::Rgb(r, g, b)
    }
}

pub(super) const BLACK: Rgb = Rgb(0x22, 0x22, 0x22);
pub(super) const GREY: Rgb = Rgb(0x6e, 0x6e, 0x6e);
pub(super) const PALE: Rgb = Rgb(0xe6, 0xe6, 0xe6);
pub(super) const WHITE: Rgb = Rgb(0xff, 0xff, 0xff);

/// Which part of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: Rgb,
    pub(super) width: f64,
    /// Lengths of dashes and gaps in turn; empty for a solid line.
    pub(super) dashes: &'static [f64],
    /// Where in the pattern the line starts, so that a line stays visible where another one covers it.
    pub(super) phase: f64,
}

/// A picture in progress.
pub(super) struct Canvas {
    scene: Scene,
    matrices: Vec<Matrix>,
    hints: Vec<Hint>,
    texts: Vec<Text>,
}

/// A text with its area, for the check whether it can be read.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) color: Rgb,
    /// About where it is.
    pub(super) area: Rect,
}

/// A place of the SVG that shows its numbers when the mouse points at it.
struct Hint {
    at: (f64, f64),
    text: String,
}

/// Pictures with more such places have no hints, which would be most of the file.
const MOST_HINTS: usize = 1500;

/// A matrix of colours. The PNG draws its cells; the SVG embeds a picture of them, because its size would
/// otherwise grow with the number of cells.
struct Matrix {
    /// The index of the scene's element that holds the cells.
    element: usize,
    /// The `<image>` in their place.
    image: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut scene = Scene::new(width.ceil(), height.ceil());
        scene.font_family = Some("DejaVu Sans, Verdana, Arial, sans-serif".into());
        Self { scene, matrices: Vec::new(), hints: Vec::new(), texts: Vec::new() }
    }

    /// A line through `points`. Dashes are cut here, by the length along the whole line, because kuva would
    /// restart them on every segment.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let parts = if stroke.dashes.is_empty() { vec![points.to_vec()] } else { dash(points, stroke) };
        for points in parts {
            self.scene.add(Primitive::PolyLine {
                points: points.into_iter().map(|(x, y)| (short(x), short(y))).collect(),
                stroke: stroke.color.into(),
                stroke_width: stroke.width,
                stroke_dasharray: None,
            });
        }
    }

    pub(super) fn line(&mut self, p: (f64, f64), q: (f64, f64), color: Rgb, width: f64) {
        self.polyline(&[p, q], Stroke { color, width, dashes: &[], phase: 0.0 });
    }

    /// A filled polygon.
    pub(super) fn polygon(
        &mut self,
        points: &[(f64, f64)],
        fill: Option<Rgb>,
        opacity: f64,
        outline: Option<Rgb>,
    ) {
        let mut d = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            d.push_str(&format!("{}{x:.2} {y:.2} ", if i == 0 { "M" } else { "L" }));
        }
        d.push('Z');
        self.scene.add(Primitive::Path(Box::new(PathData {
            d,
            fill: fill.map(Color::from),
            stroke: outline.map_or(Color::None, Color::from),
            stroke_width: if outline.is_some() { 1.2 } else { 0.0 },
            opacity: (opacity < 1.0).then_some(opacity),
            stroke_dasharray: None,
        })));
    }

    pub(super) fn circle(&mut self, (cx, cy): (f64, f64), r: f64, fill: Rgb, outline: Option<(Rgb, f64)>) {
        self.scene.add(Primitive::Circle {
            cx: short(cx),
            cy: short(cy),
            r: short(r),
            fill: fill.into(),
            fill_opacity: None,
            stroke: outline.map(|(color, _)| color.into()),
            stroke_width: outline.map(|(_, width)| width),
        });
    }

    pub(super) fn circle_outline(&mut self, (cx, cy): (f64, f64), r: f64, color: Rgb, width: f64) {
        self.scene.add(Primitive::Circle {
            cx: short(cx),
            cy: short(cy),
            r: short(r),
            fill: Color::None,
            fill_opacity: None,
            stroke: Some(color.into()),
            stroke_width: Some(width),
        });
    }

    /// Filled rectangles `(x, y, width, height, colour)`.
    pub(super) fn cells(&mut self, cells: &[(f64, f64, f64, f64, Rgb)]) {
        self.scene.add(Primitive::RectBatch {
            x: cells.iter().map(|c| short(c.0)).collect(),
            y: cells.iter().map(|c| short(c.1)).collect(),
            w: cells.iter().map(|c| short(c.2)).collect(),
            h: cells.iter().map(|c| short(c.3)).collect(),
            fills: cells.iter().map(|c| c.4.into()).collect(),
        });
    }

    /// A matrix of square cells of the length `side`, row by row, its first corner at `(x, y)`.
    ///
    /// # Errors
    /// kuva's message when it cannot encode the PNG.
    pub(super) fn matrix(&mut self, (x, y): (f64, f64), side: f64, rows: &[Vec<Rgb>]) -> Result<(), String> {
        let columns = rows.first().map_or(0, Vec::len);
        let mut small = Self::new(columns as f64, rows.len() as f64);
        small.cells(&runs(rows, |i, j| (j as f64, i as f64), 1.0, 0.0));
        let png = PngBackend::new().with_scale(1.0).render_scene(&small.scene)?;
        let (width, height) = (side * columns as f64, side * rows.len() as f64);
        let bytes = STANDARD.encode(png);
        let image = format!(
            "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{bytes}\"/>"
        );
        self.matrices.push(Matrix { element: self.scene.elements.len(), image });
        // A small overlap avoids seams.
        self.cells(&runs(rows, |i, j| (x + j as f64 * side, y + i as f64 * side), side, 0.3));
        Ok(())
    }

    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, size: f64, anchor: Anchor, color: Rgb) {
        self.turned_text(x, y, text, size, anchor, color, None);
    }

    /// Text that reads upwards.
    pub(super) fn upward_text(&mut self, x: f64, y: f64, text: &str, size: f64) {
        self.turned_text(x, y, text, size, Anchor::Middle, BLACK, Some(-90.0));
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of kuva's primitive, for the two callers above"
    )]
    fn turned_text(
        &mut self,
        x: f64,
        y: f64,
        text: &str,
        size: f64,
        anchor: Anchor,
        color: Rgb,
        rotate: Option<f64>,
    ) {
        self.texts.push(Text {
            text: text.to_owned(),
            size,
            color,
            area: area((x, y), text, size, anchor, rotate.is_some()),
        });
        self.scene.add(Primitive::Text {
            x: short(x),
            y: short(y),
            // kuva reads text between two dollars as a formula.
            content: harmless(text).replace('$', "\\$"),
            size: size as u32,
            anchor: match anchor {
                Anchor::Start => TextAnchor::Start,
                Anchor::Middle => TextAnchor::Middle,
                Anchor::End => TextAnchor::End,
            },
            rotate,
            bold: false,
            color: Some(color.into()),
        });
    }

    /// Lets the SVG show `text` when the mouse points at this place, for instance the numbers of a marker.
    pub(super) fn hint(&mut self, at: (f64, f64), text: String) {
        self.hints.push(Hint { at, text });
    }

    /// The texts so far.
    pub(super) fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// Width and height.
    pub(super) fn size(&self) -> (f64, f64) {
        (self.scene.width, self.scene.height)
    }

    pub(super) fn finish(mut self) -> Result<Picture, String> {
        let png = PngBackend::new().with_scale(2.0).render_scene(&self.scene)?;
        // A placeholder for each matrix. No caller can write this text, because `harmless` leaves no control
        // characters.
        for (k, matrix) in self.matrices.iter().enumerate() {
            self.scene.elements[matrix.element] = Primitive::Text {
                x: 0.0,
                y: 0.0,
                content: format!("\u{1}{k}\u{1}"),
                size: 1,
                anchor: TextAnchor::Start,
                rotate: None,
                bold: false,
                color: None,
            };
        }
        // Without a view box the picture cannot be scaled down.
        let view = format!("<svg viewBox=\"0 0 {} {}\" ", self.scene.width, self.scene.height);
        let mut svg = concise(&SvgBackend::new().render_scene(&self.scene)).replacen("<svg ", &view, 1);
        for (k, matrix) in self.matrices.iter().enumerate() {
            let at = svg.find(&format!("\u{1}{k}\u{1}")).ok_or("the SVG lacks the place of a matrix")?;
            let start = svg[..at].rfind('<').ok_or("a text begins nowhere")?;
            let end = at + svg[at..].find("</text>").ok_or("a text ends nowhere")? + "</text>".len();
            svg.replace_range(start..end, &matrix.image);
        }
        if !self.hints.is_empty() && self.hints.len() <= MOST_HINTS {
            let end = svg.rfind("</svg>").ok_or("the SVG has no end")?;
            svg.insert_str(end, &hints(&self.hints));
        }
        Ok(Picture { svg, png })
    }
}

/// A coordinate rounded to a hundredth. Further digits cannot be seen and would make half of an SVG.
fn short(coordinate: f64) -> f64 {
    (100.0 * coordinate).round() / 100.0
}

/// Invisible discs over everything else, each with its text.
fn hints(hints: &[Hint]) -> String {
    let mut group = String::from("<g class=\"hints\" fill=\"transparent\">\n");
    for Hint { at: (x, y), text } in hints {
        let text = harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        group.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"><title>{text}</title></circle>\n"
        ));
    }
    group.push_str("</g>\n");
    group
}

/// The cells of a matrix: neighbours of equal colour in a row are one rectangle.
fn runs(
    rows: &[Vec<Rgb>],
    corner: impl Fn(usize, usize) -> (f64, f64),
    side: f64,
    overlap: f64,
) -> Vec<(f64, f64, f64, f64, Rgb)> {
    let mut cells = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let mut start = 0;
        for run in row.chunk_by(PartialEq::eq) {
            let (x, y) = corner(i, start);
            cells.push((x, y, side * run.len() as f64 + overlap, side + overlap, run[0]));
            start += run.len();
        }
    }
    cells
}

/// The dashes of a line.
fn dash(points: &[(f64, f64)], stroke: Stroke) -> Vec<Vec<(f64, f64)>> {
    let lengths = stroke.dashes;
    let mut parts = Vec::new();
    let (mut phase, mut left) = (0, lengths[0]);
    let mut skip = stroke.phase;
    while skip >= left {
        skip -= left;
        phase += 1;
        left = lengths[phase % lengths.len()];
    }
    left -= skip;
    let mut part = points.first().filter(|_| phase % 2 == 0).map_or(Vec::new(), |&p| vec![p]);
    for pair in points.windows(2) {
        let [p, q] = [pair[0], pair[1]];
        let length = (q.0 - p.0).hypot(q.1 - p.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let at = (p.0 + (q.0 - p.0) * done / length, p.1 + (q.1 - p.1) * done / length);
            if phase % 2 == 0 {
                part.push(at);
                parts.push(std::mem::take(&mut part));
            } else {
                part = vec![at];
            }
            phase += 1;
            left = lengths[phase % lengths.len()];
        }
        left -= length - done;
        if phase % 2 == 0 {
            part.push(q);
        }
    }
    if part.len() > 1 {
        parts.push(part);
    }
    parts
}

/// About where a text is, upright or turned to the left.
pub(super) fn area((x, y): (f64, f64), text: &str, size: f64, anchor: Anchor, turned: bool) -> Rect {
    let (width, height) = (0.95 * text_width(text, size), 0.75 * size);
    let before = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    if turned {
        Rect { x: x - height, y: y - width + before, width: height, height: width }
    } else {
        Rect { x: x - before, y: y - height, width, height }
    }
}

/// The approximate width of a text in DejaVu Sans.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 'I' | 'J' | '.' | ',' | ':' | ';' | '\'' | '|' => 0.3,
            'f' | 't' | 'r' | '(' | ')' | '[' | ']' | ' ' | '-' | '/' => 0.38,
            'm' | 'w' | 'M' | 'W' | '@' | '%' | '=' | '<' | '>' | '+' | '≤' | '≥' => 0.85,
            '⁰' | '¹' | '²' | '³' | '⁴' | '⁵' | '⁶' | '⁷' | '⁸' | '⁹' | '⁻' => 0.4,
            'A'..='Z' => 0.7,
            _ => 0.61,
        })
        .sum();
    em * size
}

/// The text in lines no wider than `width`, broken at spaces.
pub(super) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + 0.4 * size <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
impl Canvas {
    /// The points of every line so far.
    pub(super) fn lines(&self) -> Vec<Vec<(f64, f64)>> {
        let line = |element: &Primitive| match element {
            Primitive::PolyLine { points, .. } => Some(points.clone()),
            _ => None,
        };
        self.scene.elements.iter().filter_map(line).collect()
    }

    /// The corners of every polygon.
    pub(super) fn polygons(&self) -> Vec<Vec<(f64, f64)>> {
        let polygon = |element: &Primitive| match element {
            Primitive::Path(path) => {
                let numbers = path.d.split(|c: char| c.is_ascii_alphabetic() || c == ' ');
                let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
                Some(numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
            }
            _ => None,
        };
        self.scene.elements.iter().filter_map(polygon).collect()
    }

    /// Centre and radius of every circle.
    pub(super) fn circles(&self) -> Vec<(f64, f64, f64)> {
        let circle = |element: &Primitive| match *element {
            Primitive::Circle { cx, cy, r, .. } => Some((cx, cy, r)),
            _ => None,
        };
        self.scene.elements.iter().filter_map(circle).collect()
    }

    /// The text that reads so.
    pub(super) fn said(&self, text: &str) -> &Text {
        self.texts.iter().find(|it| it.text == text).unwrap_or_else(|| panic!("{text:?} is not written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_on_around_corners() {
        let corner = [(0.0, 0.0), (3.0, 0.0), (3.0, 3.0)];
        let stroke = |dashes, phase| Stroke { color: BLACK, width: 1.0, dashes, phase };
        let parts = dash(&corner, stroke(&[2.0, 2.0], 0.0));
        assert_eq!(parts, [vec![(0.0, 0.0), (2.0, 0.0)], vec![(3.0, 1.0), (3.0, 3.0)]]);
        let bent = dash(&corner, stroke(&[4.0, 1.0], 0.0));
        assert_eq!(bent, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 2.0), (3.0, 3.0)]]);
    }

    #[test]
    fn a_phase_moves_the_dashes() {
        let line = [(0.0, 0.0), (7.0, 0.0)];
        let stroke = |phase| Stroke { color: BLACK, width: 1.0, dashes: &[2.0, 2.0], phase };
        let gap_first = dash(&line, stroke(3.0));
        assert_eq!(gap_first, [vec![(1.0, 0.0), (3.0, 0.0)], vec![(5.0, 0.0), (7.0, 0.0)]]);
        let short_first = dash(&line, stroke(1.0));
        assert_eq!(short_first, [vec![(0.0, 0.0), (1.0, 0.0)], vec![(3.0, 0.0), (5.0, 0.0)]]);
    }

    #[test]
    fn places_say_their_numbers_unless_there_are_too_many() {
        let of = |count: usize| {
            let mut canvas = Canvas::new(10.0, 10.0);
            (0..count).for_each(|k| canvas.hint((k as f64, 2.0), "a < b & c".into()));
            canvas.finish().unwrap().svg
        };
        let one =
            "<circle cx=\"0.0\" cy=\"2.0\" r=\"6\"><title>a &lt; b &amp; c</title></circle>\n</g>\n</svg>";
        assert!(of(1).trim_end().ends_with(one));
        assert_eq!(of(MOST_HINTS).matches("<title>").count(), MOST_HINTS);
        assert!(!of(MOST_HINTS + 1).contains("<title>") && !of(0).contains("<g class"));
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrap("aa bb cc", 10.0, 40.0), ["aa bb", "cc"]);
        assert_eq!(wrap("muchtoolong x", 10.0, 20.0), ["muchtoolong", "x"]);
        assert!(wrap("", 10.0, 20.0).is_empty());
    }

    /// Advance widths of DejaVu Sans in its own units, as the font file has them.
    #[test]
    fn widths_are_about_those_of_the_font() {
        for (text, ems) in [
            ("i", 0.278),
            ("t", 0.392),
            ("m", 0.974),
            ("W", 0.989),
            ("=", 0.838),
            ("≤", 0.838),
            ("A", 0.684),
            ("e", 0.615),
            ("⁷", 0.401),
            ("exact (upper bound)", 10.256),
            ("mean squared error", 9.996),
            ("W @ 5 % <= 3 MW", 9.646),
            ("10⁻⁵ ≤ x", 4.267),
        ] {
            let width = text_width(text, 10.0) / 10.0;
            assert!((width - ems).abs() <= 0.15 * ems, "{text:?}: {width} for {ems}");
        }
    }
}
