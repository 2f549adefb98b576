//! Makes a statement a protocol like all others.

use super::heard::Listener;
use super::{Engine, Part, VectorProgram};
use ndarray::{Array2, ArrayView2};
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, LinearProtocol, LossReport, Observation, OwnNoise, Terms, View};
use ndp_certify::account::{self, Budget};
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sigma};
use ndp_graph::Step;
use ndp_numeric::stop::Stop;
use rand::Rng;

/// The section of the theory on losses of statements.
const LOSSES: &str = "Certified losses";

impl VectorProgram<'_> {
    /// What a coalition learns, computed within this memory and precision.
    ///
    /// # Errors
    /// As [`LinearProtocol::coalition_loss`].
    #[doc(hidden)]
    pub fn loss_within(&self, coalition: &[usize], budget: Budget<'_>) -> Result<LossReport, Error> {
        let coalition = checked_coalition(coalition, self.nodes)?;
        let certificate = self.certificate(&coalition, budget)?;
        let by = self.engine().0.by(LOSSES);
        Ok(LossReport::new(coalition, certificate, self.own_noise == OwnNoise::Known, by))
    }
}

impl LinearProtocol for VectorProgram<'_> {
    fn terms(&self) -> Terms {
        self.said_terms()
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    /// Every node keeps the noise of its first value secret; losses are in units of this noise.
    fn own_variance(&self) -> Option<f64> {
        self.checked().is_ok().then_some(1.0)
    }

    /// Messages go between neighbors and nothing is published, so that an outsider sees nothing.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(0.0).into())
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        self.view(coalition)
    }

    fn coalition_loss_until(&self, coalition: &[usize], stop: &Stop) -> Result<LossReport, Error> {
        self.loss_within(coalition, Budget::until(stop))
    }

    fn overheard_loss_until(&self, tapped: &[(usize, usize)], stop: &Stop) -> Result<LossReport, Error> {
        stop.spend(self.cost_of_rows())?;
        let certificate = account::of_rows(&self.overheard_rows(tapped)?, Budget::until(stop))?;
        Ok(LossReport::new(Vec::new(), certificate, true, Engine::Rows.by(LOSSES)))
    }

    /// The text of the program, [value by value](VectorProgram::program).
    fn program_text(&self) -> Result<Vec<u8>, Error> {
        Ok(self.program()?.text())
    }

    /// Runs with all noises scaled such that the first one has standard deviation `sigma`.
    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let run = self.run(values, sigma, rng)?;
        let coalition = checked_coalition(coalition, self.nodes)?;
        let mut listener = Listener::nodes(&coalition, self.known(&coalition));
        self.refuse_what_is_clean(&mut listener)?;
        let of_messages = run.later_noises.iter().filter(|_| self.has_noisy_messages());
        let (mut of_messages, ratio) = (of_messages, self.mixing().and_then(|mixing| mixing.noise));
        let mut received = Array2::zeros((0, run.output.ncols()));
        for (round, state) in self.each_round().zip(&run.messages) {
            let drawn = of_messages.next();
            for &(sender, noise) in listener.hears(&round)?.iter() {
                received.push_row(state.row(sender)).expect("one value per coordinate");
                if let (Some(drawn), Some((_, ratio))) = (drawn, ratio) {
                    let last = received.nrows() - 1;
                    received.row_mut(last).scaled_add(ratio * sigma.get(), &drawn.row(noise));
                }
            }
        }
        Ok(Observation { received, known_noises: self.known_of(&run, sigma, self.known(&coalition)) })
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(self.clone().observed_with(own_noise)))
    }

    fn first_round(&self) -> Option<Box<dyn LinearProtocol + '_>> {
        self.clone().into_first_round().map(|first| Box::new(first) as _)
    }

    /// A permutation of the nodes that preserves every matrix of the rounds is a symmetry of the protocol:
    /// all nodes draw noises with the same variances, on values and on messages alike. For changing
    /// connections no symmetries are looked for.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        let mut matrices = Vec::new();
        for part in &self.parts {
            match part {
                Part::Noise(_) => {}
                Part::Rounds { mixing, .. } => matrices.push(mixing.matrix),
                Part::Changing(_) | Part::Rings { .. } => return Vec::new(),
            }
        }
        let Some((first, others)) = matrices.split_first() else { return Vec::new() };
        let mut found = first.symmetries();
        found.retain(|one| {
            others.iter().all(|matrix| std::ptr::eq(*matrix, *first) || matrix.is_kept_by(one))
        });
        found
    }

    fn error_bound_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        self.worst_error(noise, stop)
    }

    fn message_count(&self) -> Result<f64, Error> {
        let of_step = |step: &Step| match step {
            Step::Matrix(matrix) => 2.0 * matrix.graph().edge_count() as f64,
            Step::Pair(..) => 2.0,
            Step::Idle => 0.0,
        };
        let of_part = |part: &Part<'_>| match part {
            Part::Noise(_) => 0.0,
            Part::Rounds { mixing, times } => 2.0 * mixing.matrix.graph().edge_count() as f64 * *times as f64,
            Part::Changing(sequence) => sequence.steps().iter().map(of_step).sum(),
            Part::Rings { rings, .. } => 2.0 * rings.len() as f64,
        };
        Ok(self.parts.iter().map(of_part).sum())
    }
}

impl VectorProgram<'_> {
    /// The noises that these nodes (ascending) drew in a run, in the order and in the units of the columns of
    /// the view.
    fn known_of(&self, run: &super::Transcript, sigma: Sigma, nodes: &[usize]) -> Array2<f64> {
        let mut known = Array2::zeros((0, run.output.ncols()));
        let mut drawn = std::iter::once(&run.noise).chain(&run.later_noises);
        let variances = self.variances();
        let mut factors = variances.iter().map(|variance| (variance / variances[0]).sqrt());
        for part in &self.parts {
            match part {
                Part::Noise(_) => {
                    // The columns of the view contain the factor τ_t/τ_0.
                    let (Some(noise), Some(factor)) = (drawn.next(), factors.next()) else { break };
                    for &v in nodes {
                        let row = if factor > 0.0 { &noise.row(v) / factor } else { noise.row(v).to_owned() };
                        known.push_row(row.view()).expect("one value per coordinate");
                    }
                }
                Part::Rounds { mixing, times } if mixing.noise.is_some() => {
                    let mine = super::heard::drawn_in_round(mixing, nodes);
                    for noise in drawn.by_ref().take(*times) {
                        for &k in &mine {
                            let row = &noise.row(k) * sigma.get();
                            known.push_row(row.view()).expect("one value per coordinate");
                        }
                    }
                }
                _ => {}
            }
        }
        known
    }
}
