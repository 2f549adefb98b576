//! Noises that belong together: those of a group of nodes, noises that sum to 0, and those of one node over
//! time.

use crate::build::{Program, Seeing, Value, distinct};
use crate::weight::ldl;
use crate::{ProgramError, Weight};
use num_rational::BigRational;

impl Program {
    /// Noises of the nodes of a group with the given covariance, each known to its node alone.
    ///
    /// # Errors
    /// [`ProgramError::Covariance`]; [`ProgramError::Shape`]; those of [`noise`](Self::noise).
    pub fn correlated(
        &mut self,
        group: &[usize],
        covariance: &[Vec<Weight>],
    ) -> Result<Vec<Value>, ProgramError> {
        distinct(group, "a group")?;
        group.iter().try_for_each(|&node| self.present(node, "draw a noise"))?;
        if covariance.len() != group.len() {
            let what = "rows of a covariance";
            return Err(ProgramError::Shape { what, expected: group.len(), got: covariance.len() });
        }
        let exact = |row: &Vec<Weight>| -> Result<Vec<BigRational>, ProgramError> {
            row.iter().map(|x| Ok(x.exact("an entry of a covariance")?.clone())).collect()
        };
        let exact: Vec<Vec<BigRational>> = covariance.iter().map(exact).collect::<Result<_, _>>()?;
        let (lower, diagonal) = ldl(&exact)?;
        let hidden: Vec<Value> = diagonal
            .into_iter()
            .map(|variance| self.noise([], Weight::of(variance)))
            .collect::<Result<_, _>>()?;
        let mut values = Vec::with_capacity(group.len());
        for (i, &by) in group.iter().enumerate() {
            let below = (0..i).map(|k| (Weight::of(lower[k][i - k - 1].clone()), hidden[k]));
            let terms: Vec<(Weight, Value)> = below.chain([(Weight::from(1), hidden[i])]).collect();
            let value = self.combine(terms)?;
            self.see(value, Seeing::Held { by });
            values.push(value);
        }
        Ok(values)
    }

    /// One noise for each of `holders`, which all sum to 0: the covariance is `s² (I - J / m)` for `m`
    /// noises, where `J` has all entries 1 and `s²` is the `variance`. Each noise is known only to its
    /// holder; a node that is named `k` times holds `k` of them.
    ///
    /// # Errors
    /// [`ProgramError::SmallGroup`] for fewer than two holders; those of [`noise`](Self::noise).
    pub fn zero_sum(
        &mut self,
        holders: &[usize],
        variance: impl Into<Weight>,
    ) -> Result<Vec<Value>, ProgramError> {
        let (count, variance) = (holders.len(), variance.into());
        if count < 2 {
            return Err(ProgramError::SmallGroup { what: "a zero-sum group", got: count });
        }
        holders.iter().try_for_each(|&node| self.present(node, "draw a noise"))?;
        // Independent noises minus their mean have this covariance.
        let hidden: Vec<Value> =
            (0..count).map(|_| self.noise([], variance.clone())).collect::<Result<_, _>>()?;
        let share = Weight::of(BigRational::new((-1).into(), count.into()));
        let mean = self.combine(hidden.iter().map(|&z| (share.clone(), z)))?;
        let mut values = Vec::with_capacity(count);
        for (&by, &z) in holders.iter().zip(&hidden) {
            let value = self.combine([(1, z), (1, mean)])?;
            self.see(value, Seeing::Held { by });
            values.push(value);
        }
        Ok(values)
    }

    /// Noises of one node over time: entry `t` is `Σ_s rows[t][s] ζ_s`, with independent noises `ζ_s` of the
    /// given variance, all of which the node knows. For a noise matrix `C` in the sense of matrix
    /// factorization, the rows are those of `C⁻¹`: see [`inverse_of_lower`](crate::inverse_of_lower).
    ///
    /// # Errors
    /// [`ProgramError::Shape`] if row `t` has more than `t + 1` entries; those of [`noise`](Self::noise).
    pub fn noise_over_time(
        &mut self,
        node: usize,
        rows: &[Vec<Weight>],
        variance: impl Into<Weight>,
    ) -> Result<Vec<Value>, ProgramError> {
        if let Some((k, row)) = rows.iter().enumerate().find(|(k, row)| row.len() > k + 1) {
            let what = "entries of a row of a lower triangular matrix";
            return Err(ProgramError::Shape { what, expected: k + 1, got: row.len() });
        }
        let variance = variance.into();
        let own: Vec<Value> =
            rows.iter().map(|_| self.noise([node], variance.clone())).collect::<Result<_, _>>()?;
        let terms = |row: &Vec<Weight>| -> Vec<(Weight, Value)> {
            let entries = row.iter().zip(&own).filter(|(weight, _)| !weight.is_zero());
            entries.map(|(weight, &value)| (weight.clone(), value)).collect()
        };
        rows.iter().map(|row| self.combine(terms(row))).collect()
    }
}
