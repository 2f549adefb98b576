//! A network on a page: choose the observer, change the noise, sort and filter the losses.
//!
//! The parts are texts for one page without network access or framework: [`STYLE`], [`SCRIPT`], and the
//! section that a [`Viewer`] makes of data. Without scripts the section is hidden; the rest of the page says
//! everything.

use crate::digits::up;
use crate::harmless::harmless;
use ndp_dp::{Delta, Gdp, Mechanism};
use serde::Serialize;

/// The rules of the viewer and of tables that sort.
pub const STYLE: &str = include_str!("viewer/viewer.css");

/// Draws every viewer of the page.
pub const SCRIPT: &str = include_str!("viewer/viewer.js");

/// Makes every table of a page sortable by its columns, and long tables searchable.
pub const TABLES: &str = include_str!("viewer/tables.js");

/// Graphs with more nodes have no viewer.
pub const MOST_NODES: usize = 2000;

/// A page has at most this many losses; those of the last observers are left out.
const MOST_LOSSES: usize = 60_000;

/// A viewer draws no edges if there are more than this.
const MOST_EDGES: usize = 20_000;

/// What a viewer shows.
///
/// # Examples
/// ```
/// use ndp_report::viewer::{Seen, Viewer};
/// let seen = |name: &str, v, losses| Seen { name: name.into(), members: vec![v], losses, units: None };
/// let viewer = Viewer {
///     names: vec!["ann".into(), "bob".into()],
///     positions: vec![[0.0, 0.0], [1.0, 0.0]],
///     edges: vec![(0, 1)],
///     observers: vec![seen("ann", 0, vec![None, Some(0.5)]), seen("bob", 1, vec![Some(0.25), None])],
///     measure: "Renyi loss at order 2".into(),
///     sigma: 1.0,
///     sensitivity: 1.0,
///     scale: None,
/// };
/// assert!(viewer.section().is_some_and(|html| html.contains("0.50000") && !html.contains("http")));
/// ```
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Names of the nodes.
    pub names: Vec<String>,
    /// Where they are drawn.
    pub positions: Vec<[f64; 2]>,
    /// The edges.
    pub edges: Vec<(usize, usize)>,
    /// The observers whose losses are known; the first one is shown first.
    pub observers: Vec<Seen>,
    /// The measure of the losses.
    pub measure: String,
    /// Standard deviation of the noise at which the losses were computed, above 0.
    pub sigma: f64,
    /// The distance by which a value may move.
    pub sensitivity: f64,
    /// How losses follow from unit losses at another noise; `None` if they do not.
    pub scale: Option<Scale>,
}

/// What one observer learns.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// The nodes that it consists of.
    pub members: Vec<usize>,
    /// Upper ends of the losses of all nodes at the noise of the viewer, infinite if nothing bounds them;
    /// `None` if a node has no loss.
    pub losses: Vec<Option<f64>>,
    /// Upper ends of their unit losses, if every loss follows from one at every noise: `μ = √unit Δ/σ`.
    /// A loss without a bound has an infinite one.
    pub units: Option<Vec<Option<f64>>>,
}

/// How a loss follows from `μ`, which is inversely proportional to the noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// The Rényi loss `α μ²/2` of this order.
    Renyi(f64),
    /// `μ` itself.
    Mu,
    /// The `ε` of `(ε, δ)`-DP at this `δ`.
    Epsilon(Delta),
}

#[derive(Serialize)]
struct Data<'a> {
    names: Vec<String>,
    positions: Vec<[f64; 2]>,
    edges: &'a [(usize, usize)],
    observers: Vec<Who<'a>>,
    losses: Vec<Vec<Option<String>>>,
    measure: &'a str,
    sigma: f64,
    sensitivity: f64,
    scaling: Option<Scaling>,
    left_out: Vec<usize>,
}

#[derive(Serialize)]
struct Who<'a> {
    name: String,
    members: &'a [usize],
}

#[derive(Serialize)]
struct Scaling {
    measure: &'static str,
    order: f64,
    units: Vec<Vec<Option<Unit>>>,
    mus: Vec<f64>,
    epsilons: Vec<String>,
    at: Vec<f64>,
    deltas: Option<Vec<Vec<String>>>,
}

