//! Runs a protocol on vectors on real values, round by round.

use super::{Moment, Round, VectorProgram};
use crate::vector::schedule::NoiseSchedule;
use ndarray::{Array2, ArrayView2, Axis, s};
use ndp_account::Error;
use ndp_dp::Sigma;
use ndp_graph::{Csr, Step};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Everything that was drawn and sent in one run.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_dp::Sigma;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use ndp_program::VectorProgram;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let gossip = VectorProgram::new(3).noise(1.0).rounds(&matrix, 5);
/// let values = arr2(&[[0.0], [3.0], [6.0]]);
/// let run = gossip.run(values.view(), Sigma::new(1e-9)?, &mut ChaCha8Rng::seed_from_u64(1))?;
/// assert!(run.messages.len() == 5 && (run.output[(1, 0)] - 3.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The noise each node drew at the start: `n` by `d`.
    pub noise: Array2<f64>,
    /// The states of all nodes before rounds `0..T`, each `n` by `d`; with momentum, just before each ring.
    /// This is not a transcript of messages: nodes that send nothing in a round are in it, and the noise of
    /// messages, which their receivers see, is not.
    pub messages: Vec<Array2<f64>>,
    /// The final state of every node: `n` by `d`.
    pub output: Array2<f64>,
    /// What was drawn after the first noise. For fresh noise: the noise of rounds `1..T`, each `n` by `d`.
    /// For noise on messages: that of each round in units of `ratio · σ`, with one row per node, or per
    /// directed link `w → a` in the order of `a`, then of `w`. Empty if there is no further noise.
    pub later_noises: Vec<Array2<f64>>,
}

/// The values of all nodes at one time.
#[derive(Clone)]
pub(super) struct State {
    pub(super) x: Array2<f64>,
    /// `x` before the last round, if the next round needs it.
    before: Option<Array2<f64>>,
    /// With momentum: the second values, the clocks of the nodes, and the time.
    second: Option<(Array2<f64>, Vec<f64>, f64)>,
}

impl State {
    /// The state at the start of a program. With momentum, the second values become copies of the first ones
    /// when the first round begins.
    pub(super) fn new(x: Array2<f64>) -> Self {
        Self { x, before: None, second: None }
    }

    /// What happens before the messages of a round are sent: with momentum, its two nodes are brought up to
    /// date.
    pub(super) fn arrive(&mut self, round: &Round<'_>) {
        if let Round::Ring { ring, mixing, .. } = round {
            let nodes = self.x.nrows();
            let x = &self.x;
            let (_, _, now) = self.second.get_or_insert_with(|| (x.clone(), vec![0.0; nodes], 0.0));
            *now += ring.wait;
            self.catch_up(ring.edge.0, *mixing);
            self.catch_up(ring.edge.1, *mixing);
        }
    }

    /// What is sent in a round, with all nodes brought up to date.
    fn sent(&self, round: &Round<'_>) -> Array2<f64> {
        let Round::Ring { mixing, .. } = round else { return self.x.clone() };
        let mut sent = self.clone();
        (0..self.x.nrows()).for_each(|v| sent.catch_up(v, *mixing));
        sent.x
    }

    /// Replaces the values by those after a round, without noise. Returns the earlier values if they were
    /// replaced.
    pub(super) fn pass(&mut self, round: &Round<'_>) -> Option<Array2<f64>> {
        match round {
            Round::Matrix(mixing, first) => {
                let mut next = apply(mixing.matrix.csr(), self.x.view());
                if let Some(g) = mixing.extrapolation {
                    if let (Some(before), false) = (&self.before, *first) {
                        next.zip_mut_with(before, |y, x| *y = g * *y + (1.0 - g) * x);
                    }
                    self.before = Some(self.x.clone());
                }
                Some(std::mem::replace(&mut self.x, next))
            }
            Round::Step(Step::Matrix(matrix)) => {
                let next = apply(matrix.csr(), self.x.view());
                Some(std::mem::replace(&mut self.x, next))
            }
            Round::Step(Step::Pair(a, b)) => {
                average(&mut self.x, *a, *b);
                None
            }
            Round::Step(Step::Idle) => None,
            Round::Ring { ring, push, .. } => {
                let (a, b) = ring.edge;
                let difference = &self.x.row(a) - &self.x.row(b);
                self.x.row_mut(a).scaled_add(-0.5, &difference);
                self.x.row_mut(b).scaled_add(0.5, &difference);
                if let Some((z, _, _)) = &mut self.second {
                    z.row_mut(a).scaled_add(-push, &difference);
                    z.row_mut(b).scaled_add(*push, &difference);
                }
                None
            }
        }
    }

