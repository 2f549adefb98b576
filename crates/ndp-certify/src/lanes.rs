//! Eight numbers at a time, limb by limb, and what a named matrix makes of eight vectors side by side.
//!
//! Everything is exact, and compiled twice: for any machine, and for processors with AVX-512 (in
//! [`packed`](crate::packed)). So the bits do not depend on the machine.

use crate::fixed::{Divisor, Fixed};

/// The same limb of eight numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Row(pub(crate) [u64; 8]);

impl Row {
    pub(crate) const ZERO: Self = Self([0; 8]);
}

/// The neighbors of a node that share a denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Group {
    /// Index of the denominator among the divisors.
    pub(crate) divisor: u32,
    /// How many neighbors there are, those outside the ball included.
    pub(crate) count: u32,
    /// First and last (exclusive) of those inside.
    pub(crate) inside: (u32, u32),
}

impl Group {
    /// At most [`TOGETHER`] neighbors at a time: those inside the ball, and how many there are.
    ///
    /// Without this limit a hub could exceed the format. At most [`TOGETHER`] numbers below 2 in absolute
    /// value are added or subtracted, and the node's own number as often. So the sum stays below 128, where
    /// the format wraps around.
    #[inline]
    pub(crate) fn parts(self, neighbors: &[u32]) -> impl Iterator<Item = (&[u32], u32)> {
        let inside = &neighbors[self.inside.0 as usize..self.inside.1 as usize];
        (0..self.parts_count()).map(move |part| {
            let (first, last) = (part * TOGETHER, self.count.min((part + 1) * TOGETHER));
            let within = |at: u32| inside.len().min(at as usize);
            (&inside[within(first)..within(last)], last - first)
        })
    }

    /// How many [parts](Self::parts) there are.
    pub(crate) const fn parts_count(self) -> u32 {
        self.count.div_ceil(TOGETHER)
    }
}

/// A matrix with named weights: `(W x)_u = x_u + Σ_g (Σ_{v ∈ g} x_v - |g| x_u) / D_g`, where the quotient of
/// each part of a group is rounded towards 0.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    /// Where the groups of each node start.
    pub(crate) starts: &'a [usize],
    pub(crate) groups: &'a [Group],
    pub(crate) neighbors: &'a [u32],
    pub(crate) divisors: &'a [(u64, Divisor)],
}

impl Named<'_> {
    /// `W x` from node `first` on, for eight vectors side by side: each node has `limbs` rows, in two's
    /// complement.
    #[inline(always)]
    pub(crate) fn products(self, limbs: usize, first: usize, x: &[Row], y: &mut [Row]) {
        match limbs {
            2 => self.of::<2>(first, x, y),
            3 => self.of::<3>(first, x, y),
            4 => self.of::<4>(first, x, y),
            6 => self.of::<6>(first, x, y),
            8 => self.of::<8>(first, x, y),
            12 => self.of::<12>(first, x, y),
            16 => self.of::<16>(first, x, y),
            32 => self.of::<32>(first, x, y),
            _ => self.of::<66>(first, x, y),
        }
    }

    #[inline(always)]
    fn of<const L: usize>(self, first: usize, x: &[Row], y: &mut [Row]) {
        let (x, y) = (x.as_chunks::<L>().0, y.as_chunks_mut::<L>().0);
        for (u, y) in (first..).zip(y) {
            *y = x[u];
            for group in &self.groups[self.starts[u]..self.starts[u + 1]] {
                let (divisor, long) = self.divisors[group.divisor as usize];
                for (inside, count) in group.parts(self.neighbors) {
                    let mut sum = minus_times(&x[u], count);
                    inside.iter().for_each(|&v| add(&mut sum, &x[v as usize]));
                    if divisor >> 32 == 0 {
                        divide(&mut sum, divisor);
                    } else {
                        divide_each(&mut sum, long);
                    }
                    add(y, &sum);
                }
            }
        }
    }
}

