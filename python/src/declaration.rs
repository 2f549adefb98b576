//! What is declared about a program beside its steps: exact numbers, neighboring inputs, how it is accounted for.

use crate::errors::{Fault, one_of};
use ndp_program::{AccountOptions, HiddenReads, Patterns, SensitivitySet, Weight};
use pyo3::prelude::*;

/// An exact number: an integer, a float as the fraction that it stores, a ratio as text.
#[derive(FromPyObject)]
pub(crate) enum Number {
    Whole(i64),
    Float(f64),
    Text(String),
}

impl Number {
    pub(crate) fn weight(self) -> Result<Weight, Fault> {
        Ok(match self {
            Self::Whole(x) => Weight::from(x),
            Self::Float(x) => Weight::from(x),
            Self::Text(x) => x.parse::<Weight>()?,
        })
    }
}

/// Exact numbers, one by one.
pub(crate) fn weights(row: Vec<Number>) -> Result<Vec<Weight>, Fault> {
    row.into_iter().map(Number::weight).collect()
}

pub(crate) fn table(rows: Vec<Vec<Number>>) -> Result<Vec<Vec<Weight>>, Fault> {
    rows.into_iter().map(weights).collect()
}

/// What neighboring inputs are: a word, numbers, a dimension, patterns, bounds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Declaration {
    word: String,
    along: Option<Vec<f64>>,
    dimension: Option<usize>,
    period: Option<usize>,
    gap: Option<usize>,
    listed: Option<Vec<Vec<usize>>>,
    bounds: Option<Vec<f64>>,
}

impl Declaration {
    pub(crate) fn set(self) -> Result<SensitivitySet, Fault> {
        let missing = |what: &str| Fault::new(format!("this sensitivity needs {what}"));
        // What a set does not use would seem to be part of it.
        for (given, name, set) in
            [(self.along.is_some(), "along", "along"), (self.dimension.is_some(), "dimension", "vectors")]
        {
            if given && self.word != set {
                let word = &self.word;
                return Err(Fault::new(format!("{name}= goes with the sensitivity {set:?}, got {word:?}")));
            }
        }
        let mut set = match self.word.as_str() {
            "use_level" => SensitivitySet::UseLevel,
            "same_direction" => SensitivitySet::SameDirection,
            "signs" => SensitivitySet::Signs,
            "along" => SensitivitySet::Along(self.along.ok_or_else(|| missing("along="))?),
            "vectors" => {
                SensitivitySet::Vectors { dimension: self.dimension.ok_or_else(|| missing("dimension="))? }
            }
            word => {
                let words = "use_level, same_direction, signs, along, vectors";
                return Err(Fault::new(format!("a sensitivity must be one of {words}, got {word:?}")));
            }
        };
        let patterns = match (self.period, self.gap, self.listed) {
            (None, None, None) => None,
            (Some(period), None, None) => Some(Patterns::Cyclic { period }),
            (None, Some(gap), None) => Some(Patterns::Separated { gap }),
            (None, None, Some(listed)) => Some(Patterns::Listed(listed)),
            _ => return Err(Fault::new("give one of period, gap and listed")),
        };
        if let Some(patterns) = patterns {
            set = SensitivitySet::Patterns { patterns, within: Box::new(set) };
        }
        if let Some(bounds) = self.bounds {
            set = SensitivitySet::Bounded { bounds, within: Box::new(set) };
        }
        Ok(set)
    }
}

/// How a program is accounted for: bytes, bits, what to do about hidden reads, directions of the uses of a node, the nodes that are
/// asked about, whether messages may be lost.
#[derive(FromPyObject)]
pub(crate) struct Options(
    Option<u64>,
    Option<u32>,
    String,
    Vec<(usize, Vec<Number>)>,
    Option<Vec<usize>>,
    bool,
);

impl Options {
    pub(crate) fn options(self) -> Result<AccountOptions, Fault> {
        let Self(memory, bits, hidden, directions, nodes, some_lost) = self;
        let usual = AccountOptions::default();
        use HiddenReads::{AsDeclared, Refuse, Reveal};
        let words = [("refuse", Refuse), ("as_declared", AsDeclared), ("reveal", Reveal)];
        let hidden = one_of("hidden", words, &hidden)?;
        let directions = directions.into_iter().map(|(node, row)| Ok((node, weights(row)?)));
        Ok(AccountOptions {
            memory_limit: memory.unwrap_or(usual.memory_limit),
            precision_limit: bits.unwrap_or(usual.precision_limit),
            hidden,
            directions: directions.collect::<Result<_, Fault>>()?,
            nodes,
            some_lost,
            ..usual
        })
    }
}
