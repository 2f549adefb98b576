//! Pairs of laws on finitely many outcomes, whose loss takes finitely many values (atoms).

use super::pair::{Atom, Pair, Point, bits, nonnegative, unit};
use crate::{ApproxDp, Error};
use ndp_numeric::rounding::Interval;

/// The law of the loss of a finite pair, with its profile as sums of positive terms.
#[derive(Clone, Debug)]
pub(super) struct Atoms {
    /// The atoms, by increasing loss.
    atoms: Vec<Atom>,
    /// `δ` at the loss of each atom, and `Σ_{j≥k} p_j e^{ℓ_k − ℓ_j} = e^{ℓ_k} Q(L ≥ ℓ_k)`.
    values: Vec<(Interval, Interval)>,
    infinite: Interval,
    unit: Option<f64>,
}

impl Atoms {
    /// Takes atoms in any order, the mass at infinity, and the distance of which all differences between
    /// losses are multiples, if there is one.
    pub(super) fn new(mut atoms: Vec<Atom>, infinite: Interval, unit: Option<f64>) -> Self {
        atoms.retain(|atom| atom.mass.high() > 0.0);
        atoms.sort_by(|a, b| a.loss.low().total_cmp(&b.loss.low()));
        // Atoms whose enclosed losses overlap are merged into one, whose loss is enclosed by all of them: the
        // profile lies between those with the whole mass at either end of this interval.
        atoms.dedup_by(|next, kept| {
            let together = next.loss.low() <= kept.loss.high();
            if together {
                let high = kept.loss.high().max(next.loss.high());
                *kept = Atom { loss: Interval::between(kept.loss.low(), high), mass: kept.mass + next.mass };
            }
            together
        });
        let mut values = Vec::with_capacity(atoms.len());
        let (mut value, mut weight) = (infinite, Interval::ZERO);
        let mut right: Option<Interval> = None;
        for atom in atoms.iter().rev() {
            if let Some(right) = right {
                let kept = decay(right - atom.loss);
                value = value + nonnegative(Interval::ONE - kept) * weight;
                weight = kept * weight;
            }
            weight = weight + nonnegative(atom.mass);
            values.push((value, weight));
            right = Some(atom.loss);
        }
        values.reverse();
        Self { atoms, values, infinite, unit }
    }

    /// The value at `ε` of the line that is the profile between the atom before `k` and atom `k`. Elsewhere
    /// the line is below the profile, which is convex in `e^ε`.
    fn line(&self, k: usize, epsilon: Interval) -> Point {
        let Some((atom, &(value, weight))) = self.atoms.get(k).zip(self.values.get(k)) else {
            return Point { delta: self.infinite, slope: Some(Interval::ZERO) };
        };
        let ahead = epsilon - atom.loss;
        let slope = ahead.exp() * weight;
        Point { delta: value - ahead.expm1() * weight, slope: Some(slope) }
    }
}

impl Pair for Atoms {
    fn at(&self, epsilon: Interval) -> Point {
        // There is more than one line only if rounding leaves open on which side of an atom ε lies. The
        // largest one is the profile.
        let first = self.atoms.partition_point(|atom| atom.loss.high() < epsilon.low());
        let last = self.atoms.partition_point(|atom| atom.loss.low() <= epsilon.high());
        let mut point = self.line(first, epsilon);
        for k in first + 1..=last {
            let other = self.line(k, epsilon);
            let slope = point
                .slope
                .zip(other.slope)
                .map(|(a, b)| Interval::between(a.low().min(b.low()), a.high().max(b.high())));
            point = Point { delta: point.delta.max(other.delta), slope };
        }
        Point { delta: unit(point.delta), slope: point.slope.map(nonnegative) }
    }

    fn infinite(&self) -> Interval {
        self.infinite
    }

    fn atoms(&self) -> Option<&[Atom]> {
        Some(&self.atoms)
    }

