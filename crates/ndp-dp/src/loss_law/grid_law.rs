//! Laws of losses on a grid: their profile as a sum of positive terms, and the law whose profile is a given
//! polygon.
//!
//! Masses `p_j` at losses `ε_j` and a mass at infinity have the profile `F(ε) = p_∞ + Σ_{ε_j > ε} p_j (1 −
//! e^{ε−ε_j})`, a convex polygon in `x = e^ε`. With `W_i = Σ_{j ≥ i} p_j e^{ε_i − ε_j}`, from one point to
//! the next on its left,
//!
//! `F(ε_a) = F(ε_b) + c W_b`, `W_a = p_a + (1 − c) W_b`, `c = 1 − e^{ε_a − ε_b}`.
//!
//! All terms are positive, so nothing cancels. [`Sweep`] applies these recurrences from right to left. Solved
//! for `p_a`, they give the masses of a polygon.

use ndp_numeric::incomplete::two_sum;

/// Masses on the points `index · step + offset`, and a mass at infinity. Their sum need not be 1.
#[derive(Clone, Debug)]
pub(super) struct GridLaw {
    pub(super) step: f64,
    /// Index and mass, by increasing index; all masses are positive.
    pub(super) masses: Vec<(i64, f64)>,
    pub(super) infinite: f64,
}

/// The side of the truth on which the profile of a law must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Upper,
    Lower,
}

impl GridLaw {
    /// The law of the lower convex hull, in `x`, of the points `(x_i, f_i)` and `(0, 1)`; `samples` are `(i,
    /// f_i)` by increasing `i`, and the last `f` is the mass at infinity.
    ///
    /// All masses are scaled by a factor near 1 that makes up for rounding. *Upper*: at the corners of the
    /// hull, and at 0, the profile is then at least `f`; a polygon whose corners are above a convex function
    /// is above it everywhere. *Lower*: at every sample, and at 0, the profile is at most `f`; it is straight
    /// between the samples.
    pub(super) fn of_polygon(samples: &[(i64, f64)], step: f64, end: End) -> Self {
        let infinite = samples.last().map_or(0.0, |&(_, value)| value.max(0.0));
        let corners = hull(samples, step);
        let mut masses = Vec::with_capacity(corners.len());
        let mut sweep = Sweep::new(step, infinite);
        for (k, &(index, _)) in corners.iter().enumerate().rev() {
            sweep.move_to(index);
            // The mass with which the profile passes through the next corner on the left or, at the last
            // corner, reaches 1 at x = 0.
            let (target, lost) = match k.checked_sub(1).map(|left| corners[left]) {
                Some((left, value)) => (value, lost(index - left, step)),
                None => (1.0, 1.0),
            };
            let mass = (target - sweep.profile()) / lost - sweep.weight();
            if mass > 0.0 && mass.is_finite() {
                sweep.add(mass);
                masses.push((index, mass));
            }
        }
        masses.reverse();
        let mut law = Self { step, masses, infinite };
        let points = if end == End::Upper { &corners } else { samples };
        law.scale(law.correction(points, end));
        law
    }

    /// The factor for the masses that puts the profile on the required side of all points.
    fn correction(&self, points: &[(i64, f64)], end: End) -> f64 {
        let mut masses = self.masses.iter().rev().peekable();
        let mut sweep = Sweep::new(self.step, self.infinite);
        let mut ratio = 1.0_f64;
        let wanted = |value: f64, profile: f64| match end {
            End::Upper if value > 0.0 => value / profile,
            End::Lower if profile > 0.0 => value.max(0.0) / profile,
            _ => 1.0,
        };
        for &(index, value) in points.iter().rev() {
            sweep.move_to(index);
            ratio = end.outer(ratio, wanted(value, sweep.profile()));
            if let Some(&(_, mass)) = masses.next_if(|&&(at, _)| at == index) {
                sweep.add(mass);
            }
        }
        ratio = end.outer(ratio, wanted(1.0, sweep.profile() + sweep.weight()));
        let error = sweep.error() + 8.0 * f64::EPSILON;
        match end {
            End::Upper => ratio * (1.0 + error),
            End::Lower => ratio * (1.0 - error),
        }
    }

    fn scale(&mut self, factor: f64) {
        for (_, mass) in &mut self.masses {
            *mass *= factor;
        }
        self.masses.retain(|&(_, mass)| mass > 0.0);
        self.infinite = (self.infinite * factor).min(1.0);
    }

    /// The lowest and the highest index, 0 where there is no mass.
    pub(super) fn range(&self) -> (i64, i64) {
        self.masses.first().zip(self.masses.last()).map_or((0, 0), |(first, last)| (first.0, last.0))
    }

    /// The sum of the finite masses.
    pub(super) fn finite_mass(&self) -> f64 {
        // Summed from the right, where the masses are small.
        self.masses.iter().rev().map(|&(_, mass)| mass).sum()
    }
}

impl End {
    const fn outer(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Upper => a.max(b),
            Self::Lower => a.min(b),
        }
    }
}

