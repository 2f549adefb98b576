//! Rows that follow from the steps of a protocol: the state of a node at some time as a combination of
//! everything that was added before, found by going back through the steps.
//!
//! Going back through `x ← W x` multiplies the row by `W` from the right, which for symmetric `W` is `W`
//! times the row; going back past the moment where noise is added reads off its coefficients. The same walk
//! back is done modulo primes, in fixed point with a bound on its error, and in floating point where all
//! terms are nonnegative.

use crate::arithmetic::{Arithmetic, InFixed, InFloats, Residues, ring_norm};
use crate::dyadic::Dyadic;
use crate::field::{Field, Fingerprint};
use crate::fixed::{self, Fixed};
use crate::layout::{FloatRows, Layout};
use crate::magnitude::Magnitude;
use crate::matrix::{ExactMatrix, ModularMatrix};
pub use crate::steps::{Message, Step};
use crate::steps::{Sizes, most_reads};
use ndarray::Array2;
use ndp_numeric::casts::integer;
use ndp_numeric::stop::work;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A protocol whose messages are rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    layout: Layout,
    registers: usize,
    steps: Vec<Step>,
    messages: Vec<Message>,
    /// Whether all coefficients are nonnegative.
    nonnegative: bool,
    /// How large numbers become on the walk back, for every number of steps.
    sizes: Vec<Sizes>,
    /// An upper bound on how often the steps read one coordinate.
    reads: u32,
}

impl Trace {
    /// The rows of `messages`, sent during `steps` on `registers` registers; `layout` gives the meaning of
    /// the coordinates.
    pub fn new(layout: Layout, registers: usize, steps: Vec<Step>, messages: Vec<Message>) -> Self {
        let subtracts = |step: &Step| match step {
            Step::Share(..) | Step::Ring { .. } => true,
            Step::Scale(_, factor)
            | Step::Add { factor, .. }
            | Step::AddAround { factor, .. }
            | Step::AddLinks { factor, .. } => *factor < 0.0,
            Step::Mix(_) | Step::Average(..) | Step::Idle => false,
        };
        let takes = |message: &Message| message.beside.iter().any(|(_, factor)| *factor < 0.0);
        let nonnegative = !steps.iter().any(subtracts) && !messages.iter().any(takes);
        let (sizes, reads) = (Sizes::of(&steps), most_reads(&steps, layout.coordinates));
        Self { layout, registers, steps, messages, nonnegative, sizes, reads }
    }

    /// Upper bounds on the walk back from message `k`: the binary logarithm of the length of the state, which
    /// starts from 1, and that of the length of the row for a state no longer than 1.
    ///
    /// If no coordinate is read more than `m` times, the square of the length of all reads together is at
    /// most `m Σ f²` (Cauchy and Schwarz, coordinate by coordinate); what is added to the message alone adds
    /// its own length.
    fn lengths(&self, k: usize) -> (f64, f64) {
        let message = &self.messages[k];
        let Sizes { state, squares } = self.sizes[message.after];
        let beside =
            message.beside.iter().fold(Magnitude::ZERO, |sum, &(_, x)| sum.plus(Magnitude::new(x, 0)));
        (state, squares.times(Magnitude::new(self.reads.into(), 0)).root().plus(beside).log2())
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
            // A matrix that occurs in many steps is hashed once; later steps refer to it by number.
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
        // The length of a sum is at most the number of its terms times the largest.
        let length = (self.layout.coordinates.max(1) as f64).log2();
        let beside = |m: &Message| m.beside.iter().map(|(_, x)| bits(*x)).sum::<f64>();
        self.messages.iter().map(|m| sums[m.after] + beside(m) + length).collect()
    }

    /// Work of walking back from message `k`, about: what every step reads.
    pub(crate) fn cost(&self, k: usize) -> u64 {
        let of_step = |step: &Step| match step {
            Step::Mix(w) => w.cost(),
            Step::Average(..) | Step::Idle | Step::Scale(..) | Step::Share(..) | Step::Ring { .. } => 1,
            Step::Add { entries, .. } => work([entries.len()]),
            Step::AddAround { matrix, entries, .. } => matrix.cost() + work([entries.len()]),
            Step::AddLinks { entries, .. } => work([entries.len()]),
        };
        let steps = self.steps[..self.messages[k].after].iter().map(of_step);
        work([self.layout.coordinates + self.registers]) + steps.sum::<u64>()
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
        // Pointers are needed only to recognize equal matrices.
        drop(known);
        Box::new(move |k| self.walk(k, &mut residues))
    }

