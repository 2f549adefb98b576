//! Witnesses from sparse systems: an attack in short numbers, and a shift of the noises that is exact because
//! the rows' own noises absorb the rounding.

use super::covariance::Covariance;
use super::rounded;
use super::solve::{Scratch, Solved};
use crate::build::Program;
use crate::observers::{Seen, SeenRow};
use crate::registers::Primitive;
use crate::weight::float;
use ndp_account::Error;
use ndp_certify::divisor::least_common_multiple;
use ndp_numeric::stop::{Stop, Stopped};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, One, Zero};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The rows and weights of an attack; and the noises that are shifted, with their shifts.
pub(crate) type Witness = (Vec<(usize, f64)>, BTreeMap<usize, BigRational>);

/// What was seen, prepared for witnesses of any number of changes: the covariance, and the rows as integers.
pub(crate) struct Ready {
    covariance: Covariance,
    shared: Vec<SharedNoise>,
    rows: Vec<WholeRow>,
}

/// A noise that occurs in more than one row.
struct SharedNoise {
    number: usize,
    variance: f64,
    /// Its rows and coefficients.
    rows: Vec<(usize, f64)>,
}

/// The noises of a row: those that it shares with other rows, by index among the shared ones and multiplied
/// by a scale, and the cheapest one of its own.
struct WholeRow {
    scale: BigInt,
    shared: Vec<(usize, BigInt)>,
    own: (usize, BigRational),
}

impl Ready {
    /// `None` if the view does not have the required structure.
    ///
    /// # Errors
    /// [`ndp_graph::Error::TooLarge`] beyond the memory limit.
    pub(crate) fn new(
        program: &Program,
        seen: &Seen,
        memory: u64,
        stop: &Stop,
    ) -> Result<Option<Self>, Error> {
        let Some(covariance) = Covariance::new(program, seen, memory, stop)? else { return Ok(None) };
        let mut of_noise: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for (r, row) in seen.rows.iter().enumerate() {
            for (primitive, x) in &row.form {
                if let Primitive::Noise(k) = primitive {
                    of_noise.entry(*k).or_default().push((r, float(x)));
                }
            }
        }
        let of_several = of_noise.into_iter().filter(|(_, rows)| rows.len() > 1);
        let noise = |(number, rows): (usize, Vec<(usize, f64)>)| {
            let variance = float(&program.noises[number].variance);
            SharedNoise { number, variance, rows }
        };
        let shared: Vec<SharedNoise> = of_several.map(noise).collect();
        let places: BTreeMap<usize, usize> =
            (0..).zip(&shared).map(|(at, noise)| (noise.number, at)).collect();
        let whole = |row: &SeenRow| -> Option<WholeRow> {
            let (mut scale, mut own) = (BigInt::one(), None::<(usize, BigRational, BigRational)>);
            let mut parts: Vec<(usize, &BigRational)> = Vec::new();
            for (primitive, x) in &row.form {
                let Primitive::Noise(k) = primitive else { continue };
                if let Some(&at) = places.get(k) {
                    scale = least_common_multiple(scale, x.denom());
                    parts.push((at, x));
                    continue;
                }
                let share = x * x * &program.noises[*k].variance;
                if own.as_ref().is_none_or(|(.., most)| *most < share) {
                    own = Some((*k, x.clone(), share));
                }
            }
            let shared = parts.into_iter().map(|(at, x)| (at, x.numer() * (&scale / x.denom()))).collect();
            own.map(|(k, x, _)| WholeRow { scale, shared, own: (k, x) })
        };
        let rows: Option<Vec<WholeRow>> = seen.rows.par_iter().map(whole).collect();
        Ok(rows.map(|rows| Self { covariance, shared, rows }))
    }

    /// A combination of rows that attacks a change, and a shift of the noises that has exactly the same
    /// effect in every row: the rows' own noises absorb the residual of the attack. Numbers are first rounded
    /// to a grid, and to a finer one if the two witnesses prove losses that are too far apart. `None` if
    /// numbers are out of range.
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn witness(
        &self,
        program: &Program,
        shifts: &[BigRational],
        stop: &Stop,
    ) -> Result<Option<Witness>, Stopped> {
        or_none(self.found(program, shifts, stop))
    }

