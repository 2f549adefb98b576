//! Graded numbers in files, and what a guarantee is worth after it was read from a file.
//!
//! Every graded number is written with its grade, `{"grade":"exact","value":0.3}`, so that a printed number
//! and an exact one differ in a file as they do in the types. They are not read alike. A [`Printed`] number
//! or an [`Estimate`] is worth the same in a file as before. A guarantee, however, rests on a computation,
//! which the file does not contain: anybody can write `"exact"`. It is therefore read as a [`Recorded`]
//! number, which no function accepts as a guarantee. It becomes a guarantee again when the computation is
//! repeated and confirms it:
//!
//! ```
//! use ndp_dp::{Gdp, Guarantee, Mechanism, Recorded};
//! let account = || -> Result<Guarantee<f64>, ndp_dp::Error> { Gdp::new(0.5)?.delta(1.0) };
//! let text = serde_json::to_string(&account()?)?;
//! let recorded: Recorded<f64> = serde_json::from_str(&text)?;
//! let guarantee: Guarantee<f64> = recorded.verify(account()?)?;
//! assert_eq!(guarantee.value(), account()?.value());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```compile_fail,E0277
//! use ndp_dp::{Guarantee, Recorded};
//! let recorded: Recorded<f64> = serde_json::from_str(r#"{"grade":"exact","value":0.3}"#).unwrap();
//! let guarantee: Guarantee<f64> = recorded.into();
//! ```
//!
//! ```compile_fail,E0277
//! let guarantee: ndp_dp::Exact<f64> = serde_json::from_str(r#"{"grade":"exact","value":0.3}"#).unwrap();
//! ```

use crate::lossless::{Borrowed, Owned};
use crate::{
    ApproxDp, Error, Estimate, Exact, Gdp, Grade, Guarantee, ObserverLoss, PairwiseLoss, Printed, Rdp,
    UnitLoss, UpperBound, Zcdp,
};
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number as stated in a file: a grade and a value, neither of which has been checked.
///
/// # Examples
/// ```
/// use ndp_dp::{Grade, Guarantee, Recorded, UpperBound};
/// // A number from a file is a guarantee only after it was computed again.
/// let stated = Recorded { grade: Grade::UpperBound, value: 1.0 };
/// let guarantee: Guarantee<f64> = stated.verify(UpperBound::new(0.9).into())?;
/// assert_eq!(*guarantee.value(), 1.0);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded<T> {
    /// The grade that is stated.
    pub grade: Grade,
    /// The value that is stated.
    pub value: T,
}

impl<T: Covers + PartialEq + std::fmt::Debug> Recorded<T> {
    /// The recorded number as a guarantee, if `recomputed`, a guarantee for the same quantity, confirms it.
    ///
    /// A recorded upper bound is confirmed if it [covers](Covers) the recomputed value. A recorded exact
    /// value must equal the recomputed one, which must be exact as well. The caller is responsible for both
    /// being about the same quantity.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`] otherwise, and for recorded numbers whose grade is not that of a guarantee.
    pub fn verify(self, recomputed: Guarantee<T>) -> Result<Guarantee<T>, Error> {
        let confirmed = match (self.grade, &recomputed) {
            (Grade::Exact, Guarantee::Exact(value)) => *value.value() == self.value,
            (Grade::UpperBound, _) => self.value.covers(recomputed.value()),
            (Grade::Exact | Grade::Printed | Grade::Estimate, _) => false,
        };
        match (confirmed, self.grade) {
            (true, Grade::Exact) => Ok(recomputed),
            (true, _) => Ok(UpperBound::new(self.value).into()),
            (false, _) => Err(Error::Unconfirmed {
                recorded: format!("{} {:?}", self.grade, self.value),
                recomputed: format!("{} {:?}", recomputed.grade(), recomputed.value()),
            }),
        }
    }
}

