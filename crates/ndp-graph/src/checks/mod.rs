//! Tests that need more than one module, against values computed elsewhere and for any graph.

mod chains;
mod properties;
mod walk_reference;
