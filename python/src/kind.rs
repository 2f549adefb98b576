//! The protocols that Python holds: as accountants see them, and the runs and errors of gossip.

use crate::errors::Fault;
use crate::grades::Number;
use crate::question::generator;
use ndarray::ArrayView2;
use ndp_algos::gossip::{GossipProtocol, Transcript};
use ndp_dp::Sigma;

/// A gossip, or a protocol of any kind.
pub(crate) enum Kind {
    Gossip(Box<dyn GossipProtocol>),
    Named(Box<dyn ndp_account::Protocol>),
}

impl Kind {
    /// The protocol as accountants and auditors see it.
    pub(crate) fn protocol(&self) -> &dyn ndp_account::Protocol {
        match self {
            Self::Gossip(protocol) => protocol,
            Self::Named(protocol) => protocol.as_ref(),
        }
    }
}

impl Kind {
    pub(crate) fn simulate(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        seed: u64,
    ) -> Result<Transcript, Fault> {
        let rng = &mut generator(seed);
        let Self::Gossip(gossip) = self else {
            return Err(Fault::new(
                "a protocol made by its name has no run: those of ndp.gossip, ndp.noisy_gossip, ndp.fresh_noise with rounds=, their like \
                 and ndp.Program have",
            ));
        };
        Ok(gossip.run(values, sigma, rng)?)
    }

    pub(crate) fn error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Number, Fault> {
        let Self::Gossip(gossip) = self else {
            return Err(Fault::new("only gossip has an exact error here: error_bound answers for others"));
        };
        Ok(Number::new(gossip.mean_squared_error(values, sigma)?, "mean squared error"))
    }
}