/// A unit loss on the page. JSON has no infinity, and `null` is a unit loss that is not known.
#[derive(Serialize)]
#[serde(untagged)]
enum Unit {
    Finite(f64),
    Infinite(&'static str),
}

impl Unit {
    fn new(unit: f64) -> Self {
        if unit == f64::INFINITY { Self::Infinite("inf") } else { Self::Finite(seven_up(unit)) }
    }
}

/// What the slider of the noise does.
enum Slider {
    /// It changes the losses.
    Scales(Scaling),
    /// There is none, because every loss is 0 or infinite at every noise.
    Constant,
    /// There is none, because some loss does not follow from a unit loss.
    Unknown,
}

impl Viewer {
    /// The section of a page; `None` if the graph is too large or no loss is known.
    #[must_use]
    pub fn section(&self) -> Option<String> {
        let n = self.names.len();
        if n > MOST_NODES || self.observers.is_empty() || self.positions.len() != n {
            return None;
        }
        let kept = (MOST_LOSSES / n.max(1)).clamp(1, self.observers.len());
        let (seen, rest) = self.observers.split_at(kept);
        let slider = self.slider(seen);
        let said = self.legend(&slider, rest.len());
        let data = Data {
            names: self.names.iter().map(|name| harmless(name).into_owned()).collect(),
            positions: self.positions.iter().map(|place| place.map(thousandth)).collect(),
            edges: if self.edges.len() > MOST_EDGES { &[] } else { &self.edges },
            observers: seen
                .iter()
                .map(|one| Who { name: harmless(&one.name).into_owned(), members: &one.members })
                .collect(),
            losses: seen.iter().map(|one| one.losses.iter().map(|loss| loss.map(up)).collect()).collect(),
            measure: &self.measure,
            sigma: self.sigma,
            sensitivity: self.sensitivity,
            scaling: if let Slider::Scales(scaling) = slider { Some(scaling) } else { None },
            left_out: rest.iter().flat_map(|one| one.members.iter().copied()).collect(),
        };
        // The text is inside a script, so no tag in it may end the script.
        let json = serde_json::to_string(&data).ok()?.replace('<', "\\u003c");
        Some(format!(
            "<section class=\"ndp-viewer\" hidden><script type=\"application/json\">{json}</script>\n{said}<svg role=\"img\"></svg></section>\n"
        ))
    }

    /// The text of the section before the script adds to it.
    fn legend(&self, slider: &Slider, left_out: usize) -> String {
        let mut said = "<p>Click a node that was computed as an observer to make it the one: the color of each other node is what is learned about it.".to_owned();
        if left_out > 0 {
            said.push_str(&format!(
                " {left_out} observers were computed but are not here, to keep the page small: ask about them alone."
            ));
        }
        if self.edges.len() > MOST_EDGES {
            said.push_str(" There are too many edges to draw.");
        }
        said.push_str("</p>\n<p>");
        said.push_str(match slider {
            Slider::Scales(_) => {
                "The slider changes the noise. All noise of this protocol is Gaussian and grows with this one number, and mu is \
                 inversely proportional to it. That is a theorem, so the numbers are guarantees at every noise of the slider. They \
                 are rounded up; an epsilon or a delta is that of the next larger mu in a table with steps of 2 %."
            }
            Slider::Constant => {
                "There is no slider for the noise: no loss here changes with it. Each is 0, or nothing here bounds it."
            }
            Slider::Unknown => {
                "There is no slider for the noise: these losses do not follow from one number at every noise. Ask again with \
                 another noise."
            }
        });
        said.push_str("</p>\n");
        said
    }

    /// The data that the page needs to compute losses at another noise, if all of them follow from unit
    /// losses.
    fn slider(&self, seen: &[Seen]) -> Slider {
        let complete = |one: &Seen| {
            let known = |(loss, unit): (&Option<f64>, &Option<f64>)| loss.is_none() || unit.is_some();
            one.units.as_ref().is_some_and(|units| one.losses.iter().zip(units).all(known))
        };
        let (Some(scale), true) = (&self.scale, seen.iter().all(complete)) else { return Slider::Unknown };
        let units = seen.iter().flat_map(|one| &one.units).flatten().flatten().copied();
        let largest = units.filter(|unit| unit.is_finite()).fold(0.0, f64::max);
        if largest == 0.0 {
            let mut losses = seen.iter().flat_map(|one| &one.losses).flatten();
            let constant = losses.all(|&loss| loss == 0.0 || loss == f64::INFINITY);
            return if constant { Slider::Constant } else { Slider::Unknown };
        }
        self.scaling(scale, seen, largest).map_or(Slider::Unknown, Slider::Scales)
    }

