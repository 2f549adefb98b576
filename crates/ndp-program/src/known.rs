//! What was found of a program once and holds until it changes.

use std::sync::{Arc, OnceLock};

/// What was found of a program, which is no part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<OnceLock<bool>>);

impl Known {
    /// What is known, or else what is found now.
    pub(crate) fn or_find(&self, find: impl FnOnce() -> bool) -> bool {
        *self.0.get_or_init(find)
    }

    /// The program changes, its copies do not.
    pub(crate) fn forget(&mut self) {
        if self.0.get().is_some() || Arc::strong_count(&self.0) > 1 {
            *self = Self::default();
        }
    }
}

impl PartialEq for Known {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
