//! What parts draw: graphs, weights, coalitions, numbers.

pub(crate) mod numbers;
