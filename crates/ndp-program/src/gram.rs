//! The Gram matrix of one node's uses, with an enclosure of every entry.

use crate::columns::{Direction, above, below};
use crate::enclose::{Ends, product_of_three};
use ndarray::Array2;
use num_rational::BigRational;
use num_traits::Zero;

/// What is proven about the uses of one node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeGram {
    pub(super) node: usize,
    /// The number of uses.
    pub(super) uses: usize,
    /// For every use, its index among those that occur in a row.
    pub(super) places: Vec<Option<usize>>,
    /// The entries of these, with a bound on the error of each; `None` if nothing was certified.
    pub(super) entries: Option<(Array2<f64>, Array2<f64>)>,
    /// Enclosures of the diagonal entries.
    pub(super) diagonal: Vec<Ends>,
    /// Numbers `d` for which `diag(d) - G` is positive semidefinite; infinite if there are none.
    pub(super) structural: Vec<f64>,
    /// The uses that some combination of rows reveals without noise, alone or together.
    pub(super) leaks: Vec<bool>,
    /// The directions whose loss was computed by itself.
    pub(super) directions: Vec<KnownDirection>,
}

/// A direction and what is proven about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KnownDirection {
    pub(super) direction: Direction,
    pub(super) ends: Ends,
    pub(super) leaks: bool,
}

/// What is known about a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Decided {
    Ends(Ends),
    Noiseless,
    /// Some change of the node's uses is seen without noise, and it was not asked whether this one is.
    Open,
}

/// A part of a Gram matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The entries, times the bounds of both uses.
    pub(super) center: Option<Array2<f64>>,
    /// A bound on the error of each entry.
    pub(super) radius: Array2<f64>,
    pub(super) structural: Vec<f64>,
}

impl Part {
    /// An upper bound on the sum of all radii.
    pub(super) fn slack(&self) -> f64 {
        self.radius.sum() * UP
    }
}

impl NodeGram {
    pub(super) fn empty(node: usize, uses: usize) -> Self {
        Self {
            node,
            uses,
            places: vec![None; uses],
            entries: None,
            diagonal: Vec::new(),
            structural: Vec::new(),
            leaks: Vec::new(),
            directions: Vec::new(),
        }
    }

    /// Whether a use occurs in a row.
    pub(super) fn relevant(&self, i: usize) -> bool {
        self.places[i].is_some()
    }

    pub(super) fn leaks(&self, i: usize) -> bool {
        self.places[i].is_some_and(|k| self.leaks[k])
    }

    pub(super) fn diagonal(&self, i: usize) -> Ends {
        self.places[i].map_or(Ends::ZERO, |k| self.diagonal[k])
    }

    /// Entry `(i, j)` with a bound on its error; `None` if nothing was certified.
    pub(super) fn entry(&self, i: usize, j: usize) -> Option<(f64, f64)> {
        match (self.places[i], self.places[j]) {
            (Some(a), Some(b)) => {
                let (center, radius) = self.entries.as_ref()?;
                Some((center[(a, b)], radius[(a, b)]))
            }
            _ => Some((0.0, 0.0)),
        }
    }

    /// The entries of some uses that occur in rows, times the bounds of these uses.
    pub(super) fn part(&self, uses: &[usize], bounds: &[f64]) -> Part {
        let places: Vec<usize> = uses.iter().filter_map(|&i| self.places[i]).collect();
        let size = places.len();
        let is_whole = |a: usize, b: usize| bounds[uses[a]] == 1.0 && bounds[uses[b]] == 1.0;
        let times = |x: f64, a: usize, b: usize| product_of_three(x, bounds[uses[a]], bounds[uses[b]]);
        let structural = (0..size).map(|a| {
            let d = self.structural[places[a]];
            if is_whole(a, a) { d } else { times(d, a, a) * UP + f64::MIN_POSITIVE }
        });
        let structural = structural.collect();
        let Some((center, radius)) = &self.entries else {
            return Part { center: None, radius: Array2::zeros((size, size)), structural };
        };
        let at = |m: &Array2<f64>, a: usize, b: usize| m[(places[a], places[b])];
        let middle = Array2::from_shape_fn((size, size), |(a, b)| times(at(center, a, b), a, b));
        let radius = Array2::from_shape_fn((size, size), |(a, b)| {
            let is_zero = at(center, a, b) == 0.0 && at(radius, a, b) == 0.0;
            // Products of bounds and entries are rounded twice, and may underflow.
            let rounding = if is_whole(a, b) || is_zero {
                0.0
            } else {
                4.0 * f64::EPSILON * middle[(a, b)].abs() + 2.0 * f64::MIN_POSITIVE
            };
            times(at(radius, a, b), a, b) * UP + rounding
        });
        Part { center: Some(middle), radius, structural }
    }

