//! What a program computes: the values that nodes end with, and how far they are from the mean.

use crate::ProgramError;
use crate::build::{Program, Value};
use crate::registers::Definition;
use crate::weight::float;
use ndp_account::Error;
use ndp_dp::NoiseMultiplier;
use rayon::prelude::*;
use std::collections::BTreeMap;

impl Program {
    /// What nodes end with, each as its estimate of the mean over nodes of what each contributed in all.
    /// Nobody sees more for it; [`error`](Self::error) says how good it is.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`], [`ProgramError::NodeOutOfRange`]; [`ProgramError::Repeated`] for a
    /// second result.
    pub fn result(&mut self, ends: impl IntoIterator<Item = (usize, Value)>) -> Result<(), ProgramError> {
        self.held.forget();
        for (node, value) in ends {
            let number = self.check(value)?;
            self.state(node)?;
            if self.results.insert(node, number).is_some() {
                return Err(ProgramError::Repeated { node, what: "the results" });
            }
        }
        Ok(())
    }

    /// Root mean square of what noise and mixing add to the mean, over the nodes that end with a result and
    /// over runs, at most: in units of the length `Δ` of the interval around 0 that contributions come from,
    /// at noise `σ/Δ`. In floating point.
    ///
    /// With coefficients `c_v` over the `m` contributions, `a` those of the mean, `k_v` over the noises of
    /// variances `V`, and `R` results it is `√((m / 4R) Σ_v |c_v - a|² + (σ²/R) Σ_v k_vᵀ V k_v)`.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for a program without results, and for one that is too large.
    pub fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let (bias, shares) = self.error_parts()?;
        let variance: f64 = shares.iter().sum();
        Ok((bias * self.contributions.len() as f64 / 4.0 + noise.get() * noise.get() * variance).sqrt())
    }

    /// What every noise adds to the mean squared error over nodes and runs.
    pub(super) fn noise_shares(&self) -> Result<Vec<f64>, Error> {
        Ok(self.error_parts()?.1)
    }

    /// `(1/R) Σ_v |c_v - a|²`, and for every noise `(1/R) Σ_v k_v² V`.
    fn error_parts(&self) -> Result<(f64, Vec<f64>), Error> {
        if self.results.is_empty() {
            return Err(Error::NotOffered("the program does not say what its nodes end with"));
        }
        // Nodes mostly end with the same value, or each with its own.
        let mut distinct: BTreeMap<usize, f64> = BTreeMap::new();
        self.results.values().for_each(|&value| *distinct.entry(value).or_insert(0.0) += 1.0);
        if distinct.len().saturating_mul(self.values.len()) > MAX_WORK {
            return Err(Error::NotOffered("the program is too large for its error to be computed"));
        }
        let terms: Vec<Vec<(usize, f64)>> = self
            .values
            .iter()
            .map(|made| made.terms().into_iter().map(|(value, weight)| (value, float(weight))).collect())
            .collect();
        let mut contributes = vec![false; self.nodes];
        self.contributions.iter().for_each(|c| contributes[c.node] = true);
        let share = 1.0 / contributes.iter().filter(|&&x| x).count().max(1) as f64;
        let of_value = |(&value, &count): (&usize, &f64)| {
            let mut weights = vec![0.0; value + 1];
            weights[value] = 1.0;
            let mut bias = 0.0;
            let mut squares: Vec<(usize, f64)> = Vec::new();
            let mut missing = self.contributions.len() as f64;
            for at in (0..=value).rev() {
                let weight: f64 = weights[at];
                if weight == 0.0 {
                    continue;
                }
                match &self.values[at] {
                    Definition::Contribution(_) => {
                        bias += (weight - share) * (weight - share);
                        missing -= 1.0;
                    }
                    Definition::Noise(k) => squares.push((*k, count * weight * weight)),
                    _ => terms[at].iter().for_each(|(term, factor)| weights[*term] += weight * factor),
                }
            }
            (count * (bias + missing * share * share), squares)
        };
        let distinct: Vec<(&usize, &f64)> = distinct.iter().collect();
        let found: Vec<(f64, Vec<(usize, f64)>)> = distinct.into_par_iter().map(of_value).collect();
        let results = self.results.len() as f64;
        let mut shares = vec![0.0; self.noises.len()];
        let mut bias = 0.0;
        for (part, squares) in found {
            bias += part / results;
            for (k, square) in squares {
                shares[k] += square * float(&self.noises[k].variance) / results;
            }
        }
        Ok((bias, shares))
    }
}

/// Results times values, at most.
const MAX_WORK: usize = 400_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reads;
    use crate::constructors::decor;
    use ndp_graph::generators::cycle_graph;

    /// Masks cancel in the mean of all: what is left is a fifth of five noises.
    #[test]
    fn masks_cancel() -> Result<(), Error> {
        let error = decor(&cycle_graph(5)?, 1, 100, 1)?.error(NoiseMultiplier::new(2.0)?)?;
        assert!((error - 2.0 / 5.0_f64.sqrt()).abs() < 1e-12, "{error}");
        Ok(())
    }

    #[test]
    fn results_are_given_once() -> Result<(), Error> {
        let mut program = Program::new(2)?;
        assert!(matches!(program.error(NoiseMultiplier::new(1.0)?), Err(Error::NotOffered(_))));
        let x = program.contribute(0, Reads::Nothing)?;
        program.result([(1, x)])?;
        assert_eq!(program.result([(1, x)]), Err(ProgramError::Repeated { node: 1, what: "the results" }));
        assert!(program.result([(2, x)]).is_err());
        // One of one contribution: the mean itself.
        assert_eq!(program.error(NoiseMultiplier::new(1.0)?)?, 0.0);
        Ok(())
    }
}
