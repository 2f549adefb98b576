//! Arithmetic modulo primes below `2^62`, and integers from their residues.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::One;
use std::sync::{Mutex, PoisonError};

/// A prime below `2^62`, with what Montgomery's multiplication needs. Residues are kept times `2^64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prime {
    p: u64,
    /// `-1/p` modulo `2^64`.
    negative_inverse: u64,
    /// `2^128` modulo `p`.
    square: u64,
}

impl Prime {
    /// The field of `p`, which must be odd and below `2^62`.
    fn new(p: u64) -> Self {
        let mut inverse = p;
        // Newton: at first 3 digits are right, and each step doubles that number.
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(p.wrapping_mul(inverse)));
        }
        let once = (1_u128 << 64) % u128::from(p);
        let square = (once * once % u128::from(p)) as u64;
        Self { p, negative_inverse: inverse.wrapping_neg(), square }
    }

    #[cfg(test)]
    pub(crate) fn get(self) -> u64 {
        self.p
    }

    /// `a b / 2^64`; one factor must be below the prime, the other below `2^64`.
    pub(crate) fn multiply(self, a: u64, b: u64) -> u64 {
        let t = u128::from(a) * u128::from(b);
        let m = (t as u64).wrapping_mul(self.negative_inverse);
        let u = ((t + u128::from(m) * u128::from(self.p)) >> 64) as u64;
        self.reduced(u)
    }

    /// `x - p` if that is not negative, else `x`. It has no branch, because the processor would predict it
    /// wrong half of the time.
    fn reduced(self, x: u64) -> u64 {
        x.min(x.wrapping_sub(self.p))
    }

    /// The scalar product of two vectors.
    pub(crate) fn dot(self, x: &[u64], y: &[u64]) -> u64 {
        let mut sum = 0;
        for (x, y) in x.chunks(8).zip(y.chunks(8)) {
            // Eight products are below 2^127.
            let t = x.iter().zip(y).map(|(&a, &b)| u128::from(a) * u128::from(b)).sum::<u128>();
            let m = (t as u64).wrapping_mul(self.negative_inverse);
            let u = ((t + u128::from(m) * u128::from(self.p)) >> 64) as u64;
            // Below 3 p.
            sum = self.add(sum, self.reduced(self.reduced(u)));
        }
        sum
    }

    pub(crate) fn add(self, a: u64, b: u64) -> u64 {
        self.reduced(a + b)
    }

    pub(crate) fn subtract(self, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        difference.min(difference.wrapping_add(self.p))
    }

    /// The residue of a plain number below `2^64`.
    pub(crate) fn enter(self, x: u64) -> u64 {
        self.multiply(x % self.p, self.square)
    }

    /// Back to a plain number below `p`.
    pub(crate) fn leave(self, x: u64) -> u64 {
        self.multiply(x, 1)
    }

    pub(crate) fn power(self, x: u64, mut exponent: u64) -> u64 {
        let (mut base, mut result) = (x, self.enter(1));
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.multiply(result, base);
            }
            base = self.multiply(base, base);
            exponent >>= 1;
        }
        result
    }

    /// `1/x` for `x` that is not 0.
    pub(crate) fn inverse(self, x: u64) -> u64 {
        self.power(x, self.p - 2)
    }

    /// What [`residue`](Self::residue) needs for integers of up to `digits` digits of 64 bits.
    pub(crate) fn powers(self, digits: usize) -> Vec<u64> {
        // 2^(64 (i + 2)) for digit i: one factor 2^64 cancels that of the reduction, the other is the factor
        // of all residues.
        let next = |power: &u64| Some(self.multiply(*power, self.square));
        std::iter::successors(Some(self.square), next).take(digits).collect()
    }

    pub(crate) fn residue(self, x: &BigInt, powers: &[u64]) -> u64 {
        debug_assert!(x.iter_u64_digits().len() <= powers.len());
        let digits = x.iter_u64_digits().zip(powers);
        let residue = digits.fold(0, |sum, (digit, &power)| self.add(sum, self.multiply(digit, power)));
        if x.sign() == Sign::Minus { self.subtract(0, residue) } else { residue }
    }
}

