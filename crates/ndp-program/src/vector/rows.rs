//! Exact rows of what is heard, for the certified engines. The steps are restricted to the nodes whose data
//! arrive in time.

use super::heard::{Listener, Messages, drawn_in_round};
use super::messages::neighbors;
use super::run::mixed_share;
use super::{Engine, MessageNoise, Mixing, Moment, Round, VectorProgram};
use ndp_account::Error;
use ndp_certify::Source;
use ndp_certify::account::{self, Budget, Certificate};
use ndp_certify::ball::Ball;
use ndp_certify::dyadic::Dyadic;
use ndp_certify::krylov::Krylov;
use ndp_certify::magnitude::times_power;
use ndp_certify::matrix::{ExactMatrix, Laziness};
use ndp_certify::rows::{Layout, Rows};
use ndp_certify::trace::{self, Trace};
use ndp_graph::tasks::in_pool;
use ndp_graph::{GossipMatrix, Step};
use ndp_numeric::casts::id;
use std::sync::Arc;

/// The largest number of rounds that are followed one by one for an outsider who overhears edges.
const MOST_ROUNDS_TAPPED: usize = 100_000;

impl VectorProgram<'_> {
    /// The space that a coalition (ascending) sees, if it is spanned by powers of one matrix. The coalition
    /// knows the noises of `known`.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if it is not.
    #[doc(hidden)]
    pub fn exact_powers(&self, coalition: &[usize], known: &[usize]) -> Result<Krylov, Error> {
        self.checked()?;
        let Some((matrix, rounds)) = self.same_matrix().filter(|_| self.engine().0 == Engine::Powers) else {
            return Err(Error::NotOffered("no powers of one matrix span what is seen"));
        };
        let senders = neighbors(matrix.graph(), coalition, known);
        Ok(Krylov::new(matrix, coalition, &senders, known, rounds))
    }

    /// The messages that are heard by a coalition (ascending), which knows the noises of `known`. With
    /// `start`, the value of its first node after the first noise comes before all of them.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for noise of several kinds, and if nodes hear messages without the noise that
    /// outsiders hear.
    #[doc(hidden)]
    pub fn exact_rows(&self, coalition: &[usize], known: &[usize], start: bool) -> Result<Rows, Error> {
        let mut listener = Listener::nodes(coalition, known);
        listener.start = coalition.first().copied().filter(|_| start);
        self.checked()?;
        self.refuse_what_is_clean(&mut listener)?;
        if self.mixing().is_some_and(|mixing| mixing.extrapolation.is_some()) {
            return Err(Error::NotOffered(
                "accelerated rounds are accounted for by powers of their matrix, not row by row",
            ));
        }
        let ball = match self.same_matrix() {
            Some((matrix, rounds)) => Ball::around(matrix.graph(), coalition, rounds),
            None => self.ball_of(&mut listener)?,
        };
        self.traced(&ball, &mut listener, known)
    }

    /// What is overheard on edges, as rows; no noise is known.
    ///
    /// # Errors
    /// [`ndp_graph::Error::NotAnEdge`]; [`Error::NotOffered`] if connections change.
    pub(super) fn overheard_rows(&self, tapped: &[(usize, usize)]) -> Result<Rows, Error> {
        self.checked()?;
        let Some((matrix, rounds)) = self.same_matrix() else {
            return Err(super::heard::NO_TAPS);
        };
        // Accelerated rounds show other combinations of the same powers, which span the same space if noise
        // comes first.
        let accelerated = self.mixing().is_some_and(|mixing| mixing.extrapolation.is_some());
        if accelerated && self.engine().0 != Engine::Powers {
            return Err(super::heard::NO_TAPS);
        }
        if rounds > MOST_ROUNDS_TAPPED {
            return Err(Error::NotOffered(
                "what is overheard is followed round by round, for up to 100000 rounds",
            ));
        }
        let (n, graph) = (self.nodes, matrix.graph());
        if let Some(&(w, a)) = tapped.iter().find(|&&(w, a)| w >= n || a >= n || !graph.has_edge(w, a)) {
            return Err(ndp_graph::Error::NotAnEdge(w, a).into());
        }
        let senders: Vec<usize> = tapped.iter().map(|&(w, _)| w).collect();
        let ball = Ball::around(graph, &senders, rounds.saturating_sub(1));
        self.traced(&ball, &mut Listener::taps(tapped), &[])
    }

    /// The rows or powers from which the losses of a coalition (ascending) follow.
    pub(super) fn source(&self, coalition: &[usize]) -> Result<Source, Error> {
        let known = self.known(coalition);
        match (self.engine().0, self.same_matrix()) {
            (Engine::Powers, Some((matrix, _))) => {
                Ok(Source::FixedMatrix(self.exact_powers(coalition, known)?, matrix.graph().clone()))
            }
            _ => Ok(Source::Rows(self.exact_rows(coalition, known, false)?)),
        }
    }

    /// What is proven about the losses towards a coalition (ascending).
    ///
    /// # Errors
    /// Those of the engine; as [`exact_rows`](Self::exact_rows).
    #[doc(hidden)]
    pub fn certificate(&self, coalition: &[usize], budget: Budget<'_>) -> Result<Certificate, Error> {
        in_pool(|| (self.choice().certificate)(self, coalition, budget))
    }

    /// The certificate by powers of one matrix.
    pub(super) fn by_powers(&self, coalition: &[usize], budget: Budget<'_>) -> Result<Certificate, Error> {
        let Some((matrix, _)) = self.same_matrix() else { return self.by_rows(coalition, budget) };
        let powers = self.exact_powers(coalition, self.known(coalition))?;
        Ok(account::of_krylov(&powers, matrix.graph(), budget)?)
    }

    /// The certificate by rows, one for every message.
    pub(super) fn by_rows(&self, coalition: &[usize], budget: Budget<'_>) -> Result<Certificate, Error> {
        budget.stop.spend(self.cost_of_rows())?;
        Ok(account::of_rows(&self.exact_rows(coalition, self.known(coalition), false)?, budget)?)
    }

    /// Work of stating the rows of what is heard, about: a weight is looked up for every noise of a message.
    pub(super) fn cost_of_rows(&self) -> u64 {
        self.entries().saturating_mul(if self.has_noisy_messages() { 700 } else { 10 })
    }

    /// The nodes from which something is heard in time.
    fn ball_of(&self, listener: &mut Listener<'_>) -> Result<Ball, Error> {
        let rounds: Vec<Round<'_>> = self.each_round().collect();
        let mut heard: Vec<(usize, usize)> = listener.start.iter().map(|&v| (0, v)).collect();
        for (at, round) in rounds.iter().enumerate() {
            heard.extend(listener.hears(round)?.iter().map(|&(w, _)| (at, w)));
        }
        let peers = |at: usize, u: usize| rounds[at].peers(u);
        Ok(Ball::before(self.nodes, rounds.len(), peers, heard.into_iter()))
    }

    fn traced(&self, ball: &Ball, listener: &mut Listener<'_>, known: &[usize]) -> Result<Rows, Error> {
        let mut tracer = Tracer::new(self, ball, known);
        let last = self.moments().filter(|moment| matches!(moment, Moment::Round(_))).count();
        let mut done = 0;
        for moment in self.moments() {
            match moment {
                Moment::Noise(variance) => {
                    tracer.noise(variance);
                    if let Some(v) = listener.start.take() {
                        tracer.hear(&Arc::new(vec![(v, v)]), None);
                    }
                }
                Moment::Round(round) => {
                    done += 1;
                    tracer.round(&round, listener, done == last)?;
                }
                Moment::Rest { .. } => {}
            }
        }
        Ok(tracer.finished())
    }
}

