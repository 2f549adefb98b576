//! Rows that follow from a protocol's own steps: the state of a node at some time as a combination of everything that
//! was added before, found by going back through the steps.
//!
//! Going back through `x ← W x` multiplies the row by `W` from the right, which for symmetric `W` is `W` times the row; going
//! back past the moment where noise is added reads off its coefficients. The same walk back is done modulo
//! primes, in fixed point with a bound on its error, and in floating point where all terms are nonnegative.

use super::dyadic::Dyadic;
use super::field::{Field, Fingerprint};
use super::fixed::{self, Fixed};
use super::magnitude::Magnitude;
use super::matrix::{ExactMatrix, ModularMatrix};
use super::rows::{FloatRows, Layout};
use ndarray::Array2;
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
        let down = stretch.ceil() as i64;
        let mut arithmetic = InFixed::<L> {
            down,
            registers: self.registers as f64,
            error: Magnitude::ZERO,
            read: Magnitude::ZERO,
        };
        let mut row = self.walk(k, &mut arithmetic);
        let mut shifted = 0;
        for (x, &scale) in row.iter_mut().zip(scales).filter(|(_, scale)| **scale > 0) {
            *x = fixed::times(x, Dyadic { mantissa: 1, exponent: -(scale as i32) });
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

/// At least the norm of a ring: 1 on sums of the two ends, `√(1 + 4γ²)` on their differences.
fn ring_norm(push: f64) -> Magnitude {
    let double = Magnitude::new(push, 1);
    Magnitude::power(0).plus(double.squared()).root()
}

/// The operations of a walk back.
trait Arithmetic {
    type Number: Copy;
    fn zero(&self) -> Self::Number;
    /// What the walk starts from.
    fn one(&self) -> Self::Number;
    fn plus(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn minus(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// Half the sum.
    fn mean(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `factor · x` of one register.
    fn scaled(&mut self, x: Self::Number, factor: f64) -> Self::Number;
    /// `share (b - a)`, for `a` and `b` to move towards each other.
    fn moved(&mut self, a: Self::Number, b: Self::Number, share: f64) -> Self::Number;
    /// `by (a - b)`, for a ring.
    fn scaled_difference(&mut self, a: Self::Number, b: Self::Number, by: f64) -> Self::Number;
    /// `W x`, where `at` is the number of the step.
    fn mix(&mut self, at: usize, matrix: &ExactMatrix, state: &mut [Self::Number]);
    /// Adds `factor` times a register to each coefficient in a list of registers and coefficients.
    fn read(&mut self, to: &mut [Self::Number], state: &[Self::Number], entries: &[(u32, u32)], factor: f64);
    /// The same with `Σ_{v ≠ u} w_uv x_v` in the place of the register `u`.
    fn read_around(
        &mut self,
        at: usize,
        matrix: &ExactMatrix,
        to: &mut [Self::Number],
        state: &[Self::Number],
        entries: &[(u32, u32)],
        factor: f64,
    );
    /// The same with `w_uv x_u` for a list of `u`, `v` and coefficients.
    fn read_links(
        &mut self,
        at: usize,
        matrix: &ExactMatrix,
        to: &mut [Self::Number],
        state: &[Self::Number],
        entries: &[(u32, u32, u32)],
        factor: f64,
    );
}

struct Residues<'a> {
    field: Field,
    half: u64,
    matrices: Vec<Option<Arc<ModularMatrix<'a>>>>,
}

impl Residues<'_> {
    fn matrix(&self, at: usize) -> &ModularMatrix<'_> {
        self.matrices[at].as_ref().expect("the step has a matrix")
    }
}

impl Arithmetic for Residues<'_> {
    type Number = u64;

    fn zero(&self) -> u64 {
        0
    }

    fn one(&self) -> u64 {
        self.field.integer(1)
    }

    fn plus(&mut self, a: u64, b: u64) -> u64 {
        self.field.plus(a, b)
    }

    fn minus(&mut self, a: u64, b: u64) -> u64 {
        self.field.minus(a, b)
    }

    fn mean(&mut self, a: u64, b: u64) -> u64 {
        self.field.times(self.half, self.field.plus(a, b))
    }

    fn scaled(&mut self, x: u64, factor: f64) -> u64 {
        self.field.times(self.field.dyadic(Dyadic::of(factor)), x)
    }

    fn moved(&mut self, a: u64, b: u64, share: f64) -> u64 {
        self.scaled_difference(b, a, share)
    }

    fn scaled_difference(&mut self, a: u64, b: u64, by: f64) -> u64 {
        self.field.times(self.field.dyadic(Dyadic::of(by)), self.field.minus(a, b))
    }

    fn mix(&mut self, at: usize, matrix: &ExactMatrix, state: &mut [u64]) {
        let mixed = self.matrix(at).apply(&state[..matrix.nodes()]);
        state[..matrix.nodes()].copy_from_slice(&mixed);
    }

    fn read(&mut self, to: &mut [u64], state: &[u64], entries: &[(u32, u32)], factor: f64) {
        let (field, factor) = (self.field, self.field.dyadic(Dyadic::of(factor)));
        for &(register, coordinate) in entries {
            let to = &mut to[coordinate as usize];
            *to = field.plus(*to, field.times(factor, state[register as usize]));
        }
    }

    fn read_around(
        &mut self,
        at: usize,
        _: &ExactMatrix,
        to: &mut [u64],
        state: &[u64],
        entries: &[(u32, u32)],
        factor: f64,
    ) {
        let (field, factor) = (self.field, self.field.dyadic(Dyadic::of(factor)));
        for &(sender, coordinate) in entries {
            let to = &mut to[coordinate as usize];
            let sum = self.matrix(at).off_diagonal(sender as usize, state);
            *to = field.plus(*to, field.times(factor, sum));
        }
    }

    fn read_links(
        &mut self,
        at: usize,
        _: &ExactMatrix,
        to: &mut [u64],
        state: &[u64],
        entries: &[(u32, u32, u32)],
        factor: f64,
    ) {
        let (field, factor) = (self.field, self.field.dyadic(Dyadic::of(factor)));
        for &(u, v, coordinate) in entries {
            let to = &mut to[coordinate as usize];
            let weighted = self.matrix(at).weighted(u as usize, v as usize, state[u as usize]);
            *to = field.plus(*to, field.times(factor, weighted));
        }
    }
}

