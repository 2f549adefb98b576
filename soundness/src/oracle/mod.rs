//! The truth, by means that the library does not use.

pub(crate) mod rational;
