//! Rows that follow from a protocol's own steps: the state of a node at some time as a combination of everything that
//! was added before, found by going back through the steps.
//!
//! Going back through `x ← W x` multiplies the row by `W` from the right, which for symmetric `W` is `W` times the row; going
//! back past the moment where noise is added reads off its coefficients. The same walk back is done modulo
//! primes, in fixed point with a bound on its error, and in floating point where all terms are nonnegative.

use super::arithmetic::{Arithmetic, InFixed, InFloats, Residues, ring_norm};
use super::dyadic::Dyadic;
use super::field::{Field, Fingerprint};
use super::fixed::{self, Fixed};
use super::layout::{FloatRows, Layout};
use super::magnitude::Magnitude;
use super::matrix::{ExactMatrix, ModularMatrix};
use crate::numeric::integer;
use ndarray::Array2;
use ndp_linalg::stop::checkpoint;
use std::sync::Arc;

/// One step of a protocol on its registers, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `x ← W x`, on the first registers.
    Mix(Arc<ExactMatrix>),
    /// Two registers are replaced by their mean.
    Average(usize, usize),
    /// A register is multiplied by a factor.
    Scale(usize, f64),
    /// Nothing happens.
    Idle,
    /// Two registers move towards each other by a share of their difference: `a ← a + s (b - a)`, `b ← b + s (a - b)`,
    /// `s` in `[0, 1/2]`.
    Share(usize, usize, f64),
    /// An edge rings: `z_a ← z_a - γ (x_a - x_b)`, `z_b ← z_b + γ (x_a - x_b)`, then `x_a`, `x_b` are averaged.
    Ring {
        /// The registers `x_a`, `x_b`.
        x: (usize, usize),
        /// The registers `z_a`, `z_b`.
        z: (usize, usize),
        /// `γ`.
        push: f64,
    },
    /// Noises (or inputs) are added to registers: to each register in the list its coordinate, times a factor.
    Add {
        /// Register and coordinate.
        entries: Arc<Vec<(u32, u32)>>,
        /// The first coordinate, which is added to those in the list.
        first: usize,
        /// The factor.
        factor: f64,
    },
    /// What is added to a register is the sum over its neighbors of their weight times their noise: register `w` of the list
    /// is the sender whose noise has the coordinate.
    AddAround {
        /// The weights.
        matrix: Arc<ExactMatrix>,
        /// Sender and coordinate.
        entries: Arc<Vec<(u32, u32)>>,
        /// The first coordinate, which is added to those in the list.
        first: usize,
        /// The factor.
        factor: f64,
    },
    /// As `AddAround`, with a noise of its own for every link: register, coordinate and weight.
    AddLinks {
        /// Receiving register, sending register, coordinate.
        entries: Arc<Vec<(u32, u32, u32)>>,
        /// The weights.
        matrix: Arc<ExactMatrix>,
        /// The first coordinate, which is added to those in the list.
        first: usize,
        /// The factor.
        factor: f64,
    },
}

/// A message: the state of a register after some of the steps, and noises of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    /// Number of steps before it.
    pub(crate) after: usize,
    /// The register that is sent.
    pub(crate) register: usize,
    /// Coordinates that are added to the message alone, with their factors.
    pub(crate) beside: Vec<(usize, f64)>,
}

/// A protocol whose messages are rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trace {
    layout: Layout,
    registers: usize,
    steps: Vec<Step>,
    messages: Vec<Message>,
    /// Whether all coefficients are nonnegative.
    nonnegative: bool,
}