/// `to ← to + x`.
#[inline(always)]
fn add<const L: usize>(to: &mut [Row; L], x: &[Row; L]) {
    let mut carry = [0; 8];
    for (to, x) in to.iter_mut().zip(x) {
        for lane in 0..8 {
            let sum = to.0[lane].wrapping_add(x.0[lane]);
            let total = sum.wrapping_add(carry[lane]);
            carry[lane] = u64::from(sum < x.0[lane]) | u64::from(total < sum);
            to.0[lane] = total;
        }
    }
}

/// `-count x`.
#[inline(always)]
fn minus_times<const L: usize>(x: &[Row; L], count: u32) -> [Row; L] {
    let count = u64::from(count);
    let (mut product, mut negative) = ([0; 8], [1; 8]);
    let mut y = [Row::ZERO; L];
    for (y, x) in y.iter_mut().zip(x) {
        for lane in 0..8 {
            // The carry of the product is below 2^32, so neither sum leaves 64 bits.
            let low = (x.0[lane] & HALF) * count + product[lane];
            let high = (x.0[lane] >> 32) * count + (low >> 32);
            product[lane] = high >> 32;
            let limb = !((high << 32) | (low & HALF));
            y.0[lane] = limb.wrapping_add(negative[lane]);
            negative[lane] &= u64::from(y.0[lane] == 0);
        }
    }
    y
}

/// `x ← x / divisor`, rounded towards 0, for a divisor below `2^32`: digits of 32 bits, from the highest on.
#[inline(always)]
fn divide<const L: usize>(x: &mut [Row; L], divisor: u64) {
    let sign: [u64; 8] = x[L - 1].0.map(|x| (x.cast_signed() >> 63).cast_unsigned());
    negate_where(sign, x);
    let inverse = 1.0 / divisor as f64;
    let mut rest = [0u64; 8];
    for limb in x.iter_mut().rev() {
        for lane in 0..8 {
            let (high, rest_of_high) = digit((rest[lane] << 32) | (limb.0[lane] >> 32), divisor, inverse);
            let (low, rest_of_low) = digit((rest_of_high << 32) | (limb.0[lane] & HALF), divisor, inverse);
            limb.0[lane] = (high << 32) | low;
            rest[lane] = rest_of_low;
        }
    }
    negate_where(sign, x);
}

/// Quotient and remainder of `n < 2^32 divisor`.
///
/// The product of floats is off by less than `2^-19`, as the quotient is below `2^32`. It is rounded to the
/// nearest integer by adding `2^52`; the remainder is then between about `± divisor / 2`, and the quotient is
/// 1 too large where that is below 0.
#[inline(always)]
fn digit(n: u64, divisor: u64, inverse: f64) -> (u64, u64) {
    const MAGIC: f64 = (1u64 << 52) as f64;
    let quotient = (n as f64 * inverse + MAGIC).to_bits() & ((1 << 52) - 1);
    let rest = n.wrapping_sub(quotient.wrapping_mul(divisor));
    let below = (rest.cast_signed() >> 63).cast_unsigned();
    (quotient.wrapping_add(below), rest.wrapping_add(divisor & below))
}

/// `x ← -x` in the lanes whose sign has all bits set.
#[inline(always)]
fn negate_where<const L: usize>(sign: [u64; 8], x: &mut [Row; L]) {
    let mut carry = sign.map(|sign| sign & 1);
    for limb in x {
        for lane in 0..8 {
            limb.0[lane] = (limb.0[lane] ^ sign[lane]).wrapping_add(carry[lane]);
            carry[lane] &= u64::from(limb.0[lane] == 0);
        }
    }
}

/// The same for a divisor that does not fit: one number after the other.
fn divide_each<const L: usize>(x: &mut [Row; L], divisor: Divisor) {
    for lane in 0..8 {
        let number: Fixed<L> = std::array::from_fn(|j| x[j].0[lane]);
        for (row, limb) in x.iter_mut().zip(divisor.divide(&number)) {
            row.0[lane] = limb;
        }
    }
}

/// The lower half of a limb.
const HALF: u64 = (1 << 32) - 1;
/// The largest number of neighbors whose numbers are added up before the sum is divided.
const TOGETHER: u32 = 31;