    fn largest(&self) -> Interval {
        let last = self.atoms.last().map_or(Interval::ZERO, |atom| atom.loss);
        // The lower end of the largest loss is infinite if there must be a mass at infinity, the upper one if
        // there may be one.
        let end = |mass: f64, loss: f64| if mass > 0.0 { f64::INFINITY } else { loss };
        Interval::between(end(self.infinite.low(), last.low()), end(self.infinite.high(), last.high()))
    }

    fn key(&self) -> Option<Vec<u64>> {
        let numbers = self.atoms.iter().flat_map(|atom| [atom.loss, atom.mass]).chain([self.infinite]);
        let own = [4, self.unit.unwrap_or(0.0).to_bits()];
        Some(own.into_iter().chain(numbers.flat_map(bits)).collect())
    }

    fn top(&self) -> Option<f64> {
        self.atoms.last().map(|atom| atom.loss.low())
    }

    fn unit(&self) -> Option<f64> {
        self.unit
    }
}

/// `e^{−gap}` for a gap that is not negative.
fn decay(gap: Interval) -> Interval {
    (-nonnegative(gap)).exp()
}

/// Both directions of the pair of laws `p`, `q`, given by nonnegative weights that are divided by their sums.
pub(super) fn finite(p: &[f64], q: &[f64]) -> (Atoms, Atoms) {
    let total = |law: &[f64]| law.iter().map(|&mass| Interval::new(mass)).sum::<Interval>();
    let (p_total, q_total) = (total(p), total(q));
    let direction = |p: &[f64], p_total: Interval, q: &[f64], q_total: Interval| {
        let mut infinite = Interval::ZERO;
        let mut atoms = Vec::with_capacity(p.len());
        for (&p, &q) in p.iter().zip(q).filter(|&(&p, _)| p > 0.0) {
            let mass = Interval::new(p) / p_total;
            if q == 0.0 {
                infinite = infinite + mass;
            } else {
                let loss = if p == q && p_total == q_total {
                    Interval::ZERO
                } else {
                    Interval::new(p).ln() - Interval::new(q).ln() + (q_total / p_total).ln()
                };
                atoms.push(Atom { loss, mass });
            }
        }
        let unit = span(&atoms);
        Atoms::new(atoms, infinite.min(Interval::ONE), unit)
    };
    (direction(p, p_total, q, q_total), direction(q, q_total, p, p_total))
}

/// The distance of the losses, if there are at most two different ones.
fn span(atoms: &[Atom]) -> Option<f64> {
    let low = atoms.iter().map(|atom| atom.loss.low()).fold(f64::INFINITY, f64::min);
    let high = atoms.iter().map(|atom| atom.loss.high()).fold(f64::NEG_INFINITY, f64::max);
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * (1.0 + x.abs());
    let two = atoms.iter().all(|atom| near(atom.loss.low(), low) || near(atom.loss.high(), high));
    // A single loss fits on any grid.
    two.then_some(if high - low > 1e-9 { high - low } else { 1.0 })
}

/// Randomized response over `labels` labels with probability `gamma` of a random answer: the losses are `ε₀`,
/// 0 and `−ε₀`.
pub(super) fn randomized_response(labels: u32, gamma: f64) -> Atoms {
    let labels = Interval::new(f64::from(labels));
    let other = Interval::new(gamma) / labels;
    let own = Interval::ONE - other * (labels - Interval::ONE);
    // ln(1 + L (1 − γ)/γ), which is accurate also if `own` and `other` are nearly equal.
    let pure = (labels * (Interval::ONE - Interval::new(gamma)) / Interval::new(gamma)).ln_1p();
    let rest = other * (labels - Interval::new(2.0));
    let atoms = vec![
        Atom { loss: pure, mass: own },
        Atom { loss: Interval::ZERO, mass: rest },
        Atom { loss: -pure, mass: other },
    ];
    let unit = if rest.high() == 0.0 { 2.0 * pure.low() } else { pure.low() };
    Atoms::new(atoms, Interval::ZERO, Some(unit).filter(|&unit| unit > 0.0))
}

