//! Eight numbers at a time, limb by limb, and what a named matrix makes of eight vectors side by side.
//!
//! Everything is exact, and compiled twice: for any machine, and for processors with AVX-512 (in
//! [`packed`](crate::packed)). So the bits do not depend on the machine.

use crate::fixed::{Divisor, Fixed, with_limbs};

/// The same limb of eight numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Row(pub(crate) [u64; 8]);

impl Row {
    pub(crate) const ZERO: Self = Self([0; 8]);

    #[inline(always)]
    fn map(mut self, f: impl Fn(u64) -> u64) -> Self {
        for x in &mut self.0 {
            *x = f(*x);
        }
        self
    }

    /// Lane by lane. A loop is always compiled as a part of its caller, for the processor of that one; the
    /// functions of arrays in the standard library are not.
    #[inline(always)]
    fn with(mut self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x = f(*x, y);
        }
        self
    }
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
    /// The neighbors inside the ball.
    #[inline]
    pub(crate) fn of(self, neighbors: &[u32]) -> &[u32] {
        &neighbors[self.inside.0 as usize..self.inside.1 as usize]
    }

    /// At most [`TOGETHER`] neighbors at a time: those `inside` the ball, and how many there are.
    ///
    /// Without this limit a hub could exceed the format. At most [`TOGETHER`] numbers below 2 in absolute
    /// value are added or subtracted, and the node's own number as often. So the sum stays below 128, where
    /// the format wraps around.
    #[inline]
    pub(crate) fn parts<T>(self, inside: &[T]) -> impl Iterator<Item = (&[T], u32)> {
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

/// A matrix with named weights: `(W x)_u = x_u + Σ_g (Σ_{v ∈ g} x_v - |g| x_u) / D_g`.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    /// Where the groups of each node start.
    pub(crate) starts: &'a [usize],
    pub(crate) groups: &'a [Group],
    pub(crate) neighbors: &'a [u32],
    pub(crate) divisors: &'a [(u64, Divisor)],
}

/// Which quotients of a matrix with named weights are taken before they are added up. Most denominators are
/// those of one end of the edge, so that many nodes have neighbors of many denominators, each of which is
/// the neighbor's own: `x_v / D_v` is computed once for each node, not once for each group.
///
/// With `F` the groups of a node `u` whose quotients are taken before,
/// `(W x)_u = x_u + Σ_{g ∉ F} (Σ_{v ∈ g} x_v - |g| x_u) / D_g + Σ_{g ∈ F} Σ_{v ∈ g} x_v / D_v - s_u x_u`
/// with the share `s_u = Σ_{g ∈ F} |g| / D_g`. Quotients are rounded towards 0, those of the first sum for
/// each part of a group; `s_u x_u` is off by less than two units.
#[derive(Clone, Copy)]
pub(crate) struct Early<'a> {
    /// For each group, whether it belongs to `F`.
    pub(crate) groups: &'a [bool],
    /// The index of the divisor `D_v` of each node.
    pub(crate) own: &'a [u32],
    /// For each node the limbs of `2^(64 L) s_u`, rounded down: off by less than `1 + 2^-31`.
    pub(crate) shares: &'a [u64],
    /// For each node its row of `x_v / D_v`.
    pub(crate) quotients: &'a [Row],
}

