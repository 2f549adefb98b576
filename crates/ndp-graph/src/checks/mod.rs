//! Tests that need more than one module: against values computed elsewhere, and properties of arbitrary
//! graphs.

mod chains;
mod properties;
mod walk_reference;
