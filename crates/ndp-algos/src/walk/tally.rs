//! The token of a histogram: a count for each of `L` labels.

use std::collections::BTreeMap;

/// A count for each label.
pub trait Tally: Clone {
    /// No counts yet, over the labels `0..labels`.
    fn empty(labels: usize) -> Self;
    /// Counts one more of `label`.
    fn add(&mut self, label: usize);
    /// How many of `label` were counted.
    fn count(&self, label: usize) -> u64;
}

/// One counter per label: `O(L)` memory, for few labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dense(Vec<u64>);

impl Tally for Dense {
    fn empty(labels: usize) -> Self {
        Self(vec![0; labels])
    }
    fn add(&mut self, label: usize) {
        self.0[label] += 1;
    }
    fn count(&self, label: usize) -> u64 {
        self.0[label]
    }
}

/// Counters of the labels seen only: memory in the number of reports, for domains of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparse(BTreeMap<usize, u64>);

impl Sparse {
    /// The labels seen and their counts, in increasing order of label.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0.iter().map(|(&label, &count)| (label, count))
    }
}

impl Tally for Sparse {
    fn empty(_labels: usize) -> Self {
        Self(BTreeMap::new())
    }
    fn add(&mut self, label: usize) {
        *self.0.entry(label).or_insert(0) += 1;
    }
    fn count(&self, label: usize) -> u64 {
        self.0.get(&label).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tallies_count_alike() {
        let (mut dense, mut sparse) = (Dense::empty(5), Sparse::empty(5));
        for label in [3, 0, 3, 4, 3] {
            dense.add(label);
            sparse.add(label);
        }
        for label in 0..5 {
            assert_eq!(dense.count(label), sparse.count(label));
        }
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(0, 1), (3, 3), (4, 1)]);
    }
}