/// Fixed point, with the error of the state and of what was read so far, as norms in units.
struct InFixed<const L: usize> {
    /// The walk starts from `2^-down`.
    down: i64,
    registers: f64,
    error: Magnitude,
    read: Magnitude,
}

impl<const L: usize> InFixed<L> {
    /// The state goes through a map of this norm, and `count` coordinates are rounded by `units` each.
    fn through(&mut self, norm: Magnitude, count: f64, units: f64) {
        let rounding = Magnitude::new(count, 0).root().times(Magnitude::new(units, 0));
        self.error = norm.times(self.error).plus(rounding);
    }

    /// Coefficients were read through a map of this norm, each rounded by `units` and taken `factor` times.
    fn was_read(&mut self, norm: Magnitude, count: usize, units: f64, factor: f64) {
        let factor = factor.abs();
        let rounding = Magnitude::new(count as f64, 0).root().times(Magnitude::new(units, 0));
        let carried =
            norm.times(self.error).plus(rounding).times(Magnitude::new(factor, 0).plus(Magnitude::power(0)));
        self.read = self.read.plus(carried);
    }
}

impl<const L: usize> Arithmetic for InFixed<L> {
    type Number = Fixed<L>;

    fn zero(&self) -> Fixed<L> {
        [0; L]
    }

    fn one(&self) -> Fixed<L> {
        // A power of two below the last place would round to 0: the error then says so.
        fixed::of_dyadic(Dyadic { mantissa: 1, exponent: 0 }, -self.down)
    }

    fn plus(&mut self, a: Fixed<L>, b: Fixed<L>) -> Fixed<L> {
        fixed::plus(&a, &b)
    }

    fn minus(&mut self, a: Fixed<L>, b: Fixed<L>) -> Fixed<L> {
        fixed::minus(&a, &b)
    }

    fn mean(&mut self, a: Fixed<L>, b: Fixed<L>) -> Fixed<L> {
        self.through(Magnitude::power(0), 2.0, 1.0);
        fixed::half(&fixed::plus(&a, &b))
    }

    fn scaled(&mut self, x: Fixed<L>, factor: f64) -> Fixed<L> {
        self.through(Magnitude::new(factor.abs().max(1.0), 0), 1.0, 1.0);
        fixed::times(&x, Dyadic::of(factor))
    }

    fn moved(&mut self, a: Fixed<L>, b: Fixed<L>, share: f64) -> Fixed<L> {
        self.through(Magnitude::power(0), 2.0, 1.0);
        fixed::times(&fixed::minus(&b, &a), Dyadic::of(share))
    }

