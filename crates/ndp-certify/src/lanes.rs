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
        with_limbs!(limbs, self.of(first, x, y));
    }

    #[inline(always)]
    fn of<const L: usize>(self, first: usize, x: &[Row], y: &mut [Row]) {
        let (x, y) = (x.as_chunks::<L>().0, y.as_chunks_mut::<L>().0);
        let mut near: Vec<[Row; L]> = Vec::new();
        let mut u = first;
        for y in y.chunks_mut(NODES) {
            // The neighbors of consecutive nodes are consecutive. They lie anywhere in memory: fetched one
            // after the other, without work in between, they arrive together.
            let inside = self.inside(u..u + y.len());
            near.clear();
            near.extend(self.neighbors[inside.clone()].iter().map(|&v| x[v as usize]));
            for y in y {
                *y = x[u];
                for group in &self.groups[self.starts[u]..self.starts[u + 1]] {
                    let (divisor, long) = self.divisors[group.divisor as usize];
                    let numbers =
                        &near[group.inside.0 as usize - inside.start..group.inside.1 as usize - inside.start];
                    for (part, count) in group.parts(numbers) {
                        let mut sum = difference(part, count, &x[u]);
                        if divisor >> 32 == 0 {
                            divide(&mut sum, divisor);
                        } else {
                            divide_each(&mut sum, long);
                        }
                        add(y, &sum);
                    }
                }
                u += 1;
            }
        }
    }

    /// Where the neighbors of some nodes are.
    fn inside(self, nodes: std::ops::Range<usize>) -> std::ops::Range<usize> {
        match &self.groups[self.starts[nodes.start]..self.starts[nodes.end]] {
            [] => 0..0,
            [first, ..] => {
                let last = self.groups[self.starts[nodes.end] - 1].inside.1;
                first.inside.0 as usize..last as usize
            }
        }
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
    for x in numbers {
        for j in 0..L {
            low[j] = low[j].with(x[j], |sum, x| sum.wrapping_add(x & HALF));
            high[j] = high[j].with(x[j], |sum, x| sum.wrapping_add(x >> 32));
        }
    }
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
