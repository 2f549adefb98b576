//! Numbers that have made trouble.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One of `items`.
pub(crate) fn pick<T: Copy>(rng: &mut ChaCha8Rng, items: &[T]) -> T {
    items[rng.random_range(0..items.len())]
}

/// Uniform in the logarithm between two positive numbers.
#[allow(dead_code, reason = "for the parts to come")]
pub(crate) fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.random::<f64>() * (high.ln() - low.ln())).exp().clamp(low, high)
}

/// An `f64` as source code that gives the same bits.
pub(crate) fn literal(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { format!("f64::from_bits({:#x})", x.to_bits()) }
}
