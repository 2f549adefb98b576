//! What accounts of a program take for granted, determined from its steps.

use crate::build::{Program, Seeing};
use crate::cached::Trusted;
use crate::registers::Definition;
use num_traits::Zero;
use std::collections::BTreeSet;

impl Program {
    /// What accounts of the program take for granted.
    pub(crate) fn trusted(&self) -> Trusted {
        self.trusted.or_find(|| {
            let first = self.events.iter().map(|event| event.moment).min().unwrap_or(usize::MAX);
            Trusted {
                contributes_late: self.contributions.iter().any(|contribution| contribution.moment > first),
                secure_sums: self.events.iter().any(|event| matches!(event.seeing, Seeing::SecureSum { .. })),
                shared_noises: self.shares_noises(),
            }
        })
    }

    /// Whether some noise does not belong to a single node: several nodes hold it, or none does, as of a
    /// dealer's noises whose sums are handed out.
    fn shares_noises(&self) -> bool {
        let mut holders = vec![BTreeSet::new(); self.noises.len()];
        for event in self.events.iter() {
            if let (Seeing::Held { by }, Definition::Noise(k)) = (&event.seeing, &self.values[event.value]) {
                holders[*k].insert(*by);
            }
        }
        self.noises.iter().zip(&holders).any(|(noise, by)| by.len() != 1 && !noise.variance.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProgramError, Reads};

    /// Noises of one node, of two, of none, and of variance 0; masks that a dealer gives out; and a noise
    /// that is sent.
    #[test]
    fn noises_of_one_node_alone_are_not_shared() -> Result<(), ProgramError> {
        let shared = |make: &dyn Fn(&mut Program) -> Result<(), ProgramError>| {
            let mut program = Program::new(3)?;
            make(&mut program)?;
            Ok::<_, ProgramError>(program.trusted().shared_noises)
        };
        assert!(!shared(&|p| p.noise([0], 1).map(drop))?);
        assert!(shared(&|p| p.noise([0, 1], 1).map(drop))?);
        assert!(shared(&|p| p.noise([], 1).map(drop))?);
        assert!(!shared(&|p| p.noise([], 0).map(drop))?);
        assert!(shared(&|p| p.zero_sum(&[1, 1], 1).map(drop))?);
        assert!(shared(&|p| p.zero_sum(&[1, 2], 1).map(drop))?);
        assert!(!shared(&|p| {
            let (x, z) = (p.contribute(0, Reads::Nothing)?, p.noise([0], 1)?);
            let y = p.add(&[x, z])?;
            p.send(0, 1, y)
        })?);
        Ok(())
    }
}
