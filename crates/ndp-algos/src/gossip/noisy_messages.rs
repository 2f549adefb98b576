//! Gossip whose messages carry noise: `σ` once on the values, and `s` on everything that is sent.
//!
//! In round `t` node `w` sends `x_w^t + s z`. Who averages what it receives carries that noise on, and it comes back
//! correlated with what was sent before; a formula that adds `s²` to the covariance of clean messages is
//! no bound for such a protocol, and is exact only for a listener whose line alone is noisy. Here all noises are
//! stacked: `R` holds the rows of the view over every noise that the observer did not draw, and the
//! unit loss is `bᵀ (R Rᵀ)⁺ b`, certified as every other (see [`loss`](ndp_account::loss)). Every message has a noise of its own, so that
//! the pivots of `R Rᵀ` are at least `(s/σ)²`: mostly no rank has to be decided.
//!
//! Noise on messages is not the noise of the average: it also moves the mean. Gossip with
//! [fresh noise](super::fresh), which a node adds to its own state, is exact in the same way and costs less.
//!
//! Noise on what is overheard alone protects against outsiders, who tap edges: the nodes average clean messages, and what a node
//! holds says more than the noisy copy of it does. Towards nodes such gossip is the [plain one](SynchronousGossip).

use super::exact::{ExactOptions, outside_neighbors};
use super::operator::{require_operator, worst_bias};
use super::protocol::{GossipProtocol, Transcript, noisy_values, normal};
use super::synchronous::{SynchronousGossip, apply};
use ndp_account::parts::checked_coalition;
use ndp_account::{LossReport, Observation, Terms};
use ndp_certify::account;
use ndp_certify::ball::Ball;
use ndp_certify::matrix::{ExactMatrix, Laziness};
use ndp_certify::rows::{Layout, Rows};
use ndp_certify::trace::{self, Trace};
use ndp_numeric::casts::id;

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use ndp_account::parts::ensure;
use ndp_account::{Error, LinearProtocol, OwnNoise, View};
use ndp_certify::Source;
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::GossipMatrix;
use ndp_linalg::memory::require_dense;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the noise of messages goes.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::{MessageNoise, NoisyMessageGossip};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
/// let unit = |kind| -> Result<f64, ndp_account::Error> {
///     Ok(NoisyMessageGossip::new(matrix.clone(), 3, 1.0, kind)?.coalition_loss(&[0])?.unit(3)?.value().get())
/// };
/// assert!(unit(MessageNoise::Broadcast)? < 1.0 && unit(MessageNoise::PerLink)? < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageNoise {
    /// One noise per node and round, the same for all its neighbors, who average what they receive.
    Broadcast,
    /// An independent noise for every neighbor, who averages what it receives.
    PerLink,
    /// One noise per node and round on what an outsider hears who taps edges; the gossip itself is clean, so that nodes are refused
    /// as observers.
    Overheard,
}

/// Synchronous gossip with noise of standard deviation `σ` on the values and `ratio · σ` on every message.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::{MessageNoise, NoisyMessageGossip};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let losses = NoisyMessageGossip::new(matrix, 2, 1.0, MessageNoise::Broadcast)?.coalition_loss(&[2])?;
/// assert!((losses.unit(0)?.value().get() - 0.087).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyMessageGossip {
    matrix: GossipMatrix,
    rounds: usize,
    ratio: f64,
    kind: MessageNoise,
    /// Whether observers use the noise they drew; from the start they do.
    pub own_noise: OwnNoise,
}

impl NoisyMessageGossip {
    /// Gossip with `matrix` for `rounds` rounds; message noise is `ratio` times that of the values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a ratio that is negative or not finite; [`ndp_graph::Error::TooLarge`] for rounds whose steps do
    /// not fit in memory.
    pub fn new(matrix: GossipMatrix, rounds: usize, ratio: f64, kind: MessageNoise) -> Result<Self, Error> {
        ensure(
            (0.0..f64::INFINITY).contains(&ratio),
            "the ratio of message noise to input noise",
            "be nonnegative and finite",
            ratio,
        )?;
        require_dense("the steps of gossip with noisy messages", rounds, 64)?;
        Ok(Self { matrix, rounds, ratio, kind, own_noise: OwnNoise::Known })
    }

