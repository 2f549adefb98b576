//! Witnesses in exact arithmetic: for independent rows with `S = R V Rᵀ`, the solution of `S y = b` is the
//! best attack, and `V Rᵀ y` is the corresponding shift of the noises.
//!
//! Which rows are independent is decided modulo a prime, the system is solved modulo powers of it, and ratios
//! are recovered from the solution (Dixon 1982). No result rests on the prime: integers check that the ratios
//! solve the system, and that the shift equals the change in all rows, including those that were left out.

use crate::Program;
use crate::observers::Seen;
use crate::registers::Primitive;
use crate::weight::over;
use ndp_certify::divisor::least_common_multiple;
use ndp_certify::field::{Field, Fingerprint};
use ndp_numeric::stop::{Stop, Stopped, work};
use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The result of elimination for a change.
pub(super) enum Outcome {
    /// The rows and weights of the best attack; and the noises with their shifts.
    Found(Vec<(usize, BigRational)>, BTreeMap<usize, BigRational>),
    /// Some combination of rows shows the change without noise.
    Shown,
    /// The numbers would be too long: the number of independent rows, and the bits of a number.
    TooLong { rank: usize, bits: u64 },
}

/// Rows and shifts as integers.
struct System {
    /// The noise of each column.
    noises: Vec<usize>,
    /// Variance of every column, times `common`.
    variances: Vec<BigInt>,
    common: BigInt,
    /// Rows times their scale.
    rows: Vec<Vec<(usize, BigInt)>>,
    shifts: Vec<BigInt>,
    scales: Vec<BigInt>,
}

/// The attack and the shift for a change of the rows by `shifts`.
///
/// # Errors
/// [`Stopped`].
pub(super) fn witness(
    program: &Program,
    seen: &Seen,
    shifts: &[BigRational],
    stop: &Stop,
) -> Result<Outcome, Stopped> {
    let system = System::new(program, seen, shifts);
    let (rows, columns) = (system.rows.len(), system.noises.len());
    let most = rows.min(columns);
    if rows.saturating_mul(most).saturating_mul(columns) > MAX_ELIMINATION {
        return Ok(Outcome::TooLong { rank: most, bits: 0 });
    }
    let mut fingerprint = Fingerprint::new("witness");
    fingerprint.number(rows as u64);
    fingerprint.number(columns as u64);
    let mut primes = fingerprint.finish();
    let mut drawn = Vec::new();
    for _ in 0..DRAWS {
        let prime = primes.draw(&drawn);
        drawn.push(prime);
        let field = Field::new(prime);
        let Some(kept) = system.independent(field, stop)? else { continue };
        let matrix = system.covariance(&kept);
        let right: Vec<BigInt> = kept.iter().map(|&r| system.shifts[r].clone()).collect();
        let (rank, bits) = (kept.len(), bits_of_solution(&matrix, &right));
        let nanoseconds = cost(rank, bits, &matrix);
        if nanoseconds > MAX_COST {
            return Ok(Outcome::TooLong { rank, bits });
        }
        stop.spend(nanoseconds)?;
        let Some((solution, below)) = solve(&matrix, &right, field, bits, stop)? else { continue };
        if let Some((attack, moved)) = system.pair(&kept, &solution, &below) {
            let moved = moved.into_iter().map(|(column, x)| (system.noises[column], x));
            return Ok(Outcome::Found(attack, moved.collect()));
        }
    }
    Ok(Outcome::Shown)
}