    /// `wᵀ G w`.
    pub(super) fn along(&self, weights: &[f64]) -> Decided {
        let used: Vec<usize> = (0..self.uses).filter(|&i| weights[i] != 0.0 && self.relevant(i)).collect();
        match used[..] {
            [] => return Decided::Ends(Ends::ZERO),
            [i] if self.leaks(i) => return Decided::Noiseless,
            [i] => {
                let by = weights[i].abs();
                return Decided::Ends(self.diagonal(i).scaled(by).scaled(by));
            }
            _ => {}
        }
        let exact: Option<Vec<BigRational>> = weights.iter().map(|&x| BigRational::from_float(x)).collect();
        let known = exact.as_ref().and_then(|exact| {
            self.directions.iter().find_map(|known| {
                let factor = ratio(exact, &known.direction.weights, &self.places)?;
                Some((known, &factor * &factor))
            })
        });
        if let Some((known, factor)) = known {
            if known.leaks {
                return Decided::Noiseless;
            }
            let ends = known.ends;
            let high = ends.high * above(&factor);
            let high = if ends.high == 0.0 || above(&factor) == 1.0 { high } else { high.next_up() };
            let low = if below(&factor) == 1.0 {
                ends.low
            } else {
                (ends.low * below(&factor)).next_down().max(0.0)
            };
            return Decided::Ends(Ends { low, high });
        }
        if used.iter().any(|&i| self.leaks(i)) {
            return Decided::Open;
        }
        let bounds: Vec<f64> = weights.iter().map(|x| x.abs()).collect();
        let part = self.part(&used, &bounds);
        let Some(center) = &part.center else {
            let high = part.structural.iter().fold(0.0, |sum: f64, d| (sum + d).next_up());
            return Decided::Ends(Ends { low: 0.0, high });
        };
        let sign = |a: usize| weights[used[a]].signum();
        let (mut sum, mut size) = (0.0, 0.0);
        for ((a, b), x) in center.indexed_iter() {
            sum += x * sign(a) * sign(b);
            size += x.abs();
        }
        Decided::Ends(around(sum, size, part.slack(), used.len()))
    }
}

/// An enclosure of a sum of `k²` terms with the given total size, whose errors sum to `slack`.
pub(super) fn around(sum: f64, size: f64, slack: f64, k: usize) -> Ends {
    let rounding = ((k * k + 8) as f64) * f64::EPSILON * size * UP;
    let room = (slack + rounding) * UP;
    Ends {
        low: (sum - room).next_down().max(0.0),
        high: if room == 0.0 { sum } else { (sum + room).next_up().max(0.0) },
    }
}

/// The number `f` for which `a = f b` on the uses that occur in rows.
fn ratio(a: &[BigRational], b: &[BigRational], places: &[Option<usize>]) -> Option<BigRational> {
    let mut pairs = a.iter().zip(b).zip(places).filter(|(_, place)| place.is_some()).map(|(pair, _)| pair);
    let first = pairs.clone().find(|(_, y)| !y.is_zero())?;
    let factor = first.0 / first.1;
    pairs.all(|(x, y)| *x == &factor * y).then_some(factor)
}

