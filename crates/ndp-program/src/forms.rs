//! Coefficients that were worked out for one observer and serve the next: what a node sends is seen by all
//! that hear it.

use crate::registers::{Definition, Primitive, form};
use num_rational::BigRational;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The coefficients of a value over contributions and noises, ascending, none of them 0.
pub(crate) type Form = Vec<(Primitive, BigRational)>;

/// The coefficients of values that were asked for, as long as they fit; no part of the program.
#[derive(Debug, Default)]
pub(crate) struct Forms(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_value: BTreeMap<usize, Arc<Form>>,
    bytes: u64,
}

impl Forms {
    /// Those of a value of the program with these values.
    pub(crate) fn of(&self, values: &[Definition], value: usize) -> Arc<Form> {
        // A poisoned lock holds whole entries all the same.
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().by_value.get(&value) {
            return Arc::clone(known);
        }
        // Not under the lock: other observers go on with other values.
        let found = Arc::new(form(values, value));
        let bytes = bytes(&found);
        let mut kept = kept();
        if kept.bytes.saturating_add(bytes) <= MOST_BYTES
            && kept.by_value.insert(value, Arc::clone(&found)).is_none()
        {
            kept.bytes += bytes;
        }
        found
    }

    /// The program changes: a value that is taken back gives its number to another one.
    pub(crate) fn forget(&mut self) {
        let kept = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !kept.by_value.is_empty() {
            *kept = Kept::default();
        }
    }
}

/// A copy of a program finds its own.
impl Clone for Forms {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Programs are equal whatever was asked of them.
impl PartialEq for Forms {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// About what the coefficients take in memory.
fn bytes(form: &Form) -> u64 {
    let of_ratio = |x: &BigRational| (x.numer().bits() + x.denom().bits()) / 8 + OVERHEAD;
    form.iter().map(|(_, x)| of_ratio(x)).sum()
}

/// Of a coefficient, beside its digits.
const OVERHEAD: u64 = 128;
/// What is kept of a program.
const MOST_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use crate::{Program, ProgramError, Reads};

    /// What was kept is what is found anew, after steps and after steps that were taken back and replaced.
    #[test]
    fn kept_coefficients_are_those_of_the_program() -> Result<(), ProgramError> {
        let mut program = Program::new(2)?;
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
        let sum = program.add(&[x, z])?;
        let same = |program: &Program| {
            (0..program.values.len()).all(|value| {
                let fresh = program.form(value);
                *program.kept_form(value) == fresh && *program.kept_form(value) == fresh
            })
        };
        assert!(same(&program));
        let (mark, before) = (program.mark(), program.clone());
        let twice = program.add(&[sum, x])?;
        assert!(same(&program) && *program.kept_form(twice.index()) != *program.kept_form(sum.index()));
        program.rewind(mark);
        assert!(same(&program) && program == before);
        // The same number, another value.
        let other = program.add(&[sum, z])?;
        assert_eq!(other.index(), twice.index());
        assert!(same(&program));
        Ok(())
    }
}
