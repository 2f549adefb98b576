//! Runs private averaging by a walking token, on real values.
//!
//! Node `v` holds `y_v ∈ R^d`, with objective `f_v(x) = ‖x − y_v‖²`. The holder moves the token by one
//! noisy gradient step of size `γ_t`,
//!
//! ```text
//! x_{t+1} = x_t − γ_t (2 (x_t − y_v) + η),      η = −2 z,   z ~ N(0, σ² I)
//!         = (1 − 2γ_t) x_t + 2γ_t (y_v + z),
//! ```
//!
//! that is, it contributes the noisy value `y_v + z`. Gradients have twice the sensitivity of values and
//! twice their noise, so that the noise multiplier is `σ/Δ` either way. A noise-only step adds `2γ_t z` and
//! does not move the token otherwise.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*,
//!   ICML 2024: Algorithm 1 and the averaging task of section 5. Its running average has step `1/t`;
//!   for this objective the step is `1/(2t)`.

use ndp_account::Observation;
use ndp_account::parts::checked_coalition;
use ndp_certify::rows::{Input, Layout, Rows};
use ndp_certify::trace::{self, Trace};
use ndp_numeric::casts::id;

use crate::walk::{EVERY_CONTRIBUTION, FinalToken, NO_MASK_ON_A_GRAPH, OnPath, Path};
use ndarray::{Array1, Array2, ArrayView2};
use ndp_account::parts::ensure;
use ndp_account::{Error, LinearProtocol, Terms, View};
use ndp_certify::Source;
use ndp_dp::Sigma;
use ndp_linalg::memory::require_dense;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use std::sync::Arc;

/// The sizes `γ_t` of the gradient steps.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::{Steps, TokenAveraging};
/// use ndp_algos::walk::{FinalToken, Path};
/// let path = Path { nodes: 2, holders: vec![0, 1, 0], contributes: vec![true; 2] };
/// let covered = |steps| {
///     let (initial, final_token) = (ndarray::array![0.0], FinalToken::Withheld);
///     TokenAveraging { steps, initial, final_token }.require_amplification(&path).is_ok()
/// };
/// assert!(covered(Steps::Given(vec![0.5, 0.25])) && covered(Steps::RunningAverage));
/// assert!(!covered(Steps::Constant(-0.1)) && !covered(Steps::Given(vec![0.5, 0.1])));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Steps {
    /// `γ_t = γ`.
    Constant(f64),
    /// `γ = 1/(2k)` at the `k`-th contribution: the token is the average of the noisy values so far, plus the
    /// noises of noise-only steps. The token carries the number `k` with it.
    RunningAverage,
    /// Any sequence, one per step.
    Given(Vec<f64>),
}

/// Averaging by a token that starts at a public value.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndp_algos::walk::FinalToken;
/// use ndp_algos::walk::graph::{Steps, TokenAveraging, TokenWalk};
/// use ndp_dp::Sigma;
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::cycle_graph, hitting::Start};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let matrix = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(4)?));
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let path = TokenWalk::new(&matrix, Start::Uniform, 4000)?.sample(rng);
/// let (initial, final_token) = (array![0.0], FinalToken::Withheld);
/// let averaging = TokenAveraging { steps: Steps::RunningAverage, initial, final_token };
/// averaging.require_amplification(&path)?;
/// let values = array![[0.0], [1.0], [2.0], [5.0]];
/// let run = averaging.run(&path, values.view(), Sigma::new(1.0)?, rng)?;
/// assert!((run.tokens[(4000, 0)] - 2.0).abs() < 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TokenAveraging {
    /// The sizes of the steps, positive and finite.
    pub steps: Steps,
    /// The public value at which the token starts; its length is the dimension `d`.
    pub initial: Array1<f64>,
    /// What becomes of the token after the last step. Masking it is not offered.
    pub final_token: FinalToken,
}

/// `x ← keep · x + add · (value + noise)` for a contribution; for a noise-only step the same without the
/// value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Update {
    keep: f64,
    add: f64,
}

