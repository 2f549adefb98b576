//! The second largest eigenvalue of the weights, enclosed by counts that are exact.
//!
//! By Sylvester's law of inertia a symmetric matrix `S - x D`, `D` positive and diagonal, has as many
//! positive pivots as `D^(-1/2) S D^(-1/2)` has eigenvalues above `x`. In fractions nothing is rounded, so
//! two counts prove where an eigenvalue lies, wherever floats took the candidates from.

use crate::protocol::Row;
use ndp_numeric::rounding::Interval;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;

/// An interval that contains the second largest eigenvalue of the weights, counted with multiplicity; of one
/// node there is none, and 0 stands for it. `scale` makes the weights symmetric: row `a` times `scale[a]`.
pub(crate) fn second_largest(weights: &[Row], scale: &[usize]) -> Interval {
    let n = weights.len();
    if n < 2 {
        return Interval::ZERO;
    }
    let whole = |at: usize| BigRational::from_integer(BigInt::from(scale[at]));
    let exact: Vec<Row> =
        (0..n).map(|a| weights[a].iter().map(|weight| weight * whole(a)).collect()).collect();
    let diagonal: Row = (0..n).map(whole).collect();
    let near = nearly(&exact, &diagonal);
    // At most one eigenvalue is above the upper end, at least two are not below the lower one.
    let second_is_not_above = |x: &BigRational| count(&exact, &diagonal, x).0 <= 1;
    let second_is_not_below = |x: &BigRational| {
        let (above, at) = count(&exact, &diagonal, x);
        above + at >= 2
    };
    if let Some(x) = simple(near).filter(|x| second_is_not_above(x) && second_is_not_below(x)) {
        return Interval::new(as_float(x.numer())) / Interval::new(as_float(x.denom()));
    }
    let end =
        |x: f64, proven: &dyn Fn(&BigRational) -> bool| BigRational::from_float(x).filter(proven).map(|_| x);
    // All eigenvalues of weights that are not negative, each row of sum 1, lie between -1 and 1.
    let low = end(near - WITHIN, &|x| second_is_not_below(x)).unwrap_or(-1.0);
    let high = end(near + WITHIN, &|x| second_is_not_above(x)).unwrap_or(1.0);
    Interval::between(low.max(-1.0), high.min(1.0))
}

/// Half of the width of an enclosure where the eigenvalue is no simple fraction.
const WITHIN: f64 = 1e-13;

