//! What may differ between two data sets that nobody is to tell apart.

use crate::json::{Json, keys};
use crate::rational::{at_most, is_zero, number, one, zero};
use crate::{Rejected, need, rejected};
use num_rational::BigRational;

/// The changes of the uses of one node's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// One use.
    UseLevel,
    /// All by the same vector.
    SameDirection,
    /// All by one vector, times these numbers.
    Along(Vec<BigRational>),
    /// Each by a number of size at most 1.
    Signs,
    /// Each by a vector of length at most 1 in this dimension.
    Vectors(u64),
}

impl Set {
    /// The set that the first line says.
    pub(crate) fn read(said: &Json) -> Result<Self, Rejected> {
        let strange = || rejected(format!("this set is not known: {said:?}"));
        match said {
            Json::Text(word) => match word.as_str() {
                "use-level" => Ok(Self::UseLevel),
                "same-direction" => Ok(Self::SameDirection),
                "signs" => Ok(Self::Signs),
                _ => strange(),
            },
            Json::Table(table) => {
                need(table.len() == 1, || "a set is one word or one key".into())?;
                if let Some(vectors) = table.get("vectors") {
                    let vectors = vectors.table("the set of vectors")?;
                    keys(vectors, &["dimension"], &[])?;
                    Ok(Self::Vectors(vectors["dimension"].whole("the dimension", 1)?))
                } else if let Some(Json::List(along)) = table.get("along") {
                    Ok(Self::Along(along.iter().map(number).collect::<Result<_, _>>()?))
                } else {
                    strange()
                }
            }
            _ => strange(),
        }
    }

    /// The changes for which shifts are asked for, of a node with so many uses.
    pub(crate) fn directions(&self, uses: usize) -> Result<Vec<Vec<BigRational>>, Rejected> {
        match self {
            Self::SameDirection => Ok(vec![vec![one(); uses]]),
            Self::Along(along) => {
                need(along.len() == uses, || "the set has another number of uses than the node".into())?;
                Ok(vec![along.clone()])
            }
            _ => {
                let unit = |i| (0..uses).map(|j| if i == j { one() } else { zero() }).collect();
                Ok((0..uses).map(unit).collect())
            }
        }
    }

    /// Whether a change belongs to the set.
    pub(crate) fn allows(&self, change: &[BigRational]) -> bool {
        let short = change.iter().all(|x| at_most(x, &one()) && at_most(&-one(), x));
        match self {
            Self::UseLevel => short && change.iter().filter(|x| !is_zero(x)).count() <= 1,
            Self::SameDirection => change.iter().all(|x| x.numer() == x.denom()),
            Self::Along(along) => {
                let is_same = |(a, b)| at_most(a, b) && at_most(b, a);
                change.len() == along.len() && change.iter().zip(along).all(is_same)
            }
            Self::Signs | Self::Vectors(_) => short,
        }
    }

    /// Whether uses change independently of each other, so that costs of different uses add up.
    pub(crate) fn is_joint(&self) -> bool {
        matches!(self, Self::Signs | Self::Vectors(_))
    }

    /// What differs, in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::UseLevel => "one use of one node's data changes, by a vector of length at most 1; its other uses do not change".into(),
            Self::SameDirection => {
                "all uses of one node's data change by the same vector of length at most 1".into()
            }
            Self::Along(along) => {
                let along: Vec<String> = along.iter().map(ToString::to_string).collect();
                let along = along.join(", ");
                format!("the uses of one node's data change by one vector of length at most 1, times {along}")
            }
            Self::Signs => "every use of one node's data changes by a number of size at most 1".into(),
            Self::Vectors(dimension) => format!(
                "every use of one node's data changes by a vector of length at most 1, in dimension {dimension}"
            ),
        }
    }
}
