//! The protocol on real values, what each node sees, and what that costs.

use super::schedule::NoiseSchedule;
use crate::gossip::exact::{ExactOptions, account, outside_neighbors};
use crate::gossip::operator::check_values;
use crate::gossip::operator::{require_operator, worst_bias};
use crate::gossip::protocol::{GossipProtocol, Transcript, normal};
use crate::gossip::synchronous::{SynchronousGossip, apply};
use ndp_account::parts::checked_coalition;
use ndp_account::{LossReport, Observation, Terms};
use ndp_certify::account;
use ndp_certify::ball::Ball;
use ndp_certify::dyadic::Dyadic;
use ndp_certify::magnitude::times_power;
use ndp_certify::matrix::{ExactMatrix, Laziness};
use ndp_certify::rows::{Layout, Rows};
use ndp_certify::trace::{self, Trace};
use ndp_numeric::casts::id;

use ndarray::{Array2, ArrayView2, s};
use ndp_account::{Error, LinearProtocol, OwnNoise, View};
use ndp_certify::Source;
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::GossipMatrix;
use rand::Rng;
use std::sync::Arc;

/// Gossip with fresh noise: `x^0 = x + τ_0 z^0`, `x^t = W x^{t-1} + τ_t z^t`, output `W x^{T-1}`.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::fresh::{FreshNoiseGossip, flat_variances};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// // As much noise again in the later rounds: who is far away learns little.
/// let matrix = GossipMatrix::metropolis(&path_graph(4)?);
/// let losses = FreshNoiseGossip::new(matrix, flat_variances(3, 1.0)?)?.coalition_loss(&[0])?;
/// assert!((losses.unit(2)?.value().get() - 0.1961).abs() < 1e-4 && losses.unit(3)?.value().get() < 0.03);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FreshNoiseGossip {
    /// The gossip matrix `W`.
    pub matrix: GossipMatrix,
    schedule: NoiseSchedule,
    /// Whether observers use the noise they drew; from the start they do.
    pub own_noise: OwnNoise,
}

impl FreshNoiseGossip {
    /// The protocol with this matrix and noises of the variances `s_t = τ_t²` per coordinate, one for every round. The first sets
    /// the local loss `c₀ = α Δ² / (2 s_0)`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rounds, a first variance that is not positive, or one
    /// that is negative, infinite or NaN.
    pub fn new(matrix: GossipMatrix, variances: Vec<f64>) -> Result<Self, Error> {
        Ok(Self { matrix, schedule: NoiseSchedule::new(variances)?, own_noise: OwnNoise::Known })
    }

    /// What a coalition (ascending) hears as rows with exact entries, on the nodes within reach; noises of variance 0, and those
    /// that the coalition knows, have no coordinate.
    ///
    /// A coordinate is stored times a power of two at which its variance, relative to the largest, lies in `(1/4, 1]`.
    fn exact_rows(&self, coalition: &[usize]) -> Rows {
        let variances = self.schedule.variances();
        let ball = Ball::around(self.matrix.graph(), coalition, variances.len());
        let known = self.own_noise == OwnNoise::Known;
        let member = |u: &usize| known && coalition.binary_search(u).is_ok();
        let inside: Vec<usize> = ball.nodes().iter().copied().filter(|u| !member(u)).collect();
        let entries = inside.iter().enumerate().filter_map(|(k, &u)| Some((id(ball.local(u)?), id(k))));
        let entries = Arc::new(entries.collect::<Vec<_>>());
        let largest = variances.iter().fold(0.0, |m: f64, &s| m.max(s));
        // Powers of four that bring a variance into (1/4, 1].
        let quarters = |s: f64| (Dyadic::of(s).top() + 1).div_euclid(2);
        let matrix = Arc::new(ExactMatrix::new(&self.matrix, &ball, Laziness::Kept));
        let senders = ball.locals(&outside_neighbors(self.matrix.graph(), coalition));

        let mut layout = Layout::of_equal_columns(self.matrix.node_count(), &inside);
        layout.adds_up = false;
        layout.coordinates = 0;
        layout.variances.clear();
        let (mut steps, mut messages) = (Vec::new(), Vec::new());
        for (t, &variance) in variances.iter().enumerate() {
            if t > 0 {
                steps.push(trace::Step::Mix(matrix.clone()));
            }
            if variance > 0.0 {
                let (mine, most) = (quarters(variance), quarters(largest));
                let scaled = times_power(variance, (-2 * mine).into());
                layout.variances.extend(std::iter::repeat_n(scaled, inside.len()));
                let factor = times_power(1.0, (mine - most).into());
                steps.push(trace::Step::Add { entries: entries.clone(), first: layout.coordinates, factor });
                layout.coordinates += inside.len();
                layout.known += if known { coalition.len() } else { 0 };
            }
            let message =
                |&register: &usize| trace::Message { after: steps.len(), register, beside: Vec::new() };
            messages.extend(senders.iter().map(message));
        }
        layout.noises = layout.coordinates;
        // Losses are in units of that of the first noise, which is never silent.
        if let Some(&first) = layout.variances.first() {
            layout.inputs.iter_mut().for_each(|input| input.factor = first);
        }
        Rows::Traced(Trace::new(layout, ball.len(), steps, messages))
    }