    fn noises_per_round(&self) -> usize {
        match self.kind {
            MessageNoise::PerLink => 2 * self.matrix.graph().edge_count(),
            MessageNoise::Broadcast | MessageNoise::Overheard => self.matrix.node_count(),
        }
    }

    /// Every directed link `w → a`: receiver, sender, weight, number.
    fn links(&self) -> impl Iterator<Item = (usize, usize, f64, usize)> {
        let graph = self.matrix.graph();
        let ends = (0..graph.node_count()).flat_map(move |a| graph.neighbors(a).iter().map(move |&w| (a, w)));
        ends.enumerate().map(|(k, (a, w))| (a, w as usize, self.matrix.get(a, w as usize), k))
    }

    /// What a coalition (ascending) hears as rows with exact entries.
    fn rows_towards(&self, coalition: &[usize]) -> Result<Rows, Error> {
        let ball = Ball::around(self.matrix.graph(), coalition, self.rounds);
        Ok(self.exact_rows(&ball, &self.heard(coalition)?, &self.drawn_by(coalition)))
    }

    /// What somebody hears, senders and noises, as rows with exact entries on the nodes within reach. Noises that are known have no
    /// coordinate; without message noise there are none but those of the values.
    fn exact_rows(&self, ball: &Ball, heard: &[(usize, usize)], drawn: &[usize]) -> Rows {
        let (n, per_round) = (self.node_count(), self.noises_per_round());
        let matrix = Arc::new(ExactMatrix::new(&self.matrix, ball, Laziness::Kept));
        let known = |noise: usize| drawn.binary_search(&noise).is_ok();
        let inside: Vec<usize> = ball.nodes().iter().copied().filter(|&u| !known(u)).collect();
        let mut layout = Layout::of_equal_columns(n, &inside);
        layout.known = if self.ratio > 0.0 { drawn.len() } else { drawn.iter().filter(|&&j| j < n).count() };

        // Noises of a round that are not known and enter the state of a node within reach: where, and their number.
        let first = inside.len();
        let rounds = if self.ratio > 0.0 { self.rounds } else { 0 };
        let sender = |noise: usize| n + noise;
        let mut is_heard = vec![false; per_round];
        heard.iter().for_each(|&(_, noise)| is_heard[noise] = true);
        let mut numbers = vec![u32::MAX; per_round];
        let (mut around, mut links, mut count) = (Vec::new(), Vec::new(), 0u32);
        let mut number = |noise: usize| {
            numbers[noise] = count;
            count += 1;
            count - 1
        };
        match self.kind {
            MessageNoise::Broadcast | MessageNoise::Overheard => {
                for (w, &u) in ball.nodes().iter().enumerate().filter(|(_, u)| !known(sender(**u))) {
                    around.push((id(w), number(u)));
                }
            }
            MessageNoise::PerLink => {
                for (a, w, _, noise) in self.links().filter(|&(.., noise)| !known(sender(noise))) {
                    // A link out of the ball is not heard of, but by who taps it.
                    if let (Some(w), Some(receiver)) = (ball.local(w), ball.local(a)) {
                        links.push((id(receiver), id(w), number(noise)));
                    } else if is_heard[noise] {
                        number(noise);
                    }
                }
            }
        }
        let (around, links) = (Arc::new(around), Arc::new(links));
        layout.coordinates += rounds * count as usize;
        layout.noises = layout.coordinates;
        layout.adds_up = rounds == 0;
        let entries = inside.iter().enumerate().filter_map(|(k, &u)| Some((id(ball.local(u)?), id(k))));
        let mut steps =
            vec![trace::Step::Add { entries: Arc::new(entries.collect()), first: 0, factor: 1.0 }];
        let mut messages = Vec::new();
        for t in 0..self.rounds {
            let of_round = first + t * count as usize;
            for &(w, noise) in heard {
                let Some(register) = ball.local(w) else { continue };
                let own = (t < rounds && numbers[noise] != u32::MAX)
                    .then(|| (of_round + numbers[noise] as usize, self.ratio));
                messages.push(trace::Message {
                    after: steps.len(),
                    register,
                    beside: own.into_iter().collect(),
                });
            }
            steps.push(trace::Step::Mix(matrix.clone()));
            if t < rounds {
                let (matrix, factor) = (matrix.clone(), self.ratio);
                match self.kind {
                    MessageNoise::Overheard => {}
                    MessageNoise::Broadcast => {
                        let entries = around.clone();
                        steps.push(trace::Step::AddAround { matrix, entries, first: of_round, factor });
                    }
                    MessageNoise::PerLink => {
                        let entries = links.clone();
                        steps.push(trace::Step::AddLinks { entries, matrix, first: of_round, factor });
                    }
                }
            }
        }
        Rows::Traced(Trace::new(layout, ball.len(), steps, messages))
    }

