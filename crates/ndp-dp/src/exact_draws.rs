//! Random numbers with exactly their law, from independent and fair bits: no floating-point number is drawn
//! or compared.
//!
//! # References
//! - Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, 2020, arXiv:2004.00010:
//!   Algorithms 1 and 2.

use rand::Rng;

/// Discrete Laplace noise of scale `t/2^shift`, its size and whether it is negative: `k` with probability
/// proportional to `e^{−|k| 2^shift/t}`. Algorithm 2.
pub(crate) fn laplace(t: u128, shift: u32, rng: &mut (impl Rng + ?Sized)) -> (u128, bool) {
    loop {
        let rest = below(t, rng);
        if !exponential(rest, t, rng) {
            continue;
        }
        let mut times = 0;
        while exponential(1, 1, rng) {
            times += 1;
        }
        let size = (rest + t * times) >> shift;
        let negative = below(2, rng) == 1;
        // Without this condition zero would be drawn twice, as 0 and as −0.
        if size > 0 || !negative {
            return (size, negative);
        }
    }
}

/// True with probability `e^{−p/q}`. Algorithm 1.
pub(crate) fn exponential(mut p: u128, q: u128, rng: &mut (impl Rng + ?Sized)) -> bool {
    while p > q {
        if !small_exponential(1, 1, rng) {
            return false;
        }
        p -= q;
    }
    small_exponential(p, q, rng)
}

/// True with probability `e^{−p/q}` for `p ≤ q`: draws of probability `p/q`, `p/(2q)`, `p/(3q)`, ... until
/// one fails, which is the `k`-th with probability `(p/q)^{k−1}/(k−1)! − (p/q)^k/k!`; true if `k` is odd.
fn small_exponential(p: u128, q: u128, rng: &mut (impl Rng + ?Sized)) -> bool {
    let mut k = 1;
    while below(q * k, rng) < p {
        k += 1;
    }
    k % 2 == 1
}

/// A uniform whole number below `n`: draws as many bits as `n - 1` has, until the number they form is below
/// `n`.
fn below(n: u128, rng: &mut (impl Rng + ?Sized)) -> u128 {
    let mask = u128::MAX.checked_shr((n - 1).leading_zeros()).unwrap_or(0);
    loop {
        let low = u128::from(rng.next_u64());
        let high = if mask > u128::from(u64::MAX) { u128::from(rng.next_u64()) << 64 } else { 0 };
        let drawn = (low | high) & mask;
        if drawn < n {
            return drawn;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The largest distance between the distribution of `draws` values and the law, on whole numbers, must be
    /// below the bound of Dvoretzky, Kiefer and Wolfowitz at a probability of 1e-9 (seeds are fixed).
    pub(crate) fn close(draws: &[i64], law: impl Fn(i64) -> f64, reach: i64) {
        let count = draws.len() as f64;
        let allowed = ((2.0_f64 / 1e-9).ln() / (2.0 * count)).sqrt();
        let mut sorted = draws.to_vec();
        sorted.sort_unstable();
        let (total, mut within): (f64, f64) = ((-reach..=reach).map(&law).sum(), 0.0);
        for k in -reach..=reach {
            within += law(k) / total;
            let seen = sorted.partition_point(|&drawn| drawn <= k) as f64 / count;
            assert!((seen - within).abs() < allowed, "up to {k}: {seen}, law {within}, allowed {allowed}");
        }
        // The probability of zero is checked on its own: a mistake with the two signs of zero would change
        // the law only there.
        let (zero, seen) = (law(0) / total, draws.iter().filter(|&&k| k == 0).count() as f64 / count);
        assert!((seen - zero).abs() < 6.0 * (zero / count).sqrt(), "zero: {seen}, law {zero}");
    }

    #[test]
    fn its_parts_have_their_laws() {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        for (t, shift) in [(1, 0), (2, 0), (7, 0), (1, 1), (7, 2), (27, 3)] {
            let mut draw = || {
                let (size, negative) = laplace(t, shift, &mut rng);
                if negative { -(size as i64) } else { size as i64 }
            };
            let draws: Vec<i64> = (0..200_000).map(|_| draw()).collect();
            let scale = t as f64 / f64::from(1_u32 << shift);
            close(&draws, |k| (-(k.abs() as f64) / scale).exp(), 60 * t as i64);
        }
        for (p, q) in [(0, 1), (1, 3), (2, 2), (5, 2), (7, 1)] {
            let count = 200_000;
            let seen = (0..count).filter(|_| exponential(p, q, &mut rng)).count() as f64 / f64::from(count);
            let law = (-(p as f64) / q as f64).exp();
            // The allowance is six standard deviations; the seed is fixed.
            let allowed = 6.0 * (law * (1.0 - law) / f64::from(count)).sqrt() + 1e-12;
            assert!((seen - law).abs() <= allowed, "{p}/{q}: {seen}, law {law}");
        }
    }

    /// Every value below `n` occurs, and none above, at powers of two, beside them, and beyond 64 bits.
    #[test]
    fn whole_numbers_are_uniform() {
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        for n in [1_u128, 2, 3, 4, 5, 7, 8, 9] {
            let mut seen = vec![0_u32; n as usize];
            for _ in 0..100_000 {
                seen[below(n, &mut rng) as usize] += 1;
            }
            let mean = 100_000.0 / n as f64;
            assert!(seen.iter().all(|&k| (f64::from(k) - mean).abs() <= 6.0 * mean.sqrt()), "{n}: {seen:?}");
        }
        let n = (1_u128 << 100) + 1;
        let most = (0..1000).map(|_| below(n, &mut rng)).max();
        assert!(most.is_some_and(|most| most < n && most > n - n / 64), "{most:?}");
    }
}