    fn found(
        &self,
        program: &Program,
        shifts: &[BigRational],
        stop: &Stop,
    ) -> Result<Witness, Option<Stopped>> {
        let exact: Vec<(u32, &BigRational)> = (0u32..).zip(shifts).filter(|(_, x)| !x.is_zero()).collect();
        let b = rounded(&exact).ok_or(None)?;
        let solved = Scratch::new(self.covariance.len()).solve(&self.covariance, &[&b], CLOSE, stop);
        let attack = solved.map_err(Some)?.first().map(Solved::combination).ok_or(None)?;
        let mut y = vec![0.0; self.rows.len()];
        attack.iter().for_each(|&(r, x)| y[r] = x);
        let low: f64 = b.iter().map(|&(r, x, _)| x * y[r as usize]).sum();
        let image =
            |noise: &SharedNoise| noise.variance * noise.rows.iter().map(|(r, x)| x * y[*r]).sum::<f64>();
        let images: Vec<f64> = self.shared.iter().map(image).collect();
        let mut found = None;
        for bits in GRIDS {
            let moved = self.absorbed(&images, shifts, bits).ok_or(None)?;
            let price =
                |(k, x): (&usize, &BigRational)| float(x).powi(2) / float(&program.noises[*k].variance);
            let high: f64 = moved.iter().map(price).sum();
            found = Some((short(attack.iter().copied(), bits).collect(), moved));
            if (high - low).abs() <= APART * high {
                break;
            }
        }
        found.ok_or(None)
    }

    /// The shift of all noises: shared noises move as computed, on a grid, and own noises absorb the rest.
    fn absorbed(
        &self,
        images: &[f64],
        shifts: &[BigRational],
        bits: i32,
    ) -> Option<BTreeMap<usize, BigRational>> {
        let width = grid(images.iter().copied(), bits);
        let unit = BigRational::from_float(width)?;
        let steps: Option<Vec<BigInt>> =
            images.iter().map(|x| BigInt::from_f64((x / width).round())).collect();
        let steps = steps?;
        let mut moved: BTreeMap<usize, BigRational> = BTreeMap::new();
        for (noise, step) in self.shared.iter().zip(&steps).filter(|(_, step)| !step.is_zero()) {
            moved.insert(noise.number, &unit * step);
        }
        for (row, shift) in self.rows.iter().zip(shifts) {
            let sum: BigInt = row.shared.iter().map(|(at, x)| x * &steps[*at]).sum();
            if sum.is_zero() && shift.is_zero() {
                continue;
            }
            let rest = shift - BigRational::new(sum * unit.numer(), &row.scale * unit.denom());
            if !rest.is_zero() {
                moved.insert(row.own.0, rest / &row.own.1);
            }
        }
        Some(moved)
    }
}

/// The width of a grid on which the largest number has this many bits. Numbers on the grid are short, and the
/// error of what they prove is the square of the rounding.
pub(crate) fn grid(numbers: impl Iterator<Item = f64>, bits: i32) -> f64 {
    let largest = numbers.fold(0.0, |most: f64, x| most.max(x.abs()));
    let top = ndp_numeric::casts::integer(largest.log2().floor().clamp(-900.0, 900.0));
    2.0_f64.powi(i32::try_from(top).unwrap_or(0) - bits)
}

/// The weights on a grid, without those that are 0 there.
pub(crate) fn short<K>(
    weights: impl Iterator<Item = (K, f64)> + Clone,
    bits: i32,
) -> impl Iterator<Item = (K, f64)> {
    let width = grid(weights.clone().map(|(_, x)| x), bits);
    weights.map(move |(key, x)| (key, (x / width).round() * width)).filter(|(_, x)| *x != 0.0)
}

/// The bits of the largest number of a witness: few at first.
pub(crate) const GRIDS: [i32; 3] = [20, 30, 48];
/// The largest distance between what the two short witnesses prove, relative to the loss.
pub(crate) const APART: f64 = 1e-9;
/// The residual that a solve may leave.
const CLOSE: f64 = 1e-12;

/// An error without a reason becomes `None`.
pub(crate) fn or_none<T>(found: Result<T, Option<Stopped>>) -> Result<Option<T>, Stopped> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(None) => Ok(None),
        Err(Some(stopped)) => Err(stopped),
    }
}