    /// The tables of a slider that reaches the `largest` finite unit loss; `None` if their numbers are too
    /// large or too small.
    fn scaling(&self, scale: &Scale, seen: &[Seen], largest: f64) -> Option<Scaling> {
        let units = seen.iter().flat_map(|one| &one.units);
        let units = units.map(|units| units.iter().map(|unit| unit.map(Unit::new)).collect()).collect();
        // The slider goes from a tenth of the noise to ten times as much.
        let most = 1.01 * 10.0 * seven_up(largest).sqrt() * self.sensitivity / self.sigma;
        if !(most.is_finite() && most > 0.0) {
            return None;
        }
        let mus: Vec<f64> = steps(most);
        let gdps: Vec<Gdp> = mus.iter().map(|&mu| Gdp::new(mu).ok()).collect::<Option<_>>()?;
        let (measure, order, epsilons) = match *scale {
            Scale::Renyi(order) => ("renyi", order, Vec::new()),
            Scale::Mu => ("mu", 1.0, Vec::new()),
            Scale::Epsilon(delta) => {
                let epsilons = gdps.iter().map(|gdp| up(*gdp.epsilon(delta).value()));
                ("epsilon", 1.0, epsilons.collect())
            }
        };
        let at: Vec<f64> = EPSILONS.to_vec();
        let deltas = at.iter().map(|&epsilon| {
            gdps.iter().map(|gdp| Some(up(*gdp.delta(epsilon).ok()?.value()))).collect::<Option<Vec<_>>>()
        });
        let deltas = deltas.collect::<Option<Vec<_>>>();
        Some(Scaling { measure, order, units, mus, epsilons, at, deltas })
    }
}

/// The positions of the slider of epsilon.
const EPSILONS: [f64; 12] = [0.0, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0];

/// The `mu` of the slider's steps: 2 % apart over four powers of ten, the last one at least `most`.
fn steps(most: f64) -> Vec<f64> {
    let count = 466;
    (0..=count).map(|k| most * 1.02f64.powi(k - count)).collect()
}

/// The number in seven digits, rounded up.
fn seven_up(x: f64) -> f64 {
    let text = ndp_numeric::decimal::scientific(x, 6, ndp_numeric::decimal::Round::Up);
    text.parse().ok().filter(|&y: &f64| y >= x).unwrap_or(x)
}

fn thousandth(x: f64) -> f64 {
    (1000.0 * x).round() / 1000.0
}

#[cfg(test)]
mod opened;

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer(scale: Option<Scale>, units: Option<Vec<Option<f64>>>) -> Viewer {
        Viewer {
            names: vec!["a</script>".into(), "b".into(), "c".into()],
            positions: vec![[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]],
            edges: vec![(0, 1), (1, 2)],
            observers: vec![Seen {
                name: "a".into(),
                members: vec![0],
                losses: vec![None, Some(1.0 / 3.0), Some(0.25)],
                units,
            }],
            measure: "loss".into(),
            sigma: 2.0,
            sensitivity: 1.0,
            scale,
        }
    }

