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
use crate::decimal::{self, Round};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use worth::Worth;

/// The four grades, for tables and legends.
///
/// # Examples
/// ```
/// use ndp_dp::{Exact, Grade, Printed};
/// assert_eq!((Exact::new(0.3).grade(), Printed::new(0.3).grade()), (Grade::Exact, Grade::Printed));
/// assert!(Grade::Exact < Grade::Printed); // a result from two numbers has the later of their grades
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
    /// The side to which a number of this grade is rounded when it is written: guarantees up, other numbers
    /// to nearest.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Grade, decimal};
    /// let loss = 0.450_72;
    /// assert_eq!(decimal::fixed(loss, 3, Grade::UpperBound.rounding()), "0.451");
    /// assert_eq!(decimal::fixed(loss, 3, Grade::Estimate.rounding()), "0.451");
    /// assert_eq!(decimal::fixed(loss, 4, Grade::Exact.rounding()), "0.4508");
    /// assert_eq!(decimal::fixed(loss, 4, Grade::Printed.rounding()), "0.4507");
    /// ```
    #[must_use]
    pub const fn rounding(self) -> Round {
        match self {
            Self::Exact | Self::UpperBound => Round::Up,
            Self::Printed | Self::Estimate => Round::Nearest,
        }
    }

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

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// A number, and in its type what it is worth: [`Exact`], [`UpperBound`], [`Printed`] or [`Estimate`].
///
/// # Examples
/// ```
/// use ndp_dp::{Grade, Printed, UpperBound};
/// let bound = UpperBound::new(0.25).map(|epsilon| 2.0 * epsilon);
/// assert_eq!((*bound.value(), bound.grade()), (0.5, Grade::UpperBound));
/// assert_eq!(format!("{:?}", Printed::new(1.0)), "Printed(1.0)");
/// ```
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Graded<T, G> {
    value: T,
    grade: PhantomData<G>,
}

/// Equals the divergence of the stated view.
///
/// # Examples
/// ```
/// use ndp_dp::{Exact, Guarantee, UpperBound};
/// let exact = Exact::new(0.3);
/// let (bound, guarantee): (UpperBound<f64>, Guarantee<f64>) = (exact.into(), exact.into());
/// assert_eq!((bound.value(), guarantee.value()), (&0.3, &0.3));
/// ```
pub type Exact<T> = Graded<T, worth::Exact>;
/// A proven upper bound, its preconditions checked.
///
/// # Examples
/// ```
/// use ndp_dp::{Grade, Guarantee, UpperBound};
/// let guarantee = Guarantee::from(UpperBound::new(0.4));
/// assert_eq!(guarantee.grade(), Grade::UpperBound);
/// ```
pub type UpperBound<T> = Graded<T, worth::UpperBound>;
/// A paper's formula, kept to reproduce its figure. It may be false: never a guarantee.
///
/// # Examples
/// ```
/// use ndp_dp::{Grade, Printed};
/// assert_eq!(Printed::new(0.1).grade(), Grade::Printed); // and it cannot be converted into a guarantee
/// ```
pub type Printed<T> = Graded<T, worth::Printed>;
/// A simulation average, a heuristic or an asymptotic statement: never a guarantee.
///
/// # Examples
/// ```
/// use ndp_dp::Estimate;
/// let mean = Estimate::new(0.2).map(|loss| loss / 2.0);
/// assert_eq!(mean.into_value(), 0.1);
/// ```
pub type Estimate<T> = Graded<T, worth::Estimate>;

/// What tells the four types apart.
mod worth {
    use super::Grade;

    pub trait Worth {
        const GRADE: Grade;
        const NAME: &'static str;
    }

    macro_rules! worth {
        ($($name:ident)*) => {
            $(
                #[derive(Clone, Copy, PartialEq, PartialOrd)]
                pub enum $name {}

                impl Worth for $name {
                    const GRADE: Grade = Grade::$name;
                    const NAME: &'static str = stringify!($name);
                }
            )*
        };
    }

    worth!(Exact UpperBound Printed Estimate);
}

impl<T, G: Worth> Graded<T, G> {
    /// Grades `value`. The caller is responsible for the grade being true.
    pub const fn new(value: T) -> Self {
        Self { value, grade: PhantomData }
    }

    /// The number itself.
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// The number itself, without its grade.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Its grade as a word.
    pub const fn grade(&self) -> Grade {
        G::GRADE
    }

    /// Applies a function that keeps the grade: an equality for exact values, a
    /// nondecreasing function for upper bounds.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Graded<U, G> {
        Graded::new(f(self.value))
    }
}

impl<T: fmt::Debug, G: Worth> fmt::Debug for Graded<T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(G::NAME).field(&self.value).finish()
    }
}

