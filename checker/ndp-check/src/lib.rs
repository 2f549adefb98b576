//! Checks proof files: a protocol written out value by value, and for every pair of an observer and a node
//! shifts of noises and an attack that prove what the observer learns about the node.
//!
//! A shift of noises that looks to the observer like the change of the node's data shows that no more is
//! learnt than the shift costs; an attack shows that no less is learnt than it tells. Both are followed
//! through the protocol in exact fractions. No rank is decided, and no verdict rests on a rounded number.
//!
//! The format and the reasons are those of `docs/formats.md`, "Proofs", and `docs/theory.md`, "Proofs"; this
//! package was written from them alone and shares no line with the libraries.
//!
//! # Examples
//! ```
//! let file = r##"{"ndp-proof":1,"set":"use-level"}
//! {"ndp-program":1,"nodes":2}
//! {"contribute":"x","node":0,"reads":"nothing"}
//! {"noise":"z","shared":[],"variance":"1"}
//! {"let":"y","sum":{"x":"1","z":"1"}}
//! {"send":"y","from":0,"to":1}
//! {"end":"program"}
//! {"observer":{"members":[1],"taps":[]},"source":0,"upper":"1","lower":"1","shifts":[{"z":"1"}],"attack":{"change":["1"],"sum":{"y":"1"}}}
//! {"end":"proof","pairs":1,"largest":"1","covers":"these-pairs"}
//! "##;
//! let proved = ndp_check::check(file.as_bytes())?;
//! assert_eq!(proved.pairs, 1);
//! # Ok::<(), ndp_check::Failure>(())
//! ```

mod checker;
mod json;
mod observer;
mod program;
mod rational;
mod semidefinite;
mod set;
mod statement;
mod witness;

#[cfg(test)]
mod tests;

pub use checker::{Failure, check};
pub use statement::Proved;

/// Why a line proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected(pub String);

/// Nothing where the condition holds.
fn need(condition: bool, why: impl FnOnce() -> String) -> Result<(), Rejected> {
    if condition { Ok(()) } else { Err(Rejected(why())) }
}

/// A refusal with its reason.
fn rejected<T>(why: impl Into<String>) -> Result<T, Rejected> {
    Err(Rejected(why.into()))
}