/// The second largest eigenvalue in floats, by rotations that make one entry after the other zero (Jacobi);
/// nothing rests on it.
fn nearly(exact: &[Row], diagonal: &[BigRational]) -> f64 {
    let float = |x: &BigRational| num_traits::ToPrimitive::to_f64(x).unwrap_or(0.0);
    let root: Vec<f64> = diagonal.iter().map(|x| float(x).sqrt()).collect();
    let n = root.len();
    let mut m: Vec<Vec<f64>> =
        (0..n).map(|a| (0..n).map(|b| float(&exact[a][b]) / (root[a] * root[b])).collect()).collect();
    for _ in 0..SWEEPS {
        for p in 0..n {
            for q in p + 1..n {
                if m[p][q] == 0.0 {
                    continue;
                }
                let half = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
                let tangent = half.signum() / (half.abs() + (1.0 + half * half).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = tangent * cosine;
                for row in &mut m {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
                let (above, below) = m.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|a| m[a][a]).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values[1]
}

/// Sweeps over all entries; a few are enough for up to 64 nodes.
const SWEEPS: usize = 12;

/// The fraction of a denominator of at most 400 that is very near, by its continued fraction.
fn simple(x: f64) -> Option<BigRational> {
    let (mut before, mut now) = ((1_i64, 0_i64), (ndp_numeric::casts::integer(x.floor()), 1_i64));
    let mut rest = x - x.floor();
    loop {
        #[allow(clippy::cast_precision_loss, reason = "both are far below 2^53")]
        if (now.0 as f64 - x * now.1 as f64).abs() < 1e-11 {
            return Some(BigRational::new(BigInt::from(now.0), BigInt::from(now.1)));
        }
        if rest < 1e-9 {
            return None;
        }
        let turned = 1.0 / rest;
        let whole = ndp_numeric::casts::integer(turned.floor().min(1e6));
        rest = turned - turned.floor();
        (before, now) = (now, (whole * now.0 + before.0, whole * now.1 + before.1));
        if now.1 > 400 {
            return None;
        }
    }
}

fn as_float(x: &BigInt) -> f64 {
    num_traits::ToPrimitive::to_f64(x).unwrap_or(f64::NAN)
}

/// How many eigenvalues lie above `x`, and how many at it: the signs of the pivots of `matrix - x diagonal`,
/// which is symmetric. Where no pivot is on the diagonal, two rows are eliminated together, of which one
/// counts for each side.
fn count(matrix: &[Row], diagonal: &[BigRational], x: &BigRational) -> (usize, usize) {
    let mut rows: Vec<Row> = matrix.to_vec();
    for (a, row) in rows.iter_mut().enumerate() {
        row[a] = &row[a] - x * &diagonal[a];
    }
    let mut open: Vec<usize> = (0..rows.len()).collect();
    let mut above = 0;
    while !open.is_empty() {
        if let Some(at) = open.iter().position(|&a| !rows[a][a].is_zero()) {
            let p = open.swap_remove(at);
            above += usize::from(rows[p][p] > BigRational::zero());
            eliminate(&mut rows, &open, p);
            continue;
        }
        let pair = open.iter().enumerate().find_map(|(i, &a)| {
            let other = open[i + 1..].iter().position(|&b| !rows[a][b].is_zero())?;
            Some((i, i + 1 + other))
        });
        let Some((i, j)) = pair else { return (above, open.len()) };
        let (a, b) = (open[i], open[j]);
        open.retain(|&c| c != a && c != b);
        above += 1;
        // [0 s; s 0] has the inverse [0 1/s; 1/s 0].
        let (of_a, of_b, s) = (rows[a].clone(), rows[b].clone(), rows[a][b].clone());
        for &c in &open {
            for &d in &open {
                let cross = &of_a[c] * &of_b[d] + &of_b[c] * &of_a[d];
                rows[c][d] = &rows[c][d] - cross / &s;
            }
        }
    }
    (above, 0)
}

/// Takes a pivot out of the rows that are open.
fn eliminate(rows: &mut [Row], open: &[usize], p: usize) {
    let (of_pivot, pivot) = (rows[p].clone(), rows[p][p].clone());
    for &c in open {
        if of_pivot[c].is_zero() {
            continue;
        }
        let factor = &of_pivot[c] / &pivot;
        for &d in open {
            rows[c][d] = &rows[c][d] - &factor * &of_pivot[d];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Protocol, Setting, WeightRule, connected_graphs};
    use ndp_graph::{Graph, generators};

    fn of(graph: &Graph, weights: WeightRule, protocol: Protocol) -> Result<Interval, crate::Error> {
        Ok(Setting::new(graph, weights, protocol, 1)?.second_eigenvalue())
    }

    /// Known spectra: complete graphs, rings, stars, the simple walk on a path.
    #[test]
    fn known_spectra_are_enclosed() -> Result<(), Box<dyn std::error::Error>> {
        let gossip = Protocol::Muffliato;
        // Metropolis weights of a complete graph are 1/n: all others are 0, exactly.
        for n in 2..6 {
            let found = of(&generators::complete_graph(n)?, WeightRule::Metropolis, gossip)?;
            assert_eq!((found.low(), found.high()), (0.0, 0.0), "{n}");
        }
        // A ring: 1/3 + 2/3 cos(2 pi / n); of six nodes 2/3, of four 1/3, of five no fraction.
        for (n, cosine) in [(4, 0.0), (5, 0.309_016_994_374_947_45), (6, 0.5), (12, 0.866_025_403_784_438_6)]
        {
            let found = of(&generators::cycle_graph(n)?, WeightRule::Metropolis, gossip)?;
            let value = 1.0 / 3.0 + 2.0 / 3.0 * cosine;
            assert!(found.low() <= value + 1e-15 && value - 1e-15 <= found.high(), "{n}: {found:?}");
            assert!(found.high() - found.low() <= 3e-13, "{n}: {found:?}");
        }
        // A star with seven leaves: 1 - 1/8, many times.
        let star = of(&generators::star_graph(7)?, WeightRule::Metropolis, gossip)?;
        assert!(
            star.low() <= 7.0 / 8.0 && 7.0 / 8.0 <= star.high() && star.high() - star.low() < 1e-15,
            "{star:?}"
        );
        // The simple walk on a path of n nodes: cos(pi / (n - 1)), of which the matrix is not symmetric.
        let walk = of(&generators::path_graph(4)?, WeightRule::Simple, Protocol::Walk)?;
        assert!(walk.low() <= 0.5 && 0.5 <= walk.high() && walk.high() - walk.low() < 1e-15, "{walk:?}");
        Ok(())
    }

    /// Of every small graph: the trace of powers agrees with an enclosure that is narrow.
    #[test]
    fn enclosures_are_narrow_and_hold_on_all_small_graphs() -> Result<(), Box<dyn std::error::Error>> {
        for n in 2..6 {
            for graph in connected_graphs(n)? {
                for weights in [WeightRule::Metropolis, WeightRule::MaxDegree, WeightRule::Lazy] {
                    let found = of(&graph, weights, Protocol::Muffliato)?;
                    assert!(found.high() - found.low() <= 3e-13, "{graph:?} {weights:?} {found:?}");
                    // Two nodes that exchange their values have -1 beside the mean, of which the powers below
                    // know nothing.
                    if found.high() < -1.0 + 1e-12 {
                        assert_eq!((n, weights, found.low()), (2, WeightRule::MaxDegree, -1.0));
                        continue;
                    }
                    let setting = Setting::new(&graph, weights, Protocol::Muffliato, 1)?;
                    let power = by_powers(&setting);
                    assert!(found.low() - 1e-6 <= power && power <= found.high() + 1e-6, "{found:?} {power}");
                }
            }
        }
        Ok(())
    }

    /// Power iteration on `(W + I)/2` apart from the constant vector.
    fn by_powers(setting: &Setting) -> f64 {
        let n = setting.graph().node_count();
        let weight = |a: usize, b: usize| setting.enclosed[1][a][b].low();
        let mut x: Vec<f64> = (0..n).map(|a| ((a * a + 1) as f64 * 0.7).sin()).collect();
        let mut value = 0.0;
        for _ in 0..20_000 {
            let mean = x.iter().sum::<f64>() / n as f64;
            x.iter_mut().for_each(|y| *y -= mean);
            let length = x.iter().map(|y| y * y).sum::<f64>().sqrt();
            x.iter_mut().for_each(|y| *y /= length);
            let next: Vec<f64> =
                (0..n).map(|a| 0.5 * (x[a] + (0..n).map(|b| weight(a, b) * x[b]).sum::<f64>())).collect();
            value = next.iter().zip(&x).map(|(y, x)| y * x).sum();
            x = next;
        }
        2.0 * value - 1.0
    }
}
