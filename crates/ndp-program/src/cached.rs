//! Results about a program that are computed once and kept until it changes.

use std::sync::{Arc, OnceLock};

/// A result about a program, which is not part of the program.
#[derive(Clone, Debug)]
pub(crate) struct Cached<T>(Arc<OnceLock<T>>);

impl<T: Copy> Cached<T> {
    /// The kept result, or otherwise what is found now, which is then kept.
    pub(crate) fn or_find(&self, find: impl FnOnce() -> T) -> T {
        *self.0.get_or_init(find)
    }

    /// Must be called when the program changes; its copies do not change.
    pub(crate) fn forget(&mut self) {
        if self.0.get().is_some() || Arc::strong_count(&self.0) > 1 {
            *self = Self::default();
        }
    }
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> PartialEq for Cached<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What accounts of a program take for granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trusted {
    /// Something is contributed after something was sent, and might depend on it.
    pub(crate) contributes_late: bool,
    /// Only its receiver sees a secure sum, and nobody sees the addends.
    pub(crate) secure_sums: bool,
    /// A noise is known to several nodes, or to no node, as they only know what a dealer hands out.
    pub(crate) shared_noises: bool,
}