/// The noises of the messages of a round that are not known and enter the state of a node within reach.
struct OfMessages {
    /// The index of every noise of a round among them; `u32::MAX` for a noise that is known or out of reach.
    numbers: Vec<u32>,
    count: u32,
    /// The senders and their noises, if all neighbors of a node receive the same noise.
    around: Arc<Vec<(u32, u32)>>,
    /// The receivers, senders and their noises, if every link has its own noise.
    links: Arc<Vec<(u32, u32, u32)>>,
}

/// The steps and messages that have been added so far.
struct Tracer<'p> {
    ball: &'p Ball,
    known: &'p [usize],
    layout: Layout,
    steps: Vec<trace::Step>,
    messages: Vec<trace::Message>,
    /// Where the noise of a node is added: its register, and its index among the noises drawn at the same
    /// time.
    entries: Arc<Vec<(u32, u32)>>,
    /// The largest variance, if there are several.
    variances: Option<f64>,
    of_messages: Option<OfMessages>,
    /// Matrices restricted to the ball, with the original ones. Sequences often repeat a matrix, so that
    /// equal ones are restricted and kept once.
    kinds: Vec<(&'p GossipMatrix, Arc<ExactMatrix>)>,
    /// With momentum: the first register of the second values, the clocks, and the time.
    second: Option<(usize, Vec<f64>, f64)>,
}

