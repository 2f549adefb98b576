//! The two laws of a pair on a grid: the profile of the upper one is nowhere below that of the pair, and the
//! profile of the lower one nowhere above it.
//!
//! *Upper* (connect the dots): the polygon through the points `(x_i, δ_i)` is above the convex `δ`.
//!
//! *Lower*: every cell between two neighboring points gets a line, rounded down, that is below `δ` and not
//! below the mass at infinity `p_∞`. It is the tangent at the middle of the cell, or, if that is below `p_∞`
//! at the right end, the tangent at the right end with the slope from the left. To the left of the grid the
//! line is `1 − x`, and to its right `p_∞`. Let `l_i` be the lower one of the two lines that meet at a point.
//! On each cell, the lower convex hull of `(0, 1)` and the points `(x_i, l_i)` is below the chord of the
//! cell, which is below the line.
//!
//! If a slope is known only up to rounding, or only from neighboring values of `δ`, a tangent becomes two
//! lines: the flatter one is used to the left of its point and the steeper one to the right. Both are below
//! `δ` there.
//!
//! If a law consists of atoms that all lie on the grid, they are placed on it instead. If they do not all lie
//! on it, the lower law moves each atom to the next point on its left. The whole grid may be moved by an
//! offset, so that the largest atom of a pair is one of its points: otherwise the lower law would lose the
//! mass of that atom times its distance to the next point on its right.

use super::grid_law::{End, GridLaw};
use super::pair::{Atom, Pair, Point};
use ndp_numeric::rounding::Interval;
use rayon::prelude::*;

/// An upper and a lower law on the points `index · step + offset`. If atoms were placed on the grid, the two
/// offsets differ by the rounding of the atoms.
#[derive(Clone, Debug)]
pub(super) struct Enclosing {
    pub(super) upper: GridLaw,
    pub(super) lower: GridLaw,
    pub(super) upper_offset: Interval,
    pub(super) lower_offset: Interval,
}

impl Enclosing {
    /// The laws of a pair, with kinks only at the points `indices`, which increase.
    pub(super) fn new(pair: &dyn Pair, step: f64, indices: &[i64]) -> Self {
        // The margin covers the rounding of a point and of its evaluation by the pair.
        let margin = pair.top().map_or(0.0, |top| MARGIN * (1.0 + top.abs()));
        let upper_offset = Interval::new(offset(pair, step) - margin);
        if !pair.known_from_below() {
            let upper = upper(pair, step, upper_offset, indices);
            let lower = GridLaw { step, masses: Vec::new(), infinite: 0.0 };
            return Self { upper, lower, upper_offset, lower_offset: Interval::ZERO };
        }
        if let Some(atoms) = pair.atoms() {
            // Between two atoms the profile is straight in e^ε, so only the points next to atoms matter.
            let position =
                |atom: &Atom| (Interval::new(atom.loss.low()) - upper_offset) / Interval::new(step);
            let left = |atom: &Atom| whole(position(atom).low().floor().clamp(-LARGEST_INDEX, LARGEST_INDEX));
            let mut indices: Vec<i64> =
                atoms.iter().flat_map(|atom| [-1, 0, 1, 2].map(|k| left(atom) + k)).collect();
            indices.push(-1);
            indices.sort_unstable();
            indices.dedup();
            let upper = upper(pair, step, upper_offset, &indices);
            let lower = floored(atoms, pair.infinite().low(), step, upper_offset);
            return Self { upper, lower, upper_offset, lower_offset: upper_offset };
        }
        let lower_offset =
            if pair.top().is_some() { upper_offset } else { Interval::new(pile(pair, step, indices)) };
        let (upper, lower) = rayon::join(
            || upper(pair, step, upper_offset, indices),
            || lower(pair, step, lower_offset, indices),
        );
        Self { upper, lower, upper_offset, lower_offset }
    }

