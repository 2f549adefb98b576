//! Bounds in place of what is really seen.

use super::several;
use ndp_account::parts::{Patient, Replaced, Why};

/// The notes that say for how many observers the bound is used, one for each reason. `patience` writes out
/// how one asks for so much of it: `--patience 0` or `patience=0`, with `SECONDS` for any number.
#[must_use]
pub fn replaced(protocol: &Patient<'_>, patience: impl Fn(&str) -> String) -> Vec<String> {
    let mut reasons: Vec<String> = protocol.replaced().iter().map(|why| reason(why, &patience)).collect();
    reasons.sort_unstable();
    let observers = reasons.chunk_by(|a, b| a == b).map(|same| {
        let who = if same.len() == 1 { "one observer".into() } else { several(same.len(), "observer") };
        format!("for {who} {BOUND} is given: {}", same[0])
    });
    let pairs =
        protocol.has_large_pairs().then(|| format!("for pairs that do not fit in memory, {BOUND} is given"));
    observers.chain(pairs).collect()
}

/// The same about one observer, of whom a bound stands for everything or for single answers.
#[must_use]
pub fn replaced_for_one(replaced: &Replaced, patience: impl Fn(&str) -> String) -> Vec<String> {
    let all = replaced.all().map(|why| format!("{BOUND} is given: {}", reason(why, &patience)));
    let some = replaced.some().then(|| format!("{BOUND} was given where an answer was not known in time"));
    all.or(some).into_iter().collect()
}

/// Why the bound of whoever hears the noisy values themselves stands for what is really seen.
#[must_use]
pub fn reason(why: &Why, patience: impl Fn(&str) -> String) -> String {
    match why {
        Why::AtOnce => format!("{} asks for it", patience("0")),
        Why::Time(time) => {
            format!("what is seen was not known within {} s, nor expected to be", time.as_secs_f64())
        }
        Why::Work => {
            let more = patience("SECONDS");
            format!("what is seen takes more work than the default allows: {more} gives it more")
        }
        Why::Memory(error) => format!("{error}; {} allows more", patience("SECONDS")),
        Why::Refused(error) => error.to_string(),
    }
}

const BOUND: &str = "the bound of whoever hears the noisy values themselves";

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// What was cut short by time says so, in other words than what was cut short by work.
    #[test]
    fn reasons_have_words_of_their_own() {
        let reason = |why| reason(&why, |much| format!("--patience {much}"));
        assert_eq!(reason(Why::AtOnce), "--patience 0 asks for it");
        assert_eq!(
            reason(Why::Time(Duration::from_secs(7))),
            "what is seen was not known within 7 s, nor expected to be"
        );
        assert!(reason(Why::Work).ends_with("--patience SECONDS gives it more"));
    }
}
