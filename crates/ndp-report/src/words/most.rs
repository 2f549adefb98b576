//! The sentence about the most that observers learn.

use super::{Words, unknown};
use ndp_account::Changes;

/// The largest loss of all, in the terms of a measure, with what else is known about it.
///
/// See [`Words::at_most`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Most {
    /// The loss, rounded up, in the terms of its measure; `None` without a finite bound.
    pub loss: Option<String>,
    /// The pair that has this loss, as a clause; empty if no such pair is known.
    pub pair: String,
    /// What the loss means for somebody who guesses, as a sentence.
    pub odds: Option<String>,
    /// Whether the loss is a bound that also covers pairs whose own loss was not computed.
    pub may_be_less: bool,
}

impl Words<'_> {
    /// Whose data the sentence is about: any other node, or only that part of its data that may change.
    fn about_whom(self) -> &'static str {
        let less = |changes: &&Changes| changes.is_less_than_all_data();
        let less: Vec<Changes> = self.statement.changes.iter().filter(less).copied().collect();
        match less[..] {
            [] => "any other node",
            _ if less.contains(&Changes::Declared) => "any other node's data, changed only as was declared,",
            [Changes::OneUse] => "one use of any other node's data",
            _ if !less.contains(&Changes::OneUse) => "any other node's data, all uses of which change alike,",
            _ => "any other node's data, of which one use changes, or all uses alike,",
        }
    }

    /// What the observers asked about learn at most, in sentences.
    #[must_use]
    pub fn at_most(self, most: &Most) -> String {
        let odds = most.odds.as_ref().map_or_else(String::new, |odds| format!(" In other words: {odds}."));
        let unknown = unknown(&self.statement.coverage);
        let loss = most
            .loss
            .as_ref()
            .map_or_else(|| "has no finite bound".to_owned(), |loss| format!("is at most {loss}"));
        format!(
            "What {} learns about {} {loss}{}.{odds}{}{}",
            self.whom(),
            self.about_whom(),
            most.pair,
            if most.may_be_less { " It may be less, for not every pair was computed." } else { "" },
            unknown.map_or_else(String::new, |unknown| format!(" {unknown}")),
        )
    }
}
