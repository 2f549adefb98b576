//! Vectors in fixed point as the inner loops read them: eight coordinates at a time, limb by limb.
//!
//! What is computed with whole vectors is stated here in integers, without any rounding of its own, and
//! computed by one of two sets of loops: `plain` for any machine and `ifma` for processors that multiply
//! eight numbers of 52 bits at a time. Both give the same integers, so the bits of a result do not depend on
//! the machine.
//!
//! A number of `L` limbs is stored with `2^(64 L - 1)` added, so that all its limbs count upwards; the loops
//! take what that adds to a sum or to a product off again, exactly.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "limbs are cut out of wider numbers, modulo 2^64 on purpose, and counts of limbs and bits are small"
)]

mod beside;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod plain;

pub(crate) use beside::Room;

use crate::fixed::{self, Fixed, places};
use crate::lanes::{Early, Named, Row};
use crate::magnitude::power_of_two;
use crate::wide::Wide;
use rayon::prelude::*;
use std::sync::OnceLock;

/// A vector of numbers of some limbs each.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    limbs: usize,
    /// Blocks of eight coordinates, `limbs` rows each. Coordinates beyond the last one are 0.
    rows: Vec<Row>,
    length: usize,
    /// The sums of the stored limbs over all coordinates, once they were asked for.
    totals: OnceLock<Vec<u128>>,
}

impl Packed {
    /// The vector 0.
    pub(crate) fn zeros(limbs: usize, length: usize) -> Self {
        let mut rows = vec![Row::ZERO; limbs * length.div_ceil(8)];
        rows.chunks_exact_mut(limbs).for_each(|block| block[limbs - 1] = Row([BIAS; 8]));
        Self { limbs, rows, length, totals: OnceLock::new() }
    }

    /// A vector with one number that is 1, all others 0.
    pub(crate) fn unit(limbs: usize, length: usize, at: usize) -> Self {
        let mut unit = Self::zeros(limbs, length);
        unit.rows[at / 8 * limbs + limbs - 1].0[at % 8] |= 1 << (places(limbs) % 64);
        unit
    }

    pub(crate) fn of<const L: usize>(numbers: &[Fixed<L>]) -> Self {
        let mut packed = Self::zeros(L, numbers.len());
        for (block, numbers) in packed.rows.chunks_exact_mut(L).zip(numbers.chunks(8)) {
            for (lane, x) in numbers.iter().enumerate() {
                block.iter_mut().zip(x).for_each(|(row, &limb)| row.0[lane] = limb);
                block[L - 1].0[lane] ^= BIAS;
            }
        }
        packed
    }

    /// The numbers, which have `L` limbs.
    pub(crate) fn unpacked<const L: usize>(&self) -> Vec<Fixed<L>> {
        (0..self.length).map(|at| self.get(at)).collect()
    }

    /// One of the numbers, which have `L` limbs.
    pub(crate) fn get<const L: usize>(&self, at: usize) -> Fixed<L> {
        std::array::from_fn(|j| self.limb(at, j))
    }

    /// Limb `j` of a number in two's complement.
    fn limb(&self, at: usize, j: usize) -> u64 {
        let stored = self.rows[at / 8 * self.limbs + j].0[at % 8];
        if j + 1 == self.limbs { stored ^ BIAS } else { stored }
    }

    /// The [digits](fixed::digits) of one of the numbers.
    pub(crate) fn digits(&self, at: usize) -> i64 {
        let mut limbs = [0; MOST];
        let limbs = &mut limbs[..self.limbs];
        limbs.iter_mut().enumerate().for_each(|(j, limb)| *limb = self.limb(at, j));
        fixed::digits(limbs)
    }

    /// Clears the last bits of every number, which rounds it down.
    pub(crate) fn cut(&mut self, bits: u32) {
        self.totals = OnceLock::new();
        let (whole, bits) = ((bits / 64) as usize, bits % 64);
        for block in self.rows.chunks_exact_mut(self.limbs) {
            block[..whole].fill(Row::ZERO);
            block[whole].0.iter_mut().for_each(|x| *x = *x >> bits << bits);
        }
    }