/// The corners of the lower convex hull, in `x = e^ε`, of the samples and `(0, 1)`.
fn hull(samples: &[(i64, f64)], step: f64) -> Vec<(i64, f64)> {
    let mut corners: Vec<(i64, f64)> = Vec::with_capacity(samples.len());
    // The points are visited from the right. `below` says that the line through the left and the right one of
    // three points is on or below the middle one, which is then no corner.
    let below = |left: Option<(i64, f64)>, middle: (i64, f64), right: (i64, f64)| {
        let rise = match left {
            Some(left) => (left.1 - middle.1) / lost(middle.0 - left.0, step),
            None => 1.0 - middle.1,
        };
        let gain = libm::expm1((right.0 - middle.0) as f64 * step);
        rise <= (middle.1 - right.1) / gain
    };
    let points = samples.iter().rev().map(|&point| Some(point)).chain(std::iter::once(None));
    for point in points {
        while let [.., right, middle] = corners[..] {
            if !below(point, middle, right) {
                break;
            }
            corners.pop();
        }
        corners.extend(point);
    }
    corners.reverse();
    corners
}

/// `1 − e^{−gap · step}`.
fn lost(gap: i64, step: f64) -> f64 {
    -libm::expm1(-(gap as f64) * step)
}

/// The profile of a law, computed from right to left by the recurrences of the module; the profile and the
/// weight are kept as sums of two floats.
///
/// *Relative error* of profile and weight, with `u = 2^{−53}`: `c` has an error of at most 8 `u` (three
/// epsilons of `expm1`, half an ulp of its argument). For `c ≤ 1/2` the factor `1 − c` of the weight has an
/// error of at most 18 `u c`, and the `c` of a sweep add up to at most its length `R` in nats. For a longer
/// step the weight is multiplied by an exponential with an error of 6 `u + R u`, which happens at most `2 R`
/// times. Sums of two floats add `4 u²` a step. The terms of the profile have a further error of `10 u`, and
/// its sum, in two floats as well, `u` a step. The total is at most `64 u (1 + R)`: [`Self::error`].
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    step: f64,
    at: Option<i64>,
    first: i64,
    profile: Twofold,
    weight: Twofold,
    last_lost: (i64, f64),
}

impl Sweep {
    /// Starts to the right of all points, with the given mass at infinity.
    pub(super) const fn new(step: f64, infinite: f64) -> Self {
        Self {
            step,
            at: None,
            first: 0,
            profile: Twofold { high: infinite, low: 0.0 },
            weight: Twofold { high: 0.0, low: 0.0 },
            last_lost: (0, 0.0),
        }
    }

    /// Moves to a point on the left.
    pub(super) fn move_to(&mut self, index: i64) {
        let Some(at) = self.at.replace(index) else {
            self.first = index;
            return;
        };
        let gap = at - index;
        if self.last_lost.0 != gap {
            self.last_lost = (gap, lost(gap, self.step));
        }
        let lost = self.last_lost.1;
        let weight = self.weight.value();
        self.profile.add(lost * weight);
        if lost <= 0.5 {
            self.weight.add(-(lost * weight));
        } else {
            self.weight = Twofold { high: weight * libm::exp(-(gap as f64) * self.step), low: 0.0 };
        }
    }

    /// Adds a mass at the current point.
    pub(super) fn add(&mut self, mass: f64) {
        self.weight.add(mass);
    }

    /// The profile `F` at the current point.
    pub(super) const fn profile(&self) -> f64 {
        self.profile.value()
    }

    /// The weight `W` at the current point, including the masses added there.
    pub(super) const fn weight(&self) -> f64 {
        self.weight.value()
    }

    /// A bound on the relative error of profile and weight.
    pub(super) fn error(&self) -> f64 {
        let range = self.at.map_or(0.0, |at| (self.first - at) as f64 * self.step);
        32.0 * f64::EPSILON * (1.0 + range)
    }
}

/// A number as the sum of two floats, the second at most half an ulp of the first.
#[derive(Clone, Copy, Debug)]
struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    const fn value(self) -> f64 {
        self.high + self.low
    }

    fn add(&mut self, x: f64) {
        let (sum, rest) = two_sum(self.high, x);
        (self.high, self.low) = two_sum(sum, rest + self.low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of a law is scaled, also what is at infinity, where no more than 1 can be.
    #[test]
    fn scaling_a_law_scales_all_of_it() {
        let mut law = GridLaw { step: 0.5, masses: vec![(0, 0.25), (3, 0.5)], infinite: 0.25 };
        law.scale(0.5);
        assert_eq!((&law.masses[..], law.infinite), (&[(0, 0.125), (3, 0.25)][..], 0.125));
        law.scale(16.0);
        assert_eq!(law.infinite, 1.0);
    }

    /// 64 units `2^−53` at the start, and as many more for each nat.
    #[test]
    fn errors_of_a_sweep_grow_with_its_length() {
        let mut sweep = Sweep::new(0.5, 0.0);
        for (index, nats) in [(10, 0.0), (9, 0.5), (-10, 10.0), (-1990, 1000.0)] {
            sweep.move_to(index);
            assert_eq!(sweep.error(), 64.0 * f64::exp2(-53.0) * (1.0 + nats));
        }
    }
}