    /// `m_t = ‖W^{T-t}‖_F² / n`: what a unit of variance in round `t` adds to the mean squared
    /// error of the output. Tends to `1/n` for early rounds; late noise costs most.
    ///
    /// # Errors
    /// A matrix too large to be dense.
    pub(super) fn error_weights(matrix: &GossipMatrix, rounds: usize) -> Result<Vec<f64>, Error> {
        let n = matrix.node_count();
        let mut power = matrix.to_dense()?;
        let mut weights = Vec::with_capacity(rounds);
        for t in 0..rounds {
            if t > 0 {
                power = apply(matrix.csr(), power.view());
            }
            weights.push(power.iter().map(|x| x * x).sum::<f64>() / n as f64);
        }
        weights.reverse();
        Ok(weights)
    }

    /// The share of the noise in the mean squared error `(1/n) Σ_v E (x_v^T - x̄)²` per coordinate:
    /// `Σ_t s_t m_t`, exact.
    ///
    /// # Errors
    /// A matrix too large to be dense.
    fn noise_error(&self) -> Result<f64, Error> {
        let weights = Self::error_weights(&self.matrix, self.schedule.variances().len())?;
        Ok(weights.iter().zip(self.schedule.variances()).map(|(m, s)| m * s).sum())
    }
}

impl GossipProtocol for FreshNoiseGossip {
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error> {
        check_values(values, self.matrix.node_count())?;
        let schedule = self.schedule.scaled_to(sigma)?;
        let mut noises = Vec::with_capacity(schedule.variances().len());
        let mut messages: Vec<Array2<f64>> = Vec::with_capacity(schedule.variances().len());
        for (t, variance) in schedule.variances().iter().enumerate() {
            let noise = normal(values.nrows(), values.ncols(), variance.sqrt(), rng);
            let before = match t {
                0 => values.to_owned(),
                _ => apply(self.matrix.csr(), messages[t - 1].view()),
            };
            messages.push(before + &noise);
            noises.push(noise);
        }
        let output = apply(self.matrix.csr(), messages[messages.len() - 1].view());
        let later_noises = noises.split_off(1);
        let noise = noises.remove(0);
        Ok(Transcript { noise, messages, output, later_noises })
    }

    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        check_values(values, self.matrix.node_count())?;
        let n = values.nrows() as f64;
        let mean = values.sum_axis(ndarray::Axis(0)) / n;
        let mut state = values.to_owned();
        for _ in 0..self.schedule.variances().len() {
            state = apply(self.matrix.csr(), state.view());
        }
        let bias: f64 = (state - &mean).iter().map(|x| x * x).sum::<f64>() / n;
        let noisy = Self { schedule: self.schedule.scaled_to(sigma)?, ..self.clone() };
        Ok(Exact::new(bias + values.ncols() as f64 * noisy.noise_error()?))
    }
}