/// Discrete Laplace noise of scale `t` on answers that differ by `Δ`: the losses are `(Δ − 2k)/t`, `k =
/// 0..=Δ`.
pub(super) fn discrete_laplace(sensitivity: u32, scale: f64) -> Atoms {
    let scale = Interval::new(scale);
    let (q, complement) = (decay(Interval::ONE / scale), -(-(Interval::ONE / scale)).expm1());
    let share = Interval::ONE / (Interval::ONE + q);
    let distance = f64::from(sensitivity);
    let atoms = (0..=sensitivity).map(|k| {
        let k = f64::from(k);
        let power = decay(Interval::new(k) / scale);
        let inner = if k > 0.0 && k < distance { complement } else { Interval::ONE };
        Atom { loss: Interval::new(distance - 2.0 * k) / scale, mass: share * inner * power }
    });
    Atoms::new(atoms.collect(), Interval::ZERO, Some((Interval::new(2.0) / scale).low()))
}

/// Discrete Gaussian noise of parameter `σ` on answers that differ by 1: the loss at output `k` is `(1 −
/// 2k)/(2σ²)`, its probability proportional to `e^{−k²/(2σ²)}`.
///
/// Outputs beyond `15 σ` are left out. For the upper end, those with a large loss are charged as a mass at
/// infinity, and those with a small loss as a mass at the smallest loss that is kept.
pub(super) fn discrete_gaussian(sigma: f64) -> Atoms {
    let square = Interval::new(sigma) * Interval::new(sigma);
    let twice = Interval::new(2.0) * square;
    let bell = |k: f64| (-(Interval::new(k) * Interval::new(k) / twice)).exp();
    let reach = (15.0 * sigma).ceil() + 1.0;
    let kept: Vec<f64> =
        std::iter::successors(Some(1.0), |k| Some(k + 1.0)).take_while(|&k| k <= reach).collect();
    let side: Interval = kept.iter().rev().map(|&k| bell(k)).sum();
    // Beyond `reach` each term is at most e^{−(2 reach + 1)/(2σ²)} times the one before.
    let ratio = (-(Interval::new(2.0 * reach + 1.0) / twice)).expm1();
    let beyond = Interval::between(0.0, (bell(reach + 1.0) / -ratio).high());
    let total = Interval::ONE + Interval::new(2.0) * (side + beyond);
    let mass = |k: f64| bell(k) / total;
    let loss = |k: f64| Interval::new(1.0 - 2.0 * k) / twice;
    let tail = Interval::between(0.0, (beyond / total).high());
    let mut atoms = vec![Atom { loss: loss(0.0), mass: mass(0.0) }];
    for &k in &kept {
        let last = if k == reach { tail } else { Interval::ZERO };
        atoms.push(Atom { loss: loss(k), mass: mass(k) + last });
        atoms.push(Atom { loss: loss(-k), mass: mass(k) });
    }
    Atoms::new(atoms, tail, Some((Interval::ONE / square).low()))
}

