//! The costs of shifts of noises, in integer multiples of one fraction, so that common divisors are only
//! removed at the end.

use crate::Witness;
use crate::build::{Noise, Program, Value};
use crate::gram::Part;
use crate::registers::Definition;
use crate::semidefinite::majorant;
use ndarray::Array2;
use ndp_account::Error;
use ndp_certify::divisor::least_common_multiple;
use ndp_linalg::cholesky;
use ndp_numeric::casts::integer;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// The shifts `x_i` of noises with variances `V`, and the costs `P_ij = x_iᵀ V⁻¹ x_j`.
pub(super) struct Shifts {
    /// Noises with the same variance are next to each other: where each group ends, and the multiple that `1
    /// / V` is.
    groups: Vec<(usize, BigInt)>,
    /// For every shift, how far each noise is shifted, in multiples.
    moves: Moves,
    /// The common divisor of all `P_ij`.
    below: BigInt,
}

enum Moves {
    Short(Vec<Vec<i64>>),
    Long(Vec<Vec<BigInt>>),
}

impl Shifts {
    /// # Errors
    /// [`crate::ProgramError::Witness`] for a shift of a value that is not a noise,
    /// [`crate::ProgramError::NotFinite`].
    pub(super) fn new(program: &Program, shifts: &[Witness]) -> Result<Self, Error> {
        let noise = |value: Value| -> Result<&Noise, Error> {
            match program.values.get(value.index()) {
                Some(Definition::Noise(k)) => Ok(&program.noises[*k]),
                _ => Err(super::refused(format!("value {} is no noise", value.index()))),
            }
        };
        // Groups the noises by variance, and puts all moves over one divisor.
        let (mut moved, mut common) = (BTreeSet::new(), BigInt::one());
        for (value, by) in shifts.iter().flat_map(|shift| &shift.terms) {
            let by = by.exact("a weight")?;
            if !by.is_zero() {
                common = least_common_multiple(common, by.denom());
                moved.insert(*value);
            }
        }
        let mut variances: BTreeMap<&BigRational, Vec<usize>> = BTreeMap::new();
        for value in moved {
            variances.entry(&noise(value)?.variance).or_default().push(value.index());
        }
        let tops = variances.keys().fold(BigInt::one(), |tops, x| least_common_multiple(tops, x.numer()));
        let (mut count, mut groups, mut places) = (0, Vec::new(), BTreeMap::new());
        for (variance, noises) in &variances {
            places.extend(noises.iter().copied().zip(count..));
            count += noises.len();
            groups.push((count, variance.denom() * (&tops / variance.numer())));
        }
        let moves = match moves_of(shifts, &places, |x| short_multiple(x, &common))? {
            Some(rows) => Moves::Short(rows),
            None => {
                let multiple = |x: &BigRational| Some(x.numer() * (&common / x.denom()));
                Moves::Long(moves_of(shifts, &places, multiple)?.unwrap_or_default())
            }
        };
        Ok(Self { groups, moves, below: tops * &common * &common })
    }

    /// The number of shifts.
    fn len(&self) -> usize {
        match &self.moves {
            Moves::Short(rows) => rows.len(),
            Moves::Long(rows) => rows.len(),
        }
    }

    /// `P_ij`, in multiples.
    fn product(&self, i: usize, j: usize) -> BigInt {
        let (mut start, mut total) = (0, BigInt::zero());
        for (end, price) in &self.groups {
            let sum = match &self.moves {
                Moves::Short(rows) => {
                    let pairs = rows[i][start..*end].iter().zip(&rows[j][start..*end]);
                    sum_of_products(pairs)
                }
                Moves::Long(rows) => {
                    let pairs = rows[i][start..*end].iter().zip(&rows[j][start..*end]);
                    pairs.filter(|(a, b)| !a.is_zero() && !b.is_zero()).map(|(a, b)| a * b).sum::<BigInt>()
                }
            };
            total += sum * price;
            start = *end;
        }
        total
    }

    /// The shift with the largest cost, and this cost `P_ii`.
    pub(super) fn largest(&self) -> Option<(usize, BigRational)> {
        let all = (0..self.len()).map(|i| (self.product(i, i), i));
        let (cost, i) = all.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        Some((i, BigRational::new(cost, self.below.clone())))
    }

    /// All `P_ij`.
    pub(super) fn costs(&self) -> Costs {
        let mut entries: Vec<Vec<BigInt>> = Vec::with_capacity(self.len());
        for i in 0..self.len() {
            let mut row: Vec<BigInt> = (0..=i).map(|j| self.product(i, j)).collect();
            // The earlier entries follow by symmetry.
            entries.iter_mut().zip(&row).for_each(|(before, x)| before.push(x.clone()));
            row.reserve(self.len() - row.len());
            entries.push(row);
        }
        Costs { entries, below: self.below.clone() }
    }
}

/// The sum of products. Their upper and lower halves are added separately, so that no sum overflows.
fn sum_of_products<'a>(pairs: impl Iterator<Item = (&'a i64, &'a i64)>) -> BigInt {
    let (upper, lower) = pairs.fold((0i128, 0u128), |(upper, lower), (&a, &b)| {
        let product = i128::from(a) * i128::from(b);
        (upper + (product >> 64), lower + (product.cast_unsigned() & u128::from(u64::MAX)))
    });
    (BigInt::from(upper) << 64) + BigInt::from(lower)
}

