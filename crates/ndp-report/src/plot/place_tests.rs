//! Things are where a reader looks for them, seen from lines, shapes and texts of a picture.

use super::*;
use crate::figure::{Drawing, Matrix, Series};
use ndarray::Array2;
use ndp_dp::Grade;
use ndp_graph::generators::path_graph;

type Pair = (f64, f64);

fn composed(panel: Panel) -> Canvas {
    compose(&Figure::new("T").panel(panel)).unwrap()
}

fn exact(points: &[Pair]) -> Series {
    Series::new("s", Grade::Exact).points(points.iter().copied())
}

/// The least and the largest of some numbers.
fn ends(values: impl Iterator<Item = f64>) -> Pair {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
}

/// The height of the middle of a text.
fn middle(area: Rect) -> f64 {
    area.y + area.height / 2.0
}

/// A value above the axis has a triangle on the upper edge that points up, one below on the lower edge that
/// points down, and the number stands beside it.
#[test]
fn triangles_point_to_what_is_beyond_the_axis() {
    let axis = || Axis::log("loss").range(0.13, 1.3);
    let panel = |points: &[Pair]| Panel::curves("p", Axis::linear("x"), axis()).with(exact(points));
    let canvas = composed(panel(&[(0.0, 0.5), (1.0, 77.0), (2.0, 0.6), (3.0, 0.5), (8.0, 0.6), (9.0, 0.03)]));
    let triangles: Vec<Vec<Pair>> = canvas.polygons().into_iter().filter(|it| it.len() == 3).collect();
    let [up, down] = triangles.as_slice() else { panic!("{triangles:?}") };
    let (up_top, up_base) = ends(up.iter().map(|p| p.1));
    let (down_base, down_top) = ends(down.iter().map(|p| p.1));
    assert!(up[2].1 == up_top && down[2].1 == down_top, "the last corner is the tip");
    // The bases lie inside, between the two tips.
    assert!(up_base - up_top > 4.0 && down_top - down_base > 4.0 && up_base < down_base);
    let (large, small) = (canvas.said("77").area, canvas.said("0.03").area);
    assert!(large.x > up[2].0 + 1.0 && small.right() < down[2].0 - 1.0, "{large:?} {small:?}");
    assert!(middle(large) < middle(small));
    // Values inside, and at the very end, are not written.
    let inside = composed(panel(&[(0.0, 0.13), (1.0, 0.77)]));
    assert!(inside.texts().iter().all(|it| it.text != "0.13" && it.text != "0.77"));
    assert!(inside.polygons().iter().all(|it| it.len() != 3));
}

/// The number of a value beyond the axis stands clear of the marks and the line that lead there.
#[test]
fn numbers_beyond_the_axis_are_clear_of_the_curve() {
    let points: Vec<Pair> = (1..=16).map(|x| (f64::from(x), 10.0 * 0.3_f64.powi(x * x / 10))).collect();
    let axis = Axis::log("loss").range(2e-4, 20.0);
    let canvas = composed(Panel::curves("p", Axis::linear("x"), axis).with(exact(&points)));
    let number = canvas.texts().iter().find(|it| it.text.contains("·10")).expect("a number").area;
    for (x, y, radius) in canvas.circles() {
        let mark = Rect { x: x - radius, y: y - radius, width: 2.0 * radius, height: 2.0 * radius };
        assert!(!number.meets(&mark), "{number:?} {mark:?}");
    }
}

/// Many points have smaller marks than few.
#[test]
fn many_points_are_small() {
    let radius = |count: u32| {
        let points: Vec<Pair> = (0..count).map(|k| (f64::from(k), f64::from(k * k % 7))).collect();
        let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with(exact(&points).scattered());
        // The sample in the legend has a size of its own.
        ends(composed(panel).circles().iter().map(|it| it.2)).0
    };
    assert!(radius(100) < radius(5) && radius(40) == radius(5));
}