impl TokenAveraging {
    /// Checks the step sizes, the initial value and the final token. Every method that uses the fields calls
    /// it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a step size that is not positive and finite, an initial value
    /// that is not finite, or no coordinate; [`Error::NoGuarantee`] for [`FinalToken::Masked`].
    pub(super) fn check(&self) -> Result<(), Error> {
        let sizes = match &self.steps {
            Steps::Constant(size) => std::slice::from_ref(size),
            Steps::RunningAverage => &[],
            Steps::Given(sizes) => sizes,
        };
        for &size in sizes {
            ensure(0.0 < size && size.is_finite(), "every step size", "be positive and finite", size)?;
        }
        for &x in &self.initial {
            ensure(x.is_finite(), "every coordinate of the initial token", "be finite", x)?;
        }
        ensure(!self.initial.is_empty(), "the dimension", "be at least 1", 0.0)?;
        self.final_token.unmasked(NO_MASK_ON_A_GRAPH).map(|_| ())
    }

    /// Checks that amplification by iteration covers a run on `path`, so that the accountants of this module
    /// apply.
    ///
    /// Measured in units of the latest noise, two tokens must never move apart: with `x_{t+1} = a_t x_t + b_t
    /// (…)` the condition is `|a_t| b_{t−1} ≤ b_t`. Constant steps up to `2/L = 1` and the running average
    /// satisfy it. Steps that decrease faster, and noise-only steps while the step sizes decrease, do not.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] when it does not; [`Error::Shape`] for fewer given steps than the path has;
    /// otherwise as [`Self::run`].
    pub fn require_amplification(&self, path: &Path) -> Result<(), Error> {
        let updates = self.updates(path)?;
        for pair in updates.windows(2) {
            if pair[1].keep.abs() * pair[0].add > pair[1].add * (1.0 + 1e-12) {
                return Err(Error::NoGuarantee(
                    "a step of the token expands distances in units of its noise: amplification by iteration fails",
                ));
            }
        }
        Ok(())
    }

    /// Runs on given values (`n` by `d`). `sigma` is the standard deviation of the noise on each coordinate
    /// of a value: the noise multiplier times the sensitivity of a value.
    ///
    /// The noise is drawn in floating point, for studies only. A real release needs noise that is drawn
    /// exactly ([`ndp_dp::DiscreteGaussian`]), and an account of its own.
    ///
    /// # Errors
    /// [`Error::Shape`] when dimensions differ or steps are missing; [`Error::NodeOutOfRange`] for a holder
    /// without a value; [`Error::InvalidParameter`] for a value, a coordinate of the initial token or a step
    /// size that is not finite, for a step size that is not positive and for no coordinate;
    /// [`Error::NoGuarantee`] for [`FinalToken::Masked`].
    pub fn run(
        &self,
        path: &Path,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        rng: &mut impl Rng,
    ) -> Result<AveragingRun, Error> {
        let (nodes, dimension) = values.dim();
        if dimension != self.initial.len() {
            let expected = self.initial.len();
            return Err(Error::Shape { what: "coordinates of the values", expected, got: dimension });
        }
        if let Some(&node) = path.holders.iter().find(|&&node| node >= nodes) {
            return Err(Error::NodeOutOfRange { node, nodes });
        }
        if let Some(&value) = values.iter().find(|x| !x.is_finite()) {
            return Err(Error::InvalidParameter { name: "every value", condition: "be finite", value });
        }
        let updates = self.updates(path)?;
        require_dense("the transcript of the walk", 2 * (path.steps() + 1), dimension)?;
        let mut noises = Array2::zeros((path.steps(), dimension));
        noises.mapv_inplace(|_: f64| sigma.get() * rng.sample::<f64, _>(StandardNormal));
        let mut tokens = Array2::zeros((path.steps() + 1, dimension));
        tokens.row_mut(0).assign(&self.initial);
        for (t, update) in updates.iter().enumerate() {
            let mut next = &tokens.row(t) * update.keep;
            next.scaled_add(update.add, &noises.row(t));
            if path.contributes[t] {
                next.scaled_add(update.add, &values.row(path.holders[t]));
            }
            tokens.row_mut(t + 1).assign(&next);
        }
        Ok(AveragingRun { path: path.clone(), tokens, noises, published: self.final_token.is_shown() })
    }

