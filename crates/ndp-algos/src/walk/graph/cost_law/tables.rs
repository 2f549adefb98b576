//! The tables of a law that were computed so far, and the best of them for a question.

use super::mixture::Mixture;
use super::rounded_tables::Level;
use super::spread_tables::{Sided, Spread};
use ndp_numeric::rounding::Interval;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the fine tables for a window follow from: the coarse table that they are a part of, the bits of the
/// window, and the number of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fine {
    pub(super) wide: usize,
    pub(super) window: u64,
    pub(super) cells: usize,
}

/// Which tables a question uses: the number of coarse ones, and the fine ones in the order in which it asked
/// for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Which {
    pub(super) coarse: usize,
    pub(super) fine: Vec<Fine>,
}

/// What earlier questions computed. A question finds here what it would compute itself, and nothing else, so
/// that its answer is the same whichever questions came before.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) coarse: Vec<Arc<Level>>,
    pub(super) fine: BTreeMap<Fine, Vec<Arc<Spread>>>,
    pub(super) joined: BTreeMap<Which, Arc<Tables>>,
    /// As in [`Tables`].
    pub(super) sightings: f64,
}

impl Made {
    /// Keeps these tables, unless too many are kept: then only these.
    pub(super) fn keep(&mut self, tables: &Arc<Tables>) {
        if self.joined.len() >= MOST_JOINED {
            self.joined.clear();
        }
        self.joined.insert(tables.which.clone(), tables.clone());
    }

    /// The same for fine tables.
    pub(super) fn keep_fine(&mut self, fine: Fine, made: Vec<Arc<Spread>>) {
        if self.fine.len() >= MOST_FINE {
            self.fine.clear();
        }
        self.fine.insert(fine, made);
    }
}

/// The tables from which a law answers a question.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) which: Which,
    /// The first table contains all costs; each of the others contains a part of the range of the one before.
    pub(super) coarse: Vec<Arc<Level>>,
    /// Fine tables with spread charges, made where the question needed them.
    pub(super) spread: Vec<Arc<Spread>>,
    /// The laws from tables with rounded charges.
    pub(super) upper: Mixture,
    pub(super) lower: Mixture,
    /// The laws from each table with spread charges.
    spread_laws: Vec<[Mixture; 2]>,
    /// An upper bound on the mean number of sightings.
    pub(super) sightings: f64,
}

impl Tables {
    /// Combines the tables: each cost is taken from the finest table that contains it, and from above no
    /// coarser table knows less. `most` is the largest cost, and `attained` says whether there is a lower
    /// law.
    pub(super) fn joined(
        which: Which,
        (coarse, spread): (Vec<Arc<Level>>, Vec<Arc<Spread>>),
        sightings: f64,
        most: usize,
        attained: bool,
    ) -> Self {
        let mut levels: Vec<&Level> = coarse.iter().map(AsRef::as_ref).collect();
        levels.sort_by(|a, b| a.grid.cost(1).total_cmp(&b.grid.cost(1)));
        let (mut upper, mut plain, mut lower) = (Vec::new(), Vec::new(), Vec::new());
        let most = Interval::new(most as f64);
        let mut reached = 0.0;
        for (at, level) in levels.iter().enumerate() {
            // Grids and windows are powers of two, so that these numbers are exact.
            let from = ndp_numeric::casts::floor(reached / level.grid.cost(1)).max(1);
            for cell in from..level.reach() {
                let cost = level.grid.cost(cell);
                // What larger costs add to a fine table may be more than a coarse one knows.
                let coarser = levels[at + 1..].iter();
                let at_most = coarser.fold(level.upper[cell], |most, coarse| most.min(coarse.at_most(cost)));
                let cost = Interval::new(cost);
                upper.push((cost.min(most), at_most));
                plain.push((cost, at_most));
                if attained {
                    lower.push((cost, level.lower[cell]));
                }
            }
            reached = reached.max(level.window());
        }
        let beyond = coarse.first().map_or(1.0, |first| first.upper[first.reach()]);
        upper.push((most, beyond));
        // After spreading or rounding, a cost may be larger than is possible; here it counts as infinite.
        plain.push((Interval::new(BEYOND), beyond));
        // Costs beyond a table with spread charges have the probabilities of the rounded law of all
        // contributions, whose grid there is not finer.
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
        Self { which, coarse, spread, upper, lower, spread_laws, sightings }
    }

    /// All laws of one side, the one with rounded charges first.
    pub(super) fn laws(&self, upper: bool) -> impl Iterator<Item = Sided<'_>> {
        let side = usize::from(!upper);
        let rounded = Sided::new(if upper { &self.upper } else { &self.lower }, 0.0);
        let spread = self.spread.iter().zip(&self.spread_laws);
        let spread = spread.map(move |(table, laws)| Sided::new(&laws[side], table.variance));
        std::iter::once(rounded).chain(spread)
    }

    /// An upper law: the one from the last table that was made.
    pub(super) fn newest(&self) -> Sided<'_> {
        self.laws(true).last().unwrap_or_else(|| Sided::new(&self.upper, 0.0))
    }

    /// The smallest upper law for this question.
    pub(super) fn above(&self, epsilon: f64, sigma: f64) -> Sided<'_> {
        self.best(true, epsilon, sigma)
    }

    /// The largest lower law for this question.
    pub(super) fn below(&self, epsilon: f64, sigma: f64) -> Sided<'_> {
        self.best(false, epsilon, sigma)
    }

    fn best(&self, upper: bool, epsilon: f64, sigma: f64) -> Sided<'_> {
        // `δ` up to a thousandth, which is enough to compare laws.
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

    /// Whether neither the grid nor costs beyond it change `δ` much.
    pub(super) fn is_tight(&self, sigma: f64, epsilon: f64) -> bool {
        let law = &self.upper;
        let sums = law.sums(epsilon, sigma);
        let whole = sums[sums.len() - 1];
        let small = |cost: f64| sums[law.below(cost)] / whole;
        let window = self.coarse[0].window();
        // The cost below which half of δ is caused, and the finest grid there.
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

/// The largest number of windows with fine tables that are kept, and of combinations of tables.
const MOST_FINE: usize = 8;
const MOST_JOINED: usize = 12;
/// A cost that stands for an infinite one, at which `δ` is 1.
const BEYOND: f64 = 1e100;

/// Larger costs are not more probable than smaller ones, so that bounds on one hold for the other, too.
fn law(mut points: Vec<(Interval, f64)>, upper: bool) -> Mixture {
    let mut least = 0.0;
    points.iter_mut().rev().for_each(|(_, at_least)| {
        *at_least = f64::max(*at_least, least);
        least = *at_least;
    });
    Mixture::new(&points, upper)
}
