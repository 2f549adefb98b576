//! `ndp.accountants`: what `ndp-dp` knows, for Python.

pub(crate) mod accountant;
pub(crate) mod amplification;
pub(crate) mod amplified;
pub(crate) mod calibration;
mod common;
pub(crate) mod functions;
pub(crate) mod loss_law;
pub(crate) mod mechanisms;
