//! What the crates refuse, as one Python exception with the library's own sentence.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    ndp,
    NdpError,
    PyValueError,
    "The library refused its input; the message names the condition and the value that failed it."
);

/// Why a call failed, before it is an exception.
pub(crate) enum Fault {
    /// The library refused its input, in its own words.
    Refused(String),
    /// Python raised, or was interrupted.
    Raised(PyErr),
    /// The library panicked, which is an error of the library.
    Panicked,
}

impl Fault {
    /// A refusal in the words given.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

/// What a word of Python stands for, of those that it may be.
pub(crate) fn one_of<T, const N: usize>(what: &str, all: [(&str, T); N], word: &str) -> Result<T, Fault> {
    let words = all.each_ref().map(|(name, _)| *name).join(", ");
    let found = all.into_iter().find(|(name, _)| *name == word);
    found
        .map(|(_, one)| one)
        .ok_or_else(|| Fault::new(format!("{what} must be one of {words}, got {word:?}")))
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(message) => NdpError::new_err(message),
            Fault::Raised(error) => error,
            Fault::Panicked => PyRuntimeError::new_err(
                "the library panicked, which is an error of the library and not of its input: please report it",
            ),
        }
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

macro_rules! refused {
    ($($error:ty),*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::Refused(error.to_string())
            }
        })*
    };
}

refused!(ndp_graph::Error, ndp_linalg::Error, ndp_dp::Error, ndp_account::Error);
