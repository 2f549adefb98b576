//! Which tables of a law a question needs, and how they are made.

use super::intervals::Intervals;
use super::level::{Ends, FirstWindow, Level};
use super::mixture::Mixture;
use super::passages::Side;
use super::spread::{Sided, Spread, bends};
use super::system::Rounding;
use super::tables::Tables;
use super::{CostLaw, Source, adaptive, gaps};
use ndp_account::Error;
use std::cell::LazyCell;
use std::sync::{Arc, PoisonError};

impl CostLaw {
    pub(super) fn tables(&self) -> Result<Arc<Tables>, Error> {
        self.tables_of(1)
    }

    /// Tables that are fine enough where this question needs it: coarse ones until small costs hardly matter,
    /// then a fine one up to where most of `δ` comes from.
    pub(super) fn tables_for(&self, sigma: f64, epsilon: f64) -> Result<Arc<Tables>, Error> {
        let mut tables = self.tables()?;
        loop {
            let law = &tables.upper;
            let sums = law.sums(epsilon, sigma);
            let whole = sums[sums.len() - 1];
            // Which tables there are depends on shares that are rounded up; most questions need no more than
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
            // The same where the grid is too coarse to tell, as far as it can be told.
            let unresolved = exceeds(last.grid.cost(LEAST_RESOLVED), 0.5);
            if (unresolved || exceeds(narrower, SMALL_SHARE)) && tables.coarse.len() < MOST_COARSE {
                tables = self.tables_of(tables.coarse.len() + 1)?;
                continue;
            }
            // The least window that has nearly all.
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
            // What spreading may move matters: once more, four times as fine.
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
            tables = self.refined(window, cells)?;
        }
    }

    /// The law of intervals, from above and, where both ends are asked for, from below; none where the law
    /// follows from gaps.
    pub(super) fn intervals(&self) -> Result<Option<Arc<[Intervals]>>, Error> {
        let mut known = self.intervals.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Intervals take more memory than tables, which answer most questions from then on.
    pub(super) fn forget_intervals(&self) {
        *self.intervals.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// At least so many coarse tables.
    pub(super) fn tables_of(&self, levels: usize) -> Result<Arc<Tables>, Error> {
        self.stop.check()?;
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
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
            // What ended on the way has no table either.
            self.stop.check()?;
            coarse.push(next.ok_or(NO_BOUND)?);
        }
        let sightings = intervals.map_or(0.0, |intervals| intervals[0].sightings);
        let spread = tables.spread.clone();
        *tables = Arc::new(Tables::joined(coarse, spread, sightings, self.most, self.attained));
        Ok(tables.clone())
    }

    /// One more fine table, of costs up to `window`.
    fn refined(&self, window: f64, cells: usize) -> Result<Arc<Tables>, Error> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let (coarse, mut spread) = (tables.coarse.clone(), tables.spread.clone());
        match (&self.source, self.intervals()?) {
            // At large epsilon, where costs are near their largest, rounding up is the better of the two.
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

/// Rounding that cannot be bounded.
const NO_BOUND: Error = Error::NotOffered("the rounding of the law of the cost is not bounded for this walk");
/// Cells of a coarse table.
const COARSE_CELLS: usize = 256;
/// How much narrower each coarse table is than the one before.
pub(super) const NARROWER: usize = 8;
/// Tables of one law.
pub(super) const MOST_COARSE: usize = 6;
const MOST_FINE: usize = 8;
/// One more coarse table is made where the costs within it make more than this share of `δ`.
const SMALL_SHARE: f64 = 0.05;
/// A fine table reaches to where this share of `δ` is, and spreading may move this one.
const LARGE_SHARE: f64 = 0.9;
const MOVED_SHARE: f64 = 0.03;
/// Shares that differ by more are told apart by plain sums.
const CLEAR: f64 = 0.03;
/// A coarse table has at least so many cells up to where half of `δ` is.
const LEAST_RESOLVED: usize = 16;