    /// Limbs of each number.
    pub(crate) fn limbs(&self) -> usize {
        self.limbs
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The sums of the stored limbs over all coordinates, those beyond the last one among them.
    fn totals(&self) -> &[u128] {
        self.totals.get_or_init(|| {
            let limbs = self.limbs;
            let mut totals = vec![0; limbs];
            // Halves of 32 bits, added up in 64.
            for blocks in self.rows.chunks(limbs << 20) {
                let (mut low, mut high) = (vec![Row::ZERO; limbs], vec![Row::ZERO; limbs]);
                for block in blocks.chunks_exact(limbs) {
                    for ((row, low), high) in block.iter().zip(&mut low).zip(&mut high) {
                        for (lane, x) in row.0.iter().enumerate() {
                            low.0[lane] += x & u64::from(u32::MAX);
                            high.0[lane] += x >> 32;
                        }
                    }
                }
                for ((total, low), high) in totals.iter_mut().zip(low).zip(high) {
                    let sum = |row: Row| row.0.iter().map(|&x| u128::from(x)).sum::<u128>();
                    *total += sum(low) + (sum(high) << 32);
                }
            }
            totals
        })
    }
}

/// Numbers that are multiplied at a time.
pub(crate) type Eight = [u64; 8];

/// Factors and the rows that they multiply.
type Terms<'a> = [(u64, &'a [Eight])];

/// Sums of products of residues below `2^61`, for processors that multiply eight numbers of 52 bits at a
/// time. Three numbers `c` stand for `c_0 + 2^52 c_1 + 2^104 c_2`.
#[derive(Clone, Copy)]
pub(crate) struct Residues {
    /// `Σ a_j b_j` of at most [`RESIDUES`] pairs.
    pub(crate) inner: fn(&[Eight], &[Eight]) -> [u64; 3],
    /// `Σ f x` of at most [`RESIDUES`] factors `f` with eight numbers each, from number `8 · first` of the
    /// rows on. Every row must be long enough.
    pub(crate) combine: fn(&Terms<'_>, usize, &mut [[Eight; 3]]),
    /// The products of a matrix with eight vectors side by side, from a node on.
    pub(crate) products: fn(Modular<'_>, usize, &[Eight], &mut [[Eight; 3]]),
}

/// A matrix with named weights modulo a prime: `(W x)_u = o_u x_u + Σ_g i_g Σ_{v ∈ g} x_v`. A node has fewer
/// than [`RESIDUES`] groups.
#[derive(Clone, Copy)]
pub(crate) struct Modular<'a> {
    /// The groups; divisors are not used.
    pub(crate) rows: Named<'a>,
    /// The inverse of each divisor.
    pub(crate) inverses: &'a [u64],
    /// The entry on the diagonal of each row.
    pub(crate) own: &'a [u64],
}

impl Residues {
    /// The loops, if this machine can run them.
    pub(crate) fn best() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return ifma::residues();
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
}

/// The largest number of products of residues in a sum. A product adds less than `3 · 2^52` to each of the
/// three numbers.
pub(crate) const RESIDUES: usize = 1 << 10;

/// [`Named::products`] and [`Named::quotients`], compiled for some machine.
type Products = fn(Named<'_>, usize, usize, &[Row], Option<Early<'_>>, &mut [Row]);
type Quotients = fn(Named<'_>, usize, usize, &[Row], &[u32], &mut [Row]);

/// What the loops compute.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    combine: fn(&mut [Row], usize, &Combination<'_>),
    columns: fn(&[Row], &[Row], Shape) -> Vec<u128>,
    sizes: fn(&[Row], &mut [u64]),
    window: fn(&[Row], &mut [f64], Window),
    products: Products,
    quotients: Quotients,
}

impl Kernels {
    /// The loops for any machine.
    pub(crate) fn plain() -> Self {
        plain::KERNELS
    }

