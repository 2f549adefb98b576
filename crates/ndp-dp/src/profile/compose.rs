//! Several releases about the same data, seen by one observer.

use super::known::Known;
use super::{Curve, Law, Profile};
use crate::composition;
use crate::{ApproxDp, Delta, Error, Exact, Gdp, Grade, Guarantee, LossLaw, Order, UpperBound, conversion};
use ndp_numeric::rounding::Interval;
use std::sync::Arc;

pub(super) fn all(parts: &[Profile]) -> Result<Profile, Error> {
    let Some(first) = parts.first() else { return Ok(Profile::nothing("nobody")) };
    if parts.iter().any(|part| part.neighbors != first.neighbors) {
        return Err(Error::MixedNeighbors);
    }
    // Several observers learn no more than one who sees all parts; whether one of them learns as much is not
    // known.
    let one = parts.iter().all(|part| part.against == first.against);
    let against = if one {
        first.against.to_string()
    } else {
        "the observer of each part, who sees that part alone".to_owned()
    };
    let mut rest = Vec::new();
    let mut laws: Vec<LossLaw> = Vec::new();
    let mut gaussian: Option<(Gdp, f64, bool)> = None;
    let inner = parts.iter().flat_map(|part| match &part.law {
        Law::Composed(inner, _) => &inner[..],
        _ => std::slice::from_ref(part),
    });
    for part in inner {
        match &part.law {
            Law::Gaussian(gdp, lower) => {
                let (sum, low, exact) = gaussian.unwrap_or((Gdp::unchecked(0.0), 0.0, one));
                let low =
                    Interval::new(low) * Interval::new(low) + Interval::new(*lower) * Interval::new(*lower);
                let all = sum + *gdp.value();
                // Finite squares may have a sum above the largest float.
                let fits = all.mu().is_finite() || gdp.value().mu().is_infinite() || sum.mu().is_infinite();
                let exact = exact && fits && gdp.grade() == Grade::Exact;
                gaussian = Some((all, low.sqrt().low().max(0.0), exact));
            }
            Law::Known(known) => laws.push(known.law().clone()),
            Law::Curve(_) | Law::Composed(..) => rest.push(part.clone()),
        }
    }
    if let Some((gdp, lower, exact)) = gaussian {
        let lower = match lower {
            _ if !one => 0.0,
            lower if lower.is_nan() => gdp.mu(),
            lower => lower.min(gdp.mu()),
        };
        let gdp: Guarantee<Gdp> = if exact { Exact::new(gdp).into() } else { UpperBound::new(gdp).into() };
        if !laws.is_empty() && gdp.value().mu().is_finite() {
            laws.push(LossLaw::of_gdp(gdp, laws[0].neighbors()));
        } else {
            rest.insert(0, Profile::gaussian_between(lower, gdp, &against)?);
        }
    }
    if !laws.is_empty() {
        let law = LossLaw::compose(&laws)?;
        rest.insert(0, of_law(if one { law } else { law.dominating() }, &against));
    }
    let composed = match rest.len() {
        1 => Profile { against: against.as_str().into(), ..rest.swap_remove(0) },
        _ => {
            let known = joined(&rest);
            Profile::new(Law::Composed(rest, known), &against)
        }
    };
    Ok(Profile { neighbors: first.neighbors, ..composed })
}

/// The profile of a law. If it has so many different pairs that convolving them would take long, and each has
/// a Rényi bound, only the Rényi bounds are used.
fn of_law(law: LossLaw, against: &str) -> Profile {
    if law.kinds() <= MOST_KINDS || Order::new(2.0).is_ok_and(|order| law.rdp(order).is_none()) {
        return law.profile(against);
    }
    Profile::of_curve(ByRenyi(law), against)
}

/// A law of which only the Rényi divergence and the largest loss are used.
struct ByRenyi(LossLaw);

impl Curve for ByRenyi {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, Error> {
        self.0.renyi(order)
    }

    fn pure_epsilon(&self) -> Result<Guarantee<f64>, Error> {
        Ok(self.0.pure_epsilon().guarantee())
    }
}

/// The most different pairs whose laws are convolved: each takes a Fourier transform, some hundredths of a
/// second.
const MOST_KINDS: usize = 64;

