//! Lines, slopes and the position of the grid, for pairs whose values are easy to compute by hand.

use super::*;
use crate::loss_law::atoms::Atoms;
use crate::loss_law::gaussian::GaussianPair;

/// A pair that has the same point everywhere.
#[derive(Debug)]
struct Everywhere(Point);

impl Pair for Everywhere {
    fn at(&self, _: Interval) -> Point {
        self.0
    }
}

/// A tangent uses the lower end of `δ`, the flatter slope to its left and the steeper one to its right. If it
/// would fall below the mass at infinity, the tangent at the right end of the cell is used instead.
#[test]
fn lines_are_below_all_that_is_known() {
    let delta = Interval::between(0.3, 0.4);
    let pair = Everywhere(Point { delta, slope: Some(Interval::between(0.1, 0.2)) });
    let line = |infinite| line(&pair, 0.25, Interval::ZERO, (1, 3), infinite);
    let (ahead, behind) = (0.25_f64.exp_m1(), -(-0.25_f64).exp_m1());
    let near = |found: (f64, f64), wanted: (f64, f64)| {
        let gap = (wanted.0 - found.0, wanted.1 - found.1);
        assert!((-1e-16..1e-15).contains(&gap.0) && (-1e-16..1e-15).contains(&gap.1), "{found:?} {wanted:?}");
    };
    near(line(0.1), (0.3 + 0.1 * behind, 0.3 - 0.2 * ahead));
    // The tangent at the middle would be 0.243 there.
    let whole = -(-0.5_f64).exp_m1();
    near(line(0.28), (0.3 + 0.1 * whole, 0.3));
    near(line(0.35), (0.35 + 0.1 * whole, 0.35));
}

/// The profile `δ = (1 − x/8)²`, whose slope is not stated.
#[derive(Debug)]
struct Parabola;

impl Pair for Parabola {
    fn at(&self, epsilon: Interval) -> Point {
        let at = |epsilon: f64| (1.0 - epsilon.exp() / 8.0).powi(2);
        Point { delta: Interval::between(at(epsilon.high()), at(epsilon.low())), slope: None }
    }
}

/// The chord of a parabola has the slope of the parabola at the middle between its ends, `(1 − (1 + y)/16)/4`
/// from `x = 1` to `y`. Here `y` is an eighth of the width to either side.
#[test]
fn slopes_come_from_chords_to_both_sides() {
    let middle = Interval::ZERO;
    let found = slope(&Parabola, middle, 0.8, Parabola.at(middle));
    let chord = |y: f64| 0.25 * (1.0 - (1.0 + y) / 16.0);
    assert!((found.low() - chord(0.1_f64.exp())).abs() < 1e-13, "{found:?}");
    assert!((found.high() - chord((-0.1_f64).exp())).abs() < 1e-13, "{found:?}");
}

/// The bisection ends at the boundary.
#[test]
fn halving_ends_at_the_boundary() {
    assert!((bisect(1.0, 2.0, |x| x >= 1.7) - 1.7).abs() < 1e-14);
}

/// A pair whose largest atom is known.
#[derive(Debug)]
struct Top(f64);

impl Pair for Top {
    fn at(&self, _: Interval) -> Point {
        Point { delta: Interval::ZERO, slope: None }
    }

    fn top(&self) -> Option<f64> {
        Some(self.0)
    }
}

/// The offset compared with its exact value: the product of two floats is the sum of two floats without
/// error.
#[test]
fn grids_are_moved_to_at_most_the_largest_atom() {
    let mut inexact = 0;
    for k in 1..300 {
        let (top, step) = (0.1 * f64::from(k), 1.0 / f64::from(3 + k % 7));
        let moved = offset(&Top(top), step);
        let index = (top / step).round();
        let (product, rest) = ndp_numeric::incomplete::two_product(index, step);
        // The difference is a float without rounding, since it is less than half of the product.
        assert!(moved <= (top - product) - rest && moved > top - product - 1e-14, "{top} {step}: {moved}");
        inexact += u32::from(rest != 0.0);
    }
    assert!(inexact > 50, "{inexact}");
}

/// A normal pair that may have a mass of up to 1/5 at infinity.
#[derive(Debug)]
struct Normal(f64);

