//! Several releases about the same data, seen by one observer.

use super::{Law, Profile};
use crate::composition;
use crate::{ApproxDp, Delta, Error, Exact, Gdp, Grade, UpperBound, conversion};
use ndp_numeric::rounding::Interval;

pub(super) fn all(parts: &[Profile]) -> Result<Profile, Error> {
    let Some(first) = parts.first() else { return Ok(Profile::nothing("nobody")) };
    if parts.iter().any(|part| part.neighbors != first.neighbors) {
        return Err(Error::MixedNeighbors);
    }
    let against = parts.iter().find(|part| part.against != first.against);
    let against = against.map_or_else(|| first.against.to_string(), |_| "the observers of all parts".into());
    let mut rest = Vec::new();
    let mut gaussian: Option<(Gdp, f64, bool)> = None;
    for part in parts {
        match &part.law {
            Law::Gaussian(gdp, lower) => {
                let (sum, low, exact) = gaussian.unwrap_or((Gdp::unchecked(0.0), 0.0, true));
                let low =
                    Interval::new(low) * Interval::new(low) + Interval::new(*lower) * Interval::new(*lower);
                let exact = exact && gdp.grade() == Grade::Exact;
                gaussian = Some((sum + *gdp.value(), low.sqrt().low().max(0.0), exact));
            }
            Law::Curve(_) => rest.push(part.clone()),
            Law::Composed(inner) => rest.extend(inner.iter().cloned()),
        }
    }
    if let Some((gdp, lower, exact)) = gaussian {
        let lower = if lower.is_nan() { gdp.mu() } else { lower.min(gdp.mu()) };
        let gdp = if exact { Exact::new(gdp).into() } else { UpperBound::new(gdp).into() };
        rest.insert(0, Profile::gaussian_between(lower, gdp, &against)?);
    }
    let composed = match rest.len() {
        1 => Profile { against: against.as_str().into(), ..rest.swap_remove(0) },
        _ => Profile::new(Law::Composed(rest), &against),
    };
    Ok(Profile { neighbors: first.neighbors, ..composed })
}

/// Parts with a Rényi bound, and the others.
fn split(parts: &[Profile]) -> (Vec<&Profile>, Vec<&Profile>) {
    let probe = crate::Order::new(2.0).ok();
    parts.iter().partition(|part| probe.is_some_and(|order| part.renyi(order).is_ok()))
}

fn renyi_epsilon(parts: &[&Profile], delta: Delta) -> ApproxDp {
    let curve = |order| {
        let mut sum = Interval::new(0.0);
        for part in parts {
            match part.renyi(order) {
                Ok(loss) => sum = sum + Interval::new(loss.into_value().epsilon),
                Err(_) => return UpperBound::new(f64::INFINITY),
            }
        }
        UpperBound::new(sum.high())
    };
    conversion::best_epsilon(curve, delta).into_value().approx_dp
}

/// The parts with a Rényi bound compose by it to one, the others by `(ε, δ)`: `δ` is divided evenly among these parts, and
/// half of it may go into the composition itself where that helps.
pub(super) fn epsilon(parts: &[Profile], delta: Delta) -> Result<UpperBound<ApproxDp>, Error> {
    let (renyi, others) = split(parts);
    if others.is_empty() {
        return Ok(UpperBound::new(renyi_epsilon(&renyi, delta)));
    }
    let count = others.len() + usize::from(!renyi.is_empty());
    let pieces = |share: f64| -> Result<Vec<(ApproxDp, u64)>, Error> {
        // Rounded down, so that the pieces add up to at most the share.
        let each = Delta::new(delta.get() * share / count as f64 * (1.0 - 4.0 * f64::EPSILON))?;
        let mut pieces = Vec::with_capacity(count);
        if !renyi.is_empty() {
            pieces.push((renyi_epsilon(&renyi, each), 1));
        }
        for other in &others {
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

/// The smallest `δ` on a bisection of its logarithm whose `ε` is at most `epsilon`: the verified end.
pub(super) fn delta(parts: &[Profile], epsilon: f64) -> Result<UpperBound<ApproxDp>, Error> {
    let (renyi, others) = split(parts);
    if others.is_empty() {
        let curve = |order| {
            let sum = renyi.iter().try_fold(Interval::new(0.0), |sum, part| {
                Ok::<_, Error>(sum + Interval::new(part.renyi(order)?.into_value().epsilon))
            });
            UpperBound::new(sum.map_or(f64::INFINITY, Interval::high))
        };
        return Ok(conversion::best_delta(curve, epsilon)?.map(|found| found.approx_dp));
    }
    let holds =
        |delta: Delta| self::epsilon(parts, delta).is_ok_and(|found| found.value().epsilon() <= epsilon);
    Ok(UpperBound::new(ApproxDp::clamped(epsilon, least_delta(holds)?)))
}

/// The least `δ` that was seen to hold, by a bisection of its logarithm between 1e-300 and 1; 1 where none did.
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