impl Named<'_> {
    /// `W x` from node `first` on, for eight vectors side by side: each node has `limbs` rows, in two's
    /// complement.
    #[inline(always)]
    pub(crate) fn products(
        self,
        limbs: usize,
        first: usize,
        x: &[Row],
        early: Option<Early<'_>>,
        y: &mut [Row],
    ) {
        with_limbs!(limbs, self.of(first, x, early, y));
    }

    /// `x_v / D_v` from node `first` on.
    #[inline(always)]
    pub(crate) fn quotients(self, limbs: usize, first: usize, x: &[Row], own: &[u32], to: &mut [Row]) {
        with_limbs!(limbs, self.quotients_of(first, x, own, to));
    }

    #[inline(always)]
    fn quotients_of<const L: usize>(self, first: usize, x: &[Row], own: &[u32], to: &mut [Row]) {
        let (x, to) = (x.as_chunks::<L>().0, to.as_chunks_mut::<L>().0);
        for ((x, &own), to) in x[first..].iter().zip(&own[first..]).zip(to) {
            *to = *x;
            if let Some(&divisor) = self.divisors.get(own as usize) {
                divide_by(to, divisor);
            }
        }
    }

    #[inline(always)]
    fn of<const L: usize>(self, first: usize, x: &[Row], early: Option<Early<'_>>, y: &mut [Row]) {
        let (x, y) = (x.as_chunks::<L>().0, y.as_chunks_mut::<L>().0);
        let early = early.map(|early| (early, early.quotients.as_chunks::<L>().0));
        let mut near: Vec<[Row; L]> = Vec::new();
        let mut u = first;
        for y in y.chunks_mut(NODES) {
            // The neighbors of consecutive nodes are consecutive. They lie anywhere in memory: fetched one
            // after the other, without work in between, they arrive together.
            near.clear();
            let groups = self.starts[u]..self.starts[u + y.len()];
            for (at, group) in groups.clone().zip(&self.groups[groups]) {
                let from = match early {
                    Some((early, quotients)) if early.groups[at] => quotients,
                    _ => x,
                };
                near.extend(group.of(self.neighbors).iter().map(|&v| from[v as usize]));
            }
            let mut left = near.as_slice();
            for y in y {
                *y = x[u];
                let mut before = None;
                let groups = self.starts[u]..self.starts[u + 1];
                for (at, group) in groups.clone().zip(&self.groups[groups]) {
                    let (numbers, rest) = left.split_at((group.inside.1 - group.inside.0) as usize);
                    left = rest;
                    match early {
                        Some((early, _)) if early.groups[at] => {
                            let (sums, _) = before.get_or_insert(([[Row::ZERO; L]; 2], early));
                            add_up(sums, numbers);
                        }
                        _ => {
                            for (part, count) in group.parts(numbers) {
                                let mut sum = difference(part, count, &x[u]);
                                divide_by(&mut sum, self.divisors[group.divisor as usize]);
                                add(y, &sum);
                            }
                        }
                    }
                }
                if let Some((mut sums, early)) = before {
                    add_up(&mut sums, std::slice::from_ref(y));
                    subtract_share(&mut sums, &x[u], &early.shares[u * L..][..L]);
                    let [low, high] = sums;
                    *y = carried(low, high);
                }
                u += 1;
            }
        }
    }
}

/// Adds numbers to the sums of their halves of limbs.
#[inline(always)]
fn add_up<const L: usize>([low, high]: &mut [[Row; L]; 2], numbers: &[[Row; L]]) {
    for x in numbers {
        for j in 0..L {
            low[j] = low[j].with(x[j], |sum, x| sum.wrapping_add(x & HALF));
            high[j] = high[j].with(x[j], |sum, x| sum.wrapping_add(x >> 32));
        }
    }
}

/// Subtracts `s x / 2^(64 L)` from sums of halves of limbs, off by less than `1 + 2^-24` units.
///
/// Of the products of halves, which belong to columns of 32 bits, those below column `2 L - 2` are left out.
/// There are fewer than `k + 1` of column `k`, each below `2^64`, together less than
/// `2 L · 2^(32 (2 L - 1))`: less than `2^-24` units `2^(64 L)` for up to 66 limbs. The columns below `2 L`
/// are rounded down.
#[inline(always)]
fn subtract_share<const L: usize>([low, high]: &mut [[Row; L]; 2], x: &[Row; L], share: &[u64]) {
    let digit = |j: usize| (share[j / 2] >> (32 * (j % 2))) & HALF;
    let mut below = [Row::ZERO; 2];
    // A column takes at most two halves of each of `2 L` products, so that nothing is lost in 64 bits.
    for i in 0..2 * L {
        let x = x[i / 2].map(|x| if i % 2 == 0 { x & HALF } else { x >> 32 });
        for j in (2 * L).saturating_sub(2 + i)..2 * L {
            let digit = digit(j);
            let product = x.map(|x| x * digit);
            for (column, part) in [(i + j, product.map(|x| x & HALF)), (i + j + 1, product.map(|x| x >> 32))]
            {
                match column.checked_sub(2 * L) {
                    None => {
                        below[column + 2 - 2 * L] = below[column + 2 - 2 * L].with(part, u64::wrapping_add)
                    }
                    Some(k) if k % 2 == 0 => low[k / 2] = low[k / 2].with(part, u64::wrapping_sub),
                    Some(k) => high[k / 2] = high[k / 2].with(part, u64::wrapping_sub),
                }
            }
        }
    }
    let carry = below[1].with(below[0], |x, below| (x + (below >> 32)) >> 32);
    low[0] = low[0].with(carry, u64::wrapping_sub);
    // A number below 0 was taken for one that is larger by 2^(64 L).
    let sign = x[L - 1].map(|x| (x.cast_signed() >> 63).cast_unsigned());
    for (j, share) in share.iter().enumerate() {
        low[j] = low[j].with(sign, |sum, sign| sum.wrapping_add(share & HALF & sign));
        high[j] = high[j].with(sign, |sum, sign| sum.wrapping_add((share >> 32) & sign));
    }
}