impl System {
    fn new(program: &Program, seen: &Seen, shifts: &[BigRational]) -> Self {
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for (primitive, _) in seen.rows.iter().flat_map(|row| &row.form) {
            if let Primitive::Noise(k) = primitive {
                columns.insert(*k, 0);
            }
        }
        // Ascending, as the entries of a row are.
        columns.values_mut().enumerate().for_each(|(at, column)| *column = at);
        let noises: Vec<usize> = columns.keys().copied().collect();
        let variance = |k: &usize| &program.noises[*k].variance;
        let common = noises.iter().fold(BigInt::one(), |d, k| least_common_multiple(d, variance(k).denom()));
        let whole = |x: &BigRational, scale: &BigInt| x.numer() * (scale / x.denom());
        let variances = noises.iter().map(|k| whole(variance(k), &common)).collect();
        let scaled = |(row, shift): (&crate::observers::SeenRow, &BigRational)| {
            let entries = row.form.iter().filter_map(|(primitive, x)| match primitive {
                Primitive::Noise(k) => Some((columns[k], x)),
                Primitive::Contribution(_) => None,
            });
            let entries: Vec<(usize, &BigRational)> = entries.collect();
            let scale =
                entries.iter().fold(shift.denom().clone(), |d, (_, x)| least_common_multiple(d, x.denom()));
            let whole_row = entries.into_iter().map(|(column, x)| (column, whole(x, &scale))).collect();
            (whole_row, whole(shift, &scale), scale)
        };
        let all: Vec<_> = seen.rows.par_iter().zip(shifts).map(scaled).collect();
        let mut system =
            Self { noises, variances, common, rows: Vec::new(), shifts: Vec::new(), scales: Vec::new() };
        for (row, shift, scale) in all {
            system.rows.push(row);
            system.shifts.push(shift);
            system.scales.push(scale);
        }
        system
    }

    /// Rows that are independent modulo a prime, and include every row before the first one that depends on
    /// them; `None` if a combination shows the change without noise.
    fn independent(&self, field: Field, stop: &Stop) -> Result<Option<Vec<usize>>, Stopped> {
        let m = self.noises.len();
        let mut reduced: Vec<(usize, Vec<u64>)> = Vec::new();
        let mut kept = Vec::new();
        for (r, entries) in self.rows.iter().enumerate() {
            stop.spend(work([reduced.len() + 1, m + 1]))?;
            let mut row = vec![0; m + 1];
            entries.iter().for_each(|(column, x)| row[*column] = residue(field, x));
            row[m] = residue(field, &self.shifts[r]);
            for (pivot, before) in &reduced {
                let factor = row[*pivot];
                if factor != 0 {
                    let pairs = row.iter_mut().zip(before).skip(*pivot);
                    pairs.for_each(|(x, y)| *x = field.minus(*x, field.times(factor, *y)));
                }
            }
            match row[..m].iter().position(|&x| x != 0) {
                Some(pivot) => {
                    let inverse = field.inverse_of(row[pivot]);
                    row.iter_mut().for_each(|x| *x = field.times(*x, inverse));
                    reduced.push((pivot, row));
                    kept.push(r);
                }
                None if row[m] != 0 => return Ok(None),
                None => {}
            }
        }
        Ok(Some(kept))
    }

    fn covariance(&self, kept: &[usize]) -> Vec<Vec<BigInt>> {
        let product = |i: usize, j: usize| {
            let (mut a, mut b) = (self.rows[i].iter().peekable(), self.rows[j].iter().peekable());
            let mut sum = BigInt::zero();
            while let (Some((k, x)), Some((l, y))) = (a.peek(), b.peek()) {
                match k.cmp(l) {
                    std::cmp::Ordering::Less => drop(a.next()),
                    std::cmp::Ordering::Greater => drop(b.next()),
                    std::cmp::Ordering::Equal => {
                        sum += x * y * &self.variances[*k];
                        a.next();
                        b.next();
                    }
                }
            }
            sum
        };
        let lower: Vec<Vec<BigInt>> = (0..kept.len())
            .into_par_iter()
            .map(|i| (0..=i).map(|j| product(kept[i], kept[j])).collect())
            .collect();
        let entry = |i: usize, j: usize| lower[i.max(j)][i.min(j)].clone();
        (0..kept.len()).map(|i| (0..kept.len()).map(|j| entry(i, j)).collect()).collect()
    }