    fn updates(&self, path: &Path) -> Result<Vec<Update>, Error> {
        self.check()?;
        path.check_on_graph()?;
        if let Steps::Given(sizes) = &self.steps
            && sizes.len() < path.steps()
        {
            return Err(Error::Shape { what: "step sizes", expected: path.steps(), got: sizes.len() });
        }
        let mut count = 0;
        let update = |(t, &contributes): (usize, &bool)| {
            let add = match &self.steps {
                Steps::Constant(size) => 2.0 * size,
                Steps::Given(sizes) => 2.0 * sizes[t],
                Steps::RunningAverage => {
                    count += usize::from(contributes);
                    1.0 / count.max(1) as f64
                }
            };
            let keep = if contributes { 1.0 - add } else { 1.0 };
            Update { keep, add }
        };
        Ok(path.contributes.iter().enumerate().map(update).collect())
    }
}

/// A run of [`TokenAveraging`]: the path, the token before every step and at the end, the noises.
///
/// No node sees all of this: it is for tests and for measuring accuracy. A node sees the token at its visits,
/// the rows `t` with `path.holders[t]` the node, and the last row if it is `published`. It also knows what it
/// did itself: the token that it passed on (row `t + 1`), the noise that it drew, and to whom it passed the
/// token. If senders are known (Remark 3), it learns who sent it the token, too: `path.holders[t − 1]`.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndp_algos::walk::{FinalToken, Path};
/// use ndp_algos::walk::graph::{Steps, TokenAveraging};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let path = Path { nodes: 2, holders: vec![0, 1, 0], contributes: vec![true; 2] };
/// let (initial, final_token) = (array![0.0], FinalToken::Withheld);
/// let averaging = TokenAveraging { steps: Steps::RunningAverage, initial, final_token };
/// let values = array![[1.0], [3.0]];
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let run = averaging.run(&path, values.view(), ndp_dp::Sigma::new(1.0)?, rng)?;
/// assert!((run.tokens[(2, 0)] - 2.0 - (run.noises[(0, 0)] + run.noises[(1, 0)]) / 2.0).abs() < 1e-12);
/// // Node 1 receives what node 0 passed on, and passes on the mean of two noisy values.
/// assert_eq!((run.path.holders[1], run.tokens.nrows()), (1, 3));
/// assert!((run.tokens[(1, 0)] - 1.0 - run.noises[(0, 0)]).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AveragingRun {
    /// The path of the token.
    pub path: Path,
    /// The token at times `0..=T`, one row each.
    pub tokens: Array2<f64>,
    /// The noise that was drawn at each step, in units of a value, one row each.
    pub noises: Array2<f64>,
    /// Whether every node learns the final token.
    pub published: bool,
}

impl OnPath<TokenAveraging> {
    /// Checks that no step turns the token around. Rows move all contributions of a node alike, which shows
    /// most only where all of them enter what is seen with the same sign.
    fn require_one_sign(&self) -> Result<(), Error> {
        if self.protocol.updates(&self.path)?.iter().any(|update| update.keep < 0.0) {
            return Err(Error::NoGuarantee(
                "a step size above 1/2 turns the token around, and contributions of a node that move differently show more than is counted",
            ));
        }
        Ok(())
    }

    /// The times at which the members see the token, and the steps whose noise they draw themselves.
    fn seen(&self, members: &[usize]) -> Result<(Vec<usize>, Vec<usize>), Error> {
        self.protocol.check()?;
        self.path.check_on_graph()?;
        let holders = &self.path.holders;
        let is_member = |t: &usize| members.binary_search(&holders[*t]).is_ok();
        let end = self.path.steps();
        let mut times: Vec<usize> = (1..=end).filter(is_member).collect();
        if self.protocol.final_token.is_shown() && times.last() != Some(&end) {
            times.push(end);
        }
        Ok((times, (0..end).filter(is_member).collect()))
    }

