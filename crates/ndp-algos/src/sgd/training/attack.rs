//! The attack of an audit, which really trains and looks at the last model.

use super::{PrivateTraining, Training};
use crate::sgd::walk::WalkSgd;
use crate::sgd::{Dataset, Deal, MeanEstimation, Users};
use ndarray::Array2;
use ndp_account::{Attacker, Error};
use ndp_dp::Sigma;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Trains on the mean of one number per user. The score is what the observer has at the end (in the local
/// model: all that it sees); 0 for an outsider where no model is published.
pub(super) struct LastModel<'a> {
    pub(super) training: &'a PrivateTraining,
    pub(super) u: usize,
    pub(super) observer: Option<usize>,
    pub(super) sigma: Sigma,
}

impl Attacker for LastModel<'_> {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        let users = self.training.users;
        let mut features = Array2::zeros((users, 1));
        features[(self.u, 0)] = if higher { 0.5 } else { -0.5 };
        let data = Dataset::new(features, vec![0.0; users])?;
        let rng = &mut &mut *rng;
        let users = Users::deal(&data, users, Deal::InOrder, rng)?;
        let noise = Some(self.sigma);
        let walk = |run: &WalkSgd, rng: &mut &mut dyn Rng| -> Result<f64, Error> {
            Ok(run.run(&MeanEstimation, &users, noise, None, rng)?.models[(0, 0)])
        };
        let kept = match &self.training.training {
            Training::Gossip { .. } => true,
            Training::Walk { final_model, .. } => !final_model.is_shown(),
            Training::Local { .. } | Training::Central(_) | Training::Federated(_) => false,
        };
        let observer = match self.observer {
            None if kept => return Ok(vec![0.0; runs]),
            observer => observer.unwrap_or(0),
        };
        (0..runs)
            .map(|_| {
                Ok(match &self.training.training {
                    &Training::Local { contributions } => {
                        // Every noisy gradient is seen. The gradient of u at a public model is its own
                        // number, up to something public.
                        let number = if higher { 0.5 } else { -0.5 };
                        (0..contributions)
                            .map(|_| number + self.sigma.get() * rng.sample::<f64, _>(StandardNormal))
                            .sum()
                    }
                    Training::Central(run) | Training::Walk { run, .. } => walk(run, rng)?,
                    Training::Federated(run) => {
                        run.run(&MeanEstimation, &users, noise, None, rng)?.models[(0, 0)]
                    }
                    Training::Gossip { sgd, mixings } => {
                        let mix = |round: usize, _: &mut &mut dyn Rng| {
                            Ok(mixings.get(round).unwrap_or(&mixings[0]).clone())
                        };
                        let run = sgd.run(&MeanEstimation, &users, noise, mix, None, rng)?;
                        run.models[(observer, 0)]
                    }
                })
            })
            .collect()
    }
}
