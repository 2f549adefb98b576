//! Parameters of a protocol as data.

use ndp_account::Error;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Parameters by name, as `rounds=20,seed=7` in text.
///
/// # Examples
/// ```
/// use ndp_algos::registry::Parameters;
/// let given: Parameters = "rounds=20,seed=7".parse()?;
/// assert_eq!(given, Parameters::from([("rounds", 20.0), ("seed", 7.0)]));
/// assert_eq!(given.0["rounds"], 20.0);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Parameters(
    /// The values.
    pub BTreeMap<String, f64>,
);

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Accepts no name twice: maps of the standard library would keep the last value.
        struct Once;

        impl<'de> Visitor<'de> for Once {
            type Value = Parameters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("numbers by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
                let mut parameters = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, f64>()? {
                    if let Some(before) = parameters.insert(name.clone(), value) {
                        let twice =
                            format!("the parameter {name:?} is given twice, as {before} and as {value}");
                        return Err(serde::de::Error::custom(twice));
                    }
                }
                Ok(Parameters(parameters))
            }
        }

        deserializer.deserialize_map(Once)
    }
}

impl<const N: usize> From<[(&str, f64); N]> for Parameters {
    fn from(values: [(&str, f64); N]) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl FromStr for Parameters {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parameters = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let parsed = part
                .split_once('=')
                .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse::<f64>().ok()?)));
            let (name, value) = parsed.ok_or_else(|| Error::InvalidText {
                what: "a parameter",
                expected: "NAME=NUMBER",
                got: part.into(),
            })?;
            if parameters.insert(name, value).is_some() {
                return Err(Error::InvalidText {
                    what: "a parameter",
                    expected: "given once",
                    got: part.into(),
                });
            }
        }
        Ok(Self(parameters))
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}
