//! On what the data of a node may depend.

use ndp_algos::Error;
use ndp_algos::walk::complete::CompleteHistogram;
use rand_chacha::ChaCha8Rng;

/// The labels of a node at its visits: they may change from visit to visit.
pub(crate) fn taken(labels: &[u32]) -> Vec<u32> {
    labels.to_vec()
}

/// A run in which node `u` has the labels `labels[u]` at its visits, as far as the library takes them.
pub(crate) fn run(
    histogram: &CompleteHistogram,
    labels: &[Vec<u32>],
    rng: &mut ChaCha8Rng,
) -> Result<(), Error> {
    histogram.run(|node, visit| labels[node][visit.min(labels[node].len() - 1)], rng).map(|_| ())
}