impl LinearProtocol for FreshNoiseGossip {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("every value in the first round, and as the schedule says in later ones")
    }

    fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    /// Every node keeps the noise of its first value to itself.
    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    /// Messages go between neighbors and nothing is published: somebody outside sees nothing.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(0.0).into())
    }

    /// Rows `(W^t)_w` over the inputs and `(τ_r/τ_0) (W^{t-r})_w` over the noises of rounds
    /// `r ≤ t`, for rounds `t = 0..T` and, within a round, the neighbors `w` outside the coalition in
    /// ascending order. Noise `r n + w` is that of node `w` in round `r`; the unit is `σ = τ_0`.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let n = self.node_count();
        let rounds = self.schedule.variances().len();
        let coalition = checked_coalition(coalition, n)?;
        let senders = outside_neighbors(self.matrix.graph(), &coalition);
        let rows = senders.len() * rounds;
        let bytes = (rows as u64).saturating_mul(n as u64 * (rounds as u64 + 1) * 8);
        if bytes > VIEW_LIMIT {
            return Err(Error::Certify(ndp_certify::Error::TooLarge {
                what: "a view written out row by row",
                bytes,
                limit: VIEW_LIMIT,
            }));
        }
        let mut inputs = Array2::zeros((rows, n));
        let mut noises = Array2::zeros((rows, rounds * n));
        let mut power =
            Array2::from_shape_fn((n, senders.len()), |(u, j)| f64::from(u8::from(u == senders[j])));
        for age in 0..rounds {
            if age > 0 {
                power = apply(self.matrix.csr(), power.view());
            }
            // A message of round t carries the noise of round t - age through `age` steps.
            for t in age..rounds {
                let r = t - age;
                let factor = (self.schedule.variances()[r] / self.schedule.first()).sqrt();
                let block = t * senders.len()..(t + 1) * senders.len();
                noises.slice_mut(s![block, r * n..(r + 1) * n]).assign(&(&power.t() * factor));
            }
            inputs.slice_mut(s![age * senders.len()..(age + 1) * senders.len(), ..]).assign(&power.t());
        }
        let known: Vec<usize> = match self.own_noise {
            OwnNoise::Known => (0..rounds).flat_map(|r| coalition.iter().map(move |v| r * n + v)).collect(),
            OwnNoise::Unknown => Vec::new(),
        };
        let exact = self.exact_rows(&coalition);
        Ok(View::new(&coalition, inputs, noises, &known)?.with_source(Source::Rows(exact)))
    }

    /// Certified: by a factor of the covariance in floating point where every round has noise of some strength, otherwise in as
    /// many bits as it takes. One shot of noise is plain gossip, and so is its loss.
    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        let coalition = checked_coalition(coalition, self.node_count())?;
        let options = ExactOptions { own_noise: self.own_noise, ..ExactOptions::default() };
        if self.schedule.variances()[1..].iter().all(|&s| s == 0.0) {
            return account(&self.matrix, coalition, self.schedule.variances().len(), options);
        }
        let certificate = account::of_rows(&self.exact_rows(&coalition), options.budget())?;
        Ok(LossReport::new(coalition, certificate, self.own_noise == OwnNoise::Known))
    }

    /// Runs with all noises scaled so that the first has standard deviation `sigma`.
    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let run = self.run(values, sigma, rng)?;
        let received = run.received(self.matrix.graph(), coalition)?;
        let coalition = checked_coalition(coalition, self.node_count())?;
        let mut known_noises = Array2::zeros((0, values.ncols()));
        if self.own_noise == OwnNoise::Known {
            for (t, noise) in std::iter::once(&run.noise).chain(&run.later_noises).enumerate() {
                // The view's columns carry the factor τ_t/τ_0.
                let factor = (self.schedule.variances()[t] / self.schedule.first()).sqrt();
                for &v in &coalition {
                    let drawn = if factor > 0.0 { &noise.row(v) / factor } else { noise.row(v).to_owned() };
                    known_noises.push_row(drawn.view()).expect("one value per coordinate");
                }
            }
        }
        Ok(Observation { received, known_noises })
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(Self { own_noise, ..self.clone() }))
    }

    fn error_bound(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        require_operator(LinearProtocol::node_count(self))?;
        let schedule = self.schedule.scaled_to(noise.sigma(Sensitivity::new(1.0)?)?)?;
        let plain = SynchronousGossip::new(self.matrix.clone(), schedule.variances().len()).operator()?;
        let noisy = Self { schedule, ..self.clone() }.noise_error()?;
        Ok((noisy + worst_bias(plain.view())).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(2.0 * self.matrix.graph().edge_count() as f64 * self.schedule.variances().len() as f64)
    }
}

/// Views written out row by row may take this many bytes.
const VIEW_LIMIT: u64 = 4 << 30;