    pub(crate) fn fixed<const L: usize>(&self, k: usize, scales: &[i64]) -> (Vec<Fixed<L>>, Magnitude) {
        // The state is scaled down by a power of two so that its length is at most 1, and what is read from
        // it so that the length of the row is at most 32: sums of a few such numbers stay below the 128 at
        // which the format wraps around.
        let (state, length) = self.lengths(k);
        let down = integer(state.ceil());
        let mut arithmetic = InFixed::<L> {
            down,
            reach: integer((length - ROOM).max(0.0).ceil()),
            registers: self.registers as f64,
            // A start below the last place is rounded to 0, which is off by less than one unit.
            error: if down > fixed::places(L) { Magnitude::power(0) } else { Magnitude::ZERO },
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

    /// The rows in floating point, if no term is negative; then the relative error of a coefficient is that
    /// of its rounding errors. `None` otherwise.
    pub(crate) fn float(&self) -> Option<FloatRows> {
        // Shares and rings subtract, so their terms have both signs. A term that underflowed must not be
        // multiplied by a large number afterwards.
        let amplified = |k| {
            let (state, length) = self.lengths(k);
            state + length > AMPLIFIED
        };
        if !self.nonnegative || (0..self.messages.len()).any(amplified) {
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
            // (1 + u)^c - 1 is at most 1.01 c u if c u is below 0.01. Intermediate underflows change the
            // result by far less than 1e-280.
            let relative = (sums[message.after] + repeats(&message.beside) + 4.0) * f64::EPSILON / 2.0;
            if relative > 0.01 {
                return None;
            }
            errors.push(1.01 * relative * norm + 1e-280);
            rows.row_mut(k).iter_mut().zip(row).for_each(|(to, x)| *to = x);
        }
        Some(FloatRows { rows, errors })
    }
}

/// The number of coordinates in the list that occur again after their first time.
fn repeats(beside: &[(usize, f64)]) -> f64 {
    let distinct: BTreeSet<usize> = beside.iter().map(|&(coordinate, _)| coordinate).collect();
    (beside.len() - distinct.len()) as f64
}

/// Binary logarithm of the length of a row in fixed point.
const ROOM: f64 = 5.0;
/// Binary logarithm of the largest factor by which a number may be multiplied in floating point: a term that
/// underflows then stays below `2^-974`.
const AMPLIFIED: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Budget, basis_of_rows, of_rows};
    use crate::rows::{Input, Rows};
    use num_rational::BigRational;
    use num_traits::One;

    /// Asserts that the fixed-point enclosure of the first input's loss contains the truth.
    fn assert_encloses(trace: Trace, truth: &BigRational) {
        let (_, found) = basis_of_rows(&Rows::Traced(trace), Budget::default()).expect("a basis");
        let exact = |x: f64| BigRational::from_float(x).expect("a finite number");
        let (low, high) = (found.enclosure.lower[0], found.enclosure.upper[0]);
        assert!(exact(low) <= *truth && *truth <= exact(high), "{truth} not in [{low:e}, {high:e}]");
        assert!(found.enclosure.width() <= 1e-9, "[{low:e}, {high:e}]");
    }

    fn whole(x: f64) -> BigRational {
        BigRational::from_float(x).expect("a finite number")
    }

    fn add(coordinate: u32, factor: f64) -> Step {
        Step::Add { entries: Arc::new(vec![(0, coordinate)]), first: 0, factor }
    }

    /// One value with noise, sent once with a noise of standard deviation `ratio` added to the message alone,
    /// or to the value afterwards: the loss is `1 / (1 + ratio²)` for every ratio.
    #[test]
    fn factors_fit_into_the_format() {
        for ratio in [0.5, 100.0, 127.0, 128.0, 200.0, 256.0, 1e10, 1.3e154, 1e200, f64::MAX, 1e-10] {
            let truth = (BigRational::one() + whole(ratio) * whole(ratio)).recip();
            let trace = |steps: Vec<Step>, beside| {
                let mut layout = Layout::of_equal_columns(2, &[0, 1]);
                layout.inputs.truncate(1);
                let message = Message { after: steps.len(), register: 0, beside };
                Trace::new(layout, 1, steps, vec![message])
            };
            assert_encloses(trace(vec![add(0, 1.0)], vec![(1, ratio)]), &truth);
            assert_encloses(trace(vec![add(0, 1.0), add(1, ratio)], Vec::new()), &truth);
        }
    }

    /// An input that is added a thousand times beside one noise of variance 1, and a state that is stretched:
    /// the row exceeds the digits before the point, and is scaled down.
    #[test]
    fn sums_fit_into_the_format() {
        let trace = |steps: Vec<Step>| {
            let input = Input { node: 0, coordinate: 1, factor: 1.0, scale: 0, structural: None };
            let layout = Layout {
                coordinates: 2,
                noises: 1,
                inputs: vec![input],
                adds_up: false,
                ..Layout::of_equal_columns(1, &[0])
            };
            let message = Message { after: steps.len(), register: 0, beside: Vec::new() };
            Trace::new(layout, 1, steps, vec![message])
        };
        for count in [3, 127, 128, 200, 1000] {
            let steps = std::iter::once(add(0, 1.0)).chain(std::iter::repeat_n(add(1, 1.0), count));
            let count = whole(count as f64);
            assert_encloses(trace(steps.collect()), &(&count * &count));
        }
        let stretched = vec![add(0, 1.0), Step::Scale(0, 1000.0), add(1, 500.0)];
        assert_encloses(trace(stretched), &BigRational::new(1.into(), 4.into()));
    }

