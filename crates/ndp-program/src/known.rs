//! What was found of a program once and holds until it changes.

use crate::build::{Program, Seeing};
use num_traits::Zero;
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

impl Program {
    /// What accounts of the program take for granted.
    pub(crate) fn trusted(&self) -> Trusted {
        self.trusted.or_find(|| {
            let first = self.events.iter().map(|event| event.moment).min().unwrap_or(usize::MAX);
            let mut holders = vec![0_usize; self.values.len()];
            for event in self.events.iter().filter(|event| matches!(event.seeing, Seeing::Held { .. })) {
                holders[event.value] += 1;
            }
            Trusted {
                contributes_late: self.contributions.iter().any(|contribution| contribution.moment > first),
                secure_sums: self.events.iter().any(|event| matches!(event.seeing, Seeing::SecureSum { .. })),
                shared_noises: self
                    .noises
                    .iter()
                    .any(|noise| !noise.variance.is_zero() && holders[noise.value] != 1),
            }
        })
    }
}
