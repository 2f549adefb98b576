//! Synchronous gossip (Algorithm 1): all nodes average with all their neighbors in every round.

use super::protocol::follows_from_statement;
use ndp_account::parts::ensure;
use ndp_account::{Error, OwnNoise};
use ndp_graph::GossipMatrix;
use ndp_program::VectorProgram;

/// How the states are combined from round to round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Acceleration {
    /// `x^{t+1} = W x^t`.
    Plain,
    /// `x^1 = W x^0`, then `x^{t+1} = g W x^t + (1 - g) x^{t-1}` with this `g`.
    ///
    /// The first step is a plain one: starting the recursion from `x^{-1} = 0` instead would
    /// multiply the mean by up to `1 / (2 - g)`.
    Chebyshev(f64),
}

/// Synchronous gossip averaging with a fixed matrix `W` for `T` rounds; noise is added once, at the start.
///
/// In round `t = 0..T-1` every node sends its state `x_v^t` to all its neighbors, with
/// `x^0 = x + η`. The output is `x^T`, which nobody sends.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
/// assert!((gossip.coalition_loss(&[2])?.unit(0)?.value().get() - 1.0).abs() < 1e-9); // the end learns all about the start
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SynchronousGossip {
    /// The gossip matrix `W`.
    pub matrix: GossipMatrix,
    /// The number of rounds `T`.
    pub rounds: usize,
    acceleration: Acceleration,
    /// Whether observers use the noise that they drew; they do by default.
    pub own_noise: OwnNoise,
}

impl SynchronousGossip {
    /// Plain gossip with `matrix` for `rounds` rounds; observers use their own noise.
    #[must_use]
    pub fn new(matrix: GossipMatrix, rounds: usize) -> Self {
        Self { matrix, rounds, acceleration: Acceleration::Plain, own_noise: OwnNoise::Known }
    }

    /// The same with Chebyshev acceleration: `x^1 = W x^0`, then `x^{t+1} = g W x^t + (1 - g) x^{t-1}` with
    /// this `g`.
    ///
    /// It changes the messages, but not what they reveal.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `parameter` lies in `[1, 2)`.
    pub fn accelerated(mut self, parameter: f64) -> Result<Self, Error> {
        ensure((1.0..2.0).contains(&parameter), "the Chebyshev parameter", "lie in [1, 2)", parameter)?;
        self.acceleration = Acceleration::Chebyshev(parameter);
        Ok(self)
    }

    /// The protocol: noise once, and then rounds with one matrix.
    #[must_use]
    pub fn stated(&self) -> VectorProgram<'_> {
        let noisy = VectorProgram::new(self.matrix.node_count()).noise(1.0).observed_with(self.own_noise);
        match self.acceleration {
            Acceleration::Plain => noisy.rounds(&self.matrix, self.rounds),
            Acceleration::Chebyshev(g) => noisy.accelerated_rounds(&self.matrix, self.rounds, g),
        }
    }
}

follows_from_statement!(SynchronousGossip);

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::path_graph;

    #[test]
    fn bad_parameters_are_refused() -> Result<(), Error> {
        let plain = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
        for parameter in [0.99, 2.0, f64::NAN] {
            let found = plain.clone().accelerated(parameter);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "the Chebyshev parameter", .. })));
        }
        Ok(())
    }
}