/// The law of all parts that have a law or a Rényi bound, if some part has a law. The Rényi bounds are added
/// first and then treated as one part.
fn joined(parts: &[Profile]) -> Option<Arc<Known>> {
    let law = parts
        .iter()
        .find_map(|part| if let Law::Known(known) = &part.law { Some(known.law()) } else { None })?;
    let curves: Vec<Profile> =
        parts.iter().filter(|part| !matches!(part.law, Law::Known(_)) && has_renyi(part)).cloned().collect();
    if curves.is_empty() {
        return Some(Arc::new(Known::new(law.clone())));
    }
    let sum = move |order| sum_at(curves.iter(), order);
    let both = LossLaw::compose(&[law.clone(), LossLaw::from_renyi(sum, law.neighbors())]).ok()?;
    Some(Arc::new(Known::new(both)))
}

/// The sum of Rényi divergences; `∞` if one is not known.
fn sum_at<'a>(parts: impl Iterator<Item = &'a Profile>, order: Order) -> UpperBound<f64> {
    let mut sum = Interval::ZERO;
    for part in parts {
        match part.renyi(order) {
            Ok(loss) => sum = sum + Interval::new(loss.into_value().epsilon),
            Err(_) => return UpperBound::new(f64::INFINITY),
        }
    }
    UpperBound::new(sum.high())
}

fn has_renyi(part: &Profile) -> bool {
    Order::new(2.0).is_ok_and(|order| part.renyi(order).is_ok())
}

/// The parts that are composed by a law or by Rényi bounds, and the others.
struct Split<'a> {
    together: Vec<&'a Profile>,
    others: Vec<&'a Profile>,
    known: Option<&'a Known>,
}

impl<'a> Split<'a> {
    fn new(parts: &'a [Profile], known: Option<&'a Known>) -> Self {
        let together =
            |part: &&Profile| has_renyi(part) || known.is_some() && matches!(part.law, Law::Known(_));
        let (together, others) = parts.iter().partition(together);
        Self { together, others, known }
    }

    /// The smaller of the answers by the law and by Rényi bounds.
    fn epsilon(&self, delta: Delta) -> ApproxDp {
        let by_renyi = renyi_epsilon(&self.together, delta);
        match self.known.map(|known| known.epsilon(delta).into_value()) {
            Some(by_law) if by_law.epsilon() < by_renyi.epsilon() => by_law,
            _ => by_renyi,
        }
    }

    fn delta(&self, epsilon: f64) -> Result<ApproxDp, Error> {
        let curve = |order| sum_at(self.together.iter().copied(), order);
        let by_renyi = conversion::best_delta(curve, epsilon)?.into_value().approx_dp;
        let by_law = self.known.map(|known| known.delta(epsilon)).transpose()?;
        Ok(match by_law.map(Guarantee::into_value) {
            Some(by_law) if by_law.delta() < by_renyi.delta() => by_law,
            _ => by_renyi,
        })
    }
}

fn renyi_epsilon(parts: &[&Profile], delta: Delta) -> ApproxDp {
    conversion::best_epsilon(|order| sum_at(parts.iter().copied(), order), delta).into_value().approx_dp
}

/// The parts with a law or a Rényi bound are composed into one. This one and the other parts compose by `(ε,
/// δ)`: `δ` is divided evenly among them, or half of it is, and the other half is the slack of the
/// composition theorem; the smaller answer is used.
pub(super) fn epsilon(
    parts: &[Profile],
    known: Option<&Known>,
    delta: Delta,
) -> Result<UpperBound<ApproxDp>, Error> {
    let split = Split::new(parts, known);
    let others = &split.others;
    if others.is_empty() {
        return Ok(UpperBound::new(split.epsilon(delta)));
    }
    let count = others.len() + usize::from(!split.together.is_empty());
    let pieces = |share: f64| -> Result<Vec<(ApproxDp, u64)>, Error> {
        // Rounded down, so that all pieces together are at most the share.
        let each = Delta::new(delta.get() * share / count as f64 * (1.0 - 4.0 * f64::EPSILON))?;
        let mut pieces = Vec::with_capacity(count);
        if !split.together.is_empty() {
            pieces.push((split.epsilon(each), 1));
        }
        for other in others {
            pieces.push((other.epsilon(each)?.into_value(), 1));
        }
        Ok(pieces)
    };
    let whole = composition::naive(&pieces(1.0)?).into_value();
    let half = composition::best(&pieces(0.5)?, delta)?.into_value().total;
    let total =
        if half.delta() <= delta.get() { whole.epsilon().min(half.epsilon()) } else { whole.epsilon() };
    Ok(UpperBound::new(ApproxDp::clamped(total, delta.get())))
}