/// The sum of the numbers minus `count` times `own`, for at most [`TOGETHER`] numbers. Halves of limbs are
/// added up before anything is carried.
#[inline(always)]
fn difference<const L: usize>(numbers: &[[Row; L]], count: u32, own: &[Row; L]) -> [Row; L] {
    let times = |x: u64| (x * u64::from(count)).wrapping_neg();
    let (mut low, mut high) = halves(own);
    for j in 0..L {
        (low[j], high[j]) = (low[j].map(times), high[j].map(times));
    }
    let mut sums = [low, high];
    add_up(&mut sums, numbers);
    let [low, high] = sums;
    carried(low, high)
}

/// `to ← to + x`.
#[inline(always)]
fn add<const L: usize>(to: &mut [Row; L], x: &[Row; L]) {
    let (mut low, mut high) = halves(to);
    for j in 0..L {
        low[j] = low[j].with(x[j], |sum, x| sum + (x & HALF));
        high[j] = high[j].with(x[j], |sum, x| sum + (x >> 32));
    }
    *to = carried(low, high);
}

/// The lower and the upper halves of all limbs.
#[inline(always)]
fn halves<const L: usize>(x: &[Row; L]) -> ([Row; L], [Row; L]) {
    let (mut low, mut high) = (*x, *x);
    for j in 0..L {
        (low[j], high[j]) = (x[j].map(|x| x & HALF), x[j].map(|x| x >> 32));
    }
    (low, high)
}

/// The numbers with these lower and upper halves of limbs, which are integers with signs.
#[inline(always)]
fn carried<const L: usize>(low: [Row; L], high: [Row; L]) -> [Row; L] {
    let mut carry = Row::ZERO;
    let mut limbs = [Row::ZERO; L];
    for j in 0..L {
        let below = low[j].with(carry, u64::wrapping_add);
        let above =
            high[j].with(below, |x, below| x.wrapping_add((below.cast_signed() >> 32).cast_unsigned()));
        limbs[j] = below.with(above, |below, above| (below & HALF) | (above << 32));
        carry = above.map(|x| (x.cast_signed() >> 32).cast_unsigned());
    }
    limbs
}

/// `x ← x / divisor`, rounded towards 0.
#[inline(always)]
fn divide_by<const L: usize>(x: &mut [Row; L], (divisor, long): (u64, Divisor)) {
    if divisor >> 32 == 0 {
        divide(x, divisor);
    } else {
        divide_each(x, long);
    }
}

