//! What a program computes: the results of nodes, and their distance from the mean.

use crate::ProgramError;
use crate::build::{Program, Value};
use crate::registers::Definition;
use crate::weight::float;
use ndp_account::Error;
use ndp_dp::NoiseMultiplier;
use rayon::prelude::*;
use std::collections::BTreeMap;

impl Program {
    /// States the results of nodes, each as the node's estimate of the mean over nodes of their total
    /// contributions. This reveals nothing to anybody; [`error`](Self::error) says how good the estimates
    /// are.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`], [`ProgramError::NodeOutOfRange`]; [`ProgramError::Repeated`] for a
    /// second result.
    pub fn result(&mut self, ends: impl IntoIterator<Item = (usize, Value)>) -> Result<(), ProgramError> {
        self.forget();
        // What is refused changes nothing.
        let mut results = self.results.clone();
        for (node, value) in ends {
            let number = self.check(value)?;
            self.state(node)?;
            if results.insert(node, number).is_some() {
                return Err(ProgramError::Repeated { node, what: "the results" });
            }
        }
        self.results = results;
        Ok(())
    }

    /// An upper bound on the root mean square of what noise and mixing add to the mean, over the nodes with a
    /// result and over runs. The mean is that of the nodes that contribute: a server without data is none of
    /// them. It is in units of the length `Δ` of the interval around 0 that contributions
    /// come from, at noise `σ/Δ`, and computed in floating point.
    ///
    /// Let a result `v` have coefficients `c_v` over the contributions and `k_v` over the noises of variances
    /// `V`, and let the mean have coefficients `a`. With `R` results, the error is at most `√((1/R) Σ_v (Σ_i
    /// |c_vi - a_i| / 2)² + (σ²/R) Σ_v k_vᵀ V k_v)`: every result is off by at most its inner sum, and by
    /// that much on some contributions, which may be others for another result.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for a program without results, for one that is too large, and where the weights
    /// of a result do not add up to those of the mean: over an interval that lies anywhere its error has no
    /// bound.
    pub fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let Parts { bias, shares, unbalanced } = self.error_parts()?;
        if unbalanced > BALANCED {
            return Err(Error::NotOffered(
                "the weights of a result do not add up to those of the mean: how far it is off depends on where values lie",
            ));
        }
        let variance: f64 = shares.iter().sum();
        Ok((bias + noise.get() * noise.get() * variance).sqrt())
    }

    /// The part of every noise in the mean squared error over nodes and runs.
    pub(super) fn noise_shares(&self) -> Result<Vec<f64>, Error> {
        Ok(self.error_parts()?.shares)
    }

    fn error_parts(&self) -> Result<Parts, Error> {
        if self.results.is_empty() {
            return Err(Error::NotOffered("the program does not say what its nodes end with"));
        }
        // In most programs, all nodes end with the same value, or each with its own.
        let mut distinct: BTreeMap<usize, f64> = BTreeMap::new();
        self.results.values().for_each(|&value| *distinct.entry(value).or_insert(0.0) += 1.0);
        if distinct.len().max(LANES).saturating_mul(self.values.len()) > MAX_WORK {
            return Err(Error::NotOffered("the program is too large for its error to be computed"));
        }
        let terms: Vec<Vec<(usize, f64)>> = self
            .values
            .par_iter()
            .map(|made| made.terms().into_iter().map(|(value, weight)| (value, float(weight))).collect())
            .collect();
        let mut contributes = vec![false; self.nodes];
        self.contributions.iter().for_each(|c| contributes[c.node] = true);
        let share = 1.0 / contributes.iter().filter(|&&x| x).count().max(1) as f64;
        let distinct: Vec<(usize, f64)> = distinct.into_iter().collect();
        let mean = Mean { terms: &terms, share };
        let found: Vec<Part> = distinct.par_chunks(LANES).map(|some| self.walked_back(some, &mean)).collect();
        let results = self.results.len() as f64;
        let mut shares = vec![0.0; self.noises.len()];
        let (mut bias, mut unbalanced) = (0.0, 0.0_f64);
        for part in found {
            bias += part.bias / results;
            unbalanced = unbalanced.max(part.unbalanced);
            for (k, square) in part.squares {
                shares[k] += square * float(&self.noises[k].variance) / results;
            }
        }
        Ok(Parts { bias, shares, unbalanced })
    }

    /// `Σ (Σ_i |c_i - a_i| / 2)²` over at most `LANES` values, each counted as often as it is a result, and
    /// `Σ k²` for every noise. Each step back is read once for all of them.
    fn walked_back(&self, some: &[(usize, f64)], mean: &Mean<'_>) -> Part {
        let last = some.iter().map(|(value, _)| *value).max().unwrap_or(0);
        let mut weights = vec![[0.0; LANES]; last + 1];
        some.iter().enumerate().for_each(|(lane, (value, _))| weights[*value][lane] = 1.0);
        let (mut apart, mut total) = ([0.0_f64; LANES], [0.0; LANES]);
        let mut missing = [self.contributions.len() as f64; LANES];
        let mut squares: Vec<(usize, f64)> = Vec::new();
        for at in (0..=last).rev() {
            let of = weights[at];
            if of == [0.0; LANES] {
                continue;
            }
            match &self.values[at] {
                Definition::Contribution(_) => {
                    for lane in (0..LANES).filter(|&lane| of[lane] != 0.0) {
                        apart[lane] += (of[lane] - mean.share).abs();
                        total[lane] += of[lane];
                        missing[lane] -= 1.0;
                    }
                }
                Definition::Noise(k) => {
                    let terms = some.iter().zip(of).map(|((_, count), weight)| count * weight * weight);
                    squares.push((*k, terms.sum()));
                }
                Definition::Sum(_) | Definition::Mixed { .. } => {
                    for (term, factor) in &mean.terms[at] {
                        weights[*term].iter_mut().zip(of).for_each(|(to, x)| *to += x * factor);
                    }
                }
            }
        }
        let parts = some.iter().zip(apart.iter().zip(missing));
        let due = self.contributions.len() as f64 * mean.share;
        Part {
            bias: parts
                .map(|((_, count), (apart, missing))| {
                    let most = (apart + missing * mean.share) / 2.0;
                    count * most * most
                })
                .sum(),
            unbalanced: total[..some.len()].iter().map(|total: &f64| (total - due).abs()).fold(0.0, f64::max),
            squares,
        }
    }
}

