//! Curves, point clouds and histograms.

use super::Kind;

/// One point of a curve, with the range it stands for (minimum and maximum, or an interval).
///
/// # Examples
/// ```
/// use ndp_report::figure::Point;
/// let point = Point::from((1.0, 0.5));
/// assert_eq!((point.x, point.y, point.low), (1.0, 0.5, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// Lower end of the range, if there is one.
    pub low: Option<f64>,
    /// Upper end of the range, if there is one.
    pub high: Option<f64>,
}

impl Point {
    /// The range, if there is one: an end that is not known is the point itself.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let known = self.low.or(self.high).is_some();
        known.then(|| (self.low.unwrap_or(self.y), self.high.unwrap_or(self.y)))
    }
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y, low: None, high: None }
    }
}

/// How the points of a series are drawn.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Mark, Series};
/// assert_eq!(Series::data("runs").scattered().mark, Mark::Points);
/// assert_eq!(Series::data("losses").histogram(&[0.1, 0.2], &[0.0, 0.15, 0.3]).mark, Mark::Bars);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line, with a marker on every point when there are few.
    Line,
    /// Markers only.
    Points,
    /// Steps over bins centred at the abscissas: a histogram.
    Bars,
    /// As a row of dots: a strip from the first to the last point, thick between the second and the one
    /// before the last, with a mark at the middle one. The points are quantiles, in increasing order.
    Strip,
}

/// A named curve of one panel, or a column of a table.
///
/// Colour, dashes and markers follow from the kind and from the order in which names appear in
/// the figure: the same name looks the same in every panel.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_report::figure::Series;
/// // The mean over runs at every abscissa, with its spread.
/// let error = Series::data("error").mean_of_runs(&[1.0, 2.0], &[vec![0.4, 0.2], vec![0.6, 0.2]]);
/// assert_eq!((error.points[0].y, error.points[1].y), (0.5, 0.2));
/// let exact = Series::new("exact", Grade::Exact).points([(1.0, 1.0)]);
/// assert_eq!(exact.kind.as_str(), "exact");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend and the CSV, unique within its panel.
    pub name: String,
    /// What it may be used for.
    pub kind: Kind,
    /// How it is drawn.
    pub mark: Mark,
    /// Place `[i, count]` in an ordered family of `count` curves (sizes, probabilities); such curves are
    /// drawn in shades of one hue, light to dark.
    pub shade: Option<[usize; 2]>,
    /// What the legend says of the whole family, in one entry; each member has its own entry if absent.
    pub family: Option<String>,
    /// Whether its numbers are no privacy numbers, although they depend on noise of the grade that it states:
    /// then no picture says the grade.
    pub ungraded: bool,
    /// Whether the points are means over runs, which no check may use.
    pub averaged: bool,
    /// The points, in drawing order.
    pub points: Vec<Point>,
}

