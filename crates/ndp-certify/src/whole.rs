//! Rows of ratios of integers: every row is multiplied by a common denominator and becomes a row of integers,
//! which changes neither the span of the rows nor the losses.

use crate::divisor::{greatest_common_divisor, least_common_multiple};
use crate::field::{Field, Fingerprint};
use crate::fixed::Fixed;
use crate::layout::{FloatRows, Layout};
use crate::magnitude::{Magnitude, times_power};
use ndarray::Array2;
use ndp_numeric::stop::work;
use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// Rows with integer entries, sparse.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeRows {
    layout: Layout,
    /// The nonzero coordinates of every row, ascending.
    entries: Vec<Vec<(u32, BigInt)>>,
    /// Powers of two by which rows are multiplied, so that the entries of their noise parts are below 1.
    row_scales: Vec<i64>,
    /// Powers of two by which inputs are divided, so that their largest entry is at most 1.
    column_scales: Vec<i64>,
}

impl WholeRows {
    /// The rows over the coordinates of `layout`; the coordinates after its noises are its inputs, in order.
    /// The scales of the inputs are filled in.
    pub fn new(layout: Layout, rows: Vec<Vec<(u32, BigRational)>>) -> Self {
        Self::of_integers(layout, rows.into_iter().map(cleared).collect())
    }