    /// What the members see at `times`, as rows with exact entries. They know the noises of the steps in
    /// `own`, which they drew.
    fn exact_rows(&self, members: &[usize], times: &[usize], own: &[usize], updates: &[Update]) -> Rows {
        let mut noise_of = vec![None; updates.len()];
        let mut noises = 0;
        for t in (0..updates.len()).filter(|t| own.binary_search(t).is_err()) {
            noise_of[t] = Some(id(noises));
            noises += 1;
        }
        let left_out = |u: usize| !own.is_empty() && members.binary_search(&u).is_ok();
        // A node that never contributes loses nothing.
        let mut gives = vec![false; self.path.nodes];
        let held = self.path.holders.iter().zip(&self.path.contributes);
        held.filter(|(_, contributes)| **contributes).for_each(|(&u, _)| gives[u] = true);
        let sources: Vec<usize> = (0..self.path.nodes).filter(|&u| gives[u] && !left_out(u)).collect();
        let coordinates = noises + sources.len();
        let input = |(k, &node): (usize, &usize)| {
            let coordinate = noises + k;
            Input { node, coordinate, factor: 1.0, scale: 0, structural: None }
        };
        let layout = Layout {
            nodes: self.path.nodes,
            coordinates,
            noises,
            variances: Vec::new(),
            inputs: sources.iter().enumerate().map(input).collect(),
            members: members.to_vec(),
            known: own.len(),
            adds_up: false,
        };
        // The program has one register, the token.
        let (mut steps, mut messages) = (Vec::new(), Vec::new());
        for (t, update) in updates.iter().enumerate() {
            steps.push(trace::Step::Scale(0, update.keep));
            let mut entries: Vec<(u32, u32)> = noise_of[t].map(|at| (0, at)).into_iter().collect();
            if self.path.contributes[t]
                && let Ok(k) = sources.binary_search(&self.path.holders[t])
            {
                entries.push((0, id(noises + k)));
            }
            steps.push(trace::Step::Add { entries: Arc::new(entries), first: 0, factor: update.add });
            if times.binary_search(&(t + 1)).is_ok() {
                messages.push(trace::Message { after: steps.len(), register: 0, beside: Vec::new() });
            }
        }
        Rows::Traced(Trace::new(layout, 1, steps, messages))
    }
}

/// Input `u` is the value of node `u`, the noises are those of the steps.
impl LinearProtocol for OnPath<TokenAveraging> {
    fn terms(&self) -> Terms {
        self.protocol.final_token.kept(EVERY_CONTRIBUTION)
    }

