//! Whether a symmetric matrix of whole numbers is positive semidefinite.

use num_bigint::{BigInt, Sign};

/// Whether a symmetric matrix, in multiples of `1 / below`, is positive semidefinite.
pub(crate) fn is_semidefinite(rows: Vec<Vec<BigInt>>, below: &BigInt) -> bool {
    is_dominant(&rows, below) || by_elimination(rows)
}

/// Whether a symmetric matrix, in multiples of `1 / below`, is `L L' + E` for some `L` in short numbers and
/// an `E` whose diagonal is at least the sum of the sizes beside it: then it is positive semidefinite. `L`
/// is guessed in floating point and all else is exact, so that nothing rests on the guess; where it does not
/// help, elimination decides.
fn is_dominant(rows: &[Vec<BigInt>], below: &BigInt) -> bool {
    let float = |x: &BigInt| -> f64 {
        let scale = below.bits().saturating_sub(900);
        let (x, below): (BigInt, BigInt) = (x >> scale, below >> scale);
        let text = |x: &BigInt| x.to_string().parse().unwrap_or(f64::NAN);
        text(&x) / text(&below)
    };
    let n = rows.len();
    let largest = (0..n).map(|i| float(&rows[i][i])).fold(0.0, f64::max);
    if !(largest > 1e-200 && largest < 1e200) {
        return false;
    }
    // A triangular factor of a little less.
    let mut factor = vec![vec![0.0_f64; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let done: f64 = (0..j).map(|c| factor[i][c] * factor[j][c]).sum();
            let rest = float(&rows[i][j]) - done;
            if i == j {
                let pivot = rest - largest * LESS;
                if pivot <= 0.0 || !pivot.is_finite() {
                    return false;
                }
                factor[i][i] = pivot.sqrt();
            } else {
                factor[i][j] = rest / factor[j][j];
            }
        }
    }
    // Multiples of 2^-bits, below 2^52 in size.
    let bits = 48 - (largest.log2() / 2.0).ceil() as i32;
    let whole: Vec<Vec<i128>> = factor
        .iter()
        .map(|row| row.iter().map(|x| (x * 2.0_f64.powi(bits)).round() as i128).collect())
        .collect();
    let left = |i: usize, j: usize| -> BigInt {
        let product: i128 = whole[i].iter().zip(&whole[j]).take(i.min(j) + 1).map(|(x, y)| x * y).sum();
        let product = below * product;
        if bits >= 0 { (&rows[i][j] << (2 * bits)) - product } else { &rows[i][j] - (product << (-2 * bits)) }
    };
    let size = |x: BigInt| if x.sign() == Sign::Minus { -x } else { x };
    (0..n).all(|i| left(i, i) >= (0..n).filter(|&j| j != i).map(|j| size(left(i, j))).sum())
}

/// What the guessed factor leaves over, relative to the largest entry: more than rounding makes of it.
const LESS: f64 = 2e-11;

/// Whether a symmetric matrix is positive semidefinite, by elimination without fractions: a pivot below 0, or
/// a pivot 0 whose row is not 0, refutes it. Entries stay determinants of the rows and columns of pivots, so
/// that the division by the pivot before has no rest.
fn by_elimination(mut rows: Vec<Vec<BigInt>>) -> bool {
    let mut before = BigInt::from(1);
    for i in 0..rows.len() {
        let (done, rest) = rows.split_at_mut(i + 1);
        let pivot = &done[i];
        match pivot[i].sign() {
            Sign::Minus => return false,
            Sign::NoSign if pivot[i + 1..].iter().any(|x| *x != BigInt::ZERO) => return false,
            Sign::NoSign => continue,
            Sign::Plus => {}
        }
        for row in rest {
            let factor = row[i].clone();
            for (x, p) in row.iter_mut().zip(pivot).skip(i) {
                *x = (&*x * &pivot[i] - &factor * p) / &before;
            }
        }
        before = pivot[i].clone();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semidefinite(rows: &[&[i64]]) -> bool {
        let rows: Vec<Vec<BigInt>> = rows.iter().map(|row| row.iter().map(|&x| x.into()).collect()).collect();
        let exact = by_elimination(rows.clone());
        // What the guess proves is true, whatever the unit.
        for unit in [1_u32, 1000] {
            for power in [0, 80] {
                let below = BigInt::from(unit).pow(power);
                assert!(exact || !is_dominant(&rows, &below));
            }
        }
        exact
    }

    /// Most matrices that are definite are dominated, those that are not never are.
    #[test]
    fn dominated_matrices() {
        let big = |rows: &[&[i64]]| -> Vec<Vec<BigInt>> {
            rows.iter().map(|row| row.iter().map(|&x| x.into()).collect()).collect()
        };
        for below in [BigInt::from(1), BigInt::from(3).pow(150), BigInt::from(10).pow(1200)] {
            let (large, small) = (BigInt::from(10).pow(1100), BigInt::from(1));
            let unit = if below > large { &large } else { &small };
            let times = |rows: &[&[i64]]| -> Vec<Vec<BigInt>> {
                big(rows).into_iter().map(|row| row.into_iter().map(|x| x * unit).collect()).collect()
            };
            assert!(is_dominant(&times(&[&[2, -1, 0], &[-1, 2, -1], &[0, -1, 2]]), &below));
            assert!(is_dominant(&times(&[&[1_000_000, 999_999], &[999_999, 1_000_000]]), &below));
            assert!(!is_dominant(&times(&[&[1_000_000, 1_000_001], &[1_000_001, 1_000_000]]), &below));
            assert!(!is_dominant(&times(&[&[2, -1, 0], &[-1, 2, -3], &[0, -3, 2]]), &below));
            assert!(!is_dominant(&times(&[&[0, 0], &[0, 0]]), &below));
            assert!(!is_dominant(&times(&[&[-1]]), &below));
        }
        assert!(is_dominant(&big(&[]), &BigInt::from(1)) || by_elimination(Vec::new()));
    }

    /// Signs of eigenvalues by hand.
    #[test]
    fn semidefinite_matrices() {
        assert!(semidefinite(&[]));
        assert!(semidefinite(&[&[1, -1], &[-1, 1]]));
        assert!(!semidefinite(&[&[1, -2], &[-2, 1]]));
        assert!(!semidefinite(&[&[0, 1], &[1, 5]]));
        assert!(semidefinite(&[&[0, 0], &[0, 5]]));
        // A pivot 0 in the middle: the sum of two squares in three unknowns.
        assert!(semidefinite(&[&[1, 1, 1], &[1, 1, 1], &[1, 1, 2]]));
        assert!(!semidefinite(&[&[1, 1, 1], &[1, 1, 2], &[1, 2, 2]]));
        assert!(semidefinite(&[&[2, -1, 0], &[-1, 2, -1], &[0, -1, 2]]));
        assert!(!semidefinite(&[&[2, -1, 0], &[-1, 2, -3], &[0, -3, 2]]));
    }
}
