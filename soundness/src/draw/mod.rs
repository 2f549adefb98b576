//! What the parts draw: graphs, weights, coalitions, numbers.

pub(crate) mod graphs;
pub(crate) mod numbers;
pub(crate) mod weights;
