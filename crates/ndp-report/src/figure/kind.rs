//! What the numbers of a series may be used for.

use ndp_dp::Grade;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a series may be used for: a privacy grade, or no privacy claim at all.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_report::figure::Kind;
/// assert_eq!(Kind::from(Grade::UpperBound).as_str(), "upper-bound");
/// assert_eq!(Kind::from_word("data"), Some(Kind::Data));
/// ```
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

    /// The kind that `word` stands for.
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

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::from_word(&word).ok_or_else(|| serde::de::Error::custom(format!("unknown grade {word:?}")))
    }
}

/// Refuses a series whose name says "exact" while its values have another grade.
pub(super) fn require_honest(name: &str, kind: Kind) -> Result<(), String> {
    let says_exact =
        name.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("exact"));
    if says_exact && kind != Kind::Graded(Grade::Exact) && kind != Kind::Data {
        return Err(format!("{name:?} says exact, but its grade is {}", kind.as_str()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_promote_a_grade() {
        let (bound, printed) = ((Grade::UpperBound, "upper-bound"), (Grade::Printed, "printed"));
        for (name, (grade, word)) in [("geometric, exact", bound), ("Exact, towards node 0", printed)] {
            let said = format!("{name:?} says exact, but its grade is {word}");
            assert_eq!(require_honest(name, grade.into()), Err(said));
        }
        assert!(require_honest("exact, towards node 0", Grade::Exact.into()).is_ok());
        assert!(require_honest("not exactly", Grade::Estimate.into()).is_ok());
    }

    #[test]
    fn the_words_are_those_of_the_csv_and_can_be_read_back() {
        let words = Kind::ALL.map(Kind::as_str);
        assert_eq!(words, ["exact", "upper-bound", "printed", "estimate", "data"]);
        assert_eq!(words.map(Kind::from_word), Kind::ALL.map(Some));
        assert_eq!(Kind::from_word("certified"), None);
    }
}