    /// The last value of one register, over this many noises.
    fn last(coordinates: usize, steps: Vec<Step>, beside: Vec<(usize, f64)>) -> Rows {
        let layout = Layout::of_equal_columns(coordinates, &(0..coordinates).collect::<Vec<_>>());
        let message = Message { after: steps.len(), register: 0, beside };
        Rows::Traced(Trace::new(layout, 1, steps, vec![message]))
    }

    /// One coefficient of 1/10 has an error of half an epsilon for a product and a sum each, and four for
    /// what is added beside the steps, relative to the row and with 1 % to spare.
    #[test]
    fn floats_are_off_by_their_roundings() {
        let found = last(1, vec![add(0, 0.1)], Vec::new()).float().expect("a positive term");
        let expected = 1.01 * 6.0 * f64::EPSILON / 2.0 * 0.1;
        assert_eq!(found.rows[(0, 0)], 0.1);
        assert!((found.errors[0] / expected - 1.0).abs() < 1e-12, "{} {expected}", found.errors[0]);
    }

    /// Terms of both signs may cancel, and a term that underflowed may be amplified, so the relative error is
    /// not bounded.
    #[test]
    fn floats_are_for_positive_terms_of_ordinary_size() {
        let share = Step::Share(0, 0, 0.5);
        assert!(last(1, vec![add(0, 1.0)], vec![(0, 1.0)]).float().is_some());
        assert!(last(1, vec![add(0, 1.0), share], Vec::new()).float().is_none());
        assert!(last(1, vec![add(0, -1.0)], Vec::new()).float().is_none());
        let amplified = vec![add(0, 1.0), Step::Scale(0, 2f64.powi(101))];
        assert!(last(1, amplified.clone(), Vec::new()).float().is_none());
        // It is enough that one message of two has such a term.
        let messages = [1, 2].map(|after| Message { after, register: 0, beside: Vec::new() });
        let layout = Layout::of_equal_columns(1, &[0]);
        assert!(Trace::new(layout, 1, amplified, messages.to_vec()).float().is_none());
    }

    /// The steps give the product of .1 and .3, and the message adds the float next to minus that product. In
    /// floats nothing remains; the true sum is as large as the other coefficient.
    #[test]
    fn what_is_beside_a_message_may_cancel() -> Result<(), crate::Error> {
        let product = 0.1 * 0.3;
        let steps = vec![add(0, 0.1), Step::Scale(0, 0.3), add(1, 1e-18)];
        let rows = last(2, steps, vec![(0, -product)]);
        let rest = whole(0.1) * whole(0.3) - whole(product);
        let (own, other) = (&rest * &rest, whole(1e-18) * whole(1e-18));
        let truth = &own / (&own + &other);
        let found = of_rows(&rows, Budget::default())?;
        let (low, high) = (found.lower[0], found.upper[0]);
        assert!(whole(low) <= truth && truth <= whole(high), "{truth} not in [{low:e}, {high:e}]");
        assert!(high - low <= 1e-9 && low > 0.1, "[{low:e}, {high:e}]");
        Ok(())
    }

    /// Weights of noises may have a negative factor.
    #[test]
    fn negative_weights_of_noises_are_no_positive_terms() -> Result<(), ndp_graph::Error> {
        let graph = ndp_graph::generators::path_graph(2)?;
        let ball = crate::ball::Ball::around(&graph, &[0], 1);
        let matrix = ndp_graph::GossipMatrix::metropolis(&graph);
        let matrix = Arc::new(ExactMatrix::new(&matrix, &ball, crate::matrix::Laziness::Kept));
        for (factor, positive) in [(0.5, true), (-0.5, false)] {
            let (entries, first) = (Arc::new(vec![(1, 0)]), 0);
            let around = Step::AddAround { matrix: matrix.clone(), entries, first, factor };
            let entries = Arc::new(vec![(0, 1, 0)]);
            let links = Step::AddLinks { matrix: matrix.clone(), entries, first, factor };
            for step in [around, links] {
                let layout = Layout::of_equal_columns(1, &[0]);
                let message = Message { after: 1, register: 0, beside: Vec::new() };
                let found = Trace::new(layout, 2, vec![step], vec![message]).float();
                assert_eq!(found.is_some(), positive);
            }
        }
        Ok(())
    }

    /// Nine half epsilons are added to a one, all in one coefficient. A sum in floats loses each of them.
    #[test]
    fn coefficients_that_are_repeated_are_rounded_every_time() {
        let half = f64::EPSILON / 2.0;
        let beside = std::iter::once((0, 1.0)).chain(std::iter::repeat_n((0, half), 9));
        let found = last(1, Vec::new(), beside.collect()).float().expect("positive terms");
        assert_eq!(found.rows[(0, 0)], 1.0);
        assert!((9.0 * half..16.0 * half).contains(&found.errors[0]), "{}", found.errors[0]);
    }
}
