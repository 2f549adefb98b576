//! What was found of a program once and holds until it changes.

use std::sync::{Arc, OnceLock};

/// What was found of a program, which is no part of it.
#[derive(Clone, Debug)]
pub(crate) struct Known<T>(Arc<OnceLock<T>>);

impl<T: Copy> Known<T> {
    /// What is known, or else what is found now.
    pub(crate) fn or_find(&self, find: impl FnOnce() -> T) -> T {
        *self.0.get_or_init(find)
    }

    /// The program changes, its copies do not.
    pub(crate) fn forget(&mut self) {
        if self.0.get().is_some() || Arc::strong_count(&self.0) > 1 {
            *self = Self::default();
        }
    }
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> PartialEq for Known<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What accounts of a program take for granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trusted {
    /// Something is contributed after something was sent, so that it might depend on it.
    pub(crate) contributes_late: bool,
    /// A secure sum is seen by its receiver alone, and its addends by nobody.
    pub(crate) secure_sums: bool,
    /// A noise is known to several nodes, or to nobody, since they only know what is dealt to them of it.
    pub(crate) shared_noises: bool,
}