    fn node_count(&self) -> usize {
        self.path.nodes
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let members = checked_coalition(coalition, self.path.nodes)?;
        let (times, own) = self.seen(&members)?;
        let steps = self.path.steps();
        self.require_one_sign()?;
        require_dense("the view of a walk", times.len(), self.path.nodes + steps)?;
        let updates = self.protocol.updates(&self.path)?;
        let mut inputs = Array2::zeros((times.len(), self.path.nodes));
        let mut noises = Array2::zeros((times.len(), steps));
        let mut token_inputs = Array1::<f64>::zeros(self.path.nodes);
        let mut token_noises = Array1::<f64>::zeros(steps);
        let mut row = 0;
        for (t, update) in updates.iter().enumerate() {
            let holder = self.path.holders[t];
            token_inputs *= update.keep;
            token_noises *= update.keep;
            token_noises[t] = update.add;
            if self.path.contributes[t] {
                token_inputs[holder] += update.add;
            }
            if times.get(row) == Some(&(t + 1)) {
                inputs.row_mut(row).assign(&token_inputs);
                noises.row_mut(row).assign(&token_noises);
                row += 1;
            }
        }
        let exact = self.exact_rows(&members, &times, &own, &updates);
        Ok(View::new(&members, inputs, noises, &own)?.with_source(Source::Rows(exact)))
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let members = checked_coalition(coalition, self.path.nodes)?;
        let (times, own) = self.seen(&members)?;
        // The coordinates are independent runs of this program, all from a token at 0.
        let at_zero = TokenAveraging { initial: Array1::zeros(values.ncols()), ..self.protocol.clone() };
        let transcript = at_zero.run(&self.path, values, sigma, &mut &mut *rng)?;
        let rows = |rows: &Array2<f64>, times: &[usize]| rows.select(ndarray::Axis(0), times);
        Ok(Observation {
            received: rows(&transcript.tokens, &times),
            known_noises: rows(&transcript.noises, &own),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::{TokenWalk, WalkOptions};
    use super::super::path_cost::Odometer;
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{ArrayView1, array};
    use ndp_account::Observer;
    use ndp_account::audit::{AuditPlan, audit};
    use ndp_account::loss::exact_loss;
    use ndp_account::parts::Attack;
    use ndp_dp::{Grade, Sensitivity};
    use ndp_graph::Weights;
    use ndp_graph::generators::{cycle_graph, star_graph};
    use ndp_graph::hitting::Start;
    use ndp_graph::progress::Silent;
    use ndp_graph::{GossipMatrix, TransitionMatrix};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn ring(n: usize) -> TransitionMatrix {
        TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(n).unwrap()))
    }

    fn averaging(steps: Steps, initial: Array1<f64>) -> TokenAveraging {
        TokenAveraging { steps, initial, final_token: FinalToken::Withheld }
    }

    /// With steps above 1/2 two visits enter the token with different signs. At step 1 it is `-2 y + 2 y'`,
    /// so that equal moves cancel and opposite ones show a squared mu of 2.
    #[test]
    fn steps_that_turn_the_token_around_have_no_account() {
        let visits = Path { nodes: 2, holders: vec![0, 0, 1], contributes: vec![true; 2] };
        let of = |step| {
            let protocol = averaging(Steps::Constant(step), array![0.0]);
            OnPath { protocol, path: visits.clone() }.coalition_loss(&[1])
        };
        assert!(of(0.5).is_ok() && matches!(of(0.51), Err(Error::NoGuarantee(_))));
        assert!(matches!(of(1.0), Err(Error::NoGuarantee(_))));
    }

    fn path(holders: &[usize]) -> Path {
        some(holders, &vec![true; holders.len() - 1])
    }

    /// A path on five nodes.
    fn some(holders: &[usize], contributes: &[bool]) -> Path {
        Path { nodes: 5, holders: holders.to_vec(), contributes: contributes.to_vec() }
    }

    fn read(path: &Path, u: usize, observers: &[usize]) -> Odometer {
        let mut odometer = Odometer::new(u, observers).unwrap();
        for (&holder, &contributes) in path.holders.iter().zip(&path.contributes) {
            odometer.record(holder, contributes);
        }
        odometer.arrive(path.holders[path.steps()]);
        // The public method gives the same.
        let cost = path.cost(u, observers, FinalToken::Withheld).unwrap();
        assert_eq!((cost.adaptive, cost.constant), (odometer.cost(), odometer.constant_gradient_cost()));
        odometer
    }

    #[test]
    fn the_running_average_is_one() -> Result<(), Error> {
        let averaging = averaging(Steps::RunningAverage, array![5.0, -3.0]);
        let values = array![[1.0, 0.0], [2.0, 4.0], [6.0, 1.0]];
        let tiny = Sigma::new(1e-300).unwrap();
        let path = some(&[0, 1, 1, 2, 0], &[true, true, false, true]);
        let transcript = averaging.run(&path, values.view(), tiny, &mut ChaCha8Rng::seed_from_u64(1))?;
        let near = |seen: ArrayView1<'_, f64>, expected: Array1<f64>| {
            (&seen - &expected).iter().all(|difference| difference.abs() < 1e-12)
        };
        assert!(near(transcript.tokens.row(4), array![3.0, 5.0 / 3.0]));
        // What node 1 receives at its visits, the times 1 and 2.
        assert!(near(transcript.tokens.row(1), array![1.0, 0.0]));
        assert!(near(transcript.tokens.row(2), array![1.5, 2.0]));
        let shown = TokenAveraging { final_token: FinalToken::Published, ..averaging };
        let shown = shown.run(&path, values.view(), tiny, &mut ChaCha8Rng::seed_from_u64(1))?;
        assert_eq!((shown.tokens, transcript.published, shown.published), (transcript.tokens, false, true));
        Ok(())
    }

    /// The noise of a running average after t steps has variance σ²/t per coordinate.
    #[test]
    fn noise_has_the_stated_variance() -> Result<(), Error> {
        let running = averaging(Steps::RunningAverage, Array1::zeros(1));
        let constant = averaging(Steps::Constant(0.15), Array1::zeros(1));
        let (path, values) = (path(&[0, 1, 0, 2, 1, 2, 2, 0]), Array2::zeros((3, 1)));
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let sigma = Sigma::new(2.0).unwrap();
        let a: f64 = 0.7;
        for (averaging, expected) in
            [(running, 4.0 / 7.0), (constant, 4.0 * 0.09 * (1.0 - a.powi(14)) / (1.0 - a * a))]
        {
            let runs = 20_000;
            let squares: Vec<f64> = (0..runs)
                .map(|_| {
                    averaging.run(&path, values.view(), sigma, &mut rng).map(|run| run.tokens[(7, 0)].powi(2))
                })
                .collect::<Result<_, _>>()?;
            let mean = squares.iter().sum::<f64>() / f64::from(runs);
            // The standard deviation of the square of a Gaussian is √2 times its mean.
            assert!((mean - expected).abs() < 4.0 * expected * (2.0 / f64::from(runs)).sqrt());
        }
        Ok(())
    }

