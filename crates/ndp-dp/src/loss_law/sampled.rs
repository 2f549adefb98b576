//! Poisson sampling of a symmetric pair `(N₁, N₀)`: the record takes part with probability `q`.
//!
//! *Remove*: `P = (1 − q) N₀ + q N₁` against `Q = N₀`. Since `P − x Q = q (N₁ − x' N₀)` with `x' = 1 + (x −
//! 1)/q`, `δ(x) = q δ₀(x')` for `x ≥ 1`. *Add*: `P = N₀` against `Q = (1 − q) N₀ + q N₁`. Here `P − x Q = t
//! (N₀ − z N₁)` with `t = 1 − (1 − q) x` and `z = q x/t`, so that `δ(x) = t δ₀(z)` for `1 ≤ x < 1/(1 − q)`,
//! and 0 from there on. `δ₀` is the profile of `(N₁, N₀)` and of `(N₀, N₁)`.
//!
//! *A record replaced.* With probability `q` the release involves that record, and otherwise only others; the
//! observer is not told which. `P = (1 − q) M + q N₁` against `Q = (1 − q) M + q N₁'`, where `M` is any
//! mixture of neighbors of both. As above, `P − x Q = q (N₁ − x' ((1 − b) M + b N₁'))` with `b = x/x'`, so
//! that `δ(x) ≤ q δ₀(x')` for `x ≥ 1`, in either direction.

use super::pair::{Pair, Point, bits, nonnegative, two_sided, unit};
use crate::subsampling::PoissonGaussian;
use crate::{Mechanism, Order};
use ndp_numeric::rounding::Interval;
use std::sync::Arc;

/// The direction: whether the law is taken under the data set with the record (`Remove`) or without it
/// (`Add`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Remove,
    Add,
}

/// A Poisson-sampled pair, in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled<B> {
    pub(super) base: B,
    pub(super) rate: f64,
    pub(super) side: Side,
}

/// `q δ₀(x')` at `x = e^ε ≥ 1`.
fn inside(base: &dyn Pair, rate: f64, epsilon: Interval) -> Point {
    let rate = Interval::new(rate);
    // s = q − (1 − q)(e^{−ε} − 1) = q x'/x, a sum of positive terms.
    let scaled = rate - (Interval::ONE - rate) * (-epsilon).expm1();
    let inner =
        if epsilon.high() < 1.0 { (epsilon.expm1() / rate).ln_1p() } else { epsilon + (scaled / rate).ln() };
    let base = base.at(nonnegative(inner));
    // x Q(L > ε) = (x/x') · x' N₀(L₀ > ε').
    Point { delta: unit(rate * base.delta), slope: base.slope.map(|slope| unit(rate / scaled * slope)) }
}

/// A pair for a release that involves the replaced record only with probability `rate`. It is symmetric: its
/// profile is that of the larger one of the two directions of the release.
#[derive(Clone, Debug)]
pub(super) struct Replaced {
    pub(super) release: Arc<dyn Pair>,
    /// The other direction; `None` if both have the same law.
    pub(super) exchanged: Option<Arc<dyn Pair>>,
    /// The probability `q` that the record is involved; positive.
    pub(super) rate: f64,
}

impl Replaced {
    fn directions(&self) -> impl Iterator<Item = &dyn Pair> {
        std::iter::once(&*self.release).chain(self.exchanged.as_deref())
    }

    fn inside(&self, epsilon: Interval) -> Point {
        let point = inside(&*self.release, self.rate, epsilon);
        match &self.exchanged {
            None => point,
            Some(other) => {
                Point { delta: point.delta.max(inside(&**other, self.rate, epsilon).delta), slope: None }
            }
        }
    }

    /// `ln(1 + q(e^ℓ − 1))`.
    fn of_base(&self, loss: f64) -> Interval {
        (Interval::new(self.rate) * Interval::new(loss).expm1()).ln_1p()
    }
}

impl Pair for Replaced {
    fn at(&self, epsilon: Interval) -> Point {
        two_sided(epsilon, |epsilon| self.inside(epsilon), |epsilon| self.inside(epsilon))
    }

    fn infinite(&self) -> Interval {
        let most = self.directions().map(Pair::infinite).reduce(Interval::max);
        Interval::new(self.rate) * most.unwrap_or(Interval::ZERO)
    }

    fn top(&self) -> Option<f64> {
        let tops = self.directions().map(Pair::top);
        tops.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten().map(|top| self.of_base(top).low())
    }

    fn largest(&self) -> Interval {
        let most = self.directions().map(Pair::largest).reduce(Interval::max).unwrap_or(Interval::ZERO);
        let end = |loss: f64| if loss == f64::INFINITY { Interval::new(loss) } else { self.of_base(loss) };
        Interval::between(end(most.low()).low(), end(most.high()).high())
    }

    fn known_from_below(&self) -> bool {
        self.directions().all(Pair::known_from_below)
    }

    fn key(&self) -> Option<Vec<u64>> {
        let mut key = [&[6][..], &bits(Interval::new(self.rate))].concat();
        for pair in self.directions() {
            let part = pair.key()?;
            key.push(part.len() as u64);
            key.extend(part);
        }
        Some(key)
    }
}

impl<B: Pair> Sampled<B> {
    /// `1 − q`.
    fn rest(&self) -> Interval {
        Interval::ONE - Interval::new(self.rate)
    }

    fn add(&self, epsilon: Interval) -> Point {
        let rate = Interval::new(self.rate);
        if self.rate == 1.0 {
            return self.base.at(epsilon);
        }
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

    /// The loss of the sampled pair at an outcome where the loss of `N₁` against `N₀` is `loss`.
    fn of_base(&self, loss: f64) -> Interval {
        let moved = (Interval::new(self.rate) * Interval::new(loss).expm1()).ln_1p();
        if self.side == Side::Remove { moved } else { -moved }
    }
}

impl<B: Pair> Pair for Sampled<B> {
    fn at(&self, epsilon: Interval) -> Point {
        match self.side {
            Side::Remove => two_sided(
                epsilon,
                |epsilon| inside(&self.base, self.rate, epsilon),
                |epsilon| self.add(epsilon),
            ),
            Side::Add => two_sided(
                epsilon,
                |epsilon| self.add(epsilon),
                |epsilon| inside(&self.base, self.rate, epsilon),
            ),
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