    /// The same for rows of integers.
    pub fn of_integers(mut layout: Layout, rows: Vec<Vec<(u32, BigInt)>>) -> Self {
        let noises = layout.noises;
        let entries: Vec<Vec<(u32, BigInt)>> = rows.into_iter().map(divided).collect();
        let row_scales: Vec<i64> = entries
            .iter()
            .map(|row| {
                let part = row.iter().filter(|(j, _)| (*j as usize) < noises);
                -part.map(|(_, x)| x.bits().cast_signed()).max().unwrap_or(0) - crate::layout::room(row.len())
            })
            .collect();
        let mut column_scales = vec![i64::MIN; layout.coordinates];
        column_scales[..noises].fill(0);
        for (row, scale) in entries.iter().zip(&row_scales) {
            for (j, x) in row.iter().filter(|(j, _)| *j as usize >= noises) {
                let at = &mut column_scales[*j as usize];
                *at = (*at).max(x.bits().cast_signed() + scale);
            }
        }
        column_scales.iter_mut().filter(|scale| **scale == i64::MIN).for_each(|scale| *scale = 0);
        for input in layout.inputs.iter_mut().filter(|input| input.coordinate >= noises) {
            input.scale = 2 * column_scales[input.coordinate];
        }
        Self { layout, entries, row_scales, column_scales }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn column_scales(&self) -> &[i64] {
        &self.column_scales
    }

    pub(super) fn fingerprint(&self, to: &mut Fingerprint) {
        to.number(self.entries.len() as u64);
        for row in &self.entries {
            to.numbers(row.iter().map(|&(j, _)| j.into()));
            for (_, x) in row {
                to.number(u64::from(x.is_negative()));
                to.numbers(x.magnitude().to_u64_digits().into_iter());
            }
        }
    }

    /// `log₂` of the length of every row.
    pub(super) fn widths(&self) -> Vec<f64> {
        let width = |row: &Vec<(u32, BigInt)>| {
            let top = row.iter().map(|(_, x)| x.bits()).max().unwrap_or(0);
            top as f64 + 0.5 * (row.len().max(1) as f64).log2()
        };
        self.entries.iter().map(width).collect()
    }

    /// Work of finding row `k`, about.
    pub(super) fn cost(&self, k: usize) -> u64 {
        work([self.layout.coordinates + 32 * self.entries[k].len()])
    }

    pub(super) fn modular(&self, field: Field, k: usize) -> Vec<u64> {
        let mut row = vec![0; self.layout.coordinates];
        for (j, x) in &self.entries[k] {
            let rest = (x.magnitude() % field.prime()).to_u64_digits().first().copied().unwrap_or(0);
            let rest = field.integer(rest);
            row[*j as usize] = if x.is_negative() { field.minus(0, rest) } else { rest };
        }
        row
    }

    pub(super) fn fixed<const L: usize>(&self, k: usize, scales: &[i64]) -> (Vec<Fixed<L>>, Magnitude) {
        let mut row = vec![[0; L]; self.layout.coordinates];
        for (j, x) in &self.entries[k] {
            let shift = self.row_scales[k] - scales.get(*j as usize).copied().unwrap_or(0);
            row[*j as usize] = to_fixed(x, shift + crate::fixed::places(L));
        }
        (row, Magnitude::new(self.entries[k].len() as f64, 0).root())
    }

    /// In floating point, every entry rounded at most twice.
    pub(super) fn float(&self) -> FloatRows {
        let mut rows = Array2::zeros((self.entries.len(), self.layout.coordinates));
        let mut errors = Vec::with_capacity(self.entries.len());
        for (k, row) in self.entries.iter().enumerate() {
            let (mut squares, mut rounded) = (0.0, false);
            for (j, x) in row {
                let shift = self.row_scales[k] - self.column_scales[*j as usize];
                let bits = x.bits().cast_signed();
                let down = (bits - 64).max(0);
                let window =
                    (x.magnitude() >> down.cast_unsigned()).to_u64_digits().first().copied().unwrap_or(0);
                let exponent = down + shift;
                // Below 2^-900 digits may be lost.
                rounded |= bits > 53 || exponent < -900;
                let value = times_power(window as f64, exponent);
                squares += value * value;
                rows[(k, *j as usize)] = if x.is_negative() { -value } else { value };
            }
            // 2^-63 for the window, 2^-53 for its rounding; a term that underflows is far below 1e-260.
            let error = 1.01 * f64::EPSILON / 2.0 * f64::sqrt(squares) * 1.001 + 1e-260;
            errors.push(if rounded { error } else { 0.0 });
        }
        FloatRows { rows, errors }
    }
}

/// A row times a positive number that makes it a row of integers; its ratios need not be in lowest terms.
fn cleared(row: Vec<(u32, BigRational)>) -> Vec<(u32, BigInt)> {
    let mut common = BigInt::one();
    for (_, x) in &row {
        common = least_common_multiple(common, x.denom());
    }
    row.into_iter()
        .map(|(j, x)| {
            let (above, below) = x.into_raw();
            (j, if below == common { above } else { above * (&common / below) })
        })
        .collect()
}

/// A row without its zeros and without a common divisor.
fn divided(mut entries: Vec<(u32, BigInt)>) -> Vec<(u32, BigInt)> {
    entries.retain(|(_, x)| !x.is_zero());
    let mut divisor = BigUint::zero();
    for (_, x) in &entries {
        divisor = greatest_common_divisor(&divisor, x.magnitude());
        if divisor.is_one() {
            return entries;
        }
    }
    if !divisor.is_zero() {
        let divisor = BigInt::from(divisor);
        entries.iter_mut().for_each(|(_, x)| *x /= &divisor);
    }
    entries
}

/// `x · 2^shift` units, cut towards 0: off by less than one unit.
fn to_fixed<const L: usize>(x: &BigInt, shift: i64) -> Fixed<L> {
    let size = if shift >= 0 {
        x.magnitude() << shift.cast_unsigned()
    } else {
        x.magnitude() >> shift.unsigned_abs()
    };
    let mut limbs = [0; L];
    limbs.iter_mut().zip(size.to_u64_digits()).for_each(|(to, digit)| *to = digit);
    if x.sign() == Sign::Minus { crate::fixed::minus(&[0; L], &limbs) } else { limbs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(noises: usize, entries: &[i64]) -> WholeRows {
        let all: Vec<usize> = (0..entries.len()).collect();
        let layout = Layout { noises, adds_up: false, ..Layout::of_equal_columns(entries.len(), &all) };
        let entries = (0..).zip(entries).map(|(j, &x)| (j, BigInt::from(x)));
        WholeRows::of_integers(layout, vec![entries.collect()])
    }

    /// A noise of 3 becomes 3/4, which shifts the row by two places; the input of 1000, ten binary digits, is
    /// divided by 2^8 more.
    #[test]
    fn rows_are_scaled_into_the_format() {
        let rows = row(1, &[3, -1000]);
        let (found, error) = rows.fixed::<2>(0, rows.column_scales());
        let numbers = [0, 1].map(|j| crate::fixed::rounded(&found[j], crate::fixed::places(2)));
        assert_eq!(numbers, [0.75, -0.9765625]);
        assert!((2f64.sqrt()..1.42).contains(&error.to_f64()));
    }

    /// 2^60 + 1 has more digits than a float: its error is half an epsilon of the length of the row, a
    /// thousandth more for the digits beyond the window and a hundredth for the root of the squares. A number
    /// of 53 digits is exact.
    #[test]
    fn entries_are_rounded_where_they_are_long() {
        let found = row(2, &[(1 << 60) + 1, 2]).float();
        assert_eq!(found.rows[(0, 0)], 0.5);
        let expected = 1.01 * 1.001 * f64::EPSILON / 2.0 * 0.5;
        assert!((found.errors[0] / expected - 1.0).abs() < 1e-9, "{} {expected}", found.errors[0]);
        assert_eq!(row(2, &[(1 << 53) - 1, 2]).float().errors, [0.0]);
    }
}
