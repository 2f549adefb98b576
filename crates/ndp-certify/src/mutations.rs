//! Tests that a wrong step of the proof would be noticed.

use crate::combinations::{Combinations, Lost};
use crate::decisions;
use crate::enclosure::Enclosure;
use crate::krylov::{Against, Kept, Krylov};
use crate::rows::{Given, Rows};
use ndarray::Array2;
use ndp_graph::{GossipMatrix, generators, random};
use ndp_numeric::stop::Stop;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of small integers over noises and over other inputs.
fn draw(rng: &mut ChaCha8Rng) -> [Array2<i32>; 2] {
    let (r, m, n) = (rng.random_range(2..6), rng.random_range(3..8), rng.random_range(1..4));
    let mut table = |columns| Array2::from_shape_fn((r, columns), |_| rng.random_range(-3..4));
    [table(m), table(n)]
}

fn given([noises, inputs]: &[Array2<i32>; 2]) -> Rows {
    let float = |table: &Array2<i32>| table.mapv(f64::from);
    Rows::Given(Given::new(float(inputs).view(), float(noises).view(), &[], &[]))
}

/// `bᵀ (R Rᵀ)⁻¹ b` for every column `b` of the inputs; `None` if the rows are linearly dependent.
fn truth([noises, inputs]: &[Array2<i32>; 2]) -> Option<Vec<f64>> {
    let r = noises.nrows();
    let gram = noises.dot(&noises.t());
    let entry = |x: i32| BigRational::from(BigInt::from(x));
    let solve = |b: Vec<BigRational>| -> Option<Vec<BigRational>> {
        let mut table: Vec<Vec<BigRational>> =
            (0..r).map(|j| (0..r).map(|k| entry(gram[(j, k)])).chain([b[j].clone()]).collect()).collect();
        for k in 0..r {
            let pivot = (k..r).find(|&j| !table[j][k].is_zero())?;
            table.swap(k, pivot);
            let row = table[k].clone();
            for (j, other) in table.iter_mut().enumerate().filter(|(j, _)| *j != k) {
                debug_assert_ne!(j, k);
                let factor = &other[k] / &row[k];
                other.iter_mut().zip(&row).for_each(|(x, y)| *x -= &factor * y);
            }
        }
        Some((0..r).map(|k| &table[k][r] / &table[k][k]).collect())
    };
    let columns = inputs.columns().into_iter();
    columns
        .map(|column| {
            let b: Vec<BigRational> = column.iter().map(|&x| entry(x)).collect();
            let loss: BigRational = solve(b.clone())?.iter().zip(&b).map(|(x, y)| x * y).sum();
            loss.to_f64()
        })
        .collect()
}

/// The combinations of the rows of a view with `bits` bits after the point.
fn combine(rows: &Rows, kept: &[usize], bits: u32) -> Result<(Vec<Vec<f64>>, Vec<f64>), Lost> {
    let layout = rows.layout();
    let mut found =
        Combinations::new(2, layout.coordinates, layout.noises, &layout.variances).with_bits(bits);
    for &k in kept {
        let (row, gamma) = rows.packed(k, &rows.column_scales(), 2);
        found.absorb(row, gamma, 0)?;
    }
    Ok(found.into_rounded())
}