    /// The fastest loops of this machine.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(kernels) = ifma::kernels() {
            return kernels;
        }
        Self::plain()
    }

    /// `y ← y - ⌊2^by Σ m x⌋` for at most [`TERMS`] terms with factors below [`FACTOR`] in size, where the
    /// `drop` lowest limbs of the `x` count as 0. The sum is exact before it is rounded down.
    pub(crate) fn subtract(self, y: &mut Packed, terms: &[(&Packed, i64)], by: i64, drop: usize) {
        self.combine(y, terms, Combination { limbs: y.limbs, drop, by, into: Into::Difference, terms: &[] });
    }

    /// `⌊2^by m x⌋` for a factor below [`FACTOR`] in size.
    pub(crate) fn scaled(self, x: &Packed, m: i64, by: i64) -> Packed {
        let mut y = Packed::zeros(x.limbs, x.len());
        let what = Combination { limbs: x.limbs, drop: 0, by, into: Into::Value, terms: &[] };
        self.combine(&mut y, &[(x, m)], what);
        y
    }

    fn combine(self, y: &mut Packed, terms: &[(&Packed, i64)], what: Combination<'_>) {
        debug_assert!(terms.len() <= TERMS && terms.iter().all(|(_, m)| m.unsigned_abs() < FACTOR));
        let rows = y.rows.len();
        let terms: Vec<(&[Row], i64)> = terms.iter().map(|&(x, m)| (&x.rows[..rows], m)).collect();
        let what = Combination { terms: &terms, ..what };
        y.totals = OnceLock::new();
        let strip = STRIP * what.limbs;
        let work = |(k, y): (usize, &mut [Row])| (self.combine)(y, k * strip, &what);
        if 8 * (rows / what.limbs) * terms.len() * what.used() > PARALLEL {
            y.rows.par_chunks_mut(strip).with_min_len(4).enumerate().for_each(work);
        } else {
            y.rows.chunks_mut(strip).enumerate().for_each(work);
        }
    }

    /// `Σ x_j y_j`, leaving out the `drop` lowest limbs of both and some products of what remains, all of
    /// them of low places: see [`Shape`].
    ///
    /// No proof rests on its accuracy: any number will do as a coefficient.
    pub(crate) fn product(self, x: &Packed, y: &Packed, drop: usize) -> Wide {
        let shape = Shape::new(x.limbs, drop);
        let columns = (self.columns)(&x.rows, &y.rows, shape);
        // Places are counted from the lowest column on.
        let lowest = 52 * shape.first;
        let bias = 64 * shape.used() - 1;
        let mut sum = vec![0; 2 * shape.used() + 4];
        for (k, column) in columns.into_iter().enumerate() {
            add_at(&mut sum, column, 52 * k);
        }
        // With numbers stored as x + B, Σ x y = Σ (x + B)(y + B) - B Σ (x + B) - B Σ (y + B) + n B².
        let mut excess = vec![0; sum.len()];
        for totals in [x.totals(), y.totals()] {
            for (k, &total) in totals[drop..].iter().enumerate() {
                add_at(&mut excess, total, 64 * k + bias - lowest);
            }
        }
        add_at(&mut sum, 8 * (x.rows.len() / x.limbs) as u128, 2 * bias - lowest);
        let mut borrow = false;
        for (sum, excess) in sum.iter_mut().zip(excess) {
            let (rest, first) = sum.overflowing_sub(excess);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*sum, borrow) = (rest, first || second);
        }
        Wide::new(sum, lowest as i64 + 128 * drop as i64 - 2 * places(x.limbs))
    }

    /// The first numbers in units of `2^top`, with absolute values below 1, and `top`; `None` if all are 0.
    pub(crate) fn convert(self, x: &Packed, to: &mut [f64]) -> Option<i64> {
        let limbs = x.limbs;
        let whole = to.len() / 8;
        let parallel = to.len() > PARALLEL;
        let sizes = |rows: &[Row]| {
            let mut sizes = [0; MOST];
            (self.sizes)(rows, &mut sizes[..limbs]);
            sizes
        };
        let union = |a: [u64; MOST], b: [u64; MOST]| std::array::from_fn(|j| a[j] | b[j]);
        let rows = &x.rows[..whole * limbs];
        let mut most = if parallel {
            rows.par_chunks(8 * STRIP * limbs).map(sizes).reduce(|| [0; MOST], union)
        } else {
            sizes(rows)
        };
        for at in 8 * whole..to.len() {
            let sign = ((x.limb(at, limbs - 1) as i64) >> 63) as u64;
            most[..limbs].iter_mut().enumerate().for_each(|(j, most)| *most |= x.limb(at, j) ^ sign);
        }
        let digits = fixed::digits(&most[..limbs]);
        // A negative power of two has one digit more than counted.
        let top = digits + 1;
        let window = Window { limbs, top };
        let work = |(strip, to): (usize, &mut [f64])| {
            let first = strip * 8 * STRIP * limbs;
            (self.window)(&x.rows[first..][..to.len().div_ceil(8) * limbs], to, window);
        };
        if parallel {
            to.par_chunks_mut(64 * STRIP).enumerate().for_each(work);
        } else {
            to.chunks_mut(64 * STRIP).enumerate().for_each(work);
        }
        (digits > 0).then_some(top)
    }
}

