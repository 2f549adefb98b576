//! Numbers that have caused trouble before.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One of `items`.
pub(crate) fn pick<T: Copy>(rng: &mut ChaCha8Rng, items: &[T]) -> T {
    items[rng.random_range(0..items.len())]
}

/// Uniform in the logarithm between two positive numbers.
#[allow(dead_code, reason = "for parts with continuous parameters")]
pub(crate) fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.random::<f64>() * (high.ln() - low.ln())).exp().clamp(low, high)
}

/// A few of the nodes `0..n`, usually one, and never all of them unless there is only one.
pub(crate) fn coalition(rng: &mut ChaCha8Rng, n: usize) -> Vec<usize> {
    let wanted = if rng.random_range(0..3) == 0 { rng.random_range(1..=3) } else { 1 };
    let mut members = Vec::new();
    while members.len() < wanted.min(n.saturating_sub(1).max(1)) {
        // The ends of chains are the natural observers.
        let v = match rng.random_range(0..4) {
            0 => n - 1,
            1 => 0,
            _ => rng.random_range(0..n),
        };
        if !members.contains(&v) {
            members.push(v);
        }
    }
    members.sort_unstable();
    members
}

/// An `f64` as source code that gives the same bits.
pub(crate) fn literal(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { format!("f64::from_bits({:#x})", x.to_bits()) }
}
