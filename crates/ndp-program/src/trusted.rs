//! What accounts of a program take for granted, determined from its steps.

use crate::build::{Program, Seeing};
use crate::cached::Trusted;
use crate::registers::{Definition, Primitive};
use num_traits::Zero;

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

    /// Whether some noise does not belong to a single node: it is known to several nodes or to none, except
    /// if everything that is handed out of it goes to one node.
    fn shares_noises(&self) -> bool {
        let held = || {
            self.events.iter().filter_map(|event| match event.seeing {
                Seeing::Held { by } => Some((event.value, by)),
                _ => None,
            })
        };
        let mut owners: Vec<Option<usize>> = vec![None; self.noises.len()];
        let own = |owner: &mut Option<usize>, by: usize| *owner.get_or_insert(by) == by;
        for (value, by) in held() {
            if let Definition::Noise(k) = self.values[value]
                && !own(&mut owners[k], by)
            {
                return true;
            }
        }
        let hidden: Vec<bool> = owners.iter().map(Option::is_none).collect();
        for (value, by) in held().filter(|&(value, _)| !matches!(self.values[value], Definition::Noise(_))) {
            for (primitive, _) in self.form(value) {
                if let Primitive::Noise(k) = primitive
                    && hidden[k]
                    && !own(&mut owners[k], by)
                {
                    return true;
                }
            }
        }
        self.noises.iter().zip(&owners).any(|(noise, owner)| owner.is_none() && !noise.variance.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProgramError, Reads};

    /// Noises of one node, of two, of none, and of variance 0; masks that a dealer gives to one node or to
    /// two; and a noise that is sent.
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
        assert!(!shared(&|p| p.zero_sum(&[1, 1], 1).map(drop))?);
        assert!(shared(&|p| p.zero_sum(&[1, 2], 1).map(drop))?);
        assert!(!shared(&|p| {
            let (x, z) = (p.contribute(0, Reads::Nothing)?, p.noise([0], 1)?);
            let y = p.add(&[x, z])?;
            p.send(0, 1, y)
        })?);
        Ok(())
    }
}
