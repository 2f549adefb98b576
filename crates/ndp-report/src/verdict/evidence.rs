//! What a graded value says about the true one, and the verdicts that follow.
//!
//! A [`Verdict`] cannot be constructed freely: it is computed here, from [`Interval`]s, which contain the
//! true values, and from [`Claim`]s, which are what a paper says and are not evidence. The interval of a
//! graded value follows from the grade alone: an exact value has both ends, an upper bound its upper end, an
//! attack its lower end, a printed value or an estimate none. So "holds" follows only from exact values and
//! from upper bounds below what is claimed, "does not hold" only from exact values and from lower bounds, and
//! everything else is "not shown".

use crate::figure::Kind;
use ndp_dp::{Estimate, Exact, Grade, Printed, UpperBound};

/// Whether a claim holds, as far as the numbers show.
///
/// # Examples
/// ```
/// use ndp_report::verdict::of_claim;
/// let nothing_was_asked = of_claim(&[]);
/// assert_eq!(nothing_was_asked.as_str(), "not shown");
/// assert!(!nothing_was_asked.holds() && !nothing_was_asked.fails());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict(Word);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Holds,
    DoesNotHold,
    NotShown,
}

impl Verdict {
    /// Nothing is known.
    pub const NOT_SHOWN: Self = Self(Word::NotShown);

    /// `holds`, `does not hold` or `not shown`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self.0 {
            Word::Holds => "holds",
            Word::DoesNotHold => "does not hold",
            Word::NotShown => "not shown",
        }
    }

    /// Whether it was shown to hold.
    #[must_use]
    pub fn holds(self) -> bool {
        self.0 == Word::Holds
    }

    /// Whether it was shown not to hold.
    #[must_use]
    pub fn fails(self) -> bool {
        self.0 == Word::DoesNotHold
    }

    /// The verdict on a claim that asserts several things together: it fails if one of them fails, and holds
    /// if all of them hold. With nothing asserted, nothing is shown.
    pub(super) fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let and = |a: Self, b: Self| match (a.0, b.0) {
            (Word::DoesNotHold, _) | (_, Word::DoesNotHold) => Self(Word::DoesNotHold),
            (Word::Holds, Word::Holds) => a,
            _ => Self::NOT_SHOWN,
        };
        parts.into_iter().reduce(and).unwrap_or(Self::NOT_SHOWN)
    }

    fn when(shown: bool, refuted: bool) -> Self {
        Self(match (shown, refuted) {
            (_, true) => Word::DoesNotHold,
            (true, false) => Word::Holds,
            (false, false) => Word::NotShown,
        })
    }
}

/// Rounding error of exact values, relative to the larger of the two that are compared: exact means exact up
/// to floating-point error, and equal numbers computed in two ways differ by that much. Upper and lower
/// bounds are rounded outwards where they are computed, and get no allowance.
const ROUNDING: f64 = 1e-9;

/// The interval in which the true value lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    least: f64,
    most: f64,
}

impl From<Exact<f64>> for Interval {
    fn from(exact: Exact<f64>) -> Self {
        let value = exact.into_value();
        Self { least: value, most: value }
    }
}

impl From<UpperBound<f64>> for Interval {
    fn from(bound: UpperBound<f64>) -> Self {
        Self { most: bound.into_value(), ..Self::UNKNOWN }
    }
}

impl From<Printed<f64>> for Interval {
    /// A printed value is no evidence.
    fn from(_: Printed<f64>) -> Self {
        Self::UNKNOWN
    }
}

impl From<Estimate<f64>> for Interval {
    /// An estimate is no evidence.
    fn from(_: Estimate<f64>) -> Self {
        Self::UNKNOWN
    }
}

/// A loss that an attack has shown to be present, with a stated error rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attacked(pub(super) f64);

impl From<Attacked> for Interval {
    fn from(attack: Attacked) -> Self {
        Self { least: attack.0, ..Self::UNKNOWN }
    }
}

impl Interval {
    /// The true value may be anything.
    pub(super) const UNKNOWN: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY };

    /// The interval of a written value of some kind; data without a range are exact.
    pub(super) fn read(kind: Kind, value: f64) -> Self {
        match kind {
            Kind::Graded(Grade::Exact) | Kind::Data => Exact::new(value).into(),
            Kind::Graded(Grade::UpperBound) => UpperBound::new(value).into(),
            Kind::Graded(Grade::Printed) => Printed::new(value).into(),
            Kind::Graded(Grade::Estimate) => Estimate::new(value).into(),
        }
    }

    fn is_point(self) -> bool {
        self.least == self.most
    }

    /// Whether the true value is at most another.
    pub(super) fn is_at_most(self, other: Self) -> Verdict {
        let slack = if self.is_point() && other.is_point() { rounding(self.most, other.most) } else { 0.0 };
        Verdict::when(
            self.most <= other.least + slack,
            self.least > other.most + rounding(self.least, other.most),
        )
    }

    /// Whether the true value equals another, up to a tolerance relative to the larger of the two.
    pub(super) fn agrees(self, other: Self, tolerance: f64) -> Verdict {
        let (a, b) = (self.most, other.most);
        if !self.is_point() || !other.is_point() {
            return Verdict::NOT_SHOWN;
        }
        let close = a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs());
        Verdict::when(close, !close)
    }
}

