//! Poisson sampling of a symmetric pair `(N₁, N₀)`: the record takes part with probability `q`.
//!
//! *Remove*: `P = (1 − q) N₀ + q N₁` against `Q = N₀`. Since `P − x Q = q (N₁ − x' N₀)` with `x' = 1 + (x −
//! 1)/q`, `δ(x) = q δ₀(x')` for `x ≥ 1`. *Add*: `P = N₀` against `Q = (1 − q) N₀ + q N₁`. Here `P − x Q = t
//! (N₀ − z N₁)` with `t = 1 − (1 − q) x` and `z = q x/t`, so that `δ(x) = t δ₀(z)` for `1 ≤ x < 1/(1 − q)`,
//! and 0 from there on. `δ₀` is the profile of `(N₁, N₀)` and of `(N₀, N₁)`.

use super::pair::{Pair, Point, nonnegative, two_sided, unit};
use crate::subsampling::PoissonGaussian;
use crate::{Mechanism, Order};
use ndp_numeric::rounding::Interval;

/// Which of two neighboring data sets has the record more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Remove,
    Add,
}

/// A sampled pair, in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled<B> {
    pub(super) base: B,
    pub(super) rate: f64,
    pub(super) side: Side,
}

impl<B: Pair> Sampled<B> {
    /// `1 − q`.
    fn rest(&self) -> Interval {
        Interval::ONE - Interval::new(self.rate)
    }

    fn remove(&self, epsilon: Interval) -> Point {
        let rate = Interval::new(self.rate);
        // s = q − (1 − q)(e^{−ε} − 1) = q x'/x, a sum of positive terms.
        let scaled = rate - self.rest() * (-epsilon).expm1();
        let inner = if epsilon.high() < 1.0 {
            (epsilon.expm1() / rate).ln_1p()
        } else {
            epsilon + (scaled / rate).ln()
        };
        let base = self.base.at(nonnegative(inner));
        // x Q(L > ε) = (x/x') · x' N₀(L₀ > ε').
        Point { delta: unit(rate * base.delta), slope: base.slope.map(|slope| unit(rate / scaled * slope)) }
    }

    fn add(&self, epsilon: Interval) -> Point {
        let rate = Interval::new(self.rate);
        let grown = epsilon.expm1();
        let left = rate - self.rest() * grown;
        if left.high() <= 0.0 {
            return Point { delta: Interval::ZERO, slope: Some(Interval::ZERO) };
        }
        let left = nonnegative(left);
        let spent = self.rest() * grown / rate;
        let inner = epsilon - (-spent).max(Interval::new(-1.0)).ln_1p();
        let base = self.base.at(nonnegative(inner));
        // −x d/dx [t δ₀(z)] = (1 − q) x δ₀(z) + z |δ₀'(z)|, as x z' t = z.
        let kept = self.rest() * epsilon.exp() * base.delta;
        Point { delta: unit(left * base.delta), slope: base.slope.map(|slope| unit(kept + slope)) }
    }

    /// The loss of the sampled pair where that of `N₁` against `N₀` is `loss`.
    fn of_base(&self, loss: f64) -> Interval {
        let moved = (Interval::new(self.rate) * Interval::new(loss).expm1()).ln_1p();
        if self.side == Side::Remove { moved } else { -moved }
    }
}

impl<B: Pair> Pair for Sampled<B> {
    fn at(&self, epsilon: Interval) -> Point {
        match self.side {
            Side::Remove => two_sided(epsilon, |epsilon| self.remove(epsilon), |epsilon| self.add(epsilon)),
            Side::Add => two_sided(epsilon, |epsilon| self.add(epsilon), |epsilon| self.remove(epsilon)),
        }
    }

    fn top(&self) -> Option<f64> {
        let top = self.base.top()?;
        Some(self.of_base(if self.side == Side::Remove { top } else { -top }).low())
    }

    fn unit(&self) -> Option<f64> {
        let top = self.base.top()?;
        Some((self.of_base(top) - self.of_base(-top)).low().abs())
    }

    /// `ln(1 + q(e^ℓ − 1))` and `−ln(1 + q(e^{−ℓ} − 1))` for the largest `ℓ`; the pair is symmetric.
    fn largest(&self) -> Interval {
        let most = self.base.largest();
        let end = |loss: f64| match self.side {
            Side::Remove if loss == f64::INFINITY => Interval::new(loss),
            Side::Remove => self.of_base(loss),
            Side::Add => self.of_base(-loss),
        };
        Interval::between(end(most.low()).low(), end(most.high()).high())
    }

    fn key(&self) -> Option<Vec<u64>> {
        let own = [3, self.rate.to_bits(), u64::from(self.side == Side::Add)];
        Some([&own[..], &self.base.key()?].concat())
    }

    fn renyi(&self, alpha: f64) -> Option<f64> {
        let mu = self.base.gaussian()?.high();
        let order = Order::new(alpha).ok()?;
        let step = PoissonGaussian::of_mu(mu, self.rate);
        Some(match self.side {
            Side::Remove => step.rdp(order).into_value(),
            Side::Add => step.added(order).into_value(),
        })
    }
}