/// A value that may bound another one of its type from above, the safe direction for losses and for noise
/// that is needed.
///
/// # Examples
/// ```
/// use ndp_dp::{ApproxDp, recorded::Covers};
/// assert!(ApproxDp::new(1.0, 1e-5)?.covers(&ApproxDp::new(0.5, 1e-6)?));
/// assert!(!f64::NAN.covers(&1.0));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub trait Covers {
    /// Whether every quantity that is at most `other` is also at most `self`. False if the two cannot be
    /// compared.
    fn covers(&self, other: &Self) -> bool;
}

impl Covers for f64 {
    fn covers(&self, other: &Self) -> bool {
        self >= other
    }
}

macro_rules! covers {
    ($($name:ty: |$a:ident, $b:ident| $covers:expr;)+) => {$(
        impl Covers for $name {
            fn covers(&self, other: &Self) -> bool {
                let ($a, $b) = (self, other);
                $covers
            }
        }
    )+};
}

covers! {
    u64: |a, b| a >= b;
    Gdp: |a, b| a >= b;
    UnitLoss: |a, b| a >= b;
    Zcdp: |a, b| a >= b;
    ApproxDp: |a, b| a.epsilon() >= b.epsilon() && a.delta() >= b.delta();
    Rdp: |a, b| a.order == b.order && a.epsilon >= b.epsilon;
    ObserverLoss: |a, b| a.observer == b.observer && a.unit.covers(&b.unit);
    PairwiseLoss: |a, b| {
        let n = a.node_count();
        n == b.node_count() && (0..n).all(|u| a.row(u).iter().zip(b.row(u)).all(|(x, y)| x >= y))
    };
}

impl<T: Covers> Covers for Vec<T> {
    /// Entry by entry.
    fn covers(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(a, b)| a.covers(b))
    }
}

fn write<T: Serialize + 'static, S: Serializer>(
    grade: Grade,
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Graded", 2)?;
    fields.serialize_field("grade", &grade)?;
    fields.serialize_field("value", &Borrowed(value))?;
    fields.end()
}

macro_rules! written {
    ($($name:ident),+) => {$(
        impl<T: Serialize + 'static> Serialize for $name<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write(self.grade(), self.value(), serializer)
            }
        }
    )+};
}
written!(Exact, UpperBound, Printed, Estimate, Guarantee);

impl<T: Serialize + 'static> Serialize for Recorded<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.grade, &self.value, serializer)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "T: Deserialize<'de> + 'static"))]
struct Fields<T> {
    grade: Grade,
    value: Owned<T>,
}

impl<'de, T: Deserialize<'de> + 'static> Deserialize<'de> for Recorded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Fields { grade, value } = Fields::deserialize(deserializer)?;
        Ok(Self { grade, value: value.0 })
    }
}