    /// The messages that a coalition hears in each round: sender, and noise within the round.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where nodes hear what has no noise.
    fn heard(&self, coalition: &[usize]) -> Result<Vec<(usize, usize)>, Error> {
        let inside = |v: usize| coalition.binary_search(&v).is_ok();
        match self.kind {
            MessageNoise::PerLink => {
                let into = self.links().filter(|&(a, w, _, _)| inside(a) && !inside(w));
                Ok(into.map(|(_, w, _, k)| (w, k)).collect())
            }
            MessageNoise::Broadcast => {
                let senders = outside_neighbors(self.matrix.graph(), coalition);
                Ok(senders.into_iter().map(|w| (w, w)).collect())
            }
            MessageNoise::Overheard => Err(Error::NotOffered(
                "noise on what is overheard protects against an outsider who taps edges: the nodes themselves average clean \
                 messages, which is plain gossip",
            )),
        }
    }

    /// What an outsider overhears on these edges in each round, each from its first node to its second: sender, and noise within the
    /// round. A message with the same noise on two edges is one.
    ///
    /// # Errors
    /// [`ndp_graph::Error::NotAnEdge`].
    fn overheard(&self, tapped: &[(usize, usize)]) -> Result<Vec<(usize, usize)>, Error> {
        let (n, graph) = (self.matrix.node_count(), self.matrix.graph());
        if let Some(&(w, a)) = tapped.iter().find(|&&(w, a)| w >= n || a >= n || !graph.has_edge(w, a)) {
            return Err(ndp_graph::Error::NotAnEdge(w, a).into());
        }
        let mut heard: Vec<(usize, usize)> = match self.kind {
            MessageNoise::PerLink => {
                let on = self.links().filter(|&(a, w, _, _)| tapped.contains(&(w, a)));
                on.map(|(_, w, _, k)| (w, k)).collect()
            }
            MessageNoise::Broadcast | MessageNoise::Overheard => {
                tapped.iter().map(|&(w, _)| (w, w)).collect()
            }
        };
        heard.sort_unstable();
        heard.dedup();
        Ok(heard)
    }

    /// Noises that a coalition drew, as columns of its view.
    fn drawn_by(&self, coalition: &[usize]) -> Vec<usize> {
        if self.own_noise == OwnNoise::Unknown {
            return Vec::new();
        }
        let (n, per_round) = (self.node_count(), self.noises_per_round());
        let mine: Vec<usize> = match self.kind {
            MessageNoise::Broadcast => coalition.to_vec(),
            MessageNoise::PerLink => {
                let own = self.links().filter(|(_, w, _, _)| coalition.binary_search(w).is_ok());
                own.map(|(_, _, _, k)| k).collect()
            }
            // The noise of a line is nobody's.
            MessageNoise::Overheard => Vec::new(),
        };
        let later = (0..self.rounds).flat_map(|t| mine.iter().map(move |j| n + t * per_round + j));
        coalition.iter().copied().chain(later).collect()
    }
}

impl NoisyMessageGossip {
    /// What a coalition received in a run with this `sigma`, in the order of the rows of its view.
    fn received(&self, run: &Transcript, sigma: Sigma, coalition: &[usize]) -> Result<Array2<f64>, Error> {
        let coalition = checked_coalition(coalition, self.node_count())?;
        let heard = self.heard(&coalition)?;
        let mut received = Array2::zeros((0, run.output.ncols()));
        for (state, drawn) in run.messages.iter().zip(&run.later_noises) {
            for &(sender, noise) in &heard {
                let mut message = state.row(sender).to_owned();
                message.scaled_add(self.ratio * sigma.get(), &drawn.row(noise));
                received.push_row(message.view()).expect("one value per coordinate");
            }
        }
        Ok(received)
    }
}