    /// Given the path, the exact loss of a running average is `Σ k²/slots`, and a token under contracting
    /// steps never leaks more than the taut string says.
    #[test]
    fn exact_losses_given_the_path_agree_with_the_odometer() -> Result<(), Error> {
        let w = ring(4);
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let running = averaging(Steps::RunningAverage, Array1::zeros(1));
        for round in 0..20 {
            let walk = TokenWalk::new(&w, Start::Uniform, 25)?
                .with_options(WalkOptions { cap: Some(1 + round % 4), ..WalkOptions::default() })?;
            let path = walk.sample(&mut rng);
            for observers in [vec![0], vec![1, 2]] {
                let exact = |averaging: &TokenAveraging, final_token| {
                    averaging.require_amplification(&path)?;
                    let protocol = TokenAveraging { final_token, ..averaging.clone() };
                    let protocol = OnPath { protocol, path: path.clone() };
                    exact_loss(&protocol.coalition_view(&observers)?)
                };
                for u in (0..4).filter(|u| !observers.contains(u)) {
                    let mut odometer = read(&path, u, &observers);
                    let report = exact(&running, FinalToken::Withheld)?;
                    let unit = report.loss.value().unit[u];
                    let expected = *odometer.constant_gradient_cost().value();
                    assert_relative_eq!(unit, expected, max_relative = 1e-9, epsilon = 1e-12);
                    assert_eq!(report.loss.grade(), Grade::Exact);
                    for gamma in [0.05, 0.3, 0.5] {
                        let constant = averaging(Steps::Constant(gamma), Array1::zeros(1));
                        let unit = exact(&constant, FinalToken::Withheld)?.loss.value().unit[u];
                        assert!(unit <= odometer.cost().value() + 1e-9);
                    }
                    odometer.observe();
                    let unit = exact(&running, FinalToken::Published)?.loss.value().unit[u];
                    let expected = *odometer.constant_gradient_cost().value();
                    assert_relative_eq!(unit, expected, max_relative = 1e-9, epsilon = 1e-12);
                }
            }
        }
        Ok(())
    }

    /// The likelihood ratio on real transcripts shows at least 0.9 of the exact μ, and never more than μ.
    #[test]
    fn an_attack_on_transcripts_meets_the_exact_loss() -> Result<(), Error> {
        let running = averaging(Steps::RunningAverage, Array1::zeros(1));
        let constant = averaging(Steps::Constant(0.2), Array1::zeros(1));
        let star = TransitionMatrix::from(&GossipMatrix::new(&star_graph(3)?, Weights::MaxDegree)?);
        let ring = ring(5);
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let paths = [
            // A leaf that keeps the token for three steps: nothing is hidden from the hub.
            (path(&[0, 1, 1, 1, 0, 2, 0]), 1, 0),
            (TokenWalk::new(&star, Start::Node(0), 30)?.sample(&mut rng), 2, 0),
            (TokenWalk::new(&ring, Start::Uniform, 40)?.sample(&mut rng), 0, 2),
            (
                TokenWalk::new(&ring, Start::Uniform, 40)?
                    .with_options(WalkOptions { cap: Some(2), ..WalkOptions::default() })?
                    .sample(&mut rng),
                0,
                3,
            ),
        ];
        let sensitivity = Sensitivity::new(1.0).unwrap();
        for (path, u, v) in &paths {
            for averaging in [&running, &constant] {
                let protocol = OnPath { protocol: averaging.clone(), path: path.clone() };
                let unit = Attack::optimal(&protocol.coalition_view(&[*v])?, *u)?.unit;
                assert!(unit > 0.0 && unit <= read(path, *u, &[*v]).cost().value() + 1e-9);
                // The μ, and so the noise, at which an audit tells two normal laws apart best.
                let mu = 1.5;
                let sigma = Sigma::new(unit.sqrt() / mu)?;
                let plan = AuditPlan { runs: 60_000, error_rate: 1e-4 };
                let found = audit(
                    &protocol,
                    *u,
                    &Observer::node(*v),
                    sigma.multiplier(sensitivity)?,
                    plan,
                    &mut rng,
                    &Silent,
                )?;
                let measured = *found.measured_mu.value();
                assert!((0.9 * mu..=mu).contains(&measured), "measured {measured}, exact {mu}");
            }
        }
        let leaf = OnPath { protocol: running, path: paths[0].0.clone() };
        assert_relative_eq!(Attack::optimal(&leaf.coalition_view(&[0])?, 1)?.unit, 3.0, max_relative = 1e-12);
        Ok(())
    }

