use super::*;
use crate::figure::{Drawing, Kind, Matrix, Panel, Series};
use ndarray::Array2;
use ndp_dp::Grade;
use ndp_graph::generators::grid_2d_graph;

/// A figure with everything that can be drawn, including hard cases.
pub(crate) fn everything() -> Figure {
    let curve = |name: &str, grade: Grade, shift: f64| {
        let pairs =
            (1..12).flat_map(move |k| [0.7, 1.0, 1.4].map(|f| (f64::from(k), f * shift * 0.5_f64.powi(k))));
        Series::new(name, grade).by_class(pairs)
    };
    let loss =
        Panel::curves("loss by distance", Axis::linear("distance"), Axis::log("unit loss").range(1e-3, 2.0))
            .with(
                curve("exact, towards node 0", Grade::Exact, 6.0)
                    .points([(12.0, 0.0), (13.0, f64::INFINITY)]),
            )
            .with(curve("renewal accountant", Grade::UpperBound, 9.0))
            .with(curve("Theorem 1", Grade::Printed, 0.6))
            .with(curve("attack", Grade::Estimate, 2.0));
    let dense = (0..200).map(|i| f64::from(i) / 20.0);
    let accuracy = dense
        .clone()
        .fold(Series::data("accuracy"), |s, x| s.ranged(x, x.sin(), x.sin() - 0.2, x.sin() + 0.2));
    let wave = Panel::curves("accuracy", Axis::linear("step"), Axis::linear("accuracy").range(-0.9, 1.0))
        .with(accuracy)
        .with(Series::data("points").scattered().points(dense.map(|x| (x, 0.5 * x.cos()))));
    let values: Vec<f64> = (0..500).map(|i| f64::from(i * i % 97) / 97.0).collect();
    let edges: Vec<f64> = (0..=10).map(|i| f64::from(i) / 10.0).collect();
    let histogram = Panel::curves("histogram", Axis::linear("loss"), Axis::linear("share of nodes"))
        .with(Series::new("sound", Grade::UpperBound).histogram(&values, &edges));
    let family = (0..4).fold(Panel::curves("family", Axis::log("n"), Axis::log("error")), |panel, i| {
        let name = format!("size {i}");
        let points = (1..8).map(move |k| (10.0_f64.powi(k), f64::from(i + 1) / f64::from(k)));
        panel.with(Series::new(name, Grade::Exact).shade(i as usize, 4).points(points))
    });
    let mut matrix = Array2::from_shape_fn((12, 12), |(i, j)| 1.0 / (1.0 + (i as f64 - j as f64).abs()));
    matrix[(3, 3)] = f64::NAN;
    matrix[(5, 5)] = 0.0;
    let heat = Panel::heat_map("matrix", Axis::log("loss"), Matrix::new("log loss", Grade::Printed, matrix));
    let graph = grid_2d_graph(9, 12).unwrap();
    let positions = graph.positions().unwrap().to_vec();
    let values = (0..graph.node_count()).map(|v| if v == 0 { f64::NAN } else { 1.0 / v as f64 }).collect();
    let drawing = Drawing::new("exact", Grade::Exact, &graph, positions, values).mark(0);
    let drawn = Panel::drawing("grid", Axis::log("unit loss"), drawing);
    let table = Panel::table("accuracies", "graph")
        .row_name(0.0, "complete")
        .row_name(1.0, "2-torus")
        .with(Series::data("gossip").ranged(0.0, 0.65, 0.55, 0.75).ranged(1.0, 0.7, 0.6, 0.8))
        .with(Series::new("mean squared error", Grade::UpperBound).points([(0.0, 1.2e-7), (1.0, 123_456.0)]));
    Figure::new("Everything that can be drawn: ε ≤ α Δ² / (2σ²), $not math$, <tags> & \"quotes\"")
        .panel(loss)
        .panel(wave)
        .panel(histogram)
        .panel(family)
        .panel(heat)
        .panel(drawn)
        .panel(table)
}

