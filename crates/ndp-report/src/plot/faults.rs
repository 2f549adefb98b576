//! Finds what makes a picture hard to read or misleading, from the figure itself.

use super::axes::data_range;
use super::legible;
use crate::figure::{Axis, AxisScale, Content, Figure, Kind, Mark, Panel, Series};
use ndp_dp::Grade;

/// The share of a panel of curves, in each direction, that points should reach over.
const REACH: f64 = 0.45;
/// The largest number of series in a panel that a reader can follow, families in shades left out.
const MOST_SERIES: usize = 6;
/// The largest number of panels side by side at which letters have 7 points on a printed page.
const MOST_COLUMNS: usize = 3;

/// The faults of the picture of a figure, one sentence each: a guarantee beyond the end of its axis, a
/// panel that is mostly empty, more series than can be followed, letters too small to print (below 7 points
/// where the picture is 7 inches wide), texts over each other or beyond the picture, colours too pale for
/// white paper, lines of one panel that some reader (without one kind of cone, or with a copy in grey)
/// cannot tell apart, lines of one role that coincide and are drawn twice.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_report::figure::{Axis, Figure, Panel, Series};
/// use ndp_report::plot::faults;
/// let bound = Series::new("bound", Grade::UpperBound).points([(1.0, 0.5), (2.0, 103.0)]);
/// let panel = Panel::curves("ring", Axis::linear("distance"), Axis::linear("loss").range(0.0, 1.0)).with(bound);
/// let found = faults(&Figure::new("t").panel(panel));
/// assert_eq!(found, ["panel \"ring\": \"bound\" has 103 at 2, beyond the end of its axis at 1"]);
/// ```
#[must_use]
pub fn faults(figure: &Figure) -> Vec<String> {
    let mut found: Vec<String> = figure.drawn().iter().flat_map(of_panel).collect();
    if let Some(columns) = figure.columns.filter(|&columns| columns > MOST_COLUMNS) {
        found.push(format!("{columns} panels side by side: letters have less than 7 points on a page"));
    }
    found.extend(legible::faults(figure));
    found
}

fn of_panel(panel: &Panel) -> Vec<String> {
    if let Content::Dots { value, series, .. } = &panel.content {
        return beyond(value, series)
            .into_iter()
            .map(|fault| format!("panel {:?}: {fault}", panel.title))
            .collect();
    }
    let Content::Curves { x, y, series } = &panel.content else { return Vec::new() };
    let mut found = beyond(y, series);
    let plain = series.iter().filter(|s| s.shade.is_none()).count();
    if plain > MOST_SERIES && y.names.is_empty() && series.iter().any(|s| s.mark == Mark::Line) {
        found.push(format!("{plain} series, more than {MOST_SERIES}"));
    }
    let points = || series.iter().flat_map(|s| &s.points);
    let ends = || points().flat_map(|p| [Some(p.y), p.low, p.high]).flatten();
    // Bars start at 0, and names fill their rows, so their panels are never mostly empty.
    let bars = series.iter().any(|s| s.mark == Mark::Bars);
    if points().count() > 1 && !bars && y.names.is_empty() {
        for (axis, values) in [(x, points().map(|p| p.x).collect()), (y, ends().collect::<Vec<f64>>())] {
            let reach = reach(axis, &values);
            if reach < REACH {
                found.push(format!("points reach over {:.0} % of {:?}", 100.0 * reach, axis.label));
            }
        }
    }
    found.into_iter().map(|fault| format!("panel {:?}: {fault}", panel.title)).collect()
}

/// Upper bounds and exact losses that a fixed range cuts off at its upper end, where no reader would look for
/// them.
fn beyond(y: &Axis, series: &[Series]) -> Vec<String> {
    let Some([_, last]) = y.range.filter(|[first, last]| first < last && last.is_finite()) else {
        return Vec::new();
    };
    let guaranteed = |s: &&Series| matches!(s.kind, Kind::Graded(Grade::Exact | Grade::UpperBound));
    let worst =
        |s: &Series| s.points.iter().filter(|p| p.y > last).max_by(|p, q| p.y.total_cmp(&q.y)).copied();
    let sentence = |s: &Series| {
        worst(s).map(|p| format!("{:?} has {} at {}, beyond the end of its axis at {last}", s.name, p.y, p.x))
    };
    series.iter().filter(guaranteed).filter_map(sentence).collect()
}

/// The share of the drawn range that the drawn values reach over.
fn reach(axis: &Axis, values: &[f64]) -> f64 {
    let [low, high] = data_range(axis, values.iter().copied(), 0.0);
    let drawn = values.iter().copied().filter(|v| (low.min(high)..=low.max(high)).contains(v));
    let (least, most) = drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let share = match axis.scale {
        AxisScale::Linear => (most - least) / (high - low),
        AxisScale::Log => (most / least).ln() / (high / low).ln(),
    };
    // A single value reaches over nothing, whatever the range.
    if most > least { share.abs() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found_and_a_good_picture_has_none() {
        let line = |name: &str, grade: Grade, height: f64| {
            Series::new(name, grade).points([(0.0, 0.1 * height), (8.0, height)])
        };
        let panel = |x: Axis, y: Axis| {
            Panel::curves("p", x, y).with(line("a", Grade::Exact, 1.0)).with(line("b", Grade::Printed, 30.0))
        };
        let of = |panel: Panel| faults(&Figure::new("t").panel(panel));
        let (x, y) = (|| Axis::linear("distance"), || Axis::log("loss"));
        assert!(of(panel(x(), y())).is_empty());
        assert!(of(panel(x(), y().range(1e-3, f64::INFINITY))).is_empty());
        let wide = of(panel(x().range(0.0, 25.0), y()));
        assert_eq!(wide, ["panel \"p\": points reach over 32 % of \"distance\""]);
        let tall = of(panel(x(), y().range(1e-9, 100.0)));
        assert_eq!(tall, ["panel \"p\": points reach over 23 % of \"loss\""]);
        // The printed value beyond the end is an arrow; a guarantee there is a fault.
        assert!(of(panel(x(), y().range(0.1, 2.0))).is_empty());
        assert_eq!(of(panel(x(), y().range(0.05, 0.5))).len(), 1);
        let many = (0..7).fold(panel(x(), y()), |p, k| p.with(line(&format!("s{k}"), Grade::Printed, 2.0)));
        assert_eq!(of(many), ["panel \"p\": 9 series, more than 6"]);
        let wide = Figure::new("t").columns(4).panel(panel(x(), y()));
        assert_eq!(faults(&wide).len(), 1);
    }

    /// A range reaches from its lower end to its upper end.
    #[test]
    fn ranges_reach_to_both_ends() {
        let of = |low: f64, high: f64| {
            let middle = f64::midpoint(low, high);
            let series = (0..3).fold(Series::new("a", Grade::Exact), |series, k| {
                series.ranged(f64::from(k), middle, low, high)
            });
            let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y").range(0.0, 1.0)).with(series);
            faults(&Figure::new("t").panel(panel))
        };
        assert!(of(0.2, 0.8).is_empty(), "{:?}", of(0.2, 0.8));
        assert_eq!(of(0.4, 0.8), ["panel \"p\": points reach over 40 % of \"y\""]);
    }
}
