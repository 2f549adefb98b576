//! Floats in files, without loss: an infinity is the text `inf`, never `null`, and NaN is refused.
//!
//! JSON has no infinity, but an infinite bound has a meaning: nothing is promised. `null` would mean that
//! nothing is known about the number, and cannot be read back as a float. Finite floats are written by their
//! serializer; `serde_json` writes the shortest text that reads back as the same float, and its feature
//! `float_roundtrip` makes it read that float exactly. Binary formats keep floats as they are.
//!
//! A field uses this module by the attribute `with = "crate::lossless"`, and a list uses [`list`].

use serde::de::{Error as _, Unexpected, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::Any;

/// Writes a float.
///
/// # Errors
/// For NaN, and those of the serialiser.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_nan() {
        Err(S::Error::custom("NaN is no number to write"))
    } else if value.is_infinite() && serializer.is_human_readable() {
        serializer.serialize_str(if *value > 0.0 { INFINITY } else { MINUS_INFINITY })
    } else {
        serializer.serialize_f64(*value)
    }
}

/// Reads a float that [`serialize`] wrote.
///
/// # Errors
/// For anything but a number, `inf` and `-inf`, NaN included.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = if deserializer.is_human_readable() {
        deserializer.deserialize_any(Float)?
    } else {
        f64::deserialize(deserializer)?
    };
    if value.is_nan() { Err(D::Error::invalid_value(Unexpected::Float(value), &Float)) } else { Ok(value) }
}

/// Lists of floats, each written as [`serialize`] does.
pub mod list {
    use super::Number;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a list.
    ///
    /// # Errors
    /// As [`super::serialize`].
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|&value| Number(value)))
    }

    /// Reads a list that [`serialize`] wrote.
    ///
    /// # Errors
    /// As [`super::deserialize`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Number>::deserialize(deserializer)?.into_iter().map(|number| number.0).collect())
    }
}

/// One float, written as [`serialize`] does.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

/// A reference to a value of any type, for writing. Floats, and options, lists, pairs and tables of floats,
/// are written without loss; other types use their own serializer.
pub(crate) struct Borrowed<'a, T>(pub(crate) &'a T);

impl<T: Serialize + 'static> Serialize for Borrowed<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let any: &dyn Any = self.0;
        if let Some(value) = any.downcast_ref::<f64>() {
            serialize(value, serializer)
        } else if let Some(value) = any.downcast_ref::<Option<f64>>() {
            value.map(Number).serialize(serializer)
        } else if let Some(values) = any.downcast_ref::<Vec<f64>>() {
            list::serialize(values, serializer)
        } else if let Some(&(a, b)) = any.downcast_ref::<(f64, f64)>() {
            (Number(a), Number(b)).serialize(serializer)
        } else if let Some(rows) = any.downcast_ref::<Vec<Vec<f64>>>() {
            serializer.collect_seq(rows.iter().map(Borrowed))
        } else {
            self.0.serialize(serializer)
        }
    }
}

/// A value that [`Borrowed`] wrote.
pub(crate) struct Owned<T>(pub(crate) T);

impl<'de, T: Deserialize<'de> + 'static> Deserialize<'de> for Owned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Tries each type that is read specially: the downcast of the slot succeeds exactly if `T` is that
        // type.
        let mut slot: Option<T> = None;
        let any: &mut dyn Any = &mut slot;
        if let Some(slot) = any.downcast_mut::<Option<f64>>() {
            *slot = Some(deserialize(deserializer)?);
        } else if let Some(slot) = any.downcast_mut::<Option<Option<f64>>>() {
            *slot = Some(Option::<Number>::deserialize(deserializer)?.map(|number| number.0));
        } else if let Some(slot) = any.downcast_mut::<Option<Vec<f64>>>() {
            *slot = Some(list::deserialize(deserializer)?);
        } else if let Some(slot) = any.downcast_mut::<Option<(f64, f64)>>() {
            let (a, b) = <(Number, Number)>::deserialize(deserializer)?;
            *slot = Some((a.0, b.0));
        } else if let Some(slot) = any.downcast_mut::<Option<Vec<Vec<f64>>>>() {
            let rows = Vec::<Owned<Vec<f64>>>::deserialize(deserializer)?;
            *slot = Some(rows.into_iter().map(|row| row.0).collect());
        } else {
            return T::deserialize(deserializer).map(Self);
        }
        slot.map(Self).ok_or_else(|| D::Error::custom("a value that was read is gone"))
    }
}

/// A float, or a text that stands for an infinity.
struct Float;

impl Visitor<'_> for Float {
    type Value = f64;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("a number, \"inf\" or \"-inf\"")
    }

    fn visit_f64<E>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<f64, E> {
        match value {
            INFINITY => Ok(f64::INFINITY),
            MINUS_INFINITY => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_value(Unexpected::Str(value), &self)),
        }
    }
}