macro_rules! read {
    ($($name:ident),+) => {$(
        impl<'de, T: Deserialize<'de> + 'static> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let recorded = Recorded::deserialize(deserializer)?;
                if recorded.grade == Grade::$name {
                    Ok(Self::new(recorded.value))
                } else {
                    Err(D::Error::custom(format_args!("the grade must be {}, got {}", Grade::$name, recorded.grade)))
                }
            }
        }
    )+};
}
read!(Printed, Estimate);

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: Serialize>(value: &T) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn the_grade_is_written_and_read() -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(text(&Printed::new(0.3)), r#"{"grade":"printed","value":0.3}"#);
        assert_eq!(text(&Exact::new(f64::INFINITY)), r#"{"grade":"exact","value":"inf"}"#);
        let bound: Guarantee<f64> = UpperBound::new(0.3).into();
        assert_eq!(text(&bound), r#"{"grade":"upper-bound","value":0.3}"#);
        assert_eq!(text(&Exact::new(vec![0.5, f64::INFINITY])), r#"{"grade":"exact","value":[0.5,"inf"]}"#);
        let recorded: Recorded<Vec<f64>> =
            serde_json::from_str(&text(&Exact::new(vec![0.5, f64::INFINITY])))?;
        assert_eq!(recorded, Recorded { grade: Grade::Exact, value: vec![0.5, f64::INFINITY] });
        assert_eq!(text(&recorded), text(&Exact::new(vec![0.5, f64::INFINITY])));
        let printed: Printed<f64> = serde_json::from_str(r#"{"grade":"printed","value":"inf"}"#)?;
        assert_eq!(printed, Printed::new(f64::INFINITY));
        let estimate: Estimate<Gdp> = serde_json::from_str(&text(&Estimate::new(Gdp::new(f64::INFINITY)?)))?;
        assert_eq!(estimate.value().mu(), f64::INFINITY);
        Ok(())
    }

    #[test]
    fn a_grade_is_not_mistaken_for_another() {
        for (bad, said) in [
            (r#"{"grade":"exact","value":0.3}"#, "the grade must be printed, got exact"),
            (r#"{"grade":"estimate","value":0.3}"#, "the grade must be printed, got estimate"),
            (r#"{"grade":"printed","value":0.3,"note":1}"#, "unknown field `note`"),
            (r#"{"grade":"printed","value":null}"#, "invalid type: null"),
            (r#"{"grade":"certain","value":0.3}"#, "unknown variant `certain`"),
            (r#"{"value":0.3}"#, "missing field `grade`"),
            ("0.3", "invalid type: floating point `0.3`"),
        ] {
            let found = serde_json::from_str::<Printed<f64>>(bad).unwrap_err().to_string();
            assert!(found.starts_with(said), "{bad}: {found}");
        }
        let written = serde_json::to_string(&Exact::new(f64::NAN));
        assert_eq!(written.unwrap_err().to_string(), "NaN is no number to write");
        // The invariant of the value is checked as well.
        let negative = serde_json::from_str::<Recorded<UnitLoss>>(r#"{"grade":"exact","value":-1.5}"#);
        let found = negative.unwrap_err().to_string();
        assert!(
            found.starts_with("the unit loss of several releases must be nonnegative, got -1.5"),
            "{found}"
        );
    }

    #[test]
    fn only_the_same_computation_confirms() {
        let exact = |x: f64| Guarantee::from(Exact::new(x));
        let bound = |x: f64| Guarantee::from(UpperBound::new(x));
        let recorded = |grade, x: f64| Recorded { grade, value: x };
        assert_eq!(recorded(Grade::Exact, 0.3).verify(exact(0.3)), Ok(exact(0.3)));
        for (grade, stated, recomputed) in [
            (Grade::Exact, 0.3, bound(0.3)),
            (Grade::Exact, 0.3, exact(0.2)),
            (Grade::Exact, 0.2, exact(0.3)),
            (Grade::UpperBound, 0.2, exact(0.3)),
            (Grade::UpperBound, 0.2, bound(0.3)),
            (Grade::UpperBound, f64::NAN, bound(0.3)),
            (Grade::Printed, 0.3, exact(0.3)),
            (Grade::Estimate, 0.3, bound(0.1)),
        ] {
            let refused = recorded(grade, stated).verify(recomputed);
            assert!(matches!(refused, Err(Error::Unconfirmed { .. })), "{grade} {stated}");
        }
        // A recorded bound that is looser than the recomputed one is true. It stays as it was recorded.
        assert_eq!(recorded(Grade::UpperBound, 0.4).verify(exact(0.3)), Ok(bound(0.4)));
        assert_eq!(recorded(Grade::UpperBound, f64::INFINITY).verify(bound(0.3)), Ok(bound(f64::INFINITY)));
    }

    /// Lists are compared entry by entry, and not in lexicographic order.
    #[test]
    fn a_bound_covers_every_entry() -> Result<(), Error> {
        assert!(vec![1.0, 2.0].covers(&vec![1.0, 1.0]));
        assert!(!vec![2.0, 1.0].covers(&vec![1.0, 2.0]) && !vec![1.0].covers(&vec![]));
        let (wide, low) = (ApproxDp::new(2.0, 0.1)?, ApproxDp::new(1.0, 0.2)?);
        assert!(!wide.covers(&low) && !low.covers(&wide) && wide.covers(&wide));
        let pairs = |x: f64| PairwiseLoss::from_rows(2, vec![1.0, 0.5, x, 1.0]);
        assert!(pairs(0.5)?.covers(&pairs(0.25)?) && !pairs(0.25)?.covers(&pairs(0.5)?));
        Ok(())
    }
}