/// With 12 to 24 bits the rounding errors are large enough to be seen: the enclosures contain the truth, and
/// with a tenth of the errors that the recurrence gives they do not.
#[test]
fn a_tenth_of_the_errors_is_not_enough() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut compared, mut missed) = (0, 0);
    for _ in 0..6000 {
        let tables = draw(&mut rng);
        let Some(truth) = truth(&tables) else { continue };
        let rows = given(&tables);
        let bits = rng.random_range(12..25);
        let all: Vec<usize> = (0..rows.len()).collect();
        let Ok((vectors, errors)) = combine(&rows, &all, bits) else { continue };
        let inside = |found: &Enclosure| {
            rows.layout().inputs.iter().enumerate().all(|(k, input)| {
                // The true loss was rounded once.
                let loss = truth[input.node];
                found.lower[k] <= loss * (1.0 + 1e-15) && loss <= found.upper[k] * (1.0 + 1e-15)
            })
        };
        let Some(found) = Enclosure::new(&vectors, &errors, rows.layout()) else { continue };
        assert!(inside(&found), "{found:?} misses {truth:?} of {tables:?} at {bits} bits");
        let tenth: Vec<f64> = errors.iter().map(|e| e / 10.0).collect();
        let found = Enclosure::new(&vectors, &tenth, rows.layout()).expect("smaller errors");
        compared += 1;
        missed += usize::from(!inside(&found));
    }
    assert!(compared > 2000, "{compared}");
    assert!(missed * 200 > compared, "{missed} of {compared} are missed");
}

/// If a new row of a view is overlooked, the enclosures lie below the true losses. No test of the rank
/// notices it, but the losses do.
#[test]
fn a_dropped_row_is_seen() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut dropped = 0;
    for _ in 0..150 {
        let [table, _] = draw(&mut rng);
        let tables = [table.clone(), table];
        let rows = given(&tables);
        let decisions = decisions::of_rows(&rows, &Stop::never())?;
        let kept: Vec<usize> = (0..rows.len()).filter(|&k| decisions.kept[k]).collect();
        if kept.len() < rows.len() {
            continue;
        }
        let truth = truth(&tables).expect("independent rows");
        let enclose = |kept: &[usize]| {
            let (vectors, errors) = combine(&rows, kept, 120).expect("independent rows");
            Enclosure::new(&vectors, &errors, rows.layout()).expect("nearly orthonormal")
        };
        let misses = |found: &Enclosure| {
            rows.layout()
                .inputs
                .iter()
                .enumerate()
                .any(|(k, input)| found.upper[k] < truth[input.node] - 1e-9)
        };
        assert!(!misses(&enclose(&kept)));
        for k in 0..kept.len() {
            let mut short = kept.clone();
            short.remove(k);
            assert!(misses(&enclose(&short)), "row {k} of {tables:?}");
            dropped += 1;
        }
        // If a row that is not new is kept as new, the view is refused.
        let mut twice = kept.clone();
        twice.push(kept[0]);
        assert!(matches!(combine(&rows, &twice, 120), Err(Lost::Digits(_))));
    }
    assert!(dropped > 200, "{dropped}");
    Ok(())
}

/// The same for gossip with a fixed matrix: all losses add up to the rank, but not if the last direction is
/// missing.
#[test]
fn a_dropped_direction_is_seen() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    for graph in [
        generators::path_graph(12)?,
        generators::grid_2d_graph(4, 5)?,
        random::erdos_renyi_graph(30, 0.15, &mut rng)?,
    ] {
        let seeds: Vec<usize> = graph.neighbors(0).iter().map(|&w| w as usize).collect();
        let view = Krylov::new(&GossipMatrix::metropolis(&graph), &[0], &seeds, &[0], 5);
        let decisions = decisions::of_krylov(&view, &Stop::never())?;
        let layout = crate::rows::Layout::of_equal_columns(graph.node_count(), view.ball().nodes());
        let highest = |kept: &[bool]| -> f64 {
            let Ok(found) = view.combinations(4, Kept::Known(kept), Against::All, &Stop::never()) else {
                panic!("independent rows")
            };
            let (vectors, errors) = found.into_rounded();
            Enclosure::new(&vectors, &errors, &layout).expect("nearly orthonormal").upper.iter().sum()
        };
        let rank = decisions.rank() as f64;
        assert!((highest(&decisions.kept) - rank).abs() < 1e-8);
        let mut short = decisions.kept.clone();
        let last = short.iter().rposition(|&new| new).expect("some row is new");
        short[last] = false;
        assert!(highest(&short) < rank - 0.9);
    }
    Ok(())
}