/// A row of moves for each shift, with one entry for every noise; `None` if one is out of range.
fn moves_of<N: Clone + Zero>(
    shifts: &[Witness],
    places: &BTreeMap<usize, usize>,
    multiple: impl Fn(&BigRational) -> Option<N>,
) -> Result<Option<Vec<Vec<N>>>, Error> {
    let row = |shift: &Witness| -> Result<Option<Vec<N>>, Error> {
        let mut row = vec![N::zero(); places.len()];
        for (value, by) in &shift.terms {
            if let Some(&place) = places.get(&value.index()) {
                let Some(by) = multiple(by.exact("a weight")?) else { return Ok(None) };
                row[place] = by;
            }
        }
        Ok(Some(row))
    };
    shifts.iter().map(row).collect()
}

/// `x` times a multiple of its divisor.
fn short_multiple(x: &BigRational, common: &BigInt) -> Option<i64> {
    let factor = common.to_i128()?.checked_div(x.denom().to_i64()?.into())?;
    i64::try_from(factor.checked_mul(x.numer().to_i64()?.into())?).ok()
}

/// A matrix of costs, in multiples.
pub(super) struct Costs {
    pub(super) entries: Vec<Vec<BigInt>>,
    pub(super) below: BigInt,
}

impl Costs {
    /// `Σ |P_ij|`.
    pub(super) fn sum_of_sizes(&self) -> BigRational {
        BigRational::new(self.entries.iter().flatten().map(Signed::abs).sum(), self.below.clone())
    }

    /// A diagonal `D` for which `D - P` is positive semidefinite: the best one that floating point finds,
    /// increased until integers prove it; `None` if that does not succeed.
    pub(super) fn covering(&self) -> Option<Vec<BigRational>> {
        let k = self.entries.len();
        if k > MAX_COVERED {
            return None;
        }
        let center = floats(&self.entries, &self.below);
        let scale = center.diag().fold(0.0, |most: f64, x| most.max(*x));
        if !(scale > 0.0 && center.iter().all(|x| x.is_finite())) {
            return None;
        }
        let part = Part { center: Some(center), radius: Array2::zeros((k, k)), structural: Vec::new() };
        let diagonal = majorant(&part);
        let width = power_below(scale * GRID);
        (0..TRIES).find_map(|attempt| {
            let more = scale * MARGIN * 8.0_f64.powi(attempt);
            let up = |x: &f64| BigRational::from_float(((x + more) / width).ceil() * width);
            let diagonal: Vec<BigRational> = diagonal.iter().map(up).collect::<Option<_>>()?;
            self.are_covered_by(&diagonal).then_some(diagonal)
        })
    }

    /// Whether integers prove that `D - P` is positive semidefinite: it is `L Lᵀ + E`, where `L` is a
    /// floating-point factor rounded to short numbers, and `E` is diagonally dominant. A matrix without any
    /// margin is not proven.
    pub(super) fn are_covered_by(&self, diagonal: &[BigRational]) -> bool {
        let common = diagonal.iter().fold(self.below.clone(), |d, x| least_common_multiple(d, x.denom()));
        let factor = &common / &self.below;
        let mut rest: Vec<Vec<BigInt>> =
            self.entries.iter().map(|row| row.iter().map(|x| -(x * &factor)).collect()).collect();
        for (i, x) in diagonal.iter().enumerate() {
            rest[i][i] += x.numer() * (&common / x.denom());
        }
        let mut matrix = floats(&rest, &common);
        let scale = matrix.diag().fold(0.0, |most: f64, x| most.max(*x));
        matrix.diag_mut().iter_mut().for_each(|x| *x -= scale * MARGIN / 4.0);
        if !(scale > 0.0 && matrix.iter().all(|x| x.is_finite())) {
            return false;
        }
        let Ok(factor) = cholesky(matrix.view()) else { return false };
        // Integer multiples of a power of 2, with about 50 bits.
        let width = power_below(scale.sqrt()) * 2.0_f64.powi(-48);
        let lower = factor.lower().mapv(|x| i128::from(integer((x / width).round())));
        leaves_dominant(&rest, &common, &lower, integer(-2.0 * width.log2()))
    }
}

/// Whether every diagonal entry of `R / below - L Lᵀ / 2^bits`, for integers `R` and a lower triangular `L`,
/// is at least the sum of the absolute values of the other entries in its row.
pub(super) fn leaves_dominant(rest: &[Vec<BigInt>], below: &BigInt, lower: &Array2<i128>, bits: i64) -> bool {
    let left = |i: usize, j: usize| -> BigInt {
        let product: i128 = (0..=i.min(j)).map(|c| lower[(i, c)] * lower[(j, c)]).sum();
        let product = below * product;
        // All terms over the same power of 2.
        match u64::try_from(bits) {
            Ok(bits) => (&rest[i][j] << bits) - product,
            Err(_) => &rest[i][j] - (product << bits.unsigned_abs()),
        }
    };
    (0..rest.len()).all(|i| {
        let others: BigInt = (0..rest.len()).filter(|&j| j != i).map(|j| left(i, j).abs()).sum();
        left(i, i) >= others
    })
}

fn floats(entries: &[Vec<BigInt>], below: &BigInt) -> Array2<f64> {
    let float = |x: &BigInt| BigRational::new_raw(x.clone(), below.clone()).to_f64().unwrap_or(f64::NAN);
    Array2::from_shape_fn((entries.len(), entries.len()), |(i, j)| float(&entries[i][j]))
}

/// A power of 2 that is at most a positive number, and more than a quarter of it.
fn power_below(x: f64) -> f64 {
    2.0_f64.powf((x.log2() - 0.5).floor())
}

/// The largest number of uses for which a diagonal is sought.
const MAX_COVERED: usize = 256;
/// The first increase of a diagonal, and the width of the grid to which it is rounded, relative to the
/// largest cost.
const MARGIN: f64 = 1e-10;
const GRID: f64 = 1e-11;
/// The largest number of times that a diagonal is increased.
const TRIES: i32 = 6;