impl Pair for Normal {
    fn at(&self, epsilon: Interval) -> Point {
        GaussianPair { mu: Interval::new(self.0) }.at(epsilon)
    }

    fn infinite(&self) -> Interval {
        Interval::between(0.0, 0.2)
    }
}

/// The loss of a normal pair is normal with mean `±μ²/2` and standard deviation `μ`. The tangent at `m` meets
/// the line `1 − x` at `P(L ≤ m)/Q(L ≤ m)`, and the line 0 at `P(L > m)/Q(L > m)`. The grid has a point at
/// the one with more mass beyond it, as far as the cells reach.
#[test]
fn grids_have_the_mean_of_a_tail() {
    let tail = |x: f64| 0.5 * libm::erfc(x / std::f64::consts::SQRT_2);
    let mut chosen = (0, 0);
    for (mu, step, first, last) in [
        (1.0_f64, 0.3, -30, 30),
        (2.0, 0.7, -20, 20),
        // The points begin near the mean of the left tail.
        (1.0, 0.9, -2, 9),
        (1.0, 0.9, -1, 9),
        (0.5, 0.9, 1, 4),
        // The points end before the law does.
        (1.0, 0.3, -30, 0),
        (2.0, 0.7, 2, 20),
        (3.0, 1.1, -2, 1),
        (1.3, 0.8, -9, 2),
        (1.3, 0.8, -3, 3),
        // The mean of the left tail is beyond the points, or just beyond the reach of the search.
        (0.7, 0.7, 0, 5),
        (0.3, 0.5, 0, 5),
        // Half a step on the other side of the right point there would be less mass than on the left.
        (0.7, 0.9, -9, 11),
    ] {
        let (half, rise) = (0.5 * step, 0.5 * mu * mu);
        let above = |m: f64| (tail((m - rise) / mu), tail((m + rise) / mu));
        let below = |m: f64| (tail((rise - m) / mu), tail((-rise - m) / mu));
        let (low, high) = (f64::from(first) * step, f64::from(last) * step);
        let search = |mut low: f64, mut high: f64, holds: &dyn Fn(f64) -> bool| {
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if holds(middle) { high = middle } else { low = middle }
            }
            high
        };
        let left = search(low - step, high, &|epsilon: f64| {
            let (p, q) = below(epsilon + half);
            epsilon.exp() * q - p > 4.0 * f64::EPSILON
        });
        let right = search(low, high + step, &|epsilon: f64| {
            let (p, q) = above(epsilon - half);
            p <= epsilon.exp() * q
        });
        let (on_left, on_right) = (below(left + half).0, above(right - half).0);
        let point = if on_left >= on_right { left } else { right };
        *(if on_left >= on_right { &mut chosen.0 } else { &mut chosen.1 }) += 1;
        let found = pile(&Normal(mu), step, &(first..=last).map(i64::from).collect::<Vec<_>>());
        // The offset is only determined up to whole steps, which rounding may count differently.
        let gap = (found - point) / step;
        assert!((gap - gap.round()).abs() < 1e-6, "{mu} {step} {first} {last}: {found} {point}");
    }
    assert!(chosen.0 > 1 && chosen.1 > 1, "{chosen:?}");
}

/// Atoms that are not on the grid are moved to the next points on their left. No mass is lost, and all losses
/// become smaller.
#[test]
fn atoms_beside_a_grid_keep_their_masses() {
    let atom = |loss: f64, mass: f64| Atom { loss: Interval::new(loss), mass: Interval::new(mass) };
    let atoms = vec![atom(-0.31, 0.25), atom(0.07, 0.25), atom(0.42, 0.5)];
    let laws = Enclosing::new(&Atoms::new(atoms, Interval::ZERO, None), 0.25, &[]);
    // The largest atom is a grid point. The others are 0.35 and 0.73 below it, that is 1.4 and 2.92 steps.
    let masses: Vec<f64> = laws.lower.masses.iter().map(|&(_, mass)| mass).collect();
    let top = laws.lower.masses.last().map_or(0, |last| last.0);
    let places: Vec<i64> = laws.lower.masses.iter().map(|&(index, _)| top - index).collect();
    assert_eq!((masses, places), (vec![0.25, 0.25, 0.5], vec![3, 2, 0]));
}