/// Covers the roundings of sums of nonnegative numbers.
pub(super) const UP: f64 = 1.0 + 1e-12;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A Gram matrix with these entries, each with an error of at most `radius`.
    pub(in super::super) fn told(entries: &[&[f64]], radius: f64) -> NodeGram {
        let k = entries.len();
        let center = Array2::from_shape_fn((k, k), |(i, j)| entries[i][j]);
        let diagonal =
            (0..k).map(|i| Ends { low: (entries[i][i] - radius).max(0.0), high: entries[i][i] + radius });
        NodeGram {
            node: 0,
            uses: k,
            places: (0..k).map(Some).collect(),
            diagonal: diagonal.collect(),
            entries: Some((center, Array2::from_elem((k, k), radius))),
            structural: vec![f64::INFINITY; k],
            leaks: vec![false; k],
            directions: Vec::new(),
        }
    }

    /// A part that is scaled by bounds has the scaled error of the whole, plus the roundings of the products.
    #[test]
    fn parts_are_off_by_what_the_whole_is_off_by() {
        let gram = told(&[&[2.0, 1.0], &[1.0, 3.0]], 0.25);
        let part = gram.part(&[0, 1], &[0.1, 0.3]);
        for (i, j, by) in [(0, 0, 0.01), (0, 1, 0.03), (1, 1, 0.09)] {
            let radius = part.radius[(i, j)];
            assert!(0.25 * by * (1.0 + 1e-13) <= radius && radius <= 0.25 * by * (1.0 + 1e-9), "{radius}");
        }
        assert_eq!(gram.part(&[1], &[0.0, 1.0]).radius[(0, 0)], 0.25 * UP);
    }

    /// Terms whose errors sum to a half, plus their roundings.
    #[test]
    fn ends_are_outside_the_slack() {
        let ends = around(4.0, 8.0, 0.5, 2);
        assert!(ends.low < 3.5 && ends.high > 4.5 && ends.high - ends.low < 1.0 + 1e-10);
        // Rounding only: twelve epsilons of the size, which a sum of four terms may lose.
        let ends = around(4.0, 8.0, 0.0, 2);
        assert!(ends.low <= 4.0 - 96.0 * f64::EPSILON && ends.high >= 4.0 + 96.0 * f64::EPSILON);
        assert_eq!(around(0.0, 0.0, 0.0, 1).high, 0.0);
        // However small the error is, the other end is a different float.
        let ends = around(1.0, 0.0, 1e-300, 1);
        assert!(ends.low < 1.0 && 1.0 < ends.high);
    }

    /// For a multiple of a known direction, the bound is at least the exact product of its upper end and the
    /// square.
    #[test]
    fn multiples_of_directions_are_rounded_outward() {
        let exact = |x: f64| BigRational::from_float(x).expect("finite");
        for k in 1..200_u32 {
            let mut gram = told(&[&[2.0, 1.0], &[1.0, 3.0]], 0.0);
            let ends = Ends { low: f64::from(k) / 7.0, high: f64::from(k) / 3.0 };
            let weights = [1.0, 2.0].map(exact).to_vec();
            let direction = Direction { node: 0, weights };
            gram.directions.push(KnownDirection { direction, ends, leaks: false });
            let by = 1.0 + f64::from(k) / 64.0;
            let Decided::Ends(found) = gram.along(&[by, 2.0 * by]) else { panic!("it is known") };
            let square = exact(by) * exact(by);
            assert!(exact(found.high) >= exact(ends.high) * &square, "{k}");
            assert!(exact(found.low) <= exact(ends.low) * &square, "{k}");
        }
    }

    /// Two uses in the direction (1, 2): the weighted entries; `None` if one of the uses is seen without
    /// noise.
    #[test]
    fn directions_add_up_their_entries() {
        let mut gram = told(&[&[2.0, 1.0], &[1.0, 3.0]], 0.0);
        let Decided::Ends(ends) = gram.along(&[1.0, 2.0]) else { panic!("nothing leaks") };
        assert!(ends.low < 18.0 && 18.0 < ends.high && ends.high - ends.low < 1e-12);
        gram.leaks[1] = true;
        assert_eq!((gram.along(&[1.0, 2.0]), gram.along(&[0.0, 2.0])), (Decided::Open, Decided::Noiseless));
        // A direction that was computed by itself also gives its multiples, rounded outward.
        let weights = [1.0, 2.0].map(|x| BigRational::from_float(x).expect("finite")).to_vec();
        let ends = Ends { low: 17.0, high: 19.0 };
        gram.directions.push(KnownDirection {
            direction: Direction { node: 0, weights },
            ends,
            leaks: false,
        });
        let Decided::Ends(third) = gram.along(&[0.1, 0.2]) else { panic!("it is known") };
        assert!(third.low <= 0.17 && 0.19 < third.high && third.high - third.low < 0.02 + 1e-12);
        assert_eq!(gram.along(&[1.0, 2.0]), Decided::Ends(ends));
    }
}