    fn data(viewer: &Viewer) -> serde_json::Value {
        let html = viewer.section().unwrap();
        let json = html.split("json\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
        serde_json::from_str(json).unwrap()
    }

    /// Names cannot end the script, losses are rounded up, and nothing is loaded from elsewhere.
    #[test]
    fn the_data_of_a_section_are_complete_and_harmless() {
        let viewer = viewer(None, None);
        let data = data(&viewer);
        assert_eq!(data["names"][0], "a</script>");
        assert_eq!(data["losses"][0], serde_json::json!([null, "0.33334", "0.25000"]));
        assert!(data["scaling"].is_null());
        let html = viewer.section().unwrap();
        assert!(html.contains("no slider") && !html.contains("a</script>"));
        for part in [STYLE, SCRIPT, TABLES] {
            assert!(!part.contains("src=") && !part.contains("fetch") && !part.contains("import "));
            assert!(!part.contains("http"));
            assert!(!part.contains("</script"));
        }
    }

    /// Without a unit loss for every pair there is no slider.
    #[test]
    fn nothing_is_extrapolated_without_unit_losses() {
        let whole = vec![None, Some(4.0 / 3.0), Some(1.0)];
        let known = data(&viewer(Some(Scale::Renyi(2.0)), Some(whole.clone())));
        assert_eq!(known["scaling"]["order"], 2.0);
        assert!(known["scaling"]["units"][0][1].as_f64().unwrap() >= 4.0 / 3.0);
        for (scale, units) in [
            (None, Some(whole.clone())),
            (Some(Scale::Mu), None),
            (Some(Scale::Mu), Some(vec![None, Some(1.0), None])),
        ] {
            assert!(data(&viewer(scale, units))["scaling"].is_null());
        }
    }

    /// A loss without a bound stays on the page at every noise; `null` is a loss that is not known. If no
    /// loss changes with the noise, there is no slider, whose tables would be empty.
    #[test]
    fn infinite_units_are_no_unknown_ones() {
        let with = |units: [f64; 2]| {
            let mut viewer = viewer(Some(Scale::Mu), Some(vec![None, Some(units[0]), Some(units[1])]));
            viewer.observers[0].losses = vec![None, Some(units[0].sqrt()), Some(units[1].sqrt())];
            viewer
        };
        let mixed = data(&with([f64::INFINITY, 0.25]));
        assert_eq!(mixed["scaling"]["units"][0], serde_json::json!([null, "inf", 0.25]));
        assert!(!mixed["scaling"]["mus"].as_array().unwrap().is_empty());
        for constant in [[f64::INFINITY, 0.0], [f64::INFINITY; 2], [0.0; 2]] {
            let viewer = with(constant);
            assert!(data(&viewer)["scaling"].is_null(), "{constant:?}");
            let html = viewer.section().unwrap();
            assert!(html.contains("no loss here changes with it") && !html.contains("do not follow"));
        }
        let mut contradictory = with([0.0; 2]);
        contradictory.observers[0].losses[1] = Some(0.5);
        assert!(contradictory.section().is_some_and(|html| html.contains("do not follow")));
    }

    /// The loss shown at a step is at least the profile's loss at every mu below that step.
    #[test]
    fn steps_are_upper_bounds() {
        let delta = Delta::new(1e-5).unwrap();
        let units = vec![None, Some(4.0 / 3.0), Some(1.0)];
        let found = data(&viewer(Some(Scale::Epsilon(delta)), Some(units)));
        let scaling = &found["scaling"];
        let number =
            |value: &serde_json::Value| value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap();
        let mus: Vec<f64> = scaling["mus"].as_array().unwrap().iter().map(number).collect();
        // The slider goes to a tenth of the noise, where the largest mu is ten times as large.
        assert!(*mus.last().unwrap() > 10.0 * (4.0f64 / 3.0).sqrt() / 2.0);
        assert!(mus.windows(2).all(|pair| pair[0] < pair[1] && pair[1] < 1.021 * pair[0]));
        for k in [10, 200, 400] {
            let mu = f64::midpoint(mus[k - 1], mus[k]);
            let gdp = Gdp::new(mu).unwrap();
            let (step, exact) = (number(&scaling["epsilons"][k]), *gdp.epsilon(delta).value());
            assert!(step >= exact && step < 1.05 * exact + 1e-4, "{step} {exact}");
            for (i, epsilon) in EPSILONS.iter().enumerate() {
                assert!(number(&scaling["deltas"][i][k]) >= *gdp.delta(*epsilon).unwrap().value());
            }
        }
    }

    #[test]
    fn large_graphs_have_no_viewer_and_many_observers_are_cut() {
        let mut large = viewer(None, None);
        large.names = vec![String::new(); MOST_NODES + 1];
        large.positions = vec![[0.0; 2]; MOST_NODES + 1];
        assert!(large.section().is_none());
        let mut many = viewer(None, None);
        many.observers = vec![many.observers[0].clone(); MOST_LOSSES / 3 + 2];
        assert_eq!(data(&many)["left_out"].as_array().unwrap().len(), 2);
        assert!(many.section().unwrap().contains("2 observers were computed but are not here"));
    }
}