/// `y ← y - ⌊2^by Σ m x⌋`, or `y ← ⌊2^by Σ m x⌋`.
#[derive(Clone, Copy)]
struct Combination<'a> {
    limbs: usize,
    drop: usize,
    by: i64,
    into: Into,
    terms: &'a [(&'a [Row], i64)],
}

impl Combination<'_> {
    /// Limbs that are used.
    fn used(&self) -> usize {
        self.limbs - self.drop
    }

    /// The terms with factors below 0, or the others, with the sizes of their factors.
    fn side(&self, negative: bool) -> Vec<(&[Row], u64)> {
        let side = self.terms.iter().filter(|(_, m)| (*m < 0) == negative);
        side.map(|&(x, m)| (x, m.unsigned_abs())).collect()
    }

    /// The sum of the factors, below `2^61` in size.
    fn sum(&self) -> i64 {
        self.terms.iter().map(|(_, m)| m).sum()
    }

    /// Writes eight coordinates of the result. The exact sum without the dropped limbs is `words`, in two's
    /// complement.
    #[inline(always)]
    fn write(&self, y: &mut [Row], words: &[Row]) {
        let by = self.by + 64 * self.drop as i64;
        let (whole, bits) = (by.div_euclid(64), by.rem_euclid(64) as u32);
        let sign = words.last().map_or(Row::ZERO, |top| Row(top.0.map(|x| ((x as i64) >> 63) as u64)));
        let limb = |j: i64| match usize::try_from(j) {
            Ok(j) => words.get(j).unwrap_or(&sign),
            Err(_) => &Row::ZERO,
        };
        let top = y.len() - 1;
        let mut borrow = Row::ZERO;
        for (j, y) in y.iter_mut().enumerate() {
            let at = j as i64 - whole;
            let (high, low) = (limb(at), limb(at - 1));
            let value: [u64; 8] =
                std::array::from_fn(|lane| (high.0[lane] << bits) | ((low.0[lane] >> 1) >> (63 - bits)));
            match self.into {
                Into::Value if j == top => *y = Row(value.map(|x| x ^ BIAS)),
                Into::Value => *y = Row(value),
                Into::Difference => {
                    for (lane, value) in value.into_iter().enumerate() {
                        let (rest, first) = y.0[lane].overflowing_sub(value);
                        let (rest, second) = rest.overflowing_sub(borrow.0[lane]);
                        (y.0[lane], borrow.0[lane]) = (rest, u64::from(first | second));
                    }
                }
            }
        }
    }
}

/// Where a combination goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Difference,
    Value,
}

/// What of a product is computed. Without the limbs that are dropped, the stored numbers are cut into pieces
/// of 52 bits; the products of a piece `a` and a piece `b` count if `a + b` is at least `first`, the largest
/// number for which what is left out of one coordinate, less than `first · 2^(52 (first + 1))` of the lowest
/// places of the product, is about a unit of the numbers or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    limbs: usize,
    drop: usize,
    first: usize,
}

impl Shape {
    fn new(limbs: usize, drop: usize) -> Self {
        let places = 64 * (limbs - drop) - 12;
        Self { limbs, drop, first: (places / 52).saturating_sub(1) }
    }

    /// Limbs that are used.
    fn used(self) -> usize {
        self.limbs - self.drop
    }

