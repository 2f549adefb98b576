//! Decides which tables of a law a question needs, and makes them.

use super::intervals::Intervals;
use super::level::{Ends, FirstWindow, Level};
use super::mixture::Mixture;
use super::passages::Side;
use super::spread::{Sided, Spread, bends};
use super::system::Rounding;
use super::tables::Tables;
use super::{CostLaw, Source, adaptive, gaps};
use ndp_account::Error;
use ndp_account::parts::locked;
use std::cell::LazyCell;
use std::sync::Arc;

impl CostLaw {
    pub(super) fn tables(&self) -> Result<Arc<Tables>, Error> {
        self.tables_of(1)
    }

    /// Tables that are fine enough for this question: coarse ones until small costs hardly matter, and then a
    /// fine one of the costs that cause most of `δ`.
    pub(super) fn tables_for(&self, sigma: f64, epsilon: f64) -> Result<Arc<Tables>, Error> {
        let mut tables = self.tables()?;
        loop {
            let law = &tables.upper;
            let sums = law.sums(epsilon, sigma);
            let whole = sums[sums.len() - 1];
            // The choice of tables depends on shares that are rounded up. Most questions can be decided by
            // plain sums.
            let rounded = LazyCell::new(|| {
                let whole = law.delta(epsilon, sigma, 1e-6);
                law.delta(epsilon, sigma, 1e-4 * whole)
            });
            let exceeds = |cost: f64, limit: f64| {
                let share = sums[law.below(cost)] / whole;
                if (share - limit).abs() > CLEAR {
                    return share > limit;
                }
                law.delta_of(law.below(cost), epsilon, sigma, 1e-4 * *rounded) / *rounded > limit
            };
            let Some(last) = tables.coarse.last() else { return Ok(tables) };
            if whole == 0.0 || last.grid.cost(64) < 1.0 / self.steps as f64 {
                return Ok(tables);
            }
            let narrower = last.window() / NARROWER as f64;
            // The same decision, for costs that the grid is too coarse to resolve.
            let unresolved = exceeds(last.grid.cost(LEAST_RESOLVED), 0.5);
            if (unresolved || exceeds(narrower, SMALL_SHARE)) && tables.coarse.len() < MOST_COARSE {
                tables = self.tables_of(tables.coarse.len() + 1)?;
                continue;
            }
            // The smallest window that contains nearly all of δ.
            let mut window = tables.coarse[0].window();
            while exceeds(0.5 * window, LARGE_SHARE) {
                window *= 0.5;
            }
            let resolution = 2.0 * window / self.cells as f64;
            let enough = |level: &Level| level.window() >= window && level.grid.cost(1) <= resolution;
            let spread: Vec<&Spread> = tables.spread.iter().filter(|spread| enough(&spread.level)).collect();
            if tables.spread.len() >= MOST_FINE {
                return Ok(tables);
            }
            // If spreading moves δ too much, one more table is made, which is four times as fine.
            let bends = if spread.is_empty() { (0.0, 0.0) } else { bends(epsilon) };
            let moved = |spread: &&Spread| {
                let by = |law: &Mixture| Sided::new(law, spread.variance).moved_by(bends, sigma);
                by(&tables.upper).max(by(&tables.lower))
            };
            let least = spread.iter().map(moved).fold(f64::INFINITY, f64::min);
            let cells = if spread.is_empty() {
                self.cells
            } else if self.ends == Ends::Both
                && least > MOVED_SHARE * whole
                && epsilon > 0.0
                && spread.len() < 2
            {
                4 * self.cells
            } else {
                return Ok(tables);
            };
            tables = self.refined(&tables, window, cells)?;
        }
    }

    /// The upper laws of intervals and, if both ends are asked for, the lower ones. `None` if the law follows
    /// from gaps.
    pub(super) fn intervals(&self) -> Result<Option<Arc<[Intervals]>>, Error> {
        let mut known = locked(&self.intervals);
        if known.is_none() {
            *known = match &self.source {
                Source::Values(passages) => {
                    let capped = |intervals: Intervals, side: Side| match self.cap {
                        None => intervals,
                        Some(cap) => intervals.capped(cap, side),
                    };
                    Some(match self.ends {
                        Ends::Upper => {
                            [capped(Intervals::above(passages, self.published, &self.stop)?, Side::Upper)]
                                .into()
                        }
                        Ends::Both => {
                            let [above, below] = Intervals::both(passages, self.published, &self.stop)?;
                            [capped(above, Side::Upper), capped(below, Side::Lower)].into()
                        }
                    })
                }
                Source::Gradients(passages, groups) => {
                    Some([adaptive::visits(passages, groups, self.published, &self.stop)?].into())
                }
                Source::Gaps(_) => None,
            };
        }
        Ok(known.clone())
    }

