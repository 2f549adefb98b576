//! The token on the complete graph: each step at a node drawn uniformly among all `n`.
