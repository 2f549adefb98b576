//! Whole rounds of a meter.

use super::filter::Round;
use super::{Meter, Refusal};
use crate::constructors::ModelReads;
use crate::{MixingMatrix, ProgramError, Value, Weight};
use ndp_account::Error;

impl Meter {
    /// A whole round of decentralized SGD: every node that is present adds a contribution and a noise of this
    /// variance to its model, sends the sum to all nodes that give it a weight, and takes the mean of what it
    /// receives. The first models are 0.
    ///
    /// If contributions read hidden models ([`ModelReads::Hidden`]), the observer is charged as if it were
    /// shown the sums of which the models are means. These reveal no less than the models: an upper bound,
    /// which equals the account if the matrix is invertible.
    ///
    /// # Errors
    /// As [`step`](Self::step); [`ProgramError::Shape`]; [`ProgramError::Absent`] if the matrix has a weight
    /// between a node that has left and another one.
    pub fn round(
        &mut self,
        mixing: &MixingMatrix,
        variance: impl Into<Weight>,
        reads: ModelReads,
    ) -> Result<(), Error> {
        let (variance, n) = (variance.into(), self.nodes);
        if mixing.node_count() != n {
            let what = "rows of a gossip matrix";
            return Err(ProgramError::Shape { what, expected: n, got: mixing.node_count() }.into());
        }
        let exact = variance.variance()?.clone();
        for u in 0..n {
            for v in mixing.row(u).iter().map(|(v, _)| *v as usize).filter(|&v| v != u) {
                if let Some(node) = [u, v].into_iter().find(|&node| self.program.has_left(node)) {
                    return Err(ProgramError::Absent { node, what: "take part in gossip" }.into());
                }
            }
        }
        let present: Vec<bool> = (0..n).map(|u| !self.program.has_left(u)).collect();
        let mark = self.program.mark();
        let after = match self.recorded {
            true => match self.record(mixing, &variance, reads, &present) {
                Ok(after) => after,
                Err(error) => {
                    self.program.rewind(mark);
                    return Err(error.into());
                }
            },
            false => (0..n).collect(),
        };
        // A weight out of range becomes NaN, which the filters refuse.
        let float = |x: &num_rational::BigRational| num_traits::ToPrimitive::to_f64(x).unwrap_or(f64::NAN);
        let row = |u| mixing.row(u).iter().map(|(v, weight)| (*v as usize, float(weight))).collect();
        let weights: Vec<Vec<(usize, f64)>> = (0..n).map(row).collect();
        let before = self.model.clone();
        let value = |u: usize| {
            // The values of a program have numbers of 32 bits.
            before.as_ref().and_then(|before| u32::try_from(before[u]).ok()).map(Value)
        };
        let hidden = reads == ModelReads::Hidden;
        let reads = |u: usize| reads.of(value(u));
        let (before, after_models) = (before.as_deref(), &after);
        let round = Round {
            before,
            after: after_models,
            present: &present,
            variance: &exact,
            weights: &weights,
            reads: &reads,
            hidden,
        };
        self.commit(&mark, Some(&round))?;
        if let Some(before) = before {
            before.iter().for_each(|value| {
                self.alive.remove(value);
            });
        }
        self.alive.extend(after.iter().copied());
        self.model = Some(after);
        self.rounds += 1;
        self.restart();
        Ok(())
    }

    /// How many further rounds like this one fit below all limits, up to `most`.
    ///
    /// # Errors
    /// As [`round`](Self::round), without that of a limit; [`ProgramError::NoLimits`].
    pub fn remaining(
        &self,
        mixing: &MixingMatrix,
        variance: impl Into<Weight>,
        reads: ModelReads,
        most: u64,
    ) -> Result<u64, Error> {
        if self.limits.is_empty() {
            return Err(ProgramError::NoLimits.into());
        }
        let (mut copy, variance) = (self.clone(), variance.into());
        for rounds in 0..most {
            match copy.round(mixing, variance.clone(), reads) {
                Ok(()) => {}
                Err(error) if Refusal::of(&error).is_some() => return Ok(rounds),
                Err(error) => return Err(error),
            }
        }
        Ok(most)
    }

    /// Writes a round into the record, and returns the models after it.
    fn record(
        &mut self,
        mixing: &MixingMatrix,
        variance: &Weight,
        reads: ModelReads,
        present: &[bool],
    ) -> Result<Vec<usize>, ProgramError> {
        // The values of a program have numbers of 32 bits.
        let value = |k: usize| Value(u32::try_from(k).unwrap_or(u32::MAX));
        let before: Option<Vec<Value>> =
            self.model.as_ref().map(|model| model.iter().map(|&k| value(k)).collect());
        let program = &mut self.program;
        let mut sums = Vec::with_capacity(self.nodes);
        for (u, &present) in present.iter().enumerate() {
            let own = before.as_ref().map(|before| before[u]);
            let mut terms: Vec<Value> = own.into_iter().collect();
            if present {
                terms.push(program.contribute(u, reads.of(own))?);
                terms.push(program.noise([u], variance.clone())?);
            }
            sums.push(program.add(&terms)?);
        }
        for to in 0..self.nodes {
            for from in mixing.row(to).iter().map(|(from, _)| *from as usize).filter(|&from| from != to) {
                program.send(from, to, sums[from])?;
            }
        }
        Ok(program.gossip(mixing, &sums)?.into_iter().map(|value| value.index()).collect())
    }
}