    /// The laws of a pair that consists of atoms on the grid, up to rounding; `None` for any other pair.
    pub(super) fn of_atoms(pair: &dyn Pair, step: f64) -> Option<Self> {
        let atoms = pair.atoms()?;
        let offset = offset(pair, step);
        let index = |atom: &Atom| ((atom.loss.low() - offset) / step).round();
        let mut rest: Option<Interval> = None;
        for atom in atoms {
            if index(atom).abs() >= LARGEST_INDEX || index(atom).is_nan() {
                return None;
            }
            let left = atom.loss - Interval::new(index(atom)) * Interval::new(step);
            let near = (left.low() - offset).abs() + (left.high() - offset).abs();
            if near.is_nan() || near > ON_GRID * step.min(1.0) * (1.0 + atom.loss.high().abs()) {
                return None;
            }
            rest = Some(rest.map_or(left, |rest| {
                Interval::between(rest.low().min(left.low()), rest.high().max(left.high()))
            }));
        }
        let rest = rest?;
        let law = |mass: fn(Interval) -> f64| {
            let mut masses: Vec<(i64, f64)> = Vec::with_capacity(atoms.len());
            for atom in atoms {
                let index = whole(index(atom));
                match masses.last_mut() {
                    Some((last, sum)) if *last == index => {
                        *sum = mass(Interval::new(*sum) + Interval::new(mass(atom.mass)));
                    }
                    _ => masses.push((index, mass(atom.mass))),
                }
            }
            masses.retain(|&(_, mass)| mass > 0.0);
            GridLaw { step, masses, infinite: mass(pair.infinite()).clamp(0.0, 1.0) }
        };
        Some(Self {
            upper: law(Interval::high),
            lower: law(Interval::low),
            upper_offset: Interval::new(rest.high()),
            lower_offset: Interval::new(rest.low()),
        })
    }
}

/// The law of atoms that are each moved to the next point on their left, which lowers the profile everywhere.
fn floored(atoms: &[Atom], infinite: f64, step: f64, offset: Interval) -> GridLaw {
    let mut masses: Vec<(i64, f64)> = Vec::with_capacity(atoms.len());
    for atom in atoms {
        let position = ((Interval::new(atom.loss.low()) - offset) / Interval::new(step)).low().floor();
        let index = whole(position.clamp(-LARGEST_INDEX, LARGEST_INDEX));
        let mass = atom.mass.low().max(0.0);
        match masses.last_mut() {
            Some((last, sum)) if *last == index => *sum = (Interval::new(*sum) + Interval::new(mass)).low(),
            _ => masses.push((index, mass)),
        }
    }
    masses.retain(|&(index, mass)| mass > 0.0 && index as f64 > -LARGEST_INDEX);
    GridLaw { step, masses, infinite: infinite.clamp(0.0, 1.0) }
}

/// The offset of the grid that puts a point on the largest atom, rounded down; 0 without one.
fn offset(pair: &dyn Pair, step: f64) -> f64 {
    let Some(top) = pair.top() else { return 0.0 };
    let index = (top / step).round();
    let moved = (Interval::new(top) - Interval::new(index) * Interval::new(step)).low();
    if moved.is_finite() { moved } else { 0.0 }
}

/// The offset of the grid of the lower law. It is chosen so that the outermost tangent at one end of the law
/// meets the line beyond that end, `1 − x` or `p_∞`, at a point of the grid.
///
/// A tangent at `m` meets the line `1 − x` at the conditional mean of `x` under `Q`, given that `x` lies
/// below `m`, and the line `p_∞` at that given that `x` lies above. If much of the law is within one step of
/// its end, as for a small sampling rate, a grid without a point at that mean has an error of the first order
/// of the step. In the middle of a law the position of the points does not matter.
fn pile(pair: &dyn Pair, step: f64, indices: &[i64]) -> f64 {
    let (Some(&first), Some(&last)) = (indices.first(), indices.last()) else { return 0.0 };
    let (low, high) = (first as f64 * step, last as f64 * step);
    let infinite = pair.infinite().low();
    let half = 0.5 * step;
    let at = |epsilon: f64| {
        let middle = Interval::new(epsilon);
        let point = pair.at(middle);
        let slope = slope(pair, middle, step, point);
        (0.5 * (point.delta.low() + point.delta.high()), 0.5 * (slope.low() + slope.high()))
    };
    // The condition is that at ε the tangent at the middle of the cell to its right is above 1 − x.
    let left = bisect(low - step, high, |epsilon| {
        let (delta, slope) = at(epsilon + half);
        delta - slope * libm::expm1(-half) + libm::expm1(epsilon) > 4.0 * f64::EPSILON
    });
    // The condition is that at ε the tangent at the middle of the cell to its left is at most p_∞.
    let right = bisect(low, high + step, |epsilon| {
        let (delta, slope) = at(epsilon - half);
        delta - slope * libm::expm1(half) <= infinite
    });
    let above = |epsilon: f64| {
        let (delta, slope) = at(epsilon);
        delta + slope
    };
    let point = if 1.0 - above(left + half) >= above(right - half) { left } else { right };
    point - (point / step).round() * step
}