impl GossipProtocol for NoisyMessageGossip {
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error> {
        let (noise, mut state) = noisy_values(values, self.matrix.node_count(), sigma, rng)?;
        let scale = self.ratio * sigma.get();
        let (mut messages, mut message_noises) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            let drawn = normal(self.noises_per_round(), values.ncols(), 1.0, rng);
            let mut next = apply(self.matrix.csr(), state.view());
            for (a, w, weight, k) in self.links() {
                let from = match self.kind {
                    MessageNoise::Broadcast => w,
                    MessageNoise::PerLink => k,
                    MessageNoise::Overheard => continue,
                };
                next.row_mut(a).scaled_add(weight * scale, &drawn.row(from));
            }
            messages.push(std::mem::replace(&mut state, next));
            message_noises.push(drawn);
        }
        Ok(Transcript { noise, messages, output: state, later_noises: message_noises })
    }

    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        let n = self.node_count();
        let clean =
            SynchronousGossip::new(self.matrix.clone(), self.rounds).mean_squared_error(values, sigma)?;
        if self.kind == MessageNoise::Overheard {
            return Ok(clean);
        }
        // Columns of W^k O, or of W^k scaled by the links at their receiver.
        let mut spread = match self.kind {
            MessageNoise::PerLink => {
                let mut squares = vec![0.0; n];
                self.links().for_each(|(a, _, weight, _)| squares[a] += weight * weight);
                Array2::from_shape_fn((n, n), |(i, j)| if i == j { f64::sqrt(squares[i]) } else { 0.0 })
            }
            _ => {
                let mut off = self.matrix.to_dense()?;
                off.diag_mut().fill(0.0);
                off
            }
        };
        let mut sum = 0.0;
        for round in 0..self.rounds {
            if round > 0 {
                spread = apply(self.matrix.csr(), spread.view());
            }
            sum += spread.iter().map(|x| x * x).sum::<f64>();
        }
        let variance = (self.ratio * sigma.get()).powi(2) * values.ncols() as f64;
        Ok(Exact::new(clean.value() + variance * sum / n as f64))
    }
}

impl LinearProtocol for NoisyMessageGossip {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("every value, and ratio times as much on every message")
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