/// `(1/R) Σ_v (Σ_i |c_vi - a_i| / 2)²`; for every noise `(1/R) Σ_v k_v² V`; and the largest difference
/// between the sum of the weights of a result and that of the mean.
struct Parts {
    bias: f64,
    shares: Vec<f64>,
    unbalanced: f64,
}

/// The same of some results, not divided by `R`, with the numbers of noises.
struct Part {
    bias: f64,
    squares: Vec<(usize, f64)>,
    unbalanced: f64,
}

/// What roundings leave of a difference that is 0.
const BALANCED: f64 = 1e-9;

/// The mean with which every result is compared.
struct Mean<'p> {
    /// The terms of values.
    terms: &'p [Vec<(usize, f64)>],
    /// The weight of a contribution in the mean.
    share: f64,
}

/// The largest product of the number of results (at least those that are walked back together) and the number
/// of values.
const MAX_WORK: usize = 400_000_000;
/// The number of results that are walked back together: their weights for one value fill a cache line.
const LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reads;
    use crate::constructors::{decor, secure_neighbor_sums};
    use crate::registers::Primitive;
    use ndp_graph::GossipMatrix;
    use ndp_graph::generators::{cycle_graph, karate_club_graph};

    /// The masks cancel in the mean of all nodes: what remains is a fifth of the sum of five noises.
    #[test]
    fn masks_cancel() -> Result<(), Error> {
        let error = decor(&cycle_graph(5)?, 1, 100, 1)?.error(NoiseMultiplier::new(2.0)?)?;
        assert!((error - 2.0 / 5.0_f64.sqrt()).abs() < 1e-12, "{error}");
        Ok(())
    }

    /// Half of the mean is wrong by half of it, wherever values lie: there is no bound. A result that is
    /// refused changes nothing.
    #[test]
    fn weights_of_a_result_add_up() -> Result<(), Error> {
        let mut program = Program::new(2)?;
        let (x, y) = (program.contribute(0, Reads::Nothing)?, program.contribute(1, Reads::Nothing)?);
        let (quarter, mean) =
            (program.combine([(0.25, x), (0.25, y)])?, program.combine([(0.5, x), (0.5, y)])?);
        program.result([(0, mean), (1, mean)])?;
        assert_eq!(program.error(NoiseMultiplier::new(1.0)?)?, 0.0);
        let refused = program.result([(0, quarter)]);
        assert_eq!(refused, Err(ProgramError::Repeated { node: 0, what: "the results" }));
        assert_eq!(program.error(NoiseMultiplier::new(1.0)?)?, 0.0);
        let mut half = Program::new(1)?;
        let x = half.contribute(0, Reads::Nothing)?;
        let end = half.combine([(0.5, x)])?;
        half.result([(0, end)])?;
        assert!(matches!(half.error(NoiseMultiplier::new(1.0)?), Err(Error::NotOffered(_))));
        Ok(())
    }

    /// If nobody contributes, the error is that of the noise alone.
    #[test]
    fn programs_of_noise_alone_have_errors() -> Result<(), Error> {
        let mut program = Program::new(1)?;
        let z = program.noise([0], 4)?;
        program.result([(0, z)])?;
        assert_eq!(program.error(NoiseMultiplier::new(3.0)?)?, 6.0);
        Ok(())
    }

    /// Compared with exact coefficients, for more results than are walked back together; some are the same
    /// value, and some are values of an early step.
    #[test]
    fn errors_are_those_of_exact_coefficients() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&karate_club_graph()?);
        let mut program = secure_neighbor_sums(&matrix, 3)?;
        let values: Vec<Value> = program
            .results
            .values()
            .map(|&value| program.values().nth(value))
            .collect::<Option<_>>()
            .ok_or(Error::Cancelled)?;
        program.results.clear();
        let early = program.values().nth(80).ok_or(Error::Cancelled)?;
        program.result(values.iter().take(19).copied().chain([early, early, values[3]]).enumerate())?;
        let sigma = 1.5;
        let mut square = 0.0;
        for &value in program.results.values() {
            let (mut used, mut apart, mut noise) = (0.0, 0.0, 0.0);
            for (primitive, x) in program.form(value) {
                match primitive {
                    Primitive::Contribution(_) => {
                        used += 1.0;
                        apart += (float(&x) - 1.0 / 34.0).abs();
                    }
                    Primitive::Noise(k) => {
                        noise += sigma * sigma * float(&program.noises[k].variance) * float(&x).powi(2);
                    }
                }
            }
            square += noise + (apart / 2.0 + (34.0 - used) / (2.0 * 34.0)).powi(2);
        }
        let expected = (square / 22.0).sqrt();
        let error = program.error(NoiseMultiplier::new(sigma)?)?;
        assert!((error / expected - 1.0).abs() < 1e-13, "{error} {expected}");
        Ok(())
    }

    #[test]
    fn results_are_given_once() -> Result<(), Error> {
        let mut program = Program::new(2)?;
        assert!(matches!(program.error(NoiseMultiplier::new(1.0)?), Err(Error::NotOffered(_))));
        let x = program.contribute(0, Reads::Nothing)?;
        program.result([(1, x)])?;
        assert_eq!(program.result([(1, x)]), Err(ProgramError::Repeated { node: 1, what: "the results" }));
        crate::tests::assert_refused(program.result([(2, x)]), "node 2 is out of range");
        // With a single contribution, the result is the mean itself.
        assert_eq!(program.error(NoiseMultiplier::new(1.0)?)?, 0.0);
        Ok(())
    }
}