/// A number that is claimed to be at least the true one. It cannot become an [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Claim(pub(super) f64);

impl Claim {
    /// Whether the claimed number covers the true one.
    pub(super) fn covers(self, truth: Interval) -> Verdict {
        let slack = if truth.is_point() { rounding(self.0, truth.most) } else { 0.0 };
        Verdict::when(truth.most <= self.0 + slack, truth.least > self.0 + rounding(self.0, truth.least))
    }
}

/// Whether an observed rank correlation shows at least the one required; only a correlation of true values
/// does.
pub(super) fn correlation(found: f64, asked: f64, kinds: impl IntoIterator<Item = Kind>) -> Verdict {
    let known = kinds.into_iter().all(|kind| matches!(kind, Kind::Data | Kind::Graded(Grade::Exact)));
    if known { Verdict::when(found >= asked, found < asked) } else { Verdict::NOT_SHOWN }
}

/// Whether a quantity with the given confidence bounds is above `least`; a missing bound shows nothing.
pub(super) fn above(low: Option<f64>, high: Option<f64>, least: f64) -> Verdict {
    Verdict::when(low.is_some_and(|low| low > least), high.is_some_and(|high| high < least))
}

fn rounding(a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    if size.is_finite() { ROUNDING * size } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLDS: Verdict = Verdict(Word::Holds);
    const FAILS: Verdict = Verdict(Word::DoesNotHold);
    const OPEN: Verdict = Verdict::NOT_SHOWN;

    /// All combinations of a claim with what is known.
    #[test]
    fn a_verdict_follows_from_the_grade() {
        let claim = Claim(1.0);
        for (below, above, truth) in [
            (HOLDS, FAILS, (|x| Exact::new(x).into()) as fn(f64) -> Interval),
            (HOLDS, OPEN, |x| UpperBound::new(x).into()),
            (OPEN, FAILS, |x| Attacked(x).into()),
            (OPEN, OPEN, |x| Printed::new(x).into()),
            (OPEN, OPEN, |x| Estimate::new(x).into()),
        ] {
            assert_eq!((claim.covers(truth(0.9)), claim.covers(truth(1.1))), (below, above));
            let exact = Interval::from(Exact::new(1.0));
            assert_eq!((truth(0.9).is_at_most(exact), truth(1.1).is_at_most(exact)), (below, above));
        }
        // Two upper bounds, in either order, say nothing about the true values below them.
        let bound = |x| Interval::from(UpperBound::new(x));
        assert_eq!((bound(0.1).is_at_most(bound(9.0)), bound(9.0).is_at_most(bound(0.1))), (OPEN, OPEN));
        // A larger lower bound refutes as well as a larger exact value.
        assert_eq!(bound(0.1).is_at_most(Attacked(0.2).into()), HOLDS);
        assert_eq!(Interval::from(Attacked(0.2)).is_at_most(bound(0.1)), FAILS);
    }

    #[test]
    fn rounding_excuses_exact_values_alone() {
        let (one, more) = (Claim(1.0), 1.0 + 1e-12);
        assert_eq!(one.covers(Exact::new(more).into()), HOLDS);
        assert_eq!(one.covers(UpperBound::new(more).into()), OPEN);
        assert_eq!(one.covers(Attacked(more).into()), OPEN);
        assert_eq!(Claim(f64::INFINITY).covers(Exact::new(f64::INFINITY).into()), HOLDS);
        assert_eq!(Claim(1.0).covers(Exact::new(f64::INFINITY).into()), FAILS);
        // Any loss is at most infinite.
        assert_eq!(Claim(f64::INFINITY).covers(Interval::UNKNOWN), HOLDS);
        let infinite = Interval::from(Exact::new(f64::INFINITY));
        assert_eq!(infinite.is_at_most(infinite), HOLDS);
        assert_eq!(infinite.is_at_most(Exact::new(1.0).into()), FAILS);
        assert_eq!(Interval::UNKNOWN.is_at_most(Interval::UNKNOWN), OPEN);
    }

    #[test]
    fn a_claim_of_several_parts_fails_with_one_and_holds_with_all() {
        assert_eq!(Verdict::of_all([HOLDS, FAILS, OPEN]), FAILS);
        assert_eq!(Verdict::of_all([HOLDS, OPEN, HOLDS]), OPEN);
        assert_eq!(Verdict::of_all([HOLDS, HOLDS]), HOLDS);
        assert_eq!(Verdict::of_all([]), OPEN);
    }

    #[test]
    fn only_correlations_of_true_values_decide() {
        let (data, exact) = (Kind::Data, Kind::Graded(Grade::Exact));
        assert_eq!(correlation(0.8, 0.7, [data, exact]), HOLDS);
        assert_eq!(correlation(0.6, 0.7, [data, exact]), FAILS);
        for grade in [Grade::UpperBound, Grade::Printed, Grade::Estimate] {
            assert_eq!(correlation(0.956, 0.7, [data, grade.into()]), OPEN);
            assert_eq!(correlation(0.458, 0.7, [data, grade.into()]), OPEN);
        }
    }
}
