//! Tables of the law of the cost with charges that are rounded to a grid, and how tables on finer and finer
//! grids are combined.
//!
//! All grids are powers of two. A charge that is rounded up on a finer grid never exceeds the same charge
//! rounded up on a coarser one. With the cost `C'` on the finer and `C''` on the coarser grid, therefore,
//! `P(C' ≥ Y) ≤ P(C'' ≥ Y)`: a fine table follows the cells below some `Y`, and takes the probability of
//! larger costs from a coarser one. For the lower law, all inequalities are reversed.

use super::circle::{Cells, Circle};
use super::intervals::Intervals;
use super::passages::Side;
use super::system::{Grid, Rounding, System};
use ndp_numeric::casts;
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::{Stop, Stopped};

/// Upper and lower bounds on the probability that the cost is at least a number of cells.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) grid: Grid,
    /// `at_least[j] ≥ P(C ≥ j h)` for `j = 0..=Y`; the last entry is the probability of what lies beyond this
    /// table.
    pub(super) upper: Vec<f64>,
    /// `at_least[j] ≤ P(C ≥ j h)`.
    pub(super) lower: Vec<f64>,
}

/// Which of the two laws are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::walk::graph) enum Ends {
    /// The upper law alone.
    Upper,
    /// The upper law and the lower one.
    Both,
}

/// A part of a table, on a finer grid.
pub(super) struct Window {
    pub(super) grid: Grid,
    /// The number of cells that are followed: half of all cells.
    pub(super) half: usize,
    /// On the coarser grid, the cell at which they end, and the one at which counting modulo their number
    /// begins again.
    pub(super) next: usize,
    pub(super) folded: usize,
    pub(super) log_damping: f64,
}

/// The first window: a power of two such that a larger cost has a negligible probability, and a bound on that
/// probability with charges that are rounded up on some grid.
pub(super) struct FirstWindow {
    exponent: i32,
    beyond: f64,
}

impl FirstWindow {
    /// For costs that are never larger than `most`.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(super) fn new(upper: &Intervals, most: usize, stop: &Stop) -> Result<Self, Stopped> {
        let wide = (most.max(2).next_power_of_two().trailing_zeros() + 1).cast_signed();
        // One grid serves several windows, the widest of which has the largest number of cells.
        let system_of = |exponent: i32| {
            let grid = Grid::dyadic(exponent - FINEST.cast_signed());
            stop.spend(System::cost(upper))?;
            Ok((exponent, System::new(upper, grid, Rounding::To(Side::Upper), 0.0)))
        };
        let mut known = system_of(wide)?;
        let mut beyond = |exponent: i32| {
            if known.0 - exponent > (FINEST - COARSE).cast_signed() {
                known = system_of(exponent)?;
            }
            let (widest, system) = &known;
            beyond_of(system, 1 << (FINEST - (widest - exponent).cast_unsigned()), stop)
        };
        let mut window = Self { exponent: wide, beyond: beyond(wide)? };
        while window.exponent > SMALLEST {
            let next = beyond(window.exponent - 1)?;
            if next > NEGLIGIBLE.max(window.beyond) {
                break;
            }
            window = Self { exponent: window.exponent - 1, beyond: next };
        }
        Ok(window)
    }
}

impl Level {
    /// The first table, with `cells` cells, a power of two, or more of them. `None` if the rounding error
    /// cannot be bounded, if no number of cells up to [`MOST_FIRST`] is enough, or if the computation is
    /// stopped.
    ///
    /// Every interval with a contribution is charged at least one cell, so that long walks need many cells,
    /// however wide the window is. What lies beyond the table is bounded on the grid of the table: on a finer
    /// one, costs are smaller.
    pub(super) fn first(
        intervals: &[Intervals],
        window: &FirstWindow,
        cells: usize,
        stop: &Stop,
    ) -> Option<Self> {
        let mut cells = cells;
        while cells <= MOST_FIRST {
            for exponent in [window.exponent, window.exponent + 1] {
                let grid = Grid::dyadic(exponent - cells.trailing_zeros().cast_signed());
                let beyond = beyond(intervals.first()?, grid, cells, stop).ok()?;
                if beyond <= ENOUGH.max(ENOUGH / NEGLIGIBLE * window.beyond) {
                    return Self::on_grid(intervals, grid, cells, beyond, stop);
                }
            }
            cells *= 2;
        }
        None
    }

    /// As [`Self::first`] on a given grid. `beyond` is an upper bound on the probability of a cost of `cells`
    /// steps of this grid or more.
    pub(super) fn on_grid(
        intervals: &[Intervals],
        grid: Grid,
        cells: usize,
        beyond: f64,
        stop: &Stop,
    ) -> Option<Self> {
        let (upper, lost, lower) = both(intervals, grid, cells, 0.0, stop)?;
        let lower =
            lower.map_or_else(|| vec![0.0; cells + 1], |lower| at_least_down(&lower, cells - 1, 0.0, 0.0));
        Some(Self { grid, upper: at_least_up(&upper, lost, cells - 1, beyond), lower })
    }