    /// Pieces of 52 bits.
    fn pieces(self) -> usize {
        pieces(self.used())
    }
}

/// Pieces of 52 bits in a number of so many limbs.
const fn pieces(limbs: usize) -> usize {
    (64 * limbs).div_ceil(52)
}

/// Which part of the numbers becomes floating point.
#[derive(Clone, Copy)]
struct Window {
    limbs: usize,
    top: i64,
}

impl Window {
    /// The numbers times `2^-top`, in units of their last place, as [`fixed::rounded`](crate::fixed::rounded)
    /// gives them.
    #[inline(always)]
    fn read(self, rows: &[Row], to: &mut [f64]) {
        let from = self.top - 62;
        let (word, bits) = (from.div_euclid(64), from.rem_euclid(64) as u32);
        let scale = power_of_two(-62);
        let top = self.limbs - 1;
        for (rows, to) in rows.chunks_exact(self.limbs).zip(to.chunks_mut(8)) {
            let limb = |j: i64| match usize::try_from(j) {
                Err(_) => Row::ZERO,
                Ok(j) if j < top => rows[j],
                Ok(j) if j == top => Row(rows[top].0.map(|x| x ^ BIAS)),
                Ok(_) => Row(rows[top].0.map(|x| (((x ^ BIAS) as i64) >> 63) as u64)),
            };
            let (low, high) = (limb(word), limb(word + 1));
            let values: [f64; 8] = std::array::from_fn(|lane| {
                let window = (low.0[lane] >> bits) | ((high.0[lane] << 1) << (63 - bits));
                (window as i64) as f64 * scale
            });
            to.iter_mut().zip(values).for_each(|(to, value)| *to = value);
        }
    }
}

/// The bits that are set in some number, or in its complement if it is negative.
#[inline(always)]
fn sizes(rows: &[Row], to: &mut [u64]) {
    let limbs = to.len();
    let mut found = [Row::ZERO; MOST];
    let found = &mut found[..limbs];
    for rows in rows.chunks_exact(limbs) {
        let sign = Row(rows[limbs - 1].0.map(|x| (((x ^ BIAS) as i64) >> 63) as u64));
        for (found, row) in found.iter_mut().zip(rows) {
            for (lane, found) in found.0.iter_mut().enumerate() {
                *found |= row.0[lane] ^ sign.0[lane];
            }
        }
        // The highest limb is stored with its highest bit changed.
        found[limbs - 1].0.iter_mut().for_each(|x| *x &= !BIAS);
    }
    for (to, found) in to.iter_mut().zip(found) {
        *to |= found.0.iter().fold(0, |all, x| all | x);
    }
}

/// Adds `x · 2^place` to a number.
fn add_at(sum: &mut [u64], x: u128, place: usize) {
    let (word, bits) = (place / 64, place % 64);
    let (low, high) = (x << bits, if bits == 0 { 0 } else { x >> (128 - bits) });
    let mut carry = false;
    let parts = [low as u64, (low >> 64) as u64, high as u64].into_iter().chain(std::iter::repeat(0));
    for (sum, part) in sum[word..].iter_mut().zip(parts) {
        let (total, first) = sum.overflowing_add(part);
        let (total, second) = total.overflowing_add(u64::from(carry));
        (*sum, carry) = (total, first || second);
    }
}

/// What is added to the highest limb.
const BIAS: u64 = 1 << 63;
/// Blocks of eight coordinates whose sums fit into the fastest cache.
const STRIP: usize = 16;
/// Terms that are added to the sums of a strip at a time.
const GROUP: usize = 8;
/// The largest number of limbs.
const MOST: usize = 66;
/// Coordinates (times terms, times limbs) from which on strips go to several threads.
const PARALLEL: usize = 1 << 17;
/// The largest number of terms of a combination.
///
/// Columns of 52 bits stay in 64: a term adds two numbers below `2^52` to a column, and 512 of them less than
/// `2^62`. Columns of 64 bits stay in 128: a term adds less than `2^116`.
pub(crate) const TERMS: usize = 512;
/// A bound on the size of factors.
pub(crate) const FACTOR: u64 = 1 << 52;

#[cfg(test)]
mod tests;
