//! `ndp.accountants`: what `ndp-dp` knows, for Python.

pub(crate) mod calibration;
pub(crate) mod functions;
pub(crate) mod mechanisms;