    /// The attack and the shift that belong to a solution; `None` if the shift differs from the change in
    /// some row.
    fn pair(&self, kept: &[usize], solution: &[BigInt], below: &BigInt) -> Option<Pair> {
        let mut moved = vec![BigInt::zero(); self.noises.len()];
        for (&r, y) in kept.iter().zip(solution).filter(|(_, y)| !y.is_zero()) {
            self.rows[r].iter().for_each(|(column, x)| moved[*column] += x * y);
        }
        moved.iter_mut().zip(&self.variances).for_each(|(x, v)| *x *= v);
        let looks_alike = |(row, shift): (&Vec<(usize, BigInt)>, &BigInt)| {
            row.iter().map(|(column, x)| x * &moved[*column]).sum::<BigInt>() == shift * below
        };
        if !self.rows.par_iter().zip(&self.shifts).all(looks_alike) {
            return None;
        }
        let attack = kept.iter().zip(solution).filter(|(_, y)| !y.is_zero());
        let attack = attack.map(|(&r, y)| (r, over(y * &self.common * &self.scales[r], below)));
        let moved = moved.into_iter().enumerate().filter(|(_, x)| !x.is_zero());
        Some((attack.collect(), moved.map(|(column, x)| (column, over(x, below))).collect()))
    }
}

type Pair = (Vec<(usize, BigRational)>, Vec<(usize, BigRational)>);

/// An integer modulo the prime of a field.
fn residue(field: Field, x: &BigInt) -> u64 {
    let size = (x.magnitude() % field.prime()).to_u64().unwrap_or(0);
    let size = field.integer(size);
    if x.is_negative() { field.minus(0, size) } else { size }
}

/// An upper bound on the bits of numerator and denominator of the solution together (Hadamard).
fn bits_of_solution(matrix: &[Vec<BigInt>], right: &[BigInt]) -> u64 {
    let longest = right.iter().map(BigInt::bits).max().unwrap_or(0);
    let width = u64::from(matrix.len().checked_ilog2().unwrap_or(0)) / 2 + 1;
    matrix.iter().map(|row| 2 * (row.iter().map(BigInt::bits).max().unwrap_or(0) + width)).sum::<u64>()
        + longest
        + 4 * SPARE
}

/// The approximate time that a solution takes, in nanoseconds.
fn cost(rank: usize, bits: u64, matrix: &[Vec<BigInt>]) -> u64 {
    let longest = matrix.iter().flatten().map(BigInt::bits).max().unwrap_or(0) / 64;
    let squares = (rank as u64).saturating_mul(rank as u64);
    squares.saturating_mul(bits / 60 + rank as u64).saturating_mul(60 + 4 * longest)
}

