//! What was computed of a law so far, and the best of it for a question.

use super::level::Level;
use super::mixture::Mixture;
use super::spread::{Sided, Spread};
use ndp_numeric::rounding::Interval;

/// Tables of a law.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The first one has all costs, each of the others those of a part of the one before.
    pub(super) coarse: Vec<Level>,
    /// Fine ones where questions needed them, by spreading.
    pub(super) spread: Vec<Spread>,
    /// The laws by rounding.
    pub(super) upper: Mixture,
    pub(super) lower: Mixture,
    /// The laws by each table that spreads.
    spread_laws: Vec<[Mixture; 2]>,
    /// Mean number of sightings, at most.
    pub(super) sightings: f64,
}

impl Tables {
    /// For each cost the finest table that reaches so far; `most` is the largest cost, `attained` says
    /// whether there is a law from below.
    pub(super) fn joined(
        coarse: Vec<Level>,
        spread: Vec<Spread>,
        sightings: f64,
        most: usize,
        attained: bool,
    ) -> Self {
        let mut levels: Vec<&Level> = coarse.iter().collect();
        levels.sort_by(|a, b| a.grid.cost(1).total_cmp(&b.grid.cost(1)));
        let (mut upper, mut plain, mut lower) = (Vec::new(), Vec::new(), Vec::new());
        let most = Interval::new(most as f64);
        let mut reached = 0.0;
        for level in levels {
            // Grids and windows are powers of two, so that these are exact.
            let from = ndp_numeric::casts::floor(reached / level.grid.cost(1)).max(1);
            for cell in from..level.reach() {
                let cost = Interval::new(level.grid.cost(cell));
                upper.push((cost.min(most), level.upper[cell]));
                plain.push((cost, level.upper[cell]));
                if attained {
                    lower.push((cost, level.lower[cell]));
                }
            }
            reached = reached.max(level.window());
        }
        let beyond = coarse.first().map_or(1.0, |first| first.upper[first.reach()]);
        upper.push((most, beyond));
        // What is spread or rounded may cost more than is possible.
        plain.push((Interval::new(BEYOND), beyond));
        // What is beyond a table that spreads is that of all contributions rounded, on a grid that is not
        // finer.
        let spread_laws = spread
            .iter()
            .map(|spread| {
                let level = &spread.level;
                let join = |own: &[f64], rounded: &[(Interval, f64)], is_upper: bool| {
                    let inside =
                        (1..level.reach()).map(|cell| (Interval::new(level.grid.cost(cell)), own[cell]));
                    let outside = rounded.iter().filter(|(cost, _)| cost.low() >= level.window());
                    law(inside.chain(outside.copied()).collect(), is_upper)
                };
                let below =
                    if attained { join(&level.lower, &lower, false) } else { Mixture::new(&[], false) };
                [join(&level.upper, &plain, true), below]
            })
            .collect();
        let (upper, lower) = (law(upper, true), law(lower, false));
        Self { coarse, spread, upper, lower, spread_laws, sightings }
    }

    /// All laws of one side, the rounded one first.
    pub(super) fn laws(&self, upper: bool) -> impl Iterator<Item = Sided<'_>> {
        let side = usize::from(!upper);
        let rounded = Sided::new(if upper { &self.upper } else { &self.lower }, 0.0);
        let spread = self.spread.iter().zip(&self.spread_laws);
        let spread = spread.map(move |(table, laws)| Sided::new(&laws[side], table.variance));
        std::iter::once(rounded).chain(spread)
    }

    /// A law from above: the one by the last table.
    pub(super) fn newest(&self) -> Sided<'_> {
        self.laws(true).last().unwrap_or_else(|| Sided::new(&self.upper, 0.0))
    }

    /// The least of the laws from above, as far as this question goes.
    pub(super) fn above(&self, epsilon: f64, sigma: f64) -> Sided<'_> {
        self.best(true, epsilon, sigma)
    }

    /// The largest of those from below.
    pub(super) fn below(&self, epsilon: f64, sigma: f64) -> Sided<'_> {
        self.best(false, epsilon, sigma)
    }

    fn best(&self, upper: bool, epsilon: f64, sigma: f64) -> Sided<'_> {
        // To a thousandth of what is compared.
        let rough = (0..3).fold(1e-2, |slack, _| 1e-3 * self.upper.delta(epsilon, sigma, slack));
        let mut best = Sided::new(if upper { &self.upper } else { &self.lower }, 0.0);
        let mut value = best.delta(epsilon, sigma, rough);
        for law in self.laws(upper).skip(1) {
            let next = law.delta(epsilon, sigma, rough);
            if upper && next < value || !upper && next > value {
                (best, value) = (law, next);
            }
        }
        best
    }

    /// Whether neither the grid nor what is beyond it makes much of `δ`.
    pub(super) fn is_tight(&self, sigma: f64, epsilon: f64) -> bool {
        let law = &self.upper;
        let whole = law.delta(epsilon, sigma, 1e-6);
        let whole = law.delta(epsilon, sigma, 1e-4 * whole);
        let small = |cost: f64| law.delta_of(law.below(cost), epsilon, sigma, 1e-4 * whole) / whole;
        let window = self.coarse[0].window();
        // The cost below which half of δ is, and the finest grid there.
        let mut cost = window;
        while small(cost) > 0.5 && cost > 1e-9 {
            cost *= 0.8;
        }
        let grids = self.coarse.iter().filter(|level| level.window() >= cost).map(|level| level.grid.cost(1));
        let rounding = grids.fold(f64::INFINITY, f64::min) * self.sightings;
        let spread = self.spread.iter().any(|spread| {
            let moved = Sided::new(law, spread.variance).moved(epsilon, sigma);
            spread.level.window() >= 2.0 * cost && moved < 0.1 * whole
        });
        small(window) > 0.97 && (spread || rounding < 0.06 * cost)
    }
}

/// A cost at which everything is lost.
const BEYOND: f64 = 1e100;

/// Larger costs are not more probable: what is known of them holds for smaller ones, too.
fn law(mut points: Vec<(Interval, f64)>, upper: bool) -> Mixture {
    let mut least = 0.0;
    points.iter_mut().rev().for_each(|(_, at_least)| {
        *at_least = f64::max(*at_least, least);
        least = *at_least;
    });
    Mixture::new(&points, upper)
}
