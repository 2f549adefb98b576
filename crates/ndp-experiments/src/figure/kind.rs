//! What the numbers of a series may be used for.

use ndp_dp::Grade;
use serde::{Serialize, Serializer};

/// What a series may be used for: a privacy grade, or no privacy claim at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A privacy number of this grade.
    Graded(Grade),
    /// No privacy claim: accuracies, errors, the data themselves.
    Data,
}

impl Kind {
    /// Every kind, in the order of legends.
    pub const ALL: [Self; 5] = [
        Self::Graded(Grade::Exact),
        Self::Graded(Grade::UpperBound),
        Self::Graded(Grade::Printed),
        Self::Graded(Grade::Estimate),
        Self::Data,
    ];

    /// The word in the CSV column `grade`: a grade, or `data`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Graded(grade) => grade.as_str(),
            Self::Data => "data",
        }
    }

    /// The kind that is written as `word`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl From<Grade> for Kind {
    fn from(grade: Grade) -> Self {
        Self::Graded(grade)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_csv_and_can_be_read_back() {
        let words = Kind::ALL.map(Kind::as_str);
        assert_eq!(words, ["exact", "upper-bound", "printed", "estimate", "data"]);
        assert_eq!(words.map(Kind::from_word), Kind::ALL.map(Some));
        assert_eq!(Kind::from_word("certified"), None);
    }
}
