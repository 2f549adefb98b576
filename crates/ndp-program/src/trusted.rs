//! What accounts of a program take for granted, found from its steps.

use crate::build::{Program, Seeing};
use crate::known::Trusted;
use num_traits::Zero;

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