    /// A table of the costs up to `1/narrower` of the range of this one. It uses half of the cells, so that
    /// larger costs, which are counted modulo the number of cells, fall into the other half first.
    pub(super) fn within(
        &self,
        intervals: &[Intervals],
        narrower: usize,
        cells: usize,
        stop: &Stop,
    ) -> Option<Self> {
        let Window { grid, half, next, folded, log_damping } = self.part(narrower, cells, DAMPED);
        let (upper, lost, lower) = both(intervals, grid, cells, log_damping, stop)?;
        let lower = lower.map_or_else(
            || vec![0.0; half + 1],
            // A cost that is counted N cells too low is at least N cells.
            |lower| at_least_down(&lower, half - 1, self.lower[next], lower.wrapped() * self.upper[folded]),
        );
        Some(Self { grid, upper: at_least_up(&upper, lost, half - 1, self.upper[next]), lower })
    }

    /// The window of costs up to `1/narrower` of the range of this table, on half of `cells` cells, with
    /// `ρ^N = damped`.
    pub(super) fn part(&self, narrower: usize, cells: usize, damped: f64) -> Window {
        let (half, window) = (cells / 2, self.reach() / narrower);
        // All of these numbers are powers of two.
        let times = (half / window.max(1)).max(1);
        let grid = self.grid.finer(times as u64);
        let (next, folded) = (half / times, (cells / times).min(self.reach()));
        Window { grid, half, next, folded, log_damping: damped.ln() / cells as f64 }
    }

    /// An upper bound on `P(C ≥ cost)`. Charges are rounded up on this grid, so that the cost on it is at
    /// least `C`, and a number of cells. The quotient by a power of two is exact.
    pub(super) fn at_most(&self, cost: f64) -> f64 {
        let cell = casts::floor((cost / self.grid.cost(1)).ceil());
        self.upper[cell.min(self.reach())]
    }

    /// The cell at which the table ends, a power of two.
    pub(super) fn reach(&self) -> usize {
        self.upper.len() - 1
    }

    /// The cost at which the table ends.
    pub(super) fn window(&self) -> f64 {
        self.grid.cost(self.reach())
    }
}

/// The upper law on a grid, with the probability that it leaves out, and the lower law if lower laws of
/// intervals are given.
fn both(
    intervals: &[Intervals],
    grid: Grid,
    cells: usize,
    log_damping: f64,
    stop: &Stop,
) -> Option<(Cells, f64, Option<Cells>)> {
    let of = |intervals: &Intervals, side: Side| {
        stop.spend(System::cost(intervals)).ok()?;
        let system = System::new(intervals, grid, Rounding::To(side), FORGOTTEN);
        Some((Circle::new(&system, stop)?.cells(cells, log_damping)?, system.lost))
    };
    let (upper, lost) = of(intervals.first()?, Side::Upper)?;
    let lower = match intervals.get(1) {
        None => None,
        Some(below) => Some(of(below, Side::Lower)?.0),
    };
    Some((upper, lost, lower))
}

/// An upper bound on the probability of a cost of at least `cell` steps of a grid, charges being rounded up.
fn beyond(upper: &Intervals, grid: Grid, cell: usize, stop: &Stop) -> Result<f64, Stopped> {
    stop.spend(System::cost(upper))?;
    let system = System::new(upper, grid, Rounding::To(Side::Upper), 0.0);
    beyond_of(&system, cell, stop)
}

fn beyond_of(system: &System, cell: usize, stop: &Stop) -> Result<f64, Stopped> {
    stop.spend(system.cost_beyond())?;
    Ok((Interval::new(system.log_beyond(cell)).exp() + Interval::new(system.lost)).high())
}

/// Suffix sums of the cells up to `last`, rounded up.
pub(super) fn at_least_up(cells: &Cells, lost: f64, last: usize, beyond: f64) -> Vec<f64> {
    let margin = cells.error(last) + cells.masses.len() as f64 * f64::EPSILON + lost;
    let mut at_least = vec![beyond.min(1.0); last + 2];
    let mut sum = 0.0;
    for j in (1..=last).rev() {
        sum += cells.masses[j];
        at_least[j] = (sum + margin + beyond).clamp(at_least[j + 1], 1.0);
    }
    at_least[0] = 1.0;
    at_least
}

/// Suffix sums of the cells up to `last`, rounded down.
pub(super) fn at_least_down(cells: &Cells, last: usize, beyond: f64, wrapped: f64) -> Vec<f64> {
    let margin = cells.error(last) + cells.masses.len() as f64 * f64::EPSILON + cells.folded + wrapped;
    let mut at_least = vec![beyond; last + 2];
    let mut sum = 0.0;
    for j in (1..=last).rev() {
        sum += cells.masses[j];
        at_least[j] = (sum - margin + beyond).max(at_least[j + 1]);
    }
    at_least[0] = 1.0;
    at_least
}

/// The base-2 logarithm of the least number of cells that is used to find the width of the first window, and
/// of the largest.
const COARSE: u32 = 8;
const FINEST: u32 = 11;
/// The smallest window, as an exponent of two.
const SMALLEST: i32 = -40;
/// The probability that may lie beyond the first window, and beyond the first table, whose grid may be
/// coarser.
const NEGLIGIBLE: f64 = 1e-11;
const ENOUGH: f64 = 1e-10;
/// The largest number of cells of the first table.
const MOST_FIRST: usize = 4096;
/// The probability that a table may leave out.
pub(super) const FORGOTTEN: f64 = 1e-10;
/// `ρ^N` in all tables but the first.
const DAMPED: f64 = 1e-2;