impl<'p> Tracer<'p> {
    fn new(program: &VectorProgram<'p>, ball: &'p Ball, known: &'p [usize]) -> Self {
        let inside: Vec<usize> =
            ball.nodes().iter().copied().filter(|u| known.binary_search(u).is_err()).collect();
        let entries = inside.iter().enumerate().filter_map(|(k, &u)| Some((id(ball.local(u)?), id(k))));
        let entries = Arc::new(entries.collect());
        let mut layout = Layout::of_equal_columns(program.nodes, &inside);
        let variances = program.variances();
        let several = variances.len() > 1;
        if several {
            layout.adds_up = false;
            layout.variances.clear();
        }
        layout.coordinates = 0;
        let largest = variances.iter().fold(0.0, |m: f64, &s| m.max(s));
        let second = program.has_momentum().then(|| (ball.len(), vec![0.0; program.nodes], 0.0));
        Self {
            ball,
            known,
            layout,
            steps: Vec::new(),
            messages: Vec::new(),
            entries,
            variances: several.then_some(largest),
            of_messages: None,
            kinds: Vec::new(),
            second,
        }
    }

    /// Adds a noise of every node. If there are several noises, a coordinate is stored times a power of two
    /// for which its variance, relative to the largest one, is in `(1/4, 1]`. Noises of variance 0, and known
    /// ones, have no coordinate.
    fn noise(&mut self, variance: f64) {
        let (entries, first) = (self.entries.clone(), self.layout.coordinates);
        let Some(largest) = self.variances else {
            self.steps.push(trace::Step::Add { entries: entries.clone(), first, factor: 1.0 });
            if let Some((second, _, _)) = self.second {
                let moved = entries.iter().map(|&(register, k)| (register + id(second), k));
                let entries = Arc::new(moved.collect());
                self.steps.push(trace::Step::Add { entries, first, factor: 1.0 });
            }
            self.layout.coordinates += entries.len();
            self.layout.known += self.known.len();
            return;
        };
        if variance > 0.0 {
            // The power of four that brings a variance into (1/4, 1].
            let quarters = |s: f64| (Dyadic::of(s).top() + 1).div_euclid(2);
            let (mine, most) = (quarters(variance), quarters(largest));
            let scaled = times_power(variance, (-2 * mine).into());
            self.layout.variances.extend(std::iter::repeat_n(scaled, entries.len()));
            let factor = times_power(1.0, (mine - most).into());
            self.layout.coordinates += entries.len();
            self.layout.known += self.known.len();
            self.steps.push(trace::Step::Add { entries, first, factor });
        }
    }

    /// The messages of a round, each with its own noise if it has one that is not known.
    fn hear(&mut self, heard: &Messages, own: Option<(usize, f64)>) {
        for &(w, noise) in heard.iter() {
            let Some(register) = self.ball.local(w) else { continue };
            let number = self.of_messages.as_ref().map_or(u32::MAX, |found| found.numbers[noise]);
            let beside =
                own.filter(|_| number != u32::MAX).map(|(first, ratio)| (first + number as usize, ratio));
            let after = self.steps.len();
            self.messages.push(trace::Message { after, register, beside: beside.into_iter().collect() });
        }
    }

    fn round(&mut self, round: &Round<'p>, listener: &mut Listener<'_>, last: bool) -> Result<(), Error> {
        let heard = listener.hears(round)?;
        match round {
            Round::Matrix(mixing, _) => {
                let noisy = mixing.noise.filter(|(_, ratio)| *ratio > 0.0);
                if noisy.is_some() && self.of_messages.is_none() {
                    self.of_messages = Some(OfMessages::new(mixing, self.ball, &heard, self.known));
                }
                let first = self.layout.coordinates;
                self.hear(&heard, noisy.map(|(_, ratio)| (first, ratio)));
                // Nobody hears what is mixed after the last clean messages.
                if last && mixing.noise.is_none() {
                    return Ok(());
                }
                let matrix = self.cut(mixing.matrix);
                self.steps.push(trace::Step::Mix(matrix.clone()));
                if let (Some((kind, factor)), Some(found)) = (noisy, &self.of_messages) {
                    self.layout.coordinates += found.count as usize;
                    self.layout.adds_up = false;
                    self.layout.known += drawn_in_round(mixing, self.known).len();
                    let (around, links) = (found.around.clone(), found.links.clone());
                    match kind {
                        MessageNoise::Overheard => {}
                        MessageNoise::Broadcast => {
                            self.steps.push(trace::Step::AddAround {
                                matrix,
                                entries: around,
                                first,
                                factor,
                            });
                        }
                        MessageNoise::PerLink => {
                            self.steps.push(trace::Step::AddLinks { matrix, entries: links, first, factor });
                        }
                    }
                }
            }
            Round::Step(step) => {
                self.hear(&heard, None);
                let next = match *step {
                    Step::Matrix(matrix) => trace::Step::Mix(self.cut(matrix)),
                    Step::Pair(a, b) => match (self.ball.local(*a), self.ball.local(*b)) {
                        (Some(a), Some(b)) => trace::Step::Average(a, b),
                        // What happens outside the ball, or between inside and outside when it is too late to
                        // arrive, is not seen.
                        _ => trace::Step::Idle,
                    },
                    Step::Idle => trace::Step::Idle,
                };
                self.steps.push(next);
            }
            Round::Ring { ring, mixing, push } => self.ring(*ring, *mixing, *push, &heard),
        }
        Ok(())
    }

