//! The seed of a run, and one independent random stream for each trial.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The seed of a run. All randomness in a figure comes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed that the committed references were computed with.
    pub const DEFAULT: Self = Self(42);

    /// The generator of one trial, independent of every other trial.
    #[must_use]
    pub fn trial(self, trial: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.0);
        rng.set_stream(trial);
        rng
    }

    /// The seed for one purpose within a figure (`graph`, `walks`), independent of the others.
    #[must_use]
    pub fn fork(self, purpose: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0.to_le_bytes());
        hash.update(purpose.as_bytes());
        let digest = hash.finalize();
        Self(digest.iter().take(8).fold(0, |all, &byte| all << 8 | u64::from(byte)))
    }

    /// Runs `trials` trials in parallel, in order; the result does not depend on the number of
    /// threads.
    pub fn run<T: Send>(self, trials: u64, f: impl Fn(&mut ChaCha8Rng) -> T + Sync) -> Vec<T> {
        (0..trials).into_par_iter().map(|trial| f(&mut self.trial(trial))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn trials_do_not_depend_on_the_number_of_threads() {
        let draw = || Seed(7).run(100, |rng| rng.random::<u64>());
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let one = pool(1).install(draw);
        assert_eq!(one, pool(2).install(draw));
        assert_eq!(one, pool(3).install(draw));
        let distinct: std::collections::BTreeSet<u64> = one.iter().copied().collect();
        assert_eq!(distinct.len(), 100);
    }

    #[test]
    fn purposes_and_seeds_are_told_apart() {
        assert_ne!(Seed(1).fork("graph"), Seed(1).fork("walks"));
        assert_ne!(Seed(1).fork("graph"), Seed(2).fork("graph"));
        assert_eq!(Seed(1).fork("graph"), Seed(1).fork("graph"));
    }
}