impl Trace {
    pub(crate) fn new(layout: Layout, registers: usize, steps: Vec<Step>, messages: Vec<Message>) -> Self {
        let subtracts = |step: &Step| match step {
            Step::Share(..) | Step::Ring { .. } => true,
            Step::Scale(_, factor) => *factor < 0.0,
            _ => false,
        };
        let nonnegative = !steps.iter().any(subtracts);
        Self { layout, registers, steps, messages, nonnegative }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn fingerprint(&self, to: &mut Fingerprint) {
        to.number(self.registers as u64);
        let mut seen: Vec<*const ExactMatrix> = Vec::new();
        let mut matrix = |matrix: &Arc<ExactMatrix>, to: &mut Fingerprint| {
            // The same matrix in many steps is hashed once and named afterwards.
            match seen.iter().position(|&known| known == Arc::as_ptr(matrix)) {
                Some(at) => to.number(at as u64),
                None => {
                    to.number(u64::MAX);
                    matrix.fingerprint(to);
                    seen.push(Arc::as_ptr(matrix));
                }
            }
        };
        to.number(self.steps.len() as u64);
        for step in &self.steps {
            match step {
                Step::Mix(w) => {
                    to.number(0);
                    matrix(w, to);
                }
                Step::Average(a, b) => to.numbers([1, *a as u64, *b as u64].into_iter()),
                Step::Idle => to.number(7),
                Step::Scale(register, factor) => {
                    to.numbers([8, *register as u64, factor.to_bits()].into_iter())
                }
                Step::Share(a, b, share) => {
                    to.numbers([2, *a as u64, *b as u64, share.to_bits()].into_iter())
                }
                Step::Ring { x, z, push } => {
                    let registers = [x.0, x.1, z.0, z.1].map(|r| r as u64);
                    to.number(3);
                    to.numbers(registers.into_iter().chain([push.to_bits()]).collect::<Vec<_>>().into_iter());
                }
                Step::Add { entries, first, factor } => {
                    to.numbers([4, *first as u64, factor.to_bits()].into_iter());
                    to.numbers(entries.iter().map(|&(r, c)| u64::from(r) << 32 | u64::from(c)));
                }
                Step::AddAround { matrix: w, entries, first, factor } => {
                    to.numbers([5, *first as u64, factor.to_bits()].into_iter());
                    matrix(w, to);
                    to.numbers(entries.iter().map(|&(r, c)| u64::from(r) << 32 | u64::from(c)));
                }
                Step::AddLinks { matrix: w, entries, first, factor } => {
                    to.numbers([6, *first as u64, factor.to_bits()].into_iter());
                    matrix(w, to);
                    to.numbers(entries.iter().map(|&(a, b, _)| u64::from(a) << 32 | u64::from(b)));
                    to.numbers(entries.iter().map(|&(_, _, c)| c.into()));
                }
            }
        }
        to.number(self.messages.len() as u64);
        for message in &self.messages {
            to.numbers([message.after as u64, message.register as u64].into_iter());
            to.numbers(message.beside.iter().map(|&(j, _)| j as u64));
            to.floats(message.beside.iter().map(|(_, x)| x));
        }
    }

    /// `log₂(D |r|)` of every row, from the denominators and norms of the steps before it.
    pub(crate) fn widths(&self) -> Vec<f64> {
        let bits = |x: f64| {
            let x = Dyadic::of(x);
            f64::from(x.places()) + f64::from(x.top().max(0))
        };
        let mut sums = vec![0.0];
        for step in &self.steps {
            let width = match step {
                Step::Mix(w) => w.denominator() + w.norm().log2().max(0.0),
                Step::Average(..) => 1.0,
                Step::Idle => 0.0,
                Step::Scale(_, factor) => bits(*factor),
                Step::Share(_, _, share) => bits(*share),
                Step::Ring { push, .. } => 1.0 + bits(*push) + ring_norm(*push).log2(),
                Step::Add { factor, .. } => bits(*factor),
                Step::AddAround { matrix, factor, .. } | Step::AddLinks { matrix, factor, .. } => {
                    matrix.denominator() + bits(*factor)
                }
            };
            sums.push(sums[sums.len() - 1] + width);
        }
        // What is added sums up to at most its number times the largest, in length.
        let length = (self.layout.coordinates.max(1) as f64).log2();
        let beside = |m: &Message| m.beside.iter().map(|(_, x)| bits(*x)).sum::<f64>();
        self.messages.iter().map(|m| sums[m.after] + beside(m) + length).collect()
    }

    /// Walks back from message `k`.
    fn walk<A: Arithmetic>(&self, k: usize, arithmetic: &mut A) -> Vec<A::Number> {
        checkpoint();
        let message = &self.messages[k];
        let zero = arithmetic.zero();
        let mut row = vec![zero; self.layout.coordinates];
        let mut state = vec![zero; self.registers];
        state[message.register] = arithmetic.one();
        for &(coordinate, factor) in &message.beside {
            let own = [arithmetic.one()];
            arithmetic.read(&mut row[coordinate..], &own, &[(0, 0)], factor);
        }
        for (at, step) in self.steps[..message.after].iter().enumerate().rev() {
            match step {
                Step::Mix(w) => arithmetic.mix(at, w, &mut state),
                &Step::Average(a, b) => {
                    let mean = arithmetic.mean(state[a], state[b]);
                    (state[a], state[b]) = (mean, mean);
                }
                Step::Idle => {}
                &Step::Scale(register, factor) => {
                    state[register] = arithmetic.scaled(state[register], factor)
                }
                &Step::Share(a, b, share) => {
                    let moved = arithmetic.moved(state[a], state[b], share);
                    state[a] = arithmetic.plus(state[a], moved);
                    state[b] = arithmetic.minus(state[b], moved);
                }
                &Step::Ring { x: (xa, xb), z: (za, zb), push } => {
                    // The transposed step: the difference x_a - x_b carries (f_b - f_a)/2 + γ (g_b - g_a).
                    let pushed = arithmetic.scaled_difference(state[zb], state[za], push);
                    let mean = arithmetic.mean(state[xa], state[xb]);
                    state[xa] = arithmetic.plus(mean, pushed);
                    state[xb] = arithmetic.minus(mean, pushed);
                }
                Step::Add { entries, first, factor } => {
                    arithmetic.read(&mut row[*first..], &state, entries, *factor);
                }
                Step::AddAround { matrix, entries, first, factor } => {
                    arithmetic.read_around(at, matrix, &mut row[*first..], &state, entries, *factor);
                }
                Step::AddLinks { entries, matrix, first, factor } => {
                    arithmetic.read_links(at, matrix, &mut row[*first..], &state, entries, *factor);
                }
            }
        }
        row
    }

    pub(crate) fn modular<'a>(&'a self, field: Field) -> Box<dyn FnMut(usize) -> Vec<u64> + Send + 'a> {
        let mut residues = Residues { field, matrices: Vec::new(), half: field.inverse_of(field.integer(2)) };
        // Every distinct matrix is taken modulo the prime once.
        let mut known: Vec<(*const ExactMatrix, usize)> = Vec::new();
        let mut matrices: Vec<Arc<ModularMatrix<'a>>> = Vec::new();
        for step in &self.steps {
            let matrix = match step {
                Step::Mix(w) => Some(w),
                Step::AddAround { matrix, .. } | Step::AddLinks { matrix, .. } => Some(matrix),
                _ => None,
            };
            residues.matrices.push(matrix.map(|w| {
                let at = known.iter().find(|(p, _)| *p == Arc::as_ptr(w)).map(|&(_, at)| at).unwrap_or_else(
                    || {
                        matrices.push(Arc::new(w.modulo(field)));
                        known.push((Arc::as_ptr(w), matrices.len() - 1));
                        matrices.len() - 1
                    },
                );
                matrices[at].clone()
            }));
        }
        // Pointers served to tell matrices apart and are not kept.
        drop(known);
        Box::new(move |k| self.walk(k, &mut residues))
    }

    pub(crate) fn fixed<const L: usize>(&self, k: usize, scales: &[i64]) -> (Vec<Fixed<L>>, Magnitude) {
        // Pushes can stretch a row: it is scaled down by a power of two, so that it fits.
        let norms = self.steps[..self.messages[k].after].iter().map(|step| match step {
            Step::Ring { push, .. } => ring_norm(*push).log2(),
            Step::Mix(w) => w.norm().log2(),
            Step::Scale(_, factor) | Step::Add { factor, .. } => factor.abs().log2().max(0.0),
            _ => 0.0,
        });
        let stretch = norms.sum::<f64>().max(0.0);
        let down = integer(stretch.ceil());
        let mut arithmetic = InFixed::<L> {
            down,
            registers: self.registers as f64,
            error: Magnitude::ZERO,
            read: Magnitude::ZERO,
        };
        let mut row = self.walk(k, &mut arithmetic);
        let mut shifted = 0;
        for (x, &scale) in row.iter_mut().zip(scales).filter(|(_, scale)| **scale > 0) {
            *x = fixed::times(x, Dyadic { mantissa: 1, exponent: -i32::try_from(scale).unwrap_or(i32::MAX) });
            shifted += 1;
        }
        (row, arithmetic.read.plus(Magnitude::new(f64::from(shifted), 0).root()))
    }

    /// In floating point where no term is negative: every coefficient then has the relative error of its roundings.
    pub(crate) fn float(&self) -> Option<FloatRows> {
        // Shares subtract: with them, and with rings, terms are of both signs.
        if !self.nonnegative {
            return None;
        }
        let mut sums = vec![0.0];
        for step in &self.steps {
            let roundings = match step {
                Step::Mix(w) => w.relative(),
                Step::Average(..) => 2.0,
                Step::Idle => 0.0,
                Step::Scale(..) => 1.0,
                Step::Share(..) => 4.0,
                Step::Ring { .. } => 3.0,
                Step::Add { .. } => 2.0,
                Step::AddAround { matrix, .. } | Step::AddLinks { matrix, .. } => matrix.relative() + 2.0,
            };
            sums.push(sums[sums.len() - 1] + roundings);
        }
        let mut rows = Array2::zeros((self.messages.len(), self.layout.coordinates));
        let mut errors = Vec::with_capacity(self.messages.len());
        for (k, message) in self.messages.iter().enumerate() {
            let row = self.walk(k, &mut InFloats);
            if row.iter().any(|x| !x.is_finite()) {
                return None;
            }
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            // (1 + u)^c - 1 is at most 1.01 c u for c u below 0.01; what underflows on the way is far below 1e-280.
            let relative = (sums[message.after] + 4.0) * f64::EPSILON / 2.0;
            if relative > 0.01 {
                return None;
            }
            errors.push(1.01 * relative * norm + 1e-280);
            rows.row_mut(k).iter_mut().zip(row).for_each(|(to, x)| *to = x);
        }
        Some(FloatRows { rows, errors })
    }
}