/// The solution of a symmetric system, as numerators over one denominator, checked; `None` if the prime
/// divides its determinant.
fn solve(
    matrix: &[Vec<BigInt>],
    right: &[BigInt],
    field: Field,
    bits: u64,
    stop: &Stop,
) -> Result<Option<(Vec<BigInt>, BigInt)>, Stopped> {
    let Some(inverse) = inverse(matrix, field) else { return Ok(None) };
    let prime = BigInt::from(field.prime());
    let n = matrix.len();
    let mut rest = right.to_vec();
    let mut digits: Vec<Vec<u64>> = vec![Vec::new(); n];
    let mut next = 4;
    // One power more than a solution with this many bits needs.
    let last = bits / 60 + 2;
    for step in 1..=last {
        // The work was counted before.
        stop.check()?;
        let residues: Vec<u64> = rest.iter().map(|x| residue(field, x)).collect();
        let digit: Vec<u64> = inverse
            .par_iter()
            .map(|row| {
                let sum =
                    row.iter().zip(&residues).fold(0, |sum, (a, x)| field.plus(sum, field.times(*a, *x)));
                field.times(sum, 1)
            })
            .collect();
        rest = (matrix.par_iter().zip(&rest)).map(|(row, rest)| (rest - dot(row, &digit)) / &prime).collect();
        digits.iter_mut().zip(digit).for_each(|(all, digit)| all.push(digit));
        if step == next || step == last {
            next += next.div_ceil(2);
            if let Some(found) = ratios(&digits, &prime)
                && matrix.iter().zip(right).all(|(row, b)| {
                    row.iter().zip(&found.0).map(|(a, x)| a * x).sum::<BigInt>() == b * &found.1
                })
            {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

fn dot(row: &[BigInt], digit: &[u64]) -> BigInt {
    let (mut plus, mut minus) = (BigUint::zero(), BigUint::zero());
    for (a, &x) in row.iter().zip(digit) {
        match a.sign() {
            Sign::Plus => plus += a.magnitude() * x,
            Sign::Minus => minus += a.magnitude() * x,
            Sign::NoSign => {}
        }
    }
    BigInt::from(plus) - BigInt::from(minus)
}

fn inverse(matrix: &[Vec<BigInt>], field: Field) -> Option<Vec<Vec<u64>>> {
    let n = matrix.len();
    let mut rows: Vec<Vec<u64>> = matrix
        .par_iter()
        .enumerate()
        .map(|(i, row)| {
            let mut row: Vec<u64> = row.iter().map(|x| residue(field, x)).collect();
            row.resize(2 * n, 0);
            row[n + i] = field.integer(1);
            row
        })
        .collect();
    for column in 0..n {
        let found = (column..n).find(|&i| rows[i][column] != 0)?;
        rows.swap(column, found);
        let scale = field.inverse_of(rows[column][column]);
        rows[column].iter_mut().for_each(|x| *x = field.times(*x, scale));
        let pivot = rows[column].clone();
        rows.par_iter_mut().enumerate().for_each(|(i, row)| {
            let factor = row[column];
            if i != column && factor != 0 {
                let pairs = row.iter_mut().zip(&pivot).skip(column);
                pairs.for_each(|(x, y)| *x = field.minus(*x, field.times(factor, *y)));
            }
        });
    }
    rows.iter_mut().for_each(|row| drop(row.drain(..n)));
    Some(rows)
}

/// Ratios with these digits in the base of a prime, over one denominator; `None` if there are no short ones.
fn ratios(digits: &[Vec<u64>], prime: &BigInt) -> Option<(Vec<BigInt>, BigInt)> {
    let steps = digits.first()?.len();
    let mut powers = vec![prime.clone()];
    while 1 << powers.len() < steps {
        let last = &powers[powers.len() - 1];
        powers.push(last * last);
    }
    let modulus = num_traits::pow(prime.clone(), steps);
    let most = modulus.bits() / 2 - 2;
    let mut numerators: Vec<BigInt> = Vec::with_capacity(digits.len());
    let mut below = BigInt::one();
    for digits in digits {
        let x = number(digits, &powers) * &below % &modulus;
        let x = if &x + &x > modulus { x - &modulus } else { x };
        if x.bits() + SPARE <= most {
            numerators.push(x);
            continue;
        }
        let (above, more) = ratio(&x, &modulus, most)?;
        below *= &more;
        if below.bits() + SPARE > most {
            return None;
        }
        numerators.iter_mut().for_each(|y| *y *= &more);
        numerators.push(above);
    }
    Some((numerators, below))
}

/// The number with these digits, by recursion on halves.
fn number(digits: &[u64], powers: &[BigInt]) -> BigInt {
    match digits {
        [] => BigInt::zero(),
        [digit] => BigInt::from(*digit),
        _ => {
            let level = (digits.len() - 1).ilog2() as usize;
            let (low, high) = digits.split_at(1 << level);
            number(low, powers) + number(high, powers) * &powers[level]
        }
    }
}

/// The ratio that equals `x` modulo `modulus`, with a numerator of at most `most` bits and a positive
/// denominator that is at least `SPARE` bits shorter than that.
fn ratio(x: &BigInt, modulus: &BigInt, most: u64) -> Option<(BigInt, BigInt)> {
    let (mut a, mut b) = (modulus.clone(), if x.is_negative() { x + modulus } else { x.clone() });
    let (mut s, mut t) = (BigInt::zero(), BigInt::one());
    while b.bits() > most {
        let quotient = &a / &b;
        let rest = a - &quotient * &b;
        let next = &s - &quotient * &t;
        (a, b) = (b, rest);
        (s, t) = (t, next);
    }
    if t.is_zero() || t.bits() + SPARE > most {
        return None;
    }
    Some(if t.is_negative() { (-b, -t) } else { (b, t) })
}

/// The number of primes that are tried before a change counts as shown.
const DRAWS: usize = 3;
/// A solution must be shorter than an arbitrary residue by this number of bits.
const SPARE: u64 = 40;
/// The largest number of operations of the elimination.
const MAX_ELIMINATION: usize = 20_000_000_000;
/// The longest time of a solution, in nanoseconds.
const MAX_COST: u64 = 200_000_000_000;