    /// Rows for rounds `t = 0..T` and, within a round, the messages heard. Noise `w` is that of the value of node
    /// `w`, noise `n + r m + k` the `k`-th of the `m` message noises of round `r`, in units of `σ`.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let (n, per_round) = (self.node_count(), self.noises_per_round());
        let coalition = checked_coalition(coalition, n)?;
        let heard = self.heard(&coalition)?;
        let d = heard.len();
        let width = n + self.rounds * per_round;
        require_dense("a view written out row by row", self.rounds * d, n + width)?;
        let mut inputs = Array2::zeros((self.rounds * d, n));
        let mut noises = Array2::zeros((self.rounds * d, width));
        // Row `w` of Wᵏ for every message's sender, as columns.
        let mut power = Array2::from_shape_fn((n, d), |(u, j)| f64::from(u8::from(u == heard[j].0)));
        for age in 0..self.rounds {
            if age > 0 {
                power = apply(self.matrix.csr(), power.view());
            }
            inputs.slice_mut(s![age * d..(age + 1) * d, ..]).assign(&power.t());
            // A noise of round r enters the states of round r + 1 through one link, then goes through Wᵏ.
            let mut entered = Array2::zeros((d, per_round));
            for (a, w, weight, k) in self.links() {
                let column = match self.kind {
                    MessageNoise::Broadcast => w,
                    MessageNoise::PerLink => k,
                    MessageNoise::Overheard => break,
                };
                entered.column_mut(column).scaled_add(self.ratio * weight, &power.row(a));
            }
            for t in age + 1..self.rounds {
                let from = n + (t - 1 - age) * per_round;
                noises.slice_mut(s![t * d..(t + 1) * d, from..from + per_round]).assign(&entered);
            }
        }
        noises.slice_mut(s![.., ..n]).assign(&inputs);
        for t in 0..self.rounds {
            for (j, &(_, noise)) in heard.iter().enumerate() {
                noises[(t * d + j, n + t * per_round + noise)] += self.ratio;
            }
        }
        let view = View::new(&coalition, inputs, noises, &self.drawn_by(&coalition))?;
        Ok(view.with_source(Source::Rows(self.rows_towards(&coalition)?)))
    }

    /// Certified. Every message has a noise of its own, so that a floating-point factor of the covariance does unless the ratio is
    /// tiny.
    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        let coalition = checked_coalition(coalition, self.node_count())?;
        let certificate =
            account::of_rows(&self.rows_towards(&coalition)?, ExactOptions::default().budget())?;
        Ok(LossReport::new(coalition, certificate, self.own_noise == OwnNoise::Known))
    }

    /// Certified, for noise of all kinds.
    fn overheard_loss(&self, tapped: &[(usize, usize)]) -> Result<LossReport, Error> {
        let heard = self.overheard(tapped)?;
        let senders: Vec<usize> = heard.iter().map(|&(w, _)| w).collect();
        let ball = Ball::around(self.matrix.graph(), &senders, self.rounds.saturating_sub(1));
        let rows = self.exact_rows(&ball, &heard, &[]);
        let certificate = account::of_rows(&rows, ExactOptions::default().budget())?;
        Ok(LossReport::new(Vec::new(), certificate, true))
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let run = self.run(values, sigma, rng)?;
        let received = self.received(&run, sigma, coalition)?;
        let coalition = checked_coalition(coalition, self.node_count())?;
        // The view's columns are in units of σ times their own factor.
        let scaled = run.later_noises.iter().map(|drawn| drawn * sigma.get());
        let all: Vec<Array2<f64>> = std::iter::once(run.noise.clone()).chain(scaled).collect();
        let all: Vec<_> = all.iter().map(|part| part.view()).collect();
        let stacked = concatenate(Axis(0), &all).expect("one column per coordinate");
        Ok(Observation { received, known_noises: stacked.select(Axis(0), &self.drawn_by(&coalition)) })
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(Self { own_noise, ..self.clone() }))
    }

    fn error_bound(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let n = LinearProtocol::node_count(self);
        require_operator(n)?;
        let noisy =
            self.mean_squared_error(Array2::zeros((n, 1)).view(), noise.sigma(Sensitivity::new(1.0)?)?)?;
        let plain = SynchronousGossip::new(self.matrix.clone(), self.rounds).operator()?;
        Ok((noisy.into_value() + worst_bias(plain.view())).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(2.0 * self.matrix.graph().edge_count() as f64 * self.rounds as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::cycle_graph;

    /// Views of more than 4,096 messages are certified in fixed point, whatever the ratio: both engines enclose the same numbers.
    #[test]
    fn large_ratios_keep_their_size_in_fixed_point() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&cycle_graph(5)?);
        for kind in [MessageNoise::Broadcast, MessageNoise::PerLink] {
            for ratio in [0.3, 100.0, 129.0, 256.0, 1e6, 1e20] {
                let protocol = NoisyMessageGossip::new(matrix.clone(), 4, ratio, kind)?;
                let report = protocol.coalition_loss(&[0])?;
                let rows = protocol.rows_towards(&[0])?;
                let (_, found) = account::basis_of_rows(&rows, ExactOptions::default().budget())?;
                for (k, input) in rows.layout().inputs.iter().enumerate() {
                    let (low, high) = report.enclosure(input.node)?;
                    let (least, most) = (found.enclosure.lower[k], found.enclosure.upper[k]);
                    assert!(
                        least <= high && low <= most,
                        "{kind:?} {ratio}: [{least}, {most}] [{low}, {high}]"
                    );
                    assert!(most - least <= 1e-9 && (ratio > 1e4 || least > 0.0), "[{least}, {most}]");
                }
            }
        }
        Ok(())
    }
}