    /// Lets time pass for all nodes.
    pub(super) fn rest(&mut self, wait: f64, mixing: f64) {
        if let Some((_, _, now)) = &mut self.second {
            *now += wait;
            (0..self.x.nrows()).for_each(|v| self.catch_up(v, mixing));
        }
    }

    /// Mixes the two values of `v` for the time since its clock stopped.
    fn catch_up(&mut self, v: usize, mixing: f64) {
        let Some((z, clock, now)) = &mut self.second else { return };
        let moved = mixed_share(mixing, *now - clock[v]);
        clock[v] = *now;
        if moved > 0.0 {
            let towards = (&z.row(v) - &self.x.row(v)) * moved;
            self.x.row_mut(v).scaled_add(1.0, &towards);
            z.row_mut(v).scaled_add(-1.0, &towards);
        }
    }
}

/// The share of their difference by which two values have moved towards each other after some time.
pub(super) fn mixed_share(mixing: f64, time: f64) -> f64 {
    -0.5 * (-2.0 * mixing * time).exp_m1()
}

impl VectorProgram<'_> {
    /// Runs on `values` (`n` by `d`, row `v` held by node `v`). The first noise has standard deviation
    /// `sigma` per coordinate, and all others are scaled with it. Noises are drawn in order of time, those of
    /// a round node by node or link by link.
    ///
    /// The noise is drawn in floating point, for studies only. A real release needs noise that is drawn
    /// exactly ([`ndp_dp::DiscreteGaussian`]), and an account of its own.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one row per node and at least one column; [`Error::InvalidParameter`]
    /// for a value that is not finite, and for a noise whose variance is not finite.
    pub fn run(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        rng: &mut dyn Rng,
    ) -> Result<Transcript, Error> {
        self.checked()?;
        check_values(values, self.nodes)?;
        let mut deviations = self.deviations(sigma)?.into_iter();
        let (mut messages, mut noises) = (Vec::new(), Vec::new());
        let mut state = State::new(values.to_owned());
        for moment in self.moments() {
            match moment {
                Moment::Noise(_) => {
                    let deviation = deviations.next().unwrap_or(0.0);
                    let noise = normal(self.nodes, values.ncols(), deviation, rng);
                    state.x += &noise;
                    noises.push(noise);
                }
                Moment::Round(round) => {
                    state.arrive(&round);
                    let drawn = self.drawn_for(&round, values.ncols(), rng);
                    let replaced = matches!(round, Round::Matrix(..) | Round::Step(Step::Matrix(_)));
                    let sent = if replaced { None } else { Some(state.sent(&round)) };
                    let before = state.pass(&round);
                    messages.extend(sent.or(before));
                    if let (Some(drawn), Round::Matrix(mixing, _)) = (drawn, round) {
                        mixing.carry(&drawn, sigma, &mut state.x);
                        noises.push(drawn);
                    }
                }
                Moment::Rest { wait, mixing } => state.rest(wait, mixing),
            }
        }
        let later_noises = noises.split_off(noises.len().min(1));
        let noise = noises.pop().unwrap_or_else(|| Array2::zeros(values.raw_dim()));
        Ok(Transcript { noise, messages, output: state.x, later_noises })
    }

    /// The noises of the messages of a round.
    fn drawn_for(&self, round: &Round<'_>, columns: usize, rng: &mut dyn Rng) -> Option<Array2<f64>> {
        let Round::Matrix(mixing, _) = round else { return None };
        mixing.noise.map(|_| normal(mixing.noises(), columns, 1.0, rng))
    }

    /// The standard deviations of the noises of nodes, in order of time; the first one is `sigma`.
    fn deviations(&self, sigma: Sigma) -> Result<Vec<f64>, Error> {
        let variances = self.variances();
        if variances == [1.0] {
            return Ok(vec![sigma.get()]);
        }
        let scaled = NoiseSchedule::new(variances)?.scaled_to(sigma)?;
        Ok(scaled.variances().iter().map(|variance| variance.sqrt()).collect())
    }

    /// The values at the end as combinations of those at the start, `n` by `n`, without noise.
    pub(super) fn followed(&self) -> Array2<f64> {
        by_columns(&Array2::eye(self.nodes), |columns| {
            let mut state = State::new(columns);
            for moment in self.moments() {
                match moment {
                    Moment::Noise(_) => {}
                    Moment::Round(round) => {
                        state.arrive(&round);
                        state.pass(&round);
                    }
                    Moment::Rest { wait, mixing } => state.rest(wait, mixing),
                }
            }
            state.x
        })
    }
}

