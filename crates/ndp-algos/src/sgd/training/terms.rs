//! What the accounts of a training say of what may change, of the noise and of whom they trust.

use super::{PrivateTraining, Training};
use ndp_account::{Assumption, Changes, Noise, Terms};

impl PrivateTraining {
    /// All data of a user may change, so that each of its gradients changes by at most the sensitivity.
    pub(super) fn terms(&self) -> Terms {
        let curator = Terms::VALUES.trusting(Assumption::Curator);
        let decentralized = "Privacy amplification by decentralization";
        let (section, terms) = match &self.training {
            Training::Central(_) => (decentralized, curator.trusting(Assumption::CommonGradients)),
            Training::Federated(_) => ("Federated learning by contraction", curator),
            Training::Gossip { .. } => ("Muffliato", Terms::VALUES.trusting(Assumption::NothingPublished)),
            Training::Walk { final_model, .. } => {
                let section = if self.training.has_places() { "Random walks" } else { decentralized };
                (section, final_model.kept(Terms::VALUES))
            }
            Training::Local { .. } => (decentralized, Terms::VALUES),
        };
        let federated = matches!(self.training, Training::Federated(_));
        let on = if federated { "every gradient, by its user" } else { "every gradient" };
        let noise = Noise::on_gradients(on);
        Terms { changes: Changes::EveryGradient, noise, ..terms }
            .by("ndp_algos::sgd::PrivateTraining", section)
    }
}