/// Ticks stick out of the frame, and a narrow panel has at most six numbers below.
#[test]
fn ticks_are_outside_and_few() {
    let panel = || {
        Panel::curves("p", Axis::linear("x"), Axis::linear("y").range(0.0, 1.0))
            .with(exact(&[(0.0, 0.1), (6.0, 0.9)]))
    };
    let canvas = composed(panel());
    let level = |line: &&Vec<Pair>| line.len() == 2 && line[0].1 == line[1].1;
    let lines = canvas.lines();
    let frame = lines.iter().filter(level).map(|line| line[1].0 - line[0].0).fold(0.0, f64::max);
    let grid = lines.iter().filter(level).find(|line| line[1].0 - line[0].0 == frame).unwrap();
    let ticks: Vec<&Vec<Pair>> =
        lines.iter().filter(level).filter(|line| (line[1].0 - line[0].0).abs() < 5.0).collect();
    assert_eq!(ticks.len(), 6);
    assert!(ticks.iter().all(|line| line[1].0 == grid[0].0 && line[0].0 < grid[0].0));
    let row = Figure::new("T").panel(panel()).panel(panel()).panel(panel()).columns(3);
    let canvas = compose(&row).unwrap();
    let numbers = (0..=6).map(|k| format!("{k}"));
    let count = |number: String| canvas.texts().iter().filter(|it| it.text == number).count();
    assert!(numbers.map(count).sum::<usize>() <= 3 * 6);
}

/// A panel of curves is wider than high, and a title is smaller only if it would not fit.
#[test]
fn panels_and_titles_have_their_sizes() {
    let panel = |title: &str| {
        Panel::curves(title, Axis::linear("x"), Axis::linear("y")).with(exact(&[(0.0, 0.0), (1.0, 1.0)]))
    };
    let canvas = composed(panel("short"));
    let (width, height) = canvas.size();
    assert!(height < width && height > 0.4 * width, "{width} {height}");
    assert_eq!(canvas.said("short").size, 13.0);
    let long = "a title of one panel that is longer than the panel is wide, so that it has two lines and smaller letters, as small as they get";
    let canvas = composed(panel(long));
    let first = canvas.texts().iter().find(|it| it.text.starts_with("a title")).unwrap();
    assert_eq!(first.size, 11.0);
}

/// The header is above its rule, rules stand between the rows, everything is within the picture, and the
/// column of names is as wide as the longest of them.
#[test]
fn rows_of_a_table_follow_its_header() {
    let rows = 9;
    let longest = "the last and longest name of all";
    let names = (0..rows).map(|k| if k + 1 == rows { longest.to_owned() } else { format!("row {k}") });
    let mut panel = Panel::table("table", "graph");
    for (k, name) in names.enumerate() {
        panel = panel.row_name(k as f64, name);
    }
    let values = |at: usize| {
        let row = |k: usize| (k as f64, 1.25 + (10 * k + at) as f64);
        Series::data(format!("s{at}")).points((0..rows).map(row))
    };
    let figure = Figure::new("T").panel(panel.with_all((0..7).map(values)));
    assert!(faults(&figure).is_empty(), "{:?}", faults(&figure));
    let canvas = compose(&figure).unwrap();
    let mut rules: Vec<f64> = canvas.lines().iter().map(|line| line[0].1).collect();
    assert_eq!(rules.len(), 1 + rows);
    assert!(rules.is_sorted());
    let header = canvas.said("graph").area;
    let first = canvas.said("row 0").area;
    assert!(header.bottom() < rules[0] && rules[0] < first.y);
    assert!(rules[0] - header.bottom() < first.y - rules[0] + 2.5, "the rule belongs to the header");
    let below = rules.split_off(1);
    for (k, rule) in below.iter().enumerate() {
        let text = if k + 1 == rows { longest.to_owned() } else { format!("row {k}") };
        let area = canvas.said(&text).area;
        assert!(area.bottom() < *rule && area.y > rules[0].max(rule - 20.0), "{text}");
    }
    let value = canvas.said(&table::short(1.25 + (10 * (rows - 1)) as f64)).area;
    assert!(canvas.said(longest).area.right() < value.x);
}

/// The picture of a matrix in the SVG has its proportions, and the bar of colours is beside it.
#[test]
fn matrices_keep_their_proportions_beside_the_bar() {
    let values = Array2::from_shape_fn((2, 6), |(i, j)| (i + j) as f64);
    let matrix = Matrix::new("m", Grade::Exact, values).named(&["Ada".into(), "Bo".into()]);
    let matrix = Matrix { column_names: None, ..matrix };
    let figure = Figure::new("T").panel(Panel::heat_map("p", Axis::linear("the color"), matrix));
    let svg = draw(&figure).unwrap().svg;
    let image = &svg[svg.find("<image").unwrap()..];
    let field = |name: &str| -> f64 {
        let from = &image[image.find(&format!(" {name}=\"")).unwrap() + name.len() + 3..];
        from[..from.find('"').unwrap()].parse().unwrap()
    };
    assert!((field("width") / field("height") - 3.0).abs() < 0.01);
    let canvas = compose(&figure).unwrap();
    assert!(canvas.said("the color").area.x > field("x") + field("width"));
    assert!(canvas.said("Ada").area.right() < field("x"));
}