/// The pair with the largest profile among those that satisfy all of these bounds in both directions: its
/// profile is the lower convex hull of the bounds, as points at `x = e^ε`, and of their mirror images at
/// `1/x`, `δ(1/x) = 1 − 1/x + δ(x)/x`.
///
/// At `x = 1` each bound gives at most `tanh(ε/2) + 2δ/(1 + e^ε)`, on the chord from the bound to its mirror
/// image. A corner at `ε > 0` is an atom of mass `x (s_left − s_right)` under `P`, where `s` are the downward
/// slopes on its two sides. Its mirror image is an atom of `e^{−ε}` times that mass. The rest of the mass has
/// loss 0. A corner that rounding makes concave is left out, which only raises the profile.
pub(super) fn of_bounds(bounds: &[ApproxDp]) -> Atoms {
    let crossing = |bound: &ApproxDp| {
        let epsilon = Interval::new(bound.epsilon());
        let image = Interval::new(2.0) / ((-epsilon).exp() + Interval::ONE) * (-epsilon).exp();
        (-(-epsilon).expm1() / ((-epsilon).exp() + Interval::ONE) + Interval::new(bound.delta()) * image)
            .high()
    };
    let crossing = bounds.iter().map(crossing).fold(1.0, f64::min);
    let corners = corners(bounds, crossing);
    let infinite = Interval::new(corners.last().map_or(1.0, |last| last.1));
    let mut atoms = Vec::with_capacity(2 * corners.len());
    let mut at_none = Interval::ONE - infinite;
    for (k, &(epsilon, delta)) in corners.iter().enumerate().skip(1) {
        let drop = |from: f64, to: f64| Interval::new(from) - Interval::new(to);
        let (before, after) = (corners[k - 1], corners.get(k + 1));
        let left = drop(before.1, delta) / -(-drop(epsilon, before.0)).expm1();
        let right = after.map_or(Interval::ZERO, |next| drop(delta, next.1) / drop(next.0, epsilon).expm1());
        let mass = nonnegative(left - right);
        let image = mass * (-Interval::new(epsilon)).exp();
        atoms.push(Atom { loss: Interval::new(epsilon), mass });
        atoms.push(Atom { loss: -Interval::new(epsilon), mass: image });
        at_none = at_none - mass - image;
    }
    // A rest at loss 0 that is due to rounding only is moved to a larger loss, if there is one: otherwise it
    // would be an atom between two others that share a grid.
    match atoms.first_mut().filter(|_| at_none.high() < 1e-14) {
        Some(first) => first.mass = first.mass + nonnegative(at_none),
        None => atoms.push(Atom { loss: Interval::ZERO, mass: nonnegative(at_none) }),
    }
    let unit = span(&atoms);
    Atoms::new(atoms, infinite, unit)
}

/// The corners `(ε, δ)` of the lower convex hull, in `e^ε`, of the bounds and of `(0, crossing)`, by
/// increasing `ε`; it falls from each to the next.
fn corners(bounds: &[ApproxDp], crossing: f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = bounds.iter().map(|bound| (bound.epsilon(), bound.delta())).collect();
    points.push((0.0, crossing));
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for (epsilon, delta) in points {
        if corners.last().is_some_and(|last| last.1 <= delta) {
            continue;
        }
        while let [.., before, middle] = corners[..] {
            // The middle point stays only if it is below the chord.
            let share = libm::expm1(middle.0 - before.0) / libm::expm1(epsilon - before.0);
            if middle.1 < before.1 - share * (before.1 - delta) {
                break;
            }
            corners.pop();
        }
        corners.push((epsilon, delta));
    }
    corners
}

/// Refuses numbers that are not a probability law.
pub(super) fn check_law(law: &[f64]) -> Result<(), Error> {
    for (index, &value) in law.iter().enumerate() {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::InvalidLaw { what: "probability", index, value });
        }
    }
    let sum: f64 = law.iter().sum();
    if (sum - 1.0).abs() <= 1e-9 {
        Ok(())
    } else {
        Err(Error::InvalidLaw { what: "sum", index: law.len(), value: sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_of(losses: &[f64]) -> Option<f64> {
        let atom = |&loss: &f64| Atom { loss: Interval::new(loss), mass: Interval::new(0.25) };
        span(&losses.iter().map(atom).collect::<Vec<_>>())
    }

    /// Losses that differ by less than 1e-12 count as one: two are on a grid of their distance, one is on
    /// any, three are on none that is known.
    #[test]
    fn two_losses_have_a_distance() {
        assert_eq!(unit_of(&[-0.5, 0.25]), Some(0.75));
        assert_eq!(unit_of(&[0.0, 8e-13, 1.0]), Some(1.0));
        assert_eq!(unit_of(&[0.0, 2e-12, 1.0]), None);
        assert_eq!((unit_of(&[0.3]), unit_of(&[0.3, 0.3])), (Some(1.0), Some(1.0)));
        assert_eq!(unit_of(&[0.0, 0.5, 1.0]), None);
    }
}