impl super::Mixing<'_> {
    /// Adds the noise that came with the messages to the averages.
    fn carry(&self, drawn: &Array2<f64>, sigma: Sigma, x: &mut Array2<f64>) {
        let Some((kind, ratio)) = self.noise else { return };
        let scale = ratio * sigma.get();
        for (a, w, weight, k) in self.links() {
            let from = match kind {
                super::MessageNoise::Broadcast => w,
                super::MessageNoise::PerLink => k,
                super::MessageNoise::Overheard => break,
            };
            x.row_mut(a).scaled_add(weight * scale, &drawn.row(from));
        }
    }
}

/// Independent normal numbers of this standard deviation.
fn normal(rows: usize, columns: usize, deviation: f64, rng: &mut dyn Rng) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |_| {
        let z: f64 = StandardNormal.sample(rng);
        deviation * z
    })
}

/// What `of` makes of the columns of a matrix, a few of them at a time.
fn by_columns(x: &Array2<f64>, of: impl Fn(Array2<f64>) -> Array2<f64> + Sync) -> Array2<f64> {
    let mut whole = Array2::zeros(x.raw_dim());
    for (part, mut columns) in each_few_columns(x, of).iter().zip(whole.axis_chunks_iter_mut(Axis(1), FEW)) {
        columns.assign(part);
    }
    whole
}

/// So many columns of a few thousand rows fit in a cache.
const FEW: usize = 32;

/// The same, in parts.
pub(super) fn each_few_columns<T: Send>(x: &Array2<f64>, of: impl Fn(Array2<f64>) -> T + Sync) -> Vec<T> {
    let starts: Vec<usize> = (0..x.ncols()).step_by(FEW).collect();
    let few = |&start: &usize| of(x.slice(s![.., start..x.ncols().min(start + FEW)]).to_owned());
    starts.par_iter().map(few).collect()
}

/// `W X` for a matrix of values.
#[must_use]
pub fn apply(w: &Csr, x: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut y = Array2::zeros(x.raw_dim());
    match (x.ncols(), x.as_slice(), y.as_slice_mut()) {
        // Many rounds of large graphs take their time here.
        (FEW, Some(x), Some(y)) => add_rows(w, x.as_chunks::<FEW>().0, y.as_chunks_mut::<FEW>().0),
        _ => {
            for (i, mut row) in y.rows_mut().into_iter().enumerate() {
                let (columns, weights) = w.row(i);
                for (&j, &weight) in columns.iter().zip(weights) {
                    row.scaled_add(weight, &x.row(j as usize));
                }
            }
        }
    }
    y
}

/// The same sums in the same order, without looking up each row.
fn add_rows(w: &Csr, x: &[[f64; FEW]], y: &mut [[f64; FEW]]) {
    for (i, row) in y.iter_mut().enumerate() {
        let (columns, weights) = w.row(i);
        for (&j, &weight) in columns.iter().zip(weights) {
            row.iter_mut().zip(&x[j as usize]).for_each(|(y, x)| *y += weight * x);
        }
    }
}

/// The values after a step.
#[must_use]
pub fn advance(step: &Step, state: &Array2<f64>) -> Array2<f64> {
    match *step {
        Step::Matrix(ref matrix) => apply(matrix.csr(), state.view()),
        Step::Pair(a, b) => {
            let mut next = state.clone();
            average(&mut next, a, b);
            next
        }
        Step::Idle => state.clone(),
    }
}

fn average(x: &mut Array2<f64>, a: usize, b: usize) {
    let mean = (&x.row(a) + &x.row(b)) * 0.5;
    x.row_mut(a).assign(&mean);
    x.row_mut(b).assign(&mean);
}

/// Checks that there is one finite value per node and coordinate.
pub(super) fn check_values(values: ArrayView2<'_, f64>, nodes: usize) -> Result<(), Error> {
    if values.nrows() != nodes {
        return Err(Error::Shape { what: "rows of the values", expected: nodes, got: values.nrows() });
    }
    if values.ncols() == 0 {
        return Err(Error::Shape { what: "columns of the values (at least)", expected: 1, got: 0 });
    }
    match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => {
            Err(Error::InvalidParameter { name: "every value to average", condition: "be finite", value })
        }
        None => Ok(()),
    }
}