    fn scaled_difference(&mut self, a: Fixed<L>, b: Fixed<L>, by: f64) -> Fixed<L> {
        self.through(ring_norm(by), 2.0, 2.0);
        let difference = fixed::minus(&a, &b);
        fixed::times(&difference, Dyadic::of(by))
    }

    fn mix(&mut self, _: usize, matrix: &ExactMatrix, state: &mut [Fixed<L>]) {
        self.through(matrix.norm(), self.registers, matrix.units().into());
        let mixed = matrix.apply(&state[..matrix.nodes()]);
        state[..matrix.nodes()].copy_from_slice(&mixed);
    }

    fn read(&mut self, to: &mut [Fixed<L>], state: &[Fixed<L>], entries: &[(u32, u32)], factor: f64) {
        for &(register, coordinate) in entries {
            let to = &mut to[coordinate as usize];
            *to = fixed::plus(to, &scaled(state[register as usize], factor));
        }
        self.was_read(Magnitude::power(0), entries.len(), f64::from(u8::from(factor != 1.0)), factor);
    }

    fn read_around(
        &mut self,
        _: usize,
        matrix: &ExactMatrix,
        to: &mut [Fixed<L>],
        state: &[Fixed<L>],
        entries: &[(u32, u32)],
        factor: f64,
    ) {
        for &(sender, coordinate) in entries {
            let to = &mut to[coordinate as usize];
            *to = fixed::plus(to, &scaled(matrix.off_diagonal(sender as usize, state), factor));
        }
        // A nonnegative matrix without its diagonal has no larger norm.
        self.was_read(matrix.norm(), entries.len(), f64::from(matrix.units()) + 2.0, factor);
    }

    fn read_links(
        &mut self,
        _: usize,
        matrix: &ExactMatrix,
        to: &mut [Fixed<L>],
        state: &[Fixed<L>],
        entries: &[(u32, u32, u32)],
        factor: f64,
    ) {
        for &(u, v, coordinate) in entries {
            let to = &mut to[coordinate as usize];
            *to =
                fixed::plus(to, &scaled(matrix.weighted(u as usize, v as usize, &state[u as usize]), factor));
        }
        // No row of weights is longer than the norm of the matrix.
        self.was_read(matrix.norm(), entries.len(), f64::from(matrix.units()) + 2.0, factor);
    }
}

/// `factor · x`, off by at most one unit.
fn scaled<const L: usize>(x: Fixed<L>, factor: f64) -> Fixed<L> {
    if factor == 1.0 { x } else { fixed::times(&x, Dyadic::of(factor)) }
}

struct InFloats;

impl Arithmetic for InFloats {
    type Number = f64;

    fn zero(&self) -> f64 {
        0.0
    }

    fn one(&self) -> f64 {
        1.0
    }

    fn plus(&mut self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn minus(&mut self, a: f64, b: f64) -> f64 {
        a - b
    }

    fn mean(&mut self, a: f64, b: f64) -> f64 {
        0.5 * a + 0.5 * b
    }

    fn scaled(&mut self, x: f64, factor: f64) -> f64 {
        factor * x
    }

    fn moved(&mut self, a: f64, b: f64, share: f64) -> f64 {
        share * (b - a)
    }

    fn scaled_difference(&mut self, a: f64, b: f64, by: f64) -> f64 {
        by * (a - b)
    }

    fn mix(&mut self, _: usize, matrix: &ExactMatrix, state: &mut [f64]) {
        let mixed = matrix.apply_f64(&state[..matrix.nodes()]);
        state[..matrix.nodes()].copy_from_slice(&mixed);
    }

    fn read(&mut self, to: &mut [f64], state: &[f64], entries: &[(u32, u32)], factor: f64) {
        entries.iter().for_each(|&(register, at)| to[at as usize] += factor * state[register as usize]);
    }

    fn read_around(
        &mut self,
        _: usize,
        matrix: &ExactMatrix,
        to: &mut [f64],
        state: &[f64],
        entries: &[(u32, u32)],
        factor: f64,
    ) {
        for &(sender, at) in entries {
            to[at as usize] += factor * matrix.off_diagonal_f64(sender as usize, state);
        }
    }

    fn read_links(
        &mut self,
        _: usize,
        matrix: &ExactMatrix,
        to: &mut [f64],
        state: &[f64],
        entries: &[(u32, u32, u32)],
        factor: f64,
    ) {
        for &(u, v, at) in entries {
            to[at as usize] += factor * matrix.weight_f64(u as usize, v as usize) * state[u as usize];
        }
    }
}
