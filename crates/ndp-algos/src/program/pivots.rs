//! Witnesses of large views whose rows each bring a noise that no row before them has (a *pivot*): fresh noise in every message.
//!
//! An attack comes from a factorisation of the rows' covariance in `f64`; whatever it is, it is one. The shift that goes with it is
//! nearly one: the noises that are no pivots are shifted by what the attack says, and the pivots, row by row, by what is then missing.
//! So it looks like the change in every row, exactly.

use super::Program;
use super::observers::{Seen, SeenRow};
use super::registers::Primitive;
use super::sparse::Witness;
use super::weight::float;
use crate::Error;
use ndarray::Array2;
use ndp_graph::linalg::{cholesky, gram_difference};
use num_rational::BigRational;
use num_traits::Zero;
use std::collections::BTreeMap;

/// Attack and shift for a change of the rows; none where some row has no pivot or the covariance no factor.
///
/// # Errors
/// [`ndp_graph::Error::TooLarge`] beyond the memory limit.
pub(super) fn witness(
    program: &Program,
    seen: &Seen,
    shifts: &[BigRational],
    memory: u64,
) -> Result<Option<Witness>, Error> {
    let n = seen.rows.len();
    let noises = |row: &SeenRow| -> Vec<(usize, BigRational)> {
        let noise = |(primitive, x): &(Primitive, BigRational)| match primitive {
            Primitive::Noise(k) => Some((*k, x.clone())),
            Primitive::Contribution(_) => None,
        };
        row.form.iter().filter_map(noise).collect()
    };
    // Columns of the noises, and of each row the pivot with the largest share.
    let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
    let mut pivots: Vec<(usize, BigRational)> = Vec::with_capacity(n);
    for row in &seen.rows {
        let mut best: Option<(f64, usize, BigRational)> = None;
        for (k, x) in noises(row) {
            if columns.contains_key(&k) {
                continue;
            }
            columns.insert(k, columns.len());
            let share = float(&x).powi(2) * float(&program.noises[k].variance);
            if best.as_ref().is_none_or(|(known, _, _)| share > *known) {
                best = Some((share, k, x));
            }
        }
        let Some((_, k, x)) = best else { return Ok(None) };
        pivots.push((k, x));
    }
    let bytes = 8 * (n as u128) * (2 * columns.len() + 2 * n) as u128;
    if bytes > memory.into() {
        let what = "the covariance of what is seen";
        return Err(ndp_graph::Error::TooLarge { what, bytes, limit: memory.into() }.into());
    }
    let mut rows = Array2::<f64>::zeros((n, columns.len()));
    for (r, row) in seen.rows.iter().enumerate() {
        for (k, x) in noises(row) {
            rows[(r, columns[&k])] = float(&x) * float(&program.noises[k].variance).sqrt();
        }
    }
    let none = Array2::zeros((n, 0));
    let Ok(factor) = cholesky(gram_difference(rows.view(), none.view())?.view()) else { return Ok(None) };
    let b = Array2::from_shape_fn((n, 1), |(r, _)| float(&shifts[r]));
    let Ok(y) = factor.solve(b.view()) else { return Ok(None) };
    let images = rows.t().dot(&y);
    let is_pivot: BTreeMap<usize, usize> = pivots.iter().enumerate().map(|(r, (k, _))| (*k, r)).collect();
    let mut moved: BTreeMap<usize, BigRational> = BTreeMap::new();
    for (&k, &column) in columns.iter().filter(|(k, _)| !is_pivot.contains_key(k)) {
        let by = images[(column, 0)] * float(&program.noises[k].variance).sqrt();
        if let Some(by) = BigRational::from_float(by).filter(|by| !by.is_zero()) {
            moved.insert(k, by);
        }
    }
    for (r, row) in seen.rows.iter().enumerate() {
        let mut rest = shifts[r].clone();
        for (k, x) in noises(row) {
            if let Some(by) = moved.get(&k).filter(|_| is_pivot.get(&k) != Some(&r)) {
                rest -= x * by;
            }
        }
        if !rest.is_zero() {
            moved.insert(pivots[r].0, rest / &pivots[r].1);
        }
    }
    let attack = y.iter().enumerate().filter(|(_, y)| **y != 0.0).map(|(r, &y)| (r, y)).collect();
    Ok(Some((attack, moved)))
}
