//! What a privacy number may be used for, as a type.
//!
//! | grade | meaning | a guarantee? |
//! |---|---|---|
//! | [`Exact`] | equals the divergence of the stated view | yes |
//! | [`UpperBound`] | proven upper bound, its preconditions checked | yes |
//! | [`Printed`] | a paper's formula, kept to reproduce a figure, perhaps false | no |
//! | [`Estimate`] | simulation average, heuristic, asymptotic statement | no |
//!
//! The four are different types. An [`Exact`] value is also an [`UpperBound`]; nothing turns a
//! [`Printed`] or an [`Estimate`] into either. Code that accepts guarantees takes a [`Guarantee`].
//! In files the grade stands beside the value, see [`recorded`](crate::recorded).

use crate::Error;
use serde::{Deserialize, Serialize};

/// The four grades, for tables and legends.
///
/// # Examples
/// ```
/// use ndp_dp::{Exact, Grade, Printed};
/// assert_eq!((Exact::new(0.3).grade(), Printed::new(0.3).grade()), (Grade::Exact, Grade::Printed));
/// assert!(Grade::Exact < Grade::Printed); // of two numbers together the later grade holds
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Equals the divergence of the stated view.
    Exact,
    /// Proven upper bound under stated, checked preconditions.
    UpperBound,
    /// The paper's formula, kept to reproduce a figure.
    Printed,
    /// Simulation average, heuristic, or asymptotic statement.
    Estimate,
}

impl Grade {
    /// The word written in CSV columns and legends.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::UpperBound => "upper-bound",
            Self::Printed => "printed",
            Self::Estimate => "estimate",
        }
    }
}

impl std::fmt::Display for Grade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Grade {
    type Err = Error;

    /// Reads the word that [`Grade::as_str`] writes.
    fn from_str(word: &str) -> Result<Self, Error> {
        [Self::Exact, Self::UpperBound, Self::Printed, Self::Estimate]
            .into_iter()
            .find(|grade| grade.as_str() == word)
            .ok_or_else(|| Error::UnknownName { what: "grade", name: word.to_owned() })
    }
}

macro_rules! graded {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name<T>(T);

        impl<T> $name<T> {
            /// Grades `value`. Whoever calls this answers for the grade.
            pub const fn new(value: T) -> Self {
                Self(value)
            }

            /// The number itself.
            pub const fn value(&self) -> &T {
                &self.0
            }

            /// The number itself, its grade forgotten.
            pub fn into_value(self) -> T {
                self.0
            }

            /// Its grade as a word.
            pub const fn grade(&self) -> Grade {
                Grade::$name
            }

            /// Applies a function that keeps the grade: an equality for exact values, a
            /// nondecreasing function for upper bounds.
            pub fn map<U>(self, f: impl FnOnce(T) -> U) -> $name<U> {
                $name(f(self.0))
            }
        }
    };
}

graded! {
    /// Equals the divergence of the stated view.
    Exact
}
graded! {
    /// A proven upper bound, its preconditions checked.
    UpperBound
}
graded! {
    /// A paper's formula, kept to reproduce its figure. It may be false: never a guarantee.
    Printed
}
graded! {
    /// A simulation average, a heuristic or an asymptotic statement: never a guarantee.
    Estimate
}

impl<T> From<Exact<T>> for UpperBound<T> {
    fn from(exact: Exact<T>) -> Self {
        Self(exact.0)
    }
}

/// A number that may be reported as a guarantee: exact, or an upper bound.
///
/// # Examples
/// ```
/// use ndp_dp::{Exact, Grade, Guarantee, UpperBound};
/// let guarantees: [Guarantee<f64>; 2] = [Exact::new(0.3).into(), UpperBound::new(0.4).into()];
/// assert_eq!(guarantees.map(|number| number.grade()), [Grade::Exact, Grade::UpperBound]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Guarantee<T> {
    /// It equals the divergence of the stated view.
    Exact(Exact<T>),
    /// It is at least the divergence of the stated view.
    UpperBound(UpperBound<T>),
}

impl<T> Guarantee<T> {
    /// The number itself.
    pub const fn value(&self) -> &T {
        match self {
            Self::Exact(x) => x.value(),
            Self::UpperBound(x) => x.value(),
        }
    }

    /// The number itself, its grade forgotten.
    pub fn into_value(self) -> T {
        match self {
            Self::Exact(x) => x.into_value(),
            Self::UpperBound(x) => x.into_value(),
        }
    }

    /// Its grade as a word.
    pub const fn grade(&self) -> Grade {
        match self {
            Self::Exact(_) => Grade::Exact,
            Self::UpperBound(_) => Grade::UpperBound,
        }
    }

    /// Applies a function that keeps the grade, see [`Exact::map`].
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Guarantee<U> {
        match self {
            Self::Exact(x) => Guarantee::Exact(x.map(f)),
            Self::UpperBound(x) => Guarantee::UpperBound(x.map(f)),
        }
    }
}

/// Every guarantee is an upper bound.
impl<T> From<Guarantee<T>> for UpperBound<T> {
    fn from(guarantee: Guarantee<T>) -> Self {
        Self(guarantee.into_value())
    }
}

impl<T> From<Exact<T>> for Guarantee<T> {
    fn from(exact: Exact<T>) -> Self {
        Self::Exact(exact)
    }
}

impl<T> From<UpperBound<T>> for Guarantee<T> {
    fn from(bound: UpperBound<T>) -> Self {
        Self::UpperBound(bound)
    }
}