/// The smallest `δ` whose `ε` was seen to be at most `epsilon`, by a bisection of its logarithm.
pub(super) fn delta(
    parts: &[Profile],
    known: Option<&Known>,
    epsilon: f64,
) -> Result<UpperBound<ApproxDp>, Error> {
    let split = Split::new(parts, known);
    if split.others.is_empty() {
        return Ok(UpperBound::new(split.delta(epsilon)?));
    }
    let holds = |delta: Delta| {
        self::epsilon(parts, known, delta).is_ok_and(|found| found.value().epsilon() <= epsilon)
    };
    Ok(UpperBound::new(ApproxDp::clamped(epsilon, least_delta(holds)?)))
}

/// The smallest `δ` that was seen to hold, by a bisection of its logarithm between 1e-300 and 1; 1 if none
/// did.
pub(super) fn least_delta(holds: impl Fn(Delta) -> bool) -> Result<f64, Error> {
    let at = |log: f64| Delta::new(libm::exp(log).min(1.0 - f64::EPSILON / 2.0));
    let (mut high, mut low) = (0.0_f64, -690.0_f64);
    if !holds(at(high)?) {
        return Ok(1.0);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(at(middle)?) { high = middle } else { low = middle }
    }
    Ok(at(high)?.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_numeric::incomplete::two_sum;

    /// A Rényi divergence that is the same at every order.
    struct Constant(f64);

    impl Curve for Constant {
        fn renyi(&self, _: Order) -> Result<Option<Guarantee<f64>>, Error> {
            Ok(Some(UpperBound::new(self.0).into()))
        }
    }

    fn constants(a: f64, b: f64) -> [Profile; 2] {
        [a, b].map(|value| Profile::of_curve(Constant(value), "node 3"))
    }

    /// The sum of two floats is that of two others, of which the smaller one tells how it was rounded.
    #[test]
    fn divergences_add_up_to_no_less() -> Result<(), Error> {
        for (a, b) in [(0.1, 0.2), (0.1, 0.7), (0.3, 0.6), (1e-3, 0.9), (2.0, 1e-20)] {
            let found = sum_at(constants(a, b).iter(), Order::new(2.0)?).into_value();
            let (sum, rest) = two_sum(a, b);
            assert!(found - sum >= rest && found <= sum.next_up(), "{a} {b}: {found}");
        }
        Ok(())
    }

    /// Where all parts have a Rényi bound none of the `δ` is set aside for others: what is left out of 1e-5
    /// would show in the last digits.
    #[test]
    fn renyi_bounds_have_all_of_delta() -> Result<(), Error> {
        for (a, b) in [(0.1, 0.2), (0.5, 0.25), (3.0, 1.0)] {
            for at in [1e-5, 1e-9, 0.01] {
                let (parts, at) = (constants(a, b), Delta::new(at)?);
                let sum = (Interval::new(a) + Interval::new(b)).high();
                let alone = conversion::best_epsilon(|_| UpperBound::new(sum), at).into_value();
                assert_eq!(epsilon(&parts, None, at)?.into_value(), alone.approx_dp);
            }
        }
        Ok(())
    }

    /// Sixty halvings of 690: the logarithm is above the boundary by at most `690/2^60`, and seen to hold.
    #[test]
    fn least_deltas_are_next_to_the_boundary() -> Result<(), Error> {
        // Next to 1, where floats tell so small a difference; the exponential adds two of them.
        for boundary in (1..=100).map(|k| 1.0 - f64::from(k) / 4096.0) {
            let found = least_delta(|delta| delta.get() >= boundary)?;
            let most = boundary * (1.0 + 690.0 / f64::exp2(60.0)) + f64::EPSILON;
            assert!(boundary <= found && found <= most, "{boundary}: {}", found - boundary);
        }
        assert_eq!(least_delta(|_| false)?, 1.0);
        Ok(())
    }
}