impl Series {
    /// A series without points.
    pub fn new(name: impl Into<String>, kind: impl Into<Kind>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            mark: Mark::Line,
            shade: None,
            family: None,
            ungraded: false,
            averaged: false,
            points: Vec::new(),
        }
    }

    /// A series that makes no privacy claim.
    pub fn data(name: impl Into<String>) -> Self {
        Self::new(name, Kind::Data)
    }

    /// The series with more points `(x, y)`.
    #[must_use]
    pub fn points<P: Into<Point>>(mut self, points: impl IntoIterator<Item = P>) -> Self {
        self.points.extend(points.into_iter().map(Into::into));
        self
    }

    /// The series with one more point that stands for the range from `low` to `high`.
    #[must_use]
    pub fn ranged(mut self, x: f64, y: f64, low: f64, high: f64) -> Self {
        self.points.push(Point { x, y, low: Some(low), high: Some(high) });
        self
    }

    /// The series with one point per distinct abscissa of `pairs`, ascending: the mean in `y`,
    /// the minimum and the maximum in `low` and `high`.
    #[must_use]
    pub fn by_class(mut self, pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut pairs: Vec<(f64, f64)> = pairs.into_iter().collect();
        // The sort is stable: within a class the values are added in the order given.
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        for class in pairs.chunk_by(|a, b| a.0 == b.0) {
            let values = class.iter().map(|&(_, y)| y);
            let mean = values.clone().sum::<f64>() / class.len() as f64;
            let low = values.clone().fold(f64::INFINITY, f64::min);
            let high = values.fold(f64::NEG_INFINITY, f64::max);
            // Rounding may move the mean of equal values out of their range. Values that differ by less than
            // a relative 1e-9, the accuracy of an exact loss, count as equal.
            let mean = mean.clamp(low, high);
            let (low, high) = if high - low <= 1e-9 * high.abs() { (mean, mean) } else { (low, high) };
            self = self.ranged(class[0].0, mean, low, high);
        }
        self
    }

    /// The series as the mean curve of several `runs` over the same abscissas `x`: the mean in `y`, the mean
    /// minus and plus one standard deviation (of the runs, not of the mean) in `low` and `high`. The curve
    /// ends where the shortest run ends.
    #[must_use]
    pub fn mean_of_runs(mut self, x: &[f64], runs: &[Vec<f64>]) -> Self {
        self.averaged = true;
        let count = runs.len() as f64;
        for (i, &x) in x.iter().enumerate() {
            let Some(values) = runs.iter().map(|run| run.get(i).copied()).collect::<Option<Vec<f64>>>()
            else {
                break;
            };
            let mean = values.iter().sum::<f64>() / count;
            let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
            let deviation = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
            self = self.ranged(x, mean, mean - deviation, mean + deviation);
        }
        self
    }

    /// The series as a histogram of `values`: the share of all values in each bin between consecutive `edges`
    /// (the last bin includes its upper edge), at the centres of the bins.
    #[must_use]
    pub fn histogram(mut self, values: &[f64], edges: &[f64]) -> Self {
        self.mark = Mark::Bars;
        let bins = edges.len().saturating_sub(1);
        let inside = |v: f64, bin: usize| {
            edges[bin] <= v && (v < edges[bin + 1] || (bin + 1 == bins && v == edges[bin + 1]))
        };
        for bin in 0..bins {
            let count = values.iter().filter(|&&v| inside(v, bin)).count();
            let centre = f64::midpoint(edges[bin], edges[bin + 1]);
            self.points.push((centre, count as f64 / values.len().max(1) as f64).into());
        }
        self
    }

    /// The series as a row of five dots, a strip: the least of `values`, their quartiles, the largest. Each
    /// is one of the values: the `⌈q n⌉`-th of `n` in increasing order for the share `q`, at the abscissas
    /// 1 to 5. Values that are NaN are left out.
    ///
    /// # Examples
    /// ```
    /// use ndp_report::figure::Series;
    /// let strip = Series::data("s").strip(&[4.0, 1.0, f64::NAN, 3.0, 2.0]);
    /// let at: Vec<f64> = strip.points.iter().map(|point| point.y).collect();
    /// assert_eq!(at, [1.0, 1.0, 2.0, 3.0, 4.0]);
    /// ```
    #[must_use]
    pub fn strip(mut self, values: &[f64]) -> Self {
        self.mark = Mark::Strip;
        let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        for quarter in (0..5).filter(|_| n > 0) {
            let rank = (quarter * n).div_ceil(4).max(1);
            self.points.push(((quarter + 1) as f64, values[rank - 1]).into());
        }
        self
    }

    /// The series as the share of `values` that are at least as large as an abscissa, which is one of them;
    /// at most `most` abscissas, and down to 0 at the largest one. Values that are NaN are left out.
    ///
    /// # Examples
    /// ```
    /// use ndp_report::figure::Series;
    /// let shares = Series::data("s").at_least(&[0.5, 0.1, 0.5, 0.2], 10);
    /// let pairs: Vec<(f64, f64)> = shares.points.iter().map(|point| (point.x, point.y)).collect();
    /// assert_eq!(pairs, [(0.1, 1.0), (0.2, 0.75), (0.5, 0.5), (0.5, 0.0)]);
    /// ```
    #[must_use]
    pub fn at_least(mut self, values: &[f64], most: usize) -> Self {
        let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let first = (0..n).filter(|&k| k == 0 || values[k - 1] < values[k]).collect::<Vec<usize>>();
        let step = first.len().div_ceil(most.max(1)).max(1);
        let last = first.len().saturating_sub(1);
        let kept = first.iter().enumerate().filter(|&(k, _)| k % step == 0 || k == last);
        for (_, &k) in kept {
            self.points.push((values[k], (n - k) as f64 / n as f64).into());
        }
        // No value is above the largest one. This point also makes a line of values that are all equal.
        self.points.extend(values.last().map(|&largest| Point::from((largest, 0.0))));
        self
    }

    /// The series drawn as markers without a line.
    #[must_use]
    pub fn scattered(mut self) -> Self {
        self.mark = Mark::Points;
        self
    }

    /// The series as member `i` of an ordered family of `count`.
    #[must_use]
    pub fn shade(mut self, i: usize, count: usize) -> Self {
        self.shade = Some([i, count]);
        self
    }

    /// The series as an accuracy or an error: drawn in the colour of the noise, without a grade.
    #[must_use]
    pub fn ungraded(mut self) -> Self {
        self.ungraded = true;
        self
    }

    /// The member of a family that has one entry in the legend, `name`.
    #[must_use]
    pub fn family(mut self, name: impl Into<String>) -> Self {
        self.family = Some(name.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_mean_minimum_and_maximum() {
        let series = Series::data("s").by_class([(2.0, 1.0), (1.0, 5.0), (2.0, 4.0), (2.0, 1.0)]);
        let want = [
            Point { x: 1.0, y: 5.0, low: Some(5.0), high: Some(5.0) },
            Point { x: 2.0, y: 2.0, low: Some(1.0), high: Some(4.0) },
        ];
        assert_eq!(series.points, want);
    }

    #[test]
    fn runs_give_mean_and_sample_deviation() {
        let runs = [vec![1.0, 2.0], vec![3.0, 2.0]];
        let series = Series::data("s").mean_of_runs(&[10.0, 20.0, 30.0], &runs);
        let root = 2.0_f64.sqrt();
        let want = [
            Point { x: 10.0, y: 2.0, low: Some(2.0 - root), high: Some(2.0 + root) },
            Point { x: 20.0, y: 2.0, low: Some(2.0), high: Some(2.0) },
        ];
        assert_eq!(series.points, want);
    }

    #[test]
    fn shares_end_at_zero_and_strips_hold_values() {
        let pairs = |s: Series| s.points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
        assert_eq!(pairs(Series::data("s").at_least(&[1.0, 1.0], 9)), [(1.0, 1.0), (1.0, 0.0)]);
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        let thinned = pairs(Series::data("s").at_least(&many, 10));
        assert!(thinned.len() <= 12 && thinned[0] == (0.0, 1.0));
        assert_eq!(thinned[thinned.len() - 2..], [(99.0, 0.01), (99.0, 0.0)]);
        assert!(Series::data("s").at_least(&[f64::NAN], 9).points.is_empty());
        let levels: Vec<f64> = Series::data("s").strip(&many).points.iter().map(|p| p.y).collect();
        assert_eq!(levels, [0.0, 24.0, 49.0, 74.0, 99.0]);
        assert!(Series::data("s").strip(&[]).points.is_empty());
    }

    #[test]
    fn the_last_bin_of_a_histogram_is_closed() {
        let series = Series::data("s").histogram(&[0.0, 0.5, 1.0, 2.0], &[0.0, 1.0, 2.0]);
        assert_eq!(series.points, [Point::from((0.5, 0.5)), Point::from((1.5, 0.5))]);
    }
}
