//! Decides which tables of a law a question needs, and makes them.

use super::guess::{Guess, Question};
use super::intervals::Intervals;
use super::mixture::Mixture;
use super::passages::Side;
use super::rounded_tables::{Ends, FirstWindow, Level};
use super::spread_tables::{Sided, Spread, bends};
use super::system::Rounding;
use super::tables::{Fine, Tables, Which};
use super::{CostLaw, Source, adaptive, gaps, search};
use ndp_account::Error;
use ndp_account::parts::locked;
use ndp_numeric::casts;
use std::cell::LazyCell;
use std::sync::Arc;

impl CostLaw {
    pub(super) fn tables(&self) -> Result<Arc<Tables>, Error> {
        self.tables_of(1)
    }

    /// Tables that are fine enough for this question. They follow from the question alone.
    pub(super) fn tables_for(&self, sigma: f64, epsilon: f64) -> Result<Arc<Tables>, Error> {
        self.finer(self.tables()?, sigma, epsilon)
    }

    /// The tables from which the law answers a question at `delta`, and where the upper end of the answer
    /// lies, if plain floats find it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if no noise up to `1e9` is proven to be enough; [`Error::NotOffered`].
    pub(super) fn settled(
        &self,
        question: Question,
        delta: f64,
    ) -> Result<(Arc<Tables>, Option<Guess>), Error> {
        let mut tables = self.tables()?;
        loop {
            let near = search::guess(&tables, question, delta);
            let about = match (&near, question) {
                (Some(near), _) => near.x,
                (None, Question::Epsilon { sigma }) => search::epsilon(&tables, sigma, delta, None).1,
                (None, Question::Noise { epsilon }) => search::noise(&tables, epsilon, delta, None)?.1,
            };
            let (epsilon, sigma) = question.at(if about.is_finite() { about } else { 0.0 });
            let finer = self.finer(tables.clone(), sigma, epsilon)?;
            if Arc::ptr_eq(&finer, &tables) {
                self.forget_intervals();
                return Ok((tables, near));
            }
            tables = finer;
        }
    }

    /// These tables, or more of them if they are not fine enough for a question: coarse ones until small
    /// costs hardly matter, and then a fine one of the costs that cause most of `δ`.
    pub(super) fn finer(
        &self,
        mut tables: Arc<Tables>,
        sigma: f64,
        epsilon: f64,
    ) -> Result<Arc<Tables>, Error> {
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
                tables = self.made(Which { coarse: tables.coarse.len() + 1, ..tables.which.clone() })?;
                continue;
            }
            // The smallest window that contains nearly all of δ.
            let mut window = tables.coarse[0].window();
            while exceeds(0.5 * window, LARGE_SHARE) {
                window *= 0.5;
            }
            let wide = match self.source {
                Source::Gaps(_) => 0,
                _ => tables.coarse.iter().rposition(|level| level.window() >= window).unwrap_or(0),
            };
            // A long walk has a first table of more cells, and a fine one must not have fewer: half of its
            // cells are within the window, on a finer grid.
            let across = casts::floor(window / tables.coarse[wide].grid.cost(1));
            let usual = if across > COARSE_CELLS { self.cells.max(4 * across) } else { self.cells };
            let resolution = 2.0 * window / usual as f64;
            let enough = |level: &Level| level.window() >= window && level.grid.cost(1) <= resolution;
            let spread: Vec<&Arc<Spread>> =
                tables.spread.iter().filter(|spread| enough(&spread.level)).collect();
            if tables.spread.len() >= MOST_FINE {
                return Ok(tables);
            }
            // If spreading moves δ too much, one more table is made, which is four times as fine.
            let bends = if spread.is_empty() { (0.0, 0.0) } else { bends(epsilon) };
            let moved = |spread: &&Arc<Spread>| {
                let by = |law: &Mixture| Sided::new(law, spread.variance).moved_by(bends, sigma);
                by(&tables.upper).max(by(&tables.lower))
            };
            let least = spread.iter().map(moved).fold(f64::INFINITY, f64::min);
            let cells = if spread.is_empty() {
                usual
            } else if self.ends == Ends::Both
                && least > MOVED_SHARE * whole
                && epsilon > 0.0
                && spread.len() < 2
            {
                4 * usual
            } else {
                return Ok(tables);
            };
            let mut which = tables.which.clone();
            which.fine.push(Fine { wide, window: window.to_bits(), cells });
            tables = self.made(which)?;
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

    /// This number of coarse tables, and no others.
    pub(super) fn tables_of(&self, levels: usize) -> Result<Arc<Tables>, Error> {
        self.made(Which { coarse: levels, fine: Vec::new() })
    }

    /// These tables, of which those are made that are not known.
    fn made(&self, which: Which) -> Result<Arc<Tables>, Error> {
        self.stop.check()?;
        let mut made = locked(&self.made);
        if let Some(known) = made.joined.get(&which) {
            return Ok(known.clone());
        }
        while made.coarse.len() < which.coarse {
            let intervals = self.intervals()?;
            let next = self.next_coarse(intervals.as_deref(), made.coarse.last())?;
            made.sightings = intervals.map_or(0.0, |intervals| intervals[0].sightings);
            made.coarse.push(Arc::new(next));
        }
        let mut spread = Vec::new();
        for &fine in &which.fine {
            if !made.fine.contains_key(&fine) {
                let new = self.fine(fine, &made.coarse)?;
                made.keep_fine(fine, new);
            }
            spread.extend(made.fine.get(&fine).into_iter().flatten().cloned());
        }
        let of_both = (made.coarse[..which.coarse].to_vec(), spread);
        let tables = Arc::new(Tables::joined(which, of_both, made.sightings, self.most, self.attained));
        made.keep(&tables);
        Ok(tables)
    }

    /// The coarse table after the last one.
    fn next_coarse(
        &self,
        intervals: Option<&[Intervals]>,
        last: Option<&Arc<Level>>,
    ) -> Result<Level, Error> {
        let cells = self.cells.min(COARSE_CELLS);
        let next = match (&self.source, intervals, last) {
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
        next.ok_or(NO_BOUND)
    }

    /// The fine tables of the costs up to a window.
    fn fine(&self, fine: Fine, coarse: &[Arc<Level>]) -> Result<Vec<Arc<Spread>>, Error> {
        let (window, cells) = (f64::from_bits(fine.window), fine.cells);
        match (&self.source, self.intervals()?) {
            // For a large epsilon, for which costs near the largest one matter, rounding up is better than
            // spreading.
            (Source::Gaps(gaps), _) => {
                let level = gaps.table(window, cells, gaps::ROUNDED).level;
                let rounded = Spread { level, variance: 0.0 };
                Ok(vec![Arc::new(rounded), Arc::new(gaps.table(window, cells, Rounding::Spread))])
            }
            (_, Some(intervals)) => {
                let wide = &coarse[fine.wide];
                let mut narrower = 1;
                while wide.window() / narrower as f64 > window {
                    narrower *= 2;
                }
                let both = self.ends == Ends::Both;
                let next = Spread::within(wide, &intervals[0], narrower, (cells, both), &self.stop);
                self.stop.check()?;
                Ok(vec![Arc::new(next.ok_or(NO_BOUND)?)])
            }
            (_, None) => Err(NO_BOUND),
        }
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
