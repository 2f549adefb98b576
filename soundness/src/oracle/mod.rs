//! The truth, computed by means that the library does not use.

pub(crate) mod gaussian;
pub(crate) mod gossip;
pub(crate) mod linear;
pub(crate) mod modular;
pub(crate) mod rational;
pub(crate) mod series;
pub(crate) mod walk;
pub(crate) mod walks;