    #[test]
    fn amplification_is_refused_where_it_fails() -> Result<(), Error> {
        let all = path(&[0, 1, 2, 0, 1]);
        let some = some(&[0, 1, 2, 0, 1], &[true, true, true, false]);
        let averaging = |steps| averaging(steps, Array1::zeros(1));
        let halves = Steps::Given((1..=4).map(|t| 0.5 / f64::from(t)).collect());
        averaging(Steps::Constant(1.0)).require_amplification(&some)?;
        averaging(Steps::RunningAverage).require_amplification(&some)?;
        averaging(halves.clone()).require_amplification(&all)?;
        let refused =
            |steps, path| matches!(averaging(steps).require_amplification(path), Err(Error::NoGuarantee(_)));
        assert!(refused(Steps::Constant(1.01), &all));
        assert!(refused(halves, &some));
        assert!(refused(Steps::Given(vec![0.5, 0.1, 0.01, 0.001]), &all));
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        for steps in [Steps::Constant(0.0), Steps::Constant(f64::NAN), Steps::Given(vec![0.1, -0.1])] {
            let bad = averaging(steps, array![0.0]);
            assert!(matches!(bad.require_amplification(&path(&[0, 1])), Err(Error::InvalidParameter { .. })));
            let on_path = OnPath { protocol: bad, path: path(&[0, 1]) };
            assert!(matches!(on_path.coalition_view(&[1]), Err(Error::InvalidParameter { .. })));
        }
        let coordinate = "every coordinate of the initial token";
        for (initial, refused) in [(array![], "the dimension"), (array![f64::INFINITY], coordinate)] {
            let bad = averaging(Steps::Constant(0.1), initial);
            assert!(matches!(bad.require_amplification(&path(&[0, 1])), Err(Error::InvalidParameter { .. })));
            let w = GossipMatrix::metropolis(&cycle_graph(4)?);
            let values = Array2::zeros((4, bad.initial.len()));
            let noise = Sigma::new(1.0)?;
            let found = bad.mean_squared_error(&w, values.view(), noise, Some(3));
            assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused));
        }
        let averaging = averaging(Steps::Given(vec![0.1]), array![0.0]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let sigma = Sigma::new(1.0).unwrap();
        let mut run = |holders: &[usize], values: Array2<f64>| {
            averaging.run(&path(holders), values.view(), sigma, &mut rng).unwrap_err()
        };
        assert!(matches!(run(&[0, 1, 0], Array2::zeros((2, 1))), Error::Shape { .. }));
        assert!(matches!(run(&[0, 2], Array2::zeros((2, 1))), Error::NodeOutOfRange { .. }));
        assert!(matches!(run(&[0, 1], Array2::zeros((2, 2))), Error::Shape { .. }));
        assert!(matches!(run(&[0, 1], array![[f64::NAN], [0.0]]), Error::InvalidParameter { .. }));
        let masked = TokenAveraging { final_token: FinalToken::Masked, ..averaging };
        let (values, path) = (Array2::zeros((5, 1)), path(&[0, 1]));
        assert!(matches!(masked.run(&path, values.view(), sigma, &mut rng), Err(Error::NoGuarantee(_))));
        assert!(matches!(OnPath { protocol: masked, path }.coalition_view(&[1]), Err(Error::NoGuarantee(_))));
        Ok(())
    }
}