/// The `count` largest primes below `2^62`, in descending order.
pub(crate) fn primes(count: usize) -> Vec<Prime> {
    static FOUND: Mutex<Vec<Prime>> = Mutex::new(Vec::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = found.last().map_or((1 << 62) - 1, |last| last.p - 2);
    while found.len() < count {
        if is_prime(next) {
            found.push(Prime::new(next));
        }
        next -= 2;
    }
    found[..count].to_vec()
}

/// The test of Miller and Rabin with the bases that are a proof below `2^64`; `n` odd, between 41 and `2^62`.
fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if BASES.iter().any(|base| n.is_multiple_of(*base)) {
        return false;
    }
    let field = Prime::new(n);
    let (one, minus_one) = (field.enter(1), field.enter(n - 1));
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = field.power(field.enter(base), (n - 1) >> twos);
        if x == one {
            return true;
        }
        for _ in 0..twos {
            if x == minus_one {
                return true;
            }
            x = field.multiply(x, x);
        }
        false
    })
}

/// The integers in `[0, product of the primes)` with the given plain residues, `residues[i][u]` of integer
/// `u` modulo prime `i`.
pub(crate) fn from_residues(primes: &[Prime], residues: &[Vec<u64>]) -> Vec<BigUint> {
    // x = sum of (r_i / (P / p_i) mod p_i) P / p_i, modulo P.
    let leaves: Vec<Vec<u64>> = primes
        .iter()
        .zip(residues)
        .map(|(&field, row)| {
            let others = primes.iter().filter(|other| other.p != field.p);
            let product = others.fold(field.enter(1), |acc, other| field.multiply(acc, field.enter(other.p)));
            let inverse = field.inverse(product);
            row.iter().map(|&r| field.leave(field.multiply(field.enter(r), inverse))).collect()
        })
        .collect();
    let (sums, product) = combine(primes, &leaves);
    sums.into_iter().map(|sum| sum % &product).collect()
}

fn combine(primes: &[Prime], leaves: &[Vec<u64>]) -> (Vec<BigUint>, BigUint) {
    match (primes, leaves) {
        ([], _) | (_, []) => (Vec::new(), BigUint::one()),
        ([prime], [leaf]) => (leaf.iter().map(|&x| BigUint::from(x)).collect(), BigUint::from(prime.p)),
        _ => {
            let half = primes.len() / 2;
            let (left, left_product) = combine(&primes[..half], &leaves[..half]);
            let (right, right_product) = combine(&primes[half..], &leaves[half..]);
            let sums = left.iter().zip(&right).map(|(a, b)| a * &right_product + b * &left_product).collect();
            (sums, left_product * right_product)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_inverses_are_right() {
        // The three largest primes below 2^62: 2^62 - 57, - 87, - 117.
        let found = primes(3);
        assert_eq!(found.iter().map(|f| (1 << 62) - f.get()).collect::<Vec<_>>(), [57, 87, 117]);
        for field in found {
            let (a, b) = (0x1234_5678_9abc_def1, (1 << 61) + 12345);
            let product = field.leave(field.multiply(field.enter(a), field.enter(b)));
            assert_eq!(u128::from(product), u128::from(a) * u128::from(b) % u128::from(field.p));
            let x = field.enter(a);
            assert_eq!(field.leave(field.multiply(x, field.inverse(x))), 1);
            let large: BigInt = BigInt::from(7) - (BigInt::from(a) << 200);
            let expected =
                (large.clone() % BigInt::from(field.p) + BigInt::from(field.p)) % BigInt::from(field.p);
            assert_eq!(BigInt::from(field.leave(field.residue(&large, &field.powers(9)))), expected);
        }
    }

    #[test]
    fn integers_come_back_from_their_residues() {
        let found = primes(7);
        let integers = [BigInt::from(0), BigInt::from(1), (BigInt::from(12345) << 400) + BigInt::from(77)];
        let residues: Vec<Vec<u64>> = found
            .iter()
            .map(|&field| integers.iter().map(|x| field.leave(field.residue(x, &field.powers(9)))).collect())
            .collect();
        for (x, back) in integers.iter().zip(from_residues(&found, &residues)) {
            assert_eq!(*x, BigInt::from(back));
        }
    }
}
