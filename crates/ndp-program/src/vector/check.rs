//! Which statements have an account: no value leaves a node before the first noise, and parts that need more
//! than one register or put noise on messages must be the only part after it.

use super::schedule::NoiseSchedule;
use super::{Part, VectorProgram};
use ndp_account::Error;
use ndp_account::parts::ensure;

impl VectorProgram<'_> {
    /// Checks that losses, views and runs follow from the statement.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a number out of its range; [`Error::Shape`] for a matrix or a sequence
    /// with another number of nodes; [`Error::NodeOutOfRange`]; [`Error::NotOffered`] if the first part is
    /// not noise, and for accelerated rounds, noise on messages or momentum beside other parts.
    pub(super) fn checked(&self) -> Result<(), Error> {
        let [Part::Noise(_), rest @ ..] = self.parts.as_slice() else {
            return Err(Error::NotOffered(
                "the first part of a protocol on vectors is the noise that every node adds",
            ));
        };
        NoiseSchedule::new(self.variances())?;
        rest.iter().try_for_each(|part| self.checked_part(part))?;
        if rest.len() > 1 && rest.iter().any(stands_alone) {
            return Err(Error::NotOffered(
                "accelerated rounds, noise on messages and momentum beside other parts: state it as a program",
            ));
        }
        Ok(())
    }

    fn checked_part(&self, part: &Part<'_>) -> Result<(), Error> {
        let nonnegative = |name, value: f64| {
            ensure((0.0..f64::INFINITY).contains(&value), name, "be nonnegative and finite", value)
        };
        let size = |what, got: usize| {
            if got == self.nodes { Ok(()) } else { Err(Error::Shape { what, expected: self.nodes, got }) }
        };
        match part {
            Part::Noise(_) => Ok(()),
            Part::Rounds { mixing, .. } => {
                size("nodes of a gossip matrix", mixing.matrix.node_count())?;
                if let Some(g) = mixing.extrapolation {
                    ensure((1.0..2.0).contains(&g), "the Chebyshev parameter", "lie in [1, 2)", g)?;
                }
                let ratio = mixing.noise.map_or(0.0, |(_, ratio)| ratio);
                nonnegative("the ratio of message noise to input noise", ratio)
            }
            Part::Changing(sequence) => size("nodes of a sequence", sequence.node_count()),
            Part::Rings { rings, rest, momentum: (mixing, push) } => {
                nonnegative("the mixing rate", *mixing)?;
                nonnegative("the step of the momentum", *push)?;
                nonnegative("the time between rings", *rest)?;
                rings.iter().try_for_each(|ring| {
                    let (a, b) = ring.edge;
                    let node = a.max(b);
                    if node >= self.nodes {
                        return Err(Error::NodeOutOfRange { node, nodes: self.nodes });
                    }
                    ensure(a != b, "the end of an edge that rings", "differ from the other end", a as f64)?;
                    nonnegative("the time between rings", ring.wait)
                })
            }
        }
    }
}

/// Whether a part has an account only if it follows the first noise and is the last part.
fn stands_alone(part: &Part<'_>) -> bool {
    match part {
        Part::Rounds { mixing, .. } => mixing.extrapolation.is_some() || mixing.noise.is_some(),
        Part::Rings { .. } => true,
        Part::Noise(_) | Part::Changing(_) => false,
    }
}