/// `x ← x / divisor`, rounded towards 0, for a divisor below `2^32`: digits of 32 bits, from the highest on.
#[inline(always)]
fn divide<const L: usize>(x: &mut [Row; L], divisor: u64) {
    let sign = x[L - 1].map(|x| (x.cast_signed() >> 63).cast_unsigned());
    negate_where(sign, x);
    let inverse = 1.0 / divisor as f64;
    let mut rest = [0u64; 8];
    for limb in x.iter_mut().rev() {
        for (limb, rest) in limb.0.iter_mut().zip(&mut rest) {
            let (high, between) = digit((*rest << 32) | (*limb >> 32), divisor, inverse);
            let (low, last) = digit((between << 32) | (*limb & HALF), divisor, inverse);
            (*limb, *rest) = ((high << 32) | low, last);
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
fn negate_where<const L: usize>(sign: Row, x: &mut [Row; L]) {
    // In two's complement: every bit the other way around, plus 1.
    for row in x.iter_mut() {
        *row = row.with(sign, |x, sign| x ^ sign);
    }
    let (mut low, high) = halves(x);
    low[0] = low[0].with(sign, |x, sign| x + (sign & 1));
    *x = carried(low, high);
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

/// Nodes whose neighbors are fetched together.
const NODES: usize = 4;
/// The lower half of a limb.
const HALF: u64 = (1 << 32) - 1;
/// The largest number of neighbors whose numbers are added up before the sum is divided.
const TOGETHER: u32 = 31;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed::{minus, plus, times_integer};
    use num_bigint::BigInt;
    use num_traits::Signed;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn beside<const L: usize>(numbers: &[Fixed<L>; 8]) -> [Row; L] {
        std::array::from_fn(|j| Row(std::array::from_fn(|lane| numbers[lane][j])))
    }

    /// Numbers of all sizes and signs, with limbs whose bits are all alike now and then.
    fn draw<const L: usize>(rng: &mut ChaCha8Rng) -> Fixed<L> {
        let mut x = std::array::from_fn(|_| match rng.random_range(0..4) {
            0 => 0,
            1 => u64::MAX,
            _ => rng.random(),
        });
        let kept = rng.random_range(1..=L);
        let sign = if rng.random() { u64::MAX } else { 0 };
        x[kept..].fill(sign);
        x
    }

    /// Every lane has what each number has alone: sums, negative multiples, and quotients by small and large
    /// divisors, those around 2^32 among them.
    fn check<const L: usize>(seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for case in 0..3000 {
            let (a, b) =
                (std::array::from_fn(|_| draw::<L>(&mut rng)), std::array::from_fn(|_| draw(&mut rng)));
            let (mut sum, x) = (beside(&a), beside(&b));
            add(&mut sum, &x);
            assert_eq!(sum, beside(&std::array::from_fn(|lane| plus(&a[lane], &b[lane]))));
            let count = rng.random_range(0..=TOGETHER);
            let all: Vec<[Row; L]> =
                (0..count).map(|_| beside(&std::array::from_fn(|_| draw(&mut rng)))).collect();
            let of_lane = |lane: usize| {
                let own = minus(&[0; L], &times_integer(&b[lane], count));
                all.iter().fold(own, |sum, x| plus(&sum, &std::array::from_fn(|j| x[j].0[lane])))
            };
            assert_eq!(difference(&all, count, &x), beside(&std::array::from_fn(of_lane)));
            let divisor = match case % 6 {
                0 => 1,
                1 => (1 << 32) - 1,
                2 => (1 << 32) - rng.random_range(1..1000),
                3 => (1 << 32) + rng.random_range(0..1000),
                _ => rng.random_range(1..5000),
            };
            let long = Divisor::new(divisor);
            let expected = beside(&std::array::from_fn(|lane| long.divide(&b[lane])));
            let (mut fast, mut slow) = (x, x);
            divide_each(&mut slow, long);
            assert_eq!(slow, expected, "{divisor}");
            if divisor >> 32 == 0 {
                divide(&mut fast, divisor);
                assert_eq!(fast, expected, "{divisor}");
            }
        }
    }

    #[test]
    fn lanes_compute_what_numbers_do_alone() {
        check::<2>(1);
        check::<3>(2);
        check::<8>(3);
    }

    /// `s x / 2^(64 L)` is rounded down, but for products that are left out.
    fn check_share<const L: usize>(seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let integer = |limbs: &[u64]| {
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            BigInt::from_signed_bytes_le(&bytes)
        };
        for _ in 0..500 {
            let x: [Fixed<L>; 8] = std::array::from_fn(|_| draw(&mut rng));
            let share =
                draw::<L>(&mut rng).map(|limb| if rng.random_range(0..4) == 0 { u64::MAX } else { limb });
            let mut sums = [[Row::ZERO; L]; 2];
            add_up(&mut sums, &[beside(&x), beside(&x)]);
            subtract_share(&mut sums, &beside(&x), &share);
            let [low, high] = sums;
            let found = carried(low, high);
            for (lane, x) in x.iter().enumerate() {
                let found: Fixed<L> = std::array::from_fn(|j| found[j].0[lane]);
                // The share has no sign.
                let product = integer(x) * integer(&[share.as_slice(), &[0]].concat());
                let subtracted = integer(x) * 2 - integer(&found);
                let modulus = BigInt::from(1) << (64 * L);
                // Of `2 x` the highest bit may be lost.
                let off: BigInt = (&product - (subtracted << (64 * L))) % (&modulus << (64 * L));
                let off = if off.is_negative() { off + (&modulus << (64 * L)) } else { off };
                assert!(off < &modulus + (&modulus >> 24), "{off}");
            }
        }
    }

    #[test]
    fn shares_are_rounded_down() {
        check_share::<2>(1);
        check_share::<3>(2);
        check_share::<8>(3);
        check_share::<66>(4);
    }

    /// Digits at the edges: quotients just below 2^32, and remainders of 0 and of one less than the divisor.
    #[test]
    fn digits_are_exact_at_the_edges() {
        let most = (1u64 << 32) - 1;
        for divisor in [1, 2, 3, 7, 1 << 16, 65_537, most - 1, most] {
            let inverse = 1.0 / divisor as f64;
            for quotient in [0, 1, 2, most / 2, most - 1, most] {
                for rest in [0, 1, divisor / 2, divisor.saturating_sub(2), divisor - 1] {
                    if rest < divisor {
                        assert_eq!(
                            digit(quotient * divisor + rest, divisor, inverse),
                            (quotient, rest),
                            "{divisor}"
                        );
                    }
                }
            }
        }
    }
}