#[test]
fn everything_is_drawn_and_always_alike() {
    let figure = everything();
    figure.validate().unwrap();
    let picture = draw(&figure).unwrap();
    // The picture must not depend on what was drawn in between.
    draw(&Figure::new("other").panel(figure.panels[0].clone())).unwrap();
    assert_eq!(draw(&figure).unwrap(), picture);
    assert!(picture.svg.starts_with("<svg viewBox=\"0 0 "));
    for text in
        ["exact, towards node 0", "Theorem 1 (printed)", "renewal accountant (upper bound)", "0.65 ± 0.10"]
    {
        assert!(picture.svg.contains(text), "{text}");
    }
    assert!(!picture.svg.contains("NaN") && !picture.svg.contains("inf"));
    assert_eq!(&picture.png[..8], b"\x89PNG\r\n\x1a\n");
}

/// Names are listed from the top down, beside their points.
#[test]
fn places_may_have_names() {
    let dots = Series::data("noise").points([(3.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).scattered();
    let names = ["gossip", "ring", "walk"].map(str::to_owned).to_vec();
    let panel = Panel::curves("at the same limit", Axis::log("noise"), Axis::named(names)).with(dots);
    let svg = draw(&Figure::new("t").panel(panel)).unwrap().svg;
    let places: Vec<f64> = ["gossip", "ring", "walk"]
        .iter()
        .map(|name| {
            let before = &svg[..svg.find(&format!(">{name}<")).unwrap()];
            let at = &before[before.rfind(" y=\"").unwrap() + 4..];
            at[..at.find('"').unwrap()].parse().unwrap()
        })
        .collect();
    assert!(places[0] + 15.0 < places[1] && places[1] + 15.0 < places[2], "{places:?}");
}

/// A family in shades takes no colour from the series that follow it.
#[test]
fn shades_take_no_color() {
    let series = |name: &str| Series::new(name, Grade::Exact).points([(1.0, name.len() as f64), (2.0, 1.0)]);
    let family = (0..4).map(|k| series(&"s".repeat(k + 5)).shade(k, 4));
    let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y"))
        .with(series("a"))
        .with_all(family)
        .with(series("bb"));
    let styles = Styles::of(&Figure::new("t").panel(panel));
    let [first, second] = ["a", "bb"].map(|name| styles.get(&series(name)));
    assert_eq!(first.marker, second.marker);
    assert_ne!(first.stroke.color, second.stroke.color);
}

/// Pointing at a node shows the name that the user gave it.
#[test]
fn nodes_say_their_names() {
    let graph = ndp_graph::generators::path_graph(2).unwrap();
    let drawn = |graph: &ndp_graph::Graph| {
        let places = vec![[0.0, 0.0], [1.0, 0.0]];
        let drawing = Drawing::new("loss", Grade::Exact, graph, places, vec![f64::NAN, 0.25]);
        draw(&Figure::new("t").panel(Panel::drawing("d", Axis::linear("loss"), drawing))).unwrap().svg
    };
    assert!(drawn(&graph).contains("<title>node 1, exact: 0.25</title>"));
    let named = graph.with_labels(vec!["Ann".into(), "Bob & Co".into()]).unwrap();
    assert!(drawn(&named).contains("<title>node Bob &amp; Co, exact: 0.25</title>"));
}

/// Small graphs show the names of all nodes, cut if they are long; large graphs show none.
#[test]
fn small_graphs_are_drawn_with_names() {
    let drawn = |nodes: usize| {
        let graph = ndp_graph::generators::cycle_graph(nodes).unwrap();
        let labels = (0..nodes).map(|v| format!("n{v}-and-the-rest")).collect();
        let angle = |v: usize| std::f64::consts::TAU * v as f64 / nodes as f64;
        let places = (0..nodes).map(|v| [angle(v).cos(), angle(v).sin()]).collect();
        let graph = graph.with_labels(labels).unwrap();
        let drawing = Drawing::new("loss", Grade::Exact, &graph, places, vec![0.5; nodes]).mark(2);
        let figure = Figure::new("t").panel(Panel::drawing("d", Axis::linear("loss"), drawing));
        (draw(&figure).unwrap().svg, super::faults(&figure))
    };
    let (small, faults) = drawn(9);
    for v in 0..9 {
        assert!(small.contains(&format!(">n{v}-and-the-r<")), "{v}");
    }
    assert!(faults.is_empty(), "{faults:?}");
    assert!(!drawn(61).0.contains("-and-the-r<"));
}

/// Panels of dots that are side by side have their names once, on the left; cases differ in shape, grades in
/// colour.
#[test]
fn rows_of_dots_share_their_names() {
    let panel = |title: &str, scale: f64| {
        let row = |name: &str, grade: Grade, at: f64| {
            Series::new(name, grade).points([(1.0, at * scale), (2.0, 3.0 * at * scale)])
        };
        Panel::dots(title, Axis::log("error"), ["ring", "star"])
            .with(row("gossip", Grade::Exact, 0.1))
            .with(row("walk", Grade::UpperBound, 0.2).points([(2.0, 0.0)]))
    };
    let figure = Figure::new("t").panel(panel("error", 1.0)).panel(panel("messages", 100.0)).columns(2);
    figure.validate().unwrap();
    assert!(faults(&figure).is_empty());
    let svg = draw(&figure).unwrap().svg;
    let count = |text: &str| svg.matches(text).count();
    assert_eq!((count(">gossip<"), count(">walk<"), count(">ring<"), count(">upper bound<")), (1, 1, 1, 1));
    assert!(
        svg.contains("<title>walk, upper-bound: 0 at 2 (star)</title>"),
        "a value without a place has a triangle"
    );
    assert!(svg.contains("<title>gossip, exact: 0.1 at 1 (ring)</title>"));
    // If a panel with other rows is beside them, each panel has its own names.
    let other = figure.panel(Panel::dots("third", Axis::linear("n"), ["ring"]).with(Series::data("x")));
    assert_eq!(draw(&other.columns(3)).unwrap().svg.matches(">gossip<").count(), 2);
}

#[test]
fn a_panel_without_points_or_with_one_value_is_drawn() {
    let empty = Panel::curves("empty", Axis::log("x"), Axis::log("y")).with(Series::data("none"));
    let level = Panel::curves("level", Axis::linear("x"), Axis::linear("y"))
        .with(Series::data("level").points([(0.0, 0.0), (1.0, 0.0)]));
    let zeros = Panel::curves("zeros", Axis::linear("x"), Axis::log("y"))
        .with(Series::new("zeros", Grade::Exact).points([(0.0, 0.0), (1.0, 0.0)]));
    let cell = Panel::heat_map("cell", Axis::log("c"), Matrix::new("m", Kind::Data, Array2::zeros((1, 1))));
    for panel in [empty, level, zeros, cell] {
        let picture = draw(&Figure::new("t").panel(panel)).unwrap();
        assert!(!picture.svg.contains("NaN") && !picture.svg.contains("inf"));
    }
}

/// A few lines have their names at their ends, and the legend has only the grades; many lines are named in
/// the legend.
#[test]
fn names_stand_at_the_ends_of_lines() {
    let line = |k: usize, grade: Grade| {
        Series::new(format!("line {k}"), grade)
            .points((0..5).map(|x| (f64::from(x), (k * 10) as f64 + f64::from(x))))
    };
    let of = |lines: usize| {
        let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y"))
            .with_all((0..lines).map(|k| line(k, if k == 0 { Grade::Exact } else { Grade::UpperBound })));
        let figure = Figure::new("t").panel(panel);
        assert_eq!(faults(&figure).len(), usize::from(lines > 6));
        draw(&figure).unwrap().svg
    };
    let few = of(4);
    let texts = [">line 0<", ">line 3<", ">exact<", ">upper bound<"];
    assert!(texts.iter().all(|text| few.matches(text).count() == 1) && !few.contains("line 0 (exact)"));
    let many = of(7);
    assert!(
        many.contains(">line 0 (exact)<")
            && many.contains(">line 6 (upper bound)<")
            && !many.contains(">exact<")
    );
}

/// A family has one entry in the legend. An accuracy has no grade, neither in the legend nor in its hint.
#[test]
fn families_and_accuracies_in_the_legend() {
    let line = |k: usize| {
        Series::new(format!("T = {k}"), Grade::Printed).points([(0.0, k as f64), (1.0, 2.0 * k as f64)])
    };
    let family = (1..4).map(|k| line(k).shade(k - 1, 3).family("printed, T = 1 to 3"));
    let accuracy = Series::new("gossip", Grade::Exact).points([(0.0, 0.5), (1.0, 0.9)]).ungraded();
    let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y")).with_all(family).with(accuracy);
    let svg = draw(&Figure::new("t").panel(panel)).unwrap().svg;
    assert_eq!(svg.matches(">printed, T = 1 to 3<").count(), 1);
    assert!(!svg.contains(">T = 1<") && !svg.contains(">T = 1 (printed)<"));
    assert!(svg.contains(">gossip<") && svg.contains("<title>gossip: 0.5 at 0</title>"));
}

/// The picture shows the views, and the CSV has the panels.
#[test]
fn views_are_drawn_and_panels_written() {
    let table = Panel::table("losses", "graph")
        .row_name(0.0, "ring")
        .row_name(1.0, "star")
        .with(Series::new("printed", Grade::Printed).points([(0.0, 0.1), (1.0, f64::INFINITY)]))
        .with(Series::new("exact", Grade::Exact).points([(0.0, 0.9), (1.0, 0.4)]));
    let strip = Series::new("strip", Grade::Exact).strip(&[0.4, 0.9]);
    let strips = Panel::dots("strips", Axis::linear("loss"), ["a", "b", "c", "d", "e"]).with(strip);
    let views = [table.dumbbells(Axis::linear("loss"), &["printed", "exact"]), strips];
    let figure = Figure::new("t").panel(table).drawn_as(views);
    figure.validate().unwrap();
    assert!(faults(&figure).is_empty(), "{:?}", faults(&figure));
    let svg = draw(&figure).unwrap().svg;
    assert!(svg.contains("<title>printed, printed: inf</title>"), "on the edge, with its number");
    assert!(svg.contains(">least to largest, quartiles, median<") && svg.contains(">star<"));
    let (_, csv) = crate::table::tables(&figure).remove(0);
    assert_eq!(csv.lines().count(), 5);
    let wrong = Series::new("exact", Grade::Exact).points([(0.1, 0.0)]);
    let promoted = Panel::curves("v", Axis::linear("loss"), Axis::named(vec!["ring".into()])).with(wrong);
    assert!(figure.drawn_as([promoted]).validate().unwrap_err().contains("which no panel has"));
}

/// Cases with ranges are drawn one above the other, and their hints name the case.
#[test]
fn ranges_of_a_row_stand_apart() {
    let svg = |range: Option<(f64, f64)>| {
        let row = Series::data("ring");
        let row = match range {
            Some((low, high)) => row.ranged(1.0, 0.4, low, high).ranged(2.0, 0.6, low, high),
            None => row.points([(1.0, 0.4), (2.0, 0.6)]),
        };
        let panel = Panel::dots("p", Axis::linear("accuracy"), ["released", "sound"]).with(row);
        draw(&Figure::new("t").panel(panel)).unwrap().svg
    };
    let heights = |svg: &str| -> Vec<String> {
        let hints = svg.lines().filter(|line| line.contains("<title>ring"));
        hints.map(|line| line.split('"').nth(3).unwrap_or_default().to_owned()).collect()
    };
    let (apart, level) = (svg(Some((0.1, 0.9))), svg(None));
    let [above, below] = <[String; 2]>::try_from(heights(&apart)).unwrap();
    assert_ne!(above, below);
    let [one, other] = <[String; 2]>::try_from(heights(&level)).unwrap();
    assert_eq!(one, other);
    assert!(apart.contains("at 1 (released)</title>") && apart.contains("at 2 (sound)</title>"));
}

/// A median outside the axis is written as a number, not drawn at the end of the axis.
#[test]
fn medians_beyond_the_axis_are_said() {
    let strip = |values: &[f64]| {
        let axis = Axis::log("loss").range(1e-3, 10.0);
        let strip = Series::new("strip", Grade::Printed).strip(values);
        let panel = Panel::dots("strips", axis, ["a", "b", "c", "d", "e"]).with(strip);
        draw(&Figure::new("t").panel(panel)).unwrap().svg
    };
    assert!(strip(&[1e-9, 1e-8, 2.0]).contains(">median 1.000"));
    assert!(strip(&[1.0, 20.0, 30.0]).contains(">median 20"));
    assert!(!strip(&[1e-9, 0.5, 2.0]).contains(">median"));
}
