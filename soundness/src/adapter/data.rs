//! On what the data of a node may depend.

use ndp_algos::Error;
use ndp_algos::walk::complete::CompleteHistogram;
use rand_chacha::ChaCha8Rng;

/// The labels of a node at its visits, as the library takes them from one who wants the given ones: always the first.
pub(crate) fn taken(labels: &[u32]) -> Vec<u32> {
    vec![labels[0]; labels.len()]
}

/// A run in which node `u` has the labels `labels[u]` at its visits, as far as the library takes them.
pub(crate) fn run(
    histogram: &CompleteHistogram,
    labels: &[Vec<u32>],
    rng: &mut ChaCha8Rng,
) -> Result<(), Error> {
    histogram.run(|node| labels[node][0], rng).map(|_| ())
}
