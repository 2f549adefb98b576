//! One draw from a law of finitely many outcomes.

use rand::{Rng, RngExt};

/// Draws an index with the given probabilities, which sum to 1 up to rounding, from one uniform number.
///
/// An empty law gives 0.
///
/// # Examples
/// ```
/// use ndp_graph::random::draw_index;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let ones = (0..1000).filter(|_| draw_index(&[0.0, 0.25, 0.75], rng) == 1).count();
/// assert!((200..300).contains(&ones));
/// ```
pub fn draw_index(law: &[f64], rng: &mut impl Rng) -> usize {
    let mut left: f64 = rng.random();
    for (index, p) in law.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding may leave a remainder of order 1e-16; it goes to the last index of positive probability.
    law.iter().rposition(|&p| p > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

    #[test]
    fn draws_follow_the_law_and_impossible_outcomes_never_occur() {
        let (law, runs) = ([0.1, 0.0, 0.6, 0.3, 0.0], 100_000);
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        let mut counts = [0_u32; 5];
        for _ in 0..runs {
            counts[draw_index(&law, rng)] += 1;
        }
        for (count, p) in counts.into_iter().zip(law) {
            let spread = (f64::from(runs) * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - f64::from(runs) * p).abs() <= 5.0 * spread, "{counts:?}");
        }
    }

    /// A remainder beyond the last entry goes to the last outcome of positive probability.
    #[test]
    fn what_rounding_leaves_goes_to_a_possible_outcome() {
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        for _ in 0..1000 {
            assert!(draw_index(&[0.25, 0.25, 0.0], rng) < 2);
        }
    }
}