/// The number, rounded to the [side of its grade](Grade::rounding), and its grade: `0.3001 [exact]`. Six
/// significant digits, or as many decimals as asked for; with an exponent for `{:e}`.
///
/// # Examples
/// ```
/// use ndp_dp::{Estimate, Exact, Guarantee, UpperBound};
/// assert_eq!(format!("{}, {:.3}", Exact::new(1.0), Exact::new(0.450_72)), "1 [exact], 0.451 [exact]");
/// assert_eq!(format!("{:.2e}", UpperBound::new(1.2301e-7)), "1.24e-7 [upper-bound]");
/// assert_eq!(format!("{:.4}", Guarantee::from(Exact::new(0.450_72))), "0.4508 [exact]");
/// assert_eq!(format!("{:.4}", Estimate::new(0.450_72)), "0.4507 [estimate]");
/// ```
impl<G: Worth> fmt::Display for Graded<f64, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.value, G::GRADE, f)
    }
}

/// As the display, with an exponent.
impl<G: Worth> fmt::LowerExp for Graded<f64, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_scientific(self.value, G::GRADE, f)
    }
}

/// Writes a number with its grade.
fn show(value: f64, grade: Grade, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = match f.precision() {
        Some(decimals) => decimal::fixed(value, decimals, grade.rounding()),
        None => decimal::significant(value, SHOWN_DIGITS, grade.rounding()),
    };
    padded(&format!("{text} [{grade}]"), f)
}

fn show_scientific(value: f64, grade: Grade, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let decimals = f.precision().unwrap_or(SHOWN_DIGITS - 1);
    padded(&format!("{} [{grade}]", decimal::scientific(value, decimals, grade.rounding())), f)
}

/// Writes text, filled to the requested width. `Formatter::pad` would truncate it at the precision.
fn padded(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let missing = f.width().unwrap_or(0).saturating_sub(text.chars().count());
    let before = match f.align() {
        Some(fmt::Alignment::Right) => missing,
        Some(fmt::Alignment::Center) => missing / 2,
        Some(fmt::Alignment::Left) | None => 0,
    };
    let fill = f.fill();
    let mut filling = |count: usize| (0..count).try_for_each(|_| fmt::Write::write_char(f, fill));
    filling(before)?;
    f.write_str(text)?;
    (before..missing).try_for_each(|_| fmt::Write::write_char(f, fill))
}

/// The relative distance up to which the ends of an enclosure count as one exact number.
const EXACT_WITHIN: f64 = 1e-9;
/// The significant digits of a graded number if none are requested.
const SHOWN_DIGITS: usize = 6;

impl<T> From<Exact<T>> for UpperBound<T> {
    fn from(exact: Exact<T>) -> Self {
        Self::new(exact.into_value())
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

impl Guarantee<f64> {
    /// The upper end of an enclosure of a divergence of the stated view: `Exact` where the ends agree to a
    /// relative `1e-9`.
    pub(crate) fn of_enclosure(divergence: Interval) -> Self {
        let (low, high) = (divergence.low(), divergence.high());
        if high - low <= EXACT_WITHIN * high { Exact::new(high).into() } else { UpperBound::new(high).into() }
    }
}

impl<T> Guarantee<T> {
    /// The number itself.
    pub const fn value(&self) -> &T {
        match self {
            Self::Exact(x) => x.value(),
            Self::UpperBound(x) => x.value(),
        }
    }

    /// The number itself, without its grade.
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

    /// Applies a function that keeps the grade, see [`Graded::map`].
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Guarantee<U> {
        match self {
            Self::Exact(x) => Guarantee::Exact(x.map(f)),
            Self::UpperBound(x) => Guarantee::UpperBound(x.map(f)),
        }
    }

    /// The same number, an upper bound unless it and `given`, from which it was computed, are exact.
    pub(crate) fn no_better_than(self, given: Grade) -> Self {
        if given == Grade::Exact { self } else { UpperBound::new(self.into_value()).into() }
    }
}

/// As that of its grade, see [`Graded`].
impl fmt::Display for Guarantee<f64> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(*self.value(), self.grade(), f)
    }
}

/// As the display, with an exponent.
impl fmt::LowerExp for Guarantee<f64> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_scientific(*self.value(), self.grade(), f)
    }
}

/// Every guarantee is an upper bound.
impl<T> From<Guarantee<T>> for UpperBound<T> {
    fn from(guarantee: Guarantee<T>) -> Self {
        Self::new(guarantee.into_value())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with an exponent also have six significant digits if none are requested.
    #[test]
    fn numbers_have_six_digits() {
        let bound = UpperBound::new(1.234_567_8e-7);
        assert_eq!(format!("{bound:e}, {bound}"), "1.23457e-7 [upper-bound], 1.23457e-7 [upper-bound]");
        assert_eq!(format!("{:e}", Guarantee::from(Exact::new(2345.6701))), "2.34568e3 [exact]");
    }
}