/// A text of the legend is to the right of its line, at its height.
#[test]
fn legends_have_their_lines_on_the_left() {
    let line = |k: usize| {
        let points = (0..5).map(|x| (f64::from(x), (k * 10) as f64 + f64::from(x)));
        Series::new(format!("line {k}"), Grade::Exact).points(points)
    };
    let canvas =
        composed(Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with_all((0..9).map(line)));
    for k in 0..9 {
        let area = canvas.said(&format!("line {k} (exact)")).area;
        let samples = canvas.lines().into_iter().filter(|line| {
            line.len() == 2 && line[0].1 == line[1].1 && (line[0].1 - middle(area)).abs() < 3.0
        });
        let nearest = samples.map(|line| area.x - line[1].0).filter(|gap| *gap > -20.0).fold(99.0, f64::min);
        assert!(nearest > 0.0 && nearest < 20.0, "line {k}: {nearest}");
    }
}

/// The names of rows of dots are at the height of their dots; a value beyond the axis has a triangle whose
/// tip is on the edge.
#[test]
fn names_of_rows_are_beside_their_dots() {
    let row = |name: &str, at: f64| Series::new(name, Grade::Exact).points([(1.0, at), (2.0, 3.0 * at)]);
    let axis = Axis::log("error").range(0.01, 1.0);
    let panel = Panel::dots("p", axis, ["ring", "star"]).with(row("gossip", 0.1)).with(row("walk", 0.5));
    let canvas = composed(panel);
    let dots = canvas.circles();
    for (name, dot) in [("gossip", dots[0]), ("walk", dots[1])] {
        assert!((middle(canvas.said(name).area) - dot.1).abs() < 1.5, "{name}");
    }
    let triangles: Vec<Vec<Pair>> = canvas.polygons().into_iter().filter(|it| it.len() == 3).collect();
    assert_eq!(triangles.len(), 1);
    let (left, right) = ends(triangles[0].iter().map(|p| p.0));
    assert!(right - left > 4.0 && triangles[0][2].0 == right && right > dots[1].0);
}

/// A marked node is larger than the others, however large those are.
#[test]
fn marked_nodes_are_larger() {
    let graph = path_graph(3).unwrap();
    let places = vec![[1.0, 1.0], [2.0, 1.5], [0.0, 0.0]];
    let drawing = Drawing::new("loss", Grade::Exact, &graph, places, vec![0.1, 0.2, 0.3]).mark(0);
    let circles = composed(Panel::drawing("p", Axis::linear("loss"), drawing)).circles();
    let plain = circles[1].2;
    let at_mark = circles.iter().filter(|it| (it.0, it.1) == (circles[0].0, circles[0].1));
    assert!(at_mark.skip(1).all(|it| it.2 > 1.2 * plain), "{circles:?}");
}

/// Many infinite values are a line along the upper edge with what they are in words, few have a triangle
/// each; finite ones are at their abscissas beside them.
#[test]
fn infinite_values_are_along_the_upper_edge() {
    let curve = |count: u32, infinite: u32, series: Series| {
        let height = |k: u32| if k < infinite { f64::INFINITY } else { f64::from(count - k) };
        let points = (0..count).map(|k| (f64::from(k + 1) / f64::from(count), height(k)));
        composed(Panel::curves("p", Axis::linear("share"), Axis::linear("loss")).with(series.points(points)))
    };
    let exact = || Series::new("s", Grade::Exact);
    let canvas = curve(100, 25, exact());
    let lines = canvas.lines();
    let frame = lines.iter().flatten().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let long = |line: &&Vec<Pair>| line.len() > 20;
    let [falling, top] = lines.iter().filter(long).collect::<Vec<_>>()[..] else { panic!("{lines:?}") };
    assert!(top.iter().all(|p| p.1 == frame) && falling.iter().all(|p| p.1 > frame));
    assert_eq!((top.len(), falling.len()), (25, 75));
    assert!(top[24].0 < falling[0].0);
    let words = canvas.said("no bound").area;
    assert!(words.right() < top[24].0 && words.y > frame, "below the run, where no curve is");
    let few = curve(8, 3, exact());
    assert_eq!(few.polygons().into_iter().filter(|it| it.len() == 3).count(), 3);
    assert_eq!(few.texts().iter().filter(|it| it.text == "no bound").count(), 1);
    assert!(curve(8, 3, Series::data("s")).texts().iter().any(|it| it.text == "infinite"));
    assert!(curve(8, 0, exact()).texts().iter().all(|it| it.text != "no bound"));
}

