//! The arithmetics in which a protocol's steps are followed back: modulo a prime, in fixed point with a bound
//! on the error, and in floating point.

use crate::dyadic::Dyadic;
use crate::field::Field;
use crate::fixed::{self, Fixed};
use crate::magnitude::Magnitude;
use crate::matrix::{ExactMatrix, ModularMatrix};
use std::sync::Arc;

/// An upper bound on the norm of the map of a ringing edge: 1 on sums of its two ends, `√(1 + 4γ²)` on their
/// differences.
pub(super) fn ring_norm(push: f64) -> Magnitude {
    let double = Magnitude::new(push, 1);
    Magnitude::power(0).plus(double.squared()).root()
}

/// The operations of a walk back.
pub(super) trait Arithmetic {
    type Number: Copy;
    fn zero(&self) -> Self::Number;
    /// The number that the walk starts from.
    fn one(&self) -> Self::Number;
    fn plus(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn minus(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// Half the sum.
    fn mean(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `factor · x` of one register.
    fn scaled(&mut self, x: Self::Number, factor: f64) -> Self::Number;
    /// `share (b - a)`: what is added to `a` when `a` and `b` move towards each other.
    fn moved(&mut self, a: Self::Number, b: Self::Number, share: f64) -> Self::Number;
    /// `by (a - b)`: what a ringing edge moves.
    fn scaled_difference(&mut self, a: Self::Number, b: Self::Number, by: f64) -> Self::Number;
    /// `W x`, where `at` is the index of the step.
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

/// Modulo a prime.
pub(super) struct Residues<'a> {
    pub(super) field: Field,
    pub(super) half: u64,
    /// The matrix of every step that has one.
    pub(super) matrices: Vec<Option<Arc<ModularMatrix<'a>>>>,
}

impl Residues<'_> {
    /// # Panics
    /// Never: `Trace::modular` lists an entry for every step, and a matrix for the three kinds of steps that
    /// ask for one here.
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

/// Fixed point, with bounds on the errors of the state and of what was read so far, as norms in units.
pub(super) struct InFixed<const L: usize> {
    /// The walk starts from `2^-down`.
    pub(super) down: i64,
    /// What is read is multiplied by `2^-reach`.
    pub(super) reach: i64,
    pub(super) registers: f64,
    pub(super) error: Magnitude,
    pub(super) read: Magnitude,
}

impl<const L: usize> InFixed<L> {
    /// The state goes through a map of this norm, and `count` coordinates are rounded by `units` each.
    fn through(&mut self, norm: Magnitude, count: f64, units: f64) {
        let rounding = Magnitude::new(count, 0).root().times(Magnitude::new(units, 0));
        self.error = norm.times(self.error).plus(rounding);
    }

    /// Coefficients were read through a map of this norm: each was rounded by `units` and multiplied by
    /// `factor`.
    fn was_read(&mut self, norm: Magnitude, count: usize, units: f64, factor: f64) {
        let rounding = Magnitude::new(count as f64, 0).root().times(Magnitude::new(units, 0));
        let factor = Magnitude::new(factor, -self.reach).plus(Magnitude::power(0));
        let carried = norm.times(self.error).plus(rounding).times(factor);
        self.read = self.read.plus(carried);
    }

    /// `2^-reach factor x`, off by at most one unit.
    fn reached(&self, x: Fixed<L>, factor: f64) -> Fixed<L> {
        if factor == 1.0 && self.reach == 0 {
            return x;
        }
        let Dyadic { mantissa, exponent } = Dyadic::of(factor);
        fixed::times_power(&x, mantissa, i64::from(exponent) - self.reach)
    }
}

impl<const L: usize> Arithmetic for InFixed<L> {
    type Number = Fixed<L>;

    fn zero(&self) -> Fixed<L> {
        [0; L]
    }

    fn one(&self) -> Fixed<L> {
        // If the start rounds to 0 because it is below the last place, the error accounts for it.
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
            *to = fixed::plus(to, &self.reached(state[register as usize], factor));
        }
        let rounded = factor != 1.0 || self.reach > 0;
        self.was_read(Magnitude::power(0), entries.len(), f64::from(u8::from(rounded)), factor);
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
            *to = fixed::plus(to, &self.reached(matrix.off_diagonal(sender as usize, state), factor));
        }
        // Leaving out the diagonal of a nonnegative matrix does not increase its norm.
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
            let weighted = matrix.weighted(u as usize, v as usize, &state[u as usize]);
            *to = fixed::plus(to, &self.reached(weighted, factor));
        }
        // The length of a row of weights is at most the norm of the matrix.
        self.was_read(matrix.norm(), entries.len(), f64::from(matrix.units()) + 2.0, factor);
    }
}

/// Floating point, where all terms are nonnegative.
pub(super) struct InFloats;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Ball;
    use crate::matrix::Laziness;
    use ndp_graph::{GossipMatrix, generators};

    /// Two links of weight 1/3, read half each from a state that is off by 5 units. Of one coefficient the
    /// quotient, laziness and the product with the factor are rounded: a unit for the one denominator, and
    /// two more. The norm of the matrix is 1, and the factor counts as 1/2 + 1.
    #[test]
    fn links_are_off_by_what_was_rounded() -> Result<(), ndp_graph::Error> {
        let path = generators::path_graph(3)?;
        let ball = Ball::around(&path, &[0], 2);
        let matrix = ExactMatrix::new(&GossipMatrix::metropolis(&path), &ball, Laziness::Kept);
        let mut arithmetic = InFixed::<2> {
            down: 0,
            reach: 0,
            registers: 3.0,
            error: Magnitude::new(5.0, 0),
            read: Magnitude::ZERO,
        };
        let (mut to, state) = ([[0; 2]; 2], [arithmetic.one(); 3]);
        arithmetic.read_links(0, &matrix, &mut to, &state, &[(0, 1, 0), (2, 1, 1)], 0.5);
        for x in to {
            let found = fixed::rounded(&x, fixed::places(2));
            assert!((found - 1.0 / 6.0).abs() < 1e-16, "{found}");
        }
        let (expected, found) = (1.5 * (5.0 + 3.0 * 2f64.sqrt()), arithmetic.read.to_f64());
        assert!((expected..expected * (1.0 + 1e-12)).contains(&found), "{found} is not {expected}");
        Ok(())
    }
}
