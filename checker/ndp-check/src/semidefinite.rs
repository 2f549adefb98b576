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
    guess(rows, below).is_some_and(|(factor, bits)| leaves_dominant(rows, below, &factor, bits))
}

/// A triangular factor of nearly all of the matrix, in multiples of `2^-bits` below `2^52` in size.
fn guess(rows: &[Vec<BigInt>], below: &BigInt) -> Option<(Vec<Vec<i128>>, i32)> {
    let float = |x: &BigInt| -> f64 {
        let scale = below.bits().saturating_sub(900);
        let (x, below): (BigInt, BigInt) = (x >> scale, below >> scale);
        let text = |x: &BigInt| x.to_string().parse().unwrap_or(f64::NAN);
        text(&x) / text(&below)
    };
    let n = rows.len();
    let largest = (0..n).map(|i| float(&rows[i][i])).fold(0.0, f64::max);
    if !(largest > 1e-200 && largest < 1e200) {
        return None;
    }
    let mut factor = vec![vec![0.0_f64; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let done: f64 = (0..j).map(|c| factor[i][c] * factor[j][c]).sum();
            let rest = float(&rows[i][j]) - done;
            if i == j {
                let pivot = rest - largest * LESS;
                if pivot <= 0.0 || !pivot.is_finite() {
                    return None;
                }
                factor[i][i] = pivot.sqrt();
            } else {
                factor[i][j] = rest / factor[j][j];
            }
        }
    }
    let bits = 48 - (largest.log2() / 2.0).ceil() as i32;
    let whole = |x: &f64| (x * 2.0_f64.powi(bits)).round() as i128;
    Some((factor.iter().map(|row| row.iter().map(whole).collect()).collect(), bits))
}

/// Whether what a factor in multiples of `2^-bits` leaves over of the matrix has a diagonal that is at least
/// the sum of the sizes beside it.
fn leaves_dominant(rows: &[Vec<BigInt>], below: &BigInt, factor: &[Vec<i128>], bits: i32) -> bool {
    let n = rows.len();
    let left = |i: usize, j: usize| -> BigInt {
        let product: i128 = factor[i].iter().zip(&factor[j]).take(i.min(j) + 1).map(|(x, y)| x * y).sum();
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

    /// What a factor leaves over decides, whoever guessed it.
    #[test]
    fn guesses_are_checked() {
        let big = |rows: [[i64; 2]; 2]| -> Vec<Vec<BigInt>> {
            rows.map(|row| row.map(BigInt::from).to_vec()).to_vec()
        };
        let dominant = |rows, factor: [[i128; 2]; 2], bits| {
            leaves_dominant(&big(rows), &BigInt::from(3), &factor.map(|row| row.to_vec()), bits)
        };
        // Without a factor the matrix itself is looked at.
        assert!(dominant([[2, 1], [1, 1]], [[0; 2]; 2], 5) && dominant([[1, -1], [-1, 1]], [[0; 2]; 2], 5));
        assert!(!dominant([[2, 3], [3, 2]], [[0; 2]; 2], 5) && !dominant([[-1, 0], [0, 1]], [[0; 2]; 2], 5));
        // 12/3 and 3/3 of 2 and 1, and of 4 and 2 halves: nothing is left, or a third too little.
        for (factor, bits) in [([[2, 0], [1, 0]], 0), ([[4, 0], [2, 0]], 1)] {
            assert!(dominant([[12, 6], [6, 3]], factor, bits));
            assert!(!dominant([[11, 6], [6, 3]], factor, bits) && !dominant([[12, 7], [7, 3]], factor, bits));
            assert!(dominant([[13, 7], [7, 4]], factor, bits) && dominant([[13, 5], [5, 4]], factor, bits));
            assert!(!dominant([[13, 7], [7, 3]], factor, bits));
        }
        // Factors in wholes of 4.
        assert!(dominant([[48, 0], [0, 48]], [[1, 0], [0, 1]], -2));
        assert!(!dominant([[47, 0], [0, 48]], [[1, 0], [0, 1]], -2));
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
