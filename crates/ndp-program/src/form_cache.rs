//! A cache of the coefficients of values: what is computed for one observer is used for the next one, as all
//! nodes that hear a message see the same value.

use crate::registers::{Definition, Form, form, next_form};
use ndp_numeric::stop::{Stop, Stopped};
use num_rational::BigRational;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The coefficients of values that were asked for, as long as they fit in memory. They are not part of the
/// program.
#[derive(Debug, Default)]
pub(crate) struct FormCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_value: BTreeMap<usize, Arc<Form>>,
    bytes: u64,
}

impl FormCache {
    // If another thread panicked while it held the lock, the entries are still complete.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The coefficients of a value of the program with these values.
    pub(crate) fn of(&self, values: &[Definition], value: usize) -> Arc<Form> {
        if let Some(known) = self.kept().by_value.get(&value) {
            return Arc::clone(known);
        }
        // Computed without the lock, so that other observers can continue with other values.
        let found = Arc::new(form(values, value));
        self.kept().keep(value, &found);
        found
    }

    /// Computes the coefficients of all values in `wanted` and of everything they are made of, each from its
    /// terms, if this is less work than a walk back in time from each of `wanted`, and as long as they fit.
    pub(crate) fn prepare(
        &self,
        values: &[Definition],
        wanted: &[usize],
        stop: &Stop,
    ) -> Result<(), Stopped> {
        // This holds the lock, so that the coefficients are computed once and later questions find all of
        // them.
        let mut kept = self.kept();
        let wanted = wanted.iter().copied().filter(|value| !kept.by_value.contains_key(value));
        let Some(cone) = cone_of_less_work(values, &wanted.collect::<Vec<_>>()) else { return Ok(()) };
        for value in cone {
            // The caller has counted the work.
            stop.check()?;
            if kept.by_value.contains_key(&value) {
                continue;
            }
            let of = |term: usize| kept.by_value.get(&term).map(|form| &**form);
            let Some(found) = next_form(values, value, of) else { return Ok(()) };
            if !kept.keep(value, &Arc::new(found)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Must be called when the program changes: after a value is taken back, its number is given to another
    /// one.
    pub(crate) fn forget(&mut self) {
        let kept = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !kept.by_value.is_empty() {
            *kept = Kept::default();
        }
    }
}

impl Kept {
    /// Returns whether there was room.
    fn keep(&mut self, value: usize, form: &Arc<Form>) -> bool {
        let bytes = self.bytes.saturating_add(bytes(form));
        let fits = bytes <= MOST_BYTES;
        if fits && self.by_value.insert(value, Arc::clone(form)).is_none() {
            self.bytes = bytes;
        }
        fits
    }
}

/// All values that `wanted` are made of, ascending, if the coefficients of each over every contribution and
/// noise among them are fewer numbers than the walks back from each of `wanted` visit.
fn cone_of_less_work(values: &[Definition], wanted: &[usize]) -> Option<Vec<usize>> {
    let mut by = vec![0u32; values.len()];
    let (mut visits, mut open) = (0usize, Vec::new());
    for (number, &value) in (1..).zip(wanted) {
        open.push(value);
        while let Some(at) = open.pop() {
            if by[at] == number {
                continue;
            }
            by[at] = number;
            visits += 1;
            values[at].each_term(|term, _| open.push(term));
        }
    }
    let cone: Vec<usize> = (0..values.len()).filter(|&at| by[at] > 0).collect();
    let is_primitive =
        |at: &&usize| matches!(values[**at], Definition::Contribution(_) | Definition::Noise(_));
    let primitives = cone.iter().filter(is_primitive).count();
    (cone.len().saturating_mul(primitives) < visits.saturating_mul(WORTH)).then_some(cone)
}

/// A copy of a program computes its own coefficients.
impl Clone for FormCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Programs are equal independently of what was asked of them.
impl PartialEq for FormCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The approximate memory of the coefficients, in bytes.
fn bytes(form: &Form) -> u64 {
    let of_ratio = |x: &BigRational| (x.numer().bits() + x.denom().bits()) / 8 + OVERHEAD;
    form.iter().map(|(_, x)| of_ratio(x)).sum()
}

/// The memory of a coefficient, in addition to its digits.
const OVERHEAD: u64 = 128;
/// A visit on a walk back costs more than a coefficient: it has to find its place among the open values.
const WORTH: usize = 2;
/// The memory that is kept for one program.
const MOST_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use crate::constructors::{corn_dsgd_along, dsgd, secure_neighbor_sums};
    use crate::{Program, ProgramError, Reads};
    use ndp_certify::divisor::greatest_common_divisor;
    use ndp_graph::{GossipMatrix, Weights, generators};
    use ndp_numeric::stop::Stop;
    use num_bigint::BigInt;
    use num_traits::One;

    /// Values from their terms equal values by a walk back in time, over one denominator without a common
    /// divisor. They are computed from their terms only if walks back are more work.
    #[test]
    fn forms_by_steps_are_those_of_walks_back() -> Result<(), Box<dyn std::error::Error>> {
        let matrices = [
            GossipMatrix::metropolis(&generators::karate_club_graph()?),
            GossipMatrix::new(&generators::cycle_graph(9)?, Weights::MaxDegree)?,
        ];
        for (matrix, rounds) in matrices.iter().zip([7, 14]) {
            for program in [corn_dsgd_along(matrix, 0.5, 0.3, rounds)?, secure_neighbor_sums(matrix, rounds)?]
            {
                let all: Vec<usize> = (0..program.values.len()).collect();
                program.prepare_forms(&all, &Stop::never())?;
                assert_eq!(program.forms.kept().by_value.len(), all.len());
                for value in all.into_iter().step_by(5) {
                    let (step, back) = (program.kept_form(value), program.form(value));
                    assert_eq!(*step, back, "value {value}");
                    let Some((_, first)) = step.first() else { continue };
                    assert!(
                        step.iter().all(|(_, x)| x.denom() == first.denom() && x.numer() != &BigInt::ZERO)
                    );
                    let divisor = step.iter().fold(first.denom().magnitude().clone(), |divisor, (_, x)| {
                        greatest_common_divisor(&divisor, x.numer().magnitude())
                    });
                    assert!(divisor.is_one(), "value {value}");
                }
            }
        }
        // If each step brings noises of its own, there are as many coefficients as steps back.
        let short = dsgd(&GossipMatrix::metropolis(&generators::path_graph(60)?), 2)?;
        short.prepare_forms(&[short.values.len() - 1], &Stop::never())?;
        assert!(short.forms.kept().by_value.is_empty());
        Ok(())
    }

    /// What was kept equals what is computed anew, also after steps that were taken back and replaced.
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
        // The same number, but another value.
        let other = program.add(&[sum, z])?;
        assert_eq!(other.index(), twice.index());
        assert!(same(&program));
        Ok(())
    }
}