    /// Drops the intervals, which take more memory than the tables. Most later questions need only the
    /// tables.
    pub(super) fn forget_intervals(&self) {
        *locked(&self.intervals) = None;
    }

    /// The tables, of which at least `levels` are coarse.
    pub(super) fn tables_of(&self, levels: usize) -> Result<Arc<Tables>, Error> {
        self.stop.check()?;
        let mut tables = locked(&self.tables);
        if tables.coarse.len() >= levels {
            return Ok(tables.clone());
        }
        let intervals = self.intervals()?;
        let cells = self.cells.min(COARSE_CELLS);
        let mut coarse = tables.coarse.clone();
        while coarse.len() < levels {
            let next = match (&self.source, &intervals, coarse.last()) {
                (Source::Gaps(gaps), _, None) => Some(gaps.first_table(cells)),
                (Source::Gaps(gaps), _, Some(last)) => {
                    Some(gaps.table(last.window() / NARROWER as f64, cells, gaps::ROUNDED).level)
                }
                (_, Some(intervals), None) => {
                    let window = FirstWindow::new(&intervals[0], self.most, &self.stop)?;
                    Level::first(intervals, &window, cells, &self.stop)
                }
                (_, Some(intervals), Some(last)) => last.within(intervals, NARROWER, cells, &self.stop),
                (_, None, _) => None,
            };
            // If the computation was stopped on the way, there is no table for that reason.
            self.stop.check()?;
            coarse.push(next.ok_or(NO_BOUND)?);
        }
        let sightings = intervals.map_or(0.0, |intervals| intervals[0].sightings);
        let spread = tables.spread.clone();
        *tables = Arc::new(Tables::joined(coarse, spread, sightings, self.most, self.attained));
        Ok(tables.clone())
    }

    /// Adds one more fine table, of costs up to `window`, to those that were `seen`; unless another thread
    /// has added one meanwhile, which is often the same.
    fn refined(&self, seen: &Arc<Tables>, window: f64, cells: usize) -> Result<Arc<Tables>, Error> {
        let mut tables = locked(&self.tables);
        if !Arc::ptr_eq(&tables, seen) {
            return Ok(tables.clone());
        }
        let (coarse, mut spread) = (tables.coarse.clone(), tables.spread.clone());
        match (&self.source, self.intervals()?) {
            // For a large epsilon, for which costs near the largest one matter, rounding up is better than
            // spreading.
            (Source::Gaps(gaps), _) => {
                let level = gaps.table(window, cells, gaps::ROUNDED).level;
                spread.push(Spread { level, variance: 0.0 });
                spread.push(gaps.table(window, cells, Rounding::Spread));
            }
            (_, Some(intervals)) => {
                let wide = coarse.iter().rev().find(|level| level.window() >= window);
                let Some(wide) = wide else { return Ok(tables.clone()) };
                let mut narrower = 1;
                while wide.window() / narrower as f64 > window {
                    narrower *= 2;
                }
                let both = self.ends == Ends::Both;
                let next = Spread::within(wide, &intervals[0], narrower, (cells, both), &self.stop);
                self.stop.check()?;
                spread.push(next.ok_or(NO_BOUND)?);
            }
            (_, None) => return Err(NO_BOUND),
        }
        let sightings = tables.sightings;
        *tables = Arc::new(Tables::joined(coarse, spread, sightings, self.most, self.attained));
        Ok(tables.clone())
    }
}

/// The error if the rounding cannot be bounded.
const NO_BOUND: Error = Error::NotOffered("the rounding of the law of the cost is not bounded for this walk");
/// The number of cells of a coarse table.
const COARSE_CELLS: usize = 256;
/// How much narrower each coarse table is than the one before.
pub(super) const NARROWER: usize = 8;
/// The largest number of coarse tables and of fine ones.
pub(super) const MOST_COARSE: usize = 6;
const MOST_FINE: usize = 8;
/// One more coarse table is made if the costs within it cause more than this share of `δ`.
const SMALL_SHARE: f64 = 0.05;
/// A fine table contains the costs that cause this share of `δ`; and spreading may change `δ` by this share.
const LARGE_SHARE: f64 = 0.9;
const MOVED_SHARE: f64 = 0.03;
/// Plain sums decide about shares that differ from the limit by more than this.
const CLEAR: f64 = 0.002;
/// A coarse table has at least this number of cells below the cost up to which half of `δ` is caused.
const LEAST_RESOLVED: usize = 16;