/// Implements both directions of serde for a number that carries an invariant, by `From` and `TryFrom`: it is
/// checked when read.
macro_rules! checked_number {
    ($name:ident) => {
        $crate::lossless::checked_number!($name, new);
    };
    ($name:ident, $read:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::lossless::serialize(&f64::from(*self), serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::try_from($crate::lossless::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl TryFrom<f64> for $name {
            type Error = $crate::Error;

            fn try_from(value: f64) -> Result<Self, $crate::Error> {
                Self::$read(value)
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> f64 {
                number.0
            }
        }

        /// The shortest text that reads back as the same number; with as many digits as asked for when they
        /// are.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::lossless::display(self.0, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            /// Reads a number and checks it.
            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                Self::$read($crate::lossless::parse(text)?)
            }
        }
    };
}
pub(crate) use checked_number;

/// Implements reading for a struct whose fields are checked together: by the constructor that makes it from
/// them.
macro_rules! checked_fields {
    ($name:ident { $($(#[$with:meta])? $field:ident: $type:ty),+ } => $made:expr) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Fields {
                    $($(#[$with])? $field: $type,)+
                }
                let Fields { $($field),+ } = Fields::deserialize(deserializer)?;
                $made.map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use checked_fields;

pub fn display(value: f64, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    if f.precision().is_some() {
        return std::fmt::Display::fmt(&value, f);
    }
    // As for debugging, which writes 1e-300 with an exponent, but without the zero behind a whole number.
    let text = format!("{value:?}");
    f.pad(text.strip_suffix(".0").unwrap_or(&text))
}

pub fn parse(text: &str) -> Result<f64, crate::Error> {
    text.trim().parse().map_err(|_| crate::Error::NotANumber(text.to_owned()))
}

const INFINITY: &str = "inf";
const MINUS_INFINITY: &str = "-inf";

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a value and reads it again: the text and the value.
    fn through<T: Serialize + for<'de> Deserialize<'de> + 'static>(value: T) -> (String, T) {
        let text = serde_json::to_string(&Borrowed(&value)).unwrap();
        let back = serde_json::from_str::<Owned<T>>(&text).unwrap().0;
        (text, back)
    }

    #[test]
    fn floats_and_what_is_made_of_them_come_back() {
        for value in [0.0, 0.3, 1.0 / 3.0, 5e-324, f64::MAX, -2.5e-9, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(through(value).1.to_bits(), value.to_bits());
        }
        assert_eq!(through(f64::INFINITY).0, "\"inf\"");
        assert_eq!(through(vec![1.0, f64::INFINITY]).0, "[1.0,\"inf\"]");
        assert_eq!(through(vec![1.0, f64::INFINITY]).1, [1.0, f64::INFINITY]);
        assert_eq!(through(vec![vec![f64::INFINITY], vec![]]).1, [vec![f64::INFINITY], vec![]]);
        assert_eq!(through((0.5, f64::INFINITY)).1, (0.5, f64::INFINITY));
        assert_eq!(through(Some(f64::NEG_INFINITY)).1, Some(f64::NEG_INFINITY));
        assert_eq!(through(None::<f64>), ("null".to_owned(), None));
        assert_eq!(through("text".to_owned()).1, "text");
        // Floats near a hard case, which parsers that are not exact read as a neighboring float.
        let hard = 8.944_000_162_363_41e-9;
        for k in 0..2000 {
            let value = hard * f64::from(k).mul_add(1e-3, 1.0);
            assert_eq!(through(value).1.to_bits(), value.to_bits());
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for written in [
            serde_json::to_string(&Borrowed(&f64::NAN)),
            serde_json::to_string(&Borrowed(&vec![0.0, f64::NAN])),
        ] {
            assert_eq!(written.unwrap_err().to_string(), "NaN is no number to write");
        }
        for text in ["null", "\"infinity\"", "\"nan\"", "\"0.5\"", "[1]", "true"] {
            let found = serde_json::from_str::<Owned<f64>>(text).map(|read| read.0).unwrap_err().to_string();
            assert!(found.contains("expected a number, \"inf\" or \"-inf\""), "{text}: {found}");
        }
        assert_eq!(serde_json::from_str::<Owned<f64>>("7").unwrap().0, 7.0);
    }

    #[test]
    fn fields_keep_infinities() -> Result<(), serde_json::Error> {
        #[derive(Serialize, Deserialize)]
        struct Spent {
            #[serde(with = "crate::lossless")]
            epsilon: f64,
            #[serde(with = "crate::lossless::list")]
            parts: Vec<f64>,
        }
        let text = serde_json::to_string(&Spent { epsilon: f64::INFINITY, parts: vec![0.1, f64::INFINITY] })?;
        assert_eq!(text, r#"{"epsilon":"inf","parts":[0.1,"inf"]}"#);
        assert_eq!(serde_json::from_str::<Spent>(&text)?.epsilon, f64::INFINITY);
        Ok(())
    }
}