    /// Registers `0..k` hold the first values of the nodes of the ball, and the next `k` registers the second
    /// values.
    fn ring(&mut self, ring: super::ActiveEdge, mixing: f64, push: f64, heard: &Messages) {
        let (a, b) = ring.edge;
        let Some((second, clock, now)) = &mut self.second else { return };
        let second = *second;
        *now += ring.wait;
        for v in [a, b] {
            let share = mixed_share(mixing, *now - clock[v]);
            clock[v] = *now;
            if let Some(v) = self.ball.local(v).filter(|_| share > 0.0) {
                self.steps.push(trace::Step::Share(v, second + v, share));
            }
        }
        self.hear(heard, None);
        // What happens outside the ball, or too late to be heard, is not seen.
        if let (Some(a), Some(b)) = (self.ball.local(a), self.ball.local(b)) {
            self.steps.push(trace::Step::Ring { x: (a, b), z: (second + a, second + b), push });
        }
    }

    fn cut(&mut self, matrix: &'p GossipMatrix) -> Arc<ExactMatrix> {
        let equal = |other: &GossipMatrix| std::ptr::eq(other, matrix) || other == matrix;
        let known = self.kinds.iter().rev().take(KINDS).find(|(other, _)| equal(other));
        if let Some((_, exact)) = known {
            return exact.clone();
        }
        let exact = Arc::new(ExactMatrix::new(matrix, self.ball, Laziness::Kept));
        self.kinds.push((matrix, exact.clone()));
        exact
    }

    fn finished(mut self) -> Rows {
        self.layout.noises = self.layout.coordinates;
        // Losses are in units of the first noise, which is never 0.
        if let Some(&first) = self.layout.variances.first() {
            self.layout.inputs.iter_mut().for_each(|input| input.factor = first);
        }
        let registers = if self.second.is_some() { 2 * self.ball.len() } else { self.ball.len() };
        Rows::Traced(Trace::new(self.layout, registers, self.steps, self.messages))
    }
}

impl OfMessages {
    fn new(mixing: &Mixing<'_>, ball: &Ball, heard: &Messages, known: &[usize]) -> Self {
        let mut is_heard = vec![false; mixing.noises()];
        heard.iter().for_each(|&(_, noise)| is_heard[noise] = true);
        let drawn = drawn_in_round(mixing, known);
        let is_known = |noise: usize| drawn.binary_search(&noise).is_ok();
        let mut numbers = vec![u32::MAX; mixing.noises()];
        let (mut around, mut links, mut count) = (Vec::new(), Vec::new(), 0u32);
        let mut number = |noise: usize| {
            numbers[noise] = count;
            count += 1;
            count - 1
        };
        if let Some((MessageNoise::PerLink, _)) = mixing.noise {
            for (a, w, _, noise) in mixing.links().filter(|&(.., noise)| !is_known(noise)) {
                // A link out of the ball is heard only by an outsider who taps it.
                if let (Some(w), Some(receiver)) = (ball.local(w), ball.local(a)) {
                    links.push((id(receiver), id(w), number(noise)));
                } else if is_heard[noise] {
                    number(noise);
                }
            }
        } else {
            for (w, &u) in ball.nodes().iter().enumerate().filter(|(_, u)| !is_known(**u)) {
                around.push((id(w), number(u)));
            }
        }
        Self { numbers, count, around: Arc::new(around), links: Arc::new(links) }
    }
}

/// The number of earlier matrices among which an equal one is looked for.
const KINDS: usize = 64;
