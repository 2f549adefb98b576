//! The inverse of the covariance, where it is small enough and conjugate gradients would take more work. It
//! is in plain floats: what proves anything is the residual of each solution, as for conjugate gradients.

use super::covariance::{Covariance, LANES};
use ndarray::Array2;
use ndp_account::Error;
use ndp_numeric::casts::floor;
use ndp_numeric::stop::{Stop, work};

/// The inverse, if it takes less work than so many solves, and fits in `memory` bytes. `None` also where
/// floats cannot factorize the covariance.
///
/// # Errors
/// [`Error::Stopped`].
pub(super) fn inverse(
    s: &Covariance,
    solves: usize,
    memory: u64,
    stop: &Stop,
) -> Result<Option<Array2<f64>>, Error> {
    let n = s.len();
    // The covariance, its factor, the inverse of this, and the inverse.
    let bytes = 4 * 8 * (n as u128).pow(2);
    let of_dense = work([n, n, n]) / OPERATIONS;
    if !(LEAST_ROWS..=MOST_ROWS).contains(&n) || bytes > memory.into() || of_dense >= of_gradients(s, solves)
    {
        return Ok(None);
    }
    stop.spend(of_dense)?;
    let mut dense = Array2::zeros((n, n));
    for r in 0..n {
        s.row(r).for_each(|(j, x)| dense[(r, j)] = x);
    }
    let inverse = ndp_linalg::cholesky(dense.view()).and_then(|factor| factor.inverse());
    Ok(inverse.ok())
}

/// The work of so many solves by conjugate gradients, about: the number of steps follows from the condition,
/// which is at most the largest sum of a row over its own noise.
fn of_gradients(s: &Covariance, solves: usize) -> u64 {
    let condition = |r: usize| s.row(r).map(|(_, x)| x.abs()).sum::<f64>() / s.own[r];
    let condition = (0..s.len()).map(condition).fold(1.0, f64::max);
    let steps = 1 + floor((STEPS * condition.sqrt()).min(MOST_STEPS));
    let all: Vec<u32> = (0..s.len()).map(|r| s.number(r)).collect();
    s.cost(&all).saturating_mul(work([solves.div_ceil(LANES), steps]))
}

/// The smallest number of rows for which it matters which way is taken.
const LEAST_ROWS: usize = 100;
/// The largest number of rows of a dense matrix.
const MOST_ROWS: usize = 6_000;
/// Additions and multiplications in a nanosecond: a factor, its inverse and a product of triangles have a
/// third of the cube of the size each.
const OPERATIONS: u64 = 32;
/// Steps of conjugate gradients over the root of the condition.
const STEPS: f64 = 5.0;
const MOST_STEPS: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::super::Shift;
    use super::super::solve::Scratch;
    use super::*;
    use crate::enclose::Ends;
    use ndp_numeric::stop::Stopped;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The covariance of own noise and of noises between neighbors on a ring with chords.
    fn covariance(n: usize, own: f64) -> Covariance {
        let mut found = Covariance {
            starts: vec![0],
            columns: Vec::new(),
            entries: Vec::new(),
            sizes: Vec::new(),
            own: vec![own; n],
            diagonal: vec![own + 4.0; n],
            terms: 4,
        };
        for r in 0..n {
            let mut row = vec![(r, own + 4.0)];
            row.extend([1, 7, n - 7, n - 1].map(|d| ((r + d) % n, -1.0)));
            row.sort_unstable_by_key(|x| x.0);
            found.columns.extend(row.iter().map(|x| u32::try_from(x.0).expect("few rows")));
            found.entries.extend(row.iter().map(|x| x.1));
            found.starts.push(found.columns.len());
        }
        found.sizes = found.entries.iter().map(|x| x.abs()).collect();
        found
    }

    /// Both ways enclose the same losses, and the inverse as narrowly where the own noise is small.
    #[test]
    fn the_inverse_and_gradients_agree() -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (n, own) in [(100, 1.0), (150, 1e-3), (260, 0.02)] {
            let s = covariance(n, own);
            let inverse = inverse(&s, n, u64::MAX, &Stop::never())?.expect("it is less work");
            for _ in 0..20 {
                let mut shift = || -> Shift {
                    let mut rows: Vec<u32> = (0..3).map(|_| rng.random_range(0..100)).collect();
                    rows.sort_unstable();
                    rows.dedup();
                    rows.into_iter().map(|r| (r, rng.random_range(-1.0..1.0), 0.0)).collect()
                };
                let shifts: Vec<Shift> = (0..LANES).map(|_| shift()).collect();
                let batch: Vec<&Shift> = shifts.iter().collect();
                let never = Stop::never();
                let mut scratch = Scratch::new(n);
                let by_inverse = scratch.by_inverse(&s, &batch, &inverse, &never)?;
                // The vectors are all 0 again, so that the same ones serve the other way.
                let by_gradients = scratch.solve(&s, &batch, 1e-12, &never)?;
                for ((a, b), shift) in by_inverse.iter().zip(&by_gradients).zip(&shifts) {
                    let (a, b): (Ends, Ends) = (a.ends(&s, shift), b.ends(&s, shift));
                    assert!(a.low <= b.high && b.low <= a.high, "{a:?} {b:?}");
                    assert!(a.high - a.low <= 1e-10 * a.high.max(1.0), "{own}: {a:?}");
                }
            }
        }
        Ok(())
    }

    /// A wrong inverse makes enclosures wide, and never false.
    #[test]
    fn nothing_rests_on_the_inverse() -> Result<(), Error> {
        let s = covariance(100, 1.0);
        let right = inverse(&s, 100, u64::MAX, &Stop::never())?.expect("it is less work");
        let shift: Shift = vec![(5, 1.0, 0.0), (6, -0.5, 0.0)];
        let of = |inverse: &Array2<f64>| -> Result<Ends, Stopped> {
            let solved = Scratch::new(100).by_inverse(&s, &[&shift], inverse, &Stop::never())?;
            Ok(solved[0].ends(&s, &shift))
        };
        let truth = of(&right)?;
        for by in [0.0, 0.5, 0.99, 1.01, 2.0] {
            let found = of(&(&right * by))?;
            assert!(found.low <= truth.high && truth.low <= found.high, "{by}: {found:?} {truth:?}");
            assert!(found.high - found.low > 1e-6, "{by}: {found:?}");
        }
        Ok(())
    }

    #[test]
    fn the_inverse_is_taken_where_it_is_less_work_and_fits() -> Result<(), Error> {
        let s = covariance(200, 1.0);
        let taken = |solves, memory, stop: &Stop| inverse(&s, solves, memory, stop).map(|x| x.is_some());
        let never = Stop::never();
        assert!(taken(200, u64::MAX, &never)?);
        assert!(!taken(1, u64::MAX, &never)?, "one solve is less work");
        assert!(!taken(200, 32 * 200 * 200 - 1, &never)? && taken(200, 32 * 200 * 200, &never)?);
        assert!(inverse(&covariance(99, 1.0), 99, u64::MAX, &never)?.is_none());
        assert!(matches!(
            taken(200, u64::MAX, &Stop::after_work(10)),
            Err(Error::Stopped(Stopped::OutOfWork))
        ));
        Ok(())
    }
}