/// The number from which on a condition holds, which must not cease to hold above it.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

/// The loss at a point, or, for half an integer, at the middle between two points.
fn loss(index: f64, step: f64, offset: Interval) -> Interval {
    Interval::new(index) * Interval::new(step) + offset
}

/// The law of the polygon through the points of `δ`, rounded up.
pub(super) fn upper(pair: &dyn Pair, step: f64, offset: Interval, indices: &[i64]) -> GridLaw {
    let samples: Vec<(i64, f64)> = indices
        .par_iter()
        .with_min_len(CHUNK)
        .map(|&index| (index, pair.at(loss(index as f64, step, offset)).delta.high()))
        .collect();
    GridLaw::of_polygon(&samples, step, End::Upper)
}

/// The law of the polygon below the lines of all cells.
fn lower(pair: &dyn Pair, step: f64, offset: Interval, indices: &[i64]) -> GridLaw {
    let infinite = pair.infinite().low().clamp(0.0, 1.0);
    let lines: Vec<(f64, f64)> = indices
        .par_windows(2)
        .with_min_len(CHUNK)
        .map(|cell| line(pair, step, offset, (cell[0], cell[1]), infinite))
        .collect();
    let first = indices.first().map(|&index| loss(index as f64, step, offset));
    let left = first.map_or(0.0, |first| (-Interval::new(first.high()).expm1()).low().max(0.0));
    let samples = indices.iter().enumerate().map(|(k, &index)| {
        let on_left = k.checked_sub(1).and_then(|k| lines.get(k)).map_or(left, |line| line.1);
        let on_right = lines.get(k).map_or(infinite, |line| line.0);
        (index, on_left.min(on_right))
    });
    GridLaw::of_polygon(&samples.collect::<Vec<_>>(), step, End::Lower)
}

/// The values at the left and the right point of a cell of a line below `δ` on that cell, rounded down.
fn line(pair: &dyn Pair, step: f64, offset: Interval, cell: (i64, i64), infinite: f64) -> (f64, f64) {
    let width = Interval::new((cell.1 - cell.0) as f64) * Interval::new(step);
    let half = Interval::new(0.5) * width;
    let middle = loss(0.5 * (cell.0 as f64 + cell.1 as f64), step, offset);
    let point = pair.at(middle);
    let slope = slope(pair, middle, width.high(), point);
    // The distances in x from the middle to the two ends, relative to x at the middle.
    let (ahead, behind) = (half.expm1(), -(-half).expm1());
    let delta = Interval::new(point.delta.low());
    let right = (delta - Interval::new(slope.high()) * ahead).low();
    if right >= infinite {
        return ((delta + Interval::new(slope.low()) * behind).low(), right);
    }
    let end = loss(cell.1 as f64, step, offset);
    let point = pair.at(end);
    let slope = self::slope(pair, end, width.high(), point);
    let right = point.delta.low().max(infinite);
    ((Interval::new(right) + Interval::new(slope.low().max(0.0)) * -(-width).expm1()).low(), right)
}

/// The slope at a point, or bounds on it from the chords on its two sides.
fn slope(pair: &dyn Pair, epsilon: Interval, width: f64, point: Point) -> Interval {
    if let Some(slope) = point.slope {
        return slope;
    }
    let aside = Interval::new(width / 8.0);
    let (left, right) = (pair.at(epsilon - aside).delta, pair.at(epsilon + aside).delta);
    let flat = (Interval::new(point.delta.low()) - Interval::new(right.high())) / aside.expm1();
    let steep = (Interval::new(left.high()) - Interval::new(point.delta.low())) / -(-aside).expm1();
    Interval::between(flat.low().max(0.0), steep.high().max(0.0))
}

/// A float that is an integer of moderate size, as an integer.
#[expect(clippy::cast_possible_truncation, reason = "the index was compared with the largest")]
const fn whole(index: f64) -> i64 {
    index as i64
}

/// The largest distance of an atom from its point, relative to `min(1, step)` and to one plus the loss.
const ON_GRID: f64 = 1e-10;
/// The distance by which the point of the largest atom is below it, relative to one plus the loss.
const MARGIN: f64 = 1e-13;
/// The largest index that is used.
const LARGEST_INDEX: f64 = 1e15;
/// The fewest points that a thread takes at once.
const CHUNK: usize = 64;

#[cfg(test)]
mod tests;