/// Nodes and cells without a bound have a colour and an entry of their own above the scale, which has a place
/// for finite losses alone and none below 0.
#[test]
fn infinite_values_have_an_entry_above_the_scale() {
    let graph = path_graph(3).unwrap();
    let drawn = |values: [f64; 3]| {
        let places = vec![[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]];
        let drawing = Drawing::new("loss", Grade::Exact, &graph, places, values.to_vec());
        Panel::drawing("p", Axis::linear("epsilon"), drawing)
    };
    let cells = |values: [f64; 3]| {
        let values = Array2::from_shape_vec((1, 3), values.to_vec()).unwrap();
        Panel::heat_map("p", Axis::linear("epsilon"), Matrix::new("loss", Grade::Exact, values))
    };
    let inf = f64::INFINITY;
    let of = |panel: Panel| {
        let figure = Figure::new("T").panel(panel);
        assert!(faults(&figure).is_empty(), "{:?}", faults(&figure));
        let (canvas, svg) = (compose(&figure).unwrap(), draw(&figure).unwrap().svg);
        let texts: Vec<String> = canvas.texts().iter().map(|it| it.text.clone()).collect();
        (texts, svg.matches("#d62828").count())
    };
    let has = |texts: &[String], text: &str| texts.iter().any(|it| it == text);
    for panel in [drawn([0.0, inf, f64::NAN]), cells([0.0, inf, f64::NAN])] {
        let (texts, red) = of(panel);
        assert!(has(&texts, "no bound") && has(&texts, "0.0") && has(&texts, "epsilon"), "{texts:?}");
        assert!(texts.iter().all(|text| !text.starts_with('-')), "{texts:?}");
        assert!(red >= 1);
    }
    let (texts, red) = of(drawn([0.0, 0.0, 0.0]));
    assert!(!has(&texts, "no bound") && red == 0 && texts.iter().all(|text| !text.starts_with('-')));
    let (texts, red) = of(drawn([inf, inf, f64::NAN]));
    assert!(has(&texts, "no bound") && !has(&texts, "0.5") && !has(&texts, "epsilon") && red >= 2);
}

/// Texts of the legend that are wider than the picture go on below.
#[test]
fn long_texts_of_the_legend_are_wrapped() {
    let line = |k: usize| {
        let name = format!("hierarchical:own=0,leaders={k},groups=12, noise 2; 5 of 30 observers: no bound");
        Series::new(format!("{name} = {name}"), Grade::Exact)
            .points([(0.0, k as f64), (1.0, 3.0 + 2.0 * k as f64)])
    };
    let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with_all((0..2).map(line));
    let figure = Figure::new("T").panel(panel);
    assert!(faults(&figure).is_empty(), "{:?}", faults(&figure));
    let canvas = compose(&figure).unwrap();
    let ends: Vec<_> = canvas.texts().iter().filter(|it| it.text.ends_with("(exact)")).collect();
    let starts = canvas.texts().iter().filter(|it| it.text.starts_with("hierarchical:own=0,leaders"));
    assert_eq!(ends.len(), 2);
    assert!(starts.zip(ends).all(|(start, end)| start.area.bottom() < end.area.bottom()));
}

/// Names are beside the ends of lines that reach the right edge; of a line that ends early the legend has the
/// name, above the picture, since a line on to the edge would look like more of it.
#[test]
fn lines_that_end_early_are_named_in_the_legend() {
    for (last, beside) in [(9.0, true), (8.0, true), (3.0, false)] {
        let long = Series::new("long", Grade::Exact).points([(0.0, 1.0), (9.0, 2.0)]);
        let short = Series::new("short", Grade::UpperBound).points([(0.0, 5.0), (last, 6.0)]);
        let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with(long).with(short);
        let canvas = composed(panel);
        let level = canvas.lines().into_iter().filter(|line| line.len() == 2 && line[0].1 == line[1].1);
        let edge = level.map(|line| line[1].0).fold(0.0, f64::max);
        let name = canvas.texts().iter().find(|it| it.text.starts_with("short")).unwrap().area;
        assert_eq!(name.x > edge - 10.0, beside, "{last}: {name:?} and {edge}");
    }
}
